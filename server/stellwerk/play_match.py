"""One game between bots that are started for it: fresh processes, a room of their own, and what became of it.

Law: the game ends with a result whatever the bots do. Who does not log in while the set-up clock runs is not
waited for, nor whose process has ended, nor who has closed the standard output that was its connection: the
fallback plays on at once. What a process said before it ended is heard first.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import trio

from stellwerk.errors import infrastructure_error, usage_error
from stellwerk.play_faults import Conduct
from stellwerk.play_house import Notes
from stellwerk.play_plan import Plan, PlannedGame
from stellwerk.play_report import MatchReport, Played, match_report
from stellwerk_protocol.messages import Clocks
from stellwerk_protocol.names import Seat
from stellwerk_server.bot_process import BotStartError, Confinement, Invitation, RunningBot, run_bot
from stellwerk_server.bot_spec import LONGEST_NAME, BotSpec
from stellwerk_server.match_session import MatchSession
from stellwerk_server.rooms import Reservation, Room
from stellwerk_server.server import Server
from stellwerk_server.session import hashed
from stellwerk_server.tokens import new_token

POLL: Final = 0.02  # seconds: how often to look who has come, and who has gone
SHOW: Final = 0.2  # seconds between two looks at a running game
HEARD_OUT: Final = 1.0  # seconds for the server to read what a process wrote before it ended
STDIO: Final = "stdio:"
LOOPBACK: Final = "127.0.0.1"

Show = Callable[[MatchSession], object]


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for all games. `address` is for the bots that do not use stdio."""

    address: str
    clocks: Clocks
    confinement: Confinement


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """`salt` belongs to the commitment, and opens it."""

    report: MatchReport
    salt: bytes


@dataclass(slots=True)
class _Seated:
    """A bot while the game goes on. `is_gone`: nobody waits for it any more, though it never left."""

    seat: Seat
    spec: BotSpec
    bot: RunningBot
    is_gone: bool = False
    hung_up: bool = False
    ended_early: bool = False


@dataclass(slots=True)
class _Table:
    server: Server
    id: str
    room: Room
    seated: list[_Seated] = field(default_factory=list[_Seated])
    over: trio.Event = field(default_factory=trio.Event)
    finished: MatchSession | None = None

    @property
    def running(self) -> MatchSession | None:
        return self.server.lobby.matches.get(self.id)

    def is_waiting(self) -> bool:
        return self.room.id in self.server.lobby.rooms

    def end(self, match: MatchSession) -> None:
        self.finished = match
        self.over.set()


async def play_game(
    server: Server, plan: Plan, planned: PlannedGame, terms: Terms, notes: Notes, show: Show | None = None
) -> PlayedGame:
    """Start the bots, play, and end them. What they do wrong stands in the report; CommandError if one of
    them cannot be started at all. `show` gets the game now and then while it runs."""
    specs = [plan.bots[bot] for bot in planned.bots]
    tokens = [new_token() for _ in specs]
    salt = secrets.token_bytes(32)
    table = _reserve(server, plan, planned, terms, tokens, salt)
    async with trio.open_nursery() as processes:
        for seat, (spec, token) in enumerate(zip(specs, tokens, strict=True)):
            address = STDIO if spec.transport == "stdio" else terms.address
            invitation = Invitation(_login_name(specs, seat), address, token, planned.bot_seed(seat))
            bot = await _start(processes, spec, invitation, terms.confinement)
            table.seated.append(_Seated(seat, spec, bot))
            if bot.transport is not None:
                processes.start_soon(_carry, table, table.seated[-1], bot.transport)
        async with trio.open_nursery() as watchers:
            for seated in table.seated:
                watchers.start_soon(_attend, table, seated)
            watchers.start_soon(_see_to_the_start, table, terms.clocks.set_up_ms / 1000)
            if show is not None:
                watchers.start_soon(_keep_showing, table, show)
            await table.over.wait()
            watchers.cancel_scope.cancel()
        tokenless = _tokenless(server)
        for seated in table.seated:
            seated.bot.stop()
    if notes.bugs:
        raise notes.bugs[0]
    match = table.finished
    if match is None or match.state.result is None:
        raise infrastructure_error(f"game {planned.number} could not be played to its end")
    strangers = _strangers(table, match, notes, tokenless)
    played = [_played(seated, match, strangers.get(seated.seat, _Stranger())) for seated in table.seated]
    return PlayedGame(match_report(planned, match.id, match.state.result, played), salt)


# -- while it is played ------------------------------------------------------------------------------


def _reserve(
    server: Server, plan: Plan, planned: PlannedGame, terms: Terms, tokens: Sequence[str], salt: bytes
) -> _Table:
    def note_the_end(match: MatchSession) -> None:
        table.end(match)

    reservation = Reservation(
        game=plan.game.make(),
        names=tuple(plan.bots[bot].name for bot in planned.bots),
        token_hashes=tuple(map(hashed, tokens)),
        seed=planned.seed,
        salt=salt,
        match=planned.match,
        clocks=terms.clocks,
        reveal="now" if planned.is_last_of_block else "later",
        on_over=note_the_end,
    )
    table = _Table(server, reservation.match, server.lobby.reserve(reservation))
    return table


