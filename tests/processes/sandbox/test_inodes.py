"""What an inode keeps of one bot, no other bot sees; and what bots do to files of their own works."""

from __future__ import annotations

import errno
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import pytest
import trio

from stellwerk_processes.bench import bubblewrap
from stellwerk_processes.bench.invitation import Invitation
from stellwerk_processes.bench.levels import Confinement, Level
from stellwerk_processes.bench.local_bot import LocalBot, start_bot
from stellwerk_processes.bot_spec import BotSpec
from tests.processes.test_local_bot import line_from
from tests.tools import needs

SECONDS: Final = 60
INVITATION: Final = Invitation("ernie", "tcp://127.0.0.1:4711", token="t0ken", seed="5eed")

WITHOUT_MOUNTING: Final = ("CAP_SETPCAP", "CAP_SETUID")

LANDLOCK: Final = pytest.param("landlock", marks=needs("Landlock"))
NAMESPACE: Final = pytest.param("namespace", marks=needs("bwrap", "namespaces"))
FULL: Final = pytest.param("full", marks=needs("bwrap", "namespaces", "control groups"))


@asynccontextmanager
async def started(source: str, level: Level, *words: str) -> AsyncGenerator[LocalBot]:
    command = (sys.executable, "-I", "-S", "-c", source, *words)
    spec = BotSpec("ernie", command, transport="stdio")
    confinement = Confinement(level=level)
    with trio.fail_after(SECONDS):
        async with trio.open_nursery() as nursery:
            bot = await start_bot(nursery, spec, INVITATION, confinement)
            yield bot
            bot.stop()


def printed(source: str, level: Level) -> str:
    async def main() -> str:
        async with started(source, level) as bot:
            assert bot.transport is not None
            return (await line_from(bot.transport)).decode()

    return trio.run(main)


# -- what others see ---------------------------------------------------------------------------------

# Files that both can read, devices, namespaces, and the inode that all event descriptors have.
SHARED: Final = """
import fcntl, os, sys
def opened(path):
    try:
        return os.open(path, os.O_RDONLY)
    except OSError:
        return None
paths = [sys.executable, "/usr/bin/env", "/usr", "/dev/null", "/dev/urandom"]
paths += ["/proc/self/ns/" + name for name in ("time", "user", "net", "mnt")]
inodes = [number for number in (*map(opened, paths), os.eventfd(0)) if number is not None]
def lock(number, what, how):
    try:
        place = b"".join(each.to_bytes(8, sys.byteorder) for each in (7, 1, 0))
        return fcntl.fcntl(number, how, what.to_bytes(2, sys.byteorder) + bytes(6) + place)
    except OSError as error:
        return error.errno
def whole(number, how):
    try:
        return fcntl.flock(number, how)
    except OSError as error:
        return error.errno
"""
HOLD: Final = (
    SHARED
    + """
for number in inodes if sys.argv[1] == "hold" else ():
    print(lock(number, fcntl.F_RDLCK, 37), lock(number, fcntl.F_RDLCK, fcntl.F_SETLK), file=sys.stderr)
    whole(number, fcntl.LOCK_SH | fcntl.LOCK_NB)
    try:
        fcntl.fcntl(number, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError:
        pass
print("held", flush=True)
sys.stdin.readline()
"""
)
LOOK: Final = (
    SHARED
    + """
seen = []
for number in inodes:
    seen += [lock(number, fcntl.F_WRLCK, how) for how in (36, fcntl.F_GETLK)]
    seen += [lock(number, fcntl.F_RDLCK, how) for how in (36, fcntl.F_GETLK)]
    seen.append(whole(number, fcntl.LOCK_EX | fcntl.LOCK_NB))
    seen.append(whole(number, fcntl.LOCK_UN))
print(seen, flush=True)
"""
)


def seen_by_other(first: str, second: str, level: Level, word: str) -> bytes:
    """Return what the second bot prints when the first one, with the word, says that it is there."""

    async def main() -> bytes:
        async with started(first, level, word) as bot, started(second, level) as other:
            assert bot.transport is not None
            assert other.transport is not None
            assert await line_from(bot.transport)
            return await line_from(other.transport)

    return trio.run(main)


def seen_of_locks(level: Level, word: str) -> bytes:
    return seen_by_other(HOLD, LOOK, level, word)


@pytest.mark.parametrize("level", [LANDLOCK, NAMESPACE, FULL])
def test_what_a_bot_learns_of_locks_does_not_depend_on_those_of_another_bot(level: Level) -> None:
    assert seen_of_locks(level, "hold") == seen_of_locks(level, "")


def test_without_a_sandbox_a_bot_learns_of_the_locks_of_another_bot() -> None:
    """Else the test above would prove nothing."""
    assert seen_of_locks("none", "hold") != seen_of_locks("none", "")


@needs("bwrap", "namespaces")
def test_where_a_bot_cannot_have_inodes_of_its_own_it_has_no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the kernel has no overlays for ordinary users, or something is mounted inside of a folder."""
    monkeypatch.setattr(bubblewrap, "_OF_ROOT", ("CAP_CHOWN", "CAP_KILL", "CAP_SETGID", *WITHOUT_MOUNTING))
    monkeypatch.setattr(bubblewrap, "_OF_OTHERS", ("CAP_SYS_RESOURCE", *WITHOUT_MOUNTING))
    seen = seen_of_locks("namespace", "hold")
    assert seen == seen_of_locks("namespace", "")
    assert str(errno.ENOLCK).encode() in seen


TOUCH: Final = """
import os
def touched(path):
    try:
        before = os.stat(path).st_mtime_ns
        os.utime(path)
        return os.stat(path).st_mtime_ns > before
    except OSError:
        return False
