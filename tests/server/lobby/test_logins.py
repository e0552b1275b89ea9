"""Who comes in: versions, names, tokens, and how many there may be."""

from __future__ import annotations

from hashlib import sha256

import pytest
from msgspec import UNSET, UnsetType

from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_protocol.messages import (
    Bye,
    Error,
    Hello,
    Join,
    Left,
    ListMatches,
    Login,
    Ping,
    Ready,
    Resume,
    Wants,
    Watch,
    Welcome,
)
from stellwerk_server.lobby.admission import LOOPBACK
from stellwerk_server.lobby.outbox import RETRY_MS
from stellwerk_server.lobby.tokens import TokenHolder, Tokens
from stellwerk_server.operate.settings import Limits
from tests.server.support import Client, World, decode, ended, reserved, snapshot

TOKENS = Tokens(
    (
        TokenHolder("Ann", sha256(b"ann's").hexdigest(), is_organizer=False),
        TokenHolder("Ben", sha256(b"ben's").hexdigest(), is_organizer=True),
    )
)


def refused(client: Client, login: Login) -> tuple[str, object]:
    """Return the code and the pointer of the error; check that the login changed nothing."""
    before = snapshot(client.world)
    client.news()
    error = client.say(login)[0]
    assert isinstance(error, Error)
    assert snapshot(client.world) == before
    return error.code, error.pointer


# -- the greeting ------------------------------------------------------------------------------------


def test_the_server_speaks_first_and_says_what_it_expects() -> None:
    world = World(limits=Limits(line=9_999, burst=7))
    hello = decode(world.connect().lines[0])
    assert isinstance(hello, Hello)
    assert hello.protocols == (1,)
    assert (hello.limits.line, hello.limits.burst, hello.limits.depth) == (9_999, 7, 64)
    assert set(hello.features) == {*("resume", "resume_ended", "rooms", "practice", "spectators", "matches")}


def test_a_login_is_answered_with_all_that_can_be_played() -> None:
    world = World()
    wants = Wants(legal=False)
    welcome = world.connect().login("player", wants=wants)
    assert (welcome.name, welcome.wants) == ("player", wants)
    assert [game.game for game in welcome.games] == list(RULE_SETS)
    assert len(welcome.resume_key) * 6 >= 128


def test_who_says_nothing_is_sent_away_in_time() -> None:
    world = World()
    silent, slow = world.connect(), world.connect()
    world.wait(29_999)
    slow.login("slow")
    assert silent.is_open
    world.wait(1)
    assert silent.the(Bye).code == "auth.login_timeout"
    world.wait(100_000)
    assert slow.is_open


def test_longer_lines_are_taken_after_the_login() -> None:
    world = World()
    client = world.connect()
    assert client.connection.lines.limit == 4_096
    client.login("player")
    assert client.connection.lines.limit == 16_384


# -- refused logins ----------------------------------------------------------------------------------


def test_another_version_of_the_protocol_is_refused() -> None:
    assert refused(World().connect(), Login(2, "player")) == ("protocol.version", "/protocol")


def test_a_name_is_nobody_elses_whatever_its_case() -> None:
    world = World()
    first = world.player("Player")
    assert refused(world.connect(), Login(1, "pLAYER")) == ("auth.name_taken", "/name")
    first.drop()
    world.connect().login("pLAYER")


def test_after_three_refusals_the_connection_ends() -> None:
    world = World()
    client = world.connect()
    for _ in range(2):
        client.say(Login(9, "player"))
        assert client.is_open
    news = client.say(Login(9, "player"))
    assert [type(one).__name__ for one in news] == ["Error", "Bye"]
    assert client.the(Bye).code == "protocol.version"
    assert client.say(Login(1, "player")) == []


def test_a_login_may_be_mended() -> None:
    client = World().connect()
    client.say(Login(9, "player"))
    assert client.login("player").name == "player"


# -- tokens ------------------------------------------------------------------------------------------


def test_without_a_file_of_tokens_everybody_comes_in_and_no_token_is_known() -> None:
    assert refused(World().connect(), Login(1, "player", token="x")) == ("auth.bad_token", "/token")


