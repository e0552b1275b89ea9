"""`stellwerk serve`: matches over TCP for bots in any language.

One line on standard output says where it listens; logs go to standard error.
"""

from __future__ import annotations

import argparse
import errno
import os
import secrets
import signal
import ssl
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from stellwerk.serve.config import Config, add_config_arguments, read_config
from stellwerk.shared.addresses import listen_address, pages_address
from stellwerk.shared.errors import (
    DONE,
    FAILED,
    CommandError,
    infrastructure_error,
    reading,
    refusing,
    usage_error,
    writing,
)
from stellwerk.shared.house_bots import house_bots
from stellwerk.shared.listen_arguments import tls_context
from stellwerk.shared.terminal import say
from stellwerk.shared.version import version
from stellwerk.shared.web_child import PARENTS_SERVER, Parent, WatchedServer, WebLogin, run_web_child
from stellwerk_base.texts import unknown
from stellwerk_engine.boards.board_file import BoardError, BoardFile, load_board
from stellwerk_engine.core.game import GameError, make_game
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.limits import check_line
from stellwerk_server.journal.journal import FileJournal, Journals
from stellwerk_server.lobby.admission import Network
from stellwerk_server.lobby.news import nobody_listens
from stellwerk_server.lobby.recovery import recover
from stellwerk_server.lobby.rooms import GameShelf
from stellwerk_server.lobby.setup import LobbySetup, Log
from stellwerk_server.lobby.tokens import TokenFileError, Tokens, read_tokens
from stellwerk_server.net.listen_address import shown_address
from stellwerk_server.net.server import Server, is_loopback, open_server
from stellwerk_server.net.status import StatusPage
from stellwerk_server.operate.logs import LogStream, log_unaccepted, make_log
from stellwerk_server.operate.resources import (
    KEPT_FREE_BY_MATCHES,
    collect_rarely,
    raise_limit,
    room_for_more,
)

if TYPE_CHECKING:
    from stellwerk_server.net.metrics import Metrics

DESCRIPTION: Final = """\
Serve matches over TCP. Bots connect, log in and join; protocol/README.md says how.

The folder of --data has everything that a match needs to continue: after a
crash, start the server again with the same folder, and the bots resume. The
first SIGTERM or Ctrl-C lets running matches end; the second one stops at once.
SIGHUP makes a server without a terminal read tokens and certificate again.
"""

EXAMPLES: Final = """\
examples:
  stellwerk serve
  stellwerk serve --listen 0 --data /tmp/games --status 7879
  stellwerk serve --web 8080
  stellwerk serve --web 8080,matches.example.org   # behind a proxy of this name
  stellwerk serve --config server.toml --set time.move_ms=200 --set sync=true
  stellwerk serve --listen 0.0.0.0:7878 --tokens tokens.txt --tls-cert cert.pem --tls-key key.pem

An address without HOST is on this machine only. A config file has the same names,
and more; server/README.md lists them:
  listen = "0.0.0.0:7878"
  data = "games"
  [time]
  move_ms = 200
"""


