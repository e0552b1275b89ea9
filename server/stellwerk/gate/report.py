"""The report of a gate as a record, and the files that are made of it: JSON, JUnit, Markdown.

Law: what comes from a bot, a name or a line that it printed, is nothing but text in all of them.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, assert_never

import msgspec
from msgspec import Struct

from stellwerk.shared.errors import DONE, FAILED, INFRASTRUCTURE
from stellwerk_base.texts import shown
from stellwerk_kit.doctor.doctor import Failure, Finding
from stellwerk_processes.faults import Fault
from stellwerk_processes.sandbox.levels import Isolation, Wanted
from stellwerk_tournament.gate.gate import Found, Judge, Verdict, Word
from stellwerk_tournament.gate.sequential import interval, log_likelihood_ratio
from stellwerk_tournament.ratings.elo import elo_of
from stellwerk_tournament.report.junit import LONGEST_LINE, Case, Mark, Suite, junit_xml

UNDECIDED: Final = 3
INTERRUPTED: Final = 130
EXIT_CODES: Final[dict[Word, int]] = {
    "passed": DONE,
    "failed": FAILED,
    "undecided": UNDECIDED,
    "infrastructure": INFRASTRUCTURE,
    "interrupted": INTERRUPTED,
}


class Trial(Struct, frozen=True):
    """`blocks` is their number if it was fixed beforehand. Blocks are played in rounds of `round`. In
    `faults` matches the candidate may be at fault."""

    elo0: float
    elo1: float
    alpha: float
    beta: float
    blocks: int | None
    most_blocks: int
    round: int
    faults: int


class Strength(Struct, frozen=True):
    """The candidate's mean score in a block, with its 95 % interval where there is one, and what the
    test made of it."""

    score: float
    low: float | None
    high: float | None
    elo: float | None
    elo_low: float | None
    elo_high: float | None
    log_likelihood_ratio: float
    fails_at: float
    passes_at: float


class GameScore(Struct, frozen=True):
    game: str
    players: int
    options: tuple[str, ...]
    blocks: int
    score: float | None


class BaselineScore(Struct, frozen=True):
    """The share of matches in which the candidate was ahead of it. `faulty` is in how many it was at fault
    itself."""

    name: str
    score: float | None
    faulty: int


class FoundFault(Struct, frozen=True):
    bot: str
    game: str
    block: int
    rotation: int
    seat: int
    fault: Fault


class GateReport(Struct, frozen=True):
    """`faulty` is in how many matches the candidate was at fault; `faults` are the first of all bots."""

    verdict: Word
    exit_code: int
    reason: str
    candidate: str
    baselines: tuple[BaselineScore, ...]
    games: tuple[GameScore, ...]
    test: Trial
    blocks: int
    matches: int
    void_blocks: tuple[str, ...]
    strength: Strength | None
    faulty: int
    faults: tuple[FoundFault, ...]
    doctor: tuple[Finding, ...] | None
    isolation: Isolation
    sandbox: Wanted
    seed: str | None
    version: str


def report_of(
    judge: Judge,
    verdict: Verdict,
    doctor: Sequence[Finding] | None,
    seed: str | None,
    version: str,
) -> GateReport:
    tally, lineup, rules = judge.tally, judge.lineup, judge.rules
    settings, hypotheses = lineup.settings, rules.hypotheses
    return GateReport(
        verdict=verdict.word,
        exit_code=EXIT_CODES[verdict.word],
        reason=verdict.reason,
        candidate=lineup.candidate,
        baselines=tuple(_baseline(judge, name) for name in lineup.baselines),
        games=tuple(_game(judge, number) for number in range(len(settings.variants))),
        test=Trial(
            elo0=hypotheses.elo0,
            elo1=hypotheses.elo1,
            alpha=hypotheses.alpha,
            beta=hypotheses.beta,
            blocks=None if rules.blocks is None else lineup.rounds * lineup.round_size,
            most_blocks=lineup.rounds * lineup.round_size,
            round=lineup.round_size,
            faults=rules.faults,
        ),
        blocks=tally.blocks.count,
        matches=tally.matches,
        void_blocks=tuple(tally.void),
        strength=strength_of(judge),
        faulty=tally.faulty[lineup.candidate],
        faults=tuple(_found(judge, found) for found in tally.found),
        doctor=None if doctor is None else tuple(doctor),
        isolation=settings.confinement.isolation,
        sandbox=settings.confinement.level,
        seed=seed,
        version=version,
    )


def strength_of(judge: Judge) -> Strength | None:
    """Compute the candidate's strength. None before the first block."""
    sample, hypotheses = judge.tally.blocks, judge.rules.hypotheses
    if not sample.count:
        return None
    around = interval(sample)
    low, high = (None, None) if around is None else (around.low, around.high)
    return Strength(
        score=round(sample.mean, 4),
        low=_rounded(low, 4),
        high=_rounded(high, 4),
        elo=_elo(sample.mean),
        elo_low=_elo(low),
        elo_high=_elo(high),
        log_likelihood_ratio=round(log_likelihood_ratio(sample, hypotheses), 3),
        fails_at=round(hypotheses.lower, 3),
        passes_at=round(hypotheses.upper, 3),
    )


