"""A tournament on a cluster of Dask: real schedulers and workers, over TLS, some of which are killed."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from stellwerk.__main__ import main
from stellwerk_tournament.blocks import cluster
from tests.command.program import COMMAND, REPOSITORY, SECONDS, environment
from tests.command.tournament.test_tables import (
    ROUNDS as REUSING_BLOCKS,
)
from tests.command.tournament.test_tables import (
    expect_ended,
    expect_processes_that_see_no_deal_twice,
    with_reused_bot,
)
from tests.command.tournament.travelling import HOUSE, cup, did, outcome, replays
from tests.tools import needs

pytestmark = pytest.mark.xdist_group("clusters")

SEED: Final = ("--seed", "s", "--no-preflight", "--progress", "lines")
ROUNDS: Final = 20  # 60 blocks
OTHER_VERSION: Final = """
import stellwerk.shared.version as version
version.version = lambda: "0.0.1"
"""
AS_IT_IS: Final = ""
IMPATIENT: Final = """
import stellwerk_tournament.blocks.table_process as table_process
table_process.RESERVE_S = 5
"""
AT_SECOND_BLOCK: Final = """
import os, psutil, signal, threading
import stellwerk_tournament.blocks.cluster_worker as cluster_worker
play_order = cluster_worker.play_order
begun = []
def act_and_play(name, text):
    begun.append(name)
    if len(begun) == 2:
        {act}
    return play_order(name, text)
act_and_play.__module__, act_and_play.__qualname__ = play_order.__module__, play_order.__qualname__
cluster_worker.play_order = act_and_play
"""
STUCK: Final = AT_SECOND_BLOCK.format(act="threading.Event().wait()")
STOPPED: Final = AT_SECOND_BLOCK.format(act="os.kill(os.getpid(), signal.SIGSTOP)")
HANGING: Final = IMPATIENT + AT_SECOND_BLOCK.format(
    act="[each.suspend() for each in psutil.Process().children()]"
)
SOON_TIDY: Final = """
import stellwerk_tournament.blocks.cluster_worker as cluster_worker
cluster_worker.TIDY_S, cluster_worker.IDLE_S = 0.5, 1
"""
SHORT_CLOCKS: Final = "clocks = {set_up_ms = 500, move_ms = 500, bank_ms = 100}\n"
FORGER: Final = """
import os
import stellwerk_tournament.blocks.cluster_worker as cluster_worker
from stellwerk_tournament.blocks.files import decode_order
from stellwerk_tournament.blocks.serve_table import Failed, Result, Returned, encode
os.environ["FORGER"] = "here"
play_order = cluster_worker.play_order
forged = set()
def loads(code):
    return (eval, ("Exception('here') if __import__('os').environ.get('FORGER') else " + code,))
class NoText(Exception):
    def __reduce__(self):
        return loads("type('NoText', (Exception,), {{'__str__': lambda self: 1 / 0}})()")
class NotToBeRead(Exception):
    def __reduce__(self):
        return loads("1 / 0")
class Ends(Exception):
    def __reduce__(self):
        return loads("__import__('sys').exit(7)")
def failed(error):
    raise error
def say(outcome):
    return encode(Returned("tls://nowhere", "m-1", outcome))
FORGERIES = [
    {forgeries}
]
def forge(name, text):
    block = decode_order(text).block
    if block >= len(FORGERIES) or block in forged:
        return play_order(name, text)
    forged.add(block)
    return FORGERIES[block]()
