"""`stellwerk tournament` as an organizer uses it: real bots, a real disk, and whatever can happen to both."""

from __future__ import annotations

import csv
import json
import operator
import os
import pty
import random
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, cast
from xml.etree import ElementTree

import pytest

from stellwerk.__main__ import main
from stellwerk.tournament.arguments import Shape
from stellwerk.tournament.output import display_of, fault_lines, table_of
from stellwerk_base.files import write_whole
from stellwerk_engine.boards.board_file import board_content, shipped_board
from stellwerk_processes.faults import Fault
from stellwerk_tournament.play.progress import Progress, Row, rounded
from stellwerk_tournament.report.derived import FILES
from stellwerk_tournament.store.standings import Standings
from tests.command import program
from tests.command.program import COMMAND, SECONDS, environment, stellwerk
from tests.tools import needs
from tests.tournament.report.report_tournaments import line as match_line

TRAINS = 8  # a game of some twenty turns
FOUR = ('built_in = "random"\nname = "a"', *(f'built_in = "random"\nname = "{name}"' for name in "bcd"))
TWO = ('built_in = "random"', 'built_in = "greedy"')
VOLATILE = {
    "used_ms",
    "slowest_ms",
    "cpu_ms",
    "answer_cpu_ms",
    "slowest_answer_cpu_ms",
    "waited_ms",
    "stolen_ms",
    "max_rss_kb",
}


def cup(folder: Path, bots: Sequence[str], head: str = "", game: str = 'game = "usa"') -> Path:
    """Write the folder of a tournament in the base game with few trains."""
    folder.mkdir(exist_ok=True)
    if (
        "sandbox" not in head and "wrap" not in head
    ):  # the default tries the sandbox first: that takes seconds
        keys, bracket, tables = head.partition("[")
        head = f'{keys}\nsandbox = "limits"\n{bracket}{tables}'
    (folder / "board.json").write_text(json.dumps(board_content(shipped_board("usa")) | {"trains": TRAINS}))
    tables = "".join(f"\n[[bots]]\n{bot}\n" for bot in bots)
    board = '\nboard = "board.json"' if "usa" in game else ""
    (folder / "tournament.toml").write_text(f"{head}\n[[games]]\n{game}{board}\n{tables}")
    return folder


def tournament(*words: str | Path, code: int = 0) -> str:
    """Run a command on a tournament, without a preflight, and return its standard output."""
    done = stellwerk("tournament", *map(str, words), *no_preflight(words[0]))
    assert done.returncode == code, done.stderr
    return done.stdout


def no_preflight(command: str | Path) -> list[str]:
    """Return what keeps a command from trying the bots first, which takes as long as some matches."""
    return ["--no-preflight"] if command in ("run", "run") else []


def lines_of(folder: Path) -> list[dict[str, Any]]:  # Any: that is how JSON is read
    path = folder / "matches.jsonl"
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


def outcome(folder: Path) -> dict[tuple[int, int], object]:
    """Return everything that is the same whenever the same tournament is played, so not the times."""
    lines: dict[tuple[int, int], object] = {}
    for line in lines_of(folder):
        for seat in line["bots"]:
            for name in VOLATILE:
                seat.pop(name, None)
        del line["seconds"], line["late_ms"]
        assert (line["block"], line["rotation"]) not in lines
        lines[line["block"], line["rotation"]] = line
    return lines


def status(folder: Path) -> dict[str, Any]:
    printed: dict[str, Any] = json.loads(tournament("status", folder, "--json"))
    return printed


# -- killed, stopped, out of space -------------------------------------------------------------------


