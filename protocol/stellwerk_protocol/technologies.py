"""The technologies for sale in a match: the number of each, its price, and the routes that need it."""

from typing import Annotated

from msgspec import Meta, Struct

from stellwerk_protocol.names import Count, RegionName, TechnologyName


class TechnologyForSale(Struct, frozen=True, omit_defaults=True, gc=False):
    """A technology for sale. A route needs it if one of its cities is in one of `regions`, if its length is
    one of `lengths`, or, with `ferries`, if it is a ferry. `price` is in locomotives."""

    technology: TechnologyName
    supply: Count
    price: Count
    regions: Annotated[tuple[RegionName, ...], Meta(max_length=8)] = ()
    lengths: Annotated[tuple[Count, ...], Meta(max_length=16)] = ()
    ferries: bool = False
