"""A server that stays while matches come and go: where it listens, and the bots that stay with it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import pytest
import trio
import trio.testing

from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_processes import started_match
from stellwerk_processes.bench.levels import UNCONFINED
from stellwerk_processes.bot_spec import BotSpec, built_in_command
from stellwerk_processes.embedded_server import MemoryJournals, Signal
from stellwerk_processes.faults import Conduct, faults_of
from stellwerk_processes.seat_report import seat_reports
from stellwerk_processes.standing_server import StandingServer, StandingSetup, open_standing_server
from stellwerk_processes.started_match import (
    NO_PROCESS,
    BotMatch,
    MatchObserver,
    MatchResult,
    play_match,
)
from stellwerk_server.journal.journal import Journal
from stellwerk_server.lobby.tokens import TokenHolder, hashed
from stellwerk_server.match.plan import MatchPlan
from stellwerk_server.net.listen_address import ListenAddress
from stellwerk_server.net.server import open_server
from stellwerk_server.operate.settings import Time, clocks_of
from tests.command.serve.test_serve import TwoAddresses
from tests.server.support import World
from tests.tools import needs

T = TypeVar("T")

GAME = GameChoice("usa", 2, (), replace(shipped_board("usa"), trains=8)).make()
SECONDS = 60  # far more than any test takes: a test that hangs should say so
LISTEN_AT = ListenAddress("127.0.0.1", 0)
TOKEN = "ann's"
ANN = BotSpec("ann", (), process="remote")
HERE = BotSpec("here", built_in_command("random"))
STAYS = BotSpec("stays", built_in_command("random"), process="reused")


def plan(set_up_ms: int = Time().set_up_ms, listen_at: ListenAddress | None = LISTEN_AT) -> StandingSetup:
    """Set up one remote bot, and a bot that stays with one process and no more."""
    return StandingSetup(
        set_up_ms,
        UNCONFINED,
        (GAME,),
        {"ann": (TokenHolder("ann", hashed(TOKEN), is_organizer=False),)},
        (),
        listen_at,
        instances={"stays": 1},
        logins_at_once=4,
    )


def bot_match(number: int, bots: tuple[BotSpec, ...]) -> BotMatch:
    """Describe a match. Each has a deal of its own."""
    return BotMatch(
        MatchPlan(
            match=f"m{number}",
            game=GAME,
            names=tuple(bot.name for bot in bots),
            seed=bytes([number]) * 32,
            salt=bytes(32),
            clocks=clocks_of(Time(move_ms=600_000)),
        ),
        bots=bots,
        bot_seeds=("a", "b"),
    )


class Client:
    """A remote bot that answers with the first move."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._heard = b""

    async def say(self, message: Mapping[str, object]) -> None:
        await self._stream.send_all(json.dumps(message).encode() + b"\n")

    async def spoil(self) -> None:
        """Send a line that nobody can read."""
        await self._stream.send_all(b"what?\n")
        await self.until("error")

    async def read(self) -> dict[str, Any]:  # Any: that is how JSON is read
        while b"\n" not in self._heard:
            data = await self._stream.receive_some()
            assert data, "the connection is closed"
            self._heard += data
        text, _, self._heard = self._heard.partition(b"\n")
        message: dict[str, Any] = json.loads(text)
        return message

    async def until(self, *kinds: str) -> dict[str, Any]:
        while True:
            message = await self.read()
            if message["type"] in kinds:
                return message

    async def log_in(self, max_matches: int) -> None:
        login = {"type": "login", "protocol": 1, "name": "ann", "token": TOKEN, "language": "none"}
        await self.say(login | {"max_matches": max_matches})
        await self.until("welcome")

    async def first_asks(self, count: int) -> list[dict[str, Any]]:
        """Return the first asks in so many matches that begin."""
        asks: list[dict[str, Any]] = []
        while len(asks) < count:
            message = await self.until("start", "ask")
            if message["type"] == "ask":
                asks.append(message)
            else:
                await self.say({"type": "ready", "match": message["match"]})
        return asks

    async def ask_for_matches(self) -> dict[str, Any]:
        await self.say({"type": "matches"})
        return await self.until("match_list")

    async def play_out(self, ask: dict[str, Any]) -> None:
        while ask["type"] == "ask":
            await self.say({"type": "act", "match": ask["match"], "ask": ask["ask"], "index": 0})
            ask = await self.until("ask", "end")


