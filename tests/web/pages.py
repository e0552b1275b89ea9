"""Live pages of a process that was started, as browsers ask for them."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.web.serving import PATIENCE, Record, StreamReader


@dataclass(frozen=True)
class Pages:
    host: str
    port: int

    @classmethod
    def at(cls, url: str) -> Pages:
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        return cls(parts.hostname, parts.port)

    def get(self, path: str) -> tuple[int, bytes]:
        with closing(http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def data(self, path: str) -> Any:  # Any: that is how JSON is read
        status, body = self.get(path)
        assert status == 200, (path, body)
        return json.loads(body)

    @contextmanager
    def stream(self, path: str) -> Generator[StreamReader]:
        with socket.create_connection((self.host, self.port), PATIENCE) as sock:
            sock.sendall(f"GET {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n\r\n".encode())
            with closing(StreamReader(sock)) as reader:
                yield reader

    def state(self, path: str) -> Any:  # Any: that is how JSON is read
        with self.stream(path) as reader:
            return reader.next().data

    def is_there(self) -> bool:
        try:
            with socket.create_connection((self.host, self.port), PATIENCE):
                return True
        except OSError:
            return False


@dataclass
class Collected:
    """All records of a stream. `check` sees each record when it comes."""

    records: list[Record] = field(default_factory=list[Record])
    problems: list[Exception] = field(default_factory=list[Exception])
    came: threading.Condition = field(default_factory=threading.Condition)
    has_ended: bool = False

    def all_of(self, key: str) -> list[Any]:  # Any: that is how JSON is read
        """Return the values of a key, in their order."""
        return [record.data[key] for record in self.records if record.data.get(key) is not None]

    def heads(self) -> dict[str, Any]:  # Any: that is how JSON is read
        """Return the last head of each match."""
        return {head["match"]: head for heads in self.all_of("matches") for head in heads}

    def wait_until(self, condition: Callable[[], bool]) -> None:
        with self.came:
            assert self.came.wait_for(lambda: condition() or self.has_ended, PATIENCE)
        assert condition(), "the stream has ended"

    def end(self) -> None:
        """Wait for the end of the stream."""
        self.wait_until(lambda: self.has_ended)
        assert self.problems == []


@contextmanager
def collecting(
    pages: Pages, path: str = "/stream", check: Callable[[Record], object] = lambda _: None
) -> Generator[Collected]:
    """Read a stream in a thread until it ends, or the block does."""
    collected = Collected()

    def collect(reader: StreamReader) -> None:
        try:
            while True:
                record = reader.next()
                check(record)
                with collected.came:
                    collected.records.append(record)
                    collected.came.notify_all()
        except (EOFError, OSError, ValueError):
            pass  # the end of the stream, or of the block
        except AssertionError as problem:
            collected.problems.append(problem)
        finally:
            with collected.came:
                collected.has_ended = True
                collected.came.notify_all()

    with pages.stream(path) as reader:
        thread = threading.Thread(target=collect, args=[reader])
        thread.start()
        try:
            yield collected
        finally:
            with suppress(OSError):
                reader.socket.shutdown(socket.SHUT_RDWR)
            thread.join(PATIENCE)
    assert collected.problems == []
