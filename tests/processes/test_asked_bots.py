"""Bots in a match: stopped while nobody asks them, and timed while somebody does."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field, replace
from pathlib import Path

import trio
from msgspec import UNSET

from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_processes.asked_bots import AskedBots
from stellwerk_processes.bench.family import look_at_family
from stellwerk_processes.bench.levels import UNCONFINED
from stellwerk_processes.bench.local_bot import BotReport, LocalBot
from stellwerk_processes.bot_spec import BotSpec, built_in_command
from stellwerk_processes.seat_report import SeatReport, seat_reports
from stellwerk_processes.started_match import BotMatch, MatchObserver, MatchResult, play_match
from stellwerk_server.lobby.session import Session
from stellwerk_server.match.match_session import MatchSession
from stellwerk_server.match.plan import MatchPlan
from stellwerk_server.operate.settings import Time, clocks_of
from tests.server.support import Client, World, reserved
from tests.tools import needs

pytestmark = needs("children of a process")

GAME = GameChoice("usa", 2, (), replace(shipped_board("usa"), trains=8)).make()
BURNER = "while True: pass"
SECONDS = 60  # far more than any test takes: a test that hangs should say so
SHORT = Time(move_ms=1_000, bank_ms=0, grace_ms=0, strikes=0)

# Answers by chance, and burns the processor all the time in a thread, in a child, and in a grandchild with a
# session of its own.
SPINNER = """
import os, runpy, subprocess, sys, threading, time
if sys.argv[1] == "bot":
    subprocess.Popen([*sys.orig_argv[:-1], "child"], stdin=subprocess.DEVNULL)
    def spin():
        while True:
            pass
    threading.Thread(target=spin, daemon=True).start()
    sys.setswitchinterval(0.0001)
    sys.argv[1:] = ["random"]
    runpy.run_module("stellwerk_bots", run_name="__main__")
if sys.argv[1] == "child":
    subprocess.Popen([*sys.orig_argv[:-1], "grandchild"], start_new_session=True)
parent, until = os.getppid(), time.monotonic() + 20  # even if nobody ends it
while os.getppid() == parent and time.monotonic() < until:
    pass
"""
SPINS = (sys.executable, "-c", SPINNER, "bot")
RANDOM = built_in_command("random")
SPEC = BotSpec("bot", RANDOM)


def is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


async def until(condition: Callable[[], bool]) -> None:
    with trio.fail_after(SECONDS):
        while not condition():
            await trio.lowlevel.checkpoint()


# -- each step ---------------------------------------------------------------------------------------


@dataclass
class Holds:
    """What a server is told of clients that cannot read."""

    held: set[str] = field(default_factory=set[str])

    def hold(self, session: Session) -> None:
        self.held.add(session.id)

    def release(self, session: Session) -> None:
        self.held.remove(session.id)


class Table:
    """A match of two, whose bots are processes that burn the processor, while the test answers for them."""

    def __init__(
        self, processes: list[tuple[int, int]], *, freeze: bool = True, time: Time | None = None
    ) -> None:
        self.world = World() if time is None else World(time=time)
        self.holds = Holds()
        self.asked = AskedBots(self.holds, self.session, freeze=freeze)
        self.bots = [LocalBot(SPEC, pid=pid, supervisor=ours) for ours, pid in processes]
        for seat, bot in enumerate(self.bots):
            self.asked.add(seat, bot, own_processors=0)
        self.clients: list[Client] = []

    def begin(self) -> None:
        self.clients = reserved(self.world, asks=self.asked)

    def session(self, seat: int) -> Session | None:
        return next(one for one in self.world.lobby.sessions.by_id.values() if one.name == f"entrant{seat}")

    def stopped(self) -> list[bool]:
        return [is_stopped(bot.pid) for bot in self.bots]

    async def until_stopped(self, *stopped: bool) -> None:
        await until(lambda: self.stopped() == [*stopped])


@contextlib.contextmanager
def burning() -> Generator[list[tuple[int, int]]]:
    """Run two bots that burn the processor, each below a process of ours."""
    command = ["/bin/sh", "-c", '"$@" & echo $!; wait', "sh", sys.executable, "-I", "-c", BURNER]
    with contextlib.ExitStack() as stack:
        processes: list[tuple[int, int]] = []
        for _ in range(2):
            ours = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE))
            assert ours.stdout is not None
            processes.append((ours.pid, int(ours.stdout.readline())))
            stack.callback(os.kill, processes[-1][1], signal.SIGKILL)
        yield processes


def at_a_table(
    play: Callable[[Table], Awaitable[None]], *, freeze: bool = True, time: Time | None = None
) -> None:
    """Run a test beside the task that stops bots."""

    async def main() -> None:
        with burning() as processes, trio.fail_after(SECONDS):
            table = Table(processes, freeze=freeze, time=time)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(table.asked.keep_freezing)
                await play(table)
                nursery.cancel_scope.cancel()
            table.asked.end()

    trio.run(main)


def test_who_has_answered_is_stopped_and_who_is_asked_goes_on_before_its_ask_is_there() -> None:
    async def play(table: Table) -> None:
        assert table.stopped() == [False, False]
        table.begin()  # both choose their tickets
        table.clients[0].act(0)
        await table.until_stopped(True, False)
        assert len(table.holds.held) == 1
        table.clients[1].act(0)  # now it is the turn of the first one
        assert table.stopped()[0] is False  # at once: no task had its turn
        await table.until_stopped(False, True)
        assert len(table.holds.held) == 1

    at_a_table(play)


def test_who_has_answered_has_its_signal_before_the_next_one_goes_on() -> None:
    """Otherwise it could use the processor while the other one's clock runs, until we get it back."""

    async def play(table: Table) -> None:
        table.begin()
        table.clients[0].act(0)
        await table.until_stopped(True, False)
        table.clients[1].act(0)
        until = time.monotonic() + SECONDS
        while table.stopped() != [False, True]:
            assert time.monotonic() < until  # no task has its turn here

    at_a_table(play)


