"""The tests of a room, those nearest to a module first.

Law: a test is the nearer, the fewer imports lead from it to the module.
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
    broken: Path, folders: Iterable[Path], imports: Imports, roots: Iterable[Path]
) -> list[Path]:
    """Return the test modules in the folders, nearest first, and at the end those without such imports."""
    roots = tuple(roots)
    reached = {broken: None}  # in this order
    names = {module_name(broken, roots)}
    while names:
        next_files = [file for file, imported in imports.items() if file not in reached and imported & names]
        reached |= dict.fromkeys(next_files)
        names = {module_name(file, roots) for file in next_files}
    tests = [
        file
        for folder in folders
        for file in imports
        if file.is_relative_to(folder) and file.name.startswith("test_")
    ]
    return [*(file for file in reached if file in tests), *(file for file in tests if file not in reached)]
