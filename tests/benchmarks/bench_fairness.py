"""How much a bot that burns the processor takes from its opponent, with freezing and without.

    python -m tests.benchmarks.bench_fairness [--rounds N]

A victim, which does the same work for each answer, plays the same deal against a bot that is idle while it
is not asked, and against one that burns every processor of the machine all the time (`fairness_bots.py`):
each of them frozen while it is not asked, and not. The moves are the same in all matches. All are played in
turn, and a ratio is made within one round: see `rounds.py`.

Read the figures so. *Time*: of one answer of the victim's by the match's clock, from its ask on. *CPU*:
what its processes used of it. *Waited*: how long it was ready to run then and had to wait for a processor.
*Ratio*: of the match beside the burner to the match beside the idle bot in the same round. With a fair
clock it is 1. What else runs on the machine is in all figures, and makes the quartiles wide.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import trio

from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_processes.bench.levels import LEVELS, Confinement
from stellwerk_processes.bench.resolve_sandbox import try_level
from stellwerk_processes.bot_spec import BotSpec
from stellwerk_processes.started_match import BotMatch, play_match
from stellwerk_server.match.plan import MatchPlan
from stellwerk_server.operate.settings import Time, clocks_of
from tests.benchmarks.rounds import ROUNDS, in_turn, print_table, ratios, spread

TRAINS: Final = 12  # for each player: a short match, of some dozens of answers
PATIENCE: Final = 120.0  # seconds for a match, which takes about one
PROGRAM: Final = str(Path(__file__).with_name("fairness_bots.py"))


@dataclass(frozen=True)
class Contender:
    """A match that the victim plays."""

    level: str
    confinement: Confinement
    opponent: str
    freeze: bool


@dataclass(frozen=True)
class Sample:
    """An answer of the victim's, on average over a match, in milliseconds."""

    time_ms: float
    cpu_ms: float
    waited_ms: float


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default {ROUNDS}")
    arguments = parser.parse_args()
    print(f"\n{os.cpu_count()} processors; a burner burns all of them\n")
    rows: list[list[str]] = []
    for level, confinement in levels().items():
        print(f"measuring the level {level} ...", file=sys.stderr)
        rows += measured(level, confinement, arguments.rounds)
    head = [
        "sandbox",
        "bots are",
        "time beside the idle bot",
        "the burner",
        "ratio",
        "CPU ratio",
        "waited beside both",
    ]
    print_table(head, rows)


def levels() -> Mapping[str, Confinement]:
    """Return the levels of the sandbox that hold on this machine."""
    attempts = [trio.run(try_level, Confinement(), level) for level in LEVELS]
    return {attempt.level: Confinement(level=attempt.level) for attempt in attempts if not attempt.problem}


def measured(level: str, confinement: Confinement, rounds: int) -> list[list[str]]:
    contenders = [
        Contender(level, confinement, opponent, freeze)
        for freeze in (False, True)
        for opponent in ("idle", "burner")
    ]
    samples = in_turn(contenders, sample, rounds)
    rows: list[list[str]] = []
    for number, freeze in ((0, "running on"), (2, "frozen")):
        idle, burner = samples[number], samples[number + 1]
        rows.append(
            [
                level,
                freeze,
                spread([each.time_ms for each in idle]).text(2) + " ms",
                spread([each.time_ms for each in burner]).text(2) + " ms",
                ratios([each.time_ms for each in burner], [each.time_ms for each in idle]).text(2),
                ratios([each.cpu_ms for each in burner], [each.cpu_ms for each in idle]).text(2),
                f"{spread([each.waited_ms for each in idle]).median:.2f} ms, "
                f"{spread([each.waited_ms for each in burner]).median:.2f} ms",
            ]
        )
    return rows


def sample(contender: Contender) -> Sample:
    """Play one match."""
    game = GameChoice("usa", 2, (), replace(shipped_board("usa"), trains=TRAINS)).make()
    names = ("victim", contender.opponent)
    match = BotMatch(
        MatchPlan("fairness", game, names, bytes(32), bytes(32), clocks_of(Time(move_ms=60_000))),
        bots=tuple(BotSpec(name, (sys.executable, PROGRAM, name), built_in="greedy") for name in names),
        bot_seeds=("victim", "other"),
        freeze=contender.freeze,
    )

    async def play() -> Sample:
        with trio.fail_after(PATIENCE):
            played = await play_match(match, contender.confinement)
        victim, other = played.seats
        faults = victim.conduct.defaults.total() + other.conduct.defaults.total()
        assert not faults, "a bot did not answer: these figures would not be what they should be"
        assert victim.measured is not None
        times = victim.measured.times
        return Sample(victim.used_ms / victim.asks, times.cpu_ms / victim.asks, times.waited_ms / victim.asks)

    return trio.run(play)


if __name__ == "__main__":
    main()
