"""Turns: whose it is, what it offers, and when the last one has been played (GEN-01, GEN-05, GEN-06,
GEN-08)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from stellwerk_base.texts import counted
from stellwerk_engine.core.scoring import score_game
from stellwerk_engine.core.state import NOT_LAST_ROUND, Action, Events, Move, Seat, State
from stellwerk_protocol import decisions as wire_decisions
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves as wire_moves
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.names import EndReason

IDLE_ROUNDS: Final = 10  # turns a player without progress after which the game ends (GEN-06)


class Pass(Move):
    __slots__ = ()

    def to_wire(self) -> wire_moves.Pass:
        return wire_moves.Pass()

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        if events is not None:
            events.append(ev.Passed(seat))
        end_turn(state, seat, events, passed=True)


PASS: Final = Pass()


class TakeTurn:
    """One action of the menu, or, only if there is none, a pass; and `before` it everything that the rules
    allow there (UK-09), as long as nothing of that was done: then the turn is whole."""

    __slots__ = ("before", "seats", "wire")

    def __init__(self, seat: Seat, before: tuple[Action, ...], is_whole: bool = True) -> None:
        self.seats = (seat,)
        self.before = before
        self.wire: wire_decisions.Decision = (
            wire_decisions.TakeTurn(self.seats) if is_whole else wire_decisions.TakeAction(self.seats)
        )

    def legal(self, state: State, seat: Seat) -> list[Move]:
        moves: list[Move] = []
        for action in state.game.rules.menu:
            action.add_legal(state, seat, moves)
        if not moves:
            moves.append(PASS)
        for action in self.before:
            action.add_legal(state, seat, moves)
        return moves

    def legal_complete(self, state: State, seat: Seat) -> bool:
        for action in (*state.game.rules.menu, *self.before):  # noqa: SIM110  a generator costs a µs an ask
            if not action.legal_complete(state, seat):
                return False
        return True

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move:
        if isinstance(wire, wire_moves.Pass):
            if self.legal(state, seat)[0] is not PASS:
                raise IllegalMoveError("game.not_available", "/type", "an action, for there is a legal one")
            return PASS
        for action in (*state.game.rules.menu, *self.before):
            move = action.check(state, seat, wire)
            if move is not None:
                return move
        raise IllegalMoveError("game.wrong_move", "/type", "an action of this turn")

    def fallback(self, state: State, seat: Seat) -> Move:
        """Return the first of the menu that offers one; never a purchase."""
        for action in state.game.rules.menu:
            move = action.fallback(state, seat)
            if move is not None:
                return move
        return PASS

    def to_wire(self, state: State, viewer_seat: Seat, sees_all: bool) -> wire_decisions.Decision:
        return self.wire


def start_first_turn(state: State, seat: Seat, events: Events | None) -> None:
    """Start the turn of seat 0, no matter which seat answered last (GEN-01)."""
    start_turn(state, 0, events)


def start_turn(state: State, seat: Seat, events: Events | None) -> None:
    state.turn += 1
    state.pending = state.game.take_turn[seat]
    if events is not None:
        if state.turns_left == NOT_LAST_ROUND:
            events.append(ev.TurnStarted(seat, state.turn, state.passes))
        else:
            events.append(ev.TurnStarted(seat, state.turn, state.passes, state.turns_left))
    for phase in state.game.rules.start_of_turn:
        phase(state, seat, events)


def end_turn(state: State, seat: Seat, events: Events | None, passed: bool = False) -> None:
    """Look at the triggers, and hand the turn on or end the game."""
    game = state.game
    state.passes = state.passes + 1 if passed else 0
    if state.turns_left > 0:
        state.turns_left -= 1
    if state.passes == game.seat_count:  # looked at first: unlike a last round it leaves no second half
        end_game(state, "all_passed", events)
    elif state.turns_left == 0:
        end_game(state, game.rules.last_round.reason, events)
    elif state.turn - state.progress_turn >= IDLE_ROUNDS * game.seat_count:
        end_game(state, "idle", events)
    else:
        if state.turns_left == NOT_LAST_ROUND and game.rules.last_round.is_due(state, seat):
            begin_last_round(state, events)
        start_turn(state, (seat + 1) % game.seat_count, events)


def begin_last_round(state: State, events: Events | None) -> None:
    state.turns_left = state.game.seat_count
    if events is not None:
        events.append(ev.LastRound(state.turns_left))


@dataclass(frozen=True, slots=True)
class FewTrains:
    """The last round begins when the team that moved has at most so many trains left (USA-14, ASIA-18)."""

    trains: int
    reason: EndReason = "trains"

    def is_due(self, state: State, seat: Seat) -> bool:
        if state.trains[seat] > self.trains:
            return False
        team = state.game.seats_of_team[state.game.team_of[seat]]
        return sum([state.trains[partner] for partner in team]) <= self.trains

    def rule(self) -> str:
        return f"the player or team that moved has {counted(self.trains, 'train')} left or fewer"


@dataclass(frozen=True, slots=True)
class EmptyPile:
    """The last round begins when the pile of train cards is empty (CARD-12)."""

    reason: EndReason = "pile"

    def is_due(self, state: State, seat: Seat) -> bool:
        return not state.pile

    def rule(self) -> str:
        return "the pile of train cards is empty"


def end_game(state: State, reason: EndReason, events: Events | None) -> None:
    """Score the game, after asking what the rules want to be asked before."""
    state.end_reason = reason
    if events is not None:
        if state.turns_left == NOT_LAST_ROUND:
            events.append(ev.TurnsEnded(reason, state.passes))
        else:
            events.append(ev.TurnsEnded(reason, state.passes, state.turns_left))
    for part in state.game.parts:
        if part.asks_before_scoring(state, reason, events):
            return
    score_game(state, reason, events)
