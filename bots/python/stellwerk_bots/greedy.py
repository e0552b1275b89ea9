"""The bot `greedy`: it gives each listed move a value, and makes the first move with the highest one.

The law is in `protocol/GREEDY.md`, so that the same bot can be written in any language.
`protocol/conformance/vectors/greedy` has recorded asks with their answers. An answer follows from the board
and the ask, in whole numbers, without random choices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stellwerk_bots.bot import IndexAnswer, Player
from stellwerk_bots.reading import own_view

if TYPE_CHECKING:
    from stellwerk_bots.messages import Ask, Cards, Color, Move, Start, TicketName, View

GOOD_ROUTE_POINTS: Final = 7
LARGE_HAND: Final = 15  # so large that any claim is good
CARDS_TO_ASK_FOR: Final = 56  # on the tickets of all players together, if tickets require cards
ROOM_FOR_A_TICKET: Final = 4
TECHNOLOGIES: Final = ("mechanical_stoker", "superheated_steam_boiler", "boiler_lagging")


class Greedy:
    def __init__(self, start: Start, seed_text: str) -> None:
        board = start["board"]
        points = board.get("route_points", {})
        self._ticket_points = {each["id"]: each["points"] for each in board["tickets"]}
        self._ticket_cards = {each["id"]: each["cards"] for each in board["tickets"] if "cards" in each}
        self._route_points = {each["id"]: points[str(each["length"])] for each in board.get("routes", ())}

    def answer(self, ask: Ask) -> IndexAnswer:
        worths = [self._worth(move, ask["view"]) for move in ask["legal"]]
        return {"index": worths.index(max(worths))}

    def _worth(self, move: Move, view: View) -> int:
        match move["type"]:
            case "keep_tickets":
                return self._worth_of_tickets(move["tickets"], view)
            case "draw_tickets":
                return 2000 if self._has_room(view) else -1
            case "buy_technology":
                wanted = move["technology"] in TECHNOLOGIES and list(move["cards"]) == ["locomotive"]
                return 3000 - TECHNOLOGIES.index(move["technology"]) if wanted else -1
            case "claim_route":
                points = self._route_points[move["route"]]
                paid = _locomotives(move.get("cards", {}), move.get("holder_cards", {}))
                return 1000 + 10 * points - paid if _claims(points, view) else 0
            case "lay_cards":
                return 500 + 10 * sum(move["cards"].values()) - _locomotives(move["cards"])
            case "take_card":
                return 30 + _held(move["card"], view) if self._wants(move["card"], view) else 10
            case "draw_three":
                return 25
            case "draw_card":
                return 20
            case _:
                return 0

    def _worth_of_tickets(self, kept: list[TicketName], view: View) -> int:
        """Return the value of keeping tickets: on a map, few points are best; if tickets require cards, many
        within the limit."""
        if not _has_yards(view):
            return -self._points(kept)
        return self._points(kept) if self._asked(view) + self._cards(kept) <= _limit(view) else -1

    def _has_room(self, view: View) -> bool:
        return _has_yards(view) and self._asked(view) < _limit(view) - ROOM_FOR_A_TICKET

    def _wants(self, color: Color, view: View) -> bool:
        if color == "locomotive":
            return False
        if not _has_yards(view):
            return _held(color, view) >= 2
        asked = sum(self._ticket_cards[ticket].get(color, 0) for ticket in own_view(view)["tickets"])
        return _held(color, view) < asked

    def _asked(self, view: View) -> int:
        return self._cards(own_view(view)["tickets"])

    def _points(self, tickets: list[TicketName]) -> int:
        return sum(self._ticket_points[ticket] for ticket in tickets)

    def _cards(self, tickets: list[TicketName]) -> int:
        return sum(sum(self._ticket_cards[ticket].values()) for ticket in tickets)


def _claims(points: int, view: View) -> bool:
    return points >= GOOD_ROUTE_POINTS or own_view(view)["hand_count"] >= LARGE_HAND or "turns_left" in view


def _has_yards(view: View) -> bool:
    return "yard" in own_view(view)


def _limit(view: View) -> int:
    return CARDS_TO_ASK_FOR // len(view["players"])


def _held(color: Color, view: View) -> int:
    return own_view(view)["hand"].get(color, 0)


def _locomotives(*places: Cards) -> int:
    return sum(cards.get("locomotive", 0) for cards in places)


def new_greedy(start: Start, seed_text: str) -> Player:
    return Greedy(start, seed_text)
