"""From events to a view: who was there from the first event on knows what the view says.

Law: folding the events that a viewer got, one by one from the blank view, gives after every move exactly
what `view` shows that viewer. So a client may keep a view of its own instead of asking for one, and no event
lacks a fact. Only the game (rules and board) is needed besides, never a state.

What the viewer may not know is absent from events and view alike: a field of the view that is there is kept
up to date, one that is not stays away.
"""

from __future__ import annotations

from typing import TypeVar, assert_never

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from stellwerk_engine.core.board import mask_of
from stellwerk_engine.core.cards import (
    COLOR_IDS,
    ONE,
    ONE_LOCOMOTIVE,
    PLAIN_COLORS,
    at_least,
    counts,
    from_wire,
    to_wire,
    total,
    without,
)
from stellwerk_engine.core.dice import SEED_SIZE, Dice
from stellwerk_engine.core.set_up import empty_state
from stellwerk_engine.core.state import Game, Seat
from stellwerk_engine.knowledge.view import ViewerId
from stellwerk_engine.knowledge.view import view as view_of
from stellwerk_engine.parts.rail_yards.rail_yards import has_open_stacks
from stellwerk_engine.parts.technologies.buy_technology import technology_ids
from stellwerk_protocol import decisions
from stellwerk_protocol import events as ev
from stellwerk_protocol.cards import NO_CARDS, Cards
from stellwerk_protocol.names import COLORS, Color, Place, TechnologyName, TicketNames
from stellwerk_protocol.views import PlayerView, TeamView, View, YardStack

T = TypeVar("T")


def blank_view(game: Game, viewer: ViewerId) -> View:
    """What there is to see before the first event."""
    return view_of(empty_state(game, Dice(bytes(SEED_SIZE))), viewer)


def fold(game: Game, view: View, event: ev.Event) -> View:
    """The view after one more event, redacted for its viewer."""
    match event:
        # the piles
        case ev.PileShuffled(count, may_hold):
            return replace(view, pile=count, pile_may_hold=may_hold, discards=NO_CARDS)
        case ev.CardsLaidOpen(cards):
            return replace(_seen_leaving(view, cards), market=_plus(view.market, cards))
        case ev.MarketExchanged(cards):
            return replace(view, market=_minus(view.market, cards), discards=_plus(view.discards, cards))
        case ev.CardsRevealed(cards):
            return _seen_leaving(view, cards)
        case ev.CardsDealt(seat, count, cards):
            return replace(_into_hand(view, seat, count, cards), pile=view.pile - count)
        case ev.LocomotiveDealt(seat):
            return _into_hand(view, seat, 1, to_wire(ONE_LOCOMOTIVE), is_open=True)
        case ev.TicketPileShuffled(count):
            return replace(view, ticket_pile=count)

        # turns
        case ev.TurnStarted(seat, turn, passes, turns_left):
            pending = decisions.TakeTurn((seat,))
            return replace(view, turn=turn, passes=passes, turns_left=turns_left, pending=pending)
        case ev.Asked(decision):
            return replace(view, pending=decision)
        case ev.Passed() | ev.Stopped():
            return view
        case ev.LastRound(turns_left):
            return replace(view, turns_left=turns_left)
        case ev.TurnsEnded(_, passes, turns_left):
            return replace(view, passes=passes, turns_left=turns_left)
        case ev.GameEnded(result):
            return replace(view, pending=UNSET, result=result)

        # train cards
        case ev.CardTaken(seat, card, place):
            view = replace(view, market=_minus(view.market, _one(card)), progress_turn=view.turn)
            return view if place is UNSET else _into_place(game, view, seat, place, card, is_open=True)
        case ev.CardDrawn(seat, place, card):
            view = replace(view, pile=view.pile - 1, progress_turn=view.turn)
            return view if place is UNSET else _into_place(game, view, seat, place, card, is_open=False)
        case ev.CardPlaced(seat, place, is_open, card):
            return _into_place(game, view, seat, place, card, is_open)

        # routes
        case ev.RouteClaimed(seat, route, trains, points, cards, holder_cards, revealed):
            view = _discard(view, _plus(_plus(cards, holder_cards), revealed))
            view = _out_of_holder(game, _out_of_hand(view, seat, cards), seat, holder_cards)
            player = view.players[seat]
            player = replace(
                player,
                points=player.points + points,
                trains=_there(player.trains) - trains,
                routes=(*_there(player.routes), route),
            )
            return _progress(_with_player(view, player))
        case ev.TunnelTried():
            return view
        case ev.TunnelAbandoned(seat, _, cards, holder_cards, revealed):
            return _show(game, _discard(view, revealed), seat, cards, holder_cards)

        # tickets
        case ev.TicketsOffered(seat, count, tickets):
            view = replace(view, ticket_pile=view.ticket_pile - count)
            if tickets is UNSET:
                return view
            player = view.players[seat]
            player = replace(player, returned=_tickets_without(_there(player.returned), tickets))
            return _with_player(view, replace(player, offered=tickets or UNSET))
        case ev.TicketsKept(seat, count, returned_count, tickets, returned):
            view = replace(view, ticket_pile=view.ticket_pile + returned_count)
            player = view.players[seat]
            player = replace(player, ticket_count=player.ticket_count + count)
            if tickets is not UNSET and returned is not UNSET:
                player = replace(
                    player,
                    tickets=_tickets_with(game, _there(player.tickets), tickets),
                    returned=_tickets_with(game, _there(player.returned), returned),
                    offered=UNSET,
                )
            view = _with_player(view, player)
            return _progress(view) if count else view
        case ev.TicketsToShare(seat, _, tickets):
            return _with_player(view, replace(view.players[seat], offered=tickets or UNSET))
        case ev.TicketsShared(seat, count, tickets):
            return _progress(_share(game, view, seat, count, tickets))

        # the card game
        case ev.CardsSent(seat, cards):
            player = view.players[seat]
            player = replace(
                player,
                yard=_yard_after_sending(_there(player.yard)),
                stack_count=_there(player.stack_count) + _count(cards),
                stack=UNSET if player.stack is UNSET else _plus(player.stack, cards),
            )
            return _progress(_with_player(view, player))
        case ev.CardsLaid(seat, cards):
            view = _out_of_hand(view, seat, cards)
            player = view.players[seat]
            player = replace(player, yard=_yard_with(_there(player.yard), cards))
            return _progress(_with_player(view, player))
        case ev.Raided(seat, color, cards):
            player = view.players[seat]
            yard = tuple([stack for stack in _there(player.yard) if stack.color != color])
            return _with_player(_discard(view, cards), replace(player, yard=yard))
        case ev.StackTakenUp(seat, _, cards):
            return _with_player(view, replace(view.players[seat], stack=cards))
        case ev.TicketsCompleted(seat, tickets, points):
            player = view.players[seat]
            player = replace(
                player,
                points=player.points + points,
                ticket_count=player.ticket_count - len(tickets),
                tickets=UNSET if player.tickets is UNSET else _tickets_without(player.tickets, tickets),
                completed=_tickets_with(game, _there(player.completed), tickets),
            )
            return _with_player(view, player)
        case ev.HalfStarted(half):
            players = tuple([_with_empty_yard(game, player) for player in view.players])
            return replace(view, half=half, turns_left=UNSET, discards=NO_CARDS, players=players)

        # technologies
        case ev.TechnologyBought(seat, technology, cards):
            view = _out_of_hand(_discard(view, cards), seat, cards)
            return _progress(_move_technology(game, view, seat, technology, -1))
        case ev.TechnologyReturned(seat, technology):
            return _move_technology(game, view, seat, technology, 1)
        case ev.TechnologiesWithdrawn(technologies):
            left = _there(view.supply)
            return replace(
                view, supply={name: number for name, number in left.items() if name not in technologies}
            )
        case _:
            assert_never(event)


