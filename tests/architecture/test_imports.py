"""The layers: protocol <- engine <- server <- tournament, and bots on the protocol and the engine.

The arrows are what lets a client author take the protocol alone, a search bot take the engine without a
server, and anybody deal a game again: an engine that cannot reach a clock, a socket or chance of its own has
no way to depend on them. So the imports are read from the sources, those in functions and under
TYPE_CHECKING included.
"""

import ast
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

SOURCE_ROOTS = ("protocol", "server", "bots/python", "tournament")


@dataclass(frozen=True)
class Package:
    """One row of the layers: where a package lives, and which of the others it may import."""

    name: str
    root: str
    may_import: frozenset[str] = frozenset()


_PROTOCOL = frozenset({"stellwerk_protocol"})
_ENGINE = _PROTOCOL | {"stellwerk_engine"}
_SERVER = _ENGINE | {"stellwerk_server"}
_EVERYTHING = _SERVER | {"stellwerk_tournament", "stellwerk_bots", "stellwerk_kit"}

PACKAGES = (
    Package("stellwerk_protocol", "protocol"),
    Package("stellwerk_engine", "server", _PROTOCOL),
    Package("stellwerk_server", "server", _ENGINE),
    Package("stellwerk_tournament", "tournament", _SERVER),
    Package("stellwerk_bots", "bots/python", _ENGINE),
    Package("stellwerk_kit", "bots/python", _ENGINE),
    Package("stellwerk", "server", _EVERYTHING),
)

LAYERS = {package.name: package for package in PACKAGES}

BARE_FOLDERS = frozenset({"protocol", "server", "bots", "tournament"})

# What the two lowest layers may use beside the standard library: the rest of the project's dependencies would
# bring a clock, sockets or a task scheduler within reach.
THIRD_PARTY_BELOW_THE_SERVER = frozenset({"msgspec"})

CLOCKS = frozenset({"calendar", "datetime", "sched", "time", "zoneinfo"})
CHANCE = frozenset({"os.getrandom", "os.urandom", "random", "secrets", "uuid"})
CONCURRENCY = frozenset(
    {"_thread", "asyncio", "concurrent", "multiprocessing", "queue", "subprocess", "threading", "trio"}
)
NETWORK = frozenset({"http", "select", "selectors", "socket", "socketserver", "ssl", "urllib"})
OUTSIDE_WORLD = CLOCKS | CHANCE | CONCURRENCY | NETWORK

# An import that is computed cannot be read from the source, so the lower layers make none.
COMPUTED_IMPORTS = frozenset({"__import__", "builtins.__import__", "importlib.import_module"})


@dataclass(frozen=True, order=True)
class Use:
    """A dotted name that a file reaches by its imports: `os.urandom`, `stellwerk_protocol.moves`."""

    line: int
    name: str

    @property
    def top(self) -> str:
        return self.name.partition(".")[0]


def uses(source: str, module: str, *, is_package: bool = False) -> list[Use]:
    """Every module that `source` imports, and every dotted name that it reaches through one.

    `module` is the name of the file itself, from which relative imports count.
    """
    tree = ast.parse(source)
    bound: dict[str, str] = {}
    found: set[Use] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found.add(Use(node.lineno, alias.name))
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                bound[alias.asname or name] = name
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(node, module, is_package)
            for alias in node.names:
                found.add(Use(node.lineno, f"{origin}.{alias.name}"))
                bound[alias.asname or alias.name] = f"{origin}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            dotted = _dotted(node, bound)
            if dotted is not None:
                found.add(Use(node.lineno, dotted))
        elif isinstance(node, ast.Name) and node.id == "__import__":
            found.add(Use(node.lineno, node.id))
    return sorted(found)


