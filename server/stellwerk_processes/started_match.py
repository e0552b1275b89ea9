"""One match between bots: started for it with a server of their own, or standing bots of a server that stays.

Law: the match ends with a result whatever the bots do. The match waits for no bot that does not log in while
the set-up clock runs, whose process has ended, or that has closed the standard output that was its
connection: the fallback plays on at once. Messages that a process sent before it ended are heard first. An
exception from here is never a bot's fault.

A server that serves this match alone knows more: whatever was sent to it comes from one of its bots. A bot
that stays for many matches (`standing_server.py`) has logged in before, and is led to its seat: a standing
bot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import trio

from stellwerk_engine.core.cards import total
from stellwerk_engine.core.state import Events
from stellwerk_processes.asked_bots import AskedBots
from stellwerk_processes.bench.invitation import BotStartError, Invitation
from stellwerk_processes.bench.levels import Confinement
from stellwerk_processes.bench.local_bot import BotReport, LocalBot, start_bot
from stellwerk_processes.bot_log import BotLog, MatchLogs
from stellwerk_processes.bot_spec import LONGEST_NAME, BotSpec
from stellwerk_processes.embedded_server import (
    LOOPBACK,
    EmbeddedServer,
    LobbyFollower,
    Signal,
    Stranger,
    Strangers,
    open_embedded,
)
from stellwerk_processes.faults import Conduct
from stellwerk_processes.seat_report import Played
from stellwerk_protocol.names import Seat
from stellwerk_protocol.results import Result
from stellwerk_server.lobby.news import LobbyEvent, MatchEnded, MatchRefused
from stellwerk_server.lobby.rooms import Reservation, Room
from stellwerk_server.lobby.session import Session
from stellwerk_server.lobby.tokens import hashed, is_same_hash, new_token
from stellwerk_server.match.match_session import MatchSession
from stellwerk_server.match.plan import MatchPlan
from stellwerk_server.match.players import NewHousePlayer
from stellwerk_server.net.server import Server
from stellwerk_server.operate.settings import Limits

SHOW: Final = 0.2  # seconds at least from one time that a match is shown to the next
HEARD_OUT: Final = 1.0  # seconds for the server to read what a process wrote before it ended
ROUNDS: Final = 3  # of the event loop, to accept a connection that is there
LINES_KEPT: Final = 1000  # of what a bot printed
STDIO: Final = "stdio:"
NO_PROCESS: Final = BotReport(None, None, stopped=True, cpu_ms=0, max_rss_kb=None, last_lines=())

Show = Callable[[MatchSession], object]


@dataclass(frozen=True, slots=True)
class BotMatch:
    """A planned match, and the bots that play it. `bots` and `bot_seeds` have one for each seat; partners are
    the same bot. `needs_all`: the match does not begin without all its bots. `logs`: the folder for what they
    print, if any. `suspended`: the seats whose bots are not started, nor led to their seats; the match does
    not wait for them. `freeze`: a bot of this machine is stopped while it is not asked. `processors`: those
    that each seat has for itself, if seats have any. `house_bots` makes the players of those that sit in the
    server, by the names of built-in bots."""

    plan: MatchPlan
    bots: tuple[BotSpec, ...]
    bot_seeds: tuple[str, ...] = field(repr=False)
    needs_all: bool = False
    logs: MatchLogs | None = None
    suspended: frozenset[Seat] = frozenset()
    freeze: bool = False
    processors: tuple[frozenset[int], ...] = ()
    house_bots: Mapping[str, NewHousePlayer] = field(default_factory=dict[str, NewHousePlayer], repr=False)

    def processors_of(self, seat: Seat) -> frozenset[int]:
        return self.processors[seat] if self.processors else frozenset()

    def in_the_server(self) -> dict[Seat, tuple[str, NewHousePlayer]]:
        """Return the seats of house bots, with their names and what makes their players."""
        return {
            seat: (spec.built_in, partial(_make_seeded, self.house_bots[spec.built_in], self.bot_seeds[seat]))
            for seat, spec in enumerate(self.bots)
            if spec.process == "house" and seat not in self.suspended
        }


def _make_seeded(new_player: NewHousePlayer, seed: str, start: bytes, _: str) -> Callable[[bytes], bytes]:
    """Make a player with the seed that its process would get, in place of the one that the server draws."""
    return new_player(start, seed)


@dataclass(frozen=True, slots=True)
class MatchObserver:
    """An observer of a match. `show` gets it when it has begun and after its moves, but not too often.
    `begun` is called when it has begun. `has_enough` looks at the match after each move: once it returns
    True, the match is broken off."""

    show: Show | None = None
    begun: Callable[[], object] = lambda: None
    has_enough: Callable[[MatchSession], bool] | None = None


NO_OBSERVER: Final = MatchObserver()


@dataclass(frozen=True, slots=True)
class MatchResult:
    """The result of a match, and what its bots did. `replay` has the seed if the plan reveals it now; `times`
    is the file beside it. `late_ms` is for how long the match's clock stood still because the server was
    late. `events` are all that happened, with everything hidden. `unused_cards` is how many each seat still
    had in its hand."""

    plan: MatchPlan
    result: Result
    seats: tuple[Played, ...]
    replay: bytes = field(repr=False)
    times: bytes = field(repr=False)
    late_ms: float
    events: Events = field(repr=False)
    unused_cards: tuple[int, ...]


class NoResultError(Exception):
    """A match that could not be played to its end, though no bot is to blame; one line says why."""


class MissingBotsError(Exception):
    """The bots that could not start, by seat. The match did not begin, because it needs all its bots."""

    def __init__(self, missing: Mapping[Seat, Played]) -> None:
        names = ", ".join(dict.fromkeys(played.bot for played in missing.values()))
        super().__init__(f"missing: {names}")
        self.missing = missing


class BrokenOffError(Exception):
    """A match that was broken off, because its observer had seen enough. `seats` is what its bots did."""

    def __init__(self, seats: tuple[Played, ...]) -> None:
        super().__init__("the match was broken off")
        self.seats = seats


@dataclass(eq=False, slots=True)
class StandingBot:
    """A bot that has logged in before its match, with a token of its own, and stays when that is over. `bot`
    is its process, if it has one here. `hung_up`: it closed the output that was its connection."""

    token_hash: str
    bot: LocalBot | None = None
    hung_up: trio.Event = field(default_factory=trio.Event)

    def session(self, server: Server) -> Session | None:
        """Return the session that the bot has now, with a connection."""
        for session in server.lobby.sessions.by_id.values():
            if session.connection is not None and is_same_hash(self.token_hash, session.token_hash):
                return session
        return None


@dataclass(slots=True)
class _Seated:
    """A bot during its match. `is_gone`: the match no longer waits for it, though it never left. `suspended`:
    it was kept away. `sits_in_server`: the match never waits for it."""

    seat: Seat
    spec: BotSpec
    standing_bot: StandingBot | None = None
    bot: LocalBot | None = None
    suspended: bool = False
    sits_in_server: bool = False
    is_gone: bool = False
    hung_up: bool = False
    ended_early: bool = False


@dataclass(slots=True)
class _ServedMatch:
    """A match on a server: still to be played, running, or over. `seated` are the bots that have been
    started, or standing bots. `ended` is set if the match was played, with a result or without."""

    server: Server
    follower: LobbyFollower
    id: str
    room: Room
    asked_bots: AskedBots
    seated: list[_Seated] = field(default_factory=list[_Seated])
    is_over: bool = False
    is_broken_off: bool = False
    ended: MatchEnded | None = None

    @property
    def running(self) -> MatchSession | None:
        return self.server.lobby.matches.running.get(self.id)

    def is_waiting(self) -> bool:
        """Return whether its room still waits for players."""
        return self.room.id in self.server.lobby.rooms.by_id

    def session(self, seat: Seat) -> Session | None:
        """Return the session that has the seat, or waits in the room for it."""
        return self.room.sessions[seat]

    def hear(self, event: LobbyEvent) -> None:
        """Take an event from the lobby."""
        match event:
            case MatchEnded(match) if match.id == self.id:
                self.ended = event
                self.is_over = True
                self.asked_bots.end()
            case MatchRefused(id) if id == self.id:
                self.is_over = True
            case _:
                pass

    def note_gone(self, seated: _Seated) -> None:
        """Note that the match no longer waits for this bot."""
        seated.is_gone = True
        self.follower.changed.send()

    def give_up(self) -> None:
        """End the match before it has begun."""
        self.is_over = True
        self.follower.changed.send()


async def play_match(
    bot_match: BotMatch, confinement: Confinement, observer: MatchObserver = NO_OBSERVER
) -> MatchResult:
    """Start the bots, play, and end them. Their faults are in the result.

    BotStartError if one of them cannot be started at all, MissingBotsError if the match needs one that never
    came, BrokenOffError if the observer has seen enough, NoResultError if the machine fails; a bug of the
    server is raised as it is.
    """
    plan, strangers = bot_match.plan, Strangers()
    limits = Limits(login_ms=max(1, plan.clocks.set_up_ms))  # no later than a match would wait
    async with open_embedded([plan.game], limits) as host:
        with host.follower.telling(strangers.hear):
            try:
                await host.listen_on_loopback()
            except OSError as error:
                why = error.strerror or error
                ended: MatchResult | Exception = NoResultError(f"cannot listen on {LOOPBACK}: {why}")
            else:
                ended = await play_among(
                    host, bot_match, confinement, {}, frozenset(), strangers, observer=observer
                )
    ended = host.follower.bug_in(plan.match) or ended  # also of the server's end
    if isinstance(ended, Exception):
        raise ended
    return ended


async def play_among(
    host: EmbeddedServer,
    bot_match: BotMatch,
    confinement: Confinement,
    standing_bots: Mapping[Seat, StandingBot],
    absent: frozenset[str],
    strangers: Strangers | None = None,
    observer: MatchObserver = NO_OBSERVER,
) -> MatchResult | Exception:
    """Play a match on a server that listens: with standing bots, and with bots that are started for it.
    Do not wait for those in `absent`. Return an error instead of raising it: nurseries would wrap it."""
    server, follower, plan = host.server, host.follower, bot_match.plan
    late_before, bugs_before = server.clock.late_ms, len(follower.bugs)
    tokens = [new_token() for _ in bot_match.bots]  # a standing bot never learns its own

    def session_of(seat: Seat) -> Session | None:
        return room.sessions[seat]

    asked_bots = AskedBots(server, session_of, freeze=bot_match.freeze)
    token_hashes = tuple(map(hashed, tokens))
    room = server.lobby.rooms.reserve(Reservation(plan, token_hashes, asked_bots, bot_match.in_the_server()))
    served = _ServedMatch(server, follower, plan.match, room, asked_bots)
    seen: Mapping[Seat, Stranger] = {}
    missing: list[_Seated] = []
    failure: Exception | None = None
    try:
        with follower.telling(served.hear):
            async with trio.open_nursery() as processes:
                try:
                    await _start_all(
                        processes, served, bot_match, confinement, tokens, host.address, standing_bots
                    )
                except (BotStartError, NoResultError) as error:
                    failure = error
                    processes.cancel_scope.cancel()
                else:
                    for seated in served.seated:
                        seated.is_gone = seated.suspended or seated.spec.name in absent
                    await _see_it_through(served, bot_match, observer)
                    seen = {} if strangers is None else _find_strangers(served, strangers)
                    missing = [seated for seated in served.seated if _is_missing(served, seated)]
                    for seated in served.seated:
                        if seated.standing_bot is None and seated.bot is not None:
                            seated.bot.stop()
                finally:
                    asked_bots.end()  # before the processes are ended: some cannot be while they are frozen
    finally:
        server.lobby.rooms.cancel_reserved(room, server.clock.now())
        replay = host.journals.take_replay(plan.match)
    match = None if served.ended is None else served.ended.match

    def played(seated: _Seated) -> Played:
        played = _report_on(served, seated, seen.get(seated.seat, Stranger()))
        return replace(played, measured=asked_bots.measured.get(seated.seat))

    bug = follower.bug_in(plan.match, bugs_before)
    if bug is not None:
        return bug
    if failure is not None:
        return failure
    if match is None and missing:
        # Where some have ended, the others were not waited for: nothing is known against them.
        to_blame = [seated for seated in missing if seated.is_gone] or missing
        return MissingBotsError({seated.seat: played(seated) for seated in to_blame})
    if match is None:
        return NoResultError("the match did not end")
    seats = tuple(map(played, served.seated))
    if served.is_broken_off:
        return BrokenOffError(seats)
    if match.state.result is None:
        return NoResultError("the match could not be played to its end")
    return MatchResult(
        plan,
        match.state.result,
        seats,
        replay,
        match.times_file,
        server.clock.late_ms - late_before,
        match.events,
        tuple(map(total, match.state.hands)),
    )


# -- while it is played ------------------------------------------------------------------------------


async def _start_all(
    nursery: trio.Nursery,
    served: _ServedMatch,
    bot_match: BotMatch,
    confinement: Confinement,
    tokens: Sequence[str],
    tcp: str,
    standing_bots: Mapping[Seat, StandingBot],
) -> None:
    seats = zip(bot_match.bots, tokens, bot_match.bot_seeds, strict=True)
    for seat, (spec, token, bot_seed) in enumerate(seats):
        seated = _Seated(seat, spec, standing_bots.get(seat))
        if seat in bot_match.suspended:
            seated.suspended = True
        elif spec.process == "house":
            seated.sits_in_server = True
        elif seated.standing_bot is not None:
            seated.bot = seated.standing_bot.bot
            if seated.bot is not None:
                served.asked_bots.add(seat, seated.bot, own_processors=0)
        else:
            address = STDIO if spec.transport == "stdio" else tcp
            processors = bot_match.processors_of(seat)
            seated.bot = await bring_in(
                nursery,
                served.server,
                spec,
                Invitation(_choose_login_name(bot_match.bots, seat), address, token, bot_seed),
                replace(confinement, processors=processors),
                None if bot_match.logs is None else bot_match.logs.open(seat, spec.name),
                _stdio_address(served, seat),
                partial(_hang_up, served, seated),
            )
            served.asked_bots.add(seat, seated.bot, len(processors))
        served.seated.append(seated)


async def _see_it_through(served: _ServedMatch, bot_match: BotMatch, observer: MatchObserver) -> None:
    async with trio.open_nursery() as watchers:
        if bot_match.freeze:
            watchers.start_soon(served.asked_bots.keep_freezing)
        for seated in served.seated:
            if seated.bot is not None:
                watchers.start_soon(_wait_for_its_end, served, seated, seated.bot)
            if seated.standing_bot is not None:
                watchers.start_soon(_lead_to_its_seat, served, seated, seated.standing_bot)
                watchers.start_soon(_heed_its_silence, served, seated, seated.standing_bot)
        watchers.start_soon(_see_to_the_start, served, bot_match, observer.begun)
        if observer.show is not None:
            watchers.start_soon(_keep_showing, served, observer.show)
        if observer.has_enough is not None:
            watchers.start_soon(_break_off, served, observer.has_enough)
        await served.follower.changed.until(lambda: served.is_over)
        watchers.cancel_scope.cancel()


async def bring_in(
    nursery: trio.Nursery,
    server: Server,
    spec: BotSpec,
    invitation: Invitation,
    confinement: Confinement,
    log: BotLog | None,
    stdio_address: str,
    hung_up: Callable[[], object],
) -> LocalBot:
    """Start a bot that runs in the nursery, and connect it: over its standard input and output, or in the
    network that it has to itself. `hung_up` is called when it has closed its output, which was its
    connection: it cannot reconnect. BotStartError, or NoResultError if the machine is at fault."""
    try:
        bot = await start_bot(nursery, spec, invitation, confinement, log=log)
    except BotStartError as error:
        raise BotStartError(f"{spec.name}: {error}", error.key) from None
    except OSError as error:
        raise NoResultError(f"{spec.name}: cannot be started: {error.strerror or error}") from None

    async def carry(transport: trio.abc.Stream) -> None:
        await server.serve_stream(transport, stdio_address)
        hung_up()

    if bot.transport is not None:
        nursery.start_soon(carry, bot.transport)
    if bot.has_listener:
        nursery.start_soon(_serve_inside, server, bot)
    return bot


async def _serve_inside(server: Server, bot: LocalBot) -> None:
    """Serve a bot that has a network of its own, until it has ended. Its earlier messages are heard."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.serve_listener, bot.open_listener())
        await bot.ended()
        for _ in range(ROUNDS):
            await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()


