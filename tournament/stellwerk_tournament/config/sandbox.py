"""The keys of `tournament.toml` that say how bots are confined, and what other files say of them.

Law: a key that would do nothing is refused, and so is one that shows bots the tournament's folder: it has the
seeds of blocks that are still being played.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from msgspec import Struct

from stellwerk_base.texts import quoted
from stellwerk_processes.bench.levels import (
    DISK_MB,
    PROCESSES,
    UNPROVEN,
    Confinement,
    Level,
    Wanted,
    is_at_least,
)

STANDARD: Final[Wanted] = "auto"

_TOURNAMENT: Final = "tournament.toml"  # as in `settings.py`
_ELSEWHERE: Final = "..."  # as in `machine_paths.py`
_LOWEST: Final[dict[str, Level]] = {  # the level from which on a key does something
    "bind": "landlock",
    "network": "landlock",
    "processes": "limits",
    "disk_mb": "limits",
}


class SandboxKeyError(ValueError):
    """A key that cannot be used like this. `key` is its name."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(problem)
        self.key = key


@dataclass(frozen=True, slots=True)
class SandboxKeys:
    """The keys of the file. None, or nothing in `bind`: the key is missing."""

    sandbox: Wanted | None = None
    require: Level | None = None
    bind: Sequence[str] = ()
    network: bool = False
    processes: int | None = None
    disk_mb: int | None = None


class ResolvedSandbox(Struct, frozen=True, forbid_unknown_fields=True):
    """The sandbox in `resolved.json`: the level that bots run at, and the settings that change what they can
    do."""

    level: Wanted
    bind: tuple[str, ...]
    network: bool
    processes: int
    disk_mb: int


def sandbox_of(
    keys: SandboxKeys, folder: Path, *, has_wrap: bool, to_play: bool, standard: Wanted = STANDARD
) -> Confinement:
    """Check the keys and return what they ask for. `folder` is that of the tournament, `standard` the level
    where the file says none. SandboxKeyError."""
    level = standard if keys.sandbox is None else keys.sandbox
    asked = keys.sandbox or "auto"  # where the file says none, it cannot contradict what became of `auto`
    if has_wrap and keys.sandbox is not None:
        raise SandboxKeyError("sandbox", "wrap takes the place of the sandbox: remove one of the two")
    for key in _LOWEST:
        if getattr(keys, key) in (None, False, ()):
            continue
        if has_wrap:
            raise SandboxKeyError(key, "is of the sandbox, and wrap takes its place: remove one of the two")
        if asked != "auto" and not is_at_least(asked, _LOWEST[key]):
            raise SandboxKeyError(
                key, f"does nothing at the level {quoted(asked)}: it needs {quoted(_LOWEST[key])} or more"
            )
    if keys.require is not None and not has_wrap and asked != "auto" and not is_at_least(asked, keys.require):
        raise SandboxKeyError(
            "require",
            f"the level {quoted(asked)} is below it: expected sandbox = {quoted(keys.require)} or more, "
            'or "auto"',
        )
    return Confinement(
        level=level,
        require=keys.require,
        bind=tuple(_bound(keys.bind, folder, to_play=to_play)),
        network=keys.network,
        processes=PROCESSES if keys.processes is None else keys.processes,
        disk_mb=DISK_MB if keys.disk_mb is None else keys.disk_mb,
        hidden=(os.path.abspath(folder),),
    )


def hiding_tournaments(confinement: Confinement, commands: Iterable[Sequence[str]]) -> Confinement:
    """Hide the folders of other tournaments, too, in which files of these commands are: in a final those are
    often in the folder of the cup, with its tokens, its logs and the other bots."""
    folders = {os.path.dirname(word) for command in commands for word in command if os.path.isabs(word)}
    others = folders.difference(confinement.hidden)
    found = sorted(each for each in others if os.path.isfile(os.path.join(each, _TOURNAMENT)))
    return replace(confinement, hidden=(*confinement.hidden, *found))


def bot_folder(text: str | None, folder: Path, *, to_play: bool) -> str | None:
    """Return the absolute path of what a bot may read. SandboxKeyError."""
    if text is None:
        return None
    path = _located("folder", text, folder)
    if to_play and not os.path.isdir(path):
        raise SandboxKeyError("folder", f"there is no folder {quoted(text)}")
    return path


def expect_apart(key: str, path: str | None, confinement: Confinement) -> None:
    """Raise a SandboxKeyError if this folder of a bot would show it the tournament's."""
    if path is None or confinement.own_level in UNPROVEN:
        return
    if any(_contains(path, hidden) for hidden in confinement.hidden):
        raise SandboxKeyError(
            key,
            "contains the tournament's folder, which bots must not see: give the bot a folder of its own; if "
            'all bots are yours, you can write sandbox = "limits" instead',
        )


def resolved_sandbox(confinement: Confinement) -> ResolvedSandbox:
    return ResolvedSandbox(
        level=confinement.level,
        bind=shown_paths(confinement),
        network=confinement.network,
        processes=confinement.processes,
        disk_mb=confinement.disk_mb,
    )


def shown_paths(confinement: Confinement) -> tuple[str, ...]:
    """Return what every bot may read, without a place of this machine: the path from the tournament's folder,
    or the name alone."""
    return tuple(_shown(path, confinement.hidden[:1]) for path in confinement.bind)


def _shown(path: str, hidden: Sequence[str]) -> str:
    for folder in hidden:
        if _contains(folder, path):
            return os.path.relpath(os.path.realpath(path), os.path.realpath(folder))
    return os.path.join(_ELSEWHERE, os.path.basename(path))


def _bound(bind: Sequence[str], folder: Path, *, to_play: bool) -> Iterator[str]:
    for text in bind:
        path = _located("bind", text, folder)
        if to_play and not os.path.exists(path):
            raise SandboxKeyError("bind", f"there is no file or folder {quoted(text)}")
        if _contains(path, os.path.abspath(folder)):
            raise SandboxKeyError(
                "bind",
                f"{quoted(text)} contains the folder of the tournament, which bots must not see: expected "
                "files or folders beneath it, or elsewhere",
            )
        yield path


def _located(key: str, text: str, folder: Path) -> str:
    if not text.strip() or "\0" in text:
        raise SandboxKeyError(key, f"expected a path, found {quoted(text)}")
    return os.path.abspath(folder / text)


def _contains(outer: str, inner: str) -> bool:
    above, beneath = os.path.realpath(outer), os.path.realpath(inner)
    return os.path.commonpath([above, beneath]) == above
