"""Play a tournament on two hosts, one of which is pulled away in the middle: they are network namespaces.

The scheduler, the runner and a worker are on one host, a worker is on the other. When some blocks have come
back, the link between them goes down. The result must be the same, byte for byte, as that of one process.
Needs root and `ip`.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tests` is not installed

from tests.command.program import COMMAND, environment
from tests.command.tournament.test_cluster import AS_IT_IS, WORKER, Certificates
from tests.command.tournament.travelling import cup, did, outcome, replays

ROUNDS: Final = 30  # 90 blocks
PULLED_AFTER: Final = 15  # blocks
NEAR, FAR = "stellwerk-near", "stellwerk-far"
ADDRESS: Final = {NEAR: "10.99.0.1", FAR: "10.99.0.2"}
LINK: Final = {NEAR: "sw-near", FAR: "sw-far"}
SCHEDULER: Final = f"tls://{ADDRESS[NEAR]}:8786"
NO_PAGES: Final = ("--dashboard-address", "127.0.0.1:0")
GIVEN_UP_AFTER: Final = {
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "20s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "20s",
}


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def make_hosts(stack: ExitStack) -> None:
    """Make two network namespaces with a cable between them."""
    for host in (NEAR, FAR):
        ip("netns", "add", host)
        stack.callback(ip, "netns", "delete", host)
        ip("-n", host, "link", "set", "lo", "up")
    ip("link", "add", LINK[NEAR], "netns", NEAR, "type", "veth", "peer", "name", LINK[FAR], "netns", FAR)
    for host in (NEAR, FAR):
        ip("-n", host, "address", "add", f"{ADDRESS[host]}/24", "dev", LINK[host])
        ip("-n", host, "link", "set", LINK[host], "up")


def play(folder: Path, place: Path) -> None:
    """Play the tournament on both hosts, and pull one away. AssertionError if it does not end well."""
    (place / "tls").mkdir()
    environ = environment(**Certificates(place / "tls").environment() | GIVEN_UP_AFTER)
    with ExitStack() as stack:
        make_hosts(stack)
        log = stack.enter_context(open(place / "dask.log", "ab"))

        def start(host: str, code: str, *words: str) -> None:
            command = ["ip", "netns", "exec", host, sys.executable, "-c", code, *words, *NO_PAGES]
            process = subprocess.Popen(command, env=environ, stdout=log, stderr=log, cwd=place)
            stack.callback(process.wait)
            stack.callback(process.kill)

        scheduler = "from distributed.cli.dask_scheduler import main; main()"
        start(NEAR, scheduler, "--protocol", "tls", "--host", ADDRESS[NEAR], "--port", "8786")
        for host in (NEAR, FAR):
            options = ("--no-nanny", "--nthreads", "1", "--host", ADDRESS[host])
            start(host, WORKER.format(first=AS_IT_IS), SCHEDULER, *options)
        words = ("run", str(folder), "--seed", "s", "--no-preflight", "--progress", "lines")
        command = ["ip", "netns", "exec", NEAR, *COMMAND, "tournament", *words, "--workers", SCHEDULER]
        run = subprocess.Popen(
            command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        stack.callback(run.kill)
        assert run.stderr is not None
        blocks = workers = 0
        is_there = True
        for line in run.stderr:
            blocks += line.startswith("block ")
            workers += " plays, as " in line
            if not line.startswith("block "):
                print(line, end="")
            if is_there and workers == len(ADDRESS) and blocks >= PULLED_AFTER:
                is_there = False
                ip("-n", FAR, "link", "set", LINK[FAR], "down")
                print(f"{FAR} is pulled away after {blocks} blocks")
        assert run.wait() == 0, "the tournament did not end well"
        assert not is_there, "it ended before anything was pulled away"


def main() -> int:
    with TemporaryDirectory(prefix="two-hosts-") as folder:
        place = Path(folder)
        one, far = (cup(place / name, rounds=ROUNDS) for name in ("one", "far"))
        play(far, place)
        did("verify", far)
        did("run", one, "--seed", "s", "--no-preflight", "--progress", "none")
        assert outcome(far) == outcome(one)
        assert replays(far) == replays(one)
        assert (far / "ratings.json").read_bytes() == (one / "ratings.json").read_bytes()
    print("the same, byte for byte, as by one process")
    return 0


if __name__ == "__main__":
    sys.exit(main())
