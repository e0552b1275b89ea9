"""`stellwerk demo`: a game of each kind, played by the policy `planner` and told turn by turn."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import Final

from stellwerk.choose_game import checked_seed, unknown
from stellwerk.errors import DONE, usage_error
from stellwerk.replay_story import Told, tell
from stellwerk.terminal import say, shows_color, width, wrapped
from stellwerk_engine.board_file import shipped_board
from stellwerk_engine.dice import seed_from_text
from stellwerk_engine.games import RULE_SETS
from stellwerk_engine.policies import planner
from stellwerk_engine.replay_reader import read_replay
from stellwerk_engine.self_play import play_game
from stellwerk_server.game_choice import GameChoice

PLAYERS: Final = ("north", "east", "south", "west")
SEAT_COUNTS: Final = {"usa": 2, "united_kingdom": 2, "team_asia": 4, "card_game": 3}

EXAMPLES: Final = """\
examples:
  stellwerk demo
  stellwerk demo team_asia --seed 7
  stellwerk demo --brief
"""

FIRST_TURNS: Final = 6  # told of a game in brief
LAST_TURNS: Final = 4
_TURN: Final = re.compile(r" {0,3}\d+  ")  # how the line of a turn begins


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    parser.add_argument(
        "games", metavar="GAME", nargs="*", help=f"{', '.join(SEAT_COUNTS)} (default: one after the other)"
    )
    parser.add_argument("--seed", metavar="S", default="demo", help="any text; another one, another game")
    parser.add_argument("--brief", action="store_true", help="only the first and the last turns")


def run(arguments: argparse.Namespace) -> int:
    games: list[str] = arguments.games or list(SEAT_COUNTS)
    for game_id in games:
        if game_id not in SEAT_COUNTS:
            raise usage_error(unknown("game", game_id, SEAT_COUNTS))
    seed = seed_from_text(checked_seed(arguments.seed))
    for number, game_id in enumerate(games):
        if number:
            say("\n" + "-" * width() + "\n")
        story = _story(game_id, seed)
        for told in _in_brief(story) if arguments.brief else story:
            for line in wrapped(told.text, width(), told.hang):
                say(line)
    return DONE


def _story(game_id: str, seed: bytes) -> list[Told]:
    """The game as its replay tells it."""
    board = shipped_board(RULE_SETS[game_id].board)
    game = GameChoice(game_id, SEAT_COUNTS[game_id], (), board).make()
    pieces: list[bytes] = []
    names = PLAYERS[: game.seat_count]
    play_game(game, seed, [planner] * game.seat_count, write=pieces.append, names=names)
    lines = b"".join(pieces).splitlines(keepends=True)
    return list(tell(read_replay(lines), color=shows_color()))


def _in_brief(story: list[Told]) -> Iterator[Told]:
    turns = [number for number, told in enumerate(story) if _TURN.match(told.text)]
    left_out = len(turns) - FIRST_TURNS - LAST_TURNS
    if left_out <= 0:
        yield from story
        return
    yield from story[: turns[FIRST_TURNS]]
    yield Told(f"      ... {left_out} turns later ...")
    yield from story[turns[-LAST_TURNS] :]
