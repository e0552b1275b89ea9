"""The whole server in virtual time: clients of every temper, crashes at every write, all from one seed.

Nothing here is a fake but the clock and the network: the server, its tasks, its journals on disk and its
recovery are the real ones. Bytes arrive in pieces of any size; clients lose their connections in the middle
of lines, come back, take over from themselves, answer twice, late, wrongly or not at all; and the server dies
before, in and after any write to its journals, and starts again from what is on disk. With a `Disk` it runs
as with `--sync`: each wait for the disk takes its time, and when the server dies the power is cut, so that
everything is lost that the disk had not been waited for. A `Witness` watches each client. Trio's scheduler is
seeded as well, so a seed is a whole course of events: what fails once fails again.
"""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import cycle
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import trio
from trio._core import _run as scheduler  # pyright: ignore[reportPrivateUsage]
from trio.testing import MockClock, memory_stream_pair, memory_stream_pump, wait_all_tasks_blocked

from stellwerk.shared.house_bots import house_bots
from stellwerk_engine.boards.board_file import BoardFile, board_content, parse_board, shipped_board
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.replays.verify import verify
from stellwerk_server.journal.journal import SUFFIX, FileJournal, Journals
from stellwerk_server.lobby.recovery import Recovered, recover
from stellwerk_server.lobby.rooms import GameShelf
from stellwerk_server.lobby.setup import LobbySetup
from stellwerk_server.net.server import Server, open_server
from stellwerk_server.net.transports import StreamTransport
from stellwerk_server.operate.settings import Limits, Time
from tests.server.net.witness import LawBrokenError, Message, Witness

MemoryStream = trio.StapledStream[trio.testing.MemorySendStream, trio.testing.MemoryReceiveStream]

TIME = Time(set_up_ms=5_000, move_ms=1_000, bank_ms=2_000)
LIMITS = Limits(login_ms=5_000)
DOWN_SECONDS = 0.2  # until a server that died is there again
WATCHES = 20  # how often a spectator looks whether there is a match
PATIENCE = 15.0  # seconds in a room, until a client would rather practice
STORY = "story.txt"  # what is left in the folder when a law is broken
WAITS = 8  # for the disk, at most, until a line that was due is there: for the one under way, and for its own
DAYS = 1e6  # of virtual seconds: by then something waits for what never comes

GARBAGE: tuple[tuple[bytes, str], ...] = (
    (b"", "wire.not_json"),
    (b"hello?", "wire.not_json"),
    (b"\xff\xfe", "wire.not_utf8"),
    (b"[" * 100, "wire.too_deep"),
    (b"[]", "protocol.not_an_object"),
    (b'{"type":"ping","echo":1e400}', "wire.bad_number"),
    (b'{"type":"ping","echo":1,"echo":2}', "wire.duplicate_name"),
    (b'{"type":"pang"}', "protocol.unknown_type"),
    (b'{"type":"act","match":"nowhere","ask":1,"index":0}', "protocol.no_such_match"),
    (b'{"type":"act","match":"m"}', "protocol.missing_field"),
    (b'{"type":"login","protocol":1,"name":"again"}', "protocol.out_of_phase"),
    (b'{"type":"leave"}', "protocol.wrong_value"),
)


# -- who plays ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Temper:
    """How often a client does what: chances in a thousand, for each line that it gets or sends."""

    drops: int = 0  # closes, in the middle of a line too
    asks_again: int = 0  # answers twice
    errs: int = 0  # sends an index that is none, first
    babbles: int = 0  # sends something that is no message
    pings: int = 0
    floods: int = 0
    takes_over: int = 0  # goes on over a second connection while the first is still there
    sleeps: int = 0  # longer than its clock allows
    leaves: int = 0
    watches: bool = False  # plays nothing, and looks on at a match
    is_slow: bool = False  # reads so slowly that the server has to wait
    thinks: float = 0.5  # seconds at most


CALM = Temper()
SILENT = Temper(sleeps=1000)
WILD = Temper(drops=10, asks_again=50, errs=50, babbles=50, pings=50, floods=5, takes_over=10, leaves=3)


