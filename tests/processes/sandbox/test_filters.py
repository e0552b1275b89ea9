"""What the filters of `landlock` and above refuse, what they leave to bots, and what an old kernel lacks."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import pytest
import trio

from stellwerk_processes.bench import landlock, resolve_sandbox
from stellwerk_processes.bench.invitation import Invitation
from stellwerk_processes.bench.levels import Confinement, Level
from stellwerk_processes.bench.local_bot import LocalBot, start_bot
from stellwerk_processes.bot_spec import BotSpec
from tests.tools import needs

SECONDS: Final = 60
INVITATION: Final = Invitation("ernie", "tcp://127.0.0.1:4711", token="t0ken", seed="5eed")

LANDLOCK: Final = pytest.param("landlock", marks=needs("Landlock"))
NAMESPACE: Final = pytest.param("namespace", marks=needs("bwrap", "namespaces"))


@asynccontextmanager
async def started(source: str, confinement: Confinement) -> AsyncGenerator[LocalBot]:
    spec = BotSpec("ernie", (sys.executable, "-I", "-S", "-c", source))
    with trio.fail_after(SECONDS):
        async with trio.open_nursery() as nursery:
            bot = await start_bot(nursery, spec, INVITATION, confinement)
            yield bot


def printed(source: str, level: Level, processors: frozenset[int] = frozenset()) -> tuple[str, ...]:
    confinement = Confinement(level=level, processors=processors)

    async def main() -> tuple[str, ...]:
        async with started(source, confinement) as bot:
            return (await bot.ended()).last_lines

    return trio.run(main)


COPY: Final = """
import os, shutil, stat
with open("first", "w") as file:
    file.write("content")
