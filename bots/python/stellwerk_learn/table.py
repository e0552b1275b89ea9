"""A game between seats that answer in stages: what both environments play on.

Law: the engine is the only judge, and a seat sees its view, its own stages, and its listed moves. What it
sees does not depend on whether others have already answered a decision that several owe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.game import GameError
from stellwerk_engine.core.state import Events, Game, Move, Seat, State
from stellwerk_engine.core.words import Words
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.imagine import Imagination
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_engine.replays.writer import ReplayWriter, header_of
from stellwerk_learn.actions import ActionMap, action_map
from stellwerk_learn.observations import Layout, Vector, layout
from stellwerk_learn.stages import Stages
from stellwerk_protocol.views import View

Mask = NDArray[np.int8]
Observation = dict[str, Any]  # Any: arrays of two types, as Gymnasium types its dicts
Info = dict[str, Any]  # Any: as Gymnasium types it

_encode: Final = msgspec.json.Encoder().encode


@dataclass(slots=True)
class _Asked:
    """The open answer of a seat: the moves to choose from, and the stages so far."""

    moves: list[Move]
    stages: Stages


class Table:
    """One game at a time. `deal` begins it, `choose` goes one stage on."""

    def __init__(self, game: Game, *, tells: bool = False) -> None:
        """Prepare a table. With `tells`, `text` says what everybody sees."""
        self.game = game
        self.actions: ActionMap = action_map(game)
        self.layout: Layout = layout(game)
        self.story: list[str] = []
        self.made: list[tuple[Seat, Move]] = []
        self._words = Words(game.board) if tells else None
        self._seed = b""
        self._asked: dict[Seat, _Asked] = {}
        self._views: dict[Seat, View] = {}
        self._masks: dict[Seat, Mask] = {}
        self.state: State

    def deal(self, seed: bytes) -> None:
        events = self._events()
        self._seed = seed
        self.made = []
        self.story = []
        self.set_state(engine.new_game(self.game, Dice(seed), events))
        self._tell(events)

    def set_state(self, state: State) -> None:
        """Continue from a state, such as one of `imagine`. It has no replay."""
        self.state = state
        self._asked = {}
        self._views = {}
        self._masks = {}

    @property
    def owing(self) -> tuple[Seat, ...]:
        """The seats that owe an answer, in their order; none when the game is over."""
        return engine.owing(self.state)

    def choose(self, seat: Seat, number: int) -> Move | None:
        """Go one stage on with the seat's answer, and return the move if it is made. IllegalActionError
        for an integer that the mask does not allow."""
        asked = self._asked_of(seat)
        index = asked.stages.choose(number)
        self._masks.pop(seat, None)
        if index is None:
            return None
        move = asked.moves[index]
        self.make(seat, move)
        return move

    def make(self, seat: Seat, move: Move) -> None:
        """Make a move of `listed`, at any stage of the seat."""
        events = self._events()
        engine.apply(self.state, seat, move, events)
        self.made.append((seat, move))
        self._asked.pop(seat, None)
        self._masks.pop(seat, None)
        # Otherwise others still owe the same decision, and no seat sees a difference.
        if not any(self.state.choices):
            self._asked = {}
            self._views = {}
            self._masks = {}
        self._tell(events)

    def listed(self, seat: Seat) -> list[Move]:
        return self._asked_of(seat).moves

    # -- what a seat sees ----------------------------------------------------------------------------

    def view(self, seat: Seat) -> View:
        seen = self._views.get(seat)
        if seen is None:
            seen = self._views[seat] = view(self.state, seat)
        return seen

    def mask(self, seat: Seat) -> Mask:
        """Return a 1 for each integer that the seat may choose: none while only others owe an answer, all at
        the end of the game, where no choice counts and samplers refuse an empty mask."""
        mask = self._masks.get(seat)
        if mask is None:
            owing = self.owing
            mask = self._masks[seat] = np.full(len(self.actions), not owing, np.int8)
            if seat in owing:
                mask[list(self._asked_of(seat).stages.choices)] = 1
        return mask.copy()  # trainers keep what they are given, and may change it

    def observe(self, seat: Seat) -> Observation:
        return {"observation": self.vector(seat), "action_mask": self.mask(seat)}

    def vector(self, seat: Seat) -> Vector:
        chosen = self._asked_of(seat).stages.chosen if seat in self.owing else ()
        return self.layout.vector(self.view(seat), chosen)

    def info(self, seat: Seat, *, has_view: bool) -> Info:
        """Return the mask once more, and if it was asked for, the view as it is on the wire."""
        info: Info = {"action_mask": self.mask(seat)}
        if has_view:
            info["view"] = _encode(self.view(seat)).decode()
        return info

    def imagine(self, seat: Seat, count: int, seed: int) -> list[State]:
        """Return states that the seat cannot tell from the real one: all that it does not know is dealt
        again."""
        imagination = Imagination(self.game, self.view(seat))
        return [imagination.deal(Dice(game_seed(seed + number))) for number in range(count)]

    # -- what happened -------------------------------------------------------------------------------

    def replay(self) -> bytes:
        """Return the replay of the game so far, with its end if it is over."""
        events: Events = []
        writer = ReplayWriter()
        state = engine.new_game(self.game, Dice(self._seed), events)
        lines = [writer.header(header_of(self.game)), writer.reveal(self._seed), writer.set_up(events)]
        for seat, move in self.made:
            events = []
            made = engine.play(state, seat, move.wire, events)
            lines.append(writer.move(state, seat, made, events))
        if state.result is not None:
            lines.append(writer.end(state.result))
        return b"".join(lines)

    def render(self, mode: str | None) -> str | None:
        """Return what everybody saw since the last call, for people, and the standing. Print it in the mode
        "human"; do nothing without a mode."""
        if mode is None:
            return None
        state = self.state
        story, self.story = self.story, []
        standing = ", ".join(f"seat {seat} {points}" for seat, points in enumerate(state.points))
        if state.result is not None:
            standing = "the game is over: " + ", ".join(
                f"{' + '.join(f'seat {seat}' for seat in team.seats)} {team.points}"
                for team in state.result.teams
            )
        text = "\n".join([*story, f"turn {state.turn}, points: {standing}"])
        if mode != "human":
            return text
        print(text)
        return None

    def _events(self) -> Events | None:
        return None if self._words is None else []

    def _tell(self, events: Events | None) -> None:
        """Note what everybody may know of the events of parts, in the words of the parts."""
        if events is None or self._words is None:
            return
        for event in events:
            owner = self.game.owners.get(type(event))
            if owner is not None:
                sentence = owner.sentence(redact(event, self.game, PUBLIC), self._words)
                seat = getattr(event, "seat", UNSET)
                self.story.append(sentence if seat is UNSET else f"seat {seat} {sentence}")

    def _asked_of(self, seat: Seat) -> _Asked:
        asked = self._asked.get(seat)
        if asked is None:
            moves = engine.legal(self.state, seat)
            asked = self._asked[seat] = _Asked(moves, Stages(self.actions.paths(moves)))
        return asked


def game_named(game: str | Game, players: int | None, options: Sequence[str]) -> Game:
    """Return a shipped game on its own board, for as few players as it allows unless told otherwise; or the
    game itself, with its board, players and options. ValueError for one that there is not."""
    if isinstance(game, Game):
        if players not in (None, game.seat_count) or options:
            raise ValueError("players, options: the game that was given has its own")
        return game
    rules = RULE_SETS.get(game)
    if rules is None:
        raise ValueError(f"game: expected one of {', '.join(RULE_SETS)}, found {game!r:.60}")
    count = rules.seat_counts[0] if players is None else players
    try:
        return GameChoice(game, count, tuple(options), shipped_board(rules.board)).make()
    except GameError as error:
        raise ValueError(str(error)) from None


def game_seed(number: int) -> bytes:
    """Return the seed of a game for the number of a `reset`: that of the text, as commands read it."""
    return seed_from_text(str(number))
