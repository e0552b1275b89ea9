"""The files that are made of `matches.jsonl`, and can be deleted and made again.

Law: each is a function of the tournament's lines and settings, to the byte; so `verify` can tell whether one
of them has been changed. A file that is to be added (a report, say) is one more row of `FILES`.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from stellwerk_base.files import write_whole
from stellwerk_base.texts import counted
from stellwerk_tournament.ratings.rating_file import (
    RatingFile,
    RatingTable,
    WarningLine,
    entrant_line,
    rating_file,
    rating_table,
)
from stellwerk_tournament.ratings.ratings import RatingError, Ratings
from stellwerk_tournament.report.forfeits import suspended_last
from stellwerk_tournament.report.junit import Case, Mark, Suite, junit_xml
from stellwerk_tournament.report.match_pages import NO_PAGES, Paged
from stellwerk_tournament.store.conduct import Suspension
from stellwerk_tournament.store.cup import Cup
from stellwerk_tournament.store.match_line import MatchLine

RATINGS: Final = "ratings.json"
CROSS_TABLE: Final = "crosstable.csv"
JUNIT: Final = "junit.xml"
REPORT: Final = "report.html"


def write_all(
    cup: Cup, paged: Paged = NO_PAGES, makes: Callable[[str], object] = lambda _: None
) -> list[Path]:
    """Write all files and return where they are. OSError if one of them cannot be written. `paged` are the
    matches that have pages. `makes` gets the name of each file before it is made, which can take long."""
    written: list[Path] = []
    for name, make in FILES.items():
        makes(name)
        path = cup.folder / name
        write_whole(path, make(cup, paged))
        written.append(path)
    return written


# -- ratings -----------------------------------------------------------------------------------------


def ratings_json(cup: Cup, paged: Paged = NO_PAGES) -> bytes:
    """Write what `stellwerk ratings --json` prints about them, and what forfeits add to that."""
    rated = cup.rated
    content = _unrated(str(rated)) if isinstance(rated, RatingError) else rating_file(rated)
    if cup.results.has_forfeits:
        content = _with_forfeits(content, cup)
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


class RatingFileWithForfeits(RatingFile, frozen=True):
    """Suspended bots are the last of `entrants`. `without_forfeits` is the rating of the matches in which
    nobody forfeited, or null if they cannot be rated."""

    suspended: tuple[str, ...]
    without_forfeits: RatingTable | None


def _with_forfeits(content: RatingFile, cup: Cup) -> RatingFile:
    suspensions, rated = cup.suspensions, cup.rated
    if not isinstance(rated, RatingError):
        entrants = tuple(map(entrant_line, suspended_last(rated.pooled, suspensions)))
        content = msgspec.structs.replace(content, entrants=entrants)
    without = cup.rated_without_forfeits
    return RatingFileWithForfeits(
        **msgspec.structs.asdict(content),
        suspended=tuple(suspensions),
        without_forfeits=rating_table(without) if isinstance(without, Ratings) else None,
    )


def _unrated(why: str) -> RatingFile:
    warning = WarningLine("unrated", why, ())
    return RatingFile((), (), (), (warning,), 0, 0, (), {}, {}, (), ())


# -- cross table -------------------------------------------------------------------------------------


def cross_table(cup: Cup, paged: Paged = NO_PAGES) -> bytes:
    """Write a row for each bot, the best first and suspended bots last: its score against each other one in
    their matches, with forfeits.

    Its own score is not the mean of these where tables have several sizes: there a match of three counts
    once, and has two opponents. The head of the column says so.
    """
    standings = cup.standings
    order = sorted(standings.order(), key=lambda name: name in cup.suspensions)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(
        ["bot", "matches", "mean score of matches", *order, *(f"matches with {name}" for name in order)]
    )
    for name in order:
        sums = standings.of[name]
        met = [standings.pairs.get((name, other)) for other in order]
        scores = ["" if pair is None else f"{pair[0] / pair[1]:.4f}" for pair in met]
        counts = ["" if pair is None else pair[1] for pair in met]
        table.writerow([name, sums.matches, f"{sums.mean_score:.4f}", *scores, *counts])
    return text.getvalue().encode()


# -- JUnit -------------------------------------------------------------------------------------------


def junit(cup: Cup, paged: Paged = NO_PAGES) -> bytes:
    """Write a test case for each bot in each game: it fails if the bot had a fault in a match, or forfeited
    one. It is skipped if the bot was suspended before it played the game."""
    lines, settings = cup.lines, cup.settings
    title = settings.title or "tournament"
    games = dict.fromkeys(line.game for line in lines)
    played: dict[tuple[str, str], list[MatchLine]] = {}  # so that nobody looks at all lines for each bot
    for line in lines:
        for name in line.players:
            played.setdefault((line.game, name), []).append(line)

    def cases(game: str) -> list[Case]:
        return [_case(name, played.get((game, name), ()), cup.suspensions) for name in settings.names]

    return junit_xml(title, [Suite(game, game, cases(game)) for game in games])


def _case(name: str, played: Sequence[MatchLine], suspensions: Mapping[str, Suspension]) -> Case:
    """Make the case of a bot in a game, of which `played` are its matches."""
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    seconds = 0.0
    for line in played:
        for seat in line.bots:
            if seat.bot == name:
                seconds += seat.used_ms / 1000
                for fault in seat.faults:
                    counts[fault.kind] += 1
                    first.setdefault(
                        fault.kind, f"block {line.block}, rotation {line.rotation}: {fault.detail}"
                    )
    if not played and name in suspensions:
        return Case(name, seconds, Mark("skipped", f"suspended after block {suspensions[name].block}"))
    forfeited = Counter(each.reason for line in played for each in line.forfeits if each.bot == name)
    if not counts and not forfeited:
        return Case(name, seconds)
    parts = [
        f"{kind} {counted(count, 'time')}, first in {first[kind]}" for kind, count in sorted(counts.items())
    ]
    if forfeited:
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(forfeited.items()))
        parts.append(
            f"{forfeited.total()} of {counted(len(played), 'match', 'matches')} forfeited: {reasons}"
        )
    return Case(name, seconds, Mark("failure", "; ".join(parts), ", ".join(sorted(counts)) or "suspended"))


# -- report ------------------------------------------------------------------------------------------


GENERATOR: Final = re.compile(r'<meta name="generator" content="Stellwerk ([^"]*)">')


def report_page(cup: Cup, paged: Paged = NO_PAGES) -> bytes:
    """Write the report."""
    from stellwerk_tournament.report.page import report_html  # templates, which no other file needs

    return report_html(cup, paged)


def maker(folder: Path) -> str | None:
    """Return the version of Stellwerk that made the report. None if there is no report, or it names none."""
    path = folder / REPORT
    if not path.exists():
        return None
    made = GENERATOR.search(path.read_text("utf-8", "replace"))
    return None if made is None else made[1]


FILES: Final[dict[str, Callable[[Cup, Paged], bytes]]] = {
    RATINGS: ratings_json,
    CROSS_TABLE: cross_table,
    JUNIT: junit,
    REPORT: report_page,
}
