"""The verdict of the blocks of a comparison, where the points come from, and the deals to look at.

Laws:
- blocks count in the order of their numbers, so the verdict does not depend on how many are played at once;
- the test looks when every game has had its part, which makes a round;
- all intervals are valid at any time: 95 % of comparisons have the truth in it after every round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import UNSET, Struct

from stellwerk.compare.deals import MATCHES
from stellwerk.matches.report import MatchReport
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_tournament.evidence.evidence import Evidence, finishes_of
from stellwerk_tournament.evidence.sequential import Sample, interval_at_any_time
from stellwerk_tournament.evidence.strength import Estimate, estimate
from stellwerk_tournament.evidence.worth import EVEN, Measure, sample_of_points, worth_of

Word: TypeAlias = Literal["better", "worse", "alike", "undecided", "broken"]

SWINGS: Final = 3  # that are named, of each sign


class PlayedDeal(NamedTuple):
    """A block with its matches. In the first one the new version has the earlier seat."""

    number: int
    matches: Sequence[MatchReport]


class Deal(Struct, frozen=True):
    """A deal that one version liked much better: how many points the new one has more in a match, and the
    points of both (new, old) in each match, with the replays."""

    block: int
    game: str
    players: int
    seed: str
    difference: float
    points: tuple[tuple[int, int], ...]
    replays: tuple[str, ...]


class ScorePart(Struct, frozen=True):
    """The means of something in a match for both versions, and their difference."""

    part: str
    old: float
    new: float
    difference: Estimate


@dataclass(slots=True)
class Blocks:
    """All that was played. `by` is what decides, and `margin` how far from even still counts as alike, in its
    unit. `broken` is the match in which a bot broke, if that was the end."""

    old: str
    new: str
    by: Measure
    margin: float
    choices: Sequence[GameChoice]
    deals: list[PlayedDeal] = field(default_factory=list[PlayedDeal])
    evidence: Evidence = field(init=False)
    broken: MatchReport | None = None

    def __post_init__(self) -> None:
        self.evidence = Evidence(self.new, {self.old: self.old})

    def add(self, deal: PlayedDeal) -> None:
        seats = [match.seats for match in deal.matches]
        self.evidence.add(deal.number, deal.number % len(self.choices), seats)
        self.deals.append(deal)

    def break_off(self, match: MatchReport) -> None:
        """Note the match in which a bot broke. It says nothing of who plays better."""
        self.broken = match
        game, rotation = match.block % len(self.choices), match.number % MATCHES
        self.evidence.note_faults(match.block, game, rotation, match.seats)

    @property
    def is_round(self) -> bool:
        return len(self.deals) % len(self.choices) == 0

    def verdict(self) -> Word:
        """Return what the blocks so far show."""
        if self.broken is not None:
            return "broken"
        interval, even = interval_at_any_time(self.evidence.overall.by(self.by)), EVEN[self.by]
        if interval is None:
            return "undecided"
        if interval.low > even:
            return "better"
        if interval.high < even:
            return "worse"
        is_close = even - self.margin <= interval.low and interval.high <= even + self.margin
        return "alike" if is_close else "undecided"

    def parts(self) -> Iterator[ScorePart]:
        """Yield where the points come from, and what else differs."""
        bonuses = dict.fromkeys(
            _kind(bonus.bonus)
            for deal in self.deals
            for match in deal.matches
            for seat in match.seats
            for bonus in seat.breakdown.bonuses
        )
        for key in (*_POINTS, *(f"{BONUS}{kind}" for kind in bonuses), *_COUNTS) if self.deals else ():
            yield self._part(key)

    def swings(self) -> list[Deal]:
        """Return the deals with the greatest differences, those first that the new version lost."""
        swings = sorted(map(self._swing, self.deals), key=lambda deal: (deal.difference, deal.block))
        worst = [deal for deal in swings[:SWINGS] if deal.difference < 0]
        best = [deal for deal in reversed(swings[-SWINGS:]) if deal.difference > 0]
        return worst + best

    def _swing(self, deal: PlayedDeal) -> Deal:
        finishes = [finishes_of(match.seats) for match in deal.matches]
        game = self.choices[deal.number % len(self.choices)]
        return Deal(
            block=deal.number,
            game=game.game_id,
            players=game.seat_count,
            seed=deal.matches[0].seed,
            difference=worth_of(finishes, self.new, (self.old,)).points,
            points=tuple((match[self.new].points, match[self.old].points) for match in finishes),
            replays=tuple(match.replay for match in deal.matches if match.replay is not UNSET),
        )

    def _part(self, key: str) -> ScorePart:
        sample = Sample() if key in _COUNTS else sample_of_points()
        totals = {self.old: 0.0, self.new: 0.0}
        for deal in self.deals:
            means = {
                name: sum(value_of(key, match, name) for match in deal.matches) / len(deal.matches)
                for name in totals
            }
            sample.add(means[self.new] - means[self.old])
            for name, mean in means.items():
                totals[name] += mean / len(self.deals)
        difference = estimate(sample, interval_at_any_time)
        return ScorePart(key, round(totals[self.old], 3), round(totals[self.new], 3), difference)


# -- parts -------------------------------------------------------------------------------------------

BONUS: Final = "bonus:"
_POINTS: Final = ("points", "routes", "tickets_completed", "tickets_failed")
_COUNTS: Final = (
    "completed_count",
    "failed_count",
    "longest_path",
    "unused_cards",
    "answer_ms",
    "slowest_ms",
)


def value_of(key: str, match: MatchReport, bot: str) -> float:
    """Return a part of a match for a bot. Its seats share all points."""
    seats = [seat for seat in match.seats if seat.bot == bot]
    parts = seats[0].breakdown
    if key.startswith(BONUS):
        return sum(bonus.points for bonus in parts.bonuses if _kind(bonus.bonus) == key.removeprefix(BONUS))
    match key:
        case "points":
            return seats[0].points
        case "routes":
            return parts.route_points
        case "tickets_completed":
            return sum(ticket.points for ticket in parts.tickets if ticket.completed)
        case "tickets_failed":
            return sum(ticket.points for ticket in parts.tickets if not ticket.completed)
        case "completed_count":
            return sum(ticket.completed for ticket in parts.tickets)
        case "failed_count":
            return sum(not ticket.completed for ticket in parts.tickets)
        case "longest_path":
            return parts.longest_path
        case "unused_cards":
            return sum(match.unused_cards[seat.seat] for seat in seats)
        case "answer_ms":
            return sum(seat.used_ms for seat in seats) / max(1, sum(seat.asks for seat in seats))
        case "slowest_ms":
            return max(seat.slowest_ms for seat in seats)
        case _:
            raise KeyError(key)


def _kind(bonus: str) -> str:
    return bonus.partition(":")[0]
