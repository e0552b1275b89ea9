"""The supervisor beside each bot, at every level: it reports the end, and nothing outlives the bot."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeVar

import pytest
import trio

from stellwerk_processes.bench import bubblewrap
from stellwerk_processes.bench.invitation import Invitation
from stellwerk_processes.bench.levels import Confinement, Level
from stellwerk_processes.bench.local_bot import BotReport, LocalBot, start_bot
from stellwerk_processes.bench.supervise import descendants
from stellwerk_processes.bot_spec import BotSpec, Transport
from tests.processes.test_local_bot import NO_GRACE, SECONDS, has_ended, line_from
from tests.tools import needs

T = TypeVar("T")

PORT: Final = 4711  # in a network of the bot's own, every port is free
INVITATION: Final = Invitation("ernie", f"tcp://127.0.0.1:{PORT}", token="t0ken", seed="5eed")

NAMESPACE: Final = pytest.param("namespace", marks=needs("bwrap", "namespaces"))
AT_EACH_LEVEL = pytest.mark.parametrize(
    "level", ["none", "limits", pytest.param("landlock", marks=needs("Landlock")), NAMESPACE]
)


def python(source: str, transport: Transport = "tcp") -> BotSpec:
    return BotSpec("ernie", (sys.executable, "-I", "-S", "-c", source), transport=transport)


@asynccontextmanager
async def started(
    spec: BotSpec, level: Level, grace: float = NO_GRACE, confinement: Confinement | None = None
) -> AsyncGenerator[LocalBot]:
    confinement = confinement or Confinement(level=level)
    with trio.fail_after(SECONDS):
        async with trio.open_nursery() as nursery:
            bot = await start_bot(nursery, spec, INVITATION, confinement, grace=grace)
            yield bot
            bot.stop()


def report_of(source: str, level: Level) -> BotReport:
    async def main() -> BotReport:
        async with started(python(source), level) as bot:
            return await bot.ended()

    return trio.run(main)


def run(main: Callable[[], Awaitable[T]]) -> T:
    return trio.run(main)


# -- the end of a bot --------------------------------------------------------------------------------


@AT_EACH_LEVEL
def test_an_exit_status_is_never_taken_for_a_signal(level: Level) -> None:
    """As shells and bubblewrap's own first process do: 139 is SIGSEGV to them."""
    ended = report_of("import sys; sys.exit(139)", level)
    assert (ended.status, ended.signal) == (139, None)
    killed = report_of("import os; os.kill(os.getpid(), 11)", level)
    assert (killed.status, killed.signal) == (None, "SIGSEGV")


# Processes that leave their group and their parent, and hold no signal in honor.
LEAVE: Final = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
print("left", flush=True)
time.sleep(%d)
"""


@AT_EACH_LEVEL
@pytest.mark.parametrize("seconds", [0, 600], ids=["ended", "stopped"])
def test_nothing_that_a_bot_started_outlives_it(level: Level, seconds: int) -> None:
    async def main() -> frozenset[int]:
        async with started(python(LEAVE % seconds, "stdio"), level) as bot:
            await line_from(bot.transport)
            pids = frozenset(descendants(bot.supervisor))
            if seconds:
                assert len(pids) >= 4
                bot.stop()
            await bot.ended()
            return pids

    assert all(map(has_ended, run(main)))


RUNNER: Final = """
import sys, trio
sys.path[:0] = {path!r}
from tests.processes.sandbox.test_supervisor import *

async def main():
    async with started(python(LEAVE % 600, "stdio"), {level!r}) as bot:
        await line_from(bot.transport)
        print(bot.supervisor, *descendants(bot.supervisor), flush=True)
        await trio.sleep_forever()

trio.run(main)
"""


@AT_EACH_LEVEL
def test_nothing_of_a_bot_outlives_a_runner_that_is_killed(level: Level) -> None:
    program = RUNNER.format(path=sys.path, level=level)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as runner:
        assert runner.stdout is not None
        pids = list(map(int, runner.stdout.readline().split()))
        runner.kill()
    assert len(pids) >= 5
    assert all(map(has_ended, pids))


# Always as many processes as there may be, which all start others.
STORM: Final = """
import os
print("storm", flush=True)
while True:
    try:
        if os.fork() == 0:
            os.setsid()
    except OSError:
        pass
