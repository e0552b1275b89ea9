"""A bot that looks at all numbers that it can read, or does things that other bots could count.

`python -S -B probe.py` reads orders from standard input, one JSON value a line, and answers each with one.
`search.py` runs two of them, one that looks and one that acts. The standard library alone, as a stranger's
bot may be.

Law: an action is bounded, and what it holds it gives back at the next order. A look reads and changes nothing
but itself.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import mmap
import os
import re
import resource
import signal
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

SECONDS: Final = 0.2  # for each action, however much is done, so that what only follows the time stays equal
MOST_BYTES: Final = 64 * 1024
BATCH: Final = 1024
MOST_INSTANCES: Final = 200
STEP: Final = 8  # actions for one of what there are only few of
UNREAD: Final = re.compile(  # what blocks, is endless, or is the memory itself
    r"/proc/(kmsg|kcore|kpage.*|kallsyms|sysrq-trigger|acpi/event)|/proc/self/(mem|pagemap|clear_refs)"
    r"|/sys/kernel/(debug|tracing|security)|/sys/firmware|/sys/bus|.*/(trace_pipe|config|rom|resource\d*)"
)
SYSTEM_FILE: Final = "/usr/bin/env"

_MB: Final = 1024 * 1024
_SIGNAL: Final = 40
_COOKIE: Final = 57  # SO_COOKIE
_VALUE: Final = re.compile(r"\d+")
_IO_SETUP: Final = {"x86_64": 206}.get(os.uname().machine, 0)
_READ_LOG: Final = 3
_libc = ctypes.CDLL(None, use_errno=True)


# -- looking -----------------------------------------------------------------------------------------


def files() -> list[str]:
    """Return the pseudo files that can be read, of processes only this one's."""
    seen: list[str] = []
    for top in ("/proc", "/sys"):
        for folder, folders, names in os.walk(top):
            folders[:] = [
                each
                for each in folders
                if not (folder == "/proc" and each.isdigit())
                and not UNREAD.fullmatch(f"{folder}/{each}")
                and not os.path.islink(f"{folder}/{each}")
            ]
            seen += [f"{folder}/{name}" for name in names if not UNREAD.fullmatch(f"{folder}/{name}")]
    own = "/proc/self"
    for folder, folders, names in os.walk(f"{own}/."):
        folders[:] = [each for each in folders if each not in ("task", "cwd", "root", "fd", "map_files")]
        paths = [f"{own}{folder.removeprefix(f'{own}/.')}/{name}" for name in names]
        seen += [path for path in paths if not UNREAD.fullmatch(path)]
    return [path for path in dict.fromkeys(seen) if content(path) is not None]


def content(path: str) -> str | None:
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return None
    try:
        parts: list[bytes] = []  # the kernel gives a page at a time
        while sum(map(len, parts)) < MOST_BYTES and (part := os.read(number, MOST_BYTES)):
            parts.append(part)
        return b"".join(parts).decode("utf-8", "replace")
    except OSError:
        return None
    finally:
        os.close(number)


def numbers(path: str) -> Iterator[tuple[str, int]]:
    """Yield the numbers in a file, by its path, the first word of the line, and the place in that."""
    seen: dict[str, int] = {}
    for line in (content(path) or "").splitlines():
        words = line.split()
        label = words[0] if words and not words[0].isdigit() else ""
        for value in _VALUE.findall(line.removeprefix(label)):
            seen[label] = place = seen.get(label, -1) + 1
            yield f"{path} {label} {place}".replace("  ", " "), int(value)


def calls(wanted: set[str] | None) -> Iterator[tuple[str, int]]:
    """Yield the numbers that harmless calls return."""
    for name, call in CALLS.items():
        if wanted is not None and f"call: {name}" not in wanted:
            continue
        try:
            values = call()
        except (OSError, ValueError):
            continue
        for place, value in enumerate(values):
            yield f"call: {name} {place}", value


def _sysinfo() -> list[int]:
    buffer = ctypes.create_string_buffer(112)
    _checked(_libc.sysinfo(buffer))
    return list(struct.unpack("@q9QH", buffer.raw[:82]))


def _room(path: str) -> list[int]:
    room = os.statvfs(path)
    return [room.f_bfree, room.f_bavail, room.f_files, room.f_ffree]


def _rooms() -> list[int]:
    return [value for path in ("/", "/usr", os.environ["HOME"], "/tmp", "/dev/shm") for value in _room(path)]


def _clocks() -> list[int]:
    names = sorted(name for name in dir(time) if name.startswith("CLOCK_"))
    return [int(1000 * time.clock_gettime(getattr(time, name))) for name in names]


def _new_inodes() -> list[int]:
    opened = [*os.pipe(), os.memfd_create("probe"), _libc.eventfd(0, 0), _libc.epoll_create1(0)]
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        found = [os.fstat(number).st_ino for number in (*opened, sock.fileno())]
    for number in opened:
        os.close(number)
    return found


