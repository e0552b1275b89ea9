"""Asks in words, for a language model.

Law: a prompt follows from `start`, the ask and the setting alone, and says nothing that these do not. The
sentences about cards, routes and tickets come from the engine's narration.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from stellwerk_bots.reading import by_id, own_view
from stellwerk_engine.core.state import Game
from stellwerk_engine.core.words import Words
from stellwerk_protocol.cards import Cards

if TYPE_CHECKING:
    from stellwerk_bots.messages import Ask, Start

Moves = Literal["shown", "hidden", "on_error"]
"""Whether the prompt lists the legal moves: always, never, or after an illegal answer."""

TASK: Final = """\
You play a train game. You build routes between cities with cards of their colors, and complete tickets, each
of which names two places to connect. Completed tickets bring their points, failed ones cost them. Most points
win.
Answer with one JSON object on the last line, and nothing after it:"""
BY_INDEX: Final = '{"index": N}, where N is the number of a move in the list below.'
BY_MOVE: Final = '{"move": {...}}, in one of the forms below, with values in place of <...>.'
AGAIN: Final = "Your last answer was refused:"


def prompt_hash(moves: Moves, retries: int) -> str:
    """Return the hash of all that is the same in every prompt, by which results can be compared."""
    words = json.dumps([TASK, BY_INDEX, BY_MOVE, AGAIN, moves, retries])
    return sha256(words.encode()).hexdigest()[:16]


def prompt_for(game: Game, start: Start, ask: Ask, *, shows_moves: bool, refused: str = "") -> str:
    """Write the prompt for an ask. `refused` says what was wrong with the answer before."""
    return "\n".join(_lines(game, start, ask, shows_moves, refused))


def _lines(game: Game, start: Start, ask: Ask, shows_moves: bool, refused: str) -> Iterator[str]:
    words = Words(game.board)
    view, own = ask["view"], own_view(ask["view"])
    yield TASK
    yield BY_INDEX if shows_moves else BY_MOVE
    yield ""
    yield f"Game: {start['game']}. You are seat {view['seat']}, turn {view['turn']}."
    if "turns_left" in view:
        yield f"The end is near: {view['turns_left']} turns are left."
    routes = by_id(start["board"].get("routes", []))
    for player in view["players"]:
        who = "You" if player["seat"] == view["seat"] else f"Seat {player['seat']}"
        held = f"{player['points']} points, {player['hand_count']} cards"
        trains = f", {player['trains']} trains left" if "trains" in player else ""
        yield f"{who}: {held}{trains}. Routes: {_routes(words, player.get('routes', []))}."
    yield f"Your hand: {words.cards(_cards(own['hand']))}."
    yield f"Your tickets: {words.tickets(tuple(own['tickets'])) or 'none'}."
    if offered := own.get("offered"):
        yield f"Offered tickets: {words.tickets(tuple(offered))}."
    if "market" in view:
        yield f"Open cards: {words.cards(_cards(view['market']))}."
    if routes:
        yield "Routes that nobody has, by id, with color and length:"
        taken = {route for player in view["players"] for route in player.get("routes", [])}
        free = (route for name, route in routes.items() if name not in taken)
        yield "; ".join(f"{route['id']} {route['color']} {route['length']}" for route in free)
    yield ""
    yield f"You are asked for: {ask['decision']['type'].replace('_', ' ')}."
    if shows_moves:
        yield "Legal moves:"
        yield from (f"{index}: {move_in_words(words, move)}" for index, move in enumerate(ask["legal"]))
    else:
        yield "Forms of moves:"
        forms = [
            {key: value if key == "type" else _kind_of_value(key, value) for key, value in move.items()}
            for move in ask["legal"]
        ]
        yield from sorted(set(map(json.dumps, forms)))
    if refused:
        yield ""
        yield f"{AGAIN} {refused}"


def move_in_words(words: Words, move: Mapping[str, Any]) -> str:
    """Write `claim route Denver - Omaha (denver-omaha), cards 4 purple`. Any: fields of many types."""
    parts: list[str] = []
    for key, value in move.items():
        if key == "type":
            continue
        if key == "route":
            parts.append(f"{words.route(value)} ({value})")
        elif key == "card":
            parts.append(str(value))
        elif key == "tickets":
            parts.append(words.tickets(tuple(value)) or "none")
        elif isinstance(value, dict):
            parts.append(f"{key.replace('_', ' ')} {words.cards(_cards(move[key]))}")
        else:
            parts.append(f"{key.replace('_', ' ')} {value}")
    return f"{move['type'].replace('_', ' ')} {', '.join(parts)}".strip()


def _routes(words: Words, routes: list[str]) -> str:
    return ", ".join(words.route(route) for route in routes) or "none"


def _cards(cards: object) -> Cards:
    return msgspec.convert(cards, Cards)


def _kind_of_value(key: str, value: object) -> object:
    if isinstance(value, dict):
        return {"<color>": "<number>"}
    return [f"<{key} ...>"] if isinstance(value, list) else f"<{key}>"
