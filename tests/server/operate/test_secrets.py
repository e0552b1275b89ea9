"""Secrets: no log has a token, a key, a seed or a hand, and no line has what a seat may not know."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.cards import COLOR_NAMES
from stellwerk_engine.core.dice import Dice
from stellwerk_engine.core.state import Events, State
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.parts.rail_yards.complete_tickets import CompleteTickets
from stellwerk_protocol import moves
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.messages import Act, Join, Leave, Login, Ready, Resume, Watch, Welcome
from stellwerk_server.journal.journal import Journals
from stellwerk_server.lobby.lobby import Lobby
from stellwerk_server.lobby.recovery import recover
from stellwerk_server.lobby.tokens import TokenHolder, Tokens
from stellwerk_server.operate.logs import make_log
from stellwerk_server.operate.settings import Time
from tests.properties.twins import align, shape, twin_of
from tests.properties.wires import any_wire
from tests.server.support import EVERY_GAME, Client, Variant, World, encode, peek, reserved, scattered, shelf
from tests.support import variant_id

TOKENS = Tokens((TokenHolder("Ann", sha256(b"token-of-ann").hexdigest(), is_organizer=True),))


# -- logs --------------------------------------------------------------------------------------------


def eventful(world: World) -> list[bytes]:
    """Play whole matches with everything that gets logged. Return what every client was sent."""
    reserved_players = reserved(world)
    ann = world.connect()
    ann.login("Ann", token="token-of-ann")
    ann.say(Watch("reserved", "all_hands"))
    ann.say(Join("card_game", 2, against=("broken",)))
    ann.say(Ready(ann.match), b'{"type":"nonsense","token":"token-of-ann"}', Leave(room="nowhere"))
    world.play([ann])
    intruder = world.connect()
    intruder.say(Login(1, "Ann", token="token-of-bob"))
    welcome = reserved_players[0].the(Welcome)
    intruder.say(Login(1, welcome.name, resume=Resume(welcome.session, "guessed-key", {})))
    intruder.say(Login(9, "Ann", token="token-of-ann"))
    world.play_turns(reserved_players, 20)
    reserved_players[0].say(Act("reserved", 999, index=0))
    reserved_players[0].drop()
    world.wait(20_000)
    reserved_players[0] = reserved_players[0].resume()
    world.play(reserved_players)
    world.lobby.shutdown.say_goodbye(world.lobby.connections)
    world.flush()
    for client in list(world.clients.values()):
        client.drop()
    return [line for client in world.clients.values() for line in client.lines]


def with_real_log(world: World, *, as_json: bool) -> io.StringIO:
    stream = io.StringIO()
    world.setup = replace(world.setup, log=make_log(stream, "debug", json=as_json))
    world.lobby = Lobby(world.setup)
    return stream


@pytest.mark.parametrize("as_json", [True, False])
def test_no_token_key_seed_or_hand_gets_into_a_log(as_json: bool) -> None:
    """Tracebacks of our own bugs included."""
    world = World(tokens=TOKENS)
    stream = with_real_log(world, as_json=as_json)
    sent = eventful(world)
    log = stream.getvalue()
    for event in ("match.finished", "match.failed", "match.bug", "connection.closed"):
        assert event in log
    assert "ZeroDivisionError" in log
    secrets = {"token-of-ann", "token-of-bob", "guessed-key", "token0", "token1"}
    secrets |= {sha256(token.encode()).hexdigest() for token in secrets}
    for line in sent:
        if line.startswith(b'{"type":"welcome"'):
            key = json.loads(line)["resume_key"]
            secrets |= {key, sha256(key.encode()).hexdigest()}
    for journal in world.journals.values():
        first = json.loads(journal.written.splitlines()[0])
        secrets |= {first["seed"], first["salt"]}
    secrets |= {sha256(b"reserved").hexdigest(), repr(sha256(b"reserved").digest())}
    assert len(secrets) > 20
    assert [secret for secret in secrets if secret in log] == []
    tickets = {
        ticket.name for game in ("usa", "card_game") for ticket in shelf().game(game, 2, ()).board.tickets
    }
    assert [ticket for ticket in tickets if ticket in log] == []
    assert re.search(rf"\b({'|'.join(COLOR_NAMES)})\b", log) is None
    assert "secret_of_the_house" not in log.replace("secret_of_the_house = seed", "")


def test_an_unusable_journal_is_logged_without_what_stands_in_it(tmp_path: Path) -> None:
    journals = Journals(tmp_path)
    world = World(open_journal=journals.open)
    world.play_turns(world.seated(), 10)
    (path,) = journals.left_over()
    content = path.read_bytes()
    seed = json.loads(content.splitlines()[0])["seed"]
    chance = Random("flips")
    for _ in range(40):
        at = chance.randrange(len(content))
        path.write_bytes(content[:at] + b"#" + content[at + 1 :])
        recovered = recover(World(open_journal=journals.open).lobby, journals, 0.0)
        for why in recovered.put_aside.values():
            assert seed[:8] not in why
            assert "hand" not in why
            assert re.search(rf"\b({'|'.join(COLOR_NAMES)})\b", why) is None
        for left in journals.running.iterdir():
            left.unlink()


def test_records_with_a_seed_do_not_show_it() -> None:
    """Wherever somebody prints one."""
    world = World()
    reserved(world, come=1)
    (room,) = world.lobby.rooms.by_id.values()
    seed = sha256(b"reserved").digest()
    assert repr(seed)[2:12] not in repr(room.reservation)
    world.lobby.rooms.start_reserved(room, world.now)
    plan = world.lobby.matches.running["reserved"].plan
    assert plan.seed == seed
    assert repr(seed)[2:12] not in repr(plan)


def test_before_the_end_no_client_is_sent_the_seed_or_a_key_that_is_not_its_own() -> None:
    world = World()
    clients = world.seated()
    plan = world.match_of(clients[0]).plan
    keys = [client.the(Welcome).resume_key.encode() for client in clients]
    world.play(clients)
    for seat, client in enumerate(clients):
        received = b"".join(line for line in client.lines if not line.startswith(b'{"type":"end"'))
        assert plan.seed.hex().encode() not in received
        assert plan.salt.hex().encode() not in received
        assert keys[1 - seat] not in received


# -- what leaves the server depends on nothing that its receiver may not know ------------------------


def at(variant: Variant, moment: int) -> tuple[World, list[Client]]:
    """Play a match for so many answers, the same ones each time."""
    world = World(time=Time(move_ms=5_000))
    clients = world.seated(variant)
    world.play_turns(clients, moment)
    for client in clients:
        client.news()
    return world, clients


class Twins:
    """One match twice. In the second everything is another that one seat does not know."""

    def __init__(self, variant: Variant, moment: int, viewer: int) -> None:
        self.viewer = viewer
        self.world, self.clients = at(variant, moment)
        self.twin_world, self.twin_clients = at(variant, moment)
        match = self.world.match_of(self.clients[0])
        self.state: State = match.state
        self.twin = twin_of(self.state, viewer, Dice(sha256(b"%d/%d" % (moment, viewer)).digest()))

    def swap(self) -> None:
        match = self.twin_world.match_of(self.twin_clients[0])
        match.state = self.twin
        for seat in match.seats:
            if seat.ask is not None:
                seat.ask.moves = None

    def same(self, seat: int, act: Act, twin_act: Act) -> bytes:
        """Return what the viewer gets when the seat acts in both matches; check that it is the same."""
        replies: list[bytes] = []
        for world, clients, says in (
            (self.world, self.clients, act),
            (self.twin_world, self.twin_clients, twin_act),
        ):
            start = len(clients[self.viewer].lines)
            clients[seat].say(says)
            world.tick()
            replies.append(b"".join(clients[self.viewer].lines[start:]))
        assert replies[0] == replies[1]
        return replies[0]


MOMENTS = (0, 1, 12, 45, 90)
points = [
    pytest.param(variant, moment, viewer, id=f"{variant_id(variant)}-{moment}-{viewer}")
    for variant in EVERY_GAME
    for number, moment in enumerate(MOMENTS)
    for viewer in {0, (1 + number) % variant[1]}
]


@pytest.mark.parametrize(("variant", "moment", "viewer"), points)
def test_a_seat_is_sent_the_same_bytes_whatever_is_hidden_from_it(
    variant: Variant, moment: int, viewer: int
) -> None:
    """Its ask and all before it when it comes back, and the answers to acts out of the blue."""
    twins = Twins(variant, moment, viewer)
    twins.swap()
    again, twin_again = twins.clients[viewer].resume(), twins.twin_clients[viewer].resume()
    assert again.lines == twin_again.lines
    twins.clients[viewer], twins.twin_clients[viewer] = again, twin_again
    chance = Random(moment)
    for _ in range(2):
        own = twins.clients[viewer]
        if not own.is_asked():
            break
        wire = any_wire(twins.state, viewer, chance)
        if _is_legal(twins.state, viewer, wire):
            continue
        act = Act(own.match, own.ask.ask, move=wire)
        assert b'"error"' in twins.same(viewer, act, act)


def _is_legal(state: State, seat: int, wire: moves.Move) -> bool:
    try:
        engine.check(state, seat, wire)
    except IllegalMoveError:
        return False
    return True


def test_what_others_do_tells_a_seat_no_more_than_everybody_sees() -> None:
    """The events, the next ask with its view and moves: the same bytes."""
    compared = {variant_id(variant): 0 for variant in EVERY_GAME}
    for variant in EVERY_GAME:
        for moment in (0, 1, 7, 16, 31, 50, 64, 83):
            for viewer in range(2):
                compared[variant_id(variant)] += _act_alike(variant, moment, viewer)
    assert min(compared.values()) >= 3, compared


def _act_alike(variant: Variant, moment: int, viewer: int) -> bool:
    """Return whether another seat's move could be made in both. Assert that it shows the viewer the same by
    the rules."""
    twins = Twins(variant, moment, viewer)
    state, twin = twins.state, twins.twin
    decision = state.pending
    others = [seat for seat in engine.owing(state) if seat != viewer]
    if decision is None or isinstance(decision, CompleteTickets) or not others:
        return False
    seat = others[0]
    ask = twins.clients[seat].ask
    wire = engine.legal(state, seat)[scattered(ask)].wire
    events: Events = []
    twin_events: Events = []
    real = state.copy()
    engine.play(real, seat, wire, events)
    answers = {
        other: choice.wire for other, choice in zip(decision.seats, state.choices, strict=False) if choice
    }
    wires = align(twin, state, viewer, {**answers, seat: wire}, events)
    for other in answers:
        engine.play(twin, other, wires[other])
    try:
        engine.play(twin.copy(), seat, wires[seat], twin_events)
    except IllegalMoveError:
        return False  # whether it is possible depends on a hand that nobody sees
    if shape(events) != shape(twin_events) or isinstance(real.pending, CompleteTickets):
        return False
    assert _shown(events, state, viewer) == _shown(twin_events, state, viewer)
    twins.swap()
    act, twin_act = Act(ask.match, ask.ask, move=wire), Act(ask.match, ask.ask, move=wires[seat])
    reply = twins.same(seat, act, twin_act)
    assert not events or b'"event"' in reply
    return True


def _shown(events: Events, state: State, viewer: int) -> list[bytes]:
    return [encode(redact(event, state.game, viewer)) for event in events]


@pytest.mark.parametrize("variant", EVERY_GAME, ids=variant_id)
def test_the_lines_of_a_seat_follow_from_its_own_asks(variant: Variant) -> None:
    """The ask has the decision, the moves and the view of the seat that is asked, and of no other seat."""
    world, clients = at(variant, 30)
    world.play_turns(clients, 5)
    for seat, client in enumerate(clients):
        for line in client.lines:
            if line.startswith(b'{"type":"ask"'):
                shown = json.loads(line)["view"]
                assert shown["viewer"] == "seat"
                assert shown["seat"] == seat
                hands = [player["seat"] for player in shown["players"] if "hand" in player]
                assert hands == [seat]
        assert {peek(line).match for line in client.lines[4:]} <= {client.match, ""}
