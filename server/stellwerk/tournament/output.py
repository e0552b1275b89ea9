"""How a tournament is shown while it is played, and its results.

On a terminal a table that is drawn anew, in a pipe a line for each block, for programs a JSON object a line.
"""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec import UNSET

from stellwerk.shared.ranking import RankedRow, ranking_lines
from stellwerk.shared.terminal import flush_stdout, say, size
from stellwerk.tournament.arguments import Shape
from stellwerk_base.texts import counted, percent, shown
from stellwerk_server.net.listen_address import shown_address
from stellwerk_tournament.config.settings import Variant
from stellwerk_tournament.play.progress import (
    BlockEnded,
    Ended,
    Observer,
    Progress,
    Row,
    RunningMatch,
    Suspended,
    rounded,
)
from stellwerk_tournament.report.decisions import decision_in_words
from stellwerk_tournament.store.conduct import Suspension
from stellwerk_tournament.store.field import Decision
from stellwerk_tournament.store.standings import Standings, Sums

SHAPES_WITH_RATINGS: Final[tuple[Shape, ...]] = ("table", "jsonl")  # of the bots, while it is played

MOST_NAMED: Final = 8
LONGEST_LAST_WORD: Final = 300  # characters
LONGEST_FAULT: Final = 2000
FIGURES: Final = ("score", "points", "matches", "faults", "forfeits")  # the last one if there are any
OUT: Final = "out"  # in place of the number of a suspended or disqualified bot


def default_shape() -> Shape:
    """Choose the form of progress on standard error, which does not mix with the result."""
    return "table" if sys.stderr is not None and sys.stderr.isatty() else "lines"


def table_of(rows: Sequence[Row]) -> list[str]:
    """Write a table, the best on top and who is out below, with the interval of each rating."""
    figures = FIGURES if any(row.forfeits for row in rows) else FIGURES[:-1]
    ranked = [
        RankedRow(
            str(place) if row.out is UNSET else OUT,
            row.bot,
            row.elo,
            row.low,
            row.high,
            (
                percent(row.score),
                f"{row.points:.1f}",
                f"{row.matches:,}",
                f"{row.faults:,}",
                f"{row.forfeits:,}",
            )[: len(figures)],
        )
        for place, row in enumerate(rows, 1)
    ]
    return list(ranking_lines("bot", figures, ranked))


def fault_lines(standings: Standings) -> list[str]:
    """Write a line for each bot with faults: their kinds, and the first cause of the most frequent one."""
    return [_fault_line(name, sums) for name, sums in standings.of.items() if sums.faulty]


def conduct_lines(standings: Standings, suspensions: Mapping[str, Suspension]) -> list[str]:
    """Write a line for each bot that forfeited matches: why, and since when it is suspended."""
    return [
        _conduct_line(name, standings.of[name], suspensions.get(name))
        for name in standings.of
        if standings.of[name].forfeits or name in suspensions
    ]


def _conduct_line(name: str, sums: Sums, suspension: Suspension | None) -> str:
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in sums.forfeits.most_common())
    count = sums.forfeits.total()
    text = f"{name}: {count:,} of {counted(sums.matches, 'match', 'matches')} forfeited: {reasons}"
    if suspension is not None:
        row = counted(suspension.forfeits, "forfeit")
        text += f"; suspended after block {suspension.block}, with {row} in a row"
    return shown(text, LONGEST_FAULT)


def _fault_line(name: str, sums: Sums) -> str:
    (kind, count), *others = sums.faults.most_common()
    kinds = [f"{kind} in {count:,} of {counted(sums.matches, 'match', 'matches')}"]
    kinds += [f"{other} in {number:,}" for other, number in others]
    return shown(f"{name}: {', '.join(kinds)}: {shown(sums.causes[kind], LONGEST_LAST_WORD)}", LONGEST_FAULT)


def summary_of(progress: Progress) -> str:
    """Write `24 of 60 matches, 31.5 a minute, 1:10 left`."""
    total = "" if progress.total is None else f" of {progress.total:,}"
    matches = "match" if (progress.total or progress.played) == 1 else "matches"
    parts = [f"{progress.played:,}{total} {matches}"]
    if progress.paused:
        parts.append("paused")
    if progress.void_blocks:
        parts.append(counted(progress.void_blocks, "void block"))
    if progress.called_off_blocks:
        parts.append(f"{counted(progress.called_off_blocks, 'block')} called off")
    if progress.matches_per_minute is not None:
        parts.append(f"{progress.matches_per_minute:g} a minute")
    if progress.seconds_left is not None:
        parts.append(f"{clock(progress.seconds_left)} left")
    return ", ".join(parts) + (f"; {_missing(progress)}" if progress.missing else "")


