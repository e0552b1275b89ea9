"""Every live page in a real browser, out of recorded games and with a clock that the test moves: what it
shows, that everybody can read it, and that it stays small."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from importlib.resources import files
from typing import Final

import msgspec
import pytest

from stellwerk_web.show.forms import Head
from stellwerk_web.show.model import Show
from tests import tools
from tests.browser import Browser, Page
from tests.page.test_page_in_browser import AXE, CUT_OFF, DRAWN
from tests.web.recorded import RecordedSource, golden
from tests.web.serving import Life, showing
from tests.web_pages.opening import KIND, opened, until

pytestmark = [tools.needs("chromium"), pytest.mark.xdist_group("match page")]

GAMES: Final = ("usa-3", "europe-4", "team_asia-6", "united_kingdom-4", "card_game-4")
"""One of each, which are different on the wall."""
ENDED: Final = ("europe-2", "usa-5", "team_asia-4", "card_game-3")
PACE: Final = 100.0
LIVE_MATCH: Final = "match/live-1-0"
PATHS: Final = ("", LIVE_MATCH, "match/usa-5", "bot/greedy", "pair/greedy/planner", "wall", "about")
READY: Final = {
    "": '!document.querySelector("main").hidden',
    "bot/greedy": 'document.querySelector(".matches-pane")',
    "pair/greedy/planner": 'document.querySelector(".matches-pane")',
    "wall": 'document.querySelectorAll("[data-state=match]").length === 5',
    "about": "true",
}
SIZES: Final = ((390, 844, "dark"), (1280, 800, "light"), (1920, 1080, "dark"))


@contextmanager
def hall(tables: int = 5, ended: tuple[str, ...] = ENDED) -> Generator[tuple[Life, Show]]:
    """Serve all games at once: some run, each a third of its way, and some have ended."""
    source = RecordedSource(list(GAMES), list(ended), PACE)
    with showing(pace=2.0, tables=tables, source=source) as (life, show):
        life.wait(3.5)
        yield life, show


@contextmanager
def connected(pace: float = 2.0, tables: int = 2) -> Generator[tuple[Life, Show]]:
    """Serve a model that the test fills, and whose source is there: else no page is live."""
    with showing(pace=pace, tables=tables) as (life, show):
        life.do(partial(show.connected, True))
        yield life, show


def begin(life: Life, page: Page, path: str) -> None:
    """Wait until a page has all that it shows. The wall takes its matches when somebody looks."""
    until(page, f'{KIND} === "live" || {KIND} === "over" || {json.dumps(path)} === "about"')
    if path == "wall":
        life.wait(1.0)
    until(page, READY.get(path, 'document.querySelector(".caption-words p")'))
    page.awaited(DRAWN)


@pytest.mark.parametrize("path", PATHS)
def test_a_page_fits_every_width_and_axe_finds_nothing(browser: Browser, path: str) -> None:
    axe = files("axe_core_python").joinpath("axe.min.js").read_text("utf-8")
    with hall() as (life, _), opened(browser, life.port, path) as page:
        begin(life, page, path)
        page.value(axe)
        for width, height, scheme in SIZES:
            page.resize(width, height, scheme)
            page.awaited(DRAWN)
            assert page.value("document.documentElement.scrollWidth") <= width
            assert page.value(CUT_OFF) == [], width
            assert page.awaited(AXE.replace('["serious", "critical"].includes(each.impact)', "true")) == []


def test_a_match_page_that_is_opened_too_early_shows_the_match_when_it_is_there(browser: Browser) -> None:
    """The browser complains of the answers until then, as of a server that is away."""
    game = golden("usa-2")
    path = f"match/{game.head.match}"
    with showing() as (life, show), opened(browser, life.port, path, is_cut_off=True) as page:
        until(page, 'document.querySelector(".no-match")?.textContent.startsWith("no match usa-2 is")')

        def tell() -> None:
            show.connected(True)
            show.match_listed(game.head)
            show.started(game.head.match, game.start)
            show.happened(game.head.match, game.events)
            show.ended(game.head.match, game.end)

        life.do(tell)
        until(page, 'document.querySelector(".caption-words p")')


RESULTS: Final = """\
Array.from(document.querySelectorAll('[data-over="true"]'), (table) => {
  return Array.from(table.querySelectorAll(".wall-result li > b"), (points) => points.textContent).join();
})
"""
SHOWN: Final = """\
Array.from(document.querySelectorAll(".wall-table"), (table) => [
  table.querySelector(".wall-turn").textContent,
  ...Array.from(table.querySelectorAll(".wall-player .points"), (points) => points.textContent),
].join())
"""


def test_the_wall_plays_its_queue_to_the_end(browser: Browser) -> None:
    """With the results of all matches, and how many were too fast to be shown."""
    names = ("usa-2", "europe-2", "card_game-2", "usa-3")
    games = [golden(name) for name in names]
    with (
        connected(pace=100.0, tables=2) as (life, show),
        opened(browser, life.port, "wall", width=1920) as page,
    ):
        until(page, f'{KIND} === "live"')

        def tell() -> None:
            for game in games:
                show.match_listed(game.head)
                show.started(game.head.match, game.start)
                show.happened(game.head.match, game.events)
                show.ended(game.head.match, game.end)

        life.do(tell)
        seen: set[str] = set()
        for _ in range(60):
            life.wait(1.0)
            until(page, '!document.querySelector("[data-state=free]")')  # boards take their time
            page.awaited(DRAWN)
            seen |= set(page.value(RESULTS))
        expected = {",".join(points_in_order(game.head)) for game in games}
        assert seen == expected
        assert page.value(RESULTS) != []  # the last results stay


def points_in_order(head: Head) -> list[str]:
    """Return the points of a result as the wall writes them: by rank."""
    assert not isinstance(head.points, msgspec.UnsetType)
    assert not isinstance(head.ranks, msgspec.UnsetType)
    ordered = sorted(zip(head.ranks, range(len(head.ranks)), head.points, strict=True))
    return [str(points).replace("-", "\u2212") for _, _, points in ordered]


def test_the_wall_says_how_many_matches_it_could_not_show(browser: Browser) -> None:
    game = golden("usa-2")

    def tell(show: Show) -> None:
        for number in range(60):
            show.match_listed(msgspec.structs.replace(game.head, match=f"fast-{number}"))

    with connected(tables=2) as (life, show), opened(browser, life.port, "wall") as page:
        until(page, f'{KIND} === "live"')
        life.do(partial(tell, show))
        life.wait(1.0)
        until(page, 'document.querySelector(".wall-counts").textContent.includes("too fast to show")')
        assert "60 ended" in page.value('document.querySelector(".wall-counts").textContent')


BOXES: Final = """\
Array.from(document.querySelectorAll(".wall-table"), (table) => table.getBoundingClientRect())
  .map(({ left, top, right, bottom }) => [left, top, right, bottom])
