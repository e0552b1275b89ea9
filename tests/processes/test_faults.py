"""The fault of a bot that was not there, or went."""

from __future__ import annotations

import pytest

from stellwerk_processes.bench.local_bot import BotReport
from stellwerk_processes.faults import Conduct, faults_of

ENDED = BotReport(3, None, stopped=False, cpu_ms=0, max_rss_kb=None, last_lines=("no model here",))


def faults(conduct: Conduct) -> list[tuple[str, str, tuple[str, ...]]]:
    found = faults_of(conduct)
    assert all(fault.count == 1 for fault in found)
    return [(fault.kind, fault.detail, fault.last_lines) for fault in found]


def test_only_a_remote_bot_can_be_absent() -> None:
    assert faults(Conduct(ENDED, logged_in=False, is_remote=True)) == [
        ("absent", "was not connected when its match began", ())
    ]
    assert faults(Conduct(ENDED, logged_in=False)) == [("start_failure", "never logged in", ENDED.last_lines)]
    assert faults(Conduct(ENDED, is_remote=True)) == faults(Conduct(ENDED)) == []


def test_a_bot_that_ended_before_it_logged_in_says_how() -> None:
    how = "ended with exit status 3 before it logged in"
    assert faults(Conduct(ENDED, logged_in=False, ended_early=True)) == [
        ("start_failure", how, ENDED.last_lines)
    ]


@pytest.mark.parametrize("is_remote", [False, True])
def test_a_bot_that_left_has_left_however_it_went_then(is_remote: bool) -> None:
    left = [("left", "left the match", ())]
    assert faults(Conduct(ENDED, left=True, is_remote=is_remote)) == left
    assert faults(Conduct(ENDED, left=True, ended_early=True, is_remote=is_remote)) == left
    assert faults(Conduct(ENDED, left=True, hung_up=True, is_remote=is_remote)) == left


def test_a_bot_that_ended_during_the_match_has_not_left() -> None:
    how = "ended with exit status 3 before the match did"
    assert faults(Conduct(ENDED, ended_early=True)) == [("crash", how, ENDED.last_lines)]