@pytest.mark.parametrize(
    ("login", "place"),
    [
        (Login(1, "Ann"), "/token"),
        (Login(1, "Ann", token="somebody's"), "/token"),
        (Login(1, "Ann", token="ben's"), "/name"),
    ],
    ids=["none", "unknown", "of another"],
)
def test_with_a_file_of_tokens_a_login_needs_its_own(login: Login, place: str) -> None:
    assert refused(World(tokens=TOKENS).connect(), login) == ("auth.bad_token", place)


def test_the_name_is_that_of_the_file() -> None:
    world = World(tokens=TOKENS)
    assert world.connect().login("ANN", token="ann's").name == "Ann"


def test_the_same_token_again_takes_over_the_session() -> None:
    world = World(tokens=TOKENS)
    first = world.connect()
    session = first.login("Ann", token="ann's").session
    second = world.connect()
    assert second.login("Ann", token="ann's").session == session
    assert first.the(Bye).code == "server.taken_over"


def test_a_token_takes_its_session_back_after_the_match_too() -> None:
    """The session gets the end of the match, if it was not connected when the match ended."""
    world = World(tokens=TOKENS)
    client = world.connect()
    client.login("Ann", token="ann's")
    client.say(Join("usa", 2, against=("first",)))
    client.say(Ready(client.match))
    world.play_turns([client], 5)
    match = world.match_of(client)
    client.drop()
    while not match.is_over:
        world.wait(1_000)
    again = world.connect()
    assert again.login("Ann", token="ann's").session == client.the(Welcome).session
    assert ended(again).match == match.id


def test_who_comes_with_a_token_again_to_play_again_hears_of_the_new_match_only() -> None:
    world = World(tokens=TOKENS)
    matches: set[str] = set()
    for _ in range(3):
        client = world.connect()
        client.login("Ann", token="ann's")
        client.say(Join("usa", 2, against=("first",)))
        client.say(Ready(client.match))
        world.play([client])
        assert ended(client).match == client.match
        assert sum(line.startswith(b'{"type":"start"') for line in client.lines) == 1
        matches.add(client.match)
        client.drop()
    assert len(matches) == 3


def test_a_seat_needs_no_entry_in_the_file() -> None:
    world = World(tokens=TOKENS)
    clients = reserved(world)
    assert [client.the(Welcome).name for client in clients] == ["entrant0", "entrant1"]


def test_a_token_in_the_clear_is_refused_beyond_this_machine() -> None:
    """Even a valid token is refused. The operator of the server may allow it."""
    world = World(tokens=TOKENS)
    client = world.connect("10.0.0.1", is_private=False)
    assert refused(client, Login(1, "Ann", token="ann's")) == ("auth.token_needs_tls", "/token")
    world.connect("10.0.0.1", "tls").login("Ann", token="ann's")
    allowed = World(tokens=TOKENS, plaintext_tokens=True)
    allowed.connect("10.0.0.1", is_private=False).login("Ann", token="ann's")


@pytest.mark.parametrize("token", [UNSET, "ann's", "somebody's", "ben's"])
def test_a_resume_needs_no_token_and_one_that_comes_with_it_is_not_checked(token: str | UnsetType) -> None:
    """The rule of the page: the key proves the session."""
    world = World(tokens=TOKENS)
    client = world.connect()
    client.login("Ann", token="ann's")
    client.say(Join("card_game", 2, against=("chance",)))
    welcome = client.the(Welcome)
    client.drop()
    back = world.connect()
    back.say(Login(1, "Ann", token=token, resume=Resume(welcome.session, welcome.resume_key, {})))
    assert back.the(Welcome).session == welcome.session
    assert back.match == client.match


# -- tokens that change ------------------------------------------------------------------------------

ONLY_BEN = Tokens(TOKENS.holders[1:])


def playing(world: World, name: str, token: str) -> Client:
    client = world.connect()
    client.login(name, token=token, max_matches=2)
    client.say(Join("card_game", 2, against=("chance",)))
    client.say(Ready(client.match))
    return client


def test_a_new_token_lets_in_and_one_that_is_gone_does_not() -> None:
    world = World(tokens=ONLY_BEN)
    assert refused(world.connect(), Login(1, "Ann", token="ann's")) == ("auth.bad_token", "/token")
    world.lobby.logins.take_tokens(TOKENS, world.now)
    assert world.connect().login("Ann", token="ann's").name == "Ann"
    world.lobby.logins.take_tokens(Tokens(()), world.now)
    assert refused(world.connect(), Login(1, "Ben", token="ben's")) == ("auth.bad_token", "/token")


