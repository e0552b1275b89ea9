"""Every starter in `bots/` does what `bots/README.md` and the protocol demand of a client."""

from __future__ import annotations

import json
import re
import shlex
import socket
import ssl
import struct
import subprocess
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from stellwerk.__main__ import main
from stellwerk.bots.starters import STARTERS, Starter, source_of
from stellwerk_bots.bot import Message
from stellwerk_engine import engine
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_kit.doctor.patient import LIMITS
from stellwerk_protocol import messages
from stellwerk_protocol.schemas import bundle, single_schema
from tests.bots.scripted_server import AUTHORITY, Peer, bye, error, free_port, serve
from tests.bots.starters import (
    BOTS,
    BUILD_SECONDS,
    SECONDS,
    VECTORS,
    WITH_OWN_CLIENT,
    Built,
    built,
    in_folder,
    paired,
    served,
)
from tests.bots.table import ask_for, game_for, start_for
from tests.kit.doctor.examining import doctor, findings, step
from tests.tools import needs

NO_SERVER: Final = 4  # exit codes
USAGE: Final = 2
REFUSED: Final = 1

# -- what the server says: whole messages, for some languages insist on every field ------------------

USA: Final = game_for("usa")
DEAL: Final = engine.new_game(USA, Dice(seed_from_text("starters")))

HELLO: Final[Message] = {
    "type": "hello",
    "protocols": [1],
    "server": "script",
    "limits": msgspec.to_builtins(LIMITS),
    "features": ["resume"],
}
PONG: Final[Message] = {"type": "pong"}
PASS: Final[Message] = {"type": "pass"}


def welcome(session: str = "s1", key: str = "k1", name: str = "bot") -> Message:
    return {"type": "welcome", "session": session, "resume_key": key, "name": name, "wants": {}, "games": []}


def start(match: str = "m1") -> Message:
    return {**start_for(USA, 0, match)}


def ask(number: int = 1, match: str = "m1") -> Message:
    """Return an ask with three legal moves, of which `greedy` makes the first."""
    legal = [{"type": "draw_card"}, {"type": "draw_tickets"}, PASS]
    return {**ask_for(DEAL, 0, number, match), "legal": legal, "fallback": PASS}


def ok(number: int = 1, match: str = "m1") -> Message:
    return {"type": "ok", "match": match, "ask": number, "took_ms": 0, "bank_ms": 10_000}


def default(number: int = 1) -> Message:
    return {"type": "default", "match": "m1", "ask": number, "reason": "time", "move": PASS, "defaults": 1}


def end(match: str = "m1") -> Message:
    nothing: Message = {"route_points": 0, "tickets": [], "bonuses": [], "completed_tickets": 0}
    teams = [
        {"team": 0, "seats": [0], "rank": 2, "points": -7, "longest_path": 0, **nothing},
        {"team": 1, "seats": [1], "rank": 1, "points": 12, "longest_path": 3, **nothing},
    ]
    result = {"reason": "trains", "turns": 80, "ranks": [2, 1], "teams": teams}
    return {"type": "end", "match": match, "result": result, "transcript": "0" * 64, "reveal": "later"}


def log_in(peer: Peer, session: str = "s1", key: str = "k1", name: str = "bot") -> Message:
    """Go from hello to welcome, and return the login."""
    peer.send(HELLO)
    login = peer.receive("login")
    peer.send(welcome(session, key, name))
    return login


def begin(peer: Peer, match: str = "m1") -> None:
    """Go from the `join` to the bot's `ready`."""
    peer.receive("join")
    peer.send({"type": "joined", "room": "r", "missing": 0}, start(match))
    assert peer.receive("ready")["match"] == match


@pytest.mark.parametrize(
    "message", [HELLO, PONG, welcome(), start(), ask(), ok(), default(), end()], ids=lambda m: str(m["type"])
)
def test_the_servers_messages_here_are_messages_of_a_server(message: Message) -> None:
    decode = msgspec.json.Decoder(messages.FromServer).decode
    assert decode(msgspec.json.encode(message)).__struct_config__.tag == message["type"]


