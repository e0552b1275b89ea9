"""One deal, played twice: the two versions change seats.

Law: block number n follows from the comparison and n alone, in whatever process it is played. Both matches
have the same deal and the same other bots in the same seats. A bot plays in this process only where it makes
the same moves there as in one of its own.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, cycle, islice
from pathlib import Path
from time import perf_counter

import msgspec
import trio

from stellwerk.lab.match_here import Conduct, play_here
from stellwerk.lab.players import Entrant
from stellwerk.lab.rows import Deal, Row, SeatConduct, rows_of
from stellwerk.shared.errors import FAILED, CommandError, infrastructure_error, not_writable, usage_error
from stellwerk.shared.house_bots import house_bots
from stellwerk.shared.planned_games import PlannedGame
from stellwerk.shared.replay_name import replay_name
from stellwerk_base.files import write_whole
from stellwerk_bots.players import new_player
from stellwerk_engine.core.state import Game
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_processes.bench.invitation import BotStartError
from stellwerk_processes.bench.levels import Confinement
from stellwerk_processes.bench.resolve_sandbox import hide_memory
from stellwerk_processes.bot_spec import QUICK_BOTS, BotSpec
from stellwerk_processes.faults import BREAKDOWNS, faults_of, in_words
from stellwerk_processes.seat_report import Played
from stellwerk_processes.started_match import (
    BotMatch,
    MissingBotsError,
    NoResultError,
    play_match,
)
from stellwerk_protocol.names import Seat
from stellwerk_server.journal.journal import revealed
from stellwerk_server.match.house_player import NewHousePlayer
from stellwerk_server.match.plan import MatchPlan
from stellwerk_server.operate.settings import Time, clocks_of

OLD, NEW = 0, 1  # places in `bots`
MATCHES = 2  # of a block


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison to play: `bots` are the old version, the new one, and those that fill other seats. The
    games take turns."""

    games: tuple[GameChoice, ...]
    bots: tuple[BotSpec, ...]
    seed: str
    time: Time
    confinement: Confinement
    replays: Path | None

    @property
    def are_here(self) -> bool:
        """Return whether all its bots play in this process."""
        return all(map(plays_here, self.bots))


@dataclass(frozen=True, slots=True)
class PlayedBlock:
    """A block with its matches, in the first of which the new version has the earlier seat. `faults` say what
    was wrong with a bot; `broke` with which it was worse than points."""

    number: int
    game: int
    seed: str
    matches: tuple[list[Row], list[Row]]
    faults: tuple[str, ...] = ()
    broke: frozenset[str] = frozenset()


def plays_here(bot: BotSpec) -> bool:
    """Return whether a bot makes the same moves in this process. What is in its environment is for a process
    of its own."""
    return bool(bot.built_in) and not bot.environment