async def _lead_to_its_seat(served: _ServedMatch, seated: _Seated, standing_bot: StandingBot) -> None:
    """Seat a standing bot as soon as it is there, and again if it has lost its connection meanwhile. Once the
    match has begun, it may resume."""
    room, lobby = served.room, served.server.lobby

    def ready() -> Session | None:
        session = None if room.sessions[seated.seat] is not None else standing_bot.session(served.server)
        return session if session is not None and session.game_count() < session.max_matches else None

    while True:
        await served.follower.changed.until(lambda: not served.is_waiting() or ready() is not None)
        session = ready()
        if session is None or not served.is_waiting():
            return
        lobby.rooms.enter(session, room, seated.seat, served.server.clock.now())
        served.server.flush()


async def _heed_its_silence(served: _ServedMatch, seated: _Seated, standing_bot: StandingBot) -> None:
    await standing_bot.hung_up.wait()
    _hang_up(served, seated)


def _hang_up(served: _ServedMatch, seated: _Seated) -> None:
    seated.hung_up = not served.is_over
    _go_on_without(served, seated)


async def _wait_for_its_end(served: _ServedMatch, seated: _Seated, bot: LocalBot) -> None:
    def is_disconnected() -> bool:
        session = served.session(seated.seat)
        return session is None or session.connection is None

    await bot.ended()
    with trio.move_on_after(HEARD_OUT):
        await served.follower.changed.until(is_disconnected)
    seated.ended_early = True
    _go_on_without(served, seated)


