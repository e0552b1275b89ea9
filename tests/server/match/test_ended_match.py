"""An `end` that was on its way when the connection broke, or the server: it comes again, and not for ever.

Law: a resume after a crash brings what it would have brought without it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from stellwerk_protocol.messages import (
    Act,
    Bye,
    End,
    Error,
    EventMessage,
    Join,
    ListedMatch,
    ListMatches,
    Login,
    MatchList,
    Ping,
    Ready,
    Resume,
    Start,
    Watch,
    Welcome,
)
from stellwerk_server.journal.journal import ENDED_SUFFIX, Journals
from stellwerk_server.lobby.recovery import Recovered, recover
from tests.server.support import BARE, EVERY_GAME, Client, Variant, World, codes, peek, reserved
from tests.support import variant_id

KEPT_MS = 60_000


class Served:
    """A server with its folder, which can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lives = 0
        self.world: World
        self.journals: Journals
        self.recovered: Recovered
        self.start()

    def start(self) -> None:
        """Start a new process, to which the one before has left only its folder."""
        self.lives += 1
        self.journals = Journals(self.folder)
        self.world = World(seed=f"life {self.lives}", open_journal=self.journals.open)
        self.recovered = recover(self.world.lobby, self.journals, self.world.now)
        self.world.flush()
        assert self.recovered.put_aside == {}

    def kept(self) -> list[str]:
        """Return the matches whose end a client may still ask for."""
        return sorted(path.stem for path in self.journals.left_over(ENDED_SUFFIX))

    def practice(self, client: Client, variant: Variant = ("usa", 2, ())) -> str:
        """Begin another match, and wait for its first ask."""
        others = ("first",) * (variant[1] - 1)
        client.say(Join(variant[0], variant[1], variant[2], against=others))
        client.say(Ready(client.match))
        self.world.tick()
        return client.match

    def play(self, client: Client, match: str) -> None:
        """Play this match to its end, and no other."""
        while not any(end.match == match for end in client.all_of(End)):
            (ask,) = [ask for ask in client.open_asks() if ask.match == match]
            client.say(Act(match, ask.ask, index=0))
            self.world.tick()

    def resume(
        self, welcome: Welcome, last_events: dict[str, int] | None = None, ended: tuple[str, ...] = ()
    ) -> Client:
        client = self.world.connect()
        resume = Resume(welcome.session, welcome.resume_key, dict(last_events or {}), ended)
        client.say(Login(1, welcome.name, max_matches=64, wants=BARE, resume=resume))
        return client


def player(served: Served, name: str = "player") -> Client:
    return served.world.player(name, max_matches=64, wants=BARE)


def about(client: Client, match: str) -> list[bytes]:
    """Return all that a client was sent about a match."""
    return [line for line in client.lines if peek(line).match == match]


# -- the server is killed ----------------------------------------------------------------------------


@pytest.mark.parametrize("variant", EVERY_GAME, ids=variant_id)
def test_an_end_on_its_way_comes_after_a_crash_as_it_would_have_without(
    variant: Variant, tmp_path: Path
) -> None:
    """The session has another match, which goes on: that is not all of it."""
    served = Served(tmp_path)
    client = player(served)
    ends, goes_on = served.practice(client, variant), served.practice(client)
    served.play(client, ends)
    received = about(client, ends)
    half = max(peek(line).number for line in received) // 2
    served.start()
    back = served.resume(client.the(Welcome), {ends: half, goes_on: 1})
    missing = [line for line in received if peek(line).number > half or b'"end"' in line[:16]]
    assert len(missing) > 2
    assert about(back, ends) == missing, "the events after that one, and the end"
    assert [ask.match for ask in back.open_asks()] == [goes_on]
    assert codes(back.say(Act(ends, 1, index=0))) == ["protocol.stale_ask"]
    served.play(back, goes_on)


def test_from_nothing_the_whole_match_comes_again(tmp_path: Path) -> None:
    served = Served(tmp_path)
    client = player(served)
    match = served.practice(client)
    served.play(client, match)
    without = served.resume(client.the(Welcome))
    served.start()
    after = served.resume(without.the(Welcome))
    assert about(after, match) == about(without, match)
    assert after.the(Start) == client.the(Start)
    assert after.all_of(EventMessage) == client.all_of(EventMessage)


