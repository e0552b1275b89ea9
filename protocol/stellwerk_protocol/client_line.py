"""A reader of client lines that trusts nothing: a line becomes a message, or a `LineError` that says what to
correct.

The law: nothing else comes out, for any input. msgspec alone would let other exceptions escape, keep the
last of duplicate names, skip broken UTF-8 in unknown fields and accept numbers of any size. So the line
passes a gate before msgspec, and each complaint of msgspec is translated into a code, a place and an
expectation.

The gate costs several times as much as the decoder. Nearly all lines that bots send are plain, and a quick
test proves that they would pass it.
"""

from __future__ import annotations

import json
import re
from difflib import get_close_matches
from typing import Any, Final, NoReturn, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType

from stellwerk_protocol.canonical import LARGEST_INT
from stellwerk_protocol.error_codes import LineErrorCode
from stellwerk_protocol.messages import FromClient, Id
from stellwerk_protocol.names import PLAYER_NAME_IN_WORDS

MAX_DEPTH: Final = 64  # levels of brackets; far more than any message has

_decode = msgspec.json.Decoder(FromClient).decode
_encode = msgspec.json.Encoder().encode
_MESSAGES: Final[dict[str, type[Struct]]] = {
    str(kind.__struct_config__.tag): kind for kind in get_args(FromClient)
}
_WITH_REQUEST: Final = [name for name, kind in _MESSAGES.items() if "request" in kind.__struct_fields__]


class LineError(Exception):
    """A line that is not a message. `pointer` is a JSON Pointer into it, `request` what the line has as its
    own id, if it is good for one."""

    def __init__(self, code: LineErrorCode, pointer: str, expected: str) -> None:
        super().__init__(f"{code} at {pointer or '/'}: expected {expected}")
        self.code: LineErrorCode = code
        self.pointer = pointer
        self.expected = expected
        self.request: str | UnsetType = UNSET


def read_line(line: bytes) -> FromClient:
    """Return the message of a line without its newline. A carriage return at its end is ignored."""
    line = line.removesuffix(b"\r")
    message = read_plain_line(line)
    return message if message is not None else read_any_line(line)


def read_any_line(line: bytes) -> FromClient:
    """Return the message of any line, at the cost of the gate."""
    text = _gate(line)
    try:
        message: FromClient = _decode(text)
        return message
    except msgspec.ValidationError as error:
        value: dict[str, Any] = json.loads(text)  # Any: JSON
        explained = _explain(str(error), value)
        if value.get("type") in _WITH_REQUEST:
            explained.request = _read_request(value)
        raise explained from None
    except msgspec.DecodeError as error:
        raise LineError("wire.not_json", "", f"one JSON object ({error})") from None


# -- plain lines -------------------------------------------------------------------------------------


def read_plain_line(line: bytes) -> FromClient | None:
    """Return the message of a line that would certainly pass the gate. None means nothing about the line.

    The decoder itself refuses unknown members, broken UTF-8 in known ones, and all numbers except integers
    within their bounds. So only a member that it reads and drops, because its name occurs again, can hide
    anything. But then the line has more strings than our encoder writes for the message; and without
    backslashes every string begins and ends with a quote and contains no other.
    """
    if b"\\" in line or line.count(b"{") + line.count(b"[") > MAX_DEPTH:
        return None
    try:
        message: FromClient = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return message if line.count(b'"') == _encode(message).count(b'"') else None


# -- the gate ----------------------------------------------------------------------------------------

_TOKENS: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"|[\[\]{}]|-?\d[\d.eE+-]*|[A-Za-z]+', re.DOTALL)


def _gate(line: bytes) -> str:
    """Check for strict UTF-8, few levels of brackets, unique names and small integers. Return the text."""
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise LineError("wire.not_utf8", "", f"UTF-8; byte {error.start + 1} is none") from None
    if text.count("{") + text.count("[") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise LineError("wire.too_deep", "", f"at most {MAX_DEPTH} levels of brackets")
    try:
        value: object = json.loads(
            text,
            object_pairs_hook=_members,
            parse_int=_integer,
            parse_float=_no_integer,
            parse_constant=_no_integer,
        )
    except json.JSONDecodeError as error:
        raise LineError(
            "wire.not_json", "", f"one JSON object; {error.msg} at character {error.pos + 1}"
        ) from None
    if not isinstance(value, dict):
        raise LineError("protocol.not_an_object", "", "an object with a type")
    return text


