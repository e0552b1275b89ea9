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
import tomllib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
import trio
from msgspec import Meta, Struct

from stellwerk.serve.web import show_matches
from stellwerk.shared.choose_game import whole_number
from stellwerk.shared.errors import (
    DONE,
    FAILED,
    CommandError,
    infrastructure_error,
    not_writable,
    usage_error,
)
from stellwerk.shared.house_bots import house_bots
from stellwerk.shared.listen_arguments import tls_context
from stellwerk.shared.terminal import say
from stellwerk.shared.version import version
from stellwerk.shared.web_child import WebAddress, add_web_arguments
from stellwerk.shared.web_spectator import WebLogin
from stellwerk_base.texts import unknown
from stellwerk_engine.boards.board_file import BoardError, BoardFile, load_board
from stellwerk_engine.core.game import GameError, make_game
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.limits import check_line
from stellwerk_server.journal.journal import FileJournal, Journals
from stellwerk_server.lobby.admission import LOOPBACK, Network
from stellwerk_server.lobby.news import nobody_listens
from stellwerk_server.lobby.recovery import recover
from stellwerk_server.lobby.rooms import GameShelf
from stellwerk_server.lobby.setup import LobbySetup, Log
from stellwerk_server.lobby.tokens import TokenFileError, Tokens, read_tokens
from stellwerk_server.net.listen_address import shown_address
from stellwerk_server.net.server import Server, is_loopback, open_server
from stellwerk_server.net.status import StatusPage
from stellwerk_server.operate.collector import collect_rarely
from stellwerk_server.operate.descriptors import KEPT_FREE_BY_MATCHES, raise_limit, room_for_more
from stellwerk_server.operate.logs import LEVELS, LogStream, log_unaccepted, make_log
from stellwerk_server.operate.plain_words import plain_words
from stellwerk_server.operate.settings import DEFAULT_PORT, Limits, Time

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
  stellwerk serve --port 0 --data /tmp/games --status-port 7879
  stellwerk serve --web 8080
  stellwerk serve --config server.toml
  stellwerk serve --host 0.0.0.0 --tokens tokens.txt --tls-cert cert.pem --tls-key key.pem
  stellwerk serve --set time.move_ms=200 --set limits.connections=500

a config file has the same names, for example:
  port = 7878
  data = "games"
  [time]
  move_ms = 200
  [limits]
  connections = 500
"""

DEFAULT_FOLDER: Final = "stellwerk-data"


class Config(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The keys of a config file."""

    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65_535)] = DEFAULT_PORT
    data: str = DEFAULT_FOLDER
    sync: bool = False
    tokens: str | None = None
    plaintext_tokens: bool = False
    tls_cert: str | None = None
    tls_key: str | None = None
    status_host: str = "127.0.0.1"
    status_port: Annotated[int, Meta(ge=0, le=65_535)] | None = None
    web_host: str = "127.0.0.1"
    web_port: Annotated[int, Meta(ge=0, le=65_535)] | None = None
    web_host_name: tuple[str, ...] = ()
    trusted: tuple[str, ...] = tuple(map(str, LOOPBACK))
    board: tuple[str, ...] = ()
    house_bots: bool = True
    log_level: str = "info"
    log_json: bool | None = None
    time: Time = Time()
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True)
class _Access:
    """The files that decide who may log in, and how: those that SIGHUP reads again."""

    tokens: Tokens | None
    tls: ssl.SSLContext | None


