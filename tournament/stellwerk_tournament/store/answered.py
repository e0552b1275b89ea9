"""`preflight.json`: which bots have answered their first asks, and under which conditions.

Law: nothing depends on this file. Without it, or if it is damaged, every bot is tried again; no figure is
made of it. A bot counts as tried as long as its fingerprint is the same: of all that decides how it starts,
with its version (`config/versions.py`).
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from stellwerk_base.files import write_whole
from stellwerk_tournament.config.resolved import Resolved

if TYPE_CHECKING:
    from stellwerk_processes.bench.levels import SandboxRecord
    from stellwerk_tournament.config.settings import Settings

FILE: Final = "preflight.json"


class _Content(Struct, frozen=True):
    answered: dict[str, str] = {}


def read_answered(folder: Path) -> dict[str, str]:
    """Return the fingerprints of the bots that have answered, by their names."""
    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=_Content).answered
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}


def write_answered(folder: Path, answered: Mapping[str, str]) -> None:
    """OSError if that cannot be done."""
    content = msgspec.json.encode(_Content(dict(sorted(answered.items()))))
    write_whole(folder / FILE, msgspec.json.format(content, indent=2) + b"\n")


def fingerprints(
    settings: Settings, resolved: Resolved, sandbox: SandboxRecord | UnsetType, names: Collection[str]
) -> dict[str, str]:
    """Return the fingerprint of each of these bots. `resolved` is of the settings as they are now."""
    of_all = _of_all(settings, resolved, sandbox)
    return {
        entrant.name: hashlib.sha256(
            msgspec.json.encode(
                [of_all, bot, entrant.instances, sorted(entrant.bot.environment.items())], order="sorted"
            )
        ).hexdigest()
        for entrant, bot in zip(settings.entrants, resolved.bots, strict=True)
        if entrant.name in names
    }


def _of_all(settings: Settings, resolved: Resolved, sandbox: SandboxRecord | UnsetType) -> object:
    """Return the conditions that are the same for all bots, on this machine. How many bots run at a time is
    not among them, nor are those that change only what a match counts for."""
    machine = os.uname()
    held = None if sandbox is UNSET else (sandbox.level, sandbox.user, sandbox.wrapped)
    conditions = (resolved.wrap, resolved.sandbox, held, settings.confinement.memory_mb)
    clocks = (resolved.clocks, resolved.freeze, resolved.cores_per_bot)
    games = tuple(msgspec.structs.replace(game, weight=1) for game in resolved.games)
    here = (machine.nodename, machine.release, machine.machine, os.geteuid(), platform.python_version())
    return (resolved.stellwerk, *here, *conditions, *clocks, resolved.anonymous, games)
