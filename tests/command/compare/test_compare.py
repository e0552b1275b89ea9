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

import pytest

from stellwerk.__main__ import main
from stellwerk.compare.block import PlayedBlock
from stellwerk.compare.evidence import Evidence
from stellwerk.lab.rows import Row
from stellwerk.shared.bot_arguments import bot_of
from stellwerk_engine.replays.reader import lines_of
from stellwerk_engine.replays.verify import verify
from stellwerk_processes.bot_spec import QUICK_BOTS
from tests.command.program import SECONDS, refused, started, stellwerk

POINTS: Final = ("routes", "tickets_completed", "tickets_failed")
TIMES: Final = ("used_ms", "slowest_ms")

LEAVES: Final = """\
import os, sys
from stellwerk_bots.client import Client
from stellwerk_bots.connection import default_address

class Leaving:
    def __init__(self, start, seed_text):
        pass
    def answer(self, ask):
        os._exit(3)

Client(default_address(), "x", Leaving, token=os.environ["STELLWERK_TOKEN"]).run()
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
        rows = [row for row in better["matches"] if row["bot"] == better[bot]]
        assert parts["points"][bot] == pytest.approx(sum(row["points"] for row in rows) / len(rows), abs=0.01)
        assert parts["unused_cards"][bot] == pytest.approx(
            sum(row["unused_cards"] for row in rows) / len(rows), abs=0.01
        )
    assert parts["points"]["difference"] == strength["points"]
    assert parts["answer_ms"]["new"] > 0

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
    words = ("--games", "usa,card_game:3", "--seed", "7", "--most", "2")
    here = report(capsys, "greedy", "planner", *words, code=3)
    processes = report(capsys, "greedy", python_bot("planner"), *words, code=3)
    assert (here["in_process"], processes["in_process"]) == (True, False)
    assert processes["faults"] == []
    assert [timeless(row) for row in here["matches"]] == [timeless(row) for row in processes["matches"]]
    assert {row["bot"] for row in here["matches"]} == {"greedy", "planner", "greedy-2"}
    assert "greedy" in QUICK_BOTS  # so one of them sat in the server, where its answers are timed, too
    assert all(row["used_ms"] >= row["slowest_ms"] > 0 for row in processes["matches"])


def test_a_budget_that_is_set_around_the_command_is_the_searchers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if it were in the bot's words, unless these have one."""
    words = ("--seed", "b", "--most", "1")
    in_words = report(capsys, "greedy", "searcher env.STELLWERK_BOT_BUDGET=3", *words, code=3)
    monkeypatch.setenv("STELLWERK_BOT_BUDGET", "3")
    around = report(capsys, "greedy", "searcher", *words, code=3)
    assert around["in_process"] is False
    assert [timeless(row) for row in around["matches"]] == [timeless(row) for row in in_words["matches"]]
    assert bot_of("--bot", "searcher env.STELLWERK_BOT_BUDGET=5").environment == {"STELLWERK_BOT_BUDGET": "5"}
    assert bot_of("--bot", "greedy").environment == {}
    monkeypatch.setenv("STELLWERK_BOT_BUDGET", "many")
    assert main(["compare", "greedy", "searcher", *words]) == 1
    assert "expected a number like 200 or a time like 500ms" in "".join(capsys.readouterr())


def timeless(row: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in row.items() if key not in TIMES}


def test_neither_jobs_nor_their_order_change_a_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (
        report(capsys, "random", "beginner", "--seed", "j", "--most", "6", "--jobs", jobs, code=3)
        for jobs in ("1", "2")
    )
    assert [timeless(row) for row in one["matches"]] == [timeless(row) for row in two["matches"]]


