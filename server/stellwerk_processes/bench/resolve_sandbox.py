"""The level of the sandbox that holds on this machine, as a witness has seen it.

Law: a level is what was tried, not what was asked for. The witness (`witness.py`) is started as every
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
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import trio
from msgspec.structs import replace as replace_struct

from stellwerk_processes.bench import confine, witness
from stellwerk_processes.bench.invitation import Invitation
from stellwerk_processes.bench.landlock import landlock_abi
from stellwerk_processes.bench.launch import lacking
from stellwerk_processes.bench.levels import (
    LEVELS,
    TRIALS,
    CgroupVersion,
    Confinement,
    Level,
    SandboxError,
    SandboxRecord,
    User,
    Wanted,
    is_at_least,
)
from stellwerk_processes.bench.local_bot import LocalBot, start_bot
from stellwerk_processes.bot_spec import BotSpec

SECONDS: Final = 60  # for a witness; it needs one or two
SECONDS_TO_END: Final = 5  # for the process that it leaves: it should have ended already
PYTHON: Final = os.path.realpath(sys.executable)
PROGRAM: Final = os.path.abspath(witness.__file__)
PAGE: Final = "see tournament/STRANGERS.md, Sandbox"

_REMOVE: Final = 0  # System V's shared memory
_libc: Final = ctypes.CDLL(None)
_LONGEST_ANSWER: Final = 64 * 1024

_OF_THE_NETWORK: Final = frozenset(
    {"loopback", "other_address", "udp", "internet", "unix_sockets", "open_port"}
)
_RARELY_BY_WRAPS: Final = frozenset(
    {"many_processes", "fill_disk", "user_namespaces", "read_counters", "see_locks", "see_cache"}
)
"""What does not count when an organizer's own command is compared with a level; the record has it."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A confinement of a certain level, tried. `problem` says why it does not hold, in one line; empty if it
    does."""

    confinement: Confinement
    record: SandboxRecord
    problem: str = ""

    @property
    def level(self) -> Level:
        return self.record.level


def hide_memory() -> None:
    """Let no other process of this user read this one's memory, which holds tokens and seeds. Programs that
    it starts are as they would be."""
    confine.hide()


async def resolve(confinement: Confinement) -> Attempt:
    """Return the confinement with the level that holds here: the one that is asked for, or for `auto` the
    highest. SandboxError if that does not hold, or is below the one that is required."""
    wanted, required = confinement.level, confinement.require
    if confinement.wrap:
        return await _resolve_wrap(confinement)
    problems: list[str] = []
    for level in reversed(LEVELS) if wanted == "auto" else (wanted,):
        if required is not None and not is_at_least(level, required):
            raise SandboxError(f"the sandbox must be at least {required}: {'; '.join(problems)} ({PAGE})")
        attempt = await try_level(confinement, level)
        if not attempt.problem:
            return attempt
        problems.append(f"{level}: {attempt.problem}")
    raise SandboxError(f"the sandbox does not work here: {'; '.join(problems)} ({PAGE})")


async def try_level(confinement: Confinement, level: Level) -> Attempt:
    """Let the witness try a level. Never raises for what the machine lacks."""
    asked = confinement.level
    confinement = replace(confinement, level=level)
    unseen = _make_record(level, asked, dict.fromkeys(TRIALS, witness.UNTRIED))
    if problem := lacking(LEVELS[level]):
        return Attempt(confinement, unseen, problem)
    try:
        seen, user, cgroup = await _hear_witness(confinement)
    except (OSError, ValueError, trio.TooSlowError) as error:
        why = getattr(error, "strerror", None) or str(error) or "the witness did not answer in time"
        return Attempt(confinement, unseen, str(why).removeprefix("sandbox: "))
    record = replace_struct(_make_record(level, asked, seen), user=user, cgroup=cgroup)
    missing = [TRIALS[name][1] for name in record.allowed if _must_be_refused(name, confinement, record)]
    return Attempt(confinement, record, f"a bot could {', '.join(missing)}" if missing else "")


def _must_be_refused(name: str, confinement: Confinement, record: SandboxRecord) -> bool:
    """Return whether this is refused at a level on this machine. Limits by user do not hold for root, and
    without Landlock `namespace` holds, but cannot hide counters."""
    return (
        is_at_least(record.level, TRIALS[name][0])
        and not (confinement.network and name in _OF_THE_NETWORK)
        and not (record.user == "root_without_powers" and name == "many_processes")
        and not (not landlock_abi() and name == "read_counters")
    )


async def _resolve_wrap(confinement: Confinement) -> Attempt:
    """Let the witness try what the organizer's own command refuses. The level is the highest that fits."""
    try:
        seen, _, _ = await _hear_witness(confinement)
    except (OSError, ValueError, trio.TooSlowError):
        seen = dict.fromkeys(TRIALS, witness.UNTRIED)
    level: Level = "none"
    for each in LEVELS:
        names = {name for name, (since, _) in TRIALS.items() if since == each} - _RARELY_BY_WRAPS
        if any(seen.get(name) != witness.REFUSED for name in names):
            break
        level = each
    if confinement.require is not None and not is_at_least(level, confinement.require):
        raise SandboxError(
            f"the sandbox must be at least {confinement.require}, and the wrap only does what {level} does"
        )
    return Attempt(confinement, replace_struct(_make_record(level, confinement.level, seen), wrapped=True))


