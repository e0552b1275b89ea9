"""A tournament by its folder: matches of complete blocks, results, and how far it has come.

Laws:
- only what `Follower` returns gets in here, and that is complete blocks: nothing of a block that still runs;
- while an anonymous tournament is played, nothing here says who plays whom: seats have numbers for names, no
  match names its block, and bots have no opponents;
- nothing is written, and no lock is taken.

Plain code: whoever calls `look` waits for the disk, so a thread does.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import Final, TypeVar, cast

from msgspec import UNSET, Struct
from msgspec.structs import replace as replace_struct

from stellwerk_base.texts import counted
from stellwerk_protocol.messages import Clocks, Player
from stellwerk_server.operate.settings import clocks_of
from stellwerk_tournament.config.conduct import STANDARD, ConductTable
from stellwerk_tournament.config.resolved import FILE as RESOLVED
from stellwerk_tournament.config.settings import FILE as SETTINGS
from stellwerk_tournament.config.settings import Settings, SettingsError
from stellwerk_tournament.play.scheduled import matches_in_all, total_matches
from stellwerk_tournament.report.faults import KINDS
from stellwerk_tournament.report.forfeits import REASONS
from stellwerk_tournament.schedule.schedule import Block, blocks_of_round, plan_of
from stellwerk_tournament.store.conduct import Suspension, Suspensions
from stellwerk_tournament.store.cup import Cup
from stellwerk_tournament.store.field import FILE as FIELD
from stellwerk_tournament.store.field import Field
from stellwerk_tournament.store.field_file import read_field
from stellwerk_tournament.store.follow import Follower, NewLines
from stellwerk_tournament.store.match_line import MatchLine, blocks_of
from stellwerk_tournament.store.store import STATE, KnownBlock, Store, StoreError, look_into
from stellwerk_web.show.forms import Head, Ranking
from stellwerk_web.show.results import LISTED, BotPage, Counted, PairPage, Rated, Results, SideConduct
from stellwerk_web.sources.recorded import NO_CLOCKS

MOST_ANNOUNCEMENTS: Final = 5  # the last ones
MOST_BLOCKS: Final = 100  # running ones that are listed
HIDDEN: Final = "This tournament is anonymous: who played whom is shown when all has been played."

WORDS: Final[Mapping[str, str]] = {
    **{str(kind): words for kind, words in KINDS.items()},
    **{str(reason): words for reason, words in REASONS.items()},
}
_REPLAY: Final = re.compile(r"replays/[A-Za-z0-9_.-]+\.jsonl")  # no other file is ever opened

T = TypeVar("T", bound=Hashable)


class RunningBlock(Struct, frozen=True):
    """A block that runs, and of which nothing else may be known yet."""

    block: int
    round: int
    game: str
    players: tuple[str, ...]


class TournamentState(Struct, frozen=True, omit_defaults=True):
    """How far a tournament has come. `is_running`: whether its runner answers, if anybody asked it; then what
    only the runner knows is there, too. `total` is None if it is unknown."""

    title: str
    played: int = 0
    total: int | None = None
    is_over: bool = False
    anonymous: bool = False
    is_running: bool | None = None
    matches_per_minute: float | None = None
    seconds_left: float | None = None
    blocks_running: int = 0
    blocks: tuple[RunningBlock, ...] = ()
    void_blocks: int = 0
    called_off_blocks: int = 0
    suspended: tuple[Suspension, ...] = ()
    disqualified: tuple[str, ...] = ()
    paused: bool = False
    announcements: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts in the files that do not change while a tournament is played. `settings` are None if they cannot
    be read in full, such as without the board: then `total` is not known either."""

    title: str = ""
    names: tuple[str, ...] = ()
    is_anonymous: bool = False
    settings: Settings | None = None
    total: int | None = None
    conduct: ConductTable | None = None
    clocks: Clocks = NO_CLOCKS


