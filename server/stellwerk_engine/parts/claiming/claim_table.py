"""The claims that a hand can pay without substitutes, looked up instead of computed.

Which claims there are is asked at every turn, so it is answered from tables. For a color, what a payer
has of it and of locomotives (in hand and holder, capped at the longest route) fixes a *plan*: the bytes
of the route mask in which it can pay for something, each with the claims for every set of routes open in
that byte. Plans and claims are made when first needed and kept; there are at most 256 lists a byte and
payment.

The list of claims: for each route and each color that the payer has and the route takes, the payment with
fewest locomotives; from the holder first, and also from the hand first where that differs (unless the list
grows beyond CLAIMS_LISTED_BOTH_WAYS). Locomotives alone are listed where the route takes no card of a color
in hand, and for tunnels, where they are another risk (ASIA-15).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from stellwerk_engine.core.board import GRAY, Board, Route, RouteId
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


class Means(NamedTuple):
    """The facts that a plan depends on, out of its key. Under LOCOMOTIVE the hand's first number only says
    whether the payer has cards of any color."""

    color: int
    hand: tuple[int, int]  # of the color, locomotives
    holder: tuple[int, int]
    discount: int
    holder_first_only: bool


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
            means = _means(key)
            mask = sum(route.bit for route in self._board.routes if self._has_unlisted(route, means))
            self._unlisted_masks[key] = mask
        return mask

    def _has_unlisted(self, route: Route, means: Means) -> bool:
        """Return whether the route can be paid in ways that are not listed. Payments with locomotives alone
        count under the color of the route, and under no color if it is gray."""
        color, (mine, locomotives), _, discount, _ = means
        if (route.color != GRAY) if color == LOCOMOTIVE else not route.accepts(color):
            return False
        listed = len(self._claims_of(route, means))
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
        means = _means(key)
        longest = sum(means.hand) + sum(means.holder) + means.discount
        colors = range(GRAY + 1) if means.color == LOCOMOTIVE else (means.color, GRAY)
        entries: list[tuple[int, OpenTracks]] = []
        for byte, routes in enumerate(self._board.routes_by_byte):
            if routes[0].color not in colors or routes[0].length > longest:
                continue  # routes of one byte have one color, and the first is the shortest
            by_track = tuple([self._claims_of(route, means) for route in routes])
            if any(by_track):
                if by_track not in self._open_tracks:
                    self._open_tracks[by_track] = OpenTracks(by_track)
                entries.append((byte, self._open_tracks[by_track]))
        plan = tuple(entries)
        self[key] = plan
        return plan

    def _claims_of(self, route: Route, means: Means) -> tuple[Move, ...]:
        color, (mine, locomotives), (shared, holder_locomotives), discount, holder_first_only = means
        if color == LOCOMOTIVE:
            if not self._takes_locomotives_alone(route, mine > 0, discount):
                return ()
            mine = 0
        elif not route.accepts(color) or (mine + shared == 0 and (route.color == GRAY or route.tunnel)):
            return ()
        payment = plain_payment(route, mine + shared, locomotives + holder_locomotives, discount)
        if payment is None or (color != LOCOMOTIVE and payment[0] == 0 and route.color == GRAY):
            return ()
        if not shared and not holder_locomotives:
            return (self.claim(route, cards_of(color, payment), 0),)
        hand, holder = (mine, locomotives), means.holder
        claim = self.claim(route, *split_payment(color, payment, hand, holder, holder_first=True))
        if holder_first_only:
            return (claim,)
        other = self.claim(route, *split_payment(color, payment, hand, holder, holder_first=False))
        return (claim,) if other is claim else (claim, other)

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


def _means(key: PlanKey) -> Means:
    return Means(
        key >> _COLOR & 15,
        (key >> _MINE & 15, key >> _LOCOMOTIVES & 15),
        (key >> _SHARED & 15, key >> _HOLDER_LOCOMOTIVES & 15),
        key >> _DISCOUNT & 15,
        key & _HOLDER_FIRST_ONLY > 0,
    )


def split_payment(
    color: int,
    payment: tuple[int, int],
    hand: tuple[int, int],
    holder: tuple[int, int],
    holder_first: bool,
) -> tuple[CardSet, CardSet]:
    """Return which cards of a payment (of the color, locomotives) come from the hand and which from the
    holder."""
    of_color, locomotives = payment
    if holder_first:
        shared = (min(of_color, holder[0]), min(locomotives, holder[1]))
    else:
        shared = (max(0, of_color - hand[0]), max(0, locomotives - hand[1]))
    mine = (of_color - shared[0], locomotives - shared[1])
    return cards_of(color, mine), cards_of(color, shared)


def cards_of(color: int, numbers: tuple[int, int]) -> CardSet:
    """Return so many cards of the color, and so many locomotives."""
    return (numbers[0] << SHIFT[color]) + (numbers[1] << LOCOMOTIVE_SHIFT)
