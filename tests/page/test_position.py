"""Positions draw themselves: what the view has, in the colors of the match page, and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from stellwerk_bots.policies import random_policy
from stellwerk_bots.self_play import Recording, play_game
from stellwerk_engine.boards.board_file import canonical_text, shipped_board
from stellwerk_engine.core.dice import seed_from_text
from stellwerk_engine.core.state import Game
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.view import view
from stellwerk_engine.replays.reader import ReplayError
from stellwerk_engine.replays.writer import header_of
from stellwerk_page import position as module
from stellwerk_page.position import Position, position_of, positions_of
from stellwerk_protocol.canonical import encode
from tests.support import started, table

SVG = "{http://www.w3.org/2000/svg}"
PAINTS = Path(module.__file__).with_name("content") / "paints.mjs"
GAMES = [table(rules.id, rules.seat_counts[0]) for rules in RULE_SETS.values()]


def replay_of(game: Game, seed: str = "a") -> list[bytes]:
    names = [f"bot-{seat}" for seat in range(game.seat_count)]
    pieces: list[bytes] = []
    recording = Recording(pieces.append, header_of(game, names, "match"))
    policies = [random_policy(f"{seed}/{seat}", "match") for seat in range(game.seat_count)]
    play_game(game, seed_from_text(seed), policies, recording)
    return b"".join(pieces).splitlines(keepends=True)


def texts(svg: str, tag: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}{tag}")]


def in_a_notebook(position: Position) -> str:
    shown: str = vars(Position)["_repr_html_"](position)
    return shown


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_every_position_of_every_game_is_drawn_with_its_claims(game: Game) -> None:
    positions = list(positions_of(replay_of(game)))
    for position in positions[:: len(positions) // 6]:
        owned = re.findall(r", of seat (\d)", " ".join(texts(position.svg, "title")))
        players = position.view.players
        assert sorted(owned) == sorted(str(each.seat) for each in players for _ in each.routes or ())
        words = texts(position.svg, "text")
        for player in players:
            assert f"{player.seat} bot-{player.seat}" in words
            assert any(f"{player.hand_count} card" in text for text in words)
    assert "over after" in repr(positions[-1])


def test_a_position_of_a_seat_shows_its_own_cards_and_tickets_and_no_others() -> None:
    game = table("usa", 2)
    lines = replay_of(game)
    pairs = [*zip(positions_of(lines, 0), positions_of(lines), strict=True)]
    for own, all_hands in pairs[:: len(pairs) // 6]:
        assert all_hands.view.players[0] == own.view.players[0]
        assert texts(own.svg, "text").count("hand") <= 1
        assert "as seat 0 sees it" in own.svg
        assert sum(text.startswith(("tickets: ", "offered: ")) for text in texts(own.svg, "text")) == 1


def test_a_state_of_the_engine_a_view_and_an_ask_are_drawn_alike() -> None:
    state = started("europe", 3)
    position = Position.of_state(state, 1)
    board, seen = state.game.board.file, encode(view(state, 1))
    assert position_of(board, seen).svg == position.svg
    start: dict[str, object] = {"board": json.loads(canonical_text(board)), "players": [{"seat": 0}] * 3}
    ask = {"type": "ask", "view": json.loads(seen)}
    assert Position.of_ask(start, ask).svg == position.svg
    assert in_a_notebook(position).count("<svg ") == 1


def test_a_name_never_becomes_markup() -> None:
    position = Position(shipped_board("usa"), view(started("usa", 2), 0), ("<b>", "&\n"))
    assert "0 <b>" in texts(position.svg, "text")
    assert any("1 &\\n" in text for text in texts(position.svg, "text"))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (b"{", "no JSON: "),
        (b'{"game": "usa"}', "expected a view, or an ask with a view: Object missing required field"),
        (b'{"view": {"game": 1}}', "expected a view, or an ask with a view: Expected `str`, got `int`"),
        (encode(view(started("usa", 2), 0)).replace(b'"routes":[]', b'"routes":["a-b"]'), "no route a-b"),
    ],
)
def test_what_is_no_view_of_this_board_is_refused(message: bytes, expected: str) -> None:
    with pytest.raises(ValueError, match=re.escape(expected)):
        position_of(shipped_board("usa"), message)


def test_a_replay_that_cannot_be_played_again_names_its_line() -> None:
    lines = replay_of(table("usa", 2))
    with pytest.raises(ValueError, match="there is no seat 2: the seats of this game are 0 to 1"):
        list(positions_of(lines, 2))
    with pytest.raises(ReplayError, match="line 5"):
        list(positions_of([*lines[:4], lines[4].replace(b"type", b"Type", 1), *lines[5:]]))


def test_the_colors_are_those_of_the_match_page() -> None:
    source = PAINTS.read_text("utf-8")
    ink = {"DARK": module.DARK, "LIGHT": module.LIGHT}

    def paints(name: str, pattern: str) -> list[list[str]]:
        body = source.split(f"export const {name} = ", 1)[1].split("\n]", 1)[0].split("\n}", 1)[0]
        return [[*found.groups()] for found in re.finditer(pattern, body)]

    plain = r'^  {? ?fill: "(#\w+)", ink: (\w+)'
    assert [(fill, ink[name]) for fill, name in paints("SEATS", f"(?m){plain}")] == list(module.SEATS)
    assert [(fill, ink[name]) for fill, name in paints("PARTNERS", f"(?m){plain}")] == list(module.PARTNERS)
    letters = {color: letter for color, letter, *_ in paints("LETTERS", r'(\w+): "(\w)"')}
    cards = paints("COLORS", r'(\w+): { fill: "(#\w+)", ink: (\w+)')
    assert {
        name: (fill, ink[on], letters[name]) for name, fill, on in cards if name != "gray"
    } == module.CARDS
    spaces = paints("SPACES", r'(\w+): { light: { fill: "(#\w+)"')
    assert {color: fill for color, fill, *_ in spaces} == module.SPACES