def _row(starter: Starter) -> Any:  # pytest has no type for it
    return pytest.param(starter, id=starter.language)


ALL: Final = [_row(starter) for starter in WITH_OWN_CLIENT]
WITH_GREEDY: Final = [_row(starter) for starter in WITH_OWN_CLIENT if "greedy" in starter.bots]
OVER_TLS: Final = [_row(starter) for starter in WITH_OWN_CLIENT if starter.tls]
RESUMING: Final = [_row(starter) for starter in WITH_OWN_CLIENT if starter.resumes]


@pytest.fixture(scope="module", params=ALL)
def bot(request: pytest.FixtureRequest) -> Built:
    starter: Starter = request.param
    return built(starter.language)


# -- the whole of it ---------------------------------------------------------------------------------


def test_its_own_tests_pass(bot: Built) -> None:
    done = in_folder(bot.starter.unit_test, bot.folder, BUILD_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_doctor_finds_nothing(bot: Built) -> None:
    resumes = bot.starter.resumes
    results = findings(doctor(bot.command("random"), require_resume=resumes), game="team_asia")
    assert [finding.failure for finding in results if finding.failure is not None] == []
    assert [finding.step for finding in results if finding.warning] == ([] if resumes else ["resume"])
    assert results[-1].step == "end"


def test_the_doctor_finds_nothing_over_stdio(bot: Built) -> None:
    """Where that can make a difference."""
    steps = [step(name) for name in ("login", "lines in pieces", "match", "end of input", "end")]
    results = findings(doctor(bot.command("random"), transport="stdio"), steps, game="united_kingdom")
    assert [(finding.warning, finding.failure) for finding in results] == [(None, None)] * len(steps)


PAIRS: Final = [
    (game, pair) for number, game in enumerate(RULE_SETS) for pair in paired(WITH_OWN_CLIENT, number)
]


def test_each_starter_plays_each_game_and_over_each_transport() -> None:
    rows = [
        (game, transport, starter.language)
        for game, pair in PAIRS
        for transport, starter in zip(("tcp", "stdio"), pair, strict=True)
    ]
    languages = {starter.language for starter in WITH_OWN_CLIENT}
    assert {(game, language) for game, _, language in rows} == set(product(RULE_SETS, languages))
    assert {(way, language) for _, way, language in rows} == set(product(("tcp", "stdio"), languages))


@pytest.mark.parametrize(
    ("game", "pair"),
    [
        pytest.param(game, pair, id="-".join([game, *(each.language for each in pair)]))
        for game, pair in PAIRS
    ],
)
def test_the_first_bot_of_one_plays_over_tcp_against_the_last_of_another_over_stdio(
    game: str, pair: tuple[Starter, Starter], capsys: pytest.CaptureFixture[str]
) -> None:
    over_tcp, over_stdio = (built(starter.language) for starter in pair)
    specs = (
        over_tcp.spec(over_tcp.starter.bots[0], "tcp"),
        over_stdio.spec(over_stdio.starter.bots[-1], "stdio"),
    )
    assert main(["play", game, "--bot", specs[0], "--bot", specs[1], "--json", "--seed", "starters"]) == 0
    [match] = json.loads(capsys.readouterr().out)["matches"]
    assert [(seat["faults"], seat["defaults"]) for seat in match["seats"]] == [([], 0)] * len(match["seats"])
    assert min(seat["rank"] for seat in match["seats"]) == 1


@pytest.mark.parametrize("bot", WITH_GREEDY, indirect=True)
def test_greedy_answers_as_recorded(bot: Built, tmp_path: Path) -> None:
    for file in sorted(VECTORS.glob("*.jsonl")):
        done = bot.done("vectors", str(file))
        assert (done.returncode, done.stderr) == (0, ""), file.name


@pytest.mark.parametrize("bot", WITH_GREEDY, indirect=True)
def test_another_answer_than_the_recorded_one_is_reported(bot: Built, tmp_path: Path) -> None:
    lines = (VECTORS / "usa.jsonl").read_text("utf-8").splitlines()[:4]
    wrong = json.loads(lines[2])
    wrong["answer"]["index"] += 1
    file = tmp_path / "wrong.jsonl"
    file.write_text("\n".join([*lines[:2], json.dumps(wrong), *lines[3:]]) + "\n", "utf-8")
    done = bot.done("vectors", str(file))
    assert done.returncode == REFUSED
    assert "3" in done.stderr.removeprefix(str(file))


# -- from the command line ---------------------------------------------------------------------------


def test_it_plays_a_practice_match_on_a_server(bot: Built, tmp_path: Path) -> None:
    with served(tmp_path / "data") as address:
        words = f"{bot.starter.bots[-1]} --address tcp://{address} --game card_game --against random,greedy"
        done = bot.done(*words.split(), "--name", "me", "--seed", "one more")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"card_game: .*\n", done.stdout)


