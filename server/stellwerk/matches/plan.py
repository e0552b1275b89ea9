"""Which bots play which games, and how many. `planned_games.py` has the law of deals and seats.

`play` plans blocks of one game in which all bots move on by a seat; `compare` plans blocks of several games
in which two bots change seats. Both are played by `on_engine.py` and `by_wire.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from stellwerk.matches.planned_games import PlannedGame, planned_game
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_processes.bot_spec import BotSpec


@dataclass(frozen=True, slots=True)
class PlayPlan:
    """`choices` are the games, whose blocks take turns. `planned` says for each number of a match who sits
    where, by the places in `bots`, and from which seed it is dealt. As many processes of a bot fill the seats
    of its team."""

    choices: tuple[GameChoice, ...]
    bots: tuple[BotSpec, ...]
    seed: str
    game_count: int
    planned: Callable[[int], PlannedGame]

    def choice(self, block: int) -> GameChoice:
        return self.choices[block % len(self.choices)]

    def __iter__(self) -> Iterator[PlannedGame]:
        return map(self.planned, range(self.game_count))


def rotated(
    choice: GameChoice, bots: Sequence[BotSpec], seed: str, game_count: int, *, rotates: bool
) -> PlayPlan:
    """Plan games of one bot for each team. With `rotates` they come in blocks, one for each bot."""
    planned = partial(
        planned_game,
        seed=seed,
        game_count=game_count,
        bot_count=len(bots),
        team_of=choice.make().team_of,
        rotates=rotates,
    )
    return PlayPlan((choice,), tuple(bots), seed, game_count, planned)
