"""Functions that read the parts of messages that a player needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypedDict, TypeVar, cast

if TYPE_CHECKING:
    from stellwerk_bots.messages import Ask, End, LegalByType, Move, OwnView, Start, View, WatchedStart


class _WithId(TypedDict):
    id: str


Item = TypeVar("Item", bound=_WithId)


def own_view(view: View) -> OwnView:
    """Return the viewer's own part of a view, including hand and tickets."""
    return cast("OwnView", view["players"][view["seat"]])


def legal_by_type(ask: Ask) -> LegalByType:
    """Return the listed moves with their indexes, grouped by type: `claim_route`, `draw_card`, ..."""
    groups: dict[str, list[tuple[int, Move]]] = {}
    for index, move in enumerate(ask["legal"]):
        groups.setdefault(move["type"], []).append((index, move))
    return cast("LegalByType", groups)


def by_id(items: Iterable[Item]) -> dict[str, Item]:
    """Return cities, routes or tickets of the board by their ids: `by_id(start["board"]["tickets"])`."""
    return {item["id"]: item for item in items}


def result_line(start: Start | WatchedStart, end: End) -> str:
    """Return the result of a match, best first: `usa: 1. greedy 97, 2. random -45`. Partners share their
    points."""
    names = {player["seat"]: player["name"] for player in start["players"]}
    teams = sorted(end["result"]["teams"], key=lambda team: int(team["rank"]))
    places = [
        f"{team['rank']}. {' and '.join(names[seat] for seat in team['seats'])} {team['points']}"
        for team in teams
    ]
    return f"{start['game']}: {', '.join(places)}"
