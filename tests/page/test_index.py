"""`stellwerk replay page FOLDER`: a page for each replay, and an index with a row for each file."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from stellwerk.__main__ import main
from stellwerk_page.index import index_of, row_of
from tests import tools
from tests.browser import Browser, Page
from tests.command.program import REPOSITORY, refused

GAMES = REPOSITORY / "tests" / "golden" / "games"
HOSTILE = "torn <img src=x onerror=alert(1)> \u202e.jsonl"
ROWS = "Array.from(document.querySelectorAll('tbody tr'), row => row.cells[0].textContent)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "games"
    folder.mkdir()
    for name in ("usa-2.jsonl", "europe-3.jsonl", "team_asia-6.jsonl"):
        (folder / name).write_bytes((GAMES / name).read_bytes())
    (folder / HOSTILE).write_bytes((GAMES / "usa-3.jsonl").read_bytes()[:30_000])
    (folder / "foreign.jsonl").write_text("hello\n")
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "usa-2.times.json").write_text("{}")
    (folder / "notes.txt").write_text("not for us")
    return folder


def rows(index: Path) -> list[list[str]]:
    """Return the cells of each row as text."""
    body = index.read_text("utf-8").partition("<tbody>")[2].partition("</tbody>")[0]
    return [
        [unescape(re.sub("<[^>]*>", "", cell)) for cell in re.split("</t[hd]>", row)[:-1]]
        for row in body.split("</tr>")[:-1]
    ]


def test_a_folder_gets_a_page_for_each_replay_and_an_index_of_all_files(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", "page", str(folder)]) == 0
    out = capsys.readouterr().out
    assert out == (f"wrote 4 pages and {folder}/index.html; the index says what is wrong with 3 files\n")
    assert {path.name for path in folder.glob("*.html")} == {
        "usa-2.html",
        "europe-3.html",
        "team_asia-6.html",
        HOSTILE.replace(".jsonl", ".html"),
        "index.html",
    }
    index = {row[0].strip(): row[1:] for row in rows(folder / "index.html")}
    assert index["usa-2.jsonl"] == [
        "North America, the base game",
        "seat 0, seat 1",
        "1. seat 1: -22, 2. seat 0: -169",
        "102",
        "",
    ]
    assert index["team_asia-6.jsonl"][2].startswith("1. seat 2 and seat 3: -76, ")
    assert index[HOSTILE][-1] == "line 89: the replay breaks off in the middle of this line"
    assert index["empty.jsonl"] == ["", "", "", "", "line 1: no replay: the file is empty"]
    assert index["foreign.jsonl"][-1].startswith("line 1: no header of a replay")


def test_pages_of_a_folder_go_to_the_folder_that_is_named(folder: Path, tmp_path: Path) -> None:
    before = sorted(folder.iterdir())
    assert main(["replay", "page", str(folder), "-o", str(tmp_path / "pages")]) == 0
    assert sorted(folder.iterdir()) == before
    assert len(list((tmp_path / "pages").iterdir())) == 5


def test_an_index_is_made_again_but_no_file_of_somebody_elses_is_overwritten(folder: Path) -> None:
    for _ in range(2):
        assert main(["replay", "page", str(folder)]) == 0
    (folder / "index.html").write_text("<p>my own page")
    assert "index.html: not an index that Stellwerk made" in refused("replay", "page", str(folder))


def test_a_folder_without_replays_and_standard_output_for_a_folder_are_refused(
    folder: Path, tmp_path: Path
) -> None:
    assert "no file *.jsonl" in refused("replay", "page", str(tmp_path))
    assert "name a folder for them" in refused("replay", "page", str(folder), "-o", "-")


def test_a_replay_without_its_seed_says_so() -> None:
    lines = (GAMES / "usa-2.jsonl").read_bytes().splitlines(keepends=True)
    row = row_of("game.jsonl", "game.html", lines[0])
    assert row.problem.startswith("line 1: the replay breaks off here")


# -- in a browser ------------------------------------------------------------------------------------


@tools.needs("chromium")
@pytest.mark.xdist_group("match page")
@pytest.mark.parametrize("width", [390, 1280])
def test_an_index_opens_fits_leads_to_its_pages_and_can_be_sorted(
    browser: Browser, folder: Path, width: int
) -> None:
    main(["replay", "page", str(folder)])
    page = Page(browser, folder / "index.html", width)
    assert page.complaints == []
    assert page.requests == [(folder / "index.html").as_uri()]
    assert page.value("document.documentElement.scrollWidth") <= width
    assert page.value("document.querySelectorAll('img').length") == 0
    links: list[str] = page.value("Array.from(document.querySelectorAll('a'), each => each.href)")
    assert sorted(links) == sorted(
        each.as_uri() for each in folder.glob("*.html") if each.name != "index.html"
    )
    if width > 800:  # a phone shows no heads
        turns = page.value(ROWS)
        page.click("thead th:nth-child(5) button")
        assert page.value(ROWS) != turns
        assert page.value("document.querySelector('[aria-sort]').getAttribute('aria-sort')") == "ascending"
        assert page.value(ROWS)[-1] == "team_asia-6.jsonl"


def test_an_index_escapes_what_files_say() -> None:
    hostile = "<script>alert(1)</script>"
    row = row_of(hostile, hostile, b"")
    assert "<script>alert" not in index_of(hostile, [row], "1")
