"""`merge`, `status`, `ratings`, `report` and `verify`: what is made of the matches that were played."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from time import perf_counter

from stellwerk.shared.errors import DONE, FAILED, infrastructure_error, not_writable, usage_error
from stellwerk.shared.progress import WorkLine
from stellwerk.shared.terminal import complain, say
from stellwerk.tournament.folder import (
    command_for,
    looked_into,
    making,
    total_of,
    write_derived,
)
from stellwerk.tournament.output import conduct_lines, fault_lines, say_json, table_of
from stellwerk_base.texts import counted, shown
from stellwerk_tournament.config.resolved import FILE as RESOLVED
from stellwerk_tournament.play.progress import rounded, rows_of
from stellwerk_tournament.ratings.ratings import RatingError, Ratings
from stellwerk_tournament.report.blind_draws import blind_file
from stellwerk_tournament.report.conditions import PlayedVersions
from stellwerk_tournament.report.decisions import decision_in_words
from stellwerk_tournament.report.derived import REPORT, ratings_json
from stellwerk_tournament.report.match_pages import FOLDER as PAGES
from stellwerk_tournament.report.match_pages import Paged, paged_in, write_pages
from stellwerk_tournament.report.matches import MOST_MATCHES
from stellwerk_tournament.report.scheduled import missing_blocks
from stellwerk_tournament.report.verify import OtherVersionError, UntrueError, verify
from stellwerk_tournament.store.cup import Cup
from stellwerk_tournament.store.match_line import MatchLine
from stellwerk_tournament.store.store import look_into


def show_status(folder: Path, as_json: bool) -> int:
    cup = looked_into(folder)
    kept = sum(len(each.kept) for each in cup.blocks)
    with look_into(folder) as store:
        failures = [] if store is None else store.failures()
    rows = rows_of(cup.standings, rated_in(cup), cup.out)
    counts = Counter(each.status for each in cup.blocks)
    total = total_of(cup)
    if as_json:
        say_json(
            matches=len(cup.results),
            of_running_blocks=kept,
            total=total,
            blocks=dict(counts),
            suspended=tuple(cup.suspensions.values()),
            decisions=cup.field.decisions,
            paused=cup.field.pause is not None,
            failures=failures,
            rows=rounded(rows),
        )
        return DONE
    for line in table_of(rows):
        say(line)
    say("")
    in_all = "as many as it takes" if total is None else f"{total:,}"
    say(f"matches   {len(cup.results):,} of complete blocks, {kept:,} of running ones; in all {in_all}")
    by_status = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in counts.items())
    say(f"blocks    {by_status or 'none yet'}")
    elsewhere = Counter(each.machine for each in failures if each.machine)
    own = len(failures) - elsewhere.total()
    say(
        "failures  "
        + ", ".join([f"{own} of this machine", *(f"{n} of {name}" for name, n in elsewhere.items())])
    )
    for line in (*trouble_lines(cup), *voids_of(cup), *decision_lines(cup)):
        say(line)
    return DONE


def show_ratings(folder: Path, as_json: bool) -> int:
    cup = looked_into(folder)
    if as_json:
        rated_in(cup)  # which shows that it may take long
        say(ratings_json(cup).decode().rstrip("\n"))
    else:
        print_ranking(cup)
    return DONE


def make_report(folder: Path, with_pages: bool, with_all_pages: bool) -> int:
    cup = looked_into(folder)
    paged: Paged | None = None
    if with_pages or with_all_pages:
        count = len(cup.results)
        paged = Paged(count if with_all_pages else min(count, MOST_MATCHES), count)
        _write_pages(cup, paged)
    for path in write_derived(cup, paged):
        say(f"{shown(str(path), 1000)}: written")
    return DONE


def _write_pages(cup: Cup, paged: Paged) -> None:
    """Write the pages of the last matches, and say how many they are."""
    began, count, size = perf_counter(), 0, 0
    try:
        with WorkLine() as work:
            for count, page_size in enumerate(write_pages(cup, paged), 1):
                size += page_size
                work.count("wrote the pages of", count, paged.count, "matches")
    except OSError as error:
        raise not_writable(str(error.filename or cup.folder), error) from None
    folder = shown(str(cup.folder / PAGES), 1000)
    seconds = perf_counter() - began
    say(
        f"{folder}: {count:,} of {counted(paged.of, 'match', 'matches')} written, "
        f"{size / 1e6:,.1f} MB in {seconds:.1f} s"
    )


def verify_folder(folder: Path) -> int:
    cup = looked_into(folder, anew=True)
    try:
        if message := cup.wrong_beginning():
            raise UntrueError(f"{folder / RESOLVED}: {message}")
        versions = PlayedVersions()
        with WorkLine() as work:
            numbers = itertools.count(1)

            def verified(line: MatchLine) -> None:
                versions.add(line)
                work.count("verified", next(numbers), len(cup.results), "matches")

            count = verify(
                cup, paged_in(folder / REPORT), verified, lambda name: work.step(making(cup, name))
            )
    except UntrueError as error:
        complain(str(error))
        return FAILED
    except OtherVersionError as error:
        raise usage_error(f"{error}; make it again with: {command_for('report', folder)}") from None
    except OSError as error:
        raise infrastructure_error(f"{error.filename}: cannot be read: {error.strerror or error}") from None
    say(f"{shown(str(folder), 1000)}: ok, {len(cup.results):,} matches, {count:,} files")
    blind = blind_file(cup.results.blind, cup.settings.names)
    drawn_blind = [] if blind.highest is None else [f"blind draws: {blind.highest.words}"]
    for line in (*drawn_blind, *versions.lines(), *missing_blocks(cup)):
        say(line)
    return DONE


def rated_in(cup: Cup) -> Ratings | None:
    with WorkLine() as work:
        work.step(f"rating {counted(len(cup.results), 'match', 'matches')} ...")
        rated = cup.rated
    return None if isinstance(rated, RatingError) else rated.pooled


def print_ranking(cup: Cup) -> None:
    ratings = rated_in(cup)
    for line in table_of(rows_of(cup.standings, ratings, cup.out)):
        say(line)
    for warning in () if ratings is None else ratings.warnings:
        say(f"note: {warning.message}")


def trouble_lines(cup: Cup) -> list[str]:
    """Return the lines about faults, forfeits and suspensions."""
    return [
        *fault_lines(cup.standings),
        *conduct_lines(cup.standings, cup.suspensions),
    ]


def decision_lines(cup: Cup) -> list[str]:
    return [
        shown(f"decision {each.number}, {each.at}: {decision_in_words(each)}", 2000)
        for each in cup.field.decisions
    ]


def voids_of(cup: Cup) -> list[str]:
    return [
        f"block {each.block.number} ({', '.join(each.block.entrants)}) is void: {each.cause}"
        for each in cup.blocks
        if each.status == "void"
    ]
