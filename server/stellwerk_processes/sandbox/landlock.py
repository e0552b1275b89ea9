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
# What languages read of the machine. Of processes only the bot's first one can read what /proc has of it.
_OF_THE_MACHINE: Final = (
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel",
    "/proc/sys/vm",
    "/proc/uptime",
    "/proc/version",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
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
    paths += [(path, read & ~_EXECUTE & (_OF_FILES if os.path.isfile(path) else ~0)) for path in _machine()]
    paths += [(path, files & ~_MAKE_DEVICES & ~_DEVICE) for path in writable]
    paths += [(path, (_READ_FILE | _WRITE_FILE | _TRUNCATE | _DEVICE) & files) for path in _devices()]
    attributes = files.to_bytes(8, "little")
    has_tcp, has_scopes = abi >= _ABI_OF_TCP, abi >= _ABI_OF_SCOPES
    if has_tcp:
        attributes += (_BIND | _CONNECT).to_bytes(8, "little")
    if has_scopes:
        attributes += (_ABSTRACT_SOCKETS | _SIGNALS).to_bytes(8, "little")
    return attributes, paths, [(port, _CONNECT) for port in ports] if has_tcp else []


def can_empty_files() -> bool:
    """Return whether a ruleset of this kernel lets a program empty a file that it may only read."""
    return landlock_abi() < _ABI_OF_TRUNCATE


def scopes(*, abstract_sockets: bool) -> Ruleset | None:
    """Return the ruleset that leaves everything but other programs: their memory and environment, from ABI 6
    on signals to them, too, and on request their abstract sockets. None if there is none."""
    abi = landlock_abi()
    if abi >= _ABI_OF_SCOPES:
        refused = _SIGNALS | (_ABSTRACT_SOCKETS if abstract_sockets else 0)
        return bytes(16) + refused.to_bytes(8, "little"), [], []
    # Any ruleset separates the memory of programs, and it has to be about something.
    return (_MAKE_DEVICES.to_bytes(8, "little"), [], []) if abi else None


def _devices() -> list[str]:
    return [path for path in _DEVICES if os.path.exists(path)]


def _machine() -> list[str]:
    return [path for path in _OF_THE_MACHINE if os.path.exists(path)]
