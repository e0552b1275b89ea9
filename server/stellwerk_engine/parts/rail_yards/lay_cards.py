"""Rail yards and on-track stacks: lay cards, raid, send cards on (CARD-04, CARD-05, CARD-08 to CARD-10)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from stellwerk_engine.core.cards import (
    COLOR_NAMES,
    LOCOMOTIVE,
    LOCOMOTIVE_SHIFT,
    ONE,
    PLAIN_COLORS,
    SHIFT,
    CardColor,
    CardSet,
    counts,
    covers,
    describe,
    from_wire,
    to_wire,
    total,
    without,
)
from stellwerk_engine.core.lengths import CARD_BYTES
from stellwerk_engine.core.piles import discard
from stellwerk_engine.core.state import Action, Events, Game, Move, Seat, State
from stellwerk_engine.core.turn import end_turn
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves as wire_moves
from stellwerk_protocol.errors import IllegalMoveError


def send_cards(state: State, seat: Seat, events: Events | None) -> None:
    """Send one card of each color in the player's yard, locomotives first, onto the stack (CARD-04)."""
    yard = state.yards[seat]
    if not yard:
        return
    sent: CardSet = 0
    plain, locomotives = counts(yard), counts(state.yard_locomotives[seat])
    for color in PLAIN_COLORS:
        if not plain[color]:
            continue
        if locomotives[color]:
            state.yard_locomotives[seat] -= ONE[color]
            sent += ONE[LOCOMOTIVE]
        else:
            state.yards[seat] -= ONE[color]
            sent += ONE[color]
    state.stacks[seat] += sent
    state.progress_turn = state.turn
    if events is not None:
        events.append(ev.CardsSent(seat, to_wire(sent)))


class Lay(Move):
    __slots__ = ("cards",)

    def __init__(self, cards: CardSet) -> None:
        self.cards = cards

    def to_wire(self) -> wire_moves.LayCards:
        return wire_moves.LayCards(to_wire(self.cards))

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        state.progress_turn = state.turn
        state.hands[seat] -= self.cards
        state.known[seat] = without(state.known[seat], self.cards)
        locomotives = self.cards >> LOCOMOTIVE_SHIFT
        plain = self.cards - (locomotives << LOCOMOTIVE_SHIFT)
        colors = [color for color in PLAIN_COLORS if counts(plain)[color]]
        state.yards[seat] += plain
        if locomotives:
            state.yard_locomotives[seat] += locomotives << SHIFT[colors[0]]
        if events is not None:
            events.append(ev.CardsLaid(seat, to_wire(self.cards)))
        for color in colors:
            for other in range(state.game.seat_count):
                if other != seat and in_yard(state, other)[color]:
                    _raid(state, other, color, events)
        end_turn(state, seat, events)


def _raid(state: State, victim: Seat, color: CardColor, events: Events | None) -> None:
    cards = counts(state.yards[victim])[color]
    locomotives = counts(state.yard_locomotives[victim])[color]
    state.yards[victim] -= cards << SHIFT[color]
    state.yard_locomotives[victim] -= locomotives << SHIFT[color]
    lot = (cards << SHIFT[color]) + (locomotives << LOCOMOTIVE_SHIFT)
    if events is not None:
        events.append(ev.Raided(victim, COLOR_NAMES[color], to_wire(lot)))
    discard(state, lot, events)


def in_yard(state: State, seat: Seat) -> bytes:
    """Return how many cards lie there in the set of each color, its locomotives too."""
    return counts(state.yards[seat] + state.yard_locomotives[seat])


def cards_to_beat(state: State, seat: Seat) -> list[int]:
    """Return, for each color, how many cards a set has to outnumber: those in another player's yard. A color
    in the seat's own yard cannot be beaten (CARD-09, CARD-10)."""
    to_beat = [0] * 9
    for other in range(state.game.seat_count):
        if other != seat and state.yards[other]:
            to_beat = [max(pair) for pair in zip(to_beat, in_yard(state, other), strict=True)]
    if state.yards[seat]:
        for color, lying in enumerate(in_yard(state, seat)):
            if lying:
                to_beat[color] = _UNBEATABLE
    return to_beat


_UNBEATABLE: Final = 127
SETS_LISTED_UP_TO: Final = 512  # more would make the list of moves too long for a message


