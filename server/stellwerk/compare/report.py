"""The report of `stellwerk compare`, as one record. With `--json` it is one object."""

from __future__ import annotations

from msgspec import Struct

from stellwerk.compare.blocks import Blocks, Deal, ScorePart, Word
from stellwerk.compare.deals import MATCHES, Comparison
from stellwerk.matches.report import MatchReport
from stellwerk.shared.bot_arguments import doctors_command
from stellwerk_tournament.evidence.sequential import LEVEL, interval_at_any_time
from stellwerk_tournament.evidence.strength import (
    FoundFault,
    GameStrength,
    Strength,
    faults_of,
    strength_of,
    strengths_of,
)
from stellwerk_tournament.evidence.worth import Measure


class CompareReport(Struct, frozen=True):
    """The output of `--json`. `matches` has what `stellwerk play --json` has of each match; if a bot broke
    and ended the comparison, its match is the last, and not in the strength. The blocks are of the `games` in
    turn. `faults` are the first of all bots, `faulty` is in how many matches a bot had any, and `doctors` has
    the command that examines such a bot. `by` is what decides, and `margin` is in its unit: a share of the
    matches, or points."""

    verdict: Word
    exit_code: int
    old: str
    new: str
    others: tuple[str, ...]
    seed: str
    level: float
    by: Measure
    margin: float
    most_blocks: int
    strength: Strength | None
    games: tuple[GameStrength, ...]
    parts: tuple[ScorePart, ...]
    deals: tuple[Deal, ...]
    faults: tuple[FoundFault, ...]
    faulty: dict[str, int]
    doctors: dict[str, str]
    in_process: bool
    version: str
    matches: list[MatchReport]


def report_of(
    comparison: Comparison, blocks: Blocks, verdict: Word, exit_code: int, version: str
) -> CompareReport:
    plan, evidence = comparison.plan, blocks.evidence
    games = strengths_of(plan.choices, evidence, interval_at_any_time)
    broken = [] if blocks.broken is None else [blocks.broken]
    return CompareReport(
        verdict=verdict,
        exit_code=exit_code,
        old=blocks.old,
        new=blocks.new,
        others=tuple(bot.name for bot in plan.bots[2:]),
        seed=plan.seed,
        level=LEVEL,
        by=blocks.by,
        margin=blocks.margin,
        most_blocks=plan.game_count // MATCHES,
        strength=strength_of(evidence.overall, interval_at_any_time),
        games=games,
        parts=tuple(blocks.parts()),
        deals=tuple(blocks.swings()),
        faults=faults_of(evidence, games),
        faulty=dict(evidence.faulty),
        doctors={
            bot.name: doctors_command(bot)
            for bot in plan.bots
            if evidence.faulty[bot.name] and not bot.built_in
        },
        in_process=comparison.is_house,
        version=version,
        matches=[match for deal in blocks.deals for match in deal.matches] + broken,
    )
