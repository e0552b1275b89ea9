"""After `kill -9`: matches are made again from their journals, wherever these break off.

Law: no act that was accepted before is lost, and the match that goes on is the match that was broken off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random

import msgspec
import pytest

from stellwerk_engine.replays.verify import verify
from stellwerk_protocol.messages import End, Error, Join, Leave, Login, Resume, Start, Watch, Welcome
from stellwerk_server.journal.journal import Journal, Journals, MatchRecord, read_record, record_line
from stellwerk_server.lobby.recovery import Recovered, recover
from stellwerk_server.lobby.rooms import GameShelf
from stellwerk_server.lobby.session import Session
from stellwerk_server.lobby.tokens import TokenHolder, Tokens
from stellwerk_server.operate.settings import Time
from tests.server.support import (
    BARE,
    EVERY_GAME,
    Client,
    Variant,
    World,
    asks_of,
    encode,
    ended,
    first_turn,
    peek,
    reserved,
)
from tests.support import variant_id
from tests.unlisted.alps import ALPS, alps_board


@dataclass(frozen=True)
class Known:
    """What a client knew when the server was killed."""

    session: str
    key: str
    name: str
    lines: tuple[bytes, ...]


@dataclass(frozen=True)
class Recording:
    """A whole match: its journal, and after each of its pieces what had been sent to whom until then."""

    match: str
    pieces: tuple[bytes, ...]
    line_counts: tuple[tuple[int, ...], ...]  # after so many pieces: how many lines each client had got
    clients: tuple[Known, ...]
    end: End

    @property
    def journal(self) -> bytes:
        return b"".join(self.pieces)


class _Pieces(Journal):
    """A journal that notes what everybody had been sent before each piece was written."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.line_counts: list[tuple[int, ...]] = []
        self.clients: list[Client] = []

    def append(self, lines: bytes) -> None:
        self.line_counts.append(tuple(len(client.lines) for client in self.clients))
        self.pieces.append(lines)

    def read(self) -> bytes:
        return b"".join(self.pieces)


@cache
def recorded(variant: Variant, seed: str = "recorded", games: GameShelf | None = None) -> Recording:
    journal = _Pieces()
    world = World(seed=seed, open_journal=lambda _: journal, games=games)
    clients = [world.player(f"player{seat}", wants=BARE) for seat in range(variant[1])]
    journal.clients = clients
    for client in clients:
        client.say(_join(variant))
    for client in clients:
        client.say(_ready(client))
    world.play(clients)
    journal.line_counts.append(tuple(len(client.lines) for client in clients))
    return Recording(
        clients[0].match,
        tuple(journal.pieces),
        tuple(journal.line_counts[1:]),
        tuple(_known(client) for client in clients),
        ended(clients[0]),
    )


def _known(client: Client) -> Known:
    welcome = client.the(Welcome)
    return Known(welcome.session, welcome.resume_key, welcome.name, tuple(client.lines))


def _join(variant: Variant) -> bytes:
    return encode({"type": "join", "game": variant[0], "players": variant[1], "options": variant[2]})


def _ready(client: Client) -> bytes:
    return encode({"type": "ready", "match": client.match})


@dataclass(frozen=True)
class After:
    """A server that was started again."""

    world: World
    journals: Journals
    recovered: Recovered

    def resume(self, known: Known, lines: int, match: str) -> Client:
        last_event = max([0, *(peek(line).number for line in known.lines[:lines])])
        client = self.world.connect()
        resume = Resume(known.session, known.key, {match: last_event})
        client.say(Login(1, known.name, wants=BARE, resume=resume))
        return client


def restarted(folder: Path, journals: dict[str, bytes], seed: str = "again", **fields: object) -> After:
    kept = Journals(folder)
    for name, content in journals.items():
        (kept.running / f"{name}.journal").write_bytes(content)
    world = World(seed=seed, open_journal=kept.open, **fields)  # type: ignore[arg-type]
    recovered = recover(world.lobby, kept, world.now)
    world.flush()
    return After(world, kept, recovered)


