"""The plan of a start: which processes, with which orders, make a bot run at its level.

Law: a plan is made for one start from what there is now. It names everything that the level consists of; what
cannot be set up then fails the start.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import resource
import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from stellwerk_processes.sandbox import supervise
from stellwerk_processes.sandbox.bubblewrap import PRIVATE, bubblewrap, call_of_bubblewrap
from stellwerk_processes.sandbox.landlock import (
    Ruleset,
    can_empty_files,
    landlock_abi,
    ruleset,
    ruleset_inside,
    scopes,
)
from stellwerk_processes.sandbox.levels import Level, Sandbox, is_at_least
from stellwerk_processes.sandbox.machine import constant_files, sysinfo
from stellwerk_processes.sandbox.orders import Orders
from stellwerk_processes.sandbox.seccomp import call_filter
from stellwerk_processes.sandbox.users import others_can_use, own_user
from stellwerk_processes.sandbox.views import View, system_paths, view_of

User = Literal["own", "runner", "root_without_powers"]

DESCRIPTORS: Final = 1024  # what most systems give a process anyway
_MB: Final = 1024 * 1024
_PORTS: Final = range(10_000, 32_000)  # below those that systems give to connections
_OF_SIGNALS, _OF_QUEUES = 1024, 102_400  # so little that all bots of a user together never meet its limit
_NO_HOSTS: Final = b"127.0.0.1 localhost\n::1 localhost\n"
_START: Final = (
    "import sys;sys.path.insert(0,{!r});from stellwerk_processes.sandbox.supervise import main;main({},{})"
)


@dataclass(frozen=True, slots=True)
class Start:
    """A program to start: a command line that can be found in `path`, its environment, its working directory,
    its private folder, and what it may see. `wrapped`: a command of the organizer's confines it. `port`:
    where it may connect to over TCP, and `listens` whether it does that. `streams` are the descriptors of its
    input and output. `is_pinned`: it has cores to itself."""

    argv: tuple[str, ...]
    environment: dict[str, str]
    directory: str | None
    folder: str | None
    private: str
    built_in: bool
    wrapped: bool
    memory_mb: int | None
    port: int
    listens: bool
    streams: tuple[int, int]
    is_pinned: bool = False


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


def lacking(level: Level) -> str:
    """Return what this machine lacks for a level, as far as that can be seen without trying."""
    if level == "landlock" and not landlock_abi():
        return "this kernel has no Landlock"
    if is_at_least(level, "namespace") and bubblewrap() is None:
        return "bubblewrap is not installed"
    return ""


def launch_of(
    start: Start,
    sandbox: Sandbox,
    *,
    control: int,
    cgroups: Sequence[int],
    to_start: contextlib.ExitStack,
    to_live: contextlib.ExitStack,
) -> Launch:
    """Make the plan. `control` is the supervisor's end of the control socket. The stacks hold what is needed
    until the supervisor has been started, and until the bot has ended. OSError if the machine lacks what the
    level consists of."""
    level = sandbox.level
    assert level != "auto"  # `resolve` has found what that is here
    if start.wrapped:
        level = "none"
    if problem := lacking(level):
        raise OSError(0, f"sandbox {level}: {problem}")
    is_inside = is_at_least(level, "namespace")
    view = _view(start, sandbox)
    user: int | None = None
    who: User = "runner"
    if is_at_least(level, "limits") and os.geteuid() == 0:
        who = "root_without_powers"
        if others_can_use(view.paths, without_ancestors=is_inside):
            user = to_live.enter_context(own_user())
        who = "own" if user is not None else "root_without_powers"
    if user is not None and not is_inside:
        os.chmod(os.path.dirname(start.private), 0o711)
        os.chown(start.private, user, user)
    private = PRIVATE if is_inside else start.private
    environment = dict(start.environment)
    for name in ("HOME", "TMPDIR"):
        if environment.get(name) == start.private:
            environment[name] = private
    port = start.port
    if is_inside and port and not sandbox.network:
        # The kernel counts connections by where they lead, for all networks together.
        port = secrets.choice(_PORTS)
        environment["STELLWERK_ADDRESS"] = f"tcp://127.0.0.1:{port}"
    confines = is_at_least(level, "limits")
    is_root = os.geteuid() == 0
    orders: Orders = {
        "argv": list(start.argv),
        "environment": environment,
        "folder": start.directory or private,
        "private": private if is_inside else "",
        "user": user,
        "drops_capabilities": is_inside or (confines and is_root),
        "no_new_privileges": confines,
        "limits": _limits(start, sandbox, level, has_own_user=user is not None),
        "landlock": _landlock(start, sandbox, level, view, port),
        "seccomp": b"",
        "sysinfo": sysinfo(),
        "seccomp_without_locks": b"",
        "own_mounts": ["/", "/proc", "/tmp", PRIVATE] if is_inside else [],
        "forbids_namespaces": is_inside and not is_root,
        "cgroups": list(cgroups),
        "port": port if is_inside and start.listens and not sandbox.network else 0,
        "streams": list(start.streams),
    }
    if is_at_least(level, "landlock"):
        filter_of = partial(
            call_filter,
            is_inside=is_inside,
            tcp_only=not is_inside and not sandbox.network,
            is_pinned=start.is_pinned,
            can_empty_files=not is_inside and can_empty_files(),
        )
        orders["seccomp"] = filter_of(has_locks=is_inside)
        orders["seccomp_without_locks"] = filter_of(has_locks=False)
    orders_at = _file(marshal.dumps(dict(orders)), to_start)
    passed = [control, orders_at, *start.streams, *cgroups]
    start_text = _START.format(_our_place(), control, orders_at)
    argv = [os.path.realpath(sys.executable), "-I", "-S", "-c", start_text]
    if is_inside:
        files = [(_file(text, to_start), place) for text, place in _files(user, network=sandbox.network)]
        passed += [number for number, _ in files]

        def opened(path: str) -> int:
            passed.append(os.open(path, os.O_RDONLY))
            to_start.callback(os.close, passed[-1])
            return passed[-1]

        call = call_of_bubblewrap(
            [*system_paths(network=sandbox.network, users=False), *view.paths],
            is_root=is_root,
            network=sandbox.network,
            disk_mb=sandbox.disk_mb,
            files=files,
            opened=opened,
        )
        argv = [*call, *argv]
    count = (1 + (orders["port"] != 0)) if is_inside else 0
    return Launch(tuple(argv), tuple(passed), is_inside, count, who)


def _view(start: Start, sandbox: Sandbox) -> View:
    return view_of(
        start.argv,
        start.environment.get("PATH", os.defpath),
        folder=start.folder,
        directory=start.directory,
        built_in=start.built_in,
        bind=sandbox.bind,
        hidden=sandbox.hidden,
    )


def _limits(start: Start, sandbox: Sandbox, level: Level, *, has_own_user: bool) -> list[tuple[int, int]]:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    descriptors = DESCRIPTORS if most == resource.RLIM_INFINITY else min(DESCRIPTORS, most)
    limits = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, descriptors)]
    if start.memory_mb is not None and level != "full":
        limits.append((resource.RLIMIT_DATA, start.memory_mb * _MB))
    if is_at_least(level, "limits"):
        others = 0 if has_own_user or is_at_least(level, "namespace") else _own_thread_count()
        limits.append((resource.RLIMIT_NPROC, sandbox.processes + others))
    if is_at_least(level, "limits") and not is_at_least(level, "namespace"):
        # Inside of namespaces each folder has a size. There, files in memory may be as long as runtimes like:
        # some reserve room for compiled code or for their heap in one of 2 TB, of which they use little.
        limits.append((resource.RLIMIT_FSIZE, sandbox.disk_mb * _MB))
    if is_at_least(level, "namespace"):  # where a user's bots are counted one by one, and together, too
        limits += [(resource.RLIMIT_SIGPENDING, _OF_SIGNALS), (resource.RLIMIT_MSGQUEUE, _OF_QUEUES)]
    return [(what, _within(what, limit)) for what, limit in limits]


def _within(what: int, limit: int) -> int:
    _, most = resource.getrlimit(what)
    return limit if most == resource.RLIM_INFINITY else min(limit, most)


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


def _landlock(start: Start, sandbox: Sandbox, level: Level, view: View, port: int) -> Ruleset | None:
    if level == "landlock":
        readable = [*system_paths(network=True, users=True), *view.paths]
        return ruleset(readable, [start.private], [port] if port else [])
    if level == "limits":
        return scopes()
    if not is_at_least(level, "namespace"):
        return None
    paths = [
        *system_paths(network=sandbox.network, users=False),
        *view.paths,
        PRIVATE,
        "/dev",
        "/etc",
        "/tmp",
    ]
    folders = sorted({f"/{path.split('/')[1]}" for path in paths})  # all in there is what the bot may see
    return ruleset_inside(folders, None if sandbox.network else [port] if port else [])


def _files(user: int | None, *, network: bool) -> list[tuple[bytes, str]]:
    """Return the files that are made inside: some programs ask who they are, and where localhost is."""
    uid, gid = (os.getuid(), os.getgid()) if user is None else (user, user)
    files = [
        (f"bot:x:{uid}:{gid}:bot:{PRIVATE}:/bin/sh\n".encode(), "/etc/passwd"),
        (f"bot:x:{gid}:\n".encode(), "/etc/group"),
        *constant_files(),
    ]
    return files if network else [*files, (_NO_HOSTS, "/etc/hosts")]


def _file(content: bytes, stack: contextlib.ExitStack) -> int:
    """Return a descriptor of a file in memory."""
    number = os.memfd_create("stellwerk")
    stack.callback(os.close, number)
    os.write(number, content)
    os.lseek(number, 0, os.SEEK_SET)
    return number


def _our_place() -> str:
    """Return the folder in which the package of the supervisor is."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(supervise.__file__))))
