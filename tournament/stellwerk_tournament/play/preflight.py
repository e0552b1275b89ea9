"""The trial of every bot before a tournament: whether it starts, and answers the first asks of each game.

Laws:
- a bot is tried as it will play: on a real server, with the clocks, the sandbox, the cores and the kind of
  process of the tournament, at every seat of each game, beside as many others;
- nothing of a trial is kept, neither lines nor replays nor logs, and its deals and the seeds of its bots are
  drawn for it alone: they say nothing about those of the tournament;
- what went wrong with this process or this machine is no bot's fault. It is tried again, as a match would be,
  and then reported as what it is.

A trial is a match of the bot with itself that is broken off. Remote bots are not tried: their authors run
them.
"""

from __future__ import annotations

import math
import secrets
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import trio

from stellwerk_processes.bench.hidden_files import hidden_hint
from stellwerk_processes.bench.invitation import BotStartError
from stellwerk_processes.bot_spec import STARTED, with_unique_names
from stellwerk_processes.faults import FaultKind, faults_of
from stellwerk_processes.standing_server import StandingServer, open_standing_server
from stellwerk_processes.started_match import (
    BotMatch,
    BrokenOffError,
    MatchObserver,
    NoResultError,
    play_match,
)
from stellwerk_protocol.names import Seat
from stellwerk_server.net.listen_address import CannotListenError
from stellwerk_tournament.play.fair_matches import FairMatches
from stellwerk_tournament.play.lag import LagWatch, watched_lag
from stellwerk_tournament.play.matches_here import ATTEMPTS, match_of_bots, standing_setup

if TYPE_CHECKING:
    from stellwerk_processes.seat_report import Played
    from stellwerk_server.match.match_session import MatchSession
    from stellwerk_tournament.config.settings import Entrant, Settings, Variant

FIRST_ASKS: Final = 3
"""Answers that a bot gives in each seat: the choice at the beginning, its first turn, and one more, which is
the second card of that turn or its second turn. A bot that answers these can read asks, knows its seat, and
writes moves. More would try how well it plays, and cost an organizer time."""

EXCUSE: Final = 0.2
"""A bot that is late is excused if the runner was late for more than this share of the time that an answer
may take. In matches any lateness of the runner excuses a bot; but then one that hangs would be excused
wherever a machine stumbles once in ten seconds."""

TOLD_AFTER: Final = 2.0  # seconds: nobody looks at the progress of what takes less
TOLD_AGAIN: Final = 0.5

_CANNOT_PLAY: Final[frozenset[FaultKind]] = frozenset(
    {"start_failure", "crash", "out_of_memory", "disconnect", "left"}
)


@dataclass(frozen=True, slots=True)
class Unfit:
    """A bot that could not play a game, and why. `seconds`: how long it took until that was clear. `hints`
    say what to do about it, as far as the evidence goes. `has_started`: it logged in."""

    bot: str
    game: str
    cause: str
    seconds: float
    has_started: bool = False
    last_lines: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Remark:
    """A fault of a bot that did not keep it from answering, or of the machine."""

    bot: str
    game: str
    text: str


@dataclass(slots=True)
class Preflight:
    """The outcome of the trials. `passed` are the bots that answered in all games. `untried`: the machine was
    at fault, so nothing is known of them. `was_stopped`: somebody stopped it before its end."""

    passed: list[str] = field(default_factory=list[str])
    unfit: list[Unfit] = field(default_factory=list[Unfit])
    remarks: list[Remark] = field(default_factory=list[Remark])
    untried: list[Remark] = field(default_factory=list[Remark])
    seconds: float = 0.0
    was_stopped: bool = False


@dataclass(frozen=True, slots=True)
class Trying:
    """How far it has come: how many bots are done of how many, and which are being tried."""

    done: int
    total: int
    names: tuple[str, ...]
    seconds: float


async def try_bots(
    settings: Settings, names: Collection[str], tell: Callable[[Trying], object] = lambda _: None
) -> Preflight:
    """Try these of the bots that run on this machine. `tell` hears how far that has come, if it takes long.
    SIGINT and SIGTERM stop it. CoresError if bots are to have more cores than there are."""
    entrants = [each for each in settings.entrants if each.name in names and each.bot.process in STARTED]
    with watched_lag() as lag:
        return await _Trials(settings, entrants, lag, tell).run()


