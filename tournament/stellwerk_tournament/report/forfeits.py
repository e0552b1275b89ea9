"""The forfeits of the report: who forfeited what and why, who is suspended, and the ratings with and without.

Law: a forfeit is no game of skill, so two ratings are shown. That of the ranking counts every match, with
those who forfeit last. The other one counts only the matches without any forfeit, by the rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from stellwerk_tournament.config.conduct import in_words
from stellwerk_tournament.ratings.ratings import Rating, RatingError, Ratings
from stellwerk_tournament.store.conduct import GRAVEST_FIRST, Suspension
from stellwerk_tournament.store.cup import Cup
from stellwerk_tournament.store.match_line import ForfeitReason
from stellwerk_tournament.store.standings import Sums

REASONS: Final[Mapping[ForfeitReason, str]] = {
    "suspended": "suspended",
    "never_started": "never started",
    "absent": "absent",
    "gone": "gone",
    "defaults": "too many defaults",
}


@dataclass(frozen=True, slots=True)
class ForfeitRow:
    """A bot with its forfeits by reason. `without` is its rating by the matches without any forfeit, of which
    it played `matches_without`."""

    name: str
    sums: Sums
    counts: Sequence[int]
    rating: Rating | None
    without: Rating | None
    matches_without: int
    suspension: Suspension | None


@dataclass(frozen=True, slots=True)
class Forfeits:
    """The content of this section. `reasons` are those that occurred, in words. `unrated` says why there is
    no rating without forfeits, where there is none."""

    conduct: str
    match_count: int
    reasons: Sequence[str]
    rows: Sequence[ForfeitRow]
    unrated: str


def out_last(ratings: Ratings, out: Collection[str]) -> tuple[Rating, ...]:
    """Return the ratings, with the bots that are out at the end. These are not compared with others."""
    if not out:
        return ratings.entrants
    playing = [rating for rating in ratings.entrants if rating.name not in out]
    last = [rating for rating in ratings.entrants if rating.name in out]
    compared: list[Rating] = []
    for place, rating in enumerate(playing):
        below = next((other for other in playing[place + 1 :] if other.group == rating.group), None)
        superiority = None if below is None else ratings.superiority(rating.name, below.name)
        compared.append(replace(rating, superiority=superiority))
    return (*compared, *(replace(rating, superiority=None) for rating in last))


def forfeits(cup: Cup, names: Sequence[str]) -> Forfeits:
    """Collect the forfeits. `names` are in the order of the ranking."""
    standings, without = cup.standings, cup.rated_without_forfeits
    seen = {reason for name in names for reason in standings.of[name].forfeits}
    reasons: list[ForfeitReason] = [reason for reason in GRAVEST_FIRST if reason in seen]
    ratings = without if isinstance(without, Ratings) else None
    with_all = {} if isinstance(cup.rated, RatingError) else cup.rated.pooled.by_name
    clean = {} if ratings is None else ratings.by_name
    played = Counter(name for match in cup.results if not match.forfeits for name in match.players)
    return Forfeits(
        conduct=in_words(cup.settings.conduct),
        match_count=sum(bool(match.forfeits) for match in cup.results),
        reasons=[REASONS[reason] for reason in reasons],
        rows=[
            ForfeitRow(
                name,
                standings.of[name],
                [standings.of[name].forfeits[reason] for reason in reasons],
                with_all.get(name),
                clean.get(name),
                played[name],
                cup.suspensions.get(name),
            )
            for name in names
        ],
        unrated=str(without) if isinstance(without, RatingError) else "",
    )
