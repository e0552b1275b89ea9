"""A drawing of a board's map as SVG: one box for each space, in the color of its route.

The law: the drawing shows what the file says and nothing else. Where tracks bend and where names are written
is chosen here, always in the same way: bends that keep tracks off cities and off one another, names where
they cover least.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from textwrap import wrap
from typing import Final, TypeAlias

from stellwerk_engine.boards.board_file import BoardFile, City, Route
from stellwerk_protocol.figures import counted

Point: TypeAlias = complex  # pixels, x to the right and y downwards; also a direction

SCALE: Final = (
    1.8  # pixels for a thousandth of the board's longer side: the shortest space stays longer than wide
)
BOX: Final = 13.0  # the width of a space
GAP: Final = 4.5  # between two spaces
PITCH: Final = 17.0  # from one parallel track to the next
DOT: Final = 9.0  # the radius of a city
MARGIN: Final = 46.0
LETTER: Final = 15.0  # the height of a city's name
LETTER_WIDTH: Final = 0.57 * LETTER  # of an average letter
BENDS: Final = (0.0, 0.07, -0.07, 0.14, -0.14, 0.21, -0.21, 0.3, -0.3, 0.4, -0.4)  # times the distance
NAME_DIRECTIONS: Final = 16
BADGE: Final = 9.0  # the radius of a mark on a track
NARROWEST: Final = 560.0  # a drawing: room for the text below
NEIGHBORHOOD: Final = 40.0
WIDE_NEIGHBORHOOD: Final = 60.0  # farther than two triple routes side by side reach
MOST_IN_A_CELL: Final = 24
STEP: Final = 10.0  # between two points of a line
FONT: Final = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"

INK: Final = "#2b2d33"
PAPER: Final = "#faf7f0"
WATER: Final = "#cfe4f0"
ROCK: Final = "#cdbda6"
DOUBT: Final = "#b3261e"
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


@dataclass(frozen=True, slots=True)
class Bundle:
    """The tracks that lie side by side between two cities, and the middle line along which they run."""

    tracks: tuple[Route, ...]
    middle: tuple[Point, ...]

    @property
    def half_width(self) -> float:
        return (len(self.tracks) - 1) * PITCH / 2 + BOX / 2


@dataclass(frozen=True, slots=True)
class Name:
    """A city's name: where its text begins (or ends, or is centered) and the space that it takes."""

    city: City
    at: Point
    anchor: str
    left: float
    top: float
    right: float
    bottom: float


class Crowd:
    """Points on the plane, each with a number (whose it is, or the room it takes), found by neighborhood.

    Where they are packed closely only the first are kept: nothing could be made clear there, and looking
    at all of them would take minutes.
    """

    def __init__(self, cell: float) -> None:
        self._cell = cell
        self._cells: dict[tuple[int, int], list[tuple[Point, float]]] = {}

    def add(self, points: Iterable[Point], number: float) -> None:
        for point in points:
            cell = self._cells.setdefault(self._key(point), [])
            if len(cell) < MOST_IN_A_CELL:
                cell.append((point, number))

    def remove(self, points: Iterable[Point], number: float) -> None:
        for point in points:
            cell = self._cells[self._key(point)]
            if (point, number) in cell:
                cell.remove((point, number))

    def around(self, point: Point) -> Iterator[tuple[Point, float]]:
        """Yield every point that is less than a cell away, and some more."""
        column, row = self._key(point)
        for x in (column - 1, column, column + 1):
            for y in (row - 1, row, row + 1):
                yield from self._cells.get((x, y), ())

    def _key(self, point: Point) -> tuple[int, int]:
        return int(point.real // self._cell), int(point.imag // self._cell)


def draw_board(board: BoardFile) -> str:
    """Draw the map as an SVG document. The board must have coordinates: see `can_be_drawn`."""
    places = {city.id: SCALE * complex(city.x or 0, city.y or 0) for city in board.cities}
    bundles = _lay_out(board, places)
    names = _place_names(board, places, bundles)
    left, top, right, bottom = _frame(places, bundles, names)
    header = 74.0
    footer = _footer(board, right - left)
    width, height = right - left, bottom - top + header + footer.height
    regions = _region_paints(board)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(width)} {_n(height)}" '
        f'width="{_n(width)}" height="{_n(height)}" font-family="{FONT}" fill="{INK}">',
        f"<title>{escape(board.title)}</title>",
        f'<rect width="100%" height="100%" fill="{PAPER}"/>',
        f'<text x="{_n(MARGIN / 2)}" y="42" font-size="30" font-weight="700">{escape(board.title)}</text>',
        f'<text x="{_n(MARGIN / 2)}" y="64" font-size="15" opacity="0.7">{len(board.cities)} cities, '
        f"{len(board.routes)} routes, {len(board.tickets)} tickets</text>",
        f'<g transform="translate({_n(-left)} {_n(header - top)})">',
        *(line for bundle in bundles for line in _ground(bundle)),
        *(line for bundle in bundles for line in _tracks(bundle, board)),
        *(_dot(city, places[city.id], regions) for city in board.cities),
        *(_name(name) for name in names),
        "</g>",
        f'<g transform="translate({_n(MARGIN / 2)} {_n(height - footer.height)})">',
        *footer.lines,
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def can_be_drawn(board: BoardFile) -> bool:
    return bool(board.routes) and all(city.x is not None for city in board.cities)


