"""A seat of a match: who sits there, what it was asked, and what is left of its time."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable
from math import ceil, inf
from typing import TYPE_CHECKING

from msgspec import UNSET

from stellwerk_protocol.answer_times import NOT_TIMED
from stellwerk_server.journal.journal import SeatedPlayer
from stellwerk_server.match.lateness import Late, LateAsks
from stellwerk_server.match.refusals import RefusedLines

if TYPE_CHECKING:
    from stellwerk_engine.core.state import Move, Seat
    from stellwerk_protocol.messages import Clocks, DefaultReason
    from stellwerk_server.match.players import Recipient


class OpenAsk:
    """`moves` is the list of legal moves, once it was needed. `sent_at` is when it was handed over to the
    present connection, and never again once that is known to have taken it. It differs from `asked_at` for a
    client that has come back."""

    __slots__ = ("asked_at", "id", "moves", "sent_at", "tries")

    def __init__(self, id: int, tries: int, now: float) -> None:
        self.id = id
        self.tries = tries
        self.asked_at = now
        self.sent_at = now
        self.moves: list[Move] | None = None


class MatchSeat:
    """The player: a session, a house bot, or none yet."""

    __slots__ = (
        "ask",
        "ask_count",
        "bank_ms",
        "by_default",
        "clocks",
        "default_reasons",
        "defaults_in_a_row",
        "house_bot",
        "house_bot_name",
        "is_lost",
        "is_ready",
        "knows_end",
        "late",
        "left",
        "name",
        "number",
        "refused",
        "session",
        "slowest_ms",
        "strikes",
        "times",
        "took_ms",
        "used_ms",
        "written_standing",
    )

    def __init__(self, number: Seat, name: str, clocks: Clocks) -> None:
        self.number = number
        self.name = name
        self.clocks = clocks
        self.session: Recipient | None = None
        self.house_bot: Callable[[bytes], bytes] | None = None
        self.house_bot_name = ""
        self.is_ready = False
        self.is_lost = False  # the others know it
        self.knows_end = False
        self.left = False
        self.by_default = False
        self.ask: OpenAsk | None = None
        self.ask_count = 0
        self.bank_ms = float(clocks.bank_ms)
        self.strikes = clocks.strikes
        self.defaults_in_a_row = 0
        self.default_reasons: Counter[DefaultReason] = Counter()
        self.refused = RefusedLines()  # acts
        self.late = LateAsks()
        self.used_ms = 0.0
        self.slowest_ms = 0.0
        self.took_ms = NOT_TIMED  # the ask that ends now
        self.times = array("q")  # of each move so far: `took_ms`
        self.written_standing = self.standing  # as the journal has it

    @property
    def standing(self) -> tuple[float, int, int, bool, bool]:
        """The record of a seat in a journal, besides its moves."""
        return self.bank_ms, self.strikes, self.defaults_in_a_row, self.by_default, self.left

    @property
    def default_count(self) -> int:
        return sum(self.default_reasons.values())

    @property
    def is_absent(self) -> bool:
        """The fallback plays at once, and for good."""
        return self.left or self.by_default

    @property
    def is_connected(self) -> bool:
        return self.session is not None and self.session.connection is not None

    def open_ask(self, now: float) -> OpenAsk:
        self.ask_count += 1
        self.ask = OpenAsk(self.ask_count, self.clocks.tries, now)
        return self.ask

    def time_left(self, ask: OpenAsk, now: float) -> tuple[int, int]:
        """Return what is left of the move time and of the bank, as an ask reports it."""
        spent = max(0.0, now - ask.asked_at)
        over = max(0.0, spent - self.clocks.move_ms)
        return max(0, int(self.clocks.move_ms - spent)), max(0, int(self.bank_ms - over))

    def deadline(self, ask: OpenAsk) -> float:
        """Return when the answer is due, with bank and grace. While the socket has not taken the ask, its
        clock does not run; the limit on unsent bytes ends that."""
        session = self.session
        if session is not None and session.connection is not None:
            blocked_at = session.connection.blocked_at
            if blocked_at is not None and ask.sent_at >= blocked_at:
                return inf
        return ask.asked_at + self.clocks.move_ms + self.bank_ms + self._grace_ms

    @property
    def _grace_ms(self) -> int:
        return self.clocks.grace_ms if self.strikes else 0

    def note_late(self, ask: OpenAsk, turn: int) -> None:
        """Note that the time of an ask is over. Call it before that time is taken from the bank."""
        limits = (self.clocks.move_ms, round(self.bank_ms), self._grace_ms)
        self.late.add(Late(ask.id, turn, *limits), ask.asked_at)

    def use_time(self, ask: OpenAsk, now: float) -> float:
        """Take what an answer took from the bank, and a strike where that was not enough."""
        took = max(0.0, now - ask.asked_at)
        over = took - self.clocks.move_ms
        if over > 0:
            if over > self.bank_ms and self.strikes:
                self.strikes -= 1
            self.bank_ms = max(0.0, self.bank_ms - over)
        self.used_ms += took
        self.slowest_ms = max(self.slowest_ms, took)
        self.took_ms = ceil(took)
        return took

    def note_time(self) -> None:
        """Note for a move how long the server waited for it, if it did."""
        self.times.append(self.took_ms)
        self.took_ms = NOT_TIMED

    def player(self) -> SeatedPlayer:
        """Return who sits there, as the journal stores it."""
        session = self.session
        if session is None:
            return SeatedPlayer(self.name, house=self.house_bot_name or UNSET)
        return SeatedPlayer(
            self.name,
            session=session.id,
            login_name=session.name,
            key_hash=session.key_hashes[-1],
            token_hash=UNSET if session.token_hash is None else session.token_hash,
            seat_token_hash=UNSET if session.seat_token_hash is None else session.seat_token_hash,
            wants=session.wants,
        )
