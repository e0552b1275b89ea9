"""`stellwerk kit`: the tools for authors of bots. So far `doctor`, which examines one.

Exit codes of the doctor: 0 every step is passed (perhaps with warnings), 1 one is not, 2 there is no such
command or game, 4 the machine failed.
"""

from __future__ import annotations

import argparse
import json
import signal
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Final

import msgspec
from msgspec import Struct

from stellwerk.choose_game import checked_seed, unknown, whole_number
from stellwerk.errors import DONE, FAILED, CommandError, infrastructure_error, usage_error
from stellwerk.terminal import flush_stdout, say
from stellwerk_engine.games import RULE_SETS
from stellwerk_kit.bot_process import CannotStartError, Transport
from stellwerk_kit.doctor import Finding, examine
from stellwerk_kit.patient import patience
from stellwerk_kit.scripted_match import SCOUTED_GAMES
from stellwerk_kit.steps import Examination
from stellwerk_protocol.canonical import shown

DOCTOR: Final = """\
Examine a bot: start it again and again, play a server's part to it, and stop at the
first step at which it does not do what the protocol asks for.

The bot finds STELLWERK_ADDRESS, STELLWERK_TOKEN, STELLWERK_BOT_SEED and STELLWERK_NAME
in its environment, as if a server had started it. All that it starts is killed after
each step.
"""

EXAMPLES: Final = """\
examples:
  stellwerk kit doctor -- python3 my_bot.py
  stellwerk kit doctor --game usa --game card_game -- ./my_bot --fast
  stellwerk kit doctor --transport stdio --json -- node my_bot.js
"""


class Report(Struct, frozen=True):
    """What `--json` prints."""

    command: tuple[str, ...]
    transport: Transport
    games: tuple[str, ...]
    seed: str
    passed: bool
    steps: tuple[Finding, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="kit_command", metavar="COMMAND", required=True)
    doctor = commands.add_parser(
        "doctor",
        help="examine a bot, step by step",
        description=DOCTOR,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    doctor.add_argument("bot", metavar="WORD", nargs="+", help="the command that starts the bot, behind --")
    doctor.add_argument(
        "--transport", choices=("tcp", "stdio"), default="tcp", help="how the bot is spoken to (default: tcp)"
    )
    doctor.add_argument(
        "--game",
        metavar="GAME",
        action="append",
        default=[],
        help=f"may be given several times (default: all: {', '.join(RULE_SETS)})",
    )
    doctor.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=whole_number(1, 3600),
        default=5,
        help="for each answer; a start may take four times as long (default: 5)",
    )
    doctor.add_argument("--seed", metavar="S", default="doctor", help="any text; another one, other games")
    doctor.add_argument(
        "--require-resume",
        action="store_true",
        help="a bot that does not resume after a lost connection fails; else that is a warning",
    )
    doctor.add_argument("--json", action="store_true", help="all findings as one JSON object")
    doctor.add_argument("-q", "--quiet", action="store_true", help="only what is wrong, or could be better")


def run(arguments: argparse.Namespace) -> int:
    """Carry out what `add_arguments` has parsed, and return the exit code."""
    games = _games(arguments.game)
    examination = Examination(
        command=tuple(arguments.bot),
        transport=arguments.transport,
        patience=patience(arguments.timeout),
        seed=_seed(arguments.seed),
        require_resume=arguments.require_resume,
    )
    with _ended_in_order():
        if arguments.json:
            return _print_json(examination, games)
        return _print_lines(examination, games, quiet=arguments.quiet)


def _games(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if name not in RULE_SETS:
            raise usage_error(f"--game: {unknown('game', name, RULE_SETS)}")
    return tuple(dict.fromkeys(names)) or tuple(RULE_SETS)


def _seed(text: str) -> str:
    checked_seed(f"{checked_seed(text)}/{SCOUTED_GAMES}", "--seed with the number of a game")
    return text


def _findings(examination: Examination, games: Sequence[str]) -> Iterator[Finding]:
    try:
        yield from examine(examination, games)
    except CannotStartError as error:
        raise _cannot_start(error) from None
    except OSError as error:  # no more file descriptors, no more ports
        raise infrastructure_error(f"the doctor cannot go on: {error.strerror or error}") from None


def _cannot_start(error: CannotStartError) -> CommandError:
    return usage_error(str(error)) if error.wrong_command else infrastructure_error(str(error))


@contextmanager
def _ended_in_order() -> Generator[None]:
    """SIGTERM ends the doctor as Ctrl-C does, so that the bot ends with it."""

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)  # as a shell says it

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


# -- output ------------------------------------------------------------------------------------------


def _print_lines(examination: Examination, games: Sequence[str], *, quiet: bool) -> int:
    counts = {"ok": 0, "warn": 0, "FAIL": 0}
    for finding in _findings(examination, games):
        counts[finding.verdict] += 1
        if finding.verdict != "ok" or not quiet:
            for line in _told(finding):
                say(line)
            flush_stdout()  # each step as soon as it has been taken
    if not quiet:
        say(f"{counts['ok']} ok, {counts['warn']} with a warning, {counts['FAIL']} failed")
    return FAILED if counts["FAIL"] else DONE


def _told(finding: Finding) -> Iterator[str]:
    yield f"{finding.verdict:4}  {finding.step}"
    if finding.warning is not None:
        yield f"      {finding.warning}"
    if finding.failure is not None:
        yield f"      law       {finding.law}"
        yield f"      expected  {finding.failure.expected}"
        yield f"      came      {finding.failure.came}"
        if finding.failure.printed:
            yield "      the last that the bot printed:"
            yield from (f"        {line}" for line in finding.failure.printed)
        else:
            yield "      the bot has printed nothing"


def _print_json(examination: Examination, games: Sequence[str]) -> int:
    findings = tuple(_findings(examination, games))
    report = Report(
        command=tuple(shown(word, len(word)) for word in examination.command),
        transport=examination.transport,
        games=tuple(games),
        seed=examination.seed,
        passed=all(finding.failure is None for finding in findings),
        steps=findings,
    )
    say(json.dumps(msgspec.to_builtins(report)))
    return DONE if report.passed else FAILED
