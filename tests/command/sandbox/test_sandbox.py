"""`stellwerk sandbox`, and `--sandbox` of `play`."""

from __future__ import annotations

import json

import pytest

from stellwerk.__main__ import main
from stellwerk_processes.bench.levels import LEVELS, TRIALS
from tests.tools import needs


def test_the_table_has_each_level_and_each_attempt(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split()[-5:] == list(LEVELS) for line in lines)
    for _, words in TRIALS.values():
        assert any(line.startswith(words) for line in lines)
    assert any(line.startswith("auto is ") for line in lines)


@needs("bwrap", "namespaces")
def test_bots_over_tcp_play_without_a_network(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["play", "usa", "--bot", "greedy", "--bot", "random", "--process", "fresh", "--json"]
    assert main([*words, "--sandbox", "namespace"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["sandbox"], report["isolation"]) == ("namespace", "namespace")
    assert [seat["faults"] for seat in report["matches"][0]["seats"]] == [[], []]


@needs("bwrap", "namespaces")
def test_bots_over_tcp_that_stay_play_without_a_network(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["play", "usa", "--bot", "greedy", "--bot", "random", "--games", "4", "--process", "reused"]
    assert main([*words, "--sandbox", "namespace", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [seat["faults"] for match in report["matches"] for seat in match["seats"]] == [[]] * 8


@needs("Landlock")
def test_bots_over_tcp_play_under_landlock(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["play", "usa", "--bot", "greedy", "--bot", "random", "--process", "fresh", "--json"]
    assert main([*words, "--sandbox", "landlock"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [seat["faults"] for seat in report["matches"][0]["seats"]] == [[], []]


def test_a_level_that_does_not_hold_is_an_error_with_its_cause(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stellwerk_processes.bench.launch.bubblewrap", lambda: None)
    words = ["play", "usa", "--bot", "greedy", "--bot", "random", "--process", "fresh"]
    assert main([*words, "--sandbox", "namespace"]) == 4
    message = capsys.readouterr().err
    assert message.startswith("stellwerk: --sandbox namespace: ")
    assert "bubblewrap is not installed" in message
