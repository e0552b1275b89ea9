"""Which version of Stellwerk this is."""

from __future__ import annotations

from importlib import metadata


def version() -> str:
    try:
        return metadata.version("stellwerk")
    except metadata.PackageNotFoundError:
        return "(not installed)"
