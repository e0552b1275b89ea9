"""Break the rooms around the engine in places drawn by a seed, and list what no test of the room notices.

The rules have mutants of their own (`tests/mutants`), each named and each killed. The rooms around them have
no list of promises, so chance chooses what to break: comparisons, statements, numbers and operators, as
`breakages.py` finds them. Each room gets as many breakages as any other.

For each of them, the tests of the room run in a copy of the repository, the nearest first (`nearest.py`),
until one of them fails, which is named: it fails again, and passes unbroken. Other tests that fail are left
out, and named at the end. A survivor is a question: is the code of no use, is the change invisible, or is a
test missing?

    make breakages                                60 breakages
    make breakages ARGS='--seed b --count 20'     others
    make breakages ARGS='--only web --only learn' in these rooms
    make breakages ARGS='--at show/model.py:148'  all of this line

Exit code: 0, whatever survived; 2 if the arguments are wrong.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import Final, Literal

from tests.breakages.breakages import Breakage, breakages
from tests.breakages.nearest import Imports, nearest_tests, read_imports
from tests.mutants.run import REPOSITORY, SOURCE_ROOTS, copy_repository, run_pytest

ROOMS: Final = {  # the tests of a room and of its commands, and its sources
    "web": (
        (
            "tests/web",
            "tests/command/watch",
            "tests/command/serve/test_web.py",
            "tests/command/tournament/test_web.py",
        ),
        ("server/stellwerk_web", "server/stellwerk_http"),
    ),
    "processes": (("tests/processes", "tests/command/play"), ("server/stellwerk_processes",)),
    "tournament": (("tests/tournament", "tests/command/tournament"), ("tournament/stellwerk_tournament",)),
    "learn": (("tests/learn",), ("bots/python/stellwerk_learn",)),
}
JOBS: Final = 2  # at a time; each is one Python process
TIME_LIMIT: Final = 1800.0  # seconds; a breakage that makes a test endless is noticed by it
NO_TESTS: Final = 5  # pytest's exit code
FAILED: Final = re.compile(r"^(?:FAILED|ERROR) ([^\s[]+)", re.MULTILINE)  # without what a test is given

Outcome = Literal["noticed", "endless", "survived"]


@dataclass(frozen=True, slots=True)
class Broken:
    room: str
    breakage: Breakage

    def __str__(self) -> str:
        file = self.breakage.path.relative_to(REPOSITORY)
        return f"{self.room}: {file}:{self.breakage.line}: {self.breakage.what}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make breakages", description="Break the rooms around the engine.")
    parser.add_argument("--seed", default="a", help="other breakages than those of other seeds (default: a)")
    parser.add_argument("--count", type=int, default=60, help="how many, of all rooms together (default: 60)")
    parser.add_argument("--only", action="append", choices=ROOMS, help="a room; may be repeated")
    parser.add_argument("--at", metavar="FILE:LINE", help="break this line in every way instead")
    options = parser.parse_args(arguments)
    by_room = {room: list(breakages_in(room)) for room in options.only or ROOMS}
    if options.at is not None:
        chosen = [broken for each in by_room.values() for broken in each if _is_at(broken, options.at)]
    else:
        chosen = list(draw(by_room, options.seed, options.count))
    if not chosen:
        parser.error("nothing to break there")
    return run(chosen)


def breakages_in(room: str) -> Iterator[Broken]:
    _, folders = ROOMS[room]
    for file in sorted(file for folder in folders for file in (REPOSITORY / folder).rglob("*.py")):
        for breakage in breakages(file, file.read_text("utf-8")):
            yield Broken(room, breakage)


def draw(by_room: dict[str, list[Broken]], seed: str, count: int) -> Iterator[Broken]:
    """Yield breakages from each room in turn. A longer draw begins with the shorter one."""
    shuffled = {room: Random(f"{seed}/{room}").sample(each, len(each)) for room, each in by_room.items()}
    rooms = list(shuffled)
    for number in range(count):
        left = shuffled[rooms[number % len(rooms)]]
        if left:
            yield left.pop(0)


def _is_at(broken: Broken, place: str) -> bool:
    return f"{broken.breakage.path}:{broken.breakage.line}".endswith(f"/{place}")


def run(chosen: Sequence[Broken]) -> int:
    """Break one place after the other, in as many copies as there are jobs."""
    imports = read_imports(REPOSITORY, (*SOURCE_ROOTS, "tests"))
    nearest = {broken: tests_of(broken, imports) for broken in chosen}
    outcomes = Counter[tuple[str, Outcome]]()
    failing = set[str]()
    with tempfile.TemporaryDirectory(prefix="breakages-") as folder, ThreadPoolExecutor(JOBS) as executor:
        os.chmod(folder, 0o755)  # some tests run bots of the copies as an ordinary user
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(JOBS):
            copies.put(copy_with_python(Path(folder) / str(number)))

        def outcome_of(broken: Broken) -> tuple[Outcome, str]:
            with borrowed(copies) as copy:
                return judge(broken, nearest[broken], copy, failing)

        for broken, (outcome, test) in zip(chosen, executor.map(outcome_of, chosen), strict=True):
            outcomes[broken.room, outcome] += 1
            print(f"{outcome:9} {broken}", f"by {test}" if test else "", flush=True)
    for test in sorted(failing):
        print(f"fails for other reasons, and is left out: {test}")
    for room in dict.fromkeys(broken.room for broken in chosen):
        drawn = sum(broken.room == room for broken in chosen)
        print(f"{room}: {drawn} breakages, {outcomes[room, 'noticed'] + outcomes[room, 'endless']} noticed")
    return 0


@contextmanager
def borrowed(copies: SimpleQueue[Path]) -> Generator[Path]:
    copy = copies.get()
    try:
        yield copy
    finally:
        copies.put(copy)


def tests_of(broken: Broken, imports: Imports) -> list[str]:
    """Return the paths of the room's tests in the repository, nearest first."""
    roots = [*(REPOSITORY / root for root in SOURCE_ROOTS), REPOSITORY]
    folders = [REPOSITORY / folder for folder in ROOMS[broken.room][0]]
    nearest = nearest_tests(broken.breakage.path, folders, imports, roots)
    return [test.relative_to(REPOSITORY).as_posix() for test in nearest]


