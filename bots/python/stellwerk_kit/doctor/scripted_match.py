"""A real match that the doctor plays with one bot: a game of the engine, with the messages of a server.

The bot has one seat. The others make random moves, and everything follows from the seed text and the bot's
moves. To reach rare decisions, a random kind of move is chosen first, and then a move of that kind.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from typing import Final, get_args

import msgspec
from msgspec import UNSET, Raw, Struct

from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import board_content, shipped_board
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.game import make_game
from stellwerk_engine.core.state import NOT_LAST_ROUND, Events, Game, Move, RuleSet
from stellwerk_engine.games.described import parts_on_wire
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import view
from stellwerk_engine.parts.technologies.buy_technology import for_sale
from stellwerk_kit.doctor.answer_clock import AnswerClock
from stellwerk_protocol import decisions
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.messages import (
    Act,
    Ask,
    Clocks,
    Default,
    DefaultReason,
    End,
    EventMessage,
    OfferedGame,
    Ok,
    Player,
    Start,
    Wants,
)
from stellwerk_protocol.names import GameName

TRIES: Final = 3
SCOUTED_GAMES: Final = 12  # more than enough for every kind of decision, and a second at most


def decisions_of(rules: RuleSet) -> tuple[str, ...]:
    """Return the decisions that a bot can be asked in a game, without its options."""
    kinds = ["take_turn", "take_action"] if rules.before_action else ["take_turn"]
    kinds += [_TAGS[decision] for part in rules.parts for decision in part.decisions]
    return tuple(kind for kind in kinds if kind != "pay_tunnel" or "tunnels" in rules.board_features)


_TAGS: Final[dict[type[object], str]] = {
    kind: str(kind.__struct_config__.tag) for kind in get_args(decisions.Decision)
}
DECISIONS: Final = {rules.id: decisions_of(rules) for rules in RULE_SETS.values()}


class ScriptedMatch:
    """The game so far, and the number of events that the bot has got."""

    def __init__(self, game_id: GameName, seat: int, seed: str) -> None:
        self.game = game_of(game_id)
        self.seat = seat
        self.others = tuple(f"house-{number}" for number in range(1, self.game.seat_count))
        self.id = sha256(f"{game_id}/{seed}".encode()).hexdigest()[:16]
        self.wants = Wants()
        self.tries = TRIES
        self.clock = AnswerClock()
        self.ask_number = 0
        self.defaults = 0
        self._events: Events = []
        self._told = 0
        self._chance = random.Random(f"{game_id}/{seed}")
        self.state = engine.new_game(self.game, Dice(seed_from_text(seed)), self._events)

    def copy(self) -> ScriptedMatch:
        """Return a copy; both can continue."""
        twin = ScriptedMatch.__new__(ScriptedMatch)
        twin.__dict__.update(self.__dict__)
        twin._events = self._events[:]
        twin._chance = random.Random()
        twin._chance.setstate(self._chance.getstate())
        twin.state = self.state.copy()
        return twin

    # -- the game

    @property
    def over(self) -> bool:
        return self.state.pending is None

    @property
    def last_round(self) -> bool:
        return self.state.turns_left != NOT_LAST_ROUND

    @property
    def decision(self) -> str:
        """Return the kind of the decision that the bot owes, by its name on the wire."""
        assert self.state.pending is not None
        return _kind(self.state.pending.to_wire(self.state, self.seat, False))

    def others_move(self) -> None:
        """Move for the others until only the bot owes a decision, or the game is over."""
        while others := [seat for seat in engine.owing(self.state) if seat != self.seat]:
            engine.apply(self.state, others[0], self._by_chance(others[0]), self._events)

    def check(self, act: Act) -> Move:
        """Return the bot's move. Raise IllegalMoveError, with a pointer into the act, if it is not legal."""
        if act.move is not UNSET:
            try:
                return engine.check(self.state, self.seat, act.move)
            except IllegalMoveError as error:
                raise IllegalMoveError(error.code, f"/move{error.pointer}", error.expected) from None
        moves = engine.legal(self.state, self.seat)
        if act.index is UNSET or act.index >= len(moves):
            raise IllegalMoveError("game.not_available", "/index", f"an index below {len(moves)}")
        return moves[act.index]

    def play(self, move: Move) -> None:
        """Make a move of the bot."""
        engine.apply(self.state, self.seat, move, self._events)

    def play_by_chance(self) -> None:
        """Make a random move for the bot."""
        self.play(self._by_chance(self.seat))

    def fallback(self) -> Move:
        return engine.fallback(self.state, self.seat)

    def _by_chance(self, seat: int) -> Move:
        moves = engine.legal(self.state, seat)
        kind = self._chance.choice(sorted({_kind(move.wire) for move in moves}))
        return self._chance.choice([move for move in moves if _kind(move.wire) == kind])

    # -- messages about it

    @property
    def last_event(self) -> int:
        """Return the number of the last event that was sent."""
        return self._told

    def start(self, clocks: Clocks, name: str) -> Start:
        names = [*self.others[: self.seat], name, *self.others[self.seat :]]
        return Start(
            match=self.id,
            viewer="seat",
            players=tuple(Player(seat, self.game.team_of[seat], name) for seat, name in enumerate(names)),
            game=self.game.id,
            rules_version=self.game.rules.rules_version,
            options=self.game.options,
            board=_encode_board(self.game),
            board_digest=self.game.board.file.digest,
            clocks=msgspec.structs.replace(clocks, tries=self.tries),
            commitment=sha256(self.id.encode()).hexdigest(),  # never opened: `end` says "later"
            seat=self.seat,
            technologies=for_sale(self.game.rules),
            parts=parts_on_wire(self.game),
        )

    def news(self) -> list[EventMessage]:
        """Return the events that were not sent yet, if the bot wants events."""
        return self.events_after(self._told)

    def events_after(self, number: int) -> list[EventMessage]:
        """Return all events after this one, if the bot wants events."""
        self._told = len(self._events)
        if not self.wants.events:
            return []
        return [
            EventMessage(self.id, number + offset, redact(event, self.game, self.seat))
            for offset, event in enumerate(self._events[number:], start=1)
        ]

    def ask(self, move_ms: int) -> Ask:
        """Return the next ask, about the decision that the bot owes now."""
        self.ask_number += 1
        assert self.state.pending is not None
        legal = engine.legal(self.state, self.seat)
        return Ask(
            match=self.id,
            ask=self.ask_number,
            after_event=self._told,
            decision=self.state.pending.to_wire(self.state, self.seat, False),
            move_ms=move_ms,
            bank_ms=self.clock.bank_ms,
            tries=self.tries,
            fallback=self.fallback().wire,
            view=view(self.state, self.seat) if self.wants.view else UNSET,
            legal=tuple([move.wire for move in legal]) if self.wants.legal else UNSET,
            legal_complete=engine.legal_complete(self.state, self.seat) if self.wants.legal else UNSET,
        )

    def ok(self) -> Ok:
        """End the ask with an act."""
        return Ok(self.id, self.ask_number, took_ms=self.clock.took_ms, bank_ms=self.clock.bank_ms)

    def default(self, reason: DefaultReason) -> Default:
        """End the ask with the fallback, and play it."""
        move = self.fallback()
        self.play(move)
        self.defaults += 1
        return Default(self.id, self.ask_number, reason, move.wire, self.defaults)

    def end(self) -> End:
        assert self.state.result is not None
        transcript = sha256(f"transcript of {self.id}".encode()).hexdigest()
        return End(self.id, self.state.result, transcript, "later")


