"""`stellwerk play`: games between real processes, and whatever can be wrong with one of them."""

from __future__ import annotations

import json
import math
import os
import pty
import shlex
import signal
import socket
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from stellwerk.__main__ import main
from stellwerk.matches.plan import PlayPlan, rotated
from stellwerk.matches.report import MatchReport
from stellwerk.play.table import FEWEST_BLOCKS, Tally, lines_of_faults
from stellwerk.shared.progress import progress_line
from stellwerk_engine.boards.board_file import board_content, shipped_board
from stellwerk_engine.core.dice import seed_from_text
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.replays.reader import lines_of
from stellwerk_engine.replays.verify import verify
from stellwerk_processes.bench.local_bot import BotReport
from stellwerk_processes.bot_spec import BotSpec
from stellwerk_processes.faults import Conduct, Fault, FaultKind, faults_of
from stellwerk_processes.seat_report import Breakdown, SeatReport
from stellwerk_protocol.messages import DefaultReason
from stellwerk_tournament.ratings.student import quantile
from tests.command.program import COMMAND, SECONDS, environment, refused
from tests.tools import BWRAP, needs

# A bot that knows of the game nothing but that the first of the legal moves is one. What it does wrong, and
# at which of its asks, stands in its environment. It says nothing of itself but by what it does.
BOT = """
import json, os, signal, socket, sys
address, mode = os.environ["STELLWERK_ADDRESS"], os.environ.get("MODE", "good")
when = int(os.environ.get("WHEN", "3"))
if address == "stdio:":
    lines, out = sys.stdin.buffer, sys.stdout.buffer
else:
    host, _, port = address.removeprefix("tcp://").rpartition(":")
    line = socket.create_connection((host, int(port)))
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    lines = out = line.makefile("rwb")
def say(**message):
    out.write(json.dumps(message).encode() + b"\\n")
    out.flush()
asks = 0
if mode == "silent":
    signal.pause()
for text in lines:
    message = json.loads(text)
    match = message.get("match")
    if message["type"] == "hello":
        if mode == "typo":
            say(type="login", protocol=1, nmae="x")
            signal.pause()
        token = {} if mode == "tokenless" else {"token": os.environ["STELLWERK_TOKEN"]}
        say(type="login", protocol=1, name=os.environ["STELLWERK_NAME"], wants={"view": False}, **token)
    elif message["type"] == "start":
        say(type="ready", match=match)
    elif message["type"] == "ask":
        asks += 1
        if asks == when:
            print("now I", mode, file=sys.stderr, flush=True)
            if mode == "crash":
                raise RuntimeError("lost my way")
            if mode == "signal":
                os.kill(os.getpid(), signal.SIGSEGV)
            if mode == "quit":
                sys.exit(0)
            if mode == "garbage":
                out.write(b"thinking...\\n{'type': 'act'}\\n")
                out.flush()
            if mode == "leave":
                say(type="leave", match=match)
                continue
            if mode == "close":
                os.close(1)
                out = lines = None
                signal.pause()
            if mode == "fork" and os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                while True:
                    signal.pause()
            if mode == "flood":
                sys.stderr.write("x" * 10_000_000)
        if mode == "hang" and asks >= when:
            signal.pause()
        if mode == "illegal" and asks >= when:
            say(type="act", match=match, ask=message["ask"], index=999)
        else:
            say(type="act", match=match, ask=message["ask"], index=0)
    elif mode == "illegal" and message.get("tries"):
        say(type="act", match=match, ask=message["ask"], index=999)
"""

