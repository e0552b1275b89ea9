"""Lines over descriptors: a chunked stream reads like a whole one, and no wait is endless."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from stellwerk_kit.lines import Lines, NoLineError

SOON = 60.0  # seconds; far more than anything here takes
LONGEST = 100


class Ends:
    """Both ends of a connection: `lines` is the one under test."""

    def __init__(self) -> None:
        ours, self.theirs = socket.socketpair()
        ours.setblocking(False)
        self.ours = ours
        self.lines = Lines(ours.fileno(), ours.fileno(), LONGEST)

    def receive(self) -> bytes:
        return self.lines.receive(time.monotonic() + SOON)

    def missing(self, deadline: float = SOON) -> NoLineError:
        with pytest.raises(NoLineError) as caught:
            self.lines.receive(time.monotonic() + deadline)
        return caught.value


@pytest.fixture
def ends() -> Iterator[Ends]:
    pair = Ends()
    yield pair
    pair.ours.close()
    pair.theirs.close()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_lines_are_the_same_however_they_are_cut(ends: Ends, size: int) -> None:
    text = b"one\n\ntwo\r\n" + b"x" * LONGEST + b"\nthree\n"

    def send() -> None:
        for begin in range(0, len(text), size):
            ends.theirs.send(text[begin : begin + size])

    sender = threading.Thread(target=send)
    sender.start()
    assert [ends.receive() for _ in range(5)] == [b"one", b"", b"two\r", b"x" * LONGEST, b"three"]
    sender.join()


def test_silence_ends_at_the_deadline(ends: Ends) -> None:
    missing = ends.missing(0)
    assert (missing.came, missing.silence, missing.ended) == ("nothing", True, False)


def test_half_a_line_is_no_line_and_no_silence(ends: Ends) -> None:
    ends.theirs.send(b'{"type":"\x1b[2J')
    missing = ends.missing(0.1)
    assert missing.came == 'only a piece of a line, without its newline: {"type":"\\x1b[2J'
    assert (missing.silence, missing.unfinished, missing.ended) == (False, True, False)


def test_the_end_says_what_was_begun(ends: Ends) -> None:
    ends.theirs.sendall(b"whole\nhalf")
    ends.theirs.close()
    assert ends.receive() == b"whole"
    missing = ends.missing()
    assert missing.came == "the end of the connection, after a piece of a line, without its newline: half"
    assert (missing.silence, missing.unfinished, missing.ended) == (False, False, True)


def test_a_reset_is_an_end(ends: Ends) -> None:
    ends.lines.send(b"never read\n", time.monotonic() + SOON)
    ends.theirs.close()
    assert ends.missing().ended


def test_a_line_without_end_is_not_kept(ends: Ends) -> None:
    ends.theirs.sendall(b"x" * (LONGEST + 1))
    assert ends.missing().came == f"more than {LONGEST} bytes without a newline"


def test_a_bot_that_does_not_read_is_detected(ends: Ends) -> None:
    with pytest.raises(NoLineError, match="does not read"):
        ends.lines.send(b"x" * (1 << 24), time.monotonic() + 0.1)


def test_a_peer_that_writes_before_it_reads_is_served(ends: Ends) -> None:
    """Two sides that both write before they read would wait for each other forever."""
    flood = (b"y" * (LONGEST - 1) + b"\n") * 8000
    heard = bytearray()

    def write_and_then_read() -> None:
        ends.theirs.sendall(flood)
        while len(heard) < 1 << 22:
            heard.extend(ends.theirs.recv(1 << 16))

    other = threading.Thread(target=write_and_then_read)
    other.start()
    ends.lines.send(b"x" * (1 << 22), time.monotonic() + SOON)
    other.join()
    assert ends.receive() == b"y" * (LONGEST - 1)


def test_nobody_to_send_to_is_found_when_reading(ends: Ends) -> None:
    ends.theirs.close()
    ends.lines.send(b"hello\n", time.monotonic() + SOON)
    assert ends.missing().ended


def test_two_pipes_serve_like_a_socket() -> None:
    source, theirs = os.pipe()
    mine, sink = os.pipe()
    for descriptor in (source, sink):
        os.set_blocking(descriptor, False)
    lines = Lines(source, sink, LONGEST)
    os.write(theirs, b"to you\n")
    assert lines.receive(time.monotonic() + SOON) == b"to you"
    lines.send(b"to me\n", time.monotonic() + SOON)
    assert os.read(mine, 100) == b"to me\n"
    for descriptor in (source, theirs, mine, sink):
        os.close(descriptor)
