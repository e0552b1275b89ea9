"""All games of one command, one after the other.

Law: whatever ends this early, a signal to stop included, no bot is left running, and every replay that was
written gets its seed: who knows a deal that is to be played again knows its cards, so till then it has none.
"""

from __future__ import annotations

import secrets
import signal
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

import msgspec
import trio

from stellwerk import play_progress
from stellwerk.errors import CommandError, infrastructure_error, not_writable, usage_error
from stellwerk.play_plan import Plan, PlannedGame, planned_games
from stellwerk.play_report import MatchReport, match_report
from stellwerk.simulation import replay_name
from stellwerk_server.bot_process import BotStartError, Confinement
from stellwerk_server.journal import reveal, write_whole
from stellwerk_server.match_session import MatchSession
from stellwerk_server.settings import Time
from stellwerk_server.started_match import Fixture, NoResultError, PlayedMatch, Show, Terms, play_match


@dataclass(frozen=True, slots=True)
class Session:
    """What is to be played, how, and into which folder the replays go."""

    plan: Plan
    time: Time
    confinement: Confinement
    replays: Path | None


def play_games(session: Session) -> list[MatchReport]:
    """KeyboardInterrupt for a signal to stop, when all bots have ended. CommandError if a bot cannot be
    started, or if the machine fails."""
    try:
        matches = trio.run(_until_told_to_stop, session)
    except BaseExceptionGroup as group:
        raise _foremost(group) from None
    if matches is None:
        raise KeyboardInterrupt
    return matches


async def _until_told_to_stop(session: Session) -> list[MatchReport] | None:
    """Bots are in groups of their own, so that neither Ctrl-C nor a signal to us alone reaches them."""
    matches: list[MatchReport] | None = None
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_cancel_at_signal, signals, nursery.cancel_scope)
            matches = await _play_all(session)
            nursery.cancel_scope.cancel()
    return matches


async def _cancel_at_signal(signals: AsyncIterator[int], scope: trio.CancelScope) -> None:
    async for _ in signals:
        scope.cancel()


async def _play_all(session: Session) -> list[MatchReport]:
    plan, terms = session.plan, Terms(session.time, session.confinement)
    matches: list[MatchReport] = []
    with _seeds_kept() as kept:
        for planned in planned_games(plan):
            fixture = _fixture(plan, planned)
            with _shown(planned, plan.game_count) as show:
                played = await _play(planned, fixture, terms, show)
            report = match_report(planned, played.match, played.result, played.seats)
            matches.append(_written(session, planned, fixture, report, played.replay, kept))
    return matches


def _fixture(plan: Plan, planned: PlannedGame) -> Fixture:
    bots = tuple(plan.bots[bot] for bot in planned.bots)
    return Fixture(
        match=planned.match,
        game=plan.game.make(),
        bots=bots,
        names=tuple(bot.name for bot in bots),
        bot_seeds=tuple(map(planned.bot_seed, range(len(bots)))),
        seed=planned.seed,
        salt=secrets.token_bytes(32),
        reveal="now" if planned.is_last_of_block else "later",
    )


async def _play(planned: PlannedGame, fixture: Fixture, terms: Terms, show: Show | None) -> PlayedMatch:
    try:
        return await play_match(fixture, terms, show)
    except BotStartError as error:
        raise usage_error(str(error)) from None
    except NoResultError as error:
        raise infrastructure_error(f"game {planned.number}: {error}") from None


def _foremost(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What nurseries have wrapped; of several things at once the first that was foreseen."""
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
def _seeds_kept() -> Generator[list[_KeptSeed]]:
    """Those of the running block. At the end, those of a block that will not be complete get out too."""
    kept: list[_KeptSeed] = []
    try:
        yield kept
    finally:
        _reveal_all(kept)


def _written(
    session: Session,
    planned: PlannedGame,
    fixture: Fixture,
    report: MatchReport,
    content: bytes,
    kept: list[_KeptSeed],
) -> MatchReport:
    if session.replays is None:
        return report
    path = session.replays / replay_name(fixture.game, session.plan.seed, planned.number)
    try:
        write_whole(path, content)
    except OSError as error:
        raise not_writable(str(path), error) from None
    if planned.is_last_of_block:
        _reveal_all(kept)
    else:
        kept.append(_KeptSeed(path, fixture.seed, fixture.salt))
    return msgspec.structs.replace(report, replay=str(path))


def _reveal_all(kept: list[_KeptSeed]) -> None:
    while kept:
        secret = kept.pop()
        try:
            reveal(secret.replay, secret.seed, secret.salt)
        except OSError as error:
            raise not_writable(str(secret.replay), error) from None


# -- progress ----------------------------------------------------------------------------------------


@contextmanager
def _shown(planned: PlannedGame, game_count: int) -> Generator[Show | None]:
    """What draws how far the game has come, if there is a terminal."""
    if not play_progress.is_shown():
        yield None
        return
    try:
        yield partial(_draw, planned.number, game_count)
    finally:
        play_progress.clear()


def _draw(number: int, game_count: int, match: MatchSession) -> None:
    points = [(place.name, match.state.points[place.seat]) for place in match.places]
    play_progress.draw(play_progress.progress_line(number, game_count, match.state.turn, points))