@dataclass(frozen=True, slots=True)
class Access:
    """The tokens and the certificate: what SIGHUP reads again."""

    tokens: Tokens | None
    tls: ssl.SSLContext | None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A config without mistakes, with what it names read and opened."""

    config: Config
    listen_at: tuple[str, int]
    status_at: tuple[str, int] | None
    games: GameShelf
    access: Access
    trusted: tuple[Network, ...]
    journals: Journals


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES
    add_config_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    config = read_config(arguments)
    prepared = _prepare(config)
    stream = LogStream(sys.stderr)
    log = make_log(stream, config.log_level)
    log_unaccepted(log)
    collect_rarely()
    return trio.run(_serve, prepared, log, lambda: stream.dropped)


def _prepare(config: Config) -> Prepared:
    listen_at = listen_address("listen", config.listen)
    status_at = None if config.status is None else listen_address("status", config.status)
    if config.web is not None:
        pages_address("web", config.web)
    with refusing(ValueError, where="trusted: expected a network such as 10.0.0.0/8"):
        trusted = tuple(map(ip_network, config.trusted))
    access = _read_access(config)
    games = GameShelf(dict(_own_board(text) for text in config.board))
    with writing(config.data):
        try:
            journals = Journals(Path(config.data), sync=config.sync)
            journals.hold()
        except BlockingIOError:
            raise infrastructure_error(f"{config.data}: another server uses it") from None
    return Prepared(config, listen_at, status_at, games, access, trusted, journals)


def _read_access(config: Config) -> Access:
    """Read the tokens and the certificate. CommandError if one of them cannot be used."""
    tls = tls_context(config.tls_cert, config.tls_key)
    if config.tokens is None:
        return Access(None, tls)
    with reading(config.tokens), refusing(TokenFileError):
        return Access(read_tokens(Path(config.tokens)), tls)


def _own_board(text: str) -> tuple[str, BoardFile]:
    game, equals, path = text.partition("=")
    if not equals:
        raise usage_error(f"--board: expected GAME=FILE, not {text!r}")
    if game not in RULE_SETS:
        raise usage_error(f"--board: {unknown('game', game, RULE_SETS)}")
    with refusing(BoardError, GameError):
        board = load_board(path)
        for seats in RULE_SETS[game].seat_counts:
            check_line(make_game(RULE_SETS[game], board, seats))
    return game, board


# -- the server --------------------------------------------------------------------------------------


async def _serve(prepared: Prepared, log: Log, lines_dropped: Callable[[], int]) -> int:
    config, journals = prepared.config, prepared.journals
    journals.on_removed = lambda match: log.error(
        "journal.removed", match=match, advice="it goes on, and would be lost in a crash"
    )
    metrics: Metrics | None = None
    if prepared.status_at is not None:
        from stellwerk_server.net.metrics import Metrics  # imports a library that only the status page needs

        metrics = Metrics()
    web = None if config.web is None else WebLogin.drawn()
    tokens = _with_pages(prepared.access.tokens, web)
    setup = _set_up(prepared, log, lines_dropped, tokens, metrics)
    host, port = prepared.listen_at
    failure: Exception
    async with open_server(setup, journals) as server:
        try:
            reached = await server.listen(host, port, prepared.access.tls)
            _bring_back(server, journals, log)  # before any client can resume
            if tokens is not None:  # those of the sessions that were brought back may be gone
                server.lobby.logins.take_tokens(tokens, server.clock.now())
            if prepared.status_at is not None and metrics is not None:
                host, port = prepared.status_at
                status_at = await StatusPage(server, metrics).listen(host, port)
                log.info("status.listening", url=f"http://{shown_address(*status_at)}/")
        except OSError as error:
            where = shown_address(host, port)
            failure = infrastructure_error(f"{where}: cannot listen: {error.strerror or error}")
        else:
            if not is_loopback(reached[0]):
                is_safe = config.tokens is not None and config.tls_cert is not None
                log.warning(
                    "listening.beyond_this_machine",
                    host=reached[0],
                    who="anyone who can reach this address" if tokens is None else "anyone with a token",
                    encrypted=config.tls_cert is not None,
                    advice=None if is_safe else "use --tokens, --tls-cert and --tls-key",
                )
            signals_heeded = [signal.SIGTERM, signal.SIGINT]
            if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup ignores it
                signals_heeded.append(signal.SIGHUP)
            with trio.open_signal_receiver(*signals_heeded) as signals:
                try:
                    say(f"listening on {shown_address(*reached)}")
                    sys.stdout.flush()
                except OSError as error:
                    failure = error
                else:
                    if web is not None and config.web is not None:
                        show_matches = partial(
                            run_web_child,
                            PARENTS_SERVER,
                            config.web,
                            lambda url: log.info("web.listening", url=url),
                            lambda why: log.error("web.ended", why=why),
                            parent=Parent(),
                            watched=WatchedServer(server, web, asks_for_token=tokens is not None),
                        )
                        server.nursery.start_soon(show_matches)
                    ends = _yield_ends(signals, partial(_read_again, server, config, web, log))
                    return await _until_signalled(server, ends, log)
    raise failure  # out here, because a nursery would wrap it


def _set_up(
    prepared: Prepared,
    log: Log,
    lines_dropped: Callable[[], int],
    tokens: Tokens | None,
    metrics: Metrics | None,
) -> LobbySetup:
    config = prepared.config
    descriptors = raise_limit()
    has_room = room_for_more(descriptors, KEPT_FREE_BY_MATCHES)

    def open_journal(match: str) -> FileJournal:
        """Refuse when few descriptors are left, because running matches need some to end."""
        if not has_room():
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return prepared.journals.open(match)

    return LobbySetup(
        server=f"stellwerk {version()}",
        limits=config.limits,
        time=config.time,
        games=prepared.games,
        log=log,
        log_lines_dropped=lines_dropped,
        entropy=secrets.token_bytes,
        house_bots=house_bots() if config.house_bots else {},
        open_journal=open_journal,
        tokens=tokens,
        plaintext_tokens=config.plaintext_tokens,
        may_connect=room_for_more(descriptors),
        trusted=prepared.trusted,
        listener=nobody_listens if metrics is None else metrics.hear,
    )


def _with_pages(tokens: Tokens | None, web: WebLogin | None) -> Tokens | None:
    """Add the token of the server's own live pages."""
    return tokens if tokens is None or web is None else tokens.and_also(web.holder)