def test_a_tournament_that_is_killed_again_and_again_comes_to_the_same_as_an_undisturbed_one(
    tmp_path: Path,
) -> None:
    bots = [f'{bot}\nprocess = "fresh"' for bot in FOUR]  # their matches are kept one by one
    undisturbed = cup(tmp_path / "undisturbed", bots, "concurrency = 2")
    tournament("run", undisturbed, "--seed", "s")
    expected = outcome(undisturbed)
    assert len(expected) == 12

    killed = cup(tmp_path / "killed", bots, "concurrency = 2")
    seed = random.randrange(2**32)
    dice = random.Random(seed)
    kills = 0
    command = "run"
    while True:
        patience = dice.randrange(0, 5)
        if _ends_before(killed, command, patience, dice.randrange(1_000_000)):
            break
        kills += 1
        command = "run"
    assert kills >= 2, seed
    assert outcome(killed) == expected, seed
    assert "ok, 12 matches" in tournament("verify", killed)


def _ends_before(folder: Path, command: str, patience: int, spin: int) -> bool:
    """Play till so many things have happened, and kill it at some moment after that; or till it ends."""
    with started(command, folder, "--seed", "s") as process:
        assert process.stdout is not None
        for happened, line in enumerate(process.stdout):
            if json.loads(line)["type"] == "ended":
                assert process.wait(SECONDS) == 0
                return True
            if happened == patience:
                for _ in range(spin):
                    pass
                process.kill()
                break
        assert process.wait(SECONDS) == -signal.SIGKILL
    return False


def test_a_kill_loses_no_block_that_was_shown_and_the_others_come_out_the_same_again(tmp_path: Path) -> None:
    """Blocks of house bots are written once a second. Those that were played in the last second are played
    again, in each copy of the folder with the same bytes, for their seeds are on the disk."""
    folder = cup(tmp_path / "cup", TWO, "concurrency = 1\n[schedule]\nrounds = 200")
    shown = set[int]()
    with started("run", folder) as process:
        assert process.stdout is not None
        for line in process.stdout:
            message = json.loads(line)
            if message["type"] == "block_ended":
                shown.add(message["block"])
            if len(shown) == 3:
                break
        process.kill()
        assert process.wait(SECONDS) == -signal.SIGKILL
    before = lines_of(folder)
    assert shown <= {line["block"] for line in before}
    assert len(before) < 400
    with closing(sqlite3.connect(folder / "state.sqlite")) as state:
        again = {number for (number,) in state.execute("SELECT number FROM blocks WHERE seed IS NOT NULL")}
    assert again.isdisjoint(line["block"] for line in before)
    copies = [tmp_path / "one", tmp_path / "other"]
    replays: list[dict[str, bytes]] = []
    for copy in copies:
        shutil.copytree(folder, copy)
        tournament("run", copy)
        assert lines_of(copy)[: len(before)] == before
        assert len(lines_of(copy)) == 400
        files = (copy / "replays").glob("*.jsonl")
        replays.append({path.name: path.read_bytes() for path in files if int(path.name[:5]) in again})
    assert replays[0] == replays[1]
    assert len(replays[0]) == 2 * len(again) > 0
    assert "ok, 400 matches" in tournament("verify", copies[0])


@contextmanager
def started(command: str, folder: Path, *words: str) -> Generator[subprocess.Popen[str]]:
    """Start a command that prints its progress as JSON lines, and kill it at the end of the block. It begins
    without a preflight, and without remote bots that are not there yet."""
    words = (*words, "--absent-forfeit") if command == "run" and "--listen" in words else words
    words = (*no_preflight(command), *words)
    with program.started("tournament", command, str(folder), "--progress=jsonl", *words) as process:
        yield process


def test_ctrl_c_finishes_the_running_block_and_says_how_to_go_on(tmp_path: Path) -> None:
    bots = [f'{bot}\nprocess = "fresh"' for bot in TWO]  # matches of house bots are shown later
    folder = cup(tmp_path / "cup", bots, "concurrency = 1\n[schedule]\nrounds = 4")
    with started("run", folder) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["type"] == "match_ended"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    news = [json.loads(line) for line in out.splitlines()]
    assert news[-1]["finished"] is False
    [resume] = re.findall(r"^stellwerk: stopped; continue with: stellwerk (.*)$", err, re.MULTILINE)
    assert f"stellwerk {resume}" == news[-1]["resume"]
    before = lines_of(folder)
    assert 2 <= len(before) < 8
    assert status(folder)["of_running_blocks"] == 0

    tournament(*shlex.split(resume)[1:])
    assert lines_of(folder)[: len(before)] == before
    assert len(lines_of(folder)) == 8
    assert "ok, 8 matches" in tournament("verify", folder)


