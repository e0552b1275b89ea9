"""`stellwerk kit doctor`: examines a bot.

Exit codes: 0 every step is passed (perhaps with warnings), 1 one is not, 2 there is no such
command or game, 4 the machine failed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from stellwerk.kit.arguments import (
    ALL,
    add_step_arguments,
    cannot_start,
    checked_kit_seed,
    chosen_games,
    chosen_steps,
    ended_in_order,
    print_steps,
)
from stellwerk.kit.findings import exit_code_of, sum_of, tell_each, write_junit
from stellwerk.shared.errors import DONE, infrastructure_error, usage_error
from stellwerk.shared.terminal import say
from stellwerk_base.texts import shown
from stellwerk_kit.bot_process import CannotStartError, Transport
from stellwerk_kit.doctor.all_steps import STEPS
from stellwerk_kit.doctor.doctor import Finding, examine
from stellwerk_kit.doctor.patient import patience
from stellwerk_kit.doctor.steps import Examination, Step

DESCRIPTION: Final = """\
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
  stellwerk kit doctor --junit doctor.xml -- ./my_bot
  stellwerk kit doctor --list
  stellwerk kit doctor --steps first-ask,resume -- ./my_bot
"""


NAMED: Final = {step.id: step for step in STEPS}


class DoctorReport(Struct, frozen=True):
    """The output of `--json`."""

    command: tuple[str, ...]
    transport: Transport
    games: tuple[str, ...]
    seed: str
    passed: bool
    steps: tuple[Finding, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.epilog = EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("bot", metavar="WORD", nargs="*", help="the command that starts the bot, behind --")
    add("--transport", choices=("tcp", "stdio"), default="tcp", help="how the bot is reached (default: tcp)")
    add_step_arguments(parser)
    add(
        "--require-resume",
        action="store_true",
        help="a bot that does not resume after a lost connection fails; else that is a warning",
    )
    add("--steps", metavar="NAME,...", default=ALL, help=f"only these, in this order (default: {ALL})")
    add("--list", action="store_true", help="list the steps and their laws, and do nothing else")
    add("--junit", metavar="FILE", help="write the findings there too, a test case for each step")
    add("--json", action="store_true", help="all findings as one JSON object")
    add("-q", "--quiet", action="store_true", help="only what is wrong, or could be better")


def run(arguments: argparse.Namespace) -> int:
    """Carry out what `add_arguments` has parsed, and return the exit code."""
    games = chosen_games(arguments.game)
    if arguments.list:
        print_steps(NAMED.items())
        return DONE
    if not arguments.bot:
        raise usage_error("the command that starts the bot is missing: stellwerk kit doctor -- COMMAND...")
    examination = Examination(
        command=tuple(arguments.bot),
        transport=arguments.transport,
        patience=patience(arguments.timeout),
        seed=checked_kit_seed(arguments.seed),
        require_resume=arguments.require_resume,
    )
    steps = chosen_steps("--steps", "step", arguments.steps, NAMED)
    with ended_in_order():
        as_they_come = _findings(examination, games, steps)
        findings = list(
            as_they_come
            if arguments.json
            else tell_each(as_they_come, quiet=arguments.quiet, silence="the bot has printed nothing")
        )
    if arguments.json:
        say(_json_of(examination, games, findings))
    elif not arguments.quiet:
        say(sum_of(findings))
    if arguments.junit is not None:
        possible = [step for step in steps if examination.transport in step.transports]
        cases = [name for step in possible for name, _ in step.cases(games)]
        write_junit(arguments.junit, "stellwerk kit doctor", findings, cases)
    return exit_code_of(findings)


def _findings(examination: Examination, games: Sequence[str], steps: Sequence[Step]) -> Iterator[Finding]:
    try:
        yield from examine(examination, games, steps)
    except CannotStartError as error:
        raise cannot_start(error) from None
    except OSError as error:  # no more file descriptors, no more ports
        raise infrastructure_error(f"the doctor cannot go on: {error.strerror or error}") from None


def _json_of(examination: Examination, games: Sequence[str], findings: Sequence[Finding]) -> str:
    report = DoctorReport(
        command=tuple(shown(word, len(word)) for word in examination.command),
        transport=examination.transport,
        games=tuple(games),
        seed=examination.seed,
        passed=not exit_code_of(findings),
        steps=tuple(findings),
    )
    return json.dumps(msgspec.to_builtins(report))
