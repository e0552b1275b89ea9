"""Very many clients in one process that cost little: bots behind one epoll.

Nothing here decodes JSON: a bot finds the id of an ask and counts its legal moves by looking at bytes, and
answers by chance. That is good enough for a server whose lines are known, and for nothing else.

How long the server took is measured from just before `send` to the kernel's own time of the answer's arrival
(SO_TIMESTAMPNS). On loopback that is when the server sent it, so it does not matter how late these clients
read it.
"""

from __future__ import annotations

import select
import socket
import struct
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from random import Random
from time import perf_counter, time_ns
from typing import Final, Protocol

SO_TIMESTAMPNS: Final = 35  # of Linux; the module `socket` has no name for it
PATIENCE: Final = 30.0  # seconds without anything done

_TIMESPEC: Final = struct.Struct("qq")


class LoadError(Exception):
    """The server did not do its part."""


@dataclass(slots=True)
class Tally:
    """What happened while it was counted."""

    decisions: int = 0
    bytes_received: int = 0
    bytes_sent: int = 0
    defaults: int = 0
    matches: int = 0
    answer_ns: array[int] = field(default_factory=lambda: array("q"))


class Client(Protocol):
    """One connection: what it replies to what it has received.

    `received` returns what to send, and sets `is_act` if that is an act, `is_served` if the answer to the
    last act has come.
    """

    is_act: bool
    is_served: bool

    def received(self, data: bytes, tally: Tally) -> bytes: ...


class FloorClient:
    """One of two clients of the floor server: it acts after a long message, and hears of its own act by a
    short one."""

    __slots__ = ("act", "begun", "is_act", "is_served")

    def __init__(self, act: bytes) -> None:
        self.act = act
        self.begun = b""  # of a line
        self.is_act = False
        self.is_served = False

    def received(self, data: bytes, tally: Tally) -> bytes:
        self.is_act = self.is_served = False
        *lines, self.begun = (self.begun + data).split(b"\n")
        for line in lines:
            if line.startswith(b"l"):
                self.is_act = True
            else:
                self.is_served = True
        return self.act if self.is_act else b""


class MatchClient:
    """Plays one match of two seats of USA after the other, always with the same partner.

    After `acts_allowed` acts it holds the next one back.
    """

    __slots__ = (
        "acts_allowed",
        "begun",
        "chance",
        "head",
        "held",
        "is_act",
        "is_in",
        "is_served",
        "name",
        "pair",
        "rounds",
    )

    def __init__(self, name: str, pair: int, acts_allowed: int) -> None:
        self.name = name
        self.pair = pair
        self.rounds = 0
        self.chance = Random(name)
        self.acts_allowed = acts_allowed
        self.head = b""  # of an act in this match
        self.held = b""  # an act
        self.begun = b""  # of a line
        self.is_act = False
        self.is_served = False
        self.is_in = False

    def received(self, data: bytes, tally: Tally) -> bytes:
        self.is_act = self.is_served = False
        *lines, self.begun = (self.begun + data).split(b"\n")
        reply = b""
        for line in lines:
            match line[9:14]:  # after {"type":"
                case b"event" | b"joine" | b'seat"':
                    pass
                case b'ok","':
                    self.is_served = True
                case b'ask",':
                    reply += self._act(line)
                case b"defau":
                    tally.defaults += 1
                case b'end",':
                    tally.matches += 1
                    reply += self.join()
                case b"start":
                    reply += self._ready(line)
                case b"hello":
                    reply += b'{"type":"login","protocol":1,"name":"%s"}\n' % self.name.encode()
                case b"welco":
                    self.is_in = True
                case _:
                    raise LoadError(f"{self.name} was told {line[:300].decode(errors='replace')}")
        return reply

    def join(self) -> bytes:
        self.rounds += 1
        return b'{"type":"join","game":"usa","players":2,"room":"r%d-%d"}\n' % (self.pair, self.rounds)

    def _ready(self, start: bytes) -> bytes:
        match_id = text_after(start, b'"match":"', b'"')
        self.head = b'{"type":"act","match":"%s","ask":' % match_id
        return b'{"type":"ready","match":"%s"}\n' % match_id

    def _act(self, ask: bytes) -> bytes:
        index = int(self.chance.random() * legal_count(ask))
        act = b'%s%s,"index":%d}\n' % (self.head, text_after(ask, b'"ask":', b","), index)
        if self.acts_allowed == 0:
            self.held = act
            return b""
        self.acts_allowed -= 1
        self.is_act = True
        return act

    def release(self) -> bytes:
        """Return the act held back, if there is one, and hold back no more."""
        self.acts_allowed = -1
        held, self.held = self.held, b""
        return held


def text_after(line: bytes, mark: bytes, end: bytes) -> bytes:
    begin = line.index(mark) + len(mark)
    return line[begin : line.index(end, begin)]


def legal_count(ask: bytes) -> int:
    """Return how many moves are listed: each says its type, and nothing after the list does."""
    return ask.count(b'{"type":', ask.index(b'"legal":['))


