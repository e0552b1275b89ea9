"""The location of the specification: its pages, schemas, examples and vectors.

In a checkout it is the folder `protocol/` around this package, in a wheel a copy of it inside.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).resolve().parent
_IN_THE_WHEEL: Final = _PACKAGE / "protocol"


def protocol_folder() -> Path:
    """Return the folder with README.md, `schema`, `conformance` and the rest."""
    return _IN_THE_WHEEL if _IN_THE_WHEEL.is_dir() else _PACKAGE.parent
