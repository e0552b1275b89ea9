"""`python -m stellwerk_kit.zoo NAME`: bots that play, each with one fault.

They test programs that judge bots: a server, a tournament, a doctor. Apart from its fault each bot behaves
well, over TCP and over standard input and output, so every effect comes from the fault. They find their seat
in the environment, like any bot that a server starts. `protocol/conformance/zoo/README.md` describes what to
expect of each.

This file uses only the standard library, so it runs wherever there is a Python.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any, BinaryIO, Final

Message = dict[str, Any]  # JSON has no types

TOO_LATE: Final = 0.15  # seconds beyond all the time of an ask
SLOW_EVERY: Final = 8  # asks; so rarely that it never plays by default
SLOW_AT_MOST: Final = 5
THINKING: Final = 1.5  # times the time for a move
PIECE_PAUSE: Final = 0.005  # seconds after the first byte of a line, so that a reader sees it alone
FLOOD: Final = 500  # lines before each answer; a server accepts 40 at once
FLOOD_FROM: Final = 3  # the ask at which it begins
LIE_EVERY: Final = 3
DEEP_EVERY: Final = 5
DEPTH: Final = 5000  # levels of brackets; a server accepts 64
EXIT_STATUS: Final = 3


class Bot:
    """A bot without a fault: it answers each ask with a move that follows from the ask's number."""

    def __init__(self, at: int) -> None:
        self.at = at  # the ask at which some bots show their fault
        self.close_output: Callable[[], object]
        address = os.environ["STELLWERK_ADDRESS"]
        if address == "stdio:":
            self.reader: BinaryIO = sys.stdin.buffer
            self.write: Callable[[bytes], object] = lambda data: os.write(1, data)
            self.close_output = lambda: os.close(1)
        else:
            host, _, port = address.removeprefix("tcp://").rpartition(":")
            connection = socket.create_connection((host.strip("[]"), int(port)))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.reader = connection.makefile("rb")
            self.write = connection.sendall
            self.close_output = lambda: connection.shutdown(socket.SHUT_WR)

    def run(self) -> int:
        for line in self.reader:
            message: Message = json.loads(line)
            match message["type"]:
                case "hello":
                    self.say(self.login())
                case "start":
                    self.say({"type": "ready", "match": message["match"]})
                case "ask":
                    self.answer(message)
                case "error" if "tries" in message:
                    act = {"type": "act", "match": message["match"], "ask": message["ask"]}
                    self.say(act | {"move": message["nearest"]})
                case "bye":
                    return 0 if message["code"] == "done" else 1
                case _:
                    pass
        return 0 if os.environ["STELLWERK_ADDRESS"] == "stdio:" else 1

    def login(self) -> Message:
        name, token = os.environ["STELLWERK_NAME"], os.environ["STELLWERK_TOKEN"]
        login = {"type": "login", "protocol": 1, "name": name, "token": token, "language": "zoo"}
        return login | {"wants": {"view": False, "events": False}}

    def say(self, message: Message) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def answer(self, ask: Message) -> None:
        self.act(ask, {"index": ask["ask"] % len(ask["legal"])})

    def act(self, ask: Message, answer: Message) -> None:
        self.say({"type": "act", "match": ask["match"], "ask": ask["ask"], **answer})


class Silent(Bot):
    """never answers an ask"""

    def answer(self, ask: Message) -> None:
        pass


class Slow(Bot):
    """answers an ask now and then after all its time is over"""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.late = 0

    def answer(self, ask: Message) -> None:
        if ask["ask"] % SLOW_EVERY == 0 and self.late < SLOW_AT_MOST:
            self.late += 1
            time.sleep((ask["move_ms"] + ask["bank_ms"] + 50) / 1000 + TOO_LATE)
        super().answer(ask)


class Thinker(Bot):
    """takes one and a half times the allowed time for each answer"""

    def answer(self, ask: Message) -> None:
        time.sleep(THINKING * ask["move_ms"] / 1000)
        super().answer(ask)


class Splitter(Bot):
    """writes byte by byte, which is allowed"""

    def say(self, message: Message) -> None:
        first, *others = json.dumps(message).encode() + b"\n"
        self.write(bytes((first,)))
        time.sleep(PIECE_PAUSE)  # once: a pause for each byte would make it slow on a busy machine
        for byte in others:
            self.write(bytes((byte,)))


class Flooder(Bot):
    """sends hundreds of pings before each answer"""

    def answer(self, ask: Message) -> None:
        if ask["ask"] >= FLOOD_FROM:
            self.write(b'{"type":"ping"}\n' * FLOOD)
        super().answer(ask)


class Liar(Bot):
    """claims a route that does not exist"""

    def answer(self, ask: Message) -> None:
        if ask["ask"] % LIE_EVERY == 0:
            move = {"type": "claim_route", "route": "atlantis-utopia", "cards": {"locomotive": 6}}
            self.act(ask, {"move": move})
        else:
            super().answer(ask)


class Deep(Bot):
    """sends thousands of brackets in one line"""

    def answer(self, ask: Message) -> None:
        if ask["ask"] % DEEP_EVERY == 0:
            self.write(b'{"type":"ping","echo":' + b"[" * DEPTH + b"]" * DEPTH + b"}\n")
        super().answer(ask)


class Duplicate(Bot):
    """sends every act twice"""

    def act(self, ask: Message, answer: Message) -> None:
        super().act(ask, answer)
        super().act(ask, answer)


class HalfCloser(Bot):
    """closes its side of the connection after an answer, and keeps reading"""

    def answer(self, ask: Message) -> None:
        if ask["ask"] <= self.at:
            super().answer(ask)
        if ask["ask"] == self.at:
            self.close_output()

    def run(self) -> int:
        super().run()
        signal.pause()  # it waits until it is killed
        return 0


class Crasher(Bot):
    """crashes instead of answering"""

    def answer(self, ask: Message) -> None:
        if ask["ask"] == self.at:
            print("no more track ahead", file=sys.stderr, flush=True)
            os._exit(EXIT_STATUS)
        super().answer(ask)


ZOO: Final[dict[str, type[Bot]]] = {
    "silent": Silent,
    "slow": Slow,
    "thinker": Thinker,
    "splitter": Splitter,
    "flooder": Flooder,
    "liar": Liar,
    "deep": Deep,
    "duplicate": Duplicate,
    "half-closer": HalfCloser,
    "crasher": Crasher,
}


def main() -> int:
    vices = "\n".join(f"  {name:12} {kind.__doc__}" for name, kind in ZOO.items())
    parser = argparse.ArgumentParser(
        prog="python -m stellwerk_kit.zoo",
        description="Run a bot with a fault in the seat given by STELLWERK_ADDRESS and STELLWERK_TOKEN.",
        epilog=f"bots:\n{vices}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("bot", choices=ZOO, metavar="NAME", help="one of those below")
    parser.add_argument(
        "--at", metavar="ASK", type=int, default=4, help="for half-closer and crasher (default: 4)"
    )
    arguments = parser.parse_args()
    missing = [name for name in ("ADDRESS", "TOKEN", "NAME") if f"STELLWERK_{name}" not in os.environ]
    if missing:
        parser.error(f"STELLWERK_{missing[0]} is not set: a server starts this bot")
    try:
        return ZOO[arguments.bot](arguments.at).run()
    except OSError as error:
        print(f"{arguments.bot}: {error}", file=sys.stderr)
        return 4


if __name__ == "__main__":
    sys.exit(main())
