"""Bots as processes of this machine: started confined, heard out, and ended with all that they started.

Law: whatever a bot does, it costs nobody else anything. It is the leader of a session and a process group of
its own, finds nothing of the runner's environment but what is listed here, no open descriptor but its
standard streams, and an empty folder of its own. Its output is read all the time, so that it never waits for
a reader. When it ends, or is to end, or the runner is cancelled or killed, its supervisor
(`sandbox/supervise.py`) kills all that it started, and ends itself. Then its folder is removed. A bot that
kills its supervisor, where it can, ends with it, and the runner ends the rest (`orphans.py`).

Most bots live for one match. One that plays match after match (`standing_server.py`) keeps its process and
its folder; what it left there is removed before the next one. Removing it never raises, stops after some
time, and follows no link, even if the bot makes one meanwhile.

The supervisor is started by the runner, and the bot by the supervisor, which has one thread only: so it can
set limits between fork and exec, where Python code of the runner's would be unsafe. They hold before the
bot's first instruction. The two talk over a control socket. Its messages are read with suspicion: at the
lowest levels a bot can take the supervisor over, which costs it only its own report.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

import trio

from stellwerk_base.texts import quoted
from stellwerk_processes.bot_log import BotLog, readable
from stellwerk_processes.bot_spec import BotSpec
from stellwerk_processes.cores import pinned_to
from stellwerk_processes.family import children, descendants, descendants_ms
from stellwerk_processes.orphans import end_orphans, forget, start_noted
from stellwerk_processes.sandbox import supervise
from stellwerk_processes.sandbox.bubblewrap import cure_of
from stellwerk_processes.sandbox.cgroups import Cgroup, joinable, make_cgroup, remove_cgroup
from stellwerk_processes.sandbox.launch import DESCRIPTORS as DESCRIPTORS
from stellwerk_processes.sandbox.launch import Launch, Start, User, launch_of
from stellwerk_processes.sandbox.levels import LIMITS, MEMORY_MB, CgroupVersion, Isolation, Sandbox, Wanted

StartKey = Literal["cmd", "dir", "wrap"]

PRINTED_BYTES: Final = 64 * 1024  # kept of what a bot prints: enough for any traceback
LAST_LINES: Final = 10
LONGEST_LINE: Final = 300
GRACE: Final = 0.5  # seconds to end by oneself, and then once more to heed SIGTERM
LONGEST_END: Final = 5.0  # seconds for the kernel to end a process that was killed
LONGEST_GIVING_UP: Final = 2.0  # seconds for a supervisor that is not needed after all
LONGEST_FORGETTING: Final = 5.0  # seconds to empty a folder, which a bot may be filling as fast
LONGEST_REMOVAL: Final = 60.0  # seconds to remove it in the end: enough for some millions of files

_PASSED: Final = re.compile(r"PATH|LANG|TZ|LC_[A-Z]+")
_NAMESPACES: Final = frozenset(
    {"bwrap", "unshare", "nsjail", "firejail", "docker", "podman", "systemd-nspawn"}
)
_USERS: Final = frozenset({"sudo", "doas", "setpriv", "runuser", "su", "su-exec", "gosu"})
_RSS_PRECISION: Final = 4096  # kilobytes: the kernel counts pages in batches
_READ_SIZE: Final = 16 * 1024
_LONGEST_WORD: Final = 4096  # of a supervisor
_MOST_DESCRIPTORS: Final = 2  # that it sends


@dataclass(frozen=True, slots=True)
class Invitation:
    """The variables that a bot finds in its environment: its address, name and token, and its own source of
    chance."""

    name: str
    address: str
    token: str = field(repr=False)
    seed: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Confinement:
    """The limits of a bot. `wrap` is put before its command, with the bot's private folder in place of
    `{directory}`, and takes the place of the `sandbox`, whose level is a certain one (`resolve` finds the one
    for `auto`). `memory_mb` bounds the data of each of its processes; at the level `full`, all memory of all
    of them together, and is then 1024 if it is not set. `processors` are those that the bot begins on;
    without any it may run on all."""

    wrap: tuple[str, ...] = ()
    memory_mb: int | None = None
    sandbox: Sandbox = LIMITS
    processors: frozenset[int] = frozenset()

    @property
    def level(self) -> Wanted:
        """The level of the sandbox: none of ours if the organizer's own command confines bots."""
        return "none" if self.wrap else self.sandbox.level

    @property
    def isolation(self) -> Isolation:
        """The isolation that the sandbox, or the wrapping program, is there for."""
        if not self.wrap:
            return "namespace" if self.sandbox.level in ("namespace", "full") else "none"
        program = os.path.basename(self.wrap[0])
        if program in _NAMESPACES:
            return "namespace"
        return "user" if program in _USERS else "none"


