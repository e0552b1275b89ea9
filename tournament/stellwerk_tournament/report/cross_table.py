"""The cross table of the report: each bot against each other, as a heat map with its numbers.

Law: the numbers are always there. With many bots the page opens with small cells that show the color only,
for the pattern that they make, and a box without any script brings the numbers back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from stellwerk_protocol.figures import counted
from stellwerk_tournament.report.bots import MOST_BOTS, pair_id
from stellwerk_tournament.report.markup import Html, element, scrolling
from stellwerk_tournament.store.standings import Standings

STEPS: Final = 10  # of color, from always worse to always better
MANY: Final = MOST_BOTS  # from which on the page opens with small cells
FEW: Final = 26  # bots, up to which each cell shows in how many matches they met


def cross_table(names: Sequence[str], standings: Standings) -> Iterator[Html]:
    """`names` in the order of the ranking."""
    met = sorted({count for _, count in standings.pairs.values()})
    each = (
        f"Every two that met did so in {counted(met[0], 'match', 'matches')}."
        if len(met) == 1
        else f"Two that met did so in {met[0]:,} to {met[-1]:,} matches."
        if met
        else "No two bots have met."
    )
    shown_below = " The small number says in how many." if len(names) <= FEW and len(met) > 1 else ""
    leads = " Each cell links to the results of the two." if len(names) <= MOST_BOTS else ""
    yield element(
        "p",
        "How often the bot of the row was better than the bot of the column, in per cent of their matches, "
        f"a tie counting a half. An empty cell: they never met. {each}{shown_below}{leads}",
    )
    yield _legend()
    many = len(names) > MANY
    if many:
        yield element("input", type="checkbox", id="numbers")
        yield element("label", "numbers in the cells", for_="numbers")
    yield element("p", class_="pointed", aria_live="polite", id="pointed")
    columns = element(
        "tr",
        element("td", class_="corner"),
        *(element("th", _head(number, name), scope="col") for number, name in enumerate(names, 1)),
    )
    rows = (
        element(
            "tr",
            element("th", _head(number, name), scope="row"),
            *(_cell(standings, names, number, other) for other in range(1, len(names) + 1)),
        )
        for number, name in enumerate(names, 1)
    )
    kind = "many" if many else "counts" if len(names) <= FEW and len(met) > 1 else "few"
    table = element(
        "table",
        element("thead", columns),
        element("tbody", *rows),
        class_=f"cross {kind}",
        style=f"--bots:{len(names)}",
    )
    yield scrolling(table, "Cross table", "tall")


def step_of(score: float) -> int:
    return int(STEPS * score + 0.5)


def _head(number: int, name: str) -> Html:
    return element("span", element("b", str(number)), " ", name, title=name)


def _cell(standings: Standings, names: Sequence[str], number: int, other: int) -> Html:
    pair = standings.pairs.get((names[number - 1], names[other - 1]))
    if pair is None:
        return element("td", class_="self") if number == other else element("td")
    won, count = pair
    share = f"{100 * won / count:.0f}"
    if len(names) <= MOST_BOTS:
        share = element("a", share, href=f"#{pair_id(number, other)}")
    return element("td", share, class_=f"h{step_of(won / count)}", data_n=count)


def _legend() -> Html:
    steps = (element("span", str(100 * step // STEPS), class_=f"h{step}") for step in range(STEPS + 1))
    return element("p", element("b", "worse"), *steps, element("b", "better"), class_="legend")
