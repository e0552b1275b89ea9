"""The work of a Dask cluster's worker for a tournament. Only `cluster.py` imports this, on demand.

Laws:
- a worker plays nothing before it has been examined: the version, the rules and boards, the sandbox by a
  witness, and the speed of the engine, each once;
- a worker that does not fit is refused by giving it no seats, and stays what it was for everybody else;
- bots come as archives, by their hashes, and are unpacked once;
- blocks are played by processes of their own (`table_process.py`), so that one that hangs can be ended;
- a task returns text, whatever happens to it. Dask would pickle anything else, and an exception, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import trio
from distributed import Status, WorkerPlugin, get_worker
from msgspec import UNSET, UnsetType

from stellwerk_base.texts import counted
from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_processes.bench import resolve_sandbox
from stellwerk_processes.bench.cores import CoresError, shares
from stellwerk_processes.bench.levels import Confinement, SandboxError, SandboxRecord
from stellwerk_tournament.blocks.archives import unpack
from stellwerk_tournament.blocks.files import decode_order
from stellwerk_tournament.blocks.machine import machine_record
from stellwerk_tournament.blocks.serve_table import Failed, Place, Returned, encode
from stellwerk_tournament.blocks.table_process import TableError, Tables, longest_silence

SEATS: Final = "seats"  # the resource by which a worker can say how many it has
_LOOK_AGAIN_S: Final = 0.05
TIDY_S: Final = 10.0  # from one look for tables that nobody needs to the next
IDLE_S: Final = 60.0  # without a block, until a table ends: the runner may be gone


@dataclass(frozen=True, slots=True)
class Duty:
    """The facts of a tournament that a worker needs before it plays. `name` is that of the plugin, of its
    resource and of its events. `boards` are the games with the versions of their rules, and the digests of
    the boards that do not travel. `seats` is how many a block takes; with `has_cores` each is a core of its
    own. `is_ours`: the worker was started by the runner, and does not heed Ctrl-C itself. `table` is the
    program of a table, as words for Python."""

    name: str
    cup: str
    stellwerk: str
    boards: tuple[tuple[str, int, str], ...]
    confinement: Confinement
    needs_witness: bool
    seats: int
    has_cores: bool
    is_ours: bool
    version: Callable[[], str]
    table: Sequence[str]
    archives: Mapping[str, bytes] = field(repr=False)


class UnfitError(Exception):
    """A worker that cannot play for the tournament; one line says why."""


class TournamentPlugin(WorkerPlugin):
    """Examines a worker when it comes, and plays blocks on it."""

    def __init__(self, duty: Duty) -> None:
        self.duty = duty
        self.name = duty.name
        self._folder: Path | None = None
        self._place: Place | None = None
        self._tables: Tables | None = None
        self._task: asyncio.Task[None] | None = None

    def setup(self, worker: Any) -> None:  # Any: Dask's types are not known
        """Begin to examine the worker, which goes on meanwhile."""
        if self.duty.is_ours:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._task = asyncio.get_running_loop().create_task(self._attend(worker))

    async def teardown(self, worker: Any) -> None:
        if self._task is not None:
            self._task.cancel()
        if self._tables is not None:
            await asyncio.to_thread(self._tables.close)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    async def _attend(self, worker: Any) -> None:
        await self._examine(worker)
        while self._tables is not None:
            await asyncio.sleep(TIDY_S)
            await asyncio.to_thread(self._tables.end_idle, IDLE_S)

    async def _examine(self, worker: Any) -> None:
        while worker.status is not Status.running:  # noqa: ASYNC110  (Dask has no event for it)
            await asyncio.sleep(_LOOK_AGAIN_S)
        total: float = worker.state.total_resources.get(SEATS, worker.state.nthreads)
        event: dict[str, object] = {"worker": str(worker.address)}
        try:
            if total < self.duty.seats:
                raise UnfitError(
                    f"a block takes {self.duty.seats} seats, and it has {total:g}: start it with "
                    f"--nthreads {self.duty.seats}, or --resources {SEATS}={self.duty.seats}"
                )
            processors = self._shares(worker, int(total) // self.duty.seats)
            place = await asyncio.to_thread(self._look)
        except Exception as error:  # whatever it is: it plays nothing, and the runner hears why
            known = isinstance(error, UnfitError | SandboxError)
            event["refused"] = str(error) if known else f"{type(error).__name__}: {error}"
        else:
            self._place = place
            self._tables = Tables(self.duty.table, place, processors)
            await worker.set_resources(**{self.duty.name: total})
            # The scheduler does not look for blocks that had nowhere to go when a worker gets a resource. It
            # does so when one goes on after a pause.
            worker.status = Status.paused
            worker.status = Status.running
            event["machine"] = place.machine.name
            event["engine_ms"] = place.machine.engine_ms
        worker.log_event(self.duty.name, event)

    def _shares(self, worker: Any, tables: int) -> Sequence[frozenset[int]]:
        """Return the processors of each table, if bots get cores of their own. UnfitError."""
        if not self.duty.has_cores:
            return ()
        try:
            there = shares(self.duty.seats)
        except CoresError as error:
            raise UnfitError(str(error)) from None
        return shares_of_worker(there, tables, int(worker.name) if self.duty.is_ours else 0)

    def _look(self) -> Place:
        """Examine this process and its machine. UnfitError, SandboxError."""
        duty = self.duty
        if (here := duty.version()) != duty.stellwerk:
            raise UnfitError(f"it has Stellwerk {here}, and the tournament is played with {duty.stellwerk}")
        for game, rules_version, board in duty.boards:
            rules = RULE_SETS.get(game)
            if rules is None or rules.rules_version != rules_version:
                raise UnfitError(f"it has other rules of {game}")
            if board and shipped_board(rules.board).digest != board:
                raise UnfitError(f"it has another board of {game}")
        sandbox: SandboxRecord | UnsetType = UNSET
        if duty.needs_witness:
            try:
                sandbox = trio.run(resolve_sandbox.resolve, duty.confinement).record
            except SandboxError as error:
                raise UnfitError(
                    f"the sandbox {duty.confinement.level} does not hold there: {error}"
                ) from None
        resolve_sandbox.hide_memory()
        self._folder = Path(tempfile.mkdtemp(prefix="stellwerk-block-"))
        self._folder.chmod(0o755)  # bots may run as users of their own
        unpack(duty.archives, self._folder)
        return Place(str(self._folder), machine_record(duty.cup), sandbox)

    def play(self, worker: Any, text: bytes) -> bytes:
        assert self._place is not None
        assert self._tables is not None
        order = decode_order(text)
        machine = self._place.machine.name
        try:
            outcome = self._tables.play(text, longest_silence(order.settings.clocks))
        except TableError as error:
            worker.log_event(
                self.duty.name,
                {
                    "worker": str(worker.address),
                    "machine": machine,
                    "block": order.block,
                    "failed": str(error),
                },
            )
            outcome = Failed(order.rotations[0], str(error))
        return encode(Returned(str(worker.address), machine, outcome))


def shares_of_worker(there: Sequence[frozenset[int]], tables: int, number: int) -> Sequence[frozenset[int]]:
    """Return the shares of a machine that a worker of this number may use for its tables. The runner's
    workers share their machine; any other one has its processors for itself, and the number 0. UnfitError."""
    mine = there[tables * number : tables * (number + 1)]
    if len(mine) < tables:
        raise UnfitError(
            f"bots get cores of their own, and those of its machine are enough for "
            f"{counted(len(there), 'block')} at a time: with this worker it would be {tables * (number + 1)}"
        )
    return mine


def play_order(name: str, text: bytes) -> bytes:
    """Play a block on this worker. Return a line of JSON."""
    worker = cast(Any, get_worker())  # Any: Dask's types are not known
    try:
        return cast(TournamentPlugin, worker.plugins[name]).play(worker, text)
    except Exception as error:  # whatever it is: the runner gets a sentence
        cause = f"the worker failed: {type(error).__name__}: {error}"
        return encode(Returned(str(worker.address), "", Failed(decode_order(text).rotations[0], cause)))


def play_orders(name: str, texts: Sequence[bytes]) -> list[bytes]:
    """Play blocks on this worker, one after another: the task. It returns a line of JSON for each."""
    return [play_order(name, text) for text in texts]


def running_keys(dask_worker: Any) -> list[str]:
    """Return the keys of the tasks that this worker has begun."""
    with contextlib.suppress(AttributeError):
        return [str(task.key) for task in dask_worker.state.executing]
    return []
