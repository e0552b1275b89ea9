"""Every accepted act is written before anybody learns of it; while that cannot be done, nothing moves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from itertools import product
from pathlib import Path

import pytest
from msgspec import UNSET

from stellwerk_engine.replays.verify import verify
from stellwerk_protocol.messages import (
    Act,
    End,
    Error,
    EventMessage,
    Join,
    Leave,
    ListMatches,
    MatchList,
    Ok,
    Ping,
    Ready,
    SeatChanged,
)
from stellwerk_server.journal.journal import (
    LOOK_EVERY,
    Journals,
    SeatRecord,
    SessionRecord,
    read_record,
    record_line,
    replay_of,
    whole_lines,
)
from stellwerk_server.lobby.recovery import recover
from stellwerk_server.operate.settings import Time
from tests.server.support import (
    BARE,
    Client,
    MemoryJournal,
    World,
    asks_of,
    codes,
    decode,
    ended,
    first_turn,
    peek,
)

# -- a disk that is full -----------------------------------------------------------------------------


def full() -> tuple[World, MemoryJournal, Client, Client]:
    """Start a match whose disk fills up with the next act, that of the seat whose turn it is."""
    world = World(time=Time(move_ms=1_000, bank_ms=0, grace_ms=0))
    mover, (other,) = first_turn(world.seated())
    journal = world.journal_of(mover)
    journal.is_full = True
    return world, journal, mover, other


def test_nobody_learns_of_an_act_before_it_is_written() -> None:
    world, journal, mover, other = full()
    before = journal.written
    assert mover.act(0) == []
    assert other.news() == []
    world.wait(400)
    assert mover.news() == other.news() == []
    journal.is_full = False
    world.wait(500)
    kinds = [type(one).__name__ for one in mover.news()]
    assert kinds[:2] == ["Ok", "EventMessage"]
    assert any(isinstance(one, EventMessage) for one in other.news())
    assert journal.written.startswith(before)
    assert len(journal.written) > len(before)


@pytest.mark.parametrize("room", [True, False], ids=["room", "practice"])
def test_a_match_whose_beginning_the_disk_refuses_never_began(room: bool) -> None:
    """A full disk still opens files. Nobody is told of a match that a crash would lose."""
    journals: list[MemoryJournal] = []

    def open_full(match: str) -> MemoryJournal:
        journals.append(MemoryJournal())
        journals[-1].is_full = True
        return journals[-1]

    world = World(open_journal=open_full)
    one, other = world.player("one"), world.player("other")
    for client in (one, other):
        client.say(Join("usa", 2, room="pair") if room else Join("usa", 2, against=("first",)))
        client.news()
    for client in (one, other):
        assert codes([client.the(Error)]) == ["server.busy"]
        assert not any(line.startswith(b'{"type":"start"') for line in client.lines)
        assert client.say(Ping(1))
    assert all(journal.is_discarded for journal in journals)
    assert not world.lobby.matches.running
    assert world.lobby.counts().failed == 0
    [listed] = one.say(ListMatches())
    assert isinstance(listed, MatchList)
    assert listed.matches == ()
    world.wait(100_000)  # no timer of it is left
    assert [line[1] for line in world.log.lines if line[0] == "error"] == ["journal.not_opened"] * len(
        journals
    )


def test_the_same_act_once_more_does_not_help_and_costs_nothing() -> None:
    world, journal, mover, other = full()
    ask = mover.ask.ask
    mover.act(0)
    (error,) = mover.say(Act(mover.match, ask, index=0))
    assert isinstance(error, Error)
    assert error.code == "protocol.stale_ask"
    journal.is_full = False
    world.wait(1_000)
    world.play([mover, other])
    assert mover.has_ended()


def test_acts_for_open_asks_are_put_off_while_nothing_can_be_written() -> None:
    world = World()
    one, other, third = world.seated(("usa", 3, ()))
    world.journal_of(one).is_full = True
    one.act(0)
    (error,) = other.say(Act(other.match, other.ask.ask, index=0))
    assert isinstance(error, Error)
    assert (error.code, error.tries, error.ask) == ("server.busy", UNSET, other.ask.ask)
    world.journal_of(one).is_full = False
    world.wait(1_000)
    for client in (other, third):
        assert isinstance(client.act(0)[0], Ok)
    assert one.is_asked()


def test_the_clocks_stand_still_meanwhile() -> None:
    world = World(time=Time(move_ms=1_000, bank_ms=2_000, grace_ms=0))
    one, other = world.seated()
    world.wait(1_500)
    world.journal_of(one).is_full = True
    one.act(0)
    world.wait(20_000)
    world.journal_of(one).is_full = False
    world.wait(500)
    assert world.match_of(one).seats[1].default_count == 0
    world.wait(1_000)
    ok = other.act(0)[0]
    assert isinstance(ok, Ok)
    assert (ok.took_ms, ok.bank_ms) == (2_500, 500)
    assert one.the(Ok).bank_ms == 1_500


def test_who_comes_back_meanwhile_is_shown_a_clock_that_stands_still() -> None:
    world = World(time=Time(move_ms=1_000, bank_ms=2_000))
    one, other = world.seated()
    world.wait(400)
    world.journal_of(one).is_full = True
    one.act(0)
    world.wait(10_000)
    ask = asks_of(other.resume())[-1]
    assert (ask.move_ms, ask.bank_ms) == (600, 2_000)


def test_the_set_up_clock_stands_still_too() -> None:
    world = World()
    one, other, third = world.seated(("usa", 3, ()), ready=False)
    world.journal_of(one).is_full = True
    third.say(Leave(match=third.match))
    world.wait(20_000)
    world.journal_of(one).is_full = False
    world.wait(29_000)
    assert not one.is_asked()
    other.say(Ready(other.match))
    one.say(Ready(one.match))
    assert one.is_asked()


def test_after_half_a_minute_the_match_ends_as_the_servers_fault() -> None:
    world, journal, mover, other = full()
    elsewhere = world.practice("first", name="somebody")
    mover.act(0)
    world.wait(29_000)
    assert world.lobby.matches.running.get(mover.match) is not None
    world.wait(1_500)
    for client in (mover, other):
        error = client.the(Error)
        assert (error.code, error.match) == ("server.failed", mover.match)
    assert journal.is_abandoned
    assert world.lobby.counts().failed == 1
    assert elsewhere.all_of(Error) == []


def test_other_matches_are_played_meanwhile() -> None:
    world, _, mover, _ = full()
    elsewhere = world.practice("first", name="somebody")
    mover.act(0)
    world.play([elsewhere])
    assert elsewhere.has_ended()


def test_a_default_waits_for_the_disk_like_any_other_move() -> None:
    world, journal, mover, other = full()
    world.wait(1_000)
    assert mover.news() == other.news() == []
    journal.is_full = False
    world.wait(500)
    assert [peek(line).type for line in mover.lines].count("default") == 1
    assert other.news() != []


def test_who_resumes_meanwhile_and_leaves_meanwhile_disturbs_nothing() -> None:
    """New keys and farewells wait behind the act, and then everything is written in its order."""
    world, journal, mover, other = full()
    mover.act(0)
    before = journal.written
    again = other.resume({other.match: world.match_of(other).event_count}, wants=BARE)
    assert journal.written == before
    journal.is_full = False
    third = again.resume({other.match: world.match_of(other).event_count}, wants=BARE)
    assert journal.written == before, "in its turn"
    world.wait(500)
    records = [read_record(line) for line in journal.written[len(before) :].splitlines(keepends=True)]
    assert [type(record) for record in records if not isinstance(record, SeatRecord)][-2:] == [
        SessionRecord
    ] * 2
    assert any(isinstance(decode(line), EventMessage) for line in third.lines[2:])
    world.play([mover, third])
    assert ended(third) == ended(mover)
    assert_replay_is_true(journal)


def test_who_leaves_while_nothing_can_be_written_has_left() -> None:
    world, journal, mover, other = full()
    mover.act(0)
    other.say(Leave(match=other.match))
    world.wait(2_000)
    assert [change.state for change in mover.all_of(SeatChanged)] == ["left"]
    journal.is_full = False
    world.wait(500)
    world.play([mover])
    assert mover.has_ended()
    assert_replay_is_true(journal)


def test_the_end_waits_until_the_replay_is_there() -> None:
    world = World()
    clients = world.seated(wants=BARE)
    world.journal_of(clients[0]).cannot_finish = True
    world.play(clients)
    world.wait(10_000)
    assert not any(line.startswith(b'{"type":"end"') for line in clients[0].lines)
    assert codes(clients[0].say(Act(clients[0].match, 1, index=0)))[-1:] == ["protocol.stale_ask"]
    world.journal_of(clients[0]).cannot_finish = False
    world.wait(500)
    assert ended(clients[0]) == ended(clients[1])


def test_the_players_get_their_result_though_the_replay_can_never_be_written() -> None:
    """That is the organizer's loss, and the log says so."""
    world = World()
    clients = world.seated(wants=BARE)
    journal = world.journal_of(clients[0])
    journal.cannot_finish = True
    world.play(clients)
    world.wait(29_500)
    assert not clients[0].has_ended()
    world.wait(1_000)
    assert ended(clients[0]) == ended(clients[1])
    assert clients[0].all_of(Error) == []
    assert (journal.is_left, journal.is_abandoned) == (True, False)
    (lost,) = world.log.of("replay.not_written")
    assert (lost["match"], lost["journal"]) == (clients[0].match, "left.journal")
    assert "No space left" in str(lost["error"])
    (finished,) = world.log.of("match.finished")
    assert finished["replay"] is None
    counts = world.lobby.counts()
    assert (counts.finished, counts.failed) == (1, 0)


