"""The functions with which a player reads messages."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from stellwerk_bots.players import NAMES, new_player
from stellwerk_bots.reading import by_id, legal_by_type, own_view, result_line


def test_the_own_view_is_that_of_the_viewers_seat() -> None:
    players: list[Any] = [{"seat": 0}, {"seat": 1, "hand": {}}]
    view: Any = {"seat": 1, "players": players}
    assert own_view(view) == {"seat": 1, "hand": {}}


def test_legal_moves_are_grouped_with_their_indexes() -> None:
    draw, red, blue = {"type": "draw_card"}, {"type": "take_card", "card": "red"}, {"type": "take_card"}
    ask: Any = {"legal": [red, draw, blue]}
    assert legal_by_type(ask) == {
        "take_card": [(0, red), (2, blue)],
        "draw_card": [(1, draw)],
    }


def test_things_of_the_board_are_found_by_their_ids() -> None:
    cities: list[Any] = [{"id": "a"}, {"id": "b"}]
    assert by_id(cities) == {"a": {"id": "a"}, "b": {"id": "b"}}


def test_a_result_names_the_teams_from_the_best() -> None:
    players = [{"seat": seat, "name": name} for seat, name in enumerate(["ann", "bob", "cyn", "dan"])]
    teams = [
        {"seats": [0, 1], "rank": 2, "points": -3},
        {"seats": [2, 3], "rank": 1, "points": 40},
    ]
    start: Any = {"game": "team_asia", "players": players}
    end: Any = {"result": {"teams": teams}}
    assert result_line(start, end) == "team_asia: 1. cyn and dan 40, 2. ann and bob -3"


@pytest.mark.parametrize("name", NAMES)
def test_every_bot_has_a_maker_of_players(name: str) -> None:
    assert callable(new_player(name))


def test_there_is_no_bot_of_another_name() -> None:
    with pytest.raises(KeyError):
        new_player("chess")


def test_the_client_and_the_simple_bots_need_the_standard_library_alone() -> None:
    """A student's copy has no other dependency, and starts fast: only editors need the types of messages."""
    program = """
import sys
from stellwerk_bots import __main__, client, players
players.new_player("random"), players.new_player("beginner"), players.new_player("greedy")
foreign = {name.partition(".")[0] for name in sys.modules} & {
    "msgspec", "trio", "structlog", "stellwerk_engine", "stellwerk_protocol"}
print(sorted(foreign), "stellwerk_bots.messages" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[] False\n"
