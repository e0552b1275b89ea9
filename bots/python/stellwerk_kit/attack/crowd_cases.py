"""Attacks by number: more connections, sessions and rooms than a client needs, all of them bounded.

A server may refuse any of these. It must say so, with a time to come back, and other clients must not notice.
"""

from __future__ import annotations

import contextlib
import socket
from typing import Final

from stellwerk_kit.attack.attack import OPEN, Attack, case
from stellwerk_kit.attack.caller import Caller
from stellwerk_kit.attack.line_cases import get_in
from stellwerk_kit.failed import DoesNotApplyError, FailedError, expect

CROWD: Final = 300  # connections or sessions at once: more than a server should keep without a login
ROOMS_EACH: Final = 30  # rooms that a session can open below the limit of messages
GOES: Final = ("server.full", "auth.login_timeout")  # the codes for connections that wait too long
HALF_A_HANDSHAKE: Final = b"\x16\x03\x01"  # how TLS begins


@case("idle connections keep out neither a newcomer nor a client that resumes")
def waiting_room(attack: Attack) -> None:
    """Open many connections without a login. The server may close some of them, but must accept a newcomer
    and a bot that resumes in the middle of a match."""
    with attack.scene():
        player = _player_in_match(attack)
        idle: list[Caller] = []
        for _ in range(CROWD):
            caller = attack.call()
            is_greeted = caller.hello is not None
            expect(is_greeted, "`hello`, however many connections wait", caller.greeting)
            idle.append(caller)
        with attack.scene():
            attack.player()
        _lose_and_resume(attack, player)
        for caller in idle:
            message = caller.next_within(0)
            is_right = message is None or (message["type"] == "bye" and message["code"] in GOES)
            expect(is_right, f"nothing, or `bye` with {' or '.join(GOES)}", message)
    get_in(attack)


@case("a session in a match keeps its place, however many others there are", OPEN)
def many_sessions(attack: Attack) -> None:
    """Open as many sessions as the server accepts. A bot that plays can resume all the same."""
    with attack.scene():
        player = _player_in_match(attack)
        for _ in range(CROWD):
            caller = attack.call()
            caller.say("login", protocol=1, name=attack.name())
            answer = caller.next("`welcome`, or `bye` with server.full")
            if answer["type"] != "welcome":
                is_full = (answer["type"], answer["code"]) == ("bye", "server.full")
                expect(is_full, "`welcome`, or `bye` with server.full", answer)
                break
        _lose_and_resume(attack, player)
    get_in(attack)


@case("waiting rooms use up no matches", "rooms", "practice", OPEN)
def many_rooms(attack: Attack) -> None:
    """Open rooms that stay empty. Other clients can still play."""
    for _ in range(CROWD // ROOMS_EACH):
        caller = attack.player(max_matches=64)
        for _ in range(min(ROOMS_EACH, attack.limits.burst // 2)):
            caller.say("join", **attack.join(room=attack.name()))
            answer = caller.next("`joined`, or `error` with server.full")
            is_right = answer["type"] == "joined" or answer.get("code") == "server.full"
            expect(is_right, "`joined`, or `error` with server.full", answer)
    attack.asked()


@case("unfinished handshakes keep nobody out")
def half_handshakes(attack: Attack) -> None:
    """Begin many TLS handshakes and finish none. Other clients can still connect."""
    if attack.tls is None:
        raise DoesNotApplyError("it needs TLS: tls://HOST:PORT")
    with contextlib.ExitStack() as crowd:
        for _ in range(CROWD):
            try:
                half = socket.create_connection(attack.address, attack.seconds)
            except OSError as error:
                raise FailedError("a connection", error.strerror or str(error)) from None
            crowd.enter_context(half)
            with contextlib.suppress(OSError):  # turned away already
                half.sendall(HALF_A_HANDSHAKE)
        attack.player().says_nothing_more("nothing but the answer to a ping")


def _player_in_match(attack: Attack) -> Caller | None:
    """Return a player in a match, if the server has practice and resume."""
    if {"practice", "resume"} <= set(attack.survey.features):
        return attack.asked()[0]
    attack.player()
    return None


def _lose_and_resume(attack: Attack, player: Caller | None) -> None:
    if player is not None:
        player.reset()
        attack.come_back(player).hear("ask")


CROWD_CASES: Final = (waiting_room, many_sessions, many_rooms, half_handshakes)
