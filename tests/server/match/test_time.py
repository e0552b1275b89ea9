"""The clocks of a match: what each kind of time is for, and what happens when it is over."""

from __future__ import annotations

import pytest

from stellwerk_protocol.messages import Act, Default, Error, Leave, Ok, Ping, Ready, SeatChanged
from stellwerk_server.match.lateness import Late, late_in_words
from stellwerk_server.operate.settings import Limits, Time
from tests.server.support import Client, World, asks_of, ended, first_turn, reserved

SHORT = Time(move_ms=1_000, bank_ms=2_000, grace_ms=50, strikes=3)
NO_BANK = Time(move_ms=1_000, bank_ms=0, grace_ms=0, strikes=0)


def mover_of(world: World) -> tuple[Client, Client]:
    """Return the client whose turn it is, and the other one."""
    mover, (other,) = first_turn(world.seated())
    return mover, other


def ok_after(world: World, client: Client, milliseconds: float) -> Ok:
    world.wait(milliseconds)
    answer = client.act(0)[0]
    assert isinstance(answer, Ok)
    return answer


def next_ask_of(world: World, client: Client, others: list[Client]) -> None:
    """Let the others play until this one is asked again."""
    world.play(others, until=lambda: client.is_asked())


# -- the set-up clock --------------------------------------------------------------------------------


def test_the_set_up_clock_ends_with_the_last_ready() -> None:
    world = World()
    one, other = world.seated(ready=False)
    world.wait(29_000)
    one.say(Ready(one.match))
    other.say(Ready(other.match))
    assert asks_of(one)[0].bank_ms == 10_000


def test_after_the_set_up_clock_the_match_begins_without_who_is_not_ready() -> None:
    world = World()
    one, other = world.seated(ready=False)
    one.say(Ready(one.match))
    world.wait(29_999)
    assert not one.is_asked()
    world.wait(1)
    assert one.is_asked()
    assert other.is_asked()
    assert [type(news).__name__ for news in other.say(Ready(other.match))][-1] == "Error"


def test_a_match_may_have_no_set_up_clock_at_all() -> None:
    world = World(time=Time(set_up_ms=0))
    one, other = world.seated(ready=False)
    assert one.is_asked()
    assert other.is_asked()


# -- move time, bank, grace --------------------------------------------------------------------------


def test_the_move_time_is_free_and_what_is_over_comes_out_of_the_bank() -> None:
    world = World(time=SHORT)
    mover, _ = mover_of(world)
    ask = asks_of(mover)[-1]
    assert (ask.move_ms, ask.bank_ms) == (1_000, 2_000)
    ok = ok_after(world, mover, 1_000)
    assert (ok.took_ms, ok.bank_ms) == (1_000, 2_000)


def test_the_bank_is_for_the_whole_match() -> None:
    world = World(time=SHORT)
    mover, other = mover_of(world)
    assert ok_after(world, mover, 1_700).bank_ms == 1_300
    next_ask_of(world, mover, [other])
    assert asks_of(mover)[-1].bank_ms == 1_300
    assert ok_after(world, mover, 2_300).bank_ms == 0
    next_ask_of(world, mover, [other])
    assert asks_of(mover)[-1].bank_ms == 0


def test_with_the_bank_empty_there_is_a_grace_for_a_strike() -> None:
    world = World(time=SHORT)
    mover, _ = mover_of(world)
    match = world.match_of(mover)
    ok = ok_after(world, mover, 3_049)
    assert ok.bank_ms == 0
    assert match.seats[mover.seat].strikes == 2


def test_a_grace_that_was_not_needed_costs_no_strike() -> None:
    world = World(time=SHORT)
    mover, _ = mover_of(world)
    ok_after(world, mover, 3_000)
    assert world.match_of(mover).seats[mover.seat].strikes == 3