SHORT = 12  # trains: a game of some thirty turns


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    path = tmp_path / "bot.py"
    path.write_text(BOT)
    return path


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the board of the base game with few trains, for short games."""
    path = tmp_path_factory.mktemp("boards") / "board.json"
    path.write_text(json.dumps(board_content(shipped_board("usa")) | {"trains": SHORT}))
    return path


def spec(bot: Path, mode: str = "good", transport: str = "tcp", name: str = "") -> str:
    command = shlex.join([sys.executable, "-I", "-S", str(bot)])
    return f"name={name or mode} cmd={shlex.quote(command)} env.MODE={mode} transport={transport}"


def bots(*specs: str) -> list[str]:
    return [word for each in specs for word in ("--bot", each)]


def play(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    """Return what `--json` prints. Any: that is how JSON is read."""
    assert main(["play", *words, "--json"]) == code
    out, err = capsys.readouterr()
    assert err == ""
    printed: dict[str, Any] = json.loads(out)
    return printed


def table(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[str]:
    assert main(["play", *words]) == code
    out, err = capsys.readouterr()
    assert err == ""
    return out.splitlines()


def test_a_bot_that_did_wrong_comes_with_what_says_more_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    lines = table(capsys, "usa", "--bot", "random", "--bot", 'name=mine cmd="echo hello"', code=1)
    assert "nothing was played: the first game needs all its bots" in lines
    assert "more on mine: stellwerk kit doctor -- echo hello" in lines
    assert not any("doctor -- " in line and "random" in line for line in lines)


# -- games -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transports", [("tcp", "tcp"), ("stdio", "stdio"), ("tcp", "stdio")], ids="-".join)
def test_bots_play_over_tcp_and_over_stdio(
    bot: Path, board: Path, capsys: pytest.CaptureFixture[str], transports: tuple[str, str]
) -> None:
    one, other = (spec(bot, transport=transport) for transport in transports)
    printed = play(capsys, "usa", *bots(one, other), "--board", str(board))
    [match] = printed["matches"]
    assert (printed["game"], printed["players"], printed["isolation"]) == ("usa", 2, "none")
    assert [seat["bot"] for seat in match["seats"]] == printed["bots"] == ["good", "good-2"]
    for seat in match["seats"]:
        assert (seat["faults"], seat["defaults"]) == ([], 0)
        assert seat["cpu_ms"] > 0
    assert min(seat["rank"] for seat in match["seats"]) == 1


def test_the_points_of_a_seat_are_the_sum_of_its_breakdown(capsys: pytest.CaptureFixture[str]) -> None:
    printed = play(capsys, "card_game", *bots("greedy", "random"), "--seed", "s")
    for seat in printed["matches"][0]["seats"]:
        parts = seat["breakdown"]
        inner = sum(part["points"] for part in (*parts["tickets"], *parts["bonuses"]))
        assert seat["points"] == parts["route_points"] + inner


def test_the_same_seed_and_bots_give_the_same_game(
    bot: Path, board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("usa", *bots(spec(bot), "random"), "--board", str(board), "--seed", "s")
    first, again = (play(capsys, *words)["matches"][0] for _ in range(2))
    assert first["match"] == again["match"]
    for one, other in zip(first["seats"], again["seats"], strict=True):
        assert (one["points"], one["breakdown"]) == (other["points"], other["breakdown"])
    other_deal = play(capsys, *words[:-1], "t")["matches"][0]
    assert [seat["breakdown"] for seat in other_deal["seats"]] != [
        seat["breakdown"] for seat in first["seats"]
    ]


def test_in_team_games_each_bot_fills_a_team_with_processes_of_its_own(
    bot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = play(capsys, "team_asia", *bots(spec(bot), "greedy"), "--replays", str(tmp_path / "replays"))
    [match] = printed["matches"]
    assert [(seat["team"], seat["bot"]) for seat in match["seats"]] == [
        (0, "good"),
        (0, "good"),
        (1, "greedy"),
        (1, "greedy"),
    ]
    assert all(seat["cpu_ms"] > 0 and seat["faults"] == [] for seat in match["seats"])
    header = json.loads(Path(match["replay"]).read_text().splitlines()[0])
    assert [player["name"] for player in header["seats"]] == ["good", "good", "greedy", "greedy"]


def test_games_of_a_block_have_the_same_deal_and_the_bots_move_on(
    bot: Path, board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--board", str(board), "--seed", "s", "--replays", str(tmp_path / "replays"), "--games", "3")
    printed = play(capsys, "usa", *bots(spec(bot, name="a"), spec(bot, name="b")), *words)
    matches = printed["matches"]
    assert [match["seed"] for match in matches] == ["s/0", "s/0", "s/1"]
    assert [[seat["bot"] for seat in match["seats"]] for match in matches] == [
        ["a", "b"],
        ["b", "a"],
        ["a", "b"],
    ]
    # The same deal and the same moves: the same game, whoever sits there.
    points = [[seat["points"] for seat in match["seats"]] for match in matches]
    assert points[0] == points[1] != points[2]
    for match in matches:
        with open(match["replay"], "rb") as replay:
            assert verify(lines_of(replay)).good
    seeds = [json.loads(Path(match["replay"]).read_text().splitlines()[-1])["seed"] for match in matches]
    assert seeds == [seed_from_text(match["seed"]).hex() for match in matches]


def test_bots_never_learn_the_seed_of_a_deal_that_other_games_have_too(
    bot: Path, board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which of them ends last is not known when they begin. The third game has a deal of its own."""
    seen = tmp_path / "seen"
    noting = tmp_path / "noting.py"
    noting.write_text(
        BOT.replace("    match = ", f"    open({str(seen)!r}, 'ab').write(text)\n    match = ", 1)
    )
    words = ("--board", str(board), "--seed", "s", "--games", "3")
    play(capsys, "usa", *bots(spec(noting, name="a"), spec(bot, name="b")), *words)
    ends = [json.loads(line) for line in seen.read_text().splitlines() if '"type":"end"' in line]
    assert [end["reveal"] for end in ends] == ["later", "later", "now"]
    assert ["seed" in end for end in ends] == [False, False, True]


