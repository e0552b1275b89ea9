"""Attacks on the reader of lines and on the login, before any match."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import UNSET

from stellwerk_kit.attack.attack import Attack, Case
from stellwerk_kit.attack.caller import Caller, Message
from stellwerk_kit.failed import DoesNotApplyError, FailedError
from stellwerk_kit.vectors import ClientLine, wire_vectors

STORM: Final = 100  # connections at once
MOST_TO_FLOOD: Final = 5_000  # lines at once; a higher limit is not tested
ENDLESS: Final = 70_000  # bytes without a newline
DRIBBLE: Final = 0.05  # seconds between two bytes
ONCE_MORE: Final = 0.05  # seconds until the next attempt at a full server

# -- the first lines ---------------------------------------------------------------------------------


def hello(attack: Attack) -> None:
    with attack.caller() as caller:
        assert caller.hello is not None
        if 1 not in caller.hello.protocols:
            raise FailedError("protocol 1 among `protocols`", f"{caller.hello.protocols}")
        limits = caller.greeting["limits"]
        if wrong := [name for name, value in limits.items() if value <= 0]:
            raise FailedError("limits above 0", f"{wrong[0]}: {limits[wrong[0]]}")
        attack.log_in(caller)
        caller.says_nothing_more("nothing unasked")


def before_login(attack: Attack) -> None:
    game = attack.game
    with attack.caller() as caller:
        caller.say("ping", echo=1)
        caller.is_refused("protocol.out_of_phase")
        caller.say("join", game=game["game"], players=game["players"][0])
        caller.is_refused("protocol.out_of_phase")
        for type, fields in (
            ("leave", {"match": "m1"}),
            ("watch", {"match": "m1"}),
            ("ready", {"match": "m1"}),
            ("act", {"match": "m1", "ask": 1, "index": 0}),
        ):
            caller.say(type, **fields)
            caller.is_refused("protocol.out_of_phase")
        if "matches" in attack.survey.features:
            caller.say("matches")
            caller.is_refused("protocol.out_of_phase")
        attack.log_in(caller)


def unknown_version(attack: Attack) -> None:
    with attack.caller() as caller:
        caller.say("login", protocol=_unknown_version(caller), name=attack.name())
        caller.is_refused("protocol.version")
        attack.log_in(caller)


def _unknown_version(caller: Caller) -> int:
    assert caller.hello is not None
    return max(caller.hello.protocols) + 1


def three_refused_logins(attack: Attack) -> None:
    with attack.caller() as caller:
        for _ in range(3):
            caller.say("login", protocol=_unknown_version(caller), name=attack.name())
            caller.is_refused("protocol.version")
        caller.is_sent_away("protocol.version")


def second_login(attack: Attack) -> None:
    with attack.player() as caller:
        caller.say("login", protocol=1, name=attack.name())
        caller.is_refused("protocol.out_of_phase")
        caller.says_nothing_more("nothing but the error: the session goes on")


def taken_name(attack: Attack) -> None:
    attack.require_open()
    with attack.player() as first, attack.caller() as second:
        for name in (first.welcome["name"], first.welcome["name"].swapcase()):
            second.say("login", protocol=1, name=name)
            second.is_refused("auth.name_taken")
        attack.log_in(second)


def unknown_token(attack: Attack) -> None:
    with attack.caller() as caller:
        caller.say("login", protocol=1, name=attack.name(), token=secrets.token_urlsafe(24))
        error = caller.hear("error")
        if error["code"] not in ("auth.bad_token", "auth.token_needs_tls"):
            raise FailedError("auth.bad_token, or without TLS auth.token_needs_tls", error["code"])


def unknown_session(attack: Attack) -> None:
    resume: Message = {"session": "s1", "key": secrets.token_urlsafe(24), "last_events": {}}
    with attack.caller() as caller:
        caller.say("login", protocol=1, name=attack.name(), resume=resume)
        caller.is_refused("auth.bad_resume_key")
        attack.log_in(caller)


def no_login_in_time(attack: Attack) -> None:
    """Send nothing, or send a login letter by letter."""
    limit = attack.limits.login_ms
    attack.require_patience(limit, "the time for a login")
    with attack.caller() as silent, attack.caller() as slow:
        deadline = time.monotonic() + limit / 1000 + attack.seconds
        bye = None
        while bye is None:
            if time.monotonic() > deadline:
                raise FailedError("`bye` with auth.login_timeout", f"nothing for {limit} ms and more")
            slow.send_at_once(b" ")
            bye = slow.next_within(DRIBBLE)
        if (bye["type"], bye.get("code")) != ("bye", "auth.login_timeout"):
            raise FailedError("`bye` with auth.login_timeout", f"{bye}")
        silent.is_sent_away("auth.login_timeout")


def storm(attack: Attack) -> None:
    """Open many connections. The server may turn most of them away, each with a message."""
    with contextlib.ExitStack() as callers:
        for number in range(STORM):
            caller = attack.call()
            callers.callback(caller.reset if number % 2 else caller.close)
            if caller.hello is None and caller.greeting.get("code") != "server.full":
                raise FailedError("`hello`, or `bye` with server.full", f"{caller.greeting}")
    get_in(attack)


def get_in(attack: Attack) -> None:
    """Log in as soon as the server has noticed that the others are gone."""
    deadline = time.monotonic() + attack.seconds
    while True:
        with contextlib.closing(attack.call()) as caller:
            if caller.hello is not None:
                attack.log_in(caller)
                return
            if time.monotonic() > deadline:
                raise FailedError("a login, because all others have gone", f"{caller.greeting}")
        time.sleep(ONCE_MORE)


def gone_at_once(attack: Attack) -> None:
    """Disappear after nothing, after half a line, or after a login without waiting; with a close and with a
    reset."""
    for data in (b"", b'{"type":"log', b'{"type":"login","protocol":1,"name":"%b"}\n'):
        for leave in (Caller.close, Caller.reset):
            caller = attack.call()
            caller.send_at_once(data.replace(b"%b", attack.name().encode()))
            leave(caller)
    get_in(attack)


# -- lines -------------------------------------------------------------------------------------------


def wrong_lines(attack: Attack) -> None:
    _refused_lines(attack, attack.limits.line_before_login, attack.caller)


def wrong_lines_after_login(attack: Attack) -> None:
    _refused_lines(attack, attack.limits.line, attack.player)


def _refused_lines(
    attack: Attack, limit: int, caller_of: Callable[[], contextlib.AbstractContextManager[Caller]]
) -> None:
    for some in _in_bursts(attack, [each for each in _lines(limit) if each.error is not UNSET]):
        with caller_of() as caller:
            for vector in some:
                assert vector.error is not UNSET
                pointer = None if vector.error.pointer is UNSET else vector.error.pointer
                caller.send(vector.base64 + b"\n")
                _hear_error(caller, vector, vector.error.code, pointer)


def right_lines(attack: Attack) -> None:
    """Send every kind of message before the login. The server reads each, and refuses it only because of the
    phase."""
    vectors = [
        each
        for each in _lines(attack.limits.line_before_login)
        if each.message is not UNSET and each.message["type"] != "login"
    ]
    for some in _in_bursts(attack, vectors):
        with attack.caller() as caller:
            for vector in some:
                caller.send(vector.base64 + b"\n")
                _hear_error(caller, vector, "protocol.out_of_phase", None)


def right_pings(attack: Attack) -> None:
    with attack.player() as caller:
        for vector in _lines(attack.limits.line):
            if vector.message is not UNSET and vector.message["type"] == "ping":
                caller.send(vector.base64 + b"\n")
                pong = {**vector.message, "type": "pong"}
                came = caller.next(f"{pong} (vector {vector.id})")
                if came != pong:
                    raise FailedError(f"{pong} (vector {vector.id})", f"{came}")


def _lines(limit: int) -> Iterator[ClientLine]:
    return (each for each in wire_vectors().client_lines if len(each.base64) <= limit)


def _in_bursts(attack: Attack, vectors: Sequence[ClientLine]) -> Iterator[Sequence[ClientLine]]:
    """Yield the lines in groups of the size that a connection may send at once."""
    count = max(1, min(attack.limits.burst // 2, 50))
    return (vectors[begin : begin + count] for begin in range(0, len(vectors), count))


def _hear_error(caller: Caller, vector: ClientLine, code: str, pointer: str | None) -> None:
    where = f" at {pointer}" if pointer else ""
    expected = f"{code}{where} for {vector.about} (vector {vector.id})"
    came = caller.next(expected)
    is_there = pointer is None or came.get("pointer", "") == pointer
    if came["type"] != "error" or came["code"] != code or not is_there:
        raise FailedError(expected, f"{came}")


def as_long_as_may_be(attack: Attack) -> None:
    with attack.caller() as caller:
        caller.send(_padded(attack.limits.line_before_login))
        caller.is_refused("protocol.out_of_phase")
        attack.log_in(caller)
        caller.send(_padded(attack.limits.line))
        caller.hear("pong")


def too_long(attack: Attack) -> None:
    with attack.caller() as caller:
        caller.send(_padded(attack.limits.line_before_login + 1))
        caller.is_refused("wire.too_long")
        caller.is_sent_away("wire.too_long")
    with attack.player() as caller:
        caller.send(_padded(attack.limits.line + 1))
        caller.is_refused("wire.too_long")
        caller.is_sent_away("wire.too_long")


def _padded(size: int) -> bytes:
    """Return a `ping` of this many bytes, and its newline."""
    return b'{"type":"ping"' + b" " * (size - 15) + b"}\n"


def without_an_end(attack: Attack) -> None:
    with attack.player() as caller:
        caller.send_at_once(b"x" * (attack.limits.line + ENDLESS))
        caller.is_refused("wire.too_long")
        caller.hear("bye", code="wire.too_long")  # unread bytes may turn the end into a reset


def in_pieces(attack: Attack) -> None:
    with attack.player() as caller:
        for byte in b'{"type":"ping","echo":12}\r\n':
            caller.send_at_once(bytes([byte]))
        caller.hear("pong", echo=12)


def many_at_once(attack: Attack) -> None:
    count = max(2, min(attack.limits.burst // 2, 20))
    with attack.player() as caller:
        pings = b"".join(b'{"type":"ping","echo":%d}\n' % number for number in range(count))
        caller.send(pings + b'{"type":"ping",')
        for number in range(count):
            caller.hear("pong", echo=number)
        caller.send(b'"echo":99}\n')
        caller.hear("pong", echo=99)


def flood(attack: Attack) -> None:
    """Send too many lines at once. The server answers all of them in order, and reports once that they are
    too many."""
    limits = attack.limits
    count = 2 * limits.burst + limits.messages_a_second // 4
    if count > MOST_TO_FLOOD:
        raise DoesNotApplyError(f"more than {MOST_TO_FLOOD} lines at once are allowed")
    attack.require_patience(1000 * count // limits.messages_a_second, "a flood")
    with attack.player() as caller:
        pings = (b'{"type":"ping","echo":%d}\n' % number for number in range(count))
        caller.send_at_once(b"".join(pings))
        warnings = answered = 0
        while answered < count:
            message = caller.next(f"pong {answered}")
            if message.get("code") == "protocol.too_fast":
                warnings += 1
            elif message == {"type": "pong", "echo": answered}:
                answered += 1
            else:
                raise FailedError(f"pong {answered}", f"{message}")
        if warnings != 1:
            raise FailedError("one error with protocol.too_fast", f"{warnings}")


LINE_CASES: Final = (
    Case("hello", "the server sends the first line, with its features (L1)", hello),
    Case("before-login", "a client can do nothing before its login", before_login),
    Case("unknown-version", "a version that is not in `hello` is refused", unknown_version),
    Case("three-refused-logins", "the third refused login ends the connection", three_refused_logins),
    Case("second-login", "a session is logged in once", second_login),
    Case("taken-name", "two sessions have names that differ in more than case", taken_name),
    Case("unknown-token", "an unknown token is refused", unknown_token),
    Case("unknown-session", "nobody resumes without session and key", unknown_session),
    Case(
        "no-login-in-time",
        "a client that does not log in gets `bye`, however slowly it sends",
        no_login_in_time,
    ),
    Case("storm", "a client that is turned away gets a message, and the server goes on", storm),
    Case("gone-at-once", "a connection may end at any byte", gone_at_once),
    Case(
        "wrong-lines", "each line that is not a message gets its code, and changes nothing (L10)", wrong_lines
    ),
    Case("wrong-lines-after-login", "the same with the longer lines of a session", wrong_lines_after_login),
    Case("right-lines", "the server reads every message, however it is written", right_lines),
    Case("right-pings", "every ping gets its pong", right_pings),
    Case("as-long-as-may-be", "a line may be as long as `hello` allows", as_long_as_may_be),
    Case("too-long", "a longer line ends the connection", too_long),
    Case("without-an-end", "the server does not wait for the end of a long line", without_an_end),
    Case("in-pieces", "a line ends with its newline, however it arrives", in_pieces),
    Case("many-at-once", "a segment can hold several lines, each answered in its turn (L2)", many_at_once),
    Case("flood", "beyond the limit the server reads more slowly, and loses nothing", flood),
)
