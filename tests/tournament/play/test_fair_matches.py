"""What matches get so that they are fair, and how many fit on the machine."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from stellwerk_processes.bench.cores import CoresError, Machine
from stellwerk_processes.bench.levels import Confinement
from stellwerk_processes.started_match import BotMatch, MatchResult
from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.play import fair_matches
from stellwerk_tournament.play.fair_matches import FairMatches
from stellwerk_tournament.play.matches_here import Conditions
from stellwerk_tournament.play.runner import play_tournament
from stellwerk_tournament.store.store import open_store
from tests.tournament.play.fakes import FakeMatches, Witness, run_in_virtual_time, settings_with

OWN = frozenset({min(os.sched_getaffinity(0))})


def with_cores(count: int) -> Machine:
    """Return a machine with so many cores for bots."""
    return Machine(tuple(frozenset({1000 + number}) for number in range(count)), OWN)


def settings(folder: Path, cores: int | None = None, *, freeze: bool = False) -> Settings:
    made = settings_with(folder, ["ann", "bob", "cy"])
    return replace(made, freeze=freeze, cores_per_bot=cores, concurrency=8)


def test_no_more_matches_run_at_a_time_than_have_cores_of_their_own(tmp_path: Path) -> None:
    fair = FairMatches(settings(tmp_path, 2), with_cores(13))
    assert fair.at_once == 3
    assert fair.notice == (
        "3 matches at a time instead of 8: "
        "a match of 2 bots takes 4 cores, and bots can get 13 cores of this machine"
    )


def test_where_all_fit_nothing_is_said(tmp_path: Path) -> None:
    fair = FairMatches(settings(tmp_path, 1), with_cores(16))
    assert (fair.at_once, fair.notice) == (8, "")


def test_a_machine_with_too_few_cores_for_one_match_is_refused(tmp_path: Path) -> None:
    complaint = "a match of 2 bots takes 2 cores, and bots can get 1 core of this machine: one stays"
    with pytest.raises(CoresError, match=complaint):
        FairMatches(settings(tmp_path, 1), with_cores(1))


@dataclass
class WatchedMatches(FakeMatches):
    """Matches that keep which processors are in use, and where this process runs meanwhile."""

    in_use: list[frozenset[int]] = field(default_factory=list[frozenset[int]])
    own: set[frozenset[int]] = field(default_factory=set[frozenset[int]])

    async def __call__(self, bot_match: BotMatch, confinement: Confinement) -> MatchResult:
        for processors in bot_match.processors:
            assert not processors & frozenset().union(*self.in_use)
            self.in_use.append(processors)
        self.own.add(frozenset(os.sched_getaffinity(0)))
        played = await super().__call__(bot_match, confinement)
        for processors in bot_match.processors:
            self.in_use.remove(processors)
        return played


def play(folder: Path, cores: int | None = None, *, freeze: bool = False) -> WatchedMatches:
    matches = WatchedMatches()
    with open_store(folder) as opened:
        assert run_in_virtual_time(
            play_tournament,
            settings(folder, cores, freeze=freeze),
            opened,
            Witness(),
            Conditions(matches),
        )
    return matches


def test_each_seat_of_each_running_match_has_cores_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair_matches, "machine", lambda: with_cores(5))
    before = os.sched_getaffinity(0)
    matches = play(tmp_path, 1)
    assert matches.most_at_once == 2
    assert [len(processors) for played in matches.played for processors in played.processors] == [1] * 12
    assert matches.own == {OWN}
    assert os.sched_getaffinity(0) == before


def test_matches_are_told_to_freeze_their_bots_if_the_settings_say_so(tmp_path: Path) -> None:
    (frozen := tmp_path / "frozen").mkdir()
    assert all(played.freeze for played in play(frozen, freeze=True).played)
    (other := tmp_path / "other").mkdir()
    assert not any(played.freeze or played.processors for played in play(other).played)
