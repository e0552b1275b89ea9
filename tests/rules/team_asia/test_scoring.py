"""What counts at the end for a team, and who wins (ASIA-19 to ASIA-22)."""

from __future__ import annotations

import pytest

from stellwerk_engine.core.state import State
from stellwerk_protocol.results import Bonus, Result, TeamResult, TicketScore
from tests.support import final_result, own, set_tickets, started

EXPRESS = Bonus("asia_express", 10)
EXPLORER = Bonus("asia_explorer", 10)


def without_tickets(seats: int = 4) -> State:
    state = started("team_asia", seats)
    board = state.game.board
    state.ticket_pile[:0] = [n for n in range(len(board.tickets)) if sum(state.shared_masks) >> n & 1]
    state.shared_masks = [0] * (seats // 2)
    for seat in range(seats):
        set_tickets(state, seat)
    return state


def share(state: State, team: int, *names: str) -> None:
    """Put these tickets from the pile on the team's holder."""
    for name in names:
        ticket = state.game.board.ticket_ids[name]
        state.ticket_pile.remove(ticket)
        state.shared_masks[team] |= 1 << ticket


def scores(state: State) -> tuple[TeamResult, ...]:
    return final_result(state).teams


def leveled(state: State) -> Result:
    """Return the result after giving or taking the points by which the other teams differ from the first."""
    first, *others = scores(state.copy())
    for other in others:
        state.points[other.seats[0]] += first.points - other.points
    result = final_result(state)
    assert len({team.points for team in result.teams}) == 1
    return result


# -- tickets -----------------------------------------------------------------------------------------


def test_shared_and_secret_tickets_of_both_partners_are_scored() -> None:
    """ASIA-19."""
    state = without_tickets()
    set_tickets(state, 0, "baroda-bangalore")
    set_tickets(state, 1, "nanchang-hanoi")
    share(state, 0, "kabul-peking")
    set_tickets(state, 2, "karachi-hanoi")
    team, opponents = scores(state)
    assert set(team.tickets) == {
        TicketScore("baroda-bangalore", completed=False, points=-5),
        TicketScore("nanchang-hanoi", completed=False, points=-6),
        TicketScore("kabul-peking", completed=False, points=-17),
    }
    assert team.points == -28
    assert (opponents.tickets, opponents.points) == (
        (TicketScore("karachi-hanoi", completed=False, points=-14),),
        -14,
    )


@pytest.mark.parametrize("holder", [0, 1, None])
def test_a_ticket_is_completed_by_the_routes_of_both_partners_together(holder: int | None) -> None:
    """ASIA-19."""
    state = without_tickets()
    if holder is None:
        share(state, 0, "baroda-bangalore")
    else:
        set_tickets(state, holder, "baroda-bangalore")
    own(state, 0, "baroda-bombay-black")
    own(state, 1, "bangalore-bombay-white")
    team = scores(state)[0]
    assert team.tickets == (TicketScore("baroda-bangalore", completed=True, points=5),)
    assert team.completed_tickets == 1
    assert team.points == 1 + 7 + 5 + EXPRESS.points + EXPLORER.points


def test_a_ticket_is_completed_by_the_partners_routes_alone() -> None:
    """ASIA-19."""
    state = without_tickets()
    set_tickets(state, 0, "baroda-bangalore")
    own(state, 1, "baroda-bombay-black", "bangalore-bombay-white")
    assert scores(state)[0].completed_tickets == 1


def test_the_routes_of_other_teams_complete_nothing() -> None:
    """ASIA-19."""
    state = without_tickets()
    set_tickets(state, 1, "baroda-bangalore")
    own(state, 1, "baroda-bombay-black")
    own(state, 2, "bangalore-bombay-white")
    assert scores(state)[0].tickets == (TicketScore("baroda-bangalore", completed=False, points=-5),)


# -- Asia Express ------------------------------------------------------------------------------------


def test_the_express_goes_to_the_longest_path_over_both_partners_routes() -> None:
    """ASIA-20."""
    state = without_tickets()
    own(state, 0, "baroda-bombay-black")  # 1
    own(state, 1, "bangalore-bombay-white")  # 4, which continues it
    own(state, 2, "dihua-kashgar")  # 4, longer than each of them
    team, opponents = scores(state)
    assert (team.longest_path, team.bonuses) == (5, (EXPRESS,))
    assert (opponents.longest_path, opponents.bonuses) == (4, ())


def test_routes_of_partners_that_do_not_meet_are_no_path_together() -> None:
    """ASIA-20."""
    state = without_tickets()
    own(state, 0, "baroda-delhi-blue")  # 3
    own(state, 1, "canton-foochow-blue")  # 3
    own(state, 2, "dihua-kashgar")  # 4
    team, opponents = scores(state)
    assert (team.longest_path, team.bonuses) == (3, ())
    assert (opponents.longest_path, opponents.bonuses) == (4, (EXPRESS,))


def test_a_path_counts_each_track_of_two_partners_once() -> None:
    """ASIA-20."""
    state = without_tickets(6)
    own(state, 0, "baroda-bombay-black")
    own(state, 1, "baroda-bombay-green")
    assert scores(state)[0].longest_path == 2  # there and back


def test_each_team_that_ties_has_the_express() -> None:
    """ASIA-20."""
    state = without_tickets(6)
    own(state, 0, "dihua-kashgar")  # 4
    own(state, 2, "baroda-delhi-blue")  # 3
    own(state, 3, "baroda-bombay-black")  # 1
    own(state, 4, "canton-foochow-blue")  # 3
    assert [team.bonuses for team in scores(state)] == [(EXPRESS,), (EXPRESS,), ()]


def test_nobody_has_the_express_without_a_route() -> None:
    """ASIA-20."""
    assert [team.bonuses for team in scores(without_tickets())] == [(), ()]


# -- Asia Explorer -----------------------------------------------------------------------------------


def test_the_explorer_goes_to_the_team_that_completed_most_tickets() -> None:
    """ASIA-21."""
    state = without_tickets()
    own(state, 0, "baroda-bombay-black")
    own(state, 1, "bangalore-bombay-white")
    set_tickets(state, 0, "baroda-bangalore", "kabul-peking", "delhi-peking")  # one of three
    own(
        state,
        2,
        "delhi-lahore-red",
        "lahore-rawalpindi",
        "cawnpore-delhi",
        "cawnpore-nagpur",
        "lahore-sukkur",
    )
    set_tickets(state, 2, "rawalpindi-nagpur")
    share(state, 1, "sukkur-cawnpore")
    team, opponents = scores(state)
    assert (team.completed_tickets, opponents.completed_tickets) == (1, 2)
    assert EXPLORER not in team.bonuses
    assert EXPLORER in opponents.bonuses


def test_each_team_that_ties_has_the_explorer_whatever_its_tickets_are_worth() -> None:
    """ASIA-21."""
    state = without_tickets(6)
    own(state, 0, "baroda-bombay-black", "bangalore-bombay-white")
    set_tickets(state, 1, "baroda-bangalore")  # 5
    own(state, 3, "delhi-lahore-red", "lahore-rawalpindi", "cawnpore-delhi", "cawnpore-nagpur")
    share(state, 1, "rawalpindi-nagpur")  # 6
    set_tickets(state, 4, "kabul-peking")
    assert [EXPLORER in team.bonuses for team in scores(state)] == [True, True, False]


def test_nobody_has_the_explorer_without_a_completed_ticket() -> None:
    """ASIA-21."""
    state = without_tickets()
    own(state, 0, "dihua-kashgar")
    set_tickets(state, 0, "kabul-peking")
    assert [team.bonuses for team in scores(state)] == [(EXPRESS,), ()]


def test_express_and_explorer_bring_ten_points_each() -> None:
    """ASIA-20, ASIA-21."""
    state = without_tickets()
    own(state, 0, "baroda-bombay-black", "bangalore-bombay-white")
    share(state, 0, "baroda-bangalore")
    team = scores(state)[0]
    assert team.bonuses == (EXPRESS, EXPLORER)
    assert team.points == team.route_points + 5 + 20


# -- who wins ----------------------------------------------------------------------------------------


def test_most_points_win_and_partners_have_one_rank() -> None:
    """ASIA-22."""
    state = without_tickets(6)
    own(state, 1, "canton-foochow-blue")
    own(state, 2, "cawnpore-junction_south")
    set_tickets(state, 4, "kabul-peking")
    result = final_result(state)
    assert result.ranks == (2, 2, 1, 1, 3, 3)
    assert [team.rank for team in result.teams] == [2, 1, 3]


def test_points_count_before_tickets_and_paths() -> None:
    """ASIA-22."""
    state = without_tickets()
    own(state, 0, "baroda-bombay-black", "bangalore-bombay-white")
    share(state, 0, "baroda-bangalore")
    state.points[2] += 50
    assert final_result(state).ranks == (2, 2, 1, 1)


def test_of_equal_points_more_completed_tickets_win() -> None:
    """ASIA-22."""
    state = without_tickets()
    own(state, 0, "baroda-bombay-black", "bangalore-bombay-white")  # a path of 5
    share(state, 0, "baroda-bangalore")
    own(state, 2, "dihua-ulan_bator")  # a path of 7
    result = leveled(state)
    assert [team.completed_tickets for team in result.teams] == [1, 0]
    assert [team.longest_path for team in result.teams] == [5, 7]
    assert result.ranks == (1, 1, 2, 2)


def test_of_equal_points_and_tickets_the_longer_path_wins() -> None:
    """ASIA-22."""
    state = without_tickets()
    own(state, 0, "dihua-kashgar")
    own(state, 2, "baroda-delhi-blue")
    own(state, 3, "baroda-bombay-black", "bombay-nagpur")
    result = leveled(state)
    assert [team.longest_path for team in result.teams] == [4, 6]
    assert result.ranks == (2, 2, 1, 1)


def test_what_no_tie_break_parts_is_shared() -> None:
    """ASIA-22."""
    state = without_tickets(6)
    own(state, 0, "dihua-kashgar")
    own(state, 2, "peking-shanghai-red")
    assert leveled(state).ranks == (1, 1, 1, 1, 3, 3)
