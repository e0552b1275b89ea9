"""The report of `stellwerk compare`, as one record. With `--json` it is one object."""

from __future__ import annotations

from msgspec import Struct

from stellwerk.compare.block import NEW, OLD, Comparison
from stellwerk.compare.evidence import Against, Evidence, Swing, Word, bounds
from stellwerk.lab.rows import Row
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_tournament.gate.sequential import LEVEL, Interval, Sample
from stellwerk_tournament.ratings.elo import elo_of


class Estimate(Struct, frozen=True):
    """A mean with its interval, which is valid at any time. Before the first look there is none."""

    mean: float
    low: float | None
    high: float | None


class EloEstimate(Struct, frozen=True):
    """The distance that leads one to expect a score, and those of its interval. A score of 0 or 1 has
    none."""

    mean: float | None
    low: float | None
    high: float | None


class Strength(Struct, frozen=True):
    """The new version against the old one: its score, which is the share of matches that it won, a tie
    counting a half, and how many points it has more in a match."""

    blocks: int
    score: Estimate
    points: Estimate


class PartOfPoints(Struct, frozen=True):
    """The means of a match for both versions, and their difference."""

    part: str
    old: float
    new: float
    difference: Estimate


class GameStrength(Struct, frozen=True):
    game: str
    players: int
    options: tuple[str, ...]
    strength: Strength | None


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


class CompareReport(Struct, frozen=True):
    """The output of `--json`. `matches` has a record for each seat of each match, as `stellwerk.run_matches`
    returns them."""

    verdict: Word
    exit_code: int
    old: str
    new: str
    others: tuple[str, ...]
    seed: str
    level: float
    margin: float
    most_blocks: int
    strength: Strength | None
    elo: EloEstimate | None
    games: tuple[GameStrength, ...]
    parts: tuple[PartOfPoints, ...]
    deals: tuple[Deal, ...]
    faults: tuple[str, ...]
    in_process: bool
    version: str
    matches: list[Row]


def report_of(
    comparison: Comparison, evidence: Evidence, verdict: Word, exit_code: int, most_blocks: int, version: str
) -> CompareReport:
    strength = strength_of(evidence.overall)
    games = zip(comparison.games, evidence.by_game, strict=True)
    return CompareReport(
        verdict=verdict,
        exit_code=exit_code,
        old=comparison.bots[OLD].name,
        new=comparison.bots[NEW].name,
        others=tuple(bot.name for bot in comparison.bots[2:]),
        seed=comparison.seed,
        level=LEVEL,
        margin=evidence.margin,
        most_blocks=most_blocks,
        strength=strength,
        elo=None if strength is None else _elo(strength.score),
        games=tuple(_game(game, against) for game, against in games),
        parts=tuple(
            PartOfPoints(part.key, round(part.old, 3), round(part.new, 3), _estimate(part.difference))
            for part in (evidence.parts() if evidence.blocks else ())
        ),
        deals=tuple(_deal(comparison.games[swing.block.game], swing) for swing in evidence.swings()),
        faults=tuple(fault for block in evidence.blocks for fault in block.faults),
        in_process=comparison.are_here,
        version=version,
        matches=[row for block in evidence.blocks for match in block.matches for row in match],
    )


def strength_of(against: Against) -> Strength | None:
    if not against.score.count:
        return None
    return Strength(against.score.count, _estimate(against.score, 0, 1), _estimate(against.points))


def _estimate(sample: Sample, low: float | None = None, high: float | None = None) -> Estimate:
    return _rounded(sample.mean, bounds(sample, low, high))


def _rounded(mean: float, interval: Interval | None) -> Estimate:
    if interval is None:
        return Estimate(round(mean, 4), None, None)
    return Estimate(round(mean, 4), round(interval.low, 4), round(interval.high, 4))


def _elo(score: Estimate) -> EloEstimate:
    mean, low, high = (
        None if each is None or (elo := elo_of(each)) is None else round(elo, 1)
        for each in (score.mean, score.low, score.high)
    )
    return EloEstimate(mean, low, high)


def _game(game: GameChoice, against: Against) -> GameStrength:
    return GameStrength(game.game_id, game.seat_count, game.options, strength_of(against))


def _deal(game: GameChoice, swing: Swing) -> Deal:
    replays = [rows[0]["replay"] for rows in swing.block.matches]
    return Deal(
        block=swing.block.number,
        game=game.game_id,
        players=game.seat_count,
        seed=swing.block.seed,
        difference=swing.points,
        points=swing.totals,
        replays=tuple(filter(None, replays)),
    )
