"""`stellwerk demo`: four games, told so that they can be read on any terminal."""

from __future__ import annotations

import pytest

from stellwerk.__main__ import main
from stellwerk_engine.games import RULE_SETS
from tests.cli.program import refused, stellwerk


def told(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["demo", *words]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out.splitlines()


def test_it_plays_a_game_of_each_kind() -> None:
    done = stellwerk("demo")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    for rules in RULE_SETS.values():
        assert f"{rules.id}: {rules.title}" in lines
    assert sum(line.startswith("The end, after ") for line in lines) == len(RULE_SETS)


def test_it_fits_into_80_columns(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, told(capsys))) <= 80


def test_in_brief_it_tells_the_first_and_the_last_turns(capsys: pytest.CaptureFixture[str]) -> None:
    whole, brief = told(capsys, "usa"), told(capsys, "usa", "--brief")
    [gap] = [number for number, line in enumerate(brief) if "turns later" in line]
    assert brief[:gap] == whole[:gap]
    assert brief[gap + 1 :] == whole[-len(brief[gap + 1 :]) :]
    left_out = int(brief[gap].split()[1])
    assert left_out > 50
    assert len(whole) - len(brief) >= left_out - 1


def test_another_seed_shows_another_game(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "usa") == told(capsys, "usa")
    assert told(capsys, "usa", "--seed", "1") != told(capsys, "usa", "--seed", "2")


@pytest.mark.parametrize(
    ("words", "expected"), [(("use",), 'did you mean "usa"?'), (("usa", "--seed", ""), "cannot be empty")]
)
def test_a_wrong_argument_is_refused_in_one_line(words: tuple[str, ...], expected: str) -> None:
    assert expected in refused("demo", *words)
