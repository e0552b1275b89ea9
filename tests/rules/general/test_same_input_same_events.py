"""What chance decides, and what not (GEN-02)."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.state import Events, Move, Seat, State
from stellwerk_protocol import moves
from tests.support import VARIANTS, dealt, every_variant, play_out, variant_id

Variant = tuple[str, int, tuple[str, ...]]
REPOSITORY = Path(__file__).resolve().parents[3]

PRINT_DIGEST = """
import sys
from tests.rules.general.test_same_input_same_events import digest
from tests.support import VARIANTS
for number in map(int, sys.argv[1:]):
    print(digest(VARIANTS[number]))
"""


def some_move(state: State, seat: Seat, legal: list[Move]) -> Move:
    """Choose varying moves, but always the same one in the same state."""
    return legal[(7 * state.turn + 3 * seat + len(state.pile)) % len(legal)]


def played(variant: Variant, seed: str = "test") -> bytes:
    """Return all events of a whole game."""
    events: Events = []
    play_out(dealt(*variant, seed, events), some_move, events)
    return msgspec.json.encode(events)


def digest(variant: Variant) -> str:
    return sha256(played(variant)).hexdigest()


@every_variant
def test_the_same_seed_and_moves_give_the_same_events_byte_for_byte(variant: Variant) -> None:
    """GEN-02."""
    assert played(variant) == played(variant)


@every_variant
def test_another_seed_gives_other_events(variant: Variant) -> None:
    """GEN-02."""
    assert played(variant) != played(variant, "another")


@every_variant
def test_moves_sent_again_give_the_same_events_again(variant: Variant) -> None:
    """GEN-02: nothing counts but the structs of the moves."""
    first: Events = []
    sent: list[tuple[Seat, moves.Move]] = []

    def choose(state: State, seat: Seat, legal: list[Move]) -> Move:
        move = some_move(state, seat, legal)
        sent.append((seat, move.wire))
        return move

    play_out(dealt(*variant, events=first), choose, first)
    again: Events = []
    state = dealt(*variant, events=again)
    for seat, wire in sent:
        engine.play(state, seat, wire, again)
    assert msgspec.json.encode(again) == msgspec.json.encode(first)


def test_another_process_with_another_hash_seed_plays_the_same_games() -> None:
    """GEN-02: no order of a set or of an address gets into a game."""
    chosen = [n for n, variant in enumerate(VARIANTS) if variant_id(variant) in CHOSEN]
    assert len(chosen) == len(CHOSEN)
    command = [sys.executable, "-c", PRINT_DIGEST, *map(str, chosen)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *sys.path])}
    for hash_seed in ("0", "4711"):
        environment["PYTHONHASHSEED"] = hash_seed
        printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        assert printed.split() == [digest(VARIANTS[number]) for number in chosen]


CHOSEN = {"usa-5", "card_game-4", "team_asia-6", "united_kingdom-4-advanced_technologies"}


@every_variant
def test_simultaneous_choices_give_the_same_events_in_whatever_order_they_come(variant: Variant) -> None:
    """GEN-02, GEN-03."""
    in_order: Events = []
    backward: Events = []
    for events, step in ((in_order, 1), (backward, -1)):
        state = dealt(*variant, events=events)
        while state.turn == 0:
            for seat in engine.owing(state)[::step]:
                engine.apply(state, seat, some_move(state, seat, engine.legal(state, seat)), events)
    assert msgspec.json.encode(in_order) == msgspec.json.encode(backward)


@pytest.mark.parametrize("part", ["hands", "ticket_pile", "pile"])
def test_every_shuffle_comes_from_the_seed(part: str) -> None:
    """GEN-02."""
    seen = {repr(getattr(dealt("usa", 3, seed=seed), part)) for seed in ("a", "b", "c", "a", "b", "c")}
    assert len(seen) == 3
