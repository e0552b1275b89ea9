"""The contract of every source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from stellwerk_web.show.forms import Head
    from stellwerk_web.show.model import Show
    from stellwerk_web.show.ranking import SeenMatches
    from stellwerk_web.show.results import BotPage, PairPage


class SourceError(Exception):
    """The source cannot be shown, and trying again would not help. The message is one line for the user;
    `is_usage` if the command line is wrong."""

    def __init__(self, message: str, *, is_usage: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.is_usage = is_usage


class Listener(Protocol):
    """A listener to the matches of a server: the model, or something before it."""

    on_wanted: Callable[[], object]

    @property
    def now(self) -> float: ...

    @property
    def seen(self) -> SeenMatches: ...

    @property
    def is_connected(self) -> bool: ...

    def connected(self, is_connected: bool) -> None: ...

    def began_anew(self) -> None: ...

    def list_complete(self) -> None: ...

    def match_listed(self, head: Head) -> None: ...

    def started(self, name: str, start: bytes) -> None: ...

    def happened(self, name: str, events: Sequence[bytes]) -> None: ...

    def seat_changed(self, name: str, seat: int, state: str) -> None: ...

    def ended(self, name: str, end: bytes) -> None: ...

    def cannot_be_watched(self, name: str) -> None: ...

    def wanted(self) -> list[str]: ...

    def is_here(self, name: str) -> bool: ...


class Source(Protocol):
    """Where matches come from."""

    async def run(self, show: Show) -> None:
        """Tell the model all that happens, until cancelled. SourceError if there is nothing to wait for."""
        ...

    async def bot(self, name: str) -> BotPage | None:
        """Return what /data/bot/NAME answers (see show/forms.py), or None if there is no such bot. Long work
        is to run in a thread."""
        ...

    async def pair(self, one: str, other: str) -> PairPage | None:
        """Return what /data/pair/NAME/NAME answers, or None."""
        ...

    def find(self, match: str) -> bool:
        """Let the model know of a match that it does not list any more, if it can be found; return whether
        it was."""
        ...

    async def replay_page(self, match: str) -> str | None:
        """Return the whole match page of a match, with all hands, if the source has it and may show it."""
        ...


def first_of(error: BaseException) -> BaseException:
    """Return the first error in a group of groups."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[
            0
        ]  # of what, the check cannot say
    return error