async def within_time(main: Callable[[], Awaitable[T]]) -> T:
    with trio.fail_after(SECONDS):
        return await main()


async def play_at_once(
    standing: StandingServer, matches: Sequence[BotMatch], played: dict[str, MatchResult]
) -> None:
    async with trio.open_nursery() as nursery:

        async def play(match: BotMatch) -> None:
            played[match.plan.match] = await standing.play(match, frozenset())

        for match in matches:
            nursery.start_soon(play, match)


def unreadable(played: MatchResult) -> dict[str, int]:
    return {seat.bot: seat.conduct.unreadable.total() for seat in played.seats}


# -- what a remote bot says wrong ----------------------------------------------------------------------


def test_a_wrong_line_of_who_plays_two_matches_counts_to_the_one_that_ends_first_after_it() -> None:
    played: dict[str, MatchResult] = {}

    async def main() -> list[str]:
        async with open_standing_server(plan()) as standing:
            where = await standing.listen()
            assert where is not None
            async with await trio.open_tcp_stream(*where) as stream, trio.open_nursery() as nursery:
                ann = Client(stream)
                await ann.log_in(2)
                await ann.spoil()  # while it plays none
                pair = [bot_match(number, (ANN, HERE)) for number in (1, 2)]
                nursery.start_soon(play_at_once, standing, pair, played)
                first, second = await ann.first_asks(2)
                for _ in range(2):
                    await ann.spoil()
                await ann.play_out(first)
                await ann.spoil()
                await ann.play_out(second)
                await ann.spoil()
                await ann.spoil()
                nursery.start_soon(play_at_once, standing, [bot_match(3, (ANN, HERE))], played)
                [third] = await ann.first_asks(1)
                await ann.play_out(third)
            await standing.say_goodbye(finished=True)
            return [first["match"], second["match"], third["match"]]

    matches = trio.run(within_time, main)
    assert [unreadable(played[match]) for match in matches] == [
        {"ann": 2, "here": 0},
        {"ann": 1, "here": 0},
        {"ann": 0, "here": 0},
    ]


# -- who watches -------------------------------------------------------------------------------------


def test_matches_of_remote_bots_are_listed_and_those_whose_deal_is_played_again_are_not() -> None:
    """Also when they are over. The bots of a match learn no more than a spectator."""

    async def main() -> tuple[list[dict[str, Any]], str, set[str]]:
        async with open_standing_server(plan()) as standing:
            where = await standing.listen()
            assert where is not None
            async with await trio.open_tcp_stream(*where) as stream, trio.open_nursery() as nursery:
                ann = Client(stream)
                await ann.log_in(2)
                own_deal, rotation = (bot_match(number, (ANN, HERE)) for number in (1, 2))
                rotation = replace(rotation, plan=replace(rotation.plan, reveal_later=True))
                nursery.start_soon(play_at_once, standing, [own_deal, rotation], dict[str, MatchResult]())
                asks = await ann.first_asks(2)
                lists = [await ann.ask_for_matches()]
                for ask in asks:
                    await ann.play_out(ask)
                lists.append(await ann.ask_for_matches())
                await ann.say({"type": "watch", "match": "m2"})
                refused = (await ann.until("error"))["code"]
                await ann.say({"type": "watch", "match": "m1"})
                seen = {(await ann.until(kind))["match"] for kind in ("start", "event", "end")}
            await standing.say_goodbye(finished=True)
            return lists, refused, seen

    lists, refused, seen = trio.run(within_time, main)
    states = [[(one["match"], one["state"]) for one in each["matches"]] for each in lists]
    assert states == [[("m1", "running")], [("m1", "ended")]]
    assert (refused, seen) == ("protocol.no_such_match", {"m1"})


# -- processes that stay -------------------------------------------------------------------------------


