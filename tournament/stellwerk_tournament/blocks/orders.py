"""Orders made of a tournament's settings: what each block needs, and no more.

Law: an order has the game and the bots of its block, with all files that travel (`archives.py`), the level of
the sandbox that the tournament has, and no place of this machine.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import sha256

import msgspec

from stellwerk_tournament.blocks.archives import Archives, Packed
from stellwerk_tournament.blocks.files import BlockOrder
from stellwerk_tournament.config.settings import (
    BotTable,
    ScheduleTable,
    SettingsError,
    SettingsFile,
)
from stellwerk_tournament.play.courier import DueBlock
from stellwerk_tournament.schedule.deal import standing_seed
from stellwerk_tournament.store.cup import Cup


def board_name(content: bytes) -> str:
    """Return the name of a board's file in the folder of blocks."""
    return f"board-{sha256(content).hexdigest()}.json"


def expect_to_travel(cup: Cup) -> None:
    """Raise a SettingsError if a bot cannot be brought to other machines."""
    remote = [each.name for each in cup.settings.entrants if each.is_remote]
    if remote:
        raise SettingsError(
            f"{cup.source.path}: {remote[0]} is a remote bot, which connects to the runner itself, so its "
            "blocks cannot be played on other machines: play this tournament on one machine, or begin it "
            f"with --without {remote[0]}"
        )


class OrderMaker:
    """Makes the orders of a tournament."""

    def __init__(self, cup: Cup) -> None:
        """SettingsError if its blocks cannot travel."""
        expect_to_travel(cup)
        self._cup = cup
        self._archives = Archives(cup.folder)
        self._bots = {entrant.name: entrant for entrant in cup.settings.entrants}
        self._tables: dict[str, tuple[BotTable, list[Packed]]] = {}
        self._bind = [*self._bound()]
        cup.versions.read(cup.settings.entrants)

    def order(self, due: DueBlock) -> BlockOrder:
        """Return the order of a block. SettingsError if a file cannot be read."""
        cup, block = self._cup, due.block
        choice = cup.settings.variants[block.variant].choice
        entrants = [self._bots[name] for name in block.entrants]
        tables: list[BotTable] = []
        packed = [each for _, each in self._bind if each is not None]
        for name in sorted(block.entrants):
            table, of_bot = self._table(name)
            tables.append(table)
            packed += of_bot
        archives = {each.name: each.content for each in packed}
        return BlockOrder(
            cup=cup.id,
            stellwerk=cup.version,
            block=block.number,
            round=block.round,
            entrants=block.entrants,
            rotations=due.rotations,
            suspended=due.suspended,
            secret=due.seed.hex(),
            settings=self._settings(block.variant, tables),
            level=cup.settings.confinement.level,
            rules_version=choice.rules.rules_version,
            board_digest=choice.board.digest,
            board=self._board(block.variant),
            bot_seeds=self._bot_seeds(block.entrants),
            versions=dict(zip(block.entrants, cup.versions.of(entrants), strict=True)),
            hashes=tuple(sorted(archives)),
            archives=archives,
        )

    def archives(self) -> Mapping[str, bytes]:
        """Return the archives of all bots, by their hashes."""
        packed = [each for _, each in self._bind if each is not None]
        for name in self._bots:
            packed += self._table(name)[1]
        return {each.name: each.content for each in packed}

    def _table(self, name: str) -> tuple[BotTable, list[Packed]]:
        if name not in self._tables:
            entrant = self._bots[name]
            table = self._cup.source.file.bots[entrant.number]
            table = msgspec.structs.replace(table, name=name, author=None)
            self._tables[name] = self._archives.travelling(entrant.bot, table)
        return self._tables[name]

    def _settings(self, variant: int, bots: list[BotTable]) -> SettingsFile:
        file = self._cup.source.file
        game = file.games[variant]
        if (board := self._board(variant)) is not None:
            game = msgspec.structs.replace(game, board=board_name(board))
        confinement = self._cup.settings.confinement
        return msgspec.structs.replace(
            file,
            games=(msgspec.structs.replace(game, weight=1),),
            bots=tuple(bots),
            title="",
            schedule=ScheduleTable(),
            conduct=None,
            concurrency=1,
            sandbox=None if confinement.wrap else "auto",  # the order has the level
            bind=tuple(text if each is None else each.place for text, each in self._bind),
            tokens=None,
        )

    def _bound(self) -> list[tuple[str, Packed | None]]:
        """Return what every bot may read. Relative paths travel."""
        texts = self._cup.source.file.bind
        paths = self._cup.settings.confinement.bind
        return [
            (text, None if os.path.isabs(text) else self._archives.bound(path))
            for text, path in zip(texts, paths, strict=True)
        ]

    def _board(self, variant: int) -> bytes | None:
        table = self._cup.source.file.games[variant]
        if table.board is None:
            return None
        path = self._cup.folder / table.board
        try:
            return path.read_bytes()
        except OSError as error:
            raise SettingsError(f"{path}: cannot be read: {error.strerror or error}") from None

    def _bot_seeds(self, names: tuple[str, ...]) -> dict[str, str]:
        seed = self._cup.seed
        if seed is None:
            return {}
        return {name: standing_seed(seed, name) for name in names if self._bots[name].bot.process == "reused"}
