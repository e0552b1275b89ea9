"""Rooms: where players wait until all seats of a match are taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from stellwerk_engine.boards.board_file import BoardFile, shipped_board
from stellwerk_engine.core.game import make_game
from stellwerk_engine.core.state import Game, RuleSet
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_protocol.messages import OfferedGame
from stellwerk_server.lobby.tokens import hashed, is_same_hash
from stellwerk_server.match.plan import MatchPlan

if TYPE_CHECKING:
    from stellwerk_server.lobby.session import Session
    from stellwerk_server.match.players import AskListener, NewHousePlayer


class GameShelf:
    """The games that a server offers, each made once: the shipped ones, and those of a program that embeds
    it. `boards` are those that an organizer put in place of the ones that come with Stellwerk, by the game's
    id."""

    def __init__(
        self, boards: Mapping[str, BoardFile] | None = None, own_games: Sequence[RuleSet] = ()
    ) -> None:
        if taken := [rules.id for rules in own_games if rules.id in RULE_SETS]:
            raise ValueError(f"a game of your own needs another id than {taken[0]}, which is shipped")
        self._boards = boards or {}
        self.rules = RULE_SETS | {rules.id: rules for rules in own_games}
        self._games: dict[tuple[str, int, tuple[str, ...]], Game] = {}
        self.offered = tuple(self._describe_game(id) for id in self.rules)

    def board(self, game: str) -> BoardFile:
        return self._boards.get(game) or shipped_board(self.rules[game].board)

    def game(self, id: str, seats: int, options: Sequence[str]) -> Game:
        """Make the game. Raises GameError for a number of players or an option that it does not have, and
        KeyError if there is no such game."""
        key = (id, seats, tuple(sorted(set(options))))
        game = self._games.get(key)
        if game is None:
            game = self._games[key] = make_game(self.rules[id], self.board(id), seats, options)
        return game

    def _describe_game(self, id: str) -> OfferedGame:
        rules, board = self.rules[id], self.board(id)
        return OfferedGame(
            game=id,
            title=rules.title,
            rules_version=rules.rules_version,
            board=board.id,
            board_digest=board.digest,
            players=rules.seat_counts,
            options=tuple(option.id for option in rules.options),
        )


@dataclass(frozen=True, slots=True)
class Reservation:
    """A match whose seats wait for their tokens: for a program that embeds the server. `asks` hears of each
    of its asks. `house_bots` are the seats that wait for no client, with the names of their players and what
    makes them."""

    plan: MatchPlan
    token_hashes: tuple[str, ...]
    asks: AskListener | None = None
    house_bots: Mapping[int, tuple[str, NewHousePlayer]] = field(
        default_factory=dict[int, "tuple[str, NewHousePlayer]"]
    )

    def seat_of(self, token: str) -> int | None:
        given = hashed(token)
        seats = [seat for seat, known in enumerate(self.token_hashes) if is_same_hash(given, known)]
        return seats[0] if seats else None


@dataclass(eq=False, slots=True)
class Room:
    id: str
    game: Game
    is_public: bool
    sessions: list[Session | None]
    reservation: Reservation | None = None
    requests: dict[int, str] = field(default_factory=dict[int, str])  # of the joins, by seat
    expires_at: float = inf  # of the server's clock: the room closes then, unless it is full

    @property
    def house_bots(self) -> Mapping[int, tuple[str, NewHousePlayer]]:
        return {} if self.reservation is None else self.reservation.house_bots

    @property
    def missing(self) -> int:
        return sum(session is None for session in self.sessions) - len(self.house_bots)
