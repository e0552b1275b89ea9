"""The level of the sandbox that holds on this machine, as a witness has seen it.

Law: a level is what was tried, not what was asked for. The witness (`sandbox/witness.py`) is started as every
bot is, tries what the sandbox is there to refuse, and this side looks what came of it. A level holds if all
that belongs to it was refused.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import platform
import secrets
import shutil
import socket
import stat
import sys
import tempfile
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import trio
from msgspec.structs import replace as replace_struct

from stellwerk_processes.bot_process import Confinement, Invitation, RunningBot, run_bot
from stellwerk_processes.bot_spec import BotSpec
from stellwerk_processes.sandbox import witness
from stellwerk_processes.sandbox.landlock import landlock_abi
from stellwerk_processes.sandbox.launch import User, lacking
from stellwerk_processes.sandbox.levels import (
    LEVELS,
    CgroupVersion,
    Level,
    Sandbox,
    SandboxError,
    SandboxRecord,
    is_at_least,
)

SECONDS: Final = 60  # for a witness; it needs one or two
SECONDS_TO_END: Final = 5  # for the process that it leaves: it should have ended already
PAGE: Final = "see tournament/STRANGERS.md, Sandbox"

_SET_DUMPABLE: Final = 4
_REMOVE: Final = 0  # System V's shared memory
_libc: Final = ctypes.CDLL(None)
_OUTLIVE: Final = "outlive"
_LONGEST_ANSWER: Final = 64 * 1024

WHAT: Final[Mapping[str, str]] = {
    "read_files": "read files of the organizer",
    "write_files": "leave files behind",
    "change_files": "change files of the organizer",
    "leave_memory": "leave shared memory behind",
    "loopback": "connect to other programs of this machine",
    "other_address": "connect to the server's port at another address",
    "udp": "send over UDP",
    "internet": "reach the internet",
    "abstract_sockets": "connect to abstract sockets",
    "unix_sockets": "connect to sockets in folders",
    "open_port": "open a port to others",
    "see_processes": "see other processes",
    "read_counters": "read counters of the whole machine",
    "signal_runner": "signal the runner",
    "read_runner_memory": "read the runner's memory",
    "signal_other_bots": "signal other bots",
    "slow_others": "slow other bots down",
    "read_other_bots": "read other bots' tokens",
    "see_locks": "see other bots' locks of files",
    "see_cache": "ask what the kernel has in memory of a file",
    "gain_privileges": "gain privileges",
    "user_namespaces": "make user namespaces",
    "many_processes": f"start {witness.MANY_PROCESSES} processes",
    "much_memory": "use 2 GB of memory",
    "fill_disk": "use more disk than it has",
    _OUTLIVE: "live on after its end",
}
"""What is tried, in words that continue "a bot could"."""

_OF_THE_NETWORK: Final = frozenset(
    {"loopback", "other_address", "udp", "internet", "unix_sockets", "open_port"}
)
_OF_LEVEL: Final[Mapping[Level, frozenset[str]]] = {
    "none": frozenset({_OUTLIVE}),
    "limits": frozenset({"gain_privileges", "many_processes"}),
    "landlock": frozenset(
        {
            *("read_files", "write_files", "change_files", "leave_memory"),
            *("read_runner_memory", "read_other_bots", "slow_others", "read_counters"),
            *("see_locks", "see_cache", "open_port"),
        }
    ),
    "namespace": frozenset(
        {
            *_OF_THE_NETWORK,
            "abstract_sockets",
            "see_processes",
            "signal_runner",
            "signal_other_bots",
            "user_namespaces",
            "fill_disk",
        }
    ),
    "full": frozenset({"much_memory"}),
}
_RARELY_BY_WRAPS: Final = frozenset(
    {"many_processes", "fill_disk", "user_namespaces", "read_counters", "see_locks", "see_cache"}
)
"""What does not count when an organizer's own command is compared with a level; the record has it."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A confinement with the level that holds, and what is known of it."""

    confinement: Confinement
    record: SandboxRecord


def hide_memory() -> None:
    """Let no other process of this user read this one's memory, which holds tokens and seeds. Programs that
    it starts are as they would be."""
    _libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0)


