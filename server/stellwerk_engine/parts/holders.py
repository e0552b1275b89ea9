"""Holders: the cards and tickets that a team shares (ASIA-03, ASIA-06 to ASIA-11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from stellwerk_engine.core.board import TicketId, mask_of
from stellwerk_engine.core.cards import CardColor, CardSet, at_least, from_wire, of, to_wire, total
from stellwerk_engine.core.folding import minus, number_of, plus, present, still_known, with_team
from stellwerk_engine.core.state import CardGap, Game, Gaps, Part, Seat, State, TicketGap, ViewerId
from stellwerk_engine.core.viewers import sees_team
from stellwerk_protocol.cards import NO_CARDS, Cards
from stellwerk_protocol.views import TeamView, View


class HolderFields:
    """Holders."""

    holders: list[CardSet]  # a team
    known_holders: list[CardSet]
    shared_masks: list[int]  # tickets


@dataclass(frozen=True, slots=True)
class Holders(Part):
    """A holder for each team."""

    def begin(self, state: State) -> None:
        teams = len(state.game.seats_of_team)
        state.holders = [0] * teams
        state.known_holders = [0] * teams
        state.shared_masks = [0] * teams

    def cards_lying(self, state: State) -> CardSet:
        return sum(state.holders)

    def rule(self, game: Game) -> str:
        return (
            "Partners score as one team: its tickets count on the routes of both, and trains are separate. "
            "A partner's hand and secret tickets are hidden; both see and use the cards and tickets on the "
            "team's holder."
        )

    def tickets_lying(self, state: State) -> int:
        lying = 0
        for mask in state.shared_masks:
            lying |= mask
        return lying

    def add_gaps(self, state: State, view: View, gaps: Gaps) -> None:
        for team_view in present(view.teams):
            team = team_view.team
            partners = state.game.seats_of_team[team]
            missing = team_view.holder_count - total(state.holders[team])
            gaps.cards.append(CardGap(team, missing, _add_cards, payers=partners))
            missing = team_view.shared_count - state.shared_masks[team].bit_count()
            gaps.tickets.append(TicketGap("shared", team, missing, _add_tickets, is_team=True))

    def see(self, state: State, view: View) -> None:
        for team in () if view.teams is UNSET else view.teams:
            known = from_wire(team.known_holder)
            state.known_holders[team.team] = known
            state.holders[team.team] = known if team.holder is UNSET else from_wire(team.holder)
            if team.shared_tickets is not UNSET:
                ids = state.game.board.ticket_ids
                state.shared_masks[team.team] = mask_of([ids[name] for name in team.shared_tickets])


def _add_cards(state: State, team: int, cards: Sequence[CardColor]) -> None:
    state.holders[team] += of(cards)


def _add_tickets(state: State, team: int, tickets: Sequence[TicketId]) -> None:
    state.shared_masks[team] |= mask_of(tickets)


def holder_of(state: State, seat: Seat) -> CardSet:
    """Return what the team shares; nothing if the game has no holders."""
    return state.holders[state.game.team_of[seat]] if state.holders else 0


def put_on_holder(state: State, seat: Seat, cards: CardSet, is_open: bool) -> None:
    """Add cards; everybody knows from then on of those that were taken openly."""
    team = state.game.team_of[seat]
    state.holders[team] += cards
    if is_open:
        state.known_holders[team] += cards


# -- in views ----------------------------------------------------------------------------------------


def team_views(state: State, viewer: ViewerId) -> tuple[TeamView, ...]:
    return tuple([_team_view(state, viewer, team) for team in range(len(state.holders))])


def _team_view(state: State, viewer: ViewerId, team: int) -> TeamView:
    sees = sees_team(state.game, viewer, team)
    cards, shared_mask = state.holders[team], state.shared_masks[team]
    return TeamView(
        team=team,
        holder_count=total(cards),
        known_holder=to_wire(state.known_holders[team]),
        shared_count=shared_mask.bit_count(),
        holder=to_wire(cards) if sees else UNSET,
        shared_tickets=state.game.board.ticket_names[shared_mask] if sees else UNSET,
    )


def into_holder_view(game: Game, view: View, seat: Seat, cards: Cards | UnsetType, is_open: bool) -> View:
    """Add one card, which a viewer sees that sees the holder, or everybody if it is open."""
    team = present(view.teams)[game.team_of[seat]]
    team = replace(team, holder_count=team.holder_count + 1)
    if cards is not UNSET and team.holder is not UNSET:
        team = replace(team, holder=plus(team.holder, cards))
    if cards is not UNSET and is_open:
        team = replace(team, known_holder=plus(team.known_holder, cards))
    return with_team(view, team)


def out_of_holder_view(game: Game, view: View, seat: Seat, cards: Cards) -> View:
    if cards == NO_CARDS:
        return view
    team = present(view.teams)[game.team_of[seat]]
    team = replace(
        team,
        holder_count=team.holder_count - number_of(cards),
        known_holder=still_known(team.known_holder, cards),
        holder=UNSET if team.holder is UNSET else minus(team.holder, cards),
    )
    return with_team(view, team)


def show_on_holder(game: Game, view: View, seat: Seat, cards: Cards) -> View:
    """Note that everybody saw these on the holder."""
    if cards == NO_CARDS:
        return view
    team = present(view.teams)[game.team_of[seat]]
    known_holder = at_least(from_wire(team.known_holder), from_wire(cards))
    return with_team(view, replace(team, known_holder=to_wire(known_holder)))
