"""Faults of a bot in a match, their causes, and the likely cure of a failed start.

Law: one thing that went wrong is reported once, by its first cause. A bot whose process has ended could not
answer any more, so that its missing answers are no fault of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from msgspec import UNSET, Struct, UnsetType

from stellwerk_base.texts import shown
from stellwerk_processes.bot_spec import Transport
from stellwerk_protocol.messages import DefaultReason
from stellwerk_server.match.lateness import Late, late_in_words
from stellwerk_server.match.refusals import Refused

if TYPE_CHECKING:  # games without processes need no more than the reports
    from stellwerk_processes.bench.local_bot import BotReport

FaultKind = Literal[
    "start_failure",
    "absent",
    "crash",
    "out_of_memory",
    "disconnect",
    "left",
    "hang",
    "time",
    "illegal",
    "garbage",
]

BREAKDOWNS: Final[frozenset[FaultKind]] = frozenset({"start_failure", "crash", "out_of_memory", "disconnect"})
"""The faults that mean that something is broken. All others cost a bot points, which is what games are
for."""

# How the usual languages say it when they end for want of memory.
_OUT_OF_MEMORY: Final = re.compile(
    r"MemoryError|bad_alloc|out of memory|OutOfMemory|cannot allocate memory|memory allocation of \d+ bytes",
    re.IGNORECASE,
)
_NEEDS_STDIO: Final = "if it speaks over its standard streams, it needs transport=stdio"
_MESSAGES_ONLY: Final = (
    "over stdio its standard output is for messages only: it must print all else to standard error"
)
_NO_MESSAGE: Final = ("wire.not_json", "wire.duplicate_name", "wire.bad_number", "protocol.not_an_object")
_ADDRESS: Final = "the address in STELLWERK_ADDRESS"
_LOCATION: Final = re.compile(r'File "(.+?)", line (\d+)')
_PROTOCOL: Final = re.compile(r'\{\s*"type"\s*:|\{.*"protocol"\s*:')


class Fault(Struct, frozen=True, omit_defaults=True):
    """A fault of a bot. `count` is how often it happened; `detail` describes it; `last_lines` are the last
    that the bot printed. `hint` is the likely cure, `first` the first line that was refused, and `late` the
    first ask that was not answered in time. `came_back`: a bot lost its connection, and the server waited for
    it to the end of the match."""

    kind: FaultKind
    count: int
    detail: str
    last_lines: tuple[str, ...] = ()
    hint: str = ""
    first: Refused | UnsetType = UNSET
    late: Late | UnsetType = UNSET
    came_back: bool = False


@dataclass(frozen=True, slots=True)
class Conduct:
    """All that was seen of one bot in one match. `is_remote`: its process is none of ours. `forgot_token`: it
    logged in, but not to its seat. `suspended`: it was kept away. `ended_early`: its process ended before the
    match did. `hung_up`: it closed the output that was its connection. `refused` are its acts, by the code of
    the error, `unreadable` its other lines that were refused, `first_refused` the first line of each code,
    `late` the first ask that it did not answer in time. `connected`: whether it ever did, if that is
    known."""

    report: BotReport
    transport: Transport = "tcp"
    is_remote: bool = False
    logged_in: bool = True
    forgot_token: bool = False
    suspended: bool = False
    ended_early: bool = False
    hung_up: bool = False
    left: bool = False
    by_default: bool = False
    defaults: Counter[DefaultReason] = field(default_factory=Counter[DefaultReason])
    refused: Counter[str] = field(default_factory=Counter[str])
    unreadable: Counter[str] = field(default_factory=Counter[str])
    first_refused: Mapping[str, Refused] = field(default_factory=dict[str, Refused])
    late: Late | UnsetType = UNSET
    connected: bool | None = None

    @property
    def spoke(self) -> bool:
        """Whether it wrote lines that were refused before it logged in."""
        return bool(self.unreadable.keys() - {"auth.login_timeout"})

    def first(self, is_meant: Callable[[str], bool]) -> Refused | UnsetType:
        """Return the first line that was refused with one of these codes."""
        return next((first for code, first in self.first_refused.items() if is_meant(code)), UNSET)


def in_words(fault: Fault) -> str:
    return f"{fault.kind.replace('_', ' ')}, {fault.detail}"


def evidence_of(fault: Fault) -> Iterator[str]:
    """Yield the lines that help to find the cause: what the bot printed last, and what was wrong first."""
    yield from (f"| {shown(line, len(line))}" for line in fault.last_lines)
    if fault.first is not UNSET:
        yield f"first: {_first_in_words(fault.first)}"
    if fault.late is not UNSET:
        yield f"first: {late_in_words(fault.late)}"
    if fault.hint:
        yield f"hint: {shown(fault.hint, 1000)}"


def _first_in_words(refused: Refused) -> str:
    """Write `at ask 12 in turn 6 game.route_taken at /move/route: expected an open route, it sent: {...}`."""
    when = "" if refused.ask is UNSET else f"at ask {refused.ask} in turn {refused.turn} "
    where = f" at {shown(refused.pointer)}" if refused.pointer else ""
    sent = f", it sent: {refused.line}" if refused.line else ""
    return f"{when}{refused.code}{where}: expected {shown(refused.expected)}{sent}"


def faults_of(conduct: Conduct) -> tuple[Fault, ...]:
    """Return the faults of a bot, the gravest first."""
    if conduct.suspended:
        return ()
    faults = [*_find_absence(conduct)]
    if conduct.defaults["time"]:
        count, late = conduct.defaults["time"], conduct.late
        detail, printed = f"no answer in time {_say_times(count)}", conduct.report.last_lines
        if conduct.by_default and count >= conduct.defaults["tries"]:
            detail = f"{detail}, then no longer waited for"
            faults.append(Fault("hang", count, detail, printed, late=late))
        else:
            is_stuck = conduct.report.signal is not None  # it had to be ended
            faults.append(Fault("time", count, detail, printed if is_stuck else (), late=late))
    illegal = Counter({code: n for code, n in conduct.refused.items() if code.startswith("game.")})
    if illegal:
        given_up = conduct.defaults["tries"]
        more = f"; no try was left {_say_times(given_up)}" if given_up else ""
        detail = f"refused moves: {_list_codes(illegal)}{more}"
        first = conduct.first(lambda code: code in illegal)
        faults.append(Fault("illegal", illegal.total(), detail, first=first))
    garbage = _find_garbage(conduct, illegal)
    if garbage:
        first = conduct.first(lambda code: code in garbage)
        detail = f"refused lines: {_list_codes(garbage)}"
        faults.append(
            Fault("garbage", garbage.total(), detail, hint=_hint_of_prints(conduct, first), first=first)
        )
    return tuple(faults)


def _find_garbage(conduct: Conduct, illegal: Counter[str]) -> Counter[str]:
    """Return what was refused apart from illegal moves, without late answers and missing logins, which have
    been reported already. A bot that sends another answer after each refused one is not too fast."""
    refused = conduct.unreadable + (conduct.refused - illegal)
    reported = ("protocol.stale_ask", "auth.login_timeout")
    garbage = Counter({code: count for code, count in refused.items() if code not in reported})
    if illegal or len(garbage) > 1:
        del garbage["protocol.too_fast"]
    return garbage


def _hint_of_prints(conduct: Conduct, first: Refused | UnsetType) -> str:
    """Return the cure for a program that prints where only messages belong."""
    is_print = first is not UNSET and first.code in _NO_MESSAGE and conduct.transport == "stdio"
    return _MESSAGES_ONLY if is_print else ""


def _find_absence(conduct: Conduct) -> list[Fault]:
    report = conduct.report
    if not conduct.logged_in and conduct.is_remote:
        return [Fault("absent", 1, "was not connected when its match began")]
    if not conduct.logged_in:
        how = f"ended with {report.cause} before it logged in" if conduct.ended_early else "never logged in"
        if conduct.forgot_token:
            how = "logged in without the token that it finds in STELLWERK_TOKEN"
        return [Fault("start_failure", 1, how, report.last_lines, start_hint(conduct))]
    if conduct.left:
        return [Fault("left", 1, "left the match")]
    if conduct.ended_early and any(map(_OUT_OF_MEMORY.search, report.last_lines)):
        how = f"ended with {report.cause} before the match did, for want of memory, as it says itself"
        return [Fault("out_of_memory", 1, how, report.last_lines)]
    if conduct.ended_early and report.out_of_memory:
        how = f"ended with {report.cause} before the match did: it needed more memory than the sandbox has"
        return [Fault("out_of_memory", 1, how, report.last_lines)]
    if conduct.ended_early:
        return [Fault("crash", 1, f"ended with {report.cause} before the match did", report.last_lines)]
    if conduct.hung_up:
        return [Fault("disconnect", 1, "closed its standard output, its connection", report.last_lines)]
    if missed := conduct.defaults["disconnected"]:
        answers = "1 answer" if missed == 1 else f"{missed} answers"
        detail = f"closed its connection and missed {answers}"
        return [Fault("disconnect", 1, detail, report.last_lines, came_back=not conduct.by_default)]
    return []


def _list_codes(counts: Counter[str]) -> str:
    return ", ".join(f"{code} {count}" for code, count in counts.most_common())


def _say_times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


# -- advice about a bot that never logged in ---------------------------------------------------------


def start_hint(conduct: Conduct) -> str:
    """Return the likely cure for a bot that never logged in, in one line, or an empty text.

    Law: a hint rests on evidence: what the bot printed last, whether it ended, connected, or wrote anything.
    Without evidence there is no hint: a wrong one costs more time than none.
    """
    if conduct.forgot_token:
        return "its login needs the value of STELLWERK_TOKEN as `token`"
    for pattern, cure in _SIGNS:
        found = [line for line in conduct.report.last_lines if pattern.search(line)]
        if found:
            return cure(found[-1], conduct.report.last_lines)
    if conduct.transport == "tcp" and any(map(_PROTOCOL.match, conduct.report.last_lines)):
        return "it prints messages to its standard output, so it needs transport=stdio"
    if conduct.connected is None:
        return ""
    return _hint_over_stdio(conduct) if conduct.transport == "stdio" else _hint_over_tcp(conduct)


def _hint_over_stdio(conduct: Conduct) -> str:
    if conduct.spoke:
        return _MESSAGES_ONLY
    if conduct.ended_early:
        return ""
    return (
        "it wrote no line to its standard output: after `hello` it must write `login`, and flush; "
        "if it connects over TCP, leave out transport=stdio"
    )


def _hint_over_tcp(conduct: Conduct) -> str:
    if conduct.spoke:
        return ""  # the first line that was refused says more
    if conduct.connected:
        sent_nothing = "it connected, and sent nothing: after `hello` it must send `login`"
        return "" if conduct.ended_early else sent_nothing
    if not conduct.ended_early:
        return f"it did not connect to {_ADDRESS} while the set-up clock ran; {_NEEDS_STDIO}"
    if conduct.report.status == 0:
        return f"it ended without connecting to {_ADDRESS}; {_NEEDS_STDIO}"
    return ""


# -- what programs print when they cannot start ------------------------------------------------------


def _cure_syntax(_line: str, printed: Sequence[str]) -> str:
    places = [place for line in printed if (place := _LOCATION.search(line))]
    where = f" in {places[-1][1]}, line {places[-1][2]}" if places else ""
    return f"correct the syntax error{where}"


def _cure_module(line: str, _printed: Sequence[str]) -> str:
    name = re.search(r"'(.+?)'", line)
    what = f"the module {name[1]}" if name else "the module"
    return f"install {what}, or name in cmd the interpreter that has it, such as .venv/bin/python"


def _advise(cure: str) -> Callable[[str, Sequence[str]], str]:
    return lambda _line, _printed: cure


_SIGNS: Final = (
    (re.compile(r"\b(SyntaxError|IndentationError|TabError)\b"), _cure_syntax),
    (re.compile(r"ModuleNotFoundError|Cannot find module"), _cure_module),
    (
        re.compile(
            r"can't open file|No such file or directory|FileNotFoundError|ENOENT|Unable to access jarfile"
        ),
        _advise(
            "a file is missing: files named in cmd count from the current folder, or from dir; "
            "the bot itself works in an empty folder, or in dir"
        ),
    ),
    (re.compile(r"Permission denied|EACCES"), _advise("a file that it needs may not be read or executed")),
    (
        re.compile(r"Connection ?refused|ECONNREFUSED", re.IGNORECASE),
        _advise(f"it must connect to {_ADDRESS}, not to another one"),
    ),
)
