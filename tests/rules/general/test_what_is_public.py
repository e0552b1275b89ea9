"""What everybody may know, and what not (GEN-09)."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import UNSET

from stellwerk_engine import engine
from stellwerk_engine.core import cards as card_sets
from stellwerk_engine.core.board import bits, mask_of
from stellwerk_engine.core.state import Events, State
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC, view
from stellwerk_protocol import decisions, moves
from stellwerk_protocol import events as ev
from stellwerk_protocol.views import YardStack
from tests.support import (
    buy,
    claim,
    every_variant,
    give_technology,
    own,
    play,
    set_discards,
    set_hand,
    set_holder,
    set_market,
    set_pile_top,
    set_stack,
    set_tickets,
    set_yard,
    started,
    wire,
)

OTHERS = (PUBLIC, 2, 3)  # than seats 0 and 1, who are partners in Team Asia


def shown(state: State, viewer: int) -> bytes:
    return msgspec.json.encode(view(state, viewer))


def everybody_without_tickets(state: State) -> None:
    for seat in range(state.game.seat_count):
        set_tickets(state, seat)


# -- public ------------------------------------------------------------------------------------------


def test_market_discards_and_the_sizes_of_the_piles_are_public() -> None:
    """GEN-09."""
    state = started("usa", 4)
    set_market(state, "3 red, 2 blue")
    set_discards(state, "4 green, locomotive")
    for viewer in OTHERS:
        seen = view(state, viewer)
        assert seen.market == wire("3 red, 2 blue")
        assert seen.discards == wire("4 green, locomotive")
        assert seen.pile == 110 - 16 - 5 - 5
        assert seen.ticket_pile == len(state.ticket_pile)


def test_the_sizes_of_hands_and_ticket_holdings_are_public() -> None:
    """GEN-09."""
    state = started("usa", 4)
    set_hand(state, 0, "3 red, 2 blue")
    everybody_without_tickets(state)
    set_tickets(state, 0, "boston-miami", "denver-el_paso", "dallas-new_york")
    for viewer in OTHERS:
        player = view(state, viewer).players[0]
        assert (player.hand_count, player.ticket_count) == (5, 3)


def test_trains_claimed_routes_and_their_points_are_public() -> None:
    """GEN-09."""
    state = started("usa", 4)
    own(state, 0, "chicago-duluth", "miami-new_orleans")
    for viewer in OTHERS:
        player = view(state, viewer).players[0]
        assert player.routes == ("chicago-duluth", "miami-new_orleans")
        assert (player.trains, player.points) == (45 - 9, 4 + 15)


def test_the_sizes_of_holders_and_of_their_tickets_are_public() -> None:
    """GEN-09."""
    state = started("team_asia", 4)
    set_holder(state, 0, "3 red, blue")
    for viewer in OTHERS:
        teams = view(state, viewer).teams
        assert isinstance(teams, tuple)
        assert (teams[0].holder_count, teams[0].shared_count) == (4, 2)
        assert teams[0].holder is UNSET
        assert teams[0].shared_tickets is UNSET


def test_rail_yards_and_the_sizes_of_stacks_are_public() -> None:
    """GEN-09."""
    state = started("card_game", 4)
    set_yard(state, 0, "2 red, blue", locomotives_on="red")
    set_stack(state, 0, "green, 2 white")
    for viewer in OTHERS:
        player = view(state, viewer).players[0]
        assert player.yard == (YardStack("blue", 1, 0), YardStack("red", 2, 1))
        assert player.stack_count == 3
        assert player.stack is UNSET


def test_technologies_and_the_supply_are_public() -> None:
    """GEN-09."""
    state = started("united_kingdom", 4)
    give_technology(state, 0, "propellers", "booster")
    for viewer in OTHERS:
        seen = view(state, viewer)
        assert set(seen.players[0].technologies or ()) == {"propellers", "booster"}
        assert isinstance(seen.supply, dict)
        assert (seen.supply["propellers"], seen.supply["booster"], seen.supply["right_of_way"]) == (3, 3, 1)


def test_the_cards_laid_for_a_claim_or_a_technology_are_public() -> None:
    """GEN-09."""
    state = started("united_kingdom", 4)
    set_hand(state, 0, "2 locomotive, red")
    events = play(state, 0, buy("booster", "2 locomotive"))
    events += play(state, 0, claim("leeds-manchester-red", "red"))
    for viewer in OTHERS:
        seen = [redact(event, state.game, viewer) for event in events]
        assert ev.TechnologyBought(0, "booster", wire("2 locomotive")) in seen
        claimed = next(event for event in seen if isinstance(event, ev.RouteClaimed))
        assert (claimed.seat, claimed.cards) == (0, wire("red"))


def test_the_cards_laid_and_revealed_for_a_tunnel_are_public() -> None:
    """GEN-09: whether it is paid or not."""
    state = started("team_asia", 4)
    set_hand(state, 0, "2 orange")
    set_holder(state, 0, "")
    set_pile_top(state, "orange", "white", "white", "white", "white")
    events = play(state, 0, claim("junction_east-junction_south", "orange"))
    revealed = wire("orange, 4 white")
    for viewer in OTHERS:
        seen = [redact(event, state.game, viewer) for event in events]
        tried = next(event for event in seen if isinstance(event, ev.TunnelTried))
        assert (tried.cards, tried.revealed, tried.extra) == (wire("orange"), revealed, 1)
        bill = view(state, viewer).pending
        assert isinstance(bill, decisions.PayTunnel)
        assert (bill.cards, bill.revealed, bill.extra) == (wire("orange"), revealed, 1)
    given_up = play(state, 0, moves.AbandonTunnel())[0]
    for viewer in OTHERS:
        assert redact(given_up, state.game, viewer) == given_up
        assert view(state, viewer).players[0].known_cards == wire("orange")


def test_who_passed_is_public() -> None:
    """GEN-09."""
    state = started("usa", 4)
    set_hand(state, 0, "")
    state.hands[3] += state.market + card_sets.of(state.pile)
    state.market, state.pile, state.ticket_pile = 0, [], []
    events = play(state, 0, moves.Pass())
    for viewer in OTHERS:
        assert redact(events[0], state.game, viewer) == ev.Passed(0)
        assert view(state, viewer).passes == 1


# -- private -----------------------------------------------------------------------------------------


def other_hidden_cards(state: State, viewer: int) -> State:
    """Return a game that looks the same to this viewer, with hidden cards and tickets in another order."""
    twin = state.copy()
    game = twin.game
    own_team = game.team_of[viewer] if viewer >= 0 else -1
    seats = [seat for seat in range(game.seat_count) if seat != viewer]
    teams = [team for team in range(len(twin.holders)) if team != own_team]
    hidden = [twin.hands[seat] - twin.known[seat] for seat in seats]
    hidden += [twin.holders[team] - twin.known_holders[team] for team in teams]
    cards = [card for held in hidden for card in card_sets.as_list(held)] + twin.pile
    cards.sort(reverse=True)
    for seat in seats:
        count = card_sets.total(twin.hands[seat] - twin.known[seat])
        twin.hands[seat] = twin.known[seat] + card_sets.of(cards[:count])
        del cards[:count]
    for team in teams:
        count = card_sets.total(twin.holders[team] - twin.known_holders[team])
        twin.holders[team] = twin.known_holders[team] + card_sets.of(cards[:count])
        del cards[:count]
    twin.pile = cards
    tickets = [ticket for seat in seats for ticket in bits(twin.ticket_masks[seat])] + twin.ticket_pile
    tickets.sort(reverse=True)
    for seat in seats:
        count = twin.ticket_masks[seat].bit_count()
        twin.ticket_masks[seat] = mask_of(tickets[:count])
        del tickets[:count]
    twin.ticket_pile = tickets
    return twin


@every_variant
def test_what_is_hidden_changes_no_view(variant: tuple[str, int, tuple[str, ...]]) -> None:
    """GEN-09: hands, secret tickets, holders of others and the order of the piles."""
    state = started(*variant)
    while state.turn <= 2 * variant[1]:
        for seat in engine.owing(state):
            engine.apply(state, seat, engine.fallback(state, seat))
    for viewer in (PUBLIC, *range(variant[1])):
        twin = other_hidden_cards(state, viewer)
        assert shown(twin, viewer) == shown(state, viewer)
        assert shown(twin, ALL_HANDS) != shown(state, ALL_HANDS)


def test_everybody_sees_the_own_hand_and_tickets() -> None:
    """GEN-09."""
    state = started("usa", 4)
    set_hand(state, 2, "3 red, 2 blue")
    everybody_without_tickets(state)
    set_tickets(state, 2, "boston-miami", "denver-el_paso")
    assert view(state, 2).players[2].hand == wire("3 red, 2 blue")
    assert view(state, 2).players[2].tickets == ("boston-miami", "denver-el_paso")


def test_partners_see_what_they_share_and_nothing_else() -> None:
    """GEN-09: what is private to a team."""
    state = started("team_asia", 4)
    set_holder(state, 0, "3 red, blue")
    for viewer in (0, 1):
        seen = view(state, viewer)
        assert isinstance(seen.teams, tuple)
        assert seen.teams[0].holder == wire("3 red, blue")
        assert isinstance(seen.teams[0].shared_tickets, tuple)
        assert seen.players[1 - viewer].hand is UNSET
        assert seen.players[1 - viewer].tickets is UNSET


@pytest.mark.parametrize("viewer", OTHERS)
def test_a_blind_card_is_told_to_who_drew_it(viewer: int) -> None:
    """GEN-09."""
    state = started("usa", 4)
    set_pile_top(state, "red")
    drawn = play(state, 0, moves.DrawCard())[0]
    assert redact(drawn, state.game, 0) == ev.CardDrawn(0, "hand", "red")
    assert redact(drawn, state.game, viewer) == ev.CardDrawn(0, "hand")


@pytest.mark.parametrize("viewer", OTHERS)
def test_tickets_drawn_and_kept_are_told_to_who_drew_them(viewer: int) -> None:
    """GEN-09."""
    state = started("usa", 4)
    events = play(state, 0, moves.DrawTickets())
    events += play(state, 0, engine.fallback(state, 0).wire)
    seen = [redact(event, state.game, viewer) for event in events]
    assert ev.TicketsOffered(0, 3) in seen
    assert ev.TicketsKept(0, 1, 2) in seen
    assert [redact(event, state.game, 0) for event in events] == events


@pytest.mark.parametrize("viewer", OTHERS)
def test_a_shared_ticket_is_told_to_the_team(viewer: int) -> None:
    """GEN-09."""
    state = started("team_asia", 4)
    everybody_without_tickets(state)
    set_tickets(state, 0, "delhi-peking")
    shared = play(state, 0, moves.ShareTickets(("delhi-peking",)))[0]
    assert redact(shared, state.game, 1) == ev.TicketsShared(0, 1, ("delhi-peking",))
    assert redact(shared, state.game, viewer) == ev.TicketsShared(0, 1)


def test_the_deal_tells_everybody_the_own_cards_only() -> None:
    """GEN-09."""
    events: Events = []
    state = engine.new_game(started("usa", 4).game, started("usa", 4).dice, events)
    hands = [event for event in events if isinstance(event, ev.CardsDealt)]
    for viewer in (0, 1, 2, 3, PUBLIC):
        for hand in hands:
            seen = redact(hand, state.game, viewer)
            assert seen == (hand if viewer == hand.seat else ev.CardsDealt(hand.seat, 4))
