"""`stellwerk compare`: verdicts on real bots, where points come from, and when it stops."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import pytest

from stellwerk.__main__ import main
from stellwerk.compare.blocks import Blocks, PlayedDeal
from stellwerk.compare.deals import Comparison, plan_of
from stellwerk.compare.report import report_of
from stellwerk.compare.table import verdict_in_words
from stellwerk.matches.report import MatchReport
from stellwerk.shared.bot_arguments import bot_of
from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_engine.replays.reader import lines_of
from stellwerk_engine.replays.verify import verify
from stellwerk_processes.bench.levels import UNCONFINED
from stellwerk_processes.bot_spec import QUICK_BOTS
from stellwerk_processes.seat_report import Breakdown, SeatReport
from stellwerk_server.operate.settings import Time
from stellwerk_tournament.evidence.worth import Measure
from tests.command.program import SECONDS, refused, started, stellwerk

POINTS: Final = ("routes", "tickets_completed", "tickets_failed")
OF_THE_GAME: Final = ("seat", "team", "bot", "rank", "points", "breakdown", "asks")

RAISES: Final = """\
import os
from stellwerk_bots.client import Client
from stellwerk_bots.connection import default_address

class Raising:
    def __init__(self, start, seed_text):
        pass
    def answer(self, ask):
        return {"index": ask["vieww"]}

