"""The tests that are nearest to a module.

Law: a test is the nearer, the fewer imports lead from it to the module. Only tests of the module's own room
count, because a change in a room should be noticed there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

Imports = Mapping[Path, frozenset[str]]


def read_imports(root: Path, folders: Iterable[str]) -> Imports:
    """Return the dotted names that each Python file in these folders imports."""
    return {
        file: frozenset(_imported(ast.parse(file.read_text("utf-8"))))
        for folder in folders
        for file in sorted((root / folder).rglob("*.py"))
    }


def _imported(tree: ast.Module) -> Iterable[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom(module=str(module)):
                yield module
                yield from (f"{module}.{alias.name}" for alias in node.names)
            case _:
                pass


def module_name(file: Path, roots: Iterable[Path]) -> str:
    """Return the dotted name by which others import a file."""
    root = next(root for root in roots if file.is_relative_to(root))
    name = file.relative_to(root).with_suffix("")
    return ".".join(name.parts[:-1] if name.name == "__init__" else name.parts)


def nearest_tests(
    broken: Path, tests: Path, imports: Imports, roots: Iterable[Path], most: int
) -> list[Path]:
    """Return the nearest test modules below `tests`, nearest first, and at most so many."""
    roots = tuple(roots)
    reached = {broken}
    names = {module_name(broken, roots)}
    found: list[Path] = []
    while names and len(found) < most:
        next_files = [file for file, imported in imports.items() if file not in reached and imported & names]
        found += [file for file in next_files if file.is_relative_to(tests) and file.name.startswith("test_")]
        reached |= set(next_files)
        names = {module_name(file, roots) for file in next_files}
    return found[:most]
