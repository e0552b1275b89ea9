"""The report of a comparison, for people.

Law: a difference is never shown without how far it can be trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from stellwerk.compare.blocks import BONUS, Deal, ScorePart
from stellwerk.compare.report import CompareReport
from stellwerk_base.texts import aligned, counted, shown
from stellwerk_processes.faults import evidence_of
from stellwerk_tournament.evidence.strength import (
    GAMES,
    Strength,
    certain_lead,
    deals_in_words,
    fault_in_words,
    game_row,
    points_in_words,
    points_range,
    score_in_words,
)
from stellwerk_tournament.evidence.worth import Measure
from stellwerk_tournament.report.junit import Case, Mark, Suite, junit_xml

_LABELS: Final = {
    "points": "points",
    "routes": "  routes",
    "tickets_completed": "  tickets completed",
    "tickets_failed": "  tickets failed",
    "completed_count": "number completed",
    "failed_count": "number failed",
    "longest_path": "longest path",
    "unused_cards": "cards unused",
    "answer_ms": "ms for an answer",
    "slowest_ms": "ms for the slowest",
}


_VERBS: Final[dict[Measure, dict[int, str]]] = {
    "wins": {1: "wins more often", -1: "wins less often"},
    "points": {1: "gets more points", -1: "gets fewer points"},
}
_KNOWN: Final[dict[Measure, str]] = {"wins": "win more often", "points": "get more points"}


def lines_of(report: CompareReport) -> Iterator[str]:
    yield from verdict_in_words(report)
    if report.strength is not None:
        yield ""
        few = "; too few deals for an interval" if report.strength.score.low is None else ""
        yield f"score   {score_in_words(report.strength)}{few}"
        yield f"points  {points_in_words(report.strength)}"
        if report.verdict != "broken":
            yield from _explanation(report)
    yield from _faults(report)


def _explanation(report: CompareReport) -> Iterator[str]:
    """Write where the points come from, and which deals to look at."""
    for line in deals_in_words(report.games):
        yield f"deals   {line}"
    if len(report.games) > 1:
        yield ""
        yield from aligned([GAMES, *map(game_row, report.games)], left={0})
    yield ""
    head = ("a match", shown(report.old), shown(report.new), "difference", "95 %")
    yield from aligned([head, *map(_part_row, report.parts)], left={0})
    yield from _deals(report)


def verdict_in_words(report: CompareReport) -> Iterator[str]:
    """Write `better: planner wins more often than greedy (34 deals, each played twice)`, and what the other
    measure says where it is certain of something else."""
    new, old = shown(report.new), shown(report.old)
    blocks = 0 if report.strength is None else report.strength.blocks
    near = f"{100 * report.margin:g} % of the matches" if report.by == "wins" else f"{report.margin:g} points"
    better = "is better" if report.by == "wins" else _VERBS["points"][1]
    said = {
        "better": f"better: {new} {_VERBS[report.by][1]} than {old}",
        "worse": f"worse: {new} {_VERBS[report.by][-1]} than {old}",
        "alike": f"alike: {new} and {old} differ by at most {near}",
        "undecided": f"undecided: nothing shows yet which of {new} and {old} {better}",
        "broken": "broken: a bot failed, which ends a comparison without --keep-going",
    }
    yield f"{said[report.verdict]} ({counted(blocks, 'deal')}, each played twice)"
    if report.strength is not None:
        yield from _other_measure(report, report.strength)


def _other_measure(report: CompareReport, strength: Strength) -> Iterator[str]:
    """Say that a version leads by the other measure, if it is not known to lead by the one that decides."""
    other: Measure = "points" if report.by == "wins" else "wins"
    lead, decided = certain_lead(strength, other), certain_lead(strength, report.by)
    if lead and lead != decided:
        new, old = shown(report.new), shown(report.old)
        ahead, behind = (new, old) if lead > 0 else (old, new)
        though = f"it {_VERBS[report.by][-1]}" if decided else f"it is not known to {_KNOWN[report.by]}"
        yield f"{ahead} {_VERBS[other][1]} than {behind}, though {though}"


def progress_in_words(most: int, new: str, strength: Strength | None) -> str:
    if strength is None:
        return ""
    return (
        f"{strength.blocks:,} of at most {most:,} deals: {shown(new)} scores {score_in_words(strength)}, "
        f"{strength.points.mean:+.1f} points"
    )


def _part_row(part: ScorePart) -> Sequence[str]:
    label = _LABELS.get(part.part) or f"  {part.part.removeprefix(BONUS).replace('_', ' ')}"
    return (
        label,
        f"{part.old:.1f}",
        f"{part.new:.1f}",
        f"{part.difference.mean:+.1f}",
        points_range(part.difference),
    )


def junit_of(report: CompareReport) -> bytes:
    """Write one case, which passes if the new version is better."""
    lines = list(lines_of(report))
    mark = None if report.exit_code == 0 else Mark("failure", lines[0], report.verdict, lines)
    case = Case(f"{report.new} better than {report.old} by {report.by}", 0.0, mark, () if mark else lines)
    return junit_xml("stellwerk compare", [Suite("verdict", "stellwerk.compare", [case])])


def _deals(report: CompareReport) -> Iterator[str]:
    if not report.deals:
        return
    yield ""
    yield f"deals to look at (points of {shown(report.new)}:{shown(report.old)} in the two matches)"
    lines = aligned([_deal_row(deal) for deal in report.deals], left={2, 3})
    for deal, line in zip(report.deals, lines, strict=True):
        yield f"  {line}"
        yield from (f"        {shown(replay, 1000)}" for replay in deal.replays)
    yield ""
    if any(deal.replays for deal in report.deals):
        yield "next: stellwerk replay show FILE, or stellwerk replay page FILE"
    else:
        yield "to look at them, keep the replays: --replays FOLDER, with the same --seed"


def _deal_row(deal: Deal) -> Sequence[str]:
    totals = "  ".join(f"{new}:{old}" for new, old in deal.points)
    return (f"{deal.block}", f"{deal.difference:+.1f}", totals, f"{deal.game} of {deal.players}")


def _faults(report: CompareReport) -> Iterator[str]:
    """Write for each bot the first fault of each kind, with all that helps to find its cause, and how often
    it was at fault."""
    matches = counted(len(report.matches), "match", "matches")
    for bot, count in report.faulty.items():
        yield ""
        of_kind = {each.fault.kind: each for each in reversed(report.faults) if each.bot == bot}
        for found in reversed(of_kind.values()):
            yield shown(fault_in_words(found), 1000)
            yield from (f"    {line}" for line in evidence_of(found.fault))
        yield f"{shown(bot)} was at fault in {count:,} of {matches}"
        if bot in report.doctors:
            yield f"more on {shown(bot)}: {shown(report.doctors[bot], 1000)}"
