"""The report in a real browser: it opens without an error, asks for nothing, fits, and its script works."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from stellwerk_processes.faults import Fault
from tests import tools
from tests.browser import Browser, Page, started
from tests.tournament.report.report_tournaments import Played, line, played, settings_for

pytestmark = tools.needs("chromium")

ELO = "Array.from(document.querySelectorAll('.ranking tbody tr'), row => row.cells[2].textContent)"
PHONE, PROJECTOR = (360, 800), (1920, 1080)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with started(tools.browser(), tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Make reports, by the number of bots. Many bots play at tables of four, so that there are not too many
    matches."""
    files: dict[int, Path] = {}
    for bots, deals, games in (
        (2, 1, (("usa", 2),)),
        (4, 6, (("usa", 2), ("card_game", 3))),
        (12, 2, (("usa", 2), ("team_asia", 4))),
        (200, 2, (("united_kingdom", 4),)),
    ):
        folder = tmp_path_factory.mktemp(f"bots-{bots}")
        files[bots] = folder / "report.html"
        files[bots].write_bytes(played(folder, bots, deals, games).report())
    return files


@pytest.mark.parametrize("bots", [2, 12, 200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, PROJECTOR])
def test_a_report_opens_without_complaints_or_requests_and_does_not_scroll_sideways(
    browser: Browser, reports: dict[int, Path], bots: int, scheme: str, size: tuple[int, int]
) -> None:
    page = Page(browser, reports[bots], *size, scheme)
    assert page.complaints == []
    assert page.requests == [reports[bots].as_uri()] or page.requests == [reports[bots].as_uri(), "data:,"]
    assert page.value("document.documentElement.scrollWidth") <= size[0]
    assert page.value("document.querySelectorAll('.ranking tbody tr').length") == bots
    assert page.value("matchMedia('(prefers-color-scheme: dark)').matches") == (scheme == "dark")


CUT_OFF = """\
Array.from(document.querySelectorAll('.plot > svg, .span'), each => {
  const box = each.getBoundingClientRect();
  const room = each.closest('.scroll').getBoundingClientRect();
  const fits = box.width >= 50 && box.left >= room.left && box.right <= room.right;
  const where = `${each.tagName} of ${each.closest('section').id}`;
  return fits ? '' : `${where}: ${box.width} wide, ${box.right - room.right} too far`;
}).filter(each => each)
"""


@pytest.mark.parametrize("bots", [2, 4, 12])
@pytest.mark.parametrize("width", [360, 390, 1280, 1920])
def test_no_interval_is_cut_off(browser: Browser, reports: dict[int, Path], bots: int, width: int) -> None:
    """Neither its figures nor its drawing, before anything is scrolled."""
    page = Page(browser, reports[bots], width, 800)
    assert page.value("document.querySelectorAll('.ranking .interval').length") == bots
    assert page.value("document.querySelectorAll('#effects .interval').length") > 0
    assert page.value(CUT_OFF) == []


def test_a_cell_of_the_cross_table_leads_to_the_results_of_the_two(
    browser: Browser, reports: dict[int, Path]
) -> None:
    """They are folded away until then."""
    page = Page(browser, reports[12])
    row = "document.querySelector('#bot-2-5')"
    assert page.value(f"{row}.checkVisibility()") is False
    page.click(".cross a[href='#bot-2-5']")
    assert page.value("location.hash") == "#bot-2-5"
    assert page.value(f"{row}.checkVisibility()") is True
    top = page.value(f"{row}.getBoundingClientRect().top")
    assert 0 <= top < page.value("innerHeight")
    names = page.value("Array.from(document.querySelectorAll('.ranking th.name'), cell => cell.textContent)")
    assert page.value(f"{row}.cells[0].textContent") == names[4]
    assert names[1] in page.value(f"{row}.closest('details').querySelector('summary').textContent")
    assert page.complaints == []


def test_a_page_that_is_wrong_is_complained_of(browser: Browser, tmp_path: Path) -> None:
    """Without this, a page without complaints would prove nothing."""
    wrong = tmp_path / "wrong.html"
    wrong.write_text("<!DOCTYPE html><script>missing()</script><img src='nothing.png'>")
    page = Page(browser, wrong)
    assert {event["method"] for event in page.complaints} == {"Runtime.exceptionThrown", "Log.entryAdded"}
    assert len(page.requests) == 2


def test_a_click_on_a_head_sorts_by_value_and_another_one_the_other_way_round(
    browser: Browser, reports: dict[int, Path]
) -> None:
    page = Page(browser, reports[12])
    best_first = page.value(ELO)
    assert best_first[-1].startswith("\N{MINUS SIGN}")
    head = ".ranking thead th:nth-child(3)"
    page.click(f"{head} button")
    assert page.value(ELO) == best_first
    assert page.value(f"document.querySelector('{head}').getAttribute('aria-sort')") == "descending"
    page.click(f"{head} button")
    assert page.value(ELO) == best_first[::-1]
    assert page.value(f"document.querySelector('{head}').getAttribute('aria-sort')") == "ascending"
    page.click(".ranking thead th:nth-child(2) button")
    names = page.value(
        "Array.from(document.querySelectorAll('.ranking tbody tr'), row => row.cells[1].textContent)"
    )
    assert names == sorted(names)
    assert page.value(f"document.querySelector('{head}').hasAttribute('aria-sort')") is False
    assert page.complaints == []


