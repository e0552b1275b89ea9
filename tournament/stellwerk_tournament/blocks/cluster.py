"""Blocks carried by a cluster of Dask: one that is there, or one of this machine's own processes.

Laws:
- Dask is imported only where a cluster is used: it is the extra `cluster`;
- a block is a task, and its key is the block's id. At most a few thousand are with the scheduler at a time;
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
from typing import Any, Final, TypeAlias

import msgspec
import trio

from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_processes.bot_spec import STARTED
from stellwerk_protocol.canonical import shown
from stellwerk_tournament.blocks.check import checked
from stellwerk_tournament.blocks.files import BlockFileError, decode_result, encode_order, expect_sealed
from stellwerk_tournament.blocks.orders import Cup, OrderMaker
from stellwerk_tournament.blocks.serve_table import Failed, Returned, Unfit, decode_returned
from stellwerk_tournament.config.sandbox import needs_proof
from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.play.courier import BlockFailedError, DueBlock, PlayedBlock
from stellwerk_tournament.play.runner import RunError
from stellwerk_tournament.store.match_line import MOST_NAME

WINDOW: Final = 2000  # blocks with the scheduler: it slows down with what it has
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
    return most * (settings.fair.cores_per_bot or 1) if has_processes else 1


@dataclass(slots=True)
class Cluster:
    """A courier whose blocks are tasks."""

    client: Dask
    name: str
    settings: Settings
    maker: OrderMaker
    tell: Tell
    address: str
    _away: dict[str, tuple[Dask, trio.Event]] = field(default_factory=dict[str, tuple[Dask, trio.Event]])
    _recalled: bool = False
    _accepted: set[str] = field(default_factory=set[str])
    _quiet: set[str] = field(default_factory=set[str])
    _failed_on: dict[int, set[str]] = field(default_factory=dict[int, set[str]])  # workers, by the block

    @property
    def most(self) -> int:
        return WINDOW

    @property
    def takes_more(self) -> bool:
        return True

    @property
    def brings_back(self) -> bool:
        return True

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
        from stellwerk_tournament.blocks.cluster_worker import play_order

        order = msgspec.structs.replace(self.maker.order(due), archives={})
        done, token = trio.Event(), trio.lowlevel.current_trio_token()

        def note(_: object) -> None:
            with contextlib.suppress(trio.RunFinishedError):
                token.run_sync_soon(done.set)

        try:
            future = self.client.submit(
                play_order,
                self.name,
                encode_order(order),
                key=order.name,
                resources={self.name: seats_of(self.settings)},
                priority=-due.block.number,  # in the order of the schedule
                pure=False,
                **self._elsewhere(due.block.number),
            )
        except Exception as error:
            raise self._gone() from error
        self._away[order.name] = future, done
        try:
            future.add_done_callback(note)
            await done.wait()
            return await trio.to_thread.run_sync(self._taken, future, due)
        finally:
            self._away.pop(order.name, None)
            future.release()

    def _taken(self, future: Dask, due: DueBlock) -> PlayedBlock | None:
        """Return the result of a task. BlockFailedError, RunError."""
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
            raise BlockFailedError(due.rotations[0], f"the cluster: {_in_words(error)}") from None
        returned = _returned(content, due)
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
                for _, done in self._away.values():
                    done.set()
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
        with trio.move_on_after(RECALL_S):
            await trio.to_thread.run_sync(self._recall, abandon_on_cancel=True)

    def _recall(self) -> None:
        from stellwerk_tournament.blocks.cluster_worker import running_keys

        with contextlib.suppress(Exception):  # a scheduler that is gone is noticed by its blocks
            begun: dict[str, list[str]] = self.client.run(running_keys, on_error="ignore")
            keys = {key for each in begun.values() for key in each}
            waiting = [future for key, (future, _) in list(self._away.items()) if key not in keys]
            self.client.cancel(waiting)


def _returned(content: object, due: DueBlock) -> Returned:
    """Read what a task returned. BlockFailedError."""
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
    sandbox = replace(confinement.sandbox, bind=(), hidden=())
    has_processes = any(entrant.bot.process in STARTED for entrant in settings.entrants)
    return Duty(
        name=name,
        cup=cup.id,
        stellwerk=cup.stellwerk,
        boards=tuple(
            (
                variant.choice.game_id,
                RULE_SETS[variant.choice.game_id].rules_version,
                variant.choice.board.digest if table.board is None else "",
            )
            for variant, table in zip(settings.variants, tables, strict=True)
        ),
        confinement=replace(confinement, sandbox=sandbox),
        needs_witness=has_processes and needs_proof(confinement),
        seats=seats_of(settings),
        has_cores=has_processes and settings.fair.cores_per_bot is not None,
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
