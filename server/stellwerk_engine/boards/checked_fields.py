"""The fields of a JSON record, taken out one by one with their types and bounds checked.

The law: reading goes on after a fault. The fault is noted, and a placeholder replaces the value, so that the
first of all faults by line can be reported. A caller asks `Problems.first` before it uses the result.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from stellwerk_base.texts import quoted, suggestion
from stellwerk_engine.boards.located_json import Document, Value, found, member_field

UNSEEN = frozenset(("Cc", "Cf", "Zl", "Zp"))  # controls, direction marks, line and paragraph separators


@dataclass(frozen=True, slots=True)
class Bounds:
    low: int
    high: int
    reason: str


@dataclass(frozen=True, slots=True)
class IdForm:
    """The form of an id, as a pattern and in words."""

    pattern: re.Pattern[str]
    words: str


@dataclass(slots=True)
class Node:
    """A JSON value and its place: the step that leads to it from another one, if it is not the whole."""

    value: Value
    parent: "Node | None" = None
    step: str | int = ""

    @property
    def field(self) -> str:
        """The place in words, such as `routes[3].length`; "" for the whole."""
        if self.parent is None:
            return ""
        if isinstance(self.step, int):
            return f"{self.parent.field}[{self.step}]"
        return member_field(self.parent.field, self.step)


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault. `typo` is an unknown word, `known` are the words that it may mean, `again` is the field that
    it repeats."""

    field: str
    message: str
    typo: str = ""
    known: tuple[str, ...] = ()
    again: str | None = None

    def explained(self, lines: Mapping[str, int]) -> str:
        first = "" if self.again is None else f", first on line {lines[self.again]}"
        return self.message + first + suggestion(self.typo, self.known)


class Problems:
    """The problems of a file."""

    def __init__(self) -> None:
        self._noted: list[Problem] = []

    def note(
        self, node: Node, message: str, *, typo: str = "", known: Iterable[str] = (), again: str | None = None
    ) -> None:
        self._noted.append(Problem(node.field, message, typo, tuple(known), again))

    def count(self) -> int:
        return len(self._noted)

    def first(self, document: Document) -> Problem | None:
        """Return the first by line; of several on one line the one that was noted first."""
        if not self._noted:
            return None
        lines = document.lines
        return min(self._noted, key=lambda problem: lines[problem.field])


