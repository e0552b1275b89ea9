"""The templates of the report, and what they can do beyond Jinja's own filters.

Law: a template inserts texts through `markup.escaped` and no other way. No template marks anything as safe.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from stellwerk_base.texts import counted
from stellwerk_processes.faults import Fault, evidence_of
from stellwerk_tournament.ratings.deal_worth import gain_in_words, worth_range
from stellwerk_tournament.ratings.game_words import game_title, tables_of
from stellwerk_tournament.ratings.ratings import Rating, SeatEffect
from stellwerk_tournament.report.markup import (
    Html,
    elo_text,
    escaped,
    grouped,
    interval_text,
    milliseconds,
    parts_of_ms,
    percent,
    probability,
    signed,
    tenths,
)
from stellwerk_tournament.report.matches import MatchLink

FOLDER: Final = Path(__file__).with_name("templates")


def rendered(template: str, **values: object) -> str:
    """Fill in a template."""
    return _environment().get_template(template).render(values)


def file_text(name: str) -> Html:
    """Read a style sheet or a script, which goes into the page as it is."""
    return Html((FOLDER / name).read_text("utf-8"))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(_FILTERS)
    return environment


def _finalize(value: object) -> object:
    """Escape whatever a template inserts, unless it is markup: `Html`, or what a macro returns."""
    return value if hasattr(value, "__html__") else escaped(str(value))


def match_label(match: MatchLink) -> str:
    """Name a match by its block and its rotation, which are counted from 0 as everywhere."""
    return f"block {match.block}, rotation {match.rotation}"


def _limits(interval: Rating | SeatEffect) -> str:
    return interval_text(interval.low, interval.high)


def _evidence(fault: Fault) -> list[str]:
    return [line.removeprefix("| ") for line in evidence_of(fault)]


def _sort_key(value: float) -> str:
    return f"{value:.6g}"


# Any: Jinja calls a filter with whatever a template gives it.
_FILTERS: Final[dict[str, Callable[..., Any]]] = {
    "counted": counted,
    "deal_gain": gain_in_words,
    "deal_range": worth_range,
    "elo": elo_text,
    "evidence": _evidence,
    "game_title": game_title,
    "grouped": grouped,
    "limits": _limits,
    "match_label": match_label,
    "milliseconds": milliseconds,
    "parts_of_ms": parts_of_ms,
    "percent": percent,
    "probability": probability,
    "quoted_path": quote,
    "signed": signed,
    "sort_key": _sort_key,
    "tables_of": tables_of,
    "tenths": tenths,
}
