"""The record of a tournament so far: its results, and the suspensions and ratings that come of them.

Law: the record follows from the lines, in the order of `matches.jsonl`. So a runner that is resumed has the
one that it was stopped with.
"""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.ratings.outcomes import Outcome
from stellwerk_tournament.ratings.ratings import FEWEST_DEGREES, RatingError, Ratings, rate
from stellwerk_tournament.store.conduct import Suspensions
from stellwerk_tournament.store.results import Results


class Record:
    """`results` and `conduct` change only while the disk is the runner's, `ratings` when somebody asks."""

    def __init__(self, settings: Settings, results: Results) -> None:
        results.standings.list_first(settings.names)
        self.results = results
        self.conduct = Suspensions(settings.conduct, results)
        self.ratings: Ratings | None = None

    def rate(self, outcomes: Sequence[Outcome]) -> None:
        """Compute the ratings, which takes a while. There are none as long as the matches are too few."""
        try:
            self.ratings = rate(outcomes)
        except RatingError:
            self.ratings = None

    def is_within(self, width: float) -> bool:
        """Return whether all intervals are narrow enough, but for those of suspended bots. With fewer blocks
        than an interval needs, its width means nothing."""
        self.rate(self.results.outcomes())
        return self.ratings is not None and all(
            rating.low is not None
            and rating.high is not None
            and rating.high - rating.low <= width
            and rating.freedom >= FEWEST_DEGREES
            for rating in self.ratings.entrants
            if rating.name not in self.conduct.names
        )