def running_lines(progress: Progress, most: int) -> list[str]:
    """Write what runs, at most so many lines: first the matches that can be watched, by their ids."""
    lines = [_running_match(match) for match in progress.matches]
    for block in progress.blocks:
        lines.append(shown(f"block {block.block}, {block.game}: {', '.join(block.players)}", 1000))
    return lines[: max(0, most)]


def _running_match(match: RunningMatch) -> str:
    return shown(f"match {match.match}, block {match.block}, {match.game}: {', '.join(match.players)}", 1000)


def _missing(progress: Progress) -> str:
    """Name the bots that are not connected; of many only the first."""
    first, rest = progress.missing[:MOST_NAMED], progress.missing[MOST_NAMED:]
    return "missing: " + ", ".join(first) + (f" and {len(rest)} more" if rest else "")


def clock(seconds: float) -> str:
    """Write a time as `1:02:03`, or `2:03` if it is less than an hour."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


# -- events ------------------------------------------------------------------------------------------


class _Event(NamedTuple):
    """Something that happened: a line for people, or none, and fields for programs, or none. `is_news`: a
    table shows the line below it. `is_always`: it is printed where progress is not shown, too."""

    line: str
    fields: Mapping[str, object] | None = None
    progress: Progress | None = None
    is_news: bool = False
    is_always: bool = False


class Display(Observer):
    """The display of a tournament: the runner's observer, which also hears what the command is about to do,
    and what remote bots do. Each report becomes one event, which `show` shows in its way."""

    def __init__(self, show: Callable[[_Event], object], variants: Sequence[Variant]) -> None:
        self._show = show
        self._variants = variants

    def planned(self, lines: Sequence[str]) -> None:
        """Report what is known before the first match: the sandbox, the preflight, how many matches."""
        for line in lines:
            self._show(_Event(line))

    def listening(self, host: str, port: int) -> None:
        """Report the address. With port 0 nobody knows it before."""
        address = shown_address(host, port)
        self._always(f"listening on {address}", type="listening", address=address)

    def status_page(self, url: str) -> None:
        self._always(f"status page: {url}", type="status_page", url=url)

    def live_pages(self, url: str) -> None:
        self._always(f"live pages at {url}", type="live_pages", url=url)

    def pages_ended(self, why: str) -> None:
        """Report that the live pages are there no more. The matches go on."""
        self._always(f"live pages: {why}", is_news=True, type="live_pages_ended", message=why)

    def remote_bots_changed(self, progress: Progress) -> None:
        """Report that a remote bot has come or gone."""
        line = _missing(progress) if progress.missing else "all remote bots are connected"
        self._show(_Event(line, {"type": "remote_bots", "missing": progress.missing}, progress))

    def cluster_changed(self, line: str) -> None:
        """Report what has become of a worker. Any thread may call this."""
        self._always(line, is_news=True, type="cluster", message=line)

    def _always(self, line: str, *, is_news: bool = False, **fields: str) -> None:
        self._show(_Event(line, fields, is_news=is_news, is_always=True))

    def match_began(self, match: RunningMatch, progress: Progress) -> None:
        fields = {"type": "match_began", **msgspec.structs.asdict(match)}
        self._show(_Event(f"{_running_match(match)}: begins", fields, progress))

    def match_ended(self, ended: Ended, progress: Progress) -> None:
        block = ended.block.number
        known = {"match": ended.match, "cause": ended.cause}
        fields = {"type": "match_ended", "block": block, "rotation": ended.rotation, **_given(known)}
        failed = ended.cause is not None
        line = f"block {block}, rotation {ended.rotation}: not played: {ended.cause}" if failed else ""
        self._show(_Event(line, fields, progress, is_news=failed))

    def block_ended(self, ended: BlockEnded, progress: Progress) -> None:
        block, is_void = ended.block, ended.status == "void"
        fields = {
            "type": "block_ended",
            "block": block.number,
            "round": block.round,
            "entrants": block.entrants,
            "status": ended.status,
            "matches": [line.match for line in ended.lines],
            "progress": progress,
            **_given({"cause": ended.cause}),
        }
        game = self._variants[block.variant].choice.game_id
        line = (
            f"block {block.number} is void: {ended.cause}"
            if is_void
            else f"block {block.number}, {game}: {_means(ended)}; {summary_of(progress)}"
        )
        self._show(_Event(line, fields, progress, is_news=is_void))

    def suspended(self, suspended: Suspended, progress: Progress) -> None:
        suspension = suspended.suspension
        fields = {
            "type": "suspended",
            "bot": suspension.bot,
            "block": suspension.block,
            "forfeits_in_a_row": suspension.forfeits,
            "called_off": suspended.called_off,
        }
        row = counted(suspension.forfeits, "forfeit")
        called_off = "its blocks that have not begun are called off"
        line = f"{shown(suspension.bot)} is suspended after {row} in a row; {called_off}"
        self._show(_Event(line, fields, progress, is_news=True))

    def decided(self, decision: Decision, progress: Progress) -> None:
        line = f"decision {decision.number}: {decision_in_words(decision)}"
        fields = {"type": "decision", "decision": decision}
        self._show(_Event(shown(line, 2000), fields, progress, is_news=True))

    def told_to_stop(self) -> None:
        self._show(_Event(STOPPING, {"type": "stopping"}, is_news=True))


STOPPING: Final = "stopping when the running blocks are complete; once more, and at once"


def _given(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}


def _means(ended: BlockEnded) -> str:
    """Write the mean points of each bot in a block, and what it forfeited."""
    points = dict.fromkeys(ended.block.entrants, 0)
    for line in ended.lines:
        for name, score in zip(line.players, line.points, strict=True):
            points[name] += score
    forfeits = Counter(forfeit.bot for line in ended.lines for forfeit in line.forfeits)
    return ", ".join(
        f"{name} {points[name] / len(ended.lines):.1f}"
        + (f" ({counted(forfeits[name], 'forfeit')})" if forfeits[name] else "")
        for name in sorted(points, key=lambda name: -points[name])
    )


# -- shapes ------------------------------------------------------------------------------------------


def display_of(shape: Shape, variants: Sequence[Variant]) -> Display:
    match shape:
        case "table":
            return Display(_Table().show, variants)
        case "lines":
            return Display(_print_line, variants)
        case "jsonl":
            return Display(_print_fields, variants)
        case "none":
            return Display(_print_if_needed, variants)


def _print_line(event: _Event) -> None:
    if event.line:
        _err(event.line)


def _print_if_needed(event: _Event) -> None:
    if event.is_always:
        _err(event.line)


def _print_fields(event: _Event) -> None:
    """Print fields. A line that cannot be written ends no tournament: its last line reports the error."""
    if event.fields is None:
        return
    fields = dict(event.fields)
    if "progress" in fields and event.progress is not None:
        fields["progress"] = msgspec.structs.replace(event.progress, rows=rounded(event.progress.rows))
    with contextlib.suppress(OSError):
        say_json(**fields)


class _Table:
    """Drawn over what was drawn before, as much as the terminal has room for. News is drawn with the next
    progress."""

    def __init__(self) -> None:
        self._height = 0
        self._notice = ""

    def show(self, event: _Event) -> None:
        if event.is_news:
            self._notice = event.line
        elif event.progress is None:
            _err(event.line)
        if event.progress is not None:
            self._draw(event.progress)

    def _draw(self, progress: Progress) -> None:
        columns, rows = size()
        table = table_of(progress.rows)[: max(2, rows - 4)]
        lines = [*table, "", summary_of(progress)]
        lines += [shown(self._notice, 1000)] if self._notice else []
        lines += running_lines(progress, rows - len(lines) - 1)
        back = f"\r\x1b[{self._height}A\x1b[J" if self._height else ""
        text = "".join(f"{line[: columns - 1]}\n" for line in lines)
        with contextlib.suppress(OSError):
            print(back + text, end="", file=sys.stderr, flush=True)
        self._height = len(lines)


def _err(line: str) -> None:
    with contextlib.suppress(OSError):
        text = shown(line, 4000).encode("ascii", "backslashreplace").decode()
        print(text, file=sys.stderr, flush=True)


def say_json(**content: object) -> None:
    say(msgspec.json.encode(content).decode())
    flush_stdout()
