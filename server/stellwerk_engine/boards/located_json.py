"""JSON that knows the line of each value, for those who ask.

The law: a text is taken exactly as RFC 8259 and I-JSON have it (strict UTF-8, unique names, numbers
that every language can hold), or it is refused with the line, the place and what was expected.

The parser below keeps the law, and knows lines. It is slow, so msgspec reads first. That reader is more
lenient: it keeps the last of duplicate names, takes integers of any size, and nests deeper. So its value
counts only if it is written as the text is, but for the space between the tokens: then nothing was lost.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn, TypeAlias

import msgspec

from stellwerk_base.texts import printable, quoted
from stellwerk_protocol.canonical import LARGEST_INT

SHOWN_CHARACTERS = 40  # of a text that is quoted in a message: enough to find it, too few to flood a log

Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | None"


@dataclass(frozen=True)
class Document:
    """A JSON text, and its value. As long as nobody has asked for the lines, the value may nest too deep and
    have numbers that are too large."""

    data: bytes
    max_nesting: int
    value: Value

    @cached_property
    def lines(self) -> Mapping[str, int]:
        """The line of each field (`routes[3].length`, "" for the whole). Raise `JsonError` if the text breaks
        the law."""
        return parsed(self.data, self.max_nesting)[1]


class JsonError(Exception):
    """The text cannot be read as JSON."""

    def __init__(self, line: int, field: str, message: str) -> None:
        super().__init__(line, field, message)
        self.line = line
        self.field = field
        self.message = message


def read_json(text: bytes | str, *, max_bytes: int, max_nesting: int) -> Document:
    """Read one JSON text, or raise `JsonError`. A caller that takes a value of any depth, or any number, asks
    for the lines first."""
    data = _encode(text) if isinstance(text, str) else text
    if len(data) > max_bytes:
        raise JsonError(1, "", f"larger than {max_bytes} bytes")
    try:
        value: Value = msgspec.json.decode(data)
        is_exact = msgspec.json.encode(value) == msgspec.json.format(data, indent=-1)
    except (ValueError, RecursionError, msgspec.EncodeError):
        value, is_exact = None, False
    if not is_exact:
        value, _ = parsed(data, max_nesting)
    return Document(data, max_nesting, value)


def parsed(data: bytes, max_nesting: int) -> tuple[Value, dict[str, int]]:
    """Return the value of a text and the line of each field, read by the law alone, or raise `JsonError`."""
    parser = _Parser(_decode(data), max_nesting)
    value = parser.value("", 1)
    parser.expect_end()
    return value, parser.lines


def found(value: Value) -> str:
    """Return a value as a message names it, cut short where it is long."""
    match value:
        case list():
            return "a list"
        case dict():
            return "an object"
        case str(text):
            return quoted(text)
        case _:
            return json.dumps(value)


def _decode(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise JsonError(1, "", "not UTF-8 but UTF-16; save the file as UTF-8")
    if data.startswith(b"\xef\xbb\xbf"):
        raise JsonError(1, "", "begins with a byte order mark; save the file as UTF-8 without one")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise JsonError(line, "", f"not UTF-8: byte {error.start} is 0x{data[error.start]:02x}") from None
    if not text.strip(" \t\r\n"):
        raise JsonError(1, "", "the file is empty")
    return text


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise JsonError(line, "", "a lone surrogate is not a character") from None


_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_PLAIN_CHARACTERS = re.compile(r'[^"\\\x00-\x1f]*')
_FOUR_HEX_DIGITS = re.compile(r"[0-9a-fA-F]{4}")
_WORD = re.compile(r"-?[A-Za-z_]+")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SIMPLE_NAME = re.compile(r"[A-Za-z0-9_-]{1,72}")


def member_field(field: str, name: str) -> str:
    """Return the field of a member of the object at a field."""
    if not _SIMPLE_NAME.fullmatch(name):
        return f"{field}[{quoted(name)}]"
    return f"{field}.{name}" if field else name


class _Parser:
    """A recursive descent whose depth is bounded by `max_nesting`, never by the text."""

    def __init__(self, text: str, max_nesting: int) -> None:
        self.lines: dict[str, int] = {}
        self._text = text
        self._max_nesting = max_nesting
        self._at = 0
        self._line = 1
        self._counted = 0  # up to where lines are counted, so that counting is linear overall

    def value(self, field: str, depth: int) -> Value:
        self._skip_space()
        line = self._line_here()
        self.lines.setdefault(field, line)  # the names of two fields may be cut short to the same
        match self._text[self._at : self._at + 1]:
            case "{" | "[" if depth > self._max_nesting:
                self._refuse(field, f"nested deeper than {self._max_nesting} levels")
            case "{":
                return self._members(field, line, depth)
            case "[":
                return self._items(field, line, depth)
            case '"':
                return self._string(field)
            case _:
                return self._scalar(field)

    def expect_end(self) -> None:
        self._skip_space()
        if self._at < len(self._text):
            self._refuse("", f"not JSON: expected the end of the file, found {self._found()}")

    def _members(self, field: str, opened: int, depth: int) -> dict[str, Value]:
        members: dict[str, Value] = {}
        if self._opens_empty("}"):
            return members
        while True:
            if not self._text.startswith('"', self._at):
                self._refuse_missing(field, "a name in double quotes", opened)
            name_at = self._at
            name = self._string(field)
            if name in members:
                first = self.lines[member_field(field, name)]
                self._at = name_at
                self._refuse(field, f"duplicate name {quoted(name)}, first on line {first}")
            self._skip_space()
            if not self._text.startswith(":", self._at):
                self._refuse_missing(field, f'":" after {quoted(name)}', opened)
            self._at += 1
            members[name] = self.value(member_field(field, name), depth + 1)
            if self._closes("}", field, opened):
                return members

    def _items(self, field: str, opened: int, depth: int) -> list[Value]:
        items: list[Value] = []
        if self._opens_empty("]"):
            return items
        while True:
            items.append(self.value(f"{field}[{len(items)}]", depth + 1))
            if self._closes("]", field, opened):
                return items

    def _opens_empty(self, bracket: str) -> bool:
        self._at += 1
        self._skip_space()
        if not self._text.startswith(bracket, self._at):
            return False
        self._at += 1
        return True

    def _closes(self, bracket: str, field: str, opened: int) -> bool:
        """Step over `,` or the closing bracket; return whether it was the bracket."""
        self._skip_space()
        match self._text[self._at : self._at + 1]:
            case ",":
                comma = self._at
                self._at += 1
                self._skip_space()
                if self._text.startswith(("]", "}"), self._at):
                    self._at = comma
                    self._refuse(field, "not JSON: a comma after the last entry")
                return False
            case found if found == bracket:
                self._at += 1
                return True
            case _:
                self._refuse_missing(field, f'"," or "{bracket}"', opened)

    def _string(self, field: str) -> str:
        begin = self._at
        self._at += 1
        parts: list[str] = []
        while True:
            plain = _PLAIN_CHARACTERS.match(self._text, self._at)
            assert plain is not None
            parts.append(plain.group())
            self._at = plain.end()
            match self._text[self._at : self._at + 1]:
                case '"':
                    self._at += 1
                    return "".join(parts)
                case "\\":
                    parts.append(self._escape(field))
                case "" | "\n" | "\r":
                    self._at = begin
                    self._refuse(
                        field, f"not JSON: the string {self._found()} has no closing quote on its line"
                    )
                case control:
                    self._refuse(field, f"not JSON: the control character {printable(control)} in a string")

    def _escape(self, field: str) -> str:
        letter = self._text[self._at + 1 : self._at + 2]
        if letter in _ESCAPES:
            self._at += 2
            return _ESCAPES[letter]
        unit = self._utf16_unit()
        if unit is None:
            self._refuse(
                field,
                f"not JSON: unknown escape {printable(self._text[self._at : self._at + 2])} in a string",
            )
        if not 0xD800 <= unit <= 0xDFFF:
            self._at += 6
            return chr(unit)
        self._at += 6
        low = self._utf16_unit()
        if unit > 0xDBFF or low is None or not 0xDC00 <= low <= 0xDFFF:
            self._refuse(field, f"the lone surrogate \\u{unit:04x} is not a character")
        self._at += 6
        return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))

    def _utf16_unit(self) -> int | None:
        r"""Return the number of the `\uXXXX` at this place, if there is one."""
        digits = _FOUR_HEX_DIGITS.match(self._text, self._at + 2)
        if digits is None or not self._text.startswith("\\u", self._at):
            return None
        return int(digits.group(), 16)

    def _scalar(self, field: str) -> bool | int | float | None:
        number = _NUMBER.match(self._text, self._at)
        if number is not None:
            value = self._number(field, number)
            self._at = number.end()
            return value
        word = _WORD.match(self._text, self._at)
        if word is not None and word.group() in _WORDS:
            self._at = word.end()
            return _WORDS[word.group()]
        self._refuse(field, f"not JSON: expected a value, found {self._found()}")

    def _number(self, field: str, token: re.Match[str]) -> int | float:
        fraction, exponent = token.groups()
        if fraction is None and exponent is None:
            digits = token.group()
            if len(digits) > len(str(-LARGEST_INT)) or abs(int(digits)) > LARGEST_INT:
                self._refuse(field, f"a number beyond {LARGEST_INT}")
            return int(digits)
        value = float(token.group())
        if abs(value) > LARGEST_INT:
            self._refuse(field, f"a number beyond {LARGEST_INT}")
        return value

    def _skip_space(self) -> None:
        space = _SPACE.match(self._text, self._at)
        assert space is not None
        self._at = space.end()

    def _line_here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _found(self) -> str:
        """Return what is at this place, as a message names it."""
        rest = self._text[self._at : self._at + SHOWN_CHARACTERS]
        if not rest:
            return "the end of the file"
        if rest.startswith(("//", "/*", "#")):
            return "a comment, and JSON has none"
        if rest.startswith("'"):
            return "a single quote, and JSON has double ones"
        word = _WORD.match(rest)
        if word is not None:
            return quoted(word.group())
        if rest.startswith('"'):
            return printable(rest.splitlines()[0])
        return quoted(rest[0])

    def _refuse_missing(self, field: str, expected: str, opened: int) -> NoReturn:
        place = f" (in the bracket opened on line {opened})" if self._at >= len(self._text) else ""
        self._refuse(field, f"not JSON: expected {expected}, found {self._found()}{place}")

    def _refuse(self, field: str, message: str) -> NoReturn:
        line = self._line_here()
        column = self._at - self._text.rfind("\n", 0, self._at)
        raise JsonError(line, field, f"{message}, at column {column}")
