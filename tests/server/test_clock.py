"""The server's clock stands still while the server itself is late."""

from __future__ import annotations

import trio
import trio.testing

from stellwerk_server.clock import ROUND_MS, ServerClock


def rounds(*work_ms: float) -> list[float]:
    """How far the clock goes in rounds of work that take so long, one after the other."""
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
