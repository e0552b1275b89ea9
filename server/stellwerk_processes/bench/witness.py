"""The witness: a program that tries all that a sandbox is there to refuse, and prints what it could do.

It runs as a bot does, in the very same sandbox: `python -I -S witness.py OFFER`. The offer is JSON: what
there is outside to be reached. The witness prints one line of JSON: for each attempt `done`, `refused`, or
`untried`, and the port that it has opened. Facts that only the other side can know (whether a connection
arrived, whether a file is there, whether a process lived on) are left to `resolve_sandbox.py`, which made the
offer. With `wait BYTE` instead, it is another bot, which holds some locks of that byte.

Law: it harms nothing. Every load is bounded, nothing is sent beyond this machine, and what it makes it
removes, or it goes with the sandbox.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import mmap
import os
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

MANY_PROCESSES: Final = 500
HELD: Final = 32  # processes, sockets and events, to look whether a counter of the machine follows
MUCH_MEMORY: Final = 2 * 1024**3
NEEDED_MEMORY: Final = 3 * 1024**3  # that is free, before so much is really used
NEEDED_DISK: Final = 2 * 1024**3
STEP: Final = 16 * 1024 * 1024
SECONDS: Final = 2.0  # for the other side to take a connection
NOWHERE: Final = ("192.0.2.1", 9)  # an address of TEST-NET-1
DONE, REFUSED, UNTRIED = "done", "refused", "untried"

_GET_LOCK, _SET_LOCK = 36, 37  # of open file descriptions
_CACHESTAT: Final = 451
_CREATE: Final = 0o1000  # of System V's shared memory
_COUNTERS: Final = (  # a file, the first word of a line, and the place in it
    ("/proc/loadavg", "", -1),
    ("/proc/stat", "processes ", 1),
    ("/proc/self/net/sockstat", "TCP:", 8),
    ("/proc/sys/fs/file-nr", "", 0),
    ("/proc/sys/fs/inode-nr", "", 0),
    ("/proc/sys/kernel/ns_last_pid", "", 0),
)
_SIZE_OF_ANSWER, _PROCESSES = 112, 80  # of sysinfo
_NEW_USER_NAMESPACE: Final = 0x10000000

_libc: Final = ctypes.CDLL(None)

Offer = dict[str, Any]  # JSON; both sides are in this package


def main() -> None:
    word, _, byte = sys.argv[1].partition(" ")
    if word == "wait":
        _hold_locks(int(byte))
        print(json.dumps({"pid": os.getpid()}), flush=True)
        sys.stdin.readline()
        return
    offer: Offer = json.loads(sys.argv[1])
    attempts: dict[str, Callable[[Offer], bool | None]] = {
        "read_files": _read_files,
        "write_files": _write_files,
        "change_files": _change_files,
        "leave_memory": _leave_memory,
        "loopback": lambda offer: _connect(socket.AF_INET, ("127.0.0.1", offer["loopback"])),
        "other_address": lambda offer: _connect(socket.AF_INET, ("127.0.0.2", offer["port"])),
        "udp": _send_udp,
        "internet": _find_way_out,
        "abstract_sockets": lambda offer: _connect(socket.AF_UNIX, "\0" + offer["abstract"]),
        "unix_sockets": lambda offer: _connect(socket.AF_UNIX, offer["unix"]),
        "open_port": _open_port,
        "see_processes": _see_processes,
        "read_counters": _read_counters,
        "signal_runner": lambda offer: _signal_process(offer["runner"]),
        "read_runner_memory": lambda offer: _open_memory(offer["runner"]),
        "signal_other_bots": lambda offer: _signal_process(offer["other"]),
        "slow_others": _slow_others,
        "read_other_bots": _read_other_bots,
        "see_locks": _see_locks,
        "see_cache": _see_cache,
        "gain_privileges": _gain_privileges,
        "user_namespaces": _user_namespaces,
        "many_processes": _many_processes,
        "much_memory": _much_memory,
        "fill_disk": _fill_disk,
    }
    results: dict[str, object] = {"pid": os.getpid(), "uid": os.getuid()}
    for name, attempt in attempts.items():
        try:
            done = attempt(offer)
        except (OSError, MemoryError):
            done = False
        results[name] = UNTRIED if done is None else DONE if done else REFUSED
    results["port"] = _port.getsockname()[1]
    print(json.dumps(results), flush=True)
    _greet_connections(offer)
    _leave_a_child()


# -- files -------------------------------------------------------------------------------------------


def _read_files(offer: Offer) -> bool:
    """Read the secret, or see more of the runner's home than the way to a program in it."""
    try:
        with open(offer["secret"], "rb") as file:
            return bool(file.read())
    except OSError:
        home: str = offer["home"]
        return bool(len(os.listdir(home)) >= offer["home_size"])