def _depth(text: str) -> int:
    depth = deepest = 0
    for token in _TOKENS.finditer(text):
        if token.group() in ("{", "["):
            depth += 1
            deepest = max(deepest, depth)
        elif token.group() in ("}", "]"):
            depth -= 1
    return deepest


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:  # Any: the type that json passes
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise LineError("wire.duplicate_name", "", f"each name once, and not {_shown(twice)} again")
    return members


def _integer(digits: str) -> int:
    if len(digits) > len(str(-LARGEST_INT)) or abs(int(digits)) > LARGEST_INT:
        raise LineError("wire.bad_number", "", f"integers of at most {LARGEST_INT}")
    return int(digits)


def _no_integer(text: str) -> NoReturn:
    raise LineError("wire.bad_number", "", f"integers, and not {_shown(text)}")


def _shown(text: str) -> str:
    """Return a client's text for a message: short, and without control characters."""
    return ascii(text if len(text) <= 40 else text[:39] + "…")


def _printable(text: str) -> str:
    """Return the same for a text that is mostly the server's own."""
    return "".join(character if character.isprintable() else "?" for character in text[:200])


# -- explanations ------------------------------------------------------------------------------------

_PATH: Final = re.compile(r" - at (?:`key` in )?`\$(.*)`$", re.DOTALL)
_WRONG_TEXT: Final = ("`str` matching", "`str` of length")
_UNKNOWN_FIELD: Final = re.compile(r"Object contains unknown field `(.*?)`", re.DOTALL)
_MISSING_FIELD: Final = re.compile(r"Object missing required field `(.*?)`", re.DOTALL)


def _explain(complaint: str, value: dict[str, Any]) -> LineError:
    """Translate msgspec's complaint into a code, a place and an expectation."""
    kinds = sorted(_MESSAGES)
    kind = value.get("type")
    if kind is None:
        return LineError("protocol.missing_field", "/type", f"one of {', '.join(kinds)}")
    if not isinstance(kind, str) or kind not in _MESSAGES:
        return LineError("protocol.unknown_type", "/type", _nearest(str(kind), kinds))
    path = _PATH.search(complaint)
    pointer = _pointer(path.group(1)) if path else ""
    problem = complaint[: path.start()] if path else complaint
    if unknown := _UNKNOWN_FIELD.match(problem):
        name = unknown.group(1)
        known = _fields_at(_MESSAGES[kind], pointer)
        return LineError("protocol.unknown_field", _printable(f"{pointer}/{name}"), _nearest(name, known))
    if missing := _MISSING_FIELD.match(problem):
        return LineError("protocol.missing_field", _printable(f"{pointer}/{missing.group(1)}"), "this field")
    expected = _printable(problem.removeprefix("Expected "))
    if pointer == "/name" and expected.startswith(_WRONG_TEXT):  # the only text that authors choose
        expected = PLAYER_NAME_IN_WORDS
    return LineError("protocol.wrong_value", _printable(pointer), expected)


def _read_request(value: dict[str, Any]) -> str | UnsetType:
    try:
        return msgspec.convert(value.get("request"), Id)
    except msgspec.ValidationError:
        return UNSET


def _pointer(path: str) -> str:
    """Translate `.move.tickets[2]` into `/move/tickets/2`. `[...]` is a place somewhere inside the path
    before it."""
    known = path.partition("[...]")[0]
    return re.sub(r"\.([^.\[]+)|\[(\d+)\]", lambda part: f"/{part.group(1) or part.group(2)}", known)


def _fields_at(kind: type[Struct], pointer: str) -> list[str]:
    """Return the fields of the object at this place; none if objects of several kinds are possible."""
    for name in pointer.split("/")[1:]:
        member = next((field for field in msgspec.structs.fields(kind) if field.name == name), None)
        inner = member.type if member is not None else None
        structs = [
            part for part in (inner, *get_args(inner)) if isinstance(part, type) and issubclass(part, Struct)
        ]
        if len(structs) != 1:
            return []
        kind = structs[0]
    return list(kind.__struct_fields__)


def _nearest(name: str, known: list[str]) -> str:
    close = get_close_matches(name, known, n=1)
    return close[0] if close else f"one of {', '.join(sorted(known))}" if known else "a field of this object"
