"""Why a bot did not start: no hint without evidence.

`tests/command/play/test_play.py` does it with real processes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from stellwerk_processes.bench.local_bot import BotReport
from stellwerk_processes.bot_spec import Transport
from stellwerk_processes.faults import Conduct, start_hint

ENDED = BotReport(0, None, False, 1, None, ())
NO_LOGIN = Conduct(ENDED, logged_in=False, ended_early=True)


def printed(*lines: str) -> Conduct:
    return replace(NO_LOGIN, report=replace(ENDED, last_lines=lines))


@pytest.mark.parametrize("transport", get_args(Transport))
@pytest.mark.parametrize("ended", [True, False])
def test_where_nobody_knows_what_a_bot_sent_there_is_no_hint(transport: Transport, ended: bool) -> None:
    assert start_hint(replace(NO_LOGIN, transport=transport, ended_early=ended)) == ""


@pytest.mark.parametrize(
    ("lines", "hint"),
    [
        (("/bot.js:3", "SyntaxError: Unexpected token '}'"), "correct the syntax error"),
        (
            ('  File "a.py", line 1', '  File "b.py", line 7', "SyntaxError: x"),
            "correct the syntax error in b.py, line 7",
        ),
        (("Error: Cannot find module 'ws'",), "install the module ws"),
        (("Error: Unable to access jarfile bot.jar",), "a file is missing"),
        (("sh: 1: ./bot: Permission denied",), "a file that it needs may not be read or executed"),
        (
            ("Error: connect ECONNREFUSED 127.0.0.1:7878",),
            "it must connect to the address in STELLWERK_ADDRESS",
        ),
        (("Segmentation fault",), ""),
    ],
)
def test_what_programs_print_when_they_cannot_start_is_known(lines: tuple[str, ...], hint: str) -> None:
    assert start_hint(printed(*lines)).startswith(hint)
    assert bool(start_hint(printed(*lines))) == bool(hint)
