"""Complete states as one viewer may imagine them: what it sees as it is, what it does not see dealt anew.

Law: the viewer cannot tell an imagined state from the real one. Viewing it gives the same bytes, and any
policy can play it on to the end. So a search bot searches states that it made of its views, and never needs
more than these.

The deal keeps to the view: how many cards and tickets are where, which cards of a hand everybody knows, which
cards the pile can hold. It also keeps to what a pending decision tells of the cards of who was asked: that
they pay a tunnel's bill (ASIA-17), or a claim that a technology was bought for (UK-21, UK-22). Beyond that no
way is preferred, even if the moves of others tell something of their plans. Tickets that the viewer put back
lie lowest in the ticket pile, as far as they fit. Seats that owe a decision at once have not answered yet,
because a view does not show which ones have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from msgspec import UNSET

from stellwerk_engine.core.board import TicketId, bits, mask_of
from stellwerk_engine.core.cards import (
    CardColor,
    CardSet,
    as_list,
    covers,
    from_wire,
    in_both,
    of,
    total,
    without,
)
from stellwerk_engine.core.dice import SEED_SIZE, Dice
from stellwerk_engine.core.set_up import empty_state
from stellwerk_engine.core.state import (
    NOT_LAST_ROUND,
    CardGap,
    Game,
    Gaps,
    Part,
    Seat,
    State,
    TicketGap,
)
from stellwerk_protocol import decisions as wire_decisions
from stellwerk_protocol.cards import Cards
from stellwerk_protocol.names import TicketNames
from stellwerk_protocol.views import PlayerView, View

_NO_DICE: Final = Dice(bytes(SEED_SIZE))


def imagine(game: Game, view: View, dice: Dice, counted_stacks: Sequence[Cards] = ()) -> State:
    """Return one state that the viewer may be looking at. All its chance, now and later, comes from the dice.
    ValueError where the counts of the view do not add up.

    A view does not show the cards on the card game's on-track stacks. A caller that has counted the cards
    sent there since the half began (`cards_sent`) knows them: `counted_stacks` has a stack for each seat
    (CARD-05)."""
    return Imagination(game, view, counted_stacks).deal(dice)


class Imagination:
    """A view that was read once, for a search that deals many states from it."""

    __slots__ = ("_cards", "_seen", "_tickets")

    def __init__(self, game: Game, view: View, counted_stacks: Sequence[Cards] = ()) -> None:
        self._seen = _visible_state(game, view)
        for seat, stack in enumerate(counted_stacks):
            self._seen.stacks[seat] = from_wire(stack)
        gaps = _gaps(self._seen, view)
        self._cards = _plan_cards(self._seen, view, gaps.cards)
        self._tickets = _plan_tickets(self._seen, view, gaps.tickets)

    def deal(self, dice: Dice) -> State:
        state = self._seen.copy()
        state.dice = dice
        _deal_cards(self._cards, state)
        _deal_tickets(self._tickets, state)
        return state


# -- records -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _CardPlan:
    """The hidden cards, and where they are. One of `demands`, if there are any, lies in the first gaps."""

    pile_or_gaps: CardSet
    only_gaps: CardSet  # the pile cannot hold these
    pile_count: int
    gaps: tuple[CardGap, ...]
    demands: tuple[CardSet, ...]

    def count_of(self, seat: Seat) -> int:
        return sum(gap.count for gap in self.gaps if seat in gap.payers)

    def fit(self, cards: CardSet, seat: Seat) -> bool:
        spare = total(self.pile_or_gaps) - self.pile_count
        return (
            total(cards) <= self.count_of(seat)
            and total(without(cards, self.only_gaps)) <= spare
            and covers(self.pile_or_gaps + self.only_gaps, cards)
        )


@dataclass(frozen=True, slots=True)
class _TicketPlan:
    """The hidden tickets. Those that the viewer put back lie lowest in the pile; those of a part that keeps
    tickets apart are never in it."""

    put_back: tuple[TicketId, ...]
    others: tuple[TicketId, ...]
    pile_count: int
    gaps: tuple[TicketGap, ...]
    apart: tuple[tuple[Part, tuple[TicketId, ...]], ...]


# -- dealing -----------------------------------------------------------------------------------------


def _deal_cards(plan: _CardPlan, state: State) -> None:
    dice = state.dice
    pile_or_gaps, only_gaps = plan.pile_or_gaps, plan.only_gaps
    demanded: CardSet = 0
    if plan.demands:
        demanded = plan.demands[dice.stream("imagine/demand").below(len(plan.demands))]
        pile_or_gaps -= without(demanded, only_gaps)
        only_gaps = without(only_gaps, demanded)
    cards = dice.shuffled("imagine/pile", as_list(pile_or_gaps))
    state.pile = cards[: plan.pile_count]
    hidden = cards[plan.pile_count :]
    if only_gaps:
        hidden = dice.shuffled("imagine/hands", hidden + as_list(only_gaps))
    if demanded:
        hidden = as_list(demanded) + hidden
    start = 0
    for gap in plan.gaps:
        end = start + gap.count
        gap.put(state, gap.owner, hidden[start:end])
        start = end


def _deal_tickets(plan: _TicketPlan, state: State) -> None:
    dice = state.dice
    put_back = dice.shuffled("imagine/put_back", plan.put_back)
    others = dice.shuffled("imagine/tickets", plan.others)
    lowest = put_back[: plan.pile_count]
    above = plan.pile_count - len(lowest)
    state.ticket_pile = lowest + others[:above]
    hidden = others[above:]
    if len(put_back) > len(lowest):
        hidden = dice.shuffled("imagine/secrets", hidden + put_back[len(lowest) :])
    counts = [gap.count for gap in plan.gaps]
    for part, tickets in plan.apart:
        for gap, ticket in part.deal_apart(state, tickets, plan.gaps):
            gap.put(state, gap.owner, (ticket,))
            counts[plan.gaps.index(gap)] -= 1
    start = 0
    for gap, count in zip(plan.gaps, counts, strict=True):
        gap.put(state, gap.owner, hidden[start : start + count])
        start += count


# -- what is seen ------------------------------------------------------------------------------------


def _visible_state(game: Game, view: View) -> State:
    """Return what the view shows; of hidden hands and holders only the cards that everybody knows."""
    state = empty_state(game, _NO_DICE)
    state.turn = view.turn
    state.progress_turn = view.progress_turn
    state.passes = view.passes
    state.turns_left = NOT_LAST_ROUND if view.turns_left is UNSET else view.turns_left
    state.market = from_wire(view.market)
    state.discards = from_wire(view.discards)
    state.may_hold = from_wire(view.pile_may_hold)
    for player in view.players:
        _see_player(state, player)
    if view.result is not UNSET:
        state.result = view.result
        state.end_reason = view.result.reason
    for part in game.parts:
        part.see(state, view)
    if view.pending is not UNSET:
        _see_pending(state, view.pending)
    return state


def _see_player(state: State, player: PlayerView) -> None:
    seat = player.seat
    state.points[seat] = player.points
    state.known[seat] = from_wire(player.known_cards)
    state.hands[seat] = from_wire(player.known_cards if player.hand is UNSET else player.hand)
    if player.tickets is not UNSET:
        state.ticket_masks[seat] = _tickets_mask(state, player.tickets)
    if player.returned is not UNSET:
        state.returned_masks[seat] = _tickets_mask(state, player.returned)
    if player.offered is not UNSET:
        ids = state.game.board.ticket_ids
        state.offered[seat] = tuple(ids[name] for name in player.offered)


def _tickets_mask(state: State, names: TicketNames) -> int:
    ids = state.game.board.ticket_ids
    return mask_of([ids[name] for name in names])


def _see_pending(state: State, pending: wire_decisions.Decision) -> None:
    """Set what the game waits for."""
    match pending:
        case wire_decisions.TakeTurn(seats):
            state.pending = state.game.take_turn[seats[0]]
        case wire_decisions.TakeAction(seats):
            state.pending = state.game.take_action[seats[0]]
        case _:
            state.game.owners[type(pending)].see_pending(state, pending)


# -- what is hidden ----------------------------------------------------------------------------------


def _require(possible: bool) -> None:
    if not possible:
        raise ValueError("no state of this game looks like this view")


def _gaps(state: State, view: View) -> Gaps:
    """List what the seats asked have before them, hands and tickets, then the places of the parts."""
    gaps = Gaps()
    owner = None if view.pending is UNSET else state.game.owners.get(type(view.pending))
    if owner is not None and view.pending is not UNSET:
        owner.add_gaps_of_choice(state, view.pending, gaps)
    kept = {gap.owner: gap.count for gap in gaps.tickets if gap.is_kept}
    for player in view.players:
        seat = player.seat
        missing = player.hand_count - total(state.hands[seat])
        gaps.cards.append(CardGap(seat, missing, _add_cards, payers=(seat,)))
        missing = player.ticket_count - state.ticket_masks[seat].bit_count() - kept.get(seat, 0)
        gaps.tickets.append(TicketGap("secret", seat, missing, _add_tickets))
    for part in state.game.parts:
        part.add_gaps(state, view, gaps)
    return gaps


def _add_cards(state: State, seat: Seat, cards: Sequence[CardColor]) -> None:
    state.hands[seat] += of(cards)


def _add_tickets(state: State, seat: Seat, tickets: Sequence[TicketId]) -> None:
    state.ticket_masks[seat] |= mask_of(tickets)


def _plan_cards(state: State, view: View, gaps: Sequence[CardGap]) -> _CardPlan:
    unseen = without(state.game.board.deck, _cards_seen(state))
    pile_or_gaps = in_both(state.may_hold, unseen)
    _require(total(unseen) == view.pile + sum(gap.count for gap in gaps))
    _require(total(pile_or_gaps) >= view.pile)
    asked = -1 if view.pending is UNSET else view.pending.seats[0]
    gaps_of_asked_first = sorted(gaps, key=lambda gap: asked not in gap.payers)
    filled = tuple(gap for gap in gaps_of_asked_first if gap.count)
    plan = _CardPlan(pile_or_gaps, unseen - pile_or_gaps, view.pile, filled, ())
    return replace(plan, demands=_demands(plan, state, view))


def _cards_seen(state: State) -> CardSet:
    lying = sum(part.cards_lying(state) for part in state.game.parts)
    return state.market + state.discards + sum(state.hands) + lying


def _demands(plan: _CardPlan, state: State, view: View) -> tuple[CardSet, ...]:
    """Return sets of hidden cards, one of which the asked player has; none, if nothing follows."""
    owner = None if view.pending is UNSET else state.game.owners.get(type(view.pending))
    demands = () if owner is None else tuple(owner.demands(state, plan))
    return () if 0 in demands else demands


def _plan_tickets(state: State, view: View, gaps: Sequence[TicketGap]) -> _TicketPlan:
    game = state.game
    seen = put_back = apart_mask = 0
    for mask in (*state.ticket_masks, *state.completed_masks):
        seen |= mask
    for offered in state.offered:
        seen |= mask_of(offered)
    for part in game.parts:
        seen |= part.tickets_lying(state)
        apart_mask |= part.apart_mask(game)
    for mask in state.returned_masks:
        put_back |= mask & ~seen
    hidden = ((1 << len(game.board.tickets)) - 1) & ~seen
    in_turn = sorted(gaps, key=lambda gap: (gap.is_team, gap.owner))
    apart = [(part, tuple(bits(hidden & ~put_back & part.apart_mask(game)))) for part in game.parts]
    plan = _TicketPlan(
        put_back=tuple(bits(put_back)),
        others=tuple(bits(hidden & ~put_back & ~apart_mask)),
        pile_count=view.ticket_pile,
        gaps=tuple(gap for gap in in_turn if gap.count),
        apart=tuple((part, tickets) for part, tickets in apart if tickets),
    )
    _require(hidden.bit_count() == view.ticket_pile + sum(gap.count for gap in plan.gaps))
    _require(all(gap.count > 0 for gap in plan.gaps))
    return plan
