"""What an episode is worth to a seat, from results that are written down here."""

from __future__ import annotations

import pytest

from stellwerk_learn.rewards import expect_reward, reward_of
from stellwerk_protocol.results import Result, TeamResult


def result(points: list[int], ranks: list[int], partners: int = 1) -> Result:
    """Return the result of teams with these points and ranks, in the order of the seats."""
    teams = tuple(
        TeamResult(
            team=team,
            seats=tuple(range(team * partners, (team + 1) * partners)),
            rank=rank,
            points=of_team,
            route_points=0,
            tickets=(),
            bonuses=(),
            completed_tickets=0,
            longest_path=0,
        )
        for team, (of_team, rank) in enumerate(zip(points, ranks, strict=True))
    )
    return Result(
        reason="trains",
        turns=60,
        ranks=tuple(team.rank for team in teams for _ in team.seats),
        teams=teams,
    )


@pytest.mark.parametrize(
    ("ranks", "rewards"),
    [
        ([1, 2], [1, -1]),
        ([1, 1], [0, 0]),
        ([2, 1, 3], [0, 1, -1]),
        ([1, 1, 3], [0.5, 0.5, -1]),
        ([1, 2, 2], [1, -0.5, -0.5]),
        ([1, 1, 1], [0, 0, 0]),
        ([1, 2, 2, 4], [1, 0, 0, -1]),
        ([3, 1, 1, 3], [-2 / 3, 2 / 3, 2 / 3, -2 / 3]),
    ],
)
def test_the_reward_for_the_rank_counts_teams_behind_and_ahead_and_none_that_is_level(
    ranks: list[int], rewards: list[float]
) -> None:
    ended = result([100 - rank for rank in ranks], ranks)
    assert [reward_of("rank", ended, seat) for seat in range(len(ranks))] == pytest.approx(rewards)


def test_the_margin_is_that_to_the_best_other_team() -> None:
    ended = result([120, 90, 150], [2, 3, 1])
    assert [reward_of("margin", ended, seat) for seat in range(3)] == pytest.approx([-0.3, -0.6, 0.3])
    level = result([120, 120, 80], [1, 1, 3])
    assert [reward_of("margin", level, seat) for seat in range(3)] == pytest.approx([0, 0, -0.4])


def test_partners_get_what_their_team_gets() -> None:
    ended = result([80, 110], [2, 1], partners=2)
    assert [reward_of("rank", ended, seat) for seat in range(4)] == [-1, -1, 1, 1]
    assert [reward_of("points", ended, seat) for seat in range(4)] == pytest.approx([0.8, 0.8, 1.1, 1.1])


def test_a_reward_of_another_name_is_refused_with_those_there_are() -> None:
    assert expect_reward("margin") == "margin"
    with pytest.raises(ValueError, match=r"reward: expected one of rank, margin, points, found 'ranks'"):
        expect_reward("ranks")
