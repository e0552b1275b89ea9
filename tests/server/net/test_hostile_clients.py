"""What clients do wrong, on real sockets: each gets its code, and a match beside them goes on to its end."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from stellwerk_server.net.server import FEW_CONNECTIONS
from tests.server.served_process import Caller, Message, Serving, serving

pytestmark = pytest.mark.xdist_group("abuse")

SMALL_LIMITS = (
    "--set=limits.unsent_ms=500",
    "--set=limits.unsent_bytes=60000",
    "--set=limits.login_ms=1500",
    "--set=limits.unauthenticated=600",
    "--set=limits.messages_a_second=200",
    "--set=time.move_ms=60000",
)


NUMBERS = count()  # of the well-behaved ones


@pytest.fixture(scope="module", params=[0, FEW_CONNECTIONS], ids=["own reader", "shared reader"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("abuse"), *SMALL_LIMITS) as server:
        first = [server.call() for _ in range(request.param)]  # each is read by a task of its own
        for number, caller in enumerate(first):
            caller.login(f"idle{number}")
        yield server
        for caller in first:
            caller.close()
        for record in server.log():
            assert "exception" not in record, record


@pytest.fixture
def beside(server: Serving) -> Iterator[None]:
    """Run a well-behaved match that begins before the test and ends after it."""
    good = server.call()
    good.login(f"good{next(NUMBERS)}")
    ask = good.play_on(good.practice(), turns=3)
    yield
    assert good.play_on(ask)["result"]["ranks"]
    good.close()


def nested(depth: int) -> bytes:
    return b'{"type":"ping","echo":' + b"[" * depth + b"]" * depth + b"}"


BAD_LINES = {
    "nothing": (b"", "wire.not_json"),
    "no JSON": (b"hello?", "wire.not_json"),
    "half an object": (b'{"type":"ping"', "wire.not_json"),
    "a list": (b"[1,2,3]", "protocol.not_an_object"),
    "deep": (nested(5_000), "wire.too_deep"),
    "deep beyond a stack": (b"[" * 16_000, "wire.too_deep"),
    "not UTF-8": (b'{"type":"ping","echo":"\xff"}', "wire.not_utf8"),
    "not UTF-8 in an unknown field": (b'{"type":"ping","x":"\xc3\x28"}', "wire.not_utf8"),
    "a name twice": (b'{"type":"ping","echo":1,"echo":2}', "wire.duplicate_name"),
    "NaN": (b'{"type":"ping","echo":NaN}', "wire.bad_number"),
    "infinity": (b'{"type":"ping","echo":1e999}', "wire.bad_number"),
    "a huge number": (b'{"type":"ping","echo":1' + b"0" * 400 + b"}", "wire.bad_number"),
    "a fraction": (b'{"type":"ping","echo":1.5}', "wire.bad_number"),
    "a wrong type": (b'{"type":"ping","echo":"one"}', "protocol.wrong_value"),
    "a negative number": (b'{"type":"ping","echo":-1}', "protocol.wrong_value"),
    "an unknown type": (b'{"type":"pong"}', "protocol.unknown_type"),
    "an unknown field": (b'{"type":"ping","ecko":1}', "protocol.unknown_field"),
    "a field missing": (b'{"type":"ready"}', "protocol.missing_field"),
    "out of phase": (b'{"type":"login","protocol":1,"name":"again"}', "protocol.out_of_phase"),
    "no such match": (b'{"type":"act","match":"m","ask":1,"index":0}', "protocol.no_such_match"),
}


@pytest.mark.usefixtures("beside")
def test_each_bad_line_gets_its_code_and_the_connection_goes_on(server: Serving) -> None:
    bad = server.call()
    bad.login("bad")
    for what, (line, code) in BAD_LINES.items():
        bad.send(line + b"\n")
        assert bad.until("error")["code"] == code, what
    bad.say(type="ping", echo=7)
    assert bad.until("pong")["echo"] == 7
    bad.close()


@pytest.mark.usefixtures("beside")
def test_a_line_too_long_ends_the_connection_with_its_code(server: Serving) -> None:
    early, late = server.call(), server.call()
    late.login("long")
    for caller, size in ((early, 5_000), (late, 17_000)):
        caller.send(b"x" * size + b"\n")
        assert caller.until("error")["code"] == "wire.too_long"
        assert caller.until("bye")["code"] == "wire.too_long"
        with pytest.raises(EOFError):
            caller.read()
        caller.close()


@pytest.mark.usefixtures("beside")
def test_an_endless_line_is_not_waited_for(server: Serving) -> None:
    caller = server.call()
    caller.send(b"x" * 70_000)
    assert caller.until("bye")["code"] == "wire.too_long"
    caller.close()


@pytest.mark.usefixtures("beside")
def test_who_stays_silent_or_sends_byte_by_byte_without_a_login_is_sent_away(server: Serving) -> None:
    silent, slow = server.call(), server.call()
    for byte in b'{"type":':
        slow.send(bytes([byte]))
    for caller in (silent, slow):
        assert caller.until("bye")["code"] == "auth.login_timeout"
        caller.close()


@pytest.mark.usefixtures("beside")
def test_a_message_in_single_bytes_is_a_message(server: Serving) -> None:
    caller = server.call()
    caller.login("bytes")
    for byte in b'{"type":"ping","echo":12}\r\n':
        caller.send(bytes([byte]))
    assert caller.until("pong")["echo"] == 12
    caller.close()


@pytest.mark.usefixtures("beside")
def test_ten_thousand_acts_at_once_are_slowed_down_and_none_is_lost(server: Serving) -> None:
    caller = server.call()
    caller.login("many")
    ask = caller.practice()
    act = json.dumps({"type": "act", "match": ask["match"], "ask": 999, "index": 0}).encode() + b"\n"
    caller.socket.settimeout(0.2)
    with pytest.raises(TimeoutError):  # back-pressure: not all of it is taken
        caller.send(act * 1_000_000)
    caller.close()


def test_a_flood_gets_one_warning_and_then_its_answers_at_the_rate_of_the_limit(server: Serving) -> None:
    caller = server.call()
    caller.login("flood")
    count = 300
    caller.send(b"".join(b'{"type":"ping","echo":%d}\n' % number for number in range(count)))
    pongs, warnings = 0, 0
    while pongs < count:
        message = caller.read()
        pongs += message["type"] == "pong"
        warnings += message.get("code") == "protocol.too_fast"
    assert warnings == 1
    caller.close()


@pytest.mark.usefixtures("beside")
def test_who_never_reads_is_closed_and_can_resume(server: Serving) -> None:
    deaf = server.call()
    welcome = deaf.login("deaf", max_matches=64)
    for number in range(64):  # 25 kB of board each: more than the socket takes
        deaf.say(type="join", game="usa", players=2, against=["random"], seed=str(number))
    back = server.call()
    resume: Message = {
        "session": welcome["session"],
        "key": welcome["resume_key"],
        "last_events": dict[str, int](),
    }
    assert back.login("deaf", resume=resume, max_matches=64)["session"] == welcome["session"]
    assert back.until("start")["seat"] == 0
    back.close()
    deaf.close()


@pytest.mark.usefixtures("beside")
def test_a_reset_at_each_step_costs_nobody_anything(server: Serving) -> None:
    for step in range(5):
        caller = server.call()
        if step > 0:
            caller.login(f"reset{step}")
        if step > 1:
            caller.say(type="join", game="usa", players=2, against=["random"])
        if step > 2:
            start = caller.until("start")
            caller.say(type="ready", match=start["match"])
        if step > 3:
            caller.act(caller.until("ask"))
        caller.reset()


@pytest.mark.usefixtures("beside")
def test_who_closes_only_its_own_half_is_done_and_can_come_back(server: Serving) -> None:
    caller = server.call()
    welcome = caller.login("half")
    ask = caller.practice()
    caller.socket.shutdown(socket.SHUT_WR)
    with pytest.raises(EOFError):
        caller.until("anything more")
    back = server.call()
    back.login(
        "half",
        resume={
            "session": welcome["session"],
            "key": welcome["resume_key"],
            "last_events": {ask["match"]: ask["after_event"]},
        },
    )
    assert back.until("ask")["ask"] == ask["ask"]
    back.close()
    caller.close()


@pytest.mark.usefixtures("beside")
def test_a_takeover_sends_the_old_connection_away_and_a_wrong_key_does_not(server: Serving) -> None:
    old = server.call()
    welcome = old.login("taken")
    ask = old.practice()
    resume: Message = {"session": welcome["session"], "key": "wrong", "last_events": dict[str, int]()}
    thief = server.call()
    thief.say(type="login", protocol=1, name="taken", resume=resume)
    assert thief.until("error")["code"] == "auth.bad_resume_key"
    resume["key"] = welcome["resume_key"]
    new = server.call()
    new.login("taken", resume=resume)
    assert old.until("bye")["code"] == "server.taken_over"
    assert new.until("ask")["ask"] == ask["ask"]
    for caller in (old, thief, new):
        caller.close()


@pytest.mark.usefixtures("beside")
def test_a_storm_of_five_hundred_connections_is_weathered(server: Serving) -> None:
    callers = [Caller(server.port) for _ in range(500)]
    greeted = [caller.read()["type"] for caller in callers]
    assert greeted.count("hello") == 500
    for number, caller in enumerate(callers):
        if number % 2:
            caller.reset()
        else:
            caller.close()
    after = server.call()
    assert after.login("after_the_storm")["name"] == "after_the_storm"
    after.close()


def test_one_line_of_the_log_names_why_a_connection_ended(tmp_path: Path) -> None:
    with serving(tmp_path / "one") as server:
        caller = server.call()
        caller.login("logged")
        caller.send(b"nonsense\n")
        caller.until("error")
        caller.send(b"x" * 20_000)
        caller.until("bye")
        caller.close()
        server.signal(signal.SIGTERM)
        assert server.ended() == 0
        (closed,) = [record for record in server.log() if record["event"] == "connection.closed"]
        assert (closed["name"], closed["cause"]) == ("logged", "wire.too_long")
        assert closed["errors"] == {"wire.not_json": 1, "wire.too_long": 1}


def test_too_many_without_a_login_make_way_and_hear_when_to_come_back(tmp_path: Path) -> None:
    with serving(tmp_path / "few", "--set=limits.unauthenticated=3") as server:
        waiting = [server.call() for _ in range(3)]
        fourth = server.call()
        bye = waiting[0].read()
        assert (bye["type"], bye["code"]) == ("bye", "server.full")
        assert bye["retry_ms"] > 0
        for caller in (*waiting[1:], fourth):
            caller.login(f"in{caller.socket.getsockname()[1]}")
        for caller in (*waiting, fourth):
            caller.close()