@pytest.mark.parametrize(
    ("shape", "lines"),
    [
        ("lines", ["listening on 127.0.0.1:1", "a worker has gone", "missing: ann"]),
        ("none", ["listening on 127.0.0.1:1", "a worker has gone"]),
        ("jsonl", ["listening", "cluster", "remote_bots"]),
    ],
)
def test_progress_is_shown_in_the_shape_that_was_asked_for(
    shape: Shape, lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    display = display_of(shape, ())
    display.listening("127.0.0.1", 1)
    display.cluster_changed("a worker has gone")
    display.remote_bots_changed(Progress(0, 0, (), missing=("ann",)))
    captured = capsys.readouterr()
    if shape == "jsonl":
        assert [json.loads(line)["type"] for line in captured.out.splitlines()] == lines
    else:
        assert captured.err.splitlines() == lines


def test_the_table_shows_news_below_itself(capsys: pytest.CaptureFixture[str]) -> None:
    display = display_of("table", ())
    display.cluster_changed("a worker has gone")
    assert capsys.readouterr().err == ""
    for _ in range(2):
        display.remote_bots_changed(Progress(0, 0, ()))
        assert capsys.readouterr().err.splitlines()[-1] == "a worker has gone"


@needs("/dev/full")
def test_a_tournament_whose_progress_cannot_be_written_is_played_to_its_end(
    tmp_path: Path,
) -> None:
    folder = cup(tmp_path / "cup", TWO, "[schedule]\nrounds = 4")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "tournament", "run", folder, "--progress=jsonl", "--no-preflight"],
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    assert done.returncode == 4
    assert done.stderr.splitlines()[-1] == (
        "stellwerk: standard output: cannot be written: No space left on device"
    )
    assert "Traceback" not in done.stderr
    assert "ok, 8 matches" in tournament("verify", folder)


def test_rounds_of_the_command_line_leave_files_that_verify_and_report_agree_with(tmp_path: Path) -> None:
    folder = cup(tmp_path / "cup", TWO, "[schedule]\nrounds = 5")
    tournament("run", folder, "--rounds", "2")
    written = (folder / "report.html").read_bytes()
    assert "ok, 4 matches" in tournament("verify", folder)
    tournament("report", folder)
    assert (folder / "report.html").read_bytes() == written


def test_ctrl_c_twice_ends_it_now(tmp_path: Path) -> None:
    """The bots never answer: their match would take minutes."""
    silent = 'cmd = "sleep 600"\nname = "silent"'
    folder = cup(tmp_path / "cup", [silent, 'built_in = "random"'], "[clocks]\nset_up_ms = 300000")
    with started("run", folder) as process:
        assert process.stdout is not None
        while status(folder)["blocks"].get("running", 0) == 0:
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert json.loads(process.stdout.readline())["type"] == "stopping"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert json.loads(out)["finished"] is False
    assert lines_of(folder) == []


def test_a_full_disk_ends_it_and_loses_nothing(tmp_path: Path) -> None:
    """No file may become larger than that: the first that does is the state, or a replay."""
    folder = cup(tmp_path / "cup", TWO, "[schedule]\nrounds = 4")
    words = [
        "sh",
        "-c",
        'ulimit -f 200; exec "$@"',
        "sh",
        *COMMAND,
        "tournament",
        "run",
        str(folder),
        "--seed=s",
        "--no-preflight",
    ]
    done = subprocess.run(
        words, env=environment(), capture_output=True, text=True, check=False, timeout=SECONDS
    )
    assert done.returncode == 4
    error = done.stderr.splitlines()[-1]
    assert str(folder) in error
    assert "when that is mended: stellwerk tournament r" in error
    assert error.endswith(f" {folder} --seed=s --no-preflight")
    before = lines_of(folder)

    tournament("run", folder, "--seed=s")
    assert lines_of(folder)[: len(before)] == before
    assert len(outcome(folder)) == 8
    assert "ok, 8 matches" in tournament("verify", folder)


