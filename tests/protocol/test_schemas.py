"""The JSON Schemas are those of the types, and what is on the wire keeps to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from stellwerk_engine import engine
from stellwerk_engine.view import ALL_HANDS, PUBLIC, view
from stellwerk_protocol.schemas import KINDS, schemas
from tests.engine.recordings import mixed
from tests.golden.golden_games import golden_games
from tests.protocol.test_client_line import MESSAGES, REFUSED
from tests.support import VARIANTS, dealt, variant_id

FOLDER = Path(__file__).parents[2] / "protocol" / "schema" / "v1"


def validator(kind: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((FOLDER / f"{kind}.schema.json").read_text()))


def faults(kind: Draft202012Validator, value: Any) -> list[str]:
    # the stub of jsonschema leaves a parameter of an overload untyped
    found = kind.iter_errors(value)  # pyright: ignore[reportUnknownMemberType]
    return [error.message[:300] for error in found]


def test_the_schemas_in_the_repository_are_made_from_the_types_of_today() -> None:
    """Else: `make schemas`."""
    assert {file.name: file.read_text() for file in FOLDER.iterdir()} == schemas()


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_valid(kind: str) -> None:
    schema = json.loads((FOLDER / f"{kind}.schema.json").read_text())
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_client_message_keeps_to_its_schema(message: msgspec.Struct) -> None:
    assert faults(validator("from_client"), json.loads(msgspec.json.encode(message))) == []


@pytest.mark.parametrize(
    "line",
    [line for line, code, _, _ in REFUSED if code in ("protocol.missing_field", "protocol.wrong_value")],
    ids=lambda line: repr(line)[:50],
)
def test_a_line_that_is_refused_for_its_fields_does_not_keep_to_it(line: bytes) -> None:
    assert faults(validator("from_client"), json.loads(line)) != []


@pytest.mark.parametrize("game", list(golden_games()), ids=lambda game: game.name)
def test_every_move_event_and_result_of_the_golden_games_keeps_to_its_schema(game: Any) -> None:
    move, event, result = validator("move"), validator("event"), validator("result")
    for line in game.file.read_text().splitlines()[::7]:
        record = json.loads(line)
        if "move" in record:
            assert faults(move, record["move"]) == []
        for happened in record.get("events", []):
            assert faults(event, happened) == []
        if "result" in record:
            assert faults(result, record["result"]) == []


@pytest.mark.parametrize("variant", VARIANTS, ids=variant_id)
def test_the_views_of_a_game_keep_to_their_schema(variant: tuple[str, int, tuple[str, ...]]) -> None:
    state = dealt(*variant, seed="schema")
    choose = mixed("schema")
    schema = validator("view")
    step = 0
    while state.pending is not None:
        for seat in engine.owing(state):
            if step % 40 == 0:
                for viewer in (seat, PUBLIC, ALL_HANDS):
                    assert faults(schema, json.loads(msgspec.json.encode(view(state, viewer)))) == []
            step += 1
            engine.apply(state, seat, choose(state, seat, engine.legal(state, seat)))
    assert faults(schema, json.loads(msgspec.json.encode(view(state, 0)))) == []
