"""`stellwerk.positions`: the positions of a recorded match, each of which a notebook shows as a picture."""

from __future__ import annotations

from os import PathLike

from stellwerk_engine.replays.reader import ReplayError, lines_of
from stellwerk_page.position import Position, positions_of
from stellwerk_protocol.names import Seat


def positions(replay: str | PathLike[str], seat: Seat | None = None) -> list[Position]:
    """Return the positions of a match from its replay: number 0 after the deal, and number n after n moves.

    They show all hands, or with `seat` what the player at that seat could know then. OSError if the file
    cannot be read. ValueError if there is no such seat, or if the file is no replay that can be played again.
    """
    try:
        with open(replay, "rb") as file:
            return list(positions_of(lines_of(file), seat))
    except ReplayError as error:
        raise ValueError(f"{replay}:{error.line}: {error.message}") from None
