"""The decisions of the report: what the organizer decided, and the ratings without disqualified bots.

Law: the ranking counts the matches that were played, with those of disqualified bots. The rating beside it
counts no block that such a bot played in. Blocks that a ruling made unrated count in neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from stellwerk_tournament.ratings.ratings import Rating, RatingError, Ratings
from stellwerk_tournament.store.cup import Cup
from stellwerk_tournament.store.field import (
    Announced,
    Decision,
    Disqualified,
    Paused,
    Ruled,
    Unpaused,
)


@dataclass(frozen=True, slots=True)
class DecisionRow:
    number: int
    at: str
    text: str


@dataclass(frozen=True, slots=True)
class RatingWithout:
    """A bot's rating by all rated matches, and by those of blocks without any disqualified bot."""

    name: str
    rating: Rating | None
    without: Rating | None


@dataclass(frozen=True, slots=True)
class DecisionsTable:
    """The content of this section. `head` is the SHA-256 of the last line of `field.jsonl`. `rows_without`
    are there if a bot is disqualified, `unrated` says why there are no ratings without it."""

    head: str
    rows: Sequence[DecisionRow]
    rows_without: Sequence[RatingWithout]
    unrated: str


def decision_in_words(decision: Decision) -> str:
    match decision:
        case Disqualified():
            return f"{decision.bot} is disqualified: {decision.reason}"
        case Ruled():
            blocks = (
                f"{'block' if len(decision.blocks) == 1 else 'blocks'} {', '.join(map(str, decision.blocks))}"
            )
            return f"not rated: {blocks}: {decision.reason}"
        case Paused():
            return f"paused: {decision.reason}"
        case Unpaused():
            return "no more paused"
        case Announced():
            return decision.text
        case _:
            assert_never(decision)


def decisions(cup: Cup, names: Sequence[str]) -> DecisionsTable:
    """Collect the decisions. `names` are in the order of the ranking."""
    field, rated, without = cup.field, cup.rated, cup.rated_without_disqualified
    ratings = {} if isinstance(rated, RatingError) else rated.pooled.by_name
    others = without.by_name if isinstance(without, Ratings) else {}
    return DecisionsTable(
        head=field.head,
        rows=[DecisionRow(each.number, each.at, decision_in_words(each)) for each in field.decisions],
        rows_without=[RatingWithout(name, ratings.get(name), others.get(name)) for name in names]
        if field.disqualified
        else (),
        unrated=str(without) if isinstance(without, RatingError) else "",
    )