os.chmod("first", 0o644)
os.utime("first", (1, 1))
shutil.copy2("first", "second")
os.rename("second", "third")
print(open("third").read(), "first" in os.listdir())
"""


@pytest.mark.parametrize("level", [LANDLOCK, NAMESPACE])
def test_a_bot_can_copy_and_unpack_files_in_its_own_folder(level: Level) -> None:
    """That sets modes and times. Under Landlock nothing changes them, but a refusal would be an error."""
    assert printed(COPY, level) == ("content True",)


OWN: Final = """
import os, resource, threading
os.nice(1)
os.sched_setaffinity(0, os.sched_getaffinity(0))
os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
resource.prlimit(0, resource.RLIMIT_NOFILE, (64, 64))
print(os.getpriority(os.PRIO_PROCESS, 0), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


@pytest.mark.parametrize("level", [LANDLOCK, NAMESPACE])
def test_a_bot_can_change_its_own_priority_cores_and_limits(level: Level) -> None:
    assert printed(OWN, level) == (f"{os.getpriority(os.PRIO_PROCESS, 0) + 1} 64",)


LEAVE_CORES: Final = """
import os
try:
    os.sched_setaffinity(0, range(os.cpu_count()))
    print("left")
except PermissionError:
    print("refused", len(os.sched_getaffinity(0)))
"""


@pytest.mark.parametrize("level", [LANDLOCK, NAMESPACE])
def test_a_bot_with_cores_of_its_own_cannot_leave_them(level: Level) -> None:
    [processor, *_] = os.sched_getaffinity(0)
    assert printed(LEAVE_CORES, level, frozenset({processor})) == ("refused 1",)


LOCK: Final = """
import multiprocessing
try:
    with multiprocessing.Lock():
        print("works")
except OSError:
    print("refused")
"""


@pytest.mark.parametrize(
    ("level", "outcome"),
    [
        pytest.param("landlock", "refused", marks=needs("Landlock")),
        pytest.param("namespace", "works", marks=needs("bwrap", "namespaces")),
    ],
)
def test_locks_between_processes_work_where_a_bot_has_shared_memory_of_its_own(
    level: Level, outcome: str
) -> None:
    assert printed(LOCK, level) == (outcome,)


@needs("bwrap", "namespaces")
def test_shared_memory_inside_is_nobody_elses_and_has_a_size() -> None:
    source = """
import os
with open("/dev/shm/mine", "w") as file:
    os.posix_fallocate(file.fileno(), 0, 1 << 20)
    try:
        os.posix_fallocate(file.fileno(), 0, 257 << 20)
    except OSError as error:
        print("mine" in os.listdir("/dev/shm"), error.strerror)
"""
    assert printed(source, "namespace") == ("True No space left on device",)
    assert not os.path.exists("/dev/shm/mine")


# -- what is counted for the whole machine -----------------------------------------------------------

SYSINFO: Final = """
import ctypes, struct
answer = ctypes.create_string_buffer(112)
assert ctypes.CDLL(None).sysinfo(answer) == 0
uptime, *loads, total, free = struct.unpack_from("@q5Q", answer)
[processes] = struct.unpack_from("@H", answer, 80)
print(uptime, loads, total >> 20, free == total, processes, ctypes.CDLL(None).sysinfo(1))
"""


@pytest.mark.parametrize("level", [LANDLOCK, NAMESPACE])
def test_the_machine_looks_the_same_to_all_bots_whatever_goes_on_there(level: Level) -> None:
    """Runtimes ask for its memory when they start, and glibc makes up a size if it gets no answer."""
    memory_mb = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    assert printed(SYSINFO, level) == (f"0 [0, 0, 0] {memory_mb} True 1 -1",)


ROOM: Final = """
import ctypes, os, struct
room = ctypes.create_string_buffer(120)
libc = ctypes.CDLL(None)
assert libc.fstatfs(os.memfd_create("heap"), room) == 0
kind, size, *counts = struct.unpack_from("@7q", room)
print(hex(kind), counts == [1 << 28] * 5, libc.fstatfs(99, room), libc.statfs(b"/", room))
"""


@pytest.mark.parametrize("level", [LANDLOCK, NAMESPACE])
def test_a_runtime_learns_of_which_kind_a_disk_is_and_not_how_full(level: Level) -> None:
    """The Java machine asks that about the memory of its heap."""
    assert printed(ROOM, level) == ("0x1021994 True -1 -1",)


READ: Final = """
import os
for path in %r:
    try:
        os.close(os.open(path, os.O_RDONLY))
        print(path)
    except OSError:
        pass
"""
COUNTERS: Final = (
    *("/proc/stat", "/proc/loadavg", "/proc/meminfo", "/proc/vmstat", "/proc/locks", "/proc/pressure/cpu"),
    *("/proc/sys/fs/file-nr", "/proc/sys/fs/inode-nr", "/proc/sys/kernel/ns_last_pid", "/proc/uptime"),
    *("/proc/self/net/sockstat", "/proc/self/fdinfo/0", "/proc/self/smaps", "/proc/self/pagemap"),
    *("/proc/self/task/self/net/sockstat", "/sys/fs/cgroup", "/sys/devices/system/cpu/cpu0/cpufreq"),
)


def test_under_landlock_a_bot_reads_none_of_the_kernels_counters() -> None:
    assert printed(READ % (COUNTERS,), "landlock") == ()


@needs("bwrap", "namespaces", "Landlock")
def test_in_namespaces_runtimes_find_the_files_that_they_ask_for_and_never_a_change_in_them() -> None:
    assert printed(READ % (COUNTERS,), "namespace") == ("/proc/stat", "/proc/meminfo")
    source = """
import os
def look():
    return [open(path).read() for path in ("/proc/stat", "/proc/meminfo", "/proc/cpuinfo")]
before = look()
for _ in range(8):
    if os.fork() == 0:
        os._exit(0)
    os.wait()
print(before == look(), os.sysconf("SC_NPROCESSORS_ONLN") == before[0].count("cpu") - 1)
total = next(int(line.split()[1]) for line in before[1].splitlines() if line.startswith("MemTotal:"))
print(total * 1024 == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
"""
    assert printed(source, "namespace") == ("True True", "True")


@pytest.mark.parametrize("level", [LANDLOCK, NAMESPACE])
def test_a_bot_can_move_files_between_its_folders(level: Level) -> None:
    """A ruleset refuses that unless it grants it."""
    source = """
import os
os.makedirs("a")
os.makedirs("b")
with open("a/file", "w") as file:
    file.write("moved")
os.rename("a/file", "b/file")
print(open("b/file").read())
"""
    assert printed(source, level) == ("moved",)


SOCKETS: Final = """
import socket
for family, kind, protocol in %r:
    try:
        socket.socket(family, kind, protocol).close()
        print("open", end=" ")
    except OSError:
        print("refused", end=" ")
"""
OWN_SOCKETS: Final = ((1, 1, 0), (2, 1, 0), (2, 1, 6), (10, 2, 17), (2, 2, 0), (16, 3, 0))
OTHER_SOCKETS: Final = ((40, 1, 0), (2, 1, 262), (16, 3, 4), (38, 5, 0))


@needs("bwrap", "namespaces")
def test_in_namespaces_a_bot_has_only_sockets_that_a_network_of_its_own_separates() -> None:
    """Virtual machines have others (vsock), and there are kinds of TCP that Landlock does not see (MPTCP)."""
    [line] = printed(SOCKETS % ((*OWN_SOCKETS, *OTHER_SOCKETS),), "namespace")
    assert line.split() == ["open"] * len(OWN_SOCKETS) + ["refused"] * len(OTHER_SOCKETS)


# -- old kernels -------------------------------------------------------------------------------------


@needs("Landlock")
def test_a_kernel_that_cannot_refuse_signals_and_ports_is_recorded_as_such(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As Linux 6.2 to 6.6. The level holds, for its files do, but nobody claims the rest."""
    monkeypatch.setattr(landlock, "landlock_abi", lambda: 3)
    attempt = trio.run(resolve_sandbox.try_level, Confinement(), "landlock")
    assert attempt.problem == ""
    open_there = {"loopback", "other_address"}
    if attempt.record.user != "own":
        open_there |= {"signal_runner", "signal_other_bots"}
    assert open_there <= set(attempt.record.allowed)
    assert {"change_files", "read_other_bots", "udp", "slow_others"} <= set(attempt.record.refused)


@needs("Landlock")
def test_a_kernel_that_lets_readers_empty_files_is_helped_by_the_filter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As Linux 5.19 to 6.1."""
    monkeypatch.setattr(landlock, "landlock_abi", lambda: 2)
    attempt = trio.run(resolve_sandbox.try_level, Confinement(), "landlock")
    assert attempt.problem == ""
    assert "change_files" in attempt.record.refused


@needs("Landlock")
def test_without_that_filter_the_level_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on an architecture whose system calls are not known here."""
    monkeypatch.setattr("platform.machine", lambda: "unheard-of")
    monkeypatch.setattr(landlock, "landlock_abi", lambda: 2)
    attempt = trio.run(resolve_sandbox.try_level, Confinement(), "landlock")
    assert "change files of the organizer" in attempt.problem


@needs("Landlock")
def test_at_limits_too_other_programs_are_left_alone_where_the_kernel_can_do_that() -> None:
    for abi in (6, 3):
        attempt = limits_under(abi)
        assert {"read_other_bots", "read_runner_memory"} <= set(attempt.record.refused)
        if attempt.record.user != "own":
            assert ("signal_other_bots" in attempt.record.refused) == (abi >= 6)


def limits_under(abi: int) -> resolve_sandbox.Attempt:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(landlock, "landlock_abi", lambda: abi)
        return trio.run(resolve_sandbox.try_level, Confinement(), "limits")
