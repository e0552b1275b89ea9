"""The mutants of `tests/mutants` fit the sources: this takes a moment, `make mutants` minutes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.mutants.places import changed, places
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

SOUND = Mutant("USA-05", "why", "IDLE_ROUNDS: Final = 10", "X", "usa", within="turn.IDLE_ROUNDS")


def test_every_mutant_can_be_applied_to_exactly_one_place() -> None:
    assert [problem for mutant in read_mutants() if (problem := unfitness(mutant))] == []


def test_every_rule_has_a_mutant() -> None:
    mutated = {mutant.rule for mutant in read_mutants()}
    assert [rule for rule in rule_ids() if rule not in mutated] == []


def test_every_mutant_stands_in_the_file_of_its_game() -> None:
    rules = rule_ids()
    assert [mutant for mutant in read_mutants() if rules.get(mutant.rule) != mutant.source] == []


def test_no_two_mutants_are_the_same() -> None:
    seen: dict[Mutant, Mutant] = {}
    twice = [
        mutant
        for mutant in read_mutants()
        if seen.setdefault(replace(mutant, why="", source=""), mutant) is not mutant
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
        (replace(SOUND, within="dining_car.IDLE_ROUNDS"), "occurs 0 times"),
        (replace(SOUND, within=None, file="server/stellwerk_engine/boards/mars.json"), "there is no file"),
        (replace(SOUND, find="IDLE_ROUNDS: Final = 11"), "occurs 0 times"),
        (replace(SOUND, find="IDLE_ROUNDS", within=None), "occurs 2 times"),
        (replace(SOUND, replace=SOUND.find), "changes nothing"),
    ],
)
def test_a_mutant_that_does_not_fit_is_named(changed: Mutant, fault: str) -> None:
    message = unfitness(changed)
    assert message
    assert fault in message
    assert message.startswith("usa.toml, USA-05, 'why'")


MOVED = """
class Drawing:
    # where it was moved to
    def check(self, card, place):
        return place.take(
            card,
            LOCOMOTIVE,  # never as the second card
        )

    def fallback(self): return LOCOMOTIVE
"""


@pytest.mark.parametrize(
    ("find", "within", "expected"),
    [
        ("    return place.take(card, LOCOMOTIVE)", "check", "        return place.none()"),
        ("LOCOMOTIVE", "Drawing.fallback", "fallback(self): return place.none()"),
        ("card, LOCOMOTIVE", "drawing.Drawing.check", "take(\n            place.none(),  # never"),
    ],
)
def test_code_is_found_where_it_was_moved_and_however_it_is_wrapped(
    tmp_path: Path, find: str, within: str, expected: str
) -> None:
    (tmp_path / "drawing.py").write_text(MOVED)
    (place,) = places(tmp_path, "*.py", find, within)
    indent = find[: len(find) - len(find.lstrip())]
    replaced = changed(MOVED, place, find, f"{indent}{'return ' if 'return' in find else ''}place.none()")
    assert expected in replaced


def test_code_that_is_there_twice_is_two_places(tmp_path: Path) -> None:
    (tmp_path / "drawing.py").write_text(MOVED)
    assert len(places(tmp_path, "*.py", "LOCOMOTIVE", None)) == 2
    assert len(places(tmp_path, "*.py", "LOCOMOTIVE", "Drawing")) == 2
    assert places(tmp_path, "*.py", "LOCOMOTIVE", "Walking") == []


def test_a_line_that_is_added_is_indented_as_the_place_is(tmp_path: Path) -> None:
    (tmp_path / "drawing.py").write_text("def check():\n        one()\n        two()\n")
    (place,) = places(tmp_path, "*.py", "    one()\n", "check")
    source = place.path.read_text()
    assert changed(source, place, "    one()\n", "    one()\n    more()\n") == (
        "def check():\n        one()\n        more()\n        two()\n"
    )


def test_an_entry_goes_with_the_comma_behind_it(tmp_path: Path) -> None:
    (tmp_path / "game.py").write_text("MENU = (\n    Draw(),\n    Claim(),\n)\n")
    (place,) = places(tmp_path, "*.py", "    Draw(),\n", "MENU")
    assert changed(place.path.read_text(), place, "    Draw(),\n", "") == "MENU = (\n    \n    Claim(),\n)\n"


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
    ("find", "replacement", "verdict"),
    [
        ("a + b", "a - b", Verdict("killed", "test_one_and_one")),
        ("a + b", "a + 1 * b", Verdict("survived", "SURVIVED 2 tests")),
    ],
)
def test_a_mutant_is_killed_by_a_test_or_survives_and_the_copy_is_mended(
    tmp_path: Path, find: str, replacement: str, verdict: Verdict
) -> None:
    source = toy_copy(tmp_path)
    mutant = Mutant("USA-05", "why", find, replacement, "usa", file="server/toy.py")
    tests = ["tests/test_toy.py::test_one_and_one", "tests/test_toy.py::test_one_and_zero"]
    assert judge(mutant, tests, tmp_path) == verdict
    assert source.read_text() == "def add(a, b): return a + b\n"


def test_a_mutant_that_cannot_be_imported_is_no_kill(tmp_path: Path) -> None:
    toy_copy(tmp_path)
    mutant = Mutant("USA-05", "why", "a + b", "a +", "usa", file="server/toy.py")
    verdict = judge(mutant, ["tests/test_toy.py::test_one_and_one"], tmp_path)
    assert verdict.outcome == "unfit"
    assert "SyntaxError" in verdict.text


def test_a_rule_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["USA-99"])
    assert stopped.value.code == 2
    assert "USA-99" in capsys.readouterr().err


def toy_copy(folder: Path) -> Path:
    """Make a repository with one source and one test, and return the source."""
    (folder / "server").mkdir()
    (folder / "tests").mkdir()
    (folder / "tests" / "test_toy.py").write_text(TOY_TEST)
    (folder / "pyproject.toml").write_text((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    source = folder / "server" / "toy.py"
    source.write_text("def add(a, b): return a + b\n")
    return source
