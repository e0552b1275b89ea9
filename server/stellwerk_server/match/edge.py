"""The edge of a match: the one place where bugs of ours are caught.

Law: a bug in a match ends that match and no other, and the log has its traceback. Every call into a match is
a call of an `entry` of `MatchSession`; its other methods are private to it. The exceptions are the methods
that make a match again from its journal: if one of those fails, there is no match yet.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar


class HasEdge(Protocol):
    def break_off(self, error: Exception, now: float) -> None:
        """End, because of a bug."""
        ...


M = TypeVar("M", bound=HasEdge)
P = ParamSpec("P")
R = TypeVar("R")


def entry(method: Callable[Concatenate[M, P], R]) -> Callable[Concatenate[M, P], R | None]:
    """Let a method be called from outside: it returns None where it would have raised. `now` has to be its
    last argument."""

    @wraps(method)
    def enter(match: M, /, *args: P.args, **kwargs: P.kwargs) -> R | None:
        try:
            return method(match, *args, **kwargs)
        except Exception as error:
            now = args[-1]
            assert isinstance(now, float)
            match.break_off(error, now)
            return None

    return enter
