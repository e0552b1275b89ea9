"""Where everything on a map lies: the bends of tracks, their spaces and marks, and the names of cities.

The law: one algorithm for every picture of a board. The drawing (`drawing.py`) and the match page get the
same places, and nothing here has a color. Bends keep tracks off cities and off one another, names are written
where they cover least, and the same board always has the same layout.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from stellwerk_engine.boards.board_file import BoardFile, City, Route
from stellwerk_page.places import has_places, places_of

Point: TypeAlias = complex  # pixels, x to the right and y downwards; also a direction
Mark: TypeAlias = Literal["locomotive", "tunnel", "doubtful"]
Data: TypeAlias = "str | float | Sequence[Data] | Mapping[str, Data]"

BOX: Final = 13.0  # the width of a space
GAP: Final = 4.5  # between two spaces
PITCH: Final = 17.0  # from one parallel track to the next
DOT: Final = 9.0  # the radius of a city
MARGIN: Final = 46.0
LETTER: Final = 15.0  # the height of a city's name
LARGE_LETTER: Final = 24.0  # for small screens and for walls
WIDTH_OF_LETTER: Final = 0.57  # of an average one, in heights
WIDTH_OF_LARGE_LETTER: Final = 0.66  # room for broad fonts, too
LETTER_WIDTH: Final = WIDTH_OF_LETTER * LETTER
BENDS: Final = (0.0, 0.07, -0.07, 0.14, -0.14, 0.21, -0.21, 0.3, -0.3, 0.4, -0.4)  # times the distance
NAME_DIRECTIONS: Final = 16
BADGE: Final = 9.0  # the radius of a mark on a track
NEIGHBORHOOD: Final = 40.0
WIDE_NEIGHBORHOOD: Final = 60.0  # farther than two triple routes side by side reach
MOST_IN_A_CELL: Final = 24
STEP: Final = 10.0  # between two points of a line
UNSEEN: Final = 0.1  # pixels


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


@dataclass(frozen=True, slots=True)
class Layout:
    """All places of a map, and the frame around them: left, top, right and bottom, with a margin."""

    places: dict[str, Point]
    bundles: tuple[Bundle, ...]
    names: tuple[Name, ...]
    frame: tuple[float, float, float, float]


def lay_out(board: BoardFile) -> Layout:
    """Return the layout of a board that has routes: see `can_be_drawn`."""
    places = places_of(board)
    bundles = _bend_line(board, places)
    names = _place_names(board, places, bundles)
    return Layout(places, tuple(bundles), tuple(names), _find_frame(places, bundles, names))


def can_be_drawn(board: BoardFile) -> bool:
    return bool(board.routes)


def layout_data(board: BoardFile) -> dict[str, Data]:
    """Return the layout as plain values for JSON, with one decimal.

    An outline goes along one side of a space and back along the other, with as many points on either side; so
    the middle of a space is that of its first and its last point, and so on. Lists of points are flat: x, y.
    """
    layout = lay_out(board)
    routes: dict[str, Data] = {}
    for bundle in layout.bundles:
        for track, offset in zip(bundle.tracks, offsets(bundle), strict=True):
            middles = outlines(bundle, track, offset, 0.0)
            routes[track.id] = {
                "spaces": [_flat(_thin_out(outline)) for outline in spaces_of(bundle, track, offset)],
                "marks": [[kind, *_flat([at])] for at, kind in marks(track, middles)],
            }
    return {
        **({} if has_places(board) else {"made_up": 1}),
        "frame": [_shorten(side) for side in layout.frame],
        "cities": {city: _flat([place]) for city, place in layout.places.items()},
        "names": _names_data(layout.names),
        "large_names": _names_data(_place_names(board, layout.places, layout.bundles, LARGE_LETTER)),
        "grounds": [
            [kind, _shorten(width), _flat(bundle.middle)]
            for bundle in layout.bundles
            for kind, width in grounds(bundle)
        ],
        "routes": {route.id: routes[route.id] for route in board.routes},
    }


def _names_data(names: Iterable[Name]) -> dict[str, Data]:
    return {
        name.city.id: [
            *_flat([name.at]),
            name.anchor,
            *_flat([complex(name.left, name.top), complex(name.right, name.bottom)]),
        ]
        for name in names
    }


def _thin_out(outline: Sequence[Point]) -> Sequence[Point]:
    """Leave out what lies between the corners of a straight space: it is most of the data."""
    half = len(outline) // 2
    if _is_bent(outline[:half]) or _is_bent(outline[half:]):
        return outline
    return [outline[0], outline[half - 1], outline[half], outline[-1]]


def _is_bent(line: Sequence[Point]) -> bool:
    """Say whether a point of the line is away from the straight way by more than one could see."""
    way = _unit(line[-1] - line[0])
    return any(abs(((point - line[0]) / way).imag) > UNSEEN for point in line)


def _flat(points: Iterable[Point]) -> list[float]:
    return [_shorten(number) for point in points for number in (point.real, point.imag)]


def _shorten(number: float) -> float:
    """Round to one decimal. A whole number becomes an int, whose text is shorter."""
    rounded = round(number, 1)
    return int(rounded) if rounded == int(rounded) else rounded


def _bend_line(board: BoardFile, places: dict[str, Point]) -> list[Bundle]:
    """Give every bundle the bend that disturbs least, the short ones first, and then all once more.

    A bundle is looked at in every second of its points: that is close enough to notice another one.
    """
    bundles = [
        Bundle(tracks, _draw_curve(places[tracks[0].a], places[tracks[0].b], 0.0))
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
                choice = Bundle(bundle.tracks, _draw_curve(a, b, bend))
                cost += _measure_disturbance(choice, ends, cities, laid, enough=least - cost)
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


def _draw_curve(a: Point, b: Point, bend: float) -> tuple[Point, ...]:
    """Return points from a to b along a quadratic Bezier curve, which swings out by `bend` distances."""
    control = (a + b) / 2 + 2j * bend * (b - a)
    count = max(6, round(abs(b - a) / STEP))
    times = [step / count for step in range(count + 1)]
    return tuple((1 - t) ** 2 * a + 2 * t * (1 - t) * control + t * t * b for t in times)


def _measure_disturbance(
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


def _place_names(
    board: BoardFile, places: dict[str, Point], bundles: Sequence[Bundle], letter: float = LETTER
) -> list[Name]:
    """Put each name where it covers least of tracks, cities and other names; junctions have none."""
    boxes = Crowd(NEIGHBORHOOD)
    for bundle in bundles:
        for offset in offsets(bundle):
            boxes.add(_shift_line(bundle.middle, offset), 0)
    dots = Crowd(NEIGHBORHOOD)
    dots.add(places.values(), 0)
    for bundle in bundles:
        for track, offset in zip(bundle.tracks, offsets(bundle), strict=True):
            dots.add((at for at, _ in marks(track, outlines(bundle, track, offset, 0.0))), 0)
    named = [city for city in board.cities if not city.junction]
    choices = {city.id: list(_name_choices(city, places[city.id], letter)) for city in named}
    covered = {id: [_find_covered(name, boxes, dots) for name in names] for id, names in choices.items()}
    names: dict[str, Name] = {}
    for _ in range(2):
        for city in named:
            others = [name for id, name in names.items() if id != city.id]
            costs = [
                cost + _measure_overlap(name, others) + 0.1 * rank
                for rank, (name, cost) in enumerate(zip(choices[city.id], covered[city.id], strict=True))
            ]
            names[city.id] = choices[city.id][costs.index(min(costs))]
    return list(names.values())


def _name_choices(city: City, place: Point, letter: float) -> Iterator[Name]:
    """Yield places around the city, beginning on its right; first close by, then a little farther off."""
    width = (WIDTH_OF_LETTER if letter == LETTER else WIDTH_OF_LARGE_LETTER) * letter * len(city.name)
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
            top = edge.imag + (direction.imag - 1) * letter / 2
            yield Name(city, complex(x, top + 0.82 * letter), anchor, left, top, left + width, top + letter)


def _find_covered(name: Name, boxes: Crowd, dots: Crowd) -> float:
    """Measure how much of tracks, cities and marks a name would hide."""
    height = (name.top + name.bottom) / 2
    columns = range(math.ceil((name.right - name.left) / NEIGHBORHOOD) + 1)
    looked_at = [complex(min(name.left + NEIGHBORHOOD * column, name.right), height) for column in columns]
    covered_boxes = {seen for point in looked_at for seen in boxes.around(point)}
    covered_dots = {seen for point in looked_at for seen in dots.around(point)}
    return 1.5 * sum(_is_under(name, point, BOX / 2 + 2.0) for point, _ in covered_boxes) + 12.0 * sum(
        _is_under(name, point, DOT) for point, _ in covered_dots
    )


def _measure_overlap(name: Name, others: Sequence[Name]) -> float:
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


def _find_frame(
    places: dict[str, Point], bundles: Sequence[Bundle], names: Sequence[Name]
) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of all that is drawn, with a margin."""
    points = [*places.values(), *(point for bundle in bundles for point in bundle.middle)]
    left = min(*(point.real for point in points), *(name.left for name in names))
    right = max(*(point.real for point in points), *(name.right for name in names))
    top = min(*(point.imag for point in points), *(name.top for name in names))
    bottom = max(*(point.imag for point in points), *(name.bottom for name in names))
    return left - MARGIN, top - MARGIN, right + MARGIN, bottom + MARGIN


