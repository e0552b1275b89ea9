"""One HTML file out of the page's modules, the verifier's, and a replay.

Law: the file needs nothing beside itself, and no byte of a replay, of its name or of its times can end the
element that contains it. A replay that cannot be read makes a page, too: the page says what is wrong with it.

The modules are `data:` addresses in an import map. Their relative specifiers become bare names
(`page/map.mjs`, `rules/view.mjs`), because a `data:` module has no folder.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Final
from urllib.parse import quote

import msgspec

from stellwerk_engine.boards.board_file import (
    SHIPPED,
    BoardError,
    BoardFile,
    canonical_text,
    parse_board,
    shipped_board,
)
from stellwerk_page.layout import can_be_drawn, layout_data
from stellwerk_protocol.answer_times import AnswerTimes
from stellwerk_protocol.pages import protocol_folder

MAIN: Final = "page/main.mjs"
_CONTENT: Final = Path(__file__).with_name("content")
_IMPORT: Final = re.compile(r'^((?:import|export)\b(?:[\w\s{},*$]*?\bfrom)?\s*")([^"\n]+)(?=")', re.MULTILINE)
_COMMENTS: Final = re.compile(r"^ *(?://[^\n]*|/\*(?:(?!\*/).)*\*/ *)$", re.MULTILINE | re.DOTALL)
_DATA_BEGINS: Final = '<script type="application/json" id="data">'
_SLOT: Final = re.compile(r"<!-- (style|modules|data|main) -->")
# All of printable ASCII that stands for itself in the address, in JSON and in a script element.
_PLAIN: Final = " !$&'()*+,-./:;=?@[]^_`{|}~"


def page_of(replay: bytes, name: str, version: str, times: AnswerTimes | None = None) -> str:
    """Return the page of a replay, whatever its bytes are. `name` is that of its file, `version` that of this
    program."""
    boards = _boards_of(replay)
    data: dict[str, object] = {
        "name": name,
        "version": version,
        "replay": base64.b64encode(replay).decode(),
        "boards": {board.digest: canonical_text(board) for board in boards},
        "layouts": {board.digest: _lay_out(board) for board in boards if can_be_drawn(board)},
    }
    if times is not None:
        data["times"] = msgspec.to_builtins(times)
    before, after = _around_data()
    return before + json.dumps(data, separators=(",", ":")).replace("<", "\\u003c") + after


def times_in(page: str) -> AnswerTimes | None:
    """Return the times that a page says, if it says any."""
    data = page.partition(_DATA_BEGINS)[2].partition("</script>")[0]
    try:
        return msgspec.json.decode(data, type=_Times).times
    except msgspec.DecodeError:
        return None


class _Times(msgspec.Struct):
    times: AnswerTimes | None = None


# -- boards ------------------------------------------------------------------------------------------


_lay_out = lru_cache(maxsize=64)(layout_data)  # takes longer than all else on a page


class _Board(msgspec.Struct):
    id: str
    digest: str
    content: str | None = None


class _Header(msgspec.Struct):
    board: _Board


def _boards_of(replay: bytes) -> tuple[BoardFile, ...]:
    """Return the board on which a match was played, if it is known here or in the replay."""
    try:
        board = msgspec.json.decode(replay.partition(b"\n")[0], type=_Header).board
    except (msgspec.DecodeError, RecursionError):
        return ()
    try:
        if board.content is not None:
            known = parse_board(board.content, "board")
        elif board.id in SHIPPED:
            known = shipped_board(board.id)
        else:
            return ()
    except BoardError:
        return ()
    return (known,) if known.digest == board.digest else ()


# -- the page without its data -----------------------------------------------------------------------


@cache
def _around_data() -> tuple[str, str]:
    """Return the text before and after the data: the same for all pages."""
    modules = {name: _data_address(text) for name, text in modules_of_page().items()}
    styles = sorted(_CONTENT.glob("*.css"), key=lambda file: (file.name != "page.css", file.name))
    parts = {
        "style": f"<style>\n{''.join(file.read_text('utf-8') for file in styles)}</style>",
        "modules": f'<script type="importmap">\n{json.dumps({"imports": modules}, indent=0)}\n</script>',
        "data": f"{_DATA_BEGINS}\0</script>",
        "main": f'<script type="module">\nimport "{MAIN}";\n</script>',
    }
    text = _SLOT.sub(lambda slot: parts[slot[1]], (_CONTENT / "page.html").read_text("utf-8"))
    before, _, after = text.partition("\0")
    return before, after


def modules_of_page() -> Mapping[str, str]:
    """Return the source of every module that the page uses, by bare name, with bare names as specifiers."""
    folders = {
        "page": ("server/stellwerk_page/content", _CONTENT),
        "rules": ("protocol/verifiers/javascript", protocol_folder() / "verifiers" / "javascript"),
    }
    modules: dict[str, str] = {}
    waiting = [MAIN]
    while waiting:
        name = waiting.pop()
        if name in modules:
            continue
        room, _, file = name.partition("/")
        place, folder = folders[room]

        def bare(found: re.Match[str], place: str = join(place, file)) -> str:
            target = normpath(join(dirname(place), found[2]))
            for other, (its_place, _) in folders.items():
                if found[2].startswith(".") and target.startswith(f"{its_place}/"):
                    waiting.append(f"{other}{target.removeprefix(its_place)}")
                    return f"{found[1]}{waiting[-1]}"
            raise ValueError(f"{place}: a page cannot import {found[2]!r}")

        modules[name] = _IMPORT.sub(bare, (folder / file).read_text("utf-8"))
    return dict(sorted(modules.items()))


def _data_address(source: str) -> str:
    """Return a module as an address, without the lines that are comments: a fifth of the page. All others
    keep their numbers, for a reader of an error."""
    code = _COMMENTS.sub(lambda lines: "\n" * lines[0].count("\n"), source)
    return "data:text/javascript;charset=utf-8," + quote(code, safe=_PLAIN)
