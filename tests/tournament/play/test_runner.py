"""What the runner does with matches that end, fail, take their time, or are stopped; in virtual time."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
import trio
import trio.lowlevel
import trio.testing

from stellwerk_processes.bench.invitation import BotStartError
from stellwerk_processes.bench.levels import Confinement
from stellwerk_processes.faults import Conduct
from stellwerk_processes.started_match import BotMatch, MatchResult, NoResultError
from stellwerk_tournament.config.settings import FILE, Settings, parse, settings_of
from stellwerk_tournament.play import record, scheduled
from stellwerk_tournament.play.blocks_in_hand import BlocksInHand
from stellwerk_tournament.play.courier import RunError
from stellwerk_tournament.play.matches_here import ATTEMPTS, Conditions
from stellwerk_tournament.play.runner import play_tournament
from stellwerk_tournament.ratings.outcomes import Outcome
from stellwerk_tournament.ratings.ratings import FEWEST_DEGREES, Ratings, rate
from stellwerk_tournament.schedule.deal import block_secret
from stellwerk_tournament.schedule.schedule import Block, Met, SchedulePlan
from stellwerk_tournament.store.match_line import MatchLine, outcome_of
from stellwerk_tournament.store.store import Store, StoreError, open_store, read_matches
from tests.tournament.play.fakes import (
    ENDED,
    FakeMatches,
    Witness,
    instances,
    played_match,
    run_in_virtual_time,
    settings_with,
    upside_down,
)

T = TypeVar("T")

THREE = ("ann", "bea", "cat")


def play(
    folder: Path,
    settings: Settings,
    matches: FakeMatches | None = None,
    witness: Witness | None = None,
    seed: str | None = "s",
) -> bool:
    with open_store(folder) as opened:
        return run_in_virtual_time(
            play_tournament,
            settings,
            opened,
            witness or Witness(),
            Conditions(matches or FakeMatches()),
            seed,
        )


def on_disk(folder: Path) -> tuple[MatchLine, ...]:
    return tuple(read_matches(folder))


def test_every_block_is_played_in_every_rotation_of_one_deal(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, THREE, 'game = "usa"\nplayers = 3', "[schedule]\nrounds = 2")
    matches = FakeMatches()
    assert play(tmp_path, settings, matches)
    lines = on_disk(tmp_path)
    assert [(line.block, line.rotation) for line in lines] == [(b, r) for b in range(2) for r in range(3)]
    for block in range(2):
        of_block = [line for line in lines if line.block == block]
        assert len({line.seed for line in of_block}) == 1
        for team in range(3):
            assert {line.players[team] for line in of_block} == set(THREE)
    assert len({line.seed for line in lines}) == 2
    assert len({bot_match.plan.match for bot_match in matches.played}) == 6
    assert len({seed for bot_match in matches.played for seed in bot_match.bot_seeds}) == 18


def test_in_team_games_a_bot_plays_all_seats_of_its_team(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, THREE[:2], 'game = "team_asia"')
    assert play(tmp_path, settings)
    first, second = on_disk(tmp_path)
    assert first.players == second.players[::-1]
    assert first.seats == ((0, 1), (2, 3))
    assert [seat.bot for seat in first.bots] == [first.players[0]] * 2 + [first.players[1]] * 2


def test_without_a_seed_every_deal_is_drawn(tmp_path: Path) -> None:
    (one := tmp_path / "one").mkdir()
    (other := tmp_path / "other").mkdir()
    for folder in (one, other):
        play(folder, settings_with(folder, THREE[:2]), seed=None)
    assert not {line.seed for line in on_disk(one)} & {line.seed for line in on_disk(other)}


def test_matches_are_played_side_by_side_but_no_more_than_allowed(tmp_path: Path) -> None:
    matches = FakeMatches()
    play(tmp_path, settings_with(tmp_path, THREE, head="concurrency = 4\n[schedule]\nrounds = 2"), matches)
    assert matches.most_at_once == 4


class DealWatch(FakeMatches):
    """Matches that count how many of one deal run at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.running: Counter[bytes] = Counter()
        self.most_of_a_deal = 0

    async def __call__(self, bot_match: BotMatch, confinement: Confinement) -> MatchResult:
        deal = bot_match.plan.seed
        self.running[deal] += 1
        self.most_of_a_deal = max(self.most_of_a_deal, self.running[deal])
        try:
            return await super().__call__(bot_match, confinement)
        finally:
            self.running[deal] -= 1


