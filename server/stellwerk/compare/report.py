"""The report of `stellwerk compare`, as one record. With `--json` it is one object."""

from __future__ import annotations

from msgspec import Struct

from stellwerk.compare.block import NEW, OLD, Comparison
from stellwerk.compare.evidence import Evidence, Part, Swing, Word
from stellwerk.lab.rows import Row
from stellwerk_engine.games.game_choice import GameChoice
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
        strength=strength_of(evidence.overall, interval_at_any_time),
        games=tuple(
            game_strength(game, lead, interval_at_any_time)
            for game, lead in zip(comparison.games, evidence.by_game, strict=True)
        ),
        parts=tuple(map(_part, evidence.parts() if evidence.blocks else ())),
        deals=tuple(_deal(comparison.games[swing.block.game], swing) for swing in evidence.swings()),
        faults=tuple(fault for block in evidence.blocks for fault in block.faults),
        in_process=comparison.are_here,
        version=version,
        matches=[row for block in evidence.blocks for match in block.matches for row in match],
    )


def _part(part: Part) -> PartOfPoints:
    difference = estimate(part.difference, interval_at_any_time)
    return PartOfPoints(part.key, round(part.old, 3), round(part.new, 3), difference)


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
