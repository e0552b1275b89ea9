"""Lines that GitHub Actions reads in the output of a step: annotations, and the switch that turns them off.

Law: nothing that a bot printed is ever read as a command. All text for people is between
`::stop-commands::` and a token that no bot can guess; what becomes an annotation is escaped.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Final, Literal, TypeAlias

from stellwerk.shared.terminal import flush_stdout, say
from stellwerk_base.texts import shown

Kind: TypeAlias = Literal["error", "warning", "notice"]

MOST_ANNOTATIONS: Final = 10  # of a kind in a step; GitHub shows no more
LONGEST: Final = 2000  # characters of a message
_DATA: Final = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY: Final = _DATA | {":": "%3A", ",": "%2C"}


def is_there(environment: Mapping[str, str] = os.environ) -> bool:
    return environment.get("GITHUB_ACTIONS") == "true"


@contextmanager
def commands_stopped() -> Generator[None]:
    """Print everything inside as text only. Outside GitHub Actions there is nothing to do."""
    if not is_there():
        yield
        return
    token = secrets.token_hex(16)
    say(f"::stop-commands::{token}")
    flush_stdout()
    try:
        yield
    finally:
        say(f"::{token}::")
        flush_stdout()


def annotation(kind: Kind, title: str, lines: list[str]) -> str:
    """Write a command on one line. The lines are not trusted."""
    message = "\n".join(shown(line, LONGEST) for line in lines)
    return f"::{kind} title={_escaped(shown(title, 200), _PROPERTY)}::{_escaped(message, _DATA)}"


def _escaped(text: str, escapes: Mapping[str, str]) -> str:
    return "".join(escapes.get(character, character) for character in text)
