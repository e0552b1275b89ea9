"""Cores of bots' own on a cluster: no two tables of a machine use the same ones."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Final

import pytest

from stellwerk_tournament.blocks.cluster_worker import UnfitError, shares_of_worker
from stellwerk_tournament.blocks.serve_table import Failed, Place
from stellwerk_tournament.blocks.table_process import Tables
from stellwerk_tournament.store.match_line import MachineRecord
from tests.tools import needs

SILENCE_S: Final = 60.0
TABLE: Final = """\
import json, os, socket, sys
lines = socket.socket(fileno=0).makefile("rwb")
lines.readline()
for order in lines:
    if order.strip():
        open(order.strip()).read()
    answer = {"type": "failed", "rotation": 0, "cause": json.dumps([os.getpid(), *os.sched_getaffinity(0)])}
    lines.write(json.dumps(answer).encode() + b"\\n")
    lines.flush()
"""
"""A table that plays nothing: it opens the file that its order names, and answers where it runs."""


def played(tables: Tables, order: str = "") -> tuple[int, set[int]]:
    """Return the process of the table that took the order, and its processors."""
    outcome = tables.play(f"{order}\n".encode(), SILENCE_S)
    assert isinstance(outcome, Failed)
    process, *processors = json.loads(outcome.cause)
    return process, set(processors)


@needs("two processors")
def test_tables_that_play_at_the_same_time_share_no_processor_of_bots(tmp_path: Path) -> None:
    one, other, *_ = sorted(os.sched_getaffinity(0))
    place = Place(str(tmp_path), MachineRecord("here", 1.0))
    tables = Tables(["-c", TABLE], place, [frozenset({one}), frozenset({other})])
    os.mkfifo(tmp_path / "go-on")
    first: list[tuple[int, set[int]]] = []
    thread = threading.Thread(target=lambda: first.append(played(tables, str(tmp_path / "go-on"))))
    thread.start()
    try:
        with open(tmp_path / "go-on", "w"):  # which waits until the first table plays
            second = played(tables)
        thread.join(SILENCE_S)
        assert {*map(frozenset[int], (first[0][1], second[1]))} == {frozenset({one}), frozenset({other})}
        tables.end_idle(0)
        third = played(tables)
        assert third[0] not in (first[0][0], second[0])
        assert third[1] in (first[0][1], second[1])
    finally:
        tables.close()


def test_workers_of_one_machine_get_shares_of_their_own_and_the_last_ones_none() -> None:
    there = [frozenset({0, number}) for number in (1, 2, 3)]
    assert shares_of_worker(there, 1, 0) == there[:1]
    assert shares_of_worker(there, 1, 2) == there[2:]
    assert shares_of_worker(there, 3, 0) == there
    with pytest.raises(
        UnfitError, match=r"are enough for 3 blocks at a time: with this worker it would be 4$"
    ):
        shares_of_worker(there, 2, 1)
