"""The format of figures: rounded once, never -0, and with one minus for each medium.

Terminals, logs and files for programs use the hyphen-minus, which every encoding has and every program reads.
Pages use the minus sign, which is as wide as the plus above it.
"""

from __future__ import annotations

from typing import Final

HYPHEN_MINUS: Final = "-"
MINUS_SIGN: Final = "\N{MINUS SIGN}"


def signed(elo: float, minus: str = HYPHEN_MINUS) -> str:
    """Format a difference of Elo: `+1,012`, `-88`, `0`."""
    whole = round(elo)
    return f"{whole:+,}".replace("-", minus) if whole else "0"


def interval(low: float | None, high: float | None) -> str:
    """Format an interval: `+88 ... +181`. A missing limit is left out."""
    if low is None and high is None:
        return ""
    return f"{'' if low is None else signed(low)} ... {'' if high is None else signed(high)}".strip()


def counted(count: int, one: str, many: str = "") -> str:
    """Format a number with its noun: `1 match`, `1,200 matches`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
