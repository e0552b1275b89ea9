"""What seats and games do, in the report: seat terms, each game's figures, and each bot in each game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stellwerk_protocol.names import EndReason
from stellwerk_tournament.ratings.game_words import game_title, has_teams
from stellwerk_tournament.ratings.ratings import Ratings, Report, SeatEffect
from stellwerk_tournament.report.markup import (
    Html,
    bot_cell,
    element,
    head,
    number_cell,
    numbers,
    percent,
    scrolling,
    signed,
    tenths,
    texts,
    unsorted,
)
from stellwerk_tournament.report.plot import Interval, axis, grid, interval_drawing, scale_of
from stellwerk_tournament.report.ranking import elo_text, interval_text
from stellwerk_tournament.store.match_line import MatchLine

SEAT_GRID: Final = "seat-grid"
ENDS: Final[Mapping[EndReason, str]] = {
    "trains": "a player ran out of trains",
    "pile": "the pile ran out",
    "all_passed": "all passed",
    "idle": "nothing happened any more",
}


def effects(lines: Sequence[MatchLine], names: Sequence[str], rated: Report | None) -> Iterator[Html]:
    """`names` in the order of the ranking."""
    yield element("h3", "Games")
    yield scrolling(_games(lines), "Games")
    if rated is None:
        return
    yield element("h3", "Seats")
    yield from _seats(rated.pooled.seat_effects)
    for title, parts in (
        ("Ratings in each game", {game_title(game): part for game, part in rated.by_game.items()}),
        (
            "Ratings at each size of table",
            {f"tables of {size}": part for size, part in rated.by_size.items()},
        ),
    ):
        if parts:
            yield element("h3", title)
            yield from _ratings(parts, names)


# -- games -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Kind:
    """Matches that are alike but for the deal."""

    game: str
    players: int
    options: tuple[str, ...]
    board: str


def _games(lines: Sequence[MatchLine]) -> Html:
    kinds: dict[_Kind, list[MatchLine]] = {}
    for line in lines:
        kinds.setdefault(_Kind(line.game, len(line.bots), line.options, line.board), []).append(line)
    columns = head(
        *texts("game"),
        *numbers(
            "players", "matches", "blocks", "mean points", "winner's points", "drawn", "turns", "seconds"
        ),
        *texts("ended because"),
    )
    rows = (_game_row(kind, matches) for kind, matches in kinds.items())
    return element("table", columns, element("tbody", *rows), class_="sortable")


def _game_row(kind: _Kind, matches: Sequence[MatchLine]) -> Html:
    count = len(matches)
    blocks = len({match.block for match in matches})
    points = [points for match in matches for points in match.points]
    drawn = sum(match.ranks.count(1) > 1 for match in matches)
    ends = Counter[EndReason](match.reason for match in matches)
    causes: list[str] = []
    for reason, n in ends.most_common():
        causes += [", " if causes else "", f"{ENDS[reason]}: ", percent(n / count)]
    options = f" ({', '.join(kind.options)})" if kind.options else ""
    return element(
        "tr",
        element("th", game_title(kind.game) + options, scope="row"),
        number_cell(str(kind.players)),
        number_cell(f"{count:,}", count),
        number_cell(f"{blocks:,}", blocks),
        number_cell(tenths(sum(points) / len(points))),
        number_cell(tenths(sum(max(match.points) for match in matches) / count)),
        number_cell(percent(drawn / count)),
        number_cell(f"{sum(match.turns for match in matches) / count:.0f}"),
        number_cell(f"{sum(match.seconds for match in matches) / count:.1f}"),
        element("td", *causes, class_="wide"),
    )


# -- seats -------------------------------------------------------------------------------------------


def _seats(effects: Sequence[SeatEffect]) -> Iterator[Html]:
    if not effects:
        yield element("p", "The matches do not tell seats apart from who sat in them.")
        return
    yield element(
        "p",
        "What a seat is worth, against the mean of all seats at a table of its size. Seat 0 (or "
        "team 0) moves first. Every deal is played in every rotation of the seats, so that no bot gains by "
        "it.",
    )
    intervals = [_interval(effect) for effect in effects]
    scale = scale_of(intervals)
    yield grid(scale, SEAT_GRID)
    rows = (
        element(
            "tr",
            element("th", game_title(effect.game), scope="row"),
            number_cell(str(effect.seat)),
            number_cell(signed(effect.elo), effect.elo),
            element("td", interval_text(effect.low, effect.high), class_="num span"),
            element("td", interval_drawing(interval, scale, SEAT_GRID), class_="plot"),
            number_cell(_table_of(effect), effect.players),
        )
        for effect, interval in zip(effects, intervals, strict=True)
    )
    columns = head(
        *texts("game"), *numbers("seat", "Elo"), *unsorted("95 % interval", "plot"), *numbers("at the table")
    )
    foot = element("tr", element("td", colspan=4), element("td", axis(scale), class_="plot"), element("td"))
    table = element("table", columns, element("tbody", *rows), element("tfoot", foot), class_="sortable")
    yield scrolling(table, "Seats")


def _table_of(effect: SeatEffect) -> str:
    return f"{effect.players} teams" if has_teams(effect.game) else str(effect.players)


def _interval(effect: SeatEffect) -> Interval:
    return Interval(effect.elo, effect.low, effect.high)


# -- ratings in parts --------------------------------------------------------------------------------


def _ratings(parts: Mapping[str, Ratings], names: Sequence[str]) -> Iterator[Html]:
    yield element(
        "p",
        "Each column is a fit of its own, with the mean of those who played there as its zero; below it "
        "the 95 % interval. A team counts as one.",
    )
    rows = (
        element(
            "tr",
            bot_cell(name),
            *(_part(part, name) for part in parts.values()),
        )
        for name in names
    )
    table = element(
        "table", head(*texts("bot"), *numbers(*parts)), element("tbody", *rows), class_="sortable parts"
    )
    yield scrolling(table, "Ratings in parts", "tall")


def _part(part: Ratings, name: str) -> Html:
    rating = next((rating for rating in part.entrants if rating.name == name), None)
    if rating is None:
        return number_cell("", -1e6)
    interval = element("small", interval_text(rating.low, rating.high))
    return element("td", elo_text(rating), interval, class_="num", data_v=f"{rating.elo:.6g}")
