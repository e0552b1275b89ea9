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

from stellwerk.kit.arguments import add_output_arguments, add_timeout, ended_in_order
from stellwerk.kit.findings import conclude, has_failed, say_finding
from stellwerk.shared.errors import DONE, usage_error
from stellwerk.shared.parser import argument
from stellwerk.shared.terminal import say
from stellwerk_base.texts import shown
from stellwerk_kit.codec import NEEDED, OPERATIONS, Operation, drive, requests
from stellwerk_kit.doctor.doctor import Finding
from stellwerk_kit.vectors import wire_vectors

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
    with ended_in_order("the vectors"):
        vectors = wire_vectors()
        if arguments.list:
            for request in requests(vectors):
                say(f"{request.operation:6}  {request.vector:38}  {request.about}")
            return DONE
        if not arguments.driver:
            raise usage_error(
                "the command that starts the driver is missing: stellwerk kit codec -- COMMAND..."
            )
        needed: tuple[Operation, ...] = (*NEEDED, *arguments.require)
        findings = list(drive(arguments.driver, vectors, arguments.timeout, needed))
    if not arguments.json:
        for finding in findings:
            if finding.failure is not None:
                say_finding(finding)
        _count_operations(findings)
    command = tuple(shown(word, len(word)) for word in arguments.driver)
    return conclude(arguments, CodecReport(command, not has_failed(findings), tuple(findings)), findings)


def _count_operations(findings: Sequence[Finding]) -> None:
    """Print a line for each operation. There are hundreds of vectors."""
    counts: dict[str, Counter[str]] = {operation: Counter() for operation in OPERATIONS}
    for finding in findings:
        counts[finding.step.split()[0]][finding.verdict] += 1
    for operation, count in counts.items():
        if count["skip"]:
            say(f"{operation:6}  not supported")
        elif count:
            say(f"{operation:6}  {count['ok']} ok, {count['FAIL']} failed")
