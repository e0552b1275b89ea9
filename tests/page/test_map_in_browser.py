"""The map, the table and the charts in a real browser: they show the view, to eyes, pointers and keys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from stellwerk_page.one_file import MAIN, page_of
from tests import tools
from tests.browser import Browser, Page
from tests.page.test_one_file import GAMES

pytestmark = [tools.needs("chromium"), pytest.mark.xdist_group("match page")]

# Instead of the page's own: the drawing alone, and hands for the test to move it with.
SCRIPT: Final = Path(__file__).with_name("drawing_alone.mjs").read_text("utf-8")
# The browser moves the focus only for a key with its number.
KEYS: Final[dict[str, dict[str, object]]] = {
    "Tab": {"key": "Tab", "windowsVirtualKeyCode": 9},
    "ArrowLeft": {"key": "ArrowLeft"},
    "ArrowRight": {"key": "ArrowRight"},
    "Enter": {"key": "Enter"},
    "-": {"key": "-"},
    "0": {"key": "0"},
}
BY_NAME: Final = {game.stem: game for game in GAMES}


class Drawn(Page):
    """A page that has the drawing of a recorded game, and nothing else."""

    def __init__(
        self,
        browser: Browser,
        folder: Path,
        game: str,
        *,
        width: int = 1280,
        height: int = 800,
        more: str = "",
    ) -> None:
        text = page_of(BY_NAME[game].read_bytes(), "game.jsonl", "1")
        script = f'<script type="module">\nimport "{MAIN}";\n'
        assert text.count(script) == 1
        file = folder / "game.html"
        file.write_text(text.replace(script, f'<script type="module">{SCRIPT}{more}'), "utf-8")
        super().__init__(browser, file, width, height)
        assert self.value("typeof test") == "object", self.complaints

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, **KEYS[key])

    def mouse(self, kind: str, x: float, y: float, **more: object) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def settle(self) -> None:
        """Wait until what the page was asked for is on the screen."""
        self.call(
            "Runtime.evaluate",
            expression="new Promise((done) => requestAnimationFrame(() => setTimeout(done)))",
            awaitPromise=True,
        )


@pytest.mark.parametrize(
    "game", ["usa-5", "team_asia-6", "europe-5", "united_kingdom-4-advanced_technologies"]
)
def test_each_track_shows_its_owners_by_color_stripes_and_digit(
    browser: Browser, tmp_path: Path, game: str
) -> None:
    """Whatever was shown before: jumps go back and forth."""
    page = Drawn(browser, tmp_path, game)
    count = page.value("test.count")
    for n in (count, 0, count // 2, count // 3):
        owners, drawn = page.value(
            f"""(() => {{
              test.show({n});
              const drawn = {{}};
              for (const track of test.all(".track.owned")) {{
                const seats = [...track.querySelectorAll(".digit")];
                const wagons = track.querySelectorAll(".wagon").length / seats.length;
                const length = test.board.routes.find((route) => route.id === track.dataset.route).length;
                if (wagons === length && seats.every((seat) => seat.dataset.seat === seat.textContent))
                  drawn[track.dataset.route] = seats.map((seat) => Number(seat.textContent));
              }}
              return [test.owners({n}), drawn];
            }})()"""
        )
        assert drawn == owners
        assert bool(owners) == (n > 0)
    assert (
        page.value("new Set(test.all('.track .wagon').map((each) => getComputedStyle(each).fill)).size") > 1
    )
    assert page.complaints == []


def test_owners_of_one_track_lie_side_by_side(browser: Browser, tmp_path: Path) -> None:
    """UK-21: a route that was claimed with Right of Way has two owners."""
    page = Drawn(browser, tmp_path, "united_kingdom-2-advanced_technologies-buying")
    digits = page.value(
        """(() => {
          const view = structuredClone(test.positions.view("all_hands", test.count));
          const shared = view.players[0].routes[0];
          view.players[1].routes.push(shared);
          test.drawing.show(view);
          return [...test.track(shared).querySelectorAll(".digit")].map((each) => {
            const box = each.getBoundingClientRect();
            return [each.textContent, box.x, box.y];
          });
        })()"""
    )
    assert [digit for digit, *_ in digits] == ["0", "1"]
    assert abs(digits[0][1] - digits[1][1]) + abs(digits[0][2] - digits[1][2]) > 5


def test_only_the_last_move_moves_and_only_if_it_may(browser: Browser, tmp_path: Path) -> None:
    page = Drawn(browser, tmp_path, "usa-2")
    n = page.value("test.first('route_claimed', ({trains}) => trains > 1)")
    moving = "(() => {{ test.show({n}, {{animate: {animate}}}); return document.getAnimations().length; }})()"
    page.value(f"test.show({n - 1})")
    assert page.value(moving.format(n=n, animate="false")) == 0
    page.value(f"test.show({n - 1})")
    trains = page.value(f"test.positions.events('all_hands', {n}).find(({{trains}}) => trains).trains")
    assert page.value(moving.format(n=n, animate="true")) == trains
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    page.value("document.getAnimations().forEach((each) => each.cancel())")
    page.value(f"test.show({n - 1})")
    assert page.value(moving.format(n=n, animate="true")) == 0


def test_the_trail_has_the_claims_that_it_is_given(browser: Browser, tmp_path: Path) -> None:
    page = Drawn(browser, tmp_path, "usa-5")
    n = page.value("test.first('route_claimed')")
    page.value(f"test.show({n}, {{trail: [{{route: 'boston-montreal-1', seat: 3}}]}})")
    assert page.value("test.all('.halos .trail').map((each) => each.dataset.seat ?? 'newest')") == [
        "newest",
        "3",
    ]
    page.value("test.show(0)")
    assert page.value("test.all('.halos .trail').length") == 0


def test_light_comes_and_goes_and_dims_nothing(browser: Browser, tmp_path: Path) -> None:
    page = Drawn(browser, tmp_path, "usa-2")
    page.value("test.show(test.count)")
    before = page.value("document.querySelector('.tracks').outerHTML")
    page.value("test.drawing.light(['dallas-el_paso', 'unknown'], ['dallas'])")
    assert page.value("test.all('.halos .light').length") == 2
    assert page.value("test.all('.cities .light').length") == 2
    assert page.value("document.querySelector('.tracks').outerHTML") == before
    page.value("test.drawing.light([])")
    assert page.value("test.all('.light:not(.map-legend *)').length") == 0


@pytest.mark.parametrize(
    ("game", "kind"), [("europe-5", "tunnel_tried"), ("team_asia-6", "tunnel_abandoned")]
)
def test_the_cards_that_a_tunnel_has_turned_lie_beside_it(
    browser: Browser, tmp_path: Path, game: str, kind: str
) -> None:
    page = Drawn(browser, tmp_path, game)
    n = page.value(f"test.first('{kind}')")
    page.value(f"test.show({n})")
    turned = page.value(
        f"Object.values(test.positions.events('all_hands', {n}).find((each) => each.revealed).revealed)"
    )
    assert page.value("test.all('.turned .card-shape').length") == sum(turned)
    page.settle()
    heights = page.value("test.all('.turned .card-shape').map((each) => each.getBoundingClientRect().height)")
    assert min(heights) >= 20  # they are drawn again for the size of the page
    inside: dict[str, Any] = page.value(
        """(() => {
          const boxOf = (each) => document.querySelector(each).getBoundingClientRect();
          const [panel, map] = [".panel", ".map"].map(boxOf);
          return {left: panel.left >= map.left, right: panel.right <= map.right, top: panel.top >= map.top,
                  bottom: panel.bottom <= map.bottom};
        })()"""
    )
    assert all(inside.values()), inside
    page.value("test.show(0)")
    assert page.value("test.all('.turned *').length") == 0


def test_the_legend_explains_the_signs_of_the_board_and_no_others(browser: Browser, tmp_path: Path) -> None:
    words = "test.all('.map-legend li').map((each) => each.lastChild.textContent.trim())"
    asia = Drawn(browser, tmp_path, "team_asia-4").value(words)
    usa = Drawn(browser, tmp_path, "usa-2").value(words)
    assert {"a tunnel: n cards are turned", "a junction", "the length is doubtful"} <= set(asia)
    assert "red" in usa
    assert not any("tunnel" in each or "ferry" in each for each in usa)


def test_stations_stand_in_their_cities(browser: Browser, tmp_path: Path) -> None:
    page = Drawn(browser, tmp_path, "europe-5")
    page.value("test.show(test.count)")
    drawn = "test.all('.station').map((each) => [Number(each.textContent), each.dataset.city])"
    built = """test.positions.view('all_hands', test.count).players
      .flatMap(({seat, stations}) => stations.map((city) => [seat, city]))"""
    assert page.value(drawn) == page.value(built) != []


# -- pointer and keys --------------------------------------------------------------------------------


def middle_of(page: Page, selector: str) -> tuple[float, float]:
    x, y = page.value(
        f"(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
        "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
    )
    return x, y


def test_a_click_chooses_a_track_and_a_drag_does_not(browser: Browser, tmp_path: Path) -> None:
    page = Drawn(browser, tmp_path, "usa-2")
    page.value("test.show(test.count)")
    x, y = middle_of(page, "[data-route='calgary-winnipeg'] .reach")
    page.mouse("mousePressed", x, y, button="left", clickCount=1)
    page.mouse("mouseReleased", x, y, button="left", clickCount=1)
    assert page.value("test.calls") == ["calgary-winnipeg"]
    page.mouse("mousePressed", x, y, button="left", clickCount=1, buttons=1)
    page.mouse("mouseMoved", x + 40, y + 5, button="left", buttons=1)
    page.mouse("mouseReleased", x + 40, y + 5, button="left", clickCount=1)
    assert page.value("test.calls") == ["calgary-winnipeg"]


def test_keys_walk_from_track_to_track(browser: Browser, tmp_path: Path) -> None:
    """The map is one stop of the tab key; arrows go to the next track, Enter chooses it."""
    page = Drawn(browser, tmp_path, "usa-2")
    page.value("test.show(test.count)")
    assert page.value("test.all('.track[tabindex=\"0\"]').length") == 1
    page.press("Tab")
    begin = page.value("document.activeElement.dataset.route")
    x, _ = middle_of(page, f"[data-route='{begin}'] .reach")
    page.press("ArrowLeft")
    end = page.value("document.activeElement.dataset.route")
    assert end != begin
    assert middle_of(page, f"[data-route='{end}'] .reach")[0] < x
    page.press("Enter")
    assert page.value("test.calls") == [end]
    assert page.value("document.activeElement.getAttribute('aria-label')").count(", ") >= 2


def test_after_a_click_the_arrows_belong_to_the_page(browser: Browser, tmp_path: Path) -> None:
    """Who clicks on a track and presses an arrow wants the next move of the match."""
    page = Drawn(browser, tmp_path, "usa-2")
    page.value("test.show(0); addEventListener('keydown', ({key}) => test.calls.push(key))")
    x, y = middle_of(page, "[data-route='calgary-winnipeg'] .reach")
    page.mouse("mousePressed", x, y, button="left", clickCount=1)
    page.mouse("mouseReleased", x, y, button="left", clickCount=1)
    page.press("ArrowRight")
    assert page.value("test.calls") == ["calgary-winnipeg", "ArrowRight"]


def test_buttons_wheel_and_keys_zoom_and_the_whole_map_comes_back(browser: Browser, tmp_path: Path) -> None:
    page = Drawn(browser, tmp_path, "usa-2")
    page.value("test.show(test.count)")
    page.settle()
    width = "Number(document.querySelector('.map-picture').getAttribute('viewBox').split(' ')[2])"
    whole = page.value(width)
    page.click(".map-tools button")
    nearer = page.value(width)
    assert nearer < whole
    page.mouse("mouseWheel", 600, 400, deltaX=0, deltaY=-300)
    page.settle()
    nearest = page.value(width)
    assert nearest < nearer
    page.press("-")
    assert nearest < page.value(width) < whole
    page.press("0")
    assert page.value(width) == whole
    opacities = (
        "[...new Set(test.all('.track, .names text, .city').map((each) => getComputedStyle(each).opacity))]"
    )
    assert page.value(opacities) == ["1"]


# -- sizes -------------------------------------------------------------------------------------------

HEIGHTS: Final = (
    "test.all('.names text').filter((each) => getComputedStyle(each).display !== 'none')"
    ".map((each) => each.getBoundingClientRect().height)"
)


@pytest.mark.parametrize("game", ["usa-5", "team_asia-6", "europe-5", "united_kingdom-4"])
def test_names_can_be_read_on_a_phone(browser: Browser, tmp_path: Path, game: str) -> None:
    page = Drawn(browser, tmp_path, game, width=390, height=700)
    page.value("test.show(test.count)")
    page.settle()
    assert min(page.value(HEIGHTS)) >= 10
    assert page.value("document.documentElement.scrollWidth") <= 390


def test_names_on_a_wall_can_be_read_from_afar(browser: Browser, tmp_path: Path) -> None:
    page = Drawn(browser, tmp_path, "usa-5", width=1920, height=1080)
    page.value("document.documentElement.className = 'stage'; test.drawing.element.style.height = '99vh'")
    page.settle()
    page.settle()
    assert min(page.value(HEIGHTS)) >= 24


def test_a_finger_moves_the_page_until_somebody_has_zoomed(browser: Browser, tmp_path: Path) -> None:
    """A map that fills a phone must not hold a reader who wants to go on."""
    page = Drawn(browser, tmp_path, "usa-5", width=390, height=500)
    page.settle()
    touch = "getComputedStyle(document.querySelector('.map')).touchAction"
    assert page.value(touch) == "pan-y"
    page.click(".map-tools button")
    assert page.value(touch) == "none"


def test_a_phone_follows_the_last_claim(browser: Browser, tmp_path: Path) -> None:
    page = Drawn(browser, tmp_path, "usa-5", width=390, height=500)
    page.settle()
    for n in range(1, 200):
        page.value(f"test.show({n})")
        outside = page.value(
            """test.all('.track.last .reach').filter((each) => {
              const box = each.getBoundingClientRect();
              return box.right < 0 || box.left > 390;
            }).length"""
        )
        assert outside == 0


# -- the table and the charts ------------------------------------------------------------------------


def test_the_table_shows_yards_and_stacks(browser: Browser, tmp_path: Path) -> None:
    page = Drawn(browser, tmp_path, "card_game-4")
    for part in (0.2, 0.5, 0.9):
        n = int(page.value("test.count") * part)
        page.value(f"test.show({n})")
        view: dict[str, Any] = page.value(f"test.positions.view('all_hands', {n})")
        sets = page.value(
            "test.all('.at-table').map((place) => [...place.querySelectorAll('.set')]"
            ".map((each) => [each.dataset.color, Number(each.querySelector('text.count').textContent)]))"
        )
        yards = [player.get("yard", []) for player in view["players"]]
        assert sets == [
            [[lying["color"], lying["cards"] + lying["locomotives"]] for lying in yard] for yard in yards
        ]
        stacks = page.value(
            "test.all('.stack').map((each) => each.querySelector('.card-face'))"
            ".map((each) => each?.getAttribute('aria-label') ?? null)"
        )
        for stack, player in zip(stacks, view["players"], strict=True):
            if player["stack_count"] and "stack" not in player:
                assert stack == f"{player['stack_count']} face down"
    assert page.complaints == []


def test_charts_are_a_table_too_and_a_click_jumps(browser: Browser, tmp_path: Path) -> None:
    page = Drawn(browser, tmp_path, "usa-3")
    page.call("Runtime.evaluate", expression="test.charts()", awaitPromise=True)
    x, y, width = page.value(
        "(() => { const box = document.querySelector('.chart svg[role]').getBoundingClientRect();"
        "return [box.x, box.y + box.height / 2, box.width]; })()"
    )
    page.mouse("mousePressed", x + width - 2, y, button="left", clickCount=1)
    page.mouse("mouseReleased", x + width - 2, y, button="left", clickCount=1)
    assert page.value("test.calls") == [page.value("test.count")]
    page.click(".numbers summary")
    page.settle()
    assert page.value("test.all('.numbers tbody tr').length") == page.value("test.series.positions.length")
    ends = page.value("test.all('.chart[data-chart=points] .legend b').map((each) => each.textContent)")
    points = page.value("test.positions.view('public', test.count).players.map(({points}) => String(points))")
    assert ends == points
    assert page.complaints == []


def test_a_chart_without_spoilers_has_nothing_of_later_turns(browser: Browser, tmp_path: Path) -> None:
    """Neither in its lines nor in its scale."""
    page = Drawn(browser, tmp_path, "usa-3")
    page.call("Runtime.evaluate", expression="test.charts()", awaitPromise=True)
    chart = "document.querySelector('.chart[data-chart=points] svg[role]')"
    page.value("test.charts.show(60, {hideLater: true})")
    hidden = page.value(f"{chart}.outerHTML")
    page.value(
        "test.series.charts.forEach(({values}) => values.forEach((of) => of.fill(99, "
        "test.series.positions.findIndex((n) => n > 60)))); test.charts.show(59, {hideLater: true});"
        "test.charts.show(60, {hideLater: true})"
    )
    assert page.value(f"{chart}.outerHTML") == hidden


def test_a_strange_name_is_a_name(browser: Browser, tmp_path: Path) -> None:
    """A board's names become text, whatever they say."""
    page = Drawn(
        browser,
        tmp_path,
        "usa-2",
        more="""
board.cities[0].name = "<img src=x onerror=alert(1)>";
board.title = '"><script>alert(1)<\\/script>';
drawing.element.replaceWith(createMap(board, layout, players).element);
""",
    )
    assert page.value("test.all('.names text')[0].textContent") == "<img src=x onerror=alert(1)>"
    assert page.value("test.all('.map img, .map script').length") == 0
    assert page.complaints == []
