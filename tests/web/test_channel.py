"""A channel: a state, and the last changes of it. What a reader gets depends on its own position alone."""

from __future__ import annotations

import json
from random import Random

import pytest

from stellwerk_web.show.channel import KEPT_BYTES, KEPT_CHANGES, NEWCOMER, Channel


class Counting:
    """A channel whose state is how many changes there were, and how often it was asked for."""

    def __init__(self, life: str = "a") -> None:
        self.count = self.asked = 0
        self.channel = Channel(life, self._state)

    def _state(self) -> bytes:
        self.asked += 1
        return b'{"count":%d}' % self.count

    def put(self, size: int = 0) -> None:
        self.count += 1
        self.channel.put(b'{"add":1,"x":"%b"}' % (b"x" * size))


def records(stream: bytes) -> list[tuple[str, str, dict[str, int]]]:
    found: list[tuple[str, str, dict[str, int]]] = []
    for text in stream.decode().split("\n\n")[:-1]:
        first, kind, content = text.split("\n")
        data = json.loads(content.removeprefix("data: "))
        found.append((first.removeprefix("id: "), kind.removeprefix("event: "), data))
    return found


def test_a_newcomer_gets_the_state_with_the_number_of_the_last_change() -> None:
    counting = Counting()
    counting.put()
    data, position = counting.channel.after(NEWCOMER)
    assert records(data) == [("a-1", "state", {"count": 1})]
    assert counting.channel.after(position) == (b"", position)


def test_all_newcomers_get_the_same_bytes_which_are_written_once() -> None:
    counting = Counting()
    first, _ = counting.channel.after(NEWCOMER)
    again, _ = counting.channel.after(NEWCOMER)
    assert first is again
    assert counting.asked == 1


def test_all_readers_get_the_same_bytes_of_a_change() -> None:
    counting = Counting()
    _, position = counting.channel.after(NEWCOMER)
    counting.put()
    assert counting.channel.after(position)[0] is counting.channel.after(position)[0]


def test_a_position_is_known_in_its_own_life_only() -> None:
    counting = Counting("b")
    for _ in range(3):
        counting.put()
    assert counting.channel.position_of("b-2") == 2
    for other in (None, "", "a-2", "b", "b-", "b--2", "-2", "b-٣", "b-1x", "b-" + "9" * 16):
        assert counting.channel.position_of(other) == NEWCOMER


def test_a_reader_of_an_older_number_than_is_kept_gets_the_state() -> None:
    counting = Counting()
    for _ in range(KEPT_CHANGES + 1):
        counting.put()
    assert records(counting.channel.after(1)[0])[0][1] == "change"
    assert records(counting.channel.after(0)[0])[0][1] == "state"


def test_a_reader_of_a_number_that_is_yet_to_come_gets_the_state() -> None:
    counting = Counting()
    counting.put()
    assert records(counting.channel.after(7)[0])[0][1] == "state"


def test_the_last_changes_have_a_bound_in_bytes() -> None:
    counting = Counting()
    for _ in range(100):
        counting.put(KEPT_BYTES // 10)
    assert records(counting.channel.after(92)[0])[0][1] == "change"
    assert records(counting.channel.after(80)[0])[0][1] == "state"


def test_after_a_new_beginning_everybody_gets_the_state() -> None:
    counting = Counting()
    counting.put()
    counting.channel.begin_anew()
    for position in (NEWCOMER, 0, 1):
        assert records(counting.channel.after(position)[0]) == [("a-2", "state", {"count": 1})]
    assert counting.channel.after(2) == (b"", 2)


@pytest.mark.parametrize("seed", range(20))
def test_whatever_a_reader_misses_it_ends_with_the_state_that_there_is(seed: int) -> None:
    """Readers that read now and then, drop their connection, or are slow: state and changes add up."""
    dice = Random(seed)
    counting = Counting()
    counts = [0] * 5
    positions = [NEWCOMER] * 5
    for _ in range(400):
        if dice.random() < 0.02:
            counting.channel.begin_anew()
        counting.put(dice.choice([0, 0, KEPT_BYTES // 20]))
        for reader in range(5):
            if dice.random() < 0.03:
                positions[reader] = counting.channel.position_of(f"a-{positions[reader]}")
            if dice.random() < 0.2 / (reader + 1):
                data, positions[reader] = counting.channel.after(positions[reader])
                for _, kind, content in records(data):
                    counts[reader] = content["count"] if kind == "state" else counts[reader] + 1
                assert counts[reader] == counting.count