@dataclass(frozen=True, slots=True)
class Stand:
    """The state of the folder's blocks. `noted_over` is None if the folder does not say whether all has been
    played. `standings` are there only if blocks were called off."""

    noted_over: bool | None = None
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    running: tuple[Block, ...] = ()
    standings: tuple[KnownBlock, ...] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """The findings of a look into the folder. `is_anew`: all that was found before is void. `is_hidden`: it
    must not be shown who played whom. `is_there`: whether there is a folder. `problem` is what could not be
    read, in one line."""

    facts: Facts
    stand: Stand
    is_over: bool
    is_hidden: bool
    lines: tuple[MatchLine, ...] = ()
    is_anew: bool = False
    has_more: bool = False
    is_there: bool = True
    ages: Mapping[str, float] = field(default_factory=dict[str, float])
    decisions: Field = field(default_factory=Field)
    problem: str = ""

    def age_of(self, match: str) -> float:
        """Return how many seconds ago the replay of one of the last matches was written."""
        return self.ages.get(match, 0.0)


# -- reading, which waits for the disk ---------------------------------------------------------------


class FolderReader:
    """Looks into a tournament's folder, and reads only what is new."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._follower = Follower(folder)
        self._facts = Facts()
        self._facts_of: object = None
        self._facts_problem = ""
        self._stand = Stand()
        self._stand_of: object = None
        self._shape: object = None
        self._decisions = Field()
        self._decisions_of: object = None

    def look(self) -> Look:
        self._read_facts()
        self._read_stand()
        problem = self._read_decisions() or self._facts_problem
        facts, stand = self._facts, self._stand
        is_over = _is_over(facts, stand)
        is_hidden = facts.is_anonymous and not is_over
        shape = (facts.names, facts.conduct, is_hidden)
        is_anew = self._shape not in (None, shape)
        if is_anew:
            self._follower = Follower(self._folder)  # the same lines are to be shown otherwise
        self._shape = shape
        news = NewLines()
        try:
            news = self._follower.read()
        except StoreError as error:
            problem = str(error)
        return Look(
            facts,
            stand,
            is_over,
            is_hidden,
            news.lines,
            news.is_anew or is_anew,
            news.has_more,
            self._folder.is_dir(),
            dict(self._list_ages(news.lines[-LISTED:])),
            self._decisions,
            problem.replace(f"{self._folder}/", ""),  # visitors need not know where that is
        )

    def _list_ages(self, lines: Iterable[MatchLine]) -> Iterator[tuple[str, float]]:
        now = time()
        for line in lines:
            replay = replay_in(self._folder, line.replay)
            if replay is not None:
                with contextlib.suppress(OSError):
                    yield line.match, max(0.0, now - replay.stat().st_mtime)

    def _read_facts(self) -> None:
        stamps = _read_stamps(self._folder, (SETTINGS, RESOLVED))
        if stamps == self._facts_of and not self._facts_problem:
            return
        self._facts_problem = ""
        try:
            self._facts = self._facts_now()
        except (SettingsError, StoreError, OSError) as error:
            self._facts_problem = str(error)
        self._facts_of = stamps

    def _facts_now(self) -> Facts:
        cup = Cup(self._folder)
        before = cup.begun
        title = ""
        try:
            title = cup.source.file.title
            settings = cup.settings
        except (SettingsError, StoreError, OSError) as error:
            if before is None:
                raise
            self._facts_problem = str(error)
            settings = None
        if before is not None:
            names, is_anonymous = tuple(bot.name for bot in before.bots), before.anonymous
            conduct, time = before.conduct, before.clocks
        else:
            assert settings is not None
            names, is_anonymous = settings.names, settings.anonymous
            conduct, time = settings.conduct or STANDARD, settings.time
        total = None if settings is None else total_matches(settings, plan_of(settings))
        return Facts(title, names, is_anonymous, settings, total, conduct, clocks_of(time))

    def _read_decisions(self) -> str:
        """Read the organizer's decisions, if there are new ones. Return what is wrong with them."""
        stamps = _read_stamps(self._folder, (FIELD,))
        if stamps == self._decisions_of:
            return ""
        try:
            self._decisions = read_field(self._folder)
        except StoreError as error:
            return str(error)
        self._decisions_of = stamps
        return ""

    def _read_stand(self) -> None:
        stamps = _read_stamps(self._folder, (STATE, f"{STATE}-wal"))
        if stamps == self._stand_of:
            return
        try:
            with look_into(self._folder) as store:
                self._stand = Stand() if store is None else _stand_in(store)
        except StoreError:
            return  # the next look may succeed
        self._stand_of = stamps