@pytest.mark.parametrize(
    ("words", "most"),
    [('built_in = "greedy"', 3), ('built_in = "greedy"\nenv = { X = "1" }', 1), ('cmd = "true"', 1)],
)
def test_rotations_of_a_deal_overlap_only_if_all_bots_are_built_in(
    tmp_path: Path, words: str, most: int
) -> None:
    """One that is not, or gets variables, is enough. Other blocks are played meanwhile."""
    bots = [f'name = "{name}"\nprocess = "fresh"\n' for name in THREE]
    tables = [f'[[bots]]\n{bot}built_in = "greedy"\n' for bot in bots[:2]] + [f"[[bots]]\n{bots[2]}{words}\n"]
    head = "concurrency = 3\n[schedule]\nrounds = 5\n[[games]]\ngame = 'usa'\nplayers = 3\n"
    (tmp_path / FILE).write_text(head + "".join(tables))
    matches = DealWatch()
    assert play(tmp_path, settings_of(parse(tmp_path), tmp_path), matches)
    assert (matches.most_of_a_deal, matches.most_at_once) == (most, 3)
    assert len(on_disk(tmp_path)) == 15


def test_no_more_copies_of_a_bot_run_than_it_has_instances(tmp_path: Path) -> None:
    settings = instances(settings_with(tmp_path, THREE, head="concurrency = 6"), ann=1, bea=2)
    matches = FakeMatches()
    assert play(tmp_path, settings, matches)
    assert (matches.most_of["ann"], matches.most_of["bea"]) == (1, 2)
    assert len(on_disk(tmp_path)) == 6


def test_opponents_are_seat_numbers_if_they_are_to_be_anonymous(tmp_path: Path) -> None:
    matches = FakeMatches()
    play(tmp_path, settings_with(tmp_path, THREE[:2], head="anonymous = true"), matches)
    assert {bot_match.plan.names for bot_match in matches.played} == {("seat-0", "seat-1")}


# -- the machine's faults ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error",
    [NoResultError("no descriptors"), BotStartError("ann: there is no program"), KeyError("a bug of ours")],
    ids=lambda error: type(error).__name__,
)
def test_what_the_machine_did_wrong_is_no_bots_fault_and_the_match_is_played_again(
    tmp_path: Path, error: Exception
) -> None:
    def fail_twice(bot_match: BotMatch, attempt: int) -> None:
        if attempt <= 2 and bot_match.bots[0].name == "ann":
            raise error

    witness = Witness()
    assert play(tmp_path, settings_with(tmp_path, THREE[:2]), FakeMatches(fails=fail_twice), witness)
    lines = on_disk(tmp_path)
    assert [line.attempt for line in lines] == [3, 1]
    assert all(seat.faults == () for line in lines for seat in line.bots)
    causes = [ended.cause for ended in witness.ended if ended.cause is not None]
    assert len(causes) == 2
    assert all(str(error) in cause for cause in causes)


def test_a_bug_of_ours_is_logged_with_its_traceback(tmp_path: Path) -> None:
    def fail_once(bot_match: BotMatch, attempt: int) -> None:
        if attempt == 1:
            raise KeyError("a bug of ours")

    play(tmp_path, settings_with(tmp_path, THREE[:2]), FakeMatches(fails=fail_once))
    [log] = (tmp_path / "logs").iterdir()
    assert "fail_once" in log.read_text()
    assert log.stat().st_mode & 0o077 == 0


def test_a_match_that_fails_three_times_makes_its_block_void_and_nothing_else(tmp_path: Path) -> None:
    def fail(bot_match: BotMatch, attempt: int) -> None:
        if {bot.name for bot in bot_match.bots} == {"ann", "cat"}:
            raise NoResultError("no space")

    witness = Witness()
    assert play(tmp_path, settings_with(tmp_path, THREE), FakeMatches(fails=fail), witness)
    [void] = [block for block in witness.blocks if block.status == "void"]
    assert set(void.block.entrants) == {"ann", "cat"}
    assert void.cause == "no space"
    failed = Counter(ended.rotation for ended in witness.ended if ended.cause is not None)
    assert max(failed.values()) == 3
    assert Counter(frozenset(line.players) for line in on_disk(tmp_path)) == {
        frozenset({"ann", "bea"}): 2,
        frozenset({"bea", "cat"}): 2,
    }
    assert witness.last is not None
    assert witness.last.void_blocks == 1


