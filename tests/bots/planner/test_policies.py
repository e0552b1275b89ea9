"""The built-in policies: what they may look at, how well they play, and the rules of thumb one by one."""

from __future__ import annotations

from collections import Counter

from stellwerk_bots.planner.network_plan import Plan, make_plan
from stellwerk_bots.planner.policy import planner
from stellwerk_bots.policies import Policy, random_policy
from stellwerk_bots.self_play import play_game
from stellwerk_engine import engine
from stellwerk_engine.core.board import mask_of
from stellwerk_engine.core.cards import COLOR_NAMES
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.state import Move, Seat, State
from stellwerk_engine.knowledge.imagine import imagine
from stellwerk_engine.knowledge.view import view
from stellwerk_engine.parts.technologies.buy_technology import technologies_of, technology_ids
from stellwerk_protocol import moves
from tests.support import (
    buy,
    claim,
    dealt,
    every_variant,
    give_technology,
    own,
    play,
    set_hand,
    set_market,
    set_pile,
    set_pile_top,
    set_stack,
    set_tickets,
    started,
    table,
    wire,
)

Variant = tuple[str, int, tuple[str, ...]]


def chosen(state: State, seat: Seat = 0) -> moves.Move:
    return planner(state, seat, engine.legal(state, seat)).wire


def set_offered(state: State, seat: Seat, *names: str) -> None:
    """Offer these tickets instead of the current ones, which are removed."""
    tickets = tuple(state.game.board.ticket_ids[name] for name in names)
    state.ticket_pile = [ticket for ticket in state.ticket_pile if ticket not in tickets]
    state.offered[seat] = tickets


def shorten_pile(state: State, count: int) -> None:
    """Leave this number of cards in the pile, so that the end is near."""
    set_pile(state, *(COLOR_NAMES[color] for color in reversed(state.pile[-count:])))


# -- laws --------------------------------------------------------------------------------------------


def differs_in_twins(policy: Policy, state: State, seat: Seat, number: int) -> bool:
    """Test whether the policy moves differently if only what its seat does not know is different."""
    twin = imagine(state.game, view(state, seat), Dice(seed_from_text(f"twin/{number}")))
    move, other = (policy(each, seat, engine.legal(each, seat)) for each in (state, twin))
    return move.wire != other.wire


def times_it_differs(policy: Policy, variant: Variant) -> int:
    """Return how often that happens in a game that the policy `planner` plays."""
    state = dealt(*variant)
    asked = differed = 0
    while state.pending is not None:
        for seat in engine.owing(state):
            asked += 1
            differed += differs_in_twins(policy, state, seat, asked)
            engine.apply(state, seat, planner(state, seat, engine.legal(state, seat)))
    return differed


@every_variant
def test_what_is_hidden_from_its_seat_never_changes_a_greedy_move(variant: Variant) -> None:
    """GEN-09."""
    assert times_it_differs(planner, variant) == 0


@every_variant
def test_a_policy_that_looks_at_hidden_cards_would_be_noticed(variant: Variant) -> None:
    """Without this the test above could pass for any policy."""

    def peeking(state: State, seat: Seat, moves: list[Move]) -> Move:
        return moves[sum(state.pile[-3:]) % len(moves)]

    assert times_it_differs(peeking, variant) > 0


def test_the_random_policy_gives_every_move_the_same_chance() -> None:
    """By a chi-squared test with a fixed seed, three degrees of freedom and a limit of one in 10,000."""
    state = started("usa", 2)
    legal = engine.legal(state, 0)[:4]
    policy = random_policy("seed", "match")
    chosen = Counter(legal.index(policy(state, 0, legal)) for _ in range(1000 * len(legal)))
    assert sum((chosen[index] - 1000) ** 2 / 1000 for index in range(4)) < 21.1


