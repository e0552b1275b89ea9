"""`stellwerk kit serve`: plays the server's part to each bot that connects, one case a connection.

Exit codes: 0 every case is passed (perhaps with warnings), 1 one is not, 2 there is no such case or game, or
the port is taken, 4 the machine failed, 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
from collections.abc import Iterator, Sequence
from typing import Final

from stellwerk.kit.arguments import (
    ALL,
    add_step_arguments,
    checked_kit_seed,
    chosen_games,
    chosen_steps,
    ended_in_order,
    print_steps,
)
from stellwerk.kit.findings import exit_code_of, sum_of, tell_each
from stellwerk.shared.choose_game import whole_number
from stellwerk.shared.errors import DONE, infrastructure_error, usage_error
from stellwerk.shared.terminal import flush_stdout, say
from stellwerk_kit.doctor.callers import Door
from stellwerk_kit.doctor.doctor import Finding
from stellwerk_kit.doctor.patient import patience
from stellwerk_kit.doctor.scripted_match import game_of
from stellwerk_kit.doctor.serving import SERVED, Case, cases_of, serve
from stellwerk_kit.doctor.steps import Examination

DESCRIPTION: Final = """\
Play a server's part for a client that you start yourself. Each connection gets the
next of the chosen cases. The program judges its answers, and ends after the last case.

A client that logs in with any token is seated at once. Without a token it has to join
the match of the case, alone or against house bots. When a case
is over, the match fails (`server.failed`), and the client gets `bye`.
"""
EXAMPLES: Final = """\
examples:
  stellwerk kit serve --list
  stellwerk kit serve --cases login,first-ask,resume --game usa --port 7878
  while STELLWERK_TOKEN=any ./my_client; do :; done & stellwerk kit serve --cases all
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.epilog = EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("--cases", metavar="NAME,...", default=ALL, help=f"in this order (default: {ALL})")
    add(
        "--port",
        metavar="PORT",
        type=whole_number(0, 65535),
        default=7878,
        help="on 127.0.0.1; 0 is any that is free (default: 7878)",
    )
    add_step_arguments(parser)
    add("--list", action="store_true", help="list the cases and their laws, and do nothing else")
    add("-q", "--quiet", action="store_true", help="only what is wrong, or could be better")


def run(arguments: argparse.Namespace) -> int:
    """Carry out what `add_arguments` has parsed, and return the exit code."""
    if arguments.list:
        print_steps(SERVED.items())
        return DONE
    games = chosen_games(arguments.game)
    cases = cases_of(chosen_steps("--cases", "case", arguments.cases, SERVED), games)
    if not cases:
        raise usage_error(f"--cases: {arguments.cases}: no such decision in {', '.join(games)}")
    seed = checked_kit_seed(arguments.seed)
    with ended_in_order(), contextlib.closing(_door(arguments.port)) as door:
        say(f"listening on {door.host}:{door.port}")
        flush_stdout()
        examination = Examination((), "tcp", patience(arguments.timeout), seed, door=door)
        as_they_come = _findings(examination, cases, quiet=arguments.quiet)
        findings = list(tell_each(as_they_come, quiet=arguments.quiet))
    if not arguments.quiet:
        say(sum_of(findings))
    return exit_code_of(findings)


def _door(port: int) -> Door:
    try:
        return Door(port)
    except OSError as error:
        text = f"--port {port}: {error.strerror or error}"
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            raise usage_error(text) from None
        raise infrastructure_error(text) from None


def _findings(examination: Examination, cases: Sequence[Case], *, quiet: bool) -> Iterator[Finding]:
    def begin(case: Case) -> None:
        if not quiet:
            say(f"next  {case.name} ({case.game}, {game_of(case.game).seat_count} players)")
            flush_stdout()

    try:
        yield from serve(examination, cases, begin)
    except OSError as error:  # no more file descriptors
        raise infrastructure_error(f"cannot go on: {error.strerror or error}") from None
