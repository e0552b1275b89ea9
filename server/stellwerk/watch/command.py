"""`stellwerk watch`: live pages of a server, of recorded matches, or of a tournament, for browsers.

One line on standard output says where they are; logs go to standard error.
"""

from __future__ import annotations

import argparse
import os
import re
import secrets
import signal
import socket
import sys
import webbrowser
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from stellwerk.shared.choose_game import whole_number
from stellwerk.shared.errors import DONE, FAILED, USAGE, CommandError, infrastructure_error, usage_error
from stellwerk.shared.terminal import say
from stellwerk.shared.version import version
from stellwerk.shared.web_child import LAST_WORDS_S
from stellwerk_base.texts import shown
from stellwerk_protocol.names import PLAYER_NAME
from stellwerk_server.net.listen_address import shown_address
from stellwerk_server.operate.descriptors import raise_limit
from stellwerk_server.operate.logs import LEVELS, LogStream, log_unaccepted, make_log

if TYPE_CHECKING:
    import ssl

    from stellwerk_server.lobby.setup import Log
    from stellwerk_web.show.forms import Kind
    from stellwerk_web.site import Site
    from stellwerk_web.sources.server import ServerSource
    from stellwerk_web.sources.source import Source

DEFAULT_WEB_PORT: Final = 8080
DEFAULT_PACE: Final = 2.0
DEFAULT_TABLES: Final = 4
MOST_TABLES: Final = 9
SENDING_S: Final = 0.25  # the last change, to readers that keep up
NICENESS: Final = 5  # of a process that another one started: matches come first

DESCRIPTION: Final = """\
Show matches in a browser: what runs, what has ended, the ranking, a page for
each match and bot, and a wall of tables for a hall.

SOURCE is a server (HOST:PORT, tcp://HOST:PORT or tls://HOST:PORT) that is
watched as any spectator may, or a folder: replays, or a tournament, running or
over. The pages are for reading, and for this machine, unless you say otherwise.
"""

EXAMPLES: Final = """\
examples:
  stellwerk watch 127.0.0.1:7878
  stellwerk watch tls://play.example.org:7878 --token-file token.txt --name hall
  stellwerk watch stellwerk-data --open
  stellwerk watch cup --port 8081 --tables 6 --pace 3
  stellwerk watch 127.0.0.1:7878 --host-name matches.example.org   # behind a proxy
"""

TOURNAMENT_FILES: Final = frozenset({"tournament.toml", "resolved.json", "matches.jsonl"})

