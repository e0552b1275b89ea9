"""Coming back: keys, takeover, and what is sent again."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from stellwerk_protocol.messages import (
    Act,
    Bye,
    End,
    Error,
    EventMessage,
    Join,
    Joined,
    Leave,
    Login,
    Ping,
    Ready,
    Resume,
    SeatChanged,
    Start,
    Wants,
    Welcome,
)
from tests.server.support import (
    BARE,
    Client,
    World,
    asks_of,
    ended,
    first_turn,
    peek,
    reserved,
    rooms_of,
    snapshot,
)


def resumed_with(world: World, welcome: Welcome, key: str, *, name: str | None = None) -> Client:
    client = world.connect()
    client.say(Login(1, name or welcome.name, resume=Resume(welcome.session, key, {})))
    return client


def numbers(client: Client) -> list[int]:
    return [peek(line).number for line in client.lines if line.startswith(b'{"type":"event"')]


# -- keys --------------------------------------------------------------------------------------------


def test_a_resume_brings_the_session_back_with_a_new_key() -> None:
    world = World()
    one, _ = world.seated()
    old = one.the(Welcome)
    again = one.resume().the(Welcome)
    assert again.session == old.session
    assert again.resume_key != old.resume_key


def test_the_old_key_is_good_until_the_first_line_after_the_new_welcome() -> None:
    world = World()
    one, _ = world.seated()
    first = one.the(Welcome)
    second = resumed_with(world, first, first.resume_key)
    third = resumed_with(world, first, first.resume_key)
    assert second.is_in()
    assert third.is_in()
    third.say(Ping())
    late = resumed_with(world, first, first.resume_key)
    assert late.the(Error).code == "auth.bad_resume_key"
    assert third.is_open
    assert resumed_with(world, first, third.the(Welcome).resume_key).is_in()


def test_any_line_will_do_even_one_that_is_refused() -> None:
    world = World()
    one, _ = world.seated()
    first = one.the(Welcome)
    one.resume().say(b"nonsense")
    assert not resumed_with(world, first, first.resume_key).is_in()


def test_a_key_is_good_however_often_its_welcome_was_lost_on_the_way() -> None:
    world = World()
    one, _ = world.seated()
    first = one.the(Welcome)
    for _ in range(4):
        client = resumed_with(world, first, first.resume_key)
        assert client.is_in()
        client.drop()


def test_a_line_of_the_connection_before_does_not_count() -> None:
    """It was sent before the new welcome."""
    world = World()
    one, _ = world.seated()
    first = one.the(Welcome)
    one.resume()
    one.say(Ping())
    assert resumed_with(world, first, first.resume_key).is_in()


@pytest.mark.parametrize(
    ("session", "key", "name"),
    [("own", "wrong", "own"), ("wrong", "own", "own"), ("own", "own", "wrong"), ("other", "own", "own")],
)
def test_a_wrong_session_key_or_name_leads_nowhere(session: str, key: str, name: str) -> None:
    world = World()
    one, other = world.seated()
    welcome, others = one.the(Welcome), other.the(Welcome)
    before = snapshot(world)
    client = world.connect()
    resume = Resume(
        {"own": welcome.session, "other": others.session}.get(session, "nosuch"),
        welcome.resume_key if key == "own" else "nosuch",
        {},
    )
    client.say(Login(1, welcome.name if name == "own" else "nobody", resume=resume))
    assert client.the(Error).code == "auth.bad_resume_key"
    assert snapshot(world) == before
    assert one.is_open
    assert other.is_open


# -- takeover ----------------------------------------------------------------------------------------


def test_a_new_connection_takes_over_at_once_and_the_old_one_is_told() -> None:
    world = World()
    one, other = world.seated()
    again = one.resume()
    assert one.the(Bye).code == "server.taken_over"
    assert not one.is_open
    one.news()
    assert one.say(Act(again.match, again.ask.ask, index=0)) == []
    again.act(0)
    one.drop()
    assert again.is_open
    assert world.lobby.counts().sessions == 2
    assert other.all_of(SeatChanged) == [], "it was never lost"


def test_a_takeover_in_a_room_keeps_the_place() -> None:
    world = World()
    one, other = world.player("one"), world.player("other")
    one.say(Join("usa", 2))
    again = one.resume()
    assert again.the(Joined).missing == 1
    other.say(Join("usa", 2))
    assert (again.seat, other.seat) == (0, 1)
    assert one.all_of(Start) == []


def test_a_room_is_left_with_the_connection() -> None:
    world = World()
    one, other = world.player("one"), world.player("other")
    one.say(Join("usa", 3))
    other.say(Join("usa", 3))
    one.drop()
    assert rooms_of(other)[-1].missing == 2


# -- what is sent again ------------------------------------------------------------------------------


def test_from_nothing_the_start_all_events_and_the_open_ask_come_again() -> None:
    world = World()
    clients = world.seated()
    world.play_turns(clients, 7)
    one = next(client for client in clients if client.is_asked())
    again = one.resume()
    kinds = [peek(line).type for line in again.lines]
    assert kinds[:3] == ["hello", "welcome", "start"]
    assert set(kinds[3:-1]) == {"event"}
    assert kinds[-1] == "ask"
    assert again.the(Start) == one.the(Start)
    assert again.all_of(EventMessage) == one.all_of(EventMessage)
    assert (again.ask.ask, again.ask.legal) == (one.ask.ask, one.ask.legal)


@pytest.mark.parametrize("missed", [0, 1, 5])
def test_only_later_events_come_again(missed: int) -> None:
    world = World()
    clients = world.seated()
    world.play_turns(clients, 7)
    one = clients[0]
    count = len(numbers(one))
    again = one.resume({one.match: count - missed})
    assert again.all_of(Start) == []
    assert numbers(again) == list(range(count - missed + 1, count + 1))


def test_more_events_than_there_are_cannot_have_been_seen() -> None:
    """Nothing changes, the old connection goes on."""
    world = World()
    one, _ = world.seated()
    before = snapshot(world)
    count = world.match_of(one).event_count
    client = one.resume({one.match: count + 1})
    error = client.the(Error)
    assert (error.code, error.pointer) == ("protocol.wrong_value", f"/resume/last_events/{one.match}")
    assert snapshot(world) == before
    assert one.is_open
    assert one.resume({one.match: count}).is_in()


def test_matches_that_the_session_is_not_in_are_ignored() -> None:
    world = World()
    one, _ = world.seated()
    assert one.resume({"nosuch": 10**9}).is_in()


def test_what_is_wanted_is_what_the_last_login_says() -> None:
    world = World()
    one, _ = world.seated(wants=BARE)
    again = one.resume(wants=Wants(legal=False, view=True, events=False))
    assert numbers(again) == []
    ask = asks_of(again)[-1]
    assert ask.legal is UNSET
    assert ask.view is not UNSET


def test_a_set_up_that_was_broken_off_goes_on() -> None:
    world = World()
    one, other = world.seated(ready=False)
    again = one.resume()
    other.say(Ready(other.match))
    assert not again.is_asked()
    again.say(Ready(again.match))
    assert again.is_asked()


def test_a_ready_that_arrived_stays_good() -> None:
    """A second `ready` after a resume is refused, and harmless."""
    world = World()
    one, other = world.seated(ready=False)
    one.say(Ready(one.match))
    again = one.resume({one.match: world.match_of(one).event_count})
    again.say(Ready(one.match))
    assert again.the(Error).code == "protocol.out_of_phase"
    other.say(Ready(other.match))
    world.tick()
    assert again.is_asked()


@pytest.mark.parametrize("ended", [False, True], ids=["running", "ended"])
def test_a_match_that_is_not_named_comes_from_its_start(ended: bool) -> None:
    world = World()
    clients = world.seated(wants=BARE)
    if ended:
        world.play(clients)
    count = world.event_count(clients[0])
    named = clients[0].resume({clients[0].match: count}, wants=BARE)
    assert (named.all_of(Start), numbers(named)) == ([], [])
    unnamed = named.resume({}, wants=BARE)
    assert (len(unnamed.all_of(Start)), numbers(unnamed)) == (1, list(range(1, count + 1)))
    assert bool(unnamed.all_of(End)) == ended


def test_who_was_away_all_the_time_can_tell_the_whole_match() -> None:
    """Pieces of events got over several connections fit together."""
    world = World()
    clients = world.seated(wants=BARE)
    heard = list(clients)
    received: list[int] = numbers(clients[0])
    while not heard[0].all_of(End):
        world.play_turns(heard, 9)
        if not world.lobby.matches.running:
            break
        received += [number for number in numbers(heard[0]) if number > (received[-1] if received else 0)]
        heard[0].drop()
        heard[0] = heard[0].resume({clients[0].match: received[-1]}, wants=BARE)
    received += [number for number in numbers(heard[0]) if number > received[-1]]
    assert received == list(range(1, len(received) + 1))
    assert received == numbers(heard[1])


def test_an_answer_sent_into_a_dead_connection_is_not_sent_again() -> None:
    """What came of it is seen in the events; the act itself is stale."""
    world = World()
    mover, _ = first_turn(world.seated())
    act = Act(mover.match, mover.ask.ask, index=0)
    world.lobby.receive(
        mover.connection,
        b'{"type":"act","match":"%b","ask":%d,"index":0}'
        % (
            mover.match.encode(),
            mover.ask.ask,
        ),
        world.now,
    )
    mover.drop()
    again = mover.resume()
    assert "ok" not in [peek(line).type for line in again.lines]
    again.news()
    assert again.say(act)[0] == Error(
        "protocol.stale_ask", "nothing: this ask has ended", match=mover.match, ask=act.ask
    )


# -- after the end -----------------------------------------------------------------------------------


def test_who_comes_back_after_the_end_gets_the_end() -> None:
    world = World()
    clients = world.seated(wants=BARE)
    clients[0].drop()
    world.play(clients[1:], until=lambda: False)
    while world.lobby.matches.running:
        world.wait(20_000)
        world.play(clients[1:])
    again = clients[0].resume({clients[0].match: world.event_count(clients[1])})
    assert [peek(line).type for line in again.lines[2:]] == ["end"]
    assert ended(again) == ended(clients[1])


def test_a_session_is_kept_for_a_minute_after_its_match() -> None:
    world = World()
    clients = world.seated(wants=BARE)
    world.play(clients)
    for client in clients:
        client.drop()
    world.wait(59_999)
    assert clients[0].resume().has_ended()
    world.wait(1)
    assert clients[1].resume().the(Error).code == "auth.bad_resume_key"


def test_a_name_is_kept_while_its_session_plays_and_no_longer_than_somebody_wants_it() -> None:
    world = World()
    clients = world.seated(wants=BARE)
    clients[0].drop()
    other = world.connect()
    other.say(Login(1, "player0"))
    assert other.the(Error).code == "auth.name_taken"
    back = clients[0].resume()
    world.play([back, clients[1]])
    back.drop()
    assert other.login("player0").session != back.the(Welcome).session
    assert back.resume().the(Error).code == "auth.bad_resume_key"


def test_a_session_that_came_back_in_time_is_not_ended_later() -> None:
    world = World()
    clients = world.seated(wants=BARE)
    world.play(clients)
    clients[0].drop()
    world.wait(30_000)
    again = clients[0].resume()
    world.wait(120_000)
    assert again.say(Ping()) != []
    assert again.say(Join("usa", 2)) != []


def test_a_session_lives_as_long_as_its_match_however_long_it_is_away() -> None:
    world = World()
    one, other = world.seated(ready=False)
    one.drop()
    world.wait(29_000)
    for _ in range(3):
        other.say(Ping())
    assert one.resume().is_in()


def test_a_match_that_was_left_does_not_come_back() -> None:
    world = World()
    one, _ = world.seated()
    one.say(Leave(match=one.match))
    again = one.resume({one.match: 3})
    assert [peek(line).type for line in again.lines] == ["hello", "welcome"]


def test_a_session_that_left_its_match_ends_with_its_connection() -> None:
    world = World()
    one, _ = world.seated()
    one.say(Leave(match=one.match))
    one.drop()
    assert not one.resume().is_in()
    assert world.player("player0").is_open


# -- the token of a seat -----------------------------------------------------------------------------


def test_the_token_of_a_seat_takes_it_back() -> None:
    """The client has no key and no state. The connection before it is closed."""
    world = World()
    one, _ = reserved(world)
    again = world.connect()
    again.login("whatever", token="token0")
    assert again.the(Welcome).session == one.the(Welcome).session
    assert one.the(Bye).code == "server.taken_over"
    assert again.the(Start).seat == 0
    assert numbers(again)[0] == 1
    assert again.is_asked()


def test_the_token_of_a_seat_takes_it_back_after_the_connection_was_lost_too() -> None:
    world = World()
    one, other = reserved(world)
    one.drop()
    again = world.connect()
    again.login("whatever", token="token0")
    assert again.is_asked()
    assert [change.state for change in other.all_of(SeatChanged)] == ["lost", "back"]


def test_the_token_of_a_seat_shows_the_end_and_then_there_is_nothing_left_to_do() -> None:
    world = World()
    players = reserved(world)
    world.play(players)
    players[0].drop()
    again = world.connect()
    again.login("whatever", token="token0")
    assert [peek(line).type for line in again.lines[-2:]] == ["end", "bye"]
    assert again.the(Bye).code == "done"


def test_a_session_of_two_matches_gets_both_back_in_the_order_of_their_starts() -> None:
    world = World()
    one = world.player("one", max_matches=2)
    for _ in range(2):
        one.say(Join("usa", 2, against=("first",)))
    again = one.resume()
    starts = [start.match for start in again.all_of(Start)]
    assert starts == [start.match for start in one.all_of(Start)]
    order = [peek(line).match for line in again.lines[2:]]
    assert order == sorted(order, key=starts.index)