def some_temper(chance: Random) -> Temper:
    if chance.random() < 0.25:
        return CALM
    return Temper(
        drops=chance.choice((0, 2, 10)),
        asks_again=chance.choice((0, 50)),
        errs=chance.choice((0, 50)),
        babbles=chance.choice((0, 50)),
        pings=chance.choice((0, 100)),
        floods=chance.choice((0, 0, 5)),
        takes_over=chance.choice((0, 5)),
        sleeps=chance.choice((0, 0, 30, 500)),
        leaves=chance.choice((0, 0, 3)),
        watches=chance.random() < 0.1,
        is_slow=chance.random() < 0.1,
        thinks=chance.choice((0.0, 0.5, 2.0)),
    )


@dataclass(frozen=True)
class Disk:
    """One that has to be waited for, up to so many seconds each time. At one of these waits it may fail."""

    slowest: float = 0.05
    fails_at: int = 0


@dataclass
class Story:
    """What happened, for who compares or looks into it."""

    lines: list[str] = field(default_factory=list[str])
    log: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    deaths: list[str] = field(default_factory=list[str])  # what was being written
    writes: int = 0  # to journals
    replays: int = 0
    syncs: int = 0  # waits for the disk
    failed: list[str] = field(default_factory=list[str])  # matches that the disk has lost

    def of(self, name: str) -> list[str]:
        """Return what one client sent and got, with its time."""
        return [line for line in self.lines if line.split(" ", 2)[1] == name]


# -- the world ---------------------------------------------------------------------------------------


def simulate(
    seed: str,
    folder: Path,
    *,
    tempers: tuple[Temper, ...] | None = None,
    deaths: Sequence[int] | None = None,
    practice: str | None = None,
    disk: Disk | None = None,
) -> Story:
    """Simulate one course of events. LawBrokenError names the seed and what was wrong.

    `deaths` says after how many writes to its journals the server dies, each time anew; waits for a `disk`
    count too. `practice`: the first client plays one match against a house bot, on this seed, and the others
    come after it has begun.
    """
    chance = Random(seed)
    if tempers is None:
        tempers = tuple(some_temper(chance) for _ in range(chance.randint(2, 6)))
    if deaths is None:
        longest = chance.choice((5, 20, 60))
        deaths = [chance.randint(1, longest) for _ in range(chance.choice((0, 0, 1, 3)))]
    world = _World(seed, folder, tempers, deaths, practice, disk)
    with _seeded_scheduler(seed):
        try:
            trio.run(world.run, clock=world.clock)
        except* Exception as group:
            (folder / STORY).write_text("\n".join(world.story.lines), "utf-8")
            first = _first_of(group)
            what = str(first) if isinstance(first, LawBrokenError) else repr(first)
            raise LawBrokenError(f"seed {seed!r}: {what}") from first
    return world.story


