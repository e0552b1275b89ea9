"""What a viewer is told: all that it may know, and nothing else (GEN-09).

The views are compared as bytes, as they stand on the wire.
"""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk_engine import engine
from stellwerk_engine.core.dice import Dice
from stellwerk_engine.core.state import Events, Game, State
from stellwerk_engine.knowledge.fold import blank_view, fold
from stellwerk_engine.knowledge.imagine import Imagination, imagine
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC, ViewerId, view
from stellwerk_engine.parts.rail_yards.complete_tickets import CompleteTickets
from stellwerk_engine.parts.rail_yards.rail_yards import has_open_stacks
from stellwerk_protocol import moves
from stellwerk_protocol.errors import IllegalMoveError
from tests.properties.laws import assert_lawful, assert_networks_are_connected
from tests.properties.playing import (
    HABITS,
    Line,
    Variant,
    encode,
    examples,
    lines,
    moments,
    play_on,
    played,
    viewers,
)
from tests.properties.twins import align, shape, twin_of
from tests.properties.wires import any_wire
from tests.support import VARIANTS, every_variant, fingerprint, variant_id

seeds = st.binary(min_size=32, max_size=32)


def bytes_for(state: State, viewer: ViewerId) -> bytes:
    return encode(view(state, viewer))


# -- events ------------------------------------------------------------------------------------------


@every_variant
@examples(3)
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
@examples(3)
@given(line=lines, seed=seeds)
def test_what_another_does_tells_a_viewer_no_more_than_everybody_sees(
    variant: Variant, line: Line, seed: bytes
) -> None:
    """The same move, made in two states that differ only in what the viewer does not see, gives it the same
    events and the same view. Where the move brings to light what differs (a bill that cannot be paid, a claim
    that is no longer possible, a seat's own stack at the scoring, the tickets at the end) nothing is
    compared."""
    chance = Random(line.chance)
    compared = 0
    for number, state in enumerate(moments(variant, line, 10)):
        for viewer in (*range(state.game.seat_count), PUBLIC):
            compared += _acts_alike(state, viewer, Dice(seed[1:] + bytes([number])), line, chance)
    assert compared


def _acts_alike(state: State, viewer: ViewerId, dice: Dice, line: Line, chance: Random) -> bool:
    """Return whether another player's move could be compared. Assert that it was the same to the viewer."""
    decision = state.pending
    others = [seat for seat in engine.owing(state) if seat != viewer]
    if decision is None or isinstance(decision, CompleteTickets) or not others:
        return False
    seat = chance.choice(others)
    move = line.habit(chance, engine.legal(state, seat))
    events: Events = []
    twin_events: Events = []
    real = state.copy()
    engine.apply(real, seat, move, events)
    twin = twin_of(state, viewer, dice)
    answers = {
        other: choice.wire for other, choice in zip(decision.seats, state.choices, strict=False) if choice
    }
    wires = align(twin, state, viewer, {**answers, seat: move.wire}, events)
    assert bytes_for(twin, viewer) == bytes_for(state, viewer), "the trade was seen"
    for other in answers:
        engine.play(twin, other, wires[other])
    try:
        engine.play(twin, seat, wires[seat], twin_events)
    except IllegalMoveError:
        # Whether somebody may pass, or buy what is only for a claim, depends on a hand that nobody sees.
        assert isinstance(wires[seat], moves.Pass | moves.BuyTechnology)
        return False
    if (
        shape(events) != shape(twin_events)
        or real.pending is None
        or isinstance(real.pending, CompleteTickets)
    ):
        return False
    game = state.game
    for event, twin_event in zip(events, twin_events, strict=True):
        assert encode(redact(event, game, viewer)) == encode(redact(twin_event, game, viewer))
    assert bytes_for(real, viewer) == bytes_for(twin, viewer)
    return True


