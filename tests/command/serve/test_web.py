"""`stellwerk serve --web`: the pages come with the server, go with it, and cost its matches nothing."""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import urllib.request
from pathlib import Path

from tests.server.served_process import Message, Serving, serving
from tests.web.serving import HOST, PATIENCE
from tests.web.watching import Watching


def logged(server: Serving, event: str) -> Message:
    """Return the first line of the log about this event, as soon as it is there."""
    while True:
        for record in server.log():
            if record["event"] == event:
                return record
        assert server.process.poll() is None
        os.sched_yield()


def pages_of(server: Serving) -> Watching:
    url: str = logged(server, "web.listening")["url"]
    return Watching(int(url.rstrip("/").rpartition(":")[2]))


def child_of(server: Serving) -> int:
    """Return the id of the web process."""
    lines = [path.read_text().splitlines() for path in Path("/proc").glob("[0-9]*/status")]
    parents = [(fields["Pid"], fields["PPid"]) for fields in map(_fields, lines)]
    [child] = [process for process, parent in parents if int(parent) == server.process.pid]
    return int(child)


def _fields(lines: list[str]) -> dict[str, str]:
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def has_ended(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_the_pages_show_the_matches_of_the_server(tmp_path: Path) -> None:
    with serving(tmp_path, "--web", "0") as server:
        pages = pages_of(server)
        caller = server.call()
        caller.login("ann")
        ask = caller.practice()
        head = pages.match_when(match=ask["match"])
        assert [player["name"] for player in head["players"]] == ["ann", "random"]
        assert pages.get("/").status == 200


def test_a_server_with_tokens_shows_its_matches_and_lets_nobody_else_in(tmp_path: Path) -> None:
    """The web process has a token of its own, which no file has, over a connection that only it can open."""
    tokens = tmp_path / "tokens"
    tokens.write_text(f"ann {hashlib.sha256(b'secret').hexdigest()}\n")
    with serving(tmp_path, "--web", "0", "--tokens", str(tokens)) as server:
        pages = pages_of(server)
        pages.until_connected()
        caller = server.call()
        caller.login("ann", token="secret")
        ask = caller.practice()
        pages.match_when(match=ask["match"])
        stranger = server.call()
        stranger.say(type="login", protocol=1, name="web-0")
        assert stranger.read()["code"] == "auth.bad_token"
    assert "token" not in "".join(str(record) for record in server.log() if record["event"].startswith("web"))


def test_a_config_file_can_ask_for_the_pages(tmp_path: Path) -> None:
    config = tmp_path / "server.toml"
    config.write_text('web = "0,matches.example.org"\n')
    with serving(tmp_path, "--config", str(config)) as server:
        pages = pages_of(server)
        assert pages.get("/", host="matches.example.org").status == 200
        assert pages.get("/", host="other.example.org").status == 421


def test_the_pages_end_with_the_server_whatever_ends_it(tmp_path: Path) -> None:
    for number in (signal.SIGKILL, signal.SIGTERM):
        with serving(tmp_path / number.name, "--web", "0") as server:
            pages_of(server)
            child = child_of(server)
            server.signal(number)
            server.ended()
            while not has_ended(child):
                os.sched_yield()


def test_pages_that_die_are_one_line_and_cost_the_matches_nothing(tmp_path: Path) -> None:
    with serving(tmp_path, "--web", "0") as server:
        pages_of(server).until_connected()
        caller = server.call()
        caller.login("ann")
        ask = caller.practice()
        os.kill(child_of(server), signal.SIGKILL)
        assert "ended with exit code -9" in logged(server, "web.ended")["why"]
        assert caller.play_on(ask)["type"] == "end"


def test_the_status_page_answers_while_the_pages_are_dead(tmp_path: Path) -> None:
    with serving(tmp_path, "--web", "0", "--status", "0") as server:
        pages_of(server)
        os.kill(child_of(server), signal.SIGKILL)
        logged(server, "web.ended")
        with urllib.request.urlopen(logged(server, "status.listening")["url"], timeout=PATIENCE) as page:
            assert page.status == 200


def test_pages_that_cannot_listen_are_one_line_and_cost_the_matches_nothing(tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as taken:
        port = str(taken.getsockname()[1])
        with serving(tmp_path, "--web", port) as server:
            assert "cannot listen" in logged(server, "web.failed")["why"]
            assert "ended with exit code 4" in logged(server, "web.ended")["why"]
            caller = server.call()
            caller.login("ann")
            assert caller.play_on(caller.practice())["type"] == "end"


def test_a_spectator_that_the_server_sends_away_comes_again(tmp_path: Path) -> None:
    """The control socket opens any number of connections: the name is taken by a login of the same token."""
    with serving(tmp_path, "--web", "0", "--set=limits.unsent_ms=200") as server:
        pages = pages_of(server)
        pages.until_connected()
        child = child_of(server)
        os.kill(child, signal.SIGSTOP)
        caller = server.call()
        caller.login("ann")
        ask = caller.practice()
        caller.play_on(ask)
        os.kill(child, signal.SIGCONT)
        pages.match_when(match=ask["match"], state="ended")