def test_a_void_block_stays_void_when_the_tournament_is_resumed(tmp_path: Path) -> None:
    def fail(bot_match: BotMatch, attempt: int) -> None:
        if {bot.name for bot in bot_match.bots} == {"ann", "cat"}:
            raise NoResultError("no space")

    settings = settings_with(tmp_path, THREE)
    play(tmp_path, settings, FakeMatches(fails=fail))
    again = FakeMatches()
    assert play(tmp_path, settings, again)
    assert again.played == []


@pytest.mark.parametrize(
    "ends", [("fails", "fails"), ("fails", "is played"), ("is played", "fails")], ids=" then ".join
)
def test_a_block_becomes_void_once_whatever_else_of_it_ends_at_that_moment(
    tmp_path: Path, ends: tuple[str, str]
) -> None:
    """The last attempts at its two matches end one right behind the other, while the disk is busy."""
    attempts: Counter[int] = Counter()
    second_is_played, first_has_ended = trio.Event(), trio.Event()

    async def execute(bot_match: BotMatch, confinement: Confinement) -> MatchResult:
        if bot_match.plan.seed != block_secret("s", 0):
            return played_match(bot_match)
        number = 0 if bot_match.bots[0].name == "ann" else 1
        attempts[number] += 1
        if ends[number] == "fails" and attempts[number] < ATTEMPTS:
            raise NoResultError("no space")
        if number == 0:
            await second_is_played.wait()
            first_has_ended.set()
        else:
            second_is_played.set()
            await first_has_ended.wait()
        if ends[number] == "fails":
            raise NoResultError("no space")
        return played_match(bot_match)

    settings = settings_with(tmp_path, THREE[:2], head="concurrency = 2\n[schedule]\nrounds = 2")
    built_in = (replace(each, bot=replace(each.bot, built_in="greedy")) for each in settings.entrants)
    settings = replace(settings, entrants=tuple(built_in))  # only their matches of a deal overlap
    witness = Witness()
    with open_store(tmp_path) as opened:
        assert trio.run(play_tournament, settings, opened, witness, Conditions(execute), "s")
        void, complete = opened.store.standings()
    assert (void.status, void.kept, void.cause) == ("void", (), "no space")
    assert complete.status == "complete"
    assert [(line.block, line.rotation) for line in on_disk(tmp_path)] == [(1, 0), (1, 1)]
    assert sorted((block.block.number, block.status) for block in witness.blocks) == [
        (0, "void"),
        (1, "complete"),
    ]
    assert witness.last is not None
    assert witness.last.void_blocks == 1


def test_three_void_blocks_in_a_row_end_the_tournament(tmp_path: Path) -> None:
    def fail(bot_match: BotMatch, attempt: int) -> None:
        raise NoResultError("no space")

    settings = settings_with(tmp_path, THREE[:2], head="[schedule]\nrounds = 10")
    matches = FakeMatches(fails=fail)
    with pytest.raises(RunError, match="no space"):
        play(tmp_path, settings, matches)
    assert on_disk(tmp_path) == ()


def test_a_bot_that_is_late_while_the_runner_is_late_is_not_to_blame(tmp_path: Path) -> None:
    was_late = False

    async def late(bot_match: BotMatch, confinement: Confinement) -> MatchResult:
        nonlocal was_late
        played = played_match(bot_match)
        if was_late:
            return played
        was_late = True
        conduct = Conduct(ENDED, defaults=Counter({"time": 1}))
        clock.jump(0.001)
        await trio.lowlevel.checkpoint()
        clock.jump(0.1)  # within a round of work
        await trio.lowlevel.checkpoint()
        return replace(played, seats=(replace(played.seats[0], conduct=conduct), *played.seats[1:]))

    clock = trio.testing.MockClock(autojump_threshold=0)
    witness = Witness()
    with open_store(tmp_path) as opened:
        settings = settings_with(tmp_path, THREE[:2])
        assert run_in_virtual_time(
            play_tournament, settings, opened, witness, Conditions(late), "s", clock=clock
        )
    [cause] = [ended.cause for ended in witness.ended if ended.cause is not None]
    assert "late by more than 25 ms" in cause
    assert [line.attempt for line in on_disk(tmp_path)] == [2, 1]
    assert all(seat.faults == () for line in on_disk(tmp_path) for seat in line.bots)


