"""The deals of a comparison: each is played twice, and the two versions change seats.

Law: block number n follows from the comparison and n alone. Both matches have the same deal and the same
other bots in the same seats. Built-in bots alone play on the engine, with the same moves as in processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, cycle, islice
from pathlib import Path

from stellwerk.matches.on_engine import HouseGames, play_house_games
from stellwerk.matches.plan import PlayPlan
from stellwerk.matches.planned_games import PlannedGame
from stellwerk.matches.report import MatchReport, NotStarted, has_breakdown
from stellwerk.shared.errors import FAILED, CommandError
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_processes.bench.levels import Confinement
from stellwerk_processes.bot_spec import BotSpec, in_server_if_quick
from stellwerk_processes.faults import in_words
from stellwerk_server.operate.settings import Time

OLD, NEW = 0, 1  # places in `bots`
MATCHES = 2  # of a block


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison to play. The bots of its plan are the old version, the new one, and those that fill other
    seats. The games take turns. `keeps_going`: a bot that breaks does not end it."""

    plan: PlayPlan
    time: Time
    confinement: Confinement
    replays: Path | None
    jobs: int
    keeps_going: bool

    @property
    def is_house(self) -> bool:
        """Whether all its bots play on the engine."""
        return all(bot.is_plainly_built_in for bot in self.plan.bots)


def plan_of(choices: Sequence[GameChoice], bots: Sequence[BotSpec], seed: str, deals: int) -> PlayPlan:
    """Plan so many deals. The other bots take turns to fill the seats, with names of their own for copies."""
    most = max(len(choice.make().seats_of_team) for choice in choices)
    table = list(bots[:MATCHES])
    for number, bot in enumerate(islice(cycle(bots[MATCHES:]), most - MATCHES)):
        copy = number // len(bots[MATCHES:])
        table.append(replace(bot, name=f"{bot.name[:28]}.{copy + 1}") if copy else bot)
    if not all(bot.is_plainly_built_in for bot in table):
        table = [in_server_if_quick(bot) for bot in table]
    return PlayPlan(
        tuple(choices), tuple(table), seed, MATCHES * deals, partial(_planned, tuple(choices), seed)
    )


def _planned(choices: Sequence[GameChoice], seed: str, number: int) -> PlannedGame:
    """Plan a match. Over the deals of a game the two versions come to every pair of places."""
    block, turned = divmod(number, MATCHES)
    deal, game = divmod(block, len(choices))
    team_of = choices[game].make().team_of
    places = range(max(team_of) + 1)
    pairs = list(combinations(places, 2))
    pair = pairs[deal % len(pairs)]
    others = iter(range(MATCHES, len(places)))
    bot_of = {place: next(others) for place in places if place not in pair}
    bot_of |= dict(zip(pair, (OLD, NEW) if turned else (NEW, OLD), strict=True))
    return PlannedGame(number, block, f"{seed}/{block}", tuple(bot_of[team] for team in team_of), MATCHES)


def play_deals(
    comparison: Comparison, has_enough: Callable[[int, list[MatchReport]], bool]
) -> MatchReport | None:
    """Play until `has_enough` returns True. It gets the blocks in the order of their numbers, each with its
    two matches. Return the match in which a bot broke, if that was the end. CommandError if a bot cannot be
    started, or the machine fails."""
    if comparison.is_house:
        games = HouseGames(comparison.plan, comparison.replays, MATCHES, is_timed=True)
        with closing(play_house_games(games, comparison.jobs)) as chunks:
            for number, chunk in enumerate(chunks):
                if has_enough(number, chunk.matches):
                    break
        return None
    from stellwerk.matches.by_wire import PlayOptions, play_games

    in_order = _InOrder(has_enough, comparison.keeps_going)
    options = PlayOptions(
        comparison.plan,
        comparison.time,
        comparison.confinement,
        replays=comparison.replays,
        logs=None,
        jobs=comparison.jobs,
        has_enough=in_order.add,
        draws=False,
    )
    missing = play_games(options).missing
    if missing:
        raise CommandError(_missing(missing), FAILED)
    return in_order.broken


@dataclass(slots=True)
class _InOrder:
    """Matches that end in any order, handed on as blocks in the order of their numbers. `broken` is the match
    in which a bot broke, if that ends them."""

    has_enough: Callable[[int, list[MatchReport]], bool]
    keeps_going: bool
    waiting: dict[int, list[MatchReport]] = field(default_factory=dict[int, list[MatchReport]])
    next: int = 0
    is_over: bool = False
    broken: MatchReport | None = None

    def add(self, match: MatchReport) -> bool:
        if not self.is_over and not self.keeps_going and has_breakdown(match):
            self.broken, self.is_over = match, True
        self.waiting.setdefault(match.block, []).append(match)
        while not self.is_over and len(self.waiting.get(self.next, ())) == MATCHES:
            block = sorted(self.waiting.pop(self.next), key=lambda match: match.number)
            self.is_over = self.has_enough(self.next, block)
            self.next += 1
        return self.is_over


def _missing(missing: Iterable[NotStarted]) -> str:
    """Say in one line which bot did not come, and why."""
    bot = next(iter(missing))
    fault = bot.faults[0]
    printed = f"; it printed: {fault.last_lines[-1]}" if fault.last_lines else ""
    hint = f" ({fault.hint})" if fault.hint else ""
    return f"{bot.bot}: {in_words(fault)}{printed}{hint}"
