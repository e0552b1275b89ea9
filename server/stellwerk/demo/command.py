"""`stellwerk demo`: a small tournament of the reference bots over every game, rated and with its report.

It gives three commands as an organizer would, and names the results. The seed is fixed, so that the ranking
is the same everywhere.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Final

from stellwerk.shared.errors import DONE
from stellwerk.shared.folders import empty_folder, temporary_folder
from stellwerk.shared.parser import Parser, argument, whole_number
from stellwerk.shared.terminal import flush_stdout, own_name, say
from stellwerk.tournament import command as tournament_command
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_tournament.report.derived import REPORT
from stellwerk_tournament.report.match_pages import FOLDER as PAGES
from stellwerk_tournament.store.match_line import FILE as MATCHES
from stellwerk_tournament.store.store import REPLAYS

DESCRIPTION: Final = """\
Let the reference bots play a small tournament over every game, and rate
them. It takes about a minute, and keeps its folder for you to look at.
"""

EXAMPLES: Final = """\
examples:
  stellwerk demo
  stellwerk demo --folder cup --rounds 10
"""

BOTS: Final = ("random", "greedy", "planner")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES
    argument(parser, "--folder FOLDER", "a new or an empty one (default: a new one for temporary files)")
    argument(
        parser, "--rounds N", "in each, all pairs of bots play all games", whole_number(1, 1000), default=4
    )


def run(arguments: argparse.Namespace) -> int:
    is_named = arguments.folder is not None
    folder = empty_folder(arguments.folder) if is_named else temporary_folder("stellwerk-demo-")
    games = [f"--game={game}" for game in RULE_SETS]
    for command, *options in (
        ("init", *games, *(f"--bot={bot}" for bot in BOTS)),
        ("run", f"--rounds={arguments.rounds}", "--concurrency=2", "--seed=demo"),
        ("report", "--pages"),
    ):
        code = _run_tournament_command(command, str(folder), *options)
        if code != DONE:
            return code
    _print_what_is_there(folder)
    return DONE


def _run_tournament_command(*words: str) -> int:
    say(f"$ {shlex.join(['stellwerk', 'tournament', *words])}")
    flush_stdout()
    parser = Parser()
    tournament_command.add_arguments(parser)
    return tournament_command.run(parser.parse_args(words))


def _print_what_is_there(folder: Path) -> None:
    replay = min((folder / REPLAYS).glob("*.jsonl"))
    say("")
    for what, where in (
        ("the report, for a browser", str(folder / REPORT)),
        ("a game to watch, likewise", str(folder / PAGES / f"{replay.stem}.html")),
        ("a rating for each game", shlex.join([own_name(), "ratings", str(folder / MATCHES)])),
        ("a game, turn by turn", shlex.join([own_name(), "replay", "show", str(replay)])),
        ("all of it played again", shlex.join([own_name(), "tournament", "verify", str(folder)])),
    ):
        say(f"{what + ':':27}{where}")
