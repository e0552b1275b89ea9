"""Hostile bots: each logs in, plays its match to the end, and attacks what is around it.

`python -S bots.py NAME HINTS`: the standard library alone, as a stranger's bot may be. HINTS is JSON of what
the arena (`arena.py`) gives away, so that an attack fails because it is refused and not for want of an
address. A bot prints each thing that it believes to have achieved as a line `found {...}`. The arena looks
itself where it can.

Law: an attack harms nobody but the match. Each load has a bound and ends by itself within seconds, every
process that is left behind has an alarm, signals go to processes of the arena alone or are ignored by
others, and nothing is sent beyond this machine.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import glob
import hashlib
import json
import mmap
import os
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

Message = dict[str, Any]  # JSON has no types

SECONDS: Final = 10  # after which everything that a bot has started ends by itself
MOST_PROCESSES: Final = 600
MOST_DISK_MB: Final = 400
MOST_MEMORY_MB: Final = 2500
NEEDED_MB: Final = 4000  # that must be free before so much is used
PRINTED_MB: Final = 200
BURNERS: Final = 3
MOST_WRONG: Final = 16  # of 64 bits, of which chance gets 32 wrong
ROUNDS: Final = 10
NICE: Final = 5
LISTENS: Final = 5  # at which ask: by then the other bot has been asked, too
VISIT: Final = 0.2  # seconds for somebody to come to a port
HINT: Final = 3  # that data lives for a while
NO_DUMP: Final = 0x40  # a flag that backups look at
NOWHERE: Final = ("192.0.2.1", 9)  # an address of TEST-NET-1

_MB: Final = 1024 * 1024
_PTRACE_SEIZE: Final = 0x4206
_NEW_USER_NAMESPACE: Final = 0x10000000
_CREATE: Final = 0o1000  # of System V's objects
_NO_WAIT: Final = 0o4000
_OPENED: Final = 0x20
_CACHESTAT: Final = 451
_FUTEX: Final = {"x86_64": 202}.get(os.uname().machine, 98)
_FUTEX_WAIT, _FUTEX_WAKE = 0, 1  # of all processes
_GET_LOCK, _SET_LOCK = 36, 37  # of open file descriptions
_GET_HINT, _SET_HINT = 1035, 1036
_GET_FLAGS, _SET_FLAGS = 0x80086601, 0x40086602

_libc = ctypes.CDLL(None, use_errno=True)


class Bot:
    """A bot without a fault. It answers each ask with a move that follows from the ask's number."""

    def __init__(self, hints: Message) -> None:
        self.hints = hints
        self.has_attacked = False
        self.asks = 0
        host, _, port = os.environ["STELLWERK_ADDRESS"].removeprefix("tcp://").rpartition(":")
        self.connection = socket.create_connection((host, int(port)))
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def run(self) -> None:
        for line in self.connection.makefile("rb"):
            message: Message = json.loads(line)
            match message["type"]:
                case "hello":
                    name, token = os.environ["STELLWERK_NAME"], os.environ["STELLWERK_TOKEN"]
                    login = {"type": "login", "protocol": 1, "name": name, "token": token}
                    self.say(login | {"wants": {"view": False, "events": False}})
                case "start":
                    self.say({"type": "ready", "match": message["match"]})
                case "ask":
                    self.asks += 1
                    if not self.has_attacked:
                        self.has_attacked = True
                        self.attack()
                    self.meet_ask()
                    answer = {"index": message["ask"] % len(message["legal"])}
                    self.say({"type": "act", "match": message["match"], "ask": message["ask"], **answer})
                case "end":
                    self.see_the_end()
                case "bye":
                    return
                case _:
                    pass

    def say(self, message: Message) -> None:
        self.connection.sendall(json.dumps(message).encode() + b"\n")

    def attack(self) -> None:
        """Do all the harm that this bot is there for, when it is asked for the first time."""

    def meet_ask(self) -> None:
        """Be asked."""

    def see_the_end(self) -> None:
        """Hear that the match is over."""

    def given(self) -> Message:
        """Return what the arena knows only while the match goes on."""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            try:
                with open(self.hints["given"], encoding="ascii") as file:
                    given: Message = json.load(file)
                return given
            except json.JSONDecodeError:
                time.sleep(0.01)
        return {}


