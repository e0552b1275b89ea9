"""Complete games between policies inside one process, for simulations, tests and measurements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stellwerk_engine import engine
from stellwerk_engine.core.dice import Dice
from stellwerk_engine.replays.writer import ReplayWriter, header_of

if TYPE_CHECKING:
    from stellwerk_bots.policies import Policy
    from stellwerk_engine.core.state import Events, Game
    from stellwerk_protocol.results import Result


@dataclass(frozen=True, slots=True)
class PlayedGame:
    result: Result
    decision_count: int  # moves made; a simultaneous decision counts once for each seat
    longest_list: int  # of legal moves


def play_game(
    game: Game,
    seed: bytes,
    policies: Sequence[Policy],
    *,
    write: Callable[[bytes], object] | None = None,
    names: Sequence[str] = (),
) -> PlayedGame:
    """Play from the deal to the result. `policies` has one for each seat. `write` gets the game's replay
    piece by piece, with the `names` of the seats, if given."""
    if len(policies) != game.seat_count:
        raise ValueError(f"{len(policies)} policies for {game.seat_count} seats")
    events: Events | None = None if write is None else []
    writer = ReplayWriter()
    state = engine.new_game(game, Dice(seed), events)
    if write is not None and events is not None:
        write(writer.header(header_of(game, names)) + writer.reveal(seed) + writer.set_up(events))
    decision_count = longest_list = 0
    while state.pending is not None:
        for seat in engine.owing(state):
            moves = engine.legal(state, seat)
            move = policies[seat](state, seat, moves)
            decision_count += 1
            longest_list = max(longest_list, len(moves))
            if write is None:
                engine.apply(state, seat, move)
            else:
                events = []
                engine.apply(state, seat, move, events)
                write(writer.move(state, seat, move, events))
    assert state.result is not None
    if write is not None:
        write(writer.end(state.result))
    return PlayedGame(state.result, decision_count, longest_list)
