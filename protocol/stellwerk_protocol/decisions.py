"""The decisions that a game waits for: one struct for each kind, distinguished by `type`.

`seats` names the seats that were asked. If several were asked at once (GEN-03), it names all of them until
the last has answered, so that no seat learns who already has.
"""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from stellwerk_protocol.cards import Cards
from stellwerk_protocol.names import (
    MAX_SEATS,
    Color,
    Count,
    EndReason,
    Place,
    RouteName,
    Seats,
    TechnologyName,
)


class _Decision(Struct, frozen=True, tag_field="type", gc=False):
    seats: Seats


class KeepTickets(_Decision, frozen=True, tag="keep_tickets"):
    """The offered tickets to keep: at least `keep`. Answer: `keep_tickets`."""

    offered_count: Count
    keep: Count


class ShareTicket(_Decision, frozen=True, tag="share_ticket"):
    """The ticket of those in `offered` to put on the team's holder. `offered_counts` has their number for
    each of `seats`. Answer: `share_tickets` with one."""

    offered_counts: Annotated[tuple[Count, ...], Meta(max_length=MAX_SEATS)]


class TakeTurn(_Decision, frozen=True, tag="take_turn"):
    """The action of a turn; in games with technologies, `buy_technology` may come before it."""


class TakeAction(_Decision, frozen=True, tag="take_action"):
    """The action of a turn, after a technology was bought."""


class SecondCard(_Decision, frozen=True, tag="second_card"):
    """The second train card, which goes to `place`. Answer: `draw_card`, `take_card`, or, if `may_stop`,
    `stop`."""

    place: Place
    may_stop: bool


class PlaceCard(_Decision, frozen=True, tag="place_card"):
    """The place of the first card. `card` is private to the seat unless it was taken from the market
    (`open`). Answer: `place_card`."""

    open: bool
    card: Color | UnsetType = UNSET


class ClaimRoute(_Decision, frozen=True, tag="claim_route"):
    """A claim that a technology just bought allows, one of `claims_left`; with `right_of_way`, of a route
    that others hold. Answer: `claim_route`, or, if `may_stop`, `stop`."""

    technology: TechnologyName
    claims_left: Count
    right_of_way: bool
    may_stop: bool


class PayTunnel(_Decision, frozen=True, tag="pay_tunnel"):
    """The choice whether to add `extra` cards for the tunnel. Answer: `pay_tunnel` or `abandon_tunnel`."""

    route: RouteName
    cards: Cards
    holder_cards: Cards
    revealed: Cards
    extra: Count


class CompleteTickets(_Decision, frozen=True, tag="complete_tickets"):
    """The tickets to complete with the on-track stack. `reason` is why the turns have ended. Answer:
    `complete_tickets`."""

    reason: EndReason


Decision = (
    KeepTickets
    | ShareTicket
    | TakeTurn
    | TakeAction
    | SecondCard
    | PlaceCard
    | ClaimRoute
    | PayTunnel
    | CompleteTickets
)

DecisionOfEveryGame = TakeTurn | TakeAction
