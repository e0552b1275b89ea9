"""The arguments of `stellwerk tournament`.

Law: these import nothing that plays, rates or reads a folder, so that help and completion come at once.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from stellwerk.shared.listen_arguments import add_listen_arguments
from stellwerk.shared.parser import argument, decimal, whole_number
from stellwerk_base.texts import quoted
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_processes.bot_spec import BUILT_IN

DESCRIPTION: Final = """\
Let bots play a tournament. It is a folder with a file tournament.toml, and can be
stopped, killed and resumed at any time without losing a match. Remote bots log in
with their tokens ('stellwerk token') at the address of --listen.
"""

DECISIONS: Final = ("disqualify", "rule", "pause", "unpause", "announce")
LONGEST_TEXT: Final = 1000  # characters of a decision
MOST_BLOCK: Final = 10**9

DISQUALIFY: Final = """\
Put a bot out of the ranking. Its blocks that have begun are played to their end, and
count; those to come are called off. The report has the ratings with and without all
blocks that it played in. A disqualification stays.

The decision is a line of field.jsonl, which 'verify' checks. A runner that plays takes
it in within a second. If there is a report, it is made again.
"""

RULE: Final = """\
Make blocks count for no rating, such as those in which a table was broken. They stay in
matches.jsonl and in all other figures.
"""

PAUSE: Final = """\
Let no block begin until 'unpause'. Blocks that have begun are played to their end. A
runner that plays waits, and one that is started waits, too.
"""

REPORT: Final = """\
Make the derived files again from matches.jsonl, and say where they are: the page
report.html (one file for a browser, which you can also send to others),
ratings.json, crosstable.csv, junit.xml and blind_draws.json. All complete blocks
count, also while the tournament is being played. 'run' makes them when it ends.
"""

EXAMPLES: Final = """\
examples:
  stellwerk tournament init cup --game usa --bot greedy --bot planner
  stellwerk tournament init cup --bot greedy --others 11 --budget 200
  stellwerk tournament run cup --dry-run --budget 2h
  stellwerk tournament run cup
  stellwerk tournament run cup --without ann
  stellwerk tournament report cup
  stellwerk tournament disqualify cup zed --reason "plays for ann"
  stellwerk tournament verify cup
  stellwerk tournament init final --from cup --top 4 --budget 200
  stellwerk tournament run cup --web 8080
  stellwerk tournament run cup --workers 4
  stellwerk tournament run cup --workers tls://scheduler:8786
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

ONLY_OF_RUN: Final = (
    "concurrency",
    "progress",
    "dry_run",
    "absent_forfeit",
    "budget",
    "workers",
    "listen",
    "plaintext_tokens",
    "tls_cert",
    "tls_key",
    "status",
    "web",
)
"""Arguments of `run` that `export`, which plays nothing, has not."""

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


def workers(text: str) -> int | str:
    """Read how many workers there are on this machine, or the address of a scheduler."""
    return text if ":" in text else whole_number(1, 1000)(text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES
    commands = parser.add_subparsers(dest="tournament_command", metavar="COMMAND", required=True)

    def add(name: str, text: str, description: str = "") -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=description or text)
        if name != "block":
            argument(command, "[FOLDER]", "the folder of the tournament", default=".")
        return command

    _add_init_arguments(add("init", "write a tournament.toml, with all that can be set in it"))
    _add_run_arguments(add("run", "try all bots, then play, or continue what has begun"))
    export = add("export", "write a file for each block that is due, to be played on any machine", EXPORT)
    argument(export, "-o, --out FOLDER", "where the files are written", required=True)
    argument(export, "--most N", "write at most so many blocks", whole_number(1, 1_000_000))
    _add_play_arguments(export)
    export.set_defaults(**dict.fromkeys(ONLY_OF_RUN))
    _add_block_arguments(add("block", "play blocks that 'export' has written", BLOCK))
    merge = add("merge", "add the results of blocks", MERGE)
    argument(merge, "RESULT ...", "a result, or a folder of results", dest="results")
    _add_decisions(add)
    status = add("status", "show how much has been played, also while it runs")
    argument(status, "--json", "as one JSON object")
    ratings = add("ratings", "show the ratings, from all complete blocks")
    argument(ratings, "--json", "the content of ratings.json")
    report = add("report", "make the report page, ratings, cross table and JUnit file again", REPORT)
    argument(
        report,
        "--pages",
        "also write a page for each match that the report lists, which shows it move by move",
    )
    argument(report, "--all-pages", "the same for all matches")
    add("verify", "play every replay again, and compute every figure again")


