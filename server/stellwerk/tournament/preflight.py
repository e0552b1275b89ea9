"""The preflight as an organizer sees it: who cannot play and why, and what to do then."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import trio

from stellwerk.shared.errors import FAILED, INFRASTRUCTURE, CommandError, writing
from stellwerk.shared.progress import clear, draw, is_shown
from stellwerk.shared.terminal import complain
from stellwerk.tournament.arguments import Shape
from stellwerk.tournament.output import MOST_NAMED, clock, say_json
from stellwerk_base.texts import counted, shown
from stellwerk_processes.bot_spec import STARTED
from stellwerk_tournament.play.preflight import (
    FIRST_ASKS,
    Preflight,
    Trying,
    distinct_games,
    try_bots,
)
from stellwerk_tournament.store.answered import FILE, fingerprints, read_answered, write_answered

if TYPE_CHECKING:
    from stellwerk_tournament.config.settings import Settings
    from stellwerk_tournament.store.cup import Cup


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice for an organizer whose bots cannot play: call the command `again`, or the one that leaves them
    out, if enough are left then. `has_begun`: matches have been played, so that nobody can be left out any
    more."""

    again: str
    without: Callable[[Sequence[str]], str | None]
    has_begun: bool


def preflight(
    cup: Cup,
    suspended: Collection[str],
    shape: Shape,
    tell: Callable[[Sequence[str]], object],
    advice: Advice,
) -> bool:
    """Try the bots that have not been tried under these conditions. Return False if somebody stopped that.
    CommandError if the tournament is not to go on. `tell` gets what is good news."""
    folder, settings = cup.folder, cup.settings
    names = [each for each in _local(settings) if each not in suspended]
    now = fingerprints(settings, cup.now, cup.sandbox, names)
    before = read_answered(folder)
    unchanged = {name: mark for name, mark in now.items() if before.get(name) == mark}
    to_try = [name for name in names if name not in unchanged]
    tell([*_before(names, to_try)])
    if not to_try:
        return True
    try:
        found = trio.run(try_bots, settings, to_try, partial(_draw, shape))
    finally:
        if _is_drawn(shape):
            clear()
    answered = unchanged | {name: now[name] for name in found.passed}
    with writing(folder / FILE):
        write_answered(folder, answered)
    if shape == "jsonl":
        content: dict[str, object] = msgspec.to_builtins(found)
        say_json(type="preflight", **content, unchanged=[*unchanged])
    if found.was_stopped:
        return False
    for line in _complaints(found):
        complain(line)
    _expect_all(found, len(names), advice)
    bots = counted(len(found.passed), "bot")
    tell([f"preflight: {bots} answered the first asks of each game, in {found.seconds:.1f} s"])
    return True


def preflight_words(settings: Settings) -> str:
    """Say what would be tried, for a dry run."""
    names = _local(settings)
    if not names:
        return "no preflight: no bot has a process on this machine"
    games = counted(len(distinct_games(settings.variants)), "game")
    return (
        f"before the first match {counted(len(names), 'bot')} would answer {counted(FIRST_ASKS, 'ask')} in "
        f"each seat of {games} (preflight)"
    )


def _local(settings: Settings) -> list[str]:
    return [entrant.name for entrant in settings.entrants if entrant.bot.process in STARTED]


def _before(names: Sequence[str], to_try: Sequence[str]) -> Iterator[str]:
    """Say whom an earlier preflight has tried."""
    unchanged = len(names) - len(to_try)
    if not unchanged:
        return
    text = f"preflight: {unchanged:,} of {counted(len(names), 'bot')} unchanged"
    yield f"{text}; to be tried: {_named(to_try)}" if to_try else text


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _is_drawn(shape: Shape) -> bool:
    return shape in ("table", "lines") and is_shown()


def _draw(shape: Shape, trying: Trying) -> None:
    if _is_drawn(shape):
        running = f": {_named(trying.names)}" if trying.names else ""
        draw(f"preflight: {trying.done:,} of {trying.total:,} bots, {clock(trying.seconds)}{running}")


def _complaints(found: Preflight) -> Iterator[str]:
    for unfit in found.unfit:
        cause = shown(unfit.cause, 1000)
        yield f"preflight: {unfit.bot} cannot play {unfit.game}: {cause} ({unfit.seconds:.1f} s)"
        for line in unfit.last_lines:
            yield f"    {line}"
        for hint in unfit.hints:
            yield f"    hint: {hint}"
    for fault in found.untried:
        game = f" in {fault.game}" if fault.game else ""
        yield f"preflight: {fault.bot} could not be tried{game}, which is not its fault: {fault.text}"
    for remark in found.remarks:
        yield f"preflight: {remark.bot} can play {remark.game}, and yet: {remark.text}"


def _expect_all(found: Preflight, count: int, advice: Advice) -> None:
    unfit = [*dict.fromkeys(each.bot for each in found.unfit)]
    nothing = "nothing was played" if advice.has_begun else "nothing has begun"
    if unfit:
        what = f"{nothing}: {len(unfit):,} of {counted(count, 'bot')} cannot play"
        if advice.has_begun:
            raise CommandError(
                f"{what}; mend that and run again, or continue and let [conduct] decide: "
                f"{advice.again} --no-preflight",
                FAILED,
            )
        without = advice.without(unfit)
        them = "it" if len(unfit) == 1 else "them"
        or_else = "" if without is None else f", or leave {them} out: {without}"
        raise CommandError(f"{what}; mend that and run again{or_else}", FAILED)
    if found.untried:
        untried = counted(len({each.bot for each in found.untried}), "bot")
        raise CommandError(
            f"{nothing}: {untried} could not be tried, because of this machine; when that is mended: "
            f"{advice.again}",
            INFRASTRUCTURE,
        )