"""


@pytest.mark.parametrize("level", [NAMESPACE])
def test_a_storm_of_processes_is_ended(level: Level) -> None:
    async def main() -> BotReport:
        confinement = Confinement(level=level, processes=32)
        async with started(python(STORM, "stdio"), level, confinement=confinement) as bot:
            await line_from(bot.transport)
            bot.stop()
            return await bot.ended()

    assert run(main).signal in ("SIGTERM", "SIGKILL")


@needs("ordinary user")
def test_a_storm_of_processes_is_ended_where_processes_are_counted_by_user() -> None:
    async def main() -> BotReport:
        confinement = Confinement(level="limits", processes=32)
        async with started(python(STORM, "stdio"), "limits", confinement=confinement) as bot:
            await line_from(bot.transport)
            bot.stop()
            return await bot.ended()

    assert run(main).signal in ("SIGTERM", "SIGKILL")


def test_a_bot_that_kills_its_supervisor_ends_too_and_the_runner_goes_on() -> None:
    """At the lowest level it can. Then the runner's own view is all that is reported."""
    source = (
        "import os, signal, time\nprint(os.getpid())\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(600)"
    )

    async def main() -> tuple[int, BotReport]:
        async with started(python(source), "none") as bot:
            return bot.pid, await bot.ended()

    pid, report = run(main)
    assert report.signal == "SIGKILL"
    assert has_ended(pid)


# Its supervisor is killed, or stopped, while processes without a parent are there.
STRIKE: Final = """
import os, signal, time
supervisor = os.getppid()
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.alarm(60)
            signal.pause()
        os._exit(0)
    os.wait()
print("left", flush=True)
input()
os.kill(supervisor, signal.%s)
time.sleep(600)
"""


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSTOP"])
def test_what_a_bot_left_ends_although_its_supervisor_cannot_end_it(name: str) -> None:
    """As far as the supervisor can be struck: not where the kernel keeps signals in a sandbox."""

    async def main() -> tuple[frozenset[int], BotReport]:
        async with started(python(STRIKE % name, "stdio"), "none") as bot:
            assert bot.transport is not None
            await line_from(bot.transport)
            pids = frozenset(descendants(bot.supervisor))
            await bot.transport.send_all(b"\n")
            if name == "SIGSTOP":
                await trio.to_thread.run_sync(wait_until_stopped, bot.supervisor)
                bot.stop()
            return pids, await bot.ended()

    pids, report = run(main)
    assert len(pids) == 4
    assert all(has_ended(pid, 0) for pid in pids)
    assert report.signal in ("SIGKILL", "SIGTERM")


def wait_until_stopped(pid: int) -> None:
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        time.sleep(0.001)


@AT_EACH_LEVEL
def test_children_that_are_stopped_and_go_on_do_not_wake_the_supervisor(level: Level) -> None:
    """A bot could let it work all the time, which would be no processor time of the bot's."""
    source = """
import os, signal, time
signal.alarm(60)
print("ready", flush=True)
input()
child = os.fork()
if child == 0 and os.fork() == 0:  # without a parent: the supervisor's child
    own = os.getpid()
    if os.fork() == 0:
        signal.alarm(60)
        while os.getppid() == own:
            os.kill(own, signal.SIGCONT)
            time.sleep(0.0005)
        os._exit(0)
    for _ in range(300):
        os.kill(own, signal.SIGSTOP)
    print("done", flush=True)
    os._exit(0)
if child:
    signal.pause()
"""

    async def main() -> int:
        async with started(python(source, "stdio"), level) as bot:
            assert bot.transport is not None
            await line_from(bot.transport)
            before = wakes(bot.supervisor)
            await bot.transport.send_all(b"\n")
            await line_from(bot.transport)
            return wakes(bot.supervisor) - before

    assert run(main) < 100


def wakes(pid: int) -> int:
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.partition("voluntary_ctxt_switches:")[2].split()[0])