class _World:
    """`chance` is for the network and the deaths; each client and the server have their own."""

    def __init__(
        self,
        seed: str,
        folder: Path,
        tempers: tuple[Temper, ...],
        deaths: Sequence[int],
        practice: str | None,
        disk: Disk | None,
    ) -> None:
        self.disk = disk
        self.disk_chance = Random(f"{seed}/disk")
        self.on_disk: dict[str, int] = {}  # of a match that goes on: how many of its events
        self.clock = MockClock()
        self.story = Story()
        self.chance = Random(f"{seed}/world")
        self.server: Server | None = None
        self.up = trio.Event()
        self.is_over = trio.Event()
        self.practice = practice
        self.folder = folder
        self._seed = seed
        self._entropy = Random(f"{seed}/entropy")
        self._clients = [_Client(self, f"c{number}", temper) for number, temper in enumerate(tempers)]
        self._life: _Life | None = None
        self._kernels = cycle((_SocketKernel, _Kernel))
        self._deaths = list(deaths)
        self._nursery: trio.Nursery | None = None
        self.began_to_play = trio.Event()

    async def run(self) -> None:
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            nursery.start_soon(self._let_time_pass)
            nursery.start_soon(self._serve_again_and_again)
            async with trio.open_nursery() as clients:
                for client in self._clients:
                    clients.start_soon(client.live)
                    if self.practice is not None:
                        await self.began_to_play.wait()
            await self._end()
            nursery.cancel_scope.cancel()
        self._look_at_the_end()

    async def _let_time_pass(self) -> None:
        """Jump to the next deadline whenever all tasks wait."""
        while True:
            await wait_all_tasks_blocked()
            seconds = trio.lowlevel.current_statistics().seconds_to_next_deadline
            if self.clock.current_time() + seconds > DAYS:
                raise LawBrokenError("everybody waits for something that does not come")
            if seconds > 0:
                self.clock.jump(seconds)
                if self.server is not None:
                    self.server.clock.after_io_wait(inf)  # it was waiting, and is not late

    async def _serve_again_and_again(self) -> None:
        while True:
            life = self._life = _Life()
            journals = _MortalJournals(self, life)
            async with open_server(
                self._house(life, journals), journals, piece_ms=inf, few_connections=0
            ) as server:
                recovered = recover(server.lobby, journals, server.clock.now())
                self._expect_all_back(recovered)
                server.flush()
                self.server = server
                self.up.set()
                await life.is_over.wait()
                self.server = None
                self.up = trio.Event()
            if self.disk is not None:
                for journal in life.journals:
                    journal.lose_power(self.disk_chance)
            await trio.sleep(DOWN_SECONDS)

    def _expect_all_back(self, recovered: Recovered) -> None:
        """Expect all matches back but one whose first line was not written whole: nobody has heard of it."""
        known = {match for client in self._clients for match in client.witness.matches}
        unusable = {name: why for name, why in recovered.put_aside.items() if Path(name).stem in known}
        if unusable:
            raise LawBrokenError(f"unusable: {unusable}")
        unborn = known & {*recovered.unborn}
        if unborn:
            raise LawBrokenError(f"somebody has heard of {unborn}, and the disk has not")

    def _house(self, life: _Life, journals: Journals) -> LobbySetup:
        return LobbySetup(
            server="stellwerk simulated",
            limits=LIMITS,
            time=TIME,
            games=short_games(),
            log=_Log(self.story.log, life),
            entropy=self._entropy.randbytes,
            house_bots=house_bots(),
            open_journal=journals.open,
        )

    async def _end(self) -> None:
        """Wait until the players that are still there have played every match to its end."""
        self._deaths.clear()
        while self.server is None:
            await self.up.wait()
        await self.server.drain()

    def _look_at_the_end(self) -> None:
        journals = Journals(self.folder)
        left = sorted(path.name for path in journals.left_over())
        if left:
            raise LawBrokenError(f"left behind: {left}")
        for record in self.story.log:
            is_expected = record.get("match") in self.story.failed
            if (record["level"] == "error" or record["event"] == "match.failed") and not is_expected:
                raise LawBrokenError(f"in the log: {record}")
        hashes: dict[str, str] = {}
        for path in sorted(journals.replays.glob("*.jsonl")):
            verdict = verify(path.read_bytes().splitlines(keepends=True))
            if verdict.fault is not None:
                raise LawBrokenError(f"{path.name}: line {verdict.line}: {verdict.message}")
            hashes[path.stem] = json.loads(path.read_bytes().splitlines()[-1])["hash"]
        self.story.replays = len(hashes)
        for client in self._clients:
            for end in client.witness.results:
                if hashes.get(end["match"]) != end["transcript"]:
                    raise LawBrokenError(f"the replay of {end['match']} is not the one that was promised")

    # -- what clients and journals need ----------------------------------------------------------

    def connect(self, name: str, network: Random, *, is_slow: bool) -> tuple[MemoryStream, _Life]:
        """Connect to the server, which must be up, by pipes or by a socket that takes some bytes at once."""
        server = self.server
        assert server is not None
        assert self._life is not None
        client_end, server_end = memory_stream_pair()
        self._life.streams += [client_end, server_end]
        if is_slow:

            async def pump_slowly() -> None:
                memory_stream_pump(server_end.send_stream, client_end.receive_stream)
                await trio.sleep(self.chance.choice((0.0, 0.3, 1.0, 6.0)))

            server_end.send_stream.send_all_hook = pump_slowly
        transport = _Kernel(server_end, client_end, network)

        async def serve() -> None:
            await server._serve(  # pyright: ignore[reportPrivateUsage]  # as `_handle` does with a socket
                transport, name, "tcp", is_private=True
            )

        server.nursery.start_soon(serve)
        return client_end, self._life

    def expect_on_disk(self, event: Message) -> None:
        """Check that the disk has every event that a client hears of."""
        known = self.on_disk.get(event["match"])
        if self.disk is not None and known is not None and event["number"] > known:
            raise LawBrokenError(f"event {event['number']} is sent, and the disk has {known}")

    def start(
        self, task: Callable[[MemoryStream, _Life], Awaitable[None]], stream: MemoryStream, life: _Life
    ) -> None:
        """Start a task beside the clients."""
        assert self._nursery is not None
        self._nursery.start_soon(task, stream, life)

    def running(self) -> list[str]:
        """Return the ids of the matches that go on."""
        return [] if self.server is None else list(self.server.lobby.matches.running)

    def ended(self) -> list[str]:
        """Return the ids of the matches that are over, and whose end some player may not have heard."""
        if self.server is None:
            return []
        return [match.id for match in self.server.lobby.sessions.ended_matches]

    def dies_now(self, writing: str) -> bool:
        """Return whether the server dies at this write."""
        self.story.writes += 1
        if self._deaths:
            self._deaths[0] -= 1
        if self._deaths[:1] != [0]:
            return False
        self._deaths.pop(0)
        self.story.deaths.append(writing)
        return True

    def note(self, name: str, direction: str, text: bytes) -> None:
        now = self.clock.current_time()
        self.story.lines.append(f"{now:.6f} {name} {direction} {text.decode(errors='backslashreplace')}")


