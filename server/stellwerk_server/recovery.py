"""What a server that was killed left behind: its journals, and the matches made from them again.

A journal may break off in its last record, for that is where the server was killed: this is cut off, and the
match goes on from the last act that was written whole. A journal that is wrong in any other way is put aside,
and the others are not touched by it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

import msgspec
from msgspec import UNSET, UnsetType

from stellwerk_engine.dice import SeedError
from stellwerk_engine.game import GameError
from stellwerk_engine.games import RULE_SETS
from stellwerk_protocol.canonical import CanonicalError, decode_as, unseal
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.messages import DEFAULT_REASONS, DefaultReason
from stellwerk_protocol.replays import Header, Line, MoveMade
from stellwerk_server.journal import (
    VERSION,
    Journals,
    MatchRecord,
    SeatRecord,
    SessionRecord,
    read_record,
    whole_lines,
)
from stellwerk_server.match_session import Deal, MatchSession
from stellwerk_server.session import Session

if TYPE_CHECKING:
    from stellwerk_engine.game import Game
    from stellwerk_server.lobby import Lobby

_decode_line = msgspec.json.Decoder(Line)


class JournalError(Exception):
    """No match can be made of it; one line says why."""


@dataclass(frozen=True, slots=True)
class Recovered:
    resumed: list[str] = field(default_factory=list[str])
    cut: list[str] = field(default_factory=list[str])  # of those, the ones whose last record broke off
    put_aside: dict[str, str] = field(default_factory=dict[str, str])  # and why


def recover(lobby: Lobby, journals: Journals, now: float) -> Recovered:
    """Bring back every match whose journal was left behind."""
    recovered = Recovered()
    for path in journals.left_over():
        try:
            was_cut = _recover_one(lobby, journals, path, now)
        except (JournalError, OSError) as error:
            recovered.put_aside[path.name] = str(error)
            path.rename(path.with_suffix(".unusable"))
            continue
        recovered.resumed.append(path.stem)
        if was_cut:
            recovered.cut.append(path.stem)
    return recovered


def _recover_one(lobby: Lobby, journals: Journals, path: Path, now: float) -> bool:
    lines = list(whole_lines(path))
    size = lines[-1][1] if lines else 0
    was_cut = size < path.stat().st_size
    if len(lines) < 3:
        raise JournalError("breaks off before its first act")
    record, header = _opening(lines[0][0], lines[1][0])
    game = _game(lobby, header)
    deal = Deal(
        match=record.match,
        game=game,
        names=tuple(player.name for player in record.players),
        seed=bytes.fromhex(record.seed),
        salt=bytes.fromhex(record.salt),
        clocks=record.clocks,
        reveal_later=record.reveal_later,
    )
    if path.stem != record.match or len(deal.names) != game.seat_count:
        raise JournalError("it is not this match's journal")
    journal = journals.reopen(path, size)
    match = lobby.add_match(deal, journal)
    try:
        missing = _recall(match, [line for line, _ in lines[1:]])
    except (JournalError, IllegalMoveError, CanonicalError, msgspec.DecodeError, SeedError) as error:
        lobby.matches.pop(match.id, None)
        raise JournalError(str(error)) from None
    _seat_players(lobby, match, record, [line for line, _ in lines])
    match.go_on(missing, now)
    return was_cut


def _opening(first: bytes, second: bytes) -> tuple[MatchRecord, Header]:
    try:
        record = read_record(first)
        body, _ = unseal(second)
        header = decode_as(body, _decode_line)
    except (msgspec.DecodeError, CanonicalError) as error:
        raise JournalError(f"not a journal: {error}") from None
    if not isinstance(record, MatchRecord) or not isinstance(header, Header):
        raise JournalError("not a journal: it does not begin with a match and a header")
    if record.version != VERSION:
        raise JournalError(f"a journal of version {record.version}; this server reads {VERSION}")
    return record, header


def _game(lobby: Lobby, header: Header) -> Game:
    rules = RULE_SETS.get(header.game)
    if rules is None or rules.rules_version != header.rules_version:
        raise JournalError(f"other rules: {header.game}, version {header.rules_version}")
    if lobby.house.games.board(header.game).digest != header.board.digest:
        raise JournalError("another board than this server's")
    try:
        return lobby.house.games.game(header.game, len(header.seats), header.options)
    except GameError as error:
        raise JournalError(str(error)) from None


def _recall(match: MatchSession, lines: list[bytes]) -> bytes:
    """Make all moves again. What their lines have to be is compared with what is there; what is missing at
    the end, because the server was killed in between, is returned."""
    expected = match.recall_opening()
    found = b""
    chosen: set[int] = set()  # seats whose move stands in a private record already
    has_ended = False
    for number, line in enumerate(lines, 2):
        record = read_record(line)
        match record:
            case None:
                found += line
                made = decode_as(unseal(line)[0], _decode_line)
                if isinstance(made, MoveMade):
                    if made.seat in chosen:
                        chosen.discard(made.seat)
                    else:
                        expected += match.recall_move(
                            made.seat, made.move, _reason(made.reason), made.note or None
                        )
            case SeatRecord():
                if record.move is not UNSET:
                    expected += match.recall_move(
                        record.seat, record.move, _reason(record.reason), record.note[:200] or None
                    )
                    chosen.add(record.seat)
                match.recall_seat(record)
            case MatchRecord() | SessionRecord():
                pass  # the first is not among these lines; sessions are looked at by who seats the players
            case _:
                assert_never(record)
        if match.state.pending is None and not has_ended:
            has_ended = True
            expected += match.recall_end()
        if not expected.startswith(found) and not found.startswith(expected):
            raise JournalError(f"line {number} is not what the moves before it come to")
    if not expected.startswith(found):
        raise JournalError("more lines than the moves come to")
    return expected[len(found) :]


def _reason(text: str | UnsetType) -> DefaultReason | None:
    for reason in DEFAULT_REASONS:
        if reason == text:
            return reason
    return None


def _seat_players(lobby: Lobby, match: MatchSession, record: MatchRecord, lines: list[bytes]) -> None:
    """Sessions come back without a connection, with the newest key that the journal knows."""
    newest: dict[int, SessionRecord] = {}
    for line in lines[1:]:
        private = read_record(line)
        if isinstance(private, SessionRecord):
            newest[private.seat] = private
    for seat, player in enumerate(record.players):
        place = match.places[seat]
        if player.house is not UNSET:
            new_player = lobby.house.house_bots.get(player.house)
            if new_player is None:
                raise JournalError(f"there is no house bot {player.house} any more")
            match.seat_house_bot(seat, player.house, new_player)
        elif player.session is UNSET:
            place.by_default = True
        else:
            session = lobby.sessions.get(player.session)
            if session is None:
                session = Session(player.session, player.login_name or player.name)
                session.token_hash = player.token_hash or None
                session.seat_token_hash = player.seat_token_hash or None
                session.max_matches = 64
                lobby.add_session(session)
            last = newest.get(seat)
            session.wants = player.wants if last is None else last.wants
            session.key_hashes = (
                *session.key_hashes,
                player.key_hash or "" if last is None else last.key_hash,
            )
            place.session = session
            session.matches[match.id] = (match, seat)
