"""A server without sockets: a lobby, the time, and clients that keep what they were sent.

Whatever a real server takes from outside is a value here: entropy that is the same each time, journals in
memory that refuse when a test says so, a log that is a list. Time passes when a test says so.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from traceback import format_exception
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from stellwerk_engine import engine
from stellwerk_engine.core.state import State
from stellwerk_protocol.error_codes import ANSWERS, ErrorCode
from stellwerk_protocol.messages import (
    Act,
    Ask,
    End,
    Error,
    FromClient,
    FromServer,
    Join,
    Joined,
    Login,
    Ready,
    Resume,
    Start,
    Wants,
    Welcome,
)
from stellwerk_server.journal.journal import Journal
from stellwerk_server.lobby.lobby import Lobby
from stellwerk_server.lobby.rooms import GameShelf, Reservation
from stellwerk_server.lobby.session import Connection
from stellwerk_server.lobby.setup import LobbySetup
from stellwerk_server.lobby.tokens import Tokens, hashed
from stellwerk_server.match.match_session import MatchSession
from stellwerk_server.match.plan import MatchPlan
from stellwerk_server.match.players import AskListener, LinkKind, NewHousePlayer
from stellwerk_server.operate.settings import Limits, Time, clocks_of
from tests.support import fingerprint

T = TypeVar("T", bound=Struct)

Variant = tuple[str, int, tuple[str, ...]]

EVERY_GAME: Final[tuple[Variant, ...]] = (
    ("usa", 2, ()),
    ("card_game", 3, ()),
    ("team_asia", 4, ()),
    ("united_kingdom", 2, ("advanced_technologies",)),
    ("europe", 3, ()),
)
BARE: Final = Wants(legal=True, view=False, events=True)
ROUNDS: Final = 2_000  # more than the longest match has moves


class Peek(Struct):
    """What a player of tests looks at in a line; the rest of it is not decoded."""

    type: str
    match: str = ""
    ask: int = 0
    number: int = 0
    code: str = ""
    reason: str = ""
    state: str = ""
    seat: int = -1
    tries: int | UnsetType = UNSET
    legal: list[Raw] | UnsetType = UNSET


peek: Final = msgspec.json.Decoder(Peek).decode
decode: Final = msgspec.json.Decoder(FromServer, strict=True).decode
encode: Final = msgspec.json.Encoder().encode

Choose = Callable[[Peek], int]
"""Which of the legal moves of an ask."""


def scattered(ask: Peek) -> int:
    """Return any index, the same one each time."""
    assert ask.legal is not UNSET
    digest = sha256(f"{ask.match}/{ask.ask}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % len(ask.legal)


# -- fakes -------------------------------------------------------------------------------------------


def entropy(label: str) -> Callable[[int], bytes]:
    """Return a source of bytes that are as random as hashes, and the same each time."""
    draws = 0

    def draw(count: int) -> bytes:
        nonlocal draws
        draws += 1
        return sha256(f"{label}/{draws}".encode()).digest()[:count]

    return draw


class MemoryJournal(Journal):
    def __init__(self) -> None:
        self.written = b""
        self.is_full = False
        self.cannot_finish = False
        self.is_abandoned = False
        self.is_discarded = False
        self.is_left = False
        self.is_forgotten = False

    def append(self, lines: bytes) -> None:
        if self.is_full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.written += lines

    def finish(self, times: bytes) -> Path | None:
        if self.cannot_finish:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return Path("replay.jsonl")

    def leave(self) -> Path | None:
        self.is_left = True
        return Path("left.journal")

    def discard(self) -> None:
        self.is_discarded = True

    def abandon(self) -> None:
        self.is_abandoned = True

    def read(self) -> bytes:
        return self.written

    def note(self, lines: bytes) -> None:
        if self.is_full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.written += lines

    def forget(self) -> None:
        self.is_forgotten = True


@dataclass
class ListLog:
    """A logger that keeps its records, with exceptions as a formatter without locals would show them."""

    lines: list[tuple[str, str, dict[str, object]]] = field(
        default_factory=list[tuple[str, str, dict[str, object]]]
    )

    def info(self, event: str, **data: object) -> None:
        self._keep("info", event, data)

    def warning(self, event: str, **data: object) -> None:
        self._keep("warning", event, data)

    def error(self, event: str, **data: object) -> None:
        self._keep("error", event, data)

    def of(self, event: str) -> list[dict[str, object]]:
        return [data for _, name, data in self.lines if name == event]

    def _keep(self, level: str, event: str, data: dict[str, object]) -> None:
        error = data.get("exc_info")
        if isinstance(error, BaseException):
            data = {**data, "exc_info": "".join(format_exception(error))}
        self.lines.append((level, event, data))


def first_listed(start: bytes, seed: str) -> Callable[[bytes], bytes]:
    """Start a house bot that always takes the first move listed."""

    def answer(line: bytes) -> bytes:
        ask = peek(line)
        return encode(Act(ask.match, ask.ask, index=0))

    return answer


def by_chance(start: bytes, seed: str) -> Callable[[bytes], bytes]:
    def answer(line: bytes) -> bytes:
        ask = peek(line)
        return encode(Act(ask.match, ask.ask, index=scattered(ask)))

    return answer


def breaking_at(number: int) -> NewHousePlayer:
    """Return a house player whose bots have a bug that shows at this ask."""

    def new(start: bytes, seed: str) -> Callable[[bytes], bytes]:
        def answer(line: bytes) -> bytes:
            secret_of_the_house = seed
            ask = peek(line)
            if ask.ask == number:
                raise ZeroDivisionError("a bug in the house bot")
            return encode(Act(ask.match, ask.ask, index=0, note=secret_of_the_house[:0]))

        return answer

    return new


def cheating(start: bytes, seed: str) -> Callable[[bytes], bytes]:
    """Start a house bot whose answers are not legal."""
    return lambda line: encode(Act(peek(line).match, peek(line).ask, index=999))


HOUSE_BOTS: Final[Mapping[str, NewHousePlayer]] = {
    "first": first_listed,
    "chance": by_chance,
    "broken": breaking_at(3),
    "cheat": cheating,
}


@cache
def shelf() -> GameShelf:
    return GameShelf()


# -- the world ---------------------------------------------------------------------------------------


class Client:
    """One connection of a client. `lines` is all that it was sent."""

    def __init__(self, world: World, connection: Connection) -> None:
        self.world = world
        self.connection = connection
        self.lines: list[bytes] = []
        self._seen = 0

    # -- what it says --

    def say(self, *messages: FromClient | bytes) -> list[FromServer]:
        """Send each message as a line, and return what comes back."""
        for message in messages:
            self.world.receive(self, message if isinstance(message, bytes) else encode(message))
        return self.news()

    def login(self, name: str, **fields: Any) -> Welcome:  # Any: fields of many types
        self.say(Login(1, name, **fields))
        return self.the(Welcome)

    def resume(self, last_events: Mapping[str, int] | None = None, **fields: Any) -> Client:
        """Open a new connection that takes over this one's session."""
        welcome = self.the(Welcome)
        resume = Resume(welcome.session, welcome.resume_key, dict(last_events or {}))
        client = self.world.connect()
        client.say(Login(1, welcome.name, resume=resume, **fields))
        return client

    def drop(self) -> None:
        """Break the connection."""
        self.world.lobby.disconnect(self.connection, "gone", self.world.now)
        self.world.flush()

    # -- what it was sent --

    def news(self) -> list[FromServer]:
        """Return what came since the last call of this."""
        new = self.lines[self._seen :]
        self._seen = len(self.lines)
        return [decode(line) for line in new]

    def all_of(self, kind: type[T]) -> list[T]:
        tag = b'{"type":"%b"' % str(kind.__struct_config__.tag).encode()
        messages = [decode(line) for line in self.lines if line.startswith(tag)]
        return [message for message in messages if isinstance(message, kind)]

    def the(self, kind: type[T]) -> T:
        """Return the last message of this type."""
        tag = b'{"type":"%b"' % str(kind.__struct_config__.tag).encode()
        for line in reversed(self.lines):
            if line.startswith(tag):
                message = decode(line)
                assert isinstance(message, kind)
                return message
        raise AssertionError(f"no {kind.__name__} came")

    def kinds(self) -> list[str]:
        """Return the types of what came since the last call of this or of `news`."""
        new = self.lines[self._seen :]
        self._seen = len(self.lines)
        return [peek(line).type for line in new]

    @property
    def is_open(self) -> bool:
        return not self.connection.closing

    # -- in a match --

    @property
    def match(self) -> str:
        return self.the(Start).match

    @property
    def seat(self) -> int:
        seat = self.the(Start).seat
        assert seat is not UNSET
        return seat

    def open_asks(self) -> list[Peek]:
        """Return the asks that no ok or default has ended, one for each match."""
        asks: dict[str, Peek] = {}
        for line in self.lines:
            if line.startswith((b'{"type":"ask"', b'{"type":"ok"', b'{"type":"default"')):
                message = peek(line)
                if message.type == "ask":
                    asks[message.match] = message
                elif message.match in asks and asks[message.match].ask == message.ask:
                    del asks[message.match]
            elif line.startswith((b'{"type":"end"', b'{"type":"left"')):
                asks.pop(peek(line).match, None)
        return list(asks.values())

    @property
    def ask(self) -> Peek:
        """The one that is open."""
        (ask,) = self.open_asks()
        return ask

    def is_asked(self) -> bool:
        return bool(self.open_asks())

    def has_ended(self) -> bool:
        return any(line.startswith(b'{"type":"end"') for line in self.lines)

    def is_in(self) -> bool:
        """Return whether the client is logged in."""
        return any(line.startswith(b'{"type":"welcome"') for line in self.lines)

    def act(self, index: int = 0, **fields: Any) -> list[FromServer]:  # Any: fields of many types
        """Answer the open ask."""
        ask = self.ask
        return self.say(Act(ask.match, ask.ask, index=index, **fields))


