"""Complete states as one viewer may imagine them: what it sees as it is, what it does not see dealt anew.

Law: the viewer cannot tell an imagined state from the real one. Viewing it gives the same bytes, and it can
be played on to the end by any policy. So a search bot plays on from states that it made of its views, and
never needs more than these.

What is dealt keeps to what the view says: how many cards and tickets lie where, which cards of a hand
everybody knows, which cards the pile can hold. It also keeps to what follows from a pending decision: who has
a tunnel's bill can pay it (ASIA-17), and who has to make a claim with a technology can make one (UK-21, UK-22).
Beyond that all ways are equally likely, whatever the others' moves may have told of their plans. Tickets that
the viewer put back lie lowest in the ticket pile, as far as they fit. Nobody has yet answered a decision that
several owe at once, for a view does not tell who has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, assert_never

from msgspec import UNSET

from stellwerk_engine.board import GRAY, TicketId, bits, mask_of
from stellwerk_engine.cards import (
    COLOR_IDS,
    LOCOMOTIVE,
    ONE,
    ONE_LOCOMOTIVE,
    PLAIN_COLORS,
    SHIFT,
    CardColor,
    CardSet,
    as_list,
    at_least,
    counts,
    covers,
    from_wire,
    in_both,
    of,
    total,
    without,
)
from stellwerk_engine.choices import ask_all
from stellwerk_engine.claim_route import claimable_mask, takeable_mask
from stellwerk_engine.claims import hand_over
from stellwerk_engine.complete_tickets import CompleteTickets
from stellwerk_engine.dice import SEED_SIZE, Dice
from stellwerk_engine.draw_cards import PlaceCard
from stellwerk_engine.payments import units_to_pay
from stellwerk_engine.set_up import after_first_tickets, empty_state, start_first_turn
from stellwerk_engine.state import NOT_LAST_ROUND, State
from stellwerk_engine.technologies import ClaimNow
from stellwerk_engine.tickets import KeepTickets, ShareTicket, after_draw
from stellwerk_engine.tunnel import PayTunnel, color_laid
from stellwerk_engine.turn import end_turn
from stellwerk_protocol import decisions as wire_decisions
from stellwerk_protocol.names import TicketName

if TYPE_CHECKING:
    from stellwerk_engine.decision import Seat
    from stellwerk_engine.game import Game
    from stellwerk_protocol.views import PlayerView, TeamView, View


def imagine(game: Game, view: View, dice: Dice) -> State:
    """One state. It keeps the dice for the shuffles to come."""
    return Imagination(game, view).deal(dice)


@dataclass(frozen=True, slots=True)
class _Gap:
    """So many hidden things are missing here."""

    owner: int  # a seat, or a team
    count: int


class Imagination:
    """A view read once, for a search that imagines it many times: `deal` is all that a further state costs."""

    __slots__ = (
        "_can_be_in_pile",
        "_cannot_be_in_pile",
        "_demands",
        "_game",
        "_hand_gaps",
        "_holder_gaps",
        "_offer_gaps",
        "_pile_count",
        "_returned",
        "_secret_gaps",
        "_seen",
        "_shared_gaps",
        "_stack_gaps",
        "_ticket_pile_count",
        "_tickets",
    )
