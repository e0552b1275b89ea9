"""`merge`, `status`, `ratings`, `report` and `verify`: what is made of the matches that were played."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from stellwerk.shared.errors import DONE, FAILED, infrastructure_error, not_writable, usage_error
from stellwerk.shared.progress import WorkLine
from stellwerk.shared.terminal import complain, say
from stellwerk.tournament.blocks import merge_results, say_merged
from stellwerk.tournament.folder import (
    command_for,
    making,
    opened_folder,
    source_of,
    tournament_in,
    write_derived,
)
from stellwerk.tournament.output import conduct_lines, fault_lines, say_json, table_of
from stellwerk_base.texts import counted, shown
from stellwerk_tournament.config.resolved import FILE as RESOLVED
from stellwerk_tournament.config.resolved import read_resolved
from stellwerk_tournament.play.progress import rounded, rows_of
from stellwerk_tournament.play.scheduled import matches_in_all
from stellwerk_tournament.ratings.ratings import RatingError, Ratings
from stellwerk_tournament.report.conditions import version_lines
from stellwerk_tournament.report.derived import Tournament, ratings_json
from stellwerk_tournament.report.match_pages import FOLDER as PAGES
from stellwerk_tournament.report.match_pages import Paged, write_pages
from stellwerk_tournament.report.matches import MOST_MATCHES
from stellwerk_tournament.report.scheduled import missing_blocks
from stellwerk_tournament.report.verify import OtherVersionError, UntrueError, verify
from stellwerk_tournament.store.begun import wrong_beginning
from stellwerk_tournament.store.store import Store, look_into


def merge_into(folder: Path, results: Sequence[str]) -> int:
    settings = tournament_in(folder).settings
    with opened_folder(folder) as opened:
        for notice in opened.notices:
            complain(notice)
        merged = merge_results(opened, settings, results)
        if merged.blocks:
            tournament = tournament_in(folder)
            total = matches_in_all(tournament.settings, opened.store.standings(), tournament.suspensions)
            opened.store.note_over(len(tournament.lines) == total)
            write_derived(tournament)
    return say_merged(merged)


def show_status(folder: Path, as_json: bool) -> int:
    tournament = tournament_in(folder)
    with look_into(folder) as store:
        blocks = [] if store is None else store.standings()
        failures = [] if store is None else store.failures()
        voids = [] if store is None else voids_of(store)
    kept = sum(len(each.kept) for each in blocks)
    suspensions = tournament.suspensions
    rows = rows_of(tournament.standings, rated_in(tournament), suspensions)
    counts = Counter(each.status for each in blocks)
    total = matches_in_all(tournament.settings, blocks, tournament.suspensions)
    if as_json:
        say_json(
            matches=len(tournament.lines),
            of_running_blocks=kept,
            total=total,
            blocks=dict(counts),
            suspended=tuple(suspensions.values()),
            failures=failures,
            rows=rounded(rows),
        )
        return DONE
    for line in table_of(rows):
        say(line)
    say("")
    in_all = "as many as it takes" if total is None else f"{total:,}"
    say(f"matches   {len(tournament.lines):,} of complete blocks, {kept:,} of running ones; in all {in_all}")
    by_status = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in counts.items())
    say(f"blocks    {by_status or 'none yet'}")
    elsewhere = Counter(each.machine for each in failures if each.machine)
    own = len(failures) - elsewhere.total()
    say(
        "failures  "
        + ", ".join([f"{own} of this machine", *(f"{n} of {name}" for name, n in elsewhere.items())])
    )
    for line in (*trouble_lines(tournament), *voids):
        say(line)
    return DONE


def show_ratings(folder: Path, as_json: bool) -> int:
    tournament = tournament_in(folder)
    if as_json:
        rated_in(tournament)  # which shows that it may take long
        say(ratings_json(tournament).decode().rstrip("\n"))
    else:
        print_ranking(tournament)
    return DONE


def make_report(folder: Path, with_pages: bool, with_all_pages: bool) -> int:
    tournament = tournament_in(folder)
    if with_pages or with_all_pages:
        tournament = _with_pages(tournament, len(tournament.lines) if with_all_pages else MOST_MATCHES)
    for path in write_derived(tournament):
        say(f"{shown(str(path), 1000)}: written")
    return DONE


def _with_pages(tournament: Tournament, count: int) -> Tournament:
    """Write the pages of the last matches, and say how many they are."""
    line_count = len(tournament.lines)
    paged = Paged(min(count, line_count), line_count)
    lines = paged.lines(tournament.lines)
    began = perf_counter()
    try:
        with WorkLine() as work:
            size = write_pages(
                tournament.folder,
                lines,
                tournament.version,
                lambda number: work.count("wrote the pages of", number, len(lines), "matches"),
            )
    except OSError as error:
        raise not_writable(str(error.filename or tournament.folder), error) from None
    folder = shown(str(tournament.folder / PAGES), 1000)
    seconds = perf_counter() - began
    say(
        f"{folder}: {len(lines):,} of {counted(line_count, 'match', 'matches')} written, "
        f"{size / 1e6:,.1f} MB in {seconds:.1f} s"
    )
    return replace(tournament, paged=paged)


def verify_folder(folder: Path) -> int:
    tournament = tournament_in(folder)
    before = read_resolved(folder)
    try:
        if before is not None and (
            message := wrong_beginning(source_of(folder), folder, before, tournament.version)
        ):
            raise UntrueError(f"{folder / RESOLVED}: {message}")
        with WorkLine() as work:
            numbers = itertools.count(1)
            count = verify(
                tournament,
                lambda _: work.count("verified", next(numbers), len(tournament.lines), "matches"),
                lambda name: work.step(making(tournament, name)),
            )
    except UntrueError as error:
        complain(str(error))
        return FAILED
    except OtherVersionError as error:
        raise usage_error(f"{error}; make it again with: {command_for('report', folder)}") from None
    except OSError as error:
        raise infrastructure_error(f"{error.filename}: cannot be read: {error.strerror or error}") from None
    say(f"{shown(str(folder), 1000)}: ok, {len(tournament.lines):,} matches, {count:,} files")
    for line in (*version_lines(tournament.lines), *missing_blocks(tournament)):
        say(line)
    return DONE


def rated_in(tournament: Tournament) -> Ratings | None:
    with WorkLine() as work:
        work.step(f"rating {counted(len(tournament.lines), 'match', 'matches')} ...")
        rated = tournament.rated
    return None if isinstance(rated, RatingError) else rated.pooled


def print_ranking(tournament: Tournament) -> None:
    ratings = rated_in(tournament)
    for line in table_of(rows_of(tournament.standings, ratings, tournament.suspensions)):
        say(line)
    for warning in () if ratings is None else ratings.warnings:
        say(f"note: {warning.message}")


def trouble_lines(tournament: Tournament) -> list[str]:
    """Return the lines about faults, forfeits and suspensions."""
    return [
        *fault_lines(tournament.standings),
        *conduct_lines(tournament.standings, tournament.suspensions),
    ]


def voids_of(store: Store) -> list[str]:
    return [
        f"block {each.block.number} ({', '.join(each.block.entrants)}) is void: {each.cause}"
        for each in store.standings()
        if each.status == "void"
    ]
