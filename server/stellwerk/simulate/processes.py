"""Chunks of games in several processes, which end with the first one.

Law: the chunks come in order. Ctrl-C, an error in a process and its death each end all processes, and the
first one raises what happened. A process completes the chunk that it is playing, so no replay is cut short.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import resource_tracker
from typing import Final

from stellwerk.shared.errors import infrastructure_error
from stellwerk.simulate.simulation import Chunk, Simulation, play

CHUNKS_AHEAD_FOR_A_JOB: Final = 4  # so that no process waits while a slow chunk is the next in order


def play_in_processes(simulation: Simulation, chunks: list[range], jobs: int) -> Iterator[Chunk]:
    """Play the chunks in `jobs` processes."""
    # Spawned, because a forked process would inherit the locks and the open files of the moment.
    executor = ProcessPoolExecutor(
        jobs, multiprocessing.get_context("spawn"), initializer=_end_with_the_first
    )
    try:
        waiting = iter(chunks)
        ahead = islice(waiting, jobs * CHUNKS_AHEAD_FOR_A_JOB)
        running = deque(_submit(executor, simulation, numbers) for numbers in ahead)
        while running:
            chunk = running.popleft().result()
            running.extend(_submit(executor, simulation, numbers) for numbers in islice(waiting, 1))
            yield chunk
    except BrokenProcessPool:
        raise infrastructure_error("a process that played games has died") from None
    finally:
        executor.shutdown(cancel_futures=True)


def _submit(executor: ProcessPoolExecutor, simulation: Simulation, numbers: range) -> Future[Chunk]:
    """Have some process of the executor play a chunk. This starts another process if all are busy."""
    try:
        with _interrupts_blocked():
            return executor.submit(play, simulation, numbers)
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