async def resolve(confinement: Confinement) -> Resolved:
    """Return the confinement with the level that holds here: the one that is asked for, or for `auto` the
    highest. SandboxError if that does not hold, or is below the one that is required."""
    sandbox = confinement.sandbox
    if confinement.wrap:
        return await _wrapped(confinement)
    problems: list[str] = []
    for level in reversed(LEVELS) if sandbox.level == "auto" else (sandbox.level,):
        if sandbox.require is not None and not is_at_least(level, sandbox.require):
            raise SandboxError(
                f"the sandbox must be at least {sandbox.require}: {'; '.join(problems)} ({PAGE})"
            )
        attempt = await try_level(confinement, level)
        if attempt.problem:
            problems.append(f"{level}: {attempt.problem}")
        else:
            certain = replace(confinement, sandbox=replace(sandbox, level=level))
            return Resolved(certain, attempt.record)
    raise SandboxError(f"the sandbox does not work here: {'; '.join(problems)} ({PAGE})")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One level, tried. `problem` says why it does not hold, in one line; empty if it does."""

    level: Level
    record: SandboxRecord
    problem: str = ""


async def try_level(confinement: Confinement, level: Level) -> Attempt:
    """Let the witness try a level. Never raises for what the machine lacks."""
    sandbox = replace(confinement.sandbox, level=level)
    unseen = _seen(level, confinement, dict.fromkeys(WHAT, witness.UNTRIED))
    if problem := lacking(level):
        return Attempt(level, unseen, problem)
    try:
        seen, user, cgroup = await _testimony(replace(confinement, sandbox=sandbox))
    except (OSError, ValueError, trio.TooSlowError) as error:
        why = getattr(error, "strerror", None) or str(error) or "the witness did not answer in time"
        return Attempt(level, unseen, str(why).removeprefix("sandbox: "))
    record = replace_struct(_seen(level, confinement, seen), user=user, cgroup=cgroup)
    missing = [name for name in record.allowed if name in _expected(sandbox, level, record)]
    if missing:
        return Attempt(level, record, f"a bot could {_listed(WHAT[name] for name in missing)}")
    return Attempt(level, record)


def describe(record: SandboxRecord) -> str:
    """Return a sentence about the sandbox for people."""
    who = {
        "own": "each as a user of its own",
        "runner": "as the runner's own user",
        "root_without_powers": "as root without its capabilities",
    }[record.user]
    name = f"a wrapping command, about as {record.level}" if record.wrapped else record.level
    allowed = [WHAT[name] for name in record.allowed if name in WHAT]
    could = f"a bot could {_listed(allowed)}" if allowed else "everything that was tried was refused"
    untried = f"; not tried: {_listed(WHAT[name] for name in record.untried)}" if record.untried else ""
    as_whom = "" if record.wrapped else f"bots ran {who}; "
    return f"{name}: {as_whom}{could}{untried}"


def _expected(sandbox: Sandbox, level: Level, record: SandboxRecord) -> frozenset[str]:
    """Return what must be refused at a level. Limits by user do not hold for root."""
    names = {name for each in LEVELS if is_at_least(level, each) for name in _OF_LEVEL[each]}
    if sandbox.network:
        names -= _OF_THE_NETWORK
    if record.user == "root_without_powers":
        names -= {"many_processes"}
    if not landlock_abi():  # `namespace` holds without, but cannot hide them
        names -= {"read_counters"}
    return frozenset(names)


async def _wrapped(confinement: Confinement) -> Resolved:
    """Let the witness try what the organizer's own command refuses. The level is the highest that fits."""
    try:
        seen, _, _ = await _testimony(confinement)
    except (OSError, ValueError, trio.TooSlowError):
        seen = dict.fromkeys(WHAT, witness.UNTRIED)
    level: Level = "none"
    for each in LEVELS:
        names = _OF_LEVEL[each] - _RARELY_BY_WRAPS
        if any(seen.get(name) != witness.REFUSED for name in names):
            break
        level = each
    required = confinement.sandbox.require
    if required is not None and not is_at_least(level, required):
        raise SandboxError(
            f"the sandbox must be at least {required}, and the wrap only does what {level} does"
        )
    return Resolved(confinement, replace_struct(_seen(level, confinement, seen), wrapped=True))