@AT_EACH_LEVEL
def test_nothing_of_a_bot_is_open_in_a_runner_afterwards(level: Level) -> None:
    async def main() -> int:
        async with started(python("print('x')"), level) as bot:
            await bot.ended()
        return len(os.listdir("/proc/self/fd"))

    run(main)  # opens what stays open, if anything does
    assert run(main) == run(main)


# -- what a bot finds --------------------------------------------------------------------------------


@AT_EACH_LEVEL
def test_signals_and_descriptors_are_those_of_any_program(level: Level) -> None:
    """The supervisor blocks all signals, and Python ignores two, of which one stays so (`test_runtimes.py`).
    What this process was begun with, ignored by `nohup` for example, goes on to all that it starts."""
    command = ("grep", "-E", "SigBlk|SigIgn", "/proc/self/status")
    plain = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    blocked, ignored = (int(line.split()[1], 16) for line in plain.splitlines())
    found = report_of_command(command, level).last_lines
    stays_so = 1 << (signal.SIGXFSZ - 1)
    assert [int(line.split()[1], 16) for line in found] == [blocked, ignored | stays_so]
    count = report_of("import os; print(len(os.listdir('/proc/self/fd')))", level).last_lines[-1]
    assert int(count) == 4  # one is that by which they are listed


def report_of_command(command: tuple[str, ...], level: Level) -> BotReport:
    async def main() -> BotReport:
        async with started(BotSpec("ernie", command), level) as bot:
            return await bot.ended()

    return trio.run(main)


@AT_EACH_LEVEL
def test_a_program_that_cannot_be_started_is_the_bots_fault_and_named(level: Level, tmp_path: Path) -> None:
    program = tmp_path / "ernie"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    report = report_of_command((str(program),), level)
    assert report.status == 127
    assert report.last_lines[-1] == f"stellwerk: cannot start: {program}: No such file or directory"


@AT_EACH_LEVEL
def test_a_script_without_a_line_that_names_its_shell_runs(level: Level, tmp_path: Path) -> None:
    program = tmp_path / "ernie"
    program.write_text("echo $0 runs\n")
    program.chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    assert report_of_command((str(program),), level).last_lines == (f"{program} runs",)


@AT_EACH_LEVEL
def test_the_token_is_in_no_command_line_and_not_in_the_supervisors_environment(level: Level) -> None:
    async def main() -> bytes:
        async with started(python("print('up', flush=True); input()", "stdio"), level) as bot:
            await line_from(bot.transport)
            return await trio.to_thread.run_sync(all_can_read_of, bot)

    found = run(main)
    assert b"stellwerk_processes.bench.supervise" in found
    assert INVITATION.token.encode() not in found


def all_can_read_of(bot: LocalBot) -> bytes:
    found = b""
    ours = [bot.supervisor, *ancestors(bot.supervisor)]
    for pid in (*ours, *descendants(bot.supervisor)):
        found += Path(f"/proc/{pid}/cmdline").read_bytes()
    for pid in ours:
        if os.access(f"/proc/{pid}/environ", os.R_OK):
            found += Path(f"/proc/{pid}/environ").read_bytes()
    return found


def ancestors(pid: int) -> list[int]:
    """Return the processes between this one and its descendant."""
    found: list[int] = []
    while True:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        if pid in (os.getpid(), 1, 0):
            return found
        found.append(pid)


# -- inside of namespaces ----------------------------------------------------------------------------

CONNECT: Final = """
import os, socket
host, port = os.environ["STELLWERK_ADDRESS"].removeprefix("tcp://").split(":")
with socket.create_connection((host, int(port))) as server:
    server.sendall(b"hello from inside\\n")
    print(server.makefile().readline().strip())
"""


@needs("bwrap", "namespaces")
def test_without_a_network_a_bot_still_reaches_the_server_over_tcp() -> None:
    async def main() -> tuple[bytes, BotReport]:
        async with (
            started(python(CONNECT), "namespace", SECONDS) as bot,
            bot.open_listener() as listener,
            await listener.accept() as stream,
        ):
            greeting = await stream.receive_some(100)
            await stream.send_all(b"hello from outside\n")
            return greeting, await bot.ended()

    greeting, report = run(main)
    assert greeting == b"hello from inside\n"
    assert report.last_lines == ("hello from outside",)


