"""Who forfeits a match by its line, who ranks where then, and who is suspended by the order of the lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from stellwerk_processes.faults import Fault, FaultKind
from stellwerk_processes.seat_report import SeatReport
from stellwerk_tournament.config.conduct import STANDARD, ConductTable
from stellwerk_tournament.ratings.outcomes import read_outcomes
from stellwerk_tournament.store.conduct import (
    Suspensions,
    forfeits_of,
    is_contest,
    judged,
    ranks_with,
)
from stellwerk_tournament.store.match_line import MatchLine, WholeBlocks, line_of, outcome_of
from tests.tournament.report.report_tournaments import line

NEVER = Fault("start_failure", 1, "never logged in")
NOTHING = ConductTable(never_started=False, gone=False, absent=False, defaults=0, suspend_after=0)


def with_seat(match: MatchLine, bot: str, faults: Sequence[Fault] = (), **changes: int | bool) -> MatchLine:
    """Change the report of the first seat of a bot."""
    seats = list(match.bots)
    number = next(seat.seat for seat in seats if seat.bot == bot)
    report: SeatReport = replace(seats[number], faults=tuple(faults), **changes)
    seats[number] = report
    return replace(match, bots=tuple(seats))


def reasons(match: MatchLine, conduct: ConductTable = STANDARD) -> dict[str, str]:
    return {forfeit.bot: forfeit.reason for forfeit in forfeits_of(match, conduct)}


@pytest.mark.parametrize(
    ("kind", "reason", "switched_off"),
    [
        ("start_failure", "never_started", replace(STANDARD, never_started=False)),
        ("absent", "absent", replace(STANDARD, absent=False)),
        ("crash", "gone", replace(STANDARD, gone=False)),
        ("out_of_memory", "gone", replace(STANDARD, gone=False)),
        ("disconnect", "gone", replace(STANDARD, gone=False)),
        ("left", "gone", replace(STANDARD, gone=False)),
    ],
)
def test_each_cause_is_a_forfeit_unless_it_is_switched_off_with_all_that_follows_from_it(
    kind: FaultKind, reason: str, switched_off: ConductTable
) -> None:
    """The moves that the server made for it are no second reason."""
    match = with_seat(line(0, 0, ("a", "b"), [9, 1]), "a", [Fault(kind, 1, "")], defaults=40)
    assert reasons(match) == {"a": reason}
    assert reasons(match, switched_off) == {}


def test_late_or_illegal_answers_are_no_forfeit_until_they_are_as_many_as_the_table_says() -> None:
    faults = [Fault("time", 6, ""), Fault("illegal", 5, ""), Fault("garbage", 9, "")]
    match = with_seat(line(0, 0, ("a", "b"), [9, 1]), "a", faults, defaults=9)
    assert reasons(match) == {}
    assert reasons(match, replace(STANDARD, defaults=9)) == {"a": "defaults"}
    assert reasons(match, replace(STANDARD, defaults=0)) == {}
    assert reasons(with_seat(match, "a", [Fault("hang", 3, "")], defaults=10)) == {"a": "defaults"}


def test_a_bot_that_lost_its_connection_and_came_back_is_not_gone() -> None:
    back = Fault("disconnect", 1, "closed its connection and missed 1 answer", came_back=True)
    match = with_seat(line(0, 0, ("a", "b"), [9, 1]), "a", [back], defaults=1)
    assert reasons(match) == {}
    assert reasons(with_seat(match, "a", [back], defaults=10)) == {"a": "defaults"}


def test_a_team_forfeits_if_one_of_its_partners_does() -> None:
    match = with_seat(line(0, 0, ("a", "b"), [9, 1], game="team_asia"), "b", [NEVER])
    assert [seat.faults for seat in match.bots] == [(), (NEVER,), (), ()]
    [forfeit] = forfeits_of(match, STANDARD)
    assert (forfeit.team, forfeit.bot, forfeit.reason) == (1, "b", "never_started")


@given(st.lists(st.integers(1, 5), min_size=2, max_size=5), st.sets(st.integers(0, 4)))
def test_who_forfeits_is_last_and_the_others_keep_their_order(ranks: list[int], out: set[int]) -> None:
    by_rules = [1 + sum(other < rank for other in ranks) for rank in ranks]
    out &= set(range(len(ranks)))
    found = ranks_with(by_rules, out)
    playing = [team for team in range(len(ranks)) if team not in out]
    for one in playing:
        for other in playing:
            assert (found[one] < found[other]) == (by_rules[one] < by_rules[other])
        assert all(found[one] < found[last] for last in out)
    assert len({found[team] for team in out}) <= 1
    assert found == tuple(1 + sum(other < rank for other in found) for rank in found)


def test_a_judged_line_keeps_points_and_ranks_by_the_rules_and_is_rated_by_the_others() -> None:
    match = with_seat(line(0, 0, ("a", "b", "c"), [90, 50, 10]), "a", [NEVER], defaults=40)
    [found] = judged([match], STANDARD, ())
    assert (found.ranks, found.ranks_by_rules, found.points) == ((3, 1, 2), (1, 2, 3), (90, 50, 10))
    assert [seat.rank for seat in found.bots] == [1, 2, 3]
    [rated] = read_outcomes(line_of(found).decode()).outcomes
    assert rated.ranks == outcome_of(found).ranks == (3, 1, 2)
    assert judged([found], STANDARD, ()) == (found,)


def test_without_conduct_a_line_has_no_forfeits_and_reads_back(tmp_path: Path) -> None:
    match = with_seat(line(0, 0, ("a", "b"), [90, 50]), "a", [NEVER], defaults=40)
    [found] = judged([match], None, ("a",))
    assert found == match
    written = line_of(found)
    assert b"ranks_by_rules" not in written
    assert b"forfeits" not in written
    [block] = WholeBlocks([written, line_of(replace(match, rotation=1))])
    assert block.matches[0] == match


def test_a_contest_takes_two_bots_that_play_to_the_end_whatever_is_called_a_forfeit() -> None:
    two = with_seat(line(0, 0, ("a", "b"), [9, 1]), "a", [NEVER])
    three = with_seat(line(0, 0, ("a", "b", "c"), [9, 1, 0]), "a", [NEVER])
    assert (is_contest(two), is_contest(three)) == (False, True)
    assert not any(forfeits_of(each, NOTHING) for each in (two, three))


# -- suspensions -------------------------------------------------------------------------------------


def block(number: int, *good: bool, size: int = 2, conduct: ConductTable = STANDARD) -> list[MatchLine]:
    """Return a block in which "a" plays well, or never starts, rotation by rotation."""
    names = ["a", "b", "c"][:size]
    lines = [
        with_seat(line(number, rotation, names, [9, 1, 0][:size]), "a", [] if is_good else [NEVER])
        for rotation, is_good in enumerate(good)
    ]
    return [*judged(lines, conduct, ())]


def test_so_many_forfeits_in_a_row_suspend_a_bot_and_one_good_match_ends_the_row() -> None:
    suspensions = Suspensions(STANDARD)
    blocks = [(False, False), (False, False), (True, True), (False, True), (True, False), (False, False)]
    for number, played_well in enumerate(blocks):
        suspensions.add(block(number, *played_well))
        assert not suspensions.names
    suspensions.add(block(6, False, False))
    [found] = suspensions.after(6)
    assert (found.bot, found.block, found.forfeits) == ("a", 6, 5)
    assert suspensions.names == {"a"}
    assert suspensions.sets == [frozenset(), frozenset({"a"})]


def test_the_order_of_the_lines_decides_and_nothing_else() -> None:
    five_in_a_row = [*block(0, True, False), *block(1, False, False), *block(2, False, False)]
    interrupted = [*block(1, False, False), *block(0, True, False), *block(2, False, False)]
    assert Suspensions(STANDARD, five_in_a_row).names == {"a"}
    assert Suspensions(STANDARD, interrupted).names == frozenset()


def test_nobody_is_suspended_if_that_is_switched_off_or_for_forfeits_that_are_none() -> None:
    lines = [each for number in range(9) for each in block(number, False, False)]
    assert Suspensions(STANDARD, lines).names == {"a"}
    assert Suspensions(replace(STANDARD, suspend_after=0), lines).names == frozenset()
    assert Suspensions(None, lines).names == frozenset()
    harmless = [each for number in range(9) for each in block(number, False, False, conduct=NOTHING)]
    assert Suspensions(STANDARD, harmless).names == frozenset()


def test_after_its_suspension_a_bot_forfeits_every_match_however_it_played() -> None:
    [first, second] = judged(block(7, True, False), STANDARD, {"a"})
    assert [forfeit.reason for match in (first, second) for forfeit in match.forfeits] == ["suspended"] * 2
    assert (first.ranks, first.ranks_by_rules) == ((2, 1), (1, 2))
