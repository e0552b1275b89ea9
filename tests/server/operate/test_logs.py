"""Logs that cannot be written: the server goes on, counts the lines, and says how many were lost."""

from __future__ import annotations

import fcntl
import io
import json
import os
import select
import socket
import subprocess
import urllib.request
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TextIO

import pytest

from stellwerk_server.operate.logs import LogStream, make_log
from tests.command.program import COMMAND, SECONDS, environment
from tests.server.served_process import Caller, Message
from tests.tools import needs

PIPE_BYTES = 8192  # two pages: Linux says that there is room as long as one of them is empty


@contextmanager
def narrow_pipe() -> Generator[tuple[int, TextIO]]:
    """Make a pipe with little room: the descriptor to read from, and the stream to write to."""
    reads, writes = os.pipe()
    fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    with open(writes, "w") as stream:
        try:
            yield reads, stream
        finally:
            os.close(reads)


def entries(data: bytes) -> list[Message]:
    return [json.loads(line) for line in data.splitlines()]


@needs("/dev/full")
def test_lines_for_a_full_disk_are_dropped_and_counted() -> None:
    with open("/dev/full", "w") as full:
        stream = LogStream(full)
        log = make_log(stream)
        for number in range(3):
            log.info("step", number=number)
    assert stream.dropped == 3


def test_lines_for_a_stream_that_was_closed_from_the_start_are_dropped_and_counted() -> None:
    stream = LogStream(None)
    make_log(stream).info("step")
    assert stream.dropped == 1


def test_lines_for_a_reader_that_has_gone_are_dropped_and_counted() -> None:
    reads, writes = os.pipe()
    with open(writes, "w") as stream:
        os.close(reads)
        lines = LogStream(stream)
        make_log(lines).info("step")
    assert lines.dropped == 1


def test_a_pipe_that_nobody_reads_stops_nobody_and_later_the_log_says_how_many_lines_are_missing() -> None:
    with narrow_pipe() as (reads, writes):
        stream = LogStream(writes, patience_ms=0)
        log = make_log(stream)
        for number in range(200):
            log.info("step", number=number)
        assert stream.dropped > 0
        first = os.read(reads, 2 * PIPE_BYTES)
        log.info("step", number=200)
        note, last = entries(os.read(reads, PIPE_BYTES))[-2:]
    kept = entries(first)
    assert [entry["number"] for entry in kept] == list(range(200 - stream.dropped))
    assert (note["event"], note["level"], note["count"]) == ("log.lines_dropped", "warning", stream.dropped)
    assert last["number"] == 200


def test_a_line_that_was_begun_is_ended_before_the_next_one() -> None:
    with narrow_pipe() as (reads, writes):
        stream = LogStream(writes, patience_ms=0)
        log = make_log(stream)
        log.info("long", text="x" * 3 * PIPE_BYTES)
        log.info("dropped")
        data = b""
        for _ in range(8):
            log.info("after")
            while select.select([reads], [], [], 0)[0]:
                data += os.read(reads, PIPE_BYTES)
    assert [entry["event"] for entry in entries(data)][:3] == [
        "long",
        "log.lines_dropped",
        "after",
    ]


def test_on_a_terminal_the_note_is_for_people_too() -> None:
    stream = LogStream(None)
    make_log(stream, json=False)
    assert "log.lines_dropped" in stream.note(7)
    assert not stream.note(7).startswith("{")


def test_a_log_of_errors_alone_has_no_note() -> None:
    stream = LogStream(None)
    make_log(stream, "error")
    assert stream.note(7) == ""


def test_a_stream_without_a_descriptor_takes_a_log_too() -> None:
    text = io.StringIO()
    make_log(text).info("step")
    assert entries(text.getvalue().encode())[0]["event"] == "step"


# -- the programs --------------------------------------------------------------------------------------


def to_a_full_disk(*words: str) -> subprocess.Popen[str]:
    with open("/dev/full", "w") as full:
        return process_of(words, full)


def to_nobody(*words: str) -> subprocess.Popen[str]:
    """Start a command whose standard error is a pipe without a reader."""
    reads, writes = os.pipe()
    os.close(reads)
    with open(writes, "w") as stream:
        return process_of(words, stream)


def to_a_closed_descriptor(*words: str) -> subprocess.Popen[str]:
    return process_of(["sh", "-c", 'exec "$@" 2>&-', "sh", *words], None)


def process_of(words: Sequence[str], errors: TextIO | None) -> subprocess.Popen[str]:
    return subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, stderr=errors, text=True)


def port_of(process: subprocess.Popen[str]) -> int:
    """Return the port at the end of the line in which a command says where it listens."""
    assert process.stdout is not None
    return int(process.stdout.readline().strip().rstrip("/").rpartition(":")[2])


NOWHERE = [pytest.param(to_a_full_disk, marks=needs("/dev/full")), to_nobody, to_a_closed_descriptor]
OWN_ADDRESS = f"127.{os.getpid() >> 16 & 255}.{os.getpid() >> 8 & 255}.{os.getpid() & 255}"
"""An address where no other test of this moment listens. The log cannot say which port is free."""


@pytest.mark.parametrize("start", NOWHERE)
def test_a_server_whose_log_cannot_be_written_plays_on_and_counts_the_lines(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    status = f"--status={OWN_ADDRESS}:7879"
    with start(*COMMAND, "serve", "--listen=0", "--data", str(tmp_path), status) as process:
        try:
            port = port_of(process)
            for name in ("ann", "bob"):
                with closing(Caller(port)) as caller:
                    caller.login(name)
                    assert caller.play_on(caller.practice("card_game"))["type"] == "end"
            with urllib.request.urlopen(f"http://{OWN_ADDRESS}:7879/", timeout=SECONDS) as page:
                shown = json.load(page)
            assert (shown["finished"], shown["failed"]) == (2, 0)
            assert shown["log_lines_dropped"] >= 3  # where the status is, and two matches
            process.terminate()
            assert process.wait(SECONDS) == 0
        finally:
            process.kill()
    assert len(list((tmp_path / "replays").glob("*.jsonl"))) == 2


@pytest.mark.parametrize("start", NOWHERE)
def test_live_pages_whose_log_cannot_be_written_stay(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    """The source is a server that lets nobody in: each attempt is a line of the log."""
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        place = f"127.0.0.1:{nobody.getsockname()[1]}"
        with start(*COMMAND, "watch", place, "--listen=0") as process:
            try:
                pages = port_of(process)
                for _ in range(2):  # the first line of the log is written before the second attempt
                    nobody.accept()[0].close()
                with urllib.request.urlopen(f"http://127.0.0.1:{pages}/health", timeout=SECONDS) as health:
                    assert health.status == 200
                process.terminate()
                assert process.wait(SECONDS) == 0
            finally:
                process.kill()
