"""CARD-13: which tickets a stack of cards completes. The choice is exact, and no hand makes it slow."""

from collections.abc import Iterable, Sequence
from itertools import combinations, islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.parts.rail_yards import completions
from stellwerk_engine.parts.rail_yards.completions import (
    LOCOMOTIVE,
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

# Missing tickets and stack. Found by climbing: of the real tickets and stacks the most expensive ones.
HARD_HANDS: tuple[tuple[set[int], tuple[int, ...]], ...] = (
    (set(), (7, 7, 4, 6, 6, 4, 4, 2, 9)),
    (set(), (6, 6, 5, 2, 7, 6, 10, 7, 12)),
    ({4, 12, 13, 14, 26, 30, 34, 38, 42, 44}, (3, 2, 8, 4, 6, 7, 8, 7, 6)),
    ({4, 5, 13, 16, 17, 20, 21, 22, 28, 32, 34, 39, 42, 43, 44}, (4, 6, 6, 5, 6, 4, 7, 6, 7)),
    ({4, 5, 9, 10, 15, 16, 19, 21, 28, 32, 34}, (5, 4, 3, 3, 4, 1, 3, 5, 6)),
)
EFFORT_LIMIT = 20_000
"""States: a few tenths of a second."""


def needing(points: int, *colors: int) -> TicketNeed:
    """Return a ticket that shows a card of each of these colors."""
    return TicketNeed(points, tuple(colors.count(color) for color in range(8)))


def stack_of(*cards: int) -> tuple[int, ...]:
    """Make a stack of a text of digits; 8 is a locomotive."""
    return tuple(cards.count(color) for color in range(9))


def missing_cards(tickets: Sequence[TicketNeed], chosen: Iterable[int], stack: Sequence[int]) -> int:
    needs = [sum(counts) for counts in zip(*(tickets[index].needs for index in chosen), strict=True)]
    return sum(max(0, need - have) for need, have in zip(needs, stack, strict=False))


def all_feasible(tickets: Sequence[TicketNeed], stack: Sequence[int]) -> list[tuple[int, ...]]:
    """List the feasible sets by the definition, best first."""
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


def maximal_one_by_one(tickets: Sequence[TicketNeed], stack: tuple[int, ...]) -> list[tuple[int, ...]]:
    """List the maximal sets with plain counts: the feasible sets that no other ticket can join, one after the
    other. For hands that are too large for `all_maximal`."""
    sets: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), stack)]
    for index, ticket in enumerate(tickets):
        sets += [
            ((*chosen, index), rest)
            for chosen, left in sets
            if (rest := spend(left, ticket.needs))[LOCOMOTIVE] >= 0
        ]
    maximal = [
        chosen
        for chosen, left in sets
        if not any(
            spend(left, ticket.needs)[LOCOMOTIVE] >= 0
            for index, ticket in enumerate(tickets)
            if index not in chosen
        )
    ]
    return sorted(
        maximal, key=lambda chosen: (-sum(tickets[index].points for index in chosen), -len(chosen), chosen)
    )


def spend(cards: tuple[int, ...], needs: Sequence[int]) -> tuple[int, ...]:
    """Return what is left when locomotives replace missing cards; if they are too few, less than none."""
    rest = [have - need for have, need in zip(cards[:LOCOMOTIVE], needs, strict=True)]
    missing = sum(-count for count in rest if count < 0)
    return (*(max(count, 0) for count in rest), cards[LOCOMOTIVE] - missing)


def best_by_tables(tickets: Sequence[TicketNeed], stack: Sequence[int]) -> tuple[int, ...]:
    """Find the best sets by keeping all stacks that may be left after each ticket, without any bound. For
    small stacks only."""
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


def hands(most_tickets: int) -> st.SearchStrategy[list[TicketNeed]]:
    """Draw hands in which ties and shortages are common."""
    needs = st.lists(st.sampled_from((0, 0, 1, 1, 2, 3)), min_size=8, max_size=8)
    few_colors = st.tuples(needs, st.integers(1, 8)).map(
        lambda drawn: tuple(count if color < drawn[1] else 0 for color, count in enumerate(drawn[0]))
    )
    return st.lists(
        st.builds(TicketNeed, st.integers(0, 12) | st.integers(5, 7), few_colors), max_size=most_tickets
    )


def real_hands(fewest_tickets: int, most_tickets: int) -> st.SearchStrategy[list[TicketNeed]]:
    index = st.integers(0, len(REAL_TICKETS) - 1)
    indexes = st.sets(index, min_size=fewest_tickets, max_size=most_tickets)
    return indexes.map(lambda chosen: [REAL_TICKETS[index] for index in sorted(chosen)])