class NoRoomForTheEnd(MemoryJournal):
    """The disk takes every act, and nothing after them."""

    def append(self, lines: bytes) -> None:
        self.is_full = b'"type":"end"' in lines
        super().append(lines)


def test_the_players_get_their_result_though_its_line_can_never_be_written(tmp_path: Path) -> None:
    """The result follows from the acts, and these are written: the next server computes the same one."""
    journal = NoRoomForTheEnd()
    world = World(open_journal=lambda _: journal)
    clients = world.seated(wants=BARE)
    world.play(clients)
    world.wait(31_000)
    assert ended(clients[0]) == ended(clients[1])
    assert journal.is_left
    journals = Journals(tmp_path)
    (journals.running / f"{clients[0].match}.journal").write_bytes(journal.written)
    recover(World(open_journal=journals.open).lobby, journals, 0.0)
    assert_replay_of(ended(clients[0]), journals)


def test_whoever_comes_back_again_and_again_does_not_make_it_wait_longer() -> None:
    world = World()
    client, other = world.seated(wants=BARE)
    world.journal_of(client).cannot_finish = True
    world.play([client, other])
    for _ in range(4):
        world.wait(8_000)
        client = client.resume()
    assert other.has_ended()


def test_the_end_waits_for_the_disk() -> None:
    world = World()
    clients = world.seated(wants=BARE)
    journal = world.journal_of(clients[0])
    match = world.match_of(clients[0])
    world.play(clients, until=lambda: match.state.turns_left == 1)
    while match.state.turns_left == 1 and match.state.pending is not None:
        journal.is_full = True
        world.play_turns(clients, 1)
        journal.is_full = False
        world.wait(500)
    world.play(clients)
    assert clients[0].has_ended()
    assert_replay_is_true(journal)


