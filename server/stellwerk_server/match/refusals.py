"""The first line of each kind that was refused: what it was, where it was wrong, and what was expected.

Law: no secret gets in. A line that may hold a token or a resume key is left out.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from stellwerk_protocol.canonical import shown

SHOWN: Final = 200  # characters of a line
_SECRET: Final = re.compile(rb"token|resume|key|login", re.IGNORECASE)


class Refused(Struct, frozen=True, omit_defaults=True):
    """`pointer` leads into the line. `ask` and `turn` are those of the match in which it was sent."""

    code: str
    expected: str
    pointer: str = ""
    line: str = ""
    ask: int | UnsetType = UNSET
    turn: int | UnsetType = UNSET


def shown_line(text: bytes, *, logged_in: bool) -> str:
    """Return what may be shown of a client's line. Before the login nothing that could be a message may."""
    if _SECRET.search(text) or (not logged_in and text.lstrip().startswith(b"{")):
        return ""
    return shown(text[: 4 * SHOWN].decode("utf-8", "backslashreplace"), SHOWN)
