"""`stellwerk kit attack`: our own server passes every case; the right case detects each wrong server."""

from __future__ import annotations

import argparse
import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pytest

from stellwerk.kit.command import add_arguments, run
from stellwerk.shared.errors import CommandError
from stellwerk_kit.attack.attack import Attack, Case, NoServerError, assault
from stellwerk_kit.attack.caller import LONGEST_LINE
from stellwerk_kit.attack.cases import CASES
from stellwerk_kit.doctor.doctor import Finding
from stellwerk_server.lobby.tokens import hashed
from tests.kit.attack import wrong_servers as wrong
from tests.kit.attack.wrong_servers import Spoil, WrongServer, wrong_server
from tests.server.net.test_tls import CERTIFICATE
from tests.server.served_process import Serving, serving

pytestmark = pytest.mark.xdist_group("attack")

SECONDS = 60.0  # for an answer: far more than it takes

TOO_LONG = "the time for an answer takes 70.05 s here: --slow waits for it"

# Each limit is below the numbers that the crowds of the attack reach.
SMALL_LIMITS = (
    "--set=limits.unsent_ms=300",
    "--set=limits.unsent_bytes=60000",
    "--set=limits.login_ms=800",
    "--set=limits.messages_a_second=400",
    "--set=limits.connections=280",
    "--set=limits.rooms=150",
    "--set=limits.matches=100",
    "--set=time.move_ms=60000",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("attacked"), *SMALL_LIMITS) as server:
        yield server
        for record in server.log():
            assert "exception" not in record, record


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Yield the same server over TLS."""
    flags = (f"--tls-cert={CERTIFICATE}", f"--tls-key={CERTIFICATE}", *SMALL_LIMITS)
    with serving(tmp_path_factory.mktemp("secured"), *flags) as server:
        yield server
        for record in server.log():
            assert "exception" not in record, record


def attack(port: int, *, with_witnesses: bool = True, tls: ssl.SSLContext | None = None) -> Attack:
    host = "127.0.0.1" if tls is None else "localhost"
    return Attack((host, port), SECONDS, with_witnesses=with_witnesses, tls=tls)


def findings(attacked: Attack, *names: str) -> list[Finding]:
    return list(assault(attacked, [case for case in CASES if not names or case.name in names]))


# -- the real server ---------------------------------------------------------------------------------


def test_our_own_server_passes_every_case(server: Serving) -> None:
    results = findings(attack(server.port))
    assert [finding for finding in results if finding.verdict == "FAIL"] == []
    assert {finding.step: finding.skipped for finding in results if finding.verdict == "skip"} == {
        "no-answer-in-time": TOO_LONG,
        "half-handshakes": "it needs TLS: tls://HOST:PORT",
    }


def test_our_own_server_passes_every_case_over_tls(secured: Serving) -> None:
    results = findings(attack(secured.port, tls=ssl.create_default_context(cafile=CERTIFICATE)))
    assert [finding for finding in results if finding.verdict == "FAIL"] == []
    assert {finding.step: finding.skipped for finding in results if finding.verdict == "skip"} == {
        "no-answer-in-time": TOO_LONG
    }


def test_witnesses_wait_for_a_room_while_a_case_holds_them_all(tmp_path: Path) -> None:
    with serving(tmp_path / "narrow", "--set=limits.rooms=1") as narrow:
        attacked = attack(narrow.port)
        with attacked.scene():
            holder = attacked.player()
            holder.say("join", game="usa", players=2, room="the-only-one")
            holder.hear("joined")
            leaving = Case("leaving", "a room is free again", lambda _: holder.take_leave())
            [finding] = assault(attacked, [leaving])
    assert (finding.verdict, finding.failure) == ("ok", None)


def test_the_time_for_an_answer_is_waited_for_where_it_is_short(tmp_path: Path) -> None:
    flags = ("--set=time.move_ms=300", "--set=time.bank_ms=0")
    with serving(tmp_path / "quick", *flags) as quick:
        [finding] = findings(attack(quick.port, with_witnesses=False), "no-answer-in-time")
    assert (finding.verdict, finding.failure) == ("ok", None)


NAMES = ("one", "two", "three", "four")


def test_a_server_that_asks_for_tokens_is_attacked_with_tokens(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("".join(f"{name} {hashed(name * 10)}\n" for name in NAMES))
    with serving(tmp_path / "closed", f"--tokens={tokens}", *SMALL_LIMITS) as closed:
        with pytest.raises(NoServerError, match=r"auth\.bad_token") as refused:
            findings(attack(closed.port))
        assert refused.value.refused
        attacked = Attack(
            ("127.0.0.1", closed.port), SECONDS, tokens=tuple((name, name * 10) for name in NAMES)
        )
        results = findings(attacked, "hello", "taken-name", "two-players", "keys")
        assert {finding.verdict for finding in results if finding.step != "taken-name"} == {"ok"}
        [skipped] = [finding for finding in results if finding.step == "taken-name"]
        assert skipped.skipped == "it takes a server that is open to every name"
        lonely = Attack(("127.0.0.1", closed.port), SECONDS, tokens=(("one", "one" * 10),))
        played, alone = findings(lonely, "plays-card_game", "two-players")
        assert (played.verdict, alone.skipped) == ("ok", "it takes more than 1 tokens")


# -- wrong servers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spoil", "came"),
    [
        (wrong.but("welcome", games=[]), "came no games"),
        (wrong.changed("welcome", wrong.for_nobody), r'came \{"usa": \[\]'),
    ],
    ids=["no games", "no numbers of players"],
)
def test_a_server_without_a_game_cannot_be_attacked(server: Serving, spoil: Spoil, came: str) -> None:
    with wrong_server(server.port, spoil) as spoilt, pytest.raises(NoServerError, match=came):
        findings(attack(spoilt.port), "plays-card_game")


WRONG: dict[str, tuple[Spoil, str, str]] = {
    "greets twice": (wrong.followed("hello"), "hello", "`hello` once only (L1)"),
    "speaks another protocol": (wrong.but("hello", protocols=[2]), "hello", "protocol 1 among"),
    "talks after bye": (
        wrong.followed("bye", {"type": "pong"}),
        "three-refused-logins",
        "the end of the connection",
    ),
    "sends null": (wrong.but("pong", echo=None), "right-pings", "one JSON object"),
    "answers a ping otherwise": (wrong.but("pong", echo=3), "many-at-once", '"echo": 0'),
    "sends a line that is too long": (
        wrong.followed("joined", b'{"type":"news"}' + b" " * LONGEST_LINE),
        "plays-card_game",
        "start",
    ),
    "does not say when to come back": (
        wrong.without("error", "retry_ms"),
        "many-rooms",
        "`retry_ms` with server.full",
    ),
    "has no place for a newcomer": (
        wrong.beyond(100, "hello", type="bye", code="server.full", expected="later", retry_ms=1),
        "waiting-room",
        "`hello`, however many connections wait",
    ),
    "has another word for being full": (
        wrong.beyond(100, "welcome", type="bye", code="server.shutting_down", expected="later", retry_ms=1),
        "many-sessions",
        "`welcome`, or `bye` with server.full",
    ),
    "has another code": (
        wrong.code_instead("wire.bad_number", "wire.not_json"),
        "wrong-lines",
        "wire.bad_number",
    ),
    "does not say where": (wrong.without("error", "pointer"), "wrong-lines-after-login", " at /"),
    "refuses out of the blue": (
        wrong.code_instead("protocol.out_of_phase", "protocol.unknown_type"),
        "right-lines",
        "protocol.out_of_phase for",
    ),
    "complains twice": (
        wrong.followed("error", code="protocol.too_fast"),
        "flood",
        "one error with protocol.too_fast",
    ),
    "counts events from 0": (
        wrong.changed("event", lambda event: event | {"number": event["number"] - 1}),
        "plays-card_game",
        "event 1 (L4)",
    ),
    "counts asks from 0": (
        wrong.changed("ask", lambda ask: ask | {"ask": ask["ask"] - 1}),
        "plays-card_game",
        "ask 1 (L6)",
    ),
    "is ahead of its events": (
        wrong.changed("ask", lambda ask: ask | {"after_event": ask["after_event"] + 1}),
        "plays-card_game",
        "(L5)",
    ),
    "lists nothing": (wrong.but("ask", legal=[]), "plays-card_game", "(L12)"),
    "lists what is not legal": (
        wrong.changed("ask", lambda ask: ask | {"legal": [*ask["legal"], {"type": "draw_three"}]}),
        "plays-card_game",
        "`ok` for a legal answer (L12)",
    ),
    "has a fallback that is not legal": (
        wrong.but("ask", fallback={"type": "pass"}),
        "plays-card_game",
        "(L13)",
    ),
    "swallows ok": (wrong.without("ok"), "plays-card_game", "no second open ask (L6)"),
    "asks again after the end": (
        wrong.followed_in_its_match("end", wrong.of_a_match("seat", seat=1, state="back")),
        "plays-by-moves",
        "after its `end` (L3)",
    ),
    "has no rank for somebody": (
        wrong.changed("end", lambda end: end | {"result": end["result"] | {"ranks": [1]}}),
        "plays-card_game",
        "a rank for each seat",
    ),
    "breaks its promise": (wrong.but("end", salt="0" * 64), "plays-card_game", "the commitment"),
    "sends what nobody wanted": (
        wrong.but("ask", legal_complete=True, legal=[]),
        "plays-blindly",
        "not in it",
    ),
    "makes another fallback": (
        wrong.but("default", move={"type": "pass"}),
        "no-try-left",
        "the fallback of the ask",
    ),
    "never stops asking": (
        wrong.without("default", "by_default"),
        "by-default",
        "`by_default` after 3 defaults",
    ),
    "counts tries wrong": (wrong.but("error", tries=7), "refused-acts", '"tries": 2'),
    "takes stale acts for good": (
        wrong.code_instead("protocol.stale_ask", "game.not_asked"),
        "stale-acts",
        "protocol.stale_ask",
    ),
    "shows the other hand": (
        wrong.changed("ask", wrong.shows_hands),
        "two-players",
        "no `hand` of another seat",
    ),
    "tells the other tickets": (
        wrong.changed("event", wrong.tells_tickets),
        "two-players",
        "no `tickets` in what",
    ),
    "tells who has answered": (
        wrong.followed_in_its_match("ok", wrong.of_a_match("seat", seat=1, state="back")),
        "silence-about-answers",
        "nothing but its own `ok`",
    ),
    "talks of what was left": (
        wrong.followed_in_its_match("left", wrong.of_a_match("seat", seat=1, state="lost")),
        "leaving",
        "a match that was left",
    ),
    "says done to who was taken over": (wrong.but("bye", code="done"), "taken-over", "server.taken_over"),
    "asks again after a resume": (
        wrong.changed("welcome", lambda welcome: welcome | {"resume_key": "forgotten"}),
        "resumed",
        "welcome",
    ),
    "gives spectators a seat": (
        wrong.changed("start", lambda start: start | {"seat": 0}),
        "spectator",
        "a start without a seat",
    ),
    "lists a match twice": (
        wrong.changed("match_list", lambda reply: reply | {"matches": reply["matches"][:1] * 2}),
        "list-of-matches",
        "each match once",
    ),
    "does not list what begins": (wrong.but("match_list", matches=[]), "list-of-matches", "as running"),
    "lists another result": (
        wrong.changed("match_list", wrong.with_points),
        "list-of-matches",
        "the result of the match",
    ),
    "never comes to the end of the list": (
        wrong.but("match_list", more=True),
        "wrong-cursors",
        "the end of the list",
    ),
    "takes any cursor for good": (
        wrong.without("match_list", "anew"),
        "list-of-matches",
        "`anew` in the answer",
    ),
    "forgets every cursor": (wrong.but("match_list", anew=True), "wrong-cursors", "to be good still"),
    "answers a request twice": (wrong.followed("match_list"), "many-requests", "one answer to each"),
    "shows no end of an ended match": (
        wrong.beyond(2, "end", type="pong"),  # its player and an early spectator have got it
        "ended-match",
        "events and the end",
    ),
    "lets everybody see all hands": (
        wrong.code_instead("auth.not_allowed", "protocol.no_such_match"),
        "all-hands",
        "auth.not_allowed",
    ),
}


@pytest.mark.parametrize("way", WRONG)
def test_a_wrong_server_is_found_out(server: Serving, way: str) -> None:
    spoil, case, expected = WRONG[way]
    with wrong_server(server.port, spoil) as spoilt:
        assert expected in complaint(spoilt, case)


def complaint(spoilt: WrongServer, case: str) -> str:
    """Return what the case missed; some servers are so wrong that no case gets that far."""
    try:
        [finding] = findings(attack(spoilt.port, with_witnesses=False), case)
    except NoServerError as error:
        return str(error)
    return finding.failure.expected if finding.failure is not None else "nothing"


def test_the_witnesses_detect_a_server_that_lets_others_pay_for_a_client(server: Serving) -> None:
    with wrong_server(server.port, wrong.right, alarm=b'"ecko"') as spoilt:
        before, during, after = findings(attack(spoilt.port), "hello", "wrong-lines", "right-pings")
    assert (before.verdict, during.verdict, after.verdict) == ("ok", "FAIL", "ok")
    assert during.failure is not None
    assert during.failure.expected == "that a match of two other clients goes on undisturbed (L18)"


def test_where_there_is_no_server_there_is_nothing_to_attack() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port: int = closed.getsockname()[1]
    with pytest.raises(NoServerError, match="a connection"):
        findings(attack(port))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"", "nothing"),
        (b"HTTP/1.1 400 Bad Request\r\n", "HTTP/1.1 400"),
        (b"\xff" * 70_000, "more than 59999"),
    ],
)
def test_a_program_that_is_not_our_server_is_reported(line: bytes, expected: str) -> None:
    with stranger(line) as port, pytest.raises(NoServerError, match=expected) as error:
        list(assault(Attack(("127.0.0.1", port), seconds=0.2), CASES))
    assert not error.value.refused


@contextmanager
def stranger(line: bytes) -> Generator[int]:
    """Yield a port at which a program sends this to every connection."""
    kept: list[socket.socket] = []

    def speak() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                kept.append(connection)
                connection.sendall(line)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=speak, daemon=True)
        thread.start()
        try:
            yield int(listener.getsockname()[1])
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in kept:
                connection.close()


# -- the command -------------------------------------------------------------------------------------


def kit(*words: str) -> int:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(words))


QUICK = ("--case", "hello", "--case", "right-pings")


def test_the_command_tells_each_case(server: Serving, capsys: pytest.CaptureFixture[str]) -> None:
    assert kit("attack", f"127.0.0.1:{server.port}", *QUICK) == 0
    assert capsys.readouterr().out.splitlines() == ["ok    hello", "ok    right-pings", "2 ok, 0 failed"]


def test_a_failure_is_printed_with_law_and_lines(
    server: Serving, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "attack.xml"
    with wrong_server(server.port, wrong.but("pong", echo=3)) as spoilt:
        words = ("attack", f"127.0.0.1:{spoilt.port}", "--junit", str(file), "--case", "right-pings")
        assert kit(*words) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["FAIL  right-pings", "      law       every ping gets its pong"]
    assert lines[2].startswith("      requires  S5 (MUST): ")
    assert lines[3].startswith("      expected  {'type': 'pong'")
    assert lines[5:] == ["0 ok, 1 failed"]
    suite = ElementTree.parse(file).getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")


def test_json_tells_every_case(server: Serving, capsys: pytest.CaptureFixture[str]) -> None:
    assert kit("attack", f"127.0.0.1:{server.port}", "--json", *QUICK) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["passed"], report["port"]) == (True, server.port)
    assert [(case["step"], case["verdict"]) for case in report["cases"]] == [
        ("hello", "ok"),
        ("right-pings", "ok"),
    ]


def test_the_list_has_every_case_with_its_law(capsys: pytest.CaptureFixture[str]) -> None:
    assert kit("attack", "--list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [case.name for case in CASES]
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (("--case", "hallo"), 2, 'did you mean "hello"?'),
        (("--token", "me"), 2, "expected NAME=TOKEN"),
        (("127.0.0.1",), 2, "SERVER: expected HOST:PORT or tls://HOST:PORT, not '127.0.0.1'"),
        (("127.0.0.1:1",), 4, "no login at 127.0.0.1:1"),
    ],
)
def test_an_impossible_command_is_refused_in_one_line(words: Sequence[str], code: int, expected: str) -> None:
    with pytest.raises(CommandError, match=r".") as refused:
        kit("attack", *words)
    assert refused.value.exit_code == code
    assert expected in refused.value.message
