"""A replay as a spectator would have got it: the public `start`, public events, the public `end`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import UNSET

from stellwerk_engine.boards.board_file import canonical_text
from stellwerk_engine.core.viewers import PUBLIC
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.parts.technologies.buy_technology import for_sale
from stellwerk_engine.replays.reader import read_replay
from stellwerk_engine.replays.verify import game_of
from stellwerk_protocol.messages import Clocks, Player, Start
from stellwerk_protocol.messages import End as EndMessage
from stellwerk_protocol.replays import End, Header, MoveMade, Reveal, SetUp
from stellwerk_web.show.forms import Head

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stellwerk_engine.core.state import Game
    from stellwerk_protocol.results import Result

NO_CLOCKS: Final = Clocks(0, 0, 0, 0, 0, 0, 0, 0)  # a replay does not have them
NOTHING: Final = "0" * 64

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded match for the model. `head` is that of the ended match."""

    head: Head
    start: bytes
    events: tuple[bytes, ...]
    end: bytes


def recorded(lines: Iterable[bytes], match: str) -> Recorded:
    """Read a whole replay. `match` is its id here. ReplayError if it cannot be used."""
    header: Header | None = None
    game: Game | None = None
    events: list[bytes] = []
    turns = 0
    result: Result | None = None
    transcript = NOTHING
    reveal: Reveal | None = None
    for record in read_replay(lines):
        match record:
            case Header():
                header, game = record, game_of(record)
            case Reveal():
                reveal = record
            case SetUp() | MoveMade():
                assert game is not None  # the reader lets nothing else come first
                for event in record.events:
                    events.append(_encode(redact(event, game, PUBLIC)))
            case End():
                result = record.result
    assert header is not None
    assert game is not None
    assert result is not None  # the reader says so of a replay that breaks off
    turns = result.turns
    players = tuple(
        Player(seat, game.team_of[seat], f"seat-{seat}" if player.name is UNSET else player.name)
        for seat, player in enumerate(header.seats)
    )
    start = Start(
        match=match,
        viewer="public",
        players=players,
        game=game.id,
        rules_version=header.rules_version,
        options=game.options,
        board=msgspec.Raw(canonical_text(game.board.file).encode()),
        board_digest=game.board.file.digest,
        clocks=NO_CLOCKS,
        commitment=header.commitment or NOTHING,
        technologies=for_sale(game.rules),
    )
    points = {team.team: team.points for team in result.teams}
    head = Head(
        match=match,
        state="ended",
        game=game.id,
        options=game.options,
        players=players,
        turn=turns,
        points=tuple(points[player.team] for player in players),
        ranks=result.ranks,
    )
    end = EndMessage(
        match=match,
        result=result,
        transcript=transcript,
        reveal="later" if reveal is None else "now",
    )
    return Recorded(head, _encode(start), tuple(events), _encode(end))
