"""Inodes of a bot's own: what one bot does to a file, such as lock it, no other bot can see.

This runs in a supervisor inside of namespaces, with the power to mount there, before the bot starts. Each
folder that a bot shares with others gets an overlay: the same files, with locks, leases, times and hints of
their own. What cannot be covered so (devices, namespaces, and the one inode that all event descriptors of the
machine have) gets a lock that is always there: shared, and over the whole inode. An exclusive lock then fails
always and a shared one never, whatever other bots hold, so the answer says nothing about them.

Law: `separate` does all of it or raises OSError. The caller then refuses the bot all locks.
"""

from __future__ import annotations

import ctypes
import os

from stellwerk_processes.bench.confine import check

TYPE_CHECKING = False  # see `supervise.py`
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

NOTHING: Final = "/var/empty"  # a folder of the bot's own file system: free space is counted there

_NAMESPACES: Final = ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts")
_LIMIT_OF_NAMESPACES: Final = "/proc/sys/user/max_user_namespaces"
_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_PROGRAMS, _REMOUNT, _BIND = 1, 2, 4, 8, 32, 4096
_LOCK, _OF_ALL = 37, bytes(32)  # F_OFD_SETLK; a `struct flock` of zeros is a shared lock of everything
_SHARED_AT_ONCE: Final = 5  # for flock

_libc = ctypes.CDLL(None, use_errno=True)


def separate(own: Iterable[str], others: Iterable[int]) -> None:
    """Give the bot inodes of its own of everything but the `own` mounts. `others` are descriptors of inodes
    that all bots share. OSError if this kernel cannot do that."""
    devices = [f"/dev/{name}" for name in os.listdir("/dev") if not os.path.islink(f"/dev/{name}")]
    _cover_folders(_find_shared_folders({*own, *devices}))
    for device in devices:
        # Any user may set the times of a device to now; a read-only mount refuses that.
        flags = _REMOUNT | _BIND | _READ_ONLY | _NO_SUID | _NO_PROGRAMS
        check(_libc.mount(None, device.encode(), None, flags, None), f"remount {device}")
    for path in (*devices, *(f"/proc/self/ns/{name}" for name in _NAMESPACES)):
        if os.path.exists(path):
            _hold_lock(os.open(path, os.O_RDONLY), path)  # until the supervisor ends
    for number in others:
        _hold_lock(number, "descriptor")


def forbid_namespaces() -> None:
    """Forbid more user namespaces inside this one."""
    with open(_LIMIT_OF_NAMESPACES, "w", encoding="ascii") as file:
        file.write("0")


def _find_shared_folders(own: set[str]) -> list[str]:
    """Return the folders that something of others is mounted at, outer ones first."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        places = {_unescape(line.split(" ")[4]) for line in file}
    shared = (place for place in places - own if not place.startswith("/proc/") and os.path.isdir(place))
    return sorted(shared, key=lambda place: (place.count("/"), place))


def _unescape(place: str) -> str:
    """Return a path without the escapes that the kernel writes for blanks and the like."""
    first, *rest = place.split("\\")
    return first + "".join(chr(int(part[:3], 8)) + part[3:] for part in rest)


def _cover_folders(folders: list[str]) -> None:
    opened = [os.open(folder, os.O_PATH | os.O_DIRECTORY) for folder in folders]  # before others hide them
    options = f"lowerdir={NOTHING}:.".encode()
    for folder, number in zip(folders, opened, strict=True):
        os.fchdir(number)
        place = folder.encode(errors="surrogateescape")
        flags = _READ_ONLY | _NO_SUID | _NO_DEVICES
        check(_libc.mount(b"overlay", place, b"overlay", flags, options), f"overlay {folder}")
        os.close(number)
    os.chdir("/")


def _hold_lock(number: int, name: str) -> None:
    check(_libc.fcntl(number, _LOCK, _OF_ALL), f"lock {name}")
    check(_libc.flock(number, _SHARED_AT_ONCE), f"lock {name}")
