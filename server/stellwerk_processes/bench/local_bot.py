"""A bot that runs on this machine: started confined, heard out, frozen, measured, and ended with all that it
started. Nothing else in Stellwerk touches a bot's processes.

Law: whatever a bot does costs no other bot anything. It is the leader of a session and a process group of
its own, with no open descriptor but its standard streams, and an empty folder of its own. Its output is read
all the time, so that it never waits for a reader. When it ends, or is to end, or the runner is cancelled or
killed, its supervisor (`supervise.py`) kills all that it started, and ends itself. Then its folder is
removed. A bot that kills its supervisor, where it can, ends with it, and the runner ends the rest
(`orphans.py`).

Most bots live for one match. One that plays match after match (`standing_server.py`) keeps its process and
its folder; what it left there is removed before the next one.

The supervisor is started by the runner, and the bot by the supervisor, which has one thread only: so it can
set limits between fork and exec, where Python code of the runner's would be unsafe. They hold before the
bot's first instruction. The two talk over a control socket. Its messages are read with suspicion: at the
lowest levels a bot can take the supervisor over, which costs it only its own report.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

import trio

from stellwerk_base.texts import last_printed
from stellwerk_processes.bench import supervise
from stellwerk_processes.bench.answer_time import AnswerSums, AnswerTimer
from stellwerk_processes.bench.bubblewrap import cure_of
from stellwerk_processes.bench.cgroups import Cgroup
from stellwerk_processes.bench.cores import pinned_to
from stellwerk_processes.bench.family import descendants_ms
from stellwerk_processes.bench.freezer import Progress, freezer_of
from stellwerk_processes.bench.invitation import Invitation
from stellwerk_processes.bench.launch import Launch, launch_of
from stellwerk_processes.bench.levels import UNCONFINED, Confinement, User
from stellwerk_processes.bench.orphans import end_orphans, forget, start_noted
from stellwerk_processes.bench.private_folder import PrivateFolder, empty
from stellwerk_processes.bot_log import BotLog, readable
from stellwerk_processes.bot_spec import BotSpec

PRINTED_BYTES: Final = 64 * 1024  # kept of what a bot prints: enough for any traceback
LAST_LINES: Final = 10
LONGEST_LINE: Final = 300
GRACE: Final = 0.5  # seconds to end by oneself, and then once more to heed SIGTERM
LONGEST_END: Final = 5.0  # seconds for the kernel to end a process that was killed
LONGEST_GIVING_UP: Final = 2.0  # seconds for a supervisor that is not needed after all
LONGEST_FORGETTING: Final = 5.0  # seconds to empty a folder, which a bot may be filling as fast

_READ_SIZE: Final = 16 * 1024
_LONGEST_WORD: Final = 4096  # of a supervisor
_MOST_DESCRIPTORS: Final = 2  # that it sends


@dataclass(frozen=True, slots=True)
class BotReport:
    """The end of a bot. `status` or `signal`, or neither, if not even SIGKILL ended it. `stopped`: the runner
    had asked it to end before. `cpu_ms` is that of its processes, `max_rss_kb` that of the largest of them,
    if it was larger than the supervisor: the kernel counts a process's time before exec, in the supervisor's
    memory. `out_of_memory`: the kernel has killed a process of it that needed more than the sandbox has."""

    status: int | None
    signal: str | None
    stopped: bool
    cpu_ms: int
    max_rss_kb: int | None
    last_lines: tuple[str, ...]
    out_of_memory: bool = False

    @property
    def cause(self) -> str:
        """`exit status 1`, `SIGSEGV`."""
        if self.signal is not None:
            return self.signal
        return "cannot be killed" if self.status is None else f"exit status {self.status}"


@dataclass(frozen=True, slots=True)
class Measured:
    """Measures of a bot in a match. `frozen` is None if it was not to be stopped, and False if not all
    of it could be. `own_processors` is how many it had for itself, or 0."""

    times: AnswerSums
    frozen: bool | None
    own_processors: int


class LocalBot:
    """A bot that runs on this machine, made by `start_bot`. `pid` is its first process, `supervisor` the
    parent of that. With `transport=stdio`, `transport` are its standard input and output; they belong to the
    caller, who closes them. `directory` is its private folder. The `log`, if there is one, gets all that it
    prints. `user`: as whom it runs. `report` is there when it has ended. `is_frozen`: it is stopped, or about
    to be."""

    def __init__(
        self,
        spec: BotSpec,
        *,
        pid: int,
        supervisor: int,
        transport: trio.abc.Stream | None = None,
        directory: str = "",
        inside: int | None = None,
        listening: socket.socket | None = None,
        user: User = "runner",
        cgroup: Cgroup | None = None,
        log: BotLog | None = None,
    ) -> None:
        self.spec = spec
        self.pid = pid
        self.supervisor = supervisor
        self.transport = transport
        self.directory = directory
        self.user: User = user
        self.cgroup = cgroup
        self.log = log
        self.report: BotReport | None = None
        self.is_frozen = False
        self._inside = inside
        self._listening = listening
        self._printed = bytearray()
        self._stopping = trio.Event()
        self._ended = trio.Event()
        self._freezer = freezer_of(supervisor, self._cgroup_folder)
        self._used_before = 0.0
        self._timer: AnswerTimer | None = None
        self._own_processors = 0
        self._freezes = self._was_frozen = False
        self._is_whole = True

    # -- from its start to its end ---------------------------------------------------------------

    def stop(self) -> None:
        """Ask the bot to end: it has `grace` to do so by itself, then as much to heed SIGTERM."""
        self._stopping.set()

    async def ended(self) -> BotReport:
        """Wait until the bot has ended, by itself or stopped, and nothing of its group is left."""
        await self._ended.wait()
        assert self.report is not None
        return self.report

    @property
    def has_listener(self) -> bool:
        """Whether it has a network of its own, and connects to a port in there."""
        return self._listening is not None

    def open_listener(self) -> trio.SocketListener:
        """Return a listener for the port that the bot connects to in its own network. It is the caller's."""
        assert self._listening is not None
        return trio.SocketListener(trio.socket.from_stdlib_socket(self._listening.dup()))

    def last_lines(self, count: int = LAST_LINES) -> tuple[str, ...]:
        """Return the last lines that the bot printed on standard error (over TCP on standard output too), fit
        to be shown: without control characters, and cut where they are long."""
        lines = map(readable, self._printed.decode("utf-8", "replace").splitlines())
        return tuple(last_printed([line[:LONGEST_LINE] for line in lines if line], count))

    async def forget(self, seconds: float = LONGEST_FORGETTING) -> None:
        """Forget what the bot has used and printed, and remove what it has left in its private folder, as far
        as possible. Files that another user has hidden there remain, and so do those that the bot keeps
        making anew."""
        self._used_before = descendants_ms(self.supervisor)
        self._printed.clear()
        if self.report is not None:
            return
        with contextlib.ExitStack() as stack:
            path = self.directory
            if self._inside is not None:  # the bot may end meanwhile, and that descriptor with it
                held = os.dup(self._inside)
                stack.callback(os.close, held)
                path = _path_of(held)
            await trio.to_thread.run_sync(empty, path, seconds)

    def report_so_far(self) -> BotReport:
        """Report what the bot has done since it was made to forget, or since its start. It may have ended."""
        if self.report is None:
            cpu_ms = max(0, round(descendants_ms(self.supervisor) - self._used_before))
            return BotReport(None, None, True, cpu_ms, None, self.last_lines())
        return replace(self.report, cpu_ms=max(0, self.report.cpu_ms - round(self._used_before)))

    # -- frozen and measured ---------------------------------------------------------------------

    def freeze(self) -> Progress:
        """Stop all its processes. While it is stopping, call this again in a moment: it may have been about
        to start another process. If that is impossible, a part of it goes on."""
        self.is_frozen = self._was_frozen = True
        progress = "stopped" if self.report is not None else self._freezer.freeze()
        self._is_whole = self._is_whole and progress != "impossible"
        return progress

    def thaw(self) -> None:
        """Continue it. This takes a few system calls and waits for nothing."""
        if self.is_frozen and self.report is None:
            self._freezer.thaw()
        self.is_frozen = False

    def begin_match(self, *, freezes: bool, own_processors: int) -> None:
        """Measure its answers from now on. `freezes`: it is to be frozen while it is not asked.
        `own_processors` is how many it has for itself, if any."""
        try:
            processors = os.sched_getaffinity(self.pid)
        except ProcessLookupError:  # it has ended
            processors = set[int]()
        self._timer = AnswerTimer(self.supervisor, processors, cgroup=self._cgroup_folder)
        self._own_processors = own_processors
        self._freezes, self._was_frozen, self._is_whole = freezes, False, True

    def before_ask(self) -> None:
        """Measure from now on, until `after_answer`. Call it before the bot is thawed."""
        if self._timer is not None and self.report is None:
            self._timer.begin()

    def after_answer(self) -> None:
        """Note that the bot has answered, or is no longer asked."""
        if self._timer is not None and self.report is None:
            self._timer.end()

    def end_match(self) -> Measured:
        """Return what was seen of it since `begin_match`, and measure no more."""
        assert self._timer is not None
        self._timer.close()
        frozen = self._was_frozen and self._is_whole if self._freezes else None
        return Measured(self._timer.times, frozen, self._own_processors)

    @property
    def _cgroup_folder(self) -> Path | None:
        """Return the group of version 2 with its processes and none of ours, if it has one."""
        return None if self.cgroup is None or self.cgroup.freezable is None else Path(self.cgroup.freezable)

    # -- for its task ----------------------------------------------------------------------------

    @property
    def stopping(self) -> trio.Event:
        return self._stopping

    def hear(self, data: bytes | bytearray) -> None:
        if self.log is not None:
            self.log.write(data)
        self._printed += data
        if len(self._printed) > 2 * PRINTED_BYTES:
            del self._printed[:-PRINTED_BYTES]

    def end(self, report: BotReport) -> None:
        self.report = report
        self._ended.set()


