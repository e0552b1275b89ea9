"""The call of bubblewrap: namespaces of a bot's own, in which it sees what its view lists and nothing else.

Process 1 of them is the supervisor. It gets the few capabilities that it needs to give the bot inodes of its
own (`inodes.py`) and, as root, to make it another user: then bubblewrap makes no user namespace. Folders that
a bot may write to are in memory, each of a fixed size where this bubblewrap can do that.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Final

from stellwerk_processes.bench.inodes import NOTHING
from stellwerk_processes.bench.views import ancestors, is_beneath

PROGRAM: Final = "bwrap"
PRIVATE: Final = "/private"  # the bot's folder, where no other program expects anything
SECONDS: Final = 20

_DEVICES: Final = ("null", "zero", "full", "random", "urandom")
_LINKS: Final = (
    ("/proc/self/fd", "/dev/fd"),
    ("/proc/self/fd/0", "/dev/stdin"),
    ("/proc/self/fd/1", "/dev/stdout"),
    ("/proc/self/fd/2", "/dev/stderr"),
    ("/tmp", "/dev/shm"),  # one folder of a fixed size, not two
)
_TO_SEPARATE: Final = ("CAP_SETPCAP", "CAP_SYS_ADMIN")  # see `inodes.py`
_OF_ROOT: Final = (*_TO_SEPARATE, "CAP_CHOWN", "CAP_KILL", "CAP_SETGID", "CAP_SETUID")
_OF_OTHERS: Final = (*_TO_SEPARATE, "CAP_SYS_RESOURCE")
_MB: Final = 1024 * 1024
_USER_NAMESPACES_FORBIDDEN: Final = re.compile(
    r"setting up uid map: Permission denied|No permissions to creat\w+ new namespace"
    r"|Creating new namespace failed|loopback: Failed RTM_NEWADDR|user namespaces are not enabled",
    re.IGNORECASE,
)
_UBUNTU: Final = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
_DEBIAN: Final = "/proc/sys/kernel/unprivileged_userns_clone"


@cache
def bubblewrap() -> str | None:
    """Return the path of the program, if it is installed."""
    return shutil.which(PROGRAM)


@cache
def _read_options() -> frozenset[str]:
    """Return the options that this version has."""
    program = bubblewrap()
    if program is None:
        return frozenset()
    done = subprocess.run(
        [program, "--help"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return frozenset(re.findall(r"--[a-z0-9-]+", done.stdout))


def call_of_bubblewrap(
    readable: Iterable[str],
    *,
    is_root: bool,
    network: bool,
    disk_mb: int,
    files: Iterable[tuple[int, str]],
    opened: Callable[[str], int],
) -> list[str]:
    """Return the words before the supervisor's command. `files` are descriptors with the content of files
    that are made in there. A file that is seen alone is copied: `opened` returns a descriptor of it."""
    program = bubblewrap()
    assert program is not None
    has = _read_options()
    words = [program, "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--as-pid-1"]
    if "--unshare-cgroup-try" in has:
        words.append("--unshare-cgroup-try")
    if not network:
        words.append("--unshare-net")
    words += ["--cap-drop", "ALL"] if is_root else ["--unshare-user"]
    for capability in _OF_ROOT if is_root else _OF_OTHERS:
        words += ["--cap-add", capability]
    for folder, mode in (("/tmp", "1777"), (PRIVATE, "0700")):
        if "--perms" in has:
            words += ["--perms", mode]
        if "--size" in has:
            words += ["--size", str(disk_mb * _MB)]
        words += ["--tmpfs", folder]
    words += ["--proc", "/proc", "--dir", "/dev", "--dir", NOTHING]
    for device in _DEVICES:
        words += ["--dev-bind-try", f"/dev/{device}", f"/dev/{device}"]
    for target, place in _LINKS:
        words += ["--symlink", target, place]
    words += _list_mounts(readable, opened)
    for number, place in files:
        words += [*_set_mode(0o444), "--ro-bind-data", str(number), place]
    return [*words, "--remount-ro", "/", "--chdir", "/", "--"]


def cure_of(message: str) -> str:
    """Return what to do about a message of bubblewrap, in one line; empty if that is not known."""
    if not _USER_NAMESPACES_FORBIDDEN.search(message):
        return ""
    if _number_in(_UBUNTU):
        return (
            "this system's AppArmor lets no ordinary program make user namespaces: give bubblewrap a profile "
            "(see tournament/STRANGERS.md, Sandbox), or use the level landlock"
        )
    if os.path.exists(_DEBIAN) and not _number_in(_DEBIAN):
        return "user namespaces are switched off: sysctl kernel.unprivileged_userns_clone=1 permits them"
    return "user namespaces are forbidden here, as in most containers: use the level landlock"


def _number_in(path: str) -> int:
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return 0


def _set_mode(mode: int) -> list[str]:
    """Return the words before those that make a read-only file."""
    return ["--perms", f"{mode & 0o555:04o}"] if "--perms" in _read_options() else []


def _list_mounts(readable: Iterable[str], opened: Callable[[str], int]) -> Iterator[str]:
    """Yield the words that show these paths. A path inside of another one is there already. Links that the
    system has at its root stay links."""
    folders: list[str] = []
    made: set[str] = set()
    for path in sorted(set(readable), key=lambda each: (each.count("/"), each)):
        if os.path.dirname(path) == "/" and os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
            folders.append(path)
        elif not is_beneath(path, folders):
            for folder in reversed(list(ancestors(path))):
                if folder not in made:  # bubblewrap would close it to everybody but itself
                    made.add(folder)
                    yield from ("--dir", folder)
            if os.path.isfile(path):
                yield from (*_set_mode(os.stat(path).st_mode), "--file", str(opened(path)), path)
            elif os.path.isdir(path):
                yield from ("--ro-bind-try", path, path)
                folders.append(path)
