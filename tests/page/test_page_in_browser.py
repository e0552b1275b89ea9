"""The match page in a real browser, as a file: every game opens without a complaint and without a request,
fits every width, and can be read by everybody."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from importlib.resources import files
from itertools import cycle
from pathlib import Path
from typing import Final

import pytest

from stellwerk_page.one_file import page_of
from stellwerk_protocol.answer_times import AnswerTimes
from stellwerk_protocol.replays import MAX_LINE_BYTES
from tests import tools
from tests.browser import Browser, Page
from tests.engine.recordings import record
from tests.page.test_one_file import GAMES
from tests.unlisted.alps import alps, alps_board

pytestmark = [tools.needs("chromium"), pytest.mark.xdist_group("match page")]

BY_NAME: Final = {game.stem: game for game in GAMES}
SPECIAL: Final = {"idle", "thrifty", "buying", "collecting", "all_passed"}
SIZES: Final = ((390, 844), (1280, 800), (1920, 1080))
# Another course of play looks no different.
VARIANTS: Final = sorted(
    name for name in BY_NAME if len(set(name.split("-")) - SPECIAL) == len(name.split("-"))
)
ONE_OF_EACH: Final = ("usa-2", "card_game-3-open_stacks", "team_asia-4", "united_kingdom-2", "europe-2")
DRAWN: Final = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
AXE: Final = """\
axe.run(document, {resultTypes: ["violations"]}).then((result) => result.violations
  .filter((each) => ["serious", "critical"].includes(each.impact))
  .map((each) => `${each.id}: ${each.nodes[0].target}, ${each.nodes[0].failureSummary}`))
"""
CUT_OFF: Final = """\
Array.from(document.querySelectorAll("button, h1, h2, h3, input, select"), (each) => {
  const box = each.getBoundingClientRect();
  const isShown = box.width > 1 && box.height > 1 && !each.closest(".scroll, [hidden], dialog");
  const fits = box.left >= -1 && box.right <= innerWidth + 1;
  return !isShown || fits ? "" : `${each.tagName} ${each.textContent}: ${box.left} to ${box.right}`;
}).filter((each) => each)
"""


@contextmanager
def opened(
    browser: Browser, folder: Path, replay: bytes, name: str = "game.jsonl", times: AnswerTimes | None = None
) -> Generator[Page]:
    """Open the page of a replay on a phone. It must not complain, nor ask for anything, whatever is done."""
    file = folder / "game.html"
    file.write_text(page_of(replay, name, "1", times), "utf-8")
    page = Page(browser, file, *SIZES[0])
    page.awaited(DRAWN)
    yield page
    assert page.complaints == []
    assert [each for each in page.requests if not each.startswith("data:")] == [file.as_uri()]
    page.close()


def shown(page: Page) -> str:
    text: str = page.value("document.body.innerText")
    return text


def test_a_game_in_no_list_is_drawn(browser: Browser, tmp_path: Path) -> None:
    """By its parts and its board, which are in the replay: the result, and every route on the map."""
    with opened(browser, tmp_path, b"".join(record(alps()))) as page:
        page.value("location.hash = '#turn=9999'")
        page.awaited(DRAWN)
        drawn = page.value(
            "Array.from(document.querySelectorAll('[data-route]'), (each) => each.dataset.route)"
        )
        assert {*drawn} == {route.id for route in alps_board().routes}
        assert page.value("document.getElementById('waiting')") is None
        assert "Lugano" in shown(page)


@pytest.mark.parametrize("name", VARIANTS)
def test_the_page_of_a_game_opens_without_complaints_or_requests_and_fits(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    """At its end, where most is shown."""
    with opened(browser, tmp_path, BY_NAME[name].read_bytes()) as page:
        assert page.value("document.getElementById('waiting')") is None
        page.value("location.hash = '#turn=9999'")
        for (width, height), scheme in zip(SIZES, ("light", "dark", "dark"), strict=True):
            page.resize(width, height, scheme)
            page.awaited(DRAWN)
            assert page.value("document.documentElement.scrollWidth") <= width
            assert page.value(CUT_OFF) == [], width


@pytest.mark.parametrize("name", ["card_game-4-open_stacks", "united_kingdom-4"])
def test_the_time_bar_is_in_sight_however_tall_the_board_is(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    with opened(browser, tmp_path, BY_NAME[name].read_bytes()) as page:
        page.value("location.hash = '#turn=90'")
        for width, height in SIZES:
            page.resize(width, height, "light")
            page.awaited(DRAWN)
            bottom = page.value("document.querySelector('.time').getBoundingClientRect().bottom")
            assert bottom <= height, width


@pytest.mark.parametrize(("name", "scheme"), [*zip(ONE_OF_EACH, cycle(("light", "dark")), strict=False)])
def test_axe_has_no_serious_finding(browser: Browser, tmp_path: Path, name: str, scheme: str) -> None:
    """Colors are the same in all games, so that each is looked at in one light."""
    axe = files("axe_core_python").joinpath("axe.min.js").read_text("utf-8")
    with opened(browser, tmp_path, BY_NAME[name].read_bytes()) as page:
        page.value("location.hash = '#turn=30'")
        page.resize(*SIZES[0 if scheme == "light" else 1], scheme)
        page.awaited(DRAWN)
        page.value(axe)
        assert page.awaited(AXE) == []


def test_the_name_of_a_file_is_text_whatever_it_contains(browser: Browser, tmp_path: Path) -> None:
    name = '<img src=x onerror="document.title=1">\u202e</script><script>document.title=2</script>.jsonl'
    with opened(browser, tmp_path, b"no replay\n", name) as page:
        assert page.value("document.querySelectorAll('img').length") == 0
        assert page.value("document.title") not in ("1", "2")
        assert page.value("document.scripts.length") == 3


@pytest.mark.parametrize(
    "replay",
    [
        b"x" * (MAX_LINE_BYTES + 1) + b"\n",
        BY_NAME["usa-2"].read_bytes() + b"{}\n" * 300_000,
        b"[" * 500_000,
        b"\xff\xfe\x00" * 1000,
    ],
    ids=["one long line", "very many lines", "very deep", "no text"],
)
def test_a_huge_file_is_a_sentence(browser: Browser, tmp_path: Path, replay: bytes) -> None:
    with opened(browser, tmp_path, replay) as page:
        assert "line " in shown(page).lower()


@pytest.mark.parametrize("seats", [((12, 7),), ((None,) * 9000, (10**15,)), ((), ())])
def test_times_that_do_not_fit_the_match_break_nothing(
    browser: Browser, tmp_path: Path, seats: tuple[tuple[int | None, ...], ...]
) -> None:
    times = AnswerTimes("stellwerk-times/1", "another", seats)
    with opened(browser, tmp_path, BY_NAME["usa-2"].read_bytes(), times=times) as page:
        page.value("location.hash = '#turn=9999'")
        page.awaited(DRAWN)
        assert "seat 0" in shown(page)


def test_these_tests_notice_what_the_policy_forbids(browser: Browser, tmp_path: Path) -> None:
    """Without this, a page that asks for pictures or runs text as code could pass."""
    file = tmp_path / "game.html"
    text = page_of(b"", "game.jsonl", "1")
    for forbidden in (
        '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">',
        "<script>setTimeout('1')</script>",
        '<link rel="stylesheet" href="data:text/css,">',
    ):
        file.write_text(text.replace("</body>", f"{forbidden}</body>"), "utf-8")
        page = Page(browser, file)
        assert len(page.complaints) == 1, forbidden
        page.close()
