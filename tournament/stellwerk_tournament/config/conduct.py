"""`[conduct]` in `tournament.toml`: when a bot forfeits a match, and when it is suspended.

Law: who forfeits follows from what a match's line says of its bots, and from this table, which cannot change
between `run` and `resume`. So anybody can compute the forfeits again (`store/conduct.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final

from msgspec import Meta, Struct

from stellwerk_base.texts import counted

KEY: Final = "conduct"

# As many as the server bears before it asks a seat no more (`defaults` in `[clocks]`). A bot that hangs is
# asked no more after three in a row, and then each of its moves is a default: it has ten unless the match was
# nearly over. A few late answers in a match are slowness, which the points punish already.
DEFAULTS: Final = 10

# In a row, because a bot that crashes in one match of a hundred would reach any number in all, if only the
# tournament is long enough. Five, because a block has fewer matches at tables of two to four: one deal that a
# bot cannot play does not suspend it. At tables of two, a bot that never starts is out after three blocks.
SUSPEND_AFTER: Final = 5

_Count = Annotated[int, Meta(ge=0, le=1_000_000)]


class ConductTable(Struct, frozen=True, forbid_unknown_fields=True):
    """The table. `never_started`, `gone`, `absent`: whether that is a forfeit. `defaults`: how many fallbacks
    in one match are one, 0 for no such number. `suspend_after`: after how many forfeits in a row a bot is
    suspended, 0 for never."""

    never_started: bool = True
    gone: bool = True
    absent: bool = True
    defaults: _Count = DEFAULTS
    suspend_after: _Count = SUSPEND_AFTER


STANDARD: Final = ConductTable()


def in_words(conduct: ConductTable | None) -> str:
    """Describe the table in a sentence. None: the tournament was begun without one."""
    causes = () if conduct is None else tuple(_causes(conduct))
    if conduct is None or not causes:
        return "none: every match counts by the rules, whatever a bot does"
    *some, last = causes
    either = f"{', '.join(some)}, or {last}" if some else last
    sentence = f"a bot forfeits a match {either}, and ranks last in it"
    if not conduct.suspend_after:
        return f"{sentence}; no bot is suspended"
    return f"{sentence}; after {counted(conduct.suspend_after, 'forfeit')} in a row it is suspended"


def _causes(conduct: ConductTable) -> Iterator[str]:
    if conduct.never_started:
        yield "in which it never starts"
    if conduct.gone:
        yield "that it leaves, or in which its process or its connection ends"
    if conduct.absent:
        yield "at whose beginning it is not connected"
    if conduct.defaults:
        yield f"in which the server moves for it {counted(conduct.defaults, 'time')}"
