"""A copy is a state of its own: what happens to one of the two is nothing to the other."""

from __future__ import annotations

from itertools import islice
from random import Random

from hypothesis import given

from stellwerk_engine import engine
from stellwerk_engine.core.state import State
from stellwerk_engine.core.write_state import sections
from stellwerk_engine.games.shipped import RULE_SETS
from tests.properties.playing import Habit, Line, Variant, any_kind, examples, lines, moments, play_on, played
from tests.support import every_variant, fingerprint


@every_variant
@examples(2)
@given(line=lines)
def test_a_copy_says_what_its_original_says(variant: Variant, line: Line) -> None:
    """Looked at after each fourth move."""
    for state in islice(played(variant, line), 0, None, 4):
        assert fingerprint(state.copy()) == fingerprint(state)


def test_every_field_of_a_state_that_can_change_in_place_is_copied() -> None:
    """Or a copy would share it, for good or until a rule is added that uses it. Copies share the lists of
    parts that their game lacks: the next test would find who put anything into one."""
    fields = {field.name: section.of_part for section in sections() for field in section.fields}
    for variant in [(game_id, 4, ()) for game_id in RULE_SETS]:
        line = Line(0, 0, any_kind)
        for state in moments(variant, line, 1):
            twin = state.copy()
            for name, of_part in fields.items():
                value = getattr(state, name)
                if isinstance(value, list | dict | set) and (value or not of_part):
                    assert getattr(twin, name) is not value


@every_variant
@examples(2)
@given(line=lines)
def test_a_copy_and_its_original_know_nothing_of_each_other(variant: Variant, line: Line) -> None:
    for state in moments(variant, line, 2):
        before = fingerprint(state)
        twin = state.copy()
        assert fingerprint(twin) == before
        play_on(twin, Random(line.chance), line.habit)
        assert fingerprint(state) == before
        end = fingerprint(twin)
        play_on(state, Random(line.chance + 1), any_kind)
        assert fingerprint(twin) == end


@every_variant
@examples(2)
@given(line=lines)
def test_a_copy_is_played_on_like_its_original(variant: Variant, line: Line) -> None:
    """Shuffles to come and answers already given included."""
    for state in moments(variant, line, 2):
        twin = state.copy()
        _play_both(state, twin, Random(line.chance), line.habit)
        assert fingerprint(twin) == fingerprint(state)


def _play_both(state: State, twin: State, chance: Random, habit: Habit) -> None:
    """Play the same moves in both, and take each move from the list of the state in which it is made."""
    while state.pending is not None:
        for seat in engine.owing(state):
            listed, twin_listed = engine.legal(state, seat), engine.legal(twin, seat)
            choice = listed.index(habit(chance, listed))
            engine.apply(state, seat, listed[choice])
            engine.apply(twin, seat, twin_listed[choice])
