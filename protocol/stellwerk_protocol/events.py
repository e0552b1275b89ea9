"""What happened, one fact a struct, told apart by `type`.

The engine makes events with everything in them; what a viewer may not know is absent from the copy
that it gets, and only that: the fields marked "private" below. Folding the events that a viewer got
gives the view that it would be shown. Cards leave and enter piles exactly where an event says so.
"""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from stellwerk_protocol.cards import NO_CARDS, Cards
from stellwerk_protocol.decisions import Decision
from stellwerk_protocol.names import (
    Color,
    Count,
    EndReason,
    Place,
    Points,
    RouteName,
    Seat,
    TechnologyName,
    TicketNames,
)
from stellwerk_protocol.results import Result


class _Event(Struct, frozen=True, tag_field="type", omit_defaults=True, gc=False):
    pass


# -- the piles ---------------------------------------------------------------------------------------


class PileShuffled(_Event, frozen=True, tag="pile_shuffled"):
    """`count` cards, face down, are the pile now; the discards are empty. No others than `may_hold` are
    among them (which is exact, except after the card game's first half)."""

    count: Count
    may_hold: Cards


class CardsLaidOpen(_Event, frozen=True, tag="cards_laid_open"):
    """From the pile into the market."""

    cards: Cards


class MarketExchanged(_Event, frozen=True, tag="market_exchanged"):
    """All open cards were discarded, for there were three locomotives among them (USA-06)."""

    cards: Cards


class CardsRevealed(_Event, frozen=True, tag="cards_revealed"):
    """From the pile, for a tunnel; they are no discards until the attempt ends (ASIA-24)."""

    cards: Cards


class CardsDealt(_Event, frozen=True, tag="cards_dealt"):
    """From the pile into a hand; `cards` is private to the seat."""

    seat: Seat
    count: Count
    cards: Cards | UnsetType = UNSET


class LocomotiveDealt(_Event, frozen=True, tag="locomotive_dealt"):
    """A locomotive for all to see, before the pile was shuffled (CARD-02, UK-02)."""

    seat: Seat


class TicketPileShuffled(_Event, frozen=True, tag="ticket_pile_shuffled"):
    count: Count


# -- turns -------------------------------------------------------------------------------------------


class TurnStarted(_Event, frozen=True, tag="turn_started"):
    """The seat owes `take_turn`. `passes`: how many turns before it were passed, in a row.
    `turns_left` is there in the last round and counts this turn."""

    seat: Seat
    turn: Count
    passes: Count = 0
    turns_left: Count | UnsetType = UNSET


class Asked(_Event, frozen=True, tag="asked"):
    """The game waits for this decision (`take_turn` is implied by `turn_started`). The card of a `place_card`
    is private to the seat unless it is `open`."""

    decision: Decision


class Passed(_Event, frozen=True, tag="passed"):
    seat: Seat


class Stopped(_Event, frozen=True, tag="stopped"):
    """The seat left the second card or the second claim."""

    seat: Seat


class LastRound(_Event, frozen=True, tag="last_round"):
    turns_left: Count


class TurnsEnded(_Event, frozen=True, tag="turns_ended"):
    """No turn follows before the scoring, of the game or of its first half. `passes` and `turns_left` as in
    `turn_started`, as the last turn has left them."""

    reason: EndReason
    passes: Count = 0
    turns_left: Count | UnsetType = UNSET


class GameEnded(_Event, frozen=True, tag="game_ended"):
    result: Result


# -- train cards -------------------------------------------------------------------------------------


class CardTaken(_Event, frozen=True, tag="card_taken"):
    """An open card, from the market. No `place`: the player decides it next (ASIA-06)."""

    seat: Seat
    card: Color
    place: Place | UnsetType = UNSET


class CardDrawn(_Event, frozen=True, tag="card_drawn"):
    """A card from the pile, blind; `card` is private to the seat (to the team on the holder).
    No `place`: the player decides it next."""

    seat: Seat
    place: Place | UnsetType = UNSET
    card: Color | UnsetType = UNSET


class CardPlaced(_Event, frozen=True, tag="card_placed"):
    """The first card's place. `card` is private as in `card_drawn`, unless it was taken from the market
    (`open`)."""

    seat: Seat
    place: Place
    open: bool
    card: Color | UnsetType = UNSET


# -- routes ------------------------------------------------------------------------------------------


class RouteClaimed(_Event, frozen=True, tag="route_claimed"):
    """`cards` from the hand, `holder_cards` from the team's holder and `revealed` (of a tunnel) are
    discarded as one lot; `trains` are placed; `points` are scored at once."""

    seat: Seat
    route: RouteName
    trains: Count
    points: Points
    cards: Cards = NO_CARDS
    holder_cards: Cards = NO_CARDS
    revealed: Cards = NO_CARDS


