"""A recorded match, replayed to a bot in one of its seats.

The law: the bot gets what a server would have sent to that seat: the same events, and an ask for each of its
decisions. The recorded moves are made, even if the bot answers otherwise. If the bot answers differently, it
gets the same message as after a late answer: a default with the recorded move. An answer that is not legal is
a failure; a different one is not.

From one of its decisions on, the bot can play for itself: then its own moves count, others play the other
seats, and cards and tickets come in the order of the seed.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from msgspec import UNSET, Struct, UnsetType

from stellwerk_engine import engine
from stellwerk_engine.core.dice import Dice
from stellwerk_engine.core.state import Events, Game, Move, Seat, State
from stellwerk_engine.replays.reader import read_replay
from stellwerk_engine.replays.verify import game_of, verify
from stellwerk_kit.doctor.conversation import say_goodbye, take_seat
from stellwerk_kit.doctor.patient import Patient, stale
from stellwerk_kit.doctor.scripted_match import ScriptedMatch
from stellwerk_kit.failed import FailedError
from stellwerk_protocol import moves
from stellwerk_protocol.messages import Default
from stellwerk_protocol.replays import Header, MoveMade, Reveal
from stellwerk_protocol.results import Result


class RecordingError(Exception):
    """A replay that is not good, with the line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


class OthersFailedError(Exception):
    """A failure of the player of another seat, which says nothing about the bot."""

    def __init__(self, seat: Seat, error: FailedError) -> None:
        super().__init__(f"the bot in seat {seat} failed: {error}")


@dataclass(frozen=True, slots=True)
class Recording:
    """A good, complete replay."""

    header: Header
    game: Game
    seed: bytes
    moves: tuple[MoveMade, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(
            f"seat-{seat}" if player.name is UNSET else player.name
            for seat, player in enumerate(self.header.seats)
        )

    def decisions(self, seat: Seat) -> int:
        """Return the number of the seat's decisions."""
        return sum(move.seat == seat for move in self.moves)


class Compared(Struct, frozen=True, omit_defaults=True):
    """A decision of the bot, counted from 1. `made` is the bot's move, if it differs from the recorded one or
    if none is recorded."""

    ask: int
    decision: str
    recorded: moves.Move | UnsetType = UNSET
    by_fallback: bool = False  # the recorded seat did not move itself
    made: moves.Move | UnsetType = UNSET

    @property
    def differs(self) -> bool:
        return self.recorded is not UNSET and self.made is not UNSET


def read_recording(lines: Iterable[bytes]) -> Recording:
    """Read a replay. Raise RecordingError if it cannot be played again to its end."""
    kept = list(lines)
    verdict = verify(kept)
    if not verdict.good:
        raise RecordingError(verdict.line, verdict.message)
    records = list(read_replay(kept))
    [header] = [record for record in records if isinstance(record, Header)]
    [reveal] = [record for record in records if isinstance(record, Reveal)]
    played = tuple(record for record in records if isinstance(record, MoveMade))
    return Recording(header, game_of(header), bytes.fromhex(reveal.seed), played)


def tell_replay(recording: Recording, seat: Seat, bot: Patient) -> Iterator[Compared]:
    """Play the complete recording to the bot. Raise FailedError if the bot breaks the protocol."""
    table = Table(recording)
    match = table.match(seat)
    take_seat(bot, match)
    yield from _replay_moves(table, recording.moves, match, bot)
    _end_match(bot, match)


def play_on(
    recording: Recording, seat: Seat, bot: Patient, since: int, others: Mapping[Seat, Patient]
) -> Iterator[Compared | Result]:
    """Play the recording up to the bot's decision number `since`. From there on the bot plays for itself, and
    so do the `others`, one for each other seat. The result comes last. Raise OthersFailedError if one of them
    fails."""
    table = Table(recording)
    match = table.match(seat)
    seated = {
        seat: (bot, match),
        **{other: (patient, table.match(other)) for other, patient in others.items()},
    }
    take_seat(bot, match)
    for other, patient in others.items():
        with _blamed_on(other):
            take_seat(patient, seated[other][1])
    decisions = [number for number, move in enumerate(recording.moves) if move.seat == seat]
    yield from _replay_moves(table, recording.moves[: decisions[since - 1]], match, bot)
    while owing := engine.owing(table.state):
        for mover in owing:
            patient, own = seated[mover]
            if mover == seat:
                yield _move_for_itself(table, own, patient)
            else:
                with _blamed_on(mover):
                    _move_for_itself(table, own, patient)
    _end_match(bot, match)
    assert table.state.result is not None
    yield table.state.result


class Table:
    """The game, which all seats share."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.events: Events = []
        self.state: State = engine.new_game(recording.game, Dice(recording.seed), self.events)

    def match(self, seat: Seat) -> ScriptedMatch:
        return _SeatAt(self, seat)

    def play(self, seat: Seat, move: Move) -> None:
        engine.apply(self.state, seat, move, self.events)


class _SeatAt(ScriptedMatch):
    """The messages to one seat. The game itself is at the table."""

    def __init__(self, table: Table, seat: Seat) -> None:
        header, names = table.recording.header, table.recording.names
        super().__init__(table.recording.game.id, seat, "another game, which is never sent")
        self.game = table.recording.game
        self.others = names[:seat] + names[seat + 1 :]
        self.id = "recorded" if header.match is UNSET else header.match
        self.state = table.state
        self._events = table.events


def _replay_moves(
    table: Table, played: Iterable[MoveMade], match: ScriptedMatch, bot: Patient
) -> Iterator[Compared]:
    """Make these moves, as recorded, and ask the bot at those of its seat."""
    for record in played:
        recorded = engine.check(table.state, record.seat, record.move)
        if record.seat != match.seat:
            table.play(record.seat, recorded)
            continue
        decision = match.decision
        bot.say(*match.news(), match.ask(bot.patience.move_ms))
        chosen = bot.hear_act(match)
        checked = engine.check(
            table.state, record.seat, chosen.wire
        )  # with its tickets in the order of a replay
        table.play(record.seat, recorded)
        differs = checked.wire != recorded.wire
        if differs:
            match.defaults += 1
            default = Default(match.id, match.ask_number, "time", recorded.wire, match.defaults)
            bot.say(default, stale(match.id, match.ask_number), *match.news())
        else:
            bot.say(match.ok(), *match.news())
        yield Compared(
            ask=match.ask_number,
            decision=decision,
            recorded=recorded.wire,
            by_fallback=record.by is not UNSET,
            made=checked.wire if differs else UNSET,
        )


def _move_for_itself(table: Table, match: ScriptedMatch, bot: Patient) -> Compared:
    decision = match.decision
    bot.say(*match.news(), match.ask(bot.patience.move_ms))
    move = bot.hear_act(match)
    table.play(match.seat, move)
    bot.say(match.ok(), *match.news())
    return Compared(ask=match.ask_number, decision=decision, made=move.wire)


def _end_match(bot: Patient, match: ScriptedMatch) -> None:
    """Send the end, too. The doctor checks how the bot reacts."""
    bot.say(*match.news())
    say_goodbye(bot, match)
    bot.exits()


@contextmanager
def _blamed_on(seat: Seat) -> Generator[None]:
    try:
        yield
    except FailedError as error:
        raise OthersFailedError(seat, error) from None
