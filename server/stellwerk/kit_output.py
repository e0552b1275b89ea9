"""What `stellwerk kit doctor` and `kit serve` tell of their steps: lines for people, JUnit for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from xml.etree import ElementTree

from stellwerk.errors import DONE, FAILED
from stellwerk.terminal import flush_stdout, say
from stellwerk_kit.doctor import Finding
from stellwerk_kit.steps import Step
from stellwerk_protocol.canonical import shown

NOT_TAKEN: Final = "a step before it failed"


def print_steps(steps: Iterable[tuple[str, Step]]) -> None:
    """Under these names, each with its law, and with its transport if it has but one."""
    named = list(steps)
    width = max(len(name) for name, _ in named)
    for name, step in named:
        only = f" ({step.transports[0]} only)" if len(step.transports) == 1 else ""
        say(f"{name:{width}}  {step.law}{only}")


def print_findings(findings: Iterable[Finding], *, quiet: bool, started: bool = True) -> int:
    """Each as soon as it has been made, then how many of which kind there are. Returns the exit code. Of a
    bot that was not started nobody knows what it prints."""
    counts: Counter[str] = Counter()
    for finding in findings:
        counts[finding.verdict] += 1
        if finding.verdict in ("warn", "FAIL") or not quiet:
            for line in _told(finding, started):
                say(line)
            flush_stdout()
    if not quiet:
        skipped = f", {counts['skip']} skipped" * bool(counts["skip"])
        say(f"{counts['ok']} ok, {counts['warn']} with a warning, {counts['FAIL']} failed{skipped}")
    return FAILED if counts["FAIL"] else DONE


def _told(finding: Finding, started: bool) -> Iterator[str]:
    yield f"{finding.verdict:4}  {finding.step}"
    if finding.warning is not None:
        yield f"      {finding.warning}"
    if finding.skipped is not None:
        yield f"      {finding.skipped}"
    if finding.failure is not None:
        yield f"      law       {finding.law}"
        yield f"      expected  {finding.failure.expected}"
        yield f"      came      {finding.failure.came}"
        if finding.failure.printed:
            yield "      the last that the bot printed:"
            yield from (f"        {line}" for line in finding.failure.printed)
        elif started:
            yield "      the bot has printed nothing"


def junit_of(findings: Sequence[Finding], cases: Sequence[str]) -> bytes:
    """A test case for each step. `cases` are the names of all that were to be taken: those that were not, for
    one before them failed, are skipped ones."""
    suite = ElementTree.Element("testsuite", name="stellwerk kit doctor")
    for finding in findings:
        case = _case(suite, finding.step, finding.seconds)
        if finding.failure is not None:
            message = f"expected {finding.failure.expected}; came {finding.failure.came}"
            mark = ElementTree.SubElement(case, "failure", type="doctor", message=_line(message))
            printed = finding.failure.printed or ("the bot has printed nothing",)
            mark.text = "\n".join(map(_line, (f"law: {finding.law}", *printed)))
        elif finding.skipped is not None:
            ElementTree.SubElement(case, "skipped", message=_line(finding.skipped))
        elif finding.warning is not None:
            ElementTree.SubElement(case, "system-out").text = _line(finding.warning)
    taken = {finding.step for finding in findings}
    for name in cases:
        if name not in taken:
            ElementTree.SubElement(_case(suite, name, 0.0), "skipped", message=NOT_TAKEN)
    suite.set("tests", str(len(suite)))
    suite.set("errors", "0")
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    suite.set("time", f"{sum(finding.seconds for finding in findings):.3f}")
    root = ElementTree.Element("testsuites", name="stellwerk kit doctor")
    root.append(suite)
    ElementTree.indent(root)
    document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _case(suite: ElementTree.Element, name: str, seconds: float) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", classname="stellwerk.kit.doctor", name=name, time=f"{seconds:.3f}"
    )


def _line(text: str) -> str:
    """Without the control characters that XML cannot hold."""
    return shown(text, 2000)
