"""Answers of language models: the last JSON object of a text, or a bare number.

Law: an answer is text from a stranger. Reading it raises nothing but UnreadableError.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, cast

from stellwerk_bots.bot import Answer
from stellwerk_bots.text.position import Memory, Position

if TYPE_CHECKING:
    from stellwerk_bots.messages import Move

LONGEST: Final = 10_000  # characters of an answer that are read, from its end
_NUMBER: Final = re.compile(r"[\s*`\[]*([0-9]{1,6})[\s*`\].]*")  # with the marks that models put around it


class UnreadableError(ValueError):
    """A text without an answer. Its message goes to the model at the next attempt."""


def read_answer(text: str, position: Position, memory: Memory) -> Answer:
    """Return the answer in a text, whether legal or not. UnreadableError if there is none."""
    if position.takes_numbers:
        number = _NUMBER.fullmatch((text.strip().splitlines() or [""])[-1])
        if number is not None:
            return {"index": int(number[1])}
    found = last_object(text) or {}
    index, move = found.get("index"), found.get("move", found if "type" in found else None)
    if type(index) is int:
        return {"index": index}
    if isinstance(move, dict):
        return {"move": cast("Move", move)}  # whether it is one, the rules say
    raise UnreadableError('there is no {"index": N} and no {"move": {...}} in it')


def last_object(text: str) -> dict[str, Any] | None:  # Any: JSON
    """Return the last JSON object in the end of a text that is not part of another one."""
    text = text[-LONGEST:]  # each attempt to read one can take time in proportion to what is before it
    decoder, found, start = json.JSONDecoder(), None, text.find("{")
    while start >= 0:
        try:
            found, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        start = text.find("{", end)
    return found
