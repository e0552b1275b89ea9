"""The plan of a start: which processes, with which orders, make a bot run at its level.

Law: a plan is made for one start from what there is now, and from the row of the level (`levels.py`). What
cannot be set up fails the start: a bot never starts below its level.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import resource
import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from stellwerk_processes.bench import supervise
from stellwerk_processes.bench.bubblewrap import PRIVATE, bubblewrap, call_of_bubblewrap
from stellwerk_processes.bench.cgroups import Cgroup, joinable, make_cgroup, remove_cgroup
from stellwerk_processes.bench.invitation import Invitation, command_line, environment_of
from stellwerk_processes.bench.landlock import (
    Ruleset,
    can_empty_files,
    landlock_abi,
    ruleset,
    ruleset_inside,
    scopes,
)
from stellwerk_processes.bench.levels import MEMORY_MB, Confinement, Measures, User
from stellwerk_processes.bench.machine import constant_files, sysinfo
from stellwerk_processes.bench.orders import Orders
from stellwerk_processes.bench.seccomp import call_filter
from stellwerk_processes.bench.users import others_can_use, own_user
from stellwerk_processes.bench.views import VisibleFiles, system_paths, view_of
from stellwerk_processes.bot_spec import BotSpec

DESCRIPTORS: Final = 1024  # what most systems give a process anyway
_MB: Final = 1024 * 1024
_PORTS: Final = range(10_000, 32_000)  # below those that systems give to connections
_OF_SIGNALS, _OF_QUEUES = 1024, 102_400  # so little that all bots of a user together never meet its limit
_NO_HOSTS: Final = b"127.0.0.1 localhost\n::1 localhost\n"
_START: Final = (
    "import sys;sys.path.insert(0,{!r});from stellwerk_processes.bench.supervise import main;main({},{})"
)


@dataclass(frozen=True, slots=True)
class Launch:
    """A start at a level. `argv` starts the supervisor, which gets these descriptors under their own numbers.
    `is_inside`: the bot lives in namespaces, and the supervisor sends that many descriptors of what is only
    in there."""

    argv: tuple[str, ...]
    passed: tuple[int, ...]
    is_inside: bool
    descriptor_count: int
    user: User
    cgroup: Cgroup | None


def lacking(measures: Measures) -> str:
    """Return what this machine lacks for a level, as far as that can be seen without trying."""
    if measures.needs == "Landlock" and not landlock_abi():
        return "this kernel has no Landlock"
    if measures.needs == "bubblewrap" and bubblewrap() is None:
        return "bubblewrap is not installed"
    return ""


def launch_of(
    spec: BotSpec,
    invitation: Invitation,
    confinement: Confinement,
    directory: str,
    *,
    control: int,
    streams: tuple[int, int],
    to_start: contextlib.ExitStack,
    to_live: contextlib.ExitStack,
) -> Launch:
    """Make the plan for a bot with this private folder. `control` is the supervisor's end of the control
    socket, `streams` are the bot's input and output. The stacks hold what is needed until the supervisor has
    been started, and until the bot has ended. BotStartError if the spec is at fault, OSError if the machine
    lacks what the level consists of."""
    argv = command_line(spec, confinement, directory)
    measures = confinement.measures
    if problem := lacking(measures):
        raise OSError(0, f"sandbox {confinement.own_level}: {problem}")
    is_inside = measures.namespaces
    view = view_of_bot(spec, argv, confinement)
    user, who = _choose_user(measures, view, directory, to_live)
    private = PRIVATE if is_inside else directory
    port = _port_in(invitation.address)
    has_own_network = is_inside and not confinement.network
    if port and has_own_network:
        # The kernel counts connections by where they lead, for all networks together.
        port = secrets.choice(_PORTS)
        invitation = replace(invitation, address=f"tcp://127.0.0.1:{port}")
    cgroup = _make_cgroup(confinement)
    if cgroup is not None:
        to_live.callback(remove_cgroup, cgroup)
    joined: Sequence[int] = () if cgroup is None else to_start.enter_context(joinable(cgroup))
    filter_with_locks, filter_without_locks = _call_filters(confinement)
    orders: Orders = {
        "argv": list(argv),
        "environment": environment_of(spec, invitation, private, os.environ),
        "folder": os.path.abspath(spec.directory) if spec.directory else private,
        "private": private if is_inside else "",
        "user": user,
        "drops_capabilities": measures.powers and (is_inside or _is_root()),
        "no_new_privileges": measures.powers,
        "limits": _limits_of(confinement, has_own_user=user is not None),
        "landlock": _choose_ruleset(confinement, view, directory, port),
        "seccomp": filter_with_locks,
        "sysinfo": sysinfo(),
        "seccomp_without_locks": filter_without_locks,
        "own_mounts": ["/", "/proc", "/tmp", PRIVATE] if is_inside else [],
        "forbids_namespaces": is_inside and not _is_root(),
        "cgroups": list(joined),
        "port": port if has_own_network and spec.transport == "tcp" else 0,
        "streams": list(streams),
    }
    orders_at = _make_file(marshal.dumps(dict(orders)), to_start)
    our_place = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(supervise.__file__))))
    start_text = _START.format(our_place, control, orders_at)
    call = [os.path.realpath(sys.executable), "-I", "-S", "-c", start_text]
    passed = [control, orders_at, *streams, *joined]
    if is_inside:
        enter, opened = _enter_namespaces(confinement, view, user, to_start)
        call = [*enter, *call]
        passed += opened
    count = (1 + (orders["port"] != 0)) if is_inside else 0
    return Launch(tuple(call), tuple(passed), is_inside, count, who, cgroup)


def view_of_bot(spec: BotSpec, argv: Sequence[str], confinement: Confinement) -> VisibleFiles:
    """Return what a bot with this command line may see where its level hides files."""
    return view_of(
        argv,
        spec.environment.get("PATH", os.environ.get("PATH", os.defpath)),
        folder=spec.folder,
        directory=os.path.abspath(spec.directory) if spec.directory else None,
        built_in=bool(spec.built_in),
        bind=confinement.bind,
        hidden=confinement.hidden,
    )


def _is_root() -> bool:
    return os.geteuid() == 0


def _choose_user(
    measures: Measures, view: VisibleFiles, directory: str, to_live: contextlib.ExitStack
) -> tuple[int | None, User]:
    """Return the id of a user of the bot's own, if it gets one, and what to call its user. Outside of
    namespaces the private folder becomes that user's."""
    if not (measures.powers and _is_root()):
        return None, "runner"
    user: int | None = None
    if others_can_use(view.paths, without_ancestors=measures.namespaces):
        user = to_live.enter_context(own_user())
    if user is None:
        return None, "root_without_powers"
    if not measures.namespaces:
        os.chmod(os.path.dirname(directory), 0o711)
        os.chown(directory, user, user)
    return user, "own"


