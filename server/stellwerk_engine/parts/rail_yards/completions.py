"""Which tickets to complete with a stack of cards (CARD-13): the best choice, and those worth listing.

The law: a ticket takes exactly the cards that it shows, a locomotive counts as any color, and each card
serves one ticket. So a set of tickets is feasible if its needs, color by color, exceed the stack by no more
cards in total than there are locomotives. The order of sets, best first: more points, then more tickets, then
the indexes that come first. (Callers pass tickets in the order of their ids.)

To choose the best set is a knapsack problem with nine capacities, and a bot that fails leaves it to the
server, maybe with every ticket of the game in hand. Three ideas make it a matter of milliseconds, and no
floating-point number can make two machines disagree:

1. *Prices.* Linear programming, in whole numbers, finds a price for a card of each color and for a
   locomotive. At these prices a ticket has a profit: its value less its cards. No set is worth more than
   all cards plus all profits above zero. That bound holds for any prices, and at the right ones it is
   rarely two points above the best set.
2. *Floors.* Wanted are all sets that are worth at least the floor, first one just below the bound. While
   there is none the floor falls, each time by twice as much.
3. *Layers.* The tickets are decided one after the other. Choices that leave the same cards have the same
   future, so they are one state; cards that no undecided ticket needs do not count. A state is dropped
   if its value and the bound of its future stay below the floor. A path back through the layers is a
   set, and a heap yields them best first.

`best_completion` is the first of these sets, `maximal_completions` are the first that nothing can join.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from operator import add, mul, sub
from typing import NamedTuple

from stellwerk_engine.core.cards import CardSet, total, without

COLOR_COUNT = 8
LOCOMOTIVE = 8

Cards = tuple[int, ...]
"""Nine counts: the colors, then the locomotives."""

Rank = int
"""Points, then number of tickets, then a bit for each ticket (the first is the highest) in one int: a set's
rank is the sum of its tickets' ranks, and the better set has the higher rank."""

PIVOT_LIMIT = 500  # usually 30 to 80; simplex can cycle, and any prices give a valid bound
FEW = 1_000  # feasible sets, which are then looked at one by one
BUDGET = 20_000  # states, also those of sets on the heap: a few tenths of a second


class TicketNeed(NamedTuple):
    points: int
    needs: tuple[int, ...]
    """Eight counts."""


@dataclass
class Effort:
    """States that a search has met in the layers and on the heap: the same number on every machine."""

    spent: int = 0


class Prices(NamedTuple):
    scale: int
    """Prices and profits are in units of 1/scale of a ticket's value."""
    cards: tuple[int, ...]
    """Nine, none negative, that of a locomotive the highest."""


class Problem(NamedTuple):
    needs: list[tuple[int, ...]]
    values: list[int]
    """Points and number in one: the high part of the ranks."""
    ranks: list[Rank]
    stack: Cards
    prices: Prices
    profits: list[int]
    bound: int
    """No set has a higher value."""


class Layer(NamedTuple):
    """The possible rests of the stack after some tickets have been decided."""

    best: dict[Cards, Rank]
    origins: dict[Cards, list[tuple[Cards, bool]]]
    """The states of the layer before that lead here, and whether by taking the ticket."""


def feasible(tickets: Sequence[TicketNeed], chosen: Iterable[int], stack: Sequence[int]) -> bool:
    """Return whether the stack suffices for all the chosen tickets (indexes, each once)."""
    return fits(tuple(stack), summed(tickets[index].needs for index in chosen))


def best_completion(tickets: Sequence[TicketNeed], stack: Sequence[int]) -> tuple[int, ...]:
    """Return the best feasible set, as ascending indexes. Points are not negative."""
    return next(best_first(tickets, stack, Effort()))


