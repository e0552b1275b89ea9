"""`beginner`: what it prefers, and that it plays between `random` and `greedy` in every game."""

from __future__ import annotations

from typing import Any

import pytest

from stellwerk_bots.beginner import new_beginner
from stellwerk_bots.players import new_player
from tests.bots.table import game_for, play_block

Message = dict[str, Any]  # a message or a part of one: no more than the bot looks at

MAP: Any = {
    "board": {
        "routes": [{"id": f"of-{length}", "length": length} for length in (1, 2, 3, 4)],
        "tickets": [{"id": "cheap", "points": 4}, {"id": "dear", "points": 20}],
    }
}
YARDS: Any = {
    "board": {
        "tickets": [
            {"id": "small", "points": 8, "cards": {"red": 4}},
            {"id": "large", "points": 30, "cards": {"red": 9, "blue": 6}},
        ]
    }
}

DRAW: Message = {"type": "draw_card"}
DRAW_TICKETS: Message = {"type": "draw_tickets"}
PASS: Message = {"type": "pass"}


def take(color: str) -> Message:
    return {"type": "take_card", "card": color}


def claim(length: int, **cards: int) -> Message:
    return {"type": "claim_route", "route": f"of-{length}", "cards": cards}


def keep(*tickets: str) -> Message:
    return {"type": "keep_tickets", "tickets": list(tickets)}


def view(players: int = 2, **own: object) -> Message:
    """Return a view of seat 1."""
    everybody: list[Message] = [{"seat": seat} for seat in range(players)]
    everybody[1] = {"seat": 1, "hand": {}, "tickets": [], **own}
    return {"seat": 1, "players": everybody}


def choice(start: Any, seen: Message, *legal: Message) -> Message:
    """Return the move that `beginner` makes."""
    ask: Any = {"view": seen, "legal": list(legal)}
    answer = new_beginner(start, "").answer(ask)
    assert "index" in answer
    assert {*answer} == {"index"}
    return legal[answer["index"]]


def test_it_claims_the_longest_route_that_it_can_pay_for_at_once() -> None:
    assert choice(MAP, view(), DRAW, claim(1, red=1), claim(2, red=2)) == claim(2, red=2)
    assert choice(MAP, view(hand={"red": 9}), take("red"), claim(1, red=1)) == claim(1, red=1)


def test_it_saves_locomotives() -> None:
    assert choice(MAP, view(), claim(2, red=1, locomotive=1), claim(2, blue=2)) == claim(2, blue=2)


def test_it_takes_the_color_of_which_it_has_most_and_draws_if_it_has_none() -> None:
    seen = view(hand={"red": 1, "blue": 2})
    assert choice(MAP, seen, DRAW, take("red"), take("blue"), take("green")) == take("blue")
    assert choice(MAP, view(), take("green"), DRAW) == DRAW


def test_on_a_map_it_keeps_few_points_and_draws_no_tickets() -> None:
    assert choice(MAP, view(), keep("cheap", "dear"), keep("dear"), keep("cheap")) == keep("cheap")
    assert choice(MAP, view(), DRAW_TICKETS, PASS) == PASS
    assert choice(MAP, view(), {"type": "build_station"}, {"type": "buy_technology"}, DRAW) == DRAW


def test_where_tickets_require_cards_it_keeps_as_many_as_it_can_hope_to_pay_for() -> None:
    seen = view(yard=[])
    assert choice(YARDS, seen, keep("small"), keep("large"), keep("small", "large")) == keep("small", "large")
    seen = view(yard=[], tickets=["large"])
    assert choice(YARDS, seen, keep(), keep("large"), keep("small")) == keep("small")
    assert choice(YARDS, seen, DRAW, DRAW_TICKETS) == DRAW_TICKETS
    assert choice(YARDS, view(yard=[], tickets=["large", "small"]), DRAW, DRAW_TICKETS) == DRAW


@pytest.mark.parametrize("kind", ["share_tickets", "complete_tickets", "place_card", "pay_tunnel", "news"])
def test_of_moves_that_it_does_not_weigh_it_makes_the_first(kind: str) -> None:
    legal: list[Message] = [{"type": kind, "nr": number} for number in range(3)]
    assert choice(MAP, view(), *legal) == legal[0]


@pytest.mark.parametrize(
    ("game", "blocks"),
    [("usa", 2), ("team_asia", 2), ("united_kingdom", 4), ("europe", 2), ("card_game", 16)],
)
def test_it_beats_random_and_loses_to_greedy(game: str, blocks: int) -> None:
    for opponent, sign in (("random", 1), ("greedy", -1)):
        entrants = [new_player("beginner"), new_player(opponent)]
        played = [play_block(game_for(game), f"between/{deal}", entrants) for deal in range(blocks)]
        assert sign * sum(block.points for block in played) > 0, opponent
