"""Live pages beside another command: `stellwerk watch` as a process of its own, which ends with its parent.

The pages watch the parent's server as any spectator does. They reach it over a way of their own: they make a
pair of sockets, and send one of them to the parent over a control socket, which they got when they were
started. On a server with tokens they have one that no file contains.

Law: the pages cannot delay or end the command. If they end, it continues, and reports that in one line.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec
import trio
from msgspec import Struct

from stellwerk_server.lobby.tokens import TokenHolder, hashed, new_token

if TYPE_CHECKING:
    from stellwerk_server.net.server import Server

ANNOUNCED: Final = b"live pages at "
MOST_ANNOUNCED: Final = 1000
LAST_WORDS_S: Final = 5.0  # for the process to show how it all ended
PARENTS_SERVER: Final = "-"  # as SOURCE: the server of the process that started the pages
SPECTATOR: Final = "web"  # in the log, instead of an address
MOST_SOCKETS: Final = 4  # in one message
TOKEN: Final = "STELLWERK_TOKEN"


class Parent(Struct, frozen=True, omit_defaults=True):
    """Facts for the pages from the process that starts them."""

    control: int | None = None  # the descriptor of the control socket
    status: str | None = None  # the URL of a runner's status page
    log_level: str = "info"


@dataclass(frozen=True, slots=True)
class WebLogin:
    """The name and the token with which the pages log in."""

    name: str
    token: str

    @classmethod
    def drawn(cls) -> WebLogin:
        return cls(f"web-{secrets.token_hex(4)}", new_token())

    @property
    def holder(self) -> TokenHolder:
        return TokenHolder(self.name, hashed(self.token), is_organizer=False)


@dataclass(frozen=True, slots=True)
class WatchedServer:
    """The server that the pages watch. They get their token only if it asks for tokens."""

    server: Server
    login: WebLogin
    asks_for_token: bool


async def run_web_child(
    source: str,
    pages: str,
    on_url: Callable[[str], object],
    on_end: Callable[[str], object],
    *,
    parent: Parent,
    watched: WatchedServer | None = None,
) -> None:
    """Run `stellwerk watch` on a source until it ends or this task is cancelled. `pages` is the address for
    its `--listen`. `on_url` gets the address of its pages, `on_end` one line if it ends by itself."""
    words = [source, "--listen", pages]
    variables = {name: value for name, value in os.environ.items() if name != TOKEN}
    if watched is None:
        await _run_pages(words, parent, variables, on_url, on_end)
        return
    if watched.asks_for_token:
        variables[TOKEN] = watched.login.token
    ours, theirs = socket.socketpair()
    with ours, theirs:
        words += ["--name", watched.login.name]
        parent = msgspec.structs.replace(parent, control=theirs.fileno())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_let_in, watched.server, ours)
            await _run_pages(words, parent, variables, on_url, on_end, [theirs.fileno()])
            nursery.cancel_scope.cancel()


async def _run_pages(
    words: Sequence[str],
    parent: Parent,
    variables: Mapping[str, str],
    on_url: Callable[[str], object],
    on_end: Callable[[str], object],
    descriptors: Sequence[int] = (),
) -> None:
    """Start the process, and wait for its end. It reads from a pipe into which nothing is written. The pipe
    ends with this process, even if that is killed, and then the pages end."""
    told = msgspec.json.encode(parent).decode()
    command = [sys.executable, "-m", "stellwerk", "watch", *words, "--parent", told]
    try:
        process = await trio.lowlevel.open_process(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=descriptors, env=variables
        )
    except OSError as error:
        on_end(f"cannot be started: {error.strerror or error}")
        return
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        await _read_url(process.stdout, on_url)
        code = await process.wait()
        on_end(f"ended with exit code {code}; matches go on")
    finally:
        with trio.CancelScope(shield=True):
            await process.stdin.aclose()
            with trio.move_on_after(LAST_WORDS_S):
                await process.wait()
            if process.returncode is None:
                process.kill()
                await process.wait()
            await process.stdout.aclose()


async def _read_url(stdout: trio.abc.ReceiveStream, on_url: Callable[[str], object]) -> None:
    line = b""
    while not line.endswith(b"\n") and len(line) < MOST_ANNOUNCED:
        data = bytes(await stdout.receive_some(MOST_ANNOUNCED))
        if not data:
            return
        line += data
    if line.startswith(ANNOUNCED):
        on_url(line.removeprefix(ANNOUNCED).decode(errors="replace").strip())


async def _let_in(server: Server, control: socket.socket) -> None:
    """Serve each connection that the pages open, until they have ended."""
    control.setblocking(False)
    while True:
        await trio.lowlevel.wait_readable(control)
        try:
            data, descriptors, _, _ = socket.recv_fds(control, 1, MOST_SOCKETS)
        except BlockingIOError:
            continue
        except OSError:
            return
        for descriptor in descriptors:
            server.nursery.start_soon(server.serve_socket, socket.socket(fileno=descriptor), SPECTATOR)
        if not data:
            return
