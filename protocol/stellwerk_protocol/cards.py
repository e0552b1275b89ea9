"""A set of train cards on the wire: an object from color to count, without zeros."""

from msgspec import Struct

from stellwerk_protocol.names import CardCount


class Cards(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """`{"red": 3, "locomotive": 1}`; a missing color counts as 0, and a 0 is never written."""

    purple: CardCount = 0
    blue: CardCount = 0
    orange: CardCount = 0
    white: CardCount = 0
    green: CardCount = 0
    yellow: CardCount = 0
    black: CardCount = 0
    red: CardCount = 0
    locomotive: CardCount = 0


NO_CARDS = Cards()
