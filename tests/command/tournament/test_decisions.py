"""The organizer's decisions as commands, in tournaments on a real disk that wait, are played, or are over."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from stellwerk_tournament.store.cup import Cup
from stellwerk_tournament.store.field import FILE
from tests.command.program import stellwerk
from tests.command.tournament.test_tournament import cup, lines_of, started, status, tournament

BOTS = [f'built_in = "random"\nname = "{name}"' for name in ("ann", "bea", "cat", "dot")]


@pytest.fixture
def played(tmp_path: Path) -> Path:
    folder = cup(tmp_path / "cup", BOTS, "[schedule]\nrounds = 4")
    tournament("run", folder, "--seed", "s")
    return folder


def refused(*words: str | Path) -> str:
    """Carry out a command that must be refused as the user's fault, in one line. Return that."""
    done = stellwerk("tournament", *map(str, words))
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    return line


def ratings(folder: Path) -> dict[str, Any]:
    printed: dict[str, Any] = json.loads(tournament("ratings", folder, "--json"))
    return printed


def elo_of(entrants: Sequence[dict[str, Any]]) -> dict[str, float]:
    return {each["name"]: each["elo"] for each in entrants}


def test_a_disqualified_bot_is_out_of_the_ranking_and_ratings_are_there_without_it(played: Path) -> None:
    before = ratings(played)
    printed = tournament("disqualify", played, "cat", "--reason", "plays for ann")
    assert printed == f"{played / FILE}: decision 1: cat is disqualified: plays for ann\n"
    after = ratings(played)
    assert elo_of(after["entrants"]) == elo_of(before["entrants"])  # what was played counts
    assert after["entrants"][-1]["name"] == "cat"
    assert after["disqualified"] == ["cat"]
    without = elo_of(after["without_disqualified"]["entrants"])
    assert set(without) == {"ann", "bea", "dot"}
    assert without != {name: elo for name, elo in elo_of(after["entrants"]).items() if name != "cat"}
    row = next(row for row in status(played)["rows"] if row["bot"] == "cat")
    assert row["out"] == "disqualified"
    assert tournament("ratings", played).splitlines()[4].split()[:2] == ["out", "cat"]
    assert list(csv.DictReader((played / "crosstable.csv").read_text().splitlines()))[-1]["bot"] == "cat"
    case = ElementTree.parse(played / "junit.xml").find(".//testcase[@name='cat']/failure")
    assert case is not None
    assert case.get("message") == "cat is disqualified: plays for ann"
    page = (played / "report.html").read_text()
    assert "Disqualified: 1 bot" in page
    assert "cat is disqualified: plays for ann" in page
    assert ": ok, 48 matches" in tournament("verify", played)


def test_a_finished_tournament_that_is_continued_calls_off_the_blocks_of_a_disqualified_bot(
    played: Path,
) -> None:
    tournament("disqualify", played, "cat", "--reason", "plays for ann")
    tournament("run", played, "--seed", "s", "--rounds", "6")
    lines = lines_of(played)
    assert all("cat" not in line["players"] for line in lines if line["round"] >= 4)
    assert len(lines) == 48 + 2 * 3 * 2
    assert status(played)["total"] == len(lines)
    assert ": ok, 60 matches" in tournament("verify", played)


def test_a_block_that_a_ruling_names_counts_for_no_rating_and_stays_elsewhere(played: Path) -> None:
    before = ratings(played)
    matches = {row["bot"]: row["matches"] for row in status(played)["rows"]}
    printed = tournament("rule", played, "--block", "3", "--block", "0", "--reason", "a broken table")
    assert "decision 1: not rated: blocks 0, 3: a broken table" in printed
    after = ratings(played)
    assert after["unrated_blocks"] == [0, 3]
    assert after["matches"] == before["matches"] - 4
    assert {row["bot"]: row["matches"] for row in status(played)["rows"]} == matches
    assert ": ok, 48 matches" in tournament("verify", played)


def test_announcements_are_in_the_report_and_the_status(played: Path) -> None:
    tournament("announce", played, "The final begins <at> eight.")
    assert "The final begins <at> eight." in tournament("status", played)
    assert "The final begins &lt;at&gt; eight." in (played / "report.html").read_text()


def test_a_runner_takes_in_decisions_while_it_plays(tmp_path: Path) -> None:
    """The tournament would take for hours: it ends because all bots but one are disqualified."""
    folder = cup(tmp_path / "cup", BOTS, "[schedule]\nrounds = 100000")
    with started("run", folder, "--seed", "s") as process:
        assert process.stdout is not None
        news = (json.loads(line) for line in process.stdout)
        assert any(each["type"] == "block_ended" for each in news)
        tournament("announce", folder, "Well played.")
        assert next(each for each in news if each["type"] == "decision")["decision"]["text"] == "Well played."
        for bot in ("ann", "bea", "cat"):
            tournament("disqualify", folder, bot, "--reason", "enough")
        shown = [each["decision"]["bot"] for each in news if each["type"] == "decision"]
        process.wait()
    assert shown == ["ann", "bea", "cat"]
    assert status(folder)["total"] == len(lines_of(folder))
    assert ": ok, " in tournament("verify", folder)