def _call_filters(confinement: Confinement) -> tuple[bytes, bytes]:
    """Return the filters of system calls, with and without file locks; empty if the level has none."""
    if not confinement.measures.calls:
        return b"", b""
    is_inside = confinement.measures.namespaces
    filter_of = partial(
        call_filter,
        is_inside=is_inside,
        tcp_only=not is_inside and not confinement.network,
        is_pinned=bool(confinement.processors),
        can_empty_files=not is_inside and can_empty_files(),
    )
    return filter_of(has_locks=is_inside), filter_of(has_locks=False)


def _enter_namespaces(
    confinement: Confinement, view: VisibleFiles, user: int | None, to_start: contextlib.ExitStack
) -> tuple[list[str], list[int]]:
    """Return the words that start a command inside of namespaces, and the descriptors that they name."""
    files = [
        (_make_file(text, to_start), place) for text, place in _own_files(user, network=confinement.network)
    ]
    passed = [number for number, _ in files]

    def opened(path: str) -> int:
        passed.append(os.open(path, os.O_RDONLY))
        to_start.callback(os.close, passed[-1])
        return passed[-1]

    words = call_of_bubblewrap(
        [*system_paths(network=confinement.network, users=False), *view.paths],
        is_root=_is_root(),
        network=confinement.network,
        disk_mb=confinement.disk_mb,
        files=files,
        opened=opened,
    )
    return words, passed


