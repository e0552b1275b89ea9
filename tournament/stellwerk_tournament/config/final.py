"""The `tournament.toml` of a final: the games, the conditions and some of the bots of an earlier tournament.

Law: what the earlier file says is taken over key by key, whether this module knows the key or not, so that a
final is played under the same conditions. Only the schedule and the title are new. Paths lead to the same
files from the new folder.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from stellwerk_tournament.config.settings import Source

_LEFT: Final = ("title", "schedule", "resolved", "games", "bots")
_PATHS: Final = ("board", "dir", "folder", "tokens")
_PATH_LISTS: Final = ("bind",)
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")

Table = dict[str, Any]  # Any: that is how a TOML document is read


def final_text(
    source: Source, folder: Path, bots: Sequence[int], schedule: str, comment: Sequence[str], title: str = ""
) -> str:
    """Return the text of the file for that folder. `bots` are the numbers of those that are taken, in the
    order in which they are to be listed; `schedule` is the text of the table, `comment` begins the file."""
    old = source.path.parent
    content: Table = tomllib.loads(source.text)
    kept = {key: value for key, value in content.items() if key not in _LEFT}
    kept = {"title": title, **kept} if title else kept
    plain = {key: value for key, value in kept.items() if not isinstance(value, dict | list)}
    tables = {key: value for key, value in kept.items() if key not in plain}
    parts = ["\n".join([*(f"# {line}" for line in comment), "", *_lines(_moved(plain, old, folder))])]
    parts.append(schedule.rstrip("\n"))
    for key, value in tables.items():
        entries = cast(list[object], value if isinstance(value, list) else [value])
        header = f"[[{_key(key)}]]" if isinstance(value, list) else f"[{_key(key)}]"
        if entries and all(isinstance(entry, dict) for entry in entries):
            parts += [_table(header, _moved(cast(Table, entry), old, folder)) for entry in entries]
        else:  # a list of plain values belongs above the first table
            parts[0] += "\n" + "\n".join(_lines(_moved({key: value}, old, folder)))
    parts += [_table("[[games]]", _moved(table, old, folder)) for table in content["games"]]
    parts += [_table("[[bots]]", _moved(content["bots"][number], old, folder)) for number in bots]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def mentions_folder(source: Source) -> bool:
    """Return whether the sandbox that `wrap` names depends on where the tournament is."""
    return "{folder}" in source.file.wrap


# -- paths -------------------------------------------------------------------------------------------


def _moved(table: Mapping[str, Any], old: Path, new: Path) -> Table:
    """Return a table whose paths lead from the new folder to where they led from the old one."""
    moved: Table = {}
    for key, value in table.items():
        if key in _PATHS and isinstance(value, str):
            moved[key] = _path(value, old, new)
        elif key in _PATH_LISTS and isinstance(value, list):
            moved[key] = [_path(each, old, new) for each in cast(list[str], value)]
        elif key == "cmd" and isinstance(value, str) and "dir" not in table:
            moved[key] = _command(value, old, new)
        else:
            moved[key] = value
    return moved


def _path(path: str, old: Path, new: Path) -> str:
    return path if os.path.isabs(path) else os.path.relpath(old / path, new)


def _command(command: str, old: Path, new: Path) -> str:
    """As `settings.py` reads it: a program with a slash in it is a path, and so is each word that names a
    file."""
    program, *rest = words = shlex.split(command)
    moved = [_program(program, old, new) if "/" in program else program]
    moved += [_path(word, old, new) if word and (old / word).is_file() else word for word in rest]
    return command if moved == words else shlex.join(moved)


def _program(program: str, old: Path, new: Path) -> str:
    """Without a slash it would be looked for elsewhere."""
    path = _path(program, old, new)
    return path if "/" in path else f"./{path}"


# -- TOML --------------------------------------------------------------------------------------------


def _table(header: str, table: Mapping[str, Any]) -> str:
    return "\n".join([header, *_lines(table)])


def _lines(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_value(value)}" for key, value in table.items()]


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _text(key)


def _value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case list():
            return f"[{', '.join(map(_value, cast(list[object], value)))}]"
        case dict():
            pairs = [f"{_key(key)} = {_value(each)}" for key, each in cast(Table, value).items()]
            return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
        case _:
            return str(value)


def _text(text: str) -> str:
    """Write a basic string. JSON's are the same, but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
