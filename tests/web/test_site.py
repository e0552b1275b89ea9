"""The paths of the site, and what each answers: they are fixed, and so is the list of files behind them."""

from __future__ import annotations

import json
import re
from functools import partial
from posixpath import dirname, join, normpath

import msgspec
import pytest

from stellwerk_engine.boards.board_file import SHIPPED, canonical_text, parse_board, shipped_board
from stellwerk_http.answers import KEPT, POLICY
from stellwerk_page.layout import layout_data
from stellwerk_web.show.model import Show
from tests.web.recorded import golden
from tests.web.serving import Got, Life, showing

_IMPORT = re.compile(r'^(?:import|export)\b[^"]*?"(\.[^"\n]+)"', re.MULTILINE)

PAGES = ("/", "/wall", "/about", "/bot/ann", "/pair/ann/bob-2.x")


def tell(life: Life, show: Show, name: str = "usa-2") -> None:
    """Let the model know of a golden game that has ended."""
    game = golden(name)
    life.do(lambda: show.match_listed(game.head))
    life.do(lambda: show.started(name, game.start))
    life.do(lambda: show.happened(name, game.events))
    life.do(lambda: show.ended(name, game.end))


@pytest.mark.parametrize("path", PAGES)
def test_a_page_loads_its_modules_from_here_and_nothing_else(path: str) -> None:
    with showing() as (life, _):
        got = life.get(path)
    assert (got.status, got.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert got.headers["content-security-policy"] == POLICY.decode()
    text = got.body.decode()
    assert "{{" not in text
    assert re.findall(r"\b(?:https?:)?//[a-z]", text) == []
    assert re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)", text) is None


def test_every_module_that_a_page_needs_is_there_and_is_kept_for_good() -> None:
    """Relative imports lead from module to module, over all three folders, as they are in the repository."""
    with showing() as (life, _):
        waiting: list[str] = [
            found
            for path in PAGES
            for found in re.findall(r'(?:src|href)="(/modules/[^"]+)"', life.get(path).body.decode())
        ]
        seen: dict[str, Got] = {}
        while waiting:
            path = waiting.pop()
            if path in seen:
                continue
            got = seen[path] = life.get(path)
            assert got.status == 200, path
            assert got.headers["cache-control"] == KEPT.decode()
            if path.endswith(".mjs"):
                assert got.headers["content-type"].startswith("text/javascript")
                imports = re.findall(
                    r'^(?:import|export)\b[^"\n]*"(\.[^"\n]+)"', got.body.decode(), re.MULTILINE
                )
                waiting += [normpath(join(dirname(path), target)) for target in imports]
    assert seen


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/modules",
        "/modules/",
        "/modules/server/stellwerk_web/site.py",
        "/../../etc/passwd",
        "/modules/../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/modules/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/modules/..%5c..%5cetc%5cpasswd",
        "/match/..",
        "/match/%2e%2e",
        "/match/../about",
        "/replay/..%2f..%2fetc%2fpasswd",
        "/replay/.ssh",
        "/boards/" + "0" * 64,
        "/boards/../x",
        "/bot/",
        "/bot/a%00b",
        "/bot/ann/",
        "/pair/ann",
        "//about",
        "/about/",
        "/about%20",
        "/stream/match/unknown",
        "/data/bot/unknown",
        "/data/pair/unknown/other",
    ],
)
def test_what_is_not_there_is_not_found(path: str) -> None:
    with showing() as (life, _):
        got = life.get(path)
    assert got.status == 404
    assert got.headers["content-type"].startswith("text/plain")
    assert b"root:" not in got.body


def test_the_page_of_an_unknown_match_is_not_found_and_tries_again() -> None:
    game = golden("usa-2")
    with showing() as (life, show):
        got = life.get(f"/match/{game.head.match}")
        life.do(lambda: show.match_listed(game.head))
        known = life.get(f"/match/{game.head.match}")
    assert (got.status, known.status) == (404, 200)
    assert got.body == known.body


def test_a_path_in_an_answer_is_plain_text_without_control_characters() -> None:
    with showing() as (life, _):
        got = life.get("/<script>alert(1)</script>\x9b31m")
    assert got.headers["content-type"].startswith("text/plain")
    assert b"\x9b" not in got.body


