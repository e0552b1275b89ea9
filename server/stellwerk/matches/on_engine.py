"""Games of built-in bots alone, on the engine, in this process or in several: no server, sockets or clocks.

Laws:
- a game is the one that the same bots play as processes: the same moves, from the same deal;
- game number i follows from the seed, the bots and i alone. Neither the number of processes nor the other
  games change it.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from stellwerk.matches.plan import PlayPlan
from stellwerk.matches.planned_games import PlannedGame
from stellwerk.matches.report import MatchReport
from stellwerk.shared import progress
from stellwerk.shared.errors import not_writable
from stellwerk.shared.replay_name import replay_name
from stellwerk_bots.planner.policy import planner
from stellwerk_bots.players import new_player
from stellwerk_bots.policies import Policy, random_policy
from stellwerk_bots.self_play import PlayedGame, Recording, play_game
from stellwerk_engine.core.state import Move, State
from stellwerk_engine.knowledge.view import view
from stellwerk_processes.seat_report import Breakdown, SeatReport
from stellwerk_protocol.names import Seat
from stellwerk_server.match.ask_here import NO_CLOCKS, ask_here
from stellwerk_server.match.audience import start_line
from stellwerk_server.match.plan import MatchPlan

GAMES_FOR_A_JOB: Final = 25  # with fewer, a process takes longer to start than to play them
GAMES_IN_A_CHUNK: Final = 8  # some tenths of a second: little to wait for, and more than sending it costs
BAR: Final = 30

_decode: Final = msgspec.json.Decoder().decode  # to Any: a message, as clients read it


class Chunk(Struct, frozen=True):
    """The reports of some games in a row, and what it cost to play them."""

    matches: list[MatchReport]
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class HouseGames:
    """The games to play, the folder for their replays, how many games a process plays at a time, and whether
    answers are timed. Without times the reports of a seed are always the same."""

    plan: PlayPlan
    replays: Path | None
    in_a_chunk: int = GAMES_IN_A_CHUNK
    is_timed: bool = False


def play_house_games(games: HouseGames, jobs: int) -> Generator[Chunk]:
    """Play all games in so many processes, and yield them in their order. CommandError if a replay cannot be
    written, or a process dies."""
    count = games.plan.game_count
    starts = range(0, count, games.in_a_chunk)
    chunks = [range(start, min(start + games.in_a_chunk, count)) for start in starts]
    jobs = min(jobs, len(chunks))
    if jobs > 1:
        from stellwerk.shared.processes import in_processes  # its imports take a fifth of a short command

        return in_processes(partial(_play_chunk, games), chunks, jobs)
    return (_play_chunk(games, numbers) for numbers in chunks)


def jobs_for(game_count: int) -> int:
    """Return the usual number of processes: one for each core, if there are games enough."""
    return min(cores(), max(1, game_count // GAMES_FOR_A_JOB))


def cores() -> int:
    """Count the cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux has this
        return os.cpu_count() or 1


def _play_chunk(games: HouseGames, numbers: range) -> Chunk:
    started = process_time()
    matches = [_play_match(games, games.plan.planned(number)) for number in numbers]
    return Chunk(matches, process_time() - started)


def _play_match(games: HouseGames, planned: PlannedGame) -> MatchReport:
    game = games.plan.choice(planned.block).make()
    bots = [games.plan.bots[number] for number in planned.bots]
    plan = MatchPlan(
        match=planned.match,
        game=game,
        names=tuple(bot.name for bot in bots),
        seed=planned.seed,
        salt=planned.salt,
        clocks=NO_CLOCKS,
    )
    policies = [_policy(bot.built_in, plan, seat, planned.bot_seed(seat)) for seat, bot in enumerate(bots)]
    times = [AnswersTimed() for _ in bots]
    if games.is_timed:
        policies = [each.taken_by(policy) for each, policy in zip(times, policies, strict=True)]
    replay: str | UnsetType = UNSET
    if games.replays is None:
        played = play_game(game, planned.seed, policies)
    else:
        lines: list[bytes] = []
        played = play_game(game, plan.seed, policies, Recording(lines.append, plan.header(), plan.salt))
        replay = _write(games.replays / replay_name(game, games.plan.seed, planned.number), lines)
    return MatchReport(
        match=planned.match,
        number=planned.number,
        block=planned.block,
        seed=planned.seed_text,
        turns=played.result.turns,
        reason=played.result.reason,
        seats=tuple(_seat_report(seat, bot.name, played, times[seat]) for seat, bot in enumerate(bots)),
        unused_cards=played.unused_cards,
        replay=replay,
    )


