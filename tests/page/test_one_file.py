"""A page is one file: all modules that it uses are in it, nothing can break out of its data, and it opens."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk_engine.boards.board_file import BoardFile, canonical_text, shipped_board
from stellwerk_page.one_file import MAIN, modules_of_page, page_of
from stellwerk_protocol.answer_times import AnswerTimes
from tests.command.program import REPOSITORY

ROOMS = {
    "page": REPOSITORY / "server" / "stellwerk_page" / "content",
    "rules": REPOSITORY / "protocol" / "verifiers" / "javascript",
}
GAMES = sorted((REPOSITORY / "tests" / "golden" / "games").glob("*.jsonl"))
SPECIFIER = re.compile(r'^(?:import|export|\})[^"\'=;]*["\']([^"\']+)["\'];$', re.MULTILINE)


class _Reader(HTMLParser):
    """Collects the text of each script, by id or type."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: dict[str, str] = {}
        self._inside: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script":
            named = dict(attrs)
            self._inside = named.get("id") or named["type"] or ""
            assert self._inside not in self.scripts
            self.scripts[self._inside] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside is not None:
            self.scripts[self._inside] += data


def scripts_of(page: str) -> dict[str, str]:
    reader = _Reader()
    reader.feed(page)
    return reader.scripts


def data_of(page: str) -> dict[str, Any]:  # Any: JSON
    data: dict[str, Any] = json.loads(scripts_of(page)["data"])
    return data


def reachable() -> dict[str, Path]:
    """Return the modules that can be reached from the main one, by another reading of the sources."""
    files: dict[str, Path] = {}
    waiting = [ROOMS["page"] / "main.mjs"]
    while waiting:
        file = waiting.pop().resolve()
        [room] = [name for name, folder in ROOMS.items() if file.parent.is_relative_to(folder)]
        name = f"{room}/{file.relative_to(ROOMS[room])}"
        if name not in files:
            files[name] = file
            waiting += [file.parent / each for each in SPECIFIER.findall(file.read_text("utf-8"))]
    return files


def test_the_page_has_every_module_that_can_be_reached_and_no_other() -> None:
    assert modules_of_page().keys() == reachable().keys()


def test_no_module_of_the_page_is_left_out() -> None:
    """A module that nobody imports is dead, unless it has nothing but types, for comments of the others."""
    modules = {
        f"page/{file.name}"
        for file in ROOMS["page"].glob("*.mjs")
        if not file.read_text("utf-8").endswith("\nexport {};\n")
    }
    assert modules - modules_of_page().keys() == set()


def test_modules_import_one_another_by_bare_names_that_the_map_has() -> None:
    modules = modules_of_page()
    for source in modules.values():
        assert set(SPECIFIER.findall(source)) <= modules.keys()


def test_the_map_has_each_module_as_a_data_address() -> None:
    imports = json.loads(scripts_of(page_of(b"", "game.jsonl", "1"))["importmap"])["imports"]
    begin = "data:text/javascript;charset=utf-8,"
    assert imports.keys() == modules_of_page().keys()
    for name, source in modules_of_page().items():
        lines, ours = source.split("\n"), unquote(imports[name].removeprefix(begin)).split("\n")
        assert len(lines) == len(ours)
        left_out = [line for line, other in zip(lines, ours, strict=True) if line != other]
        assert all(line.strip().startswith(("//", "/*", "*")) for line in left_out)
    for text in imports.values():
        assert text.startswith(begin)
        assert not {"\n", "\t", "#", "<", '"'} & set(text)


def test_no_text_of_a_module_is_taken_for_a_comment() -> None:
    """Lines that begin like a comment are in no text of several lines."""
    for name, source in modules_of_page().items():
        for number, line in enumerate(source.split("\n")):
            if line.strip().startswith(("//", "/*")):
                before = re.sub(
                    r"^ *(//|/?\*).*$", "", "\n".join(source.split("\n")[:number]), flags=re.MULTILINE
                )
                assert before.count("`") % 2 == 0, f"{name}:{number + 1}"


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.stem)
def test_a_page_is_small(game: Path) -> None:
    """Without its replay it has less than 500 kB."""
    replay = game.read_bytes()
    assert len(page_of(replay, game.name, "1")) - len(base64.b64encode(replay)) < 500_000


def test_the_page_starts_with_its_main_module() -> None:
    assert scripts_of(page_of(b"", "game.jsonl", "1"))["module"].strip() == f'import "{MAIN}";'


@given(
    replay=st.binary(max_size=50),
    name=st.text() | st.sampled_from(["</script>", "<!--<script>", "\u2028", "]]>", "\\u003c", '"', "\0"]),
)
def test_what_goes_into_a_page_comes_out_of_it(replay: bytes, name: str) -> None:
    times = AnswerTimes("stellwerk-times/1", name, ((12, None), ()))
    scripts = scripts_of(page_of(replay, name, "1", times))
    assert scripts.keys() == {"importmap", "data", "module"}
    assert not {"<", "\u2028", "\u2029"} & set(scripts["data"])
    assert json.loads(scripts["data"]) == {
        "name": name,
        "version": "1",
        "replay": base64.b64encode(replay).decode(),
        "boards": {},
        "layouts": {},
        "times": {"format": "stellwerk-times/1", "match": name, "seats": [[12, None], []]},
    }


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.stem)
def test_a_page_has_the_board_of_its_match(game: Path) -> None:
    data = data_of(page_of(game.read_bytes(), game.name, "1"))
    board = shipped_board(game.name.partition("-")[0].removesuffix(".jsonl"))
    assert data["boards"] == {board.digest: canonical_text(board)}
    assert "times" not in data


def header(board: BoardFile, **changes: str) -> bytes:
    """Write a header with a board inside."""
    reference = {"id": board.id, "digest": board.digest, "content": canonical_text(board)} | changes
    return json.dumps({"type": "header", "board": reference}).encode() + b"\n"


def test_a_page_has_a_board_that_its_replay_contains() -> None:
    board = shipped_board("europe")
    data = data_of(page_of(header(board, id="own"), "game.jsonl", "1"))
    assert data["boards"] == {board.digest: canonical_text(board)}


@pytest.mark.parametrize(
    "replay",
    [
        b"",
        b"\xff\xfe",
        b"{}\n",
        b"[" * 100_000,
        b'{"board":{"id":"atlantis","digest":"0"}}\n',
        b'{"board":{"id":"usa","digest":"0"}}\n',
        header(shipped_board("usa"), digest="0"),
        header(shipped_board("usa"), content="{}"),
    ],
    ids=[
        "empty",
        "no text",
        "no header",
        "deep",
        "foreign board",
        "other edition",
        "wrong digest",
        "no board",
    ],
)
def test_a_page_without_a_board_that_is_known_is_a_page(replay: bytes) -> None:
    data = data_of(page_of(replay, "game.jsonl", "1"))
    assert data["boards"] == {}
    assert base64.b64decode(data["replay"]) == replay


def test_no_module_makes_markup_or_code_of_text() -> None:
    """What a replay says reaches the page as text."""
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|\bnew Function\b|srcdoc|setHTML"
    )
    modules = sorted(ROOMS["page"].glob("*.mjs"))
    assert modules
    assert [file.name for file in modules if forbidden.search(file.read_text("utf-8"))] == []
