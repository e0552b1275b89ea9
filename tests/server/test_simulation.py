"""The whole server in virtual time: whatever clients and crashes do, every law holds for everybody else.

`tests/soak/serve.py` tries as many seeds as one likes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from stellwerk_server.clock import ServerClock
from tests.server.simulation import CALM, SILENT, WILD, Story, Temper, simulate
from tests.server.witness import LawBrokenError

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
    told: list[str] = []
    for folder in ("one", "other"):
        with pytest.raises(LawBrokenError) as broken:
            simulate("late", tmp_path / folder, tempers=(SILENT, CALM), deaths=())
        told.append(str(broken.value))
    assert told[0] == told[1]
    assert told[0].startswith("seed 'late': a default ")


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
