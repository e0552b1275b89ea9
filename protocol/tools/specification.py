"""The pages of the specification, taken apart for the tests that hold them to the program."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "protocol"
SPECIFICATION = FOLDER / "README.md"
GAME_PAGES = {page.stem: page for page in sorted((FOLDER / "games").glob("*.md"))}
PAGES = (SPECIFICATION, *GAME_PAGES.values())


@dataclass(frozen=True)
class Section:
    """What stands under one heading, down to the next of any level."""

    title: str
    level: int
    text: str

    @property
    def named(self) -> list[str]:
        """The names in backticks in the heading."""
        return re.findall(r"`([^`]+)`", self.title)

    def blocks(self, language: str) -> list[str]:
        return re.findall(rf"```{language}\n(.*?)```", self.text, re.DOTALL)

    @property
    def lines(self) -> list[str]:
        """The examples that are lines of their own."""
        return [line for block in self.blocks("json") for line in block.splitlines()]

    @property
    def values(self) -> list[Any]:
        """The examples, however they are broken into lines."""
        decoder = json.JSONDecoder()
        found: list[Any] = []
        for block in self.blocks("json"):
            rest = block.strip()
            while rest:
                value, end = decoder.raw_decode(rest)
                found.append(value)
                rest = rest[end:].lstrip()
        return found

    @property
    def tables(self) -> list[list[list[str]]]:
        """Each a list of rows without the head, each row a list of cells."""
        found = re.findall(r"(?:^\|.*\|\n)+", self.text, re.MULTILINE)
        return [[_cells(row) for row in table.splitlines()[2:]] for table in found]


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def names_in(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def first_names(table: list[list[str]]) -> list[str]:
    """The names in backticks of the first column."""
    return [name for row in table for name in names_in(row[0])]


def sections(page: Path) -> list[Section]:
    text = page.read_text(encoding="utf-8")
    parts = re.split(r"^(#+) (.*)$", _hide_comments(text), flags=re.MULTILINE)[1:]
    return [
        Section(title, len(marks), _show_comments(body))
        for marks, title, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]


def section(page: Path, title: str) -> Section:
    (found,) = [section for section in sections(page) if section.title == title]
    return found


_HIDDEN = "\0"


def _hide_comments(text: str) -> str:
    """A `#` at the beginning of a line of a program is no heading."""
    return re.sub(
        r"^```.*?^```",
        lambda block: block.group().replace("#", _HIDDEN),
        text,
        flags=re.DOTALL | re.MULTILINE,
    )


def _show_comments(text: str) -> str:
    return text.replace(_HIDDEN, "#")
