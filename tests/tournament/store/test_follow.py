"""A tournament's lines, as a spectator of its folder gets them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stellwerk_tournament.store import follow
from stellwerk_tournament.store.follow import Follower
from stellwerk_tournament.store.match_line import FILE, line_of
from stellwerk_tournament.store.store import StoreError
from tests.tournament.report.report_tournaments import line


def block(number: int, teams: tuple[str, ...] = ("ann", "bea")) -> bytes:
    """Return the lines of a block."""
    size = len(teams)
    return b"".join(
        line_of(line(number, rotation, teams, [90 + number, *range(1, size)])) for rotation in range(size)
    )


def append(folder: Path, text: bytes) -> None:
    with open(folder / FILE, "ab") as file:
        file.write(text)


def numbers(follower: Follower) -> list[tuple[int, int]]:
    return [(line.block, line.rotation) for line in follower.read().lines]


def test_byte_by_byte_a_block_comes_when_its_last_line_is_whole_and_only_once(tmp_path: Path) -> None:
    follower = Follower(tmp_path)
    text = block(0) + block(1, ("ann", "bea", "cid"))
    ends = {len(block(0)): [(0, 0), (0, 1)], len(text): [(1, 0), (1, 1), (1, 2)]}
    for size in range(len(text) + 1):
        (tmp_path / FILE).write_bytes(text[:size])
        assert numbers(follower) == ends.get(size, [])
    assert numbers(follower) == []


def test_a_folder_that_does_not_exist_yet_has_no_lines(tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    follower = Follower(folder)
    assert follower.read() == follow.NewLines()
    folder.mkdir()
    assert follower.read() == follow.NewLines()
    append(folder, block(0))
    assert numbers(follower) == [(0, 0), (0, 1)]


def test_what_a_killed_runner_left_and_the_next_one_cut_off_is_no_new_beginning(tmp_path: Path) -> None:
    follower = Follower(tmp_path)
    append(tmp_path, block(0) + block(1)[:-20])
    assert numbers(follower) == [(0, 0), (0, 1)]
    os.truncate(tmp_path / FILE, len(block(0)))
    assert follower.read() == follow.NewLines()
    append(tmp_path, block(2))
    news = follower.read()
    assert (news.is_anew, [line.block for line in news.lines]) == (False, [2, 2])


@pytest.mark.parametrize(
    "anew", [b"", block(7), block(7) + block(8) + block(9)], ids=["gone", "same", "more"]
)
def test_another_file_in_its_place_is_a_tournament_that_begins_anew(tmp_path: Path, anew: bytes) -> None:
    follower = Follower(tmp_path)
    append(tmp_path, block(0))
    assert numbers(follower) == [(0, 0), (0, 1)]
    (tmp_path / FILE).unlink()
    if anew:
        append(tmp_path, anew)
    news = follower.read()
    assert news.is_anew
    assert b"".join(map(line_of, news.lines)) == anew
    assert not follower.read().is_anew


def test_a_long_file_comes_in_parts_with_all_its_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "BYTES_AT_ONCE", len(block(0)) + 5)
    for number in range(10):
        append(tmp_path, block(number))
    append(tmp_path, b'{"block":')
    follower = Follower(tmp_path)
    parts = [follower.read()]
    while parts[-1].has_more:
        parts.append(follower.read())
    assert len(parts) > 5
    assert [line.block for part in parts for line in part.lines] == [n for n in range(10) for _ in range(2)]


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (b"{}\n", "no record of a match"),
        (block(0), "block 0 is there twice; are these two"),
        (b"\xff\n", "no record"),
    ],
)
def test_damage_is_named_each_time_and_what_follows_its_repair_is_read(
    tmp_path: Path, damage: bytes, expected: str
) -> None:
    follower = Follower(tmp_path)
    append(tmp_path, block(0))
    follower.read()
    append(tmp_path, damage)
    for _ in range(2):
        with pytest.raises(StoreError, match=expected):
            follower.read()
    os.truncate(tmp_path / FILE, len(block(0)))
    append(tmp_path, block(1))
    assert numbers(follower) == [(1, 0), (1, 1)]


def test_a_follower_holds_no_lock_and_reads_a_file_that_it_may_not_write(tmp_path: Path) -> None:
    append(tmp_path, block(0))
    (tmp_path / FILE).chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        assert numbers(Follower(tmp_path)) == [(0, 0), (0, 1)]
    finally:
        tmp_path.chmod(0o755)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
