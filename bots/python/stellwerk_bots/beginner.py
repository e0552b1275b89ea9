"""The bot `beginner`: it claims the longest route that it can pay for, and draws cards when it can pay for
none.

It is the first bot for another one to beat. Unlike `random` it draws no tickets that it cannot complete, so
it does not lose points on them. It neither collects cards for long routes nor looks for those that its
tickets require, so it loses to `greedy`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stellwerk_bots.bot import IndexAnswer, Player
from stellwerk_bots.reading import own_view

if TYPE_CHECKING:
    from stellwerk_bots.messages import Ask, Cards, Color, Move, Start, TicketName, View

NEVER: Final = -1000
"""For moves that would cost this bot more than they bring: on a map tickets, technologies and stations."""
CARDS_TO_ASK_FOR: Final = 56  # on the tickets of all players together, if tickets require cards
ROOM_FOR_A_TICKET: Final = 9


class Beginner:
    """A player whose answers follow from the board and the ask, without random choices."""

    def __init__(self, start: Start, seed_text: str) -> None:
        board = start["board"]
        self._ticket_points = {each["id"]: each["points"] for each in board["tickets"]}
        self._ticket_cards = {each["id"]: sum(each.get("cards", {}).values()) for each in board["tickets"]}
        self._lengths = {each["id"]: each["length"] for each in board.get("routes", ())}

    def answer(self, ask: Ask) -> IndexAnswer:
        worths = [self._worth(move, ask["view"]) for move in ask["legal"]]
        return {"index": worths.index(max(worths))}

    def _worth(self, move: Move, view: View) -> int:
        match move["type"]:
            case "claim_route":
                paid = _locomotives(move.get("cards", {}), move.get("holder_cards", {}))
                return 1000 + 10 * self._lengths[move["route"]] - paid
            case "lay_cards":
                return 500 + 10 * sum(move["cards"].values()) - _locomotives(move["cards"])
            case "take_card":
                return _worth_of_card(move["card"], view)
            case "draw_three":
                return 25
            case "draw_card":
                return 20
            case "keep_tickets":
                return self._worth_of_tickets(move["tickets"], view)
            case "draw_tickets":
                return 2000 if self._has_room(view) else NEVER
            case "buy_technology" | "build_station":
                return NEVER
            case _:
                return 0

    def _worth_of_tickets(self, kept: list[TicketName], view: View) -> int:
        """Return the value of keeping tickets: on a map, few points are best; if tickets require cards, many
        points within the limit."""
        points = sum(self._ticket_points[ticket] for ticket in kept)
        if not _has_yards(view):
            return -points
        return points if self._asked(view) + self._cards(kept) <= _limit(view) else NEVER

    def _has_room(self, view: View) -> bool:
        return _has_yards(view) and self._asked(view) < _limit(view) - ROOM_FOR_A_TICKET

    def _asked(self, view: View) -> int:
        return self._cards(own_view(view)["tickets"])

    def _cards(self, tickets: list[TicketName]) -> int:
        return sum(self._ticket_cards[ticket] for ticket in tickets)


def _has_yards(view: View) -> bool:
    return "yard" in own_view(view)


def _limit(view: View) -> int:
    return CARDS_TO_ASK_FOR // len(view["players"])


def _worth_of_card(color: Color, view: View) -> int:
    held = own_view(view)["hand"].get(color, 0)
    return 30 + held if held else 10


def _locomotives(*places: Cards) -> int:
    return sum(cards.get("locomotive", 0) for cards in places)


def new_beginner(start: Start, seed_text: str) -> Player:
    return Beginner(start, seed_text)
