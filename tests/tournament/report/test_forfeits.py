"""Forfeits and suspensions in the files that are made of the matches."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace as replace_struct

from stellwerk_processes.faults import Fault
from stellwerk_tournament.config.conduct import STANDARD
from stellwerk_tournament.ratings.ratings import Ratings, rate
from stellwerk_tournament.report.derived import cross_table, junit, ratings_json, report_page
from stellwerk_tournament.report.forfeits import REASONS
from stellwerk_tournament.store.conduct import GRAVEST_FIRST, Suspensions, judged
from stellwerk_tournament.store.cup import Cup
from stellwerk_tournament.store.match_line import MatchLine, blocks_of, outcome_of
from tests.tournament.report.report_tournaments import cup_of, line, settings_for
from tests.tournament.report.test_report import read

NEVER = Fault("start_failure", 1, "never logged in")


@pytest.fixture
def cup(tmp_path: Path) -> Cup:
    """Blocks of two: "best" beats all, but does not start from block 6 on, and is suspended after block 9.
    Of "card_game" it had no match."""
    settings = settings_for(tmp_path, ["best", "good", "bad", "late"], (("usa", 2), ("card_game", 2)))
    pairs = [("best", "good"), ("best", "bad"), ("good", "bad")]
    lines: list[MatchLine] = []
    for number in range(12):
        one, other = pairs[number % 3]
        upset = number in (2, 4)
        for rotation in range(2):
            names = (one, other) if rotation == 0 else (other, one)
            points = [50 if (name == one) != upset else 20 for name in names]
            match = line(number, rotation, names, points)
            if number >= 6 and "best" in names:  # by the rules it wins all the same
                seats = tuple(
                    replace_struct(seat, faults=(NEVER,), defaults=40) if seat.bot == "best" else seat
                    for seat in match.bots
                )
                match = replace_struct(match, bots=seats)
            lines.append(match)
    lines.append(line(12, 0, ("good", "bad"), [9, 1], game="card_game"))
    lines.append(line(12, 1, ("bad", "good"), [1, 9], game="card_game"))
    return cup_of(tmp_path, settings, in_order(lines))


def in_order(lines: list[MatchLine]) -> tuple[MatchLine, ...]:
    """Judge them block by block."""
    suspensions, found = Suspensions(STANDARD), list[MatchLine]()
    for matches in blocks_of(lines):
        block = judged(matches, STANDARD, suspensions.names)
        suspensions.add(block)
        found += block
    return tuple(found)


def test_a_suspended_bot_stands_below_the_ranking_in_every_file(cup: Cup) -> None:
    """By its rating with forfeits it would not be last."""
    assert set(cup.suspensions) == {"best"}
    page = read(report_page(cup))
    rows = page.part("ranking").all("tbody")
    names = [
        [row.all("th", "name")[0].text for row in body.all("tr") if row.all("th", "name")] for body in rows
    ]
    assert names == [["good", "bad"], ["late"], ["best"]]
    titles = [row.text for body in rows for row in body.all("tr", "group")]
    assert titles == ["Ranked: 2 bots", "Without a rating: 1 bot", "Suspended: 1 bot"]
    assert [row["bot"] for row in csv.DictReader(cross_table(cup).decode().splitlines())][-1] == "best"
    told = json.loads(ratings_json(cup))
    assert [entrant["name"] for entrant in told["entrants"]] == ["good", "bad", "best"]
    assert told["entrants"][1]["superiority"] is told["entrants"][2]["superiority"] is None
    assert told["suspended"] == ["best"]


def test_the_report_rates_with_and_without_forfeits(cup: Cup) -> None:
    clean = [outcome_of(match) for match in cup.lines() if not match.forfeits]
    without = cup.rated_without_forfeits
    assert isinstance(without, Ratings)
    assert without.entrants == rate(clean).entrants
    assert without.entrants[0].name == "best"
    told = json.loads(ratings_json(cup))
    assert told["without_forfeits"]["entrants"][0]["name"] == "best"
    assert told["without_forfeits"]["matches"] == len(clean) == 18
    section = read(report_page(cup)).part("forfeits")
    [row] = [row for row in section.all("tr") if row.all("th", "name") and "best" in row.text]
    cells = [cell.text for cell in row.all("td")]
    assert cells[:4] == ["16", "8", "2", "6"]
    assert cells[4] == "9"
    assert cells[7] == "8"
    heads = [head.text for head in section.all("thead")[0].all("th")]
    assert {"never started", "Elo", "Elo without", "suspended after block"} <= set(heads)


def test_too_few_matches_without_forfeits_are_named(cup: Cup) -> None:
    only = cup_of(cup.folder, cup.settings, [match for match in cup.lines() if match.forfeits])
    assert "There is none here: there is no match to rate" in read(report_page(only)).part("forfeits").text
    assert json.loads(ratings_json(only))["without_forfeits"] is None


def test_without_forfeits_the_files_say_so_or_nothing(cup: Cup) -> None:
    clean = cup_of(cup.folder, cup.settings, [match for match in cup.lines() if not match.forfeits])
    assert "No bot forfeited a match." in read(report_page(clean)).part("forfeits").text
    assert set(json.loads(ratings_json(clean))).isdisjoint({"suspended", "without_forfeits"})


def test_junit_counts_forfeits_and_skips_what_a_suspended_bot_never_played(cup: Cup) -> None:
    usa, cards = ElementTree.fromstring(junit(cup))
    cases = {(suite.get("name"), case.get("name")): list(case) for suite in (usa, cards) for case in suite}
    [failure] = cases["usa", "best"]
    assert (failure.tag, failure.get("type")) == ("failure", "start_failure")
    assert "8 of 16 matches forfeited: never_started 6, suspended 2" in (failure.get("message") or "")
    [skipped] = cases["card_game", "best"]
    assert (skipped.tag, skipped.get("message")) == ("skipped", "suspended after block 9")
    assert cases["card_game", "late"] == cases["usa", "good"] == []


def test_a_forfeit_is_marked_in_the_list_of_matches_and_conduct_is_a_condition(cup: Cup) -> None:
    page = read(report_page(cup))
    assert "1. good 20, 2. best 50 (forfeit)" in page.part("matches").text
    assert "after 5 forfeits in a row it is suspended" in page.part("conditions").text


def test_every_reason_has_its_words() -> None:
    assert set(REASONS) == set(GRAVEST_FIRST)
