"""`stellwerk kit replay`: feeds a recorded match to a bot, and shows where it would have moved differently.

Exit codes: 0 the bot has answered every ask with a legal move, 1 it has not, or the replay is not good, 2
there is no such seat, decision or command, 4 the machine failed, or a bot in another seat did.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from stellwerk.kit.arguments import add_timeout, cannot_start, ended_in_order
from stellwerk.shared.errors import DONE, FAILED, infrastructure_error, usage_error
from stellwerk.shared.parser import argument, whole_number
from stellwerk.shared.terminal import complain, flush_stdout, say, say_record
from stellwerk_base.texts import quoted, shown
from stellwerk_engine.core.state import Seat
from stellwerk_engine.replays.reader import lines_of
from stellwerk_kit.bot_process import CannotStartError, Transport
from stellwerk_kit.doctor.callers import StartedOverStdio, StartedOverTcp, start_of
from stellwerk_kit.doctor.doctor import Failure
from stellwerk_kit.doctor.patient import Patience, Patient, patience
from stellwerk_kit.failed import FailedError
from stellwerk_kit.replay import (
    Compared,
    OthersFailedError,
    Recording,
    RecordingError,
    play_on,
    read_recording,
    tell_replay,
)
from stellwerk_processes.bot_spec import BUILT_IN, BotSpec, BotSpecError, parse_bot_spec
from stellwerk_protocol.canonical import encode
from stellwerk_protocol.results import Result

DESCRIPTION: Final = """\
Feed a recorded match to a bot, in one of its seats: the bot gets every event and every
ask that the seat got. The match goes on with what the seat did then; where the bot would
have done something else, that is reported. Only an illegal answer is a failure.

With --from K the bot plays for itself from its decision number K on, against other bots:
cards and tickets come as they would have come.
"""

EXAMPLES: Final = """\
examples:
  stellwerk kit replay game.jsonl --seat 1 -- ./my_bot
  stellwerk kit replay game.jsonl --seat 0 --json -- node bot.js greedy
  stellwerk kit replay game.jsonl --seat 0 --from 30 --opponent planner -- ./my_bot
"""


class ReplayReport(Struct, frozen=True, omit_defaults=True):
    """The output of `--json`. It has `failure` if the bot broke the protocol, and `result` if it played to
    the end."""

    command: tuple[str, ...]
    file: str
    game: str
    seat: Seat
    passed: bool
    as_recorded: int
    otherwise: int
    decisions: tuple[Compared, ...]
    failure: Failure | UnsetType = UNSET
    result: Result | UnsetType = UNSET


@dataclass(slots=True)
class Course:
    """The decisions so far, and how it ended."""

    decisions: list[Compared]
    result: Result | UnsetType = UNSET
    failure: Failure | UnsetType = UNSET

    @property
    def otherwise(self) -> int:
        return sum(compared.differs for compared in self.decisions)

    @property
    def as_recorded(self) -> int:
        return sum(compared.made is UNSET for compared in self.decisions)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES
    add = partial(argument, parser)
    add("FILE", "a replay")
    add("WORD ...", "the command that starts the bot, behind --", dest="bot")
    add("--seat N", "whose place it takes: 0, 1, ...", whole_number(0, 99), required=True)
    add(
        "--from K",
        "it plays for itself from its decision number K on (1, 2, ...)",
        whole_number(1, 1_000_000),
        dest="since",
    )
    add(
        "--opponent SPEC ...",
        "with --from: who plays the other seats from then on, one for all or one for each in order; "
        f"{', '.join(BUILT_IN)}, or as for 'stellwerk play --bot' (default: bots called so in the replay)",
    )
    add("--transport", "how the bot is reached", choices=("tcp", "stdio"), default="tcp")
    add_timeout(parser)
    add("--json", "everything as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Carry out what `add_arguments` has parsed, and return the exit code."""
    if arguments.opponent and arguments.since is None:
        raise usage_error("--opponent: only with --from")
    try:
        with open(arguments.file, "rb") as stream:
            recording = read_recording(lines_of(stream))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        complain(f"{arguments.file}: cannot be read: {reason or error}")
        return FAILED
    except RecordingError as error:
        complain(f"{arguments.file}:{error.line}: {error}")
        return FAILED
    _expect_seat(recording, arguments.seat, arguments.since)
    with ended_in_order():
        course = _take_course(arguments, recording)
    _print_end(arguments, recording, course)
    return DONE if course.failure is UNSET else FAILED


def _expect_seat(recording: Recording, seat: Seat, since: int | None) -> None:
    count = recording.game.seat_count
    if seat >= count:
        raise usage_error(f"--seat: there is no seat {seat}; the replay has the seats 0 to {count - 1}")
    if since is not None and since > recording.decisions(seat):
        raise usage_error(f"--from: seat {seat} has only {recording.decisions(seat)} decisions in the replay")


