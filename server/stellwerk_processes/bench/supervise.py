"""The supervisor, the one process of ours beside each bot: it starts the bot, and ends all its processes.

It is a small program of its own, `python -I -S`, which imports the standard library alone, and none of its
larger modules, because it is started as often as bots are. Inside namespaces it is process 1. It has one
thread, and sleeps until the bot ends, an orphan ends, the bot asks about the machine or waits for memory that
its processes share (`waits.py`), or the runner sends a word over the control socket: TERMINATE, or KILL. It
sends FAULT with a cause if the sandbox cannot be set up, STARTED when the bot runs (inside namespaces with
the descriptors of the private folder and of the port to listen at), and ENDED with the wait status and what
was used.

Law: when the bot has ended, when the runner asks, and when the runner has gone (then the control socket
ends), every descendant is killed, until none is left. Descendants cannot get away: those whose parents end
become children of the supervisor.
"""

from __future__ import annotations

import _socket  # `socket` takes as long to load as all the rest of this program
import ctypes
import marshal
import os
import resource
import select
import sys
import time

from stellwerk_processes.bench import confine, inodes, waits

TYPE_CHECKING = False  # not from `typing`, which takes longer to load than all the rest
if TYPE_CHECKING:
    from typing import Final, NoReturn

    from stellwerk_processes.bench.orders import Orders

TERMINATE: Final = b"t"
KILL: Final = b"k"
FAULT: Final = b"fault "
STARTED: Final = b"started "
ENDED: Final = b"ended "
NOT_EXECUTABLE: Final = 126  # exit statuses, as shells use them
NOT_FOUND: Final = 127

_SIGKILL: Final = 9
_SIGPIPE: Final = 13
_SIGTERM: Final = 15
_SIGCHLD: Final = 17
_SET_MASK: Final = 2
_NO_CHILD_STOP: Final = 1
_SIZE_OF_ACTION, _FLAGS_OF_ACTION = 152, 136  # a handler, a set of signals of 128 bytes, flags, a function
_CLOEXEC: Final = 0o2000000
_NOT_A_PROGRAM: Final = 8  # ENOEXEC
_TO_SEPARATE: Final = (21, 24)  # CAP_SYS_ADMIN to mount, CAP_SYS_RESOURCE to set a limit
_NO_SUCH_FILE: Final = 2
_LONGEST_WORD: Final = 64
_LONGEST_FAULT: Final = 4096
_RECEIVE, _SEND, _IS_VALID = 0xC0502100, 0xC0182101, 0x40082102  # of a listener of system calls
_SIZE_OF_CALL, _PID_OF_CALL, _NUMBER_OF_CALL, _ARGUMENTS_OF_CALL = 80, 8, 16, 32
_SYSINFO, _FUTEX = (99, 179), (202, 98)  # their numbers; the other call that comes here is fstatfs
_SIZE_OF_ROOM, _COUNTS_OF_ROOM, _COUNTS = 120, 16, 5  # blocks, free blocks, and files
_MUCH: Final = (1 << 28).to_bytes(8, sys.byteorder)
_NOT_THERE, _INTERRUPTED = 38, 4  # ENOSYS, EINTR

_libc = ctypes.CDLL(None, use_errno=True)


def main(control: int, orders_at: int) -> None:
    """Supervise one bot. The arguments are descriptors: of the control socket, and of the orders."""
    for number in os.listdir("/proc/self/fd"):
        if int(number) > 2:
            try:
                os.set_inheritable(int(number), False)
            except OSError:
                pass  # the one by which they were listed
    with open(orders_at, "rb") as file:
        orders: Orders = marshal.load(file)
    try:
        confine.take_in_orphans()
        confine.hide()
        children = _block_signals()
        _separate(orders, children)
        descriptors = _open_inside(orders)
        bot, used_before, calls = _start_bot(orders)
    except OSError as error:
        os.write(control, FAULT + str(error).encode())
        sys.exit(1)
    _send(control, STARTED + str(bot).encode(), descriptors)
    status = _supervise(bot, children, control, calls, orders)
    _end_all()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = usage.ru_utime + usage.ru_stime - used_before
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # the child had as much before its exec
    with_own = usage.ru_maxrss if usage.ru_maxrss > own + 4096 else 0
    try:
        os.write(control, ENDED + f"{status} {used:.6f} {with_own}".encode())
    except OSError:
        pass  # the runner has gone
    os._exit(0)


# -- start -------------------------------------------------------------------------------------------


def _block_signals() -> int:
    """Block all signals, and return a descriptor that is readable when a child has ended."""
    every = ctypes.create_string_buffer(128)
    _libc.sigfillset(every)
    _libc.sigprocmask(_SET_MASK, every, None)
    # Ignore children that stop and continue: otherwise a bot could wake the supervisor at will.
    flags = _NO_CHILD_STOP.to_bytes(4, sys.byteorder)
    default = ctypes.create_string_buffer(bytes(_FLAGS_OF_ACTION) + flags, _SIZE_OF_ACTION)
    _libc.sigaction(_SIGCHLD, default, None)
    of_children = ctypes.create_string_buffer(128)
    _libc.sigemptyset(of_children)
    _libc.sigaddset(of_children, _SIGCHLD)
    descriptor: int = _libc.signalfd(-1, of_children, _CLOEXEC)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "signalfd")
    return descriptor


