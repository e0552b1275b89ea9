"""A line to a client stays below its limit: what is computed holds for the worst hands that can be found."""

from __future__ import annotations

import dataclasses
import random
from itertools import product

import msgspec
import pytest

from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import BoardError, Route, shipped_board
from stellwerk_engine.core.game import make_game
from stellwerk_engine.core.state import Action, Game, Move, State
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.limits import MAX_LINE_BYTES, Longest, check_line, longest_line
from stellwerk_engine.knowledge.view import ALL_HANDS, view
from stellwerk_engine.parts.claiming.claim_route import ClaimRoute
from stellwerk_engine.parts.draw_cards import DrawCards
from stellwerk_engine.parts.share_tickets import PAIRS_LISTED_UP_TO
from stellwerk_engine.parts.stations.build_station import BuildStation
from stellwerk_engine.parts.technologies.buy_technology import technologies_of
from stellwerk_engine.parts.tickets import DrawTickets
from tests.engine.recordings import mixed
from tests.support import VARIANTS, dealt, every_variant, started, table, variant_id

LARGEST_TABLES = [
    (rules.id, max(rules.seat_counts), tuple(option.id for option in rules.options))
    for rules in RULE_SETS.values()
]


@pytest.fixture(scope="module", params=LARGEST_TABLES, ids=variant_id)
def position(request: pytest.FixtureRequest) -> State:
    """Return a first turn with every route open, whose seat holds every technology for claims."""
    state = started(*request.param)
    held = 0
    for number, technology in enumerate(technologies_of(state.game.rules)):
        if technology.opens_regions or technology.opens_lengths or technology.opens_ferries:
            held |= 1 << number
    state.technologies[0] = held
    return state


@pytest.fixture(scope="module")
def longest(position: State) -> Longest:
    return longest_line(position.game)


def listed_bytes(state: State) -> tuple[int, int]:
    moves = engine.legal(state, 0)
    return sum(len(move.json) + 1 for move in moves), len(moves)


def put(state: State, hand: list[int], holder: list[int]) -> None:
    state.hands[0] = sum(count << 8 * color for color, count in enumerate(hand))
    if state.holders:
        state.holders[0] = sum(count << 8 * color for color, count in enumerate(holder))


def test_even_hands_stay_below_the_computed_length(position: State, longest: Longest) -> None:
    for of_color in range(11):
        for locomotives in range(11):
            put(position, [of_color] * 8 + [locomotives], [locomotives] * 8 + [of_color])
            assert listed_bytes(position)[0] <= longest.moves


@pytest.mark.parametrize("seed", range(3))
def test_the_worst_hands_found_by_climbing_stay_below_it(
    position: State, longest: Longest, seed: int
) -> None:
    source = random.Random(seed)
    hand = [source.randint(0, 4) for _ in range(9)]
    holder = [source.randint(0, 4) for _ in range(9)]
    put(position, hand, holder)
    worst = listed_bytes(position)
    for _ in range(150):
        new_hand, new_holder = hand[:], holder[:]
        changed = source.choice((new_hand, new_holder))
        color = source.randrange(9)
        changed[color] = max(0, min(10, changed[color] + source.choice((-2, -1, 1, 2))))
        put(position, new_hand, new_holder)
        size = listed_bytes(position)
        if size >= worst:
            worst, hand, holder = size, new_hand, new_holder
    assert worst[0] <= longest.moves
    assert worst[0] > longest.moves / 4  # else the climbing, or the bound, is worth nothing


def test_the_moves_of_each_part_stay_below_its_own_bound(position: State) -> None:
    """Draws and claims are bounded for all games."""
    rules = position.game.rules
    for action in (*rules.menu, *rules.before_action):
        if not isinstance(action, DrawCards | DrawTickets | ClaimRoute):
            size, count = most_listed(action, position.copy())
            bound_size, bound_count = action.moves_bytes(position.game)
            assert bound_size / 4 < size <= bound_size
            assert count <= bound_count


def most_listed(action: Action, state: State) -> tuple[int, int]:
    """Return the most bytes, with the number of moves, for even hands and for few or many tickets."""
    most = (0, 0)
    for ticket_count in (1, PAIRS_LISTED_UP_TO, len(state.game.board.tickets)):
        state.ticket_masks[0] = (1 << ticket_count) - 1
        for of_color, locomotives in product(range(11), repeat=2):
            put(state, [of_color] * 8 + [locomotives], [0] * 9)
            listed: list[Move] = []
            action.add_legal(state, 0, listed)
            most = max(most, (sum(len(move.json) + 1 for move in listed), len(listed)))
    return most


@every_variant
def test_views_of_who_is_asked_stay_below_the_computed_length(
    variant: tuple[str, int, tuple[str, ...]],
) -> None:
    state = dealt(*variant, seed="long views")
    choose = mixed("long views")
    most = 0
    while state.pending is not None:
        for seat in engine.owing(state):
            most = max(most, len(msgspec.json.encode(view(state, seat))))
            engine.apply(state, seat, choose(state, seat, engine.legal(state, seat)))
    bound = longest_line(state.game).view if variant in LARGEST_TABLES else 10_000
    assert most <= bound


@pytest.mark.parametrize("seats", [2, 5])
def test_stations_in_the_cities_with_the_longest_names_take_what_was_counted_for_them(seats: int) -> None:
    state = started("europe", seats)
    (build,) = (part for part in state.game.parts if isinstance(part, BuildStation))
    without = len(msgspec.json.encode(view(state, ALL_HANDS)))
    cities = state.game.board.file.cities
    longest_first = sorted(range(len(cities)), key=lambda city: -len(cities[city].id))
    state.stations = tuple(tuple(longest_first[seat::seats][: build.number]) for seat in range(seats))
    added = len(msgspec.json.encode(view(state, ALL_HANDS))) - without
    assert added == build.view_bytes(state.game) - seats  # the last of a list has no comma


@pytest.mark.parametrize("variant", [v for v in VARIANTS if v[0] != "united_kingdom"], ids=variant_id)
def test_the_shipped_boards_keep_every_line_below_the_limit(
    variant: tuple[str, int, tuple[str, ...]],
) -> None:
    check_line(table(*variant))


def test_the_largest_table_of_the_united_kingdom_keeps_every_line_below_the_limit() -> None:
    """Slow to compute, and the others have less to name."""
    assert longest_line(table("united_kingdom", 4, ("advanced_technologies",))).line < MAX_LINE_BYTES


def test_a_board_with_too_much_to_list_is_refused() -> None:
    with pytest.raises(
        BoardError, match=r"routes: too much for one line to a client: usa with 5 players .*60,000"
    ):
        check_line(with_more_gray_routes(80))


def with_more_gray_routes(number: int) -> Game:
    board = shipped_board("usa")
    first, second = board.cities[0].id, board.cities[1].id
    more = tuple(
        Route(
            id=f"long_name_of_a_route_that_is_on_no_board-{n}",
            a=first,
            b=second,
            length=1,
            color="gray",
            locomotives=0,
            tunnel=0,
            parallel=1,
            always_open=False,
            doubtful=False,
        )
        for n in range(number)
    )
    return make_game(RULE_SETS["usa"], dataclasses.replace(board, routes=(*board.routes, *more)), 5)


def test_what_a_seat_sees_is_never_longer_than_what_the_organiser_sees() -> None:
    state = started("team_asia", 6)
    assert len(msgspec.json.encode(view(state, 0))) < len(msgspec.json.encode(view(state, ALL_HANDS)))
