"""A table, at which blocks are played one after the other.

Laws:
- a bot whose processes are reused keeps them from one block to the next, as on one machine: the standing
  server (`standing_server.py`) stays at the table, and no process plays a deal twice;
- they end when the table does, whichever way, and before a block of another tournament begins;
- what has been tried of the sandbox is not tried again for the next block.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import trio
from msgspec import UNSET, UnsetType

from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_processes.bench import resolve_sandbox
from stellwerk_processes.bench.levels import Confinement, SandboxRecord
from stellwerk_processes.bot_spec import STARTED
from stellwerk_processes.standing_server import StandingServer, open_standing_server
from stellwerk_tournament.blocks.files import BlockOrder, BlockResult
from stellwerk_tournament.blocks.play_block import Host, TableBlock, expect_playable, unpacked
from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.play.lag import LagWatch, watched_lag
from stellwerk_tournament.play.matches_here import reused_bots, standing_setup


@contextmanager
def private_folder() -> Generator[Path]:
    """Make a folder for the bots and the boards of blocks, for as long as the block runs."""
    folder = Path(tempfile.mkdtemp(prefix="stellwerk-block-"))
    try:
        folder.chmod(0o755)  # bots may run as users of their own
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def open_table(folder: Path) -> AsyncGenerator[Table]:
    """Keep a table for as long as the block runs. Its bots and boards are in the folder."""
    with watched_lag() as lag:
        async with AsyncExitStack() as servers:
            table = Table(folder, lag, servers)
            yield table
            await table.clear()


@dataclass(frozen=True, slots=True)
class _Occasion:
    """The purpose of a standing server. Blocks that differ in it do not share one. `boards` are those
    that it offers in place of the ones that come with Stellwerk."""

    cup: str
    confinement: Confinement
    set_up_ms: int
    boards: tuple[tuple[str, str], ...]


class Table:
    """Made by `open_table`."""

    def __init__(self, folder: Path, lag: LagWatch, servers: AsyncExitStack) -> None:
        self._folder = folder
        self._lag = lag
        self._servers = servers
        self._occasion: _Occasion | None = None
        self._standing: StandingServer | None = None
        self._instances: dict[str, int] = {}
        self._bot_seeds: dict[str, str] = {}
        self._tried: tuple[Confinement, Confinement, SandboxRecord] | None = None

    async def play(self, order: BlockOrder, host: Host) -> BlockResult:
        """Play all matches of an order that are due, on this machine.

        BlockFileError if it cannot be played by this program or on this machine, BlockFailedError if a match
        failed too often through no bot's fault, CoresError, SandboxError.
        """
        expect_playable(order, host.version)
        settings = await trio.to_thread.run_sync(unpacked, order, self._folder)
        record = host.sandbox
        if record is UNSET:
            settings, record = await self._proven(settings)
        settings = replace(settings, concurrency=_at_once(settings, host.at_once))
        block = TableBlock(order, settings, self._folder, host, record, self._lag)
        return await block.play(await self._standing_for(order, settings, block.at_once))

    async def clear(self) -> None:
        """End all processes that stay: nothing more is played for their tournament."""
        if self._standing is not None:
            await self._standing.say_goodbye(finished=True)
        self._occasion = self._standing = None
        self._instances, self._bot_seeds = {}, {}
        await self._servers.aclose()

    async def _standing_for(
        self, order: BlockOrder, settings: Settings, at_once: int
    ) -> StandingServer | None:
        """Return the server for bots of this block that stay; None if all have fresh processes."""
        occasion = _occasion(order, settings)
        if occasion != self._occasion:
            await self.clear()
        setup = standing_setup(settings, at_once, order.bot_seeds)
        if setup is None:
            return None
        self._instances.update(setup.instances)
        for name in reused_bots(settings.entrants):
            self._bot_seeds.setdefault(name, order.bot_seeds.get(name) or secrets.token_hex(32))
        if self._standing is None:
            setup = replace(setup, instances=self._instances, bot_seeds=self._bot_seeds)  # later ones come in
            standing = await self._servers.enter_async_context(open_standing_server(setup))
            await standing.listen()
            self._occasion, self._standing = occasion, standing
        return self._standing

    async def _proven(self, settings: Settings) -> tuple[Settings, SandboxRecord | UnsetType]:
        """Try the sandbox once, if any bot needs one. SandboxError if the tournament's level does not hold
        here."""
        wanted = settings.confinement
        if all(each.bot.process not in STARTED for each in settings.entrants) or not wanted.needs_proof:
            return settings, UNSET
        if self._tried is None or self._tried[0] != wanted:
            found = await resolve_sandbox.resolve(wanted)
            self._tried = (wanted, found.confinement, found.record)
        return replace(settings, confinement=self._tried[1]), self._tried[2]


def _occasion(order: BlockOrder, settings: Settings) -> _Occasion:
    choices = [variant.choice for variant in settings.variants]
    return _Occasion(
        order.cup,
        settings.confinement,
        settings.time.set_up_ms,
        tuple(
            (choice.game_id, choice.board.digest)
            for choice in choices
            if choice.board.digest != shipped_board(choice.rules.board).digest
        ),
    )


def _at_once(settings: Settings, wanted: int) -> int:
    """Return how many matches run at a time: no more than there are processes of each bot."""
    team_size = settings.variants[0].team_size
    limits = [each.instances // team_size for each in settings.entrants if each.instances is not None]
    return max(1, min([wanted, *limits]))