def copy_with_python(copy: Path) -> Path:
    """Copy the repository, and give it a Python that finds the copied packages first, in whatever process."""
    copy_repository(copy)
    environment = copy / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    (outer,) = (path for path in map(Path, sys.path) if path.name == "site-packages")
    roots = [str(copy / root) for root in SOURCE_ROOTS]
    (packages / "copy.pth").write_text("\n".join([*roots, f"import site; site.addsitedir({str(outer)!r})"]))
    return copy


def python_of(copy: Path) -> str:
    return str(copy / ".venv" / "bin" / "python")


def judge(broken: Broken, tests: Sequence[str], copy: Path, failing: set[str]) -> tuple[Outcome, str]:
    """Break the copy, run the tests in it, and mend it. Return the test that notices it, too: it fails again,
    and passes in the mended copy. Any other test that fails is added to `failing`."""
    path = copy / broken.breakage.path.relative_to(REPOSITORY)
    sound = path.read_text("utf-8")
    while True:
        path.write_text(broken.breakage.apply(sound), "utf-8")
        try:
            finished = run_tests(copy, tests, failing, TIME_LIMIT)
            if finished.returncode in (0, NO_TESTS):
                return "survived", ""
            failed = FAILED.search(finished.stdout)
            if failed is None:
                return "noticed", ""
            fails_again = run_tests(copy, [failed[1]], (), TIME_LIMIT).returncode != 0
        except subprocess.TimeoutExpired:
            return "endless", ""
        finally:
            path.write_text(sound, "utf-8")
        if fails_again and run_tests(copy, [failed[1]], (), None).returncode == 0:
            return "noticed", failed[1]
        failing.add(failed[1])


def run_tests(
    copy: Path, tests: Sequence[str], without: Iterable[str], limit: float | None
) -> subprocess.CompletedProcess[str]:
    return run_pytest(copy, [*tests, *(f"--deselect={test}" for test in without)], limit, python_of(copy))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
