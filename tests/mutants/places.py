"""The places in the sources that a mutant changes, found by words instead of lines.

Law: a mutant names what it changes by the words of the code, and where they occur more than once by the
function, class or constant around them. So a mutant still fits after its code was moved to another file, was
indented differently, was wrapped differently, or got a comment.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

_WORD: Final = re.compile(
    r"""(?P<skipped>\s+|\#[^\n]*|\\\n)
      | (?P<word>[rbfRBF]{0,2}(?:'''[\s\S]*?'''|\"\"\"[\s\S]*?\"\"\"|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")
        | [^\W]+ | -> | := | [-+*/%@&|^<>=!]=? (?:[*/<>]=?)? | .)""",
    re.VERBOSE,
)
_CLOSING: Final = frozenset({")", "]", "}"})


@dataclass(frozen=True, slots=True)
class Place:
    """A span of one file that holds the words of a mutant."""

    path: Path
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int


def places(root: Path, pattern: str, find: str, within: str | None) -> list[Place]:
    """Return every place with these words in the files that match the pattern.

    `within` is the name of the function, class or constant around the words, as much of its dotted name as is
    needed: `DrawCards.check`, `draw_cards.DrawCards.check`.
    """
    wanted = [word.text for word in _words(_without_comma(find))]
    if not wanted:
        return []
    return [
        place
        for path in sorted(root.glob(pattern))
        for place in _places_in(path, path.read_text(encoding="utf-8"), wanted, within)
    ]


def changed(source: str, place: Place, find: str, replace: str) -> str:
    """Return the source with other words in the place, indented as the place is."""
    before = source[: place.start]
    line_start = before.rfind("\n") + 1
    indent = len(before[line_start:]) - len(before[line_start:].lstrip())
    shift = indent - (len(find) - len(find.lstrip(" \n"))) if find[:1].isspace() else 0
    after = source[place.end :]
    words = _without_comma(replace)
    if _without_comma(find) != find and words == replace:
        after = after.lstrip().removeprefix(",")  # the entry goes with the comma behind it
    elif _without_comma(find) == find:
        words = replace
    first, *rest = words.strip("\n").split("\n")
    shifted = [" " * max(0, len(line) - len(line.lstrip()) + shift) + line.lstrip() for line in rest]
    return before + "\n".join([first.lstrip(), *shifted]) + after


def _without_comma(text: str) -> str:
    """Leave out a comma at the end: the last entry of a list has one in some layouts only."""
    return text.rstrip().removesuffix(",") if text.rstrip().endswith(",") else text


def _places_in(path: Path, source: str, wanted: list[str], within: str | None) -> Iterator[Place]:
    words = _words(source)
    matching = [
        Place(path, words[number].start, words[number + len(wanted) - 1].end)
        for number in _numbers(source).get(wanted[0], ())
        if [word.text for word in words[number : number + len(wanted)]] == wanted
    ]
    if matching and within is not None:
        spans = list(_spans(path, source, within))
        matching = [
            place
            for place in matching
            if any(start <= place.start and place.end <= end for start, end in spans)
        ]
    yield from matching


@cache  # hundreds of mutants look into the same files
def _words(source: str) -> list[_Word]:
    """Split code into words, without comments, white space and a comma before a closing bracket."""
    words: list[_Word] = []
    for match in _WORD.finditer(source):
        text = match["word"]
        if text is None:
            continue
        if text in _CLOSING and words and words[-1].text == ",":
            words.pop()
        words.append(_Word(text, match.start(), match.end()))
    return words


@cache
def _numbers(source: str) -> dict[str, list[int]]:
    """Return the positions of each word."""
    numbers: dict[str, list[int]] = {}
    for number, word in enumerate(_words(source)):
        numbers.setdefault(word.text, []).append(number)
    return numbers


def _spans(path: Path, source: str, within: str) -> Iterator[tuple[int, int]]:
    """Find the functions, classes and constants of this name, from their first to their last character."""
    if path.suffix != ".py":
        return
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    module = ".".join(path.with_suffix("").parts)
    for name, node in _named(ast.parse(source), module):
        if f".{name}".endswith(f".{within}"):
            yield starts[node.lineno - 1], starts[node.end_lineno or node.lineno]


def _named(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.stmt]]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield f"{prefix}.{name}", child
                yield from _named(child, f"{prefix}.{name}")
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield f"{prefix}.{name}", child
            case _:
                pass