async def _see_to_the_start(served: _ServedMatch, bot_match: BotMatch, begun: Callable[[], object]) -> None:
    until = served.follower.changed.until

    def is_missing_for_good(seated: _Seated) -> bool:
        return seated.is_gone and _is_missing(served, seated)

    with trio.move_on_after(bot_match.plan.clocks.set_up_ms / 1000) as scope:
        await until(
            lambda: (
                not served.is_waiting()
                or (bot_match.needs_all and any(map(is_missing_for_good, served.seated)))
                or _all_who_come_are_there(served)
            )
        )
        if bot_match.needs_all:
            # Unless the match has begun it will not; other bots that cannot start have a moment to show it.
            scope.deadline = min(scope.deadline, trio.current_time() + HEARD_OUT)
            await until(lambda: not served.is_waiting() or _all_who_come_are_there(served))
    if not served.is_waiting():
        begun()
    elif bot_match.needs_all:
        served.give_up()
    else:
        served.server.lobby.rooms.start_reserved(served.room, served.server.clock.now())
        served.server.flush()
        begun()


async def _keep_showing(served: _ServedMatch, show: Show) -> None:
    await served.follower.changed.until(lambda: served.running is not None)
    match = served.running
    assert match is not None
    moved = trio.Event()
    match.on_move = lambda: moved.set()
    while True:
        show(match)
        await trio.sleep(SHOW)
        await moved.wait()
        moved = trio.Event()


