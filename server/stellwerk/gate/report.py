"""The report of a gate, as one record, and the words for its parts. `output.py` writes it in each form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from stellwerk.shared.errors import DONE, FAILED, INFRASTRUCTURE, INTERRUPTED, UNDECIDED
from stellwerk_base.texts import shown
from stellwerk_kit.doctor.doctor import Failure, Finding
from stellwerk_processes.bench.levels import Isolation, Wanted
from stellwerk_tournament.evidence.sequential import interval, log_likelihood_ratio
from stellwerk_tournament.evidence.strength import (
    FoundFault,
    GameStrength,
    Strength,
    faults_of,
    strength_of,
    strengths_of,
)
from stellwerk_tournament.gate.gate import GateVerdict, Judge, Word

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


class Ratio(Struct, frozen=True):
    """The evidence of a sequential test: how much more likely `elo1` makes the scores than `elo0`."""

    log_likelihood_ratio: float
    fails_at: float
    passes_at: float


class BaselineScore(Struct, frozen=True):
    """The share of matches in which the candidate was ahead of it. `faulty` is in how many it was at fault
    itself."""

    name: str
    score: float | None
    faulty: int


class GateReport(Struct, frozen=True):
    """`faulty` is in how many matches the candidate was at fault; `faults` are the first of all bots."""

    verdict: Word
    exit_code: int
    reason: str
    candidate: str
    baselines: tuple[BaselineScore, ...]
    games: tuple[GameStrength, ...]
    test: Trial
    blocks: int
    matches: int
    void_blocks: tuple[str, ...]
    strength: Strength | None
    ratio: Ratio | None
    faulty: int
    faults: tuple[FoundFault, ...]
    doctor: tuple[Finding, ...] | None
    isolation: Isolation
    sandbox: Wanted
    seed: str | None
    version: str


def report_of(
    judge: Judge, verdict: GateVerdict, doctor: Sequence[Finding] | None, seed: str | None, version: str
) -> GateReport:
    evidence, lineup, rules = judge.evidence, judge.lineup, judge.rules
    settings, hypotheses = lineup.settings, rules.hypotheses
    games = strengths_of([variant.choice for variant in settings.variants], evidence, interval)
    return GateReport(
        verdict=verdict.word,
        exit_code=EXIT_CODES[verdict.word],
        reason=verdict.reason,
        candidate=lineup.candidate,
        baselines=tuple(_baseline(judge, name) for name in lineup.baselines),
        games=games,
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
        blocks=evidence.block_count,
        matches=evidence.match_count,
        void_blocks=tuple(judge.void),
        strength=strength_of(evidence.overall, interval),
        ratio=ratio_of(judge),
        faulty=evidence.faulty[lineup.candidate],
        faults=faults_of(evidence, games),
        doctor=None if doctor is None else tuple(doctor),
        isolation=settings.confinement.isolation,
        sandbox=settings.confinement.own_level,
        seed=seed,
        version=version,
    )


def _baseline(judge: Judge, name: str) -> BaselineScore:
    met = judge.evidence.by_rival.get(name)
    return BaselineScore(name, None if met is None else round(met.score, 4), judge.evidence.faulty[name])


def ratio_of(judge: Judge) -> Ratio | None:
    """Return what a sequential test made of the blocks. None for a test that looks once."""
    hypotheses, scores = judge.rules.hypotheses, judge.evidence.overall.wins
    if judge.rules.blocks is not None or not scores.count:
        return None
    ratio = log_likelihood_ratio(scores, hypotheses)
    return Ratio(round(ratio, 3), round(hypotheses.lower, 3), round(hypotheses.upper, 3))


# -- words -------------------------------------------------------------------------------------------


def ratio_in_words(ratio: Ratio) -> str:
    """Write `1.21 (passes at 2.94, fails at -2.94)`."""
    bounds = f"passes at {ratio.passes_at:.2f}, fails at {ratio.fails_at:.2f}"
    return f"{ratio.log_likelihood_ratio:.2f} ({bounds})"


def trial_in_words(test: Trial) -> str:
    kind = f"up to {test.most_blocks:,} blocks" if test.blocks is None else f"{test.blocks:,} blocks"
    return f"elo0 {test.elo0:g}, elo1 {test.elo1:g}, alpha {test.alpha:g}, beta {test.beta:g}; {kind}"


def doctor_in_words(findings: Sequence[Finding]) -> str:
    counts = {
        verdict: sum(each.verdict == verdict for each in findings) for verdict in ("ok", "warn", "FAIL")
    }
    return f"{counts['ok']} ok, {counts['warn']} with a warning, {counts['FAIL']} failed"


def step_in_words(finding: Finding, failure: Failure) -> str:
    """Describe a failed step on one line, clearly as a failure."""
    expected, came = shown(failure.expected, 300), shown(failure.came, 300)
    return f"the doctor's step '{finding.step}' failed: expected {expected}; came: {came}"


def failure_in_lines(finding: Finding, failure: Failure) -> list[str]:
    return [
        f"expected: {failure.expected}",
        f"came: {failure.came}",
        f"the law that it breaks: {finding.law}",
        *([f"| {line}" for line in failure.printed] or ["the bot has printed nothing"]),
    ]
