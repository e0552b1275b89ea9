"""The id that a client gives its own `join` or `watch` comes back in the answers, and nobody else sees it."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

import pytest
from msgspec import UNSET

from stellwerk_protocol.messages import Error, FromClient, FromServer, Join, Joined, Leave, Start, Watch
from stellwerk_server.lobby.tokens import TokenHolder, Tokens
from tests.server.support import MemoryJournal, World, reserved

TOKENS: Final = Tokens((TokenHolder("Org", sha256(b"org's").hexdigest(), is_organizer=True),))


def answers(messages: list[FromServer]) -> list[tuple[str, object]]:
    """Return the types of those messages that can have an id, with the id."""
    return [(type(one).__name__, one.request) for one in messages if isinstance(one, Joined | Start | Error)]


def test_a_practice_match_names_the_join_that_it_answers() -> None:
    client = World().player("player", max_matches=2)
    for request in ("j-1", "j-2"):
        news = client.say(Join("usa", 2, against=("first",), request=request))
        assert answers(news) == [("Joined", request), ("Start", request)]


def test_everything_about_a_room_has_the_id_of_the_clients_own_join() -> None:
    world = World()
    one, two, three = (world.player(name) for name in ("one", "two", "three"))
    assert answers(one.say(Join("usa", 3, request="of-one"))) == [("Joined", "of-one")]
    two.say(Join("usa", 3))
    three.say(Join("usa", 3, request="of-three"))
    assert answers(one.news()) == [("Joined", "of-one"), ("Joined", "of-one"), ("Start", "of-one")]
    assert [joined.request for joined in two.all_of(Joined)] == [UNSET, UNSET]
    assert [joined.request for joined in three.all_of(Joined)] == ["of-three"]
    assert (two.the(Start).request, three.the(Start).request) == (UNSET, "of-three")


def test_the_next_client_in_a_seat_does_not_get_the_id_of_the_one_before() -> None:
    world = World()
    one, two, three = (world.player(name) for name in ("one", "two", "three"))
    one.say(Join("usa", 3))
    two.say(Join("usa", 3, request="of-two"))
    two.say(Leave(room=two.the(Joined).room))
    assert answers(three.say(Join("usa", 3))) == [("Joined", UNSET)]


def test_a_client_that_takes_over_gets_the_id_of_its_room_again_but_not_of_its_match() -> None:
    """The id of a match is the answer to a join, and a resume sends no join."""
    world = World()
    client = world.player("player", max_matches=2)
    client.say(Join("usa", 2, against=("first",), request="match"), Join("usa", 2, request="room"))
    back = client.resume()
    assert back.the(Start).request is UNSET
    assert back.the(Joined).request == "room"


REFUSED: Final[dict[str, tuple[FromClient | bytes, object]]] = {
    "a wrong value": (Join("usa", 6, request="j"), "j"),
    "too many matches": (Join("usa", 2, request="j"), "j"),
    "an unknown match": (Watch("nowhere", request="w"), "w"),
    "an unknown field": (b'{"type":"join","game":"usa","player":2,"request":"j"}', "j"),
    "a missing field": (b'{"type":"watch","request":"w"}', "w"),
    "a wrong id": (b'{"type":"watch","match":"m","request":"w w"}', UNSET),
    "an id of another type": (b'{"type":"join","request":{"j":1}}', UNSET),
    "a message without ids": (b'{"type":"ping","request":"p"}', UNSET),
    "no JSON": (b'{"type":"join","request":"j"', UNSET),
}


@pytest.mark.parametrize("what", REFUSED)
def test_an_error_has_the_id_of_the_line_that_it_refuses(what: str) -> None:
    message, request = REFUSED[what]
    client = World().player("player")
    client.say(Join("usa", 3))
    assert answers(client.say(message)) == [("Error", request)]


def test_a_spectator_gets_the_id_with_the_start_while_the_match_runs_and_after_it() -> None:
    world = World()
    players = world.seated()
    spectator = world.player("spectator")
    assert answers(spectator.say(Watch(players[0].match, request="now")))[:1] == [("Start", "now")]
    world.play(players)
    again = world.player("again")
    assert answers(again.say(Watch(players[0].match, request="later")))[:1] == [("Start", "later")]


def test_who_waits_for_all_hands_gets_the_id_at_the_end() -> None:
    world = World(tokens=TOKENS)
    players = reserved(world)
    organizer = world.connect()
    organizer.login("Org", token="org's")
    organizer.say(Watch("reserved", "all_hands", request="late"))
    world.play(players)
    assert organizer.the(Start).request == "late"


def test_a_room_whose_match_could_not_begin_names_each_join() -> None:
    """A full disk: everybody has to join again, and is told which join that concerns."""

    def open_full(match: str) -> MemoryJournal:
        journal = MemoryJournal()
        journal.is_full = True
        return journal

    world = World(open_journal=open_full)
    one, two = world.player("one"), world.player("two")
    one.say(Join("usa", 2, request="of-one"))
    two.say(Join("usa", 2))
    assert answers(one.news()) == [("Joined", "of-one"), ("Error", "of-one")]
    assert [(error.code, error.request) for error in two.all_of(Error)] == [("server.busy", UNSET)]
    assert answers(one.say(Join("usa", 2, request="again"))) == [("Joined", "again")]
