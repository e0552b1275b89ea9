"""The program at the other end: a bot that is started as a process, or a client that connects by itself.

The law: if a caller does not connect, `FailedError` is raised at its deadline, or when its process has
exited. When `end` returns, nothing that was started here runs any more, and no connection to it is open.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Final, Protocol

from stellwerk_kit.bot_process import BotProcess, Transport, described_status
from stellwerk_kit.failed import FailedError
from stellwerk_kit.lines import MOST_UNREAD, PIECE, Lines, lines_over

NAME: Final = "patient"  # of a bot that is started
LOOK_EVERY: Final = 0.05  # seconds between two checks whether a bot that should connect has exited
LOOPBACK: Final = "127.0.0.1"
SECONDS_TO_GO: Final = 1.0  # for a client that got `bye`, to read it and close


class StartedBot(Protocol):
    """The process of a bot: a `BotProcess`, or one that the caller started and confined."""

    @property
    def pipes(self) -> tuple[IO[bytes], IO[bytes]]: ...

    def status_by(self, deadline: float) -> int | None: ...

    def last_lines(self) -> tuple[str, ...]: ...

    def end(self) -> None: ...

    def own_listener(self) -> socket.socket | None:
        """Return the listening socket to which the bot connects in a network of its own, if it has one."""
        ...


Start = Callable[[Mapping[str, str], Transport], StartedBot]
"""Start a bot with these variables, which are those that a server sets, and no others of that kind."""


def start_of(command: Sequence[str]) -> Start:
    """Return how a bot is started by its command, with all that the doctor finds in its own environment."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("STELLWERK_")}
    return lambda variables, transport: BotProcess(command, {**inherited, **variables}, transport)


class Door:
    """A listening socket on this machine, which can be closed and opened again."""

    def __init__(self, port: int = 0) -> None:
        self._listener = socket.create_server((LOOPBACK, port))
        self.host, self.port = self._listener.getsockname()

    @staticmethod
    def at(listener: socket.socket) -> Door:
        """Return the door of a network that is not the doctor's, in which it can make no socket itself."""
        return _DoorElsewhere(listener)

    def wait(self, deadline: float) -> socket.socket | None:
        """Return the next connection, or None. It waits only briefly, so that its caller can look after
        others meanwhile."""
        self._listener.settimeout(max(0.0, min(LOOK_EVERY, deadline - time.monotonic())))
        try:
            return self._listener.accept()[0]
        except (TimeoutError, BlockingIOError):
            return None

    def stay_shut(self, seconds: float) -> None:
        """Refuse connections for a while. The port stays taken, so that no other program gets it."""
        self._listener.close()
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind((LOOPBACK, self.port))
        time.sleep(seconds)
        self._listener.listen()

    def close(self) -> None:
        self._listener.close()


class _DoorElsewhere(Door):
    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self.host, self.port = listener.getsockname()
        # Else the connections that were accepted would keep it from listening again.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)

    def stay_shut(self, seconds: float) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        time.sleep(seconds)
        self._listener.listen()


class Caller(ABC):
    """A program at the other end. `token` is the token that its login must have, and `name` the name that it
    should have: None for a client that we did not start."""

    transport: Transport = "tcp"

    def __init__(self, process: StartedBot | None, token: str | None) -> None:
        self.token = token
        self.name = None if process is None else NAME
        self._process = process

    def connect(self, seconds: float, expected: str) -> Lines:
        """Wait for its first connection."""
        return self.connect_again(seconds, expected)

    @abstractmethod
    def connect_again(self, seconds: float, expected: str) -> Lines:
        """Wait for another connection, after `hang_up`."""

    @abstractmethod
    def hang_up(self) -> None:
        """Close the connection, so that the caller sees the end of its input."""

    @abstractmethod
    def stay_out(self, seconds: float) -> None:
        """Refuse all connections for a while."""

    def status_by(self, deadline: float) -> int | None:
        """Wait for the exit status. Return None if there is none at the deadline, or if the process is
        unknown."""
        return None if self._process is None else self._process.status_by(deadline)

    def last_lines(self) -> tuple[str, ...]:
        """Return the last lines of its output."""
        return () if self._process is None else self._process.last_lines()

    def end(self) -> None:
        if self._process is not None:
            self._process.end()