def maximal_completions(
    tickets: Sequence[TicketNeed], stack: Sequence[int], limit: int = 64
) -> tuple[list[tuple[int, ...]], bool]:
    """Return the best `limit` of the feasible sets that no further ticket can join, best first, and whether
    they are all feasible sets (only if no ticket can be completed: then the empty set is the only one).

    The result is always the beginning of the full list: its first is `best_completion`, and nothing better
    than its last is missing. It ends before `limit` if there are no more, or if finding more exceeds a budget
    of work, which is counted and not timed."""
    sets = few_maximal(tickets, stack, limit)
    if sets is None:
        sets = list[tuple[int, ...]]()
        for chosen in best_first(tickets, stack, Effort(), BUDGET):
            if is_maximal(tickets, chosen, stack):
                sets.append(chosen)
                if len(sets) == limit:
                    break
    return sets, sets == [()]


def few_maximal(
    tickets: Sequence[TicketNeed], stack: Sequence[int], limit: int
) -> list[tuple[int, ...]] | None:
    """Return the best of the feasible sets that no ticket can join, best first; None if more than FEW sets
    are feasible. The usual case, at a small part of the price of the search.

    The colors of a stack are one int, as those of a hand are (core/cards.py). The cards suffice for a set if
    no more colors are left after it than cards are: the difference is the locomotives."""
    ranks = ranks_of(tickets)
    sets = [(0, packed(stack), sum(stack))]  # rank, colors left, cards left
    for rank, ticket in zip(ranks, tickets, strict=True):
        needs, count = packed(ticket.needs), sum(ticket.needs)
        sets += [
            (before + rank, after, cards - count)
            for before, colors, cards in sets
            if total(after := without(colors, needs)) <= cards - count
        ]
        if len(sets) > FEW:
            return None
    feasible_ranks = {rank for rank, _, _ in sets}
    single = [(rank & -rank, rank) for rank in ranks]  # a ticket's bit is the lowest of its rank
    maximal: list[tuple[int, ...]] = []
    for chosen in sorted(feasible_ranks, reverse=True):
        for bit, rank in single:
            if not chosen & bit and chosen + rank in feasible_ranks:
                break
        else:
            maximal.append(indexes_of(chosen, len(tickets)))
            if len(maximal) == limit:
                break
    return maximal


def ranks_of(tickets: Sequence[TicketNeed]) -> list[Rank]:
    count = len(tickets)
    return [
        (ticket.points * (count + 1) + 1) << count | 1 << (count - 1 - index)
        for index, ticket in enumerate(tickets)
    ]


def indexes_of(rank: Rank, count: int) -> tuple[int, ...]:
    """Return the tickets of a set, out of so many."""
    return tuple(index for index in range(count) if rank >> (count - 1 - index) & 1)


def packed(counts: Sequence[int]) -> CardSet:
    """Return the cards of the eight colors."""
    return int.from_bytes(counts[:COLOR_COUNT], "little")


def best_first(
    tickets: Sequence[TicketNeed], stack: Sequence[int], effort: Effort, budget: int | None = None
) -> Iterator[tuple[int, ...]]:
    """Yield feasible sets, best first, without those that some ticket obviously can join.

    The first is found at any cost. With a budget, the rest follow as long as it lasts."""
    problem = priced(tickets, stack)
    count = len(tickets)
    gap = (count + 1) // 2
    ceiling = problem.bound + 1  # sets of this value and more have been yielded
    first = True
    while ceiling > 0:
        floor = max(problem.bound - gap, 0)
        order = deciding_order(problem, gap)
        layers = layers_of(problem, order, floor, effort, None if first else budget)
        if layers is None:
            return
        for rank in ranks_in(problem, order, layers, effort):
            value = rank >> count
            if value < floor:
                break  # the rest is incomplete: low starts of paths that share a state with high ones
            if value < ceiling:
                yield indexes_of(rank, count)
                first = False
            if budget is not None and effort.spent > budget:
                return
        ceiling = floor
        gap *= 2


def priced(tickets: Sequence[TicketNeed], stack: Sequence[int]) -> Problem:
    count = len(tickets)
    needs = [ticket.needs for ticket in tickets]
    ranks = ranks_of(tickets)
    values = [rank >> count for rank in ranks]
    prices = card_prices(values, needs, stack)
    profits = [
        value * prices.scale - cost(prices.cards, need) for value, need in zip(values, needs, strict=True)
    ]
    useful = useful_part(tuple(stack), summed(needs))
    bound = (cost(prices.cards, useful) + sum(profit for profit in profits if profit > 0)) // prices.scale
    return Problem(needs, values, ranks, useful, prices, profits, bound)