async def start_bot(
    nursery: trio.Nursery,
    spec: BotSpec,
    invitation: Invitation,
    confinement: Confinement = UNCONFINED,
    *,
    grace: float = GRACE,
    log: BotLog | None = None,
) -> LocalBot:
    """Start a bot, which lives in the nursery: cancelled, that ends it. The `log` is closed with it.

    BotStartError if the spec is at fault, OSError if the machine is.
    """
    bot: LocalBot = await nursery.start(_run_bot, spec, invitation, confinement, grace, log)
    return bot


async def _run_bot(
    spec: BotSpec,
    invitation: Invitation,
    confinement: Confinement,
    grace: float,
    log: BotLog | None,
    task_status: trio.TaskStatus[LocalBot],
) -> None:
    with log or contextlib.nullcontext():
        folder = PrivateFolder.make(for_everybody=confinement.isolation == "user")
        try:
            with contextlib.ExitStack() as to_live:
                bot, supervisor = await _start_supervised(
                    spec, invitation, confinement, folder.directory, log, to_live
                )
                stopped = True
                try:
                    task_status.started(bot)
                    async with trio.open_nursery() as nursery:
                        nursery.start_soon(_keep_hearing, bot, supervisor)
                        stopped = await _wait_for_end(bot, supervisor, grace)
                        nursery.cancel_scope.cancel()
                finally:
                    with trio.CancelScope(shield=True):
                        bot.end(await _end_bot(bot, supervisor, grace, stopped=stopped))
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(folder.remove)