Client(default_address(), "x", Raising, token=os.environ["STELLWERK_TOKEN"]).run()
"""


def report(capsys: pytest.CaptureFixture[str], *words: str, code: int) -> dict[str, Any]:  # Any: JSON
    assert main(["compare", *words, "--json"]) == code
    captured = capsys.readouterr()
    assert captured.err == ""
    loaded: dict[str, Any] = json.loads(captured.out)
    assert loaded["exit_code"] == code
    return loaded


def python_bot(name: str) -> str:
    """Return a built-in bot as any program that is started."""
    command = shlex.join([sys.executable, "-m", "stellwerk_bots", name])
    return f"cmd={shlex.quote(command)} name={name}"


# -- verdicts ----------------------------------------------------------------------------------------


def test_the_better_version_is_found_and_its_points_are_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--jobs", "1", "--seed", "1", "--replays", str(tmp_path))
    better = report(capsys, "beginner", "greedy", *words, code=0)
    assert better["verdict"] == "better"
    strength = better["strength"]
    assert strength["blocks"] == 30
    assert strength["score"]["low"] > 0.5
    assert strength["points"]["low"] < strength["points"]["mean"] < strength["points"]["high"]
    assert strength["elo"]["low"] > 0
    assert strength["elo"]["mean"] is None  # no distance leads one to expect a score of 1

    parts = {part["part"]: part for part in better["parts"]}
    bonuses = [part for part in parts if part.startswith("bonus:")]
    assert bonuses
    for bot in ("old", "new"):
        points = sum(parts[part][bot] for part in (*POINTS, *bonuses))
        assert parts["points"][bot] == pytest.approx(points, abs=0.01)
        seats = [
            (seat["points"], match["unused_cards"][seat["seat"]])
            for match in better["matches"]
            for seat in match["seats"]
            if seat["bot"] == better[bot]
        ]
        for part, values in zip(("points", "unused_cards"), zip(*seats, strict=True), strict=True):
            assert parts[part][bot] == pytest.approx(sum(values) / len(values), abs=0.01)
    assert parts["points"]["difference"] == strength["points"]
    assert parts["answer_ms"]["new"] >= 0

    differences = [deal["difference"] for deal in better["deals"]]
    assert differences == sorted(differences[:-3]) + sorted(differences[-3:], reverse=True)
    best = better["deals"][-3]
    assert best["difference"] == sum(new - old for new, old in best["points"]) / 2
    for replay in best["replays"]:
        with Path(replay).open("rb") as file:
            assert verify(lines_of(file)).fault is None
    assert len(list(tmp_path.iterdir())) == 60


def test_the_worse_version_and_one_that_is_alike_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    worse = report(capsys, "greedy", "beginner", "--seed", "1", "--jobs", "1", code=1)
    assert worse["verdict"] == "worse"
    assert worse["strength"]["score"]["high"] < 0.5
    alike = report(capsys, "beginner", "beginner", "--seed", "1", "--jobs", "1", "--margin", "6", code=3)
    assert (alike["verdict"], alike["old"], alike["new"]) == ("alike", "beginner", "beginner-2")
    assert alike["strength"]["score"]["mean"] == 0.5  # each wins what the other wins in its seat
    assert alike["strength"]["score"]["low"] >= 0.44
    assert alike["strength"]["points"]["mean"] == 0


def test_a_comparison_ends_undecided_after_the_most_deals(capsys: pytest.CaptureFixture[str]) -> None:
    few = report(capsys, "beginner", "greedy", "--seed", "1", "--jobs", "1", "--most", "3", code=3)
    assert few["verdict"] == "undecided"
    assert few["strength"]["score"] == {"mean": 1.0, "low": None, "high": None}
    assert few["strength"]["elo"] == {"mean": None, "low": None, "high": None}
    assert main(["compare", "beginner", "greedy", "--seed", "1", "--jobs", "1", "--most", "2"]) == 3
    assert "too few deals for an interval" in capsys.readouterr().out


def test_what_one_deal_in_both_seats_was_worth_is_shown_by_wins_and_by_points(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("compare", "greedy", "planner", "--seed", "1", "--jobs", "1")
    [deals] = [game["deals"] for game in report(capsys, *words[1:], code=0)["games"]]
    for worth in deals.values():
        assert worth["low"] < worth["worth"] < worth["high"]
        assert worth["blocks"] >= 30
    assert main([*words]) == 0
    text = capsys.readouterr().out
    for measure in ("wins", "points"):
        worth = deals[measure]
        interval = f"(95 %: {worth['low']:.2f} to {worth['high']:.2f})"
        assert (
            f"deals   by {measure}, each match was worth {worth['worth']:.2f} single ones {interval}" in text
        )
    few = report(capsys, *words[1:], "--most", "3", code=3)
    assert few["games"][0]["deals"] == {"wins": None, "points": None}


def test_ctrl_c_shows_what_is_known_so_far(tmp_path: Path) -> None:
    words = ("compare", "beginner", "beginner", "--margin", "0", "--most", "100000", "--jobs", "1")
    with started(*words, "--replays", str(tmp_path)) as process:
        until = time.monotonic() + SECONDS
        while len(list(tmp_path.iterdir())) < 2 * 32 and time.monotonic() < until:
            assert process.poll() is None
            os.sched_yield()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, err) == (130, "")
    assert "undecided: nothing shows yet which of beginner-2 and beginner is better" in out
    assert "score   50.0 % (95 %: " in out


# -- how it is played --------------------------------------------------------------------------------


def test_built_in_bots_make_the_same_moves_here_and_as_processes(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--game", "usa", "--game", "card_game:3", "--seed", "7", "--most", "2")
    here = report(capsys, "greedy", "planner", *words, code=3)
    processes = report(capsys, "greedy", python_bot("planner"), *words, code=3)
    assert (here["in_process"], processes["in_process"]) == (True, False)
    assert processes["faults"] == []
    assert timeless(here) == timeless(processes)
    seats = [seat for match in processes["matches"] for seat in match["seats"]]
    assert {seat["bot"] for seat in seats} == {"greedy", "planner", "greedy-2"}
    assert "greedy" in QUICK_BOTS  # so it sat in the server
    assert {seat["bot"] for seat in seats if seat.get("process") == "house"} == {"greedy", "greedy-2"}


def test_a_budget_that_is_set_around_the_command_is_the_searchers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if it were in the bot's words, unless these have one."""
    words = ("--seed", "b", "--most", "1")
    in_words = report(capsys, "greedy", "searcher env.STELLWERK_BOT_BUDGET=3", *words, code=3)
    monkeypatch.setenv("STELLWERK_BOT_BUDGET", "3")
    around = report(capsys, "greedy", "searcher", *words, code=3)
    assert around["in_process"] is False
    assert timeless(around) == timeless(in_words)
    assert bot_of("--bot", "searcher env.STELLWERK_BOT_BUDGET=5").environment == {"STELLWERK_BOT_BUDGET": "5"}
    assert bot_of("--bot", "greedy").environment == {}
    monkeypatch.setenv("STELLWERK_BOT_BUDGET", "many")
    assert main(["compare", "greedy", "searcher", *words]) == 1
    assert "expected a number like 200 or a time like 500ms" in "".join(capsys.readouterr())