def test_every_option_of_a_match_is_sent(bot: Built) -> None:
    def script(peer: Peer) -> None:
        login = log_in(peer)
        assert (login["name"], login["token"], login["protocol"]) == ("me", "secret", 1)
        if bot.starter.resumes:
            peer.receive("ping")
            peer.send(PONG)
        assert peer.receive("join") == {
            "type": "join",
            "game": "team_asia",
            "players": 4,
            "options": ["one", "two"],
            "against": ["random", "greedy", "greedy"],
            "seat": 2,
            "seed": 'forty "two"\\',
        }
        peer.send(start())
        peer.receive("ready")
        peer.send(ask(1))
        assert 0 <= peer.ok(1)["index"] <= 2
        peer.send(end())

    options = ["--option", "one", "--option", "two", "--against", "random,greedy,greedy", "--seat", "2"]
    words = ["--game", "team_asia", *options, "--seed", 'forty "two"\\']
    with serve(script) as address:
        done = bot.done(
            "random", *words, STELLWERK_ADDRESS=address, STELLWERK_NAME="me", STELLWERK_TOKEN="secret"
        )
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_given_goes_before_the_environment(bot: Built) -> None:
    def script(peer: Peer) -> None:
        login = log_in(peer)
        assert (login["name"], login["token"]) == ("given", "token")
        if bot.starter.resumes:
            peer.receive("ping")
            peer.send(PONG)
        assert peer.receive("join") == {"type": "join", "game": "usa", "players": 3, "room": "r-1"}
        peer.send(start(), end())
        peer.receive("ready")

    words = ["--name", "given", "--token", "token", "--game", "usa", "--players", "3", "--room", "r-1"]
    with serve(script) as address:
        words += ["--address", address]
        done = bot.done("random", *words, STELLWERK_ADDRESS="?", STELLWERK_NAME="?", STELLWERK_TOKEN="?")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["chess"],
        ["random", "--address", "localhost:7878"],
        ["random", "--address", "http://localhost:80"],
        ["random", "--address", "tcp://localhost"],
        ["random", "--address", "tcp://:7878"],
        ["random", "--game", "usa", "--players", "two"],
        ["random", "--game"],
        ["random", "--board", "usa"],
    ],
    ids=lambda words: " ".join(words) or "nothing",
)
def test_a_wrong_command_line_is_refused(bot: Built, words: list[str]) -> None:
    done = bot.done(*words)
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert done.stderr != ""


def test_a_missing_server_is_reported_in_one_line(bot: Built) -> None:
    done = bot.done("random", "--address", f"tcp://127.0.0.1:{free_port()}", "--game", "usa")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (NO_SERVER, "", 1)
    assert "cannot connect" in done.stderr


# -- over standard input and output ------------------------------------------------------------------


def conversation(*messages: Message) -> str:
    return "".join(json.dumps(message) + "\n" for message in messages)


