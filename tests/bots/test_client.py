"""The Python client against a scripted server, over real sockets and pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from stellwerk_bots.bot import Answer, Message
from stellwerk_bots.client import ATTEMPTS, NO_SERVER, REFUSED, USAGE, Client, ClientError, join
from stellwerk_bots.messages import Ask, Join, Start
from tests.bots.scripted_server import (
    AUTHORITY,
    HELLO,
    PATIENCE,
    USA,
    Peer,
    ask,
    bye,
    end,
    error,
    free_port,
    serve,
    welcome,
)

WISH = join("usa", against=["greedy"])


@dataclass
class Second:
    """A player that makes the second listed move, and notes its asks."""

    start: Start
    seed_text: str
    asked: list[int] = field(default_factory=list[int])

    def answer(self, ask: Ask) -> Answer:
        self.asked.append(ask["ask"])
        return {"index": 1}


@dataclass
class Table:
    """A client with everything that can be observed from outside."""

    address: str
    options: dict[str, Any] = field(default_factory=dict[str, Any])  # Any: of all kinds, as Client takes them
    wish: Join | None = field(default_factory=WISH.copy)
    players: list[Second] = field(default_factory=list[Second])
    results: list[str] = field(default_factory=list[str])
    logged: list[str] = field(default_factory=list[str])
    pauses: list[float] = field(default_factory=list[float])

    def run(self) -> None:
        Client(
            self.address,
            "bot",
            self._new_player,
            self.wish,
            seed_text="chance",
            tell_result=self.results.append,
            log=self.logged.append,
            sleep=self.pauses.append,
            **self.options,
        ).run()

    def _new_player(self, start: Start, seed_text: str) -> Second:
        self.players.append(Second(start, seed_text))
        return self.players[-1]


def played(*scripts: Callable[[Peer], None], wish: Join | None = WISH, **options: object) -> Table:
    with serve(*scripts) as address:
        table = Table(address, options, wish)
        table.run()
    return table


def refused(*scripts: Callable[[Peer], None], wish: Join | None = WISH, **options: object) -> ClientError:
    with serve(*scripts) as address, pytest.raises(ClientError) as caught:
        Table(address, options, wish).run()
    assert "\n" not in str(caught.value)
    return caught.value


# -- the usual course --------------------------------------------------------------------------------


def test_a_match_is_played_from_the_login_to_the_result() -> None:
    def script(peer: Peer) -> None:
        peer.send(HELLO)
        assert peer.receive("login") == {
            "type": "login",
            "protocol": 1,
            "name": "bot",
            "language": "python",
            "wants": {"legal": True, "view": True, "events": False},
        }
        peer.send(welcome())
        assert peer.receive("join") == {"type": "join", "game": "usa", "players": 2, "against": ["greedy"]}
        peer.send({"type": "joined", "room": "r", "missing": 0}, USA)
        assert peer.receive("ready") == {"type": "ready", "match": "m1"}
        peer.send(ask(1))
        assert peer.ok(1) == {"type": "act", "match": "m1", "ask": 1, "index": 1}
        peer.send(ask(2))
        peer.ok(2)
        peer.send(end())
        peer.receive_end()

    table = played(script)

    assert [(player.start, player.seed_text, player.asked) for player in table.players] == [
        (USA, "chance", [1, 2])
    ]
    assert table.results == ["usa: 1. other 12, 2. bot -7"]
    assert table.logged == []


def test_lines_may_come_in_pieces_or_many_at_once() -> None:
    def script(peer: Peer) -> None:
        for byte in json.dumps(HELLO).encode() + b"\r\n":
            peer.send_bytes(bytes([byte]))
        peer.receive("login")
        peer.send(welcome())
        peer.receive("join")
        peer.send(USA, ask(1))
        peer.receive("ready")
        peer.ok(1)
        peer.send(end())

    assert played(script).players[0].asked == [1]


def test_messages_and_fields_that_it_does_not_know_are_ignored() -> None:
    def script(peer: Peer) -> None:
        peer.send(HELLO | {"news": [1]})
        peer.receive("login")
        peer.send({"type": "weather", "match": ["?"]}, welcome() | {"news": {}})
        peer.receive("join")
        peer.send({"type": "weather"}, USA | {"news": 1})
        peer.receive("ready")
        peer.send({"type": "seat", "match": "m1", "seat": 1, "state": "lost"}, ask(1) | {"news": 1})
        peer.ok(1)
        peer.send(end() | {"news": 1})

    assert played(script).results != []


def test_messages_of_a_match_that_it_does_not_play_are_ignored() -> None:
    def script(peer: Peer) -> None:
        peer.log_in()
        peer.start()
        peer.send(ask(1, "other"), end("other"), ask(1))
        peer.ok(1)
        peer.send(end())

    table = played(script)

    assert (len(table.players), len(table.results)) == (1, 1)


def test_matches_are_played_one_after_the_other() -> None:
    def script(peer: Peer) -> None:
        peer.log_in()
        for match in ("m1", "m2", "m3"):
            peer.start(match)
            peer.send(ask(1, match))
            peer.ok(1, match)
            peer.send(end(match))
        peer.receive_end()

    table = played(script, matches=3)

    assert [player.start["match"] for player in table.players] == ["m1", "m2", "m3"]
    assert len(table.results) == 3


def test_matches_side_by_side_each_have_a_player() -> None:
    def script(peer: Peer) -> None:
        peer.log_in()
        peer.send(USA | {"match": "m1"}, USA | {"match": "m2"})
        peer.receive("ready")
        peer.receive("ready")
        peer.send(ask(1, "m1"), ask(1, "m2"), ask(2, "m1"))
        peer.ok(1, "m1")
        peer.ok(1, "m2")
        peer.ok(2, "m1")
        peer.send(end("m2"), end("m1"), bye("done"))

    table = played(script, wish=None)

    assert [player.asked for player in table.players] == [[1, 2], [1]]


def test_without_a_wish_it_plays_until_the_server_says_goodbye() -> None:
    def script(peer: Peer) -> None:
        login = peer.log_in()
        assert login["token"] == "secret"
        peer.receive("ping")  # after a login with a token: is a match going on?
        peer.send({"type": "pong"}, USA)
        peer.receive("ready")
        peer.send(end(), bye("done"))

    assert len(played(script, wish=None, token="secret").results) == 1


def test_an_observer_sees_every_message() -> None:
    seen: list[Message] = []

    def script(peer: Peer) -> None:
        login = peer.log_in()
        assert login["wants"]["events"] is True
        peer.start()
        peer.send({"type": "event", "match": "m1", "number": 1, "event": {"type": "turn_began"}}, end())

    played(script, events=True, observe=seen.append)

    assert [message["type"] for message in seen] == ["hello", "welcome", "joined", "start", "event", "end"]


def test_a_move_by_the_server_is_reported() -> None:
    def script(peer: Peer) -> None:
        peer.log_in()
        peer.start()
        peer.send(ask(1))
        peer.receive("act")
        peer.send({"type": "default", "match": "m1", "ask": 1, "reason": "time", "move": {}, "defaults": 1})
        peer.send(error("protocol.stale_ask", match="m1", ask=1), ask(2))
        peer.ok(2)
        peer.send(end())

    assert played(script).logged == [
        "the server moved for this seat: time",
        "the answer was too late: protocol.stale_ask: something else",
    ]


# -- refused answers ---------------------------------------------------------------------------------


def test_a_refused_answer_is_followed_by_the_first_listed_move_and_then_by_the_fallback() -> None:
    def script(peer: Peer) -> None:
        peer.log_in()
        peer.start()
        peer.send(ask(1))
        assert peer.receive("act")["index"] == 1
        peer.send(error("game.not_available", match="m1", ask=1, tries=2, pointer="/index"))
        assert peer.receive("act") == {"type": "act", "match": "m1", "ask": 1, "index": 0}
        peer.send(error("game.not_available", match="m1", ask=1, tries=1))
        assert peer.ok(1)["move"] == {"type": "pass"}
        peer.send(end())

    table = played(script)

    assert table.logged == [
        "the answer was refused: game.not_available at /index: something else",
        "the answer was refused: game.not_available: something else",
    ]


def test_an_error_that_names_no_ask_is_about_the_act_before_it() -> None:
    def script(peer: Peer) -> None:
        peer.log_in()
        peer.start()
        peer.send(ask(1))
        peer.receive("act")
        peer.send(error("protocol.wrong_value", pointer="/index"))
        assert peer.ok(1)["index"] == 0
        peer.send(end())

    assert len(played(script).results) == 1


def test_when_every_answer_is_refused_the_next_ask_is_waited_for() -> None:
    def script(peer: Peer) -> None:
        peer.log_in()
        peer.start()
        peer.send(ask(1))
        for tries in (2, 1, 0):
            peer.receive("act")
            peer.send(error("game.wrong_move", match="m1", ask=1, tries=tries))
        peer.send({"type": "default", "match": "m1", "ask": 1, "reason": "tries", "move": {}, "defaults": 1})
        peer.send(ask(2))
        peer.ok(2)
        peer.send(end())

    assert len(played(script).results) == 1


def test_answers_after_a_refused_one_keep_to_the_pace_of_the_server() -> None:
    """First answers are free. The clock of this test stands still but for the pauses."""
    asks, refused_asks = 30, range(5, 30)
    now = 100.0
    paused: list[float] = []
    sent_at: list[float] = []

    def script(peer: Peer) -> None:
        peer.send(HELLO | {"limits": {"messages_a_second": 4, "burst": 10}})
        peer.receive("login")
        peer.send(welcome())
        peer.start()
        for number in range(asks):
            peer.send(ask(number))
            if number in refused_asks:
                peer.receive("act")
                peer.send(error("game.not_available", match="m1", ask=number, tries=2))
                sent_at.append(now)
            peer.ok(number)
        peer.send(end())

    def pause(seconds: float) -> None:
        nonlocal now
        paused.append(seconds)
        now += seconds

    with serve(script) as address:
        table = Table(address)
        Client(address, "bot", Second, WISH, sleep=pause, clock=lambda: now, log=table.logged.append).run()
    # As the server counts: login, join and ready, and then each second answer.
    allowance, before = 10.0 - 3, 100.0
    for at in sent_at[1:]:
        allowance = min(10.0, allowance + 4 * (at - before)) - 1
        before = at
        assert allowance >= 0
    assert paused
    assert len(table.logged) == len(refused_asks)


def test_an_error_to_an_ask_that_is_not_open_changes_nothing() -> None:
    def script(peer: Peer) -> None:
        peer.log_in()
        peer.start()
        peer.send(ask(1))
        peer.ok(1)
        peer.send(error("game.wrong_move", match="m1", ask=1, tries=2), end())
        peer.receive_end()

    assert len(played(script).results) == 1


def test_an_error_to_another_ask_than_the_open_one_changes_nothing() -> None:
    def script(peer: Peer) -> None:
        peer.log_in()
        peer.start()
        peer.send(ask(1))
        peer.ok(1)
        peer.send(ask(2))
        peer.receive("act")
        peer.send(error("game.wrong_move", match="m1", ask=1, tries=2), ask(3))
        assert peer.ok(3)["index"] == 1
        peer.send(end())

    assert len(played(script).results) == 1


def test_a_busy_server_gets_the_same_answer_again_after_a_pause() -> None:
    def script(peer: Peer) -> None:
        peer.log_in()
        peer.start()
        peer.send(ask(1))
        peer.receive("act")
        peer.send(error("server.busy", match="m1", ask=1))
        assert peer.ok(1)["index"] == 1
        peer.send(end())

    assert played(script).pauses == [1.0]


def test_a_join_that_a_busy_server_refuses_is_sent_again_after_a_second() -> None:
    def script(peer: Peer) -> None:
        peer.log_in()
        for _ in range(2):
            assert peer.receive("join") == WISH
            peer.send(error("server.busy"))
        peer.start()
        peer.send(end())

    assert played(script).pauses == [1.0, 1.0]


def test_a_server_that_stays_busy_is_an_error_in_the_end() -> None:
    def script(peer: Peer) -> None:
        peer.log_in()
        for _ in range(ATTEMPTS):
            peer.receive("join")
            peer.send(error("server.busy"))

    assert "server.busy" in str(refused(script))


def test_a_match_in_which_the_server_fails_is_over() -> None:
    def script(peer: Peer) -> None:
        peer.log_in()
        peer.start()
        peer.send(error("server.failed", match="m1"))
        peer.receive_end()

    assert played(script).results == ["usa: no result, server.failed"]


# -- lost connections --------------------------------------------------------------------------------


def test_after_a_cut_the_session_is_resumed_and_the_player_goes_on() -> None:
    def first(peer: Peer) -> None:
        peer.log_in("s1", "k1")
        peer.start()
        peer.send(ask(1))
        peer.ok(1)
        peer.send_bytes(b'{"type":"ask","match":"m1","as')

    def second(peer: Peer) -> None:
        login = peer.log_in("s1", "k2")
        assert login["resume"] == {"session": "s1", "key": "k1", "last_events": {"m1": 0}}
        peer.send(USA, ask(2))
        peer.receive("ping")
        peer.ok(2)
        peer.send({"type": "pong"})

    def third(peer: Peer) -> None:
        login = peer.log_in("s1", "k3")
        assert login["resume"]["key"] == "k2"
        peer.send(USA, ask(3), end())
        peer.receive("ping")
        assert peer.receive("act")["ask"] == 3
        peer.receive_end()

    table = played(first, second, third)

    assert [player.asked for player in table.players] == [[1, 2, 3]]
    assert len(table.results) == 1


def test_a_resumed_client_names_the_last_event_that_it_has() -> None:
    def first(peer: Peer) -> None:
        peer.log_in()
        peer.start()
        for number in (1, 2, 3):
            peer.send({"type": "event", "match": "m1", "number": number, "event": {"type": "passed"}})

    def second(peer: Peer) -> None:
        assert peer.log_in()["resume"]["last_events"] == {"m1": 3}
        peer.send(end())

    assert len(played(first, second, events=True).results) == 1


@pytest.mark.parametrize("features", [["resume"], ["resume", "resume_ended"]])
def test_a_resumed_client_names_the_matches_that_have_ended_if_the_server_takes_that(
    features: list[str],
) -> None:
    """It does not play a match again that comes once more, and does not count it."""
    hello = {**HELLO, "features": features}

    def first(peer: Peer) -> None:
        peer.send(hello)
        peer.receive("login")
        peer.send(welcome("s1", "k1"))
        peer.start("m1")
        peer.send(end("m1"))
        peer.start("m2")

    def second(peer: Peer) -> None:
        peer.send(hello)
        resume = peer.receive("login")["resume"]
        assert resume["last_events"] == {"m2": 0}
        assert resume.get("ended") == (["m1"] if "resume_ended" in features else None)
        peer.send(welcome("s1", "k2"))
        if "resume_ended" not in features:
            peer.send({**USA, "match": "m1"}, end("m1"))
        peer.send({**USA, "match": "m2"}, end("m2"))
        peer.receive("ping")
        peer.receive_end()

    assert len(played(first, second, matches=2).results) == 2


def test_a_session_that_the_server_no_longer_knows_is_begun_afresh() -> None:
    def first(peer: Peer) -> None:
        peer.log_in("s1", "k1")
        peer.start("lost")

    def second(peer: Peer) -> None:
        peer.send(HELLO)
        assert "resume" in peer.receive("login")
        peer.send(error("auth.bad_resume_key"))
        assert "resume" not in peer.receive("login")
        peer.send(welcome("s2", "k2"))
        peer.receive("ping")
        peer.send({"type": "pong"})
        peer.start("m2")
        peer.send(ask(1, "m2"))
        peer.ok(1, "m2")
        peer.send(end("m2"))

    table = played(first, second)

    assert [player.start["match"] for player in table.players] == ["lost", "m2"]
    assert len(table.results) == 1


def test_it_wishes_for_no_new_match_while_the_old_one_may_still_come() -> None:
    def first(peer: Peer) -> None:
        peer.log_in()
        peer.receive("join")  # and the start is lost on the way

    def second(peer: Peer) -> None:
        peer.log_in()
        peer.send(USA)
        peer.receive("ping")
        peer.receive("ready")
        peer.send({"type": "pong"}, ask(1))
        peer.ok(1)
        peer.send(end())
        peer.receive_end()

    assert len(played(first, second).results) == 1


def test_a_match_that_ended_before_the_cut_is_not_played_again() -> None:
    def first(peer: Peer) -> None:
        peer.log_in()
        peer.start("m1")
        peer.send(end("m1"))
        peer.receive("join")

    def second(peer: Peer) -> None:
        peer.log_in()
        peer.send(USA | {"match": "m1"}, end("m1"))
        peer.receive("ping")
        peer.send({"type": "pong"})
        peer.start("m2")
        peer.send(end("m2"))

    table = played(first, second, matches=2)

    assert [player.start["match"] for player in table.players] == ["m1", "m2"]
    assert len(table.results) == 2


def test_a_bot_that_is_already_in_the_room_need_not_join_again() -> None:
    def first(peer: Peer) -> None:
        peer.log_in()
        peer.receive("join")

    def second(peer: Peer) -> None:
        peer.log_in()
        peer.receive("ping")
        peer.send({"type": "pong"})
        peer.receive("join")
        peer.send(error("protocol.out_of_phase"), USA)
        peer.receive("ready")
        peer.send(end())

    assert len(played(first, second).results) == 1


def test_the_name_of_the_session_is_the_one_that_the_server_gave() -> None:
    def first(peer: Peer) -> None:
        assert peer.log_in(name="seat-name")["name"] == "bot"

    def second(peer: Peer) -> None:
        assert peer.log_in(name="seat-name")["name"] == "seat-name"
        peer.receive("ping")
        peer.send(bye("done"))

    played(first, second, wish=None)


def test_the_bot_comes_back_at_the_time_that_the_server_names() -> None:
    def first(peer: Peer) -> None:
        peer.log_in()
        peer.start()
        peer.send(bye("server.shutting_down", retry_ms=2500))

    def second(peer: Peer) -> None:
        assert "resume" in peer.log_in()
        peer.send(end())

    table = played(first, second)

    assert table.pauses == [2.5]
    assert len(table.results) == 1


def test_a_full_server_is_visited_again_before_the_first_login() -> None:
    def first(peer: Peer) -> None:
        peer.send(bye("server.full", retry_ms=100))

    def second(peer: Peer) -> None:
        peer.log_in()
        peer.start()
        peer.send(end())

    assert played(first, second).pauses == [0.1]


def test_a_room_that_closed_is_entered_anew() -> None:
    def script(peer: Peer) -> None:
        peer.log_in()
        peer.receive("join")
        peer.send({"type": "joined", "room": "r", "missing": 1}, {"type": "left", "room": "r"})
        peer.start()
        peer.send(end())

    assert len(played(script).results) == 1


def test_a_refused_join_is_repeated_at_the_time_that_the_server_names() -> None:
    def first(peer: Peer) -> None:
        peer.log_in()
        peer.receive("join")
        peer.send(error("server.full", retry_ms=700))

    def second(peer: Peer) -> None:
        peer.log_in()
        peer.receive("ping")
        peer.send({"type": "pong"})
        peer.start()
        peer.send(end())

    table = played(first, second)

    assert table.pauses == [0.7]
    assert len(table.results) == 1


def test_a_refused_login_is_repeated_at_the_time_that_the_server_names() -> None:
    def first(peer: Peer) -> None:
        peer.send(HELLO)
        peer.receive("login")
        peer.send(error("server.shutting_down", retry_ms=300))

    def second(peer: Peer) -> None:
        peer.log_in()
        peer.start()
        peer.send(end())

    assert played(first, second).pauses == [0.3]


def test_the_pauses_grow_until_it_gives_up() -> None:
    def cut(peer: Peer) -> None:
        peer.log_in()

    with serve(*[cut] * ATTEMPTS) as address:
        table = Table(address)
        with pytest.raises(ClientError) as caught:
            table.run()

    assert caught.value.exit_code == NO_SERVER
    assert table.pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0, 5.0, 5.0]


def test_an_answer_that_the_server_took_makes_the_pauses_short_again() -> None:
    def cut(peer: Peer) -> None:
        peer.log_in()

    def plays(peer: Peer) -> None:
        peer.log_in()
        peer.receive("ping")
        peer.send({"type": "pong"})
        peer.start()
        peer.send(ask(1))
        peer.ok(1)

    def ends(peer: Peer) -> None:
        peer.log_in()
        peer.send(end())

    assert played(cut, cut, plays, ends).pauses == [0.1, 0.2, 0.1]


# -- what cannot be mended ---------------------------------------------------------------------------


def test_a_refused_connection_is_one_line_and_exit_code_4() -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    with pytest.raises(ClientError, match=r"cannot connect to tcp://127\.0\.0\.1:\d+: ") as caught:
        Table(address).run()
    assert caught.value.exit_code == NO_SERVER


@pytest.mark.parametrize(
    "address", ["localhost:7878", "http://localhost:80", "tcp://localhost", "tcp://:7878", "tcp://a..b:1", ""]
)
def test_what_is_no_address_is_a_wrong_usage(address: str) -> None:
    with pytest.raises(ClientError, match=r"^not ") as caught:
        Table(address).run()
    assert caught.value.exit_code == USAGE


def test_a_refused_login_is_reported_with_its_code() -> None:
    def script(peer: Peer) -> None:
        peer.send(HELLO)
        peer.receive("login")
        peer.send(error("auth.name_taken"))

    failure = refused(script)

    assert str(failure) == "the login was refused: auth.name_taken: something else"
    assert failure.exit_code == REFUSED


def test_a_refused_join_is_reported_with_its_place() -> None:
    def script(peer: Peer) -> None:
        peer.log_in()
        peer.receive("join")
        peer.send(error("protocol.wrong_value", pointer="/game"))

    failure = refused(script, wish=join("chess"))

    assert str(failure) == "the join was refused: protocol.wrong_value at /game: something else"


def test_another_protocol_is_refused() -> None:
    def script(peer: Peer) -> None:
        peer.send(HELLO | {"protocols": [2, 3]})

    assert "protocol [2, 3], not 1" in str(refused(script))


def test_whose_session_was_taken_over_stops() -> None:
    def script(peer: Peer) -> None:
        peer.log_in()
        peer.start()
        peer.send(bye("server.taken_over"))

    assert "server.taken_over" in str(refused(script))


def test_a_goodbye_before_all_was_played_is_a_failure() -> None:
    def script(peer: Peer) -> None:
        peer.log_in()
        peer.start()
        peer.send(bye("done"))

    assert "before all matches were played" in str(refused(script))


@pytest.mark.parametrize(
    "line",
    [
        b"HTTP/1.1 400 Bad Request\r\n",
        b"\xff\xfe\n",
        b"[1]\n",
        b"{}\n",
        b'{"type":["hello"]}\n',
        b'{"type":"hello"}\n',
        b'{"type":"welcome","session":"s"}\n',
        b"[" * 100_000 + b"\n",
        b"x" * (1 << 20),
    ],
    ids=lambda line: str(line[:24]),
)
def test_who_does_not_speak_the_protocol_is_no_server(line: bytes) -> None:
    failure = refused(lambda peer: peer.send_bytes(line))

    assert str(failure).startswith("this is not a Stellwerk server: ")
    assert failure.exit_code == REFUSED


@pytest.mark.parametrize(
    "message",
    [
        {"type": "ask", "match": "m1", "ask": "1", "fallback": {}},
        {"type": "ask", "match": ["m1"], "ask": 1, "fallback": {}},
        {"type": "start", "match": "m2", "game": "usa", "players": []},
        {"type": "error"},
        {"type": "end", "match": "m1", "result": {}},
    ],
    ids=str,
)
def test_a_broken_message_within_a_match_is_one_line(message: Message) -> None:
    def script(peer: Peer) -> None:
        peer.log_in()
        peer.start()
        peer.send(message)

    refused(script)


def test_a_mistake_of_the_players_own_is_not_hidden() -> None:
    class Broken(Second):
        def answer(self, ask: Ask) -> Answer:
            raise LookupError("mine")

    def script(peer: Peer) -> None:
        peer.log_in()
        peer.start()
        peer.send(ask(1))
        peer.receive_end()

    with serve(script) as address, pytest.raises(LookupError, match="mine"):
        Client(address, "bot", Broken, WISH).run()


@pytest.mark.parametrize("answer", [None, 3, [0]])
def test_a_player_that_returns_no_answer_is_told_what_was_expected(answer: object) -> None:
    class Forgetful(Second):
        def answer(self, ask: Ask) -> Answer:
            return answer  # type: ignore[return-value]  # pyright: ignore[reportReturnType]

    def script(peer: Peer) -> None:
        peer.log_in()
        peer.start()
        peer.send(ask(7))
        peer.receive_end()

    with serve(script) as address, pytest.raises(TypeError) as caught:
        Client(address, "bot", Forgetful, WISH).run()
    expected = 'Forgetful.answer: expected an answer to ask 7, {"index": N} or {"move": {...}}, not '
    assert str(caught.value) == f"{expected}{answer!r}"


# -- TLS ---------------------------------------------------------------------------------------------


def test_it_plays_over_tls_with_a_certificate_given_as_trusted() -> None:
    def script(peer: Peer) -> None:
        peer.log_in()
        peer.start()
        peer.send(end())

    with serve(script, tls=True) as address:
        table = Table(address, {"tls_ca": str(AUTHORITY)})
        table.run()

    assert len(table.results) == 1


def test_an_untrusted_certificate_is_refused() -> None:
    def script(peer: Peer) -> None:
        raise AssertionError("it has logged in")

    with (
        pytest.raises(OSError, match=r"(?i)unknown.ca"),  # the server's side of it
        serve(script, tls=True) as address,
        pytest.raises(ClientError, match=r"(?i)certificate") as caught,
    ):
        Table(address).run()
    assert caught.value.exit_code == NO_SERVER


# -- the command -------------------------------------------------------------------------------------


def environment(**more: str) -> dict[str, str]:
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("STELLWERK_")}
    return inherited | more


def command(*arguments: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stellwerk_bots", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE * 3,
        env=environment(**variables),
        check=False,
    )


def test_the_command_plays_a_practice_match_and_prints_its_result() -> None:
    def script(peer: Peer) -> None:
        login = peer.log_in()
        assert (login["name"], login["token"]) == ("me", "secret")
        peer.receive("ping")
        peer.send({"type": "pong"})
        assert peer.receive("join") == {
            "type": "join",
            "game": "team_asia",
            "players": 4,
            "options": ["one", "two"],
            "against": ["random", "greedy", "greedy"],
            "seat": 2,
            "seed": "42",
        }
        peer.send(USA)
        peer.receive("ready")
        peer.send(ask(1))
        assert 0 <= peer.ok(1)["index"] <= 2
        peer.send(end())

    arguments = "random --game team_asia --option one --option two --against random,greedy,greedy --seat 2"
    with serve(script) as address:
        done = command(
            *arguments.split(),
            "--seed=42",
            STELLWERK_ADDRESS=address,
            STELLWERK_NAME="me",
            STELLWERK_TOKEN="secret",
        )

    assert (done.returncode, done.stdout, done.stderr) == (0, "usa: 1. other 12, 2. bot -7\n", "")


def test_over_stdio_the_messages_alone_are_on_standard_output() -> None:
    lines = [HELLO, welcome(), {"type": "pong"}, USA, ask(1), end(), bye("done")]

    done = command(
        "random", stdin="".join(json.dumps(line) + "\n" for line in lines), STELLWERK_ADDRESS="stdio:"
    )

    types = [json.loads(line)["type"] for line in done.stdout.splitlines()]
    assert (done.returncode, types) == (0, ["login", "ready", "act"])
    assert done.stderr == "usa: 1. other 12, 2. bot -7\n"


def test_over_stdio_what_a_player_prints_goes_to_standard_error() -> None:
    program = """
