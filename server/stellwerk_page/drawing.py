"""A drawing of a board's map as SVG: one box for each space, in the color of its route or of its owner.

The law: the drawing shows what the file and the claims say and nothing else. `layout.py` chooses where
everything lies.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from textwrap import wrap
from typing import Final

from stellwerk_base.texts import counted
from stellwerk_engine.boards.board_file import BoardFile, City, Route
from stellwerk_page.layout import (
    BADGE,
    DOT,
    LETTER,
    LETTER_WIDTH,
    MARGIN,
    Bundle,
    Mark,
    Name,
    Point,
    grounds,
    lay_out,
    marks,
    offsets,
    outlines,
    spaces_of,
)
from stellwerk_page.places import has_places

MADE_UP: Final = "The file has no coordinates: its routes have put the cities where they are."
HEADER: Final = 74.0
NARROWEST: Final = 560.0  # a drawing: room for the text below
FONT: Final = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"

INK: Final = "#2b2d33"
PAPER: Final = "#faf7f0"
WATER: Final = "#cfe4f0"
ROCK: Final = "#cdbda6"
DOUBT: Final = "#b3261e"
GROUNDS: Final = {"water": WATER, "rock": ROCK}
PAINTS: Final = {
    "gray": "#b4b8bf",
    "purple": "#a066b8",
    "blue": "#2f74c0",
    "orange": "#ef8b2c",
    "white": "#ffffff",
    "green": "#46994a",
    "yellow": "#f4d03f",
    "black": "#303238",
    "red": "#d13a34",
}
REGION_PAINTS: Final = (
    "#f6e7b4",
    "#f3c6c0",
    "#c9e2c4",
    "#cbd9f0",
    "#e3cfea",
    "#fbd7ae",
    "#bfe3e0",
    "#dedede",
)
LOCOMOTIVE: Final = (
    '<path d="M-6 -1.2H.6V-4.6H-.2V-5.6H6.2V-4.6H5.4V2.4H-6ZM-5 -1.2V-4.6H-2.6V-1.2ZM2 -3.6V-1.2H4V-3.6Z" '
    'fill-rule="evenodd"/><circle cx="-3.6" cy="3.9" r="1.7"/><circle cx="2.6" cy="3.9" r="1.7"/>'
)


_lay_out = lru_cache(maxsize=16)(lay_out)  # takes longer than all else in a drawing


@dataclass(frozen=True, slots=True)
class Owner:
    """A seat in a drawing: its color, that of text on it, and its digit, so that nothing is said by color
    alone."""

    fill: str
    ink: str
    digit: str


@dataclass(frozen=True, slots=True)
class Footer:
    """The lines of SVG below a map."""

    lines: Sequence[str]
    height: float


@dataclass(frozen=True, slots=True)
class MapDrawing:
    """The lines of a map, which lies below the heading, and its size."""

    lines: Sequence[str]
    width: float
    height: float


NO_OWNERS: Final[Mapping[str, Owner]] = {}
NO_MAP: Final = MapDrawing((), NARROWEST + 2 * MARGIN, 0.0)


def draw_board(board: BoardFile) -> str:
    """Draw the map as an SVG document. The board must have routes: see `can_be_drawn`."""
    subtitle = f"{len(board.cities)} cities, {len(board.routes)} routes, {len(board.tickets)} tickets"
    map_drawing = draw_map(board, PAINTS)
    return document(board.title, subtitle, map_drawing, _lay_out_footer(board, map_drawing.width))


def draw_map(
    board: BoardFile,
    paints: Mapping[str, str],
    routes: Mapping[str, Owner] = NO_OWNERS,
    stations: Mapping[str, Owner] = NO_OWNERS,
) -> MapDrawing:
    """Draw the map of a board that has routes. `paints` are those of routes without an owner. The owners are
    by routes and by cities."""
    layout = _lay_out(board)
    left, top, right, bottom = layout.frame
    regions = _region_paints(board)
    lines = [
        f'<g transform="translate({_n(-left)} {_n(HEADER - top)})">',
        *(line for bundle in layout.bundles for line in _draw_ground(bundle)),
        *(line for bundle in layout.bundles for line in _draw_tracks(bundle, board, paints, routes)),
        *(_draw_city(city, layout.places[city.id], regions) for city in board.cities),
        *(_draw_station(layout.places[city], owner) for city, owner in stations.items()),
        *(_draw_name(name) for name in layout.names),
        "</g>",
    ]
    return MapDrawing(lines, max(right - left, NARROWEST + 2 * MARGIN), bottom - top)


def document(title: str, subtitle: str, map_drawing: MapDrawing, footer: Footer) -> str:
    """Put a heading, a map and what is below it into one SVG document."""
    width, height = map_drawing.width, map_drawing.height + HEADER + footer.height
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(width)} {_n(height)}" '
        f'width="{_n(width)}" height="{_n(height)}" font-family="{FONT}" fill="{INK}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="100%" height="100%" fill="{PAPER}"/>',
        f'<text x="{_n(MARGIN / 2)}" y="42" font-size="30" font-weight="700">{escape(title)}</text>',
        f'<text x="{_n(MARGIN / 2)}" y="64" font-size="15" opacity="0.7">{escape(subtitle)}</text>',
        *map_drawing.lines,
        f'<g transform="translate({_n(MARGIN / 2)} {_n(height - footer.height)})">',
        *footer.lines,
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _draw_ground(bundle: Bundle) -> Iterator[str]:
    """Draw what a ferry or a tunnel runs through."""
    for kind, width in grounds(bundle):
        points = " ".join(_xy(point) for point in bundle.middle)
        yield (
            f'<polyline points="{points}" fill="none" stroke="{GROUNDS[kind]}" '
            f'stroke-width="{_n(width)}" stroke-linecap="round"/>'
        )


def _draw_tracks(
    bundle: Bundle, board: BoardFile, paints: Mapping[str, str], owners: Mapping[str, Owner]
) -> Iterator[str]:
    names = {city.id: city.name for city in board.cities}
    for track, offset in zip(bundle.tracks, offsets(bundle), strict=True):
        points = counted(board.route_points[track.length], "point")
        words = f"{track.length} {track.color}, {points}"
        title = f"{escape(names[track.a])} - {escape(names[track.b])}: {words}"
        owner = owners.get(track.id)
        fill = paints[track.color] if owner is None else owner.fill
        title += "" if owner is None else f", of seat {owner.digit}"
        yield f'<g fill="{fill}" stroke="{INK}" stroke-linejoin="round"><title>{title}</title>'
        for outline in spaces_of(bundle, track, offset):
            yield f'<polygon points="{" ".join(_xy(point) for point in outline)}"/>'
        yield "</g>"
        if owner is not None:
            middle = outlines(bundle, track, offset, 0.0)[track.length // 2]
            yield f'<g transform="translate({_xy(sum(middle) / len(middle))})">{owner_badge(owner)}</g>'
            continue
        for at, mark in marks(track, outlines(bundle, track, offset, 0.0)):
            yield f'<g transform="translate({_xy(at)})">{_draw_badge(mark, track)}</g>'


def _draw_badge(mark: Mark, track: Route) -> str:
    match mark:
        case "locomotive":
            return _locomotive_badge()
        case "tunnel":
            return _text_badge(str(track.tunnel), ROCK, INK)
        case "doubtful":
            return _text_badge("?", DOUBT, "#ffffff")


def _locomotive_badge() -> str:
    return f'<circle r="{_n(BADGE)}" fill="#ffffff" stroke="{INK}"/>{LOCOMOTIVE}'


def owner_badge(owner: Owner) -> str:
    """Draw the digit of a seat in its color."""
    return _text_badge(owner.digit, owner.fill, owner.ink)


def _text_badge(text: str, paint: str, ink: str) -> str:
    return (
        f'<circle r="{_n(BADGE)}" fill="{paint}" stroke="{INK}"/><text y="4.5" font-size="13" '
        f'font-weight="700" text-anchor="middle" fill="{ink}">{text}</text>'
    )


def _draw_city(city: City, place: Point, regions: dict[str, str]) -> str:
    at = f'transform="translate({_xy(place)})"'
    if city.junction:
        return f'<path {at} d="M0 -8L8 0L0 8L-8 0Z" fill="{INK}" stroke="{PAPER}" stroke-width="2"/>'
    paint = regions.get(city.region or "", "#ffffff")
    return f'<circle {at} r="{_n(DOT)}" fill="{paint}" stroke="{INK}" stroke-width="2.5"/>'


def _draw_station(place: Point, owner: Owner) -> str:
    house = "M-9 8V-3L0 -11L9 -3V8Z"
    return (
        f'<g transform="translate({_xy(place)})"><path d="{house}" fill="{owner.fill}" stroke="{INK}"/>'
        f'<text y="6" font-size="12" font-weight="700" text-anchor="middle" fill="{owner.ink}">'
        f"{owner.digit}</text></g>"
    )


def _draw_name(name: Name) -> str:
    return (
        f'<text x="{_n(name.at.real)}" y="{_n(name.at.imag)}" text-anchor="{name.anchor}" '
        f'font-size="{_n(LETTER)}" font-weight="600" stroke="{PAPER}" stroke-width="4" '
        f'stroke-linejoin="round" paint-order="stroke">{escape(name.city.name)}</text>'
    )


def _region_paints(board: BoardFile) -> dict[str, str]:
    regions = sorted({city.region for city in board.cities if city.region is not None})
    return {region: REGION_PAINTS[index % len(REGION_PAINTS)] for index, region in enumerate(regions)}


def _lay_out_footer(board: BoardFile, width: float) -> Footer:
    """Explain the marks, and name the source of the facts."""
    room = width - MARGIN
    lines: list[str] = []
    x, y = BADGE, BADGE
    for mark, text in _draw_legend(board):
        needed = 2 * BADGE + 8.0 + LETTER_WIDTH * len(text) + 14.0
        if x > BADGE and x + needed > room:
            x, y = BADGE, y + 28.0
        lines.append(f'<g transform="translate({_n(x)} {_n(y)})">{mark}</g>')
        lines.append(
            f'<text x="{_n(x + BADGE + 8.0)}" y="{_n(y + 5.0)}" font-size="{_n(LETTER)}">{text}</text>'
        )
        x += needed
    if lines:
        y += 36.0
    made_up = "" if has_places(board) else " " + MADE_UP
    for line in wrap(board.provenance + made_up, max(20, int(room / LETTER_WIDTH))):
        lines.append(f'<text x="0" y="{_n(y)}" font-size="14" opacity="0.7">{escape(line)}</text>')
        y += 20.0
    return Footer(lines, y + 8.0)


def _draw_legend(board: BoardFile) -> Iterator[tuple[str, str]]:
    if any(route.locomotives for route in board.routes):
        yield _locomotive_badge(), "a locomotive of a ferry"
    if any(route.tunnel for route in board.routes):
        yield _text_badge("n", ROCK, INK), "a tunnel, n cards are revealed"
    if any(route.doubtful for route in board.routes):
        yield _text_badge("?", DOUBT, "#ffffff"), "the length is doubtful"
    if any(city.junction for city in board.cities):
        yield f'<path d="M0 -8L8 0L0 8L-8 0Z" fill="{INK}"/>', "a junction"
    for region, paint in _region_paints(board).items():
        yield (
            f'<circle r="{_n(DOT)}" fill="{paint}" stroke="{INK}" stroke-width="2.5"/>',
            region.replace("_", " ").title(),
        )


def _xy(point: Point) -> str:
    return f"{_n(point.real)},{_n(point.imag)}"


def _n(number: float) -> str:
    """Write a number as short as it looks the same."""
    return f"{number:.1f}".removesuffix(".0")
