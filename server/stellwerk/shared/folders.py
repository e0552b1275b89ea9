"""Folders and files that a user names for output, which are tried before the first game."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from stellwerk.shared.errors import usage_error, writing


def writable_folder(name: str) -> Path:
    """Make the folder unless it exists. CommandError if nothing can be written there."""
    with writing(name):
        os.makedirs(name, exist_ok=True)
    if not os.access(name, os.W_OK | os.X_OK):
        raise usage_error(f"{name}: cannot be written: no permission")
    return Path(name)


def writable_file(name: str) -> Path:
    """Return the path of a file. CommandError if it cannot be written."""
    path = Path(name)
    if path.is_dir():
        raise usage_error(f"{name}: cannot be written: is a folder")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise usage_error(f"{name}: cannot be written: no such folder, or no permission")
    return path


def temporary_folder(prefix: str) -> Path:
    """Make a folder for files, where the user named none."""
    with writing(tempfile.gettempdir()):
        return Path(tempfile.mkdtemp(prefix=prefix))


def empty_folder(name: str) -> Path:
    """Make a folder, or take one that holds nothing yet: what is written there overwrites nothing."""
    folder = writable_folder(name)
    with writing(name):
        is_empty = next(folder.iterdir(), None) is None
    if not is_empty:
        raise usage_error(f"{name}: expected a new or empty folder")
    return folder