# -- records -----------------------------------------------------------------------------------------


def _with_player(view: View, player: PlayerView) -> View:
    players = view.players
    return replace(view, players=(*players[: player.seat], player, *players[player.seat + 1 :]))


def _with_team(view: View, team: TeamView) -> View:
    teams = _there(view.teams)
    return replace(view, teams=(*teams[: team.team], team, *teams[team.team + 1 :]))


def _progress(view: View) -> View:
    """GEN-06: this turn is not idle."""
    return replace(view, progress_turn=view.turn)


def _there(value: T | UnsetType) -> T:
    """A part that every view of this game has."""
    assert value is not UNSET
    return value


# -- train cards -------------------------------------------------------------------------------------


def _plus(cards: Cards, more: Cards) -> Cards:
    return to_wire(from_wire(cards) + from_wire(more))


def _minus(cards: Cards, fewer: Cards) -> Cards:
    return to_wire(from_wire(cards) - from_wire(fewer))


def _one(card: Color) -> Cards:
    return to_wire(ONE[COLOR_IDS[card]])


def _count(cards: Cards) -> int:
    return total(from_wire(cards))


def _seen_leaving(view: View, cards: Cards) -> View:
    """Out of the pile, for all to see."""
    return replace(view, pile=view.pile - _count(cards), pile_may_hold=_minus(view.pile_may_hold, cards))


def _discard(view: View, cards: Cards) -> View:
    return replace(view, discards=_plus(view.discards, cards))


def _into_hand(view: View, seat: Seat, count: int, cards: Cards | UnsetType, is_open: bool = False) -> View:
    player = view.players[seat]
    player = replace(player, hand_count=player.hand_count + count)
    if cards is not UNSET and player.hand is not UNSET:
        player = replace(player, hand=_plus(player.hand, cards))
    if cards is not UNSET and is_open:
        player = replace(player, known_cards=_plus(player.known_cards, cards))
    return _with_player(view, player)


