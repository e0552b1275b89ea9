"""What one deal in every seat was worth, and where nothing is said of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stellwerk_tournament.evidence.strength import deal_lines, deals_of
from stellwerk_tournament.evidence.worth import Deals, Finish
from stellwerk_tournament.ratings.deal_worth import (
    FEWEST_BLOCKS,
    DealWorth,
    SharedDeals,
    TableWorth,
    gain_in_words,
    table_worths,
    worth_in_words,
)
from stellwerk_tournament.ratings.outcomes import Outcome
from tests.tournament.ratings.coverage_simulation import World
from tests.tournament.ratings.deal_worth_simulation import measure

SPLIT, SWEPT, LOST = (1.0, 0.0), (1.0, 1.0), (0.0, 0.0)


def worth_of(*blocks: tuple[float, ...], times: int = 1) -> DealWorth | None:
    deals = SharedDeals()
    for block in blocks * times:
        deals.add("a and b", [block])
    return deals.worth()


def outcomes(
    *blocks: tuple[float, ...], names: tuple[str, str] = ("a", "b"), mark: str = ""
) -> list[Outcome]:
    return [
        Outcome(names, (1, 2) if score else (2, 1), block=f"{mark}{number}", game="usa")
        for number, block in enumerate(blocks)
        for score in block
    ]


@pytest.mark.parametrize(
    ("blocks", "worth"),
    [
        ((SWEPT, LOST, SWEPT, LOST), 0.5),  # the second match of a deal says nothing new
        ((SWEPT, LOST, SPLIT, SPLIT), 1.0),  # as independent matches would end
        ((SWEPT, LOST, *[SPLIT] * 6), 2.0),
    ],
)
def test_the_worth_is_the_variance_over_single_matches_by_that_over_blocks(
    blocks: tuple[tuple[float, ...], ...], worth: float
) -> None:
    found = worth_of(*blocks, times=100)
    assert found is not None
    assert found.worth == pytest.approx(worth, abs=0.01)
    assert found.low < worth
    assert found.high is None or worth < found.high
    assert found.blocks == 100 * len(blocks)


def test_nothing_is_said_of_too_few_blocks_of_single_matches_and_of_blocks_that_ended_alike() -> None:
    few = [SWEPT, LOST, SPLIT] * (FEWEST_BLOCKS // 3)
    assert worth_of(*few) is not None
    assert worth_of(*few[1:]) is None
    assert worth_of((1.0,), (0.0,), times=100) is None
    assert worth_of(SPLIT, times=100) is None
    assert worth_of(SWEPT, times=100) is None


def test_a_rare_result_that_has_not_occurred_leaves_the_interval_wide() -> None:
    """Thirty blocks with one loss each way would look as if they had no error."""
    found = worth_of(*[SWEPT] * 60, (1.0, 0.0))
    assert found is not None
    assert found.low < 0.9
    assert found.high is not None
    assert found.high > 1.1


def test_blocks_that_nearly_all_end_alike_bound_the_worth_from_below_only() -> None:
    found = worth_of(*[SPLIT] * 60, SWEPT, LOST)
    assert found is not None
    assert found.high is None
    assert 3 < found.low < found.worth
    assert worth_in_words(found).endswith(f"(95 %: at least {found.low:.2f})")


def test_strength_is_no_luck_so_each_lineup_has_its_own_mean() -> None:
    even = [SWEPT, LOST, SPLIT, SPLIT] * 25
    strong = [SWEPT, SWEPT, SWEPT, SPLIT] * 25
    together = table_worths([*outcomes(*even), *outcomes(*strong, names=("c", "d"), mark="x")])
    mixed = table_worths([*outcomes(*even), *outcomes(*strong, mark="x")])
    assert together[0].worth == pytest.approx(1.045, abs=0.01)
    assert mixed[0].worth < together[0].worth


def test_the_order_of_matches_and_of_players_changes_nothing() -> None:
    matches = outcomes(*[SWEPT, LOST, SPLIT, SPLIT, (0.0, 1.0)] * 10)
    turned = [replace(each, entrants=each.entrants[::-1], ranks=each.ranks[::-1]) for each in matches]
    [table] = table_worths(matches)
    assert (table.game, table.players, table.blocks) == ("usa", 2, 50)
    assert table_worths(turned[::-1]) == (table,)


def test_matches_with_a_deal_of_their_own_and_without_a_block_say_nothing() -> None:
    matches = outcomes(*[SWEPT, LOST, SPLIT, SPLIT] * 20)
    assert table_worths(matches)
    assert not table_worths([replace(each, has_own_deal=True) for each in matches])
    assert not table_worths([replace(each, block=None) for each in matches])


def test_few_blocks_of_the_same_entrants_are_one_observation() -> None:
    """Forty pairs that met twice each: the figure comes from all of them together."""
    deals = SharedDeals()
    for pair in range(40):
        for block in (SWEPT, SPLIT) if pair % 2 else (LOST, SPLIT):
            deals.add(pair, [block])
    found = deals.worth()
    assert found is not None
    assert found.blocks == 80
    deals.add("met once", [SWEPT])
    assert deals.worth() == found


def test_points_count_where_all_matches_are_won() -> None:
    deals = Deals()
    for number in range(40):
        luck = 20 * (number % 2)
        deals.add_table(
            [
                {"a": Finish(1, 100 + luck), "b": Finish(2, 50)},
                {"a": Finish(1, 120 - luck), "b": Finish(2, 50 + number % 3)},
            ]
        )
    found = deals_of(deals)
    assert found.wins is None
    assert found.points is not None
    assert found.points.low > 1
    [line] = deal_lines(found, " of usa of 2")
    assert line.startswith("by points, each match of usa of 2 was worth ")


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ((1.38, 1.92), "a gain"),
        ((0.7, 0.9), "a loss"),
        ((0.9, 1.1), "about 1: no gain"),
        ((0.7, 1.6), "no gain is shown"),
    ],
)
def test_words_say_plainly_whether_there_is_a_gain(limits: tuple[float, float], words: str) -> None:
    assert gain_in_words(DealWorth(1.0, *limits, 40)) == words


def test_the_worth_is_never_shown_without_its_interval() -> None:
    table = TableWorth(1.62, 1.38, 1.92, 40, "usa", 2)
    assert worth_in_words(table) == "1.62 single ones (95 %: 1.38 to 1.92)"


@pytest.mark.parametrize("skills", [(0.0, 0.0), (0.0, 3.0), (0.0, 0.0, 0.0, 0.0)])
def test_intervals_hold_the_truth_in_simulated_blocks(skills: tuple[float, ...]) -> None:
    """The simulation of `deal_worth_simulation.py`, small and with a fixed seed."""
    covered, share = measure(World(skills, len(skills), 60), 100, seed=1)
    assert covered >= 0.9
    assert share > 0.9
