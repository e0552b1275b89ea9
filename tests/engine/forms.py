"""Other texts for a line of a replay, as a forger could write them.

Law: each text says what the line says, or adds a field that says nothing, and is not the line's canonical
text. So every verifier must refuse each of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any, Final, NamedTuple, cast

import msgspec
from msgspec import NODEFAULT, UNSET, Struct

from stellwerk_bots.planner.policy import planner
from stellwerk_engine.core.state import Seat
from stellwerk_protocol.replays import Line
from tests.engine.recordings import Choose, bodies_of, canonical_json, game_for, mixed, record, resealed
from tests.golden.golden_games import refuse_tickets

_read = msgspec.json.Decoder(Line).decode

Key = str | int
Variant = tuple[str, int, tuple[str, ...]]


class _Members(list[tuple[str, Any]]):  # Any: JSON
    """The members of an object, in any order and as often as somebody likes."""


class Default(NamedTuple):
    """A field that is absent because it has its default."""

    field: str  # `route_claimed.revealed`
    text: bytes  # of the line, if the default is written


def written_defaults(body: bytes) -> Iterator[Default]:
    """Yield the line once for each field that is absent from it, with this field's default."""
    for path, of, default in _absent(_read(body), ()):
        value = json.loads(body)
        target = value
        for key in path[:-1]:
            target = target[key]
        target[path[-1]] = default
        yield Default(f"{of}.{path[-1]}", canonical_json(value))


def _absent(value: object, path: tuple[Key, ...]) -> Iterator[tuple[tuple[Key, ...], str, object]]:
    match value:
        case Struct():
            of = str(value.__struct_config__.tag or type(value).__name__)
            for field in msgspec.structs.fields(value):
                inner = getattr(value, field.name)
                if field.default is not NODEFAULT and inner == field.default:
                    default = None if inner is UNSET else msgspec.to_builtins(inner)
                    yield (*path, field.encode_name), of, default
                else:
                    yield from _absent(inner, (*path, field.encode_name))
        case tuple():
            for number, item in enumerate(cast("tuple[object, ...]", value)):  # pyright knows no items
                yield from _absent(item, (*path, number))
        case _:
            pass


@cache
def lines_with_a_default() -> dict[str, tuple[int, tuple[bytes, ...]]]:
    """Return, for each field that can be absent, a replay in which it is not, and the number of that line."""
    replays: dict[str, tuple[int, tuple[bytes, ...]]] = {}
    for variant, choose, late_seats in _GAMES:
        bodies = bodies_of(record(game_for(*variant), choose, late_seats=late_seats))
        for at, body in enumerate(bodies):
            for field, text in written_defaults(body):
                if field not in replays:
                    replays[field] = at + 1, tuple(resealed([*bodies[:at], text, *bodies[at + 1 :]]))
    return replays


_GAMES: Final[tuple[tuple[Variant, Choose, tuple[Seat, ...]], ...]] = (  # with the seats that are late
    (("team_asia", 4, ()), planner, ()),
    (("team_asia", 4, ()), mixed("2"), ()),
    (("team_asia", 4, ()), mixed("defaults"), (0,)),
    (("europe", 3, ()), mixed("defaults"), (0,)),
    (("card_game", 2, ()), refuse_tickets, ()),
)


def rewritten(body: bytes, chance: Random) -> bytes:
    """Return another text for the line."""
    while True:
        text = chance.choice(_FORMS)(body, chance)
        if text != body:
            return text


def _with_default(body: bytes, chance: Random) -> bytes:
    texts = [default.text for default in written_defaults(body)]
    return chance.choice(texts) if texts else body


def _with_another_field(body: bytes, chance: Random) -> bytes:
    value, members = _read_members(body, chance)
    name = chance.choice(("extra", "constructor", "__proto__", "note", "cards", "seat", "hash", "zzz"))
    members.append((name, chance.choice((0, "", None, False, _Members(), []))))
    if chance.random() < 0.7:
        members.sort(key=_name)
    return _written(value)


