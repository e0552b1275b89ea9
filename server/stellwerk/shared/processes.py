"""Work in several processes, which end with the first one.

Law: the results come in order. Ctrl-C, an error in a process and its death each end all processes, and the
first one raises what happened. A process completes the piece that it works on, so no replay is cut short.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import resource_tracker
from typing import Final, TypeVar

from stellwerk.shared.errors import infrastructure_error

PIECES_AHEAD_FOR_A_JOB: Final = 4  # so that no process waits while a slow piece is the next in order

Piece = TypeVar("Piece")
Done = TypeVar("Done")


def in_processes(work: Callable[[Piece], Done], pieces: Sequence[Piece], jobs: int) -> Generator[Done]:
    """Do the work on each piece in one of `jobs` processes, and yield the results in their order."""
    # Spawned, because a forked process would inherit the locks and the open files of the moment.
    executor = ProcessPoolExecutor(
        jobs, multiprocessing.get_context("spawn"), initializer=_end_with_the_first
    )
    try:
        waiting = iter(pieces)
        ahead = islice(waiting, jobs * PIECES_AHEAD_FOR_A_JOB)
        running = deque(_submit(executor, work, piece) for piece in ahead)
        while running:
            done = running.popleft().result()
            running.extend(_submit(executor, work, piece) for piece in islice(waiting, 1))
            yield done
    except BrokenProcessPool:
        raise infrastructure_error("a process that played games has died") from None
    finally:
        executor.shutdown(cancel_futures=True)


def _submit(executor: ProcessPoolExecutor, work: Callable[[Piece], Done], piece: Piece) -> Future[Done]:
    """Give a piece to some process of the executor. This starts another process if all are busy."""
    try:
        with _interrupts_blocked():
            return executor.submit(work, piece)
    except OSError as error:
        raise infrastructure_error(f"no more processes can be started: {error.strerror or error}") from None


@contextlib.contextmanager
def _interrupts_blocked() -> Generator[None]:
    """Block SIGINT here, and for good in all processes and threads that start meanwhile.

    Ctrl-C reaches all processes of a terminal, but only the first one should react: it ends the others.
    Windows has no signal masks.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # otherwise the first start does this, and unblocks the signal
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _end_with_the_first() -> None:
    """Let this process end when the first one is killed, instead of waiting for work for ever."""
    threading.Thread(target=_wait_and_end, daemon=True).start()


def _wait_and_end() -> None:
    first = multiprocessing.parent_process()
    assert first is not None
    first.join()
    os._exit(1)
