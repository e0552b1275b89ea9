"""Rooms, practice and reserved seats: how players come into a match."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from stellwerk_engine.replays.verify import verify
from stellwerk_protocol.messages import Bye, Error, Join, Joined, Leave, Left, Start
from stellwerk_server.journal.journal import Journal, reveal
from stellwerk_server.lobby.news import (
    Bug,
    ConnectionClosed,
    LobbyEvent,
    MatchEnded,
    MatchRefused,
    RoomChanged,
)
from stellwerk_server.lobby.outbox import RETRY_MS
from stellwerk_server.operate.settings import Limits
from tests.server.support import Client, World, codes, ended, peek, reserved, rooms_of, snapshot


def error_of(client: Client, join: Join) -> tuple[str, object]:
    """Return the code and the pointer of the error; check that nothing has changed."""
    before = snapshot(client.world)
    client.news()
    (error,) = client.say(join)
    assert isinstance(error, Error)
    assert snapshot(client.world) == before
    return error.code, error.pointer


# -- rooms -------------------------------------------------------------------------------------------


def test_who_joins_without_a_name_comes_into_the_oldest_room_that_fits() -> None:
    world = World()
    for name, join in (
        ("one", Join("usa", 3)),
        ("two", Join("usa", 2, room="named")),
        ("three", Join("card_game", 3)),
        ("four", Join("usa", 3)),
    ):
        world.player(name).say(join)
    rooms = [[s.name for s in room.sessions if s is not None] for room in world.lobby.rooms.by_id.values()]
    assert rooms == [["one", "four"], ["two"], ["three"]]


def test_everybody_in_a_room_is_told_whenever_somebody_enters_or_leaves() -> None:
    world = World()
    one, two, three = (world.player(name) for name in ("one", "two", "three"))
    one.say(Join("usa", 4))
    two.say(Join("usa", 4))
    three.say(Join("usa", 4))
    two.say(Leave(room=rooms_of(two)[0].room))
    three.drop()
    assert [joined.missing for joined in rooms_of(one)] == [3, 2, 1, 2, 3]
    assert [joined.missing for joined in rooms_of(two)] == [2, 1]
    assert two.the(Left).room == rooms_of(one)[0].room


def test_seats_are_taken_in_the_order_of_joining_and_a_full_room_starts() -> None:
    world = World()
    clients = [world.player(name) for name in ("one", "two", "three", "four")]
    for client in clients:
        client.say(Join("team_asia", 4))
    assert [client.seat for client in clients] == [0, 1, 2, 3]
    assert [player.team for player in clients[0].the(Start).players] == [0, 0, 1, 1]
    assert world.lobby.rooms.by_id == {}
    assert [peek(line).type for line in clients[3].lines[2:4]] == ["joined", "start"]


def test_a_seat_that_was_left_is_taken_by_the_next() -> None:
    world = World()
    one, two, three, four = (world.player(name) for name in ("one", "two", "three", "four"))
    one.say(Join("usa", 3))
    two.say(Join("usa", 3))
    one.say(Leave(room=rooms_of(one)[0].room))
    three.say(Join("usa", 3))
    four.say(Join("usa", 3))
    assert (three.seat, two.seat, four.seat) == (0, 1, 2)


def test_a_room_that_everybody_left_is_gone() -> None:
    world = World()
    one = world.player("one")
    one.say(Join("usa", 3, room="mine"))
    one.say(Leave(room="mine"))
    assert world.lobby.rooms.by_id == {}
    assert codes(world.player("two").say(Join("card_game", 2, room="mine"))) == []


def test_a_named_room_is_entered_by_its_name_only() -> None:
    world = World()
    world.player("one").say(Join("usa", 2, room="mine"))
    other = world.player("two")
    other.say(Join("usa", 2))
    assert other.all_of(Start) == []
    third = world.player("three")
    third.say(Join("usa", 2, room="mine"))
    assert third.seat == 1


@pytest.mark.parametrize(
    ("join", "place"),
    [
        (Join("card_game", 2, room="mine"), "/game"),
        (Join("united_kingdom", 3, room="mine"), "/players"),
        (Join("united_kingdom", 2, room="mine"), "/options"),
    ],
    ids=repr,
)
def test_a_named_room_has_its_game(join: Join, place: str) -> None:
    world = World()
    world.player("one").say(Join("united_kingdom", 2, ("advanced_technologies",), room="mine"))
    assert error_of(world.player("two"), join) == ("protocol.wrong_value", place)


@pytest.mark.parametrize(
    ("join", "place"),
    [
        (Join("chess", 2), "/game"),
        (Join("usa", 6), "/players"),
        (Join("team_asia", 5), "/players"),
        (Join("usa", 2, ("faster",)), "/options/0"),
        (Join("card_game", 2, ("open_stacks", "closed_stacks")), "/options/1"),
        (Join("usa", 2, seed="42"), "/seed"),
        (Join("usa", 2, seat=1), "/seat"),
        (Join("usa", 2, room="mine", against=("first",)), "/room"),
        (Join("usa", 3, against=("first",)), "/against"),
        (Join("usa", 2, against=("first", "first")), "/against"),
        (Join("usa", 3, against=("first", "best")), "/against/1"),
        (Join("usa", 2, against=("first",), seat=2), "/seat"),
    ],
    ids=repr,
)
def test_what_cannot_be_joined_is_refused_with_its_place(join: Join, place: str) -> None:
    world = World()
    assert error_of(world.player("one"), join) == ("protocol.wrong_value", place)


def test_nobody_is_in_a_room_twice() -> None:
    world = World()
    one = world.player("one", max_matches=2)
    one.say(Join("usa", 2, room="mine"))
    assert error_of(one, Join("usa", 2, room="mine")) == ("protocol.out_of_phase", "/room")


def test_rooms_and_matches_count_together() -> None:
    world = World()
    one = world.player("one", max_matches=2)
    one.say(Join("usa", 2, room="a"))
    one.say(Join("usa", 2, against=("first",)))
    assert error_of(one, Join("usa", 2, room="b")) == ("protocol.too_many_matches", UNSET)
    one.say(Leave(room="a"))
    assert codes(one.say(Join("usa", 2, room="b"))) == []


def test_a_match_that_is_over_counts_no_longer() -> None:
    world = World()
    one, two = world.seated()
    world.play([one, two])
    assert codes(one.say(Join("usa", 2))) == []


def test_several_matches_over_one_connection_do_not_mix() -> None:
    world = World()
    one = world.player("one", max_matches=3)
    for _ in range(3):
        one.say(Join("usa", 2, against=("chance",)))
    matches = {start.match for start in one.all_of(Start)}
    assert len(matches) == 3
    for match in matches:
        one.say(b'{"type":"ready","match":"%b"}' % match.encode())
    world.tick()
    for number in range(30):
        ask = sorted(one.open_asks(), key=lambda ask: ask.match)[number % 3]
        one.say(b'{"type":"act","match":"%b","ask":%d,"index":0}' % (ask.match.encode(), ask.ask))
        world.tick()
    for match in matches:
        messages = [peek(line) for line in one.lines if b'"match":"%b"' % match.encode() in line[:100]]
        numbers = [message.number for message in messages if message.type == "event"]
        assert numbers == list(range(1, len(numbers) + 1))
        assert sum(message.type == "ok" for message in messages) == 10


def test_rooms_that_wait_are_no_matches() -> None:
    world = World(limits=Limits(matches=1, rooms=2))
    for number in range(2):
        world.player(f"waiting{number}").say(Join("usa", 2, room=f"room{number}"))
    assert error_of(world.player("third"), Join("usa", 2, room="third")) == ("server.full", UNSET)
    assert world.practice("first", name="practice").all_of(Start)


@pytest.mark.parametrize("join", [Join("usa", 2, room="a"), Join("usa", 2, against=("first",))])
def test_a_server_has_places_for_so_many_matches(join: Join) -> None:
    """A client whose `join` would begin one more gets `retry_ms`, and nothing has changed."""
    world = World(limits=Limits(matches=1))
    world.player("waiting").say(Join("usa", 2, room="a"))
    first = world.practice("first", name="first")
    late = world.player("late")
    assert error_of(late, join) == ("server.full", UNSET)
    assert late.the(Error).retry_ms == RETRY_MS
    first.say(Leave(match=first.match))
    world.tick()
    late.say(join)
    assert late.all_of(Start)


def test_an_address_has_so_many_rooms_and_others_have_theirs() -> None:
    world = World(limits=Limits(rooms_per_address=2))
    greedy, other = world.connect("10.0.0.1"), world.connect("10.0.0.2")
    greedy.login("greedy", max_matches=64)
    other.login("other", max_matches=2)
    greedy.say(Join("usa", 2, room="a"), Join("usa", 2, room="b"))
    assert error_of(greedy, Join("usa", 2, room="c")) == ("server.full", UNSET)
    other.say(Join("usa", 2, room="c"))
    assert world.lobby.counts().rooms == 3
    greedy.say(Leave(room="a"))
    greedy.say(Join("usa", 2, room="d"))
    assert "d" in world.lobby.rooms.by_id


def test_an_address_has_so_many_matches_and_others_have_theirs() -> None:
    """A match counts for the one whose join began it."""
    world = World(limits=Limits(matches_per_address=1))
    greedy, other = world.connect("10.0.0.1"), world.connect("10.0.0.2")
    greedy.login("greedy", max_matches=64)
    other.login("other", max_matches=2)
    greedy.say(Join("usa", 2, against=("first",)))
    assert error_of(greedy, Join("usa", 2, against=("first",))) == ("server.full", UNSET)
    greedy.say(Join("usa", 2, room="a"))
    other.say(Join("usa", 2, room="a"))
    assert world.lobby.counts().running == 2
    assert error_of(other, Join("usa", 2, against=("first",))) == ("server.full", UNSET)


def test_a_room_that_nobody_fills_expires() -> None:
    """Everybody in it hears so, and it can be opened anew."""
    world = World(limits=Limits(room_ms=60_000))
    first, second, third = (world.player(name) for name in ("first", "second", "third"))
    first.say(Join("usa", 3, room="a"))
    world.wait(30_000)
    second.say(Join("usa", 3, room="a"))
    third.say(Join("usa", 3, room="b"))
    world.wait(29_999)
    assert world.lobby.counts().rooms == 2
    world.wait(1)
    assert list(world.lobby.rooms.by_id) == ["b"]
    assert [client.the(Left).room for client in (first, second)] == ["a", "a"]
    world.wait(30_000)
    assert third.the(Left).room == "b"
    first.say(Join("usa", 3, room="a"))
    world.wait(59_999)
    assert list(world.lobby.rooms.by_id) == ["a"]
    world.wait(1)
    assert world.lobby.rooms.by_id == {}


def test_a_room_that_filled_in_time_does_not_expire_and_neither_does_a_reserved_one() -> None:
    world = World(limits=Limits(room_ms=60_000))
    reserved(world, come=1)
    players = world.seated()
    world.wait(120_000)
    assert world.lobby.counts().rooms == 1
    assert [client.all_of(Left) for client in players] == [[], []]


@pytest.mark.parametrize("against", [(), ("first",)])
def test_without_a_journal_no_match_begins(against: tuple[str, ...]) -> None:
    """The players may try again."""
    is_full = True

    def open_journal(_: str) -> Journal:
        if is_full:
            raise OSError("no space")
        return Journal()

    world = World(open_journal=open_journal)
    one, two = world.player("one"), world.player("two")
    join = Join("usa", 2, against=against)
    clients = [one] if against else [one, two]
    for client in clients:
        client.say(join)
    assert all(client.the(Error).code == "server.busy" for client in clients)
    assert world.lobby.counts().running == world.lobby.counts().rooms == 0
    assert world.log.of("journal.not_opened") != []
    is_full = False
    for client in clients:
        client.say(join)
    assert all(client.all_of(Start) for client in clients)


# -- practice ----------------------------------------------------------------------------------------


def test_a_practice_match_starts_at_once_with_the_house_bots_in_the_other_seats() -> None:
    world = World()
    one = world.player("one")
    kinds = [type(news).__name__ for news in one.say(Join("usa", 3, against=("first", "chance"), seat=1))]
    assert kinds[:2] == ["Joined", "Start"]
    assert one.the(Joined).missing == 0
    assert one.seat == 1
    assert [player.name for player in one.the(Start).players] == ["first", "one", "chance"]


def _deal(**fields: Any) -> str:  # Any: fields of many types
    world = World(seed=fields.pop("world", "world"))
    one = world.player("one")
    one.say(Join("usa", 2, against=("first",), **fields))
    match = world.match_of(one)
    return repr((match.state.hands, match.state.pile))


def test_a_practice_match_may_name_its_seed() -> None:
    assert _deal(seed="42") == _deal(seed="42", world="another")
    assert _deal(seed="42") != _deal(seed="43")
    assert _deal() != _deal(world="another")


# -- reserved seats ----------------------------------------------------------------------------------


def test_a_token_leads_to_its_seat_whatever_name_comes_with_it() -> None:
    world = World()
    clients = reserved(world)
    assert [client.seat for client in clients] == [0, 1]
    assert [player.name for player in clients[0].the(Start).players] == ["entrant0", "entrant1"]
    assert [peek(line).type for line in clients[1].lines[1:4]] == ["welcome", "joined", "start"]


def test_who_has_a_seat_joins_nothing_else() -> None:
    world = World()
    (client,) = reserved(world, come=1)
    assert error_of(client, Join("usa", 2)) == ("auth.not_allowed", UNSET)


def test_nobody_joins_a_room_that_waits_for_tokens() -> None:
    world = World()
    (client,) = reserved(world, come=1)
    room = rooms_of(client)[0].room
    assert error_of(world.player("one"), Join("usa", 2, room=room)) == ("auth.not_allowed", "/room")
    other = world.player("two")
    other.say(Join("usa", 2))
    assert rooms_of(other)[0].room != room


def test_a_seat_that_was_left_before_the_start_waits_for_its_token() -> None:
    world = World()
    (client,) = reserved(world, come=1)
    client.drop()
    assert world.lobby.counts().rooms == 1
    again = world.connect()
    again.login("bot", token="token0")
    other = world.connect()
    other.login("other", token="token1")
    assert again.seat == 0


def test_after_its_match_the_bot_of_a_seat_is_sent_away() -> None:
    world = World()
    clients = reserved(world)
    world.play(clients)
    for client in clients:
        assert [type(one).__name__ for one in client.news()][-2:] == ["End", "Bye"]
        assert client.the(Bye).code == "done"


def test_a_program_that_embeds_the_server_hears_what_happens_in_its_order() -> None:
    heard: list[LobbyEvent] = []
    world = World(listener=heard.append)
    one, other = reserved(world)
    other.drop()
    other.resume()
    world.play([one])
    world.wait(100_000)
    kinds = [type(event).__name__ for event in heard if not isinstance(event, ConnectionClosed)]
    begun = [*["PresenceChanged", "RoomChanged"] * 2, "RoomChanged", *["PresenceChanged"] * 2]
    assert kinds == [*begun, "MatchEnded"]
    (end,) = [event for event in heard if isinstance(event, MatchEnded)]
    assert (end.match.id, end.match.phase) == ("reserved", "over")


def test_a_match_that_cannot_begin_is_told_to_a_program_that_embeds_the_server() -> None:
    def no_journal(match: str) -> Journal:
        raise ZeroDivisionError(match)

    heard: list[LobbyEvent] = []
    world = World(listener=heard.append, open_journal=no_journal)
    reserved(world)
    bug, refused = [event for event in heard if isinstance(event, Bug | MatchRefused)]
    assert isinstance(bug, Bug)
    assert (type(bug.error), bug.match) == (ZeroDivisionError, "reserved")
    assert refused == MatchRefused("reserved")
    assert world.log.of("match.bug")


@pytest.mark.parametrize("come", [1, 2])
def test_a_reservation_that_is_taken_back_leaves_nothing_behind(come: int) -> None:
    """No room that waits and no running match is left."""
    heard: list[LobbyEvent] = []
    world = World(listener=heard.append)
    clients = reserved(world, come=come)
    (room,) = {event.room.id: event.room for event in heard if isinstance(event, RoomChanged)}.values()
    world.lobby.rooms.cancel_reserved(room, world.now)
    world.flush()
    counts = world.lobby.counts()
    assert (counts.rooms, counts.running, counts.failed) == (0, 0, come - 1)
    session = clients[0].connection.session
    assert session is not None
    assert not session.room_ids
    assert isinstance(heard[-1], RoomChanged if come == 1 else MatchEnded)


def test_a_token_that_is_not_known_leads_nowhere() -> None:
    world = World()
    reserved(world, come=0)
    client = world.connect()
    client.say(b'{"type":"login","protocol":1,"name":"bot","token":"token7"}')
    assert client.the(Error).code == "auth.bad_token"


def test_a_deal_that_is_played_again_is_revealed_later() -> None:
    """Before that, neither the players nor the replay have the seed. After it, the replay is true."""
    world = World()
    clients = reserved(world, reveal_later=True)
    world.play(clients)
    end = ended(clients[0])
    assert (end.reveal, end.seed, end.salt) == ("later", UNSET, UNSET)
    written = world.journals["reserved"].written
    replay = [line for line in written.splitlines(keepends=True) if not line.startswith(b'{"journal"')]
    assert verify(replay).fault == "unrevealed"
    assert replay[-1].endswith(b'"hash":"%b"}\n' % end.transcript.encode())


def test_the_reveal_makes_the_replay_whole(tmp_path: Any) -> None:  # Any: pytest's Path
    world = World()
    clients = reserved(world, reveal_later=True)
    plan = world.match_of(clients[0]).plan
    world.play(clients)
    file = tmp_path / "reserved.jsonl"
    written = world.journals["reserved"].written
    file.write_bytes(
        b"".join(line for line in written.splitlines(keepends=True) if not line.startswith(b'{"journal"'))
    )
    reveal(file, plan.seed, plan.salt)
    assert verify(file.read_bytes().splitlines(keepends=True)).good


# -- going down --------------------------------------------------------------------------------------


def test_a_server_that_goes_down_lets_the_matches_end() -> None:
    """Nobody can join any more. Waiting clients are sent away at once, players at the end of their match."""
    world = World()
    players = world.seated()
    waiting = world.player("waiting")
    waiting.say(Join("usa", 3))
    idle: list[float] = []
    world.lobby.shutdown.on_idle = lambda: idle.append(world.now)
    world.lobby.drain()
    world.flush()
    assert waiting.the(Bye).code == "server.shutting_down"
    assert waiting.the(Bye).retry_ms is not UNSET
    assert world.lobby.rooms.by_id == {}
    (error,) = players[0].say(Join("usa", 2))
    assert isinstance(error, Error)
    assert (error.code, error.retry_ms) == ("server.shutting_down", RETRY_MS)
    assert idle == []
    world.play(players)
    for player in players:
        assert [type(one).__name__ for one in player.news()][-2:] == ["End", "Bye"]
        assert player.the(Bye).code == "server.shutting_down"
    assert idle == [world.now]


def test_a_server_that_stops_says_goodbye_to_everybody() -> None:
    world = World()
    players = world.seated()
    world.lobby.shutdown.say_goodbye(world.lobby.connections)
    world.flush()
    assert {player.the(Bye).code for player in players} == {"server.shutting_down"}
