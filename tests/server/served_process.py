"""`stellwerk serve` as a process, and clients that talk to it over real sockets."""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import struct
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

PATIENCE: Final = 60.0  # seconds; for machines that have much else to do

Message = dict[str, Any]  # Any: that is how json hands values on


class Caller:
    """One connection. What it reads are whole messages; EOFError at the end."""

    def __init__(
        self,
        port: int,
        tls: ssl.SSLContext | None = None,
        *,
        host: str = "127.0.0.1",
        source: str = "",
        receive_bytes: int | None = None,
    ) -> None:
        """Connect from the address `source`, with a kernel that takes no more than about `receive_bytes`."""
        plain = socket.socket()
        if receive_bytes is not None:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        plain.settimeout(PATIENCE)
        plain.bind((source, 0))
        plain.connect((host, port))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = plain if tls is None else tls.wrap_socket(plain, server_hostname="localhost")
        self._lines: IO[bytes] = self.socket.makefile("rb")

    def read(self) -> Message:
        line = self._lines.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        message: Message = json.loads(line)
        return message

    def until(self, kind: str, **fields: object) -> Message:
        """Return the next message of this type with these fields, and skip those before it."""
        while True:
            message = self.read()
            if message["type"] == kind and all(message.get(name) == value for name, value in fields.items()):
                return message

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def say(self, **message: object) -> None:
        self.send(json.dumps(message).encode() + b"\n")

    def login(self, name: str, **fields: object) -> Message:
        self.say(type="login", protocol=1, name=name, **fields)
        return self.until("welcome")

    def resume(self, welcome: Message, seen: Message | None = None, **fields: object) -> None:
        """Ask for a session back, whose client has seen all before an ask, or nothing yet."""
        last_events = {} if seen is None else {seen["match"]: seen["after_event"]}
        resume = {"session": welcome["session"], "key": welcome["resume_key"], "last_events": last_events}
        self.say(type="login", protocol=1, name=welcome["name"], resume=resume, **fields)

    def practice(self, game: str = "usa", others: int = 1, **fields: object) -> Message:
        """Start a practice match, and return its first ask."""
        self.say(type="join", game=game, players=others + 1, against=["random"] * others, **fields)
        start = self.until("start")
        self.say(type="ready", match=start["match"])
        return self.until("ask")

    def act(self, ask: Message, **fields: object) -> None:
        self.say(type="act", match=ask["match"], ask=ask["ask"], **(fields or {"index": 0}))

    def play_on(self, ask: Message, turns: int | None = None) -> Message:
        """Answer with the first move, so many times or to the end: the next ask, or the end."""
        message = ask
        while turns is None or turns > 0:
            self.act(message)
            message = self.read()
            while message["type"] not in ("ask", "end"):
                message = self.read()
            if message["type"] == "end":
                return message
            turns = None if turns is None else turns - 1
        return message

    def reset(self) -> None:
        """Disappear without a goodbye."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self) -> None:
        self._lines.close()
        self.socket.close()


def watch_and_leave(match: str) -> bytes:
    """Return lines that make a server send much: all that a new spectator gets, and that again next time."""
    watch = {"type": "watch", "match": match, "viewer": "public"}
    leave = {"type": "leave", "match": match}
    return b"".join(json.dumps(message).encode() + b"\n" for message in (watch, leave))


class Serving:
    """A running server. Its log is read when it has ended, or from its file."""

    def __init__(self, folder: Path, flags: Sequence[str], prefix: Sequence[str]) -> None:
        folder.mkdir(exist_ok=True)
        self.data = folder / "data"
        self.log_path = folder / "log"
        self._callers: list[Caller] = []
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *prefix,
                    sys.executable,
                    "-m",
                    "stellwerk",
                    "serve",
                    "--listen",
                    "0",
                    "--data",
                    self.data,
                    *flags,
                ],
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline().decode()
        if not line.startswith("listening on "):
            self.process.wait(PATIENCE)
            raise AssertionError(f"it says {line!r}, and in its log: {self.log_path.read_text()}")
        self.port = int(line.rpartition(":")[2])

    def call(self, tls: ssl.SSLContext | None = None) -> Caller:
        caller = Caller(self.port, tls)
        self._callers.append(caller)
        assert caller.read()["type"] == "hello"
        return caller

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)

    def ended(self) -> int:
        return self.process.wait(PATIENCE)

    def log(self) -> list[Message]:
        return [json.loads(line) for line in self.log_path.read_text().splitlines()]

    def close(self) -> None:
        for caller in self._callers:
            caller.close()
        if self.process.poll() is None:
            self.kill()
        if self.process.stdout is not None:
            self.process.stdout.close()


@contextmanager
def serving(folder: Path, *flags: str, prefix: Sequence[str] = ()) -> Generator[Serving]:
    server = Serving(folder, flags, prefix)
    try:
        yield server
    finally:
        server.close()