def _seat_report(seat: Seat, bot: str, played: PlayedGame, times: AnswersTimed) -> SeatReport:
    team = played.result.team_of(seat)
    return SeatReport(
        seat=seat,
        team=team.team,
        bot=bot,
        rank=team.rank,
        points=team.points,
        breakdown=Breakdown(team.route_points, team.tickets, team.bonuses, team.longest_path),
        faults=(),
        defaults=0,
        asks=played.moves[seat],
        used_ms=round(times.used_ms),
        slowest_ms=round(times.slowest_ms),
        process="house",
    )


@dataclass(slots=True)
class AnswersTimed:
    """How long the answers of a bot took, in milliseconds."""

    used_ms: float = 0.0
    slowest_ms: float = 0.0

    def taken_by(self, policy: Policy) -> Policy:
        """Return the policy, whose answers are timed here."""

        def choose(state: State, seat: Seat, moves: list[Move]) -> Move:
            began = perf_counter()
            move = policy(state, seat, moves)
            took = 1000 * (perf_counter() - began)
            self.used_ms += took
            self.slowest_ms = max(self.slowest_ms, took)
            return move

        return choose


# -- bots --------------------------------------------------------------------------------------------


def _policy(bot: str, plan: MatchPlan, seat: Seat, seed_text: str) -> Policy:
    """Return what the bot of this name does in a seat of the match."""
    match bot:
        case "random":
            return random_policy(seed_text, plan.match)
        case "planner":
            return planner
        case _:
            return _asked(bot, plan, seat, seed_text)


def _asked(bot: str, plan: MatchPlan, seat: Seat, seed_text: str) -> Policy:
    """Return a policy that shows a bot the messages that a client gets."""
    start = start_line(plan, commitment=plan.header().commitment or "", viewer=seat)
    player = new_player(bot)(_decode(start), seed_text)
    asks = 0

    def choose(state: State, seat: Seat, moves: list[Move]) -> Move:
        nonlocal asks
        asks += 1
        ask = ask_here(plan.match, asks, state, seat, moves, view(state, seat))
        answer = player.answer(_decode(ask))
        assert "index" in answer, "the built-in bots choose from the list"
        return moves[answer["index"]]

    return choose


# -- replays -----------------------------------------------------------------------------------------


def _write(path: Path, lines: list[bytes]) -> str:
    from stellwerk_base.files import write_whole  # its imports take longer than a game

    try:
        write_whole(path, b"".join(lines))
    except OSError as error:
        raise not_writable(str(path), error) from None
    return str(path)


# -- progress ----------------------------------------------------------------------------------------


def with_progress(chunks: Iterator[Chunk], game_count: int) -> Iterator[Chunk]:
    """Yield the chunks, and draw how many games are over."""
    if not progress.is_shown():
        yield from chunks
        return
    done = 0
    try:
        progress.draw(_bar(done, game_count))
        for chunk in chunks:
            done += len(chunk.matches)
            progress.draw(_bar(done, game_count))
            yield chunk
    finally:
        progress.clear()


def _bar(done: int, game_count: int) -> str:
    filled = BAR * done // game_count
    return f"[{'#' * filled}{'.' * (BAR - filled)}] {done:,} of {game_count:,} games"
