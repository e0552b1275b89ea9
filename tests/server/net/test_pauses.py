"""A server that is stopped and goes on charges its bots for no more than a piece of a wait."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import pytest

from stellwerk_server.net.clock import PIECE_MS, ROUND_MS, ROUNDED_UP_MS
from tests.server.net.test_tls import CERTIFICATE, trusting
from tests.server.served_process import Caller, Message

CHARGED_MS: Final = PIECE_MS + ROUNDED_UP_MS + ROUND_MS + 1  # at most, of a pause; `took_ms` is rounded up
KINDS: Final = ("answered", "thinking", "late")


class PipeCaller(Caller):
    """A connection over the pipes of a process."""

    def __init__(self, writes: IO[bytes], reads: IO[bytes]) -> None:
        self._writes = writes
        self._lines = reads

    def send(self, data: bytes) -> None:
        self._writes.write(data)
        self._writes.flush()

    def close(self) -> None:
        self._writes.close()
        self._lines.close()


@dataclass(frozen=True)
class Asked:
    caller: Caller
    ask: Message
    since: float  # the ask is not older

    def outcome(self) -> Message:
        """Return the message that ends the ask."""
        while True:
            message = self.caller.read()
            if message["type"] in ("ok", "default") and message["match"] == self.ask["match"]:
                return message


@contextmanager
def reached_in_three_ways(
    few_connections: int,
) -> Generator[tuple[subprocess.Popen[bytes], list[Caller]]]:
    module = "tests.server.net.three_ways"
    command = [sys.executable, "-m", module, str(CERTIFICATE), str(few_connections)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            plain, secured = map(int, process.stderr.readline().split())
            callers = [Caller(plain), Caller(secured, trusting()), PipeCaller(process.stdin, process.stdout)]
            yield process, callers
            for caller in callers:
                caller.close()
        finally:
            process.kill()


def practice(caller: Caller) -> Asked:
    since = time.monotonic()
    return Asked(caller, caller.practice(), since)


@contextmanager
def stopped(process: subprocess.Popen[bytes]) -> Generator[None]:
    """Stop the process while it waits, when all its work is done."""
    status = Path(f"/proc/{process.pid}/stat")
    while status.read_text().rpartition(")")[2].split()[0] != "S":
        time.sleep(0)
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)
    yield
    process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("seconds", [0.5, 14])  # the longer one is beyond all that a bot has
@pytest.mark.parametrize("few_connections", [10**9, 0], ids=["own reader", "shared reader"])
def test_no_bot_pays_for_a_pause_of_the_server_and_who_is_late_still_pays(
    seconds: float, few_connections: int
) -> None:
    """Over TCP, TLS and pipes: a bot whose answer is in its socket during the pause, a bot that answers after
    the pause, and a bot that never answers."""
    with reached_in_three_ways(few_connections) as (process, callers):
        for number, caller in enumerate(callers):
            caller.login(f"player{number}", max_matches=len(KINDS))
        asked = {kind: [practice(caller) for caller in callers] for kind in KINDS}
        with stopped(process):
            began = time.monotonic()
            for each in asked["answered"]:
                each.caller.act(each.ask)
            time.sleep(seconds)
            paused_ms = (time.monotonic() - began) * 1000
        for kind in ("answered", "thinking"):
            for each in asked[kind]:
                if kind == "thinking":
                    each.caller.act(each.ask)
                answer = each.outcome()
                assert answer["type"] == "ok"
                passed_ms = (time.monotonic() - each.since) * 1000
                assert answer["took_ms"] <= passed_ms - paused_ms + CHARGED_MS
        for each in asked["late"]:
            assert each.outcome()["reason"] == "time"
            assert each.caller.until("ask", match=each.ask["match"])["bank_ms"] == 0
