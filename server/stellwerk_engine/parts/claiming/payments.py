"""The worth of a set of cards: the arithmetic of UK-30. Every other game's rule is a case of it.

A price of `units` is paid with cards of one color, locomotives, and, where the rules know them, substitutes:
groups of any `substitute` cards that count as a locomotive. With k substitutes the cards number units + k
(substitute - 1), so the number of cards fixes k.
"""

from __future__ import annotations

from collections.abc import Iterator

from stellwerk_engine.core.board import GRAY, Kind, Route
from stellwerk_engine.core.cards import (
    LOCOMOTIVE,
    LOCOMOTIVE_SHIFT,
    ONE,
    PLAIN_COLORS,
    SHIFT,
    CardSet,
    counts,
    total,
)


def units_to_pay(route: Route | Kind, discount: int) -> int:
    """Return the route's length, or less with Diesel Power: at least one card, and a ferry's symbols stay
    (UK-27)."""
    reduced = route.length - discount
    return reduced if reduced >= max(1, route.symbols) else route.length


def plain_payment(
    route: Route | Kind, color_count: int, locomotives: int, discount: int
) -> tuple[int, int] | None:
    """Return the numbers of cards of the color and of locomotives, with fewest locomotives; None if the cards
    do not suffice."""
    units = units_to_pay(route, discount)
    of_color = min(color_count, units - route.symbols)
    rest = units - of_color
    return (of_color, rest) if rest <= locomotives else None


def pays_route(cards: CardSet, route: Route, substitute: int, discount: int) -> bool:
    """Return whether exactly these cards are a payment for the route, by whatever division into groups."""
    paid = divides(cards, route.color, route.length, route.symbols, substitute)
    if not paid and discount and route.length > discount:
        paid = divides(cards, route.color, route.length - discount, route.symbols, substitute)
    return paid


def divides(cards: CardSet, color: int, units: int, symbols: int, substitute: int) -> bool:
    """Return whether the cards can be divided into so many units (UK-30). `color` is a plain color, GRAY (any
    one) or LOCOMOTIVE (locomotives only)."""
    surplus = total(cards) - units
    if surplus < 0 or (surplus and (not substitute or surplus % (substitute - 1))):
        return False
    substitutes = surplus // (substitute - 1) if surplus else 0
    others = units - substitutes  # units that a card pays by itself
    locomotives = cards >> LOCOMOTIVE_SHIFT
    by_count = counts(cards)
    if color == GRAY:
        available = max(by_count[plain] for plain in PLAIN_COLORS)
    else:
        available = 0 if color == LOCOMOTIVE else by_count[color]
    return others >= 0 and max(0, others - locomotives) <= min(available, others, units - symbols)


def substituted_payment(
    cards: CardSet, color: int, units: int, symbols: int, substitute: int
) -> CardSet | None:
    """Return the payment with fewest substitutes out of these cards, then with fewest locomotives; None if
    there is none. The cards of the groups are taken from the colors with fewest cards left, locomotives
    last."""
    by_count = counts(cards)
    available = 0 if color == LOCOMOTIVE else by_count[color]
    of_color = min(available, units - symbols)
    locomotives = min(by_count[LOCOMOTIVE], units - of_color)
    substitutes = units - of_color - locomotives
    payment = (of_color << SHIFT[color] if of_color else 0) + (locomotives << LOCOMOTIVE_SHIFT)
    if not substitutes:
        return payment
    needed = substitutes * substitute
    if not substitute or total(cards) - of_color - locomotives < needed:
        return None
    return payment + least_missed(cards - payment, needed)


def least_missed(cards: CardSet, number: int) -> CardSet:
    """Return so many of these cards, from the colors with fewest of them, in the order of the colors;
    locomotives last."""
    by_count = counts(cards)
    order = sorted(PLAIN_COLORS, key=by_count.__getitem__)
    chosen: CardSet = 0
    for color in (*order, LOCOMOTIVE):
        taken = min(number, by_count[color])
        chosen += taken << SHIFT[color]
        number -= taken
    return chosen


def all_payments(cards: CardSet, color: int, units: int, symbols: int, substitute: int) -> Iterator[CardSet]:
    """Yield every payment out of these cards, with repetitions; used to find out whether there is more than
    the one listed."""
    by_count = counts(cards)
    plain = PLAIN_COLORS if color == GRAY else () if color == LOCOMOTIVE else (color,)
    for substitutes in range(units + 1 if substitute else 1):
        others = units - substitutes
        for chosen in plain or (PLAIN_COLORS[0],):
            most = min(by_count[chosen], others, units - symbols) if plain else 0
            for of_color in range(most, -1, -1):
                locomotives = others - of_color
                if locomotives > by_count[LOCOMOTIVE] or locomotives + substitutes < symbols:
                    continue
                payment = (of_color << SHIFT[chosen]) + (locomotives << LOCOMOTIVE_SHIFT)
                for group in selections(cards - payment, substitutes * substitute):
                    yield payment + group


def selections(cards: CardSet, number: int, first_color: int = 0) -> Iterator[CardSet]:
    """Yield every set of so many of these cards."""
    if number == 0:
        yield 0
        return
    if first_color > LOCOMOTIVE or number > total(cards >> SHIFT[first_color]):
        return
    have = counts(cards)[first_color]
    for taken in range(min(have, number), -1, -1):
        for rest in selections(cards, number - taken, first_color + 1):
            yield taken * ONE[first_color] + rest