def test_both_versions_have_the_same_deals_seats_and_opponents(capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "--games",
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
    rows = report(capsys, "random", "beginner", *words, code=3)["matches"]
    tables = [rows[start : start + 4] for start in range(0, len(rows), 4)]
    pairs: Counter[tuple[int, ...]] = Counter()
    for first, second in zip(tables[::2], tables[1::2], strict=True):
        assert first[0]["seed"] == second[0]["seed"]
        swapped = {"random": "beginner", "beginner": "random"}
        assert [swapped.get(row["bot"], row["bot"]) for row in first] == [row["bot"] for row in second]
        pairs[tuple(row["seat"] for row in first if row["bot"] in swapped)] += 1
    assert len(pairs) == 6  # every pair of the four seats
    assert {row["bot"] for row in rows} == {"random", "beginner", "random-2", "beginner-2"}


def test_partners_are_one_bot_and_copies_of_others_have_names(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--games", "team_asia:6", "--other", "random", "--most", "1", "--jobs", "1")
    rows = report(capsys, "random", "beginner", *words, code=3)["matches"]
    assert Counter(row["bot"] for row in rows) == {"random": 4, "beginner": 4, "random-2": 4}
    words = ("--games", "usa:4", "--other", "random", "--most", "1", "--jobs", "1")
    rows = report(capsys, "random", "beginner", *words, code=3)["matches"]
    assert {row["bot"] for row in rows} == {"random", "beginner", "random-2", "random-2.2"}


# -- what goes wrong ---------------------------------------------------------------------------------


def test_a_bot_that_breaks_is_named_and_fails_the_command(tmp_path: Path) -> None:
    bot = tmp_path / "leaves.py"
    bot.write_text(LEAVES)
    spec = f"name=leaving cmd={shlex.quote(shlex.join([sys.executable, str(bot)]))}"
    done = stellwerk("compare", "greedy", spec, "--most", "1", "--seed", "1", "--jobs", "1")
    assert done.returncode == 1, done.stderr
    assert "leaving in match 0: crash, ended with exit status 3 before the match did" in done.stdout


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
        (("greedy", "planner", "--games", "usa,use"), 'there is no game "use"; did you mean "usa"'),
        (("greedy", "planner", "--games", "usa,usa"), "--games usa: this game is given twice"),
        (("greedy", "planner", "--games", "usa:9"), "usa"),
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


def block(number: int, *points: tuple[int, int], game: int = 0) -> PlayedBlock:
    """Make a block with these points of the new version and the old in its two matches."""
    first, second = ([row("new", new, old), row("old", old, new)] for new, old in points)
    return PlayedBlock(number, game, f"s/{number}", (first, second))


def row(bot: str, points: int, other: int) -> Row:
    return Row(
        match="m",
        number=0,
        block=0,
        seed="s",
        game="usa",
        options="",
        players=2,
        seat=0,
        team=0,
        bot=bot,
        rank=1 if points >= other else 2,
        score=0.0,
        points=points,
        route_points=points,
        ticket_points=0,
        completed=0,
        completed_points=0,
        failed=0,
        failed_points=0,
        bonus_points=0,
        bonuses={},
        longest_path=0,
        unused_cards=0,
        turns=1,
        reason="trains",
        asks=1,
        used_ms=1.0,
        slowest_ms=1.0,
        refused=0,
        raised=0,
        problem="",
        replay="",
        record={},
    )


def evidence(blocks: Sequence[PlayedBlock], games: int = 1) -> Evidence:
    collected = Evidence("old", "new", 0.02, games)
    for each in blocks:
        collected.add(each)
    return collected


def test_a_tie_counts_a_half_and_a_block_is_the_mean_of_its_matches() -> None:
    collected = evidence([block(0, (10, 10), (20, 10))])
    assert collected.overall.wins.mean == 0.75
    assert collected.overall.points.mean == 5.0


def test_a_verdict_needs_enough_blocks_and_counts_games_apart() -> None:
    won = [block(number, (2, 1), (2, 1), game=number % 2) for number in range(29)]
    assert evidence(won, games=2).verdict() == "undecided"
    collected = evidence([*won, block(29, (2, 1), (2, 1), game=1)], games=2)
    assert collected.verdict() == "better"
    assert collected.is_round
    assert [lead.wins.count for lead in collected.by_game] == [15, 15]


def test_the_largest_swings_of_both_signs_are_named() -> None:
    collected = evidence(
        [block(number, (points, 0), (points, 0)) for number, points in enumerate(range(-5, 6))]
    )
    assert [swing.points for swing in collected.swings()] == [-5, -4, -3, 5, 4, 3]
    assert [swing.block.number for swing in collected.swings()] == [0, 1, 2, 10, 9, 8]
