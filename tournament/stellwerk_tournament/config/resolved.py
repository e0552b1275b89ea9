"""`resolved.json`: what a tournament was begun with, written before its first match.

Law: all matches of a tournament are comparable. Resuming it needs the same rules, boards, bots and
clocks; a refusal lists what is different. Rounds may be added, and other things that do not touch a match
changed. Nothing here names a place of this machine (`machine_paths.py`), so the folder can be moved. The file
ends with its own SHA-256, so that a changed byte is noticed whoever reads it. `verify` also compares it with
`tournament.toml`.
"""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from stellwerk_processes.bench.levels import Isolation
from stellwerk_processes.bot_spec import Process
from stellwerk_protocol.canonical import JsonValue, difference
from stellwerk_server.operate.settings import Time
from stellwerk_tournament.config import settings as settings_file
from stellwerk_tournament.config.conduct import STANDARD as STANDARD_CONDUCT
from stellwerk_tournament.config.conduct import ConductTable
from stellwerk_tournament.config.machine_paths import MachinePaths
from stellwerk_tournament.config.sandbox import ResolvedSandbox, resolved_sandbox
from stellwerk_tournament.config.settings import Entrant, Settings, SettingsError, Variant
from stellwerk_tournament.config.versions import Versions

FILE: Final = "resolved.json"
_BUILT_IN: Final = "built-in"


class ResolvedGame(Struct, frozen=True, forbid_unknown_fields=True):
    game: str
    rules_version: int
    players: int
    options: tuple[str, ...]
    weight: int
    board: str
    board_digest: str


class ResolvedBot(Struct, frozen=True, forbid_unknown_fields=True):
    """A bot as it plays. `command` is what is executed; a built-in bot has only its name, a remote one
    nothing, and no `transport`. Its token may be replaced."""

    name: str
    command: tuple[str, ...]
    transport: str
    directory: str = ""
    process: Process = "fresh"
    version: str = ""
    folder: str = ""


class Resolved(Struct, frozen=True, forbid_unknown_fields=True):
    stellwerk: str
    schedule: str
    isolation: Isolation
    wrap: tuple[str, ...]
    anonymous: bool
    clocks: Time
    games: tuple[ResolvedGame, ...]
    bots: tuple[ResolvedBot, ...]
    python: str
    freeze: bool
    cores_per_bot: int | None
    conduct: ConductTable
    sandbox: ResolvedSandbox
    without: tuple[str, ...]  # bots of the file that were left out


_END: Final = b"\n}"
_SEALED: Final = b',\n  "sha256": "%b"\n}\n'  # how the file ends
_INDEX: Final = re.compile(r"\[(\d+)\]")  # counted from 0; people count from 1


def resolve(settings: Settings, folder: Path, versions: Versions) -> Resolved:
    """Resolve settings in this folder, now."""
    versions.read(settings.entrants)
    paths = MachinePaths(folder, settings.entrants)
    return Resolved(
        stellwerk=versions.stellwerk,
        schedule=settings.kind if settings.hero is None else f"{settings.kind} of {settings.hero}",
        isolation=settings.confinement.isolation,
        wrap=tuple(map(paths.hidden, settings.confinement.wrap)),
        anonymous=settings.anonymous,
        clocks=settings.time,
        games=tuple(map(_game, settings.variants)),
        bots=tuple(_bot(entrant, paths, versions) for entrant in settings.entrants),
        python=platform.python_version(),
        freeze=settings.freeze,
        cores_per_bot=settings.cores_per_bot,
        conduct=settings.conduct or STANDARD_CONDUCT,
        sandbox=resolved_sandbox(settings.confinement),
        without=settings.left_out,
    )


def encode(resolved: Resolved) -> bytes:
    content = msgspec.json.format(msgspec.json.encode(resolved), indent=2).removesuffix(_END)
    return _sealed(content)


def read_resolved(folder: Path) -> Resolved | None:
    """Read `resolved.json`. None if it was never written. SettingsError if it cannot be read."""
    path = folder / FILE
    try:
        return msgspec.json.decode(_unsealed(path.read_bytes()), type=Resolved)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingsError(
            f"{path}: is not what Stellwerk wrote there: {error}; put it back from a copy of the folder"
        ) from None


