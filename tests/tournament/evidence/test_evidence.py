"""What a block is worth, and what is counted of it."""

from __future__ import annotations

import pytest

from stellwerk_processes.faults import Fault, FaultKind
from stellwerk_processes.seat_report import Breakdown, SeatReport
from stellwerk_tournament.evidence.evidence import FAULTS_KEPT, Evidence
from stellwerk_tournament.evidence.sequential import interval
from stellwerk_tournament.evidence.strength import score_in_words, strength_of
from stellwerk_tournament.evidence.worth import Finish, Versus, Worth, worth_of


def seat(number: int, bot: str, rank: int, points: int, *faults: FaultKind) -> SeatReport:
    return SeatReport(
        seat=number,
        team=number,
        bot=bot,
        rank=rank,
        points=points,
        breakdown=Breakdown(points, (), (), 0),
        faults=tuple(Fault(kind, 1, kind) for kind in faults),
        defaults=0,
        asks=1,
        used_ms=0,
        slowest_ms=0,
    )


def test_the_worth_of_a_block_is_the_mean_of_its_matches_and_a_tie_counts_a_half() -> None:
    block = [
        {"a": Finish(1, 10), "b": Finish(1, 10)},
        {"a": Finish(1, 20), "b": Finish(2, 10)},
    ]
    assert worth_of(block, "a", ("b",)) == Worth(0.75, 5.0)
    assert worth_of(block, "b", ("a",)) == Worth(0.25, -5.0)


def test_a_block_counts_only_the_others_that_are_asked_for() -> None:
    match = {"a": Finish(2, 10), "b": Finish(1, 30), "c": Finish(3, 5)}
    assert worth_of([match], "a", ("b",)) == Worth(0.0, -20.0)
    assert worth_of([match], "a", ("b", "c", "not there")) == Worth(0.5, -7.5)


def test_games_rivals_and_copies_are_counted_apart() -> None:
    evidence = Evidence("a", {"b": "b", "b-2": "b", "c": "c"})
    evidence.add(0, 0, [[seat(0, "a", 1, 9), seat(1, "b", 2, 5), seat(2, "b-2", 3, 1)]])
    evidence.add(1, 1, [[seat(0, "a", 2, 1), seat(1, "c", 1, 5)]])
    assert (evidence.block_count, evidence.match_count) == (2, 2)
    assert {game: lead.wins.mean for game, lead in evidence.by_game.items()} == {0: 1.0, 1: 0.0}
    assert evidence.by_rival == {"b": Versus(2, 0, 0, 18, 6), "c": Versus(0, 0, 1, 1, 5)}


def test_of_the_faults_of_a_bot_the_first_are_kept_and_the_first_of_each_kind() -> None:
    evidence = Evidence("a", {"b": "b"})
    for number in range(FAULTS_KEPT + 5):
        evidence.add(number, 0, [[seat(0, "a", 1, 9, "time"), seat(1, "b", 2, 5)]])
    evidence.add(99, 0, [[seat(0, "a", 1, 9, "crash", "time"), seat(1, "b", 2, 5)]])
    assert evidence.faulty == {"a": FAULTS_KEPT + 6}
    kept = [(each.block, each.fault.kind) for each in evidence.faults]
    assert kept == [*((number, "time") for number in range(FAULTS_KEPT)), (99, "crash")]


@pytest.mark.parametrize(
    ("wins", "words"),
    [
        (1, "100.0 %"),
        (10, "100.0 % (95 %: 88.1 to 100.0 %), Elo above +347"),
        (-10, "0.0 % (95 %: 0.0 to 11.9 %), Elo below -347"),
    ],
)
def test_a_score_has_its_interval_and_elo_as_far_as_there_are_any(wins: int, words: str) -> None:
    evidence = Evidence("a", {"b": "b"})
    for number in range(abs(wins)):
        evidence.add(number, 0, [[seat(0, "a", 1 + (wins < 0), 5), seat(1, "b", 1 + (wins > 0), 5)]])
    strength = strength_of(evidence.overall, interval)
    assert strength is not None
    assert score_in_words(strength) == words
