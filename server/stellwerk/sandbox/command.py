"""`stellwerk sandbox`: each level, tried here, as a table; and what to do about those that do not hold."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
import trio

from stellwerk.shared.errors import DONE
from stellwerk.shared.parser import argument
from stellwerk.shared.terminal import say
from stellwerk_base.texts import aligned
from stellwerk_processes.bench.levels import LEVELS, TRIALS, Confinement
from stellwerk_processes.bench.resolve_sandbox import Attempt, hide_memory, try_level

DESCRIPTION: Final = """\
Try on this machine what each level of the sandbox refuses to a bot.

A small program runs as bots run, and tries to read and write files outside, to
reach the network, other processes and the runner, to start many processes, to
use much memory, to fill the disk, and to live on. Nothing leaves this machine.
'-' means refused, 'yes' that a bot could do it.
"""

_AS: Final = {"own": "own user", "runner": "you", "root_without_powers": "root*"}
_ROOT: Final = (
    "* root without its capabilities: a file or folder that the program needs is closed to other users.",
    "  Bots are confined better if everybody can read their programs, or if you are an ordinary user.",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    argument(parser, "--json", "as JSON, instead of a table")


def run(arguments: argparse.Namespace) -> int:
    hide_memory()
    attempts = [trio.run(try_level, Confinement(level=level), level) for level in LEVELS]
    if arguments.json:
        levels = [{"problem": attempt.problem, **msgspec.to_builtins(attempt.record)} for attempt in attempts]
        say(json.dumps({"levels": levels}))
        return DONE
    for line in _table_of(attempts):
        say(line)
    return DONE


def _table_of(attempts: Sequence[Attempt]) -> Iterator[str]:
    record = attempts[0].record
    landlock = f"ABI {record.landlock_abi}" if record.landlock_abi else "none"
    version = attempts[-1].record.cgroup
    yield f"kernel        {record.kernel}"
    yield f"landlock      {landlock}"
    yield f"cgroups       {f'version {version}' if version else 'none that this user can make'}"
    yield ""
    rows = [["a bot could", *(attempt.level for attempt in attempts)]]
    for name, (_, words) in TRIALS.items():
        rows.append([words, *(_verdict(attempt, name) for attempt in attempts)])
    rows.append(["runs as", *(_AS[attempt.record.user] for attempt in attempts)])
    yield from aligned(rows, left=(0, *range(1, len(attempts) + 1)))
    if any(attempt.record.user == "root_without_powers" for attempt in attempts):
        yield from ("", *_ROOT)
    yield ""
    highest = next(attempt for attempt in reversed(attempts) if not attempt.problem)
    yield f"auto is {highest.level}"
    for attempt in attempts:
        if attempt.problem:
            yield f"{attempt.level} does not hold: {attempt.problem}"


def _verdict(attempt: Attempt, name: str) -> str:
    if name in attempt.record.untried:
        return "?"
    return "yes" if name in attempt.record.allowed else "-"
