"""The version of a bot follows from its files, and is in every line that it played."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stellwerk_tournament.config.settings import FILE, SettingsError, parse, settings_of
from stellwerk_tournament.config.versions import Versions
from stellwerk_tournament.play.matches_here import Conditions
from stellwerk_tournament.play.runner import play_tournament
from stellwerk_tournament.store.store import open_store, read_matches
from tests.tournament.play.fakes import FakeMatches, Witness, run_in_virtual_time

BOTS = """
[[games]]
game = "usa"
[[bots]]
name = "ann"
cmd = "python3 main.py"
dir = "ann"
[[bots]]
name = "bea"
built_in = "greedy"
[[bots]]
name = "cat"
remote = true
version = "2026-11 beta"
[[bots]]
name = "dot"
remote = true
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ann/data").mkdir(parents=True)
    (tmp_path / "ann/main.py").write_text("1")
    (tmp_path / "ann/data/model.bin").write_bytes(b"2")
    return tmp_path


def versions(folder: Path, text: str = BOTS) -> dict[str, str]:
    (folder / FILE).write_text(text)
    entrants = settings_of(parse(folder), folder, to_play=False).entrants
    found = Versions("1.0")
    found.read(entrants)
    return dict(zip([entrant.name for entrant in entrants], found.of(entrants), strict=True))


def test_each_kind_of_bot_has_its_kind_of_version(folder: Path) -> None:
    ann, *others = versions(folder).values()
    assert len(ann) == 12
    int(ann, 16)
    assert others == ["stellwerk-1.0", "2026-11 beta", ""]


def test_a_label_is_for_remote_bots(folder: Path) -> None:
    with pytest.raises(SettingsError, match=r"version: goes with remote = true only"):
        versions(folder, BOTS.replace('dir = "ann"', 'dir = "ann"\nversion = "2"'))


def write(ann: Path) -> None:
    (ann / "main.py").write_text("2")


def add(ann: Path) -> None:
    (ann / "data/more.bin").write_text("")


def rename(ann: Path) -> None:
    (ann / "main.py").rename(ann / "other.py")


@pytest.mark.parametrize("change", [write, add, rename])
def test_other_files_are_another_version(folder: Path, change: Callable[[Path], object]) -> None:
    before = versions(folder)["ann"]
    change(folder / "ann")
    assert versions(folder)["ann"] != before


def test_equal_files_are_one_version_wherever_and_whenever_they_were_written(folder: Path) -> None:
    before = versions(folder)["ann"]
    os.utime(folder / "ann/main.py", (1, 1))
    (folder / "ann/__pycache__").mkdir()
    (folder / "ann/__pycache__/main.pyc").write_bytes(b"3")
    os.mkfifo(folder / "ann/__pycache__/pipe")
    there = folder.rename(folder.with_name("there"))
    assert versions(there)["ann"] == before


def test_a_file_of_a_command_or_its_program_counts_if_there_is_no_folder(folder: Path) -> None:
    text = BOTS.replace('dir = "ann"\n', "").replace("main.py", f"{folder}/ann/main.py")
    before = versions(folder, text)["ann"]
    (folder / "ann/main.py").write_text("2")
    assert versions(folder, text)["ann"] != before
    program = BOTS.replace('dir = "ann"\n', "").replace("python3 main.py", "python3 -c 1")
    assert versions(folder, program)["ann"] not in ("", before)


@pytest.mark.parametrize("head", ["", 'dir = "ann"\n'])
def test_a_file_of_the_command_that_changed_is_read_again_and_others_are_not(folder: Path, head: str) -> None:
    text = BOTS if head else BOTS.replace('dir = "ann"\n', "").replace("main.py", f"{folder}/ann/main.py")
    (folder / FILE).write_text(text)
    entrants = settings_of(parse(folder), folder, to_play=False).entrants
    found = Versions("1.0")
    assert [entrant.name for entrant in found.changed(entrants)] == ["ann"]
    found.read(entrants)
    before = found.of(entrants)
    (folder / "ann/log.txt").write_text("3")
    (folder / "ann/data/model.bin").write_bytes(b"33")
    assert not found.changed(entrants)
    (folder / "ann/main.py").write_text("22")
    changed = found.changed(entrants)
    assert [entrant.name for entrant in changed] == ["ann"]
    found.read(changed)
    assert found.of(entrants)[0] not in before
    assert found.of(entrants)[1:] == before[1:]


@pytest.mark.parametrize(("file", "count"), [("log.txt", 1), ("main.py", 4)])
def test_a_bot_that_writes_into_its_folder_stays_one_version_but_not_if_its_program_changes(
    folder: Path, file: str, count: int
) -> None:
    """In each of four matches it adds to a file."""

    def write(*_: object) -> None:
        with open(folder / "ann" / file, "a") as text:
            text.write("a match\n")

    tables = '[[bots]]\nname = "bea"\nbuilt_in = "random"\nprocess = "fresh"\n'
    tables += '[[bots]]\nname = "ann"\ncmd = "python3 main.py"\ndir = "ann"\n'
    head = 'concurrency = 1\nsandbox = "limits"\n[schedule]\nrounds = 2\n[[games]]\ngame = "usa"\n'
    (folder / FILE).write_text(head + tables)
    settings = settings_of(parse(folder), folder)
    with open_store(folder) as opened:
        run_in_virtual_time(
            play_tournament,
            settings,
            opened,
            Witness(),
            Conditions(FakeMatches(seconds=0, fails=write)),
        )
    lines = [*read_matches(folder)]
    assert len(lines) == 4
    assert len({line.versions[line.players.index("ann")] for line in lines}) == count
