"""The longest continuous path of a network, exactly.

The law: a path may pass a city as often as it likes and each route once. So it is a trail: a connected
set of routes in which no city, or exactly two, have an odd number of routes. Wanted is the greatest
total length. The problem is NP-hard in general and players choose their networks, so whatever is slow
here can be provoked. Three steps keep it fast:

1. *Trees.* Leaves are taken off until none is left, and each city keeps the depths of its two deepest
   branches: a trail that goes into a tree ends there, and it has but two ends. Most networks are gone
   after this step.
2. *Chains.* What is left are junctions (three routes or more) and chains of cities between them. A
   trail can use a chain in five ways (`Chain`), so a chain counts as one edge, however long it is. A
   ring without a junction makes one of its cities its junction.
3. *Sweep.* One junction after the other is finished: all its chains are decided. The decisions so far
   matter for the rest only by the open junctions (those with decided and undecided chains): which of
   them are on the path, which hang together, which are odd, and how many of the two ends are spent.
   Of all decisions that agree in this, a *state*, only the best is kept.

Without the question of what hangs together a state is a handful of bits, and the most that can still
be gained from it is a small table, filled from the last step backward. That gain is an upper bound of
the real one: a state that cannot reach the target by it is dropped. The first target is the bound of
the empty path; while no trail reaches the target, it falls, each time by twice as much.

The cost: if at most w junctions are open at once, a step has at most 3 * 2^w entries in the table, and at
most as many states for each way in which w junctions can hang together. The bound is so sharp that the
table is most of it. Planar networks of 54 routes open up to 7 junctions (the most that a search found);
the worst of them need some ten thousand entries and states, networks out of games to a few dozen.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

City = int
Edge = tuple[City, City, int]

Code = int
"""Bits 0 to 2: the ends that are spent (three bits, since 3 and 4 occur in passing and fail). Then a bit
for each slot: whether its junction has an odd number of routes on the path."""

Partition = tuple[int, ...]
"""For each slot 0 if its junction is not on the path, else 1 + the lowest slot hanging together with it."""

Gains = dict[Code, int]

NEVER = -(1 << 60)  # below every sum of lengths, also after some lengths have been added to it
ENDS_MASK = 7
FIRST_SLOT_BIT = 8
START_COUNT = 6  # starts that `finishing_order` tries; more cost more than they save


class Search(NamedTuple):
    length: int
    effort: int
    """Table entries and states, the same number on every machine."""


class Chain(NamedTuple):
    """A chain from junction `start` to junction `end` (maybe the same), and the gain of each use of it.

    Where an end of the trail is inside the chain, the branches there are part of the gain. A use that
    the chain does not offer has a negative gain."""

    start: City
    end: City
    through: int
    from_start: int  # entered from the start, with an end of the trail inside
    from_end: int
    parted: int  # entered from both sides, with an end of the trail each and a gap in between
    ring: int  # all of it, with both ends of the trail at one inner city: the rest leads back to it


class Use(NamedTuple):
    """One way to decide a step."""

    flip: Code  # the junctions that change between odd and even
    ends: int
    gain: int
    touched: tuple[int, ...]  # slots whose junctions are on the path from now on
    joined: bool  # whether the touched ones hang together from now on


class Step(NamedTuple):
    """A chain to decide, or (with the slot of `finished`) the branches of a junction without other chains."""

    uses: tuple[Use, ...]
    opened: Code  # the bits of the junctions that had no decided chain before
    finished: int | None


class Branches(NamedTuple):
    """The depths of the deepest and second deepest tree that hang on each city of the core."""

    first: dict[City, int]
    second: dict[City, int]


def longest_path(edges: Sequence[Edge]) -> int:
    """Return the greatest length of a continuous path that uses each (city, city, length) at most once.

    Exact always; 0 without edges. Edges may be parallel, the network may be in pieces."""
    return search(edges).length


def search(edges: Sequence[Edge]) -> Search:
    """Return the longest path, and the effort that it took to find its length."""
    degree: dict[City, int] = {}
    crossing: dict[City, int] = {}  # exclusive or of the positions of a city's edges: the last one in the end
    for position, (a, b, _) in enumerate(edges):
        degree[a] = degree.get(a, 0) + 1
        degree[b] = degree.get(b, 0) + 1
        crossing[a] = crossing.get(a, 0) ^ position
        crossing[b] = crossing.get(b, 0) ^ position
    branches = Branches(dict.fromkeys(degree, 0), dict.fromkeys(degree, 0))
    longest = strip_trees(edges, degree, crossing, branches)
    core = [position for position, (a, b, _) in enumerate(edges) if degree[a] and degree[b]]
    if not core:
        return Search(longest, 0)

    chains, inside = find_chains(edges, core, degree, crossing, branches)
    longest = max(longest, inside)
    effort = 0
    for part in connected_parts(chains):
        longest, part_effort = sweep_part(part, branches, longest)
        effort += part_effort
    return Search(longest, effort)


def strip_trees(
    edges: Sequence[Edge], degree: dict[City, int], crossing: dict[City, int], branches: Branches
) -> int:
    """Take off leaf after leaf, and return the longest path met on the way."""
    first, second = branches
    longest = 0
    leaves = [city for city, count in degree.items() if count == 1]
    for leaf in leaves:
        if not degree[leaf]:
            continue  # the last city of a tree
        edge = crossing[leaf]
        a, b, length = edges[edge]
        inward = a if b == leaf else b
        reach = first[leaf] + length
        deepest = first[inward]
        if reach + deepest > longest:
            longest = reach + deepest
        if reach > deepest:
            first[inward], second[inward] = reach, deepest
        elif reach > second[inward]:
            second[inward] = reach
        degree[leaf] = 0
        degree[inward] -= 1
        crossing[inward] ^= edge
        if degree[inward] == 1:
            leaves.append(inward)
    return longest


def find_chains(
    edges: Sequence[Edge],
    core: Sequence[int],
    degree: dict[City, int],
    crossing: dict[City, int],
    branches: Branches,
) -> tuple[list[Chain], int]:
    """Return the chains of the core, and the longest path that stays inside one of them."""
    unseen = dict.fromkeys(core)
    chains: list[Chain] = []
    longest_inside = 0

    def follow(start: City, edge: int) -> None:
        nonlocal longest_inside
        city, run = start, 0
        # The best of run + branch and of branch - run, over the inner cities passed so far.
        forth = back = NEVER
        parted = ring = NEVER
        while True:
            del unseen[edge]
            a, b, length = edges[edge]
            city = a if b == city else b
            run += length
            if degree[city] != 2 or city == start:
                break
            branch = branches.first[city]
            longest_inside = max(longest_inside, back + run + branch)
            parted = max(parted, forth - run + branch)
            ring = max(ring, branch + branches.second[city])
            forth = max(forth, run + branch)
            back = max(back, branch - run)
            edge ^= crossing[city]
        chains.append(Chain(start, city, run, forth, run + back, run + parted, run + ring))

    for edge in core:
        if edge in unseen:
            a, b, _ = edges[edge]
            if degree[a] > 2:
                follow(a, edge)
            elif degree[b] > 2:
                follow(b, edge)
    while unseen:  # rings without a junction
        edge = next(iter(unseen))
        follow(edges[edge][0], edge)
    return chains, longest_inside


def connected_parts(chains: Sequence[Chain]) -> list[list[Chain]]:
    parts: list[tuple[set[City], list[Chain]]] = []
    for chain in chains:
        cities, members = {chain.start, chain.end}, [chain]
        apart: list[tuple[set[City], list[Chain]]] = []
        for part in parts:
            if cities.isdisjoint(part[0]):
                apart.append(part)
            else:
                cities |= part[0]
                members += part[1]
        parts = [*apart, (cities, members)]
    return [members for _, members in parts]


def sweep_part(chains: Sequence[Chain], branches: Branches, longest: int) -> Search:
    """Return the longest path through one connected part of the core, if it beats `longest`."""
    steps, width = plan(chains, branches)
    bounds = bounds_of(steps)
    effort = sum(map(len, bounds))
    bound = bounds[0][0]
    gap = 0
    while bound > longest:
        target = max(bound - gap, longest + 1)
        best, states = sweep(steps, width, bounds, target)
        effort += states
        if best >= target:
            return Search(best, effort)
        bound = target - 1
        gap = 2 * gap + 1
    return Search(longest, effort)


def plan(chains: Sequence[Chain], branches: Branches) -> tuple[list[Step], int]:
    """Return the steps in their order, and the number of slots that they need."""
    slots: dict[City, int] = {}
    width = 0
    steps: list[Step] = []
    undecided = list(chains)
    for junction in finishing_order(chains):
        for chain in [chain for chain in undecided if junction in chain[:2]]:
            undecided.remove(chain)
            opened = 0
            for city in chain[:2]:
                if city not in slots:
                    slot = min(set(range(width + 1)).difference(slots.values()))
                    slots[city] = slot
                    width = max(width, slot + 1)
                    opened |= FIRST_SLOT_BIT << slot
            steps.append(Step(tuple(uses_of(chain, slots[chain.start], slots[chain.end])), opened, None))
        first, second = branches.first[junction], branches.second[junction]
        slot = slots.pop(junction)
        bit = FIRST_SLOT_BIT << slot
        uses = Use(0, 0, 0, (), False), Use(bit, 1, first, (), False), Use(0, 2, first + second, (), False)
        steps.append(Step(uses, 0, slot))
    return steps, width


def uses_of(chain: Chain, start: int, end: int) -> Iterator[Use]:
    start_bit, end_bit = FIRST_SLOT_BIT << start, FIRST_SLOT_BIT << end
    both = start_bit ^ end_bit
    yield Use(0, 0, 0, (), False)
    yield Use(both, 0, chain.through, (start, end), True)
    if chain.ring > 0:
        yield Use(both, 2, chain.ring, (start, end), True)
        yield Use(start_bit, 1, chain.from_start, (start,), False)
        yield Use(end_bit, 1, chain.from_end, (end,), False)
    if chain.parted > 0:
        yield Use(both, 2, chain.parted, (start, end), False)


def finishing_order(chains: Sequence[Chain]) -> list[City]:
    """Order the junctions so that few are open at once: next is always one that opens fewest."""
    junctions = sorted({city for chain in chains for city in chain[:2]})
    place = {city: index for index, city in enumerate(junctions)}
    near_masks = [1 << index for index in range(len(junctions))]  # each junction and its neighbors
    for chain in chains:
        near_masks[place[chain.start]] |= 1 << place[chain.end]
        near_masks[place[chain.end]] |= 1 << place[chain.start]

    def order_from(start: int) -> tuple[int, list[int]]:
        left: set[int] = set(range(len(junctions)))
        order: list[int] = []
        opened_mask = open_count = cost = 0

        def preference(junction: int) -> tuple[int, bool, int]:
            new_mask = near_masks[junction] & ~opened_mask
            return new_mask.bit_count(), not opened_mask >> junction & 1, junction

        junction = start
        while True:
            left.remove(junction)
            order.append(junction)
            open_count += (near_masks[junction] & ~opened_mask).bit_count()
            cost += 4**open_count
            opened_mask |= near_masks[junction]
            open_count -= 1
            if not left:
                return cost, order
            junction = min(left, key=preference)

    starts = sorted(range(len(junctions)), key=lambda index: (near_masks[index].bit_count(), index))
    _, best = min(map(order_from, starts[:START_COUNT]))
    return [junctions[index] for index in best]


def bounds_of(steps: Sequence[Step]) -> list[Gains]:
    """Return, for each step and after the last, the most that each code can still gain if parts need not be
    connected.

    A code that is missing can no longer become that of a trail."""
    after: Gains = {0: 0, 2: 0}
    bounds = [after]
    for step in reversed(steps):
        before: Gains = {}
        for use in step.uses:
            for code, gain in after.items():
                source = (code - use.ends) ^ use.flip
                if code & ENDS_MASK >= use.ends and not source & step.opened:
                    total = gain + use.gain
                    if total > before.get(source, NEVER):
                        before[source] = total
        bounds.append(before)
        after = before
    bounds.reverse()
    return bounds


def sweep(steps: Sequence[Step], width: int, bounds: Sequence[Gains], target: int) -> Search:
    """Return the longest trail if it has at least the length `target`, else anything shorter."""
    longest = effort = 0
    layer: dict[Partition, Gains] = {(0,) * width: {0: 0}}
    for step, after in zip(steps, bounds[1:], strict=True):
        next_layer: dict[Partition, Gains] = {}
        for partition, values in layer.items():
            for use in step.uses:
                reached = [
                    (new_code, value + use.gain)
                    for code, value in values.items()
                    if value + use.gain + after.get(new_code := (code ^ use.flip) + use.ends, NEVER) >= target
                ]
                if not reached:
                    continue
                if step.finished is None:
                    new_partition = extended(partition, use) if use.touched else partition
                elif partition[step.finished]:
                    rest = without(partition, step.finished)
                    if rest is None:
                        continue
                    if not any(rest):
                        longest = max(longest, max(value for _, value in reached))
                        continue
                    new_partition = rest
                elif use.ends:
                    continue  # a path in the branches of one city: found while they were stripped
                else:
                    new_partition = partition
                best = next_layer.setdefault(new_partition, {})
                for code, value in reached:
                    if value > best.get(code, NEVER):
                        best[code] = value
        layer = next_layer
        effort += sum(map(len, layer.values()))
    return Search(longest, effort)


def extended(partition: Partition, use: Use) -> Partition:
    """Return the partition with the touched junctions on the path."""
    labels = list(partition)
    for slot in use.touched:
        labels[slot] = labels[slot] or slot + 1
    if use.joined:
        joined = {labels[slot] for slot in use.touched}
        lowest = min(joined)
        labels = [lowest if label in joined else label for label in labels]
    return tuple(labels)


def without(partition: Partition, slot: int) -> Partition | None:
    """Return the partition when the junction of this slot is finished; None if that tears the path apart."""
    label = partition[slot]
    labels = list(partition)
    labels[slot] = 0
    if label in labels:
        if label == slot + 1:
            label_left = labels.index(label) + 1
            labels = [label_left if other == label else other for other in labels]
    elif any(labels):
        return None
    return tuple(labels)