# -- life --------------------------------------------------------------------------------------------


_End: TypeAlias = tuple[int, int, int | None]
"""The exit code as Python has it, the processor time and the memory of a bot."""


@dataclass(frozen=True, slots=True)
class _Supervisor:
    """The process beside a bot that is ours, or bubblewrap, whose child that is then. `printed` is what the
    two of them print."""

    popen: subprocess.Popen[bytes]
    descriptor: int  # of that process itself: readable when it has ended
    control: socket.socket
    printed: trio.abc.ReceiveStream

    def has_exited(self) -> bool:
        """Return whether it has exited, and all that it started, without giving its id back."""
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.popen.pid, flags) is not None

    async def exited(self) -> None:
        await trio.lowlevel.wait_readable(self.descriptor)

    def ask(self, word: bytes) -> None:
        """Send it a word, if it is still there and listens."""
        with contextlib.suppress(OSError):
            self.control.send(word)


async def _wait_for_end(bot: LocalBot, supervisor: _Supervisor, grace: float) -> bool:
    """Wait until the bot has ended, or has used up its time to do so. Return whether it was asked to end."""

    async def until_it_exits(scope: trio.CancelScope) -> None:
        await supervisor.exited()
        scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(until_it_exits, nursery.cancel_scope)
        await bot.stopping.wait()
        nursery.cancel_scope.cancel()
    if supervisor.has_exited():
        return bot.stopping.is_set()
    with trio.move_on_after(grace):
        await supervisor.exited()
    return True