def test_each_seat_gets_its_own_view_of_what_happened(tmp_path: Path) -> None:
    """Both hear of the end only after the crash; the seats see other cards."""
    served = Served(tmp_path)
    clients = served.world.seated(wants=BARE)
    served.world.play(clients)
    served.start()
    for client in clients:
        back = served.resume(client.the(Welcome))
        assert back.all_of(EventMessage) == client.all_of(EventMessage)
        assert back.the(Start).seat == client.seat
        assert back.the(End) == client.the(End)


def test_a_session_whose_only_match_has_ended_can_be_resumed_after_a_crash(tmp_path: Path) -> None:
    """Its name stays taken for as long, but the session makes way for a new one."""
    served = Served(tmp_path)
    client = player(served)
    served.play(client, served.practice(client))
    served.start()
    assert served.resume(client.the(Welcome)).the(End) == client.the(End)
    served.start()
    newcomer = served.world.connect()
    assert newcomer.login("player").session != client.the(Welcome).session


def test_the_newest_key_is_the_good_one_after_a_crash(tmp_path: Path) -> None:
    """It was given out when the match was over already."""
    served = Served(tmp_path)
    client = player(served)
    served.play(client, served.practice(client))
    first = client.the(Welcome)
    second = served.resume(first).the(Welcome)
    third = served.resume(second).the(Welcome)
    served.start()
    assert served.resume(first).the(Error).code == "auth.bad_resume_key"
    assert served.resume(third).has_ended()


def test_the_token_of_a_seat_shows_the_end_after_a_crash(tmp_path: Path) -> None:
    served = Served(tmp_path)
    clients = reserved(served.world)
    served.world.play(clients)
    served.start()
    again = served.world.connect()
    again.login("whatever", token="token0")
    assert again.the(End) == clients[0].the(End)
    assert again.the(Bye).code == "done"


def test_who_left_the_match_hears_nothing_of_it_after_a_crash(tmp_path: Path) -> None:
    served = Served(tmp_path)
    clients = served.world.seated(wants=BARE)
    leaver, stays = clients
    leaver.say(b'{"type":"leave","match":"%b"}' % leaver.match.encode())
    served.world.play([stays])
    assert stays.has_ended()
    served.start()
    assert not served.resume(leaver.the(Welcome)).is_in()
    assert served.resume(stays.the(Welcome)).has_ended()


def test_a_deal_that_is_revealed_later_stays_secret_after_a_crash(tmp_path: Path) -> None:
    served = Served(tmp_path)
    clients = reserved(served.world, reveal_later=True)
    served.world.play(clients)
    served.start()
    end = served.resume(clients[0].the(Welcome)).the(End)
    assert end == clients[0].the(End)
    assert end.reveal == "later"


def test_the_replay_of_an_ended_match_is_left_as_it_is(tmp_path: Path) -> None:
    """It is the organizer's to move; events come from the journal."""
    served = Served(tmp_path)
    client = player(served)
    match = served.practice(client)
    served.play(client, match)
    (served.journals.replays / f"{match}.jsonl").unlink()
    served.start()
    assert served.resume(client.the(Welcome)).all_of(EventMessage) == client.all_of(EventMessage)
    assert list(served.journals.replays.glob("*.jsonl")) == []


def test_a_kept_journal_with_another_byte_costs_no_other_match(tmp_path: Path) -> None:
    served = Served(tmp_path)
    client = player(served)
    spoilt, other = served.practice(client), served.practice(client)
    for match in (spoilt, other):
        served.play(client, match)
    path = served.journals.running / f"{spoilt}.ended"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    journals = Journals(tmp_path)
    world = World(seed="again", open_journal=journals.open)
    recovered = recover(world.lobby, journals, world.now)
    assert list(recovered.put_aside) == [path.name]
    assert recovered.ended == [other]
    assert path.with_suffix(".unusable").read_bytes() == content


# -- how long, and how many --------------------------------------------------------------------------


def test_an_end_is_repeated_for_as_long_as_a_session_is_kept(tmp_path: Path) -> None:
    """The time counts from the end of the match, and after a crash from the start of the server."""
    served = Served(tmp_path)
    client = player(served)
    match = served.practice(client)
    served.practice(client)
    served.play(client, match)
    served.world.wait(KEPT_MS - 1)
    assert served.resume(client.the(Welcome), {match: 1}).has_ended()
    served.start()
    served.world.wait(KEPT_MS - 1)
    back = served.resume(served_welcome(client, served), {match: 1})
    assert back.has_ended()
    served.world.wait(1)
    assert served.kept() == []
    again = served.resume(back.the(Welcome), {match: 1})
    assert again.is_in()
    assert not again.has_ended()
    assert codes(again.say(Act(match, 1, index=0))) == ["protocol.no_such_match"]


