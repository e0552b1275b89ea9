"""The organizer's decisions: a chain that shows every change, and a file that holds whole lines only."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk_tournament.config.conduct import STANDARD
from stellwerk_tournament.store.conduct import Suspensions
from stellwerk_tournament.store.field import (
    FILE,
    Announced,
    Decision,
    Disqualified,
    Field,
    FieldError,
    Paused,
    Ruled,
    Unpaused,
)
from stellwerk_tournament.store.field_file import Place, decide, read_field, read_on
from stellwerk_tournament.store.store import StoreError

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def common(place: Place) -> tuple[int, str, int, str]:
    return place.number, place.at, place.after, place.previous


def announce(folder: Path, text: str) -> Decision:
    return decide(folder, NOW, lambda _, place: Announced(*common(place), text))


def decided(folder: Path) -> list[bytes]:
    """Make a decision of each kind. Return the lines."""
    decide(folder, NOW, lambda _, place: Disqualified(*common(place), "zed", "plays for ann"))
    decide(folder, NOW, lambda _, place: Paused(*common(place), "an alarm"))
    decide(folder, NOW, lambda _, place: Ruled(*common(place), (3, 5), "a broken table"))
    announce(folder, "We go on.")
    decide(folder, NOW, lambda _, place: Unpaused(*common(place)))
    return (folder / FILE).read_bytes().splitlines(keepends=True)


def read(lines: list[bytes]) -> None:
    field = Field()
    for line in lines:
        field.add(line)


def test_what_was_decided_is_read_again(tmp_path: Path) -> None:
    assert read_field(tmp_path).decisions == []
    (tmp_path / "matches.jsonl").write_bytes(b"1234\n")
    decided(tmp_path)
    field = read_field(tmp_path)
    assert [each.number for each in field.decisions] == [1, 2, 3, 4, 5]
    assert {each.after for each in field.decisions} == {5}
    assert {name: each.reason for name, each in field.disqualified.items()} == {"zed": "plays for ann"}
    assert set(field.unrated) == {3, 5}
    assert field.announcements == ["We go on."]
    assert field.pause is None


def test_a_reader_takes_in_only_what_is_new(tmp_path: Path) -> None:
    field = Field()
    read_on(field, tmp_path)
    announce(tmp_path, "one")
    read_on(field, tmp_path)
    announce(tmp_path, "two")
    read_on(field, tmp_path)
    assert field.announcements == ["one", "two"]


def test_times_are_written_in_utc(tmp_path: Path) -> None:
    there = datetime(2026, 3, 1, 1, 30, tzinfo=timezone(timedelta(hours=5)))
    assert decide(tmp_path, there, lambda _, place: Paused(*common(place), "x")).at == "2026-02-28T20:30:00Z"


@given(st.data())
def test_no_line_can_be_changed_taken_out_moved_or_put_in_between(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    lines = decided(tmp_path_factory.mktemp("cup"))
    at = data.draw(st.integers(0, len(lines) - 2))
    kind = data.draw(st.sampled_from(["change", "take out", "swap", "double"]))
    changed = [*lines]
    match kind:
        case "change":
            place = data.draw(st.integers(0, len(lines[at]) - 2))
            byte = data.draw(st.integers(32, 126).filter(lambda byte: byte != lines[at][place]))
            changed[at] = lines[at][:place] + bytes([byte]) + lines[at][place + 1 :]
        case "take out":
            del changed[at]
        case "swap":
            changed[at], changed[at + 1] = changed[at + 1], changed[at]
        case _:
            changed.insert(at, lines[at])
    with pytest.raises(FieldError, match=rf"{FILE}:[1-5]: "):
        read(changed)


def test_the_error_names_the_line_that_does_not_follow(tmp_path: Path) -> None:
    lines = decided(tmp_path)
    (tmp_path / FILE).write_bytes(b"".join([lines[0].replace(b"ann", b"eve"), *lines[1:]]))
    with pytest.raises(StoreError, match=rf"{FILE}:2: does not follow the line before it") as raised:
        read_field(tmp_path)
    assert not raised.value.is_machines


@pytest.mark.parametrize("line", [b"{}\n", b"[" * 9000 + b"\n", b'{"type":"crown"}\n', b"\xff\n"])
def test_what_is_no_decision_is_refused(line: bytes) -> None:
    with pytest.raises(FieldError, match=rf"{FILE}:1: no decision: "):
        Field().add(line)


def test_a_torn_line_is_no_decision_and_the_next_one_takes_its_place(tmp_path: Path) -> None:
    lines = decided(tmp_path)
    (tmp_path / FILE).write_bytes(b"".join(lines[:2]) + lines[2][:-9])
    assert len(read_field(tmp_path).decisions) == 2
    announce(tmp_path, "again")
    assert read_field(tmp_path).announcements == ["again"]
    assert len((tmp_path / FILE).read_bytes().splitlines()) == 3


def test_a_disk_that_is_full_leaves_what_was_decided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = b"".join(decided(tmp_path))

    def write_a_part(descriptor: int, text: bytes, at: int) -> int:
        real(descriptor, text[:10], at)
        raise OSError(28, "No space left on device")

    real = os.pwrite
    monkeypatch.setattr(os, "pwrite", write_a_part)
    with pytest.raises(StoreError, match="cannot be written: No space left") as raised:
        announce(tmp_path, "more")
    assert raised.value.is_machines
    assert (tmp_path / FILE).read_bytes() == before


def test_a_decision_that_is_refused_writes_nothing(tmp_path: Path) -> None:
    def refuse(field: Field, place: Place) -> Decision:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        decide(tmp_path, NOW, refuse)
    assert (tmp_path / FILE).read_bytes() == b""


def test_who_is_out_can_have_been_so_in_any_order_of_suspensions_and_decisions(tmp_path: Path) -> None:
    decide(tmp_path, NOW, lambda _, place: Disqualified(*common(place), "zed", "x"))
    conduct = Suspensions(STANDARD, field=read_field(tmp_path))
    assert conduct.sets == [frozenset(), frozenset({"zed"})]
    assert conduct.out == {"zed": "disqualified"}
