"""Matches of blocks, played on this machine: from a block, its secret and a rotation to a line and a replay.

Laws:
- all that a match depends on is in the settings, the block, the secret and who is suspended; so it does not
  matter whether the runner plays it among others (`runner.py`), or a process plays the block alone
  (`blocks/play_block.py`);
- matches of one deal are played one after another (`rotations_at_once`), unless all bots at the table are
  built in: other blocks fill the cores;
- what went wrong in this process or this machine is a reason in words, and never a bot's fault;
- a line names no place of this machine.
"""

from __future__ import annotations

import secrets
import traceback
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
import trio
from msgspec import UNSET, UnsetType

from stellwerk_engine.core.state import Game
from stellwerk_processes.bench.invitation import BotStartError
from stellwerk_processes.bench.levels import Confinement, SandboxRecord
from stellwerk_processes.bot_spec import BotSpec, may_overlap
from stellwerk_processes.faults import Fault
from stellwerk_processes.seat_report import SeatReport
from stellwerk_processes.standing_server import StandingServer, StandingSetup
from stellwerk_processes.started_match import (
    BotMatch,
    MatchObserver,
    MatchResult,
    NoResultError,
    Show,
    play_match,
)
from stellwerk_server.match.plan import MatchPlan
from stellwerk_server.match.players import NO_HOUSE_BOTS, NewHousePlayer
from stellwerk_server.net.listen_address import ListenAddress
from stellwerk_server.operate.settings import clocks_of
from stellwerk_tournament.config.machine_paths import MachinePaths
from stellwerk_tournament.config.settings import Entrant, Settings
from stellwerk_tournament.config.versions import Versions
from stellwerk_tournament.play.courier import PlayedMatch
from stellwerk_tournament.play.fair_matches import FairMatches
from stellwerk_tournament.play.lag import MOST_MS, LagWatch
from stellwerk_tournament.schedule.deal import bot_seed, match_id, salt
from stellwerk_tournament.schedule.schedule import Block
from stellwerk_tournament.store.match_line import MachineRecord, MatchLine, line_of_result

if TYPE_CHECKING:
    from stellwerk_server.match.match_session import MatchSession

ATTEMPTS: Final = 3  # to play a match that the machine fails
OWN_LOG: Final = "_stellwerk"  # a name that no bot can have

Execute: TypeAlias = Callable[[BotMatch, Confinement], Awaitable[MatchResult]]
"""Plays a match, here or elsewhere. What it raises is the machine's fault."""

Log: TypeAlias = Callable[[str, Sequence[str]], Awaitable[object]]
"""Writes lines about an error of ours, under a heading."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of all matches here: what plays them, the versions of bots, what was tried of the
    sandbox, what is known of this machine, the factory of players for bots inside the server, and who is
    shown the matches on the server of bots that stay, after moves, but not too often."""

    execute: Execute = play_match
    versions: Versions = field(default_factory=Versions)
    sandbox: SandboxRecord | UnsetType = UNSET
    machine: MachineRecord | UnsetType = UNSET
    house_bots: Mapping[str, NewHousePlayer] = field(default_factory=lambda: NO_HOUSE_BOTS, repr=False)
    show: Show | None = None


