"""Replays for tests: games recorded in any way that a test needs.

As a program it prints a digest of a replay of every variant: the tests run it in other processes and under
other interpreters, so it needs nothing but the engine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from typing import Any

from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import BoardFile, shipped_board
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.game import make_game
from stellwerk_engine.core.state import Events, Game, Move, Seat, State
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.replays.writer import ReplayWriter, header_of
from stellwerk_protocol.canonical import chained, seal, unseal
from stellwerk_protocol.replays import CHAIN_LABEL, Header

Choose = Callable[[State, Seat, list[Move]], Move]
Order = Callable[[tuple[Seat, ...]], Sequence[Seat]]

SEED = seed_from_text("recorded")


def mixed(seed: str = "mixed") -> Choose:
    """Choose any of the listed moves, the same ones in every process and under every version of Python."""
    count = 0

    def choose(state: State, seat: Seat, moves: list[Move]) -> Move:
        nonlocal count
        count += 1
        digest = sha256(f"{seed}/{count}".encode()).digest()
        return moves[int.from_bytes(digest[:4], "big") % len(moves)]

    return choose


def by_fallback(state: State, seat: Seat, moves: list[Move]) -> Move:
    return engine.fallback(state, seat)


def game_for(game_id: str, seats: int, options: tuple[str, ...] = (), board: BoardFile | None = None) -> Game:
    rules = RULE_SETS[game_id]
    return make_game(rules, board or shipped_board(rules.board), seats, options)


def record(
    game: Game,
    choose: Choose | None = None,
    *,
    seed: bytes = SEED,
    salt: bytes | None = None,
    header: Header | None = None,
    reveal_at_end: bool = False,
    arrival: Order = tuple,
    late_seats: tuple[Seat, ...] = (),
    note: str | None = None,
) -> list[bytes]:
    """Return the lines of a game.

    `arrival` is the order in which simultaneous choices come in. The fallback moves for `late_seats`.
    """
    choose = choose or mixed()
    writer = ReplayWriter()
    written = [writer.header(header or header_of(game))]
    if not reveal_at_end:
        written.append(writer.reveal(seed, salt))
    events: Events = []
    state = engine.new_game(game, Dice(seed), events)
    written.append(writer.set_up(events))
    while state.pending is not None:
        for seat in arrival(engine.owing(state)):
            is_late = seat in late_seats
            move = (by_fallback if is_late else choose)(state, seat, engine.legal(state, seat))
            events = []
            engine.apply(state, seat, move, events)
            reason = "time_out" if is_late else None
            written.append(
                writer.move(state, seat, move, events, by_fallback=is_late, reason=reason, note=note)
            )
    assert state.result is not None
    written.append(writer.end(state.result))
    if reveal_at_end:
        written.append(writer.reveal(seed, salt))
    return b"".join(written).splitlines(keepends=True)


@cache
def short_replay() -> tuple[bytes, ...]:
    """Return header, seed, set-up, moves and end of a card game in which every player is always late."""
    return tuple(record(game_for("card_game", 2), by_fallback))


def resealed(bodies: Sequence[bytes]) -> list[bytes]:
    """Return lines with these bodies, whose chain holds."""
    last, lines = CHAIN_LABEL, list[bytes]()
    for body in bodies:
        last = chained(last, body)
        lines.append(seal(body, last))
    return lines


def bodies_of(lines: Sequence[bytes]) -> list[bytes]:
    return [unseal(line)[0] for line in lines]


def edited(lines: Sequence[bytes], number: int, edit: Callable[[Any], object]) -> list[bytes]:
    """Change one of the lines in place, and mend the chain as a forger would."""
    bodies = bodies_of(lines)
    value = json.loads(bodies[number - 1])
    edit(value)
    bodies[number - 1] = canonical_json(value)
    return resealed(bodies)


def canonical_json(value: object) -> bytes:
    """Encode by the recipe of `protocol/REPLAYS.md`, without the code under test."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def members(value: Any) -> dict[str | int, Any]:
    """Return the members of a JSON value, by name or position."""
    if isinstance(value, dict):
        return dict(value)  # pyright: ignore[reportUnknownArgumentType]  # it may be any JSON
    if isinstance(value, list):
        return dict(enumerate(value))  # pyright: ignore[reportUnknownArgumentType]
    return {}


def digests() -> dict[str, str]:
    """Return the digest of a replay of every variant."""
    by_variant: dict[str, str] = {}
    for rules in RULE_SETS.values():
        for seats in rules.seat_counts:
            for options in ((), *((option.id,) for option in rules.options)):
                lines = record(game_for(rules.id, seats, options), late_seats=(seats - 1,), note="über")
                by_variant["-".join([rules.id, str(seats), *options])] = sha256(b"".join(lines)).hexdigest()
    return by_variant


if __name__ == "__main__":
    print(json.dumps(digests()))
