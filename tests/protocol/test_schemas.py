"""The JSON Schemas are generated from today's types, and everything on the wire conforms to them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator, ValidationError, validators

from stellwerk_engine import engine
from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC, view
from stellwerk_protocol.schemas import schemas
from tests.engine.recordings import members, mixed
from tests.golden.golden_games import golden_games
from tests.protocol.test_client_line import MESSAGES, REFUSED
from tests.support import VARIANTS, dealt, variant_id

FOLDER = Path(__file__).parents[2] / "protocol" / "schema" / "v1"


def pattern_of_ecma(
    validator: Any, pattern: str, instance: object, schema: object
) -> Iterator[ValidationError]:  # Any: jsonschema has no type for a validator in the making
    """Check a pattern as JSON Schema defines it: `$` is the end, and no newline may follow it, unlike in
    Python."""
    del validator, schema
    if isinstance(instance, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def part_by_type(
    validator: Any, parts: list[dict[str, str]], instance: object, schema: dict[str, Any]
) -> Iterator[ValidationError]:  # Any: as above
    """Check only the part of a union that its discriminator names, instead of each of 33 in turn.

    `tests/server/match/test_lines.py` takes jsonschema as it is.
    """
    mapping = schema["discriminator"]["mapping"]
    kind = members(instance).get("type")
    if not isinstance(kind, str) or kind not in mapping:
        yield ValidationError(f"{instance!r} is none of {', '.join(mapping)}")
        return
    part = {"$ref": mapping[kind]}
    assert part in parts
    yield from validator.descend(instance, part)


# Any: the stub of jsonschema leaves `extend` untyped
Validator: Any = validators.extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {"pattern": pattern_of_ecma, "oneOf": part_by_type}
)


@cache
def validator(kind: str) -> Draft202012Validator:
    checker: Draft202012Validator = Validator(json.loads((FOLDER / f"{kind}.schema.json").read_text()))
    return checker


def faults(kind: Draft202012Validator, value: Any) -> list[str]:
    # the stub of jsonschema leaves a parameter of an overload untyped
    errors = kind.iter_errors(value)  # pyright: ignore[reportUnknownMemberType]
    return [error.message[:300] for error in errors]


def test_the_schemas_in_the_repository_are_made_from_the_types_of_today() -> None:
    """If not: `make schemas`."""
    written = {str(file.relative_to(FOLDER)): file.read_text() for file in FOLDER.rglob("*.json")}
    assert written == schemas()


@pytest.mark.parametrize("file", schemas())
def test_a_schema_is_valid(file: str) -> None:
    Draft202012Validator.check_schema(json.loads((FOLDER / file).read_text()))


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


@pytest.mark.parametrize("game", list(golden_games()), ids=lambda game: game.name)
def test_every_line_of_a_replay_keeps_to_its_schema(game: Any) -> None:
    schema = validator("replay")
    lines = game.file.read_text().splitlines()
    for line in (*lines[:5], *lines[5:-1:29], lines[-1]):
        assert faults(schema, json.loads(line)) == []


def test_a_line_of_a_replay_without_its_hash_or_with_a_strange_field_does_not() -> None:
    line = json.loads(next(golden_games()).file.read_text().splitlines()[1])
    assert faults(validator("replay"), line) == []
    assert faults(validator("replay"), line | {"clock": 1}) != []
    assert faults(validator("replay"), {name: line[name] for name in line if name != "hash"}) != []


# -- what generators need ----------------------------------------------------------------------------


def parts_of(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a schema and every schema in it."""
    yield schema
    inner = [
        *schema.get("$defs", {}).values(),
        *schema.get("properties", {}).values(),
        *schema.get("oneOf", ()),
    ]
    inner += [schema[name] for name in ("items", "propertyNames", "additionalProperties") if schema.get(name)]
    for part in inner:
        yield from parts_of(part)


def all_parts() -> list[dict[str, Any]]:
    return [part for text in schemas().values() for part in parts_of(json.loads(text))]


def test_a_pattern_means_the_same_to_every_engine() -> None:
    """None has what RE2 (Go, Rust) lacks, or what engines read differently: `\\d`, `\\s`, `\\Z`."""
    patterns = {part["pattern"] for part in all_parts() if "pattern" in part}
    assert len(patterns) > 5
    for pattern in patterns:
        re.compile(pattern)
        assert pattern.startswith("^")
        assert pattern.endswith("$")
        assert "(?" not in pattern
        assert "\\" not in pattern


def test_one_word_is_a_const_and_several_have_a_name() -> None:
    for name, text in schemas().items():
        schema = json.loads(text)
        named = [schema, *schema.get("$defs", {}).values()]
        for part in parts_of(schema):
            choices = part.get("enum") or part.get("oneOf")
            assert choices is None or (len(choices) > 1 and part in named), name


def test_a_schema_has_no_keyword_that_generators_are_known_to_stumble_over() -> None:
    """`default` would be written where the protocol leaves a field out; `anyOf` is merged into one record."""
    keywords = {keyword for part in all_parts() for keyword in part}
    assert keywords == {
        *("$schema", "$id", "$defs", "$ref", "title", "description", "type", "const", "enum", "oneOf"),
        *("discriminator", "properties", "required", "additionalProperties", "dependentRequired"),
        *("propertyNames", "minProperties", "maxProperties", "items", "minItems", "maxItems"),
        *("pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMaximum"),
    }


def test_a_union_names_the_field_that_distinguishes_its_parts() -> None:
    for text in schemas().values():
        schema = json.loads(text)
        for part in (schema, *schema.get("$defs", {}).values()):
            if "oneOf" not in part:
                continue
            tags = {
                schema["$defs"][reference["$ref"].removeprefix("#/$defs/")]["properties"]["type"]["const"]:
                reference["$ref"]
                for reference in part["oneOf"]
            }  # fmt: skip
            assert part["discriminator"] == {"propertyName": "type", "mapping": tags}


def test_a_definition_has_one_name_and_is_the_same_in_every_file() -> None:
    seen: dict[str, Any] = {}
    for text in schemas().values():
        schema = json.loads(text)
        root = {keyword: value for keyword, value in schema.items() if keyword[0] != "$"}
        for name, definition in {**schema.get("$defs", {}), schema["title"]: root}.items():
            assert re.fullmatch(r"([A-Z][a-z]*)+", name), name
            assert definition["title"] == name
            assert seen.setdefault(name, definition) == definition


def test_every_message_has_a_file_of_its_own() -> None:
    for name in schemas():
        if name.startswith("messages/"):
            schema = json.loads(schemas()[name])
            assert f"messages/{schema['properties']['type']['const']}.schema.json" == name
    mapping = json.loads(schemas()["message.schema.json"])["discriminator"]["mapping"]
    assert {f"messages/{tag}.schema.json" for tag in mapping} < set(schemas())


def test_the_board_of_a_match_is_a_board() -> None:
    start = json.loads(schemas()["messages/start.schema.json"])
    assert start["properties"]["board"] == {"$ref": "#/$defs/Board"}
