"""The settings of a tournament as it was begun, for those who look into its folder.

The file need not say how built-in bots run, or which level of the sandbox holds. A tournament continues as it
began, by the settings of its beginning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from msgspec import UNSET

from stellwerk_processes.bench.levels import Wanted
from stellwerk_processes.bot_spec import Process
from stellwerk_tournament.config.resolved import Resolved, resolve, wrong_resolved
from stellwerk_tournament.config.sandbox import STANDARD
from stellwerk_tournament.config.settings import Settings, Source, settings_of
from stellwerk_tournament.store.store import read_matches, read_results


def settings_as_begun(source: Source, folder: Path, before: Resolved | None) -> Settings:
    """Return the settings to look at, whatever a command line has said. `before` is what the tournament was
    begun with, if it has begun. SettingsError, or StoreError."""
    settings = settings_of(
        source,
        folder,
        to_play=False,
        without=() if before is None else before.without,
        level=level_as_begun(folder, source, before),
        processes=processes_as_begun(folder, source, before),
    )
    confinement = settings.confinement
    if before is not None and confinement.level == "auto":
        settings = replace(settings, confinement=replace(confinement, level=before.sandbox.level))
    return settings


def wrong_beginning(source: Source, folder: Path, before: Resolved, version: str) -> str | None:
    """Say what `resolved.json` has that the tournament did not begin with, as far as its file tells, or None.
    OSError, SettingsError, StoreError."""
    return wrong_resolved(before, resolve(settings_as_begun(source, folder, before), folder, version))


def level_as_begun(folder: Path, source: Source, before: Resolved | None) -> Wanted:
    """Return the level of the sandbox where the file says none: the one that the tournament was begun with,
    which is that of all its lines, and `limits` before there were others."""
    if before is not None:
        return before.sandbox.level
    results = read_results(folder)
    if not len(results):
        return STANDARD
    return "limits" if results.sandbox is UNSET else results.sandbox.level


def processes_as_begun(folder: Path, source: Source, before: Resolved | None) -> Mapping[str, Process]:
    """Return how the bots ran that the tournament was begun with, by their names: built-in ones go on so
    where the file does not say how. Defaults have changed since earlier versions."""
    if before is not None:
        return {bot.name: bot.process for bot in before.bots}
    return {seat.bot: seat.process for line in read_matches(folder) for seat in line.bots}