def _batches() -> list[int]:
    """Return how many batches of 1,024 numbers all processors have taken for new inodes: that shows when the
    own batch is used up."""
    highest = _number_of_a_pipe()
    jumps = 0
    while jumps < 2:  # the first may lead to what another processor has had for long
        number = _number_of_a_pipe()
        jumps += number > highest + 1
        highest = max(highest, number)
    return [highest // BATCH]


def _number_of_a_pipe() -> int:
    reader, writer = os.pipe()
    number = os.fstat(reader).st_ino
    os.close(reader)
    os.close(writer)
    return number


def _new_file() -> list[int]:
    with tempfile.NamedTemporaryFile() as file:
        return [os.fstat(file.fileno()).st_ino]


def _new_ids() -> list[int]:
    """Return what the kernel tells of a new descriptor of each kind."""
    found: list[int] = []
    for number in (_libc.eventfd(0, 0), _libc.epoll_create1(0), os.memfd_create("probe")):
        found += [value for _, value in numbers(f"/proc/self/fdinfo/{number}")]
        os.close(number)
    return found


def _new_process() -> list[int]:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return [child]


def server_port() -> int:
    return int(os.environ["STELLWERK_ADDRESS"].rpartition(":")[2])


def _new_port() -> list[int]:
    """Return the port that a connection to the server comes from; a listener of this bot will do as well."""
    address = ("127.0.0.1", server_port())
    with socket.socket() as listener, socket.socket() as sock:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            listener.listen()
        except OSError:
            pass
        sock.connect(address)
        return [sock.getsockname()[1]]


def _cookie() -> list[int]:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        return [int.from_bytes(sock.getsockopt(socket.SOL_SOCKET, _COOKIE, 8), "little")]


def _unix_name() -> list[int]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.bind("")
        return [int(sock.getsockname()[1:], 16)]


def _notifiers_left() -> list[int]:
    """Return how many instances of inotify this bot can have."""
    taken: list[int] = []
    while len(taken) < MOST_INSTANCES and (number := _libc.inotify_init()) >= 0:
        taken.append(number)
    for number in taken:
        os.close(number)
    return [len(taken)]


def _queued(most: int) -> int:
    signal.pthread_sigmask(signal.SIG_BLOCK, [_SIGNAL])
    pid, count = os.getpid(), 0
    while count < most and _libc.sigqueue(pid, _SIGNAL, None) == 0:
        count += 1
    return count


def _asynchronous_left() -> list[int]:
    """Return how many asynchronous reads and writes this bot could have at the same time."""
    low, high = 0, 1 << 20
    while low < high:
        middle = (low + high + 1) // 2
        context = ctypes.c_ulong(0)
        if _libc.syscall(_IO_SETUP, middle, ctypes.byref(context)) == 0:
            _libc.syscall(_IO_SETUP + 1, context)
            low = middle
        else:
            high = middle - 1
    return [low]


def _pipe_size() -> list[int]:
    reader, writer = os.pipe()
    size = fcntl.fcntl(writer, 1032)
    os.close(reader)
    os.close(writer)
    return [size]


def _log() -> list[int]:
    buffer = ctypes.create_string_buffer(MOST_BYTES)
    return [int(_checked(_libc.klogctl(_READ_LOG, buffer, MOST_BYTES)))]


def _pages_shared() -> list[int]:
    """Return how many processes use a page of a system's program, as the kernel counts it for this one."""
    with open(SYSTEM_FILE, "rb") as file:
        memory = mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ)
        memory[0]
        lines = (content("/proc/self/smaps") or "").split(SYSTEM_FILE)[-1].splitlines()
        return [int(_VALUE.findall(line)[0]) for line in lines if line.startswith(("Pss:", "Shared_Clean:"))]


