"""`stellwerk watch` as a process, and readers of its pages over real sockets."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.web.serving import HOST, PATIENCE, Got, StreamReader, read_answer


class Watching:
    """A running `stellwerk watch`, or the pages of another command."""

    def __init__(self, port: int) -> None:
        self.port = port

    @contextmanager
    def reached(self) -> Generator[socket.socket]:
        with socket.create_connection((HOST, self.port), timeout=PATIENCE) as sock:
            yield sock

    def get(self, path: str, host: str = "localhost") -> Got:
        with self.reached() as sock:
            sock.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            return read_answer(sock)

    @contextmanager
    def reader(self, path: str, *headers: str) -> Generator[StreamReader]:
        lines = "".join(f"{header}\r\n" for header in headers)
        with self.reached() as sock:
            sock.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n".encode())
            with closing(StreamReader(sock)) as reader:
                yield reader

    def match_when(self, **fields: object) -> dict[str, Any]:  # Any: values of JSON
        """Return the head of a match with these fields, as soon as the overview has one."""
        with self.reader("/stream") as reader:
            while True:
                for head in reader.next().data.get("matches", ()):
                    if fields.items() <= head.items():
                        return dict(head)

    def until_connected(self, is_connected: bool = True) -> None:
        with self.reader("/stream") as reader:
            reader.until(lambda record: record.data.get("connected") is is_connected)


class WatchProcess(Watching):
    def __init__(
        self, folder: Path, words: tuple[str, ...], variables: dict[str, str], prefix: Sequence[str]
    ) -> None:
        folder.mkdir(exist_ok=True)
        self.log_path = folder / "watch.log"
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                [*prefix, sys.executable, "-m", "stellwerk", "watch", "--listen", "0", *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, **variables},
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline().decode()
        found = re.fullmatch(r"live pages at http://127\.0\.0\.1:(\d+)/\n", line)
        if found is None:
            self.process.wait(PATIENCE)
            raise AssertionError(f"it says {line!r}, and in its log: {self.log_path.read_text()}")
        super().__init__(int(found[1]))

    def log(self) -> list[dict[str, Any]]:  # Any: values of JSON
        return [json.loads(line) for line in self.log_path.read_text().splitlines()]

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        if self.process.stdout is not None:
            self.process.stdout.close()


@contextmanager
def watching(
    folder: Path, *words: str, prefix: Sequence[str] = (), **variables: str
) -> Generator[WatchProcess]:
    process = WatchProcess(folder, words, variables, prefix)
    try:
        yield process
    finally:
        process.close()


def followed(reader: StreamReader) -> tuple[dict[str, Any], list[Any]]:  # Any: values of JSON
    """Follow a match to its end, and return its last state's start and all its events."""
    start: dict[str, Any] = {}  # Any: values of JSON
    events: list[Any] = []  # Any: values of JSON
    while True:
        record = reader.next()
        if record.kind == "state":
            start, events = record.data["start"], list(record.data["events"])
        events += record.data.get("events", ()) if record.kind == "change" else ()
        if record.data.get("end") is not None:
            return start, events