class World:
    """A lobby with all that surrounds it."""

    def __init__(
        self,
        *,
        seed: str = "world",
        time: Time | None = None,
        limits: Limits | None = None,
        tokens: Tokens | None = None,
        open_journal: Callable[[str], Journal] | None = None,
        house_bots: Mapping[str, NewHousePlayer] = HOUSE_BOTS,
        games: GameShelf | None = None,
        **more: Any,  # Any: fields of many types
    ) -> None:
        self.now = 1_000.0
        self.log = ListLog()
        self.journals: dict[str, MemoryJournal] = {}
        self.setup = LobbySetup(
            server="stellwerk test",
            # tests are quick: without this the limit of messages would hold up every one of them
            limits=limits or Limits(messages_a_second=1_000_000, burst=1_000_000),
            time=time or Time(),
            games=games or shelf(),
            log=self.log,
            entropy=entropy(seed),
            house_bots=house_bots,
            open_journal=open_journal or self._open_journal,
            tokens=tokens,
            **more,
        )
        self.lobby = Lobby(self.setup)
        self.clients: dict[Connection, Client] = {}
        self.pauses: list[float] = []

    def _open_journal(self, match: str) -> Journal:
        journal = self.journals[match] = MemoryJournal()
        return journal

    # -- clients --

    def connect(
        self, address: str = "127.0.0.1", kind: LinkKind = "tcp", *, is_private: bool = True
    ) -> Client:
        connection = self.lobby.connect(address, kind, is_private, self.now)
        client = self.clients[connection] = Client(self, connection)
        self.flush()
        client.news()
        return client

    def player(self, name: str, **fields: Any) -> Client:  # Any: fields of many types
        client = self.connect()
        client.login(name, **fields)
        client.news()
        return client

    def receive(self, client: Client, text: bytes) -> None:
        before = len(client.lines)
        self.pauses.append(self.lobby.receive(client.connection, text, self.now))
        self.flush()
        for error in [decode(line) for line in client.lines[before:] if line.startswith(b'{"type":"error"')]:
            assert isinstance(error, Error)
            of_match = error.code == "server.failed" and error.match is not UNSET
            of_room = error.code in ("server.busy", "server.failed") and b'"token"' in text
            unasked = of_match or of_room  # a seat token is no `join`
            assert unasked or error.code in answers_to(text), (text, error)

    def flush(self) -> None:
        for connection, data in self.lobby.outbox.data_to_send():
            client = self.clients.get(connection)
            if client is not None:
                client.lines += data.splitlines(keepends=True)

    # -- time --

    def tick(self) -> None:
        """Do what is due now, with all that follows from it at once."""
        for _ in range(ROUNDS):
            if self.lobby.deadlines.next > self.now:
                break
            self.lobby.run_due(lambda: self.now)
            assert not self.log.of("timer.bug")
            self.flush()
        else:
            raise AssertionError("the match never stops")

    def wait(self, milliseconds: float) -> None:
        """Let time pass, and do all that becomes due, each when it is."""
        until = self.now + milliseconds
        while self.lobby.deadlines.next <= until:
            self.now = max(self.now, self.lobby.deadlines.next)
            self.tick()
        self.now = until

    # -- matches --

    def match_of(self, client: Client) -> MatchSession:
        session = client.connection.session
        assert session is not None
        match, _ = session.matches[client.match]
        assert isinstance(match, MatchSession), "it is over"
        return match

    def event_count(self, client: Client) -> int:
        """Return the number of events of a match that is running or over."""
        session = client.connection.session
        assert session is not None
        return session.matches[client.match][0].event_count

    def journal_of(self, client: Client) -> MemoryJournal:
        return self.journals[client.match]

    def seated(self, variant: Variant = ("usa", 2, ()), *, ready: bool = True, **fields: Any) -> list[Client]:
        """Seat so many players in one match. With `ready` the first asks are open."""
        game, seats, options = variant
        clients = [self.player(f"player{seat}", **fields) for seat in range(seats)]
        for client in clients:
            client.say(Join(game, seats, options))
        if ready:
            for client in clients:
                client.say(Ready(client.match))
            self.tick()
        for client in clients:
            client.news()
        return clients

    def practice(self, *against: str, name: str = "player", variant: Variant = ("usa", 2, ())) -> Client:
        client = self.player(name)
        client.say(Join(variant[0], variant[1], variant[2], against=against))
        client.say(Ready(client.match))
        self.tick()
        return client

    def play(
        self,
        clients: Sequence[Client],
        choose: Choose = scattered,
        *,
        until: Callable[[], bool] = lambda: False,
    ) -> None:
        """Answer all asks, of the first client first, until nobody is asked any more."""
        position = dict.fromkeys(clients, 0)
        asks: dict[Client, Peek | None] = dict.fromkeys(clients)
        while not until():
            self.tick()
            for client in clients:
                for line in client.lines[position[client] :]:
                    if line.startswith(b'{"type":"ask"'):
                        asks[client] = peek(line)
                    elif line.startswith((b'{"type":"ok"', b'{"type":"default"')):
                        asks[client] = None
                position[client] = len(client.lines)
            asked = [(client, ask) for client, ask in asks.items() if ask is not None]
            if not asked:
                return
            client, ask = asked[0]
            asks[client] = None
            self.receive(client, encode(Act(ask.match, ask.ask, index=choose(ask))))

    def play_turns(self, clients: Sequence[Client], count: int, choose: Choose = scattered) -> None:
        """Play until so many answers have been given in all."""
        left = count + 1

        def enough() -> bool:
            nonlocal left
            left -= 1
            return left == 0

        self.play(clients, choose, until=enough)


