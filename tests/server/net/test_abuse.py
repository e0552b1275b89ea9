"""What clients do to a server, at its usual limits, with a clock that only moves when a test says so.

Whoever does wrong gets its code and no more; a match beside it goes on to its end, and nobody's clock has
moved. `test_hostile_clients` does the same to a server that is a process of its own.
"""

from __future__ import annotations

import gc
import json
import socket
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from stellwerk_server.lobby.session import Connection, Session
from stellwerk_server.match.deadlines import Timer
from stellwerk_server.net.transports import SocketTransport
from stellwerk_server.operate.settings import Limits, Time
from tests.server.net.test_hostile_clients import BAD_LINES
from tests.server.served_process import Caller, Message, watch_and_leave
from tests.server.serving import NO_RATE, Site, on_site
from tests.server.support import MemoryJournal, entropy

pytestmark = pytest.mark.usefixtures("every_reader")

SECOND_AND_NO_MORE = Time(move_ms=1_000, bank_ms=0, grace_ms=0, strikes=0)
STEPS = ("hello", "login", "join", "start", "ready", "ask", "act")


@contextmanager
def good_match(site: Site) -> Generator[None]:
    """Start a match before the block, and check that it ends afterwards as if nothing had happened."""
    good = site.player("good")
    ask = good.play_on(good.practice("card_game"), turns=2)
    yield
    assert good.play_on(ask)["result"]["ranks"]
    assert site.logged("match.finished", match=ask["match"])["defaults"] == [0, 0]


@pytest.fixture
def site() -> Iterator[Site]:
    with on_site() as site, good_match(site):
        yield site


@pytest.fixture
def hasty() -> Iterator[Site]:
    """Start a server without a limit of messages."""
    with on_site(limits=NO_RATE) as site, good_match(site):
        yield site


def all_so_far(caller: Caller) -> list[Message]:
    """Return what the server has sent to it up to now."""
    caller.say(type="ping", echo=0)
    news = [caller.read()]
    while news[-1]["type"] != "pong":
        news.append(caller.read())
    return news


# -- too slow ----------------------------------------------------------------------------------------


def test_who_says_nothing_has_until_the_last_millisecond_to_log_in(site: Site) -> None:
    silent, late = site.call(), site.call()
    site.wait(29_999)
    late.login("late")
    site.wait(1)
    assert silent.until("bye")["code"] == "auth.login_timeout"
    assert site.logged("connection.closed", cause="auth.login_timeout")["lines"] == 0
    late.say(type="ping", echo=1)
    assert late.until("pong")["echo"] == 1


def test_a_byte_a_second_is_no_login(site: Site) -> None:
    slow = site.call()
    for byte in b'{"type":"login","protocol":1,"':
        slow.send(bytes([byte]))
        site.wait(1_000)
    assert slow.until("bye")["code"] == "auth.login_timeout"
    site.logged("connection.closed", cause="auth.login_timeout", lines=0)


def test_an_answer_byte_by_byte_is_none_before_its_end_and_costs_who_sends_it_alone() -> None:
    with on_site(time=SECOND_AND_NO_MORE) as site:
        slow, good = site.player("slow"), site.player("good")
        ask, other = slow.practice("card_game"), good.practice("card_game")
        line = json.dumps({"type": "act", "match": ask["match"], "ask": ask["ask"], "index": 0}).encode()
        for byte in line:
            slow.send(bytes([byte]))
            site.wait(10)
        good.act(other)
        assert good.until("ok")["ask"] == other["ask"]
        site.wait(1_000 - 10 * len(line))
        assert slow.until("default")["reason"] == "time"
        slow.send(b"\n")
        assert slow.until("error")["code"] == "protocol.stale_ask"


def test_who_never_answers_again_loses_its_seat_and_not_the_match() -> None:
    """A connection half open: the other end is gone, and nothing says so."""
    with on_site(time=SECOND_AND_NO_MORE, limits=NO_RATE) as site:
        good, ghost = site.player("good"), site.player("ghost")
        ask, _ = site.pair(good, ghost)
        good.act(ask)
        received: list[Message] = []
        seconds = 0
        while not any(message["type"] == "end" for message in received):
            news = all_so_far(good)
            site.wait(0)  # who plays by default does so in its own time
            news += all_so_far(good)
            received += news
            last = [message for message in news if message["type"] in ("ask", "end")][-1:]
            if not last:
                site.wait(1_000)
                seconds += 1
            elif last[0]["type"] == "ask":
                good.act(last[0])
        assert [message["state"] for message in received if message["type"] == "seat"] == ["by_default"]
        assert seconds == 3  # one for each default in a row
        assert site.logged("match.finished", match=ask["match"])["defaults"][0] == 0