def card_prices(values: Sequence[int], needs: Sequence[tuple[int, ...]], stack: Sequence[int]) -> Prices:
    """Return the prices at which the bound is lowest: the dual solution of a linear program.

    It has a row for each color and one for the locomotives, and a column for each share of a ticket (0 to 1),
    for the locomotives laid as each color, and for what is left over of each row; at the end the right side.
    The simplex method pivots without fractions: each entry means itself divided by `scale`."""
    count = len(values)
    rows = [
        [need[color] for need in needs] + unit(color, 8, -1) + unit(color, 9, 1) + [stack[color]]
        for color in range(COLOR_COUNT)
    ]
    rows.append([0] * count + [1] * 8 + unit(LOCOMOTIVE, 9, 1) + [stack[LOCOMOTIVE]])
    goal = [-value for value in values] + [0] * 18
    basis = list(range(count + 8, count + 17))
    scale = 1
    for _ in range(PIVOT_LIMIT):
        entering = min(range(count + 17), key=goal.__getitem__)
        if goal[entering] >= 0:
            break
        # The entering column grows until a basic column meets a bound, a ticket until it is taken whole.
        length, divisor = (1, 1) if entering < count else (1, 0)
        leaving = None
        at_one = False
        for place, row in enumerate(rows):
            slope = row[entering]
            if slope > 0 and row[-1] * divisor < length * slope:
                length, divisor, leaving, at_one = row[-1], slope, place, False
            elif slope < 0 and basis[place] < count and (scale - row[-1]) * divisor < length * -slope:
                length, divisor, leaving, at_one = scale - row[-1], -slope, place, True
        if leaving is None:  # taken whole: from now on the column counts what is left out of the ticket
            for row in (*rows, goal):
                row[-1] -= row[entering]
                row[entering] = -row[entering]
            continue
        pivot_row = rows[leaving]
        if at_one:  # a basic ticket is taken whole: likewise
            pivot_row[:] = [-entry for entry in pivot_row]
            pivot_row[basis[leaving]] = scale
            pivot_row[-1] += scale
        pivot = pivot_row[entering]
        for row in (*rows, goal):
            factor = row[entering]
            if row is not pivot_row and (factor or pivot != scale):
                row[:] = [
                    (entry * pivot - factor * other) // scale
                    for entry, other in zip(row, pivot_row, strict=True)
                ]
        basis[leaving] = entering
        scale = pivot
    colors = [max(price, 0) for price in goal[count + 8 : count + 16]]
    return Prices(scale, (*colors, max(*colors, goal[count + 16])))


def unit(place: int, length: int, entry: int) -> list[int]:
    return [entry if other == place else 0 for other in range(length)]


def deciding_order(problem: Problem, gap: int) -> list[int]:
    """Clear cases first: who decides against a profit that exceeds the gap ends below the floor.

    The others color by color, the rarest first: a color that is done no longer distinguishes states."""
    by_clearness = sorted(range(len(problem.needs)), key=lambda index: (-abs(problem.profits[index]), index))
    order = [index for index in by_clearness if abs(problem.profits[index]) > gap * problem.prices.scale]
    left: list[int] = by_clearness[len(order) :]
    while left:
        demand = [sum(problem.needs[index][color] > 0 for index in left) for color in range(COLOR_COUNT)]
        rarest = min(range(COLOR_COUNT), key=lambda color: (demand[color] or len(left) + 1, color))
        with_rarest = [index for index in left if problem.needs[index][rarest]] or left
        order += with_rarest
        left = [index for index in left if index not in with_rarest]
    return order