@needs("bwrap", "namespaces")
def test_a_network_that_is_asked_for_is_the_machines() -> None:
    confinement = Confinement(level="namespace", network=True)
    source = "import os, socket; socket.create_connection(('127.0.0.1', int(input()))).close()"

    async def main() -> BotReport:
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        async with started(python(source, "stdio"), "namespace", SECONDS, confinement) as bot, listener:
            assert bot.transport is not None
            assert not bot.has_listener
            await bot.transport.send_all(f"{listener.socket.getsockname()[1]}\n".encode())
            async with await listener.accept():
                return await bot.ended()

    assert run(main).status == 0


@needs("bwrap", "namespaces")
def test_what_a_bot_left_inside_is_forgotten_while_it_stays() -> None:
    source = """
import os
os.makedirs("a/b")
open("a/b/c", "w").close()
while True:
    print(os.listdir(), flush=True)
    input()
"""

    async def main() -> tuple[bytes, bytes]:
        async with started(python(source, "stdio"), "namespace") as bot:
            assert bot.transport is not None
            before = await line_from(bot.transport)
            await bot.forget()
            await bot.transport.send_all(b"\n")
            return before, await line_from(bot.transport)

    assert run(main) == (b"['a']\n", b"[]\n")


@needs("bwrap", "namespaces")
def test_a_program_inside_can_ask_who_it_is_and_where_localhost_is() -> None:
    source = (
        "import os, pwd, socket; print(*pwd.getpwuid(os.getuid())[::5], socket.gethostbyname('localhost'))"
    )
    assert report_of(source, "namespace").last_lines == ("bot /private 127.0.0.1",)


@needs("root", "bwrap", "namespaces")
def test_each_bot_of_root_is_another_user() -> None:
    async def main() -> set[bytes]:
        source = "import os; print(os.getuid(), os.getgid(), os.getgroups(), flush=True); input()"
        async with (
            started(python(source, "stdio"), "namespace") as first,
            started(python(source, "stdio"), "namespace") as second,
        ):
            return {await line_from(first.transport), await line_from(second.transport)}

    users = run(main)
    assert len(users) == 2
    assert not any(user.startswith(b"0 ") for user in users)


@needs("root", "bwrap", "namespaces", "control groups")
def test_a_bot_that_uses_up_its_memory_is_told_from_one_that_was_killed() -> None:
    source = "data = bytearray(200_000_000)\nprint('not here')"

    async def main() -> BotReport:
        confinement = Confinement(level="full", memory_mb=100)
        async with trio.open_nursery() as nursery:
            bot = await start_bot(nursery, python(source), INVITATION, confinement)
            return await bot.ended()

    report = run(main)
    assert (report.signal, report.out_of_memory, report.last_lines) == ("SIGKILL", True, ())


# -- what the machine lacks --------------------------------------------------------------------------

UBUNTU: Final = "bwrap: setting up uid map: Permission denied"


def test_a_sandbox_that_cannot_be_set_up_is_the_machines_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text(f"#!/bin/sh\necho '{UBUNTU}' >&2\nexit 1\n")
    fake.chmod(0o755)
    for module in ("bubblewrap", "launch"):
        monkeypatch.setattr(f"stellwerk_processes.bench.{module}.bubblewrap", lambda: str(fake))

    async def main() -> str:
        confinement = Confinement(level="namespace")
        async with trio.open_nursery() as nursery:
            try:
                await start_bot(nursery, python("pass"), INVITATION, confinement)
            except OSError as error:
                return str(error.strerror)
        return ""

    problem = run(main)
    assert problem.startswith(f"sandbox: {UBUNTU}; ")
    assert "use the level landlock" in problem


def test_ubuntus_restriction_is_named_with_its_cure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    restriction = tmp_path / "apparmor_restrict_unprivileged_userns"
    restriction.write_text("1\n")
    monkeypatch.setattr(bubblewrap, "_UBUNTU", str(restriction))
    assert "AppArmor" in bubblewrap.cure_of(UBUNTU)
    assert bubblewrap.cure_of("bwrap: execvp x: No such file or directory") == ""