CALLS: Final[dict[str, Callable[[], list[int]]]] = {
    "sysinfo": _sysinfo,
    "load": lambda: [int(100 * each) for each in os.getloadavg()],
    "room of disks": _rooms,
    "clocks": _clocks,
    "times": lambda: [int(100 * each) for each in os.times()],
    "usage": lambda: [int(each) for each in resource.getrusage(resource.RUSAGE_SELF)],
    "processors": lambda: sorted(os.sched_getaffinity(0)),
    "memory": lambda: [os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_AVPHYS_PAGES")],
    "inode numbers": _new_inodes,
    "batches of inode numbers": _batches,
    "inode number of a file": _new_file,
    "ids of descriptors": _new_ids,
    "process id": _new_process,
    "port number": _new_port,
    "socket cookie": _cookie,
    "name of a socket": _unix_name,
    "notifiers left": _notifiers_left,
    "asynchronous calls left": _asynchronous_left,
    "size of a pipe": _pipe_size,
    "kernel log": _log,
    "pages shared": _pages_shared,
}


# -- acting ------------------------------------------------------------------------------------------

Release = Callable[[], object]


def _fork(count: int) -> Release:
    """Start processes that end, and some that stay."""
    for _ in range(count):
        _new_process()
    kept: list[int] = []
    for _ in range(count // 2):
        if (child := os.fork()) == 0:
            signal.alarm(60)
            signal.pause()
            os._exit(0)
        kept.append(child)

    def release() -> None:
        for child in kept:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

    return release


def _closing(opened: list[int]) -> Release:
    def release() -> None:
        for number in opened:
            os.close(number)

    return release


def _open(count: int) -> Release:
    return _closing([os.open(SYSTEM_FILE, os.O_RDONLY) for _ in range(count)])


def _pipes(count: int) -> Release:
    return _closing([number for _ in range(count) for number in os.pipe()])


def _events(count: int) -> Release:
    return _closing([_libc.eventfd(0, 0) for _ in range(count)])


def _sockets(count: int) -> Release:
    kept = [socket.socket(socket.AF_INET, socket.SOCK_STREAM) for _ in range(count)]
    for sock in kept:
        sock.getsockopt(socket.SOL_SOCKET, _COOKIE, 8)
    return kept.clear


def _connect(count: int) -> Release:
    for _ in range(count):
        with socket.socket() as sock:
            sock.connect_ex(("127.0.0.1", server_port()))
    return bool


def _files(count: int) -> Release:
    folder = tempfile.TemporaryDirectory()
    for number in range(count):
        with open(os.path.join(folder.name, str(number)), "wb") as file:
            file.write(b"x" * 4096)
    return folder.cleanup


def _memory(count: int) -> Release:
    memory = mmap.mmap(-1, max(1, count) * _MB // 4, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for place in range(0, count * _MB // 4, mmap.PAGESIZE):
        memory[place] = 1
    return memory.close


def _lock(count: int) -> Release:
    file = tempfile.TemporaryFile()  # noqa: SIM115 (it is kept)
    for number in range(count):
        fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * number)
    return file.close


def _print(count: int) -> Release:
    os.write(2, (b"x" * 1023 + b"\n") * (8 * count))
    return bool


def _map(count: int) -> Release:
    with open(SYSTEM_FILE, "rb") as file:
        kept = [mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ) for _ in range(count)]
    for memory in kept:
        memory[0]
    return kept.clear


def _queue(count: int) -> Release:
    if (child := os.fork()) == 0:
        _queued(count)
        signal.alarm(60)
        signal.pause()
        os._exit(0)

    def release() -> None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)

    return release


def _notify(count: int) -> Release:
    return _closing([number for _ in range(count // STEP) if (number := _libc.inotify_init()) >= 0])


def _asynchronous(count: int) -> Release:
    context = ctypes.c_ulong(0)
    if count:
        _libc.syscall(_IO_SETUP, count * STEP, ctypes.byref(context))
    return lambda: _libc.syscall(_IO_SETUP + 1, context)


def _use_up(count: int) -> Release:
    for _ in range(count * BATCH):
        _number_of_a_pipe()
    return bool


ACTIONS: Final[dict[str, Callable[[int], Release]]] = {
    "fork": _fork,
    "open files": _open,
    "open pipes": _pipes,
    "open events": _events,
    "open sockets": _sockets,
    "connect": _connect,
    "write files": _files,
    "use memory": _memory,
    "lock": _lock,
    "print": _print,
    "map a file": _map,
    "queue signals": _queue,
    "watch files": _notify,
    "set up asynchronous calls": _asynchronous,
}


WHISPERS: Final = {"use up numbers": _use_up}
"""What takes too long to be done each time."""


def act(what: list[str], count: int) -> Release:
    """Do these things so many times. Return what gives back all that is held."""
    until = time.monotonic() + SECONDS * len(what)
    held: list[Release] = []
    for name in what:
        try:
            held.append((ACTIONS | WHISPERS)[name](count))
        except OSError:
            continue

    time.sleep(max(0.0, until - time.monotonic()))
    return lambda: [release() for release in reversed(held)]


def _checked(answer: int) -> int:
    if answer < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return answer


def main() -> None:
    release: Release = bool
    readable: list[str] = []
    for line in sys.stdin:
        order: dict[str, Any] = json.loads(line)  # JSON has no types
        answer: object = True
        match order["order"]:
            case "files":
                readable = files()
                answer = len(readable)
            case "actions":
                answer = list(ACTIONS)
            case "look":
                wanted: list[str] | None = order["names"]
                paths = readable if wanted is None else {name.split(" ")[0] for name in wanted}
                values = dict(pair for path in paths if path.startswith("/") for pair in numbers(path))
                values |= dict(
                    calls(None if wanted is None else {name.rpartition(" ")[0] for name in wanted})
                )
                answer = values if wanted is None else {name: values.get(name) for name in wanted}
            case "act":
                release = act(order["what"], order["count"])
            case _:
                release()
                release = bool
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