import os
from stellwerk_bots.client import Client

class Talker:
    def __init__(self, start, seed_text): print("a new match")
    def answer(self, ask): os.write(1, b"thinking\\n"); return {"index": 0}

Client("stdio:", "talker", Talker).run()
"""
    lines = [HELLO, welcome(), USA, ask(1), end(), bye("done")]
    done = subprocess.run(
        [sys.executable, "-c", program],
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=PATIENCE * 3,
        check=True,
    )

    assert [json.loads(line)["type"] for line in done.stdout.splitlines()] == ["login", "ready", "act"]
    assert sorted(done.stderr.splitlines()) == ["a new match", "thinking", "usa: 1. other 12, 2. bot -7"]


def test_the_bot_of_the_readme_claims_the_longest_route_that_it_can_pay_for() -> None:
    text = (Path(__file__).resolve().parents[2] / "bots" / "python" / "README.md").read_text("utf-8")
    program = text.split("```python\n")[1].split("```")[0]
    routes = [{"id": "near", "length": 2}, {"id": "far", "length": 5}]
    claims: list[Message] = [{"type": "claim_route", "route": name} for name in ("near", "far")]

    def script(peer: Peer) -> None:
        peer.log_in()
        peer.receive("join")
        peer.send(USA | {"board": {"routes": routes}})
        peer.receive("ready")
        asked: list[tuple[list[Message], int]] = [
            ([{"type": "draw_card"}, *claims], 2),
            ([{"type": "draw_tickets"}, {"type": "draw_card"}], 1),
            ([{"type": "keep_tickets"}], 0),
        ]
        for number, (legal, best) in enumerate(asked, 1):
            peer.send(ask(number) | {"legal": legal})
            assert peer.ok(number)["index"] == best
        peer.send(end())

    with serve(script) as address:
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            timeout=PATIENCE * 3,
            env=environment(STELLWERK_ADDRESS=address),
            check=False,
        )

    assert (done.returncode, done.stdout, done.stderr) == (0, "usa: 1. other 12, 2. bot -7\n", "")


def test_over_stdio_the_end_of_input_is_a_goodbye() -> None:
    lines = "".join(json.dumps(line) + "\n" for line in [HELLO, welcome(), USA, end()])

    after_the_match = command("random", stdin=lines, STELLWERK_ADDRESS="stdio:")
    before_its_end = command("random", stdin=lines[: lines.rindex("{")], STELLWERK_ADDRESS="stdio:")

    assert (after_the_match.returncode, before_its_end.returncode) == (0, NO_SERVER)


def test_the_command_tells_a_refused_connection_in_one_line() -> None:
    done = command("greedy", "--address", f"tcp://127.0.0.1:{free_port()}", "--game", "usa")

    assert (done.returncode, done.stdout) == (NO_SERVER, "")
    assert done.stderr.startswith("greedy: cannot connect to ")
    assert done.stderr.count("\n") == 1


def test_the_command_refuses_what_it_does_not_know() -> None:
    unknown = command("greedyy")
    assert unknown.returncode == USAGE
    expected = (
        'there is no bot "greedyy"; did you mean "greedy"? (random, beginner, greedy, planner, searcher)'
    )
    assert expected in unknown.stderr
    assert command("random", "--matches", "0").returncode == USAGE
