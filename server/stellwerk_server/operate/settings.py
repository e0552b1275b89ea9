"""The settings of an organizer, with their defaults: clocks, limits, and folders.

One table for code, specification and tests: `hello` announces the limits that a client has to keep to, and
the table in `protocol/README.md` is compared with this module. A TOML file (`--config`) has the same names.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import asdict

from stellwerk_protocol.messages import Clocks
from stellwerk_protocol.messages import Limits as AnnouncedLimits

DEFAULT_PORT: Final = 7878

_Positive = Annotated[int, Meta(ge=1, le=10**9)]
_NotNegative = Annotated[int, Meta(ge=0, le=10**9)]


class Limits(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Those in `hello` first, then those that concern the server as a whole."""

    line_before_login: _Positive = 4096
    line: _Positive = 16_384
    login_ms: _Positive = 30_000
    messages_a_second: _Positive = 20
    burst: _Positive = 40
    unsent_bytes: _Positive = 1_048_576
    unsent_ms: _Positive = 5_000
    refused_logins: _Positive = 3
    unauthenticated: _Positive = 256
    handshake_ms: _Positive = 5_000
    connections: _Positive = 10_000
    sessions_per_address: _Positive = 256  # a school behind one address, with some bots for each pupil
    rooms: _Positive = 10_000
    rooms_per_address: _Positive = 256
    room_ms: _Positive = 3_600_000  # long enough for two who have an appointment
    matches: _Positive = 10_000
    matches_per_address: _Positive = 512
    session_kept_ms: _NotNegative = 60_000  # after a match, for a client that has not seen its end
    ended_matches: _NotNegative = 1_000  # that `matches` lists, and that can still be watched
    unwritten_ms: _Positive = 30_000  # until a match ends whose journal cannot be written


class Time(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The clocks of a match: see `protocol/README.md`, Time."""

    set_up_ms: _NotNegative = 30_000
    move_ms: _Positive = 1_000
    bank_ms: _NotNegative = 10_000
    grace_ms: _NotNegative = 50
    strikes: _NotNegative = 3
    tries: _Positive = 3
    defaults_in_a_row: _Positive = 3
    defaults: _Positive = 10


def clocks_of(time: Time) -> Clocks:
    return Clocks(**asdict(time))


def announced(limits: Limits, depth: int) -> AnnouncedLimits:
    return AnnouncedLimits(
        line_before_login=limits.line_before_login,
        line=limits.line,
        depth=depth,
        login_ms=limits.login_ms,
        messages_a_second=limits.messages_a_second,
        burst=limits.burst,
        unsent_bytes=limits.unsent_bytes,
        unsent_ms=limits.unsent_ms,
    )
