"""`init`: a final out of a cup, and schedules for a budget; what `run` says before it plays."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from stellwerk.__main__ import main
from tests.command.program import stellwerk
from tests.command.tournament.test_tournament import cup, lines_of, tournament

BOT = """
import runpy, sys
sys.argv = ["bot", *sys.argv[1:]]
runpy.run_module("stellwerk_bots", run_name="__main__")
"""


def own(name: str, kind: str) -> str:
    command = shlex.join([sys.executable, "bots/bot.py", kind])
    return f'name = "{name}"\ncmd = {json.dumps(command)}'


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play a cup of bots in its folder. Two of them play as `greedy`, and win."""
    folder = tmp_path_factory.mktemp("final") / "cup"
    bots = [own("weak", "random"), own("one", "greedy"), 'built_in = "random"', own("two", "greedy")]
    cup(folder, bots, "concurrency = 2\n[clocks]\nmove_ms = 2000\n[schedule]\nrounds = 2")
    (folder / "bots").mkdir()
    (folder / "bots" / "bot.py").write_text(BOT)
    done = stellwerk("tournament", "run", str(folder), "--no-preflight")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == "24 matches in 12 blocks, 2 at a time"
    return folder


def test_a_final_takes_the_best_bots_of_a_cup_and_is_played_elsewhere(played: Path, tmp_path: Path) -> None:
    folder = tmp_path / "finals" / "spring"
    text = tournament("init", folder, "--from", played, "--top", "2", "--budget", "5")
    table = text.splitlines()
    assert {line.split()[1] for line in table[1:3]} == {"one", "two"}
    assert re.fullmatch(
        r"place 2 against 3: (one|two) is better than (weak|random) with .+; to decide it:", table[3]
    )
    assert "--play-off " in table[4]
    assert table[6] == 'kind = "round_robin", rounds = 2'
    assert table[7].startswith("4 matches in 2 blocks, 2 at a time; about 0:")
    assert table[7].endswith(f", by the matches of {played}")
    assert table[8] == "each bot plays 2 blocks; every two bots meet"
    settings = tomllib.loads((folder / "tournament.toml").read_text())
    assert settings["clocks"] == {"move_ms": 2000}
    assert [bot["name"] for bot in settings["bots"]] == [line.split()[1] for line in table[1:3]]
    tournament("run", folder)
    lines = lines_of(folder)
    assert len(lines) == 4
    assert not [fault for line in lines for seat in line["bots"] for fault in seat["faults"]]
    assert "ok, 4 matches" in tournament("verify", folder)


def test_a_play_off_is_between_the_two_bots_that_it_names(played: Path, tmp_path: Path) -> None:
    folder = tmp_path / "decider"
    tournament("init", folder, "--from", played, "--play-off", "two", "weak", "--title", "The decider")
    settings = tomllib.loads((folder / "tournament.toml").read_text())
    assert [bot["name"] for bot in settings["bots"]] == ["two", "weak"]
    assert settings["title"] == "The decider"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--play-off", "one", "tow"], 'there is no bot "tow"; did you mean "two"?'),
        (["--play-off", "one", "one"], "one cannot play against itself"),
        (["--play-off", "one", "two", "--top", "2"], "does not go with --top"),
    ],
)
def test_a_play_off_that_cannot_be_is_refused(
    words: list[str], problem: str, played: Path, tmp_path: Path
) -> None:
    done = stellwerk("tournament", "init", str(tmp_path / "new"), "--from", str(played), *words)
    assert done.returncode == 2
    assert problem in done.stderr
    assert not (tmp_path / "new").exists()


def test_a_new_file_has_the_title_that_was_asked_for(tmp_path: Path) -> None:
    tournament("init", tmp_path / "new", "--title", 'The "spring" cup')
    assert tomllib.loads((tmp_path / "new" / "tournament.toml").read_text())["title"] == 'The "spring" cup'
    done = stellwerk("tournament", "init", str(tmp_path / "other"), "--play-off", "ann", "bea")
    assert (done.returncode, "goes with --from only" in done.stderr) == (2, True)


def test_run_and_a_dry_run_say_what_the_matches_of_the_tournament_take(played: Path) -> None:
    text = tournament("run", played, "--dry-run", "--rounds", "10", "--budget", "13")
    first, _, head, *schedule, count, meet = text.splitlines()
    assert first.startswith("120 matches in 60 blocks, 2 at a time; about ")
    assert first.endswith(", by the matches of this tournament")
    assert head == "a schedule for 13 matches:"
    assert schedule == ["  [schedule]", '  kind = "round_robin"', "  rounds = 1"]
    assert count.startswith("12 matches in 6 blocks, 2 at a time; about ")
    assert meet == "each bot plays 3 blocks; every two bots meet"
    done = stellwerk(
        "tournament", "run", str(played), "--rounds", "3", "--concurrency", "1", "--no-preflight"
    )
    assert done.stderr.startswith("36 matches in 18 blocks, 24 played, 1 at a time; about ")


def test_a_schedule_counts_the_bots_that_are_still_to_be_added(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "cup"
    assert main(["tournament", "init", str(folder), "--bot=greedy", "--others=11", "--budget=50"]) == 0
    written, schedule, *lines = capsys.readouterr().out.splitlines()
    assert "written; add a [[bots]] table for each of the 11 other bots, then: " in written
    assert schedule == 'kind = "random", rounds = 4'
    assert lines[0].startswith("48 matches in 24 blocks, ")
    assert lines[1] == "each bot plays 4 blocks; 42 of 66 pairs of bots never meet"
    settings = tomllib.loads((folder / "tournament.toml").read_text())
    assert settings["bots"] == [{"built_in": "greedy"}]
    assert settings["schedule"] == {"kind": "random", "rounds": 4}
    final = ["tournament", "init", str(tmp_path / "final"), f"--from={folder}", "--others=1"]
    assert main(final) == 2
    assert "--others: does not go with --from" in capsys.readouterr().err


def test_a_budget_of_time_is_measured_with_a_trial_match(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "cup"
    assert main(["tournament", "init", str(folder), "--budget", "10m"]) == 0
    _, schedule, count, _ = capsys.readouterr().out.splitlines()
    assert schedule.startswith('kind = "round_robin", rounds = ')
    assert count.endswith(", if all bots think as long as greedy, by a trial on this machine")
    rounds = tomllib.loads((folder / "tournament.toml").read_text())["schedule"]["rounds"]
    assert schedule.endswith(f" {rounds}")
    assert rounds >= 5


def test_a_cup_that_has_not_ended_and_a_tie_are_told(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "unfinished"
    folder.mkdir()
    for name in ("board.json", "matches.jsonl"):
        (folder / name).write_bytes((played / name).read_bytes())
    text = (played / "tournament.toml").read_text()
    (folder / "tournament.toml").write_text(text.replace("rounds = 2", "rounds = 50"))
    assert main(["tournament", "init", str(tmp_path / "final"), "--from", str(folder), "--top", "3"]) == 0
    count = len(lines_of(played))
    assert f"{folder}: only {count} of 600 matches have been played" in capsys.readouterr().err
    (folder / "tournament.toml").write_text(text.replace('name = "two"', 'name = "three"'))
    assert main(["tournament", "init", str(tmp_path / "other"), "--from", str(folder)]) == 2
    assert "two has played, and is not in the file any more" in capsys.readouterr().err