def test_after_the_grace_the_fallback_is_made() -> None:
    world = World(time=SHORT)
    mover, other = mover_of(world)
    ask = asks_of(mover)[-1]
    world.wait(3_049)
    assert mover.news() == []
    world.wait(1)
    default = mover.the(Default)
    assert (default.reason, default.ask, default.move) == ("time", ask.ask, ask.fallback)
    assert not default.by_default
    assert other.news() != []


def test_without_strikes_there_is_no_grace() -> None:
    world = World(time=Time(move_ms=1_000, bank_ms=0, grace_ms=50, strikes=1, defaults_in_a_row=9))
    mover, other = mover_of(world)
    ok_after(world, mover, 1_049)
    next_ask_of(world, mover, [other])
    world.wait(999)
    assert mover.is_asked()
    world.wait(1)
    assert mover.all_of(Default) != []


def test_others_lose_no_time_while_one_thinks() -> None:
    world = World(time=SHORT)
    one, other = world.seated()
    one.act(0)
    world.wait(2_000)
    other.act(0)
    world.tick()
    places = world.match_of(one).seats
    assert (places[0].bank_ms, places[1].bank_ms) == (2_000, 1_000)


def test_a_refused_act_does_not_stop_the_clock() -> None:
    world = World(time=SHORT)
    mover, _ = mover_of(world)
    world.wait(1_500)
    mover.say(Act(mover.match, mover.ask.ask, index=999))
    assert ok_after(world, mover, 500).bank_ms == 1_000


def test_refused_acts_until_the_time_is_over_end_with_one_default() -> None:
    world = World(time=SHORT)
    mover, _ = mover_of(world)
    mover.say(Act(mover.match, mover.ask.ask, index=999))
    world.wait(3_050)
    assert [default.reason for default in mover.all_of(Default)] == ["time"]


def test_the_time_that_the_last_try_took_comes_out_of_the_bank() -> None:
    world = World(time=SHORT)
    mover, other = mover_of(world)
    world.wait(1_400)
    for _ in range(3):
        mover.say(Act(mover.match, mover.ask.ask, index=999))
    assert mover.the(Default).reason == "tries"
    next_ask_of(world, mover, [other])
    assert asks_of(mover)[-1].bank_ms == 1_600


# -- playing by default ------------------------------------------------------------------------------


def silent_until_by_default(world: World, silent: Client, other: Client) -> None:
    world.play([other], until=lambda: silent.is_asked())
    seat = world.match_of(silent).seats[silent.seat]
    while not seat.by_default:
        world.wait(1_000)
        world.play([other], until=lambda: silent.is_asked())


def test_three_defaults_in_a_row_and_the_seat_plays_by_default_for_good() -> None:
    """The other seats learn it, and nobody waits for the seat any more."""
    world = World(time=NO_BANK)
    mover, other = mover_of(world)
    silent_until_by_default(world, mover, other)
    defaults = mover.all_of(Default)
    assert [(one.reason, one.defaults, one.by_default) for one in defaults[:3]] == [
        ("time", 1, False),
        ("time", 2, False),
        ("time", 3, True),
    ]
    assert [change.state for change in other.all_of(SeatChanged)] == ["by_default"]
    assert mover.all_of(SeatChanged) == []
    before = world.now
    world.play([other])
    assert world.now == before
    assert ended(mover) == ended(other)
    assert {one.reason for one in mover.all_of(Default)[3:]} == {"by_default"}
    assert [change.state for change in other.all_of(SeatChanged)] == ["by_default"]


def test_an_answer_in_between_begins_the_row_anew() -> None:
    world = World(time=NO_BANK)
    mover, other = mover_of(world)
    for _ in range(2):
        world.wait(1_000)
        next_ask_of(world, mover, [other])
    mover.act(0)
    next_ask_of(world, mover, [other])
    world.wait(1_000)
    assert not mover.the(Default).by_default
    assert mover.the(Default).defaults == 3


