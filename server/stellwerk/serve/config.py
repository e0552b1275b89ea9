"""The settings of `stellwerk serve`: the keys of a config file, with the command line on top of them.

Law: a key, its default and its help are written once, in `Config`.
"""

from __future__ import annotations

import argparse
import tomllib
from dataclasses import dataclass
from typing import Annotated, Any, Final, get_type_hints

import msgspec
from msgspec import Struct

from stellwerk.shared.addresses import LISTEN, PAGES, THIS_MACHINE
from stellwerk.shared.errors import reading, refusing, usage_error
from stellwerk.shared.parser import argument
from stellwerk_base.texts import quoted, unknown
from stellwerk_server.lobby.admission import LOOPBACK
from stellwerk_server.operate.logs import LEVELS
from stellwerk_server.operate.plain_words import plain_words
from stellwerk_server.operate.settings import DEFAULT_PORT, Limits, Time


@dataclass(frozen=True, slots=True)
class Option:
    """A key that has an option of its own, with this help."""

    help: str
    metavar: str | None = None


class Config(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The keys of a config file. `--set` takes those without an option, too."""

    listen: Annotated[str, Option("where bots connect; port 0 takes a free one", LISTEN)] = (
        f"{THIS_MACHINE}:{DEFAULT_PORT}"
    )
    data: Annotated[str, Option("journals and replays", "DIR")] = "stellwerk-data"
    tokens: Annotated[str | None, Option("let in only these: lines of NAME SHA256 [organizer]", "FILE")] = (
        None
    )
    plaintext_tokens: Annotated[bool, Option("accept tokens without TLS from other machines")] = False
    tls_cert: Annotated[str | None, Option("certificate chain in PEM", "FILE")] = None
    tls_key: Annotated[str | None, Option("its key in PEM", "FILE")] = None
    status: Annotated[str | None, Option("serve the status as JSON over HTTP there", LISTEN)] = None
    web: Annotated[str | None, Option("show the matches to browsers there, under these names", PAGES)] = None
    board: Annotated[tuple[str, ...], Option("play a game on your own board; repeatable", "GAME=FILE")] = ()
    sync: bool = False
    trusted: tuple[str, ...] = tuple(map(str, LOOPBACK))
    house_bots: bool = True
    log_level: str = "info"
    time: Time = Time()
    limits: Limits = Limits()


SECTIONS: Final[dict[str, type[Struct]]] = {"time": Time, "limits": Limits}
DEFAULTS: Final = Config()


def add_config_arguments(parser: argparse.ArgumentParser) -> None:
    argument(parser, "--config FILE", "a TOML file; the options given here override it")
    for name, option in _find_options().items():
        default: object = getattr(DEFAULTS, name)
        more = " ..." if isinstance(default, tuple) else ""
        help_text = f"{option.help} (default: {default})" if default else option.help
        usage = f"--{name.replace('_', '-')} {option.metavar or ''}{more}"
        argument(parser, usage, help_text, default=None)
    argument(parser, "--set KEY=VALUE ...", "any key of a config file, such as time.move_ms=200; repeatable")


def read_config(arguments: argparse.Namespace) -> Config:
    """Read the file, with the options on top of it. CommandError if one of them is wrong."""
    values: dict[str, Any] = {}  # Any: a TOML file contains anything
    if arguments.config is not None:
        not_toml = refusing(
            tomllib.TOMLDecodeError, UnicodeDecodeError, where=f"{arguments.config}: not TOML"
        )
        with reading(arguments.config), not_toml, open(arguments.config, "rb") as file:
            values = tomllib.load(file)
        _make_config(arguments.config, values)  # so that its errors have its name
    for name in _find_options():
        value = getattr(arguments, name)
        if value is not None:
            values[name] = value
    for text in arguments.set:
        _set_key(values, text)
    return _make_config("the command line", values)


def _find_options() -> dict[str, Option]:
    """Return the keys that have an option of their own."""
    hints = get_type_hints(Config, include_extras=True)
    notes = ((name, note) for name, hint in hints.items() for note in getattr(hint, "__metadata__", ()))
    return {name: note for name, note in notes if isinstance(note, Option)}


def _set_key(values: dict[str, Any], text: str) -> None:
    """Set the key of a `--set`. Its value is written as in TOML; a text needs no quotes."""
    place, equals, value = text.partition("=")
    section, _, key = place.rpartition(".")
    table = values.setdefault(section, {}) if section else values
    if not equals or not key or not isinstance(table, dict):
        raise usage_error(f"--set: expected KEY=VALUE, such as time.move_ms=200, not {quoted(text)}")
    try:
        table[key] = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        table[key] = value


def _make_config(source: str, values: dict[str, Any]) -> Config:
    _expect_known(source, values, Config)
    for name, kind in SECTIONS.items():
        if isinstance(values.get(name), dict):  # if not, that is reported below
            _expect_known(f"{source}: [{name}]", values[name], kind)
    try:
        config = msgspec.convert(values, Config)
    except msgspec.ValidationError as error:
        # msgspec has the place at the end: `Expected ... - at `$.time.move_ms``
        complaint, _, place = str(error).partition(" - at `$.")
        place = place.rstrip("`")
        raise usage_error(f"{source}: {place}: {plain_words(complaint, place)}") from None
    if config.log_level not in LEVELS:
        raise usage_error(f"{source}: log_level: {unknown('level', config.log_level, LEVELS)}")
    return config


def _expect_known(where: str, values: dict[str, Any], kind: type[Struct]) -> None:
    for name in values:
        if name not in kind.__struct_fields__:
            raise usage_error(f"{where}: {unknown('setting', name, kind.__struct_fields__)}")
