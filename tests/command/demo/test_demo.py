"""`stellwerk demo`: a tournament that anybody can run, twice if they like."""

from __future__ import annotations

import json
from pathlib import Path

from stellwerk_engine.games.shipped import RULE_SETS
from tests.command.program import refused, stellwerk


def test_it_plays_all_games_rates_the_bots_and_names_what_can_be_looked_at(tmp_path: Path) -> None:
    done = stellwerk("demo", "--rounds", "1", TMPDIR=str(tmp_path))

    assert done.returncode == 0, done.stderr
    [folder] = tmp_path.glob("stellwerk-demo-*")
    matches = [json.loads(line) for line in (folder / "matches.jsonl").read_bytes().splitlines()]
    assert {match["game"] for match in matches} == set(RULE_SETS)
    assert {name for match in matches for name in match["players"]} == {"random", "greedy", "planner"}
    ranking = [line.split()[:2] for line in done.stdout.splitlines() if line[:1].isdigit()]
    assert ranking[-3:] == [["1", "planner"], ["2", "greedy"], ["3", "random"]]
    assert f"$ stellwerk tournament run {folder} --rounds=1 --concurrency=2 --seed=demo" in done.stdout
    for name in ("report.html", "matches.jsonl"):
        assert str(folder / name) in done.stdout
    page = Path(next(line for line in done.stdout.splitlines() if "a game to watch" in line).split()[-1])
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert f"pages/{page.name}" in (folder / "report.html").read_text("utf-8")
    replay = next(line.split()[-1] for line in done.stdout.splitlines() if "replay show" in line)
    assert Path(replay).is_file()
    assert stellwerk("replay", "verify", replay).returncode == 0


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")

    assert "new or empty folder" in refused("demo", "--folder", str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_wrong_number_of_rounds_is_refused_in_one_line() -> None:
    assert "expected a whole number" in refused("demo", "--rounds", "0")