@dataclass(frozen=True, slots=True)
class _Prepared:
    """All that could be wrong with a config has been looked at."""

    config: Config
    games: GameShelf
    access: _Access
    trusted: tuple[Network, ...]
    journals: Journals


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = DESCRIPTION
    parser.epilog = EXAMPLES
    port = whole_number(0, 65_535)
    parser.add_argument("--config", metavar="FILE", help="a TOML file; the options given here override it")
    parser.add_argument("--host", help="where to listen (default: 127.0.0.1: this machine only)")
    parser.add_argument("--port", type=port, help=f"0 takes a free one (default: {DEFAULT_PORT})")
    parser.add_argument("--data", metavar="DIR", help=f"journals and replays (default: {DEFAULT_FOLDER})")
    parser.add_argument("--sync", action="store_true", default=None, help="be safe against power loss too")
    parser.add_argument(
        "--tokens", metavar="FILE", help="let in only these: lines of NAME SHA256 [organizer]"
    )
    parser.add_argument(
        "--plaintext-tokens",
        action="store_true",
        default=None,
        help="accept tokens without TLS from other machines",
    )
    parser.add_argument(
        "--trusted",
        metavar="NETWORK",
        action="append",
        help="addresses without limits, such as 10.0.0.0/8; repeatable (default: this machine)",
    )
    parser.add_argument("--tls-cert", metavar="FILE", help="certificate chain in PEM")
    parser.add_argument("--tls-key", metavar="FILE", help="its key in PEM")
    parser.add_argument("--status-port", type=port, help="serve the status as JSON over HTTP there")
    parser.add_argument("--status-host", help="(default: 127.0.0.1)")
    add_web_arguments(parser)
    parser.add_argument(
        "--board", metavar="GAME=FILE", action="append", help="play a game on your own board; repeatable"
    )
    parser.add_argument(
        "--no-house-bots", dest="house_bots", action="store_false", default=None, help="no practice matches"
    )
    parser.add_argument("--log-level", metavar="LEVEL", help=f"{', '.join(LEVELS)} (default: info)")
    parser.add_argument("--log-json", action="store_true", default=None, help="log as JSON on a terminal too")
    parser.add_argument(
        "--set",
        metavar="NAME=NUMBER",
        action="append",
        default=[],
        help="a clock or a limit: time.move_ms=200, limits.burst=80, ...; repeatable",
    )


def run(arguments: argparse.Namespace) -> int:
    config = _config(arguments)
    prepared = _prepare(config)
    stream = LogStream(sys.stderr)
    log = make_log(stream, config.log_level, json=config.log_json)
    log_unaccepted(log)
    collect_rarely()
    return trio.run(_serve, prepared, log, lambda: stream.dropped)


# -- what was asked for ------------------------------------------------------------------------------


