"""The bot under examination: its process, its connection, and what the doctor expects of it.

The law: a bot that does not do what is expected ends in `FailedError`, which says what was expected and what
came instead; and when the block is left its whole group of processes is gone.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, TypeVar

import msgspec
from msgspec import UNSET

from stellwerk_engine.decision import Move
from stellwerk_kit.bot_process import BotProcess, Transport, told_status
from stellwerk_kit.lines import PIECE, Lines, NoLineError, shown_line
from stellwerk_kit.scripted_match import TRIES, ScriptedMatch
from stellwerk_protocol.client_line import LineError, read_line
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.messages import (
    PROTOCOL_VERSION,
    Act,
    Clocks,
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

NAME: Final = "patient"
LIMITS: Final = Limits(
    line_before_login=4096,
    line=16384,
    depth=64,
    login_ms=30_000,
    messages_a_second=20,
    burst=40,
    unsent_bytes=1 << 20,
    unsent_ms=5_000,
)
PAUSE: Final = 0.001  # seconds between two pieces of a line, so that they arrive one by one
LOOK_EVERY: Final = 0.05  # seconds between two looks whether a bot that is to connect has exited
SECONDS_TO_EXIT: Final = 0.5  # for a bot that has closed its connection, to tell how it ended

M = TypeVar("M", bound=FromClient)

encode: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds that the doctor waits."""

    start: float  # from the start of the process to a connection: starting a runtime is not thinking
    answer: float
    leave: float  # until it has exited, once it should
    come_back: float  # until it is connected again
    quiet: float  # to see that nothing comes
    away: float  # to see that it does not connect again

    @property
    def move_ms(self) -> int:
        """What the bot is told; the doctor waits longer."""
        return min(1000, int(self.answer * 500))


def patience(timeout: float) -> Patience:
    return Patience(
        start=4 * timeout,
        answer=timeout,
        leave=timeout,
        come_back=2 * timeout,
        quiet=min(0.3, timeout),
        away=min(1.0, timeout),
    )


class FailedError(Exception):
    """The bot has failed. `printed` are the last lines of what it printed."""

    def __init__(self, expected: str, came: str) -> None:
        super().__init__(f"expected {expected}; came {came}")
        self.expected = expected
        self.came = came
        self.printed: tuple[str, ...] = ()


class SilenceError(FailedError):
    """Nothing came in time, and it still could."""


