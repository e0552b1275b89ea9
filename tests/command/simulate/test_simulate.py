"""`stellwerk simulate`: its games follow from the seed alone, and it never ends in a traceback."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from stellwerk.__main__ import main
from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.replays.reader import lines_of
from stellwerk_engine.replays.verify import verify
from tests.command.program import COMMAND, SECONDS, environment, refused, stellwerk
from tests.tools import needs

UNBOUNDED = ("simulate", "usa", "--games", "100000", "--seed", "s")  # far more than any test waits for


def report(*words: str) -> dict[str, Any]:  # Any: that is how JSON is read
    done = stellwerk("simulate", *words, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


# -- the games ---------------------------------------------------------------------------------------


def test_a_seed_gives_the_same_games_in_any_number_of_processes() -> None:
    words = ("usa", "--players", "3", "--games", "20", "--seed", "s", "--policy", "planner,random")
    one, two = (report(*words, "--jobs", jobs) for jobs in ("1", "2"))
    assert one["games"] == two["games"]
    assert [game["seed"] for game in one["games"]] == [f"s/{number}" for number in range(20)]


def test_another_seed_gives_other_games() -> None:
    one, other = (report("usa", "--games", "2", "--seed", seed) for seed in ("s", "t"))
    assert [game["seats"] for game in one["games"]] != [game["seats"] for game in other["games"]]


def test_a_single_game_of_a_simulation_can_be_played_again() -> None:
    words = ("card_game", "--seed", "s", "--policy", "planner,random")
    all_games = report(*words, "--games", "4")["games"]
    assert report(*words, "--games", "1", "--first", "3")["games"] == [all_games[3]]


def test_without_a_seed_one_is_drawn_and_told() -> None:
    first, second = (report("usa", "--games", "1") for _ in range(2))
    assert first["seed"] != second["seed"]
    assert report("usa", "--games", "1", "--seed", first["seed"])["games"] == first["games"]


def test_policies_take_turns_in_the_seats() -> None:
    games = report("usa", "--players", "3", "--games", "2", "--policy", "planner", "--policy", "random")[
        "games"
    ]
    assert [[seat["policy"] for seat in game["seats"]] for game in games] == [
        ["planner", "random", "planner"],
        ["random", "planner", "random"],
    ]


def test_partners_play_by_the_same_policy() -> None:
    games = report("team_asia", "--games", "2", "--policy", "planner,random")["games"]
    assert [[seat["policy"] for seat in game["seats"]] for game in games] == [
        ["planner", "planner", "random", "random"],
        ["random", "random", "planner", "planner"],
    ]


@pytest.mark.parametrize("game", RULE_SETS)
def test_the_points_of_a_seat_are_the_sum_of_what_they_are_made_of(game: str) -> None:
    for played in report(game, "--games", "2", "--policy", "planner,random")["games"]:
        for seat in played["seats"]:
            parts = [part["points"] for part in (*seat["tickets"], *seat["bonuses"])]
            assert seat["points"] == seat["route_points"] + sum(parts)
        assert min(seat["rank"] for seat in played["seats"]) == 1


def test_the_report_says_what_was_played() -> None:
    printed = report("united_kingdom", "--players", "4", "--option", "advanced_technologies", "--games", "1")
    assert printed["game"] == "united_kingdom"
    assert printed["players"] == len(printed["games"][0]["seats"]) == 4
    assert printed["options"] == ["advanced_technologies"]
    assert printed["board"] == shipped_board("united_kingdom").digest
    assert printed["decisions"] == printed["games"][0]["decisions"]
    assert printed["cpu_seconds"] > 0


def test_a_board_of_ones_own_is_played_on(tmp_path: Path) -> None:
    board = tmp_path / "board.json"
    done = stellwerk("boards", "show", "usa", "--json")
    board.write_text(done.stdout.replace('"trains": 45', '"trains": 12'), "utf-8")
    small = report("usa", "--games", "2", "--seed", "s", "--board", str(board), "--jobs", "2")
    assert small["board"] != shipped_board("usa").digest
    assert small["decisions"] < report("usa", "--games", "2", "--seed", "s")["decisions"]


# -- replays -----------------------------------------------------------------------------------------


def test_every_game_is_recorded_so_that_it_can_be_verified(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "games"
    words = (
        "team_asia",
        "--games",
        "3",
        "--seed",
        "s",
        "--policy",
        "planner,random",
        "--replays",
        str(folder),
    )
    printed = report(*words)
    files = [folder / f"team_asia-s-{number}.jsonl" for number in range(3)]
    assert sorted(folder.iterdir()) == files
    assert [game["replay"] for game in printed["games"]] == [str(file) for file in files]
    done = stellwerk("replay", "verify", *map(str, files))
    assert (done.returncode, done.stderr) == (0, "")
    for file, game in zip(files, printed["games"], strict=True):
        with file.open("rb") as stream:
            verdict = verify(lines_of(stream))
        assert verdict.result is not None
        assert verdict.result.turns == game["turns"]


@pytest.mark.parametrize("seed", ["../../x", "a/b", "ä 42", "." * 200, "CON"])
def test_a_seed_makes_a_plain_file_name(seed: str, tmp_path: Path) -> None:
    seed = seed[:190]
    assert main(["simulate", "usa", "--games", "1", "--seed", seed, "--replays", str(tmp_path)]) == 0
    [file] = tmp_path.iterdir()
    assert file.name.startswith("usa-")
    assert file.name.isascii()
    assert len(file.name) < 100


def test_seeds_that_look_alike_in_a_file_name_get_different_ones(tmp_path: Path) -> None:
    for seed in ("a/b", "a b", "a_b"):
        assert main(["simulate", "usa", "--games", "1", "--seed", seed, "--replays", str(tmp_path)]) == 0
    assert len(list(tmp_path.iterdir())) == 3


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        assert "cannot be written" in refused("simulate", "usa", "--replays", str(folder))


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_disk_that_takes_no_replay_is_an_error_of_the_machine(jobs: str, tmp_path: Path) -> None:
    """A limit on the size of files replaces the full disk. No broken replay is left."""
    words = ("simulate", "usa", "--games", "20", "--jobs", jobs, "--replays", str(tmp_path))
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
        (("usa", "--players", "6"), "2, 3, 4, 5"),
        (("usa", "--players", "two"), "whole number"),
        (("usa", "--players", "1" * 5000), "whole number"),
        (("usa", "--option", "open_stacks"), "no option"),
        (("card_game", "--option", b"\xff\n"), r"\udcff"),
        (("usa", "--games", "0"), "from 1 to"),
        (("usa", "--games", "-1"), "from 1 to"),
        (("usa", "--jobs", "0"), "from 1 to"),
        (("usa", "--policy", "planer"), 'did you mean "planner"?'),
        (("usa", "--policy", "planner,"), 'no policy ""'),
        (("usa", "--seed", ""), "cannot be empty"),
        (("usa", "--seed", "x" * 201), "at most 200"),
        (("usa", "--seed", "x" * 199), "with the number of a game"),
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
    assert expected in refused("simulate", *words)


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
    assert "board.json" in refused("simulate", "usa", "--board", str(board))


def test_a_board_of_another_game_is_refused(tmp_path: Path) -> None:
    board = tmp_path / "board.json"
    board.write_text(stellwerk("boards", "show", "team_asia", "--json").stdout, "utf-8")
    assert "tunnel" in refused("simulate", "usa", "--board", str(board))


# -- on a terminal -----------------------------------------------------------------------------------


def test_progress_is_shown_on_a_terminal_only() -> None:
    words = ("simulate", "usa", "--games", "16", "--jobs", "1")
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
        assert b'"type":"end"' in file.read_bytes().splitlines()[-1]


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
