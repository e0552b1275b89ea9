"""Functions that read the parts of messages that a player needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stellwerk_bots.bot import Message

Item = dict[str, Any]  # a part of a message: a move, a player's view, a route of the board


def own_view(view: Message) -> Item:
    """Return the viewer's own part of a view, including hand and tickets."""
    own: Item = view["players"][view["seat"]]
    return own


def legal_by_type(ask: Message) -> dict[str, list[tuple[int, Item]]]:
    """Return the listed moves with their indexes, grouped by type: `claim_route`, `draw_card`, ..."""
    groups: dict[str, list[tuple[int, Item]]] = {}
    for index, move in enumerate(ask["legal"]):
        groups.setdefault(move["type"], []).append((index, move))
    return groups


def by_id(items: Iterable[Item]) -> dict[str, Item]:
    """Return cities, routes or tickets of the board by their ids: `by_id(start["board"]["routes"])`."""
    return {item["id"]: item for item in items}


def result_line(start: Message, end: Message) -> str:
    """Return the result of a match, best first: `usa: 1. greedy 97, 2. random -45`. Partners share their
    points."""
    names = {player["seat"]: player["name"] for player in start["players"]}
    teams = sorted(end["result"]["teams"], key=lambda team: int(team["rank"]))
    places = [
        f"{team['rank']}. {' and '.join(names[seat] for seat in team['seats'])} {team['points']}"
        for team in teams
    ]
    return f"{start['game']}: {', '.join(places)}"
