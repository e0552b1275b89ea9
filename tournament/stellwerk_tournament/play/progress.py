"""How far a tournament has come: what the runner reports to the display.

Law: what is shown of a running block contains nothing that its bots must not know, for they may be able to
read it: results count when their block is complete, and only faults are shown at once. A match is shown by
its id, with which everybody can watch it, if nobody else plays its deal; of the other matches, only the bots
of their blocks are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from stellwerk_tournament.ratings.elo import hundredths
from stellwerk_tournament.ratings.ratings import Ratings
from stellwerk_tournament.schedule.schedule import Block
from stellwerk_tournament.store.conduct import Suspension
from stellwerk_tournament.store.field import Decision, WhyOut
from stellwerk_tournament.store.match_line import MatchLine
from stellwerk_tournament.store.standings import Standings

NOBODY: Final[Mapping[str, WhyOut]] = {}


class Row(Struct, frozen=True, omit_defaults=True):
    """The row of a bot. `faults` is in how many matches something was wrong with it. The rating is there when
    there are enough matches for it, with the limits of its interval where it has any. Figures are exact: the
    display rounds them, once. `forfeits` are matches. `out` says why the bot is out of the ranking, if it
    is."""

    bot: str
    matches: int
    score: float
    points: float
    faults: int
    elo: float | None = None
    low: float | None = None
    high: float | None = None
    forfeits: int = 0
    out: WhyOut | UnsetType = UNSET


class RunningMatch(Struct, frozen=True):
    """A running match that has a deal of its own. `players` are the bots, by seat."""

    match: str
    block: int
    round: int
    rotation: int
    game: str
    players: tuple[str, ...]


class RunningBlock(Struct, frozen=True):
    """A block of one deal that has begun: its matches are not shown before all of them are over."""

    block: int
    round: int
    game: str
    players: tuple[str, ...]


class Progress(Struct, frozen=True, omit_defaults=True):
    """`total` is how many matches there will be, if that is known, and if no other bot gets out.
    `seconds_left` is a guess from the rate of this run. `missing` are the remote bots that are not connected.
    `matches` and `blocks` are what runs."""

    played: int
    running: int
    rows: tuple[Row, ...]
    total: int | None = None
    void_blocks: int = 0
    matches_per_minute: float | None = None
    seconds_left: float | None = None
    missing: tuple[str, ...] = ()
    matches: tuple[RunningMatch, ...] = ()
    blocks: tuple[RunningBlock, ...] = ()
    called_off_blocks: int = 0
    suspended: tuple[Suspension, ...] = ()
    disqualified: tuple[str, ...] = ()
    paused: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a match. It was played, and its result waits for its block; or it failed, through nobody's
    fault here. `match` is its id, if that was shown while it ran."""

    block: Block
    rotation: int
    cause: str | None = None
    match: str | None = None


@dataclass(frozen=True, slots=True)
class BlockEnded:
    """The end of a block: with its lines, or void with the cause."""

    block: Block
    status: Literal["complete", "void"]
    lines: tuple[MatchLine, ...] = ()
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Suspended:
    """A bot that plays no more, and how many blocks that were to be played next are called off for it."""

    suspension: Suspension
    called_off: int


class Observer:
    """An observer of a tournament, which looks at nothing. The runner calls it, and goes on when it returns.
    `shows_ratings`: somebody looks at those in the progress."""

    shows_ratings: bool = True

    def listening(self, host: str, port: int) -> None:
        """Show where remote bots connect to."""

    def status_page(self, url: str) -> None:
        """Show where the status page is."""

    def remote_bots_changed(self, progress: Progress) -> None:
        """Show which remote bots are there."""

    def match_began(self, match: RunningMatch, progress: Progress) -> None:
        """Show a match that can be watched from now on."""

    def match_ended(self, ended: Ended, progress: Progress) -> None:
        """Show a match that was played, or that failed."""

    def block_ended(self, ended: BlockEnded, progress: Progress) -> None:
        """Show a block that is complete or void."""

    def suspended(self, suspended: Suspended, progress: Progress) -> None:
        """Show that a bot plays no more."""

    def decided(self, decision: Decision, progress: Progress) -> None:
        """Show a decision of the organizer."""

    def told_to_stop(self) -> None:
        """Show that the tournament stops. Running blocks are still finished."""


def rows_of(
    standings: Standings, ratings: Ratings | None, out: Mapping[str, WhyOut] = NOBODY
) -> tuple[Row, ...]:
    """Return the rows, the best first: by the rating if all have one, else by the score. Bots that are out
    stand below all others."""
    rated = {} if ratings is None else ratings.by_name
    order = standings.order()
    if rated and all(name in rated for name in order):
        order.sort(key=lambda name: -rated[name].elo)
    order.sort(key=lambda name: name in out)
    rows: list[Row] = []
    for name in order:
        sums = standings.of[name]
        rating = rated.get(name)
        rows.append(
            Row(
                bot=name,
                matches=sums.matches,
                score=sums.mean_score,
                points=sums.points / sums.matches if sums.matches else 0.0,
                faults=sums.faulty,
                elo=None if rating is None else rating.elo,
                low=None if rating is None else rating.low,
                high=None if rating is None else rating.high,
                forfeits=sums.forfeits.total(),
                out=out.get(name, UNSET),
            )
        )
    return tuple(rows)


def rounded(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Round to a hundredth of an Elo for programs, as in `ratings.json`."""
    return tuple(
        msgspec.structs.replace(
            row,
            score=round(row.score, 4),
            points=round(row.points, 2),
            elo=None if row.elo is None else hundredths(row.elo),
            low=None if row.low is None else hundredths(row.low),
            high=None if row.high is None else hundredths(row.high),
        )
        for row in rows
    )
