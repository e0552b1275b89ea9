"""Texts for people: what a terminal would obey is escaped, figures are rounded once, tables line up."""

from __future__ import annotations

from itertools import starmap

from stellwerk_base.texts import (
    MINUS_SIGN,
    aligned,
    counted,
    interval,
    last_printed,
    probability,
    quoted,
    shown,
    signed,
    suggestion,
    unknown,
)


def test_a_text_from_elsewhere_is_one_short_line_that_no_terminal_obeys() -> None:
    assert shown("\x1b[2Jgone\nnext") == "\\x1b[2Jgone\\nnext"
    assert shown("x" * 61) == "x" * 60 + "..."
    assert quoted("\N{RIGHT-TO-LEFT OVERRIDE}a") == '"\\u202ea"'
    assert quoted("y" * 41) == f'"{"y" * 40}..."'


def test_the_nearest_known_name_is_suggested() -> None:
    assert unknown("game", "use", ("usa", "europe")) == (
        'there is no game "use"; did you mean "usa"? (usa, europe)'
    )
    assert suggestion("zzz", ("usa",)) == ""
    assert suggestion("u" * 100, ("u" * 99,)) == ""


def test_figures_are_rounded_once_and_never_minus_zero() -> None:
    assert [signed(1011.6), signed(-87.6), signed(-0.4), signed(-3, MINUS_SIGN)] == [
        "+1,012",
        "-88",
        "0",
        f"{MINUS_SIGN}3",
    ]
    assert list(starmap(interval, [(None, None), (88, 181), (None, 3), (-2, None)])) == [
        "",
        "+88 ... +181",
        "... +3",
        "-2 ...",
    ]
    assert [counted(1, "match"), counted(1200, "match", "matches")] == ["1 match", "1,200 matches"]


def test_columns_line_up_by_what_a_terminal_shows() -> None:
    rows = [("a", "1"), ("\x1b[1mbold\x1b[0m", "22"), ("\N{CJK UNIFIED IDEOGRAPH-4E2D}", "333")]
    assert list(aligned(rows, left={0})) == [
        "a       1",
        "\x1b[1mbold\x1b[0m   22",
        "\N{CJK UNIFIED IDEOGRAPH-4E2D}    333",
    ]


def test_no_probability_is_certain() -> None:
    figures = [probability(value) for value in (0.0, 0.0009, 0.001, 0.5, 0.999, 0.9991, 1.0)]
    assert figures == ["< 0.1 %", "< 0.1 %", "0.1 %", "50.0 %", "99.9 %", "> 99.9 %", "> 99.9 %"]


def test_of_a_stack_the_innermost_calls_are_shown_and_of_a_traceback_too() -> None:
    head = "Current thread 0x00007f (most recent call first):"
    stack = [head, *(f'  File "a.py", line {number}' for number in range(9))]
    assert last_printed(["ready", *stack], 3) == stack[:3]
    threads = ["Thread 0x00007e (most recent call first):", '  File "b.py", line 1', *stack]
    assert last_printed(threads, 3) == stack[:3]
    traceback = ["Traceback (most recent call last):", '  File "a.py", line 1, in f', "KeyError: 'x'"]
    assert last_printed([*stack, *traceback], 2) == traceback[1:]
    assert last_printed(["one", "two", "three"], 2) == ["two", "three"]
    assert last_printed([], 2) == []
