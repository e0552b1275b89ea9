"""The turn and the points of a match, as the public sees them: folded from its public events.

Events may come from any server. So what cannot be folded ends the standing of that match, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import UnsetType

from stellwerk_engine.boards.board_file import BoardError
from stellwerk_engine.core.game import GameError
from stellwerk_engine.core.state import Game
from stellwerk_engine.core.viewers import PUBLIC
from stellwerk_engine.games.described import game_described
from stellwerk_engine.knowledge.fold import blank_view, fold
from stellwerk_protocol.canonical import encode
from stellwerk_protocol.events import Event
from stellwerk_protocol.messages import Start
from stellwerk_protocol.views import View

_decode_event = msgspec.json.Decoder(Event).decode
_decode_start = msgspec.json.Decoder(Start).decode


class PublicStanding:
    """`turn` and `points` are None if this program does not know the rules of the match. `count` is the
    number of events so far."""

    def __init__(self, start: bytes) -> None:
        self.count = 0
        self.turn: int | None = None
        self.points: tuple[int, ...] | None = None
        self._game = _read_game(start)
        self._view: View | None = None if self._game is None else blank_view(self._game, PUBLIC)

    def add(self, events: Sequence[bytes]) -> None:
        self.count += len(events)
        if self._game is None or self._view is None:
            return
        try:
            for event in events:
                self._view = fold(self._game, self._view, _decode_event(event))
        except Exception:  # a server with other rules can make folding fail in any way
            self._view = self.turn = self.points = None
        else:
            self.turn = self._view.turn
            self.points = tuple([player.points for player in self._view.players])


def _read_game(start: bytes) -> Game | None:
    try:
        message = _decode_start(start)
    except msgspec.DecodeError:
        return None
    try:
        game = game_described(
            message.game,
            message.rules_version,
            len(message.players),
            message.options,
            bytes(message.board).decode(),
            b"" if isinstance(message.parts, UnsetType) else encode(message.parts),
        )
    except (BoardError, GameError, UnicodeDecodeError):
        return None
    return game if game.rules.rules_version == message.rules_version else None
