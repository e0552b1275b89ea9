"""The claims that a hand can pay without substitutes, looked up instead of computed.

Which claims there are is asked at every turn, so it is answered from tables. For a color, what a payer
has of it and of locomotives (in hand and holder, capped at the longest route) fixes a *plan*: the bytes
of the route mask in which it can pay for something, each with the claims for every set of routes open in
that byte. Plans and claims are made when first needed and kept; there are at most 256 lists a byte and
payment.

What is listed: for each route and each color that the payer has and the route takes, the payment with
fewest locomotives; from the holder first, and also from the hand first where that differs (unless the list
grows beyond CLAIMS_LISTED_BOTH_WAYS). Locomotives alone are listed where the route takes no card of a color
in hand, and for tunnels, where they are another risk (ASIA-15).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from stellwerk_engine.core.board import GRAY, TRACKS_IN_A_BYTE, Board, Route, RouteId
from stellwerk_engine.core.cards import (
    LOCOMOTIVE,
    LOCOMOTIVE_SHIFT,
    PLAIN_CARDS_MASK,
    PLAIN_COLORS,
    SHIFT,
    CardSet,
)
from stellwerk_engine.core.state import Move
from stellwerk_engine.parts.claiming.payments import plain_payment, units_to_pay

CLAIMS_LISTED_BOTH_WAYS: Final = 256  # longer lists, holder first only, so that they fit into a message

# What a plan depends on, in one int: whether it lists claims from the holder first only; then four bits each
# for the color, what the payer has of it in hand and on the holder, locomotives in hand and on the holder,
# and the discount.
PlanKey = int
_HOLDER_FIRST_ONLY = 1 << 24
_COLOR, _MINE, _SHARED, _LOCOMOTIVES, _HOLDER_LOCOMOTIVES, _DISCOUNT = 20, 16, 12, 8, 4, 0
_COLOR_KEYS: Final[tuple[PlanKey, ...]] = tuple(color << _COLOR for color in range(9))


class OpenTracks(dict[int, tuple[Move, ...]]):
    """Open routes of one byte -> the claims for them."""

    def __init__(self, claims_by_track: tuple[tuple[Move, ...], ...]) -> None:
        super().__init__()
        self._claims_by_track = claims_by_track

    def __missing__(self, open_tracks: int) -> tuple[Move, ...]:
        claims = tuple(
            claim
            for track, claims in enumerate(self._claims_by_track)
            if open_tracks >> track & 1
            for claim in claims
        )
        self[open_tracks] = claims
        return claims


Plan = tuple[tuple[int, OpenTracks], ...]


class ClaimTable(dict[PlanKey, Plan]):
    """All claims of one board, shared by all matches on it. A mapping from plan keys to plans."""

    def __init__(
        self,
        board: Board,
        make_claim: Callable[[Route, CardSet, CardSet], Move],
        track_limits: dict[RouteId, int],
    ) -> None:
        super().__init__()
        self.track_limits = track_limits
        self._board = board
        self._make_claim = make_claim
        self._open_tracks: dict[tuple[tuple[Move, ...], ...], OpenTracks] = {}
        self._claims: dict[tuple[int, CardSet, CardSet], Move] = {}
        self._unlisted_masks: dict[PlanKey, int] = {}

    def add_claims(
        self, open_mask: int, hand: CardSet, holder: CardSet, discount: int, moves: list[Move]
    ) -> None:
        """Append the claims of these routes with these cards."""
        before = len(moves)
        self._add_claims(open_mask, hand, holder, discount, moves)
        if holder and len(moves) - before > CLAIMS_LISTED_BOTH_WAYS:
            del moves[before:]
            self._add_claims(open_mask, hand, holder, discount | _HOLDER_FIRST_ONLY, moves)

    def _add_claims(
        self, open_mask: int, hand: CardSet, holder: CardSet, rest: PlanKey, moves: list[Move]
    ) -> None:
        """Add the claims of the open routes. `rest` is the part of the plan keys that does not depend on the
        cards."""
        cap = self._board.longest_route
        open_bytes = open_mask.to_bytes(self._board.mask_bytes, "little")
        in_hand = hand.to_bytes(9, "little")
        on_holder = holder.to_bytes(9, "little")
        locomotives = min(in_hand[LOCOMOTIVE], cap)
        holder_locomotives = min(on_holder[LOCOMOTIVE], cap)
        rest |= locomotives << _LOCOMOTIVES | holder_locomotives << _HOLDER_LOCOMOTIVES
        for color in PLAIN_COLORS:
            mine = in_hand[color]
            shared = on_holder[color]
            if mine or shared or locomotives or holder_locomotives:
                key = _COLOR_KEYS[color] | (mine if mine < cap else cap) << _MINE | rest
                if shared:
                    key |= (shared if shared < cap else cap) << _SHARED
                for byte, open_tracks in self[key]:
                    tracks = open_bytes[byte]
                    if tracks:
                        moves += open_tracks[tracks]
        if locomotives or holder_locomotives:
            has_colors = (hand + holder) & PLAIN_CARDS_MASK != 0
            for byte, open_tracks in self[_COLOR_KEYS[LOCOMOTIVE] | has_colors << _MINE | rest]:
                tracks = open_bytes[byte]
                if tracks:
                    moves += open_tracks[tracks]

    def lists_all(self, open_mask: int, hand: CardSet, discount: int) -> bool:
        """Return whether `add_claims` lists every payment of these routes out of a hand alone."""
        if not hand >> LOCOMOTIVE_SHIFT and not discount:
            return True  # without locomotives there is one way at most to pay with a color
        cap = self._board.longest_route
        in_hand = hand.to_bytes(9, "little")
        rest = min(in_hand[LOCOMOTIVE], cap) << _LOCOMOTIVES | discount
        has_colors = hand & PLAIN_CARDS_MASK != 0
        for color in PLAIN_COLORS:
            if open_mask & self._unlisted_mask(_COLOR_KEYS[color] | min(in_hand[color], cap) << _MINE | rest):
                return False
        return not open_mask & self._unlisted_mask(_COLOR_KEYS[LOCOMOTIVE] | has_colors << _MINE | rest)

    def _unlisted_mask(self, key: PlanKey) -> int:
        """Return the routes that can be paid for in more ways than the plan of this key lists."""
        mask = self._unlisted_masks.get(key)
        if mask is None:
            mask = sum(route.bit for route in self._board.routes if self._has_unlisted(route, key))
            self._unlisted_masks[key] = mask
        return mask

    def _has_unlisted(self, route: Route, key: PlanKey) -> bool:
        """Return whether the route can be paid in ways that are not listed. Payments with locomotives alone
        count under the color of the route, and under no color if it is gray."""
        color, mine, locomotives, discount = (
            key >> field & 15 for field in (_COLOR, _MINE, _LOCOMOTIVES, _DISCOUNT)
        )
        if (route.color != GRAY) if color == LOCOMOTIVE else not route.accepts(color):
            return False
        listed = len(self._claims_of(route, key))
        if color == LOCOMOTIVE:
            mine = 0
        elif route.color != GRAY and route.tunnel:
            listed += locomotives >= units_to_pay(route, discount)
        fewest = 1 if route.color == GRAY and color != LOCOMOTIVE else 0
        payments = {
            (of_color, units - of_color)
            for units in (route.length, units_to_pay(route, discount))
            for of_color in range(fewest, min(mine, units - route.symbols) + 1)
            if units - of_color <= locomotives
        }
        return len(payments) > listed

    def __missing__(self, key: PlanKey) -> Plan:
        entries: list[tuple[int, OpenTracks]] = []
        for byte, routes in enumerate(self._board.routes_by_byte):
            by_track = tuple(self._claims_of(route, key) for route in routes)
            if any(by_track):
                if by_track not in self._open_tracks:
                    self._open_tracks[by_track] = OpenTracks(by_track)
                entries.append((byte, self._open_tracks[by_track]))
        plan = tuple(entries)
        self[key] = plan
        return plan

    def _claims_of(self, route: Route, key: PlanKey) -> tuple[Move, ...]:
        color, mine, shared, locomotives, holder_locomotives, discount = (
            key >> field & 15
            for field in (_COLOR, _MINE, _SHARED, _LOCOMOTIVES, _HOLDER_LOCOMOTIVES, _DISCOUNT)
        )
        if color == LOCOMOTIVE:
            if not self._takes_locomotives_alone(route, bool(mine), discount):
                return ()
            mine = 0
        elif not route.accepts(color) or (mine + shared == 0 and (route.color == GRAY or route.tunnel)):
            return ()
        payment = plain_payment(route, mine + shared, locomotives + holder_locomotives, discount)
        if payment is None or (color != LOCOMOTIVE and payment[0] == 0 and route.color == GRAY):
            return ()
        claims: list[Move] = []
        for holder_first in (True,) if key & _HOLDER_FIRST_ONLY else (True, False):
            pay, holder_pay = split_payment(
                color, payment, (mine, locomotives), (shared, holder_locomotives), holder_first
            )
            claim = self.claim(route, pay, holder_pay)
            if claim not in claims:
                claims.append(claim)
        return tuple(claims)

    def _takes_locomotives_alone(self, route: Route, has_colors: bool, discount: int) -> bool:
        """Return whether they are listed for it under no color: see above."""
        if route.tunnel:
            return True
        all_symbols = units_to_pay(route, discount) == route.symbols
        return route.color == GRAY and (not has_colors or all_symbols)

    def claim(self, route: Route, pay: CardSet, holder_pay: CardSet) -> Move:
        """Return the one claim of this route with these cards."""
        key = (route.id, pay, holder_pay)
        claim = self._claims.get(key)
        if claim is None:
            claim = self._claims[key] = self._make_claim(route, pay, holder_pay)
        return claim


def split_payment(
    color: int,
    payment: tuple[int, int],
    hand: tuple[int, int],
    holder: tuple[int, int],
    holder_first: bool,
) -> tuple[CardSet, CardSet]:
    """Return which cards of a payment (of the color, locomotives) come from the hand and which from the
    holder."""
    pay: CardSet = 0
    holder_pay: CardSet = 0
    shifts = (SHIFT[color] if color < TRACKS_IN_A_BYTE else LOCOMOTIVE_SHIFT, LOCOMOTIVE_SHIFT)
    for needed, mine, shared, shift in zip(payment, hand, holder, shifts, strict=True):
        from_holder = min(needed, shared) if holder_first else max(0, needed - mine)
        holder_pay += from_holder << shift
        pay += needed - from_holder << shift
    return pay, holder_pay
