"""The bot under examination: the messages that it gets, and those that it must send.

The law: a bot that does not do what is expected causes a `FailedError`, which shows what was expected and
what came instead. When the block is left, its process group is gone, if we started it.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Final, TypeVar

import msgspec
from msgspec import UNSET

from stellwerk_engine.core.state import Move
from stellwerk_kit.bot_process import described_status
from stellwerk_kit.doctor.answer_clock import BANK_MS, AnswerClock
from stellwerk_kit.doctor.callers import NAME, Caller
from stellwerk_kit.doctor.scripted_match import TRIES, ScriptedMatch
from stellwerk_kit.failed import FailedError, SilenceError
from stellwerk_kit.lines import LINE_BEFORE_LOGIN, Lines, NoLineError, shown_line
from stellwerk_protocol.client_line import LineError, read_line
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.messages import (
    PROTOCOL_VERSION,
    Act,
    Bye,
    Clocks,
    End,
    Error,
    FromClient,
    FromServer,
    Hello,
    Limits,
    Login,
    Ping,
    Pong,
    Ready,
)

CONNECTION: Final = "a connection to STELLWERK_ADDRESS (over standard streams: --transport stdio)"
LIMITS: Final = Limits(
    line_before_login=LINE_BEFORE_LOGIN,
    line=16384,
    depth=64,
    login_ms=30_000,
    messages_a_second=20,
    burst=40,
    unsent_bytes=1 << 20,
    unsent_ms=5_000,
)
NO_MESSAGE: Final = ("wire.not_json", "protocol.not_an_object")
PRINTS_BELONG: Final = " (standard output is for messages only: print all else to standard error)"
PAUSE: Final = 0.001  # seconds between two pieces of a line, so that they arrive one by one
SECONDS_TO_EXIT: Final = 0.5  # for a bot that has closed its connection, to get its exit status

M = TypeVar("M", bound=FromClient)

encode: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Patience:
    """The times, in seconds, that the doctor waits."""

    start: float  # from the start of the process to a connection: starting a runtime is not thinking
    answer: float
    leave: float  # until it has exited, once it should
    come_back: float  # until it is connected again
    quiet: float  # to check that nothing comes
    away: float  # to check that it does not connect again

    @property
    def move_ms(self) -> int:
        """Return the time for an answer that the bot is given; the doctor waits longer."""
        return min(1000, int(self.answer * 500))

    @property
    def bank_ms(self) -> int:
        """Return the bank of a match that the bot is given, within the time that the doctor waits."""
        return min(BANK_MS, int(self.answer * 400))

    def clock(self) -> AnswerClock:
        """Return the clock of a new match."""
        return AnswerClock(self.move_ms, self.bank_ms)


def patience(timeout: float) -> Patience:
    return Patience(
        start=4 * timeout,
        answer=timeout,
        leave=timeout,
        come_back=2 * timeout,
        quiet=min(0.1, timeout),
        away=min(0.5, timeout),
    )


class Allowance:
    """The number of lines that a server would read at once, and in the long run."""

    def __init__(self, now: float) -> None:
        self._left = float(LIMITS.burst)
        self._then = now

    def spend(self, now: float) -> bool:
        """Test whether one more line is allowed, and count it."""
        earned = (now - self._then) * LIMITS.messages_a_second
        self._left = min(float(LIMITS.burst), self._left + earned) - 1
        self._then = now
        return self._left >= 0


class Patient:
    """One bot, from its first connection to its end. Use it in a `with` block.

    With `may_be_ready_again` it got `start` in the middle of a match, in which no server waits for `ready`.
    With `may_be_late` the clocks of its matches only count. With `must_resume` it breaks the protocol if it
    does not resume its session.
    """

    def __init__(
        self, caller: Caller, patience: Patience, *, may_be_late: bool = False, must_resume: bool = False
    ) -> None:
        self.patience = patience
        self.may_be_late = may_be_late
        self.must_resume = must_resume
        self.name = caller.name or NAME  # the one that it logged in with, if it chooses
        self.session = secrets.token_hex(8)
        self.keys: list[str] = []  # for resuming: only the last one is valid
        self.has_seat = True  # without having to join
        self.may_be_ready_again = False
        self._caller = caller
        self._lines: Lines | None = None
        self._allowance = Allowance(time.monotonic())
        self.matches: set[str] = set()  # that it plays in
        self._late_asks: set[tuple[str, int]] = set()  # ended, but an act may be under way

    def __enter__(self) -> Patient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self.was_started and self._lines is not None:
            # It is not at fault: only the case is over for it.
            failed = [
                Error("server.failed", "nothing: this case is over", match=match) for match in self.matches
            ]
            with contextlib.suppress(FailedError):
                self.say(*failed, Bye("done", "nothing: this case is over"))
        self._caller.end()
        if isinstance(error, FailedError):
            error.printed = self._caller.last_lines()

    # -- the connection

    def connect(self) -> None:
        """Wait for its first connection; over stdio it has one."""
        self._lines = self._caller.connect(self.patience.start, CONNECTION)

    def cut(self) -> None:
        """Close the connection. Over stdio the bot sees the end of its input."""
        self._caller.hang_up()
        self._lines = None

    def comes_back(self) -> bool:
        """Wait for another connection. Return False if the bot has exited instead, or stayed away."""
        try:
            self._lines = self._caller.connect_again(self.patience.come_back, "another connection")
        except FailedError:
            return False
        return True

    def stays_away(self, expected: str) -> None:
        try:
            self._caller.connect_again(self.patience.away, expected)
        except FailedError:
            return
        raise FailedError(expected, "another connection")

    def expect_no_connection(self, seconds: float) -> None:
        """Refuse all connections for a while."""
        self._caller.stay_out(seconds)

    def exits(self) -> int | None:
        """Wait until the process has exited, and return its status. None: it still runs, or its process is
        unknown."""
        return self._caller.status_by(time.monotonic() + self.patience.leave)

    @property
    def was_started(self) -> bool:
        """Test whether we started the process."""
        return self._caller.token is not None

    @property
    def in_pieces(self) -> int:
        """Return how many short lines of this connection came in more than one piece."""
        return self._open_lines.in_pieces

    # -- what the doctor says

    def say(self, *messages: FromServer | bytes) -> None:
        """Send a message in one segment. Bytes are sent as a line, with a newline added."""
        for message in messages:
            match message:
                case Bye():
                    self.matches.clear()
                case End() | Error(code="server.failed"):
                    self.matches.discard(message.match or "")
                case _:
                    pass
        self.send(b"".join(map(as_line, messages)))

    def say_in_pieces(self, message: FromServer | bytes, size: int) -> None:
        """Send a message, this many bytes at a time."""
        line = as_line(message)
        for begin in range(0, len(line), size):
            self.send(line[begin : begin + size])
            time.sleep(PAUSE)

    def send(self, data: bytes) -> None:
        try:
            self._open_lines.send(data, time.monotonic() + self.patience.answer)
        except NoLineError as error:
            raise FailedError("that it reads what it is sent", error.came) from None

    def new_key(self) -> str:
        """Return the key for the next resume, for `welcome`."""
        self.keys.append(secrets.token_urlsafe(24))
        return self.keys[-1]

    # -- what it expects

    def hear(self, kind: type[M], expected: str, seconds: float | None = None) -> M:
        """Return the bot's next message, which must be of this kind. Pings are answered and skipped. The bot
        may take as long as for every answer, unless `seconds` is given."""
        message = self._receive_next(expected, self.patience.answer if seconds is None else seconds)
        if not isinstance(message, kind):
            raise FailedError(expected, _shown_message(message))
        return message

    def hear_login(self, expected: str) -> Login:
        """Return a login that a server would accept, with or without `resume`."""
        over_stdio = self._caller.transport == "stdio"  # over stdio nothing shows that it has started
        login = self.hear(Login, expected, self.patience.start if over_stdio else None)
        if login.protocol != PROTOCOL_VERSION:
            raise FailedError(f"{expected}, with `protocol` {PROTOCOL_VERSION}", _shown_message(login))
        if login.resume is UNSET and self._caller.token not in (None, login.token):
            raise FailedError(f"{expected}, with the `token` in STELLWERK_TOKEN", _shown_message(login))
        if self._caller.name is None and not self.keys:
            self.name = login.name
        if login.resume is UNSET:
            self.has_seat = login.token is not UNSET
        self._open_lines.longest = LIMITS.line
        return login

    def hear_act(self, match: ScriptedMatch, seconds: float | None = None) -> Move:
        """Return the move of a legal answer to the open ask. With `seconds` its clock stands still
        meanwhile."""
        expected = f"an act for ask {match.ask_number} ({match.game.id}, {match.decision})"
        began = time.monotonic()
        act = self.hear(Act, expected, seconds)
        move = self.judge(match, act, expected)
        wrong = match.clock.charge(time.monotonic() - began) if seconds is None else None
        if wrong is not None and not self.may_be_late:
            raise FailedError(f"{expected} in time", wrong)
        return move

    def judge(self, match: ScriptedMatch, act: Act, expected: str) -> Move:
        """Return the same for an act that was already received."""
        if (act.match, act.ask) != (match.id, match.ask_number):
            raise FailedError(f"{expected} of the match {match.id}", _shown_message(act))
        if (act.index is UNSET) == (act.move is UNSET):
            raise FailedError(f"{expected}, with exactly one of `index` and `move`", _shown_message(act))
        try:
            return match.check(act)
        except IllegalMoveError as error:
            raise FailedError(f"{expected} that is legal", f"{_shown_message(act)}: {error}") from None

    def may_act_late(self, match: ScriptedMatch) -> None:
        """Note that the open ask ended without its act, and that one may be under way."""
        self._late_asks.add((match.id, match.ask_number))

    def is_quiet(self, expected: str, *, or_gone: bool = False) -> None:
        """Check that nothing but pings comes for a while, or that the bot has closed the connection."""
        try:
            message = self._receive_next(expected, self.patience.quiet)
        except SilenceError:
            return
        except FailedError:
            if or_gone and self._open_lines.is_over:
                return
            raise
        raise FailedError(expected, _shown_message(message))

    def _receive_next(self, expected: str, seconds: float) -> FromClient:
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._open_lines.receive(deadline)
            except NoLineError as error:
                raise self._no_line(expected, error, seconds) from None
            try:
                message = read_line(line)
            except LineError as error:
                expected = f"{expected}, in a valid line"
                if self._caller.transport == "stdio" and error.code in NO_MESSAGE:
                    expected += PRINTS_BELONG
                raise FailedError(expected, f"{shown_line(line)}: {error}") from None
            if not self._answer_in_passing(message):
                return message
            if not self._allowance.spend(time.monotonic()):
                limits = f"{LIMITS.messages_a_second} lines a second, and {LIMITS.burst} at once"
                raise FailedError(
                    f"{expected}, and no more than {limits}", f"more, such as {_shown_message(message)}"
                )

    def _answer_in_passing(self, message: FromClient) -> bool:
        """Answer a message that may come at any time. Return False for all others."""
        match message:
            case Ping() if self.keys:
                self.say(Pong(message.echo))
            case Ready() if self.may_be_ready_again:
                self.say(
                    Error(
                        "protocol.out_of_phase", "acts, because the match is under way", match=message.match
                    )
                )
            case Act() if (message.match, message.ask) in self._late_asks:
                self._late_asks.discard((message.match, message.ask))
                self.say(stale(message.match, message.ask))
            case _:
                return False
        return True

    def _no_line(self, expected: str, error: NoLineError, seconds: float) -> FailedError:
        if not error.ended:
            kind = SilenceError if error.silence else FailedError
            return kind(expected, f"within {seconds:g} s {error.came}")
        if not self.was_started:
            return FailedError(expected, error.came)
        status = self._caller.status_by(time.monotonic() + SECONDS_TO_EXIT)
        ending = "it still runs" if status is None else described_status(status)
        return FailedError(expected, f"{error.came}; {ending}")

    @property
    def _open_lines(self) -> Lines:
        assert self._lines is not None
        return self._lines


def hello(protocols: tuple[int, ...] = (PROTOCOL_VERSION,)) -> Hello:
    return Hello(protocols, "stellwerk doctor", LIMITS, ("resume",))


def stale(match: str, ask: int) -> Error:
    """Return the answer to an act that came too late."""
    return Error(code="protocol.stale_ask", expected="an open ask", pointer="/ask", match=match, ask=ask)


def clocks(patience: Patience) -> Clocks:
    return Clocks(
        set_up_ms=int(patience.start * 1000),
        move_ms=patience.move_ms,
        bank_ms=patience.bank_ms,
        grace_ms=0,
        strikes=0,
        tries=TRIES,
        defaults_in_a_row=3,
        defaults=10,
    )


def as_line(message: FromServer | bytes) -> bytes:
    return (message if isinstance(message, bytes) else encode(message)) + b"\n"


def _shown_message(message: FromClient) -> str:
    return shown_line(encode(message))