def _stand_in(store: Store) -> Stand:
    counts = store.counts()
    return Stand(
        store.is_over(),
        {str(status): count for status, count in counts.items()},
        tuple(store.running()),
        tuple(store.standings()) if counts.get("called_off") else (),
    )


def _is_over(facts: Facts, stand: Stand) -> bool:
    """Return whether all has been played. Where the folder does not say it, each block of the schedule must
    be over."""
    if stand.noted_over is not None:
        return stand.noted_over
    settings, counts = facts.settings, stand.counts
    if settings is None or facts.total is None or settings.rounds is None:
        return False
    if counts.get("queued") or counts.get("running"):
        return False
    return sum(counts.values()) >= settings.rounds * blocks_of_round(plan_of(settings))


def _read_stamps(folder: Path, names: Iterable[str]) -> object:
    """Return what changes whenever one of these files does."""
    stamps: list[tuple[int, int, int] | None] = []
    for name in names:
        try:
            stat = (folder / name).stat()
            stamps.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
        except OSError:
            stamps.append(None)
    return stamps


# -- what has been found -----------------------------------------------------------------------------


class Book:
    """All that may be shown of a tournament, out of what looks have found."""

    def __init__(self, folder: Path, *, has_pages: bool = False) -> None:
        """`has_pages`: whether visitors get the whole match pages of replays."""
        self._folder = folder
        self._has_pages = has_pages
        self._look = Look(Facts(), Stand(), is_over=False, is_hidden=True)
        self._begin_anew()

    def take(self, look: Look) -> list[Head]:
        """Take in what a look has found. Return the matches that are new, in the order of the file. If it is
        anew, all others are void."""
        is_first = not self._line_count and look.facts != self._look.facts
        self._look = look
        if look.is_anew or is_first:
            self._begin_anew()
        self._suspensions.field = look.decisions
        return [self._add_line(line) for lines in blocks_of(look.lines) for line in self._add_block(lines)]

    @property
    def clocks(self) -> Clocks:
        return self._look.facts.clocks

    def has(self, match: str) -> bool:
        return match in self._matches

    def head_of(self, match: str) -> Head | None:
        found = self._matches.get(match)
        return None if found is None else found[0]

    def replay_of(self, match: str) -> Path | None:
        """Return where the replay of a match of a complete block is."""
        found = self._matches.get(match)
        return None if found is None else replay_in(self._folder, found[1])

    def rated_matches(self) -> list[Counted]:
        """Return what counts for ratings, in a list of its own."""
        unrated = self._look.decisions.unrated
        return [each for each in self.results.counted() if each.order[0] not in unrated]

    def ranking(self, rated: Rated) -> Ranking:
        over = counted(self._block_count, "complete block")
        return self.results.ranking(rated, self._suspensions.out, over)

    def state(self) -> TournamentState:
        """Return how far the tournament has come, as its folder says."""
        look = self._look
        facts, stand = look.facts, look.stand
        return TournamentState(
            title=facts.title,
            played=self._line_count,
            total=self._count_total(),
            is_over=look.is_over,
            anonymous=facts.is_anonymous,
            blocks_running=stand.counts.get("running", 0),
            blocks=() if facts.is_anonymous else tuple(self._list_running()),
            void_blocks=stand.counts.get("void", 0),
            called_off_blocks=stand.counts.get("called_off", 0),
            suspended=tuple(self._suspensions.of.values()),
            disqualified=tuple(look.decisions.disqualified),
            paused=look.decisions.pause is not None,
            announcements=tuple(look.decisions.announcements[-MOST_ANNOUNCEMENTS:]),
            problem=look.problem,
        )

    def bot_page(self, name: str, ranking: Ranking, rated: Rated) -> BotPage | None:
        page = self.results.bot_page(name, ranking, rated)
        if page is None or not self._look.is_hidden:
            return page
        return replace_struct(page, against=(), matches=(), hidden=HIDDEN)

    def pair_page(self, name: str, other: str, ranking: Ranking, rated: Rated) -> PairPage | None:
        """Return None also where it must not be shown who played whom."""
        return None if self._look.is_hidden else self.results.pair_page(name, other, ranking, rated)

    # -- helpers -------------------------------------------------------------------------------------

    def _begin_anew(self) -> None:
        facts = self._look.facts
        self.results = Results(facts.names, WORDS)
        self._suspensions = Suspensions(facts.conduct)
        self._matches: dict[str, tuple[Head, str]] = {}  # with where the replay is
        self._shared: dict[Hashable, Hashable] = {}
        self._block_count = 0
        self._line_count = 0

    def _add_block(self, lines: Sequence[MatchLine]) -> Sequence[MatchLine]:
        """Take in a whole block."""
        self._block_count += 1
        self._line_count += len(lines)
        self._suspensions.add(lines)
        return lines

    def _add_line(self, line: MatchLine) -> Head:
        match = self._count_line(line)
        self.results.add(match, tuple(_list_conducts(line)))
        self._matches[line.match] = match.head, line.replay
        return match.head

    def _count_line(self, line: MatchLine) -> Counted:
        is_hidden = self._look.is_hidden
        team_of = {seat: team for team, seats in enumerate(line.seats) for seat in seats}
        seats = sorted(team_of)
        players = tuple(
            Player(seat, team_of[seat], f"seat-{seat}" if is_hidden else line.players[team_of[seat]])
            for seat in seats
        )
        head = Head(
            match=line.match,
            state="ended",
            game=line.game,
            options=line.options,
            players=self._share_equal(players),
            turn=line.turns,
            points=tuple(line.points[team_of[seat]] for seat in seats),
            ranks=self._share_equal(tuple(line.ranks[team_of[seat]] for seat in seats)),
            block=UNSET if is_hidden else str(line.block),
            round=UNSET if is_hidden else line.round,
            page=self._has_pages,
        )
        order = (line.block, line.rotation)
        return Counted(head, line.players, line.ranks, line.points, order, str(line.block))

    def _share_equal(self, value: T) -> T:
        """Return the same object for equal values: most matches have equal ones."""
        return cast(T, self._shared.setdefault(value, value))  # a value of its own type

    def _list_running(self) -> Iterator[RunningBlock]:
        settings = self._look.facts.settings
        if settings is not None:
            for block in self._look.stand.running[:MOST_BLOCKS]:
                game = settings.variants[block.variant].choice.game_id
                yield RunningBlock(block.number, block.round, game, block.entrants)

    def _count_total(self) -> int | None:
        """Return how many matches there will have been, if the file says so. A command line may have said
        more."""
        facts, standings = self._look.facts, self._look.stand.standings
        total = facts.total
        if standings and facts.settings is not None:
            total = matches_in_all(facts.settings, standings, self._suspensions.out)
        return None if total is not None and total < self._line_count else total


def replay_in(folder: Path, name: str) -> Path | None:
    """Return the path of a replay that a line names, whatever it names."""
    return folder / name if _REPLAY.fullmatch(name) else None


def _list_conducts(line: MatchLine) -> Iterator[SideConduct]:
    """Yield what is known of each team of a match."""
    forfeits = {forfeit.team: forfeit.reason for forfeit in line.forfeits}
    for team, own_seats in enumerate(line.seats):
        seats = [line.bots[seat] for seat in own_seats]
        yield SideConduct(
            asks=sum(seat.asks for seat in seats),
            used_ms=sum(seat.used_ms for seat in seats),
            slowest_ms=max(seat.slowest_ms for seat in seats),
            faults=tuple(dict.fromkeys(fault.kind for seat in seats for fault in seat.faults)),
            forfeit=forfeits.get(team),
        )
