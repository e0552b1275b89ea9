"""The JSON Schema (2020-12) of everything on the wire, of boards and of replays, generated from the types.

The law: the usual generators produce good types from the bundle and from each schema in it. Every record,
union, list of words and bounded value has one definition with one name, and no name needs a number after it.
A tag is a `const`, a union a `oneOf`, with a `discriminator` if its parts have tags, and a pattern means the
same to every engine for regular expressions.

`protocol/schema/v1.schema.json` is the bundle, for those without Python. A test fails when it is stale, and
`make generate` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, TypeAlias, get_args

import msgspec
from msgspec import Struct

from stellwerk_protocol import (
    boards,
    cards,
    decisions,
    error_codes,
    events,
    messages,
    moves,
    names,
    parts,
    replays,
    results,
    technologies,
    views,
)

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
DEFINITIONS: Final = "#/$defs/"

Schema: TypeAlias = dict[str, Any]  # Any: a schema is JSON

MODULES: Final = (
    messages,
    decisions,
    moves,
    events,
    views,
    results,
    cards,
    technologies,
    parts,
    boards,
    replays,
)

# The names of the definitions of a module's records. Some records of different modules have the same name,
# and generated code puts all of them side by side.
NAME_FORMS: Final = {decisions.__name__: "{}Decision", parts.__name__: "{}Part", replays.__name__: "Replay{}"}
RENAMED: Final[dict[type[Struct], str]] = {
    messages.Error: "ErrorMessage",  # most languages have their own Error
    parts.Parts: "Parts",
}

# The lists of words and the unions that several records share. Python does not know their names.
WORDS: Final[dict[str, Any]] = {  # Any: unions and literals are not classes
    "Color": names.Color,
    "Place": names.Place,
    "Viewer": names.Viewer,
    "EndReason": names.EndReason,
    "DefaultReason": messages.DefaultReason,
    "ErrorCode": error_codes.ErrorCode,
    "BonusAmount": parts.BonusAmount,
}
UNIONS: Final[dict[str, Any]] = {
    "Message": messages.FromServer | messages.FromClient,
    "FromServer": messages.FromServer,
    "FromClient": messages.FromClient,
    "Move": moves.Move,
    "Decision": decisions.Decision,
    "Event": events.Event,
    "ReplayLine": replays.Line,
    "SetUpPart": parts.SetUpPart,
    "MenuPart": parts.MenuPart,
    "LastRoundPart": parts.LastRound,
    "BonusPart": parts.PartBonus,
    "OwnersBonusPart": parts.OwnersBonus,
}

WHOLE: Final = ("Message", "ReplayLine", "Board")
"""A line of a session, a line of a replay, and a board file: everything else is a part of these."""
SIDES: Final = ("FromServer", "FromClient")
"""The parts of `Message`, for programs that read one side."""

# msgspec cannot express this: a board has all of these fields or none.
BOARD_DEPENDENCIES: Final = {
    "routes": ["trains", "route_points"],
    "trains": ["routes"],
    "route_points": ["routes"],
    "city_groups": ["routes"],
}


def bundle() -> Schema:
    """Return the schema with every definition. Its root has the messages that stand alone."""
    definitions = _Definitions().by_name
    used = _closure((*WHOLE, *SIDES), definitions)
    return {
        "$schema": DIALECT,
        "$id": "stellwerk/v1",
        "title": "Stellwerk",
        "oneOf": [_reference(name) for name in WHOLE],
        "$defs": {name: definitions[name] for name in sorted(used)},
    }


def definition_names(bundle: Schema) -> dict[str, str]:
    """Return the name of each definition by the names that a person may give it: its own, and the type of a
    message."""
    definitions = bundle["$defs"]
    tags = definitions["Message"]["discriminator"]["mapping"]
    types = {tag: reference.removeprefix(DEFINITIONS) for tag, reference in tags.items()}
    return {name: name for name in definitions} | types


def single_schema(bundle: Schema, name: str) -> Schema:
    """Return the schema of one definition of a bundle. It contains every definition that it uses."""
    definitions = bundle["$defs"]
    schema: Schema = {"$schema": DIALECT, "$id": f"{bundle['$id']}/{name}"} | definitions[name]
    if others := _closure((name,), definitions)[1:]:
        schema["$defs"] = {other: definitions[other] for other in others}
    return schema


def text(schema: Schema) -> str:
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def _closure(names: Iterable[str], definitions: dict[str, Schema]) -> list[str]:
    """Return the names, and the names of all definitions that these use."""
    used = [*names]
    for name in used:  # which grows here
        used += [other for other in references(definitions[name]) if other not in used]
    return used


def references(schema: Schema) -> list[str]:
    """Return the names of the definitions that a schema refers to, in their order."""
    if "$ref" in schema:
        return [schema["$ref"].removeprefix(DEFINITIONS)]
    inner = [*schema.get("properties", {}).values(), *schema.get("oneOf", [])]
    inner += [
        schema[keyword]
        for keyword in ("items", "additionalProperties", "propertyNames")
        if schema.get(keyword)
    ]
    return list(dict.fromkeys(name for part in inner for name in references(part)))


# -- from msgspec's schemas --------------------------------------------------------------------------


class _Definitions:
    """The definitions of all types, rewritten from what msgspec makes.

    msgspec names a record after its class, and also after its module if two classes have the same name. It
    writes everything else in place. Here everything that needs a name gets one, and its place gets a
    reference.
    """

    def __init__(self) -> None:
        records = _records()
        shared = WORDS | UNIONS
        places, components = msgspec.json.schema_components(
            (*records, *shared.values()), ref_template="{name}"
        )
        self.by_name: dict[str, Schema] = {}
        self._records = {place["$ref"]: _name_of(kind) for place, kind in zip(places, records, strict=False)}
        self._shared: dict[frozenset[str], str] = {}
        for name, place in zip(shared, places[len(records) :], strict=True):
            self._choice(place, name)
        for component, schema in components.items():
            name = self._records[component]
            self._define(name, self._rewritten(schema, name) | {"title": name})
        self.by_name["Board"]["dependentRequired"] = BOARD_DEPENDENCIES
        for line in get_args(replays.Line):
            self._seal(self.by_name[_name_of(line)])

    def _rewritten(self, schema: Schema, name: str) -> Schema:
        """Return the schema in the form of the bundle. A list of words that has no other user is called
        `name`."""
        if "$ref" in schema:
            return _reference(self._records[schema["$ref"]])
        if "enum" in schema or "anyOf" in schema:
            return self._choice(schema, name)
        rewritten: Schema = {}
        for keyword, value in schema.items():
            match keyword:
                case "default":
                    pass  # generated code would write the default, and the protocol omits it
                case "description":
                    rewritten[keyword] = " ".join(value.split())
                case "pattern":
                    rewritten[keyword] = value.replace(names.END, "$")
                case "properties":
                    rewritten[keyword] = {
                        field: self._rewritten(inner, name + _camel_case(field))
                        for field, inner in value.items()
                    }
                case "propertyNames":
                    rewritten[keyword] = self._rewritten({"type": "string"} | value, name)
                case "items" | "additionalProperties" if value is not False:
                    rewritten[keyword] = self._rewritten(value, name)
                case _:
                    rewritten[keyword] = value
        title = schema.get("title")
        if title is None or schema.get("type") == "object":
            return rewritten
        if title not in self._records.values():
            self._define(title, rewritten)
        return _reference(title)

    def _choice(self, schema: Schema, name: str) -> Schema:
        """Return a reference to a list of words, or to a union, which is called `name` if it is new."""
        choices = _choices(schema)
        if len(choices) == 1:
            return {"type": "string", "const": choices[0]}
        name = self._shared.setdefault(frozenset(choices), name)
        if "discriminator" not in schema:
            self._define(name, {"title": name, "type": "string", "enum": choices})
            return _reference(name)
        references = {
            tag: _reference(self._records[kind]) for tag, kind in schema["discriminator"]["mapping"].items()
        }
        discriminator = {
            "propertyName": schema["discriminator"]["propertyName"],
            "mapping": {tag: reference["$ref"] for tag, reference in references.items()},
        }
        self._define(name, {"title": name, "oneOf": [*references.values()], "discriminator": discriminator})
        return _reference(name)

    def _define(self, name: str, schema: Schema) -> None:
        if self.by_name.setdefault(name, schema) != schema:
            raise ValueError(f"two types are called {name}")

    def _seal(self, line: Schema) -> None:
        """Add the hash of a replay's line, which is not part of its record."""
        line["properties"]["hash"] = _reference("Digits")
        line["required"].append("hash")


def _records() -> list[type[Struct]]:
    """Return every record of the modules, without the bases that have no name."""
    return [
        kind
        for module in MODULES
        for kind in vars(module).values()
        if isinstance(kind, type)
        and issubclass(kind, Struct)
        and kind.__module__ == module.__name__
        and not kind.__name__.startswith("_")
    ]


def _name_of(record: type[Struct]) -> str:
    form = NAME_FORMS.get(record.__module__, "{}")
    return RENAMED.get(record) or form.format(record.__name__)


def _choices(schema: Schema) -> list[str]:
    """Return the words of one list or of several, or the records of a union."""
    if "anyOf" in schema:
        return [choice for part in schema["anyOf"] for choice in _choices(part)]
    return [schema["$ref"]] if "$ref" in schema else list(schema["enum"])


def _reference(name: str) -> Schema:
    return {"$ref": DEFINITIONS + name}


def _camel_case(field: str) -> str:
    return "".join(word.capitalize() for word in field.split("_"))
