"""The smallest bot that does everything that a bot must do, over TCP and stdio. It does not resume."""

import json
import os
import socket
import sys
from typing import Any


def main() -> int:
    address = os.environ["STELLWERK_ADDRESS"]
    if address == "stdio:":
        return play(sys.stdin.buffer, sys.stdout.buffer)
    host, _, port = address.removeprefix("tcp://").rpartition(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection.makefile("rb") as reader, connection.makefile("wb") as writer:
            return play(reader, writer)


def play(reader: Any, writer: Any) -> int:
    def say(**message: object) -> None:
        writer.write(json.dumps(message).encode() + b"\n")
        writer.flush()

    for line in reader:
        message = json.loads(line)
        match message["type"]:
            case "hello":
                name, token = os.environ["STELLWERK_NAME"], os.environ["STELLWERK_TOKEN"]
                say(type="login", protocol=1, name=name, token=token, wants={"view": False, "events": False})
            case "start":
                say(type="ready", match=message["match"])
            case "ask":
                say(type="act", match=message["match"], ask=message["ask"], index=0)
            case "error" if message["code"] == "server.busy" or message.get("tries"):
                again = {"move": message["nearest"]} if "nearest" in message else {"index": 0}
                say(type="act", match=message["match"], ask=message["ask"], **again)
            case "bye":
                return 0 if message["code"] == "done" else 1
            case _:
                pass
    return 1


if __name__ == "__main__":
    sys.exit(main())
