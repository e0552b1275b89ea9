"""How the commands write figures of ratings: rounded once, and never -0."""

from __future__ import annotations


def signed(elo: float) -> str:
    whole = round(elo)
    return f"{whole:+d}" if whole else "0"


def interval(low: float | None, high: float | None) -> str:
    """`+88 ... +181`; nothing stands where there is no limit."""
    if low is None and high is None:
        return ""
    return f"{'' if low is None else signed(low)} ... {'' if high is None else signed(high)}".strip()


def counted(count: int, one: str, many: str = "") -> str:
    """`1 match`, `1,200 matches`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
