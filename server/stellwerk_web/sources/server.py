"""A spectator of a server that speaks the protocol.

It asks for the feed of matches (`matches`), and watches those that readers look at, as the public. If the
server is gone it comes back, at growing intervals, with the cursor that it has: so it gets what has
changed, or, from a server that was started again, a new list.

Law: it knows nothing that another spectator would not be told, and asks for no more than the server's
limits allow.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeVar

import msgspec
import trio
from msgspec import UNSET, Raw, Struct, UnsetType

from stellwerk_base.lines import LineSplitter
from stellwerk_base.texts import shown
from stellwerk_protocol.messages import PROTOCOL_VERSION, Hello, Id, MatchList
from stellwerk_web.show.forms import Head
from stellwerk_web.sources.source import ServerList, Source, SourceError, first_of

if TYPE_CHECKING:
    from stellwerk_web.show.model import Show

FEATURES: Final = ("spectators", "matches")
POLL_S: Final = 0.5
MOST_WATCHED: Final = 48
STAYS_S: Final = 10.0  # watching a match after its last reader, who may come back
FIRST_WAIT_S: Final = 0.5
LONGEST_WAIT_S: Final = 15.0
CONNECT_S: Final = 10.0
SILENCE_S: Final = 30.0  # a server that answers no `matches` for so long is gone
MOST_LINE: Final = 2**20  # a line of the server has less than 60,000 bytes
MOST_MATCH_BYTES: Final = 2**24  # of the events of one match
SHARE_OF_RATE: Final = 0.5  # of the messages that the server allows in a second
RECEIVED: Final = 65_536
_BROKEN: Final = (OSError, trio.BrokenResourceError, trio.ClosedResourceError)

T = TypeVar("T")


class _Message(Struct):
    type: str
    match: Id | UnsetType = UNSET


class _EventMessage(Struct):
    number: int
    event: Raw


class _Seat(Struct):
    seat: int
    state: Literal["lost", "back", "left", "by_default"]


class _Error(Struct):
    code: str
    expected: str = ""
    match: Id | UnsetType = UNSET
    retry_ms: int | UnsetType = UNSET


class LostError(Exception):
    """The connection is of no use any more. `retry_s` is when to come back, if the server said so."""

    def __init__(self, why: str, retry_s: float | None = None) -> None:
        super().__init__(why)
        self.retry_s = retry_s


@dataclass(frozen=True, slots=True)
class Identity:
    name: str
    token: str | None = None


class ServerSource(Source):
    """The source of `stellwerk watch HOST:PORT`. `connect` opens a connection; `log` gets an event and what
    it is about."""

    def __init__(
        self,
        place: str,
        connect: Callable[[], Awaitable[trio.abc.Stream]],
        identity: Identity,
        log: Callable[..., object],
    ) -> None:
        super().__init__()
        self._place = place
        self._connect = connect
        self._identity = identity
        self._log = log
        self._cursor: str | None = None
        self._has_been_in = False

    async def run(self, show: Show, server_list: ServerList | None = None) -> None:
        self._show = show
        listed = server_list or show
        wait = FIRST_WAIT_S
        lost = LostError("the connection ended")
        while True:
            tried_at = trio.current_time()
            try:
                with trio.fail_after(CONNECT_S):
                    stream = await self._connect()
                async with stream:
                    await self._watch(show, listed, stream)
            except* (*_BROKEN, trio.TooSlowError) as errors:
                lost = LostError(str(first_of(errors)) or type(first_of(errors)).__name__)
            except* LostError as errors:
                found = first_of(errors)
                lost = found if isinstance(found, LostError) else LostError(str(found))
            if listed.is_connected and trio.current_time() - tried_at >= LONGEST_WAIT_S:
                wait = FIRST_WAIT_S  # not after a login alone: what follows may be wrong each time
            listed.connected(False)
            seconds = max(lost.retry_s or 0.0, wait * random.uniform(0.75, 1.25))
            self._log("source.lost", source=self._place, why=str(lost), again_in_s=round(seconds, 1))
            await trio.sleep(seconds)
            wait = min(wait * 2, LONGEST_WAIT_S)

    async def _watch(self, show: Show, listed: ServerList, stream: trio.abc.Stream) -> None:
        lines = _Lines(stream)
        with trio.fail_after(CONNECT_S):
            rate = await self._log_in(lines, stream)
        listed.connected(True)
        self._log("source.connected", source=self._place)
        self._has_been_in = True
        spectator = Spectator(show, listed, self._cursor)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_send_requests, spectator, listed, stream, SHARE_OF_RATE * rate)
                async for line in lines:
                    spectator.receive(line)
                raise LostError("the server closed the connection")
        finally:
            self._cursor = spectator.cursor

    async def _log_in(self, lines: _Lines, stream: trio.abc.Stream) -> float:
        """Return how many messages a second the server allows."""
        hello = _decode(await lines.next(), Hello)
        missing = [name for name in FEATURES if name not in hello.features]
        if PROTOCOL_VERSION not in hello.protocols or missing:
            what = f"the feature {missing[0]!r}" if missing else f"version {PROTOCOL_VERSION} of the protocol"
            raise self._make_hopeless(f"{shown(hello.server)} lacks {what}, which live pages need")
        login: dict[str, object] = {
            "type": "login",
            "protocol": PROTOCOL_VERSION,
            "name": self._identity.name,
            "language": "Python",
        }
        if self._identity.token is not None:
            login["token"] = self._identity.token
        await stream.send_all(msgspec.json.encode(login) + b"\n")
        while True:
            line = await lines.next()
            match _decode(line, _Message).type:
                case "welcome":
                    return float(hello.limits.messages_a_second)
                case "error" | "bye":
                    refused = _decode(line, _Error)
                    raise self._refused(refused)
                case _:
                    pass

    def _refused(self, error: _Error) -> Exception:
        if error.code.startswith("auth."):
            hint = "; put the token into the variable STELLWERK_TOKEN" if self._identity.token is None else ""
            return self._make_hopeless(
                f"the login was refused: {error.code}: expected {shown(error.expected)}{hint}"
            )
        return LostError(error.code, None if error.retry_ms is UNSET else error.retry_ms / 1000)

    def _make_hopeless(self, why: str) -> Exception:
        """Return the error that ends the program at its beginning. Later the server may have been replaced
        for a while by one that is different, so that it is worth coming back."""
        return LostError(why) if self._has_been_in else SourceError(f"{self._place}: {why}")


# -- a connection -------------------------------------------------------------------------------------


class Spectator:
    """The spectator's side of a connection after the login: takes lines, returns lines. Answers come in the
    order of the requests, so a request that is refused is the oldest one without an answer."""

    def __init__(self, show: Show, listed: ServerList, cursor: str | None) -> None:
        self.cursor = cursor
        self.has_more = True
        """Whether the feed is known to have more: it is worth asking at once."""
        self._show = show
        self._list = listed
        self._asked: deque[tuple[str, str]] = deque()  # the kind of a request and its match
        self._watched: dict[str, _Watched] = {}
        self._refused: dict[str, None] = {}  # matches that cannot be watched (any more)
        self._is_new_list = cursor is None

    # -- requests --------------------------------------------------------------------------------

    @property
    def awaits_matches(self) -> bool:
        return any(kind == "matches" for kind, _ in self._asked)

    def ask_for_matches(self) -> bytes:
        self._asked.append(("matches", ""))
        self.has_more = False
        request: dict[str, str] = {"type": "matches"}
        if self.cursor is not None:
            request["after"] = self.cursor
        return msgspec.json.encode(request) + b"\n"

    def next_request(self, now: float) -> bytes | None:
        """Return the next request to watch a match or to leave one. There is one at a time: what a match
        has had so far comes at once, and the server closes clients that are behind."""
        if any(kind != "matches" for kind, _ in self._asked):
            return None
        wanted = self._list.wanted()[:MOST_WATCHED]
        for match in wanted:
            if match in self._watched:
                self._watched[match].wanted_at = now
        for match, watched in self._watched.items():
            if now - watched.wanted_at > STAYS_S:
                return self._make_request("leave", match)
        for match in wanted:
            is_new = match not in self._watched and match not in self._refused
            if is_new and not self._show.is_here(match) and len(self._watched) < MOST_WATCHED:
                return self._make_request("watch", match)
        return None

    def _make_request(self, kind: str, match: str) -> bytes:
        self._asked.append((kind, match))
        return msgspec.json.encode({"type": kind, "match": match}) + b"\n"

    # -- answers ---------------------------------------------------------------------------------

    def receive(self, line: bytes) -> None:
        """Take a line. LostError if the server is not one, or does not let us in any more."""
        message = _decode(line, _Message)
        match = "" if message.match is UNSET else message.match
        match message.type:
            case "event":
                self._hear_event(match, _decode(line, _EventMessage))
            case "seat":
                seat = _decode(line, _Seat)
                if match in self._watched:
                    self._show.seat_changed(match, seat.seat, seat.state)
            case "start":
                self._expect_answer("watch", match)
                self._watched[match] = _Watched(self._show.now)
                try:
                    self._show.started(match, line)
                except msgspec.DecodeError as error:
                    raise LostError(f"not a start: {error}") from None
            case "end":
                if self._watched.pop(match, None) is not None:
                    self._show.ended(match, line)
            case "match_list":
                self._expect_answer("matches", "")
                self._hear_matches(_decode(line, MatchList))
            case "left":
                self._expect_answer("leave", match)
                self._watched.pop(match, None)
            case "error":
                self._hear_error(_decode(line, _Error))
            case "bye":
                bye = _decode(line, _Error)
                raise LostError(bye.code, None if bye.retry_ms is UNSET else bye.retry_ms / 1000)
            case _:
                pass  # a later version of the protocol

    def _expect_answer(self, kind: str, match: str) -> None:
        if not self._asked or self._asked[0] != (kind, match):
            raise LostError(f"an answer to nothing that was asked: {kind} {shown(match)}")
        self._asked.popleft()

    def _hear_event(self, match: str, event: _EventMessage) -> None:
        watched = self._watched.get(match)
        if watched is None:
            return
        watched.events += 1
        watched.bytes += len(event.event)
        if event.number != watched.events or watched.bytes > MOST_MATCH_BYTES:
            raise LostError(f"{match}: event {event.number} instead of {watched.events}")
        try:
            self._show.happened(match, [bytes(event.event)])
        except msgspec.DecodeError as error:
            raise LostError(f"not an event: {error}") from None

    def _hear_matches(self, feed: MatchList) -> None:
        if feed.anew:
            self._is_new_list = True
            self._list.began_anew()
            self._refused.clear()
        self.cursor = feed.cursor
        self.has_more = feed.more
        for entry in feed.matches:
            head = Head(
                match=entry.match,
                state=entry.state,
                game=entry.game,
                options=entry.options,
                players=entry.players,
                turn=entry.turns,
                points=entry.points,
                ranks=entry.ranks,
            )
            self._list.match_listed(head)
            if entry.state != "running":
                self._refused.pop(entry.match, None)
        if self._is_new_list and not feed.more:
            self._is_new_list = False
            self._list.list_complete()

    def _hear_error(self, error: _Error) -> None:
        if error.match is not UNSET and error.match in self._watched:
            self._watched.pop(error.match)  # it failed: the feed says so, too
            self._refused[error.match] = None
            return
        if not self._asked:
            raise LostError(error.code)
        kind, match = self._asked.popleft()
        if kind == "matches":
            raise LostError(error.code)
        if kind == "watch":
            self._refused[match] = None
            self._show.cannot_be_watched(match)


class _Watched:
    __slots__ = ("bytes", "events", "wanted_at")

    def __init__(self, now: float) -> None:
        self.wanted_at = now
        self.events = self.bytes = 0


async def _send_requests(
    spectator: Spectator, listed: ServerList, stream: trio.abc.Stream, rate: float
) -> None:
    """Ask for the feed now and then, and for matches as soon as they are wanted, at most `rate` times a
    second."""
    changed = trio.Event()

    def on_wanted() -> None:
        changed.set()

    listed.on_wanted = on_wanted
    asked_at = -POLL_S
    while True:
        now = trio.current_time()
        line: bytes | None = None
        if not spectator.awaits_matches and (spectator.has_more or now - asked_at >= POLL_S):
            asked_at, line = now, spectator.ask_for_matches()
        elif spectator.awaits_matches and now - asked_at >= SILENCE_S:
            raise LostError("the server does not answer")
        else:
            line = spectator.next_request(now)
        if line is not None:
            await stream.send_all(line)
            await trio.sleep(1 / rate)
            continue
        with trio.move_on_after(POLL_S / 2):
            await changed.wait()
        changed = trio.Event()
        await trio.sleep(1 / rate)


class _Lines:
    """The lines of a connection."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._splitter = LineSplitter(MOST_LINE)
        self._lines: deque[bytes] = deque()

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> bytes:
        while not self._lines:
            data = bytes(await self._stream.receive_some(RECEIVED))
            if not data:
                raise StopAsyncIteration
            self._lines.extend(self._splitter.feed(data))
            if self._splitter.overflowed:
                raise LostError("a line that does not end")
        return self._lines.popleft()

    async def next(self) -> bytes:
        async for line in self:
            return line
        raise LostError("the server closed the connection")


def _decode(line: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise LostError(f"not a message of the protocol: {shown(str(error), 200)}") from None