def stacks(most: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.tuples(*(st.integers(0, most) for _ in range(9)))


@pytest.mark.parametrize(
    ("stack", "chosen", "enough"),
    [
        ((), (), True),
        ((0, 1), (0,), True),
        ((0, 0), (0,), False),
        ((0, 8), (0,), True),
        ((0, 1, 1), (0, 1), True),
        ((0, 1), (0, 1), False),
        ((8, 8, 8), (0, 1), True),
        ((8, 8), (0, 1), False),
        ((1, 1, 1, 1, 8), (0, 1), True),
    ],
)
def test_each_card_serves_one_ticket_and_a_locomotive_any(
    stack: tuple[int, ...], chosen: tuple[int, ...], enough: bool
) -> None:
    """CARD-13."""
    tickets = [needing(5, 0, 1), needing(6, 1)]
    assert feasible(tickets, chosen, stack_of(*stack)) is enough


def test_more_points_are_better_than_more_tickets() -> None:
    tickets = [needing(5, 0), needing(5, 0), needing(11, 0, 0)]
    assert best_completion(tickets, stack_of(0, 0)) == (2,)


def test_of_as_many_points_more_tickets_are_better() -> None:
    tickets = [needing(10, 0, 0), needing(5, 0), needing(5, 0)]
    assert best_completion(tickets, stack_of(0, 0)) == (1, 2)


def test_of_as_many_tickets_the_first_are_better() -> None:
    tickets = [needing(4, 0), needing(6, 1), needing(5, 0), needing(5, 1), needing(6, 0), needing(4, 1)]
    assert best_completion(tickets, stack_of(8, 8)) == (1, 4)
    assert best_completion([needing(5, 0)] * 5, stack_of(0, 8)) == (0, 1)
    # 4 + 7 and 5 + 6: the first index decides.
    tickets = [needing(5, 0), needing(4, 0), needing(7, 1), needing(6, 1)]
    assert maximal_completions(tickets, stack_of(0, 1))[0] == [(0, 2), (0, 3), (1, 2), (1, 3)]
    assert maximal_completions(tickets[1:] + tickets[:1], stack_of(0, 1))[0][1:3] == [(0, 1), (2, 3)]


def test_points_may_be_left_for_a_better_use_of_the_locomotives() -> None:
    """The most valuable ticket would take both locomotives."""
    tickets = [needing(9, 0, 0), needing(6, 1, 2), needing(7, 2, 3)]
    assert best_completion(tickets, stack_of(1, 3, 8, 8)) == (1, 2)


def test_with_nothing_to_complete_the_empty_set_is_all_there_is() -> None:
    assert maximal_completions([], stack_of(0, 8)) == ([()], True)
    assert maximal_completions([needing(5, 0), needing(9, 0, 1)], stack_of(1)) == ([()], True)
    assert best_completion([needing(5, 0)], stack_of()) == ()


def test_with_anything_to_complete_there_are_sets_that_are_not_listed() -> None:
    assert maximal_completions([needing(5, 0)], stack_of(0)) == ([(0,)], False)


@settings(max_examples=300, deadline=None)
@given(hands(most_tickets=7), stacks(most=4))
def test_the_best_set_is_that_of_the_definition(tickets: list[TicketNeed], stack: tuple[int, ...]) -> None:
    every = all_feasible(tickets, stack)
    assert best_completion(tickets, stack) == every[0]
    assert all(feasible(tickets, chosen, stack) for chosen in every)


@settings(max_examples=300, deadline=None)
@given(hands(most_tickets=7), stacks(most=3), st.sampled_from((1, 3, 64)))
def test_the_maximal_sets_are_those_of_the_definition(
    tickets: list[TicketNeed], stack: tuple[int, ...], limit: int
) -> None:
    expected = all_maximal(tickets, stack)[:limit]
    assert maximal_completions(tickets, stack, limit) == (expected, expected == [()])


@settings(max_examples=60, deadline=None)
@given(real_hands(6, 10), stacks(most=5))
def test_the_choices_of_a_real_hand_are_those_of_the_definition(
    tickets: list[TicketNeed], stack: tuple[int, ...]
) -> None:
    expected = all_maximal(tickets, stack)[:64]
    assert maximal_completions(tickets, stack) == (expected, expected == [()])
    assert best_completion(tickets, stack) == expected[0]


@settings(max_examples=150, deadline=None)
@given(real_hands(0, 14) | hands(most_tickets=12), stacks(most=4), st.sampled_from((0, 0, 57)))
def test_the_maximal_sets_are_those_of_a_search_with_plain_counts(
    tickets: list[TicketNeed], stack: tuple[int, ...], many: int
) -> None:
    """Among them stacks with as many cards of a color as a board can have."""
    stack = (stack[0] + many, *stack[1:])
    expected = maximal_one_by_one(tickets, stack)[:64]
    assert maximal_completions(tickets, stack) == (expected, expected == [()])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 8), min_size=6, max_size=11))
