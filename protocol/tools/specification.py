"""The pages of the specification, parsed for the tests that compare them with the program."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "protocol"
SPECIFICATION = FOLDER / "README.md"
GAME_PAGES = {page.stem: page for page in sorted((FOLDER / "games").glob("*.md"))}
PAGES = (SPECIFICATION, *GAME_PAGES.values())


@dataclass(frozen=True)
class Section:
    """The text under one heading, down to the next heading of any level."""

    title: str
    level: int
    text: str

    @property
    def named(self) -> list[str]:
        """Return the names in backticks in the heading."""
        return re.findall(r"`([^`]+)`", self.title)

    def blocks(self, language: str) -> list[str]:
        return re.findall(rf"```{language}\n(.*?)```", self.text, re.DOTALL)

    @property
    def lines(self) -> list[str]:
        """Return the examples that are one line each."""
        return [line for block in self.blocks("json") for line in block.splitlines()]

    @property
    def values(self) -> list[Any]:
        """Return the examples, however they are broken into lines."""
        decoder = json.JSONDecoder()
        values: list[Any] = []
        for block in self.blocks("json"):
            rest = block.strip()
            while rest:
                value, end = decoder.raw_decode(rest)
                values.append(value)
                rest = rest[end:].lstrip()
        return values

    @property
    def tables(self) -> list[list[list[str]]]:
        """Return the tables: each a list of rows without the head, each row a list of cells."""
        tables = re.findall(r"(?:^\|.*\|\n)+", self.text, re.MULTILINE)
        rows = [[re.split(r"(?<!\\)\|", row) for row in table.splitlines()[2:]] for table in tables]
        return [[[cell.strip() for cell in row[1:-1]] for row in table] for table in rows]


def names_in(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def first_names(table: list[list[str]]) -> list[str]:
    """Return the names in backticks of the first column."""
    return [name for row in table for name in names_in(row[0])]


def sections(page: Path) -> list[Section]:
    text = page.read_text(encoding="utf-8")
    parts = re.split(r"^(#+) (.*)$", _hide_comments(text), flags=re.MULTILINE)[1:]
    return [
        Section(title, len(marks), body.replace(_HIDDEN, "#"))
        for marks, title, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]


def section(page: Path, title: str) -> Section:
    (match,) = [section for section in sections(page) if section.title == title]
    return match


_HIDDEN = "\0"


def _hide_comments(text: str) -> str:
    """Hide each `#` of a program, because it does not begin a heading."""
    return re.sub(
        r"^```.*?^```",
        lambda block: block.group().replace("#", _HIDDEN),
        text,
        flags=re.DOTALL | re.MULTILINE,
    )
