"""Locomotives drawn blind: a bot that sees the pile stands out, and honest bots do not."""

from __future__ import annotations

import pytest

from stellwerk_bots.planner.policy import planner
from stellwerk_bots.policies import Policy, random_policy
from stellwerk_engine import engine
from stellwerk_engine.core.cards import LOCOMOTIVE
from stellwerk_engine.core.state import Events, Move, Seat, State
from stellwerk_engine.parts.draw_cards import DrawFirst, DrawSecond, TakeFirst, TakeSecond
from stellwerk_engine.replays.blind_draws import BlindDraws, blind_draws
from stellwerk_tournament.store.blind_sums import BlindSums
from tests.support import dealt


def peeker(state: State, seat: Seat, moves: list[Move]) -> Move:
    """Move as planner does, but look at the top of the pile: draw blind only what is a locomotive."""
    move = planner(state, seat, moves)
    if not isinstance(move, DrawFirst | DrawSecond):
        return move
    draws = [each for each in moves if isinstance(each, DrawFirst | DrawSecond)]
    takes = [each for each in moves if isinstance(each, TakeFirst | TakeSecond)]
    return draws[0] if not takes or state.pile[-1] == LOCOMOTIVE else takes[0]


def played(blocks: int, one: Policy, other: Policy) -> tuple[BlindSums, BlindSums]:
    """Play blocks of two matches, each with one deal, and return the sums of both bots."""
    sums = BlindSums(), BlindSums()
    for block in range(blocks):
        first, second = _draws(block, one, other), _draws(block, other, one)
        sums[0].add((first[0], second[1]))
        sums[1].add((first[1], second[0]))
    return sums


def _draws(block: int, *policies: Policy) -> tuple[BlindDraws, ...]:
    events: Events = []
    state = dealt("usa", 2, seed=f"block {block}", events=events)
    while state.pending is not None:
        for seat in engine.owing(state):
            move = policies[seat](state, seat, engine.legal(state, seat))
            engine.apply(state, seat, move, events)
    return blind_draws(events, state.game.seats_of_team)


def test_a_bot_that_sees_the_top_of_the_pile_has_a_high_z_and_its_opponent_has_not() -> None:
    peeked, honest = played(10, peeker, planner)
    assert peeked.locomotives > 3 * peeked.expected
    assert peeked.z is not None
    assert peeked.z > 10
    assert honest.z is not None
    assert abs(honest.z) < 2.5


def test_honest_bots_have_a_z_near_zero() -> None:
    for sums in played(12, planner, random_policy("seed", "match")):
        assert sums.z is not None
        assert abs(sums.z) < 2.5


def test_matches_of_a_block_that_draw_the_same_cards_count_once() -> None:
    sums = BlindSums()
    for count in (1, 6, 2, 0, 4, 3, 5, 1):
        sums.add((BlindDraws(20, count, 2.5, 2.2),) * 2)
    assert sums.z == pytest.approx((22 - 8 * 2.5) / (8 * 2.2) ** 0.5)


def test_the_variance_is_between_that_of_independent_matches_and_that_of_equal_ones() -> None:
    """Blocks that hit the mean by chance do not make z grow, and a bot that always draws a locomotive cannot
    hide by what its blocks vary."""
    on_the_mean, always = BlindSums(), BlindSums()
    for _ in range(50):
        on_the_mean.add((BlindDraws(20, 3, 2.5, 2.0), BlindDraws(20, 2, 2.5, 2.0)))
        always.add((BlindDraws(10, 10, 1.0, 0.5), BlindDraws(10, 10, 1.0, 0.5)))
    assert on_the_mean.z == 0
    on_the_mean.locomotives += 20
    assert on_the_mean.z == pytest.approx(20 / (100 * 2.0) ** 0.5)
    assert always.z == pytest.approx(900 / (50 * 4 * 0.5) ** 0.5)


def test_without_a_blind_draw_there_is_no_z() -> None:
    sums = BlindSums()
    sums.add((BlindDraws(0, 0, 0.0, 0.0),) * 2)
    assert sums.z is None
