"""A match as far as it is known here: its head, and its events while it has readers."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from stellwerk_web.show.channel import Channel
from stellwerk_web.show.forms import Head, encode, with_standing
from stellwerk_web.show.standing import PublicStanding

_STEPS = frozenset({"turn_started", "asked"})


class _Typed(Struct):
    type: str


_type_of = msgspec.json.Decoder(_Typed).decode


class ShownMatch:
    """`events` are texts of public events. `is_listed` until the source begins another list. `steps` are
    how many events there were each time the game waited: people see what is between two of them as one
    move."""

    __slots__ = (
        "began_at",
        "channel",
        "end",
        "events",
        "head",
        "is_listed",
        "readers",
        "seats",
        "standing",
        "start",
        "steps",
    )

    def __init__(self, head: Head, began_at: float) -> None:
        self.head = head
        self.began_at = began_at
        self.start: bytes | None = None
        self.events: list[bytes] = []
        self.steps: list[int] = []
        self.seats: dict[str, str] = {}
        self.end: bytes | None = None
        self.standing: PublicStanding | None = None
        self.channel: Channel | None = None
        self.readers = 0
        self.is_listed = True

    @property
    def is_whole(self) -> bool:
        """Return whether nothing more comes, and all is here."""
        return self.start is not None and self.end is not None

    def begin(self, start: bytes) -> None:
        """Take the start, and forget what came before: the source begins again."""
        self.unload()
        self.start = start

    def add(self, events: Sequence[bytes]) -> None:
        for number, event in enumerate(events, len(self.events)):
            if _type_of(event).type in _STEPS:
                self.steps.append(number + 1)
        self.events += events

    def unload(self) -> None:
        """Forget all but the head."""
        self.start = self.end = self.standing = None
        self.events, self.steps, self.seats = [], [], {}

    def head_now(self, now: float) -> Head:
        """Return the head with what the events say, and with the time since the beginning."""
        head = self.head
        if self.start is not None and head.state == "running":
            if self.standing is None:  # now, because most matches never need it
                self.standing = PublicStanding(self.start)
            self.standing.add(self.events[self.standing.count :])
            head = with_standing(head, self.standing.turn, self.standing.points)
        return msgspec.structs.replace(head, began_ms_ago=max(0, round((now - self.began_at) * 1000)))

    def state(self, now: float, *, is_connected: bool) -> bytes:
        """Write the whole match."""
        return b'{"head":%b,"start":%b,"events":[%b],"seats":%b,"end":%b,"connected":%b}' % (
            encode(self.head_now(now)),
            self.start or b"null",
            b",".join(self.events),
            encode(self.seats),
            self.end or b"null",
            encode(is_connected),
        )
