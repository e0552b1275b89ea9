"""The levels of the sandbox as one table of measures, what an organizer asks for, and what is known to hold.

Laws: the levels are in order, and each one refuses all that those before it refuse. All that depends on a
level is read from its row: what a bot is started with (`launch.py`), what a witness must be refused
(`resolve_sandbox.py`), and what commands and pages say of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from msgspec import Struct

Level = Literal["none", "limits", "landlock", "namespace", "full"]
Wanted = Literal["auto", "none", "limits", "landlock", "namespace", "full"]
CgroupVersion = Literal[0, 1, 2]
Isolation = Literal["none", "user", "namespace"]
User = Literal["own", "runner", "root_without_powers"]

PROCESSES: Final = 256  # threads included: virtual machines start some dozens of them
DISK_MB: Final = 256
MEMORY_MB: Final = 1024  # of all processes of a bot together at the level `full`, unless another limit is set


@dataclass(frozen=True, slots=True)
class Measures:
    """One level: what it is made of, in words and measure by measure. All have a supervisor, limits of
    descriptors and core dumps, and `memory_mb`.

    `powers`: the bot loses them: no new privileges, no capabilities, a user of its own if root starts it, and
    a limit of processes. `landlock`: its ruleset keeps the bot from other programs, from files and ports that
    are not its own, or, inside of namespaces, from what the kernel says of others. `calls`: a filter of
    system calls. `namespaces`: processes, network, mounts, inodes and folders of a fixed size of its own.
    `file_sizes`: a limit for each file. `cgroup` counts processes where root can make one, or memory as well,
    and then it is required. `needs` is what a machine may lack."""

    made_of: str
    powers: bool = False
    landlock: Literal["", "programs", "files", "inside"] = ""
    calls: bool = False
    namespaces: bool = False
    file_sizes: bool = False
    cgroup: Literal["", "processes", "memory"] = ""
    needs: Literal["", "Landlock", "bubblewrap"] = ""

    @property
    def hides_files(self) -> bool:
        """Whether bots see their own files only."""
        return self.landlock in ("files", "inside")


LEVELS: Final[dict[Level, Measures]] = {
    "none": Measures("the supervisor"),
    "limits": Measures(
        "limits of the kernel, no new privileges; where there is Landlock, a ruleset",
        powers=True,
        landlock="programs",
        file_sizes=True,
        cgroup="processes",
    ),
    "landlock": Measures(
        "Landlock, filters of system calls",
        powers=True,
        landlock="files",
        calls=True,
        file_sizes=True,
        cgroup="processes",
        needs="Landlock",
    ),
    "namespace": Measures(
        "bubblewrap: its own processes, network, `/tmp` and `/proc`",
        powers=True,
        landlock="inside",
        calls=True,
        namespaces=True,
        needs="bubblewrap",
    ),
    "full": Measures(
        "a control group as well",
        powers=True,
        landlock="inside",
        calls=True,
        namespaces=True,
        cgroup="memory",
        needs="bubblewrap",
    ),
}
"""Inside of namespaces there is no limit for a file: each folder has a size, and some runtimes reserve room
for compiled code or for their heap in a file of 2 TB in memory, of which they use little."""

UNPROVEN: Final[tuple[Wanted, ...]] = tuple(level for level, row in LEVELS.items() if not row.needs)
"""The levels that hold on every machine, without a witness."""

TRIALS: Final[Mapping[str, tuple[Level, str]]] = {
    "read_files": ("landlock", "read files of the organizer"),
    "write_files": ("landlock", "leave files behind"),
    "change_files": ("landlock", "change files of the organizer"),
    "leave_memory": ("landlock", "leave shared memory behind"),
    "loopback": ("namespace", "connect to other programs of this machine"),
    "other_address": ("namespace", "connect to the server's port at another address"),
    "udp": ("namespace", "send over UDP"),
    "internet": ("namespace", "reach the internet"),
    "abstract_sockets": ("namespace", "connect to abstract sockets"),
    "unix_sockets": ("namespace", "connect to sockets in folders"),
    "open_port": ("landlock", "open a port to others"),
    "see_processes": ("namespace", "see other processes"),
    "read_counters": ("landlock", "read counters of the whole machine"),
    "signal_runner": ("namespace", "signal the runner"),
    "read_runner_memory": ("landlock", "read the runner's memory"),
    "signal_other_bots": ("namespace", "signal other bots"),
    "slow_others": ("landlock", "slow other bots down"),
    "read_other_bots": ("landlock", "read other bots' tokens"),
    "see_locks": ("landlock", "see other bots' locks of files"),
    "see_cache": ("landlock", "ask what the kernel has in memory of a file"),
    "gain_privileges": ("limits", "gain privileges"),
    "user_namespaces": ("namespace", "make user namespaces"),
    "many_processes": ("limits", "start 500 processes"),
    "much_memory": ("full", "use 2 GB of memory"),
    "fill_disk": ("namespace", "use more disk than it has"),
    "outlive": ("none", "live on after its end"),
}
"""What a witness tries: the level from which on it must be refused on every kernel, and words that continue
"a bot could"."""

_NAMESPACES: Final = frozenset(
    {"bwrap", "unshare", "nsjail", "firejail", "docker", "podman", "systemd-nspawn"}
)
_USERS: Final = frozenset({"sudo", "doas", "setpriv", "runuser", "su", "su-exec", "gosu"})


def is_at_least(level: Level, other: Level) -> bool:
    order = list(LEVELS)
    return order.index(level) >= order.index(other)


# -- what is asked for -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Confinement:
    """How bots are confined. The level `auto` is the highest one that holds on this machine; nothing starts
    below the one that is required. `bind` are more files and folders that every bot may read. `network`
    leaves a bot the network of the machine, which it has at the levels below anyway. `processes` bounds its
    processes and threads together. `disk_mb` bounds each of its folders where they are its own, and each of
    its files elsewhere. `hidden` are folders that a bot must not see even if its files are in them.

    `memory_mb` bounds the data of each of its processes; at the level `full`, all memory of all of them
    together, and is then 1024 if it is not set. `wrap` is put before its command, with the bot's private
    folder in place of `{directory}`, and takes the place of the level. `processors` are those that the bot
    begins on; without any it may run on all."""

    level: Wanted = "limits"
    require: Level | None = None
    bind: tuple[str, ...] = ()
    network: bool = False
    processes: int = PROCESSES
    disk_mb: int = DISK_MB
    hidden: tuple[str, ...] = ()
    memory_mb: int | None = None
    wrap: tuple[str, ...] = ()
    processors: frozenset[int] = frozenset()

    @property
    def own_level(self) -> Wanted:
        """The level of our sandbox: none if the organizer's own command confines bots."""
        return "none" if self.wrap else self.level

    @property
    def measures(self) -> Measures:
        """The measures of a certain level: `resolve` finds the one for `auto`."""
        assert self.own_level != "auto"
        return LEVELS[self.own_level]

    @property
    def needs_proof(self) -> bool:
        """Whether the sandbox is to be tried before anything is played."""
        return self.require is not None or self.own_level not in UNPROVEN

    @property
    def isolation(self) -> Isolation:
        """The isolation that the sandbox, or the wrapping program, is there for."""
        if not self.wrap:
            return "namespace" if self.level != "auto" and self.measures.namespaces else "none"
        program = os.path.basename(self.wrap[0])
        if program in _NAMESPACES:
            return "namespace"
        return "user" if program in _USERS else "none"


