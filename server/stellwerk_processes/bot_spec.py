"""What a bot is started from: `name=ernie cmd="python3 ernie.py --deep" env.THREADS=1`, or a built-in's name.

Law: a text either is a spec in all its words, or is refused with the word that is wrong and what was expected
there. Words are split as a shell splits them; nothing in them is expanded. Whether a program or a folder
exists is not asked here.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Final, Literal, get_args

from stellwerk_engine.boards.checked_fields import suggestion
from stellwerk_engine.boards.located_json import quoted
from stellwerk_protocol.names import PLAYER_NAME

Transport = Literal["tcp", "stdio"]
Process = Literal["fresh", "reused", "remote"]

BUILT_IN: Final = ("random", "greedy", "planner", "searcher")
KEYS: Final = ("name", "cmd", "dir", "env.NAME", "transport")
LONGEST_NAME: Final = 32  # as on the wire
SET_BY_STELLWERK: Final = ("STELLWERK_ADDRESS", "STELLWERK_TOKEN", "STELLWERK_NAME", "STELLWERK_BOT_SEED")

_NAME: Final = re.compile(PLAYER_NAME)
_NO_PART_OF_A_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class BotSpec:
    """How a bot is started. Without a `directory` its working directory is its private one. `process`: a
    fresh one for each match, one that plays match after match, or none of this machine, and then there is no
    `command`."""

    name: str
    command: tuple[str, ...]
    directory: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    transport: Transport = "tcp"
    built_in: bool = False
    process: Process = "fresh"


class BotSpecError(Exception):
    """This is no spec; the message says in one line where it is wrong and what was expected."""


def parse_bot_spec(text: str) -> BotSpec:
    """BotSpecError if the text is none."""
    words = _split(text, "the spec")
    if not words:
        raise BotSpecError(f"empty: expected {_KEYS_IN_WORDS}, or the name of a built-in bot")
    built_in, pairs = _built_in(words)
    given: dict[str, str] = {} if built_in is None else {"cmd": built_in}
    environment: dict[str, str] = {}
    for place, word in pairs:
        key, value = _pair(place, word)
        variable = key.removeprefix("env.")
        values = given if variable == key else environment
        if variable in values:
            raise BotSpecError(_second(place, key, built_in))
        values[variable] = _checked(place, key, value)
    if "cmd" not in given:
        raise BotSpecError('cmd is missing: expected cmd="..." or the name of a built-in bot')
    command = _command(given["cmd"]) if built_in is None else built_in_command(built_in)
    transport: Transport = "stdio" if given.get("transport") == "stdio" else "tcp"
    return BotSpec(
        name=given.get("name") or built_in or _name_of(command),
        command=command,
        directory=given.get("dir"),
        environment=environment,
        transport=transport,
        built_in=built_in is not None,
    )


def built_in_command(name: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "stellwerk_bots", name)


def player_name(text: str) -> str:
    """BotSpecError if it is no name for a bot."""
    return _checked("the bot", "name", text)


def with_unique_names(specs: Iterable[BotSpec]) -> tuple[BotSpec, ...]:
    """The second `greedy` becomes `greedy-2`. Names that differ in case only are the same."""
    taken: set[str] = set()
    unique: list[BotSpec] = []
    for spec in specs:
        name = next(name for name in _names_like(spec.name) if name.lower() not in taken)
        taken.add(name.lower())
        unique.append(replace(spec, name=name))
    return tuple(unique)


# -- words -------------------------------------------------------------------------------------------

_KEYS_IN_WORDS: Final = 'name=... cmd="..." dir=... env.NAME=... transport=tcp or stdio'


def _split(text: str, what: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BotSpecError(f"{what}: {str(error).lower()}") from None
    if "\0" in text:
        raise BotSpecError(f"{what}: a null character, which no command line can have")
    return words


def _built_in(words: Sequence[str]) -> tuple[str | None, list[tuple[str, str]]]:
    """The built-in bot that the first word names, and the other words with their places."""
    placed = [(f"word {number}", word) for number, word in enumerate(words, 1)]
    if "=" in words[0]:
        return None, placed
    if words[0] not in BUILT_IN:
        near = suggestion(words[0], BUILT_IN)
        raise BotSpecError(
            f'word 1: there is no built-in bot {quoted(words[0])}{near} ({", ".join(BUILT_IN)}; or cmd="...")'
        )
    return words[0], placed[1:]


def _pair(place: str, word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not equals:
        raise BotSpecError(
            f"{place}: expected KEY=VALUE, found {quoted(word)} (a value with blanks in quotes)"
        )
    if key not in KEYS and not key.startswith("env."):
        raise BotSpecError(f"{place}: unknown key {quoted(key)}{suggestion(key, KEYS)} ({', '.join(KEYS)})")
    return key, value


def _second(place: str, key: str, built_in: str | None) -> str:
    if key == "cmd" and built_in is not None:
        return f"{place}: {built_in} is a built-in bot, which has its own cmd"
    return f"{place}: {key} is given twice"


def _checked(place: str, key: str, value: str) -> str:
    match key:
        case "name" if not _NAME.fullmatch(value):
            expected = f"1 to {LONGEST_NAME} letters, digits, _ . or -, the first one a letter or digit"
        case "transport" if value not in get_args(Transport):
            expected = "tcp or stdio"
        case "dir" | "cmd" if not value.strip():
            expected = "a folder" if key == "dir" else "a program and its arguments"
        case _ if key.startswith("env.") and not _VARIABLE.fullmatch(key.removeprefix("env.")):
            raise BotSpecError(
                f"{place}: expected env.NAME=VALUE with a variable's name, found {quoted(key)}"
            )
        case _ if key.removeprefix("env.") in SET_BY_STELLWERK:
            raise BotSpecError(f"{place}: {key.removeprefix('env.')} is set by Stellwerk itself")
        case _:
            return value
    raise BotSpecError(f"{place}: {key}: expected {expected}, found {quoted(value)}")


def _command(text: str) -> tuple[str, ...]:
    command = _split(text, "cmd")
    if not command or not command[0]:
        raise BotSpecError("cmd: expected a program and its arguments, found none")
    return tuple(command)


# -- names -------------------------------------------------------------------------------------------


def _name_of(command: Sequence[str]) -> str:
    """The program's file name without its ending, made a name."""
    plain = _NO_PART_OF_A_NAME.sub("-", PurePath(command[0]).stem).lstrip("_.-")
    return plain[:LONGEST_NAME] or "bot"


def _names_like(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        ending = f"-{number}"
        yield name[: LONGEST_NAME - len(ending)] + ending
        number += 1