def assert_replay_of(end: End, journals: Journals) -> None:
    """Check that the replay exists, is true and is the promised one, and that nothing else is left to do."""
    content = (journals.replays / f"{end.match}.jsonl").read_bytes().splitlines(keepends=True)
    assert verify(content).good
    assert end.transcript.encode() in content[-1]
    assert journals.left_over() == []


def assert_replay_is_true(journal: MemoryJournal) -> None:
    lines = journal.written.splitlines(keepends=True)
    verdict = verify([line for line in lines if not line.startswith(b'{"journal"')])
    assert verdict.good, verdict


def test_whatever_fails_and_when_the_replay_is_true() -> None:
    """The disk is full every third moment."""
    world = World(time=Time(move_ms=100_000))
    clients = world.seated(wants=BARE)
    journal = world.journal_of(clients[0])
    moment = 0
    while world.lobby.matches.running:
        moment += 1
        journal.is_full = moment % 3 == 0
        world.play_turns(clients, 1)
        if journal.is_full:
            assert codes(clients[0].say(Ping())) == []
            world.wait(500)
            journal.is_full = False
            world.wait(500)
    assert clients[0].has_ended()
    assert_replay_is_true(journal)
    for client in clients:
        numbers = [message.number for message in client.all_of(EventMessage)]
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(asks_of(client)) == len({ask.ask for ask in asks_of(client)})