async def _break_off(served: _ServedMatch, has_enough: Callable[[MatchSession], bool]) -> None:
    """End the match without a result as soon as its observer has seen enough."""
    await served.follower.changed.until(lambda: served.running is not None)
    match = served.running
    assert match is not None
    moved = Signal()
    match.on_move = moved.send
    await moved.until(lambda: has_enough(match))
    served.is_broken_off = True
    served.server.lobby.rooms.cancel_reserved(served.room, served.server.clock.now())
    served.server.flush()


def _go_on_without(served: _ServedMatch, seated: _Seated) -> None:
    if served.is_over or seated.is_gone:
        return
    match = served.running
    if match is None:
        served.note_gone(seated)
    elif not match.seats[seated.seat].left:
        served.note_gone(seated)
        served.server.lobby.matches.take_out(match, seated.seat, served.server.clock.now())
        served.server.flush()


def _all_who_come_are_there(served: _ServedMatch) -> bool:
    return all(seated.is_gone or not _is_missing(served, seated) for seated in served.seated)


def _is_missing(served: _ServedMatch, seated: _Seated) -> bool:
    return served.session(seated.seat) is None and not seated.sits_in_server


def _choose_login_name(specs: Sequence[BotSpec], seat: Seat) -> str:
    """Return the name that a seat's bot logs in with. Partners are the same bot, but two logins."""
    name = specs[seat].name
    partners = [other for other, spec in enumerate(specs) if spec.name == name]
    if len(partners) == 1:
        return name
    ending = f".{partners.index(seat) + 1}"
    return name[: LONGEST_NAME - len(ending)] + ending


