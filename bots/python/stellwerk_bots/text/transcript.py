"""A transcript: each call of a model as a line of JSON, with prompt, answer, latency and tokens.

Law: each line is in the file when its call is over, and the file never exceeds its size: the last line then
says that it is full. Several processes may append to one file.
"""

from __future__ import annotations

import json
from os import PathLike
from typing import Final, Literal, TypedDict

FULL: Final = b'{"full": true}\n'
MEGABYTES: Final = 100

Outcome = Literal["played", "unparsable", "bad_index", "refused", "failed"]


class Call(TypedDict):
    """One call of a model. `attempt` counts from 1 for each ask. `problem` is what was wrong with the answer.
    Tokens are what the model reports, or null."""

    model: str
    match: str
    seat: int
    turn: int
    ask: int
    attempt: int
    outcome: Outcome
    problem: str
    prompt: str
    answer: str
    ms: float
    prompt_tokens: int | None
    answer_tokens: int | None


class Transcript:
    """A file that calls are appended to, of at most so many megabytes. OSError if it cannot be written."""

    def __init__(self, path: str | PathLike[str], megabytes: float = MEGABYTES) -> None:
        self._path = path
        self._most = int(megabytes * 1_000_000)
        self._is_full = False
        with open(path, "ab"):
            pass  # it can be written

    def add(self, call: Call) -> None:
        """Append a call, if there is room for it; the first one without room ends the transcript."""
        if self._is_full:
            return
        line = json.dumps(call).encode() + b"\n"
        with open(self._path, "ab") as file:
            left = self._most - file.tell()
            if len(line) + len(FULL) <= left:
                file.write(line)
            else:
                self._is_full = True
                file.write(FULL if len(FULL) <= left else b"")