# Who may know these fields: the seat, or its team.
PRIVATE_TO_SEAT = {
    "cards_dealt": ["cards"],
    "tickets_offered": ["tickets"],
    "tickets_kept": ["tickets", "returned"],
    "tickets_removed": ["tickets"],
    "tickets_to_share": ["tickets"],
    "stack_taken_up": ["cards"],
}
PRIVATE_TO_TEAM = {"tickets_shared": ["tickets"]}


@every_variant
@examples(2)
@given(line=lines)
def test_an_event_has_no_field_with_a_secret_of_others(variant: Variant, line: Line) -> None:
    """A viewer that may know them gets all of them."""
    events: Events = []
    *_, state = played(variant, line, events)
    game = state.game
    for event, viewer in product(events, viewers(game)):
        whole = msgspec.json.decode(encode(event))
        redacted = msgspec.json.decode(encode(redact(event, game, viewer)))
        hidden = [field for field in _private(whole) if not _sees(game, viewer, whole, field)]
        for field in hidden:
            _parent(whole).pop(field, None)
        assert redacted == whole


def _private(event: dict[str, Any]) -> list[str]:
    """Return the fields of an event that are not public."""
    kind = event["type"]
    if kind == "card_drawn" or (kind == "card_placed" and not event["open"]):
        return ["card"]
    if kind == "asked":
        return [] if event["decision"].get("open", True) else ["card"]
    return PRIVATE_TO_SEAT.get(kind, PRIVATE_TO_TEAM.get(kind, []))


def _parent(event: dict[str, Any]) -> dict[str, Any]:
    return event["decision"] if event["type"] == "asked" else event


def _sees(game: Game, viewer: ViewerId, event: dict[str, Any], field: str) -> bool:
    parent = _parent(event)
    nobody = -3
    seat: int = parent["seats"][0] if event["type"] == "asked" else event.get("seat", nobody)
    if viewer in (ALL_HANDS, seat):
        return True
    on_holder: bool = event["type"] in PRIVATE_TO_TEAM or (
        field == "card" and parent.get("place") == "holder"
    )
    return on_holder and viewer >= 0 and game.team_of[viewer] == game.team_of[seat]


# -- states ------------------------------------------------------------------------------------------


@every_variant
@examples(3)
@given(line=lines, seed=seeds)
def test_an_imagined_state_looks_the_same_to_its_viewer(variant: Variant, line: Line, seed: bytes) -> None:
    """It also keeps the laws that a real state keeps."""
    for state in moments(variant, line, 10):
        for viewer in viewers(state.game):
            imagined = imagine(state.game, view(state, viewer), Dice(seed))
            assert bytes_for(imagined, viewer) == bytes_for(state, viewer)
            assert_lawful(imagined)
            assert_networks_are_connected(imagined)
            for name in ("open_mask", "claimed_mask", "barred_masks", "owned_masks", "end_reason"):
                assert getattr(imagined, name) == getattr(state, name)


@every_variant
@examples(2)
@given(line=lines, seed=seeds)
def test_an_imagined_state_is_played_on_to_the_end(variant: Variant, line: Line, seed: bytes) -> None:
    """This holds with any habit. Each seat that owes a move has one, and a fallback."""
    chance = Random(line.chance)
    for state in moments(variant, line, 4):
        for viewer in chance.sample(viewers(state.game), 2):
            imagined = imagine(state.game, view(state, viewer), Dice(seed))
            assert state.pending is not None
            assert engine.owing(imagined) == state.pending.seats
            for seat in engine.owing(imagined):
                listed = engine.legal(imagined, seat)
                assert listed
                engine.check(imagined, seat, engine.fallback(imagined, seat).wire)
                for move in chance.sample(listed, min(3, len(listed))):
                    once = imagined.copy()
                    engine.apply(once, seat, engine.check(imagined, seat, move.wire))
                    assert_lawful(once)
            play_on(imagined, chance, chance.choice(HABITS))
            assert imagined.result is not None
            assert_lawful(imagined)


