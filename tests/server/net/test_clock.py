"""The server's clock stands still while the server itself is late."""

from __future__ import annotations

from math import inf

import trio
import trio.testing

from stellwerk_server.net.clock import PIECE_MS, ROUND_MS, ROUNDED_UP_MS, ServerClock
from stellwerk_server.net.server import open_server
from tests.server.support import World


def rounds(*work_ms: float) -> list[float]:
    """Return how far the clock goes in rounds of work that take so long, one after the other."""
    mock = trio.testing.MockClock()

    async def main() -> list[float]:
        clock = ServerClock()
        trio.lowlevel.add_instrument(clock)
        went: list[float] = []
        for work in work_ms:
            await trio.testing.wait_all_tasks_blocked()
            before = clock.now()
            mock.jump(work / 1000)
            went.append(round(clock.now() - before, 3))
        return went

    return trio.run(main, clock=mock)


def test_a_stalled_event_loop_costs_no_bot_more_than_a_round() -> None:
    assert rounds(800) == [ROUND_MS]


def test_a_short_round_counts_as_it_is() -> None:
    assert rounds(3) == [3]


def test_after_a_stall_the_clock_goes_on_as_before() -> None:
    assert rounds(2, 800, 4, 6, 1) == [2, ROUND_MS, 4, ROUND_MS, 1]


def waits(*lengths: tuple[float, float]) -> list[float]:
    """Return how far the clock goes in waits, each with its timeout and how long it takes."""
    mock = trio.testing.MockClock()

    async def main() -> list[float]:
        clock = ServerClock()
        went: list[float] = []
        for timeout_ms, took_ms in lengths:
            before = clock.now()
            clock.before_io_wait(timeout_ms / 1000)
            mock.jump(took_ms / 1000)
            clock.after_io_wait(timeout_ms / 1000)
            went.append(round(clock.now() - before, 3))
        return went

    return trio.run(main, clock=mock)


def test_a_wait_that_ends_late_counts_as_long_as_it_was_meant_to_take() -> None:
    assert waits((20, 14_000)) == [20 + ROUNDED_UP_MS]
    assert waits((0, 14_000)) == [ROUNDED_UP_MS]


def test_a_wait_that_ends_in_time_or_early_counts_as_it_is() -> None:
    assert waits((20, 20), (20, 3), (0, 0), (20, 20.5)) == [20, 3, 0, 20.5]


def longest_sleep_ms(*, is_something_due: bool) -> float:
    """Return how long it is until the first deadline of a server's tasks, by a real clock."""

    async def main() -> float:
        async with open_server(World().setup) as server:
            client = server.lobby.connect("127.0.0.1", "tcp", True, server.clock.now())
            await trio.testing.wait_all_tasks_blocked()
            if not is_something_due:
                server.lobby.disconnect(client, "gone", server.clock.now())
                await trio.sleep(2 * PIECE_MS / 1000)
                await trio.testing.wait_all_tasks_blocked()
            return trio.lowlevel.current_statistics().seconds_to_next_deadline * 1000

    return trio.run(main)


def test_no_wait_is_long_while_something_is_due_at_some_time() -> None:
    """An ask, a login: whatever has a deadline must not come closer to it by a pause."""
    assert longest_sleep_ms(is_something_due=True) <= PIECE_MS


def test_an_idle_server_sleeps_until_somebody_comes() -> None:
    assert longest_sleep_ms(is_something_due=False) == inf
