"""Complete states as one viewer may imagine them: what it sees as it is, what it does not see dealt anew.

Law: the viewer cannot tell an imagined state from the real one. Viewing it gives the same bytes, and any
policy can play it on to the end. So a search bot searches states that it made of its views, and never needs
more than these.

What is dealt keeps to what the view says: how many cards and tickets lie where, which cards of a hand
everybody knows, which cards the pile can hold. It also keeps to what a pending decision tells of the cards of
who was asked: that they pay a tunnel's bill (ASIA-17), or a claim that a technology was bought for (UK-21,
UK-22). Beyond that no way is preferred, whatever the moves of others may have told of their plans. Tickets
that the viewer put back lie lowest in the ticket pile, as far as they fit. Of those who owe a decision at
once nobody has answered yet, for a view does not tell who has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, assert_never

from msgspec import UNSET

from stellwerk_engine.core.board import GRAY, Route, TicketId, bits, mask_of
from stellwerk_engine.core.cards import (
    LOCOMOTIVE,
    ONE,
    ONE_LOCOMOTIVE,
    PLAIN_COLORS,
    CardColor,
    CardSet,
    as_list,
    counts,
    covers,
    from_wire,
    in_both,
    of,
    total,
    without,
)
from stellwerk_engine.core.dice import SEED_SIZE, Dice
from stellwerk_engine.core.set_up import empty_state
from stellwerk_engine.core.state import NOT_LAST_ROUND, Game, Seat, State
from stellwerk_engine.parts.claiming.claim_route import claimable_mask, takeable_mask
from stellwerk_engine.parts.claiming.payments import units_to_pay
from stellwerk_engine.parts.claiming.tunnels import PayTunnel
from stellwerk_engine.parts.draw_cards import PlaceCard
from stellwerk_engine.parts.holders import holder_of
from stellwerk_engine.parts.long_tickets import NOBODY, remove_tickets
from stellwerk_engine.parts.technologies.buy_technology import ClaimNow
from stellwerk_protocol import decisions as wire_decisions
from stellwerk_protocol.cards import Cards
from stellwerk_protocol.names import TicketNames
from stellwerk_protocol.views import PlayerView, View

FIRST_TICKETS: Final = 4  # of a player, a long one among them (EUR-03)
_NO_DICE: Final = Dice(bytes(SEED_SIZE))


def imagine(game: Game, view: View, dice: Dice, counted_stacks: Sequence[Cards] = ()) -> State:
    """Return one state that the viewer may be looking at. All its chance, now and later, comes from the dice.
    ValueError where the counts of the view do not add up.

    A view does not tell what lies on the card game's on-track stacks. Who has counted the cards sent there
    since the half began (`cards_sent`) knows: `counted_stacks` has a stack for each seat (CARD-05)."""
    return Imagination(game, view, counted_stacks).deal(dice)


class Imagination:
    """A view that was read once, for a search that deals many states from it."""

    __slots__ = ("_cards", "_seen", "_tickets")

    def __init__(self, game: Game, view: View, counted_stacks: Sequence[Cards] = ()) -> None:
        self._seen = _visible_state(game, view)
        for seat, stack in enumerate(counted_stacks):
            self._seen.stacks[seat] = from_wire(stack)
        self._cards = _plan_cards(self._seen, view)
        self._tickets = _plan_tickets(self._seen, view)

    def deal(self, dice: Dice) -> State:
        state = self._seen.copy()
        state.dice = dice
        _deal_cards(self._cards, state)
        _deal_tickets(self._tickets, state)
        return state


# -- records -----------------------------------------------------------------------------------------

_CardPlace = Literal["hand", "holder", "stack", "drawn"]
_TicketPlace = Literal["secret", "shared", "offered", "to_share", "removed"]


@dataclass(frozen=True, slots=True)
class _CardGap:
    """So many cards are hidden in this place of a seat, or of a team (`holder`)."""

    place: _CardPlace
    owner: int
    count: int


@dataclass(frozen=True, slots=True)
class _CardPlan:
    """The hidden cards, and where they are. One of `demands`, if there are any, lies in the first gaps."""

    pile_or_gaps: CardSet
    only_gaps: CardSet  # the pile cannot hold these
    pile_count: int
    gaps: tuple[_CardGap, ...]
    demands: tuple[CardSet, ...]


@dataclass(frozen=True, slots=True)
class _TicketGap:
    place: _TicketPlace
    owner: int
    count: int


@dataclass(frozen=True, slots=True)
class _TicketPlan:
    """The hidden tickets. Those that the viewer put back lie lowest in the pile."""

    put_back: tuple[TicketId, ...]
    others: tuple[TicketId, ...]
    pile_count: int
    gaps: tuple[_TicketGap, ...]
    long: tuple[TicketId, ...]  # each was dealt to one of these seats, or to nobody
    long_seats: tuple[Seat, ...]


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
        _put_cards(state, gap, hidden[start:end])
        start = end


def _put_cards(state: State, gap: _CardGap, cards: list[CardColor]) -> None:
    match gap.place:
        case "hand":
            state.hands[gap.owner] += of(cards)
        case "holder":
            state.holders[gap.owner] += of(cards)
        case "stack":
            state.stacks[gap.owner] += of(cards)
        case "drawn":
            state.pending = PlaceCard(gap.owner, cards[0], is_open=False)
        case _:
            assert_never(gap.place)


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
    with_long = _deal_long_tickets(plan, state)
    start = 0
    for gap in plan.gaps:
        end = start + gap.count - (gap in with_long)
        _put_tickets(state, gap, hidden[start:end])
        start = end


def _deal_long_tickets(plan: _TicketPlan, state: State) -> set[_TicketGap]:
    """Deal one to every seat, kept or not: it is as likely as another of its first tickets to be among those
    removed. The rest was dealt to nobody (EUR-03). Return the gaps that got one."""
    chosen: set[_TicketGap] = set()
    if not plan.long:
        return chosen
    long = state.dice.shuffled("imagine/long_tickets", plan.long)
    source = state.dice.stream("imagine/long_ticket_kept")
    for seat in plan.long_seats:
        gaps = {gap.place: gap for gap in plan.gaps if gap.owner == seat}
        removed = gaps.get("removed")
        if removed is not None and source.below(FIRST_TICKETS) < removed.count:
            gap = removed
        else:
            gap = gaps["offered" if state.turn == 0 else "secret"]
        chosen.add(gap)
        _put_tickets(state, gap, [long.pop()])
    remove_tickets(state, NOBODY, long)
    return chosen


def _put_tickets(state: State, gap: _TicketGap, tickets: list[TicketId]) -> None:
    match gap.place:
        case "secret":
            state.ticket_masks[gap.owner] |= mask_of(tickets)
        case "shared":
            state.shared_masks[gap.owner] |= mask_of(tickets)
        case "offered":
            state.offered[gap.owner] += tuple(tickets)
        case "removed":
            remove_tickets(state, gap.owner, tickets)
        case "to_share":
            state.ticket_masks[gap.owner] |= mask_of(tickets)
            state.offered[gap.owner] = tuple(tickets)
        case _:
            assert_never(gap.place)


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


def _plan_cards(state: State, view: View) -> _CardPlan:
    unseen = without(state.game.board.deck, _cards_seen(state))
    pile_or_gaps = in_both(state.may_hold, unseen)
    gaps = _card_gaps(state, view)
    _require(total(unseen) == view.pile + sum(gap.count for gap in gaps))
    _require(total(pile_or_gaps) >= view.pile)
    plan = _CardPlan(pile_or_gaps, unseen - pile_or_gaps, view.pile, gaps, ())
    return replace(plan, demands=_demands(plan, state))


def _cards_seen(state: State) -> CardSet:
    lying = sum(total(yard) for yard in state.yard_locomotives)
    seen = state.market + state.discards + lying * ONE_LOCOMOTIVE
    seen += sum(state.hands) + sum(state.holders) + sum(state.yards) + sum(state.stacks)
    if isinstance(state.pending, PlaceCard):
        seen += ONE[state.pending.card]
    if isinstance(state.pending, PayTunnel):
        seen += state.pending.revealed
    return seen


def _card_gaps(state: State, view: View) -> tuple[_CardGap, ...]:
    """Return the gaps; those of the seat that was asked come first."""
    gaps: list[_CardGap] = []
    asked = -1 if view.pending is UNSET else view.pending.seats[0]
    if view.pending is not UNSET and state.pending is None:
        gaps.append(_CardGap("drawn", asked, 1))
    for player in view.players:
        gaps.append(_CardGap("hand", player.seat, player.hand_count - total(state.hands[player.seat])))
    for team in () if view.teams is UNSET else view.teams:
        gaps.append(_CardGap("holder", team.team, team.holder_count - total(state.holders[team.team])))
    for player in view.players:
        if player.stack_count is not UNSET:
            missing = player.stack_count - total(state.stacks[player.seat])
            gaps.append(_CardGap("stack", player.seat, missing))
    gaps.sort(key=lambda gap: not _can_pay_from(state.game, gap, asked))
    return tuple(gap for gap in gaps if gap.count)


def _can_pay_from(game: Game, gap: _CardGap, seat: Seat) -> bool:
    if gap.place == "holder":
        return seat >= 0 and gap.owner == game.team_of[seat]
    return gap.place == "hand" and gap.owner == seat


def _plan_tickets(state: State, view: View) -> _TicketPlan:
    seen = put_back = 0
    for mask in (*state.ticket_masks, *state.shared_masks, *state.completed_masks, *state.removed_masks):
        seen |= mask
    for offered in state.offered:
        seen |= mask_of(offered)
    for mask in state.returned_masks:
        put_back |= mask & ~seen
    hidden = range(len(state.game.board.tickets))
    others = [ticket for ticket in hidden if not (seen | put_back) >> ticket & 1]
    long = [ticket for ticket in others if state.game.board.file.tickets[ticket].long]
    plan = _TicketPlan(
        put_back=tuple(bits(put_back)),
        others=tuple(ticket for ticket in others if ticket not in long),
        pile_count=view.ticket_pile,
        gaps=_ticket_gaps(state, view),
        long=tuple(long),
        long_seats=tuple(player.seat for player in view.players if long and player.removed is UNSET),
    )
    missing = view.ticket_pile + sum(gap.count for gap in plan.gaps) - len(plan.long_seats)
    _require(len(plan.put_back) + len(plan.others) == missing)
    return plan


def _ticket_gaps(state: State, view: View) -> tuple[_TicketGap, ...]:
    gaps: list[_TicketGap] = []
    offers = _hidden_offers(state, view)
    for player in view.players:
        seat = player.seat
        missing = player.ticket_count - state.ticket_masks[seat].bit_count()
        if seat in offers:
            gaps.append(offers[seat])
            missing -= offers[seat].count if offers[seat].place == "to_share" else 0
        gaps.append(_TicketGap("secret", seat, missing))
        if player.removed_count is not UNSET and player.removed is UNSET:
            gaps.append(_TicketGap("removed", seat, player.removed_count))
    for team in () if view.teams is UNSET else view.teams:
        missing = team.shared_count - state.shared_masks[team.team].bit_count()
        gaps.append(_TicketGap("shared", team.team, missing))
    return tuple(gap for gap in gaps if gap.count)


def _hidden_offers(state: State, view: View) -> dict[Seat, _TicketGap]:
    """Return what seats choose from, if the viewer does not see their tickets."""
    match view.pending:
        case wire_decisions.KeepTickets(seats, offered_count):
            offers = [_TicketGap("offered", seat, offered_count) for seat in seats]
        case wire_decisions.ShareTicket(seats, offered_counts):
            counted = zip(seats, offered_counts, strict=True)
            offers = [_TicketGap("to_share", seat, number) for seat, number in counted]
        case _:
            offers = []
    return {offer.owner: offer for offer in offers if not state.offered[offer.owner]}


# -- what a decision shows of hidden cards -----------------------------------------------------------


def _demands(plan: _CardPlan, state: State) -> tuple[CardSet, ...]:
    """Return sets of hidden cards, one of which the asked player has; none, if nothing follows."""
    match state.pending:
        case PayTunnel() as bill:
            found = tuple(_that_pay_bill(plan, state, bill))
        case ClaimNow() as claim:
            found = tuple(_that_pay_claim(plan, state, claim))
        case _:
            found = ()
    return () if 0 in found else found


def _fits(plan: _CardPlan, state: State, demanded: CardSet, seat: Seat) -> bool:
    """Return whether the player may have all these hidden cards, and enough are left for the pile."""
    room = sum(gap.count for gap in plan.gaps if _can_pay_from(state.game, gap, seat))
    spare = total(plan.pile_or_gaps) - plan.pile_count
    return (
        total(demanded) <= room
        and total(without(demanded, plan.only_gaps)) <= spare
        and covers(plan.pile_or_gaps + plan.only_gaps, demanded)
    )


def _that_pay_bill(plan: _CardPlan, state: State, bill: PayTunnel) -> Iterator[CardSet]:
    """Yield the cards with which the seat can pay; otherwise it would not have been asked (ASIA-17)."""
    seat = bill.seats[0]
    missing = max(0, bill.extra - bill.cards_left(state, seat))
    for locomotives in range(missing + 1):
        of_color = missing - locomotives
        demanded = of_color * ONE[bill.color] + locomotives * ONE_LOCOMOTIVE
        if (of_color == 0 or bill.color != LOCOMOTIVE) and _fits(plan, state, demanded, seat):
            yield demanded


def _that_pay_claim(plan: _CardPlan, state: State, claim: ClaimNow) -> Iterator[CardSet]:
    """Yield the cards with which the seat can claim; otherwise it would not have been asked (UK-21,
    UK-22)."""
    seat = claim.seats[0]
    mask = takeable_mask(state, seat) if claim.right_of_way else claimable_mask(state, seat)
    for route_id in bits(mask):
        route = state.game.board.routes[route_id]
        for color in PLAIN_COLORS if route.color == GRAY else (route.color,):
            demanded = _towards(plan, state, seat, route, color)
            if demanded is not None:
                yield demanded


def _towards(plan: _CardPlan, state: State, seat: Seat, route: Route, color: CardColor) -> CardSet | None:
    """Cards of the color and locomotives that make the player able to pay for the route; None: no way to."""
    perks = state.game.perks[state.technologies[seat]]
    purse = counts(state.hands[seat] + holder_of(state, seat))
    hidden = sum(gap.count for gap in plan.gaps if _can_pay_from(state.game, gap, seat))
    units = units_to_pay(route, perks.discount)
    without_substitute = _units_without_substitute(units, sum(purse) + hidden, perks.substitute)
    demanded: CardSet = 0
    of_color = min(purse[color], units - route.symbols)
    while of_color < min(without_substitute, units - route.symbols):
        if not _fits(plan, state, demanded + ONE[color], seat):
            break
        demanded += ONE[color]
        of_color += 1
    locomotives = purse[LOCOMOTIVE]
    while of_color + locomotives < without_substitute:
        demanded += ONE_LOCOMOTIVE
        locomotives += 1
    return demanded if _fits(plan, state, demanded, seat) else None


def _units_without_substitute(units: int, cards: int, substitute: int) -> int:
    """So many units at least are paid with cards that stand for themselves, for so many cards there are."""
    for number in range(units) if substitute else ():
        if (units - number) * substitute <= cards - number:
            return number
    return units
