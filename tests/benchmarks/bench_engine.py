"""What the engine costs: decisions and games a CPU second, and each operation by itself.

    python -m tests.benchmarks.bench_engine [--compiled] [--against COMMIT]

Everything is measured in CPU time, in short slices in turn; figures are medians with their quartiles.
Beside them is the cost of a bare Python function call in the same rounds, so that machines can be compared.
With `--against` a commit is alive in the same run, and the ratios say how the two compare: 1.10 means that
this checkout does 1.10 times as much in a CPU second. Games that the commit lacks are not compared. With
`--compiled` the compiled build (`make compile`) is, and 1.10 means that it does 1.10 times as much as this
checkout.
`--json FILE` writes the same figures for programs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Final

from tests.benchmarks.rounds import ROUNDS, SLICE_SECONDS, Spread, in_turn, print_table, ratios, spread
from tests.benchmarks.trees import Tree, TreeError, trees

VARIANTS: Final = (
    "usa-2",
    "usa-4",
    "united_kingdom-4",
    "united_kingdom-4-advanced_technologies",
    "team_asia-6",
    "card_game-4",
    "europe-4",
)
PLAYING: Final = ("play", "play with events", "planner plays")
OPERATIONS: Final = ("copy", "legal", "apply", "apply with events", "view", "encode", "view and encode")
WORKER: Final = "tests/benchmarks/engine_worker.py"


class WorkerError(Exception):
    """A worker has died; one line says which."""


@dataclass(frozen=True)
class Sample:
    """A slice: how often an operation was done, over how many games, in how many CPU seconds."""

    count: int
    games: int
    seconds: float


Samples = dict[tuple[str, str], list[Sample]]  # by variant and operation, a sample a round


class Worker:
    """A process that has a tree's engine."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        path = tree.root / WORKER
        text = path.read_text() if path.exists() else ""
        if not all(f'"{operation}":' in text for operation in (*PLAYING, *OPERATIONS)):
            path = Path(__file__).with_name("engine_worker.py")
        self._process = subprocess.Popen(
            [tree.python, str(path)],
            cwd=tree.root,
            env=tree.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, variant: str, operation: str, seconds: float) -> list[float]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps([variant, operation, seconds]) + "\n")
            self._process.stdin.flush()
        except OSError:
            pass  # it has died: no line comes
        line = self._process.stdout.readline()
        if not line:
            raise WorkerError(f"the engine of {self.tree.name} failed at {operation} of {variant}")
        answer: list[float] = json.loads(line)
        return answer

    def sample(self, variant: str, operation: str, seconds: float) -> Sample:
        count, games, spent = self.ask(variant, operation, seconds)
        return Sample(int(count), int(games), spent)

    def has(self, variant: str) -> bool:
        """Return whether the tree has the game; a shipped game has the id of its board."""
        boards = self.tree.root / "server" / "stellwerk_engine" / "boards"
        return (boards / f"{variant.partition('-')[0]}.json").exists()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--against", metavar="COMMIT", help="measure this commit in the same run")
    parser.add_argument("--compiled", action="store_true", help="measure the compiled build in the same run")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default {ROUNDS}")
    parser.add_argument(
        "--slice", type=float, default=SLICE_SECONDS, metavar="SECONDS", help=f"default {SLICE_SECONDS:g}"
    )
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=VARIANTS, metavar="NAME")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    arguments = parser.parse_args()
    try:
        with ExitStack() as stack:
            compared = stack.enter_context(trees(arguments.against, arguments.compiled))
            workers = [Worker(tree) for tree in compared]
            for worker in workers:
                stack.callback(worker.close)
            samples, calls = measure(workers, arguments.variants, arguments.rounds, arguments.slice)
            sizes = {variant: workers[0].ask(variant, "sizes", 0) for variant in arguments.variants}
    except (TreeError, WorkerError) as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    call_ns = spread([sample.seconds / sample.count * 1e9 for sample in calls])
    print_report(compared, samples, call_ns, sizes)
    if arguments.json:
        arguments.json.write_text(json.dumps(as_json(compared, samples, call_ns, sizes), indent=1) + "\n")


