"""`stellwerk watch`: live pages of a server, of recorded matches, or of a tournament, for browsers.

One line on standard output says where they are; logs go to standard error.
"""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import sys
import webbrowser
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec
import trio

from stellwerk.shared.addresses import PAGES, THIS_MACHINE, PagesAddress, pages_address
from stellwerk.shared.errors import DONE, FAILED, USAGE, CommandError, infrastructure_error
from stellwerk.shared.parser import argument, decimal, whole_number
from stellwerk.shared.terminal import say
from stellwerk.shared.version import version
from stellwerk.shared.web_child import LAST_WORDS_S, Parent
from stellwerk_server.net.listen_address import shown_address
from stellwerk_server.operate.logs import LogStream, log_unaccepted, make_log
from stellwerk_server.operate.resources import raise_limit

if TYPE_CHECKING:
    from stellwerk_server.lobby.setup import Log
    from stellwerk_web.site import Site
    from stellwerk_web.sources.source import Source

MOST_TABLES: Final = 9
SENDING_S: Final = 0.25  # the last change, to readers that keep up
NICENESS: Final = 5  # of a process that another one started: matches come first

DESCRIPTION: Final = """\
Show matches in a browser: what runs, what has ended, the ranking, a page for
each match and bot, and a wall of tables for a hall.

SOURCE is a server (HOST:PORT, tcp://HOST:PORT or tls://HOST:PORT) that is
watched as any spectator may, or a folder: replays, or a tournament, running or
over. The pages are for reading, and for this machine, unless --listen has a HOST.

A server that asks for tokens gets the one in the variable STELLWERK_TOKEN.
SSL_CERT_FILE names the certificates to trust instead of those of the system.
"""

EXAMPLES: Final = """\
examples:
  stellwerk watch 127.0.0.1:7878
  stellwerk watch stellwerk-data --open
  stellwerk watch cup --listen 8081 --tables 6 --pace 3
  stellwerk watch 127.0.0.1:7878 --listen 8080,matches.example.org   # behind a proxy of this name
  STELLWERK_TOKEN=... stellwerk watch tls://play.example.org:7878 --name hall
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES
    add = partial(argument, parser)
    add("SOURCE", "HOST:PORT of a server, or a folder")
    add(
        f"--listen {PAGES}",
        "where the pages are, and the names under which browsers may find them besides localhost; "
        "port 0 takes a free one",
        default=f"{THIS_MACHINE}:8080",
    )
    add("--pace N", "moves a second on the wall", decimal(0.1, 100), default=2.0)
    add("--tables N", f"on the wall, up to {MOST_TABLES}", whole_number(1, MOST_TABLES), default=4)
    add("--title TEXT", "what the pages are called")
    add("--open", "open the pages in a browser")
    add("--name NAME", "the name to log in with (default: watch- and four digits)")
    add("--parent JSON", argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    listen_at = pages_address("--listen", arguments.listen)
    parent: Parent | None = None
    if arguments.parent is not None:
        parent = msgspec.json.decode(arguments.parent, type=Parent)
        with suppress(OSError):  # forbidden to services with a filter of system calls
            os.nice(NICENESS)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent; we end with it
    descriptors = raise_limit()
    log = make_log(LogStream(sys.stderr), "info" if parent is None else parent.log_level)
    log_unaccepted(log)
    try:
        return trio.run(_serve_pages, arguments, listen_at, parent, descriptors, log)
    except CommandError as error:
        if parent is None:
            raise
        log.error("web.failed", why=error.message)  # a line of the log that it shares
        return error.exit_code


async def _serve_pages(
    arguments: argparse.Namespace, listen_at: PagesAddress, parent: Parent | None, descriptors: int, log: Log
) -> int:
    # Here, because help needs none of them.
    from stellwerk.watch.sources import open_source, shown_source, title_of
    from stellwerk_http.server import limits_for
    from stellwerk_web.show.model import Show, ShowSettings
    from stellwerk_web.site import Site
    from stellwerk_web.sources.source import SourceError, first_of

    kind, source = open_source(arguments.source, arguments.name, parent, log)
    shape = ShowSettings(
        title=arguments.title or title_of(kind, arguments.source),
        kind=kind,
        source=shown_source(arguments.source),
        life=secrets.token_hex(4),
        pace=arguments.pace,
        tables=arguments.tables,
    )
    site = Site(
        Show(shape),
        source,
        version(),
        lambda error: log.error("web.bug", exc_info=error),
        listen_at.names,
        limits_for(descriptors),
    )
    failure: CommandError
    try:
        async with trio.open_nursery() as nursery:
            try:
                host, port = await site.run(nursery, listen_at.host, listen_at.port)
            except OSError as error:
                where = shown_address(listen_at.host, listen_at.port)
                raise infrastructure_error(
                    f"{where}: cannot listen: {error.strerror or error}; port 0 takes any free one"
                ) from None
            with trio.open_signal_receiver(signal.SIGTERM) as signals:
                _announce(host, port, log, opens=arguments.open)
                if parent is None:
                    await anext(signals)
                else:
                    await _wait_for_end(signals)
                    await _show_the_end(site, source)
            nursery.cancel_scope.cancel()
        return DONE
    except* SourceError as errors:
        hopeless = first_of(errors)
        assert isinstance(hopeless, SourceError)
        failure = CommandError(hopeless.message, USAGE if hopeless.is_usage else FAILED)
    except* CommandError as errors:
        first = first_of(errors)
        assert isinstance(first, CommandError)
        failure = first
    raise failure  # out here, because a group would wrap it


def _announce(host: str, port: int, log: Log, *, opens: bool) -> None:
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
    if opens:
        webbrowser.open(url)


async def _wait_for_end(signals: AsyncIterator[int]) -> None:
    """Wait for a signal, or for the end of the parent, which holds the other end of the pipe."""
    async with trio.open_nursery() as nursery:

        async def end_with_parent() -> None:
            async with trio.lowlevel.FdStream(os.dup(0)) as stdin:
                while await stdin.receive_some(64):
                    pass
            nursery.cancel_scope.cancel()

        nursery.start_soon(end_with_parent)
        await anext(signals)
        nursery.cancel_scope.cancel()


async def _show_the_end(site: Site, source: Source) -> None:
    """Let readers see how a tournament ended, before the pages end with their parent."""
    from stellwerk_web.sources.tournament import TournamentSource

    if isinstance(source, TournamentSource):
        with trio.move_on_after(LAST_WORDS_S / 2):
            await source.look_once_more(site.show)
            site.show.tick(trio.current_time())
            await trio.sleep(SENDING_S)
