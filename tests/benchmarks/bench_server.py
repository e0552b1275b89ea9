"""What a served decision costs, beside the least that a server can do with the same system calls.

    python -m tests.benchmarks.bench_server [--compiled] [--against COMMIT] [--real-time]

Over loopback: `stellwerk serve` with clients that play USA by chance, two at a table, with views, legal
moves and events, journal on; and two servers without a game (`floor_server.py`), which for each act
receive, write and send as often and as many bytes as Stellwerk does. One is a Trio server of the same
design, and the ratio to it is what the game, the protocol and its laws cost; the other is a bare loop over
epoll, the limit of the machine. With `--compiled` the compiled build (`make compile`) is in the same run,
with `--against` Stellwerk at another commit.

All servers of a table are alive at once and measured in turn, in short slices: see `rounds.py`. The servers
have one core and the clients, which are this process, another. On a machine that others use, too,
`--real-time` (as root) lets servers and clients run before everything else. Everything stops by itself.

Read the figures so. *CPU*: of the whole server process, from the kernel, a decision; medians with
quartiles. *Ratio*: of the CPU of Stellwerk to that of the other one, round by round. *Waiting*: the part of
the time in which Stellwerk could run and other processes had its core: with more than a little of it the
answer times say less than the CPU does. They also suffer when the clients have to wait for their core: what
was due meanwhile comes at once. *Answer*: from just before the client's `send` until the kernel has
the server's answer, so with the time that a line waits until the server reads it, and without what the
clients are late. *Half load*: clients think before they act, for times such that the server's core is busy
half of the time. With half of the decisions of saturation it would be busy for three quarters: each of them
costs more when fewer lines come at a time. *Memory*: the growth of the resident memory between two numbers
of matches, with the clients stopped in mid-game, by the matches that were added; it holds their connections,
and not what the kernel keeps for a socket.
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
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

import msgspec
import trio

from tests.benchmarks.load import Load, LoadError, Tally
from tests.benchmarks.rounds import ROUNDS, SLICE_SECONDS, in_turn, print_table, ratios, spread
from tests.benchmarks.trees import THIS, Tree, TreeError, trees

WARM_UP: Final = 1.0  # seconds before each measurement
SETTLED: Final = 0.02  # seconds of silence after which a slice is over
HALF_LOAD_SECONDS: Final = 3.0
HALF: Final = 0.5  # of the time of the server's core
NEARLY: Final = 0.02
TRIES: Final = 8  # to find the clients' pause: each costs two seconds
TRY_SECONDS: Final = 1.0
SIZES_SECONDS: Final = 1.0
START_PATIENCE: Final = 30.0
STOP_PATIENCE: Final = 5.0
DYING_PATIENCE: Final = 1.0  # a server that has failed may be about to say why
FEW_MATCHES, MANY_MATCHES = 100, 500  # between which the memory is measured
ACTS_A_MATCH: Final = 80  # of a client that plays by chance, about
SPREAD_PATIENCE: Final = 60.0
SHORT_SHARE: Final = 0.125  # of the bytes of a decision: what goes to the seat that is not asked next
SILENCE: Final = 0.3  # seconds after which no client is going to act any more
HOLD_PATIENCE: Final = 300.0

AIM_RATIO: Final = 4.4  # to the floor with Trio, at 100 connections
AIM_P99_MS: Final = 5.0  # at half load with 1,000 connections
AIM_MATCH_KB: Final = 100.0
AIMED_CONNECTIONS: Final = 100
FLOOR: Final = "the floor with Trio"

# Nobody is to run out of time while clients think or are stopped, a pair that begins forty matches in a
# second does nothing wrong, and descriptors are the only limit of connections; all else is as it comes.
SETTINGS: Final = (
    "--set=time.move_ms=600000",
    "--set=limits.messages_a_second=1000",
    "--set=limits.connections=1000000",
)


@dataclass(frozen=True)
class Sample:
    """A slice of one server's time."""

    decisions: int
    defaults: int  # moves that the server made for clients: there should be none
    cpu_us: float  # of the server, a decision
    kept_waiting: float  # the part of the time in which it could have run, and something else had its core


@dataclass(frozen=True)
class Contender:
    """A server with its clients."""

    name: str
    server: Server
    load: Load

    def sample(self, seconds: float) -> Sample:
        self.load.tally = Tally()
        begin, cpu, waited = perf_counter(), self.server.cpu_seconds(), self.server.waited_seconds()
        self.load.run(seconds)
        self.load.settle(SETTLED)
        decisions = self.load.tally.decisions
        if not decisions:
            raise LoadError(f"{self.name} has answered nothing")
        return Sample(
            decisions,
            self.load.tally.defaults,
            (self.server.cpu_seconds() - cpu) / decisions * 1e6,
            (self.server.waited_seconds() - waited) / (perf_counter() - begin),
        )


