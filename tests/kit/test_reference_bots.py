"""The reference bots pass the doctor without a warning."""

from __future__ import annotations

import sys

import pytest

from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_kit.bot_process import Transport
from tests.kit.doctor.examining import doctor, findings, step


def bot(name: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "stellwerk_bots", name)


@pytest.mark.parametrize("transport", ["tcp", "stdio"])
def test_the_client_library_does_all_that_a_client_must(transport: Transport) -> None:
    results = findings(doctor(bot("random"), transport=transport, require_resume=True))
    assert [(finding.step, finding.warning, finding.failure) for finding in results] == [
        (finding.step, None, None) for finding in results
    ]
    assert results[-1].step == "end"


@pytest.mark.parametrize("game", RULE_SETS)
@pytest.mark.parametrize("name", ["greedy", "planner"])
def test_a_bot_answers_every_kind_of_decision(name: str, game: str) -> None:
    [finding] = findings(doctor(bot(name)), [step("match")], game)
    assert finding.failure is None
