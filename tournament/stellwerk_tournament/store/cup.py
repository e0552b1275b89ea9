"""A tournament: all that its folder says of it.

Laws:
- each part is read once, when it is first asked for, and nothing is written but by `begin`;
- a tournament continues as it began: all that decides a match is compared with `resolved.json`, and what the
  file leaves to this machine is taken from there;
- what follows from results is computed when it is first asked for: whoever plays asks when that is over.
"""

from __future__ import annotations

import secrets
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from msgspec import UNSET, UnsetType

from stellwerk_processes.bench.levels import SandboxRecord, Wanted
from stellwerk_tournament.config import resolved
from stellwerk_tournament.config.resolved import (
    Resolved,
    changes,
    expect_same,
    read_resolved,
    resolve,
    wrong_resolved,
)
from stellwerk_tournament.config.sandbox import STANDARD
from stellwerk_tournament.config.settings import Settings, SettingsError, Source, parse, settings_of
from stellwerk_tournament.config.versions import Versions
from stellwerk_tournament.ratings.outcomes import Outcome
from stellwerk_tournament.ratings.ratings import RatingError, RatingReport, Ratings, rate, rate_all
from stellwerk_tournament.schedule.deal import seed_check
from stellwerk_tournament.schedule.schedule import SchedulePlan, plan_of
from stellwerk_tournament.store.conduct import Suspension, Suspensions
from stellwerk_tournament.store.field import Field, WhyOut
from stellwerk_tournament.store.field_file import read_field
from stellwerk_tournament.store.match_line import MatchLine
from stellwerk_tournament.store.results import Results
from stellwerk_tournament.store.standings import Standings
from stellwerk_tournament.store.store import (
    KnownBlock,
    Opened,
    Store,
    lines_in,
    look_into,
    open_store,
    read_results,
)

ID: Final = "id"  # a fact of the store: what tells the tournament from others
_SEED: Final = "seed"  # a fact of the store
_DRAWN: Final = "drawn"  # its value without --seed


@dataclass(frozen=True, slots=True)
class Asked:
    """Settings of a command line, in place of those in the file. Bots in `without` are left out."""

    without: tuple[str, ...] = ()
    rounds: int | None = None
    until_width: float | None = None
    concurrency: int | None = None
    seed: str | None = None