@every_variant
def test_greedy_beats_random(variant: Variant) -> None:
    """In all games together, because the card game depends much on chance."""
    game = table(*variant)
    points: dict[bool, list[int]] = {True: [], False: []}
    for number in range(6):
        is_greedy = [(team + number) % 2 == 0 for team in game.team_of]
        policies: list[Policy] = [
            planner if each else random_policy("strength", f"{number}/{seat}")
            for seat, each in enumerate(is_greedy)
        ]
        played = play_game(game, seed_from_text(f"strength/{number}"), policies)
        for team in played.result.teams:
            points[is_greedy[team.seats[0]]].append(team.points)
    mean, mean_of_random = (sum(points[each]) / len(points[each]) for each in (True, False))
    assert mean > 50
    assert mean > mean_of_random + 25


# -- plans -------------------------------------------------------------------------------------------


def plan_for(game_id: str, *tickets: str, trains: int = 45) -> Plan:
    """Return the plan on an empty board, with every technology that is for sale."""
    game = table(game_id, 2)
    to_buy_mask = mask_of(
        number for number, technology in enumerate(technologies_of(game.rules)) if not technology.claims_taken
    )
    tickets_mask = mask_of(game.board.ticket_ids[ticket] for ticket in tickets)
    return make_plan(game, 0, game.board.routes_mask, tickets_mask, to_buy_mask, trains)


def test_tickets_share_the_routes_of_a_plan() -> None:
    far, near = "los_angeles-new_york", "los_angeles-chicago"
    both = plan_for("usa", far, near)
    assert both.points == 21 + 16
    assert both.cost < plan_for("usa", far).cost + plan_for("usa", near).cost


def test_a_ticket_for_which_the_trains_do_not_suffice_is_given_up() -> None:
    for trains, points in ((24, 20 + 4), (23, 20 - 4), (20, 20 - 4), (19, 4 - 20), (3, -4 - 20)):
        assert plan_for("usa", "denver-el_paso", "vancouver-montreal", trains=trains).points == points


def test_a_way_that_needs_no_technology_is_preferred_to_one_as_short() -> None:
    assert plan_for("united_kingdom", "manchester-norwich").technologies_mask == 0
    game = table("united_kingdom", 2)
    to_wales = plan_for("united_kingdom", "aberystwyth-cardiff")
    assert to_wales.technologies_mask == 1 << technology_ids(game)["wales_concession"]


# -- on a map ----------------------------------------------------------------------------------------


def test_greedy_claims_the_route_that_its_ticket_needs() -> None:
    state = started("usa", 2)
    set_tickets(state, 0, "calgary-salt_lake_city")
    own(state, 0, "calgary-helena")
    set_hand(state, 0, "3 purple, 6 green")
    assert chosen(state) == claim("helena-salt_lake_city", "3 purple")


def test_greedy_takes_the_cards_that_its_route_lacks() -> None:
    state = started("usa", 2)
    set_tickets(state, 0, "calgary-salt_lake_city")
    own(state, 0, "calgary-helena")
    set_hand(state, 0, "2 purple, 3 red")
    set_market(state, "red, green, purple, locomotive, red")
    assert chosen(state) == moves.TakeCard("purple")
    set_market(state, "red, green, green, locomotive, red")
    assert chosen(state) == moves.DrawCard()


def test_greedy_pays_a_gray_route_with_cards_that_it_needs_least() -> None:
    state = started("usa", 2)
    set_tickets(state, 0, "calgary-salt_lake_city")
    set_hand(state, 0, "2 purple, 4 green, 4 locomotive")
    assert chosen(state) == claim("calgary-helena", "4 green")


def test_greedy_draws_tickets_when_its_own_are_connected_and_trains_are_left() -> None:
    state = started("usa", 2)
    set_tickets(state, 0, "calgary-salt_lake_city")
    own(state, 0, "calgary-helena", "helena-salt_lake_city")
    set_hand(state, 0, "2 purple")
    assert chosen(state) == moves.DrawTickets()
    state.trains[0] = 15
    assert chosen(state) != moves.DrawTickets()
    state.trains[0] = 45
    state.trains[1] = 5
    assert chosen(state) != moves.DrawTickets()


def test_greedy_without_open_tickets_claims_long_routes_for_points() -> None:
    state = started("usa", 2)
    set_tickets(state, 0)
    state.trains[0] = 15
    set_hand(state, 0, "6 green, 1 red")
    move = chosen(state)
    assert isinstance(move, moves.ClaimRoute)
    assert move.cards == wire("6 green")


