"""The packages: all of them are in the wheel, typed, held to the import contracts, and say what they are for.

Who may import whom is in `importlinter.toml`; `make lint` checks it.
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

REPOSITORY: Final = Path(__file__).resolve().parents[2]
SOURCE_ROOTS: Final = ("protocol", "server", "bots/python", "tournament")
NOT_SHIPPED: Final = {"protocol/tools"}  # makes what is shipped


def _tool(name: str, file: str = "pyproject.toml") -> dict[str, Any]:
    """Return the settings of a tool. Any: their shape is the tool's affair."""
    tables: dict[str, Any] = tomllib.loads((REPOSITORY / file).read_text("utf-8"))["tool"]
    return dict(tables[name])


def _wheel_packages() -> list[str]:
    return [str(entry) for entry in _tool("hatch")["build"]["targets"]["wheel"]["packages"]]


def _package_folders() -> set[str]:
    """Return the packages of the source roots."""
    return {
        f"{root}/{init.parent.name}"
        for root in SOURCE_ROOTS
        for init in (REPOSITORY / root).glob("*/__init__.py")
    }


def _rooms() -> list[Path]:
    """Return the packages of the source roots and all that is a package inside them."""
    return sorted(
        init for folder in _package_folders() for init in (REPOSITORY / folder).rglob("__init__.py")
    )


def test_every_package_of_the_source_roots_is_in_the_wheel() -> None:
    assert set(_wheel_packages()) == _package_folders() - NOT_SHIPPED


@pytest.mark.parametrize("package", _wheel_packages())
def test_a_package_in_the_wheel_is_typed(package: str) -> None:
    assert (REPOSITORY / package / "py.typed").is_file()


def test_an_editable_install_finds_every_package_of_the_wheel() -> None:
    roots = {str(root) for root in _tool("hatch")["build"]["dev-mode-dirs"]}
    assert {entry.rpartition("/")[0] for entry in _wheel_packages()} == roots


def test_the_import_contracts_hold_for_every_package_of_the_wheel() -> None:
    """A package that is missing here would import what it likes."""
    roots = _tool("importlinter", "importlinter.toml")["root_packages"]
    assert set(roots) == {Path(entry).name for entry in _wheel_packages()}


def test_a_room_says_what_it_is_for() -> None:
    assert [room for room in _rooms() if not ast.get_docstring(ast.parse(room.read_text("utf-8")))] == []
