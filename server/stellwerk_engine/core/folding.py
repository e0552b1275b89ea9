"""Changes of a view that the events of several parts have in common."""

from __future__ import annotations

from typing import TypeVar

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from stellwerk_engine.core.board import mask_of
from stellwerk_engine.core.cards import COLOR_IDS, ONE, from_wire, to_wire, total, without
from stellwerk_engine.core.state import Game, Seat
from stellwerk_protocol.cards import Cards
from stellwerk_protocol.names import Color, TicketNames
from stellwerk_protocol.views import PlayerView, TeamView, View

T = TypeVar("T")


def with_player(view: View, player: PlayerView) -> View:
    players = view.players
    return replace(view, players=(*players[: player.seat], player, *players[player.seat + 1 :]))


def with_team(view: View, team: TeamView) -> View:
    teams = present(view.teams)
    return replace(view, teams=(*teams[: team.team], team, *teams[team.team + 1 :]))


def with_progress(view: View) -> View:
    """Note that this turn is not idle (GEN-06)."""
    return replace(view, progress_turn=view.turn)


def present(value: T | UnsetType) -> T:
    """Return a section that every view of this game has."""
    assert value is not UNSET
    return value


def plus(cards: Cards, more: Cards) -> Cards:
    return to_wire(from_wire(cards) + from_wire(more))


def minus(cards: Cards, fewer: Cards) -> Cards:
    return to_wire(from_wire(cards) - from_wire(fewer))


def one_card(card: Color) -> Cards:
    return to_wire(ONE[COLOR_IDS[card]])


def number_of(cards: Cards) -> int:
    return total(from_wire(cards))


def seen_leaving(view: View, cards: Cards) -> View:
    """Take cards out of the pile, for all to see."""
    return replace(view, pile=view.pile - number_of(cards), pile_may_hold=minus(view.pile_may_hold, cards))


def onto_discards(view: View, cards: Cards) -> View:
    return replace(view, discards=plus(view.discards, cards))


def into_hand(view: View, seat: Seat, count: int, cards: Cards | UnsetType, is_open: bool = False) -> View:
    player = view.players[seat]
    player = replace(player, hand_count=player.hand_count + count)
    if cards is not UNSET and player.hand is not UNSET:
        player = replace(player, hand=plus(player.hand, cards))
    if cards is not UNSET and is_open:
        player = replace(player, known_cards=plus(player.known_cards, cards))
    return with_player(view, player)


def out_of_hand(view: View, seat: Seat, cards: Cards) -> View:
    player = view.players[seat]
    player = replace(
        player,
        hand_count=player.hand_count - number_of(cards),
        known_cards=still_known(player.known_cards, cards),
        hand=UNSET if player.hand is UNSET else minus(player.hand, cards),
    )
    return with_player(view, player)


def still_known(known: Cards, gone: Cards) -> Cards:
    """Return the cards that everybody still knows of when some were played."""
    return to_wire(without(from_wire(known), from_wire(gone)))


def tickets_with(game: Game, tickets: TicketNames, more: TicketNames) -> TicketNames:
    """Add tickets, in the order of the board file."""
    ids = game.board.ticket_ids
    return game.board.ticket_names[mask_of(ids[name] for name in (*tickets, *more))]


def tickets_without(tickets: TicketNames, fewer: TicketNames) -> TicketNames:
    return tuple([name for name in tickets if name not in fewer])