async def _end_bot(bot: LocalBot, supervisor: _Supervisor, grace: float, *, stopped: bool) -> BotReport:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_keep_hearing, bot, supervisor)
        if not supervisor.has_exited():
            supervisor.popen.send_signal(signal.SIGCONT)  # a bot may have stopped it
            supervisor.ask(supervise.TERMINATE)
            with trio.move_on_after(grace):
                await supervisor.exited()
        supervisor.ask(supervise.KILL)
        if bot.cgroup is not None:
            bot.cgroup.kill()
        with trio.move_on_after(LONGEST_END):
            await supervisor.exited()
        if not supervisor.has_exited():
            supervisor.popen.kill()
            with trio.move_on_after(LONGEST_END):
                await supervisor.exited()
        ended = _read_last_word(supervisor.control)
        # If there is none, it was killed, or taken over, and has ended nothing.
        are_gone = ended is not None or await trio.to_thread.run_sync(end_orphans)
        # What is left in the pipe. A process that could not be killed may hold it open for ever.
        nursery.cancel_scope.deadline = trio.current_time() + grace
    await supervisor.printed.aclose()
    os.close(supervisor.descriptor)
    return _make_report(bot, supervisor, ended, stopped=stopped, are_gone=are_gone)


def _make_report(
    bot: LocalBot, supervisor: _Supervisor, ended: _End | None, *, stopped: bool, are_gone: bool
) -> BotReport:
    """Give the supervisor's id back, and return what it has reported. If it was killed itself, what it was
    seen to use is all that is known."""
    pid, wait_status, usage = os.wait4(supervisor.popen.pid, os.WNOHANG)
    if pid:
        supervisor.popen.returncode = os.waitstatus_to_exitcode(wait_status)  # waited for here, not by Popen
        forget(pid)
    code = supervisor.popen.returncode if pid and are_gone else None
    cpu_ms, max_rss_kb = round(1000 * (usage.ru_utime + usage.ru_stime)), None
    supervisor.control.close()
    if ended is not None:
        code, cpu_ms, max_rss_kb = ended
    elif code == 0:
        code = -signal.SIGKILL  # it was taken over
    return BotReport(
        status=code if code is not None and code >= 0 else None,
        signal=_name_signal(-code) if code is not None and code < 0 else None,
        stopped=stopped,
        cpu_ms=cpu_ms,
        max_rss_kb=max_rss_kb,
        last_lines=bot.last_lines(),
        out_of_memory=bot.cgroup is not None and bot.cgroup.has_run_out_of_memory(),
    )


def _read_last_word(control: socket.socket) -> _End | None:
    """Return what a supervisor has reported last."""
    with contextlib.suppress(OSError, ValueError):
        word = control.recv(_LONGEST_WORD)
        if word.startswith(supervise.ENDED):
            status, used, memory = word.removeprefix(supervise.ENDED).split()
            code = os.waitstatus_to_exitcode(int(status))
            return code, max(0, round(1000 * float(used))), int(memory) or None
    return None


def _name_signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has no name
        return f"signal {number}"


async def _keep_hearing(bot: LocalBot, supervisor: _Supervisor) -> None:
    while data := await supervisor.printed.receive_some(_READ_SIZE):
        bot.hear(data)


# -- start -------------------------------------------------------------------------------------------


