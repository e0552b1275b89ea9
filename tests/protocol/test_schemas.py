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
from stellwerk_protocol.schemas import definition_names, single_schema
from tests.engine.recordings import members, mixed
from tests.golden.golden_games import golden_games
from tests.protocol.test_client_line import MESSAGES, REFUSED
from tests.support import VARIANTS, dealt, variant_id

FILE = Path(__file__).parents[2] / "protocol" / "schema" / "v1.schema.json"
WHOLE: dict[str, Any] = json.loads(FILE.read_text("utf-8"))  # Any: a schema is JSON
DEFINITIONS: dict[str, Any] = WHOLE["$defs"]


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
def validator(definition: str) -> Draft202012Validator:
    checker: Draft202012Validator = Validator(single_schema(WHOLE, definition))
    return checker


def faults(kind: Draft202012Validator, value: Any) -> list[str]:
    # the stub of jsonschema leaves a parameter of an overload untyped
    errors = kind.iter_errors(value)  # pyright: ignore[reportUnknownMemberType]
    return [error.message[:300] for error in errors]


def test_the_bundle_and_each_single_schema_is_valid() -> None:
    Draft202012Validator.check_schema(WHOLE)
    for name in DEFINITIONS:
        Draft202012Validator.check_schema(single_schema(WHOLE, name))


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_client_message_keeps_to_its_schema(message: msgspec.Struct) -> None:
    assert faults(validator("FromClient"), json.loads(msgspec.json.encode(message))) == []


@pytest.mark.parametrize(
    "line",
    [line for line, code, _, _ in REFUSED if code in ("protocol.missing_field", "protocol.wrong_value")],
    ids=lambda line: repr(line)[:50],
)
def test_a_line_that_is_refused_for_its_fields_does_not_keep_to_it(line: bytes) -> None:
    assert faults(validator("FromClient"), json.loads(line)) != []


@pytest.mark.parametrize("game", list(golden_games()), ids=lambda game: game.name)
def test_every_move_event_and_result_of_the_golden_games_keeps_to_its_schema(game: Any) -> None:
    move, event, result = validator("Move"), validator("Event"), validator("Result")
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
    schema = validator("View")
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
    schema = validator("ReplayLine")
    lines = game.file.read_text().splitlines()
    for line in (*lines[:5], *lines[5:-1:29], lines[-1]):
        assert faults(schema, json.loads(line)) == []


def test_a_line_of_a_replay_without_its_hash_or_with_a_strange_field_does_not() -> None:
    line = json.loads(next(golden_games()).file.read_text().splitlines()[1])
    assert faults(validator("ReplayLine"), line) == []
    assert faults(validator("ReplayLine"), line | {"clock": 1}) != []
    assert faults(validator("ReplayLine"), {name: line[name] for name in line if name != "hash"}) != []


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


ALL_PARTS = list(parts_of(WHOLE))


def test_a_pattern_means_the_same_to_every_engine() -> None:
    """None has what RE2 (Go, Rust) lacks, or what engines read differently: `\\d`, `\\s`, `\\Z`."""
    patterns = {part["pattern"] for part in ALL_PARTS if "pattern" in part}
    assert len(patterns) > 5
    for pattern in patterns:
        re.compile(pattern)
        assert pattern.startswith("^")
        assert pattern.endswith("$")
        assert "(?" not in pattern
        assert "\\" not in pattern


def test_one_word_is_a_const_and_several_have_a_name() -> None:
    named = [WHOLE, *DEFINITIONS.values()]
    for part in ALL_PARTS:
        choices = part.get("enum") or part.get("oneOf")
        assert choices is None or (len(choices) > 1 and part in named), part


def test_a_schema_has_no_keyword_that_generators_are_known_to_stumble_over() -> None:
    """`default` would be written where the protocol leaves a field out; `anyOf` is merged into one record."""
    assert {keyword for part in ALL_PARTS for keyword in part} == {
        *("$schema", "$id", "$defs", "$ref", "title", "description", "type", "const", "enum", "oneOf"),
        *("discriminator", "properties", "required", "additionalProperties", "dependentRequired"),
        *("propertyNames", "minProperties", "maxProperties", "items", "minItems", "maxItems"),
        *("pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMaximum"),
    }


def test_a_union_names_the_field_that_distinguishes_its_parts() -> None:
    for part in DEFINITIONS.values():
        if "oneOf" in part:
            field = part["discriminator"]["propertyName"]
            targets = [reference["$ref"] for reference in part["oneOf"]]
            tags = {
                DEFINITIONS[target.removeprefix("#/$defs/")]["properties"][field]["const"]: target
                for target in targets
            }
            assert part["discriminator"] == {"propertyName": field, "mapping": tags}


def test_a_definition_has_the_name_that_generators_give_its_type() -> None:
    for name, definition in DEFINITIONS.items():
        assert re.fullmatch(r"([A-Z][a-z]*)+", name), name
        assert definition["title"] == name


def test_the_root_contains_every_definition() -> None:
    """So a generator that starts from the root leaves out none."""
    reached = {"Message", "ReplayLine", "Board"}
    assert WHOLE["oneOf"] == [{"$ref": f"#/$defs/{name}"} for name in ("Message", "ReplayLine", "Board")]
    for name in sorted(reached):
        reached |= {*single_schema(WHOLE, name).get("$defs", ())}
    # The two sides of `Message` have names of their own, for programs that read one of them.
    assert reached == {*DEFINITIONS} - {"FromServer", "FromClient"}


def test_whatever_stands_alone_is_one_thing_only() -> None:
    """A line of a session, a line of a replay and a board are never mistaken for each other (`oneOf`)."""
    # jsonschema as it is: `part_by_type` above needs a discriminator
    root = Draft202012Validator(WHOLE)
    game = next(golden_games()).file.read_text().splitlines()
    examples = (FILE.parents[1] / "examples" / "usa.jsonl").read_text("utf-8").splitlines()
    first = {json.loads(line)["line"]["type"]: json.loads(line)["line"] for line in examples}
    for value in (first["start"]["board"], *first.values(), *map(json.loads, (*game[:3], game[-1]))):
        assert faults(root, value) == []


def test_every_message_can_be_named_by_its_type() -> None:
    names = definition_names(WHOLE)
    types = {
        each["properties"]["type"]["const"]: name for name, each in DEFINITIONS.items() if is_message(name)
    }
    assert types.items() <= names.items()
    assert {*names} == {*DEFINITIONS, *types}


def is_message(name: str) -> bool:
    return {"$ref": f"#/$defs/{name}"} in DEFINITIONS["Message"]["oneOf"]


def test_the_board_of_a_match_is_a_board() -> None:
    assert DEFINITIONS["Start"]["properties"]["board"] == {"$ref": "#/$defs/Board"}