class _Kernel(StreamTransport):
    """A transport that takes some bytes at once, as a socket does."""

    __slots__ = ("_chance", "_peer")

    def __init__(self, stream: MemoryStream, peer: MemoryStream, chance: Random) -> None:
        super().__init__(stream)
        self._peer = peer
        self._chance = chance

    def try_send(self, data: bytes) -> int:
        taken = len(data) if self._chance.random() < 0.8 else self._chance.randint(0, len(data))
        try:
            if taken:
                self._peer.receive_stream.put_data(data[:taken])
        except trio.ClosedResourceError:
            return 0
        return taken


class _SocketKernel(_Kernel):
    """One whose bytes come in over a real socket, so that the server's shared reader reads them."""

    __slots__ = ("_ear", "_mouth")

    def __init__(self, stream: MemoryStream, peer: MemoryStream, chance: Random) -> None:
        super().__init__(stream, peer, chance)
        self._ear, mouth = socket.socketpair()
        self._ear.setblocking(False)
        self._mouth = trio.SocketStream(trio.socket.from_stdlib_socket(mouth))
        peer.send_stream.send_all_hook = self._bring
        peer.send_stream.close_hook = self._mouth.socket.close

    @property
    def plain_socket(self) -> socket.socket:
        return self._ear

    async def _bring(self) -> None:
        await self._mouth.send_all(self._peer.send_stream.get_data_nowait())

    async def close(self, *, lingers: bool) -> None:
        await super().close(lingers=lingers)
        self._ear.close()
        self._mouth.socket.close()


class _Life:
    """The life of a server, until it is killed. Then all its connections break, and it writes nothing
    more."""

    def __init__(self) -> None:
        self.is_over = trio.Event()
        self.streams: list[MemoryStream] = []
        self.journals: list[_MortalJournal] = []

    def end(self) -> None:
        self.is_over.set()
        for stream in self.streams:
            stream.send_stream.close()
            stream.receive_stream.close()
        for journal in self.journals:
            journal.close()


class _MortalJournals(Journals):
    """Those of one life: real ones, as long as it lasts."""

    def __init__(self, world: _World, life: _Life) -> None:
        super().__init__(world.folder, sync=world.disk is not None)
        self.world = world
        self.life = life

    async def sync(self, journal: FileJournal) -> None:
        """Sync what was written before. The moment at which it reaches the disk is unknown."""
        world, disk = self.world, self.world.disk
        assert disk is not None
        assert isinstance(journal, _MortalJournal)
        if self.life.is_over.is_set():
            return
        world.story.syncs += 1
        if world.story.syncs == disk.fails_at:
            await trio.sleep(world.disk_chance.uniform(0, disk.slowest))
            world.story.failed.append(journal.match)
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        if world.dies_now("sync"):
            self.life.end()
            return
        written = journal.written
        journal.sync()
        await trio.sleep(world.disk_chance.uniform(0, disk.slowest))
        journal.reaches_disk(written)
        if not self.life.is_over.is_set() and world.dies_now("synced"):
            self.life.end()

    def open(self, match: str) -> FileJournal:
        return _MortalJournal(self, self.running / f"{match}{SUFFIX}", os.O_CREAT | os.O_EXCL)

    def reopen(self, path: Path, size: int) -> FileJournal:
        os.truncate(path, size)
        return _MortalJournal(self, path, 0)

    def kept(self, path: Path, size: int) -> FileJournal:
        os.truncate(path, size)
        return _MortalJournal(self, path, None)

    def left_over(self, suffix: str = SUFFIX) -> list[Path]:
        """Return the journals by name, because the precision of file times depends on the machine."""
        return sorted(super().left_over(suffix))


