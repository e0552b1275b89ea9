"""Ranks (GEN-07)."""

from __future__ import annotations

import pytest

from stellwerk_engine.core.state import State
from tests.support import final_result, own, set_tickets, started


def with_points(game: str, *points: int) -> State:
    """Start a game in which the seats have these points and no tickets."""
    state = started(game, len(points))
    for seat in range(len(points)):
        set_tickets(state, seat)
    if state.shared_masks:
        state.shared_masks = [0] * len(state.shared_masks)
    state.points = list(points)
    return state


@pytest.mark.parametrize(
    ("points", "ranks"),
    [
        ((30, 20, 10), (1, 2, 3)),
        ((10, 20, 30), (3, 2, 1)),
        ((20, 20, 10), (1, 1, 3)),
        ((20, 10, 20), (1, 3, 1)),
        ((10, 20, 10), (2, 1, 2)),
        ((10, 20, 20, 5), (3, 1, 1, 4)),
        ((10, 10, 20, 20), (3, 3, 1, 1)),
        ((20, 10, 10, 10, 5), (1, 2, 2, 2, 5)),
        ((7, 7, 7, 7, 7), (1, 1, 1, 1, 1)),
        ((-5, -7, 0), (2, 3, 1)),
    ],
)
def test_a_rank_is_one_plus_the_number_of_players_ahead(
    points: tuple[int, ...], ranks: tuple[int, ...]
) -> None:
    """GEN-07."""
    result = final_result(with_points("usa", *points))
    assert result.ranks == ranks
    assert tuple(team.rank for team in result.teams) == ranks


def test_players_whom_a_tie_break_parts_do_not_share_a_rank() -> None:
    """GEN-07: only those whom the last one leaves level do."""
    state = with_points("united_kingdom", 0, 0, 0)
    set_tickets(state, 1, "leeds-manchester")
    own(state, 1, "leeds-manchester-blue")
    state.points = [20, 19, 20]
    result = final_result(state)
    assert [team.points for team in result.teams] == [20, 20, 20]
    assert result.ranks == (2, 1, 2)


@pytest.mark.parametrize(
    ("points", "ranks"),
    [
        ((5, 5, 20, 0), (2, 2, 1, 1)),
        ((30, 0, 10, 10), (1, 1, 2, 2)),
        ((10, 20, 20, 10), (1, 1, 1, 1)),
        ((0, 10, 20, 0, 5, 5), (2, 2, 1, 1, 2, 2)),
    ],
)
def test_partners_have_the_rank_of_their_team(points: tuple[int, ...], ranks: tuple[int, ...]) -> None:
    """GEN-07: and the number of teams counts, not that of players."""
    result = final_result(with_points("team_asia", *points))
    assert result.ranks == ranks
    assert tuple(team.rank for team in result.teams) == ranks[::2]