def test_a_session_whose_token_went_finishes_its_match_and_begins_nothing_else() -> None:
    world = World(tokens=TOKENS)
    ann = playing(world, "Ann", "ann's")
    ann.say(Join("card_game", 2, room="waiting"))
    world.lobby.logins.take_tokens(ONLY_BEN, world.now)
    world.flush()
    assert ann.the(Left).room == "waiting"
    for message in (Join("card_game", 2), Watch(ann.match), ListMatches()):
        error = ann.say(message)[-1]
        assert isinstance(error, Error)
        assert (error.code, error.pointer) == ("auth.not_allowed", "/type")
    world.play([ann])
    assert ann.has_ended()
    assert ann.the(Bye).code == "auth.bad_token"
    assert not ann.is_open
    assert refused(world.connect(), Login(1, "Ann", token="ann's")) == ("auth.bad_token", "/token")


def test_a_session_whose_token_went_resumes_its_match_and_learns_its_end() -> None:
    world = World(tokens=TOKENS)
    ann = playing(world, "Ann", "ann's")
    ann.drop()
    world.lobby.logins.take_tokens(ONLY_BEN, world.now)
    ann = ann.resume()
    world.play_turns([ann], 3)
    assert ann.is_open
    ann.drop()
    while world.lobby.matches.running:
        world.wait(10_000)
    ann = ann.resume()
    assert ann.has_ended()
    assert ann.the(Bye).code == "auth.bad_token"


def test_a_session_whose_token_went_and_that_is_in_no_match_goes_at_once() -> None:
    world = World(tokens=TOKENS)
    ann, ben = world.connect(), world.connect()
    ann.login("Ann", token="ann's")
    ben.login("Ben", token="ben's")
    world.lobby.logins.take_tokens(ONLY_BEN, world.now)
    world.flush()
    assert ann.the(Bye).code == "auth.bad_token"
    assert ben.is_open


@pytest.mark.parametrize(
    "holder",
    [
        TokenHolder("Ben", sha256(b"ben's").hexdigest(), is_organizer=False),
        TokenHolder("Bea", sha256(b"ben's").hexdigest(), is_organizer=True),
    ],
    ids=["another role", "another name"],
)
def test_a_token_with_another_name_or_fewer_rights_is_another_token(holder: TokenHolder) -> None:
    world = World(tokens=TOKENS)
    ann, ben = playing(world, "Ann", "ann's"), playing(world, "Ben", "ben's")
    ben.say(Watch(ann.match, "all_hands"))
    world.lobby.logins.take_tokens(Tokens((TOKENS.holders[0], holder)), world.now)
    world.flush()
    assert ben.the(Left).match == ann.match
    error = ben.say(Watch(ann.match, "all_hands"))[-1]
    assert isinstance(error, Error)
    assert error.code == "auth.not_allowed"


def test_no_token_and_no_key_is_kept() -> None:
    world = World(tokens=TOKENS)
    key = world.connect().login("Ann", token="ann's").resume_key
    (session,) = world.lobby.sessions.by_id.values()
    names = [
        name for name in dir(session) if not name.startswith("__") and name not in ("connection", "timer")
    ]
    kept = repr([getattr(session, name) for name in names])
    assert "ann's" not in kept
    assert key not in kept


# -- how many ----------------------------------------------------------------------------------------


def test_a_newcomer_takes_the_place_of_the_oldest_of_the_address_that_holds_most() -> None:
    world = World(limits=Limits(unauthenticated=4))
    one = world.connect("10.0.0.1")
    crowd = [world.connect("10.0.0.2") for _ in range(3)]
    newcomer = world.connect("10.0.0.3")
    bye = crowd[0].the(Bye)
    assert (bye.code, bye.retry_ms) == ("server.full", RETRY_MS)
    assert all(client.is_open for client in (one, *crowd[1:], newcomer))
    assert not world.connect("10.0.0.2").is_open or not crowd[1].is_open


def test_an_ipv6_network_of_a_customer_counts_as_one_address() -> None:
    world = World(limits=Limits(unauthenticated=4))
    one = world.connect("2001:db8:0:2::1")
    crowd = [world.connect(f"2001:db8:0:1::{number}") for number in range(3)]
    newcomer = world.connect("2001:db8:0:3::1")
    assert [client.is_open for client in (one, *crowd, newcomer)] == [True, False, True, True, True]


