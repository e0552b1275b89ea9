"""How many bytes things take in a message at most; see knowledge/limits.py."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from stellwerk_engine.core.cards import COLOR_NAMES

CARD_BYTES: Final = tuple(len(f'"{name}":60,') for name in COLOR_NAMES)


def names_bytes(names: Iterable[str]) -> int:
    """Count the bytes of a list of names."""
    return sum(len(name) + 3 for name in names)
