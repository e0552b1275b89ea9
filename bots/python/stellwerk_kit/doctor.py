"""The doctor: takes the steps one after the other, and stops at the first that fails."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from stellwerk_kit.patient import FailedError
from stellwerk_kit.steps import STEPS, Examination, Step
from stellwerk_protocol.names import GameName


class Failure(Struct, frozen=True):
    """Everything that came from the bot is free of control characters. `printed` are the last lines of its
    standard error, and over TCP of its standard output too."""

    expected: str
    came: str
    printed: tuple[str, ...]


class Finding(Struct, frozen=True, omit_defaults=True):
    """What came of a step; `warning` and `failure` say more."""

    step: str
    law: str
    verdict: Literal["ok", "warn", "FAIL"]
    seconds: float
    warning: str | None = None
    failure: Failure | None = None


def examine(
    examination: Examination, games: Sequence[GameName], steps: Sequence[Step] = STEPS
) -> Iterator[Finding]:
    """The findings as they are made. CannotStartError if the bot's process cannot be started."""
    for step in steps:
        if examination.transport not in step.transports:
            continue
        for game in games if step.each_game else games[:1]:
            finding = _take(step, f"{step.name}: {game}" if step.each_game else step.name, examination, game)
            yield finding
            if finding.failure is not None:
                return


def _take(step: Step, name: str, examination: Examination, game: GameName) -> Finding:
    started = time.monotonic()
    try:
        warning = step.examine(examination, game)
    except FailedError as error:
        failure = Failure(error.expected, error.came, error.printed)
        return Finding(name, step.law, "FAIL", _since(started), failure=failure)
    verdict: Literal["ok", "warn"] = "ok" if warning is None else "warn"
    return Finding(name, step.law, verdict, _since(started), warning)


def _since(started: float) -> float:
    return round(time.monotonic() - started, 3)
