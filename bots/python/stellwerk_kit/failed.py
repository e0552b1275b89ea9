"""How a step can end before its end."""

from __future__ import annotations


class FailedError(Exception):
    """The bot has broken the protocol. `printed` are the last lines of what it printed."""

    def __init__(self, expected: str, came: str) -> None:
        super().__init__(f"expected {expected}; came {came}")
        self.expected = expected
        self.came = came
        self.printed: tuple[str, ...] = ()


class SilenceError(FailedError):
    """Nothing came in time, and it still could."""


class RemarkError(Exception):
    """What the bot did is allowed, but could be done better, and the step cannot go on from there."""


class DoesNotApplyError(Exception):
    """The step asks for something that this bot does not say it can."""