forge.__module__, forge.__qualname__ = play_order.__module__, play_order.__qualname__
cluster_worker.play_order = forge
"""
FORGERIES: Final = (
    ("None", "the cluster: the result is no text, but NoneType"),
    ("Result(b'5')", "the cluster: the result is no text, but Result"),
    ("b'no line'", "the cluster: the result cannot be read: JSON is malformed"),
    ("say(Result(5))", "the cluster: the result cannot be read: Expected `"),
    ("say(Result(b'no bytes'))", "m-1: the result is not a result: expected a file of"),
    ("say(Failed('x', 'y'))", "the cluster: the result cannot be read: Expected `int`"),
    ("say(Failed(99, 'far' + chr(10) + 'y'))", r"m-1: far\ny"),
    ("failed(ValueError('x' * 1000000))", "the cluster: "),
    ("failed(NoText())", "the cluster: NoText"),
    ("failed(NotToBeRead())", "the cluster: an exception that cannot be read"),
)
WORKER: Final = """
{first}
from distributed.cli.dask_worker import main
main()
"""


@dataclass
class Certificates:
    """A certificate that signs itself, for all sides, as Dask's documentation has it."""

    folder: Path

    def __post_init__(self) -> None:
        from distributed import Security

        untyped: object = Security
        made = getattr(untyped, "temporary")()  # noqa: B009  (its type is not known)
        (self.folder / "certificate.pem").write_text(made.tls_ca_file)
        (self.folder / "key.pem").write_text(made.tls_client_key)

    def environment(self) -> dict[str, str]:
        tls = {"CA_FILE": "certificate.pem"}
        for side in ("CLIENT", "SCHEDULER", "WORKER"):
            tls |= {f"{side}__CERT": "certificate.pem", f"{side}__KEY": "key.pem"}
        found = {f"DASK_DISTRIBUTED__COMM__TLS__{key}": str(self.folder / name) for key, name in tls.items()}
        return {
            **found,
            "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "true",
            "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "8s",
            "DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES": "[]",
            "DASK_DISTRIBUTED__WORKER__HTTP__ROUTES": "[]",
            "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "false",  # else it looks around 100 times a second
            "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "500ms",
        }


@dataclass
class Runner:
    """A tournament that is being played, and what it has printed until now."""

    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list[str])

    def until(self, pattern: str, count: int = 1) -> str:
        """Read until a line has come so often. Return the last one."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if re.search(pattern, line):
                count -= 1
                if not count:
                    return line
        raise AssertionError("".join(self.lines))

    def ended(self) -> int:
        out, rest = self.process.communicate(timeout=SECONDS)
        self.lines += [*rest.splitlines(keepends=True), *out.splitlines(keepends=True)]
        return self.process.returncode

    @property
    def printed(self) -> str:
        return "".join(self.lines)


@contextmanager
def runner(*words: str | Path, **changes: str) -> Generator[Runner]:
    command = [*COMMAND, "tournament", *map(str, words)]
    with subprocess.Popen(
        command, env=environment(**changes), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Runner(process)
        finally:
            process.kill()


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """Return the worker processes of a runner."""
    children = Path(f"/proc/{process.pid}/task").glob("*/children")
    found = [int(pid) for path in children for pid in path.read_text().split()]
    return [pid for pid in found if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text()]


def tables_of(worker: subprocess.Popen[bytes]) -> list[int]:
    """Return the processes that play for a worker."""
    children = Path(f"/proc/{worker.pid}/task").glob("*/children")
    found = [int(pid) for path in children for pid in path.read_text().split()]
    return [pid for pid in found if "stellwerk.tournament.table" in Path(f"/proc/{pid}/cmdline").read_text()]


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play the tournament in one process."""
    folder = cup(tmp_path_factory.mktemp("one") / "cup", rounds=ROUNDS)
    did("run", folder, *SEED)
    return folder


def expect_the_same(folder: Path, one: Path) -> None:
    assert outcome(folder) == outcome(one)
    assert replays(folder) == replays(one)
    assert (folder / "ratings.json").read_bytes() == (one / "ratings.json").read_bytes()


# -- workers of this machine -------------------------------------------------------------------------


@needs("children of a process")
def test_a_worker_and_then_the_runner_are_killed_and_nothing_is_lost_or_doubled(
    tmp_path: Path, one: Path
) -> None:
    folder = cup(tmp_path / "cup", rounds=ROUNDS)
    with runner("run", folder, *SEED, "--workers", "2") as first:
        first.until("^block", 3)
        os.kill(workers_of(first.process)[0], signal.SIGKILL)
        first.until("^block", 5)
        first.process.kill()
    with runner("run", folder, *SEED, "--workers", "2") as second:
        assert second.ended() == 0, second.printed
    expect_the_same(folder, one)
    did("verify", folder)
    lines = [json.loads(line) for line in (folder / "matches.jsonl").read_bytes().splitlines()]
    names = {line["machine"]["name"] for line in lines}
    assert len(names) == 1
    assert all(line["machine"]["engine_ms"] > 0 for line in lines)
    assert f'<th scope="row">{names.pop()}</th>' in (folder / "report.html").read_text()


