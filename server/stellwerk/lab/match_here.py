"""One match in this process: the session of a server, without a server.

Law: a player gets the `start` and the asks that a client gets, made of the same bytes, and its answers are
held to the same rules. The match has no clock: each ask offers the whole time. An answer may take as long as
it likes, unless there is a limit for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from types import TracebackType
from typing import Any, Final, Literal, cast

import msgspec

from stellwerk.lab.answer_limit import interrupted_after
from stellwerk.lab.players import NamedBot
from stellwerk_base.texts import shown
from stellwerk_bots.bot import Listener, Player
from stellwerk_bots.messages import Ask
from stellwerk_engine import engine
from stellwerk_engine.core.cards import total
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.messages import Act
from stellwerk_protocol.names import Seat
from stellwerk_protocol.results import Result
from stellwerk_server.journal.journal import MemoryJournal
from stellwerk_server.match.audience import event_lines
from stellwerk_server.match.deadlines import Deadlines, Timer
from stellwerk_server.match.match_session import MatchSession
from stellwerk_server.match.plan import MatchPlan
from stellwerk_server.match.recorded import RecordedMatch

OnError = Literal["raise", "play_on"]

_decode: Final = msgspec.json.Decoder().decode  # to Any: a message, as clients read it
_decode_act: Final = msgspec.json.Decoder(Act).decode
_encode: Final = msgspec.json.Encoder().encode
_SHOWN: Final = 200  # characters of an answer in an error


class IllegalAnswerError(ValueError):
    """An answer that a server would refuse. `ask` is the ask as the player got it."""

    def __init__(self, bot: str, seat: Seat, ask: dict[str, Any], answer: object, problem: str) -> None:
        # Any: a message, as clients read it
        turn = ask["view"]["turn"]
        super().__init__(
            f"{bot} in seat {seat}, ask {ask['ask']} in turn {turn}: {problem}; "
            f"the answer was {shown(repr(answer), _SHOWN)}"
        )
        self.bot = bot
        self.seat = seat
        self.ask = ask
        self.answer = answer


class LateAnswerError(TimeoutError):
    """An answer that took longer than `move_s`. Where the player was interrupted, the traceback shows where
    it was."""

    def __init__(self, bot: str, seat: Seat, ask: int, move_s: float) -> None:
        super().__init__(f"{bot} in seat {seat}, ask {ask}: the answer took more than {move_s:g} s")
        self.bot = bot
        self.seat = seat
        self.move_s = move_s


@dataclass(slots=True)
class PlayerConduct:
    """The conduct of a player in a match: the times of its answers, and how many went wrong. `problem` is the
    first of these, `record` what the player says of itself."""

    asks: int = 0
    used_ms: float = 0.0
    slowest_ms: float = 0.0
    refused: int = 0
    raised: int = 0
    late: int = 0
    problem: str = ""
    record: dict[str, Any] = field(default_factory=dict[str, Any])  # Any: what an author puts there

    def took(self, milliseconds: float) -> None:
        """Count an answer."""
        self.asks += 1
        self.used_ms += milliseconds
        self.slowest_ms = max(self.slowest_ms, milliseconds)


@dataclass(frozen=True, slots=True)
class PlayedHere:
    """A match that was played in this process. `replay` has its seed."""

    plan: MatchPlan
    result: Result
    conduct: tuple[PlayerConduct, ...]
    unused_cards: tuple[int, ...]
    replay: bytes = field(repr=False)


def play_here(
    plan: MatchPlan,
    seats: Sequence[NamedBot],
    seeds: Sequence[str],
    on_error: OnError = "raise",
    move_s: float | None = None,
) -> PlayedHere:
    """Play a match between the entrants in these seats. `seeds` are for their own chance, and `move_s` is the
    limit for each answer, in seconds.

    With "raise", what a player raises comes out of here as it is, IllegalAnswerError for an answer that a
    server would refuse, and LateAnswerError for one that took too long. With "play_on" they are counted, and
    the match continues as with a client on a server: instead of an illegal answer with the first listed move,
    instead of an exception or a late answer with the fallback.
    """
    journal, deadlines, bugs = MemoryJournal(), Deadlines(), list[Exception]()
    timer = Timer(deadlines, lambda now: session.come_back(now))
    session = MatchSession(
        RecordedMatch(plan, journal),
        timer=timer,
        unwritten_ms=0.0,
        on_bug=lambda match, error: bugs.append(error),
        on_over=lambda match, now: None,
    )
    players = [
        _SeatedPlayer(entrant, seat, seed, session, on_error, move_s)
        for seat, (entrant, seed) in enumerate(zip(seats, seeds, strict=True))
    ]
    session.record({player.seat: (player.name, player.begin) for player in players}, 0.0)
    session.begin({}, 0.0)
    while not session.is_over:
        for due in deadlines.take_due(0.0):
            due.fire(0.0)
    for error in bugs:  # without what is between a player and the caller
        inside = next((player.traceback for player in players if player.error is error), error.__traceback__)
        raise error.with_traceback(inside)
    result = session.state.result
    assert result is not None
    for player in players:
        player.finish()
    return PlayedHere(
        plan,
        result,
        tuple(player.conduct for player in players),
        tuple(map(total, session.state.hands)),
        journal.replay(),
    )


class _SeatedPlayer:
    """A player in its seat, as a house player of the session."""

    def __init__(
        self,
        entrant: NamedBot,
        seat: Seat,
        seed: str,
        session: MatchSession,
        on_error: OnError,
        move_s: float | None,
    ) -> None:
        self.name = entrant.name
        self.seat = seat
        self.conduct = PlayerConduct()
        self._entrant = entrant
        self._seed = seed
        self._session = session
        self._heard = 0  # events
        self._on_error = on_error
        self._move_s = move_s
        self._player: Player | None = None
        self._listener: Listener | None = None
        self.error: Exception | None = None
        self.traceback: TracebackType | None = None

    def begin(self, start: bytes, _: str) -> Callable[[bytes], bytes]:
        """Make the player, with the seed that its process would get."""
        try:
            self._player = player = self._entrant.make(_decode(start), self._seed)
            self._listener = player if isinstance(player, Listener) else None
        except Exception as error:
            self._raised(error)
        return self._answer

    def finish(self) -> None:
        """Tell the player of the last events, and take what it says of itself."""
        try:
            self._tell_events()
        except Exception as error:
            self._raised(error)
        record = getattr(self._player, "record", None)
        if isinstance(record, dict):
            self.conduct.record = dict(cast("dict[str, Any]", record))  # Any: what an author puts there

    def _answer(self, line: bytes) -> bytes:
        ask = _decode(line)
        about = {"type": "act", "match": ask["match"], "ask": ask["ask"]}
        if self._player is None:
            return _encode(about | {"move": ask["fallback"]})
        listed = len(ask["legal"])
        began = perf_counter()
        try:
            answer = self._think(self._player, ask)
        except Exception as error:
            self._raised(error)
            answer = {"move": ask["fallback"]}
        self.conduct.took(1000 * (perf_counter() - began))
        try:
            return self._checked(about, answer, listed)
        except _RefusedError as refused:
            problem = str(refused)
        asked = _decode(line)  # once more, because the player may have changed what it got
        illegal = IllegalAnswerError(self.name, self.seat, asked, answer, problem)
        if self._on_error == "raise":
            self.error = illegal
            raise illegal
        self.conduct.refused += 1
        self.conduct.problem = self.conduct.problem or str(illegal)
        return _encode(about | {"index": 0})  # as the client library does after a refusal

    def _think(self, player: Player, ask: Ask) -> object:
        """Return the player's answer. LateAnswerError if it took too long."""
        if self._move_s is None:
            self._tell_events()
            return player.answer(ask)
        late = LateAnswerError(self.name, self.seat, ask["ask"], self._move_s)
        began = perf_counter()
        with interrupted_after(self._move_s, late):
            self._tell_events()
            answer: object = player.answer(ask)
        if perf_counter() - began > self._move_s:
            raise late
        return answer

    def _tell_events(self) -> None:
        """Tell a player that wants to know what has happened since its last ask."""
        session, before = self._session, self._heard
        if self._listener is None or len(session.events) == before:
            return
        self._heard = len(session.events)
        lines = event_lines(session.id, session.game, self.seat, session.events[before:], before)
        for line in lines.splitlines():
            self._listener.event(_decode(line))

    def _checked(self, about: dict[str, Any], answer: object, listed: int) -> bytes:
        """Return the act, or raise _RefusedError where a server would refuse it."""
        # Any: a message, as clients read it
        if not isinstance(answer, dict):
            raise _RefusedError('expected {"index": N} or {"move": {...}}')
        try:
            line = _encode(answer | about)
            act = _decode_act(line)
        except (TypeError, ValueError, msgspec.MsgspecError) as error:
            raise _RefusedError(f"expected an answer that fits the protocol: {error}") from None
        if (act.index is msgspec.UNSET) == (act.move is msgspec.UNSET):
            raise _RefusedError("expected exactly one of index and move")
        try:
            if act.move is not msgspec.UNSET:
                engine.check(self._session.state, self.seat, act.move)
            elif act.index is not msgspec.UNSET and act.index >= listed:
                raise _RefusedError(f"game.not_available at /index: expected an index below {listed}")
        except IllegalMoveError as error:
            raise _RefusedError(f"{error.code} at /move{error.pointer}: expected {error.expected}") from None
        return line

    def _raised(self, error: Exception) -> None:
        if self._on_error == "raise":
            self.error = error
            self.traceback = error.__traceback__ and error.__traceback__.tb_next
            raise error
        if isinstance(error, LateAnswerError):
            self.conduct.late += 1
        else:
            self.conduct.raised += 1
        self.conduct.problem = self.conduct.problem or f"{type(error).__name__}: {shown(str(error), _SHOWN)}"


class _RefusedError(Exception):
    """An answer that a server would refuse, with what it expects."""
