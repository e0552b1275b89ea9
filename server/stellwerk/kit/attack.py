"""`stellwerk kit attack`: plays every valid and hostile client against a server.

Exit codes: 0 every case is passed or does not apply, 1 one is not, 2 there is no such case, or the server
lets nobody in, 4 there is no server, or the machine failed, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import ssl
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from stellwerk.kit.arguments import ended_in_order
from stellwerk.kit.findings import exit_code_of, sum_of, tell_each, write_junit
from stellwerk.shared.choose_game import whole_number
from stellwerk.shared.errors import DONE, infrastructure_error, usage_error
from stellwerk.shared.terminal import say
from stellwerk_base.texts import shown, unknown
from stellwerk_kit.attack.attack import Attack, Case, NoServerError, assault
from stellwerk_kit.attack.cases import CASES
from stellwerk_kit.doctor.doctor import Finding
from stellwerk_kit.vectors import VectorsMissingError

DEFAULT_PORT: Final = 7878

DESCRIPTION: Final = """\
Attack a server: play every kind of client, those that keep the protocol and those
that break it. Meanwhile two honest clients play against each other, and must not
notice. Attack only your own server. The load is small.

Cases that wait long for a clock of the server need --slow. A server with small limits
needs less time:

  stellwerk serve --set limits.login_ms=1500 --set limits.unsent_ms=500
"""

EXAMPLES: Final = """\
examples:
  stellwerk kit attack
  stellwerk kit attack --host game.example --port 7878 --token me=TOKEN --token you=TOKEN
  stellwerk kit attack --tls --ca cert.pem --host localhost
  stellwerk kit attack --case flood --case stale-acts
  stellwerk kit attack --list
"""


class AttackReport(Struct, frozen=True):
    """The output of `--json`."""

    host: str
    port: int
    server: str
    passed: bool
    cases: tuple[Finding, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.epilog = EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="(default: 127.0.0.1)")
    add("--port", type=whole_number(1, 65_535), default=DEFAULT_PORT, help=f"(default: {DEFAULT_PORT})")
    add("--tls", action="store_true", help="every case over TLS")
    add("--ca", metavar="FILE", help="with --tls: trust the certificates of this file (PEM)")
    add(
        "--token",
        metavar="NAME=TOKEN",
        action="append",
        default=[],
        help="for a server that asks for tokens; four let it play every case but one",
    )
    add(
        "--case",
        metavar="NAME",
        action="append",
        default=[],
        help="only this one; may be given several times",
    )
    add(
        "--timeout",
        metavar="SECONDS",
        type=whole_number(1, 3600),
        default=10,
        help="for each answer (default: 10)",
    )
    add("--slow", action="store_true", help="wait for every clock of the server's, however long")
    add("--list", action="store_true", help="list the cases and their laws, and do nothing else")
    add("--junit", metavar="FILE", help="write the findings there too, a test case for each")
    add("--json", action="store_true", help="all findings as one JSON object")
    add("-q", "--quiet", action="store_true", help="only what is wrong")


def run(arguments: argparse.Namespace) -> int:
    """Carry out what `add_arguments` has parsed, and return the exit code."""
    cases = _cases(arguments.case)
    if arguments.list:
        _list(cases)
        return DONE
    attack = Attack(
        (arguments.host, arguments.port),
        float(arguments.timeout),
        slow=arguments.slow,
        tokens=tuple(map(_token, arguments.token)),
        tls=_tls(arguments),
    )
    with ended_in_order():
        findings = _findings(attack, cases, tells=not arguments.json, quiet=arguments.quiet)
    if arguments.json:
        report = AttackReport(
            shown(arguments.host),
            arguments.port,
            shown(attack.survey.server),
            not exit_code_of(findings),
            tuple(findings),
        )
        say(json.dumps(msgspec.to_builtins(report)))
    elif not arguments.quiet:
        say(sum_of(findings))
    if arguments.junit is not None:
        write_junit(arguments.junit, "stellwerk kit attack", findings)
    return exit_code_of(findings)


def _findings(attack: Attack, cases: Sequence[Case], *, tells: bool, quiet: bool) -> list[Finding]:
    findings = assault(attack, cases)
    try:
        return list(tell_each(findings, quiet=quiet) if tells else findings)
    except NoServerError as error:
        raise (usage_error if error.refused else infrastructure_error)(str(error)) from None
    except VectorsMissingError as error:
        raise infrastructure_error(str(error)) from None
    except OSError as error:  # no more file descriptors, no more ports
        raise infrastructure_error(f"the attack cannot go on: {error.strerror or error}") from None


def _cases(names: Sequence[str]) -> tuple[Case, ...]:
    known = {case.name: case for case in CASES}
    for name in names:
        if name not in known:
            raise usage_error(f"--case: {unknown('case', name, known)}")
    return tuple(case for case in CASES if case.name in names or not names)


def _tls(arguments: argparse.Namespace) -> ssl.SSLContext | None:
    if not arguments.tls:
        if arguments.ca is not None:
            raise usage_error("--ca: goes with --tls only")
        return None
    try:
        return ssl.create_default_context(cafile=arguments.ca)
    except OSError as error:  # ssl.SSLError is one
        raise usage_error(f"--ca: {arguments.ca}: cannot be used: {error}") from None


def _token(text: str) -> tuple[str, str]:
    name, separator, token = text.partition("=")
    if not separator or not name or not token:
        raise usage_error("--token: expected NAME=TOKEN")
    return name, token


def _list(cases: Sequence[Case]) -> None:
    width = max(len(case.name) for case in cases)
    for case in cases:
        say(f"{case.name:{width}}  {case.law}")
