"""What `verify` reads in a replay of the conduct of its bots, beside what the line says of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from stellwerk_processes.faults import Fault, FaultKind
from stellwerk_tournament.report.marks import wrong_conduct
from tests.tournament.play.fakes import settings_with
from tests.tournament.store.test_store import BLOCKS, match_of

OWN = ""


def wrong(
    tmp_path: Path,
    moves: Sequence[str],
    faults: Sequence[tuple[FaultKind, int]] = (),
    defaults: int = 0,
    *,
    suspended: bool = False,
) -> list[str]:
    """Compare a replay in which seat 1 moved like this (a reason, where the server did) with such a line."""
    line, *_ = match_of(settings_with(tmp_path, ("ann", "bea")), BLOCKS[0], 0)
    records = [{"type": "header"}, {"type": "move", "seat": 0}]
    records += [
        {"type": "move", "seat": 1} | ({"by": "fallback", "reason": reason} if reason != OWN else {})
        for reason in moves
    ]
    replay = "".join(f"{json.dumps(record)}\n" for record in records).encode()
    found = tuple(Fault(kind, count, "") for kind, count in faults)
    ann, bea = line.bots
    bea = replace(bea, faults=found, defaults=defaults, suspended=suspended)
    return list(wrong_conduct(replay, replace(line, bots=(replace(ann, faults=(), defaults=0), bea))))


@pytest.mark.parametrize(
    ("moves", "faults", "defaults"),
    [
        ([OWN, OWN], [], 0),
        ([OWN, "tries"], [("illegal", 3)], 1),
        ([OWN, "time", "time", "by_default"], [("hang", 2)], 3),
        (["left", "left"], [("start_failure", 1)], 2),
        ([OWN, "disconnected", OWN], [("disconnect", 1)], 1),
        ([OWN, OWN], [("crash", 1)], 0),  # after its last move
    ],
)
def test_a_line_that_says_what_the_replay_shows(
    tmp_path: Path, moves: list[str], faults: list[tuple[FaultKind, int]], defaults: int
) -> None:
    assert wrong(tmp_path, moves, faults, defaults) == []


@pytest.mark.parametrize(
    ("moves", "faults", "defaults", "expected"),
    [
        ([OWN, "time", "time"], [("time", 2)], 1, "the server moved for it 2 times here, and 1 time"),
        ([OWN], [], 12, "the server moved for it 0 times here, and 12 times"),
        ([OWN, "time"], [], 1, "it was late 1 time here, and 0 times"),
        ([OWN], [("hang", 3)], 0, "it was late 0 times here, and 3 times"),
        ([OWN, "left"], [], 1, "it was away for 1 move here, and never"),
        ([OWN, "disconnected"], [("illegal", 1)], 1, "it was away for 1 move here, and never"),
        ([OWN, "left"], [("start_failure", 1)], 1, "it made 1 move here, and was never there"),
        ([OWN, "left"], [("absent", 1)], 1, "it made 1 move here, and was never there"),
    ],
)
def test_a_line_that_says_something_else_than_the_replay(
    tmp_path: Path, moves: list[str], faults: list[tuple[FaultKind, int]], defaults: int, expected: str
) -> None:
    assert wrong(tmp_path, moves, faults, defaults) == [
        f"seat 1 (bea): {expected}, by its line in matches.jsonl"
    ]


def test_a_suspended_bot_makes_no_move_and_nothing_else_is_its_fault(tmp_path: Path) -> None:
    assert wrong(tmp_path, ["left", "left"], defaults=2, suspended=True) == []
    [message] = wrong(tmp_path, [OWN, "left"], defaults=1, suspended=True)
    assert "it made 1 move here, and was suspended" in message