class MatchesHere:
    """The matches that this machine plays. `standing` is the server of bots that stay, once there is one."""

    def __init__(
        self,
        settings: Settings,
        entrants: Mapping[str, Entrant],
        folder: Path,
        conditions: Conditions,
        lag: LagWatch,
        log: Log,
    ) -> None:
        self._settings = settings
        self._entrants = entrants
        self._paths = MachinePaths(folder, entrants.values())
        self._conditions = conditions
        self._lag = lag
        self._log = log
        self.fair = FairMatches(settings)
        self.standing: StandingServer | None = None

    async def play(
        self,
        block: Block,
        seed: bytes,
        rotation: int,
        suspended: Collection[str] = (),
        absent: frozenset[str] = frozenset(),
        begun: Callable[[BotMatch], object] = lambda _: None,
        ended: Callable[[BotMatch], object] = lambda _: None,
    ) -> tuple[MatchLine, MatchResult] | str:
        """Play a match to its end. Return its line and result, or the reason why it failed, which is no bot's
        fault. `begun` and `ended` get matches that others can learn of."""
        versions = self._conditions.versions
        entrants = [self._entrants[name] for name in block.teams(rotation)]
        if changed := versions.changed(entrants):
            await trio.to_thread.run_sync(versions.read, changed)
        of_players = versions.of(entrants)
        late_before, began_at = self._lag.count, trio.current_time()
        try:
            with self.fair.prepared(self._bot_match(block, seed, rotation, suspended)) as bot_match:
                played = await self._play_out(bot_match, absent, begun, ended)
        except (BotStartError, NoResultError) as error:
            return self._paths.hidden(str(error))
        except Exception as error:
            await self.log_error(heading(block, rotation), error)
            return self._paths.hidden(f"{type(error).__name__}: {error}")
        line = self._line(block, rotation, played, of_players, trio.current_time() - began_at)
        late = [bot.bot for bot in line.bots if any(fault.kind == "time" for fault in bot.faults)]
        if late and self._lag.count > late_before:
            return f"the runner was late by more than {MOST_MS:g} ms in a match in which {late[0]} was, too"
        return line, played

    def rotations_at_once(self, block: Block) -> int:
        """Return how many matches of a block may run side by side, where as many may run as can."""
        bots = (self._entrants[name].bot for name in block.entrants)
        return self.fair.at_once if self.has_own_deals(block) or may_overlap(bots) else 1

    def is_repeatable(self, block: Block) -> bool:
        """Return whether a block comes out the same again, byte for byte: all its bots sit in the server,
        where they have no state but their seeds."""
        return all(self._entrants[name].bot.process == "house" for name in block.entrants)

    def has_own_deals(self, block: Block) -> bool:
        """Return whether each match of a block has a deal of its own, because a remote bot is at the
        table."""
        return any(self._entrants[name].is_remote for name in block.entrants)

    def end_deal(self, deal: bytes) -> None:
        """Note that no match of a deal will be played here any more."""
        if self.standing is not None:
            self.standing.end_deal(deal)

    async def log_error(self, heading: str, error: Exception) -> None:
        lines = self._paths.hidden_lines("".join(traceback.format_exception(error)).splitlines())
        await self._log(heading, lines)

    def as_played(self, line: MatchLine, played: MatchResult) -> PlayedMatch:
        """Return what is kept of a match, without the paths of this machine in what its bots printed."""
        printed = tuple((each.bot, tuple(self._paths.hidden_lines(each.printed))) for each in played.seats)
        return PlayedMatch(line, played.replay, played.times, printed)

    # -- what a match is made of -----------------------------------------------------------------

    def _bot_match(self, block: Block, seed: bytes, rotation: int, suspended: Collection[str]) -> BotMatch:
        variant = self._settings.variants[block.variant]
        teams = block.teams(rotation)
        bots = [self._entrants[teams[team]].bot for team in variant.game.team_of]
        has_own_deal = self.has_own_deals(block)
        if has_own_deal:
            seed = secrets.token_bytes(32)
        return replace(
            match_of_bots(self._settings, variant.game, bots, seed, rotation, reveal_later=not has_own_deal),
            suspended=frozenset(seat for seat, bot in enumerate(bots) if bot.name in suspended),
            house_bots=self._conditions.house_bots,
        )

    async def _play_out(
        self,
        bot_match: BotMatch,
        absent: frozenset[str],
        begun: Callable[[BotMatch], object],
        ended: Callable[[BotMatch], object],
    ) -> MatchResult:
        processes = {bot.process for bot in bot_match.bots}
        if self.standing is None or (processes <= {"fresh", "house"} and "fresh" in processes):
            return await self._conditions.execute(bot_match, self._settings.confinement)
        try:
            observer = MatchObserver(self._conditions.show, partial(begun, bot_match))
            return await self.standing.play(bot_match, absent, observer)
        finally:
            ended(bot_match)

    def _line(
        self, block: Block, rotation: int, played: MatchResult, versions: tuple[str, ...], seconds: float
    ) -> MatchLine:
        isolation = self._settings.confinement.isolation
        line = line_of_result(block, rotation, played, isolation, seconds)
        bots = tuple(map(self._published, line.bots))
        conditions = self._conditions
        return msgspec.structs.replace(
            line,
            bots=bots,
            sandbox=conditions.sandbox,
            machine=conditions.machine,
            versions=versions if any(versions) else (),
        )

    def _published(self, seat: SeatReport) -> SeatReport:
        """Return a report without the paths of this machine, which may be in any text of a fault."""
        faults = self._paths.hidden_in(msgspec.to_builtins(seat.faults))
        return msgspec.structs.replace(seat, faults=msgspec.convert(faults, tuple[Fault, ...]))

    def listed(self) -> list[MatchSession]:
        return [] if self.standing is None else self.standing.listed()


def match_of_bots(
    settings: Settings,
    game: Game,
    bots: Sequence[BotSpec],
    seed: bytes,
    rotation: int = 0,
    *,
    reveal_later: bool = True,
) -> BotMatch:
    """Return a match of one deal among these bots, one for each seat."""
    seats = range(len(bots))
    plan = MatchPlan(
        match=match_id(seed, rotation),
        game=game,
        names=tuple(f"seat-{seat}" if settings.anonymous else bots[seat].name for seat in seats),
        seed=seed,
        salt=salt(seed, rotation),
        clocks=clocks_of(settings.time),
        reveal_later=reveal_later,
    )
    return BotMatch(plan, tuple(bots), tuple(bot_seed(seed, rotation, seat) for seat in seats))


def standing_setup(
    settings: Settings,
    at_once: int,
    bot_seeds: Mapping[str, str],
    listen_at: ListenAddress | None = None,
    may_connect: Callable[[], bool] = lambda: True,
) -> StandingSetup | None:
    """Return the set-up of a server for bots that stay. None if all bots have fresh processes."""
    if all(entrant.bot.process == "fresh" for entrant in settings.entrants):
        return None
    return StandingSetup(
        set_up_ms=settings.time.set_up_ms,
        confinement=settings.confinement,
        games=tuple(variant.game for variant in settings.variants),
        remote={entrant.name: entrant.logins for entrant in settings.entrants if entrant.is_remote},
        organizers=settings.organizers,
        listen_at=listen_at,
        instances={
            entrant.name: entrant.instances for entrant in settings.entrants if entrant.instances is not None
        },
        logins_at_once=at_once * max(variant.choice.seat_count for variant in settings.variants),
        bot_seeds=bot_seeds,
        may_connect=may_connect,
    )


def reused_bots(entrants: Iterable[Entrant]) -> list[str]:
    """Return the names of bots whose processes play match after match."""
    return [entrant.name for entrant in entrants if entrant.bot.process == "reused"]


def heading(block: Block, rotation: int) -> str:
    return f"block {block.number}, rotation {rotation}"