class _MortalJournal(FileJournal):
    def __init__(self, journals: _MortalJournals, path: Path, flags: int | None) -> None:
        super().__init__(journals, path, flags)
        self._world = journals.world
        self._life = journals.life
        self._life.journals.append(self)
        there = b"" if flags else path.read_bytes()  # after a crash: what the disk has
        self.written = self._on_disk = (len(there), _events_in(there))
        self.is_finished = flags is None
        if not self.is_finished:
            self._world.on_disk[self.match] = self.written[1]

    def reaches_disk(self, written: tuple[int, int]) -> None:
        self._on_disk = max(self._on_disk, written)
        if not self.is_finished:
            self._world.on_disk[self.match] = self._on_disk[1]

    def lose_power(self, chance: Random) -> None:
        """Cut the file somewhere after the part that has reached the disk for sure."""
        if not self.is_finished and self._path.exists():
            size, _ = self._on_disk
            os.truncate(
                self._path, chance.choice((size, size, chance.randint(size, self._path.stat().st_size)))
            )

    def append(self, lines: bytes) -> None:
        """Append lines. The server may die before the write, in the middle of it, or after it."""
        if self._life.is_over.is_set():
            return
        if self._world.dies_now(_kind_of(lines)):
            chance = self._world.chance
            written = chance.choice((0, chance.randint(0, len(lines)), len(lines)))
            super().append(lines[:written])
            self._life.end()
        else:
            super().append(lines)
            size, events = self.written
            self.written = (size + len(lines), events + _events_in(lines))

    def finish(self, times: bytes) -> Path:
        if not self._life.is_over.is_set() and self._world.dies_now("replay"):
            self._life.end()
        if self._life.is_over.is_set():
            return self._path
        replay = super().finish(times)
        self.is_finished = True
        self._world.on_disk.pop(self.match, None)
        return replay

    def discard(self) -> None:
        if not self._life.is_over.is_set():
            super().discard()

    def abandon(self) -> None:
        if not self._life.is_over.is_set():
            super().abandon()

    def note(self, lines: bytes) -> None:
        if not self._life.is_over.is_set():
            super().note(lines)

    def forget(self) -> None:
        if not self._life.is_over.is_set():
            super().forget()


def _events_in(lines: bytes) -> int:
    """Return how many events some lines of a journal record."""
    return sum(len(json.loads(line).get("events", ())) for line in lines.splitlines())


def _kind_of(lines: bytes) -> str:
    """Return a word for what is written to a journal."""
    for sign, kind in (
        (b'"journal":"match"', "set-up"),
        (b'"journal":"session"', "resume"),
        (b'"type":"end"', "end"),
        (b'"type":"move"', "move"),
    ):
        if sign in lines:
            return kind
    return "choice"  # of a seat, while others still owe theirs


class _Log:
    def __init__(self, records: list[dict[str, Any]], life: _Life) -> None:
        self._records = records
        self._life = life

    def info(self, event: str, **data: object) -> None:
        self._add("info", event, data)

    def warning(self, event: str, **data: object) -> None:
        self._add("warning", event, data)

    def error(self, event: str, **data: object) -> None:
        self._add("error", event, data)

    def _add(self, level: str, event: str, data: dict[str, object]) -> None:
        if not self._life.is_over.is_set():
            self._records.append({"level": level, "event": event, **data})


# -- a client ----------------------------------------------------------------------------------------


