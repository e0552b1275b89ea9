"""A limit for the time of an answer in this process.

Law: an answer that took longer never counts. In the main thread on Unix the player is interrupted, so that
the error comes from the line that it has reached. Elsewhere, and in C code that does not return to Python,
the limit holds when the player has answered.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupted_after(seconds: float, error: Exception) -> Generator[None]:
    """Raise the error in the block after so many seconds, where that is possible."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not hasattr(signal, "setitimer"):
        yield
        return
    is_inside = True

    def interrupt(number: int, frame: FrameType | None) -> None:
        if is_inside:
            raise error

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        is_inside = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)
