"""The warnings of a report with all its parts, each said once, with the parts that it concerns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from stellwerk_tournament.ratings.ratings import RatingReport, Ratings

ALL: Final = "all matches"


def warning_lines(report: RatingReport, title: Callable[[str], str]) -> Iterator[str]:
    """Write the warnings. `title` is that of a game.

    A warning about all matches and every part of them names none of them.
    """
    parts: dict[str, Ratings] = {ALL: report.pooled}
    parts |= {title(game): ratings for game, ratings in report.by_game.items()}
    parts |= {f"tables of {size}": ratings for size, ratings in report.by_size.items()}
    concerned_by_text: dict[str, dict[frozenset[str], tuple[str, list[str]]]] = {}
    for part, ratings in parts.items():
        for warning in ratings.warnings:
            text, _, concerned = warning.message.partition(": ")
            whom = concerned_by_text.setdefault(text, {})
            names = frozenset(concerned.split(", "))
            if not warning.entrants and any(names < others for others in whom):
                continue  # tables, which have been named with those of other games
            # The entrants come in the order of the part's own ranking.
            whom.setdefault(names, (concerned, []))[1].append(part)
    for text, whom in concerned_by_text.items():
        texts = [_where(concerned, where, parts) for concerned, where in whom.values()]
        yield f"{text}: {'; '.join(texts)}"


def _where(concerned: str, where: list[str], parts: dict[str, Ratings]) -> str:
    return concerned if len(where) == len(parts) else f"{concerned} ({'; '.join(where)})"