def test_a_head_can_be_reached_and_pressed_with_the_keyboard(
    browser: Browser, reports: dict[int, Path]
) -> None:
    page = Page(browser, reports[12])
    page.value("document.querySelector('.ranking thead th:nth-child(6) button').focus()")
    for kind in ("keyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r")
    sort = "document.querySelector('.ranking thead th:nth-child(6)').getAttribute('aria-sort')"
    assert page.value(sort) == "descending"


def test_groups_stay_apart_when_they_are_sorted(browser: Browser, tmp_path: Path) -> None:
    settings = settings_for(tmp_path, ["a", "b", "x", "y"])
    tables = [("a", "b"), ("x", "y")]
    lines = tuple(
        line(2 * deal + number, 0, table, [60 + deal, 61], "usa")
        for deal in range(3)
        for number, table in enumerate(tables)
    )
    file = tmp_path / "report.html"
    file.write_bytes(Played(settings, lines).report())
    page = Page(browser, file)
    page.click(".ranking thead th:nth-child(2) button")
    page.click(".ranking thead th:nth-child(2) button")
    bodies = page.value(
        "Array.from(document.querySelector('.ranking').tBodies,"
        "body => Array.from(body.rows, row => (row.cells[1] || row.cells[0]).textContent))"
    )
    assert [body[1:] for body in bodies] == [["b", "a"], ["y", "x"]]
    assert [body[0].split(":")[0] for body in bodies] == ["Group 1", "Group 2"]


def test_a_cell_that_is_pointed_at_says_who_met_whom(browser: Browser, tmp_path: Path) -> None:
    settings = settings_for(tmp_path, ["lion", "lamb"])
    file = tmp_path / "report.html"
    lines = (line(0, 0, ("lion", "lamb"), [9, 3]), line(0, 1, ("lamb", "lion"), [5, 5]))
    file.write_bytes(Played(settings, lines).report())
    page = Page(browser, file)
    page.click(".cross tbody tr:nth-child(2) td:nth-child(2)")
    caption = page.value("document.getElementById('pointed').textContent")
    assert caption == "lamb against lion: 25 % of 2 matches"


def test_the_numbers_of_many_bots_are_shown_by_a_box_that_needs_no_script(
    browser: Browser, reports: dict[int, Path]
) -> None:
    page = Page(browser, reports[200], *PROJECTOR)
    size = "parseFloat(getComputedStyle(document.querySelector('.cross td[data-n]')).fontSize)"
    width = "document.querySelector('.cross').getBoundingClientRect().width"
    assert page.value(size) == 0
    assert page.value(width) <= PROJECTOR[0]
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.click("#numbers")
    assert page.value(size) >= 12
    assert page.value(width) > 200 * 30


def test_the_matches_can_be_searched(browser: Browser, reports: dict[int, Path]) -> None:
    page = Page(browser, reports[12])
    visible = "Array.from(document.querySelectorAll('.filtered tbody tr')).filter(row => !row.hidden)"
    everything = page.value(f"{visible}.length")
    page.click("input[type=search]")
    page.type("Locomotive")
    visible_count = page.value(f"{visible}.length")
    assert 0 < visible_count < everything
    assert page.value(f"{visible}.every(row => row.textContent.includes('locomotive'))")


def test_what_a_bot_prints_runs_nowhere(browser: Browser, tmp_path: Path) -> None:
    attack = "</pre><script>document.title='hacked'</script><img src=x onerror=\"document.title='hacked'\">"
    settings = replace(settings_for(tmp_path, ["a", "b"]), title=attack)
    fault = Fault("crash", 1, attack, (attack,))
    file = tmp_path / "report.html"
    file.write_bytes(Played(settings, (line(0, 0, ("a", "b"), [1, 2], faults=(fault,)),)).report())
    page = Page(browser, file)
    assert page.complaints == []
    assert page.value("document.title") == attack
    assert page.value("document.scripts.length + document.images.length") == 1
    assert attack in page.value("document.querySelector('pre').textContent")


def test_programs_that_read_aloud_find_the_heads_of_rows_and_columns(
    browser: Browser, reports: dict[int, Path]
) -> None:
    page = Page(browser, reports[2])
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    heads = {
        role: [node["name"]["value"] for node in nodes if node.get("role", {}).get("value") == role]
        for role in ("rowheader", "columnheader")
    }
    assert {"planner", "1 planner"} <= set(heads["rowheader"])
    assert {"bot", "Elo", "95 % interval", "2 greedy"} <= set(heads["columnheader"])
