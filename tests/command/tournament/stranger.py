"""A stranger's bot for tournaments in tests, of the standard library alone: `python -S stranger.py KIND`.

It answers each ask with a move that follows from the ask's number, over TCP, as long as there are matches. A
KIND does more:

- `sound`: no more than that;
- `crashes`, `hangs`: so it does, after more good answers than a preflight asks for;
- `steals`: it looks for files, tokens and memory of others, and logs in with what it finds. CUP is the folder
  of the tournament, so that it fails because it is refused and not for want of a path. It prints `achieved
  ...` for each success, and `tried` when it is through.

Law: nothing here does harm or lasts. The hanger ends by itself, and the thief connects to its own server
only.
"""

from __future__ import annotations

import glob
import json
import os
import re
import socket
import sys
import time
from typing import Any, Final

Message = dict[str, Any]  # JSON has no types

GOOD_ANSWERS: Final = 4  # a preflight is content with three
SECONDS: Final = 20  # longer than any match here
MOST: Final = 1 << 24  # bytes of anything that is read
TOKEN: Final = re.compile(rb"STELLWERK_TOKEN=([\w-]{16,})")


class Connection:
    def __init__(self) -> None:
        host, _, port = os.environ["STELLWERK_ADDRESS"].removeprefix("tcp://").rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.lines = self.socket.makefile("rb")

    def log_in(self, name: str, token: str) -> None:
        wants = {"view": False, "events": False}
        self.say({"type": "login", "protocol": 1, "name": name, "token": token, "wants": wants})

    def say(self, message: Message) -> None:
        self.socket.sendall(json.dumps(message).encode() + b"\n")


def main() -> None:
    kind = sys.argv[1]
    connection = Connection()
    answers = 0
    for line in connection.lines:
        message: Message = json.loads(line)
        match message["type"]:
            case "hello":
                connection.log_in(os.environ["STELLWERK_NAME"], os.environ["STELLWERK_TOKEN"])
            case "start":
                answers = 0
                if kind == "steals":
                    steal([player["name"] for player in message["players"]])
                connection.say({"type": "ready", "match": message["match"]})
            case "ask":
                answers += 1
                if answers > GOOD_ANSWERS:
                    misbehave(kind)
                answer = {"ask": message["ask"], "index": message["ask"] % len(message["legal"])}
                connection.say({"type": "act", "match": message["match"], **answer})
            case "bye":
                return
            case _:
                pass


def misbehave(kind: str) -> None:
    if kind == "crashes":
        raise IndexError("no card is left in my hand")
    if kind == "hangs":
        time.sleep(SECONDS)


# -- the thief ---------------------------------------------------------------------------------------


def steal(names: list[str]) -> None:
    """Read what is not its own, and log in as the others with each token that is in it, or with none.

    Its own token is no theft: whatever the name, it leads to its own seat.
    """
    own = {os.environ["STELLWERK_NAME"], os.environ["STELLWERK_TOKEN"]}
    server = os.environ["STELLWERK_ADDRESS"].encode()
    tokens: set[str] = set()
    for process in glob.glob("/proc/[0-9]*"):
        content = read(process + "/environ") + b"\0" + read(process + "/cmdline")
        if server in content:
            tokens |= {token.decode() for token in TOKEN.findall(content)} - own
        is_mine = os.environ["STELLWERK_TOKEN"].encode() in content
        if os.environ["CUP"].encode() in content and not is_mine and is_open(process):
            achieved("memory of the runner or of another bot")
    for name in ("tournament.toml", "state.sqlite", "bots/ann/stranger.py"):
        if read(os.path.join(os.environ["CUP"], name)):
            achieved(f"file {name}")
    if tokens:
        achieved("tokens of others")
    for name in {*names} - own:
        for token in ("", os.environ["STELLWERK_TOKEN"][::-1], *tokens):
            if is_let_in(name, token):
                achieved(f"login as {name}")
    print("tried", file=sys.stderr, flush=True)


def achieved(what: str) -> None:
    print("achieved", what, file=sys.stderr, flush=True)


def read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(MOST)
    except OSError:
        return b""


def is_open(process: str) -> bool:
    """Return whether this may read the memory of a process."""
    try:
        with open(process + "/mem", "rb", 0):
            return True
    except OSError:
        return False


def is_let_in(name: str, token: str) -> bool:
    """Log in as somebody else, and leave again."""
    try:
        other = Connection()
        with other.socket, other.lines:
            other.lines.readline()
            other.log_in(name, token)
            return bool(json.loads(other.lines.readline())["type"] == "welcome")
    except (OSError, ValueError):
        return False


main()