@pytest.mark.parametrize("name", SHIPPED)
def test_a_board_has_the_form_of_the_match_page_s_data(name: str) -> None:
    board = shipped_board(name)
    with showing() as (life, _):
        got = life.get(f"/boards/{board.digest}")
    assert got.headers["cache-control"] == KEPT.decode()
    data = json.loads(got.body)
    assert data["board"] == canonical_text(board)
    expected = json.loads(json.dumps(layout_data(board))) if board.routes else None
    assert data["layout"] == expected


def test_a_board_that_a_match_was_begun_on_is_there_too() -> None:
    game = golden("usa-2")
    start = json.loads(game.start)
    start["board"]["title"] = "Another edition"
    board = msgspec.json.encode(start["board"])
    start["board_digest"] = parse_board(board.decode(), "board").digest
    with showing() as (life, show):
        life.do(lambda: show.match_listed(game.head))
        life.do(lambda: show.started("usa-2", json.dumps(start).encode()))
        data = json.loads(life.get(f"/boards/{start['board_digest']}").body)
    assert json.loads(data["board"])["title"] == "Another edition"


def test_a_board_whose_digest_is_a_lie_is_not_shown() -> None:
    game = golden("usa-2")
    start = json.loads(game.start) | {"board_digest": "f" * 64}
    with showing() as (life, show):
        life.do(lambda: show.match_listed(game.head))
        life.do(lambda: show.started("usa-2", json.dumps(start).encode()))
        assert life.get("/boards/" + "f" * 64).status == 404


def test_a_match_s_stream_has_the_whole_match_and_then_each_event() -> None:
    game = golden("usa-2")
    with showing() as (life, show):
        life.do(lambda: show.match_listed(msgspec.structs.replace(game.head, state="running")))
        assert life.get("/match/usa-2").status == 200
        with life.reader("/stream/match/usa-2") as reader:
            state = reader.next().data
            assert (state["start"], state["events"], state["end"]) == (None, [], None)
            life.do(lambda: show.started("usa-2", game.start))
            state = reader.next()
            assert (state.kind, state.data["start"]) == ("state", json.loads(game.start))
            events: list[object] = []
            for number, event in enumerate(game.events):
                life.do(partial(show.happened, "usa-2", [event]))
                change = reader.next()
                assert change.id.endswith(f"-{number + 2}")
                events += change.data["events"]
            life.do(lambda: show.ended("usa-2", game.end))
            assert reader.next().data == {"end": json.loads(game.end)}
        assert events == [json.loads(event) for event in game.events]
        with life.reader("/stream/match/usa-2") as late:
            state = late.next().data
            assert state["events"] == events
            assert state["end"] == json.loads(game.end)


def test_the_overview_says_what_has_changed_a_few_times_a_second() -> None:
    with showing() as (life, show), life.reader("/stream") as reader:
        assert reader.next().data["matches"] == []
        tell(life, show)
        life.wait(0.3)
        change = reader.next().data
        assert [head["match"] for head in change["matches"]] == ["usa-2"]
        assert change["counts"] == {"running": 0, "ended": 1, "failed": 0}
        assert "began_ms_ago" in change["matches"][0]


def test_the_wall_plays_an_ended_match_move_by_move_to_its_result() -> None:
    game = golden("usa-2")
    with showing(pace=10) as (life, show), life.reader("/stream/wall") as reader:
        assert [table["head"] for table in reader.next().data["tables"]] == [None, None]
        tell(life, show)
        life.wait(0.6)
        put = reader.until(lambda record: "put" in record.data).data["put"][0]
        assert put["head"]["state"] == "running"
        assert "ranks" not in put["head"]
        assert put["end"] is None
        events = put["events"]
        end = None
        while end is None:
            life.wait(0.25)
            for table in reader.until(lambda record: "tables" in record.data).data["tables"]:
                events += table.get("events", [])
                end = table.get("end")
                if end is None:
                    assert "ranks" not in table["head"]
        assert events == [json.loads(event) for event in game.events]
        assert end == json.loads(game.end)


def test_health_is_there_for_a_proxy() -> None:
    with showing() as (life, _), life.reader("/stream") as reader:
        reader.next()
        data = json.loads(life.get("/health").body)
    assert data["readers"] == 1
