"""Live pages in a real browser: a real server, a real web process, real matches, and processes that die."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from stellwerk_tournament.report.derived import RATINGS
from tests import tools
from tests.browser import Browser, Message, Page
from tests.command.program import SECONDS
from tests.command.tournament.test_tournament import FOUR, cup, started
from tests.tournament.play.test_remote import read
from tests.web_pages.live_processes import Player, playing, serving, watching
from tests.web_pages.opening import KIND, opened, until

pytestmark = [tools.needs("chromium"), pytest.mark.xdist_group("match page")]

FIGURES: Final = """\
JSON.stringify(Array.from(document.querySelectorAll(".seat-item"), (seat) => {
  return Array.from(seat.querySelectorAll(".seat-points b, .figures b"), (figure) => figure.textContent);
}))"""
TOTALS: Final = 'Array.from(document.querySelectorAll(".scores .total td"), (cell) => cell.textContent)'
AWAY: Final = 'document.querySelector(".connection-words").textContent.includes("away")'
PLACE: Final = 'document.querySelector(".slider").value'


OFFER: Final = """\
import(%s + "/connection.mjs").then(({ createReloadOffer }) => {
  const offer = createReloadOffer();
  for (const version of ["0123456789abcdef", "0123456789abcdef"]) offer.show(version);
  return [offer.element.textContent, offer.element.querySelectorAll("button").length];
})
"""

RANKED: Final = """\
Array.from(document.querySelectorAll(".ranking-pane tbody tr"), (row) => {
  return [row.querySelector("a").textContent, row.querySelector("td:nth-child(3) b").textContent];
})
"""


def until_listed(overview: Page, player: Player) -> None:
    """Wait until the web process has heard of a match: before, its page is not found."""
    until(overview, f'document.querySelector("a[href=\\"/match/{player.match}\\"]")')


@contextmanager
def opened_when_listed(browser: Browser, port: int, overview: Page, player: Player) -> Generator[Page]:
    until_listed(overview, player)
    with opened(browser, port, f"match/{player.match}", is_cut_off=True) as page:
        yield page


def figures(view: Message) -> list[list[str]]:
    names = ("points", "trains", "hand_count", "ticket_count")
    return [[str(seat[name]) for name in names] for seat in view["players"]]


def until_it_shows(page: Page, player: Player) -> None:
    """Wait until the page has the numbers that the player knows of all seats."""
    until(page, f"{FIGURES} === {json.dumps(json.dumps(figures(player.view), separators=(',', ':')))}")


def test_a_match_is_shown_from_its_first_event_to_its_last(browser: Browser, tmp_path: Path) -> None:
    with (
        serving(tmp_path) as server,
        watching(f"127.0.0.1:{server.port}") as web,
        playing(server.port) as player,
        opened(browser, web.port, "") as overview,
    ):
        until_listed(overview, player)
        with opened(browser, web.port, f"match/{player.match}") as page:
            until(page, 'document.querySelector(".live-mark")?.dataset.live === "true"')
            until_it_shows(page, player)
            while player.move():
                until_it_shows(page, player)
            assert player.end is not None
            until(page, f'{KIND} === "over"')
            result = player.end["result"]
            until(
                page,
                f'document.querySelector(".result").textContent.includes("After {result["turns"]} turns")',
            )
            points = page.value(
                'Array.from(document.querySelectorAll(".scores .total td"), (td) => td.textContent)'
            )
            teams = sorted(result["teams"], key=lambda team: team["rank"])
            assert points == [str(team["points"]).replace("-", "\u2212") for team in teams]
        until(overview, f'document.querySelector(".over-pane a[href=\\"/match/{player.match}\\"]")')
        until(overview, f'document.querySelector(".ranking-pane").textContent.includes("{player.name}")')


def test_whoever_went_back_stays_there_when_the_web_process_is_killed_and_started_again(
    browser: Browser, tmp_path: Path
) -> None:
    with serving(tmp_path) as server, playing(server.port) as player:
        source = f"127.0.0.1:{server.port}"
        player.move(8)
        with (
            watching(source) as first,
            opened(browser, first.port, "", is_cut_off=True) as overview,
            opened_when_listed(browser, first.port, overview, player) as page,
        ):
            until(page, 'document.querySelector(".live-mark")?.dataset.live === "true"')
            until_it_shows(page, player)
            for _ in range(3):
                page.value('document.querySelector(".step.turnBack").click()')
            place, before = page.value(PLACE), page.value(FIGURES)
            first.kill()
            until(page, f'{KIND} === "lost"')
            assert "trying again in" in page.value('document.querySelector(".connection").textContent')
            player.move(4)
            newest = 'Number(document.querySelector(".slider").max)'
            length = page.value(newest)
            with watching(source, first.port):
                until(page, f'{KIND} === "live" && {newest} > {length}')
                assert (page.value(PLACE), page.value(FIGURES)) == (place, before)
                page.value('document.querySelector(".live-mark").click()')
                until_it_shows(page, player)
                player.move()
                until_it_shows(page, player)
                until(overview, f'{KIND} === "live"')
                until_listed(overview, player)


def test_the_page_goes_on_when_the_server_is_killed_and_started_again(
    browser: Browser, tmp_path: Path
) -> None:
    with (
        serving(tmp_path) as first,
        watching(f"127.0.0.1:{first.port}") as web,
        playing(first.port) as player,
    ):
        player.move(5)
        with opened(browser, web.port, "") as overview:
            until_listed(overview, player)
        with opened(browser, web.port, f"match/{player.match}", is_cut_off=True) as page:
            until(page, 'document.querySelector(".live-mark")?.dataset.live === "true"')
            until_it_shows(page, player)
            place = page.value(PLACE)
            first.kill()
            until(page, AWAY)
            assert page.value(PLACE) == place
            with serving(tmp_path, first.port) as second:
                player.resume(second.port)
                until(page, f'{KIND} === "live" && !{AWAY}')
                until_it_shows(page, player)
                player.move(3)
                until_it_shows(page, player)


def test_a_page_of_another_version_offers_to_be_loaded_again(browser: Browser, tmp_path: Path) -> None:
    with (
        serving(tmp_path) as server,
        watching(f"127.0.0.1:{server.port}") as web,
        opened(browser, web.port, "") as page,
    ):
        until(page, f'{KIND} === "live"')
        assert page.value('document.querySelector(".reload").textContent') == ""
        folder: str = page.value("document.scripts[0].src").rpartition("/")[0]
        offered = page.awaited(OFFER % json.dumps(folder))
        assert offered == ["The server has a newer version of this page. Load the page again", 1]


def test_a_tournament_is_watched_to_its_end(browser: Browser, tmp_path: Path) -> None:
    """What stays on the page, when runner and web process have gone, are the figures of `ratings.json`."""
    folder = cup(tmp_path / "cup", FOUR, "concurrency = 2\n[schedule]\nrounds = 30")
    with started("run", folder, "--web", "0", "--seed", "s") as process:
        port = int(read(process, "live_pages")["url"].rstrip("/").rpartition(":")[2])
        with opened(browser, port, "", is_cut_off=True) as page:
            until(page, 'document.querySelector(".over-pane a")')
            read(process, "ended")
            assert process.wait(SECONDS) == 0
            until(page, 'document.body.textContent.includes("the tournament is over")')
            assert "360 of 360" in page.value('document.querySelector("main").textContent')
            ranked = page.value(RANKED)
    entrants = json.loads((folder / RATINGS).read_text())["entrants"]
    assert ranked == [[each["name"], str(round(each["elo"])).replace("-", "\u2212")] for each in entrants]