# -- files -------------------------------------------------------------------------------------------


def test_a_match_leaves_its_replay_and_no_journal(tmp_path: Path) -> None:
    journals = Journals(tmp_path)
    world = World(open_journal=journals.open)
    clients = world.seated(wants=BARE)
    assert [path.name for path in journals.left_over()] == [f"{clients[0].match}.journal"]
    world.play(clients)
    assert journals.left_over() == []
    replay = journals.replays / f"{clients[0].match}.jsonl"
    assert verify(replay.read_bytes().splitlines(keepends=True)).good
    assert world.log.of("match.finished")[0]["replay"] == replay.name


def test_who_removes_the_folder_while_a_match_runs_gets_its_replay_all_the_same(tmp_path: Path) -> None:
    """It is made of the open file. The log says soon that a crash would cost the match."""
    folder = tmp_path / "data"
    journals = Journals(folder)
    removed: list[str] = []
    journals.on_removed = removed.append
    world = World(open_journal=journals.open)
    clients = world.seated(wants=BARE)
    world.play_turns(clients, 10)
    shutil.rmtree(folder)
    assert removed == []
    world.play_turns(clients, LOOK_EVERY)
    assert removed == [clients[0].match]
    world.play(clients)
    assert removed == [clients[0].match]
    assert ended(clients[0]) == ended(clients[1])
    assert_replay_of(ended(clients[0]), journals)
    client = world.player("late")
    client.say(Join("usa", 2, against=("first",)))
    assert codes([client.the(Error)]) == ["server.busy"], "no match begins that could not be gone on with"


@pytest.mark.parametrize("is_removed", [False, True])
def test_a_replay_that_could_not_be_written_is_made_by_the_next_server(
    is_removed: bool, tmp_path: Path
) -> None:
    """If its journal is still there."""
    journals = Journals(tmp_path)
    world = World(open_journal=journals.open)
    clients = world.seated(wants=BARE)
    journals.replays.rmdir()
    journals.replays.write_text("a file where the folder has to be")
    if is_removed:
        shutil.rmtree(journals.running)
    world.play(clients)
    world.wait(31_000)
    end = ended(clients[0])
    (lost,) = world.log.of("replay.not_written")
    assert lost["journal"] == (None if is_removed else f"{end.match}.journal")
    journals.replays.unlink()
    if not is_removed:
        after = Journals(tmp_path)
        recover(World(open_journal=after.open).lobby, after, 0.0)
        assert_replay_of(end, after)


def test_journals_are_for_nobody_else_to_read(tmp_path: Path) -> None:
    """They hold seeds while the match is played."""
    journals = Journals(tmp_path)
    world = World(open_journal=journals.open)
    clients = world.seated()
    assert journals.running.stat().st_mode & 0o077 == 0
    (path,) = journals.left_over()
    assert path.stat().st_mode & 0o077 == 0
    assert clients


def test_a_match_that_failed_leaves_what_was_written(tmp_path: Path) -> None:
    journals = Journals(tmp_path)
    world = World(open_journal=journals.open)
    client = world.practice("broken")
    world.play([client])
    assert journals.left_over() == []
    assert [path.suffix for path in journals.running.iterdir()] == [".failed"]


def test_two_matches_never_share_a_journal(tmp_path: Path) -> None:
    journals = Journals(tmp_path)
    journals.open("match")
    with pytest.raises(FileExistsError):
        journals.open("match")


