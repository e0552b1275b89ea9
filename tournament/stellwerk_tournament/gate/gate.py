"""A gate: one candidate against baselines, until it is known whether it may pass.

The matches are those of a gauntlet, played by the tournament's runner; the verdict is made here.

Laws:
- blocks count in schedule order, not finishing order; otherwise quick, one-sided games would be judged
  first. So the verdict does not depend on how many matches are played at once;
- the test looks when every game and every baseline has had its part, which makes a round;
- void blocks are left out: no bot scores by a failure of the machine;
- a candidate does not pass because its baselines were broken.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol, TypeAlias

import trio

from stellwerk_base.texts import counted
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_processes.bench.levels import Confinement
from stellwerk_processes.bot_spec import BotSpec, in_server_if_quick, with_unique_names
from stellwerk_processes.started_match import play_match
from stellwerk_server.match.players import NO_HOUSE_BOTS, NewHousePlayer
from stellwerk_server.operate.settings import Time
from stellwerk_tournament.config.settings import Entrant, Settings, Variant
from stellwerk_tournament.evidence.evidence import Evidence
from stellwerk_tournament.evidence.sequential import (
    FEWEST_BLOCKS,
    FEWEST_FIXED,
    Hypotheses,
    look,
    look_once,
)
from stellwerk_tournament.play.matches_here import Conditions, Execute
from stellwerk_tournament.play.progress import BlockEnded, Observer, Progress
from stellwerk_tournament.play.runner import play_tournament
from stellwerk_tournament.schedule.schedule import blocks_of_round, plan_of
from stellwerk_tournament.store.store import Opened

Word: TypeAlias = Literal["passed", "failed", "undecided", "infrastructure", "interrupted"]

MOST_BASELINE_FAULTS: Final = 0.05  # of the matches; beyond, a candidate does not pass


@dataclass(frozen=True, slots=True)
class GateVerdict:
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
        entrants=tuple(
            Entrant(in_server_if_quick(bot), author=None, instances=None) for bot in (first, *rest)
        ),
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


class Judge:
    """Counts the blocks that end, in the order of their numbers, until there is a `verdict`. `void` has the
    reason for each block that could not be played."""

    def __init__(self, lineup: Lineup, rules: Rules) -> None:
        self.lineup = lineup
        self.rules = rules
        rivals = {name: bot for name, bot in lineup.bot_of.items() if name != lineup.candidate}
        self.evidence = Evidence(lineup.candidate, rivals)
        self.void: list[str] = []
        self.verdict: GateVerdict | None = None
        self._waiting: dict[int, BlockEnded] = {}
        self._next = 0

    def hear(self, ended: BlockEnded) -> None:
        self._waiting[ended.block.number] = ended
        while self.verdict is None and (block := self._waiting.pop(self._next, None)) is not None:
            self._next += 1
            if block.status == "void":
                self.void.append(block.cause or "")
            else:
                matches = [line.bots for line in block.lines]
                self.evidence.add(block.block.number, block.block.variant, matches)
            self._look()

    def end(self) -> None:
        """Judge now that no block is left to play."""
        if self.verdict is not None:
            return
        sample = self.evidence.overall.wins
        if self.rules.blocks is None:
            self._decide("undecided", f"{_SHOWN['undecided']} after {counted(sample.count, 'block')}")
            return
        conclusion = look_once(sample, self.rules.hypotheses)
        self._decide(conclusion, f"{_SHOWN[conclusion]} in {counted(sample.count, 'block')}")

    def _look(self) -> None:
        evidence = self.evidence
        faulty = evidence.faulty[evidence.hero]
        if faulty > self.rules.faults:
            first = next(each.fault for each in evidence.faults if each.bot == evidence.hero)
            more = f"; at most {self.rules.faults} matches may have any" if self.rules.faults else ""
            self._decide(
                "failed",
                f"the candidate was at fault in {faulty} of {evidence.match_count} matches, first with "
                f"{first.kind.replace('_', ' ')}: {first.detail}{more}",
            )
        elif self.rules.blocks is None and self._next % self.lineup.round_size == 0:
            conclusion = look(evidence.overall.wins, self.rules.hypotheses)
            if conclusion != "undecided":
                self._decide(
                    conclusion, f"{_SHOWN[conclusion]} after {counted(evidence.block_count, 'block')}"
                )

    def _decide(self, word: Word, reason: str) -> None:
        if word == "passed":
            for name in self.lineup.baselines:
                faulty, matches = self.evidence.faulty[name], self.evidence.match_count
                if faulty > MOST_BASELINE_FAULTS * matches:
                    word = "infrastructure"
                    reason = (
                        f"the baseline {name} was at fault in {faulty} of {matches} matches: that the "
                        f"candidate was ahead shows nothing"
                    )
        self.verdict = GateVerdict(word, reason)


_SHOWN: Final = {
    "passed": "the candidate is better than elo0",
    "failed": "the candidate is not as good as elo1",
    "undecided": "nothing shows whether the candidate is good enough",
}


# -- the matches -------------------------------------------------------------------------------------


class Watcher(Protocol):
    def block_ended(self, judge: Judge, ended: BlockEnded) -> None: ...

    def told_to_stop(self) -> None:
        """Hear that no block begins any more. Those that run are completed."""
        ...


async def play_gate(
    judge: Judge,
    opened: Opened,
    watcher: Watcher,
    seed: str | None = None,
    execute: Execute = play_match,
    house_bots: Mapping[str, NewHousePlayer] = NO_HOUSE_BOTS,
) -> GateVerdict:
    """Play until there is a verdict: "interrupted" if asked to stop before. `house_bots` make the players of
    the quick built-in bots, which sit in the server.

    StoreError and RunError as the runner raises them.
    """
    with trio.CancelScope() as decided:
        ear = _StoppingObserver(judge, decided, watcher)
        conditions = Conditions(execute, house_bots=house_bots)
        if await play_tournament(judge.lineup.settings, opened, ear, conditions, seed):
            judge.end()
    return judge.verdict or GateVerdict("interrupted", "asked to stop")


class _StoppingObserver(Observer):
    """The runner's observer, which stops it when all is known."""

    def __init__(self, judge: Judge, decided: trio.CancelScope, watcher: Watcher) -> None:
        self._judge = judge
        self._decided = decided
        self._watcher = watcher

    def block_ended(self, ended: BlockEnded, progress: Progress) -> None:
        self._judge.hear(ended)
        self._watcher.block_ended(self._judge, ended)
        if self._judge.verdict is not None:
            self._decided.cancel()

    def told_to_stop(self) -> None:
        self._watcher.told_to_stop()
