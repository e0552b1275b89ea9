"""What an environment shows a seat: no bit of it depends on what the seat's view hides."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stellwerk_engine import engine
from stellwerk_engine.core.dice import Dice
from stellwerk_engine.core.state import Seat, State
from stellwerk_engine.knowledge.imagine import imagine
from stellwerk_engine.knowledge.view import view
from stellwerk_learn.table import Table
from tests.properties.playing import Line, Variant, examples, lines, moments
from tests.support import every_variant

seeds = st.binary(min_size=32, max_size=32)


@every_variant
@examples(3)
@given(line=lines, seed=seeds)
def test_what_a_seat_cannot_see_changes_no_bit_of_its_observation_mask_and_info(
    variant: Variant, line: Line, seed: bytes
) -> None:
    """At the first stage of its answer, and at all others, for seats that owe one and for others. Left out
    are seats that have answered while others owe the same decision: in an imagined state nobody has."""
    for number, state in enumerate(moments(variant, line, 10)):
        assert state.pending is not None
        answered = set(state.pending.seats) - set(engine.owing(state))
        for seat in set(range(state.game.seat_count)) - answered:
            twin = imagine(state.game, view(state, seat), Dice(seed[2:] + bytes([number, seat])))
            assert _shown(state, seat, line.chance) == _shown(twin, seat, line.chance)


def _shown(state: State, seat: Seat, chance: int) -> list[object]:
    """Return all that a seat is shown until its move is made, with the same choices in equal places."""
    table = Table(state.game)
    table.set_state(state.copy())
    shown: list[object] = []
    while True:
        seen, info = table.observe(seat), table.info(seat, has_view=True)
        shown += [seen["observation"].tobytes(), seen["action_mask"].tobytes()]
        shown += [info["action_mask"].tobytes(), info["view"]]
        choices = seen["action_mask"].nonzero()[0]
        if not len(choices) or table.choose(seat, int(choices[chance % len(choices)])) is not None:
            return shown