@pytest.mark.parametrize("limit", ["bytes", "ms"])
def test_who_never_reads_is_dropped_and_can_come_back(limit: str) -> None:
    """10 MB are more than both kernels together take."""
    limits = replace(NO_RATE, unsent_bytes=10**6 if limit == "bytes" else 10**9)
    with on_site(limits=limits) as site, good_match(site):
        player = site.player("player", max_matches=2)
        watched = player.practice("usa")["match"]
        deaf = site.call(receive_bytes=4_096)
        welcome = deaf.login("deaf", max_matches=2)
        ask = deaf.practice("card_game")
        for caller, lines in ((player, b""), (deaf, watch_and_leave(watched) * 400)):
            caller.send(lines)
            caller.say(type="join", game="card_game", players=2, room="both")
        match = player.until("start")["match"]  # all that `deaf` said has been heard
        if limit == "bytes":
            player.say(type="leave", match=match)  # which `deaf` would be told
        else:
            site.wait(5_000)
        assert site.logged("connection.closed", cause="server.too_slow")["name"] == "deaf"
        back = site.call()
        back.resume(welcome, ask)
        assert back.until("ask")["ask"] == ask["ask"]


@pytest.mark.parametrize("limit", ["bytes", "ms"])
def test_who_is_stopped_by_us_is_not_dropped_until_it_goes_on_and_does_not_read(limit: str) -> None:
    limits = replace(NO_RATE, unsent_bytes=10**6 if limit == "bytes" else 10**9)
    with on_site(limits=limits) as site, good_match(site):
        player = site.player("player", max_matches=2)
        watched = player.practice("usa")["match"]
        stopped = site.call(receive_bytes=4_096)
        stopped.login("stopped", max_matches=2)
        stopped.practice("card_game")
        [session] = [one for one in site.server.lobby.sessions.by_id.values() if one.name == "stopped"]
        stopped.send(watch_and_leave(watched) * 400)
        if limit == "bytes":
            site.do(lambda: site.server.hold(session))
        for caller in (player, stopped):
            caller.say(type="join", game="card_game", players=2, room="both")
        match = player.until("start")["match"]  # all that `stopped` said has been heard
        site.do(lambda: site.server.hold(session))
        player.say(type="leave", match=match)  # which `stopped` would be told
        site.wait(60_000)
        assert session.connection is not None
        site.do(lambda: site.server.release(session))
        site.wait(4_999)
        assert session.connection is not None
        site.wait(1)
        assert site.logged("connection.closed", cause="server.too_slow")["name"] == "stopped"


def test_who_goes_on_and_reads_gets_all_that_has_piled_up() -> None:
    with on_site(limits=replace(NO_RATE, unsent_bytes=10**6)) as site, good_match(site):
        player = site.player("player", max_matches=2)
        watched = player.practice("usa")["match"]
        stopped = site.call(receive_bytes=4_096)
        stopped.login("stopped", max_matches=2)
        stopped.practice("card_game")
        [session] = [one for one in site.server.lobby.sessions.by_id.values() if one.name == "stopped"]
        site.do(lambda: site.server.hold(session))
        stopped.send(watch_and_leave(watched) * 400)
        for caller in (player, stopped):
            caller.say(type="join", game="card_game", players=2, room="both")
        match = player.until("start")["match"]
        site.wait(60_000)
        site.do(lambda: site.server.release(session))
        player.say(type="leave", match=match)
        player.until("left")
        stopped.until("start")
        assert stopped.until("seat")["state"] == "left"


# -- too much ----------------------------------------------------------------------------------------


