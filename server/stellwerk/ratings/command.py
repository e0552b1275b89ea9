"""`stellwerk ratings`: ratings with errors from a file of matches, of these games or of others.

The tables go to standard output. numpy is loaded only when the command runs: no other one needs it.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stellwerk.shared.errors import DONE, usage_error
from stellwerk.shared.parser import argument
from stellwerk.shared.ranking import RankedRow, ranking_lines
from stellwerk.shared.terminal import say, say_record, width, wrapped
from stellwerk_base.texts import aligned, counted, interval, percent, probability, shown, signed
from stellwerk_tournament.ratings.deal_worth import TableWorth, gain_in_words, worth_range
from stellwerk_tournament.ratings.outcomes import OutcomeError, ReadOutcomes, joined, read_outcomes

if TYPE_CHECKING:
    from stellwerk_tournament.ratings.plain_scores import PlainScore
    from stellwerk_tournament.ratings.ratings import Rating, RatingReport, Ratings, RatingWarning, SeatEffect

DESCRIPTION: Final = """\
Rate the players of files of matches: one rating for each from all matches at
once, with an interval that holds the truth in 95 of 100 cases.

FILE is a tournament's folder or its matches.jsonl, or JSON Lines of any other
game, one match a line:
  {"players": ["ann", "bob", "cid"], "ranks": [2, 1, 2]}
Rank 1 is best, equal ranks are ties. A list in place of a name is a team.
Optional are "seats" (0 moves first; without it, the order of the players means
nothing), "block" (a name or number that matches with the same luck share),
"rotation" (which match of its block it is: each is there once) and "game". Or
FILE holds PGN, of which the headers White, Black and Result count.

Several files are rated at once: a cup and its final, say. The same block in two
files is two blocks. A player is known by its name. If it played as several
versions, these are rated as one player, and a warning names them.
"""

EXAMPLES: Final = """\
examples:
  stellwerk ratings cup
  stellwerk ratings cup final
  stellwerk ratings games.pgn --anchor stockfish=3500 --json
  stellwerk ratings scores.jsonl --ties half --no-seats