class Fields:
    """The members of one record. A missing or unknown one is noted at once, a wrong value when it is read."""

    def __init__(
        self, node: Node, problems: Problems, *, required: Collection[str], optional: Collection[str] = ()
    ) -> None:
        self._node = node
        self._problems = problems
        self._members: Mapping[str, Value] = {}
        if not isinstance(node.value, dict):
            problems.note(node, f"expected an object, found {found(node.value)}")
            return
        self._members = node.value
        known = {*required, *optional}
        unknown = [name for name in node.value if name not in known]
        for name in unknown:
            absent = [other for other in known if other not in node.value]
            problems.note(self[name], f"unknown field {quoted(name)}", typo=name, known=absent)
        if unknown:
            return  # a misspelled name is reported as such, not as a missing field
        for name in required:
            if name not in node.value:
                problems.note(node, f'missing field "{name}"')

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def __getitem__(self, name: str) -> Node:
        return Node(self._members[name], self._node, name)

    def note(self, name: str, message: str, *, typo: str = "", known: Iterable[str] = ()) -> None:
        self._problems.note(self[name], message, typo=typo, known=known)

    def whole_number(self, name: str, bounds: Bounds, default: int | None = None) -> int:
        if name not in self._members:
            return bounds.high if default is None else default
        return whole_number(self[name], bounds, self._problems)

    def flag(self, name: str) -> bool:
        """Read a truth value; False where it is left out."""
        if name not in self._members:
            return False
        value = self._members[name]
        if isinstance(value, bool):
            return value
        self.note(name, f"expected true or false, found {found(value)}")
        return False

    def text(self, name: str, characters: Bounds) -> str:
        if name not in self._members:
            return ""
        text = self._members[name]
        length = ""
        if isinstance(text, str):
            is_seen = not any(unicodedata.category(character) in UNSEEN for character in text)
            if characters.low <= len(text) <= characters.high and text == text.strip() and is_seen:
                return text
            length = f", {len(text)} characters"
        self.note(
            name,
            f"expected {characters.low} to {characters.high} characters, none of them a control character, "
            f"no blanks around them, found {found(text)}{length}",
        )
        return ""

    def id(self, name: str, form: IdForm) -> str:
        if name not in self._members:
            return ""
        value = self._members[name]
        if isinstance(value, str) and form.pattern.fullmatch(value):
            return value
        self.note(name, f"expected {form.words}, found {found(value)}")
        return ""

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        if name not in self._members:
            return choices[0]
        value = self._members[name]
        if isinstance(value, str) and value in choices:
            return value
        typo = value if isinstance(value, str) else ""
        message = f"expected {', '.join(choices[:-1])} or {choices[-1]}, found {found(value)}"
        self.note(name, message, typo=typo, known=choices)
        return choices[0]

    def reference(self, name: str, kind: str, known: Collection[str]) -> str:
        """Return the id of something elsewhere in the file; "" if it cannot be found."""
        return reference(self[name], kind, known, self._problems) if name in self else ""

    def entries(self, name: str, bounds: Bounds) -> list[Node]:
        return entries(self[name], bounds, self._problems) if name in self else []

    def members(self, name: str, most: int) -> list[tuple[str, Node]]:
        """Return the members of an object whose names are data, no more than are allowed."""
        if name not in self._members:
            return []
        node = self[name]
        if not isinstance(node.value, dict):
            self.note(name, f"expected an object, found {found(node.value)}")
            return []
        members = [(key, Node(value, node, key)) for key, value in node.value.items()]
        if not members:
            self.note(name, "expected at least one entry, found none")
        if len(members) > most:
            self._problems.note(members[most][1], f"expected at most {most} entries, found {len(members)}")
        return members[:most]


def whole_number(node: Node, bounds: Bounds, problems: Problems) -> int:
    value = node.value
    if isinstance(value, int) and not isinstance(value, bool) and bounds.low <= value <= bounds.high:
        return value
    problems.note(node, f"expected a whole number from {bounds.low} to {bounds.high}, found {found(value)}")
    return bounds.high


def reference(node: Node, kind: str, known: Collection[str], problems: Problems) -> str:
    if not isinstance(node.value, str):
        problems.note(node, f"expected the id of a {kind}, found {found(node.value)}")
        return ""
    if node.value not in known:
        problems.note(node, f"unknown {kind} {quoted(node.value)}", typo=node.value, known=known)
        return ""
    return node.value


def entries(node: Node, bounds: Bounds, problems: Problems) -> list[Node]:
    """Return the entries of a list, no more than are allowed."""
    if not isinstance(node.value, list):
        problems.note(node, f"expected a list, found {found(node.value)}")
        return []
    nodes = [Node(value, node, index) for index, value in enumerate(node.value)]
    count = len(nodes)
    if count < bounds.low:
        problems.note(node, f"expected at least {bounds.low} {_entries(bounds.low)}, found {count}")
    if count > bounds.high:
        problems.note(nodes[bounds.high], f"expected at most {bounds.high} entries, found {count}")
    return nodes[: bounds.high]


def ids_of(records: Iterable[Node]) -> dict[str, Node]:
    """Return every id that records give themselves, valid or not, with the first record that has it."""
    first: dict[str, Node] = {}
    for record in records:
        id = record.value.get("id") if isinstance(record.value, dict) else None
        if isinstance(id, str):
            first.setdefault(id, record)
    return first


def refuse_duplicate_ids(records: Iterable[Node], problems: Problems) -> None:
    first = ids_of(records)
    for record in records:
        id = record.value.get("id") if isinstance(record.value, dict) else None
        if isinstance(id, str) and first[id] is not record:
            again = Node(id, first[id], "id").field
            problems.note(Node(id, record, "id"), f"duplicate id {quoted(id)}", again=again)


def _entries(count: int) -> str:
    return "entry" if count == 1 else "entries"
