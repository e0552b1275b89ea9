"""How fair the clocks were: the sentence of the conditions, and what was measured of each bot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from stellwerk_tournament.report.fairness import MeasuredClocks
from stellwerk_tournament.report.markup import parts_of_ms
from stellwerk_tournament.store.match_line import MatchLine, WholeBlocks, encode
from tests.tournament.report.report_tournaments import Played, played

RAN_ON = "bots ran on while they were not asked, and could think on the time of others"
STOPPED = "bots were stopped while they were not asked"
SHARED = "they shared the processors of the machine"


@pytest.fixture
def cup(tmp_path: Path) -> Played:
    return played(tmp_path, bots=2, deals=2, faulty=False)


def of_seats(
    lines: Sequence[MatchLine], *fields: dict[str, Any]
) -> list[MatchLine]:  # Any: fields of many types
    """Return the lines with other fields in the reports of their seats."""
    return [
        replace(line, bots=tuple(replace(seat, **more) for seat, more in zip(line.bots, fields, strict=True)))
        for line in lines
    ]


def clocks_of(lines: Iterable[MatchLine]) -> MeasuredClocks:
    clocks = MeasuredClocks()
    for line in lines:
        clocks.add(line)
    return clocks


def test_the_sentence_says_what_was_done_and_not_what_was_wanted(cup: Played) -> None:
    lines = cup.lines
    frozen, broken, remote = {"frozen": True}, {"frozen": False}, {"process": "remote"}
    assert clocks_of([]).sentence == "none yet"
    assert clocks_of(lines).sentence == f"{RAN_ON}; {SHARED}"
    assert clocks_of(of_seats(lines, frozen, frozen)).sentence == f"{STOPPED}; {SHARED}"
    assert (
        clocks_of(of_seats(lines, frozen, remote)).sentence
        == f"{STOPPED}; {SHARED}; remote bots ran on as they liked"
    )
    assert clocks_of(of_seats(lines, frozen, {"process": "house"})).sentence == f"{STOPPED}; {SHARED}"
    assert clocks_of(of_seats(lines, remote, remote)).sentence == "no bot had a process on this machine"
    assert clocks_of(of_seats(lines, frozen, broken)).sentence == (
        "bots were to be stopped while they were not asked, "
        f"which did not work, or not always, in 4 seats of 8; {SHARED}"
    )
    one, *others = lines
    mixed = [*of_seats([one], frozen, frozen), *others]
    assert clocks_of(mixed).sentence == f"{STOPPED} in 2 of 8 seats; {SHARED}"


def test_the_sentence_says_who_had_processors_to_itself(cup: Played) -> None:
    two, none = {"processors": 2}, {"processors": 0}
    assert clocks_of(of_seats(cup.lines, two, two)).sentence.endswith(
        "; each had 2 processors to itself, on cores of its own"
    )
    assert clocks_of(of_seats(cup.lines, two, none)).sentence.endswith(
        "; not all had processors to themselves"
    )


def test_what_was_measured_is_summed_up_for_each_bot(cup: Played) -> None:
    measured = {
        "asks": 10,
        "used_ms": 50,
        "answer_cpu_ms": 20,
        "slowest_answer_cpu_ms": 7,
        "waited_ms": 10,
        "stolen_ms": 5,
    }
    lines = of_seats(cup.lines, measured, {"asks": 10})
    names = [lines[0].bots[0].bot, lines[0].bots[1].bot]
    rows = {row.name: row for row in clocks_of(lines).measured(names)}
    assert set(rows) == set(names)  # each sat in both seats
    for row in rows.values():
        assert (row.asks, row.used_ms, row.cpu_ms, row.slowest_cpu_ms) == (20, 100, 40, 7)
        assert (row.waited_ms, row.stolen_ms) == (20, 10)


def test_the_page_has_the_table_and_the_sentence(cup: Played) -> None:
    measured = {"asks": 100, "used_ms": 500, "answer_cpu_ms": 20, "slowest_answer_cpu_ms": 7, "frozen": True}
    page = Played(cup.settings, tuple(of_seats(cup.lines, measured, measured))).report().decode()
    section = page[page.index('id="fairness"') :]
    assert STOPPED in section
    [row] = re.findall(r"<tr>[^\n]*planner.*?</tr>", section[: section.index("</table>")], re.DOTALL)
    assert "5.0 ms" in row
    assert "0.20 ms" in row
    assert f"<dt>fair clocks</dt><dd>{STOPPED}; {SHARED}</dd>" in page


def test_lines_of_earlier_versions_have_no_word_of_it(cup: Played) -> None:
    content = b"".join(encode(line) + b"\n" for line in cup.lines)
    assert b"answer_cpu_ms" not in content
    assert b"frozen" not in content
    blocks = WholeBlocks(content.splitlines(keepends=True))
    assert tuple(match for block in blocks for match in block.matches) == cup.lines
    assert clocks_of(cup.lines).measured(cup.settings.names) == []


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0.0, "0.00 ms"), (0.123, "0.12 ms"), (3.44, "3.4 ms"), (900.4, "900 ms"), (12_345.0, "12.3 s")],
)
def test_times_of_answers_show_parts_of_milliseconds(amount: float, text: str) -> None:
    assert parts_of_ms(amount) == text
