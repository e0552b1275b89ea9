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
import sys
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
NOWHERE: Final = ("192.0.2.1", 9)  # an address of TEST-NET-1

_MB: Final = 1024 * 1024
_PTRACE_SEIZE: Final = 0x4206
_NEW_USER_NAMESPACE: Final = 0x10000000
_CREATE: Final = 0o1000  # of System V's objects
_NO_WAIT: Final = 0o4000

_libc = ctypes.CDLL(None, use_errno=True)


class Bot:
    """A bot without a fault. It answers each ask with a move that follows from the ask's number."""

    def __init__(self, hints: Message) -> None:
        self.hints = hints
        self.has_attacked = False
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
            except FileNotFoundError:
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

    def sees_the_runner(self, runner: int) -> bool:
        with open(f"/proc/{runner}/stat", "rb") as file:
            return bool(file.read().rpartition(b")")[2].split()[19] == str(self.hints["started"]).encode())

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
    """reads what it has left in an earlier match, then leaves it again, wherever it can"""

    def attack(self) -> None:
        for name, (read, leave) in self.places().items():
            tried(f"diary_{name}", read)
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
                lambda: len(set(self.cached_parts()) ^ set(parts)) < MOST_WRONG,
                lambda: self.cache_parts(parts),
            ),
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
        """Let the kernel forget what it has of a large file in memory, then read some parts of it."""
        with open(self.hints["large"], "rb") as file:
            for _ in range(ROUNDS):  # some of it may be busy
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                time.sleep(0.01)
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
            for place in parts:
                os.pread(file.fileno(), 1, place * self.hints["part"])

    def cached_parts(self) -> list[int]:
        """Return which parts of the file are in memory."""
        cached: list[int] = []
        with open(self.hints["large"], "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # else a look reads on
            for place in range(os.fstat(file.fileno()).st_size // self.hints["part"]):
                try:
                    os.preadv(file.fileno(), [bytearray(1)], place * self.hints["part"], os.RWF_NOWAIT)
                except BlockingIOError:
                    continue
                cached.append(place)
        return cached


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
