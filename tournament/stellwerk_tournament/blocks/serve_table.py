"""A table in a process of its own, for whoever brings it blocks: a worker of a cluster (`table_process.py`).

All goes over one socket, which is the standard input. It gets a line that says where it is, and then orders,
one after the other, as they are in files. It answers each with an outcome, a line of JSON. An empty line says
that it lives: it sends one when it can play, and when something has moved in a match, but not too often.

Laws:
- it ends when the socket does, and with it all processes of its bots. It is killed if the thread that started
  it has gone without closing the socket, also while it is stopped itself;
- it opens nothing but orders and its folder.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
import trio
from msgspec import UNSET, Struct, UnsetType

from stellwerk_base.lines import LineSplitter
from stellwerk_processes.bench.cores import CoresError
from stellwerk_processes.bench.levels import SandboxError, SandboxRecord
from stellwerk_processes.bench.resolve_sandbox import hide_memory
from stellwerk_server.match.players import NewHousePlayer
from stellwerk_tournament.blocks.files import BlockFileError, decode_order, encode_result
from stellwerk_tournament.blocks.play_block import Host, why
from stellwerk_tournament.blocks.table import Table, open_table
from stellwerk_tournament.play.courier import BlockFailedError
from stellwerk_tournament.store.match_line import MachineRecord

ALIVE: Final = b"\n"

_SET_DEATH_SIGNAL: Final = 1

Log: TypeAlias = Callable[[str, Sequence[str]], object]


class Place(Struct, frozen=True):
    """Where a table is: the folder of its bots and boards, what is known of the machine, and what was tried
    of the sandbox there, if anything was."""

    folder: str
    machine: MachineRecord
    sandbox: SandboxRecord | UnsetType = UNSET


class Result(Struct, frozen=True, tag="result"):
    """A block that was played. `text` is what `tournament block` writes."""

    text: bytes


class Failed(Struct, frozen=True, tag="failed"):
    """A block that could not be played, through no bot's fault."""

    rotation: int
    cause: str


class Unfit(Struct, frozen=True, tag="unfit"):
    """A block that can never be played here."""

    cause: str


Outcome: TypeAlias = Result | Failed | Unfit


class Returned(Struct, frozen=True):
    """The outcome of a block, and its place: the worker's address, and the name of its machine."""

    worker: str
    machine: str
    outcome: Outcome


encode: Final = msgspec.json.Encoder().encode
decode_outcome: Final = msgspec.json.Decoder(Outcome).decode
decode_returned: Final = msgspec.json.Decoder(Returned).decode


def serve_table(version: str, house_bots: Mapping[str, NewHousePlayer], log: Log) -> None:
    """Play the blocks that come over the standard input, until that ends."""
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is heeded by whoever started this
    hide_memory()
    connection = socket.socket(fileno=os.dup(0))
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)  # no bot is to get the socket
    with connection:
        trio.run(_serve, connection, version, house_bots, log)


async def _serve(
    connection: socket.socket, version: str, house_bots: Mapping[str, NewHousePlayer], log: Log
) -> None:
    stream = trio.SocketStream(trio.socket.from_stdlib_socket(connection))
    lines = _lines(stream)

    def moved(_: object = None) -> None:
        with contextlib.suppress(OSError):  # whoever has not read the last ones yet needs no other one
            connection.send(ALIVE)

    async with trio.open_nursery() as nursery, aclosing(lines):
        place = msgspec.json.decode(await anext(lines), type=Place)
        host = Host(version, place.machine, house_bots, sandbox=place.sandbox, log=log, show=moved)
        to_play, orders = trio.open_memory_channel[bytes](0)
        is_playing = False

        async def read() -> None:
            async with to_play:
                async for content in lines:
                    await to_play.send(b"%b\n%b\n" % (content, await anext(lines, b"")))
            if is_playing:
                nursery.cancel_scope.cancel()

        nursery.start_soon(read)
        async with open_table(Path(place.folder)) as table:
            moved()
            async for text in orders:
                is_playing = True
                outcome = await _outcome(table, text, host)
                await stream.send_all(encode(outcome) + b"\n")
                is_playing = False


async def _outcome(table: Table, text: bytes, host: Host) -> Outcome:
    order = decode_order(text)
    try:
        result = await table.play(order, host)
    except BlockFailedError as error:
        return Failed(error.rotation, str(error))
    except SandboxError as error:
        return Failed(order.rotations[0], why(error, order))
    except (BlockFileError, CoresError) as error:
        return Unfit(str(error))
    return Result(encode_result(result, bytes.fromhex(order.secret)))


async def _lines(stream: trio.SocketStream) -> AsyncGenerator[bytes]:
    """Yield the lines that come, without their newlines. One without an end is none."""
    splitter = LineSplitter(sys.maxsize)
    with contextlib.suppress(trio.BrokenResourceError):
        async for data in stream:
            for line in splitter.feed(bytes(data)):
                yield line
