"""Server messages as lines.

The longest and most frequent one, `ask`, is put together from texts that exist already: a move knows its own
JSON. Everything else is encoded from its struct.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from stellwerk_engine.core.state import Move
from stellwerk_protocol.decisions import Decision
from stellwerk_protocol.messages import FromServer
from stellwerk_protocol.views import View

_encoder: Final = msgspec.json.Encoder()


def line(message: FromServer) -> bytes:
    return _encoder.encode(message) + b"\n"


def lines(messages: Sequence[FromServer]) -> bytes:
    return _encoder.encode_lines(messages)


class _Ask(Struct, frozen=True, tag_field="type", tag="ask", omit_defaults=True, gc=False):
    """Field by field what `messages.Ask` is, with moves as texts."""

    match: str
    ask: int
    after_event: int
    decision: Decision
    move_ms: int
    bank_ms: int
    tries: int
    fallback: Raw
    view: View | UnsetType = UNSET
    legal: Raw | UnsetType = UNSET
    legal_complete: bool | UnsetType = UNSET


def ask_line(
    *,
    match: str,
    ask: int,
    after_event: int,
    decision: Decision,
    move_ms: int,
    bank_ms: int,
    tries: int,
    fallback: Move,
    view: View | None,
    legal: Sequence[Move] | None,
    legal_complete: bool,
) -> bytes:
    message = _Ask(
        match,
        ask,
        after_event,
        decision,
        move_ms,
        bank_ms,
        tries,
        Raw(fallback.json),
        UNSET if view is None else view,
        UNSET if legal is None else Raw(b"[" + b",".join(Move.texts(legal)) + b"]"),
        UNSET if legal is None else legal_complete,
    )
    return _encoder.encode(message) + b"\n"
