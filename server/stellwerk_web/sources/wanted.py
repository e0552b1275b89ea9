"""Replays for readers of match pages: a replay is read when a reader opens its match, and not before."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import trio

from stellwerk_engine.replays.reader import ReplayError, lines_of
from stellwerk_page.one_file import page_of
from stellwerk_protocol.answer_times import MAX_BYTES as MAX_TIMES_BYTES
from stellwerk_protocol.answer_times import AnswerTimes, read_times, times_beside
from stellwerk_protocol.messages import Clocks
from stellwerk_protocol.replays import MAX_BYTES
from stellwerk_web.sources.recorded import Recorded, recorded, summary

if TYPE_CHECKING:
    from stellwerk_web.show.model import Show

PAUSE_S: Final = 0.5  # between two looks at what readers want
MOST_REFUSED: Final = 1000  # replays that cannot be read: they are not tried again at each look

ReplayOf = Callable[[str], Path | None]


class Wake:
    """An alarm clock: `ring` wakes the task that waits, or the next one that does."""

    def __init__(self) -> None:
        self._event = trio.Event()

    def ring(self) -> None:
        self._event.set()

    async def wait(self, seconds: float) -> None:
        """Wait until it rings, but no longer than so many seconds."""
        with trio.move_on_after(seconds):
            await self._event.wait()
        self._event = trio.Event()


async def bring_wanted(
    show: Show,
    wake: Wake,
    replay_of: ReplayOf,
    clocks: Callable[[], Clocks],
    log: Callable[..., object],
) -> None:
    """Bring the matches that readers look at, until cancelled. `replay_of` returns where a replay is that
    may be shown, and None for any other match."""
    refused: dict[str, None] = {}
    while True:
        for name in show.wanted():
            replay = None if show.is_here(name) or name in refused else replay_of(name)
            if replay is None:
                continue
            try:
                match = await trio.to_thread.run_sync(partial(_read_replay, replay, name, clocks()))
            except (ReplayError, OSError) as error:
                if len(refused) >= MOST_REFUSED:
                    refused.clear()
                refused[name] = None
                log("source.unreadable", match=name, why=str(error))
                show.cannot_be_watched(name)
                continue
            if replay_of(name) != replay:
                continue  # what was true before the thread is not any more
            show.started(name, match.start)
            show.happened(name, match.events)
            show.ended(name, match.end)
        await wake.wait(PAUSE_S)


def _read_replay(replay: Path, name: str, clocks: Clocks) -> Recorded:
    with open(replay, "rb") as file:
        return recorded(lines_of(file), name, clocks)


def whole_page(replay: Path, version: str) -> str | None:
    """Return the match page of a replay, with all hands, or None if it may not be shown or cannot be read.
    Takes long: in a thread."""
    try:
        summary(replay)  # it is whole, and its seed is known
        with open(replay, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (ReplayError, OSError):
        return None
    if len(content) > MAX_BYTES:
        return None
    return page_of(content, replay.name, version, _read_times(replay))


def _read_times(replay: Path) -> AnswerTimes | None:
    try:
        with open(times_beside(replay), "rb") as file:
            return read_times(file.read(MAX_TIMES_BYTES + 1))
    except (OSError, msgspec.DecodeError):
        return None  # the page is good without them