def test_the_best_set_of_all_real_tickets_is_that_of_a_search_without_bounds(cards: list[int]) -> None:
    stack = stack_of(*cards)
    assert best_completion(REAL_TICKETS, stack) == best_by_tables(REAL_TICKETS, stack)


@settings(max_examples=40, deadline=None)
@given(real_hands(20, 46), stacks(most=10))
def test_a_large_choice_cannot_be_bettered_by_exchanging_tickets(
    tickets: list[TicketNeed], stack: tuple[int, ...]
) -> None:
    best = best_completion(tickets, stack)
    assert feasible(tickets, best, stack)
    others = [index for index in range(len(tickets)) if index not in best]
    assert not any(feasible(tickets, (*best, other), stack) for other in others)
    for gone in best:
        rest = [index for index in best if index != gone]
        for new in others:
            if tickets[new].points > tickets[gone].points or (
                tickets[new].points == tickets[gone].points and new < gone
            ):
                assert not feasible(tickets, (*rest, new), stack)


@pytest.mark.parametrize(("missing", "stack"), HARD_HANDS)
def test_a_hand_chosen_to_be_slow_is_not(missing: set[int], stack: tuple[int, ...]) -> None:
    tickets = [ticket for index, ticket in enumerate(REAL_TICKETS) if index not in missing]
    effort = Effort()
    best = next(best_first(tickets, stack, effort))
    assert feasible(tickets, best, stack)
    assert effort.spent < EFFORT_LIMIT


@settings(max_examples=60, deadline=None)
@given(real_hands(20, 46) | st.just(list(REAL_TICKETS)), stacks(most=10))
def test_no_real_hand_is_slow(tickets: list[TicketNeed], stack: tuple[int, ...]) -> None:
    effort = Effort()
    next(best_first(tickets, stack, effort))
    assert effort.spent < EFFORT_LIMIT


@settings(max_examples=150, deadline=None)
@given(hands(most_tickets=6), stacks(most=3), st.integers(0, 12))
def test_wrong_prices_cost_time_and_nothing_else(
    tickets: list[TicketNeed], stack: tuple[int, ...], pivot_limit: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(completions, "PIVOT_LIMIT", pivot_limit)
        assert maximal_completions(tickets, stack)[0] == all_maximal(tickets, stack)[:64]


def test_tickets_that_fit_in_any_case_do_not_hide_other_choices() -> None:
    """Between the two maximal sets there are a million that are not."""
    always = [needing(5 + index % 3, index % 6) for index in range(20)]
    tickets = [*always, needing(200, 6), needing(1, 6)]
    stack = (4, 4, 4, 4, 4, 4, 1, 0, 0)
    assert maximal_completions(tickets, stack)[0] == [(*range(21),), (*range(20), 21)]


def test_a_list_that_ends_with_the_budget_is_the_beginning_of_the_full_list() -> None:
    """More cards than anybody lays in a game, and all tickets."""
    stack = (8, 10, 8, 10, 8, 10, 8, 8, 11)
    listed, are_all = maximal_completions(REAL_TICKETS, stack)
    assert 1 < len(listed) < 64
    assert not are_all
    assert listed == list(islice(best_first(REAL_TICKETS, stack, Effort()), len(listed)))


def test_the_budget_is_kept_and_the_best_set_comes_at_any_cost() -> None:
    stack = (7, 7, 4, 6, 6, 4, 4, 2, 9)
    best, more = Effort(), Effort()
    first = next(best_first(REAL_TICKETS, stack, best))
    assert list(best_first(REAL_TICKETS, stack, more, budget=best.spent // 2)) == [first]
    assert more.spent == best.spent


def test_a_budget_ends_a_search_in_the_middle() -> None:
    stack = (8, 10, 8, 10, 8, 10, 8, 8, 11)
    effort = Effort()
    assert len(list(best_first(REAL_TICKETS, stack, effort, budget=10_000))) > 1
    assert 10_000 < effort.spent < 12_000


def test_any_sequence_of_counts_is_a_stack() -> None:
    stack = (3, 4, 2, 4, 3, 2, 2, 5, 5)
    expected = maximal_completions(REAL_TICKETS, stack)
    assert maximal_completions(REAL_TICKETS, list(stack)) == expected
    assert maximal_completions(REAL_TICKETS, bytes(stack)) == expected
    assert feasible(REAL_TICKETS, expected[0][0], bytes(stack))