def _origin(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    if node.level == 0:
        return node.module or ""
    parts = module.split(".")
    up = node.level - 1 if is_package else node.level
    base = parts[: len(parts) - up]
    return ".".join([*base, node.module] if node.module else base)


def _dotted(node: ast.Attribute, bound: dict[str, str]) -> str | None:
    names = [node.attr]
    value = node.value
    while isinstance(value, ast.Attribute):
        names.append(value.attr)
        value = value.value
    if not isinstance(value, ast.Name) or value.id not in bound:
        return None
    return ".".join([bound[value.id], *reversed(names)])


def is_within(name: str, banned: frozenset[str]) -> bool:
    """Whether a dotted name is one of `banned`, or stands below one: `os.path.join` is within `os.path`."""
    return any(name == ban or name.startswith(f"{ban}.") for ban in banned)


def wrong_arrows(package: Package, found: list[Use]) -> list[Use]:
    """The uses that go against the layers: a package of the project that this one may not import."""
    return [
        use
        for use in found
        if use.top in LAYERS and use.top != package.name and use.top not in package.may_import
    ]


def foreign(found: list[Use], allowed: frozenset[str]) -> list[Use]:
    """The uses of packages that are neither the project's, nor the standard library's, nor `allowed`."""
    known = sys.stdlib_module_names | LAYERS.keys() | allowed
    return [use for use in found if use.top not in known]


def files_of(package: Package) -> Iterator[tuple[Path, list[Use]]]:
    """The Python files of a package with what each uses; none while the package does not exist."""
    root = REPOSITORY / package.root
    for path in sorted((root / package.name).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        module = ".".join(parts[:-1] if is_package else parts)
        yield path, uses(path.read_text("utf-8"), module, is_package=is_package)


def complaints(path: Path, wrong: list[Use]) -> list[str]:
    return [f"{path.relative_to(REPOSITORY)}:{use.line}: {use.name}" for use in wrong]


def project_file() -> dict[str, Any]:  # Any: that is how a TOML document is read
    return tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))


def wheel_packages() -> list[str]:
    return [str(entry) for entry in project_file()["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]]


def package_folders() -> list[str]:
    """The packages that stand in the source roots, as the wheel's configuration names them."""
    return sorted(
        f"{root}/{init.parent.name}"
        for root in SOURCE_ROOTS
        for init in (REPOSITORY / root).glob("*/__init__.py")
    )


def _distribution(requirement: str) -> str:
    name = requirement
    for mark in "<>=!~;[ ":
        name = name.partition(mark)[0]
    return name


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_package_imports_only_the_layers_below_it(package: Package) -> None:
    wrong = [
        line for path, found in files_of(package) for line in complaints(path, wrong_arrows(package, found))
    ]

    assert wrong == []


@pytest.mark.parametrize("name", ["stellwerk_protocol", "stellwerk_engine"])
def test_the_layers_below_the_server_depend_on_msgspec_alone(name: str) -> None:
    wrong = [
        line
        for path, found in files_of(LAYERS[name])
        for line in complaints(path, foreign(found, THIRD_PARTY_BELOW_THE_SERVER))
    ]

    assert wrong == []


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_package_imports_only_dependencies_that_are_declared(package: Package) -> None:
    required: list[str] = project_file()["project"]["dependencies"]
    declared = frozenset(_distribution(requirement) for requirement in required)
    wrong = [line for path, found in files_of(package) for line in complaints(path, foreign(found, declared))]

    assert wrong == []


@pytest.mark.parametrize("name", ["stellwerk_protocol", "stellwerk_engine"])
def test_no_clock_no_chance_and_no_socket_below_the_server(name: str) -> None:
    """GEN-02: the same input gives the same events, on every machine and at any time."""
    wrong = [
        line
        for path, found in files_of(LAYERS[name])
        for line in complaints(path, [use for use in found if is_within(use.name, OUTSIDE_WORLD)])
    ]

    assert wrong == []


@pytest.mark.parametrize("name", ["stellwerk_protocol", "stellwerk_engine"])
def test_every_import_below_the_server_can_be_read_from_the_source(name: str) -> None:
    wrong = [
        line
        for path, found in files_of(LAYERS[name])
        for line in complaints(path, [use for use in found if is_within(use.name, COMPUTED_IMPORTS)])
    ]

    assert wrong == []


def test_nothing_imports_the_bare_name_of_a_folder() -> None:
    paths = [path for root in (*SOURCE_ROOTS, "tests") for path in sorted((REPOSITORY / root).rglob("*.py"))]
    wrong = [
        line
        for path in paths
        for line in complaints(
            path, [use for use in uses(path.read_text("utf-8"), path.stem) if use.top in BARE_FOLDERS]
        )
    ]

    assert Path(__file__) in paths
    assert wrong == []


def test_the_layers_that_everything_stands_on_have_been_walked() -> None:
    """Without this, a renamed folder would pass every test above by being empty."""
    for name in ("stellwerk_protocol", "stellwerk_engine", "stellwerk"):
        assert list(files_of(LAYERS[name])), name


def test_every_package_in_the_wheel_exists_and_is_typed() -> None:
    for entry in wheel_packages():
        assert (REPOSITORY / entry / "__init__.py").is_file(), entry
        assert (REPOSITORY / entry / "py.typed").is_file(), entry


def test_every_package_of_the_source_roots_is_in_the_wheel() -> None:
    assert sorted(wheel_packages()) == package_folders()


def test_every_package_of_the_source_roots_has_its_row_in_the_layers() -> None:
    rows = {f"{package.root}/{package.name}" for package in PACKAGES}

    assert set(package_folders()) <= rows


def test_an_editable_install_finds_every_package_of_the_wheel() -> None:
    roots = {str(root) for root in project_file()["tool"]["hatch"]["build"]["dev-mode-dirs"]}

    assert {entry.rpartition("/")[0] for entry in wheel_packages()} == roots


# The walker itself: a check that overlooks an import proves nothing.


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import random", "random"),
        ("import random as dice", "random"),
        ("from random import shuffle", "random.shuffle"),
        ("def f():\n    import time", "time"),
        ("if TYPE_CHECKING:\n    from asyncio import Task", "asyncio.Task"),
        ("import os\nos.urandom(8)", "os.urandom"),
        ("import os as system\nsystem.urandom(8)", "os.urandom"),
        ("import os.path\nos.getrandom(8)", "os.getrandom"),
        ("from os import urandom as noise", "os.urandom"),
        ("import concurrent.futures", "concurrent.futures"),
    ],
)
def test_the_walker_sees_a_way_to_the_outside_world(source: str, name: str) -> None:
    found = [use.name for use in uses(source, "stellwerk_engine.game") if is_within(use.name, OUTSIDE_WORLD)]

    assert name in found


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos.path.join('a', 'b')",
        "from importlib import resources",
        "import hashlib",
        "from stellwerk_engine import random_access",
        "time = 3",
        "self.random()",
    ],
)
def test_the_walker_lets_the_harmless_pass(source: str) -> None:
    found = [
        use
        for use in uses(source, "stellwerk_engine.game")
        if is_within(use.name, OUTSIDE_WORLD | COMPUTED_IMPORTS)
    ]

    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "__import__('random')",
        "from importlib import import_module",
        "import importlib\nimportlib.import_module('random')",
    ],
)
def test_the_walker_sees_a_computed_import(source: str) -> None:
    assert any(is_within(use.name, COMPUTED_IMPORTS) for use in uses(source, "stellwerk_engine.game"))