async def _start(
    nursery: trio.Nursery, spec: BotSpec, invitation: Invitation, confinement: Confinement
) -> RunningBot:
    async def run(task_status: trio.TaskStatus[RunningBot]) -> None:
        await run_bot(spec, invitation, confinement, task_status=task_status)

    try:
        bot: RunningBot = await nursery.start(run)
    except BotStartError as error:
        raise usage_error(f"{spec.name}: {error}") from None
    except OSError as error:
        raise infrastructure_error(f"{spec.name}: cannot be started: {error.strerror or error}") from None
    return bot


async def _carry(table: _Table, seated: _Seated, transport: trio.abc.Stream) -> None:
    """What is said over stdio. Who closes it cannot come back."""
    await table.server.serve_stream(transport, _stdio_address(table, seated.seat))
    seated.hung_up = not table.over.is_set()
    _go_on_without(table, seated)


async def _attend(table: _Table, seated: _Seated) -> None:
    await seated.bot.ended()
    with trio.move_on_after(HEARD_OUT):
        await _until(lambda: not _is_connected(table, seated.seat))
    seated.ended_early = True
    _go_on_without(table, seated)


async def _see_to_the_start(table: _Table, seconds: float) -> None:
    with trio.move_on_after(seconds):
        await _until(lambda: not table.is_waiting() or _all_who_come_are_there(table))
    if table.is_waiting():
        table.server.lobby.start_reserved(table.room, table.server.clock.now())
        table.server.flush()


async def _until(condition: Callable[[], bool]) -> None:
    """The lobby tells nobody who comes and who goes, so look."""
    while True:
        if condition():
            return
        await trio.sleep(POLL)


async def _keep_showing(table: _Table, show: Show) -> None:
    while True:
        match = table.running
        if match is not None:
            show(match)
        await trio.sleep(SHOW)


def _go_on_without(table: _Table, seated: _Seated) -> None:
    if table.over.is_set() or seated.is_gone:
        return
    match = table.running
    if match is None:
        seated.is_gone = True
    elif not match.places[seated.seat].left:
        seated.is_gone = True
        match.leave(seated.seat, table.server.clock.now())
        table.server.flush()


def _all_who_come_are_there(table: _Table) -> bool:
    seats = zip(table.room.sessions, table.seated, strict=True)
    return all(session is not None or seated.is_gone for session, seated in seats)


def _is_connected(table: _Table, seat: Seat) -> bool:
    match = table.running
    session = table.room.sessions[seat] if match is None else match.places[seat].session
    return session is not None and session.connection is not None


def _login_name(specs: Sequence[BotSpec], seat: Seat) -> str:
    """Partners are the same bot; logged in they are two."""
    name = specs[seat].name
    partners = [other for other, spec in enumerate(specs) if spec.name == name]
    if len(partners) == 1:
        return name
    ending = f".{partners.index(seat) + 1}"
    return name[: LONGEST_NAME - len(ending)] + ending


def _stdio_address(table: _Table, seat: Seat) -> str:
    return f"{STDIO}{table.id}/{seat}"


# -- afterwards --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Stranger:
    """What was seen of a bot that never took its seat."""

    errors: Counter[str] = field(default_factory=Counter[str])
    forgot_token: bool = False


def _tokenless(server: Server) -> frozenset[str]:
    """The addresses from which somebody has logged in without the token of a seat."""
    connections = server.lobby.connections
    return frozenset(
        connection.address
        for connection in connections
        if connection.session is not None and connection.session.seat_token_hash is None
    )


def _strangers(
    table: _Table, match: MatchSession, notes: Notes, tokenless: frozenset[str]
) -> dict[Seat, _Stranger]:
    """By seat. Over TCP it can be told whose connection it was if only one bot was missing."""
    said = dict(notes.strangers)
    notes.strangers.clear()
    for connection in table.server.lobby.connections:
        if connection.session is None:
            said[connection.address] = said.get(connection.address, Counter()) + connection.errors
    missing = [seated for seated in table.seated if match.places[seated.seat].session is None]
    over_tcp = [seated for seated in missing if seated.spec.transport == "tcp"]
    strangers: dict[Seat, _Stranger] = {}
    for seated in missing:
        if seated.spec.transport == "stdio":
            address = _stdio_address(table, seated.seat)
        elif len(over_tcp) == 1:
            address = LOOPBACK
        else:
            continue
        strangers[seated.seat] = _Stranger(said.get(address, Counter()), address in tokenless)
    return strangers


def _played(seated: _Seated, match: MatchSession, stranger: _Stranger) -> Played:
    place, report = match.places[seated.seat], seated.bot.report
    assert report is not None  # its task has ended
    return Played(
        bot=seated.spec.name,
        conduct=Conduct(
            report=report,
            logged_in=place.session is not None,
            ended_early=seated.ended_early or (seated.hung_up and not report.stopped),
            hung_up=seated.hung_up,
            left=place.left and not seated.is_gone,
            by_default=place.by_default,
            defaults=place.default_reasons,
            refused=place.refused,
            forgot_token=stranger.forgot_token,
            unreadable=stranger.errors if place.session is None else place.session.errors,
        ),
        used_ms=place.used_ms,
        slowest_ms=place.slowest_ms,
    )