def timeless(compared: Mapping[str, Any]) -> list[object]:  # Any: JSON
    """Return the matches without what a second run changes."""
    return [
        [match["match"], match["seed"], match["turns"], match["unused_cards"]]
        + [[seat[key] for key in OF_THE_GAME] for seat in match["seats"]]
        for match in compared["matches"]
    ]


def test_neither_jobs_nor_their_order_change_a_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (
        report(capsys, "random", "beginner", "--seed", "j", "--most", "6", "--jobs", jobs, code=3)
        for jobs in ("1", "2")
    )
    assert timeless(one) == timeless(two)


def test_both_versions_have_the_same_deals_seats_and_opponents(capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "--game",
        "card_game:4",
        "--other",
        "random",
        "--other",
        "beginner",
        "--most",
        "6",
        "--jobs",
        "1",
    )
    matches = report(capsys, "random", "beginner", *words, code=3)["matches"]
    tables = [[seat["bot"] for seat in match["seats"]] for match in matches]
    pairs: Counter[tuple[int, ...]] = Counter()
    assert [match["seed"] for match in matches[::2]] == [match["seed"] for match in matches[1::2]]
    for first, second in zip(tables[::2], tables[1::2], strict=True):
        swapped = {"random": "beginner", "beginner": "random"}
        assert [swapped.get(bot, bot) for bot in first] == second
        pairs[tuple(seat for seat, bot in enumerate(first) if bot in swapped)] += 1
        assert set(first) == {"random", "beginner", "random-2", "beginner-2"}
    assert len(pairs) == 6  # every pair of the four seats