class _OverTcp(Caller):
    def __init__(self, door: Door, process: StartedBot | None = None, token: str | None = None) -> None:
        super().__init__(process, token)
        self._door = door
        self._socket: socket.socket | None = None

    def connect_again(self, seconds: float, expected: str) -> Lines:
        """Wait for a connection until the deadline, or until the process has exited."""
        deadline = time.monotonic() + seconds
        while (connection := self._door.wait(deadline)) is None:
            if (status := self.status_by(0)) is not None:
                connection = self._door.wait(0)  # it may have connected just before
                if connection is None:
                    raise FailedError(expected, described_status(status))
                break
            if time.monotonic() >= deadline:
                raise FailedError(expected, f"within {seconds:g} s nothing")
        return self.take(connection)

    def take(self, connection: socket.socket) -> Lines:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = connection
        return Lines(connection.fileno(), connection.fileno())

    def hang_up(self) -> None:
        if self._socket is not None:
            with contextlib.suppress(OSError):  # the bot has closed it already
                self._socket.shutdown(socket.SHUT_WR)
                left = MOST_UNREAD  # bytes of input: left unread, they would turn the end into a reset
                while left > 0 and (piece := self._socket.recv(PIECE)):
                    left -= len(piece)
            self._socket.close()
            self._socket = None

    def stay_out(self, seconds: float) -> None:
        self._door.stay_shut(seconds)


class StartedOverTcp(_OverTcp):
    def __init__(self, start: Start, bot_seed: str) -> None:
        door, token = Door(), secrets.token_urlsafe(24)
        try:
            process = start(_variables_of(f"tcp://{door.host}:{door.port}", token, bot_seed), "tcp")
        except BaseException:
            door.close()
            raise
        inside = process.own_listener()
        if inside is not None:
            door.close()
            door = Door.at(inside)
        super().__init__(door, process, token)

    def end(self) -> None:
        super().end()
        self._door.close()
        if self._socket is not None:
            self._socket.close()


class StartedOverStdio(Caller):
    """A started bot whose standard input and output are its only connection."""

    transport: Transport = "stdio"

    def __init__(self, start: Start, bot_seed: str) -> None:
        token = secrets.token_urlsafe(24)
        process = start(_variables_of("stdio:", token, bot_seed), "stdio")
        super().__init__(process, token)
        self._pipes = process.pipes

    def connect(self, seconds: float, expected: str) -> Lines:
        return lines_over(*self._pipes)

    def connect_again(self, seconds: float, expected: str) -> Lines:
        raise FailedError(expected, "nothing: pipes cannot be opened again")

    def hang_up(self) -> None:
        self._pipes[1].close()

    def stay_out(self, seconds: float) -> None:
        """Do nothing: it has its pipes, and makes no connections."""


class AnyClient(_OverTcp):
    """A client that we did not start. It is waited for without a deadline, and its process is unknown."""

    def connect(self, seconds: float, expected: str) -> Lines:
        while (connection := self._door.wait(time.monotonic() + LOOK_EVERY)) is None:
            pass
        return self.take(connection)

    def end(self) -> None:
        """Let the client read the last messages, then close."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)
                self._socket.settimeout(SECONDS_TO_GO)
                deadline = time.monotonic() + SECONDS_TO_GO
                while self._socket.recv(PIECE) and time.monotonic() < deadline:
                    pass
            self._socket.close()


def _variables_of(address: str, token: str, bot_seed: str) -> Mapping[str, str]:
    """Return the variables of a started bot."""
    return {
        "STELLWERK_ADDRESS": address,
        "STELLWERK_TOKEN": token,
        "STELLWERK_BOT_SEED": bot_seed,
        "STELLWERK_NAME": NAME,
    }
