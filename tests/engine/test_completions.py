"""CARD-13: which tickets a stack of cards completes. The choice is exact, and no hand makes it slow."""

from collections.abc import Iterable, Sequence
from itertools import combinations, islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk_engine.board_file import shipped_board
from stellwerk_engine.completions import (
    BUDGET,
    Effort,
    TicketNeed,
    best_completion,
    best_first,
    feasible,
    maximal_completions,
)
from stellwerk_protocol.names import COLORS

REAL_TICKETS = tuple(
    TicketNeed(ticket.points, tuple(ticket.cards.get(color, 0) for color in COLORS[:8]))
    for ticket in shipped_board("card_game").tickets
)

HARD_STACKS: tuple[tuple[int, ...], ...] = ()
"""Found by climbing: the stacks for which all 46 tickets together cost most states."""


def needing(points: int, *colors: int) -> TicketNeed:
    """A ticket that shows a card of each of these colors."""
    return TicketNeed(points, tuple(colors.count(color) for color in range(8)))


def stack_of(*cards: int) -> tuple[int, ...]:
    """8 is a locomotive."""
    return tuple(cards.count(color) for color in range(9))


def missing_cards(tickets: Sequence[TicketNeed], chosen: Iterable[int], stack: Sequence[int]) -> int:
    needs = [sum(counts) for counts in zip(*(tickets[index].needs for index in chosen), strict=True)]
    return sum(max(0, need - have) for need, have in zip(needs, stack, strict=False))


def all_feasible(tickets: Sequence[TicketNeed], stack: Sequence[int]) -> list[tuple[int, ...]]:
    """The definition, best first."""
    sets = [
        chosen
        for size in range(len(tickets) + 1)
        for chosen in combinations(range(len(tickets)), size)
        if missing_cards(tickets, chosen, stack) <= stack[8]
    ]
    return sorted(
        sets, key=lambda chosen: (-sum(tickets[index].points for index in chosen), -len(chosen), chosen)
    )


def all_maximal(tickets: Sequence[TicketNeed], stack: Sequence[int]) -> list[tuple[int, ...]]:
    sets = all_feasible(tickets, stack)
    smaller = {chosen[:place] + chosen[place + 1 :] for chosen in sets for place in range(len(chosen))}
    return [chosen for chosen in sets if chosen not in smaller]


def best_by_tables(tickets: Sequence[TicketNeed], stack: Sequence[int]) -> tuple[int, ...]:
    """All stacks that may be left after each ticket, without any bound: for small stacks only."""
    table: dict[tuple[int, ...], tuple[int, int, tuple[int, ...]]] = {tuple(stack): (0, 0, ())}
    for index, ticket in enumerate(tickets):
        for cards, (points, number, negative) in list(table.items()):
            short = [max(0, need - have) for need, have in zip(ticket.needs, cards, strict=False)]
            if sum(short) <= cards[8]:
                colors = (max(0, have - need) for need, have in zip(ticket.needs, cards, strict=False))
                rest = (*colors, cards[8] - sum(short))
                better = (points + ticket.points, number + 1, (*negative, -index))
                table[rest] = max(better, table.get(rest, better))
    return tuple(-index for index in max(table.values())[2])
