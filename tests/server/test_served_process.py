"""`stellwerk serve` as users run it: killed, drained, short of descriptors or disk, with TLS and tokens."""

from __future__ import annotations

import json
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from stellwerk_engine.replays.verify import verify
from stellwerk_server.lobby.tokens import hashed, new_token
from tests.server.served_process import Caller, Message, Serving, serving

CERTIFICATE = Path(__file__).parents[1] / "bots" / "loopback.pem"
NO_HURRY = "--set=time.move_ms=60000"


def resumed(server: Serving, name: str, welcome: Message, last_events: dict[str, int]) -> Caller:
    caller = server.call()
    resume = {"session": welcome["session"], "key": welcome["resume_key"], "last_events": last_events}
    caller.say(type="login", protocol=1, name=name, resume=resume)
    return caller


@pytest.mark.parametrize("turns", [0, 1, 2, 40], ids=["choice", "first turn", "second turn", "middle"])
def test_a_server_killed_in_a_match_goes_on_with_it(tmp_path: Path, turns: int) -> None:
    with serving(tmp_path, NO_HURRY) as first:
        caller = first.call()
        welcome = caller.login("phoenix")
        ask = caller.practice("united_kingdom")
        ask = caller.play_on(ask, turns)
        first.kill()
        caller.close()
    with serving(tmp_path, NO_HURRY) as second:
        back = resumed(second, "phoenix", welcome, {ask["match"]: ask["after_event"]})
        again = back.until("ask")
        assert (again["ask"], again["view"], again["legal"]) == (ask["ask"], ask["view"], ask["legal"])
        assert back.play_on(again)["reveal"] == "now"
        back.close()
        assert not list((second.data / "running").glob("*.journal"))
        (replay,) = (second.data / "replays").glob("*.jsonl")
        verified = subprocess.run(
            [sys.executable, "-m", "stellwerk", "replay", "verify", replay], check=False
        )
        assert verified.returncode == 0


def test_a_server_killed_in_the_set_up_or_between_two_choices_goes_on(tmp_path: Path) -> None:
    with serving(tmp_path, NO_HURRY) as first:
        one, two = first.call(), first.call()
        welcomes = [one.login("one"), two.login("two")]
        for caller in (one, two):  # `one` in the first seat
            caller.say(type="join", game="usa", players=2, room="r")
            caller.until("joined")
        match = one.until("start")["match"]
        assert two.until("start")["match"] == match
        one.say(type="ready", match=match)
        first.kill()
        one.close()
        two.close()
    with serving(tmp_path, NO_HURRY) as second:
        one, two = (
            resumed(second, name, welcome, {}) for name, welcome in zip(("one", "two"), welcomes, strict=True)
        )
        welcomes = [one.until("welcome"), two.until("welcome")]
        one.act(one.until("ask"))
        one.until("ok")
        second.kill()
        one.close()
        two.close()
    with serving(tmp_path, NO_HURRY) as third:
        one, two = (
            resumed(third, name, welcome, {}) for name, welcome in zip(("one", "two"), welcomes, strict=True)
        )
        ask = two.until("ask")
        assert (ask["ask"], ask["decision"]["type"]) == (1, "keep_tickets")
        two.act(ask)
        assert one.until("ask")["ask"] == 2  # its first choice was not lost
        one.close()
        two.close()


def test_a_server_killed_while_an_end_was_on_its_way_sends_it_again(tmp_path: Path) -> None:
    """It also sends all events that had not arrived. The other match of the session goes on."""
    with serving(tmp_path, NO_HURRY) as first:
        caller = first.call()
        welcome = caller.login("phoenix", max_matches=2)
        ask = caller.practice()
        goes_on = caller.practice()
        end = caller.play_on(ask)
        first.kill()
        caller.close()
    with serving(tmp_path, NO_HURRY) as second:
        seen = {ask["match"]: ask["after_event"], goes_on["match"]: goes_on["after_event"]}
        back = resumed(second, "phoenix", welcome, seen)
        assert back.until("event", match=ask["match"])["number"] == ask["after_event"] + 1
        assert back.until("end") == end
        again = back.until("ask")
        assert (again["match"], again["ask"]) == (goes_on["match"], goes_on["ask"])
        back.act({**again, "match": ask["match"]})
        assert back.until("error")["code"] == "protocol.stale_ask"
        assert back.play_on(again)["type"] == "end"
        back.close()


