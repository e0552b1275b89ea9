"""Sets of train cards as one int: nine counts of eight bits, a color each, the locomotive last.

A hand is read, compared, moved and copied on every step of a search, so it is an int and not a
list: adding and taking away are `+` and `-`, and a copy costs nothing. No count ever exceeds 127
(the board loader allows 60 of a color), so bit 7 of each count is free to catch borrows; and no set has
more than MAX_CARDS, which makes `total` a remainder.
"""

from collections.abc import Iterable
from struct import Struct
from typing import Final

from stellwerk_protocol.cards import NO_CARDS, Cards
from stellwerk_protocol.names import COLORS, Color

CardColor = int  # 0 to 8, in the order of COLORS
CardSet = int

LOCOMOTIVE: Final = 8
MAX_CARDS: Final = 254
PLAIN_COLORS: Final = tuple(range(8))
COLOR_IDS: Final[dict[str, CardColor]] = {name: color for color, name in enumerate(COLORS)}
COLOR_NAMES: Final[tuple[Color, ...]] = COLORS

SHIFT: Final = tuple(8 * color for color in range(9))
ONE: Final[tuple[CardSet, ...]] = tuple(1 << shift for shift in SHIFT)
ONE_LOCOMOTIVE: Final[CardSet] = ONE[LOCOMOTIVE]
LOCOMOTIVE_SHIFT: Final = SHIFT[LOCOMOTIVE]
PLAIN_CARDS_MASK: Final = (1 << LOCOMOTIVE_SHIFT) - 1
COUNT_MASK: Final = 0xFF
GUARD: Final = sum(0x80 << shift for shift in SHIFT)  # bit 7 of every count
LOW: Final = GUARD - sum(ONE)  # 0x7F in every count

_nine_counts: Final = Struct("9B").unpack  # a tuple, which a call takes as it is


def counts(cards: CardSet) -> bytes:
    """Return the nine counts."""
    return cards.to_bytes(9, "little")


def total(cards: CardSet) -> int:
    """Return how many cards: 256 leaves a rest of 1 by 255, so each count adds just itself."""
    return cards % 255


def covers(have: CardSet, need: CardSet) -> bool:
    """Return whether `have` has at least as many of each kind as `need`."""
    return ((have | GUARD) - need) & GUARD == GUARD


def without(have: CardSet, gone: CardSet) -> CardSet:
    """Return `have` less `gone`, without counts below zero."""
    rest = (have | GUARD) - gone
    kept = rest & GUARD  # bit 7 is still set where nothing was borrowed
    return rest & (kept - (kept >> 7))


def at_least(one: CardSet, other: CardSet) -> CardSet:
    """Return the greater count of each color."""
    return one + without(other, one)


def in_both(one: CardSet, other: CardSet) -> CardSet:
    """Return the smaller count of each color."""
    return one - without(one, other)


def colors_present(cards: CardSet) -> int:
    """Return a key that shows which colors there are (bit 7 of each count)."""
    return (cards + LOW) & GUARD


def of(colors: Iterable[CardColor]) -> CardSet:
    return sum(ONE[color] for color in colors)


def as_list(cards: CardSet) -> list[CardColor]:
    """Return the cards one by one, in the order of the colors."""
    return [color for color, count in enumerate(counts(cards)) for _ in range(count)]


def to_wire(cards: CardSet) -> Cards:
    return Cards(*_nine_counts(cards.to_bytes(9, "little"))) if cards else NO_CARDS


def from_wire(cards: Cards) -> CardSet:
    return (
        cards.purple
        | cards.blue << 8
        | cards.orange << 16
        | cards.white << 24
        | cards.green << 32
        | cards.yellow << 40
        | cards.black << 48
        | cards.red << 56
        | cards.locomotive << 64
    )


def describe(cards: CardSet) -> str:
    """Describe cards in a message: `3 red, 1 locomotive`."""
    named = [f"{count} {COLOR_NAMES[color]}" for color, count in enumerate(counts(cards)) if count]
    return ", ".join(named) or "no cards"
