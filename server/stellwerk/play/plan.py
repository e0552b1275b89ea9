"""Which bots play which games, and how many. `shared/planned_games.py` has the law of deals and seats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def planned_games(plan: PlayPlan) -> Iterator[PlannedGame]:
    team_of = plan.game.make().team_of
    return shared.planned_games(plan.seed, plan.game_count, len(plan.bots), team_of, rotates=plan.rotates)


def longest_seed_text(plan: PlayPlan) -> str:
    """Return the longest of the texts from which games are dealt."""
    return f"{plan.seed}/{plan.game_count - 1}"


def complete_blocks(plan: PlayPlan, blocks: Sequence[int]) -> list[int]:
    """Return the blocks all of whose games are there. `blocks` has the block of each game."""
    size = len(plan.bots) if plan.rotates else 1
    return [block for block in dict.fromkeys(blocks) if blocks.count(block) == size]