def _into_place(
    game: Game, view: View, seat: Seat, place: Place, card: Color | UnsetType, is_open: bool
) -> View:
    """One card into the hand or onto the holder."""
    cards = UNSET if card is UNSET else _one(card)
    if place == "hand":
        return _into_hand(view, seat, 1, cards, is_open)
    team = _there(view.teams)[game.team_of[seat]]
    team = replace(team, holder_count=team.holder_count + 1)
    if cards is not UNSET and team.holder is not UNSET:
        team = replace(team, holder=_plus(team.holder, cards))
    if cards is not UNSET and is_open:
        team = replace(team, known_holder=_plus(team.known_holder, cards))
    return _with_team(view, team)


def _out_of_hand(view: View, seat: Seat, cards: Cards) -> View:
    player = view.players[seat]
    player = replace(
        player,
        hand_count=player.hand_count - _count(cards),
        known_cards=_rest(player.known_cards, cards),
        hand=UNSET if player.hand is UNSET else _minus(player.hand, cards),
    )
    return _with_player(view, player)


def _out_of_holder(game: Game, view: View, seat: Seat, cards: Cards) -> View:
    if cards == NO_CARDS:
        return view
    team = _there(view.teams)[game.team_of[seat]]
    team = replace(
        team,
        holder_count=team.holder_count - _count(cards),
        known_holder=_rest(team.known_holder, cards),
        holder=UNSET if team.holder is UNSET else _minus(team.holder, cards),
    )
    return _with_team(view, team)


def _rest(known: Cards, gone: Cards) -> Cards:
    """Of the cards that everybody knew of, those played are known no more."""
    return to_wire(without(from_wire(known), from_wire(gone)))


def _show(game: Game, view: View, seat: Seat, cards: Cards, holder_cards: Cards) -> View:
    """Everybody saw that these lie in the hand and on the holder."""
    player = view.players[seat]
    known = at_least(from_wire(player.known_cards), from_wire(cards))
    view = _with_player(view, replace(player, known_cards=to_wire(known)))
    if holder_cards == NO_CARDS:
        return view
    team = _there(view.teams)[game.team_of[seat]]
    known_holder = at_least(from_wire(team.known_holder), from_wire(holder_cards))
    return _with_team(view, replace(team, known_holder=to_wire(known_holder)))


# -- tickets -----------------------------------------------------------------------------------------


def _tickets_with(game: Game, tickets: TicketNames, more: TicketNames) -> TicketNames:
    """In the order of the board file."""
    ids = game.board.ticket_ids
    return game.board.ticket_names[mask_of(ids[name] for name in (*tickets, *more))]


def _tickets_without(tickets: TicketNames, fewer: TicketNames) -> TicketNames:
    return tuple([name for name in tickets if name not in fewer])


def _share(game: Game, view: View, seat: Seat, count: int, tickets: TicketNames | UnsetType) -> View:
    player = view.players[seat]
    player = replace(player, ticket_count=player.ticket_count - count)
    team = _there(view.teams)[player.team]
    team = replace(team, shared_count=team.shared_count + count)
    if tickets is not UNSET and player.tickets is not UNSET:
        player = replace(player, tickets=_tickets_without(player.tickets, tickets), offered=UNSET)
    if tickets is not UNSET and team.shared_tickets is not UNSET:
        team = replace(team, shared_tickets=_tickets_with(game, team.shared_tickets, tickets))
    return _with_team(_with_player(view, player), team)


# -- rail yards --------------------------------------------------------------------------------------


def _yard_after_sending(yard: tuple[YardStack, ...]) -> tuple[YardStack, ...]:
    """CARD-04: one card of each color, locomotives first."""
    sent = [
        replace(stack, locomotives=stack.locomotives - 1)
        if stack.locomotives
        else replace(stack, cards=stack.cards - 1)
        for stack in yard
    ]
    return tuple([stack for stack in sent if stack.cards])


def _yard_with(yard: tuple[YardStack, ...], cards: Cards) -> tuple[YardStack, ...]:
    """The locomotives lie on the one color laid with them; colors stand in their order."""
    laid = counts(from_wire(cards))
    new = [YardStack(COLORS[color], laid[color], cards.locomotive) for color in PLAIN_COLORS if laid[color]]
    return tuple(sorted((*yard, *new), key=lambda stack: COLOR_IDS[stack.color]))


def _with_empty_yard(game: Game, player: PlayerView) -> PlayerView:
    """At the start of a half; nobody looks into a stack any more, but its owner where stacks are open."""
    sees_stack = has_open_stacks(game) and player.hand is not UNSET
    return replace(player, yard=(), stack_count=0, stack=NO_CARDS if sees_stack else UNSET)


# -- technologies ------------------------------------------------------------------------------------


def _move_technology(game: Game, view: View, seat: Seat, technology: TechnologyName, to_supply: int) -> View:
    """From the supply to the seat (-1) or back (1); both are kept in the order of the rules."""
    order = technology_ids(game)
    left = dict(_there(view.supply))
    left[technology] = left.get(technology, 0) + to_supply
    player = view.players[seat]
    held = {*_there(player.technologies)} ^ {technology}
    player = replace(player, technologies=tuple(sorted(held, key=order.__getitem__)))
    supply = {name: left[name] for name in order if left.get(name)}
    return replace(_with_player(view, player), supply=supply)