def layers_of(
    problem: Problem, order: Sequence[int], floor: int, effort: Effort, budget: int | None
) -> list[Layer] | None:
    """Return the start and a layer for each decided ticket, with the states that may reach the floor; None if
    the budget does not suffice."""
    count, scale = len(order), problem.prices.scale
    undecided_needs = suffix_sums([problem.needs[index] for index in order])
    undecided_profit = sum(profit for profit in problem.profits if profit > 0)
    layers = [Layer({problem.stack: 0}, {})]
    for index, future_needs in zip(order, undecided_needs[1:], strict=True):
        needs, ticket_rank = problem.needs[index], problem.ranks[index]
        undecided_profit -= max(problem.profits[index], 0)
        layer = Layer({}, {})
        for cards, rank in layers[-1].best.items():
            rest = spend(cards, needs)
            enough = rest[LOCOMOTIVE] >= 0
            options: list[tuple[Cards, Rank, bool]] = []
            if enough:
                options.append((rest, rank + ticket_rank, True))
            if not enough or can_be_blocked(cards, needs, future_needs):
                options.append((cards, rank, False))
            for left, new_rank, taken in options:
                useful = useful_part(left, future_needs)
                promise = (new_rank >> count) * scale + cost(problem.prices.cards, useful) + undecided_profit
                if promise >= floor * scale:
                    layer.best[useful] = max(new_rank, layer.best.get(useful, 0))
                    layer.origins.setdefault(useful, []).append((cards, taken))
        layers.append(layer)
        effort.spent += len(layer.best)
        if budget is not None and effort.spent > budget:
            return None
    return layers


def ranks_in(
    problem: Problem, order: Sequence[int], layers: Sequence[Layer], effort: Effort
) -> Iterator[Rank]:
    """Yield the ranks of all sets in the layers, best first: the best start of a path is known in each
    state."""
    # Negative rank of the best set by way of a state, its layer, rank of the tickets taken since, the state.
    heap = [(-rank, len(order), 0, cards) for cards, rank in layers[-1].best.items()]
    heapify(heap)
    while heap:
        negative_rank, depth, taken_since, cards = heappop(heap)
        effort.spent += 1
        if depth == 0:
            yield -negative_rank
            continue
        before = layers[depth - 1].best
        for origin, taken in layers[depth].origins[cards]:
            since = taken_since + problem.ranks[order[depth - 1]] if taken else taken_since
            heappush(heap, (-before[origin] - since, depth - 1, since, origin))


def is_maximal(tickets: Sequence[TicketNeed], chosen: Sequence[int], stack: Sequence[int]) -> bool:
    """Return whether no further ticket can join the feasible set."""
    rest = spend(tuple(stack), summed(tickets[index].needs for index in chosen))
    others = [ticket for index, ticket in enumerate(tickets) if index not in chosen]
    return not any(fits(rest, ticket.needs) for ticket in others)


def spend(cards: Cards, needs: Sequence[int]) -> Cards:
    """Return what is left when locomotives replace missing cards; if they are too few, less than none."""
    rest = list(map(sub, cards, needs))
    locomotives = cards[LOCOMOTIVE]
    if min(rest) < 0:
        locomotives += sum([count for count in rest if count < 0])
        rest = [count if count > 0 else 0 for count in rest]
    return (*rest, locomotives)


def fits(cards: Cards, needs: Sequence[int]) -> bool:
    return spend(cards, needs)[LOCOMOTIVE] >= 0


def can_be_blocked(cards: Cards, needs: Sequence[int], future_needs: Sequence[int]) -> bool:
    """Return whether a ticket might not fit any more when others, which need `future_needs` in all, are
    decided."""
    rest = spend(cards, future_needs)
    return not fits((*rest[:COLOR_COUNT], max(rest[LOCOMOTIVE], 0)), needs)


def useful_part(cards: Cards, needs: Sequence[int]) -> Cards:
    """Return the cards without those that these needs can never use."""
    colors = [have if have < need else need for have, need in zip(cards, needs, strict=False)]
    return (*colors, min(cards[LOCOMOTIVE], sum(needs)))


def cost(prices: Sequence[int], cards: Sequence[int]) -> int:
    return sum(map(mul, prices, cards))


def summed(rows: Iterable[Sequence[int]]) -> tuple[int, ...]:
    total = (0,) * COLOR_COUNT
    for row in rows:
        total = tuple(map(add, total, row))
    return total


def suffix_sums(rows: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return the sums of all rows, of all but the first, ..., of none."""
    sums = [(0,) * COLOR_COUNT]
    for row in reversed(rows):
        sums.append(tuple(map(add, sums[-1], row)))
    sums.reverse()
    return sums
