"""What makes a bot another one for the preflight, and what does not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import UNSET, UnsetType

from stellwerk_processes.bench.levels import SandboxRecord
from stellwerk_tournament.config.resolved import resolve
from stellwerk_tournament.config.settings import FILE, parse, settings_of
from stellwerk_tournament.config.versions import Versions
from stellwerk_tournament.store.answered import FILE as ANSWERED
from stellwerk_tournament.store.answered import fingerprints, read_answered, write_answered

HEAD = 'sandbox = "limits"\nconcurrency = 1\n'
GAME = '[[games]]\ngame = "usa"\nweight = 1\n'
ANN = '[[bots]]\nname = "ann"\ncmd = "python3 main.py"\ndir = "ann"\nenv = { LEVEL = "1" }\n'
BEA = '[[bots]]\nname = "bea"\nbuilt_in = "greedy"\n'


def marks(
    folder: Path, text: str = HEAD + GAME + ANN + BEA, sandbox: SandboxRecord | UnsetType = UNSET
) -> dict[str, str]:
    """Return the fingerprints of two bots. One of them has a folder."""
    for name in ("ann/data", "ann/__pycache__"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in ("ann/main.py", "ann/data/model.bin"):
        if not (folder / name).exists():
            (folder / name).write_text("1")
            os.utime(folder / name, ns=(10**18, 10**18))
    (folder / FILE).write_text(text)
    settings = settings_of(parse(folder), folder)
    return fingerprints(settings, resolve(settings, folder, Versions("1")), sandbox, settings.names)


def grow(folder: Path) -> None:
    (folder / "ann/data/model.bin").write_text("22")


def add(folder: Path) -> None:
    (folder / "ann/data/more.bin").write_text("")


@pytest.mark.parametrize("change", [grow, add])
def test_a_bot_with_another_file_is_another_one_and_the_others_are_not(
    tmp_path: Path, change: Callable[[Path], object]
) -> None:
    before = marks(tmp_path)
    assert marks(tmp_path) == before
    change(tmp_path)
    after = marks(tmp_path)
    assert after["ann"] != before["ann"]
    assert after["bea"] == before["bea"]


def test_what_interpreters_make_by_themselves_is_no_change(tmp_path: Path) -> None:
    before = marks(tmp_path)
    (tmp_path / "ann/__pycache__/main.cpython-311.pyc").write_bytes(b"1")
    assert marks(tmp_path) == before


def test_names_that_are_no_text_are_names_all_the_same(tmp_path: Path) -> None:
    before = marks(tmp_path)
    with open(os.fsencode(tmp_path / "ann") + b"/\xff\xfe", "wb"):
        pass
    assert marks(tmp_path)["ann"] != before["ann"]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ('LEVEL = "1"', 'LEVEL = "2"', {"ann"}),
        ('dir = "ann"', 'dir = "ann"\ninstances = 4', {"ann"}),
        ('dir = "ann"', 'dir = "ann"\nprocess = "reused"', {"ann"}),
        ('game = "usa"', 'game = "card_game"', {"ann", "bea"}),
        (HEAD, HEAD + "memory_mb = 512\n", {"ann", "bea"}),
        (HEAD, HEAD + "[clocks]\nmove_ms = 5\n", {"ann", "bea"}),
        (HEAD, HEAD + "disk_mb = 5\n", {"ann", "bea"}),
        (HEAD, HEAD + "freeze = true\n", {"ann", "bea"}),
        ("concurrency = 1", "concurrency = 3", set[str]()),
        ("weight = 1", "weight = 9", set[str]()),
        (HEAD, HEAD + '[schedule]\nkind = "random"\nrounds = 9\n', set[str]()),
        (HEAD, HEAD + "[conduct]\ngone = false\n", set[str]()),
    ],
)
def test_the_conditions_that_a_bot_meets_count_and_no_others(
    tmp_path: Path, old: str, new: str, changed: set[str]
) -> None:
    text = HEAD + GAME + ANN + BEA
    assert old in text
    before, after = marks(tmp_path), marks(tmp_path, text.replace(old, new))
    assert {name for name in before if before[name] != after[name]} == changed


def test_the_level_that_held_counts_and_not_what_was_tried_of_it(tmp_path: Path) -> None:
    levels = [
        marks(tmp_path, sandbox=SandboxRecord("landlock", "auto", untried=("much_memory",))),
        marks(tmp_path, sandbox=SandboxRecord("landlock", "auto")),
        marks(tmp_path, sandbox=SandboxRecord("namespace", "auto")),
    ]
    assert levels[0] == levels[1]
    assert levels[1]["ann"] != levels[2]["ann"]


def test_a_folder_that_was_moved_has_the_same_bots(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    before = marks(tmp_path / "here")
    (tmp_path / "here").rename(tmp_path / "there")
    assert marks(tmp_path / "there") == before


@pytest.mark.parametrize("content", [None, b"", b"{", b"[]", b'{"answered": {"a": 1}}', b"\xff"])
def test_a_file_that_is_missing_or_damaged_remembers_nobody(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / ANSWERED).write_bytes(content)
    assert read_answered(tmp_path) == {}
    write_answered(tmp_path, {"a": "1"})
    assert read_answered(tmp_path) == {"a": "1"}