def report(name: str, value: object = True) -> None:
    os.write(2, f"found {json.dumps({name: value})}\n".encode())


def tried(name: str, attempt: Callable[[], object]) -> None:
    """Report what an attempt returns, if it comes to something. What returns nothing has worked."""
    try:
        value = attempt()
    except (OSError, ValueError):
        return
    if value is None or value:
        report(name, value or True)


def digest(secret: bytes) -> str:
    return hashlib.sha256(secret).hexdigest()


def checked(answer: int) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer


def set_free(work: Callable[[], object]) -> None:
    """Do the work in a process without a parent, in a session of its own, which no signal but one ends."""
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            signal.alarm(SECONDS)
            work()
        os._exit(0)
    os.waitpid(child, 0)


def rest() -> None:
    while True:
        signal.pause()


# -- the victim --------------------------------------------------------------------------------------


class Victim(Bot):
    """plays by the rules, has secrets, and tells afterwards what was done to it"""

    def __init__(self, hints: Message) -> None:
        super().__init__(hints)
        self.signals = 0
        self.refused = 0
        self.secret = b"victim-memory:" + os.urandom(16).hex().encode()  # noqa: TID251 (no game's chance)
        with open("diary", "wb") as file:
            file.write(self.secret)
        os.chmod("diary", 0o600)
        self.before = self.state()
        signal.signal(signal.SIGURG, self.note)

    def note(self, *_: object) -> None:
        self.signals += 1

    def state(self) -> list[object]:
        niceness = os.getpriority(os.PRIO_PROCESS, 0)
        limit = resource.getrlimit(resource.RLIMIT_CPU)
        return [niceness, sorted(os.sched_getaffinity(0)), os.sched_getscheduler(0), list(limit)]

    def meet_ask(self) -> None:
        try:
            child = os.fork()
        except OSError:
            self.refused += 1
            return
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)

    def see_the_end(self) -> None:
        report("secret", digest(self.secret))
        report("signals", self.signals)
        report("refused", self.refused)
        report("changed", self.state() != self.before)


# -- the spy -----------------------------------------------------------------------------------------


class Spy(Bot):
    """looks for everything that is not its own, and touches it"""

    def attack(self) -> None:
        given = self.given()
        victim, runner = int(given["victim"]), int(self.hints["runner"])
        tried("see_processes", lambda: self.sees_the_runner(runner))
        tried("read_secret", lambda: digest(_content(self.hints["secret"])))
        tried("change_files", lambda: _overwritten(self.hints["results"]))
        tried("change_modes", lambda: os.chmod(self.hints["modes"], 0o666))
        tried("read_private", lambda: self.read_private(victim))
        tried("token_environ", lambda: _token_of(victim))
        tried("token_commands", lambda: _is_in_a_command_line(given["token"]))
        tried("victim_memory", lambda: _secret_in_memory(victim, b"victim-memory:"))
        tried("runner_memory", lambda: _secret_in_memory(runner, b"runner-memory:"))
        tried("trace_victim", lambda: _in_a_child(lambda: _libc.ptrace(_PTRACE_SEIZE, victim, None, None)))
        for pid in (victim, runner):
            tried("signals_sent", partial(os.kill, pid, signal.SIGURG))
        self.slow_down(victim, runner)
        tried("user_namespace", lambda: _in_a_child(lambda: _libc.unshare(_NEW_USER_NAMESPACE)))
        self.connect(given)
        tried("leave_cores", _all_cores)
        tried("open_port", self.open_port)

    def sees_the_runner(self, runner: int) -> bool:
        with open(f"/proc/{runner}/stat", "rb") as file:
            return bool(file.read().rpartition(b")")[2].split()[19] == str(self.hints["started"]).encode())

    def open_port(self) -> None:
        """Wait for a connection, without asking for a port, and say the word."""
        with socket.socket() as sock:
            sock.listen()
            if os.fork() == 0:
                sock.settimeout(SECONDS / 2)
                sock.accept()[0].sendall(str(self.hints["word"]).encode())
                rest()
        time.sleep(VISIT)

    def read_private(self, victim: int) -> str:
        for path in (f"/proc/{victim}/cwd/diary", *glob.glob("/tmp/stellwerk-*/*/diary")):
            try:
                return digest(_content(path))
            except OSError:
                continue
        return ""

    def slow_down(self, victim: int, runner: int) -> None:
        """Use what the kernel lets every process do to others of its user. The other side looks."""
        for change in (
            lambda: os.setpriority(os.PRIO_PROCESS, victim, NICE),
            lambda: os.sched_setscheduler(victim, os.SCHED_BATCH, os.sched_param(0)),
            lambda: resource.prlimit(victim, resource.RLIMIT_CPU, (86_400, 86_400)),
            lambda: resource.prlimit(runner, resource.RLIMIT_CPU, (86_400, 86_400)),
        ):
            tried("slowed", change)

    def connect(self, given: Message) -> None:
        hints = self.hints
        for family, address in (
            (socket.AF_INET, ("127.0.0.1", hints["loopback"])),
            (socket.AF_INET, ("127.0.0.2", given["port"])),
            (socket.AF_UNIX, hints["unix"]),
            (socket.AF_UNIX, "\0" + hints["abstract"]),
        ):
            tried("connected", partial(_connected, family, address))
        tried("sent", lambda: _sent(("127.0.0.1", hints["udp"])))
        tried("internet", _has_a_way_out)


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _overwritten(path: str) -> bool:
    try:
        with open(path, "r+b") as file:
            file.write(b"mine")
    except OSError:
        os.truncate(path, 0)
    return True


