"""Many games between policies, in this process or in several, with a record of each.

Law: game number i is fixed by the simulation's seed and i alone. It is dealt from the seed text `S/i`, and a
policy that moves by chance gets a source of its own for each game and seat. So neither the number of
processes nor which games are played changes any game.
"""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from time import process_time
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from stellwerk.shared.errors import not_writable
from stellwerk.shared.replay_name import replay_name
from stellwerk_bots.planner.policy import planner
from stellwerk_bots.policies import Policy, random_policy
from stellwerk_bots.self_play import PlayedGame, play_game
from stellwerk_engine.core.dice import seed_from_text
from stellwerk_engine.core.state import Game
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_protocol.names import Count, EndReason, Points, Seat, Team
from stellwerk_protocol.results import Bonus, Result, TicketScore

PolicyName = str
POLICY_NAMES: Final[tuple[PolicyName, ...]] = ("random", "planner")

GAMES_IN_A_CHUNK: Final = (
    8  # some tenths of a second: little to wait for, and much more than sending it costs
)


@dataclass(frozen=True, slots=True)
class Simulation:
    game: GameChoice
    policies: tuple[PolicyName, ...]
    seed: str
    first: int
    count: int
    replays: str | None = None  # a folder

    @property
    def numbers(self) -> range:
        return range(self.first, self.first + self.count)


class PlayedSeat(Struct, frozen=True):
    """Partners share points, rank and all that they are made of."""

    seat: Seat
    team: Team
    policy: PolicyName
    rank: int
    points: Points
    route_points: Points
    tickets: tuple[TicketScore, ...]
    bonuses: tuple[Bonus, ...]
    longest_path: Count


class GameRecord(Struct, frozen=True, omit_defaults=True):
    seed: str
    seats: tuple[PlayedSeat, ...]
    turns: Count
    reason: EndReason
    decisions: int
    longest_list: int  # of legal moves
    replay: str | UnsetType = UNSET


class Chunk(Struct, frozen=True):
    numbers: range
    games: list[GameRecord]
    cpu_seconds: float


def simulate(simulation: Simulation, jobs: int) -> Iterator[Chunk]:
    """Play all games in `jobs` processes and yield the chunks in order."""
    starts = range(simulation.first, simulation.numbers.stop, GAMES_IN_A_CHUNK)
    chunks = [range(start, min(start + GAMES_IN_A_CHUNK, simulation.numbers.stop)) for start in starts]
    if min(jobs, len(chunks)) > 1:
        # Only now: the import would add a fifth to the start of every other simulation.
        from stellwerk.shared.processes import in_processes

        return in_processes(partial(play, simulation), chunks, min(jobs, len(chunks)))
    return (play(simulation, numbers) for numbers in chunks)


def play(simulation: Simulation, numbers: range) -> Chunk:
    """Play the games with these numbers in this process."""
    game = simulation.game.make()
    started = process_time()
    games = [_play_game(simulation, game, number) for number in numbers]
    return Chunk(numbers, games, process_time() - started)


def policies_of(simulation: Simulation, game: Game, number: int) -> tuple[PolicyName, ...]:
    """Return for each seat the policy of its team.

    The policies take turns: team t has number t + i in game i, so each plays as often in each seat.
    """
    policies = simulation.policies
    return tuple(policies[(team + number) % len(policies)] for team in game.team_of)


def _play_game(simulation: Simulation, game: Game, number: int) -> GameRecord:
    seed = f"{simulation.seed}/{number}"
    names = policies_of(simulation, game, number)
    policies = [_policy(name, f"{seed}/{seat}") for seat, name in enumerate(names)]
    if simulation.replays is None:
        return _record(seed, names, play_game(game, seed_from_text(seed), policies))
    lines: list[bytes] = []
    played = play_game(game, seed_from_text(seed), policies, write=lines.append, names=names)
    replay = os.path.join(simulation.replays, replay_name(game, simulation.seed, number))
    _write(replay, lines)
    return _record(seed, names, played, replay)


def _policy(name: PolicyName, seed: str) -> Policy:
    return planner if name == "planner" else random_policy(random.Random(seed))


def _record(
    seed: str, names: tuple[PolicyName, ...], played: PlayedGame, replay: str | UnsetType = UNSET
) -> GameRecord:
    result = played.result
    return GameRecord(
        seed=seed,
        seats=tuple(_played_seat(result, seat, name) for seat, name in enumerate(names)),
        turns=result.turns,
        reason=result.reason,
        decisions=played.decision_count,
        longest_list=played.longest_list,
        replay=replay,
    )


def _played_seat(result: Result, seat: Seat, policy: PolicyName) -> PlayedSeat:
    [team] = [team for team in result.teams if seat in team.seats]
    return PlayedSeat(
        seat=seat,
        team=team.team,
        policy=policy,
        rank=team.rank,
        points=team.points,
        route_points=team.route_points,
        tickets=team.tickets,
        bonuses=team.bonuses,
        longest_path=team.longest_path,
    )


# -- replays -----------------------------------------------------------------------------------------


def _write(path: str, lines: list[bytes]) -> None:
    """Write a replay whole or not at all."""
    part = f"{path}.part"
    try:
        try:
            with open(part, "wb") as file:
                file.writelines(lines)
            os.replace(part, path)
        finally:
            with contextlib.suppress(OSError):  # it is gone, if all went well
                os.unlink(part)
    except OSError as error:
        raise not_writable(path, error) from None
