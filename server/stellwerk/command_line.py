"""The command `stellwerk`: its subcommands, and the exit code of each error.

Law: a command line imports its own subcommand and no other. All of them together take most of a second, and
some need modules that Python has on Unix systems only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module  # noqa: TID251  this is the top: no contract is passed by
from typing import Final, NamedTuple, Protocol, cast

from stellwerk.shared.errors import (
    DONE,
    FAILED,
    INFRASTRUCTURE,
    USAGE,
    CommandError,
    infrastructure_error,
    usage_error,
)
from stellwerk.shared.parser import Parser
from stellwerk.shared.terminal import complain, flush_stdout, give_up_stdout, say

EXAMPLES: Final = """\
examples:
  stellwerk demo
  stellwerk boards show usa
  stellwerk play united_kingdom --bot greedy --bot planner --bot random
  stellwerk serve
  stellwerk play usa --games 1000 --bot planner --bot random
  stellwerk replay verify game.jsonl

exit codes:
  0 done, 1 failed or refused, 2 wrong usage, 3 undecided,
  4 the machine failed (a full disk, ...), 130 interrupted
"""


class Command(Protocol):
    """The functions that the module of a subcommand has."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, arguments: argparse.Namespace) -> int: ...


class Entry(NamedTuple):
    """A subcommand in `stellwerk --help`, and whether it works on systems other than Unix."""

    summary: str
    works_anywhere: bool = False


COMMANDS: Final[dict[str, Entry]] = {
    "boards": Entry("list the boards, show one, check your own", works_anywhere=True),
    "bots": Entry("start a bot of your own, in one of many languages", works_anywhere=True),
    "compare": Entry("compare two versions of a bot on the same deals"),
    "completion": Entry("print what a shell needs to complete this command", works_anywhere=True),
    "demo": Entry("let the reference bots play a small tournament, and rate them"),
    "gate": Entry("play a bot against others, for CI: passed, failed or undecided"),
    "kit": Entry("tools for authors of bots: try a bot out, step by step"),
    "play": Entry("play games between bots, one or a million", works_anywhere=True),
    "protocol": Entry("say where the specification is, print the schema of a message", works_anywhere=True),
    "ratings": Entry("rate players by the results in a file, with honest errors", works_anywhere=True),
    "replay": Entry("show a recorded game, or verify that it is true", works_anywhere=True),
    "sandbox": Entry("try what each level of the sandbox refuses on this machine"),
    "serve": Entry("let bots play matches over TCP"),
    "token": Entry("make a token for a player of a closed server", works_anywhere=True),
    "tournament": Entry("let many bots play for a ranking"),
    "watch": Entry("show matches live in a browser: of a server, a tournament, replays"),
}


def run(words: Sequence[str]) -> int:
    """Carry out a command line, and return the exit code."""
    try:
        return _parse_and_run(words)
    except CommandError as error:
        complain(error.message)
        return error.exit_code
    except BrokenPipeError:
        give_up_stdout()  # the reader has seen enough
        return FAILED
    except OSError as error:
        give_up_stdout()
        complain(f"standard output: cannot be written: {error.strerror or error}")
        return INFRASTRUCTURE


def _parse_and_run(words: Sequence[str]) -> int:
    command = _command_of(words)
    parser = _make_parser({} if command is None else {words[0]: command})
    try:
        arguments = parser.parse_args(words)
    except SystemExit as ended:  # argparse has printed what is wrong, or the help
        flush_stdout()
        return ended.code if isinstance(ended.code, int) else USAGE
    if arguments.version:
        # Here, because importlib.metadata takes longer than all the rest of --help.
        from stellwerk.shared.version import build, version

        say(f"stellwerk {version()} ({build()})")
        code = DONE
    elif command is None:
        raise usage_error(f"a command is missing: {', '.join(COMMANDS)} (see 'stellwerk --help')")
    else:
        code = command.run(arguments)
    flush_stdout()
    return code


def _command_of(words: Sequence[str]) -> Command | None:
    """Import the subcommand that the first word names; None if that is an option, or missing."""
    if not words or words[0].startswith("-"):
        return None
    name = words[0]
    entry = COMMANDS.get(name)
    if entry is None:  # argparse has no suggestions before Python 3.14
        from stellwerk_base.texts import unknown

        raise usage_error(unknown("command", name, COMMANDS))
    if not entry.works_anywhere:
        _require_unix(name)
    return _import_command(name)


def _import_command(name: str) -> Command:
    return cast(Command, import_module(f"stellwerk.{name}.command"))  # a test looks whether each is one


def _require_unix(name: str) -> None:
    """Refuse a command that locks files or limits processes, where Python has no modules for that."""
    try:
        import fcntl
        import resource

        del fcntl, resource  # it is enough that they exist
    except ModuleNotFoundError as error:
        others = ", ".join(other for other, entry in COMMANDS.items() if entry.works_anywhere)
        raise infrastructure_error(
            f"{name}: needs Linux or another Unix: Python has no module '{error.name}' on this system"
            f" ({sys.platform}); these commands work here: {others}"
        ) from None


def whole_parser() -> Parser:
    """Make a parser with the arguments of every subcommand that works on this system."""
    commands: dict[str, Command] = {}
    for name in COMMANDS:
        try:
            commands[name] = _import_command(name)
        except ModuleNotFoundError:  # one of Unix's
            if COMMANDS[name].works_anywhere:
                raise
    return _make_parser(commands)


def _make_parser(imported: Mapping[str, Command]) -> Parser:
    """Make a parser that knows all subcommands by name, and the arguments of those that are imported."""
    parser = Parser(
        prog="stellwerk",
        description="A game server for bots of the Zug um Zug / Ticket to Ride family.",
        epilog=EXAMPLES,
    )
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for other, (summary, _) in COMMANDS.items():
        subparser = commands.add_parser(other, help=summary, description=summary)
        if other in imported:
            imported[other].add_arguments(subparser)
    return parser
