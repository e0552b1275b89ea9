"""How a tournament is shown while it is played, and its results.

On a terminal a table that is drawn anew, in a pipe a line for each block, for programs a JSON object a line.
"""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import msgspec

from stellwerk.shared.terminal import flush_stdout, say, size
from stellwerk.tournament.arguments import Shape
from stellwerk_base.texts import aligned, counted, interval, shown, signed
from stellwerk_server.net.listen_address import shown_address
from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.play.progress import (
    BlockEnded,
    Ended,
    Observer,
    Progress,
    Row,
    RunningBlock,
    RunningMatch,
    Suspended,
    rounded,
)
from stellwerk_tournament.store.conduct import Suspension
from stellwerk_tournament.store.standings import Standings, Sums

SHAPES_WITH_RATINGS: Final[tuple[Shape, ...]] = ("table", "jsonl")  # of the bots, while it is played

MOST_NAMED: Final = 8
LONGEST_LAST_WORD: Final = 300  # characters
LONGEST_FAULT: Final = 2000
_HEAD: Final = ("", "bot", "elo", "95 %", "score", "points", "matches", "faults")
_FORFEITS: Final = "forfeits"  # one more column, if there are any
OUT: Final = "out"  # in place of the number of a suspended bot


class Shown(Observer, Protocol):
    """An observer that also reports what the runner is about to do, and what remote bots do."""

    def planned(self, lines: Sequence[str]) -> None:
        """Report what is known before the first match: the sandbox, the preflight, how many matches."""
        ...

    def listening(self, host: str, port: int) -> None: ...

    def status_page(self, url: str) -> None:
        """Report where the status page is."""
        ...

    def live_pages(self, url: str) -> None:
        """Report where the live pages are."""
        ...

    def pages_ended(self, why: str) -> None:
        """Report that the live pages are there no more. The matches go on."""
        ...

    def remote_bots_changed(self, progress: Progress) -> None:
        """Report that a remote bot has come or gone."""
        ...

    def cluster_changed(self, line: str) -> None:
        """Report what has become of a worker. Any thread may call this."""
        ...


def observer_of(shape: Shape, settings: Settings) -> Shown:
    match shape:
        case "table":
            return _Table()
        case "lines":
            return _Lines(settings)
        case "jsonl":
            return _JsonLines()
        case "none":
            return _Silence()


def default_shape() -> Shape:
    """Choose the form of progress on standard error, which does not mix with the result."""
    return "table" if sys.stderr is not None and sys.stderr.isatty() else "lines"


def table_of(rows: Sequence[Row]) -> list[str]:
    """Write a table, the best on top and who is suspended below, with the interval of each rating."""
    cells = [_HEAD, *(_cells(place, row) for place, row in enumerate(rows, 1))]
    if any(row.forfeits for row in rows):
        last = [_FORFEITS, *(f"{row.forfeits:,}" for row in rows)]
        cells = [(*cell, forfeits) for cell, forfeits in zip(cells, last, strict=True)]
    return list(aligned(cells, left={1}))


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
    lines = [*map(_running_match, progress.matches), *map(_running_block, progress.blocks)]
    return lines[: max(0, most)]


def _running_match(match: RunningMatch) -> str:
    return shown(f"match {match.match}, block {match.block}, {match.game}: {', '.join(match.players)}", 1000)


def _running_block(block: RunningBlock) -> str:
    return shown(f"block {block.block}, {block.game}: {', '.join(block.players)}", 1000)


def _missing(progress: Progress) -> str:
    """Name the bots that are not connected; of many only the first."""
    first, rest = progress.missing[:MOST_NAMED], progress.missing[MOST_NAMED:]
    return "missing: " + ", ".join(first) + (f" and {len(rest)} more" if rest else "")


def _cells(place: int, row: Row) -> tuple[str, ...]:
    return (
        OUT if row.suspended else str(place),
        shown(row.bot),
        "" if row.elo is None else signed(row.elo),
        interval(row.low, row.high),
        f"{100 * row.score:.1f} %",
        f"{row.points:.1f}",
        f"{row.matches:,}",
        f"{row.faults:,}",
    )


