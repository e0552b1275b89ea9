"""Text and markup kept apart, SVG elements, and how the report writes figures.

Law: what is not `Html` is text, and is escaped wherever it is inserted, with visible escapes for characters
that would not be seen or would turn the line around. So nothing that a bot prints or is called can become
markup, and no template has to take care of it.
"""

from __future__ import annotations

from html import escape
from typing import Final

from stellwerk_base import texts
from stellwerk_base.texts import MINUS_SIGN, shown
from stellwerk_tournament.ratings.opponents import Bound
from stellwerk_tournament.ratings.ratings import Rating

LONGEST_TEXT: Final = 10_000

_EMPTY: Final = frozenset({"line", "circle", "path", "polyline", "use"})


class Html(str):
    """A text that is markup already."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the markup, which templates then insert as it is."""
        return str(self)


def element(tag: str, *children: str, **attributes: str | float | None) -> Html:
    """Write an element of a drawing.

    `class_` is the attribute `class`, `aria_hidden` is `aria-hidden`. An attribute that is None is left out.
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escaped(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in _EMPTY:
        return Html(f"<{tag}{written}/>")
    return Html(f"<{tag}{written}>{''.join(map(escaped, children))}</{tag}>")


def escaped(text: str) -> Html:
    """Turn text into markup, and leave markup as it is."""
    if isinstance(text, Html):
        return text
    return Html(escape(text if text.isprintable() else shown(text, LONGEST_TEXT)))


# -- figures -----------------------------------------------------------------------------------------


def signed(elo: float) -> str:
    """Write a distance in Elo: `+1,012`."""
    return texts.signed(elo, MINUS_SIGN)


def tenths(value: float) -> str:
    """Write `1,234.5`."""
    return f"{value:,.1f}".replace("-", MINUS_SIGN)


def grouped(value: int) -> str:
    """Write `1,234`."""
    return f"{value:,}".replace("-", MINUS_SIGN)


def percent(share: float) -> Html:
    """Write `12.3 %`, with a space at which no line breaks."""
    return _unbroken(texts.percent(share))


def probability(value: float) -> Html:
    """Write a probability in per cent, with a space at which no line breaks."""
    return _unbroken(texts.probability(value))


def _unbroken(percentage: str) -> Html:
    return Html(escape(percentage).replace(" %", "&nbsp;%"))


def milliseconds(amount: float) -> str:
    """Write `900 ms` or `12.3 s`."""
    return f"{amount:,.0f} ms" if amount < 10_000 else f"{amount / 1000:,.1f} s"


def parts_of_ms(amount: float) -> str:
    """Write `0.12 ms`, `3.4 ms`, or `900 ms` and more: times of single answers."""
    digits = 2 if amount < 1 else 1 if amount < 100 else 0
    return f"{amount:,.{digits}f} ms" if digits else milliseconds(amount)


def elo_text(rating: Rating) -> str:
    """Write a rating, in brackets if the matches limit it on one side only."""
    return signed(rating.elo) if rating.bound is Bound.BOTH else f"({signed(rating.elo)})"


def interval_text(low: float | None, high: float | None) -> str:
    """Write the limits of an interval in words."""
    match low, high:
        case None, None:
            return "unknown"
        case float(), None:
            return f"at least {signed(low)}"
        case None, float():
            return f"at most {signed(high)}"
        case _:
            return f"{signed(low or 0.0)} to {signed(high or 0.0)}"
