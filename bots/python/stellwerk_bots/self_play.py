"""Complete games between policies inside one process, for many games, tests and measurements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stellwerk_engine import engine
from stellwerk_engine.core.cards import total
from stellwerk_engine.core.dice import Dice
from stellwerk_engine.replays.writer import ReplayWriter

if TYPE_CHECKING:
    from stellwerk_bots.policies import Policy
    from stellwerk_engine.core.state import Events, Game
    from stellwerk_protocol.replays import Header
    from stellwerk_protocol.results import Result


@dataclass(frozen=True, slots=True)
class Recording:
    """Where the replay of a game goes, piece by piece, and what it says besides the moves."""

    write: Callable[[bytes], object]
    header: Header
    salt: bytes | None = None


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """The result of a game, how many moves each seat made, and how many cards it had left."""

    result: Result
    moves: tuple[int, ...]
    unused_cards: tuple[int, ...]


def play_game(
    game: Game, seed: bytes, policies: Sequence[Policy], recording: Recording | None = None
) -> PlayedGame:
    """Play from the deal to the result. `policies` has one for each seat."""
    if len(policies) != game.seat_count:
        raise ValueError(f"{len(policies)} policies for {game.seat_count} seats")
    events: Events | None = None if recording is None else []
    writer = ReplayWriter()
    state = engine.new_game(game, Dice(seed), events)
    if recording is not None and events is not None:
        recording.write(writer.header(recording.header) + writer.set_up(events))
    moves = [0] * game.seat_count
    while state.pending is not None:
        for seat in engine.owing(state):
            move = policies[seat](state, seat, engine.legal(state, seat))
            moves[seat] += 1
            if recording is None:
                engine.apply(state, seat, move)
            else:
                events = []
                engine.apply(state, seat, move, events)
                recording.write(writer.move(state, seat, move, events))
    assert state.result is not None
    if recording is not None:
        recording.write(writer.end(state.result) + writer.reveal(seed, recording.salt))
    return PlayedGame(state.result, tuple(moves), tuple(map(total, state.hands)))
