"""Matches as `freeze` and `cores_per_bot` want them: with bots that rest, and cores that nobody else uses.

Law: no more matches run at a time than have cores of their own. Where not even one has, nothing begins.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from stellwerk_base.texts import counted
from stellwerk_processes.bench.cores import CorePool, CoresError, Machine, keeping_to, machine
from stellwerk_processes.bot_spec import STARTED

if TYPE_CHECKING:
    from stellwerk_processes.started_match import BotMatch
    from stellwerk_tournament.config.settings import Settings


class FairMatches:
    """How the matches of a tournament are made fair. `at_once`: how many run at a time. `notice`: what an
    organizer should know of that, if anything."""

    def __init__(self, settings: Settings, found: Machine | None = None) -> None:
        """Look at the machine, unless it was `found` already. CoresError if it has too few cores."""
        self._freeze = settings.freeze
        self._cores_per_bot = settings.cores_per_bot
        self._machine: Machine | None = None
        self._pool = CorePool(())
        self.at_once = settings.matches_at_once()
        self.notice = ""
        if self._cores_per_bot is not None:
            self._machine = found or machine()
            self._pool = CorePool(self._machine.cores)
            self._fit(self._machine, max(variant.choice.seat_count for variant in settings.variants))

    def _fit(self, found: Machine, seats: int) -> None:
        assert self._cores_per_bot is not None
        needed = seats * self._cores_per_bot
        most = found.matches_at_once(seats, self._cores_per_bot)
        match = f"a match of {seats} bots takes {counted(needed, 'core')}"
        there = f"bots can get {counted(len(found.cores), 'core')} of this machine"
        if most == 0:
            raise CoresError(
                f"{match}, and {there}: one stays for the runner, and all bots get the same kind of core"
            )
        if most < self.at_once:
            fitting = counted(most, "match", "matches")
            self.notice = f"{fitting} at a time instead of {self.at_once}: {match}, and {there}"
            self.at_once = most

    def at_work(self) -> AbstractContextManager[None]:
        """Keep this process away from the cores of bots for as long as the block runs."""
        return nullcontext() if self._machine is None else keeping_to(self._machine.own)

    @contextlib.contextmanager
    def prepared(self, bot_match: BotMatch) -> Generator[BotMatch]:
        """Give a match what it needs for as long as the block runs."""
        bot_match = replace(bot_match, freeze=self._freeze)
        if self._cores_per_bot is None:
            yield bot_match
            return
        here = [seat for seat, bot in enumerate(bot_match.bots) if bot.process in STARTED]
        with self._pool.taken(len(here), self._cores_per_bot) as taken:
            of_seat = dict(zip(here, taken, strict=True))
            seats = range(len(bot_match.bots))
            yield replace(bot_match, processors=tuple(of_seat.get(seat, frozenset[int]()) for seat in seats))
