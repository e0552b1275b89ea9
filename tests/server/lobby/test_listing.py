"""The list of matches: what changes is in it, once, and nobody learns from it of a match that is hidden."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from stellwerk_protocol.canonical import LARGEST_INT
from stellwerk_protocol.messages import (
    MOST_LISTED,
    Join,
    Leave,
    ListedMatch,
    ListMatches,
    MatchList,
    Player,
    Start,
    Watch,
)
from stellwerk_protocol.names import MAX_SEATS
from stellwerk_protocol.results import Result
from stellwerk_server.lobby.listing import Listing
from stellwerk_server.match.ended_match import EndedMatch
from stellwerk_server.match.lines import line
from stellwerk_server.match.match_session import MatchSession
from stellwerk_server.operate.settings import Limits
from tests.server.support import (
    EVERY_GAME,
    Client,
    Variant,
    World,
    codes,
    ended,
    peek,
    reserved,
)
from tests.support import variant_id

QUICK: Final = {"messages_a_second": 1_000_000, "burst": 1_000_000}


@dataclass
class Reader:
    """A client that asks what has changed, and keeps what it has heard."""

    reply: Callable[[str | None], MatchList]
    cursor: str | None = None
    known: dict[str, ListedMatch] = field(default_factory=dict[str, ListedMatch])
    has_more: bool = False

    def read(self) -> MatchList:
        message = self.reply(self.cursor)
        if message.anew:
            self.known.clear()
        self.known |= {listed.match: listed for listed in message.matches}
        self.cursor, self.has_more = message.cursor, message.more
        return message

    def read_all(self) -> None:
        self.read()
        for _ in range(1_000):
            if not self.has_more:
                return
            self.read()
        raise AssertionError("the list never ends")

    def of_state(self, state: str) -> set[str]:
        return {listed.match for listed in self.known.values() if listed.state == state}


def reader(client: Client) -> Reader:
    return Reader(lambda cursor: ask(client, cursor))


def ask(client: Client, after: str | None = None) -> MatchList:
    client.news()
    (message,) = client.say(ListMatches() if after is None else ListMatches(after))
    assert isinstance(message, MatchList)
    return message


# -- what changes ------------------------------------------------------------------------------------


def test_a_match_is_listed_when_it_begins_and_when_it_ends_and_not_in_between() -> None:
    world = World()
    watching = world.player("watching")
    empty = ask(watching)
    assert (empty.matches, empty.anew, empty.more) == ((), True, False)
    players = world.seated()
    (listed,) = (began := ask(watching, empty.cursor)).matches
    assert (listed.match, listed.state, listed.decisions) == (players[0].match, "running", 0)
    world.play_turns(players, 9)
    unchanged = ask(watching, began.cursor)
    assert unchanged == MatchList(began.cursor, ())
    world.play(players)
    over = ask(watching, unchanged.cursor)
    assert [(one.match, one.state) for one in over.matches] == [(players[0].match, "ended")]
    assert not over.anew


def test_a_match_that_began_and_ended_between_two_requests_comes_once() -> None:
    world = World()
    watching = world.player("watching")
    before = ask(watching)
    world.play(world.seated())
    assert [listed.state for listed in ask(watching, before.cursor).matches] == ["ended"]


@pytest.mark.parametrize("variant", EVERY_GAME, ids=variant_id)
def test_the_list_says_what_start_and_end_say(variant: Variant) -> None:
    """A spectator of the match gets all of it, too, at the same moment at the latest."""
    world = World()
    players = world.seated(variant)
    spectator = world.player("spectator")
    spectator.say(Watch(players[0].match))
    start = spectator.the(Start)
    world.play_turns(players, 30)
    (listed,) = ask(spectator).matches
    described = (start.match, start.game, start.options, start.players)
    assert (listed.match, listed.game, listed.options, listed.players) == described
    assert listed == ListedMatch(start.match, "running", *described[1:], decisions=listed.decisions)
    world.play(players)
    result = ended(spectator).result
    (listed,) = ask(spectator).matches
    points = {seat: team.points for team in result.teams for seat in team.seats}
    assert listed == ListedMatch(
        start.match,
        "ended",
        *described[1:],
        turns=result.turns,
        ranks=result.ranks,
        points=tuple(points[seat] for seat in range(variant[1])),
    )


def test_a_match_that_failed_is_listed_without_a_result() -> None:
    world = World()
    player = world.practice("broken")
    world.play([player])
    (listed,) = ask(player).matches
    assert (listed.state, listed.turns, listed.ranks, listed.points) == ("failed", UNSET, UNSET, UNSET)


def test_a_match_that_failed_when_all_moves_were_made_has_no_result_in_the_list() -> None:
    """The disk takes no replay of it, so nobody has got its end, and nobody may learn of the result."""
    world = World()
    players, watching = world.seated(), world.player("watching")
    world.journal_of(players[0]).cannot_finish = True
    world.play(players, until=lambda: world.match_of(players[0]).state.result is not None)
    (listed,) = ask(watching).matches
    assert (listed.state, listed.points) == ("running", UNSET)
    world.lobby.matches.journal_failed(players[0].match, OSError(), world.now)
    (listed,) = ask(watching).matches
    assert (listed.state, listed.points) == ("failed", UNSET)


def test_a_match_that_begins_again_stays_listed_when_its_first_end_is_forgotten() -> None:
    """A void match of a tournament is played again under its id."""
    (again, *others), _ = some_matches()
    listing = Listing(World(limits=Limits(ended_matches=1)).setup)
    for match in (again, others[0]):
        listing.began(match)
    listing.ended(again.ended(ignore), None)
    listing.began(again)
    listing.ended(others[0].ended(ignore), None)
    message = msgspec.json.decode(listing.reply(UNSET), type=MatchList)
    assert [(listed.match, listed.state) for listed in message.matches] == [
        (again.id, "running"),
        (others[0].id, "failed"),
    ]


def test_a_draining_server_still_lists_its_matches_to_those_who_play() -> None:
    world = World()
    players = world.seated()
    world.lobby.drain()
    world.flush()
    assert [listed.state for listed in ask(players[0]).matches] == ["running"]


# -- what is not for everybody -----------------------------------------------------------------------


def test_a_match_whose_deal_others_have_yet_to_play_leaves_no_trace() -> None:
    """Neither an entry nor a gap: the list with it is the list without it, byte by byte, at every moment."""
    world = World()
    watching = world.player("watching")
    world.play(world.seated())
    first = ask(watching)
    before = (line(ask(watching)), line(ask(watching, first.cursor)))
    hidden = reserved(world, match="hidden", reveal_later=True)
    assert (line(ask(watching)), line(ask(watching, first.cursor))) == before
    assert (line(ask(hidden[0])), line(ask(hidden[0], first.cursor))) == before  # to its players neither
    world.play(hidden)
    assert (line(ask(watching)), line(ask(watching, first.cursor))) == before
    reserved(world, match="failing", reveal_later=True)
    world.lobby.matches.journal_failed("failing", OSError(), world.now)
    assert (line(ask(watching)), line(ask(watching, first.cursor))) == before


def test_the_list_does_not_show_who_has_answered_a_choice_that_several_owe() -> None:
    """L16: before the last answer the list is the same, byte by byte."""
    world = World()
    first, *others = world.seated(("usa", 3, ()))
    watching = world.player("watching")
    before = line(ask(watching))
    first.act(0)
    others[0].act(0)
    assert line(ask(watching)) == before
    others[1].act(0)
    (listed,) = ask(watching).matches
    assert listed.decisions == 3


@pytest.mark.parametrize("variant", EVERY_GAME, ids=variant_id)
def test_the_decisions_of_the_list_change_only_when_a_spectator_hears_of_something(variant: Variant) -> None:
    world = World()
    players = world.seated(variant)
    watching, spectator = world.player("watching"), world.player("spectator")
    spectator.say(Watch(players[0].match))
    changes: list[tuple[int, int]] = []

    def look() -> bool:
        events = sum(peek(text).type in ("event", "end") for text in spectator.lines)
        decisions = (
            world.lobby.matches.running[players[0].match].decision_count
            if world.lobby.matches.running
            else -1
        )
        listed = ask(watching).matches[0].decisions
        assert listed == (UNSET if decisions < 0 else decisions)
        changes.append((events, decisions))
        return len(changes) > 40

    world.play(players, until=look)
    assert len(dict(changes)) == len(set(changes))


# -- cursors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cursor",
    ["nothing", "-", "--", "a-1-1", "x" * 64, "{life}", "{life}-0", "{life}-9-9", "{life}-1-9", "{life}-1-x"],
)
def test_a_cursor_that_this_server_did_not_make_begins_the_list_anew(cursor: str) -> None:
    world = World()
    world.seated()
    watching = world.player("watching")
    whole = ask(watching)
    life = whole.cursor.partition("-")[0]
    assert ask(watching, cursor.format(life=life)) == whole


def test_a_list_of_another_life_of_the_server_is_not_continued() -> None:
    world, another = World(), World(seed="another life")
    for each in (world, another):
        each.play(each.seated())
    cursor = ask(world.player("watching")).cursor
    assert ask(another.player("watching"), cursor).anew


def test_a_reader_learns_that_the_end_of_a_match_was_forgotten() -> None:
    world = World(limits=Limits(**QUICK, ended_matches=2))
    watching, late, player = (
        world.player("watching"),
        world.player("late"),
        world.player("player", max_matches=64),
    )
    for _ in range(4):
        player.say(Join("card_game", 2, against=("first",)))
    matches = [start.match for start in player.all_of(Start)]
    prompt, behind = reader(watching), reader(late)
    prompt.read_all()
    behind.read_all()
    for match in matches[:3]:
        world.lobby.matches.journal_failed(match, OSError(), world.now)
        prompt.read_all()
    assert prompt.of_state("failed") == set(matches[:3])  # it has heard of all
    assert behind.read().anew
    assert (behind.of_state("failed"), behind.of_state("running")) == ({*matches[1:3]}, {matches[3]})
    assert codes(watching.say(Watch(matches[0]))) == ["protocol.no_such_match"]


def test_a_long_list_is_read_to_its_end_however_many_matches_end_meanwhile() -> None:
    """They are forgotten one after another while it reads, and it has never heard that they ran."""
    world = World(limits=Limits(**QUICK, ended_matches=20))
    player, watching = world.player("player", max_matches=64), world.player("watching")
    another = world.player("another", max_matches=64)
    for client, count in ((player, 64), (another, 36)):
        for _ in range(count):
            client.say(Join("card_game", 2, against=("first",)))
    matches = [start.match for client in (player, another) for start in client.all_of(Start)]
    for match in matches[80:]:
        world.lobby.matches.journal_failed(match, OSError(), world.now)
    assert len(matches) == 100
    listening = reader(watching)
    first = listening.read()
    assert (first.anew, first.more, len(first.matches)) == (True, True, MOST_LISTED)
    for match in matches[61:79]:
        world.lobby.matches.journal_failed(match, OSError(), world.now)
    assert not listening.read().anew
    listening.read_all()
    assert listening.of_state("running") == {*matches[:61], matches[79]}


# -- the law -----------------------------------------------------------------------------------------


def ignore(match: str, error: Exception) -> None:
    pass


@cache
def some_matches() -> tuple[tuple[MatchSession, ...], Result]:
    """Return running matches, some of which are hidden, and a result."""
    world = World()
    for number in range(8):
        reserved(world, ("card_game", 2, ()), match=f"m{number}", reveal_later=number >= 6)
    players = world.seated(("card_game", 2, ()))
    running = tuple(world.lobby.matches.running[f"m{number}"] for number in range(8))
    world.play(players)
    return running, ended(players[0]).result


MOVES = st.one_of(
    st.tuples(st.just("begin"), st.integers(0, 7)),
    st.tuples(st.just("end"), st.integers(0, 7)),
    st.tuples(st.just("fail"), st.integers(0, 7)),
    st.tuples(st.just("read"), st.integers(0, 2)),
)


@settings(max_examples=300)
@given(st.lists(MOVES, max_size=80), st.integers(0, 4), st.integers(1, 3))
def test_a_reader_that_asks_until_there_is_no_more_has_the_list(
    moves: list[tuple[str, int]], most_ended: int, most_listed: int
) -> None:
    """Whatever it knew before, and whatever happened while it was reading on. A match may begin again after
    its end, as a void one of a tournament does."""
    matches, result = some_matches()
    listing = Listing(World(limits=Limits(ended_matches=most_ended)).setup, most_listed)
    running: set[str] = set()
    over: dict[str, str] = {}
    endings: list[str] = []

    def reply(cursor: str | None) -> MatchList:
        text = listing.reply(UNSET if cursor is None else cursor)
        message = msgspec.json.decode(text, type=MatchList)
        assert len(message.matches) <= most_listed
        assert {listed.match for listed in message.matches} <= {*running, *over}
        return message

    readers = [Reader(reply) for _ in range(3)]
    for move, number in moves:
        if move == "read":
            readers[number].read()
            continue
        match = matches[number]
        is_hidden = match.plan.reveal_later
        if move == "begin":
            listing.began(match)
            if not is_hidden:
                over.pop(match.id, None)
                running.add(match.id)
        elif is_hidden or match.id in running:
            listing.ended(match.ended(ignore), result if move == "end" else None)
            if not is_hidden:
                running.discard(match.id)
                over[match.id] = "ended" if move == "end" else "failed"
                endings.append(match.id)
    for each in readers:
        each.read_all()
        assert each.of_state("running") == running
        lately = {id for id in endings[max(0, len(endings) - most_ended) :] if id in over}
        assert lately <= each.known.keys()
        assert not each.read().anew
        assert all(listed.state == over[id] for id, listed in each.known.items() if id not in running)


# -- how long, how large -----------------------------------------------------------------------------


def longest() -> MatchList:
    """Return a message whose texts and numbers are all as long as their types allow."""
    listed = ListedMatch(
        match="m" * 64,
        state="running",
        game="g" * 32,
        options=("o" * 32,) * 8,
        players=tuple(Player(MAX_SEATS - 1, MAX_SEATS - 1, "n" * 32) for _ in range(MAX_SEATS)),
        decisions=LARGEST_INT,
        turns=1_000_000,
        ranks=(MAX_SEATS,) * MAX_SEATS,
        points=(-1_000_000,) * MAX_SEATS,
    )
    return MatchList("c" * 64, (listed,) * MOST_LISTED, anew=True, more=True)


def test_the_longest_list_fits_into_a_line() -> None:
    """It is longer than any in fact: no match has both decisions and a result. Types allow nothing longer:
    they refuse each part of it that is one larger."""
    message = longest()
    text = line(message)
    assert len(text) < 60_000
    assert msgspec.json.decode(text, type=MatchList) == message
    for old, new in (
        (b'"' + b"m" * 64, b'"' + b"m" * 65),
        (b'"' + b"g" * 32, b'"' + b"g" * 33),
        (b'"' + b"o" * 32, b'"' + b"o" * 33),
        (b'["' + b"o" * 32, b'["o","' + b"o" * 32),
        (b'"' + b"n" * 32, b'"' + b"n" * 33),
        (b'"' + b"c" * 64, b'"' + b"c" * 65),
        (b"[6,", b"[6,6,"),
        (b"[-1000000,", b"[-1000000,0,"),
        (b"-1000000", b"-1000001"),
        (b":1000000,", b":1000001,"),
        (b'"players":[', b'"players":[{"seat":0,"team":0,"name":"a"},'),
        (b'"matches":[', b'"matches":[%b,' % msgspec.json.encode(message.matches[0])),
        (b'"running"', b'"running "'),
    ):
        assert old in text
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(text.replace(old, new, 1), type=MatchList)


def test_the_list_keeps_nothing_of_a_match_that_is_over_but_its_end() -> None:
    """Not its state, not its events; and no change that a later one has replaced, however many there were."""
    world = World(limits=Limits(**QUICK, ended_matches=3))
    player: Client | None = None
    for number in range(30):
        for player in reserved(world, ("card_game", 2, ()), match=f"over{number}"):
            player.say(Leave(match=f"over{number}"))
            player.drop()
        world.wait(120_000)
        world.clients.clear()
    assert world.lobby.counts().finished == 30
    player = None
    gc.collect()
    assert [one.id for one in gc.get_objects() if isinstance(one, MatchSession) and "over" in one.id] == []
    ids = {one.id for one in gc.get_objects() if isinstance(one, EndedMatch) and "over" in one.id}
    assert ids == {"over27", "over28", "over29"}


def test_changes_that_later_ones_have_replaced_are_dropped() -> None:
    """Else a server that plays for a year would keep something of each of its matches."""
    (match, *_), _ = some_matches()
    listing = Listing(World().setup)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(5_000):
            listing.began(match)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 50_000
