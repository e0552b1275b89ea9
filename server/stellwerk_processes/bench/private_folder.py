"""The private folders of bots: made empty, emptied between matches, and removed with all that a bot has left.

Law: whatever a bot leaves there, nothing else is touched, no link is followed, even if the bot makes one
meanwhile, nothing raises, and it stops after some time.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tempfile
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Final

LONGEST_REMOVAL: Final = 60.0  # seconds to remove one in the end: enough for some millions of files


@dataclass(frozen=True, slots=True)
class PrivateFolder:
    """An empty folder with a name that cannot be guessed, in one that only the runner can list."""

    root: str
    directory: str

    @staticmethod
    def make(*, for_everybody: bool) -> PrivateFolder:
        """Make the folder. `for_everybody` opens it to all who know its name, for a bot that runs as another
        user whom we do not know."""
        root = os.path.realpath(tempfile.mkdtemp(prefix="stellwerk-"))
        directory = os.path.join(root, secrets.token_hex(16))
        os.mkdir(directory, 0o700)
        if for_everybody:
            os.chmod(root, 0o711)
            os.chmod(directory, 0o777)
        return PrivateFolder(root, directory)

    def remove(self) -> None:
        """Remove the folder with all that the bot has left there."""
        empty(self.root, LONGEST_REMOVAL)
        _remove(self.root)


def empty(directory: str, seconds: float) -> None:
    """Empty a folder as far as possible in this time, including folders that were made read-only. Never
    raise.

    Files deeper than in a folder of this one are moved up first, so that neither a path nor a stack gets
    long, and a few descriptors are enough, however deep it was.
    """
    until = time.monotonic() + seconds
    with contextlib.suppress(OSError), _open_folder(directory) as top:
        has_changed = True
        while has_changed:
            has_changed = False
            for name in _list_names(top, until):
                has_changed |= _remove_with_all(name, top, until)


def _remove_with_all(name: str, top: int, until: float) -> bool:
    """Remove an entry with its content, as far as the time allows. Return whether anything has changed."""
    if _remove(name, top):
        return True
    has_changed = False
    with contextlib.suppress(OSError), _open_folder(name, top) as folder:
        for inner in _list_names(folder, until):
            has_changed |= _remove(inner, folder) or _move_up(inner, folder, top)
    return _remove(name, top) or has_changed


def _remove(name: str, folder: int | None = None) -> bool:
    """Remove a file, a link or an empty folder. Return whether it is gone."""
    for remove in (os.unlink, os.rmdir):
        with contextlib.suppress(OSError):
            remove(name, dir_fd=folder)
            return True
    return False


def _move_up(name: str, folder: int, top: int) -> bool:
    """Move a folder up. Only a folder that can be written to can be moved. Return whether it was."""
    with contextlib.suppress(OSError), _open_folder(name, folder):
        os.rename(name, secrets.token_hex(16), src_dir_fd=folder, dst_dir_fd=top)
        return True
    return False


def _list_names(folder: int, until: float) -> Iterator[str]:
    """Yield the names in a folder one by one: there may be millions of them."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if time.monotonic() >= until:
                return
            yield entry.name


@contextlib.contextmanager
def _open_folder(name: str, folder: int | None = None) -> Generator[int]:
    """Open a folder and make it usable for its owner. OSError if it is none, or a link, or closed to us by
    another user.

    A folder that may not be read opens only as a descriptor that is good for nothing but its mode.
    """
    handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
    try:
        mode = stat.S_IMODE(os.stat(handle).st_mode)
        if mode & stat.S_IRWXU != stat.S_IRWXU:
            with contextlib.suppress(OSError):  # another user's
                os.chmod(f"/proc/self/fd/{handle}", mode | stat.S_IRWXU)
        usable = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=handle)
    finally:
        os.close(handle)
    try:
        yield usable
    finally:
        os.close(usable)
