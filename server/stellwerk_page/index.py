"""The index of a folder of replays: a row for each file, with its game, players and result.

Law: it repeats what the files say, and verifies nothing: their pages do. A file that is no replay, or breaks
off, has a row with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Final
from urllib.parse import quote

from jinja2 import Environment, StrictUndefined
from msgspec import UNSET

from stellwerk_base.texts import shown
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.replays.reader import ReplayError, lines_of, read_replay
from stellwerk_protocol.replays import End, Header, Reveal
from stellwerk_protocol.results import Result

_CONTENT: Final = Path(__file__).with_name("content") / "index"


@dataclass(frozen=True, slots=True)
class Row:
    """A file of the folder. `page` is the name of its page, if it has one; `problem` is what is wrong."""

    file: str
    page: str | None = None
    game: str = ""
    players: Sequence[str] = ()
    result: str = ""
    turns: int | None = None
    problem: str = ""


def row_of(file: str, page: str, replay: bytes) -> Row:
    """Read a replay as far as that is possible. Without a sound header there is no page."""
    row = Row(file)
    names: Sequence[str] = ()
    is_revealed = False
    try:
        for line in read_replay(lines_of(BytesIO(replay))):
            match line:
                case Header():
                    names = tuple(
                        f"seat {seat}" if each.name is UNSET else each.name
                        for seat, each in enumerate(line.seats)
                    )
                    row = Row(file, page, _game_of(line), names)
                case Reveal():
                    is_revealed = True
                case End(result):
                    row = Row(file, page, row.game, names, _result_in_words(result, names), result.turns)
                case _:
                    pass
    except ReplayError as error:
        if not is_revealed and row.result:
            problem = "the seed has not been revealed, so the game cannot be dealt again"
            return replace(row, problem=problem)
        return replace(row, problem=f"line {error.line}: {error.message}")
    return row


def index_of(title: str, rows: Sequence[Row], version: str) -> str:
    """Return the index. Its links lead to pages in its own folder."""
    template = _make_environment().from_string((_CONTENT / "index.html").read_text("utf-8"))
    css, js = ((_CONTENT / name).read_text("utf-8") for name in ("index.css", "index.js"))
    return template.render(title=title, rows=rows, version=version, css=css, js=js)


def _game_of(header: Header) -> str:
    rules = RULE_SETS.get(header.game)
    game = shown(header.game) if rules is None else rules.title
    return ", ".join([game, *map(shown, header.options)])


def _result_in_words(result: Result, names: Sequence[str]) -> str:
    """Write `1. ann: 102, 2. bob: 90`."""
    teams = sorted(result.teams, key=lambda team: (team.rank, team.team))
    return ", ".join(
        f"{team.rank}. {' and '.join(dict.fromkeys(names[seat] for seat in team.seats if seat < len(names)))}"
        f": {team.points}"
        for team in teams
    )


@cache
def _make_environment() -> Environment:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["quoted"] = quote
    return environment
