"""Which game, how many players, which options, whose board: the arguments that commands share."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence

from stellwerk.shared.errors import refusing, usage_error
from stellwerk.shared.parser import whole_number
from stellwerk_base.texts import unknown
from stellwerk_engine.boards.board_file import BoardError, load_board, shipped_board
from stellwerk_engine.core.dice import SeedError, seed_from_text
from stellwerk_engine.core.game import GameError
from stellwerk_engine.core.state import RuleSet
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.limits import check_line


def chosen_game(
    rules: RuleSet, players: int | None, options: Collection[str], board_file: str | None
) -> GameChoice:
    """Return the game for so many players, by default as few as it allows, or raise a usage error."""
    seats = min(rules.seat_counts) if players is None else players
    with refusing(BoardError, GameError):
        board = shipped_board(rules.board) if board_file is None else load_board(board_file)
        choice = GameChoice.of(rules, seats, tuple(options), board)
        if board_file is not None:
            check_line(choice.make())
    return choice


def rules_called(game_id: str) -> RuleSet:
    """Return the rules of a shipped game, or raise a usage error."""
    rules = RULE_SETS.get(game_id)
    if rules is None:
        raise usage_error(unknown("game", game_id, RULE_SETS))
    return rules


def seats_for(rules: RuleSet, bot_count: int, given: str) -> int:
    """Return how many seats so many bots fill, or raise a usage error. A bot fills all seats of its team.
    `given` says how many bots there are."""
    seats = bot_count * rules.team_size
    if seats not in rules.seat_counts:
        counts = " or ".join(str(count // rules.team_size) for count in rules.seat_counts)
        whole_teams = f", each of which plays all {rules.team_size} seats of a team" * (rules.team_size > 1)
        raise usage_error(f"{rules.id} takes {counts} bots{whole_teams}; {given}")
    return seats


def games_of(argument: str, texts: Sequence[str], board: str | None = None) -> list[GameChoice]:
    """Read games, each as NAME, NAME:PLAYERS or NAME:PLAYERS:OPTION,OPTION, or raise a usage error that names
    the argument. A board goes with a single game."""
    if board is not None and len(texts) > 1:
        raise usage_error(f"--board {board}: goes with a single {argument}")
    games: list[GameChoice] = []
    for text in texts:
        game, *more = text.split(":", 2)
        players = more[0] if more else ""
        options = more[1] if len(more) > 1 else ""
        with refusing(argparse.ArgumentTypeError, where=f"{argument} {text}: the number of players"):
            count = whole_number(1, 99)(players) if players else None
        choice = chosen_game(rules_called(game), count, options.split(",") if options else [], board)
        if choice in games:
            raise usage_error(f"{argument} {text}: this game is given twice")
        games.append(choice)
    return games


def checked_seed(text: str, what: str = "--seed") -> str:
    """Return the text of a seed if it can be used, or raise a usage error."""
    with refusing(SeedError, where=what):
        seed_from_text(text)
    return text
