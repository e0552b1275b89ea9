"""One line on the terminal that says how far a game has come."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import Final

from stellwerk.terminal import width
from stellwerk_protocol.canonical import shown

_CLEAR: Final = "\r\x1b[K"


def is_shown() -> bool:
    """On standard error, which does not mix with the result."""
    return sys.stderr is not None and sys.stderr.isatty()


def progress_line(number: int, count: int, turn: int, points: Sequence[tuple[str, int]]) -> str:
    """`game 3 of 10, turn 41: planner 35, greedy 22`; `number` counts from 0."""
    scores = ", ".join(f"{shown(name)} {score}" for name, score in points)
    return f"game {number + 1:,} of {count:,}, turn {turn}: {scores}"


def draw(line: str) -> None:
    """In place of what was drawn before, cut where the terminal ends."""
    _write(_CLEAR + line[: width() - 1])


def clear() -> None:
    _write(_CLEAR)


def _write(text: str) -> None:
    with contextlib.suppress(OSError):
        print(text, end="", file=sys.stderr, flush=True)
