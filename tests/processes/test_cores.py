"""Which processors bots get for themselves, on machines of all kinds."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from stellwerk_processes.bench.cores import (
    CorePool,
    CoresError,
    Machine,
    keeping_to,
    machine,
    pinned_to,
    shares,
)


def tree(folder: Path, cores: Mapping[str, int], *, name: str = "core_cpus_list") -> Path:
    """Write what the kernel says of cores: the processors of each, as a list, and its capacity if that is not
    0."""
    for text, capacity in cores.items():
        numbers: list[int] = []
        for part in text.split(","):
            first, _, last = part.partition("-")
            numbers += range(int(first), int(last or first) + 1)
        for number in numbers:
            topology = folder / f"cpu{number}" / "topology"
            topology.mkdir(parents=True)
            (topology / name).write_text(f"{text}\n")
            if capacity:
                (folder / f"cpu{number}" / "cpu_capacity").write_text(f"{capacity}\n")
    return folder


def given(found: Machine) -> list[set[int]]:
    """Return the cores that bots get."""
    return [set(core) for core in found.cores]


def test_processors_that_share_a_core_stay_together(tmp_path: Path) -> None:
    found = machine(set(range(8)), tree(tmp_path, {"0,4": 0, "1,5": 0, "2,6": 0, "3,7": 0}))
    assert given(found) == [{1, 5}, {2, 6}, {3, 7}]
    assert found.own == {0, 4}


def test_lists_may_have_ranges(tmp_path: Path) -> None:
    found = machine(set(range(8)), tree(tmp_path, {"0-1": 0, "2-3": 0, "4-5": 0, "6-7": 0}))
    assert given(found) == [{2, 3}, {4, 5}, {6, 7}]
    found = machine(set(range(6)), tree(tmp_path / "odd", {"0-1,4": 0, "2-3,5": 0}))
    assert given(found) == [{2, 3, 5}]


def test_older_kernels_have_another_name_for_the_list(tmp_path: Path) -> None:
    found = machine({0, 1, 2, 3}, tree(tmp_path, {"0,2": 0, "1,3": 0}, name="thread_siblings_list"))
    assert given(found) == [{1, 3}]


def test_processes_that_look_at_their_shares_find_cores_that_no_other_one_gives_to_bots(
    tmp_path: Path,
) -> None:
    topology = tree(tmp_path, {f"{n},{n + 8}": 0 for n in range(8)} | {"16": 500, "17": 500})
    there = shares(3, set(range(18)), topology)
    found = [machine(share, topology) for share in there]
    assert [given(each) for each in found] == [[{1, 9}, {2, 10}, {3, 11}], [{4, 12}, {5, 13}, {6, 14}]]
    assert [each.own for each in found] == [{0, 8}, {0, 8}]
    assert shares(8, set(range(18)), topology) == []


def test_a_machine_with_one_core_has_none_for_bots(tmp_path: Path) -> None:
    found = machine({0, 1}, tree(tmp_path, {"0-1": 0}))
    assert given(found) == []
    assert found.own == {0, 1}
    assert found.matches_at_once(2, 1) == 0


def test_only_processors_that_this_process_may_use_are_given_away(tmp_path: Path) -> None:
    """As in a container: the others belong to somebody else."""
    found = machine({2, 3, 6, 7}, tree(tmp_path, {"0,4": 0, "1,5": 0, "2,6": 0, "3,7": 0}))
    assert found.own == {2, 6}
    assert given(found) == [{3, 7}]


def test_a_core_of_which_this_process_has_only_a_part_is_no_equal_of_whole_ones(tmp_path: Path) -> None:
    found = machine({0, 1, 2, 3, 5, 6}, tree(tmp_path, {"0,4": 0, "1,5": 0, "2,6": 0, "3,7": 0}))
    assert found.own == {0, 3, 1, 5}
    assert given(found) == [{2, 6}]


def test_bots_get_cores_of_one_kind_only(tmp_path: Path) -> None:
    """Four fast cores and two slow ones; and as many of both kinds, of which the fast ones are taken."""
    found = machine(
        set(range(6)), tree(tmp_path / "a", {"0": 446, "1": 446, **{str(n): 1024 for n in range(2, 6)}})
    )
    assert given(found) == [{3}, {4}, {5}]
    assert found.own == {0, 1, 2}
    found = machine(set(range(4)), tree(tmp_path / "b", {"0": 446, "1": 446, "2": 1024, "3": 1024}))
    assert given(found) == [{3}]


def test_how_many_matches_fit(tmp_path: Path) -> None:
    found = machine(set(range(13)), tree(tmp_path, {str(number): 0 for number in range(13)}))
    assert found.matches_at_once(seats=2, cores_per_bot=1) == 6
    assert found.matches_at_once(seats=4, cores_per_bot=1) == 3
    assert found.matches_at_once(seats=4, cores_per_bot=4) == 0


def test_no_two_seats_of_running_matches_share_a_core(tmp_path: Path) -> None:
    found = machine(set(range(18)), tree(tmp_path, {f"{number},{number + 9}": 0 for number in range(9)}))
    pool = CorePool(found.cores)
    with pool.taken(seats=2, cores_per_bot=2) as one:
        with pool.taken(seats=2, cores_per_bot=2) as other:
            seats = [*one, *other]
            assert [len(seat) for seat in seats] == [4] * 4
            assert len(frozenset[int]().union(*seats)) == 16
            assert not frozenset().union(*seats) & found.own
        with pool.taken(seats=4, cores_per_bot=1) as again:
            assert not frozenset().union(*one) & frozenset().union(*again)


def test_a_machine_that_does_not_say_which_processors_share_a_core_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CoresError, match=r"not known here: there is no .*cpu0/topology/core_cpus_list"):
        machine({0, 1}, tmp_path)


def test_a_list_that_is_none_is_refused(tmp_path: Path) -> None:
    (tree(tmp_path, {"0": 0}) / "cpu0" / "topology" / "core_cpus_list").write_text("0-x\n")
    with pytest.raises(CoresError, match="expected a list like 0-3,8, found '0-x'"):
        machine({0}, tmp_path)


# -- on this machine ---------------------------------------------------------------------------------


def test_a_process_begins_on_the_processors_of_the_thread_that_starts_it() -> None:
    before = os.sched_getaffinity(0)
    one = frozenset({max(before)})
    code = "import os; print(os.sched_getaffinity(0))"
    with pinned_to(one):
        started = subprocess.run(
            [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
        )
    assert started.stdout == f"{set(one)}\n"
    assert os.sched_getaffinity(0) == before


def test_all_threads_of_this_process_move_and_come_back() -> None:
    before = os.sched_getaffinity(0)
    one = frozenset({max(before)})
    go_on = threading.Event()
    thread = threading.Thread(target=go_on.wait, args=(60,))
    thread.start()
    try:
        assert thread.native_id is not None
        with keeping_to(one):
            assert os.sched_getaffinity(0) == one
            assert os.sched_getaffinity(thread.native_id) == one
        assert os.sched_getaffinity(thread.native_id) == before
    finally:
        go_on.set()
        thread.join()
    assert os.sched_getaffinity(0) == before
