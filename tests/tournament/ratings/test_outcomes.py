"""Which texts are records of matches, and what they say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stellwerk_tournament.ratings.outcomes import Outcome, OutcomeError, ReadOutcomes, read_outcomes


def line(**fields: Any) -> str:  # any JSON value, right or wrong
    return json.dumps({"players": ["a", "b"], "ranks": [1, 2], **fields})


def only(text: str) -> Outcome:
    [outcome] = read_outcomes(text).outcomes
    return outcome


def test_players_and_ranks_are_enough() -> None:
    assert only(line() + "\n") == Outcome(("a", "b"), (1, 2))


def test_what_a_tournament_writes_is_read_and_fields_of_its_own_are_not_looked_at() -> None:
    text = line(block=7, rotation=1, seats=[[2, 3], [0, 1]], game="team_asia", points=[80, 60], bots=[{}])

    assert only(text) == Outcome(("a", "b"), (1, 2), seats=(1, 0), block="7", game="team_asia")


def test_fields_that_are_null_are_as_good_as_absent() -> None:
    assert only(line(seats=None, block=None, game=None)) == Outcome(("a", "b"), (1, 2))


def test_the_order_of_players_is_no_order_of_seats() -> None:
    assert only(line()).seats is None


def test_a_team_is_the_same_whatever_the_order_of_its_members() -> None:
    one = only(line(players=[["ann", "bob"], ["cid", "dan"]]))
    other = only(line(players=[["bob", "ann"], "cid + dan"]))

    assert one.entrants == other.entrants == ("ann + bob", "cid + dan")


def test_seats_that_stayed_empty_do_not_count() -> None:
    assert only(line(seats=[5, 2])).seats == (1, 0)


def test_blank_lines_and_a_byte_order_mark_are_skipped() -> None:
    text = "\ufeff" + line() + "\r\n\r\n" + line() + "\r\n"

    assert len(read_outcomes(text).outcomes) == 2


def test_a_torn_last_line_is_left_out_and_reported() -> None:
    text = line() + "\n" + line()[:-9]

    assert read_outcomes(text) == ReadOutcomes((Outcome(("a", "b"), (1, 2)),), is_torn=True)


def test_a_last_line_without_line_end_counts_if_it_is_whole() -> None:
    read = read_outcomes(line() + "\n" + line())

    assert len(read.outcomes) == 2
    assert not read.is_torn


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("{", "not a match record"),
        ("3", "not a match record"),
        ('{"players": ["a", "b"]}', "missing required field `ranks`"),
        (line(ranks=[1]), "2 players, but 1 ranks"),
        (line(ranks=[0, 1]), "`int` >= 1"),
        (line(ranks=[1.5, 2]), "Expected `int`"),
        (line(ranks=["1", "2"]), "Expected `int`"),
        (line(players=["a"], ranks=[1]), "2 to 6 players, not 1"),
        (line(players=list("abcdefg"), ranks=[1] * 7), "2 to 6 players, not 7"),
        (line(players=["", "b"]), "length >= 1"),
        (line(players=[["a", 3], "b"]), r"\$.players"),
        (line(players=[[], "b"]), r"length >= 1"),
        (line(players=["a", "a"]), '"a" plays against itself'),
        (line(players=[["a", "b"], ["b", "a"]]), r'"a \+ b" plays against itself'),
        (line(seats=[0]), "2 players, but 1 seats"),
        (line(seats=[1, 1]), "a seat of its own"),
        (line(seats=[[], 1]), "a seat of its own"),
        (line(rotation=[]), r"\$.rotation"),
        ("[" * 100_000, "neither a record"),
        ('{"a":' * 100_000, "not a match record"),
    ],
)
def test_a_wrong_line_is_named(wrong: str, message: str) -> None:
    text = wrong if wrong.startswith("[") else f"{line()}\n{wrong}\n"
    with pytest.raises(OutcomeError, match=message) as refused:
        read_outcomes(text)

    assert str(refused.value).startswith("line 1: " if wrong.startswith("[") else "line 2: ")
    assert "\n" not in str(refused.value)


def test_a_last_line_that_is_whole_but_wrong_is_not_torn() -> None:
    with pytest.raises(OutcomeError, match="line 2"):
        read_outcomes(line() + "\n" + line(ranks=[1]))


def test_a_rotation_of_a_block_that_is_there_twice_is_refused() -> None:
    """Blocks of two tournaments that have equal numbers would be rated as one."""
    cup = [line(block=block, rotation=rotation) for block in range(3) for rotation in range(2)]
    other = [
        line(block=str(block), rotation=rotation, ranks=[2, 1]) for block in (2, 3) for rotation in (0, 1)
    ]
    assert len(read_outcomes("\n".join(cup)).outcomes) == 6
    for last in ("", "\n"):
        with pytest.raises(OutcomeError, match="line 7: block 2 is there twice; are these two tournaments"):
            read_outcomes("\n".join([*cup, other[0]]) + last)


def test_matches_of_a_block_that_say_no_rotation_may_be_many() -> None:
    assert len(read_outcomes(f"{line(block=1)}\n{line(block=1)}\n{line(rotation=0)}\n" * 2).outcomes) == 6


PGN = """\
[Event "a \\"cup\\""]
[White "ann"]
[Black "bob"]
[Result "1-0"]

1. e4 {[%clk 0:10:00]
[not a header} e5 1-0

[White "bob"]
[Black "ann"]
[Result "1/2-1/2"]

1/2-1/2

[White "bob"]
[Black "ann"]
[Result "*"]
[White "cid"]
[Black "a\\"b\\\\c"]
[Result "0-1"]
"""


def test_the_headers_of_pgn_are_read_and_white_has_the_first_seat() -> None:
    assert read_outcomes(PGN) == ReadOutcomes(
        (
            Outcome(("ann", "bob"), (1, 2), seats=(0, 1)),
            Outcome(("bob", "ann"), (1, 1), seats=(0, 1)),
            Outcome(("cid", 'a"b\\c'), (2, 1), seats=(0, 1)),
        ),
        unfinished=1,
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ('[White "a"]\n[Black "b"]\n', r"no header \[Result\]"),
        ('[White "a"]\n[Result "1-0"]\n', r"no header \[Black\]"),
        ('[White "a"]\n[Black "b"]\n[Result "2-0"]\n', "the result is none of"),
        ('[White "a"]\n[Black "a"]\n[Result "1-0"]\n', '"a" plays against itself'),
    ],
)
def test_a_game_without_players_or_result_is_named(wrong: str, message: str) -> None:
    with pytest.raises(OutcomeError, match=f"line 24: .*{message}"):
        read_outcomes(PGN + "\n1-0\n\n" + wrong)