def test_the_messages_alone_are_on_standard_output(bot: Built) -> None:
    lines = conversation(HELLO, welcome(), start(), ask(1), end(), bye("done"))
    done = bot.done("random", stdin=lines, STELLWERK_ADDRESS="stdio:")
    types = [json.loads(line)["type"] for line in done.stdout.splitlines()]
    assert (done.returncode, types) == (0, ["login", "ready", "act"])
    assert done.stderr.startswith("usa: ")


def test_the_end_of_input_is_a_goodbye_after_a_match_and_a_loss_within_it(bot: Built) -> None:
    lines = (HELLO, welcome(), start(), ask(1), end())
    after = bot.done("random", stdin=conversation(*lines), STELLWERK_ADDRESS="stdio:")
    within = bot.done("random", stdin=conversation(*lines[:-1]), STELLWERK_ADDRESS="stdio:")
    assert (after.returncode, within.returncode) == (0, NO_SERVER)


def test_what_is_left_to_chance_follows_from_the_seed(bot: Built) -> None:
    lines = conversation(HELLO, welcome(), start(), *(ask(number) for number in range(1, 41)), end())

    def indexes(seed: str) -> list[int]:
        done = bot.done("random", stdin=lines, STELLWERK_ADDRESS="stdio:", STELLWERK_BOT_SEED=seed)
        acts = map(json.loads, done.stdout.splitlines()[2:])
        return [act["index"] for act in acts]

    first = indexes("271828182845904")
    assert first == indexes("271828182845904") != indexes("3f9a")
    assert set(first) == {0, 1, 2}


# -- refusals ----------------------------------------------------------------------------------------


def test_a_refused_answer_is_followed_by_the_first_listed_move(bot: Built) -> None:
    def script(peer: Peer) -> None:
        log_in(peer)
        begin(peer)
        number = 0
        while True:
            number += 1
            peer.send(ask(number))
            act = peer.receive("act")
            if act["index"] != 0:
                break
            peer.send(ok(number))
        peer.send(error("game.not_available", match="m1", ask=number, tries=2, pointer="/index"))
        assert peer.ok(number)["index"] == 0
        peer.send(end())

    with serve(script) as address:
        done = bot.done("random", "--address", address, "--game", "usa", STELLWERK_BOT_SEED="1")
    assert done.returncode == 0
    assert "game.not_available" in done.stderr


@pytest.mark.parametrize("bot", WITH_GREEDY, indirect=True)
def test_when_the_first_listed_move_is_refused_the_fallback_is_made(bot: Built) -> None:
    def script(peer: Peer) -> None:
        log_in(peer)
        begin(peer)
        peer.send(ask(1))
        assert peer.receive("act")["index"] == 0  # to draw a card
        peer.send(error("game.not_available", match="m1", ask=1, tries=2))
        act = peer.receive("act")
        if "index" in act:
            peer.send(error("game.not_available", match="m1", ask=1, tries=1))
            act = peer.receive("act")
        assert act == {"type": "act", "match": "m1", "ask": 1, "move": {"type": "pass"}}
        peer.send(ok(), end())

    with serve(script) as address:
        assert bot.done("greedy", "--address", address, "--game", "usa").returncode == 0


def test_after_a_default_the_next_ask_is_answered(bot: Built) -> None:
    def script(peer: Peer) -> None:
        log_in(peer)
        begin(peer)
        peer.send(ask(1))
        peer.receive("act")
        peer.send(default(1), error("protocol.stale_ask", match="m1", ask=1), ask(2))
        peer.ok(2)
        peer.send(end())

    with serve(script) as address:
        assert bot.done("random", "--address", address, "--game", "usa").returncode == 0


def test_a_refused_login_is_reported_with_its_code(bot: Built) -> None:
    def script(peer: Peer) -> None:
        peer.send(HELLO)
        peer.receive("login")
        peer.send(error("auth.name_taken"))

    assert_refused(bot, script, "auth.name_taken")


def test_a_refused_join_is_reported_with_its_place(bot: Built) -> None:
    def script(peer: Peer) -> None:
        log_in(peer)
        peer.receive("join")
        peer.send(error("protocol.wrong_value", pointer="/game"))

    assert_refused(bot, script, "protocol.wrong_value", "/game")


