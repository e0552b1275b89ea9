"""The start of a bot in words: its command line, and all that it finds in its environment.

Law: a bot finds nothing of the runner's environment but what is listed here.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from stellwerk_base.texts import quoted

if TYPE_CHECKING:
    from stellwerk_processes.bench.levels import Confinement
    from stellwerk_processes.bot_spec import BotSpec

StartKey = Literal["cmd", "dir", "wrap"]

_PASSED: Final = re.compile(r"PATH|LANG|TZ|LC_[A-Z]+")


@dataclass(frozen=True, slots=True)
class Invitation:
    """The variables that a bot finds in its environment: its address, name and token, and its own source of
    chance."""

    name: str
    address: str
    token: str = field(repr=False)
    seed: str = field(repr=False)


class BotStartError(Exception):
    """A bot that cannot be started, for a reason in its spec or in the wrapping command; one line says which.
    `key` is the setting at fault."""

    def __init__(self, message: str, key: StartKey = "cmd") -> None:
        super().__init__(message)
        self.key: StartKey = key


def command_line(spec: BotSpec, confinement: Confinement, directory: str) -> tuple[str, ...]:
    """Return the command that starts a bot with this private folder. BotStartError if its program or its
    working directory does not exist. Relative paths of files in the command count from the directory of the
    spec or, without one, from the directory of the runner."""
    if spec.directory is not None and not os.path.isdir(spec.directory):
        raise BotStartError(f"there is no folder {quoted(spec.directory)}", "dir")
    command = spec.command
    if spec.directory is None:
        command = tuple(os.path.abspath(word) if os.path.isfile(word) else word for word in command)
    if "/" not in spec.command[0]:
        command = (spec.command[0], *command[1:])  # a program is looked for where programs are
    wrap = tuple(word.replace("{directory}", directory) for word in confinement.wrap)
    argv = (*wrap, *command)
    program = argv[0] if wrap or spec.directory is None else os.path.join(spec.directory, argv[0])
    if "/" in argv[0]:
        is_there = os.access(program, os.X_OK) and not os.path.isdir(program)
    else:
        path = spec.environment.get("PATH", os.environ.get("PATH", os.defpath))
        is_there = shutil.which(argv[0], path=path) is not None
    if not is_there:
        raise BotStartError(
            f"there is no program {quoted(argv[0])}{_explain_missing(argv[0], program)}",
            "wrap" if wrap else "cmd",
        )
    return argv


def _explain_missing(word: str, program: str) -> str:
    """Return what to do about a file that exists, and yet cannot be started."""
    if not os.path.isfile(program):
        return ""
    if "/" not in word:
        return f"; did you mean {quoted('./' + word)}?"
    return "; the file is there, but not executable: put its interpreter first, or make it executable"


def environment_of(
    spec: BotSpec, invitation: Invitation, directory: str, own: Mapping[str, str]
) -> dict[str, str]:
    """Return all that a bot finds in its environment; `own` is the runner's."""
    passed = {name: value for name, value in own.items() if _PASSED.fullmatch(name)}
    if spec.built_in and "PYTHONPATH" in own:  # where this Python finds us, it finds our bots
        folders = own["PYTHONPATH"].split(os.pathsep)
        passed["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, folders))
    return {
        "PATH": os.defpath,
        **passed,
        "HOME": directory,
        "TMPDIR": directory,
        **spec.environment,
        "STELLWERK_ADDRESS": invitation.address,
        "STELLWERK_TOKEN": invitation.token,
        "STELLWERK_BOT_SEED": invitation.seed,
        "STELLWERK_NAME": invitation.name,
    }
