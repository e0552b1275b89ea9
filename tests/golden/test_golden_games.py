"""The games that are kept come out the same, byte for byte, and show everything that can happen."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.replays.verify import verify
from stellwerk_protocol import decisions, events, moves
from stellwerk_protocol.names import EndReason
from tests.golden.golden_games import PERFT_FILE, GoldenGame, all_perft_counts, golden_games

GAMES = list(golden_games())


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_a_golden_game_comes_out_the_same(game: GoldenGame) -> None:
    assert game.play() == game.file.read_bytes()


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_a_golden_game_verifies(game: GoldenGame) -> None:
    assert verify(game.file.read_bytes().splitlines(keepends=True)).good


def test_perft_counts_are_as_recorded() -> None:
    assert all_perft_counts() == json.loads(PERFT_FILE.read_text())


def tags_of(union: Any) -> set[str]:
    return {kind.__struct_config__.tag for kind in get_args(union)}


def golden_values(key: str) -> set[str]:
    """Return all texts under this key, anywhere in the games."""
    values: set[str] = set()

    def note(pairs: list[tuple[str, Any]]) -> None:
        values.update(value for name, value in pairs if name == key and isinstance(value, str))

    for game in GAMES:
        for line in game.file.read_text().splitlines():
            json.loads(line, object_pairs_hook=note)
    return values


def test_every_kind_of_decision_event_and_move_occurs() -> None:
    kinds = golden_values("type")
    assert tags_of(decisions.Decision) - kinds == {"take_turn"}  # which is implied by `turn_started`
    assert tags_of(events.Event) - kinds == set()
    assert tags_of(moves.Move) - kinds == set()


def test_every_reason_for_the_end_occurs() -> None:
    assert golden_values("reason") >= set(get_args(EndReason))


def test_every_bonus_occurs() -> None:
    bonuses = golden_values("bonus")
    big_cities = {"seattle", "los_angeles", "chicago", "dallas", "new_york", "miami"}
    expected = {"longest_path", "asia_express", "asia_explorer", "stations_left"}
    expected |= {"double_heading", "risky_contracts", "equalising_beam"}
    assert bonuses == expected | {f"big_city:{city}" for city in big_cities}


def test_every_game_number_of_players_and_option_has_one() -> None:
    played = {game.variant for game in GAMES}
    for rules in RULE_SETS.values():
        for seats in rules.seat_counts:
            for options in ((), *((option.id,) for option in rules.options)):
                assert (rules.id, seats, options) in played