def served_welcome(client: Client, served: Served) -> Welcome:
    """Return the newest welcome of the client's session; the key of the one before is good as well."""
    welcome = client.the(Welcome)
    session = served.world.lobby.sessions.by_id[welcome.session]
    assert session.has_key(welcome.resume_key)
    return welcome


def test_the_oldest_of_many_ends_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stellwerk_server.lobby.sessions.MOST_ENDED", 2)
    served = Served(tmp_path)
    client = player(served)
    matches = [served.practice(client) for _ in range(4)]
    for match in matches:
        served.play(client, match)
    assert served.kept() == sorted(matches[2:])
    served.start()
    back = served.resume(client.the(Welcome))
    assert {end.match for end in back.all_of(End)} == set(matches[2:])


def test_a_session_that_ends_takes_its_ended_matches_with_it(tmp_path: Path) -> None:
    served = Served(tmp_path)
    client = player(served)
    served.play(client, served.practice(client))
    assert len(served.kept()) == 1
    client.drop()
    served.world.connect().login("player")  # who was only kept makes way
    assert served.kept() == []


def test_a_match_is_kept_until_the_last_of_its_players_has_heard_of_the_end(tmp_path: Path) -> None:
    served = Served(tmp_path)
    clients = served.world.seated(wants=BARE)
    served.world.play(clients)
    match = clients[0].match
    for client in clients:
        assert served.kept() == [match]
        served.resume(client.the(Welcome), ended=(match,))
    assert served.kept() == []


def test_a_replay_has_nothing_private_in_it(tmp_path: Path) -> None:
    served = Served(tmp_path)
    client = player(served)
    match = served.practice(client)
    served.play(client, match)
    assert b'"journal"' not in (served.journals.replays / f"{match}.jsonl").read_bytes()
    kept = served.journals.running / f"{match}.ended"
    assert kept.stat().st_mode & 0o077 == 0
    assert client.the(Welcome).resume_key.encode() not in kept.read_bytes()


# -- who has the end says so -------------------------------------------------------------------------


@pytest.mark.parametrize("is_killed", [False, True])
def test_an_end_that_arrived_is_not_sent_again(is_killed: bool, tmp_path: Path) -> None:
    served = Served(tmp_path)
    client = player(served)
    heard, unheard = served.practice(client), served.practice(client)
    for match in (heard, unheard):
        served.play(client, match)
    if is_killed:
        served.start()
    back = served.resume(client.the(Welcome), {}, (heard,))
    assert about(back, heard) == []
    assert about(back, unheard) == about(client, unheard)[:1] + [
        line for line in about(client, unheard) if peek(line).type in ("event", "end")
    ]
    assert codes(back.say(Act(heard, 1, index=0))) == ["protocol.no_such_match"]
    again = served.resume(back.the(Welcome))
    assert [end.match for end in again.all_of(End)] == [unheard]


def test_other_ids_in_the_list_are_ignored(tmp_path: Path) -> None:
    """The list has ids of running matches, of matches of other sessions, and an id twice."""
    served = Served(tmp_path)
    client = player(served)
    match = served.practice(client)
    back = served.resume(client.the(Welcome), {match: 1}, (match, match, "nosuch"))
    assert [ask.match for ask in back.open_asks()] == [match]
    served.play(back, match)


def test_a_login_that_is_refused_forgets_no_end(tmp_path: Path) -> None:
    served = Served(tmp_path)
    client = player(served)
    heard, other = served.practice(client), served.practice(client)
    served.play(client, heard)
    refused = served.resume(client.the(Welcome), {other: 10**6}, (heard,))
    assert refused.the(Error).code == "protocol.wrong_value"
    assert served.resume(client.the(Welcome), {other: 1}).has_ended()


def test_a_list_of_more_than_64_is_refused(tmp_path: Path) -> None:
    served = Served(tmp_path)
    client = player(served)
    welcome = client.the(Welcome)
    many = served.resume(welcome, {}, tuple(f"m{number}" for number in range(65)))
    error = many.the(Error)
    assert (error.code, error.pointer) == ("protocol.wrong_value", "/resume/ended")
    assert served.resume(welcome, {}, tuple(f"m{number}" for number in range(64))).is_in()


