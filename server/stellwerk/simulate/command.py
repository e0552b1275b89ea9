"""`stellwerk simulate`: many games between built-in policies, and their statistics.

Results go to standard output. A progress bar goes to standard error, if that is a terminal.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import sys
from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import Final

import msgspec
from msgspec import Struct

from stellwerk.shared import progress
from stellwerk.shared.choose_game import (
    add_game_arguments,
    checked_seed,
    game_of_arguments,
    unknown,
    whole_number,
)
from stellwerk.shared.errors import DONE, usage_error
from stellwerk.shared.folders import writable_folder
from stellwerk.shared.terminal import say
from stellwerk.simulate.simulation import POLICY_NAMES, Chunk, GameRecord, PolicyName, Simulation, simulate
from stellwerk.simulate.tally import Tally
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_protocol.canonical import shown

DESCRIPTION: Final = """\
Play many games between built-in policies, and show points, wins and speed.

Game number i of the simulation, counted from 0, is dealt from the seed S/i,
whatever else is played beside it: neither --jobs nor --games changes a game.

With several policies the seats take them in turn, and every game moves them on
by one seat, so that each policy plays as often in every seat. In team games
partners have the same policy, and they move on by one team.
"""

EXAMPLES: Final = """\
examples:
  stellwerk simulate usa --games 1000
  stellwerk simulate united_kingdom --players 4 --option advanced_technologies
  stellwerk simulate card_game --players 3 --policy planner,random --json
  stellwerk simulate team_asia --games 20 --seed 42 --replays games
  stellwerk simulate team_asia --first 7 --games 1 --seed 42  # number 7 of them
"""

MOST_GAMES: Final = 1_000_000
MOST_JOBS: Final = 61 if sys.platform == "win32" else 256  # Windows can wait for 63 things at once
GAMES_FOR_A_JOB: Final = 25  # with fewer, a process takes longer to start than to play them
BAR: Final = 30


class SimulationReport(Struct, frozen=True):
    """The output of `--json`. All but the seconds follows from the arguments and the seed."""

    game: str
    rules_version: int
    players: int
    options: tuple[str, ...]
    board: str
    seed: str
    policies: tuple[PolicyName, ...]
    games: list[GameRecord]
    decisions: int
    seconds: float
    cpu_seconds: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = DESCRIPTION
    parser.epilog = EXAMPLES
    add_game_arguments(parser)
    parser.add_argument(
        "--games", metavar="M", type=whole_number(1, MOST_GAMES), default=100, help="how many (default: 100)"
    )
    parser.add_argument(
        "--first",
        metavar="I",
        type=whole_number(0, MOST_GAMES),
        default=0,
        help="the number of the first game (default: 0)",
    )
    parser.add_argument(
        "--seed", metavar="S", help="any text of up to 200 characters (default: drawn, and printed)"
    )
    parser.add_argument(
        "--policy",
        metavar="NAME",
        action="append",
        default=[],
        help=f"{' or '.join(POLICY_NAMES)}; several, or with commas: in turn (default: random)",
    )
    parser.add_argument(
        "--replays", metavar="DIR", help="write a replay of each game there, in place of any of that name"
    )
    parser.add_argument(
        "--jobs",
        metavar="J",
        type=whole_number(1, MOST_JOBS),
        help="processes that play (default: one a core, if there are games enough)",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="every game with its points as one JSON object, instead of a table",
    )


def run(arguments: argparse.Namespace) -> int:
    simulation = _simulation(arguments)
    jobs: int = arguments.jobs or min(_cores(), max(1, simulation.count // GAMES_FOR_A_JOB))
    started = perf_counter()
    chunks = _with_progress(simulate(simulation, jobs), simulation.count)
    if arguments.json:
        _print_json(simulation, chunks, started)
    else:
        _print_table(simulation, chunks, started)
    return DONE


def _simulation(arguments: argparse.Namespace) -> Simulation:
    game = game_of_arguments(arguments)
    policies = _policies(arguments.policy)
    seed = secrets.token_hex(8) if arguments.seed is None else checked_seed(arguments.seed)
    checked_seed(f"{seed}/{arguments.first + arguments.games - 1}", "--seed with the number of a game")
    if arguments.replays is not None:
        writable_folder(arguments.replays)
    return Simulation(game, policies, seed, arguments.first, arguments.games, arguments.replays)


def _policies(values: list[str]) -> tuple[PolicyName, ...]:
    names = tuple(name.strip() for value in values for name in value.split(","))
    for name in names:
        if name not in POLICY_NAMES:
            raise usage_error(f"--policy: {unknown('policy', name, POLICY_NAMES)}")
    return names or ("random",)


def _cores() -> int:
    """Count the cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux has this
        return os.cpu_count() or 1


# -- output ------------------------------------------------------------------------------------------


def _print_table(simulation: Simulation, chunks: Iterable[Chunk], started: float) -> None:
    tally = Tally(simulation.game.make())
    cpu_seconds = 0.0
    for chunk in chunks:
        cpu_seconds += chunk.cpu_seconds
        for record in chunk.games:
            tally.add(record)
    seconds = perf_counter() - started
    for line in (*_heading(simulation), "", *tally.lines()):
        say(line)
    rate = tally.decision_count / cpu_seconds if cpu_seconds else 0.0
    say(f"speed         {rate:,.0f} decisions a CPU second")
    say(f"              {tally.decision_count:,} decisions in {seconds:.1f} s ({cpu_seconds:.1f} CPU s)")
    if simulation.replays is not None:
        say(f"replays       {shown(simulation.replays, 200)}")


def _heading(simulation: Simulation) -> Iterator[str]:
    choice: GameChoice = simulation.game
    rules = RULE_SETS[choice.game_id]
    yield f"{rules.id}: {rules.title}"
    yield f"rules         version {rules.rules_version}"
    if choice.options:
        yield f"options       {', '.join(choice.options)}"
    yield f"board         {choice.board.id} {choice.board.digest[:16]}..."
    yield f"players       {choice.seat_count}, by policy: {', '.join(simulation.policies)}"
    numbers = simulation.numbers
    last = f" to {numbers[-1]}" if len(numbers) > 1 else ""
    yield f"games         {len(numbers):,}, number {numbers[0]}{last}"
    yield f"seed          {simulation.seed}"


def _print_json(simulation: Simulation, chunks: Iterable[Chunk], started: float) -> None:
    choice = simulation.game
    done = list(chunks)
    games = [record for chunk in done for record in chunk.games]
    report = SimulationReport(
        game=choice.game_id,
        rules_version=RULE_SETS[choice.game_id].rules_version,
        players=choice.seat_count,
        options=choice.options,
        board=choice.board.digest,
        seed=simulation.seed,
        policies=simulation.policies,
        games=games,
        decisions=sum(record.decisions for record in games),
        seconds=round(perf_counter() - started, 3),
        cpu_seconds=round(sum(chunk.cpu_seconds for chunk in done), 3),
    )
    # The standard library's encoder, because it can keep to ASCII, which every terminal can show.
    say(json.dumps(msgspec.to_builtins(report)))


def _with_progress(chunks: Iterator[Chunk], game_count: int) -> Iterator[Chunk]:
    if not progress.is_shown():
        yield from chunks
        return
    done = 0
    try:
        progress.draw(_bar(done, game_count))
        for chunk in chunks:
            done += len(chunk.games)
            progress.draw(_bar(done, game_count))
            yield chunk
    finally:
        progress.clear()


def _bar(done: int, game_count: int) -> str:
    filled = BAR * done // game_count
    return f"[{'#' * filled}{'.' * (BAR - filled)}] {done:,} of {game_count:,} games"
