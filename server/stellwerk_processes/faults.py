"""Faults of a bot in a match, and their causes.

Law: one thing that went wrong is reported once, by its first cause. A bot whose process has ended could not
answer any more, so that its missing answers are no fault of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from msgspec import UNSET, Struct, UnsetType

from stellwerk_processes.bot_spec import Transport
from stellwerk_processes.start_hints import Start, start_hint
from stellwerk_protocol.messages import DefaultReason
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


class Fault(Struct, frozen=True, omit_defaults=True):
    """A fault of a bot. `count` is how often it happened; `detail` describes it; `last_lines` are the last
    that the bot printed. `hint` is the likely cure of a failed start, and `first` the first line that was
    refused. `came_back`: a bot lost its connection, and the server waited for it to the end of the match."""

    kind: FaultKind
    count: int
    detail: str
    last_lines: tuple[str, ...] = ()
    hint: str = ""
    first: Refused | UnsetType = UNSET
    came_back: bool = False


@dataclass(frozen=True, slots=True)
class Conduct:
    """All that was seen of one bot in one match. `is_remote`: its process is none of ours. `forgot_token`: it
    logged in, but not to its seat. `suspended`: it was kept away. `ended_early`: its process ended before the
    match did. `hung_up`: it closed the output that was its connection. `refused` are its acts, by the code of
    the error, `unreadable` its other lines that were refused, `first_refused` the first line of each code.
    `connected`: whether it ever did, if that is known."""

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
    connected: bool | None = None

    def first(self, is_meant: Callable[[str], bool]) -> Refused | UnsetType:
        """Return the first line that was refused with one of these codes."""
        return next((first for code, first in self.first_refused.items() if is_meant(code)), UNSET)


def in_words(fault: Fault) -> str:
    return f"{fault.kind.replace('_', ' ')}, {fault.detail}"


def faults_of(conduct: Conduct) -> tuple[Fault, ...]:
    """Return the faults of a bot, the gravest first."""
    if conduct.suspended:
        return ()
    faults = [*_absence(conduct)]
    if conduct.defaults["time"]:
        late = conduct.defaults["time"]
        if conduct.by_default and late >= conduct.defaults["tries"]:
            faults.append(Fault("hang", late, f"no answer in time {_times(late)}, then no longer waited for"))
        else:
            faults.append(Fault("time", late, f"no answer in time {_times(late)}"))
    illegal = Counter({code: n for code, n in conduct.refused.items() if code.startswith("game.")})
    if illegal:
        given_up = conduct.defaults["tries"]
        more = f"; no try was left {_times(given_up)}" if given_up else ""
        detail = f"refused moves: {_codes(illegal)}{more}"
        first = conduct.first(lambda code: code in illegal)
        faults.append(Fault("illegal", illegal.total(), detail, first=first))
    refused = conduct.unreadable + (conduct.refused - illegal)
    # Late answers and missing logins have been reported already.
    told = ("protocol.stale_ask", "auth.login_timeout")
    garbage = Counter({code: n for code, n in refused.items() if code not in told})
    if garbage:
        first = conduct.first(lambda code: code in garbage)
        faults.append(Fault("garbage", garbage.total(), f"refused lines: {_codes(garbage)}", first=first))
    return tuple(faults)


def _absence(conduct: Conduct) -> list[Fault]:
    report = conduct.report
    if not conduct.logged_in and conduct.is_remote:
        return [Fault("absent", 1, "was not connected when its match began")]
    if not conduct.logged_in:
        how = f"ended with {report.cause} before it logged in" if conduct.ended_early else "never logged in"
        if conduct.forgot_token:
            how = "logged in without the token that it finds in STELLWERK_TOKEN"
        return [Fault("start_failure", 1, how, report.last_lines, _hint(conduct))]
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


def _hint(conduct: Conduct) -> str:
    return start_hint(
        Start(
            report=conduct.report,
            transport=conduct.transport,
            ended=conduct.ended_early,
            connected=conduct.connected,
            spoke=bool(conduct.unreadable.keys() - {"auth.login_timeout"}),
            forgot_token=conduct.forgot_token,
        )
    )


def _codes(counts: Counter[str]) -> str:
    return ", ".join(f"{code} {count}" for code, count in counts.most_common())


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
