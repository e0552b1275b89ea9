"""The worth of an episode to a seat, known at its end: 0 at every step before.

Partners get the same. `rank`: +1 for a team ahead of all others, -1 for one behind all, a tie in the middle.
`margin`: the points that the team is ahead of the best other one, in hundreds. `points`: its own points, in
hundreds.
"""

from __future__ import annotations

from typing import Final, Literal, assert_never, get_args

from stellwerk_protocol.names import Seat
from stellwerk_protocol.results import Result

Reward = Literal["rank", "margin", "points"]

REWARDS: Final[tuple[Reward, ...]] = get_args(Reward)
LOST: Final = -1.0  # an episode that ends by an illegal action


def reward_of(kind: Reward, result: Result, seat: Seat) -> float:
    team = result.team_of(seat)
    others = [other for other in result.teams if other is not team]
    match kind:
        case "rank":
            behind = sum(other.rank > team.rank for other in others)
            ahead = sum(other.rank < team.rank for other in others)
            return (behind - ahead) / len(others)
        case "margin":
            return (team.points - max(other.points for other in others)) / 100
        case "points":
            return team.points / 100
        case _:
            assert_never(kind)


def expect_reward(kind: str) -> Reward:
    """Return the kind of reward. ValueError if there is none of that name."""
    for reward in REWARDS:
        if reward == kind:
            return reward
    raise ValueError(f"reward: expected one of {', '.join(REWARDS)}, found {kind!r:.60}")
