"""What the server forgets, and when: a match that is over, a session that has ended."""

from __future__ import annotations

import gc

from stellwerk_protocol.messages import Join, Ready
from stellwerk_server.lobby.session import Session
from stellwerk_server.match.match_session import MatchSession
from stellwerk_server.operate.settings import Limits, Time
from tests.server.support import World

MINUTES = Time(set_up_ms=600_000, move_ms=600_000, bank_ms=0)


def in_memory(kind: type, id: str) -> bool:
    """Return whether such an object is in memory. Weak references would need a slot in every match, so search
    all objects."""
    gc.collect()
    return any(type(one) is kind and getattr(one, "id", "") == id for one in gc.get_objects())


def has_entry(world: World, deadline: float) -> bool:
    """Return whether the heap of deadlines still has an entry for this time."""
    entries = world.lobby.deadlines._entries  # pyright: ignore[reportPrivateUsage]  # the law is about it
    return any(entry == deadline for entry, _, _ in entries)


def test_a_match_that_is_over_is_forgotten_though_its_deadline_is_minutes_away() -> None:
    world = World(time=MINUTES, limits=Limits(session_kept_ms=0, messages_a_second=10**9, burst=10**9))
    client = world.practice("first")
    match = client.match
    set_up_until = world.match_of(client).set_up_until
    assert in_memory(MatchSession, match)
    world.play([client])
    assert client.has_ended()
    client.drop()
    world.tick()  # the session ends
    client.connection.session = None  # what the test itself holds
    assert not in_memory(MatchSession, match)
    assert has_entry(world, set_up_until)


def test_a_session_that_has_ended_is_forgotten_though_a_login_would_have_had_more_time() -> None:
    world = World()
    client = world.player("player")
    session = client.connection.session
    assert session is not None
    id = session.id
    del session
    login_until = world.now + world.setup.limits.login_ms
    client.drop()
    del world.clients[client.connection], client
    assert not in_memory(Session, id)
    assert has_entry(world, login_until)


def test_matches_of_a_session_that_plays_on_are_forgotten() -> None:
    """Their ends may have got lost on the way; but the disk has what is to be sent then."""
    world = World(time=MINUTES)
    client = world.practice("first")
    matches = [client.match]
    for _ in range(2):
        world.play([client])
        client.say(Join("usa", 2, against=("first",)))
        client.say(Ready(client.match))
        world.tick()
        matches.append(client.match)
    world.play([client])
    assert not any(in_memory(MatchSession, match) for match in matches)
