"""What an imagined state makes of the things that its viewer does not see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import sqrt

import pytest
from msgspec.structs import replace

from stellwerk_engine import engine
from stellwerk_engine.core.board import bits
from stellwerk_engine.core.cards import COLOR_IDS, as_list, counts, of, to_wire, total
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.state import State
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.imagine import Imagination, imagine
from stellwerk_engine.knowledge.view import PUBLIC, ViewerId, view
from stellwerk_engine.parts.claiming.tunnels import PayTunnel
from stellwerk_engine.parts.draw_cards import PlaceCard
from stellwerk_engine.parts.technologies.buy_technology import ClaimNow
from stellwerk_protocol import moves
from tests.properties.laws import assert_lawful
from tests.properties.playing import Variant
from tests.support import (
    buy,
    cards,
    claim,
    dealt,
    every_variant,
    give_technology,
    own,
    play,
    set_hand,
    set_holder,
    set_market,
    set_pile_top,
    set_stack,
    set_tickets,
    set_turn,
    started,
)


def imagined(state: State, viewer: ViewerId, number: int) -> Iterator[State]:
    """Yield so many states that may be this one."""
    imagination = Imagination(state.game, view(state, viewer))
    for sample in range(number):
        yield imagination.deal(Dice(seed_from_text(str(sample))))


def test_hidden_cards_are_dealt_evenly() -> None:
    """Each unseen card is as likely as any other to be in the other's hand: the mean number of each color
    there is within five standard deviations (of cards drawn without putting back) of its share."""
    state = started("usa", 2)
    set_hand(state, 1, "2 red, 2 blue, green, 3 locomotive")
    hidden = counts(of(state.pile) + state.hands[1])
    unseen, drawn, number = sum(hidden), total(state.hands[1]), 1_000
    numbers: Counter[int] = Counter()
    for sample in imagined(state, 0, number):
        numbers.update(as_list(sample.hands[1]))
    for color, count in enumerate(hidden):
        share = count / unseen
        variance = drawn * share * (1 - share) * (unseen - drawn) / (unseen - 1)
        assert abs(numbers[color] / number - drawn * share) < 5 * sqrt(variance / number)


def test_cards_that_cannot_be_in_the_pile_are_dealt_evenly_among_hands() -> None:
    """Red is in hands since before the last shuffle, and each hand has its share of it."""
    state = started("usa", 3)
    set_market(state, "blue, blue, green, green, white")
    set_hand(state, 1, "8 red, 2 yellow")
    set_hand(state, 2, "4 red, 6 yellow")
    state.may_hold = of(state.pile) + cards("8 yellow")
    number = 1_000
    reds = [counts(sample.hands[1])[COLOR_IDS["red"]] for sample in imagined(state, 0, number)]
    variance = 10 * 0.6 * 0.4 * 10 / 19
    assert abs(sum(reds) / number - 6) < 5 * sqrt(variance / number)


def test_the_pile_holds_only_what_was_shuffled_into_it() -> None:
    """All that is red is in hands since before the last shuffle."""
    state = started("usa", 3)
    set_market(state, "blue, blue, green, green, white")
    set_hand(state, 1, "8 red")
    set_hand(state, 2, "4 red")
    state.may_hold = of(state.pile)
    for sample in imagined(state, 0, 50):
        assert_lawful(sample)
        assert counts(sample.hands[1] + sample.hands[2])[COLOR_IDS["red"]] == 12


def test_cards_that_everybody_saw_taken_are_in_the_hand() -> None:
    state = started("usa", 2)
    set_market(state, "red, red, blue, green, white")
    play(state, 0, moves.TakeCard("red"))
    play(state, 0, moves.TakeCard("red"))
    for sample in imagined(state, 1, 50):
        assert counts(sample.hands[0])[COLOR_IDS["red"]] >= 2


def test_tickets_put_back_lie_lowest_in_the_pile() -> None:
    state = started("usa", 2)
    offered = _draw_tickets(state)
    play(state, 0, moves.KeepTickets((offered[0],)))
    back = state.returned_masks[0]
    assert back.bit_count() >= 2
    for sample in imagined(state, 0, 20):
        assert set(sample.ticket_pile[: back.bit_count()]) == set(bits(back))
    tops = {sample.ticket_pile[-1] for sample in imagined(state, 0, 20)}
    assert len(tops) > 1


def test_tickets_put_back_that_no_longer_fit_into_the_pile_are_in_hands() -> None:
    state = started("usa", 2)
    offered = _draw_tickets(state)
    play(state, 0, moves.KeepTickets((offered[0],)))
    back = state.returned_masks[0]
    for ticket in state.ticket_pile[1:]:
        state.ticket_masks[1] |= 1 << ticket
    del state.ticket_pile[1:]
    for sample in imagined(state, 0, 20):
        assert back >> sample.ticket_pile[0] & 1
        assert sample.ticket_masks[1] & back
        assert_lawful(sample)


def _draw_tickets(state: State) -> tuple[str, ...]:
    play(state, 0, moves.DrawTickets())
    offered = view(state, 0).players[0].offered
    assert isinstance(offered, tuple)
    return offered


@every_variant
def test_an_imagined_set_up_leads_to_the_first_turn(variant: Variant) -> None:
    """The first turn is that of seat 0. The state is imagined from each of its decisions."""
    state = dealt(*variant)
    while state.turn == 0:
        for sample in (*imagined(state, 1, 1), *imagined(state, PUBLIC, 1)):
            _play_until_turn(sample, 1)
            assert sample.pending == state.game.take_turn[0]
        for seat in engine.owing(state):
            engine.apply(state, seat, engine.fallback(state, seat))


@pytest.mark.parametrize("game_id", RULE_SETS)
def test_an_imagined_choice_of_tickets_leads_to_the_next_players_turn(game_id: str) -> None:
    state = started(game_id, 4)
    play(state, 0, moves.DrawTickets())
    while state.turn == 1:
        for viewer in (0, 1, PUBLIC):
            for sample in imagined(state, viewer, 1):
                _play_until_turn(sample, 2)
                assert sample.pending == state.game.take_turn[1]
        for seat in engine.owing(state):
            engine.apply(state, seat, engine.fallback(state, seat))


def _play_until_turn(state: State, turn: int) -> None:
    while state.turn < turn:
        for seat in engine.owing(state):
            engine.apply(state, seat, engine.fallback(state, seat))


def test_what_a_seat_chooses_from_is_hidden_from_others_and_seen_by_itself() -> None:
    state = started("team_asia", 4)
    offered = _draw_tickets(state)
    play(state, 0, moves.KeepTickets(offered[:3]))
    for viewer in (1, 2, PUBLIC):
        samples = list(imagined(state, viewer, 20))
        assert all(len(sample.offered[0]) == 3 for sample in samples)
        assert len({sample.offered[0] for sample in samples}) > 10
    for sample in imagined(state, 0, 5):
        assert sample.offered == state.offered


def test_who_has_a_tunnels_bill_can_pay_it() -> None:
    """ASIA-17: else nobody would have been asked. Hardly a card that pays is left to be hidden."""
    state = started("team_asia", 4)
    set_market(state, "3 blue, 2 green")
    set_hand(state, 0, "3 orange, locomotive")
    set_holder(state, 0, "orange, blue")
    for seat, hand in ((1, "4 green"), (2, "5 orange, 6 locomotive"), (3, "5 locomotive")):
        set_hand(state, seat, hand)
    set_pile_top(state, "orange", "orange", "white", "white")
    set_turn(state, 0)
    state.may_hold = state.game.board.deck - state.market
    play(state, 0, claim("kabul-sukkur", "2 orange"))
    for viewer in (1, 2, 3, PUBLIC):
        for sample in imagined(state, viewer, 50):
            assert isinstance(sample.pending, PayTunnel)
            assert sample.pending.cards_left(sample, 0) >= 2
            for move in engine.legal(sample, 0):
                engine.check(sample, 0, move.wire)


def test_who_bought_a_claim_can_make_one() -> None:
    """UK-21: nobody may buy the Right of Way without."""
    state = started("united_kingdom", 3)
    own(state, 1, "barrow-leeds")
    set_hand(state, 0, "4 locomotive, 2 green, 2 blue")
    for seat in (1, 2):
        set_hand(state, seat, "3 green, 3 white")
    play(state, 0, buy("right_of_way", "4 locomotive"))
    for viewer in (1, 2, PUBLIC):
        for sample in imagined(state, viewer, 50):
            assert isinstance(sample.pending, ClaimNow)
            assert engine.legal(sample, 0)


def test_a_card_drawn_blind_may_be_any_to_others_and_is_known_to_its_player() -> None:
    state = started("team_asia", 4)
    play(state, 0, moves.DrawCard())
    real = state.pending
    assert isinstance(real, PlaceCard)
    drawn = {
        sample.pending.card for sample in imagined(state, 1, 50) if isinstance(sample.pending, PlaceCard)
    }
    assert len(drawn) > 3
    for sample in imagined(state, 0, 5):
        assert isinstance(sample.pending, PlaceCard)
        assert sample.pending.card == real.card


def test_counted_stacks_are_taken_as_they_are() -> None:
    """CARD-05: a view does not show the cards of a stack, but everybody can count them."""
    state = started("card_game", 3)
    set_stack(state, 0, "2 red, locomotive")
    set_stack(state, 1, "3 blue")
    seen = view(state, 0)
    stacks = [to_wire(stack) for stack in state.stacks]
    sample = imagine(state.game, seen, Dice(bytes(32)), stacks)
    assert sample.stacks == state.stacks == [cards("2 red, locomotive"), cards("3 blue"), 0]
    assert view(sample, 0) == seen
    assert_lawful(sample)


def test_a_view_that_does_not_add_up_is_refused() -> None:
    state = started("usa", 3)
    seen = view(state, 0)
    for wrong in (replace(seen, pile=seen.pile + 1), replace(seen, ticket_pile=0)):
        with pytest.raises(ValueError, match="no state"):
            imagine(state.game, wrong, Dice(bytes(32)))


def test_a_view_with_too_many_or_too_few_long_tickets_is_refused() -> None:
    state = started("europe", 3)
    seen = view(state, 0)
    assert isinstance(seen.removed_tickets, int)
    for more in (-1, 1):
        removed, pile = seen.removed_tickets + more, seen.ticket_pile - more
        with pytest.raises(ValueError, match="no state of this game"):
            imagine(state.game, replace(seen, removed_tickets=removed, ticket_pile=pile), Dice(bytes(32)))


def test_later_shuffles_are_those_of_the_dice() -> None:
    state = started("usa", 2)
    dice = Dice(seed_from_text("later"))
    assert imagine(state.game, view(state, 0), dice).dice is dice


def test_the_technologies_of_an_imagined_state_are_those_seen() -> None:
    state = started("united_kingdom", 2)
    give_technology(state, 1, "booster", "propellers")
    set_tickets(state, 1)
    for sample in imagined(state, 0, 2):
        assert sample.technologies == state.technologies
        assert sample.supply == state.supply