def test_a_process_that_was_taken_for_a_match_that_is_given_up_keeps_nobody_waiting() -> None:
    """There may be but one: the next match waits until that has ended, and no longer."""

    async def main() -> None:
        async with open_standing_server(plan(listen_at=None)) as standing:
            await standing.listen()
            await standing.play(bot_match(1, (STAYS, HERE)), frozenset())
            with trio.CancelScope() as given_up:
                given_up.cancel()
                await standing.play(bot_match(2, (STAYS, HERE)), frozenset())
            assert given_up.cancelled_caught
            played = await standing.play(bot_match(3, (STAYS, HERE)), frozenset())
            assert [seat.asks > 0 for seat in played.seats] == [True, True]
            await standing.say_goodbye(finished=True)

    trio.run(within_time, main)


@needs("children of a process")
def test_a_process_that_stays_is_frozen_in_each_of_its_matches_and_a_remote_bot_is_not() -> None:
    def frozen(number: int, *bots: BotSpec) -> BotMatch:
        return replace(bot_match(number, bots), freeze=True)

    async def main() -> tuple[list[MatchResult], dict[str, MatchResult]]:
        async with open_standing_server(plan()) as standing:
            where = await standing.listen()
            assert where is not None
            two = [await standing.play(frozen(number, STAYS, HERE), frozenset()) for number in (1, 2)]
            with_remote: dict[str, MatchResult] = {}
            async with await trio.open_tcp_stream(*where) as stream, trio.open_nursery() as nursery:
                ann = Client(stream)
                await ann.log_in(1)
                nursery.start_soon(play_at_once, standing, [frozen(3, ANN, STAYS)], with_remote)
                [ask] = await ann.first_asks(1)
                await ann.play_out(ask)
            await standing.say_goodbye(finished=True)
            return two, with_remote

    two, with_remote = trio.run(within_time, main)
    measured = [seat.measured for played in (*two, *with_remote.values()) for seat in played.seats]
    assert [None if one is None else one.frozen for one in measured] == [True, True, True, True, None, True]
    assert [one is None for one in measured] == [False, False, False, False, True, False]


# -- where it listens --------------------------------------------------------------------------------


@pytest.mark.parametrize(("set_up_ms", "login_ms"), [(90_000, 90_000), (1_000, 30_000)])
def test_a_bot_may_log_in_as_long_as_a_match_would_wait_for_it(set_up_ms: int, login_ms: int) -> None:
    async def main() -> int:
        async with open_standing_server(plan(set_up_ms)) as standing:
            where = await standing.listen()
            assert where is not None
            async with await trio.open_tcp_stream(*where) as stream:
                hello = await Client(stream).until("hello")
            limit: int = hello["limits"]["login_ms"]
            return limit

    assert trio.run(within_time, main) == login_ms


def test_a_door_with_two_addresses_has_one_port_at_both() -> None:
    async def main() -> list[str]:
        async with open_standing_server(plan(listen_at=ListenAddress("both", 0))) as standing:
            trio.socket.set_custom_hostname_resolver(TwoAddresses())
            where = await standing.listen()
            assert where is not None
            streams = [
                await trio.open_tcp_stream(address, where[1]) for address in ("127.0.0.1", "127.0.0.2")
            ]
            greetings = [(await Client(stream).read())["type"] for stream in streams]
            for stream in streams:
                await stream.aclose()
            return greetings

    assert trio.run(within_time, main) == ["hello", "hello"]


def test_a_server_that_is_stopped_before_it_came_to_accept_anybody_never_does() -> None:
    async def main() -> None:
        async with open_server(World().setup) as server:
            where = await server.listen("127.0.0.1", 0)
            await server.stop()
            await trio.testing.wait_all_tasks_blocked()
            with pytest.raises(OSError, match="attempts to connect"):
                await trio.open_tcp_stream(*where)

    trio.run(within_time, main)


# -- what a program that plays matches is told ---------------------------------------------------------


