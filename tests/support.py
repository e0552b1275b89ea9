"""Small states for tests: build what a rule is about instead of playing up to it.

Cards are named in text (`"3 red, locomotive"`), and moved rather than made: whatever a test puts into a
hand comes out of the pile or the discards, so that the deck stays whole.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from typing import TypeVar

import pytest

from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.core import cards as card_sets
from stellwerk_engine.core import write_state
from stellwerk_engine.core.cards import COLOR_IDS, ONE, CardSet
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.game import make_game
from stellwerk_engine.core.state import Events, Game, Move, Seat, State
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.parts.claiming.place_claim import place_claim
from stellwerk_engine.parts.claiming.tunnels import PayTunnel
from stellwerk_engine.parts.draw_cards import PlaceCard
from stellwerk_engine.parts.technologies.buy_technology import technology_ids
from stellwerk_protocol import moves
from stellwerk_protocol.cards import Cards
from stellwerk_protocol.errors import IllegalMoveError, MoveErrorCode
from stellwerk_protocol.results import Result

T = TypeVar("T")

VARIANTS: tuple[tuple[str, int, tuple[str, ...]], ...] = tuple(
    (rules.id, seats, options)
    for rules in RULE_SETS.values()
    for seats in rules.seat_counts
    for options in ((), *((option.id,) for option in rules.options))
)


def variant_id(variant: tuple[str, int, tuple[str, ...]]) -> str:
    return "-".join([variant[0], str(variant[1]), *variant[2]])


every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=variant_id)


@cache
def table(game_id: str, seats: int, options: tuple[str, ...] = ()) -> Game:
    rules = RULE_SETS[game_id]
    return make_game(rules, shipped_board(rules.board), seats, options)


def dealt(
    game_id: str, seats: int, options: tuple[str, ...] = (), seed: str = "test", events: Events | None = None
) -> State:
    """Deal a game in which every seat is about to choose its first tickets."""
    return engine.new_game(table(game_id, seats, options), Dice(seed_from_text(seed)), events)


def started(game_id: str, seats: int, options: tuple[str, ...] = (), seed: str = "test") -> State:
    """Start a game at the first turn of seat 0; the fallback makes all choices before it."""
    state = dealt(game_id, seats, options, seed)
    while state.turn == 0:
        for seat in engine.owing(state):
            engine.apply(state, seat, engine.fallback(state, seat))
    return state


def cards(text: str) -> CardSet:
    """Read `"3 red, 1 locomotive"`, `"red, red"` or `""`."""
    chosen: CardSet = 0
    for part in filter(None, (part.strip() for part in text.split(","))):
        number, _, color = part.rpartition(" ")
        chosen += int(number or 1) * ONE[COLOR_IDS[color]]
    return chosen


def wire(text: str) -> Cards:
    return card_sets.to_wire(cards(text))


def claim(route: str, text: str) -> moves.ClaimRoute:
    """Lay these cards out of the hand for the route."""
    return moves.ClaimRoute(route, wire(text))


def buy(technology: str, text: str) -> moves.BuyTechnology:
    return moves.BuyTechnology(technology, wire(text))


def set_hand(state: State, seat: Seat, text: str) -> None:
    """Give the seat this hand, of which nobody knows anything."""
    _put_back(state, state.hands[seat])
    state.hands[seat] = _take_out(state, cards(text))
    state.known[seat] = 0


def set_holder(state: State, team: int, text: str) -> None:
    _put_back(state, state.holders[team])
    state.holders[team] = _take_out(state, cards(text))
    state.known_holders[team] = 0


def set_yard(state: State, seat: Seat, text: str, locomotives_on: str = "") -> None:
    """Put plain cards into the yard, and for each color named in `locomotives_on` so many locomotives on
    it."""
    lying = sum(card_sets.counts(state.yard_locomotives[seat]))
    _put_back(state, state.yards[seat] + lying * ONE[card_sets.LOCOMOTIVE])
    state.yards[seat] = _take_out(state, cards(text))
    state.yard_locomotives[seat] = cards(locomotives_on)
    _take_out(state, card_sets.total(cards(locomotives_on)) * ONE[card_sets.LOCOMOTIVE])


def set_stack(state: State, seat: Seat, text: str) -> None:
    _put_back(state, state.stacks[seat])
    state.stacks[seat] = _take_out(state, cards(text))


def set_market(state: State, text: str) -> None:
    _put_back(state, state.market)
    state.market = _take_out(state, cards(text))


def set_discards(state: State, text: str) -> None:
    _put_back(state, state.discards)
    state.discards = 0
    state.discards = _take_out(state, cards(text))


def set_pile_top(state: State, *colors: str) -> None:
    """Put cards from further down or from the discards on top of the pile, the first one highest."""
    taken = _take_out(state, cards(", ".join(colors)))
    assert card_sets.total(taken) == len(colors)
    state.pile += [COLOR_IDS[color] for color in reversed(colors)]


def set_pile(state: State, *colors: str) -> None:
    """Set the whole pile, the first card on top. The last seat's hand gets the cards left over."""
    keep = _take_out(state, cards(", ".join(colors)))
    state.hands[-1] += card_sets.of(state.pile)
    state.pile = [COLOR_IDS[color] for color in reversed(colors)]
    assert card_sets.of(state.pile) == keep


