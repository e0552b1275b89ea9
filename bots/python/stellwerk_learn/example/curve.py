"""The learning curve as a picture: each round's share of games won and points ahead, and the means of some
rounds as lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from stellwerk_learn.example.train import Plan, Round

WIDTH: Final = 720
HEIGHT: Final = 460
LEFT, RIGHT = 64, 20
SMOOTHED: Final = 10  # rounds
_INK, _PALE, _DOT, _LINE = "#333", "#ddd", "#7d9bb5", "#b3261e"


@dataclass(frozen=True, slots=True)
class _Panel:
    """One of the two charts, which share their axis of games."""

    title: str
    top: float
    height: float
    marks: Sequence[float]
    unit: str
    values: Sequence[float]

    def y(self, value: float) -> float:
        low, high = self.marks[0], self.marks[-1]
        return self.top + self.height * (high - value) / (high - low)


def curve(plan: Plan, rounds: Sequence[Round]) -> str:
    """Return the picture as SVG."""
    won = [100 * each.won for each in rounds]
    ahead = [each.margin for each in rounds]
    low, high = 50 * (min(0, *ahead) // 50), 50 * -(max(0, *ahead) // -50)
    marks = [low + 50 * number for number in range(int(high - low) // 50 + 1)]
    panels = (
        _Panel(f"games won against {plan.opponent}", 34, 160, (0, 25, 50, 75, 100), " %", won),
        _Panel("points ahead", 238, 170, marks, "", ahead),
    )
    games = [each.games for each in rounds]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="13" fill="{_INK}" role="img">',
        f"<title>A policy learns {plan.game} against {plan.opponent}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for panel in panels:
        lines += _drawn(panel, games, plan.games)
    bottom = panels[-1].top + panels[-1].height
    for quarter in range(5):
        number = games[-1] * quarter // 4
        anchor = "end" if quarter == 4 else "middle"
        lines.append(_text(_x(number, games), bottom + 20, f"{number:,}", anchor))
    lines.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "games", "middle"))
    return "\n".join([*lines, "</svg>", ""])


def _drawn(panel: _Panel, games: Sequence[int], size: int) -> Iterator[str]:
    yield _text(LEFT, panel.top - 12, f"{panel.title}: rounds of {size}, and the mean of {SMOOTHED}", "start")
    for mark in panel.marks:
        yield f'<path d="M{LEFT} {panel.y(mark):.1f}H{WIDTH - RIGHT}" stroke="{_PALE}"/>'
        yield _text(LEFT - 8, panel.y(mark) + 4, f"{mark:g}{panel.unit}", "end")
    for number, value in zip(games, panel.values, strict=True):
        yield f'<circle cx="{_x(number, games):.1f}" cy="{panel.y(value):.1f}" r="2" fill="{_DOT}"/>'
    means: list[str] = []
    for end, number in enumerate(games, 1):
        last = panel.values[max(0, end - SMOOTHED) : end]
        means.append(f"{_x(number, games):.1f} {panel.y(sum(last) / len(last)):.1f}")
    yield f'<path d="M{"L".join(means)}" fill="none" stroke="{_LINE}" stroke-width="2"/>'


def _x(number: float, games: Sequence[int]) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * number / games[-1]


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'
