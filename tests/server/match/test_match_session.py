"""The laws of a match: what is said in which order, and that each act and each ask has its one end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import permutations
from random import Random
from typing import NoReturn, cast

import pytest
from msgspec import UNSET
from msgspec.json import Decoder

from stellwerk_engine import engine
from stellwerk_engine.core.dice import Dice
from stellwerk_engine.core.state import Decision, Events, Seat
from stellwerk_engine.knowledge.redact import redact
from stellwerk_protocol import moves
from stellwerk_protocol.canonical import decode_as, unseal
from stellwerk_protocol.messages import (
    Act,
    Default,
    End,
    Error,
    EventMessage,
    Join,
    Leave,
    Ok,
    Ping,
    Ready,
    SeatChanged,
    Start,
    Wants,
    Watch,
)
from stellwerk_protocol.replays import Header, Reveal, commitment
from stellwerk_server.operate.settings import Time, clocks_of
from tests.server.support import (
    BARE,
    EVERY_GAME,
    Client,
    Variant,
    World,
    asks_of,
    codes,
    ended,
    first_turn,
    peek,
    scattered,
    snapshot,
)
from tests.support import claim, variant_id

every_game = pytest.mark.parametrize("variant", EVERY_GAME, ids=variant_id)


# -- laws of whole matches ---------------------------------------------------------------------------


def played_badly(variant: Variant) -> tuple[World, list[Client]]:
    """Play a whole match in which clients also send wrong or stale lines, or nothing at all."""
    world = World(time=Time(move_ms=500, bank_ms=1_500))
    clients = world.seated(variant, wants=BARE)
    chance = Random(variant_id(variant))
    while not clients[0].lines[-1].startswith(b'{"type":"end"'):
        client = chance.choice(clients)
        asks = client.open_asks()
        match chance.randrange(12):
            case 0:
                client.say(Act(client.match, chance.randrange(300), index=0))
            case 1 if asks:
                client.say(Act(client.match, asks[0].ask, index=999))
            case 2 if asks:
                client.say(Act(client.match, asks[0].ask))
            case 3 if asks:
                client.say(Act(client.match, asks[0].ask, move=claim("nowhere", "")))
            case 4:
                world.wait(chance.choice((0, 1, 450, 600)))
            case 5:
                client.say(Ping())
            case _ if asks:
                client.say(Act(client.match, asks[0].ask, index=scattered(asks[0])))
            case _:
                pass
        world.tick()
    return world, clients


@every_game
def test_every_act_and_every_ask_has_one_end_and_events_come_before_the_ask(variant: Variant) -> None:
    _, clients = played_badly(variant)
    for client in clients:
        asks: list[int] = []
        finished: Counter[int] = Counter()
        open_ask: int | None = None
        number = 0
        for line in client.lines:
            message = peek(line)
            match message.type:
                case "event":
                    number += 1
                    assert message.number == number, "numbers without gaps"
                case "ask":
                    assert open_ask is None, "one at a time"
                    assert b'"after_event":%d,' % number in line, "all that happened was told before"
                    open_ask = message.ask
                    asks.append(message.ask)
                case "ok" | "default":
                    if message.reason != "by_default":
                        assert message.ask == open_ask
                    open_ask = None
                    finished[message.ask] += 1
                case _:
                    pass
        assert open_ask is None
        assert asks == sorted(set(asks))
        assert set(asks) <= set(finished)
        assert set(finished.values()) == {1}, "one ok or default each"
        assert sorted(finished) == list(range(1, len(finished) + 1))
        assert client.lines[-1].startswith(b'{"type":"end"')


@every_game
def test_every_act_is_answered_once_and_at_once(variant: Variant) -> None:
    world = World()
    clients = world.seated(variant, wants=BARE)
    chance = Random("acts")
    for _ in range(60):
        asked = [client for client in clients if client.is_asked()]
        if not asked:
            break
        client = chance.choice(clients)
        for index in (0, 999):
            ask = client.open_asks()[0].ask if client.is_asked() else 1
            if index == 999 and client.is_asked() and client.ask.tries == 1:
                continue
            client.news()
            news = client.say(Act(client.match, ask, index=index))
            answers = [one for one in news if isinstance(one, Ok | Error)]
            assert len(answers) == 1
            assert news[0] is answers[0], "before the events that it causes"
            world.tick()
        if chance.random() < 0.7 and asked[0].is_asked():
            asked[0].act(0)


@every_game
def test_all_players_are_told_of_the_same_events(variant: Variant) -> None:
    """Each with what it may know."""
    world = World()
    clients = world.seated(variant, wants=BARE)
    world.play(clients)
    by_client = [
        [peek_event(line) for line in client.lines if line.startswith(b'{"type":"event"')]
        for client in clients
    ]
    assert all(other == by_client[0] for other in by_client)
    assert len({ended(client) for client in clients}) == 1


def peek_event(line: bytes) -> tuple[int, bytes]:
    return peek(line).number, line.split(b'"event":{"type":"')[1].split(b'"')[0]


def test_the_end_opens_the_commitment_of_the_start() -> None:
    world = World()
    clients = world.seated(wants=BARE)
    match = world.match_of(clients[0])
    world.play(clients)
    end = ended(clients[0])
    assert end.reveal == "now"
    assert end.seed is not UNSET
    assert end.salt is not UNSET
    header = decode_as(
        unseal(world.journal_of(clients[0]).written.splitlines(keepends=True)[1])[0], Decoder(Header)
    )
    assert clients[0].the(Start).commitment == commitment(header, Reveal(end.seed, end.salt))
    dealt: Events = []
    engine.new_game(match.game, Dice(bytes.fromhex(end.seed)), dealt)
    events = [message.event for message in clients[0].all_of(EventMessage)]
    assert events[: len(dealt)] == [redact(event, match.game, 0) for event in dealt]
    assert world.journal_of(clients[0]).written.endswith(b'"hash":"%b"}\n' % end.transcript.encode())


# -- simultaneous choices ----------------------------------------------------------------------------


@every_game
def test_nobody_can_tell_who_has_answered_a_simultaneous_choice(variant: Variant) -> None:
    """The others get the same lines, byte for byte, no matter who answers first, and none before the last
    answer."""
    sent: set[tuple[bytes, ...]] = set()
    for order in list(permutations(range(variant[1])))[:6]:
        world = World()
        clients = world.seated(variant)
        for seat in order[:-1]:
            clients[seat].act(0)
            world.tick()
            assert clients[seat].news() == [], "the answer came with the act"
            assert all(client.news() == [] for client in clients)
        clients[order[-1]].act(0)
        world.tick()
        sent.add(
            tuple(b"".join(line for line in client.lines if b'"welcome"' not in line) for client in clients)
        )
    assert len(sent) == 1


def test_a_view_and_a_resumed_ask_do_not_tell_who_has_answered() -> None:
    seen: list[list[bytes]] = []
    for first in (1, 2):
        world = World()
        clients = world.seated(("usa", 3, ()))
        clients[first].act(0)
        seen.append(clients[0].resume().lines[2:])
    assert seen[0] == seen[1]
    assert peek(seen[0][-1]).type == "ask"


def test_neither_spectators_nor_the_log_nor_the_counts_tell_that_somebody_has_answered() -> None:
    """L16: also nobody else than the players can pass it on to them."""
    world = World()
    clients = world.seated(("usa", 3, ()))
    match = clients[0].match
    spectator = world.player("spectator")
    spectator.say(Watch(match))
    late = [world.player(f"late{number}") for number in range(2)]
    late[0].say(Watch(match))
    for client in (spectator, late[0]):
        client.news()
    before = (world.lobby.counts(), world.match_of(clients[0]).decision_count, list(world.log.lines))
    for client in clients[:2]:
        client.act(0)
        world.tick()
        after = (world.lobby.counts(), world.match_of(clients[0]).decision_count, list(world.log.lines))
        assert after == before
        assert spectator.news() == late[0].news() == []
    late[1].say(Watch(match))
    assert late[1].lines[2:] == late[0].lines[2:]
    clients[2].act(0)
    assert world.lobby.counts().decisions == before[0].decisions + 3


def test_that_a_seat_plays_by_default_is_announced_when_the_choice_of_all_is_shown() -> None:
    """L16: before that, it would show the others that this seat has an answer."""
    world = World(time=Time(defaults_in_a_row=1))
    one, other, third = world.seated(("usa", 3, ()))
    for _ in range(3):
        one.say(Act(one.match, one.ask.ask, index=999))
    assert one.the(Default).by_default
    other.act(0)
    assert third.news() == []
    third.act(0)
    for client in (other, third):
        assert [change.state for change in client.all_of(SeatChanged)] == ["by_default"]


# -- acts that are refused ---------------------------------------------------------------------------


def test_an_act_for_an_ask_that_is_not_open_costs_nothing() -> None:
    world = World()
    mover, (other,) = first_turn(world.seated())
    ask = mover.ask.ask
    for client, number in ((mover, ask - 1), (mover, ask + 1), (mover, 0), (other, 1), (other, 2)):
        before = snapshot(world)
        (error,) = client.say(Act(client.match, number, index=0))
        assert isinstance(error, Error)
        assert (error.code, error.ask, error.match) == ("protocol.stale_ask", number, client.match)
        assert error.tries is UNSET
        assert snapshot(world) == before


def test_the_same_act_twice_is_stale_the_second_time() -> None:
    world = World()
    mover, _ = first_turn(world.seated())
    act = Act(mover.match, mover.ask.ask, index=0)
    assert codes(mover.say(act)) == []
    assert codes(mover.say(act)) == ["protocol.stale_ask"]


def test_an_act_after_the_end_is_stale_too() -> None:
    world = World()
    clients = world.seated(wants=BARE)
    world.play(clients)
    clients[0].news()
    (error,) = clients[0].say(Act(clients[0].match, 1, index=0))
    assert isinstance(error, Error)
    assert (error.code, error.match, error.ask) == ("protocol.stale_ask", clients[0].match, 1)


@pytest.mark.parametrize(
    ("act", "code", "pointer"),
    [
        ({"index": 999}, "game.not_available", "/index"),
        ({}, "protocol.wrong_value", UNSET),
        ({"index": 0, "move": moves.DrawTickets()}, "protocol.wrong_value", UNSET),
        ({"move": moves.Pass()}, "game.not_available", "/move/type"),
        ({"move": moves.KeepTickets(("a-b",))}, "game.wrong_move", "/move/type"),
        ({"move": claim("nowhere", "red")}, "game.unknown_name", "/move/route"),
        (
            {"move": claim("atlanta-nashville", "12 red")},
            "game.not_enough_cards",
            "/move/cards",
        ),
    ],
    ids=repr,
)
def test_a_refused_act_says_why_and_costs_a_try(
    act: dict[str, object], code: str, pointer: str | object
) -> None:
    """The ask stays open, others hear nothing, and the nearest move is one that is taken."""
    world = World()
    mover, (other,) = first_turn(world.seated())
    ask = mover.ask
    state = snapshot(world)["journals"]
    (error,) = mover.say(Act(mover.match, ask.ask, **act))  # type: ignore[arg-type]
    assert isinstance(error, Error)
    assert (error.code, error.pointer, error.tries, error.ask) == (code, pointer, 2, ask.ask)
    assert other.news() == []
    assert snapshot(world)["journals"] == state
    assert error.nearest is not UNSET
    news = mover.say(Act(mover.match, ask.ask, move=error.nearest))
    assert isinstance(news[0], Ok)


def test_the_nearest_move_is_of_the_same_kind_and_as_like_it_as_can_be() -> None:
    world = World()
    mover, _ = first_turn(world.seated())
    right = next(move for move in asks_of(mover)[-1].legal or () if isinstance(move, moves.ClaimRoute))
    wrong = claim(right.route, "9 locomotive")
    (error,) = mover.say(Act(mover.match, mover.ask.ask, move=wrong))
    assert isinstance(error, Error)
    assert isinstance(error.nearest, moves.ClaimRoute)
    assert error.nearest.route == right.route


def test_without_a_try_left_the_fallback_is_made() -> None:
    world = World()
    mover, (other,) = first_turn(world.seated())
    ask = asks_of(mover)[-1]
    news = [one for _ in range(3) for one in mover.say(Act(mover.match, ask.ask, index=999))]
    errors = [one for one in news if isinstance(one, Error)]
    assert [error.tries for error in errors] == [2, 1, 0]
    assert isinstance(news[2], Error)
    default = news[3]
    assert isinstance(default, Default)
    assert (default.reason, default.ask, default.move, default.defaults) == (
        "tries",
        ask.ask,
        ask.fallback,
        1,
    )
    assert any(isinstance(one, EventMessage) for one in other.news())


def test_each_ask_has_all_its_tries() -> None:
    world = World()
    mover, _ = first_turn(world.seated())
    for _ in range(2):
        mover.say(Act(mover.match, mover.ask.ask, index=999))
    mover.act(0)
    world.play_turns(list(world.clients.values()), 3)
    assert {ask.tries for client in world.clients.values() for ask in asks_of(client)} == {3}


def test_any_move_that_the_rules_allow_may_be_sent_whether_it_is_listed_or_not() -> None:
    world = World()
    mover, _ = first_turn(world.seated())
    match = world.match_of(mover)
    legal = engine.legal(match.state, mover.seat)
    news = mover.say(Act(mover.match, mover.ask.ask, move=legal[-1].wire))
    assert isinstance(news[0], Ok)


# -- what is wanted ----------------------------------------------------------------------------------


@pytest.mark.parametrize("legal", [True, False])
@pytest.mark.parametrize("view", [True, False])
def test_an_ask_has_what_was_wanted(legal: bool, view: bool) -> None:
    world = World()
    one, *_ = world.seated(wants=Wants(legal=legal, view=view, events=True))
    ask = asks_of(one)[-1]
    assert (ask.legal is not UNSET) == (ask.legal_complete is not UNSET) == legal
    assert (ask.view is not UNSET) == view


def test_an_index_counts_in_the_list_whether_it_was_sent_or_not() -> None:
    world = World()
    one, *_ = world.seated(wants=Wants(legal=False, view=False, events=True))
    listed = engine.legal(world.match_of(one).state, one.seat)
    assert codes(one.act(len(listed))) == ["game.not_available"]
    assert codes(one.act(len(listed) - 1)) == []


def test_who_wants_no_events_gets_none_and_its_asks_count_them_all_the_same() -> None:
    world = World()
    one, other = world.seated(wants=Wants(legal=True, view=False, events=False))
    world.play([one, other])
    assert one.all_of(EventMessage) == []
    assert ended(one).result.turns > 0
    numbers = [ask.after_event for ask in asks_of(one)]
    assert numbers == sorted(numbers)
    assert numbers[0] > 0


# -- the set-up --------------------------------------------------------------------------------------


def test_the_start_tells_all_that_was_fixed_beforehand() -> None:
    world = World()
    clients = world.seated(("team_asia", 4, ()), ready=False)
    for seat, client in enumerate(clients):
        start = client.the(Start)
        assert (start.seat, start.viewer, start.game) == (seat, "seat", "team_asia")
        assert [(p.seat, p.team, p.name) for p in start.players] == [
            (number, number // 2, f"player{number}") for number in range(4)
        ]
        assert start.clocks == clocks_of(world.setup.time)
    assert len({client.the(Start).commitment for client in clients}) == 1


def test_nobody_is_asked_before_all_are_ready() -> None:
    world = World()
    one, other = world.seated(ready=False)
    assert one.say(Ready(one.match)) == []
    assert not one.is_asked()
    other.say(Ready(other.match))
    assert one.is_asked()
    assert other.is_asked()


def test_the_events_of_the_set_up_come_with_the_start() -> None:
    world = World()
    world.player("one").say(Join("usa", 2))
    kinds = world.player("other")
    kinds.say(Join("usa", 2))
    events = [
        peek(line).type for line in kinds.lines if b'"type":"start"' in line or b'"type":"event"' in line
    ]
    assert events[0] == "start"
    assert set(events[1:]) == {"event"}
    assert len(events) > 1


# -- leaving -----------------------------------------------------------------------------------------


def test_who_leaves_hears_nothing_more_and_the_fallback_plays_on_at_once() -> None:
    world = World()
    mover, (other,) = first_turn(world.seated(wants=BARE))
    assert mover.kinds() == []
    mover.say(Leave(match=mover.match))
    world.tick()
    assert [peek(line).type for line in mover.lines[-1:]] == ["left"]
    news = other.news()
    assert isinstance(news[0], SeatChanged)
    assert (news[0].seat, news[0].state) == (mover.seat, "left")
    assert other.is_asked()
    before = world.now
    world.play([other])
    assert world.now == before, "nobody had to wait for who left"
    assert other.has_ended()
    assert mover.lines[-1].startswith(b'{"type":"left"')
    assert mover.all_of(Default) == []


def test_who_leaves_while_all_choose_does_not_hold_up_the_others() -> None:
    world = World()
    one, other, third = world.seated(("usa", 3, ()))
    one.act(0)
    third.act(0)
    other.say(Leave(match=other.match))
    world.tick()
    assert world.match_of(one).state.turn == 1
    assert one.is_asked()


def test_a_match_that_all_have_left_is_played_to_its_end() -> None:
    world = World()
    clients = world.seated()
    for client in clients:
        client.say(Leave(match=client.match))
    world.tick()
    assert world.lobby.counts().finished == 1
    assert world.lobby.counts().running == 0


def test_who_left_during_the_set_up_is_not_waited_for() -> None:
    world = World()
    one, other = world.seated(ready=False)
    other.say(Leave(match=other.match))
    one.say(Ready(one.match))
    assert one.is_asked()


# -- failures of the server --------------------------------------------------------------------------


class _Broken:
    """A decision that has a bug: it knows who owes it, and nothing else."""

    def __init__(self, seats: tuple[Seat, ...]) -> None:
        self.seats = seats

    def __getattr__(self, name: str) -> NoReturn:
        raise ZeroDivisionError("a bug")


WHEN: dict[str, Callable[[Client], object]] = {
    "act": lambda mover: mover.say(Act(mover.match, mover.ask.ask, move=moves.Pass())),
    "time": lambda mover: mover.world.wait(150),
    "resume": lambda mover: mover.resume(),
}


@pytest.mark.parametrize("when", WHEN)
def test_an_error_of_our_own_ends_that_match_and_no_other(when: str) -> None:
    """The players get an error, the log shows where it happened, and everybody else plays on."""
    world = World(time=Time(move_ms=100, bank_ms=0))
    mover, (other,) = first_turn(world.seated())
    practicing = world.practice("first", name="somebody")
    state = world.match_of(mover).state
    assert state.pending is not None
    state.pending = cast(Decision, _Broken(state.pending.seats))  # no decision in earnest
    WHEN[when](mover)
    error = other.the(Error)
    assert (error.code, error.match) == ("server.failed", mover.match)
    assert other.is_open
    (bug,) = world.log.of("match.bug")
    assert bug["match"] == mover.match
    assert "ZeroDivisionError: a bug" in str(bug["exc_info"])
    assert "__getattr__" in str(bug["exc_info"])
    assert world.log.of("match.failed")[0]["match"] == mover.match
    assert world.journal_of(mover).is_abandoned
    assert (world.lobby.counts().failed, world.lobby.counts().running) == (1, 1)
    world.play([practicing])
    assert practicing.has_ended()


@pytest.mark.parametrize("bot", ["broken", "cheat"])
def test_a_house_bot_that_fails_ends_that_match_and_no_other(bot: str) -> None:
    world = World()
    others = world.seated()
    practicing = world.practice(bot, name="somebody")
    world.play([practicing])
    assert practicing.the(Error).code == "server.failed"
    assert world.log.of("match.bug")[0]["match"] == practicing.match
    world.play(others)
    assert others[0].has_ended()


def test_after_a_failure_the_players_can_join_again() -> None:
    world = World()
    practicing = world.practice("broken")
    world.play([practicing])
    practicing.news()
    assert codes(practicing.say(Join("usa", 2, against=("first",)))) == []


# -- house bots --------------------------------------------------------------------------------------


@every_game
def test_a_practice_match_of_every_game_is_played_to_its_end(variant: Variant) -> None:
    world = World()
    client = world.practice(*["chance"] * (variant[1] - 1), variant=variant)
    world.play([client])
    assert ended(client).result.ranks
    assert client.all_of(End) == [ended(client)]


def test_house_bots_move_a_few_times_and_then_others_are_served() -> None:
    """A match among house bots and absent players does not hold up the server to its end."""
    world = World()
    client = world.practice("chance")
    client.say(Leave(match=client.match))
    match = next(iter(world.lobby.matches.running.values()))
    decisions = match.decision_count
    assert match.timer.deadline == world.now
    world.lobby.run_due(lambda: world.now)
    assert decisions < match.decision_count <= decisions + 4