def distinct_games(variants: Iterable[Variant]) -> tuple[Variant, ...]:
    """Return the variants that are not the same game with another weight."""
    found: dict[object, Variant] = {}
    for variant in variants:
        choice = variant.choice
        key = (choice.game_id, choice.seat_count, choice.options, choice.board.digest)
        found.setdefault(key, variant)
    return tuple(found.values())


def game_words(variant: Variant) -> str:
    choice = variant.choice
    return ", ".join([f"{choice.game_id} of {choice.seat_count}", *choice.options])


@dataclass(frozen=True, slots=True)
class _Trial:
    """A match of a bot with itself. `seats` are those in which it sits: the others stay empty where it may
    not have that many processes. `answered` is how many asks it has answered in each of them."""

    bot_match: BotMatch
    seats: tuple[Seat, ...]
    answered: Counter[Seat] = field(default_factory=Counter[Seat])

    def has_enough(self, match: MatchSession) -> bool:
        """Return whether the bot has shown that it can play, or that it cannot."""
        seats = [match.seats[seat] for seat in self.seats]
        for seat in seats:
            self.answered[seat.number] = seat.ask_count - seat.default_count - (seat.ask is not None)
        has_failed = any(seat.left or seat.default_count for seat in seats)
        return has_failed or min(self.answered[seat] for seat in self.seats) >= FIRST_ASKS


