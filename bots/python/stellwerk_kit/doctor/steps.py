"""The steps of the doctor: each is the server's side of a conversation with one bot.

The law: a step demands no more than its `law`. Its function returns None if all went well, or a warning about
something that is allowed but unwise, and raises `FailedError` if the bot breaks the protocol. To add a step,
write its function into the module of its part, and add it to the tuple there, after the steps on which it
depends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal

from stellwerk_kit.bot_process import Transport
from stellwerk_kit.doctor.callers import (
    AnyClient,
    Door,
    Start,
    StartedOverStdio,
    StartedOverTcp,
    start_of,
)
from stellwerk_kit.doctor.conversation import take_seat
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
        if self.door is not None:
            return Patient(AnyClient(self.door), self.patience, must_resume=self.require_resume)
        bot_seed = int.from_bytes(sha256(self.seed.encode()).digest()[:6], "big")  # every language reads it
        started = StartedOverTcp if self.transport == "tcp" else StartedOverStdio
        caller = started(self.start or start_of(self.command), str(bot_seed))
        return Patient(caller, self.patience, must_resume=self.require_resume)


@dataclass(frozen=True, slots=True)
class Step:
    """A step. `law` is the rule that it checks, in the words of the protocol. It is taken once, for the first
    of the requested games; with `each_game` for each of them; with `decision` for each that has that
    decision. `play` begins when the bot has taken its `seat`, or before it has connected. The match is new,
    in its last round with `ending`, or at the `decision`. `duty` is the word of the requirement that it
    checks: after a failed SHOULD the doctor continues. `after` names a step without which it makes no sense.
    `served` steps can be played with any client that connects; the others need a process that was started
    for a seat."""

    name: str
    law: str
    play: Callable[[Patient, ScriptedMatch], str | None]
    seat: bool = True
    ending: bool = False
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

    def examine(self, examination: Examination, game: GameName) -> str | None:
        """Take the step with a bot in a match of this game."""
        if self.decision is not None:
            match = at_decision(self.decision, game, SEAT, examination.seed)
        else:
            match = (in_the_last_round if self.ending else ScriptedMatch)(game, SEAT, examination.seed)
        match.clock = examination.patience.clock()
        with examination.bot() as bot:
            if self.seat:
                take_seat(bot, match)
            return self.play(bot, match)

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