def test_a_paused_tournament_waits_and_goes_on(tmp_path: Path) -> None:
    folder = cup(tmp_path / "cup", BOTS, "[schedule]\nrounds = 1")
    tournament("pause", folder, "--reason", "an alarm")
    with started("run", folder) as process:
        assert process.stdout is not None
        tournament("unpause", folder)
        news = [json.loads(line) for line in process.stdout]
        assert process.wait() == 0
    assert [each["decision"]["type"] for each in news if each["type"] == "decision"] in ([], ["unpause"])
    assert len(lines_of(folder)) == 12
    assert status(folder)["paused"] is False


def test_what_cannot_be_decided_is_refused_with_what_to_do(played: Path, tmp_path: Path) -> None:
    assert 'there is no bot "kat"; did you mean "cat"?' in refused(
        "disqualify", played, "kat", "--reason", "x"
    )
    tournament("disqualify", played, "cat", "--reason", "x")
    again = refused("disqualify", played, "cat", "--reason", "y")
    assert "cat is disqualified already, by decision 1" in again
    assert "has no block 99: only complete blocks" in refused(
        "rule", played, "--block", "99", "--reason", "x"
    )
    tournament("rule", played, "--block", "1", "--reason", "x")
    assert "not rated already, by decision 2" in refused("rule", played, "--block", "1", "--reason", "x")
    assert "is not paused" in refused("unpause", played)
    tournament("pause", played, "--reason", "x")
    assert "is paused already, by decision 3" in refused("pause", played, "--reason", "x")
    fresh = cup(tmp_path / "fresh", BOTS)
    assert "run " in refused("disqualify", fresh, "ann", "--reason", "x")
    assert "--without ann" in refused("disqualify", fresh, "ann", "--reason", "x")
    assert "begin with" in refused("announce", tmp_path, "Hello.")
    assert len((played / FILE).read_bytes().splitlines()) == 3
    assert (fresh / FILE).read_bytes() == b""


@pytest.mark.parametrize("text", ["", " ", "two\nlines", "x" * 1001])
def test_a_text_that_others_could_not_read_is_refused(text: str, played: Path) -> None:
    done = stellwerk("tournament", "announce", str(played), text)
    assert done.returncode == 2
    assert "expected 1 to 1,000 characters that can be printed, in one line" in done.stderr
    assert not (played / FILE).read_bytes()


def test_verify_names_the_first_decision_that_was_changed(played: Path) -> None:
    for text in ("one", "two", "three"):
        tournament("announce", played, text)
    path = played / FILE
    path.write_bytes(path.read_bytes().replace(b"two", b"2"))
    done = stellwerk("tournament", "verify", str(played))
    assert done.returncode == 1
    assert f"{FILE}:3: does not follow the line before it" in done.stderr


@pytest.mark.parametrize(
    ("command", "words", "problem"),
    [
        ("disqualify", ("cat", "--reason", "x"), "cat is not a bot of this tournament"),
        ("rule", ("--block", "3", "--reason", "x"), "block 3 was not played"),
        ("announce", ("x",), "had [0-9,]+ bytes then, and has [0-9,]+ now"),
    ],
)
def test_verify_names_a_decision_about_what_there_is_not(
    command: str, words: Sequence[str], problem: str, played: Path, tmp_path: Path
) -> None:
    """The decisions of one tournament do not go with another one."""
    tournament(command, played, *words)
    other = cup(tmp_path / "other", [BOTS[0], BOTS[1], BOTS[3]], "[schedule]\nrounds = 1")
    tournament("run", other)
    (other / FILE).write_bytes((played / FILE).read_bytes())
    if "bytes" not in problem:
        size = (other / "matches.jsonl").stat().st_size
        line = json.loads((other / FILE).read_bytes())
        (other / FILE).write_text(json.dumps({**line, "after": size}, separators=(",", ":")) + "\n")
    done = stellwerk("tournament", "verify", str(other))
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert re.search(problem, done.stderr)


def test_a_cut_by_ranking_takes_no_disqualified_bot(played: Path, tmp_path: Path) -> None:
    tournament("disqualify", played, "cat", "--reason", "x")
    done = stellwerk("tournament", "init", str(tmp_path / "final"), "--from", str(played), "--top", "4")
    assert done.returncode == 2
    assert "only 3 of the bots" in done.stderr
    tournament("init", tmp_path / "final", "--from", played, "--top", "3")
    assert "cat" not in Cup(tmp_path / "final").settings.names
