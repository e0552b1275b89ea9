"""Errors of msgspec, in the words of a person who writes a TOML file: a server's, a tournament's.

Law: a message of a form that is not known here is passed on as it is, in lower case, and never lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from stellwerk_base.texts import quoted, suggestion

_EXPECTED: Final = re.compile(r"Expected `([^`]+)`(?:, got `([^`]+)`)?")
_BOUND: Final = re.compile(r"Expected `([^`]+)`( of length)? (>=|<=|>|<) (\S+)")
_MISSING: Final = re.compile(r"Object missing required field `([^`]+)`")
_PATTERN: Final = "Expected `str` matching regex"
_TYPES: Final[Mapping[str, str]] = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text in quotes",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}
_RELATIONS: Final[Mapping[str, str]] = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}
_CONTENTS: Final[Mapping[str, str]] = {"bots": "bot", "games": "game"}  # of the lists
_NUMBERS: Final[Mapping[str, str]] = {"1": "one", "2": "two"}
NO_CHOICES: Final[Mapping[str, Sequence[str]]] = {}


def plain_words(
    complaint: str, key: str, given: object = None, choices: Mapping[str, Sequence[str]] = NO_CHOICES
) -> str:
    """Translate a complaint, without its place, about the value of a key. `given` is that value; `choices`
    are those of keys that have some."""
    if complaint.startswith("Invalid enum value") and key in choices and isinstance(given, str):
        known = choices[key]
        return f"there is no {key} {quoted(given)}{suggestion(given, known)} ({', '.join(known)})"
    if missing := _MISSING.fullmatch(complaint):
        return f"{missing[1]} is missing"
    if complaint.startswith(_PATTERN):  # only hashes have one
        return "expected 64 digits 0 to 9 and a to f"
    if bound := _BOUND.fullmatch(complaint):
        return f"expected {_describe_bound(key, *bound.groups())}"
    if expected := _EXPECTED.fullmatch(complaint):
        found = f", found {_name_type(expected[2])}" if expected[2] else ""
        return f"expected {_name_type(expected[1])}{found}"
    return complaint[:1].lower() + complaint[1:]


def _describe_bound(key: str, kind: str, of_length: str | None, relation: str, limit: str) -> str:
    how_much = f"{_RELATIONS[relation]} {limit.removesuffix('.0')}"
    if of_length is None:
        return f"{_name_type(kind)}, {how_much}"
    if kind == "str":
        return f"a text of {how_much} characters"
    content = _CONTENTS.get(key, "entry")
    many = "entries" if content == "entry" else f"{content}s"
    return f"{_RELATIONS[relation]} {_NUMBERS.get(limit, limit)} {content if limit == '1' else many}"


def _name_type(names: str) -> str:
    return " or ".join(_TYPES.get(name, name) for name in names.split(" | ") if name != "null")
