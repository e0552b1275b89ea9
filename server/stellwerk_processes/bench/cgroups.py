"""A control group for one bot: all its memory, all its processes, and a way to stop or kill all at once.

Version 2 where this process may make groups with the controllers memory and pids: as root, or where a
service manager delegates (`systemd-run --user --scope -p Delegate=yes`). Version 1 where root has only that.
The group is a bot's alone: its supervisor stays outside, so it can be stopped without stopping us.

Law: a group limits what it was asked to, or it is not made.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import time
from collections.abc import Generator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from stellwerk_processes.bench.levels import CgroupVersion

SECONDS_TO_REMOVE: Final = 2.0  # the kernel takes a moment to see that all its processes have gone
CONTROLLERS: Final = ("memory", "pids")

_MB: Final = 1024 * 1024
_PROCS: Final = "cgroup.procs"
_OOM_KILLS: Final = re.compile(r"^oom_kill (\d+)", re.MULTILINE)
_OURS: Final = re.compile(r"stellwerk-(\d+)(?:-\d+)?")
_numbers: Final = itertools.count()


@dataclass(frozen=True, slots=True)
class Cgroup:
    """The group of a bot: `folders` to join by, one for each hierarchy. `freezable` is its folder in version
    2, with `cgroup.freeze` and `cgroup.kill`. `memory` has the folder that limits memory."""

    version: CgroupVersion
    folders: tuple[str, ...]
    memory: str
    freezable: str | None

    def has_run_out_of_memory(self) -> bool:
        """Return whether the kernel has killed a process of the bot for want of memory."""
        for name in ("memory.events", "memory.oom_control"):
            found = _OOM_KILLS.search(_read_text(os.path.join(self.memory, name)))
            if found:
                return int(found[1]) > 0
        return False

    def kill(self) -> None:
        """Kill all processes of the group at once, where the kernel can."""
        if self.freezable is not None:
            with contextlib.suppress(OSError):
                _write_file(self.freezable, "cgroup.kill", "1")


@dataclass(frozen=True, slots=True)
class _Mount:
    """A hierarchy. `top` is where it is mounted, `own` the folder of the group that this process is in."""

    top: str
    own: str


def make_cgroup(memory_mb: int | None, processes: int) -> Cgroup:
    """Make a group with a limit for processes, and one for memory if it is to have that. OSError, with a
    cause for people, if this process cannot make one."""
    _remove_left_behind()
    mounts = _read_mounts()
    name = f"stellwerk-{os.getpid()}-{next(_numbers)}"
    made: list[str] = []
    try:
        unified = mounts.get("")
        if unified is not None and (parent := _parent_of_version_2(unified)) is not None:
            folder = _make_folder(parent, name, made)
            if memory_mb is not None:
                _write_file(folder, "memory.max", str(memory_mb * _MB))
                with contextlib.suppress(OSError):  # a kernel that counts no swap
                    _write_file(folder, "memory.swap.max", "0")
            _write_file(folder, "pids.max", str(processes))
            return Cgroup(2, (folder,), folder, folder)
        if not all(controller in mounts for controller in CONTROLLERS):
            raise OSError(errno.ENOENT, "the control groups of this machine have no controllers for us")
        memory = ""
        if memory_mb is not None:
            memory = _make_folder(mounts["memory"].own, name, made)
            _write_file(memory, "memory.limit_in_bytes", str(memory_mb * _MB))
            with contextlib.suppress(OSError):  # a kernel that counts no swap
                _write_file(memory, "memory.memsw.limit_in_bytes", str(memory_mb * _MB))
        _write_file(_make_folder(mounts["pids"].own, name, made), "pids.max", str(processes))
        freezable = None
        if unified is not None:
            with contextlib.suppress(OSError):
                freezable = _make_folder(unified.own, name, made)
        return Cgroup(1, tuple(made), memory, freezable)
    except OSError as error:
        _remove_folders(made, 0)
        raise OSError(
            error.errno, f"control groups cannot be made: {error.strerror} (run as root, or with delegation)"
        ) from None


@contextlib.contextmanager
def joinable(cgroup: Cgroup) -> Generator[list[int]]:
    """Return descriptors that a process joins the group by when it writes its id, or 0."""
    with contextlib.ExitStack() as stack:
        numbers: list[int] = []
        for folder in cgroup.folders:
            numbers.append(os.open(os.path.join(folder, _PROCS), os.O_WRONLY))
            stack.callback(os.close, numbers[-1])
        yield numbers


def remove_cgroup(cgroup: Cgroup) -> None:
    """Remove a group without processes. Never raise."""
    _remove_folders(cgroup.folders, SECONDS_TO_REMOVE)


def _remove_folders(folders: list[str] | tuple[str, ...], seconds: float) -> None:
    until = time.monotonic() + seconds
    for folder in folders:
        while True:
            try:
                os.rmdir(folder)
            except FileNotFoundError:
                pass
            except OSError:
                if time.monotonic() < until:
                    time.sleep(0.01)
                    continue
            break


@cache
def _remove_left_behind() -> None:
    """Remove the groups of runners that were killed, once. Those with processes stay in any case."""
    for mount in set(_read_mounts().values()):
        for parent in {mount.top, mount.own}:
            with contextlib.suppress(OSError):
                for name in os.listdir(parent):
                    found = _OURS.fullmatch(name)
                    if found and not os.path.exists(f"/proc/{found[1]}"):
                        _remove_folders([os.path.join(parent, name)], 0)


# -- hierarchies -------------------------------------------------------------------------------------


def _read_mounts() -> dict[str, _Mount]:
    """Return the hierarchies by controller; that of version 2 under an empty name."""
    own: dict[str, str] = {}
    for line in _read_text("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            own[controller] = path
    mounts: dict[str, _Mount] = {}
    for line in _read_text("/proc/self/mountinfo").splitlines():
        place, _, kind = line.partition(" - ")
        root, top = place.split()[3:5]
        kind, _, options = kind.split(" ", 2)
        names = [""] if kind == "cgroup2" else options.split(",") if kind == "cgroup" else []
        for name in names:
            if name in own and name not in mounts:
                inner = os.path.relpath(own[name], root)
                mounts[name] = _Mount(top, os.path.normpath(os.path.join(top, inner)))
    return mounts


def _parent_of_version_2(mount: _Mount) -> str | None:
    """Return a group whose children can have the controllers that we need. Root makes them at the top, an
    ordinary user in the group that it was started in, which must be delegated to it."""
    own = mount.own
    if os.path.basename(own) == _name_aside():
        own = os.path.dirname(own)  # this process has moved already
    for parent in dict.fromkeys([mount.top] * (os.geteuid() == 0) + [own]):
        if not set(CONTROLLERS) <= set(_read_text(os.path.join(parent, "cgroup.controllers")).split()):
            continue
        if set(CONTROLLERS) <= set(_read_text(os.path.join(parent, "cgroup.subtree_control")).split()):
            if os.access(parent, os.W_OK):
                return parent
            continue
        for has_moved in (False, True):
            with contextlib.suppress(OSError):
                if has_moved:  # only a group without processes of its own can have such children
                    _move_aside(parent)
                _write_file(parent, "cgroup.subtree_control", " ".join(f"+{each}" for each in CONTROLLERS))
                return parent
    return None


def _name_aside() -> str:
    return f"stellwerk-{os.getpid()}"


def _move_aside(parent: str) -> None:
    """Move this process into a child of its group."""
    aside = os.path.join(parent, _name_aside())
    os.makedirs(aside, exist_ok=True)
    _write_file(aside, _PROCS, "0")


def _make_folder(parent: str, name: str, made: list[str]) -> str:
    folder = os.path.join(parent, name)
    os.mkdir(folder)
    made.append(folder)
    return folder


def _write_file(folder: str, name: str, value: str) -> None:
    number = os.open(os.path.join(folder, name), os.O_WRONLY)
    try:
        os.write(number, value.encode())
    finally:
        os.close(number)


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
