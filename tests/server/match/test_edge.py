"""A bug of ours in a match ends that match and no other, no matter where in the match it is and who
called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from stellwerk_protocol.messages import Act, Error, Join, Leave, Ready, Start, Watch
from stellwerk_server.journal.journal import Journals
from stellwerk_server.lobby.recovery import recover
from stellwerk_server.match.audience import Audience
from stellwerk_server.match.edge import entry
from stellwerk_server.match.match_journal import MatchJournal
from stellwerk_server.match.match_session import MatchSession
from stellwerk_server.match.recorded import RecordedMatch
from stellwerk_server.match.seat import MatchSeat
from stellwerk_server.operate.settings import Limits, Time
from tests.server.support import Client, MemoryJournal, World
from tests.tools import needs

# These tests put bugs into methods, and a compiled class keeps those that it has.
pytestmark = needs("plain Python")

PARTS: tuple[type, ...] = (MatchSession, Audience, MatchJournal, MatchSeat, RecordedMatch)
ONLY_IN_RECOVERY = {
    (MatchSession, "go_on"),
    *((RecordedMatch, name) for name in ("opening", "move", "stand", "ending")),
}
AFTER_A_BUG = {"break_off"}
AT_THE_END = {"ended"}  # called from within
TRIVIAL = {"data_to_send"}  # hands out a list
QUICK = Time(move_ms=1_000, bank_ms=0, grace_ms=0, strikes=0)
FREE = Limits(messages_a_second=10**9, burst=10**9)

Method = Callable[..., Any]  # Any: of any signature


def methods_of(part: type) -> dict[str, Method]:
    return {name: method for name, method in vars(part).items() if inspect.isfunction(method)}


METHODS = [
    pytest.param(part, name, id=f"{part.__name__}.{name}")
    for part in PARTS
    for name in methods_of(part)
    if (part, name) not in ONLY_IN_RECOVERY and name not in AFTER_A_BUG | TRIVIAL
]


class Bug:
    """Strikes once, at the first call of a method by a match that is not the neighbor's."""

    def __init__(self, part: type, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_due = False
        self.is_spared: Callable[[object], bool] = lambda _: False
        method = methods_of(part)[name]
        is_entry = hasattr(method, "__wrapped__")
        inner: Method = inspect.unwrap(method)

        @wraps(inner)
        def broken(one: Any, *args: Any, **kwargs: Any) -> Any:  # Any: as the method has it
            if self.is_due and not self.is_spared(one):
                self.is_due = False
                raise ZeroDivisionError(f"a bug in {name}")
            return inner(one, *args, **kwargs)

        monkeypatch.setattr(part, name, entry(broken) if is_entry else broken)


class Table:
    """Three players with a spectator, and all that can happen to them. It goes on whatever breaks."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.players = [world.player(f"victim{seat}") for seat in range(3)]
        self.spectator = world.player("spectator")
        self.journals = len(world.journals)

    def sit_down(self) -> None:
        for player in self.players:
            player.say(Join("usa", 3, room="victims"))

    def all_that_can_happen(self) -> None:
        world, players, spectator = self.world, self.players, self.spectator
        match = players[0].match
        journal = world.journals[match]
        spectator.say(Watch(match))
        for player in players:
            player.say(Ready(match))
        world.tick()
        self.refused(players[0])
        self.answers(3)
        self.disk_refuses(journal)
        players[1].drop()
        players[1] = players[1].resume()
        for player in players:
            player.connection.blocked_at = world.now
        self.answers(2)
        for player in players:
            world.lobby.drained(player.connection, world.now)
        world.wait(1_500)
        spectator.say(Leave(match=match))
        spectator.say(Watch(match))
        spectator.drop()
        players[2].say(Leave(match=match))
        journal.cannot_finish = True
        self.answers(10_000)
        world.wait(31_000)

    def answers(self, count: int) -> None:
        self.world.play_turns(self.players, count)

    def refused(self, player: Client) -> None:
        if player.is_asked():
            player.say(Act(player.match, player.ask.ask, index=999))
            player.say(
                b'{"type":"act","match":"%b","ask":1,"move":{"type":"draw_tickets"}}' % player.match.encode()
            )

    def disk_refuses(self, journal: MemoryJournal) -> None:
        journal.is_full = True
        self.answers(1)
        self.world.wait(700)
        journal.is_full = False
        self.world.wait(500)


def practice(world: World, player: Client) -> None:
    """Reach what only happens with a house bot, or when a disk has lost what it had taken."""
    player.say(Join("usa", 2, against=("first",)))
    if not player.all_of(Start):
        return
    player.say(Ready(player.match))
    world.play_turns([player], 5)
    world.lobby.matches.journal_failed(player.match, OSError("Input/output error"), world.now)
    world.flush()


@pytest.mark.parametrize(("part", "name"), METHODS)
def test_a_bug_in_a_match_ends_that_match_alone(
    part: type, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log has its traceback, nobody loses a connection, and all players learn that the match is over."""
    bug = Bug(part, name, monkeypatch)
    world = World(time=QUICK, limits=FREE)
    neighbors = world.seated()
    neighbor = world.match_of(neighbors[0])
    parts = (getattr(neighbor, of) for of in ("_audience", "_journal"))
    of_the_neighbor = [neighbor, *neighbor.seats, *parts]
    bug.is_spared = lambda one: any(one is other for other in of_the_neighbor)
    table = Table(world)
    bug.is_due = True
    table.sit_down()
    if bug.is_due:
        table.all_that_can_happen()
    alone = world.player("alone")
    if bug.is_due:
        practice(world, alone)
    assert not bug.is_due, "nothing that happens here calls it"
    (logged,) = world.log.of("match.bug")
    assert f"ZeroDivisionError: a bug in {name}" in str(logged["exc_info"])
    assert logged["match"] != neighbor.id
    assert [match for match in world.lobby.matches.running.values() if match.id == logged["match"]] == []
    for player in (*table.players, alone):
        assert player.is_open
        expect_told(player, str(logged["match"]), may_be_silent=name == "to_end")
    world.play(neighbors)
    assert all(player.has_ended() for player in neighbors)


def expect_told(player: Client, match: str, *, may_be_silent: bool) -> None:
    """Check that a player of the match heard its end, or why it did not begin."""
    heard = b"".join(player.lines)
    if b'"match":"%b"' % match.encode() not in heard or b'"left"' in heard or may_be_silent:
        return
    failed = [error for error in player.all_of(Error) if error.code == "server.failed"]
    assert [error.match for error in failed] == [match] or player.has_ended()


def test_whoever_calls_into_a_match_calls_an_entry() -> None:
    for name, method in methods_of(MatchSession).items():
        if not name.startswith("_") and name not in AFTER_A_BUG | AT_THE_END | TRIVIAL:
            assert hasattr(method, "__wrapped__"), f"{name} needs @entry"
            assert list(inspect.signature(method).parameters)[-1] == "now", name


@pytest.mark.parametrize(
    ("part", "name"), [(MatchSession, "go_on"), (RecordedMatch, "opening"), (RecordedMatch, "move")]
)
def test_a_bug_in_making_a_match_again_concerns_no_other(
    part: type, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journals = Journals(tmp_path)
    world = World(open_journal=journals.open)
    for number in range(2):
        world.play_turns([world.practice("first", name=f"player{number}")], 5)
    bug = Bug(part, name, monkeypatch)
    bug.is_due = True
    after = World(open_journal=journals.open)
    recovered = recover(after.lobby, journals, after.now)
    assert not bug.is_due
    bugs = after.log.of("match.bug")
    assert len(after.lobby.matches.running) == 1
    assert (len(bugs), len(recovered.put_aside)) == ((1, 0) if name == "go_on" else (0, 1))