def _in_another_order(body: bytes, chance: Random) -> bytes:
    value, members = _read_members(body, chance)
    chance.shuffle(members)
    return _written(value)


def _with_a_name_twice(body: bytes, chance: Random) -> bytes:
    value, members = _read_members(body, chance)
    if members:
        name, inner = chance.choice(members)
        other: object = chance.choice((inner, inner, 0, "red", []))
        members.insert(chance.randrange(len(members) + 1), (name, other))
        if chance.random() < 0.7:
            members.sort(key=_name)
    return _written(value)


def _with_another_number(body: bytes, chance: Random) -> bytes:
    forms = ("{}.0", "{}e0", "{}E+0", "{}0e-1", "0{}", "+{}", "{}.", "-{}", '"{}"', f"{{}}{22 * '0'}e-22")
    return _with_another_token(body, chance, int, lambda number: chance.choice(forms).format(number))


def _with_another_string(body: bytes, chance: Random) -> bytes:
    def escaped(text: str) -> str:
        at = chance.randrange(len(text))
        form = chance.choice((r"\u{:04x}", r"\u{:04X}", r"\u{{{:x}}}", r"\x{:02x}", "\\" + text[at]))
        return f'"{text[:at]}{form.format(ord(text[at]))}{text[at + 1 :]}"'

    return _with_another_token(body, chance, str, lambda text: escaped(text) if text else "''")


def _with_a_blank(body: bytes, chance: Random) -> bytes:
    blanks = (" ", "\t", "\r", "\f", "\u00a0", "\u2028", "\ufeff", "/**/")
    tokens = list(_tokens(json.loads(body, object_pairs_hook=_Members)))
    tokens.insert(chance.randrange(1, len(tokens)), chance.choice(blanks))
    return "".join(tokens).encode()


def _with_a_comma_too_many(body: bytes, chance: Random) -> bytes:
    tokens = list(_tokens(json.loads(body, object_pairs_hook=_Members)))
    places = [at for at, token in enumerate(tokens) if token in ("}", "]", ",")]
    tokens.insert(chance.choice(places), ",")
    return "".join(tokens).encode()


_FORMS: Final[tuple[Callable[[bytes, Random], bytes], ...]] = (
    _with_default,
    _with_default,
    _with_another_field,
    _in_another_order,
    _with_a_name_twice,
    _with_another_number,
    _with_another_string,
    _with_a_blank,
    _with_a_comma_too_many,
)


def _with_another_token(body: bytes, chance: Random, kind: type, form: Callable[[str], str]) -> bytes:
    """Write one of the numbers or strings (those of names, too) in another form."""
    tokens = list(_tokens(json.loads(body, object_pairs_hook=_Members)))
    values = [None if token in "{}[],:" else json.loads(token) for token in tokens]
    places = [at for at, value in enumerate(values) if type(value) is kind]
    if places:
        at = chance.choice(places)
        tokens[at] = form(str(json.loads(tokens[at])))
    return "".join(tokens).encode()


def _read_members(body: bytes, chance: Random) -> tuple[Any, _Members]:  # Any: JSON
    """Return the value of a text, and any of the objects in it."""
    found: list[_Members] = []

    def remember(pairs: list[tuple[str, Any]]) -> _Members:
        found.append(_Members(pairs))
        return found[-1]

    return json.loads(body, object_pairs_hook=remember), chance.choice(found)


def _name(member: tuple[str, object]) -> str:
    return member[0]


def _written(value: object) -> bytes:
    return "".join(_tokens(value)).encode()


def _tokens(value: Any) -> Iterator[str]:  # Any: JSON, its objects as lists of members
    match value:
        case _Members():
            yield "{"
            for number, (name, inner) in enumerate(value):
                yield from (*("," * (number > 0)), json.dumps(name), ":")
                yield from _tokens(inner)
            yield "}"
        case list():
            yield "["
            for number, item in enumerate(cast("list[object]", value)):
                yield from "," * (number > 0)
                yield from _tokens(item)
            yield "]"
        case _:
            yield json.dumps(value, ensure_ascii=False)
