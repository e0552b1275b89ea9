"""The steps of the doctor: each is the server's side of a conversation with one bot.

A step returns None if all went well, or a warning about something that is allowed but unwise. It raises
`FailedError` if the bot breaks the protocol. To add one, write its function into the module of its part, and
add it to the table there, after the steps on which it depends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal

from stellwerk_kit.bot_process import Transport
from stellwerk_kit.doctor.callers import (
    AnyClient,
    Caller,
    Door,
    Start,
    StartedOverStdio,
    StartedOverTcp,
    start_of,
)
from stellwerk_kit.doctor.patient import Patience, Patient
from stellwerk_kit.doctor.scripted_match import DECISIONS, ScriptedMatch, at_decision, in_the_last_round
from stellwerk_protocol.names import GameName

SEAT: Final = 0  # the seat of a client that plays against house bots and does not choose


@dataclass(frozen=True, slots=True)
class Examination:
    """The subject and the conditions: bots that `command` starts, or `start`, if it is given; or, with a
    door, clients that connect."""

    command: tuple[str, ...]
    transport: Transport
    patience: Patience
    seed: str
    require_resume: bool = False
    door: Door | None = None
    start: Start | None = None

    def bot(self) -> Patient:
        return Patient(self._caller(), self.patience)

    def match(self, game: GameName) -> ScriptedMatch:
        return self._timed(ScriptedMatch(game, SEAT, self.seed))

    def other_match(self, game: GameName) -> ScriptedMatch:
        return self._timed(ScriptedMatch(game, SEAT, f"{self.seed}/other"))

    def match_at(self, decision: str, game: GameName) -> ScriptedMatch:
        return self._timed(at_decision(decision, game, SEAT, self.seed))

    def ending_match(self, game: GameName) -> ScriptedMatch:
        return self._timed(in_the_last_round(game, SEAT, self.seed))

    def _timed(self, match: ScriptedMatch) -> ScriptedMatch:
        match.clock = self.patience.clock()
        return match

    def _caller(self) -> Caller:
        if self.door is not None:
            return AnyClient(self.door)
        bot_seed = int.from_bytes(sha256(self.seed.encode()).digest()[:6], "big")  # every language reads it
        started = StartedOverTcp if self.transport == "tcp" else StartedOverStdio
        return started(self.start or start_of(self.command), str(bot_seed))


@dataclass(frozen=True, slots=True)
class Step:
    """A step. `law` is the rule that it checks, in the words of the protocol. It is taken once, for the first
    of the requested games; with `each_game` for each of them; with `decision` for each that has that
    decision. `duty` is the word of the requirement that it checks: after a failed SHOULD the doctor
    continues. `after` names a step without which it makes no sense. `served` steps can be played with any
    client that connects; the others need a process that was started for a seat."""

    name: str
    law: str
    examine: Callable[[Examination, GameName], str | None]
    transports: tuple[Transport, ...] = ("tcp", "stdio")
    each_game: bool = False
    decision: str | None = None
    after: str | None = None
    duty: Literal["MUST", "SHOULD"] = "MUST"
    served: bool = True

    @property
    def id(self) -> str:
        """Return its name in a command line."""
        return self.name.replace(" ", "-")

    def cases(self, games: Sequence[GameName]) -> list[tuple[str, GameName]]:
        """Return the names under which the step is taken, with their games."""
        if self.decision is not None:
            chosen = [game for game in games if self.decision in DECISIONS[game]]
        else:
            chosen = list(games) if self.each_game else list(games[:1])
        by_game = self.each_game or self.decision is not None
        return [(f"{self.name}: {game}" if by_game else self.name, game) for game in chosen]


def cases_of(steps: Sequence[Step], games: Sequence[GameName]) -> list[tuple[str, Step, GameName]]:
    """Return each step under the names of its findings, once for each game if that makes a difference."""
    return [(name, step, game) for step in steps for name, game in step.cases(games)]
