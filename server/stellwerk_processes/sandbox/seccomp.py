"""Filters of system calls: few calls, all of which programs do without.

A filter that lists what is allowed breaks languages with each new version of them. These forbid what opens
another way around the sandbox: new user namespaces, in which a process has powers again; io_uring, which
filters do not see; and where TCP to one port is all that a bot has of a network, every other kind of socket.
"""

from __future__ import annotations

import errno
import platform
import struct
from dataclasses import dataclass
from typing import Final

_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_SET, _JUMP_IF_GREATER, _AND, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x54, 0x06
_ALLOW: Final = 0x7FFF0000
_REFUSE: Final = 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENT = 0, 4, 16  # where the kernel has them; little endian

_NEW_USER: Final = 0x10000000
_FAST_OPEN: Final = 0x20000000  # sends and connects in one call, past Landlock
_INET, _INET6, _STREAM, _TCP = 2, 10, 1, 6
_TYPE_MASK: Final = 0xF
_X32: Final = 0x40000000


@dataclass(frozen=True, slots=True)
class _Machine:
    architecture: int
    clone: int
    unshare: int
    socket: int
    sendto: int
    sendmsg: int
    sendmmsg: int


_MACHINES: Final = {
    "x86_64": _Machine(0xC000003E, 56, 272, 41, 44, 46, 307),
    "aarch64": _Machine(0xC00000B7, 220, 97, 198, 206, 211, 269),
    "riscv64": _Machine(0xC00000F3, 220, 97, 198, 206, 211, 269),
}
_CLONE3: Final = 435  # on every architecture
_IO_URING_SETUP: Final = 425


def call_filter(*, tcp_only: bool) -> bytes:
    """Return the filter, or nothing on a machine whose numbers of calls are not known here. A program for
    another architecture than the machine's gets every call refused. `tcp_only` leaves no other sockets."""
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        return b""
    rules = [
        *_load(_ARCHITECTURE),
        *_unless(_JUMP_IF_EQUAL, machine.architecture, errno.ENOSYS),
        *_load(_NUMBER),
        *_when(_JUMP_IF_GREATER, _X32, errno.ENOSYS),
        *_when(_JUMP_IF_EQUAL, _CLONE3, errno.ENOSYS),  # its flags are in memory; libraries then use clone
        *_when(_JUMP_IF_EQUAL, _IO_URING_SETUP, errno.ENOSYS),
        *_for_call(machine.clone, [*_argument(0), *_when(_JUMP_IF_SET, _NEW_USER, errno.EPERM)]),
        *_for_call(machine.unshare, [*_argument(0), *_when(_JUMP_IF_SET, _NEW_USER, errno.EPERM)]),
    ]
    if tcp_only:
        for call, place in ((machine.sendto, 3), (machine.sendmsg, 2), (machine.sendmmsg, 3)):
            rules += _for_call(call, [*_argument(place), *_when(_JUMP_IF_SET, _FAST_OPEN, errno.EPERM)])
        rules += _for_call(machine.socket, _only_tcp())
    return b"".join([*rules, *_return(_ALLOW)])


def _only_tcp() -> list[bytes]:
    refuse = _return(_REFUSE | errno.EACCES)
    return [
        *_argument(0),
        _instruction(_JUMP_IF_EQUAL, _INET, 2, 0),
        _instruction(_JUMP_IF_EQUAL, _INET6, 1, 0),
        *refuse,
        *_argument(1),
        _instruction(_AND, _TYPE_MASK),
        _instruction(_JUMP_IF_EQUAL, _STREAM, 1, 0),
        *refuse,
        *_argument(2),
        _instruction(_JUMP_IF_EQUAL, 0, 2, 0),
        _instruction(_JUMP_IF_EQUAL, _TCP, 1, 0),
        *refuse,
    ]


def _for_call(number: int, rules: list[bytes]) -> list[bytes]:
    """Apply rules to one call. They end with the call allowed, for they have lost its number."""
    body = [*rules, *_return(_ALLOW)]
    return [_instruction(_JUMP_IF_EQUAL, number, 0, len(body)), *body]


def _argument(place: int) -> list[bytes]:
    return _load(_ARGUMENT + 8 * place)


def _load(offset: int) -> list[bytes]:
    return [_instruction(_LOAD, offset)]


def _when(jump: int, value: int, error: int) -> list[bytes]:
    return [_instruction(jump, value, 0, 1), *_return(_REFUSE | error)]


def _unless(jump: int, value: int, error: int) -> list[bytes]:
    return [_instruction(jump, value, 1, 0), *_return(_REFUSE | error)]


def _return(value: int) -> list[bytes]:
    return [_instruction(_RETURN, value)]


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)
