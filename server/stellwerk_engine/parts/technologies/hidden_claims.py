"""Which hidden cards make a claim possible, of a seat that was asked for one (UK-21, UK-22)."""

from __future__ import annotations

from collections.abc import Iterator

from stellwerk_engine.core.board import GRAY, Route, bits
from stellwerk_engine.core.cards import (
    LOCOMOTIVE,
    ONE,
    ONE_LOCOMOTIVE,
    PLAIN_COLORS,
    CardColor,
    CardSet,
    counts,
)
from stellwerk_engine.core.state import HiddenCards, Seat, State
from stellwerk_engine.parts.claiming.payments import units_to_pay


def cards_for_claims(state: State, seat: Seat, mask: int, hidden: HiddenCards) -> Iterator[CardSet]:
    """Yield hidden cards with which the seat can pay for one of these routes."""
    for route_id in bits(mask):
        route = state.game.board.routes[route_id]
        for color in PLAIN_COLORS if route.color == GRAY else (route.color,):
            demanded = _towards(state, seat, route, color, hidden)
            if demanded is not None:
                yield demanded


def _towards(state: State, seat: Seat, route: Route, color: CardColor, hidden: HiddenCards) -> CardSet | None:
    """Cards of the color and locomotives that make the player able to pay for the route; None: no way to."""
    perks = state.game.perks[state.technologies[seat]]
    purse = counts(state.hands[seat])
    units = units_to_pay(route, perks.discount)
    without_substitute = _units_without_substitute(
        units, sum(purse) + hidden.count_of(seat), perks.substitute
    )
    demanded: CardSet = 0
    of_color = min(purse[color], units - route.symbols)
    while of_color < min(without_substitute, units - route.symbols):
        if not hidden.fit(demanded + ONE[color], seat):
            break
        demanded += ONE[color]
        of_color += 1
    locomotives = purse[LOCOMOTIVE]
    while of_color + locomotives < without_substitute:
        demanded += ONE_LOCOMOTIVE
        locomotives += 1
    return demanded if hidden.fit(demanded, seat) else None


def _units_without_substitute(units: int, cards: int, substitute: int) -> int:
    """So many units at least are paid with cards that stand for themselves, for so many cards there are."""
    for number in range(units) if substitute else ():
        if (units - number) * substitute <= cards - number:
            return number
    return units
