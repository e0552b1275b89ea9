"""Blocks carried by a cluster of Dask: one that is there, or one of this machine's own processes.

Laws:
- Dask is imported only where a cluster is used: it is the extra `cluster`;
- a task is about a second of work: as many blocks as were played in that time, but not so many that workers
  have nothing to do. Its key is the id of its first block. A block that has failed travels alone;
- whatever comes back passes the same check as a merged result (`check.py`), so nothing is lost or doubled,
  whichever of worker, scheduler and runner dies: a block that was lost is due again, with the same deal;
- a worker is trusted as the runner is: Dask's messages are pickles, which run code where they are read. But
  an answer that is no text, or an exception that cannot be read, ends its block with a sentence;
- seats are the resource: a worker plays as many blocks at a time as it has seats for.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from math import ceil
from typing import Any, Final, TypeAlias, cast

import msgspec
import trio

from stellwerk_base.texts import shown
from stellwerk_processes.bot_spec import STARTED
from stellwerk_tournament.blocks.check import checked
from stellwerk_tournament.blocks.files import BlockFileError, decode_result, encode_order, expect_sealed
from stellwerk_tournament.blocks.orders import OrderMaker
from stellwerk_tournament.blocks.serve_table import Failed, Returned, Unfit, decode_returned
from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.play.courier import BlockFailedError, DueBlock, PlayedBlock, RunError
from stellwerk_tournament.store.cup import Cup
from stellwerk_tournament.store.match_line import MOST_NAME

WINDOW: Final = 2000  # blocks with the scheduler, or about to be: it slows down with what it has
TASK_S: Final = 1.0  # of work in a task: to send one costs as much as a match of quick bots
MOST_IN_A_TASK: Final = 100
TASKS_FOR_A_SLOT: Final = 4  # with the scheduler, so that no worker waits
CONNECT_S: Final = 10
PATIENCE_S: Final = 30  # without any worker that can play, until that is said
QUIET_S: Final = 15  # without a heartbeat, until a worker is named
LOOK_S: Final = 5  # from one look at the workers to the next
RECALL_S: Final = 10  # for the workers to say what they have begun
NO_PAGES: Final = "127.0.0.1:0"  # where Dask's own pages would be, of which there are none
WORKER_TTL: Final = "60s"  # without a heartbeat, until the blocks of our own worker go to another one
MOST_TOLD: Final = 1000  # characters of what a worker says
LOSSES: Final = 3  # of workers, until a block is not given to another one
INSTALL: Final = "pip install 'stellwerk[cluster]'"

Dask: TypeAlias = Any  # its types are not known, and it is not there unless the extra is installed
Tell: TypeAlias = Callable[[str], object]


class ClusterError(Exception):
    """A cluster that cannot be used; one line says why. `is_missing`: the extra is not installed."""

    def __init__(self, message: str, *, is_missing: bool = False) -> None:
        super().__init__(message)
        self.is_missing = is_missing


@dataclass(frozen=True, slots=True)
class Parts:
    """The command's parts: a function that returns its version, also on workers, and the program of a table,
    as words for Python."""

    version: Callable[[], str]
    table: Sequence[str]


def expect_dask() -> None:
    """Raise a ClusterError if the extra is not installed."""
    if find_spec("distributed") is None or find_spec("cryptography") is None:
        raise ClusterError(f"needs Dask, which is not installed: {INSTALL}", is_missing=True)


@contextlib.contextmanager
def open_cluster(address: str | None, workers: int, cup: Cup, parts: Parts, tell: Tell) -> Generator[Cluster]:
    """Connect to the scheduler at the address, or start so many workers here. ClusterError, or SettingsError
    if the blocks cannot travel."""
    expect_dask()
    import dask as untyped

    dask: Dask = untyped
    quiet = {"distributed": "critical", "bokeh": "critical", "tornado": "critical"}
    ours: dict[str, object] = {
        "distributed.scheduler.worker-ttl": WORKER_TTL,
        "distributed.scheduler.allowed-failures": LOSSES,
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
    }
    dask.config.set({"logging": quiet, **(ours if address is None else {})})
    maker = OrderMaker(cup)
    name = f"stellwerk-{cup.id}"
    duty = partial(_duty, name, cup, maker, parts)
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(_client(address, workers, seats_of(cup.settings)))
        cluster = Cluster(client, name, cup.settings, maker, tell, f"{client.scheduler.address}")
        cluster.begin(duty(is_ours=address is None))
        try:
            yield cluster
        finally:
            cluster.end()


def seats_of(settings: Settings) -> int:
    """Return how many seats of a match have processes, at most: that many cores a block takes."""
    most = max(variant.choice.seat_count for variant in settings.variants)
    has_processes = any(entrant.bot.process in STARTED for entrant in settings.entrants)
    return most * (settings.cores_per_bot or 1) if has_processes else 1


@dataclass(slots=True, eq=False)
class _Parcel:
    """A block on its way: what is to be sent, and the task that it is part of, once it has been sent."""

    due: DueBlock
    name: str
    order: bytes
    sent: trio.Event = field(default_factory=trio.Event)
    task: _Task | None = None
    place: int = 0


@dataclass(slots=True, eq=False)
class _Task:
    """Blocks that are played one after another by one worker. `waiting` counts those nobody has taken yet."""

    future: Dask
    done: trio.Event
    waiting: int


@dataclass(slots=True)
class Cluster:
    """A courier whose blocks travel in tasks."""

    client: Dask
    name: str
    settings: Settings
    maker: OrderMaker
    tell: Tell
    address: str
    most: int = WINDOW
    takes_more: bool = True
    brings_back: bool = True
    _away: dict[str, _Task] = field(default_factory=dict[str, _Task])
    _to_send: list[_Parcel] = field(default_factory=list[_Parcel])
    _slots: int = 1  # blocks that all workers together play at a time
    _block_s: float | None = None  # what a block takes, by those that came back last
    _recalled: bool = False
    _accepted: set[str] = field(default_factory=set[str])
    _quiet: set[str] = field(default_factory=set[str])
    _failed_on: dict[int, set[str]] = field(default_factory=dict[int, set[str]])  # workers, by the block

    def begin(self, duty: Dask) -> None:
        """Let all workers be examined, those that are there and those that will come."""
        from stellwerk_tournament.blocks.cluster_worker import TournamentPlugin

        self.client.subscribe_topic(self.name, self._hear)
        try:
            self.client.register_plugin(TournamentPlugin(duty))
        except Exception as error:  # of any worker, in whichever way it fails
            text = (str(error).splitlines() or [type(error).__name__])[0]
            raise ClusterError(
                f"{self.address}: a worker cannot load Stellwerk, which it needs in the same version: {text}"
            ) from None

    def end(self) -> None:
        """Name also the workers that were lost at last, and let the others forget the tournament."""
        with contextlib.suppress(Exception):  # the scheduler may be gone
            self._look(self._workers())
            self.client.unregister_worker_plugin(self.name)

    async def play(self, due: DueBlock) -> PlayedBlock | None:
        """Have a block played by any worker. None if it was recalled before one began."""
        order = msgspec.structs.replace(self.maker.order(due), archives={})
        parcel = _Parcel(due, order.name, encode_order(order))
        self._to_send.append(parcel)
        try:
            await trio.lowlevel.checkpoint()  # those that are due at the same moment go together
            self._send()
            await parcel.sent.wait()
            if parcel.task is None:
                return None
            await parcel.task.done.wait()
            played = await trio.to_thread.run_sync(self._taken, parcel.task.future, due, parcel.place)
            if played is not None:
                seconds = sum(match.line.seconds for match in played.matches)
                self._block_s = seconds if self._block_s is None else 0.9 * self._block_s + 0.1 * seconds
            return played
        finally:
            self._put_away(parcel)

    def _send(self) -> None:
        """Send tasks as long as the workers could be without work. RunError."""
        while self._to_send and not self._recalled and len(self._away) < TASKS_FOR_A_SLOT * self._slots:
            count = 1
            if self._block_s is not None:
                share = len(self._to_send) // (2 * self._slots)
                count = min(max(1, share), MOST_IN_A_TASK, ceil(TASK_S / max(self._block_s, 0.001)))
            alone = [each.due.block.number in self._failed_on for each in self._to_send[:count]]
            if True in alone:
                count = max(1, alone.index(True))
            parcels, self._to_send = self._to_send[:count], self._to_send[count:]
            self._send_together(parcels)

    def _send_together(self, parcels: Sequence[_Parcel]) -> None:
        from stellwerk_tournament.blocks.cluster_worker import play_orders

        first = parcels[0]
        done, token = trio.Event(), trio.lowlevel.current_trio_token()

        def note(_: object) -> None:
            with contextlib.suppress(trio.RunFinishedError):
                token.run_sync_soon(done.set)

        try:
            future = self.client.submit(
                play_orders,
                self.name,
                [each.order for each in parcels],
                key=first.name,
                resources={self.name: seats_of(self.settings)},
                priority=-first.due.block.number,  # in the order of the schedule
                pure=False,
                **self._elsewhere(first.due.block.number),
            )
            future.add_done_callback(note)
        except Exception as error:
            raise self._gone() from error
        self._away[first.name] = task = _Task(future, done, len(parcels))
        for place, parcel in enumerate(parcels):
            parcel.task, parcel.place = task, place
            parcel.sent.set()

    def _put_away(self, parcel: _Parcel) -> None:
        """Forget a block, and its task when all blocks of it are forgotten. Others may be sent then."""
        task = parcel.task
        if task is None:
            self._to_send = [each for each in self._to_send if each is not parcel]
            return
        task.waiting -= 1
        if task.waiting == 0:
            self._away = {name: each for name, each in self._away.items() if each is not task}
            task.future.release()
            with contextlib.suppress(RunError):  # the blocks that wait will say it
                self._send()

    def _taken(self, future: Dask, due: DueBlock, place: int) -> PlayedBlock | None:
        """Return the result of a block, which has this place in its task. BlockFailedError, RunError."""
        status: str = future.status
        if status == "cancelled" and self._recalled:
            return None
        if status not in ("finished", "error"):
            raise self._gone()
        try:
            content = future.result(timeout=CONNECT_S)
        except BaseException as error:  # whatever a worker raised or made up; nobody interrupts this thread
            if self._has_lost_touch or self.client.status != "running":
                raise self._gone() from None
            self._failed_on.setdefault(due.block.number, set())
            raise BlockFailedError(due.rotations[0], f"the cluster: {_in_words(error)}") from None
        returned = _returned(content, due, place)
        try:
            return self._checked(returned, due)
        except BlockFailedError:
            self._failed_on.setdefault(due.block.number, set()).add(returned.worker)
            raise

    def _checked(self, returned: Returned, due: DueBlock) -> PlayedBlock:
        outcome, machine = returned.outcome, shown(returned.machine, MOST_NAME)
        if isinstance(outcome, Unfit):
            cause = shown(outcome.cause, MOST_TOLD)
            raise RunError(f"block {due.block.number} cannot be played by {machine}: {cause}")
        if isinstance(outcome, Failed):
            rotation = outcome.rotation if outcome.rotation in due.rotations else due.rotations[0]
            raise BlockFailedError(rotation, shown(outcome.cause, MOST_TOLD), machine)
        try:
            result, content, seal = decode_result(outcome.text)
            expect_sealed(content, seal, due.seed)
            return checked(result, self.settings, due)
        except BlockFileError as error:
            raise BlockFailedError(due.rotations[0], f"the result {error}", machine) from None

    def _elsewhere(self, block: int) -> dict[str, object]:
        """Return where a block that has failed is played again: by another worker, if there is one."""
        failed_on = self._failed_on.get(block)
        others = sorted(self._accepted - failed_on) if failed_on else []
        return {"workers": others, "allow_other_workers": True} if others else {}

    @property
    def _has_lost_touch(self) -> bool:
        """Return whether Dask's thread of this process has ended: a pickle can do that where it is read."""
        is_over: bool = self.client.loop.asyncio_loop.is_closed()
        return is_over

    def _gone(self) -> RunError:
        if self._has_lost_touch:
            return RunError(f"the connection to the scheduler at {self.address} ended in this process")
        return RunError(f"the scheduler at {self.address} is gone")

    # -- the workers -----------------------------------------------------------------------------

    async def watch(self) -> None:
        """Name the workers that are not heard of, for as long as the tournament is played."""
        began, warned = time.monotonic(), False
        while True:
            await trio.sleep(LOOK_S)
            with contextlib.suppress(Exception):  # a scheduler that is gone is noticed by its blocks
                self._look(await trio.to_thread.run_sync(self._workers, abandon_on_cancel=True))
            if self._has_lost_touch:
                for task in self._away.values():
                    task.done.set()
            if not warned and not self._accepted and time.monotonic() - began > PATIENCE_S:
                warned = True
                self.tell(f"{self.address}: still waiting for a worker that can play")

    def _workers(self) -> dict[str, Dask]:
        info: dict[str, Dask] = self.client.sync(self.client.scheduler.identity)["workers"]
        return info

    def _look(self, workers: Mapping[str, Dask]) -> None:
        for lost in self._accepted - workers.keys():
            self._accepted.discard(lost)
            self._quiet.discard(lost)
            self.tell(f"worker {lost} is lost: its blocks are played elsewhere")
        threads = sum(workers[address]["nthreads"] for address in self._accepted)
        self._slots = max(1, len(self._accepted), threads // seats_of(self.settings))
        for address in self._accepted:
            silent = time.time() - workers[address]["last_seen"]
            if silent > QUIET_S and address not in self._quiet:
                self._quiet.add(address)
                self.tell(f"worker {address} has not been heard of for {silent:.0f} s")
            elif silent <= QUIET_S and address in self._quiet:
                self._quiet.discard(address)
                self.tell(f"worker {address} is heard of again")

    def _hear(self, event: tuple[object, Dask]) -> None:
        """Tell what has become of a worker's examination."""
        message = event[1]
        worker = message["worker"]
        if "failed" in message:
            self._tell_of(
                f"worker {worker}, {message['machine']}: block {message['block']}: {message['failed']}; it "
                "is played again, by another worker if there is one"
            )
        elif "refused" in message:
            self._tell_of(f"worker {worker} is refused: {message['refused']}")
        elif worker not in self._accepted:
            self._accepted.add(worker)
            self._slots = max(self._slots, len(self._accepted))
            self._tell_of(
                f"worker {worker} plays, as {message['machine']}; the engine's loop takes "
                f"{message['engine_ms']:g} ms"
            )

    def _tell_of(self, text: str) -> None:
        """Tell what a worker says, on one line."""
        self.tell(shown(text, MOST_TOLD))

    async def recall(self) -> None:
        """Take back the blocks that no worker has begun."""
        self._recalled = True
        for parcel in self._to_send:
            parcel.sent.set()
        with trio.move_on_after(RECALL_S):
            await trio.to_thread.run_sync(self._recall, abandon_on_cancel=True)

    def _recall(self) -> None:
        from stellwerk_tournament.blocks.cluster_worker import running_keys

        with contextlib.suppress(Exception):  # a scheduler that is gone is noticed by its blocks
            begun: dict[str, list[str]] = self.client.run(running_keys, on_error="ignore")
            keys = {key for each in begun.values() for key in each}
            waiting = [task.future for key, task in list(self._away.items()) if key not in keys]
            self.client.cancel(waiting)


def _returned(answers: object, due: DueBlock, place: int) -> Returned:
    """Read what a task returned for one of its blocks. BlockFailedError."""
    content: object = None
    if isinstance(answers, list) and place < len(cast(list[object], answers)):
        content = cast(list[object], answers)[place]
    if not isinstance(content, bytes):
        raise BlockFailedError(due.rotations[0], f"the cluster: the result is no text, but {_kind(content)}")
    try:
        return decode_returned(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BlockFailedError(due.rotations[0], f"the cluster: the result cannot be read: {error}") from None


def _kind(content: object) -> str:
    return shown(type(content).__name__)


def _in_words(error: BaseException) -> str:
    """Return the text of an exception, if it has one that can be had."""
    if any(isinstance(each, bytes | bytearray) for each in error.args):
        return "an exception that cannot be read"  # Dask gives its pickle
    try:
        return shown(str(error), MOST_TOLD) or _kind(error)
    except BaseException:  # its own code makes the text
        return _kind(error)


def _duty(name: str, cup: Cup, maker: OrderMaker, parts: Parts, *, is_ours: bool) -> Dask:
    from stellwerk_tournament.blocks.cluster_worker import Duty

    settings = cup.settings
    tables = cup.source.file.games
    confinement = settings.confinement
    has_processes = any(entrant.bot.process in STARTED for entrant in settings.entrants)
    return Duty(
        name=name,
        cup=cup.id,
        stellwerk=cup.version,
        boards=tuple(
            (
                variant.choice.game_id,
                variant.choice.rules.rules_version,
                variant.choice.board.digest if table.board is None else "",
            )
            for variant, table in zip(settings.variants, tables, strict=True)
        ),
        confinement=replace(confinement, bind=(), hidden=()),
        needs_witness=has_processes and confinement.needs_proof,
        seats=seats_of(settings),
        has_cores=has_processes and settings.cores_per_bot is not None,
        is_ours=is_ours,
        version=parts.version,
        table=parts.table,
        archives=dict(maker.archives()),
    )


@contextlib.contextmanager
def _client(address: str | None, workers: int, seats: int) -> Generator[Dask]:
    """Connect to a scheduler, or start one here with so many workers. ClusterError."""
    import distributed as untyped

    distributed: Dask = untyped
    logging.getLogger("distributed").setLevel(
        logging.CRITICAL + 1
    )  # its tracebacks: what fails gets a sentence
    with contextlib.ExitStack() as stack:
        security: Dask = None
        if address is None:
            security = distributed.Security.temporary()  # others of this machine must not reach it
            own: Dask = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=seats,
                processes=True,
                host="tls://127.0.0.1",
                security=security,
                scheduler_kwargs={"dashboard": False, "dashboard_address": NO_PAGES},
                worker_dashboard_address=NO_PAGES,
                memory_limit=0,
                silence_logs=50,
            )
            stack.callback(_close, own)
            address = own.scheduler_address
        try:
            client: Dask = distributed.Client(
                address, timeout=CONNECT_S, set_as_default=False, security=security
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(f"{address}: there is no scheduler: {str(error).splitlines()[0]}") from None
        stack.callback(_close, client)
        yield client


def _close(end: Dask) -> None:
    with contextlib.suppress(Exception):  # there may be nothing that could be closed in order
        end.close(timeout=CONNECT_S)


def is_exposed(address: str) -> bool:
    """Return whether others may reach a scheduler that asks for no certificate."""
    host = address.partition("://")[2] or address
    own = host.startswith(("127.", "localhost", "[::1]"))
    return not (address.startswith("tls://") or own)
