"""Blocks that are played on other machines: `export` and `block`.

`block` opens nothing but its files: it knows no tournament's folder.
"""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import trio

from stellwerk.shared.errors import (
    DONE,
    CommandError,
    infrastructure_error,
    refusing,
    usage_error,
    writing,
)
from stellwerk.shared.house_bots import house_bots
from stellwerk.shared.terminal import complain_of, say
from stellwerk.shared.version import version
from stellwerk_base.files import PRIVATE, write_whole
from stellwerk_base.texts import counted, shown
from stellwerk_processes.bench.cores import CoresError
from stellwerk_processes.bench.levels import SandboxError
from stellwerk_processes.bench.resolve_sandbox import hide_memory
from stellwerk_tournament.blocks.export import Exporter
from stellwerk_tournament.blocks.files import (
    ORDER_ENDING,
    RESULT_ENDING,
    BlockFileError,
    BlockOrder,
    decode_order,
    decode_result,
    encode_result,
    expect_sealed,
    read,
)
from stellwerk_tournament.blocks.machine import machine_record
from stellwerk_tournament.blocks.play_block import Host, why
from stellwerk_tournament.blocks.table import Table, open_table, private_folder
from stellwerk_tournament.play.courier import BlockFailedError
from stellwerk_tournament.store.match_line import MOST_NAME, is_name

STOPPED: Final = 130


# -- export ------------------------------------------------------------------------------------------


def make_out_folder(text: str) -> Path:
    """Return the folder for the files of blocks, which only its owner may enter. CommandError."""
    folder = Path(text)
    with writing(text):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def say_exported(exporter: Exporter) -> None:
    where = shown(str(exporter.folder), 1000)
    blocks, matches = counted(exporter.blocks, "block"), counted(exporter.matches, "match", "matches")
    if exporter.blocks:
        say(f"{where}: {blocks} with {matches}, {exporter.size / 1e6:.1f} MB; keep them private")
    else:
        say(f"{where}: nothing written: no block is due")


# -- block -------------------------------------------------------------------------------------------


def play_files(arguments: argparse.Namespace) -> int:
    """Play blocks, one after the other, at one table. CommandError at the first that cannot be played."""
    files = [Path(name) for name in arguments.files]
    out = Path(arguments.out)
    is_folder = len(files) > 1 or out.is_dir() or arguments.out.endswith("/")
    if is_folder:
        make_out_folder(arguments.out)
    hide_memory()
    targets = [
        out / f"{path.name.removesuffix(ORDER_ENDING)}{RESULT_ENDING}" if is_folder else out for path in files
    ]
    with private_folder() as folder:
        failure = trio.run(_play_unless_stopped, [*zip(files, targets, strict=True)], folder, arguments)
    if failure is not None:
        raise failure
    return DONE


async def _play_unless_stopped(
    blocks: Sequence[tuple[Path, Path]], folder: Path, arguments: argparse.Namespace
) -> CommandError | None:
    """Play blocks until one fails or somebody stops that. Return why: nurseries would wrap what is raised."""
    failure: CommandError | None = None
    path = blocks[0][0]
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:

            async def heed() -> None:
                nonlocal failure
                async for _ in signals:
                    failure = CommandError(f"{path}: stopped; no result was written", STOPPED)
                    nursery.cancel_scope.cancel()

            nursery.start_soon(heed)
            async with open_table(folder) as table:
                for path, target in blocks:
                    try:
                        await _play_file(table, path, target, arguments)
                    except CommandError as error:
                        failure = error
                        break
            nursery.cancel_scope.cancel()
    return failure


async def _play_file(table: Table, path: Path, target: Path, arguments: argparse.Namespace) -> None:
    with refusing(BlockFileError, where=path):
        order = decode_order(read(path))
    if _is_there(target, order):
        say(f"{shown(str(target), 1000)}: has the result of block {order.block} already")
        return
    if arguments.machine is not None and not is_name(arguments.machine):
        raise usage_error(f"--machine: expected 1 to {MOST_NAME} characters that can be printed")
    machine = machine_record(order.cup, arguments.machine)
    host = Host(version(), machine, house_bots(), arguments.concurrency, log=complain_of)
    try:
        result = await table.play(order, host)
    except BlockFileError as error:
        raise usage_error(f"{path}: {error}") from None
    except (SandboxError, BlockFailedError) as error:
        raise infrastructure_error(f"{path}: {why(error, order)}; no result was written") from None
    except CoresError as error:
        raise infrastructure_error(f"{path}: cores_per_bot: {error}") from None
    content = encode_result(result, bytes.fromhex(order.secret))
    with writing(target):
        write_whole(target, content, sync=True, mode=PRIVATE)
    matches = counted(len(result.matches), "match", "matches")
    say(f"{shown(str(target), 1000)}: block {order.block}, {matches}")


def _is_there(target: Path, order: BlockOrder) -> bool:
    """Return whether a result of this very block is there. CommandError if something else is."""
    if not os.path.lexists(target):
        return False
    try:
        result, content, seal = decode_result(read(target))
        expect_sealed(content, seal, bytes.fromhex(order.secret))
    except BlockFileError as error:
        raise usage_error(f"{target}: is there, and {error}; remove it, or choose another name") from None
    return (result.cup, result.block) == (order.cup, order.block)
