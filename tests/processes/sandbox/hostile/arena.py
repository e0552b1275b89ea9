"""A program: let hostile bots play real matches at a level of the sandbox, and find out what they achieved.

`python arena.py LEVEL BOT...` prints JSON. It runs as the user who is to be the organizer: what a bot can do
depends on that. Each bot of `bots.py` plays one match against a victim; the diarist plays two. What a bot
claims counts only where nobody else can know: secrets are compared, files, modes, signals, connections and
processes are looked at from outside.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import resource
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import msgspec
import trio

from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_processes.bench.levels import DISK_MB, PROCESSES, Confinement, Level
from stellwerk_processes.bench.resolve_sandbox import hide_memory
from stellwerk_processes.bench.supervise import descendants
from stellwerk_processes.bench.witness import NOWHERE
from stellwerk_processes.bot_log import MatchLogs
from stellwerk_processes.bot_spec import BotSpec
from stellwerk_processes.seat_report import Played
from stellwerk_processes.started_match import BotMatch, MatchResult, NoResultError, play_match
from stellwerk_server.match.plan import MatchPlan
from stellwerk_server.operate.settings import Time, clocks_of

BOTS_FILE: Final = Path(__file__).with_name("bots.py")
PATIENCE: Final = 300.0  # seconds for a match, which takes about one where nothing else runs
TRAINS: Final = 12  # for each player: a short match
MEMORY_MB: Final = 1024
MOST_GROWTH_MB: Final = 64  # of the runner, which keeps 128 kB of what a bot prints
MOST_LOG_MB: Final = 17
LARGE: Final = ("large", "larger")  # each look at one of them may change what is in memory
PARTS, PART = 64, 256 * 1024  # of a large file, in bytes: the diarist remembers some of them
TOLD_BITS: Final = 8  # that one bot tells another
NOISE: Final = {"told_signals": 8}  # of a number that others of the user change, too
NEW_PROCESSES: Final = 0.1  # seconds for what is left to show

_MB: Final = 1024 * 1024
_MEMORY_LIMITED: Final = ("hog", "herd")

ATTACKS: Final[Mapping[str, Mapping[str, str]]] = {
    "spy": {
        "read_secret": "read a file of the organizer's",
        "change_files": "change a file of the organizer's",
        "change_modes": "open a file of the organizer's to everybody (chmod)",
        "read_private": "read a file of another bot's",
        "token_environ": "take another bot's token from its environment",
        "token_commands": "find a token in a command line",
        "victim_memory": "read another bot's memory",
        "runner_memory": "read the runner's memory",
        "trace_victim": "trace another bot",
        "see_processes": "see other processes",
        "signal_victim": "signal another bot",
        "signal_runner": "signal the runner",
        "slow_victim": "slow another bot down (nice, scheduler, limits)",
        "slow_runner": "change the runner's limits",
        "user_namespace": "be root in a namespace of its own",
        "leave_cores": "leave its cores (cores_per_bot)",
        "loopback": "connect to a program of this machine",
        "other_address": "connect to the server's port at another address",
        "udp": "send over UDP",
        "internet": "reach the internet",
        "open_port": "open a port to programs of this machine",
        "unix_socket": "connect to a socket in a folder",
        "abstract_socket": "connect to an abstract socket",
    },
    "diarist": {
        "diary_files": "find its file again in the next match",
        "diary_times": "... the time that it gave its program's file",
        "diary_modes": "... the mode that it gave its program's file",
        "diary_attributes": "... an attribute of its program's file",
        "diary_reading": "... which of its own files it has read (access times)",
        "diary_cache": "... which of its own files are in the kernel's memory",
        "diary_mincore": "... the same, by mincore",
        "diary_cachestat": "... the same, by cachestat",
        "diary_faults": "... the same, by the page faults that it has",
        "diary_hints": "... a hint of its program's file (F_SET_RW_HINT)",
        "diary_flags": "... a flag of its program's file (chattr)",
        "diary_shared_memory": "... shared memory (System V)",
        "diary_semaphores": "... semaphores (System V)",
        "diary_message_queues": "... a message queue (System V)",
        "diary_posix_queues": "... a message queue (POSIX)",
        "diary_keyrings": "... a key in a keyring",
        "diary_processes": "... a process of its own",
    },
    "listener": {
        "told_locks": "read what another bot tells it by locks of bytes of a file",
        "told_flocks": "... by locks of whole files (flock)",
        "told_event_locks": "... by locks of event descriptors",
        "told_device_locks": "... by locks of /dev/null",
        "told_namespace_locks": "... by locks of a namespace's file",
        "told_watches": "... by opening files (inotify)",
        "told_hints": "... by hints of files (F_SET_RW_HINT)",
        "told_flags": "... by flags of files (chattr)",
        "told_times": "... by the times of devices",
        "told_running": "... by the programs that it runs (ETXTBSY)",
        "told_priority": "... by its priority",
        "told_signals": "... by how many signals of its user are pending",
        "told_descriptors": "... by how many descriptors of its user are on their way",
        "told_futexes": "... by waiting at a page of a file (futex)",
    },
    "watcher": {
        "count_processes": "count the processes that another bot starts",
        "count_files": "... the files, pipes and events that it opens",
        "count_sockets": "... its sockets and connections",
        "count_memory": "... the memory that it uses, and what it writes",
        "count_calls": "... its locks, signals and asynchronous calls",
        "count_numbers": "... the pipes that it opens, by the numbers of new ones (inodes)",
    },
    "forker": {
        "processes": "start 600 processes",
        "starve": "leave another bot no process to start",
    },
    "hoarder": {
        "private_disk": f"fill its folder with more than {DISK_MB} MB",
        "shared_disk": f"fill /tmp with more than {DISK_MB} MB",
    },
    "hog": {"memory": "use 2.5 GB in one process, with memory_mb = 1024"},
    "herd": {"memory_in_parts": "use 2.5 GB in four processes, with memory_mb = 1024"},
    "printer": {"print": "fill memory or disk with what it prints (200 MB)"},
    "burner": {"burn_on": "burn processors after the match"},
    "clinger": {"outlive": "live on (setsid, double fork, always another process)"},
    "assassin": {
        "kill_supervisor": "kill its supervisor",
        "outlive_supervisor": "live on after that",
    },
    "hypnotist": {"outlive_stopped": "live on after stopping its supervisor"},
}
"""What each bot tries, in words that continue "a bot could". The watcher plays no match: see `search.py`."""


class Cell(msgspec.Struct, frozen=True):
    """What came of an attack. `done` is None if it could not be tried."""

    done: bool | None
    how: str = ""


@dataclass
class Match:
    """What was seen of one match. `attacker` and `victim` are what the two have reported themselves."""

    attacker: dict[str, Any]  # JSON
    victim: dict[str, Any]
    played: Played
    secrets: Mapping[str, str]
    survivors: int
    seconds: float
    growth_mb: float
    log_mb: float
    arrived: frozenset[str]
    runner_signals: int
    told: int
    outside: dict[str, bool] = field(default_factory=dict[str, bool])


def main() -> None:
    level = msgspec.convert(sys.argv[1], Level)
    hide_memory()
    cells: dict[str, Cell] = {}
    try:
        for name in sys.argv[2:]:
            with Arena.opened(level) as arena:
                match = arena.play(name)
                if name == "diarist":
                    arena.hints["remembers"] = True
                    match = arena.play(name)
                cells |= judged(name, match)
    except NoResultError as error:
        print(json.dumps({"problem": str(error)}))
        return
    print(json.dumps({"problem": "", "cells": msgspec.to_builtins(cells)}))


class Arena:
    """The organizer's side: files, sockets and a runner that can be attacked."""

    def __init__(self, level: Level, folder: Path, stack: contextlib.ExitStack) -> None:
        self.level: Level = level
        self.word = secrets.token_hex(8)
        self.secret = f"runner-memory:{secrets.token_hex(16)}".encode()
        self.signals = 0
        self.visited: frozenset[str] = frozenset()
        self.limits = resource.getrlimit(resource.RLIMIT_CPU)
        self._stack = stack
        for each in (folder, folder / "bot", folder / "given", folder / "organizer"):
            each.mkdir(exist_ok=True)
            each.chmod(0o755)
        self.program = folder / "bot" / "bots.py"
        shutil.copyfile(BOTS_FILE, self.program)
        self.program.chmod(0o644)
        (folder / "bot" / "unread").write_text("data\n")
        for number in range(TOLD_BITS):
            (folder / "bot" / f"file-{number}").write_text("data\n")
            shutil.copyfile("/bin/sleep", folder / "bot" / f"program-{number}")
            (folder / "bot" / f"program-{number}").chmod(0o755)
        self.told = 1 << TOLD_BITS - 1 | 0x11 | secrets.randbits(TOLD_BITS)
        for name in LARGE:
            with (folder / "bot" / name).open("wb") as large:
                large.write(bytes(PARTS * PART))
                large.flush()
                os.fsync(large.fileno())  # what is not on the disk stays in memory
                os.posix_fadvise(large.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        self.given = folder / "given" / "hints"
        self.organizer = folder / "organizer"
        for name in ("secret", "results", "modes"):
            (self.organizer / name).write_text(self.word)
            (self.organizer / name).chmod(0o600)
        self.sockets: dict[str, socket.socket] = {}
        loopback = self.bound("loopback", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))[1]
        udp = self.bound("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))[1]
        self.bound("abstract_socket", socket.AF_UNIX, socket.SOCK_STREAM, f"\0arena-{self.word}")
        unix = str(self.organizer / "socket")
        self.bound("unix_socket", socket.AF_UNIX, socket.SOCK_STREAM, unix)
        os.chmod(unix, 0o777)
        self.hints = {
            "word": self.word,
            "unread": str(folder / "bot" / "unread"),
            "part": PART,
            "bits": TOLD_BITS,
            "folder": str(folder / "bot"),
            "large": [str(folder / "bot" / name) for name in LARGE],
            "remembers": False,
            "given": str(self.given),
            "secret": str(self.organizer / "secret"),
            "results": str(self.organizer / "results"),
            "modes": str(self.organizer / "modes"),
            "shared": "/tmp",
            "loopback": loopback,
            "udp": udp,
            "unix": unix,
            "abstract": f"arena-{self.word}",
            "runner": os.getpid(),
            "started": Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19],
        }
        signal.signal(signal.SIGURG, self.note)

    @staticmethod
    @contextlib.contextmanager
    def opened(level: Level) -> Generator[Arena]:
        folder = Path(tempfile.mkdtemp(prefix="stellwerk-arena-"))
        try:
            with contextlib.ExitStack() as stack:
                arena = Arena(level, folder, stack)
                stack.callback(arena.clean_up)
                yield arena
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def bound(self, name: str, family: socket.AddressFamily, kind: socket.SocketKind, address: Any) -> Any:
        """Open a socket that an attack may reach. Any: an address is what its family makes of it."""
        sock = self._stack.enter_context(socket.socket(family, kind))
        sock.setblocking(False)
        sock.bind(address)
        if kind == socket.SOCK_STREAM:
            sock.listen()
        self.sockets[name] = sock
        return sock.getsockname()

    def note(self, *_: object) -> None:
        self.signals += 1

    def play(self, name: str) -> Match:
        """Play a match of this bot against the victim."""
        memory = MEMORY_MB if name in _MEMORY_LIMITED else None
        bind, hidden = (str(self.given.parent),), (str(self.organizer),)
        confinement = Confinement(level=self.level, bind=bind, hidden=hidden, memory_mb=memory)
        self.given.write_text("")  # a bot may not see a file that is made while it plays
        self.given.chmod(0o644)
        given: dict[str, Any] = {}
        logs = self._stack.enter_context(tempfile.TemporaryDirectory())
        before, peak = time.monotonic(), _peak_mb()

        async def play() -> MatchResult:
            with trio.fail_after(PATIENCE):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self.give, given)
                    nursery.start_soon(self.visit)
                    try:
                        return await play_match(self.planned(name, Path(logs)), confinement)
                    finally:
                        nursery.cancel_scope.cancel()

        try:
            result = trio.run(play)
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        victim, attacker = result.seats
        if "secret" not in (told := _found(victim.printed)):
            raise NoResultError(f"the victim did not play to the end: {victim.printed[-1:]}")
        seconds = time.monotonic() - before
        return Match(
            attacker=_found(attacker.printed),
            victim=told,
            played=attacker,
            secrets={
                "token": given["token"],
                "runner": _digest(self.secret),
                "file": _digest(self.word.encode()),
            },
            survivors=len(self.survivors()),
            seconds=seconds,
            growth_mb=_peak_mb() - peak,
            log_mb=sum(file.stat().st_size for file in Path(logs).iterdir()) / _MB,
            arrived=frozenset(name for name, sock in self.sockets.items() if _has_come(sock)) | self.visited,
            runner_signals=self.signals,
            told=self.told,
            outside={
                "change_files": (self.organizer / "results").read_text() != self.word,
                "change_modes": (self.organizer / "modes").stat().st_mode & 0o777 != 0o600,
                "slow_runner": resource.getrlimit(resource.RLIMIT_CPU) != self.limits,
            },
        )

    def planned(self, name: str, logs: Path) -> BotMatch:
        game = GameChoice("usa", 2, (), replace(shipped_board("usa"), trains=TRAINS)).make()
        names = ("teller" if name == "listener" else "victim", name)
        processors = sorted(os.sched_getaffinity(0))
        return BotMatch(
            MatchPlan("arena", game, names, bytes(32), bytes(32), clocks_of(Time(move_ms=60_000))),
            bots=tuple(self.spec(each) for each in names),
            bot_seeds=names,
            logs=MatchLogs(logs, "arena", "arena"),
            processors=tuple(frozenset({number}) for number in processors[:2]) if len(processors) > 1 else (),
        )

    def spec(self, name: str) -> BotSpec:
        command = (
            os.path.realpath(sys.executable),
            "-S",
            "-B",
            str(self.program),
            name,
            json.dumps(self.hints | {"told": self.told} if name == "teller" else self.hints),
        )
        return BotSpec(name, command, folder=str(self.program.parent))

    async def give(self, given: dict[str, Any]) -> None:
        """Find the victim and the server's port, and write them where the attacker can read them."""
        while not given:
            for pid in descendants(os.getpid()):
                given |= _seen_of_victim(pid)
            await trio.sleep(0.005)
        if "other_address" not in self.sockets:
            address = "127.0.0.2", given["port"]
            self.bound("other_address", socket.AF_INET, socket.SOCK_STREAM, address)
        self.given.write_text(json.dumps(given))

    async def visit(self) -> None:
        """Connect to the ports that bots open, and note if one says the word."""
        while not self.visited:
            own = _ports_of({os.getpid()})  # which a process that is just being started has, too
            for port in set(_ports_of(descendants(os.getpid()))) - set(own):
                with contextlib.suppress(OSError, trio.BrokenResourceError):
                    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
                        if await stream.receive_some(len(self.word)) == self.word.encode():
                            self.visited |= {"open_port"}
            await trio.sleep(0.01)

    def survivors(self) -> list[int]:
        """Return the processes that bots of this arena have left."""
        found: set[int] = set()
        until = time.monotonic() + NEW_PROCESSES
        while time.monotonic() < until:
            for folder in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):
                    words = (folder / "cmdline").read_bytes()
                    if b"bots.py\0" in words and self.word.encode() in words:
                        found.add(int(folder.name))
            time.sleep(NEW_PROCESSES / 4)
        return sorted(found)

    def clean_up(self) -> None:
        """End and remove what bots of this arena have left."""
        for pid in self.survivors():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        libc = ctypes.CDLL(None)
        number = int(self.word[:7], 16)
        libc.shmctl(libc.shmget(number, 0, 0), 0, None)
        libc.semctl(libc.semget(number, 0, 0), 0, 0)
        libc.msgctl(libc.msgget(number, 0), 0, None)
        libc.mq_unlink(f"/{self.word}".encode())
        for folder in ("/", "/tmp", "/var/tmp", "/dev/shm", "/run", "/var/lock"):
            for path in Path(folder).glob(f"stellwerk-hostile-{self.word}*"):
                with contextlib.suppress(OSError):
                    path.unlink()


