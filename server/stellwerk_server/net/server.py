"""The server at work: sockets, tasks and the clock around a lobby that knows none of them.

No task owns a match. The task that has received a line runs the lobby, and then hands every connection that
has something to say all of it at once, without waiting. Only for a connection whose socket is full a second
task sends the rest. One task keeps the time for all.

Law: what a peer does, and any error in serving it, can end its own connection only.
"""

from __future__ import annotations

import errno
import re
import socket
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv6Address, ip_address
from math import inf
from typing import TYPE_CHECKING, Final

import trio

from stellwerk_server.lobby.lobby import Lobby
from stellwerk_server.lobby.setup import LobbySetup
from stellwerk_server.net.clock import PIECE_MS, ServerClock
from stellwerk_server.net.readers import HAS_EPOLL, OwnReader, Reader, SharedReader
from stellwerk_server.net.transports import SocketTransport, StreamTransport, TlsTransport, Transport

if TYPE_CHECKING:
    import ssl

    from stellwerk_server.journal.journal import Journals
    from stellwerk_server.lobby.session import Connection, Session
    from stellwerk_server.match.players import LinkKind

BACKLOG: Final = 1024
MOST_LINGERING: Final = 1024
FEW_CONNECTIONS: Final = 8  # so many read by a task of their own, which is cheaper for them
PORTS_TRIED: Final = 5  # one that is free at an address is hardly ever taken at another
_NEWS: Final = rb'\{"type":"(?:ok|default|event|ask|seat|end)","match":"%b".*\n'
_BROKEN: Final = (OSError, trio.BrokenResourceError, trio.ClosedResourceError)


@dataclass(slots=True)
class _Piece:
    """Messages that were sent at one time, until the disk has the acts in them. No ask in it is older than
    `began`."""

    data: bytes
    began: float


class _Peer:
    """A connection and what it runs over. `scope` ends its reader. Messages first wait in `unsynced` for the
    disk. While `unsent` is not empty, exactly one task sends it: `patience` cancels that task, and `sent` is
    set when it has finished. Before the handshake of TLS, `unsent` waits without a task. `most_unsent` is its
    limit in bytes."""

    __slots__ = (
        "connection",
        "is_given_up",
        "lines",
        "most_unsent",
        "patience",
        "pause",
        "scope",
        "sent",
        "synced",
        "transport",
        "unsent",
        "unsynced",
    )

    def __init__(self, connection: Connection, transport: Transport, most_unsent: int) -> None:
        self.connection = connection
        self.transport = transport
        self.most_unsent = most_unsent
        self.lines: Iterator[bytes] = iter(())  # that have come, and wait for the end of a pause
        self.pause = 0.0  # in milliseconds
        self.unsynced: deque[_Piece] = deque()
        self.unsent = b""
        self.is_given_up = False  # nothing more is sent
        self.scope = trio.CancelScope()
        self.patience = trio.CancelScope()
        self.sent = trio.Event()
        self.sent.set()
        self.synced = trio.Event()
        self.synced.set()


