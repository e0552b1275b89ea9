"""Attacks by number: more connections, sessions and rooms than a client needs, all of them bounded.

A server may refuse any of these. It must say so, with a time to come back, and other clients must not notice.
"""

from __future__ import annotations

import contextlib
import socket
from typing import Final

from stellwerk_kit.attack.attack import Attack, Case
from stellwerk_kit.attack.caller import Caller
from stellwerk_kit.attack.line_cases import get_in
from stellwerk_kit.failed import DoesNotApplyError, FailedError

CROWD: Final = 300  # connections or sessions at once: more than a server should keep without a login
ROOMS_EACH: Final = 30  # rooms that a session can open below the limit of messages
GOES: Final = ("server.full", "auth.login_timeout")  # the codes for connections that wait too long
HALF_A_HANDSHAKE: Final = b"\x16\x03\x01"  # how TLS begins


def waiting_room(attack: Attack) -> None:
    """Open many connections without a login. The server may close some of them, but must accept a newcomer
    and a bot that resumes in the middle of a match."""
    with attack.player() as player, contextlib.ExitStack() as crowd:
        is_in_match = _is_asked(attack, player)
        idle: list[Caller] = []
        for _ in range(CROWD):
            caller = attack.call()
            crowd.callback(caller.close)
            if caller.hello is None:
                raise FailedError("`hello`, however many connections wait", f"{caller.greeting}")
            idle.append(caller)
        with attack.caller() as newcomer:
            attack.log_in(newcomer)
        if is_in_match:
            _lose_and_resume(attack, player)
        for caller in idle:
            message = caller.next_within(0)
            if message is not None and (message["type"] != "bye" or message["code"] not in GOES):
                raise FailedError(f"nothing, or `bye` with {' or '.join(GOES)}", f"{message}")
    get_in(attack)


def many_sessions(attack: Attack) -> None:
    """Open as many sessions as the server accepts. A bot that plays can resume all the same."""
    attack.require_open()
    with attack.player() as player, contextlib.ExitStack() as crowd:
        is_in_match = _is_asked(attack, player)
        for _ in range(CROWD):
            caller = attack.call()
            crowd.callback(caller.close)
            caller.say("login", protocol=1, name=attack.name())
            answer = caller.next("`welcome`, or `bye` with server.full")
            if answer["type"] != "welcome":
                if (answer["type"], answer["code"]) != ("bye", "server.full"):
                    raise FailedError("`welcome`, or `bye` with server.full", f"{answer}")
                break
        if is_in_match:
            _lose_and_resume(attack, player)
    get_in(attack)


def many_rooms(attack: Attack) -> None:
    """Open rooms that stay empty. Other clients can still play."""
    attack.require("rooms")
    attack.require("practice")
    attack.require_open()
    game = attack.game
    with contextlib.ExitStack() as crowd:
        for _ in range(CROWD // ROOMS_EACH):
            caller = crowd.enter_context(attack.player(max_matches=64))
            for _ in range(min(ROOMS_EACH, attack.limits.burst // 2)):
                caller.say("join", game=game["game"], players=game["players"][0], room=attack.name())
                answer = caller.next("`joined`, or `error` with server.full")
                if answer["type"] != "joined" and answer.get("code") != "server.full":
                    raise FailedError("`joined`, or `error` with server.full", f"{answer}")
        with attack.player() as player:
            attack.asked(player)


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
        with attack.player() as newcomer:
            newcomer.says_nothing_more("nothing but the answer to a ping")


def _is_asked(attack: Attack, player: Caller) -> bool:
    """Test whether the player is in a match now, which requires a server with practice and resume."""
    if not {"practice", "resume"} <= set(attack.survey.features):
        return False
    attack.asked(player)
    return True


def _lose_and_resume(attack: Attack, player: Caller) -> None:
    player.reset()
    with attack.caller(player.memory) as back:
        back.log_in(player.welcome["name"], resume=player.resume())
        back.hear("ask")


CROWD_CASES: Final = (
    Case(
        "waiting-room", "idle connections keep out neither a newcomer nor a client that resumes", waiting_room
    ),
    Case(
        "many-sessions", "a session in a match keeps its place, however many others there are", many_sessions
    ),
    Case("many-rooms", "waiting rooms use up no matches", many_rooms),
    Case("half-handshakes", "unfinished handshakes keep nobody out", half_handshakes),
)