class LayMoves(dict[CardSet, Lay]):
    """Cards -> the move that lays them; a deck allows less than 1,500."""

    def __missing__(self, cards: CardSet) -> Lay:
        self[cards] = move = Lay(cards)
        return move


LAY: Final = LayMoves()


def _smallest_set(to_beat: int) -> int:
    return max(2, to_beat + 1)


def _too_many_sets(hand: bytes, to_beat: list[int]) -> bool:
    locomotives = hand[LOCOMOTIVE]
    if sum(hand) * (locomotives + 1) <= SETS_LISTED_UP_TO:
        return False
    sets = [
        max(0, locomotives + 1 - max(0, _smallest_set(to_beat[color]) - of_color))
        for color in PLAIN_COLORS
        for of_color in range(1, hand[color] + 1)
    ]
    return sum(sets) > SETS_LISTED_UP_TO


@dataclass(frozen=True, slots=True)
class LayCards(Action):
    """The action of a turn."""

    def rule(self, game: Game) -> str:
        return (
            "lay_cards into your rail yard, open to all: two or more of one color (locomotives may replace "
            "some, not all), or three cards of three different colors without locomotives. You cannot lay a "
            "color that is in your yard. A color in another player's yard takes more cards than lie there, "
            "and these are then discarded."
        )

    def add_legal(self, state: State, seat: Seat, moves: list[Move]) -> None:
        """Add all sets of one color, then all threes of three colors. Of very many sets, add those with
        fewest locomotives for their size."""
        hand = counts(state.hands[seat])
        to_beat = cards_to_beat(state, seat)
        fewest_only = _too_many_sets(hand, to_beat)
        for color in PLAIN_COLORS:
            for of_color in range(1, hand[color] + 1):
                fewest = max(0, _smallest_set(to_beat[color]) - of_color)
                most = hand[LOCOMOTIVE]
                if fewest_only and of_color < hand[color]:
                    most = min(most, 0)
                for locomotives in range(fewest, most + 1):
                    moves.append(LAY[(of_color << SHIFT[color]) + (locomotives << LOCOMOTIVE_SHIFT)])
        free = [color for color in PLAIN_COLORS if hand[color] and not to_beat[color]]
        for one, two, three in combinations(free, 3):
            moves.append(LAY[ONE[one] + ONE[two] + ONE[three]])

    def moves_bytes(self, game: Game) -> tuple[int, int]:
        laid = len('{"type":"lay_cards","cards":{}},') + sum(sorted(CARD_BYTES)[-3:])
        number = SETS_LISTED_UP_TO + math.comb(len(PLAIN_COLORS), 3)
        return number * laid, number

    def legal_complete(self, state: State, seat: Seat) -> bool:
        hand = counts(state.hands[seat])
        return not _too_many_sets(hand, cards_to_beat(state, seat))

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move | None:
        if not isinstance(wire, wire_moves.LayCards):
            return None
        cards = from_wire(wire.cards)
        hand = state.hands[seat]
        if not covers(hand, cards):
            raise IllegalMoveError(
                "game.not_enough_cards", "/cards", f"cards out of the hand: {describe(hand)}"
            )
        laid = counts(cards)
        colors = [color for color in PLAIN_COLORS if laid[color]]
        is_set = len(colors) == 1 and total(cards) >= 2
        is_three = len(colors) == 3 and total(cards) == 3
        if not is_set and not is_three:
            raise IllegalMoveError(
                "game.wrong_cards",
                "/cards",
                "two or more of one color, with or without locomotives, or three of three colors",
            )
        to_beat = cards_to_beat(state, seat)
        for color in colors:
            size = total(cards) if is_set else 1
            if size <= to_beat[color]:
                expected = (
                    "a color that does not lie in your own yard"
                    if to_beat[color] == _UNBEATABLE
                    else f"more than {to_beat[color]} cards, or a color that lies in no yard"
                )
                raise IllegalMoveError("game.wrong_cards", f"/cards/{COLOR_NAMES[color]}", expected)
        return LAY[cards]

    def fallback(self, state: State, seat: Seat) -> Move | None:
        """Return the first listed."""
        moves: list[Move] = []
        self.add_legal(state, seat, moves)
        return moves[0] if moves else None