def _add_decisions(add: Callable[[str, str, str], argparse.ArgumentParser]) -> None:
    """Add the commands by which the organizer decides. All of them work while a runner plays."""
    reason = "why: all who read the report read it"
    disqualify = add(
        "disqualify", "put a bot out of the ranking, and call off its blocks to come", DISQUALIFY
    )
    argument(disqualify, "BOT", "its name")
    argument(disqualify, "--reason TEXT", reason, _text, required=True)
    rule = add("rule", "make blocks count for no rating", RULE)
    argument(rule, "--block N ...", "the block's number", whole_number(0, MOST_BLOCK), required=True)
    argument(rule, "--reason TEXT", reason, _text, required=True)
    pause = add("pause", "let no block begin until 'unpause'", PAUSE)
    argument(pause, "--reason TEXT", reason, _text, required=True)
    add("unpause", "let blocks begin again", "")
    announce = add("announce", "write an announcement into the report and the live pages", "")
    argument(announce, "TEXT", "up to 1,000 characters", _text)


def _text(text: str) -> str:
    """Check a text that others read. ArgumentTypeError."""
    if not 0 < len(text) <= LONGEST_TEXT or not text.isprintable() or text.isspace():
        expected = f"1 to {LONGEST_TEXT:,} characters that can be printed, in one line"
        raise argparse.ArgumentTypeError(f"expected {expected}")
    return text


def _add_init_arguments(parser: argparse.ArgumentParser) -> None:
    add = partial(argument, parser)
    add("--game GAME ...", f"{', '.join(RULE_SETS)} (default: usa)")
    add("--bot NAME ...", f"built-in bots: {', '.join(BUILT_IN)}")
    add(
        "--others N",
        "so many more bots, which you will add to the file: the schedule counts them",
        whole_number(1, 1000),
    )
    add("--from CUP", "take games, bots and conditions of this tournament", dest="cup")
    add(
        "--top N",
        "with --from: only the first N of its ranking (default: all that have played)",
        whole_number(2, 1000),
    )
    add("--play-off A B", "with --from: only these two bots of it")
    add("--title TEXT", "the name of the tournament", _text)
    add(
        "--budget MATCHES|TIME",
        "write a schedule that fits: so many matches, or a time such as 2h or 90m",
        budget,
    )


def _add_run_arguments(parser: argparse.ArgumentParser) -> None:
    _add_play_arguments(parser)
    add = partial(argument, parser)
    add("--concurrency N", "matches at once", whole_number(-1000, 1000))
    add("--progress", "default: table on a terminal, lines elsewhere", choices=SHAPES)
    add(
        "--absent-forfeit",
        "begin without the remote bots that are not connected: their matches are forfeits, as [conduct] says",
    )
    add("--dry-run", "show which bots would play each other, and play nothing but a trial match")
    add("--budget MATCHES|TIME", "with --dry-run: propose a schedule that fits, as in 'init'", budget)
    group = parser.add_argument_group(
        "many machines (needs the extra 'cluster')",
        "Workers are trusted as the runner is: on machines of strangers use 'export', 'block' and 'merge'.",
    )
    argument(
        group,
        "--workers N|ADDRESS",
        "let so many worker processes of this machine play the blocks, or those of the Dask scheduler at an "
        "address such as tls://host:8786",
        workers,
    )
    add_listen_arguments(parser)


def _add_play_arguments(parser: argparse.ArgumentParser) -> None:
    add = partial(argument, parser)
    add("--rounds N", "in place of what the file says", whole_number(1, 1_000_000))
    add("--until-width ELO", "play until all 95 %% intervals are that narrow", decimal(0.01, 99_999))
    add("--seed S", "for built-in bots only: the same S gives the same matches")
    add("--without NAME ...", "leave this bot out of the whole tournament; can be repeated")
    add(
        "--no-preflight",
        "do not try first whether every bot starts and answers: [conduct] says what follows if not",
    )


def _add_block_arguments(parser: argparse.ArgumentParser) -> None:
    add = partial(argument, parser)
    add("FILE ...", "a file that 'export' has written", dest="files")
    add("-o, --out RESULT", "the result's file, or a folder for it", required=True)
    add(
        "--concurrency N",
        "matches of a block at once, if all its bots are built in",
        whole_number(1, 1000),
        default=1,
    )
    add("--machine NAME", "the name of this machine in lines and the report (default: an anonymous label)")