def _lay_out(board: BoardFile, places: dict[str, Point]) -> list[Bundle]:
    """Give every bundle the bend that disturbs least, the short ones first, and then all once more.

    A bundle is looked at in every second of its points: that is close enough to notice another one.
    """
    bundles = [
        Bundle(tracks, _curve(places[tracks[0].a], places[tracks[0].b], 0.0))
        for tracks in _side_by_side(board.routes)
    ]
    bundles.sort(key=lambda bundle: (abs(bundle.middle[-1] - bundle.middle[0]), bundle.tracks[0].id))
    cities = Crowd(WIDE_NEIGHBORHOOD)
    for number, city in enumerate(board.cities):
        cities.add([places[city.id]], number)
    numbers = {city.id: number for number, city in enumerate(board.cities)}
    laid = Crowd(WIDE_NEIGHBORHOOD)
    for round_number in range(2):
        for index, bundle in enumerate(bundles):
            if round_number > 0:
                laid.remove(bundle.middle[::2], bundle.half_width)
            a, b = places[bundle.tracks[0].a], places[bundle.tracks[0].b]
            ends: set[float] = {numbers[bundle.tracks[0].a], numbers[bundle.tracks[0].b]}
            least = math.inf
            for bend in BENDS:
                cost = 4.0 * abs(bend) * math.sqrt(abs(b - a))
                if cost >= least:
                    break  # the bends that follow are no smaller
                choice = Bundle(bundle.tracks, _curve(a, b, bend))
                cost += _disturbance(choice, ends, cities, laid, enough=least - cost)
                if cost < least:
                    least, bundles[index] = cost, choice
            laid.add(bundles[index].middle[::2], bundle.half_width)
    return bundles


def _side_by_side(routes: Sequence[Route]) -> list[tuple[Route, ...]]:
    """Group parallel tracks; every other route is alone."""
    bundles: dict[object, list[Route]] = {}
    for route in routes:
        key = frozenset((route.a, route.b)) if route.parallel > 1 else route.id
        bundles.setdefault(key, []).append(route)
    return [tuple(tracks) for tracks in bundles.values()]


def _curve(a: Point, b: Point, bend: float) -> tuple[Point, ...]:
    """Return points from a to b along a quadratic Bezier curve, which swings out by `bend` distances."""
    control = (a + b) / 2 + 2j * bend * (b - a)
    count = max(6, round(abs(b - a) / STEP))
    times = [step / count for step in range(count + 1)]
    return tuple((1 - t) ** 2 * a + 2 * t * (1 - t) * control + t * t * b for t in times)


