"""What a bot prints, in a file: fit to be read, bounded, and never a reason for a match to fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from stellwerk_processes import bot_log
from stellwerk_processes.bot_log import BotLog
from stellwerk_server.match.refusals import shown_line


def test_a_log_has_no_control_characters_however_they_are_cut(tmp_path: Path) -> None:
    with BotLog(tmp_path / "log") as log:
        for byte in b"\x1b[31mred\x1b[0m\x07\ttab\r\n\xff \xc3\xa9":
            log.write(bytes((byte,)))
    assert (tmp_path / "log").read_text("utf-8") == "red    tab\n\\xff \u00e9\n"


def test_a_log_ends_where_it_would_get_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot_log, "MOST_BYTES", 10)
    with BotLog(tmp_path / "log") as log:
        for _ in range(3):
            log.write(b"123456\n")
    assert (tmp_path / "log").read_text("utf-8") == "123456\n123\n--- cut after 10 bytes\n"


def test_a_line_without_an_end_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot_log, "LONGEST_LINE", 10)
    with BotLog(tmp_path / "log") as log:
        log.write(b"x" * 11)
        log.write(b"y")
    assert (tmp_path / "log").read_text("utf-8") == "x" * 11 + "\ny\n"


def test_a_disk_that_refuses_ends_the_log_and_nothing_else() -> None:
    with BotLog(Path("/dev/full")) as log:
        log.write(b"a line\n")
        log.write(b"another\n")
    assert log.error is not None
    assert log.error.strerror == "No space left on device"


@pytest.mark.parametrize(
    ("line", "logged_in", "shown"),
    [
        (b"hello", False, "hello"),
        (b'{"type":"login","tokne":"secret"}', False, ""),
        (b'{"type":"login","token":"secret"}', True, ""),
        (b'{"type":"act","idnex":1}', True, '{"type":"act","idnex":1}'),
        (b"my token is secret", True, ""),
        (b"\x1b[2J\xff", True, "\\x1b[2J\\xff"),
    ],
)
def test_a_refused_line_is_shown_unless_it_may_hold_a_secret(
    line: bytes, logged_in: bool, shown: str
) -> None:
    assert shown_line(line, logged_in=logged_in) == shown
