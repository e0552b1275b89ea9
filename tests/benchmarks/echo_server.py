"""The limit that the server is measured against: a Trio server that reads lines and does nothing with them.

    python -m tests.benchmarks.echo_server BYTES

Every line is answered by a line of BYTES bytes, newline included. Ready, it prints `listening on HOST:PORT`.
"""

from __future__ import annotations

import sys
from functools import partial

import trio


async def serve(answer: bytes) -> None:
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1", backlog=1024)
    host, port = listeners[0].socket.getsockname()
    print(f"listening on {host}:{port}", flush=True)
    await trio.serve_listeners(partial(echo, answer=answer), listeners)


async def echo(stream: trio.SocketStream, answer: bytes) -> None:
    begun = b""
    while data := await stream.receive_some(65_536):
        *lines, begun = (begun + data).split(b"\n")
        for _ in lines:
            await stream.send_all(answer)


if __name__ == "__main__":
    trio.run(serve, b"x" * (int(sys.argv[1]) - 1) + b"\n")