# -- what came of it ---------------------------------------------------------------------------------


def judged(name: str, match: Match) -> dict[str, Cell]:
    """Return a cell for each attack of a bot."""
    found, victim = match.attacker, match.victim
    if "untried" in found:
        return {attack: Cell(None) for attack in ATTACKS[name]}
    match name:
        case "spy":
            return _judged_spy(match)
        case "diarist":
            return {attack: Cell(attack in found, str(found.get(attack, ""))) for attack in ATTACKS[name]}
        case "listener":
            told = dict.fromkeys(ATTACKS[name], match.told)
            told |= {"told_priority": match.told % 8, "told_times": match.told & 0x1F}
            return {
                attack: Cell(
                    abs(found.get(attack, 0) - number) <= NOISE.get(attack, 0),
                    f"{found.get(attack)}, told {number}",
                )
                for attack, number in told.items()
            }
        case "forker":
            count, refused = int(found.get("processes", 0)), int(victim.get("refused", 0))
            return {
                "processes": Cell(count > PROCESSES, f"{count} started"),
                "starve": Cell(refused > 0, f"{refused} refused"),
            }
        case "hoarder":
            return {
                f"{each}_disk": Cell(found.get(f"{each}_mb", 0) > DISK_MB, f"{found.get(f'{each}_mb', 0)} MB")
                for each in ("private", "shared")
            }
        case "hog" | "herd":
            how = "out of memory" if match.played.conduct.report.out_of_memory else ""
            return {attack: Cell("memory" in found, how) for attack in ATTACKS[name]}
        case "printer":
            is_too_much = match.growth_mb > MOST_GROWTH_MB or match.log_mb > MOST_LOG_MB
            how = f"runner +{match.growth_mb:.0f} MB, log {match.log_mb:.0f} MB, {match.seconds:.1f} s"
            return {"print": Cell(is_too_much or "printed" not in found, how)}
        case "assassin":
            report = match.played.conduct.report
            return {
                "kill_supervisor": Cell(match.played.conduct.ended_early, report.cause),
                "outlive_supervisor": Cell(match.survivors > 0, f"{match.survivors} left"),
            }
        case _:
            how = f"{match.survivors} left after {match.seconds:.1f} s"
            return {attack: Cell(match.survivors > 0, how) for attack in ATTACKS[name]}


