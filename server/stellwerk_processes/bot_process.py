"""Bots as processes of this machine: started confined, heard out, and ended with all that they started.

Law: whatever a bot does, it costs nobody else anything. It is the leader of a session and a process group of
its own, finds nothing of the runner's environment but what is listed here, no open descriptor but its
standard streams, and an empty folder of its own. What it prints is read all the time, so that it never waits
for a reader. When it ends, or is to end, or the runner is cancelled, the whole group is killed before its
leader's id is given back: till then that id cannot mean anybody else. Then its folder is removed.

Most bots live for one match. One that plays match after match (`standing_server.py`) keeps its process and
its folder; what it left there is removed before the next one. Whatever that is, removing it raises nothing
and is given up after some time, and no link in it leads anywhere else, even if the bot makes one meanwhile.

Limits are set by a shell that then becomes the bot. They hold before the bot's first instruction, and no
Python code runs between fork and exec, where the runner's threads would make it unsafe. A process that makes
a session of its own leaves the group, and only a sandbox (`Confinement.wrap`) keeps it.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import secrets
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

import trio

from stellwerk_engine.boards.located_json import quoted
from stellwerk_processes.bot_log import BotLog, readable
from stellwerk_processes.bot_spec import BotSpec

Isolation = Literal["none", "user", "namespace"]
StartKey = Literal["cmd", "dir", "wrap"]

PRINTED_BYTES: Final = 64 * 1024  # kept of what a bot prints: enough for any traceback
LAST_LINES: Final = 10
LONGEST_LINE: Final = 300
DESCRIPTORS: Final = 1024  # what most systems give a process anyway
GRACE: Final = 0.5  # seconds to end by oneself, and then once more to heed SIGTERM
LONGEST_END: Final = 5.0  # seconds for the kernel to end a process that was killed
LONGEST_FORGETTING: Final = 5.0  # seconds to empty a folder, which a bot may be filling as fast
LONGEST_REMOVAL: Final = 60.0  # seconds to remove it in the end: enough for some millions of files

_PASSED: Final = re.compile(r"PATH|LANG|TZ|LC_[A-Z]+")
_NAMESPACES: Final = frozenset(
    {"bwrap", "unshare", "nsjail", "firejail", "docker", "podman", "systemd-nspawn"}
)
_USERS: Final = frozenset({"sudo", "doas", "setpriv", "runuser", "su", "su-exec", "gosu"})
_RSS_PRECISION: Final = 4096  # kilobytes: the kernel counts pages in batches
_READ_SIZE: Final = 16 * 1024

_SHELL: Final = "/bin/sh"  # where POSIX systems have it
_CONFINE: Final = (
    'ulimit -c 0 && ulimit -n "$1" && if [ "$2" ]; then ulimit -d "$2"; fi'
    ' && shift 2 && unset PWD OLDPWD && exec "$@"'
)


@dataclass(frozen=True, slots=True)
class Invitation:
    """What a bot finds in its environment: where to connect, as whom, and its own source of chance."""

    name: str
    address: str
    token: str = field(repr=False)
    seed: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Confinement:
    """The limits of a bot. `wrap` is put before its command, with the bot's private folder in place of
    `{directory}`. `memory_mb` bounds the data of each of its processes, not of all together."""

    wrap: tuple[str, ...] = ()
    memory_mb: int | None = None

    @property
    def isolation(self) -> Isolation:
        """The isolation that the wrapping program is there for."""
        program = os.path.basename(self.wrap[0]) if self.wrap else ""
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
    if it was larger than the runner: the kernel counts a process's time before exec, in the runner's
    memory."""

    status: int | None
    signal: str | None
    stopped: bool
    cpu_ms: int
    max_rss_kb: int | None
    last_lines: tuple[str, ...]

    @property
    def cause(self) -> str:
        """`exit status 1`, `SIGSEGV`."""
        if self.signal is not None:
            return self.signal
        return "cannot be killed" if self.status is None else f"exit status {self.status}"


class RunningBot:
    """A bot that `run_bot` has started. With `transport=stdio`, `transport` are the bot's standard input and
    output; they belong to the caller, who closes them. `directory` is its private folder. The `log`, if there
    is one, gets all that it prints."""

    def __init__(
        self,
        spec: BotSpec,
        pid: int,
        transport: trio.abc.Stream | None,
        directory: str = "",
        log: BotLog | None = None,
    ) -> None:
        self.spec = spec
        self.pid = pid
        self.transport = transport
        self.directory = directory
        self.log = log
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

    def forget(self, seconds: float = LONGEST_FORGETTING) -> None:
        """Forget what the bot has printed, and remove what it has left in its private folder, as far as
        possible. What another user has hidden there remains, and so does what the bot keeps making anew. May
        wait for the disk."""
        self._printed.clear()
        _empty(self.directory, seconds)

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
        process = await _start(spec, invitation, confinement, folder.directory)
        bot = RunningBot(spec, process.popen.pid, process.transport, folder.directory, log)
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