def test_of_ten_thousand_acts_in_one_piece_the_first_counts_and_each_is_answered(hasty: Site) -> None:
    many = hasty.player("many")
    ask = many.practice("card_game")
    act = json.dumps({"type": "act", "match": ask["match"], "ask": ask["ask"], "index": 0}).encode() + b"\n"
    many.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, len(act) * 10_000)
    many.send(act * 10_000)
    answers: list[str] = []
    while len(answers) < 10_000:
        message = many.read()
        if message["type"] in ("ok", "error"):
            answers.append(message.get("code", "ok"))
    assert answers == ["ok", *["protocol.stale_ask"] * 9_999]


def test_a_flood_is_held_back_and_goes_on_at_the_rate_of_the_limit(site: Site) -> None:
    flood = site.player("flood")
    flood.send(b"".join(b'{"type":"ping","echo":%d}\n' % number for number in range(100)))
    # 39 are left of the burst, for the login was one
    assert [flood.read()["echo"] for _ in range(39)] == list(range(39))
    assert flood.read()["echo"] == 39
    assert flood.read()["code"] == "protocol.too_fast"
    for number in range(40, 100):
        site.wait(50)
        assert flood.read()["echo"] == number
    site.wait(10_000)
    flood.say(type="ping", echo=100)
    assert flood.read()["echo"] == 100


def test_a_bad_line_before_the_login_gets_its_code_and_the_login_may_follow(hasty: Site) -> None:
    bad = hasty.call()
    for what, (line, code) in BAD_LINES.items():
        if len(line) <= 4_096 and not code.startswith("protocol."):
            bad.send(line + b"\n")
            assert bad.read()["code"] == code, what
    bad.login("bad")


def test_a_bad_line_costs_no_try_of_an_open_ask(hasty: Site) -> None:
    bad = hasty.player("bad")
    ask = bad.practice("card_game")
    for line, code in BAD_LINES.values():
        bad.send(line + b"\n")
        error = bad.read()
        assert (error["code"], error.get("tries")) == (code, None)
    bad.act(ask, index=len(ask["legal"]))
    assert bad.read()["tries"] == ask["tries"] - 1


def kept() -> list[object]:
    """Return the connections and sessions in memory. Their timers may stay until they would have run."""
    gc.collect()
    return [one for one in gc.get_objects() if type(one) in (Connection, Session)]


def test_nothing_is_kept_of_who_has_gone() -> None:
    with on_site() as site:
        counts, objects = site.do(lambda: site.server.lobby.counts()), len(kept())
        for number in range(30):
            caller = site.player(f"bad{number}")
            caller.say(type="join", game="card_game", players=3)
            caller.send(b"[" * 16_000 + b"\n" + b'{"type":"ping","x":"\xff"}\n' * 30)
            caller.send(b"x" * 60_000)
            assert caller.until("bye")["code"] == "wire.too_long"
            caller.reset() if number % 2 else caller.close()
        site.wait(2_000)  # sockets linger for a second; the deadline of a login is far away
        assert site.do(lambda: site.server.lobby.counts()) == counts
        assert len(kept()) <= objects


# -- gone, and back ----------------------------------------------------------------------------------


def go_as_far_as(step: str, caller: Caller, partner: Caller) -> None:
    """Bring the caller as far as this step, on its way into a match with a partner."""
    partner.say(type="join", game="card_game", players=2, room="pair")
    partner.until("joined")
    if step == "hello":
        return
    caller.login("gone")
    if step == "login":
        return
    caller.say(type="join", game="card_game", players=2, room="pair")
    caller.until("joined")
    if step == "join":
        return
    match = caller.until("start")["match"]
    if step == "start":
        return
    caller.say(type="ready", match=match)
    if step == "ready":
        return
    partner.say(type="ready", match=match)
    ask = caller.until("ask")
    if step == "act":
        caller.act(ask)


@pytest.mark.parametrize("step", STEPS)
def test_a_connection_that_is_reset_after_any_step_costs_who_lost_it_alone(step: str, site: Site) -> None:
    partner, gone = site.player("partner"), site.call()
    go_as_far_as(step, gone, partner)
    gone.reset()
    closed = site.logged("connection.closed", name=None if step == "hello" else "gone")
    assert closed["cause"] in ("broken: [Errno 104] Connection reset by peer", "closed by the client")
    if step not in ("hello", "login"):
        match = partner.until("start")["match"]
        assert partner.until("seat") == {"type": "seat", "match": match, "seat": 1, "state": "lost"}
    else:  # the room is as it was
        site.player("other").say(type="join", game="card_game", players=2, room="pair")
        match = partner.until("start")["match"]
    partner.say(type="leave", match=match)
    assert partner.until("left")["match"] == match


