"""Real processes for tests of live pages: a server, a web process that watches it, and a player who moves
when told."""

from __future__ import annotations

import json
import random
import re
import socket
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.command.program import COMMAND, SECONDS, environment

Message = dict[str, Any]  # Any: the protocol's JSON

# A test may look at the page for as long as it likes before the player moves.
PATIENT: Final = ("--set", "time.move_ms=600000", "--set", "time.set_up_ms=600000")


class Process:
    """A program that has said where it listens."""

    def __init__(self, *words: str) -> None:
        self._process = subprocess.Popen(
            [*COMMAND, *words],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        found = re.search(r":(\d+)/?$", line.strip())
        assert found is not None, line
        self.port = int(found[1])

    def kill(self) -> None:
        """Kill it as nobody expects."""
        self._process.kill()
        self._process.communicate(timeout=SECONDS)


@contextmanager
def serving(data: Path, port: int = 0) -> Generator[Process]:
    process = Process("serve", "--listen", str(port), "--data", str(data), *PATIENT)
    try:
        yield process
    finally:
        process.kill()


@contextmanager
def watching(source: str, port: int = 0, *more: str) -> Generator[Process]:
    process = Process("watch", source, "--listen", str(port), *more)
    try:
        yield process
    finally:
        process.kill()


class Player:
    """A player of one match against house bots. Its choices follow from `seed`."""

    def __init__(self, port: int, game: str, against: tuple[str, ...], seed: int = 1) -> None:
        self.name = f"player-{seed}"
        self._dice = random.Random(seed)
        self._connect(port)
        self._send(type="login", protocol=1, name=self.name)
        self._session = self._next("welcome")
        self._send(type="join", game=game, players=len(against) + 1, against=list(against))
        self.match: str = self._next("start")["match"]
        self.last_event = 0
        self.end: Message | None = None
        self._send(type="ready", match=self.match)
        self.ask = self._next_ask()

    @property
    def view(self) -> Message:
        view: Message = self.ask["view"]
        return view

    def move(self, times: int = 1) -> bool:
        """Move, and wait until it is this player's turn again. Return whether it will be."""
        for _ in range(times):
            index = self._dice.randrange(len(self.ask["legal"]))
            self._send(type="act", match=self.match, ask=self.ask["ask"], index=index)
            self.ask = self._next_ask()
            if self.end is not None:
                return False
        return True

    def resume(self, port: int) -> None:
        """Come back to a server that was started again."""
        self.close()
        self._connect(port)
        session = self._session
        last = {self.match: self.last_event}
        resume = {"session": session["session"], "key": session["resume_key"], "last_events": last}
        self._send(type="login", protocol=1, name=self.name, resume=resume)
        self._session = self._next("welcome")
        self.ask = self._next_ask()

    def close(self) -> None:
        self._lines.close()
        self._socket.close()

    def _connect(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), SECONDS)
        self._lines = self._socket.makefile("rb")
        self._next("hello")

    def _send(self, **message: object) -> None:
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def _next_ask(self) -> Message:
        message = self._next("ask", "end")
        if message["type"] == "end":
            self.end = message
        return message

    def _next(self, *types: str) -> Message:
        while True:
            line = self._lines.readline()
            assert line, "the server has hung up"
            message: Message = json.loads(line)
            assert message["type"] not in ("error", "bye"), message
            if message["type"] == "event":
                self.last_event = message["number"]
            if message["type"] in types:
                return message


@contextmanager
def playing(port: int, game: str = "usa", against: tuple[str, ...] = ("random",)) -> Generator[Player]:
    player = Player(port, game, against)
    try:
        yield player
    finally:
        player.close()