def test_ten_defaults_in_all_and_the_seat_plays_by_default() -> None:
    world = World(time=NO_BANK)
    mover, other = mover_of(world)
    for number in range(1, 11):
        for _ in range(3):
            mover.say(Act(mover.match, mover.ask.ask, index=999))
        default = mover.all_of(Default)[number - 1]
        assert (default.reason, default.defaults, default.by_default) == ("tries", number, number == 10)
        if number < 10:
            next_ask_of(world, mover, [other])
            mover.act(0)
            next_ask_of(world, mover, [other])


def test_an_act_of_who_plays_by_default_is_stale() -> None:
    world = World(time=NO_BANK)
    mover, other = mover_of(world)
    silent_until_by_default(world, mover, other)
    mover.news()
    (error,) = mover.say(Act(mover.match, mover.the(Default).ask, index=0))
    assert isinstance(error, Error)
    assert error.code == "protocol.stale_ask"


def test_a_late_act_is_told_its_ask_the_limit_and_the_time_taken() -> None:
    """The report of the match has the first of them, too."""
    world = World(time=SHORT)
    mover, _ = mover_of(world)
    number, late_asks = mover.ask.ask, world.match_of(mover).seats[mover.seat].late
    world.wait(3_050)
    mover.news()
    world.wait(120)
    (error,) = mover.say(Act(mover.match, number, index=0))
    assert isinstance(error, Error)
    limit = "3050 ms (1000 to move, 2000 in the bank, 50 of grace)"
    told = f"at ask {number} in turn 1 it had {limit}, and took 3170 ms"
    assert (error.code, error.expected) == ("protocol.stale_ask", f"nothing: this ask has ended: {told}")
    world.wait(1_000)
    mover.say(Act(mover.match, number, index=0))  # the first one counts
    assert isinstance(late_asks.first, Late)
    assert late_in_words(late_asks.first) == told


def test_a_seat_whose_player_never_came_is_played_by_default_from_the_beginning() -> None:
    world = World()
    (client,) = reserved(world, come=1)
    (room,) = world.lobby.rooms.by_id.values()
    world.lobby.rooms.start_reserved(room, world.now)
    world.flush()
    client.say(Ready("reserved"))
    before = world.now
    world.play([client])
    assert world.now == before
    assert client.has_ended()


# -- lost connections --------------------------------------------------------------------------------


def test_a_lost_connection_costs_nothing_but_time() -> None:
    """The clocks run on. The others learn that the connection is lost, and that it is back."""
    world = World(time=SHORT)
    mover, other = mover_of(world)
    ask = asks_of(mover)[-1]
    mover.drop()
    world.wait(1_700)
    back = mover.resume({mover.match: world.match_of(mover).event_count})
    again = asks_of(back)[-1]
    assert (again.ask, again.move_ms, again.bank_ms) == (ask.ask, 0, 1_300)
    assert (again.decision, again.legal, again.fallback) == (ask.decision, ask.legal, ask.fallback)
    assert [change.state for change in other.all_of(SeatChanged)] == ["lost", "back"]
    assert ok_after(world, back, 300).bank_ms == 1_000


def test_the_reason_of_a_default_without_a_connection_is_that() -> None:
    world = World(time=SHORT)
    mover, other = mover_of(world)
    mover.drop()
    world.wait(3_050)
    assert b'"reason":"disconnected"' in world.journal_of(mover).written
    assert other.news() != []


def test_the_tries_used_are_used_after_a_resume_too() -> None:
    world = World()
    mover, _ = mover_of(world)
    mover.say(Act(mover.match, mover.ask.ask, index=999))
    assert asks_of(mover.resume())[-1].tries == 2


def test_who_comes_back_after_a_default_gets_the_ask_that_is_open_now() -> None:
    world = World(time=NO_BANK)
    mover, other = mover_of(world)
    first = mover.ask.ask
    mover.drop()
    world.wait(1_000)
    world.play([other], until=lambda: world.match_of(mover).seats[mover.seat].ask is not None)
    back = mover.resume()
    assert back.ask.ask == first + 1


