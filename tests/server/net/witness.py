"""Who holds a server to what `protocol/README.md` promises, by nothing but what one client sees.

A witness is shown every line of a client, in both directions and over all its connections, and raises
`LawBrokenError` at the first one that must not be. It decodes strictly, and otherwise shares no code with the
server.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import msgspec

from stellwerk_kit.attack.match_cases import commitment
from stellwerk_protocol.messages import FromServer

LONGEST_LINE = 60_000
ROUNDED = 1.01  # milliseconds: what is told is whole ones, rounded down
UNPROMPTED = ("protocol.too_fast", "server.failed")  # errors that are no answer to a certain line

_decode_strictly = msgspec.json.Decoder(FromServer, strict=True).decode

Message = dict[str, Any]  # Any: that is how JSON is read


class LawBrokenError(AssertionError):
    """The server did what it must not do."""


@dataclass(frozen=True)
class Awaited:
    """A line that was sent, and the error codes that may answer it. `ask` is that of an act, whose answer may
    be `ok` too."""

    kind: str
    errors: Collection[str]
    may_be_silent: bool
    ask: tuple[str, int] | None = None

    def takes(self, kind: str | None, ask: tuple[str, int] | None, code: str | None) -> bool:
        """Return whether this may be its answer: a message of that kind, or an error."""
        fits = self.kind == kind if code is None else code.startswith(tuple(self.errors))
        return fits and (self.ask == ask or code == "protocol.no_such_match")


@dataclass
class SeenMatch:
    """What a client has seen of a match, over all its connections."""

    start: Message
    events: int = 0
    ask: Message | None = None
    last_ask: int = 0
    asked_at: float = 0.0
    is_fresh: bool = False  # the ask came first over the connection that there is now
    was_repeated: bool = False  # the ask has come over this connection
    defaults: int = 0
    bank_ms: int = 0
    is_over: bool = False


@dataclass
class Witness:
    """The witness of one client, which plays under one name after another, and wants events."""

    matches: dict[str, SeenMatch] = field(default_factory=dict[str, SeenMatch])
    results: list[Message] = field(default_factory=list[Message])  # the `end` of each match
    by_time: list[float] = field(default_factory=list[float])  # how late after the ask each default came
    exact: bool = True  # whether times are to be exact: they are virtual, and the client reads at once
    floods: bool = False  # the client may say so much that it is read later
    waits_ms: float = 0.0  # for how long a line may have to wait for the server's disk
    left: set[str] = field(default_factory=set[str])
    _awaited: deque[Awaited] = field(default_factory=deque[Awaited])
    _silent: list[Awaited] = field(default_factory=list[Awaited])  # lines that had no answer, or not yet
    _kinds: list[str] = field(default_factory=list[str])  # of this connection, so far
    _ended_here: set[str] = field(default_factory=set[str])
    _acted_at: dict[tuple[str, int], float] = field(default_factory=dict[tuple[str, int], float])
    _asked_from: dict[str, int] = field(default_factory=dict[str, int])  # last_events of the login

    # -- a connection ----------------------------------------------------------------------------

    def connected(self) -> None:
        self._awaited.clear()
        self._silent.clear()
        self._kinds.clear()
        self._ended_here.clear()
        self._asked_from.clear()
        for match in self.matches.values():
            match.is_fresh = match.was_repeated = False

    def closed_by_server(self, *, had_said_all: bool) -> None:
        """Check the end of a connection, which the client has read to its end.

        Either the server has said why, or the client had said that nothing more comes from it. In the second
        case every line must have had its answer.
        """
        if self._kinds[-1:] == ["bye"]:
            return
        _expect(had_said_all, f"closed without a word after {self._kinds[-3:]}")
        unanswered = [awaited for awaited in self._awaited if not awaited.may_be_silent]
        _expect(not unanswered, f"no answer to {unanswered[:3]}")

    def sent(self, message: Message) -> None:
        kind = message["type"]
        if kind == "login":
            self._asked_from = dict(message.get("resume", {}).get("last_events", {}))
        if kind == "act":
            awaited = Awaited(kind, ("",), False, (message["match"], message["ask"]))
        elif kind in ("ready", "join", "watch"):
            awaited = Awaited(kind, ("protocol.", "server.", "auth."), True)
        elif kind == "ping":
            awaited = Awaited(kind, (), False)
        else:
            awaited = Awaited(kind, ("protocol.", "auth.", "server."), False)
        self._awaited.append(awaited)

    def sent_garbage(self, code: str) -> None:
        """Record a line that the server must refuse with this code."""
        self._awaited.append(Awaited("garbage", (code,), False))

    def has_sent(self, message: Message, now: float) -> None:
        """Note that all of a line is sent."""
        if message["type"] == "act":
            self._acted_at.setdefault((message["match"], message["ask"]), now)

    # -- what the server says --------------------------------------------------------------------

    def received(self, line: bytes, now: float = 0.0) -> Message:
        """Check a line from the server. `line` has no newline; `now` is in seconds."""
        _expect(len(line) < LONGEST_LINE, f"a line of {len(line)} bytes")
        try:
            _decode_strictly(line)
            message: Message = json.loads(line)
        except (msgspec.DecodeError, ValueError) as error:
            raise LawBrokenError(f"{error}: {line[:200]!r}") from None
        kind: str = message["type"]
        _expect(self._kinds[-1:] != ["bye"], f"{kind} after bye")
        _expect((kind == "hello") == (not self._kinds), f"{kind} after {self._kinds[-3:]}")
        self._kinds.append(kind)
        match kind:
            case "welcome":
                _expect(self._kinds.count("welcome") == 1, "welcomed twice")
                self._answered("login", None, None)
            case "pong":
                self._answered("ping", None, None)
            case "left":
                self._answered("leave", None, None)
                if "match" in message:
                    self.left.add(message["match"])
                    self.matches.pop(message["match"], None)
            case "error":
                self._error(message)
            case "start" | "event" | "ask" | "ok" | "default" | "seat" | "end":
                _expect("welcome" in self._kinds, f"{kind} before welcome")
                _expect(message["match"] not in self.left, f"{kind} of a match that was left")
                if kind == "start":
                    self._start(message)
                else:
                    self._in_match(kind, message, now)
            case _:
                pass
        return message

    def _in_match(self, kind: str, message: Message, now: float) -> None:
        id = message["match"]
        _expect(id in self.matches, f"{kind} before start")
        match = self.matches[id]
        if kind == "end":
            self._end(match, message)
            return
        _expect(id not in self._ended_here, f"{kind} after the end")
        match kind:
            case "event":
                _expect(
                    message["number"] == match.events + 1, f"event {message['number']} of {match.events + 1}"
                )
                match.events += 1
            case "ask":
                self._ask(match, message, now)
            case "ok":
                self._answered("act", (id, message["ask"]), None)
                _expect(match.ask is not None and match.ask["ask"] == message["ask"], "ok to no open ask")
                _expect(message["bank_ms"] <= match.bank_ms, "the bank grows")
                match.bank_ms = message["bank_ms"]
                if self.exact and match.is_fresh and not self.floods:
                    took_ms = (self._acted_at.get((id, message["ask"]), now) - match.asked_at) * 1000
                    _expect(message["took_ms"] <= took_ms + ROUNDED, f"{message['took_ms']} ms for {took_ms}")
                match.ask = None
            case "default":
                self._default(match, message, now)
            case "seat":
                _expect(message["seat"] != match.start.get("seat"), "seat about oneself")
            case _:
                raise AssertionError(kind)

    def _start(self, start: Message) -> None:
        id = start["match"]
        if id in self.matches:
            _expect(self._asked_from.get(id) == 0, "a second start that was not asked for")
            _expect(start == self.matches[id].start, "another start for the same match")
            self.matches[id].events = 0
            return
        own = [player["name"] for player in start["players"] if player["seat"] == start.get("seat")]
        _expect(len(own) == (start["viewer"] == "seat"), "a seat that is not among the players")
        self.matches[id] = SeenMatch(start, bank_ms=start["clocks"]["bank_ms"])

    def _ask(self, match: SeenMatch, ask: Message, now: float) -> None:
        _expect(ask["after_event"] == match.events, f"ask after {ask['after_event']}, events {match.events}")
        _expect(bool(ask["legal"]), "nothing legal")
        _expect(ask["move_ms"] <= match.start["clocks"]["move_ms"], "more time than there is")
        _expect(ask["bank_ms"] <= match.bank_ms, "the bank grows")
        is_again = match.ask is not None and match.ask["ask"] == ask["ask"]
        if is_again:
            _expect(not match.is_fresh and not match.was_repeated, "the same ask twice over one connection")
        else:
            _expect(match.ask is None or not match.is_fresh, "two open asks")
            _expect(ask["ask"] > match.last_ask, f"ask {ask['ask']} after {match.last_ask}")
            match.asked_at = now
            match.is_fresh = ask["move_ms"] == match.start["clocks"]["move_ms"]
        match.was_repeated = is_again
        match.ask, match.last_ask = ask, ask["ask"]

    def _default(self, match: SeenMatch, default: Message, now: float) -> None:
        id = default["ask"]
        if match.ask is not None and match.is_fresh:
            _expect(match.ask["ask"] == id, f"default of ask {id}, and {match.ask['ask']} is open")
            _expect(default["move"] == match.ask["fallback"], "another move than the fallback")
        else:
            _expect(id >= match.last_ask, f"default of ask {id} after {match.last_ask}")
        _expect(default["defaults"] > match.defaults, "defaults are not counted")
        if default["reason"] == "time" and match.ask is not None and match.is_fresh:
            self._judge_time(match, match.ask, now)
            match.bank_ms = 0
        match.defaults = default["defaults"]
        match.last_ask = id
        match.ask = None

    def _judge_time(self, match: SeenMatch, ask: Message, now: float) -> None:
        late = round((now - match.asked_at) * 1000, 3) - ask["move_ms"] - ask["bank_ms"]
        self.by_time.append(late)
        if self.exact:
            grace = match.start["clocks"]["grace_ms"]
            waits = ROUNDED + self.waits_ms
            _expect(0 <= late <= waits or grace <= late <= grace + waits, f"a default {late} ms late")

    def _end(self, match: SeenMatch, end: Message) -> None:
        id = end["match"]
        _expect(id not in self._ended_here, "two ends over one connection")
        _expect(match.ask is None or not match.is_fresh, "the match ends while an ask is open")
        if end["reveal"] == "now":
            _expect(commitment(match.start, end) == match.start["commitment"], "another deal than promised")
        self._ended_here.add(id)
        if not match.is_over:
            self.results.append(end)
        match.is_over = True
        match.ask = None

    def _failed(self, id: str) -> None:
        """Note that the match failed by the server's fault. That is the answer to all that was sent about it
        (L7), and its end (L8)."""
        match = self.matches[id]
        match.is_over, match.ask = True, None
        self._ended_here.add(id)
        self._awaited = deque([line for line in self._awaited if line.ask is None or line.ask[0] != id])

    # -- answers ---------------------------------------------------------------------------------

    def _error(self, error: Message) -> None:
        code = error["code"]
        if "ask" not in error:
            if code not in UNPROMPTED:
                self._answered(None, None, code)
            elif "match" in error and error["match"] in self.matches:
                self._failed(error["match"])
            return
        id, ask = error["match"], error["ask"]
        self._answered("act", (id, ask), code)
        match = self.matches.get(id)
        is_open = match is not None and match.ask is not None and match.ask["ask"] == ask
        if code == "protocol.stale_ask":
            _expect("tries" not in error, "a stale ask costs a try")
            _expect(not is_open or not match or not match.is_fresh, "an open ask is called stale")
        elif code != "server.busy":
            _expect(is_open and match is not None and match.ask is not None, f"{code} about no open ask")
            assert match is not None
            assert match.ask is not None
            _expect(error["tries"] == match.ask["tries"] - 1, f"{error['tries']} tries left")
            match.ask = {**match.ask, "tries": error["tries"]}
            self._acted_at.pop((id, ask), None)

    def _answered(self, kind: str | None, ask: tuple[str, int] | None, code: str | None) -> None:
        """Give this answer to the first line that needs one and can have it; else to one that needs none."""
        passed: list[Awaited] = []
        for place, awaited in enumerate(self._awaited):
            if awaited.may_be_silent:
                passed.append(awaited)
            elif awaited.takes(kind, ask, code):
                for _ in range(place + 1):
                    self._awaited.popleft()
                self._silent += passed
                return
            else:
                break
        for lines in (passed, self._silent):
            for awaited in lines:
                if awaited.takes(kind, ask, code):
                    (self._awaited if lines is passed else self._silent).remove(awaited)
                    return
        raise LawBrokenError(f"{code or kind} {ask or ''} is no answer to {list(self._awaited)[:3]}")


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise LawBrokenError(otherwise)