def _judged_spy(match: Match) -> dict[str, Cell]:
    found, victim = match.attacker, match.victim
    proofs = {
        "read_secret": match.secrets["file"],
        "read_private": victim.get("secret"),
        "token_environ": match.secrets["token"],
        "victim_memory": victim.get("secret"),
        "runner_memory": match.secrets["runner"],
    }
    cells = {attack: Cell(attack in found) for attack in ATTACKS["spy"]}
    cells |= {attack: Cell(bool(proof) and found.get(attack) == proof) for attack, proof in proofs.items()}
    cells |= {attack: Cell(happened) for attack, happened in match.outside.items()}
    cells |= {
        attack: Cell(attack in match.arrived)
        for attack in ("loopback", "other_address", "udp", "unix_socket", "abstract_socket", "open_port")
    }
    cells["signal_victim"] = Cell(victim.get("signals", 0) > 0)
    cells["signal_runner"] = Cell(match.runner_signals > 0)
    cells["slow_victim"] = Cell(bool(victim.get("changed")))
    if not _has_route():
        cells["internet"] = Cell(None)
    if len(os.sched_getaffinity(0)) < 2:
        cells["leave_cores"] = Cell(None)
    return cells


def _found(printed: tuple[str, ...]) -> dict[str, Any]:
    """Return what a bot has reported."""
    found: dict[str, Any] = {}
    for line in printed:
        if line.startswith("found {"):
            found |= json.loads(line.removeprefix("found "))
    return found