class TunnelTried(_Event, frozen=True, tag="tunnel_tried"):
    """The cards laid stay in hand and holder until the attempt ends; `extra` more are to be paid."""

    seat: Seat
    route: RouteName
    extra: Count
    cards: Cards = NO_CARDS
    holder_cards: Cards = NO_CARDS
    revealed: Cards = NO_CARDS


class TunnelAbandoned(_Event, frozen=True, tag="tunnel_abandoned"):
    """The cards laid were shown and stay where they were; `revealed` is discarded."""

    seat: Seat
    route: RouteName
    cards: Cards = NO_CARDS
    holder_cards: Cards = NO_CARDS
    revealed: Cards = NO_CARDS


# -- tickets -----------------------------------------------------------------------------------------


class TicketsOffered(_Event, frozen=True, tag="tickets_offered"):
    """From the ticket pile, to choose from; `tickets` is private to the seat."""

    seat: Seat
    count: Count
    tickets: TicketNames | UnsetType = UNSET


class TicketsKept(_Event, frozen=True, tag="tickets_kept"):
    """The others went back; `tickets` and `returned` are private to the seat."""

    seat: Seat
    count: Count
    returned_count: Count
    tickets: TicketNames | UnsetType = UNSET
    returned: TicketNames | UnsetType = UNSET


class TicketsToShare(_Event, frozen=True, tag="tickets_to_share"):
    """One of these goes on the team's holder; `tickets` is private to the seat."""

    seat: Seat
    count: Count
    tickets: TicketNames | UnsetType = UNSET


class TicketsShared(_Event, frozen=True, tag="tickets_shared"):
    """From the seat's secret tickets to the team's holder; `tickets` is private to the team."""

    seat: Seat
    count: Count
    tickets: TicketNames | UnsetType = UNSET


# -- the card game -----------------------------------------------------------------------------------


class CardsSent(_Event, frozen=True, tag="cards_sent"):
    """One card of each color in the own yard, locomotives first, onto the on-track stack (CARD-04)."""

    seat: Seat
    cards: Cards


class CardsLaid(_Event, frozen=True, tag="cards_laid"):
    """From the hand into the own rail yard. Locomotives lie on the one color laid with them."""

    seat: Seat
    cards: Cards


class Raided(_Event, frozen=True, tag="raided"):
    """This seat's cards of `color` in the yard were discarded, locomotives on them too (CARD-10)."""

    seat: Seat
    color: Color
    cards: Cards


class StackTakenUp(_Event, frozen=True, tag="stack_taken_up"):
    """The seat looks at its on-track stack; `cards` is private to the seat."""

    seat: Seat
    count: Count
    cards: Cards | UnsetType = UNSET


class TicketsCompleted(_Event, frozen=True, tag="tickets_completed"):
    seat: Seat
    tickets: TicketNames
    points: Points


class HalfStarted(_Event, frozen=True, tag="half_started"):
    """Yards, stacks and discards are empty; their cards are in the pile shuffled next (CARD-15)."""

    half: Count


# -- technologies ------------------------------------------------------------------------------------


class TechnologyBought(_Event, frozen=True, tag="technology_bought"):
    seat: Seat
    technology: TechnologyName
    cards: Cards


class TechnologyReturned(_Event, frozen=True, tag="technology_returned"):
    """Back to the supply, after its claims (UK-21, UK-22)."""

    seat: Seat
    technology: TechnologyName


class TechnologiesWithdrawn(_Event, frozen=True, tag="technologies_withdrawn"):
    """Nobody bought these in time: they leave the supply (UK-26)."""

    technologies: Annotated[tuple[TechnologyName, ...], Meta(max_length=32)]


Event = (
    PileShuffled
    | CardsLaidOpen
    | MarketExchanged
    | CardsRevealed
    | CardsDealt
    | LocomotiveDealt
    | TicketPileShuffled
    | TurnStarted
    | Asked
    | Passed
    | Stopped
    | LastRound
    | TurnsEnded
    | GameEnded
    | CardTaken
    | CardDrawn
    | CardPlaced
    | RouteClaimed
    | TunnelTried
    | TunnelAbandoned
    | TicketsOffered
    | TicketsKept
    | TicketsToShare
    | TicketsShared
    | CardsSent
    | CardsLaid
    | Raided
    | StackTakenUp
    | TicketsCompleted
    | HalfStarted
    | TechnologyBought
    | TechnologyReturned
    | TechnologiesWithdrawn
)