# -- what the layout says of one bundle, and of one of its tracks ---------------------------------------


def grounds(bundle: Bundle) -> Iterator[tuple[Literal["water", "rock"], float]]:
    """Yield what a ferry or a tunnel runs through, and how broad it is."""
    width = 2 * bundle.half_width + 12.0
    if any(track.locomotives for track in bundle.tracks):
        yield "water", width
    if any(track.tunnel for track in bundle.tracks):
        yield "rock", width


def offsets(bundle: Bundle) -> list[float]:
    """Return how far each track lies beside the middle."""
    count = len(bundle.tracks)
    return [(number - (count - 1) / 2) * PITCH for number in range(count)]


def spaces_of(bundle: Bundle, track: Route, offset: float) -> Iterator[list[Point]]:
    """Yield the outline of each space of a track: along its one side, and back along the other."""
    one_side = outlines(bundle, track, offset, -BOX / 2)
    other_side = outlines(bundle, track, offset, BOX / 2)
    for one, other in zip(one_side, other_side, strict=True):
        yield [*one, *reversed(other)]


def outlines(bundle: Bundle, track: Route, offset: float, aside: float) -> list[list[Point]]:
    """Draw a line along each space of a track, `aside` of the track's own middle."""
    spaces = _list_spaces(bundle.middle, track.length)
    return [_shift_beside(bundle.middle, begin, end, offset + aside) for begin, end in spaces]


