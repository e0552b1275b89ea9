"""`stellwerk tournament init`: a new `tournament.toml`, from nothing or out of an earlier tournament."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from msgspec import UNSET

from stellwerk.shared.errors import DONE, usage_error, writing
from stellwerk.shared.terminal import complain, say
from stellwerk.tournament.arguments import Budget
from stellwerk.tournament.expectation import expectation, with_proposal
from stellwerk.tournament.folder import command_for, looked_into, total_of
from stellwerk.tournament.output import table_of
from stellwerk.tournament.results import rated_in
from stellwerk_base.files import write_whole
from stellwerk_base.texts import probability, shown, unknown
from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_processes.bot_spec import BUILT_IN
from stellwerk_tournament.config.final import final_text, mentions_folder
from stellwerk_tournament.config.settings import FILE, Kind, Variant, matches_at_once
from stellwerk_tournament.config.template import ROUNDS, schedule_text, template
from stellwerk_tournament.play.progress import Row, rows_of
from stellwerk_tournament.ratings.ratings import RatingError
from stellwerk_tournament.schedule.schedule import SchedulePlan
from stellwerk_tournament.store.cup import Cup
from stellwerk_tournament.store.results import Results

KIND: Final[Kind] = "round_robin"


@dataclass(frozen=True, slots=True)
class _Draft:
    """A file that is still without its schedule. `text` writes it; `results` are those of matches like
    the ones to come, `of` names where they were played. `cut` says how sure it is who is in the final."""

    text: Callable[[Kind, int], str]
    names: tuple[str, ...]
    authors: tuple[str | None, ...]
    variants: tuple[Variant, ...]
    at_once: int
    results: Results = field(default_factory=Results)
    of: str = ""
    cut: tuple[str, ...] = ()


def init(folder: Path, arguments: argparse.Namespace) -> int:
    """Write the file, and say what it comes to."""
    path = folder / FILE
    if path.exists():
        raise usage_error(f"{path}: already exists")
    if arguments.cup is None:
        if arguments.top is not None:
            raise usage_error("--top: goes with --from only")
        if arguments.play_off is not None:
            raise usage_error("--play-off: goes with --from only")
        games, bots = arguments.game or ["usa"], arguments.bot or ["random", "greedy"]
        draft = _new(games, bots, arguments.others or 0, arguments.title or "")
        rows: tuple[Row, ...] = ()
    else:
        draft, rows = _final(folder, arguments)
    kind, rounds, lines = _schedule(draft, arguments.budget)
    content = draft.text(kind, rounds).encode()
    with writing(path):
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    for line in (*(table_of(rows) if rows else ()), *draft.cut):
        say(line)
    others = ""
    if arguments.others:
        each = "the other bot" if arguments.others == 1 else f"each of the {arguments.others:,} other bots"
        others = f"add a [[bots]] table for {each}, "
    begin = command_for("run", folder)
    say(f"{shown(str(path), 1000)}: written; {others or 'have a look at it, '}then: {begin}")
    for line in lines:
        say(line)
    return DONE


def _schedule(draft: _Draft, budget: Budget | None) -> tuple[Kind, int, list[str]]:
    """Return the schedule, and what it comes to. ScheduleError if nothing fits into the budget."""
    sizes = tuple((variant.entrant_count, variant.weight) for variant in draft.variants)
    if max(size for size, _ in sizes) > len(draft.names) or len({*draft.names}) < len(draft.names):
        return KIND, ROUNDS, []  # `run` says what is wrong
    plan = SchedulePlan(KIND, draft.names, draft.authors, sizes)
    needs_time = budget is not None and budget.seconds is not None
    expected = expectation(plan, draft.variants, draft.at_once, draft.results, of=draft.of, trial=needs_time)
    if budget is None:
        return KIND, ROUNDS, expected.lines(ROUNDS)
    proposal = expected.proposal(budget)
    if proposal is None:
        raise usage_error(f"--budget {budget.text}: no trial match could be played: give a number of matches")
    lines = with_proposal(expected, proposal).lines(proposal.rounds)
    return proposal.kind, proposal.rounds, [f'kind = "{proposal.kind}", rounds = {proposal.rounds}', *lines]


def _new(games: Sequence[str], bots: Sequence[str], others: int, title: str) -> _Draft:
    """Return what the arguments ask for. The schedule counts the `others`, which are not in the file yet."""
    for kind, names, known in (("game", games, tuple(RULE_SETS)), ("built-in bot", bots, BUILT_IN)):
        for name in names:
            if name not in known:
                raise usage_error(unknown(kind, name, known))
    variants = [
        GameChoice(game, min(RULE_SETS[game].seat_counts), (), shipped_board(RULE_SETS[game].board))
        for game in games
    ]
    return _Draft(
        text=lambda kind, rounds: template(games, bots, kind, rounds, title),
        names=(*bots, *(f"other bot {number}" for number in range(others))),
        authors=(None,) * (len(bots) + others),
        variants=tuple(Variant(choice, 1) for choice in variants),
        at_once=matches_at_once(-1),
    )


# -- a final -----------------------------------------------------------------------------------------


def _final(folder: Path, arguments: argparse.Namespace) -> tuple[_Draft, tuple[Row, ...]]:
    for name in ("game", "bot", "others"):
        if getattr(arguments, name):
            raise usage_error(f"--{name}: does not go with --from, which takes games and bots over")
    cup = looked_into(Path(arguments.cup))
    settings, total, played = cup.settings, total_of(cup), len(cup.results)
    ranking = _ranking(cup)
    rows = (
        _best(cup, ranking, arguments.top) if arguments.play_off is None else _pair(cup, ranking, arguments)
    )
    for variant in settings.variants:
        if variant.entrant_count > len(rows):
            asked = f"--top {len(rows)}" if arguments.play_off is None else "--play-off"
            raise usage_error(
                f"{asked}: {variant.entrant_count} bots play {variant.choice.game_id} at a table"
            )
    if total is not None and played < total:
        complain(f"{cup.folder}: only {played:,} of {total:,} matches have been played")
    if mentions_folder(cup.source):
        complain(
            f"wrap has {{folder}}, which is {folder} in the final: check that it shows the bots of "
            f"{cup.folder}"
        )
    entrants = {entrant.name: entrant for entrant in settings.entrants}
    taken = [entrants[row.bot] for row in rows]
    who = "two bots" if arguments.play_off else f"the best {len(rows)} bots"
    comment = [
        f"A final of {who} of {shown(os.path.relpath(cup.folder, folder), 1000)}: "
        f"{', '.join(row.bot for row in rows)}.",
        "Check it with:  stellwerk tournament run --dry-run FOLDER",
        "Paths count from this folder. 'stellwerk tournament init' writes a file that explains all settings.",
    ]
    draft = _Draft(
        text=lambda kind, rounds: final_text(
            cup.source,
            folder,
            [entrant.number for entrant in taken],
            schedule_text(kind, rounds),
            comment,
            arguments.title or "",
        ),
        names=tuple(row.bot for row in rows),
        authors=tuple(entrant.author for entrant in taken),
        variants=settings.variants,
        at_once=settings.matches_at_once(),
        results=cup.results,
        of=str(cup.folder),
        cut=tuple(_cut(cup, ranking, arguments.top)),
    )
    return draft, rows


def _ranking(cup: Cup) -> tuple[Row, ...]:
    """Return the rows of all bots that have played."""
    played = cup.results.standings
    if not len(cup.results):
        raise usage_error(f"{cup.folder}: no block has been played, so there is no ranking yet")
    gone = sorted(played.of.keys() - set(cup.settings.names))
    if gone:
        raise usage_error(f"{cup.folder / FILE}: {gone[0]} has played, and is not in the file any more")
    return rows_of(played, rated_in(cup), cup.out)


def _pair(cup: Cup, rows: Sequence[Row], arguments: argparse.Namespace) -> tuple[Row, ...]:
    """Return the rows of the two bots of a play-off."""
    names: list[str] = arguments.play_off
    if arguments.top is not None:
        raise usage_error("--play-off: does not go with --top")
    by_name = {row.bot: row for row in rows}
    for name in names:
        if name not in by_name:
            raise usage_error(f"--play-off: {cup.folder}: {unknown('bot', name, by_name)}")
        if (out := by_name[name].out) is not UNSET:
            raise usage_error(f"--play-off: {name} is {out} in {cup.folder}")
    if names[0] == names[1]:
        raise usage_error(f"--play-off: {names[0]} cannot play against itself")
    return tuple(by_name[name] for name in names)


def _best(cup: Cup, rows: tuple[Row, ...], top: int | None) -> tuple[Row, ...]:
    """Return the first rows."""
    eligible = sum(row.out is UNSET for row in rows)
    if top is not None and eligible < top <= len(rows):
        raise usage_error(
            f"--top {top}: only {eligible} of the bots of {cup.folder} are neither suspended nor disqualified"
        )
    if top is not None and top > len(rows):
        raise usage_error(f"--top {top}: only {len(rows)} bots have played in {cup.folder}")
    if top is not None and top < eligible:
        last, next_one = rows[top - 1], rows[top]
        if (last.score, last.elo) == (next_one.score, next_one.elo):
            complain(f"{last.bot} and {next_one.bot} are equal: {last.bot} was taken by name")
    return rows[:top]


def _cut(cup: Cup, rows: Sequence[Row], top: int | None) -> Iterator[str]:
    """Say how sure it is that the last bot of the first `top` is better than the next one."""
    if top is None or top >= sum(row.out is UNSET for row in rows):
        return
    last, next_one, rated = rows[top - 1].bot, rows[top].bot, cup.rated
    sure = None if isinstance(rated, RatingError) else rated.pooled.superiority(last, next_one)
    chance = "with a probability that nothing shows" if sure is None else f"with {probability(sure)}"
    yield f"place {top} against {top + 1}: {last} is better than {next_one} {chance}; to decide it:"
    yield "  " + command_for(
        "init", Path("play-off"), "--from", str(cup.folder), "--play-off", last, next_one
    )
