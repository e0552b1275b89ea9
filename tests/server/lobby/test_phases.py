"""Every message in every phase: one of another phase gets its code, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import pytest

from stellwerk_protocol.messages import (
    Act,
    FromClient,
    Join,
    Leave,
    ListMatches,
    Login,
    Ping,
    Ready,
    Resume,
    Watch,
)
from tests.server.support import Client, World, codes, first_turn, snapshot


@dataclass
class Scene:
    """One client in a phase, and the others there are."""

    world: World
    client: Client
    others: list[Client]
    match: str = "nowhere"
    room: str = "nowhere"
    ask: int = 1


def greeting() -> Scene:
    world = World()
    return Scene(world, world.connect(), [])


def logged_in() -> Scene:
    world = World()
    return Scene(world, world.player("player"), [])


def in_room() -> Scene:
    world = World()
    client, other = world.player("player"), world.player("other")
    for one in (client, other):
        one.say(Join("usa", 3))
    (room,) = world.lobby.rooms.by_id
    return Scene(world, client, [other], room=room)


def set_up() -> Scene:
    world = World()
    client, other = world.seated(ready=False)
    return Scene(world, client, [other], match=client.match)


def ready() -> Scene:
    scene = set_up()
    scene.client.say(Ready(scene.match))
    return scene


def asked() -> Scene:
    world = World()
    mover, others = first_turn(world.seated())
    return Scene(world, mover, others, match=mover.match, ask=mover.ask.ask)


def not_asked() -> Scene:
    world = World()
    mover, (other,) = first_turn(world.seated())
    return Scene(world, other, [mover], match=mover.match)


def answered() -> Scene:
    """Answer for one client, while others still owe their choices."""
    world = World()
    client, *others = world.seated(("usa", 3, ()))
    client.act(0)
    return Scene(world, client, others, match=client.match)


def after_the_end() -> Scene:
    world = World()
    client, other = world.seated()
    world.play([client, other])
    return Scene(world, client, [other], match=client.match)


def after_leaving() -> Scene:
    world = World()
    client, other = world.seated()
    client.say(Leave(match=client.match))
    return Scene(world, client, [other], match=client.match)


def spectating() -> Scene:
    world = World()
    players = world.seated()
    spectator = world.player("spectator")
    spectator.say(Watch(players[0].match))
    return Scene(world, spectator, players, match=players[0].match)


PHASES: Final[dict[str, Callable[[], Scene]]] = {
    scene.__name__: scene
    for scene in (
        greeting,
        logged_in,
        in_room,
        set_up,
        ready,
        asked,
        not_asked,
        answered,
        after_the_end,
        after_leaving,
        spectating,
    )
}

MESSAGES: Final[dict[str, Callable[[Scene], FromClient]]] = {
    "login": lambda _: Login(1, "somebody"),
    "resume": lambda _: Login(1, "somebody", resume=Resume("no-session", "no-key", {})),
    "join": lambda _: Join("usa", 2),
    "practice": lambda _: Join("usa", 2, against=("first",)),
    "leave_match": lambda scene: Leave(match=scene.match),
    "leave_room": lambda scene: Leave(room=scene.room),
    "leave_nothing": lambda _: Leave(),
    "leave_both": lambda scene: Leave(match=scene.match, room=scene.room),
    "ready": lambda scene: Ready(scene.match),
    "act": lambda scene: Act(scene.match, scene.ask, index=0),
    "ping": lambda _: Ping(7),
    "watch": lambda scene: Watch(scene.match),
    "watch_all_hands": lambda scene: Watch(scene.match, "all_hands"),
    "matches": lambda _: ListMatches(),
}

LEGAL: Final = ""
PHASE, VALUE = "protocol.out_of_phase", "protocol.wrong_value"
MATCH, ROOM, MANY = "protocol.no_such_match", "protocol.no_such_room", "protocol.too_many_matches"
STALE, FORBIDDEN, KEY = "protocol.stale_ask", "auth.not_allowed", "auth.bad_resume_key"

# In the order of MESSAGES.
TABLE: Final[dict[str, tuple[str, ...]]] = {
    "greeting": (
        LEGAL,
        KEY,
        PHASE,
        PHASE,
        PHASE,
        PHASE,
        PHASE,
        PHASE,
        PHASE,
        PHASE,
        PHASE,
        PHASE,
        PHASE,
        PHASE,
    ),
    "logged_in": (
        PHASE,
        PHASE,
        LEGAL,
        LEGAL,
        MATCH,
        ROOM,
        VALUE,
        VALUE,
        MATCH,
        MATCH,
        LEGAL,
        MATCH,
        MATCH,
        LEGAL,
    ),
    "in_room": (
        PHASE,
        PHASE,
        MANY,
        MANY,
        MATCH,
        LEGAL,
        VALUE,
        VALUE,
        MATCH,
        MATCH,
        LEGAL,
        MATCH,
        MATCH,
        LEGAL,
    ),
    "set_up": (
        PHASE,
        PHASE,
        MANY,
        MANY,
        LEGAL,
        ROOM,
        VALUE,
        VALUE,
        LEGAL,
        STALE,
        LEGAL,
        PHASE,
        FORBIDDEN,
        LEGAL,
    ),
    "ready": (
        PHASE,
        PHASE,
        MANY,
        MANY,
        LEGAL,
        ROOM,
        VALUE,
        VALUE,
        PHASE,
        STALE,
        LEGAL,
        PHASE,
        FORBIDDEN,
        LEGAL,
    ),
    "asked": (
        PHASE,
        PHASE,
        MANY,
        MANY,
        LEGAL,
        ROOM,
        VALUE,
        VALUE,
        PHASE,
        LEGAL,
        LEGAL,
        PHASE,
        FORBIDDEN,
        LEGAL,
    ),
    "not_asked": (
        PHASE,
        PHASE,
        MANY,
        MANY,
        LEGAL,
        ROOM,
        VALUE,
        VALUE,
        PHASE,
        STALE,
        LEGAL,
        PHASE,
        FORBIDDEN,
        LEGAL,
    ),
    "answered": (
        PHASE,
        PHASE,
        MANY,
        MANY,
        LEGAL,
        ROOM,
        VALUE,
        VALUE,
        PHASE,
        STALE,
        LEGAL,
        PHASE,
        FORBIDDEN,
        LEGAL,
    ),
    "after_the_end": (
        *(
            PHASE,
            PHASE,
            LEGAL,
            LEGAL,
            MATCH,
            ROOM,
            VALUE,
            VALUE,
            PHASE,
            STALE,
            LEGAL,
            LEGAL,
            FORBIDDEN,
            LEGAL,
        ),
    ),
    "after_leaving": (
        *(
            PHASE,
            PHASE,
            LEGAL,
            LEGAL,
            MATCH,
            ROOM,
            VALUE,
            VALUE,
            MATCH,
            MATCH,
            LEGAL,
            LEGAL,
            FORBIDDEN,
            LEGAL,
        ),
    ),
    "spectating": (
        *(
            PHASE,
            PHASE,
            LEGAL,
            LEGAL,
            LEGAL,
            ROOM,
            VALUE,
            VALUE,
            MATCH,
            MATCH,
            LEGAL,
            PHASE,
            FORBIDDEN,
            LEGAL,
        ),
    ),
}


def test_the_table_has_every_phase_and_every_message() -> None:
    assert list(TABLE) == list(PHASES)
    assert {len(row) for row in TABLE.values()} == {len(MESSAGES)}


def quiet(phase: str) -> tuple[Scene, object]:
    """Make a scene in which all messages are read. Return it, and what there is."""
    scene = PHASES[phase]()
    for client in (scene.client, *scene.others):
        client.news()
    return scene, snapshot(scene.world)


@pytest.mark.parametrize("phase", PHASES)
def test_a_message_of_another_phase_is_refused_and_changes_nothing(phase: str) -> None:
    """It is answered with one error and nothing else; the others do not hear of it."""
    scene, before = quiet(phase)
    for message, code in zip(MESSAGES, TABLE[phase], strict=True):
        if code != LEGAL:
            news = scene.client.say(MESSAGES[message](scene))
            assert [type(one).__name__ for one in news] == ["Error"], message
            assert codes(news) == [code], message
            assert all(not client.news() for client in scene.others), message
            assert snapshot(scene.world) == before, message


@pytest.mark.parametrize("phase", PHASES)
def test_a_message_of_the_phase_is_answered_or_changes_something(phase: str) -> None:
    for message, code in zip(MESSAGES, TABLE[phase], strict=True):
        if code == LEGAL:
            scene, before = quiet(phase)
            news = scene.client.say(MESSAGES[message](scene))
            assert codes(news) == [], message
            assert news or snapshot(scene.world) != before, message


LINES: Final = (
    (b"", "wire.not_json"),
    (b"{", "wire.not_json"),
    (b"[]", "protocol.not_an_object"),
    (b'{"type":"act","type":"act"}', "wire.duplicate_name"),
    (b'{"type":"act\xff"}', "wire.not_utf8"),
    (b"[" * 100 + b"]" * 100, "wire.too_deep"),
    (b'{"type":"ping","echo":1.5}', "wire.bad_number"),
    (b'{"type":"dance"}', "protocol.unknown_type"),
    (b'{"type":"ping","ecko":1}', "protocol.unknown_field"),
    (b'{"type":"ready"}', "protocol.missing_field"),
    (b'{"type":"ready","match":7}', "protocol.wrong_value"),
)


@pytest.mark.parametrize("phase", PHASES)
def test_a_line_that_is_no_message_changes_nothing_in_any_phase(phase: str) -> None:
    """It does not even cost a try of the open ask."""
    scene, before = quiet(phase)
    for line, code in LINES:
        news = scene.client.say(line)
        assert codes(news) == [code], line
        assert len(news) == 1, line
        assert scene.client.is_open, line
        assert all(not client.news() for client in scene.others), line
        assert snapshot(scene.world) == before, line


@pytest.mark.parametrize("phase", PHASES)
def test_a_line_too_long_ends_the_connection_in_any_phase(phase: str) -> None:
    scene = PHASES[phase]()
    scene.client.news()
    scene.world.lobby.overlong(scene.client.connection)
    scene.world.flush()
    assert [(type(one).__name__, getattr(one, "code", "")) for one in scene.client.news()] == [
        ("Error", "wire.too_long"),
        ("Bye", "wire.too_long"),
    ]
    before = snapshot(scene.world)
    assert scene.client.say(Ping()) == []
    assert snapshot(scene.world) == before


@pytest.mark.parametrize("phase", [phase for phase in PHASES if phase != "greeting"])
def test_a_ping_is_answered_with_its_echo_in_any_phase(phase: str) -> None:
    scene = PHASES[phase]()
    scene.client.news()
    before = snapshot(scene.world)
    assert [getattr(one, "echo", None) for one in scene.client.say(Ping(2**53 - 1))] == [2**53 - 1]
    assert snapshot(scene.world) == before