def strength_in_words(strength: Strength) -> str:
    """Write `score 53.3 % (95 %: 48.1 to 58.5 %), Elo +23 (-13 to +60)`."""
    text = f"score {percent(strength.score)}"
    if strength.low is not None and strength.high is not None:
        text += f" (95 %: {100 * strength.low:.1f} to {percent(strength.high)})"
    if strength.elo is not None:
        text += f", Elo {strength.elo:+.0f}"
        if strength.elo_low is not None and strength.elo_high is not None:
            text += f" ({strength.elo_low:+.0f} to {strength.elo_high:+.0f})"
    return text


def evidence_in_words(strength: Strength) -> str:
    """Write `1.21 (passes at 2.94, fails at -2.94)`."""
    bounds = f"passes at {strength.passes_at:.2f}, fails at {strength.fails_at:.2f}"
    return f"{strength.log_likelihood_ratio:.2f} ({bounds})"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def trial_in_words(test: Trial) -> str:
    kind = f"up to {test.most_blocks:,} blocks" if test.blocks is None else f"{test.blocks:,} blocks"
    return f"elo0 {test.elo0:g}, elo1 {test.elo1:g}, alpha {test.alpha:g}, beta {test.beta:g}; {kind}"


def game_in_words(game: GameScore) -> str:
    return ", ".join([f"{game.game} of {game.players}", *game.options])


def fault_in_words(fault: FoundFault) -> str:
    """Describe a fault without what the bot printed."""
    where = f"{fault.game}, block {fault.block}, rotation {fault.rotation}, seat {fault.seat}"
    return f"{fault.bot}: {fault.fault.kind.replace('_', ' ')}, {fault.fault.detail} ({where})"


def doctor_in_words(findings: Sequence[Finding]) -> str:
    counts = {
        verdict: sum(each.verdict == verdict for each in findings) for verdict in ("ok", "warn", "FAIL")
    }
    return f"{counts['ok']} ok, {counts['warn']} with a warning, {counts['FAIL']} failed"


def step_in_words(finding: Finding, failure: Failure) -> str:
    """Describe a failed step on one line that nobody can mistake for a success."""
    expected, came = shown(failure.expected, 300), shown(failure.came, 300)
    return f"the doctor's step '{finding.step}' failed: expected {expected}; came: {came}"


def failure_in_lines(finding: Finding, failure: Failure) -> list[str]:
    return [
        f"expected: {failure.expected}",
        f"came: {failure.came}",
        f"the law that it breaks: {finding.law}",
        *([f"| {line}" for line in failure.printed] or ["the bot has printed nothing"]),
    ]


def _baseline(judge: Judge, name: str) -> BaselineScore:
    met = judge.tally.by_baseline.get(name)
    return BaselineScore(name, None if met is None else round(met.mean, 4), judge.tally.faulty[name])


def _game(judge: Judge, number: int) -> GameScore:
    choice = judge.lineup.settings.variants[number].choice
    played = judge.tally.by_variant.get(number)
    return GameScore(
        game=choice.game_id,
        players=choice.seat_count,
        options=choice.options,
        blocks=0 if played is None else played.count,
        score=None if played is None else round(played.mean, 4),
    )


def _found(judge: Judge, fault: Found) -> FoundFault:
    game = game_in_words(_game(judge, fault.variant))
    return FoundFault(fault.bot, game, fault.block, fault.rotation, fault.seat, fault.fault)


def _elo(score: float | None) -> float | None:
    return None if score is None else _rounded(elo_of(score), 1)


def _rounded(number: float | None, digits: int) -> float | None:
    return None if number is None else round(number, digits)


# -- JSON --------------------------------------------------------------------------------------------