def _write_files(offer: Offer) -> bool:
    """Leave a file where the next bot could find it. The other side looks whether it is there."""
    has_written = False
    folders: list[str] = offer["folders"]
    for folder in folders:
        try:
            with open(os.path.join(folder, str(offer["name"])), "w") as file:
                file.write("seen\n")
        except OSError:
            continue
        has_written = True
    return has_written


def _change_files(offer: Offer) -> bool:
    """Change a file that everybody may write to, in every way that may be left. The other side looks."""
    path: str = offer["changeable"]
    for change in (
        lambda: os.open(path, os.O_RDWR | os.O_TRUNC),
        lambda: os.open(path, os.O_RDONLY | os.O_TRUNC),
        lambda: os.truncate(path, 0),
        lambda: os.chmod(path, 0o600),
    ):
        try:
            change()
        except OSError:
            continue
    return False


def _leave_memory(offer: Offer) -> bool:
    """Leave shared memory, which stays when no process uses it. The other side looks, and removes it."""
    return bool(ctypes.CDLL(None).shmget(offer["memory_key"], mmap.PAGESIZE, _CREATE | 0o666) >= 0)


def _fill_disk(offer: Offer) -> bool | None:
    """Use more than a bot has, in its private folder."""
    home = os.environ["HOME"]
    most: int = offer["disk"] + STEP
    if not os.path.ismount(home) and offer["free_disk"] < NEEDED_DISK:
        return None  # others need what is left
    names = [os.path.join(home, f"filled-{number}") for number in range(most // STEP + 1)]
    try:
        for name in names:
            with open(name, "wb") as file:
                os.posix_fallocate(file.fileno(), 0, STEP)
    finally:
        for name in names:
            try:
                os.unlink(name)
            except FileNotFoundError:
                break
    return True


# -- the network -------------------------------------------------------------------------------------


def _connect(family: socket.AddressFamily, address: Any) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.settimeout(SECONDS)
        sock.connect(address)
    return True


def _send_udp(offer: Offer) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"seen", ("127.0.0.1", offer["udp"]))
    return True


def _find_way_out(offer: Offer) -> bool | None:
    """Look for a way out, without sending anything: a UDP socket connects silently; a TCP socket that is
    bound to the loopback device gets no further than the filters."""
    if not offer["has_route"]:
        return None
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.connect(NOWHERE)
        return True
    except PermissionError:
        pass  # this kind of socket is refused; the other kind may not be
    except OSError:
        return False  # there is no way
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo\0")
        sock.setblocking(False)
        try:
            sock.connect(NOWHERE)
        except PermissionError:
            return False
        except OSError:
            pass  # what the device makes of it
    return True


_port: Final = socket.socket(socket.AF_INET, socket.SOCK_STREAM)


def _open_port(_: Offer) -> bool:
    """Wait for connections without asking for a port. The other side looks whether it can connect."""
    _port.listen()
    return True


def _greet_connections(offer: Offer) -> None:
    """Say the name to a connection that comes, until the other side has looked."""
    while _port.getsockname()[1] and _port in select.select([_port, sys.stdin], [], [])[0]:
        with _port.accept()[0] as connection:
            connection.sendall(str(offer["name"]).encode())


# -- other processes ---------------------------------------------------------------------------------


def _see_processes(offer: Offer) -> bool:
    with open(f"/proc/{offer['runner']}/stat", "rb") as file:
        started = int(file.read().rpartition(b")")[2].split()[19])
    return bool(started == offer["runner_started"])


def _read_counters(_: Offer) -> bool:
    """Start processes and open what the kernel counts, and look whether a counter of the machine follows."""
    before = _read_all_counters()
    children: list[int] = []
    events = [number for _ in range(HELD) if (number := _libc.eventfd(0, 0)) >= 0]
    sockets: list[socket.socket] = []
    try:
        for _number in range(HELD):
            child = os.fork()
            if child == 0:
                signal.pause()
                os._exit(0)
            children.append(child)
        sockets += [socket.socket() for _ in range(HELD)]
        after = _read_all_counters()
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        for number in events:
            os.close(number)
        for sock in sockets:
            sock.close()
    return any(after[name] >= before[name] + HELD for name in before.keys() & after.keys())


def _read_all_counters() -> dict[str, int]:
    """Return the counters of the machine that can be read."""
    counters: dict[str, int] = {}
    for path, name, place in _COUNTERS:
        try:
            with open(path, encoding="ascii") as file:
                lines = [line.split() for line in file if line.startswith(name)]
        except OSError:
            continue
        if lines:
            counters[path] = int(lines[0][place])
    answer = ctypes.create_string_buffer(_SIZE_OF_ANSWER)
    if _libc.sysinfo(answer) == 0:
        [counters["sysinfo"]] = struct.unpack_from("@H", answer, _PROCESSES)
    event = _libc.eventfd(0, 0)
    try:
        with open(f"/proc/self/fdinfo/{event}", encoding="ascii") as file:
            counters |= {name: int(value) for name, value in map(str.split, file) if name == "eventfd-id:"}
    except (OSError, ValueError):
        pass
    os.close(event)
    return counters


def _signal_process(pid: int) -> bool:
    os.kill(pid, 0)
    return True


def _slow_others(offer: Offer) -> bool:
    """Set another bot's priority to what it is, which needs the right to change it."""
    other: int = offer["other"]
    os.setpriority(os.PRIO_PROCESS, other, os.getpriority(os.PRIO_PROCESS, other))
    return True


def _open_memory(pid: int) -> bool:
    os.close(os.open(f"/proc/{pid}/mem", os.O_RDONLY))
    return True


def _read_other_bots(offer: Offer) -> bool:
    with open(f"/proc/{offer['other']}/environ", "rb") as file:
        return offer["other_token"].encode() in file.read()


def _open_shared() -> Iterator[int]:
    """Yield descriptors of what bots share: files, devices, namespaces, and the inode of events."""
    paths = [__file__, sys.executable, "/dev/null", "/proc/self/ns/user", "/proc/self/ns/time"]
    for path in filter(os.path.exists, paths):
        yield os.open(path, os.O_RDONLY)
    yield os.eventfd(0)


def _describe_lock(kind: int, byte: int) -> bytes:
    """Return what fcntl gets for a lock of one byte."""
    return struct.pack("hhqqixxxx", kind, os.SEEK_SET, byte, 1, 0)


def _hold_locks(byte: int) -> None:
    for number in _open_shared():
        for command in (_SET_LOCK, fcntl.F_SETLK):
            try:
                fcntl.fcntl(number, command, _describe_lock(fcntl.F_RDLCK, byte))
            except OSError:
                continue
    with contextlib.suppress(OSError):
        fcntl.flock(os.open(__file__, os.O_RDONLY), fcntl.LOCK_SH | fcntl.LOCK_NB)


def _see_locks(offer: Offer) -> bool:
    """Look whether the other bot holds its locks. Each trial has a byte of its own: some of what is locked is
    the machine's, and another trial may run."""
    byte = offer["byte"]
    for number in _open_shared():
        for command in (_GET_LOCK, fcntl.F_GETLK):
            try:
                answer = fcntl.fcntl(number, command, _describe_lock(fcntl.F_WRLCK, byte))
            except OSError:
                continue
            kind, _whence, start, length, _pid = struct.unpack("hhqqixxxx", answer)
            if (kind, start, length) == (fcntl.F_RDLCK, byte, 1):
                return True
    try:
        fcntl.flock(os.open(__file__, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _see_cache(_: Offer) -> bool:
    """Ask which parts of a file the kernel has in memory."""
    libc, answer = ctypes.CDLL(None), ctypes.create_string_buffer(64)
    with open(__file__, "rb") as file:
        memory = mmap.mmap(file.fileno(), mmap.PAGESIZE, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
        place = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
        is_told = libc.mincore(place, ctypes.c_size_t(mmap.PAGESIZE), answer) == 0
        if libc.syscall(_CACHESTAT, file.fileno(), bytes(16), answer, 0) == 0 or is_told:
            return True
        return os.preadv(file.fileno(), [bytearray(1)], 0, os.RWF_NOWAIT) == 1


# -- powers ------------------------------------------------------------------------------------------


def _gain_privileges(_: Offer) -> bool:
    """Look whether a program could give this process more powers than it has, or it has some already."""
    with open("/proc/self/status", encoding="ascii") as file:
        fields = dict(line.split(":", 1) for line in file)
    return int(fields["NoNewPrivs"]) == 0 or int(fields["CapEff"], 16) != 0


def _user_namespaces(_: Offer) -> bool:
    return _in_a_child(lambda: ctypes.CDLL(None).unshare(_NEW_USER_NAMESPACE) == 0)


def _many_processes(_: Offer) -> bool:
    children: list[int] = []
    try:
        for _number in range(MANY_PROCESSES):
            child = os.fork()
            if child == 0:
                signal.pause()
                os._exit(0)
            children.append(child)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
        for child in children:
            os.waitpid(child, 0)
    return True


def _much_memory(offer: Offer) -> bool | None:
    """Ask for memory, and use it where only that shows what is refused."""

    def use() -> bool:
        memory = mmap.mmap(-1, MUCH_MEMORY, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if offer["uses_memory"]:
            for place in range(0, MUCH_MEMORY, mmap.PAGESIZE):
                memory[place] = 1
        return True

    if offer["uses_memory"] and offer["free_memory"] < NEEDED_MEMORY:
        return None
    return _in_a_child(use)


def _leave_a_child() -> None:
    """Leave a process that has nothing to do with this one any more. It keeps standard output open: the other
    side sees when it ends."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            time.sleep(60)
        os._exit(0)
    os.wait()


def _in_a_child(attempt: Callable[[], bool]) -> bool:
    """Try it in a process that may be killed for it."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if attempt() else 1
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


if __name__ == "__main__":
    main()
