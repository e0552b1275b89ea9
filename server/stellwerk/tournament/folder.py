"""The folder of a tournament, as the commands read and write it."""

from __future__ import annotations

import shlex
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from stellwerk.shared.errors import not_writable, usage_error
from stellwerk.shared.progress import WorkLine
from stellwerk.shared.terminal import own_name
from stellwerk.shared.version import version
from stellwerk_base.texts import counted, shown
from stellwerk_tournament.config.resolved import read_resolved
from stellwerk_tournament.config.settings import FILE, Source, parse
from stellwerk_tournament.play.scheduled import matches_in_all
from stellwerk_tournament.report import derived
from stellwerk_tournament.report.derived import Tournament, write_all
from stellwerk_tournament.report.match_pages import FOLDER as PAGES
from stellwerk_tournament.report.match_pages import NO_PAGES, paged_in
from stellwerk_tournament.store.begun import settings_as_begun
from stellwerk_tournament.store.match_line import FILE as LINES
from stellwerk_tournament.store.match_line import SharedValues
from stellwerk_tournament.store.store import Opened, look_into, open_store, read_matches


@contextmanager
def opened_folder(folder: Path) -> Generator[Opened]:
    """Open the folder, and show that reading it may take long."""
    with ExitStack() as stack:
        with WorkLine() as work:
            work.step(reading(folder))
            opened = stack.enter_context(open_store(folder))
        yield opened


def source_of(folder: Path) -> Source:
    try:
        return parse(folder)
    except FileNotFoundError:
        raise usage_error(
            f"{folder / FILE}: is not there; begin with: {command_for('init', folder)}"
        ) from None
    except OSError as error:
        raise usage_error(f"{folder / FILE}: cannot be read: {error.strerror or error}") from None


def command_for(name: str, folder: Path, *words: str) -> str:
    return shlex.join([own_name(), "tournament", name, str(folder), *words])


def reading(folder: Path) -> str:
    return f"reading {shown(str(folder / LINES), 1000)} ..."


def making(tournament: Tournament, name: str) -> str:
    return f"making {name} from {counted(len(tournament.lines), 'match', 'matches')} ..."


def tournament_in(folder: Path) -> Tournament:
    """Read a tournament as its folder has it, whatever a command line has said."""
    with WorkLine() as work:
        work.step(reading(folder))
        lines = tuple(map(SharedValues().within, read_matches(folder)))
    before = read_resolved(folder)
    settings = settings_as_begun(source_of(folder), folder, before)
    conduct = settings.conduct if before is None else before.conduct
    paged = paged_in(folder / derived.REPORT)
    return Tournament(folder, replace(settings, conduct=conduct), lines, version(), paged)


def write_derived(tournament: Tournament) -> list[Path]:
    if not (tournament.folder / PAGES).is_dir():  # its user has deleted them
        tournament = replace(tournament, paged=NO_PAGES)
    try:
        with WorkLine() as work:
            return write_all(tournament, lambda name: work.step(making(tournament, name)))
    except OSError as error:
        raise not_writable(str(tournament.folder), error) from None


def read_cup(folder: Path) -> tuple[Source, Tournament, int | None]:
    """Read a tournament that was played, and how many matches it has in all, if that is known."""
    source = source_of(folder)
    tournament = tournament_in(folder)
    with look_into(folder) as store:
        blocks = [] if store is None else store.standings()
    return source, tournament, matches_in_all(tournament.settings, blocks, tournament.suspensions)
