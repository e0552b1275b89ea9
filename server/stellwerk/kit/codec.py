"""`stellwerk kit codec`: drives a client library through the vectors of the protocol.

Exit codes: 0 every vector is read and written as it must be, 1 one is not, 2 there is no such command, 4 the
machine failed, 130 interrupted.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from stellwerk.kit.arguments import add_output_arguments, add_timeout, cannot_start, ended_in_order
from stellwerk.kit.findings import exit_code_of, say_finding, sum_of, write_junit
from stellwerk.shared.errors import DONE, infrastructure_error, usage_error
from stellwerk.shared.parser import argument
from stellwerk.shared.terminal import say, say_record
from stellwerk_base.texts import shown
from stellwerk_kit.bot_process import CannotStartError
from stellwerk_kit.codec import NEEDED, OPERATIONS, Operation, drive, requests
from stellwerk_kit.doctor.doctor import Finding
from stellwerk_kit.vectors import VectorsMissingError, wire_vectors

DESCRIPTION: Final = """\
Drive a client library through the vectors of the protocol: the command is started,
and gets one request after the other on its standard input, a line of JSON each. It
answers each with a line on its standard output. README.md in protocol/conformance
has the requests and the answers; there are four, of which a client needs two.
"""

EXAMPLES: Final = """\
examples:
  stellwerk kit codec -- node src/driver.js
  stellwerk kit codec --require stream -- ./my_driver
  stellwerk kit codec --list
"""


class CodecReport(Struct, frozen=True):
    """The output of `--json`."""

    command: tuple[str, ...]
    passed: bool
    vectors: tuple[Finding, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES
    argument(parser, "[WORD ...]", "the command that starts the driver, behind --", dest="driver")
    argument(
        parser,
        "--require OP ...",
        f"fail if this is not supported ({', '.join(NEEDED)} always); may be given several times",
        choices=OPERATIONS,
    )
    add_timeout(parser)
    add_output_arguments(parser, "vectors")


def run(arguments: argparse.Namespace) -> int:
    """Carry out what `add_arguments` has parsed, and return the exit code."""
    try:
        vectors = wire_vectors()
    except VectorsMissingError as error:
        raise infrastructure_error(str(error)) from None
    if arguments.list:
        for request in requests(vectors):
            say(f"{request.operation:6}  {request.vector:38}  {request.about}")
        return DONE
    if not arguments.driver:
        raise usage_error("the command that starts the driver is missing: stellwerk kit codec -- COMMAND...")
    needed: tuple[Operation, ...] = (*NEEDED, *arguments.require)
    with ended_in_order():
        try:
            findings = list(drive(arguments.driver, vectors, arguments.timeout, needed))
        except CannotStartError as error:
            raise cannot_start(error) from None
        except OSError as error:  # no more file descriptors
            raise infrastructure_error(f"the vectors cannot go on: {error.strerror or error}") from None
    if arguments.json:
        command = tuple(shown(word, len(word)) for word in arguments.driver)
        report = CodecReport(command, not exit_code_of(findings), tuple(findings))
        say_record(report)
    else:
        for finding in findings:
            if finding.failure is not None:
                say_finding(finding)
        _sum_up(findings)
    if arguments.junit is not None:
        write_junit(arguments.junit, "stellwerk kit codec", findings)
    return exit_code_of(findings)


def _sum_up(findings: Sequence[Finding]) -> None:
    """Print a line for each operation. There are hundreds of vectors."""
    counts: dict[str, Counter[str]] = {operation: Counter() for operation in OPERATIONS}
    for finding in findings:
        counts[finding.step.split()[0]][finding.verdict] += 1
    for operation, count in counts.items():
        if count["skip"]:
            say(f"{operation:6}  not supported")
        elif count:
            say(f"{operation:6}  {count['ok']} ok, {count['FAIL']} failed")
    say(sum_of(findings))
