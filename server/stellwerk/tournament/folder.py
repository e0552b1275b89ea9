"""The folder of a tournament, as the commands read and write it, and what they print meanwhile."""

from __future__ import annotations

import shlex
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from stellwerk.shared.errors import not_writable, usage_error
from stellwerk.shared.progress import WorkLine
from stellwerk.shared.terminal import complain, own_name
from stellwerk.shared.version import version
from stellwerk_base.texts import counted, shown
from stellwerk_tournament.config.settings import FILE
from stellwerk_tournament.play.scheduled import matches_in_all
from stellwerk_tournament.report.derived import REPORT, write_all
from stellwerk_tournament.report.match_pages import FOLDER as PAGES
from stellwerk_tournament.report.match_pages import NO_PAGES, Paged, paged_in
from stellwerk_tournament.store.cup import Asked, Cup
from stellwerk_tournament.store.match_line import FILE as LINES
from stellwerk_tournament.store.store import Opened, read_results


def cup_in(folder: Path, asked: Asked | None = None) -> Cup:
    """Return the tournament in a folder. CommandError if it has no readable file."""
    cup = Cup(folder, version(), asked)
    try:
        _ = cup.source
    except FileNotFoundError:
        begin = command_for("init", folder)
        raise usage_error(f"{folder / FILE}: is not there; begin with: {begin}") from None
    except OSError as error:
        raise usage_error(f"{folder / FILE}: cannot be read: {error.strerror or error}") from None
    return cup


def looked_into(folder: Path, *, anew: bool = False) -> Cup:
    """Return a tournament whose results have been read, which may take long: with `anew`, from all lines."""
    cup = cup_in(folder)
    with WorkLine() as work:
        work.step(reading(folder))
        cup.results = read_results(folder, anew=anew)
    return cup


@contextmanager
def opened_folder(cup: Cup) -> Generator[Opened]:
    """Open the folder to play, and print what had to be put right."""
    with ExitStack() as stack:
        with WorkLine() as work:
            work.step(reading(cup.folder))
            opened = stack.enter_context(cup.opened())
        for notice in opened.notices:
            complain(notice)
        yield opened


def command_for(name: str, folder: Path, *words: str) -> str:
    return shlex.join([own_name(), "tournament", name, str(folder), *words])


def reading(folder: Path) -> str:
    return f"reading {shown(str(folder / LINES), 1000)} ..."


def making(cup: Cup, name: str) -> str:
    return f"making {name} from {counted(len(cup.results), 'match', 'matches')} ..."


def total_of(cup: Cup) -> int | None:
    """Return how many matches there are in all, if that is known."""
    total = matches_in_all(cup.settings, cup.blocks, cup.out)
    return None if total is None else max(total, len(cup.results))  # `run --rounds` may have added some


def write_derived(cup: Cup, paged: Paged | None = None) -> Sequence[Path]:
    """Write all derived files. `paged` are the matches whose pages have just been written; without it, those
    of the last report, unless their folder is gone."""
    if paged is None:
        paged = paged_in(cup.folder / REPORT) if (cup.folder / PAGES).is_dir() else NO_PAGES
    try:
        with WorkLine() as work:
            return write_all(cup, paged, lambda name: work.step(making(cup, name)))
    except OSError as error:
        raise not_writable(str(cup.folder), error) from None