def test_ctrl_c_finishes_the_blocks_that_run_and_resume_plays_the_others(tmp_path: Path, one: Path) -> None:
    folder = cup(tmp_path / "cup", rounds=ROUNDS)
    with runner("run", folder, *SEED, "--workers", "1") as first:
        first.until("^block", 3)
        first.process.send_signal(signal.SIGINT)
        assert first.ended() == 130
        assert "stopped; continue with: " in first.printed
        assert "--workers=1" in first.printed
    blocks = json.loads(did("status", folder, "--json").stdout)["blocks"]
    assert blocks["complete"] >= 3
    assert blocks["complete"] + blocks.get("queued", 0) == ROUNDS * 3  # none is half played
    did("run", folder, "--seed", "s", "--no-preflight")  # here, what the workers have not played
    expect_the_same(folder, one)


# -- a scheduler elsewhere ---------------------------------------------------------------------------


@dataclass
class Elsewhere:
    """A scheduler with TLS, and its workers, as an organizer starts them."""

    address: str
    scheduler: subprocess.Popen[bytes]
    start_worker: Callable[..., subprocess.Popen[bytes]]
    environment: dict[str, str]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Generator[Elsewhere]:
    (tmp_path / "tls").mkdir()
    changes = Certificates(tmp_path / "tls").environment()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"tls://127.0.0.1:{port}"
    with ExitStack() as stack:

        def start(code: str, *words: str, **more: str) -> subprocess.Popen[bytes]:
            log = stack.enter_context(open(tmp_path / "dask.log", "ab"))
            environ = environment(**changes, **more)
            process = subprocess.Popen(
                [sys.executable, "-c", code, *words], env=environ, stdout=log, stderr=log, cwd=tmp_path
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        def start_worker(first: str = AS_IT_IS, *words: str, **more: str) -> subprocess.Popen[bytes]:
            options = (
                "--no-nanny",
                "--nthreads",
                "2",
                "--host",
                "127.0.0.1",
                "--dashboard-address",
                "127.0.0.1:0",
            )
            return start(WORKER.format(first=first), address, *options, *words, **more)

        pages = ("--dashboard-address", "127.0.0.1:0")
        scheduler = start(
            "from distributed.cli.dask_scheduler import main; main()",
            *("--protocol", "tls", "--host", "127.0.0.1", "--port", str(port), *pages),
        )
        yield Elsewhere(address, scheduler, start_worker, changes)


def with_program(folder: Path, head: str = "") -> Path:
    """Write a cup with a bot that has files of its own."""
    bot = folder / "ann"
    bot.mkdir(parents=True)
    path = str(REPOSITORY / "bots" / "python")
    (bot / "main.py").write_text(
        f"import runpy, sys\nsys.path.insert(0, {path!r})\nsys.argv = ['bot', 'greedy']\n"
        "runpy.run_module('stellwerk_bots', run_name='__main__')\n"
    )
    bots = (
        f'name = "ann"\ncmd = "{shlex.quote(sys.executable)} ../ann/main.py"\nprocess = "reused"',
        HOUSE[2],
    )
    return cup(folder / "cup", bots, head, rounds=4)


def test_workers_that_do_not_fit_are_refused_and_the_others_play(
    tmp_path: Path, elsewhere: Elsewhere
) -> None:
    folder = with_program(tmp_path / "here")
    elsewhere.start_worker(OTHER_VERSION)
    with runner("run", folder, *SEED[2:], "--workers", elsewhere.address, **elsewhere.environment) as run:
        refused = run.until("is refused")
        assert re.search(
            r"worker tls://127.* is refused: it has Stellwerk 0\.0\.1, and the tournament", refused
        )
        elsewhere.start_worker(AS_IT_IS, "--nthreads", "1")
        assert "a block takes 2 seats, and it has 1: start it with --nthreads 2" in run.until("is refused")
        elsewhere.start_worker()
        assert run.ended() == 0, run.printed
    did("verify", folder)
    lines = [json.loads(line) for line in (folder / "matches.jsonl").read_bytes().splitlines()]
    assert len(lines) == 8
    assert [seat["faults"] for line in lines for seat in line["bots"]] == [[]] * 16
    assert str(tmp_path) not in (folder / "matches.jsonl").read_text()


@needs("namespaces", "bwrap")
def test_a_worker_with_a_lower_sandbox_than_the_tournaments_is_refused(
    tmp_path: Path, elsewhere: Elsewhere
) -> None:
    folder = with_program(tmp_path / "here")
    toml = folder / "tournament.toml"
    toml.write_text(toml.read_text().replace('sandbox = "limits"', 'sandbox = "namespace"'))
    (tmp_path / "nothing").mkdir()
    elsewhere.start_worker(PATH=str(tmp_path / "nothing"))
    with runner("run", folder, *SEED[2:], "--workers", elsewhere.address, **elsewhere.environment) as run:
        assert "the sandbox namespace does not hold there" in run.until("is refused")
        run.process.send_signal(signal.SIGINT)
        assert run.ended() == 130
    assert not (folder / "matches.jsonl").exists()


def test_a_result_that_is_no_text_and_a_forged_exception_end_their_block_with_a_sentence(
    tmp_path: Path, one: Path, elsewhere: Elsewhere
) -> None:
    """Each block is played again, and the tournament comes to the same."""
    folder = cup(tmp_path / "cup", rounds=ROUNDS)
    forgeries = "\n".join(f"    lambda: {forgery}," for forgery, _ in FORGERIES)
    elsewhere.start_worker(FORGER.format(forgeries=forgeries), "--nthreads", "1")
    with runner("run", folder, *SEED, "--workers", elsewhere.address, **elsewhere.environment) as run:
        assert run.ended() == 0, run.printed
    assert "Traceback" not in run.printed
    for block, (forgery, expected) in enumerate(FORGERIES):
        assert f"block {block}, rotation 0: not played: {expected}" in run.printed, forgery
    assert max(map(len, run.lines)) < 1500
    expect_the_same(folder, one)


def test_a_result_that_cannot_be_read_ends_its_block_with_a_sentence(
    tmp_path: Path, elsewhere: Elsewhere
) -> None:
    folder = cup(tmp_path / "cup", rounds=1)
    elsewhere.start_worker(FORGER.format(forgeries="NotToBeRead,"), "--nthreads", "1")
    with runner("run", folder, *SEED, "--workers", elsewhere.address, **elsewhere.environment) as run:
        assert run.ended() == 0, run.printed
    assert "block 0, rotation 0: not played: the cluster: division by zero" in run.printed
    assert "Traceback" not in run.printed
    did("verify", folder)


def test_an_answer_that_ends_the_connection_in_the_runner_ends_the_run_with_a_sentence(
    tmp_path: Path, elsewhere: Elsewhere
) -> None:
    folder = cup(tmp_path / "cup", rounds=1)
    elsewhere.start_worker(FORGER.format(forgeries="lambda: failed(Ends()),"), "--nthreads", "1")
    with runner("run", folder, *SEED, "--workers", elsewhere.address, **elsewhere.environment) as run:
        assert run.ended() == 4
    assert f"the connection to the scheduler at {elsewhere.address} ended in this process; " in run.printed
    assert "tournament run" in run.printed


def test_a_scheduler_that_is_killed_ends_the_run_and_resume_goes_on(
    tmp_path: Path, one: Path, elsewhere: Elsewhere
) -> None:
    folder = cup(tmp_path / "cup", rounds=ROUNDS)
    elsewhere.start_worker(STUCK, "--nthreads", "1")
    words = (folder, *SEED, "--workers", elsewhere.address)
    with runner("run", *words, **elsewhere.environment) as run:
        run.until("^block", 1)
        elsewhere.scheduler.kill()
        assert run.ended() == 4
        assert f"the scheduler at {elsewhere.address} is gone; when that is mended: " in run.printed
    with runner("run", *words, **elsewhere.environment) as again:
        assert again.ended() == 4
        assert f"{elsewhere.address}: there is no scheduler" in again.printed
    did("run", folder, "--seed", "s", "--no-preflight")
    expect_the_same(folder, one)


@needs("children of a process")
def test_a_worker_whose_playing_process_hangs_is_named_and_another_one_plays_the_block(
    tmp_path: Path, elsewhere: Elsewhere
) -> None:
    """The worker itself lives, and sends its heartbeats."""
    one, folder = (cup(tmp_path / name, head=SHORT_CLOCKS, rounds=ROUNDS) for name in ("one", "folder"))
    did("run", one, *SEED)
    for first in (HANGING, AS_IT_IS):
        elsewhere.start_worker(first, "--nthreads", "1")
    with runner("run", folder, *SEED, "--workers", elsewhere.address, **elsewhere.environment) as run:
        named = run.until("hangs")
        assert re.match(r"worker tls://127.*, m-\w+: block \d+: the process that plays hangs: nothing", named)
        assert run.ended() == 0, run.printed
    expect_the_same(folder, one)
    did("verify", folder)
    lines = [json.loads(line) for line in (folder / "matches.jsonl").read_bytes().splitlines()]
    [machine] = {line["machine"]["name"] for line in lines}
    assert [line["machine"]["failed_on"] for line in lines if line["attempt"] > 1] == [[machine]]
    row = (folder / "report.html").read_text().partition(f'<th scope="row">{machine}</th>')[2]
    assert re.findall(r"<td[^>]*>([^<]*)", row)[:3] == [str(len(lines)), "0", "1"]
    assert f"failures  0 of this machine, 1 of {machine}" in did("status", folder).stdout


def test_a_worker_that_is_stopped_loses_its_blocks_to_the_others(
    tmp_path: Path, one: Path, elsewhere: Elsewhere
) -> None:
    """It sends no heartbeat either. When it goes on, nothing of what it has played counts."""
    folder = cup(tmp_path / "cup", rounds=ROUNDS)
    stopped, _ = (elsewhere.start_worker(first, "--nthreads", "1") for first in (STOPPED, AS_IT_IS))
    with runner("run", folder, *SEED, "--workers", elsewhere.address, **elsewhere.environment) as run:
        assert re.match(r"worker tls://127.* is lost: its blocks are played elsewhere", run.until("is lost"))
        stopped.send_signal(signal.SIGCONT)
        assert run.ended() == 0, run.printed
    expect_the_same(folder, one)
    did("verify", folder)


# -- processes that stay -----------------------------------------------------------------------------


def test_a_worker_reuses_processes_from_block_to_block_and_ends_them_with_the_tournament(
    tmp_path: Path, elsewhere: Elsewhere
) -> None:
    folder = with_reused_bot(tmp_path / "here")
    elsewhere.start_worker()
    with runner("run", folder, *SEED[2:], "--workers", elsewhere.address, **elsewhere.environment) as run:
        assert run.ended() == 0, run.printed
    expect_processes_that_see_no_deal_twice(tmp_path / "here", folder, REUSING_BLOCKS)
    expect_ended(tmp_path / "here")
    did("verify", folder)


@needs("children of a process")
def test_processes_end_with_their_worker_even_if_what_plays_is_stopped(
    tmp_path: Path, elsewhere: Elsewhere
) -> None:
    folder = with_reused_bot(tmp_path / "here", rounds=50)
    worker = elsewhere.start_worker()
    with runner("run", folder, *SEED[2:], "--workers", elsewhere.address, **elsewhere.environment) as run:
        run.until("^block", 1)
        for table in tables_of(worker):
            os.kill(table, signal.SIGSTOP)
        worker.kill()
        expect_ended(tmp_path / "here")


def test_processes_end_some_time_after_a_runner_that_was_killed(tmp_path: Path, elsewhere: Elsewhere) -> None:
    """Nobody tells the worker that the tournament is not played any more."""
    folder = with_reused_bot(tmp_path / "here")
    elsewhere.start_worker(SOON_TIDY)
    with runner("run", folder, *SEED[2:], "--workers", elsewhere.address, **elsewhere.environment) as run:
        run.until("^block", 1)
        run.process.kill()
    expect_ended(tmp_path / "here")


# -- the command line --------------------------------------------------------------------------------


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["tournament", *words]) == 2
    return capsys.readouterr().err


def test_without_the_extra_a_sentence_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(cup(tmp_path / "cup"))

    def found(_: str) -> None:
        return None

    monkeypatch.setattr(cluster, "find_spec", found)
    for words in (("--workers", "2"), ("--workers", "tls://127.0.0.1:1")):
        expected = "--workers: needs Dask, which is not installed: pip install 'stellwerk[cluster]'"
        assert expected in refusal(capsys, "run", folder, *words)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--workers", "2", "--concurrency", "2"), "--concurrency: is for matches of this process"),
        (("--workers", "0"), "--workers"),
        (("--workers", "some"), "expected a whole number from 1 to 1000"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    tmp_path: Path, words: Sequence[str], expected: str
) -> None:
    folder = cup(tmp_path / "cup")
    assert expected in did("run", folder, *words, code=2).stderr


@pytest.mark.parametrize(
    ("address", "exposed"),
    [
        ("tls://10.1.2.3:8786", False),
        ("tcp://127.0.0.1:8786", False),
        ("tcp://10.1.2.3:8786", True),
        ("10.1.2.3:8786", True),
    ],
)
def test_a_scheduler_without_tls_that_others_can_reach_is_warned_of(address: str, exposed: bool) -> None:
    assert cluster.is_exposed(address) is exposed
