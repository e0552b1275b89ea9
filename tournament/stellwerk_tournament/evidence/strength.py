"""How much better a bot is: the record that reports have, and its words.

Law: a difference between two bots is never shown without how far it can be trusted. Words and files have the
same figures, rounded once, here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from stellwerk_base.texts import percent
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_processes.faults import Fault, in_words
from stellwerk_tournament.evidence.evidence import Evidence
from stellwerk_tournament.evidence.sequential import Interval, Sample
from stellwerk_tournament.evidence.worth import EVEN, Deals, Lead, Measure
from stellwerk_tournament.ratings.deal_worth import DealWorth, worth_in_words
from stellwerk_tournament.ratings.elo import elo_of

Test: TypeAlias = Callable[[Sample], Interval | None]
"""The interval that a command chose: one that is valid at any time, or after a number of blocks."""


class Estimate(Struct, frozen=True):
    """A mean with its 95 % interval, if there are enough blocks for one."""

    mean: float
    low: float | None
    high: float | None


class EloEstimate(Struct, frozen=True):
    """The distances that lead one to expect a score and the limits of its interval. A score of 0 or 1 has
    none."""

    mean: float | None
    low: float | None
    high: float | None


class Strength(Struct, frozen=True):
    """A bot against others: the share of them that it was ahead of, a tie counting a half, the distance that
    leads one to expect this, and how many points it has more than they in a match."""

    blocks: int
    score: Estimate
    elo: EloEstimate
    points: Estimate


class DealWorths(Struct, frozen=True):
    """The worth of one deal in every seat by either measure. Null where it cannot be computed."""

    wins: DealWorth | None
    points: DealWorth | None


class GameStrength(Struct, frozen=True):
    """The strength in one game. `strength` is null before its first block."""

    game: str
    players: int
    options: tuple[str, ...]
    strength: Strength | None
    deals: DealWorths

    @property
    def title(self) -> str:
        return " ".join([f"{self.game} of {self.players}", *self.options])


class FoundFault(Struct, frozen=True):
    """A fault of a bot, and where. `rotation` counts the matches of a block."""

    bot: str
    game: str
    block: int
    rotation: int
    seat: int
    fault: Fault


def strength_of(lead: Lead, test: Test) -> Strength | None:
    """Compute the strength. None before the first block."""
    if not lead.wins.count:
        return None

    def elo(score: float | None) -> float | None:
        distance = None if score is None else elo_of(score)
        return None if distance is None else round(distance, 1)

    score = estimate(lead.wins, test)
    if score.low is not None and score.high is not None:
        score = Estimate(score.mean, max(0.0, score.low), min(1.0, score.high))
    return Strength(
        blocks=lead.wins.count,
        score=score,
        elo=EloEstimate(elo(score.mean), elo(score.low), elo(score.high)),
        points=estimate(lead.points, test),
    )


def estimate(sample: Sample, test: Test) -> Estimate:
    limits = test(sample)
    if limits is None:
        return Estimate(round(sample.mean, 4), None, None)
    return Estimate(round(sample.mean, 4), round(limits.low, 4), round(limits.high, 4))


def certain_lead(strength: Strength, by: Measure) -> Literal[-1, 0, 1]:
    """Return the sign of a lead whose interval excludes that of equals, otherwise 0."""
    means, even = strength.score if by == "wins" else strength.points, EVEN[by]
    if means.low is not None and means.low > even:
        return 1
    return -1 if means.high is not None and means.high < even else 0


def strengths_of(games: Sequence[GameChoice], evidence: Evidence, test: Test) -> tuple[GameStrength, ...]:
    """Compute the strength in each game. `games` are in the order in which the evidence counts them."""
    return tuple(
        GameStrength(
            game.game_id,
            game.seat_count,
            game.options,
            strength_of(evidence.by_game.get(number, Lead()), test),
            deals_of(evidence.deals.get(number, Deals())),
        )
        for number, game in enumerate(games)
    )


def deals_of(deals: Deals) -> DealWorths:
    return DealWorths(deals.wins.worth(), deals.points.worth())


def faults_of(evidence: Evidence, games: Sequence[GameStrength]) -> tuple[FoundFault, ...]:
    """Return the first faults of all bots."""
    return tuple(
        FoundFault(found.bot, games[found.game].title, found.block, found.match, found.seat, found.fault)
        for found in evidence.faults
    )


# -- words -------------------------------------------------------------------------------------------

GAMES: Final = ("game", "deals", "score", "95 %", "points", "95 %")


def game_row(game: GameStrength) -> Sequence[str]:
    """Write a row below `GAMES`."""
    if game.strength is None:
        return (game.title, "0", "", "", "", "")
    score, points = game.strength.score, game.strength.points
    return (
        game.title,
        f"{game.strength.blocks:,}",
        percent(score.mean),
        share_range(score),
        f"{points.mean:+.1f}",
        points_range(points),
    )


def deals_in_words(games: Sequence[GameStrength]) -> Iterator[str]:
    """Write what one deal in every seat was worth, for each game and measure where it can be computed."""
    for game in games:
        yield from deal_lines(game.deals, f" of {game.title}" if len(games) > 1 else "")


def deal_lines(deals: DealWorths, of_game: str = "") -> Iterator[str]:
    """Write `by wins, each match was worth 1.62 single ones (95 %: 1.38 to 1.92)`."""
    for measure, worth in (("wins", deals.wins), ("points", deals.points)):
        if worth is not None:
            yield f"by {measure}, each match{of_game} was worth {worth_in_words(worth)}"


def score_in_words(strength: Strength) -> str:
    """Write `53.3 % (95 %: 48.1 to 58.5 %), Elo +23 (-13 to +60)`."""
    score, elo = strength.score, _elo_in_words(strength.elo)
    text = trusted(percent(score.mean), share_range(score))
    return f"{text}, Elo {elo}" if elo else text


def _elo_in_words(elo: EloEstimate) -> str:
    """Write `+42 (+5 to +80)`, or `above +488` where no Elo leads one to expect a score of 1."""
    mean, low, high = ("" if each is None else f"{each:+.0f}" for each in (elo.mean, elo.low, elo.high))
    limits = f"{low} to {high}" if low and high else (low and f"above {low}") or (high and f"below {high}")
    return f"{mean} ({limits})" if mean and limits else mean or limits


def fault_in_words(fault: FoundFault) -> str:
    """Describe a fault without what the bot printed."""
    where = f"{fault.game}, block {fault.block}, rotation {fault.rotation}, seat {fault.seat}"
    return f"{fault.bot}: {in_words(fault.fault)} ({where})"


def points_in_words(strength: Strength) -> str:
    """Write `+4.2 a match (95 %: +1.0 to +7.4)`."""
    return trusted(f"{strength.points.mean:+.1f} a match", points_range(strength.points))


def trusted(mean: str, limits: str) -> str:
    """Write a mean with its interval, if there is one."""
    return f"{mean} (95 %: {limits})" if limits else mean


def points_range(points: Estimate) -> str:
    """Write `+1.0 to +7.4`."""
    return "" if points.low is None or points.high is None else f"{points.low:+.1f} to {points.high:+.1f}"


def share_range(share: Estimate) -> str:
    """Write `48.1 to 58.5 %`."""
    if share.low is None or share.high is None:
        return ""
    return f"{100 * share.low:.1f} to {percent(share.high)}"
