"""Texts for people: values in messages, names and their nearest neighbours, figures, tables.

Law: a text that came from elsewhere is printed on one line, without anything that a terminal would obey, and
cut where it is long. Figures are rounded once, never -0, and with one minus for each medium: terminals, logs
and files for programs use the hyphen-minus, which every encoding has and every program reads. Pages use the
minus sign, which is as wide as the plus above it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

SHOWN_CHARACTERS: Final = 60  # of a value in a message: enough to find it, too few to flood a log
QUOTED_CHARACTERS: Final = 40  # of a text in quotes, beside more words of the message
LONGEST_TYPO: Final = 72  # characters: nearest names are looked for up to here, since the search is quadratic
HYPHEN_MINUS: Final = "-"
MINUS_SIGN: Final = "\N{MINUS SIGN}"
_STACK: Final = "Current thread 0x"
_OF_STACK: Final = (_STACK, "  File ", "  ...", "Thread 0x")
_COLORS: Final = re.compile(r"\x1b\[[0-9;]*m")


# -- texts from elsewhere ----------------------------------------------------------------------------


def shown(text: str, characters: int = SHOWN_CHARACTERS) -> str:
    """Return a text on one line, shortened if it is long, with escapes for what a terminal would obey."""
    return printable(text if len(text) <= characters else text[:characters] + "...")


def quoted(text: str) -> str:
    """Return a text in double quotes, on one line, shortened if it is long."""
    if len(text) > QUOTED_CHARACTERS:
        text = text[:QUOTED_CHARACTERS] + "..."
    import json  # without it --help starts faster

    return printable(json.dumps(text, ensure_ascii=False))


def printable(text: str) -> str:
    """Return the text with everything that a terminal would not show as itself written as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def last_printed(lines: Sequence[str], count: int) -> Sequence[str]:
    """Return the last lines that a program printed. If the stack of a Python process is the last, return its
    first lines: the innermost call comes first there, and last in a traceback."""
    start = next((at for at in reversed(range(len(lines))) if lines[at].startswith(_STACK)), None)
    if start is not None and all(line.startswith(_OF_STACK) for line in lines[start:]):
        return lines[start:][:count]
    return lines[-count:]


def unknown(kind: str, name: str, known: Collection[str]) -> str:
    """Return `there is no game "use"; did you mean "usa"? (usa, ...)`."""
    return f"there is no {kind} {quoted(name)}{suggestion(name, known)} ({', '.join(known)})"


def suggestion(typo: str, known: Iterable[str]) -> str:
    """Return the nearest known name, as the end of a message."""
    if len(typo) > LONGEST_TYPO:
        return ""
    from difflib import get_close_matches  # seldom needed, and slow to load

    nearest = get_close_matches(typo, sorted(known), n=1)
    return f"; did you mean {quoted(nearest[0])}?" if nearest else ""


# -- figures -----------------------------------------------------------------------------------------


def counted(count: int, one: str, many: str = "") -> str:
    """Format a number with its noun: `1 match`, `1,200 matches`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def signed(elo: float, minus: str = HYPHEN_MINUS) -> str:
    """Format a difference of Elo: `+1,012`, `-88`, `0`."""
    whole = round(elo)
    return f"{whole:+,}".replace("-", minus) if whole else "0"


def interval(low: float | None, high: float | None) -> str:
    """Format an interval: `+88 ... +181`. A missing limit is left out."""
    if low is None and high is None:
        return ""
    return f"{'' if low is None else signed(low)} ... {'' if high is None else signed(high)}".strip()


def percent(share: float) -> str:
    """Format a share: `12.3 %`."""
    return f"{100 * share:.1f} %"


def probability(value: float) -> str:
    """Format a probability in per cent. It is never 100 % and never 0, because nothing is certain."""
    if value > 0.999:
        return "> 99.9 %"
    return "< 0.1 %" if value < 0.001 else percent(value)


# -- tables ------------------------------------------------------------------------------------------


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = (), gap: int = 2) -> Iterator[str]:
    """Lay out a table: the columns in `left` to the left, all others to the right."""
    widths = [max(map(columns_of, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells: list[str] = []
        for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
            blanks = " " * (width - columns_of(cell))
            cells.append(cell + blanks if column in left else blanks + cell)
        yield (" " * gap).join(cells).rstrip()


def columns_of(text: str) -> int:
    """Count the columns of a text: two for East Asian letters, none for colors and combining marks."""
    text = _COLORS.sub("", text)
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)