def test_a_storm_of_five_hundred_that_lose_their_connections_and_come_back_at_once() -> None:
    limits = Limits(unauthenticated=600)
    with on_site(limits=limits) as site, good_match(site):
        names = [f"storm{number}" for number in range(500)]
        callers = [site.call() for _ in names]
        bare = {"legal": False, "view": False, "events": False}
        welcomes = [caller.login(name, wants=bare) for caller, name in zip(callers, names, strict=True)]
        asks = [caller.practice("card_game") for caller in callers]
        for caller in callers:
            caller.reset()
        back = [site.reach() for _ in names]
        for caller, welcome, ask in zip(back, welcomes, asks, strict=True):
            caller.resume(welcome, ask, wants=bare)
        for caller, ask in zip(back, asks, strict=True):
            assert caller.until("ask") == ask  # and no clock has moved
        counts = site.do(lambda: site.server.lobby.counts())
        assert (counts.connections, counts.sessions, counts.running) == (501, 501, 501)


def test_old_and_guessed_keys_lead_nowhere_and_the_third_is_the_last(site: Site) -> None:
    first = site.call()
    welcome = first.login("player")
    ask = first.practice("card_game")
    second = site.call()
    second.resume(welcome)
    newer = second.until("welcome")
    assert first.until("bye")["code"] == "server.taken_over"
    all_so_far(second)
    thief = site.call()
    for wrong in (welcome, welcome | {"resume_key": "guessed"}, newer | {"session": "guessed"}):
        thief.resume(wrong)
        assert thief.until("error")["code"] == "auth.bad_resume_key"
    assert thief.until("bye")["code"] == "auth.bad_resume_key"
    assert site.logged("connection.closed", cause="auth.bad_resume_key")["errors"] == {
        "auth.bad_resume_key": 3
    }
    second.act(ask)
    assert second.until("ok")["ask"] == ask["ask"]


# -- our own faults ----------------------------------------------------------------------------------


