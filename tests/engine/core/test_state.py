"""A state is written from the declarations of its fields, and shows itself to a person who debugs."""

from __future__ import annotations

import pytest

from stellwerk_engine.core import write_state
from tests.support import every_variant, set_hand, started


def test_the_state_has_the_fields_that_are_declared() -> None:
    """Or run `python -m stellwerk_engine.core.write_state`."""
    source = write_state.STATE_FILE.read_text(encoding="utf-8")
    assert write_state.with_fields(source) == source


def test_no_field_is_declared_twice() -> None:
    names = [field.name for section in write_state.sections() for field in section.fields]
    assert len(names) == len(set(names))


def test_a_field_of_another_type_than_those_that_copy_knows_is_refused() -> None:
    """A dict or a set would be shared by copies."""
    section = write_state.Section("A part", (write_state.Field("depots", "dict[int, int]", ""),))
    with pytest.raises(ValueError, match="depots: a field is an int, a bool, a list"):
        write_state.written([section])


def test_a_state_shows_turn_decision_and_hands() -> None:
    state = started("usa", 2)
    set_hand(state, 0, "2 red, locomotive")
    text = repr(state)
    assert "usa, turn 1, TakeTurn of (0,)" in text
    assert "0: 2 red, 1 locomotive" in text


@every_variant
def test_a_state_of_every_game_shows_itself(variant: tuple[str, int, tuple[str, ...]]) -> None:
    assert variant[0] in repr(started(*variant))
