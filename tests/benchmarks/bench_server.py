"""What a served decision costs, beside the least that a Trio server can do with lines of the same size.

    python -m tests.benchmarks.bench_server

In one run over loopback: `stellwerk serve` with clients that play USA by chance, two at a table, with views,
legal moves and events, journal on; and a bare Trio echo, which reads lines as long as theirs and writes as
many bytes for each as Stellwerk does for a decision. The server has one core and the clients, which are this
process, another. Everything stops by itself; `--seconds` is the length of each measurement.

Read the figures so. *CPU*: of the whole server process, from the kernel. *Waiting*: the part of the time in
which the server could run and other processes had its core; with more than a little of it, or with a server
that is not busy, the rates say less than the CPU does. *Answer*: from just before the
client's `send` until the kernel has the server's answer, so with the time that a line waits until the server
reads it, and without what the clients are late. *Half load*: clients think before they act, for times that
are drawn so that half as many acts come as the same clients made the server take without thinking. *Memory*:
the growth of the resident memory between two numbers of matches, with the clients stopped in mid-game, by
the matches that came to it; it holds their connections, and not what the kernel keeps for a socket.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import select
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

import msgspec
import trio

from tests.benchmarks.load import Load, LoadError, Tally

ROOT: Final = Path(__file__).resolve().parents[2]
WARM_UP: Final = 1.0  # seconds before each measurement
START_PATIENCE: Final = 30.0
STOP_PATIENCE: Final = 5.0
DYING_PATIENCE: Final = 1.0  # a server that has failed may be about to say why
DESCRIPTORS: Final = 4096
FEW_MATCHES, MANY_MATCHES = 100, 500  # between which the memory is measured
ACTS_A_MATCH: Final = 80  # of a client that plays by chance, about
SPREAD_PATIENCE: Final = 20.0
SILENCE: Final = 0.3  # seconds after which no client is going to act any more
HOLD_PATIENCE: Final = 60.0

AIM_RATIO: Final = 3.0  # at 100 connections
AIM_P99_MS: Final = 5.0  # at half load with 1,000 connections
AIM_MATCH_KB: Final = 100.0
AIMED_CONNECTIONS: Final = 100

# Nobody is to run out of time while clients think or are stopped, and a pair that begins forty matches in a
# second does nothing wrong; all else is as it comes.
SETTINGS: Final = ("--set=time.move_ms=600000", "--set=limits.messages_a_second=1000")


@dataclass(frozen=True)
class Served:
    """One measurement without thinking."""

    connections: int
    decisions_per_second: float
    cpu_us: float  # of the server, a decision
    busy: float  # the part of the time in which the server was running
    kept_waiting: float  # the part in which it could have, and something else had its core
    bytes_per_decision: float
    act_bytes: float
    p50_ms: float
    p99_ms: float
    defaults: int


@dataclass(frozen=True)
class HalfLoad:
    connections: int
    decisions_per_second: float
    busy: float
    kept_waiting: float
    p50_ms: float
    p99_ms: float
    most_ms: float


@dataclass(frozen=True)
class Memory:
    few_kb: int
    many_kb: int

    @property
    def match_kb(self) -> float:
        return (self.many_kb - self.few_kb) / (MANY_MATCHES - FEW_MATCHES)


@dataclass(frozen=True)
class Report:
    server_cores: list[int]
    client_cores: list[int]
    stellwerk: list[Served]
    echo: list[Served]
    half_load: HalfLoad
    memory: Memory


@dataclass(frozen=True)
class Server:
    process_id: int
    address: tuple[str, int]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement (default 3)")
    parser.add_argument(
        "--connections", type=int, nargs="+", default=[1, 100, 1000], help="how many (default 1 100 1000)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    arguments = parser.parse_args()
    allow_descriptors()
    try:
        report = measure(arguments.connections, arguments.seconds)
    except LoadError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    print_report(report)
    if arguments.json:
        arguments.json.write_text(json.dumps(asdict(report), indent=1) + "\n")


def measure(connection_counts: Sequence[int], seconds: float) -> Report:
    server_cores, client_cores = cores()
    os.sched_setaffinity(0, client_cores)
    stellwerk: list[Served] = []
    echo: list[Served] = []
    half_load: HalfLoad | None = None
    for count in connection_counts:
        say(f"Stellwerk, {count} connections")
        with stellwerk_server(server_cores) as server, closing_load(server) as load:
            spread_matches(load, max(2, count) // 2)
            served = measure_served(server, load, count, seconds)
            stellwerk.append(served)
            if count == max(connection_counts):
                say(f"Stellwerk, {count} connections, half load")
                half_load = measure_half_load(server, load, served, seconds)
        say(f"echo, {count} connections")
        size = round(served.bytes_per_decision)
        with echo_server(server_cores, size) as server, closing_load(server) as load:
            load.add_echo_clients(count, b"x" * (round(served.act_bytes) - 1) + b"\n", size)
            echo.append(measure_served(server, load, count, seconds))
    say("Stellwerk, memory")
    memory = measure_memory(server_cores)
    assert half_load is not None
    return Report(sorted(server_cores), sorted(client_cores), stellwerk, echo, half_load, memory)


def measure_served(server: Server, load: Load, connections: int, seconds: float) -> Served:
    tally, elapsed, cpu, waited = measured(server, load, seconds)
    return Served(
        connections=connections,
        decisions_per_second=tally.decisions / elapsed,
        cpu_us=cpu / tally.decisions * 1e6,
        busy=cpu / elapsed,
        kept_waiting=waited / elapsed,
        bytes_per_decision=tally.bytes_received / tally.decisions,
        act_bytes=tally.bytes_sent / tally.decisions,
        p50_ms=percentile(tally, 0.5),
        p99_ms=percentile(tally, 0.99),
        defaults=tally.defaults,
    )


def measure_half_load(server: Server, load: Load, saturated: Served, seconds: float) -> HalfLoad:
    matches = max(2, saturated.connections) / 2  # each of them waits for one act
    load.pause = matches / (saturated.decisions_per_second / 2)
    tally, elapsed, cpu, waited = measured(server, load, seconds)
    return HalfLoad(
        connections=saturated.connections,
        decisions_per_second=tally.decisions / elapsed,
        busy=cpu / elapsed,
        kept_waiting=waited / elapsed,
        p50_ms=percentile(tally, 0.5),
        p99_ms=percentile(tally, 0.99),
        most_ms=percentile(tally, 1.0),
    )


def measured(server: Server, load: Load, seconds: float) -> tuple[Tally, float, float, float]:
    """What happened, and how many seconds it took, the server ran, and the server was kept waiting."""
    load.run(WARM_UP)
    load.tally = Tally()
    begin, cpu, waited = perf_counter(), cpu_seconds(server.process_id), waited_seconds(server.process_id)
    load.run(seconds)
    cpu = cpu_seconds(server.process_id) - cpu
    waited = waited_seconds(server.process_id) - waited
    elapsed = perf_counter() - begin
    if not load.tally.decisions:
        raise LoadError("the server has answered nothing")
    return load.tally, elapsed, cpu, waited


def spread_matches(load: Load, count: int) -> None:
    """Begin so many matches, and bring them as far as if they had begun at different times: what a decision
    costs depends on where in a match it is."""
    chance = Random("spread")
    load.add_match_clients(count, lambda: chance.randrange(ACTS_A_MATCH))
    load.run_until_silent(SILENCE, SPREAD_PATIENCE)
    load.release()


def measure_memory(server_cores: set[int]) -> Memory:
    with stellwerk_server(server_cores) as server, closing_load(server) as load:
        few_kb = memory_in_mid_game(server, load, FEW_MATCHES)
        return Memory(few_kb, memory_in_mid_game(server, load, MANY_MATCHES - FEW_MATCHES))


def memory_in_mid_game(server: Server, load: Load, more_matches: int) -> int:
    load.add_match_clients(more_matches, lambda: ACTS_A_MATCH // 2)
    if not load.run_until_silent(SILENCE, HOLD_PATIENCE):
        raise LoadError(f"{more_matches} matches were not half played within {HOLD_PATIENCE:.0f} s")
    return resident_kb(server.process_id)


# -- servers -----------------------------------------------------------------------------------------


@contextmanager
def stellwerk_server(on_cores: set[int]) -> Generator[Server, None, None]:
    with TemporaryDirectory(prefix="stellwerk-bench-") as folder:
        data = str(Path(folder, "data"))
        command = ["stellwerk", "serve", "--port", "0", "--data", data, *SETTINGS]
        with running(command, on_cores, Path(folder, "log")) as server:
            yield server


@contextmanager
def echo_server(on_cores: set[int], size: int) -> Generator[Server, None, None]:
    with (
        TemporaryDirectory(prefix="stellwerk-bench-") as folder,
        running(["tests.benchmarks.echo_server", str(size)], on_cores, Path(folder, "log")) as server,
    ):
        yield server


@contextmanager
def running(module: list[str], on_cores: set[int], log: Path) -> Generator[Server, None, None]:
    """A module run as a server, until the end of the block. If that fails, what the server logged last."""
    with (
        log.open("wb") as log_file,
        subprocess.Popen(
            [sys.executable, "-m", *module], cwd=ROOT, stdout=subprocess.PIPE, stderr=log_file
        ) as process,
    ):
        os.sched_setaffinity(process.pid, on_cores)
        try:
            yield Server(process.pid, listening_address(process))
        except LoadError as error:
            with suppress(subprocess.TimeoutExpired):
                process.wait(DYING_PATIENCE)
            raise LoadError(f"{error}; the server's log ends with:\n{log.read_text()[-2000:]}") from None
        finally:
            stop(process)


def listening_address(process: subprocess.Popen[bytes]) -> tuple[str, int]:
    assert process.stdout is not None
    if not select.select([process.stdout], [], [], START_PATIENCE)[0]:
        raise LoadError(f"the server was not ready within {START_PATIENCE:.0f} s")
    line = process.stdout.readline().decode().strip()
    if not line.startswith("listening on "):
        raise LoadError(f"the server said {line!r} instead of where it listens")
    host, _, port = line.removeprefix("listening on ").rpartition(":")
    return host, int(port)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Its matches are of no interest: the second signal asks it not to wait for them."""
    for _ in range(2):
        process.send_signal(signal.SIGTERM)  # does nothing once it has ended
        try:
            process.wait(STOP_PATIENCE / 5)
        except subprocess.TimeoutExpired:
            continue
        return
    try:
        process.wait(STOP_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()


@contextmanager
def closing_load(server: Server) -> Generator[Load, None, None]:
    load = Load(server.address)
    try:
        yield load
    finally:
        load.close()


# -- the machine -------------------------------------------------------------------------------------


def cores() -> tuple[set[int], set[int]]:
    """One core for the server and another one for the clients, or the same if there is but one."""
    allowed = sorted(os.sched_getaffinity(0))
    return {allowed[0]}, {allowed[-1]}


def cpu_seconds(process_id: int) -> float:
    """Of all threads, in user code and in the kernel, by the clock ticks of the system."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def waited_seconds(process_id: int) -> float:
    """How long its main thread was ready to run and did not."""
    return int(Path(f"/proc/{process_id}/schedstat").read_text().split()[1]) / 1e9


def resident_kb(process_id: int) -> int:
    status = Path(f"/proc/{process_id}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def allow_descriptors() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < DESCRIPTORS:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(DESCRIPTORS, hard), hard))


# -- the report --------------------------------------------------------------------------------------


def percentile(tally: Tally, part: float) -> float:
    """Of the answer times, in milliseconds."""
    ordered = sorted(tally.answer_ns)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] / 1e6


def say(text: str) -> None:
    print(f"measuring {text} ...", file=sys.stderr)


def print_report(report: Report) -> None:
    print(
        f"\nUSA, two seats; Python {platform.python_version()}, Trio {trio.__version__},"
        f" msgspec {msgspec.__version__}; loopback"
    )
    if report.server_cores == report.client_cores:
        print(f"Server and clients share core {report.server_cores[0]}: the answer times say little.\n")
    else:
        print(f"The server is pinned to core {report.server_cores}, the clients to {report.client_cores}.\n")
    pairs = list(zip(report.stellwerk, report.echo, strict=True))
    print_table(
        [
            "connections",
            "decisions/s",
            "echo/s",
            "CPU µs",
            "echo µs",
            "ratio",
            "aim",
            "busy",
            "waiting",
            "echo busy",
            "waiting",
        ],
        [
            [
                f"{served.connections:,}" if served.connections > 1 else "1 (a pair)",
                f"{served.decisions_per_second:,.0f}",
                f"{echo.decisions_per_second:,.0f}",
                f"{served.cpu_us:.1f}",
                f"{echo.cpu_us:.1f}",
                f"{served.cpu_us / echo.cpu_us:.2f}",
                f"{AIM_RATIO:.0f}" if served.connections == AIMED_CONNECTIONS else "",
                f"{served.busy:.0%}",
                f"{served.kept_waiting:.0%}",
                f"{echo.busy:.0%}",
                f"{echo.kept_waiting:.0%}",
            ]
            for served, echo in pairs
        ],
    )
    print_table(
        ["connections", "bytes a decision", "bytes an act", "answer p50 ms", "p99", "echo p50 ms", "p99"],
        [
            [
                f"{served.connections:,}",
                f"{served.bytes_per_decision:,.0f}",
                f"{served.act_bytes:.0f}",
                f"{served.p50_ms:.3f}",
                f"{served.p99_ms:.3f}",
                f"{echo.p50_ms:.3f}",
                f"{echo.p99_ms:.3f}",
            ]
            for served, echo in pairs
        ],
    )
    half = report.half_load
    print(
        f"Half load, {half.connections:,} connections, {half.decisions_per_second:,.0f} decisions/s, server"
        f" {half.busy:.0%} busy, {half.kept_waiting:.0%} waiting:"
        f"\nanswer p50 {half.p50_ms:.2f} ms, p99 {half.p99_ms:.2f} ms (aim: {AIM_P99_MS:.0f}),"
        f" longest {half.most_ms:.2f} ms"
    )
    memory = report.memory
    print(
        f"Memory: {memory.few_kb:,} kB with {FEW_MATCHES} matches, {memory.many_kb:,} kB with {MANY_MATCHES}:"
        f" {memory.match_kb:.0f} kB a match (aim: {AIM_MATCH_KB:.0f})"
    )
    defaults = sum(served.defaults for served in report.stellwerk)
    if defaults:
        print(f"The server moved {defaults} times for clients: these figures are not what they should be.")


def print_table(head: list[str], rows: list[list[str]]) -> None:
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)))
    print()


if __name__ == "__main__":
    main()
