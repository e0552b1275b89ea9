"""Pages and docstrings are in plain English, as far as a program can see: CONTRIBUTING.md, "How we write".

CHANGELOG.md is left out, because its entries are notes. Headings, code and targets of links are not read.
EXCEPTIONS lists sentences that have to be as they are. An exception that nothing needs is a failure, too.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.tools import needs

REPOSITORY: Final = Path(__file__).resolve().parents[2]
LONGEST: Final = 40
"""Words. Most sentences have half as many."""

EXCEPTIONS: Final = {
    # A rule that is a list, and one sentence so that its mark covers all of it.
    "protocol/rules/README.md": ["A turn counts as idle unless one of these happens in it:"],
}

_NO_SUBJECT: Final = re.compile(r"(Who|What|Whoever|Whatever|Whose|Of those)\b")
_ODD: Final = {
    re.compile(r"\bstands? (?!still\b)|\bstood (?!still\b)"): 'a thing "is" somewhere',
    re.compile(r"\bto be had\b"): '"available", or say who gets it',
    re.compile(r"\b(is|are|was|were) told\b"): 'say who "shows", "prints" or "reports" it',
    re.compile(r"\b(goes|go|went) by\b"): '"follows", "uses"',
    re.compile(r"\b(comes|come|came) to (the same|nothing|this|that|be)\b"): '"is the same", "becomes"',
    re.compile(r"\bthe own\b", re.IGNORECASE): '"its own", "their own"',
    re.compile(r", for (the|it|they|there|nobody)\b[^,.:]* (is|are|has|have|can|does|do)\b"): '"because"',
    re.compile(r"\b(thereof|therein|lest|save for|but for)\b"): "a word of today",
}
_FENCED: Final = re.compile(r"^[ ]*(```+|:::+)[^\n]*\n.*?^[ ]*\1[ ]*$", re.DOTALL | re.MULTILINE)
_ITEM: Final = re.compile(r"^[ ]*([*+-]|\d+\.) +")
_END: Final = re.compile(r"(?<=[.?!:])[)\"*]*\s+(?=[\"(*]*[A-Z])")


@dataclass(frozen=True, slots=True)
class Sentence:
    line: int
    text: str
    is_cell: bool  # of a table


def pages() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return [page for page in listed.stdout.split() if page != "CHANGELOG.md"]


def problems(text: str, allowed: list[str]) -> Iterator[str]:
    unused = set(allowed)
    for sentence in sentences(text):
        excuses = {excuse for excuse in allowed if sentence.text.startswith(excuse)}
        unused -= excuses
        if not excuses:
            yield from (f"line {sentence.line}: {problem}: {sentence.text}" for problem in odd(sentence))
    yield from (f"an exception that nothing needs: {excuse}" for excuse in unused)


def odd(sentence: Sentence) -> Iterator[str]:
    words = len(sentence.text.split())
    if words > LONGEST and not sentence.is_cell:
        yield f"{words} words, more than {LONGEST}"
    if _NO_SUBJECT.match(sentence.text) and not sentence.text.rstrip('*")').endswith("?"):
        yield "begins with a clause, not with its subject"
    yield from (
        f"{found[0]!r}, better: {better}"
        for form, better in _ODD.items()
        if (found := form.search(sentence.text))
    )


def sentences(text: str) -> Iterator[Sentence]:
    """Yield what is prose: paragraphs, items of lists, cells of tables; headings are phrases."""
    lines = _FENCED.sub(lambda block: "\n" * block[0].count("\n"), text).splitlines()
    paragraph: list[str] = []
    first = 0
    for number, line in enumerate([*lines, ""], 1):
        is_row, is_heading = line.startswith("|"), line.startswith("#")
        if paragraph and (not line.strip() or is_row or is_heading or _ITEM.match(line)):
            yield from _split(first, " ".join(paragraph), is_cell=False)
            paragraph = []
        if is_row:
            for cell in re.split(r"(?<!\\)\|", line)[1:-1]:
                yield from _split(number, cell, is_cell=True)
        elif line.strip() and not is_heading:
            first = first if paragraph else number
            paragraph.append(_ITEM.sub("", line).strip())


def _split(line: int, text: str, *, is_cell: bool) -> Iterator[Sentence]:
    text = re.sub(r"`[^`]*`", "CODE", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for sentence in _END.split(text):
        if sentence.strip("*_ "):
            yield Sentence(line, sentence.strip("*_ "), is_cell)


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings of the module, its classes and its functions, with their lines."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text is not None:
                yield getattr(node, "lineno", 1), text


def clauses(source: str) -> list[str]:
    """Return where docstrings begin with a clause. Ruff sees to the verbs of functions."""
    return [
        f"line {line}: {text.splitlines()[0]}" for line, text in docstrings(source) if _NO_SUBJECT.match(text)
    ]


@needs("git checkout")
def test_pages_are_in_plain_english() -> None:
    assert len(pages()) > 40
    found = [
        f"{page}, {problem}"
        for page in pages()
        for problem in problems((REPOSITORY / page).read_text(encoding="utf-8"), EXCEPTIONS.get(page, []))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Who does not read is closed.", "begins with a clause"),
        ("A server\nlistens. What it leaves\nopen is open.", "line 1: begins with a clause"),
        ("* What is a seat?\n* What comes last stays.", "line 2: begins with a clause"),
        ("| file | content |\n|---|---|\n| a | what it is. Whoever reads it knows all. |", "line 3: begins"),
        ("The rule stands in a page.", "'stands '"),
        ("A match is told of it:\nit was told nothing.", "told"),
        ("It may look into the own stack.", "'the own'"),
        ("No other card is to be had.", "'to be had'"),
        ("It goes by its name.", "'goes by'"),
        ("All of it comes to nothing.", "'comes to nothing'"),
        ("None is left, but for one.", "'but for'"),
        ("The game ended, for the trains are few.", 'better: "because"'),
        ("word " * 41 + "end.", "42 words, more than 40"),
    ],
)
def test_a_sentence_that_is_hard_to_read_is_found(text: str, problem: str) -> None:
    assert problem in "\n".join(problems(text, []))


def test_questions_code_and_clocks_that_stand_still_are_fine() -> None:
    text = (
        "# What is new\n\nWhat is it? The clocks stand still.\n\n```\nWhat stands in code stays.\n```\n\n"
        + "`a b` " * 30
    )
    assert list(problems(text, [])) == []


def test_an_exception_is_no_longer_than_its_sentence() -> None:
    assert list(problems("Who is who.", ["Who is"])) == []
    assert list(problems("Ann is Ann.", ["Who is"])) == ["an exception that nothing needs: Who is"]


@pytest.mark.parametrize("room", ["protocol", "server", "bots/python", "tournament"])
def test_a_docstring_begins_with_a_noun_or_a_verb(room: str) -> None:
    modules = sorted((REPOSITORY / room).rglob("*.py"))
    found = [
        f"{module.relative_to(REPOSITORY)}, {clause}"
        for module in modules
        for clause in clauses(module.read_text(encoding="utf-8"))
    ]
    assert modules
    assert not found, "\n".join(found)


def test_a_docstring_that_begins_with_a_clause_is_found() -> None:
    source = '"""A module."""\n\n\nclass Record:\n    """What is wrong.\n\n    More.\n    """\n'
    assert clauses(source) == ["line 4: What is wrong."]