def json_of(report: GateReport) -> bytes:
    """Write the report as JSON in ASCII, which every program reads."""
    return json.dumps(msgspec.to_builtins(report), indent=2).encode() + b"\n"


# -- JUnit -------------------------------------------------------------------------------------------


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
        mark = Mark(
            "failure",
            step_in_words(finding, finding.failure),
            "doctor",
            failure_in_lines(finding, finding.failure),
        )
    output = () if finding.warning is None else (finding.warning,)
    return Case(finding.step, finding.seconds, mark, output)


def _conduct_case(report: GateReport, game: GameScore) -> Case:
    """Make the case of a game, which passes in spite of faults as long as they are allowed."""
    name = game_in_words(game)
    faults = [each for each in report.faults if each.bot == report.candidate and each.game == name]
    lines = list(_lines_of(faults))
    if not faults or report.faulty <= report.test.faults:
        return Case(name, output=lines)
    first = faults[0]
    return Case(name, mark=Mark("failure", fault_in_words(first), first.fault.kind, lines))


def _verdict_case(report: GateReport) -> Case:
    lines = list(_summary(report))
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
    return Case(f"strength of {report.candidate}", mark=mark)


def _lines_of(faults: Iterable[FoundFault]) -> Iterator[str]:
    for fault in faults:
        yield fault_in_words(fault)
        yield from (f"| {line}" for line in fault.fault.last_lines)


def _summary(report: GateReport) -> Iterator[str]:
    if report.strength is not None:
        yield strength_in_words(report.strength)
        if report.test.blocks is None:
            yield f"evidence {evidence_in_words(report.strength)}"
    yield f"{report.blocks} blocks, {report.matches} matches; {trial_in_words(report.test)}"


# -- Markdown ----------------------------------------------------------------------------------------

_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]()#+!|~@-])")


def markdown_of(report: GateReport) -> bytes:
    return ("\n".join(_markdown(report)) + "\n").encode()


def _markdown(report: GateReport) -> Iterator[str]:
    yield f"## Stellwerk gate: {report.verdict}"
    yield ""
    yield f"**{_plain(report.candidate)}**: {_plain(report.reason)}."
    yield ""
    if report.strength is not None:
        yield from _row("", "", head=True)
        yield from _row("strength", strength_in_words(report.strength))
        if report.test.blocks is None:
            yield from _row("evidence", evidence_in_words(report.strength))
        yield from _row("blocks", f"{report.blocks:,}, of {report.matches:,} matches")
        for baseline in report.baselines:
            if baseline.score is not None:
                yield from _row(f"ahead of {baseline.name}", percent(baseline.score))
        for game in report.games:
            if game.score is not None:
                yield from _row(game_in_words(game), f"{percent(game.score)} in {game.blocks:,} blocks")
        yield from _row("test", trial_in_words(report.test))
        yield from _row("isolation", report.isolation)
        yield from _row("sandbox", report.sandbox)
        yield ""
    for cause in report.void_blocks[:3]:
        yield from _fenced([f"void, through no bot's fault: {cause}"])
    if report.doctor is not None:
        yield f"The doctor: {doctor_in_words(report.doctor)}."
        yield ""
        for finding in report.doctor:
            if finding.failure is not None:
                yield from _fenced([f"failed: {finding.step}", *failure_in_lines(finding, finding.failure)])
            elif finding.warning is not None:
                yield from _fenced([f"warning in step {finding.step}: {finding.warning}"])
    for name, count in _faulty(report):
        if count:
            yield f"{_plain(name)} was at fault in {count:,} of {report.matches:,} matches, first so:"
            yield ""
            yield from _fenced(list(_lines_of([each for each in report.faults if each.bot == name][:5])))


def _faulty(report: GateReport) -> Iterator[tuple[str, int]]:
    yield report.candidate, report.faulty
    yield from ((baseline.name, baseline.faulty) for baseline in report.baselines)


def _row(name: str, value: str, *, head: bool = False) -> Iterator[str]:
    yield f"| {_plain(name)} | {_plain(value)} |"
    if head:
        yield "|---|---|"


def _plain(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", html.escape(shown(text, LONGEST_LINE), quote=False))


def _fenced(lines: Sequence[str]) -> Iterator[str]:
    """Put lines into a fence of Markdown.

    Each line must begin with something of ours, so that none can close the fence.
    """
    yield from ("```text", *(shown(line, LONGEST_LINE) for line in lines), "```", "")