def test_greedy_keeps_tickets_that_share_their_way() -> None:
    state = dealt("usa", 2)
    set_offered(state, 0, "vancouver-montreal", "los_angeles-new_york", "los_angeles-chicago")
    assert chosen(state) == moves.KeepTickets(("los_angeles-new_york", "los_angeles-chicago"))


def test_greedy_gives_a_ticket_up_that_cannot_be_connected() -> None:
    state = dealt("usa", 2)
    own(state, 1, "atlanta-miami", "charleston-miami", "miami-new_orleans")
    set_offered(state, 0, "boston-miami", "calgary-salt_lake_city", "denver-el_paso")
    assert chosen(state) == moves.KeepTickets(("calgary-salt_lake_city", "denver-el_paso"))

    state = started("usa", 2)
    own(state, 1, "atlanta-miami", "charleston-miami", "miami-new_orleans")
    set_tickets(state, 0, "boston-miami")
    assert chosen(state) == moves.DrawTickets()


def test_greedy_completes_a_ticket_in_the_last_round_rather_than_claiming_a_longer_route() -> None:
    state = started("usa", 2)
    set_tickets(state, 0, "calgary-salt_lake_city")
    own(state, 0, "calgary-helena")
    set_hand(state, 0, "3 purple, 6 green")
    state.turns_left = 2
    assert chosen(state) == claim("helena-salt_lake_city", "3 purple")
    set_hand(state, 0, "2 purple, 6 green")
    assert isinstance(best := chosen(state), moves.ClaimRoute)
    assert best.cards == wire("6 green")


# -- technologies ------------------------------------------------------------------------------------


def test_greedy_buys_the_technology_that_its_way_needs() -> None:
    state = started("united_kingdom", 2)
    set_tickets(state, 0, "aberystwyth-cardiff")
    set_hand(state, 0, "1 locomotive, 1 red")
    assert chosen(state) == buy("wales_concession", "1 locomotive")
    give_technology(state, 0, "wales_concession")
    assert not isinstance(chosen(state), moves.BuyTechnology)


def test_greedy_buys_nothing_that_no_ticket_needs() -> None:
    state = started("united_kingdom", 2, ("advanced_technologies",))
    set_tickets(state, 0)
    set_hand(state, 0, "5 locomotive")
    assert not isinstance(chosen(state), moves.BuyTechnology)


def test_greedy_takes_open_locomotives_for_what_it_has_to_buy() -> None:
    state = started("united_kingdom", 2)
    set_tickets(state, 0, "aberystwyth-cardiff")
    set_hand(state, 0, "1 red")
    set_market(state, "locomotive, blue, blue, blue, white")
    assert chosen(state) == moves.TakeCard("locomotive")
    set_tickets(state, 0)
    assert chosen(state) != moves.TakeCard("locomotive")


# -- teams -------------------------------------------------------------------------------------------


def asia_with_a_tunnel_to_go() -> State:
    """Return a state in which seat 0 needs Cawnpore - Kathmandu for its only ticket: one yellow card, and a
    tunnel of 6."""
    state = started("team_asia", 4)
    state.shared_masks[0] = 0
    set_tickets(state, 0, "kathmandu-rangoon")
    own(state, 0, "calcutta-cawnpore", "calcutta-dacca-blue", "dacca-mandalay-1")
    own(state, 1, "mandalay-rangoon-1")
    return state


def test_greedy_tries_a_tunnel_with_cards_left_for_the_bill() -> None:
    state = asia_with_a_tunnel_to_go()
    set_hand(state, 0, "2 yellow")
    assert not isinstance(chosen(state), moves.ClaimRoute)
    set_hand(state, 0, "3 yellow")
    assert chosen(state) == claim("cawnpore-kathmandu", "1 yellow")


def test_greedy_pays_the_bill_of_a_tunnel() -> None:
    state = asia_with_a_tunnel_to_go()
    set_hand(state, 0, "3 yellow")
    set_pile_top(state, "yellow", "locomotive", "red", "red", "red", "blue")
    play(state, 0, claim("cawnpore-kathmandu", "1 yellow"))
    assert chosen(state) == moves.PayTunnel(wire("2 yellow"))


