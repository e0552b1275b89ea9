"""Accepting connections: how many, from where, what waits in the kernel, and what if descriptors run out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from stellwerk_server.lobby.outbox import RETRY_MS
from stellwerk_server.operate.settings import Limits
from tests.server.served_process import Caller, serving
from tests.server.serving import NO_RATE, Site, on_site

ADDRESSES = [f"127.0.0.{number}" for number in range(1, 6)]


def answer(site: Site, source: str) -> tuple[Caller, str]:
    """Return how a new connection from there is greeted."""
    caller = site.reach(source=source)
    message = caller.read()
    if message["type"] == "bye":
        assert message["retry_ms"] > 0
        with pytest.raises(EOFError):
            caller.read()
    return caller, message["code"] if "code" in message else message["type"]


# -- who gets in -------------------------------------------------------------------------------------


def test_idle_connections_keep_out_neither_a_newcomer_nor_a_bot_that_resumes() -> None:
    """64 of them from five addresses fill the waiting room."""
    with on_site(limits=Limits(unauthenticated=64), trusted=()) as site:
        playing = site.call(source="127.0.0.9")
        welcome = playing.login("playing")
        ask = playing.practice("card_game")
        idle = [answer(site, ADDRESSES[number % 5]) for number in range(64)]
        assert [code for _, code in idle] == ["hello"] * 64
        newcomer, code = answer(site, "127.0.0.6")
        assert code == "hello"
        oldest = idle[0][0].read()  # of 127.0.0.1, which holds 13 as three others do
        assert (oldest["code"], oldest["retry_ms"]) == ("server.full", RETRY_MS)
        assert newcomer.login("newcomer")["name"] == "newcomer"
        playing.reset()
        back, code = answer(site, "127.0.0.9")
        assert code == "hello"
        back.resume(welcome, ask)
        again = back.until("ask")
        assert again["ask"] == ask["ask"]
        assert back.play_on(again)["result"]["ranks"]


def test_who_holds_most_pays_for_coming_again() -> None:
    with on_site(limits=Limits(unauthenticated=8), trusted=()) as site:
        others = [answer(site, "127.0.0.2")[0] for _ in range(2)]
        for _ in range(30):
            assert answer(site, "127.0.0.1")[1] == "hello"
        for number, caller in enumerate(others):
            assert caller.login(f"other{number}")["name"] == f"other{number}"


def test_a_classroom_behind_one_address_comes_in_at_once_however_many_others_are_idle() -> None:
    with on_site(trusted=()) as site:
        idle = [answer(site, ADDRESSES[number % 5])[0] for number in range(Limits().unauthenticated)]
        with site.held():
            pupils = [site.reach(source="127.0.0.7") for _ in range(40)]
            for number, pupil in enumerate(pupils):
                pupil.say(type="login", protocol=1, name=f"pupil{number}")
        for number, pupil in enumerate(pupils):
            assert pupil.read()["type"] == "hello"
            assert pupil.until("welcome")["name"] == f"pupil{number}"
        assert idle[0].read()["code"] == "server.full"


def test_one_address_with_all_its_sessions_and_rooms_leaves_places_for_others() -> None:
    limits = replace(NO_RATE, sessions_per_address=20, rooms_per_address=50, rooms=100, matches=50)
    with on_site(limits=limits, trusted=()) as site:
        greedy: list[Caller] = []
        while True:
            caller = site.call(source="127.0.0.2")
            caller.say(type="login", protocol=1, name=f"greedy{len(greedy)}", max_matches=64)
            message = caller.read()
            if message["type"] == "bye":
                break
            greedy.append(caller)
        assert (message["code"], message["retry_ms"], len(greedy)) == ("server.full", RETRY_MS, 20)
        room_count = 0
        for number in range(60):
            greedy[0].say(type="join", game="usa", players=2, room=f"greedy{number}")
            message = greedy[0].read()
            room_count += message["type"] == "joined"
        assert (message["code"], message["retry_ms"], room_count) == ("server.full", RETRY_MS, 50)
        honest = site.call(source="127.0.0.3")
        honest.login("honest", max_matches=2)
        honest.say(type="join", game="usa", players=2, room="honest")
        assert honest.until("joined")["missing"] == 1
        assert honest.play_on(honest.practice("card_game"))["result"]["ranks"]


def test_beyond_so_many_sessions_a_login_is_turned_away_until_one_of_them_ends() -> None:
    with on_site(limits=Limits(connections=3)) as site:
        players = [site.player(f"p{number}") for number in range(3)]
        late = site.call(source=ADDRESSES[0])
        late.say(type="login", protocol=1, name="late")
        bye = late.read()
        assert (bye["code"], bye["retry_ms"]) == ("server.full", RETRY_MS)
        players[0].close()
        site.logged("connection.closed", name="p0")
        site.player("p3")


def test_who_calls_while_the_server_is_busy_waits_in_the_kernel_and_is_served_in_turn() -> None:
    limits = Limits(unauthenticated=300)
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