def test_leaving_ends_the_open_ask_at_once() -> None:
    world = World()
    mover, other = mover_of(world)
    mover.say(Leave(match=mover.match))
    world.tick()
    assert world.match_of(other).seats[mover.seat].default_reasons["left"] >= 1


# -- sockets that take nothing -----------------------------------------------------------------------


def block(client: Client) -> None:
    client.connection.blocked_at = client.world.now


def test_the_clock_does_not_run_before_the_socket_has_taken_the_ask() -> None:
    world = World(time=NO_BANK)
    one, other = world.seated(ready=False)
    block(one)
    for client in (one, other):
        client.say(Ready(client.match))
    world.wait(900)
    other.act(0)
    world.wait(4_000)
    seat = world.match_of(one).seats[0]
    assert seat.default_count == 0
    world.lobby.drained(one.connection, world.now)
    world.wait(999)
    assert seat.default_count == 0
    world.wait(1)
    assert seat.default_count == 1


def test_an_ask_that_was_there_before_the_socket_was_full_has_its_clock() -> None:
    world = World(time=NO_BANK)
    mover, _ = mover_of(world)
    world.wait(500)
    block(mover)
    world.wait(500)
    assert mover.all_of(Default) != []


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_full_socket_that_is_closed_does_not_stop_the_match(comes_back: bool) -> None:
    """Another connection that takes over from it does not stop it either."""
    world = World(time=NO_BANK)
    one, other = world.seated(ready=False)
    block(one)
    for client in (one, other):
        client.say(Ready(client.match))
    world.wait(900)
    other.act(0)
    world.wait(3_000)
    if comes_back:
        one.resume()
    else:
        one.drop()
    world.wait(1_000)
    assert world.match_of(other).seats[0].default_count >= 1


@pytest.mark.parametrize("for_disk", [True, False], ids=["for the disk", "for its own reading"])
def test_who_comes_back_pays_for_not_reading_and_not_for_the_disk(for_disk: bool) -> None:
    """Its ask, sent again, waits for 3 s; 400 ms of its second had passed before."""
    world = World(time=NO_BANK)
    mover, _ = mover_of(world)
    world.wait(400)
    mover.drop()
    back = mover.resume()
    block(back)
    world.wait(3_000)
    seat = world.match_of(back).seats[mover.seat]
    assert seat.default_count == 0
    world.lobby.drained(back.connection, world.now, for_disk=for_disk)
    world.wait(0)
    if for_disk:
        world.wait(599)
        assert seat.default_count == 0
        world.wait(1)
    assert seat.default_count == 1


# -- the limit of messages ---------------------------------------------------------------------------


def test_the_first_answer_to_an_ask_is_never_limited() -> None:
    world = World(limits=Limits(messages_a_second=1, burst=5))
    clients = world.seated()
    world.pauses.clear()
    world.play(clients)
    assert set(world.pauses) == {0.0}
    assert clients[0].has_ended()


def test_all_else_is_held_up_and_nothing_is_lost() -> None:
    """One complaint in each flood, and the pause is as long as the messages are too many."""
    world = World(limits=Limits(messages_a_second=20, burst=40))
    client = world.player("player")
    world.wait(10_000)
    for number in range(50):
        client.say(Ping(number))
    echoes = [line for line in client.lines if b"pong" in line]
    errors = client.all_of(Error)
    assert len(echoes) == 50
    assert [error.code for error in errors] == ["protocol.too_fast"]
    assert world.pauses[-50:-10] == [0.0] * 40
    assert world.pauses[-10:] == [pytest.approx(50 * number) for number in range(1, 11)]


def test_after_a_flood_there_is_a_new_complaint_about_the_next() -> None:
    world = World(limits=Limits(messages_a_second=20, burst=40))
    client = world.player("player")
    for _ in range(2):
        for number in range(45):
            client.say(Ping(number))
        world.wait(10_000)
        client.say(Ping())
    assert len(client.all_of(Error)) == 2
