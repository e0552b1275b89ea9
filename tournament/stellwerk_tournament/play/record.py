"""The record of a tournament so far: its results, what comes of them, and the organizer's decisions.

Law: suspensions and ratings follow from the lines, in the order of `matches.jsonl`, and from the decisions.
So a runner that is resumed has those that it was stopped with.
"""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.ratings.outcomes import Outcome
from stellwerk_tournament.ratings.ratings import FEWEST_DEGREES, RatingError, Ratings, rate
from stellwerk_tournament.store.conduct import Suspensions
from stellwerk_tournament.store.field import Field
from stellwerk_tournament.store.results import Results


class Record:
    """`results` and `conduct` change only while the disk is the runner's, `ratings` when somebody asks."""

    def __init__(self, settings: Settings, results: Results, field: Field) -> None:
        results.standings.list_first(settings.names)
        self.results = results
        self.field = field
        self.conduct = Suspensions(settings.conduct, results, field)
        self.ratings: Ratings | None = None

    def outcomes(self) -> list[Outcome]:
        """Return what counts for ratings."""
        return self.results.outcomes(unrated=self.field.unrated)

    def rate(self, outcomes: Sequence[Outcome]) -> None:
        """Compute the ratings, which takes a while. There are none as long as the matches are too few."""
        try:
            self.ratings = rate(outcomes)
        except RatingError:
            self.ratings = None

    def is_within(self, width: float) -> bool:
        """Return whether all intervals are narrow enough, but for those of bots that are out. With fewer
        blocks than an interval needs, its width means nothing."""
        self.rate(self.outcomes())
        return self.ratings is not None and all(
            rating.low is not None
            and rating.high is not None
            and rating.high - rating.low <= width
            and rating.freedom >= FEWEST_DEGREES
            for rating in self.ratings.entrants
            if rating.name not in self.conduct.out
        )
