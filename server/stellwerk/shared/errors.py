"""The errors that end a command, by whose fault they are, and their exit codes."""

from __future__ import annotations

import errno
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
UNDECIDED: Final = 3
INFRASTRUCTURE: Final = 4
INTERRUPTED: Final = 130

_NOT_THE_USERS_FAULT: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE)


class CommandError(Exception):
    """The message is one line for the user."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message, exit_code)  # all of them, so that it can be sent between processes
        self.message = message
        self.exit_code = exit_code

    def __str__(self) -> str:
        return self.message


def usage_error(message: str) -> CommandError:
    """Make the error for something in the command line, or in a file that it names."""
    return CommandError(message, USAGE)


def infrastructure_error(message: str) -> CommandError:
    """Make the error for a failure of the machine: a full disk, a process that died."""
    return CommandError(message, INFRASTRUCTURE)


def not_writable(path: str, error: OSError) -> CommandError:
    """Make the error for a file or folder that the user named and that cannot be written."""
    message = f"{path}: cannot be written: {error.strerror or error}"
    return infrastructure_error(message) if error.errno in _NOT_THE_USERS_FAULT else usage_error(message)


@contextmanager
def writing(path: object) -> Generator[None]:
    """Turn an error into that of a file or folder that the user named and that cannot be written."""
    try:
        yield
    except OSError as error:
        raise not_writable(str(path), error) from None
    except ValueError as error:  # a name that no file can have
        raise usage_error(f"{path}: cannot be written: {error}") from None


@contextmanager
def reading(path: object) -> Generator[None]:
    """Turn an error into that of a file or folder that the user named and that cannot be read."""
    try:
        yield
    except OSError as error:
        raise usage_error(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a name that no file can have
        raise usage_error(f"{path}: cannot be read: {error}") from None


@contextmanager
def refusing(*errors: type[Exception], where: object = None) -> Generator[None]:
    """Turn such an error into a usage error. It begins with `where`, the place of what is wrong."""
    try:
        yield
    except errors as error:
        raise usage_error(str(error) if where is None else f"{where}: {error}") from None
