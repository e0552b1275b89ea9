"""A bot as a process: started in its own process group, watched, and ended with everything that it started.

The law: when `end` returns, no process of the group runs any more. The group is killed before its leader is
reaped, because until then the system gives the group's number to no other group.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, Final, Literal

from stellwerk_base.texts import last_printed, shown

Transport = Literal["tcp", "stdio"]

TAIL_BYTES: Final = 8192  # of the bot's output that are kept
TAIL_LINES: Final = 10
LINE_CHARACTERS: Final = 200
LOOK_EVERY: Final = (
    0.01  # seconds between two checks whether it has exited: the system has no wait with a deadline
)
SECONDS_TO_END: Final = 0.2  # by itself, when it is told to
SECONDS_TO_PRINT: Final = 1.0  # after its end; only a process that left the group could hold the pipe longer


class CannotStartError(Exception):
    """A process that did not start. With `wrong_command` there is no such program, or it is not executable;
    otherwise the machine failed."""

    def __init__(self, command: str, error: OSError) -> None:
        super().__init__(f"{command}: cannot be started: {error.strerror or error}")
        self.wrong_command = isinstance(error, FileNotFoundError | PermissionError | NotADirectoryError) or (
            error.strerror == "Exec format error"
        )


class BotProcess:
    """A bot's process. Over stdio its standard input and output are the connection. Otherwise its standard
    output is kept together with its standard error."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], transport: Transport) -> None:
        piped = transport == "stdio"
        try:
            self._process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.PIPE if piped else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if piped else subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise CannotStartError(command[0], error) from None
        self._tail = b""
        printed = self._process.stderr if piped else self._process.stdout
        assert printed is not None
        self._reader = threading.Thread(target=self._keep_tail, args=(printed,), daemon=True)
        self._reader.start()

    @property
    def pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        """Return the pipe that it writes to, and the one that it reads, over stdio."""
        assert self._process.stdout is not None
        assert self._process.stdin is not None
        return self._process.stdout, self._process.stdin

    def status(self) -> int | None:
        """Return the exit status, negative for a signal; None while the process runs."""
        if self._process.returncode is not None:
            return self._process.returncode
        seen = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if seen is None:
            return None
        return seen.si_status if seen.si_code == os.CLD_EXITED else -seen.si_status

    def status_by(self, deadline: float) -> int | None:
        """Wait for the exit status; return None if the process still runs at the deadline."""
        while (status := self.status()) is None and time.monotonic() < deadline:
            time.sleep(LOOK_EVERY)
        return status

    def end(self) -> None:
        """Tell the bot to end, so that it can print where it hangs. Then kill the group, whether or not its
        leader still runs."""
        if self._process.returncode is not None:
            return
        if self.status() is None:
            os.kill(self._process.pid, signal.SIGTERM)  # not reaped, so the id is still its own
            self.status_by(time.monotonic() + SECONDS_TO_END)
        with contextlib.suppress(ProcessLookupError, PermissionError):  # the latter: macOS, of a dead leader
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join(SECONDS_TO_PRINT)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None and not (self._reader.is_alive() and pipe is not self._process.stdin):
                with contextlib.suppress(OSError):  # the rest of the output is not needed
                    pipe.close()

    def own_listener(self) -> None:
        """Return no socket: it has the network of this machine."""

    def last_lines(self) -> tuple[str, ...]:
        """Return the last lines that it printed, without control characters."""
        lines = self._tail.decode("utf-8", "backslashreplace").splitlines()
        return tuple(shown(line, LINE_CHARACTERS) for line in last_printed(lines, TAIL_LINES))

    def _keep_tail(self, printed: IO[bytes]) -> None:
        """Read all that the bot prints, and keep the end of it."""
        with contextlib.suppress(OSError, ValueError):  # closed meanwhile
            while piece := os.read(printed.fileno(), TAIL_BYTES):
                self._tail = (self._tail + piece)[-TAIL_BYTES:]


def described_status(status: int) -> str:
    """Describe an exit status: `it exited with status 1`, `it was ended by SIGSEGV`."""
    if status >= 0:
        return f"it exited with status {status}"
    try:
        return f"it was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"it was ended by signal {-status}"