def test_a_session_without_anything_to_hear_ends_with_its_connection(tmp_path: Path) -> None:
    served = Served(tmp_path)
    client = player(served)
    match = served.practice(client)
    served.play(client, match)
    back = served.resume(client.the(Welcome), ended=(match,))
    assert back.say(Ping()) != []
    back.drop()
    assert served.world.lobby.counts().sessions == 0


def test_a_disk_that_has_lost_the_journal_leaves_the_end(tmp_path: Path) -> None:
    """The events are gone then, and the log says so."""
    served = Served(tmp_path)
    client = player(served)
    match = served.practice(client)
    served.play(client, match)
    for path in (*served.journals.running.iterdir(), *served.journals.replays.iterdir()):
        path.unlink()
    back = served.resume(client.the(Welcome), {match: 1})
    assert about(back, match) == [about(client, match)[-1]]
    assert {record["match"] for record in served.world.log.of("end.not_repeated_in_full")} == {match}


# -- spectators --------------------------------------------------------------------------------------


def listed(client: Client, after: str | None = None) -> MatchList:
    client.news()
    (message,) = client.say(ListMatches() if after is None else ListMatches(after))
    assert isinstance(message, MatchList)
    return message


def test_the_list_of_a_server_that_was_killed_has_its_matches_in_another_life(tmp_path: Path) -> None:
    """Those that go on, and those that are kept for their players."""
    served = Served(tmp_path)
    client = served.world.player("client", max_matches=2)
    over, running = served.practice(client), served.practice(client)
    served.play(client, over)
    before = listed(served.world.player("watching"))
    served.start()
    watching = served.world.player("watching")
    after = listed(watching, before.cursor)
    assert after.anew
    assert {one.match: one.state for one in after.matches} == {over: "ended", running: "running"}
    assert sorted(after.matches, key=by_match) == sorted(before.matches, key=by_match)
    watching.say(Watch(over))
    assert peek(watching.lines[-1]).type == "end"


def by_match(one: ListedMatch) -> str:
    return one.match


def test_a_match_that_nobody_may_learn_of_is_not_listed_after_a_crash_either(tmp_path: Path) -> None:
    served = Served(tmp_path)
    served.world.play(reserved(served.world, match="over", reveal_later=True))
    reserved(served.world, match="running", reveal_later=True)
    served.start()
    assert (served.recovered.ended, served.recovered.resumed) == (["over"], ["running"])
    watching = served.world.player("watching")
    assert listed(watching).matches == ()
    for match in ("nowhere", "over", "running"):
        watching.say(Watch(match))
    assert len(set(watching.lines[-3:])) == 1


@pytest.mark.parametrize("variant", EVERY_GAME, ids=variant_id)
def test_a_spectator_gets_the_same_from_the_replay_as_from_the_journal(
    variant: Variant, tmp_path: Path
) -> None:
    """The journal is removed when no player may ask for the end any more; the match is listed for longer."""
    served = Served(tmp_path)
    client = served.world.player("client")
    match = served.practice(client, variant)
    served.play(client, match)
    watching = served.world.player("watching")
    before = len(watching.lines)
    watching.say(Watch(match))
    from_journal = watching.lines[before:]
    client.drop()
    served.world.wait(KEPT_MS)
    assert served.kept() == []
    before = len(watching.lines)
    watching.say(Watch(match))
    assert watching.lines[before:] == from_journal
    types = [peek(line).type for line in from_journal]
    assert types == ["start", *["event"] * (len(types) - 2), "end"]


@pytest.mark.parametrize("damage", ["removed", "another byte", "cut off", "a folder in its place"])
def test_a_match_whose_replay_is_gone_or_broken_is_not_half_shown(damage: str, tmp_path: Path) -> None:
    served = Served(tmp_path)
    client = served.world.player("client")
    match = served.practice(client)
    served.play(client, match)
    client.drop()
    served.world.wait(KEPT_MS)
    replay = served.journals.replays / f"{match}.jsonl"
    content = replay.read_bytes()
    replay.unlink()
    if damage == "another byte":
        replay.write_bytes(content.replace(b'"turn":7', b'"turn":8', 1))
    elif damage == "cut off":
        replay.write_bytes(b"".join(content.splitlines(keepends=True)[:-9]))
    elif damage == "a folder in its place":
        replay.mkdir()
    watching = served.world.player("watching")
    assert codes(watching.say(Watch(match))) == ["protocol.no_such_match"]
    assert [one.match for one in listed(watching).matches] == [match]
    logged = served.world.log.of("end.not_repeated_in_full")
    assert [one["match"] for one in logged] == ([] if damage == "removed" else [match])