def test_greedy_keeps_wanted_cards_in_hand_and_puts_others_on_the_holder() -> None:
    state = asia_with_a_tunnel_to_go()
    set_hand(state, 0, "1 red")
    set_market(state, "yellow, red, red, blue, blue")
    play(state, 0, moves.TakeCard("yellow"))
    assert chosen(state) == moves.PlaceCard("hand")

    state = asia_with_a_tunnel_to_go()
    set_hand(state, 0, "1 red")
    set_market(state, "yellow, red, red, blue, blue")
    play(state, 0, moves.TakeCard("blue"))
    assert chosen(state) == moves.PlaceCard("holder")


def test_greedy_shares_the_ticket_of_most_points() -> None:
    state = dealt("team_asia", 4)
    while not isinstance(engine.legal(state, 0)[0].wire, moves.ShareTickets):
        for seat in engine.owing(state):
            engine.apply(state, seat, engine.legal(state, seat)[-1])
    tickets = state.game.board.tickets
    best = max(state.offered[0], key=lambda ticket: tickets[ticket].points)
    assert chosen(state) == moves.ShareTickets((tickets[best].name,))


# -- rail yards --------------------------------------------------------------------------------------


def test_greedy_lays_the_set_that_serves_most_of_its_tickets() -> None:
    state = started("card_game", 2)
    set_tickets(state, 0, "los_angeles-new_york", "seattle-new_york", "los_angeles-pittsburgh")
    set_hand(state, 0, "4 blue, 5 red")
    set_market(state, "green, green, green, yellow, yellow")
    shorten_pile(state, 12)
    assert chosen(state) == moves.LayCards(wire("4 blue"))


def test_greedy_lays_nothing_that_can_no_longer_be_sent() -> None:
    state = started("card_game", 2)
    set_tickets(state, 0, "los_angeles-new_york", "seattle-new_york")
    set_hand(state, 0, "4 blue")
    state.turns_left = 2
    assert not isinstance(chosen(state), moves.LayCards)


def test_greedy_keeps_no_more_tickets_than_cards_will_come_for() -> None:
    state = dealt("card_game", 2)
    shorten_pile(state, 10)
    offered = ("los_angeles-new_york", "seattle-new_york", "los_angeles-pittsburgh", "seattle-miami")
    set_offered(state, 0, *offered, "new_york-portland", "chicago-new_york-1")
    move = chosen(state)
    assert isinstance(move, moves.KeepTickets)
    tickets = [state.game.board.tickets[state.game.board.ticket_ids[name]] for name in move.tickets]
    assert 5 <= sum(sum(ticket.needs) for ticket in tickets) <= 10


def test_greedy_draws_the_color_that_its_tickets_ask_for() -> None:
    state = started("card_game", 2)
    set_tickets(state, 0, "los_angeles-new_york", "seattle-new_york", "los_angeles-pittsburgh")
    set_hand(state, 0, "1 red")
    set_market(state, "red, red, blue, green, yellow")
    shorten_pile(state, 6)
    assert chosen(state) == moves.TakeCard("blue")


def test_greedy_draws_tickets_when_more_cards_will_come_than_they_ask_for() -> None:
    state = started("card_game", 2)
    set_tickets(state, 0, "chicago-new_york-1")
    set_hand(state, 0, "1 red")
    assert chosen(state) == moves.DrawTickets()
    state.turns_left = 2
    assert chosen(state) != moves.DrawTickets()


def test_greedy_looks_at_its_stack_only_where_the_rules_show_it() -> None:
    """CARD-05."""
    asked: list[moves.Move] = []
    for options in ((), ("open_stacks",)):
        state = started("card_game", 2, options)
        set_tickets(state, 0, "los_angeles-new_york", "seattle-new_york", "los_angeles-pittsburgh")
        set_hand(state, 0, "5 blue, 1 red")
        set_stack(state, 0, "4 blue")
        shorten_pile(state, 18)
        asked.append(chosen(state))
    assert asked[0] == moves.LayCards(wire("5 blue"))
    assert not isinstance(asked[1], moves.LayCards)
