"""What a viewer is told: all that it may know, and nothing else (GEN-09).

The views are compared as bytes, as they stand on the wire.
"""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk_engine import engine
from stellwerk_engine.complete_tickets import CompleteTickets
from stellwerk_engine.decision import Events
from stellwerk_engine.dice import Dice
from stellwerk_engine.fold import blank_view, fold
from stellwerk_engine.imagine import Imagination, imagine
from stellwerk_engine.redact import redact
from stellwerk_engine.state import State
from stellwerk_engine.view import ALL_HANDS, PUBLIC, ViewerId, view
from stellwerk_protocol.errors import IllegalMoveError
from tests.properties.laws import assert_lawful, assert_networks_are_connected
from tests.properties.playing import (
    HABITS,
    Line,
    Variant,
    encode,
    lines,
    moments,
    play_on,
    played,
    viewers,
)
from tests.properties.twins import align, shape, twin_of
from tests.properties.wires import any_wire
from tests.support import every_variant, fingerprint

seeds = st.binary(min_size=32, max_size=32)


def bytes_for(state: State, viewer: ViewerId) -> bytes:
    return encode(view(state, viewer))


# -- events ------------------------------------------------------------------------------------------


@every_variant
@settings(max_examples=3)
@given(line=lines)
def test_folding_the_events_that_a_viewer_got_gives_its_view(variant: Variant, line: Line) -> None:
    """After the deal and after every move."""
    events: Events = []
    views = None
    for state in played(variant, line, events):
        game = state.game
        if views is None:
            views = {viewer: blank_view(game, viewer) for viewer in viewers(game)}
        for viewer in views:
            for event in events:
                views[viewer] = fold(game, views[viewer], redact(event, game, viewer))
            assert encode(views[viewer]) == bytes_for(state, viewer)
        events.clear()


@every_variant
@settings(max_examples=3)
@given(line=lines, seed=seeds)
def test_what_another_does_tells_a_viewer_no_more_than_everybody_sees(
    variant: Variant, line: Line, seed: bytes
) -> None:
    """The same move, made in two states that differ only in what the viewer does not see, gives it the same
    events and the same view. Where the move brings to light what differs (a bill that cannot be paid, a claim
    that is no longer possible, the tickets at the end), other things happen, and nothing is compared."""
    chance = Random(line.chance)
    compared = 0
    for number, state in enumerate(moments(variant, line, 10)):
        for viewer in (*range(state.game.seat_count), PUBLIC):
            compared += _acts_alike(state, viewer, Dice(seed[1:] + bytes([number])), line, chance)
    assert compared


def _acts_alike(state: State, viewer: ViewerId, dice: Dice, line: Line, chance: Random) -> bool:
    """Whether another player's move could be compared, and was the same to the viewer."""
    others = [seat for seat in engine.owing(state) if seat != viewer]
    if not others or isinstance(state.pending, CompleteTickets) or any(state.choices):
        return False
    seat = chance.choice(others)
    move = line.habit(chance, engine.legal(state, seat))
    real, told = state.copy(), list[Any]()
    engine.apply(real, seat, move, told)
    twin, twin_told = twin_of(state, viewer, dice), list[Any]()
    wire = align(twin, state, viewer, seat, move.wire, told)
    assert bytes_for(twin, viewer) == bytes_for(state, viewer), "the trade was seen"
    engine.play(twin, seat, wire, twin_told)
    if shape(told) != shape(twin_told) or real.pending is None:
        return False
    game = state.game
    for event, twin_event in zip(told, twin_told, strict=True):
        assert encode(redact(event, game, viewer)) == encode(redact(twin_event, game, viewer))
    assert bytes_for(real, viewer) == bytes_for(twin, viewer)
    return True
