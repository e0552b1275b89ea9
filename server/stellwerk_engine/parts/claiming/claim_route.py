"""Claim a route (USA-10 to USA-12, UK-04 to UK-08, ASIA-08 to ASIA-17), another's too (UK-21)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from msgspec import UNSET
from msgspec.structs import replace

from stellwerk_base.texts import counted
from stellwerk_engine.core.board import GRAY, NO_ROUTE, Board, Kind, Route, RouteId, bits
from stellwerk_engine.core.cards import (
    LOCOMOTIVE,
    PLAIN_CARDS_MASK,
    PLAIN_COLORS,
    CardColor,
    CardSet,
    at_least,
    counts,
    covers,
    describe,
    from_wire,
    to_wire,
    total,
)
from stellwerk_engine.core.folding import (
    onto_discards,
    out_of_hand,
    plus,
    present,
    with_player,
    with_progress,
)
from stellwerk_engine.core.perks import Perks
from stellwerk_engine.core.state import (
    Action,
    Claims,
    Events,
    Game,
    HiddenCards,
    Move,
    Seat,
    State,
    ViewerId,
)
from stellwerk_engine.core.words import Words
from stellwerk_engine.parts.claiming.claim_table import ClaimTable
from stellwerk_engine.parts.claiming.payments import (
    all_payments,
    pays_route,
    plain_payment,
    substituted_payment,
    units_to_pay,
)
from stellwerk_engine.parts.claiming.place_claim import after_claim, hand_over, place_claim
from stellwerk_engine.parts.claiming.tunnels import PayTunnel, see_bill, try_tunnel
from stellwerk_engine.parts.holders import Holders, holder_of, out_of_holder_view, show_on_holder
from stellwerk_protocol import decisions as wire_decisions
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves as wire_moves
from stellwerk_protocol.cards import NO_CARDS, Cards
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.views import View


class Claim(Move):
    __slots__ = ("holder_pay", "pay", "route")

    def __init__(self, route: Route, pay: CardSet, holder_pay: CardSet = 0) -> None:
        self.route = route
        self.pay = pay
        self.holder_pay = holder_pay

    def to_wire(self) -> wire_moves.ClaimRoute:
        return wire_moves.ClaimRoute(self.route.name, to_wire(self.pay), to_wire(self.holder_pay))

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        if self.route.tunnel:
            try_tunnel(state, seat, self.route, self.pay, self.holder_pay, events)
            return
        decision = state.pending
        assert decision is not None
        place_claim(state, seat, self.route, self.pay, self.holder_pay, 0, events)
        after_claim(state, seat, decision, events)


@dataclass(frozen=True, slots=True)
class ClaimRoute(Action):
    """The action of a turn, tunnels too. `open_tracks`: by number of players and by number of tracks between
    two cities, how many of these can be claimed; where it has nothing, all can."""

    open_tracks: Mapping[int, Mapping[int, int]] = field(default_factory=dict[int, Mapping[int, int]])

    @property
    def events(self) -> tuple[type[object], ...]:
        return (ev.RouteClaimed, ev.TunnelTried, ev.TunnelAbandoned)

    @property
    def decisions(self) -> tuple[type[object], ...]:
        return (wire_decisions.PayTunnel,)

    def claims(self, board: Board, seat_count: int) -> Claims:
        return ClaimTable(board, Claim, _track_limits(board, self.open_tracks.get(seat_count, {})))

    def see(self, state: State, view: View) -> None:
        board = state.game.board
        for player in view.players:
            if player.trains is not UNSET:
                state.trains[player.seat] = player.trains
            for name in () if player.routes is UNSET else player.routes:
                hand_over(state, player.seat, board.routes[board.route_ids[name]])

    def add_legal(self, state: State, seat: Seat, moves: list[Move]) -> None:
        add_claims(state, seat, claimable_mask(state, seat), moves)

    def legal_complete(self, state: State, seat: Seat) -> bool:
        return claims_complete(state, seat, claimable_mask(state, seat))

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move | None:
        if not isinstance(wire, wire_moves.ClaimRoute):
            return None
        return check_claim(state, seat, wire, claimable_mask(state, seat))

    def fallback(self, state: State, seat: Seat) -> Move | None:
        """Return the first claim listed."""
        moves: list[Move] = []
        self.add_legal(state, seat, moves)
        return moves[0] if moves else None

    def redact(self, game: Game, event: ev.Event, viewer: ViewerId) -> ev.Event:
        return event  # everybody may know all of it

    def redact_decision(self, decision: wire_decisions.Decision, viewer: ViewerId) -> wire_decisions.Decision:
        return decision  # everybody may know all of it

    def fold(self, game: Game, view: View, event: ev.Event) -> View:
        match event:
            case ev.RouteClaimed(seat, route, trains, points, cards, holder_cards, revealed):
                view = onto_discards(view, plus(plus(cards, holder_cards), revealed))
                view = out_of_holder_view(game, out_of_hand(view, seat, cards), seat, holder_cards)
                player = view.players[seat]
                player = replace(
                    player,
                    points=player.points + points,
                    trains=present(player.trains) - trains,
                    routes=(*present(player.routes), route),
                )
                return with_progress(with_player(view, player))
            case ev.TunnelTried():
                return view
            case ev.TunnelAbandoned(seat, _, cards, holder_cards, revealed):
                return _show_cards(game, onto_discards(view, revealed), seat, cards, holder_cards)
            case _:
                raise NotImplementedError(event)

    def cards_lying(self, state: State) -> CardSet:
        """Return the cards revealed for a tunnel."""
        return state.pending.revealed if isinstance(state.pending, PayTunnel) else 0

    def demands(self, state: State, hidden: HiddenCards) -> Iterable[CardSet]:
        assert isinstance(state.pending, PayTunnel)
        return state.pending.demands(state, hidden)

    def rule(self, game: Game) -> str:
        """State how routes are claimed, and what else this board has: ferries, tunnels, parallel tracks."""
        routes = [route for route in game.board.routes if route is not NO_ROUTE]
        points = {route.length: route.points for route in routes}
        listed = ", ".join(f"{length} = {points[length]}" for length in sorted(points))
        paid = "hand" if game.part(Holders) is None else "hand and holder"
        text = (
            f"claim_route: pay as many cards from your {paid} as the route is long, of its color (gray: any "
            "one color) or locomotives. It takes as many of your trains, and need not touch your other "
            f"routes. Points by length: {listed}. A ticket is completed when routes connect its two places."
        )
        if any(route.symbols for route in routes):
            text += " On a ferry, as many of the cards as its number says must be locomotives."
        if any(route.tunnel for route in routes):
            text += (
                " At a tunnel, after you have paid, as many cards as its number says are revealed from the "
                "pile. For each that is a locomotive or has your color you add a card (pay_tunnel), or you "
                "take your cards back and the turn is over (abandon_tunnel)."
            )
        limits = self.open_tracks.get(game.seat_count, {})
        if any(route.group_mask for route in routes):
            closed = [f"of {tracks} only {limit} can be claimed" for tracks, limit in sorted(limits.items())]
            text += f" No player claims two parallel tracks{'; ' if closed else ''}{', '.join(closed)}."
        return text

    def sentence(self, event: ev.Event, words: Words) -> str:
        match event:
            case ev.RouteClaimed(_, route, _, points, cards, holder_cards):
                paid = _paid(cards, holder_cards, words)
                return f"claims {words.route(route)} with {paid}: {counted(points, 'point')}"
            case ev.TunnelTried(_, route, extra, cards, holder_cards, revealed):
                paid = _paid(cards, holder_cards, words)
                more = f"{extra} more to pay" if extra else "no more to pay"
                return (
                    f"tries the tunnel {words.route(route)} with {paid}; "
                    f"against {words.cards(revealed)}: {more}"
                )
            case ev.TunnelAbandoned(_, route):
                return f"gives the tunnel {words.route(route)} up"
            case _:
                raise NotImplementedError(event)

    def question(self, decision: wire_decisions.Decision, words: Words) -> str:
        assert isinstance(decision, wire_decisions.PayTunnel)
        return f"{counted(decision.extra, 'card')} more for the tunnel {words.route(decision.route)}?"

    def see_pending(self, state: State, pending: wire_decisions.Decision) -> None:
        assert isinstance(pending, wire_decisions.PayTunnel)
        see_bill(state, pending.seats[0], pending)


def _show_cards(game: Game, view: View, seat: Seat, cards: Cards, holder_cards: Cards) -> View:
    """Note that everybody saw these in the hand and on the holder."""
    player = view.players[seat]
    known = at_least(from_wire(player.known_cards), from_wire(cards))
    view = with_player(view, replace(player, known_cards=to_wire(known)))
    return show_on_holder(game, view, seat, holder_cards)


def _paid(cards: Cards, holder_cards: Cards, words: Words) -> str:
    if holder_cards == NO_CARDS:
        return words.cards(cards)
    from_holder = f"{words.cards(holder_cards)} of the holder"
    return from_holder if cards == NO_CARDS else f"{words.cards(cards)} and {from_holder}"


def _track_limits(board: Board, open_tracks: Mapping[int, int]) -> dict[RouteId, int]:
    limits: dict[RouteId, int] = {}
    for route in board.routes:
        tracks = route.group_mask.bit_count()
        if tracks in open_tracks and not route.always_open:
            limits[route.id] = open_tracks[tracks]
    return limits


def claimable_mask(state: State, seat: Seat) -> int:
    """Return the routes that the seat may claim if it can pay for them."""
    game = state.game
    mask = state.open_mask & game.perks[state.technologies[seat]].openable_mask & ~state.barred_masks[seat]
    return _with_trains(state, seat, mask)


def takeable_mask(state: State, seat: Seat) -> int:
    """Return the routes of others that the seat may claim with the Right of Way (UK-21, UK-32)."""
    game = state.game
    mask = (
        state.claimed_mask
        & game.perks[state.technologies[seat]].openable_mask
        & ~state.owned_masks[seat]
        & ~state.barred_masks[seat]
    )
    return _with_trains(state, seat, mask)


def _with_trains(state: State, seat: Seat, mask: int) -> int:
    board = state.game.board
    trains = state.trains[seat]
    return mask if trains >= board.longest_route else mask & board.at_most_masks[trains]


def add_claims(state: State, seat: Seat, mask: int, moves: list[Move]) -> None:
    """Add, for each of these routes and each color laid, the payment with fewest substitutes, then fewest
    locomotives. Gray routes are paid with substitutes only if no color pays for them without."""
    game = state.game
    perks = game.perks[state.technologies[seat]]
    hand = state.hands[seat]
    game.claims.add_claims(mask, hand, holder_of(state, seat), perks.discount, moves)
    if perks.substitute and total(hand & PLAIN_CARDS_MASK) >= perks.substitute:
        _add_substituted(state, seat, mask, perks, moves)


def _add_substituted(state: State, seat: Seat, mask: int, perks: Perks, moves: list[Move]) -> None:
    """Add the claims of routes that the cards pay only with substitutes: gray ones under every color in
    hand."""
    kinds = state.game.board.kinds
    in_hand = counts(state.hands[seat])
    locomotives = in_hand[LOCOMOTIVE]
    others = sum(in_hand) - locomotives
    colors = [color for color in PLAIN_COLORS if in_hand[color]]
    most = max(colors, key=in_hand.__getitem__)
    for color, of_color in ((GRAY, in_hand[most]), *enumerate(in_hand[:LOCOMOTIVE])):
        longest = of_color + locomotives + (others - of_color) // perks.substitute
        for kind in kinds[color]:
            if kind.length - perks.discount > longest:
                break
            if not kind.mask & mask or plain_payment(kind, of_color, locomotives, perks.discount):
                continue
            if color != GRAY:
                _add_kind(state, seat, kind, [color], mask, perks, moves)
            elif units_to_pay(kind, perks.discount) > kind.symbols:
                _add_kind(state, seat, kind, colors, mask, perks, moves)
            else:
                _add_kind(state, seat, kind, [LOCOMOTIVE], mask, perks, moves)


def _add_kind(
    state: State,
    seat: Seat,
    kind: Kind,
    colors: list[CardColor],
    mask: int,
    perks: Perks,
    moves: list[Move],
) -> None:
    """Add the claims of all routes of one kind, which cost the same. Cards that are the payment under two
    colors (`1 white, 4 green`) are listed once."""
    units = units_to_pay(kind, perks.discount)
    payments: dict[CardSet, None] = {}
    for color in colors:
        payment = substituted_payment(state.hands[seat], color, units, kind.symbols, perks.substitute)
        if payment is not None:
            payments[payment] = None
    routes = [state.game.board.routes[route] for route in bits(kind.mask & mask)]
    moves += [Claim(route, payment) for payment in payments for route in routes]


def can_claim(state: State, seat: Seat, mask: int) -> bool:
    """Return whether there is a payment for any of these routes."""
    if not mask:
        return False
    game = state.game
    perks = game.perks[state.technologies[seat]]
    moves: list[Move] = []
    game.claims.add_claims(mask, state.hands[seat], holder_of(state, seat), perks.discount, moves)
    if not moves:
        add_claims(state, seat, mask, moves)
    return bool(moves)


def check_claim(state: State, seat: Seat, wire: wire_moves.ClaimRoute, mask: int) -> Claim:
    """Return the claim of one of these routes, or IllegalMoveError that says what is wrong first."""
    game = state.game
    route_id = game.board.route_ids.get(wire.route)
    if route_id is None:
        raise IllegalMoveError("game.unknown_name", "/route", "the id of a route of this board")
    route = game.board.routes[route_id]
    perks = game.perks[state.technologies[seat]]
    if not mask & route.bit:
        _explain_route(state, seat, route, perks)
    pay, holder_pay = from_wire(wire.cards), from_wire(wire.holder_cards)
    hand, holder = state.hands[seat], holder_of(state, seat)
    if not covers(hand, pay):
        raise IllegalMoveError("game.not_enough_cards", "/cards", f"cards out of the hand: {describe(hand)}")
    if not covers(holder, holder_pay):
        raise IllegalMoveError(
            "game.not_enough_cards", "/holder_cards", f"cards out of the holder: {describe(holder)}"
        )
    if not pays_route(pay + holder_pay, route, perks.substitute, perks.discount):
        raise IllegalMoveError("game.wrong_payment", "/cards", _price(route, perks))
    return Claim(route, pay, holder_pay)


def _explain_route(state: State, seat: Seat, route: Route, perks: Perks) -> None:
    game = state.game
    if not route.bit & perks.openable_mask:
        missing = route.needs_mask & ~state.technologies[seat]
        names = ", ".join(game.perks[missing].names)
        raise IllegalMoveError("game.missing_technology", "/route", f"a route that needs no {names}")
    if state.trains[seat] < route.length:
        raise IllegalMoveError(
            "game.not_enough_trains", "/route", f"a route of at most {state.trains[seat]} spaces"
        )
    raise IllegalMoveError("game.route_taken", "/route", "a route that this seat may claim now")


def _price(route: Route, perks: Perks) -> str:
    color = "one color" if route.color == GRAY else describe(1 << 8 * route.color).removeprefix("1 ")
    text = f"{route.length} cards of {color} or locomotives"
    if route.symbols:
        text += f", {route.symbols} of them locomotives"
    if perks.discount:
        text += f", or {perks.discount} less"
    if perks.substitute:
        text += f"; any {perks.substitute} cards count as a locomotive"
    return text


def claims_complete(state: State, seat: Seat, mask: int) -> bool:
    """Return whether `add_claims` lists every payment for these routes that `check_claim` accepts."""
    game = state.game
    perks = game.perks[state.technologies[seat]]
    hand = state.hands[seat]
    if not holder_of(state, seat):
        if not game.claims.lists_all(mask, hand, perks.discount):
            return False
        if not perks.substitute or total(hand) < perks.substitute:
            return True  # no group can be formed; locomotives may be part of one (UK-30)
    listed: list[Move] = []
    add_claims(state, seat, mask, listed)
    count_of_route: dict[int, int] = {}
    for claim in listed:
        assert isinstance(claim, Claim)
        count_of_route[claim.route.id] = count_of_route.get(claim.route.id, 0) + 1
    return all(
        _has_no_more_payments(state, seat, state.game.board.routes[route], count)
        for route, count in count_of_route.items()
    )


def _has_no_more_payments(state: State, seat: Seat, route: Route, listed: int) -> bool:
    payments: set[tuple[CardSet, CardSet]] = set()
    for payment in _payments(state, seat, route):
        payments.add(payment)
        if len(payments) > listed:
            return False
    return True


def _payments(state: State, seat: Seat, route: Route) -> Iterator[tuple[CardSet, CardSet]]:
    """Yield every payment for the route, from hand and holder, with repetitions."""
    perks = state.game.perks[state.technologies[seat]]
    hand, holder = state.hands[seat], holder_of(state, seat)
    for units in {route.length, units_to_pay(route, perks.discount)}:
        for cards in all_payments(hand + holder, route.color, units, route.symbols, perks.substitute):
            for holder_pay in splits(cards, hand, holder):
                yield cards - holder_pay, holder_pay


def splits(cards: CardSet, hand: CardSet, holder: CardSet) -> Iterator[CardSet]:
    """Yield every part of the cards that can come from the holder, so that the rest is in the hand."""
    ways: list[CardSet] = [0]
    needed, mine, shared = counts(cards), counts(hand), counts(holder)
    for color in range(9):
        least, most = max(0, needed[color] - mine[color]), min(needed[color], shared[color])
        ways = [way + (part << 8 * color) for way in ways for part in range(least, most + 1)]
    yield from ways
