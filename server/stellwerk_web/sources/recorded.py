"""A replay as a spectator would have got it: the public `start`, public events, the public `end`.

Laws:
- nothing comes out of a replay before it is whole and its seed is in it. One without its seed belongs to a
  deal that others may still play, so not even its players are shown;
- what comes out is redacted for the public, as a server does it while a match runs (GEN-09);
- a file may be anything: what is wrong with it is a `ReplayError`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import UNSET

from stellwerk_engine.boards.board_file import canonical_text
from stellwerk_engine.core.viewers import PUBLIC
from stellwerk_engine.games.described import parts_on_wire
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.parts.technologies.buy_technology import for_sale
from stellwerk_engine.replays.reader import ReplayError, read_replay
from stellwerk_engine.replays.verify import game_of
from stellwerk_protocol.canonical import CanonicalError, unseal
from stellwerk_protocol.messages import Clocks, Player, Start
from stellwerk_protocol.messages import End as EndMessage
from stellwerk_protocol.replays import MAX_LINE_BYTES, End, Header, Line, MoveMade, Reveal, SetUp
from stellwerk_web.show.forms import Head

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from stellwerk_engine.core.state import Game
    from stellwerk_protocol.results import Result

NO_CLOCKS: Final = Clocks(0, 0, 0, 0, 0, 0, 0, 0)  # a replay does not have them
NOTHING: Final = "0" * 64
UNREVEALED: Final = "the seed has not been revealed"

_TAIL: Final = 65_536  # bytes: the end and the seed of a replay have a few thousand
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Line).decode


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded match for the model. `head` says that it has ended."""

    head: Head
    start: bytes
    events: tuple[bytes, ...]
    end: bytes


def recorded(lines: Iterable[bytes], match: str, clocks: Clocks = NO_CLOCKS) -> Recorded:
    """Read a whole replay. `match` is its id here. ReplayError if it cannot be used, or may not."""
    texts = [*lines]
    header: Header | None = None
    game: Game | None = None
    events: list[bytes] = []
    result: Result | None = None
    reveal: Reveal | None = None
    for record in read_replay(texts):
        match record:
            case Header():
                header, game = record, game_of(record)
            case Reveal():
                reveal = record
            case SetUp() | MoveMade():
                assert game is not None  # the reader lets nothing else come first
                for event in record.events:
                    events.append(_encode(redact(event, game, PUBLIC)))
            case End():
                result = record.result
    assert header is not None
    assert game is not None
    assert result is not None  # the reader says so of a replay that breaks off
    if reveal is None:
        raise ReplayError("unrevealed", len(texts), UNREVEALED)
    names = names_of(header)
    players = tuple(Player(seat, game.team_of[seat], name) for seat, name in enumerate(names))
    start = Start(
        match=match,
        viewer="public",
        players=players,
        game=game.id,
        rules_version=header.rules_version,
        options=game.options,
        board=msgspec.Raw(canonical_text(game.board.file).encode()),
        board_digest=game.board.file.digest,
        clocks=clocks,
        commitment=header.commitment or NOTHING,
        technologies=for_sale(game.rules),
        parts=parts_on_wire(game),
    )
    end = EndMessage(
        match=match,
        result=result,
        transcript=unseal(texts[-1])[1],
        reveal="now",
        seed=reveal.seed,
        salt=reveal.salt,
    )
    return Recorded(
        head_of(Summary(header, result, game), match), _encode(start), tuple(events), _encode(end)
    )


# -- what a replay says at its beginning and its end -------------------------------------------------


@dataclass(frozen=True, slots=True)
class Summary:
    """A match in short. Nothing of it has been verified."""

    header: Header
    result: Result
    game: Game


def head_of(summary: Summary, match: str) -> Head:
    """Return the head of an ended match."""
    game, result = summary.game, summary.result
    points = {team.team: team.points for team in result.teams}
    players = tuple(
        Player(seat, game.team_of[seat], name) for seat, name in enumerate(names_of(summary.header))
    )
    return Head(
        match=match,
        state="ended",
        game=game.id,
        options=game.options,
        players=players,
        turn=result.turns,
        points=tuple(points.get(player.team, 0) for player in players),
        ranks=result.ranks,
    )


def summary(replay: Path) -> Summary:
    """Read what a replay says at its beginning and its end, which is quick. ReplayError if it is not whole,
    if its seed is not in it, or if it is no replay; OSError."""
    with open(replay, "rb") as file:
        first = file.readline(MAX_LINE_BYTES)
        header = _read_record(first, 1)
        if not isinstance(header, Header):
            raise ReplayError("not_a_replay", 1, "no header of a replay")
        is_revealed = isinstance(_read_record(file.readline(MAX_LINE_BYTES), 2), Reveal)
        file.seek(max(len(first), os.fstat(file.fileno()).st_size - _TAIL))
        last = [_try_record(text) for text in file.read().splitlines(keepends=True)[-2:]]
    match last:
        case [End(result), Reveal()]:
            return Summary(header, result, _find_game(header, result))
        case [*_, End(result)] if is_revealed:
            return Summary(header, result, _find_game(header, result))
        case [*_, End()]:
            raise ReplayError("unrevealed", 0, UNREVEALED)
        case _:
            raise ReplayError("truncated", 0, "the replay breaks off")


def _find_game(header: Header, result: Result) -> Game:
    game = game_of(header)
    if len(result.ranks) != game.seat_count:
        raise ReplayError("differs", 0, f"a result of {len(result.ranks)} seats for {game.seat_count}")
    return game


def _read_record(text: bytes, number: int) -> Line:
    try:
        record: Line = _decode(unseal(text)[0])
        return record
    except (CanonicalError, msgspec.DecodeError, RecursionError) as error:
        raise ReplayError("not_a_replay", number, str(error)) from None


def _try_record(text: bytes) -> Line | None:
    try:
        return _read_record(text, 0)
    except ReplayError:
        return None  # the rest of a longer line, or one that is still being written


def names_of(header: Header) -> tuple[str, ...]:
    return tuple(f"seat-{n}" if each.name is UNSET else each.name for n, each in enumerate(header.seats))


def id_of(header: Header, file: str) -> str:
    """Return what a match is called in addresses: its own id, else the name of its file, or a part of the
    hash of that name."""
    for name in (header.match, file.removesuffix(".jsonl")):
        if name is not UNSET and _ID.fullmatch(name):
            return name
    return digest_of(file)


def digest_of(file: str) -> str:
    """Return an id made of the name of a file."""
    return sha256(file.encode("utf-8", "surrogateescape")).hexdigest()[:16]