def test_a_session_that_plays_keeps_its_place_while_its_connection_is_lost() -> None:
    world = World(limits=Limits(connections=2))
    one, two = world.practice("first", name="one"), world.player("two")
    one.drop()
    third = world.connect()
    third.say(Login(1, "third"))
    assert (third.the(Bye).code, third.the(Bye).retry_ms) == ("server.full", RETRY_MS)
    third.drop()
    assert one.resume().the(Welcome).name == "one"
    two.drop()
    assert world.player("four").is_open


def test_an_address_has_so_many_sessions() -> None:
    world = World(limits=Limits(sessions_per_address=2))
    players = [world.connect("10.0.0.1") for _ in range(3)]
    for number, client in enumerate(players):
        client.say(Login(1, f"player{number}"))
    assert [client.is_open for client in players] == [True, True, False]
    assert players[2].the(Bye).code == "server.full"
    assert world.connect("10.0.0.2").login("other").name == "other"
    players[0].drop()
    assert world.connect("10.0.0.1").login("again").name == "again"


def test_a_session_kept_for_its_end_makes_way_for_a_new_one_of_its_address() -> None:
    world = World(limits=Limits(sessions_per_address=1))
    client = world.connect("10.0.0.1")
    client.login("player")
    client.say(Join("usa", 2, against=("first",)))
    client.say(Ready(client.match))
    world.play([client])
    client.drop()
    assert world.lobby.counts().sessions == 1
    assert world.connect("10.0.0.1").login("another").name == "another"
    assert world.lobby.counts().sessions == 1


def test_no_limit_for_an_address_concerns_this_machine_unless_the_organizer_says_so() -> None:
    limits = Limits(sessions_per_address=1)
    for trusted, codes_of_second in ((LOOPBACK, ["Welcome"]), ((), ["Bye"])):
        world = World(limits=limits, trusted=trusted)
        world.player("one")
        news = world.connect().say(Login(1, "two"))
        assert [type(one).__name__ for one in news] == codes_of_second


def test_without_descriptors_nobody_is_let_in() -> None:
    world = World(may_connect=lambda: False)
    assert world.connect().the(Bye).code == "server.full"


def test_counting_those_not_logged_in_comes_back_to_nothing() -> None:
    """However they came and went."""
    world = World(limits=Limits(unauthenticated=3, refused_logins=1))
    for number in range(20):
        client = world.connect()
        if number % 4 == 0:
            client.login(f"player{number}")
        elif number % 4 == 1:
            client.say(Login(9, "player"))
        elif number % 4 == 2:
            world.wait(30_000)
        client.drop()
        client.drop()
    waiting = [world.connect() for _ in range(3)]
    assert all(client.is_open for client in waiting)
    world.connect()
    assert [client.is_open for client in waiting] == [False, True, True]


# -- the end of a session ----------------------------------------------------------------------------


def test_a_session_without_a_match_ends_with_its_connection() -> None:
    world = World()
    client = world.player("player")
    client.say(Join("usa", 2))
    client.drop()
    counts = world.lobby.counts()
    assert (counts.sessions, counts.rooms, counts.connections) == (0, 0, 0)


def test_each_connection_leaves_one_line_in_the_log() -> None:
    world = World()
    client = world.player("player")
    client.say(Ping(), b"nonsense", Login(1, "again"))
    world.wait(1_500)
    client.drop()
    (line,) = world.log.of("connection.closed")
    assert line["name"] == "player"
    assert line["lines"] == 4
    assert line["errors"] == {"wire.not_json": 1, "protocol.out_of_phase": 1}
    assert (line["cause"], line["seconds"]) == ("gone", 1.5)


def test_a_server_that_goes_down_lets_nobody_new_in() -> None:
    world = World()
    waiting = world.connect()
    world.lobby.drain()
    world.flush()
    assert waiting.the(Bye).code == "server.shutting_down"
    late = world.connect()
    late.say(Login(1, "late"))
    assert (late.the(Error).code, late.the(Error).retry_ms) == ("server.shutting_down", RETRY_MS)
    assert late.the(Bye).code == "server.shutting_down"


def test_who_plays_can_resume_while_the_server_goes_down() -> None:
    world = World()
    client = world.practice("first")
    world.lobby.drain()
    world.flush()
    back = client.resume({client.match: 0})
    assert back.the(Welcome).name == "player"
    assert not back.connection.closing
