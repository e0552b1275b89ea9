"""How long a line to a client can become: computed, not hoped for.

A server line stays below 60,000 bytes. The longest line holds a view and the moves listed for a turn. Both
are bounded here for any hand and any course of play: the view by what it can name at most, the claims by
the worst hand of every size, which is put together color by color. A part bounds what it
adds to a view, and its other moves (`Part.view_bytes`, `Part.moves_bytes`). An organiser's board that could
break the limit is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from stellwerk_engine.boards.board_file import BoardError
from stellwerk_engine.core.board import GRAY, Kind, bits
from stellwerk_engine.core.cards import (
    LOCOMOTIVE,
    LOCOMOTIVE_SHIFT,
    PLAIN_COLORS,
    SHIFT,
    CardColor,
    to_wire,
)
from stellwerk_engine.core.lengths import CARD_BYTES, names_bytes
from stellwerk_engine.core.state import Game
from stellwerk_engine.parts.claiming.claim_table import CLAIMS_LISTED_BOTH_WAYS
from stellwerk_engine.parts.claiming.payments import plain_payment, units_to_pay
from stellwerk_engine.parts.holders import Holders
from stellwerk_engine.parts.technologies.buy_technology import technologies_of
from stellwerk_protocol import moves

MAX_LINE_BYTES: Final = 60_000  # asyncio's readline breaks at 64 KiB
ENVELOPE_BYTES: Final = 1_000  # the rest of a message, around view and moves
OTHER_MOVES: Final = 11  # the ways to draw
OTHER_MOVES_BYTES: Final = 600
_PLAYER_BYTES: Final = 500  # a player's numbers, known cards, stack and yard, with all field names
LARGE_HAND: Final = 48  # with substitutes: so many cards pay for every route
_VIEW_BYTES: Final = 1_500  # the rest of a view, with the viewer's own hand and a pending tunnel

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Longest:
    """Upper bounds, in bytes, and of the number of moves listed."""

    view: int
    moves: int
    moves_count: int

    @property
    def line(self) -> int:
        return self.view + self.moves + ENVELOPE_BYTES


def longest_line(game: Game) -> Longest:
    claim_bytes, claim_count = _claims(game)
    other_bytes, other_count = _other_moves(game)
    return Longest(_view(game), claim_bytes + other_bytes, claim_count + other_count)


def check_line(game: Game) -> None:
    """BoardError where a board is so large that a message about it could break the limit."""
    longest = longest_line(game)
    if longest.line >= MAX_LINE_BYTES:
        raise _too_large(game, longest)


def _too_large(game: Game, longest: Longest) -> BoardError:
    return game.board.file.error(
        "routes" if game.board.longest_route else "tickets",
        f"too much for one line to a client: {game.id} with {game.seat_count} players could need "
        f"{longest.line:,} bytes, and {MAX_LINE_BYTES:,} is the limit",
    )


def _view(game: Game) -> int:
    # each ticket is in one place that a seat sees
    tickets = names_bytes(ticket.name for ticket in game.board.tickets)
    of_parts = sum(part.view_bytes(game) for part in game.parts)
    return _VIEW_BYTES + game.seat_count * _PLAYER_BYTES + _route_names(game) + tickets + of_parts


def _route_names(game: Game) -> int:
    """Count the bytes of the route names: once each, or where routes can be shared, as far as trains last."""
    every = [route for route in game.board.routes if route.bit]
    once = names_bytes([route.name for route in every])
    if not any(technology.claims_taken for technology in technologies_of(game.rules)):
        return once
    best = [0] * (game.board.trains + 1)  # bytes of names, by trains placed
    for route in every:
        for trains in range(game.board.trains, route.length - 1, -1):
            best[trains] = max(best[trains], best[trains - route.length] + len(route.name) + 3)
    return game.seat_count * best[-1]


# -- moves -------------------------------------------------------------------------------------------


def _other_moves(game: Game) -> tuple[int, int]:
    """Draws, and what parts list besides claims."""
    moves_of_parts = [part.moves_bytes(game) for part in game.parts]
    size = OTHER_MOVES_BYTES + sum(size for size, _ in moves_of_parts)
    return size, OTHER_MOVES + sum(count for _, count in moves_of_parts)


def _claims(game: Game) -> tuple[int, int]:
    """Find the worst hand. Hands come in the order of a quick bound, until it is below the worst so far."""
    if game.rules.part(Holders) is not None:
        return _claims_with_holder(game)
    technologies = technologies_of(game.rules)
    always = game.perks[0].substitute
    substitutes = {always, *(technology.substitute for technology in technologies)}
    discounts = {0, *(technology.discount for technology in technologies)}
    hands = [
        _Hand(hand_size, locomotives, substitute, discount)
        for locomotives in range(game.board.longest_route + 1)
        for substitute in substitutes
        if substitute or not always
        for discount in discounts
        for hand_size in (range(locomotives, LARGE_HAND + 1) if substitute else (LARGE_HAND,))
    ]
    worst = (0, 0)
    for bound, hand in sorted(((_quick_bound(game, hand), hand) for hand in hands), reverse=True):
        if bound <= worst:
            break
        worst = max(worst, _best_hand(game, hand))
    return _add(worst, _tunnels_alone(game))


def _tunnels_alone(game: Game) -> tuple[int, int]:
    """Locomotives alone, which are listed for every tunnel beside what is listed for any route (ASIA-15)."""
    texts = [
        len(_encode(moves.ClaimRoute(route.name, to_wire(route.length << LOCOMOTIVE_SHIFT)))) + 1
        for route in game.board.routes
        if route.tunnel
    ]
    return sum(texts), len(texts)


class _Hand(NamedTuple):
    """Hands of one size, LARGE_HAND standing for all larger ones, with so many locomotives. The size counts
    where cards serve as substitutes: larger hands pay for more."""

    size: int
    locomotives: int
    substitute: int
    discount: int

    @property
    def plain_cards(self) -> int:
        return self.size - self.locomotives


def _claims_with_holder(game: Game) -> tuple[int, int]:
    """Count every route under every color that it takes, holder first, or so many claims both ways; each
    with all the card names that its length can need."""
    head = len(_encode(moves.ClaimRoute(""))) + 1 + len('"cards":{},"holder_cards":{},')
    longest = sorted(CARD_BYTES)
    texts: list[int] = []
    for route in game.board.routes:
        if route.bit:
            text = head + len(route.name) + sum(longest[-min(4, route.length) :])
            texts += [text] * ((8 if route.color == GRAY else 1) + (1 if route.tunnel else 0))
    once, both_ways = (
        (sum(texts), len(texts)),
        (CLAIMS_LISTED_BOTH_WAYS * max(texts), CLAIMS_LISTED_BOTH_WAYS),
    )
    return max(once, both_ways)


def _quick_bound(game: Game, hand: _Hand) -> tuple[int, int]:
    """Add up every color by itself: together they may be more cards than the hand has."""
    claims = _alone(game, hand)
    for color in PLAIN_COLORS:
        claims = _add(claims, max(_claims_of_count(game, hand, color, mine) for mine in _counts(game, hand)))
    return claims


def _best_hand(game: Game, hand: _Hand) -> tuple[int, int]:
    """Return the most that plain cards of this number can make, color after color."""
    best = {0: _alone(game, hand)}  # by plain cards used so far
    for color in PLAIN_COLORS:
        extended: dict[int, tuple[int, int]] = {}
        for mine in _counts(game, hand):
            claims = _claims_of_count(game, hand, color, mine)
            for used, so_far in best.items():
                now = min(used + mine, hand.plain_cards) if hand.size == LARGE_HAND else used + mine
                if now <= hand.plain_cards:
                    extended[now] = max(extended.get(now, (0, 0)), _add(so_far, claims))
        best = extended
    return best.get(hand.plain_cards, (0, 0)) if hand.substitute else max(best.values())


def _counts(game: Game, hand: _Hand) -> range:
    return range(min(hand.plain_cards, game.board.file.cards_each_color) + 1)


def _alone(game: Game, hand: _Hand) -> tuple[int, int]:
    cap = game.board.longest_route
    return _claims_of_color(game, LOCOMOTIVE, 0, hand.locomotives, hand.substitute, hand.discount, cap, cap)


def _claims_of_count(game: Game, hand: _Hand, color: CardColor, mine: int) -> tuple[int, int]:
    cap = game.board.longest_route
    reach = cap
    if hand.substitute:
        reach = mine + hand.locomotives + (hand.plain_cards - mine) // hand.substitute
    # of some color there are so many that with the locomotives they pay for so long a gray route
    paid_plainly = hand.locomotives - (-hand.plain_cards // len(PLAIN_COLORS))
    return _claims_of_color(
        game,
        color,
        min(mine, cap),
        hand.locomotives,
        hand.substitute,
        hand.discount,
        min(reach, cap),
        min(paid_plainly, cap),
    )


def _add(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


@lru_cache(maxsize=100_000)
def _claims_of_color(
    game: Game,
    color: CardColor,
    mine: int,
    locomotives: int,
    substitute: int,
    discount: int,
    reach: int,
    paid_plainly: int,
) -> tuple[int, int]:
    """Bytes and number of the claims under one color, for units up to `reach`; gray routes up to
    `paid_plainly` are never listed with substitutes."""
    size = count = 0
    gray = game.board.kinds[GRAY] if color == LOCOMOTIVE or mine else ()
    for kind in (*gray, *(game.board.kinds[color] if color != LOCOMOTIVE else ())):
        body = _claim_body(kind, color, mine, locomotives, substitute, discount, reach, paid_plainly)
        if body:
            routes = [game.board.routes[route] for route in bits(kind.mask)]
            size += sum(body + len(route.name) for route in routes)
            count += len(routes)
    return size, count


def _claim_body(
    kind: Kind,
    color: CardColor,
    mine: int,
    locomotives: int,
    substitute: int,
    discount: int,
    reach: int,
    paid_plainly: int,
) -> int:
    """Return the length of what is listed for a route of this kind, without the route's name; 0: nothing."""
    payment = plain_payment(kind, mine, locomotives, discount)
    units = units_to_pay(kind, discount)
    if kind.color == GRAY and (color == LOCOMOTIVE) != (units == kind.symbols):
        return 0  # a hand of nothing but locomotives lists other gray routes too, but then no color at all
    if payment is not None:
        pay = (payment[1] << LOCOMOTIVE_SHIFT) + (payment[0] << SHIFT[color] if payment[0] else 0)
        return len(_encode(moves.ClaimRoute("", to_wire(pay)))) + 1
    if not substitute or units > reach:
        return 0
    if kind.color == GRAY and kind.symbols <= locomotives and units <= paid_plainly:
        return 0
    substitutes = units - min(mine, units - kind.symbols) - locomotives
    cards = units + substitutes * (substitute - 1)
    kinds_of_cards = min(cards, 1 + (locomotives > 0) + substitutes * substitute)
    names = sorted(CARD_BYTES if locomotives else CARD_BYTES[:LOCOMOTIVE])[-kinds_of_cards:]
    text = len(_encode(moves.ClaimRoute(""))) + 1 + len('"cards":{},')
    return text + sum(names) - max(0, len(names) - cards // 10)  # so many counts have one digit only
