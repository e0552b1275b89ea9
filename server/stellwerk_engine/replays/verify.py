"""Whether a replay is true: the game is played again, and every line compared with what it must be.

Law: a replay is good if and only if the header, the seed and the moves give exactly its lines, byte for byte.
The verdict names the first line that differs. "Unknown" is a third verdict beside "good" and "forged": this
version cannot judge other rules, another format or a board that it does not have. For other rules, the chain
of hashes is still checked to the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import assert_never

from msgspec import UNSET, Struct

from stellwerk_base.texts import shown
from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import SHIPPED, BoardError, BoardFile, parse_board, shipped_board
from stellwerk_engine.core.game import GameError, make_game
from stellwerk_engine.core.state import Events, Game, RuleSet, State
from stellwerk_engine.games.described import rules_named
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.replays.executor import Executor
from stellwerk_engine.replays.reader import Fault, ReplayError, SoundLine, read_bodies, read_sound_lines
from stellwerk_protocol.canonical import JsonValue, decode, difference, encode
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.replays import (
    BoardReference,
    End,
    Header,
    Line,
    MoveMade,
    Reveal,
    SetUp,
    commitment,
)
from stellwerk_protocol.results import Result


@dataclass(frozen=True, slots=True)
class ReplayVerdict:
    """`fault` is None for a good replay. `line` is the first one that is wrong, or the last one. The `events`
    of a good replay are all that happened, with everything hidden."""

    fault: Fault | None
    line: int
    message: str
    header: Header | None = None
    result: Result | None = None
    events: Events = field(default_factory=Events, repr=False)

    @property
    def good(self) -> bool:
        return self.fault is None


def verify(lines: Iterable[bytes]) -> ReplayVerdict:
    """Read a replay, play its game again, and compare. Raises nothing but what reading `lines` raises."""
    header: Header | None = None
    try:
        bodies = read_bodies(lines)
        sound_lines = read_sound_lines(bodies)
        first = next(sound_lines).record
        assert isinstance(first, Header)  # the reader lets nothing else pass
        header = first
        _expect_known_rules(header, bodies)
        return _play_again(header, game_of(header), sound_lines)
    except ReplayError as error:
        return ReplayVerdict(error.fault, error.line, error.message, header)


def game_of(header: Header) -> Game:
    """Return the game that a header speaks of, by the rules that are known here, whatever version it names.
    ReplayError if there is none."""
    rules = _rules_of(header)
    try:
        game = make_game(rules, _board_of(header.board), len(header.seats), header.options)
    except GameError as error:
        raise ReplayError("differs", 1, shown(str(error), 200)) from None
    except BoardError as error:
        place = f"board: {error.field}" if error.field else "board"
        raise ReplayError("differs", 1, f"{place}: {shown(error.message, 200)}") from None
    _compare(1, list(game.options), list(header.options), "options")
    return game


# -- the header --------------------------------------------------------------------------------------


def _rules_of(header: Header) -> RuleSet:
    if header.game not in RULE_SETS and header.parts is UNSET:
        known = ", ".join(RULE_SETS)
        raise ReplayError(
            "foreign_rules", 1, f"the game {shown(header.game)} is not known here; known are {known}"
        )
    try:
        return rules_named(header.game, header.rules_version, len(header.seats), header.options, header.parts)
    except GameError as error:
        raise ReplayError("differs", 1, shown(str(error), 200)) from None


def _expect_known_rules(header: Header, rest: Iterable[bytes]) -> None:
    """Read a replay of other rules to its end, to see whether at least its chain holds."""
    rules = _rules_of(header)
    if header.rules_version == rules.rules_version:
        return
    line_count = 1 + sum(1 for _ in rest)
    raise ReplayError(
        "foreign_rules",
        1,
        f"played by version {header.rules_version} of the rules of {rules.id}, and this is version "
        f"{rules.rules_version}: the moves cannot be checked (the hashes of all {line_count} lines hold)",
    )


def _board_of(reference: BoardReference) -> BoardFile:
    """Return the board of a replay. Raises BoardError if a board in the replay cannot be used."""
    if reference.content is UNSET:
        return _shipped_board(reference)
    board = parse_board(reference.content, "board")
    _compare(1, board.id, reference.id, "board.id")
    _compare(1, board.digest, reference.digest, "board.digest")
    if sha256(reference.content.encode()).hexdigest() != board.digest:
        raise ReplayError("differs", 1, "board.content: expected the canonical JSON of the board")
    return board


def _shipped_board(reference: BoardReference) -> BoardFile:
    if reference.id not in SHIPPED:
        raise ReplayError(
            "foreign_board",
            1,
            f"the board {shown(reference.id)} is neither part of this version nor in the replay",
        )
    board = shipped_board(reference.id)
    if board.digest != reference.digest:
        raise ReplayError(
            "foreign_board",
            1,
            f"played on another edition of the board {board.id} (digest {reference.digest[:16]}...; "
            f"here {board.digest[:16]}...), and the replay does not hold it",
        )
    return board


# -- the game ----------------------------------------------------------------------------------------


def _play_again(header: Header, game: Game, sound_lines: Iterator[SoundLine]) -> ReplayVerdict:
    line, reveal, rest = _find_seed(sound_lines)
    if header.commitment is not UNSET and commitment(header, reveal) != header.commitment:
        raise ReplayError(
            "differs", line.number, "this seed is not the one that the header's commitment was made of"
        )
    executor = Executor(game, bytes.fromhex(reveal.seed))
    state = executor.state
    for line in rest:
        match line.record:
            case SetUp():
                _compare_line(line, SetUp(tuple(executor.events)))
            case MoveMade():
                _compare_line(line, _move_again(executor, line.number, line.record))
            case End():
                if state.result is None:
                    raise ReplayError("differs", line.number, f"{_next_move(state)}, found the end")
                _compare_line(line, End(state.result))
            case Header() | Reveal():
                pass  # each of them comes once, and has been looked at
            case _:
                assert_never(line.record)
    assert state.result is not None  # the reader lets nothing pass that has no end
    message = summary(header, state.result)
    return ReplayVerdict(None, line.number, message, header, state.result, executor.events)


def _find_seed(lines: Iterator[SoundLine]) -> tuple[SoundLine, Reveal, Iterable[SoundLine]]:
    """Return the line of the seed, the seed, and the other lines, which are kept if the seed comes last."""
    second = next(lines)
    if isinstance(second.record, Reveal):
        return second, second.record, lines
    kept = [second, *lines]
    last = kept[-1]
    if not isinstance(last.record, Reveal):
        message = "the seed has not been revealed, so the game cannot be dealt again (all hashes hold)"
        raise ReplayError("unrevealed", last.number, message)
    return last, last.record, kept


def _move_again(executor: Executor, number: int, record: MoveMade) -> MoveMade:
    """Make the move, and return what its line must be."""
    state = executor.state
    if state.pending is None:
        raise ReplayError("differs", number, "expected the end, because the game is over, found a move")
    seat = engine.owing(state)[0]
    _compare(number, seat, record.seat, "seat")
    if record.by is not UNSET:
        _compare(number, engine.fallback(state, seat).wire, record.move, "move", "not the fallback: ")
    try:
        move_made = executor.make(seat, record.move)
    except IllegalMoveError as error:
        raise ReplayError("differs", number, f"move: {shown(str(error), 200)}") from None
    return MoveMade(
        seat=seat,
        move=move_made.move.wire,
        events=tuple(move_made.events),
        by=record.by,
        reason=record.reason if record.by is not UNSET else UNSET,
        note=record.note,
    )


def _next_move(state: State) -> str:
    seats = engine.owing(state)
    return f"expected a move of seat {seats[0]}"


def summary(header: Header, result: Result) -> str:
    """Return a line such as `usa, 2 players, 144 turns`."""
    options = f" with {', '.join(header.options)}" if header.options else ""
    return f"{header.game}{options}, {len(header.seats)} players, {result.turns} turns"


def _compare_line(line: SoundLine, expected: Line) -> None:
    """Compare the bytes: equal structs can have different texts, such as with `"cards":{}` and without."""
    text = encode(expected)
    if text != line.body:
        raise ReplayError("differs", line.number, str(difference(decode(text), decode(line.body))))


def _compare(
    number: int, expected: Struct | JsonValue, found: Struct | JsonValue, place: str = "", why: str = ""
) -> None:
    if expected != found:
        differs = difference(decode(encode(expected)), decode(encode(found)), place)
        raise ReplayError("differs", number, f"{why}{differs}")
