"""Two implementations of the rules play the same games: the engine, and the one in `protocol/verifiers`,
which was written from the pages alone.

Each run plays other games. A difference is reported with the label of its game, which plays it again:
`python -m tools.oracle --label LABEL`. `make oracle` plays thousands.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Final

import pytest

from tests.engine.recordings import canonical_json
from tests.support import VARIANTS
from tests.tools import needs
from tools import oracle
from tools.oracle import Label, Variant, compare

pytestmark = needs("node")

TWO: Final[Variant] = ("card_game", 2, ())


def test_the_pages_and_the_engine_play_alike() -> None:
    """One game of every variant, in one run of the other program."""
    seed = secrets.token_hex(4)
    first = secrets.randbelow(len(oracle.PLAYERS))  # whoever plays the first game, each variant has another
    outcome = compare(Label(variant, number, seed) for number, variant in enumerate(VARIANTS, first))
    assert outcome.differences == {}
    assert outcome.counts["games"] == outcome.counts["replays"] == len(VARIANTS)
    assert outcome.counts["moves"] > 20 * len(VARIANTS)
    assert outcome.counts["refused"] > 50 * len(VARIANTS)
    assert outcome.counts["views"] >= sum(2 * (seats + 2) for _, seats, _ in VARIANTS)


def test_a_label_plays_the_same_game_again() -> None:
    label = Label(TWO, 3, "again")
    assert list(oracle.lines_of(label)) == list(oracle.lines_of(label))


def test_forgeries_say_something_else_or_the_same_in_another_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "FORGED", 1.0)
    lines = [
        json.loads(line) for number in range(4) for line in oracle.lines_of(Label(TWO, number, "forged"))
    ]
    forged = [line["body"].encode() for line in lines if line["type"] == "forged"]
    assert len(forged) == 4 * oracle.FORGERIES
    is_canonical = [body == canonical_json(json.loads(body)) for body in forged if is_json(body)]
    assert {True, False} == set(is_canonical)


def is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("kind", ["set_up", "point", "view", "end", "replay", "forged"])
def test_a_difference_is_found(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "FORGED", 1.0)
    label = Label(TWO, 0, "different")
    lines = [json.loads(line) for line in oracle.lines_of(label)]
    changed = [line for line in lines if line["type"] == kind][-1]
    match kind:
        case "set_up":
            changed["events"].reverse()
        case "point":
            changed["fallback"] = {"type": "stop"}
        case "view":
            changed["view"]["turn"] += 1
        case "end":
            changed["result"]["turns"] += 1
        case "forged":
            changed["verdict"] = "good"
        case _:
            changed["bodies"][-2] = changed["bodies"][-2].replace("[", "[ ", 1)
    encoded = [json.dumps(line).encode() for line in lines]

    def changed_lines(label: Label) -> list[bytes]:
        return encoded

    monkeypatch.setattr(oracle, "lines_of", changed_lines)
    assert list(compare([label]).differences) == [str(label)]


def test_a_program_that_ends_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "PROGRAM", Path("nowhere.mjs"))
    with pytest.raises((RuntimeError, OSError)):
        compare([Label(TWO, 0, "ended")])
