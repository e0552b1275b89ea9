"""Cards, routes, tickets and cities in words, of which parts make their sentences.

Law: the words contain what an event says and no more, so an event that was redacted for a seat can be shown
to that seat. All text from a board or a replay is without control characters. The engine knows no terminal:
the caller passes in how colors are painted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from msgspec import UNSET, UnsetType

from stellwerk_base.texts import counted, shown
from stellwerk_engine.core.board import Board
from stellwerk_protocol.cards import Cards
from stellwerk_protocol.names import COLORS, CityName, Color, RouteName, TicketName, TicketNames

Paint = Callable[[str, Color], str]
"""Shows a text about cards of a color in that color."""


def unpainted(text: str, color: Color) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Words:
    """The words for what is on one board."""

    board: Board
    paint: Paint = unpainted

    def cards(self, cards: Cards) -> str:
        """Write `3 red, 1 locomotive`."""
        words: list[str] = []
        for color in COLORS:
            count: int = getattr(cards, color)
            if count:
                words.append(self.paint(f"{count} {_named(color, count)}", color))
        return ", ".join(words) or "no cards"

    def known_cards(self, count: int, cards: Cards | UnsetType) -> str:
        return counted(count, "card") if cards is UNSET else self.cards(cards)

    def known_card(self, card: Color | UnsetType) -> str:
        return "a card" if card is UNSET else self.card(card)

    def card(self, card: Color) -> str:
        return self.paint(f"a {card}" if card == "locomotive" else card, card)

    def route(self, name: RouteName) -> str:
        """Write the ends of a route, or its id where this board has no such route."""
        number = self.board.route_ids.get(name)
        if number is None:
            return shown(name)
        route = self.board.routes[number]
        cities = self.board.file.cities
        return f"{shown(cities[route.a].name)} - {shown(cities[route.b].name)}"

    def ticket(self, name: TicketName) -> str:
        """Write `Denver - El Paso`, or the id where this board has no such ticket."""
        number = self.board.ticket_ids.get(name)
        if number is None:
            return shown(name)
        ticket = self.board.file.tickets[number]
        return f"{self.place(ticket.a)} - {self.place(ticket.b)}"

    def tickets(self, names: TicketNames) -> str:
        """Write `Denver - El Paso (4), Boston - Miami (12)`."""
        return ", ".join(self._ticket_with_points(name) for name in names)

    def known_tickets(self, count: int, tickets: TicketNames | UnsetType) -> str:
        if tickets is UNSET or not tickets:
            return counted(count, "ticket") if count else "no ticket"
        return self.tickets(tickets)

    def place(self, place: CityName) -> str:
        """Return the name of a city, or of a group of cities."""
        number = self.board.city_ids.get(place)
        return title(place) if number is None else shown(self.board.file.cities[number].name)

    def _ticket_with_points(self, name: TicketName) -> str:
        number = self.board.ticket_ids.get(name)
        points = "" if number is None else f" ({self.board.tickets[number].points})"
        return self.ticket(name) + points


def title(name: str) -> str:
    """Write `boiler_lagging` as Boiler Lagging."""
    return shown(name.replace("_", " ").title())


def _named(color: Color, count: int) -> str:
    return f"{color}s" if color == "locomotive" and count > 1 else color
