"""The rules of a game in half a page, made of what its parts state."""

from __future__ import annotations

from typing import Final

from stellwerk_engine import engine
from stellwerk_engine.games.rules_in_words import rules_in_words
from stellwerk_engine.games.shipped import RULE_SETS
from tests.support import VARIANTS, every_variant, started, table
from tests.unlisted.alps import alps

HALF_A_PAGE: Final = 2_600  # characters
IN_OTHER_WORDS: Final = {"keep_tickets", "complete_tickets", "stop", "pass"}
"""Moves whose rule needs no name, because the decision asks for nothing else."""


@every_variant
def test_the_rules_are_half_a_page(variant: tuple[str, int, tuple[str, ...]]) -> None:
    game_id, seats, options = variant
    assert 1_000 < len(rules_in_words(table(game_id, seats, options))) < HALF_A_PAGE


@every_variant
def test_the_rules_name_each_move_that_a_player_is_offered(variant: tuple[str, int, tuple[str, ...]]) -> None:
    text = rules_in_words(table(*variant))
    offered: set[str] = set()
    state = started(*variant)
    while state.pending is not None and state.turn < 60:
        for seat in engine.owing(state):
            moves = engine.legal(state, seat)
            offered |= {str(move.wire.__struct_config__.tag) for move in moves}
            engine.apply(state, seat, moves[state.turn % len(moves)])
    assert len(offered) >= 5
    assert not [move for move in offered - IN_OTHER_WORDS if move not in text]


def test_each_part_states_a_rule() -> None:
    for variant in VARIANTS:
        game = table(*variant)
        assert not [part for part in game.parts if not part.rule(game)]


def test_the_numbers_are_those_of_the_parts() -> None:
    europe, cards = (rules_in_words(table(game, 4)) for game in ("europe", "card_game"))
    assert "choose from 3 tickets and keep at least 2. The others leave the game." in europe
    assert "You have 3; each one not built brings 4 points." in europe
    assert "6 = 15, 8 = 21" in europe
    assert "draw 4 tickets and keep any number of them, or none" in cards
    assert "The game has 2 halves." in cards
    assert "halves" not in rules_in_words(table("card_game", 3))


def test_parallel_tracks_depend_on_the_number_of_players() -> None:
    two, four = (rules_in_words(table("usa", seats)) for seats in (2, 4))
    assert "No player claims two parallel tracks; of 2 only 1 can be claimed" in two
    assert "No player claims two parallel tracks." in four


def test_an_option_changes_the_rules() -> None:
    for rules in RULE_SETS.values():
        for option in rules.options:
            seats = rules.seat_counts[0]
            plain, changed = table(rules.id, seats), table(rules.id, seats, (option.id,))
            assert rules_in_words(plain) != rules_in_words(changed)


def test_a_game_in_no_list_has_its_rules() -> None:
    text = rules_in_words(alps(2))
    assert "each player is dealt 5 cards and 1 locomotive" in text
    assert "With 4 locomotives among these, all five are replaced." in text
    assert "One card may be enough." in text
    assert "You have 2; each one not built brings 3 points." in text
    assert "Bonuses at the end: 7 points for the most completed tickets." in text
    assert "ties are decided by longest own path, then fewest stations, then completed tickets" in text
