"""The page of requirements names existing cases only, and leaves out no law and no case."""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

from stellwerk_kit.attack.cases import CASES
from stellwerk_kit.codec import requests
from stellwerk_kit.doctor.all_steps import STEPS
from stellwerk_kit.requirements import requirements, requirements_of
from stellwerk_kit.vectors import wire_vectors
from tools.generate import CONFORMANCE as FOLDER
from tools.specification import SPECIFICATION, names_in, section, sections

REPOSITORY = FOLDER.parents[1]
PAGE = FOLDER / "REQUIREMENTS.md"
ROWS = [
    row for part in sections(PAGE) if part.title != "Requirements" for table in part.tables for row in table
]
LAWS = [f"L{number}" for number in range(1, 22)]


def cases(kind: str) -> list[str]:
    """Return the cases of a kind, in all requirements."""
    prefix = f"{kind}: "
    return [name.removeprefix(prefix) for row in ROWS for name in names_in(row[4]) if name.startswith(prefix)]


@cache
def functions_of(file: str) -> frozenset[str]:
    tree = ast.parse((REPOSITORY / file).read_text("utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def test_every_requirement_has_a_number_of_its_own_a_duty_and_cases() -> None:
    assert [row[0] for row in ROWS] == [
        *(f"S{number}" for number in range(1, 73)),
        *(f"C{number}" for number in range(1, 28)),
    ]
    assert {row[1] for row in ROWS} == {"MUST", "SHOULD"}
    known = ("attack: ", "doctor: ", "codec: ", "vectors: ", "transcript: ", "test: ")
    for row in ROWS:
        assert names_in(row[4]), row[0]
        assert all(name.startswith(known) for name in names_in(row[4])), row[0]


def test_a_failure_finds_its_requirements_on_the_page() -> None:
    """Each row is read, and each step, case and vector that the page names leads back to its numbers."""
    assert [[each.number, each.duty, each.text, *each.cases] for each in requirements()] == [
        [row[0], row[1], row[2], *names_in(row[4])] for row in ROWS
    ]
    assert [each.number for each in requirements_of("doctor: first-ask", "C")] == ["C10", "C11"]
    assert [each.number for each in requirements_of("codec: message-ping", "S")] == ["S5"]
    assert [each.number for each in requirements_of("codec: message-ping", "C")] == ["C6"]
    for step in STEPS:
        assert requirements_of(f"doctor: {step.id}", "C"), step.id


def test_every_law_is_a_requirement() -> None:
    written = re.findall(r"^\* \*\*(L\d+)\*\*", section(SPECIFICATION, "Laws").text, re.MULTILINE)
    assert written == LAWS
    named = {law.strip() for row in ROWS for law in row[3].split(",") if law.strip()}
    assert named == set(LAWS)


def test_every_case_of_the_attack_is_named_and_no_other() -> None:
    assert set(cases("attack")) == {case.name for case in CASES}


def test_every_step_that_is_named_is_one_of_the_doctor() -> None:
    """The page uses the names that the command shows."""
    steps = [step.name.replace(" ", "-") for step in STEPS]
    assert [name for name in set(cases("doctor")) if not any(fnmatchcase(step, name) for step in steps)] == []


def test_the_doctor_goes_on_after_a_failed_should_and_after_nothing_else() -> None:
    for step in STEPS:
        duties = {
            row[1]
            for row in ROWS
            for name in names_in(row[4])
            if name.startswith("doctor: ") and fnmatchcase(step.id, name.removeprefix("doctor: "))
        }
        assert step.duty == ("SHOULD" if duties == {"SHOULD"} else "MUST"), step.name


def test_every_vector_is_meant_by_a_requirement() -> None:
    ids = {request.vector for request in requests(wire_vectors())}
    patterns = set(cases("codec"))
    assert [pattern for pattern in patterns if not any(fnmatchcase(id, pattern) for id in ids)] == []
    streams = {"one", "bytes", "many", "across", "newline-alone", "long", "other-line-ends", "cut", "nothing"}
    unmeant = {id for id in ids if not any(fnmatchcase(id, pattern) for pattern in patterns)}
    assert unmeant <= streams


@pytest.mark.parametrize("pattern", sorted(set(cases("vectors"))))
def test_the_files_of_vectors_that_are_named_are_there(pattern: str) -> None:
    assert list((FOLDER / "vectors").glob(pattern))


def test_every_transcript_is_named_and_no_other() -> None:
    assert set(cases("transcript")) == {path.name for path in (FOLDER / "transcripts").iterdir()}


def test_the_tests_that_are_named_are_there() -> None:
    for name in sorted(set(cases("test"))):
        file, _, function = name.partition("::")
        assert Path(REPOSITORY / file).is_file(), name
        assert any(fnmatchcase(each, function) for each in functions_of(file) if each.startswith("test_")), (
            name
        )
