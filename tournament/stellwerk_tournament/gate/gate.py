"""A gate: one candidate against baselines, until it is known whether it may pass.

The matches are those of a gauntlet, played by the tournament's runner; the verdict is made here.

Laws:
- blocks count in the order of their numbers, not in that in which they end: else what ends fast, a rout say,
  would be looked at first. So the verdict does not depend on how many matches are played at once;
- the test looks when every game and every baseline has had its part, which makes a round;
- what the machine did is nobody's score: void blocks are left out;
- a candidate does not pass because its baselines were broken.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol, TypeAlias

import trio

from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_processes.bot_process import Confinement
from stellwerk_processes.bot_spec import BotSpec, with_unique_names
from stellwerk_processes.faults import Fault
from stellwerk_processes.started_match import play_match
from stellwerk_server.operate.settings import Time
from stellwerk_tournament.config.settings import Entrant, Settings, Variant
from stellwerk_tournament.gate.sequential import (
    FEWEST_BLOCKS,
    FEWEST_FIXED,
    Hypotheses,
    Sample,
    look,
    look_once,
)
from stellwerk_tournament.play.matches_here import Execute
from stellwerk_tournament.play.progress import BlockEnded, Ended, Progress, RunningMatch, Suspended
from stellwerk_tournament.play.runner import play_tournament
from stellwerk_tournament.schedule.schedule import blocks_of_round, plan_of
from stellwerk_tournament.store.match_line import MatchLine, scores_of
from stellwerk_tournament.store.store import Opened

Word: TypeAlias = Literal["passed", "failed", "undecided", "infrastructure", "interrupted"]

MOST_BASELINE_FAULTS: Final = 0.05  # of the matches; beyond, a candidate does not pass
FAULTS_KEPT: Final = 20  # with what the bots printed; the others are only counted


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` is one line."""

    word: Word
    reason: str


@dataclass(frozen=True, slots=True)
class Rules:
    """How it is judged. `blocks` is their number if that is fixed beforehand, else at most `most_blocks` are
    played. `faults` is in how many matches something may be wrong with the candidate."""

    hypotheses: Hypotheses
    blocks: int | None
    most_blocks: int
    faults: int


@dataclass(frozen=True, slots=True)
class Lineup:
    """The bots and their games. `settings` has as many copies of the baselines as the largest table needs;
    `bot_of` says what each entrant is a copy of. `rounds` is how many there will be at most."""

    candidate: str
    baselines: tuple[str, ...]
    bot_of: dict[str, str]
    settings: Settings
    round_size: int
    rounds: int


@dataclass(frozen=True, slots=True)
class Found:
    """Something that was wrong with a bot in a match. `variant` counts the games of the gate."""

    bot: str
    variant: int
    block: int
    rotation: int
    seat: int
    fault: Fault


class GateError(ValueError):
    """These rules and these bots make no test; one line says why."""