class Fault:
    """An exception of our own, where and when a test wants it."""

    def __init__(self) -> None:
        self.is_due = False

    def strike(self) -> None:
        if self.is_due:
            self.is_due = False
            hand_of_the_player = "3 red"
            raise ZeroDivisionError(len(hand_of_the_player) // 5)


@contextmanager
def faulty_site(where: str) -> Generator[tuple[Site, Fault]]:
    """Start a server in which something that the lobby relies on fails once."""
    fault, random = Fault(), entropy("faulty")

    def draw(count: int) -> bytes:
        fault.strike()
        return random(count)

    def open_journal(match: str) -> MemoryJournal:
        fault.strike()
        return MemoryJournal()

    parts: dict[str, Any] = {"entropy": draw, "open_journal": open_journal}  # Any: fields of a LobbySetup
    with on_site(**{where: parts[where]}) as site, good_match(site):
        yield site, fault


def expect_one_bug_in_the_log(site: Site, event: str) -> None:
    bug = site.logged(event)
    assert len(site.records(event)) == 1
    assert "ZeroDivisionError" in str(bug)
    assert "3 red" not in str(bug)


def test_a_bug_of_ours_in_answering_a_message_ends_that_connection_and_no_other() -> None:
    with faulty_site("entropy") as (site, fault):
        caller = site.player("unlucky")
        fault.is_due = True
        caller.say(type="join", game="card_game", players=2, against=["random"])
        with pytest.raises(EOFError):
            caller.read()
        expect_one_bug_in_the_log(site, "connection.bug")
        assert site.logged("connection.closed")["cause"] == "a bug of the server"
        again = site.player("unlucky")
        assert again.practice("card_game")["ask"] == 1


def test_a_bug_of_ours_in_sending_ends_the_connection_that_it_was_for(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client whose line made the server send is served on."""
    try_send, fault = SocketTransport.try_send, Fault()

    def fail_once(transport: SocketTransport, data: bytes) -> int:
        if b'"seat","match"' in data:
            fault.strike()
        return try_send(transport, data)

    one, other = site.player("one"), site.player("other")
    match = site.pair(one, other)[0]["match"]
    monkeypatch.setattr(SocketTransport, "try_send", fail_once)
    fault.is_due = True
    one.say(type="leave", match=match)
    assert one.until("left")["match"] == match
    with pytest.raises(EOFError):
        other.read()
    expect_one_bug_in_the_log(site, "connection.bug")
    assert site.logged("connection.closed")["cause"] == "a bug of the server"
    assert one.practice("card_game")["ask"] == 1


def test_a_bug_of_ours_in_beginning_a_match_costs_nobody_a_connection() -> None:
    with faulty_site("open_journal") as (site, fault):
        one, other = site.player("one"), site.player("other")
        one.say(type="join", game="card_game", players=2, room="pair")
        one.until("joined")
        fault.is_due = True
        other.say(type="join", game="card_game", players=2, room="pair")
        for caller in (one, other):
            assert caller.until("error")["code"] == "server.failed"
        expect_one_bug_in_the_log(site, "match.bug")
        assert site.pair(one, other)[0]["ask"] == 1


def test_a_bug_of_ours_when_time_is_up_stops_no_clock() -> None:
    fault = Fault()
    with on_site(time=SECOND_AND_NO_MORE) as site:
        fault.is_due = True
        deadlines = site.server.lobby.deadlines
        site.do(lambda: Timer(deadlines, lambda _: fault.strike()).set(site.server.clock.now() + 500))
        player = site.player("player")
        player.practice("card_game")
        site.wait(1_000)
        assert player.until("default")["reason"] == "time"
        expect_one_bug_in_the_log(site, "timer.bug")


def test_a_bug_of_ours_in_a_match_ends_that_match_and_no_other(site: Site) -> None:
    """This house bot breaks at its third ask."""
    player = site.player("player", max_matches=2)
    other = player.practice("card_game")
    player.say(type="join", game="card_game", players=2, against=["broken"])
    match = player.until("start")["match"]
    player.say(type="ready", match=match)
    while (message := player.read())["type"] == "event" or message["type"] == "ask":
        if message["type"] == "ask":
            player.act(message)
            player.until("ok")
    assert (message["type"], message["code"], message["match"]) == ("error", "server.failed", match)
    assert site.logged("match.failed")["match"] == match
    expect_one_bug_in_the_log(site, "match.bug")
    assert player.play_on(other)["match"] == other["match"]


def test_a_server_that_stands_still_for_a_minute_charges_nobody_for_it() -> None:
    with on_site(time=SECOND_AND_NO_MORE) as site:
        player, greeted = site.player("player"), site.call()
        ask = player.practice("card_game")
        site.stall(60_000)
        player.act(ask)
        assert player.until("ok")["took_ms"] <= 6  # of one round
        assert greeted.login("late")["name"] == "late"


def test_on_a_full_disk_a_match_stands_still_and_goes_on_when_there_is_room(site: Site) -> None:
    one, two = site.player("one"), site.player("two")
    asks = site.pair(one, two)
    journal = site.journals[asks[0]["match"]]
    journal.is_full = True
    one.act(asks[0])
    assert all_so_far(one)[0]["type"] == "pong"  # what is not written has not happened
    two.act(asks[1])
    assert two.until("error")["code"] == "server.busy"
    site.wait(20_000)
    journal.is_full = False
    site.wait(500)
    assert one.until("ok")["ask"] == asks[0]["ask"]
    two.act(asks[1])
    assert two.until("ok")["took_ms"] <= 500  # since it could be written, and not one of those 20 s
    assert one.until("ask")["ask"] == 2


def test_on_a_disk_that_stays_full_a_match_ends_as_the_servers_fault(site: Site) -> None:
    one, two = site.player("one"), site.player("two")
    asks = site.pair(one, two)
    site.journals[asks[0]["match"]].is_full = True
    one.act(asks[0])
    all_so_far(one)
    site.wait(30_500)
    for caller in (one, two):
        assert caller.until("error", match=asks[0]["match"])["code"] == "server.failed"
    failed = site.logged("match.failed", match=asks[0]["match"])
    assert "No space left on device" in failed["disk_error"]
