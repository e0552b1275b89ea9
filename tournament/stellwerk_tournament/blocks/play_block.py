"""A block played alone, from its order, at a table (`table.py`).

Laws:
- nothing is opened but the order, and a private folder in which its bots and its board are;
- the matches are played as the runner plays them (`play/matches_here.py`): the same sandbox, clocks and
  processes, and a match that the machine fails is played again, at most twice;
- nothing of the block can be read before all of it has been played.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import msgspec
import trio
from msgspec import UNSET, UnsetType

from stellwerk_base.files import PRIVATE, write_whole
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_processes.bench.levels import SandboxError, SandboxRecord
from stellwerk_processes.standing_server import StandingServer
from stellwerk_processes.started_match import MatchObserver, Show, play_match
from stellwerk_server.match.players import NewHousePlayer
from stellwerk_tournament.blocks.archives import unpack
from stellwerk_tournament.blocks.files import BlockFileError, BlockOrder, BlockResult
from stellwerk_tournament.blocks.orders import board_name
from stellwerk_tournament.config.settings import FILE, Settings, SettingsError, Source, settings_of
from stellwerk_tournament.play.courier import BlockFailedError, PlayedMatch
from stellwerk_tournament.play.lag import LagWatch
from stellwerk_tournament.play.matches_here import (
    ATTEMPTS,
    Conditions,
    MatchesHere,
    heading,
)
from stellwerk_tournament.schedule.schedule import Block
from stellwerk_tournament.store.match_line import MachineRecord


@dataclass(frozen=True, slots=True)
class Host:
    """The machine that plays: what is known of it, what makes the players of bots that sit in the server,
    how many matches it plays at a time, what has been tried of the sandbox before, if anything was, what gets
    the errors of ours that failed a match, and who is shown matches, after moves, but not too often."""

    version: str
    machine: MachineRecord
    house_bots: Mapping[str, NewHousePlayer] = field(repr=False)
    at_once: int = 1
    sandbox: SandboxRecord | UnsetType = UNSET
    log: Callable[[str, Sequence[str]], object] = lambda _heading, _lines: None
    show: Show | None = None


def expect_playable(order: BlockOrder, version: str) -> None:
    """Raise a BlockFileError if the order was not written for this program."""
    if order.stellwerk != version:
        raise BlockFileError(
            f"was written by Stellwerk {order.stellwerk}, and this is {version}: install the same version"
        )
    game = order.settings.games[0].game
    if game not in RULE_SETS or RULE_SETS[game].rules_version != order.rules_version:
        raise BlockFileError(f"has other rules of {game} than are installed here: install the same version")


def unpacked(order: BlockOrder, folder: Path) -> Settings:
    """Unpack what an order brings, and return the settings that it is played with. BlockFileError."""
    try:
        unpack(order.archives, folder)
        if order.board is not None and not (board := folder / board_name(order.board)).exists():
            write_whole(board, order.board, sync=True, mode=PRIVATE)  # others may be reading it
            board.chmod(0o644)
        source = Source(folder / FILE, "")
        source.file = order.settings
        settings = settings_of(source, folder)
    except SettingsError as error:
        text = str(error).removeprefix(f"{folder / FILE}: ")
        raise BlockFileError(f"cannot be played on this machine: {text}") from None
    except (OSError, ValueError) as error:
        raise BlockFileError(f"cannot be unpacked: {error}") from None
    digest = settings.variants[0].choice.board.digest
    if digest != order.board_digest:
        raise BlockFileError(f"is for another board than the one that is installed here ({digest[:12]})")
    if not settings.confinement.wrap:
        settings = settings.at_level(order.level)
    entrants = (replace(each, label=order.versions[each.name]) for each in settings.entrants)
    return replace(settings, entrants=tuple(entrants))


class TableBlock:
    """A block that is played at a table, so many matches `at_once`. CoresError."""

    def __init__(
        self,
        order: BlockOrder,
        settings: Settings,
        folder: Path,
        host: Host,
        sandbox: SandboxRecord | UnsetType,
        lag: LagWatch,
    ) -> None:
        self._order = order
        self._settings = settings
        self._secret = bytes.fromhex(order.secret)
        self._block = Block(order.block, 0, order.round, 0, order.entrants)
        self._host = host
        conditions = Conditions(
            execute=partial(play_match, observer=MatchObserver(host.show)),
            sandbox=sandbox,
            machine=host.machine,
            house_bots=host.house_bots,
            show=host.show,
        )
        entrants = {entrant.name: entrant for entrant in settings.entrants}
        self._here = MatchesHere(settings, entrants, folder, conditions, lag, self._log)
        self.at_once = self._here.fair.at_once
        self._played: dict[int, PlayedMatch] = {}
        self._failures: list[tuple[int, str]] = []
        self._failed: BlockFailedError | None = None

    async def play(self, standing: StandingServer | None) -> BlockResult:
        """Play all matches that are due, on the server for bots that stay, if there are any. BlockFailedError
        if a match failed too often through no bot's fault."""
        self._here.standing = standing
        limiter = trio.CapacityLimiter(self._here.rotations_at_once(self._block))
        with self._here.fair.at_work():
            async with trio.open_nursery() as nursery:
                for rotation in self._order.rotations:
                    nursery.start_soon(self._play, rotation, limiter, nursery.cancel_scope)
        self._here.end_deal(self._secret)
        if self._failed is not None:
            raise self._failed
        return BlockResult(
            cup=self._order.cup,
            stellwerk=self._order.stellwerk,
            block=self._order.block,
            matches=tuple(self._played[rotation] for rotation in self._order.rotations),
            failures=tuple(self._failures),
        )

    async def _play(self, rotation: int, limiter: trio.CapacityLimiter, scope: trio.CancelScope) -> None:
        for attempt in range(1, ATTEMPTS + 1):
            async with limiter:
                ended = await self._here.play(
                    self._block, self._secret, rotation, frozenset(self._order.suspended)
                )
            if not isinstance(ended, str):
                line, played = ended
                line = msgspec.structs.replace(line, attempt=attempt)
                self._played[rotation] = self._here.as_played(line, played)
                return
            self._failures.append((rotation, ended))
        self._failed = BlockFailedError(rotation, self._failures[-1][1])
        scope.cancel()

    async def _log(self, heading: str, lines: Sequence[str]) -> None:
        await trio.lowlevel.checkpoint()
        self._host.log(heading, lines)


def why(error: SandboxError | BlockFailedError, order: BlockOrder) -> str:
    """Say in one line why this machine did not play a block."""
    if isinstance(error, BlockFailedError):
        block = Block(order.block, 0, order.round, 0, order.entrants)
        return f"{heading(block, error.rotation)} could not be played in {ATTEMPTS} attempts: {error}"
    return f"this machine cannot play at the level of the tournament, {order.level}: {error}"
