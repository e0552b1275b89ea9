"""The figures of the source tree: how much there is, and how much of it a reader has to follow.

`make figures` prints them for this tree; `make figures ARGS='../before .'` has a column for each checkout. No
test holds a figure: they are for comparing two commits, and an aim that would cost clarity is worth nothing.

A function or method is private if its name begins with one underscore. It is used once if its module has one
expression with its name. Statements are those of its body, without the docstring, however much is in them.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[1]
SOURCE_ROOTS: Final = ("protocol", "server", "bots/python", "tournament")
SECONDS: Final = 300  # for a program that takes a few

TOURNAMENT: Final = """\
title = "One block"
sandbox = "limits"

[schedule]
rounds = 1

[[games]]
game = "usa"
players = 2

[[bots]]
built_in = "random"

[[bots]]
built_in = "greedy"
"""

# Both programs run with the sources of the tree that is measured, whichever this file belongs to.
COMMANDS: Final = """\
import argparse
from stellwerk.command_line import whole_parser

def leaves(parser, stands_alone=False):
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not inner or (stands_alone and not inner[0].required):
        yield parser
    for action in inner:
        for each in action.choices.values():
            yield from leaves(each, stands_alone=True)

parsers = list(leaves(whole_parser()))
options = [a for p in parsers for a in p._actions if a.option_strings and "--help" not in a.option_strings]
print(len(parsers), len(options))
"""
ONE_BLOCK: Final = """\
import os, sys, threading
from stellwerk.__main__ import main

folder, *roots = sys.argv[1:]
codes = set()

def note(frame, event, argument):
    if event == "call":
        codes.add(frame.f_code)

threading.setprofile(note)
sys.setprofile(note)
ended = [main(["tournament", "run", folder]), main(["tournament", "report", folder])]
sys.setprofile(None)
assert ended == [0, 0], ended
roots = tuple(root + os.sep for root in roots)
own = {c for c in codes if c.co_filename.startswith(roots) and not c.co_name.startswith("<")}
print(len(own), len({c.co_filename for c in own}), file=sys.stderr)
"""


@dataclass(frozen=True)
class Function:
    place: str  # module:line
    name: str
    lines: int  # without the docstring
    statements: int
    uses: int  # in its module

    @property
    def is_private(self) -> bool:
        return self.name.startswith("_") and not self.name.startswith("__")

    @property
    def is_used_once(self) -> bool:
        return self.is_private and self.uses == 1


@dataclass(frozen=True)
class Tree:
    """A checkout."""

    root: Path

    @property
    def source_roots(self) -> list[str]:
        return [str(self.root / name) for name in SOURCE_ROOTS]

    @cached_property
    def modules(self) -> dict[str, str]:
        """Return the text of each module outside the tests."""
        listed = subprocess.run(
            ["git", "ls-files", "*.py"], cwd=self.root, capture_output=True, text=True, check=True
        )
        names = [name for name in listed.stdout.splitlines() if not name.startswith("tests/")]
        return {name: (self.root / name).read_text("utf-8") for name in names if (self.root / name).exists()}

    @cached_property
    def functions(self) -> list[Function]:
        return [function for name, text in self.modules.items() for function in functions_of(name, text)]

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program with the sources of this tree."""
        paths = os.pathsep.join(self.source_roots)
        return subprocess.run(
            [sys.executable, "-c", program, *arguments],
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def figures(self) -> dict[str, str]:
        """Return each figure by what it is."""
        once = [function for function in self.functions if function.is_used_once]
        short = [function for function in once if function.statements <= 2]
        longest_module = max(self.modules, key=lambda name: self.modules[name].count("\n"))
        longest = max(self.functions, key=lambda function: function.lines)
        schemas = list((self.root / "protocol" / "schema").rglob("*.json"))
        commands, options = self._printed(self.run(COMMANDS).stdout)
        functions, modules = self._printed(self._traced())
        return {
            "lines of Python outside tests": counted(sum(map(lines_in, self.modules.values()))),
            "lines of protocol/tools, with its tables": counted(self._lines_of_tools()),
            "modules": counted(len(self.modules)),
            "functions": counted(len(self.functions)),
            "private functions used once": f"{counted(len(once))} ({len(once) / len(self.functions):.0%})",
            "of these with one or two statements": counted(len(short)),
            "functions in the run of one block": functions,
            "modules in the run of one block": modules,
            "leaf commands": commands,
            "options": options,
            "longest module": f"{lines_in(self.modules[longest_module])} {longest_module}",
            "longest function": f"{longest.lines} {longest.place} {longest.name}",
            "lines of JSON of the schema": counted(sum(lines_in(file.read_text()) for file in schemas)),
            "bytes of ARCHITECTURE.md": counted((self.root / "ARCHITECTURE.md").stat().st_size),
        }

    def _lines_of_tools(self) -> int:
        tools = self.root / "protocol" / "tools"
        return sum(lines_in(file.read_text("utf-8")) for file in (*tools.glob("*.py"), *tools.glob("*.toml")))

    def _traced(self) -> str:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "tournament.toml").write_text(TOURNAMENT, "utf-8")
            return self.run(ONE_BLOCK, folder, *self.source_roots).stderr

    def _printed(self, output: str) -> tuple[str, str]:
        """Return the two numbers in the last line; what went wrong if there are none."""
        words = (output.splitlines() or ["nothing printed"])[-1].split()
        if len(words) == 2 and all(word.isdigit() for word in words):
            return counted(int(words[0])), counted(int(words[1]))
        print(f"{self.root}: {' '.join(words)}", file=sys.stderr)
        return "?", "?"


def functions_of(module: str, text: str) -> Iterator[Function]:
    tree = ast.parse(text)
    uses = Counter(
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            begins_with_docstring = ast.get_docstring(node, clean=False) is not None
            body = node.body[1:] if begins_with_docstring else node.body
            docstring = node.body[0]
            docstring_lines = lines_between(docstring, docstring) if begins_with_docstring else 0
            yield Function(
                f"{module}:{node.lineno}",
                node.name,
                lines_between(node, node) - docstring_lines,
                len(body),
                uses[node.name],
            )


def lines_between(first: ast.stmt, last: ast.stmt) -> int:
    return (last.end_lineno or last.lineno) - first.lineno + 1


def lines_in(text: str) -> int:
    return len(text.splitlines())


def counted(number: int) -> str:
    return f"{number:,}"


def short_ones(tree: Tree) -> Iterator[str]:
    """Yield the private functions of one or two statements that are used once, for judging them."""
    for function in tree.functions:
        if function.is_used_once and function.statements <= 2:
            yield f"{function.place} {function.name}"


def main(words: list[str]) -> None:
    if words and words[0] == "--short":
        print(
            "\n".join(name for word in words[1:] or ["."] for name in short_ones(Tree(Path(word).resolve())))
        )
        return
    trees = [Tree(Path(word).resolve()) for word in words] or [Tree(REPOSITORY)]
    columns = [tree.figures() for tree in trees]
    for what in columns[0]:
        print(f"| {what} | " + " | ".join(column[what] for column in columns) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
