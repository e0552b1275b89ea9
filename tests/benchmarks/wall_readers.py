"""Very many readers of one stream in one process, behind one epoll.

    python -m tests.benchmarks.wall_readers HOST PORT PATH COUNT

For each line on its standard input it prints what has come so far, as JSON: the changes that one reader has
got, the states that all have got after their first one, the bytes of all, and how many readers are left.
"""

from __future__ import annotations

import json
import resource
import select
import socket
import sys
from typing import Final

RECEIVED: Final = 262_144
PATIENCE: Final = 30.0


def main() -> None:
    host, port, path, count = sys.argv[1:]
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    epoll = select.epoll()
    readers: dict[int, socket.socket] = {}
    for _ in range(int(count)):
        sock = socket.create_connection((host, int(port)), timeout=PATIENCE)
        sock.sendall(request)
        while b"event: state" not in sock.recv(RECEIVED):
            pass
        sock.setblocking(False)
        readers[sock.fileno()] = sock
        epoll.register(sock.fileno(), select.EPOLLIN)
    first = next(iter(readers))
    epoll.register(sys.stdin.fileno(), select.EPOLLIN)
    print("ready", flush=True)
    changes = states = received = 0
    while True:
        for descriptor, _ in epoll.poll():
            if descriptor == sys.stdin.fileno():
                if not sys.stdin.readline():
                    return
                said = {"changes": changes, "states": states, "bytes": received, "readers": len(readers)}
                print(json.dumps(said), flush=True)
                continue
            data = readers[descriptor].recv(RECEIVED)
            if not data:
                epoll.unregister(descriptor)
                readers.pop(descriptor).close()
                continue
            received += len(data)
            states += data.count(b"\nevent: state")
            if descriptor == first:
                changes += data.count(b"\nevent: change")


if __name__ == "__main__":
    main()