def _unblock_signals() -> None:
    none = ctypes.create_string_buffer(128)
    _libc.sigemptyset(none)
    # Python ignores it, and a program expects it as usual. SIGXFSZ stays ignored: a file that gets too large
    # is an error then. A runtime that could do with less (.NET) would not live to see it otherwise.
    _libc.signal(_SIGPIPE, None)
    _libc.sigprocmask(_SET_MASK, none, None)


def _separate(orders: Orders, children: int) -> None:
    """Give the bot inodes of its own, inside of namespaces, and give up the power to do that. A signal
    descriptor has the inode that all event descriptors have."""
    if not orders["own_mounts"]:
        return
    try:
        inodes.separate(orders["own_mounts"], [children])
    except OSError:
        orders["seccomp"] = orders["seccomp_without_locks"]
    if orders["forbids_namespaces"]:
        inodes.forbid_namespaces()
    confine.give_up_capabilities(_TO_SEPARATE)


def _open_inside(orders: Orders) -> list[int]:
    """Return the descriptors that the runner needs of what only exists in here."""
    if not orders["private"]:
        return []
    folder = os.open(orders["private"], os.O_RDONLY | os.O_DIRECTORY)
    if orders["user"] is not None:
        # After the folder was opened: root's power to open what belongs to others is not kept in here.
        os.fchown(folder, orders["user"], orders["user"])
    descriptors = [folder]
    if orders["port"]:
        listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        listener.bind(("127.0.0.1", orders["port"]))
        listener.listen(16)
        descriptors.append(listener.detach())
    return descriptors


def _start_bot(orders: Orders) -> tuple[int, float, int | None]:
    """Start the bot. Return its id, the time that the child used before it became the bot, and a descriptor
    by which it asks about the machine. OSError if something failed that is no fault of the program."""
    ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    child = os.fork()
    if child == 0:
        _become_bot(orders, theirs.fileno())
    theirs.close()
    for number in orders["streams"]:
        os.close(number)
    word, rights, _, _ = ours.recvmsg(_LONGEST_FAULT, _socket.CMSG_SPACE(4))
    ours.recv(1)  # ends when the bot is there
    ours.close()
    calls = int.from_bytes(rights[0][2][:4], sys.byteorder) if rights else None
    if calls is not None:
        os.set_inheritable(calls, False)
    if word.startswith(FAULT):
        os.waitpid(child, 0)
        raise OSError(word.removeprefix(FAULT).decode())
    return child, float(word or b"0"), calls


def _become_bot(orders: Orders, writing: int) -> NoReturn:
    """Become the bot. A fault of ours is written to the pipe; one of the program to standard error."""
    try:
        os.setsid()
        for number, stream in enumerate(orders["streams"]):
            os.dup2(stream, number)
        calls = confine.give_up_powers(orders, orders["user"])
        _unblock_signals()
        word = str(time.process_time()).encode()
        _send(writing, word, [] if calls is None else [calls])
    except OSError as error:
        os.write(writing, FAULT + str(error).encode())
        os._exit(1)
    argv, environment = orders["argv"], orders["environment"]
    what = orders["folder"]
    try:
        os.chdir(orders["folder"])
        what = argv[0]
        try:
            os.execvpe(argv[0], argv, environment)
        except OSError as error:
            if error.errno != _NOT_A_PROGRAM:
                raise
            os.execve("/bin/sh", ["/bin/sh", *argv], environment)  # a script that does not name its shell
    except OSError as error:
        os.write(2, f"stellwerk: cannot start: {what}: {error.strerror}\n".encode())
        os._exit(NOT_FOUND if error.errno == _NO_SUCH_FILE else NOT_EXECUTABLE)