UNCONFINED: Final = Confinement()


class BotStartError(Exception):
    """A bot that cannot be started, for a reason in its spec or in the wrapping command; one line says which.
    `key` is the setting at fault."""

    def __init__(self, message: str, key: StartKey = "cmd") -> None:
        super().__init__(message)
        self.key: StartKey = key


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


class OpenFolder:
    """A folder that is in none of this machine's. Threads use it and close it as they like: its descriptor
    means nothing else while one of them uses it."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._lock = threading.Lock()
        self._is_closed = False

    @contextlib.contextmanager
    def path(self) -> Generator[str]:
        """Return a path of the folder for as long as the block runs; one of nothing if it was closed."""
        with self._lock:
            number = None if self._is_closed else os.dup(self._number)
        try:
            yield "" if number is None else _path_of(number)
        finally:
            if number is not None:
                os.close(number)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            os.close(self._number)


class RunningBot:
    """A bot that `run_bot` has started. `pid` is its first process, `supervisor` the parent of that. With
    `transport=stdio`, `transport` are the bot's standard input and output; they belong to the caller, who
    closes them. `has_listener`: it has a network of its own, and connects to a port in there. `directory` is
    its private folder. The `log`, if there is one, gets all that it prints. `user`: as whom it runs. `cgroup`
    is its folder in control groups of version 2, if it has one: with it all processes of the bot, and none of
    ours, can be stopped at once."""

    def __init__(
        self,
        spec: BotSpec,
        pid: int,
        transport: trio.abc.Stream | None,
        directory: str = "",
        log: BotLog | None = None,
        *,
        supervisor: int = 0,
        listening: socket.socket | None = None,
        user: User = "runner",
        folder: OpenFolder | None = None,
        cgroup: Cgroup | None = None,
    ) -> None:
        self.spec = spec
        self.pid = pid
        self.supervisor = supervisor
        self.transport = transport
        self.has_listener = listening is not None
        self._listening = listening
        self.directory = directory
        self.log = log
        self.user: User = user
        self.cgroup = None if cgroup is None else cgroup.freezable
        self.cgroup_version: CgroupVersion = 0 if cgroup is None else cgroup.version
        self._folder = folder
        self.report: BotReport | None = None
        self._printed = bytearray()
        self._stopping = trio.Event()
        self._ended = trio.Event()

    def stop(self) -> None:
        """Ask the bot to end: it has `grace` to do so by itself, then as much to heed SIGTERM."""
        self._stopping.set()

    async def ended(self) -> BotReport:
        """Wait until the bot has ended, by itself or stopped, and nothing of its group is left."""
        await self._ended.wait()
        assert self.report is not None
        return self.report

    def last_lines(self, count: int = LAST_LINES) -> tuple[str, ...]:
        """Return the last lines that the bot printed on standard error (over TCP on standard output too), fit
        to be shown: without control characters, and cut where they are long."""
        lines = map(readable, self._printed.decode("utf-8", "replace").splitlines())
        return tuple(line[:LONGEST_LINE] for line in lines if line)[-count:]

    def open_listener(self) -> trio.SocketListener:
        """Return a listener for the port that the bot connects to in its own network. It is the caller's."""
        assert self._listening is not None
        return trio.SocketListener(trio.socket.from_stdlib_socket(self._listening.dup()))

    def pids(self) -> frozenset[int]:
        """Return all processes of the bot that there are at the moment; those of ours beside it are not among
        them."""
        return descendants(self.supervisor)

    def processor_ms(self) -> float:
        """Return the processor time that the bot has used up to now. Never raises."""
        return descendants_ms(self.supervisor)

    def forget(self, seconds: float = LONGEST_FORGETTING) -> None:
        """Forget what the bot has printed, and remove what it has left in its private folder, as far as
        possible. Files that another user has hidden there remain, and so do those that the bot keeps making
        anew. May wait for the disk."""
        self._printed.clear()
        with contextlib.nullcontext(self.directory) if self._folder is None else self._folder.path() as path:
            _empty(path, seconds)

    # The rest is for `run_bot`.

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


