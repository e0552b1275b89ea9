"""`stellwerk kit replay`: feeds a recorded match to a bot, and shows where it would have moved differently.

Exit codes: 0 the bot has answered every ask with a legal move, 1 it has not, or the replay is not good, 2
there is no such seat, decision or command, 4 the machine failed, or a bot in another seat did.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from stellwerk.kit.arguments import add_timeout, ended_in_order
from stellwerk.shared.errors import DONE, FAILED, infrastructure_error, refusing, usage_error
from stellwerk.shared.parser import argument, whole_number
from stellwerk.shared.terminal import complain, flush_stdout, say, say_record
from stellwerk_base.texts import quoted, shown
from stellwerk_engine.core.state import Seat
from stellwerk_engine.replays.reader import lines_of
from stellwerk_kit.bot_process import Transport
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
    with ended_in_order("it"):
        report = _play_replay(arguments, recording)
    if arguments.json:
        say_record(report)
    else:
        _print_end(report)
    return DONE if report.passed else FAILED


def _expect_seat(recording: Recording, seat: Seat, since: int | None) -> None:
    count = recording.game.seat_count
    if seat >= count:
        raise usage_error(f"--seat: there is no seat {seat}; the replay has the seats 0 to {count - 1}")
    if since is not None and since > recording.decisions(seat):
        raise usage_error(f"--from: seat {seat} has only {recording.decisions(seat)} decisions in the replay")


def _play_replay(arguments: argparse.Namespace, recording: Recording) -> ReplayReport:
    decisions: list[Compared] = []
    result: Result | UnsetType = UNSET
    failure: Failure | UnsetType = UNSET
    try:
        for step in _play_steps(arguments, recording):
            if isinstance(step, Result):
                result = step
            else:
                decisions.append(step)
                if not arguments.json:
                    _print_step(step)
    except FailedError as error:
        failure = Failure(error.expected, error.came, error.printed)
    except OthersFailedError as error:
        raise infrastructure_error(str(error)) from None
    return ReplayReport(
        command=tuple(shown(word, len(word)) for word in arguments.bot),
        file=shown(arguments.file, len(arguments.file)),
        game=recording.game.id,
        seat=arguments.seat,
        passed=failure is UNSET,
        as_recorded=sum(compared.made is UNSET for compared in decisions),
        otherwise=sum(compared.differs for compared in decisions),
        decisions=tuple(decisions),
        failure=failure,
        result=result,
    )


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
    with refusing(BotSpecError, where="--opponent"):
        spec = parse_bot_spec(text)
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


def _print_end(report: ReplayReport) -> None:
    if report.failure is not UNSET:
        say("FAIL")
        say(f"      expected  {report.failure.expected}")
        say(f"      came      {report.failure.came}")
        for line in report.failure.printed:
            say(f"        {line}")
    own = len(report.decisions) - report.as_recorded - report.otherwise
    played = f", {own} on its own" if own else ""
    say(f"{report.as_recorded} as recorded, {report.otherwise} otherwise{played}")
    if report.result is not UNSET:
        teams = sorted(report.result.teams, key=lambda team: team.rank)
        places = [f"{team.rank}. seat {' and '.join(map(str, team.seats))}: {team.points}" for team in teams]
        say(f"result: {', '.join(places)}")
