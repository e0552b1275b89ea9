"""Who meets whom at a gate, what counts, and what comes of it; in virtual time, without processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import pytest
import trio
import trio.lowlevel

from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_processes.bench.levels import Confinement
from stellwerk_processes.bot_spec import BotSpec
from stellwerk_processes.started_match import BotMatch, MatchResult, NoResultError
from stellwerk_server.operate.settings import Time
from stellwerk_tournament.evidence.sequential import FEWEST_BLOCKS, Hypotheses
from stellwerk_tournament.gate.gate import GateError, GateVerdict, Judge, Lineup, Rules, lineup_of, play_gate
from stellwerk_tournament.play.courier import RunError
from stellwerk_tournament.play.progress import BlockEnded
from stellwerk_tournament.schedule.schedule import Block, plan_of, stage, stages_of_round
from stellwerk_tournament.store.store import open_store
from tests.tournament.play.fakes import ENDED, played_match, run_in_virtual_time, upside_down

WIDE = Rules(Hypotheses(0, 150, 0.05, 0.05), blocks=None, most_blocks=300, faults=0)
TEN = replace(WIDE, blocks=10)
CANDIDATE = "zoe"  # the greater name wins
Execute = Callable[[BotMatch, Confinement], Awaitable[MatchResult]]


def choice(game: str = "usa", players: int | None = None) -> GameChoice:
    rules = RULE_SETS[game]
    return GameChoice(game, players or min(rules.seat_counts), (), shipped_board(rules.board))


def lineup(
    baselines: Sequence[str] = ("ann",),
    games: Sequence[GameChoice] = (choice(),),
    rules: Rules = WIDE,
    concurrency: int = 1,
    candidate: str = CANDIDATE,
) -> Lineup:
    return lineup_of(
        candidate=BotSpec(candidate, ("true",)),
        baselines=[BotSpec(name, ("true",)) for name in baselines],
        games=games,
        rules=rules,
        time=Time(),
        confinement=Confinement(),
        concurrency=concurrency,
    )


def a_round(gate_lineup: Lineup) -> list[Block]:
    plan = plan_of(gate_lineup.settings)
    return [block for number in range(stages_of_round(plan)) for block in stage(plan, number)]


@dataclass
class Watcher:
    counts: list[int] = field(default_factory=list[int])
    blocks: list[BlockEnded] = field(default_factory=list[BlockEnded])

    def block_ended(self, judge: Judge, ended: BlockEnded) -> None:
        self.counts.append(judge.evidence.block_count)
        self.blocks.append(ended)

    def told_to_stop(self) -> None:
        pass


def judged(folder: Path, judge: Judge, execute: Execute, watcher: Watcher | None = None) -> GateVerdict:
    with open_store(folder) as opened:
        return run_in_virtual_time(
            play_gate,
            judge,
            opened,
            watcher or Watcher(),
            "s",
            execute,
        )


async def strongest(bot_match: BotMatch, confinement: Confinement) -> MatchResult:
    await trio.lowlevel.checkpoint()
    return played_match(bot_match)


async def even(bot_match: BotMatch, confinement: Confinement) -> MatchResult:
    """Decide a match by its deal, no matter who plays: the first wins a match of a second, the second one of
    a minute."""
    turned = sha256(bot_match.plan.seed).digest()[0] % 2 == 1
    played = played_match(bot_match)
    await trio.sleep(60 if turned else 1)
    return upside_down(played) if turned else played


def faulty(played: MatchResult, name: str) -> MatchResult:
    """Return the result as if the bot of this name had left."""
    seats = tuple(
        replace(seat, conduct=replace(seat.conduct, left=True)) if seat.bot == name else seat
        for seat in played.seats
    )
    assert any(seat.conduct.report is ENDED for seat in seats)
    return replace(played, seats=seats)


# -- who meets whom ----------------------------------------------------------------------------------


def test_every_baseline_and_every_game_has_the_same_part_in_a_round() -> None:
    gate_lineup = lineup(("ann", "bea", "cat"), [choice(), choice("card_game")])
    blocks = a_round(gate_lineup)
    met = Counter((block.variant, block.entrants[1]) for block in blocks)
    assert met == {(variant, name): 1 for variant in (0, 1) for name in ("ann", "bea", "cat")}
    assert gate_lineup.round_size == len(blocks)
    assert all(CANDIDATE in block.entrants for block in blocks)


def test_tables_of_more_are_filled_with_copies_and_games_still_have_the_same_part() -> None:
    gate_lineup = lineup(("ann",), [choice(), choice("usa", 4)])
    blocks = a_round(gate_lineup)
    assert Counter(block.variant for block in blocks) == {0: 3, 1: 3}
    for block in blocks:
        others = [gate_lineup.bot_of[name] for name in block.entrants if name != CANDIDATE]
        assert others == ["ann"] * (3 if block.variant else 1)


def test_copies_of_several_baselines_are_equally_many() -> None:
    gate_lineup = lineup(("ann", "bea"), [choice("usa", 4)])
    met = Counter(gate_lineup.bot_of[name] for block in a_round(gate_lineup) for name in block.entrants)
    assert met["ann"] == met["bea"] > 0
    assert gate_lineup.baselines == ("ann", "bea")


def test_a_candidate_may_have_its_baselines_name() -> None:
    gate_lineup = lineup(("Zoe",))
    assert gate_lineup.candidate == CANDIDATE
    assert gate_lineup.baselines == ("Zoe-2",)


def test_a_team_is_one_entrant() -> None:
    gate_lineup = lineup(("ann",), [choice("team_asia")])
    assert {len(block.entrants) for block in a_round(gate_lineup)} == {2}


def test_blocks_that_are_too_few_for_a_look_are_refused() -> None:
    with pytest.raises(GateError, match="the first look is after 30"):
        lineup(rules=replace(WIDE, most_blocks=FEWEST_BLOCKS - 1))
    with pytest.raises(GateError, match="the first look is after 36"):
        lineup(tuple("abcdefghijkl"), rules=replace(WIDE, most_blocks=35))


# -- the verdict -------------------------------------------------------------------------------------


def test_who_always_wins_passes_at_the_first_look_and_nothing_is_played_after_it(tmp_path: Path) -> None:
    judge, watcher = Judge(lineup(), WIDE), Watcher()
    assert judged(tmp_path, judge, strongest, watcher).word == "passed"
    assert judge.evidence.block_count == FEWEST_BLOCKS
    assert watcher.counts == list(range(1, FEWEST_BLOCKS + 1))
    assert judge.evidence.by_rival["ann"].score == 1.0


def test_who_always_loses_fails(tmp_path: Path) -> None:
    judge = Judge(lineup(("ann",), candidate="aaa"), WIDE)
    verdict = judged(tmp_path, judge, strongest)
    assert verdict == GateVerdict("failed", "the candidate is not as good as elo1 after 30 blocks")


def test_at_a_table_of_more_a_score_is_the_share_of_those_who_are_behind(tmp_path: Path) -> None:
    """`mia` is always ahead of `ann` and behind `zoe`."""
    judge = Judge(lineup(("ann", "zoe"), [choice("usa", 3)], rules=TEN, candidate="mia"), TEN)
    judged(tmp_path, judge, strongest)
    assert judge.evidence.overall.wins.mean == 0.5
    assert {name: met.score for name, met in judge.evidence.by_rival.items()} == {"ann": 1.0, "zoe": 0.0}


def test_the_test_looks_only_after_whole_rounds(tmp_path: Path) -> None:
    judge = Judge(lineup(tuple("abcdefg")), WIDE)
    judged(tmp_path, judge, strongest)
    assert judge.evidence.block_count == 35


def test_the_verdict_does_not_depend_on_how_many_matches_are_played_at_once(tmp_path: Path) -> None:
    """Though won matches end long before lost ones: after the first thirty to end anybody would pass."""
    rules = replace(WIDE, most_blocks=60)
    verdicts: list[tuple[GateVerdict, int, float]] = []
    orders: list[list[int]] = []
    for concurrency in (1, 120):
        folder = tmp_path / str(concurrency)
        folder.mkdir()
        judge, watcher = Judge(lineup(rules=rules, concurrency=concurrency), rules), Watcher()
        verdict = judged(folder, judge, even, watcher)
        verdicts.append((verdict, judge.evidence.block_count, judge.evidence.overall.wins.mean))
        orders.append([ended.block.number for ended in watcher.blocks])
    assert verdicts[0] == verdicts[1]
    assert verdicts[0][0].word != "passed"
    assert orders[0] == sorted(orders[0])
    assert orders[1] != sorted(orders[1])


def test_without_a_conclusion_it_is_undecided_at_the_most_blocks(tmp_path: Path) -> None:
    rules = replace(WIDE, hypotheses=Hypotheses(-20, 20, 0.05, 0.05), most_blocks=FEWEST_BLOCKS)
    judge = Judge(lineup(rules=rules), rules)
    verdict = judged(tmp_path, judge, even)
    assert verdict == GateVerdict(
        "undecided", "nothing shows whether the candidate is good enough after 30 blocks"
    )


@pytest.mark.parametrize(
    ("candidate", "word"), [("zoe", "passed"), ("aaa", "failed")], ids=["better", "worse"]
)
def test_a_fixed_number_of_blocks_is_played_to_its_end(tmp_path: Path, candidate: str, word: str) -> None:
    judge = Judge(lineup(rules=TEN, candidate=candidate), TEN)
    assert judged(tmp_path, judge, strongest).word == word
    assert judge.evidence.block_count == 10


# -- whose fault -------------------------------------------------------------------------------------


def test_a_candidate_at_fault_fails_at_once_with_the_first_cause(tmp_path: Path) -> None:
    async def leaving(bot_match: BotMatch, confinement: Confinement) -> MatchResult:
        return faulty(played_match(bot_match), CANDIDATE)

    judge = Judge(lineup(), WIDE)
    verdict = judged(tmp_path, judge, leaving)
    assert verdict.word == "failed"
    assert "2 of 2 matches, first with left: left the match" in verdict.reason
    assert judge.evidence.block_count == 1


@pytest.mark.parametrize(("allowed", "word"), [(3, "passed"), (2, "failed")])
def test_faults_matter_beyond_the_number_allowed(tmp_path: Path, allowed: int, word: str) -> None:
    left: list[str] = []

    async def leaving_thrice(bot_match: BotMatch, confinement: Confinement) -> MatchResult:
        if len(left) < 3:
            left.append(bot_match.plan.match)
            return faulty(played_match(bot_match), CANDIDATE)
        return played_match(bot_match)

    rules = replace(TEN, faults=allowed)
    judge = Judge(lineup(rules=rules), rules)
    assert judged(tmp_path, judge, leaving_thrice).word == word
    assert judge.evidence.faulty[CANDIDATE] == 3


def test_nobody_passes_because_a_baseline_is_broken(tmp_path: Path) -> None:
    async def broken(bot_match: BotMatch, confinement: Confinement) -> MatchResult:
        return faulty(played_match(bot_match), "ann")

    verdict = judged(tmp_path, Judge(lineup(rules=TEN), TEN), broken)
    assert verdict.word == "infrastructure"
    assert "the baseline ann was at fault in 20 of 20 matches" in verdict.reason


def test_against_broken_baselines_one_can_still_fail(tmp_path: Path) -> None:
    async def broken(bot_match: BotMatch, confinement: Confinement) -> MatchResult:
        return faulty(played_match(bot_match), "ann")

    assert judged(tmp_path, Judge(lineup(rules=TEN, candidate="aaa"), TEN), broken).word == "failed"


def test_copies_of_a_baseline_are_one_bot_at_fault(tmp_path: Path) -> None:
    async def broken(bot_match: BotMatch, confinement: Confinement) -> MatchResult:
        return faulty(faulty(played_match(bot_match), "ann"), "ann-2")

    judge = Judge(lineup(("ann",), [choice("usa", 3)], TEN), TEN)
    judged(tmp_path, judge, broken)
    assert judge.evidence.faulty == {"ann": judge.evidence.match_count}


def test_a_void_block_is_left_out_and_told(tmp_path: Path) -> None:
    first: list[bytes] = []

    async def without_a_block(bot_match: BotMatch, confinement: Confinement) -> MatchResult:
        first.append(bot_match.plan.seed)
        if bot_match.plan.seed == first[0]:
            raise NoResultError("no space left")
        return played_match(bot_match)

    rules = replace(TEN, blocks=11)
    judge = Judge(lineup(rules=rules), rules)
    assert judged(tmp_path, judge, without_a_block).word == "passed"
    assert judge.void == ["no space left"]
    assert judge.evidence.block_count == 10


def test_a_machine_that_fails_again_and_again_makes_no_verdict(tmp_path: Path) -> None:
    async def failing(bot_match: BotMatch, confinement: Confinement) -> MatchResult:
        raise NoResultError("no space left")

    judge = Judge(lineup(), WIDE)
    with pytest.raises(RunError, match="no space left"):
        judged(tmp_path, judge, failing)
    assert judge.verdict is None
