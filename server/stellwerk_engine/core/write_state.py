"""Write the fields of `State` into state.py, from the classes that declare them.

    python -m stellwerk_engine.core.write_state

A state is one flat, slotted record with a `copy` that names every field, because a search copies it tens of
thousands of times a second. By hand each field would be written four times, far from the part that it belongs
to. So the part declares it once (see fields.py), and this program does the rest.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

ENGINE: Final = Path(__file__).resolve().parents[1]
STATE_FILE: Final = ENGINE / "core" / "state.py"
BEGIN: Final = "    # Written by write_state.py from here\n"
END: Final = "    # to here.\n"
# Types, as patterns, and the text of their empty values.
EMPTY: Final = {
    r".* \| None": "None",
    r"list\[.*\]": "[]",
    r"tuple\[.*, \.\.\.\]": "()",
    r"int|CardSet": "0",
    r"bool": "False",
}


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: str
    meaning: str  # the comment beside it; may be empty


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    fields: tuple[Field, ...]
    of_part: bool = False


def sections() -> list[Section]:
    """Read the declarations: those of every game first, then those of the parts."""
    every_game = _sections_of(ENGINE / "core" / "fields.py", of_part=False)
    parts = [_sections_of(file, of_part=True) for file in sorted((ENGINE / "parts").rglob("*.py"))]
    return list(chain(every_game, *parts))


def _sections_of(file: Path, of_part: bool) -> Iterator[Section]:
    source = file.read_text(encoding="utf-8")
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and node.name.endswith("Fields"):
            title = (ast.get_docstring(node) or node.name).rstrip(".")
            yield Section(title, tuple(_fields_of(node, lines)), of_part)


def _fields_of(node: ast.ClassDef, lines: list[str]) -> Iterator[Field]:
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            _, _, meaning = lines[item.lineno - 1].partition("  # ")
            yield Field(item.target.id, ast.unparse(item.annotation), meaning)


def written(all_sections: list[Section]) -> str:
    """Return the body of the class: slots, types, and the methods that name every field."""
    fields = [field for section in all_sections for field in section.fields]
    lines = [BEGIN.rstrip(), "    __slots__ = ("]
    lines += [f'        "{name}",' for name in sorted(field.name for field in fields)]
    lines += ["    )", ""]
    for section in all_sections:
        lines.append(f"    # {section.title[0].lower()}{section.title[1:]}")
        for field in section.fields:
            lines.append(
                f"    {field.name}: {field.type}" + (f"  # {field.meaning}" if field.meaning else "")
            )
    lines += ["", "    def clear(self, game: Game, dice: Dice) -> None:"]
    lines.append('        """Make every field empty. No constructor, for `copy` has to make a bare state."""')
    lines += [f"        self.{field.name} = {_empty(field)}" for field in fields]
    lines += ["", "    def copy(self) -> State:"]
    lines.append('        """Return an independent state; what never changes is shared."""')
    lines.append("        twin = State.__new__(State)")
    for section in all_sections:
        lines += [
            f"        twin.{field.name} = {_copied(field, section.of_part)}" for field in section.fields
        ]
    lines += ["        return twin", "", END.rstrip()]
    return "\n".join(lines) + "\n"


def _copied(field: Field, of_part: bool) -> str:
    """Return the text of an independent value. A game without the part never puts anything into the part's
    empty lists, so copies share these."""
    value = f"self.{field.name}"
    if not field.type.startswith("list["):
        return value
    return f"{value} and {value}.copy()" if of_part else f"{value}.copy()"


def _empty(field: Field) -> str:
    """Return the text of the empty value of the field's type."""
    if field.name in ("game", "dice"):
        return field.name
    for pattern, value in EMPTY.items():
        if re.fullmatch(pattern, field.type):
            return value
    raise ValueError(
        f"{field.name}: a field is an int, a bool, a list, a tuple[..., ...] or | None, not {field.type}"
    )


def with_fields(source: str) -> str:
    """Return the source of state.py with the fields as they are declared."""
    before, _, rest = source.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + written(sections()) + after


def main() -> None:
    STATE_FILE.write_text(with_fields(STATE_FILE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
