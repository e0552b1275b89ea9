"""How matches ended: the record that ratings are made from, and the texts that it is read from.

Two forms are read. JSON Lines, one match a line: `players` and `ranks` are required, `seats`, `block`,
`rotation` and `game` optional, and other fields are not looked at; `matches.jsonl` of a tournament is such a
file, and so is what another game's runner writes in three lines. And PGN, of which only the headers matter.

Laws:
- a block has each of its rotations once: blocks of two tournaments in one file would be rated as one. Of
  several files, blocks with the same number are different blocks;
- the first in `players` has no advantage. Seats count only where `seats` says them, for in many files players
  are listed by rank, and a rating that took this for the order of seats would explain everything by the seat.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Raw, Struct

from stellwerk_base.texts import quoted, shown

FEWEST_PLAYERS: Final = 2
MOST_PLAYERS: Final = 6  # the model looks at all subsets of a table: 63 of them


class OutcomeError(ValueError):
    """A text that is not a record of matches. The message is one line and begins with the number of the
    line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one match. An entrant is what gets a rank of its own: a player, or a team."""

    entrants: tuple[str, ...]
    ranks: tuple[int, ...]  # of each entrant; 1 is best; equal ranks are ties; gaps mean nothing
    seats: tuple[int, ...] | None = None  # of each entrant: 0 moves first
    block: str | None = None  # matches that share their luck; without one, a match is a block of its own
    game: str = ""
    has_own_deal: bool = False  # dealt anew, though it is in a block: a remote bot was at the table

    @property
    def size(self) -> int:
        return len(self.entrants)


@dataclass(frozen=True, slots=True)
class ReadOutcomes:
    outcomes: tuple[Outcome, ...]
    unfinished: int = 0  # PGN games without a result: left out
    is_torn: bool = False  # the last line was not written to its end: left out
    versions: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])  # of players


def read_outcomes(text: str) -> ReadOutcomes:
    """Read a file of either form. OutcomeError if it cannot be read."""
    return _read_pgn(text) if text.lstrip("\ufeff \t\r\n").startswith("[") else _read_json_lines(text)


def joined(sources: Sequence[ReadOutcomes]) -> list[Outcome]:
    """Join the matches of several sources, whose blocks have nothing in common."""
    if len(sources) == 1:
        return [*sources[0].outcomes]
    return [
        outcome if outcome.block is None else replace(outcome, block=f"{number} {outcome.block}")
        for number, source in enumerate(sources)
        for outcome in source.outcomes
    ]


# -- JSON Lines --------------------------------------------------------------------------------------

Name = Annotated[str, Meta(min_length=1, max_length=200)]
Members = Annotated[list[Name], Meta(min_length=1, max_length=10)]
Rank = Annotated[int, Meta(ge=1, le=1000)]
Seat = Annotated[int, Meta(ge=0, le=1000)]
_NOTHING: Final = Raw(b"")
_OWN_DEAL: Final = b'"new_each_match"'  # in lines of a tournament


class OutcomeLine(Struct, frozen=True):
    """A list in place of a name or a seat is a team: its members, its seats. `deal` and `versions` are what a
    tournament wrote, or anything else."""

    players: list[Name | Members]
    ranks: list[Rank]
    seats: list[Seat | list[Seat]] | None = None
    block: str | int | None = None
    rotation: str | int | None = None
    game: str | None = None
    deal: Raw = _NOTHING
    versions: Raw = _NOTHING


_decode: Final = msgspec.json.Decoder(OutcomeLine).decode


def _read_json_lines(text: str) -> ReadOutcomes:
    lines = text.removeprefix("\ufeff").split("\n")
    torn = lines.pop()  # the rest behind the last line end; nothing, if the file was written to its end
    seen = _Seen()
    outcomes = [_outcome(line, number, seen) for number, line in enumerate(lines, 1) if line.strip()]
    is_torn = False
    if torn.strip():
        try:
            _decode(torn)
        except msgspec.ValidationError:
            pass  # whole, but wrong
        except msgspec.DecodeError:
            is_torn = True
        if not is_torn:
            outcomes.append(_outcome(torn, len(lines) + 1, seen))
    return ReadOutcomes(tuple(outcomes), is_torn=is_torn, versions=seen.versions())


@dataclass(slots=True)
class _Seen:
    """The blocks with their rotations, and the lineups with their versions, of the lines so far."""

    places: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    lineups: set[tuple[tuple[str, ...], bytes]] = field(default_factory=set[tuple[tuple[str, ...], bytes]])

    def versions(self) -> dict[str, frozenset[str]]:
        """Return the versions of each player, as far as a tournament wrote them."""
        found: dict[str, set[str]] = {}
        for names, raw in self.lineups:
            try:
                versions = msgspec.json.decode(raw, type=list[str])
            except msgspec.DecodeError:
                continue
            for name, version in zip(names, versions, strict=False):
                found.setdefault(name, set()).add(version)
        return {name: frozenset(versions) for name, versions in found.items()}


def _outcome(line: str, number: int, seen: _Seen) -> Outcome:
    """Read a line. `seen` has those before."""
    try:
        match = _decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise OutcomeError(number, f"not a match record: {error}") from None
    if not FEWEST_PLAYERS <= len(match.players) <= MOST_PLAYERS:
        raise OutcomeError(
            number, f"a match has {FEWEST_PLAYERS} to {MOST_PLAYERS} players, not {len(match.players)}"
        )
    if len(match.ranks) != len(match.players):
        raise OutcomeError(number, f"{len(match.players)} players, but {len(match.ranks)} ranks")
    entrants = tuple(entrant_name(player) for player in match.players)
    _expect_different(entrants, number)
    if match.block is not None and match.rotation is not None:
        place = str(match.block), str(match.rotation)
        if place in seen.places:
            raise OutcomeError(number, f"{is_twice(match.block)} Give each its own file")
        seen.places.add(place)
    if versions := bytes(match.versions):
        seen.lineups.add((entrants, versions))
    return Outcome(
        entrants=entrants,
        ranks=tuple(match.ranks),
        seats=None if match.seats is None else _seats(match, match.seats, number),
        block=None if match.block is None else str(match.block),
        game=match.game or "",
        has_own_deal=bytes(match.deal) == _OWN_DEAL,
    )


def is_twice(block: str | int) -> str:
    """Say that a rotation of a block occurs twice among the lines of a tournament."""
    return f"block {shown(str(block))} is there twice; are these two tournaments?"


def _expect_different(entrants: Sequence[str], line: int) -> None:
    """Refuse a player that plays against itself, which says nothing about its strength."""
    for place, name in enumerate(entrants):
        if name in entrants[:place]:
            raise OutcomeError(line, f"{quoted(name)} plays against itself: give each player its own name")


def ahead(rank: int, other: int) -> float:
    """Return 1 for a rank that is ahead of another one, a half for a tie, otherwise 0."""
    return 1.0 if rank < other else 0.5 if rank == other else 0.0


def scores_of(ranks: Sequence[int]) -> tuple[float, ...]:
    """Return for each rank of a match the share of the others that it is ahead of, a tie counting a half."""
    others = len(ranks) - 1
    return tuple((sum(ahead(rank, other) for other in ranks) - 0.5) / others for rank in ranks)


def entrant_name(player: str | Sequence[str]) -> str:
    """Name a team the same way whatever the order of its members."""
    return player if isinstance(player, str) else " + ".join(sorted(player))


def _seats(match: OutcomeLine, seats: Sequence[int | list[int]], line: int) -> tuple[int, ...]:
    """Return the entrants' places in the order of seats; that of a team is its first seat's."""
    if len(seats) != len(match.players):
        raise OutcomeError(line, f"{len(match.players)} players, but {len(seats)} seats")
    firsts = [min(seat, default=-1) if isinstance(seat, list) else seat for seat in seats]
    places = {first: place for place, first in enumerate(sorted(firsts))}
    if len(places) < len(firsts) or -1 in places:
        raise OutcomeError(line, "each player has a seat of its own")
    return tuple(places[first] for first in firsts)


# -- PGN ---------------------------------------------------------------------------------------------

_HEADER: Final = re.compile(r'\[\s*([A-Za-z0-9_]+)\s+"((?:[^"\\]|\\.)*)"\s*\]\s*')
_ESCAPED: Final = re.compile(r"\\(.)")
_RESULTS: Final = {"1-0": (1, 2), "0-1": (2, 1), "1/2-1/2": (1, 1)}


def _read_pgn(text: str) -> ReadOutcomes:
    outcomes: list[Outcome] = []
    unfinished = 0
    for line, headers in _games(text.removeprefix("\ufeff").split("\n")):
        for name in ("White", "Black", "Result"):
            if not headers.get(name):
                raise OutcomeError(line, f"this game has no header [{name}]")
        result = headers["Result"]
        if result == "*":
            unfinished += 1
        elif result not in _RESULTS:
            raise OutcomeError(line, 'the result is none of "1-0", "0-1", "1/2-1/2" and "*"')
        else:
            players = (headers["White"], headers["Black"])
            _expect_different(players, line)
            outcomes.append(Outcome(players, _RESULTS[result], seats=(0, 1)))
    return ReadOutcomes(tuple(outcomes), unfinished)


def _games(lines: Iterable[str]) -> Iterable[tuple[int, dict[str, str]]]:
    """Yield the headers of each game, with the line of the first one.

    A game ends where headers begin again.
    """
    headers: dict[str, str] = {}
    first = 1
    in_moves = False
    for number, line in enumerate(lines, 1):
        header = _HEADER.fullmatch(line)
        if header is None and not headers and line.strip():
            raise OutcomeError(number, "neither a record of a match nor a header of PGN")
        if header is None:
            in_moves = in_moves or bool(line.strip())
        else:
            name = header[1]
            if headers and (in_moves or name in headers):
                yield first, headers
                headers = {}
            if not headers:
                first = number
            headers[name] = _ESCAPED.sub(r"\1", header[2])
            in_moves = False
    if headers:
        yield first, headers