def _bring_back(server: Server, journals: Journals, log: Log) -> None:
    recovered = recover(server.lobby, journals, server.clock.now())
    for match in recovered.resumed:
        log.info("match.resumed", match=match, cut=match in recovered.cut)
    for match in recovered.ended:
        log.info("match.kept", match=match)
    for match in recovered.unborn:
        log.info("match.never_began", match=match)
    for name, why in recovered.put_aside.items():
        log.error("journal.unusable", journal=name, error=why)
    server.flush()


async def _yield_ends(signals: AsyncIterator[int], read_again: Callable[[], None]) -> AsyncGenerator[int]:
    """Yield the signals that end the server. SIGHUP is one of them if the server belongs to a terminal,
    because that was closed then. Elsewhere it means to read files again."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
        belongs_to_a_terminal = True
    except OSError:
        belongs_to_a_terminal = False
    async for number in signals:
        if number == signal.SIGHUP and not belongs_to_a_terminal:
            read_again()
        else:
            yield number


def _read_again(server: Server, config: Config, web: WebLogin | None, log: Log) -> None:
    """Read tokens and certificate again. If one of them cannot be used, both stay as they are."""
    try:
        access = _read_access(config)
    except CommandError as error:
        log.error("access.not_read", error=error.message, advice="the files read before stay in use")
        return
    server.newest_tls = access.tls
    tokens = _with_pages(access.tokens, web)
    if tokens is not None:
        server.lobby.logins.take_tokens(tokens, server.clock.now())
        server.flush()
    count = None if access.tokens is None else len(access.tokens.holders)
    log.info("access.read_again", tokens=count, certificate=config.tls_cert)


async def _until_signalled(server: Server, signals: AsyncIterator[int], log: Log) -> int:
    """Let the matches end after the first signal. After the second one stop at once, and leave the matches in
    their journals."""
    number = await anext(signals)
    running = len(server.lobby.matches.running)
    log.info("server.draining", signal=signal.Signals(number).name, matches=running)
    stopped_early = False
    async with trio.open_nursery() as nursery:

        async def stop_at_once() -> None:
            nonlocal stopped_early
            await anext(signals)
            stopped_early = True
            await server.stop()
            nursery.cancel_scope.cancel()

        nursery.start_soon(stop_at_once)
        await server.drain()
        nursery.cancel_scope.cancel()
    log.info("server.stopped", matches_left=len(server.lobby.matches.running))
    return FAILED if stopped_early else DONE
