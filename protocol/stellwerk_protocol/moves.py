"""What a player can do: one struct a kind of move, told apart by `type`.

A move names everything by id and says nothing that the decision already says. Which moves a
decision takes is written beside it in `decisions.py`.
"""

from typing import Annotated

from msgspec import Meta, Struct

from stellwerk_protocol.cards import NO_CARDS, Cards
from stellwerk_protocol.names import Color, Place, RouteName, TechnologyName, TicketName, TicketNames


class _Move(Struct, frozen=True, tag_field="type", forbid_unknown_fields=True, gc=False):
    pass


class DrawCard(_Move, frozen=True, tag="draw_card"):
    """Draw the top card of the pile, blind."""


class TakeCard(_Move, frozen=True, tag="take_card"):
    """Take an open card of this color from the market."""

    card: Color


class DrawThree(_Move, frozen=True, tag="draw_three"):
    """With Water Tenders: draw three cards blind instead of two (UK-23)."""


class PlaceCard(_Move, frozen=True, tag="place_card"):
    """Say where the first card drawn goes; the second goes to the other place (ASIA-06)."""

    place: Place


class ClaimRoute(_Move, frozen=True, tag="claim_route", omit_defaults=True):
    """Lay exactly these cards, from the hand and from the team's holder, for a route."""

    route: RouteName
    cards: Cards = NO_CARDS
    holder_cards: Cards = NO_CARDS


class PayTunnel(_Move, frozen=True, tag="pay_tunnel", omit_defaults=True):
    """Add these cards to those laid for the tunnel."""

    cards: Cards = NO_CARDS
    holder_cards: Cards = NO_CARDS


class AbandonTunnel(_Move, frozen=True, tag="abandon_tunnel"):
    """Take the cards laid for the tunnel back; the turn is over."""


class Stop(_Move, frozen=True, tag="stop"):
    """Leave the second card (CARD-07) or the second claim that the Thermocompressor allows (UK-22)."""


class DrawTickets(_Move, frozen=True, tag="draw_tickets"):
    """Draw tickets to choose from."""


class KeepTickets(_Move, frozen=True, tag="keep_tickets"):
    """Keep these of the tickets offered; the others go back."""

    tickets: TicketNames


class ShareTickets(_Move, frozen=True, tag="share_tickets"):
    """Put one or two secret tickets on the team's holder (ASIA-09 to ASIA-11)."""

    tickets: Annotated[tuple[TicketName, ...], Meta(min_length=1, max_length=2)]


class LayCards(_Move, frozen=True, tag="lay_cards"):
    """Lay these cards in the own rail yard: a set of one color, or three of three colors (CARD-08)."""

    cards: Cards


class CompleteTickets(_Move, frozen=True, tag="complete_tickets"):
    """Complete these tickets with the cards of the own on-track stack (CARD-13)."""

    tickets: TicketNames


class BuyTechnology(_Move, frozen=True, tag="buy_technology"):
    """Buy a technology with exactly these cards, before the action of the turn (UK-09)."""

    technology: TechnologyName
    cards: Cards


class Pass(_Move, frozen=True, tag="pass"):
    """Do nothing; only who has no legal action may (GEN-05)."""


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
    | Pass
)
