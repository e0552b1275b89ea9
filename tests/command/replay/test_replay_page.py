"""`stellwerk replay page` writes the page of a replay where its user wants it, and overwrites no replay."""

from __future__ import annotations

from pathlib import Path

import pytest

from stellwerk.__main__ import main
from stellwerk_protocol.answer_times import NOT_TIMED, times_file
from tests.command.program import REPOSITORY, refused, stellwerk
from tests.page.test_one_file import data_of

GAME = REPOSITORY / "tests" / "golden" / "games" / "usa-2.jsonl"


@pytest.fixture
def replay(tmp_path: Path) -> Path:
    file = tmp_path / "game.jsonl"
    file.write_bytes(GAME.read_bytes())
    return file


def test_a_page_stands_beside_its_replay(replay: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "page", str(replay)]) == 0
    page = replay.with_name("game.html")
    assert capsys.readouterr().out == f"wrote {page}; open it in a browser\n"
    assert page.read_text("utf-8").startswith("<!doctype html>")


def test_a_page_goes_to_the_file_that_is_named(replay: Path, tmp_path: Path) -> None:
    assert main(["replay", "page", str(replay), "-o", str(tmp_path / "other.html")]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["game.jsonl", "other.html"]


def test_a_page_goes_to_standard_output(replay: Path) -> None:
    done = stellwerk("replay", "page", str(replay), "-o", "-")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("<!doctype html>")
    assert done.stdout.endswith("</html>\n")


@pytest.mark.parametrize("name", ["game", "game.json", "game.html"])
def test_a_replay_is_not_overwritten_by_its_page(tmp_path: Path, name: str) -> None:
    replay = tmp_path / name
    replay.write_bytes(GAME.read_bytes())
    main(["replay", "page", str(replay)])
    assert replay.read_bytes() == GAME.read_bytes()
    assert len(list(tmp_path.iterdir())) == 2
    assert "this is the replay" in refused("replay", "page", str(replay), "-o", str(replay))


def test_the_times_beside_a_replay_are_in_its_page(replay: Path) -> None:
    replay.with_name("game.times.json").write_bytes(times_file("m", [[12], [3, NOT_TIMED]]))
    assert main(["replay", "page", str(replay)]) == 0
    data = data_of(replay.with_name("game.html").read_text("utf-8"))
    assert data["times"]["seats"] == [[12], [3, None]]


@pytest.mark.parametrize("times", [b"", b"{}", b'{"format":"stellwerk-times/2"}', b" " * 2**21])
def test_times_that_cannot_be_read_are_left_out(
    replay: Path, times: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    file = replay.with_name("game.times.json")
    file.write_bytes(times)
    assert main(["replay", "page", str(replay)]) == 0
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"stellwerk: {file}: left out: ")
    assert "times" not in data_of(replay.with_name("game.html").read_text("utf-8"))


def test_verify_ignores_the_times_beside_replays(replay: Path, capsys: pytest.CaptureFixture[str]) -> None:
    times = replay.with_name("game.times.json")
    times.write_bytes(times_file("m", [[12], [3]]))
    assert main(["replay", "verify", str(replay), str(times)]) == 0
    assert capsys.readouterr().out.splitlines()[1] == f"{times}: times of answers, which cannot be verified"


def test_files_that_cannot_be_read_or_written_are_one_line(replay: Path, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.jsonl")
    assert refused("replay", "page", missing) == (
        f"stellwerk: {missing}: cannot be read: No such file or directory"
    )
    nowhere = str(tmp_path / "no" / "page.html")
    assert refused("replay", "page", str(replay), "-o", nowhere) == (
        f"stellwerk: {nowhere}: cannot be written: No such file or directory"
    )