# -- whose fault -------------------------------------------------------------------------------------


def test_what_a_bot_does_wrong_is_told_of_it_and_of_nobody_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crash = 'name = "crash"\ncmd = "sh -c \'echo out of ideas >&2; exit 3\'"'
    others = ('built_in = "random"', 'built_in = "greedy"')
    folder = cup(tmp_path / "cup", [crash, *others])
    assert main(["tournament", "run", str(folder), "--no-preflight"]) == 0
    lines = [
        "crash: start_failure in 4 of 4 matches: out of ideas",
        "crash: 4 of 4 matches forfeited: never_started 4",
    ]
    assert capsys.readouterr().err.splitlines()[-2:] == [f"stellwerk: {line}" for line in lines]
    assert tournament("status", folder).splitlines()[-2:] == lines
    assert len(lines_of(folder)) == 6
    for line in lines_of(folder):
        for seat in line["bots"]:
            kinds = [fault["kind"] for fault in seat["faults"]]
            assert kinds == (["start_failure"] if seat["bot"] == "crash" else [])
    assert "out of ideas" in (folder / "logs" / "crash.log").read_text()
    suite = ElementTree.fromstring((folder / "junit.xml").read_bytes())[0]
    cases = {case.get("name"): [child.get("type") for child in case] for case in suite}
    assert cases == {"crash": ["start_failure"], "random": [], "greedy": []}


def test_a_program_that_is_gone_is_no_bots_fault(tmp_path: Path) -> None:
    """It removes itself when it is started, so that only the first match can be played."""
    folder = cup(
        tmp_path / "cup",
        ['cmd = "./once.sh"', 'built_in = "random"'],
        "concurrency = 1\n[schedule]\nrounds = 3",
    )
    program = folder / "once.sh"
    program.write_text('#!/bin/sh\nrm -f "$0"\nexit 1\n')
    program.chmod(0o755)
    done = subprocess.run(
        [*COMMAND, "tournament", "run", str(folder), "--no-preflight"],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 4
    assert "3 blocks in a row could not be played" in done.stderr
    assert "there is no program" in done.stderr
    assert lines_of(folder) == []


def test_faults_are_told_by_bot_without_what_a_terminal_would_obey() -> None:
    crash = Fault("crash", 1, "ended with exit status 1", ("first", "\x1b[2Jlast", " "))
    late = Fault("time", 7, "no answer in time 7 times")
    lines = [
        match_line(0, 0, ("a", "b"), [1, 2], faults=(late,)),
        match_line(0, 1, ("b", "a"), [1, 2], faults=(late,)),
        match_line(1, 0, ("a", "b"), [1, 2], faults=(crash,)),
        match_line(1, 1, ("b", "a"), [1, 2]),
        match_line(2, 0, ("a", "b"), [1, 2], faults=(crash,)),
    ]
    assert fault_lines(Standings(["c", "b", "a"], lines)) == [
        "b: crash in 2 of 5 matches, time in 1: \\x1b[2Jlast",
        "a: time in 1 of 5 matches: no answer in time 7 times",
    ]


def test_figures_are_rounded_once_and_nothing_is_no_minus_nothing() -> None:
    row = Row("a", 3, 2 / 3, 100 / 3, 0, elo=-0.4, low=-181.4963, high=181.4963)
    assert table_of([row])[1].split() == ["1", "a", "0", "-181", "...", "+181", "66.7", "%", "33.3", "3", "0"]
    [figures] = rounded([row])
    assert (figures.score, figures.points, figures.elo, figures.high) == (0.6667, 33.33, -0.4, 181.5)
    [nothing] = rounded([Row("a", 1, 0.5, 1.0, 0, elo=-0.001)])
    assert str(nothing.elo) == "0.0"


# -- verify ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play two games, one of them with teams."""
    folder = cup(tmp_path_factory.mktemp("finished") / "cup", TWO, 'title = "<the cup>"\nanonymous = true')
    path = folder / "tournament.toml"
    path.write_text(path.read_text() + '\n[[games]]\ngame = "team_asia"\n')
    tournament("run", folder)
    return folder


def test_a_tournament_that_was_played_is_true(finished: Path) -> None:
    printed = tournament("verify", finished)
    assert f"ok, 4 matches, {4 + len(FILES)} files" in printed
    assert re.search(r"^blind draws: z .* is the highest of 2 bots; chance alone ", printed, re.M)
    assert {line["game"] for line in lines_of(finished)} == {"usa", "team_asia"}


def test_derived_files_can_be_deleted_and_are_made_again(finished: Path) -> None:
    derived = {finished / name: (finished / name).read_bytes() for name in FILES}
    assert {path.name for path in derived} >= {"ratings.json", "crosstable.csv", "junit.xml"}
    for path in derived:
        path.unlink()
    tournament("report", finished)
    assert {path: path.read_bytes() for path in derived} == derived


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("status", ["reading", "rating 4 matches"]),
        ("ratings", ["reading", "rating 4 matches"]),
        ("report", ["reading", *(f"making {name} from 4 matches" for name in FILES)]),
        ("verify", ["reading", "verified 1 of 4 matches", *(f"making {name}" for name in FILES)]),
    ],
)
def test_what_can_take_long_is_shown_on_a_terminal_and_removed(
    finished: Path, command: str, lines: Sequence[str]
) -> None:
    words = [*COMMAND, "tournament", command, str(finished)]
    ours, theirs = pty.openpty()
    done = subprocess.run(
        words, env=environment(), stdout=subprocess.PIPE, stderr=theirs, timeout=SECONDS, check=True
    )
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    places = [shown.index(line) for line in lines]
    assert places == sorted(places)
    assert shown.endswith("\r\x1b[K")
    elsewhere = subprocess.run(words, env=environment(), capture_output=True, timeout=SECONDS, check=True)
    assert (elsewhere.stdout, elsewhere.stderr) == (done.stdout, b"")