@pytest.mark.parametrize(
    ("importer", "source", "allowed"),
    [
        ("stellwerk_protocol", "import stellwerk_engine", False),
        ("stellwerk_protocol", "from . import moves", True),
        ("stellwerk_engine", "from stellwerk_protocol.moves import Move", True),
        ("stellwerk_engine", "from stellwerk_server import serve", False),
        ("stellwerk_engine", "from stellwerk import __main__", False),
        ("stellwerk_server", "import stellwerk_engine.replay", True),
        ("stellwerk_server", "import stellwerk_tournament", False),
        ("stellwerk_server", "import stellwerk_bots", False),
        ("stellwerk_tournament", "import stellwerk_server", True),
        ("stellwerk_bots", "import stellwerk_engine", True),
        ("stellwerk_bots", "import stellwerk_server", False),
        ("stellwerk_kit", "import stellwerk_tournament", False),
        ("stellwerk", "import stellwerk_tournament", True),
    ],
)
def test_the_arrows_point_downwards(importer: str, source: str, allowed: bool) -> None:
    wrong = wrong_arrows(LAYERS[importer], uses(source, f"{importer}.module"))

    assert (wrong == []) is allowed


@pytest.mark.parametrize(
    ("module", "is_package", "source", "name"),
    [
        ("stellwerk_engine.board", False, "from .cards import Color", "stellwerk_engine.cards.Color"),
        ("stellwerk_engine.games.usa", False, "from .. import board", "stellwerk_engine.board"),
        ("stellwerk_engine", True, "from .cards import Color", "stellwerk_engine.cards.Color"),
        ("stellwerk_engine.games", True, "from ..cards import Color", "stellwerk_engine.cards.Color"),
    ],
)
def test_a_relative_import_counts_from_its_own_file(
    module: str, is_package: bool, source: str, name: str
) -> None:
    assert uses(source, module, is_package=is_package) == [Use(1, name)]


def test_a_package_from_elsewhere_is_foreign_until_it_is_declared() -> None:
    found = uses("import json\nimport msgspec\nimport trio\nimport stellwerk_protocol", "stellwerk_engine.x")

    assert [use.name for use in foreign(found, frozenset({"msgspec"}))] == ["trio"]
    assert foreign(found, frozenset({"msgspec", "trio"})) == []
