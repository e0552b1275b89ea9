"""The moves of a player: one struct for each kind of move, distinguished by `type`.

A move names everything by id, and does not repeat what the decision contains. `decisions.py` lists the moves
that answer each decision.
"""

from typing import Annotated

from msgspec import Meta, Struct

from stellwerk_protocol.cards import NO_CARDS, Cards
from stellwerk_protocol.names import (
    CityName,
    Color,
    Place,
    RouteName,
    TechnologyName,
    TicketName,
    TicketNames,
)


class _Move(Struct, frozen=True, tag_field="type", forbid_unknown_fields=True, gc=False):
    pass


class DrawCard(_Move, frozen=True, tag="draw_card"):
    """A blind draw of the top card of the pile."""


class TakeCard(_Move, frozen=True, tag="take_card"):
    """An open card of this color, taken from the market."""

    card: Color


class DrawThree(_Move, frozen=True, tag="draw_three"):
    """Three blind draws instead of two, with Water Tenders (UK-23)."""


class PlaceCard(_Move, frozen=True, tag="place_card"):
    """The place of the first card drawn; the second goes to the other place (ASIA-06)."""

    place: Place


class ClaimRoute(_Move, frozen=True, tag="claim_route", omit_defaults=True):
    """A claim of a route for exactly these cards, from the hand and from the team's holder."""

    route: RouteName
    cards: Cards = NO_CARDS
    holder_cards: Cards = NO_CARDS


class PayTunnel(_Move, frozen=True, tag="pay_tunnel", omit_defaults=True):
    """Cards added to those laid for the tunnel."""

    cards: Cards = NO_CARDS
    holder_cards: Cards = NO_CARDS


class AbandonTunnel(_Move, frozen=True, tag="abandon_tunnel"):
    """The end of a tunnel attempt: the cards laid come back, and the turn is over."""


class Stop(_Move, frozen=True, tag="stop"):
    """A refusal of the second card (CARD-07) or of the second claim that the Thermocompressor allows
    (UK-22)."""


class DrawTickets(_Move, frozen=True, tag="draw_tickets"):
    """A draw of tickets to choose from."""


class KeepTickets(_Move, frozen=True, tag="keep_tickets"):
    """The offered tickets to keep; the others go back."""

    tickets: TicketNames


class ShareTickets(_Move, frozen=True, tag="share_tickets"):
    """One or two secret tickets to put on the team's holder (ASIA-09 to ASIA-11)."""

    tickets: Annotated[tuple[TicketName, ...], Meta(min_length=1, max_length=2)]


class LayCards(_Move, frozen=True, tag="lay_cards"):
    """Cards to lay into your own rail yard: a set of one color, or three of three colors (CARD-08)."""

    cards: Cards


class CompleteTickets(_Move, frozen=True, tag="complete_tickets"):
    """Tickets to complete with the cards of your own on-track stack (CARD-13)."""

    tickets: TicketNames


class BuyTechnology(_Move, frozen=True, tag="buy_technology"):
    """A purchase of a technology for exactly these cards, before the action of the turn (UK-09)."""

    technology: TechnologyName
    cards: Cards


class BuildStation(_Move, frozen=True, tag="build_station"):
    """Lay exactly these cards for a station in the city (EUR-10)."""

    city: CityName
    cards: Cards


class Pass(_Move, frozen=True, tag="pass"):
    """A turn without an action, for a player who has no legal one (GEN-05)."""


Move = (
    DrawCard
    | TakeCard
    | DrawThree
    | PlaceCard
    | ClaimRoute
    | PayTunnel
    | AbandonTunnel
    | Stop
    | DrawTickets
    | KeepTickets
    | ShareTickets
    | LayCards
    | CompleteTickets
    | BuyTechnology
    | BuildStation
    | Pass
)
