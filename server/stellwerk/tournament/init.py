"""`stellwerk tournament init`: a new `tournament.toml`, from nothing or out of an earlier tournament."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from stellwerk.shared.errors import DONE, usage_error, writing
from stellwerk.shared.terminal import complain, say
from stellwerk.tournament.arguments import Budget
from stellwerk.tournament.expectation import expectation, with_proposal
from stellwerk.tournament.folder import command_for, looked_into, total_of
from stellwerk.tournament.output import table_of
from stellwerk.tournament.results import rated_in
from stellwerk_base.files import write_whole
from stellwerk_base.texts import shown, unknown
from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_processes.bot_spec import BUILT_IN
from stellwerk_tournament.config.final import final_text, mentions_folder
from stellwerk_tournament.config.settings import FILE, Kind, Variant, matches_at_once
from stellwerk_tournament.config.template import ROUNDS, schedule_text, template
from stellwerk_tournament.play.progress import Row, rows_of
from stellwerk_tournament.schedule.schedule import SchedulePlan
from stellwerk_tournament.store.cup import Cup
from stellwerk_tournament.store.results import Results

KIND: Final[Kind] = "round_robin"


@dataclass(frozen=True, slots=True)
class _Draft:
    """A file that is still without its schedule. `text` writes it; `results` are those of matches like
    the ones to come, `of` names where they were played."""

    text: Callable[[Kind, int], str]
    names: tuple[str, ...]
    authors: tuple[str | None, ...]
    variants: tuple[Variant, ...]
    at_once: int
    results: Results = field(default_factory=Results)
    of: str = ""


def init(folder: Path, arguments: argparse.Namespace) -> int:
    """Write the file, and say what it comes to."""
    path = folder / FILE
    if path.exists():
        raise usage_error(f"{path}: already exists")
    if arguments.cup is None:
        if arguments.top is not None:
            raise usage_error("--top: goes with --from only")
        draft = _new(arguments.game or ["usa"], arguments.bot or ["random", "greedy"], arguments.others or 0)
        rows: tuple[Row, ...] = ()
    else:
        draft, rows = _final(folder, arguments)
    kind, rounds, lines = _schedule(draft, arguments.budget)
    content = draft.text(kind, rounds).encode()
    with writing(path):
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    for line in table_of(rows) if rows else ():
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


def _new(games: Sequence[str], bots: Sequence[str], others: int) -> _Draft:
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
        text=lambda kind, rounds: template(games, bots, kind, rounds),
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
    rows = _best(cup, arguments.top)
    for variant in settings.variants:
        if variant.entrant_count > len(rows):
            raise usage_error(
                f"--top {len(rows)}: {variant.entrant_count} bots play {variant.choice.game_id} at a table"
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
    comment = [
        f"A final of the best {len(rows)} bots of {shown(os.path.relpath(cup.folder, folder), 1000)}: "
        f"{', '.join(row.bot for row in rows)}.",
        "Check it with:  stellwerk tournament run --dry-run FOLDER",
        "Paths count from this folder. 'stellwerk tournament init' writes a file that explains all settings.",
    ]
    draft = _Draft(
        text=lambda kind, rounds: final_text(
            cup.source, folder, [entrant.number for entrant in taken], schedule_text(kind, rounds), comment
        ),
        names=tuple(row.bot for row in rows),
        authors=tuple(entrant.author for entrant in taken),
        variants=settings.variants,
        at_once=settings.matches_at_once(),
        results=cup.results,
        of=str(cup.folder),
    )
    return draft, rows


def _best(cup: Cup, top: int | None) -> tuple[Row, ...]:
    """Return the first rows of the ranking, of all bots that have played."""
    played = cup.results.standings
    if not len(cup.results):
        raise usage_error(f"{cup.folder}: no block has been played, so there is no ranking yet")
    gone = sorted(played.of.keys() - set(cup.settings.names))
    if gone:
        raise usage_error(f"{cup.folder / FILE}: {gone[0]} has played, and is not in the file any more")
    rows = rows_of(played, rated_in(cup), cup.suspensions)
    eligible = sum(not row.suspended for row in rows)
    if top is not None and eligible < top <= len(rows):
        raise usage_error(f"--top {top}: only {eligible} of the bots of {cup.folder} are not suspended")
    if top is not None and top > len(rows):
        raise usage_error(f"--top {top}: only {len(rows)} bots have played in {cup.folder}")
    if top is not None and top < eligible:
        last, next_one = rows[top - 1], rows[top]
        if (last.score, last.elo) == (next_one.score, next_one.elo):
            complain(f"{last.bot} and {next_one.bot} are equal: {last.bot} was taken by name")
    return rows[:top]