def test_whose_session_was_taken_over_stops(bot: Built) -> None:
    def script(peer: Peer) -> None:
        log_in(peer)
        begin(peer)
        peer.send(bye("server.taken_over"))

    assert_refused(bot, script, "server.taken_over")


def test_what_a_server_says_cannot_control_the_terminal(bot: Built) -> None:
    def script(peer: Peer) -> None:
        log_in(peer)
        peer.receive("join")
        peer.send(error("protocol.wrong_value") | {"expected": "\x1b[2J\x07\r\nnothing"})

    assert_refused(bot, script, "nothing")


@pytest.mark.parametrize(
    "line",
    [
        b"HTTP/1.1 400 Bad Request",
        b"[1]",
        b"{}",
        b'{"type":"welcome","session":"s"}',
        b"[" * 50_000,
        b"",
        b"\x1b[2J\x07",
    ],
    ids=lambda line: str(line[:24]),
)
def test_who_does_not_speak_the_protocol_is_no_server(bot: Built, line: bytes) -> None:
    def script(peer: Peer) -> None:
        peer.send_bytes(line + b"\n")

    assert_refused(bot, script, "not a Stellwerk server")


def test_an_ask_without_a_needed_field_ends_in_one_line(bot: Built) -> None:
    def script(peer: Peer) -> None:
        log_in(peer)
        begin(peer)
        peer.send({"type": "ask", "match": "m1", "legal": []})

    assert_refused(bot, script, "ask")


def assert_refused(bot: Built, script: Callable[[Peer], None], *parts: str) -> None:
    """Check that the bot exits at once, with the reason in one line of printable characters."""
    with serve(script) as address:
        done = bot.done("random", "--address", address, "--game", "usa", "--name", "bot")
    assert (done.returncode, done.stdout) == (REFUSED, "")
    [line] = done.stderr.splitlines()
    assert line.isprintable()
    assert all(part in line for part in parts), line


# -- lost connections --------------------------------------------------------------------------------


@pytest.mark.parametrize("bot", RESUMING, indirect=True)
def test_after_a_cut_the_session_is_resumed_with_the_newest_key(bot: Built) -> None:
    def first(peer: Peer) -> None:
        log_in(peer, "s1", "k1", "bot-1")
        begin(peer)
        peer.send(ask(1))
        peer.ok(1)
        peer.send_bytes(b'{"type":"ask","match":"m1","as')

    def second(peer: Peer) -> None:
        login = log_in(peer, "s1", "k2", "bot-1")
        assert login["name"] == "bot-1"
        assert login["resume"] == {"session": "s1", "key": "k1", "last_events": {"m1": 0}}
        peer.send(start(), ask(2))
        peer.receive("ping")
        peer.ok(2)
        peer.send(PONG)

    def third(peer: Peer) -> None:
        assert log_in(peer, "s1", "k3", "bot-1")["resume"]["key"] == "k2"
        peer.send(start(), ask(3))
        peer.receive("ping")
        peer.ok(3)
        peer.send(end())

    with serve(first, second, third) as address:
        done = bot.done("random", "--address", address, "--game", "usa", "--name", "bot")
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)


@pytest.mark.parametrize("bot", RESUMING, indirect=True)
def test_a_session_that_the_server_no_longer_knows_is_begun_afresh(bot: Built) -> None:
    def first(peer: Peer) -> None:
        log_in(peer, "s1", "k1")
        begin(peer, "lost")

    def second(peer: Peer) -> None:
        peer.send(HELLO)
        assert "resume" in peer.receive("login")
        peer.send(error("auth.bad_resume_key"))
        assert "resume" not in peer.receive("login")
        peer.send(welcome("s2", "k2"))
        peer.receive("ping")
        peer.send(PONG)
        begin(peer, "m2")
        peer.send(ask(1, "m2"))
        peer.ok(1, "m2")
        peer.send(end("m2"))

    with serve(first, second) as address:
        done = bot.done("random", "--address", address, "--game", "usa")
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)


