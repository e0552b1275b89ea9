"""What a tournament was begun with: written at the end of `tournament.toml` before the first match.

Law: all matches of a tournament are comparable. Who goes on with it has the same rules, boards, bots and
clocks, or is told what is different; rounds may be added, and other things that do not touch a match changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from stellwerk_engine.games import RULE_SETS
from stellwerk_protocol.canonical import JsonValue, difference
from stellwerk_server.bot_process import Isolation
from stellwerk_server.bot_spec import Process
from stellwerk_server.settings import Time
from stellwerk_tournament.settings import FILE, Entrant, Settings, SettingsError, Variant


class ResolvedGame(Struct, frozen=True):
    game: str
    rules_version: int
    players: int
    options: tuple[str, ...]
    weight: int
    board: str
    board_digest: str


class ResolvedBot(Struct, frozen=True):
    """`command` is what is executed; of a built-in bot only which one it is, of a remote one nothing. Its
    token may be replaced."""

    name: str
    command: tuple[str, ...]
    transport: str
    directory: str = ""
    process: Process = "fresh"


class Resolved(Struct, frozen=True):
    stellwerk: str
    schedule: str
    isolation: Isolation
    wrap: tuple[str, ...]
    anonymous: bool
    clocks: Time
    games: tuple[ResolvedGame, ...]
    bots: tuple[ResolvedBot, ...]


_HEAD: Final = """
# What the first match was played with. Stellwerk wrote it, and compares it when the tournament is resumed.
"""
_INDEX: Final = re.compile(r"\[(\d+)\]")  # counted from 0; people count from 1
_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]+")


def resolve(settings: Settings, version: str) -> Resolved:
    return Resolved(
        stellwerk=version,
        schedule=settings.kind if settings.hero is None else f"{settings.kind} of {settings.hero}",
        isolation=settings.confinement.isolation,
        wrap=settings.confinement.wrap,
        anonymous=settings.anonymous,
        clocks=settings.time,
        games=tuple(map(_game, settings.variants)),
        bots=tuple(map(_bot, settings.entrants)),
    )


def table(resolved: Resolved) -> str:
    """As TOML, to be added to a file."""
    content: dict[str, JsonValue] = msgspec.to_builtins(resolved)
    lines = [_HEAD + "[resolved]", *(f"{key} = {_value(value)}" for key, value in content.items())]
    return "\n".join(lines) + "\n"


def expect_same(written: object, resolved: Resolved, folder: Path) -> None:
    """SettingsError if matches to come would not be like those that were played."""
    path = folder / FILE
    try:
        before = msgspec.convert(written, Resolved)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{path}: resolved: cannot be read: {error}") from None
    now = msgspec.structs.replace(resolved, stellwerk=before.stellwerk)
    found = difference(_json(before), _json(now))
    if found is not None:
        place = _INDEX.sub(lambda index: f"[{int(index[1]) + 1}]", found.place)
        was, is_now = found.expected, found.found
        raise SettingsError(
            f"{path}: this tournament was begun with something else: {place} was {was}, and is {is_now} now"
        )


def _game(variant: Variant) -> ResolvedGame:
    choice = variant.choice
    return ResolvedGame(
        game=choice.game_id,
        rules_version=RULE_SETS[choice.game_id].rules_version,
        players=choice.seat_count,
        options=choice.options,
        weight=variant.weight,
        board=choice.board.id,
        board_digest=choice.board.digest,
    )


def _bot(entrant: Entrant) -> ResolvedBot:
    bot = entrant.bot
    command = ("built-in", bot.command[-1]) if bot.built_in else bot.command
    return ResolvedBot(bot.name, command, bot.transport, bot.directory or "", bot.process)


def _json(resolved: Resolved) -> JsonValue:
    content: JsonValue = msgspec.to_builtins(resolved)
    return content


def _value(value: JsonValue) -> str:
    """JSON's texts, numbers and lists are TOML's, all but one character; tables are written otherwise."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items())
        return f"{{ {pairs} }}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value)


def _key(key: str) -> str:
    return key if _PLAIN.fullmatch(key) else json.dumps(key, ensure_ascii=False)
