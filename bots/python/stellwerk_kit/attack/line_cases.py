"""Attacks on the reader of lines and on the login, before any match."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import UNSET

from stellwerk_kit.attack.attack import OPEN, Attack, case
from stellwerk_kit.attack.caller import Caller, Message
from stellwerk_kit.failed import DoesNotApplyError, FailedError, expect
from stellwerk_kit.vectors import ClientLine, wire_vectors

STORM: Final = 100  # connections at once
MOST_TO_FLOOD: Final = 5_000  # lines at once; a higher limit is not tested
ENDLESS: Final = 70_000  # bytes without a newline
DRIBBLE: Final = 0.05  # seconds between two bytes
ONCE_MORE: Final = 0.05  # seconds until the next attempt at a full server

# -- the first lines ---------------------------------------------------------------------------------


@case("the server sends the first line, with its features (L1)")
def hello(attack: Attack) -> None:
    caller = attack.caller()
    assert caller.hello is not None
    protocols = caller.hello.protocols
    expect(1 in protocols, "protocol 1 among `protocols`", protocols)
    for name, value in caller.greeting["limits"].items():
        expect(value > 0, "limits above 0", f"{name}: {value}")
    attack.log_in(caller)
    caller.says_nothing_more("nothing unasked")


BEFORE_LOGIN: Final[tuple[tuple[str, Message], ...]] = (
    ("ping", {"echo": 1}),
    ("leave", {"match": "m1"}),
    ("watch", {"match": "m1"}),
    ("ready", {"match": "m1"}),
    ("act", {"match": "m1", "ask": 1, "index": 0}),
)


@case("a client can do nothing before its login")
def before_login(attack: Attack) -> None:
    caller = attack.caller()
    listing = [("matches", Message())] if "matches" in attack.survey.features else []
    for type, fields in (*BEFORE_LOGIN, ("join", attack.join()), *listing):
        caller.refused("protocol.out_of_phase", type, **fields)
    attack.log_in(caller)


@case("a version that is not in `hello` is refused")
def unknown_version(attack: Attack) -> None:
    caller = attack.caller()
    _ask_for_unknown_version(attack, caller)
    attack.log_in(caller)


@case("the third refused login ends the connection")
def three_refused_logins(attack: Attack) -> None:
    caller = attack.caller()
    for _ in range(3):
        _ask_for_unknown_version(attack, caller)
    caller.is_sent_away("protocol.version")


def _ask_for_unknown_version(attack: Attack, caller: Caller) -> None:
    assert caller.hello is not None
    unknown = max(caller.hello.protocols) + 1
    caller.refused("protocol.version", "login", protocol=unknown, name=attack.name())


@case("a session is logged in once")
def second_login(attack: Attack) -> None:
    caller = attack.player()
    caller.refused("protocol.out_of_phase", "login", protocol=1, name=attack.name())
    caller.says_nothing_more("nothing but the error: the session goes on")


@case("two sessions have names that differ in more than case", OPEN)
def taken_name(attack: Attack) -> None:
    taken, second = attack.player().welcome["name"], attack.caller()
    for name in (taken, taken.swapcase()):
        second.refused("auth.name_taken", "login", protocol=1, name=name)
    attack.log_in(second)


@case("an unknown token is refused")
def unknown_token(attack: Attack) -> None:
    caller = attack.caller()
    caller.say("login", protocol=1, name=attack.name(), token=secrets.token_urlsafe(24))
    code = caller.hear("error")["code"]
    is_right = code in ("auth.bad_token", "auth.token_needs_tls")
    expect(is_right, "auth.bad_token, or without TLS auth.token_needs_tls", code)


@case("nobody resumes without session and key")
def unknown_session(attack: Attack) -> None:
    resume: Message = {"session": "s1", "key": secrets.token_urlsafe(24), "last_events": {}}
    caller = attack.caller()
    caller.refused("auth.bad_resume_key", "login", protocol=1, name=attack.name(), resume=resume)
    attack.log_in(caller)


@case("a client that does not log in gets `bye`, however slowly it sends")
def no_login_in_time(attack: Attack) -> None:
    """Send nothing, or send a login letter by letter."""
    limit = attack.limits.login_ms
    attack.require_patience(limit, "the time for a login")
    silent, slow = attack.caller(), attack.caller()
    deadline = time.monotonic() + limit / 1000 + attack.seconds
    bye = None
    while bye is None:
        is_early = time.monotonic() <= deadline
        expect(is_early, "`bye` with auth.login_timeout", f"nothing for {limit} ms and more")
        slow.send_at_once(b" ")
        bye = slow.next_within(DRIBBLE)
    is_right = (bye["type"], bye.get("code")) == ("bye", "auth.login_timeout")
    expect(is_right, "`bye` with auth.login_timeout", bye)
    silent.is_sent_away("auth.login_timeout")


@case("a client that is turned away gets a message, and the server goes on")
def storm(attack: Attack) -> None:
    """Open many connections. The server may turn most of them away, each with a message."""
    with attack.scene():
        callers = [attack.call() for _ in range(STORM)]
        for caller in callers:
            is_right = caller.hello is not None or caller.greeting.get("code") == "server.full"
            expect(is_right, "`hello`, or `bye` with server.full", caller.greeting)
        for caller in callers[1::2]:
            caller.reset()
    get_in(attack)


def get_in(attack: Attack) -> None:
    """Log in as soon as the server has noticed that the others are gone."""
    deadline = time.monotonic() + attack.seconds
    while (caller := attack.call()).hello is None:
        is_early = time.monotonic() <= deadline
        expect(is_early, "a login, because all others have gone", caller.greeting)
        time.sleep(ONCE_MORE)
    attack.log_in(caller)


@case("a connection may end at any byte")
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


@case("each line that is not a message gets its code, and changes nothing (L10)")
def wrong_lines(attack: Attack) -> None:
    _send_wrong_lines(attack, attack.limits.line_before_login, attack.caller)


@case("the same with the longer lines of a session")
def wrong_lines_after_login(attack: Attack) -> None:
    _send_wrong_lines(attack, attack.limits.line, attack.player)


def _send_wrong_lines(attack: Attack, limit: int, open_caller: Callable[[], Caller]) -> None:
    vectors = [each for each in _lines(limit) if each.error is not UNSET]
    for caller, vector in _in_bursts(attack, vectors, open_caller):
        assert vector.error is not UNSET
        pointer = None if vector.error.pointer is UNSET else vector.error.pointer
        _send_refused(caller, vector, vector.error.code, pointer)


@case("the server reads every message, however it is written")
def right_lines(attack: Attack) -> None:
    """Send every kind of message before the login. The server reads each, and refuses it only because of the
    phase."""
    vectors = [
        each
        for each in _lines(attack.limits.line_before_login)
        if each.message is not UNSET and each.message["type"] != "login"
    ]
    for caller, vector in _in_bursts(attack, vectors, attack.caller):
        _send_refused(caller, vector, "protocol.out_of_phase", None)


@case("every ping gets its pong")
def right_pings(attack: Attack) -> None:
    caller = attack.player()
    for vector in _lines(attack.limits.line):
        if vector.message is not UNSET and vector.message["type"] == "ping":
            caller.send(vector.base64 + b"\n")
            pong = {**vector.message, "type": "pong"}
            came = caller.next(f"{pong} (vector {vector.id})")
            expect(came == pong, f"{pong} (vector {vector.id})", came)


def _lines(limit: int) -> Iterator[ClientLine]:
    return (each for each in wire_vectors().client_lines if len(each.base64) <= limit)


def _in_bursts(
    attack: Attack, vectors: Sequence[ClientLine], open_caller: Callable[[], Caller]
) -> Iterator[tuple[Caller, ClientLine]]:
    """Yield the lines, each with a caller that may send it at once."""
    count = max(1, min(attack.limits.burst // 2, 50))
    for begin in range(0, len(vectors), count):
        with attack.scene():
            caller = open_caller()
            for vector in vectors[begin : begin + count]:
                yield caller, vector


def _send_refused(caller: Caller, vector: ClientLine, code: str, pointer: str | None) -> None:
    caller.send(vector.base64 + b"\n")
    where = f" at {pointer}" if pointer else ""
    expected = f"{code}{where} for {vector.about} (vector {vector.id})"
    came = caller.next(expected)
    is_there = pointer is None or came.get("pointer", "") == pointer
    expect(came["type"] == "error" and came["code"] == code and is_there, expected, came)


@case("a line may be as long as `hello` allows")
def as_long_as_may_be(attack: Attack) -> None:
    caller = attack.caller()
    caller.send(_padded(attack.limits.line_before_login))
    caller.is_refused("protocol.out_of_phase")
    attack.log_in(caller)
    caller.send(_padded(attack.limits.line))
    caller.hear("pong")


@case("a longer line ends the connection")
def too_long(attack: Attack) -> None:
    for open_caller, limit in (
        (attack.caller, attack.limits.line_before_login),
        (attack.player, attack.limits.line),
    ):
        caller = open_caller()
        caller.send(_padded(limit + 1))
        caller.is_refused("wire.too_long")
        caller.is_sent_away("wire.too_long")


def _padded(size: int) -> bytes:
    """Return a `ping` of this many bytes, and its newline."""
    return b'{"type":"ping"' + b" " * (size - 15) + b"}\n"


@case("the server does not wait for the end of a long line")
def without_an_end(attack: Attack) -> None:
    caller = attack.player()
    caller.send_at_once(b"x" * (attack.limits.line + ENDLESS))
    caller.is_refused("wire.too_long")
    caller.hear("bye", code="wire.too_long")  # unread bytes may turn the end into a reset


@case("a line ends with its newline, however it arrives")
def in_pieces(attack: Attack) -> None:
    caller = attack.player()
    for byte in b'{"type":"ping","echo":12}\r\n':
        caller.send_at_once(bytes([byte]))
    caller.hear("pong", echo=12)


@case("a segment can hold several lines, each answered in its turn (L2)")
def many_at_once(attack: Attack) -> None:
    count = max(2, min(attack.limits.burst // 2, 20))
    caller = attack.player()
    pings = b"".join(b'{"type":"ping","echo":%d}\n' % number for number in range(count))
    caller.send(pings + b'{"type":"ping",')
    for number in range(count):
        caller.hear("pong", echo=number)
    caller.send(b'"echo":99}\n')
    caller.hear("pong", echo=99)


@case("beyond the limit the server reads more slowly, and loses nothing")
def flood(attack: Attack) -> None:
    """Send too many lines at once. The server answers all of them in order, and reports once that they are
    too many."""
    limits = attack.limits
    count = 2 * limits.burst + limits.messages_a_second // 4
    if count > MOST_TO_FLOOD:
        raise DoesNotApplyError(f"more than {MOST_TO_FLOOD} lines at once are allowed")
    attack.require_patience(1000 * count // limits.messages_a_second, "a flood")
    caller = attack.player()
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
    expect(warnings == 1, "one error with protocol.too_fast", warnings)


LINE_CASES: Final = (
    *(hello, before_login, unknown_version, three_refused_logins, second_login, taken_name, unknown_token),
    *(unknown_session, no_login_in_time, storm, gone_at_once, wrong_lines, wrong_lines_after_login),
    *(right_lines, right_pings, as_long_as_may_be, too_long, without_an_end, in_pieces, many_at_once, flood),
)
