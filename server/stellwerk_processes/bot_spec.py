"""The specification of a bot: a value, which is made of the words of `--bot` or of a table in TOML.

Law: what a user gave is a spec in all its values, or is refused with the key that is wrong and what was
expected there. Words are split as a shell splits them; nothing in them is expanded. Whether a program or a
folder exists is checked later, by `invitation.command_line`.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import PurePath
from types import MappingProxyType
from typing import Final, Literal, get_args

from stellwerk_base.texts import quoted, suggestion
from stellwerk_protocol.names import PLAYER_NAME, PLAYER_NAME_IN_WORDS

Transport = Literal["tcp", "stdio"]
Process = Literal["fresh", "reused", "remote", "house"]

BUILT_IN: Final = ("random", "beginner", "greedy", "planner", "searcher")
STARTED: Final[tuple[Process, ...]] = ("fresh", "reused")  # here; the others have no process on this machine
QUICK_BOTS: Final = ("random", "beginner", "greedy")
"""Those that may sit in the server, because they answer within a millisecond or two: all else there waits."""
KEYS: Final = ("name", "cmd", "dir", "env.NAME", "transport")
LONGEST_NAME: Final = 32  # as on the wire
SET_BY_STELLWERK: Final = ("STELLWERK_ADDRESS", "STELLWERK_TOKEN", "STELLWERK_NAME", "STELLWERK_BOT_SEED")

_NAME: Final = re.compile(PLAYER_NAME)
_NO_PART_OF_A_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_INTERPRETER: Final = re.compile(r"(?:python|pypy|node|deno|bun|java|ruby|perl|php|lua|bash|sh)[0-9.]*")
_SCRIPTS: Final = (".py", ".js", ".mjs", ".ts", ".jar", ".rb", ".pl", ".php", ".lua", ".sh")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NULL: Final = "a null character, which no command line can have"
NO_VARIABLES: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class BotSpec:
    """How to start a bot. Without a `directory` its working directory is its private one. `folder` is what it
    may read in a sandbox; without it that is the `directory`, or the folders of files in the command, unless
    they hold more than a bot. `process`: a fresh one for each match, one that plays match after match, none
    on this machine (remote), and then there is no `command`, or none at all: a house bot sits in the server.
    `built_in` is the name of a built-in bot, or empty."""

    name: str
    command: tuple[str, ...]
    directory: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    transport: Transport = "tcp"
    built_in: str = ""
    process: Process = "fresh"
    folder: str | None = None

    @property
    def is_plainly_built_in(self) -> bool:
        """Whether it is a built-in bot of which nothing was said but a name, so that it needs no process."""
        return bool(self.built_in) and not self.environment and not self.directory and self.transport == "tcp"


def may_overlap(bots: Iterable[BotSpec]) -> bool:
    """Return whether matches of one deal among these bots may be played side by side.

    Law: no bot plays two matches of one deal at the same time. It would have the cards of another seat in
    the other match, and no sandbox closes every way from one process of a machine to another. Bots that
    are plainly built in do not look for such ways.
    """
    return all(bot.is_plainly_built_in for bot in bots)


class BotSpecError(ValueError):
    """A bot that cannot be described like this. `key` is the one of `KEYS` whose value is wrong, or
    `built_in`; it is empty if no single key is."""

    def __init__(self, problem: str, key: str = "") -> None:
        super().__init__(f"{key}: {problem}" if key else problem)
        self.problem = problem
        self.key = key


def bot_spec(
    *,
    name: str | None = None,
    built_in: str | None = None,
    cmd: str | None = None,
    directory: str | None = None,
    environment: Mapping[str, str] = NO_VARIABLES,
    transport: str | None = None,
    process: Process = "fresh",
    folder: str | None = None,
) -> BotSpec:
    """Make a spec of what a user gave for each key: a text like `--bot` and a table in TOML both end here.
    BotSpecError for a value that cannot be used."""
    if built_in is not None and built_in not in BUILT_IN:
        near = suggestion(built_in, BUILT_IN)
        known = ", ".join(BUILT_IN)
        raise BotSpecError(
            f"there is no built-in bot {quoted(built_in)}{near} ({known}; or give cmd)", "built_in"
        )
    for key, value in (("name", name), ("cmd", cmd), ("dir", directory), ("transport", transport)):
        if value is not None:
            _check_value(key, value)
    for variable, value in environment.items():
        _check_variable(variable, value)
    command = built_in_command(built_in) if built_in is not None else _read_command(cmd)
    return BotSpec(
        name=name if name is not None else built_in or _name_of_command(command),
        command=command,
        directory=directory,
        environment=environment,
        transport="stdio" if transport == "stdio" else "tcp",
        built_in=built_in or "",
        process=process,
        folder=folder,
    )


def parse_bot_spec(text: str) -> BotSpec:
    """Read the words of `--bot`. BotSpecError, which names the word that is wrong."""
    words = _split_words(text, "the spec")
    if not words:
        raise BotSpecError(f"empty: expected {_KEYS_IN_WORDS}, or the name of a built-in bot")
    values: dict[str, str] = {}
    places: dict[str, str] = {}
    for number, word in enumerate(words, 1):
        place = f"word {number}"
        key, value = ("built_in", word) if number == 1 and "=" not in word else _read_pair(place, word)
        if key == "cmd" and "built_in" in values:
            raise BotSpecError(f"{place}: {values['built_in']} is a built-in bot, which has its own cmd")
        if key in values:
            raise BotSpecError(f"{place}: {key} is given twice")
        values[key], places[key] = value, place
    try:
        return bot_spec(
            name=values.get("name"),
            built_in=values.get("built_in"),
            cmd=values.get("cmd"),
            directory=values.get("dir"),
            environment={
                key.removeprefix("env."): value for key, value in values.items() if key.startswith("env.")
            },
            transport=values.get("transport"),
        )
    except BotSpecError as error:
        if error.key not in places:
            raise
        problem = error.problem if error.key == "built_in" else str(error)
        raise BotSpecError(f"{places[error.key]}: {problem}") from None


def usual_process(built_in: str | None) -> Process:
    """Return the default process mode. Built-in bots need no isolation."""
    if built_in is None:
        return "fresh"
    return "house" if built_in in QUICK_BOTS else "reused"


def in_server_if_quick(bot: BotSpec) -> BotSpec:
    """Return a bot that sits in the server, if it is quick and nothing was said of it but a name."""
    is_quick = bot.is_plainly_built_in and bot.built_in in QUICK_BOTS
    return replace(bot, process="house") if is_quick else bot


def built_in_command(name: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "stellwerk_bots", name)


def player_name(text: str) -> str:
    """Return the text if it can be a bot's name. BotSpecError if not."""
    _check_value("name", text)
    return text


