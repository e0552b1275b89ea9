"""The ways in which a step can end early."""

from __future__ import annotations


class FailedError(Exception):
    """A bot that broke the protocol. `printed` are the last lines of its output."""

    def __init__(self, expected: str, came: str) -> None:
        super().__init__(f"expected {expected}; came {came}")
        self.expected = expected
        self.came = came
        self.printed: tuple[str, ...] = ()


class SilenceError(FailedError):
    """A message that did not arrive in time, and still could."""


class RemarkError(Exception):
    """An action of the bot that is allowed but unwise, after which the step cannot continue."""


class DoesNotApplyError(Exception):
    """A step for a capability that this bot does not claim."""


def expect(holds: bool, expected: str, came: object) -> None:
    """Raise FailedError if it does not hold."""
    if not holds:
        raise FailedError(expected, f"{came}")