def test_a_torn_journal_is_cut_and_a_corrupt_one_put_aside(tmp_path: Path) -> None:
    with serving(tmp_path, NO_HURRY) as first:
        callers = [first.call(), first.call()]
        welcomes = [caller.login(f"c{number}") for number, caller in enumerate(callers)]
        asks = [caller.play_on(caller.practice(), 5) for caller in callers]
        first.kill()
        for caller in callers:
            caller.close()
    torn, corrupt = ((tmp_path / "data" / "running" / f"{ask['match']}.journal") for ask in asks)
    torn.write_bytes(torn.read_bytes()[:-7])
    content = bytearray(corrupt.read_bytes())
    content[len(content) // 2] ^= 1
    corrupt.write_bytes(content)
    with serving(tmp_path, NO_HURRY) as second:
        back = resumed(second, "c0", welcomes[0], {})
        assert back.play_on(back.until("ask"))["type"] == "end"
        gone = resumed(second, "c1", welcomes[1], {})
        assert gone.until("error")["code"] == "auth.bad_resume_key"
        back.close()
        gone.close()
        events = {record["event"]: record for record in second.log()}
        assert events["journal.unusable"]["journal"] == corrupt.name
        assert events["match.resumed"]["match"] == asks[0]["match"]
    assert corrupt.with_suffix(".unusable").read_bytes() == bytes(content)


def test_the_first_signal_lets_matches_end_and_turns_new_ones_away(tmp_path: Path) -> None:
    with serving(tmp_path, NO_HURRY) as server:
        idle, playing = server.call(), server.call()
        idle.login("idle")
        ask = playing.login("playing") and playing.practice()
        server.signal(signal.SIGTERM)
        assert idle.until("bye")["code"] == "server.shutting_down"
        late = server.call()
        late.say(type="login", protocol=1, name="late")
        assert late.until("bye")["code"] == "server.shutting_down"
        assert playing.play_on(ask)["type"] == "end"
        assert playing.until("bye")["code"] == "server.shutting_down"
        assert server.ended() == 0
        for caller in (idle, playing, late):
            caller.close()


def until_nobody_new_comes_in(server: Serving) -> None:
    answer = "welcome"
    while answer == "welcome":
        newcomer = server.call()
        newcomer.say(type="login", protocol=1, name="newcomer")
        answer = newcomer.read()["type"]
        newcomer.close()


def test_the_second_signal_stops_at_once_and_leaves_the_match_to_be_resumed(tmp_path: Path) -> None:
    with serving(tmp_path, NO_HURRY) as first:
        caller = first.call()
        welcome = caller.login("cut")
        ask = caller.practice()
        first.signal(signal.SIGTERM)
        until_nobody_new_comes_in(first)  # two signals at once are one
        first.signal(signal.SIGTERM)
        assert caller.until("bye")["code"] == "server.shutting_down"
        assert first.ended() == 1
        caller.close()
    with serving(tmp_path, NO_HURRY) as second:
        back = resumed(second, "cut", welcome, {})
        assert back.until("ask")["ask"] == ask["ask"]
        back.close()


def test_out_of_descriptors_a_newcomer_takes_the_place_of_who_waits_and_matches_go_on(tmp_path: Path) -> None:
    few = (
        sys.executable,
        "-c",
        "import os, resource, sys; "
        "resource.setrlimit(resource.RLIMIT_NOFILE, (70, 70)); os.execv(sys.argv[1], sys.argv[1:])",
    )
    with serving(tmp_path, NO_HURRY, "--set=limits.unauthenticated=600", prefix=few) as server:
        good = server.call()
        good.login("good")
        ask = good.practice()
        waiting = [server.call() for _ in range(60)]
        assert waiting[0].read()["code"] == "server.full"
        assert waiting[-1].login("newcomer")["name"] == "newcomer"
        assert good.play_on(ask)["type"] == "end"
        for caller in (*waiting, good):
            caller.close()


def test_on_a_full_disk_the_match_stands_still_and_ends_as_the_servers_fault(tmp_path: Path) -> None:
    full = (
        sys.executable,
        "-c",
        "import os, resource, sys; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000)); os.execv(sys.argv[1], sys.argv[1:])",
    )
    with serving(tmp_path, NO_HURRY, "--set=limits.unwritten_ms=600", prefix=full) as server:
        caller = server.call()
        caller.login("writer")
        ask = caller.practice()
        message = ask
        while message["type"] == "ask":
            caller.act(message)
            message = caller.read()
            while message["type"] in ("ok", "event"):
                message = caller.read()
        assert (message["type"], message["code"]) == ("error", "server.failed")
        caller.say(type="ping", echo=1)
        assert caller.until("pong")["echo"] == 1
        caller.close()
        (failed,) = [record for record in server.log() if record["event"] == "match.failed"]
        assert failed["match"] == ask["match"]
        assert failed["disk_error"].startswith("[Errno ")


def test_a_folder_that_is_removed_costs_nobody_a_result(tmp_path: Path) -> None:
    with serving(tmp_path, NO_HURRY) as server:
        caller = server.call()
        caller.login("player")
        ask = caller.play_on(caller.practice(), turns=2)
        shutil.rmtree(server.data)
        end = caller.play_on(ask)
        assert (end["type"], end["match"]) == ("end", ask["match"])
        caller.close()
        assert [record["match"] for record in server.log() if record["event"] == "journal.removed"] == [
            ask["match"]
        ]
        content = (server.data / "replays" / f"{ask['match']}.jsonl").read_bytes().splitlines(keepends=True)
        assert verify(content).good


def test_a_match_over_tls_and_a_token_that_belongs_to_a_name(tmp_path: Path) -> None:
    token, other = new_token(), new_token()
    tokens = tmp_path / "tokens"
    tokens.write_text(f"# who may play\nalice {hashed(token)}\nbob {hashed(other)} organizer\n")
    trusted = ssl.create_default_context(cafile=CERTIFICATE)
    trusted.check_hostname = False
    flags = ("--tls-cert", str(CERTIFICATE), "--tls-key", str(CERTIFICATE), "--tokens", str(tokens), NO_HURRY)
    with serving(tmp_path, *flags) as server:
        stranger = server.call(trusted)
        stranger.say(type="login", protocol=1, name="alice")
        assert stranger.until("error")["code"] == "auth.bad_token"
        stranger.say(type="login", protocol=1, name="alice", token=other)
        assert stranger.until("error")["code"] == "auth.bad_token"
        alice = server.call(trusted)
        alice.login("alice", token=token)
        ask = alice.play_on(alice.practice(), 3)
        watcher = server.call(trusted)
        watcher.login("bob", token=other)
        watcher.say(type="watch", match=ask["match"], viewer="all_hands")
        watcher.say(type="watch", match="none", viewer="public")
        assert watcher.until("error")["code"] == "protocol.no_such_match"
        assert alice.play_on(ask)["type"] == "end"
        assert watcher.until("start")["viewer"] == "all_hands"  # not before the end
        dealt = watcher.until("event", number=2)["event"]
        assert dealt["type"] != "cards_dealt" or "cards" in dealt
        plain = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        plain.sendall(b'{"type":"login"}\n' * 10)  # no handshake
        while plain.recv(100):
            pass  # an alert, perhaps, and then the end
        plain.close()
        for caller in (stranger, alice, watcher, server.call(trusted)):
            caller.close()
        text = server.log_path.read_text()
        assert token not in text
        assert other not in text


def test_the_status_page_tells_what_runs(tmp_path: Path) -> None:
    with serving(tmp_path, NO_HURRY, "--status", "0") as server:
        (listening,) = [record for record in server.log() if record["event"] == "status.listening"]
        caller = server.call()
        caller.login("player")
        ask = caller.practice()
        with urllib.request.urlopen(listening["url"], timeout=60) as page:
            status = json.load(page)
        assert (status["running"], status["finished"], status["connections"]) == (1, 0, 1)
        assert [match["match"] for match in status["matches"]] == [ask["match"]]
        assert status["memory_kb"] > 1000
        caller.play_on(ask)
        with urllib.request.urlopen(listening["url"], timeout=60) as page:
            status = json.load(page)
        assert (status["running"], status["finished"]) == (0, 1)
        assert status["decisions"] > 0
        caller.close()


def test_a_config_file_says_what_flags_say(tmp_path: Path) -> None:
    config = tmp_path / "server.toml"
    config.write_text(
        "log_level = 'warning'\nhouse_bots = false\n[time]\nmove_ms = 777\n[limits]\nburst = 99\n"
    )
    with serving(tmp_path, "--config", str(config), "--set=time.bank_ms=5") as server:
        caller = Caller(server.port)
        assert caller.read()["limits"]["burst"] == 99
        caller.login("one")
        caller.say(type="join", game="usa", players=2, against=["random"])
        assert "no house bots" in caller.until("error")["expected"]
        other = server.call()
        other.login("two")
        for player in (caller, other):
            player.say(type="join", game="usa", players=2)
        clocks = caller.until("start")["clocks"]
        assert (clocks["move_ms"], clocks["bank_ms"]) == (777, 5)
        caller.close()
        other.close()


def refused(*flags: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "stellwerk", "serve", *flags], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (("--set", "time.move=1"), 'there is no setting "move"'),
        (("--set", "time.move_ms=soon"), "time.move_ms: expected a whole number"),
        (("--set", "limits.burst=0"), "limits.burst: expected a whole number, at least 1"),
        (("--tls-cert", "x"), "go together"),
        (("--set", "log_level=loud"), 'there is no level "loud"'),
        (("--board", "usa=/nowhere.json"), "/nowhere.json"),
        (("--board", "chess=x"), 'there is no game "chess"'),
        (("--tokens", "/nowhere"), "/nowhere: cannot be read"),
        (("--config", "/nowhere.toml"), "/nowhere.toml: cannot be read"),
    ],
)
def test_a_wrong_flag_is_told_in_one_line(tmp_path: Path, flags: tuple[str, ...], complaint: str) -> None:
    code, error = refused("--data", str(tmp_path / "data"), *flags)
    assert code == 2
    assert complaint in error
    assert error.count("\n") == 1


def test_a_wrong_name_in_a_config_file_is_told_with_the_nearest(tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text("lisen = 1\n")
    code, error = refused("--config", str(config))
    assert (code, f'{config}: there is no setting "lisen"; did you mean "listen"?' in error) == (2, True)


def test_a_port_in_use_is_the_machines_fault(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, error = refused("--data", str(tmp_path), "--listen", str(taken.getsockname()[1]))
    assert code == 4
    assert "cannot listen: Address already in use" in error


def test_the_soft_limit_of_descriptors_is_raised_to_the_hard_one() -> None:
    program = (
        "import resource; hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1];"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard));"
        "from stellwerk_server.operate.resources import raise_limit; raise_limit();"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 0
