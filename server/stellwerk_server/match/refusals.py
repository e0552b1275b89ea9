"""Refused lines: how many there were of each code, and what was wrong with the first of them.

Law: no secret gets in. A line that may hold a token or a resume key is left out.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from stellwerk_base.texts import shown

SHOWN: Final = 200  # characters of a line
_SECRET: Final = (b"token", b"resume", b"key", b"login")


class Refused(Struct, frozen=True, omit_defaults=True):
    """`pointer` leads into the line. `ask` and `turn` say where in its match it was sent."""

    code: str
    expected: str
    pointer: str = ""
    line: str = ""
    ask: int | UnsetType = UNSET
    turn: int | UnsetType = UNSET


class RefusedLines:
    """The refused lines of one client: how many there were of each code, and the first of them."""

    __slots__ = ("counts", "first")

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.first: dict[str, Refused] = {}

    def add(self, refused: Refused) -> None:
        self.counts[refused.code] += 1
        self.first.setdefault(refused.code, refused)

    def add_later(self, later: RefusedLines) -> None:
        """Add lines that came later than all of these."""
        self.counts += later.counts
        self.first = later.first | self.first


def shown_line(text: bytes, *, logged_in: bool) -> str:
    """Return what may be shown of a client's line. Before the login nothing that could be a message may."""
    lower = text.lower()
    if any(word in lower for word in _SECRET) or (not logged_in and text.lstrip().startswith(b"{")):
        return ""
    return shown(text[: 4 * SHOWN].decode("utf-8", "backslashreplace"), SHOWN)