def _seen(level: Level, confinement: Confinement, seen: Mapping[str, str]) -> SandboxRecord:
    """Return the record of what a witness has seen here."""
    return SandboxRecord(
        level=level,
        asked=confinement.sandbox.level,
        refused=_with(witness.REFUSED, seen),
        allowed=_with(witness.DONE, seen),
        untried=_with(witness.UNTRIED, seen),
        kernel=platform.release(),
        landlock_abi=landlock_abi(),
    )


def _with(result: str, seen: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for name in WHAT if seen.get(name, witness.UNTRIED) == result)


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)


# -- the witness -------------------------------------------------------------------------------------


async def _testimony(confinement: Confinement) -> tuple[dict[str, str], User, CgroupVersion]:
    """Start the witness, and return what it could do, as whom it ran, and in which control groups."""
    failure: OSError | ValueError | None = None
    testimony: tuple[dict[str, str], User, CgroupVersion] | None = None
    with _offered(confinement) as outside, trio.fail_after(SECONDS):
        async with trio.open_nursery() as nursery:
            try:
                testimony = await _ask(nursery, confinement, outside)
            except (OSError, ValueError) as error:
                failure = error  # the nursery would wrap it
            nursery.cancel_scope.cancel()
    if testimony is None:
        assert failure is not None
        raise failure
    return testimony


async def _ask(
    nursery: trio.Nursery, confinement: Confinement, outside: _Outside
) -> tuple[dict[str, str], User, CgroupVersion]:
    other = await _start(nursery, confinement, "wait", outside)
    waiting = json.loads(await _line(other))
    offer = {**outside.offer, "other": other.pid, "other_token": outside.token}
    bot = await _start(nursery, confinement, json.dumps(offer), outside)
    answer: dict[str, Any] = json.loads(await _line(bot))
    port = answer.pop("port")
    has_port = bool(port) and await _welcomes(port, outside.name)
    assert bot.transport is not None
    await bot.transport.send_all(b"\n")
    await bot.ended()
    has_ended = await _is_closed(bot)
    is_apart = answer.pop("pid") != bot.pid and waiting["pid"] != other.pid
    seen: dict[str, str] = {name: answer[name] for name in WHAT if name in answer}
    if is_apart:  # the numbers that it was given mean other processes to it, or none
        for name in ("signal_runner", "signal_other_bots", "slow_others"):
            seen[name] = witness.REFUSED
    for name, has_arrived in outside.arrived().items():
        seen[name] = witness.DONE if has_arrived else witness.REFUSED
    seen["open_port"] = witness.DONE if has_port else witness.REFUSED
    seen[_OUTLIVE] = witness.REFUSED if has_ended else witness.DONE
    return seen, bot.user, bot.cgroup_version


