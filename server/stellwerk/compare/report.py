"""The report of `stellwerk compare`, as one record. With `--json` it is one object."""

from __future__ import annotations

from msgspec import UNSET, Struct

from stellwerk.compare.blocks import Blocks, Part, Swing, Word
from stellwerk.compare.deals import MATCHES, Comparison
from stellwerk.matches.report import MatchReport
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_processes.faults import in_words
from stellwerk_tournament.evidence.sequential import LEVEL, interval_at_any_time
from stellwerk_tournament.evidence.strength import (
    Estimate,
    GameStrength,
    Strength,
    estimate,
    game_strength,
    strength_of,
)


class PartOfPoints(Struct, frozen=True):
    """The means of a match for both versions, and their difference."""

    part: str
    old: float
    new: float
    difference: Estimate


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
    """The output of `--json`. `matches` has what `stellwerk play --json` has of each match. The blocks are of
    the `games` in turn."""

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
    games: tuple[GameStrength, ...]
    parts: tuple[PartOfPoints, ...]
    deals: tuple[Deal, ...]
    faults: tuple[str, ...]
    in_process: bool
    version: str
    matches: list[MatchReport]


def report_of(
    comparison: Comparison, blocks: Blocks, verdict: Word, exit_code: int, version: str
) -> CompareReport:
    plan, evidence = comparison.plan, blocks.evidence
    matches = [match for deal in blocks.deals for match in deal.matches]
    return CompareReport(
        verdict=verdict,
        exit_code=exit_code,
        old=blocks.old,
        new=blocks.new,
        others=tuple(bot.name for bot in plan.bots[2:]),
        seed=plan.seed,
        level=LEVEL,
        margin=blocks.margin,
        most_blocks=plan.game_count // MATCHES,
        strength=strength_of(evidence.overall, interval_at_any_time),
        games=tuple(
            game_strength(game, evidence.by_game.get(number), interval_at_any_time)
            for number, game in enumerate(plan.choices)
        ),
        parts=tuple(map(_part, blocks.parts() if blocks.deals else ())),
        deals=tuple(
            _deal(plan.choices[swing.deal.number % len(plan.choices)], swing, blocks)
            for swing in blocks.swings()
        ),
        faults=tuple(
            f"{seat.bot} in match {match.number}: {in_words(fault)}"
            for match in matches
            for seat in match.seats
            for fault in seat.faults
        ),
        in_process=comparison.is_house,
        version=version,
        matches=matches,
    )


def _part(part: Part) -> PartOfPoints:
    difference = estimate(part.difference, interval_at_any_time)
    return PartOfPoints(part.key, round(part.old, 3), round(part.new, 3), difference)


def _deal(game: GameChoice, swing: Swing, blocks: Blocks) -> Deal:
    matches = swing.deal.matches
    points = [{seat.bot: seat.points for seat in match.seats} for match in matches]
    return Deal(
        block=swing.deal.number,
        game=game.game_id,
        players=game.seat_count,
        seed=matches[0].seed,
        difference=swing.worth.points,
        points=tuple((each[blocks.new], each[blocks.old]) for each in points),
        replays=tuple(match.replay for match in matches if match.replay is not UNSET),
    )
