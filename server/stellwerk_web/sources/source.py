"""The contract of every source."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from stellwerk_web.show.forms import Head
    from stellwerk_web.show.model import Show
    from stellwerk_web.show.results import BotPage, PairPage


class SourceError(Exception):
    """The source cannot be shown, and trying again would not help. The message is one line for the user;
    `is_usage` if the command line is wrong."""

    def __init__(self, message: str, *, is_usage: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.is_usage = is_usage


class ServerList(Protocol):
    """The list of a server's matches: the model's, or one that stands before it."""

    on_wanted: Callable[[], object]
    is_connected: bool

    def connected(self, is_connected: bool) -> None: ...

    def began_anew(self) -> None: ...

    def list_complete(self) -> None: ...

    def match_listed(self, head: Head) -> None: ...

    def wanted(self) -> list[str]: ...


class Source:
    """The origin of matches. This one never has any, and its pages are those of the matches seen."""

    def __init__(self) -> None:
        self._show: Show | None = None
        """The model, from the beginning of `run`."""

    async def run(self, show: Show) -> None:
        """Tell the model all that happens, until cancelled. SourceError if there is nothing to wait for."""
        self._show = show

    async def bot(self, name: str) -> BotPage | None:
        """Return what /data/bot/NAME answers (see show/forms.py), or None if there is no such bot. Long work
        is to run in a thread."""
        return None if self._show is None else self._show.seen.bot(name)

    async def pair(self, one: str, other: str) -> PairPage | None:
        """Return what /data/pair/NAME/NAME answers, or None."""
        return None if self._show is None else self._show.seen.pair(one, other)

    def find(self, match: str) -> bool:
        """Let the model know of a match that it does not list any more, if it can be found; return whether
        it was."""
        return False

    async def replay_page(self, match: str) -> str | None:
        """Return the whole match page of a match, with all hands, if the source has it and may show it."""
        return None


def first_of(error: BaseException) -> BaseException:
    """Return the first error in a group of groups."""
    while isinstance(error, BaseExceptionGroup):
        # The check cannot say what is in it.
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
