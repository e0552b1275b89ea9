"""One tree's engine, measured in slices: started by `bench_engine`, which says what and for how long.

    engine_worker.py

It reads lines of JSON `[variant, operation, seconds]` and answers each with `[count, games, CPU seconds]`:
how often the operation was done, over how many whole games if it plays, and what that took. `["", "sizes",
0]` and the like are answered with the figures asked for. A commit is measured by the worker that it has
itself, or by this one if that lacks an operation: what this file uses is what commits before it have as well.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from time import process_time

import msgspec

from stellwerk_bots.planner.policy import planner
from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.game import make_game
from stellwerk_engine.core.state import Events, Game, Move, Seat, State
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.limits import longest_line
from stellwerk_engine.knowledge.view import view

POSITIONS = 400
WARM_UP_SECONDS = 0.5  # to fill the tables of claims

encode = msgspec.json.Encoder().encode


class Variant:
    """A game with its positions, spread over many random games, and the random move made in each."""

    def __init__(self, name: str) -> None:
        game_id, seats, *options = name.split("-")
        rules = RULE_SETS[game_id]
        self.game: Game = make_game(rules, shipped_board(rules.board), int(seats), tuple(options))
        self.chance = random.Random(name)
        self.number = 0
        self.play(WARM_UP_SECONDS, with_events=False)
        self.positions = _positions(self.game)
        self.views = [view(state, seat) for state, seat, _ in self.positions]
        self.operations: dict[str, Callable[[float], tuple[int, int, float]]] = {
            "play": lambda seconds: self.play(seconds, with_events=False),
            "play with events": lambda seconds: self.play(seconds, with_events=True),
            "planner plays": self.let_planner_play,
            "copy": lambda seconds: _repeated(self.copy_all, seconds),
            "legal": lambda seconds: _repeated(self.list_all, seconds),
            "apply": lambda seconds: self.apply_all(seconds, with_events=False),
            "apply with events": lambda seconds: self.apply_all(seconds, with_events=True),
            "view": lambda seconds: _repeated(self.view_all, seconds),
            "encode": lambda seconds: _repeated(self.encode_all, seconds),
            "view and encode": lambda seconds: _repeated(self.view_and_encode_all, seconds),
        }

    def play(self, seconds: float, with_events: bool) -> tuple[int, int, float]:
        """Play random games for so long. The last one is played to its end, or short slices would see
        beginnings only."""
        pick = self.chance.random
        decisions = games = 0
        begin = process_time()
        while process_time() - begin < seconds:
            events: Events | None = [] if with_events else None
            state = engine.new_game(self.game, Dice(seed_from_text(f"bench/{self.number}")), events)
            while state.pending is not None:
                for seat in state.pending.seats:
                    moves = state.pending.legal(state, seat)
                    moves[int(pick() * len(moves))].apply(state, seat, events)
                    decisions += 1
            games += 1
            self.number += 1
        return decisions, games, process_time() - begin

    def let_planner_play(self, seconds: float) -> tuple[int, int, float]:
        """Play whole games between planners for so long."""
        decisions = games = 0
        begin = process_time()
        while process_time() - begin < seconds:
            state = engine.new_game(self.game, Dice(seed_from_text(f"bench/{self.number}")))
            while state.pending is not None:
                for seat in state.pending.seats:
                    planner(state, seat, state.pending.legal(state, seat)).apply(state, seat, None)
                    decisions += 1
            games += 1
            self.number += 1
        return decisions, games, process_time() - begin

    def copy_all(self) -> None:
        for state, _, _ in self.positions:
            state.copy()

    def list_all(self) -> None:
        for state, seat, _ in self.positions:
            engine.legal(state, seat)

    def view_all(self) -> None:
        for state, seat, _ in self.positions:
            view(state, seat)

    def encode_all(self) -> None:
        for shown in self.views:
            encode(shown)

    def view_and_encode_all(self) -> None:
        for state, seat, _ in self.positions:
            encode(view(state, seat))

    def apply_all(self, seconds: float, with_events: bool) -> tuple[int, int, float]:
        count, spent = 0, 0.0
        while spent < seconds:
            copies = [(state.copy(), seat, move) for state, seat, move in self.positions]
            events: Events | None = [] if with_events else None
            begin = process_time()
            for state, seat, move in copies:
                move.apply(state, seat, events)
            spent += process_time() - begin
            count += len(copies)
        return count, 0, spent

    def sizes(self) -> list[float]:
        """Count listed moves and bytes of a view: mean, maximum, computed bound; then the longest line."""
        lists = [len(engine.legal(state, seat)) for state, seat, _ in self.positions]
        views = [len(encode(shown)) for shown in self.views]
        longest = longest_line(self.game)
        return [
            sum(lists) / len(lists),
            max(lists),
            longest.moves_count,
            sum(views) / len(views),
            max(views),
            longest.view,
            longest.line,
        ]


def _positions(game: Game) -> list[tuple[State, Seat, Move]]:
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


def _repeated(once: Callable[[], None], seconds: float) -> tuple[int, int, float]:
    count = 0
    begin = process_time()
    while process_time() - begin < seconds:
        once()
        count += POSITIONS
    return count, 0, process_time() - begin


def _bare_calls(seconds: float) -> tuple[int, int, float]:
    """Measure the cost of a Python function call that does next to nothing, to compare machines by."""

    def add_one(number: int) -> int:
        return number + 1

    count = 0
    begin = process_time()
    while process_time() - begin < seconds:
        for number in range(10_000):
            add_one(number)
        count += 10_000
    return count, 0, process_time() - begin


def main() -> None:
    variants: dict[str, Variant] = {}
    for line in sys.stdin:
        name, operation, seconds = json.loads(line)
        if operation == "bare call":
            answer: object = _bare_calls(seconds)
        else:
            if name not in variants:
                variants[name] = Variant(name)
            variant = variants[name]
            answer = variant.sizes() if operation == "sizes" else variant.operations[operation](seconds)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
