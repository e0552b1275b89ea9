"""A game as an environment of PettingZoo (AEC): all seats are agents, `seat_0`, `seat_1`, ...

Law: the agent that is selected owes an answer. If several owe the same decision, they are selected one after
the other, and none sees what another chose before all have. An agent stays selected until its move is made,
stage by stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from pettingzoo import AECEnv  # pyright: ignore[reportMissingTypeStubs]  it has types, but no py.typed

from stellwerk_engine.core.state import Game, Seat
from stellwerk_learn.observations import HIGHEST, LOWEST
from stellwerk_learn.rewards import Reward, expect_reward, reward_of
from stellwerk_learn.table import Info, Observation, Table, game_named, game_seed

RENDER_MODES: Final = ("ansi", "human")


class SeatsEnv(AECEnv[str, Observation, np.int64]):
    """A game in which every seat is an agent.

    `players` is as few as the game allows unless given, `options` are those of the game, `reward` is "rank",
    "margin" or "points". With `view`, the info of an agent that owes an answer has its view as JSON text.
    `table` has the state, for those who may see all of it.
    """

    def __init__(
        self,
        game: str | Game = "usa",
        *,
        players: int | None = None,
        options: Sequence[str] = (),
        reward: str = "rank",
        view: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """ValueError for a game, a number of players, an option, a reward or a render mode that there is
        not."""
        self.render_mode = expect_render_mode(render_mode)
        self.table = Table(game_named(game, players, options), tells=render_mode is not None)
        self.metadata = {
            "name": f"stellwerk_{self.table.game.id}_v0",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
        }
        self.possible_agents = [f"seat_{seat}" for seat in range(self.table.game.seat_count)]
        self.agents: list[str] = []
        self._reward: Reward = expect_reward(reward)
        self._has_view = view
        self._seats: dict[str, Seat] = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {agent: observation_space(self.table) for agent in self.possible_agents}
        self.action_spaces = {agent: action_space(self.table) for agent in self.possible_agents}
        self._chance: np.random.Generator | None = None

    # Of PettingZoo; Any: as it types them.

    def observation_space(self, agent: str) -> spaces.Space[Observation]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[np.int64]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a game. A seed fixes the deal, and the deals of all later resets without one."""
        if seed is not None or self._chance is None:
            self._chance, _ = seeding.np_random(seed)
        self.table.deal(game_seed(int(self._chance.integers(2**63)) if seed is None else seed))
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, Info] = {}
        self._select()

    def step(self, action: int | np.int64 | None) -> None:
        """Go one stage on with the selected agent's answer. IllegalActionError for an integer that its
        mask does not allow; nothing changes then."""
        if not self.agents:
            raise RuntimeError("no agent is left: call reset() first")
        agent = self.agent_selection
        if self.terminations[agent]:
            # PettingZoo asks for None here, and its type does not.
            self._was_dead_step(action)  # type: ignore[arg-type]
            return
        if action is None:
            raise ValueError(f"{agent} owes an answer: expected an integer, found None")
        self.table.choose(self._seats[agent], int(action))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        result = self.table.state.result
        if result is not None:
            for agent, seat in self._seats.items():
                self.rewards[agent] = reward_of(self._reward, result, seat)
                self.terminations[agent] = True
        self._accumulate_rewards()
        self._select()
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation:
        return self.table.observe(self._seats[agent])

    def render(self) -> str | None:
        """Return what everybody saw since the last call, in words; with "human", print it."""
        return self.table.render(self.render_mode)

    def close(self) -> None:
        """Do nothing: there is nothing to be released."""

    def _select(self) -> None:
        """Select the first agent that owes an answer, and tell those who owe one, or all at the end, what
        they see."""
        owing = self.table.owing
        if owing:
            self.agent_selection = self.possible_agents[owing[0]]
        for agent in self.agents:
            seat = self._seats[agent]
            self.infos[agent] = self.table.info(
                seat, has_view=self._has_view and (not owing or seat in owing)
            )


def observation_space(table: Table) -> spaces.Space[Observation]:
    return spaces.Dict(
        {
            "observation": spaces.Box(LOWEST, HIGHEST, (table.layout.size,), np.float32),
            "action_mask": spaces.Box(0, 1, (len(table.actions),), np.int8),
        }
    )


def action_space(table: Table) -> spaces.Space[np.int64]:
    return spaces.Discrete(len(table.actions))


def expect_render_mode(mode: str | None) -> str | None:
    """Return the mode. TypeError for another one: trainers that ask for pictures then do without them."""
    if mode is not None and mode not in RENDER_MODES:
        raise TypeError(f"render_mode: expected one of {', '.join(RENDER_MODES)}, found {mode!r:.60}")
    return mode