def clock(seconds: float) -> str:
    """Write a time as `1:02:03`, or `2:03` if it is less than an hour."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


# -- the shapes --------------------------------------------------------------------------------------


def _where(host: str, port: int) -> str:
    """Print the address where everybody sees it: with port 0 nobody knows it before."""
    return f"listening on {shown_address(host, port)}"


def _status_page(url: str) -> str:
    return f"status page: {url}"


def _live_pages(url: str) -> str:
    return f"live pages at {url}"


def _pages_ended(why: str) -> str:
    return f"live pages: {why}"


class _Silence:
    def planned(self, lines: Sequence[str]) -> None:
        pass

    def listening(self, host: str, port: int) -> None:
        _err(_where(host, port))

    def status_page(self, url: str) -> None:
        _err(_status_page(url))

    def live_pages(self, url: str) -> None:
        _err(_live_pages(url))

    def pages_ended(self, why: str) -> None:
        _err(_pages_ended(why))

    def remote_bots_changed(self, progress: Progress) -> None:
        pass

    def cluster_changed(self, line: str) -> None:
        _err(line)

    def match_began(self, match: RunningMatch, progress: Progress) -> None:
        pass

    def match_ended(self, ended: Ended, progress: Progress) -> None:
        pass

    def block_ended(self, ended: BlockEnded, progress: Progress) -> None:
        pass

    def suspended(self, suspended: Suspended, progress: Progress) -> None:
        pass

    def told_to_stop(self) -> None:
        pass


class _Lines:
    def __init__(self, settings: Settings) -> None:
        self._variants = settings.variants

    def planned(self, lines: Sequence[str]) -> None:
        for line in lines:
            _err(line)

    def listening(self, host: str, port: int) -> None:
        _err(_where(host, port))

    def status_page(self, url: str) -> None:
        _err(_status_page(url))

    def live_pages(self, url: str) -> None:
        _err(_live_pages(url))

    def pages_ended(self, why: str) -> None:
        _err(_pages_ended(why))

    def remote_bots_changed(self, progress: Progress) -> None:
        _err(_missing(progress) if progress.missing else "all remote bots are connected")

    def cluster_changed(self, line: str) -> None:
        _err(line)

    def match_began(self, match: RunningMatch, progress: Progress) -> None:
        _err(f"{_running_match(match)}: begins")

    def match_ended(self, ended: Ended, progress: Progress) -> None:
        if ended.cause is not None:
            _err(f"block {ended.block.number}, rotation {ended.rotation}: not played: {ended.cause}")

    def block_ended(self, ended: BlockEnded, progress: Progress) -> None:
        block = ended.block
        if ended.status == "void":
            _err(f"block {block.number} is void: {ended.cause}")
            return
        game = self._variants[block.variant].choice.game_id
        points = dict.fromkeys(block.entrants, 0)
        for line in ended.lines:
            for name, score in zip(line.players, line.points, strict=True):
                points[name] += score
        forfeits = Counter(forfeit.bot for line in ended.lines for forfeit in line.forfeits)
        order = sorted(points, key=lambda name: -points[name])
        means = ", ".join(
            f"{name} {points[name] / len(ended.lines):.1f}"
            + (f" ({counted(forfeits[name], 'forfeit')})" if forfeits[name] else "")
            for name in order
        )
        _err(f"block {block.number}, {game}: {means}; {summary_of(progress)}")

    def suspended(self, suspended: Suspended, progress: Progress) -> None:
        _err(_news(suspended))

    def told_to_stop(self) -> None:
        _err(STOPPING)


def _news(suspended: Suspended) -> str:
    bot, row = shown(suspended.suspension.bot), counted(suspended.suspension.forfeits, "forfeit")
    return f"{bot} is suspended after {row} in a row; its blocks that have not begun are called off"


STOPPING: Final = "stopping when the running blocks are complete; once more, and at once"


class _JsonLines:
    def planned(self, lines: Sequence[str]) -> None:
        pass  # `progress` has the numbers

    def listening(self, host: str, port: int) -> None:
        _tell_json(type="listening", address=shown_address(host, port))

    def status_page(self, url: str) -> None:
        _tell_json(type="status_page", url=url)

    def live_pages(self, url: str) -> None:
        _tell_json(type="live_pages", url=url)

    def pages_ended(self, why: str) -> None:
        _tell_json(type="live_pages_ended", message=why)

    def remote_bots_changed(self, progress: Progress) -> None:
        _tell_json(type="remote_bots", missing=progress.missing)

    def cluster_changed(self, line: str) -> None:
        _tell_json(type="cluster", message=line)

    def match_began(self, match: RunningMatch, progress: Progress) -> None:
        _tell_json(type="match_began", **msgspec.structs.asdict(match))

    def match_ended(self, ended: Ended, progress: Progress) -> None:
        cause = {} if ended.cause is None else {"cause": ended.cause}
        match = {} if ended.match is None else {"match": ended.match}
        _tell_json(type="match_ended", block=ended.block.number, rotation=ended.rotation, **match, **cause)

    def block_ended(self, ended: BlockEnded, progress: Progress) -> None:
        cause = {} if ended.cause is None else {"cause": ended.cause}
        _tell_json(
            type="block_ended",
            block=ended.block.number,
            round=ended.block.round,
            entrants=ended.block.entrants,
            status=ended.status,
            matches=[line.match for line in ended.lines],
            progress=msgspec.structs.replace(progress, rows=rounded(progress.rows)),
            **cause,
        )

    def suspended(self, suspended: Suspended, progress: Progress) -> None:
        suspension = suspended.suspension
        _tell_json(
            type="suspended",
            bot=suspension.bot,
            block=suspension.block,
            forfeits_in_a_row=suspension.forfeits,
            called_off=suspended.called_off,
        )

    def told_to_stop(self) -> None:
        _tell_json(type="stopping")


class _Table:
    """Drawn over what was drawn before, as much as the terminal has room for."""

    def __init__(self) -> None:
        self._height = 0
        self._notice = ""

    def planned(self, lines: Sequence[str]) -> None:
        for line in lines:
            _err(line)

    def listening(self, host: str, port: int) -> None:
        _err(_where(host, port))

    def status_page(self, url: str) -> None:
        _err(_status_page(url))

    def live_pages(self, url: str) -> None:
        _err(_live_pages(url))

    def pages_ended(self, why: str) -> None:
        self._notice = _pages_ended(why)  # drawn with the next match that ends

    def remote_bots_changed(self, progress: Progress) -> None:
        self._draw(progress)

    def cluster_changed(self, line: str) -> None:
        self._notice = line  # drawn with the next match that ends

    def match_began(self, match: RunningMatch, progress: Progress) -> None:
        self._draw(progress)

    def match_ended(self, ended: Ended, progress: Progress) -> None:
        if ended.cause is not None:
            self._notice = f"block {ended.block.number}, rotation {ended.rotation}: not played: {ended.cause}"
        self._draw(progress)

    def block_ended(self, ended: BlockEnded, progress: Progress) -> None:
        if ended.status == "void":
            self._notice = f"block {ended.block.number} is void: {ended.cause}"
        self._draw(progress)

    def suspended(self, suspended: Suspended, progress: Progress) -> None:
        self._notice = _news(suspended)
        self._draw(progress)

    def told_to_stop(self) -> None:
        self._notice = STOPPING

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


def _tell_json(**content: object) -> None:
    """Report progress. A line that cannot be written ends no tournament: its last line reports the error."""
    with contextlib.suppress(OSError):
        say_json(**content)


def say_json(**content: object) -> None:
    say(msgspec.json.encode(content).decode())
    flush_stdout()
