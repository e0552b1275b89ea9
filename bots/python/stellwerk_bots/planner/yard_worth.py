"""The value of a move in a game with rail yards: the rules of thumb of the policy `planner`.

It lays large sets of colors that the seat's tickets require, as long as there are turns to send them on.
Otherwise it draws such colors, and more tickets whenever more cards will reach the stack than the tickets
require.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from stellwerk_engine.core.board import bits, mask_of
from stellwerk_engine.core.cards import LOCOMOTIVE, PLAIN_COLORS, CardSet, counts, total
from stellwerk_engine.core.state import NOT_LAST_ROUND, Game, Move, Seat, State
from stellwerk_engine.parts.draw_cards import DrawFirst, DrawSecond, TakeFirst, TakeSecond
from stellwerk_engine.parts.rail_yards.complete_tickets import Complete
from stellwerk_engine.parts.rail_yards.lay_cards import Lay
from stellwerk_engine.parts.rail_yards.rail_yards import has_open_stacks
from stellwerk_engine.parts.tickets import DrawTicketsMove, Keep

MORE_TICKETS: Final = 8.0
CARD_WANTED: Final = 4.5
BLIND: Final = 3.5
CARD: Final = 0.5

CARDS_IN_A_TURN: Final = 1.2  # that leave the pile, on average
WORTH_OF_A_CARD: Final = 3.0  # on the stack, for a ticket
PRICE_OF_A_CARD: Final = 0.8
PRICE_OF_A_LOCOMOTIVE: Final = 0.3  # beside that
PART_TO_PROMISE: Final = 0.85  # of the cards that may reach the stack: not all will have the right color
PART_TO_DRAW_AT: Final = 0.7
PRICE_OF_A_CARD_TOO_MANY: Final = 9.0
WORTH_OF_A_BIG_CITY: Final = 2.0


@dataclass(frozen=True, slots=True)
class Outlook:
    state: State
    seat: Seat
    hand: bytes
    turns: int  # turns that the seat still has, including this one: an estimate
    coming: float  # cards that will be on the stack at the end: an estimate
    asked: list[int]  # cards of each color that the tickets require, minus those in the yard
    asked_in_all: int


def yard_worth(state: State, seat: Seat) -> Callable[[Move], float]:
    return partial(_worth, _look(state, seat))


def _worth(outlook: Outlook, move: Move) -> float:
    match move:
        case Lay(cards=cards):
            return _worth_of_set(outlook, cards)
        case TakeFirst(card=card) | TakeSecond(card=card):
            if card == LOCOMOTIVE:
                return BLIND
            return CARD_WANTED if outlook.asked[card] > outlook.hand[card] else CARD
        case DrawFirst() | DrawSecond():
            return BLIND
        case DrawTicketsMove():
            can_do_more = outlook.turns > 2 and outlook.asked_in_all < outlook.coming * PART_TO_DRAW_AT
            return MORE_TICKETS if can_do_more else -1
        case Keep(tickets=kept):
            return _worth_of_tickets(outlook, mask_of(kept))
        case Complete(tickets=completed):
            return sum(outlook.state.game.board.tickets[ticket].points for ticket in completed)
        case _:
            return 0


def _look(state: State, seat: Seat) -> Outlook:
    seats = state.game.seat_count
    hand = counts(state.hands[seat])
    asked = _cards_asked(state.game, state.ticket_masks[seat])
    lying = counts(state.yards[seat])
    there = counts(state.stacks[seat]) if has_open_stacks(state.game) else bytes(len(lying))
    on_the_way = total(state.stacks[seat]) + total(state.yards[seat]) + total(state.yard_locomotives[seat])
    is_last = state.turns_left != NOT_LAST_ROUND
    turns = 1 if is_last else 1 + int(len(state.pile) / (CARDS_IN_A_TURN * seats))
    return Outlook(
        state=state,
        seat=seat,
        hand=hand,
        turns=turns,
        coming=on_the_way + sum(hand) * 2 // 3 + turns,
        asked=[max(0, n - there[color] - lying[color]) for color, n in enumerate(asked)],
        asked_in_all=sum(asked),
    )


def _cards_asked(game: Game, tickets_mask: int) -> list[int]:
    tickets = [game.board.tickets[ticket] for ticket in bits(tickets_mask)]
    return [sum(ticket.needs[color] for ticket in tickets) for color in PLAIN_COLORS]


def _worth_of_set(outlook: Outlook, cards: CardSet) -> float:
    """Return the value of a set, by the cards that are sent on in time and serve a ticket. Locomotives serve
    any ticket."""
    laid = counts(cards)
    locomotives = laid[LOCOMOTIVE]
    useful = sum(
        min(laid[color] + locomotives, outlook.turns - 1, outlook.asked[color] + locomotives)
        for color in PLAIN_COLORS
        if laid[color]
    )
    return useful * WORTH_OF_A_CARD - total(cards) * PRICE_OF_A_CARD - locomotives * PRICE_OF_A_LOCOMOTIVE


def _worth_of_tickets(outlook: Outlook, kept_mask: int) -> float:
    game = outlook.state.game
    asked = _cards_asked(game, outlook.state.ticket_masks[outlook.seat] | kept_mask)
    too_many = max(0.0, sum(asked) - outlook.coming * PART_TO_PROMISE)
    in_hand = sum(min(pair) for pair in zip(asked, outlook.hand, strict=False))
    big_cities = sum((city.tickets_mask & kept_mask).bit_count() for city in game.board.big_cities)
    points = sum(game.board.tickets[ticket].points for ticket in bits(kept_mask))
    return points + big_cities * WORTH_OF_A_BIG_CITY + in_hand - too_many * PRICE_OF_A_CARD_TOO_MANY
