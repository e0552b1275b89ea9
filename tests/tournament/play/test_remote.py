"""Remote bots: real processes that log in over real sockets, come late, die, and outlive the runner."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest
import trio

from stellwerk.__main__ import main
from stellwerk_engine.boards.board_file import BoardFile, board_content, shipped_board
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_processes.bench.levels import UNCONFINED
from stellwerk_processes.bot_spec import BotSpec, built_in_command
from stellwerk_processes.seat_report import seat_reports
from stellwerk_processes.standing_server import StandingSetup, open_standing_server
from stellwerk_processes.started_match import BotMatch, MatchResult
from stellwerk_server.lobby.tokens import TokenHolder, hashed, new_token
from stellwerk_server.match.plan import MatchPlan
from stellwerk_server.net.listen_address import ListenAddress
from stellwerk_server.operate.settings import Time, clocks_of
from stellwerk_tournament.play.attendance import Attendance
from tests.command.program import SECONDS, environment
from tests.command.tournament.test_tournament import TRAINS, cup, lines_of, started, tournament

CERTIFICATE = Path(__file__).parents[2] / "bots" / "loopback.pem"
RANDOM = 'built_in = "random"\nname = "here"'

# Plays as the bot of that name, but for what it does to its connection or in its answers.
SCRIPT = """
import sys, time
import stellwerk_bots.client as client
from stellwerk_bots.players import new_player

address, name, token, trouble = sys.argv[1:]
connect, sent = client.connect, 0

def connect_once_badly(*where):
    made = connect(*where)
    send = made.send
    def send_five(message):
        global sent
        sent += 1
        if sent == 5:
            made.close()
            raise OSError
        send(message)
    made.send = send_five
    return made

def player(start, seed):
    made = new_player("random")(start, seed)
    answer = made.answer
    def think(ask):
        if ask["ask"] == 4:
            print("thinking", flush=True)
            time.sleep(600)
        return answer(ask)
    if trouble == "thinks":
        made.answer = think
    return made

if trouble == "drops":
    client.connect = connect_once_badly
