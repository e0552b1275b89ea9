"""A timer runs when its deadline has come, never before, and once."""

from __future__ import annotations

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from stellwerk_server.match.deadlines import Deadlines, Timer


class Clock:
    """Timers, and when each of them ran."""

    def __init__(self, count: int) -> None:
        self.now = 0.0
        self.heap = Deadlines()
        self.ran: list[tuple[float, int]] = []
        self.timers = [self._timer(number) for number in range(count)]

    def _timer(self, number: int) -> Timer:
        return Timer(self.heap, lambda now: self.ran.append((now, number)))

    def go_to(self, now: float) -> None:
        """Fire timers as a server does that wakes up whenever the next one is due."""
        while self.heap.next <= now:
            self.now = max(self.now, self.heap.next)
            for timer in self.heap.take_due(self.now):
                timer.fire(self.now)
        self.now = now


steps = st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 12), st.integers(0, 4)), max_size=40)


@given(steps)
def test_timers_run_at_their_deadlines_whatever_was_set_before(steps: list[tuple[int, int, int]]) -> None:
    """Compared with a table of deadlines that is looked through at every moment."""
    clock = Clock(4)
    deadlines = [inf] * 4
    expected: list[tuple[float, int]] = []
    for number, delay, pause in steps:
        if delay < 0:
            clock.timers[number].clear()
            deadlines[number] = inf
            clock.heap.drop_cleared()
        else:
            clock.timers[number].set(clock.now + delay)
            deadlines[number] = clock.now + delay
        end = clock.now + pause
        due = sorted((deadline, other) for other, deadline in enumerate(deadlines) if deadline <= end)
        expected += due
        for _, other in due:
            deadlines[other] = inf
        clock.go_to(end)
    assert sorted(clock.ran) == sorted(expected)
    assert [time for time, _ in clock.ran] == sorted(time for time, _ in clock.ran)


@given(steps)
def test_next_is_never_once_all_that_was_due_is_cleared(steps: list[tuple[int, int, int]]) -> None:
    clock = Clock(4)
    for number, delay, _ in steps:
        clock.timers[number].clear() if delay < 0 else clock.timers[number].set(delay)
        clock.heap.drop_cleared()
        assert (clock.heap.next == inf) == all(timer.deadline == inf for timer in clock.timers)


@given(steps)
def test_nothing_is_due_before_next(steps: list[tuple[int, int, int]]) -> None:
    clock = Clock(4)
    for number, delay, _ in steps:
        if delay >= 0:
            clock.timers[number].set(clock.now + delay)
        assert clock.heap.next <= min(timer.deadline for timer in clock.timers)


def test_one_that_is_put_off_while_others_run_waits() -> None:
    clock = Clock(2)
    first, second = clock.timers

    def put_off(now: float) -> None:
        second.set(now + 5)

    first.run = put_off
    first.set(1)
    second.set(1)
    clock.go_to(5)
    assert clock.ran == []
    clock.go_to(6)
    assert clock.ran == [(6, 1)]


def test_one_that_sets_itself_again_at_once_does_not_hold_up_the_others() -> None:
    """It has its turn when all that was due before had theirs."""
    clock = Clock(2)
    first, second = clock.timers
    first.run = first.set
    first.set(1)
    second.set(1)
    for timer in clock.heap.take_due(1):
        timer.fire(1)
    assert clock.ran == [(1, 1)]
    assert clock.heap.take_due(1) == [first]


def test_whoever_sleeps_hears_of_what_is_due_earlier_than_all_else() -> None:
    clock = Clock(3)
    heard: list[float] = []
    clock.heap.on_earlier = lambda: heard.append(clock.heap.next)
    for timer, deadline in zip(clock.timers, (10, 20, 5), strict=True):
        timer.set(deadline)
    clock.timers[1].set(30)
    assert heard == [10, 5]


def test_deadlines_that_move_later_do_not_fill_the_heap() -> None:
    clock = Clock(1)
    for deadline in range(1, 1_000):
        clock.timers[0].set(deadline)
    entries = clock.heap._entries  # pyright: ignore[reportPrivateUsage]  # the law is about what is kept
    assert len(entries) == 1