class Patient:
    """One process of the bot. To be used in a `with` block."""

    def __init__(
        self, command: Sequence[str], transport: Transport, patience: Patience, bot_seed: str
    ) -> None:
        self.patience = patience
        self.transport: Transport = transport
        self.token = secrets.token_urlsafe(24)
        self.session = secrets.token_hex(8)
        self.keys: list[str] = []  # for resuming: only the last one is good
        self.may_be_ready_again = False  # it got `start` in the middle of a match, which nobody waits for
        self._lines: Lines | None = None
        self._socket: socket.socket | None = None
        self._listener = _listener() if transport == "tcp" else None
        try:
            self._process = BotProcess(command, self._environment(bot_seed), transport)
        except BaseException:
            self._close_sockets()
            raise

    def __enter__(self) -> Patient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.end()
        self._close_sockets()
        if isinstance(error, FailedError):
            error.printed = self._process.last_lines()

    def _environment(self, bot_seed: str) -> Mapping[str, str]:
        """The doctor's own, and what a server gives a bot that it starts."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("STELLWERK_")}
        return inherited | {
            "STELLWERK_ADDRESS": "stdio:" if self._listener is None else _address(self._listener),
            "STELLWERK_TOKEN": self.token,
            "STELLWERK_BOT_SEED": bot_seed,
            "STELLWERK_NAME": NAME,
        }

    # -- the connection

    def connect(self) -> None:
        """Wait for the bot's first connection; over stdio it has one."""
        if self._listener is not None:
            self._accept(self.patience.start, "a connection to STELLWERK_ADDRESS")
        else:
            output, input_ = self._process.pipes
            os.set_blocking(output.fileno(), False)
            os.set_blocking(input_.fileno(), False)
            self._lines = Lines(output.fileno(), input_.fileno(), LIMITS.line_before_login)

    def cut(self) -> None:
        """Close the connection. Over stdio the bot sees the end of its input."""
        if self._socket is not None:
            with contextlib.suppress(OSError):  # the bot has closed it already
                self._socket.shutdown(socket.SHUT_WR)
                while self._socket.recv(PIECE):  # what is unread would turn the end into a reset
                    pass
            self._socket.close()
        else:
            self._process.pipes[1].close()
        self._lines = None

    def comes_back(self) -> bool:
        """Wait for another connection. False: it has exited instead, or stayed away."""
        try:
            self._accept(self.patience.come_back, "another connection")
        except FailedError:
            return False
        return True

    def stays_away(self, expected: str) -> None:
        try:
            self._accept(self.patience.away, expected)
        except FailedError:
            return
        raise FailedError(expected, "another connection")

    def exits(self, expected: str) -> int:
        """Wait until the process has exited, and return its status."""
        status = self._process.status_by(time.monotonic() + self.patience.leave)
        if status is None:
            raise FailedError(expected, f"it still ran {self.patience.leave:g} s later")
        return status

    def _accept(self, seconds: float, expected: str) -> None:
        """Wait for a connection, and no longer than until the process has exited."""
        assert self._listener is not None
        deadline = time.monotonic() + seconds
        while (connection := self._look_for_connection(deadline)) is None:
            if (status := self._process.status()) is not None:
                connection = self._look_for_connection(0)  # it may have connected just before
                if connection is None:
                    raise FailedError(expected, told_status(status))
                break
            if time.monotonic() >= deadline:
                raise FailedError(expected, f"within {seconds:g} s nothing")
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = connection
        self._lines = Lines(connection.fileno(), connection.fileno(), LIMITS.line_before_login)

    def _look_for_connection(self, deadline: float) -> socket.socket | None:
        assert self._listener is not None
        self._listener.settimeout(max(0.0, min(LOOK_EVERY, deadline - time.monotonic())))
        try:
            return self._listener.accept()[0]
        except (TimeoutError, BlockingIOError):
            return None

    def _close_sockets(self) -> None:
        for closable in (self._listener, self._socket):
            if closable is not None:
                closable.close()

    # -- what the doctor says

    def say(self, *messages: FromServer | bytes) -> None:
        """In one segment. Bytes are a line as it is, without its newline."""
        self.send(b"".join(as_line(message) for message in messages))

    def say_in_pieces(self, message: FromServer | bytes, size: int) -> None:
        """So many bytes at a time."""
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
        """The key for the next resumption, for `welcome`."""
        self.keys.append(secrets.token_urlsafe(24))
        return self.keys[-1]

    # -- what it expects

    def hear(self, kind: type[M], expected: str) -> M:
        """The bot's next message, which has to be of this kind. Pings are answered and passed over."""
        return self._hear(kind, expected, self.patience.answer)

    def hear_login(self, expected: str) -> Login:
        """A login that a server would accept, whether it resumes or not."""
        over_stdio = self._listener is None  # there nothing tells that it has started
        login = self._hear(Login, expected, self.patience.start if over_stdio else self.patience.answer)
        if login.protocol != PROTOCOL_VERSION:
            raise FailedError(f"{expected}, with `protocol` {PROTOCOL_VERSION}", _shown(login))
        if login.token != self.token:
            raise FailedError(f"{expected}, with the `token` in STELLWERK_TOKEN", _shown(login))
        self._open_lines.longest = LIMITS.line
        return login

    def hear_act(self, match: ScriptedMatch) -> Move:
        """The move of a legal answer to the open ask."""
        expected = f"an act for ask {match.ask_number} ({match.game.id}, {match.decision})"
        return self.judge(match, self.hear(Act, expected), expected)

    def judge(self, match: ScriptedMatch, act: Act, expected: str) -> Move:
        """The same for an act that was heard already."""
        if (act.match, act.ask) != (match.id, match.ask_number):
            raise FailedError(f"{expected} of the match {match.id}", _shown(act))
        if (act.index is UNSET) == (act.move is UNSET):
            raise FailedError(f"{expected}, with exactly one of `index` and `move`", _shown(act))
        try:
            return match.check(act)
        except IllegalMoveError as error:
            raise FailedError(f"{expected} that is legal", f"{_shown(act)}: {error}") from None

    def is_quiet(self, expected: str) -> None:
        """Nothing but pings comes for a while."""
        try:
            message = self._next(expected, self.patience.quiet)
        except SilenceError:
            return
        raise FailedError(expected, _shown(message))

    def _hear(self, kind: type[M], expected: str, seconds: float) -> M:
        message = self._next(expected, seconds)
        if not isinstance(message, kind):
            raise FailedError(expected, _shown(message))
        return message

    def _next(self, expected: str, seconds: float) -> FromClient:
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._open_lines.receive(deadline)
            except NoLineError as error:
                raise self._no_line(expected, error, seconds) from None
            message = _read(line, expected)
            if isinstance(message, Ping) and self.keys:
                self.say(Pong(message.echo))
            elif isinstance(message, Ready) and self.may_be_ready_again:
                self.say(
                    Error("protocol.out_of_phase", "acts, for the match is under way", match=message.match)
                )
            else:
                return message

    def _no_line(self, expected: str, error: NoLineError, seconds: float) -> FailedError:
        if not error.ended:
            kind = SilenceError if error.silence else FailedError
            return kind(expected, f"within {seconds:g} s {error.came}")
        status = self._process.status_by(time.monotonic() + SECONDS_TO_EXIT)
        ending = "it still runs" if status is None else told_status(status)
        return FailedError(expected, f"{error.came}; {ending}")

    @property
    def _open_lines(self) -> Lines:
        assert self._lines is not None
        return self._lines


def hello(protocols: tuple[int, ...] = (PROTOCOL_VERSION,)) -> Hello:
    return Hello(protocols, "stellwerk doctor", LIMITS, ("resume",))


def clocks(patience: Patience) -> Clocks:
    return Clocks(
        set_up_ms=int(patience.start * 1000),
        move_ms=patience.move_ms,
        bank_ms=0,
        grace_ms=0,
        strikes=0,
        tries=TRIES,
        defaults_in_a_row=3,
        defaults=10,
    )


def as_line(message: FromServer | bytes) -> bytes:
    return (message if isinstance(message, bytes) else encode(message)) + b"\n"


def _read(line: bytes, expected: str) -> FromClient:
    try:
        return read_line(line)
    except LineError as error:
        raise FailedError(f"{expected}, in a valid line", f"{shown_line(line)}: {error}") from None


def _shown(message: FromClient) -> str:
    return shown_line(encode(message))


def _listener() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()
    return f"tcp://{host}:{port}"
