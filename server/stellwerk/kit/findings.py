"""What the commands of the kit tell of steps, cases and vectors: lines for people, JUnit for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from stellwerk.shared.errors import DONE, FAILED, not_writable, usage_error
from stellwerk.shared.terminal import flush_stdout, say
from stellwerk_kit.doctor.doctor import Finding
from stellwerk_protocol.canonical import shown

NOT_TAKEN: Final = "a step before it failed"


def tell_each(findings: Iterable[Finding], *, quiet: bool, silence: str = "") -> Iterator[Finding]:
    """The same findings, told as soon as they are made; if `quiet`, only what is wrong, or could be better.
    `silence` stands where something is wrong and nothing was printed."""
    for finding in findings:
        if finding.verdict in ("warn", "FAIL") or not quiet:
            for line in _told(finding, silence):
                say(line)
            flush_stdout()
        yield finding


def _told(finding: Finding, silence: str) -> Iterator[str]:
    yield f"{finding.verdict:4}  {finding.step}"
    for text in (finding.warning, finding.skipped):
        if text is not None:
            yield f"      {text}"
    if finding.failure is not None:
        yield f"      law       {finding.law}"
        yield f"      expected  {finding.failure.expected}"
        yield f"      came      {finding.failure.came}"
        if finding.failure.printed:
            yield "      the last that it printed:"
            yield from (f"        {line}" for line in finding.failure.printed)
        elif silence:
            yield f"      {silence}"


def sum_of(findings: Iterable[Finding]) -> str:
    counts = Counter(finding.verdict for finding in findings)
    warned = f", {counts['warn']} with a warning" * bool(counts["warn"])
    skipped = f", {counts['skip']} skipped" * bool(counts["skip"])
    return f"{counts['ok']} ok{warned}, {counts['FAIL']} failed{skipped}"


def exit_code_of(findings: Iterable[Finding]) -> int:
    return FAILED if any(finding.failure is not None for finding in findings) else DONE


def write_junit(name: str, command: str, findings: Sequence[Finding], cases: Sequence[str] = ()) -> None:
    """A test case for each finding. `cases` are the names of all that were to be made: those that were not,
    for one before them failed, are skipped ones."""
    suite = ElementTree.Element("testsuite", name=command)
    for finding in findings:
        case = _case(suite, command, finding.step, finding.seconds)
        if finding.failure is not None:
            message = f"expected {finding.failure.expected}; came {finding.failure.came}"
            mark = ElementTree.SubElement(case, "failure", type=command, message=_line(message))
            mark.text = "\n".join(map(_line, (f"law: {finding.law}", *finding.failure.printed)))
        elif finding.skipped is not None:
            ElementTree.SubElement(case, "skipped", message=_line(finding.skipped))
        elif finding.warning is not None:
            ElementTree.SubElement(case, "system-out").text = _line(finding.warning)
    made = {finding.step for finding in findings}
    for step in cases:
        if step not in made:
            ElementTree.SubElement(_case(suite, command, step, 0.0), "skipped", message=NOT_TAKEN)
    suite.set("tests", str(len(suite)))
    suite.set("errors", "0")
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    suite.set("time", f"{sum(finding.seconds for finding in findings):.3f}")
    root = ElementTree.Element("testsuites", name=command)
    root.append(suite)
    ElementTree.indent(root)
    document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    try:
        Path(name).write_bytes(document + b"\n")
    except OSError as error:
        raise not_writable(name, error) from None
    except ValueError as error:  # a name that no file can have
        raise usage_error(f"{name}: cannot be written: {error}") from None


def _case(suite: ElementTree.Element, command: str, name: str, seconds: float) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", classname=command.replace(" ", "."), name=name, time=f"{seconds:.3f}"
    )


def _line(text: str) -> str:
    """Without the control characters that XML cannot hold."""
    return shown(text, 2000)