def _make_record(level: Level, asked: Wanted, seen: Mapping[str, str]) -> SandboxRecord:
    """Return the record of what a witness has seen here."""

    def with_result(result: str) -> tuple[str, ...]:
        return tuple(name for name in TRIALS if seen.get(name, witness.UNTRIED) == result)

    return SandboxRecord(
        level=level,
        asked=asked,
        refused=with_result(witness.REFUSED),
        allowed=with_result(witness.DONE),
        untried=with_result(witness.UNTRIED),
        kernel=platform.release(),
        landlock_abi=landlock_abi(),
    )


# -- the witness -------------------------------------------------------------------------------------


async def _hear_witness(confinement: Confinement) -> tuple[dict[str, str], User, CgroupVersion]:
    """Start the witness, and return what it could do, as whom it ran, and in which control groups."""
    failure: OSError | ValueError | None = None
    testimony: tuple[dict[str, str], User, CgroupVersion] | None = None
    with _open_targets(confinement) as outside, trio.fail_after(SECONDS):
        async with trio.open_nursery() as nursery:
            try:
                testimony = await _let_it_try(nursery, confinement, outside)
            except (OSError, ValueError) as error:
                failure = error  # the nursery would wrap it
            nursery.cancel_scope.cancel()
    if testimony is None:
        assert failure is not None
        raise failure
    return testimony


async def _let_it_try(
    nursery: trio.Nursery, confinement: Confinement, outside: _Outside
) -> tuple[dict[str, str], User, CgroupVersion]:
    byte = secrets.randbelow(2**31)
    other = await _start_trial(nursery, confinement, f"wait {byte}", outside)
    waiting = json.loads(await _read_line(other))
    offer = {**outside.offer, "other": other.pid, "other_token": outside.token, "byte": byte}
    bot = await _start_trial(nursery, confinement, json.dumps(offer), outside)
    answer: dict[str, Any] = json.loads(await _read_line(bot))
    port = answer.pop("port")
    has_port = bool(port) and await _is_welcomed(port, outside.name)
    assert bot.transport is not None
    with contextlib.suppress(trio.BrokenResourceError):  # it may be gone: without a port it does not wait
        await bot.transport.send_all(b"\n")
    await bot.ended()
    has_ended = await _is_closed(bot)
    is_apart = answer.pop("pid") != bot.pid and waiting["pid"] != other.pid
    seen: dict[str, str] = {name: answer[name] for name in TRIALS if name in answer}
    if is_apart:  # the numbers that it was given mean other processes to it, or none
        for name in ("signal_runner", "signal_other_bots", "slow_others"):
            seen[name] = witness.REFUSED
    for name, has_arrived in outside.arrived().items():
        seen[name] = witness.DONE if has_arrived else witness.REFUSED
    seen["open_port"] = witness.DONE if has_port else witness.REFUSED
    seen["outlive"] = witness.REFUSED if has_ended else witness.DONE
    return seen, bot.user, 0 if bot.cgroup is None else bot.cgroup.version


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
            "home_size": _count_entries(os.path.expanduser("~")),
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
            "runner_started": int(Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()[19]),
            "free_disk": shutil.disk_usage(folder).free,
            "free_memory": os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        }

    def arrived(self) -> dict[str, bool]:
        """Return what the witness has reached, by the names of what it tried."""
        arrived = {name: _has_been_reached(sock) for name, sock in self._sockets.items() if name != "server"}
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
def _open_targets(confinement: Confinement) -> Generator[_Outside]:
    folder = Path(tempfile.mkdtemp(prefix="stellwerk-outside-"))
    try:
        with contextlib.ExitStack() as stack:
            outside = _Outside(folder, stack)
            outside.offer["disk"] = confinement.disk_mb * 1024 * 1024
            outside.offer["uses_memory"] = confinement.measures.cgroup == "memory"
            yield outside
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _start_trial(
    nursery: trio.Nursery, confinement: Confinement, word: str, outside: _Outside
) -> LocalBot:
    command = (PYTHON, "-I", "-S", PROGRAM, word)
    spec = BotSpec("witness", command, transport="stdio", folder=os.path.dirname(PROGRAM))
    invitation = Invitation("witness", f"tcp://127.0.0.1:{outside.port}", outside.token, "")
    return await start_bot(nursery, spec, invitation, confinement)


async def _read_line(bot: LocalBot) -> bytes:
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


async def _is_welcomed(port: int, name: str) -> bool:
    """Return whether the witness says its name at this port."""
    try:
        with trio.fail_after(witness.SECONDS):
            async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
                return await stream.receive_some(len(name)) == name.encode()
    except (OSError, trio.TooSlowError, trio.BrokenResourceError):
        return False


async def _is_closed(bot: LocalBot) -> bool:
    """Return whether no process has the bot's output open any more."""
    assert bot.transport is not None
    async with bot.transport:
        with trio.move_on_after(SECONDS_TO_END):
            while await bot.transport.receive_some(_LONGEST_ANSWER):
                pass
            return True
    return False


def _has_been_reached(sock: socket.socket) -> bool:
    try:
        if sock.type == socket.SOCK_DGRAM:
            sock.recv(64)
        else:
            sock.accept()[0].close()
    except OSError:
        return False
    return True


def _count_entries(folder: str) -> int:
    """Return how many entries a folder has; more than one: a lonely one may be the way to a program."""
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