def _port_in(address: str) -> int:
    """Return the TCP port that a bot connects to; 0 if it does not."""
    scheme, _, place = address.partition("://")
    port = place.rpartition(":")[2]
    return int(port) if scheme == "tcp" and port.isdecimal() else 0


def _make_cgroup(confinement: Confinement) -> Cgroup | None:
    """Make the control group of a level. OSError if one is required and cannot be made."""
    processes = confinement.processes
    match confinement.measures.cgroup:
        case "memory":
            return make_cgroup(confinement.memory_mb or MEMORY_MB, processes)
        case "processes" if _is_root():
            with contextlib.suppress(OSError):  # limits by user do not hold for root
                return make_cgroup(None, processes)
        case _:
            pass
    return None


def _limits_of(confinement: Confinement, *, has_own_user: bool) -> list[tuple[int, int]]:
    measures = confinement.measures
    limits = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, DESCRIPTORS)]
    if confinement.memory_mb is not None and measures.cgroup != "memory":
        limits.append((resource.RLIMIT_DATA, confinement.memory_mb * _MB))
    if measures.powers:
        others = 0 if has_own_user or measures.namespaces else _own_thread_count()
        limits.append((resource.RLIMIT_NPROC, confinement.processes + others))
    if measures.file_sizes:
        limits.append((resource.RLIMIT_FSIZE, confinement.disk_mb * _MB))
    if measures.namespaces:  # where a user's bots are counted one by one, and together, too
        limits += [(resource.RLIMIT_SIGPENDING, _OF_SIGNALS), (resource.RLIMIT_MSGQUEUE, _OF_QUEUES)]
    most = {what: resource.getrlimit(what)[1] for what, _ in limits}
    infinity = resource.RLIM_INFINITY
    return [(what, limit if most[what] == infinity else min(limit, most[what])) for what, limit in limits]


def _own_thread_count() -> int:
    """Count the threads of this user, among which the kernel counts those of the bots."""
    uid, count = os.getuid(), 0
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    if entry.stat().st_uid == uid:
                        count += os.stat(f"/proc/{entry.name}/task").st_nlink - 2
    return count


def _choose_ruleset(confinement: Confinement, view: VisibleFiles, private: str, port: int) -> Ruleset | None:
    ports, has_network = [port] if port else [], confinement.network
    match confinement.measures.landlock:
        case "":
            return None
        case "programs":
            return scopes()
        case "files":
            return ruleset([*system_paths(network=True, users=True), *view.paths], [private], ports)
        case "inside":
            of_bot = [*view.paths, PRIVATE, "/dev", "/etc", "/tmp"]
            paths = [*system_paths(network=has_network, users=False), *of_bot]
            folders = sorted({f"/{path.split('/')[1]}" for path in paths})  # the bot may see all in there
            return ruleset_inside(folders, None if has_network else ports)


def _own_files(user: int | None, *, network: bool) -> list[tuple[bytes, str]]:
    """Return the files that are made inside: some programs ask who they are, and where localhost is."""
    uid, gid = (os.getuid(), os.getgid()) if user is None else (user, user)
    files = [
        (f"bot:x:{uid}:{gid}:bot:{PRIVATE}:/bin/sh\n".encode(), "/etc/passwd"),
        (f"bot:x:{gid}:\n".encode(), "/etc/group"),
        *constant_files(),
    ]
    return files if network else [*files, (_NO_HOSTS, "/etc/hosts")]


def _make_file(content: bytes, stack: contextlib.ExitStack) -> int:
    """Return a descriptor of a file in memory."""
    number = os.memfd_create("stellwerk")
    stack.callback(os.close, number)
    os.write(number, content)
    os.lseek(number, 0, os.SEEK_SET)
    return number
