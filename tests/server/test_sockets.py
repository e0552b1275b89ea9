"""Accepting connections: how many, from where, what waits in the kernel, and what if descriptors run out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stellwerk_server.settings import Limits
from tests.server.served_process import Caller, serving
from tests.server.serving import Site, on_site

ADDRESSES = [f"127.0.0.{number}" for number in range(1, 6)]


def answer(site: Site, source: str) -> tuple[Caller, str]:
    """How a new connection from there is greeted."""
    caller = site.reach(source=source)
    message = caller.read()
    if message["type"] == "bye":
        assert message["retry_ms"] > 0
        with pytest.raises(EOFError):
            caller.read()
    return caller, message["code"] if "code" in message else message["type"]


# -- who gets in -------------------------------------------------------------------------------------


def test_sixteen_without_a_login_are_let_in_from_an_address_and_sixty_four_in_all() -> None:
    with on_site() as site:
        playing = site.player("playing")  # who is in counts no longer
        ask = playing.practice("card_game")
        silent = [answer(site, source) for source in ADDRESSES[:4] for _ in range(16)]
        assert [code for _, code in silent] == ["hello"] * 64
        assert answer(site, ADDRESSES[0])[1] == "server.full"
        assert answer(site, ADDRESSES[4])[1] == "server.full"
        assert (
            len({site.logged("connection.closed", address=ADDRESSES[place])["cause"] for place in (0, 4)})
            == 1
        )
        silent[0][0].login("at_last")
        newcomer, code = answer(site, ADDRESSES[4])
        assert code == "hello"
        newcomer.close()
        assert playing.play_on(ask)["result"]["ranks"]
        site.wait(30_000)
        assert silent[1][0].until("bye")["code"] == "auth.login_timeout"
        site.logged("connection.closed", cause="auth.login_timeout", connection=65)
        assert answer(site, ADDRESSES[3])[1] == "hello"


def test_beyond_so_many_connections_even_those_that_would_log_in_are_turned_away() -> None:
    with on_site(limits=Limits(connections=3)) as site:
        players = [site.player(f"p{number}") for number in range(3)]
        assert answer(site, ADDRESSES[0])[1] == "server.full"
        players[0].close()
        site.logged("connection.closed", name="p0")
        site.player("p3")


def test_who_calls_while_the_server_is_busy_waits_in_the_kernel_and_is_served_in_turn() -> None:
    limits = Limits(unauthenticated=300, unauthenticated_per_address=300)
    with on_site(limits=limits) as site:
        with site.held():
            callers = [site.reach() for _ in range(200)]
            for number, caller in enumerate(callers):
                caller.say(type="login", protocol=1, name=f"early{number}")
        for number, caller in enumerate(callers):
            assert caller.read()["type"] == "hello"
            assert caller.until("welcome")["name"] == f"early{number}"


def test_who_has_gone_before_anybody_looked_is_no_trouble() -> None:
    with on_site() as site:
        with site.held():
            for _ in range(12):
                site.reach().reset()
            for _ in range(12):
                site.reach().close()
        assert site.call().login("after")["name"] == "after"


# -- descriptors -------------------------------------------------------------------------------------


def few_descriptors(count: int) -> tuple[str, ...]:
    program = (
        "import os, resource, sys; "
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({count}, {count})); os.execv(sys.argv[1], sys.argv[1:])"
    )
    return (sys.executable, "-c", program)


def test_matches_that_take_the_last_descriptors_are_refused_and_the_others_end(tmp_path: Path) -> None:
    """Each has a journal open. One connection may join so many that nothing is left at all."""
    flags = ("--set=time.move_ms=60000", "--set=limits.burst=1000")
    with serving(tmp_path, *flags, prefix=few_descriptors(64)) as server:
        good, greedy = server.call(), server.call()
        good.login("good")
        ask = good.practice("card_game")
        greedy.login("greedy", max_matches=64)
        matches: list[str] = []
        while True:
            greedy.say(type="join", game="card_game", players=2, against=["random"])
            message = greedy.read()
            while message["type"] not in ("start", "error"):
                message = greedy.read()
            if message["type"] == "error":
                break
            matches.append(message["match"])
        assert message["code"] == "server.busy"
        assert len(matches) > 10
        for match in matches:
            greedy.say(type="leave", match=match)
            greedy.until("left", match=match)
        assert good.play_on(ask)["result"]["ranks"]
        later = server.call()
        later.login("later")
        (record,) = [record for record in server.log() if record["event"] == "journal.not_opened"]
        assert "Too many open files" in record["error"]
        for caller in (good, greedy, later):
            caller.close()