@dataclass(frozen=True)
class Sizes:
    """What a decision of Stellwerk's is in bytes, so that the floors can do the same."""

    act: int
    journal: int
    short: int  # what the mover hears of its own act
    long: int  # what the one hears who is asked next


@dataclass(frozen=True)
class Served:
    """One table: all servers with so many connections."""

    connections: int
    sizes: Sizes
    names: list[str]
    samples: list[list[Sample]]  # of each server, one a round
    saturated_per_second: float  # decisions of Stellwerk's without pauses


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
    served: list[Served]
    half_load: HalfLoad
    memory: Memory


@dataclass(frozen=True)
class Server:
    process_id: int
    address: tuple[str, int]

    def cpu_seconds(self) -> float:
        """Return how long the main thread ran, in user code and in the kernel. No other thread works."""
        return self._schedstat(0)

    def waited_seconds(self) -> float:
        """Return how long the main thread was ready to run and did not."""
        return self._schedstat(1)

    def _schedstat(self, field: int) -> float:
        return int(Path(f"/proc/{self.process_id}/schedstat").read_text().split()[field]) / 1e9

    def written_bytes(self) -> int:
        """Return the bytes written to files. Bytes sent over a socket are not counted there."""
        text = Path(f"/proc/{self.process_id}/io").read_text()
        return int(text.partition("wchar:")[2].split()[0])

    def resident_kb(self) -> int:
        text = Path(f"/proc/{self.process_id}/status").read_text()
        return int(text.partition("VmRSS:")[2].split()[0])


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
    parser.add_argument(
        "--connections", type=int, nargs="+", default=[1, 100, 1000], help="how many (default 1 100 1000)"
    )
    parser.add_argument(
        "--real-time", action="store_true", help="run before all other processes of the machine (as root)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    arguments = parser.parse_args()
    allow_descriptors()
    try:
        if arguments.real_time:
            run_first()
        with trees(arguments.against, arguments.compiled) as compared:
            report = measure(compared, arguments.connections, arguments.rounds, arguments.slice)
    except (LoadError, TreeError) as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    if arguments.json:
        arguments.json.write_text(json.dumps(asdict(report), indent=1) + "\n")


def run_first() -> None:
    """Let this process, and the servers that it starts, run before all others."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        raise LoadError("--real-time needs root") from None


def measure(
    compared: Sequence[Tree], connection_counts: Sequence[int], rounds: int, seconds: float
) -> Report:
    server_cores, client_cores = cores()
    os.sched_setaffinity(0, client_cores)
    print_machine(server_cores, client_cores)
    served: list[Served] = []
    for count in connection_counts:
        say(f"{count} connections")
        served.append(measure_served(compared, server_cores, count, rounds, seconds))
        print_served(served[-1])
    say(f"{served[-1].connections} connections, half load")
    half_load = measure_half_load(server_cores, served[-1])
    print_half_load(half_load)
    say("memory")
    memory = measure_memory(server_cores)
    print_memory(memory)
    return Report(sorted(server_cores), sorted(client_cores), served, half_load, memory)


def measure_served(
    compared: Sequence[Tree], server_cores: set[int], connections: int, rounds: int, seconds: float
) -> Served:
    """Measure all servers in turn, while all of them are alive."""
    pairs = max(2, connections) // 2
    with ExitStack() as stack:

        def enter(name: str, server: Server) -> Contender:
            return Contender(name, server, stack.enter_context(closing_load(server)))

        contenders: list[Contender] = []
        for tree in compared:
            server = stack.enter_context(stellwerk_server(server_cores, tree))
            contenders.append(enter(f"Stellwerk, {tree.name}", server))
            spread_matches(contenders[-1].load, pairs)
            contenders[-1].sample(WARM_UP)
        sizes, per_second = measure_sizes(contenders[0])
        for kind, name in (("trio", FLOOR), ("epoll", "a bare epoll loop")):
            server = stack.enter_context(floor_server(server_cores, kind, sizes))
            contenders.append(enter(name, server))
            contenders[-1].load.add_floor_clients(pairs, b"x" * (sizes.act - 1) + b"\n")
            contenders[-1].sample(WARM_UP)
        samples = in_turn(contenders, lambda contender: contender.sample(seconds), rounds)
        return Served(
            connections=2 * pairs,
            sizes=sizes,
            names=[contender.name for contender in contenders],
            samples=samples,
            saturated_per_second=per_second,
        )


def measure_sizes(contender: Contender) -> tuple[Sizes, float]:
    """Measure a decision of this server's, and how many it makes a second."""
    written = contender.server.written_bytes()
    contender.sample(SIZES_SECONDS)
    tally = contender.load.tally
    received = tally.bytes_received / tally.decisions
    short = round(received * SHORT_SHARE)
    sizes = Sizes(
        act=round(tally.bytes_sent / tally.decisions),
        journal=round((contender.server.written_bytes() - written) / tally.decisions),
        short=short,
        long=round(received) - short,
    )
    return sizes, tally.decisions / SIZES_SECONDS


def measure_half_load(server_cores: set[int], saturated: Served) -> HalfLoad:
    with stellwerk_server(server_cores, THIS) as server, closing_load(server) as load:
        matches = saturated.connections // 2  # each of them waits for one act
        spread_matches(load, matches)
        load.run(WARM_UP)
        load_by_half(server, load, matches / (saturated.saturated_per_second / 2))
        return sample_half_load(server, load, saturated.connections)


def load_by_half(server: Server, load: Load, first_pause: float) -> None:
    """Let the clients think for as long as it takes for the server to be busy half of the time."""

    def busy_with(pause: float) -> float:
        load.pause = pause
        load.run(WARM_UP)
        begin, cpu = perf_counter(), server.cpu_seconds()
        load.run(TRY_SECONDS)
        return (server.cpu_seconds() - cpu) / (perf_counter() - begin)

    load.pause = pause_for_half(busy_with, first_pause)


def pause_for_half(busy_with: Callable[[float], float], pause: float) -> float:
    """Return a pause between acts with which a server is busy half of the time, from a first guess. A pause
    that is longer by some part makes it less busy by about that part."""
    for _ in range(TRIES):
        busy = busy_with(pause)
        if abs(busy - HALF) <= NEARLY:
            break
        pause *= busy / HALF
    return pause


def sample_half_load(server: Server, load: Load, connections: int) -> HalfLoad:
    load.tally = Tally()
    begin, cpu, waited = perf_counter(), server.cpu_seconds(), server.waited_seconds()
    load.run(HALF_LOAD_SECONDS)
    elapsed = perf_counter() - begin
    tally = load.tally
    if not tally.decisions:
        raise LoadError("the server has answered nothing")
    return HalfLoad(
        connections=connections,
        decisions_per_second=tally.decisions / elapsed,
        busy=(server.cpu_seconds() - cpu) / elapsed,
        kept_waiting=(server.waited_seconds() - waited) / elapsed,
        p50_ms=percentile(tally, 0.5),
        p99_ms=percentile(tally, 0.99),
        most_ms=percentile(tally, 1.0),
    )


def spread_matches(load: Load, count: int) -> None:
    """Begin so many matches, and bring them as far as if they had begun at different times: what a decision
    costs depends on where in a match it is."""
    chance = Random("spread")
    load.add_match_clients(count, lambda: chance.randrange(ACTS_A_MATCH))
    load.run_until_silent(SILENCE, SPREAD_PATIENCE)
    load.release()


def measure_memory(server_cores: set[int]) -> Memory:
    with stellwerk_server(server_cores, THIS) as server, closing_load(server) as load:
        few_kb = memory_in_mid_game(server, load, FEW_MATCHES)
        return Memory(few_kb, memory_in_mid_game(server, load, MANY_MATCHES - FEW_MATCHES))


def memory_in_mid_game(server: Server, load: Load, more_matches: int) -> int:
    load.add_match_clients(more_matches, lambda: ACTS_A_MATCH // 2)
    if not load.run_until_silent(SILENCE, HOLD_PATIENCE):
        raise LoadError(f"{more_matches} matches were not half played within {HOLD_PATIENCE:.0f} s")
    return server.resident_kb()


# -- servers -----------------------------------------------------------------------------------------


@contextmanager
def stellwerk_server(on_cores: set[int], tree: Tree) -> Generator[Server]:
    with TemporaryDirectory(prefix="stellwerk-bench-") as folder:
        data = str(Path(folder, "data"))
        command = ["stellwerk", "serve", "--listen", "0", "--data", data, *SETTINGS]
        with running(command, on_cores, Path(folder, "log"), tree) as server:
            yield server


@contextmanager
def floor_server(on_cores: set[int], kind: str, sizes: Sizes) -> Generator[Server]:
    figures = map(str, (sizes.journal, sizes.short, sizes.long))
    with (
        TemporaryDirectory(prefix="stellwerk-bench-") as folder,
        running(
            ["tests.benchmarks.floor_server", kind, *figures], on_cores, Path(folder, "log"), THIS
        ) as server,
    ):
        yield server


@contextmanager
def running(module: list[str], on_cores: set[int], log: Path, tree: Tree) -> Generator[Server]:
    """Run a module as a server in the block. If the server dies, add the end of its log to the error."""
    with (
        log.open("wb") as log_file,
        subprocess.Popen(
            [tree.python, "-m", *module],
            cwd=tree.root,
            env=tree.environment(),
            stdout=subprocess.PIPE,
            stderr=log_file,
        ) as process,
    ):
        os.sched_setaffinity(process.pid, on_cores)
        try:
            yield Server(process.pid, listening_address(process))
        except LoadError as error:
            with suppress(subprocess.TimeoutExpired):
                process.wait(DYING_PATIENCE)
            if process.returncode is None:  # it was another one that failed
                raise
            raise LoadError(f"{error}; the server's log ends with:\n{log.read_text()[-2000:]}") from None
        finally:
            stop(process)


def listening_address(process: subprocess.Popen[bytes]) -> tuple[str, int]:
    assert process.stdout is not None
    poll = select.poll()  # there may be more descriptors than `select` takes
    poll.register(process.stdout, select.POLLIN)
    if not poll.poll(START_PATIENCE * 1000):
        raise LoadError(f"the server was not ready within {START_PATIENCE:.0f} s")
    line = process.stdout.readline().decode().strip()
    if not line.startswith("listening on "):
        raise LoadError(f"the server said {line!r} instead of where it listens")
    host, _, port = line.removeprefix("listening on ").rpartition(":")
    return host, int(port)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop the server. The second signal asks it not to wait for its matches, whose results nobody needs."""
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
def closing_load(server: Server) -> Generator[Load]:
    load = Load(server.address)
    try:
        yield load
    finally:
        load.close()


# -- the machine -------------------------------------------------------------------------------------


def cores() -> tuple[set[int], set[int]]:
    """Return one core for the server and another one for the clients, or the same if there is only one."""
    allowed = sorted(os.sched_getaffinity(0))
    return {allowed[0]}, {allowed[-1]}


def allow_descriptors() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


# -- the report --------------------------------------------------------------------------------------


def percentile(tally: Tally, part: float) -> float:
    """Return a percentile of the answer times, in milliseconds."""
    ordered = sorted(tally.answer_ns)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] / 1e6


def say(text: str) -> None:
    print(f"measuring {text} ...", file=sys.stderr)


def print_machine(server_cores: set[int], client_cores: set[int]) -> None:
    print(
        f"\nUSA, two seats; Python {platform.python_version()}, Trio {trio.__version__},"
        f" msgspec {msgspec.__version__}; loopback"
    )
    if server_cores == client_cores:
        print(f"Servers and clients share core {min(server_cores)}: the answer times say little.\n")
    else:
        print(
            f"The servers are pinned to core {min(server_cores)}, the clients to core {min(client_cores)}.\n"
        )


def print_served(served: Served) -> None:
    pair = served.connections == 2
    sizes = served.sizes
    print(
        f"{'A pair of connections' if pair else f'{served.connections:,} connections'}; a decision:"
        f" {sizes.act} bytes in, {sizes.journal} to the journal, {sizes.short} and {sizes.long:,} out\n"
    )
    own = [sample.cpu_us for sample in served.samples[0]]
    rows: list[list[str]] = []
    for number, (name, samples) in enumerate(zip(served.names, served.samples, strict=True)):
        ratio = ratios(own, [sample.cpu_us for sample in samples]).text(2) if number else ""
        waiting = spread([sample.kept_waiting for sample in samples]).median
        aimed = served.connections == AIMED_CONNECTIONS and name == FLOOR
        rows.append(
            [
                name,
                spread([sample.cpu_us for sample in samples]).text(1),
                ratio,
                f"{AIM_RATIO}" if aimed else "",
                f"{waiting:.0%}",
            ]
        )
    print_table(["", "CPU µs a decision", "Stellwerk's to it", "aim", "waiting"], rows)
    defaults = sum(sample.defaults for samples in served.samples for sample in samples)
    if defaults:
        print(f"A server moved {defaults} times for clients: these figures are not what they should be.\n")


def print_half_load(half: HalfLoad) -> None:
    print(
        f"Half load, {half.connections:,} connections, {half.decisions_per_second:,.0f} decisions/s, server"
        f" {half.busy:.0%} busy, {half.kept_waiting:.0%} waiting:"
        f"\nanswer p50 {half.p50_ms:.2f} ms, p99 {half.p99_ms:.2f} ms (aim: {AIM_P99_MS:.0f}),"
        f" longest {half.most_ms:.2f} ms"
    )


def print_memory(memory: Memory) -> None:
    print(
        f"Memory: {memory.few_kb:,} kB with {FEW_MATCHES} matches, {memory.many_kb:,} kB with {MANY_MATCHES}:"
        f" {memory.match_kb:.0f} kB a match (aim: {AIM_MATCH_KB:.0f})"
    )


if __name__ == "__main__":
    main()