def _disturbance(
    bundle: Bundle,
    ends: set[float],
    cities: Crowd,
    laid: Crowd,
    enough: float,
) -> float:
    """Measure how much a bundle covers of other cities and of bundles laid before. Stop at `enough`."""
    cost = 0.0
    a, b = bundle.middle[0], bundle.middle[-1]
    half_width = bundle.half_width
    for point in bundle.middle[2:-1:2]:
        if cost >= enough:
            break
        for place, city in cities.around(point):
            room = abs(point - place) - DOT - half_width - 10.0
            if room < 0 and city not in ends:
                cost -= 2.0 * room
        from_ends = min(abs(point - a), abs(point - b))
        for place, other_half_width in laid.around(point):
            needed = other_half_width + half_width + 2.0
            room = abs(point - place) - needed
            if room < 0 and from_ends > needed + DOT:  # at their cities tracks meet
                cost -= 0.4 * room
    return cost


def _place_names(board: BoardFile, places: dict[str, Point], bundles: Sequence[Bundle]) -> list[Name]:
    """Put each name where it covers least of tracks, cities and other names; junctions have none."""
    boxes = Crowd(NEIGHBORHOOD)
    for bundle in bundles:
        for offset in _offsets(bundle):
            boxes.add(_shifted(bundle.middle, offset), 0)
    dots = Crowd(NEIGHBORHOOD)
    dots.add(places.values(), 0)
    for bundle in bundles:
        for track, offset in zip(bundle.tracks, _offsets(bundle), strict=True):
            dots.add((at for at, _ in _badges(track, _outlines(bundle, track, offset, 0.0))), 0)
    named = [city for city in board.cities if not city.junction]
    choices = {city.id: list(_name_choices(city, places[city.id])) for city in named}
    covered = {id: [_covered(name, boxes, dots) for name in names] for id, names in choices.items()}
    names: dict[str, Name] = {}
    for _ in range(2):
        for city in named:
            others = [name for id, name in names.items() if id != city.id]
            costs = [
                cost + _overlap(name, others) + 0.1 * rank
                for rank, (name, cost) in enumerate(zip(choices[city.id], covered[city.id], strict=True))
            ]
            names[city.id] = choices[city.id][costs.index(min(costs))]
    return list(names.values())


def _name_choices(city: City, place: Point) -> Iterator[Name]:
    """Yield places around the city, beginning on its right; first close by, then a little farther off."""
    width = LETTER_WIDTH * len(city.name)
    for distance in (DOT + 4.0, DOT + 12.0):
        for step in range(NAME_DIRECTIONS):
            angle = step * math.tau / NAME_DIRECTIONS
            direction = complex(math.cos(angle), math.sin(angle))
            edge = place + distance * direction
            if direction.real > 0.3:
                anchor, x, left = "start", edge.real, edge.real
            elif direction.real < -0.3:
                anchor, x, left = "end", edge.real, edge.real - width
            else:
                anchor, x, left = "middle", edge.real, edge.real - width / 2
            top = edge.imag + (direction.imag - 1) * LETTER / 2
            yield Name(city, complex(x, top + 0.82 * LETTER), anchor, left, top, left + width, top + LETTER)


def _covered(name: Name, boxes: Crowd, dots: Crowd) -> float:
    """Measure how much of tracks, cities and marks a name would hide."""
    height = (name.top + name.bottom) / 2
    columns = range(math.ceil((name.right - name.left) / NEIGHBORHOOD) + 1)
    looked_at = [complex(min(name.left + NEIGHBORHOOD * column, name.right), height) for column in columns]
    covered_boxes = {seen for point in looked_at for seen in boxes.around(point)}
    covered_dots = {seen for point in looked_at for seen in dots.around(point)}
    return 1.5 * sum(_is_under(name, point, BOX / 2 + 2.0) for point, _ in covered_boxes) + 12.0 * sum(
        _is_under(name, point, DOT) for point, _ in covered_dots
    )


def _overlap(name: Name, others: Sequence[Name]) -> float:
    cost = 0.0
    for other in others:
        across = min(name.right, other.right) - max(name.left, other.left) + 4.0
        down = min(name.bottom, other.bottom) - max(name.top, other.top) + 2.0
        if across > 0 and down > 0:
            cost += 20.0 + across
    return cost


