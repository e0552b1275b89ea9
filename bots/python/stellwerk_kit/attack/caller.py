"""A client of a server under attack: it sends anything, and checks what it receives against the laws.

The law: for anything that the server sends or does not send, every call returns or raises `FailedError` by
its deadline. A line that breaks a law of `protocol/README.md` is reported at that line, in every case.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import struct
import time
from dataclasses import dataclass, field
from typing import Any, Final, cast, get_args

import msgspec

from stellwerk_kit.failed import DoesNotApplyError, FailedError, expect
from stellwerk_kit.lines import NOT_NOW, Lines, NoLineError, shown_line
from stellwerk_protocol.messages import FromServer, Hello

Message = dict[str, Any]  # Any: a message of any kind

LONGEST_LINE: Final = 59_999  # bytes of a server's line, without its newline (L20)
QUIET: Final = 1.0  # seconds within which a message arrives, if any is still to come
SLOWER: Final = 0.8  # of the allowed messages a second: two clocks never agree
_decode: Final = msgspec.json.Decoder(FromServer).decode
KINDS: Final = {str(kind.__struct_config__.tag) for kind in get_args(FromServer)}
COME_BACK: Final = ("server.full", "server.shutting_down")
IN_A_MATCH: Final = ("start", "event", "ask", "ok", "default", "seat", "end")


@dataclass
class SeenMatch:
    """A match as this client has seen it."""

    start: Message
    events: int = 0  # the number of the last one
    last_ask: int = 0
    ask: Message | None = None  # the open one
    is_acted: bool = False  # it was answered in some way
    end: Message | None = None


@dataclass
class Memory:
    """The knowledge of a session beyond one connection: a client that comes back continues with it."""

    matches: dict[str, SeenMatch] = field(default_factory=dict[str, SeenMatch])
    left: set[str] = field(default_factory=set[str])


class Caller:
    """One connection, from its `hello` on. With `tls` it is encrypted."""

    def __init__(
        self,
        address: tuple[str, int],
        seconds: float,
        memory: Memory | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.seconds = seconds
        self.memory = memory or Memory()
        self.welcome: Message = {}
        self.wants: Message = {}
        self._is_greeted = self._is_sent_away = False
        self._resumed: set[str] = set()
        self.socket = _connect(address, seconds, tls)
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        descriptor = self.socket.fileno()
        secured = self.socket if isinstance(self.socket, ssl.SSLSocket) else None
        self._lines = Lines(descriptor, descriptor, LONGEST_LINE, secured)
        try:
            self.greeting = self.next("hello")
        except FailedError:
            self.socket.close()
            raise
        self.hello = msgspec.convert(self.greeting, Hello) if self.greeting["type"] == "hello" else None
        self._bucket, self._filled_at = self._burst, time.monotonic()

    # -- what it says ----------------------------------------------------------------------------

    def say(self, type: str, **fields: Any) -> None:  # Any: fields of many types
        self.send(json.dumps({"type": type, **fields}, separators=(",", ":")).encode() + b"\n")

    def send(self, data: bytes) -> None:
        """Send a line, as fast as the server allows: a line that does not answer an ask waits for its
        turn."""
        self._spend(data.count(b"\n"))
        self.send_at_once(data)

    def send_at_once(self, data: bytes) -> None:
        try:
            self._lines.send(data, time.monotonic() + self.seconds)
        except NoLineError as error:
            raise FailedError("a server that reads", error.came) from None

    def act(self, match: str, **answer: Any) -> None:  # Any: an index, a move, a note
        """Answer the open ask."""
        seen = self.memory.matches[match]
        assert seen.ask is not None
        line = {"type": "act", "match": match, "ask": seen.ask["ask"], **(answer or {"index": 0})}
        data = json.dumps(line).encode() + b"\n"
        (self.send if seen.is_acted else self.send_at_once)(data)  # the first answer is never limited
        seen.is_acted = True

    def log_in(self, name: str, **fields: Any) -> Message:  # Any: fields of many types
        """Log in, and return the `welcome`."""
        self.say("login", protocol=1, name=name, **fields)
        self.wants = fields.get("wants", {})
        if "resume" in fields:
            self._resumed = {
                id for id in self.memory.matches if not fields["resume"]["last_events"].get(id, 0)
            }
        self.welcome = self.hear("welcome")
        return self.welcome

    def _spend(self, lines: int) -> None:
        if self.hello is None:
            return
        rate = max(1.0, self.hello.limits.messages_a_second * SLOWER)
        now = time.monotonic()
        self._bucket = min(self._burst, self._bucket + (now - self._filled_at) * rate) - lines
        self._filled_at = now
        if self._bucket < 0:
            time.sleep(-self._bucket / rate)

    @property
    def _burst(self) -> float:
        return self.hello.limits.burst * SLOWER if self.hello is not None else 0.0

    # -- what it hears ---------------------------------------------------------------------------

    def hear(self, type: str, expected: str | None = None, **fields: Any) -> Message:  # Any: of many types
        """Return the next message of this kind. Messages that may come meanwhile are skipped; an unexpected
        refusal, default or end of the connection is a failure."""
        expected = expected or _shown_message({"type": type, **fields})
        while True:
            message = self.next(expected)
            if message["type"] == type and all(message.get(name) == fields[name] for name in fields):
                return message
            if _is_out_of_place(message, type, fields):
                raise FailedError(expected, _shown_message(message))

    def is_refused(self, refusal: str, **fields: Any) -> Message:  # Any: as above
        """Return the error that must come: a code, and a pointer after it if it must have one."""
        return self.hear("error", **dict(zip(("code", "pointer"), refusal.split(), strict=False)), **fields)

    def refused(self, refusal: str, type: str, **fields: Any) -> Message:  # Any: as above
        """Send a message, and return the error that must come, as in `is_refused`."""
        self.say(type, **fields)
        return self.is_refused(refusal)

    def is_sent_away(self, code: str) -> None:
        """Check for a `bye` with this code, and then the end."""
        expected = f"`bye` with {code}"
        bye = self.hear("bye", expected)
        _expect(bye["code"] == code, expected, bye)
        self.ends()

    def ends(self) -> None:
        """Check that the connection ends."""
        try:
            line = self._lines.receive(time.monotonic() + self.seconds)
        except NoLineError as error:
            expect(error.ended, "the end of the connection", error.came)
        else:
            raise FailedError("the end of the connection", shown_line(line))

    def is_closed_behind_what_is_there(self) -> bool:
        """Read everything. Test whether the end follows, even in the middle of a line."""
        while True:
            try:
                line = self._lines.receive(time.monotonic() + QUIET)
            except NoLineError as error:
                return error.ended
            self._check(_read_message(line))

    def says_nothing_more(self, expected: str) -> None:
        """Check that nothing is on its way: the answer to a `ping` comes next."""
        echo = time.monotonic_ns() % 1_000_000
        self.say("ping", echo=echo)
        message = self.next(expected)
        _expect(message == {"type": "pong", "echo": echo}, expected, message)

    def next(self, expected: str) -> Message:
        """Return the next message of any kind that this client knows."""
        while True:
            try:
                line = self._lines.receive(time.monotonic() + self.seconds)
            except NoLineError as error:
                came = f"within {self.seconds:g} s nothing" if error.silence else error.came
                raise FailedError(expected, came) from None
            message = _read_message(line)
            if message["type"] in KINDS:
                self._check(message)
                return message

    def next_within(self, seconds: float) -> Message | None:
        """Return the next message, or None if it has not arrived. Over TLS a long line comes in several
        records."""
        try:
            line = self._lines.receive(time.monotonic() + seconds)
        except NoLineError as error:
            if error.silence or error.unfinished:
                return None
            raise FailedError("a line", error.came) from None
        message = _read_message(line)
        self._check(message)
        return message

    # -- in a match ------------------------------------------------------------------------------

    def hear_ask(self, match: str) -> Message:
        seen = self.memory.matches[match]
        return seen.ask if seen.ask is not None and not seen.is_acted else self.hear("ask", match=match)

    def play_on(self, match: str, moves: int | None = None) -> Message:
        """Answer with the first move, this many times or to the end. Return the next ask, or `end`."""
        seen = self.memory.matches[match]
        while moves is None or moves > 0:
            if seen.ask is None or seen.is_acted:
                message = self._hear_ask_or_end(match)
                if message["type"] == "end":
                    return message
            self.act(match)
            self.hear("ok", match=match, ask=seen.last_ask)
            moves = None if moves is None else moves - 1
        return self._hear_ask_or_end(match)

    def _hear_ask_or_end(self, match: str) -> Message:
        seen = self.memory.matches[match]
        while (seen.ask is None or seen.is_acted) and seen.end is None:
            message = self.next("an ask, or the end of the match")
            is_in_place = message["type"] not in ("error", "default", "bye")
            _expect(is_in_place, "an ask, or the end of the match", message)
        if seen.end is not None:
            return seen.end
        assert seen.ask is not None
        return seen.ask

    def resume(self, **more: Any) -> Message:  # Any: fields of many types
        """Return the fields of a login that continues this session."""
        if not self.welcome:
            raise DoesNotApplyError("there is no session to resume")
        last_events = {id: seen.events for id, seen in self.memory.matches.items() if seen.end is None}
        return {
            "session": self.welcome["session"],
            "key": self.welcome["resume_key"],
            "last_events": last_events,
            **more,
        }

    # -- the end ---------------------------------------------------------------------------------

    def close(self) -> None:
        self.socket.close()

    def reset(self) -> None:
        """Reset the connection without a goodbye."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def close_own_half(self) -> None:
        if isinstance(self.socket, ssl.SSLSocket):
            with contextlib.suppress(*NOT_NOW):  # the server has sent `bye`; its end comes later
                self.socket.unwrap()
        else:
            self.socket.shutdown(socket.SHUT_WR)

    def take_leave(self) -> None:
        """Leave all matches, so that nothing remains on the server; ignore the answers."""
        if self.socket.fileno() >= 0:  # else its number may now belong to another connection
            with contextlib.suppress(FailedError, OSError):
                self._leave_matches()
            self.close()

    def forget_the_past(self) -> None:
        """Leave the matches and rooms that a token has brought back with its session."""
        self.say("ping")
        while self.next("pong")["type"] != "pong":
            pass
        self._leave_matches()

    def _leave_matches(self) -> None:
        for id, seen in list(self.memory.matches.items()):
            if seen.end is None and id not in self.memory.left:
                self.say("leave", match=id)
                while self.next("left")["type"] not in ("left", "error", "bye"):
                    pass

    # -- laws ------------------------------------------------------------------------------------

    def _check(self, message: Message) -> None:
        """Raise FailedError for a message that must not come here."""
        kind, code = message["type"], message.get("code")
        is_first = kind in ("hello", "bye")
        _expect(not self._is_sent_away, "nothing after `bye` (L1)", message)
        _expect(self._is_greeted or is_first, "`hello` before anything else (L1)", message)
        _expect(not (self._is_greeted and kind == "hello"), "`hello` once only (L1)", message)
        _expect(code not in COME_BACK or "retry_ms" in message, f"`retry_ms` with {code}", message)
        self._is_greeted = True
        self._is_sent_away = kind == "bye"
        if kind == "left" and "match" in message:
            self.memory.left.add(message["match"])
        if kind in IN_A_MATCH:
            is_left = message["match"] in self.memory.left
            _expect(not is_left, "nothing about a match that was left", message)
            self._check_in_match(kind, message)

    def _check_in_match(self, kind: str, message: Message) -> None:
        id = message["match"]
        seen = self.memory.matches.get(id)
        if kind == "start":
            self._check_start(message, seen)
            return
        if seen is None:
            raise FailedError("`start` before everything else about a match (L3)", _shown_message(message))
        _expect(seen.end is None, "nothing about a match after its `end` (L3)", message)
        match kind:
            case "event":
                _expect(message["number"] == seen.events + 1, f"event {seen.events + 1} (L4)", message)
                seen.events += 1
            case "ask":
                self._check_ask(seen, message)
            case "ok" | "default":
                is_open = seen.ask is not None and seen.ask["ask"] == message["ask"]
                by_default = kind == "default" and message["reason"] == "by_default"
                _expect(is_open or by_default, "an end of the open ask (L8)", message)
                if kind == "default" and seen.ask is not None:
                    _expect(message["move"] == seen.ask["fallback"], "the fallback of the ask", message)
                seen.ask = None
                seen.last_ask = message["ask"]
            case "end":
                _expect(seen.ask is None, "an end of the open ask before that of the match (L8)", message)
                seen.end = message
            case _:
                pass

    def _check_start(self, start: Message, seen: SeenMatch | None) -> None:
        id = start["match"]
        if seen is not None:
            _expect(id in self._resumed, "`start` once only", start)
            _expect(_without_seat(start) == _without_seat(seen.start), "the same `start` again", start)
            seen.events, seen.end = 0, None
            return
        self.memory.matches[id] = SeenMatch(start)

    def _check_ask(self, seen: SeenMatch, ask: Message) -> None:
        is_again = seen.ask is not None and seen.ask["ask"] == ask["ask"]
        if not is_again:
            _expect(seen.ask is None, "no second open ask (L6)", ask)
            _expect(ask["ask"] == seen.last_ask + 1, f"ask {seen.last_ask + 1} (L6)", ask)
        if self.wants.get("events", True):
            _expect(ask["after_event"] == seen.events, f"an ask after event {seen.events} (L5)", ask)
        for name in ("legal", "view"):
            is_wanted = self.wants.get(name, True)
            _expect((name in ask) == is_wanted, f"`{name}` " + ("" if is_wanted else "not ") + "in it", ask)
        _expect(ask.get("legal", [0]) != [], "a legal move at least (L12)", ask)
        if ask.get("legal_complete"):
            _expect(ask["fallback"] in ask["legal"], "a fallback that is legal (L13)", ask)
        seen.ask, seen.is_acted, seen.last_ask = ask, False, ask["ask"]