class Server:
    """A server, made by `open_server`."""

    def __init__(
        self,
        lobby: Lobby,
        clock: ServerClock,
        nursery: trio.Nursery,
        journals: Journals | None,
        few_connections: int,
    ) -> None:
        self.lobby = lobby
        self.clock = clock
        self.nursery = nursery
        self._few = few_connections
        self._own_reader = OwnReader(self.flush)
        self._shared_reader = SharedReader(self.flush) if HAS_EPOLL else None
        self._journals = journals if journals is not None and journals.is_synced else None
        self._peers: dict[Connection, _Peer] = {}
        self._listening: list[trio.CancelScope] = []
        self._earlier = trio.Event()
        self._to_sync: list[_Peer] = []  # one for each piece
        self._lingering = 0
        self._sync_wanted = trio.Event()
        self._gone = trio.Event()
        self.newest_tls: ssl.SSLContext | None = None
        """What connections with TLS get from now on, instead of what their listener began with."""
        self.idle = trio.Event()
        """Set when, on the way down, the last match is over."""
        lobby.deadlines.on_earlier = lambda: self._earlier.set()
        lobby.shutdown.on_idle = lambda: self.idle.set()

    # -- ways in ---------------------------------------------------------------------------------

    async def listen(self, host: str | None, port: int, tls: ssl.SSLContext | None = None) -> tuple[str, int]:
        """Accept connections from now on, and return the address. Port 0 means any that is free. OSError if
        that cannot be done."""
        listeners = await open_listeners(host, port)
        scope = trio.CancelScope()
        self._listening.append(scope)  # a stop before the next round stops this, too

        async def handle(stream: trio.SocketStream) -> None:
            await self._handle(stream, None if tls is None else self.newest_tls or tls)

        async def serve() -> None:
            with scope:
                await trio.serve_listeners(handle, listeners, handler_nursery=self.nursery)

        self.nursery.start_soon(serve)
        bound = listeners[0].socket.getsockname()
        return bound[0], bound[1]

    async def serve_listener(self, listener: trio.SocketListener) -> None:
        """Accept connections over TCP from a listener that somebody else has opened, until cancelled."""

        async def handle(stream: trio.SocketStream) -> None:
            await self._handle(stream, None)

        await trio.serve_listeners(handle, [listener], handler_nursery=self.nursery)

    async def serve_socket(self, sock: socket.socket, address: str) -> None:
        """Serve one client over a connected socket of this machine, until it is over. `address` is for the
        log."""
        try:
            await self._serve(SocketTransport(sock), address, "unix", is_private=True)
        except Exception as error:  # it would end the server
            self.lobby.setup.note_bug("connection.bug", error, address=address)

    async def serve_stream(self, stream: trio.abc.Stream, address: str) -> None:
        """Serve one client over any stream, such as a process's pipes, until it is over."""
        await self._serve(StreamTransport(stream), address, "stdio", is_private=True)

    async def _handle(self, stream: trio.SocketStream, tls: ssl.SSLContext | None) -> None:
        try:
            address = stream.socket.getpeername()[0]
        except OSError:  # it has gone already
            return
        try:
            # A socket of Python's own for the same descriptor: Trio's wrapper is not needed any more.
            sock = socket.socket(fileno=stream.socket.detach())
            if tls is None:
                await self._serve(SocketTransport(sock), address, "tcp", is_private=is_loopback(address))
            else:
                await self._serve(TlsTransport(sock, tls), address, "tls", is_private=True)
        except _BROKEN as error:
            self.lobby.setup.log.info("connection.failed", address=address, cause=type(error).__name__)
        except Exception as error:  # it would end the server
            self.lobby.setup.note_bug("connection.bug", error, address=address)

    # -- a connection ----------------------------------------------------------------------------

    async def _serve(self, transport: Transport, address: str, kind: LinkKind, *, is_private: bool) -> None:
        connection = self.lobby.connect(address, kind, is_private, self.clock.now())
        peer = self._peers[connection] = _Peer(connection, transport, self.lobby.setup.limits.unsent_bytes)
        cause = "closed by the client"
        try:
            with peer.scope:
                self.flush()  # to a connection that has to go for it, too
                if not connection.closing and await self._shake_hands(peer):
                    await self._read(peer)
        except _BROKEN as error:
            cause = f"broken: {str(error.__cause__ or error) or type(error).__name__}"
            self._give_up(peer)
        except Exception as error:
            cause = "a bug of the server"
            self.lobby.setup.note_bug("connection.bug", error, connection=connection.number)
        finally:
            self.lobby.disconnect(connection, cause, self.clock.now())
            self.flush()
            with trio.CancelScope(shield=True):
                await self._close(peer)

    async def _shake_hands(self, peer: _Peer) -> bool:
        """Make the handshake, if there is one to make. Until then it is a connection without a login like any
        other, and may have to go for a newcomer."""
        if peer.transport.is_open:
            return True
        with trio.move_on_after(self.lobby.setup.limits.handshake_ms / 1000):
            await peer.transport.open()
            self._begin_to_send(peer)
            return True
        self.lobby.outbox.close(peer.connection, "no handshake in time")
        return False

    async def _read(self, peer: _Peer) -> None:
        shared, is_plain = self._shared_reader, peer.transport.plain_socket is not None
        reader: Reader = self._own_reader
        if shared is not None and is_plain and len(self._peers) > self._few:
            reader = shared
        hear = partial(self._take_data, peer)
        while not peer.connection.closing and await reader.read(peer.transport, hear):
            while peer.pause:
                await trio.sleep(peer.pause / 1000)
                self._handle_lines(peer)
                self.flush()

    def _take_data(self, peer: _Peer, data: bytes) -> bool:
        """Take what has come. Return whether to read on at once."""
        peer.lines = iter(peer.connection.lines.feed(data))
        self._handle_lines(peer)
        return not (peer.pause or peer.connection.closing)

    def _handle_lines(self, peer: _Peer) -> None:
        """Handle the lines that have come, until the connection has to pause."""
        connection = peer.connection
        for text in peer.lines:
            peer.pause = self.lobby.receive(connection, text, self.clock.now())
            if peer.pause:
                break
        else:
            peer.pause = 0.0
            if connection.lines.overflowed:
                self.lobby.overlong(connection)

    async def _close(self, peer: _Peer) -> None:
        """Close a connection when all has been sent that the peer takes. Only so many linger after that:
        clients that come again and again to be turned away must not take all descriptors."""
        await peer.synced.wait()
        await peer.sent.wait()
        lingers = self._lingering < MOST_LINGERING and self.lobby.setup.may_connect()
        self._lingering += 1
        try:
            await peer.transport.close(lingers=lingers)
        finally:
            self._lingering -= 1
        self._peers.pop(peer.connection, None)
        if not self._peers:
            self._gone.set()

    async def read_sockets(self) -> None:
        """Read for all connections that share a reader."""
        if self._shared_reader is not None:
            await self._shared_reader.run()

    # -- sending ---------------------------------------------------------------------------------

    def flush(self) -> None:
        """Hand over what the lobby has to send, without waiting."""
        for connection, data in self.lobby.outbox.data_to_send():
            peer = self._peers.get(connection)
            if peer is None:
                continue
            if self._journals is None:
                self._try_to_send(peer, data)
                continue
            if not peer.unsynced:
                peer.synced = trio.Event()
            peer.unsynced.append(_Piece(data, self.clock.round_began))
            connection.blocked_at = connection.blocked_at or self.clock.round_began
            self._to_sync.append(peer)
            self._sync_wanted.set()

    def _try_to_send(self, peer: _Peer, data: bytes) -> None:
        """Send data to a peer. A bug in that ends its connection, whoever flushes."""
        try:
            self._send(peer, data)
        except Exception as error:
            self.lobby.setup.note_bug("connection.bug", error, connection=peer.connection.number)
            self._end_connection(peer, "a bug of the server")

    def _send(self, peer: _Peer, data: bytes) -> None:
        """Send data to a peer. One piece may be long, as for a session that resumes many matches: it has its
        time."""
        connection = peer.connection
        if peer.is_given_up:
            data = b""
        if peer.unsent or not peer.transport.is_open:
            peer.unsent += data
            if len(peer.unsent) > peer.most_unsent and not _is_held(peer):
                self._end_connection(peer, "server.too_slow")
        elif data:
            taken = peer.transport.try_send(data)
            if taken < len(data):
                peer.unsent = data[taken:]
                self._begin_to_send(peer)
        if connection.closing:
            peer.scope.cancel()

    def _begin_to_send(self, peer: _Peer) -> None:
        connection = peer.connection
        connection.blocked_at = connection.blocked_at or self.clock.round_began
        peer.sent = trio.Event()
        self.nursery.start_soon(self._send_rest, peer)

    async def _send_rest(self, peer: _Peer) -> None:
        """Send what the socket did not take at once. Give a line up half-way only together with the whole
        connection."""
        try:
            while peer.unsent:
                piece = peer.unsent
                with trio.CancelScope(deadline=self._patience_ends(peer)) as peer.patience:
                    await peer.transport.send_all(piece)
                if peer.patience.cancelled_caught:
                    self._end_connection(peer, "server.too_slow")
                    return
                peer.unsent = peer.unsent[len(piece) :]
        except _BROKEN:
            self._give_up(peer)
            peer.scope.cancel()
            return
        finally:
            peer.most_unsent = self.lobby.setup.limits.unsent_bytes
            peer.sent.set()
        self._note_drained(peer, for_disk=False)
        self.flush()

    def _patience_ends(self, peer: _Peer) -> float:
        """Until when a piece has to be sent, by Trio's clock."""
        seconds = self.lobby.setup.limits.unsent_ms / 1000
        return inf if _is_held(peer) else trio.current_time() + seconds

    def hold(self, session: Session) -> None:
        """Let the limits of what may stay unsent stand still: the session's client has been stopped by the
        program that embeds this server, and cannot read."""
        session.is_held = True
        self._set_patience(session)

    def release(self, session: Session) -> None:
        """Let the limits count again, for a client that continues. It has all the time that a piece gets, and
        what has piled up meanwhile does not count."""
        session.is_held = False
        self._set_patience(session)

    def _set_patience(self, session: Session) -> None:
        peer = None if session.connection is None else self._peers.get(session.connection)
        if peer is not None and peer.unsent:
            peer.patience.deadline = self._patience_ends(peer)
            peer.most_unsent = len(peer.unsent) + self.lobby.setup.limits.unsent_bytes

    def _note_drained(self, peer: _Peer, *, for_disk: bool) -> None:
        """Note that the kernel has all that the disk has: the clocks of the asks in it begin now."""
        until = peer.unsynced[0].began if peer.unsynced else inf
        self.lobby.drained(peer.connection, self.clock.now(), until, for_disk=for_disk)

    def _end_connection(self, peer: _Peer, cause: str) -> None:
        self._give_up(peer)
        self.lobby.outbox.close(peer.connection, cause)
        peer.scope.cancel()

    def _give_up(self, peer: _Peer) -> None:
        """Send nothing more: a line may have been sent in part."""
        peer.is_given_up = True
        peer.unsent = b""
        peer.patience.cancel()

    async def sync(self) -> None:
        """Sync the journals. With `sync`, no client hears of an act before the disk has it. One wait serves
        all acts before it; acts that come meanwhile wait for the next one."""
        journals = self._journals
        assert journals is not None
        try:
            while True:
                await self._sync_wanted.wait()
                self._sync_wanted = trio.Event()
                peers, self._to_sync = self._to_sync, []
                unsynced, journals.unsynced = journals.unsynced, []
                for journal in unsynced:
                    try:
                        await journals.sync(journal)
                    except OSError as error:
                        if journal.match in self.lobby.matches.running:
                            self._take_back(journal.match)
                        self.lobby.matches.journal_failed(journal.match, error, self.clock.now())
                for peer in peers:
                    self._try_to_send(peer, peer.unsynced.popleft().data)
                    if not peer.unsynced:
                        peer.synced.set()
                    if not peer.unsent:
                        self._note_drained(peer, for_disk=True)
                self.flush()
        finally:  # the server ends: clients never hear what the disk does not have now
            self._journals = None
            for peer in self._peers.values():
                self._give_up(peer)
                peer.unsynced.clear()
                peer.synced.set()

    def _take_back(self, match: str) -> None:
        """Drop the lines of a match that the disk did not take, so that no client hears of them."""
        news = re.compile(_NEWS % re.escape(match.encode()))
        for peer in self._peers.values():
            for piece in peer.unsynced:
                piece.data = news.sub(b"", piece.data)

    # -- time ------------------------------------------------------------------------------------

    async def keep_time(self) -> None:
        deadlines = self.lobby.deadlines
        while True:
            deadlines.drop_cleared()
            if deadlines.next > self.clock.now():
                self._earlier = trio.Event()
                with trio.move_on_at(self.clock.wake_by(deadlines.next)):
                    await self._earlier.wait()
            if deadlines.next <= self.clock.now():
                # Let all readers take what is in their sockets: an answer that is there is in time. At the
                # first checkpoint Trio looks at the sockets (a process that was stopped may wake without
                # having looked), at the second the readers read.
                for _ in range(2):
                    await trio.lowlevel.checkpoint()
                self.lobby.run_due(self.clock.now)
                self.flush()

    # -- the end ---------------------------------------------------------------------------------

    async def drain(self) -> None:
        """Take nothing new, let the matches end, and say goodbye. Until then bots that lost their connection
        may come back."""
        self.lobby.drain()
        self.flush()
        await self.idle.wait()
        await self.stop()

    async def stop(self) -> None:
        """Say goodbye now; matches that run stay in their journals."""
        for scope in self._listening:
            scope.cancel()
        self.lobby.shutdown.say_goodbye(self.lobby.connections)
        self.flush()
        self._gone = trio.Event()
        if self._peers:
            with trio.move_on_after(self.lobby.setup.limits.unsent_ms / 1000):
                await self._gone.wait()


