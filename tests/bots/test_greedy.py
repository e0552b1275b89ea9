"""`greedy` follows `protocol/GREEDY.md`: each line of the page on a small ask, and the recorded answers."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from stellwerk_bots import greedy
from stellwerk_bots.players import new_player
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_kit.doctor.scripted_match import DECISIONS
from stellwerk_protocol import messages
from tests.bots.table import game_for, play_block
from tools.greedy_vectors import ASKS, WRONG_BOTS, detected_by, recorded

Message = dict[str, Any]  # a message or a part of one: no more than the bot looks at

MAP: Any = {
    "board": {
        "route_points": {"2": 2, "3": 4, "4": 7, "5": 10},
        "routes": [{"id": f"of-{length}", "length": length} for length in (2, 3, 4, 5)],
        "tickets": [{"id": "cheap", "points": 4}, {"id": "fair", "points": 9}, {"id": "dear", "points": 20}],
    }
}
YARDS: Any = {
    "board": {
        "tickets": [
            {"id": "red-2", "points": 8, "cards": {"red": 2}},
            {"id": "blue-3", "points": 12, "cards": {"blue": 3}},
            {"id": "red-9", "points": 30, "cards": {"red": 9}},
            {"id": "blue-15", "points": 50, "cards": {"blue": 15}},
        ]
    }
}

DRAW: Message = {"type": "draw_card"}
DRAW_THREE: Message = {"type": "draw_three"}
DRAW_TICKETS: Message = {"type": "draw_tickets"}
STOP: Message = {"type": "stop"}
PASS: Message = {"type": "pass"}


def take(color: str) -> Message:
    return {"type": "take_card", "card": color}


def claim(length: int, **cards: int) -> Message:
    return {"type": "claim_route", "route": f"of-{length}", "cards": cards}


def buy(technology: str, **cards: int) -> Message:
    return {"type": "buy_technology", "technology": technology, "cards": cards}


def lay(**cards: int) -> Message:
    return {"type": "lay_cards", "cards": cards}


def keep(*tickets: str) -> Message:
    return {"type": "keep_tickets", "tickets": list(tickets)}


def view(players: int = 2, hand: dict[str, int] | None = None, **own: object) -> Message:
    """Return a view of seat 1; the others hold nothing that `greedy` may look at."""
    held = hand or {}
    mine: Message = {"seat": 1, "hand": held, "hand_count": sum(held.values()), "tickets": [], **own}
    everybody: list[Message] = [{"seat": seat, "hand_count": 99} for seat in range(players)]
    everybody[1] = mine
    return {"seat": 1, "players": everybody}


def choice(start: Any, seen: Message, *legal: Message) -> Message:
    """Return the move that `greedy` makes."""
    ask: Any = {"view": seen, "legal": list(legal)}
    answer = greedy.new_greedy(start, "").answer(ask)
    assert "index" in answer
    assert {*answer} == {"index"}
    return legal[answer["index"]]


def yards(players: int = 2, hand: dict[str, int] | None = None, **own: object) -> Message:
    return view(players, hand, yard=[], **own)


# -- tickets -----------------------------------------------------------------------------------------


def test_on_a_map_it_keeps_the_tickets_of_least_value() -> None:
    offers = [keep("cheap", "fair", "dear"), keep("fair", "dear"), keep("cheap", "fair")]
    assert choice(MAP, view(), *offers) == keep("cheap", "fair")


def test_with_yards_it_keeps_the_tickets_of_greatest_value_within_its_limit() -> None:
    offers = [keep(), keep("red-9"), keep("blue-15"), keep("red-9", "blue-15")]
    assert choice(YARDS, yards(), *offers) == keep("red-9", "blue-15")  # 24 cards of 28
    assert choice(YARDS, yards(tickets=["red-2", "blue-3"]), *offers) == keep("blue-15")  # 5 there, 20 of 28
    assert choice(YARDS, yards(tickets=["blue-15"]), *offers) == keep("red-9")
    assert choice(YARDS, yards(tickets=["blue-15", "red-9"]), *offers) == keep()


def test_the_limit_is_shared_by_the_players_and_rounded_down() -> None:
    offers = [keep("red-9"), keep("blue-15"), keep("red-2", "blue-15")]
    assert choice(YARDS, yards(3), *offers) == keep("red-2", "blue-15")  # 17 of 18
    assert choice(YARDS, yards(3, tickets=["red-2"]), *offers) == keep("blue-15")
    assert choice(YARDS, yards(4), *offers) == keep("red-9")  # of 14
    assert choice(YARDS, yards(5), keep("red-9", "red-2"), keep("red-9")) == keep("red-9", "red-2")  # of 11


def test_when_nothing_fits_it_keeps_what_is_listed_first() -> None:
    offers = [keep("red-9", "blue-15"), keep("red-9")]
    assert choice(YARDS, yards(tickets=["blue-15", "red-9"]), *offers) == offers[0]


def test_on_a_map_it_draws_no_tickets_as_long_as_there_is_anything_else() -> None:
    assert choice(MAP, view(), DRAW_TICKETS, PASS) == PASS
    assert choice(MAP, view(), DRAW_TICKETS, claim(2, red=2)) == claim(2, red=2)
    assert choice(MAP, view(), DRAW_TICKETS) == DRAW_TICKETS


def test_with_yards_it_draws_tickets_before_all_else_while_four_cards_fit() -> None:
    # 2 + 3 + 9 + 9 are 23 of 28; 2 + 2 + 2 + 9 + 9 are 24
    room, none = ["red-2", "blue-3", "red-9", "red-9"], ["red-2", "red-2", "red-2", "red-9", "red-9"]
    assert choice(YARDS, yards(tickets=room), lay(red=9), DRAW, DRAW_TICKETS) == DRAW_TICKETS
    assert choice(YARDS, yards(tickets=none), DRAW_TICKETS, STOP) == STOP


# -- technologies ------------------------------------------------------------------------------------


def test_it_buys_three_technologies_in_their_order_before_all_else() -> None:
    purchases = [
        buy("boiler_lagging", locomotive=2),
        buy("superheated_steam_boiler", locomotive=2),
        buy("mechanical_stoker", locomotive=1),
    ]
    for bought in purchases[::-1]:
        assert choice(MAP, view(), claim(5, red=5), *purchases) == bought
        purchases.remove(bought)


@pytest.mark.parametrize(
    "purchase",
    [
        buy("booster", locomotive=2),
        buy("mechanical_stoker", red=4),
        buy("boiler_lagging", locomotive=1, red=4),
    ],
    ids=str,
)
def test_it_buys_nothing_else_and_with_nothing_but_locomotives(purchase: Message) -> None:
    assert choice(MAP, view(), purchase, PASS) == PASS


# -- routes and sets ---------------------------------------------------------------------------------


def test_it_claims_the_route_of_most_points() -> None:
    assert choice(MAP, view(), DRAW, claim(4, red=4), claim(5, red=5), claim(3, red=3)) == claim(5, red=5)


def test_a_route_of_less_than_seven_points_waits_for_a_hand_of_fifteen() -> None:
    assert choice(MAP, view(hand={"red": 14}), DRAW, claim(3, red=3)) == DRAW
    assert choice(MAP, view(hand={"red": 15}), DRAW, claim(3, red=3)) == claim(3, red=3)
    assert choice(MAP, view(hand={"red": 14}), DRAW, claim(4, red=4)) == claim(4, red=4)


def test_in_the_last_round_it_claims_what_there_is() -> None:
    assert choice(MAP, view() | {"turns_left": 0}, DRAW, claim(2, red=2)) == claim(2, red=2)


def test_it_pays_with_as_few_locomotives_as_it_may() -> None:
    dear, fair = claim(4, red=2, locomotive=2), claim(4, blue=3, locomotive=1)
    assert choice(MAP, view(), dear, fair) == fair
    assert choice(MAP, view(), fair, dear | {"cards": {"red": 4}}) == dear | {"cards": {"red": 4}}


def test_the_holders_locomotives_count_like_its_own() -> None:
    shared = claim(4, red=2) | {"holder_cards": {"locomotive": 2}}
    assert choice(MAP, view(), shared, claim(4, blue=3, locomotive=1)) == claim(4, blue=3, locomotive=1)


def test_it_lays_as_many_cards_as_it_may_before_it_draws() -> None:
    assert choice(YARDS, yards(tickets=["blue-15", "red-9"]), DRAW, lay(red=2), lay(blue=3), STOP) == lay(
        blue=3
    )


def test_it_spares_locomotives_in_a_set() -> None:
    legal = [lay(red=2, locomotive=1), lay(blue=3)]
    assert choice(YARDS, yards(tickets=["blue-15", "red-9"]), *legal) == lay(blue=3)


# -- cards -------------------------------------------------------------------------------------------


def test_on_a_map_it_takes_the_color_of_which_it_has_most_and_at_least_two() -> None:
    hand = {"red": 2, "blue": 3, "green": 1}
    assert choice(MAP, view(hand=hand), DRAW, take("red"), take("blue"), take("green")) == take("blue")
    assert choice(MAP, view(hand=hand), DRAW, take("red"), take("green")) == take("red")
    assert choice(MAP, view(hand=hand), take("green"), take("white"), DRAW) == DRAW


def test_with_yards_it_takes_a_color_of_which_its_tickets_show_more_than_it_has() -> None:
    tickets = ["red-2", "blue-3", "blue-15", "red-9"]
    assert choice(YARDS, yards(hand={"red": 10}, tickets=tickets), DRAW, take("red")) == take("red")
    assert choice(YARDS, yards(hand={"red": 11}, tickets=tickets), DRAW, take("red")) == DRAW
    assert choice(YARDS, yards(tickets=tickets), DRAW, take("blue"), take("green")) == take("blue")


def test_it_takes_no_open_locomotive_while_there_is_a_pile() -> None:
    hand = {"locomotive": 5}
    assert choice(MAP, view(hand=hand), take("locomotive"), DRAW) == DRAW
    assert choice(YARDS, yards(hand=hand, tickets=["red-9"]), take("locomotive"), DRAW) == DRAW


def test_it_draws_three_cards_rather_than_two_but_takes_a_color_that_it_wants() -> None:
    assert choice(MAP, view(), DRAW, DRAW_THREE) == DRAW_THREE
    assert choice(MAP, view(hand={"red": 2}), DRAW_THREE, take("red")) == take("red")


def test_it_takes_any_card_rather_than_stop() -> None:
    assert choice(MAP, view(), STOP, take("red")) == take("red")


# -- all else ----------------------------------------------------------------------------------------


def test_of_equal_moves_it_makes_the_first() -> None:
    assert choice(MAP, view(), claim(4, red=4), claim(4, blue=4)) == claim(4, red=4)
    assert choice(MAP, view(), claim(4, blue=4), claim(4, red=4)) == claim(4, blue=4)


@pytest.mark.parametrize("kind", ["share_tickets", "complete_tickets", "place_card", "pay_tunnel", "news"])
def test_of_moves_that_it_does_not_weigh_it_makes_the_first(kind: str) -> None:
    legal: list[Message] = [{"type": kind, "nr": number} for number in range(3)]
    assert choice(MAP, view(), *legal) == legal[0]


# -- the recorded answers ----------------------------------------------------------------------------


@pytest.mark.parametrize("game", RULE_SETS)
def test_it_answers_as_recorded(game: str) -> None:
    for match in recorded(game):
        player = greedy.new_greedy(match.start, "any seed")
        for pair in match.pairs:
            assert player.answer(pair.ask) == pair.answer, pair.ask["ask"]


@pytest.mark.parametrize("game", RULE_SETS)
def test_there_are_enough_recorded_asks_of_every_kind(game: str) -> None:
    pairs = [pair for match in recorded(game) for pair in match.pairs]
    decisions = {pair.ask["decision"]["type"] for pair in pairs}
    assert len(pairs) >= ASKS
    assert decisions == {*DECISIONS[game]}


def test_every_wrong_bot_is_detected_by_a_recorded_ask() -> None:
    matches = [match for game in RULE_SETS for match in recorded(game)]
    undetected = [name for name in WRONG_BOTS if not any(detected_by(name, match) for match in matches)]
    assert undetected == []


@pytest.mark.parametrize("game", RULE_SETS)
def test_the_recorded_lines_are_messages_of_the_protocol(game: str) -> None:
    decode = msgspec.json.Decoder(messages.FromServer).decode
    for match in recorded(game):
        assert isinstance(decode(json.dumps(match.start)), messages.Start)
        for pair in match.pairs:
            assert isinstance(decode(json.dumps(pair.ask)), messages.Ask)


# -- how it plays ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "blocks"), [("usa", 2), ("team_asia", 2), ("united_kingdom", 2), ("europe", 2), ("card_game", 8)]
)
def test_it_beats_random(game: str, blocks: int) -> None:
    entrants = [new_player("greedy"), new_player("random")]
    played = [play_block(game_for(game), f"beats/{deal}", entrants) for deal in range(blocks)]
    assert sum(block.advantage for block in played) > 0
    assert sum(block.points for block in played) > 0
