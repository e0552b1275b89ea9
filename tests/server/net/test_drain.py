"""Going down: what the first signal lets end, what the second leaves behind, and what neither waits for.

`test_served_process` has the two signals alone. Here clients come, go and stay meanwhile.
"""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.server.served_process import Caller, Serving, serving, watch_and_leave

NO_HURRY = "--set=time.move_ms=60000"


def begin_to_drain(server: Serving, number: signal.Signals = signal.SIGTERM) -> None:
    """Send the first signal, and return when the server has heard it."""
    idle = server.call()
    server.signal(number)
    assert idle.until("bye")["code"] == "server.shutting_down"
    idle.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_without_matches_goes_at_the_first_signal(number: signal.Signals, tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        begin_to_drain(server, number)
        assert server.ended() == 0
        assert server.process.stdout is not None
        assert server.process.stdout.read() == b""
        logged = [record["event"] for record in server.log() if record["event"].startswith("server.")]
        assert logged == ["server.draining", "server.stopped"]
        (draining,) = [record for record in server.log() if record["event"] == "server.draining"]
        assert (draining["signal"], draining["matches"]) == (number.name, 0)


def test_on_the_way_down_nothing_begins_and_what_runs_ends_whoever_lost_its_connection(
    tmp_path: Path,
) -> None:
    with serving(tmp_path, NO_HURRY) as server:
        player, lost = server.call(), server.call()
        player.login("player", max_matches=2)
        welcome = lost.login("lost")
        asks = [caller.practice("card_game") for caller in (player, lost)]
        lost.reset()
        begin_to_drain(server)
        player.say(type="join", game="card_game", players=2, against=["random"])
        assert player.until("error")["code"] == "server.shutting_down"
        back, stranger = server.call(), server.call()
        back.resume(welcome, asks[1])
        stranger.say(type="login", protocol=1, name="stranger")
        assert stranger.until("bye")["retry_ms"] > 0
        for caller, ask in ((back, back.until("ask")), (player, asks[0])):
            assert caller.play_on(ask)["type"] == "end"
            assert caller.until("bye")["code"] == "server.shutting_down"
        assert server.ended() == 0
        (stopped,) = [record for record in server.log() if record["event"] == "server.stopped"]
        assert stopped["matches_left"] == 0
        assert len(list((server.data / "replays").glob("*.jsonl"))) == 2
        for caller in (player, back, stranger):
            caller.close()


def test_the_second_signal_leaves_every_match_to_the_next_server(tmp_path: Path) -> None:
    with serving(tmp_path, NO_HURRY) as first:
        callers = [first.call() for _ in range(3)]
        welcomes = [caller.login(f"p{number}") for number, caller in enumerate(callers)]
        asks = [caller.practice("card_game") for caller in callers]
        begin_to_drain(first)
        first.signal(signal.SIGINT)
        for caller in callers:
            bye = caller.until("bye")
            assert (bye["code"], bye["retry_ms"] > 0) == ("server.shutting_down", True)
            caller.close()
        assert first.ended() == 1
        (stopped,) = [record for record in first.log() if record["event"] == "server.stopped"]
        assert stopped["matches_left"] == 3
    with serving(tmp_path, NO_HURRY) as second:
        for welcome, ask in zip(welcomes, asks, strict=True):
            back = second.call()
            back.resume(welcome, ask)
            assert back.until("ask")["ask"] == ask["ask"]
            back.close()


def test_who_never_reads_holds_up_no_goodbye(tmp_path: Path) -> None:
    flags = (
        "--set=limits.unsent_ms=300",
        "--set=limits.burst=1000000",
        "--set=limits.unsent_bytes=100000000",
    )
    with serving(tmp_path, NO_HURRY, *flags) as server:
        player = server.call()
        player.login("player", max_matches=2)
        match = player.practice("usa")["match"]
        deaf = Caller(server.port, receive_bytes=4_096)
        deaf.login("deaf")
        for caller, lines in ((player, b""), (deaf, watch_and_leave(match) * 400)):
            caller.send(lines)
            caller.say(type="join", game="card_game", players=2, room="both")
        player.until("start")
        server.signal(signal.SIGTERM)
        server.signal(signal.SIGINT)
        assert player.until("bye")["code"] == "server.shutting_down"
        player.close()
        assert server.ended() == 1
        deaf.close()


def test_a_server_killed_while_bots_wait_in_a_room_leaves_nothing_and_their_names_are_free(
    tmp_path: Path,
) -> None:
    with serving(tmp_path) as first:
        caller = first.call()
        welcome = caller.login("waiting")
        caller.say(type="join", game="card_game", players=2, room="room")
        assert caller.until("joined")["missing"] == 1
        first.kill()
        caller.close()
        assert not list((first.data / "running").iterdir())
    with serving(tmp_path) as second:
        back = second.call()
        back.resume(welcome)
        assert back.until("error")["code"] == "auth.bad_resume_key"
        assert back.login("waiting")["session"] != welcome["session"]
        back.close()
