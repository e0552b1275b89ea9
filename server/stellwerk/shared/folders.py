"""Folders that a user names for output, which are tried before the first game."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from stellwerk.shared.errors import not_writable, usage_error
from stellwerk_base.texts import shown


def writable_folder(name: str) -> Path:
    """Make the folder unless it exists. CommandError if nothing can be written there."""
    try:
        os.makedirs(name, exist_ok=True)
    except OSError as error:
        raise not_writable(name, error) from None
    except ValueError as error:  # a name that no folder can have
        raise usage_error(f"{shown(name)}: cannot be written: {error}") from None
    if not os.access(name, os.W_OK | os.X_OK):
        raise usage_error(f"{name}: cannot be written: no permission")
    return Path(name)


def temporary_folder(prefix: str) -> Path:
    """Make a folder for files, where the user named none."""
    try:
        return Path(tempfile.mkdtemp(prefix=prefix))
    except OSError as error:
        raise not_writable(tempfile.gettempdir(), error) from None


def empty_folder(name: str) -> Path:
    """Make a folder, or take one that holds nothing yet: what is written there overwrites nothing."""
    folder = writable_folder(name)
    try:
        is_empty = next(folder.iterdir(), None) is None
    except OSError as error:
        raise not_writable(name, error) from None
    if not is_empty:
        raise usage_error(f"{name}: expected a new or empty folder")
    return folder
