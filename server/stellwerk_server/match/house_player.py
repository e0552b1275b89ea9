"""House bots: players inside the server, which get what a client gets, as lines."""

from __future__ import annotations

from collections.abc import Callable

NewHousePlayer = Callable[[bytes, str], Callable[[bytes], bytes]]
"""Given the `start` line and a seed: what answers an `ask` line with an `act` line."""