def play_on(after: After, recording: Recording, lines: tuple[int, ...]) -> list[Client]:
    clients = [
        after.resume(known, count, recording.match)
        for known, count in zip(recording.clients, lines, strict=True)
    ]
    after.world.play(clients)
    return clients


def assert_whole(after: After, match: str) -> None:
    """Check that the match is over, and that its replay is true."""
    assert not after.world.lobby.matches.running
    assert not after.journals.left_over()
    with (after.journals.replays / f"{match}.jsonl").open("rb") as replay:
        verdict = verify(replay)
    assert verdict.good, verdict


# -- every prefix ------------------------------------------------------------------------------------


def _prefixes(recording: Recording, whole_pieces: int) -> Iterator[tuple[int, bytes]]:
    """Yield the journal with so many whole pieces, alone and then with a part of the next one behind them."""
    before = b"".join(recording.pieces[:whole_pieces])
    yield whole_pieces, before
    if whole_pieces < len(recording.pieces):
        piece = recording.pieces[whole_pieces]
        chance = Random(whole_pieces)
        yield whole_pieces, before + piece[: chance.randrange(1, len(piece))]
        records = piece.splitlines(keepends=True)
        if len(records) > 1:
            yield whole_pieces, before + records[0]


@pytest.mark.parametrize("variant", EVERY_GAME, ids=variant_id)
def test_a_match_goes_on_wherever_its_journal_breaks_off(variant: Variant, tmp_path: Path) -> None:
    """The journal ends after any record or within one. A client that had heard of an act finds it made. The
    clients continue with the events and the keys that they had, and the replay of the whole match is true."""
    recording = recorded(variant)
    steps = range(1, len(recording.pieces) + 1)
    chance = Random(variant_id(variant))
    chosen = {*steps[:4], *steps[-3:], *chance.sample(steps, 3)}
    for step in sorted(chosen):
        for number, (_, content) in enumerate(_prefixes(recording, step)):
            after = restarted(tmp_path / f"{step}-{number}", {recording.match: content})
            assert after.recovered.put_aside == {}
            assert after.recovered.resumed == [recording.match]
            clients = play_on(after, recording, recording.line_counts[step - 1])
            assert_whole(after, recording.match)
            # the same choices follow from the same asks, so nothing is another than it would have been
            assert all(ended(client) == recording.end for client in clients)
            _assert_no_gaps(recording, recording.line_counts[step - 1], clients)


def test_a_match_of_a_game_in_no_list_goes_on_by_the_parts_in_its_journal(tmp_path: Path) -> None:
    """Even on a server that does not offer the game."""
    recording = recorded((ALPS.id, 2, ()), games=GameShelf({ALPS.id: alps_board()}, [ALPS]))
    half = len(recording.pieces) // 2
    after = restarted(tmp_path, {recording.match: b"".join(recording.pieces[:half])})
    assert after.recovered.resumed == [recording.match]
    clients = play_on(after, recording, recording.line_counts[half - 1])
    assert_whole(after, recording.match)
    assert all(ended(client) == recording.end for client in clients)


def _assert_no_gaps(recording: Recording, counts: tuple[int, ...], clients: list[Client]) -> None:
    for known, count, client in zip(recording.clients, counts, clients, strict=True):
        numbers = [
            peek(line).number for line in (*known.lines[:count], *client.lines) if b'"event"' in line[:16]
        ]
        assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("variant", EVERY_GAME[:2], ids=variant_id)
def test_at_every_record_the_match_is_as_far_as_anybody_knew(variant: Variant, tmp_path: Path) -> None:
    recording = recorded(variant)
    records = recording.journal.splitlines(keepends=True)
    ends: list[int] = []
    for piece in recording.pieces:
        ends.append((ends[-1] if ends else 0) + len(piece))
    size = len(b"".join(records[:2]))
    for number in range(3, len(records), 2):
        size = len(b"".join(records[:number]))
        folder = tmp_path / str(number)
        after = restarted(folder, {recording.match: recording.journal[:size]})
        assert after.recovered.put_aside == {}
        line_counts = [lines for lines, end in zip(recording.line_counts, ends, strict=True) if end <= size]
        seen = max(
            peek(line).number
            for known, count in zip(recording.clients, line_counts[-1], strict=True)
            for line in known.lines[:count]
        )
        assert _session(after, recording.clients[0]).matches[recording.match][0].event_count >= seen


