"""The machine as every bot sees it: what it has, and never what is going on there.

The kernel counts processes, memory and interrupts for all bots together. A bot could read there what another
one does, and so be told something by it. Programs ask for a few of these files and for `sysinfo`, mostly when
they start: for the processors, and for how much memory there is. They get answers that are the same for all
bots and at all times.
"""

from __future__ import annotations

import os
import struct
from functools import cache
from typing import Final

CONSTANT: Final = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat")

_KB: Final = 1024
_OF_STAT: Final = "0 0 0 0 0 0 0 0 0 0"
_FREE: Final = ("MemTotal", "MemFree", "MemAvailable")
_NONE: Final = (
    *("Buffers", "Cached", "SwapCached", "Active", "Inactive", "SwapTotal", "SwapFree", "Shmem"),
    *("Slab", "SReclaimable"),
)


def sysinfo() -> bytes:
    """Return the kernel's `struct sysinfo` of a machine with all memory free that has one process."""
    memory = _count_memory()
    return struct.pack("@q9QHxxQQIxxxx", 0, 0, 0, 0, memory, memory, 0, 0, 0, 0, 1, 0, 0, 1)


@cache
def constant_files() -> tuple[tuple[bytes, str], ...]:
    """Return the content of files of /proc, and their places. The frequency of the processors is that of the
    first look."""
    values = dict.fromkeys(_FREE, _count_memory() // _KB) | dict.fromkeys(_NONE, 0)
    memory = "".join(f"{name + ':':15} {value:8} kB\n" for name, value in values.items()).encode()
    return tuple(zip((_read("/proc/cpuinfo"), memory, _write_times()), CONSTANT, strict=True))


def _count_memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _write_times() -> bytes:
    lines = _read("/proc/stat").decode("ascii", "replace").splitlines()
    names = [line.split()[0] for line in lines if line.startswith("cpu")]
    started = next((line for line in lines if line.startswith("btime ")), "btime 0")
    rest = ["intr 0", "ctxt 0", started, "processes 1", "procs_running 1", "procs_blocked 0", "softirq 0"]
    return "\n".join([*(f"{name} {_OF_STAT}" for name in names), *rest, ""]).encode()


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