def _token_of(pid: int) -> str:
    found = re.search(rb"STELLWERK_TOKEN=([^\0]+)", _content(f"/proc/{pid}/environ"))
    return digest(found[1]) if found else ""


def _is_in_a_command_line(token_digest: str) -> bool:
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            words = re.split(rb"[\0\s=\"']+", _content(path))
        except OSError:
            continue
        if any(digest(word) == token_digest for word in words):
            return True
    return False


def _secret_in_memory(pid: int, marker: bytes) -> str:
    """Search the memory that a process can write to."""
    pattern = re.compile(marker + rb"[0-9a-f]{32}")
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            place, rights, *_ = line.split()
            start, end = (int(each, 16) for each in place.split("-"))
            if not rights.startswith("rw") or end - start > 64 * _MB:
                continue
            try:
                memory.seek(start)
                found = pattern.search(memory.read(end - start))
            except (OSError, OverflowError, ValueError):
                continue
            if found:
                return digest(found[0])
    return ""


def _in_a_child(attempt: Callable[[], int]) -> bool:
    child = os.fork()
    if child == 0:
        os._exit(0 if attempt() == 0 else 1)
    return os.waitpid(child, 0)[1] == 0


def _connected(family: socket.AddressFamily, address: object) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.settimeout(2)
        sock.connect(address)  # type: ignore[arg-type]  # of the family's kind
    return True


def _sent(address: tuple[str, int]) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        return sock.sendto(b"seen", address) == 4


def _has_a_way_out() -> bool:
    """Look for a way out, and send nothing: a UDP socket connects silently, and one of TCP is bound to the
    loopback device, where such an address leads nowhere."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.connect(NOWHERE)
        return True
    except PermissionError:
        pass
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo\0")
        sock.setblocking(False)
        try:
            sock.connect(NOWHERE)
        except PermissionError:
            return False
        except OSError:
            pass
    return True


def _all_cores() -> bool:
    """Leave the processors that this bot was put on."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    return len(os.sched_getaffinity(0)) > len(before)


# -- the diarist -------------------------------------------------------------------------------------