@dataclass(slots=True, eq=False)
class Connection:
    socket: socket.socket
    client: Client
    sent_ns: int = 0


class Load:
    """Clients of one server. Counts into `tally`, which may be exchanged at any time."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.tally = Tally()
        self.pause = 0.0  # mean seconds that a client thinks before an act
        self._address = address
        self._chance = Random("load")
        self._epoll = select.epoll()
        self._connections: dict[int, Connection] = {}
        self._players: list[tuple[Connection, MatchClient]] = []
        self._thinking: list[tuple[float, int, bytes]] = []
        self._is_held = False
        self._held: list[tuple[Connection, bytes]] = []

    def close(self) -> None:
        for connection in self._connections.values():
            connection.socket.close()
        self._epoll.close()

    def add_floor_clients(self, pair_count: int, act: bytes) -> None:
        for _ in range(2 * pair_count):
            self._connect(FloorClient(act))

    def add_match_clients(self, pair_count: int, acts_allowed: Callable[[], int]) -> None:
        """Log the clients in one by one, since a server allows few at once. They begin to play when all are
        there."""
        players: list[tuple[Connection, MatchClient]] = []
        deadline = perf_counter() + PATIENCE
        for pair in range(len(self._players) // 2, len(self._players) // 2 + pair_count):
            allowed = acts_allowed()
            for name in (f"left{pair}", f"right{pair}"):
                client = MatchClient(name, pair, allowed)
                players.append((self._connect(client), client))
                while not client.is_in:
                    self._step(0.1)
                    if perf_counter() > deadline:
                        raise LoadError(f"the clients could not log in within {PATIENCE:.0f} s")
        for connection, client in players:
            self._send(connection, client.join())
        self._players += players

    def release(self) -> None:
        """Let everybody act as long as they like."""
        for connection, client in self._players:
            if held := client.release():
                self._send(connection, held)

    def run(self, seconds: float) -> None:
        self._is_held = False
        held, self._held = self._held, []
        for connection, reply in held:
            self._send(connection, reply)
        end = perf_counter() + seconds
        while (left := end - perf_counter()) > 0:
            self._step(min(left, 0.1))

    def settle(self, silence: float) -> None:
        """Hear what the server still has to say, and hold the replies back until it runs again: what was
        begun is finished, and costs the server nothing later."""
        self._is_held = True
        self.run_until_silent(silence, PATIENCE)

    def run_until_silent(self, silence: float, patience: float) -> bool:
        """Answer until nothing has come for so long. Return whether that happened before the patience was
        over."""
        deadline = perf_counter() + patience
        while self._step(silence):
            if perf_counter() > deadline:
                return False
        return True

    def _connect(self, client: Client) -> Connection:
        peer = socket.create_connection(self._address, timeout=PATIENCE)
        peer.setblocking(False)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        connection = Connection(peer, client)
        self._connections[peer.fileno()] = connection
        self._epoll.register(peer.fileno(), select.EPOLLIN)
        return connection

    def _step(self, timeout: float) -> bool:
        """Read and answer what has come; wait so long for it at most. Return whether anything has come."""
        if self._thinking:
            self._send_due(perf_counter())
            self._wait_exactly(timeout)
            timeout = 0
        ready = self._epoll.poll(timeout)
        for descriptor, _ in ready:
            self._receive(descriptor)
        return bool(ready)

    def _wait_exactly(self, timeout: float) -> None:
        """Wait until something has come, or the next act is due. The milliseconds of epoll are too coarse for
        that, and to look again and again would take a core."""
        if self._thinking:
            timeout = min(timeout, max(0.0, self._thinking[0][0] - perf_counter()))
        select.select([self._epoll], [], [], timeout)

    def _receive(self, descriptor: int) -> None:
        connection = self._connections[descriptor]
        client, tally = connection.client, self.tally
        data, ancillary, _, _ = connection.socket.recvmsg(65_536, 32)
        if not data:
            raise LoadError("a client lost its connection")
        tally.bytes_received += len(data)
        reply = client.received(data, tally)
        if client.is_served:
            tally.decisions += 1
            if ancillary:  # the kernel takes a moment to begin with it
                seconds, nanoseconds = _TIMESPEC.unpack(ancillary[0][2])
                tally.answer_ns.append(seconds * 1_000_000_000 + nanoseconds - connection.sent_ns)
        if not reply:
            return
        if self._is_held:
            self._held.append((connection, reply))
        elif self.pause and client.is_act:
            due = perf_counter() + self._chance.uniform(0, 2 * self.pause)
            heappush(self._thinking, (due, descriptor, reply))
        else:
            self._send(connection, reply)

    def _send_due(self, now: float) -> None:
        while self._thinking and self._thinking[0][0] <= now:
            _, descriptor, reply = heappop(self._thinking)
            self._send(self._connections[descriptor], reply)

    def _send(self, connection: Connection, data: bytes) -> None:
        connection.sent_ns = time_ns()
        if connection.socket.send(data) < len(data):
            raise LoadError("the server reads too slowly")
        self.tally.bytes_sent += len(data)
