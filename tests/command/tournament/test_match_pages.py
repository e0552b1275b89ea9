"""`tournament report --pages`: pages of the matches, which the report links and `verify` compares."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from stellwerk.__main__ import main
from stellwerk_page.one_file import page_of
from stellwerk_tournament.report.match_pages import Paged, page_path
from tests.command.tournament.test_tournament import TWO, change, cup, tournament
from tests.page.test_one_file import data_of
from tests.tournament.report.report_tournaments import cup_of, settings_for
from tests.tournament.report.report_tournaments import line as match_line


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play two rounds of two bots."""
    folder = cup(tmp_path_factory.mktemp("pages") / "cup", TWO, "[schedule]\nrounds = 2")
    tournament("run", folder, "--seed", "s")
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "cup"))


def linked(folder: Path) -> set[str]:
    return set(re.findall(r'href="\./(pages/[^"]*)"', (folder / "report.html").read_text("utf-8")))


def pages(folder: Path) -> set[str]:
    return {f"pages/{path.name}" for path in (folder / "pages").iterdir()}


def wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(["tournament", "verify", str(folder)]) == 1
    [line] = capsys.readouterr().err.splitlines()
    return line


def test_the_report_links_a_page_of_each_match_and_verify_is_content(folder: Path) -> None:
    without = (folder / "report.html").read_bytes()
    output = tournament("report", folder, "--pages")
    assert re.match(rf"{folder}/pages: 4 of 4 matches written, \d+\.\d MB in \d+\.\d s\n", output)
    assert linked(folder) == pages(folder)
    assert len(pages(folder)) == 4
    lines = [json.loads(line) for line in (folder / "matches.jsonl").read_bytes().splitlines()]
    for line in lines:
        data = data_of((folder / "pages" / f"{Path(line['replay']).stem}.html").read_text("utf-8"))
        assert len(data["times"]["seats"]) == 2
    assert "ok, 4 matches, 13 files" in tournament("verify", folder)
    tournament("report", folder)  # pages that are there stay linked
    assert linked(folder) == pages(folder)
    shutil.rmtree(folder / "pages")
    tournament("report", folder)
    assert (folder / "report.html").read_bytes() == without


def test_matches_that_are_played_later_have_no_page_until_the_next_report(folder: Path) -> None:
    tournament("report", folder, "--pages")
    path = folder / "tournament.toml"
    path.write_text(path.read_text().replace("rounds = 2", "rounds = 3"))
    tournament("run", folder, "--rounds", "3", "--seed", "s")
    assert len((folder / "matches.jsonl").read_bytes().splitlines()) == 6
    assert linked(folder) == pages(folder)
    assert len(pages(folder)) == 4
    tournament("verify", folder)
    tournament("report", folder, "--all-pages")
    assert linked(folder) == pages(folder)
    assert len(pages(folder)) == 6


def test_a_page_that_was_changed_or_is_missing_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tournament("report", folder, "--pages")
    page = min((folder / "pages").iterdir())
    text = page.read_text("utf-8")
    page.write_text(text.replace("</title>", " </title>"), "utf-8")
    assert f"{page}: is not the page of replays/" in wrong(folder, capsys)
    page.unlink()
    assert f"{page}: is not there" in wrong(folder, capsys)


def test_times_are_not_verified(folder: Path) -> None:
    """They may be deleted, or not be published."""
    tournament("report", folder, "--pages")
    for path in (folder / "replays").glob("*.times.json"):
        path.unlink()
    tournament("verify", folder)


def test_a_page_of_another_version_cannot_be_compared(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tournament("report", folder, "--pages")
    line = json.loads((folder / "matches.jsonl").read_bytes().splitlines()[0])
    replay = folder / line["replay"]
    (folder / "pages" / f"{replay.stem}.html").write_text(page_of(replay.read_bytes(), replay.name, "9"))
    report = folder / "report.html"
    report.write_text(re.sub(r'"Stellwerk [^"]*"', '"Stellwerk 9"', report.read_text("utf-8")))
    capsys.readouterr()
    assert main(["tournament", "verify", str(folder)]) == 2
    assert "Stellwerk 9 made it" in capsys.readouterr().err


def test_no_page_is_made_of_a_file_that_is_no_replay_of_the_folder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder.parent / "secret").write_text("a secret")
    change(folder, "matches.jsonl", 0, replay="../secret")
    tournament("report", folder, "--pages")
    assert len(pages(folder)) == 3


def test_the_matches_with_pages_are_the_last_ones_by_block_and_rotation(tmp_path: Path) -> None:
    lines = [
        match_line(block, rotation, ("ann", "bea"), (1, 0)) for block in (0, 2, 1, 3) for rotation in (0, 1)
    ]
    cup = cup_of(tmp_path, settings_for(tmp_path, ("ann", "bea")), lines)
    places = [(line.block, line.rotation) for line in Paged(3, 6).lines(cup)]
    assert places == [(1, 1), (2, 0), (2, 1)]
    assert [line.block for line in Paged(9, 9).lines(cup)] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert [*Paged().lines(cup)] == []
    assert page_path(lines[0]).startswith("pages/")
