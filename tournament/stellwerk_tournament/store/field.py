"""The organizer's decisions, and what they come to: plain code, without a disk or a clock.

Laws:
- each line of `field.jsonl` has the SHA-256 of the line before it, so none can be changed, taken out or put
  in between without all that follow;
- a decision changes nothing that was played. It acts on blocks that have not begun, and on what is made of
  the lines.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from stellwerk_protocol.names import Count, Digits64

FILE: Final = "field.jsonl"
NO_LINE: Final = "0" * 64  # what the first line has for the line before it


class _Decision(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """A decision with its number from 1, when it was made (UTC), how many bytes `matches.jsonl` had then, and
    the SHA-256 of the line before."""

    number: Count
    at: str
    after: Count
    previous: Digits64


class Disqualified(_Decision, frozen=True, tag="disqualify"):
    """The bot plays no more, and is out of the ranking."""

    bot: str
    reason: str


class Paused(_Decision, frozen=True, tag="pause"):
    """No block begins from now on."""

    reason: str


class Unpaused(_Decision, frozen=True, tag="unpause"):
    """Blocks begin again."""


class Ruled(_Decision, frozen=True, tag="rule"):
    """The blocks do not count for ratings."""

    blocks: tuple[Count, ...]
    reason: str


class Announced(_Decision, frozen=True, tag="announce"):
    """All who look at the tournament shall read this."""

    text: str


WhyOut: TypeAlias = Literal["suspended", "disqualified"]
"""Why a bot plays in no block to come, and is out of the ranking."""

Decision: TypeAlias = Disqualified | Paused | Unpaused | Ruled | Announced

_decoder: Final = msgspec.json.Decoder(Decision)


class FieldError(Exception):
    """A line that cannot be the next one. The text says where and why."""


class Field:
    """The sum of the decisions so far. `head` is the SHA-256 of the last line, `size` how many bytes all
    take. `unrated` has the blocks that do not count for ratings, with the first ruling that says so."""

    def __init__(self) -> None:
        self.decisions: list[Decision] = []
        self.head = NO_LINE
        self.size = 0
        self.disqualified: dict[str, Disqualified] = {}
        self.unrated: dict[int, Ruled] = {}
        self.pause: Paused | None = None

    @property
    def announcements(self) -> list[str]:
        return [each.text for each in self.decisions if isinstance(each, Announced)]

    def add(self, line: bytes) -> None:
        """Take in the next line. FieldError if it does not follow the one before."""
        where = f"{FILE}:{len(self.decisions) + 1}"
        try:
            decision: Decision = _decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise FieldError(f"{where}: no decision: {error}") from None
        if decision.previous != self.head:
            raise FieldError(
                f"{where}: does not follow the line before it: its previous is {decision.previous[:16]}..., "
                f"and the SHA-256 of that line is {self.head[:16]}..."
            )
        if decision.number != len(self.decisions) + 1:
            raise FieldError(f"{where}: its number is {decision.number}")
        if self.decisions and decision.after < self.decisions[-1].after:
            raise FieldError(f"{where}: its after is less than that of the line before it")
        self._take(decision)
        self.decisions.append(decision)
        self.head = sha256(line).hexdigest()
        self.size += len(line)

    def _take(self, decision: Decision) -> None:
        match decision:
            case Disqualified():
                self.disqualified.setdefault(decision.bot, decision)
            case Ruled():
                self.unrated = dict.fromkeys(decision.blocks, decision) | self.unrated
            case Paused():
                self.pause = decision
            case Unpaused():
                self.pause = None
            case Announced():
                pass
