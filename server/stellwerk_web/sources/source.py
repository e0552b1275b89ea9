"""What every source is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from stellwerk_web.show.forms import JsonObject
    from stellwerk_web.show.model import Show


class SourceError(Exception):
    """The source cannot be shown, and trying again would not help. The message is one line for the user;
    `is_usage` if the command line is wrong."""

    def __init__(self, message: str, *, is_usage: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.is_usage = is_usage


class Source(Protocol):
    """Where matches come from."""

    async def run(self, show: Show) -> None:
        """Tell the model all that happens, until cancelled. SourceError if there is nothing to wait for."""
        ...

    def bot(self, name: str) -> JsonObject | None:
        """Return what /data/bot/NAME answers, or None if nobody has that name. It runs in a thread."""
        ...

    def pair(self, one: str, other: str) -> JsonObject | None:
        """Return what /data/pair/NAME/NAME answers, or None. It runs in a thread."""
        ...

    def find(self, match: str) -> bool:
        """Let the model know of a match that it does not list any more, if it can be found; return whether
        it was."""
        ...

    def replay_page(self, match: str) -> str | None:
        """Return the whole match page of a match, with all hands, if the source has it and may show it. It
        runs in a thread."""
        ...