def test_a_match_is_shown_after_its_moves_and_not_while_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(started_match, "SHOW", 0)
    shown: list[int] = []
    before: list[int] = []

    async def main() -> None:
        nonlocal before
        async with open_standing_server(plan()) as standing:
            where = await standing.listen()
            assert where is not None
            async with await trio.open_tcp_stream(*where) as stream, trio.open_nursery() as nursery:
                ann = Client(stream)
                await ann.log_in(1)
                observer = MatchObserver(lambda match: shown.append(match.decision_count))
                nursery.start_soon(standing.play, bot_match(1, (ANN, HERE)), frozenset[str](), observer)
                [ask] = await ann.first_asks(1)
                for _ in range(3):
                    await trio.testing.wait_all_tasks_blocked()
                    before = list(shown)
                    await trio.testing.wait_all_tasks_blocked()
                    assert shown == before
                    await ann.say({"type": "act", "match": "m1", "ask": ask["ask"], "index": 0})
                    ask = await ann.until("ask")
                await trio.testing.wait_all_tasks_blocked()
                assert shown[-1] > before[-1] > 0 == shown[0]
                await ann.play_out(ask)
            await standing.say_goodbye(finished=True)

    trio.run(within_time, main)


def test_a_bug_that_keeps_a_match_from_beginning_ends_the_wait_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(_: MemoryJournals, match: str) -> Journal:
        raise ZeroDivisionError(match)

    async def main() -> None:
        await play_match(bot_match(1, (HERE, replace(HERE, name="there"))), UNCONFINED)

    monkeypatch.setattr(MemoryJournals, "open", broken)
    with pytest.raises(ZeroDivisionError, match="m1"):
        trio.run(within_time, main)


def test_who_waits_for_a_signal_looks_again_after_each_change_and_at_no_other_time() -> None:
    looks: list[int] = []
    steps = 0

    async def main() -> None:
        nonlocal steps
        signal = Signal()

        def is_far_enough() -> bool:
            looks.append(steps)
            return steps >= 2

        async with trio.open_nursery() as nursery:
            nursery.start_soon(signal.until, is_far_enough)
            await trio.testing.wait_all_tasks_blocked()
            for _ in range(2):
                steps += 1
                signal.send()
                await trio.testing.wait_all_tasks_blocked()

    trio.run(within_time, main)
    assert looks == [0, 1, 2]


# -- seats of suspended bots -------------------------------------------------------------------------


SLEEPS = BotSpec("sleeps", ("sleep", "600"))


def without_first(spec: BotSpec) -> BotMatch:
    """Return a match in which the first of two bots is kept away. Its set-up would take longer than any test
    may."""
    match = bot_match(1, (spec, HERE))
    with_long_set_up = replace(match.plan, clocks=clocks_of(Time(set_up_ms=3_600_000, move_ms=600_000)))
    return replace(match, plan=with_long_set_up, suspended=frozenset({0}))


def expect_kept_away(played: MatchResult) -> None:
    away, here = seat_reports(played.result, played.seats)
    assert (away.suspended, away.faults, away.asks) == (True, (), away.defaults)
    assert away.asks > 0
    assert (here.suspended, here.faults, here.defaults) == (False, (), 0)


def test_nobody_starts_a_suspended_bot_nor_waits_for_it() -> None:
    async def play() -> MatchResult:
        return await play_match(without_first(SLEEPS), UNCONFINED)

    expect_kept_away(trio.run(within_time, play))


@pytest.mark.parametrize("spec", [ANN, STAYS], ids=["remote", "reused"])
def test_a_suspended_bot_that_stays_is_not_led_to_its_seat(spec: BotSpec) -> None:
    """The remote one is connected, and waits."""

    async def play() -> MatchResult:
        async with open_standing_server(plan()) as standing:
            where = await standing.listen()
            assert where is not None
            async with await trio.open_tcp_stream(*where) as stream:
                client = Client(stream)
                await client.log_in(max_matches=1)
                played = await standing.play(without_first(spec), frozenset())
                await standing.say_goodbye(finished=True)
                assert (await client.until("start", "bye"))["type"] == "bye"
        return played

    expect_kept_away(trio.run(within_time, play))


def test_a_connection_that_was_lost_for_a_while_is_told_apart_from_one_that_is_gone() -> None:
    for by_default, came_back in ((False, True), (True, False)):
        conduct = Conduct(NO_PROCESS, defaults=Counter({"disconnected": 2}), by_default=by_default)
        [fault] = faults_of(conduct)
        assert (fault.kind, fault.came_back) == ("disconnect", came_back)