# -- stopping, resuming ------------------------------------------------------------------------------


def test_told_once_to_stop_it_finishes_the_blocks_that_have_begun(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, THREE, head="concurrency = 1\n[schedule]\nrounds = 4")
    witness = Witness()

    def stop(bot_match: BotMatch, attempt: int) -> None:
        if not witness.stops:
            os.kill(os.getpid(), signal.SIGINT)

    assert not play(tmp_path, settings, FakeMatches(fails=stop), witness)
    assert witness.stops == 1
    assert len(on_disk(tmp_path)) == 2
    rest = FakeMatches()
    assert play(tmp_path, settings, rest)
    assert len(rest.played) == 22
    assert len({(line.block, line.rotation) for line in on_disk(tmp_path)}) == len(on_disk(tmp_path)) == 24


def test_told_twice_to_stop_it_ends_at_once_and_loses_no_match_that_was_played(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, THREE, 'game = "usa"\nplayers = 3', "concurrency = 1")
    matches = FakeMatches(seconds=100)

    def stop(bot_match: BotMatch, attempt: int) -> None:
        if len(matches.played) == 1:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGTERM)
            raise NoResultError("never told, for the match is being cancelled")

    matches.fails = stop
    assert not play(tmp_path, settings, matches)
    assert on_disk(tmp_path) == ()
    rest = FakeMatches()
    assert play(tmp_path, settings, rest)
    assert len(rest.played) == 2
    assert len(on_disk(tmp_path)) == 3


def test_rounds_can_be_added(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, THREE)
    play(tmp_path, settings)
    before = on_disk(tmp_path)
    more = FakeMatches()
    assert play(tmp_path, replace(settings, rounds=2), more)
    assert on_disk(tmp_path)[: len(before)] == before
    assert len(more.played) == len(before)


@pytest.mark.parametrize("kind", ["round_robin", "swiss", "random", "gauntlet"])
def test_a_tournament_whose_state_was_lost_goes_on_from_its_matches(tmp_path: Path, kind: str) -> None:
    head = f'concurrency = 1\n[schedule]\nkind = "{kind}"\nrounds = 3'
    settings = settings_with(tmp_path, ("ann", "bea", "cat", "dot"), head=head)
    play(tmp_path, replace(settings, rounds=1))
    before = on_disk(tmp_path)
    for path in tmp_path.glob("state.sqlite*"):
        path.unlink()
    rest = FakeMatches()
    assert play(tmp_path, settings, rest)
    after = on_disk(tmp_path)
    assert after[: len(before)] == before
    assert len(rest.played) == len(after) - len(before) == 2 * len(before)