class _Outside:
    """The targets of the witness, if it can reach them: files, sockets, a runner."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack) -> None:
        self.token = secrets.token_hex(16)
        self.name = f"stellwerk-witness-{self.token}"
        self.folders = [str(folder), *dict.fromkeys((tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm"))]
        secret = folder / "secret"
        secret.write_text(self.token)
        secret.chmod(0o644)
        self._changeable = folder / "changeable"
        self._changeable.write_text(self.token)
        self._changeable.chmod(0o666)
        self._memory_key = secrets.randbelow(2**31 - 1) + 1
        folder.chmod(0o777)
        self._sockets: dict[str, socket.socket] = {}

        def bound(name: str, family: socket.AddressFamily, kind: socket.SocketKind, address: Any) -> Any:
            sock = stack.enter_context(socket.socket(family, kind))
            sock.setblocking(False)
            sock.bind(address)
            if kind == socket.SOCK_STREAM:
                sock.listen()
            self._sockets[name] = sock
            return sock.getsockname()

        tcp, udp = socket.SOCK_STREAM, socket.SOCK_DGRAM
        self.port: int = bound("server", socket.AF_INET, tcp, ("127.0.0.1", 0))[1]
        bound("other_address", socket.AF_INET, tcp, ("127.0.0.2", self.port))
        loopback = bound("loopback", socket.AF_INET, tcp, ("127.0.0.1", 0))[1]
        over_udp = bound("udp", socket.AF_INET, udp, ("127.0.0.1", 0))[1]
        bound("abstract_sockets", socket.AF_UNIX, tcp, "\0" + self.name)
        unix = str(folder / "socket")
        bound("unix_sockets", socket.AF_UNIX, tcp, unix)
        os.chmod(unix, 0o777)
        self.offer: dict[str, Any] = {
            "secret": str(secret),
            "home": os.path.expanduser("~"),
            "home_size": _size(os.path.expanduser("~")),
            "folders": self.folders,
            "changeable": str(self._changeable),
            "memory_key": self._memory_key,
            "name": self.name,
            "port": self.port,
            "loopback": loopback,
            "udp": over_udp,
            "abstract": self.name,
            "unix": unix,
            "has_route": _has_route(),
            "runner": os.getpid(),
            "runner_started": _started(os.getpid()),
            "free_disk": shutil.disk_usage(folder).free,
            "free_memory": os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        }

    def arrived(self) -> dict[str, bool]:
        """Return what the witness has reached, by the names of what it tried."""
        arrived = {name: _has_come(sock) for name, sock in self._sockets.items() if name != "server"}
        arrived["write_files"] = False
        for folder in self.folders:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, self.name))
                arrived["write_files"] = True
        mode = stat.S_IMODE(self._changeable.stat().st_mode)
        arrived["change_files"] = mode != 0o666 or self._changeable.read_text() != self.token
        memory = _libc.shmget(self._memory_key, 0, 0)
        arrived["leave_memory"] = memory >= 0
        if memory >= 0:
            _libc.shmctl(memory, _REMOVE, None)
        return arrived


@contextlib.contextmanager
def _offered(confinement: Confinement) -> Generator[_Outside]:
    folder = Path(tempfile.mkdtemp(prefix="stellwerk-outside-"))
    try:
        with contextlib.ExitStack() as stack:
            outside = _Outside(folder, stack)
            outside.offer["disk"] = confinement.sandbox.disk_mb * 1024 * 1024
            outside.offer["uses_memory"] = confinement.sandbox.level == "full"
            yield outside
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _start(nursery: trio.Nursery, confinement: Confinement, word: str, outside: _Outside) -> RunningBot:
    spec = _witness(word)
    invitation = Invitation("witness", f"tcp://127.0.0.1:{outside.port}", outside.token, "")

    async def run(task_status: trio.TaskStatus[RunningBot]) -> None:
        await run_bot(spec, invitation, confinement, task_status=task_status)

    bot: RunningBot = await nursery.start(run)
    return bot


def _witness(word: str) -> BotSpec:
    program = os.path.abspath(witness.__file__)
    command = (os.path.realpath(sys.executable), "-I", "-S", program, word)
    return BotSpec("witness", command, transport="stdio", folder=os.path.dirname(program))


async def _line(bot: RunningBot) -> bytes:
    """Return the one line that the witness prints. ValueError if it ends without."""
    assert bot.transport is not None
    answer = bytearray()
    while not answer.endswith(b"\n"):
        data = await bot.transport.receive_some(_LONGEST_ANSWER)
        if not data or len(answer) > _LONGEST_ANSWER:
            report = await bot.ended()
            last = report.last_lines[-1] if report.last_lines else report.cause
            raise ValueError(f"the witness could not run: {last}")
        answer += data
    return bytes(answer)


async def _welcomes(port: int, name: str) -> bool:
    """Return whether the witness says its name at this port."""
    try:
        with trio.fail_after(witness.SECONDS):
            async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
                return await stream.receive_some(len(name)) == name.encode()
    except (OSError, trio.TooSlowError, trio.BrokenResourceError):
        return False


async def _is_closed(bot: RunningBot) -> bool:
    """Return whether nobody has the bot's output open any more."""
    assert bot.transport is not None
    async with bot.transport:
        with trio.move_on_after(SECONDS_TO_END):
            while await bot.transport.receive_some(_LONGEST_ANSWER):
                pass
            return True
    return False


def _has_come(sock: socket.socket) -> bool:
    try:
        if sock.type == socket.SOCK_DGRAM:
            sock.recv(64)
        else:
            sock.accept()[0].close()
    except OSError:
        return False
    return True


def _size(folder: str) -> int:
    """Return how many entries a folder has; more than one, for a lonely one may be the way to a program."""
    with contextlib.suppress(OSError):
        return max(2, len(os.listdir(folder)))
    return 2


def _has_route() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect(witness.NOWHERE)  # sends nothing
        except OSError:
            return False
    return True


def _started(pid: int) -> int:
    """Return when a process was started, which tells it from another one with its id."""
    return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19])