def lineup_of(
    candidate: BotSpec,
    baselines: Sequence[BotSpec],
    games: Sequence[GameChoice],
    rules: Rules,
    time: Time,
    confinement: Confinement,
    concurrency: int,
) -> Lineup:
    """Make the lineup. Each game has as many blocks in a round as every other, and so has each baseline."""
    variants = [Variant(game, weight=1) for game in games]
    others = max(variant.entrant_count for variant in variants) - 1
    copies = math.ceil(others / len(baselines))
    first, *rest = with_unique_names([candidate, *baselines, *list(baselines) * (copies - 1)])
    tables = [math.comb(len(rest), variant.entrant_count - 1) for variant in variants]
    a_game = math.lcm(*tables)
    settings = Settings(
        title="gate",
        kind="gauntlet",
        rounds=None,
        until_width=None,
        hero=first.name,
        variants=tuple(
            Variant(game, weight=a_game // count) for game, count in zip(games, tables, strict=True)
        ),
        entrants=tuple(Entrant(bot, author=None, instances=None) for bot in (first, *rest)),
        time=time,
        confinement=confinement,
        concurrency=concurrency,
        anonymous=True,
        conduct=None,
    )
    round_size = blocks_of_round(plan_of(settings))
    rounds = _rounds(rules, round_size)
    names = [bot.name for bot in rest]
    originals = names[: len(baselines)]
    return Lineup(
        candidate=first.name,
        baselines=tuple(originals),
        bot_of={first.name: first.name}
        | {name: originals[number % len(originals)] for number, name in enumerate(names)},
        settings=replace(settings, rounds=rounds),
        round_size=round_size,
        rounds=rounds,
    )


def _rounds(rules: Rules, round_size: int) -> int:
    if rules.blocks is not None:
        if rules.blocks < FEWEST_FIXED:
            raise GateError(f"{rules.blocks} blocks are too few: at least {FEWEST_FIXED}")
        return math.ceil(rules.blocks / round_size)
    first_look = math.ceil(FEWEST_BLOCKS / round_size) * round_size
    if rules.most_blocks < first_look:
        raise GateError(
            f"at most {rules.most_blocks} blocks are too few: the first look is after {first_look}, which is "
            f"the first multiple from {FEWEST_BLOCKS} on of the {round_size} in which each game and each "
            f"baseline has its part"
        )
    return rules.most_blocks // round_size


# -- the verdict -------------------------------------------------------------------------------------


@dataclass(slots=True)
class Tally:
    """The counts so far."""

    blocks: Sample = field(default_factory=Sample)
    by_variant: dict[int, Sample] = field(default_factory=dict[int, Sample])
    by_baseline: dict[str, Sample] = field(default_factory=dict[str, Sample])
    """The candidate's scores against each, by match: for a mean, and not for an interval."""
    matches: int = 0
    faulty: Counter[str] = field(default_factory=Counter[str])
    """In how many matches something was wrong with a bot. Copies of a baseline are one."""
    found: list[Found] = field(default_factory=list[Found])
    void: list[str] = field(default_factory=list[str])
    """Why, for each block that could not be played."""


class Judge:
    """Hears of the blocks as they end. `verdict` is there as soon as there is one; then nothing counts
    any more."""

    def __init__(self, lineup: Lineup, rules: Rules) -> None:
        self.lineup = lineup
        self.rules = rules
        self.tally = Tally()
        self.verdict: Verdict | None = None
        self._waiting: dict[int, BlockEnded] = {}
        self._next = 0

    def hear(self, ended: BlockEnded) -> None:
        self._waiting[ended.block.number] = ended
        while self.verdict is None and (block := self._waiting.pop(self._next, None)) is not None:
            self._next += 1
            if block.status == "void":
                self.tally.void.append(block.cause or "")
            else:
                self._count(block)
            self._look()

    def end(self) -> None:
        """Judge now that no block is left to play."""
        if self.verdict is not None:
            return
        sample = self.tally.blocks
        if self.rules.blocks is None:
            self._decide("undecided", f"{_SHOWN['undecided']} after {_blocks(sample.count)}")
            return
        conclusion = look_once(sample, self.rules.hypotheses)
        self._decide(conclusion, f"{_SHOWN[conclusion]} in {_blocks(sample.count)}")

    def _count(self, ended: BlockEnded) -> None:
        tally, name = self.tally, self.lineup.candidate
        score = 0.0
        for line in ended.lines:
            tally.matches += 1
            place = line.players.index(name)
            score += scores_of(line.ranks)[place] / len(ended.lines)
            for other, rank in zip(line.players, line.ranks, strict=True):
                if other != name:
                    met = tally.by_baseline.setdefault(self.lineup.bot_of[other], Sample())
                    met.add((line.ranks[place] < rank) + 0.5 * (line.ranks[place] == rank))
            self._count_faults(line, ended.block.variant)
        tally.blocks.add(score)
        tally.by_variant.setdefault(ended.block.variant, Sample()).add(score)

    def _count_faults(self, line: MatchLine, variant: int) -> None:
        faulty: set[str] = set()
        for seat in line.bots:
            bot = self.lineup.bot_of[seat.bot]
            if seat.faults:
                faulty.add(bot)
            for fault in seat.faults:
                if sum(earlier.bot == bot for earlier in self.tally.found) < FAULTS_KEPT:
                    self.tally.found.append(Found(bot, variant, line.block, line.rotation, seat.seat, fault))
        self.tally.faulty.update(faulty)

    def _look(self) -> None:
        faulty = self.tally.faulty[self.lineup.candidate]
        if faulty > self.rules.faults:
            first = next(each for each in self.tally.found if each.bot == self.lineup.candidate)
            more = f"; at most {self.rules.faults} matches may have any" if self.rules.faults else ""
            self._decide(
                "failed",
                f"the candidate was at fault in {faulty} of {self.tally.matches} matches, first with "
                f"{first.fault.kind.replace('_', ' ')}: {first.fault.detail}{more}",
            )
        elif self.rules.blocks is None and self._next % self.lineup.round_size == 0:
            conclusion = look(self.tally.blocks, self.rules.hypotheses)
            if conclusion != "undecided":
                self._decide(conclusion, f"{_SHOWN[conclusion]} after {_blocks(self.tally.blocks.count)}")

    def _decide(self, word: Word, reason: str) -> None:
        if word == "passed":
            for name in self.lineup.baselines:
                if self.tally.faulty[name] > MOST_BASELINE_FAULTS * self.tally.matches:
                    word = "infrastructure"
                    reason = (
                        f"the baseline {name} was at fault in {self.tally.faulty[name]} of "
                        f"{self.tally.matches} matches: that the candidate was ahead shows nothing"
                    )
        self.verdict = Verdict(word, reason)


_SHOWN: Final = {
    "passed": "the candidate is better than elo0",
    "failed": "the candidate is not as good as elo1",
    "undecided": "nothing shows whether the candidate is good enough",
}


def _blocks(count: int) -> str:
    return f"{count:,} {'block' if count == 1 else 'blocks'}"


# -- the matches -------------------------------------------------------------------------------------


class Watcher(Protocol):
    def block_ended(self, judge: Judge, ended: BlockEnded) -> None: ...

    def told_to_stop(self) -> None:
        """Hear that no block begins any more. Those that run are completed."""
        ...


async def play_gate(
    judge: Judge, opened: Opened, watcher: Watcher, seed: str | None = None, execute: Execute = play_match
) -> Verdict:
    """Play until there is a verdict: "interrupted" if asked to stop before.

    StoreError and RunError as the runner raises them.
    """
    with trio.CancelScope() as decided:
        ear = _Ear(judge, decided, watcher)
        if await play_tournament(judge.lineup.settings, opened, ear, seed, execute):
            judge.end()
    return judge.verdict or Verdict("interrupted", "asked to stop")


class _Ear:
    """The runner's observer, which stops it when all is known."""

    def __init__(self, judge: Judge, decided: trio.CancelScope, watcher: Watcher) -> None:
        self._judge = judge
        self._decided = decided
        self._watcher = watcher

    def match_began(self, match: RunningMatch, progress: Progress) -> None:
        pass

    def match_ended(self, ended: Ended, progress: Progress) -> None:
        pass

    def block_ended(self, ended: BlockEnded, progress: Progress) -> None:
        self._judge.hear(ended)
        self._watcher.block_ended(self._judge, ended)
        if self._judge.verdict is not None:
            self._decided.cancel()

    def suspended(self, suspended: Suspended, progress: Progress) -> None:
        pass  # a gate has no conduct: the candidate's faults are counted

    def told_to_stop(self) -> None:
        self._watcher.told_to_stop()