def test_the_table_shows_the_score_with_its_parts(
    bot: Path, board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replays = str(tmp_path / "replays")
    words = ("--board", str(board), "--seed", "s", "--replays", replays)
    lines = table(capsys, "usa", *bots(spec(bot), "greedy"), *words)
    head = next(number for number, line in enumerate(lines) if line.startswith("rank"))
    assert {"points", "routes", "tickets", "completed"} <= set(lines[head].split())
    assert {lines[head + 1].split()[1], lines[head + 2].split()[1]} == {"good", "greedy"}
    assert lines[-1] == f"replay        {replays}/usa-s-0.jsonl"


def test_built_in_bots_play_every_game(capsys: pytest.CaptureFixture[str]) -> None:
    for game in RULE_SETS:
        printed = play(capsys, game, *bots("greedy", "random"))
        assert [seat["faults"] for seat in printed["matches"][0]["seats"] if seat["faults"]] == []


# -- games at the same time, and processes that stay ------------------------------------------------

# Before its first answer a bot of this kind waits until so many games are under way.
MEETING = BOT.replace(
    "        asks += 1\n",
    """        asks += 1
        if asks == 1:
            import time
            folder = os.environ["FOLDER"]
            open(os.path.join(folder, match), "w").close()
            while len(os.listdir(folder)) < 2:
                time.sleep(0.01)
""",
)


def test_games_are_played_at_the_same_time_and_come_in_their_order(
    bot: Path, board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    meeting, folder = tmp_path / "meeting.py", tmp_path / "games"
    meeting.write_text(MEETING)
    folder.mkdir()
    first, second = f"{spec(meeting, name='a')} env.FOLDER={folder}", spec(bot, name="b")
    words = (
        *bots(first, second),
        "--board",
        str(board),
        "--seed",
        "s",
        "--games",
        "5",
        "--move-time",
        "60000",
    )
    replays = ("--replays", str(tmp_path / "replays"))
    together = play(capsys, "usa", *words, *replays, "--jobs", "2")
    assert together["jobs"] == 2
    alone = play(capsys, "usa", *words)
    for one, other in zip(together["matches"], alone["matches"], strict=True):
        assert (one["number"], one["match"], one["seed"]) == (other["number"], other["match"], other["seed"])
        for seat, same in zip(one["seats"], other["seats"], strict=True):
            assert (seat["bot"], seat["breakdown"]) == (same["bot"], same["breakdown"])
    names = [Path(match["replay"]).name for match in together["matches"]]
    assert names == [f"usa-s-{number}.jsonl" for number in range(5)]
    for match in together["matches"]:
        times = json.loads(Path(match["replay"]).with_suffix(".times.json").read_text())
        assert times["match"] == match["match"]
        assert [len(seat) for seat in times["seats"]] == [seat["asks"] for seat in match["seats"]]
        last = json.loads(Path(match["replay"]).read_text().splitlines()[-1])
        assert last["seed"] == seed_from_text(match["seed"]).hex()


def test_a_process_that_is_used_again_plays_game_after_game_but_no_deal_twice(
    bot: Path, board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen, noting = tmp_path / "seen", tmp_path / "noting.py"
    noted = f"open({str(seen)!r}, 'a').write(f'{{os.getpid()}} {{match}}\\n')"
    noting.write_text(
        BOT.replace('        say(type="ready"', f'        {noted}\n        say(type="ready"', 1)
    )
    words = (*bots(spec(noting, name="a"), spec(bot, name="b", transport="stdio")), "--board", str(board))
    printed = play(capsys, "usa", *words, "--seed", "s", "--games", "6", "--process", "reused")
    assert printed["process"] == "reused"
    assert [[seat["faults"] for seat in match["seats"]] for match in printed["matches"]] == [[[], []]] * 6
    played = [line.split() for line in seen.read_text().splitlines()]
    deal_of = {match["match"]: match["seed"] for match in printed["matches"]}
    assert [match for _, match in played] == list(deal_of)
    deals = Counter((process, deal_of[match]) for process, match in played)
    assert set(deals.values()) == {1}
    assert len({process for process, _ in played}) == 2  # games of a block have the same deal


def test_a_process_that_is_used_again_and_cannot_start_stops_play_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def play(:\n")
    words = (*bots("random", f"name=mine cmd='python3 {file}'"), "--process", "reused", "--games", "4")
    fault = faults_at_start(play(capsys, "usa", *words, code=1), "mine")["start_failure"]
    assert "correct the syntax error" in fault["hint"]


# -- logs --------------------------------------------------------------------------------------------


def test_a_log_has_all_that_a_bot_printed_and_is_named_where_it_failed(
    bot: Path, board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs, loud = tmp_path / "logs", tmp_path / "loud.py"
    loud.write_text("import sys\nfor n in range(3000): print('\\x1b[31mline', n, file=sys.stderr)\n" + BOT)
    words = (*bots(spec(loud, "crash"), spec(bot)), "--board", str(board), "--seed", "s", "--games", "2")
    lines = table(capsys, "usa", *words, "--log", str(logs), code=1)
    assert sorted(path.name for path in logs.iterdir()) == [
        "usa-s-0-0-crash.log",
        "usa-s-0-1-good.log",
        "usa-s-1-0-good.log",
        "usa-s-1-1-crash.log",
    ]
    printed = (logs / "usa-s-1-1-crash.log").read_text().splitlines()
    assert printed[:2] == ["--- game 1, seat 1", "line 0"]
    assert printed[3000] == "line 2999"
    assert printed[-1] == "RuntimeError: lost my way"
    assert [line for line in lines if "log:" in line] == [
        f"    log: {logs}/usa-s-0-0-crash.log",
        f"    log: {logs}/usa-s-1-1-crash.log",
    ]


def test_a_process_that_is_used_again_has_one_log_with_a_heading_for_each_game(
    bot: Path, board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (*bots(spec(bot, name="a"), spec(bot, name="b")), "--board", str(board), "--seed", "s")
    more = ("--games", "2", "--no-rotate", "--process", "reused", "--log", str(tmp_path))
    printed = play(capsys, "usa", *words, *more)
    assert {seat["log"] for match in printed["matches"] for seat in match["seats"] if seat["bot"] == "a"} == {
        str(tmp_path / "usa-s-0-0-a.log")
    }
    assert (tmp_path / "usa-s-0-0-a.log").read_text().splitlines() == [
        "--- game 0, seat 0",
        "now I good",
        "--- game 1, seat 0",
    ]


def test_a_log_that_cannot_be_written_is_an_error(
    bot: Path, board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "usa-s-0-0-good.log").mkdir()
    words = ("usa", *bots(spec(bot), "random"), "--board", str(board), "--seed", "s", "--log", str(tmp_path))
    assert main(["play", *words]) == 2
    assert "usa-s-0-0-good.log: cannot be written" in capsys.readouterr().err


# -- what goes wrong ---------------------------------------------------------------------------------


def faults_in(printed: dict[str, Any], name: str) -> dict[str, dict[str, Any]]:
    """Return the faults of one bot in the only game, by kind. The game has a result, and nobody else has a
    fault."""
    [match] = printed["matches"]
    assert min(seat["rank"] for seat in match["seats"]) == 1
    assert [seat["faults"] for seat in match["seats"] if seat["bot"] != name and seat["faults"]] == []
    [seat] = [seat for seat in match["seats"] if seat["bot"] == name]
    return {fault["kind"]: fault for fault in seat["faults"]}


def faults_at_start(printed: dict[str, Any], name: str) -> dict[str, dict[str, Any]]:
    """Return the faults of the one bot whose failure kept the games from beginning, by kind."""
    assert printed["matches"] == []
    [missing] = printed["not_started"]
    assert missing["bot"] == name
    return {fault["kind"]: fault for fault in missing["faults"]}


@pytest.mark.parametrize(
    ("mode", "transport", "detail"),
    [
        ("crash", "tcp", "exit status 1"),
        ("crash", "stdio", "exit status 1"),
        ("signal", "tcp", "SIGSEGV"),
        ("quit", "stdio", "exit status 0"),
    ],
)
def test_a_crash_is_told_with_its_cause_and_last_lines(
    bot: Path, board: Path, capsys: pytest.CaptureFixture[str], mode: str, transport: str, detail: str
) -> None:
    """The match does not wait for the bot: with the default clocks, a missing answer would take 11 s."""
    printed = play(capsys, "usa", *bots(spec(bot), spec(bot, mode, transport)), "--board", str(board), code=1)
    faults = faults_in(printed, mode)
    assert list(faults) == ["crash"]
    assert detail in faults["crash"]["detail"]
    assert f"now I {mode}" in faults["crash"]["last_lines"]
    if mode == "crash":
        assert faults["crash"]["last_lines"][-1] == "RuntimeError: lost my way"


def test_a_bot_that_hangs_is_told(bot: Path, board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--board", str(board), "--move-time", "1000", "--bank", "0")
    faults = faults_in(play(capsys, "usa", *bots(spec(bot), spec(bot, "hang")), *words), "hang")
    assert list(faults) == ["hang"]
    assert faults["hang"]["count"] == 3


def test_illegal_moves_are_told(bot: Path, board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--board", str(board))
    faults = faults_in(play(capsys, "usa", *bots(spec(bot), spec(bot, "illegal")), *words), "illegal")
    assert list(faults) == ["illegal"]
    assert faults["illegal"]["count"] >= 3
    assert "game.not_available" in faults["illegal"]["detail"]


@pytest.mark.parametrize("transport", ["tcp", "stdio"])
def test_garbage_is_told_and_costs_nothing_else(
    bot: Path, board: Path, capsys: pytest.CaptureFixture[str], transport: str
) -> None:
    words = ("--board", str(board))
    printed = play(capsys, "usa", *bots(spec(bot), spec(bot, "garbage", transport)), *words)
    faults = faults_in(printed, "garbage")
    assert list(faults) == ["garbage"]
    assert faults["garbage"]["detail"] == "refused lines: wire.not_json 2"


def test_a_bot_that_leaves_is_told(bot: Path, board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--board", str(board))
    faults = faults_in(play(capsys, "usa", *bots(spec(bot), spec(bot, "leave")), *words), "leave")
    assert list(faults) == ["left"]


def test_a_bot_that_closes_its_output_is_not_waited_for(
    bot: Path, board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (*bots(spec(bot), spec(bot, "close", "stdio")), "--board", str(board))
    faults = faults_in(play(capsys, "usa", *words, code=1), "close")
    assert list(faults) == ["disconnect"]
    assert faults["disconnect"]["last_lines"] == ["now I close"]


@pytest.mark.parametrize(
    ("mode", "transport", "detail"),
    [
        ("silent", "stdio", "never logged in"),
        ("tokenless", "tcp", "STELLWERK_TOKEN"),
        ("tokenless", "stdio", "STELLWERK_TOKEN"),
        ("typo", "tcp", "never logged in"),
    ],
)
def test_a_bot_that_does_not_log_in_is_told_and_fails_the_command(
    bot: Path, board: Path, capsys: pytest.CaptureFixture[str], mode: str, transport: str, detail: str
) -> None:
    words = ("--board", str(board), "--set-up-time", "2500")
    printed = play(capsys, "usa", *bots(spec(bot), spec(bot, mode, transport)), *words, code=1)
    faults = faults_at_start(printed, mode)
    assert detail in faults["start_failure"]["detail"]
    if mode == "typo":
        assert "protocol.unknown_field" in faults["garbage"]["detail"]
        first = faults["garbage"]["first"]
        assert (first["code"], first["pointer"]) == ("protocol.unknown_field", "/nmae")
    else:
        assert list(faults) == ["start_failure"]


def test_a_bot_that_ends_before_it_logs_in_is_not_waited_for(
    bot: Path, board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = "name=broken cmd=\"sh -c 'echo no such library >&2; exit 3'\""
    printed = play(capsys, "usa", *bots(spec(bot), broken), "--board", str(board), code=1)
    [fault] = faults_at_start(printed, "broken").values()
    assert fault["detail"] == "ended with exit status 3 before it logged in"
    assert fault["last_lines"] == ["no such library"]


def test_all_bots_that_cannot_start_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    printed = play(capsys, "usa", *bots("cmd=true", "cmd=false"), code=1)
    assert [(missing["seat"], missing["bot"]) for missing in printed["not_started"]] == [
        (0, "true"),
        (1, "false"),
    ]


PYTHON = f'cmd="{shlex.quote(sys.executable)} -I'
# By their evidence: what the bot is, what its file holds, and what the hint says. None: there is no hint.
HINTS: list[tuple[str, str, str, str | None]] = [
    ("a syntax error", PYTHON + ' {file}"', "def play(:\n", "correct the syntax error in {file}, line 1"),
    ("a syntax error over stdio", PYTHON + ' {file}" transport=stdio', "x = (\n", "correct the syntax error"),
    ("a missing module", PYTHON + ' {file}"', "import no_such_module\n", "install the module no_such_module"),
    ("a missing file", PYTHON + ' {file}.py"', "", "files named in cmd count from the current folder"),
    ("a crash of its own", PYTHON + ' {file}"', "1 / 0\n", None),
    (
        "another address",
        PYTHON + ' {file}"',
        "raise ConnectionRefusedError('[Errno 111] Connection refused')\n",
        "it must connect to the address in STELLWERK_ADDRESS",
    ),
    ("a bot for stdio", PYTHON + ' {file}"', "import sys; sys.stdin.read()\n", "it needs transport=stdio"),
    (
        "messages on standard output",
        PYTHON + ' {file}"',
        """print('{"type":"login","protocol":1}'); raise SystemExit(1)\n""",
        "it prints messages to its standard output, so it needs transport=stdio",
    ),
    (
        "words on standard output",
        PYTHON + ' {file}" transport=stdio',
        "import signal; print('hello', flush=True); signal.pause()\n",
        "it must print all else to standard error",
    ),
    (
        "silence over stdio",
        PYTHON + ' {file}" transport=stdio',
        "import signal; signal.pause()\n",
        "after `hello` it must write `login`, and flush",
    ),
    ("no connection", PYTHON + ' {file}"', "import signal; signal.pause()\n", "it did not connect to"),
    (
        "silence over tcp",
        PYTHON + ' {file}"',
        "import os, signal, socket\n"
        "host, _, port = os.environ['STELLWERK_ADDRESS'][6:].rpartition(':')\n"
        "line = socket.create_connection((host, int(port)))\nsignal.pause()\n",
        "it connected, and sent nothing",
    ),
]


@pytest.mark.parametrize(
    ("command", "code", "hint"), [case[1:] for case in HINTS], ids=[case[0] for case in HINTS]
)
def test_the_hint_for_a_bot_that_does_not_start_rests_on_what_was_seen_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, code: str, hint: str | None
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(code)
    words = ("random", f"name=mine {command.format(file=file)}")
    printed = play(capsys, "usa", *bots(*words), "--set-up-time", "2500", code=1)
    fault = faults_at_start(printed, "mine")["start_failure"]
    assert fault.get("hint") is None if hint is None else hint.format(file=file) in fault["hint"]


def test_a_bot_that_cannot_start_stops_play_before_ten_games_are_played(
    bot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def play(:\n")
    replays = tmp_path / "replays"
    words = (*bots(spec(bot), f"name=mine cmd='python3 {file}'"), "--games", "10", "--jobs", "3")
    lines = table(capsys, "usa", *words, "--replays", str(replays), code=1)
    start = lines.index("nothing was played: the first game needs all its bots")
    assert lines[start + 2 :] == [
        "mine in seat 1: start failure, ended with exit status 1 before it logged in",
        f'    |   File "{file}", line 1',
        "    |     def play(:",
        "    |              ^",
        "    | SyntaxError: invalid syntax",
        f"    hint: correct the syntax error in {file}, line 1",
        f"more on mine: stellwerk kit doctor -- python3 {file}",
    ]
    assert list(replays.iterdir()) == []


def test_a_bot_that_was_not_waited_for_is_not_blamed(bot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It may need a while to start. With the clocks as they are by default it would have 30 s."""
    printed = play(capsys, "usa", *bots(spec(bot, "silent"), "cmd=false"), code=1)
    assert [missing["bot"] for missing in printed["not_started"]] == ["false"]


@pytest.mark.parametrize(
    ("mode", "code"), [("crash", 1), ("close", 1), ("hang", 0), ("illegal", 0), ("garbage", 0), ("leave", 0)]
)
def test_a_bot_that_breaks_down_fails_the_command_and_one_that_plays_badly_does_not(
    bot: Path, board: Path, capsys: pytest.CaptureFixture[str], mode: str, code: int
) -> None:
    """The remaining games are played all the same."""
    words = ("--board", str(board), "--games", "2", "--move-time", "1000", "--bank", "0")
    printed = play(capsys, "usa", *bots(spec(bot), spec(bot, mode, "stdio")), *words, code=code)
    assert [match["number"] for match in printed["matches"]] == [0, 1]
    assert all(any(seat["faults"] for seat in match["seats"]) for match in printed["matches"])


def test_the_first_refused_move_comes_with_what_was_expected(
    bot: Path, board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (*bots(spec(bot), spec(bot, "illegal")), "--board", str(board), "--seed", "s")
    first = faults_in(play(capsys, "usa", *words), "illegal")["illegal"]["first"]
    assert (first["code"], first["pointer"], first["ask"]) == ("game.not_available", "/index", 3)
    assert first["expected"].startswith("an index below ")
    assert first["turn"] > 0
    assert '"index":999' in first["line"]
    line = (
        f"    first: at ask 3 in turn {first['turn']} game.not_available at /index: "
        f"expected {first['expected']}, it sent: {first['line']}"
    )
    assert line in table(capsys, "usa", *words)


def test_the_first_line_that_cannot_be_read_comes_with_what_was_expected(
    bot: Path, board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (*bots(spec(bot), spec(bot, "garbage")), "--board", str(board))
    first = faults_in(play(capsys, "usa", *words), "garbage")["garbage"]["first"]
    assert (first["code"], first["line"], first["ask"]) == ("wire.not_json", "thinking...", 3)
    assert first["expected"]


def test_a_flood_on_standard_error_blocks_nobody(
    bot: Path, board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--board", str(board))
    assert faults_in(play(capsys, "usa", *bots(spec(bot), spec(bot, "flood")), *words), "flood") == {}


def test_what_a_bot_prints_cannot_harm_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    nasty = r"""name=nasty cmd="sh -c 'printf \"\\033]0;title\\007\\033[2Jboo\\n\" >&2; exit 1'" """
    lines = table(capsys, "usa", *bots(nasty, "cmd=false"), code=1)
    assert all(line.isprintable() for line in lines)
    assert any("boo" in line for line in lines)


def test_memory_is_limited_where_that_is_asked_for(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    greedy_for_memory = [sys.executable, "-I", "-S", "-c", "bytearray(500_000_000)"]
    words = (*bots("greedy", f"name=big cmd={shlex.quote(shlex.join(greedy_for_memory))}"), "--memory", "300")
    printed = play(capsys, "usa", *words, "--board", str(board), code=1)
    [fault] = faults_at_start(printed, "big").values()
    assert fault["last_lines"][-1] == "MemoryError"


def test_all_that_bots_have_started_ends_with_the_game(
    bot: Path, board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The child would keep the reading end from its end."""
    held = tmp_path / "held"
    os.mkfifo(held)
    holding = tmp_path / "holding.py"
    holding.write_text(f"held = open({str(held)!r}, 'wb', 0)\n" + BOT)
    reading = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    try:
        printed = play(capsys, "usa", *bots(spec(bot), spec(holding, "fork")), "--board", str(board))
        os.set_blocking(reading, True)
        assert os.read(reading, 1) == b""
    finally:
        os.close(reading)
    assert faults_in(printed, "fork") == {}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_to_stop_ends_the_bots_too(
    bot: Path, board: Path, tmp_path: Path, number: signal.Signals
) -> None:
    held = tmp_path / "held"
    os.mkfifo(held)
    holding = tmp_path / "holding.py"
    holding.write_text(
        BOT.replace("def say", f"held = open({str(held)!r}, 'wb', 0)\nheld.write(b'up')\ndef say", 1)
    )
    words = ["play", "usa", *bots(spec(bot), spec(holding, "silent")), "--board", str(board)]
    with subprocess.Popen(
        [*COMMAND, *words], env=environment(), stderr=subprocess.PIPE, text=True
    ) as program:
        with held.open("rb") as reading:
            assert reading.read(2) == b"up"
            program.send_signal(number)
            assert reading.read() == b""  # the bot has ended
        _, err = program.communicate(timeout=SECONDS)
    assert (program.returncode, err) == (130, "stellwerk: interrupted\n")


def test_a_terminal_shows_how_far_a_game_has_come(bot: Path, board: Path) -> None:
    words = ["play", "usa", *bots(spec(bot, "hang")), "--board", str(board), "--move-time", "500"]
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [*COMMAND, *words, "--bank", "0", *bots(spec(bot))],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=theirs,
        timeout=SECONDS,
        check=False,
    )
    os.close(theirs)
    drawn = os.read(ours, 100_000).decode()
    os.close(ours)
    assert done.returncode == 0
    assert b"game 1 of 1, turn" not in done.stdout
    assert "game 1 of 1, turn" in drawn
    assert drawn.endswith("\r\x1b[K")  # and nothing is left of it


# -- sandbox -----------------------------------------------------------------------------------------


@needs("bwrap", "sandboxes")
def test_bots_play_over_stdio_in_bubblewrap_without_a_network(
    bot: Path, board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What listens on this machine cannot be reached from inside."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        bot.write_text(
            "import socket\ntry:\n"
            f"    socket.create_connection(('127.0.0.1', {port}))\nexcept OSError:\n    pass\n"
            "else:\n    raise SystemExit('there is a network')\n" + BOT
        )
        words = ("--board", str(board), "--wrap", BWRAP)
        printed = play(
            capsys, "usa", *bots(spec(bot, transport="stdio"), spec(bot, transport="stdio")), *words
        )
    assert printed["isolation"] == "namespace"
    assert [seat["faults"] for seat in printed["matches"][0]["seats"]] == [[], []]


def test_a_bot_works_in_its_dir_which_counts_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "bot.py").write_text(
        "import os; open('place', 'w').write(os.getcwd())\n"
        "from stellwerk_bots.__main__ import main; main(['greedy'])\n"
    )
    monkeypatch.chdir(tmp_path)
    bot = f"name=here cmd={shlex.quote(shlex.join([sys.executable, 'bot.py']))} dir=mine"
    assert main(["play", "card_game", *bots("greedy", bot), "--seed", "1"]) == 0, capsys.readouterr().err
    assert (tmp_path / "mine" / "place").read_text() == str(tmp_path / "mine")


# -- command lines -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("use", *bots("greedy", "greedy")), 'did you mean "usa"?'),
        (("usa",), "2 or 3 or 4 or 5 bots"),
        (("usa", *bots("greedy")), "--bot is given 1 time"),
        (("team_asia", *bots("greedy", "greedy", "greedy", "greedy")), "all 2 seats of a team"),
        (("usa", *bots("greedy", "gredy")), '--bot 2: word 1: there is no built-in bot "gredy"'),
        (("usa", *bots("greedy", "cmd=no-such-program")), '--bot 2: there is no program "no-such-program"'),
        (("usa", *bots("greedy", "cmd=true dir=/no/such")), '--bot 2: there is no folder "/no/such"'),
        (
            ("usa", *bots("greedy", "greedy"), "--wrap", "'", "--process", "fresh"),
            "--wrap: no closing quotation",
        ),
        (
            ("usa", *bots("greedy", "greedy"), "--wrap", "no-such-program", "--process", "fresh"),
            "no-such-program",
        ),
        (("usa", *bots("greedy", "greedy"), "--seed", ""), "cannot be empty"),
        (("usa", *bots("greedy", "greedy"), "--option", "x"), "has no option"),
        (("usa", *bots("greedy", "greedy"), "--games", "0"), "from 1 to"),
        (("usa", *bots("greedy", "greedy"), "--move-time", "0"), "from 1 to"),
        (("usa", *bots("greedy", "greedy"), "--replays", "/dev/null/x"), "cannot be written"),
        (
            ("usa", *bots("greedy", "greedy"), "--log", "/dev/null/x", "--process", "fresh"),
            "cannot be written",
        ),
        (("usa", *bots("greedy", "greedy"), "--jobs", "-1"), "from 0 to"),
    ],
    ids=lambda value: "" if isinstance(value, tuple) else value,
)
def test_a_wrong_command_line_is_refused_in_one_line(
    words: tuple[str, ...], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["play", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    [line] = err.splitlines()
    assert line.startswith("stellwerk: ")
    assert line.isprintable()
    assert expected in line


def test_what_cannot_be_shown_as_it_is_is_shown_otherwise() -> None:
    assert r"\udcff" in refused("play", "usa", "--bot", b"\xff", "--bot", "greedy")


# -- the plan ----------------------------------------------------------------------------------------


def plan(game: str, seats: int, bot_count: int, games: int, *, rotates: bool = True) -> PlayPlan:
    choice = GameChoice(game, seats, (), shipped_board(RULE_SETS[game].board))
    specs = tuple(BotSpec(str(number), ("true",)) for number in range(bot_count))
    return rotated(choice, specs, "s", games, rotates=rotates)


@pytest.mark.parametrize(("game", "seats", "bot_count"), [("usa", 3, 3), ("team_asia", 6, 3), ("usa", 2, 2)])
def test_in_a_block_each_bot_plays_each_teams_seats_of_one_deal_once(
    game: str, seats: int, bot_count: int
) -> None:
    games = list(plan(game, seats, bot_count, 2 * bot_count))
    for block in range(2):
        played = [each for each in games if each.block == block]
        assert {each.seed_text for each in played} == {f"s/{block}"}
        for seat in range(seats):
            assert sorted(each.bots[seat] for each in played) == list(range(bot_count))
        assert [each.games_of_block for each in played] == [bot_count] * bot_count


def test_partners_are_the_same_bot() -> None:
    for each in plan("team_asia", 4, 2, 2):
        assert each.bots[0] == each.bots[1] != each.bots[2] == each.bots[3]


def test_without_rotation_every_game_has_a_deal_of_its_own() -> None:
    games = list(plan("usa", 2, 2, 3, rotates=False))
    assert [(each.seed_text, each.bots, each.games_of_block) for each in games] == [
        ("s/0", (0, 1), 1),
        ("s/1", (0, 1), 1),
        ("s/2", (0, 1), 1),
    ]


def test_a_block_that_stays_incomplete_has_fewer_games() -> None:
    games = list(plan("usa", 3, 3, 5))
    assert [each.games_of_block for each in games] == [3, 3, 3, 2, 2]


def test_every_bot_in_every_game_has_a_seed_of_its_own() -> None:
    games = list(plan("usa", 2, 2, 4))
    seeds = {each.bot_seed(seat) for each, seat in product(games, range(2))}
    assert len(seeds) == 8
    assert len({each.match for each in games}) == 4
    assert not seeds & {each.seed.hex() for each in games}


# -- causes ------------------------------------------------------------------------------------------

ENDED = BotReport(0, None, True, 1, None, ("bye",))
CRASHED = BotReport(1, None, False, 1, None, ("Traceback", "boom"))


def defaults(**counts: int) -> Counter[DefaultReason]:
    reasons: tuple[DefaultReason, ...] = get_args(DefaultReason)
    return Counter({reason: counts[reason] for reason in reasons if reason in counts})


def kinds(conduct: Conduct) -> list[FaultKind]:
    return [fault.kind for fault in faults_of(conduct)]


def test_who_did_nothing_wrong_has_no_faults() -> None:
    assert kinds(Conduct(ENDED)) == []


def test_answers_that_were_missed_after_a_crash_are_no_faults_of_their_own() -> None:
    after = defaults(left=1, by_default=20)
    [fault] = faults_of(Conduct(CRASHED, ended_early=True, by_default=True, defaults=after))
    assert fault == Fault("crash", 1, "ended with exit status 1 before the match did", ("Traceback", "boom"))


@pytest.mark.parametrize(
    "line",
    [
        "MemoryError",
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
        "java.lang.OutOfMemoryError: Java heap space",
        "memory allocation of 1048576 bytes failed",
        "sh: fork: Cannot allocate memory",
    ],
)
def test_a_bot_that_ends_for_want_of_memory_is_told_apart_from_other_crashes(line: str) -> None:
    report = BotReport(1, None, False, 1, None, ("Traceback", line))
    assert kinds(Conduct(report, ended_early=True)) == ["out_of_memory"]
    assert kinds(Conduct(report)) == []


def test_a_late_answer_is_told_as_late_and_not_as_garbage() -> None:
    late = Conduct(ENDED, defaults=defaults(time=2), unreadable=Counter({"protocol.stale_ask": 2}))
    assert [(fault.kind, fault.detail) for fault in faults_of(late)] == [
        ("time", "no answer in time 2 times")
    ]


def test_who_was_not_waited_for_any_more_hung() -> None:
    assert kinds(Conduct(ENDED, by_default=True, defaults=defaults(time=3, by_default=9))) == ["hang"]


def test_who_sent_nothing_but_illegal_moves_did_not_hang() -> None:
    refused_acts = Counter({"game.route_taken": 9})
    counts = defaults(tries=3, by_default=9, time=1)
    conduct = Conduct(ENDED, by_default=True, defaults=counts, refused=refused_acts)
    assert kinds(conduct) == ["time", "illegal"]
    assert faults_of(conduct)[1].detail == "refused moves: game.route_taken 9; no try was left 3 times"


def test_a_lost_connection_is_told_with_what_it_cost() -> None:
    [fault] = faults_of(Conduct(ENDED, defaults=defaults(disconnected=3)))
    assert (fault.kind, fault.detail) == ("disconnect", "closed its connection and missed 3 answers")


# -- the table ---------------------------------------------------------------------------------------


def match_of(number: int, block: int, *points: tuple[str, int]) -> MatchReport:
    """Report a match of two seats or more, each a team. The seat with more points is ahead."""
    scores = sorted((score for _, score in points), reverse=True)
    seats = tuple(
        SeatReport(
            seat=seat,
            team=seat,
            bot=name,
            rank=scores.index(score) + 1,
            points=score,
            breakdown=Breakdown(score, (), (), 0),
            faults=(),
            defaults=0,
            asks=0,
            used_ms=0,
            slowest_ms=0,
            cpu_ms=0,
        )
        for seat, (name, score) in enumerate(points)
    )
    return MatchReport("m", number, block, "s", 10, "trains", seats)


def blocks_of(differences: list[int]) -> list[MatchReport]:
    """Report two games in each block. The mean of `a` over `b` is the difference."""
    pairs = [(100 + difference, 100, block) for block, difference in enumerate(differences)]
    return [
        match_of(2 * block + swap, block, *(points[::-1] if swap else points))
        for a, b, block in pairs
        for swap in (0, 1)
        for points in [(("a", a), ("b", b))]
    ]


def table_of(matches: list[MatchReport], block_size: int = 2) -> list[str]:
    tally = Tally(block_size)
    for match in matches:
        tally.add(match)
    return list(tally.lines())


def comparison_of(matches: list[MatchReport]) -> list[str]:
    """Return the lines between the table and the turns."""
    _, comparison, _ = ("\n".join(part) for part in paragraphs(table_of(matches)))
    return comparison.splitlines()


def paragraphs(lines: list[str]) -> list[list[str]]:
    return [part.splitlines() for part in "\n".join(lines).split("\n\n")]


def test_a_comparison_is_made_over_blocks() -> None:
    half = quantile(0.975, 3) * math.sqrt(500 / 3) / 2
    expected = f"a over b: +25.0 a match (95 %: {25 - half:+.1f} to {25 + half:+.1f}), 4 deals"
    ahead = "  ahead in 100.0 % (95 %: 54.1 to 100.0 %), Elo above +28"
    assert comparison_of(blocks_of([10, 20, 30, 40])) == [expected, ahead]


def test_a_comparison_names_the_better_one_first() -> None:
    half = quantile(0.975, 3) * math.sqrt(500 / 3) / 2
    expected = f"b over a: +25.0 a match (95 %: {25 - half:+.1f} to {25 + half:+.1f}), 4 deals"
    assert comparison_of(blocks_of([-10, -20, -30, -40]))[0] == expected


def test_games_of_incomplete_blocks_do_not_count_in_a_comparison() -> None:
    whole = blocks_of([10, 20, 30, 40])
    more = [*whole, match_of(8, 4, ("a", 1000), ("b", 0))]
    assert comparison_of(more) == comparison_of(whole)


def test_few_deals_make_no_comparison() -> None:
    [line] = comparison_of(blocks_of([10] * (FEWEST_BLOCKS - 1)))
    assert line.endswith("too few deals for a comparison")


def test_a_win_that_is_shared_counts_for_each_in_part() -> None:
    games = [match_of(0, 0, ("a", 5), ("b", 5)), match_of(1, 1, ("a", 5), ("b", 4))]
    rows = [line.split() for line in table_of(games, block_size=1)]
    assert [row[:3] for row in rows[1:3]] == [["a", "2", "1.5"], ["b", "2", "0.5"]]


def test_turns_and_what_ended_the_games_are_below() -> None:
    games = [replace(match, turns=10 + match.number) for match in blocks_of([10])]
    assert paragraphs(table_of(games))[-1] == [
        "10.5 turns a game (10 to 11), ended by:",
        "  a player ran low on trains: 2",
    ]


def test_faults_are_told_with_the_last_lines() -> None:
    [match] = [match_of(7, 0, ("a", 1), ("b", 0))]
    fault = Fault("crash", 1, "ended with SIGSEGV before the match did", ("one\x07", "two"))
    seats = (match.seats[0], replace(match.seats[1], faults=(fault,)))
    assert list(lines_of_faults([replace(match, seats=seats)])) == [
        "b in seat 1 of game 7: crash, ended with SIGSEGV before the match did",
        "    | one\\x07",
        "    | two",
    ]


def test_the_progress_is_one_line() -> None:
    line = progress_line(2, 1000, 41, [("planner", 35), ("greedy", 22)])
    assert line == "game 3 of 1,000, turn 41: planner 35, greedy 22"