print(list(filter(touched, ["/dev/null", "/dev/urandom"])), flush=True)
with open("/dev/null", "w") as nothing:
    nothing.write("still works")
"""


@pytest.mark.parametrize("level", [LANDLOCK, NAMESPACE, FULL])
def test_a_bot_cannot_set_the_times_of_a_device_to_now(level: Level) -> None:
    assert printed(TOUCH, level) == "[]\n"


NUMBERS: Final = """
import ctypes, fcntl, mmap, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
file = os.open(sys.executable, os.O_RDONLY)
memory = mmap.mmap(file, mmap.PAGESIZE, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
place = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
answer = ctypes.create_string_buffer(64)
def hint():
    fcntl.fcntl(file, 1036, (3).to_bytes(8, sys.byteorder))
    return 0
def called(*arguments):
    return libc.syscall(*arguments)
def listening():
    with socket.socket() as sock:
        sock.listen()
    return 0
calls = {
    "mincore": lambda: libc.mincore(place, ctypes.c_size_t(mmap.PAGESIZE), answer),
    "cachestat": lambda: called(451, file, bytes(16), answer, 0),
    "inotify": lambda: libc.inotify_init(),
    "fanotify": lambda: libc.fanotify_init(0x200, 0),
    "hint": hint,
    "listen": listening,
    "uncached": lambda: os.preadv(file, [bytearray(1)], 0, 0x80) - 1,
}
done = []
for name, call in calls.items():
    try:
        done += [name] * (call() >= 0)
    except OSError:
        pass
print(*done, flush=True)
"""


@pytest.mark.parametrize(
    ("level", "left"),
    [
        pytest.param("landlock", "", marks=needs("Landlock")),
        pytest.param("namespace", "listen", marks=needs("bwrap", "namespaces")),
        pytest.param("full", "listen", marks=needs("bwrap", "namespaces", "control groups")),
    ],
)
def test_a_bot_cannot_ask_the_kernel_about_files_or_open_a_port(level: Level, left: str) -> None:
    """In a network of its own, nobody else can reach that port."""
    assert printed(NUMBERS, level) == f"{left}\n"


FLAGS: Final = """
import fcntl, os, sys
GET, SET, GET_VERSION, SET_VERSION = 0x80086601, 0x40086602, 0x80087601, 0x40087602
def asked(number, question, change=0):
    try:
        answer = int.from_bytes(fcntl.ioctl(number, question, bytes(8)), sys.byteorder)
        fcntl.ioctl(number, question + 1 & 0xffff | 0x40080000, (answer ^ change).to_bytes(8, sys.byteorder))
        return True
    except OSError:
        return False
number = os.open(os.path.join(os.environ["HOME"], "mine"), os.O_CREAT | os.O_RDWR)
print(asked(number, GET, 0x40), asked(number, GET_VERSION, 1), flush=True)
"""


@needs("Landlock")
def test_a_bot_cannot_set_what_a_file_system_keeps_of_a_file() -> None:
    """Such as its flags and its version, which need no right to write it, but to be its owner."""
    assert printed(FLAGS, "landlock") == "False False\n"


# -- what works --------------------------------------------------------------------------------------

SQLITE: Final = """
import os, signal, sqlite3
def tried(work):
    try:
        return str(work())
    except sqlite3.Error as error:
        return str(error)
def filled(name, mode):
    first, second = sqlite3.connect(name), sqlite3.connect(name)
    [got] = first.execute(f"PRAGMA journal_mode={mode}").fetchone()
    assert got == mode, got
    with first:
        first.execute("CREATE TABLE notes (word)")
        first.execute("INSERT INTO notes VALUES ('one')")
    with second:
        second.execute("INSERT INTO notes VALUES ('two')")
    return len(first.execute("SELECT * FROM notes").fetchall())
def crashed():
    filled("crashed", "delete")
    if os.fork() == 0:
        connection = sqlite3.connect("crashed", isolation_level=None)
        connection.execute("PRAGMA cache_size=1")
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO notes VALUES (?)", [("x" * 1000,)] * 100)
        os.kill(os.getpid(), signal.SIGKILL)
    os.wait()
    assert os.path.exists("crashed-journal")
    return len(sqlite3.connect("crashed").execute("SELECT * FROM notes").fetchall())
works = lambda: filled("default", "delete"), lambda: filled("wal", "wal"), crashed
print("; ".join(map(tried, works)), flush=True)
"""


@pytest.mark.parametrize(
    ("level", "outcome"),
    [
        pytest.param("landlock", "2; disk I/O error; disk I/O error", marks=needs("Landlock")),
        pytest.param("namespace", "2; 2; 2", marks=needs("bwrap", "namespaces")),
        pytest.param("full", "2; 2; 2", marks=needs("bwrap", "namespaces", "control groups")),
    ],
)
def test_sqlite_works_in_the_folder_of_a_bot_as_it_is_in_wal_mode_and_after_a_crash(
    level: Level, outcome: str
) -> None:
    """Where locks are none, it cannot ask who has one."""
    assert printed(SQLITE, level) == f"{outcome}\n"
