"""The work of a Dask cluster's worker for a tournament. Only `cluster.py` imports this, on demand.

Laws:
- a worker plays nothing before it has been examined: the version, the rules and boards, the sandbox by a
  witness, and the speed of the engine, each once;
- a worker that does not fit is refused by giving it no seats, and stays what it was for everybody else;
- bots come as archives, by their hashes, and are unpacked once.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import trio
from distributed import Status, WorkerPlugin, get_worker
from msgspec import UNSET, UnsetType

from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_processes import resolve_sandbox
from stellwerk_processes.bot_process import Confinement
from stellwerk_processes.cores import CoresError
from stellwerk_processes.sandbox.levels import SandboxError, SandboxRecord
from stellwerk_server.match.house_player import NewHousePlayer
from stellwerk_tournament.blocks.archives import unpack
from stellwerk_tournament.blocks.files import BlockFileError, decode_order, encode_result
from stellwerk_tournament.blocks.machine import machine_record
from stellwerk_tournament.blocks.play_block import Host, play_block, why
from stellwerk_tournament.play.courier import BlockFailedError

SEATS: Final = "seats"  # the resource by which a worker can say how many it has
_LOOK_AGAIN_S: Final = 0.05

Outcome: TypeAlias = tuple[str, bytes, int, str]
"""`result` with the text of a result, `failed` with the rotation and the cause, or `unfit` with the cause."""


@dataclass(frozen=True, slots=True)
class Duty:
    """The facts of a tournament that a worker needs before it plays. `name` is that of the plugin, of its
    resource and of its events. `boards` are the games with the versions of their rules, and the digests of
    the boards that do not travel. `seats` is how many a block takes. `is_ours`: the worker was started by the
    runner, and does not heed Ctrl-C itself."""

    name: str
    cup: str
    stellwerk: str
    boards: tuple[tuple[str, int, str], ...]
    confinement: Confinement
    needs_witness: bool
    seats: int
    is_ours: bool
    version: Callable[[], str]
    house_bots: Callable[[], Mapping[str, NewHousePlayer]]
    archives: Mapping[str, bytes] = field(repr=False)


class UnfitError(Exception):
    """A worker that cannot play for the tournament; one line says why."""


class TournamentPlugin(WorkerPlugin):
    """Examines a worker when it comes, and plays blocks on it."""

    def __init__(self, duty: Duty) -> None:
        self.duty = duty
        self.name = duty.name
        self._folder: Path | None = None
        self._host: Host | None = None
        self._task: asyncio.Task[None] | None = None

    def setup(self, worker: Any) -> None:  # Any: Dask's types are not known
        """Begin to examine the worker, which goes on meanwhile."""
        if self.duty.is_ours:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._task = asyncio.get_running_loop().create_task(self._examine(worker))

    def teardown(self, worker: Any) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

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
            self._host = await asyncio.to_thread(self._look)
        except Exception as error:  # whatever it is: it plays nothing, and the runner hears why
            known = isinstance(error, UnfitError | SandboxError)
            event["refused"] = str(error) if known else f"{type(error).__name__}: {error}"
        else:
            await worker.set_resources(**{self.duty.name: total})
            # The scheduler does not look for blocks that had nowhere to go when a worker gets a resource. It
            # does so when one goes on after a pause.
            worker.status = Status.paused
            worker.status = Status.running
            event["machine"] = self._host.machine.name
            event["engine_ms"] = self._host.machine.engine_ms
        worker.log_event(self.duty.name, event)

    def _look(self) -> Host:
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
                    f"the sandbox {duty.confinement.sandbox.level} does not hold there: {error}"
                ) from None
        resolve_sandbox.hide_memory()
        self._folder = Path(tempfile.mkdtemp(prefix="stellwerk-block-"))
        self._folder.chmod(0o755)  # bots may run as users of their own
        unpack(duty.archives, self._folder)
        return Host(duty.stellwerk, machine_record(duty.cup), duty.house_bots(), sandbox=sandbox)

    def play(self, text: bytes) -> Outcome:
        assert self._folder is not None
        assert self._host is not None
        order = decode_order(text)
        try:
            result = trio.run(play_block, order, self._folder, self._host)
        except BlockFailedError as error:
            return "failed", b"", error.rotation, f"{self._host.machine.name}: {error}"
        except SandboxError as error:
            return "failed", b"", order.rotations[0], f"{self._host.machine.name}: {why(error, order)}"
        except (BlockFileError, CoresError) as error:
            return "unfit", b"", order.rotations[0], f"{self._host.machine.name}: {error}"
        return "result", encode_result(result, bytes.fromhex(order.secret)), 0, ""


def play_order(name: str, text: bytes) -> Outcome:
    """Play a block on this worker: the task."""
    plugin = cast(TournamentPlugin, cast(Any, get_worker()).plugins[name])  # Any: Dask's types are not known
    return plugin.play(text)


def running_keys(dask_worker: Any) -> list[str]:
    """Return the keys of the tasks that this worker has begun."""
    with contextlib.suppress(AttributeError):
        return [str(task.key) for task in dask_worker.state.executing]
    return []
