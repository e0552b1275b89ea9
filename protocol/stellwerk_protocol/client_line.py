"""A client's line, read with suspicion: a message, or a `LineError` that says what to mend.

The law: nothing else comes out, whatever goes in. msgspec alone would let other exceptions escape, keep
the last of duplicate names, skip broken UTF-8 in unknown fields and take numbers of any size; so the line
passes a gate before it, and after it every complaint is turned into a code, a place and an expectation.

The gate costs several times as much as the decoder. Of the lines that bots send nearly all are plain: a
glance proves that they would pass it.
"""

from __future__ import annotations

import json
import re
from difflib import get_close_matches
from typing import Any, Final, NoReturn, get_args

import msgspec
from msgspec import Struct

from stellwerk_protocol.error_codes import LineErrorCode
from stellwerk_protocol.messages import LARGEST_INT, FromClient

MAX_DEPTH: Final = 64  # levels of brackets; far more than any message has

_decode = msgspec.json.Decoder(FromClient).decode
_encode = msgspec.json.Encoder().encode
_MESSAGES: Final[dict[str, type[Struct]]] = {
    str(kind.__struct_config__.tag): kind for kind in get_args(FromClient)
}


class LineError(Exception):
    """The line is no message. `pointer` is a JSON Pointer into it."""

    def __init__(self, code: LineErrorCode, pointer: str, expected: str) -> None:
        super().__init__(f"{code} at {pointer or '/'}: expected {expected}")
        self.code: LineErrorCode = code
        self.pointer = pointer
        self.expected = expected


def read_line(line: bytes) -> FromClient:
    """The message of a line, without its newline; a carriage return at its end is not looked at."""
    line = line.removesuffix(b"\r")
    message = read_plain_line(line)
    return message if message is not None else read_any_line(line)


def read_any_line(line: bytes) -> FromClient:
    """The same for every line, at the gate's cost."""
    text = _gate(line)
    try:
        message: FromClient = _decode(text)
        return message
    except msgspec.ValidationError as error:
        raise _explain(str(error), json.loads(text)) from None
    except msgspec.DecodeError as error:
        raise LineError("wire.not_json", "", f"one JSON object ({error})") from None


# -- plain lines -------------------------------------------------------------------------------------


def read_plain_line(line: bytes) -> FromClient | None:
    """The message of a line that cannot but pass the gate; None says nothing about the line.

    The decoder itself refuses unknown members, broken UTF-8 in known ones, and every number but integers
    within their bounds. So only a member that it takes and forgets, because its name comes again, can hide
    anything. But then there are more strings in the line than in what our encoder writes of the message; and
    without backslashes every string begins and ends with a quote and has no other.
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
    """Strict UTF-8, shallow, no name twice, small integers only."""
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


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:  # Any: that is how json hands values on
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
    """A client's text in a message: short, and without control characters."""
    return ascii(text if len(text) <= 40 else text[:39] + "…")


def _printable(text: str) -> str:
    """The same, for texts that are mostly the server's own."""
    return "".join(character if character.isprintable() else "?" for character in text[:200])


# -- explanations ------------------------------------------------------------------------------------

_PATH: Final = re.compile(r" - at (?:`key` in )?`\$(.*)`$", re.DOTALL)
_UNKNOWN_FIELD: Final = re.compile(r"Object contains unknown field `(.*?)`", re.DOTALL)
_MISSING_FIELD: Final = re.compile(r"Object missing required field `(.*?)`", re.DOTALL)


def _explain(complaint: str, value: dict[str, Any]) -> LineError:
    """msgspec's complaint as code, place and expectation."""
    kinds = sorted(_MESSAGES)
    kind = value.get("type")
    if kind is None:
        return LineError("protocol.missing_field", "/type", f"one of {', '.join(kinds)}")
    if not isinstance(kind, str) or kind not in _MESSAGES:
        return LineError("protocol.unknown_type", "/type", _nearest(str(kind), kinds))
    path = _PATH.search(complaint)
    pointer = _pointer(path.group(1)) if path else ""
    said = complaint[: path.start()] if path else complaint
    if unknown := _UNKNOWN_FIELD.match(said):
        name = unknown.group(1)
        known = _fields_at(_MESSAGES[kind], pointer)
        return LineError("protocol.unknown_field", _printable(f"{pointer}/{name}"), _nearest(name, known))
    if missing := _MISSING_FIELD.match(said):
        return LineError("protocol.missing_field", _printable(f"{pointer}/{missing.group(1)}"), "this field")
    return LineError("protocol.wrong_value", _printable(pointer), _printable(said.removeprefix("Expected ")))


def _pointer(path: str) -> str:
    """`.move.tickets[2]` as `/move/tickets/2`; `[...]` is somewhere in what stands before it."""
    known = path.partition("[...]")[0]
    return re.sub(r"\.([^.\[]+)|\[(\d+)\]", lambda part: f"/{part.group(1) or part.group(2)}", known)


def _fields_at(kind: type[Struct], pointer: str) -> list[str]:
    """The fields that the object there has; none where several kinds of objects may stand."""
    for name in pointer.split("/")[1:]:
        found = next((field for field in msgspec.structs.fields(kind) if field.name == name), None)
        inner = found.type if found is not None else None
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
