"""The levels of the sandbox, what an organizer asks for, and what is known of the one that holds.

Law: the levels are in order, and each one refuses all that those before it refuse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from msgspec import Struct

Level = Literal["none", "limits", "landlock", "namespace", "full"]
Wanted = Literal["auto", "none", "limits", "landlock", "namespace", "full"]
CgroupVersion = Literal[0, 1, 2]
Isolation = Literal["none", "user", "namespace"]

LEVELS: Final[tuple[Level, ...]] = get_args(Level)
PROCESSES: Final = 256  # threads included: virtual machines start some dozens of them
DISK_MB: Final = 256
MEMORY_MB: Final = 1024  # of all processes of a bot together at the level `full`, unless another limit is set


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The sandbox that is asked for. `auto` is the highest level that holds on this machine; nothing starts
    below the one that is required. `bind` are more files and folders that every bot may read. `network`
    leaves a bot the network of the machine, which it has at the levels below anyway. `processes` bounds its
    processes and threads together. `disk_mb` bounds each of its folders where they are its own, and each of
    its files elsewhere. `hidden` are folders that a bot must not see even if its files are in them."""

    level: Wanted = "limits"
    require: Level | None = None
    bind: tuple[str, ...] = ()
    network: bool = False
    processes: int = PROCESSES
    disk_mb: int = DISK_MB
    hidden: tuple[str, ...] = ()


NO_SANDBOX: Final = Sandbox(level="none")
LIMITS: Final = Sandbox(level="limits")


class SandboxRecord(Struct, frozen=True, omit_defaults=True):
    """The level that holds, and what the witness saw of it. `asked` is the level that was asked for. `user`
    is as whom bots run: a user of their own for each, the runner's own user, or root without its powers."""

    level: Level
    asked: Wanted
    refused: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    untried: tuple[str, ...] = ()
    user: Literal["own", "runner", "root_without_powers"] = "runner"
    wrapped: bool = False
    kernel: str = ""
    landlock_abi: int = 0
    cgroup: CgroupVersion = 0


class SandboxError(Exception):
    """A sandbox that cannot be had on this machine as it was asked for; one line says why, and what to do."""


def is_at_least(level: Level, other: Level) -> bool:
    return LEVELS.index(level) >= LEVELS.index(other)