# -- what is wrong with a journal --------------------------------------------------------------------


def test_a_byte_that_is_another_one_costs_that_match_and_no_other(tmp_path: Path) -> None:
    """Wherever it is."""
    recording, other = recorded(EVERY_GAME[0]), recorded(EVERY_GAME[1])
    chance = Random("flipped")
    journal = recording.journal
    for number in range(60):
        at = chance.randrange(len(journal))
        flipped = bytes([journal[at] ^ 1 << chance.randrange(8)])
        content = journal[:at] + flipped + journal[at + 1 :]
        half = b"".join(other.pieces[:10])
        after = restarted(tmp_path / str(number), {recording.match: content, other.match: half})
        assert other.match in after.recovered.resumed
        assert other.match in after.world.lobby.matches.running
        assert list(after.recovered.put_aside) == [f"{recording.match}.journal"]
        assert (after.journals.running / f"{recording.match}.unusable").read_bytes() == content
        assert recording.match not in after.world.lobby.matches.running


def test_every_changed_bit_of_a_header_or_a_private_record_is_noticed(tmp_path: Path) -> None:
    """The clocks, sessions and digests of a first line, the header, and a record that ends the journal."""
    recording = recorded(EVERY_GAME[0])
    lines = recording.journal.splitlines(keepends=True)
    last = next(number for number, line in enumerate(lines[1:], 1) if line.startswith(b'{"journal"'))
    journal = b"".join(lines[: last + 1])
    header_ends = len(lines[0] + lines[1])
    last_begins = len(journal) - len(lines[last])
    kept = Journals(tmp_path)
    world = World(seed="again", open_journal=kept.open)
    path = kept.running / f"{recording.match}.journal"
    unnoticed: list[tuple[int, int]] = []
    for at in (*range(header_ends), *range(last_begins, len(journal))):
        for bit in range(8):
            path.write_bytes(journal[:at] + bytes([journal[at] ^ 1 << bit]) + journal[at + 1 :])
            recovered = recover(world.lobby, kept, world.now)
            if not recovered.put_aside:
                unnoticed.append((at, bit))
    assert unnoticed == []
    assert world.lobby.counts().running == world.lobby.counts().sessions == 0


@pytest.mark.parametrize("changed", [b"", b"x", b"\n", b'"', b"9", b"\xff", b'","'])
def test_a_byte_of_a_private_record_that_is_gone_or_another_is_noticed(changed: bytes) -> None:
    line = recorded(EVERY_GAME[0]).journal.splitlines(keepends=True)[0]
    for at in range(len(b'{"journal":'), len(line)):
        content = line[:at] + changed + line[at + 1 :]
        if content != line:
            with pytest.raises(msgspec.DecodeError):
                read_record(content)


def test_the_keys_of_an_ended_match_are_checked_too(tmp_path: Path) -> None:
    recording = recorded(EVERY_GAME[0])
    at = recording.journal.index(b'"key_hash":"') + len(b'"key_hash":"')
    digit = b"1" if recording.journal[at : at + 1] == b"0" else b"0"
    content = recording.journal[:at] + digit + recording.journal[at + 1 :]
    kept = Journals(tmp_path)
    (kept.running / f"{recording.match}.ended").write_bytes(content)
    world = World(seed="again", open_journal=kept.open)
    recovered = recover(world.lobby, kept, world.now)
    assert list(recovered.put_aside) == [f"{recording.match}.ended"]
    assert world.lobby.counts().sessions == 0


def _changed_first(recording: Recording, **fields: object) -> bytes:
    first, rest = recording.journal.split(b"\n", 1)
    record = read_record(first + b"\n")
    assert isinstance(record, MatchRecord)
    return record_line(msgspec.structs.replace(record, **fields)) + rest


