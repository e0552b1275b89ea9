"""All games of one command, some of them at a time.

Laws:
- whatever ends this early, a signal to stop included, no bot is left running, and every replay that was
  written gets its seed: until the deal has been played for the last time it has none, because a seed reveals
  all cards;
- no game begins before all bots of the first one have logged in. If one of them cannot, nothing is played;
- games of one deal are played one after another, unless all bots are built in;
- which games run at the same time changes nothing but the time they take: reports come in the order of the
  games.
"""

from __future__ import annotations

import secrets
import signal
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, cast

import msgspec
import trio
from msgspec import UNSET, UnsetType

from stellwerk.matches.plan import PlayPlan
from stellwerk.matches.planned_games import PlannedGame, pieces
from stellwerk.matches.report import MatchReport, NotStarted, match_report, not_started
from stellwerk.shared.errors import CommandError, infrastructure_error, not_writable, usage_error
from stellwerk.shared.house_bots import house_bots
from stellwerk.shared.progress import ProgressLine
from stellwerk.shared.replay_name import replay_name
from stellwerk_base.files import write_whole
from stellwerk_processes.bench.invitation import BotStartError
from stellwerk_processes.bench.levels import Confinement
from stellwerk_processes.bot_log import MatchLogs
from stellwerk_processes.bot_spec import may_overlap
from stellwerk_processes.seat_report import Played
from stellwerk_processes.standing_server import StandingSetup, open_standing_server
from stellwerk_processes.started_match import (
    BotMatch,
    MatchObserver,
    MatchResult,
    MissingBotsError,
    NoResultError,
    play_match,
)
from stellwerk_protocol.answer_times import times_beside
from stellwerk_server.journal.journal import reveal
from stellwerk_server.match.plan import MatchPlan
from stellwerk_server.net.listen_address import CannotListenError
from stellwerk_server.operate.settings import Time, clocks_of

Play: TypeAlias = Callable[[BotMatch, MatchObserver], Awaitable[MatchResult]]
EndDeal: TypeAlias = Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """The games to play: how, `jobs` games at a time, and the folders for replays and logs. `has_enough` gets
    each game that is over, and ends all others if it returns True. `draws`: whether progress is shown."""

    plan: PlayPlan
    time: Time
    confinement: Confinement
    replays: Path | None
    logs: Path | None
    jobs: int
    has_enough: Callable[[MatchReport], bool] = lambda _: False
    draws: bool = True


@dataclass(frozen=True, slots=True)
class PlayedGames:
    """The games in their order; or the bots without which the first one did not begin."""

    matches: list[MatchReport]
    missing: list[NotStarted]


def play_games(options: PlayOptions) -> PlayedGames:
    """Play all games. KeyboardInterrupt for a signal to stop, when all bots have ended. CommandError if a bot
    cannot be started, or if the machine fails."""
    try:
        outcome = trio.run(_until_told_to_stop, options)
    except BaseExceptionGroup as group:
        raise _foremost(group) from None
    if outcome is None:
        raise KeyboardInterrupt
    return outcome


async def _until_told_to_stop(options: PlayOptions) -> PlayedGames | None:
    """Play until all games are over or a signal arrives. Bots are in process groups of their own, so neither
    Ctrl-C nor a signal to this process alone reaches them."""
    outcome: PlayedGames | None = None
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_cancel_at_signal, signals, nursery.cancel_scope)
            outcome = await _play_all(options)
            nursery.cancel_scope.cancel()
    return outcome


async def _cancel_at_signal(signals: AsyncIterator[int], scope: trio.CancelScope) -> None:
    async for _ in signals:
        scope.cancel()


async def _play_all(options: PlayOptions) -> PlayedGames:
    with _replays(options) as replays, ProgressLine(options.plan.game_count, draws=options.draws) as progress:
        async with _player(options) as (play, end_deal), trio.open_nursery() as nursery:
            games = _Games(options, play, end_deal, replays, progress, nursery.cancel_scope.cancel)
            free = trio.Semaphore(options.jobs)
            work = pieces(options.plan, may_overlap=may_overlap(options.plan.bots))
            for piece in work:
                await free.acquire()
                if piece[0].number > 0:
                    await games.first_has_begun.wait()
                if games.missing:
                    break
                nursery.start_soon(games.play_piece, piece, free)
    return PlayedGames([games.matches[number] for number in sorted(games.matches)], games.missing)


@asynccontextmanager
async def _player(options: PlayOptions) -> AsyncGenerator[tuple[Play, EndDeal]]:
    """Provide the function that plays a game: on a server of its own, or, if processes can stay, all games on
    one server. Provide also what is called when a deal has been played for the last time."""
    if not any(bot.process == "reused" for bot in options.plan.bots):

        async def play_alone(bot_match: BotMatch, observer: MatchObserver) -> MatchResult:
            return await play_match(bot_match, options.confinement, observer)

        yield play_alone, lambda _: None
        return
    games = tuple(choice.make() for choice in options.plan.choices)
    plan = StandingSetup(
        set_up_ms=options.time.set_up_ms,
        confinement=options.confinement,
        games=games,
        remote={},
        organizers=(),
        listen_at=None,
        instances={},
        logins_at_once=options.jobs * max(game.seat_count for game in games),
    )
    async with open_standing_server(plan) as standing:
        try:
            await standing.listen()
        except CannotListenError as error:
            raise infrastructure_error(str(error)) from None

        async def play_on_it(bot_match: BotMatch, observer: MatchObserver) -> MatchResult:
            return await standing.play(bot_match, frozenset(), observer)

        yield play_on_it, standing.end_deal
        await standing.say_goodbye(finished=True)


