"""Options of `compare` and `gate`, which both let two sides play until it is known which one is better."""

from __future__ import annotations

import argparse
from typing import Final

from stellwerk.shared.parser import argument, whole_number
from stellwerk.shared.sandbox_arguments import add_sandbox_arguments
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_processes.bot_spec import BUILT_IN
from stellwerk_server.operate.settings import Time

MOST_BLOCKS: Final = 1_000_000
MOST_MS: Final = 24 * 60 * 60 * 1000

SPEC_AND_GAME: Final = f"""\
A SPEC is the name of a built-in bot
({", ".join(BUILT_IN)}) or words KEY=VALUE, as
`stellwerk play --bot` takes them. A GAME is NAME, NAME:PLAYERS or
NAME:PLAYERS:OPTION,OPTION."""


def add_trial_arguments(parser: argparse.ArgumentParser, default_game: str | None = None) -> None:
    """Add the options about the matches: games, the time for an answer, and the sandbox. Without a default
    the user has to name a game."""
    default = "" if default_game is None else f" (default: {default_game})"
    games = f"{', '.join(RULE_SETS)}; may be given several times{default}"
    argument(parser, "--game GAME ...", games, required=default_game is None)
    argument(parser, "--board FILE", "play on another board; goes with a single --game")
    answer = "for each answer of a bot that is started"
    argument(parser, "--move-time MS", answer, whole_number(1, MOST_MS), default=Time().move_ms)
    add_sandbox_arguments(parser)