def _stdio_address(served: _ServedMatch, seat: Seat) -> str:
    return f"{STDIO}{served.id}/{seat}"


# -- afterwards --------------------------------------------------------------------------------------


def _find_strangers(served: _ServedMatch, strangers: Strangers) -> dict[Seat, Stranger]:
    """Return what was seen of the bots that have no seat, on a server that serves this match alone. A
    connection over TCP is a missing bot's for certain only if no other bot is missing. The lack of a
    connection holds for all of them."""
    seen = strangers.seen(served.server.lobby.connections)
    expected = [seated for seated in served.seated if not seated.suspended]
    missing = [seated for seated in expected if _is_missing(served, seated)]
    tcp_count = sum(seated.spec.transport == "tcp" for seated in missing)
    of_seat: dict[Seat, Stranger] = {}
    for seated in missing:
        over_stdio = seated.spec.transport == "stdio"
        address = _stdio_address(served, seated.seat) if over_stdio else LOOPBACK
        if address not in seen:
            of_seat[seated.seat] = Stranger(connected=False)
        elif over_stdio or tcp_count == 1:
            of_seat[seated.seat] = seen[address]
    return of_seat


def _report_on(served: _ServedMatch, seated: _Seated, stranger: Stranger) -> Played:
    """Collect what a bot did. The match may not have begun."""
    report = NO_PROCESS if seated.bot is None else seated.bot.report_so_far()
    ended = served.ended
    seat = None if ended is None else ended.match.seats[seated.seat]
    session = None if ended is None else served.session(seated.seat)
    unreadable = stranger.refused if ended is None else ended.refused.get(seated.seat, stranger.refused)
    conduct = Conduct(
        report=report,
        transport=seated.spec.transport,
        is_remote=seated.spec.process == "remote",
        logged_in=session is not None or seated.sits_in_server,
        suspended=seated.suspended,
        ended_early=seated.ended_early or (seated.hung_up and not report.stopped),
        hung_up=seated.hung_up,
        forgot_token=stranger.forgot_token,
        unreadable=unreadable.counts,
        first_refused=unreadable.first,
        connected=stranger.connected,
    )
    if seat is not None:
        conduct = replace(
            conduct,
            left=seat.left and not seated.is_gone,
            by_default=seat.by_default,
            defaults=seat.default_reasons,
            refused=seat.refused.counts,
            first_refused=unreadable.first | seat.refused.first,
            late=seat.late.first,
        )
    return Played(
        bot=seated.spec.name,
        conduct=conduct,
        asks=0 if seat is None else seat.ask_count,
        used_ms=0.0 if seat is None else seat.used_ms,
        slowest_ms=0.0 if seat is None else seat.slowest_ms,
        printed=() if seated.bot is None else seated.bot.last_lines(LINES_KEPT),
        log=None if seated.bot is None else seated.bot.log,
        process=seated.spec.process,
        transport=session.transport if session is not None and conduct.is_remote else None,
    )
