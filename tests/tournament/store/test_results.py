"""What the lines come to: in columns, and out of a checkpoint that only the lines can prove."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

import msgspec
import pytest

from stellwerk_processes.faults import Fault
from stellwerk_tournament.store import results as results_module
from stellwerk_tournament.store.cup import Cup
from stellwerk_tournament.store.match_line import FILE, Forfeit, MatchLine, line_of, outcome_of
from stellwerk_tournament.store.results import CHECKPOINT, Results
from stellwerk_tournament.store.standings import Standings
from stellwerk_tournament.store.store import StoreError, open_store, read_results
from tests.tournament.report.report_tournaments import line

CRASH = Fault("crash", 1, "ended with exit status 1", ("first", "last words"))


def lines_of_cup() -> list[MatchLine]:
    """Return three blocks, which did not end in their order."""
    lines = [
        line(number, rotation, players, points)
        for number, players in ((0, ("a", "b")), (2, ("a", "b", "c")), (1, ("c", "b")))
        for rotation in range(len(players))
        for points in ([90 - 10 * number, *range(1, len(players))],)
    ]
    crashed = msgspec.structs.replace(lines[1].bots[0], faults=(CRASH,))
    lines[1] = msgspec.structs.replace(
        lines[1], bots=(crashed, *lines[1].bots[1:]), forfeits=(Forfeit(0, "a", "gone"),)
    )
    return lines


@pytest.fixture
def lines() -> list[MatchLine]:
    return lines_of_cup()


@pytest.fixture
def folder(tmp_path: Path, lines: list[MatchLine]) -> Path:
    (tmp_path / FILE).write_bytes(b"".join(map(line_of, lines)))
    return tmp_path


def read_anew(folder: Path) -> Results:
    results = Results()
    with (folder / FILE).open("rb") as file:
        results.read_on(file)
    return results


def checkpoint_of(results: Results, folder: Path) -> bytes:
    """Return all that results hold."""
    results.write_checkpoint(folder)
    return (folder / CHECKPOINT).read_bytes()


def bytes_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return from where the lines were read, and not only hashed."""
    places: list[int] = []
    read_on = Results.read_on

    def watched(self: Results, file: BinaryIO) -> str:
        places.append(self.size)
        return read_on(self, file)

    monkeypatch.setattr(Results, "read_on", watched)
    read_results(folder)
    monkeypatch.undo()
    [place] = places
    return place


def test_columns_hold_what_counts_of_each_match(folder: Path, lines: list[MatchLine]) -> None:
    results = read_results(folder)
    assert [(each.block, each.round, each.game, each.players) for each in results] == [
        (each.block, each.round, each.game, each.players) for each in lines
    ]
    assert [(each.ranks, each.forfeits) for each in results] == [
        (each.ranks, each.forfeits) for each in lines
    ]
    assert len(results) == len(lines)
    assert [*results.blocks] == [0, 2, 1]
    assert 2 in results
    assert 3 not in results


def test_ratings_get_the_matches_in_the_order_of_the_blocks(folder: Path, lines: list[MatchLine]) -> None:
    in_order = sorted(lines, key=lambda each: (each.block, each.rotation))
    assert read_results(folder).outcomes() == [*map(outcome_of, in_order)]


def test_lines_of_blocks_are_read_again_in_any_order_and_without_the_others(
    folder: Path, lines: list[MatchLine]
) -> None:
    cup = Cup(folder)
    assert [*cup.lines()] == lines
    assert [*cup.lines([1, 0])] == lines[5:] + lines[:2]
    texts = [line_of(each) if each.block == 2 else b"?" * len(line_of(each)) for each in lines]
    (folder / FILE).write_bytes(b"".join(texts))
    assert [*cup.lines([2])] == lines[2:5]
    with pytest.raises(StoreError, match="has changed while it was read"):
        next(cup.lines([1]))


