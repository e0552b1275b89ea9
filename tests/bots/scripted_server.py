"""A server for the tests of a client: it listens on loopback, and follows a script.

A script is one function for each connection: it sends messages, and checks those that come. A failed check
fails the test.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path

from stellwerk_bots.bot import Message

# A certificate for 127.0.0.1 with a public key file, and the authority that signed it.
CERTIFICATE = Path(__file__).parent / "below_authority.pem"
AUTHORITY = Path(__file__).parent / "authority.pem"
PATIENCE = 20.0  # seconds until a test that hangs fails

HELLO: Message = {"type": "hello", "protocols": [1], "server": "script", "limits": {}, "features": []}
USA: Message = {
    "type": "start",
    "match": "m1",
    "viewer": "seat",
    "seat": 0,
    "players": [{"seat": 0, "team": 0, "name": "bot"}, {"seat": 1, "team": 1, "name": "other"}],
    "game": "usa",
    "board": {"tickets": [], "routes": []},
}
RESULT: Message = {
    "teams": [
        {"team": 0, "seats": [0], "rank": 2, "points": -7},
        {"team": 1, "seats": [1], "rank": 1, "points": 12},
    ]
}


class Peer:
    """One connection, seen from the server."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._reader = connection.makefile("rb")

    def close(self) -> None:
        self._reader.close()  # as long as it is open, so is the connection
        self._connection.close()

    def send(self, *messages: Message) -> None:
        self.send_bytes(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def send_bytes(self, data: bytes) -> None:
        self._connection.sendall(data)

    def receive(self, kind: str) -> Message:
        """Return the next message, which must have this type."""
        line = self._reader.readline()
        assert line.endswith(b"\n"), f"the client ended where a {kind!r} was due: {line!r}"
        message: Message = json.loads(line)
        assert message["type"] == kind, message
        return message

    def receive_end(self) -> None:
        line = self._reader.readline()
        assert line == b"", f"the client did not end, but sent {line!r}"

    def log_in(self, session: str = "s1", key: str = "k1", name: str = "bot") -> Message:
        """Go from hello to welcome, and return the login."""
        self.send(HELLO)
        login = self.receive("login")
        self.send(welcome(session, key, name))
        return login

    def start(self, match: str = "m1") -> None:
        """Go from the `join` to the client's `ready`."""
        self.receive("join")
        self.send({"type": "joined", "room": "r", "missing": 0}, USA | {"match": match})
        assert self.receive("ready")["match"] == match

    def ok(self, ask: int = 1, match: str = "m1") -> Message:
        """Accept the act for the ask, and return it."""
        act = self.receive("act")
        assert (act["match"], act["ask"]) == (match, ask)
        self.send({"type": "ok", "match": match, "ask": ask, "took_ms": 0, "bank_ms": 1})
        return act


def welcome(session: str = "s1", key: str = "k1", name: str = "bot") -> Message:
    return {"type": "welcome", "session": session, "resume_key": key, "name": name, "wants": {}, "games": []}


def ask(number: int = 1, match: str = "m1") -> Message:
    legal = [{"type": "draw_card"}, {"type": "draw_tickets"}, {"type": "pass"}]
    return {"type": "ask", "match": match, "ask": number, "legal": legal, "fallback": {"type": "pass"}}


def end(match: str = "m1") -> Message:
    return {"type": "end", "match": match, "result": RESULT, "transcript": "", "reveal": "later"}


def error(code: str, **fields: object) -> Message:
    return {"type": "error", "code": code, "expected": "something else", **fields}


def bye(code: str, **fields: object) -> Message:
    return {"type": "bye", "code": code, "expected": "a reason", **fields}


@contextmanager
def serve(*scripts: Callable[[Peer], None], tls: bool = False) -> Generator[str, None, None]:
    """Yield the address of a server that plays the scripts, one for each connection, and closes each at its
    end. At the end of the block all must have been played."""
    failures: list[BaseException] = []
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(PATIENCE)
    port = listener.getsockname()[1]

    def play() -> None:
        with listener:  # closed when a script fails: a client that comes again is refused, and does not wait
            try:
                for script in scripts:
                    _play(listener, script, tls)
            except BaseException as failure:  # carried to the test's own thread
                failures.append(failure)

    thread = threading.Thread(target=play, daemon=True)
    thread.start()
    try:
        yield f"{'tls' if tls else 'tcp'}://127.0.0.1:{port}"
    finally:
        thread.join(PATIENCE)
        if failures:
            raise failures[0]
    assert not thread.is_alive(), "the client never did what the script waits for"


def _play(listener: socket.socket, script: Callable[[Peer], None], tls: bool) -> None:
    connection, _ = listener.accept()
    connection.settimeout(PATIENCE)
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        connection = context.wrap_socket(connection, server_side=True)
    with closing(Peer(connection)) as peer:
        script(peer)


def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port
