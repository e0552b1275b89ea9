"""`stellwerk demo`: a small tournament of the reference bots over every game, rated and with its report.

It does what an organizer does, and shows the commands: writes a `tournament.toml`, runs it, and names what
can be looked at. The seed is fixed, so that the ranking is the same everywhere.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Final

from stellwerk.shared.choose_game import checked_seed, whole_number
from stellwerk.shared.errors import DONE, not_writable
from stellwerk.shared.folders import empty_folder, temporary_folder
from stellwerk.shared.terminal import flush_stdout, own_name, say
from stellwerk.tournament import command as tournament_command
from stellwerk_base.files import write_whole
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_tournament.config.settings import FILE
from stellwerk_tournament.report.derived import REPORT
from stellwerk_tournament.report.match_pages import FOLDER as PAGES
from stellwerk_tournament.store.match_line import FILE as MATCHES
from stellwerk_tournament.store.store import REPLAYS

DESCRIPTION: Final = """\
Let the reference bots play a small tournament over every game, and rate
them. It takes about a minute, and leaves its folder for you to look at.
"""

EXAMPLES: Final = """\
examples:
  stellwerk demo
  stellwerk demo --folder cup --rounds 10
"""

ROUNDS: Final = 4  # of ten blocks each: the ranking is clear, and it is over in a minute
TOURNAMENT: Final = """\
# The tournament of `stellwerk demo`. `stellwerk tournament init` writes a file that explains all settings.
title = "Demo"
concurrency = 2
sandbox = "limits"  # for bots that you trust, as these

[schedule]
rounds = {rounds}

{games}
[[bots]]
built_in = "random"

[[bots]]
built_in = "greedy"

[[bots]]
built_in = "planner"
"""
GAME: Final = """\
[[games]]
game = "{game}"
players = {players}
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = DESCRIPTION
    parser.epilog = EXAMPLES
    parser.add_argument(
        "--folder", metavar="FOLDER", help="a new or an empty one (default: a new one for temporary files)"
    )
    parser.add_argument(
        "--rounds", metavar="N", type=whole_number(1, 1000), default=ROUNDS, help=f"default: {ROUNDS}"
    )
    parser.add_argument("--seed", metavar="S", default="demo", help="any text; each text gives other deals")


def run(arguments: argparse.Namespace) -> int:
    seed = checked_seed(arguments.seed)
    folder = _folder(arguments.folder)
    try:
        write_whole(folder / FILE, _settings(arguments.rounds).encode())
    except OSError as error:
        raise not_writable(str(folder / FILE), error) from None
    words = ["run", str(folder), f"--seed={seed}"]
    say(f"Three bots, every game: the settings are in {folder / FILE}")
    say(f"$ {shlex.join(['stellwerk', 'tournament', *words])}")
    flush_stdout()
    code = tournament_command.run(_parser().parse_args(words))
    if code == DONE:
        words = ["report", str(folder), "--pages"]
        say(f"$ {shlex.join(['stellwerk', 'tournament', *words])}")
        flush_stdout()
        code = tournament_command.run(_parser().parse_args(words))
    if code == DONE:
        _name_what_is_there(folder)
    return code


def _settings(rounds: int) -> str:
    """Return a tournament over every game, each with as few players as it takes."""
    games = [GAME.format(game=rules.id, players=min(rules.seat_counts)) for rules in RULE_SETS.values()]
    return TOURNAMENT.format(rounds=rounds, games="\n".join(games))


def _folder(name: str | None) -> Path:
    return temporary_folder("stellwerk-demo-") if name is None else empty_folder(name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    tournament_command.add_arguments(parser)
    return parser


def _name_what_is_there(folder: Path) -> None:
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
