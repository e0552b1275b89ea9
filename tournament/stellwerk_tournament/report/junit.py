"""JUnit XML, as CI systems read it: suites of test cases, each with what went wrong in it.

Law: every text from outside (a name, a line that a bot printed) becomes one line without control characters,
which XML cannot hold, and is never markup. The counts are those of the cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal
from xml.etree import ElementTree

from stellwerk_base.texts import shown

LONGEST_LINE: Final = 2000  # characters: a bot may print lines of any length

Outcome = Literal["failure", "error", "skipped"]


@dataclass(frozen=True, slots=True)
class Mark:
    """The reason why a case did not pass. `type` is a word for programs, `lines` are the details."""

    outcome: Outcome
    message: str
    type: str = ""
    lines: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One test case, which passed if it has no mark. `output` are lines for those who look at it."""

    name: str
    seconds: float = 0.0
    mark: Mark | None = None
    output: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Suite:
    """Test cases. `group` is the class name of all of them, by which CI systems sort them."""

    name: str
    group: str
    cases: Sequence[Case]


def junit_xml(name: str, suites: Sequence[Suite]) -> bytes:
    """Write a file with these suites."""
    root = ElementTree.Element("testsuites", name=_line(name))
    for suite in suites:
        root.append(_suite(suite))
    ElementTree.indent(root)
    document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _suite(suite: Suite) -> ElementTree.Element:
    outcomes = [case.mark.outcome for case in suite.cases if case.mark is not None]
    element = ElementTree.Element(
        "testsuite",
        name=_line(suite.name),
        tests=str(len(suite.cases)),
        failures=str(outcomes.count("failure")),
        errors=str(outcomes.count("error")),
        skipped=str(outcomes.count("skipped")),
        time=f"{sum(case.seconds for case in suite.cases):.3f}",
    )
    for case in suite.cases:
        element.append(_case(case, suite.group))
    return element


def _case(case: Case, group: str) -> ElementTree.Element:
    seconds = f"{case.seconds:.3f}"
    element = ElementTree.Element("testcase", classname=_line(group), name=_line(case.name), time=seconds)
    if case.mark is not None:
        mark = ElementTree.SubElement(element, case.mark.outcome, message=_line(case.mark.message))
        if case.mark.type:
            mark.set("type", _line(case.mark.type))
        if case.mark.lines:
            mark.text = "\n".join(map(_line, case.mark.lines))
    if case.output:
        ElementTree.SubElement(element, "system-out").text = "\n".join(map(_line, case.output))
    return element


def _line(text: str) -> str:
    return shown(text, LONGEST_LINE)
