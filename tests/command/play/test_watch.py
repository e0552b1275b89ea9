"""`stellwerk play --watch` writes the page of the game, and opens it where there is a display."""

from __future__ import annotations

from pathlib import Path

from tests.command.program import process, refused, stellwerk

GREEDY = ("play", "usa", "--bot", "greedy", "--bot", "greedy", "--seed", "s", "--watch")
NO_DISPLAY = {"DISPLAY": "", "WAYLAND_DISPLAY": ""}


def test_without_a_display_the_path_of_the_page_is_printed(tmp_path: Path) -> None:
    done = stellwerk(*GREEDY, TMPDIR=str(tmp_path), **NO_DISPLAY)
    assert (done.returncode, done.stderr) == (0, "")
    [page] = tmp_path.glob("stellwerk-play-*/*.html")
    assert done.stdout.endswith(f"\nopen in a browser: {page}\n")
    assert page.read_text("utf-8").startswith("<!doctype html>")


def test_with_a_display_the_browser_gets_the_page(tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    changes = {"DISPLAY": ":99", "BROWSER": f"{browser} %s"}
    done = process(*GREEDY, "--replays", str(tmp_path / "games"), **changes)
    assert (done.returncode, done.stderr) == (0, "")
    page = tmp_path / "games" / "usa-s-0.html"
    assert done.stdout.endswith(f"\nshown in a browser: {page}\n")
    assert (tmp_path / "opened").read_text() == page.as_uri()


def test_of_several_games_there_is_an_index(tmp_path: Path) -> None:
    done = stellwerk(*GREEDY, "--games", "2", "--replays", str(tmp_path), **NO_DISPLAY)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(f"\nopen in a browser: {tmp_path}/index.html\n")
    assert {path.name for path in tmp_path.glob("*.html")} == {
        "index.html",
        "usa-s-0.html",
        "usa-s-1.html",
    }


def test_with_json_nothing_else_is_printed() -> None:
    assert "--watch: not with --json" in refused(*GREEDY, "--json")
