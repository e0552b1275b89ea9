"""The whole server in virtual time: whatever clients and crashes do, every law holds for everybody else.

`tests/soak/serve.py` tries as many seeds as one likes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from stellwerk_server.net.clock import ServerClock
from tests.server.net.witness import LawBrokenError
from tests.server.simulation import CALM, SILENT, WILD, Disk, Story, Temper, simulate

SEEDS = 30


def lines_of(story: Story, name: str) -> list[str]:
    assert story.replays > 0
    return story.of(name)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_laws_hold_whatever_clients_and_crashes_do(seed: int, tmp_path: Path) -> None:
    story = simulate(f"suite/{seed}", tmp_path)
    assert story.lines


def test_a_seed_is_a_whole_course_of_events(tmp_path: Path) -> None:
    one, other, third = (tmp_path / name for name in ("one", "other", "third"))
    stories = [
        simulate(seed, folder, tempers=(WILD, WILD, CALM), deaths=(5, 5))
        for seed, folder in (("same", one), ("same", other), ("another", third))
    ]
    assert len(stories[0].deaths) == 2
    assert stories[0] == stories[1]
    assert stories[0].lines != stories[2].lines


def test_a_law_that_is_broken_is_told_with_its_seed_and_again_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    punctual = ServerClock.wake_by

    def late(clock: ServerClock, time: float) -> float:
        return punctual(clock, time) + 0.1

    monkeypatch.setattr(ServerClock, "wake_by", late)
    messages: list[str] = []
    for folder in ("one", "other"):
        with pytest.raises(LawBrokenError) as broken:
            simulate("late", tmp_path / folder, tempers=(SILENT, CALM), deaths=())
        messages.append(str(broken.value))
    assert messages[0] == messages[1]
    assert messages[0].startswith("seed 'late': a default ")


@pytest.mark.parametrize("temper", [CALM, Temper(sleeps=300), SILENT], ids=["calm", "dozing", "silent"])
def test_a_match_is_the_same_to_the_microsecond_whatever_goes_on_beside_it(
    temper: Temper, tmp_path: Path
) -> None:
    alone = simulate("beside", tmp_path / "alone", tempers=(temper,), deaths=(), practice="deal")
    slow = Temper(is_slow=True, sleeps=500)
    crowd = simulate(
        "beside", tmp_path / "crowd", tempers=(temper, WILD, WILD, slow, CALM), deaths=(), practice="deal"
    )
    assert len(crowd.lines) > len(alone.lines)
    assert lines_of(crowd, "c0") == lines_of(alone, "c0")


def test_every_seat_comes_back_after_every_crash(tmp_path: Path) -> None:
    """The calm want nothing but the end of their match: who could not resume would see none."""
    story = simulate("crashes", tmp_path, tempers=(CALM, CALM), deaths=(1, 2, 2, 2, 2, 2))
    assert len(story.deaths) == 6
    for name in ("c0", "c1"):
        assert sum('< {"type":"end"' in line for line in lines_of(story, name)) == 1


def test_the_server_dies_in_every_phase(tmp_path: Path) -> None:
    """The simulation would prove little if its crashes missed one."""
    undisturbed = simulate("phases", tmp_path / "undisturbed", tempers=(CALM, CALM), deaths=())
    written: set[str] = set()
    for writes in (*range(1, 6), *range(undisturbed.writes - 4, undisturbed.writes + 1)):
        story = simulate("phases", tmp_path / str(writes), tempers=(CALM, CALM), deaths=(writes, 1))
        written |= set(story.deaths)
    assert written == {"set-up", "choice", "move", "resume", "end", "replay"}


# -- with --sync -------------------------------------------------------------------------------------

DOZING = Temper(sleeps=300)
LONGER_THAN_ANY_CLOCK = 4.0  # seconds


@pytest.mark.parametrize("seed", range(15))
def test_with_sync_nobody_has_heard_of_what_a_power_cut_takes(seed: int, tmp_path: Path) -> None:
    """Every event that a client gets is on the disk by then, and after the cut it is still there."""
    slowest = (0.0, 0.01, 0.05, 0.5)[seed % 4]
    story = simulate(f"sync/{seed}", tmp_path, disk=Disk(slowest))
    assert story.syncs


def test_with_sync_the_power_is_cut_in_every_phase(tmp_path: Path) -> None:
    """Before the disk has what was written, while it is waited for, and when it has it."""
    cut: set[str] = set()
    for writes in (*range(1, 8), *range(20, 26)):
        story = simulate(
            "cuts", tmp_path / str(writes), tempers=(CALM, CALM), deaths=(writes, 3), disk=Disk()
        )
        cut |= set(story.deaths)
        for name in ("c0", "c1"):
            assert sum('< {"type":"end"' in line for line in lines_of(story, name)) == 1
    assert cut >= {"set-up", "choice", "move", "sync", "synced"}


@pytest.mark.parametrize("temper", [CALM, DOZING, SILENT], ids=["calm", "dozing", "silent"])
def test_with_sync_no_clock_runs_while_the_server_waits_for_the_disk(temper: Temper, tmp_path: Path) -> None:
    """The witness holds each `default` and each `took_ms` to when its ask was heard."""
    for number in range(3):
        story = simulate(
            f"slow disk/{number}",
            tmp_path / str(number),
            tempers=(temper, temper),
            deaths=(),
            disk=Disk(LONGER_THAN_ANY_CLOCK),
        )
        lines = lines_of(story, "c0")
        assert any('< {"type":"default"' in line for line in lines) == (temper is not CALM)


@pytest.mark.parametrize("seed", range(12))
def test_with_sync_a_disk_that_fails_ends_that_match_and_nobody_has_heard_of_what_it_lost(
    seed: int, tmp_path: Path
) -> None:
    story = simulate(f"failing disk/{seed}", tmp_path, deaths=(), disk=Disk(0.05, fails_at=4 + 3 * seed))
    assert len(story.failed) == 1
    logged = [record["event"] for record in story.log if record.get("match") in story.failed]
    assert logged.count("journal.not_synced") == logged.count("match.failed")


def test_with_sync_everybody_in_a_match_that_the_disk_has_lost_hears_of_it_at_once(tmp_path: Path) -> None:
    """This includes players to whom nothing else was to be sent."""
    for number in range(2, 9):
        folder = tmp_path / str(number)
        story = simulate("lost", folder, tempers=(CALM, CALM, CALM), deaths=(), disk=Disk(0.05, number))
        (match,) = story.failed
        heard = [line for line in story.lines if '"server.failed"' in line and match in line]
        times = [float(line.split()[0]) for line in heard]
        assert len(times) >= 2
        assert max(times) - min(times) < 0.2
