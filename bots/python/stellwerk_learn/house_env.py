"""A game as an environment of Gymnasium: one seat learns, bots sit in the others.

Law: a bot gets the `start` and the asks that it would get from a server, byte for byte, so any bot that plays
over TCP can sit here. Bots answer at once, so the learner is asked whenever it owes an answer and nobody else
does, or all others have answered the same decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final, cast

import gymnasium
import msgspec
import numpy as np
from numpy.typing import NDArray

from stellwerk_bots.bot import Answer, NewPlayer, Player, maker_of
from stellwerk_bots.players import NAMES, new_player
from stellwerk_engine import engine
from stellwerk_engine.core.state import Game, Move, Seat, State
from stellwerk_learn.aec_env import RENDER_MODES, action_space, expect_render_mode, observation_space
from stellwerk_learn.rewards import LOST, Reward, expect_reward, reward_of
from stellwerk_learn.stages import IllegalActionError
from stellwerk_learn.table import Info, Observation, Table, game_named, game_seed
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.messages import Act
from stellwerk_server.match.ask_here import NO_CLOCKS, ask_here
from stellwerk_server.match.audience import start_line
from stellwerk_server.match.plan import MatchPlan

Bot = str | NewPlayer | Player
"""The name of a built-in bot, what makes players, or a player that plays all matches."""

_decode: Final = msgspec.json.Decoder().decode  # to Any: a message, as clients read it


class HouseEnv(gymnasium.Env[Observation, np.int64]):
    """A game with one agent and bots in the other seats.

    `opponents` is the name of a built-in bot, what makes players, or a player, for all other seats, or one of
    these for each of them in the order of the turns; a partner is one of them. `seat` is the agent's, or None
    for another one each time. `reward` is "rank", "margin" or "points". An integer that the mask does not
    allow ends the episode with the reward -1, or raises IllegalActionError with `on_illegal="raise"`. With
    `view`, each info has the view as JSON text.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012  as Gymnasium has it

    def __init__(
        self,
        game: str | Game = "usa",
        *,
        opponents: Bot | Sequence[Bot] = "random",
        players: int | None = None,
        options: Sequence[str] = (),
        seat: Seat | None = None,
        reward: str = "rank",
        on_illegal: str = "end",
        view: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """ValueError for a game, a bot, a number of players or anything else that there is not."""
        self.render_mode = expect_render_mode(render_mode)
        # Casts: type checkers hold that a sequence could be a player.
        is_list = isinstance(opponents, Sequence) and not isinstance(opponents, str)
        bots = list(cast("Sequence[Bot]", opponents)) if is_list else []
        if is_list and players is None:
            players = len(bots) + 1
        self.table = Table(game_named(game, players, options), tells=render_mode is not None)
        self._seat_count = self.table.game.seat_count
        if not is_list:
            bots = [cast("Bot", opponents)] * (self._seat_count - 1)
        if len(bots) != self._seat_count - 1:
            raise ValueError(f"opponents: expected {self._seat_count - 1}, found {len(bots)}")
        if seat is not None and not 0 <= seat < self._seat_count:
            raise ValueError(f"seat: expected one below {self._seat_count}, found {seat}")
        if on_illegal not in ("end", "raise"):
            raise ValueError(f'on_illegal: expected "end" or "raise", found {on_illegal!r:.60}')
        self._new_players = [_new_player(each) for each in bots]
        self._fixed_seat = seat
        self._reward: Reward = expect_reward(reward)
        self._raises = on_illegal == "raise"
        self._has_view = view
        self._bots: dict[Seat, _SeatedBot] = {}
        self.seat: Seat = 0 if seat is None else seat
        self.observation_space = observation_space(self.table)
        self.action_space = action_space(self.table)

    # Of Gymnasium; Any: as it types them.

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Deal a game. A seed fixes the deal, the agent's seat and the bots' chance, and those of all
        later resets without one."""
        super().reset(seed=seed)
        self.seat = (
            int(self.np_random.integers(self._seat_count)) if self._fixed_seat is None else self._fixed_seat
        )
        own = self.seat
        number = int(self.np_random.integers(2**63)) if seed is None else seed
        self.table.deal(game_seed(number))
        seats = [(own + place) % self._seat_count for place in range(1, self._seat_count)]
        plan = MatchPlan(
            match=sha256(b"stellwerk/learn/match/1\n%d" % number).hexdigest()[:18],
            game=self.table.game,
            names=tuple(f"seat-{place}" for place in range(self._seat_count)),
            seed=b"",  # secret
            salt=b"",
            clocks=NO_CLOCKS,
        )
        self._bots = {
            place: _SeatedBot(self.table, plan, place, make, f"{number}/{place}")
            for place, make in zip(seats, self._new_players, strict=True)
        }
        self._let_bots_play()
        return self._seen()

    def step(self, action: int | np.int64) -> tuple[Observation, float, bool, bool, Info]:
        """Go one stage on with the agent's answer; once its move is made, let the bots answer."""
        if not self.table.owing:
            raise RuntimeError("the episode is over: call reset() first")
        try:
            move = self.table.choose(self.seat, int(action))
        except IllegalActionError as error:
            if self._raises:
                raise
            observation, info = self._seen()
            return observation, LOST, True, False, {**info, "illegal": str(error)}
        if move is not None:
            self._let_bots_play()
        result = self.table.state.result
        reward = 0.0 if result is None else reward_of(self._reward, result, self.seat)
        if self.render_mode == "human":
            self.render()
        observation, info = self._seen()
        return observation, reward, result is not None, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask where MaskablePPO of sb3-contrib looks for it."""
        return self.table.mask(self.seat).astype(np.bool_)

    def imagine(self, count: int) -> list[State]:
        """Return so many states that the agent cannot tell from the real one, for a search. Another
        `Table` plays on from one (`set_state`); this environment does not change."""
        return self.table.imagine(self.seat, count, int(self.np_random.integers(2**63 - count)))

    def render(self) -> str | None:
        """Return what everybody saw since the last call, in words; with "human", print it."""
        return self.table.render(self.render_mode)

    def _seen(self) -> tuple[Observation, Info]:
        return self.table.observe(self.seat), self.table.info(self.seat, has_view=self._has_view)

    def _let_bots_play(self) -> None:
        """Let bots answer until only the agent owes an answer, or the game is over."""
        while bots := [seat for seat in self.table.owing if seat != self.seat]:
            for seat in bots:
                self._bots[seat].answer()


class _SeatedBot:
    """A bot in its seat."""

    def __init__(self, table: Table, plan: MatchPlan, seat: Seat, make: NewPlayer, seed_text: str) -> None:
        self._table = table
        self._match = plan.match
        self._seat = seat
        self._asks = 0
        start = start_line(plan, sha256(plan.match.encode()).hexdigest(), seat)
        self._player: Player = make(_decode(start), sha256(seed_text.encode()).hexdigest())

    def answer(self) -> None:
        """Ask the bot, and make its move."""
        table, seat = self._table, self._seat
        listed = table.listed(seat)
        self._asks += 1
        line = ask_here(self._match, self._asks, table.state, seat, listed, table.view(seat))
        answer = self._player.answer(_decode(line))
        try:
            table.make(seat, self._move_of(answer, listed))
        except (IllegalMoveError, TypeError, msgspec.ValidationError) as error:
            expected = f"expected {error.expected}" if isinstance(error, IllegalMoveError) else error
            raise ValueError(f"the bot in seat {seat} answered {answer!r:.200}: {expected}") from None

    def _move_of(self, answer: Answer, listed: list[Move]) -> Move:
        """Return the move of an answer that a server would accept."""
        act = msgspec.convert({**answer, "type": "act", "match": self._match, "ask": self._asks}, Act)
        if act.move is not msgspec.UNSET and act.index is msgspec.UNSET:
            return engine.check(self._table.state, self._seat, act.move)
        if act.move is msgspec.UNSET and act.index is not msgspec.UNSET and act.index < len(listed):
            return listed[act.index]
        raise TypeError(f"expected a move, or an index below {len(listed)}")


def _new_player(opponent: Bot) -> NewPlayer:
    if not isinstance(opponent, str):
        return maker_of(opponent)
    if opponent not in NAMES:
        raise ValueError(f"opponents: expected some of {', '.join(NAMES)}, found {opponent!r:.60}")
    return new_player(opponent)
