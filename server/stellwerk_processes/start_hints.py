"""Advice about a bot that never logged in, as far as the evidence allows.

Law: a hint rests on evidence: what the bot printed last, whether it ended, connected, or wrote anything.
Where that says nothing, there is no hint: a wrong one costs more time than none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from stellwerk_processes.bot_spec import Transport

if TYPE_CHECKING:  # games without processes need no more than the reports
    from stellwerk_processes.bench.local_bot import BotReport

NEEDS_STDIO: Final = "if it speaks over its standard streams, it needs transport=stdio"
ADDRESS: Final = "the address in STELLWERK_ADDRESS"

_LOCATION: Final = re.compile(r'File "(.+?)", line (\d+)')
_PROTOCOL: Final = re.compile(r'\{\s*"type"\s*:|\{.*"protocol"\s*:')


@dataclass(frozen=True, slots=True)
class Start:
    """The observations of a bot until the runner stopped waiting for it. `connected`: whether it ever did;
    None if nobody can know, nor what it said then. `spoke`: it wrote lines that were refused."""

    report: BotReport
    transport: Transport
    ended: bool
    connected: bool | None
    spoke: bool
    forgot_token: bool


def start_hint(start: Start) -> str:
    """Return the likely cure in one line, or an empty text."""
    if start.forgot_token:
        return "its login needs the value of STELLWERK_TOKEN as `token`"
    for pattern, cure in _SIGNS:
        found = [line for line in start.report.last_lines if pattern.search(line)]
        if found:
            return cure(found[-1], start.report.last_lines)
    if start.transport == "tcp" and any(map(_PROTOCOL.match, start.report.last_lines)):
        return "it prints messages to its standard output, so it needs transport=stdio"
    if start.connected is None:
        return ""
    return _over_stdio(start) if start.transport == "stdio" else _over_tcp(start)


def _over_stdio(start: Start) -> str:
    if start.spoke:
        return "over stdio its standard output is for messages only: it must print all else to standard error"
    if start.ended:
        return ""
    return (
        "it wrote no line to its standard output: after `hello` it must write `login`, and flush; "
        "if it connects over TCP, leave out transport=stdio"
    )


def _over_tcp(start: Start) -> str:
    if start.spoke:
        return ""  # the first line that was refused says more
    if start.connected:
        return "" if start.ended else "it connected, and sent nothing: after `hello` it must send `login`"
    if not start.ended:
        return f"it did not connect to {ADDRESS} while the set-up clock ran; {NEEDS_STDIO}"
    if start.report.status == 0:
        return f"it ended without connecting to {ADDRESS}; {NEEDS_STDIO}"
    return ""


# -- what programs print when they cannot start ------------------------------------------------------


def _syntax(_line: str, printed: Sequence[str]) -> str:
    places = [place for line in printed if (place := _LOCATION.search(line))]
    where = f" in {places[-1][1]}, line {places[-1][2]}" if places else ""
    return f"correct the syntax error{where}"


def _module(line: str, _printed: Sequence[str]) -> str:
    name = re.search(r"'(.+?)'", line)
    what = f"the module {name[1]}" if name else "the module"
    return f"install {what}, or name in cmd the interpreter that has it, such as .venv/bin/python"


def _always(cure: str) -> Callable[[str, Sequence[str]], str]:
    return lambda _line, _printed: cure


_SIGNS: Final = (
    (re.compile(r"\b(SyntaxError|IndentationError|TabError)\b"), _syntax),
    (re.compile(r"ModuleNotFoundError|Cannot find module"), _module),
    (
        re.compile(
            r"can't open file|No such file or directory|FileNotFoundError|ENOENT|Unable to access jarfile"
        ),
        _always(
            "a file is missing: files named in cmd count from the current folder, or from dir; "
            "the bot itself works in an empty folder, or in dir"
        ),
    ),
    (re.compile(r"Permission denied|EACCES"), _always("a file that it needs may not be read or executed")),
    (
        re.compile(r"Connection ?refused|ECONNREFUSED", re.IGNORECASE),
        _always(f"it must connect to {ADDRESS}, not to another one"),
    ),
)
