"""`stellwerk.run_match` and `stellwerk.run_matches`: matches from Python.

Law: match number i follows from the seed and i alone, in however many processes they are played. It is the
one that `stellwerk play` plays with this number, seed and bots.
"""

from __future__ import annotations

import pickle
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from os import PathLike, fspath
from pathlib import Path
from typing import Final

from stellwerk.lab.match_here import OnError, play_here
from stellwerk.lab.players import Bot, NamedBot, entrants
from stellwerk.lab.rows import Row, rows_of
from stellwerk.matches.planned_games import PlannedGame, pieces, planned_games
from stellwerk.shared.choose_game import checked_seed, chosen_game, rules_called, seats_for
from stellwerk.shared.errors import CommandError
from stellwerk.shared.folders import writable_folder
from stellwerk.shared.replay_name import replay_name
from stellwerk_base.texts import counted
from stellwerk_engine.core.state import Game, RuleSet
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_server.match.plan import MatchPlan
from stellwerk_server.operate.settings import Time, clocks_of

_LONGEST_MOVE: Final = 24 * 60 * 60


@dataclass(frozen=True, slots=True)
class _Series:
    """Matches of the same bots in the same game."""

    choice: GameChoice
    bots: tuple[Bot, ...]
    names: tuple[str, ...]
    seed: str
    on_error: OnError
    move_s: float | None
    replays: str | None


def run_match(
    bots: Sequence[Bot],
    game: str | RuleSet = "usa",
    *,
    seed: str | None = None,
    options: Sequence[str] = (),
    board: str | PathLike[str] | None = None,
    names: Sequence[str] | None = None,
    replays: str | PathLike[str] | None = None,
    on_error: OnError = "raise",
    move_s: float | None = None,
) -> list[Row]:
    """Play a match in this process, dealt from `seed`, and return a record for each seat.

    `bots` has one for each seat, or in team games for each team: the name of a built-in bot, a class or
    function that makes a player, or a player. `game` is the name of a shipped one, or rules
    of your own. `board` is a file. A replay is written into the folder
    `replays`, in place of any of that name. Exceptions of a player are passed on. An answer that a server
    would refuse raises IllegalAnswerError. `move_s` is the limit for each answer, in seconds: a longer one
    raises LateAnswerError, in the main thread on Unix where the player is at that moment. With
    `on_error="play_on"` the match goes on instead, and its record counts all of them.

    ValueError for an unknown bot, game, option or board, and for a wrong number of bots.
    """
    series, _ = _series(bots, game, seed, options, board, names, replays, on_error, move_s)
    made = series.choice.make()
    seats = tuple(range(len(series.bots)))
    planned = PlannedGame(0, 0, series.seed, tuple(seats[team] for team in made.team_of), 1)
    return _play(series, made, entrants(series.bots, series.names), planned)


def run_matches(
    bots: Sequence[Bot],
    game: str | RuleSet = "usa",
    *,
    matches: int = 10,
    seed: str | None = None,
    rotate: bool = True,
    options: Sequence[str] = (),
    board: str | PathLike[str] | None = None,
    names: Sequence[str] | None = None,
    replays: str | PathLike[str] | None = None,
    on_error: OnError = "raise",
    move_s: float | None = None,
    jobs: int = 1,
) -> list[Row]:
    """Play matches, and return a record for each seat of each match, as `run_match` does.

    With `rotate` they come in blocks of as many matches as there are bots. A block has one deal, and in each
    of its matches all bots move on by one seat, or team. Block number b is dealt from the seed `S/b`. Without
    `rotate`, match number b is dealt from `S/b`. `jobs` processes play; unless all bots are built in, each
    plays whole blocks. With more than one, the bots must be
    classes or functions of a module, and a script that calls this needs `if __name__ == "__main__":`.
    """
    if matches < 1 or jobs < 1:
        raise ValueError(f"expected at least one of each, found matches={matches}, jobs={jobs}")
    series, checked = _series(bots, game, seed, options, board, names, replays, on_error, move_s, matches)
    made = series.choice.make()
    plan = planned_games(series.seed, matches, len(series.bots), made.team_of, rotates=rotate)
    if min(jobs, matches) == 1:
        return [row for planned in plan for row in _play(series, made, checked, planned)]
    return list(_in_processes(series, list(plan), jobs))