@pytest.mark.parametrize("truncates", [True, False])
def test_a_record_that_did_not_fit_is_taken_away_again(
    truncates: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If that fails too, it is done before the next one is written."""
    journals = Journals(tmp_path)
    journal = journals.open("match")
    journal.append(b"first\n")
    write, cut = os.write, os.ftruncate

    def write_half(descriptor: int, data: bytes) -> int:
        return write(descriptor, data[: len(data) // 2])

    def refuse(descriptor: int, size: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", write_half)
        if not truncates:
            patched.setattr(os, "ftruncate", refuse)
        with pytest.raises(OSError, match="No space left"):
            journal.append(b"second\n")
    path = journals.running / "match.journal"
    assert path.read_bytes() == (b"first\n" if truncates else b"first\nsec")
    assert cut is os.ftruncate
    journal.append(b"third\n")
    assert path.read_bytes() == b"first\nthird\n"


_FILL = """
import resource, signal, sys
from pathlib import Path
from stellwerk_server.journal.journal import Journals
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = Journals(Path(sys.argv[1])).open("match")
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
record = b"x" * 299 + b"\\n"
failed = 0
for _ in range(6):
    try:
        journal.append(record)
    except OSError:
        failed += 1
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
journal.append(record)
print(failed)
"""


def test_a_disk_that_really_takes_no_more_leaves_whole_records(tmp_path: Path) -> None:
    """The journal is written by another process, whose files may not get larger."""
    done = subprocess.run(
        [sys.executable, "-c", _FILL, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "3\n"
    content = (tmp_path / "running" / "match.journal").read_bytes()
    assert content == (b"x" * 299 + b"\n") * 4


def test_the_lines_of_a_journal_end_where_the_last_whole_one_ends(tmp_path: Path) -> None:
    file = tmp_path / "torn"
    file.write_bytes(b"one\ntwo\nthr")
    assert list(whole_lines(file)) == [(b"one\n", 4), (b"two\n", 8)]


def test_with_sync_what_was_written_is_listed_once_until_it_is_synced(tmp_path: Path) -> None:
    journals = Journals(tmp_path, sync=True)
    journal = journals.open("match")
    for _ in range(3):
        journal.append(b"line\n")
    assert journals.unsynced == [journal]
    journals.unsynced = []
    journal.sync()
    journal.append(b"line\n")
    assert journals.unsynced == [journal]
    journal.close()
    journal.sync()


def test_with_sync_the_disk_knows_the_names_of_the_files_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name of a journal is synced before anybody hears of its match. The name of a replay, and everything
    in the journal, is synced before the journal gets another name."""
    calls: list[str] = []
    process_and_thread = f".{os.getpid()}.{threading.get_ident()}"
    sync_folder, sync_data, replace = os.fsync, os.fdatasync, Path.replace

    def note(call: str) -> None:
        calls.append(call.replace(process_and_thread, ""))

    def note_sync(descriptor: int) -> None:
        note(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        sync_folder(descriptor)

    def note_data(descriptor: int) -> None:
        note(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        sync_data(descriptor)

    def note_replace(path: Path, target: Path) -> Path:
        note(f"{path.name} to {target.name}")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "fdatasync", note_data)
    monkeypatch.setattr(Path, "replace", note_replace)
    journal = Journals(tmp_path, sync=True).open("match")
    for _ in range(2):
        journal.append(b"{}\n")
        journal.sync()
    assert calls == ["match.journal", "running", "match.journal"]
    calls.clear()
    journal.finish(b"")
    assert calls == [
        ".match.times.json.part to match.times.json",  # without waiting for the disk
        ".match.jsonl.part",
        ".match.jsonl.part to match.jsonl",
        "replays",
        "match.journal",
        "match.journal to match.ended",
    ]
    journal.note(b"{}\n")
    journal.sync()
    assert calls[6:] == ["match.ended"]


def test_private_records_come_back_as_they_were() -> None:
    record = SeatRecord(1, 7, 900, 2, 1, 1, note="half a thought")
    assert read_record(record_line(record)) == record
    assert read_record(b'{"type":"header"}\n') is None


# -- the replay in a journal -------------------------------------------------------------------------


def test_the_replay_is_the_journal_without_its_private_records_wherever_they_are() -> None:
    private = record_line(SeatRecord(0, 1, 0, 0, 0, 0))
    public = b'{"type":"move","note":"{\\"journal\\":"}\n'
    for lines in product((private, public, b"{}\n"), repeat=5):
        kept = [line for line in lines if line != private]
        assert replay_of(b"".join(lines)) == b"".join(kept)
    assert replay_of(b"") == b""
