"""All that fixes a match before it is played: one description, from a schedule to the journal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from stellwerk_engine.replays.writer import header_of
from stellwerk_protocol.messages import Player
from stellwerk_protocol.replays import Reveal, commitment

if TYPE_CHECKING:
    from stellwerk_engine.core.state import Game
    from stellwerk_protocol.messages import Clocks
    from stellwerk_protocol.replays import Header


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """A match to be played. `game` knows the options, the board, and the team of each seat; `names` has one
    name for each seat, as all players see them.

    `seed` and `salt` are secret until the match is over. With `reveal_later` they stay so until all matches
    of the same deal are over, and until then only its players learn of the match.
    """

    match: str
    game: Game
    names: tuple[str, ...]
    seed: bytes
    salt: bytes
    clocks: Clocks
    reveal_later: bool = False

    @property
    def players(self) -> tuple[Player, ...]:
        """The players, as `start` and the list of matches have them."""
        team_of = self.game.team_of
        return tuple([Player(seat, team_of[seat], name) for seat, name in enumerate(self.names)])

    @property
    def is_watchable(self) -> bool:
        """Return whether the match is public. Its public part, such as the market, would show the
        cards to come to a seat of another match of the same deal."""
        return not self.reveal_later

    def header(self) -> Header:
        """Return the header of its replay, which commits to seed and salt."""
        bare = header_of(self.game, self.names, self.match)
        committed = commitment(bare, Reveal(self.seed.hex(), self.salt.hex()))
        return msgspec.structs.replace(bare, commitment=committed)

    def __repr__(self) -> str:
        """Name the match, and neither its secrets nor its whole board."""
        return f"MatchPlan({self.match!r}, {self.game.id!r}, {self.names!r})"