def _is_under(name: Name, point: Point, radius: float) -> bool:
    return (
        name.left - radius < point.real < name.right + radius
        and name.top - radius < point.imag < name.bottom + radius
    )


def _frame(
    places: dict[str, Point], bundles: Sequence[Bundle], names: Sequence[Name]
) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of all that is drawn, with a margin."""
    points = [*places.values(), *(point for bundle in bundles for point in bundle.middle)]
    left = min(*(point.real for point in points), *(name.left for name in names))
    right = max(*(point.real for point in points), *(name.right for name in names))
    top = min(*(point.imag for point in points), *(name.top for name in names))
    bottom = max(*(point.imag for point in points), *(name.bottom for name in names))
    too_narrow = max(0.0, NARROWEST - (right - left))
    return left - MARGIN, top - MARGIN, right + MARGIN + too_narrow, bottom + MARGIN


def _ground(bundle: Bundle) -> Iterator[str]:
    """Draw what a ferry or a tunnel runs through."""
    for paint, is_there in (
        (WATER, any(track.locomotives for track in bundle.tracks)),
        (ROCK, any(track.tunnel for track in bundle.tracks)),
    ):
        if is_there:
            points = " ".join(_xy(point) for point in bundle.middle)
            yield (
                f'<polyline points="{points}" fill="none" stroke="{paint}" '
                f'stroke-width="{_n(2 * bundle.half_width + 12.0)}" stroke-linecap="round"/>'
            )


def _tracks(bundle: Bundle, board: BoardFile) -> Iterator[str]:
    names = {city.id: city.name for city in board.cities}
    for track, offset in zip(bundle.tracks, _offsets(bundle), strict=True):
        points = counted(board.route_points[track.length], "point")
        words = f"{track.length} {track.color}, {points}"
        title = f"{escape(names[track.a])} - {escape(names[track.b])}: {words}"
        yield f'<g fill="{PAINTS[track.color]}" stroke="{INK}" stroke-linejoin="round"><title>{title}</title>'
        one_side = _outlines(bundle, track, offset, -BOX / 2)
        other_side = _outlines(bundle, track, offset, BOX / 2)
        for one, other in zip(one_side, other_side, strict=True):
            outline = " ".join(_xy(point) for point in (*one, *reversed(other)))
            yield f'<polygon points="{outline}"/>'
        yield "</g>"
        for at, mark in _badges(track, _outlines(bundle, track, offset, 0.0)):
            yield f'<g transform="translate({_xy(at)})">{mark}</g>'


def _outlines(bundle: Bundle, track: Route, offset: float, aside: float) -> list[list[Point]]:
    """Draw a line along each space of a track, `aside` of the track's own middle."""
    spaces = _spaces(bundle.middle, track.length)
    return [_beside(bundle.middle, begin, end, offset + aside) for begin, end in spaces]


def _spaces(middle: Sequence[Point], count: int) -> Iterator[tuple[float, float]]:
    """Return where each space of a track begins and ends, as distances along it."""
    total = sum(abs(end - begin) for begin, end in pairwise(middle))
    usable = max(total - 2 * (DOT + GAP), 0.5 * total)
    each = usable / count
    gap = min(GAP, 0.3 * each)
    for number in range(count):
        begin = (total - usable) / 2 + number * each
        yield begin + gap / 2, begin + each - gap / 2


def _beside(line: Sequence[Point], begin: float, end: float, offset: float) -> list[Point]:
    """Return the part of a line between two distances along it, moved to its side."""
    count = max(2, round((end - begin) / STEP))
    parts = [_along(line, begin + (end - begin) * step / count) for step in range(count + 1)]
    return [point + 1j * direction * offset for point, direction in parts]