def _send(control: int, word: bytes, descriptors: list[int]) -> None:
    if not descriptors:
        os.write(control, word)
        return
    rights = b"".join(number.to_bytes(4, sys.byteorder) for number in descriptors)
    sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, fileno=control)
    sock.sendmsg([word], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
    sock.detach()
    for number in descriptors:
        os.close(number)


# -- life --------------------------------------------------------------------------------------------


def _supervise(bot: int, children: int, control: int, calls: int | None, orders: Orders) -> int:
    """Wait until the bot has ended, is to be killed, or the runner has gone. Return its wait status."""
    poll = select.poll()
    poll.register(children, select.POLLIN)
    poll.register(control, select.POLLIN)
    if calls is not None:
        poll.register(calls, select.POLLIN)
    waiting = waits.Waits()
    while True:
        events = poll.poll(waiting.milliseconds(time.monotonic()))
        for call, error in waiting.ended(time.monotonic()):
            _end_call(calls or 0, call, error)
        for number, event in events:
            if calls is not None and number == calls:
                if event & select.POLLIN:
                    _answer_call(calls, orders, waiting)
                else:  # no process is left that could ask
                    poll.unregister(calls)
                continue
            if number == children:
                os.read(children, 1024)
                status, _ = _reap_children(bot)
                if status is not None:
                    return status
                continue
            try:
                word = os.read(control, _LONGEST_WORD)
            except OSError:
                word = b""
            if word == TERMINATE:
                _signal_all(_SIGTERM)
            else:  # KILL, or the runner has gone
                return _end_all(bot)


def _answer_call(calls: int, orders: Orders, waiting: waits.Waits) -> None:
    """Answer a call that a process of the bot makes, by writing where it wants to have the answer, or let it
    wait. Its memory is used with the bot's rights."""
    call = ctypes.create_string_buffer(_SIZE_OF_CALL)
    if _libc.ioctl(calls, ctypes.c_ulong(_RECEIVE), call) < 0:
        return  # it is gone
    pid, number = _read_value(call, _PID_OF_CALL, 4), _read_value(call, _NUMBER_OF_CALL, 4)
    first, second, limit = (_read_value(call, _ARGUMENTS_OF_CALL + offset, 8) for offset in (0, 8, 24))
    error, left = 0, None
    try:
        _take_user(orders["user"] or 0)
        memory = os.open(f"/proc/{pid}/mem", os.O_RDWR)
        try:
            if _libc.ioctl(calls, ctypes.c_ulong(_IS_VALID), call) < 0:
                return  # it is gone, and the number may be another's
            if number in _SYSINFO:
                os.pwrite(memory, orders["sysinfo"], first)
            elif number not in _FUTEX:
                os.pwrite(memory, _read_room(f"/proc/{pid}/fd/{first}"), second)
            elif limit:
                left = waits.time_left(second, os.pread(memory, waits.SIZE_OF_LIMIT, limit))
        finally:
            os.close(memory)
    except (OSError, OverflowError):
        error = (_INTERRUPTED if limit else 0) if number in _FUTEX else _NOT_THERE
    finally:
        _take_user(0)
    if number in _FUTEX and not error:
        waiting.add(call.raw[:8], pid, first, left, time.monotonic())
    else:
        _end_call(calls, call.raw[:8], error)


def _end_call(calls: int, call: bytes, error: int) -> None:
    """End a call, with an error unless that is 0."""
    answer = call + bytes(8) + (-error).to_bytes(4, sys.byteorder, signed=True) + bytes(4)
    _libc.ioctl(calls, ctypes.c_ulong(_SEND), answer)


def _read_value(call: ctypes.Array[ctypes.c_char], place: int, size: int) -> int:
    return int.from_bytes(call.raw[place : place + size], sys.byteorder)


def _read_room(path: str) -> bytes:
    """Return what fstatfs does of a file: of which kind its disk is, and always as much room."""
    file = os.open(path, os.O_PATH)
    try:
        room = ctypes.create_string_buffer(_SIZE_OF_ROOM)
        if _libc.fstatfs64(file, room) < 0:
            raise OSError(ctypes.get_errno(), path)
    finally:
        os.close(file)
    end = _COUNTS_OF_ROOM + 8 * _COUNTS
    return room.raw[:_COUNTS_OF_ROOM] + _MUCH * _COUNTS + room.raw[end:]


def _take_user(user: int) -> None:
    """Use the rights of this user for files. Nothing happens where it may not, or is that user."""
    _libc.setfsgid(user)
    _libc.setfsuid(user)


def _reap_children(bot: int) -> tuple[int | None, bool]:
    """Bury all that have ended. Return the bot's wait status if it is among them, and whether a child is
    left."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found, False
        if pid == 0:
            return found, True
        if pid == bot:
            found = status


def _end_all(bot: int = 0) -> int:
    """Kill every descendant until none is left. Return the bot's wait status if it was one of them."""
    found = 0
    while True:
        _signal_all(_SIGKILL)
        status, are_left = _reap_children(bot)
        if status is not None:
            found = status
        if not are_left:
            return found
        time.sleep(0.001)


def _signal_all(number: int) -> None:
    if os.getpid() == 1:  # all that can be seen in here
        try:
            os.kill(-1, number)
        except ProcessLookupError:
            pass
        return
    for pid in descendants(os.getpid()):
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            pass


def descendants(root: int) -> list[int]:
    """Return all descendants that there are at the moment, parents first. One that forks all the time may get
    away: look again to be sure."""
    found: list[int] = []
    unseen = [root]
    while unseen:
        of_one = children(unseen.pop())
        found += of_one
        unseen += of_one
    return found


def children(pid: int) -> list[int]:
    """Return the children of a process, in the order in which it started them."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += [int(child) for child in file.read().split()]
        except OSError:  # one thread may end, the others' children are there
            continue
    return found
