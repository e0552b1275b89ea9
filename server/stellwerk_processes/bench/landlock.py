"""Rulesets of Landlock, the kernel's way to let a program give up files, ports and signals for good.

A ruleset asks for as much as this kernel has: files since ABI 1, TCP since ABI 4, signals and abstract
sockets since ABI 6. The witness shows what an old kernel lacks.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from functools import cache
from typing import Final, TypeAlias

from stellwerk_processes.bench.machine import CONSTANT

Ruleset: TypeAlias = tuple[bytes, list[tuple[str, int]], list[tuple[int, int]]]
"""What is handled, the rights for paths, and those for ports."""

_CREATE: Final = 444  # on every architecture
_VERSION_FLAG: Final = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _DEVICE = 1 << 13, 1 << 14, 1 << 15
_OF_FILES: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _DEVICE
_MAKE_DEVICES: Final = 1 << 6 | 1 << 11
_BIND, _CONNECT = 1, 2
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2
_ABI_OF_REFER, _ABI_OF_TRUNCATE, _ABI_OF_TCP, _ABI_OF_DEVICES, _ABI_OF_SCOPES = 2, 3, 4, 5, 6

_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# What languages read of the machine: what stays the same, whatever other bots do.
_OF_THE_MACHINE: Final = (
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/sys/kernel/cap_last_cap",
    "/proc/sys/kernel/ngroups_max",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/ostype",
    "/proc/sys/kernel/pid_max",
    "/proc/sys/kernel/random/boot_id",
    "/proc/sys/kernel/threads-max",
    "/proc/sys/vm/max_map_count",
    "/proc/sys/vm/mmap_min_addr",
    "/proc/sys/vm/overcommit_memory",
    "/proc/version",
    "/sys/devices/system/cpu/cpu0/cache",
    "/sys/devices/system/cpu/kernel_max",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/possible",
    "/sys/devices/system/cpu/present",
    "/sys/devices/system/node/online",
    "/sys/devices/system/node/possible",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
    "/sys/kernel/mm/transparent_hugepage/shmem_enabled",
)
# Of processes only the bot's first one can read what /proc has of it, and that without what counts more than
# the bot: sockets of the machine (net), numbers of descriptors (fdinfo), who else uses a page (smaps,
# pagemap, numa_maps), and what was in memory already (io). Its `task` would be a way to most of these.
_OF_ITSELF: Final = (
    "/proc/self/auxv",
    "/proc/self/cgroup",
    "/proc/self/cmdline",
    "/proc/self/comm",
    "/proc/self/environ",
    "/proc/self/gid_map",
    "/proc/self/limits",
    "/proc/self/loginuid",
    "/proc/self/maps",
    "/proc/self/mountinfo",
    "/proc/self/mounts",
    "/proc/self/oom_score_adj",
    "/proc/self/setgroups",
    "/proc/self/stat",
    "/proc/self/statm",
    "/proc/self/status",
    "/proc/self/uid_map",
)


@cache
def landlock_abi() -> int:
    """Return the version of the kernel's Landlock; 0 if it has none, or it is switched off."""
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(_CREATE, None, 0, _VERSION_FLAG)))


def ruleset(readable: Iterable[str], writable: Iterable[str], ports: Iterable[int]) -> Ruleset:
    """Return the ruleset of a bot that may read and execute, write, and connect to TCP ports."""
    abi = landlock_abi()
    files = (1 << 13) - 1
    if abi >= _ABI_OF_REFER:
        files |= _REFER
    if abi >= _ABI_OF_TRUNCATE:
        files |= _TRUNCATE
    if abi >= _ABI_OF_DEVICES:
        files |= _DEVICE
    read = _EXECUTE | _READ_FILE | _READ_FOLDER
    paths = [(path, read if os.path.isdir(path) else read & _OF_FILES) for path in readable]
    machine = filter(os.path.exists, _OF_THE_MACHINE)
    paths += [(path, read & ~_EXECUTE & (_OF_FILES if os.path.isfile(path) else ~0)) for path in machine]
    paths += [("/proc/self", _READ_FOLDER), *((path, _READ_FILE) for path in _OF_ITSELF)]
    paths += [(path, files & ~_MAKE_DEVICES & ~_DEVICE) for path in writable]
    device = (_READ_FILE | _WRITE_FILE | _TRUNCATE | _DEVICE) & files
    paths += [(path, device) for path in filter(os.path.exists, _DEVICES)]
    attributes = files.to_bytes(8, "little")
    has_tcp, has_scopes = abi >= _ABI_OF_TCP, abi >= _ABI_OF_SCOPES
    if has_tcp:
        attributes += (_BIND | _CONNECT).to_bytes(8, "little")
    if has_scopes:
        attributes += (_ABSTRACT_SOCKETS | _SIGNALS).to_bytes(8, "little")
    return attributes, paths, [(port, _CONNECT) for port in ports] if has_tcp else []


def ruleset_inside(folders: Iterable[str], ports: Iterable[int] | None) -> Ruleset | None:
    """Return the ruleset of a bot that has namespaces: it may read all that is in these folders, and of the
    kernel's files what tells nothing of other bots. `ports` are those it may connect to over TCP: the
    kernel chooses the other end of a connection by a counter of the machine. None leaves it the machine's
    network, and then it may not signal others, nor use their abstract sockets."""
    abi = landlock_abi()
    if not abi:
        return None
    # To move a file is refused by every ruleset that does not grant it.
    files = _READ_FILE | (_REFER if abi >= _ABI_OF_REFER else 0)
    paths = [(path, files) for path in folders]
    paths += [(path, _READ_FILE) for path in (*_OF_THE_MACHINE, *CONSTANT, *_OF_ITSELF)]
    has_ports = ports is not None and abi >= _ABI_OF_TCP
    attributes = files.to_bytes(8, "little") + (_CONNECT if has_ports else 0).to_bytes(8, "little")
    if ports is None and abi >= _ABI_OF_SCOPES:
        attributes += (_ABSTRACT_SOCKETS | _SIGNALS).to_bytes(8, "little")
    return attributes, paths, [(port, _CONNECT) for port in ports or () if has_ports]


def can_empty_files() -> bool:
    """Return whether a ruleset of this kernel lets a program empty a file that it may only read."""
    return landlock_abi() < _ABI_OF_TRUNCATE


def scopes() -> Ruleset | None:
    """Return the ruleset that leaves everything but other programs: their memory and environment, from ABI 6
    on signals to them, too. None if there is none."""
    abi = landlock_abi()
    if abi >= _ABI_OF_SCOPES:
        return bytes(16) + _SIGNALS.to_bytes(8, "little"), [], []
    # Any ruleset separates the memory of programs, and it has to be about something.
    return (_MAKE_DEVICES.to_bytes(8, "little"), [], []) if abi else None
