"""Filters of system calls: few calls, all of which programs do without.

A filter that lists what is allowed breaks languages with each new version of them. These forbid what opens
another way around the sandbox: new user namespaces, in which a process has powers again; io_uring, which
filters do not see; keyrings, which outlast a bot in any namespace; a look at what the kernel has in memory of
a file, and a way to change that; watches of files; and for a bot that is pinned, other cores.

A bot that has Landlock and no namespaces has no sockets but those of TCP, and none that listens. The filter
also denies what Landlock does not cover, and the kernel lets all processes of a user do: to change the
priority, cores or limits of another process, or the attributes and flags of the user's files, and to make
shared memory, semaphores or message queues, which stay when no process uses them. Calls that set modes,
owners or times of files seem to succeed, and change nothing: programs that copy or unpack a file in the bot's
own folder make them, too, and would fail. The same holds for locks of files, which other bots would see: the
bot seems to get each lock, and cannot ask who has one.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterable
from typing import Final

_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_SET, _JUMP_IF_GREATER, _AND, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x54, 0x06
_ALLOW: Final = 0x7FFF0000
_REFUSE: Final = 0x00050000
_ASK: Final = 0x7FC00000  # the supervisor; ENOSYS if it does not listen
_ASK_OR_ALLOW: Final = _ASK | 1  # the same, and allowed if it does not listen: see `confine.py`
_NUMBER, _ARCHITECTURE, _ARGUMENT = 0, 4, 16  # where the kernel has them; little endian

_NEW_USER: Final = 0x10000000
_FAST_OPEN: Final = 0x20000000  # sends and connects in one call, past Landlock
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_STREAM, _DATAGRAM, _TCP, _UDP = 1, 2, 6, 17
_OF_SOCKETS, _COOKIE = 1, 57
_PRETEND: Final = 0  # no error: the call returns success
_TYPE_MASK: Final = 0xF
_READ_ONLY, _ACCESS_MODE, _TRUNCATE = 0, 3, 0o1000
_USERS_PROCESSES: Final = 2
_NO_WAIT, _DO_NOT_CACHE, _NOT_NEEDED, _PAGE_OUT = 8, 0x80, 4, 21
_SET_LOCKS: Final = (6, 7, 37, 38)  # commands of fcntl, the last two for open file descriptions
_GET_LOCKS: Final = (5, 36)
_LEASES: Final = (1024, 1025, 1026, 1039, 1040)  # and notes about folders, and delegations
_HINTS: Final = (1035, 1036, 1037, 1038)  # how long what is written will live; the file keeps it
_OF_FILE_SYSTEMS: Final = (0x6600, 0x5800, 0x7600)  # kinds of ioctl: flags and versions that a file keeps
_KIND_OF_IOCTL: Final = 0xFF00
_OF_ONE_PROCESS, _COMMAND_OF_FUTEX = 128, 0x7F
_WAITS: Final = (0, 9)
_WAKES: Final = (1, 3, 4, 5, 10)
_X32: Final = 0x40000000


_X86: Final = (
    *("clone 56", "unshare 272", "socket 41", "sendto 44", "sendmsg 46", "sendmmsg 307"),
    *("open 2", "openat 257", "truncate 76"),
    *("chmod 90", "fchmod 91", "fchmodat 268", "chown 92", "fchown 93", "lchown 94", "fchownat 260"),
    *("utime 132", "utimes 235", "futimesat 261", "utimensat 280"),
    *("setxattr 188", "lsetxattr 189", "fsetxattr 190"),
    *("removexattr 197", "lremovexattr 198", "fremovexattr 199"),
    *("shmget 29", "semget 64", "msgget 68", "mq_open 240"),
    *("add_key 248", "request_key 249", "keyctl 250"),
    *("setpriority 141", "sched_setparam 142", "sched_setscheduler 144", "sched_setattr 314"),
    *("sched_setaffinity 203", "ioprio_set 251", "prlimit64 302"),
    *("sysinfo 99", "statfs 137", "fstatfs 138", "ustat 136", "syslog 103"),
    *("io_setup 206", "perf_event_open 298", "getsockopt 55"),
    *("getpriority 140", "sched_getparam 143", "sched_getscheduler 145", "sched_getattr 315"),
    "ioprio_get 252",
    *("preadv2 327", "fadvise64 221", "madvise 28", "mincore 27"),
    *("fcntl 72", "flock 73", "ioctl 16", "listen 50", "futex 202"),
    *("inotify_init 253", "inotify_init1 294", "fanotify_init 300"),
)
_GENERIC: Final = (  # what all newer architectures have in common
    *("clone 220", "unshare 97", "socket 198", "sendto 206", "sendmsg 211", "sendmmsg 269"),
    *("openat 56", "truncate 45"),
    *("fchmod 52", "fchmodat 53", "fchown 55", "fchownat 54", "utimensat 88"),
    *("setxattr 5", "lsetxattr 6", "fsetxattr 7", "removexattr 14", "lremovexattr 15", "fremovexattr 16"),
    *("shmget 194", "semget 190", "msgget 186", "mq_open 180"),
    *("add_key 217", "request_key 218", "keyctl 219"),
    *("setpriority 140", "sched_setparam 118", "sched_setscheduler 119", "sched_setattr 274"),
    *("sched_setaffinity 122", "ioprio_set 30", "prlimit64 261"),
    *("sysinfo 179", "statfs 43", "fstatfs 44", "syslog 116"),
    *("io_setup 0", "perf_event_open 241", "getsockopt 209"),
    *("getpriority 141", "sched_getparam 121", "sched_getscheduler 120", "sched_getattr 275"),
    "ioprio_get 31",
    *("preadv2 286", "fadvise64 223", "madvise 233", "mincore 232"),
    *("fcntl 25", "flock 32", "ioctl 29", "listen 201", "futex 98"),
    *("inotify_init1 26", "fanotify_init 262"),
)
_EVERYWHERE: Final = (
    *("io_uring_setup 425", "clone3 435", "openat2 437", "process_madvise 440"),
    *("futex_waitv 449", "futex_wake 454", "futex_wait 455", "futex_requeue 456"),
    *("cachestat 451", "fchmodat2 452", "setxattrat 463", "removexattrat 466", "file_setattr 469"),
)

_MODES: Final = ("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat")
_TIMES: Final = ("utime", "utimes", "futimesat", "utimensat")
_FUTEXES_OF_LATER: Final = ("futex_waitv", "futex_wake", "futex_wait", "futex_requeue")
_WATCHES: Final = ("inotify_init", "inotify_init1", "fanotify_init")
_ATTRIBUTES: Final = (
    *("setxattr", "lsetxattr", "fsetxattr", "setxattrat", "file_setattr"),
    *("removexattr", "lremovexattr", "fremovexattr", "removexattrat"),
)
_LASTING: Final = ("shmget", "semget", "msgget", "mq_open")
_OF_THE_MACHINE: Final = ("statfs", "ustat", "syslog", "io_setup", "perf_event_open")
_ANSWERED: Final = ("sysinfo", "fstatfs")  # by the supervisor: runtimes need an answer
_KEYRINGS: Final = ("add_key", "request_key", "keyctl")
_SEEN_OF_A_PROCESS: Final = (
    *(("sched_getparam", 0), ("sched_getscheduler", 0), ("sched_getattr", 0)),
    *(("getpriority", 1), ("ioprio_get", 1)),  # Java looks at the cores of each of its threads
)
_OF_A_PROCESS: Final = (
    "sched_setparam",
    "sched_setscheduler",
    "sched_setattr",
    "sched_setaffinity",
    "prlimit64",
)


def _read_numbers(calls: Iterable[str]) -> dict[str, int]:
    return {name: int(number) for name, number in (call.split() for call in calls)}


_MACHINES: Final = {
    "x86_64": (0xC000003E, _read_numbers((*_X86, *_EVERYWHERE))),
    "aarch64": (0xC00000B7, _read_numbers((*_GENERIC, *_EVERYWHERE))),
    "riscv64": (0xC00000F3, _read_numbers((*_GENERIC, *_EVERYWHERE))),
}


def call_filter(
    *, is_inside: bool, has_locks: bool, tcp_only: bool, is_pinned: bool, can_empty_files: bool
) -> bytes:
    """Return the filter, or nothing on a machine whose numbers of calls are not known here. A program for
    another architecture than the machine's gets every call refused.

    `is_inside`: the bot has namespaces, with nothing of others in them. `has_locks`: the inodes that it can
    lock are its own. `tcp_only` leaves no other sockets. `is_pinned`: it stays on the cores that it was
    started on. `can_empty_files`: Landlock would let it, with the right to read.
    """
    architecture, numbers = _MACHINES.get(platform.machine(), (0, {}))
    if not numbers:
        return b""

    def refused(names: Iterable[str], error: int) -> list[bytes]:
        known = (numbers[name] for name in names if name in numbers)
        return [rule for number in known for rule in _refuse_when(_JUMP_IF_EQUAL, number, error)]

    def checked(name: str, *rules: list[bytes]) -> list[bytes]:
        """Apply rules to one call. They end with the call allowed, because they have lost its number."""
        if name not in numbers:
            return []
        body = [*(part for rule in rules for part in rule), *_return(_ALLOW)]
        return [_instruction(_JUMP_IF_EQUAL, numbers[name], 0, len(body)), *body]

    rules = [
        *_load(_ARCHITECTURE),
        *_refuse_unless(_JUMP_IF_EQUAL, architecture, errno.ENOSYS),
        *_load(_NUMBER),
        *_refuse_when(_JUMP_IF_GREATER, _X32, errno.ENOSYS),
        *refused(("clone3",), errno.ENOSYS),  # its flags are in memory; libraries then use clone
        *refused(("io_uring_setup", *_KEYRINGS), errno.ENOSYS),
        *checked("clone", _load_argument(0), _refuse_when(_JUMP_IF_SET, _NEW_USER, errno.EPERM)),
        *checked("unshare", _load_argument(0), _refuse_when(_JUMP_IF_SET, _NEW_USER, errno.EPERM)),
    ]
    # What the kernel has in memory of a file, it has for all bots, whatever namespaces they have.
    unseen = _refuse_when(_JUMP_IF_SET, _NO_WAIT | _DO_NOT_CACHE, errno.EOPNOTSUPP)
    rules += checked("preadv2", _load_argument(5), unseen)
    rules += refused(("mincore", "cachestat"), errno.ENOSYS)
    rules += checked("fadvise64", _load_argument(3), _refuse_when(_JUMP_IF_EQUAL, _NOT_NEEDED, _PRETEND))
    rules += checked("madvise", _load_argument(2), _refuse_when(_JUMP_IF_EQUAL, _PAGE_OUT, errno.EINVAL))
    rules += refused(("process_madvise",), errno.ENOSYS)
    # What the kernel counts, it counts for all bots: room on disks, its own messages, what is under way.
    rules += refused(_OF_THE_MACHINE, errno.ENOSYS)
    rules += [rule for name in _ANSWERED for rule in _leave_to_supervisor(numbers[name])]
    rules += checked("getsockopt", _refuse_cookie())
    rules += refused(_FUTEXES_OF_LATER, errno.ENOSYS)
    rules += checked("futex", _load_argument(1), _keep_waits_within_a_process())
    # Watches count for all bots of a user together, and see what others do to a file that cannot be covered.
    rules += refused(_WATCHES, errno.ENOSYS)
    rules += checked("fcntl", _load_argument(1), *_refuse_commands(has_locks=has_locks))
    if not has_locks:
        rules += refused(("flock",), _PRETEND)
    if is_pinned:
        rules += refused(("sched_setaffinity",), errno.EPERM)
    if not is_inside:
        rules += refused(_LASTING, errno.ENOSYS)
        rules += refused((*_MODES, *_TIMES), _PRETEND)
        rules += refused(_ATTRIBUTES, errno.EOPNOTSUPP)
        kept = [_refuse_when(_JUMP_IF_EQUAL, kind, errno.ENOTTY) for kind in _OF_FILE_SYSTEMS]
        rules += checked("ioctl", _load_argument(1), [_instruction(_AND, _KIND_OF_IOCTL)], *kept)
        rules += refused(("ioprio_set",), errno.EPERM)
        for name in _OF_A_PROCESS:  # 0 is the process that calls
            rules += checked(name, _load_argument(0), _refuse_unless(_JUMP_IF_EQUAL, 0, errno.EPERM))
        for name, place in _SEEN_OF_A_PROCESS:  # what a bot sets of itself, others would see
            rules += checked(name, _load_argument(place), _refuse_unless(_JUMP_IF_EQUAL, 0, errno.ESRCH))
        of_a_user = _refuse_when(_JUMP_IF_EQUAL, _USERS_PROCESSES, errno.EPERM)
        rules += checked(
            "setpriority",
            _load_argument(0),
            of_a_user,
            _load_argument(1),
            _refuse_unless(_JUMP_IF_EQUAL, 0, errno.EPERM),
        )
    if tcp_only:
        rules += refused(("listen",), errno.EACCES)  # a socket without a port gets one, past Landlock
    if tcp_only or is_inside:
        for name, place in (("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3)):
            rules += checked(name, _load_argument(place), _refuse_when(_JUMP_IF_SET, _FAST_OPEN, errno.EPERM))
        rules += checked("socket", _allow_tcp_sockets() if tcp_only else _allow_sockets_of_networks())
    if can_empty_files:
        rules += refused(("openat2",), errno.ENOSYS)  # its flags are in memory
        rules += refused(("truncate",), errno.EACCES)
        # To empty a file while it is opened for reading.
        flags = [_instruction(_AND, _ACCESS_MODE | _TRUNCATE)]
        emptied = _refuse_when(_JUMP_IF_EQUAL, _READ_ONLY | _TRUNCATE, errno.EACCES)
        for name, place in (("open", 1), ("openat", 2)):
            rules += checked(name, _load_argument(place), flags, emptied)
    return b"".join([*rules, *_return(_ALLOW)])


def _refuse_commands(*, has_locks: bool) -> list[list[bytes]]:
    """Refuse what fcntl does to a file that others see, too."""
    errors = dict.fromkeys(_HINTS, errno.EINVAL)
    if not has_locks:
        errors |= dict.fromkeys(_SET_LOCKS, _PRETEND) | dict.fromkeys(_GET_LOCKS, errno.ENOLCK)
        errors |= dict.fromkeys(_LEASES, errno.EINVAL)
    return [_refuse_when(_JUMP_IF_EQUAL, command, error) for command, error in errors.items()]


def _keep_waits_within_a_process() -> list[bytes]:
    """Leave the kernel those waits that no other process can end. See `waits.py` about the others, which
    need no wake-up."""
    return [
        *[_instruction(_JUMP_IF_SET, _OF_ONE_PROCESS, 0, 1), *_return(_ALLOW)],
        _instruction(_AND, _COMMAND_OF_FUTEX),
        *[part for command in _WAITS for part in _leave_to_supervisor(command, _ASK_OR_ALLOW)],
        *[part for command in _WAKES for part in _refuse_when(_JUMP_IF_EQUAL, command, _PRETEND)],
        *_return(_REFUSE | errno.ENOSYS),
    ]


def _refuse_cookie() -> list[bytes]:
    """Refuse the number that the kernel has given to a socket."""
    refuse = _refuse_when(_JUMP_IF_EQUAL, _COOKIE, errno.ENOPROTOOPT)
    return [
        *_load_argument(1),
        _instruction(_JUMP_IF_EQUAL, _OF_SOCKETS, 0, 1 + len(refuse)),
        *_load_argument(2),
        *refuse,
    ]


def _allow_sockets_of_networks() -> list[bytes]:
    """Leave the sockets that a network of its own separates from those of others, of the kinds that Landlock
    can check. The rest is refused."""
    refuse = _return(_REFUSE | errno.EAFNOSUPPORT)
    allow = _return(_ALLOW)
    return [
        *_load_argument(0),
        _instruction(_JUMP_IF_EQUAL, _UNIX, 0, 1),
        *allow,
        _instruction(_JUMP_IF_EQUAL, _NETLINK, 0, 4),
        *_load_argument(2),
        _instruction(_JUMP_IF_EQUAL, 0, 0, 1),  # of addresses and routes
        *allow,
        *refuse,
        _instruction(_JUMP_IF_EQUAL, _INET, 2, 0),
        _instruction(_JUMP_IF_EQUAL, _INET6, 1, 0),
        *refuse,
        *_load_argument(1),
        _instruction(_AND, _TYPE_MASK),
        _instruction(_JUMP_IF_EQUAL, _DATAGRAM, 4, 0),
        _instruction(_JUMP_IF_EQUAL, _STREAM, 0, 6),
        *_load_argument(2),
        _instruction(_JUMP_IF_EQUAL, _TCP, 5, 0),
        _instruction(_JUMP_IF_EQUAL, 0, 4, 3),
        *_load_argument(2),
        _instruction(_JUMP_IF_EQUAL, 0, 2, 0),
        _instruction(_JUMP_IF_EQUAL, _UDP, 1, 0),
        *refuse,
    ]


def _allow_tcp_sockets() -> list[bytes]:
    refuse = _return(_REFUSE | errno.EACCES)
    return [
        *_load_argument(0),
        _instruction(_JUMP_IF_EQUAL, _INET, 2, 0),
        _instruction(_JUMP_IF_EQUAL, _INET6, 1, 0),
        *refuse,
        *_load_argument(1),
        _instruction(_AND, _TYPE_MASK),
        _instruction(_JUMP_IF_EQUAL, _STREAM, 1, 0),
        *refuse,
        *_load_argument(2),
        _instruction(_JUMP_IF_EQUAL, 0, 2, 0),
        _instruction(_JUMP_IF_EQUAL, _TCP, 1, 0),
        *refuse,
    ]


def _load_argument(place: int) -> list[bytes]:
    return _load(_ARGUMENT + 8 * place)


def _load(offset: int) -> list[bytes]:
    return [_instruction(_LOAD, offset)]


def _refuse_when(jump: int, value: int, error: int) -> list[bytes]:
    return [_instruction(jump, value, 0, 1), *_return(_REFUSE | error)]


def _refuse_unless(jump: int, value: int, error: int) -> list[bytes]:
    return [_instruction(jump, value, 1, 0), *_return(_REFUSE | error)]


def _leave_to_supervisor(number: int, action: int = _ASK) -> list[bytes]:
    return [_instruction(_JUMP_IF_EQUAL, number, 0, 1), *_return(action)]


def _return(value: int) -> list[bytes]:
    return [_instruction(_RETURN, value)]


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)
