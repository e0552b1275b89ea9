"""The last steps before a program: it gives up what it must not have, and cannot get it back.

This runs between fork and exec in a supervisor (`supervise.py`), and so it imports nothing of ours. Law: any
step that fails raises OSError, and the program is not started. No step is left out silently.
"""

from __future__ import annotations

import ctypes
import os
import resource

TYPE_CHECKING = False  # see `supervise.py`
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

    from stellwerk_processes.bench.orders import Orders

_SET_DEATH_SIGNAL: Final = 1
_SIGKILL: Final = 9
_SET_DUMPABLE: Final = 4
_SET_SECCOMP: Final = 22
_CAPBSET_READ: Final = 23
_CAPBSET_DROP: Final = 24
_SET_SECUREBITS: Final = 28
_SET_CHILD_SUBREAPER: Final = 36
_SET_NO_NEW_PRIVS: Final = 38
_CAP_AMBIENT: Final = 47
_CAP_AMBIENT_CLEAR_ALL: Final = 4
_SECCOMP_FILTER: Final = 2
_SECCOMP_CALL: Final = 317 if os.uname().machine == "x86_64" else 277
_ASK_OR_ALLOW, _ALLOW = (b"\6\0\0\0" + value.to_bytes(4, "little") for value in (0x7FC00001, 0x7FFF0000))
_FILTER_MODE: Final = 1
_NEW_LISTENER: Final = 1 << 3
_NO_ROOT: Final = 0x3  # user 0 gets no capabilities by exec, and that is locked
_CAPABILITY_VERSION: Final = 0x20080522
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446  # on every architecture
_PATH_BENEATH, _NET_PORT = 1, 2

_libc = ctypes.CDLL(None, use_errno=True)


def take_in_orphans() -> None:
    """Become the parent of all descendants whose own parent ends."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def hide() -> None:
    """Let no process of the same user read or trace this one."""
    _prctl(_SET_DUMPABLE, 0)


def give_up_powers(orders: Orders, user: int | None) -> int | None:
    """Take the steps that the orders ask for, as the `user`, if there is one. Return the descriptor by which
    the supervisor learns of the calls that the filter leaves to it."""
    for number in orders["cgroups"]:
        os.write(number, b"0")
    for what, limit in orders["limits"]:
        resource.setrlimit(what, (limit, limit))
    if orders["drops_capabilities"]:
        _drop_bounds()
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    if orders["drops_capabilities"]:
        _drop_capabilities()
    _prctl(_SET_DEATH_SIGNAL, _SIGKILL)  # should the supervisor be killed; a change of user would undo it
    if orders["no_new_privileges"]:
        _prctl(_SET_NO_NEW_PRIVS, 1)
    if orders["landlock"] is not None:
        _restrict_by_landlock(*orders["landlock"])
    return _filter_calls(orders["seccomp"]) if orders["seccomp"] else None


def give_up_capabilities(capabilities: Iterable[int]) -> None:
    """Give up these capabilities, by their numbers, and keep the others."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable, and the same for high numbers
    check(_libc.capget(header, sets), "capget")
    for number in range(3):
        for capability in capabilities:
            sets[number] &= ~(1 << capability)
    check(_libc.capset(header, sets), "capset")


def _drop_bounds() -> None:
    """Drop all capabilities that a later exec could give."""
    number = 0
    while _libc.prctl(_CAPBSET_READ, number, 0, 0, 0) >= 0:
        _prctl(_CAPBSET_DROP, number)
        number += 1
    _prctl(_SET_SECUREBITS, _NO_ROOT)


def _drop_capabilities() -> None:
    _libc.prctl(_CAP_AMBIENT, _CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)  # kernels before 4.3 have none
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    check(_libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")


def _restrict_by_landlock(
    attributes: bytes, paths: list[tuple[str, int]], ports: list[tuple[int, int]]
) -> None:
    ruleset = check(
        _libc.syscall(_LANDLOCK_CREATE, attributes, len(attributes), 0), "landlock_create_ruleset"
    )
    for path, rights in paths:
        try:
            beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:  # has gone, or is none of this user's: then no rule is needed
            continue
        rule = rights.to_bytes(8, "little") + beneath.to_bytes(4, "little")
        check(_libc.syscall(_LANDLOCK_ADD, ruleset, _PATH_BENEATH, rule, 0), f"landlock_add_rule: {path}")
        os.close(beneath)
    for port, rights in ports:
        rule = rights.to_bytes(8, "little") + port.to_bytes(8, "little")
        check(_libc.syscall(_LANDLOCK_ADD, ruleset, _NET_PORT, rule, 0), f"landlock_add_rule: port {port}")
    check(_libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


def _filter_calls(program: bytes) -> int | None:
    """Load a filter of system calls: instructions of eight bytes each. Without a listener, which an old
    kernel or a filter around this one may refuse, the calls that are left to it fail."""
    instructions = ctypes.create_string_buffer(program, len(program))
    pointer = ctypes.addressof(instructions)
    size = ctypes.sizeof(ctypes.c_void_p)
    header = (len(program) // 8).to_bytes(size, "little") + pointer.to_bytes(size, "little")
    listener: int = _libc.syscall(_SECCOMP_CALL, _FILTER_MODE, _NEW_LISTENER, header)
    if listener >= 0:
        return listener
    parts = (program[place : place + 8] for place in range(0, len(program), 8))
    allowed = b"".join(_ALLOW if part == _ASK_OR_ALLOW else part for part in parts)
    ctypes.memmove(pointer, allowed, len(allowed))
    check(_libc.prctl(_SET_SECCOMP, _SECCOMP_FILTER, header, 0, 0), "seccomp")
    return None


def _prctl(option: int, value: int) -> None:
    check(_libc.prctl(option, value, 0, 0, 0), f"prctl {option}")


def check(answer: int, what: str) -> int:
    """Return the answer of a call to the C library. OSError if it is an error."""
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return answer