def _unsealed(text: bytes) -> bytes:
    """Return the text without its seal. msgspec.DecodeError if it was changed."""
    content = text[: -len(_SEALED % bytes(64))]
    if text != _sealed(content):
        raise msgspec.DecodeError("its sha256 is another one")
    return content + _END


def _sealed(content: bytes) -> bytes:
    return content + _SEALED % hashlib.sha256(content).hexdigest().encode()


def wrong_resolved(before: Resolved, now: Resolved) -> str | None:
    """Say in which value the file differs from what `tournament.toml` comes to, or None. That is the same on
    a copy of the folder without the bots' files. Another conduct in `tournament.toml` changes nothing: that
    of the file is in force, and `verify` holds the lines to it."""
    found = difference(_comparable(_elsewhere(before)), _comparable(_elsewhere(now)))
    if found is None:
        return None
    place = _counted_from_1(found.place)
    return f"{place} is {found.expected}, and by {settings_file.FILE} it was {found.found}"


def _elsewhere(resolved: Resolved) -> Resolved:
    bots = tuple(
        bot
        if bot.command[:1] == (_BUILT_IN,)
        else msgspec.structs.replace(bot, command=(), directory="", folder="")
        for bot in resolved.bots
    )
    sandbox = msgspec.structs.replace(resolved.sandbox, bind=())
    return msgspec.structs.replace(resolved, bots=bots, wrap=(), sandbox=sandbox, conduct=None)


def expect_same(before: Resolved, now: Resolved, folder: Path) -> None:
    """Raise a SettingsError if matches to come would not be like those that were played."""
    found = difference(_comparable(before), _comparable(now))
    if found is not None:
        place = _counted_from_1(found.place)
        raise SettingsError(
            f"{folder / settings_file.FILE}: this tournament was begun with something else: {place} was "
            f"{found.expected}, and is {found.found} now; undo that, or play another tournament in a folder "
            "of its own"
        )


def _counted_from_1(place: str) -> str:
    return _INDEX.sub(lambda index: f"[{int(index[1]) + 1}]", place)


def changes(before: Resolved, now: Resolved) -> Iterator[str]:
    """Yield the changes that are allowed, in words: a bot may write into its own files."""
    if before.stellwerk != now.stellwerk:
        yield f"this tournament was begun with Stellwerk {before.stellwerk}, and this is {now.stellwerk}"
    for old, new in zip(before.bots, now.bots, strict=True):
        if before.stellwerk == now.stellwerk and old.version != new.version:
            yield (
                f"{old.name}: was version {old.version or 'unknown'} at the first match, and is "
                f"{new.version or 'unknown'} now; earlier matches still count"
            )


def _comparable(resolved: Resolved) -> JsonValue:
    """Return what must stay the same: not the versions of bots, nor how a remote one connects. A bot that was
    left out may be removed from the file, too."""
    bots = tuple(
        msgspec.structs.replace(bot, version="", transport="" if bot.process == "remote" else bot.transport)
        for bot in resolved.bots
    )
    content: JsonValue = msgspec.to_builtins(
        msgspec.structs.replace(resolved, bots=bots, stellwerk="", python="", without=())
    )
    return content


def _game(variant: Variant) -> ResolvedGame:
    choice = variant.choice
    return ResolvedGame(
        game=choice.game_id,
        rules_version=choice.rules.rules_version,
        players=choice.seat_count,
        options=choice.options,
        weight=variant.weight,
        board=choice.board.id,
        board_digest=choice.board.digest,
    )


def _bot(entrant: Entrant, paths: MachinePaths, versions: Versions) -> ResolvedBot:
    bot, (version,) = entrant.bot, versions.of([entrant])
    if bot.built_in:
        command = (_BUILT_IN, bot.command[-1])
        return ResolvedBot(bot.name, command, bot.transport, process=bot.process, version=version)
    return ResolvedBot(
        name=bot.name,
        command=tuple(map(paths.hidden, bot.command)),
        transport="" if entrant.is_remote else bot.transport,
        directory="" if bot.directory is None else paths.hidden(bot.directory),
        process=bot.process,
        folder="" if bot.folder is None else paths.hidden(bot.folder),
        version=version,
    )
