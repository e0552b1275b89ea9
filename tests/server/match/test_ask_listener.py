"""What a program that embeds the server hears of the asks of a match that it has planned."""

from __future__ import annotations

from stellwerk_protocol.messages import Ok
from stellwerk_server.match.match_session import MatchSession
from stellwerk_server.operate.settings import Time
from tests.server.support import World, asks_of, reserved

BARE_SECOND = Time(move_ms=1_000, bank_ms=0, grace_ms=0, strikes=0)


class Preparing:
    """A listener that takes 30 ms to prepare an ask. It keeps what it hears, and which asks are open then."""

    def __init__(self, world: World) -> None:
        self.heard: list[tuple[str, int, list[int]]] = []
        self._world = world

    def asked(self, seat: int, now: float) -> float:
        self._keep("asked", seat)
        return now + 30

    def answered(self, seat: int) -> None:
        self._keep("answered", seat)

    def _keep(self, what: str, seat: int) -> None:
        self.heard.append((what, seat, open_asks(self._match())))

    def _match(self) -> MatchSession:
        return self._world.lobby.matches.running["reserved"]


def open_asks(match: MatchSession) -> list[int]:
    return [seat.number for seat in match.seats if seat.ask is not None]


def test_a_listener_hears_of_each_ask_before_it_is_open_and_of_each_answer_before_the_next_ask() -> None:
    world = World()
    listener = Preparing(world)
    clients = reserved(world, asks=listener)
    assert listener.heard == [("asked", 0, []), ("asked", 1, [0])]
    listener.heard.clear()
    clients[1].act(0)
    clients[0].act(0)
    assert listener.heard == [("answered", 1, [0]), ("answered", 0, []), ("asked", 0, [])]


def test_the_clock_of_an_ask_begins_when_its_listener_is_ready() -> None:
    world = World(time=BARE_SECOND)
    first, other = reserved(world, asks=Preparing(world))
    world.wait(50)
    [ok] = [message for message in first.act(0) if isinstance(message, Ok)]
    assert ok.took_ms == 50 - 30
    world.wait(979)
    assert other.is_asked()
    world.wait(1)
    assert not other.is_asked()


def test_a_seat_that_moves_by_default_has_answered_and_an_absent_one_is_not_asked() -> None:
    world = World(time=Time(move_ms=1_000, bank_ms=0, grace_ms=0, strikes=0, defaults_in_a_row=1))
    listener = Preparing(world)
    first, _ = reserved(world, asks=listener)
    first.act(0)
    listener.heard.clear()
    world.wait(1_030)  # the other one plays by default from now on
    first.act(0)
    asked = [seat for what, seat, _ in listener.heard if what == "asked"]
    assert listener.heard[0][:2] == ("answered", 1)
    assert set(asked) == {0}
    assert asks_of(first)
