"""Tests of the bot's answers to made-up asks: `python -m unittest`."""

import unittest
from typing import Any

from bot import Player

Message = dict[str, Any]  # parts of messages: no more than the bot looks at

BOARD = {"routes": [{"id": "a-b", "length": 2}, {"id": "b-c", "length": 5}, {"id": "c-d", "length": 1}]}
DRAW = {"type": "draw_card"}


def chosen(*legal: Message, board: Message = BOARD) -> Message:
    start: Any = {"board": board}
    ask: Any = {"legal": list(legal)}
    answer = Player(start, "").answer(ask)
    assert "index" in answer
    return legal[answer["index"]]


class PlayerTest(unittest.TestCase):
    def test_it_claims_the_longest_route(self) -> None:
        claims = [{"type": "claim_route", "route": route} for route in ("a-b", "b-c", "c-d")]
        assert chosen(DRAW, *claims) == claims[1]

    def test_it_draws_a_card_if_there_is_no_claim(self) -> None:
        assert chosen({"type": "take_card", "card": "red"}, DRAW) == DRAW

    def test_it_makes_the_first_move_else(self) -> None:
        stop = {"type": "stop"}
        assert chosen(stop, {"type": "draw_tickets"}) == stop

    def test_it_plays_without_a_map_too(self) -> None:
        assert chosen({"type": "lay_cards"}, DRAW, board={}) == DRAW


if __name__ == "__main__":
    unittest.main()
