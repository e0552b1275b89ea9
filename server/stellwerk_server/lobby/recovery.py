"""The remains of a server that was killed: its journals, and the matches made from them again.

Those of matches that were over are read, and nothing is made of them but their `end`.

A killed server leaves journals whose last record may be incomplete: it is cut off, and the match continues
from the last whole act. If even the first record is incomplete, no client had seen the match, and it is
discarded. A journal that is wrong in any other way is put aside; the other matches continue.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, assert_never

import msgspec
from msgspec import UNSET, UnsetType

from stellwerk_engine.core.game import GameError
from stellwerk_engine.replays.reader import ReplayError
from stellwerk_engine.replays.verify import game_of
from stellwerk_protocol.canonical import CanonicalError, Chain, decode_as, unseal
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.messages import DEFAULT_REASONS, DefaultReason
from stellwerk_protocol.replays import CHAIN_LABEL, End, Header, Line, MoveMade, SetUp
from stellwerk_server.journal.journal import (
    ENDED_SUFFIX,
    VERSION,
    Journal,
    Journals,
    MatchRecord,
    Record,
    SeatedPlayer,
    SeatRecord,
    SessionRecord,
    read_record,
    whole_lines,
)
from stellwerk_server.lobby.session import Session
from stellwerk_server.match.ended_match import EndedMatch, end_line
from stellwerk_server.match.plan import MatchPlan
from stellwerk_server.match.recorded import RecordedMatch

if TYPE_CHECKING:
    from stellwerk_engine.core.state import Game
    from stellwerk_server.lobby.lobby import Lobby
    from stellwerk_server.match.players import NewHousePlayer

OPENING_LINES: Final = 3  # the match, the header and the set-up, written in one piece

_decode_line = msgspec.json.Decoder(Line)


class JournalError(Exception):
    """A journal from which no match can be made; one line says why."""


@dataclass(frozen=True, slots=True)
class Recovered:
    resumed: list[str] = field(default_factory=list[str])
    cut: list[str] = field(default_factory=list[str])  # of those, the ones whose last record broke off
    unborn: list[str] = field(default_factory=list[str])  # matches that no client had seen
    ended: list[str] = field(default_factory=list[str])  # matches that were over, and may be asked for
    put_aside: dict[str, str] = field(default_factory=dict[str, str])  # and why


def recover(lobby: Lobby, journals: Journals, now: float) -> Recovered:
    """Bring back every match whose journal was left behind."""
    recovered = Recovered()
    left_over = journals.left_over()
    _bring_back_ended(lobby, journals, {path.stem for path in left_over}, recovered, now)
    for path in left_over:
        try:
            lines = list(whole_lines(path))
            if len(lines) < OPENING_LINES:
                recovered.unborn.append(path.stem)
                path.rename(path.with_suffix(".unborn"))
                continue
            was_cut = _recover_running(lobby, journals, path, lines, now)
        except Exception as error:  # a fault of one match must not touch the others
            _put_aside(recovered, path, error)
            continue
        recovered.resumed.append(path.stem)
        if was_cut:
            recovered.cut.append(path.stem)
    return recovered


def _bring_back_ended(
    lobby: Lobby, journals: Journals, running: set[str], recovered: Recovered, now: float
) -> None:
    """Bring back ended matches first, so that a session that plays keeps its name. Of a match in `running`
    the disk has two journals, because it knew only one of the names when the power was cut; such a match ends
    anew."""
    for path in journals.left_over(ENDED_SUFFIX):
        if path.stem in running:
            continue
        try:
            _recover_ended(lobby, journals, path, now)
        except Exception as error:
            _put_aside(recovered, path, error)
        else:
            recovered.ended.append(path.stem)


def _put_aside(recovered: Recovered, path: Path, error: Exception) -> None:
    is_plain = isinstance(error, JournalError | OSError)
    recovered.put_aside[path.name] = str(error) if is_plain else type(error).__name__
    with contextlib.suppress(OSError):
        path.rename(path.with_suffix(".unusable"))


def _recover_running(
    lobby: Lobby, journals: Journals, path: Path, lines: list[tuple[bytes, int]], now: float
) -> bool:
    record, header = _read_opening(lines[0][0], lines[1][0])
    plan = _make_plan(lobby, record, header)
    if path.stem != record.match or len(plan.names) != plan.game.seat_count:
        raise JournalError("it is not this match's journal")
    recorded = RecordedMatch(plan, Journal())
    size, missing = _make_again(recorded, lines[1:])
    house_bots = _find_house_bots(lobby, record)
    was_cut = size < path.stat().st_size
    sessions = _restore_sessions(lobby, recorded, record, [line for line, _ in lines])
    recorded.journal.file = journals.reopen(path, size)
    lobby.matches.go_on(recorded, sessions, house_bots, missing, now)
    return was_cut


def _read_opening(first: bytes, second: bytes) -> tuple[MatchRecord, Header]:
    try:
        record = read_record(first)
        body, _ = unseal(second)
        header = decode_as(body, _decode_line)
    except (msgspec.DecodeError, UnicodeDecodeError, CanonicalError):
        raise JournalError(
            "its first two lines cannot be read: they were changed, or another version wrote them"
        ) from None
    if not isinstance(record, MatchRecord) or not isinstance(header, Header):
        raise JournalError("not a journal: it does not begin with a match and a header")
    if record.version != VERSION:
        raise JournalError(f"a journal of version {record.version}; this server reads {VERSION}")
    return record, header


def _make_plan(lobby: Lobby, record: MatchRecord, header: Header) -> MatchPlan:
    return MatchPlan(
        match=record.match,
        game=_find_game(lobby, header),
        names=tuple(player.name for player in record.players),
        seed=bytes.fromhex(record.seed),
        salt=bytes.fromhex(record.salt),
        clocks=record.clocks,
        reveal_later=record.reveal_later,
    )


def _find_game(lobby: Lobby, header: Header) -> Game:
    if header.parts is not UNSET:  # a game that the server does not offer
        try:
            return game_of(header)
        except ReplayError as error:
            raise JournalError(error.message) from None
    rules = lobby.setup.games.rules.get(header.game)
    if rules is None or rules.rules_version != header.rules_version:
        raise JournalError(f"other rules: {header.game}, version {header.rules_version}")
    if lobby.setup.games.board(header.game).digest != header.board.digest:
        raise JournalError("another board than this server's")
    try:
        return lobby.setup.games.game(header.game, len(header.seats), header.options)
    except GameError as error:
        raise JournalError(str(error)) from None


def _make_again(recorded: RecordedMatch, lines: list[tuple[bytes, int]]) -> tuple[int, bytes]:
    """Make all moves again, and compare the lines that they lead to with those of the journal. Return how
    much of the journal is good, and what is missing behind that, because the server was killed in between. An
    error names the line and no more: its content is secret."""
    expected = recorded.opening()
    found = good = b""
    size = 0
    chosen: set[int] = set()
    has_ended = False
    for number, (line, offset) in enumerate(lines, 2):
        hidden = len(chosen)
        try:
            record = read_record(line)
            expected += (
                _make_public(recorded, line, chosen) if record is None else _make_private(recorded, record)
            )
        except (IllegalMoveError, CanonicalError, msgspec.DecodeError, UnicodeDecodeError, IndexError):
            raise JournalError(f"line {number} cannot be read, or its move cannot be made") from None
        if record is None:
            found += line
        elif isinstance(record, SeatRecord) and record.move is not UNSET:
            chosen.add(record.seat)
        if recorded.executor.state.pending is None and not has_ended:
            has_ended = True
            expected += recorded.ending()
        if expected.startswith(found):
            size, good = offset, found
        elif len(chosen) == hidden or not found.startswith(expected):
            raise JournalError(f"line {number} does not agree with the moves before it")
        # else choices are shown one after another, and the last one, which makes them lines, is still to come
    return size, expected[len(good) :]


def _make_public(recorded: RecordedMatch, line: bytes, chosen: set[int]) -> bytes:
    """Make the move in a line of the replay, and return its lines. The moves of the seats in `chosen` were
    made already: they were in private records before."""
    made = decode_as(unseal(line)[0], _decode_line)
    if not isinstance(made, MoveMade):
        return b""
    if made.seat in chosen:
        chosen.discard(made.seat)
        return b""
    return recorded.move(made.seat, made.move, _read_reason(made.reason), made.note or "")


def _make_private(recorded: RecordedMatch, record: Record) -> bytes:
    match record:
        case SeatRecord(seat=seat, move=move):
            lines = b""
            if move is not UNSET:
                lines = recorded.move(seat, move, _read_reason(record.reason), record.note)
            recorded.stand(record)
            return lines
        case MatchRecord() | SessionRecord():
            return b""  # the first is not among these lines; sessions are looked at by who seats them
        case _:
            assert_never(record)


def _read_reason(text: str | UnsetType) -> DefaultReason | None:
    for reason in DEFAULT_REASONS:
        if reason == text:
            return reason
    return None


def _find_house_bots(lobby: Lobby, record: MatchRecord) -> dict[int, tuple[str, NewHousePlayer]]:
    """Return the house bots of a match, by seat. JournalError if this server lacks one."""
    house_bots: dict[int, tuple[str, NewHousePlayer]] = {}
    for seat, player in enumerate(record.players):
        if player.house is not UNSET:
            new_player = lobby.setup.house_bots.get(player.house)
            if new_player is None:
                raise JournalError(f"there is no house bot {player.house} any more")
            house_bots[seat] = player.house, new_player
    return house_bots


def _restore_sessions(
    lobby: Lobby, recorded: RecordedMatch, record: MatchRecord, lines: list[bytes]
) -> dict[int, Session]:
    """Return the sessions of a match by seat: without a connection, and with the newest keys that the journal
    knows. The fallback plays for seats that no client ever took."""
    newest: dict[int, SessionRecord] = {}
    for line in lines[1:]:
        private = read_record(line)
        if isinstance(private, SessionRecord):
            newest[private.seat] = private
    sessions: dict[int, Session] = {}
    for seat, player in zip(recorded.seats, record.players, strict=True):
        if player.house is not UNSET or seat.left:
            continue
        if player.session is UNSET:
            seat.by_default = True
            continue
        session = _restore_session(lobby, player, newest.get(seat.number))
        if session is None:
            raise JournalError("two sessions with one name")
        sessions[seat.number] = session
    return sessions


def _restore_session(lobby: Lobby, player: SeatedPlayer, last: SessionRecord | None) -> Session | None:
    """Return the session that has the seat, with the newest keys. Make it again if it is missing. None if
    there can be none."""
    if player.session is UNSET:
        return None
    session = lobby.sessions.by_id.get(player.session)
    if session is None:
        session = Session(player.session, player.login_name or player.name)
        session.token_hash = player.token_hash or None
        session.seat_token_hash = player.seat_token_hash or None
        session.max_matches = 64
        if not lobby.sessions.add_recovered(session):
            return None
    session.wants = player.wants if last is None else last.wants
    keys = last.key_hashes if last is not None else (player.key_hash,) if player.key_hash else ()
    session.key_hashes = tuple(dict.fromkeys((*session.key_hashes, *keys)))
    return session


# -- of matches that were over -----------------------------------------------------------------------


def _recover_ended(lobby: Lobby, journals: Journals, path: Path, now: float) -> None:
    whole = list(whole_lines(path))
    if len(whole) < OPENING_LINES:
        raise JournalError("not a journal: it breaks off in its opening")
    record, header = _read_opening(whole[0][0], whole[1][0])
    if path.stem != record.match:
        raise JournalError("it is not this match's journal")
    newest: dict[int, SessionRecord] = {}
    left: set[int] = set()
    event_count = 0
    end: End | None = None
    chain = Chain(CHAIN_LABEL)
    for number, (text, _) in enumerate(whole[1:], 2):
        try:
            private = read_record(text)
            public = decode_as(chain.follow(text), _decode_line) if private is None else None
        except (CanonicalError, msgspec.DecodeError, UnicodeDecodeError):
            raise JournalError(f"line {number} cannot be read") from None
        match private or public:
            case SessionRecord(seat=seat) as session_record:
                newest[seat] = session_record
            case SeatRecord(seat=seat, left=True):
                left.add(seat)
            case SetUp(events=events) | MoveMade(events=events):
                event_count += len(events)
            case End() as last:
                end = last
            case _:
                pass
    if end is None:
        raise JournalError("it has no end")
    plan = _make_plan(lobby, record, header)
    ended = EndedMatch(
        plan,
        commitment=header.commitment or "",
        end_line=end_line(plan, end.result, chain.last),
        event_count=event_count,
        journal=journals.kept(path, whole[-1][1]),
        on_disk_error=lobby.setup.note_disk_error,
    )
    for seat, player in enumerate(record.players):
        session = None if seat in left else _restore_session(lobby, player, newest.get(seat))
        if session is not None:
            ended.add(seat, session, knows_end=False)
    lobby.keep_ended(ended, end.result, now)