async def _start_supervised(
    spec: BotSpec,
    invitation: Invitation,
    confinement: Confinement,
    directory: str,
    log: BotLog | None,
    to_live: contextlib.ExitStack,
) -> tuple[LocalBot, _Supervisor]:
    # Their ends of the pipes are closed here in any case, ours unless a bot comes of it.
    with contextlib.ExitStack() as theirs, contextlib.ExitStack() as on_failure:
        printed, their_errors = _make_pipe(on_failure, theirs)
        stdio: tuple[int, int] | None = None
        if spec.transport == "tcp":
            streams = os.open(os.devnull, os.O_RDONLY), their_errors
            theirs.callback(os.close, streams[0])
        else:
            their_input, our_output = _make_pipe(theirs, on_failure)
            our_input, their_output = _make_pipe(on_failure, theirs)
            streams, stdio = (their_input, their_output), (our_output, our_input)
        control, their_control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        on_failure.enter_context(control)
        theirs.enter_context(their_control)
        control.setblocking(False)
        launch = launch_of(
            spec,
            invitation,
            confinement,
            directory,
            control=their_control.fileno(),
            streams=streams,
            to_start=theirs,
            to_live=to_live,
        )

        def popen() -> subprocess.Popen[bytes]:
            with pinned_to(confinement.processors):  # a process begins where the thread is that starts it
                return subprocess.Popen(
                    launch.argv,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=their_errors,
                    pass_fds=launch.passed,
                    cwd="/",
                    env={"PATH": os.defpath},
                    start_new_session=True,
                )

        # In a thread, because it waits until the exec.
        started = await trio.to_thread.run_sync(start_noted, popen)
        on_failure.callback(_end_unneeded, started, control)
        descriptor = os.pidfd_open(started.pid)
        on_failure.callback(os.close, descriptor)
        theirs.close()
        bot_pid, descriptors = await _wait_for_start(control, printed, launch)
        on_failure.pop_all()
    supervisor, listening, inside = started.pid, None, None
    if launch.is_inside:
        supervisor = next(iter(supervise.children(started.pid)), started.pid)
        bot_pid = next(iter(supervise.children(supervisor)), supervisor)
        inside, *others = descriptors
        to_live.callback(os.close, inside)
        directory = _path_of(inside)
        for number in others:
            listening = to_live.enter_context(socket.socket(fileno=number))
    bot = LocalBot(
        spec,
        pid=bot_pid,
        supervisor=supervisor,
        transport=None if stdio is None else trio.StapledStream(*map(trio.lowlevel.FdStream, stdio)),
        directory=directory,
        inside=inside,
        listening=listening,
        user=launch.user,
        cgroup=launch.cgroup,
        log=log,
    )
    return bot, _Supervisor(started, descriptor, control, trio.lowlevel.FdStream(printed))


async def _wait_for_start(control: socket.socket, printed: int, launch: Launch) -> tuple[int, list[int]]:
    """Wait until the bot runs. Return its id, as its supervisor sees it, and the descriptors of what is only
    in there. OSError if the sandbox could not be set up."""
    await trio.lowlevel.wait_readable(control)
    try:
        word, numbers, _, _ = socket.recv_fds(control, _LONGEST_WORD, _MOST_DESCRIPTORS)
    except ConnectionError:
        word, numbers = b"", []
    expected = launch.descriptor_count
    if word.startswith(supervise.STARTED) and len(numbers) == expected:
        return int(word.removeprefix(supervise.STARTED)), numbers
    for number in numbers:
        os.close(number)
    if word.startswith(supervise.FAULT):
        raise OSError(0, f"sandbox: {readable(word.removeprefix(supervise.FAULT).decode())}")
    os.set_blocking(printed, False)
    message = ""
    with contextlib.suppress(BlockingIOError):
        message = os.read(printed, _READ_SIZE).decode("utf-8", "replace").strip()
    lines = [readable(line) for line in message.splitlines()]
    cure = cure_of(message)
    problem = f"sandbox: {lines[-1][:LONGEST_LINE] if lines else 'its supervisor ended at once'}"
    raise OSError(0, f"{problem}; {cure}" if cure else problem)


def _make_pipe(reader: contextlib.ExitStack, writer: contextlib.ExitStack) -> tuple[int, int]:
    """Return the reading and the writing end of a pipe. `reader` closes the one, `writer` the other."""
    reading, writing = os.pipe()
    reader.callback(os.close, reading)
    writer.callback(os.close, writing)
    return reading, writing


def _end_unneeded(started: subprocess.Popen[bytes], control: socket.socket) -> None:
    """End a supervisor that may have started its bot: without the runner it does that by itself."""
    control.close()
    try:
        started.wait(LONGEST_GIVING_UP)
    except subprocess.TimeoutExpired:
        started.kill()
        started.wait()
        end_orphans()
    forget(started.pid)


def _path_of(folder: int) -> str:
    return f"/proc/self/fd/{folder}/."  # with the dot it is a folder and no link
