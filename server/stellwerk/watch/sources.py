"""The SOURCE of `stellwerk watch`: a server, the parent's server, a folder of replays or of a tournament."""

from __future__ import annotations

import os
import re
import secrets
import socket
import ssl
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from stellwerk.shared.addresses import ServerAddress, server_address
from stellwerk.shared.errors import reading, usage_error
from stellwerk.shared.version import version
from stellwerk.shared.web_child import PARENTS_SERVER, TOKEN, Parent
from stellwerk_base.texts import quoted, shown
from stellwerk_protocol.names import PLAYER_NAME, PLAYER_NAME_IN_WORDS
from stellwerk_tournament.config.settings import SettingsError, parse
from stellwerk_web.sources.folder import FolderSource
from stellwerk_web.sources.server import Identity, ServerSource
from stellwerk_web.sources.status_page import address_of
from stellwerk_web.sources.tournament import Places, TournamentSource

if TYPE_CHECKING:
    from stellwerk_server.lobby.setup import Log
    from stellwerk_web.show.forms import Kind
    from stellwerk_web.sources.source import Source

TOURNAMENT_FILES: Final = frozenset({"tournament.toml", "resolved.json", "matches.jsonl"})


def open_source(text: str, name: str | None, parent: Parent | None, log: Log) -> tuple[Kind, Source]:
    """Return the source, and of what kind it is. CommandError if there is no such source."""
    if text == PARENTS_SERVER and parent is not None and parent.control is not None:
        return "server", _server_source(text, name, _connect_by_parent(parent.control), log)
    address = server_address("SOURCE", text)
    folder = Path(text)
    if address is not None and not folder.exists():
        context = ssl.create_default_context() if address.tls else None
        return "server", _server_source(text, name, partial(_connect, address, context), log)
    if folder.is_dir():
        return _folder_source(folder, name, parent, log)
    if folder.exists():
        raise usage_error(f"SOURCE: {shown(text, 300)}: is a file: name its folder")
    raise usage_error(
        f"SOURCE: expected HOST:PORT of a server, or a folder of replays or of a tournament, "
        f"not {shown(text, 80)!r}"
    )


def shown_source(text: str) -> str:
    """Name the source for visitors. They need not know where on this machine a folder is."""
    if text == PARENTS_SERVER:
        return "this server"
    path = Path(text)
    return shown(path.resolve().name if path.is_dir() else text)


def title_of(kind: Kind, text: str) -> str:
    """Return what the pages are called: a tournament by its title, if it has one."""
    name = shown_source(text)
    if kind != "tournament":
        return f"Matches of {name}"
    try:
        return parse(Path(text)).file.title or name
    except (SettingsError, OSError):
        return name


def _folder_source(folder: Path, name: str | None, parent: Parent | None, log: Log) -> tuple[Kind, Source]:
    with reading(f"SOURCE: {folder}"):
        names = set(os.listdir(folder))
    if names & TOURNAMENT_FILES:
        live = status = None
        if parent is not None and parent.control is not None:
            live = _server_source(str(folder), name, _connect_by_parent(parent.control), log)
        if parent is not None and parent.status is not None:
            status = address_of(parent.status)
        places = Places(folder, status, live, shows_hands=parent is None)
        return "tournament", TournamentSource(places, version(), log.warning)
    if "replays" in names and (folder / "replays").is_dir():
        return "folder", FolderSource(folder / "replays", version(), log.info)
    if names and not any(name.endswith(".jsonl") for name in names):
        raise usage_error(
            f"SOURCE: {shown(str(folder), 300)}: nothing to show: neither a tournament (tournament.toml), "
            f"nor the data of a server (replays/), nor replays (*.jsonl)"
        )
    return "folder", FolderSource(folder, version(), log.info)


def _server_source(
    text: str, name: str | None, connect: Callable[[], Awaitable[trio.abc.Stream]], log: Log
) -> ServerSource:
    name = name or f"watch-{secrets.token_hex(2)}"
    if re.fullmatch(PLAYER_NAME, name) is None:
        raise usage_error(f"--name: expected {PLAYER_NAME_IN_WORDS}, found {quoted(name)}")
    return ServerSource(shown_source(text), connect, Identity(name, os.environ.get(TOKEN)), log.info)


async def _connect(address: ServerAddress, context: ssl.SSLContext | None) -> trio.abc.Stream:
    stream = await trio.open_tcp_stream(address.host, address.port)
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # detects a peer that died silently
    if context is None:
        return stream
    encrypted = trio.SSLStream(stream, context, server_hostname=address.host, https_compatible=True)
    await encrypted.do_handshake()
    return encrypted


def _connect_by_parent(descriptor: int) -> Callable[[], Awaitable[trio.abc.Stream]]:
    """Return what opens a connection to the parent's server: it sends one end of a pair of sockets over the
    control socket."""
    control = socket.socket(fileno=descriptor)

    async def connect() -> trio.abc.Stream:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(control, [b"."], [theirs.fileno()])
            except OSError:
                ours.close()
                raise
        ours.setblocking(False)
        return trio.SocketStream(trio.socket.from_stdlib_socket(ours))

    return connect
