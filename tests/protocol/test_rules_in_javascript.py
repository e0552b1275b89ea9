"""The rules in `protocol/verifiers`, written from the pages alone, give what `vectors/rules` has: events,
legal moves in their order, fallbacks, refusals and results.
"""

from __future__ import annotations

import json
import secrets
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from stellwerk_engine.boards.board_file import parse_board
from stellwerk_engine.games.shipped import RULE_SETS
from tests.engine.recordings import game_for
from tests.protocol.random_boards import random_board
from tests.tools import needs
from tools.game_vectors import Played, by_chance, inventing, play_on, rules_file

pytestmark = needs("node")

REPOSITORY: Final = Path(__file__).resolve().parents[2]
COMMAND: Final = REPOSITORY / "protocol" / "verifiers" / "javascript" / "check_rules.mjs"
VECTORS: Final = REPOSITORY / "protocol" / "conformance" / "vectors" / "rules"
BOARDS: Final = REPOSITORY / "server" / "stellwerk_engine" / "boards"
SECONDS: Final = 120
BOARDS_EACH: Final = 1

GOOD, DIFFERENT, WRONG_USAGE = range(3)  # exit codes


def checked(*arguments: Path | str) -> tuple[int, str, str]:
    done = subprocess.run(
        ["node", str(COMMAND), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def of_board(game: str) -> tuple[str, Path]:
    return "--board", BOARDS / f"{game}.json"


@pytest.mark.parametrize("game", RULE_SETS)
def test_every_game_of_the_vectors_is_played_alike(game: str) -> None:
    files = sorted(VECTORS.glob(f"{game}-*.jsonl"))
    code, output, errors = checked(*of_board(game), *files)
    lines = output.splitlines()
    assert [line for line in lines if ": ok, " not in line] == []
    assert (code, errors, len(lines)) == (GOOD, "", len(files))


@pytest.mark.parametrize(
    ("game", "players", "options"),
    [
        ("usa", 3, ()),
        ("usa", 5, ()),
        ("europe", 2, ()),
        ("europe", 4, ()),
        ("team_asia", 4, ()),
        ("team_asia", 6, ()),
        ("united_kingdom", 2, ("advanced_technologies",)),
        ("united_kingdom", 4, ()),
    ],
)
def test_games_on_boards_that_nobody_drew_are_played_alike(
    tmp_path: Path, game: str, players: int, options: tuple[str, ...]
) -> None:
    boards: list[Path | str] = []
    files: list[Path] = []
    seed = secrets.token_hex(4)
    for label in (f"{game}-{players}-{number}-{seed}" for number in range(BOARDS_EACH)):
        content = random_board(game, label)
        board = tmp_path / f"{label}.json"
        board.write_text(json.dumps(content))
        on_it = game_for(game, players, options, parse_board(board.read_text(), board.name))
        choose = inventing(label) if game == "united_kingdom" else by_chance(label)
        match = play_on(on_it, Played(label, game, players, options, choose))
        file = tmp_path / f"{label}.jsonl"
        file.write_bytes(rules_file(match, dict.fromkeys(range(len(match.steps)), ())))
        boards += ["--board", board]
        files.append(file)
    code, output, errors = checked(*boards, *files)
    assert [line for line in output.splitlines() if ": ok, " not in line] == []
    assert (code, errors) == (GOOD, "")


def changed(point: dict[str, Any], field: str) -> None:
    match field:
        case "legal_complete":
            point[field] = not point[field]
        case "legal":
            point[field] = point[field][1:]
        case "accepted":
            point[field] = [{"type": "stop"}]
        case "refused":
            point[field][0]["code"] = "game.over"
        case "fallback":
            point[field] = {"type": "stop"}
        case _:
            point[field] = [*point[field], {"type": "stopped", "seat": 0}]


@pytest.mark.parametrize("field", ["legal", "legal_complete", "fallback", "accepted", "refused", "events"])
def test_a_point_that_differs_is_named_with_its_line_and_field(tmp_path: Path, field: str) -> None:
    lines = (VECTORS / "usa-2.jsonl").read_text().splitlines()
    number = 4
    point = json.loads(lines[number - 1])
    changed(point, field)
    lines[number - 1] = json.dumps(point)
    file = tmp_path / "game.jsonl"
    file.write_text("\n".join(lines) + "\n")
    code, output, _ = checked(*of_board("usa"), file)
    assert code == DIFFERENT
    assert output.startswith(f"{file}:{number}: {field}")


def test_a_result_that_differs_is_named(tmp_path: Path) -> None:
    lines = (VECTORS / "usa-2.jsonl").read_text().splitlines()
    end = json.loads(lines[-1])
    end["result"]["turns"] += 1
    file = tmp_path / "game.jsonl"
    file.write_text("\n".join([*lines[:-1], json.dumps(end)]) + "\n")
    code, output, _ = checked(*of_board("usa"), file)
    assert code == DIFFERENT
    assert f":{len(lines)}: result" in output


def test_a_board_that_is_not_named_is_asked_for() -> None:
    code, output, _ = checked(VECTORS / "usa-2.jsonl")
    assert code == DIFFERENT
    assert "the board usa is not at hand: name it with --board" in output


def test_without_a_file_it_says_how_it_is_used(tmp_path: Path) -> None:
    assert checked()[0] == WRONG_USAGE
    code, output, errors = checked(tmp_path / "none.jsonl")
    assert (code, output) == (WRONG_USAGE, "")
    assert "none.jsonl" in errors
    assert errors.count("\n") == 1