@dataclass(slots=True)
class _Games:
    """The games that run and the games that are over."""

    options: PlayOptions
    to_play: Play
    end_deal: EndDeal
    replays: _Replays
    progress: ProgressLine
    end: Callable[[], object]
    matches: dict[int, MatchReport] = field(default_factory=dict[int, MatchReport])
    missing: list[NotStarted] = field(default_factory=list[NotStarted])
    first_has_begun: trio.Event = field(default_factory=trio.Event)

    async def play_piece(self, piece: Sequence[PlannedGame], free: trio.Semaphore) -> None:
        """Play games one after another, and then let another piece begin."""
        for planned in piece:
            if not self.missing:
                await self._play(planned)
        self.end_deal(piece[0].seed)
        free.release()

    async def _play(self, planned: PlannedGame) -> None:
        bot_match = _bot_match(self.options, planned)
        with self.progress.game(planned.number) as show:
            begun = self.first_has_begun.set if planned.number == 0 else lambda: None
            try:
                played = await self.to_play(bot_match, MatchObserver(show, begun))
            except MissingBotsError as error:
                self.missing = [not_started(seat, bot) for seat, bot in error.missing.items()]
                self.first_has_begun.set()
            except BotStartError as error:
                raise usage_error(str(error)) from None
            except NoResultError as error:
                raise infrastructure_error(f"game {planned.number}: {error}") from None
            else:
                _expect_whole_logs(played.seats)
                report = match_report(planned, played)
                replay = self.replays.write(planned, played)
                report = msgspec.structs.replace(report, replay=replay)
                self.matches[planned.number] = report
                if self.options.has_enough(report):
                    self.end()


def _bot_match(options: PlayOptions, planned: PlannedGame) -> BotMatch:
    plan = options.plan
    game = plan.choice(planned.block).make()
    bots = tuple(plan.bots[bot] for bot in planned.bots)
    logs = None
    if options.logs is not None:
        stem = Path(replay_name(game, plan.seed, planned.number)).stem
        logs = MatchLogs(options.logs, stem, f"game {planned.number}")
    return BotMatch(
        plan=MatchPlan(
            match=planned.match,
            game=game,
            names=tuple(bot.name for bot in bots),
            seed=planned.seed,
            salt=secrets.token_bytes(32),
            clocks=clocks_of(options.time),
            reveal_later=planned.games_of_block > 1,
        ),
        bots=bots,
        bot_seeds=tuple(map(planned.bot_seed, range(len(bots)))),
        needs_all=planned.number == 0,
        logs=logs,
        house_bots=house_bots(),
    )


def _expect_whole_logs(seats: tuple[Played, ...]) -> None:
    for played in seats:
        if played.log is not None and played.log.error is not None:
            raise not_writable(str(played.log.path), played.log.error)


def _foremost(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the error that nurseries have wrapped. If several things failed at once, return the first
    foreseen one."""
    return next(_leaves(group.subgroup(CommandError) or group))


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            # Nothing is known of what is in a group that was found by asking for its class.
            yield from _leaves(cast("BaseExceptionGroup[BaseException]", error))
        else:
            yield error


# -- replays -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _KeptSeed:
    replay: Path
    seed: bytes
    salt: bytes


@contextmanager
def _replays(options: PlayOptions) -> Generator[_Replays]:
    """Provide the writer of the replays. At the end, write out the seeds of incomplete blocks, too."""
    replays = _Replays(options.replays, options.plan.seed)
    try:
        yield replays
    finally:
        replays.reveal_all()


@dataclass(slots=True)
class _Replays:
    """A writer of replays. It reveals the seed of a block when it has written the last of its games."""

    folder: Path | None
    seed: str
    kept: dict[int, list[_KeptSeed]] = field(default_factory=dict[int, list[_KeptSeed]])

    def write(self, planned: PlannedGame, played: MatchResult) -> str | UnsetType:
        if self.folder is None:
            return UNSET
        path = self.folder / replay_name(played.plan.game, self.seed, planned.number)
        try:
            write_whole(times_beside(path), played.times)
            write_whole(path, played.replay)
        except OSError as error:
            raise not_writable(str(path), error) from None
        if played.plan.reveal_later:
            kept = self.kept.setdefault(planned.block, [])
            kept.append(_KeptSeed(path, played.plan.seed, played.plan.salt))
            if len(kept) == planned.games_of_block:
                self._reveal(planned.block)
        return str(path)

    def reveal_all(self) -> None:
        for block in list(self.kept):
            self._reveal(block)

    def _reveal(self, block: int) -> None:
        for secret in self.kept.pop(block):
            try:
                reveal(secret.replay, secret.seed, secret.salt)
            except OSError as error:
                raise not_writable(str(secret.replay), error) from None
