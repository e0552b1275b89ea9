"""A server whose files cannot grow any more: its acts, its log, and what clients get, as the pages say."""

from __future__ import annotations

import json
import resource
import signal
import urllib.request
from pathlib import Path

import pytest

from tests.server.served_process import PATIENCE, Caller, Message, Serving, serving

NO_HURRY = "--set=time.move_ms=60000"


def fill_the_disk(server: Serving) -> None:
    """Let no file of the server grow: journals and the log."""
    _, most = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, most))


def make_room(server: Serving) -> None:
    _, most = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (most, most))


def dropped_lines(page: str) -> int:
    with urllib.request.urlopen(page, timeout=PATIENCE) as answer:
        return int(json.load(answer)["log_lines_dropped"])


def seated(server: Serving) -> tuple[list[Caller], list[Message]]:
    """Return two players and their first asks: both owe a choice."""
    callers = [server.call() for _ in range(2)]
    for number, caller in enumerate(callers):
        caller.login(f"player{number}", max_matches=2)
        caller.say(type="join", game="usa", players=2, room="pair")
        caller.until("joined")
    for caller in callers:
        caller.say(type="ready", match=caller.until("start")["match"])
    return callers, [caller.until("ask") for caller in callers]


def test_on_a_full_disk_the_first_act_waits_and_the_others_are_told_that_the_server_is_busy(
    tmp_path: Path,
) -> None:
    with serving(tmp_path, NO_HURRY) as server:
        (one, two), asks = seated(server)
        fill_the_disk(server)
        one.act(asks[0])
        one.say(type="ping")
        assert one.read()["type"] == "pong"  # no reply to the act
        one.act(asks[0])
        assert one.read()["code"] == "protocol.stale_ask"
        two.act(asks[1])
        assert two.until("error")["code"] == "server.busy"
        two.say(type="join", game="usa", players=2, against=["random"])
        error = two.until("error")
        assert (error["code"], "match" in error) == ("server.busy", False)
        assert len(list((server.data / "running").iterdir())) == 1  # that of the match that runs
        make_room(server)
        assert one.until("ok")["ask"] == asks[0]["ask"]
        two.act(asks[1])
        assert two.until("ok")["ask"] == asks[1]["ask"]


@pytest.mark.parametrize("answers", [0, 1])
def test_after_its_time_a_match_on_a_full_disk_fails_for_everybody(answers: int, tmp_path: Path) -> None:
    """Whoever got `server.busy`."""
    with serving(tmp_path, NO_HURRY, "--set=limits.unwritten_ms=1") as server:
        callers, asks = seated(server)
        fill_the_disk(server)
        callers[answers].act(asks[answers])
        for caller in callers:
            error = caller.until("error")
            assert (error["code"], error["match"]) == ("server.failed", asks[0]["match"])


def test_when_there_is_room_again_the_log_says_how_many_lines_are_missing(tmp_path: Path) -> None:
    """No line of it is broken: the one that was begun is ended first."""
    with serving(tmp_path, NO_HURRY, "--status=0") as server:
        page = server.log()[0]["url"]
        fill_the_disk(server)
        for _ in range(3):
            server.call().close()
        while dropped_lines(page) < 2:
            assert server.process.poll() is None
        make_room(server)
        server.call().close()
        while "log.lines_dropped" not in server.log_path.read_text():
            assert server.process.poll() is None
        server.signal(signal.SIGTERM)
        server.ended()
        dropped = [record for record in server.log() if record["event"] == "log.lines_dropped"]
        assert sum(record["count"] for record in dropped) in (2, 3)
