"""`stellwerk kit attack`: plays every valid and hostile client against a server.

Exit codes: 0 every case is passed or does not apply, 1 one is not, 2 there is no such case, or the server
refuses the login, 4 there is no server, or the machine failed, 130 interrupted.
"""

from __future__ import annotations

import argparse
import ssl
from functools import partial
from typing import Final

from msgspec import Struct

from stellwerk.kit.arguments import add_output_arguments, ended_in_order, print_laws
from stellwerk.kit.findings import conclude, has_failed, tell_each
from stellwerk.shared.addresses import THIS_MACHINE, server_address
from stellwerk.shared.errors import DONE, infrastructure_error, usage_error
from stellwerk.shared.parser import argument, whole_number
from stellwerk_base.texts import shown, unknown
from stellwerk_kit.attack.attack import Attack, NoServerError, assault
from stellwerk_kit.attack.cases import CASES
from stellwerk_kit.doctor.doctor import Finding
from stellwerk_server.operate.settings import DEFAULT_PORT

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
  stellwerk kit attack game.example:7878 --token me=TOKEN --token you=TOKEN
  SSL_CERT_FILE=cert.pem stellwerk kit attack tls://localhost:7878
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
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES
    add = partial(argument, parser)
    add(
        "[SERVER]",
        "HOST:PORT, or tls://HOST:PORT for every case over TLS. SSL_CERT_FILE names the certificates to "
        "trust instead of those of the system",
        default=f"{THIS_MACHINE}:{DEFAULT_PORT}",
    )
    add("--token NAME=TOKEN ...", "for a server that asks for tokens; four let it play every case but one")
    add("--case NAME ...", "only this one; may be given several times")
    add("--timeout SECONDS", "for each answer", whole_number(1, 3600), default=10)
    add("--slow", "play the cases that wait long for a clock of the server, too")
    add_output_arguments(parser, "cases")


def run(arguments: argparse.Namespace) -> int:
    """Carry out what `add_arguments` has parsed, and return the exit code."""
    known = {case.name: case for case in CASES}
    for name in arguments.case:
        if name not in known:
            raise usage_error(f"--case: {unknown('case', name, known)}")
    cases = [case for case in CASES if case.name in arguments.case or not arguments.case]
    if arguments.list:
        print_laws((case.name, case.law) for case in cases)
        return DONE
    address = server_address("SERVER", arguments.server)
    if address is None:
        raise usage_error(f"SERVER: expected HOST:PORT or tls://HOST:PORT, not {shown(arguments.server)!r}")
    attack = Attack(
        (address.host, address.port),
        float(arguments.timeout),
        slow=arguments.slow,
        tokens=tuple(map(_read_token, arguments.token)),
        tls=ssl.create_default_context() if address.tls else None,
    )
    with ended_in_order("the attack"):
        try:
            findings = list(assault(attack, cases) if arguments.json else tell_each(assault(attack, cases)))
        except NoServerError as error:
            raise (usage_error if error.refused else infrastructure_error)(str(error)) from None
    report = AttackReport(
        shown(address.host),
        address.port,
        shown(attack.survey.server),
        not has_failed(findings),
        tuple(findings),
    )
    return conclude(arguments, report, findings)


def _read_token(text: str) -> tuple[str, str]:
    name, separator, token = text.partition("=")
    if not separator or not name or not token:
        raise usage_error("--token: expected NAME=TOKEN")
    return name, token
