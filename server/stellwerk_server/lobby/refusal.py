"""The refusal of a client's message, from wherever it is found to be wrong to where it is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stellwerk_protocol.error_codes import ErrorCode


class RefusedError(Exception):
    """A refusal of a message: the code, where, and what was expected."""

    def __init__(self, code: ErrorCode, expected: str, pointer: str = "") -> None:
        super().__init__(code)
        self.code: ErrorCode = code
        self.expected = expected
        self.pointer = pointer