@pytest.mark.parametrize("bot", RESUMING, indirect=True)
def test_it_asks_for_no_new_match_while_the_old_one_may_still_come(bot: Built) -> None:
    def first(peer: Peer) -> None:
        log_in(peer)
        peer.receive("join")  # and the start is lost on the way

    def second(peer: Peer) -> None:
        log_in(peer)
        peer.receive("ping")
        peer.send(start())
        peer.receive("ready")
        peer.send(PONG, ask(1))
        peer.ok(1)
        peer.send(end())

    with serve(first, second) as address:
        assert bot.done("random", "--address", address, "--game", "usa").returncode == 0


@pytest.mark.parametrize("bot", RESUMING, indirect=True)
def test_the_bot_comes_back_at_the_time_that_the_server_names(bot: Built) -> None:
    """Without the time that the server names, the eleventh visit would come half a minute after the first:
    too late."""

    def goes_down(peer: Peer) -> None:
        peer.send(HELLO)
        peer.receive("login")
        peer.send(bye("server.shutting_down", retry_ms=1))

    def plays(peer: Peer) -> None:
        log_in(peer)
        begin(peer)
        peer.send(end())

    with serve(*[goes_down] * 10, plays) as address:
        assert bot.done("random", "--address", address, "--game", "usa", seconds=20).returncode == 0


# -- TLS ---------------------------------------------------------------------------------------------


def whole_match(peer: Peer) -> None:
    log_in(peer)
    begin(peer)
    peer.send(end())


@pytest.mark.parametrize("bot", OVER_TLS, indirect=True)
def test_its_page_describes_how_to_trust_your_own_authority(bot: Built, tmp_path: Path) -> None:
    """Runs the commands below the heading, with an existing file and address."""
    page = (bot.folder / "README.md").read_text("utf-8")
    [commands] = re.findall(r"## A server's own certificate\n.*?```sh\n(.*?)```", page, re.DOTALL)
    script = commands.replace("ca.p12", str(tmp_path / "ca.p12")).replace(
        "ca.pem", shlex.quote(str(AUTHORITY))
    )
    with serve(whole_match, tls=True) as address:
        done = in_folder(("sh", "-euc", script.replace("tls://HOST:7878", address)), bot.folder, SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "usa: " in done.stdout


@pytest.mark.parametrize("starter", STARTERS, ids=lambda starter: starter.language)
def test_every_page_describes_notes_and_tls(starter: Starter) -> None:
    page = " ".join((source_of(starter) / "README.md").read_text("utf-8").split())
    assert re.search(r"\bnote\b", page)
    assert "stellwerk replay show FILE" in page
    assert ("## A server's own certificate" in page) == starter.tls
    assert starter.tls or "does not support TLS" in page


@pytest.mark.parametrize("bot", OVER_TLS, indirect=True)
def test_an_untrusted_certificate_is_refused(bot: Built) -> None:
    seen_by_server = (ssl.SSLError, ConnectionError)
    finished: list[subprocess.CompletedProcess[str]] = []
    with pytest.raises(seen_by_server), serve(whole_match, tls=True) as address:
        finished.append(bot.done("random", "--address", address, "--game", "usa"))
    [done] = finished
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (NO_SERVER, "", 1)


# -- one write for a message -------------------------------------------------------------------------


@needs("Linux")  # which reports how many segments have arrived
def test_a_message_is_one_segment(bot: Built) -> None:
    """A message written in two pieces is two segments, with TCP_NODELAY and without."""
    talk: list[tuple[Message, str]] = [(HELLO, "login"), (welcome(), "join"), (start(), "ready")]
    talk += [(ask(number), "act") for number in range(1, 6)]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(SECONDS)
        address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        with bot.started("random", "--address", address, "--game", "usa"):
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as lines:
                for count, (message, answer) in enumerate(talk, start=1):
                    connection.sendall(conversation(message).encode())
                    assert json.loads(lines.readline())["type"] == answer
                    assert segments(connection) == count, answer


def segments(connection: socket.socket) -> int:
    """Return how many segments with data have arrived: `tcpi_data_segs_in`."""
    information = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 160)
    count: int = struct.unpack_from("=I", information, 152)[0]
    return count