class Diarist(Bot):
    """leaves something in one match wherever it can, and reads it in the next"""

    def attack(self) -> None:
        for name, (read, leave) in self.places().items():
            if self.hints["remembers"]:
                tried(f"diary_{name}", read)
                continue
            try:
                leave()
            except (OSError, ValueError):
                continue

    def places(self) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
        word: str = self.hints["word"]
        here = os.path.dirname(os.path.abspath(__file__))
        folders = [os.environ["HOME"], os.environ["TMPDIR"], os.getcwd(), here, os.path.dirname(here)]
        folders += ["/tmp", "/var/tmp", "/dev/shm", "/run", "/var/lock", "/dev/mqueue", "/"]
        names = [os.path.join(folder, f"stellwerk-hostile-{word}") for folder in folders]
        number = int(word[:7], 16)
        parts = [place for place, bit in enumerate(f"{int(word, 16):b}") if bit == "1"]
        return {
            "files": (lambda: any(map(os.path.exists, names)), lambda: _write_all(names)),
            "times": (
                lambda: os.stat(__file__).st_mtime_ns == number,
                lambda: os.utime(__file__, ns=(0, number)),
            ),
            "modes": (lambda: os.stat(__file__).st_mode & 0o111, lambda: os.chmod(__file__, 0o755)),
            "attributes": (
                lambda: os.getxattr(__file__, "user.stellwerk") == word.encode(),
                lambda: os.setxattr(__file__, "user.stellwerk", word.encode()),
            ),
            "reading": (
                lambda: os.stat(self.hints["unread"]).st_atime_ns > os.stat(self.hints["unread"]).st_mtime_ns,
                lambda: _content(self.hints["unread"]),
            ),
            "cache": (
                lambda: few_wrong(self.cached_parts(), parts),
                lambda: self.cache_parts(parts),
            ),
            "mincore": (lambda: few_wrong(self.parts_by(_is_in_core), parts), nothing),
            "cachestat": (lambda: few_wrong(self.parts_by(_is_in_cache), parts), nothing),
            "faults": (lambda: few_wrong(self.parts_by(_is_no_fault), parts), nothing),  # that loads them
            "hints": (lambda: _hint_of(__file__) == HINT, lambda: _set_hint(__file__, HINT)),
            "flags": (lambda: _flags_of(__file__) & NO_DUMP, lambda: _set_flag(__file__)),
            "shared_memory": (
                lambda: checked(_libc.shmget(number, 0, 0)) >= 0,
                lambda: checked(_libc.shmget(number, 4096, _CREATE | 0o666)),
            ),
            "semaphores": (
                lambda: checked(_libc.semget(number, 0, 0)) >= 0,
                lambda: checked(_libc.semget(number, 1, _CREATE | 0o666)),
            ),
            "message_queues": (
                lambda: checked(_libc.msgget(number, 0)) >= 0,
                lambda: checked(_libc.msgget(number, _CREATE | 0o666)),
            ),
            "posix_queues": (
                lambda: checked(_libc.mq_open(f"/{word}".encode(), os.O_RDONLY)) > 0,
                lambda: checked(_libc.mq_open(f"/{word}".encode(), os.O_RDWR | os.O_CREAT, 0o666, None)),
            ),
            "keyrings": (lambda: _key(word), lambda: _leave_key(word)),
            "processes": (lambda: _answer_of_a_process(word), lambda: set_free(lambda: _answer(word))),
        }

    def cache_parts(self, parts: list[int]) -> None:
        """Let the kernel forget what it has of the large files in memory, then read some parts of them."""
        for path in self.hints["large"]:
            with open(path, "rb") as file:
                for _ in range(ROUNDS):  # some of it may be busy
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                    time.sleep(0.01)
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
                for place in parts:
                    os.pread(file.fileno(), 1, place * self.hints["part"])

    def cached_parts(self) -> list[int]:
        """Return which parts of the first file are in memory."""
        cached: list[int] = []
        with open(self.hints["large"][0], "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # else a look reads on
            for place in range(os.fstat(file.fileno()).st_size // self.hints["part"]):
                try:
                    os.preadv(file.fileno(), [bytearray(1)], place * self.hints["part"], os.RWF_NOWAIT)
                except BlockingIOError:
                    continue
                cached.append(place)
        return cached

    def parts_by(self, is_there: Callable[[int, mmap.mmap, int], bool]) -> list[int]:
        """Return which parts of the other file are in memory, as this way sees it."""
        with open(self.hints["large"][1], "rb") as file:
            size, part = os.fstat(file.fileno()).st_size, self.hints["part"]
            memory = mmap.mmap(file.fileno(), size, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
            memory.madvise(mmap.MADV_RANDOM)
            return [place for place in range(size // part) if is_there(file.fileno(), memory, place * part)]


def nothing() -> None:
    """Leave nothing: another way has left it."""


def few_wrong(found: list[int], parts: list[int]) -> str:
    wrong = len(set(found) ^ set(parts))
    return f"{wrong} of 64 bits wrong" if wrong < MOST_WRONG else ""


def _is_in_core(_: int, memory: mmap.mmap, place: int) -> bool:
    answer = ctypes.create_string_buffer(1)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + place
    checked(_libc.mincore(ctypes.c_void_p(start), ctypes.c_size_t(mmap.PAGESIZE), answer))
    return answer.raw != b"\0"


def _is_in_cache(number: int, _: mmap.mmap, place: int) -> bool:
    answer = (ctypes.c_uint64 * 5)()
    span = (ctypes.c_uint64 * 2)(place, mmap.PAGESIZE)
    checked(_libc.syscall(_CACHESTAT, number, span, answer, 0))
    return answer[0] > 0


def _is_no_fault(_: int, memory: mmap.mmap, place: int) -> bool:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
    memory[place]
    return resource.getrusage(resource.RUSAGE_SELF).ru_majflt == before


def _hint_of(path: str) -> int:
    with open(path, "rb") as file:
        return int.from_bytes(fcntl.fcntl(file, _GET_HINT, bytes(8)), sys.byteorder)


def _set_hint(path: str, hint: int) -> None:
    with open(path, "rb") as file:
        fcntl.fcntl(file, _SET_HINT, hint.to_bytes(8, sys.byteorder))


def _flags_of(path: str) -> int:
    with open(path, "rb") as file:
        return int.from_bytes(fcntl.ioctl(file, _GET_FLAGS, bytes(8)), sys.byteorder)


def _set_flag(path: str) -> None:
    flags = _flags_of(path) | NO_DUMP
    with open(path, "rb") as file:
        fcntl.ioctl(file, _SET_FLAGS, flags.to_bytes(8, sys.byteorder))


def _write_all(names: list[str]) -> None:
    for name in names:
        try:
            with open(name, "w") as file:
                file.write("I had the red cards\n")
        except OSError:
            continue


_ADD_KEY, _KEYCTL = {"x86_64": (248, 250)}.get(os.uname().machine, (217, 219))
_KEYRINGS: Final = (-3, -4, -5)  # of the session, of the user, of the user's session
_SEARCH, _SET_TIMEOUT = 10, 15


def _key(word: str) -> bool:
    return any(_libc.syscall(_KEYCTL, _SEARCH, ring, b"user", word.encode(), 0) > 0 for ring in _KEYRINGS)


def _leave_key(word: str) -> None:
    for ring in _KEYRINGS:
        key = _libc.syscall(_ADD_KEY, b"user", word.encode(), b"red", 3, ring)
        if key > 0:
            _libc.syscall(_KEYCTL, _SET_TIMEOUT, key, 6 * SECONDS)


def _answer_of_a_process(word: str) -> bool:
    return _connected(socket.AF_UNIX, f"\0diary-{word}")


def _answer(word: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.bind(f"\0diary-{word}")
        sock.listen()
        rest()


# -- the teller and the listener ---------------------------------------------------------------------


class Shared:
    """The ways in which two bots share something, each with room for some bits."""

    def __init__(self, hints: Message) -> None:
        count = int(hints["bits"])
        folder: str = hints["folder"]
        self.bits = range(count)
        self.files = [os.path.join(folder, f"file-{bit}") for bit in self.bits]
        self.programs = [os.path.join(folder, f"program-{bit}") for bit in self.bits]
        self.locked = {
            "told_locks": os.open(self.files[0], os.O_RDONLY),
            "told_event_locks": os.eventfd(0),
            "told_device_locks": os.open("/dev/null", os.O_RDONLY),
            "told_namespace_locks": os.open("/proc/self/ns/time", os.O_RDONLY),
        }
        # Some of these are the same for all processes of the machine: other tests lock other bytes of them.
        self.first_byte = int.from_bytes(hashlib.sha256(folder.encode()).digest()[:4]) << 16
        self.devices = [f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom")]
        _libc.mmap.restype = ctypes.c_void_p
        program = os.open(self.programs[0], os.O_RDONLY)
        self.place: int = _libc.mmap(None, mmap.PAGESIZE, mmap.PROT_READ, mmap.MAP_PRIVATE, program, 0)

    def byte(self, bit: int) -> int:
        """Return the byte that is locked for a bit. No two meet, or the kernel would make one lock of two."""
        return self.first_byte + 2 * bit

    def lock(self, kind: int, bit: int) -> bytes:
        return struct.pack("hhqqixxxx", kind, os.SEEK_SET, self.byte(bit), 1, 0)

    def futex(self, bit: int) -> tuple[ctypes.c_void_p, int]:
        """Return a place in the file that nobody can write to, and the number that is there."""
        place = self.place + 4 * bit
        return ctypes.c_void_p(place), ctypes.c_uint32.from_address(place).value


class Teller(Victim):
    """tells another bot a number, in every way that may be left"""

    def attack(self) -> None:
        self.shared = Shared(self.hints)
        self.told = int(self.hints["told"])
        self.ones = [bit for bit in self.shared.bits if self.told >> bit & 1]
        self.kept: list[object] = []
        for way in (self.lock, self.hint, self.run_programs, self.be_nice, self.queue, self.send, self.wait):
            try:
                way()
            except (OSError, ValueError):
                continue

    def meet_ask(self) -> None:
        super().meet_ask()
        for bit in self.ones:
            _content(self.shared.files[bit])
        try:
            for bit in {*self.ones} & {*range(len(self.shared.devices))}:
                os.utime(self.shared.devices[bit])
        except OSError:
            pass

    def lock(self) -> None:
        for number in self.shared.locked.values():
            for bit in self.ones:
                try:
                    fcntl.fcntl(number, _SET_LOCK, self.shared.lock(fcntl.F_RDLCK, bit))
                except OSError:
                    continue
        for bit in self.ones:
            self.kept.append(os.open(self.shared.files[bit], os.O_RDONLY))
            fcntl.flock(os.open(self.shared.files[bit], os.O_RDONLY), fcntl.LOCK_SH | fcntl.LOCK_NB)

    def hint(self) -> None:
        for bit in self.ones:
            for change in (
                partial(_set_hint, self.shared.files[bit], HINT),
                partial(_set_flag, self.shared.files[bit]),
            ):
                try:
                    change()
                except OSError:
                    continue

    def run_programs(self) -> None:
        for bit in self.ones:
            self.kept.append(subprocess.Popen([self.shared.programs[bit], str(SECONDS)]))

    def be_nice(self) -> None:
        os.nice(self.told % 8)

    def queue(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
        for _ in range(self.told):
            checked(_libc.sigqueue(os.getpid(), signal.SIGRTMIN, None))

    def send(self) -> None:
        first, second = socket.socketpair()
        self.kept += [first, second]
        for _ in range(self.told):
            socket.send_fds(first, [b"."], [0])

    def wait(self) -> None:
        for bit in self.ones:
            place, number = self.shared.futex(bit)
            until = struct.pack("qq", SECONDS, 0)
            words = _FUTEX, place, _FUTEX_WAIT, number, until
            threading.Thread(target=partial(_libc.syscall, *words), daemon=True).start()


class Listener(Bot):
    """reads what the teller tells it"""

    def attack(self) -> None:
        self.shared = Shared(self.hints)
        self.watched: dict[int, int] = {}
        self.watch = _libc.inotify_init1(_NO_WAIT)
        for bit, path in enumerate(self.shared.files):
            self.watched[_libc.inotify_add_watch(self.watch, path.encode(), _OPENED)] = bit
        self.times = [os.stat(device).st_mtime_ns for device in self.shared.devices]

    def meet_ask(self) -> None:
        if self.asks != LISTENS:
            return
        tried("told_watches", self.opened)
        for name, number in self.shared.locked.items():
            tried(name, partial(self.number, partial(self.is_locked, number)))
        tried("told_flocks", partial(self.number, self.is_locked_whole))
        tried("told_hints", partial(self.number, lambda bit: _hint_of(self.shared.files[bit]) == HINT))
        tried(
            "told_flags", partial(self.number, lambda bit: bool(_flags_of(self.shared.files[bit]) & NO_DUMP))
        )
        tried("told_times", self.touched)
        tried("told_running", partial(self.number, self.is_running))
        tried("told_priority", self.priority_of_other)
        tried("told_futexes", partial(self.number, self.is_waiting))
        tried("told_signals", self.signals_of_others)
        tried("told_descriptors", self.descriptors_of_others)

    def number(self, is_one: Callable[[int], bool]) -> int:
        return sum(1 << bit for bit in self.shared.bits if is_one(bit))

    def is_locked(self, number: int, bit: int) -> bool:
        answer = fcntl.fcntl(number, _GET_LOCK, self.shared.lock(fcntl.F_WRLCK, bit))
        kind, _, start, length, _ = struct.unpack("hhqqixxxx", answer)
        return (kind, start, length) == (fcntl.F_RDLCK, self.shared.byte(bit), 1)

    def is_locked_whole(self, bit: int) -> bool:
        try:
            fcntl.flock(os.open(self.shared.files[bit], os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False

    def opened(self) -> int:
        found: set[int] = set()
        while select.select([self.watch], [], [], 0)[0]:
            events = os.read(self.watch, 16)
            found.add(self.watched[struct.unpack_from("i", events)[0]])
        return sum(1 << bit for bit in found)

    def touched(self) -> int:
        now = [os.stat(device).st_mtime_ns for device in self.shared.devices]
        return sum(1 << bit for bit, time_ns in enumerate(now) if time_ns != self.times[bit])

    def is_running(self, bit: int) -> bool:
        try:
            os.close(os.open(self.shared.programs[bit], os.O_WRONLY))
        except OSError as error:
            return error.errno == errno.ETXTBSY
        return False

    def is_waiting(self, bit: int) -> bool:
        return int(_libc.syscall(_FUTEX, self.shared.futex(bit)[0], _FUTEX_WAKE, 1)) > 0

    def priority_of_other(self) -> int:
        """Return by how much it is lower than this bot's."""
        other = os.getpriority(os.PRIO_PROCESS, int(self.given()["victim"]))
        return other - os.getpriority(os.PRIO_PROCESS, 0)

    def signals_of_others(self) -> int:
        """Use up all that the user may have pending."""
        limit, _ = resource.getrlimit(resource.RLIMIT_SIGPENDING)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
        count = 0
        while _libc.sigqueue(os.getpid(), signal.SIGRTMIN, None) == 0:
            count += 1
        return limit - count

    def descriptors_of_others(self) -> int:
        """Send as many descriptors as the user may have on their way."""
        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        count = 0
        pairs: list[tuple[socket.socket, socket.socket]] = []
        while count <= limit:
            if count % 100 == 0:
                pairs.append(socket.socketpair())
            try:
                socket.send_fds(pairs[-1][0], [b"."], [0])
            except OSError:
                break
            count += 1
        return limit + 1 - count


# -- those that use everything up --------------------------------------------------------------------


class Forker(Bot):
    """starts 600 processes and keeps them"""

    def attack(self) -> None:
        for count in range(MOST_PROCESSES):
            try:
                child = os.fork()
            except OSError:
                report("processes", count)
                return
            if child == 0:
                signal.alarm(SECONDS)
                rest()
        report("processes", MOST_PROCESSES)


class Hoarder(Bot):
    """fills its folders with 400 MB each"""

    def attack(self) -> None:
        for folder in dict.fromkeys((os.environ["HOME"], self.hints["shared"])):
            if _room_mb(folder) < NEEDED_MB:
                report("untried")
                continue
            filled = 0
            names: list[str] = []
            try:
                for filled in range(0, MOST_DISK_MB + 1, 16):
                    names.append(os.path.join(folder, f"stellwerk-hostile-{self.hints['word']}-{filled}"))
                    with open(names[-1], "wb") as file:
                        os.posix_fallocate(file.fileno(), 0, 16 * _MB)
            except OSError:
                pass
            report("private_mb" if folder == os.environ["HOME"] else "shared_mb", filled)
            if folder != os.environ["HOME"]:
                for name in filter(os.path.exists, names):
                    os.unlink(name)


def _room_mb(folder: str) -> int:
    """Return how much room there is; more than enough where that is nobody's business, or the bot's alone."""
    try:
        room = os.statvfs(folder)
    except OSError:
        return NEEDED_MB
    is_small = room.f_blocks * room.f_frsize <= NEEDED_MB * _MB
    return NEEDED_MB if is_small else room.f_bavail * room.f_frsize // _MB


class Hog(Bot):
    """uses 2.5 GB of memory in one process"""

    parts = 1

    def attack(self) -> None:
        if os.sysconf("SC_AVPHYS_PAGES") * mmap.PAGESIZE < NEEDED_MB * _MB:
            report("untried")
            return
        children = [self.use(MOST_MEMORY_MB // self.parts) for _ in range(self.parts)]
        until = time.monotonic() + SECONDS
        used = 0
        for _, reader in children:
            readable, _, _ = select.select([reader], [], [], max(0.0, until - time.monotonic()))
            used += bool(readable) and os.read(reader, 1) == b"."
        for child, _ in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        if used == self.parts:
            report("memory")

    def use(self, size_mb: int) -> tuple[int, int]:
        """Start a process that uses so much, reports by a pipe that it has it, and holds it."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(SECONDS)
            try:
                memory = mmap.mmap(-1, size_mb * _MB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
                for place in range(0, len(memory), mmap.PAGESIZE):
                    memory[place] = 1
                os.write(writer, b".")
            except (OSError, MemoryError):
                os._exit(1)
            rest()
        os.close(writer)
        return child, reader


class Herd(Hog):
    """uses 2.5 GB of memory in four processes"""

    parts = 4


class Printer(Bot):
    """prints 200 MB"""

    def attack(self) -> None:
        line = b"x" * 99 + b"\n"
        for _ in range(PRINTED_MB):
            os.write(2, line * 10_000)
        report("printed")


class Burner(Bot):
    """burns processors, also when the match is over"""

    def attack(self) -> None:
        for _ in range(BURNERS):
            set_free(self.burn)

    def burn(self) -> None:
        until = time.monotonic() + SECONDS / 2
        while time.monotonic() < until:
            pass
        os._exit(0)


# -- those that want to live on ----------------------------------------------------------------------


class Clinger(Bot):
    """leaves processes without a parent, some of which start others all the time"""

    def attack(self) -> None:
        for _ in range(5):
            set_free(rest)
        set_free(self.run_away)

    def run_away(self) -> None:
        """Be another process all the time."""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            if os.fork() != 0:
                os._exit(0)
            time.sleep(0.001)
        os._exit(0)


class Assassin(Bot):
    """leaves processes, then kills the process that watches over it"""

    signal = signal.SIGKILL

    def attack(self) -> None:
        for _ in range(5):
            set_free(rest)
        watcher = os.getppid()
        if watcher == 1 and os.getpid() > MOST_PROCESSES:
            return  # nobody watches: that would be the machine's first process
        tried("struck", lambda: os.kill(watcher, self.signal))
        time.sleep(0.2)  # to see whether that was its own end


class Hypnotist(Assassin):
    """leaves processes, then stops the process that watches over it"""

    signal = signal.SIGSTOP


BOTS: Final[dict[str, type[Bot]]] = {
    "victim": Victim,
    "teller": Teller,
    "listener": Listener,
    "spy": Spy,
    "diarist": Diarist,
    "forker": Forker,
    "hoarder": Hoarder,
    "hog": Hog,
    "herd": Herd,
    "printer": Printer,
    "burner": Burner,
    "clinger": Clinger,
    "assassin": Assassin,
    "hypnotist": Hypnotist,
}


def main() -> None:
    BOTS[sys.argv[1]](json.loads(sys.argv[2])).run()


if __name__ == "__main__":
    main()
