"""The fault of a bot that was not there, or went."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from stellwerk_processes.bench.local_bot import BotReport
from stellwerk_processes.faults import Conduct, Fault, evidence_of, faults_of
from stellwerk_server.match.lateness import Late
from stellwerk_server.match.refusals import Refused

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


# -- what helps to find the cause --------------------------------------------------------------------


def fault(conduct: Conduct) -> Fault:
    [found] = faults_of(conduct)
    return found


def test_a_late_bot_is_told_the_ask_the_limit_and_the_time_taken() -> None:
    late = Conduct(ENDED, defaults=Counter({"time": 2}), late=Late(5, 4, 200, 0, 50, 327))
    assert list(evidence_of(fault(late))) == [
        "first: at ask 5 in turn 4 it had 250 ms (200 to move, 50 of grace), and took 327 ms"
    ]
    stuck = Conduct(replace(ENDED, status=None, signal="SIGTERM"), defaults=Counter({"time": 1}))
    assert list(evidence_of(fault(stuck))) == ["| no model here"]
    hung = Conduct(ENDED, by_default=True, defaults=Counter({"time": 3}), late=Late(5, 4, 200, 0, 50))
    assert list(evidence_of(fault(hung))) == [
        "| no model here",
        "first: at ask 5 in turn 4 it had 250 ms (200 to move, 50 of grace), and sent no answer",
    ]


def test_a_print_over_stdio_is_quoted_with_where_prints_belong() -> None:
    refused = Refused("wire.not_json", "one JSON object", line="my hand is 1", ask=1, turn=0)
    printing = Conduct(
        ENDED,
        transport="stdio",
        unreadable=Counter({"wire.not_json": 67, "protocol.too_fast": 1}),
        first_refused={"wire.not_json": refused},
    )
    assert list(evidence_of(fault(printing))) == [
        "first: at ask 1 in turn 0 wire.not_json: expected one JSON object, it sent: my hand is 1",
        "hint: over stdio its standard output is for messages only: it must print all else to standard error",
    ]


def test_retries_after_refused_answers_are_not_called_too_fast() -> None:
    def detail(refused: dict[str, int], unreadable: dict[str, int]) -> str:
        conduct = Conduct(ENDED, refused=Counter(refused), unreadable=Counter(unreadable))
        return "; ".join(each.detail for each in faults_of(conduct))

    too_fast = {"protocol.too_fast": 1}
    assert detail({"game.over": 60}, too_fast) == "refused moves: game.over 60"
    unread = {"protocol.unknown_field": 67}
    assert detail({}, unread | too_fast) == "refused lines: protocol.unknown_field 67"
    assert detail({}, too_fast) == "refused lines: protocol.too_fast 1"