async def run_bot(
    spec: BotSpec,
    invitation: Invitation,
    confinement: Confinement = UNCONFINED,
    *,
    grace: float = GRACE,
    log: BotLog | None = None,
    task_status: trio.TaskStatus[RunningBot] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Start a bot and stay until it has ended: for `nursery.start`, which gets the RunningBot.

    BotStartError if the spec is at fault, OSError if the machine is. Cancelled, it ends the bot.
    """
    folder = _PrivateFolder.make(for_everybody=confinement.isolation == "user")
    try:
        with contextlib.ExitStack() as to_live:
            process = await _start(spec, invitation, confinement, folder.directory, to_live)
            bot = RunningBot(
                spec,
                process.bot_pid,
                process.transport,
                process.directory,
                log,
                supervisor=process.supervisor,
                listening=process.listening,
                user=process.user,
                folder=process.folder,
                cgroup=process.cgroup,
            )
            stopped = True
            try:
                task_status.started(bot)
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(_hear, bot, process)
                    stopped = await _live(bot, process, grace)
                    nursery.cancel_scope.cancel()
            finally:
                with trio.CancelScope(shield=True):
                    bot.end(await _bury(bot, process, grace, stopped=stopped))
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(folder.remove)


def command_line(spec: BotSpec, confinement: Confinement, directory: str) -> tuple[str, ...]:
    """Return the command that starts a bot with this private folder. BotStartError if its program or its
    working directory does not exist. Relative paths of files in the command count from the directory of the
    spec or, without one, from the directory of the runner."""
    if spec.directory is not None and not os.path.isdir(spec.directory):
        raise BotStartError(f"there is no folder {quoted(spec.directory)}", "dir")
    command = spec.command if spec.directory is not None else tuple(map(_located, spec.command))
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
            f"there is no program {quoted(argv[0])}{_hint(argv[0], program)}", "wrap" if wrap else "cmd"
        )
    return argv


def _hint(word: str, program: str) -> str:
    """Say what to do about a file that is there, and yet cannot be started."""
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


# -- life --------------------------------------------------------------------------------------------


_End: TypeAlias = tuple[int, int, int | None]
"""The exit code as Python has it, the processor time and the memory of a bot."""


@dataclass(frozen=True, slots=True)
class _Process:
    """A bot with its supervisor. `popen` is the supervisor, or bubblewrap, whose child that is then."""

    popen: subprocess.Popen[bytes]
    descriptor: int  # of that process itself: readable when it has ended
    control: socket.socket
    printed: trio.abc.ReceiveStream
    transport: trio.abc.Stream | None
    supervisor: int
    bot_pid: int
    listening: socket.socket | None
    directory: str
    folder: OpenFolder | None
    user: User
    cgroup: Cgroup | None

    def has_exited(self) -> bool:
        """Return whether the supervisor has exited, and all that it started, without giving its id back."""
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.popen.pid, flags) is not None

    async def exited(self) -> None:
        await trio.lowlevel.wait_readable(self.descriptor)

    def ask(self, word: bytes) -> None:
        """Send a word to the supervisor, if it is still there and listens."""
        with contextlib.suppress(OSError):
            self.control.send(word)


async def _live(bot: RunningBot, process: _Process, grace: float) -> bool:
    """Wait until the bot has ended, or has used up its time to do so. Return whether it was asked to end."""

    async def until_it_exits(scope: trio.CancelScope) -> None:
        await process.exited()
        scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(until_it_exits, nursery.cancel_scope)
        await bot.stopping.wait()
        nursery.cancel_scope.cancel()
    if process.has_exited():
        return bot.stopping.is_set()
    with trio.move_on_after(grace):
        await process.exited()
    return True


async def _bury(bot: RunningBot, process: _Process, grace: float, *, stopped: bool) -> BotReport:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_hear, bot, process)
        if not process.has_exited():
            process.popen.send_signal(signal.SIGCONT)  # a bot may have stopped it
            process.ask(supervise.TERMINATE)
            with trio.move_on_after(grace):
                await process.exited()
        process.ask(supervise.KILL)
        if process.cgroup is not None:
            process.cgroup.kill()
        with trio.move_on_after(LONGEST_END):
            await process.exited()
        if not process.has_exited():
            process.popen.kill()
            with trio.move_on_after(LONGEST_END):
                await process.exited()
        ended = _last_word(process.control)
        # If there is none, it was killed, or taken over, and has ended nothing.
        are_gone = ended is not None or await trio.to_thread.run_sync(end_orphans)
        # What is left in the pipe. A process that nobody could kill may hold it open for ever.
        nursery.cancel_scope.deadline = trio.current_time() + grace
    await process.printed.aclose()
    os.close(process.descriptor)
    return _report(bot, process, ended, stopped=stopped, are_gone=are_gone)


def _report(
    bot: RunningBot, process: _Process, ended: _End | None, *, stopped: bool, are_gone: bool
) -> BotReport:
    """Give the supervisor's id back, and return what it has reported. If it was killed itself, what it was
    seen to use is all that is known."""
    pid, wait_status, usage = os.wait4(process.popen.pid, os.WNOHANG)
    if pid:
        process.popen.returncode = os.waitstatus_to_exitcode(wait_status)  # waited for here, not by Popen
        forget(pid)
    code = process.popen.returncode if pid and are_gone else None
    cpu_ms, max_rss_kb = round(1000 * (usage.ru_utime + usage.ru_stime)), None
    process.control.close()
    if ended is not None:
        code, cpu_ms, max_rss_kb = ended
    elif code == 0:
        code = -signal.SIGKILL  # it was taken over
    return BotReport(
        status=code if code is not None and code >= 0 else None,
        signal=_signal_name(-code) if code is not None and code < 0 else None,
        stopped=stopped,
        cpu_ms=cpu_ms,
        max_rss_kb=max_rss_kb,
        last_lines=bot.last_lines(),
        out_of_memory=process.cgroup is not None and process.cgroup.has_run_out_of_memory(),
    )


def _last_word(control: socket.socket) -> _End | None:
    """Return what a supervisor has reported last."""
    with contextlib.suppress(OSError, ValueError):
        word = control.recv(_LONGEST_WORD)
        if word.startswith(supervise.ENDED):
            status, used, memory = word.removeprefix(supervise.ENDED).split()
            code = os.waitstatus_to_exitcode(int(status))
            return code, max(0, round(1000 * float(used))), int(memory) or None
    return None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has no name
        return f"signal {number}"


async def _hear(bot: RunningBot, process: _Process) -> None:
    while data := await process.printed.receive_some(_READ_SIZE):
        bot.hear(data)


# -- start -------------------------------------------------------------------------------------------


async def _start(
    spec: BotSpec,
    invitation: Invitation,
    confinement: Confinement,
    directory: str,
    to_live: contextlib.ExitStack,
) -> _Process:
    argv = command_line(spec, confinement, directory)
    # Their ends of the pipes are closed here in any case, ours unless a _Process comes of it.
    with contextlib.ExitStack() as theirs, contextlib.ExitStack() as on_failure:
        printed, their_errors = _pipe(on_failure, theirs)
        stdio: tuple[int, int] | None = None
        if spec.transport == "tcp":
            their_input, their_output = os.open(os.devnull, os.O_RDONLY), their_errors
            theirs.callback(os.close, their_input)
        else:
            their_input, our_output = _pipe(theirs, on_failure)
            our_input, their_output = _pipe(on_failure, theirs)
            stdio = our_output, our_input
        control, their_control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        on_failure.enter_context(control)
        theirs.enter_context(their_control)
        control.setblocking(False)
        start = Start(
            argv=argv,
            environment=environment_of(spec, invitation, directory, os.environ),
            directory=spec.directory,
            folder=spec.folder,
            private=directory,
            built_in=bool(spec.built_in),
            wrapped=bool(confinement.wrap),
            memory_mb=confinement.memory_mb,
            port=_port(invitation.address),
            listens=spec.transport == "tcp",
            streams=(their_input, their_output),
            is_pinned=bool(confinement.processors),
        )
        cgroup = None
        if confinement.level == "full":
            cgroup = make_cgroup(confinement.memory_mb or MEMORY_MB, confinement.sandbox.processes)
        elif confinement.level in ("limits", "landlock") and os.geteuid() == 0:
            with contextlib.suppress(OSError):  # limits by user do not hold for root
                cgroup = make_cgroup(None, confinement.sandbox.processes)
        if cgroup is not None:
            to_live.callback(remove_cgroup, cgroup)
        launch = launch_of(
            start,
            confinement.sandbox,
            control=their_control.fileno(),
            cgroups=() if cgroup is None else theirs.enter_context(joinable(cgroup)),
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

        started = await trio.to_thread.run_sync(
            start_noted, popen
        )  # in a thread, for it waits until the exec
        on_failure.callback(_give_up, started, control)
        descriptor = os.pidfd_open(started.pid)
        on_failure.callback(os.close, descriptor)
        theirs.close()
        bot_pid, descriptors = await _begun(control, printed, launch)
        on_failure.pop_all()
    supervisor, listening, folder = started.pid, None, None
    if launch.is_inside:
        supervisor = next(iter(children(started.pid)), started.pid)
        bot_pid = next(iter(children(supervisor)), supervisor)
        inside, *others = descriptors
        folder = OpenFolder(inside)
        to_live.callback(folder.close)
        directory = _path_of(inside)
        for number in others:
            listening = to_live.enter_context(socket.socket(fileno=number))
    return _Process(
        started,
        descriptor,
        control,
        trio.lowlevel.FdStream(printed),
        None if stdio is None else trio.StapledStream(*map(trio.lowlevel.FdStream, stdio)),
        supervisor,
        bot_pid,
        listening,
        directory,
        folder,
        launch.user,
        cgroup,
    )


async def _begun(control: socket.socket, printed: int, launch: Launch) -> tuple[int, list[int]]:
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


def _path_of(folder: int) -> str:
    return f"/proc/self/fd/{folder}/."  # with the dot it is a folder and no link


def _port(address: str) -> int:
    """Return the TCP port that a bot connects to; 0 if it does not."""
    scheme, _, place = address.partition("://")
    port = place.rpartition(":")[2]
    return int(port) if scheme == "tcp" and port.isdecimal() else 0


def _located(word: str) -> str:
    return os.path.abspath(word) if os.path.isfile(word) else word


def _pipe(reader: contextlib.ExitStack, writer: contextlib.ExitStack) -> tuple[int, int]:
    """Return the reading and the writing end of a pipe. `reader` closes the one, `writer` the other."""
    reading, writing = os.pipe()
    reader.callback(os.close, reading)
    writer.callback(os.close, writing)
    return reading, writing


def _give_up(started: subprocess.Popen[bytes], control: socket.socket) -> None:
    """End a supervisor that may have started its bot: without the runner it does that by itself."""
    control.close()
    try:
        started.wait(LONGEST_GIVING_UP)
    except subprocess.TimeoutExpired:
        started.kill()
        started.wait()
        end_orphans()
    forget(started.pid)


# -- the private folder ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _PrivateFolder:
    """An empty folder with a name that cannot be guessed, in one that only the runner can list."""

    root: str
    directory: str

    @staticmethod
    def make(*, for_everybody: bool) -> _PrivateFolder:
        """Make the folder. `for_everybody` opens it to all who know its name, for a bot that runs as another
        user whom we do not know."""
        root = os.path.realpath(tempfile.mkdtemp(prefix="stellwerk-"))
        directory = os.path.join(root, secrets.token_hex(16))
        os.mkdir(directory, 0o700)
        if for_everybody:
            os.chmod(root, 0o711)
            os.chmod(directory, 0o777)
        return _PrivateFolder(root, directory)

    def remove(self) -> None:
        """Remove the folder with all that the bot has left there."""
        _empty(self.root, LONGEST_REMOVAL)
        _removed(self.root)


def _empty(directory: str, seconds: float) -> None:
    """Empty a folder as far as possible in this time, including folders that were made read-only. Never
    raise.

    Files deeper than in a folder of this one are moved up first, so that neither a path nor a stack gets
    long, and a few descriptors are enough, however deep it was.
    """
    until = time.monotonic() + seconds
    with contextlib.suppress(OSError), _opened(directory) as top:
        has_changed = True
        while has_changed:
            has_changed = False
            for name in _names(top, until):
                has_changed |= _removed_with_all(name, top, until)


def _removed_with_all(name: str, top: int, until: float) -> bool:
    """Remove an entry with its content, as far as the time allows. Return whether anything has changed."""
    if _removed(name, top):
        return True
    has_changed = False
    with contextlib.suppress(OSError), _opened(name, top) as folder:
        for inner in _names(folder, until):
            has_changed |= _removed(inner, folder) or _moved(inner, folder, top)
    return _removed(name, top) or has_changed


def _removed(name: str, folder: int | None = None) -> bool:
    """Remove a file, a link or an empty folder. Return whether it is gone."""
    for remove in (os.unlink, os.rmdir):
        with contextlib.suppress(OSError):
            remove(name, dir_fd=folder)
            return True
    return False


def _moved(name: str, folder: int, top: int) -> bool:
    """Move a folder up. Only a folder that can be written to can be moved. Return whether it was."""
    with contextlib.suppress(OSError), _opened(name, folder):
        os.rename(name, secrets.token_hex(16), src_dir_fd=folder, dst_dir_fd=top)
        return True
    return False


def _names(folder: int, until: float) -> Iterator[str]:
    """Yield the names in a folder one by one, for there may be millions of them."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if time.monotonic() >= until:
                return
            yield entry.name


@contextlib.contextmanager
def _opened(name: str, folder: int | None = None) -> Generator[int]:
    """Open a folder and make it usable for its owner. OSError if it is none, or a link, or closed to us by
    another user.

    A folder that may not be read opens only as a descriptor that is good for nothing but its mode.
    """
    handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
    try:
        mode = stat.S_IMODE(os.stat(handle).st_mode)
        if mode & stat.S_IRWXU != stat.S_IRWXU:
            with contextlib.suppress(OSError):  # another user's
                os.chmod(f"/proc/self/fd/{handle}", mode | stat.S_IRWXU)
        usable = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=handle)
    finally:
        os.close(handle)
    try:
        yield usable
    finally:
        os.close(usable)
