"""The reference bots as house bots of the server: they get the lines that a client would get."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from stellwerk_bots.players import new_player
from stellwerk_server.match.players import NewHousePlayer

HOUSE_BOTS: Final = ("random", "beginner", "greedy", "planner")
"""Bots that answer within milliseconds, because all others wait while they think."""

_decode: Final = msgspec.json.Decoder().decode  # to Any: a message, as clients read it
_encode: Final = msgspec.json.Encoder().encode


def house_bots() -> dict[str, NewHousePlayer]:
    return {name: _make_house_bot(name) for name in HOUSE_BOTS}


def _make_house_bot(name: str) -> NewHousePlayer:
    def new(start: bytes, seed: str) -> Callable[[bytes], bytes]:
        player = new_player(name)(_decode(start), seed)

        def answer(line: bytes) -> bytes:
            ask = _decode(line)
            return _encode({"type": "act", "match": ask["match"], "ask": ask["ask"], **player.answer(ask)})

        return answer

    return new