def _in_processes(series: _Series, plan: list[PlannedGame], jobs: int) -> Iterator[Row]:
    from stellwerk.shared.processes import in_processes  # its imports take a while

    for number, bot in enumerate(series.bots):
        try:
            pickle.dumps(bot)
        except Exception as error:
            raise ValueError(
                f"bots[{number}]: cannot be sent to another process ({error}): define it in a module, "
                "or play with jobs=1"
            ) from None
    try:
        work = list(pieces(plan, may_overlap=all(isinstance(bot, str) for bot in series.bots)))
        for rows in in_processes(partial(_play_alone, series), work, min(jobs, len(work))):
            yield from rows
    except CommandError as error:
        raise RuntimeError(error.message) from None


def _play_alone(series: _Series, piece: Sequence[PlannedGame]) -> list[Row]:
    game, bots = series.choice.make(), entrants(series.bots, series.names)
    return [row for planned in piece for row in _play(series, game, bots, planned)]


def _series(
    bots: Sequence[Bot],
    game: str | RuleSet,
    seed: str | None,
    options: Sequence[str],
    board: str | PathLike[str] | None,
    names: Sequence[str] | None,
    replays: str | PathLike[str] | None,
    on_error: OnError,
    move_s: float | None,
    matches: int = 1,
) -> tuple[_Series, tuple[NamedBot, ...]]:
    """Check what the user gave, before the first match. ValueError and TypeError, which say what is wrong."""
    checked = entrants(bots, names)
    if on_error not in ("raise", "play_on"):
        raise ValueError(f'on_error: expected "raise" or "play_on", found {on_error!r:.60}')
    if move_s is not None and not 0 < move_s <= _LONGEST_MOVE:
        raise ValueError(f"move_s: expected seconds above 0, up to {_LONGEST_MOVE}, found {move_s!r:.60}")
    try:
        rules = rules_called(game) if isinstance(game, str) else game
        seats = seats_for(rules, len(checked), f"bots has {counted(len(checked), 'bot')}")
        choice = chosen_game(rules, seats, options, None if board is None else fspath(board))
        text = secrets.token_hex(8) if seed is None else checked_seed(str(seed), "seed")
        checked_seed(f"{text}/{matches - 1}", "seed")
        folder = None if replays is None else str(writable_folder(fspath(replays)))
    except CommandError as error:
        raise ValueError(error.message) from None
    names = tuple(each.name for each in checked)
    series = _Series(choice, tuple(bots), names, text, on_error, move_s, folder)
    return series, checked


def _time(move_s: float | None) -> Time:
    """Return the time that asks offer."""
    return Time() if move_s is None else Time(move_ms=ceil(1000 * move_s), bank_ms=0, grace_ms=0)


def _play(series: _Series, game: Game, checked: Sequence[NamedBot], planned: PlannedGame) -> list[Row]:
    seats = [checked[bot] for bot in planned.bots]
    plan = MatchPlan(
        match=planned.match,
        game=game,
        names=tuple(seat.name for seat in seats),
        seed=planned.seed,
        salt=planned.salt,
        clocks=clocks_of(_time(series.move_s)),
    )
    seeds = [planned.bot_seed(seat) for seat in range(len(seats))]
    played = play_here(plan, seats, seeds, series.on_error, series.move_s)
    replay = ""
    if series.replays is not None:
        path = Path(series.replays, replay_name(game, series.seed, planned.number))
        path.write_bytes(played.replay)
        replay = str(path)
    return rows_of(planned, played, replay)
