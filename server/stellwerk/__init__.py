"""The command `stellwerk`: a room for each subcommand, `shared` for what several use, and `matches`, which
plays for them. `lab` is for Python programs: `stellwerk.run_match`, `run_matches`, `positions` and
`tournament_rows`.

May import: all packages. A subcommand imports `stellwerk.shared`, `stellwerk.matches` and the packages below,
and no other subcommand, but for the demo, which runs a tournament.

Law: a command line imports its own subcommand only, and `import stellwerk` imports nothing before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stellwerk.lab.public import (
        Answer,
        Bot,
        IllegalAnswerError,
        LateAnswerError,
        Message,
        NewPlayer,
        Player,
        Position,
        Row,
        TournamentRow,
        positions,
        run_match,
        run_matches,
        tournament_rows,
    )

__all__ = [
    "Answer",
    "Bot",
    "IllegalAnswerError",
    "LateAnswerError",
    "Message",
    "NewPlayer",
    "Player",
    "Position",
    "Row",
    "TournamentRow",
    "positions",
    "run_match",
    "run_matches",
    "tournament_rows",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is used for the first time."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from stellwerk.lab import public

    value: object = getattr(public, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
