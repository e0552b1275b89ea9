"""Rule sets and their descriptions: each makes the other, whatever parts a game has."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec.inspect import (
    BoolType,
    DictType,
    IntType,
    LiteralType,
    Metadata,
    StrType,
    StructType,
    Type,
    UnionType,
    VarTupleType,
    type_info,
)

from stellwerk_engine.core.state import Option, RuleSet
from stellwerk_engine.games.described import KINDS, SETS, described_fields, parts_of, rules_of
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_protocol.canonical import decode_as, encode
from stellwerk_protocol.parts import Parts

DECODER = msgspec.json.Decoder(Parts)
SHIPPED = [(rules, option) for rules in RULE_SETS.values() for option in (None, *rules.options)]


@pytest.mark.parametrize(("rules", "option"), SHIPPED, ids=lambda value: getattr(value, "id", "plain"))
def test_a_shipped_game_is_described_and_made_again(rules: RuleSet, option: Option | None) -> None:
    parts = parts_of(rules)
    if option is not None:
        parts = msgspec.structs.replace(parts, **described_fields(option.changes))
    read = decode_as(encode(parts), DECODER)
    made = rules_of(read, rules.id, rules.rules_version, 2)
    assert read == parts
    assert parts_of(made) == parts
    assert [type(part) for part in made.parts] == [type(part) for part in rules.parts]


@pytest.mark.parametrize("seed", range(50))
def test_rules_of_any_parts_are_described_by_these(seed: int) -> None:
    parts = _random_value(type_info(Parts), Random(seed))
    read = decode_as(encode(parts), DECODER)
    assert parts_of(rules_of(read, "made_up", 1, 2)) == read == parts


def test_every_part_on_the_wire_is_a_part_of_the_engine() -> None:
    records = {*_records(type_info(Parts))}
    assert records == {Parts, *KINDS}


def _random_value(info: Type, dice: Random) -> Any:  # Any: whatever the type describes
    match info:
        case Metadata(type=inner):
            return _random_value(inner, dice)
        case BoolType():
            return dice.random() < 0.5
        case IntType(ge=ge, le=le):
            assert ge is not None
            assert le is not None
            return dice.randint(ge, le)
        case LiteralType(values=values):
            return dice.choice(values)
        case StrType():
            return dice.choice(("2", "3"))
        case VarTupleType(item_type=item, min_length=least, max_length=most):
            assert most is not None
            return tuple(_random_value(item, dice) for _ in range(dice.randint(least or 0, min(most, 3))))
        case DictType(key_type=key, value_type=value):
            return {_random_value(key, dice): _random_value(value, dice) for _ in range(dice.randint(0, 2))}
        case UnionType(types=types):
            return _random_value(dice.choice(types), dice)
        case StructType(cls=kind, fields=fields):
            drawn = {
                field.name: _random_value(field.type, dice)
                for field in fields
                if field.required or dice.random() < 0.5
            }
            return kind(
                **{name: tuple(sorted({*value})) if name in SETS else value for name, value in drawn.items()}
            )
        case _:
            raise NotImplementedError(info)


def _records(info: Type) -> Iterator[type[object]]:
    match info:
        case Metadata(type=inner):
            yield from _records(inner)
        case VarTupleType(item_type=item):
            yield from _records(item)
        case UnionType(types=types):
            for each in types:
                yield from _records(each)
        case StructType(cls=kind, fields=fields):
            yield kind
            for field in fields:
                yield from _records(field.type)
        case _:
            pass
