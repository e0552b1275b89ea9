"""The drawings of the report, as inline SVG: intervals on a common scale, and lines over time.

Law: a drawing shows what stands beside it as text, and says nothing more; so readers who cannot see it miss
nothing, and it is hidden from their programs. Horizontal places are shares of the width, so that a drawing is
as wide as there is room while its lines and marks keep their size.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from stellwerk_tournament.report.markup import Html, element, signed


@dataclass(frozen=True, slots=True)
class Scale:
    """From the one end of a drawing to the other."""

    low: float
    high: float

    def share(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low)

    def ticks(self, about: int = 7) -> tuple[float, ...]:
        """Return round figures to draw lines at."""
        rough = (self.high - self.low) / about
        magnitude = 10.0 ** math.floor(math.log10(rough))
        step = next(magnitude * factor for factor in (1, 2, 5, 10) if magnitude * factor >= rough)
        first = math.ceil(self.low / step)
        return tuple(step * number for number in range(first, math.floor(self.high / step) + 1))


@dataclass(frozen=True, slots=True)
class PlottedInterval:
    """A limit that is None is unknown: the line continues to the edge."""

    middle: float
    low: float | None
    high: float | None
    is_bounded_only: bool = False

    @property
    def is_known(self) -> bool:
        return self.low is not None or self.high is not None


def scale_of(intervals: Sequence[PlottedInterval]) -> Scale:
    """Choose a scale that all estimates fit in. Limits far beyond them do not make the rest small."""
    middles = [interval.middle for interval in intervals] or [0.0]
    least, most = min(middles), max(middles)
    room = max(0.5 * (most - least), 100.0)
    low = min([least, *(each.low for each in intervals if each.low is not None)])
    high = max([most, *(each.high for each in intervals if each.high is not None)])
    low, high = max(low, least - room), min(high, most + room)
    margin = 0.06 * (high - low) or 50.0
    return Scale(low - margin, high + margin)


# -- intervals ---------------------------------------------------------------------------------------


def grid(scale: Scale, name: str) -> Html:
    """Draw the lines behind the intervals, once for all rows, which refer to them by `name`."""
    lines = (
        element("line", x1=_place(scale, tick), x2=_place(scale, tick), y1="0", y2="100%", class_=_tick(tick))
        for tick in scale.ticks()
    )
    definition = element("defs", element("g", *lines, id=name))
    return element("svg", definition, width="0", height="0", class_="hidden", aria_hidden="true")


def axis(scale: Scale) -> Html:
    """Draw the figures of the ticks. Every other one is left out where there is little room."""
    ticks = scale.ticks()
    step = ticks[1] - ticks[0]
    numbers = (
        element(
            "text",
            signed(tick),
            x=_place(scale, tick),
            y="70%",
            text_anchor="middle",
            class_="odd" if round(tick / step) % 2 else None,
        )
        for tick in ticks
        if 0.05 < scale.share(tick) < 0.95
    )
    return element("svg", *numbers, class_="axis", aria_hidden="true")


def interval_drawing(interval: PlottedInterval, scale: Scale, name: str) -> Html:
    """Draw an interval on the grid with this `name`."""
    parts = [element("use", href=f"#{name}")]
    if interval.is_known:
        low = 0.0 if interval.low is None else scale.share(interval.low)
        high = 1.0 if interval.high is None else scale.share(interval.high)
        left, right = min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)
        parts.append(
            element("line", x1=_percent(left), x2=_percent(right), y1="50%", y2="50%", class_="reach")
        )
        parts.append(
            _mark(left, "M6 -4 L0 0 L6 4" if interval.low is None or low < 0 else "M0 -5 L0 5", "end")
        )
        parts.append(
            _mark(right, "M-6 -4 L0 0 L-6 4" if interval.high is None or high > 1 else "M0 -5 L0 5", "end")
        )
    shape = (
        "M0 -6 L6 0 L0 6 L-6 0 Z" if interval.is_bounded_only else "M-5 0 a5 5 0 1 0 10 0 a5 5 0 1 0 -10 0"
    )
    parts.append(
        _mark(scale.share(interval.middle), shape, "bounded" if interval.is_bounded_only else "point")
    )
    return element("svg", *parts, class_="interval", aria_hidden="true")


def _mark(share: float, path: str, kind: str) -> Html:
    shape = element("path", d=path, class_=kind)
    return element("svg", shape, x=_percent(share), y="50%", overflow="visible", width="1", height="1")


def _place(scale: Scale, value: float) -> str:
    return _percent(scale.share(value))


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"


def _tick(tick: float) -> str:
    return "zero" if tick == 0 else "tick"


# -- over time ---------------------------------------------------------------------------------------

WIDTH: Final = 1000  # of the drawing, in its own units; the page stretches it
HEIGHT: Final = 400
LABELS_APART: Final = 5.2  # per cent of the height: a line of text


@dataclass(frozen=True, slots=True)
class CourseLine:
    """`points` are shares of the way from left to right, and values."""

    name: str
    points: tuple[tuple[float, float], ...]


def line_chart(lines: Sequence[CourseLine], background: Sequence[CourseLine], scale: Scale) -> Html:
    """Draw `lines` with their names at the right end, and others behind them without.

    Every line has an id, for `small_line`.
    """
    grid_lines = (
        element("path", d=f"M0 {_down(scale, tick)} H{WIDTH}", class_=_tick(tick)) for tick in scale.ticks()
    )
    drawing = element(
        "svg",
        *grid_lines,
        *(element("g", _path(line, scale), class_="other") for line in background),
        *(
            element("g", _path(line, scale), class_=f"c{number}")
            for number, line in reversed(list(enumerate(lines)))
        ),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    ticks = (
        element("span", signed(tick), class_="value", style=f"top:{_percent(1 - scale.share(tick))}")
        for tick in scale.ticks()
    )
    ends = [100 * (1 - scale.share(line.points[-1][1])) for line in lines]
    tops = list(apart(ends, LABELS_APART))
    labels = (
        element("span", line.name, class_=f"name c{number}", style=f"top:{top:.2f}%")
        for number, (line, top) in enumerate(zip(lines, tops, strict=True))
    )
    leaders = element(
        "svg",
        *(
            element("g", element("path", d=f"M0 {end:.2f} L10 {top:.2f}"), class_=f"c{number}")
            for number, (end, top) in enumerate(zip(ends, tops, strict=True))
        ),
        viewBox="0 0 10 100",
        preserveAspectRatio="none",
        class_="leaders",
        aria_hidden="true",
    )
    return element("div", drawing, leaders, *ticks, *labels, class_="frame")


def small_line(line: CourseLine) -> Html:
    """Draw the same line once more, as high as a line of text."""
    used = element("use", href=f"#{_id(line)}")
    view = f"0 0 {WIDTH} {HEIGHT}"
    return element("svg", used, viewBox=view, preserveAspectRatio="none", class_="spark", aria_hidden="true")


def apart(places: Sequence[float], distance: float) -> Iterator[float]:
    """Yield where to put labels that belong at `places`, from 0 to 100, so that none covers another."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    found = [0.0] * len(places)
    nearest = -distance
    for i in order:
        nearest = max(places[i], nearest + distance)
        found[i] = nearest
    nearest = 100.0 + distance
    for i in reversed(order):
        nearest = min(found[i], nearest - distance)
        found[i] = nearest
    yield from found


def _path(line: CourseLine, scale: Scale) -> Html:
    steps = " ".join(f"{round(WIDTH * share)},{_down(scale, value)}" for share, value in line.points)
    return element("polyline", id=_id(line), points=steps)


def _id(line: CourseLine) -> str:
    return f"line-{line.name}"


def _down(scale: Scale, value: float) -> str:
    return f"{HEIGHT * (1 - scale.share(value)):.0f}"


def lines_between(lines: Iterable[CourseLine]) -> Scale:
    """Choose a scale that all lines fit in."""
    values = [value for line in lines for _, value in line.points] or [0.0]
    low, high = min(values), max(values)
    margin = max(0.05 * (high - low), 10.0)
    return Scale(low - margin, high + margin)
