"""`stellwerk serve --web`: the process that shows the server's matches to browsers.

It is a spectator like any other, over connections that nobody else can open: it makes a pair of sockets,
and hands one of them to the server over a control socket, which it got when it was started.

Law: whatever becomes of it, the matches go on.
"""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import trio

from stellwerk.shared.web_child import WebAddress, run_web_child
from stellwerk_server.lobby.tokens import TokenHolder, hashed, new_token

if TYPE_CHECKING:
    from stellwerk_server.lobby.setup import Log
    from stellwerk_server.net.server import Server

ADDRESS: Final = "web"  # in the log
MOST_AT_ONCE: Final = 4  # descriptors in one message


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


async def show_matches(
    server: Server, pages: WebAddress, login: WebLogin, log: Log, *, shows_token: bool
) -> None:
    """Run the process until it ends, or the server does."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        words = [f"control:{theirs.fileno()}", *pages.words(), "--name", login.name]
        variables = {name: value for name, value in os.environ.items() if name != "STELLWERK_TOKEN"}
        if shows_token:
            variables["STELLWERK_TOKEN"] = login.token
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_let_in, server, ours)
            await run_web_child(
                words,
                lambda url: log.info("web.listening", url=url),
                lambda why: log.error("web.ended", why=why),
                pass_fds=[theirs.fileno()],
                variables=variables,
            )
            nursery.cancel_scope.cancel()


async def _let_in(server: Server, control: socket.socket) -> None:
    """Serve each connection that the process opens."""
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
            return  # the process has gone
