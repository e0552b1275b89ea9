"""The errors that end a command, by whose fault they are, and their exit codes."""

from __future__ import annotations

import errno
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
