"""The Python spectator, against a real server, and against one whose script does what servers rarely do."""

from __future__ import annotations

from pathlib import Path

import pytest

from stellwerk_bots.bot import Message
from stellwerk_bots.client import NO_SERVER, REFUSED, USAGE, Client, ClientError, join
from stellwerk_bots.random_bot import RandomPlayer
from stellwerk_bots.spectator import Spectator
from tests.bots.scripted_server import HELLO, Peer, bye, error, free_port, serve, welcome
from tests.server.served_process import serving

LISTS: Message = HELLO | {"features": ["matches"]}


def listed(match: str, state: str) -> Message:
    return {"match": match, "state": state, "game": "usa", "options": [], "players": []}


def match_list(cursor: str, *matches: Message, **fields: object) -> Message:
    return {"type": "match_list", "cursor": cursor, "matches": list(matches), **fields}


def let_in(peer: Peer) -> None:
    peer.send(LISTS)
    assert peer.receive("login")["name"] == "eyes"
    peer.send(welcome(name="eyes"))


def test_a_spectator_finds_matches_and_watches_them(tmp_path: Path) -> None:
    """One that is over, and the next one in the list of changes."""
    with serving(tmp_path) as server:
        address = f"tcp://127.0.0.1:{server.port}"
        wish = join("card_game", against=["random"])
        with Spectator(address, "eyes") as spectator:
            assert spectator.matches() == []
            for count in (1, 2):
                Client(address, "bot", RandomPlayer, wish, tell_result=lambda _: None).run()
                matches = spectator.matches()
                assert [match["state"] for match in matches] == ["ended"] * count
                seen = list(spectator.watch(matches[-1]["match"]))
                kinds = [message["type"] for message in seen]
                assert kinds == ["start", *["event"] * (len(kinds) - 2), "end"]
                end = seen[-1]
                assert end["type"] == "end"
                assert end["result"]["ranks"] == matches[-1].get("ranks")
            with pytest.raises(ClientError, match=r"protocol\.no_such_match at /match"):
                next(spectator.watch("nowhere"))


def test_the_list_is_kept_from_its_changes() -> None:
    def script(peer: Peer) -> None:
        let_in(peer)
        assert peer.receive("matches") == {"type": "matches"}
        peer.send(match_list("c1", listed("a", "running"), anew=True, more=True))
        assert peer.receive("matches")["after"] == "c1"
        peer.send({"type": "news"}, match_list("c2", listed("b", "running")))
        assert peer.receive("matches")["after"] == "c2"
        peer.send(match_list("c3", listed("a", "ended")))
        assert peer.receive("matches")["after"] == "c3"
        peer.send(match_list("d1", listed("e", "running"), anew=True))

    def states(spectator: Spectator) -> list[tuple[str, str]]:
        return [(match["match"], match["state"]) for match in spectator.matches()]

    with serve(script) as address, Spectator(address, "eyes") as spectator:
        assert states(spectator) == [("a", "running"), ("b", "running")]
        assert states(spectator) == [("b", "running"), ("a", "ended")]
        assert states(spectator) == [("e", "running")]


def test_a_spectator_that_has_seen_enough_leaves_the_match() -> None:
    def script(peer: Peer) -> None:
        let_in(peer)
        peer.receive("watch")
        start: Message = {"type": "start", "match": "m", "game": "usa", "players": [], "board": {}}
        event: Message = {"type": "event", "match": "m", "event": {}}
        peer.send(start, event | {"number": 1}, event | {"number": 2})
        assert peer.receive("leave")["match"] == "m"
        peer.send({"type": "left", "match": "m"})
        peer.receive("matches")
        peer.send(match_list("c"))

    with serve(script) as address, Spectator(address, "eyes") as spectator:
        watched = spectator.watch("m")
        assert [next(watched)["type"], next(watched)["type"]] == ["start", "event"]
        watched.close()
        assert spectator.matches() == []


def test_a_match_that_the_server_fails_ends_with_that_error() -> None:
    def script(peer: Peer) -> None:
        let_in(peer)
        peer.receive("watch")
        peer.send({"type": "start", "match": "m", "game": "usa", "players": [], "board": {}})
        peer.send(error("server.failed", match="m"))

    with serve(script) as address, Spectator(address, "eyes") as spectator:
        assert [message["type"] for message in spectator.watch("m")] == ["start", "error"]


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([HELLO], "lacks the feature 'matches'"),
        ([LISTS, error("auth.bad_token")], r"auth\.bad_token"),
        ([bye("server.full")], r"server\.full"),
        ([{"type": "hello"}], "not a Stellwerk server"),
    ],
)
def test_a_server_that_shows_nothing_is_reported_in_one_line(messages: list[Message], text: str) -> None:
    def script(peer: Peer) -> None:
        for message in messages:
            peer.send(message)
            if message is LISTS:
                peer.receive("login")

    with serve(script) as address, pytest.raises(ClientError, match=text) as refused:
        Spectator(address, "eyes")
    assert refused.value.exit_code == REFUSED
    assert "\n" not in str(refused.value)


def test_a_connection_that_is_lost_or_never_was_is_reported() -> None:
    with serve(let_in) as address, Spectator(address, "eyes") as spectator:
        with pytest.raises(ClientError, match="the connection is lost") as lost:
            spectator.matches()
        assert lost.value.exit_code == NO_SERVER
    with pytest.raises(ClientError, match="cannot connect") as nobody:
        Spectator(f"tcp://127.0.0.1:{free_port()}", "eyes")
    assert nobody.value.exit_code == NO_SERVER
    with pytest.raises(ClientError, match="not an address") as wrong:
        Spectator("somewhere", "eyes")
    assert wrong.value.exit_code == USAGE
