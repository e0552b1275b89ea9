"""Events in words, for people who watch: `alice claims Chicago - Toronto with 4 orange: 7 points`.

Law: the words contain what the event says and no more, so an event that was redacted for a seat can be shown
to that seat. All text from a board or a replay is shown without control characters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, assert_never

from msgspec import UNSET, UnsetType

from stellwerk_engine.core.state import Game
from stellwerk_engine.parts.holders import Holders
from stellwerk_protocol import decisions
from stellwerk_protocol import events as ev
from stellwerk_protocol.canonical import shown
from stellwerk_protocol.cards import Cards
from stellwerk_protocol.figures import counted
from stellwerk_protocol.names import COLORS, Color, EndReason, Place, Seat, TicketNames
from stellwerk_protocol.results import Result, TeamResult

END_REASONS: Final[dict[EndReason, str]] = {
    "trains": "a player ran low on trains",
    "pile": "the pile ran out",
    "all_passed": "everybody passed",
    "idle": "no player made progress",
}

_SGR: Final[dict[Color, str]] = {
    "purple": "35",
    "blue": "94",  # plain blue cannot be read on black
    "orange": "38;5;208",
    "white": "",  # white cannot be read on white
    "green": "32",
    "yellow": "33",
    "black": "90",
    "red": "31",
    "locomotive": "1",
}


@dataclass(frozen=True, slots=True)
class Style:
    """How to write: with which names of the seats, and whether the terminal shows colors."""

    names: tuple[str, ...] = ()
    color: bool = False

    def name(self, seat: Seat) -> str:
        return shown(self.names[seat]) if seat < len(self.names) else f"seat {seat}"

    def paint(self, text: str, sgr: str) -> str:
        return f"\x1b[{sgr}m{text}\x1b[0m" if self.color and sgr else text


PLAIN: Final = Style()


def describe(event: ev.Event, game: Game, style: Style = PLAIN) -> str:
    """Write one event as a sentence without its full stop."""
    actor = actor_of(event)
    phrase = deed(event, game, style)
    return phrase if actor is None else f"{style.name(actor)} {phrase}"


def actor_of(event: ev.Event) -> Seat | None:
    """Return who acts, or whom the event concerns. None for an event of nobody."""
    match event:
        case (
            ev.PileShuffled()
            | ev.CardsLaidOpen()
            | ev.MarketExchanged()
            | ev.CardsRevealed()
            | ev.TicketPileShuffled()
            | ev.Asked()
            | ev.LastRound()
            | ev.TurnsEnded()
            | ev.GameEnded()
            | ev.HalfStarted()
            | ev.TechnologiesWithdrawn()
        ):
            return None
        case _:
            return None if event.seat is UNSET else event.seat


def deed(event: ev.Event, game: Game, style: Style = PLAIN) -> str:
    """Describe an event without its actor: `claims Chicago - Toronto with 4 orange: 7 points`."""
    match event:
        # the piles
        case ev.PileShuffled(count):
            return f"the train cards are shuffled: {counted(count, 'card')} in the pile"
        case ev.CardsLaidOpen(cards):
            return f"laid open: {cards_in_words(cards, style)}"
        case ev.MarketExchanged(cards):
            return f"the market goes, {cards_in_words(cards, style)}"
        case ev.CardsRevealed(cards):
            return f"revealed: {cards_in_words(cards, style)}"
        case ev.CardsDealt(_, count, cards):
            return f"is dealt {_known_cards(count, cards, style)}"
        case ev.LocomotiveDealt():
            return f"gets {cards_in_words(Cards(locomotive=1), style)}"
        case ev.TicketPileShuffled(count):
            return f"the tickets are shuffled: {count} in the pile"
        # turns
        case ev.TurnStarted(_, turn, _, turns_left):
            left = "" if turns_left is UNSET else f", {counted(turns_left, 'turn')} left"
            return f"begins turn {turn}{left}"
        case ev.Asked(decision):
            return _question(decision, game, style)
        case ev.Passed():
            return "passes"
        case ev.Stopped():
            return "stops"
        case ev.LastRound(turns_left):
            return f"the last round begins: {counted(turns_left, 'turn')} left"
        case ev.TurnsEnded(reason):
            return f"the turns are over: {END_REASONS[reason]}"
        case ev.GameEnded(result):
            return f"the game is over: {_ranking(result, style)}"
        # train cards
        case ev.CardTaken(_, card, place):
            return f"takes {color_in_words(card, style)}{destination(place, game)}"
        case ev.CardDrawn(_, place, card):
            return f"draws {_known_card(card, style)}{destination(place, game)}"
        case ev.CardPlaced(_, place, _, card):
            return f"puts {_known_card(card, style)}{destination(place, game)}"
        # routes
        case ev.RouteClaimed(_, route, _, points):
            paid = _payment(event.cards, event.holder_cards, style)
            return f"claims {route_in_words(route, game)} with {paid}: {counted(points, 'point')}"
        case ev.TunnelTried(_, route, extra):
            paid = _payment(event.cards, event.holder_cards, style)
            revealed = cards_in_words(event.revealed, style)
            more = f"{extra} more to pay" if extra else "no more to pay"
            return f"tries the tunnel {route_in_words(route, game)} with {paid}; against {revealed}: {more}"
        case ev.TunnelAbandoned(_, route):
            return f"gives the tunnel {route_in_words(route, game)} up"
        # tickets
        case ev.TicketsOffered(_, count, tickets):
            return f"is offered {_known_tickets(count, tickets, game)}"
        case ev.TicketsKept(_, count, returned_count, tickets, returned):
            back = f", puts back {_known_tickets(returned_count, returned, game)}" if returned_count else ""
            return f"keeps {_known_tickets(count, tickets, game)}{back}"
        case ev.TicketsRemoved(count, seat, tickets):
            removed = _known_tickets(count, tickets, game)
            return f"out of the game: {removed}" if seat is UNSET else f"takes {removed} out of the game"
        case ev.TicketsToShare(_, count, tickets):
            return f"is to share one of {_known_tickets(count, tickets, game)}"
        case ev.TicketsShared(_, count, tickets):
            return f"puts {_known_tickets(count, tickets, game)} on the holder"
        # the card game
        case ev.CardsSent(_, cards):
            return f"sends {cards_in_words(cards, style)} to the stack"
        case ev.CardsLaid(_, cards):
            return f"lays {cards_in_words(cards, style)} in the yard"
        case ev.Raided(_, _, cards):
            return f"is raided and loses {cards_in_words(cards, style)}"
        case ev.StackTakenUp(_, count, cards):
            return f"takes up a stack of {_known_cards(count, cards, style)}"
        case ev.TicketsCompleted(_, tickets, points):
            completed = tickets_in_words(tickets, game) or "no ticket"
            return f"completes {completed}: {counted(points, 'point')}"
        case ev.HalfStarted(half):
            return f"half {half} begins"
        # technologies
        case ev.TechnologyBought(_, technology, cards):
            return f"buys {title(technology)} for {cards_in_words(cards, style)}"
        case ev.TechnologyReturned(_, technology):
            return f"gives {title(technology)} back"
        case ev.TechnologiesWithdrawn(technologies):
            return f"no longer for sale: {', '.join(map(title, technologies))}"
        # stations
        case ev.StationBuilt(_, city, cards):
            return f"builds a station in {place_in_words(city, game)} with {cards_in_words(cards, style)}"
        case _:
            assert_never(event)


def _question(decision: decisions.Decision, game: Game, style: Style) -> str:
    asked = " and ".join(style.name(seat) for seat in decision.seats)
    match decision:
        case decisions.KeepTickets(_, offered_count, keep):
            at_least = f", at least {keep}" if keep else ""
            question = f"which of {counted(offered_count, 'ticket')} to keep{at_least}?"
        case decisions.ShareTicket():
            question = "which ticket to put on the holder?"
        case decisions.TakeTurn():
            question = "what to do?"
        case decisions.TakeAction():
            question = "which action, after the purchase?"
        case decisions.SecondCard():
            question = "which second card?"
        case decisions.PlaceCard(_, _, card):
            question = f"where to put {_known_card(card, style)}?"
        case decisions.ClaimRoute():
            question = "which route to claim?"
        case decisions.PayTunnel(_, route, _, _, _, extra):
            question = f"{counted(extra, 'card')} more for the tunnel {route_in_words(route, game)}?"
        case decisions.CompleteTickets():
            question = "which tickets to complete?"
        case _:
            assert_never(decision)
    return f"{asked}: {question}"


# -- words -------------------------------------------------------------------------------------------


def cards_in_words(cards: Cards, style: Style = PLAIN) -> str:
    """Write `3 red, 1 locomotive`."""
    words: list[str] = []
    for color in COLORS:
        count: int = getattr(cards, color)
        if count:
            words.append(style.paint(f"{count} {_named(color, count)}", _SGR[color]))
    return ", ".join(words) or "no cards"


def _named(color: Color, count: int) -> str:
    return f"{color}s" if color == "locomotive" and count > 1 else color


def color_in_words(color: Color, style: Style = PLAIN) -> str:
    return style.paint(f"a {color}" if color == "locomotive" else color, _SGR[color])


def route_in_words(name: str, game: Game) -> str:
    """Write the ends of a route, or its id where this board has no such route."""
    number = game.board.route_ids.get(name)
    if number is None:
        return shown(name)
    route = game.board.routes[number]
    cities = game.board.file.cities
    return f"{shown(cities[route.a].name)} - {shown(cities[route.b].name)}"


def ticket_in_words(name: str, game: Game) -> str:
    """Write `Denver - El Paso`, or the id where this board has no such ticket."""
    number = game.board.ticket_ids.get(name)
    if number is None:
        return shown(name)
    ticket = game.board.file.tickets[number]
    return f"{place_in_words(ticket.a, game)} - {place_in_words(ticket.b, game)}"


def tickets_in_words(names: TicketNames, game: Game) -> str:
    """Write `Denver - El Paso (4), Boston - Miami (12)`."""
    return ", ".join(_ticket_with_points(name, game) for name in names)


def place_in_words(place: str, game: Game) -> str:
    """Return the name of a city, or of a group of cities."""
    number = game.board.city_ids.get(place)
    return title(place) if number is None else shown(game.board.file.cities[number].name)


def destination(place: Place | UnsetType, game: Game) -> str:
    """Describe where a card goes, in games with more than one place."""
    if place is UNSET or game.rules.part(Holders) is None:
        return ""
    return " into the hand" if place == "hand" else " onto the holder"


def title(name: str) -> str:
    """Write `boiler_lagging` as Boiler Lagging."""
    return shown(name.replace("_", " ").title())


def _ticket_with_points(name: str, game: Game) -> str:
    number = game.board.ticket_ids.get(name)
    points = "" if number is None else f" ({game.board.tickets[number].points})"
    return ticket_in_words(name, game) + points


def _known_cards(count: int, cards: Cards | UnsetType, style: Style) -> str:
    return counted(count, "card") if cards is UNSET else cards_in_words(cards, style)


def _known_card(card: Color | UnsetType, style: Style) -> str:
    return "a card" if card is UNSET else color_in_words(card, style)


def _known_tickets(count: int, tickets: TicketNames | UnsetType, game: Game) -> str:
    if tickets is UNSET or not tickets:
        return counted(count, "ticket") if count else "no ticket"
    return tickets_in_words(tickets, game)


def _payment(cards: Cards, holder_cards: Cards, style: Style) -> str:
    if holder_cards == Cards():
        return cards_in_words(cards, style)
    from_holder = f"{cards_in_words(holder_cards, style)} of the holder"
    return from_holder if cards == Cards() else f"{cards_in_words(cards, style)} and {from_holder}"


def _ranking(result: Result, style: Style) -> str:
    teams = sorted(result.teams, key=lambda team: team.rank)
    return ", ".join(f"{team_in_words(team, style)} {counted(team.points, 'point')}" for team in teams)


def team_in_words(team: TeamResult, style: Style) -> str:
    return " + ".join(style.name(seat) for seat in team.seats)
