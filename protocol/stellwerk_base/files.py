"""Whole files, and waiting for the disk.

Law: a file that is written here exists with all of its content, or not at all, also if another process writes
it at the same time, and after a crash.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from pathlib import Path
from typing import Final

READABLE_BY_ALL: Final = 0o666  # but what the umask takes away
PRIVATE: Final = 0o600


def write_whole(
    path: Path, content: bytes, *, sync: bool = False, sync_name: bool = True, mode: int = READABLE_BY_ALL
) -> None:
    """Write a file, all of it or nothing. With `sync`, it is on the disk then; without `sync_name` only its
    content is, and the caller syncs the folder. OSError."""
    part = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        with open(descriptor, "wb") as file:
            file.write(content)
            if sync:
                file.flush()
                os.fdatasync(file.fileno())
        part.replace(path)
        if sync and sync_name:
            sync_folder(path.parent)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def sync_folder(folder: Path) -> None:
    """Wait until the disk has the names in a folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_all(folder: Path) -> None:
    """Wait until the disk has all that was written to the file system of a folder. For many files that takes
    less than waiting for each."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(folder))
    finally:
        os.close(descriptor)