# -- what is written about them ----------------------------------------------------------------------


def test_the_table_of_languages_names_every_starter() -> None:
    text = (BOTS / "README.md").read_text("utf-8")
    table = dict(re.findall(r"^\| [^|]+ \| \[(\w+)\]\(\1\) \|.*\| (yes|no) \|$", text, re.MULTILINE))
    for starter in STARTERS:
        assert table[starter.language] == ("yes" if starter.resumes else "no")


@needs("bash", "nc")
def test_the_twelve_lines_of_shell_play_a_game(tmp_path: Path) -> None:
    [program] = re.findall(
        r"```sh\n(coproc .*?)```", (BOTS / "shell" / "README.md").read_text("utf-8"), re.DOTALL
    )
    assert len(program.splitlines()) == 12
    with served(tmp_path / "data") as address:
        done = subprocess.run(
            ["bash", "-c", program, "twelve.sh", address.rpartition(":")[2]],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(json.loads(done.stdout)["result"]["ranks"]) == 2


# -- the types for TypeScript ------------------------------------------------------------------------

Fields = dict[str, bool]  # whether each is optional

UNIONS: Final = ("Move", "Decision")
ALWAYS_THERE: Final = {"Ask": ("view", "legal", "legal_complete"), "View": ("seat",)}  # for this client


def test_the_types_for_typescript_are_those_of_the_schemas() -> None:
    """Except events, which have one open type, and the board and the parts of a game, which have their own
    formats."""
    declared = declared_types((BOTS / "javascript" / "src" / "protocol.d.ts").read_text("utf-8"))
    wanted = wanted_types()
    for name, always in ALWAYS_THERE.items():
        wanted[name] |= dict.fromkeys(always, False)
    assert {name: declared.get(name) for name in wanted} == wanted
    assert len(wanted) > 50


def declared_types(text: str) -> dict[str, Fields]:
    """Return the fields by the name of an interface, or of a union with the tag of its part."""
    declared: dict[str, Fields] = {}
    for name, body in re.findall(r"^export interface (\w+) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        fields = re.findall(r"^  (\w+)(\??):", body, re.MULTILINE)
        declared[name] = {field: mark == "?" for field, mark in fields}
    for union, body in re.findall(r"^export type (\w+) =\n(.*?);\n\n", text, re.MULTILINE | re.DOTALL):
        for part in re.findall(r"\{(.*?)\}", body, re.DOTALL):
            [tag] = re.findall(r'type: "(\w+)"', part)
            declared[f"{union}.{tag}"] = {
                field: mark == "?" for field, mark in re.findall(r"(\w+)(\??):", part)
            }
    declared["Player"] = declared.pop("SeatedPlayer")  # the name is taken by the player that an author writes
    return declared


def wanted_types() -> dict[str, Fields]:
    """Return the same for the schemas."""
    wanted: dict[str, Fields] = {}
    for union in UNIONS:
        for definition in definitions(union).values():
            if "type" in definition["properties"]:
                wanted[f"{union}.{tag_of(definition)}"] = fields_of(definition)
    without = {"Board", *definitions("Board"), "Parts", *definitions("Parts")}
    for union in (*UNIONS, "Event"):
        without |= {name for name, each in definitions(union).items() if "type" in each["properties"]}
    messages = definitions("Message")
    return wanted | {name: fields_of(messages[name]) for name in messages if name not in without}


def definitions(schema: str) -> dict[str, Any]:  # Any: JSON knows no types
    """Return the records that a definition uses."""
    named = single_schema(bundle(), schema)["$defs"]
    return {name: each for name, each in named.items() if "properties" in each}


def tag_of(definition: dict[str, Any]) -> str:
    tag: str = definition["properties"]["type"]["const"]
    return tag


def fields_of(definition: dict[str, Any]) -> Fields:
    return {name: name not in definition["required"] for name in definition["properties"]}
