"""The messages as types of the Python client: `stellwerk_bots/messages.py`, written from the schema.

The law: the module says what the bundle says, seen from a client that plays and asks for everything in its
logins. So its asks have views and legal moves, and its views a seat.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, TypeAlias

from stellwerk_protocol import schemas
from stellwerk_protocol.canonical import LARGEST_INT
from stellwerk_protocol.schemas import DEFINITIONS, Schema, references

Definitions: TypeAlias = dict[str, Schema]

WIDTH: Final = 110
HEAD: Final = '''\
"""The messages of the protocol as types, for editors and type checkers.

The law: this file says what the JSON Schema says, under the same names, and `make generate` writes it. A
message is the dict that `json` reads: these types change nothing at run time. Fields that not every game has,
or that not every viewer may see, are NotRequired: look with `in`, or use `get`. The client asks for views and
legal moves in each login, so an `Ask` has both.
"""

from typing import Literal, NotRequired, TypeAlias, TypedDict
'''

# What is always there for a client that plays, and wants everything.
ALWAYS: Final = {"Ask": ("view", "legal", "legal_complete"), "View": ("seat", "pending"), "Start": ("seat",)}
OWN: Final = ("hand", "tickets", "returned")
OWN_VIEW: Final = "The part of a view that is the viewer's own."
WATCHED_START: Final = "The beginning of a match, as a spectator gets it."


def files() -> Iterator[tuple[str, bytes]]:
    yield "messages.py", _module(_seen_by_players(schemas.bundle()["$defs"])).encode()


def _seen_by_players(definitions: Definitions) -> Definitions:
    """Return the definitions as a client meets them that plays and wants everything."""
    start, player = definitions["Start"], definitions["PlayerView"]
    cards = definitions["Cards"]
    return definitions | {
        "Cards": {"type": "object", "propertyNames": {"$ref": DEFINITIONS + "Color"}}
        | {"additionalProperties": cards["properties"]["red"], "description": cards["description"]},
        **{name: _requiring(definitions[name], fields) for name, fields in ALWAYS.items()},
        "OwnView": _requiring(player, OWN) | {"description": OWN_VIEW},
        "WatchedStart": start
        | {"properties": {name: field for name, field in start["properties"].items() if name != "seat"}}
        | {"description": WATCHED_START},
    }


def _requiring(schema: Schema, fields: tuple[str, ...]) -> Schema:
    return schema | {"required": [*schema["required"], *fields]}


def _module(definitions: Definitions) -> str:
    """Write the module: every name comes after those that it uses."""
    written: dict[str, str] = {}

    def write(name: str) -> None:
        if name not in written:
            for other in references(definitions[name]):
                write(other)
            written[name] = _definition(name, definitions[name])

    for name in ("FromServer", "FromClient", "WatchedStart", "OwnView"):
        write(name)
    pieces = [HEAD, *written.values(), _legal_by_type(definitions["Move"])]
    module = ""
    for before, piece in pairwise(pieces):
        module += before + ("\n" if "TypeAlias" in before and "TypeAlias" in piece else "\n\n")
    return module + pieces[-1]


def _legal_by_type(move: Schema) -> str:
    """Write the type of listed moves by their types. One of these is a keyword of Python."""
    references = move["discriminator"]["mapping"].items()
    lines = [f'        "{tag}": list[tuple[int, {_type({"$ref": name})}]],' for tag, name in references]
    head = 'LegalByType = TypedDict(\n    "LegalByType",\n    {\n'
    text = '"""Listed moves with their indexes in `legal`, by type."""'
    return head + "\n".join(lines) + f"\n    }},\n    total=False,\n)\n{text}\n"


def _definition(name: str, schema: Schema) -> str:
    if "oneOf" in schema:
        return _alias(name, "(", [_type(choice) for choice in schema["oneOf"]], " |", ")")
    if "enum" in schema:
        return _alias(name, "Literal[", [f'"{word}"' for word in schema["enum"]], ",", "]")
    if "properties" not in schema:
        about = f'"""{schema["description"]}"""\n' if "description" in schema else ""
        return f"{name}: TypeAlias = {_type(schema)}{_bounds(schema)}\n{about}"
    properties = schema["properties"]
    lines = [f"class {name}(TypedDict):"]
    if "description" in schema:
        text = f'"""{schema["description"]}"""'
        lines += textwrap.wrap(text, WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 4)
        lines += [""] if properties else []
    for field, inner in properties.items():
        kind = _type(inner)
        lines.append(f"    {field}: {kind if field in schema['required'] else f'NotRequired[{kind}]'}")
    return "\n".join(lines) + "\n"


def _alias(name: str, opening: str, choices: list[str], separator: str, closing: str) -> str:
    """Write an alias of several choices: in one line if it fits."""
    joined = f"{separator} ".join(choices)
    brackets = ("", "") if opening == "(" else (opening, closing)
    if len(line := f"{name}: TypeAlias = {brackets[0]}{joined}{brackets[1]}") <= WIDTH:
        return line + "\n"
    if opening == "(" and len(joined) + 4 <= WIDTH:
        rows = [f"    {joined}"]
    elif opening == "(":
        rows = [f"    {'| ' if number else ''}{choice}" for number, choice in enumerate(choices)]
    else:
        rows = [f"    {choice}," for choice in choices]
    return "\n".join([f"{name}: TypeAlias = {opening}", *rows, closing]) + "\n"


def _type(schema: Schema) -> str:
    """Return the Python type of a schema, as it is written inside of another one."""
    match schema:
        case {"$ref": reference}:
            return str(reference).removeprefix(DEFINITIONS)
        case {"const": word}:
            return f'Literal["{word}"]'
        case {"type": "array", "items": items}:
            return f"list[{_type(items)}]"
        case {"type": "object", "propertyNames": names, "additionalProperties": values}:
            return f"dict[{_type(names)}, {_type(values)}]"
        case _:
            return {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}[schema["type"]]


def _bounds(schema: Schema) -> str:
    """Return what a number or a text is limited to, as a comment."""
    words: list[str] = []
    if "minimum" in schema:
        largest = schema.get("maximum", schema.get("exclusiveMaximum", 0) - 1)
        words.append(f"{schema['minimum']} to {'2**53 - 1' if largest == LARGEST_INT else largest}")
    if "maxLength" in schema:
        words.append(f"{schema.get('minLength', 0)} to {schema['maxLength']} characters")
    if "pattern" in schema:
        words.append(schema["pattern"])
    return f"  # {', '.join(words)}" if words else ""
