"""A server that stays while matches come and go, for bots that stay too: remote ones, which log in with their
tokens and wait, and processes of this machine that play match after match.

Laws:
- no client makes a match here: the program that embeds the server decides who plays whom;
- a process plays no deal twice, so that nothing that it remembers tells it what is hidden; and it finds its
  private folder empty before each match, as far as that can be done;
- a process that has played a deal is stopped until the deal has been played for the last time (`end_deal`),
  so it cannot tell what it knows to the process that plays another match of the deal. Built-in ones do not;
- after a fault, its own or the machine's, a process plays no more: the next match gets a fresh one;
- there are never more processes of a bot than it may have, those that wait included.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Final

import trio

from stellwerk_engine.core.state import Game
from stellwerk_processes.asked_bots import AGAIN_S
from stellwerk_processes.bench.invitation import Invitation
from stellwerk_processes.bench.levels import Confinement
from stellwerk_processes.bench.local_bot import LocalBot
from stellwerk_processes.bot_spec import LONGEST_NAME, BotSpec
from stellwerk_processes.embedded_server import LOOPBACK, EmbeddedServer, open_embedded
from stellwerk_processes.faults import faults_of
from stellwerk_processes.seat_report import Played
from stellwerk_processes.started_match import (
    NO_OBSERVER,
    STDIO,
    BotMatch,
    MatchObserver,
    MatchResult,
    StandingBot,
    bring_in,
    play_among,
)
from stellwerk_protocol.messages import Bye
from stellwerk_protocol.names import Seat
from stellwerk_server.lobby.tokens import TokenHolder, Tokens, hashed, new_token
from stellwerk_server.match.lines import line
from stellwerk_server.net.listen_address import CannotListenError, ListenAddress, shown_address
from stellwerk_server.operate.settings import Limits

if TYPE_CHECKING:
    from stellwerk_server.match.match_session import MatchSession

ENDED_MATCHES: Final = (
    64  # listed, with some 100 kB of journal each: older ones are in the folder of a tournament
)
MOST_TRIES: Final = 1000  # to stop a process, AGAIN_S apart; then it ends instead
MOST_WAITING: Final = 64  # processes without a match: more would cost memory that those who play may need
OVER: Final = "nothing: all has been played"


@dataclass(frozen=True, slots=True)
class StandingSetup:
    """`remote` says as whom each remote bot logs in: for games of teams once for each seat, and the first of
    these plays the other games alone. `organizers` may watch. `instances`: how many processes of a bot there
    may be at a time. `logins_at_once`: how many processes of this machine may be about to log in.
    `set_up_ms`: how long matches wait for their bots. `bot_seeds`: of bots whose processes play match after
    match, one for all processes of a bot, so that it does not matter which one plays. Without, a process has
    the seed of its first match."""

    set_up_ms: int
    confinement: Confinement
    games: tuple[Game, ...]
    remote: Mapping[str, tuple[TokenHolder, ...]]
    organizers: tuple[TokenHolder, ...]
    listen_at: ListenAddress | None
    instances: Mapping[str, int]
    logins_at_once: int
    bot_seeds: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    may_connect: Callable[[], bool] = lambda: True


@dataclass(eq=False, slots=True)
class _Process:
    """One that plays match after match, started from `spec`. `bot` is there when it has been started; `deals`
    are those that it has seen and that may be played again."""

    spec: BotSpec
    standing_bot: StandingBot
    holder: TokenHolder
    deals: set[bytes]
    bot: LocalBot | None = None
    ended: trio.Event = field(default_factory=trio.Event)

    @property
    def name(self) -> str:
        return self.spec.name

    def is_fit(self) -> bool:
        return self.bot is not None and not self.ended.is_set() and not self.standing_bot.hung_up.is_set()


class StandingServer:
    """Made by `open_standing_server`."""

    def __init__(
        self, plan: StandingSetup, host: EmbeddedServer, nursery: trio.Nursery, tokens: Tokens
    ) -> None:
        self._plan = plan
        self._host = host
        self.server = host.server
        self._nursery = nursery
        self._tokens = tokens  # of all who may log in now
        self._remote = Tokens((*chain.from_iterable(plan.remote.values()),))
        self._processes: list[_Process] = []  # all that have not ended
        self._waiting: list[_Process] = []  # those without a match, who came back last at the end
        self._count = 0

    async def listen(self) -> tuple[str, int] | None:
        """Open the door; where it is. CannotListenError."""
        try:
            await self._host.listen_on_loopback()
        except OSError as error:
            raise _explain_closed(LOOPBACK, 0, error) from None
        listen_at = self._plan.listen_at
        if listen_at is None:
            return None
        try:
            return await self.server.listen(listen_at.host, listen_at.port, listen_at.tls)
        except OSError as error:
            raise _explain_closed(listen_at.host, listen_at.port, error) from None

    def present(self) -> dict[str, int]:
        """Return the remote bots that are connected, by the names that they log in with, and how many matches
        each of them plays at a time."""
        return {
            holder.name: session.max_matches
            for session in self.server.lobby.sessions.by_id.values()
            if session.connection is not None
            and (holder := self._remote.holder_with(session.token_hash)) is not None
        }

    def listed(self) -> list[MatchSession]:
        """Return the running matches that are public."""
        return self.server.lobby.listed()

    async def presence_changed(self) -> None:
        """Wait until a bot comes or goes: `present` may differ then from what it is now."""
        await self._host.follower.presence.wait()

    # -- a match ---------------------------------------------------------------------------------

    async def play(
        self, bot_match: BotMatch, absent: frozenset[str], observer: MatchObserver = NO_OBSERVER
    ) -> MatchResult:
        """Play a match like `play_match`. Do not wait for the remote bots in `absent`, which are names as in
        `present`."""
        reused: dict[Seat, _Process] = {}
        result: MatchResult | None = None
        try:
            standing_bots: dict[Seat, StandingBot] = {}
            bots = list(bot_match.bots)
            for seat, spec in enumerate(bot_match.bots):
                if seat in bot_match.suspended:
                    continue
                if spec.process == "remote":
                    holder = self._plan.remote[spec.name][bot_match.bots[:seat].count(spec)]
                    standing_bots[seat] = StandingBot(holder.hash)
                    bots[seat] = replace(spec, name=holder.name)  # partners come and go each for itself
                elif spec.process == "reused":
                    standing_bots[seat] = await self._take_process(spec, bot_match, seat, reused)
            with_logins = replace(bot_match, bots=tuple(bots))
            confinement = self._plan.confinement
            ended = await play_among(
                self._host, with_logins, confinement, standing_bots, absent, observer=observer
            )
            if isinstance(ended, Exception):
                raise ended
            result = ended
        finally:
            await self._give_back(bot_match, reused, result)
        assert result is not None
        seats = zip(result.seats, bot_match.bots, strict=True)
        named = [replace(played, bot=spec.name) for played, spec in seats]
        last = (_with_last_words(played, reused.get(seat)) for seat, played in enumerate(named))
        return replace(result, seats=tuple(last))

    def end_deal(self, deal: bytes) -> None:
        """Note that no match of this deal will be played any more."""
        for process in self._processes:
            process.deals.discard(deal)

    async def say_goodbye(self, *, finished: bool) -> None:
        """Say goodbye. `finished`: there will be no more matches. Otherwise the bots are to come back."""
        self.wake_all()
        ours = Tokens(tuple(process.holder for process in self._processes))
        for connection in list(self.server.lobby.connections):
            session = connection.session
            if finished or (session is not None and ours.holder_with(session.token_hash) is not None):
                self.server.lobby.outbox.close(connection, "done", line(Bye("done", OVER)))
        self.server.flush()
        for process in self._processes:
            if process.bot is not None:
                process.bot.stop()
        await self.server.stop()
        for process in list(self._processes):
            await process.ended.wait()

    # -- processes that play match after match ---------------------------------------------------

    async def _take_process(
        self, spec: BotSpec, bot_match: BotMatch, seat: Seat, taken: dict[Seat, _Process]
    ) -> StandingBot:
        """Take a process that has not seen the deal. BotStartError, or NoResultError. One that waited is in
        `taken` before anything can go wrong with it, so that it will be given back."""
        deal = bot_match.plan.seed
        for process in reversed(self._waiting):
            may_play = deal not in process.deals if spec.is_plainly_built_in else not process.deals
            if process.spec == spec and may_play and process.is_fit():
                break
        else:
            taken[seat] = await self._start_process(spec, bot_match, seat)
            return taken[seat].standing_bot
        self._waiting.remove(process)
        taken[seat] = process
        assert process.bot is not None
        process.deals.add(deal)
        await process.bot.forget()
        self._wake_process(process)
        if bot_match.logs is not None and process.bot.log is not None:
            process.bot.log.begin(bot_match.logs.heading(seat))
        return process.standing_bot

    async def _put_to_rest(self, process: _Process) -> bool:
        """Stop a process that has played, unless it is built in. Return whether all of it has stopped."""
        if process.spec.is_plainly_built_in:
            return True
        assert process.bot is not None
        session = process.standing_bot.session(self.server)
        if session is not None:
            self.server.hold(session)
        for _ in range(MOST_TRIES):
            progress = process.bot.freeze()
            if progress != "stopping":
                return progress == "stopped"
            await trio.sleep(AGAIN_S)
        return False

    def _wake_process(self, process: _Process) -> None:
        """Continue a process that has been stopped, or was to be."""
        if process.bot is None or not process.bot.is_frozen:
            return
        process.bot.thaw()
        session = process.standing_bot.session(self.server)
        if session is not None:
            self.server.release(session)

    def wake_all(self) -> None:
        """Continue all processes: some cannot be ended while they are stopped."""
        for process in self._processes:
            self._wake_process(process)

    async def _start_process(self, spec: BotSpec, bot_match: BotMatch, seat: Seat) -> _Process:
        await self._make_room(spec.name)
        token = new_token()
        holder = TokenHolder(self._choose_login_name(spec.name), hashed(token), False, takes_any_name=True)
        process = _Process(spec, StandingBot(holder.hash), holder, {bot_match.plan.seed})
        self._processes.append(process)
        self._tokens.holders = (*self._tokens.holders, holder)
        address = STDIO if spec.transport == "stdio" else self._host.address
        seed = self._plan.bot_seeds.get(spec.name, bot_match.bot_seeds[seat])
        logs = bot_match.logs
        try:
            bot = await bring_in(
                self._nursery,
                self.server,
                spec,
                Invitation(holder.name, address, token, seed),
                self._plan.confinement,
                None if logs is None else logs.open(seat, spec.name),
                f"{STDIO}{holder.name}",
                process.standing_bot.hung_up.set,
            )
        except BaseException:
            self._forget_process(process)
            raise
        process.bot = process.standing_bot.bot = bot
        self._nursery.start_soon(self._wait_for_its_end, process, bot)
        return process

    def _choose_login_name(self, name: str) -> str:
        taken = {holder.name.lower() for holder in self._tokens.holders}
        while True:
            self._count += 1
            ending = f".{self._count}"
            found = name[: LONGEST_NAME - len(ending)] + ending
            if found.lower() not in taken:
                return found

    async def _make_room(self, name: str) -> None:
        """Make room for one more process of a bot that has reached its limit, by ending one that waits."""
        most = self._plan.instances.get(name)
        while most is not None:
            own = [process for process in self._processes if process.name == name]
            if len(own) < most:
                return
            idle = next((process for process in self._waiting if process.name == name), None)
            if idle is not None:
                await self._dismiss_processes(idle)
            else:
                await _wait_for_any([process.ended for process in own])

    async def _give_back(
        self, bot_match: BotMatch, taken: Mapping[Seat, _Process], result: MatchResult | None
    ) -> None:
        if not bot_match.plan.reveal_later:
            self.end_deal(bot_match.plan.seed)
        dismissed: list[_Process] = []
        for seat, process in taken.items():
            is_clean = result is not None and not faults_of(result.seats[seat].conduct)
            if is_clean and process.is_fit() and await self._put_to_rest(process):
                self._waiting.append(process)
            else:
                dismissed.append(process)
        surplus = max(0, len(self._waiting) - MOST_WAITING)
        await self._dismiss_processes(*dismissed, *self._waiting[:surplus])

    async def _dismiss_processes(self, *processes: _Process) -> None:
        """Say goodbye to all, and only then see them end: that may be cancelled."""
        for process in processes:
            self._say_goodbye_to(process)
        for process in processes:
            if process.bot is not None:
                await process.ended.wait()

    def _say_goodbye_to(self, process: _Process) -> None:
        if process in self._waiting:
            self._waiting.remove(process)
        self._wake_process(process)
        session = process.standing_bot.session(self.server)
        if session is not None and session.connection is not None:
            self.server.lobby.outbox.close(session.connection, "done", line(Bye("done", OVER)))
            self.server.flush()
        if process.bot is not None:
            process.bot.stop()

    async def _wait_for_its_end(self, process: _Process, bot: LocalBot) -> None:
        await bot.ended()
        self._forget_process(process)

    def _forget_process(self, process: _Process) -> None:
        process.ended.set()
        self._processes.remove(process)
        if process in self._waiting:
            self._waiting.remove(process)
        tokens = self._tokens
        tokens.holders = tuple(holder for holder in tokens.holders if holder is not process.holder)


def _with_last_words(played: Played, process: _Process | None) -> Played:
    """Add what a process printed when it was ended for its faults, such as where it hung."""
    if process is None or process.bot is None or process.bot.report is None:
        return played
    report = replace(played.conduct.report, last_lines=process.bot.last_lines())
    return replace(played, conduct=replace(played.conduct, report=report))


@asynccontextmanager
async def open_standing_server(plan: StandingSetup) -> AsyncGenerator[StandingServer]:
    """Run a standing server for as long as the block runs. Call its `listen`, and its `say_goodbye`."""
    tokens = Tokens((*chain.from_iterable(plan.remote.values()), *plan.organizers))
    default = Limits()
    limits = Limits(
        login_ms=max(default.login_ms, plan.set_up_ms),  # a bot may log in as long as a match waits for it
        # Any number of remote bots may come from one address: only tokens let them in. No limit for an
        # address concerns our own processes, which come from this machine.
        sessions_per_address=default.connections,
        unauthenticated=max(default.unauthenticated, plan.logins_at_once),
        ended_matches=ENDED_MATCHES,
    )
    host = open_embedded(
        plan.games,
        limits,
        tokens=tokens,
        plaintext_tokens=plan.listen_at is not None and plan.listen_at.plaintext_tokens,
        may_join=False,
        may_connect=plan.may_connect,
    )
    async with host as embedded, trio.open_nursery() as nursery:
        standing = StandingServer(plan, embedded, nursery, tokens)
        try:
            yield standing
        finally:
            standing.wake_all()
            nursery.cancel_scope.cancel()


def _explain_closed(host: str, port: int, error: OSError) -> CannotListenError:
    return CannotListenError(f"{shown_address(host, port)}: cannot listen: {error.strerror or error}")


async def _wait_for_any(events: Sequence[trio.Event]) -> None:
    async with trio.open_nursery() as nursery:

        async def wait(event: trio.Event) -> None:
            await event.wait()
            nursery.cancel_scope.cancel()

        for event in events:
            nursery.start_soon(wait, event)