def _seen_of_victim(pid: int) -> dict[str, Any]:
    """Return what the runner can see of a process, if it is the victim."""
    try:
        if not {b"victim", b"teller"} & set(Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")):
            return {}
        words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return {}
    variables = {name: value for name, _, value in (word.partition(b"=") for word in words)}
    port = int(variables[b"STELLWERK_ADDRESS"].rpartition(b":")[2])
    return {"victim": pid, "token": _digest(variables[b"STELLWERK_TOKEN"]), "port": port}


def _ports_of(pids: Iterable[int]) -> list[int]:
    """Return the TCP ports that these processes have open in the network of this one."""
    links: set[str] = set()
    for pid in pids:
        with contextlib.suppress(OSError):  # it may end meanwhile
            for path in Path(f"/proc/{pid}/fd").iterdir():
                with contextlib.suppress(OSError):  # so may the descriptor by which they are listed
                    links.add(os.readlink(path))
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [
        int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in links
    ]


def _has_come(sock: socket.socket) -> bool:
    try:
        if sock.type == socket.SOCK_DGRAM:
            sock.recv(64)
        else:
            sock.accept()[0].close()
    except OSError:
        return False
    return True


def _has_route() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect(NOWHERE)  # sends nothing
        except OSError:
            return False
    return True


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _digest(secret: bytes) -> str:
    return hashlib.sha256(secret).hexdigest()


if __name__ == "__main__":
    main()
