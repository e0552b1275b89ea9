"""How blocks are put together to tasks of a cluster; without Dask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio

from stellwerk_tournament.blocks import cluster as rooms
from stellwerk_tournament.blocks.cluster import Cluster
from stellwerk_tournament.blocks.files import BlockOrder
from stellwerk_tournament.blocks.orders import OrderMaker
from stellwerk_tournament.blocks.serve_table import Failed, Result, Returned, encode
from stellwerk_tournament.play.courier import BlockFailedError, DueBlock, PlayedBlock
from stellwerk_tournament.schedule.schedule import Block
from tests.tournament.play.fakes import settings_with


@dataclass
class Future:
    answers: list[bytes]
    status: str = "finished"

    def result(self, timeout: float) -> list[bytes]:
        return self.answers

    def add_done_callback(self, note: Callable[[object], object]) -> None:
        note(self)

    def release(self) -> None: ...


@dataclass
class Client:
    """A client whose tasks are done at once. It remembers the blocks of each. A block that is to fail is one
    that travels with others, and it fails once."""

    fails: bool = False
    tasks: list[list[int]] = field(default_factory=list[list[int]])
    status: str = "running"

    def submit(self, _work: object, _name: str, orders: Sequence[bytes], **_: object) -> Future:
        blocks = list(map(int, orders))
        self.tasks.append(blocks)
        results: list[Failed | Result] = [Result(b"") for _ in blocks]
        if self.fails and len(blocks) > 1:
            self.fails, results[1] = False, Failed(0, "no")
        return Future([encode(Returned("w", "m", result)) for result in results])


def carried(folder: Path, client: Client, monkeypatch: pytest.MonkeyPatch, seconds: float) -> list[int]:
    """Carry sixty blocks, each of which takes so long. Return those that failed."""
    settings = settings_with(folder, ("ann", "bea"))
    match = SimpleNamespace(line=SimpleNamespace(seconds=seconds))

    def decoded(_: bytes) -> tuple[None, bytes, bytes]:
        return None, b"", b""

    def expect_nothing(*_: object) -> None: ...

    def played(*_: object) -> PlayedBlock:
        return PlayedBlock(cast(Any, (match,)))  # Any: only its seconds are looked at

    def number_of(order: BlockOrder) -> bytes:
        return b"%d" % order.block

    monkeypatch.setattr(rooms, "decode_result", decoded)
    monkeypatch.setattr(rooms, "expect_sealed", expect_nothing)
    monkeypatch.setattr(rooms, "checked", played)
    monkeypatch.setattr(rooms, "encode_order", number_of)
    maker = SimpleNamespace(order=_order)
    courier = Cluster(client, "cup", settings, cast(OrderMaker, maker), lambda _: None, "here")
    failed: list[int] = []

    async def carry(number: int) -> None:
        due = DueBlock(Block(number, 0, 0, 0, ("ann", "bea")), b"", (0, 1))
        try:
            await courier.play(due)
        except BlockFailedError:
            failed.append(number)
            await courier.play(due)

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            for number in range(60):
                nursery.start_soon(carry, number)

    trio.run(main)
    return failed


def _order(due: DueBlock) -> BlockOrder:
    settings: Any = None  # nothing looks at them here
    return BlockOrder("cup", "0", due.block.number, 0, (), (), (), "", settings, "limits", 1, "")


def test_a_task_is_about_a_second_of_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At first nobody knows how long a block takes."""
    quick = Client()
    carried(tmp_path, quick, monkeypatch, seconds=0.1)
    assert sorted(block for task in quick.tasks for block in task) == list(range(60))
    assert 5 < max(map(len, quick.tasks)) <= 10
    assert len(quick.tasks) < 30


def test_blocks_of_a_second_travel_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Client()
    carried(tmp_path, slow, monkeypatch, seconds=1.0)
    assert list(map(len, slow.tasks)) == [1] * 60


def test_a_block_that_has_failed_travels_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(fails=True)
    [failed] = carried(tmp_path, client, monkeypatch, seconds=0.01)
    first, *again = [task for task in client.tasks if failed in task]
    assert first[1] == failed
    assert again == [[failed]]
