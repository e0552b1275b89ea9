"""The events of a game: one fact for each struct, distinguished by `type`.

The engine creates events with all fields. Each viewer gets a copy without the fields that it may not know,
which are marked "private" below. Folding the events that a viewer got gives its view. Cards leave and enter
piles exactly where an event says so.
"""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from stellwerk_protocol.cards import NO_CARDS, Cards
from stellwerk_protocol.decisions import Decision
from stellwerk_protocol.names import (
    CityName,
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
    """A new pile: `count` cards, face down; the discards are empty. The pile has no other cards than
    `may_hold` (which is exact, except after the card game's first half)."""

    count: Count
    may_hold: Cards


class CardsLaidOpen(_Event, frozen=True, tag="cards_laid_open"):
    """Cards that went from the pile into the market."""

    cards: Cards


class MarketExchanged(_Event, frozen=True, tag="market_exchanged"):
    """All open cards, discarded because three of them were locomotives (USA-06)."""

    cards: Cards


class CardsRevealed(_Event, frozen=True, tag="cards_revealed"):
    """Cards from the pile, revealed for a tunnel. They are not discards until the attempt ends (ASIA-24)."""

    cards: Cards


class CardsDealt(_Event, frozen=True, tag="cards_dealt"):
    """Cards dealt from the pile into a hand; `cards` is private to the seat."""

    seat: Seat
    count: Count
    cards: Cards | UnsetType = UNSET


class LocomotiveDealt(_Event, frozen=True, tag="locomotive_dealt"):
    """An open locomotive, dealt before the pile was shuffled (CARD-02, UK-02)."""

    seat: Seat


class TicketPileShuffled(_Event, frozen=True, tag="ticket_pile_shuffled"):
    count: Count


# -- turns -------------------------------------------------------------------------------------------


class TurnStarted(_Event, frozen=True, tag="turn_started"):
    """The start of a turn: the seat owes `take_turn`. `passes` is the number of turns in a row before it that
    were passed. `turns_left` is present in the last round and counts this turn."""

    seat: Seat
    turn: Count
    passes: Count = 0
    turns_left: Count | UnsetType = UNSET


class Asked(_Event, frozen=True, tag="asked"):
    """A decision that the game waits for (`turn_started` implies `take_turn`). The card of a `place_card` is
    private to the seat unless it is `open`."""

    decision: Decision


class Passed(_Event, frozen=True, tag="passed"):
    seat: Seat


class Stopped(_Event, frozen=True, tag="stopped"):
    """The seat's refusal of a second card or a second claim."""

    seat: Seat


class LastRound(_Event, frozen=True, tag="last_round"):
    turns_left: Count


class TurnsEnded(_Event, frozen=True, tag="turns_ended"):
    """The end of all turns before the scoring, of the game or of its first half. `passes` and `turns_left`
    are those after the last turn, as in `turn_started`."""

    reason: EndReason
    passes: Count = 0
    turns_left: Count | UnsetType = UNSET


class GameEnded(_Event, frozen=True, tag="game_ended"):
    result: Result


# -- train cards -------------------------------------------------------------------------------------


class CardTaken(_Event, frozen=True, tag="card_taken"):
    """An open card, taken from the market. Without `place`, the player decides it next (ASIA-06)."""

    seat: Seat
    card: Color
    place: Place | UnsetType = UNSET


class CardDrawn(_Event, frozen=True, tag="card_drawn"):
    """A card from the pile, drawn blind; `card` is private to the seat (to the team on the holder). Without
    `place`, the player decides it next."""

    seat: Seat
    place: Place | UnsetType = UNSET
    card: Color | UnsetType = UNSET


class CardPlaced(_Event, frozen=True, tag="card_placed"):
    """The place of the first card. `card` is private as in `card_drawn`, unless it was taken from the market
    (`open`)."""

    seat: Seat
    place: Place
    open: bool
    card: Color | UnsetType = UNSET


# -- routes ------------------------------------------------------------------------------------------


class RouteClaimed(_Event, frozen=True, tag="route_claimed"):
    """A claim. `cards` from the hand, `holder_cards` from the team's holder and `revealed` (of a tunnel) are
    discarded together; `trains` are placed; `points` are scored at once."""

    seat: Seat
    route: RouteName
    trains: Count
    points: Points
    cards: Cards = NO_CARDS
    holder_cards: Cards = NO_CARDS
    revealed: Cards = NO_CARDS


class TunnelTried(_Event, frozen=True, tag="tunnel_tried"):
    """An attempt at a tunnel. The cards laid stay in hand and holder until it ends; the player must pay
    `extra` more."""

    seat: Seat
    route: RouteName
    extra: Count
    cards: Cards = NO_CARDS
    holder_cards: Cards = NO_CARDS
    revealed: Cards = NO_CARDS


class TunnelAbandoned(_Event, frozen=True, tag="tunnel_abandoned"):
    """The end of an attempt. The cards laid were shown and stay where they were; `revealed` is discarded."""

    seat: Seat
    route: RouteName
    cards: Cards = NO_CARDS
    holder_cards: Cards = NO_CARDS
    revealed: Cards = NO_CARDS


# -- tickets -----------------------------------------------------------------------------------------


class TicketsOffered(_Event, frozen=True, tag="tickets_offered"):
    """Tickets from the ticket pile to choose from; `tickets` is private to the seat."""

    seat: Seat
    count: Count
    tickets: TicketNames | UnsetType = UNSET


class TicketsKept(_Event, frozen=True, tag="tickets_kept"):
    """The tickets kept; the others went back. `tickets` and `returned` are private to the seat."""

    seat: Seat
    count: Count
    returned_count: Count
    tickets: TicketNames | UnsetType = UNSET
    returned: TicketNames | UnsetType = UNSET


class TicketsRemoved(_Event, frozen=True, tag="tickets_removed"):
    """Out of the game (EUR-03): offered to the `seat` and not kept, or, without a seat, left in the pile of
    long tickets. `tickets` is private to the seat; without one only a viewer of all hands gets it."""

    count: Count
    seat: Seat | UnsetType = UNSET
    tickets: TicketNames | UnsetType = UNSET


class TicketsToShare(_Event, frozen=True, tag="tickets_to_share"):
    """Tickets of which one goes on the team's holder; `tickets` is private to the seat."""

    seat: Seat
    count: Count
    tickets: TicketNames | UnsetType = UNSET


class TicketsShared(_Event, frozen=True, tag="tickets_shared"):
    """Tickets that went from the seat to the team's holder; `tickets` is private to the team."""

    seat: Seat
    count: Count
    tickets: TicketNames | UnsetType = UNSET


# -- the card game -----------------------------------------------------------------------------------


class CardsSent(_Event, frozen=True, tag="cards_sent"):
    """One card of each color in the seat's yard, locomotives first, moved onto its on-track stack
    (CARD-04)."""

    seat: Seat
    cards: Cards


class CardsLaid(_Event, frozen=True, tag="cards_laid"):
    """Cards that went from the hand into the seat's rail yard. Locomotives lie on the one color laid with
    them."""

    seat: Seat
    cards: Cards


class Raided(_Event, frozen=True, tag="raided"):
    """This seat's cards of `color` in the yard, discarded together with the locomotives on them (CARD-10)."""

    seat: Seat
    color: Color
    cards: Cards


class StackTakenUp(_Event, frozen=True, tag="stack_taken_up"):
    """The seat's on-track stack, which it may now look at; `cards` is private to the seat."""

    seat: Seat
    count: Count
    cards: Cards | UnsetType = UNSET


class TicketsCompleted(_Event, frozen=True, tag="tickets_completed"):
    seat: Seat
    tickets: TicketNames
    points: Points


class HalfStarted(_Event, frozen=True, tag="half_started"):
    """The start of a half. Yards, stacks and discards are empty; their cards are in the pile that is shuffled
    next (CARD-15)."""

    half: Count


# -- technologies ------------------------------------------------------------------------------------


class TechnologyBought(_Event, frozen=True, tag="technology_bought"):
    seat: Seat
    technology: TechnologyName
    cards: Cards


class TechnologyReturned(_Event, frozen=True, tag="technology_returned"):
    """A technology that went back to the supply after its claims (UK-21, UK-22)."""

    seat: Seat
    technology: TechnologyName


class TechnologiesWithdrawn(_Event, frozen=True, tag="technologies_withdrawn"):
    """Technologies that left the supply because nobody bought them in time (UK-26)."""

    technologies: Annotated[tuple[TechnologyName, ...], Meta(max_length=32)]


# -- stations ----------------------------------------------------------------------------------------


class StationBuilt(_Event, frozen=True, tag="station_built"):
    """The cards are discarded (EUR-10)."""

    seat: Seat
    city: CityName
    cards: Cards


EventOfEveryGame = (
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
)

Event = (
    EventOfEveryGame
    | CardTaken
    | CardDrawn
    | CardPlaced
    | RouteClaimed
    | TunnelTried
    | TunnelAbandoned
    | TicketsOffered
    | TicketsKept
    | TicketsRemoved
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
    | StationBuilt
)