def _badges(track: Route, spaces: Sequence[Sequence[Point]]) -> Iterator[tuple[Point, str]]:
    """Draw the marks of a track, on its middle spaces where these are enough, otherwise side by side."""
    marks = [_locomotive_badge()] * track.locomotives
    if track.tunnel:
        marks.append(_text_badge(str(track.tunnel), ROCK, INK))
    if track.doubtful:
        marks.append(_text_badge("?", DOUBT, "#ffffff"))
    line = [point for space in spaces for point in space]
    for number, mark in enumerate(marks):
        if len(marks) <= len(spaces):
            space = spaces[(len(spaces) - len(marks)) // 2 + number]
            at = space[len(space) // 2]
        else:
            at = (line[0] + line[-1]) / 2
            at += (number - (len(marks) - 1) / 2) * 2 * BADGE * _unit(line[-1] - line[0])
        yield at, mark


def _locomotive_badge() -> str:
    return f'<circle r="{_n(BADGE)}" fill="#ffffff" stroke="{INK}"/>{LOCOMOTIVE}'


def _text_badge(text: str, paint: str, ink: str) -> str:
    return (
        f'<circle r="{_n(BADGE)}" fill="{paint}" stroke="{INK}"/><text y="4.5" font-size="13" '
        f'font-weight="700" text-anchor="middle" fill="{ink}">{text}</text>'
    )


def _dot(city: City, place: Point, regions: dict[str, str]) -> str:
    at = f'transform="translate({_xy(place)})"'
    if city.junction:
        return f'<path {at} d="M0 -8L8 0L0 8L-8 0Z" fill="{INK}" stroke="{PAPER}" stroke-width="2"/>'
    paint = regions.get(city.region or "", "#ffffff")
    return f'<circle {at} r="{_n(DOT)}" fill="{paint}" stroke="{INK}" stroke-width="2.5"/>'


def _name(name: Name) -> str:
    return (
        f'<text x="{_n(name.at.real)}" y="{_n(name.at.imag)}" text-anchor="{name.anchor}" '
        f'font-size="{_n(LETTER)}" font-weight="600" stroke="{PAPER}" stroke-width="4" '
        f'stroke-linejoin="round" paint-order="stroke">{escape(name.city.name)}</text>'
    )


def _region_paints(board: BoardFile) -> dict[str, str]:
    regions = sorted({city.region for city in board.cities if city.region is not None})
    return {region: REGION_PAINTS[index % len(REGION_PAINTS)] for index, region in enumerate(regions)}


@dataclass(frozen=True, slots=True)
class _Footer:
    lines: tuple[str, ...]
    height: float


def _footer(board: BoardFile, width: float) -> _Footer:
    """Explain the marks, and name the source of the facts."""
    room = width - MARGIN
    lines: list[str] = []
    x, y = BADGE, BADGE
    for mark, text in _legend(board):
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
    for line in wrap(board.provenance, max(20, int(room / LETTER_WIDTH))):
        lines.append(f'<text x="0" y="{_n(y)}" font-size="14" opacity="0.7">{escape(line)}</text>')
        y += 20.0
    return _Footer(tuple(lines), y + 8.0)


def _legend(board: BoardFile) -> Iterator[tuple[str, str]]:
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


def _offsets(bundle: Bundle) -> list[float]:
    """Return how far each track lies beside the middle."""
    count = len(bundle.tracks)
    return [(number - (count - 1) / 2) * PITCH for number in range(count)]


def _shifted(line: Sequence[Point], offset: float) -> Iterator[Point]:
    for begin, end in pairwise(line):
        yield begin + 1j * _unit(end - begin) * offset


def _along(line: Sequence[Point], distance: float) -> tuple[Point, Point]:
    """Return the point at a distance from the line's beginning, and the direction there."""
    for begin, end in pairwise(line):
        if distance <= abs(end - begin):
            break
        distance -= abs(end - begin)
    else:
        begin, end = line[-2], line[-1]
        distance = abs(end - begin)
    direction = _unit(end - begin)
    return begin + distance * direction, direction


def _unit(direction: Point) -> Point:
    length = abs(direction)
    return direction / length if length else complex(1, 0)


def _xy(point: Point) -> str:
    return f"{_n(point.real)},{_n(point.imag)}"


def _n(number: float) -> str:
    """Write a number as short as it looks the same."""
    return f"{number:.1f}".removesuffix(".0")