def test_who_is_asked_again_at_once_is_never_stopped() -> None:
    async def play(table: Table) -> None:
        table.begin()
        table.clients[0].act(0)
        await table.until_stopped(True, False)
        table.clients[1].act(0)
        await table.until_stopped(False, True)
        legal = table.clients[0].ask.legal
        assert legal is not UNSET
        table.clients[0].act(next(index for index, move in enumerate(legal) if b"draw_card" in bytes(move)))
        assert table.clients[0].is_asked()
        for _ in range(100):
            await trio.lowlevel.checkpoint()
            assert table.stopped() == [False, True]

    at_a_table(play)


def test_nobody_is_stopped_before_the_match_has_begun() -> None:
    async def play(table: Table) -> None:
        table.clients = reserved(table.world, asks=table.asked, come=1)
        for _ in range(100):
            await trio.lowlevel.checkpoint()
            assert table.stopped() == [False, False]

    at_a_table(play)


def test_who_is_late_is_stopped_again_after_the_default() -> None:
    async def play(table: Table) -> None:
        table.begin()
        table.clients[1].act(0)
        await table.until_stopped(False, True)
        while not table.clients[1].is_asked():
            assert table.stopped()[0] is False
            table.world.wait(1_100)  # the first one is late with its tickets, and then with its turn
        await table.until_stopped(True, False)

    at_a_table(play, time=SHORT)


def test_who_has_lost_its_connection_goes_on_only_when_it_is_asked() -> None:
    async def play(table: Table) -> None:
        table.begin()
        table.clients[0].act(0)
        await table.until_stopped(True, False)
        table.clients[0].drop()
        for _ in range(100):
            await trio.lowlevel.checkpoint()
            assert table.stopped() == [True, False]
        table.clients[1].act(0)
        assert table.stopped()[0] is False

    at_a_table(play)


def test_all_go_on_when_the_match_is_over() -> None:
    async def play(table: Table) -> None:
        table.begin()
        table.clients[0].act(0)
        await table.until_stopped(True, False)
        table.asked.end()
        assert table.stopped() == [False, False]
        assert not table.holds.held
        table.clients[1].act(0)
        for _ in range(100):
            await trio.lowlevel.checkpoint()
            assert table.stopped() == [False, False]

    at_a_table(play)


def test_a_process_that_has_ended_gets_no_signal() -> None:
    """Its id may be another one's by now."""

    async def play(table: Table) -> None:
        table.begin()
        table.bots[0].end(BotReport(0, None, stopped=False, cpu_ms=0, max_rss_kb=None, last_lines=()))
        table.clients[0].act(0)
        table.clients[1].act(0)
        await table.until_stopped(False, True)

    at_a_table(play)


def test_without_freezing_bots_are_only_timed() -> None:
    async def play(table: Table) -> None:
        table.begin()
        table.clients[0].act(0)
        for _ in range(100):
            await trio.lowlevel.checkpoint()
            assert table.stopped() == [False, False]
        table.asked.end()
        measured = table.asked.measured.get(0)
        assert measured is not None
        assert measured.frozen is None

    at_a_table(play, freeze=False)


# -- a whole match -----------------------------------------------------------------------------------


def bot_match(*commands: tuple[str, ...], freeze: bool = True, transport: str = "tcp") -> BotMatch:
    names = tuple(f"bot{number}" for number in range(len(commands)))
    return BotMatch(
        MatchPlan("match", GAME, names, bytes(32), bytes(32), clocks_of(Time(move_ms=600_000))),
        bots=tuple(
            BotSpec(name, command, transport="stdio" if transport == "stdio" else "tcp")
            for name, command in zip(names, commands, strict=True)
        ),
        bot_seeds=("a", "b"),
        freeze=freeze,
    )


def reports(played: MatchResult) -> tuple[SeatReport, ...]:
    return seat_reports(played.result, played.seats)


async def within_time(match: BotMatch, observer: MatchObserver | None = None) -> MatchResult:
    with trio.fail_after(SECONDS):
        return await play_match(match, UNCONFINED, observer or MatchObserver())


def test_a_bot_that_spins_with_its_children_plays_to_the_end_frozen() -> None:
    before = look_at_family(os.getpid()).threads.keys()  # with what earlier tests have left
    for transport in ("tcp", "stdio"):
        played = trio.run(within_time, bot_match(SPINS, RANDOM, transport=transport))
        spins, other = reports(played)
        assert spins.frozen is True
        assert other.frozen is True
        assert spins.faults == other.faults == ()
        assert spins.answer_cpu_ms
    assert look_at_family(os.getpid()).threads.keys() <= before


def test_a_match_that_is_given_up_leaves_no_stopped_process() -> None:
    before = look_at_family(os.getpid()).threads.keys()

    async def main() -> None:
        with trio.CancelScope() as scope:

            def give_up(match: MatchSession) -> bool:
                if match.decision_count:
                    scope.cancel()
                return False

            await within_time(bot_match(SPINS, SPINS), MatchObserver(has_enough=give_up))
        assert scope.cancelled_caught

    trio.run(main)
    assert look_at_family(os.getpid()).threads.keys() <= before


def test_a_remote_bot_and_one_that_is_not_to_be_frozen_have_no_word_of_it() -> None:
    played = trio.run(within_time, bot_match(RANDOM, RANDOM, freeze=False))
    for report in reports(played):
        assert not isinstance(report.frozen, bool)
        assert isinstance(report.answer_cpu_ms, int)
