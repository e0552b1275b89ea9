"""The lines do not depend on how their bytes were cut, and no more is kept than the longest line allowed."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from stellwerk_base.lines import LineSplitter

LIMIT = 8
texts = st.lists(st.binary(max_size=LIMIT + 3).map(lambda part: part.replace(b"\n", b"")), max_size=6)


@st.composite
def cut(draw: st.DrawFn, data: bytes) -> list[bytes]:
    places = sorted(draw(st.lists(st.integers(0, len(data)), max_size=8)))
    ends = [0, *places, len(data)]
    return [data[start:end] for start, end in pairwise(ends)]


@given(st.data(), texts, st.binary(max_size=LIMIT + 3).map(lambda part: part.replace(b"\n", b"")))
def test_lines_come_out_as_they_went_in_however_they_were_cut(
    data: st.DataObject, lines: list[bytes], begun: bytes
) -> None:
    """Up to the first one that is too long, its end included where it has none yet."""
    sent = b"".join(line + b"\n" for line in lines) + begun
    splitter = LineSplitter(LIMIT)
    received: list[bytes] = []
    for piece in data.draw(cut(sent)):
        received += splitter.feed(piece)
    too_long = [number for number, line in enumerate([*lines, begun]) if len(line) > LIMIT]
    assert splitter.overflowed == bool(too_long)
    assert received == (lines[: too_long[0]] if too_long else lines)


@given(st.lists(st.binary(max_size=20), max_size=20))
def test_no_more_is_kept_than_a_line(pieces: list[bytes]) -> None:
    splitter = LineSplitter(LIMIT)
    for piece in pieces:
        splitter.feed(piece)
        kept = splitter._begun  # pyright: ignore[reportPrivateUsage]  # the law is about what is kept
        assert len(kept) <= LIMIT
        assert b"\n" not in kept


def test_a_line_of_the_greatest_length_passes() -> None:
    splitter = LineSplitter(LIMIT)
    assert splitter.feed(b"12345678\n") == [b"12345678"]
    assert splitter.feed(b"123456789\n") == []
    assert splitter.overflowed


def test_after_a_line_too_long_nothing_comes_out_any_more() -> None:
    splitter = LineSplitter(LIMIT)
    assert splitter.feed(b"one\n123456789") == [b"one"]
    assert splitter.feed(b"\ntwo\n") == []


def test_nothing_is_no_line() -> None:
    """A stream may hand on an empty piece."""
    assert LineSplitter(LIMIT).feed(b"") == []
