"""The one writer of JUnit XML: its counts, and texts that cannot become markup."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from stellwerk_tournament.report.junit import LONGEST_LINE, Case, Mark, Suite, junit_xml


def test_a_suite_counts_its_cases_by_outcome_and_adds_up_their_time() -> None:
    cases = [
        Case("passes", 0.5),
        Case("fails", 0.25, Mark("failure", "why", "kind", ["one", "two"])),
        Case("fails, too", 0.25, Mark("failure", "<failure> is only a word here")),
        Case("breaks", mark=Mark("error", "no disk")),
        Case("is left out", mark=Mark("skipped", "not asked for")),
    ]
    root = ElementTree.fromstring(
        junit_xml("all", [Suite("first", "a.group", cases), Suite("none", "b", [])])
    )
    assert [suite.attrib for suite in root] == [
        {"name": "first", "tests": "5", "failures": "2", "errors": "1", "skipped": "1", "time": "1.000"},
        {"name": "none", "tests": "0", "failures": "0", "errors": "0", "skipped": "0", "time": "0.000"},
    ]
    failure = root[0][1][0]
    assert (failure.tag, failure.attrib, failure.text) == (
        "failure",
        {"message": "why", "type": "kind"},
        "one\ntwo",
    )
    assert {case.get("classname") for case in root[0]} == {"a.group"}


@given(st.text())
def test_any_text_is_one_line_of_text(text: str) -> None:
    """What a bot prints can contain markup and control characters."""
    case = Case(text, 0.0, Mark("failure", text, text, [text]), [text])
    root = ElementTree.fromstring(junit_xml(text, [Suite(text, text, [case])]))
    assert [element.tag for element in root.iter()] == [
        "testsuites",
        "testsuite",
        "testcase",
        "failure",
        "system-out",
    ]
    for element in root.iter():
        for value in (*element.attrib.values(), (element.text or "").strip()):
            assert value.isprintable()
            assert len(value) <= LONGEST_LINE + 20