def set_tickets(state: State, seat: Seat, *names: str) -> None:
    """Give the seat these secret tickets from the ticket pile, which gets its old ones."""
    board = state.game.board
    old = [ticket for ticket in range(len(board.tickets)) if state.ticket_masks[seat] >> ticket & 1]
    state.ticket_pile[:0] = old
    state.ticket_masks[seat] = 0
    for name in names:
        ticket = board.ticket_ids[name]
        state.ticket_pile.remove(ticket)
        state.ticket_masks[seat] |= 1 << ticket


def set_ticket_pile_top(state: State, *names: str) -> None:
    """Put tickets on top of the ticket pile, the first one highest."""
    tickets = [state.game.board.ticket_ids[name] for name in names]
    for ticket in tickets:
        state.ticket_pile.remove(ticket)
    state.ticket_pile += reversed(tickets)


def own(state: State, seat: Seat, *routes: str, trains: bool = True) -> None:
    """Let the seat own these routes, for no cards; with `trains=False` without placing trains."""
    board = state.game.board
    for name in routes:
        route = board.routes[board.route_ids[name]]
        progress_turn, points = state.progress_turn, state.points[seat]
        place_claim(state, seat, route, 0, 0, 0, None)
        state.progress_turn, state.points[seat] = progress_turn, points + route.points
        if not trains:
            state.trains[seat] += route.length


def give_technology(state: State, seat: Seat, *names: str) -> None:
    for name in names:
        number = technology_ids(state.game)[name]
        state.technologies[seat] |= 1 << number
        state.supply = tuple(left - (n == number) for n, left in enumerate(state.supply))


def set_turn(state: State, seat: Seat) -> None:
    """Start this seat's turn."""
    state.pending = state.game.take_turn[seat]


def play_last_turn(state: State, seat: Seat) -> Events:
    """Play the last turn of the card game as this seat, with the pile among the discards."""
    state.discards += card_sets.of(state.pile)
    state.pile = []
    state.turn = state.game.seat_count + seat + 1
    state.turns_left = 1
    set_turn(state, seat)
    return play(state, seat, moves.DrawTickets()) + play(state, seat, moves.KeepTickets(()))


def play(state: State, seat: Seat, move: moves.Move) -> Events:
    """Check and apply, with the events."""
    events: Events = []
    engine.play(state, seat, move, events)
    assert all_cards(state) == state.game.board.deck
    return events


def refused(state: State, seat: Seat, move: moves.Move) -> MoveErrorCode:
    """Return the code with which the move is refused; check that nothing has changed."""
    before = fingerprint(state)
    with pytest.raises(IllegalMoveError) as raised:
        engine.play(state, seat, move)
    assert fingerprint(state) == before
    return raised.value.code


def refusal(state: State, seat: Seat, move: moves.Move) -> MoveErrorCode | None:
    """Return the code with which the move would be refused, or None if it is legal."""
    try:
        engine.check(state, seat, move)
    except IllegalMoveError as error:
        return error.code
    return None


def listed(state: State, seat: Seat) -> list[moves.Move]:
    """Return the legal moves as structs."""
    return [move.wire for move in engine.legal(state, seat)]


def listed_as(state: State, seat: Seat, kind: type[T]) -> list[T]:
    """Return the legal moves of one kind."""
    return [move for move in listed(state, seat) if isinstance(move, kind)]


def play_out(
    state: State, choose: Callable[[State, Seat, list[Move]], Move], events: Events | None = None
) -> None:
    """Play to the end."""
    while state.pending is not None:
        for seat in engine.owing(state):
            engine.apply(state, seat, choose(state, seat, engine.legal(state, seat)), events)


def final_result(state: State) -> Result:
    """Return the result if the running turn is the last one and every seat plays the fallback."""
    state.turns_left = 1
    while state.pending is not None:
        for seat in engine.owing(state):
            engine.apply(state, seat, engine.fallback(state, seat))
    assert state.result is not None
    return state.result


def fingerprint(state: State) -> tuple[object, ...]:
    """Return everything that a state contains, decisions by their type and text."""
    values = {name: getattr(state, name) for name in _fields()}
    values["choices"] = [repr(choice) for choice in state.choices]
    if state.pending is not None:
        shown = repr(state.pending.to_wire(state, 0, sees_all=True))
        values["pending"] = (type(state.pending).__name__, shown)
    return tuple(value if isinstance(value, Hashable) else repr(value) for value in values.values())


@cache
def _fields() -> list[str]:
    """Return the fields of a state as they are declared, for a compiled class lists none."""
    return [field.name for section in write_state.sections() for field in section.fields]


def all_cards(state: State) -> CardSet:
    """Return every train card, wherever it lies: always the deck."""
    lying = sum(card_sets.total(yard) for yard in state.yard_locomotives)
    held = sum(state.hands) + sum(state.holders) + sum(state.yards) + sum(state.stacks)
    every_card = card_sets.of(state.pile) + state.market + state.discards + held
    every_card += lying * ONE[card_sets.LOCOMOTIVE]
    if isinstance(state.pending, PlaceCard):
        every_card += ONE[state.pending.card]
    if isinstance(state.pending, PayTunnel):
        every_card += state.pending.revealed
    return every_card


def _put_back(state: State, returned: CardSet) -> None:
    """Put cards under the pile."""
    state.pile[:0] = card_sets.as_list(returned)


def _take_out(state: State, wanted: CardSet) -> CardSet:
    """Take cards out of the pile, then out of the discards."""
    for color in card_sets.as_list(wanted):
        if color in state.pile:
            state.pile.remove(color)
        else:
            assert card_sets.counts(state.discards)[color], f"no {card_sets.COLOR_NAMES[color]} card left"
            state.discards -= ONE[color]
    return wanted