def _connect(address: tuple[str, int], seconds: float, tls: ssl.SSLContext | None) -> socket.socket:
    try:
        plain = socket.create_connection(address, seconds)
    except OSError as error:
        raise FailedError("a connection", error.strerror or str(error)) from None
    if tls is None:
        return plain
    try:
        return tls.wrap_socket(plain, server_hostname=address[0])
    except OSError as error:
        plain.close()
        raise FailedError("a handshake of TLS", error.strerror or str(error)) from None


def _is_out_of_place(message: Message, type: str, fields: Message) -> bool:
    """Test whether this message must not come while another one is expected. Other matches go on
    meanwhile."""
    if "match" in fields and message.get("match", fields["match"]) != fields["match"]:
        return False
    unasked = ("error", "default", "bye", "welcome", "pong", "left", type)
    return message["type"] in unasked or (message["type"], type) == ("ok", "error")


def _read_message(line: bytes) -> Message:
    """Return the message. Raise FailedError for a line that is not a message of a server."""
    try:
        message: object = json.loads(line.decode(), object_pairs_hook=_check_object)
    except (ValueError, RecursionError):
        raise FailedError("one JSON object, without null and with no name twice", shown_line(line)) from None
    if not isinstance(message, dict) or not isinstance(cast("Message", message).get("type"), str):
        raise FailedError("an object with a type", shown_line(line))
    known = cast("Message", message)
    if known["type"] in KINDS:
        try:
            _decode(line)
        except msgspec.ValidationError as error:
            raise FailedError("a message as its schema has it", f"{shown_line(line)}: {error}") from None
    return known


def _check_object(pairs: list[tuple[str, Any]]) -> Message:  # Any: the type that json passes
    """Return an object without null and without a name that is there twice."""
    if any(value is None for _, value in pairs) or len(dict(pairs)) < len(pairs):
        raise ValueError("null, or a name twice")
    return dict(pairs)


def _without_seat(start: Message) -> Message:
    return {name: value for name, value in start.items() if name != "seat"}


def _expect(holds: bool, expected: str, message: Message) -> None:
    """Raise FailedError, with the message, if it does not hold."""
    if not holds:
        raise FailedError(expected, _shown_message(message))


def _shown_message(message: Message) -> str:
    return shown_line(json.dumps(message, ensure_ascii=False).encode())
