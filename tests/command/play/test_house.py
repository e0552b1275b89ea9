"""`stellwerk play` of built-in bots alone: games follow from the seed, and no end is a traceback."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import stellwerk as stellwerk_library
from stellwerk.__main__ import main
from stellwerk_engine.boards.board_file import board_content, shipped_board
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.replays.reader import lines_of
from stellwerk_engine.replays.verify import verify
from tests.command.program import COMMAND, SECONDS, environment, refused, stellwerk
from tests.tools import needs

TWO = ("--bot", "random", "--bot", "random")
UNBOUNDED = (
    "play",
    "usa",
    "--bot",
    "random",
    "--bot",
    "random",
    "--games",
    "100000",
    "--seed",
    "s",
)  # far more than any test waits for


def bots(*specs: str) -> list[str]:
    return [word for each in specs for word in ("--bot", each)]


def report(*words: str) -> dict[str, Any]:  # Any: that is how JSON is read
    done = stellwerk("play", *words, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


# -- the games ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", RULE_SETS)
def test_built_in_bots_play_the_same_game_here_as_processes_and_in_the_laboratory(
    game: str, tmp_path: Path
) -> None:
    """All five bots, so each game seats some of them."""
    size = RULE_SETS[game].team_size
    for names in (("beginner", "random"), ("greedy", "planner")):
        assert size * len(names) in RULE_SETS[game].seat_counts
        words = (game, *bots(*names), "--seed", "s", "--replays")
        report(*words, str(tmp_path / "here"))
        report(*words, str(tmp_path / "processes"), "--process", "fresh")
        stellwerk_library.run_matches(
            list(names), game=game, matches=1, seed="s", replays=tmp_path / "laboratory"
        )
        here, processes, laboratory = (
            (tmp_path / folder / f"{game}-s-0.jsonl").read_bytes()
            for folder in ("here", "processes", "laboratory")
        )
        assert here == laboratory
        assert acts(here) == acts(processes)


def acts(replay: bytes) -> list[Any]:
    """Return what happens in a replay, without its hashes, which depend on a salt of each match."""
    lines = [json.loads(line) for line in replay.splitlines()]
    return [{**line, "hash": ""} for line in lines if line["type"] in ("set_up", "move", "end")]


def test_a_search_plays_the_same_game_here_as_a_process(tmp_path: Path) -> None:
    board = tmp_path / "board.json"
    board.write_text(json.dumps(board_content(shipped_board("usa")) | {"trains": 8}))
    words = ("usa", *bots("searcher", "random"), "--seed", "s", "--board", str(board), "--replays")
    for process in ("house", "fresh"):
        report(*words, str(tmp_path / process), "--process", process)
    here, there = ((tmp_path / each / "usa-s-0.jsonl").read_bytes() for each in ("house", "fresh"))
    assert acts(here) == acts(there)


def test_a_seed_gives_the_same_games_in_any_number_of_processes() -> None:
    words = ("usa", *bots("planner", "random", "random"), "--games", "20", "--seed", "s")
    one, two = (report(*words, "--jobs", jobs) for jobs in ("1", "2"))
    assert one["matches"] == two["matches"]
    assert [match["seed"] for match in one["matches"]] == [f"s/{number // 3}" for number in range(20)]


def test_another_seed_gives_other_games() -> None:
    words = ("usa", *TWO)
    one, other = (report(*words, "--seed", seed) for seed in ("s", "t"))
    assert one["matches"][0]["seats"] != other["matches"][0]["seats"]


def test_without_a_seed_one_is_drawn_and_printed() -> None:
    words = ("usa", *TWO)
    first, second = (report(*words) for _ in range(2))
    assert first["seed"] != second["seed"]
    assert report(*words, "--seed", first["seed"])["matches"] == first["matches"]


@pytest.mark.parametrize("game", RULE_SETS)
def test_the_points_of_a_seat_are_the_sum_of_what_they_are_made_of(game: str) -> None:
    for played in report(game, *bots("planner", "random"), "--games", "2")["matches"]:
        for seat in played["seats"]:
            parts = seat["breakdown"]
            scores = [part["points"] for part in (*parts["tickets"], *parts["bonuses"])]
            assert seat["points"] == parts["route_points"] + sum(scores)
        assert min(seat["rank"] for seat in played["seats"]) == 1


def test_the_report_says_what_was_played_and_what_it_cost() -> None:
    words = ("united_kingdom", "--option", "advanced_technologies", *bots(*["random"] * 4))
    printed = report(*words)
    [match] = printed["matches"]
    assert printed["game"] == "united_kingdom"
    assert printed["process"] == "house"
    assert printed["players"] == len(match["seats"]) == 4
    assert printed["options"] == ["advanced_technologies"]
    assert printed["board"] == shipped_board("united_kingdom").digest
    assert printed["decisions"] == sum(seat["asks"] for seat in match["seats"])
    assert printed["cpu_seconds"] > 0
    assert "sandbox" not in printed


def test_a_table_of_many_games_has_what_they_cost() -> None:
    printed = stellwerk("play", "usa", *bots("random", "planner"), "--games", "20").stdout.splitlines()
    assert re.fullmatch(r"[\d,]+ decisions in \d+\.\d s of CPU time, [\d,]+ a second", printed[-1])


def test_a_board_of_ones_own_is_played_on(tmp_path: Path) -> None:
    board = tmp_path / "board.json"
    board.write_text(json.dumps(board_content(shipped_board("usa")) | {"trains": 12}))
    words = ("usa", *TWO, "--games", "20", "--seed", "s")
    small = report(*words, "--board", str(board), "--jobs", "2")
    assert small["board"] != shipped_board("usa").digest
    assert small["decisions"] < report(*words)["decisions"]


# -- which bots have processes -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "option",
    [
        ("--move-time", "100"),
        ("--bank", "0"),
        ("--set-up-time", "1000"),
        ("--log", "logs"),
        ("--wrap", "nice"),
        ("--memory", "100"),
        ("--sandbox", "limits"),
    ],
    ids=lambda option: option[0],
)
def test_an_option_of_processes_is_refused_where_there_are_none(option: tuple[str, str]) -> None:
    problem = refused("play", "usa", *bots("random", "greedy"), *option)
    assert f"{option[0]}: built-in bots alone have no process and no clock" in problem


@pytest.mark.parametrize("foreign", ["random env.A=b", "random transport=stdio", "name=x cmd=true"])
def test_a_bot_that_is_more_than_a_name_needs_a_process(foreign: str) -> None:
    problem = refused("play", "usa", *bots("random", foreign), "--process", "house")
    assert "--bot 2 is not just the name of a built-in bot" in problem


def test_a_built_in_bot_with_a_setting_of_its_own_is_a_process() -> None:
    printed = report("usa", *bots("random", "random env.A=b"))
    assert printed["process"] == "fresh"


# -- replays -----------------------------------------------------------------------------------------


def test_every_game_is_recorded_so_that_it_can_be_verified(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "games"
    printed = report(
        "team_asia", *bots("planner", "random"), "--games", "3", "--seed", "s", "--replays", str(folder)
    )
    files = [folder / f"team_asia-s-{number}.jsonl" for number in range(3)]
    assert sorted(folder.iterdir()) == files
    assert [match["replay"] for match in printed["matches"]] == [str(file) for file in files]
    done = stellwerk("replay", "verify", *map(str, files))
    assert (done.returncode, done.stderr) == (0, "")
    for file, match in zip(files, printed["matches"], strict=True):
        with file.open("rb") as stream:
            verdict = verify(lines_of(stream))
        assert verdict.result is not None
        assert verdict.result.turns == match["turns"]


@pytest.mark.parametrize("seed", ["../../x", "a/b", "ä 42", "." * 200, "CON"])
def test_a_seed_makes_a_plain_file_name(seed: str, tmp_path: Path) -> None:
    seed = seed[:190]
    assert main(["play", "usa", *TWO, "--seed", seed, "--replays", str(tmp_path)]) == 0
    [file] = tmp_path.iterdir()
    assert file.name.startswith("usa-")
    assert file.name.isascii()
    assert len(file.name) < 100


def test_seeds_that_look_alike_in_a_file_name_get_different_ones(tmp_path: Path) -> None:
    for seed in ("a/b", "a b", "a_b"):
        assert main(["play", "usa", *TWO, "--seed", seed, "--replays", str(tmp_path)]) == 0
    assert len(list(tmp_path.iterdir())) == 3


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        assert "cannot be written" in refused("play", "usa", *TWO, "--replays", str(folder))


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_disk_that_takes_no_replay_is_an_error_of_the_machine(jobs: str, tmp_path: Path) -> None:
    """A limit on the size of files replaces the full disk. No broken replay is left."""
    words = (
        "play",
        "usa",
        *TWO,
        "--games",
        "20",
        "--jobs",
        jobs,
        "--replays",
        str(tmp_path),
    )
    done = subprocess.run(
        ["sh", "-c", 'ulimit -f 4; exec "$@"', "sh", *COMMAND, *words],
        env=environment(PYTHONDONTWRITEBYTECODE="1"),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 4
    [line] = done.stderr.splitlines()
    assert "cannot be written: File too large" in line
    assert list(tmp_path.iterdir()) == []


# -- what is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("use",), 'did you mean "usa"?'),
        (("",), 'no game ""'),
        ((b"\xff",), r"\udcff"),
        (("usa", "--games", "two"), "whole number"),
        (("usa", "--games", "1" * 5000), "whole number"),
        (("usa", "--option", "open_stacks"), "no option"),
        (("card_game", "--option", b"\xff\n"), r"\udcff"),
        (("usa", "--games", "0"), "from 1 to"),
        (("usa", "--games", "-1"), "from 1 to"),
        (("usa", "--jobs", "-1"), "from 0 to"),
        (("usa", "--bot", "planer"), 'did you mean "planner"?'),
        (("usa", "--seed", ""), "cannot be empty"),
        (("usa", "--seed", "x" * 201), "at most 200"),
        (("usa", "--seed", "x" * 198, "--games", "1000"), "with the number of a game"),
        (("usa", "--seed", "a\nb"), "control character"),
        (("usa", "--seed", b"\xff"), "surrogate"),
        (("usa", "--board", "nowhere.json"), "No such file"),
        (("usa", "--board", "/dev/null"), "not a regular file"),
        (("usa", "--board", "."), "directory"),
        (("usa", "--board", b"\xff\n"), r"\udcff"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_wrong_argument_is_refused_in_one_line(words: tuple[str | bytes, ...], expected: str) -> None:
    assert expected in refused("play", *words, *TWO)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "cannot be empty"),
        (b"\xff\xfe", "UTF"),
        (b"{", ""),
        (b"[" * 10_000, ""),
        (b'{"format": "stellwerk-board/1"}', ""),
        (b"\0" * 100, ""),
    ],
    ids=repr,
)
def test_a_file_that_is_no_board_is_refused_in_one_line(
    content: bytes, expected: str, tmp_path: Path
) -> None:
    board = tmp_path / "board.json"
    board.write_bytes(content)
    assert "board.json" in refused("play", "usa", *TWO, "--board", str(board))


def test_a_board_of_another_game_is_refused(tmp_path: Path) -> None:
    board = tmp_path / "board.json"
    board.write_text(stellwerk("boards", "show", "team_asia", "--json").stdout, "utf-8")
    assert "tunnel" in refused("play", "usa", *TWO, "--board", str(board))


# -- on a terminal -----------------------------------------------------------------------------------


def test_progress_is_shown_on_a_terminal_only() -> None:
    words = ("play", "usa", *TWO, "--games", "16", "--jobs", "1")
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [*COMMAND, *words],
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        timeout=SECONDS,
        check=False,
    )
    os.close(theirs)
    assert done.returncode == 0
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "16 of 16 games" in shown
    assert stellwerk(*words).stderr == ""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_ends_all_processes_with_one_line_and_whole_replays(jobs: str, tmp_path: Path) -> None:
    process = _start(*UNBOUNDED, "--jobs", jobs, "--replays", str(tmp_path))
    _wait_for_a_file(tmp_path, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
    _, stderr = process.communicate(timeout=SECONDS)
    assert (process.returncode, stderr) == (130, "stellwerk: interrupted\n")
    assert _group_ends(process.pid)
    for file in tmp_path.iterdir():
        assert file.suffix == ".jsonl"
        assert b'"type":"reveal"' in file.read_bytes().splitlines()[-1]


def test_the_other_processes_end_when_the_first_one_is_killed(tmp_path: Path) -> None:
    process = _start(*UNBOUNDED, "--jobs", "2", "--replays", str(tmp_path))
    _wait_for_a_file(tmp_path, process)
    process.kill()
    process.communicate(timeout=SECONDS)
    assert _group_ends(process.pid)


@needs("children of a process")
def test_a_process_that_dies_is_an_error_of_the_machine(tmp_path: Path) -> None:
    process = _start(*UNBOUNDED, "--jobs", "2", "--replays", str(tmp_path))
    _wait_for_a_file(tmp_path, process)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    os.kill(int(children.read_text().split()[-1]), signal.SIGKILL)
    _, stderr = process.communicate(timeout=SECONDS)
    assert (process.returncode, stderr) == (4, "stellwerk: a process that played games has died\n")
    assert _group_ends(process.pid)


def _start(*words: str) -> subprocess.Popen[str]:
    """Start the command in a process group of its own, as a terminal does."""
    return subprocess.Popen(
        [*COMMAND, *words],
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_listen_to_ctrl_c,
    )


def _listen_to_ctrl_c() -> None:
    """Listen to Ctrl-C even if these tests run in the background, where shells have it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _wait_for_a_file(folder: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + SECONDS
    while not list(folder.glob("*.jsonl")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _group_ends(group: int) -> bool:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False