def measure(
    workers: Sequence[Worker], variants: Sequence[str], rounds: int, seconds: float
) -> tuple[list[Samples], list[Sample]]:
    """Measure every operation of every variant in turn; return the samples of each worker, and bare calls. A
    tree without the game has no samples of the variant."""
    samples: list[Samples] = [{} for _ in workers]
    calls: list[Sample] = []
    for variant in variants:
        print(f"measuring {variant} ...", file=sys.stderr)
        able = [worker for worker in workers if worker.has(variant)]
        samples_of_able = [own for own, worker in zip(samples, workers, strict=True) if worker in able]
        for worker in workers:
            if worker in able:
                worker.ask(variant, "copy", 0)  # make the game, and warm up
            else:
                print(f"{worker.tree.name} does not have the game of {variant}", file=sys.stderr)
        for operation in (*PLAYING, *OPERATIONS):
            length = seconds if operation in PLAYING else seconds / 3
            sample = partial(Worker.sample, variant=variant, operation=operation, seconds=length)
            for own, of_worker in zip(samples_of_able, in_turn(able, sample, rounds), strict=True):
                own[variant, operation] = of_worker
            calls.append(workers[0].sample(variant, "bare call", seconds / 10))
    return samples, calls


def costs(samples: Sequence[Sample]) -> list[float]:
    """Return the CPU microseconds that one call costs, for each round."""
    return [sample.seconds / sample.count * 1e6 for sample in samples]


def print_report(
    compared: Sequence[Tree], samples: Sequence[Samples], call_ns: Spread, sizes: dict[str, list[float]]
) -> None:
    version = sys.version.split()[0]
    print(
        f"\nRandom policy, one process, CPU time, Python {version}; medians [quartiles] of the rounds;"
        f" a bare call: {call_ns.text(0)} ns\n"
    )
    this = samples[0]
    print_table(
        [
            compared[0].name,
            "decisions/s",
            "games/s",
            "with events",
            "decisions a game",
            "calls a decision",
            "games/s of planners",
        ],
        [
            [
                variant,
                spread([s.count / s.seconds for s in this[variant, "play"]]).text(0),
                spread([s.games / s.seconds for s in this[variant, "play"]]).text(0),
                spread([s.count / s.seconds for s in this[variant, "play with events"]]).text(0),
                f"{_decisions_a_game(this[variant, 'play']):.0f}",
                f"{spread(costs(this[variant, 'play'])).median * 1000 / call_ns.median:.0f}",
                spread([s.games / s.seconds for s in this[variant, "planner plays"]]).text(0),
            ]
            for variant in sizes
        ],
    )
    print_table(
        ["CPU µs", *OPERATIONS],
        [
            [variant, *(spread(costs(this[variant, name])).text(2) for name in OPERATIONS)]
            for variant in sizes
        ],
    )
    for tree, other in zip(compared[1:], samples[1:], strict=True):
        if tree.is_installed:
            title, more, less = "Compiled, against this checkout: how much more it", other, this
        else:
            title, more, less = f"Against {tree.name}: how much more this checkout", this, other
        print(f"{title} does in a CPU second, medians [quartiles]\n")
        print_table(
            ["", *PLAYING, *OPERATIONS],
            [
                [
                    variant,
                    *(
                        ratios(costs(less[variant, operation]), costs(more[variant, operation])).text(2)
                        for operation in (*PLAYING, *OPERATIONS)
                    ),
                ]
                for variant in sizes
                if (variant, "copy") in other
            ],
        )
    print_table(
        [
            "sizes",
            "moves, mean",
            "most met",
            "computed",
            "view bytes, mean",
            "most met",
            "computed",
            "a line",
        ],
        [
            [variant, f"{figures[0]:.1f}", *(f"{figure:.0f}" for figure in figures[1:])]
            for variant, figures in sizes.items()
        ],
    )


def _decisions_a_game(samples: Sequence[Sample]) -> float:
    return sum(sample.count for sample in samples) / sum(sample.games for sample in samples)


def as_json(
    compared: Sequence[Tree], samples: Sequence[Samples], call_ns: Spread, sizes: dict[str, list[float]]
) -> object:
    return {
        "bare_call_ns": asdict(call_ns),
        "sizes": sizes,
        "trees": [
            {
                "name": tree.name,
                "samples": [
                    {"variant": variant, "operation": operation, "rounds": [asdict(one) for one in rounds]}
                    for (variant, operation), rounds in own.items()
                ],
            }
            for tree, own in zip(compared, samples, strict=True)
        ],
    }


if __name__ == "__main__":
    main()