def test_the_cross_table_has_the_score_of_each_against_each(finished: Path) -> None:
    first, second = csv.DictReader((finished / "crosstable.csv").read_text().splitlines())
    assert float(first[second["bot"]]) == 1 - float(second[first["bot"]]) >= 0.5
    assert first[first["bot"]] == ""
    assert first["matches"] == first[f"matches with {second['bot']}"] == "4"


def test_ratings_are_told_as_a_table_and_as_json(finished: Path) -> None:
    printed = json.loads(tournament("ratings", finished, "--json"))
    assert {entrant["name"] for entrant in printed["entrants"]} == {"random", "greedy"}
    assert printed == json.loads((finished / "ratings.json").read_bytes())
    assert set(printed["by_game"]) == {"usa", "team_asia"}
    assert tournament("ratings", finished).splitlines()[0].split()[:3] == ["bot", "elo", "95"]


def change(folder: Path, name: str, number: int, **fields: object) -> None:
    path = folder / name
    lines = path.read_bytes().splitlines(keepends=True)
    lines[number] = json.dumps(json.loads(lines[number]) | fields).encode() + b"\n"
    write_whole(path, b"".join(lines))


@pytest.mark.parametrize(
    ("name", "number", "fields", "expected"),
    [
        ("matches.jsonl", 1, {"points": [1000, 0]}, "matches.jsonl:2: the records of team 0"),
        ("matches.jsonl", 2, {"turns": 1}, "end: its line in matches.jsonl says something else"),
        (
            "matches.jsonl",
            3,
            {"blind_draws": []},
            "blind_draws: its line in matches.jsonl says something else",
        ),
        ("matches.jsonl", 0, {"players": ["greedy", "greedy"]}, "matches.jsonl:1: "),
        ("matches.jsonl", 1, {"seed": "00" * 32}, "matches.jsonl:2: its seed is not that"),
        ("matches.jsonl", 1, {"replay": "../../x"}, "is not there"),
        ("matches.jsonl", 3, {"replay_sha256": "00" * 32}, "is not the file that its line"),
        ("junit.xml", 0, None, "junit.xml: does not match the matches"),
        ("crosstable.csv", 0, None, "crosstable.csv: does not match the matches"),
        ("ratings.json", 0, None, "ratings.json: does not match the matches"),
    ],
)
def test_what_was_changed_afterwards_is_named(
    finished: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    number: int,
    fields: dict[str, object] | None,
    expected: str,
) -> None:
    folder = tmp_path / "cup"
    subprocess.run(["cp", "-r", str(finished), str(folder)], check=True)
    if fields is None:
        (folder / name).write_bytes((folder / name).read_bytes() + b" ")
    else:
        change(folder, name, number, **fields)
    assert main(["tournament", "verify", str(folder)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    [line] = err.splitlines()
    assert expected in line


@pytest.mark.parametrize(
    "words",
    [
        ["ratings", "{folder}/matches.jsonl"],
        ["tournament", "ratings", "{folder}"],
        ["tournament", "report", "{folder}"],
        ["tournament", "status", "{folder}"],
        ["tournament", "verify", "{folder}"],
        ["tournament", "run", "{folder}"],
        ["tournament", "export", "{folder}", "-o", "orders"],
        ["tournament", "init", "final", "--from", "{folder}", "--top", "2"],
        ["tournament", "merge", "{folder}", "a.result"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_two_tournaments_in_one_file_are_refused_by_every_command_that_reads_lines(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    folder = tmp_path / "cup"
    subprocess.run(["cp", "-r", str(finished), str(folder)], check=True)
    lines = (folder / "matches.jsonl").read_bytes()
    (folder / "matches.jsonl").write_bytes(lines + lines)
    before = {path: path.read_bytes() for path in folder.glob("*.*")}
    assert main([word.replace("{folder}", str(folder)) for word in words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "matches.jsonl: line 5: block 0 is there twice; are these two tournaments?" in err
    assert {path: path.read_bytes() for path in before} == before


def test_a_replay_that_was_changed_with_its_hash_is_named(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "cup"
    subprocess.run(["cp", "-r", str(finished), str(folder)], check=True)
    replay = lines_of(folder)[0]["replay"]
    content = (folder / replay).read_bytes().replace(b'"turns":', b'"turns":1', 1)
    (folder / replay).write_bytes(content)
    change(folder, "matches.jsonl", 0, replay_sha256=sha256(content).hexdigest())
    assert main(["tournament", "verify", str(folder)]) == 1
    assert replay in capsys.readouterr().err


UNHELD: Final = (
    *("stellwerk", "python"),  # what played: nothing else says so
    *("wrap", "sandbox.bind"),  # paths, which are others on a copy of the folder
    *("bots[1].version", "bots[2].version"),  # the lines say what played
    "without",  # a bot that was left out may be removed from tournament.toml
)
"""The values of `resolved.json` that only its own digest holds, if the lines, the replays, the report and
`tournament.toml` are there."""


def _changed(value: Any) -> Any:  # any JSON value
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case None:
            return 1
        case str() if value in ("none", "auto", "limits"):
            return "landlock"
        case str() if value in ("fresh", "house"):
            return "reused"
        case str() if value in ("tcp", "stdio"):
            return "stdio" if value == "tcp" else "tcp"
        case str():
            return value[:-1] + ("x" if value[-1:] != "x" else "y")
        case []:
            return ["x"]
        case {}:
            return {"x": "y"}
        case _:
            raise AssertionError(value)


def _mutations(content: Any, place: str = "") -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield each value and each key, with what changes it in the content. Call that at most once."""
    pairs: list[tuple[Any, Any]]  # as JSON comes
    pairs = [*cast(Any, content).items()] if isinstance(content, dict) else [*enumerate(content)]
    for key, value in pairs:
        where = f"{place}[{key + 1}]" if isinstance(key, int) else f"{place}.{key}".lstrip(".")
        if isinstance(key, str):
            yield f"the key {where}", partial(_rename, content, key)
        if isinstance(value, dict | list) and value:
            yield from _mutations(value, where)
        else:
            yield where, partial(operator.setitem, content, key, _changed(value))


def _rename(content: dict[str, Any], key: str) -> None:
    content[f"{key}x"] = content.pop(key)


@pytest.mark.parametrize("sealed", [False, True], ids=["by accident", "with a new digest"])
def test_verify_holds_each_value_of_the_resolved_settings(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], sealed: bool
) -> None:
    """By an accident, its digest is wrong. With a new digest, something else shows it, but for what nothing
    but this file knows."""
    folder = tmp_path / "cup"
    subprocess.run(["cp", "-r", str(finished), str(folder)], check=True)
    path = folder / "resolved.json"
    text = path.read_bytes()
    seal = json.loads(text)["sha256"]
    places = [place for place, _ in _mutations({k: v for k, v in json.loads(text).items() if k != "sha256"})]
    assert "clocks.move_ms" in places
    assert "games[2].board_digest" in places
    good: list[str] = []
    for place in places:
        content = json.loads(text)
        del content["sha256"]
        dict(_mutations(content))[place]()
        changed = json.dumps(content, indent=2, ensure_ascii=False).encode().removesuffix(b"\n}")
        digest = sha256(changed).hexdigest() if sealed else seal
        path.write_bytes(changed + f',\n  "sha256": "{digest}"\n}}\n'.encode())
        if (code := main(["tournament", "verify", str(folder)])) == 0:
            good.append(place)
        else:
            assert code in (1, 2)
            assert "Traceback" not in capsys.readouterr().err
    assert sorted(good) == (sorted(UNHELD) if sealed else [])


def test_replays_of_anonymous_matches_name_no_bot(finished: Path) -> None:
    for line in lines_of(finished):
        header = json.loads((finished / line["replay"]).read_bytes().splitlines()[0])
        assert [seat["name"] for seat in header["seats"]] == [f"seat-{n}" for n in range(len(line["bots"]))]


# -- command lines and folders -----------------------------------------------------------------------


def test_init_writes_a_tournament_that_can_be_shown_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "new" / "cup")
    assert (
        main(["tournament", "init", folder, "--game", "card_game", "--bot", "random", "--bot", "planner"])
        == 0
    )
    assert main(["tournament", "run", folder, "--dry-run", "--rounds", "3"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].endswith(f"then: stellwerk tournament run {folder}")
    assert out[1].startswith("20 matches in 10 blocks, ")
    assert out[2] == out[4].replace("3", "10") == "each bot plays 10 blocks; every two bots meet"
    assert out[3].startswith("6 matches in 3 blocks, ")
    assert out[5] == "before the first match 1 bot would answer 3 asks in each seat of 1 game (preflight)"
    assert out[6:] == [
        f"round {number}, block {number}: card_game of 2: random, planner" for number in range(3)
    ]
    assert not (tmp_path / "new" / "cup" / "state.sqlite").exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("run", "{none}"), "is not there; begin with: stellwerk tournament init"),
        (("init", "{cup}"), "already exists"),
        (("init", "{none}", "--bot", "gredy"), 'did you mean "greedy"?'),
        (("init", "{none}", "--game", "use"), 'did you mean "usa"?'),
        (("run", "{cup}", "--seed", "s"), "--seed: for built-in bots only"),
        (("run", "{finished}", "--seed", "s"), "began without --seed: continue without it"),
        (("run", "{changed}"), "clocks.move_ms was 1000, and is 500 now"),
        (("run", "{typo}"), 'tournament.toml:1: concurency: unknown key; did you mean "concurrency"?'),
        (("run", "{greedy}"), "tournament.toml:1: cores_per_bot: a match of 2 bots takes 2,000 cores"),
        (("status", "{damaged}"), "matches.jsonl: line 1: no record of a match"),
        (("run", "{many}"), 'take kind = "random" or "swiss"'),
        (("run", "{cup}", "--until-width", "0"), "expected a number from 0.01 to 99999"),
        (("run", "{cup}", "--budget", "200"), "--budget: goes with --dry-run"),
        (("init", "{none}", "--top", "4"), "--top: goes with --from only"),
        (("init", "{none}", "--budget", "2d"), "expected a number of matches such as 200, or a time"),
        (("init", "{none}", "--budget", "1"), "one round of random tables has 2 matches"),
        (("init", "{none}", "--from", "{cup}"), "no block has been played, so there is no ranking yet"),
        (("init", "{none}", "--from", "{none}"), "is not there"),
        (("init", "{none}", "--from", "{finished}", "--top", "9"), "--top 9: only "),
        (("init", "{none}", "--from", "{finished}", "--bot", "greedy"), "--bot: does not go with --from"),
        (("init", "{cup}", "--from", "{finished}"), "already exists"),
    ],
    ids=str,
)
def test_what_cannot_be_done_is_refused_in_one_line(
    tmp_path: Path,
    finished: Path,
    words: tuple[str, ...],
    expected: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    own = 'name = "own"\ncmd = "true"'
    three = [*TWO, 'built_in = "planner"']
    changed = cup(tmp_path / "changed", TWO)
    subprocess.run(["cp", "-r", *map(str, finished.glob("*")), str(changed)], check=True)
    text = (changed / "tournament.toml").read_text()
    (changed / "tournament.toml").write_text(
        text.replace("[[games]]", "[clocks]\nmove_ms = 500\n[[games]]", 1)
    )
    damaged = cup(tmp_path / "damaged", TWO)
    (damaged / "matches.jsonl").write_text("{}\n")
    folders = {
        "none": tmp_path / "none",
        "cup": cup(tmp_path / "cup", [own, *TWO]),
        "finished": finished,
        "changed": changed,
        "typo": cup(tmp_path / "typo", three, "concurency = 1"),
        "greedy": cup(tmp_path / "greedy", [own, own.replace("own", "other")], "cores_per_bot = 1000"),
        "damaged": damaged,
        "many": cup(
            tmp_path / "many",
            [f'name = "b{number}"\ncmd = "true"' for number in range(80)],
            game='game = "usa"\nplayers = 5',
        ),
    }
    code = main(["tournament", *(word.format(**folders) for word in words)])
    out, err = capsys.readouterr()
    assert code == 2
    assert out == ""
    [line] = err.splitlines()
    assert line.startswith("stellwerk: ")
    assert expected in line


def test_a_tournament_with_a_seed_asks_for_the_seed_that_it_began_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = cup(tmp_path / "cup", TWO)
    tournament("run", folder, "--seed", "s")
    for words, expected in (
        (("run",), "began with --seed: give the one that it began with"),
        (("run", "--seed", "t"), "began with another --seed: give the one that it began with"),
    ):
        assert main(["tournament", words[0], str(folder), *words[1:]]) == 2
        assert expected in capsys.readouterr().err


def test_a_budget_that_is_set_around_a_tournament_is_said_to_have_no_effect(tmp_path: Path) -> None:
    bots = [
        'built_in = "greedy"',
        'built_in = "searcher"',
        'name = "other"\nbuilt_in = "searcher"\nenv = { X = "1" }',
    ]
    for number, budget in enumerate(("1", None)):
        folder = cup(tmp_path / str(number), bots)
        changes = {} if budget is None else {"STELLWERK_BOT_BUDGET": budget}
        done = stellwerk(
            "tournament", "export", str(folder), "-o", f"{folder}/out", "--no-preflight", **changes
        )
        assert done.returncode == 0, done.stderr
        notes = [line for line in done.stderr.splitlines() if "STELLWERK_BOT_BUDGET=1 is set here" in line]
        assert len(notes) == (2 if budget else 0)
        assert all('env = { STELLWERK_BOT_BUDGET = "1" }' in line for line in notes)
