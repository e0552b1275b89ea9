"""The time that a bot takes for its answers in one match, compared with the clocks of its asks.

The law: as on a server, an answer may take the time of its ask and what is left of the bank of its match. A
longer one is late. One late answer is bad luck, but a bot that is late again and again spoils the match for
others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MOST_LATE: Final = 2  # answers in a match: a machine can pause for a moment
BANK_MS: Final = 2_000  # less than in a match, so that a slow bot is detected soon


@dataclass(slots=True)
class AnswerClock:
    """The clock of a match. `bank_ms` is the time left in the bank. `over_count` answers needed the bank, and
    `late_count` more than was in it."""

    move_ms: int = 0
    bank_ms: int = 0
    took_ms: int = 0  # of the last answer
    over_count: int = 0
    late_count: int = 0

    def charge(self, seconds: float) -> str | None:
        """Take an answer's time from the bank. Return what is wrong, if the bot was late once too often."""
        allowance = f"{self.move_ms / 1000:.1f} s and {self.bank_ms / 1000:.1f} s of the bank"
        self.took_ms = int(1000 * seconds)
        over_ms = self.took_ms - self.move_ms
        if over_ms <= 0:
            return None
        is_late = over_ms > self.bank_ms
        self.over_count += 1
        self.late_count += is_late
        self.bank_ms = max(0, self.bank_ms - over_ms)
        if not is_late or self.late_count <= MOST_LATE:
            return None
        late = f"late answer number {self.late_count} of this match"
        return f"an act after {seconds:.1f} s, {late}; the clock of this ask gave {allowance}"