def _list_spaces(middle: Sequence[Point], count: int) -> Iterator[tuple[float, float]]:
    """Return where each space of a track begins and ends, as distances along it."""
    total = sum(abs(end - begin) for begin, end in pairwise(middle))
    usable = max(total - 2 * (DOT + GAP), 0.5 * total)
    each = usable / count
    gap = min(GAP, 0.3 * each)
    for number in range(count):
        begin = (total - usable) / 2 + number * each
        yield begin + gap / 2, begin + each - gap / 2


def _shift_beside(line: Sequence[Point], begin: float, end: float, offset: float) -> list[Point]:
    """Return the part of a line between two distances along it, moved to its side."""
    count = max(2, round((end - begin) / STEP))
    parts = [_along(line, begin + (end - begin) * step / count) for step in range(count + 1)]
    return [point + 1j * direction * offset for point, direction in parts]


def marks(track: Route, spaces: Sequence[Sequence[Point]]) -> Iterator[tuple[Point, Mark]]:
    """Yield the marks of a track, on its middle spaces where these are enough, otherwise side by side."""
    kinds: list[Mark] = ["locomotive"] * track.locomotives
    if track.tunnel:
        kinds.append("tunnel")
    if track.doubtful:
        kinds.append("doubtful")
    line = [point for space in spaces for point in space]
    for number, kind in enumerate(kinds):
        if len(kinds) <= len(spaces):
            space = spaces[(len(spaces) - len(kinds)) // 2 + number]
            at = space[len(space) // 2]
        else:
            at = (line[0] + line[-1]) / 2
            at += (number - (len(kinds) - 1) / 2) * 2 * BADGE * _unit(line[-1] - line[0])
        yield at, kind


def _shift_line(line: Sequence[Point], offset: float) -> Iterator[Point]:
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