class Cup:
    """A tournament. `asked` is None if it is only looked at: then nothing is needed but the folder.
    `sandbox` is what was tried of the sandbox before the tournament continued, if anything was. `id` tells it
    from others, and `has_begun` says whether anything was stored, once it has been opened."""

    def __init__(self, folder: Path, version: str = "", asked: Asked | None = None) -> None:
        self.folder = folder
        self.version = version
        self.versions = Versions(version)
        self.asked = asked
        self.sandbox: SandboxRecord | UnsetType = UNSET
        self.id = ""
        self.has_begun = False

    @property
    def seed(self) -> str | None:
        """Return the seed from which all deals follow, if the command line says one."""
        return None if self.asked is None else self.asked.seed

    # -- settings ------------------------------------------------------------------------------------

    @cached_property
    def source(self) -> Source:
        """Return `tournament.toml`. SettingsError, or OSError if it cannot be read."""
        return parse(self.folder)

    @cached_property
    def begun(self) -> Resolved | None:
        """Return what the tournament was begun with. None if it has not begun. SettingsError."""
        return read_resolved(self.folder)

    @cached_property
    def settings(self) -> Settings:
        """Return the settings that count. SettingsError, or StoreError."""
        begun, asked = self.begun, self.asked or Asked()
        settings = settings_of(
            self.source,
            self.folder,
            to_play=self.asked is not None,
            without=asked.without if begun is None else begun.without,
            level=self._level(),
        )
        if begun is not None:
            settings = replace(settings, conduct=begun.conduct)
            if settings.confinement.level == "auto":
                settings = settings.at_level(begun.sandbox.level)
        if asked.rounds is not None or asked.until_width is not None:
            settings = replace(settings, rounds=asked.rounds, until_width=asked.until_width)
        if asked.concurrency is not None:
            settings = replace(settings, concurrency=asked.concurrency)
        return settings

    @cached_property
    def now(self) -> Resolved:
        """Resolve the settings as the file has them today. SettingsError if a bot's file cannot be read."""
        settings = replace(self.settings, conduct=self.source.file.conduct)
        return resolve(settings, self.folder, self.versions)

    @cached_property
    def plan(self) -> SchedulePlan:
        return plan_of(self.settings)

    def wrong_beginning(self) -> str | None:
        """Say what `resolved.json` has that the tournament did not begin with, as far as its file tells."""
        return None if self.begun is None else wrong_resolved(self.begun, self.now)

    def _level(self) -> Wanted:
        """Return the level of the sandbox where the file says none: the one that the tournament was begun
        with, which is that of all its lines."""
        if self.begun is not None:
            return self.begun.sandbox.level
        if not len(self.results):
            return STANDARD
        return "limits" if self.results.sandbox is UNSET else self.results.sandbox.level

    # -- what was played -----------------------------------------------------------------------------

    @cached_property
    def results(self) -> Results:
        """Return what its lines come to. StoreError."""
        return read_results(self.folder)

    def lines(self, blocks: Iterable[int] | None = None) -> Iterator[MatchLine]:
        """Read lines again, one by one: those of these blocks, or all of `results`. StoreError."""
        with lines_in(self.folder) as file:
            yield from self.results.lines(file, self.results.blocks if blocks is None else blocks)

    @cached_property
    def blocks(self) -> list[KnownBlock]:
        """Return the blocks that are known so far. StoreError."""
        with look_into(self.folder) as store:
            return [] if store is None else store.standings()

    @cached_property
    def standings(self) -> Standings:
        """Return the sums of all bots, first of those in the settings."""
        self.results.standings.list_first(self.settings.names)
        return self.results.standings

    @cached_property
    def field(self) -> Field:
        """Return the organizer's decisions. StoreError."""
        return read_field(self.folder)

    @cached_property
    def _conduct(self) -> Suspensions:
        return Suspensions(self.settings.conduct, self.results, self.field)

    @property
    def suspensions(self) -> Mapping[str, Suspension]:
        """Return who is suspended, by the lines in their order."""
        return self._conduct.of

    @cached_property
    def out(self) -> Mapping[str, WhyOut]:
        """Return who is out of the ranking."""
        return self._conduct.out

    @cached_property
    def rated(self) -> RatingReport | RatingError:
        """Rate the matches, which can take long, or say why they cannot be rated."""
        try:
            return rate_all(self._outcomes)
        except RatingError as error:
            return error

    @property
    def _outcomes(self) -> list[Outcome]:
        """Return the outcomes for ratings. With a remote bot at the table each match has its own deal."""
        remote = {entrant.name for entrant in self.settings.entrants if entrant.is_remote}
        return [
            replace(each, has_own_deal=True) if not remote.isdisjoint(each.entrants) else each
            for each in self.results.outcomes(unrated=self.field.unrated)
        ]

    @cached_property
    def rated_without_forfeits(self) -> Ratings | RatingError | None:
        """Rate the matches without any forfeit, or say why they cannot be. None if no match has one."""
        if not self.results.has_forfeits:
            return None
        return _rated(self.results.outcomes(with_forfeits=False, unrated=self.field.unrated))

    @cached_property
    def rated_without_disqualified(self) -> Ratings | RatingError | None:
        """Rate the matches without the blocks of disqualified bots, or say why that cannot be done. None if
        there are no such bots."""
        field = self.field
        if not field.disqualified:
            return None
        return _rated(self.results.outcomes(unrated=field.unrated, without=field.disqualified))

    # -- to play -------------------------------------------------------------------------------------

    @contextmanager
    def opened(self) -> Generator[Opened]:
        """Open the folder for a runner. StoreError."""
        with open_store(self.folder) as opened:
            self.results = opened.results
            self.id = opened.store.fact(ID) or secrets.token_hex(4)
            self.has_begun = len(opened.results) > 0 or opened.store.fact(_SEED) is not None
            yield opened

    def expect_same_seed(self, store: Store) -> None:
        """Raise a SettingsError if the tournament began with another seed."""
        began = store.fact(_SEED)
        if began not in (None, self._seed_fact):
            how = (
                f"with {'--seed' if self.seed is None else 'another --seed'}: give the one that it began with"
            )
            if began == _DRAWN:
                how = "without --seed: continue without it"
            raise SettingsError(f"{self.folder}: this tournament began {how}")

    def changes(self) -> Iterator[str]:
        """Yield what has changed since the tournament began, and may. SettingsError if matches to come would
        not be like those that were played."""
        if self.begun is not None:
            expect_same(self.begun, self.now, self.folder)
            yield from changes(self.begun, self.now)

    def begin(self, store: Store) -> None:
        """Store what the tournament begins with, as far as it is not stored yet. StoreError."""
        for name, value in ((_SEED, self._seed_fact), (ID, self.id)):
            if store.fact(name) is None:
                store.note(name, value)
        if self.begun is None:
            store.write(resolved.FILE, resolved.encode(self.now))
            self.begun = self.now
        store.note_over(False)
        self.has_begun = True

    def as_looked_at(self) -> Cup:
        """Return the tournament as its folder has it, whatever a command line has said."""
        cup = Cup(self.folder, self.version)
        cup.source, cup.begun, cup.results = self.source, self.begun, self.results
        return cup

    @property
    def _seed_fact(self) -> str:
        return _DRAWN if self.seed is None else seed_check(self.seed)


def _rated(outcomes: Sequence[Outcome]) -> Ratings | RatingError:
    try:
        return rate(outcomes)
    except RatingError as error:
        return error
