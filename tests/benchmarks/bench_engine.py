"""What the engine costs: decisions and games a CPU second, and each operation by itself.

Everything is measured in one run and in CPU time, and printed beside the cost of a bare Python function
call in the same run, so that figures of different machines and days can be compared. `--json FILE` writes
the same figures for programs; `--seconds` is the CPU time spent on each measurement.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time

import msgspec

from stellwerk_engine import engine
from stellwerk_engine.board_file import shipped_board
from stellwerk_engine.decision import Events, Move, Seat
from stellwerk_engine.dice import Dice, seed_from_text
from stellwerk_engine.game import Game, make_game
from stellwerk_engine.games import RULE_SETS
from stellwerk_engine.limits import longest_line
from stellwerk_engine.state import State
from stellwerk_engine.view import view

VARIANTS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("usa", 2, ()),
    ("usa", 4, ()),
    ("united_kingdom", 4, ()),
    ("united_kingdom", 4, ("advanced_technologies",)),
    ("team_asia", 6, ()),
    ("card_game", 4, ()),
)
POSITIONS = 400
# The fastest simulator of the base game in Python that is known: fewer rules, no events, no views, one
# process on a machine of this class.
KNOWN_DECISIONS, KNOWN_GAMES = 120_000, 775


@dataclass(frozen=True)
class Figures:
    variant: str
    decisions_per_second: float
    games_per_second: float
    decisions_per_second_with_events: float
    games_per_second_with_events: float
    decisions_per_game: float
    copy_us: float
    legal_us: float
    apply_us: float
    apply_with_events_us: float
    view_us: float
    encode_us: float
    view_and_encode_us: float
    view_bytes: float
    legal_moves: float
    most_moves: int
    most_view_bytes: int
    computed_moves: int
    computed_view_bytes: int
    computed_line_bytes: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="CPU seconds a measurement (default 4)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    arguments = parser.parse_args()
    call_ns = bare_call_ns()
    figures: list[Figures] = []
    for game_id, seats, options in VARIANTS:
        rules = RULE_SETS[game_id]
        game = make_game(rules, shipped_board(rules.board), seats, options)
        name = "-".join([game_id, str(seats), *options])
        print(f"measuring {name} ...", file=sys.stderr)
        figures.append(measure(name, game, arguments.seconds))
    print_tables(figures, call_ns)
    if arguments.json:
        report = {"bare_call_ns": call_ns, "variants": [asdict(figure) for figure in figures]}
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")


def measure(name: str, game: Game, seconds: float) -> Figures:
    play_for(game, 0.5, with_events=False)  # fill the tables
    decisions, games, spent = play_for(game, seconds, with_events=False)
    decisions_e, games_e, spent_e = play_for(game, seconds, with_events=True)
    positions = sample_positions(game)
    states = [state for state, _, _ in positions]
    encode = msgspec.json.Encoder().encode
    views = [view(state, seat) for state, seat, _ in positions]
    lists = [engine.legal(state, seat) for state, seat, _ in positions]
    longest = longest_line(game)
    return Figures(
        variant=name,
        decisions_per_second=decisions / spent,
        games_per_second=games / spent,
        decisions_per_second_with_events=decisions_e / spent_e,
        games_per_second_with_events=games_e / spent_e,
        decisions_per_game=decisions / games,
        copy_us=cost_us(lambda: [state.copy() for state in states], seconds / 8),
        legal_us=cost_us(lambda: [engine.legal(state, seat) for state, seat, _ in positions], seconds / 8),
        apply_us=apply_us(positions, seconds / 8, with_events=False),
        apply_with_events_us=apply_us(positions, seconds / 8, with_events=True),
        view_us=cost_us(lambda: [view(state, seat) for state, seat, _ in positions], seconds / 8),
        encode_us=cost_us(lambda: [encode(shown) for shown in views], seconds / 8),
        view_and_encode_us=cost_us(
            lambda: [encode(view(state, seat)) for state, seat, _ in positions], seconds / 8
        ),
        view_bytes=sum(len(encode(shown)) for shown in views) / len(views),
        legal_moves=sum(len(moves) for moves in lists) / len(lists),
        most_moves=max(len(moves) for moves in lists),
        most_view_bytes=max(len(encode(shown)) for shown in views),
        computed_moves=longest.moves_count,
        computed_view_bytes=longest.view,
        computed_line_bytes=longest.line,
    )


def play_for(game: Game, seconds: float, with_events: bool) -> tuple[int, int, float]:
    """Random games for so long: decisions, games and CPU seconds."""
    pick = random.Random(game.id).random
    decisions = games = 0
    begin = process_time()
    while process_time() - begin < seconds:
        events: Events | None = [] if with_events else None
        state = engine.new_game(game, Dice(seed_from_text(f"bench/{games}")), events)
        while state.pending is not None:
            for seat in state.pending.seats:
                moves = state.pending.legal(state, seat)
                moves[int(pick() * len(moves))].apply(state, seat, events)
                decisions += 1
        games += 1
    return decisions, games, process_time() - begin


def sample_positions(game: Game) -> list[tuple[State, Seat, Move]]:
    """Positions spread over many random games, each with the random move made there."""
    source = random.Random("positions")
    positions: list[tuple[State, Seat, Move]] = []
    number = 0
    while len(positions) < POSITIONS:
        state = engine.new_game(game, Dice(seed_from_text(f"positions/{number}")))
        number += 1
        while state.pending is not None:
            for seat in state.pending.seats:
                moves = state.pending.legal(state, seat)
                move = moves[int(source.random() * len(moves))]
                if state.turn and source.random() < 0.05:
                    positions.append((state.copy(), seat, move))
                move.apply(state, seat, None)
    return positions[:POSITIONS]


def cost_us(once: Callable[[], object], seconds: float) -> float:
    """CPU microseconds a position: the best of several rounds, since others use the machine too."""
    best = float("inf")
    begin = process_time()
    while process_time() - begin < seconds:
        start = process_time()
        once()
        best = min(best, process_time() - start)
    return best / POSITIONS * 1e6


def apply_us(positions: list[tuple[State, Seat, Move]], seconds: float, with_events: bool) -> float:
    best = float("inf")
    begin = process_time()
    while process_time() - begin < seconds:
        copies = [(state.copy(), seat, move) for state, seat, move in positions]
        events: Events | None = [] if with_events else None
        start = process_time()
        for state, seat, move in copies:
            move.apply(state, seat, events)
        best = min(best, process_time() - start)
    return best / POSITIONS * 1e6


def bare_call_ns() -> float:
    def add_one(number: int) -> int:
        return number + 1

    best = float("inf")
    for _ in range(20):
        start = process_time()
        for number in range(100_000):
            add_one(number)
        best = min(best, process_time() - start)
    return best / 100_000 * 1e9


def print_tables(figures: list[Figures], call_ns: float) -> None:
    version = sys.version.split()[0]
    print(f"\nRandom policy, one process, CPU time, Python {version}; a bare call: {call_ns:.0f} ns\n")
    print_table(
        ["", "decisions/s", "games/s", "with events", "games/s", "decisions a game", "calls a decision"],
        [
            [
                f.variant,
                f"{f.decisions_per_second:,.0f}",
                f"{f.games_per_second:,.0f}",
                f"{f.decisions_per_second_with_events:,.0f}",
                f"{f.games_per_second_with_events:,.0f}",
                f"{f.decisions_per_game:.0f}",
                f"{1e9 / f.decisions_per_second / call_ns:.0f}",
            ]
            for f in figures
        ],
    )
    print_table(
        ["CPU µs", "copy", "legal", "apply", "+ events", "view", "encode", "view + encode"],
        [
            [
                f.variant,
                f"{f.copy_us:.2f}",
                f"{f.legal_us:.2f}",
                f"{f.apply_us:.2f}",
                f"{f.apply_with_events_us:.2f}",
                f"{f.view_us:.2f}",
                f"{f.encode_us:.2f}",
                f"{f.view_and_encode_us:.2f}",
            ]
            for f in figures
        ],
    )
    print_table(
        [
            "sizes",
            "moves, mean",
            "most met",
            "computed",
            "view bytes, mean",
            "most met",
            "computed",
            "a line",
        ],
        [
            [
                f.variant,
                f"{f.legal_moves:.1f}",
                f"{f.most_moves}",
                f"{f.computed_moves}",
                f"{f.view_bytes:.0f}",
                f"{f.most_view_bytes}",
                f"{f.computed_view_bytes}",
                f"{f.computed_line_bytes}",
            ]
            for f in figures
        ],
    )
    usa = figures[0]
    print(
        f"The fastest simulator in Python known: {KNOWN_DECISIONS:,} steps, {KNOWN_GAMES} games a CPU second."
    )
    print(
        f"usa-2 against it: {usa.decisions_per_second / KNOWN_DECISIONS:.2f} x decisions,"
        f" {usa.games_per_second / KNOWN_GAMES:.2f} x games"
    )


def print_table(head: list[str], rows: list[list[str]]) -> None:
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    for row in [head, *rows]:
        first, *others = row
        cells = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
        print("  ".join([first.ljust(widths[0]), *cells]))
    print()


if __name__ == "__main__":
    main()
