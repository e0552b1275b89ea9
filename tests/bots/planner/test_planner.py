"""The bot `planner`, and the law that all bots which think ahead share, on real messages."""

from __future__ import annotations

import pytest

from stellwerk_bots.greedy import new_greedy
from stellwerk_bots.imagined import dice_for, game_of, imagination_of
from stellwerk_bots.planner.bot import new_planner
from stellwerk_bots.planner.map_worth import best_listed
from stellwerk_bots.planner.network_plan import cheapest_path
from stellwerk_bots.planner.policy import planner
from stellwerk_engine import engine
from stellwerk_engine.core.board import mask_of
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.knowledge.imagine import imagine
from stellwerk_engine.knowledge.view import view
from tests.bots.table import ask_for, move_of, play_block, play_match, start_for
from tests.support import VARIANTS, dealt, every_variant, started, table, variant_id

Variant = tuple[str, int, tuple[str, ...]]

ON_A_MAP = [variant for variant in VARIANTS if table(*variant).board.routes]
DUELS: tuple[Variant, ...] = (
    ("usa", 2, ()),
    ("card_game", 2, ()),
    ("team_asia", 4, ()),
    ("united_kingdom", 2, ()),
    ("europe", 2, ()),
)


@every_variant
def test_the_start_message_makes_the_game_that_is_played(variant: Variant) -> None:
    game = table(*variant)
    imagined = game_of(start_for(game, 0))
    assert (imagined.rules, imagined.options, imagined.seat_count) == (
        game.rules,
        game.options,
        game.seat_count,
    )
    assert imagined.board.file.digest == game.board.file.digest


@every_variant
def test_an_imagined_state_lists_the_moves_of_the_ask(variant: Variant) -> None:
    """So an index from it may be sent."""
    state = dealt(*variant)
    asked = 0
    while state.pending is not None:
        for seat in engine.owing(state):
            asked += 1
            moves = engine.legal(state, seat)
            if asked % 3 == 0:
                ask = ask_for(state, seat, asked)
                imagined = imagination_of(state.game, ask).deal(dice_for("seed", ask))
                assert [move.wire for move in engine.legal(imagined, seat)] == [move.wire for move in moves]
            engine.apply(state, seat, planner(state, seat, moves))


@every_variant
def test_the_planner_plays_whole_games(variant: Variant) -> None:
    game = table(*variant)
    result = play_match(game, seed_from_text("whole"), [new_planner] * game.seat_count)
    assert result.turns > 0


@every_variant
def test_the_planner_moves_as_the_rules_of_the_engine_do(variant: Variant) -> None:
    """The messages are enough for them; the seed text changes nothing."""
    state = dealt(*variant)
    bots = [new_planner(start_for(state.game, seat), f"any {seat}") for seat in range(state.game.seat_count)]
    asked = 0
    while state.pending is not None:
        for seat in engine.owing(state):
            asked += 1
            move = planner(state, seat, engine.legal(state, seat))
            if asked % 3 == 0:
                answer = bots[seat].answer(ask_for(state, seat, asked))
                assert move_of(state, seat, answer).wire == move.wire
            engine.apply(state, seat, move)


@every_variant
def test_what_is_hidden_never_changes_a_planners_answer(variant: Variant) -> None:
    """GEN-09. The messages are the same, so nothing else could."""
    state = dealt(*variant)
    bot = new_planner(start_for(state.game, 0), "seed")
    twin = imagine(state.game, view(state, 0), Dice(seed_from_text("twin")))
    assert (state.ticket_pile, state.pile) != (twin.ticket_pile, twin.pile)
    ask, other = ask_for(state, 0, 1), ask_for(twin, 0, 1)
    assert ask == other
    assert bot.answer(ask) == bot.answer(other)


@pytest.mark.parametrize("variant", DUELS, ids=variant_id)
def test_the_planner_beats_greedy(variant: Variant) -> None:
    """On four fixed deals, each played from every place."""
    blocks = [
        play_block(table(*variant), f"planner/{number}", [new_planner, new_greedy]) for number in range(4)
    ]
    assert sum(block.advantage for block in blocks) > 0
    assert sum(block.points for block in blocks) > 0


# -- what makes it fast ------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ON_A_MAP, ids=variant_id)
def test_the_short_list_holds_the_move_that_all_the_legal_ones_would_give(variant: Variant) -> None:
    state = dealt(*variant)
    while state.pending is not None:
        for seat in engine.owing(state):
            move = planner(state, seat, engine.legal(state, seat))
            assert best_listed(state, seat).wire == move.wire
            engine.apply(state, seat, move)


def test_a_path_is_found_anew_when_a_route_of_it_is_lost_and_when_a_better_one_opens() -> None:
    game = table("usa", 2)
    ticket = game.board.tickets[game.board.ticket_ids["denver-el_paso"]]
    everything = game.board.routes_mask
    best = cheapest_path(game, ticket, 0, everything, 0)
    assert best is not None
    without_it = everything & ~mask_of(best[1])
    detour = cheapest_path(game, ticket, 0, without_it, 0)
    assert detour is not None
    assert detour[0] > best[0]
    assert not set(detour[1]) & set(best[1])
    assert cheapest_path(game, ticket, 0, everything, 0) == best
    assert cheapest_path(game, ticket, 0, 0, 0) is None
    assert cheapest_path(game, ticket, 0, everything, 0) == best


def test_a_table_refuses_an_invalid_answer() -> None:
    state = started("usa", 2)
    for answer in ({}, {"index": 0, "move": {"type": "draw_card"}}, {"index": -1}, {"note": "hello"}):
        with pytest.raises(ValueError, match="not an answer"):
            move_of(state, 0, answer)