def at_decision(kind: str, game_id: GameName, seat: int, seed: str) -> ScriptedMatch:
    """Return a match in which the bot owes a decision of this kind."""
    return _scout_decisions(game_id, seat, seed)[kind].copy()


def in_the_last_round(game_id: GameName, seat: int, seed: str) -> ScriptedMatch:
    """Return a match in its last round, in which the bot owes a decision."""
    for number in range(SCOUTED_GAMES):
        for match in _play_to_decisions(game_id, seat, f"{seed}/{number}"):
            if match.last_round:
                return match
    raise RuntimeError(f"no random game of {game_id} reached its last round")


def offered_games() -> tuple[OfferedGame, ...]:
    """Return the games for `welcome`."""
    return tuple(
        OfferedGame(
            game=rules.id,
            title=rules.title,
            rules_version=rules.rules_version,
            board=rules.board,
            board_digest=shipped_board(rules.board).digest,
            players=rules.seat_counts,
            options=tuple(option.id for option in rules.options),
        )
        for rules in RULE_SETS.values()
    )


@lru_cache(maxsize=8)
def _scout_decisions(game_id: GameName, seat: int, seed: str) -> dict[str, ScriptedMatch]:
    scouted: dict[str, ScriptedMatch] = {}
    for number in range(SCOUTED_GAMES):
        for match in _play_to_decisions(game_id, seat, f"{seed}/{number}"):
            if match.decision not in scouted:
                scouted[match.decision] = match.copy()
                if len(scouted) == len(DECISIONS[game_id]):
                    return scouted
    missing = ", ".join(kind for kind in DECISIONS[game_id] if kind not in scouted)
    raise RuntimeError(f"no random game of {game_id} reached {missing}")


@lru_cache(maxsize=8)
def game_of(game_id: GameName) -> Game:
    """Return the game with the smallest number of players, without options."""
    rules = RULE_SETS[game_id]
    return make_game(rules, shipped_board(rules.board), min(rules.seat_counts))


@lru_cache(maxsize=8)
def _encode_board(game: Game) -> Raw:
    """Encode the board once for all matches: it is most of a `start`."""
    return Raw(json.dumps(board_content(game.board.file), separators=(",", ":"), ensure_ascii=False).encode())


def _play_to_decisions(game_id: GameName, seat: int, seed: str) -> Iterator[ScriptedMatch]:
    """Yield a random game at each moment when the bot would owe a decision. It is always the same match,
    which continues."""
    match = ScriptedMatch(game_id, seat, seed)
    match.others_move()
    while not match.over:
        yield match
        match.play_by_chance()
        match.others_move()


def _kind(message: Struct) -> str:
    return str(message.__struct_config__.tag)