@dataclass(frozen=True, slots=True)
class _Process:
    """A process. `memory_before` is what the kernel already counts as its memory: see `BotReport`."""

    popen: subprocess.Popen[bytes]
    descriptor: int  # of the process itself: readable when it has ended
    printed: trio.abc.ReceiveStream
    transport: trio.abc.Stream | None
    memory_before: int

    def has_exited(self) -> bool:
        """Return whether the process has exited, without giving its id back."""
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.popen.pid, flags) is not None

    async def exited(self) -> None:
        await trio.lowlevel.wait_readable(self.descriptor)

    def signal_group(self, number: signal.Signals) -> None:
        """Send a signal to the group. Nobody has waited for the leader yet, so the id is still its own. A
        process of another user may not be signaled."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.popen.pid, number)


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
            process.signal_group(signal.SIGTERM)
            with trio.move_on_after(grace):
                await process.exited()
        process.signal_group(signal.SIGKILL)
        with trio.move_on_after(LONGEST_END):
            await process.exited()
        # What is left in the pipe. Who left the group may hold it open for ever.
        nursery.cancel_scope.deadline = trio.current_time() + grace
    await process.printed.aclose()
    os.close(process.descriptor)
    return _report(bot, process, stopped)


def _report(bot: RunningBot, process: _Process, stopped: bool) -> BotReport:
    """Give the process's id back, and return what it has used."""
    pid, wait_status, usage = os.wait4(process.popen.pid, os.WNOHANG)
    code = os.waitstatus_to_exitcode(wait_status) if pid else None
    if code is not None:
        process.popen.returncode = code  # it was waited for here, and not by Popen
    return BotReport(
        status=code if code is not None and code >= 0 else None,
        signal=_signal_name(-code) if code is not None and code < 0 else None,
        stopped=stopped,
        cpu_ms=round(1000 * (usage.ru_utime + usage.ru_stime)),
        max_rss_kb=usage.ru_maxrss if usage.ru_maxrss > process.memory_before else None,
        last_lines=bot.last_lines(),
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has no name
        return f"signal {number}"


async def _hear(bot: RunningBot, process: _Process) -> None:
    while data := await process.printed.receive_some(_READ_SIZE):
        bot.hear(data)


# -- start -------------------------------------------------------------------------------------------


async def _start(spec: BotSpec, invitation: Invitation, confinement: Confinement, directory: str) -> _Process:
    argv = (*_confining(confinement), *command_line(spec, confinement, directory))
    environment = environment_of(spec, invitation, directory, os.environ)
    # Their ends of the pipes are closed here in any case, ours unless a _Process comes of it.
    with contextlib.ExitStack() as theirs, contextlib.ExitStack() as on_failure:
        printed, their_errors = _pipe(on_failure, theirs)
        their_input, their_output = subprocess.DEVNULL, their_errors
        stdio: tuple[int, int] | None = None
        if spec.transport == "stdio":
            their_input, our_output = _pipe(theirs, on_failure)
            our_input, their_output = _pipe(on_failure, theirs)
            stdio = our_output, our_input

        def popen() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                argv,
                stdin=their_input,
                stdout=their_output,
                stderr=their_errors,
                cwd=spec.directory or directory,
                env=environment,
                start_new_session=True,
            )

        started = await trio.to_thread.run_sync(popen)  # in a thread, for it waits until the exec
        on_failure.callback(_give_up, started)
        descriptor = os.pidfd_open(started.pid)
        on_failure.pop_all()
    memory_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + _RSS_PRECISION
    transport = None
    if stdio is not None:
        transport = trio.StapledStream(*map(trio.lowlevel.FdStream, stdio))
    return _Process(started, descriptor, trio.lowlevel.FdStream(printed), transport, memory_before)


def _confining(confinement: Confinement) -> tuple[str, ...]:
    """Return the call of the shell that sets the limits and then becomes the command behind it."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    descriptors = DESCRIPTORS if most == resource.RLIM_INFINITY else min(DESCRIPTORS, most)
    kilobytes = "" if confinement.memory_mb is None else str(confinement.memory_mb * 1024)
    return (_SHELL, "-c", _CONFINE, "sh", str(descriptors), kilobytes)


def _located(word: str) -> str:
    return os.path.abspath(word) if os.path.isfile(word) else word


def _pipe(reader: contextlib.ExitStack, writer: contextlib.ExitStack) -> tuple[int, int]:
    """Return the reading and the writing end of a pipe. `reader` closes the one, `writer` the other."""
    reading, writing = os.pipe()
    reader.callback(os.close, reading)
    writer.callback(os.close, writing)
    return reading, writing


def _give_up(started: subprocess.Popen[bytes]) -> None:
    started.kill()
    started.wait()


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

    What lies deeper than in a folder of this one is moved up first, so that neither a path nor a stack gets
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
