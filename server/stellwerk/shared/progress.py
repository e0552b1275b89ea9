"""One line on the terminal that says how far the games have come."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Final, Self, TypeAlias

from stellwerk.shared.terminal import width
from stellwerk_base.texts import counted, shown

if TYPE_CHECKING:  # games without processes have no sessions
    from stellwerk_server.match.match_session import MatchSession

_CLEAR: Final = "\r\x1b[K"

DRAWN_EVERY: Final = 0.1  # seconds

Show: TypeAlias = "Callable[[MatchSession], object]"


class ProgressLine:
    """A line of progress. Use it in a `with` block, which removes the line at its end. It goes to standard
    error, which does not mix with the result, if that is a terminal."""

    def __init__(self, game_count: int, *, draws: bool = True) -> None:
        self._game_count = game_count
        self._over_count = 0
        self._running: list[int] = []
        self._is_shown = draws and is_shown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_shown:
            clear()

    @contextlib.contextmanager
    def game(self, number: int) -> Generator[Show | None]:
        """Count a game as running. The value shows its progress. It is None if standard error is no
        terminal."""
        self._running.append(number)
        try:
            yield partial(self._draw_match, number) if self._is_shown else None
        finally:
            self._running.remove(number)
            self._over_count += 1

    def _draw_match(self, number: int, match: MatchSession) -> None:
        if len(self._running) > 1:
            played = f"{self._over_count:,} of {counted(self._game_count, 'game')} played"
            draw(f"{played}, {len(self._running)} running")
        else:
            points = [(seat.name, match.state.points[seat.number]) for seat in match.seats]
            draw(progress_line(number, self._game_count, match.state.turn, points))


class WorkLine:
    """A line on the terminal that says what a command does at the moment, where that can take long. Use it in
    a `with` block, which removes the line at its end. On standard error, and only if that is a terminal."""

    def __init__(self) -> None:
        self._is_shown = is_shown()
        self._next = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_shown:
            clear()

    def step(self, line: str) -> None:
        """Show what begins now."""
        if self._is_shown:
            draw(line)
            self._next = monotonic() + DRAWN_EVERY

    def count(self, verb: str, done: int, total: int, things: str) -> None:
        """Show `verified 120 of 10,000 matches`, but not more often than a person can read it."""
        if self._is_shown and monotonic() >= self._next:
            self.step(f"{verb} {done:,} of {total:,} {things}")


def progress_line(number: int, count: int, turn: int, points: Sequence[tuple[str, int]]) -> str:
    """Write `game 3 of 10, turn 41: planner 35, greedy 22`. `number` counts from 0."""
    scores = ", ".join(f"{shown(name)} {score}" for name, score in points)
    return f"game {number + 1:,} of {count:,}, turn {turn}: {scores}"


def is_shown() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def draw(line: str) -> None:
    """Replace what was drawn before, and cut the line where the terminal ends."""
    _write_line(_CLEAR + line[: width() - 1])


def clear() -> None:
    _write_line(_CLEAR)


def _write_line(text: str) -> None:
    with contextlib.suppress(OSError):
        print(text, end="", file=sys.stderr, flush=True)
