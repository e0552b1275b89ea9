"""Blind draws in the report and in JSON: figures with the chance of the highest, and no accusation."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from stellwerk_engine.replays.blind_draws import BlindDraws
from stellwerk_tournament.report.blind_draws import blind_file
from stellwerk_tournament.report.derived import blind_draws_json, report_page
from stellwerk_tournament.store.blind_sums import BlindSums
from stellwerk_tournament.store.cup import Cup
from tests.tournament.report.report_tournaments import cup_of, played

HONEST = BlindDraws(20, 3, 2.5, 2.0)
PEEKING = BlindDraws(20, 6, 2.5, 2.0)


def cup_with(folder: Path, peeker: str = "") -> Cup:
    """Return a tournament of three bots in which one of them draws too many locomotives."""
    made = played(folder, bots=3, deals=8, faulty=False)
    lines = [
        replace(line, blind_draws=tuple(PEEKING if name == peeker else HONEST for name in line.players))
        for line in made.lines
    ]
    return cup_of(folder, made.settings, lines)


def test_the_report_shows_the_figures_of_each_bot_and_the_chance_of_the_highest(tmp_path: Path) -> None:
    page = report_page(cup_with(tmp_path, "greedy")).decode()
    section = page[page.index('id="blind-draws"') : page.index('id="matches"')]
    assert "z +9.90 of greedy is the highest of 3 bots; chance alone gives as much in at most 1 of" in section
    row = section[section.index("greedy</span>") :].partition("</tr>")[0]
    assert re.findall(r">([+\d.]+)</td>", row) == ["640", "192", "80.0", "+9.90"]
    assert "proves nothing" in section


def test_the_json_has_the_figures(tmp_path: Path) -> None:
    content = json.loads(blind_draws_json(cup_with(tmp_path)))
    assert [each["name"] for each in content["entrants"]] == ["planner", "greedy", "searcher"]
    assert content["entrants"][0] == {
        "name": "planner",
        "cards": 640,
        "locomotives": 96,
        "expected": 80.0,
        "z": content["highest"]["z"],
    }
    assert content["highest"]["bots"] == 3


def test_matches_without_blind_draws_say_nothing(tmp_path: Path) -> None:
    made = played(tmp_path, bots=2, deals=2)
    cup = cup_of(tmp_path, made.settings, made.lines)
    assert json.loads(blind_draws_json(cup))["highest"] is None
    assert "No bot drew a card blind." in report_page(cup).decode()


@pytest.mark.parametrize(
    ("excess", "bots", "words"),
    [
        (0, 2, "the highest of 2 bots; chance alone usually gives as much"),
        (20, 1, "the only bot; chance alone gives as much in at most 2.3 % of tournaments"),
        (20, 10, "the highest of 10 bots; chance alone gives as much in at most 22.8 % of tournaments"),
        (50, 2, "the highest of 2 bots; chance alone gives as much in at most 1 of 1,744,278 tournaments"),
        (
            900,
            2,
            "the highest of 2 bots; chance alone gives as much in at most 1 of 1,000,000,000 tournaments",
        ),
    ],
)
def test_the_chance_of_the_highest_grows_with_the_number_of_bots(excess: int, bots: int, words: str) -> None:
    def sums(difference: int) -> BlindSums:
        return BlindSums(1000, 100 + difference, 100.0, least=100.0, most=100.0)

    names = ["a", *(f"b{number}" for number in range(bots - 1))]
    file = blind_file({name: sums(excess if name == "a" else -1) for name in names}, names)
    assert file.highest is not None
    assert file.highest.words == f"z +{excess / 10:.2f} of a is {words}"
