"""A view that is kept by the pages alone, in another language, is the one that the server shows.

`protocol/verifiers/javascript/view.mjs` was written from "Keeping a view" in `protocol/README.md`. One
program reads all the files of a test, because starting it takes longer than keeping a view of a match.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import board_content
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.state import Events
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC, ViewerId, view
from tests.engine.recordings import mixed
from tests.support import VARIANTS, table, variant_id
from tests.tools import needs
from tools.fold_vectors import as_json, start_of
from tools.generate import CONFORMANCE as FOLDER

REPOSITORY: Final = Path(__file__).resolve().parents[2]
PROGRAM: Final = REPOSITORY / "protocol" / "verifiers" / "javascript" / "keep_views.mjs"
BOARDS: Final = sorted((REPOSITORY / "server" / "stellwerk_engine" / "boards").glob("*.json"))
SECONDS: Final = 120
MOVES_TO_A_VIEW: Final = 5  # moves between two compared views; different ones in each game

ALIKE, DIFFERENT, WRONG_USAGE = range(3)  # exit codes

Json = dict[str, Any]  # Any: a value as JSON has it
Variant = tuple[str, int, tuple[str, ...]]


pytestmark = needs("node")


def kept(files: Sequence[Path]) -> tuple[int, list[str]]:
    """Return the exit code, and the output for each file, without its name."""
    boards = [word for board in BOARDS for word in ("--board", str(board))]
    done = subprocess.run(
        ["node", str(PROGRAM), *boards, *map(str, files)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.stderr == ""
    printed = done.stdout.splitlines()
    assert len(printed) == len(files), printed
    return done.returncode, [line.removeprefix(str(file)) for line, file in zip(printed, files, strict=True)]


def alike(files: Sequence[Path]) -> list[int]:
    """Return how many views of each file were compared; none may differ."""
    code, printed = kept(files)
    assert [line for line in printed if not re.fullmatch(r": \d+ views are alike", line)] == []
    assert code == ALIKE
    return [int(line.split()[1]) for line in printed]


def lines_of(file: Path) -> list[Json]:
    return [json.loads(line) for line in file.read_bytes().splitlines()]


def write(file: Path, lines: Sequence[Json]) -> Path:
    file.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    return file


# -- what is recorded --------------------------------------------------------------------------------


def test_every_vector_is_kept() -> None:
    files = sorted((FOLDER / "vectors" / "folds").glob("*.jsonl"))
    assert alike(files) == [len(lines_of(file)) for file in files]


def test_every_view_and_every_result_of_the_recorded_sessions_is_kept() -> None:
    files = sorted((*(FOLDER.parent / "examples").glob("*.jsonl"), *(FOLDER / "transcripts").glob("*.jsonl")))
    compared = dict(zip((file.stem for file in files), alike(files), strict=True))
    for file in files:
        sent = [line["line"] for line in lines_of(file) if line.get("from") == "server" and "line" in line]
        views = [line for line in sent if line["type"] == "ask" and "view" in line]
        with_events = {line["match"] for line in sent if line["type"] == "event"}
        ends = [line for line in sent if line["type"] == "end" and line["match"] in with_events]
        assert compared[file.stem] == len(views) + len(ends), file.name
    assert all(compared[game] > 50 for game in RULE_SETS)


# -- what is played ----------------------------------------------------------------------------------


def sessions(variant: Variant, label: str) -> Iterator[tuple[list[Json], int]]:
    """Play a random match, and return it as each viewer gets it, with views in asks, and the number of views.
    Spectators get no asks; here they do, so that their views are compared, too."""
    game = table(*variant)
    happened: Events = []
    state = engine.new_game(game, Dice(seed_from_text(label)), happened)
    states, events_of_moves = [state.copy()], [happened]
    choose = mixed(label)
    while state.pending is not None:
        for seat in engine.owing(state):
            happened = []
            engine.apply(state, seat, choose(state, seat, engine.legal(state, seat)), happened)
            states.append(state.copy())
            events_of_moves.append(happened)
    for viewer in (*range(variant[1]), PUBLIC, ALL_HANDS):
        wanted = {number for number in range(len(states)) if (number + viewer) % MOVES_TO_A_VIEW == 0}
        wanted.add(len(states) - 1)
        lines = [start(variant, viewer)]
        number = 0
        for after, (state_then, events) in enumerate(zip(states, events_of_moves, strict=True)):
            for event in events:
                number += 1
                shown = as_json(redact(event, game, viewer))
                lines.append({"type": "event", "match": "m", "number": number, "event": shown})
            if after in wanted:
                shown = as_json(view(state_then, viewer))
                lines.append({"type": "ask", "match": "m", "after_event": number, "view": shown})
        yield [{"from": "server", "line": line} for line in lines], len(wanted)


def start(variant: Variant, viewer: ViewerId) -> Json:
    game = table(*variant)
    board = as_json(board_content(game.board.file))
    return {**start_of(game, viewer), "type": "start", "match": "m", "board": board}


@pytest.mark.parametrize("variant", VARIANTS, ids=variant_id)
def test_every_viewer_of_a_match_by_chance_keeps_its_view(variant: Variant, tmp_path: Path) -> None:
    files: list[Path] = []
    counts: list[int] = []
    for number, (lines, count) in enumerate(sessions(variant, f"kept/{variant_id(variant)}")):
        files.append(write(tmp_path / f"{number}.jsonl", lines))
        counts.append(count)
    assert alike(files) == counts


# -- what differs ------------------------------------------------------------------------------------


def test_a_view_that_differs_is_reported_with_its_line_and_its_place(tmp_path: Path) -> None:
    lines, _ = next(sessions(("usa", 2, ()), "differs"))
    number = max(number for number, line in enumerate(lines) if line["line"]["type"] == "ask")
    lines[number]["line"]["view"]["players"][1]["known_cards"] = {"red": 60}
    code, printed = kept([write(tmp_path / "session.jsonl", lines)])
    assert code == DIFFERENT
    assert printed[0].startswith(f":{number + 1}: view/players/1/known_cards/")


def test_a_missing_event_is_reported(tmp_path: Path) -> None:
    lines, _ = next(sessions(("usa", 2, ()), "differs"))
    del lines[5]
    code, printed = kept([write(tmp_path / "session.jsonl", lines)])
    assert (code, printed) == (DIFFERENT, [":6: event 6 after 4"])


def test_a_wrong_command_line_is_refused(tmp_path: Path) -> None:
    for words in ([], ["--seed", "1"], [str(tmp_path / "nowhere.jsonl")], ["--board"]):
        done = subprocess.run(
            ["node", str(PROGRAM), *words], capture_output=True, text=True, timeout=SECONDS, check=False
        )
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (WRONG_USAGE, "", 1)
