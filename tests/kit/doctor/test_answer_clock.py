"""The doctor's clock of a match: the time for an answer, and when a bot is late once too often."""

from __future__ import annotations

from stellwerk_kit.doctor.answer_clock import AnswerClock
from stellwerk_kit.doctor.patient import patience


def test_an_answer_within_its_time_leaves_the_bank_as_it_was() -> None:
    clock = AnswerClock(1000, 2000)
    assert clock.charge(0.9) is None
    assert (clock.bank_ms, clock.took_ms, clock.over_count) == (2000, 900, 0)


def test_the_bank_pays_for_what_an_answer_takes_beyond_its_time() -> None:
    clock = AnswerClock(1000, 2000)
    assert [clock.charge(1.5) for _ in range(4)] == [None] * 4
    assert (clock.bank_ms, clock.over_count, clock.late_count) == (0, 4, 0)


def test_the_third_late_answer_is_one_too_many() -> None:
    clock = AnswerClock(1000, 500)
    assert [clock.charge(3.0), clock.charge(0.5), clock.charge(1.1)] == [None] * 3
    assert clock.charge(3.0) == (
        "an act after 3.0 s, late answer number 3 of this match; "
        "the clock of this ask gave 1.0 s and 0.0 s of the bank"
    )


def test_the_doctor_waits_longer_than_the_clocks_that_it_announces() -> None:
    for seconds in range(1, 100):
        waits = patience(seconds)
        assert (waits.move_ms + waits.bank_ms) / 1000 < waits.answer
