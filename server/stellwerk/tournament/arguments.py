"""The arguments of `stellwerk tournament`.

Law: these import nothing that plays, rates or reads a folder, so that help and completion come at once.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from typing import Final, Literal

from stellwerk.shared.choose_game import whole_number
from stellwerk.shared.listen_arguments import add_listen_arguments
from stellwerk_base.texts import quoted
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_processes.bot_spec import BUILT_IN

DESCRIPTION: Final = """\
Let bots play a tournament. It is a folder with a file tournament.toml, and can be
stopped, killed and resumed at any time without losing a match. Remote bots log in
with their tokens ('stellwerk token') at the address of --listen.
"""

REPORT: Final = """\
Make the derived files again from matches.jsonl, and say where they are: the page
report.html (one file for a browser, which you can also send to others),
ratings.json, crosstable.csv and junit.xml. All complete blocks count, also while
the tournament is being played. 'run' makes them when it ends.
"""

EXAMPLES: Final = """\
examples:
  stellwerk tournament init cup --game usa --bot greedy --bot planner
  stellwerk tournament init cup --bot greedy --others 11 --budget 200
  stellwerk tournament run cup --dry-run --budget 2h
  stellwerk tournament run cup
  stellwerk tournament run cup --without ann
  stellwerk tournament report cup
  stellwerk tournament verify cup
  stellwerk tournament init final --from cup --top 4 --budget 200
  stellwerk tournament run cup --web 8080
  stellwerk tournament run cup --workers 4
  stellwerk tournament run cup --cluster tls://scheduler:8786
  stellwerk tournament export cup -o blocks
  stellwerk tournament block blocks/*.block -o results
  stellwerk tournament merge cup results
  stellwerk tournament run cup --listen 0.0.0.0:7878 --tls-cert cert.pem --tls-key key.pem
"""

EXPORT: Final = """\
Write a private file for each block that is due, to be played on any machine with
'stellwerk tournament block'. The tournament begins with it, if it has not begun:
all bots are tried first, as by 'run'. Blocks whose results have not come back are
written again, with the same deals.
"""

BLOCK: Final = """\
Play blocks that 'stellwerk tournament export' has written, and write their results
for 'stellwerk tournament merge'. Opens no other files, and keeps results that exist
already. Exit codes: 0 done; 2 a file cannot be played here; 4 the machine failed,
and wrote no result; 130 stopped, without a result.
"""

MERGE: Final = """\
Add the results of blocks to the tournament's folder. Each match is checked by
playing it again, and counts once. Exit codes: 0 done; 1 a result was refused; 2 the
folder cannot be used; 4 the machine failed.
"""

Shape = Literal["table", "lines", "jsonl", "none"]
SHAPES: Final[tuple[Shape, ...]] = ("table", "lines", "jsonl", "none")

_BUDGET: Final = re.compile(r"([0-9]{1,9})([smh]?)")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True, slots=True)
class Budget:
    """So many matches, or so much time in seconds."""

    text: str
    matches: int | None = None
    seconds: float | None = None


def budget(text: str) -> Budget:
    """Read a number of matches, or a time such as 90m."""
    found = _BUDGET.fullmatch(text)
    number = int(found[1]) if found else 0
    if found is None or number == 0:
        raise argparse.ArgumentTypeError(
            f"expected a number of matches such as 200, or a time such as 45s, 90m or 2h, not {quoted(text)}"
        )
    if found[2]:
        return Budget(text, seconds=number * _SECONDS[found[2]])
    return Budget(f"{number:,} {'match' if number == 1 else 'matches'}", matches=number)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = DESCRIPTION
    parser.epilog = EXAMPLES
    commands = parser.add_subparsers(dest="tournament_command", metavar="COMMAND", required=True)

    def add(name: str, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        command.add_argument("folder", metavar="FOLDER", nargs="?", default=".", help="default: this folder")
        return command

    new = add("init", "write a tournament.toml, with all that can be set in it")
    new.add_argument(
        "--game", metavar="GAME", action="append", default=[], help=f"{', '.join(RULE_SETS)} (default: usa)"
    )
    new.add_argument(
        "--bot", metavar="NAME", action="append", default=[], help=f"built-in bots: {', '.join(BUILT_IN)}"
    )
    new.add_argument(
        "--others",
        metavar="N",
        type=whole_number(1, 1000),
        help="so many more bots, which you will add to the file: the schedule counts them",
    )
    new.add_argument(
        "--from", dest="cup", metavar="CUP", help="take games, bots and conditions of this tournament"
    )
    new.add_argument(
        "--top",
        metavar="N",
        type=whole_number(2, 1000),
        help="with --from: only the first N of its ranking (default: all that have played)",
    )
    _add_budget(new, "write a schedule that fits: so many matches, or a time such as 2h or 90m")
    command = add("run", "try all bots, then play, or continue what has begun")
    _add_run_arguments(command)
    command.add_argument(
        "--absent-forfeit",
        action="store_true",
        help="begin without the remote bots that are not connected: their matches are forfeits, as "
        "[conduct] says",
    )
    command.add_argument(
        "--dry-run",
        action="store_true",
        help="show which bots would play each other, and play nothing but a trial match",
    )
    _add_budget(command, "with --dry-run: propose a schedule that fits, as in 'init'")
    export = add("export", "write a file for each block that is due, to be played on any machine")
    add_export_arguments(export)
    _add_play_arguments(export)
    export.set_defaults(concurrency=None, progress="lines", listen=None, plaintext_tokens=None)
    export.set_defaults(cluster=None, workers=None)
    export.set_defaults(tls_cert=None, tls_key=None, status=None, web=None)
    one = commands.add_parser("block", help="play blocks that 'export' has written", allow_abbrev=False)
    one.set_defaults(folder=".")
    add_block_arguments(one)
    add_merge_arguments(add("merge", "add the results of blocks"))
    status = add("status", "show how much has been played, also while it runs")
    status.add_argument("--json", action="store_true", help="as one JSON object")
    ratings = add("ratings", "show the ratings, from all complete blocks")
    ratings.add_argument("--json", action="store_true", help="the content of ratings.json")
    report = add("report", "make the report page, ratings, cross table and JUnit file again")
    report.formatter_class = argparse.RawDescriptionHelpFormatter
    report.description = REPORT
    report.add_argument(
        "--pages",
        action="store_true",
        help="also write a page for each match that the report lists, which shows it move by move",
    )
    report.add_argument("--all-pages", action="store_true", help="the same for all matches")
    add("verify", "play every replay again, and compute every figure again")


def _add_budget(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--budget", metavar="MATCHES|TIME", type=budget, help=text)


def _add_run_arguments(parser: argparse.ArgumentParser) -> None:
    _add_play_arguments(parser)
    add = parser.add_argument
    add("--concurrency", metavar="N", type=whole_number(-1000, 1000), help="matches at once")
    add("--progress", choices=SHAPES, help="default: table on a terminal, lines elsewhere")
    add_cluster_arguments(parser)
    add_listen_arguments(parser)


def _add_play_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--rounds", metavar="N", type=whole_number(1, 1_000_000), help="in place of what the file says")
    add("--until-width", metavar="ELO", type=_width, help="play until all 95 %% intervals are that narrow")
    add("--seed", metavar="S", help="for built-in bots only: the same S gives the same matches")
    add(
        "--without",
        metavar="NAME",
        action="append",
        default=[],
        help="leave this bot out of the whole tournament; can be repeated",
    )
    add(
        "--no-preflight",
        action="store_true",
        help="do not try first whether every bot starts and answers: [conduct] says what follows if not",
    )


def _width(text: str) -> float:
    try:
        width = float(text)
    except ValueError:
        width = 0.0
    if not 0 < width < 100_000:
        raise argparse.ArgumentTypeError(f"expected a number of Elo points above 0, not {text!r}")
    return width


def add_export_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = EXPORT
    parser.add_argument("-o", "--out", metavar="FOLDER", required=True, help="where the files are written")
    parser.add_argument(
        "--most", metavar="N", type=whole_number(1, 1_000_000), help="write at most so many blocks"
    )


def add_block_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = BLOCK
    parser.add_argument("files", metavar="FILE", nargs="+", help="a file that 'export' has written")
    parser.add_argument(
        "-o", "--out", metavar="RESULT", required=True, help="the result's file, or a folder for it"
    )
    parser.add_argument(
        "--concurrency",
        metavar="N",
        type=whole_number(1, 1000),
        default=1,
        help="matches of a block at once, if all its bots are built in (default: 1)",
    )
    parser.add_argument(
        "--machine",
        metavar="NAME",
        help="the name of this machine in lines and the report (default: an anonymous label)",
    )


def add_merge_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = MERGE
    parser.add_argument("results", metavar="RESULT", nargs="+", help="a result, or a folder of results")


def add_cluster_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "many machines (needs the extra 'cluster')",
        "Workers are trusted as the runner is: on machines of strangers use 'export', 'block' and 'merge'.",
    )
    group.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="let the workers of this Dask scheduler play the blocks, such as tls://host:8786",
    )
    group.add_argument(
        "--workers",
        metavar="N",
        type=whole_number(1, 1000),
        help="let so many worker processes of this machine play them",
    )
