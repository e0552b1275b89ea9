"""What went wrong with bots, in the report: by cause, apart from losses, with what they printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from stellwerk_processes.faults import Fault, FaultKind
from stellwerk_protocol.figures import counted
from stellwerk_tournament.report.markup import (
    Html,
    bot_cell,
    element,
    head,
    joined,
    milliseconds,
    number_cell,
    numbers,
    percent,
    scrolling,
    texts,
)
from stellwerk_tournament.report.matches import match_label, replay_link
from stellwerk_tournament.store.match_line import MatchLine
from stellwerk_tournament.store.standings import Standings

KINDS: Final[Mapping[FaultKind, str]] = {
    "start_failure": "did not start",
    "absent": "absent",
    "crash": "crashed",
    "out_of_memory": "out of memory",
    "disconnect": "disconnected",
    "left": "left",
    "hang": "hung",
    "time": "too late",
    "illegal": "illegal move",
    "garbage": "unreadable line",
}
MOST_EXAMPLES: Final = 300  # one for each bot and cause, and no more than these


def faults(lines: Sequence[MatchLine], names: Sequence[str], standings: Standings) -> Iterator[Html]:
    """`names` in the order of the ranking."""
    seen = {kind for name in names for kind, count in standings.of[name].faults.items() if count}
    kinds: list[FaultKind] = [kind for kind in KINDS if kind in seen]
    concerned = sum(standings.of[name].faulty > 0 for name in names)
    verdict = (
        f"{counted(concerned, 'bot')} of {len(names):,} had faults."
        if concerned
        else "No bot had a fault in any match."
    )
    yield element(
        "p",
        f"{verdict} A figure says in how many matches something was wrong with the bot. A fault is no loss: "
        "the match went on, with the server's moves in place of the missing ones, and its result counts. "
        "What the machine itself did wrong is not held against anybody.",
    )
    yield scrolling(_table(names, standings, kinds), "Faults and time", "tall")
    examples = list(_examples(lines, names))
    if examples:
        yield element("h3", "Examples")
        yield element(
            "p", "The first match with each bot and cause, and the last lines that the bot printed."
        )
        yield from examples[:MOST_EXAMPLES]
        if len(examples) > MOST_EXAMPLES:
            more = len(examples) - MOST_EXAMPLES
            yield element(
                "p",
                f"{counted(more, 'more', 'more')} are in ",
                element("a", "junit.xml", href="junit.xml"),
                ".",
            )


def _table(names: Sequence[str], standings: Standings, kinds: Sequence[FaultKind]) -> Html:
    columns = head(
        *texts("bot"),
        *numbers("matches", "with faults", *(KINDS[kind] for kind in kinds)),
        *numbers("asks", "mean time", "slowest", "CPU a match"),
    )
    rows = (_row(name, standings, kinds) for name in names)
    return element("table", columns, element("tbody", *rows), class_="sortable")


def _row(name: str, standings: Standings, kinds: Sequence[FaultKind]) -> Html:
    sums = standings.of[name]
    share = joined([f"{sums.faulty:,} (", percent(sums.faulty / sums.matches), ")"]) if sums.faulty else "0"
    mean = sums.used_ms / sums.asks if sums.asks else 0.0
    cpu = sums.cpu_ms / sums.cpu_matches if sums.cpu_matches else None
    return element(
        "tr",
        bot_cell(name),
        number_cell(f"{sums.matches:,}", sums.matches),
        number_cell(share, sums.faulty),
        *(number_cell(f"{sums.faults[kind]:,}", sums.faults[kind]) for kind in kinds),
        number_cell(f"{sums.asks:,}", sums.asks),
        number_cell(milliseconds(mean), mean),
        number_cell(milliseconds(sums.slowest_ms), sums.slowest_ms),
        number_cell("" if cpu is None else milliseconds(cpu), -1 if cpu is None else cpu),
    )


def _examples(lines: Sequence[MatchLine], names: Sequence[str]) -> Iterator[Html]:
    first: dict[tuple[str, FaultKind], tuple[Fault, MatchLine]] = {}
    for line in lines:
        for seat in line.bots:
            for fault in seat.faults:
                first.setdefault((seat.bot, fault.kind), (fault, line))
    for (name, kind), (fault, line) in sorted(first.items(), key=lambda item: names.index(item[0][0])):
        yield element(
            "details",
            element("summary", element("b", name), f" {KINDS[kind]}: {fault.detail}"),
            element("p", f"{match_label(line)}: ", replay_link(line)),
            element("pre", *_one_below_the_other(fault.last_lines)) if fault.last_lines else "",
            class_="example",
        )


def _one_below_the_other(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        yield text
        yield Html("\n")
