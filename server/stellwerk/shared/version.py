"""Which version of Stellwerk this is, and whether it is compiled."""

from __future__ import annotations

from importlib import metadata
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from typing import Final

COMPILED_PACKAGES: Final = (
    "stellwerk_base",
    "stellwerk_protocol",
    "stellwerk_engine",
    "stellwerk_server",
    "stellwerk_bots",
)


def version() -> str:
    try:
        return metadata.version("stellwerk")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def build() -> str:
    """Return what runs here: `compiled, 90 modules` or `plain Python`. A compiled module counts where Python
    would import it: beside its source."""
    specs = filter(None, map(find_spec, COMPILED_PACKAGES))
    folders = [Path(place) for spec in specs for place in spec.submodule_search_locations or ()]
    names = [path.name for folder in folders for path in folder.rglob("*") if path.is_file()]
    count = sum(name.endswith(tuple(EXTENSION_SUFFIXES)) for name in names)
    return f"compiled, {count} modules" if count else "plain Python"
