"""The steps as cases for authors of clients: whoever connects next is the one under examination.

No process is started, so nothing can be said of how one ends; and a client may come back for the next case
with the session of the last one, which it is told to forget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from stellwerk_kit.doctor.all_steps import STEPS
from stellwerk_kit.doctor.doctor import Finding, take
from stellwerk_kit.doctor.steps import Examination, Step
from stellwerk_protocol.names import GameName


@dataclass(frozen=True, slots=True)
class Case:
    """A step under the name of its finding, and the game that a client has to join for it."""

    name: str
    step: Step
    game: GameName


SERVED: Final = {step.id: step for step in STEPS if step.served and "tcp" in step.transports}


def cases_of(steps: Sequence[Step], games: Sequence[GameName]) -> list[Case]:
    """In their order, once for each game where that makes a difference."""
    return [Case(name, step, game) for step in steps for name, game in step.cases(games)]


def serve(
    examination: Examination, cases: Sequence[Case], begin: Callable[[Case], object]
) -> Iterator[Finding]:
    """One case after the other, and the findings as they are made. `begin` hears of each before it is waited
    for its client. The examination needs a door."""
    for case in cases:
        begin(case)
        yield take(case.step, case.name, examination, case.game)
