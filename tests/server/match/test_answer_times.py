"""The times of a match's answers: a file beside the replay has one for each move of each seat."""

from __future__ import annotations

from pathlib import Path

import msgspec

from stellwerk_engine.replays.reader import lines_of, read_replay
from stellwerk_engine.replays.verify import verify
from stellwerk_protocol.answer_times import AnswerTimes, times_beside, times_file
from stellwerk_protocol.messages import Leave
from stellwerk_protocol.replays import MoveMade
from stellwerk_server.journal.journal import Journals
from stellwerk_server.operate.settings import Time
from tests.server.support import World, first_turn


def test_a_time_is_what_the_seat_was_told_that_its_answer_took() -> None:
    world = World()
    one, other = world.seated()
    world.wait(300)
    one.act(0)
    world.wait(1_200)
    other.act(0)
    seats = world.match_of(one).seats
    assert [list(seat.times) for seat in seats] == [[300], [1_500]]


def test_a_time_that_ran_out_counts_as_long_as_the_match_has_waited() -> None:
    world = World(time=Time(move_ms=1_000, bank_ms=500, grace_ms=0))
    mover, _ = first_turn(world.seated())
    seat = world.match_of(mover).seats[mover.seat]
    before = list(seat.times)
    world.wait(1_500)
    assert list(seat.times) == [*before, 1_500]


def test_a_move_that_nobody_was_asked_for_has_no_time() -> None:
    world = World()
    one, other = world.seated()
    match = world.match_of(one)
    world.wait(50)
    one.say(Leave(one.match))
    other.act(0)
    world.play([other], until=lambda: len(match.seats[one.seat].times) > 3)
    file = msgspec.json.decode(match.times_file, type=AnswerTimes)
    assert set(file.seats[one.seat]) == {None}
    assert None not in file.seats[other.seat]


def test_each_move_of_a_replay_has_its_time(tmp_path: Path) -> None:
    """The server writes them before the replay, which they do not change."""
    journals = Journals(tmp_path)
    world = World(open_journal=journals.open)
    clients = world.seated()
    world.play(clients)
    [replay] = journals.replays.glob("*.jsonl")
    times = msgspec.json.decode(times_beside(replay).read_bytes(), type=AnswerTimes)
    assert times.match == clients[0].match
    with open(replay, "rb") as stream:
        moves = [line.seat for line in read_replay(lines_of(stream)) if isinstance(line, MoveMade)]
    assert [len(seat) for seat in times.seats] == [moves.count(0), moves.count(1)]
    with open(replay, "rb") as stream:
        assert verify(lines_of(stream)).good


def test_times_that_cannot_be_written_stop_no_replay(tmp_path: Path) -> None:
    journals = Journals(tmp_path)
    file = journals.open("match")
    times_beside(journals.replays / "match.jsonl").mkdir(parents=True)
    file.append(b"{}\n")
    assert file.finish(times_file("match", [[1]])).read_bytes() == b"{}\n"


def test_the_file_stands_beside_the_replay() -> None:
    assert times_beside(Path("games/one.jsonl")) == Path("games/one.times.json")
    assert times_beside(Path("games/one.json")) == Path("games/one.json.times.json")
