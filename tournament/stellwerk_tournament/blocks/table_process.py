"""Tables in processes of their own, seen from a worker, which brings them blocks (`serve_table.py`).

Laws:
- a table that hangs is noticed, whatever it hangs in: while it plays, it may be silent for no longer than the
  clocks of its block allow. Then it is killed, and its block is played elsewhere; nothing comes of it later;
- tables and their bots end when they have waited for a block for long, when the tournament is over, and when
  the worker ends, whichever way;
- if bots get cores of their own, no two tables use the same ones.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Sequence, Set
from contextlib import contextmanager
from typing import Final

from stellwerk_processes.bench.cores import pinned_to
from stellwerk_server.operate.settings import Time
from stellwerk_tournament.blocks.serve_table import ALIVE, Outcome, Place, decode_outcome, encode

RESERVE_S: Final = 60.0  # to start and to end bots, on a machine that is busy
SLOWNESS: Final = 2  # the clocks of a match stand still while its server is late
_END_S: Final = 10.0  # for bots to end by themselves


class TableError(Exception):
    """A table that has ended or hangs; one line says so."""


def longest_silence(clocks: Time) -> float:
    """Return for how many seconds a table that plays can be silent: its bots log in and get ready, or one of
    them thinks."""
    by_clocks_ms = 2 * clocks.set_up_ms + clocks.move_ms + clocks.bank_ms + clocks.grace_ms
    return SLOWNESS * by_clocks_ms / 1000 + RESERVE_S


class TableProcess:
    """A table of this worker. It has been started, and may not be ready yet."""

    def __init__(self, program: Sequence[str], place: Place, processors: Set[int]) -> None:
        """Start a table, on these processors only if there are any. It lives no longer than this thread.
        OSError."""
        self.processors = processors
        self._socket, theirs = socket.socketpair()
        with theirs, pinned_to(processors):
            self._process = subprocess.Popen([sys.executable, *program], stdin=theirs.fileno())
        self._unsent = encode(place) + b"\n"
        self._lines = self._socket.makefile("rb")
        self.idle_since = 0.0

    @property
    def pid(self) -> int:
        return self._process.pid

    def play(self, order: bytes, silence_s: float) -> Outcome:
        """Have a block played. TableError if the table does not live to its end, or was silent too long."""
        self._socket.settimeout(silence_s)
        try:
            self._socket.sendall(self._unsent + order)
            self._unsent = b""
            while (line := self._lines.readline()) == ALIVE:
                pass
        except TimeoutError:
            raise TableError(
                f"the process that plays hangs: nothing has moved for {silence_s:.0f} s, which is longer "
                "than the clocks allow; it was ended"
            ) from None
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            raise TableError("the process that plays has ended")
        outcome: Outcome = decode_outcome(line)
        return outcome

    def kill(self) -> None:
        """End the table at once, and its bots with it. Any thread may call this, also while another one has a
        block played."""
        self._process.kill()

    def close(self) -> None:
        """End the table at once, and clear away what is left of it."""
        self.kill()
        self._process.wait()
        self._lines.close()
        self._socket.close()

    def dismiss(self) -> None:
        """Let a table that waits end, and its bots by themselves."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_S)
        self.close()


class Tables:
    """All tables of a worker: those that play, and those that wait for the next block. Each gets one of the
    shares of the worker's processors; without shares they all use the same ones."""

    def __init__(self, program: Sequence[str], place: Place, shares: Sequence[Set[int]] = ()) -> None:
        self._program = program
        self._place = place
        self._has_shares = bool(shares)
        self._free_shares = list(shares)
        self._lock = threading.Condition()
        self._playing: set[TableProcess] = set()
        self._waiting: list[TableProcess] = []
        self._is_closed = False

    def play(self, order: bytes, silence_s: float) -> Outcome:
        """Have a block played at a table that waits, or at a new one. TableError."""
        with self._taken() as table:
            return table.play(order, silence_s)

    def end_idle(self, seconds: float) -> None:
        """End the tables that have waited for so long."""
        until = time.monotonic() - seconds
        with self._lock:
            idle = [table for table in self._waiting if table.idle_since <= until]
            self._waiting = [table for table in self._waiting if table not in idle]
        for table in idle:
            table.dismiss()
            self._give_back(table)

    def close(self) -> None:
        """End all tables, those that play at once. None is started after that."""
        with self._lock:
            self._is_closed = True
            self._lock.notify_all()
            playing = [*self._playing]
        for table in playing:
            table.kill()
        self.end_idle(0)

    @contextmanager
    def _taken(self) -> Generator[TableProcess]:
        with self._lock:
            # Those of a table that is just being ended come soon.
            self._lock.wait_for(
                lambda: self._is_closed or self._waiting or self._free_shares or not self._has_shares
            )
            if self._is_closed:
                raise TableError("the tournament is over")
            try:
                table = self._waiting.pop() if self._waiting else self._new()
            except OSError as error:
                raise TableError(f"no process can be started: {error.strerror or error}") from None
            self._playing.add(table)
        is_good = False
        try:
            yield table
            is_good = True
        finally:
            with self._lock:
                self._playing.discard(table)
                is_good = is_good and not self._is_closed
                if is_good:
                    table.idle_since = time.monotonic()
                    self._waiting.append(table)
                    self._lock.notify()
            if not is_good:
                table.close()
                self._give_back(table)

    def _new(self) -> TableProcess:
        """Start a table, on a share of its own if there are shares. OSError."""
        processors = self._free_shares[0] if self._has_shares else frozenset[int]()
        table = TableProcess(self._program, self._place, processors)
        self._free_shares = self._free_shares[1:]
        return table

    def _give_back(self, table: TableProcess) -> None:
        """Let another table have the processors of one that has ended."""
        if self._has_shares:
            with self._lock:
                self._free_shares.append(table.processors)
                self._lock.notify()