client.Client(address, name, player, token=token).run()
"""


def remote(name: str, token: str) -> str:
    return f'name = "{name}"\nremote = true\ntoken_sha256 = "{hashed(token)}"'


@contextmanager
def running(*words: str) -> Generator[subprocess.Popen[str]]:
    """Start a remote bot, and kill it at the end of the block."""
    command = [sys.executable, *words]
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def bot(kind: str, name: str, token: str, address: str, *words: str) -> tuple[str, ...]:
    return ("-m", "stellwerk_bots", kind, "--name", name, "--token", token, "--address", address, *words)


def read(process: subprocess.Popen[str], kind: str) -> dict[str, Any]:  # Any: that is how JSON is read
    """Return the next progress line of this type."""
    assert process.stdout is not None
    for line in process.stdout:
        message: dict[str, Any] = json.loads(line)
        if message["type"] == kind:
            return message
    assert process.stderr is not None
    raise AssertionError(process.stderr.read())


def team(name: str, tokens: tuple[str, str]) -> str:
    hashes = json.dumps([hashed(token) for token in tokens])
    return f'name = "{name}"\nremote = true\ntoken_sha256 = {hashes}'


def wait_for(process: subprocess.Popen[str], *missing: str) -> None:
    """Wait until a tournament reports that exactly these remote bots are missing."""
    while read(process, "remote_bots")["missing"] != [*missing]:
        pass


def small_asia() -> BoardFile:
    """Return the board of Team Asia with few trains."""
    return replace(shipped_board("team_asia"), trains=TRAINS)


def faults(folder: Path) -> dict[str, Counter[str]]:
    """Count, for each bot, the matches with each kind of fault."""
    kinds: dict[str, Counter[str]] = {}
    for line in lines_of(folder):
        for seat in line["bots"]:
            kinds.setdefault(seat["bot"], Counter()).update(fault["kind"] for fault in seat["faults"])
    return kinds


def test_remote_bots_and_processes_play_a_whole_tournament(tmp_path: Path) -> None:
    """One logs in again in mid-match and loses nothing by it; none is ever in two matches at a time, for it
    has not said that it can be."""
    ann, bea = new_token(), new_token()
    script = tmp_path / "bot.py"
    script.write_text(SCRIPT)
    bots = [remote("ann", ann), 'name = "bea"\nremote = true', f'{RANDOM}\nprocess = "fresh"']
    folder = cup(tmp_path / "cup", bots, 'concurrency = 3\ntokens = "tokens.txt"')
    (folder / "tokens.txt").write_text(f"bea {hashed(bea)}\n")
    with started("run", folder, "--listen", "127.0.0.1:0") as process:
        address = f"tcp://{read(process, 'listening')['address']}"
        with (
            running(str(script), address, "ann", ann, "drops") as first,
            running(*bot("greedy", "bea", bea, address)) as second,
        ):
            assert read(process, "ended")["finished"]
            assert process.wait(SECONDS) == 0
            assert (first.wait(SECONDS), second.wait(SECONDS)) == (0, 0)
            assert first.stdout is not None
            assert "the connection is lost; trying again" in first.stdout.read()
    lines = lines_of(folder)
    assert len(lines) == 6
    assert faults(folder) == {"ann": Counter(), "bea": Counter(), "here": Counter()}
    assert {line["deal"] for line in lines} == {"new_each_match"}
    assert len({line["seed"] for line in lines}) == 6
    for block in range(3):
        assert len({tuple(line["players"]) for line in lines if line["block"] == block}) == 2
    processes = {seat["bot"]: seat.get("process", "fresh") for line in lines for seat in line["bots"]}
    measured = {seat["bot"] for line in lines for seat in line["bots"] if "cpu_ms" in seat}
    assert measured == {"here"}  # nobody here knows it of the others
    assert processes == {"ann": "remote", "bea": "remote", "here": "fresh"}
    assert "ok, 6 matches" in tournament("verify", folder)
    written = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert ann.encode() not in written
    assert bea.encode() not in written


def test_a_remote_bot_that_dies_in_mid_match_costs_itself_and_nobody_else(tmp_path: Path) -> None:
    """The bots that are there play before it has come. Then the runner waits for it. When the tournament is
    resumed, the organizer has lost patience, and the runner does not wait any more."""
    token = new_token()
    script = tmp_path / "bot.py"
    script.write_text(SCRIPT)
    clocks = "[clocks]\nmove_ms = 1500\nbank_ms = 0\ndefaults_in_a_row = 1"
    bots = [remote("ann", token), RANDOM, 'built_in = "greedy"']
    folder = cup(tmp_path / "cup", bots, f"concurrency = 1\nremote_wait_s = 600\n{clocks}")
    with started("run", folder, "--listen", "127.0.0.1:0") as process:
        address = f"tcp://{read(process, 'listening')['address']}"
        assert read(process, "remote_bots")["missing"] == ["ann"]
        assert set(read(process, "block_ended")["entrants"]) == {"here", "greedy"}
        with running(str(script), address, "ann", token, "thinks") as playing:
            assert read(process, "remote_bots")["missing"] == []
            assert playing.stdout is not None
            assert playing.stdout.readline() == "thinking\n"
        assert read(process, "remote_bots")["missing"] == ["ann"]
        assert "cause" not in read(process, "match_ended")
        process.kill()
    path = folder / "tournament.toml"
    path.write_text(path.read_text().replace("remote_wait_s = 600", "remote_wait_s = 0"))
    tournament("run", folder, "--listen", "127.0.0.1:0")
    assert len(lines_of(folder)) == 6
    found = faults(folder)
    assert (found["ann"]["disconnect"], found["ann"]["absent"]) == (1, 3)
    assert not found["here"]
    assert not found["greedy"]
    assert "ok, 6 matches" in tournament("verify", folder)
    assert "absent" in (folder / "report.html").read_text()


def test_remote_bots_outlive_a_runner_that_is_killed_and_go_on_with_the_next(tmp_path: Path) -> None:
    """Over TLS. Nothing is lost, and nothing is counted twice."""
    tokens = {"ann": new_token(), "bea": new_token()}
    folder = cup(tmp_path / "cup", [*map(remote, tokens, tokens.values()), RANDOM], "concurrency = 2")
    tls = ("--tls-cert", str(CERTIFICATE), "--tls-key", str(CERTIFICATE))
    with started("run", folder, "--listen", "127.0.0.1:0", *tls) as process:
        address: str = read(process, "listening")["address"]
        words = (f"tls://{address}", "--tls-ca", str(CERTIFICATE))
        with (
            running(*bot("random", "ann", tokens["ann"], *words)) as ann,
            running(*bot("random", "bea", tokens["bea"], *words)) as bea,
        ):
            read(process, "block_ended")
            process.kill()
            process.wait(SECONDS)
            before = lines_of(folder)
            with started("run", folder, "--listen", address, *tls) as resumed:
                assert read(resumed, "ended")["finished"]
            assert (ann.wait(SECONDS), bea.wait(SECONDS)) == (0, 0)
    lines = lines_of(folder)
    assert 2 <= len(before) < 6
    assert lines[: len(before)] == before
    assert len({(line["block"], line["rotation"]) for line in lines}) == len(lines) == 6
    assert len({line["seed"] for line in lines}) == 6
    assert not any(faults(folder).values())
    resolved = json.loads((folder / "resolved.json").read_text())
    assert [bot["transport"] for bot in resolved["bots"]] == ["", "", "tcp"]
    seats = [(seat["bot"], seat.get("transport")) for line in lines for seat in line["bots"]]
    assert set(seats) == {("ann", "tls"), ("bea", "tls"), ("here", None)}
    conditions = (folder / "report.html").read_text().partition('id="conditions"')[2]
    assert conditions.count(">tls<") == 2
    assert "ok, 6 matches" in tournament("verify", folder)


def test_remote_partners_play_for_their_team_each_in_a_session_of_its_own(tmp_path: Path) -> None:
    """The first of them is enough for a game without teams; a game of teams waits for both. One loses its
    connection and comes back, and loses nothing by it; another one dies, costs its team one seat, and is
    waited for by the runner that resumes."""
    ann, bea = (new_token(), new_token()), (new_token(), new_token())
    script = tmp_path / "bot.py"
    script.write_text(SCRIPT)
    clocks = "[clocks]\nmove_ms = 1500\nbank_ms = 0\ndefaults_in_a_row = 1"
    bots = [team("ann", ann), team("bea", bea)]
    folder = cup(tmp_path / "cup", bots, f"concurrency = 2\nremote_wait_s = 600\n{clocks}")
    path = folder / "tournament.toml"
    asia = '[[games]]\ngame = "team_asia"\nboard = "asia.json"\n\n'
    path.write_text(path.read_text().replace("[[bots]]", asia + "[[bots]]", 1))
    (folder / "asia.json").write_text(json.dumps(board_content(small_asia())))
    with started("run", folder, "--listen", "127.0.0.1:0") as process:
        where = read(process, "listening")["address"]
        address = f"tcp://{where}"
        with (
            running(*bot("random", "ann.1", ann[0], address)) as ann_1,
            running(*bot("random", "bea.1", bea[0], address)) as bea_1,
        ):
            wait_for(process, "ann.2", "bea.2")
            assert read(process, "block_ended")["progress"]["played"] == 2
            assert [line["game"] for line in lines_of(folder)] == ["usa", "usa"]
            with running(str(script), address, "bea.2", bea[1], "drops") as bea_2:
                with running(str(script), address, "ann.2", ann[1], "thinks") as dying:
                    assert dying.stdout is not None
                    assert dying.stdout.readline() == "thinking\n"
                wait_for(process, "ann.2")
                assert "cause" not in read(process, "match_ended")
                process.kill()
                process.wait(SECONDS)
                with started("run", folder, "--listen", where) as resumed:
                    wait_for(resumed, "ann.2")
                    with running(*bot("greedy", "ann.2", ann[1], address)) as ann_2:
                        assert read(resumed, "ended")["finished"]
                        for playing in (ann_1, ann_2, bea_1, bea_2):
                            assert playing.wait(SECONDS) == 0
                assert bea_2.stdout is not None
                assert "the connection is lost; trying again" in bea_2.stdout.read()
    lines = lines_of(folder)
    assert [line["game"] for line in lines] == ["usa", "usa", "team_asia", "team_asia"]
    assert len({line["seed"] for line in lines}) == 4
    assert faults(folder) == {"ann": Counter({"disconnect": 1}), "bea": Counter()}
    for line in lines[2:]:
        assert [seat["bot"] for seat in line["bots"]] == [name for name in line["players"] for _ in range(2)]
        header = json.loads((folder / line["replay"]).read_bytes().splitlines()[0])
        assert [seat["name"] for seat in header["seats"]] == [seat["bot"] for seat in line["bots"]]
    assert [[bool(seat["faults"]) for seat in line["bots"]].count(True) for line in lines] == [0, 0, 1, 0]
    assert "ok, 4 matches" in tournament("verify", folder)


def test_ctrl_c_ends_a_tournament_that_only_waits(tmp_path: Path) -> None:
    folder = cup(tmp_path / "cup", [remote("ann", new_token()), RANDOM], "remote_wait_s = 600")
    with started("run", folder, "--listen", "127.0.0.1:0") as process:
        assert read(process, "remote_bots")["missing"] == ["ann"]
        process.send_signal(signal.SIGINT)
        ended = read(process, "ended")
        assert process.wait(SECONDS) == 130
    assert not ended["finished"]
    assert ended["resume"].endswith("--progress=jsonl --absent-forfeit --listen=127.0.0.1:0")
    assert lines_of(folder) == []


# -- the hall ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("login", "expected"),
    [
        ({"name": "ann", "token": "ann's"}, ["welcome", "auth.not_allowed"]),
        ({"name": "bea", "token": "ann's"}, ["auth.bad_token", "protocol.out_of_phase"]),
        ({"name": "ann", "token": "bea's"}, ["auth.bad_token", "protocol.out_of_phase"]),
        ({"name": "ann"}, ["auth.bad_token", "protocol.out_of_phase"]),
    ],
    ids=str,
)
def test_only_who_has_a_token_comes_in_and_nobody_makes_matches_there(
    login: dict[str, str], expected: list[str]
) -> None:
    holder = TokenHolder("ann", hashed("ann's"), is_organizer=False)
    listen_at = ListenAddress("127.0.0.1", 0)
    plan = StandingSetup(
        Time().set_up_ms, UNCONFINED, (), {"ann": (holder,)}, (), listen_at, instances={}, logins_at_once=1
    )
    lines = [
        {"type": "login", "protocol": 1, "language": "none"} | login,
        {"type": "join", "game": "usa", "players": 2},
    ]

    async def talk() -> list[str]:
        async with open_standing_server(plan) as standing:
            where = await standing.listen()
            assert where is not None
            async with await trio.open_tcp_stream(*where) as stream:
                await stream.send_all(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
                heard = b""
                while heard.count(b"\n") < 3:
                    heard += await stream.receive_some()
                assert standing.present() == ({"ann": 1} if expected[0] == "welcome" else {})
        _, *answers = map(json.loads, heard.splitlines())
        return [answer.get("code", answer["type"]) for answer in answers]

    assert trio.run(talk) == expected


def test_a_partner_that_is_not_there_is_absent_and_the_other_one_plays_on() -> None:
    tokens = new_token(), new_token()
    names = ("ann.1", "ann.2")
    holders = tuple(
        TokenHolder(name, hashed(token), False) for name, token in zip(names, tokens, strict=True)
    )
    game = GameChoice("team_asia", 4, (), small_asia()).make()
    plan = StandingSetup(
        Time().set_up_ms,
        UNCONFINED,
        (game,),
        {"ann": holders},
        (),
        ListenAddress("127.0.0.1", 0),
        instances={},
        logins_at_once=4,
    )
    ann = BotSpec("ann", (), process="remote")
    here = BotSpec("here", built_in_command("random"))
    bot_match = BotMatch(
        MatchPlan(
            match="m1",
            game=game,
            names=("here", "here", "ann", "ann"),
            seed=bytes(32),
            salt=bytes(32),
            clocks=clocks_of(Time()),
        ),
        bots=(here, here, ann, ann),
        bot_seeds=("a", "b", "c", "d"),
    )

    async def play() -> MatchResult:
        async with open_standing_server(plan) as standing:
            where = await standing.listen()
            assert where is not None
            address = f"tcp://{where[0]}:{where[1]}"
            with running(*bot("random", "ann.1", tokens[0], address)):
                played = await standing.play(bot_match, frozenset({"ann.2"}))
                await standing.say_goodbye(finished=True)
        return played

    played = trio.run(play)
    reports = seat_reports(played.result, played.seats)
    assert [report.bot for report in reports] == ["here", "here", "ann", "ann"]
    assert [[fault.kind for fault in report.faults] for report in reports] == [[], [], [], ["absent"]]
    assert reports[2].asks > 0


# -- what cannot be done -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bots", "words", "expected"),
    [
        ("remote", (), "ann is a remote bot: say where it connects to: --listen HOST:PORT"),
        ("here", ("--listen", "127.0.0.1:0"), "has no remote bot, which would be one with remote = true"),
        ("remote", ("--listen", "127.0.0.1"), "--listen: expected [HOST:]PORT, such as 7878"),
        ("remote", ("--listen", "127.0.0.1:70000"), "--listen: expected [HOST:]PORT"),
        ("remote", ("--listen", "127.0.0.1:0", "--tls-cert", "x"), "--tls-cert and --tls-key go together"),
        ("remote", ("--listen", "[::1]:0", "--tls-cert", "x", "--tls-key", "x"), "x, x: cannot be used"),
        ("remote", ("--tls-key", "x"), "--tls-key: goes with --listen only"),
        ("remote", ("--listen", "127.0.0.1:0", "--seed", "s"), "--seed: for built-in bots only"),
    ],
)
def test_a_door_that_makes_no_sense_is_refused(
    tmp_path: Path, bots: str, words: tuple[str, ...], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first = remote("ann", new_token()) if bots == "remote" else 'built_in = "greedy"'
    folder = cup(tmp_path / "cup", [first, RANDOM])
    assert main(["tournament", "run", str(folder), *words]) == 2
    out, err = capsys.readouterr()
    [line] = err.splitlines()
    assert (out, expected in line) == ("", True), line


def test_a_port_that_is_in_use_is_the_machines_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = cup(tmp_path / "cup", [remote("ann", new_token()), RANDOM])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        assert main(["tournament", "run", str(folder), "--listen", where]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1].startswith(f"stellwerk: {where}: cannot listen: ")


# -- who is there ------------------------------------------------------------------------------------


def test_who_never_comes_is_given_up_when_the_patience_ends() -> None:
    attendance = Attendance(["ann", "bea"], 60, 100)
    assert attendance.look({"bea": 2, "stranger": 1}, 110)
    assert (attendance.missing, attendance.most("bea"), attendance.most("ann")) == (("ann",), 2, None)
    assert not attendance.are_there(["ann", "bea"])
    assert attendance.are_there(["bea", "of this machine"])
    assert (attendance.given_up(159), attendance.next_end(159)) == (frozenset(), 160)
    assert (attendance.given_up(160), attendance.next_end(160)) == (frozenset({"ann"}), inf)


def test_who_comes_is_there_and_who_goes_is_waited_for_anew() -> None:
    attendance = Attendance(["ann"], 60, 0)
    assert not attendance.look({}, 70)
    assert attendance.look({"ann": 1}, 80)
    assert (attendance.missing, attendance.given_up(1000), attendance.next_end(80)) == ((), frozenset(), inf)
    assert not attendance.look({"ann": 1}, 90)
    assert attendance.look({"ann": 3}, 95)  # it came back between two looks, and can do more now
    assert attendance.look({}, 100)
    assert (attendance.given_up(159), attendance.next_end(100)) == (frozenset(), 160)


def test_no_token_looks_like_an_option_of_the_program_that_gets_it() -> None:
    assert not any(new_token().startswith("-") for _ in range(2000))
