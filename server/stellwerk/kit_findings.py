"""What `stellwerk kit attack` and `kit codec` tell of their cases: lines for people, JUnit for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from stellwerk.errors import DONE, FAILED, not_writable, usage_error
from stellwerk.terminal import flush_stdout, say
from stellwerk_kit.doctor import Finding
from stellwerk_protocol.canonical import shown


def tell_each(findings: Iterable[Finding], *, says_what_is_right: bool) -> Iterator[Finding]:
    """The same findings; what is wrong, or was left out, is told as soon as it is known."""
    for finding in findings:
        if finding.verdict == "FAIL" or says_what_is_right:
            for line in _told(finding):
                say(line)
            flush_stdout()
        yield finding


def _told(finding: Finding) -> Iterator[str]:
    yield f"{finding.verdict:4}  {finding.step}"
    if finding.skipped is not None:
        yield f"      {finding.skipped}"
    if finding.failure is not None:
        yield f"      law       {finding.law}"
        yield f"      expected  {finding.failure.expected}"
        yield f"      came      {finding.failure.came}"
        if finding.failure.printed:
            yield "      the last that it printed:"
            yield from (f"        {line}" for line in finding.failure.printed)


def sum_of(findings: Sequence[Finding]) -> str:
    counts = Counter(finding.verdict for finding in findings)
    skipped = f", {counts['skip']} skipped" * bool(counts["skip"])
    return f"{counts['ok']} ok, {counts['FAIL']} failed{skipped}"


def exit_code_of(findings: Sequence[Finding]) -> int:
    return FAILED if any(finding.failure is not None for finding in findings) else DONE


def write_junit(name: str, command: str, findings: Sequence[Finding]) -> None:
    """A test case for each finding."""
    suite = ElementTree.Element("testsuite", name=command)
    for finding in findings:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=command.replace(" ", "."),
            name=finding.step,
            time=f"{finding.seconds:.3f}",
        )
        if finding.failure is not None:
            message = f"expected {finding.failure.expected}; came {finding.failure.came}"
            mark = ElementTree.SubElement(case, "failure", type=command, message=_line(message))
            mark.text = "\n".join(map(_line, (f"law: {finding.law}", *finding.failure.printed)))
        elif finding.skipped is not None:
            ElementTree.SubElement(case, "skipped", message=_line(finding.skipped))
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


def _line(text: str) -> str:
    """Without the control characters that XML cannot hold."""
    return shown(text, 2000)