def with_unique_names(specs: Iterable[BotSpec]) -> tuple[BotSpec, ...]:
    """Rename the second `greedy` to `greedy-2`."""
    bots = tuple(specs)
    names = unique_names(bot.name for bot in bots)
    return tuple(replace(bot, name=name) for bot, name in zip(bots, names, strict=True))


def unique_names(names: Iterable[str]) -> list[str]:
    """Rename the second `greedy` to `greedy-2`. Names that differ only in case are the same."""
    unique: dict[str, str] = {}
    for wanted in names:
        name = next(name for name in _names_like(wanted) if name.lower() not in unique)
        unique[name.lower()] = name
    return list(unique.values())


def name_from(text: str) -> str:
    """Make a bot's name of any text."""
    return _NO_PART_OF_A_NAME.sub("-", text).strip("_.-")[:LONGEST_NAME] or "bot"


def _name_of_command(command: Sequence[str]) -> str:
    """Name a bot after its program, or after the script or module that an interpreter runs."""
    program = PurePath(command[0]).stem
    if _INTERPRETER.fullmatch(program):
        after = dict(pairwise(command))
        scripts = (PurePath(word).stem for word in command[1:] if PurePath(word).suffix in _SCRIPTS)
        program = after.get("-m") or next(scripts, program)
    return name_from(program)


# -- words -------------------------------------------------------------------------------------------

_KEYS_IN_WORDS: Final = 'name=... cmd="..." dir=... env.NAME=... transport=tcp or stdio'


def _split_words(text: str, what: str) -> list[str]:
    if "\0" in text:
        raise BotSpecError(_NULL, what)
    try:
        return shlex.split(text)
    except ValueError as error:
        raise BotSpecError(str(error).lower(), what) from None


def _read_pair(place: str, word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not equals:
        raise BotSpecError(
            f"{place}: expected KEY=VALUE, found {quoted(word)} (a value with blanks in quotes)"
        )
    if key not in KEYS and not key.startswith("env."):
        raise BotSpecError(f"{place}: unknown key {quoted(key)}{suggestion(key, KEYS)} ({', '.join(KEYS)})")
    return key, value


# -- values ------------------------------------------------------------------------------------------


def _check_value(key: str, value: str) -> None:
    match key:
        case "name" if not _NAME.fullmatch(value):
            expected = PLAYER_NAME_IN_WORDS
        case "transport" if value not in get_args(Transport):
            expected = "tcp or stdio"
        case "dir" if not value.strip():
            expected = "a folder"
        case "cmd" if not value.strip():
            expected = "a program and its arguments"
        case _ if "\0" in value:
            raise BotSpecError(_NULL, key)
        case _:
            return
    raise BotSpecError(f"expected {expected}, found {quoted(value)}", key)


def _check_variable(name: str, value: str) -> None:
    key = f"env.{name}"
    if not _VARIABLE.fullmatch(name):
        raise BotSpecError("expected the name of a variable: letters, digits and _, no digit first", key)
    if name in SET_BY_STELLWERK:
        raise BotSpecError("is set by Stellwerk itself", key)
    if "\0" in value:
        raise BotSpecError(_NULL, key)


def _read_command(cmd: str | None) -> tuple[str, ...]:
    if cmd is None:
        raise BotSpecError('cmd is missing: expected cmd="..." or the name of a built-in bot')
    command = _split_words(cmd, "cmd")
    if not command or not command[0]:
        raise BotSpecError("expected a program and its arguments, found none", "cmd")
    return tuple(command)


# -- names -------------------------------------------------------------------------------------------


def _names_like(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        ending = f"-{number}"
        yield name[: LONGEST_NAME - len(ending)] + ending
        number += 1