def test_resuming_takes_up_each_stage_without_all_blocks_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a folder of ten times as many lines would take a hundred times as long."""
    settings = settings_with(tmp_path, THREE, head="[schedule]\nrounds = 12")
    play(tmp_path, settings)
    looked_at: list[int] = []
    as_made = scheduled.stage_as_made

    def counted(
        plan: SchedulePlan,
        number: int,
        history: Sequence[Met],
        sets: Sequence[frozenset[str]],
        known: Mapping[int, tuple[str, ...]],
    ) -> tuple[Block, ...]:
        looked_at.append(len(history) + len(known))
        return as_made(plan, number, history, sets, known)

    monkeypatch.setattr(scheduled, "stage_as_made", counted)
    writes: list[Sequence[Block]] = []

    def enqueue(_: Store, blocks: Sequence[Block], status: str) -> None:
        writes.append(blocks)

    monkeypatch.setattr(Store, "enqueue", enqueue)
    assert play(tmp_path, settings)
    assert looked_at == [3] * 12
    assert not writes


def test_a_swiss_stage_waits_for_the_results_before_it(tmp_path: Path) -> None:
    """So the tables are the same however many matches are played side by side."""
    tables: list[dict[tuple[int, int], tuple[str, ...]]] = []
    for concurrency in (1, 20):
        (folder := tmp_path / str(concurrency)).mkdir()
        head = f'concurrency = {concurrency}\n[schedule]\nkind = "swiss"\nrounds = 3'
        play(folder, settings_with(folder, ("ann", "bea", "cat", "dot", "eve", "fay"), head=head))
        tables.append({(line.block, line.rotation): line.players for line in on_disk(folder)})
    assert tables[0] == tables[1]
    assert len(tables[0]) == 18


def test_another_schedule_than_the_one_that_was_played_is_refused(tmp_path: Path) -> None:
    play(tmp_path, settings_with(tmp_path, THREE))
    other = settings_with(tmp_path, THREE, head='[schedule]\nkind = "gauntlet"\nhero = "cat"')
    with pytest.raises(RunError, match=r"has tournament\.toml been changed"):
        play(tmp_path, other)


def test_two_runners_cannot_play_in_one_folder(tmp_path: Path) -> None:
    with open_store(tmp_path), pytest.raises(StoreError, match="another process"), open_store(tmp_path):
        pass


def test_it_stops_when_the_intervals_are_narrow_enough(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, ("ann", "bea"), head="[schedule]\nuntil_width = 500")
    assert settings.rounds is None

    async def upset(bot_match: BotMatch, confinement: Confinement) -> MatchResult:
        """Let the weaker bot win about every third match, so that there is an interval."""
        played = played_match(bot_match)
        return played if int(bot_match.plan.match[0], 16) % 3 else upside_down(played)

    with open_store(tmp_path) as opened:
        assert trio.run(play_tournament, settings, opened, Witness(), Conditions(upset), "s")
    outcomes = [outcome_of(line) for line in on_disk(tmp_path)]
    rounds = len(outcomes) // 2
    assert is_narrow(outcomes, 500)
    assert rounds > FEWEST_DEGREES
    assert not any(is_narrow(outcomes[: 2 * count], 500) for count in range(1, rounds))


def is_narrow(outcomes: list[Outcome], width: float) -> bool:
    return all(
        rating.high is not None
        and rating.low is not None
        and rating.high - rating.low <= width
        and rating.freedom >= FEWEST_DEGREES
        for rating in rate(outcomes).entrants
    )


@pytest.mark.parametrize("shows_ratings", [True, False])
def test_ratings_that_nobody_sees_are_not_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shows_ratings: bool
) -> None:
    rated: list[int] = []

    def counted(outcomes: Sequence[Outcome]) -> Ratings:
        rated.append(len(outcomes))
        return rate(outcomes)

    monkeypatch.setattr(record, "rate", counted)
    settings = settings_with(tmp_path, THREE)
    witness = Witness()
    witness.shows_ratings = shows_ratings
    with open_store(tmp_path) as opened:
        assert run_in_virtual_time(play_tournament, settings, opened, witness, Conditions(FakeMatches()), "s")
    assert bool(rated) == shows_ratings


def test_progress_tells_how_much_is_left(tmp_path: Path) -> None:
    witness = Witness()
    settings = settings_with(tmp_path, THREE, head="concurrency = 1")
    play(tmp_path, settings, FakeMatches(seconds=60), witness)
    assert witness.last is not None
    assert (witness.last.played, witness.last.total, witness.last.seconds_left) == (6, 6, 0)
    assert witness.last.matches_per_minute == pytest.approx(1, rel=0.01)
    best, *_ = witness.last.rows
    assert (best.bot, best.matches, best.score) == ("cat", 4, 1.0)


def test_blocks_that_are_over_are_taken_up_together_when_a_tournament_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wait for a thread for each round would take longer than to read the lines of a long tournament."""
    rounds = 30
    play(tmp_path, settings_with(tmp_path, THREE[:2], head=f"[schedule]\nrounds = {rounds}"))
    waits: list[object] = []
    on_disk = BlocksInHand.on_disk

    async def counted(hand: BlocksInHand, work: Callable[[], T]) -> T:
        waits.append(work)
        return await on_disk(hand, work)

    monkeypatch.setattr(BlocksInHand, "on_disk", counted)
    assert play(tmp_path, settings_with(tmp_path, THREE[:2], head=f"[schedule]\nrounds = {rounds + 1}"))
    assert len(waits) < rounds
    assert len([*read_matches(tmp_path)]) == 2 * (rounds + 1)
