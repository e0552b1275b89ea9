"""The report of `stellwerk gate` in each form: for people, as Markdown, JUnit, JSON and annotations.

Law: what comes from a bot, a name or a line that it printed, is nothing but text in all of them.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, assert_never

import msgspec

from stellwerk.gate.github import MOST_ANNOTATIONS, Kind, annotation
from stellwerk.gate.report import (
    GateReport,
    doctor_in_words,
    failure_in_lines,
    ratio_in_words,
    ratio_of,
    step_in_words,
    trial_in_words,
)
from stellwerk_base.texts import aligned, counted, percent, shown
from stellwerk_kit.doctor.doctor import Finding
from stellwerk_processes.faults import evidence_of
from stellwerk_tournament.evidence.sequential import interval
from stellwerk_tournament.evidence.strength import (
    FoundFault,
    GameStrength,
    deals_in_words,
    fault_in_words,
    points_in_words,
    score_in_words,
    strength_of,
)
from stellwerk_tournament.gate.gate import Judge, Word
from stellwerk_tournament.report.junit import LONGEST_LINE, Case, Mark, Suite, junit_xml

TITLE: Final = "Stellwerk gate"
FAULTS_SHOWN: Final = 5  # of each bot
VOID_SHOWN: Final = 3
_KINDS: Final[dict[Word, Kind]] = {"passed": "notice", "failed": "error"}
"""Whatever else happens is an error, too."""


def progress_of(judge: Judge) -> str:
    """Write the score and the evidence so far, on one line."""
    strength, ratio = strength_of(judge.evidence.overall, interval), ratio_of(judge)
    if strength is None:
        return "no block is complete yet"
    text = f"{counted(strength.blocks, 'block')}: score {score_in_words(strength)}"
    return text if ratio is None else f"{text}; evidence {ratio_in_words(ratio)}"


class _Details(NamedTuple):
    """Lines below a heading. Names and what a bot printed are in both."""

    heading: str
    lines: list[str]


def _rows(report: GateReport) -> Iterator[tuple[str, str]]:
    """Yield the figures of a report, each with its name."""
    yield "candidate", report.candidate
    yield "baselines", ", ".join(baseline.name for baseline in report.baselines)
    yield "games", "; ".join(game.title for game in report.games)
    yield "test", trial_in_words(report.test)
    yield "seed", "drawn" if report.seed is None else report.seed
    yield "isolation", report.isolation
    yield "sandbox", report.sandbox
    if report.doctor is not None:
        yield "doctor", doctor_in_words(report.doctor)
    if report.strength is None:
        return
    yield "blocks", f"{report.blocks:,}, of {counted(report.matches, 'match', 'matches')}"
    yield "score", score_in_words(report.strength)
    yield "points", points_in_words(report.strength)
    for line in deals_in_words(report.games):
        yield "deals", line
    if report.ratio is not None:
        yield "evidence", ratio_in_words(report.ratio)
    for baseline in report.baselines:
        if baseline.score is not None and len(report.baselines) > 1:
            yield f"ahead of {baseline.name}", percent(baseline.score)
    for game in report.games:
        if game.strength is not None and len(report.games) > 1:
            blocks = counted(game.strength.blocks, "block")
            yield game.title, f"{score_in_words(game.strength)}, {blocks}"


def _details_of_matches(report: GateReport) -> Iterator[_Details]:
    if report.void_blocks:
        yield _Details("blocks are void, through no bot's fault", list(report.void_blocks[:VOID_SHOWN]))
    counts = [(report.candidate, report.faulty), *((each.name, each.faulty) for each in report.baselines)]
    for name, count in counts:
        if count:
            faults = [each for each in report.faults if each.bot == name][:FAULTS_SHOWN]
            matches = counted(report.matches, "match", "matches")
            yield _Details(f"{name} was at fault in {count:,} of {matches}", list(_lines_of(faults)))


def details_of_step(finding: Finding) -> _Details | None:
    """Describe a step that failed or could be better. A step that passed has no details."""
    if finding.failure is not None:
        return _Details(
            f"the doctor's step '{finding.step}' failed", failure_in_lines(finding, finding.failure)
        )
    if finding.warning is not None:
        return _Details(f"the doctor's step '{finding.step}' has a warning", [finding.warning])
    return None


def _lines_of(faults: Iterable[FoundFault]) -> Iterator[str]:
    for fault in faults:
        yield fault_in_words(fault)
        yield from evidence_of(fault.fault)


# -- for people --------------------------------------------------------------------------------------


def text_of_details(details: _Details) -> Iterator[str]:
    yield shown(details.heading, LONGEST_LINE)
    yield from (f"  {shown(line, LONGEST_LINE)}" for line in details.lines)


def lines_of(report: GateReport) -> Iterator[str]:
    rows = [(shown(name, LONGEST_LINE), shown(value, LONGEST_LINE)) for name, value in _rows(report)]
    yield from aligned(rows, left={0, 1})
    for details in _details_of_matches(report):
        yield from text_of_details(details)
    yield ""
    yield f"{report.verdict}: {report.reason}"


_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]()#+!|~@-])")


def markdown_of(report: GateReport) -> bytes:
    return ("\n".join(_markdown(report)) + "\n").encode()


def _markdown(report: GateReport) -> Iterator[str]:
    yield f"## {TITLE}: {report.verdict}"
    yield ""
    yield f"**{_plain(report.candidate)}**: {_plain(report.reason)}."
    yield ""
    yield from ("|  |  |", "|---|---|")
    yield from (f"| {_plain(name)} | {_plain(value)} |" for name, value in _rows(report))
    yield ""
    steps = filter(None, map(details_of_step, report.doctor or ()))
    for details in (*steps, *_details_of_matches(report)):
        yield f"{_plain(details.heading)}:"
        yield ""
        yield from _fenced(details.lines)


def _plain(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", html.escape(shown(text, LONGEST_LINE), quote=False))


def _fenced(lines: Sequence[str]) -> Iterator[str]:
    """Put lines into a fence of Markdown. None can close it, because all begin with four spaces."""
    yield from ("```text", *(f"    {shown(line, LONGEST_LINE)}" for line in lines), "```", "")


# -- for programs ------------------------------------------------------------------------------------


def annotations_of(report: GateReport) -> Iterator[str]:
    """Write as many annotations as GitHub shows, the verdict first."""
    kind = _KINDS.get(report.verdict, "error")
    strength = () if report.strength is None else (f"score {score_in_words(report.strength)}",)
    yield annotation(kind, f"{TITLE}: {report.verdict}", [report.reason, *strength])
    left = {"error": MOST_ANNOTATIONS - (kind == "error"), "warning": MOST_ANNOTATIONS}
    for kind, title, lines in _annotated(report):
        if left[kind]:
            left[kind] -= 1
            yield annotation(kind, f"{TITLE}: {title}", lines)


def _annotated(report: GateReport) -> Iterator[tuple[Kind, str, list[str]]]:
    for finding in report.doctor or ():
        details = details_of_step(finding)
        if details is not None:
            yield "warning" if finding.failure is None else "error", details.heading, details.lines
    for found in report.faults:
        kind: Kind = "error" if found.bot == report.candidate else "warning"
        yield kind, found.fault.kind.replace("_", " "), list(_lines_of([found]))


def json_of(report: GateReport) -> bytes:
    """Write the report as JSON in ASCII, which every program reads."""
    return json.dumps(msgspec.to_builtins(report), indent=2).encode() + b"\n"


def junit_of(report: GateReport) -> bytes:
    """Write three suites: the doctor's steps, the candidate's conduct in each game, and the verdict."""
    doctor = [] if report.doctor is None else [_suite("doctor", map(_step_case, report.doctor))]
    games = [_conduct_case(report, game) for game in report.games] if report.matches else []
    return junit_xml(
        "stellwerk gate", [*doctor, _suite("conduct", games), _suite("verdict", [_verdict_case(report)])]
    )


def _suite(name: str, cases: Iterable[Case]) -> Suite:
    return Suite(name, f"stellwerk.gate.{name}", list(cases))


def _step_case(finding: Finding) -> Case:
    mark = None
    if finding.failure is not None:
        lines = failure_in_lines(finding, finding.failure)
        mark = Mark("failure", step_in_words(finding, finding.failure), "doctor", lines)
    output = () if finding.warning is None else (finding.warning,)
    return Case(finding.step, finding.seconds, mark, output)


def _conduct_case(report: GateReport, game: GameStrength) -> Case:
    """Make the case of a game, which passes in spite of faults as long as they are allowed."""
    faults = [each for each in report.faults if each.bot == report.candidate and each.game == game.title]
    lines = list(_lines_of(faults))
    if not faults or report.faulty <= report.test.faults:
        return Case(game.title, output=lines)
    first = faults[0]
    return Case(game.title, mark=Mark("failure", fault_in_words(first), first.fault.kind, lines))


def _verdict_case(report: GateReport) -> Case:
    lines = [f"{name}: {value}" for name, value in _rows(report)]
    mark: Mark | None
    match report.verdict:
        case "passed":
            mark = None
        case "failed" | "undecided":
            mark = Mark("failure", report.reason, report.verdict, lines)
        case "infrastructure" | "interrupted":
            mark = Mark("error", report.reason, report.verdict, lines)
        case _:
            assert_never(report.verdict)
    return Case(f"strength of {report.candidate}", mark=mark, output=() if mark else lines)
