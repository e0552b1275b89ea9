"""The closed list of codes for refused moves.

A refused move changes nothing. `pointer` is a JSON Pointer into the move. `expected` describes what would
have been right, and reveals nothing that the mover may not know.
"""

from typing import Literal, get_args

MoveErrorCode = Literal[
    "game.over",  # the game has ended: nobody owes a move
    "game.not_asked",  # this seat owes no move now, or has already answered
    "game.wrong_move",  # the decision does not accept this kind of move
    "game.not_available",  # the action exists, but not at this moment (an empty pile, no such open card, ...)
    "game.unknown_name",  # no such route, ticket or technology on this board
    "game.route_taken",  # the route is claimed, closed, or barred for this seat
    "game.missing_technology",  # the route needs a technology that the seat does not hold
    "game.not_enough_trains",
    "game.not_enough_cards",  # the cards named are not in the hand (or holder)
    "game.wrong_payment",  # the cards named do not pay the price
    "game.wrong_tickets",  # not offered, not held, named twice, too few, or not payable
    "game.wrong_cards",  # the cards named may not be laid in the rail yard
]

MOVE_ERROR_CODES: tuple[MoveErrorCode, ...] = get_args(MoveErrorCode)


class IllegalMoveError(Exception):
    """A refused move. The state is as it was."""

    def __init__(self, code: MoveErrorCode, pointer: str, expected: str) -> None:
        super().__init__(f"{code} at {pointer or '/'}: expected {expected}")
        self.code: MoveErrorCode = code
        self.pointer = pointer
        self.expected = expected
