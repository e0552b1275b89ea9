"""Reports of the kit's commands on steps, cases and vectors: lines for people, JUnit for machines."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from stellwerk.shared.errors import DONE, FAILED, writing
from stellwerk.shared.terminal import flush_stdout, say, say_record
from stellwerk_kit.doctor.doctor import Failure, Finding
from stellwerk_tournament.report.junit import Case, Mark, Suite, junit_xml

NOT_TAKEN: Final = "a step before it failed"


def tell_each(findings: Iterable[Finding], silence: str = "") -> Iterator[Finding]:
    """Print the findings as they are made, and yield them."""
    for finding in findings:
        say_finding(finding, silence)
        flush_stdout()
        yield finding


def say_finding(finding: Finding, silence: str = "") -> None:
    """Print a finding. `silence` is printed for a failure of a bot that printed nothing."""
    say(f"{finding.verdict:4}  {finding.step}")
    for text in (finding.warning, finding.skipped):
        if text is not None:
            say(f"      {text}")
    if finding.failure is not None:
        say(f"      law       {finding.law}")
        for each in finding.failure.requirements:
            say(f"      requires  {each.number} ({each.duty}): {each.text}")
        say(f"      expected  {finding.failure.expected}")
        say(f"      came      {finding.failure.came}")
        if finding.failure.printed:
            say("      the last that it printed:")
            for line in finding.failure.printed:
                say(f"        {line}")
        elif silence:
            say(f"      {silence}")


def sum_of(findings: Iterable[Finding]) -> str:
    counts = Counter(finding.verdict for finding in findings)
    warned = f", {counts['warn']} with a warning" * bool(counts["warn"])
    skipped = f", {counts['skip']} skipped" * bool(counts["skip"])
    return f"{counts['ok']} ok{warned}, {counts['FAIL']} failed{skipped}"


def conclude(
    arguments: argparse.Namespace, report: Struct, findings: Sequence[Finding], cases: Sequence[str] = ()
) -> int:
    """Print the report or the sum of the findings, write them as `--junit` asks, and return the exit code."""
    if arguments.json:
        say_record(report)
    else:
        say(sum_of(findings))
    if arguments.junit is not None:
        write_junit(arguments.junit, f"stellwerk kit {arguments.kit_command}", findings, cases)
    return FAILED if has_failed(findings) else DONE


def has_failed(findings: Iterable[Finding]) -> bool:
    return any(finding.failure is not None for finding in findings)


def write_junit(name: str, command: str, findings: Sequence[Finding], cases: Sequence[str] = ()) -> None:
    """Write a test case for each finding into a file.

    `cases` are the names of all steps. A step without a finding, because one before it failed, is skipped.
    """
    taken = {finding.step for finding in findings}
    suite = Suite(
        command,
        command.replace(" ", "."),
        [
            *(_test_case(command, finding) for finding in findings),
            *(Case(step, mark=Mark("skipped", NOT_TAKEN)) for step in cases if step not in taken),
        ],
    )
    content = junit_xml(command, [suite])
    with writing(name):
        Path(name).write_bytes(content)


def _details(law: str, failure: Failure) -> tuple[str, ...]:
    required = [f"requires {each.number} ({each.duty}): {each.text}" for each in failure.requirements]
    return f"law: {law}", *required, *failure.printed


def _test_case(command: str, finding: Finding) -> Case:
    mark = None
    if finding.failure is not None:
        message = f"expected {finding.failure.expected}; came {finding.failure.came}"
        mark = Mark("failure", message, command, _details(finding.law, finding.failure))
    elif finding.skipped is not None:
        mark = Mark("skipped", finding.skipped)
    output = () if finding.warning is None else (finding.warning,)
    return Case(finding.step, finding.seconds, mark, output)
