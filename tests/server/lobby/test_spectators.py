"""Who watches: what the public may know at once, all hands after the end."""

from __future__ import annotations

from hashlib import sha256
from typing import Literal

import pytest

from stellwerk_engine.core.dice import Dice
from stellwerk_engine.engine import new_game
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC
from stellwerk_protocol.messages import (
    Error,
    EventMessage,
    Join,
    Leave,
    Left,
    Ready,
    SeatChanged,
    Start,
    Watch,
)
from stellwerk_server.lobby.tokens import TokenHolder, Tokens
from tests.server.support import Client, World, codes, ended, first_turn, peek, reserved, snapshot

TOKENS = Tokens(
    (
        TokenHolder("Org", sha256(b"org's").hexdigest(), is_organizer=True),
        TokenHolder("Bot", sha256(b"bot's").hexdigest(), is_organizer=False),
    )
)


def organizer(world: World) -> Client:
    client = world.connect()
    client.login("Org", token="org's")
    client.news()
    return client


def test_the_public_gets_the_start_and_all_events_so_far_and_to_come() -> None:
    world = World()
    players = world.seated()
    world.play_turns(players, 9)
    spectator = world.player("spectator")
    spectator.say(Watch(players[0].match))
    start = spectator.the(Start)
    assert (start.viewer, start.match) == ("public", players[0].match)
    assert b'"seat":0,"team"' in spectator.lines[2]
    assert (
        not hasattr(start, "seat") or b'"commitment":"%b"}' % start.commitment.encode() in spectator.lines[2]
    )
    world.play(players)
    numbers = [message.number for message in spectator.all_of(EventMessage)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert ended(spectator) == ended(players[0])


def test_the_public_sees_what_everybody_may_know_and_is_never_asked() -> None:
    world = World()
    players = world.seated()
    spectator = world.player("spectator")
    spectator.say(Watch(players[0].match))
    match = world.match_of(players[0])
    events = [*match.events]  # what happened, before it was redacted
    world.play(players)
    events += match.events[len(events) :]
    shown = [message.event for message in spectator.all_of(EventMessage)]
    assert shown == [redact(event, match.game, PUBLIC) for event in events]
    assert {peek(line).type for line in spectator.lines[2:]} == {"start", "event", "end"}


def test_the_public_hears_of_seats_that_are_lost_and_left() -> None:
    world = World()
    mover, (other,) = first_turn(world.seated())
    spectator = world.player("spectator")
    spectator.say(Watch(mover.match))
    mover.drop()
    back = mover.resume()
    back.say(Leave(match=mover.match))
    assert other.is_open
    assert [change.state for change in spectator.all_of(SeatChanged)] == ["lost", "back", "left"]


def test_watching_changes_nothing_for_the_players() -> None:
    transcripts: list[list[bytes]] = []
    for watched in (True, False):
        world = World()
        players = world.seated()
        if watched:
            spectator = world.connect()
            spectator.login("spectator")
            spectator.say(Watch(players[0].match))
            spectator.drop()
        world.play(players)
        transcripts.append([line for line in players[0].lines if b'"end"' not in line[:14]])
    assert transcripts[0] == transcripts[1]


def test_a_watch_counts_for_no_match() -> None:
    world = World()
    players = world.seated()
    spectator = world.player("spectator")
    spectator.say(Watch(players[0].match))
    assert codes(spectator.say(Join("usa", 2))) == []


def test_a_spectator_leaves_and_hears_no_more() -> None:
    world = World()
    players = world.seated()
    spectator = world.player("spectator")
    spectator.say(Watch(players[0].match))
    assert isinstance(spectator.say(Leave(match=players[0].match))[-1], Left)
    world.play(players)
    assert spectator.news() == []
    assert codes(spectator.say(Leave(match=players[0].match))) == ["protocol.no_such_match"]


def test_watching_ends_with_the_connection() -> None:
    """It also ends if another client takes the connection over, because that client might have missed
    something."""
    world = World()
    players = world.seated()
    spectator = world.player("spectator")
    spectator.say(Join("usa", 2, against=("first",)))
    spectator.say(Watch(players[0].match))
    again = spectator.resume()
    assert world.match_of(players[0]).watchers == ()
    assert codes(again.say(Watch(players[0].match))) == []
    again.drop()
    assert world.match_of(players[0]).watchers == ()


def test_all_hands_are_for_organizers_after_the_end() -> None:
    """Before, not a single line; then everything at once, and with it the deal can be dealt again."""
    world = World(tokens=TOKENS)
    players = reserved(world)
    watching = organizer(world)
    watching.say(Watch("reserved", "all_hands"))
    world.play_turns(players, 20)
    assert watching.news() == []
    match = world.match_of(players[0])
    world.play(players)
    assert watching.the(Start).viewer == "all_hands"
    events = [message.event for message in watching.all_of(EventMessage)]
    dealt: list[object] = []
    new_game(match.game, Dice(match.plan.seed), dealt)  # type: ignore[arg-type]
    assert events[: len(dealt)] == dealt
    assert [redact(event, match.game, ALL_HANDS) for event in events] == events
    assert peek(watching.lines[-1]).type == "end"


def test_nobody_else_sees_all_hands() -> None:
    world = World()
    players = world.seated()
    spectator = world.player("spectator")
    before = snapshot(world)
    assert codes(spectator.say(Watch(players[0].match, "all_hands"))) == ["auth.not_allowed"]
    assert snapshot(world) == before


def test_spectators_of_a_match_that_fails_are_told() -> None:
    world = World()
    player = world.practice("broken")
    spectator = world.player("spectator")
    spectator.say(Watch(player.match))
    world.play([player])
    error = spectator.the(Error)
    assert (error.code, error.match) == ("server.failed", player.match)
    session = spectator.connection.session
    assert session is not None
    assert session.watched == {}


def test_a_match_that_is_over_is_shown_from_its_start_to_its_end() -> None:
    """It is shown as to somebody who watched it from the beginning, as often as a client asks."""
    world = World()
    players = world.seated(ready=False)
    early, late = world.player("early"), world.player("late")
    early.say(Watch(players[0].match))
    for player in players:
        player.say(Ready(player.match))
    world.play(players)
    seen = early.lines[2:]
    for spectator in (late, early, players[0]):
        spectator.news()
        before = len(spectator.lines)
        spectator.say(Watch(players[0].match))
        assert spectator.lines[before:] == seen
    session = late.connection.session
    assert session is not None
    assert session.watched == {}
    assert codes(late.say(Leave(match=players[0].match))) == ["protocol.no_such_match"]


def test_all_hands_of_a_match_that_is_over_are_for_organizers() -> None:
    world = World(tokens=TOKENS)
    players = reserved(world)
    watching = organizer(world)
    watching.say(Watch("reserved", "all_hands"))
    before = len(watching.lines)
    world.play(players)
    after = len(watching.lines)
    watching.say(Watch("reserved", "all_hands"))
    assert watching.lines[before:after] == watching.lines[after:]
    other = world.connect()
    other.login("Bot", token="bot's")
    other.news()
    assert codes(other.say(Watch("reserved", "all_hands"))) == ["auth.not_allowed"]


def test_a_match_that_failed_cannot_be_watched() -> None:
    world = World()
    player = world.practice("broken")
    world.play([player])
    assert codes(world.player("spectator").say(Watch(player.match))) == ["protocol.no_such_match"]


def test_a_match_in_its_set_up_can_be_watched() -> None:
    world = World()
    players = world.seated(ready=False)
    spectator = world.player("spectator")
    spectator.say(Watch(players[0].match))
    for player in players:
        player.say(Ready(player.match))
    world.play(players)
    assert spectator.has_ended()


# -- matches whose deal others have yet to play ------------------------------------------------------


@pytest.mark.parametrize("viewer", ["public", "all_hands"])
@pytest.mark.parametrize("name", ["Org", "Bot"])
def test_nobody_watches_a_match_whose_deal_others_have_yet_to_play(
    name: str, viewer: Literal["public", "all_hands"]
) -> None:
    """An organizer neither: it can be the author of a bot. The answer is that to an id that was made up."""
    world = World(tokens=TOKENS)
    players = reserved(world, reveal_later=True)
    watching = world.connect()
    watching.login(name, token="org's" if name == "Org" else "bot's")
    watching.news()
    before = snapshot(world)
    watching.say(Watch("nowhere", viewer))
    watching.say(Watch("reserved", viewer))
    assert watching.lines[-1] == watching.lines[-2]
    assert peek(watching.lines[-1]).code == "protocol.no_such_match"
    assert snapshot(world) == before
    world.play(players)
    watching.say(Watch("reserved", viewer))
    assert watching.lines[-1] == watching.lines[-2]


def test_a_player_of_one_rotation_does_not_watch_another() -> None:
    world = World()
    playing = reserved(world, match="one", reveal_later=True)
    reserved(world, match="other", reveal_later=True)
    assert codes(playing[0].say(Watch("other"))) == ["protocol.no_such_match"]
    assert codes(playing[0].say(Watch("one"))) == ["protocol.out_of_phase"]  # which it plays in, and knows


def test_only_matches_that_anybody_may_watch_are_listed() -> None:
    world = World()
    reserved(world, match="hidden", reveal_later=True)
    reserved(world, match="shown")
    assert [match.id for match in world.lobby.listed()] == ["shown"]
    assert world.lobby.counts().running == 2