"""


@pytest.mark.parametrize("tables", [1, 2, 4, 9])
def test_the_wall_uses_its_whole_screen_and_names_are_large(browser: Browser, tables: int) -> None:
    with hall(tables) as (life, _), opened(browser, life.port, "wall", width=1920, height=1080) as page:
        until(page, f'{KIND} === "live"')
        life.wait(2.0)
        until(page, f'document.querySelectorAll("[data-state=match]").length === {min(tables, 9)}')
        for width, height in ((1920, 1080), (3840, 2160)):
            page.resize(width, height, "dark")
            page.awaited(DRAWN)
            boxes = page.value(BOXES)
            assert len(boxes) == tables
            assert max(box[2] for box in boxes) <= width
            assert max(box[3] for box in boxes) <= height
            area = sum((right - left) * (bottom - top) for left, top, right, bottom in boxes)
            assert area > 0.85 * width * height
            letters = page.value(
                'Math.min(...Array.from(document.querySelectorAll(".wall-name .name"), (name) =>'
                " parseFloat(getComputedStyle(name).fontSize)))"
            )
            assert letters >= 0.022 * height  # 24 pixels of 1080 can be read from ten meters away


def test_a_wall_after_a_gap_shows_the_same_matches_without_beginning_anew(browser: Browser) -> None:
    with hall(4) as (life, show), opened(browser, life.port, "wall") as page:
        until(page, f'{KIND} === "live"')
        life.wait(2.0)
        until(page, 'document.querySelectorAll("[data-state=match]").length === 4')
        page.value('globalThis.kept = [...document.querySelectorAll(".wall-board > *")]')
        before = page.value(SHOWN)
        life.do(show.wall.begin_anew)
        life.wait(2.0)
        until(page, f"JSON.stringify({SHOWN}) !== {json.dumps(json.dumps(before, separators=(',', ':')))}")
        assert page.value("kept.every((board) => board.isConnected)")


ROWS: Final = 'document.querySelectorAll(".match-row").length'


def test_the_overview_draws_only_what_has_changed_and_keeps_only_what_is_listed(browser: Browser) -> None:
    """A thousand matches begin and end while a visitor has the focus on one that goes on."""
    game = golden("usa-2")
    running = msgspec.structs.replace(
        game.head, state="running", points=msgspec.UNSET, ranks=msgspec.UNSET, turn=1, page=False
    )

    def rush(show: Show, first: int) -> None:
        for number in range(first, first + 100):
            show.match_listed(msgspec.structs.replace(running, match=f"m{number}"))
        for number in range(first, first + 100):
            show.match_listed(msgspec.structs.replace(game.head, match=f"m{number}"))

    with showing() as (life, show), opened(browser, life.port, "") as page:
        life.do(partial(show.connected, True))
        life.do(partial(show.match_listed, msgspec.structs.replace(running, match="long")))
        life.wait(1.0)
        until(page, "document.querySelector('a[href=\"/match/long\"]')")
        page.value("(globalThis.kept = document.querySelector('a[href=\"/match/long\"]')).focus()")
        for first in range(0, 1000, 100):
            life.do(partial(rush, show, first))
            life.do(partial(show.match_listed, msgspec.structs.replace(running, match="long", turn=first)))
            life.wait(0.5)
            words = f"turn {first}" if first else "turn 0"
            until(page, f"kept.textContent.includes({json.dumps(words)})")
        until(page, 'document.querySelector(".over-pane .of").textContent === "100 of 1000"')
        assert page.value("document.activeElement === kept")
        assert page.value(ROWS) == 101


def test_a_screen_reader_is_not_told_of_every_move_of_a_live_match(browser: Browser) -> None:
    with hall() as (life, _), opened(browser, life.port, LIVE_MATCH) as page:
        begin(life, page, LIVE_MATCH)
        page.value(
            "globalThis.told = 0; new MutationObserver((all) => (told += all.length)).observe("
            'document.getElementById("said"), { childList: true, characterData: true, subtree: true })'
        )
        newest = 'Number(document.querySelector(".slider").max)'
        before = page.value(newest)
        for _ in range(10):
            life.wait(0.2)
            page.awaited(DRAWN)
        until(page, f"{newest} > {before} + 30")
        assert page.value("told") <= 1
        page.value(
            'document.querySelector(".step.moveBack").click()'
        )  # what somebody asks for is said at once
        until(page, "told > 0")
        assert page.value('document.querySelector(".live-mark").title') == "1 move behind"


def test_a_match_that_is_over_has_its_result_and_leads_to_the_whole_replay(browser: Browser) -> None:
    with hall() as (life, _), opened(browser, life.port, "match/usa-5") as page:
        begin(life, page, "match/usa-5")
        assert page.value(KIND) == "over"
        assert page.value('document.querySelector(".live-mark").hidden')
        assert page.value('document.querySelector(".whole-page").getAttribute("href")') == "/replay/usa-5"
        assert "After 227 turns" in page.value('document.querySelector(".result").textContent')
        assert (
            page.value('document.querySelector("#viewer")') is None
        )  # nobody sees more than the public here


def test_each_announcement_of_the_organizer_is_a_line_of_text(browser: Browser) -> None:
    texts = ["The final begins at eight.", "<b>Well</b> played."]
    state = {"title": "Cup", "played": 4, "disqualified": ["zed"], "paused": True, "announcements": texts}
    lines = ["Disqualified: zed. Paused: no block begins.", *texts]
    with connected() as (life, show), opened(browser, life.port, "") as page:
        life.do(partial(show.tournament, state))
        life.wait(1.0)
        notes = 'document.querySelector(".progress .notes")'
        until(page, f"{notes}?.innerText === {json.dumps(chr(10).join(lines))}")


def test_names_are_text_whatever_they_contain(browser: Browser) -> None:
    """A server elsewhere may let names pass that no page should."""
    name = '<img src=x onerror="document.title=1">'
    game = golden("usa-2")
    players = tuple(msgspec.structs.replace(player, name=name) for player in game.head.players)
    head = msgspec.structs.replace(game.head, players=players)
    start = msgspec.json.encode(msgspec.json.decode(game.start) | {"players": msgspec.to_builtins(players)})

    def tell(show: Show) -> None:
        show.connected(True)
        show.match_listed(head)
        show.started(head.match, start)
        show.happened(head.match, game.events)
        show.ended(head.match, game.end)

    with showing() as (life, show):
        life.do(partial(tell, show))
        life.wait(1.0)
        for path, ready in (
            ("", "!document.querySelector('main').hidden"),
            ("match/usa-2", "document.querySelector('.caption-words p')"),
            ("wall", "document.querySelector('[data-state=match]')"),
        ):
            with opened(browser, life.port, path) as page:
                until(page, f'{KIND} === "live" || {KIND} === "over"')
                life.wait(1.0)
                until(page, ready)
                assert page.value("document.querySelectorAll('img').length") == 0
                assert name in page.value("document.body.textContent")
