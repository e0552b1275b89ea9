"""The matches of the report, each with a link to its replay.

Law: links are relative and stay in the tournament's folder, so that it can be published as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import quote

from stellwerk_protocol.figures import counted
from stellwerk_tournament.ratings.game_words import game_title
from stellwerk_tournament.report.markup import (
    Html,
    element,
    head,
    number_cell,
    numbers,
    scrolling,
    texts,
    unsorted,
    whole,
)
from stellwerk_tournament.store.match_line import MatchLine

MOST_MATCHES: Final = 1000  # with as many a page still opens at once on a phone

_FILES: Final = (
    ("matches.jsonl", "all matches"),
    ("ratings.json", "the ratings"),
    ("crosstable.csv", "the cross table"),
    ("junit.xml", "faults for CI"),
)


def match_label(line: MatchLine) -> str:
    """Rotations are counted from 0, as everywhere."""
    return f"block {line.block}, rotation {line.rotation}"


def replay_link(line: MatchLine) -> Html:
    if not line.replay:
        return element("span", "no replay")
    return element("a", "replay", href=f"./{quote(line.replay)}", aria_label=f"replay of {match_label(line)}")


def matches(lines: Sequence[MatchLine]) -> Iterator[Html]:
    """In the order in which they were played; of many, the last."""
    files: list[str] = []
    for file, told in _FILES:
        files += [element("a", file, href=file), f" ({told}), "]
    yield element(
        "p",
        "The same as files: ",
        *files,
        "and every replay in ",
        element("a", "replays", href="replays/"),
        ". ",
        element("code", "stellwerk replay verify FILE"),
        " plays a replay again.",
    )
    shown = lines[-MOST_MATCHES:]
    if len(shown) < len(lines):
        yield element("p", f"Here are the last {len(shown):,} of {counted(len(lines), 'match', 'matches')}.")
    columns = head(
        *numbers("block", "rotation"),
        *texts("result"),
        *unsorted("replay"),
        *texts("game"),
        *numbers("turns"),
        *texts("faults"),
    )
    table = element(
        "table",
        columns,
        element("tbody", *map(_row, shown)),
        class_="sortable filtered",
    )
    yield scrolling(table, "Matches", "tall")


def _row(line: MatchLine) -> Html:
    order = sorted(range(len(line.players)), key=lambda i: line.ranks[i])
    result = ", ".join(f"{line.ranks[i]}. {line.players[i]} {whole(line.points[i])}" for i in order)
    faulty = sorted({f"{seat.bot}: {fault.kind}" for seat in line.bots for fault in seat.faults})
    return element(
        "tr",
        element("th", f"{line.block:,}", scope="row", class_="num", data_v=line.block),
        number_cell(str(line.rotation)),
        element("td", result, class_="wide"),
        element("td", replay_link(line)),
        element("td", game_title(line.game), class_="wide"),
        number_cell(str(line.turns)),
        element("td", ", ".join(faulty), class_="wide" if faulty else None),
    )
