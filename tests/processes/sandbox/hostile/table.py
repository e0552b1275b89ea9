"""The table of attacks: what hostile bots achieve at each level of the sandbox, by who the organizer is.

    python -m tests.processes.sandbox.hostile.table [--level LEVEL] [--bot BOT] [--how]

All is tried here and now: see `arena.py`. `-` means that the attack was stopped, `yes` that it succeeded, `?`
that it could not be tried. Columns: `user` is an ordinary user; `root` is root, whose bots run as users of
their own; at `root*` a file that the bot needs is closed to other users, so it stays root without powers.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from stellwerk_base.texts import aligned
from stellwerk_processes.bench.levels import LEVELS, Level
from tests.processes.sandbox.hostile.arena import ATTACKS, Cell
from tests.processes.sandbox.hostile.search import WATCHED, Found, unexplained
from tests.tools import as_ordinary_user, open_python

WATCHER: Final = "watcher"
SEARCH_PROGRAM: Final = str(Path(__file__).with_name("search.py"))
PROGRAM: Final = str(Path(__file__).with_name("arena.py"))
SECONDS: Final = 600


@dataclass(frozen=True)
class Column:
    """A level as a certain organizer. `problem` says why it could not be tried."""

    level: Level
    organizer: str
    cells: dict[str, Cell]
    problem: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--level", action="append", choices=LEVELS, help="only this one; may be repeated")
    parser.add_argument("--bot", action="append", choices=ATTACKS, help="only this one; may be repeated")
    parser.add_argument("--how", action="store_true", help="print what was seen, too")
    arguments = parser.parse_args()
    bots: list[str] = arguments.bot or list(ATTACKS)
    columns: list[Column] = []
    for level in arguments.level or LEVELS:
        for organizer, command in organizers(level).items():
            print(f"{level}, {organizer} ...", file=sys.stderr)
            columns.append(column(level, organizer, command, bots))
    for line in lines(columns, bots):
        print(line)
    for each in columns:
        if each.problem:
            print(f"{each.level}, {each.organizer}: {each.problem}")
        for attack, cell in each.cells.items() if arguments.how else ():
            if cell.how:
                print(f"{each.level}, {each.organizer}: {attack}: {cell.how}")


def organizers(level: Level) -> dict[str, Sequence[str]]:
    """Return the commands that run a Python as each kind of organizer, as far as there are such here."""
    everybody = open_python()
    commands: dict[str, Sequence[str]] = {}
    if everybody is not None:
        commands["user"] = as_ordinary_user()
    if os.geteuid() != 0:
        return commands
    if everybody is not None:
        commands["root"] = everybody
    if everybody is None or (everybody[-1] != sys.executable and level in ("limits", "landlock")):
        commands["root*"] = [sys.executable]
    return commands


def column(level: Level, organizer: str, command: Sequence[str], bots: Sequence[str]) -> Column:
    """Let these bots play."""
    done = _run([*command, PROGRAM, level, *(bot for bot in bots if bot != WATCHER)])
    if done.returncode != 0:
        return Column(level, organizer, {}, f"the arena failed: {done.stderr}")
    answer: dict[str, Any] = json.loads(done.stdout)  # JSON has no types
    cells = msgspec.convert(answer.get("cells", {}), dict[str, Cell])
    if WATCHER in bots:
        done = _run([*command, SEARCH_PROGRAM, level])
        if done.returncode != 0:
            return Column(level, organizer, cells, f"the search failed: {done.stderr}")
        found = msgspec.json.decode(done.stdout, type=Found)
        if found.problem:
            return Column(level, organizer, cells, found.problem)
        cells |= watched(found)
    return Column(level, organizer, cells, answer["problem"])


def watched(found: Found) -> dict[str, Cell]:
    """Return the cells of what follows the actions of another bot."""
    left = unexplained(found)
    cells: dict[str, Cell] = {}
    for attack, actions in WATCHED.items():
        names = sorted({name for action in actions for name in left.get(action, ())})
        cells[attack] = Cell(bool(names), "; ".join(names))
    how = f"{found.bits} bits at once, in {found.seconds:.1f} s"
    return cells | {"count_numbers": Cell(found.bits > 0, how)}


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


def lines(columns: Sequence[Column], bots: Sequence[str]) -> Iterator[str]:
    rows = [["", *(each.level for each in columns)], ["a bot could", *(each.organizer for each in columns)]]
    for bot in bots:
        for attack, words in ATTACKS[bot].items():
            rows.append([words, *(_word(each.cells.get(attack)) for each in columns)])
    yield from aligned(rows, left=range(len(columns) + 1))


def _word(cell: Cell | None) -> str:
    if cell is None or cell.done is None:
        return "?"
    return "yes" if cell.done else "-"


if __name__ == "__main__":
    main()
