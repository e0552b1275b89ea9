"""The files of `protocol/actions`: what each integer of a game says, and examples of moves as paths of
integers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any, Final

import msgspec

from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.game import make_game
from stellwerk_engine.core.state import Game, Move
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_learn.actions import ActionMap, action_map
from stellwerk_learn.actions import Path as Stages

GAMES: Final = 12
LONGEST: Final = 24  # moves of a list that is an example


def files() -> Iterator[tuple[str, bytes]]:
    for rules in RULE_SETS.values():
        board = shipped_board(rules.board)
        options = [option.id for option in rules.options]
        game = make_game(rules, board, max(rules.seat_counts), options)
        actions = action_map(game)
        yield f"{rules.id}.json", _written(rules.id, board.digest, actions, list(_examples(game, actions)))


def _written(game: str, digest: str, actions: ActionMap, examples: list[dict[str, Any]]) -> bytes:
    """Write one integer a line, and one example a line."""  # Any: values of JSON
    head = f'{{\n"game": {json.dumps(game)},\n"board_digest": {json.dumps(digest)},\n'
    names = ",\n".join(json.dumps(name) for name in actions.names)
    lines = ",\n".join(json.dumps(example, separators=(",", ":")) for example in examples)
    return f'{head}"actions": [\n{names}\n],\n"examples": [\n{lines}\n]\n}}\n'.encode()


def _examples(game: Game, actions: ActionMap) -> Iterator[dict[str, Any]]:
    """Yield the shortest list of each shape that random games show: the kinds of stages that its paths go
    through."""
    shortest: dict[str, tuple[list[Move], list[Stages]]] = {}
    for number in range(GAMES):
        chance = Random(number)
        state = engine.new_game(game, Dice(seed_from_text(str(number))))
        while state.pending is not None:
            for seat in engine.owing(state):
                moves = engine.legal(state, seat)
                if 1 < len(moves) <= LONGEST:
                    paths = actions.paths(moves)
                    shape = _shape(paths, actions)
                    if shape not in shortest or len(moves) < len(shortest[shape][0]):
                        shortest[shape] = (moves, paths)
                engine.apply(state, seat, chance.choice(moves))
    for _, (moves, paths) in sorted(shortest.items()):
        yield {
            "legal": [msgspec.to_builtins(move.wire) for move in moves],
            "paths": [list(path) for path in paths],
        }


def _shape(paths: list[Stages], actions: ActionMap) -> str:
    """Return the kinds of moves in a list, each with the stages that it goes through."""
    kinds: dict[str, set[str]] = {}
    for path in paths:
        kind, *stages = (actions.names[number].partition(":") for number in path)
        kinds.setdefault(kind[0], set()).update(
            "alike" if stage == "choice" and number != "0" else stage for stage, _, number in stages
        )
    return json.dumps({kind: sorted(stages) for kind, stages in sorted(kinds.items())})
