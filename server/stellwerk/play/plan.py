"""Which bots play which games, and how many. `shared/planned_games.py` has the law of deals and seats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stellwerk.shared import planned_games as shared
from stellwerk.shared.planned_games import PlannedGame
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_processes.bot_spec import BotSpec


@dataclass(frozen=True, slots=True)
class PlayPlan:
    """One bot for each team. As many processes of a bot fill the seats of its team."""

    game: GameChoice
    bots: tuple[BotSpec, ...]
    seed: str
    game_count: int
    rotates: bool

    @property
    def is_house(self) -> bool:
        """Whether no bot is a process, so that the games are played on the engine."""
        return all(bot.process == "house" for bot in self.bots)

    @property
    def block_size(self) -> int:
        """How many games have the same deal."""
        return len(self.bots) if self.rotates else 1


def planned_game(plan: PlayPlan, number: int) -> PlannedGame:
    team_of = plan.game.make().team_of
    return shared.planned_game(
        number, plan.seed, plan.game_count, len(plan.bots), team_of, rotates=plan.rotates
    )


def planned_games(plan: PlayPlan) -> Iterator[PlannedGame]:
    return (planned_game(plan, number) for number in range(plan.game_count))


def longest_seed_text(plan: PlayPlan) -> str:
    """Return the longest of the texts from which games are dealt."""
    return f"{plan.seed}/{plan.game_count - 1}"
