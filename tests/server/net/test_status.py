"""The status page: what it shows while matches run, and which requests it answers."""

from __future__ import annotations

import json
import socket
from collections.abc import Generator
from contextlib import ExitStack, contextmanager

import pytest

from stellwerk_server.net.metrics import Metrics
from stellwerk_server.net.status import MOST_READERS, RUNNING_SHOWN, StatusPage
from stellwerk_server.operate.settings import Limits
from tests.server.served_process import PATIENCE, Message
from tests.server.serving import NO_RATE, Site, on_site

KNOWN = {
    "server",
    "uptime_s",
    "draining",
    "connections",
    "sessions",
    "rooms",
    "running",
    "finished",
    "failed",
    "decisions",
    "decisions_per_second",
    "late_ms",
    "memory_kb",
    "log_lines_dropped",
    "matches",
}


class Page:
    """The status page of a server."""

    def __init__(self, site: Site, metrics: Metrics | None = None) -> None:
        page = site.do(lambda: StatusPage(site.server, metrics or Metrics()))
        self._site = site
        self._address = site.do_and_wait(lambda: page.listen("127.0.0.1", 0))

    @contextmanager
    def reached(self) -> Generator[socket.socket]:
        with socket.create_connection(self._address, timeout=PATIENCE) as sock:
            yield sock

    def answer(self, request: bytes) -> tuple[bytes, bytes]:
        """Return head and body of the answer."""
        with self.reached() as sock:
            sock.sendall(request)
            read = b""
            while data := sock.recv(65_536):
                read += data
        head, _, body = read.partition(b"\r\n\r\n")
        return head, body

    def status(self) -> Message:
        head, body = self.answer(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
        assert f"Content-Length: {len(body)}".encode() in head
        assert [secret for secret in self._site.secrets if secret in body.decode()] == []
        status: Message = json.loads(body)
        assert status.keys() == KNOWN
        return status


def test_it_counts_what_there_is() -> None:
    with on_site() as site:
        page = Page(site)
        idle = page.status()
        counted = ("connections", "sessions", "rooms", "running", "finished", "failed", "decisions")
        assert {name: idle[name] for name in counted} == dict.fromkeys(counted, 0)
        assert idle["server"] == "stellwerk test"
        site.call()
        site.player("waiting").say(type="join", game="usa", players=2)
        player = site.player("player")
        ask = player.play_on(player.practice("card_game"), turns=3)
        status = page.status()
        assert [status[name] for name in counted[:-1]] == [3, 2, 1, 1, 0, 0]
        (match,) = status["matches"]
        assert (match["match"], match["game"]) == (ask["match"], "card_game")
        assert match["players"] == ["player", "random"]
        assert match["decisions"] == status["decisions"] > 3
        player.play_on(ask)
        after = page.status()
        assert (after["running"], after["finished"], after["matches"]) == (0, 1, [])
        assert after["decisions"] > status["decisions"]


def test_a_match_that_failed_is_counted_as_that() -> None:
    with on_site() as site:
        page, player = Page(site), site.player("player")
        player.say(type="join", game="card_game", players=2, against=["broken"])
        match = player.until("start")["match"]
        player.say(type="ready", match=match)
        while (message := player.read())["type"] != "error":
            if message["type"] == "ask":
                player.act(message)
        status = page.status()
        assert (status["running"], status["finished"], status["failed"]) == (0, 0, 1)


def test_decisions_a_second_are_those_since_somebody_asked_last() -> None:
    with on_site() as site:
        page, player = Page(site), site.player("player")
        ask = player.practice("card_game")
        before = page.status()["decisions"]
        site.wait(2_000)
        player.play_on(ask, turns=5)
        site.wait(2_000)
        status = page.status()
        assert status["decisions_per_second"] == pytest.approx((status["decisions"] - before) / 4, abs=0.1)
        site.wait(1_000)
        assert page.status()["decisions_per_second"] == 0


def test_it_does_not_tell_that_one_seat_has_answered_a_choice_that_both_owe() -> None:
    """L16: the page is public on the machine where the bots are started."""
    with on_site() as site:
        page, one, other = Page(site), site.player("one"), site.player("other")
        asks = site.pair(one, other, "usa")
        assert asks[0]["decision"]["seats"] == [0, 1]
        before = page.status()
        one.act(asks[0])
        one.until("ok")
        status = page.status()
        for name in ("uptime_s", "late_ms", "memory_kb"):
            del before[name], status[name]
        assert status == before
        other.act(asks[1])
        other.until("event")
        assert page.status()["decisions"] == 2


def test_it_tells_how_late_the_server_has_been() -> None:
    with on_site() as site:
        page = Page(site)
        assert page.status()["late_ms"] < 1
        site.stall(60_000)
        assert page.status()["late_ms"] == pytest.approx(60_000, abs=10)
        assert page.status()["uptime_s"] == pytest.approx(60, abs=0.1)


def test_it_tells_that_the_server_goes_down() -> None:
    with on_site() as site:
        page, player = Page(site), site.player("player")
        player.practice("card_game")
        assert not page.status()["draining"]
        site.do(site.server.lobby.drain)
        status = page.status()
        assert (status["draining"], status["running"]) == (True, 1)


def test_who_wants_to_watch_finds_the_match_there() -> None:
    with on_site() as site:
        page, player, spectator = Page(site), site.player("player"), site.player("spectator")
        ask = player.practice("card_game")
        (match,) = page.status()["matches"]
        spectator.say(type="watch", match=match["match"], viewer="public")
        assert spectator.until("start")["match"] == ask["match"]


def test_of_many_matches_it_names_some_and_counts_all() -> None:
    with on_site(limits=NO_RATE) as site:
        page = Page(site)
        for name in ("one", "two"):
            player = site.player(name, max_matches=64)
            for _ in range(64):
                player.say(type="join", game="card_game", players=2, against=["random"])
                player.until("start")
        status = page.status()
        assert (status["running"], len(status["matches"])) == (128, RUNNING_SHOWN)


def test_a_head_without_its_body_and_nothing_but_get_and_head() -> None:
    with on_site() as site:
        page = Page(site)
        head, body = page.answer(b"HEAD / HTTP/1.0\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK")
        assert b"Content-Length: 0" not in head
        assert body == b""
        head, body = page.answer(b"POST / HTTP/1.0\r\n\r\n{}")
        assert head.startswith(b"HTTP/1.1 405 Method Not Allowed\r\n")
        assert b"\r\nAllow: GET, HEAD\r\n" in head
        assert body == b"GET and HEAD only: these pages are for reading\n"


@pytest.mark.parametrize(
    ("request_bytes", "status", "words"),
    [
        (b"hello?\r\n\r\n", 400, b"not a request of HTTP/1.1: "),
        (b"\xff\x00" * 3_000 + b"\r\n\r\n", 400, b"not a request of HTTP/1.1: "),
        (b"x" * 20_000, 431, b"the head of a request has at most 8192 bytes"),
        (b"GET / HTTP/1.1\r\n\r\n", 400, b"not a request of HTTP/1.1: Missing mandatory Host: header"),
        (b"GET / HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}", 413, b"a request has no body here"),
    ],
    ids=["a line", "garbage", "too large", "no Host", "a body"],
)
def test_what_is_no_request_of_a_reader_gets_one_line_that_says_why(
    request_bytes: bytes, status: int, words: bytes
) -> None:
    with on_site() as site:
        page = Page(site)
        head, body = page.answer(request_bytes)
        assert head.startswith(b"HTTP/1.1 %d " % status)
        assert body.startswith(words)
        assert body.count(b"\n") == 1
        assert page.status()["running"] == 0


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET / HTTP/1.0\r\n\r\n",
        b"GET /?why=1 HTTP/1.1\r\nHost: monitoring.example.org\r\n\r\n",
        b"GET /any HTTP/1.1\r\nHost: 192.0.2.1:7879\r\nConnection: keep-alive\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: here\r\n\r\n" + bytes(16_000),
    ],
    ids=["no name", "a name", "an address", "more than was asked for"],
)
def test_under_any_name_and_address_a_reader_gets_one_answer_and_the_end(request_bytes: bytes) -> None:
    with on_site() as site:
        head, body = Page(site).answer(request_bytes)
        assert head.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"\r\nConnection: close" in head
        assert json.loads(body).keys() == KNOWN


def test_a_request_that_comes_drop_by_drop_has_two_seconds() -> None:
    with on_site() as site:
        page = Page(site)
        with page.reached() as slow:
            for byte in b"GET":
                slow.sendall(bytes([byte]))
                site.wait(600)
            assert page.status()["running"] == 0
            site.wait(200)
            assert slow.recv(100) == b""


def test_who_asks_nothing_is_dropped_and_holds_up_nobody() -> None:
    with on_site(limits=Limits(login_ms=10_000)) as site:
        page, player = Page(site), site.player("player")
        ask = player.practice("card_game")
        with page.reached() as silent, page.reached() as gone:
            gone.close()
            assert page.status()["running"] == 1
            site.wait(2_000)
            assert silent.recv(100) == b""
        assert player.play_on(ask)["result"]["ranks"]


def test_so_many_readers_at_a_time_and_no_more() -> None:
    with on_site() as site, ExitStack() as silent:
        page = Page(site)
        for _ in range(MOST_READERS):
            silent.enter_context(page.reached())
        with page.reached() as one_more:
            assert one_more.recv(100).startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
        silent.close()
        site.wait(2_000)
        assert page.status()["running"] == 0
