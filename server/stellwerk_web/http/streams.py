"""Streams of events: one channel, any number of readers.

A reader's task waits for the channel, and then asks it for what comes after the reader's own position. So a
reader that is slow holds no queue: when it reads again, it gets what has changed since, or the state if
that is too much.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, Protocol

import trio

COMMENT_SECONDS: Final = 15.0  # proxies close what is silent for longer, often for 60 seconds
COMMENT: Final = b":\n\n"


class Feed(Protocol):
    """What readers follow. `show/channel.py` is one."""

    def position_of(self, last: str | None) -> int:
        """Return the position that a client names; that of a newcomer if it is none of this feed's."""
        ...

    def after(self, position: int) -> tuple[bytes, int]:
        """Return the records after a position, or the state, and the position behind them."""
        ...


class Stream:
    """A feed and the bell that wakes its readers. `on_readers` is called with their number whenever that
    changes."""

    def __init__(self, feed: Feed, on_readers: Callable[[int], object] = lambda _: None) -> None:
        self.feed = feed
        self._readers = 0
        self._on_readers = on_readers
        self._changed = trio.Event()

    @contextmanager
    def reader(self) -> Generator[None]:
        """Count a reader while the block runs."""
        self._readers += 1
        self._on_readers(self._readers)
        try:
            yield
        finally:
            self._readers -= 1
            self._on_readers(self._readers)

    def ring(self) -> None:
        """Wake all readers: the feed has changed."""
        if self._readers:
            changed, self._changed = self._changed, trio.Event()
            changed.set()

    async def next_after(self, position: int) -> tuple[bytes, int]:
        """Wait for what comes after a position. Return a comment if that takes long."""
        with trio.move_on_after(COMMENT_SECONDS):
            while True:
                data, position = self.feed.after(position)
                if data:
                    return data, position
                await self._changed.wait()
        return COMMENT, position
