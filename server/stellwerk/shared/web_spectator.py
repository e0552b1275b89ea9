"""The server's side of live pages beside it: the process that shows its matches is a spectator like others.

It connects over what nobody else can open: it makes a pair of sockets, and hands one of them to the server
over a control socket, which it got when it was started.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import trio

from stellwerk_server.lobby.tokens import TokenHolder, hashed, new_token

if TYPE_CHECKING:
    from stellwerk_server.net.server import Server

ADDRESS: Final = "web"  # in the log
MOST_AT_ONCE: Final = 4  # descriptors in one message
TOKEN: Final = "STELLWERK_TOKEN"


@dataclass(frozen=True, slots=True)
class WebLogin:
    """How the process logs in. On a server with tokens it has one of its own, which no file has."""

    name: str
    token: str

    @classmethod
    def drawn(cls) -> WebLogin:
        return cls(f"web-{secrets.token_hex(4)}", new_token())

    @property
    def holder(self) -> TokenHolder:
        return TokenHolder(self.name, hashed(self.token), is_organizer=False)


def environment(token: str | None = None) -> dict[str, str]:
    """Return the environment of the process: this one's, with its own token or none."""
    variables = {name: value for name, value in os.environ.items() if name != TOKEN}
    return variables if token is None else {**variables, TOKEN: token}


@contextmanager
def control_sockets() -> Generator[tuple[socket.socket, socket.socket]]:
    """Make the control socket: the server's end, and that of the process."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


async def let_in(server: Server, control: socket.socket) -> None:
    """Serve each connection that the process opens, until it has gone."""
    control.setblocking(False)
    while True:
        await trio.lowlevel.wait_readable(control)
        try:
            data, descriptors, _, _ = socket.recv_fds(control, 1, MOST_AT_ONCE)
        except BlockingIOError:
            continue
        except OSError:
            return
        for descriptor in descriptors:
            server.nursery.start_soon(server.serve_socket, socket.socket(fileno=descriptor), ADDRESS)
        if not data:
            return