_ADDRESS: Final = re.compile(
    r"(?:(?P<scheme>tcp|tls)://)?(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<host>[^\[\]:/\s]+)):(?P<port>[0-9]{1,5})"
)
_CONTROL: Final = re.compile(r"control:(?P<fd>[0-9]{1,4})")  # from a server that started this process
_HOST_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = DESCRIPTION
    parser.epilog = EXAMPLES
    parser.add_argument("source", metavar="SOURCE", help="HOST:PORT of a server, or a folder")
    parser.add_argument(
        "--port",
        type=whole_number(0, 65_535),
        default=DEFAULT_WEB_PORT,
        help=f"of the pages; 0 takes a free one (default: {DEFAULT_WEB_PORT})",
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="where to listen (default: 127.0.0.1: this machine only)"
    )
    parser.add_argument(
        "--host-name",
        metavar="NAME",
        action="append",
        default=[],
        help="a name under which browsers may find the pages besides localhost; repeatable",
    )
    parser.add_argument(
        "--pace",
        metavar="N",
        type=_pace,
        default=DEFAULT_PACE,
        help=f"moves a second on the wall (default: {DEFAULT_PACE:g})",
    )
    parser.add_argument(
        "--tables",
        metavar="N",
        type=whole_number(1, MOST_TABLES),
        default=DEFAULT_TABLES,
        help=f"on the wall, up to {MOST_TABLES} (default: {DEFAULT_TABLES})",
    )
    parser.add_argument("--title", metavar="TEXT", help="what the pages are called")
    parser.add_argument("--open", action="store_true", help="open the pages in a browser")
    server = parser.add_argument_group("a server that asks who you are")
    server.add_argument("--name", help="the name to log in with (default: watch- and four digits)")
    server.add_argument(
        "--token-file", metavar="FILE", help="the token of that name (default: STELLWERK_TOKEN, if it is set)"
    )
    server.add_argument(
        "--tls-ca", metavar="FILE", help="certificates to trust instead of those of the system"
    )
    parser.add_argument("--until-stdin-ends", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--status-url", metavar="URL", help=argparse.SUPPRESS)
    parser.add_argument("--live-control", metavar="FD", type=whole_number(0, 9999), help=argparse.SUPPRESS)
    parser.add_argument(
        "--log-level", metavar="LEVEL", choices=LEVELS, default="info", help=argparse.SUPPRESS
    )


def run(arguments: argparse.Namespace) -> int:
    for name in arguments.host_name:
        if _HOST_NAME.fullmatch(name) is None:
            raise usage_error(
                f"--host-name: expected a name such as matches.example.org, not {shown(name)!r}"
            )
    descriptors = raise_limit()
    if arguments.until_stdin_ends:
        with suppress(OSError):  # forbidden to services with a filter of system calls
            os.nice(NICENESS)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that started us; we end with it
    log = make_log(LogStream(sys.stderr), arguments.log_level)
    log_unaccepted(log)
    try:
        return trio.run(_watch, arguments, descriptors, log)
    except CommandError as error:
        if not arguments.until_stdin_ends:
            raise
        log.error("web.failed", why=error.message)  # a line of the log that it shares
        return error.exit_code


async def _watch(arguments: argparse.Namespace, descriptors: int, log: Log) -> int:
    # Here, because help needs none of them.
    from stellwerk_http.server import limits_for
    from stellwerk_web.show.model import Shape, Show
    from stellwerk_web.site import Site
    from stellwerk_web.sources.source import SourceError, first_of

    kind, source = _source_of(arguments, log)
    name = _shown_source(arguments.source)
    shape = Shape(
        title=arguments.title or _title(kind, arguments.source),
        kind=kind,
        source=name,
        life=secrets.token_hex(4),
        pace=arguments.pace,
        tables=arguments.tables,
    )
    site = Site(
        Show(shape),
        source,
        version(),
        lambda error: log.error("web.bug", exc_info=error),
        {name.lower() for name in arguments.host_name},
        limits_for(descriptors),
    )
    failure: CommandError
    try:
        async with trio.open_nursery() as nursery:
            try:
                host, port = await site.run(nursery, arguments.host, arguments.port)
            except OSError as error:
                where = f"{arguments.host}:{arguments.port}"
                raise infrastructure_error(
                    f"{where}: cannot listen: {error.strerror or error}; --port 0 takes any free port"
                ) from None
            with trio.open_signal_receiver(signal.SIGTERM) as signals:
                _announce(arguments, host, port, log)
                await _until_told(arguments, signals)
                if arguments.until_stdin_ends:
                    await _show_the_end(site, source)
            nursery.cancel_scope.cancel()
        return DONE
    except* SourceError as errors:
        hopeless = first_of(errors)
        assert isinstance(hopeless, SourceError)
        failure = CommandError(hopeless.message, USAGE if hopeless.is_usage else FAILED)
    except* CommandError as errors:
        found = first_of(errors)
        assert isinstance(found, CommandError)
        failure = found
    raise failure  # out here, because a group would wrap it


def _announce(arguments: argparse.Namespace, host: str, port: int, log: Log) -> None:
    url = f"http://{shown_address(host, port)}/"
    if host not in ("127.0.0.1", "::1"):
        log.warning(
            "web.beyond_this_machine",
            host=host,
            who="anyone who can reach this address",
            advice="put a proxy with TLS in front; see server/README.md",
        )
    say(f"live pages at {url}")
    sys.stdout.flush()
    if arguments.open:
        webbrowser.open(url)


async def _until_told(arguments: argparse.Namespace, signals: AsyncIterator[int]) -> None:
    """Wait for a signal, or, if another process started this one, for its end: it has the other end of a
    pipe."""
    async with trio.open_nursery() as nursery:
        if arguments.until_stdin_ends:
            nursery.start_soon(_end_with_stdin, nursery.cancel_scope)
        await anext(signals)
        nursery.cancel_scope.cancel()


async def _end_with_stdin(scope: trio.CancelScope) -> None:
    async with trio.lowlevel.FdStream(os.dup(0)) as stdin:
        while await stdin.receive_some(64):
            pass
    scope.cancel()


async def _show_the_end(site: Site, source: Source) -> None:
    """Let readers see how it ended, before the pages go with the process that started this one."""
    from stellwerk_web.sources.tournament import TournamentSource

    if isinstance(source, TournamentSource):
        with trio.move_on_after(LAST_WORDS_S / 2):
            await source.look_once_more(site.show)
            site.show.tick(trio.current_time())
            await trio.sleep(SENDING_S)


# -- where matches come from -------------------------------------------------------------------------


def _source_of(arguments: argparse.Namespace, log: Log) -> tuple[Kind, Source]:
    """Return the source that was asked for. CommandError if it cannot be one."""
    control = _CONTROL.fullmatch(arguments.source)
    if control is not None:
        return "server", _server_source(
            arguments, partial(_connect_by_control, socket.socket(fileno=int(control["fd"]))), log
        )
    address = _ADDRESS.fullmatch(arguments.source)
    if address is not None and not Path(arguments.source).exists():
        port = int(address["port"])
        if not 0 < port <= 65_535:
            raise usage_error(f"SOURCE: a port is 1 to 65535, not {port}")
        tls = _tls_context(arguments.tls_ca) if address["scheme"] == "tls" else None
        host = address["v6"] or address["host"]
        return "server", _server_source(arguments, partial(_connect, host, port, tls), log)
    folder = Path(arguments.source)
    if folder.is_dir():
        return _folder_source(arguments, folder, log)
    if folder.exists():
        raise usage_error(f"SOURCE: {shown(arguments.source, 300)}: is a file: name its folder")
    raise usage_error(
        f"SOURCE: expected HOST:PORT of a server, or a folder of replays or of a tournament, "
        f"not {shown(arguments.source, 80)!r}"
    )


def _folder_source(arguments: argparse.Namespace, folder: Path, log: Log) -> tuple[Kind, Source]:
    """Find out what kind of folder it is. CommandError if it is none that can be shown."""
    from stellwerk_web.sources.folder import FolderSource
    from stellwerk_web.sources.tournament import Places, TournamentSource

    try:
        names = set(os.listdir(folder))
    except OSError as error:
        raise usage_error(f"SOURCE: {folder}: cannot be read: {error.strerror or error}") from None
    if names & TOURNAMENT_FILES:
        live = None
        if arguments.live_control is not None:
            connect = partial(_connect_by_control, socket.socket(fileno=arguments.live_control))
            live = _server_source(arguments, connect, log)
        status = None if arguments.status_url is None else _status_address(arguments.status_url)
        places = Places(folder, status, live, shows_hands=not arguments.until_stdin_ends)
        return "tournament", TournamentSource(places, version(), log.warning)
    if "replays" in names and (folder / "replays").is_dir():
        return "folder", FolderSource(folder / "replays", version(), log.info)
    if names and not any(name.endswith(".jsonl") for name in names):
        raise usage_error(
            f"SOURCE: {shown(str(folder), 300)}: nothing to show: neither a tournament (tournament.toml), "
            f"nor the data of a server (replays/), nor replays (*.jsonl)"
        )
    return "folder", FolderSource(folder, version(), log.info)


def _status_address(url: str) -> tuple[str, int]:
    from stellwerk_web.sources.status_page import address_of

    address = address_of(url)
    if address is None:
        raise usage_error(f"--status-url: expected http://HOST:PORT/, not {shown(url, 80)!r}")
    return address


def _server_source(
    arguments: argparse.Namespace, connect: Callable[[], Awaitable[trio.abc.Stream]], log: Log
) -> ServerSource:
    from stellwerk_web.sources.server import Identity, ServerSource

    name = arguments.name or f"watch-{secrets.token_hex(2)}"
    if re.fullmatch(PLAYER_NAME, name) is None:
        raise usage_error(f"--name: expected 1 to 32 letters, digits, _ . -, not {shown(name)!r}")
    identity = Identity(name, _token(arguments.token_file))
    return ServerSource(_shown_source(arguments.source), connect, identity, log.info)


def _token(file: str | None) -> str | None:
    if file is None:
        return os.environ.get("STELLWERK_TOKEN")
    try:
        token = Path(file).read_text("utf-8").strip()
    except OSError as error:
        raise usage_error(f"--token-file: {file}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        token = ""
    if re.fullmatch(r"[!-~]{1,256}", token) is None:
        raise usage_error(f"--token-file: {file}: expected one token, and nothing else")
    return token


def _tls_context(authority: str | None) -> ssl.SSLContext:
    import ssl

    try:
        return ssl.create_default_context(cafile=authority)
    except (OSError, ssl.SSLError) as error:
        raise usage_error(f"--tls-ca: {authority}: cannot be used: {error}") from None


async def _connect(host: str, port: int, tls: ssl.SSLContext | None) -> trio.abc.Stream:
    stream = await trio.open_tcp_stream(host, port)
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # detects a peer that died silently
    if tls is None:
        return stream
    encrypted = trio.SSLStream(stream, tls, server_hostname=host, https_compatible=True)
    await encrypted.do_handshake()
    return encrypted


async def _connect_by_control(control: socket.socket) -> trio.abc.Stream:
    """Open a connection to the server that started this process: hand it one end of a pair of sockets."""
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            socket.send_fds(control, [b"."], [theirs.fileno()])
        except OSError:
            ours.close()
            raise
    ours.setblocking(False)
    return trio.SocketStream(trio.socket.from_stdlib_socket(ours))


def _shown_source(source: str) -> str:
    """Name the source for visitors: of a folder only its name, for they need not know where it is."""
    if _CONTROL.fullmatch(source):
        return "this server"
    path = Path(source)
    return shown(path.resolve().name if path.is_dir() else source)


def _title(kind: Kind, source: str) -> str:
    """Return what the pages are called: a tournament by its title, if it has one."""
    name = _shown_source(source)
    if kind != "tournament":
        return f"Matches of {name}"
    from stellwerk_tournament.config.settings import SettingsError, parse

    try:
        return parse(Path(source)).file.title or name
    except (SettingsError, OSError):
        return name


def _pace(text: str) -> float:
    try:
        pace = float(text)
    except ValueError:
        pace = 0.0
    if not 0.1 <= pace <= 100:
        raise argparse.ArgumentTypeError(f"expected a number from 0.1 to 100, not {text!r}")
    return pace