def _take_course(arguments: argparse.Namespace, recording: Recording) -> Course:
    course = Course([])
    try:
        for step in _play_steps(arguments, recording):
            if isinstance(step, Result):
                course.result = step
            else:
                course.decisions.append(step)
                if not arguments.json:
                    _print_step(step)
    except FailedError as error:
        course.failure = Failure(error.expected, error.came, error.printed)
    except OthersFailedError as error:
        raise infrastructure_error(str(error)) from None
    except CannotStartError as error:
        raise cannot_start(error) from None
    except OSError as error:  # no more file descriptors, no more ports
        raise infrastructure_error(f"it cannot go on: {error.strerror or error}") from None
    return course


def _play_steps(arguments: argparse.Namespace, recording: Recording) -> Iterator[Compared | Result]:
    waits = patience(arguments.timeout)
    seat: Seat = arguments.seat
    if arguments.since is None:
        with _start_bot(tuple(arguments.bot), arguments.transport, waits, seat) as bot:
            yield from tell_replay(recording, seat, bot)
        return
    specs = _choose_opponents(arguments.opponent, recording, seat)
    with ExitStack() as stack:
        others = {
            other: stack.enter_context(_start_bot(spec.command, spec.transport, waits, other))
            for other, spec in specs.items()
        }
        bot = stack.enter_context(_start_bot(tuple(arguments.bot), arguments.transport, waits, seat))
        yield from play_on(recording, seat, bot, arguments.since, others)


def _start_bot(command: tuple[str, ...], transport: Transport, waits: Patience, seat: Seat) -> Patient:
    started = StartedOverTcp if transport == "tcp" else StartedOverStdio
    return Patient(started(start_of(command), f"replay/{seat}"), waits, may_be_late=True)


def _choose_opponents(texts: Sequence[str], recording: Recording, seat: Seat) -> dict[Seat, BotSpec]:
    """Choose who plays each of the other seats."""
    seats = [other for other in range(recording.game.seat_count) if other != seat]
    if not texts:
        texts = [_find_namesake(recording, other) for other in seats]
    elif len(texts) == 1:
        texts = list(texts) * len(seats)
    elif len(texts) != len(seats):
        raise usage_error(
            f"--opponent: expected one, or one for each of {len(seats)} seats; not {len(texts)}"
        )
    return {other: _read_opponent(text) for other, text in zip(seats, texts, strict=True)}


def _find_namesake(recording: Recording, seat: Seat) -> str:
    """Return `greedy` for `greedy-2`."""
    name = recording.names[seat]
    for built_in in BUILT_IN:
        if name == built_in or name.startswith(f"{built_in}-"):
            return built_in
    raise usage_error(f"--opponent: who plays seat {seat} ({name}) from then on?")


def _read_opponent(text: str) -> BotSpec:
    try:
        spec = parse_bot_spec(text)
    except BotSpecError as error:
        raise usage_error(f"--opponent: {error}") from None
    if spec.directory is not None or spec.environment:
        raise usage_error(f"--opponent: {quoted(text)}: dir and env are not for opponents in a replay")
    return spec


# -- output ------------------------------------------------------------------------------------------


def _print_step(step: Compared) -> None:
    place = f"{step.ask:4}  {step.decision:16}"
    by = " (by the fallback)" if step.by_fallback else ""
    if step.recorded is UNSET:
        say(f"{place}  plays     {_shown_move(step.made)}")
    elif step.differs:
        say(f"{place}  recorded  {_shown_move(step.recorded)}{by}")
        say(f"{'':22}  instead   {_shown_move(step.made)}")
    else:
        say(f"{place}  same      {_shown_move(step.recorded)}{by}")
    flush_stdout()


def _shown_move(move: Struct | UnsetType) -> str:
    assert move is not UNSET
    return shown(encode(move).decode(), 200)


def _print_end(arguments: argparse.Namespace, recording: Recording, course: Course) -> None:
    if arguments.json:
        report = ReplayReport(
            command=tuple(shown(word, len(word)) for word in arguments.bot),
            file=shown(arguments.file, len(arguments.file)),
            game=recording.game.id,
            seat=arguments.seat,
            passed=course.failure is UNSET,
            as_recorded=course.as_recorded,
            otherwise=course.otherwise,
            decisions=tuple(course.decisions),
            failure=course.failure,
            result=course.result,
        )
        say_record(report)
        return
    if course.failure is not UNSET:
        say("FAIL")
        say(f"      expected  {course.failure.expected}")
        say(f"      came      {course.failure.came}")
        for line in course.failure.printed:
            say(f"        {line}")
    own = len(course.decisions) - course.as_recorded - course.otherwise
    played = f", {own} on its own" if own else ""
    say(f"{course.as_recorded} as recorded, {course.otherwise} otherwise{played}")
    if course.result is not UNSET:
        teams = sorted(course.result.teams, key=lambda team: team.rank)
        places = [f"{team.rank}. seat {' and '.join(map(str, team.seats))}: {team.points}" for team in teams]
        say(f"result: {', '.join(places)}")
