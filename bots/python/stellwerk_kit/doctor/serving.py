"""The steps as cases for authors of clients: the next client that connects is under examination.

No process is started, so nothing is known about how one ends. A client may come back for the next case with
the session of the last one; it is refused, so that it logs in without `resume`.
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
    """A step under the name of its finding, and the game that a client must join for it."""

    name: str
    step: Step
    game: GameName


SERVED: Final = {step.id: step for step in STEPS if step.served and "tcp" in step.transports}


def cases_of(steps: Sequence[Step], games: Sequence[GameName]) -> list[Case]:
    """Return the cases in order, once for each game if that makes a difference."""
    return [Case(name, step, game) for step in steps for name, game in step.cases(games)]


def serve(
    examination: Examination, cases: Sequence[Case], begin: Callable[[Case], object]
) -> Iterator[Finding]:
    """Play one case after the other, and yield the findings one by one. `begin` is called for each before its
    client is waited for. The examination needs a door."""
    for case in cases:
        begin(case)
        yield take(case.step, case.name, examination, case.game)
