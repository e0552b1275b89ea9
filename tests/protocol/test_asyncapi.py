"""The AsyncAPI document is complete, and describes the existing messages.

No validator of AsyncAPI 3.0 for Python is well maintained. So these tests check what AsyncAPI demands of the
objects in use: required fields, no unknown fields, every reference resolves, and the references of an
operation lead to messages of its channel.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, get_args

import pytest
import yaml
from jsonschema import Draft202012Validator

from stellwerk_protocol import messages
from stellwerk_protocol.schemas import bundle, definition_names
from tests.engine.recordings import members
from tests.protocol.test_schemas import faults
from tools.specification import FOLDER

FILE = FOLDER / "asyncapi.yaml"
DOCUMENT: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))

FROM_CLIENT = {kind.__struct_config__.tag: kind for kind in get_args(messages.FromClient)}
FROM_SERVER = {kind.__struct_config__.tag: kind for kind in get_args(messages.FromServer)}

TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
REFERENCE: dict[str, Any] = {
    "type": "object",
    "required": ["$ref"],
    "additionalProperties": False,
    "properties": {"$ref": {"type": "string", "pattern": "^#/"}},
}


def record(required: str, **fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": required.split(),
        "additionalProperties": False,
        "properties": fields,
    }


def by_id(of: dict[str, Any]) -> dict[str, Any]:
    """Return the objects by id. AsyncAPI has a pattern for the ids of channels, operations, messages and
    servers."""
    return {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": False,
        "patternProperties": {r"^[\w\d.\-_]+$": of},
    }


def listed(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "uniqueItems": True, "items": of}


SERVER = record("host protocol", host=TEXT, protocol=TEXT, description=TEXT)
CHANNEL = record(
    "address messages",
    address={"type": ["string", "null"]},
    title=TEXT,
    description=TEXT,
    servers=listed(REFERENCE),
    messages=by_id(REFERENCE),
)
OPERATION = record(
    "action channel messages",
    action={"enum": ["send", "receive"]},
    summary=TEXT,
    channel=REFERENCE,
    messages=listed(REFERENCE),
    reply=record("channel messages", channel=REFERENCE, messages=listed(REFERENCE)),
)
MESSAGE = record(
    "name summary payload",
    name=TEXT,
    summary=TEXT,
    payload=record(
        "schemaFormat schema",
        schemaFormat={"const": "application/schema+json;version=2020-12"},
        schema={
            "type": "object",
            "required": ["$ref"],
            "additionalProperties": False,
            "properties": {"$ref": TEXT},
        },
    ),
)
STRUCTURE = record(
    "asyncapi info channels operations components",
    asyncapi={"const": "3.0.0"},
    info=record(
        "title version", title=TEXT, version=TEXT, description=TEXT, license=record("name", name=TEXT)
    ),
    defaultContentType={"const": "application/json"},
    servers=by_id(SERVER),
    channels=by_id(CHANNEL),
    operations=by_id(OPERATION),
    components=record("messages", messages=by_id(MESSAGE)),
)


def test_the_document_has_the_structure_of_asyncapi() -> None:
    assert faults(Draft202012Validator(STRUCTURE), DOCUMENT) == []


@pytest.mark.parametrize("part", ["channels", "operations", "components", "info"])
def test_a_document_without_a_part_or_with_a_strange_field_has_not(part: str) -> None:
    without = {name: value for name, value in DOCUMENT.items() if name != part}
    strange = DOCUMENT | {part: DOCUMENT[part] | {"chanels": {}}}
    assert faults(Draft202012Validator(STRUCTURE), without) != []
    assert faults(Draft202012Validator(STRUCTURE), strange) != []


def references(value: Any) -> Iterator[str]:
    for name, inner in members(value).items():
        if name == "$ref":
            yield inner
        else:
            yield from references(inner)


def resolved(document: Any, pointer: str) -> Any:
    """Return the target of a JSON Pointer. Raise KeyError if there is none."""
    for name in pointer.split("/")[1:]:
        document = document[name.replace("~1", "/").replace("~0", "~")]
    return document


def test_every_reference_resolves() -> None:
    documents = {"": DOCUMENT}
    for target in sorted(set(references(DOCUMENT))):
        file, _, pointer = target.partition("#")
        if file not in documents:
            documents[file] = json.loads((FOLDER / file).read_text(encoding="utf-8"))
        assert resolved(documents[file], pointer), target


def test_its_messages_are_those_that_there_are() -> None:
    assert set(DOCUMENT["components"]["messages"]) == set(FROM_CLIENT) | set(FROM_SERVER)
    (channel,) = DOCUMENT["channels"].values()
    assert channel["messages"] == {
        name: {"$ref": f"#/components/messages/{name}"} for name in DOCUMENT["components"]["messages"]
    }


@pytest.mark.parametrize("name", sorted(FROM_CLIENT | FROM_SERVER))
def test_the_payload_of_a_message_is_its_schema(name: str) -> None:
    message = DOCUMENT["components"]["messages"][name]
    assert message["name"] == name
    definition = definition_names(bundle())[name]
    assert message["payload"]["schema"]["$ref"] == f"schema/v1.schema.json#/$defs/{definition}"


def names_of(messages_used: list[dict[str, str]]) -> set[str]:
    """Return the names in references to the channel (AsyncAPI demands these instead of references to the
    components)."""
    prefix = "#/channels/connection/messages/"
    assert all(reference["$ref"].startswith(prefix) for reference in messages_used)
    return {reference["$ref"].removeprefix(prefix) for reference in messages_used}


@pytest.mark.parametrize("operation", DOCUMENT["operations"].values(), ids=list(DOCUMENT["operations"]))
def test_an_operation_sends_what_the_server_sends_and_receives_what_clients_send(operation: Any) -> None:
    side = FROM_SERVER if operation["action"] == "send" else FROM_CLIENT
    assert names_of(operation["messages"]) <= set(side)
    if "reply" in operation:
        assert operation["action"] == "receive"
        assert names_of(operation["reply"]["messages"]) <= set(FROM_SERVER)


def test_every_message_is_sent_or_received_by_some_operation() -> None:
    used: set[str] = set()
    for operation in DOCUMENT["operations"].values():
        used |= names_of(operation["messages"])
        used |= names_of(operation.get("reply", {}).get("messages", []))
    assert used == set(FROM_CLIENT) | set(FROM_SERVER)
