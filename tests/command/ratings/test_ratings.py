"""`stellwerk ratings`: files of matches of any game become ratings, and wrong ones an error in one line."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.command.program import COMMAND, SECONDS, environment, refused, stellwerk


def match(*ranks: int, players: Sequence[str] = "ab", **fields: Any) -> str:  # any JSON value
    return json.dumps({"players": list(players), "ranks": ranks, **fields}) + "\n"


def duels(wins: int, losses: int) -> str:
    ranks = [(1, 2)] * wins + [(2, 1)] * losses
    return "".join(
        match(*rank, block=block, seats=[block % 2, 1 - block % 2]) for block, rank in enumerate(ranks)
    )


def report(file: Path, *words: str) -> dict[str, Any]:  # as JSON comes
    done = stellwerk("ratings", str(file), "--json", *words)
    assert (done.returncode, done.stderr) == (0, "")
    [line] = done.stdout.splitlines()
    read: dict[str, Any] = json.loads(line)
    return read


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "matches.jsonl"


def test_json_has_every_entrant_with_mean_0_and_its_interval(file: Path) -> None:
    file.write_text(duels(30, 15))

    printed = report(file)

    assert [entrant["name"] for entrant in printed["entrants"]] == ["a", "b"]
    assert sum(entrant["elo"] for entrant in printed["entrants"]) == pytest.approx(0)
    for entrant in printed["entrants"]:
        assert entrant["low"] < entrant["elo"] < entrant["high"]
        assert (entrant["matches"], entrant["blocks"]) == (45, 45)
        assert 0 < entrant["stderr"] < entrant["high"] - entrant["elo"]
    assert printed["warnings"] == []
    assert [effect["seat"] for effect in printed["seat_effects"]] == [0, 1]


def test_what_is_not_bounded_is_null(file: Path) -> None:
    file.write_text(duels(20, 0))

    winner, loser = report(file)["entrants"]

    assert (winner["name"], winner["bound"], winner["high"], winner["stderr"]) == (
        "a",
        "at_least",
        None,
        None,
    )
    assert winner["low"] is not None
    assert (loser["bound"], loser["low"]) == ("at_most", None)


def test_an_anchor_sets_the_scale(file: Path) -> None:
    file.write_text(duels(30, 15))

    by_name = {entrant["name"]: entrant for entrant in report(file, "--anchor", "b=1500")["entrants"]}

    assert (by_name["b"]["elo"], by_name["b"]["stderr"]) == (1500, 0)
    assert by_name["a"]["elo"] > 1550


def test_each_term_of_the_model_can_be_switched(file: Path) -> None:
    file.write_text(duels(20, 10) + match(1, 1, block="x") * 15)

    assert report(file, "--no-seats")["seat_effects"] == []
    assert report(file)["ties"] != report(file, "--ties", "half")["ties"] == []
    plain = report(file, "--no-seats", "--no-prior", "--ties", "davidson")["entrants"]
    assert plain[0]["elo"] - plain[1]["elo"] == pytest.approx(120.41, abs=0.02)  # odds of 2


def test_pairs_are_told_when_asked_for(file: Path) -> None:
    file.write_text(duels(30, 15))

    [pair] = report(file, "--pairs")["pairs"]

    assert (pair["better"], pair["than"]) == ("a", "b")
    assert 0.97 < pair["probability"] < 1
    assert report(file)["pairs"] == []


def test_tables_show_ratings_seats_and_what_is_no_rating(file: Path) -> None:
    file.write_text(duels(30, 15) + match(2, 1, 3, players="abc", block="t", game="trio"))

    done = stellwerk("ratings", str(file), "--pairs")

    assert (done.returncode, done.stderr) == (0, "")
    text = done.stdout
    assert text.startswith("46 matches in 46 blocks\n")
    for part in ("Tables of 2: 45 matches", "trio: 1 match\n", "Not ratings", "running elo", "seat 1 of 2"):
        assert part in text
    assert "a than b" in text
    assert "never won against anybody above, so only an upper limit is known: c" in text.replace(
        "\n         ", " "
    )


def test_what_one_deal_in_every_seat_was_worth_is_shown_for_each_table(file: Path) -> None:
    """Three of five deals are split, and chance would split a half."""
    blocks = [((1, 2), (2, 1)), ((2, 1), (1, 2)), ((1, 2), (1, 2)), ((2, 1), (1, 2)), ((2, 1), (2, 1))] * 20
    file.write_text(
        "".join(
            match(*ranks, block=number, rotation=rotation, game="usa", deal="same_in_block")
            for number, block in enumerate(blocks)
            for rotation, ranks in enumerate(block)
        )
    )

    [deal] = report(file)["deals"]
    assert (deal["game"], deal["players"], deal["blocks"]) == ("usa", 2, 100)
    assert deal["low"] < deal["worth"] < deal["high"]
    assert deal["worth"] == pytest.approx(1.25, abs=0.02)
    text = stellwerk("ratings", str(file)).stdout
    assert "One deal in every seat: how many single matches each match was worth\n" in text
    figures = f"{deal['worth']:.2f} +{deal['low']:.2f} to {deal['high']:.2f}"
    assert re.search(rf"^tables of two players .*\) +100 +{figures}  no gain", text, re.MULTILINE)

    file.write_text(file.read_text().replace("same_in_block", "new_each_match"))
    assert report(file)["deals"] == []
    assert "One deal" not in stellwerk("ratings", str(file)).stdout


def test_one_match_is_one_match(file: Path) -> None:
    file.write_text(match(2, 1))

    assert stellwerk("ratings", str(file)).stdout.startswith("1 match in 1 block\n")


def test_what_is_nothing_is_no_minus_nothing_and_an_interval_that_is_missing_is_explained(file: Path) -> None:
    file.write_text(match(1, 2, block=1) + match(2, 1, block=1))

    text = stellwerk("ratings", str(file)).stdout

    for name in "ab":
        assert re.search(rf"^\d +{name} +0 +2 +1\b", text, re.MULTILINE)
    assert not re.search(r"[-+]0\b", text)
    assert text.count("warning: too few blocks for any interval, so there is none: a, b\n") == 1


def test_a_warning_is_said_once_with_the_games_it_concerns(file: Path) -> None:
    few = "".join(match(*ranks, block=block, game="few") for block, ranks in enumerate([(1, 2), (2, 1)] * 2))
    many = "".join(match(1 + b % 2, 2 - b % 2, block=b, game="many") for b in range(40))
    file.write_text(few + many)

    text = stellwerk("ratings", str(file)).stdout.replace("\n         ", " ")

    assert text.count("(fewer than 16, or the equivalent)") == 1
    assert "(fewer than 16, or the equivalent): a, b (few)\n" in text


def test_pgn_is_read_from_standard_input_and_unfinished_games_are_counted() -> None:
    games = '[White "ann"]\n[Black "bob"]\n[Result "{}"]\n\n1. e4 {}\n\n'
    text = "".join(games.format(result, result) for result in ["1-0", "0-1", "1/2-1/2", "*"] * 5)

    done = subprocess.run(
        [*COMMAND, "ratings", "-"],
        input=text,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("15 matches in 15 blocks\n")
    assert "warning: 5 games without a result are left out" in done.stdout


def test_a_torn_last_line_is_left_out_with_a_warning(file: Path) -> None:
    file.write_text(duels(20, 10) + match(1, 2)[:-8])

    done = stellwerk("ratings", str(file))

    assert done.returncode == 0
    assert done.stdout.startswith("30 matches")
    assert "warning: the last line was not written to its end and is left out" in done.stdout


def test_control_characters_of_names_do_not_reach_the_terminal(file: Path) -> None:
    file.write_text(match(1, 2, players=["\x1b[31m", "b\nc"]))

    done = stellwerk("ratings", str(file))

    assert done.returncode == 0
    assert all(line.isprintable() for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "there is no match to rate"),
        (match(1, 2) + "{}\n", "line 2: not a match record"),
        (match(1, 2) + match(2, 1, players="aa"), 'line 2: "a" plays against itself'),
        (match(1, 2) + match(1, 2, 3), "line 2: 2 players, but 3 ranks"),
        (2 * match(1, 2, block=0, rotation=0), "line 2: block 0 is there twice; are these two tournaments?"),
        ("hello\nworld\n", "line 1: not a match record"),
        ("[1, 2]\n", "line 1: neither a record of a match nor a header of PGN"),
        ('[White "a"]\n', "line 1: this game has no header [Black]"),
    ],
)
def test_a_file_that_is_no_record_of_matches_is_named_with_its_line(
    file: Path, content: str, message: str
) -> None:
    file.write_text(content)

    error = refused("ratings", str(file))

    assert str(file) in error
    assert message in error


def test_what_is_not_utf_8_is_named_with_its_line(file: Path) -> None:
    file.write_bytes(match(1, 2).encode() + b'{"players": ["\xff"]}\n')

    assert "line 2: not UTF-8" in refused("ratings", str(file))


@pytest.mark.parametrize("anchor", ["a", "=3", "a=", "a=nan", "a=inf", "a=x", "a=1e9"])
def test_a_wrong_anchor_is_refused(file: Path, anchor: str) -> None:
    file.write_text(duels(2, 2))

    assert "expected NAME=ELO" in refused("ratings", str(file), "--anchor", anchor)


def test_an_anchor_that_does_not_play_is_refused(file: Path) -> None:
    file.write_text(duels(2, 2))

    assert "'zoe' plays in none of the matches" in refused("ratings", str(file), "--anchor", "zoe=1500")


def test_without_the_prior_infinite_ratings_are_refused(file: Path) -> None:
    file.write_text(duels(5, 0))

    assert "have no finite rating: a, b" in refused("ratings", str(file), "--no-prior")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert "cannot be read: No such file" in refused("ratings", str(tmp_path / "nothing"))
    assert "cannot be read: there is no matches.jsonl in this folder" in refused("ratings", str(tmp_path))


def test_the_same_block_of_a_cup_and_its_final_is_two_blocks(tmp_path: Path) -> None:
    """Folders and files count alike, and players are known by their names."""
    cup, final = tmp_path / "cup", tmp_path / "final"
    for folder in (cup, final):
        folder.mkdir()
        (folder / "matches.jsonl").write_text(
            "".join(
                match(*ranks, block=block, rotation=rotation, game="usa")
                for block in range(20)
                for rotation, ranks in enumerate([(1, 2), (1, 2) if block % 4 else (2, 1)])
            )
        )

    done = stellwerk("ratings", str(cup), str(final / "matches.jsonl"))

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("80 matches in 40 blocks\n")
    both = json.loads(stellwerk("ratings", str(cup), str(final), "--json").stdout)
    assert [each["name"] for each in both["entrants"]] == ["a", "b"]
    assert both["entrants"][0]["stderr"] < report(cup)["entrants"][0]["stderr"]


def test_versions_under_one_name_are_rated_as_one_with_a_warning(tmp_path: Path) -> None:
    for name, version in (("cup.jsonl", "1f3c"), ("final.jsonl", "77aa")):
        (tmp_path / name).write_text(
            "".join(match(*ranks, versions=[version, "9"]) for ranks in [(1, 2), (2, 1)] * 20)
        )
    files = [str(tmp_path / name) for name in ("cup.jsonl", "final.jsonl")]

    text = stellwerk("ratings", *files).stdout
    found = json.loads(stellwerk("ratings", *files, "--json").stdout)

    assert text.startswith("80 matches")
    warning = f"several versions are rated as one player: a (1f3c in {files[0]}; 77aa in {files[1]})"
    assert f"warning: {warning}" in text.replace("\n         ", " ")
    assert [(each["code"], each["entrants"]) for each in found["warnings"][-1:]] == [("versions", ["a"])]
    assert found["warnings"][-1]["message"] == warning
    assert "versions" not in [each["code"] for each in report(tmp_path / "cup.jsonl")["warnings"]]


def test_a_source_that_is_given_twice_is_refused(file: Path) -> None:
    file.write_text(duels(3, 3))

    error = refused("ratings", str(file.parent), str(file))

    assert f"{file}: is given twice, first as {file.parent}" in error
