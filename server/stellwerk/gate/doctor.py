"""The doctor's steps for a bot as a match would start it: with its environment, its folder, its sandbox.

The doctor by itself gives a bot all that it finds in its own environment. A candidate of a gate is a
stranger's program, and the environment of CI holds secrets. So it is started here as for a match, by
`start_bot`, and no step sees it less confined than a match does.

The doctor waits, and bots run under Trio: so bots live in a thread of their own.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from io import FileIO
from queue import SimpleQueue
from typing import IO, Final, cast

import trio

from stellwerk_kit.bot_process import Transport
from stellwerk_kit.doctor.doctor import Finding, examine
from stellwerk_kit.doctor.patient import patience
from stellwerk_kit.doctor.steps import Examination
from stellwerk_processes.bench.invitation import Invitation
from stellwerk_processes.bench.levels import Confinement
from stellwerk_processes.bench.local_bot import BotReport, LocalBot, start_bot
from stellwerk_processes.bot_spec import BotSpec

SECONDS: Final = 5  # for each answer, as `stellwerk kit doctor` waits by default
SEED: Final = "gate"
GRACE: Final = 0.02  # seconds for what a bot has printed last; the doctor has let it end before
_KILLED: Final = -signal.SIGKILL


def findings(bot: BotSpec, confinement: Confinement, games: Sequence[str]) -> Generator[Finding]:
    """Yield the findings as they are made. `confinement` has a certain level.

    BotStartError if there is no such program, OSError if the machine fails.
    """
    with _starter(bot, confinement) as starter:
        examination = Examination((), bot.transport, patience(SECONDS), SEED, start=starter.start)
        yield from examine(examination, games)


class _Starter:
    """Starts the bot, again and again. `trio_token` leads to the thread in which the bots live, and `nursery`
    is theirs."""

    def __init__(
        self,
        spec: BotSpec,
        confinement: Confinement,
        trio_token: trio.lowlevel.TrioToken,
        nursery: trio.Nursery,
    ) -> None:
        self._spec = spec
        self._confinement = confinement
        self._trio_token = trio_token
        self._nursery = nursery

    def start(self, variables: Mapping[str, str], transport: Transport) -> _Started:
        assert transport == self._spec.transport
        invitation = Invitation(
            name=variables["STELLWERK_NAME"],
            address=variables["STELLWERK_ADDRESS"],
            token=variables["STELLWERK_TOKEN"],
            seed=variables["STELLWERK_BOT_SEED"],
        )
        return trio.from_thread.run(self._begin, invitation, trio_token=self._trio_token)

    async def _begin(self, invitation: Invitation) -> _Started:
        bot = await start_bot(self._nursery, self._spec, invitation, self._confinement, grace=GRACE)
        return await _Started.made(bot, self._trio_token)


class _Started:
    """A bot as the doctor knows bots. The doctor's thread calls it."""

    def __init__(
        self,
        bot: LocalBot,
        trio_token: trio.lowlevel.TrioToken,
        pipes: tuple[IO[bytes], IO[bytes]] | None,
        listener: socket.socket | None,
    ) -> None:
        self._bot = bot
        self._trio_token = trio_token
        self._pipes = pipes
        self._listener = listener

    @staticmethod
    async def made(bot: LocalBot, trio_token: trio.lowlevel.TrioToken) -> _Started:
        """Take over what only the thread of the bots can give away."""
        pipes, listener = None, None
        if bot.transport is not None:
            pipes = await _taken_over(bot.transport)
        if bot.has_listener:
            listener = socket.socket(fileno=bot.open_listener().socket.detach())
        return _Started(bot, trio_token, pipes, listener)

    @property
    def pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        assert self._pipes is not None
        return self._pipes

    def own_listener(self) -> socket.socket | None:
        return self._listener

    def status_by(self, deadline: float) -> int | None:
        async def wait(seconds: float) -> None:
            with trio.move_on_after(seconds):
                await self._bot.ended()

        if (seconds := deadline - time.monotonic()) > 0:
            trio.from_thread.run(wait, seconds, trio_token=self._trio_token)
        report = self._bot.report
        return None if report is None else _status_in(report)

    def last_lines(self) -> tuple[str, ...]:
        return trio.from_thread.run_sync(self._bot.last_lines, trio_token=self._trio_token)

    def end(self) -> None:
        async def stop() -> None:
            self._bot.stop()
            await self._bot.ended()

        trio.from_thread.run(stop, trio_token=self._trio_token)
        for pipe in self._pipes or ():
            with contextlib.suppress(OSError):  # the rest is not read
                pipe.close()


async def _taken_over(transport: trio.abc.Stream) -> tuple[IO[bytes], IO[bytes]]:
    """Return the pipes that are a bot's standard output and input, as files that do not wait."""
    # `start_bot` makes the transport of these two, and says only that it is a stream.
    streams = cast("trio.StapledStream[trio.lowlevel.FdStream, trio.lowlevel.FdStream]", transport)
    output = FileIO(os.dup(streams.receive_stream.fileno()), "r")
    input_ = FileIO(os.dup(streams.send_stream.fileno()), "w")
    await transport.aclose()
    return output, input_


def _status_in(report: BotReport) -> int:
    """Return the exit status, negative for a signal."""
    if report.status is not None:
        return report.status
    if report.signal is None:
        return _KILLED
    if report.signal in signal.Signals.__members__:
        return -signal.Signals[report.signal]
    return -int(report.signal.removeprefix("signal "))


# -- the thread --------------------------------------------------------------------------------------


@contextmanager
def _starter(spec: BotSpec, confinement: Confinement) -> Generator[_Starter]:
    """Run the thread of the bots. When the block has ended, they have."""
    begun: SimpleQueue[tuple[trio.lowlevel.TrioToken, trio.Nursery]] = SimpleQueue()
    failures: list[BaseException] = []

    async def live() -> None:
        async with trio.open_nursery() as nursery:
            begun.put((trio.lowlevel.current_trio_token(), nursery))
            await trio.sleep_forever()

    def run() -> None:
        try:
            trio.run(live)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    trio_token, nursery = begun.get()
    try:
        yield _Starter(spec, confinement, trio_token, nursery)
    finally:
        with contextlib.suppress(trio.RunFinishedError):
            trio_token.run_sync_soon(nursery.cancel_scope.cancel)
        thread.join()
        for failure in failures:  # ours: what is wrong with a bot is in its report
            raise failure
