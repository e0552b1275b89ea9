"""What a game waits for: one struct a kind of decision, told apart by `type`.

`seats` names who was asked. Where several are asked at once (GEN-03) it goes on naming all of them
until the last has answered, so that nobody learns who already has.
"""

from msgspec import UNSET, Struct, UnsetType

from stellwerk_protocol.cards import Cards
from stellwerk_protocol.names import Color, Count, RouteName, Seats


class _Decision(Struct, frozen=True, tag_field="type", gc=False):
    seats: Seats


class KeepTickets(_Decision, frozen=True, tag="keep_tickets"):
    """Which of the tickets offered to keep: at least `keep`. Answer: `keep_tickets`."""

    offered_count: Count
    keep: Count


class ShareTicket(_Decision, frozen=True, tag="share_ticket"):
    """Which ticket to put on the team's holder, of those in `offered`. Answer: `share_tickets` with one."""


class TakeTurn(_Decision, frozen=True, tag="take_turn"):
    """The action of a turn; before it, where there are technologies, `buy_technology`."""


class TakeAction(_Decision, frozen=True, tag="take_action"):
    """The action of a turn, after a technology was bought."""


class SecondCard(_Decision, frozen=True, tag="second_card"):
    """The second train card. Answer: `draw_card`, `take_card`, or, where it `may_stop`, `stop`."""

    may_stop: bool


class PlaceCard(_Decision, frozen=True, tag="place_card"):
    """Where the first card goes. `card` is there for who may know it. Answer: `place_card`."""

    card: Color | UnsetType = UNSET


class ClaimRoute(_Decision, frozen=True, tag="claim_route"):
    """A claim that a technology just bought brings: with `right_of_way` of a route that others hold.
    Answer: `claim_route`, or, where it `may_stop`, `stop`."""

    right_of_way: bool
    may_stop: bool


class PayTunnel(_Decision, frozen=True, tag="pay_tunnel"):
    """Whether to add `extra` cards for the tunnel. Answer: `pay_tunnel` or `abandon_tunnel`."""

    route: RouteName
    cards: Cards
    holder_cards: Cards
    revealed: Cards
    extra: Count


class CompleteTickets(_Decision, frozen=True, tag="complete_tickets"):
    """Which tickets to complete with the on-track stack. Answer: `complete_tickets`."""


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
