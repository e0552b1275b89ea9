"""How costs grow: with the matches that run on one server, and with the lines of a tournament.

    python -m tests.benchmarks.bench_growth [--matches N ...] [--lines N ...] [--verified N] [--blocks N ...]

*Running matches*: `stellwerk serve` with so many matches of two clients that play USA by chance, over
loopback, with the pieces of `bench_server.py`. CPU of the server a decision without pauses; the resident
memory with all matches in mid-game, and what each match adds to a server without any; the server's answer
at half load. Each match needs three descriptors in the server and two here: `ulimit -Hn` is the limit. With
`--real-time` (as root) server and clients run before all other processes.

*Lines*: a made-up tournament (`made_up_tournament.py`) and the real commands, each in a process of its own:
its CPU, that of the kernel and all threads included, and its peak memory. `resume` is measured until its
first block has ended; each command starts Python, which the first row shows. *Growth* is how much more
than that each size takes a line, beside the size before it: 1.0 is linear, and what grows with the square
has the ratio of the sizes there.

*The runner*: `tournament run` of two bots `random`, one match at a time. CPU a match, from the difference of
a long run and a short one; with `--against COMMIT` another commit in turn with this checkout.

*Blocks*: `tournament run --workers 4` of two house bots in short matches, on a board of 8 trains. What the
runner, which is the coordinator, uses up to so many blocks: its CPU a block since the size before, and its
memory. The last size is a whole tournament, which must end without a failure, and the first matches of it are
played by one process as well. With `--folder /dev/shm` no time goes to waiting for the disk.

Absolute figures of different runs must not be compared (`rounds.py`). Everything stops by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

from tests.benchmarks.bench_server import (
    WARM_UP,
    allow_descriptors,
    closing_load,
    cores,
    load_by_half,
    print_machine,
    run_first,
    sample_half_load,
    say,
    spread_matches,
    stellwerk_server,
)
from tests.benchmarks.load import LoadError, Tally
from tests.benchmarks.made_up_tournament import (
    MakingError,
    made_up_tournament,
    played_tournament,
    settings_text,
)
from tests.benchmarks.rounds import in_turn, print_table, spread
from tests.benchmarks.trees import THIS, Tree, TreeError, trees
from tests.command.tournament.travelling import cup

MATCHES: Final = (1, 10, 100, 1_000)
LINES: Final = (100, 1_000, 10_000, 100_000)
MOST_VERIFIED: Final = 10_000  # each takes as long as playing it again
BOTS: Final = 10
SLICE: Final = 2.0  # seconds
COMMANDS: Final = ("ratings", "report", "status")
NOISE: Final = 0.2  # seconds of CPU: less than that more than no lines is no figure to divide by
FURTHER_ROUNDS: Final = 1_000  # after those that a made-up tournament has: `resume` has something to play
SHORT_RUN, LONG_RUN = 5, 65  # blocks of two matches
RUNS: Final = 3
BLOCKS: Final = (100, 1_000)
WORKERS: Final = 4
MOST_BY_ONE: Final = 5_000  # blocks that one process plays for comparison
TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Running:
    """So many matches on one server."""

    matches: int
    cpu_us: float
    resident_kb: int
    match_kb: float
    half_per_second: float
    busy: float
    p50_ms: float
    p99_ms: float
    kept_waiting: float


@dataclass(frozen=True)
class Cost:
    """A command in a folder of so many lines."""

    command: str
    lines: int
    cpu_seconds: float
    peak_mib: float


@dataclass(frozen=True)
class Coordinated:
    """The runner of a cluster when so many blocks have ended: what it has used, and how long that took."""

    blocks: int
    cpu_seconds: float
    resident_mib: float
    wall_seconds: float


@dataclass(frozen=True)
class Played:
    """A whole tournament: the CPU of all its processes."""

    matches: int
    cpu_seconds: float
    wall_seconds: float


@dataclass(frozen=True)
class Report:
    running: list[Running]
    costs: list[Cost]
    pages_kb: list[int]  # of report.html, for each number of lines
    runner_ms: dict[str, list[float]]  # of each tree, a match
    coordinated: list[Coordinated]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--matches", type=int, nargs="*", default=[*MATCHES], help="running, on a server")
    parser.add_argument("--lines", type=int, nargs="*", default=[*LINES], help="of matches.jsonl")
    parser.add_argument(
        "--verified", type=int, default=MOST_VERIFIED, metavar="N", help=f"lines (default {MOST_VERIFIED:,})"
    )
    parser.add_argument("--bots", type=int, default=BOTS, help=f"in the tournament (default {BOTS})")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of the runner (default {RUNS}; 0: none)")
    parser.add_argument(
        "--blocks", type=int, nargs="*", default=[*BLOCKS], help="of a tournament that four workers play"
    )
    parser.add_argument(
        "--folder", type=Path, help="where the tournaments are (default: that of temporary files)"
    )
    parser.add_argument(
        "--real-time", action="store_true", help="run servers before all other processes (as root)"
    )
    parser.add_argument("--against", metavar="COMMIT", help="measure its runner in the same run")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    arguments = parser.parse_args()
    allow_descriptors()
    try:
        with (
            trees(arguments.against) as compared,
            TemporaryDirectory(prefix="stellwerk-bench-", dir=arguments.folder) as name,
        ):
            running = measure_running(arguments.matches, real_time=arguments.real_time)
            costs, pages = measure_lines(Path(name), arguments.lines, arguments.verified, arguments.bots)
            runner = measure_runner(Path(name), compared, arguments.runs)
            coordinated = measure_blocks(Path(name), arguments.blocks)
    except (LoadError, TreeError, MakingError) as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    if arguments.json:
        report = Report(running, costs, pages, runner, coordinated)
        arguments.json.write_text(json.dumps(asdict(report), indent=1) + "\n")


# -- running matches ---------------------------------------------------------------------------------


def measure_running(counts: Sequence[int], *, real_time: bool) -> list[Running]:
    if not counts:
        return []
    everywhere = os.sched_getaffinity(0)
    server_cores, client_cores = cores()
    os.sched_setaffinity(0, client_cores)
    try:
        if real_time:
            run_first()
        print_machine(server_cores, client_cores)
        rows: list[Running] = []
        for count in counts:
            say(f"{count:,} running matches")
            rows.append(_running(server_cores, count))
        print_running(rows)
        return rows
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, everywhere)


def _running(server_cores: set[int], count: int) -> Running:
    with stellwerk_server(server_cores, THIS) as server, closing_load(server) as load:
        empty_kb = server.resident_kb()
        spread_matches(load, count)
        load.run(WARM_UP)
        load.tally = Tally()
        cpu = server.cpu_seconds()
        load.run(SLICE)
        busy = (server.cpu_seconds() - cpu) / _decisions(load.tally)
        per_second = load.tally.decisions / SLICE
        resident_kb = server.resident_kb()
        load_by_half(server, load, count / (per_second / 2))
        half = sample_half_load(server, load, 2 * count)
        return Running(
            matches=count,
            cpu_us=busy * 1e6,
            resident_kb=resident_kb,
            match_kb=(resident_kb - empty_kb) / count,
            half_per_second=half.decisions_per_second,
            busy=half.busy,
            p50_ms=half.p50_ms,
            p99_ms=half.p99_ms,
            kept_waiting=half.kept_waiting,
        )


def _decisions(tally: Tally) -> int:
    if not tally.decisions:
        raise LoadError("the server has answered nothing")
    return tally.decisions


# -- lines of a tournament ---------------------------------------------------------------------------


def measure_lines(
    folder: Path, counts: Sequence[int], most_verified: int, bots: int
) -> tuple[list[Cost], list[int]]:
    if not counts:
        return [], []
    say(f"a tournament of {bots} bots: playing what is to be copied")
    played = played_tournament(folder / "played", bots)
    costs = [_cost(0, "ratings", str(played))]  # which has next to no lines
    pages: list[int] = []
    for count in counts:
        cup = made_up_tournament(played, folder / "cup", count)
        for command in COMMANDS:
            say(f"{count:,} lines, {command}")
            costs.append(_cost(count, command, str(cup)))
        pages.append((cup / "report.html").stat().st_size // 1000)
        if count <= most_verified:
            say(f"{count:,} lines, verify")
            costs.append(_cost(count, "verify", str(cup)))
        say(f"{count:,} lines, resume")
        costs.append(_resume_cost(count, cup, bots))  # the last one: it adds lines
        shutil.rmtree(cup)
    print_costs(costs, counts, pages)
    return costs, pages


def _cost(lines: int, command: str, *words: str) -> Cost:
    """Measure a command to its end. A peak below that of this process cannot be seen: the kernel counts it
    from before the command replaced it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "stellwerk", "tournament", command, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise MakingError(f"{command} with {lines:,} lines ended with status {process.returncode}")
    return Cost(command, lines, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def _resume_cost(lines: int, cup: Path, bots: int) -> Cost:
    """Measure `resume` until its first block has ended, and kill it: nobody needs this tournament."""
    options = ["--no-preflight", "--progress=lines", "--concurrency=1"]
    rounds = lines // (bots * (bots - 1)) + FURTHER_ROUNDS
    with subprocess.Popen(
        [sys.executable, "-m", "stellwerk", "tournament", "run", str(cup), f"--rounds={rounds}", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        try:
            text: list[bytes] = []
            for line in process.stderr:
                text.append(line)
                if line.startswith(b"block "):
                    return Cost("run", lines, _cpu_seconds(process.pid), _peak_mib(process.pid))
        finally:
            process.kill()
    raise MakingError(f"resume played nothing: {b''.join(text)[-500:].decode(errors='replace')}")


def _cpu_seconds(process_id: int) -> float:
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _peak_mib(process_id: int) -> float:
    text = Path(f"/proc/{process_id}/status").read_text()
    return int(text.partition("VmHWM:")[2].split()[0]) / 1024


# -- the runner --------------------------------------------------------------------------------------


def measure_runner(folder: Path, compared: Sequence[Tree], runs: int) -> dict[str, list[float]]:
    if not runs:
        return {}

    def match_ms(tree: Tree) -> float:
        say(f"the runner, {tree.name}")
        short, long = (_run_seconds(folder / "run", tree, blocks) for blocks in (SHORT_RUN, LONG_RUN))
        return 1000 * (long - short) / (2 * (LONG_RUN - SHORT_RUN))

    figures = in_turn(compared, match_ms, runs)
    print_runner(compared, figures)
    return {tree.name: values for tree, values in zip(compared, figures, strict=True)}


def _run_seconds(folder: Path, tree: Tree, blocks: int) -> float:
    folder.mkdir()
    (folder / "tournament.toml").write_text(settings_text(bots=2, rounds=blocks))
    options = ["--no-preflight", "--progress=lines", "--concurrency=1", "--seed=growth"]
    process = subprocess.Popen(
        [sys.executable, "-m", "stellwerk", "tournament", "run", str(folder), *options],
        cwd=tree.root,
        env=tree.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    shutil.rmtree(folder)
    if process.returncode:
        raise MakingError(f"the runner of {tree.name} ended with status {process.returncode}")
    return usage.ru_utime + usage.ru_stime


# -- blocks that workers play ------------------------------------------------------------------------


def measure_blocks(folder: Path, counts: Sequence[int]) -> list[Coordinated]:
    if not counts:
        return []
    counts = sorted(counts)
    say(f"{counts[-1]:,} blocks by {WORKERS} workers")
    rows, by_workers = _play_blocks(folder / "workers", counts, f"--workers={WORKERS}")
    by_one_count = min(counts[-1], MOST_BY_ONE)
    say(f"{by_one_count:,} blocks by one process")
    _, by_one = _play_blocks(folder / "one", [by_one_count], "--concurrency=1")
    print_blocks(rows, by_workers, by_one)
    return rows[1:]


def _play_blocks(folder: Path, counts: Sequence[int], *options: str) -> tuple[list[Coordinated], Played]:
    """Play a tournament of the largest of these sizes. Return what its runner had used when its first block
    ended, and at each size."""
    bots = ('built_in = "beginner"', 'built_in = "random"')
    cup(folder, bots, rounds=counts[-1])
    words = ["run", str(folder), "--no-preflight", "--progress=lines", "--seed=growth", *options]
    began = perf_counter()
    rows: list[Coordinated] = []
    with subprocess.Popen(
        [sys.executable, "-m", "stellwerk", "tournament", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        sizes, blocks, others = [1, *counts], 0, list[bytes]()
        try:
            for line in process.stderr:
                if not line.startswith(b"block "):
                    others.append(line)
                    continue
                blocks += 1
                if blocks == sizes[len(rows)]:
                    used, resident = _cpu_seconds(process.pid), _resident_mib(process.pid)
                    rows.append(Coordinated(blocks, used, resident, perf_counter() - began))
        except BaseException:
            process.kill()
            raise
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    played = Played(2 * blocks, usage.ru_utime + usage.ru_stime, perf_counter() - began)
    status_words = [sys.executable, "-m", "stellwerk", "tournament", "status", str(folder), "--json"]
    found = json.loads(subprocess.run(status_words, check=True, capture_output=True).stdout)
    shutil.rmtree(folder)
    if process.returncode or found["failures"] or found["matches"] != 2 * counts[-1]:
        raise MakingError(f"{' '.join(words)}: {b''.join(others)[-2000:].decode(errors='replace')}")
    return rows, played


def _resident_mib(process_id: int) -> float:
    text = Path(f"/proc/{process_id}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024


# -- the report --------------------------------------------------------------------------------------


def growth(costs: Sequence[Cost]) -> list[float | None]:
    """Return how each cost of one command has grown, by the lines: 1 is linear. The first of `costs` is that
    of no lines; what grew by less than the noise has no figure."""
    start, *sizes = costs
    rates = [(cost.cpu_seconds - start.cpu_seconds) / cost.lines for cost in sizes]
    beyond = [cost.cpu_seconds - start.cpu_seconds for cost in sizes]
    return [
        None if number == 0 or beyond[number - 1] < NOISE else rates[number] / rates[number - 1]
        for number in range(len(sizes))
    ]


def print_running(rows: Sequence[Running]) -> None:
    print_table(
        [
            "matches",
            "CPU µs a decision",
            "MB",
            "kB a match",
            "half load: decisions/s",
            "busy",
            "p50 ms",
            "p99 ms",
            "waiting",
        ],
        [
            [
                f"{row.matches:,}",
                f"{row.cpu_us:.0f}",
                f"{row.resident_kb / 1000:.0f}",
                f"{row.match_kb:.0f}",
                f"{row.half_per_second:,.0f}",
                f"{row.busy:.0%}",
                f"{row.p50_ms:.2f}",
                f"{row.p99_ms:.2f}",
                f"{row.kept_waiting:.0%}",
            ]
            for row in rows
        ],
    )


def print_costs(costs: Sequence[Cost], counts: Sequence[int], pages_kb: Sequence[int]) -> None:
    start = costs[0]
    rows = [["(start)", "0", f"{start.cpu_seconds:.2f}", "", f"{start.peak_mib:.0f}"]]
    for command in (*COMMANDS, "run", "verify"):
        of_command = [cost for cost in costs[1:] if cost.command == command]
        for cost, grown in zip(of_command, growth([start, *of_command]), strict=True):
            rows.append(
                [
                    command,
                    f"{cost.lines:,}",
                    f"{cost.cpu_seconds:.2f}",
                    "" if grown is None else f"{grown:.1f}",
                    f"{cost.peak_mib:.0f}",
                ]
            )
    print_table(["command", "lines", "CPU s", "growth", "peak MiB"], rows)
    pages = ", ".join(f"{kb:,} kB with {count:,}" for count, kb in zip(counts, pages_kb, strict=True))
    print(f"report.html: {pages} lines\n")


def print_blocks(rows: Sequence[Coordinated], by_workers: Played, by_one: Played) -> None:
    print_table(
        ["blocks", "CPU ms a block", "MiB", "blocks a second"],
        [
            [
                f"{row.blocks:,}",
                f"{1000 * (row.cpu_seconds - before.cpu_seconds) / (row.blocks - before.blocks):.1f}",
                f"{row.resident_mib:.0f}",
                f"{(row.blocks - before.blocks) / (row.wall_seconds - before.wall_seconds):.0f}",
            ]
            for before, row in pairwise(rows)
        ],
    )
    print_table(
        ["played by", "matches", "CPU s", "CPU ms a match", "wall s"],
        [
            [
                name,
                f"{played.matches:,}",
                f"{played.cpu_seconds:.0f}",
                f"{1000 * played.cpu_seconds / played.matches:.1f}",
                f"{played.wall_seconds:.0f}",
            ]
            for name, played in ((f"{WORKERS} workers", by_workers), ("one process", by_one))
        ],
    )


def print_runner(compared: Sequence[Tree], figures: Sequence[Sequence[float]]) -> None:
    rows = [[tree.name, spread(values).text(1)] for tree, values in zip(compared, figures, strict=True)]
    print_table(["two bots random, one match at a time", "CPU ms a match"], rows)


if __name__ == "__main__":
    main()
