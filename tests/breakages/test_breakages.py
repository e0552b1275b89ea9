"""The tool that breaks the rooms around the rules: what it breaks, what it leaves, and what it says of it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.breakages import run
from tests.breakages.breakages import breakages
from tests.breakages.nearest import nearest_tests, read_imports
from tests.breakages.run import ROOMS, Broken, breakages_in, copy_with_python, draw, judge, main
from tests.mutants.run import REPOSITORY

HERE = Path("toy.py")


def broken_texts(source: str) -> list[str]:
    return [breakage.apply(source) for breakage in breakages(HERE, source)]


@pytest.mark.parametrize(
    ("source", "broken"),
    [
        ("x = a < b", ["x = (a <= b)"]),
        ("x = a < b <= c", ["x = (a <= b <= c)", "x = (a < b < c)"]),
        ("x = a in b", ["x = (a not in b)"]),
        ("x = a and b", ["x = (a or b)"]),
        ("x = not a", ["x = (a)"]),
        ("x = a + b", ["x = (a - b)"]),
        ("x = f(3)", ["x = f((4))"]),
        ("x = True", ["x = (False)"]),
        ("x = min(a)", ["x = (max(a))"]),
        ("x = a if c else b", ["x = (b if c else a)"]),
        ("f()", ["pass"]),
        ("x.y = z", ["pass"]),
        ("x += z", ["pass"]),
        ("def f():\n    raise Error(1)", ["def f():\n    pass"]),
        ("x = 'ü' * 2, y < z", ["x = 'ü' * (3), y < z", "x = 'ü' * 2, (y <= z)"]),
    ],
)
def test_one_place_is_broken_at_a_time(source: str, broken: list[str]) -> None:
    assert broken_texts(source) == broken


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring."""',
        "x: Literal[1, 2]",
        "def f(x: int = y) -> Final[3]: return x",
        "assert x == 3",
        "log.info('said', number=3)",
        "x = f'{a + 1}'",
        "if TYPE_CHECKING:\n    x = 3",
        "@dataclass(frozen=True)\nclass A: pass",
        "class A(Struct, gc=False): pass",
        "x = 'a' + b",
        "x = zip(a, b, strict=True)",
    ],
)
def test_what_is_for_people_or_for_other_tools_stays_as_it_is(source: str) -> None:
    assert broken_texts(source) == []


@cache
def breakages_of(room: str) -> list[Broken]:
    return list(breakages_in(room))


@pytest.mark.parametrize("room", ROOMS)
def test_every_breakage_of_a_room_compiles_and_says_where_it_is(room: str) -> None:
    of_room = breakages_of(room)
    assert len(of_room) > 100
    assert len(set(of_room)) == len(of_room)
    for broken in of_room[::50]:
        breakage = broken.breakage
        source = breakage.path.read_text("utf-8")
        text = breakage.apply(source)
        assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(source))
        assert str(broken).startswith(f"{room}: {breakage.path.relative_to(REPOSITORY)}:{breakage.line}: ")
        begin = breakage.line - 1
        assert text.splitlines()[:begin] == source.splitlines()[:begin]


def test_a_seed_draws_the_same_and_each_room_in_turn() -> None:
    by_room = {room: breakages_of(room) for room in ROOMS}
    drawn = list(draw(by_room, "a", 24))
    assert drawn == list(draw(by_room, "a", 48))[:24]
    assert drawn != list(draw(by_room, "b", 24))
    assert [broken.room for broken in drawn] == [*ROOMS] * 6
    assert len(set(drawn)) == 24


def test_the_nearest_tests_are_those_with_fewest_imports_between_them_and_the_module(tmp_path: Path) -> None:
    for file, text in {
        "server/room/inner.py": "",
        "server/room/outer.py": "from room.inner import f",
        "tests/room/helper.py": "import room.outer",
        "tests/room/test_near.py": "from room import inner",
        "tests/room/test_between.py": "from room.outer import g",
        "tests/room/test_far.py": "from tests.room.helper import h",
        "tests/room/test_other.py": "import json",
        "tests/elsewhere/test_near.py": "from room import inner",
    }.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    imports = read_imports(tmp_path, ("server", "tests"))
    found = nearest_tests(
        tmp_path / "server/room/inner.py",
        [tmp_path / "tests/room"],
        imports,
        (tmp_path / "server", tmp_path),
    )
    names = [file.name for file in found]
    assert names == ["test_near.py", "test_between.py", "test_far.py", "test_other.py"]


TOY = "def at_least(a, b): return a >= b\n"
TOY_TEST = """
import pathlib, subprocess, sys
import toy

def test_that_fails_anyway():
    assert toy.at_least(1, 2)

def test_that_fails_only_once():
    once = pathlib.Path(__file__).with_suffix(".failed")
    if not once.exists():
        once.touch()
        raise AssertionError

def test_a_program_of_its_own_says_so_too():
    words = [sys.executable, "-c", "import toy; print(toy.at_least(2, 1))"]
    assert subprocess.run(words, capture_output=True, text=True, env={}).stdout == "True\\n"

def test_equal():
    assert EQUAL
"""


@pytest.mark.parametrize(("equal", "outcome"), [("toy.at_least(1, 1)", "noticed"), ("True", "survived")])
def test_a_breakage_is_noticed_or_survives_and_the_copy_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, equal: str, outcome: str
) -> None:
    repository = tmp_path / "repository"
    for folder in ("server", "tests"):
        (repository / folder).mkdir(parents=True)
    (repository / "server" / "toy.py").write_text(TOY)
    (repository / "tests" / "test_toy.py").write_text(TOY_TEST.replace("EQUAL", equal))
    (repository / "pyproject.toml").write_text("")
    monkeypatch.setattr("tests.mutants.run.REPOSITORY", repository)
    monkeypatch.setattr(run, "REPOSITORY", repository)
    copy = copy_with_python(tmp_path / "copy")
    (breakage,) = breakages(repository / "server" / "toy.py", TOY)
    failing = set[str]()
    test = "tests/test_toy.py::test_equal" if outcome == "noticed" else ""
    assert judge(Broken("web", breakage), ["tests/test_toy.py"], copy, failing) == (outcome, test)
    assert failing == {f"tests/test_toy.py::test_that_fails_{when}" for when in ("anyway", "only_once")}
    assert (copy / "server" / "toy.py").read_text() == TOY


def test_a_line_with_nothing_to_break_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--only", "learn", "--at", "learn/rewards.py:1"])
    assert stopped.value.code == 2
    assert "nothing to break there" in capsys.readouterr().err
