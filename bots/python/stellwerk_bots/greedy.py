"""The bot `greedy`: it gives each listed move a value, and makes the first move with the highest one.

The law is in `protocol/GREEDY.md`, so that the same bot can be written in any language.
`protocol/conformance/vectors/greedy` has recorded asks with their answers. An answer follows from the board
and the ask, in whole numbers, without random choices.
"""

from __future__ import annotations

from typing import Final

from stellwerk_bots.bot import Answer, Message, Player
from stellwerk_bots.reading import Item, own_view

GOOD_ROUTE_POINTS: Final = 7
LARGE_HAND: Final = 15  # so large that any claim is good
CARDS_TO_ASK_FOR: Final = 56  # on the tickets of all players together, if tickets require cards
ROOM_FOR_A_TICKET: Final = 4
TECHNOLOGIES: Final = ("mechanical_stoker", "superheated_steam_boiler", "boiler_lagging")


class Greedy:
    def __init__(self, start: Message, seed_text: str) -> None:
        board = start["board"]
        self._ticket_points: dict[str, int] = {each["id"]: each["points"] for each in board["tickets"]}
        self._ticket_cards: dict[str, dict[str, int]] = {
            each["id"]: each["cards"] for each in board["tickets"] if "cards" in each
        }
        self._route_points: dict[str, int] = {
            each["id"]: board["route_points"][str(each["length"])] for each in board.get("routes", ())
        }

    def answer(self, ask: Message) -> Answer:
        worths = [self._worth(move, ask["view"]) for move in ask["legal"]]
        return {"index": worths.index(max(worths))}

    def _worth(self, move: Item, view: Message) -> int:
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
                return 1000 + 10 * points - _locomotives(move) if _claims(points, view) else 0
            case "lay_cards":
                cards: dict[str, int] = move["cards"]
                return 500 + 10 * sum(cards.values()) - _locomotives(move)
            case "take_card":
                return 30 + _held(move["card"], view) if self._wants(move["card"], view) else 10
            case "draw_three":
                return 25
            case "draw_card":
                return 20
            case _:
                return 0

    def _worth_of_tickets(self, kept: list[str], view: Message) -> int:
        """Return the value of keeping tickets: on a map, few points are best; if tickets require cards, many
        within the limit."""
        if not _has_yards(view):
            return -self._points(kept)
        return self._points(kept) if self._asked(view) + self._cards(kept) <= _limit(view) else -1

    def _has_room(self, view: Message) -> bool:
        return _has_yards(view) and self._asked(view) < _limit(view) - ROOM_FOR_A_TICKET

    def _wants(self, color: str, view: Message) -> bool:
        if color == "locomotive":
            return False
        if not _has_yards(view):
            return _held(color, view) >= 2
        asked = sum(self._ticket_cards[ticket].get(color, 0) for ticket in own_view(view)["tickets"])
        return _held(color, view) < asked

    def _asked(self, view: Message) -> int:
        return self._cards(own_view(view)["tickets"])

    def _points(self, tickets: list[str]) -> int:
        return sum(self._ticket_points[ticket] for ticket in tickets)

    def _cards(self, tickets: list[str]) -> int:
        return sum(sum(self._ticket_cards[ticket].values()) for ticket in tickets)


def _claims(points: int, view: Message) -> bool:
    hand_count: int = own_view(view)["hand_count"]
    return points >= GOOD_ROUTE_POINTS or hand_count >= LARGE_HAND or "turns_left" in view


def _has_yards(view: Message) -> bool:
    return "yard" in own_view(view)


def _limit(view: Message) -> int:
    return CARDS_TO_ASK_FOR // len(view["players"])


def _held(color: str, view: Message) -> int:
    held: int = own_view(view)["hand"].get(color, 0)
    return held


def _locomotives(move: Item) -> int:
    places: tuple[dict[str, int], ...] = (move.get("cards", {}), move.get("holder_cards", {}))
    return sum(cards.get("locomotive", 0) for cards in places)


def new_greedy(start: Message, seed_text: str) -> Player:
    return Greedy(start, seed_text)