def _is_held(peer: _Peer) -> bool:
    session = peer.connection.session
    return session is not None and session.is_held


async def open_listeners(host: str | None, port: int) -> list[trio.SocketListener]:
    """Listen at all addresses of a name, such as localhost, on one port. Otherwise the machine would pick a
    different port for each address."""
    tried = 0
    while True:
        try:
            chosen = port or await _free_port(host)
            return await trio.open_tcp_listeners(chosen, host=host, backlog=BACKLOG)
        except OSError as error:
            tried += 1
            if port or error.errno != errno.EADDRINUSE or tried == PORTS_TRIED:
                raise


async def _free_port(host: str | None) -> int:
    """Return a port that is free at the first of several addresses; 0, which is always free, if there is but
    one."""
    listeners = await trio.open_tcp_listeners(0, host=host)
    port: int = listeners[0].socket.getsockname()[1]
    for listener in listeners:
        await listener.aclose()
    return port if len(listeners) > 1 else 0


def is_loopback(address: str) -> bool:
    """Return whether the traffic of an address stays on this machine."""
    ip = ip_address(address.partition("%")[0])
    mapped = ip.ipv4_mapped if isinstance(ip, IPv6Address) else None
    return (mapped or ip).is_loopback


@asynccontextmanager
async def open_server(
    setup: LobbySetup,
    journals: Journals | None = None,
    *,
    piece_ms: float = PIECE_MS,
    few_connections: int = FEW_CONNECTIONS,
) -> AsyncGenerator[Server]:
    """Open a server for as long as the block runs. In virtual time no wait needs pieces: give it `inf`."""
    clock = ServerClock(piece_ms)
    trio.lowlevel.add_instrument(clock)
    try:
        async with trio.open_nursery() as nursery:
            server = Server(Lobby(setup), clock, nursery, journals, few_connections)
            nursery.start_soon(server.keep_time)
            nursery.start_soon(server.read_sockets)
            if journals is not None and journals.is_synced:
                nursery.start_soon(server.sync)
            try:
                yield server
            finally:
                nursery.cancel_scope.cancel()
    finally:
        trio.lowlevel.remove_instrument(clock)
