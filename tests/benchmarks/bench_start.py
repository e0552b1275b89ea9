"""What it costs to start: commands that do little, as multiples of what Python takes to start.

    python -m tests.benchmarks.bench_start [--compiled] [--against COMMIT] [--rounds N]

CPU time of the process and of all that it starts, from the kernel, in turn with `python -c pass`; medians
with quartiles, and ratios within a round (`rounds.py`). Modules come from their bytecode, as they do on any
machine from the second start on: a folder of its own keeps it, also where PYTHONDONTWRITEBYTECODE is set.
With `--compiled` the compiled build (`make compile`) is in the same run, with `--against` a commit, and a
column for each says how much of its CPU this checkout takes.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.benchmarks.rounds import ROUNDS, in_turn, print_table, ratios, spread
from tests.benchmarks.trees import Tree, TreeError, trees

PASS: Final = ("-c", "pass")
COMMANDS: Final = (
    "--version",
    "--help",
    "boards list",
    "serve --help",
    "tournament run --help",
    "compare --help",
    "watch --help",
    "play --help",
    "play usa --bot random --bot random --seed start",
)


class StartError(Exception):
    """A command has failed; one line says which."""


@dataclass(frozen=True)
class Contender:
    """A command line of Python in a tree."""

    tree: Tree
    words: tuple[str, ...]
    bytecode: Path

    def cpu_ms(self) -> float:
        environment = self.tree.environment() | {"PYTHONPYCACHEPREFIX": str(self.bytecode)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        before = _seconds_of_children()
        done = subprocess.run(
            [self.tree.python, *self.words],
            cwd=self.tree.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        if done.returncode:
            cause = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise StartError(f"{self.tree.name}: {' '.join(self.words)}: {cause}")
        return (_seconds_of_children() - before) * 1000


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--against", metavar="COMMIT", help="measure this commit in the same run")
    parser.add_argument("--compiled", action="store_true", help="measure the compiled build in the same run")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default {ROUNDS}")
    arguments = parser.parse_args()
    try:
        with (
            trees(arguments.against, arguments.compiled) as compared,
            TemporaryDirectory(prefix="stellwerk-bench-") as folder,
        ):
            print_starts(compared, measure(compared, Path(folder), arguments.rounds))
    except (TreeError, StartError) as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(1) from None


def measure(compared: Sequence[Tree], folder: Path, rounds: int) -> list[list[list[float]]]:
    """Return the CPU milliseconds of each command, after those of Python alone, in each tree and round."""
    lines = [PASS, *(("-m", "stellwerk", *command.split()) for command in COMMANDS)]
    contenders = [
        Contender(tree, words, folder / str(number))
        for words in lines
        for number, tree in enumerate(compared)
    ]
    for contender in contenders:
        contender.cpu_ms()  # writes the bytecode
    figures = in_turn(contenders, Contender.cpu_ms, rounds)
    return [figures[begin : begin + len(compared)] for begin in range(0, len(figures), len(compared))]


def print_starts(compared: Sequence[Tree], figures: Sequence[Sequence[Sequence[float]]]) -> None:
    bare = figures[0][0]
    head = ["", "CPU ms", "times python -c pass"]
    print()
    print_table(
        [*head, *(f"to {tree.name}" for tree in compared[1:])],
        [
            [
                name,
                spread(own).text(0),
                ratios(own, bare).text(1),
                *(ratios(own, other).text(2) for other in others),
            ]
            for name, (own, *others) in zip(("python -c pass", *COMMANDS), figures, strict=True)
        ],
    )


if __name__ == "__main__":
    main()
