"""Games between policies are played to the end by the rules, and recorded as they were played."""

from __future__ import annotations

import pytest

from stellwerk_bots.planner.policy import planner
from stellwerk_bots.policies import Policy, random_policy
from stellwerk_bots.self_play import Recording, play_game
from stellwerk_engine import engine
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.state import Move, Seat, State
from stellwerk_engine.replays.verify import verify
from stellwerk_engine.replays.writer import header_of
from tests.support import every_variant, listed, table

SEED = seed_from_text("self-play")


def policies_for(seat_count: int) -> list[Policy]:
    return [planner if seat % 2 else random_policy("s", str(seat)) for seat in range(seat_count)]


@every_variant
def test_a_recorded_game_is_the_game_that_was_played(variant: tuple[str, int, tuple[str, ...]]) -> None:
    game = table(*variant)
    pieces: list[bytes] = []
    names = [f"bot-{seat}" for seat in range(game.seat_count)]
    recorded = play_game(
        game, SEED, policies_for(game.seat_count), Recording(pieces.append, header_of(game, names))
    )
    assert recorded == play_game(game, SEED, policies_for(game.seat_count))

    lines = b"".join(pieces).splitlines(keepends=True)
    verdict = verify(lines)
    assert verdict.good, verdict.message
    assert verdict.result == recorded.result
    assert verdict.header is not None
    assert [player.name for player in verdict.header.seats] == names
    assert sum(b'"type":"move"' in line for line in lines) == sum(recorded.moves)


def test_each_seat_is_asked_with_its_own_list_of_moves() -> None:
    game = table("team_asia", 4)
    asked: list[Seat] = []

    def policy_of(seat: Seat) -> Policy:
        def choose(state: State, asked_seat: Seat, moves: list[Move]) -> Move:
            assert asked_seat == seat
            assert [move.wire for move in moves] == listed(state, seat)
            asked.append(seat)
            return moves[0]

        return choose

    played = play_game(game, SEED, [policy_of(seat) for seat in range(4)])
    assert played.moves == tuple(asked.count(seat) for seat in range(4))
    assert min(played.moves) > 0


def test_the_seed_deals_the_game() -> None:
    game = table("usa", 2)
    first_hands: list[list[int]] = []

    def look(state: State, seat: Seat, moves: list[Move]) -> Move:
        first_hands.append(list(state.hands))
        return moves[0]

    play_game(game, SEED, [look, look])
    assert first_hands[0] == engine.new_game(game, Dice(SEED)).hands


def test_every_seat_needs_a_policy() -> None:
    with pytest.raises(ValueError, match="1 policies for 2 seats"):
        play_game(table("usa", 2), SEED, [planner])