def _config(arguments: argparse.Namespace) -> Config:
    """Read the file, with the flags on top of it."""
    values: dict[str, Any] = {}  # Any: that is what a TOML file holds
    source = "the command line"
    if arguments.config is not None:
        source = arguments.config
        try:
            with open(arguments.config, "rb") as file:
                values = tomllib.load(file)
        except OSError as error:
            raise usage_error(f"{source}: cannot be read: {error.strerror or error}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise usage_error(f"{source}: not TOML: {error}") from None
    _expect_known(source, values)
    for name in Config.__struct_fields__:
        argument = getattr(arguments, name, None)
        if argument is not None:
            values[name] = argument
    for text in arguments.set:
        section, name, number = _setting(text)
        if isinstance(values.setdefault(section, {}), dict):  # if not, that is reported below
            values[section][name] = number
    try:
        return msgspec.convert(values, Config)
    except msgspec.ValidationError as error:
        raise usage_error(f"{source}: {_readable(str(error))}") from None


def _expect_known(source: str, values: dict[str, Any]) -> None:
    sections: tuple[tuple[str, dict[str, Any], type[Struct]], ...] = (
        ("", values, Config),
        ("[time]: ", _section(values, "time"), Time),
        ("[limits]: ", _section(values, "limits"), Limits),
    )
    for prefix, names, kind in sections:
        for name in names:
            if name not in kind.__struct_fields__:
                raise usage_error(f"{source}: {prefix}{unknown('setting', name, kind.__struct_fields__)}")


def _section(values: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the table, or an empty one if it is none: the conversion reports that later."""
    try:
        return msgspec.convert(values.get(name, {}), dict[str, Any])
    except msgspec.ValidationError:
        return {}


def _setting(text: str) -> tuple[str, str, int]:
    name, equals, value = text.partition("=")
    section, _, field = name.partition(".")
    kinds: dict[str, type[Struct]] = {"time": Time, "limits": Limits}
    if not equals or section not in kinds or not field:
        raise usage_error(f"--set: expected time.NAME=NUMBER or limits.NAME=NUMBER, not {text!r}")
    if field not in kinds[section].__struct_fields__:
        raise usage_error(f"--set: {unknown('setting', field, kinds[section].__struct_fields__)}")
    try:
        return section, field, int(value)
    except ValueError:
        raise usage_error(f"--set: {name}: expected a whole number, not {value!r}") from None


def _readable(error: str) -> str:
    """Translate msgspec's `Expected ... - at `$.time.move_ms``, with the place first."""
    complaint, _, place = error.partition(" - at `$.")
    place = place.rstrip("`")
    return f"{place}: {plain_words(complaint, place)}"


def _prepare(config: Config) -> _Prepared:
    if config.log_level not in LEVELS:
        raise usage_error(f"--log-level: {unknown('level', config.log_level, LEVELS)}")
    access = _read_access(config)
    games = GameShelf(dict(_own_board(text) for text in config.board))
    try:
        journals = Journals(Path(config.data), sync=config.sync)
        journals.hold()
    except BlockingIOError:
        raise infrastructure_error(f"{config.data}: another server uses it") from None
    except OSError as error:
        raise not_writable(config.data, error) from None
    return _Prepared(config, games, access, tuple(map(_network, config.trusted)), journals)


def _read_access(config: Config) -> _Access:
    """Read the tokens and the certificate. CommandError if one of them cannot be used."""
    tls = tls_context(config.tls_cert, config.tls_key)
    if config.tokens is None:
        return _Access(None, tls)
    try:
        return _Access(read_tokens(Path(config.tokens)), tls)
    except TokenFileError as error:
        raise usage_error(str(error)) from None
    except OSError as error:
        raise usage_error(f"{config.tokens}: cannot be read: {error.strerror or error}") from None


def _network(text: str) -> Network:
    try:
        return ip_network(text)
    except ValueError as error:
        raise usage_error(f"trusted: expected a network such as 10.0.0.0/8: {error}") from None


def _own_board(text: str) -> tuple[str, BoardFile]:
    game, equals, path = text.partition("=")
    if not equals:
        raise usage_error(f"--board: expected GAME=FILE, not {text!r}")
    if game not in RULE_SETS:
        raise usage_error(f"--board: {unknown('game', game, RULE_SETS)}")
    try:
        board = load_board(path)
        for seats in RULE_SETS[game].seat_counts:
            check_line(make_game(RULE_SETS[game], board, seats))
    except (BoardError, GameError) as error:
        raise usage_error(str(error)) from None
    return game, board


# -- the server --------------------------------------------------------------------------------------


async def _serve(prepared: _Prepared, log: Log, lines_dropped: Callable[[], int]) -> int:
    config, journals = prepared.config, prepared.journals
    journals.on_removed = lambda match: log.error(
        "journal.removed", match=match, advice="it goes on, and would be lost in a crash"
    )
    descriptors = raise_limit()
    metrics = _metrics() if config.status_port is not None else None
    web = None if config.web_port is None else WebLogin.drawn()
    tokens = _with_pages(prepared.access.tokens, web)
    setup = LobbySetup(
        server=f"stellwerk {version()}",
        limits=config.limits,
        time=config.time,
        games=prepared.games,
        log=log,
        log_lines_dropped=lines_dropped,
        entropy=secrets.token_bytes,
        house_bots=house_bots() if config.house_bots else {},
        open_journal=_opener(journals, room_for_more(descriptors, KEPT_FREE_BY_MATCHES)),
        tokens=tokens,
        plaintext_tokens=config.plaintext_tokens,
        may_connect=room_for_more(descriptors),
        trusted=prepared.trusted,
        listener=nobody_listens if metrics is None else metrics.hear,
    )
    where = f"{config.host}:{config.port}"
    failure: Exception
    async with open_server(setup, journals) as server:
        try:
            host, port = await server.listen(config.host, config.port, prepared.access.tls)
            _bring_back(server, journals, log)  # before any client can resume
            if tokens is not None:  # those of the sessions that were brought back may be gone
                server.lobby.take_tokens(tokens, server.clock.now())
            if config.status_port is not None and metrics is not None:
                where = f"{config.status_host}:{config.status_port}"
                status_host, status_port = await StatusPage(server, metrics).listen(
                    config.status_host, config.status_port
                )
                log.info("status.listening", url=f"http://{shown_address(status_host, status_port)}/")
        except OSError as error:
            failure = infrastructure_error(f"{where}: cannot listen: {error.strerror or error}")
        else:
            if not is_loopback(host):
                _warn_of_exposure(config, host, log)
            with trio.open_signal_receiver(*_heeded()) as signals:
                try:
                    say(f"listening on {shown_address(host, port)}")
                    sys.stdout.flush()
                    if web is not None and config.web_port is not None:
                        pages = WebAddress(config.web_port, config.web_host, config.web_host_name)
                        shows_token = tokens is not None
                        server.nursery.start_soon(
                            partial(show_matches, server, pages, web, log, shows_token=shows_token)
                        )
                except OSError as error:
                    failure = error
                else:
                    ends = _ends(signals, partial(_read_again, server, config, web, log))
                    return await _until_signalled(server, ends, log)
    raise failure  # out here, because a nursery would wrap it


def _with_pages(tokens: Tokens | None, web: WebLogin | None) -> Tokens | None:
    """Add the token of the server's own live pages."""
    return tokens if tokens is None or web is None else tokens.and_also(web.holder)


def _metrics() -> Metrics:
    """Return a counter of what a server does. Its library is imported for a status page only."""
    from stellwerk_server.net.metrics import Metrics

    return Metrics()


def _opener(journals: Journals, has_room: Callable[[], bool]) -> Callable[[str], FileJournal]:
    """Return what opens journals. It refuses when few descriptors are left, because running matches need some
    to end."""

    def open_journal(match: str) -> FileJournal:
        if not has_room():
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return journals.open(match)

    return open_journal


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


def _warn_of_exposure(config: Config, host: str, log: Log) -> None:
    log.warning(
        "listening.beyond_this_machine",
        host=host,
        who="anyone who can reach this address" if config.tokens is None else "anyone with a token",
        encrypted=config.tls_cert is not None,
        advice=None if config.tokens and config.tls_cert else "use --tokens, --tls-cert and --tls-key",
    )


def _heeded() -> list[signal.Signals]:
    """Return the signals that mean something here. SIGHUP stays ignored if it was, as by nohup."""
    is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [signal.SIGTERM, signal.SIGINT, *([] if is_ignored else [signal.SIGHUP])]


async def _ends(signals: AsyncIterator[int], read_again: Callable[[], None]) -> AsyncGenerator[int]:
    """Yield the signals that end the server. SIGHUP is one of them if the server belongs to a terminal,
    because that has gone then. Elsewhere it means to read files again."""
    belongs_to_a_terminal = _has_terminal()
    async for number in signals:
        if number == signal.SIGHUP and not belongs_to_a_terminal:
            read_again()
        else:
            yield number


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


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
        server.lobby.take_tokens(tokens, server.clock.now())
        server.flush()
    count = None if access.tokens is None else len(access.tokens.holders)
    log.info("access.read_again", tokens=count, certificate=config.tls_cert)


async def _until_signalled(server: Server, signals: AsyncIterator[int], log: Log) -> int:
    """Let the matches end after the first signal. After the second one stop at once, and leave the matches in
    their journals."""
    number = await anext(signals)
    running = len(server.lobby.matches)
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
    log.info("server.stopped", matches_left=len(server.lobby.matches))
    return FAILED if stopped_early else DONE
