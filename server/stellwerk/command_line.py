"""The command `stellwerk`: its subcommands and their arguments, and what an error comes to."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Final, NoReturn

from stellwerk import (
    boards_command,
    bots_command,
    demo_command,
    gate_command,
    kit_command,
    play_command,
    ratings_command,
    replay_command,
    serve_command,
    simulate_command,
    token_command,
    tournament_command,
)
from stellwerk.choose_game import unknown
from stellwerk.errors import DONE, FAILED, INFRASTRUCTURE, USAGE, CommandError, usage_error
from stellwerk.terminal import complain, flush_stdout, give_up_stdout, say
from stellwerk.version import version

EXAMPLES: Final = """\
examples:
  stellwerk demo
  stellwerk boards show usa
  stellwerk play united_kingdom --bot greedy --bot planner --bot random
  stellwerk serve
  stellwerk simulate usa --games 1000 --policy planner,random
  stellwerk replay verify game.jsonl

exit codes:
  0 done, 1 failed or refused, 2 wrong usage, 3 undecided,
  4 the machine failed (a full disk, ...), 130 interrupted
"""

AddArguments = Callable[[argparse.ArgumentParser], None]

COMMANDS: Final[dict[str, tuple[str, AddArguments]]] = {
    "boards": ("list the boards, show one, check your own", boards_command.add_arguments),
    "bots": ("start a bot of your own, in one of many languages", bots_command.add_arguments),
    "demo": ("let the reference bots play a small tournament, and rate them", demo_command.add_arguments),
    "gate": ("hold a bot against others, for CI: passed, failed or undecided", gate_command.add_arguments),
    "kit": ("tools for authors of bots: try a bot out, step by step", kit_command.add_arguments),
    "play": ("play games between bots that are started for them", play_command.add_arguments),
    "ratings": ("rate players by the results in a file, with honest errors", ratings_command.add_arguments),
    "replay": ("show a recorded game, or verify that it is true", replay_command.add_arguments),
    "serve": ("let bots play matches over TCP", serve_command.add_arguments),
    "simulate": ("play many games between built-in policies", simulate_command.add_arguments),
    "token": ("draw a token for a player of a closed server", token_command.add_arguments),
    "tournament": ("let many bots play for a ranking", tournament_command.add_arguments),
}


class Parser(argparse.ArgumentParser):
    """Errors in one line, like those of the commands themselves."""

    def error(self, message: str) -> NoReturn:
        complain(f"{message} (see '{self.prog} --help')")
        raise SystemExit(USAGE)

    def print_help(self, file: object = None) -> None:
        """To standard output, and with an error if that fails: argparse would be silent."""
        say(self.format_help().removesuffix("\n"))


def run(words: Sequence[str]) -> int:
    """Carry out a command line, and return the exit code."""
    try:
        return _run(words)
    except CommandError as error:
        complain(error.message)
        return error.exit_code
    except BrokenPipeError:
        give_up_stdout()  # whoever read has seen enough
        return FAILED
    except OSError as error:
        give_up_stdout()
        complain(f"standard output: cannot be written: {error.strerror or error}")
        return INFRASTRUCTURE


def _run(words: Sequence[str]) -> int:
    _expect_known_command(words)
    parser = _parser()
    try:
        arguments = parser.parse_args(words)
    except SystemExit as ended:  # argparse has said what is wrong, or how to use it
        flush_stdout()
        return ended.code if isinstance(ended.code, int) else USAGE
    if arguments.version:
        say(f"stellwerk {version()}")
        code = DONE
    elif arguments.command is None:
        raise usage_error(f"a command is missing: {', '.join(COMMANDS)} (see 'stellwerk --help')")
    else:
        code = _carry_out(arguments)
    flush_stdout()
    return code


def _carry_out(arguments: argparse.Namespace) -> int:
    match arguments.command:
        case "boards":
            return boards_command.run(arguments)
        case "bots":
            return bots_command.run(arguments)
        case "demo":
            return demo_command.run(arguments)
        case "gate":
            return gate_command.run(arguments)
        case "kit":
            return kit_command.run(arguments)
        case "play":
            return play_command.run(arguments)
        case "ratings":
            return ratings_command.run(arguments)
        case "replay":
            return replay_command.run(arguments)
        case "serve":
            return serve_command.run(arguments)
        case "simulate":
            return simulate_command.run(arguments)
        case "token":
            return token_command.run(arguments)
        case _:
            return tournament_command.run(arguments)


def _parser() -> Parser:
    parser = Parser(
        prog="stellwerk",
        description="A game server for bots of the Zug um Zug / Ticket to Ride family.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, (text, add_arguments) in COMMANDS.items():
        add_arguments(commands.add_parser(name, help=text, description=text, allow_abbrev=False))
    return parser


def _expect_known_command(words: Sequence[str]) -> None:
    """Before argparse does, which has no suggestions before Python 3.14."""
    if words and not words[0].startswith("-") and words[0] not in COMMANDS:
        raise usage_error(unknown("command", words[0], COMMANDS))
