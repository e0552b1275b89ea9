"""Files are written whole, or not at all."""

from __future__ import annotations

import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from stellwerk_base.files import PRIVATE, write_whole


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "file.jsonl"
    write_whole(file, b"content")
    assert file.read_bytes() == b"content"
    (tmp_path / f".file.jsonl.{os.getpid()}.{threading.get_ident()}.part").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(file, b"other")
    assert file.read_bytes() == b"content"


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(tmp_path / "folder", b"content")
    assert os.listdir(tmp_path) == ["folder"]


def test_writers_at_the_same_time_do_not_mix_their_contents(tmp_path: Path) -> None:
    file = tmp_path / "file"
    contents = [bytes([65 + number]) * 100_000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(partial(write_whole, file, sync=True), contents * 4))
    assert file.read_bytes() in contents
    assert os.listdir(tmp_path) == ["file"]


def test_a_private_file_is_readable_by_its_owner_alone_from_its_first_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    replace = Path.replace

    def note_mode(path: Path, target: Path) -> Path:
        seen.append(stat.S_IMODE(path.stat().st_mode))
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", note_mode)
    write_whole(tmp_path / "file", b"secret", mode=PRIVATE)
    assert seen == [0o600]
