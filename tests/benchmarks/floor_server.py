"""The least that a server can do for a decision: the same system calls as Stellwerk's, with constant bytes.

    python -m tests.benchmarks.floor_server trio|epoll JOURNAL_BYTES SHORT_BYTES LONG_BYTES

For each line of a client it writes to a journal, sends a short message back, and a long one to the client's
partner: one receive, one write, two sends. `trio` does it in Stellwerk's own design, a task a connection
that waits until its socket is readable, and non-blocking calls; `epoll` is a loop over one epoll without
any library, which is the limit of the machine. Clients are partners in the order in which they connect, two
by two. Ready, it prints `listening on HOST:PORT`.
"""

from __future__ import annotations

import os
import select
import socket
import sys
from collections.abc import Callable
from tempfile import TemporaryFile
from typing import Final

import trio

RECEIVE_BYTES: Final = 65_536
BACKLOG: Final = 1024


class Floor:
    """What is done for a line, whatever waits for it."""

    def __init__(self, journal: int, journal_bytes: int, short_bytes: int, long_bytes: int) -> None:
        self._journal = journal
        self._record = b"x" * (journal_bytes - 1) + b"\n"
        self._short = b"s" * (short_bytes - 1) + b"\n"
        self._long = b"l" * (long_bytes - 1) + b"\n"
        self._partners: dict[socket.socket, socket.socket] = {}
        self._single: socket.socket | None = None

    def add(self, client: socket.socket) -> None:
        client.setblocking(False)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._single is None:
            self._single = client
        else:
            self._partners[client], self._partners[self._single] = self._single, client
            self._single.send(self._long)  # the first act is its
            self._single = None

    def serve(self, client: socket.socket) -> bool:
        """Answer what has come; False at the end of the stream."""
        data = client.recv(RECEIVE_BYTES)
        for _ in range(data.count(b"\n")):
            os.write(self._journal, self._record)
            client.send(self._short)
            self._partners[client].send(self._long)
        return bool(data)


async def serve_with_trio(listener: socket.socket, floor: Floor) -> None:
    async def serve(client: socket.socket) -> None:
        while True:
            await trio.lowlevel.wait_readable(client)
            if not floor.serve(client):
                return

    async with trio.open_nursery() as nursery:
        while True:
            await trio.lowlevel.wait_readable(listener)
            client, _ = listener.accept()
            floor.add(client)
            nursery.start_soon(serve, client)


def serve_with_epoll(listener: socket.socket, floor: Floor) -> None:
    epoll = select.epoll()
    epoll.register(listener.fileno(), select.EPOLLIN)
    clients: dict[int, socket.socket] = {}
    while True:
        for descriptor, _ in epoll.poll():
            if descriptor == listener.fileno():
                client, _ = listener.accept()
                floor.add(client)
                clients[client.fileno()] = client
                epoll.register(client.fileno(), select.EPOLLIN)
            elif not floor.serve(clients[descriptor]):
                epoll.unregister(descriptor)


def main(kind: str, *sizes: int) -> None:
    listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
    host, port = listener.getsockname()
    run: Callable[[Floor], object] = (
        (lambda floor: trio.run(serve_with_trio, listener, floor))
        if kind == "trio"
        else (lambda floor: serve_with_epoll(listener, floor))
    )
    with TemporaryFile() as journal:
        floor = Floor(journal.fileno(), *sizes)
        print(f"listening on {host}:{port}", flush=True)
        run(floor)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