class _Client:
    """Plays one match to its end, whatever happens to it or to the server on the way."""

    def __init__(self, world: _World, name: str, temper: Temper) -> None:
        waits = 0.0 if world.disk is None else world.disk.slowest * 1000 * WAITS
        self.witness = Witness(exact=not temper.is_slow, floods=temper.floods > 0, waits_ms=waits)
        self._world = world
        self._temper = temper
        self._chance = Random(f"{world.practice or ''}{name}/{world.chance.random()}")
        self._network = Random(f"{name}/{world.chance.random()}")  # cuts what comes: how often, nobody knows
        self._client = name
        self._name = name
        self._names = 0
        self._session: Message | None = None
        self._older_key = ""
        self._used_newest = True
        self._has_used_older = False  # since the last welcome; then that one may be the good one
        self._room: str | None = None
        self._gave_up: set[str] = set()  # matches; whether the server has heard of it is not known
        self._has_left = False
        self._stream: MemoryStream | None = None
        self._life: _Life | None = None
        self._is_left_open = False
        self._has_said_all = False

    @property
    def _is_done(self) -> bool:
        return bool(self.witness.results) or self._has_left

    async def live(self) -> None:
        while not self._is_done:
            while self._world.server is None:
                await self._world.up.wait()
            stream, life = self._world.connect(self._client, self._network, is_slow=self._temper.is_slow)
            self._is_left_open = self._has_said_all = False
            try:
                await self._talk(stream, life)
            finally:
                if self._is_left_open:
                    self._world.start(_expect_takeover, stream, life)
                else:
                    stream.send_stream.close()
                    stream.receive_stream.close()
            await trio.sleep(self._chance.choice((0.0, 0.05, 1.0, 6.0)))

    async def _talk(self, stream: MemoryStream, life: _Life) -> None:
        """Talk over one connection, until it is over."""
        self._stream, self._life = stream, life
        self._room = None
        self.witness.connected()
        self._world.note(self._client, "*", b"connects")
        heard, to_do = trio.open_memory_channel[Message](inf)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._listen, stream, life, heard, nursery.cancel_scope)
            await self._react(to_do)
            nursery.cancel_scope.cancel()

    async def _listen(
        self,
        stream: MemoryStream,
        life: _Life,
        heard: trio.MemorySendChannel[Message],
        talk: trio.CancelScope,
    ) -> None:
        begun = b""
        try:
            while data := bytes(await stream.receive_some(self._network.choice((1, 100, 5_000, 100_000)))):
                *lines, begun = (begun + data).split(b"\n")
                for line in lines:
                    self._world.note(self._client, "<", line)
                    message = self.witness.received(line, trio.current_time())
                    if message["type"] == "event":
                        self._world.expect_on_disk(message)
                    heard.send_nowait(message)
                    if self._network.random() * 1000 < self._temper.drops:
                        self._world.note(self._client, "*", b"drops")
                        talk.cancel()
                        return
            if not life.is_over.is_set() and not self._temper.is_slow:  # who is slow may be cut off
                self.witness.closed_by_server(had_said_all=self._has_said_all)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        self._world.note(self._client, "*", b"is cut off")
        heard.close()

    async def _react(self, to_do: trio.MemoryReceiveChannel[Message]) -> None:
        """React to messages until no more come, or until the client has had enough of this connection."""
        try:
            while True:
                message = None
                with trio.move_on_after(inf if self._room is None else PATIENCE):
                    message = await to_do.receive()
                if message is None:
                    room, self._room = self._room, None
                    await self._say({"type": "leave", "room": room})
                elif not await self._answer(message):
                    return
        except (trio.EndOfChannel, trio.BrokenResourceError, trio.ClosedResourceError):
            pass

    async def _answer(self, message: Message) -> bool:
        """Answer a message. Return False if this connection is over."""
        match message["type"]:
            case "hello":
                await self._say(self._login())
            case "welcome":
                await self._welcomed(message)
            case "joined" if message["missing"]:
                self._room = message["room"]
            case "joined":
                self._room = None
            case "left" if "room" in message:
                await self._join_practice("usa", "")
            case "left":
                self._has_left = True
                await self._say_goodbye()
            case "start":
                self._room = None
                self._world.began_to_play.set()
                if "seat" in message:
                    await self._make_ready(message["match"])
            case "ask":
                return await self._asked(message)
            case "end":
                await self._say_goodbye()
            case "error":
                await self._refused(message)
            case _:
                pass
        return True

    # -- logins ----------------------------------------------------------------------------------

    def _login(self) -> Message:
        login: Message = {"type": "login", "protocol": 1, "name": self._name}
        login["wants"] = {"view": self._chance.random() < 0.3}
        if self._session is not None:
            self._used_newest = not self._older_key or self._chance.random() < 0.9
            self._has_used_older = self._has_used_older or not self._used_newest
            key = self._session["resume_key"] if self._used_newest else self._older_key
            seen = {id: self._events_of(id) for id in self.witness.matches}
            login["resume"] = {"session": self._session["session"], "key": key, "last_events": seen}
        return login

    def _events_of(self, match: str) -> int:
        return 0 if self._chance.random() < 0.2 else self.witness.matches[match].events

    async def _welcomed(self, welcome: Message) -> None:
        if self._session is not None:
            self._older_key = self._session["resume_key"]
        self._session = welcome
        self._has_used_older = False
        if self._temper.watches:
            await self._watch()
        elif self.witness.matches:
            if self._is_done:
                await self._say_goodbye()
            for id in self.witness.matches:  # whether it came is not known
                await self._make_ready(id)
        elif self._world.practice is not None and self._client == "c0":
            await self._join_practice("usa", self._world.practice)
        else:
            game, players = self._chance.choice((("usa", 2), ("usa", 2), ("usa", 3), ("card_game", 2)))
            await self._say({"type": "join", "game": game, "players": players})

    async def _watch(self) -> None:
        """Watch the oldest match that goes on, or leave if there is none for long."""
        for _ in range(WATCHES):
            if running := self._world.running():
                await self._say({"type": "watch", "match": running[0]})
                return
            await trio.sleep(0.5)
        self._has_left = True
        await self._say_goodbye()

    async def _join_practice(self, game: str, seed: str) -> None:
        join: Message = {"type": "join", "game": game, "players": 2, "against": ["random"]}
        if seed:
            join["seed"] = seed
        await self._say(join)

    async def _make_ready(self, match: str) -> None:
        if self._chance.random() < 0.9 or self._temper == CALM:
            await trio.sleep(self._chance.choice((0.0, 0.0, 1.0)))
            await self._say({"type": "ready", "match": match})

    async def _refused(self, error: Message) -> None:
        match error["code"]:
            case "auth.name_taken":
                await self._log_in_afresh()
            case "auth.bad_resume_key" if self._used_newest and not self._has_used_older:
                seats = self.witness.matches.items()
                lost = {id for id, seen in seats if "seat" in seen.start and not seen.is_over}
                lost -= self._gave_up
                if lost & {*self._world.running(), *self._world.ended()}:
                    raise LawBrokenError(f"{self._client} cannot go on with {lost}")
                await self._log_in_afresh()
            case "auth.bad_resume_key":
                await self._try_the_other_key()
            case "protocol.no_such_match" if self._temper.watches and not self.witness.matches:
                await self._watch()
            case "server.failed" if error.get("match") in self._world.story.failed:
                self._has_left = True
                await self._say_goodbye()
            case "auth.not_allowed" | "server.busy" | "server.failed" | "protocol.wrong_value":
                if error.get("pointer") != "":
                    self._blame(error)
            case _:
                pass

    def _blame(self, error: Message) -> None:
        expected = [code for _, code in GARBAGE]
        if error["code"] not in expected or "/resume" in error.get("pointer", ""):
            raise LawBrokenError(f"{self._client} got {error}")

    async def _try_the_other_key(self) -> None:
        assert self._session is not None
        if self._used_newest:
            self._session = {**self._session, "resume_key": self._older_key}
        self._older_key = ""
        self._has_used_older = False
        await self._say(self._login())

    async def _log_in_afresh(self) -> None:
        self._names += 1
        self._name = f"{self._client}-{self._names}"
        self._session = None
        self._older_key = ""
        self.witness.matches.clear()
        await self._say(self._login())

    # -- asks ------------------------------------------------------------------------------------

    async def _asked(self, ask: Message) -> bool:
        temper, chance = self._temper, self._chance
        if self._does(temper.takes_over) and not temper.is_slow:
            return self._take_over()
        if self._does(temper.sleeps):
            await trio.sleep((ask["move_ms"] + ask["bank_ms"]) / 1000 + chance.choice((0.0, 0.2, 3.0)))
        else:
            await trio.sleep(chance.uniform(0, temper.thinks))
        if temper == SILENT:
            return True
        for happens, what in (
            (temper.pings, self._ping),
            (temper.babbles, self._babble),
            (temper.floods, self._flood),
            (temper.errs, lambda: self._act(ask, 999)),
            (temper.leaves, lambda: self._leave(ask["match"])),
        ):
            if self._does(happens):
                await what()
        moves = len(ask["legal"])
        index = int(chance.random() * moves)
        if self._does(temper.asks_again):
            await self._act(ask, index)
        await self._act(ask, index)
        return True

    async def _act(self, ask: Message, index: int) -> None:
        await self._say({"type": "act", "match": ask["match"], "ask": ask["ask"], "index": index})

    async def _leave(self, match: str) -> None:
        self._gave_up.add(match)
        await self._say({"type": "leave", "match": match})

    async def _ping(self) -> None:
        await self._say({"type": "ping", "echo": self._chance.randint(0, 9)})

    async def _babble(self) -> None:
        text, code = self._chance.choice(GARBAGE)
        self.witness.sent_garbage(code)
        await self._send(text + b"\n")

    async def _flood(self) -> None:
        for _ in range(60):
            self.witness.sent({"type": "ping"})
        await self._send(b'{"type":"ping"}\n' * 60)

    def _take_over(self) -> bool:
        """Leave this connection open, and go on over another one."""
        self._world.note(self._client, "*", b"takes over")
        self._is_left_open = True
        return False

    # -- bytes -----------------------------------------------------------------------------------

    async def _say(self, message: Message) -> None:
        self.witness.sent(message)
        await self._send(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        self.witness.has_sent(message, trio.current_time())

    async def _send(self, data: bytes) -> None:
        """Send the data in pieces, and perhaps never to the end."""
        assert self._stream is not None
        self._world.note(self._client, ">", data[:300].rstrip(b"\n"))
        drops_at = self._chance.randrange(len(data)) if self._does(self._temper.drops) else len(data)
        sent = 0
        while sent < drops_at:
            size = self._chance.choice((1, 7, 100_000, 100_000, 100_000))
            piece = data[sent : min(sent + size, drops_at)]
            await self._stream.send_all(piece)
            sent += len(piece)
            if self._chance.random() < 0.1:
                await trio.sleep(self._chance.choice((0.0, 0.01)))
        if drops_at < len(data):
            self._world.note(self._client, "*", b"drops in the middle of a line")
            raise trio.ClosedResourceError

    async def _say_goodbye(self) -> None:
        assert self._stream is not None
        self._has_said_all = True
        await self._stream.send_eof()

    def _does(self, chances: int) -> bool:
        return chances > 0 and self._chance.random() * 1000 < chances


async def _expect_takeover(stream: MemoryStream, life: _Life) -> None:
    """Check that the connection left open hears why it ends."""
    read = b""
    try:
        while data := bytes(await stream.receive_some(4096)):
            read += data
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        return
    finally:
        stream.send_stream.close()
        stream.receive_stream.close()
    if life.is_over.is_set():
        return
    if b'{"type":"bye"' not in read:
        raise LawBrokenError(f"a connection that was taken over ends with {read[-200:]!r}")


# -- small things ------------------------------------------------------------------------------------


@cache
def short_games() -> GameShelf:
    """Return all games, with so few trains that a match is over soon."""
    boards: dict[str, BoardFile] = {}
    for id, rules in RULE_SETS.items():
        board = shipped_board(rules.board)
        if board.trains:
            short = replace(board, trains=9)
            boards[id] = parse_board(json.dumps(board_content(short)), id)
    return GameShelf(boards)


@contextmanager
def _seeded_scheduler(seed: str) -> Generator[None]:
    """Derive Trio's order of tasks from a seed, as its plugin for Hypothesis does. There is no public way."""
    chance: Random = scheduler._r  # pyright: ignore[reportPrivateUsage]
    state = chance.getstate()
    switch = "_ALLOW_DETERMINISTIC_SCHEDULING"
    was_on: bool = getattr(scheduler, switch)
    chance.seed(seed)
    setattr(scheduler, switch, True)
    try:
        yield
    finally:
        setattr(scheduler, switch, was_on)
        chance.setstate(state)


def _first_of(group: BaseExceptionGroup[Exception]) -> BaseException:
    """Return the first exception of a tree of them."""
    first: BaseException = group
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first