def _without_line(journal: bytes, number: int) -> bytes:
    lines = journal.splitlines(keepends=True)
    return b"".join(lines[:number] + lines[number + 1 :])


CHANGES: dict[str, tuple[Callable[[Recording], bytes], str]] = {
    "another version": (lambda r: _changed_first(r, version=9), "version 9"),
    "another seed": (lambda r: _changed_first(r, seed="0" * 64), "line 2"),
    "another match": (lambda r: _changed_first(r, match="another"), "not this match's"),
    "other rules": (lambda r: r.journal.replace(b'"rules_version":1', b'"rules_version":9', 1), "version 9"),
    "another board": (lambda r: r.journal.replace(b'"digest":"', b'"digest":"0', 1), "cannot be read"),
    "no text": (lambda r: b"\xff\xfe\n" * 5, "cannot be read"),
    "no record": (lambda r: b'{"journal":"match"}\n' * 5, "cannot be read"),
    "a seat that is not there": (
        lambda r: r.journal.replace(b'"seat","seat":0', b'"seat","seat":5', 1),
        "cannot be read",
    ),
    "a line missing": (lambda r: _without_line(r.journal, 9), "line"),
    "a line twice": (lambda r: r.journal + r.journal.splitlines(keepends=True)[-1], "line"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_journal_that_cannot_be_used_is_put_aside_with_its_reason(what: str, tmp_path: Path) -> None:
    recording = recorded(EVERY_GAME[0])
    change, why = CHANGES[what]
    content = change(recording)
    assert content != recording.journal
    after = restarted(tmp_path, {recording.match: content})
    assert after.recovered.resumed == []
    assert why in after.recovered.put_aside[f"{recording.match}.journal"]
    assert after.world.lobby.counts().running == after.world.lobby.counts().sessions == 0
    assert not after.journals.left_over()
    assert (after.journals.running / f"{recording.match}.unusable").read_bytes() == content


def test_a_journal_that_breaks_off_in_its_opening_is_of_a_match_that_nobody_had_heard_of(
    tmp_path: Path,
) -> None:
    """What is written first is written in one piece, before anything is said."""
    recording = recorded(EVERY_GAME[0])
    opening = b"".join(recording.journal.splitlines(keepends=True)[:3])
    for number, size in enumerate((0, 1, len(opening) // 2, len(opening) - 1)):
        after = restarted(tmp_path / str(number), {recording.match: opening[:size]})
        assert after.recovered.unborn == [recording.match]
        assert not after.recovered.resumed
        assert not after.recovered.put_aside
        assert after.world.lobby.counts().running == after.world.lobby.counts().sessions == 0
        assert not after.journals.left_over()
        assert (after.journals.running / f"{recording.match}.unborn").read_bytes() == opening[:size]


def test_the_reason_tells_nothing_of_what_stands_in_the_journal(tmp_path: Path) -> None:
    """Journals hold hands and seeds, and reasons go into the log."""
    recording = recorded(EVERY_GAME[0])
    content = recording.journal.replace(b'"card":"', b'"card": "', 1)
    after = restarted(tmp_path, {recording.match: content})
    (why,) = after.recovered.put_aside.values()
    assert "cannot be read" in why
    assert "card" not in why


def test_a_match_whose_house_bot_is_gone_is_put_aside(tmp_path: Path) -> None:
    content, _ = _practice_broken_off("chance")
    after = restarted(tmp_path, content, house_bots={})
    (why,) = after.recovered.put_aside.values()
    assert "house bot chance" in why
    assert after.world.lobby.counts().running == after.world.lobby.counts().sessions == 0


def test_a_house_bot_that_breaks_as_the_match_goes_on_ends_this_match_only(tmp_path: Path) -> None:
    world = World()
    clients = world.seated()
    world.play_turns(clients, 10)
    content, known = _practice_broken_off("chance")
    whole = {**content, clients[0].match: world.journal_of(clients[0]).written}

    def broken(start: bytes, seed: str) -> Callable[[bytes], bytes]:
        def answer(line: bytes) -> bytes:
            raise ZeroDivisionError

        return answer

    after = restarted(tmp_path, whole, house_bots={"chance": broken})
    player = after.resume(known, len(known.lines), *content)
    after.world.play([player])
    assert player.the(Error).code == "server.failed"
    assert list(after.world.lobby.matches.running) == [clients[0].match]


def _practice_broken_off(house_bot: str) -> tuple[dict[str, bytes], Known]:
    world = World(seed="practice")
    client = world.practice(house_bot)
    client.act()
    world.tick()
    return {client.match: world.journal_of(client).written}, _known(client)


# -- what is as it was -------------------------------------------------------------------------------


def _session(after: After, known: Known) -> Session:
    return after.world.lobby.sessions.by_id[known.session]


def _restart(world: World, folder: Path, clients: list[Client]) -> tuple[After, list[Known]]:
    """Kill the server, and start it anew."""
    journals = {match: journal.written for match, journal in world.journals.items()}
    after = restarted(folder, journals)
    return after, [_known(client) for client in clients]


def test_a_practice_match_goes_on_with_its_house_bots(tmp_path: Path) -> None:
    content, known = _practice_broken_off("chance")
    after = restarted(tmp_path, content)
    player = after.resume(known, len(known.lines), *content)
    after.world.play([player])
    assert_whole(after, *content)


def test_the_open_ask_keeps_its_id_and_the_bank_and_gets_a_fresh_move_time(tmp_path: Path) -> None:
    world = World()
    clients = world.seated()
    mover, _ = first_turn(clients)
    world.wait(3_000)  # 2 s out of the bank
    mover.act(0)
    world.tick()
    world.play_turns(clients, 1 if not mover.is_asked() else 0)
    before = {client.seat: client.open_asks() for client in clients}
    after, known = _restart(world, tmp_path, clients)
    again = [after.resume(one, len(one.lines), clients[0].match) for one in known]
    after.world.tick()
    for client, seat in zip(again, (0, 1), strict=True):
        assert [ask.ask for ask in client.open_asks()] == [ask.ask for ask in before[seat]]
    asked = next(client for client in again if client.is_asked())
    ask = asks_of(asked)[-1]
    own = mover.seat == again.index(asked)
    assert (ask.move_ms, ask.bank_ms) == (1_000, 8_000 if own else 10_000)


def test_the_clocks_wait_for_the_players_but_not_for_ever(tmp_path: Path) -> None:
    world = World()
    clients = world.seated()
    first_turn(clients)
    after, known = _restart(world, tmp_path, clients)
    match = clients[0].match
    one = after.resume(known[0], len(known[0].lines), match)
    after.world.wait(29_999)
    assert not one.is_asked()
    assert after.world.lobby.matches.running[match].decision_count == 2
    after.world.wait(1)
    asked = [seat.ask is not None for seat in after.world.lobby.matches.running[match].seats]
    assert sum(asked) == 1


def test_who_left_has_left_although_its_next_move_was_not_due_yet(tmp_path: Path) -> None:
    world = World()
    clients = world.seated()
    _, (other,) = first_turn(clients)
    other.say(Leave(match=other.match))
    after, known = _restart(world, tmp_path, clients)
    assert known[other.seat].session not in after.world.lobby.sessions.by_id
    seat = after.world.lobby.matches.running[other.match].seats[other.seat]
    assert seat.left
    assert seat.session is None


def test_who_plays_by_default_goes_on_so(tmp_path: Path) -> None:
    world = World(time=Time(move_ms=100, bank_ms=0, grace_ms=0))
    clients = world.seated()
    mover, (other,) = first_turn(clients)
    match = world.match_of(mover)
    while not match.seats[mover.seat].by_default:
        world.wait(100)
        if other.is_asked():
            other.act(0)
    after, _ = _restart(world, tmp_path, clients)
    seat = after.world.lobby.matches.running[mover.match].seats[mover.seat]
    was = match.seats[mover.seat]
    assert seat.by_default
    assert (seat.default_reasons, seat.defaults_in_a_row) == (was.default_reasons, was.defaults_in_a_row)


def test_strikes_are_not_given_back(tmp_path: Path) -> None:
    world = World(time=Time(move_ms=100, bank_ms=0))
    clients = world.seated()
    mover, _ = first_turn(clients)
    world.wait(140)
    mover.act(0)
    after, _ = _restart(world, tmp_path, clients)
    assert after.world.lobby.matches.running[mover.match].seats[mover.seat].strikes == 2


def test_both_keys_are_good_when_the_server_was_killed_before_the_new_one_was_used(tmp_path: Path) -> None:
    """The welcome with the new key may never have arrived."""
    world = World()
    clients = world.seated()
    old = _known(clients[0])
    new = _known(clients[0].resume())
    assert old.key != new.key
    for number, known in enumerate((old, new)):
        after, _ = _restart(world, tmp_path / str(number), clients)
        client = after.resume(known, 0, clients[0].match)
        assert client.the(Welcome).session == known.session


def test_the_token_of_a_seat_takes_it_back_from_a_server_that_was_started_again(tmp_path: Path) -> None:
    world = World()
    clients = reserved(world)
    world.play_turns(clients, 10)
    after, known = _restart(world, tmp_path, clients)
    client = after.world.connect()
    client.login("whatever", token="token1")
    assert client.the(Welcome).session == known[1].session
    assert client.the(Start).seat == 1


def test_an_organizer_who_comes_back_with_the_token_is_one_again(tmp_path: Path) -> None:
    tokens = Tokens((TokenHolder("Ann", sha256(b"ann's").hexdigest(), is_organizer=True),))
    world = World(tokens=tokens)
    ann = world.connect()
    ann.login("Ann", token="ann's", max_matches=2)
    matches: list[str] = []
    for _ in range(2):
        ann.say(Join("usa", 2, against=("first",)))
        matches.append(ann.match)
    journals = {match: journal.written for match, journal in world.journals.items()}
    after = restarted(tmp_path, journals, tokens=tokens)
    again = after.world.connect()
    again.login("Ann", token="ann's", max_matches=2)
    again.say(Leave(match=matches[0]), Watch(matches[0], "all_hands"))
    assert again.all_of(Error) == []


NOTES = ("half a thought", '\u0000\u001f\u2028"\\', "\U0001f682" * 250, "e\u0301" * 200)


@pytest.mark.parametrize("note", NOTES)
def test_notes_of_any_kind_come_through(note: str, tmp_path: Path) -> None:
    """Notes are in the record of a choice that is not shown yet, and in lines of the replay, cut to their
    bounds."""
    for acts in (1, 2, 5):
        world = World()
        clients = world.seated(wants=BARE)
        for _ in range(acts):
            next(client for client in clients if client.is_asked()).act(0, note=note)
        assert encode(note[:200])[:-1] in world.journal_of(clients[0]).written
        after, known = _restart(world, tmp_path / str(acts), clients)
        assert after.recovered.put_aside == {}
        again = [after.resume(one, len(one.lines), clients[0].match) for one in known]
        after.world.play(again)
        assert_whole(after, clients[0].match)
        replay = (after.journals.replays / f"{clients[0].match}.jsonl").read_bytes()
        assert replay.count(encode(note[:200])) == acts


def test_a_match_whose_last_act_was_written_ends_at_once(tmp_path: Path) -> None:
    """A client that comes for it within a minute gets the end."""
    recording = recorded(EVERY_GAME[0])
    content = b"".join(recording.pieces[:-1])
    after = restarted(tmp_path, {recording.match: content})
    assert_whole(after, recording.match)
    client = after.resume(recording.clients[0], 0, recording.match)
    assert ended(client) == recording.end
    after.world.wait(60_000)
    late = after.resume(recording.clients[1], 0, recording.match)
    assert late.the(Error).code == "auth.bad_resume_key"
