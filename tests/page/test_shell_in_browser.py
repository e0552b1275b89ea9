"""The shell of the match page in a real browser: keys, address, viewers, strange files, the proof."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from stellwerk_page.one_file import page_of
from stellwerk_protocol.canonical import chained, encode, seal
from stellwerk_protocol.replays import FORMAT, Header, Reveal, commitment
from tests import tools
from tests.browser import Browser, Page
from tests.page.test_one_file import GAMES

pytestmark = [tools.needs("chromium"), pytest.mark.xdist_group("match page")]

BY_NAME: Final = {game.stem: game for game in GAMES}
USA: Final = BY_NAME["usa-2"].read_bytes()
EUROPE: Final = BY_NAME["europe-3"].read_bytes()
KEYS: Final = {
    "ArrowRight": 39,
    "ArrowLeft": 37,
    "Home": 36,
    "End": 35,
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    " ": 32,
}
SHIFT: Final = 8

Open = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Open:
    def open_page(replay: bytes, address: str = "", name: str = "game.jsonl") -> Page:
        file = tmp_path / "game.html"
        file.write_text(page_of(replay, name, "1"), "utf-8")
        page = Page(browser, file)
        if address:
            page.value(f"location.hash = {json.dumps(address)}")
            settle(page)
        return page

    return open_page


# -- a reader's hands --------------------------------------------------------------------------------


def press(page: Page, key: str, modifiers: int = 0) -> None:
    """Press a key, and let the page take it in."""
    text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
    code = KEYS.get(key, ord(key[0].upper()))
    about = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
    page.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **about)
    page.call("Input.dispatchKeyEvent", type="keyUp", **about)


def settle(page: Page) -> None:
    """Wait until the page has drawn."""
    awaited(page, "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


def awaited(page: Page, promise: str) -> Any:  # Any: JSON
    result = page.call("Runtime.evaluate", expression=promise, awaitPromise=True, returnByValue=True)
    assert "exceptionDetails" not in result, result
    return result["result"].get("value")


def until(page: Page, condition: str) -> None:
    """Wait for the change of the page, or of its address, that makes a condition true."""
    awaited(
        page,
        f"""new Promise((done) => {{
            const look = () => {{ if ({condition}) {{ observer.disconnect(); done(); }} }};
            const observer = new MutationObserver(look);
            const all = {{subtree: true, childList: true, attributes: true, characterData: true}};
            observer.observe(document, all);
            for (const each of ["replaceState", "pushState"]) {{
                const before = history[each];
                history[each] = function (...given) {{ before.apply(this, given); look(); }};
            }}
            addEventListener("hashchange", look);
            look();
        }})""",
    )


def position(page: Page) -> int:
    return int(page.value("document.querySelector('.slider').value"))


def text(page: Page, selector: str = "body") -> str:
    shown: str = page.value(f"document.querySelector({json.dumps(selector)}).innerText")
    return shown


# -- time and keys -----------------------------------------------------------------------------------


def test_all_steps_have_keys(opened: Open) -> None:
    page = opened(USA)
    page.value("document.activeElement.blur()")
    places = [position(page)]
    for key, modifiers in [
        ("ArrowRight", 0),
        ("ArrowRight", SHIFT),
        ("ArrowRight", SHIFT),
        ("]", 0),
        ("[", 0),
        ("n", 0),
        ("b", 0),
        ("ArrowLeft", 0),
        ("End", 0),
        ("Home", 0),
    ]:
        press(page, key, modifiers)
        places.append(position(page))
    assert places[:3] == [0, 1, 2]  # a move; then the turn, which is the set-up of two seats
    assert places[2] < places[3] < places[4]
    assert places[5] < places[4]
    assert places[6] > places[5] >= places[7]
    assert places[9:] == [len(USA.splitlines()) - 4, 0]
    assert page.complaints == []


def test_the_slider_keeps_the_focus_while_the_match_plays(opened: Open) -> None:
    page = opened(USA, "#speed=16")
    page.value("document.querySelector('.slider').focus()")
    press(page, "ArrowRight")
    assert position(page) == 1
    press(page, " ")
    until(page, "Number(document.querySelector('.slider').value) > 6")
    press(page, " ")
    assert page.value("document.activeElement.className") == "slider"
    assert page.value("document.querySelector('.step.play').getAttribute('aria-label')") == "Play"


def test_tab_goes_through_the_page_and_out_of_it(opened: Open) -> None:
    page = opened(USA, "#turn=20")
    page.value("document.body.focus()")
    reached: list[str] = []
    stop = "(({id, className, tagName}) => id || String(className) || tagName)(document.activeElement)"
    for _ in range(120):
        press(page, "Tab")
        reached.append(page.value(stop))
        if reached[-1] == "BODY":
            break
    assert reached[-1] == "BODY", reached  # nothing keeps the focus
    for stop in ("viewer", "hide", "slider", "turn", "speed", "story-filter", "commitment"):
        assert stop in reached, reached


def test_what_is_chosen_keeps_the_focus_when_its_pane_is_drawn_again(opened: Open) -> None:
    page = opened(USA, "#turn=20")
    page.value("document.querySelector('button.ticket').focus()")
    key = page.value("document.activeElement.dataset.key")
    press(page, "Enter")
    press(page, "ArrowRight", SHIFT)
    press(page, "ArrowRight", SHIFT)
    assert page.value("document.activeElement.dataset.key") == key
    assert page.value("document.activeElement.getAttribute('aria-pressed')") == "true"
    assert page.value("document.querySelectorAll('.map .light').length") > 0


def test_another_viewer_does_not_take_the_focus_from_the_story(opened: Open) -> None:
    page = opened(USA, "#turn=20")
    until(page, "document.querySelector('.entry.current button.go') !== null")
    page.value("document.querySelector('.entry.current button.go').focus()")
    press(page, "p")
    assert page.value("document.activeElement.className") == "story-scroller"


def test_keys_do_nothing_where_somebody_types(opened: Open) -> None:
    page = opened(USA)
    press(page, "g")
    assert page.value("document.activeElement.id") == "turn"
    for key in "12n":
        press(page, key)
    assert position(page) == 0
    page.value("document.activeElement.value = '12'")
    press(page, "Enter")
    settle(page)
    assert "Turn 12." in page.value("document.querySelector('.slider').getAttribute('aria-valuetext')")


def test_the_list_of_keys_opens_and_closes_with_keys(opened: Open) -> None:
    page = opened(USA)
    press(page, "?")
    assert "Next round" in text(page, "dialog[open]")
    assert "tunnels tried" in text(page, "dialog[open]")
    press(page, "ArrowRight")
    assert position(page) == 0
    press(page, "Escape")
    assert page.value("document.querySelector('dialog[open]') === null")


def test_a_screen_reader_hears_one_sentence_a_move(opened: Open) -> None:
    page = opened(USA, "#turn=1")
    heard = page.value("document.getElementById('said').textContent")
    assert heard.endswith(".")
    assert "seat " in heard
    press(page, "ArrowRight")
    assert page.value("document.getElementById('said').textContent") not in ("", heard)


# -- the address -------------------------------------------------------------------------------------


def test_the_address_is_the_whole_state_of_the_page(opened: Open) -> None:
    page = opened(USA, "#turn=30&view=1&speed=4")
    assert page.value("document.getElementById('turn').value") == "30"
    assert page.value("document.getElementById('viewer').value") == "1"
    assert page.value("document.getElementById('speed').value") == "4"
    press(page, "p")
    until(page, "location.hash.includes('view=public')")
    assert page.value("location.hash") == "#turn=30&view=public&speed=4"


def test_back_leads_to_where_a_jump_began(opened: Open) -> None:
    page = opened(USA, "#turn=30")
    press(page, "End")
    until(page, "!location.hash.includes('turn=30')")
    page.value("history.back()")
    until(page, "document.getElementById('turn').value === '30'")


def test_the_link_is_shown_if_the_browser_does_not_let_it_be_copied(opened: Open) -> None:
    page = opened(USA, "#turn=30")
    page.value("document.execCommand = () => false; navigator.clipboard.writeText = () => Promise.reject()")
    press(page, "c")
    until(page, "document.querySelector('.told input') !== null")
    link = page.value("document.querySelector('.told input').value")
    assert link.startswith("file://")
    assert link.endswith("#turn=30")


# -- who sees what -----------------------------------------------------------------------------------


def test_each_viewer_sees_their_own_tickets_and_no_others(opened: Open) -> None:
    page = opened(USA, "#turn=20")
    count = "document.querySelectorAll('button.ticket').length"
    everybody = page.value(count)
    press(page, "0")
    first = page.value(count)
    press(page, "1")
    second = page.value(count)
    press(page, "p")
    assert page.value(count) == 0
    assert first > 0 < second
    assert first + second == everybody
    assert "hidden ticket" in text(page, ".tickets-pane")
    assert "unknown" in text(page, ".seats-pane")


def test_without_spoilers_nothing_shows_what_comes(opened: Open) -> None:
    page = opened(USA, "#turn=20&hide")
    until(page, "document.querySelector('.verdict') !== null")
    end = json.loads(USA.splitlines()[-1])["result"]
    assert page.value("document.querySelector('.slider').max") == page.value(
        "document.querySelector('.slider').value"
    )
    assert page.value("document.querySelectorAll('.story .entry').length") == position(page) + 1
    everything = text(page)
    assert f"of {end['turns']}" not in everything
    assert str(len(USA.splitlines()) - 4) not in text(page, ".proof-status")
    assert page.value("document.querySelector('.scores') === null")
    press(page, "h")
    assert f"of {end['turns']}" in text(page)
    assert page.value("document.querySelector('.scores') !== null")


# -- files of all kinds ------------------------------------------------------------------------------


def changed(replay: bytes, number: int, change: Callable[[dict[str, Any]], object]) -> bytes:
    """Change a line, and make the chain of hashes whole again."""
    lines = [json.loads(line) for line in replay.splitlines()]
    change(lines[number - 1])
    return chain(lines)


def chain(lines: list[dict[str, Any]]) -> bytes:
    whole, previous = b"", FORMAT
    for line in lines:
        del line["hash"]
        body = encode(line)
        previous = chained(previous, body)
        whole += seal(body, previous)
    return whole


def test_names_and_notes_are_text_whatever_they_contain(opened: Open) -> None:
    evil = "<img src=x onerror=document.title='taken'><b>"
    replay = changed(
        USA, 1, lambda header: header.update(seats=[{"name": evil}, {"name": "\u202eevil\u0000"}])
    )
    replay = changed(replay, 12, lambda move: move.update(note=f"</script>{evil}"))
    page = opened(replay, "#turn=3", name=f"{evil}.jsonl")
    press(page, "Home")
    for _ in range(9):
        press(page, "ArrowRight")
    assert evil in text(page, "h1")
    assert page.value("document.querySelectorAll('img, .page b b, h1 b').length") == 0
    assert f"</script>{evil}" in text(page, ".caption")
    assert "\u202e" not in text(page)
    assert page.value("document.title").startswith("<img")
    assert page.complaints == []


@pytest.mark.parametrize(
    ("replay", "sentence"),
    [
        (b"", "The file is empty."),
        (b"hello\n", "Line 1 is not JSON."),
        (USA[: len(USA) // 2], "The match is shown up to move"),
        (
            USA.replace(b"stellwerk-replay/1", b"stellwerk-replay/9"),
            "The format of this file is stellwerk-replay/9",
        ),
        (
            USA.replace(b'"type":"card_drawn"', b'"type":"card_burnt"'),
            "an event that this page does not know",
        ),
        (
            USA.replace(b'"id":"usa"', b'"id":"mars"').replace(b"f9b931b3", b"00000000"),
            "The board mars of this file",
        ),
    ],
    ids=["empty", "junk", "torn", "future", "unknown event", "unknown board"],
)
def test_what_is_wrong_with_a_file_is_a_sentence(opened: Open, replay: bytes, sentence: str) -> None:
    page = opened(replay)
    assert sentence in text(page, ".problems")
    assert page.complaints == []


def test_another_file_opens_in_the_same_page(opened: Open) -> None:
    page = opened(USA, "#turn=20&view=1")
    for replay, selector, sentence in [
        (BY_NAME["usa-3"].read_bytes(), "h1", "seat 2"),
        (EUROPE, ".problems", "The board europe of this file is not in this page"),
        (USA, "h1", "seat 1"),
    ]:
        page.value(
            f"""(() => {{
                const text = atob("{base64.b64encode(replay).decode()}");
                const bytes = Uint8Array.from(text, (each) => each.charCodeAt(0));
                const files = new DataTransfer();
                files.items.add(new File([bytes], "other.jsonl"));
                const input = document.getElementById("file");
                input.files = files.files;
                input.dispatchEvent(new Event("change"));
            }})()"""
        )
        until(
            page,
            f"document.querySelector({json.dumps(selector)})?.innerText.includes({json.dumps(sentence)})",
        )
    assert position(page) == 0
    assert page.value("document.activeElement.matches('.opener button')")
    assert page.complaints == []


# -- the proof ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["usa-2", "europe-3", "card_game-4", "united_kingdom-2", "team_asia-4"])
def test_a_good_match_is_consistent_to_its_last_move(opened: Open, name: str) -> None:
    replay = BY_NAME[name].read_bytes()
    page = opened(replay)
    until(page, "document.querySelector('.verdict') !== null")
    assert text(page, ".verdict").startswith(f"Good: consistent to move {len(replay.splitlines()) - 4}")
    assert page.value("document.querySelector('.commitment-outcome').textContent") == ""


def test_what_cannot_be_judged_is_not_called_good(opened: Open) -> None:
    unrevealed = chain([line for line in map(json.loads, USA.splitlines()) if line["type"] != "reveal"])
    page = opened(unrevealed)
    until(page, "document.querySelector('.verdict') !== null")
    assert text(page, ".verdict").endswith("the seed has not been revealed.")
    assert "No move could be checked." in text(page, ".proof-status")
    assert page.value("document.getElementById('commitment') === null")


def test_of_a_changed_match_the_first_untrue_line_is_shown(opened: Open) -> None:
    lines = USA.splitlines()
    number = next(n for n, line in enumerate(lines, 1) if b'"type":"route_claimed"' in line)

    def forge(move: dict[str, Any]) -> None:
        claim = next(event for event in move["events"] if event["type"] == "route_claimed")
        claim["points"] += 5

    page = opened(changed(USA, number, forge))
    until(page, "document.querySelector('.verdict') !== null")
    assert text(page, ".verdict") == f"Not true from line {number} on."
    assert f"Consistent to move {number - 4} of" in text(page, ".proof-status")
    page.click(".proof-status button")
    assert position(page) == number - 3


def without_hash(line: bytes) -> dict[str, Any]:
    return {name: value for name, value in json.loads(line).items() if name != "hash"}


def test_a_commitment_counts_only_if_the_visitor_enters_it(opened: Open) -> None:
    header, reveal = USA.splitlines()[:2]
    right = commitment(
        msgspec.convert(without_hash(header), Header), msgspec.convert(without_hash(reveal), Reveal)
    )
    page = opened(USA)
    for entered, outcome in [
        ("joe", "A commitment has 64 digits"),
        ("0" * 64, "Not as published"),
        (right, "As published"),
    ]:
        page.value(f"document.getElementById('commitment').value = {json.dumps(entered)}")
        page.value("document.querySelector('form.commitment').requestSubmit()")
        assert text(page, ".commitment-outcome").startswith(outcome)


# -- the stage ---------------------------------------------------------------------------------------


def test_the_stage_plays_by_itself_without_controls(opened: Open) -> None:
    page = opened(USA, "#stage&turn=5&speed=16")
    until(page, "Number(document.querySelector('.slider').value) > 12")
    seen = """[...document.querySelectorAll("button, select, input")]
        .filter((each) => each.checkVisibility() && !each.matches(".ref, .seat-name")).length"""
    assert page.value(seen) == 0
    press(page, "Escape")
    until(page, "!document.documentElement.classList.contains('stage')")
    assert page.value(seen) > 10
