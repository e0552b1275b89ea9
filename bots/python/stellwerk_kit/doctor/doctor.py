"""The doctor: it takes the steps one after the other, and stops at the first failed one that is a MUST."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal

from msgspec import Struct

from stellwerk_kit.doctor.all_steps import STEPS
from stellwerk_kit.doctor.steps import Examination, Step
from stellwerk_kit.failed import DoesNotApplyError, FailedError, RemarkError
from stellwerk_kit.requirements import Requirement, Side, requirements_of
from stellwerk_protocol.names import GameName


class Failure(Struct, frozen=True):
    """A failure. All text from the bot is free of control characters. `printed` are the last lines of its
    standard error, and over TCP also of its standard output. `requirements` are those that the case tests."""

    expected: str
    came: str
    printed: tuple[str, ...]
    requirements: tuple[Requirement, ...] = ()


Verdict = Literal["ok", "warn", "FAIL", "skip"]


class Finding(Struct, frozen=True, omit_defaults=True):
    """The result of a step; `warning`, `failure` and `skipped` have the details."""

    step: str
    law: str
    verdict: Verdict
    seconds: float
    warning: str | None = None
    failure: Failure | None = None
    skipped: str | None = None


def examine(
    examination: Examination, games: Sequence[GameName], steps: Sequence[Step] = STEPS
) -> Iterator[Finding]:
    """Yield the findings one by one. Raise CannotStartError if the bot's process cannot be started."""
    findings: dict[str, Finding] = {}
    for step in steps:
        if examination.transport not in step.transports:
            continue
        relied_on = findings.get(step.after) if step.after is not None else None
        if relied_on is not None and relied_on.verdict != "ok":
            yield Finding(step.name, step.law, "skip", 0.0, skipped=f"for lack of the step {step.after}")
            continue
        for name, game in step.cases(games):
            finding = judge(name, step.law, partial(step.examine, examination, game), f"doctor: {step.id}")
            findings[step.name] = finding
            yield finding
            if finding.failure is not None and step.duty == "MUST":
                return


def examine_clients(
    examination: Examination,
    cases: Sequence[tuple[str, Step, GameName]],
    begin: Callable[[str, GameName], object],
) -> Iterator[Finding]:
    """Take each case with the next client that comes through the door of the examination.

    `begin` is called for each before its client is waited for. A client that comes back with the session of
    an earlier case is refused, so that it logs in without `resume`.
    """
    for name, step, game in cases:
        begin(name, game)
        yield judge(name, step.law, partial(step.examine, examination, game), f"doctor: {step.id}")


def judge(name: str, law: str, examine: Callable[[], str | None], case: str, side: Side = "C") -> Finding:
    """Return what `examine` finds, under this name. It returns a warning, or None if all went well. `case` is
    its name on the page of requirements, for this side."""
    started = time.monotonic()

    def finding(verdict: Verdict, **more: Any) -> Finding:
        return Finding(name, law, verdict, round(time.monotonic() - started, 3), **more)

    try:
        warning = examine()
    except FailedError as error:
        failure = Failure(error.expected, error.came, error.printed, requirements_of(case, side))
        return finding("FAIL", failure=failure)
    except RemarkError as remark:
        return finding("warn", warning=str(remark))
    except DoesNotApplyError as reason:
        return finding("skip", skipped=str(reason))
    return finding("ok") if warning is None else finding("warn", warning=warning)
