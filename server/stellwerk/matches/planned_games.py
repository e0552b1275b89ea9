"""Games in blocks: who sits where, and from which seed each game is dealt.

Law: game number i follows from the seed, the number of bots and i alone. With rotation the games come in
blocks, one game for each bot: all games of a block have the same deal, and each of them moves the bots on by
one seat (in team games by one team), so that the luck of the deal and of the seat is everybody's. Block
number b is dealt from the seed text `S/b`; without rotation every game is a block.

Bots learn two things that follow from a seed one way: the match's id and their own seeds. If a seed can be
guessed, bots can guess the deal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby

from stellwerk_engine.core.dice import seed_from_text
from stellwerk_protocol.names import Seat, Team


@dataclass(frozen=True, slots=True)
class PlannedGame:
    """A game of the plan. `bots` has, for each seat, the number of its bot in the plan; `games_of_block` is
    how many games have its deal."""

    number: int
    block: int
    seed_text: str
    bots: tuple[int, ...]
    games_of_block: int

    @property
    def seed(self) -> bytes:
        return seed_from_text(self.seed_text)

    @property
    def match(self) -> str:
        """The id of the match. Bots mix it into their chance, so that it follows from the seed as well."""
        return sha256(b"stellwerk/play/match/1\n%b\n%d" % (self.seed, self.number)).hexdigest()[:18]

    @property
    def salt(self) -> bytes:
        """The salt of a replay that comes out the same whenever the game is played. Only for games in which
        no bot could try seeds against the commitment."""
        return sha256(b"stellwerk/lab/salt/1\n" + self.seed).digest()

    def bot_seed(self, seat: Seat) -> str:
        """Return the seed for a bot's own chance."""
        return sha256(b"stellwerk/play/bot/1\n%b\n%d\n%d" % (self.seed, self.number, seat)).hexdigest()


def planned_games(
    seed: str, game_count: int, bot_count: int, team_of: Sequence[Team], *, rotates: bool
) -> Iterator[PlannedGame]:
    """Plan so many games, one after the other. `team_of` has the team of each seat."""
    for number in range(game_count):
        yield planned_game(number, seed, game_count, bot_count, team_of, rotates=rotates)


def planned_game(
    number: int, seed: str, game_count: int, bot_count: int, team_of: Sequence[Team], *, rotates: bool
) -> PlannedGame:
    """Plan one of so many games."""
    block_size = bot_count if rotates else 1
    block, rotation = divmod(number, block_size)
    return PlannedGame(
        number=number,
        block=block,
        seed_text=f"{seed}/{block}",
        bots=tuple((team + rotation) % bot_count for team in team_of),
        games_of_block=min(block_size, game_count - block * block_size),
    )


def pieces(games: Iterable[PlannedGame], *, may_overlap: bool) -> Iterator[tuple[PlannedGame, ...]]:
    """Return the pieces of work that may be done side by side: the blocks, whose games are played one after
    another, or single games if games of one deal may overlap."""
    for _, of_block in groupby(games, lambda planned: planned.block):
        if may_overlap:
            yield from ((planned,) for planned in of_block)
        else:
            yield tuple(of_block)