def test_sums_are_those_of_all_lines(folder: Path, lines: list[MatchLine]) -> None:
    sums = Standings((), lines)
    results = read_results(folder)
    assert results.standings.of == sums.of
    assert results.standings.pairs == sums.pairs
    assert results.standings.of["a"].causes == {"crash": "last words"}


def test_a_checkpoint_holds_the_same_as_its_lines(folder: Path) -> None:
    with open_store(folder) as opened:
        anew = checkpoint_of(opened.results, folder)
    found = read_results(folder)
    assert checkpoint_of(found, folder) == anew
    assert found.standings.of == read_anew(folder).standings.of
    assert found.history() == read_anew(folder).history()


def test_whoever_opens_a_folder_writes_a_checkpoint_and_then_only_new_lines_are_read(
    folder: Path, lines: list[MatchLine], monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(folder):
        pass
    size = (folder / FILE).stat().st_size
    assert bytes_read(folder, monkeypatch) == size
    more = [msgspec.structs.replace(each, block=7) for each in lines[:2]]
    with (folder / FILE).open("ab") as file:
        file.write(b"".join(map(line_of, more)))
    assert bytes_read(folder, monkeypatch) == size
    assert [*read_results(folder).blocks] == [0, 2, 1, 7]


def cut_short(folder: Path) -> None:
    path = folder / CHECKPOINT
    path.write_bytes(path.read_bytes()[:-1])


def edited(folder: Path) -> None:
    path = folder / CHECKPOINT
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)


def empty(folder: Path) -> None:
    (folder / CHECKPOINT).write_bytes(b"")


def of_another_format(folder: Path) -> None:
    path = folder / CHECKPOINT
    content = path.read_bytes()[32:].replace(
        results_module.FORMAT.encode(), b"0" * len(results_module.FORMAT)
    )
    path.write_bytes(sha256(content).digest() + content)


def sealed_nonsense(folder: Path) -> None:
    content = b"\x00nonsense"
    (folder / CHECKPOINT).write_bytes(sha256(content).digest() + content)


def of_other_lines(folder: Path) -> None:
    """Change a result in the file, so that its length stays the same."""
    path = folder / FILE
    text = path.read_bytes()
    assert b'"players":["c","b"]' in text
    path.write_bytes(text.replace(b'"players":["c","b"]', b'"players":["c","d"]'))


def of_more_lines(folder: Path) -> None:
    """Take the last block away, as a copy of the folder from before has it."""
    path = folder / FILE
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))


@pytest.mark.parametrize(
    "damage",
    [cut_short, edited, empty, of_another_format, sealed_nonsense, of_other_lines, of_more_lines],
    ids=lambda damage: damage.__name__,
)
def test_a_checkpoint_that_does_not_fit_is_ignored_and_made_again(
    folder: Path, damage: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(folder):
        pass
    damage(folder)
    assert bytes_read(folder, monkeypatch) == 0
    with open_store(folder) as opened:
        found = checkpoint_of(opened.results, folder)
    assert found == checkpoint_of(read_anew(folder), folder)
    assert bytes_read(folder, monkeypatch) == (folder / FILE).stat().st_size


def test_a_checkpoint_that_cannot_be_written_changes_nothing(folder: Path) -> None:
    (folder / CHECKPOINT).mkdir()
    with open_store(folder) as opened:
        assert len(opened.results) == 7
    assert len(read_results(folder)) == 7


def test_damage_behind_a_checkpoint_names_the_line_of_the_file(folder: Path) -> None:
    with open_store(folder):
        pass
    with (folder / FILE).open("ab") as file:
        file.write(b"{}\n")
    with pytest.raises(StoreError, match="line 8: no record of a match"):
        read_results(folder)


def test_a_block_that_a_checkpoint_has_is_not_read_twice(folder: Path, lines: list[MatchLine]) -> None:
    with open_store(folder):
        pass
    with (folder / FILE).open("ab") as file:
        file.write(b"".join(map(line_of, lines[:2])))
    with pytest.raises(StoreError, match="line 8: block 0 is there twice"):
        read_results(folder)
