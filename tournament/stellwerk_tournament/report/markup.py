"""HTML in small pieces, and how the report writes figures.

Law: what is not `Html` is text, and is escaped wherever it is put in, with visible escapes for characters
that would not be seen or would turn the line around. So nothing that a bot prints or is called can become
markup, and nobody has to remember it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Final

from stellwerk_protocol import figures
from stellwerk_protocol.canonical import shown

PLUS_MINUS: Final = "\N{PLUS-MINUS SIGN}"
LONGEST_TEXT: Final = 10_000

_VOID: Final = frozenset({"meta", "link", "input", "line", "circle", "path", "polyline", "use", "br"})


class Html(str):
    """A text that is HTML already."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str | float | None) -> Html:
    """`class_` is the attribute `class`, `data_v` is `data-v`; an attribute that is None is left out."""
    told = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_told(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in _VOID:
        return Html(f"<{tag}{told}>" if tag in ("meta", "link", "input", "br") else f"<{tag}{told}/>")
    return Html(f"<{tag}{told}>{joined(children)}</{tag}>")


def joined(parts: Iterable[str]) -> Html:
    return Html("".join(map(_told, parts)))


def _told(text: str) -> str:
    if isinstance(text, Html):
        return text
    return escape(text if text.isprintable() else shown(text, LONGEST_TEXT))


# -- tables ------------------------------------------------------------------------------------------


def head(*cells: Html) -> Html:
    """The row of column heads: `texts`, `numbers` and `unsorted`."""
    return element("thead", element("tr", *cells))


def texts(*titles: str) -> Iterator[Html]:
    return (element("th", title, scope="col") for title in titles)


def numbers(*titles: str) -> Iterator[Html]:
    """Of columns that stand to the right, with `number_cell`."""
    return (element("th", title, scope="col", class_="num") for title in titles)


def unsorted(*titles: str) -> Iterator[Html]:
    """Of columns that nobody would sort by."""
    return (element("th", title, scope="col", class_="plain") for title in titles)


def number_cell(text: str, value: float | None = None) -> Html:
    """`value` is what it is sorted by, where the text is no plain number."""
    return element("td", text, class_="num", data_v=None if value is None else f"{value:.6g}")


def bot_cell(name: str, target: str | None = None) -> Html:
    """The head of a bot's row, which may lead to the bot's own section."""
    inner = name if target is None else element("a", name, href=f"#{target}")
    return element("th", element("span", inner), scope="row", class_="name")


def scrolling(table: Html, name: str, kind: str = "") -> Html:
    """What is too wide scrolls by itself, with the keyboard too; the page does not."""
    return element("div", table, class_=f"scroll {kind}".strip(), role="region", aria_label=name, tabindex=0)


# -- figures -----------------------------------------------------------------------------------------


def signed(elo: float) -> str:
    return figures.signed(elo, figures.MINUS_SIGN)


def tenths(value: float) -> str:
    return f"{value:,.1f}".replace("-", figures.MINUS_SIGN)


def whole(value: int) -> str:
    return f"{value:,}".replace("-", figures.MINUS_SIGN)


def percent(share: float) -> Html:
    """With a space at which no line breaks."""
    return Html(f"{100 * share:.1f}&nbsp;%")


def probability(value: float) -> Html:
    """Never 100 %, and never 0: nothing is certain."""
    if value > 0.999:
        return Html("&gt; 99.9&nbsp;%")
    return Html("&lt; 0.1&nbsp;%") if value < 0.001 else percent(value)


def milliseconds(amount: float) -> str:
    return f"{amount:,.0f} ms" if amount < 10_000 else f"{amount / 1000:,.1f} s"
