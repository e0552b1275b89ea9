"""The reference bots as house bots of the server: they get the lines that a client would get."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from stellwerk_bots.players import new_player
from stellwerk_server.match.house_player import NewHousePlayer

HOUSE_BOTS: Final = ("random", "beginner", "greedy", "planner")
"""Bots that answer within milliseconds, because all others wait while they think."""


def house_bots() -> dict[str, NewHousePlayer]:
    return {name: _house_bot(name) for name in HOUSE_BOTS}


def _house_bot(name: str) -> NewHousePlayer:
    def new(start: bytes, seed: str) -> Callable[[bytes], bytes]:
        player = new_player(name)(json.loads(start), seed)

        def answer(line: bytes) -> bytes:
            ask = json.loads(line)
            act = {"type": "act", "match": ask["match"], "ask": ask["ask"], **player.answer(ask)}
            return json.dumps(act).encode()

        return answer

    return new
