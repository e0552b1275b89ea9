"""The match page in a real browser: it opens from a disk without a complaint and without a request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stellwerk_page.one_file import page_of
from tests import tools
from tests.browser import Browser, Page, started
from tests.page.test_one_file import GAMES

pytestmark = [tools.needs("chromium"), pytest.mark.xdist_group("match page")]

PHONE = (390, 844)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with started(tools.browser(), tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.stem)
def test_the_page_of_a_game_opens_without_complaints_or_requests(
    browser: Browser, tmp_path: Path, game: Path
) -> None:
    file = tmp_path / "game.html"
    file.write_text(page_of(game.read_bytes(), game.name, "1"), "utf-8")
    page = Page(browser, file, *PHONE)
    assert page.value("document.title").endswith(game.name)
    assert page.complaints == []
    assert [each for each in page.requests if not each.startswith("data:")] == [file.as_uri()]