@every_variant
@examples(2)
@given(line=lines, seed=seeds)
def test_a_finished_game_can_be_imagined_too(variant: Variant, line: Line, seed: bytes) -> None:
    *_, state = played(variant, line)
    for viewer in viewers(state.game):
        imagined = imagine(state.game, view(state, viewer), Dice(seed))
        assert bytes_for(imagined, viewer) == bytes_for(state, viewer)
        assert_lawful(imagined)
        assert engine.owing(imagined) == ()


@every_variant
@examples(2)
@given(line=lines, seed=seeds)
def test_imagining_depends_on_the_view_and_the_dice_alone(variant: Variant, line: Line, seed: bytes) -> None:
    """However often the same view was dealt before."""
    for state in moments(variant, line, 5):
        for viewer in viewers(state.game):
            seen = view(state, viewer)
            imagination = Imagination(state.game, seen)
            imagination.deal(Dice(seed[::-1]))
            again = imagination.deal(Dice(seed))
            assert fingerprint(again) == fingerprint(imagine(state.game, seen, Dice(seed)))


@every_variant
@examples(2)
@given(line=lines, seed=seeds)
def test_what_a_seat_may_play_follows_from_its_own_view(variant: Variant, line: Line, seed: bytes) -> None:
    """The moves listed, whether these are all, the fallback, and every answer to a move out of the blue: they
    are the same in every state that looks the same to the seat, so none of them reveals a hidden fact."""
    chance = Random(line.chance)
    for state in moments(variant, line, 6):
        for seat in engine.owing(state):
            twin = imagine(state.game, view(state, seat), Dice(seed))
            assert [move.json for move in engine.legal(twin, seat)] == [
                move.json for move in engine.legal(state, seat)
            ]
            assert engine.legal_complete(twin, seat) == engine.legal_complete(state, seat)
            assert engine.fallback(twin, seat).json == engine.fallback(state, seat).json
            for _ in range(15):
                wire = any_wire(state, seat, chance)
                assert _answer(twin, seat, wire) == _answer(state, seat, wire)


def _answer(state: State, seat: int, wire: moves.Move) -> bytes | tuple[str, str, str]:
    try:
        return engine.check(state, seat, wire).json
    except IllegalMoveError as error:
        return error.code, error.pointer, error.expected


# -- fields ------------------------------------------------------------------------------------------

SECRETS_OF_A_SEAT = {"hand", "tickets", "offered", "returned", "stack", "removed"}
SECRETS_OF_A_TEAM = {"holder", "shared_tickets"}


@every_variant
@examples(2)
@given(line=lines)
def test_a_view_has_no_field_with_a_secret_of_others(variant: Variant, line: Line) -> None:
    for state in moments(variant, line, 10):
        game = state.game
        for viewer in (*range(game.seat_count), PUBLIC):
            shown = msgspec.json.decode(bytes_for(state, viewer))
            for player in shown["players"]:
                assert player["seat"] == viewer or not SECRETS_OF_A_SEAT & set(player)
            for team in shown.get("teams", ()):
                is_own = viewer >= 0 and team["team"] == game.team_of[viewer]
                assert is_own or not SECRETS_OF_A_TEAM & set(team)
            pending = shown["pending"]
            assert pending.get("open", True) or viewer in pending["seats"] or "card" not in pending


@pytest.mark.parametrize("variant", [v for v in VARIANTS if v[0] == "card_game"], ids=variant_id)
@examples(3)
@given(line=lines)
def test_nobody_looks_into_a_stack_before_the_scoring(variant: Variant, line: Line) -> None:
    """CARD-05; with open stacks its owner does."""
    for state in moments(variant, line, 10):
        if isinstance(state.pending, CompleteTickets):
            continue
        for viewer in viewers(state.game):
            for player in view(state, viewer).players:
                looks_into = has_open_stacks(state.game) and viewer in (player.seat, ALL_HANDS)
                assert (player.stack is not msgspec.UNSET) == looks_into
