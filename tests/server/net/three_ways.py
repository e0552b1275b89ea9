"""A server as a process, for clients over TCP, over TLS and over its standard input and output.

    python -m tests.server.net.three_ways CERTIFICATE FEW_CONNECTIONS

The two ports are the first line of its standard error.
"""

from __future__ import annotations

import ssl
import sys
from typing import Final

import trio

from stellwerk_server.net.server import open_server
from stellwerk_server.operate.settings import Time
from tests.server.support import World, by_chance

MOVE_MS: Final = 3_000
BANK_MS: Final = 2_000


async def main(certificate: str, few_connections: str) -> None:
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)
    time = Time(move_ms=MOVE_MS, bank_ms=BANK_MS, grace_ms=0, strikes=0)
    setup = World(time=time, house_bots={"random": by_chance}).setup
    async with open_server(setup, few_connections=int(few_connections)) as server:
        ports = [(await server.listen("127.0.0.1", 0, context))[1] for context in (None, tls)]
        print(*ports, file=sys.stderr, flush=True)
        stdio = trio.StapledStream(trio.lowlevel.FdStream(1), trio.lowlevel.FdStream(0))
        await server.serve_stream(stdio, "stdio")


if __name__ == "__main__":
    trio.run(main, sys.argv[1], sys.argv[2])