def first_turn(clients: Iterable[Client]) -> tuple[Client, list[Client]]:
    """Answer for all but the client whose turn it is. Return that client, and the others."""
    players = list(clients)
    world = players[0].world
    match = world.match_of(players[0])
    while match.state.turn == 0:
        asked = next(client for client in players if client.is_asked())
        asked.act(0)
        world.tick()
    for client in players:
        client.news()
    (mover,) = [client for client in players if client.is_asked()]
    return mover, [client for client in players if client is not mover]


def reserved(
    world: World,
    variant: Variant = ("usa", 2, ()),
    *,
    match: str = "reserved",
    reveal_later: bool = False,
    come: int | None = None,
    asks: AskListener | None = None,
) -> list[Client]:
    """Reserve the seats of a match for tokens, and log in the first `come` of its players."""
    seats = variant[1]
    world.lobby.rooms.reserve(
        Reservation(
            plan=MatchPlan(
                match=match,
                game=shelf().game(*variant),
                names=tuple(f"entrant{seat}" for seat in range(seats)),
                seed=sha256(match.encode()).digest(),
                salt=sha256(b"salt" + match.encode()).digest(),
                clocks=clocks_of(world.setup.time),
                reveal_later=reveal_later,
            ),
            token_hashes=tuple(hashed(f"token{seat}") for seat in range(seats)),
            asks=asks,
        )
    )
    clients: list[Client] = []
    for seat in range(seats if come is None else come):
        client = world.connect()
        client.login(f"bot{seat}", token=f"token{seat}")
        clients.append(client)
    if len(clients) == seats:
        for client in clients:
            client.say(Ready(match))
        world.tick()
    return clients


