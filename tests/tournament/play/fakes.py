"""A small tournament without processes: matches that end as the test says, at once or after a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeVar
from unittest.mock import patch

import trio
import trio.testing
from msgspec.structs import replace as replace_struct

from stellwerk_engine.replays.writer import ReplayWriter, header_of
from stellwerk_processes.bench.levels import Confinement
from stellwerk_processes.bench.local_bot import BotReport
from stellwerk_processes.faults import Conduct
from stellwerk_processes.seat_report import Played
from stellwerk_processes.started_match import BotMatch, MatchResult
from stellwerk_protocol.answer_times import NOT_TIMED, times_file
from stellwerk_protocol.names import EndReason
from stellwerk_protocol.results import Result, TeamResult
from stellwerk_tournament.config.settings import FILE, Settings, parse, settings_of
from stellwerk_tournament.play.progress import BlockEnded, Ended, Observer, Progress, RunningMatch, Suspended
from stellwerk_tournament.store.match_line import MatchLine

ENDED: Final = BotReport(0, None, True, 1, None, ())
REASON: Final[EndReason] = "trains"

T = TypeVar("T")


def run_in_virtual_time(
    work: Callable[..., Awaitable[T]], *arguments: object, clock: trio.testing.MockClock | None = None
) -> T:
    """Run to the end, in time that jumps whenever all tasks wait.

    The clock knows nothing of threads: on a busy machine, time would jump while one of them waits for the
    disk. So what would be done by a thread is done at once.
    """
    with patch.object(trio.to_thread, "run_sync", _done_at_once):
        return trio.run(work, *arguments, clock=clock or trio.testing.MockClock(autojump_threshold=0))


async def _done_at_once(work: Callable[..., T], *arguments: object, **_: object) -> T:
    await trio.lowlevel.checkpoint()
    return work(*arguments)


def settings_with(folder: Path, bots: Sequence[str], games: str = 'game = "usa"', head: str = "") -> Settings:
    """Make settings with bots that are never started."""
    tables = "".join(f'[[bots]]\nname = "{name}"\ncmd = "true"\n' for name in bots)
    (folder / FILE).write_text(f"{head}\n[[games]]\n{games}\n{tables}")
    return settings_of(parse(folder), folder)


def instances(settings: Settings, **most: int) -> Settings:
    entrants = tuple(replace(each, instances=most.get(each.name)) for each in settings.entrants)
    return replace(settings, entrants=entrants)


@dataclass
class FakeMatches:
    """Matches that are not played: the bot with the greater name wins. Each match takes `seconds`; `fails`
    may raise instead."""

    seconds: float = 1.0
    fails: Callable[[BotMatch, int], None] = lambda _match, _attempt: None
    played: list[BotMatch] = field(default_factory=list[BotMatch])
    at_once: int = 0
    most_at_once: int = 0
    most_of: Counter[str] = field(default_factory=Counter[str])
    _running: Counter[str] = field(default_factory=Counter[str])
    _attempts: Counter[str] = field(default_factory=Counter[str])

    async def __call__(self, bot_match: BotMatch, confinement: Confinement) -> MatchResult:
        names = [bot.name for bot in bot_match.bots]
        self.at_once += 1
        self._running.update(names)
        self.most_at_once = max(self.most_at_once, self.at_once)
        for name in names:
            self.most_of[name] = max(self.most_of[name], self._running[name])
        try:
            await trio.sleep(self.seconds)
            self._attempts[bot_match.plan.match] += 1
            self.fails(bot_match, self._attempts[bot_match.plan.match])
        finally:
            self.at_once -= 1
            self._running.subtract(names)
        self.played.append(bot_match)
        return played_match(bot_match)


def played_match(bot_match: BotMatch) -> MatchResult:
    game = bot_match.plan.game
    bots = [bot_match.bots[seats[0]].name for seats in game.seats_of_team]
    ranks = [1 + sum(other > name for other in bots) for name in bots]
    teams = tuple(
        TeamResult(team, game.seats_of_team[team], rank, -rank, -rank, (), (), 0, 0)
        for team, rank in enumerate(ranks)
    )
    result = Result(REASON, 10, tuple(ranks[team] for team in game.team_of), teams)
    seats = tuple(Played(bot.name, Conduct(ENDED), 5, 20.0, 8.0) for bot in bot_match.bots)
    replay = ReplayWriter().header(header_of(game, bot_match.plan.names, bot_match.plan.match))
    times = times_file(bot_match.plan.match, [[4, 8, NOT_TIMED]] * len(seats))
    return MatchResult(bot_match.plan, result, seats, replay, times, 0.0, [], (0,) * len(seats))


def upside_down(played: MatchResult) -> MatchResult:
    """Return the result of a match of two as if the other one had won."""
    one, other = played.result.teams
    teams = (replace_struct(one, rank=other.rank), replace_struct(other, rank=one.rank))
    return replace(played, result=replace_struct(played.result, teams=teams))


@dataclass
class Witness(Observer):
    """An observer that remembers. `on_block` may stop the tournament, say."""

    began: list[RunningMatch] = field(default_factory=list[RunningMatch])
    ended: list[Ended] = field(default_factory=list[Ended])
    blocks: list[BlockEnded] = field(default_factory=list[BlockEnded])
    last: Progress | None = None
    stops: int = 0
    suspensions: list[Suspended] = field(default_factory=list[Suspended])
    on_block: Callable[[BlockEnded], None] = lambda _: None
    pages: list[str] = field(default_factory=list[str])

    def status_page(self, url: str) -> None:
        self.pages.append(url)

    def match_began(self, match: RunningMatch, progress: Progress) -> None:
        self.began.append(match)
        self.last = progress

    def match_ended(self, ended: Ended, progress: Progress) -> None:
        self.ended.append(ended)
        self.last = progress

    def block_ended(self, ended: BlockEnded, progress: Progress) -> None:
        self.blocks.append(ended)
        self.last = progress
        self.on_block(ended)

    def suspended(self, suspended: Suspended, progress: Progress) -> None:
        self.suspensions.append(suspended)
        self.last = progress

    def told_to_stop(self) -> None:
        self.stops += 1

    @property
    def lines(self) -> list[MatchLine]:
        return [line for block in self.blocks for line in block.lines]