UNCONFINED: Final = Confinement()


# -- what holds --------------------------------------------------------------------------------------


class SandboxRecord(Struct, frozen=True, omit_defaults=True):
    """The level that holds, and what the witness saw of it. `asked` is the level that was asked for. `user`
    is as whom bots run: a user of their own for each, the runner's own user, or root without its powers."""

    level: Level
    asked: Wanted
    refused: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    untried: tuple[str, ...] = ()
    user: User = "runner"
    wrapped: bool = False
    kernel: str = ""
    landlock_abi: int = 0
    cgroup: CgroupVersion = 0


class SandboxError(Exception):
    """The requested sandbox is not available on this machine. The message says why, and what to do."""


def describe(record: SandboxRecord) -> str:
    """Return a sentence about the sandbox for people."""
    who = {
        "own": "each as a user of its own",
        "runner": "as the runner's own user",
        "root_without_powers": "as root without its capabilities",
    }[record.user]
    name = f"a wrapping command, about as {record.level}" if record.wrapped else record.level
    allowed = ", ".join(TRIALS[name][1] for name in record.allowed if name in TRIALS)
    could = f"a bot could {allowed}" if allowed else "everything that was tried was refused"
    untried = ", ".join(TRIALS[name][1] for name in record.untried)
    as_whom = "" if record.wrapped else f"bots ran {who}; "
    return f"{name}: {as_whom}{could}{f'; not tried: {untried}' if untried else ''}"