def play_block(comparison: Comparison, number: int) -> PlayedBlock:
    """Play a block. CommandError if a bot cannot be started, or the machine fails."""
    game_number = number % len(comparison.games)
    choice = comparison.games[game_number]
    game = choice.make()
    bots = _at_table(comparison.bots, len(game.seats_of_team))
    seed = f"{comparison.seed}/{number}"
    plan = [
        PlannedGame(MATCHES * number + turned, number, seed, places, MATCHES)
        for turned, places in enumerate(_tables(number // len(comparison.games), game))
    ]
    play = _play_here if all(map(plays_here, bots)) else _play_in_processes
    first, second = (play(comparison, game, bots, planned) for planned in plan)
    for planned, match in zip(plan, (first, second), strict=True):
        _write(_path(comparison, game, planned), match.replay)  # both are over: their seed may be known
    return PlayedBlock(
        number,
        game_number,
        seed,
        (first.rows, second.rows),
        first.faults + second.faults,
        frozenset(first.broke + second.broke),
    )


def _at_table(bots: Sequence[BotSpec], count: int) -> tuple[BotSpec, ...]:
    """Return the bots of a match: the two versions, and others, with names of their own for copies."""
    table = list(bots[:2])
    for number, bot in enumerate(islice(cycle(bots[2:]), count - 2)):
        copy = number // len(bots[2:])
        table.append(replace(bot, name=f"{bot.name[:28]}.{copy + 1}") if copy else bot)
    return tuple(table)


def _tables(number: int, game: Game) -> list[tuple[int, ...]]:
    """Return the two tables of the deal with this number in its game, as the bot of each seat. Over the deals
    the two versions come to every pair of places."""
    places = range(len(game.seats_of_team))
    pairs = list(combinations(places, 2))
    pair = pairs[number % len(pairs)]
    others = iter(range(2, len(places)))
    of_team = {place: next(others) for place in places if place not in pair}
    tables: list[tuple[int, ...]] = []
    for early, late in ((NEW, OLD), (OLD, NEW)):
        of_team |= {pair[0]: early, pair[1]: late}
        tables.append(tuple(of_team[team] for team in game.team_of))
    return tables


@dataclass(frozen=True, slots=True)
class _Match:
    """A match that was played, here or by processes. `replay` has its seed."""

    rows: list[Row]
    replay: bytes
    faults: tuple[str, ...] = ()
    broke: tuple[str, ...] = ()


def _plan(comparison: Comparison, game: Game, bots: Sequence[BotSpec], planned: PlannedGame) -> MatchPlan:
    return MatchPlan(
        match=planned.match,
        game=game,
        names=tuple(bots[bot].name for bot in planned.bots),
        seed=planned.seed,
        salt=secrets.token_bytes(32),
        clocks=clocks_of(comparison.time),
        reveal_later=True,  # else the bots of the first match would know the deal of the second
    )


def _deal(comparison: Comparison, game: Game, planned: PlannedGame) -> Deal:
    path = _path(comparison, game, planned)
    replay = "" if path is None else str(path)
    return Deal(planned.match, planned.number, planned.block, planned.seed_text, game, replay)


def _path(comparison: Comparison, game: Game, planned: PlannedGame) -> Path | None:
    folder = comparison.replays
    return None if folder is None else folder / replay_name(game, comparison.seed, planned.number)


def _play_here(comparison: Comparison, game: Game, bots: Sequence[BotSpec], planned: PlannedGame) -> _Match:
    entrants = [Entrant(bots[bot].name, new_player(bots[bot].built_in)) for bot in planned.bots]
    plan = _plan(comparison, game, bots, planned)
    played = play_here(plan, entrants, [planned.bot_seed(seat) for seat in range(len(entrants))])
    conduct = [
        SeatConduct(entrant.name, unused, each.asks, each.used_ms, each.slowest_ms)
        for entrant, each, unused in zip(entrants, played.conduct, played.unused_cards, strict=True)
    ]
    rows = rows_of(_deal(comparison, game, planned), played.result, conduct)
    return _Match(rows, revealed(played.replay, plan.seed, plan.salt))


def _play_in_processes(
    comparison: Comparison, game: Game, bots: Sequence[BotSpec], planned: PlannedGame
) -> _Match:
    hide_memory()  # the deal is in it
    specs = tuple(
        replace(bots[bot], process="house") if _sits_in_server(bots[bot]) else bots[bot]
        for bot in planned.bots
    )
    plan = _plan(comparison, game, bots, planned)
    times: dict[Seat, Conduct] = {}
    bot_match = BotMatch(
        plan=plan,
        bots=specs,
        bot_seeds=tuple(map(planned.bot_seed, range(len(specs)))),
        needs_all=planned.block == 0,
        house_bots={name: _timed(new, times) for name, new in house_bots().items()},
    )
    try:
        played = trio.run(play_match, bot_match, comparison.confinement)
    except MissingBotsError as error:
        raise CommandError(_missing(error), FAILED) from None
    except BotStartError as error:
        raise usage_error(str(error)) from None
    except NoResultError as error:
        raise infrastructure_error(f"match {planned.number}: {error}") from None
    faults = [(seat.bot, fault) for seat in played.seats for fault in faults_of(seat.conduct)]
    rows = rows_of(
        _deal(comparison, game, planned),
        played.result,
        [
            _conduct(each, played.unused_cards[seat], times.get(seat))
            for seat, each in enumerate(played.seats)
        ],
    )
    return _Match(
        rows,
        revealed(played.replay, plan.seed, plan.salt),
        tuple(f"{bot} in match {planned.number}: {in_words(fault)}" for bot, fault in faults),
        tuple(bot for bot, fault in faults if fault.kind in BREAKDOWNS),
    )


def _sits_in_server(bot: BotSpec) -> bool:
    return plays_here(bot) and bot.built_in in QUICK_BOTS


def _timed(new_player: NewHousePlayer, times: dict[Seat, Conduct]) -> NewHousePlayer:
    """Return house players whose answers are timed: the server's clock does not run for them."""

    def new(start: bytes, seed: str) -> Callable[[bytes], bytes]:
        conduct = times[msgspec.json.decode(start, type=_Seated).seat] = Conduct()
        player = new_player(start, seed)

        def answer(line: bytes) -> bytes:
            began = perf_counter()
            act = player(line)
            conduct.took(1000 * (perf_counter() - began))
            return act

        return answer

    return new


class _Seated(msgspec.Struct):
    """The fields of a `start` that are read."""

    seat: Seat


def _conduct(seat: Played, unused_cards: int, timed: Conduct | None) -> SeatConduct:
    """Return what a seat did. `timed` are the answers of a house bot."""
    return SeatConduct(
        bot=seat.bot,
        unused_cards=unused_cards,
        asks=seat.asks,
        used_ms=seat.used_ms if timed is None else timed.used_ms,
        slowest_ms=seat.slowest_ms if timed is None else timed.slowest_ms,
        refused=(seat.conduct.refused + seat.conduct.unreadable).total(),
        problem=next((in_words(fault) for fault in faults_of(seat.conduct)), ""),
    )


def _missing(error: MissingBotsError) -> str:
    """Say in one line which bot did not come, and why."""
    bot = next(iter(error.missing.values()))
    [fault, *_] = faults_of(bot.conduct)
    printed = f"; it printed: {fault.last_lines[-1]}" if fault.last_lines else ""
    hint = f" ({fault.hint})" if fault.hint else ""
    return f"{bot.bot}: {in_words(fault)}{printed}{hint}"


def _write(path: Path | None, replay: bytes) -> None:
    if path is None:
        return
    try:
        write_whole(path, replay)
    except OSError as error:
        raise not_writable(str(path), error) from None
