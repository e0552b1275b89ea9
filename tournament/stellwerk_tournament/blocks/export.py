"""Blocks written to files, for whoever brings them to other machines.

Law: a file holds all that its block needs, and is the same whenever it is written again; so writing it twice
does no harm, and neither does playing it twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import trio

from stellwerk_base.files import PRIVATE, write_whole
from stellwerk_tournament.blocks.files import ORDER_ENDING, encode_order
from stellwerk_tournament.blocks.orders import OrderMaker
from stellwerk_tournament.config.settings import SettingsError
from stellwerk_tournament.play.courier import DueBlock, RunError
from stellwerk_tournament.store.store import StoreError

MOST: Final = 1_000_000


@dataclass(slots=True)
class Exporter:
    """A courier that writes each due block to a file of this folder, at most so many, and never comes back
    with one."""

    maker: OrderMaker
    folder: Path
    limit: int = MOST
    blocks: int = 0
    matches: int = 0
    size: int = 0
    most: int = 1
    brings_back: bool = False

    @property
    def takes_more(self) -> bool:
        return self.blocks < self.limit

    async def play(self, due: DueBlock) -> None:
        """Write the file of a block. RunError or StoreError if that cannot be done."""
        await trio.to_thread.run_sync(self._write, due)
        self.blocks += 1
        self.matches += len(due.rotations)

    async def watch(self) -> None:
        """Look after nothing: a file needs nobody."""
        await trio.sleep_forever()

    async def recall(self) -> None:
        """Leave what is written as it is: writing it again makes the same files."""
        await trio.lowlevel.checkpoint()

    def _write(self, due: DueBlock) -> None:
        try:
            order = self.maker.order(due)
        except SettingsError as error:
            raise RunError(str(error)) from None
        content = encode_order(order)
        path = self.folder / f"{order.name}{ORDER_ENDING}"
        try:
            write_whole(path, content, sync=True, mode=PRIVATE)
        except OSError as error:
            raise StoreError(
                f"{path}: cannot be written: {error.strerror or error}", is_machines=True
            ) from None
        self.size += len(content)
