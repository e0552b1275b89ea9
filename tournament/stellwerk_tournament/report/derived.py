"""The files that are made of `matches.jsonl`, and can be deleted and made again.

Law: each is a function of the tournament's lines and settings, to the byte; so `verify` can tell whether one
of them has been changed. A file that is to be added (a report, say) is one more row of `FILES`.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from stellwerk_base.files import write_whole
from stellwerk_base.texts import counted
from stellwerk_processes.faults import evidence_of
from stellwerk_tournament.ratings.rating_file import (
    RatingFile,
    RatingTable,
    WarningLine,
    entrant_line,
    rating_file,
    rating_table,
)
from stellwerk_tournament.ratings.ratings import RatingError, Ratings
from stellwerk_tournament.report.blind_draws import blind_file
from stellwerk_tournament.report.decisions import decision_in_words
from stellwerk_tournament.report.forfeits import out_last
from stellwerk_tournament.report.junit import Case, Mark, Suite, junit_xml
from stellwerk_tournament.report.match_pages import NO_PAGES, Paged
from stellwerk_tournament.store.cup import Cup
from stellwerk_tournament.store.match_line import MatchLine

RATINGS: Final = "ratings.json"
CROSS_TABLE: Final = "crosstable.csv"
JUNIT: Final = "junit.xml"
BLIND_DRAWS: Final = "blind_draws.json"
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
    """Write what `stellwerk ratings --json` prints about them, and what forfeits and decisions add."""
    rated = cup.rated
    if isinstance(rated, RatingError):
        content = _unrated(str(rated))
    else:
        entrants = tuple(map(entrant_line, out_last(rated.pooled, cup.out)))
        content = msgspec.structs.replace(rating_file(rated), entrants=entrants)
    field, has_forfeits = cup.field, cup.results.has_forfeits
    content = CupRatingFile(
        **msgspec.structs.asdict(content),
        suspended=tuple(cup.suspensions) if has_forfeits else UNSET,
        without_forfeits=_table(cup.rated_without_forfeits) if has_forfeits else UNSET,
        disqualified=tuple(field.disqualified) or UNSET,
        without_disqualified=_table(cup.rated_without_disqualified) if field.disqualified else UNSET,
        unrated_blocks=tuple(sorted(field.unrated)) or UNSET,
    )
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


class CupRatingFile(RatingFile, frozen=True):
    """Bots that are out are the last of `entrants`. `without_forfeits` is the rating of the matches without
    any forfeit, `without_disqualified` that of the blocks without any disqualified bot; null if they cannot
    be rated. `unrated_blocks` count in none of these. What does not apply is not there."""

    suspended: tuple[str, ...] | UnsetType
    without_forfeits: RatingTable | UnsetType | None
    disqualified: tuple[str, ...] | UnsetType
    without_disqualified: RatingTable | UnsetType | None
    unrated_blocks: tuple[int, ...] | UnsetType


def _table(rated: Ratings | RatingError | None) -> RatingTable | None:
    return rating_table(rated) if isinstance(rated, Ratings) else None


def _unrated(why: str) -> RatingFile:
    warning = WarningLine("unrated", why, ())
    return RatingFile((), (), (), (warning,), 0, 0, (), {}, {}, (), (), ())


# -- cross table -------------------------------------------------------------------------------------


def cross_table(cup: Cup, paged: Paged = NO_PAGES) -> bytes:
    """Write a row for each bot, the best first and those that are out last: its score against each other one
    in their matches, with forfeits.

    Its own score is not the mean of these where tables have several sizes: there a match of three counts
    once, and has two opponents. The head of the column says so.
    """
    standings = cup.standings
    order = sorted(standings.order(), key=lambda name: name in cup.out)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(
        ["bot", "matches", "mean score of matches", *order, *(f"matches with {name}" for name in order)]
    )
    for name in order:
        sums = standings.of[name]
        met = [standings.pairs.get((name, other)) for other in order]
        scores = ["" if versus is None else f"{versus.score:.4f}" for versus in met]
        counts = ["" if versus is None else versus.matches for versus in met]
        table.writerow([name, sums.matches, f"{sums.mean_score:.4f}", *scores, *counts])
    return text.getvalue().encode()


# -- JUnit -------------------------------------------------------------------------------------------


def junit(cup: Cup, paged: Paged = NO_PAGES) -> bytes:
    """Write a test case for each bot in each game: it fails if the bot had a fault in a match, or forfeited
    one, or is disqualified. It is skipped if the bot was suspended before it played the game."""
    played: dict[str, dict[str, _Conduct]] = {}  # by game and bot
    for line in cup.lines():
        bots = played.setdefault(line.game, {})
        for name in line.players:
            bots.setdefault(name, _Conduct()).add(line, name)
    suites = [
        Suite(
            game,
            game,
            [_case(name, bots.get(name, _Conduct()), cup) for name in cup.settings.names],
        )
        for game, bots in played.items()
    ]
    return junit_xml(cup.settings.title or "tournament", suites)


@dataclass(slots=True)
class _Conduct:
    """A bot in all matches of a game. `first` says of each kind of fault where it first occurred, and
    `evidence` what helps to find the cause."""

    matches: int = 0
    seconds: float = 0.0
    faults: Counter[str] = field(default_factory=Counter[str])
    first: dict[str, str] = field(default_factory=dict[str, str])
    evidence: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    forfeits: Counter[str] = field(default_factory=Counter[str])

    def add(self, line: MatchLine, name: str) -> None:
        self.matches += 1
        for seat in line.bots:
            if seat.bot == name:
                self.seconds += seat.used_ms / 1000
                for fault in seat.faults:
                    self.faults[fault.kind] += 1
                    if fault.kind not in self.first:
                        where = f"block {line.block}, rotation {line.rotation}"
                        self.first[fault.kind] = f"{where}: {fault.detail}"
                        self.evidence[fault.kind] = list(evidence_of(fault))
        self.forfeits.update(forfeit.reason for forfeit in line.forfeits if forfeit.bot == name)


def _case(name: str, conduct: _Conduct, cup: Cup) -> Case:
    if name in cup.field.disqualified:
        why = decision_in_words(cup.field.disqualified[name])
        return Case(name, conduct.seconds, Mark("failure", why, "disqualified"))
    if not conduct.matches and name in cup.suspensions:
        return Case(name, mark=Mark("skipped", f"suspended after block {cup.suspensions[name].block}"))
    faults = sorted(conduct.faults)
    parts = [
        f"{kind} {counted(conduct.faults[kind], 'time')}, first in {conduct.first[kind]}" for kind in faults
    ]
    if conduct.forfeits:
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(conduct.forfeits.items()))
        matches = counted(conduct.matches, "match", "matches")
        parts.append(f"{conduct.forfeits.total()} of {matches} forfeited: {reasons}")
    if not parts:
        return Case(name, conduct.seconds)
    lines = [line for kind in faults for line in conduct.evidence[kind]]
    mark = Mark("failure", "; ".join(parts), ", ".join(faults) or "suspended", lines)
    return Case(name, conduct.seconds, mark)


# -- blind draws -------------------------------------------------------------------------------------


def blind_draws_json(cup: Cup, paged: Paged = NO_PAGES) -> bytes:
    """Write how many locomotives each bot drew blind, and how many chance gives."""
    content = blind_file(cup.results.blind, cup.settings.names)
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


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
    BLIND_DRAWS: blind_draws_json,
    REPORT: report_page,
}
