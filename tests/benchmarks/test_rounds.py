"""What makes the figures of `make bench` believable: turns, ratios within a round, honest floors."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.bench_server import pause_for_half
from tests.benchmarks.rounds import in_turn, ratios, spread
from tests.benchmarks.trees import ROOT, SOURCES, TreeError, trees
from tests.tools import needs


def test_a_machine_that_slows_down_for_everybody_changes_no_ratio() -> None:
    slower = [1.0, 1.5, 4.0, 2.0]
    one, other = [3 * factor for factor in slower], [2 * factor for factor in slower]
    compared = ratios(one, other)
    assert (compared.low, compared.median, compared.high) == (1.5, 1.5, 1.5)


def test_the_quartiles_are_those_of_the_rounds() -> None:
    figures = spread([5.0, 1.0, 4.0, 2.0, 3.0])
    assert (figures.low, figures.median, figures.high) == (2.0, 3.0, 4.0)
    assert figures.text(1) == "3.0 [2.0-4.0]"


def test_everybody_is_measured_once_a_round_and_another_one_begins_each() -> None:
    order: list[str] = []

    def measure(contender: str) -> int:
        order.append(contender)
        return len(order)

    figures = in_turn(["a", "b", "c"], measure, rounds=3)
    assert "".join(order) == "abcbcacab"
    assert figures == [[1, 6, 8], [2, 4, 9], [3, 5, 7]]


def test_half_load_is_half_even_if_a_decision_costs_more_when_fewer_come_at_once() -> None:
    """With 10,000 decisions a second a core is busy; with half of them it still was for 75 % of the time."""

    def busy_with(pause: float) -> float:
        per_second = 100 / pause  # by 100 clients
        return min(1.0, per_second * (200e-6 - per_second * 1e-8))

    first_guess = 100 / 5_000
    assert busy_with(first_guess) == pytest.approx(0.75)
    assert busy_with(pause_for_half(busy_with, first_guess)) == pytest.approx(0.5, abs=0.02)


@needs("git checkout")
def test_a_commit_that_is_none_is_refused_in_one_line() -> None:
    with pytest.raises(TreeError, match="git rev-parse: ") as refused, trees("no-such-commit"):
        pass
    assert "\n" not in str(refused.value)


@needs("git checkout")
def test_a_commit_is_unpacked_beside_this_checkout() -> None:
    with trees("HEAD") as (this, other):
        assert this.root == ROOT
        assert (other.root / "server" / "stellwerk" / "__main__.py").exists()
        assert str(other.root / "server") in other.environment()["PYTHONPATH"]
        folder = other.root
    assert not folder.exists()


def test_a_compiled_build_that_is_not_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.benchmarks.trees.COMPILED", tmp_path)
    with pytest.raises(TreeError, match="make compile"), trees(None, compiled=True):
        pass


def test_a_compiled_build_is_measured_only_if_its_sources_are_those_of_this_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.benchmarks.trees.COMPILED", tmp_path)
    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    for root in SOURCES:
        for package in (ROOT / root).glob("stellwerk*/"):
            shutil.copytree(package, packages / package.name)
    with trees(None, compiled=True) as (this, compiled):
        assert compiled.python == str(tmp_path / "bin" / "python") != this.python
        assert str(ROOT / "server") not in compiled.environment()["PYTHONPATH"].split(os.pathsep)
    (packages / "stellwerk_engine" / "core" / "cards.py").write_text("MAX_CARDS = 255\n")
    with pytest.raises(TreeError, match=r"another cards\.py"), trees(None, compiled=True):
        pass


@pytest.mark.parametrize("kind", ["trio", "epoll"])
def test_a_floor_answers_an_act_with_a_short_and_a_long_message(kind: str) -> None:
    command = [sys.executable, "-m", "tests.benchmarks.floor_server", kind, "700", "40", "300"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().removeprefix("listening on ").strip()
            host, _, port = address.rpartition(":")
            with (
                socket.create_connection((host, int(port)), 30) as mover,
                socket.create_connection((host, int(port)), 30) as partner,
                mover.makefile("rb") as to_mover,
                partner.makefile("rb") as to_partner,
            ):
                assert to_mover.readline() == b"l" * 299 + b"\n"  # the first act is its
                written = _written_bytes(process.pid)
                mover.sendall(b"act\n")
                assert to_mover.readline() == b"s" * 39 + b"\n"
                assert to_partner.readline() == b"l" * 299 + b"\n"
                assert _written_bytes(process.pid) - written == 700
        finally:
            process.kill()


def _written_bytes(process_id: int) -> int:
    text = Path(f"/proc/{process_id}/io").read_text()
    return int(text.partition("wchar:")[2].split()[0])
