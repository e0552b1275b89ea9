"""Whole games of the bots that are compiled, as one digest: the same whoever plays them, plain or compiled.

    python -m tests.architecture.bot_games GAME

It prints what runs here and the digest. The games: `planner` in all seats, and what a search does in the
middle of each of them: to guess the tickets of the others, and to play on from there.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from typing import Final

from stellwerk.shared.version import build
from stellwerk_bots.planner.policy import planner
from stellwerk_bots.searcher.guessed_tickets import guess_tickets
from stellwerk_bots.searcher.rollout import play_on
from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.game import make_game
from stellwerk_engine.core.state import Game, Seat, State
from stellwerk_engine.games.shipped import RULE_SETS

GAMES: Final = 20
EVERY: Final = 40  # decisions


def main(game_id: str) -> None:
    rules = RULE_SETS[game_id]
    digest = hashlib.sha256()
    for number in range(GAMES):
        seats = rules.seat_counts[number % len(rules.seat_counts)]
        options = tuple(option.id for option in rules.options) if number % 2 else ()
        game = make_game(rules, shipped_board(rules.board), seats, options)
        for line in _played(game, f"{game_id}/{number}"):
            digest.update(line.encode())
    print(build(), digest.hexdigest())


def _played(game: Game, seed_text: str) -> Iterator[str]:
    """Play a game between planners; yield each move, and each result."""
    state = engine.new_game(game, Dice(seed_from_text(seed_text)))
    decisions = 0
    while state.pending is not None:
        for seat in engine.owing(state):
            decisions += 1
            if decisions % EVERY == 0:
                yield _played_on(state.copy(), seat)
            move = planner(state, seat, engine.legal(state, seat))
            yield repr(move.wire)
            engine.apply(state, seat, move)
    yield repr(state.result)


def _played_on(state: State, viewer: Seat) -> str:
    if state.game.board.routes:
        guess_tickets(state, viewer)
    play_on(state)
    return repr(state.result)


if __name__ == "__main__":
    main(sys.argv[1])
