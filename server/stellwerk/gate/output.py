"""The output of `stellwerk gate`: for people, and as annotations for GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator

from stellwerk.gate.github import MOST_ANNOTATIONS, Kind, annotation
from stellwerk.gate.report import (
    GateReport,
    doctor_in_words,
    evidence_in_words,
    failure_in_lines,
    fault_in_words,
    game_in_words,
    percent,
    strength_in_words,
    strength_of,
    trial_in_words,
)
from stellwerk_base.texts import counted, shown
from stellwerk_kit.doctor.doctor import Finding
from stellwerk_tournament.gate.gate import Judge, Word

TITLE = "Stellwerk gate"
FAULTS_SHOWN = 5  # of each bot
_KINDS: dict[Word, Kind] = {"passed": "notice", "failed": "error"}  # whatever else happens is an error, too


def progress_of(judge: Judge) -> str:
    """Write the score, Elo and evidence so far, on one line."""
    strength = strength_of(judge)
    count = judge.tally.blocks.count
    if strength is None:
        return "no block is complete yet"
    text = f"{counted(count, 'block')}: {strength_in_words(strength)}"
    if judge.rules.blocks is not None:
        return text
    return f"{text}; evidence {evidence_in_words(strength)}"


def lines_of_finding(finding: Finding) -> Iterator[str]:
    """Describe a step that failed or could be better. A step that passed has no lines."""
    if finding.failure is not None:
        yield f"FAIL  {finding.step}"
        yield from (f"      {shown(line, 2000)}" for line in failure_in_lines(finding, finding.failure))
    elif finding.warning is not None:
        yield f"warn  {finding.step}: {shown(finding.warning, 2000)}"


def lines_of(report: GateReport) -> Iterator[str]:
    rows = {
        "candidate": report.candidate,
        "baselines": ", ".join(baseline.name for baseline in report.baselines),
        "games": "; ".join(map(game_in_words, report.games)),
        "test": trial_in_words(report.test),
        "seed": "drawn" if report.seed is None else shown(report.seed, 200),
        "isolation": report.isolation,
        "sandbox": report.sandbox,
    }
    if report.doctor is not None:
        rows["doctor"] = doctor_in_words(report.doctor)
    if report.strength is not None:
        rows["blocks"] = f"{report.blocks:,}, of {counted(report.matches, 'match', 'matches')}"
        rows["strength"] = strength_in_words(report.strength)
        if report.test.blocks is None:
            rows["evidence"] = evidence_in_words(report.strength)
    yield from (f"{name:13} {value}" for name, value in rows.items())
    for baseline in report.baselines:
        if baseline.score is not None and len(report.baselines) > 1:
            yield f"  ahead of {baseline.name} in {percent(baseline.score)}"
    for game in report.games:
        if game.score is not None and len(report.games) > 1:
            yield f"  {game_in_words(game)}: {percent(game.score)} in {counted(game.blocks, 'block')}"
    for cause in report.void_blocks:
        yield f"a block is void, through no bot's fault: {shown(cause, 2000)}"
    for name, count in _faulty(report):
        yield f"{name} was at fault in {count:,} of {counted(report.matches, 'match', 'matches')}"
        for each_fault in [each for each in report.faults if each.bot == name][:FAULTS_SHOWN]:
            yield f"  {fault_in_words(each_fault)}"
            yield from (f"    | {shown(line, 2000)}" for line in each_fault.fault.last_lines)
    yield ""
    yield f"{report.verdict}: {report.reason}"


def annotations_of(report: GateReport) -> Iterator[str]:
    """Write as many annotations as GitHub shows, the verdict first."""
    kind = _KINDS.get(report.verdict, "error")
    strength = () if report.strength is None else (strength_in_words(report.strength),)
    yield annotation(kind, f"{TITLE}: {report.verdict}", [report.reason, *strength])
    errors, warnings = int(kind == "error"), 0
    for finding in report.doctor or ():
        if finding.failure is not None:
            errors += 1
            lines = failure_in_lines(finding, finding.failure)
            yield annotation("error", f"{TITLE}: the doctor's step '{finding.step}' failed", lines)
        elif finding.warning is not None and warnings < MOST_ANNOTATIONS:
            warnings += 1
            yield annotation("warning", f"{TITLE}: the doctor's step '{finding.step}'", [finding.warning])
    for each_fault in report.faults:
        is_candidates = each_fault.bot == report.candidate
        if (errors if is_candidates else warnings) < MOST_ANNOTATIONS:
            errors, warnings = errors + is_candidates, warnings + (not is_candidates)
            title = f"{TITLE}: {each_fault.fault.kind.replace('_', ' ')}"
            lines = [fault_in_words(each_fault), *(f"| {line}" for line in each_fault.fault.last_lines)]
            yield annotation("error" if is_candidates else "warning", title, lines)


def _faulty(report: GateReport) -> Iterator[tuple[str, int]]:
    counts = [(report.candidate, report.faulty), *((each.name, each.faulty) for each in report.baselines)]
    yield from ((name, count) for name, count in counts if count)