"""

MATCHES: Final = "matches.jsonl"  # of a tournament's folder
NO_GAME: Final = "(no game)"
FURTHEST_ANCHOR: Final = 1e6
LONGEST_WARNING: Final = 2000  # characters: it names at most 8 players


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES
    argument(parser, "FILE ...", "the matches: a file, or a tournament's folder; - is standard input")
    anchor = "give this player this rating; of several, their mean (default: the mean of all is 0)"
    argument(parser, "--anchor NAME=ELO ...", anchor, _anchor)
    ties = "how ties count: with a probability of their own, or as half a win"
    argument(parser, "--ties", ties, choices=("davidson", "half"), default="davidson")
    argument(parser, "--no-seats", "leave out the effects of the seats")
    prior = "leave out the prior; fails if there are unbeaten players, whose ratings it keeps finite"
    argument(parser, "--no-prior", prior)
    argument(parser, "--pairs", "for any two, print how likely one is better")
    argument(parser, "--json", "as one JSON object, instead of tables")


def run(arguments: argparse.Namespace) -> int:
    from stellwerk_tournament.ratings.rating_file import rating_file
    from stellwerk_tournament.ratings.ratings import RatingError, RatingSettings, rate_all

    sources = _sources(arguments.file)
    settings = RatingSettings(
        seats=not arguments.no_seats,
        ties=arguments.ties,
        prior=not arguments.no_prior,
        anchors=dict(arguments.anchor),
    )
    try:
        report = rate_all(joined([*sources.values()]), settings)
    except RatingError as error:
        raise usage_error(f"{', '.join(sources)}: {error}") from None
    warnings = (*report.pooled.warnings, *_versions(sources))
    report = replace(report, pooled=replace(report.pooled, warnings=warnings))
    if arguments.json:
        say_record(rating_file(report, with_pairs=arguments.pairs))
        return DONE
    for line in _lines(report, with_pairs=arguments.pairs):
        say(line)
    for message in (*_warnings(report), *_left_out(sources)):
        for line in wrapped(f"warning: {message}", width(), 9):
            say(line)
    return DONE


def _anchor(text: str) -> tuple[str, float]:
    name, _, elo = text.rpartition("=")
    try:
        number = float(elo)
    except ValueError:
        number = math.nan
    if not name or not abs(number) <= FURTHEST_ANCHOR:
        raise argparse.ArgumentTypeError(f"expected NAME=ELO, like planner=1500, not {shown(text)}")
    return name, number


def _sources(files: Sequence[str]) -> dict[str, ReadOutcomes]:
    """Read all files, by their names. A file that is named twice would count twice."""
    paths: dict[Path, str] = {}
    for file in files:
        other = paths.setdefault(_path(file).resolve(), file)
        if other is not file:
            raise usage_error(f"{file}: is given twice, first as {other}")
    return {file: _read(file) for file in files}


def _path(file: str) -> Path:
    """Return where the matches are. CommandError for a folder that has none."""
    path = Path(file)
    if not path.is_dir():
        return path
    if not (path / MATCHES).exists():
        raise usage_error(f"{file}: cannot be read: there is no {MATCHES} in this folder")
    return path / MATCHES


def _read(file: str) -> ReadOutcomes:
    try:
        data = sys.stdin.buffer.read() if file == "-" else _path(file).read_bytes()
        return read_outcomes(data.decode())
    except OSError as error:
        raise usage_error(f"{file}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise usage_error(f"{file}: line {line}: not UTF-8") from None
    except OutcomeError as error:
        raise usage_error(f"{file}: {error}") from None
    except ValueError as error:  # a name that no file can have
        raise usage_error(f"{file}: cannot be read: {error}") from None


# -- tables ------------------------------------------------------------------------------------------


def _lines(report: RatingReport, *, with_pairs: bool) -> Iterator[str]:
    pooled = report.pooled
    yield f"{_matches(pooled)} in {counted(pooled.block_count, 'block')}"
    yield ""
    yield from _ranking(pooled)
    for size, ratings in report.by_size.items():
        yield from ("", f"Tables of {size}: {_matches(ratings)}", "")
        yield from _ranking(ratings)
    for game, ratings in report.by_game.items():
        yield from ("", f"{shown(game) or NO_GAME}: {_matches(ratings)}", "")
        yield from _ranking(ratings)
    if with_pairs:
        yield from _pairs(pooled)
    if pooled.seat_effects:
        yield from ("", "Seats, against the mean of the seats of a table", "")
        yield from aligned([_SEAT_HEAD, *map(_seat, pooled.seat_effects)], left={0})
    if report.deals:
        yield from ("", "One deal in every seat: how many single matches each match was worth", "")
        yield from aligned([_DEAL_HEAD, *map(_deal, report.deals)], left={0, 4})
    yield ""
    yield "Not ratings: the score, the mean over the matches of the share of opponents beaten, depends"
    yield "on who they were, the running Elo on the order of the matches"
    yield ""
    yield from aligned([_PLAIN_HEAD, *map(_plain, report.plain_scores)], left={0})
    yield ""


_SEAT_HEAD: Final = ("seats", "elo", "95 %")
_DEAL_HEAD: Final = ("", "blocks", "worth", "95 %", "")
_PLAIN_HEAD: Final = ("player", "matches", "wins", "score", "mean rank", "running elo")


def _ranking(ratings: Ratings) -> Iterator[str]:
    """Write a table for each group of opponents, in which ranks count."""
    for number, group in enumerate(ratings.groups):
        if len(ratings.groups) > 1:
            yield from ("", f"group {number + 1}") if number else (f"group {number + 1}",)
        members = [rating for rating in ratings.entrants if rating.group == number]
        assert len(members) == len(group)
        rows = [_row(place, rating) for place, rating in enumerate(members, 1)]
        yield from ranking_lines("player", ("matches", "blocks", "better than next"), rows)


def _row(place: int, rating: Rating) -> RankedRow:
    better = "" if rating.superiority is None else probability(rating.superiority)
    figures = (f"{rating.matches:,}", f"{rating.blocks:,}", better)
    return RankedRow(str(place), rating.name, rating.elo, rating.low, rating.high, figures)


def _seat(effect: SeatEffect) -> tuple[str, ...]:
    label = f"seat {effect.seat} of {effect.players}"
    if effect.game:
        label += f", {shown(effect.game)}"
    return label, signed(effect.elo), interval(effect.low, effect.high)


def _deal(table: TableWorth) -> tuple[str, ...]:
    from stellwerk_tournament.ratings.game_words import tables_of

    worth = f"{table.worth:.2f}", worth_range(table), gain_in_words(table)
    return shown(tables_of(table.game, table.players)), f"{table.blocks:,}", *worth


def _plain(score: PlainScore) -> tuple[str, ...]:
    return (
        shown(score.name),
        f"{score.matches:,}",
        f"{score.wins:,.1f}",
        percent(score.score),
        f"{score.mean_rank:.2f}",
        signed(score.running_elo),
    )


def _pairs(ratings: Ratings) -> Iterator[str]:
    from stellwerk_tournament.ratings.rating_file import pairs

    yield from ("", "How likely one is to be better than the other", "")
    rows = [
        (f"{shown(pair.better)} than {shown(pair.than)}", probability(pair.probability))
        for pair in pairs(ratings)
    ]
    yield from aligned(rows, left={0})


def _warnings(report: RatingReport) -> Iterator[str]:
    from stellwerk_tournament.ratings.warnings import warning_lines

    for message in warning_lines(report, lambda game: game or NO_GAME):
        yield shown(message, LONGEST_WARNING)


def _versions(sources: Mapping[str, ReadOutcomes]) -> Iterator[RatingWarning]:
    """Warn of players that are several programs."""
    from stellwerk_tournament.ratings.ratings import RatingWarning

    of: dict[str, dict[str, list[str]]] = {}
    for file, read in sources.items():
        for name, versions in read.versions.items():
            for version in sorted(versions):
                of.setdefault(name, {}).setdefault(version or "unknown", []).append(file)
    several = {name: files for name, files in sorted(of.items()) if len(files) > 1}
    if several:
        named = ", ".join(f"{name} ({_where(files)})" for name, files in several.items())
        yield RatingWarning("versions", f"several versions are rated as one player: {named}", (*several,))


def _where(files: Mapping[str, Sequence[str]]) -> str:
    """Write `1f3c in cup; 77aa in final`."""
    return "; ".join(f"{version} in {' and '.join(where)}" for version, where in files.items())


def _left_out(sources: Mapping[str, ReadOutcomes]) -> Iterator[str]:
    for file, read in sources.items():
        where = f" ({shown(file)})" if len(sources) > 1 else ""
        if read.unfinished:
            verb = "is" if read.unfinished == 1 else "are"
            yield f"{counted(read.unfinished, 'game')} without a result {verb} left out{where}"
        if read.is_torn:
            yield f"the last line was not written to its end and is left out{where}"


def _matches(ratings: Ratings) -> str:
    return counted(ratings.match_count, "match", "matches")
