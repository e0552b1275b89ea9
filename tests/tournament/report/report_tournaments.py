"""Tournaments that were never played, for tests of the report: results drawn from known strengths."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import combinations
from pathlib import Path
from random import Random

from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_processes.faults import Fault
from stellwerk_processes.seat_report import Breakdown, SeatReport
from stellwerk_tournament.config.settings import Settings, parse, settings_of
from stellwerk_tournament.ratings.ratings import RatingError, RatingReport, rate_all
from stellwerk_tournament.report.derived import report_page
from stellwerk_tournament.store.cup import Cup
from stellwerk_tournament.store.match_line import MatchLine, blocks_of, line_of, outcome_of
from stellwerk_tournament.store.match_line import Played as PlayedMatch
from stellwerk_tournament.store.results import Results

STEP = 0.4  # of utility, from one bot to the next
SPREAD = 3.0  # of utility, between the best and the last of many
CRASH = Fault("crash", 1, "ended with exit status 1 before the match did", ("Traceback", "KeyError: 'ask'"))
LATE = Fault("time", 2, "no answer in time 2 times")


@dataclass(frozen=True)
class Played:
    settings: Settings
    lines: tuple[MatchLine, ...]

    def report(self) -> bytes:
        return report_page(cup_of(Path(), self.settings, self.lines))


class MadeUpCup(Cup):
    """A tournament whose lines are in no file."""

    content = b""

    def lines(self, blocks: Iterable[int] | None = None) -> Iterator[MatchLine]:
        return self.results.lines(BytesIO(self.content), self.results.blocks if blocks is None else blocks)


def cup_of(
    folder: Path, settings: Settings, lines: Sequence[MatchLine], rated: RatingError | None = None
) -> Cup:
    """Return the tournament of these lines, wherever they are from. `rated`: why it has no ratings."""
    cup = MadeUpCup(folder)
    cup.settings, cup.results = settings, Results()
    content = BytesIO()
    for matches in blocks_of(lines):
        text = b"".join(map(line_of, matches))
        cup.results.add(matches, text)
        content.write(text)
    cup.content = content.getvalue()
    if rated is not None:
        cup.rated = rated
    return cup


def columns_of(lines: Iterable[MatchLine]) -> list[PlayedMatch]:
    """Return the part of each match that results have in columns."""
    return [
        PlayedMatch(each.block, each.round, each.game, each.players, each.ranks, each.forfeits)
        for each in lines
    ]


def rating_report(lines: Sequence[MatchLine]) -> RatingReport:
    return rate_all([*map(outcome_of, sorted(lines, key=lambda line: (line.block, line.rotation)))])


def settings_for(
    folder: Path, names: Sequence[str], games: Sequence[tuple[str, int]] = (("usa", 2),), title: str = "Cup"
) -> Settings:
    tables = [f'title = "{title}"']
    tables += [f'[[games]]\ngame = "{game}"\nplayers = {players}' for game, players in games]
    tables += [f'[[bots]]\nname = "{name}"\nbuilt_in = "random"' for name in names]
    (folder / "tournament.toml").write_text("\n".join(tables))
    return settings_of(parse(folder), folder)


def names_for(count: int) -> list[str]:
    words = ("planner", "greedy", "searcher", "locomotive", "a.rather-long_name.of.some.bot", "tunnel", "x")
    return [words[i] if i < len(words) else f"{words[i % len(words)][:24]}-{i}" for i in range(count)]


def played(
    folder: Path,
    bots: int,
    deals: int = 10,
    games: Sequence[tuple[str, int]] = (("usa", 2),),
    title: str = "Cup",
    faulty: bool = True,
) -> Played:
    """Play a tournament. Tables of two are every two bots; larger ones are drawn. `deals` is the number of
    blocks for each table of a game."""
    names = names_for(bots)
    return Played(
        settings_for(folder, names, games, title),
        tuple(_lines(Random(1), names, deals, games, faulty)),
    )


def _lines(
    random: Random, names: Sequence[str], deals: int, games: Sequence[tuple[str, int]], faulty: bool
) -> Iterator[MatchLine]:
    step = min(STEP, SPREAD / len(names))
    skills = {name: -step * place for place, name in enumerate(names)}
    block = 0
    for deal in range(deals):
        for game, seats in games:
            size = seats // RULE_SETS[game].team_size
            tables = (
                list(combinations(names, 2))
                if size == 2
                else [random.sample(names, size) for _ in range(len(names))]
            )
            for table in tables:
                for rotation in range(size):
                    teams = [table[(team + rotation) % size] for team in range(size)]
                    points = [
                        round(90 + 12 * (skills[name] + 0.2 * seat + random.gauss(0, 1.3)))
                        for seat, name in enumerate(teams)
                    ]
                    bad = faulty and random.random() < 0.02
                    faults = (CRASH if block % 2 else LATE,) if bad else ()
                    yield line(block, rotation, teams, points, game, faults, round=deal)
                block += 1


def line(
    block: int,
    rotation: int,
    teams: Sequence[str],
    points: Sequence[int],
    game: str = "usa",
    faults: tuple[Fault, ...] = (),
    replay: str | None = None,
    round: int = 0,
) -> MatchLine:
    """Make the line of a match. `faults` are those of the bot in the last seat."""
    partners = RULE_SETS[game].team_size
    size = len(teams)
    ranks = tuple(1 + sum(other > own for other in points) for own in points)
    match = f"{block:05}-{rotation}"
    return MatchLine(
        block=block,
        rotation=rotation,
        round=round,
        match=match,
        game=game,
        rules_version=1,
        options=(),
        board="0" * 64,
        players=tuple(teams),
        seats=tuple(tuple(range(team, partners * size, size)) for team in range(size)),
        ranks=ranks,
        points=tuple(points),
        turns=60 + abs(math.floor(points[0])) % 17,
        reason="trains",
        bots=tuple(
            SeatReport(
                seat=seat,
                team=seat % size,
                bot=teams[seat % size],
                rank=ranks[seat % size],
                points=points[seat % size],
                breakdown=Breakdown(points[seat % size], (), (), 0),
                faults=faults if seat == partners * size - 1 else (),
                defaults=0,
                asks=50,
                used_ms=400 + 7 * seat,
                slowest_ms=31,
                cpu_ms=210,
            )
            for seat in range(partners * size)
        ),
        isolation="none",
        deal="same_in_block",
        attempt=1,
        late_ms=3,
        seconds=1.25,
        seed="5eed" * 16,
        replay=f"replays/{match}.jsonl" if replay is None else replay,
    )