class _Trials:
    def __init__(
        self,
        settings: Settings,
        entrants: Sequence[Entrant],
        lag: LagWatch,
        tell: Callable[[Trying], object],
    ) -> None:
        self._settings = settings
        self._entrants = entrants
        self._variants = distinct_games(settings.variants)
        self._fair = FairMatches(settings)
        self._free = trio.CapacityLimiter(self._fair.at_once)
        self._lag = lag
        self._tell = tell
        self._standing: StandingServer | None = None
        self._began = trio.current_time()
        self._trying: list[str] = []
        self._done = 0
        self._result = Preflight()

    async def run(self) -> Preflight:
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async with AsyncExitStack() as stack:
                stack.enter_context(self._fair.at_work())
                bots_alone = replace(self._settings, entrants=tuple(self._entrants), organizers=())
                if (setup := standing_setup(bots_alone, self._fair.at_once, {})) is not None:
                    self._standing = await stack.enter_async_context(open_standing_server(setup))
                nursery = await stack.enter_async_context(trio.open_nursery())
                nursery.start_soon(self._heed, signals, nursery.cancel_scope)
                nursery.start_soon(self._keep_telling)
                if await self._is_open():
                    async with trio.open_nursery() as trials:
                        for entrant in self._entrants:
                            trials.start_soon(self._try_bot, entrant)
                if self._standing is not None:
                    await self._standing.say_goodbye(finished=True)
                nursery.cancel_scope.cancel()
        self._result.seconds = trio.current_time() - self._began
        order = [entrant.name for entrant in self._entrants]
        self._result.passed.sort(key=order.index)
        self._result.unfit.sort(key=lambda unfit: order.index(unfit.bot))
        for remarks in (self._result.remarks, self._result.untried):
            remarks.sort(key=lambda remark: order.index(remark.bot))
        return self._result

    async def _is_open(self) -> bool:
        try:
            if self._standing is not None:
                await self._standing.listen()
        except CannotListenError as error:
            reused = [each.name for each in self._entrants if each.bot.process == "reused"]
            self._result.untried += [Remark(name, "", str(error)) for name in reused]
            return False
        return True

    async def _heed(self, signals: AsyncIterator[int], scope: trio.CancelScope) -> None:
        async for _ in signals:
            self._result.was_stopped = True
            scope.cancel()

    async def _keep_telling(self) -> None:
        await trio.sleep(TOLD_AFTER)
        while True:
            seconds = trio.current_time() - self._began
            self._tell(Trying(self._done, len(self._entrants), tuple(self._trying), seconds))
            await trio.sleep(TOLD_AGAIN)

    async def _try_bot(self, entrant: Entrant) -> None:
        """Try a bot in one game after the other, because it may have no more processes than for one match. A
        bot that does not even log in is not tried in other games."""
        has_passed = True
        for variant in self._variants:
            async with self._free:
                self._trying.append(entrant.name)
                found = await self._try_again_and_again(entrant, variant)
                self._trying.remove(entrant.name)
            if isinstance(found, Remark):
                self._result.untried.append(found)
                has_passed = False
                break
            if found is None:
                continue
            self._result.unfit.append(found)
            has_passed = False
            if not found.has_started:
                break
        self._done += 1
        if has_passed:
            self._result.passed.append(entrant.name)

    async def _try_again_and_again(self, entrant: Entrant, variant: Variant) -> Unfit | Remark | None:
        """Return why a bot is unfit for a game, or what was wrong with the machine each time, or None if it
        can play."""
        problem = ""
        for _ in range(ATTEMPTS):
            late_before, began = self._lag.late_ms, trio.current_time()
            trial = self._trial(entrant, variant)
            try:
                played, seconds = await self._play(trial)
            except BotStartError as error:
                cause = str(error).removeprefix(f"{entrant.name}: ")
                return Unfit(entrant.name, game_words(variant), cause, trio.current_time() - began)
            except NoResultError as error:
                problem = str(error)
                continue
            except Exception as error:  # a bug of ours, which is no bot's fault either
                problem = f"{type(error).__name__}: {error}"
                continue
            is_late = any(played[seat].conduct.defaults["time"] for seat in trial.seats)
            late_ms = self._lag.late_ms - late_before
            time = self._settings.time
            if is_late and late_ms > EXCUSE * (time.move_ms + time.bank_ms):
                problem = f"the runner was late by {late_ms:.0f} ms when {entrant.name} was, too"
                continue
            return self._judged(entrant, variant, trial, played, seconds)
        return Remark(entrant.name, game_words(variant), problem)

    def _judged(
        self, entrant: Entrant, variant: Variant, trial: _Trial, played: Sequence[Played], seconds: float
    ) -> Unfit | None:
        """Return why a bot is unfit, by the first seat that shows it."""
        game = game_words(variant)
        texts: dict[str, None] = {}
        for seat in trial.seats:
            conduct = played[seat].conduct
            faults = faults_of(conduct)
            texts |= dict.fromkeys(fault.detail for fault in faults)
            if not conduct.defaults and not any(fault.kind in _CANNOT_PLAY for fault in faults):
                continue
            has_started = not any(fault.kind == "start_failure" for fault in faults)
            cause = "; ".join(fault.detail for fault in faults) or "did not answer"
            if has_started:
                answered = trial.answered[seat]
                cause += f", in seat {seat}, where it had answered {answered} of its first {FIRST_ASKS} asks"
            lines = conduct.report.last_lines
            hints = [fault.hint for fault in faults]
            hints.append(hidden_hint(entrant.bot, self._settings.confinement, lines))
            return Unfit(entrant.name, game, cause, seconds, has_started, lines, tuple(filter(None, hints)))
        self._result.remarks += [Remark(entrant.name, game, text) for text in texts]
        return None

    async def _play(self, trial: _Trial) -> tuple[Sequence[Played], float]:
        """Play the trial. Return what the bot did in each seat, and when that was clear."""
        began, end = trio.current_time(), math.inf

        def has_enough(match: MatchSession) -> bool:
            nonlocal end
            if trial.has_enough(match):
                end = min(end, trio.current_time())
            return end < math.inf

        observer = MatchObserver(has_enough=has_enough)
        with self._fair.prepared(trial.bot_match) as bot_match:
            try:
                if self._standing is not None and bot_match.bots[0].process == "reused":
                    result = await self._standing.play(bot_match, frozenset(), observer)
                else:
                    result = await play_match(bot_match, self._settings.confinement, observer)
                seats = result.seats  # so short was the match
            except BrokenOffError as error:
                seats = error.seats
        return seats, min(end, trio.current_time()) - began

    def _trial(self, entrant: Entrant, variant: Variant) -> _Trial:
        game, settings = variant.game, self._settings
        teams = variant.entrant_count
        if entrant.instances is not None:
            teams = min(teams, entrant.instances // variant.team_size)
        specs = with_unique_names([entrant.bot] * variant.entrant_count)
        bots = [specs[team] for team in game.team_of]
        taken = tuple(seat for seat, team in enumerate(game.team_of) if team < teams)
        bot_match = match_of_bots(settings, game, bots, secrets.token_bytes(32))
        suspended = frozenset(range(len(bots))).difference(taken)
        return _Trial(replace(bot_match, suspended=suspended), taken)