def test_partners_are_one_bot_and_copies_of_others_have_names(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--game", "team_asia:6", "--other", "random", "--most", "1", "--jobs", "1")
    matches = report(capsys, "random", "beginner", *words, code=3)["matches"]
    assert Counter(seat["bot"] for match in matches for seat in match["seats"]) == {
        "random": 4,
        "beginner": 4,
        "random-2": 4,
    }
    words = ("--game", "usa:4", "--other", "random", "--most", "1", "--jobs", "1")
    matches = report(capsys, "random", "beginner", *words, code=3)["matches"]
    assert {seat["bot"] for seat in matches[0]["seats"]} == {"random", "beginner", "random-2", "random-2.2"}


# -- what goes wrong ---------------------------------------------------------------------------------


@pytest.fixture
def raising(tmp_path: Path) -> str:
    """Return a bot whose first answer is an exception, as a SPEC."""
    bot = tmp_path / "raises.py"
    bot.write_text(RAISES)
    return f"name=raising cmd={shlex.quote(shlex.join([sys.executable, str(bot)]))}"


def test_the_first_crash_ends_a_comparison_with_traceback_and_doctor(raising: str) -> None:
    done = stellwerk("compare", "greedy", raising, "--seed", "1", "--jobs", "1")
    assert done.returncode == 1, done.stderr
    assert "broken: a bot failed, which ends a comparison without --keep-going (0 deals" in done.stdout
    lines = done.stdout.splitlines()
    crash = "raising: crash, ended with exit status 1 before the match did (usa of 2, block 0, rotation 0"
    [at] = [number for number, line in enumerate(lines) if line.startswith(crash)]
    traceback = [line.strip() for line in lines[at:] if line.startswith("    | ")]
    assert traceback[-1] == "| KeyError: 'vieww'"
    assert '|     return {"index": ask["vieww"]}' in traceback
    assert "raising was at fault in 1 of 1 match" in lines
    [doctor] = [line for line in lines if line.startswith("more on raising: ")]
    assert f" kit doctor -- {shlex.quote(sys.executable)} " in doctor


def test_json_has_the_crash_that_ended_a_comparison(raising: str, capsys: pytest.CaptureFixture[str]) -> None:
    broken = report(capsys, "greedy", raising, "--seed", "1", "--jobs", "1", code=1)
    assert (broken["verdict"], broken["strength"], broken["faulty"]) == ("broken", None, {"raising": 1})
    [found] = broken["faults"]
    assert (found["bot"], found["fault"]["kind"]) == ("raising", "crash")
    assert found["fault"]["last_lines"][-1] == "KeyError: 'vieww'"
    command = shlex.split(broken["doctors"]["raising"])
    assert command[command.index("doctor") + 1 :][:2] == ["--", sys.executable]
    assert [match["number"] for match in broken["matches"]] == [0]


def test_keep_going_plays_on_after_a_crash(raising: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("greedy", raising, "--seed", "1", "--jobs", "1", "--most", "2", "--keep-going")
    whole = report(capsys, *words, code=1)
    assert (whole["verdict"], whole["strength"]["blocks"]) == ("undecided", 2)
    assert whole["faulty"] == {"raising": 4}
    assert main(["compare", *words]) == 1
    out = capsys.readouterr().out
    assert out.count("raising: crash") == out.count("KeyError: 'vieww'") == 1
    assert "raising was at fault in 4 of 4 matches" in out


def test_a_bot_that_cannot_start_ends_the_comparison_in_one_line(tmp_path: Path) -> None:
    bot = tmp_path / "broken.py"
    bot.write_text("import no_such_module")
    spec = f"name=broken cmd={shlex.quote(shlex.join([sys.executable, str(bot)]))}"
    line = refused("compare", "greedy", spec, "--jobs", "1", code=1)
    assert line.startswith("stellwerk: broken: start failure, ended with exit status 1 before it logged in")
    assert "No module named 'no_such_module'" in line


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("gredy", "greedy"), 'OLD: word 1: there is no built-in bot "gredy"; did you mean "greedy"'),
        (("greedy", "cmd=./no/such/bot"), "NEW: "),
        (
            ("greedy", "planner", "--game", "usa", "--game", "use"),
            'there is no game "use"; did you mean "usa"',
        ),
        (("greedy", "planner", "--game", "usa", "--game", "usa"), "--game usa: this game is given twice"),
        (("greedy", "planner", "--game", "usa:9"), "usa"),
        (("greedy", "planner", "--other", "random"), "--other: the two versions fill all seats"),
        (("greedy", "planner", "--margin", "x"), "expected a number from 0 to 50"),
        (("greedy", "planner", "--most", "0"), "expected a whole number from 1 to 1000000"),
        (("greedy", "planner", "--replays", "/dev/null/x"), "cannot be written"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    words: tuple[str, ...], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["compare", *words])
    captured = capsys.readouterr()
    assert (code, captured.out) == (2, "")
    [line] = captured.err.splitlines()
    assert expected in line


# -- the evidence ------------------------------------------------------------------------------------


def deal(number: int, *points: tuple[int, int]) -> PlayedDeal:
    """Make a deal with these points of the new version and the old in its two matches."""
    return PlayedDeal(number, [match_of(number, {"new": new, "old": old}) for new, old in points])


def match_of(block: int, points: Mapping[str, int]) -> MatchReport:
    seats = tuple(
        SeatReport(
            seat=seat,
            team=seat,
            bot=bot,
            rank=1 + sum(other > points[bot] for other in points.values()),
            points=points[bot],
            breakdown=Breakdown(points[bot], (), (), 0),
            faults=(),
            defaults=0,
            asks=1,
            used_ms=1,
            slowest_ms=1,
        )
        for seat, bot in enumerate(points)
    )
    return MatchReport("m", 0, block, f"s/{block}", 1, "trains", seats, (0,) * len(seats))


def blocks_of(deals: Sequence[PlayedDeal], games: int = 1, by: Measure = "wins") -> Blocks:
    margin = 0.02 if by == "wins" else 2.0
    blocks = Blocks("old", "new", by, margin, [GameChoice("usa", 2, (), shipped_board("usa"))] * games)
    for each in deals:
        blocks.add(each)
    return blocks


def test_a_verdict_needs_enough_blocks_and_counts_games_apart() -> None:
    won = [deal(number, (2, 1), (2, 1)) for number in range(29)]
    assert blocks_of(won, games=2).verdict() == "undecided"
    blocks = blocks_of([*won, deal(29, (2, 1), (2, 1))], games=2)
    assert blocks.verdict() == "better"
    assert blocks.is_round
    assert [lead.wins.count for lead in blocks.evidence.by_game.values()] == [15, 15]


def test_the_verdict_names_points_if_they_alone_are_certain() -> None:
    """Few points more in each deal, and as many matches won as lost."""
    undecided, points = verdict_on([deal(number, (41 + number % 2, 20), (10, 11)) for number in range(60)])
    assert undecided.startswith("undecided: nothing shows yet which of new and old is better (60 deals")
    assert points == "new gets more points than old, though it is not known to win more often"
    _, fewer = verdict_on([deal(number, (11, 10), (20, 41 + number % 2)) for number in range(60)])
    assert fewer.startswith("old gets more points than new")
    [better] = verdict_on([deal(number, (2, 1), (2, 1)) for number in range(60)])  # as the score shows
    assert better.startswith("better: new wins more often than old")
    assert len(verdict_on([deal(number, (2, 1), (1, 2)) for number in range(60)])) == 1


def test_points_decide_if_they_were_chosen_and_the_verdict_says_what_wins_show() -> None:
    """Each won match is narrow, and each lost one costs a lot."""
    narrow = [deal(number, (12, 11), (12, 11 + 90 * (number % 3 == 0))) for number in range(90)]
    assert [line.partition(" (")[0] for line in verdict_on(narrow, "points")] == [
        "worse: new gets fewer points than old",
        "new wins more often than old, though it gets fewer points",
    ]
    assert [line.partition(" (")[0] for line in verdict_on(narrow)] == [
        "better: new wins more often than old",
        "old gets more points than new, though it wins less often",
    ]
    ahead = [deal(number, (60 + number % 2, 20), (10, 11)) for number in range(60)]
    assert verdict_on(ahead, "points")[0].startswith("better: new gets more points than old (60 deals")
    assert len(verdict_on(ahead, "points")) == 1
    same = [deal(number, (20, 20), (20, 20)) for number in range(160)]
    assert verdict_on(same, "points")[0].startswith(
        "alike: new and old differ by at most 2 points (160 deals"
    )
    few = verdict_on(same[:40], "points")[0]
    assert few.startswith("undecided: nothing shows yet which of new and old gets more points")


def test_the_measure_is_in_json_and_junit(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "compare.xml"
    words = ("greedy", "planner", "--by", "points", "--seed", "1", "--jobs", "1", "--junit", str(path))
    better = report(capsys, *words, code=0)
    assert (better["by"], better["margin"], better["verdict"]) == ("points", 2.0, "better")
    [case] = ElementTree.parse(path).getroot().iter("testcase")
    assert case.get("name") == "planner better than greedy by points"
    assert [mark.tag for mark in case] == ["system-out"]
    assert "better: planner gets more points than greedy" in (case[0].text or "")

    report(capsys, *words, "--most", "2", code=3)
    [case] = ElementTree.parse(path).getroot().iter("testcase")
    assert [(mark.tag, mark.get("type")) for mark in case] == [("failure", "undecided")]
    assert "cannot be written" in refused("compare", *words[:-1], str(tmp_path))


def verdict_on(deals: Sequence[PlayedDeal], by: Measure = "wins") -> list[str]:
    blocks = blocks_of(deals, by=by)
    plan = plan_of(blocks.choices, [bot_of("OLD", "greedy"), bot_of("NEW", "planner")], "s", len(deals))
    comparison = Comparison(plan, Time(), UNCONFINED, replays=None, jobs=1, keeps_going=False)
    return list(verdict_in_words(report_of(comparison, blocks, blocks.verdict(), 0, "")))


def test_the_largest_swings_of_both_signs_are_named() -> None:
    blocks = blocks_of([deal(number, (points, 0)) for number, points in enumerate(range(-5, 6))])
    assert [swing.difference for swing in blocks.swings()] == [-5, -4, -3, 5, 4, 3]
    assert [swing.block for swing in blocks.swings()] == [0, 1, 2, 10, 9, 8]
