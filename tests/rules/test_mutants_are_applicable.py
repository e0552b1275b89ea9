"""The mutants of `tests/mutants` fit the sources: this takes a moment, `make mutants` minutes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.mutants.run import (
    REPOSITORY,
    Mutant,
    Verdict,
    find_tests,
    judge,
    main,
    read_mutants,
    rule_ids,
    unfitness,
)

SOUND = Mutant("USA-05", "why", "server/stellwerk_engine/core/turn.py", "IDLE_ROUNDS: Final = 10", "X", "usa")


def test_every_mutant_can_be_applied_to_exactly_one_place() -> None:
    assert [problem for mutant in read_mutants() if (problem := unfitness(mutant))] == []


def test_every_rule_has_a_mutant() -> None:
    mutated = {mutant.rule for mutant in read_mutants()}
    assert [rule for rule in rule_ids() if rule not in mutated] == []


def test_every_mutant_stands_in_the_file_of_its_game() -> None:
    rules = rule_ids()
    assert [mutant for mutant in read_mutants() if rules.get(mutant.rule) != mutant.source] == []


def test_no_two_mutants_are_the_same() -> None:
    seen: dict[tuple[str, str, str, str], Mutant] = {}
    twice = [
        mutant
        for mutant in read_mutants()
        if seen.setdefault((mutant.rule, mutant.file, mutant.find, mutant.replace), mutant) is not mutant
    ]
    assert twice == []


# -- the runner --------------------------------------------------------------------------------------


def test_the_rules_of_the_pages_are_found() -> None:
    rules = rule_ids()
    assert rules["USA-17"] == "usa"
    assert rules["GEN-01"] == "general"
    assert {"card_game", "team_asia", "united_kingdom"} <= set(rules.values())


def test_a_mutant_that_fits_has_no_fault() -> None:
    assert unfitness(SOUND) is None


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        (replace(SOUND, file="server/stellwerk_engine/dining_car.py"), "there is no file"),
        (replace(SOUND, find="IDLE_ROUNDS: Final = 11"), "occurs 0 times"),
        (replace(SOUND, find="IDLE_ROUNDS"), "occurs 2 times"),
        (replace(SOUND, replace=SOUND.find), "changes nothing"),
    ],
)
def test_a_mutant_that_does_not_fit_is_named(changed: Mutant, fault: str) -> None:
    told = unfitness(changed)
    assert told
    assert fault in told
    assert told.startswith("usa.toml, USA-05, 'why'")


def test_tests_are_found_by_the_rules_in_their_docstrings(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "rules"
    folder.mkdir(parents=True)
    (folder / "test_one.py").write_text(
        '''
def test_a() -> None:
    """USA-05, GEN-03: both."""

def test_b() -> None:
    """USA-05 again, and XUSA-06."""

def test_c() -> None:
    pass

def helper() -> None:
    """USA-05"""
'''
    )
    assert find_tests(tmp_path / "tests") == {
        "USA-05": ["tests/rules/test_one.py::test_a", "tests/rules/test_one.py::test_b"],
        "GEN-03": ["tests/rules/test_one.py::test_a"],
    }


TOY_TEST = """
import toy

def test_one_and_one() -> None:
    assert toy.add(1, 1) == 2

def test_one_and_zero() -> None:
    assert toy.add(1, 0) == 1
"""


@pytest.mark.parametrize(
    ("found", "put", "verdict"),
    [
        ("a + b", "a - b", Verdict("killed", "test_one_and_one")),
        ("a + b", "a + 1 * b", Verdict("survived", "SURVIVED 2 tests")),
    ],
)
def test_a_mutant_is_killed_by_a_test_or_survives_and_the_copy_is_mended(
    tmp_path: Path, found: str, put: str, verdict: Verdict
) -> None:
    source = toy_copy(tmp_path)
    mutant = Mutant("USA-05", "why", "server/toy.py", found, put, "usa")
    tests = ["tests/test_toy.py::test_one_and_one", "tests/test_toy.py::test_one_and_zero"]
    assert judge(mutant, tests, tmp_path) == verdict
    assert source.read_text() == "def add(a, b): return a + b\n"


def test_a_mutant_that_cannot_be_imported_is_no_kill(tmp_path: Path) -> None:
    toy_copy(tmp_path)
    mutant = Mutant("USA-05", "why", "server/toy.py", "a + b", "a +", "usa")
    verdict = judge(mutant, ["tests/test_toy.py::test_one_and_one"], tmp_path)
    assert verdict.outcome == "unfit"
    assert "SyntaxError" in verdict.text


def test_a_rule_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["USA-99"])
    assert stopped.value.code == 2
    assert "USA-99" in capsys.readouterr().err


def toy_copy(folder: Path) -> Path:
    """A repository with one source and one test; the source."""
    (folder / "server").mkdir()
    (folder / "tests").mkdir()
    (folder / "tests" / "test_toy.py").write_text(TOY_TEST)
    (folder / "pyproject.toml").write_text((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    source = folder / "server" / "toy.py"
    source.write_text("def add(a, b): return a + b\n")
    return source
