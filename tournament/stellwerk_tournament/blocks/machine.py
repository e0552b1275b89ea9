"""A machine that plays blocks: a name, and how fast it is.

Law: the measured loop is the same on every machine that has the same version: fixed games, fixed dice, moves
by number. So two figures can be compared, and a slow machine is seen.
"""

from __future__ import annotations

import socket
from functools import cache
from hashlib import sha256
from time import process_time
from typing import Final

from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.game import make_game
from stellwerk_engine.core.state import Game
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_tournament.store.match_line import MachineRecord

GAMES: Final = 10
_GAME: Final = "usa"
_SEATS: Final = 2
_LABEL: Final = 6  # hexadecimal digits


def machine_record(cup: str, name: str | None = None) -> MachineRecord:
    """Describe this machine. Without a name it gets one that says nothing about it to others, and is the same
    in all blocks of a tournament."""
    return MachineRecord(name or label(cup, socket.gethostname()), engine_ms())


def label(cup: str, host: str) -> str:
    digest = sha256(f"stellwerk/tournament/machine/1\n{cup}\n{host}".encode()).hexdigest()
    return f"m-{digest[:_LABEL]}"


@cache
def engine_ms() -> float:
    """Return the processor time, in milliseconds, that the fixed games take here."""
    rules = RULE_SETS[_GAME]
    game = make_game(rules, shipped_board(rules.board), _SEATS, ())
    _play(game, 0)  # what is made once
    began = process_time()
    for number in range(1, GAMES + 1):
        _play(game, number)
    return round((process_time() - began) * 1000, 1)


def _play(game: Game, number: int) -> None:
    state = engine.new_game(game, Dice(seed_from_text(f"stellwerk/machine/{number}")))
    count = number
    while state.pending is not None:
        for seat in state.pending.seats:
            moves = state.pending.legal(state, seat)
            moves[count % len(moves)].apply(state, seat, None)
            count += 7
