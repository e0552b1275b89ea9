"""House bots: players inside the server, which get what a client gets, as lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

NewHousePlayer = Callable[[bytes, str], Callable[[bytes], bytes]]
"""Given the `start` line and a seed: what answers an `ask` line with an `act` line."""

NO_HOUSE_BOTS: Final[Mapping[str, NewHousePlayer]] = MappingProxyType({})