# -- snapshots ---------------------------------------------------------------------------------------


def snapshot(world: World) -> dict[str, object]:
    """Return all that a message could have changed, apart from what counts messages."""
    lobby = world.lobby
    return {
        "counts": replace(lobby.counts(), connections=0),
        "rooms": {
            room.id: (room.game.id, [session and session.id for session in room.sessions])
            for room in lobby.rooms.by_id.values()
        },
        "matches": {match.id: match_snapshot(match) for match in lobby.matches.running.values()},
        "sessions": {
            session.id: (
                session.name,
                session.max_matches,
                session.wants,
                sorted(session.room_ids),
                {id: (match.is_over, seat) for id, (match, seat) in session.matches.items()},
                sorted(session.watched),
                session.connection and session.connection.number,
            )
            for session in lobby.sessions.by_id.values()
        },
        "journals": {match: journal.written for match, journal in world.journals.items()},
        "log": len(world.log.lines),
    }


def match_snapshot(match: MatchSession) -> dict[str, object]:
    return {
        "phase": match.phase,
        "state": state_snapshot(match.state),
        "events": match.event_count,
        "decisions": match.decision_count,
        "timer": match.timer.deadline,
        "set_up_until": match.set_up_until,
        "watchers": [session.id for session in match.watchers],
        "places": [
            (
                seat.session and seat.session.id,
                seat.is_ready,
                seat.left,
                seat.by_default,
                seat.ask and (seat.ask.id, seat.ask.tries, seat.ask.asked_at),
                seat.ask_count,
                seat.bank_ms,
                seat.strikes,
                seat.defaults_in_a_row,
                dict(seat.default_reasons),
                seat.used_ms,
            )
            for seat in match.seats
        ],
    }


def state_snapshot(state: State) -> tuple[object, ...]:
    return (*fingerprint(state), engine.owing(state))


def answers_to(text: bytes) -> tuple[ErrorCode, ...]:
    """Return the errors that may answer a line, as the specification has them."""
    try:
        kind = json.loads(text)["type"]
    except (ValueError, TypeError, KeyError, RecursionError):
        kind = ""
    return *ANSWERS[""], *ANSWERS.get(kind if isinstance(kind, str) else "", ())


def codes(news: Iterable[FromServer]) -> list[str]:
    """Return the codes of the errors among these messages."""
    return [message.code for message in news if isinstance(message, Error)]


def ended(client: Client) -> End:
    return client.the(End)


def rooms_of(client: Client) -> list[Joined]:
    return client.all_of(Joined)


def asks_of(client: Client) -> list[Ask]:
    return client.all_of(Ask)
