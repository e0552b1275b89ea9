"""`run`, `export`, and `run --dry-run`: what plays a tournament, or says how it would be played."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import trio
from msgspec import UNSET
from msgspec.structs import replace as replace_struct

from stellwerk.shared.addresses import listen_address, pages_address
from stellwerk.shared.bot_arguments import budget_here
from stellwerk.shared.choose_game import checked_seed
from stellwerk.shared.errors import (
    DONE,
    FAILED,
    INFRASTRUCTURE,
    INTERRUPTED,
    USAGE,
    CommandError,
    infrastructure_error,
    usage_error,
)
from stellwerk.shared.house_bots import house_bots
from stellwerk.shared.listen_arguments import exposure, listen_address_of
from stellwerk.shared.parser import options_of
from stellwerk.shared.terminal import complain, say
from stellwerk.tournament.arguments import Budget, Shape
from stellwerk.tournament.blocks import make_out_folder, say_exported
from stellwerk.tournament.cluster import cluster_of, expect_cluster
from stellwerk.tournament.expectation import Expectation, expectation, with_proposal
from stellwerk.tournament.folder import command_for, cup_in, opened_folder, write_derived
from stellwerk.tournament.output import SHAPES_WITH_RATINGS, Display, default_shape, display_of, say_json
from stellwerk.tournament.preflight import Advice, preflight, preflight_words
from stellwerk.tournament.results import print_ranking, trouble_lines, voids_of
from stellwerk.tournament.web import LivePages
from stellwerk_base.texts import counted, shown, unknown
from stellwerk_processes.bench import resolve_sandbox
from stellwerk_processes.bench.cores import CoresError
from stellwerk_processes.bench.levels import UNPROVEN, SandboxError, SandboxRecord, describe
from stellwerk_processes.bench.resolve_sandbox import hide_memory
from stellwerk_processes.bot_spec import STARTED
from stellwerk_server.net.listen_address import CannotListenError, ListenAddress
from stellwerk_server.operate.resources import collect_rarely, raise_limit, room_for_more
from stellwerk_tournament.blocks.export import MOST as MOST_BLOCKS
from stellwerk_tournament.blocks.export import Exporter
from stellwerk_tournament.blocks.orders import OrderMaker, expect_to_travel
from stellwerk_tournament.config.resolved import FILE as RESOLVED
from stellwerk_tournament.config.settings import FILE, Settings
from stellwerk_tournament.play.courier import RunError
from stellwerk_tournament.play.fair_matches import FairMatches
from stellwerk_tournament.play.matches_here import Conditions
from stellwerk_tournament.play.runner import AbsentError, Surroundings, play_tournament
from stellwerk_tournament.play.scheduled import total_matches
from stellwerk_tournament.report import derived
from stellwerk_tournament.schedule.schedule import needs_results, stage, stages_of_round
from stellwerk_tournament.store.conduct import Suspensions
from stellwerk_tournament.store.cup import Asked, Cup
from stellwerk_tournament.store.store import Opened, Store, StoreError

NO_CONTEST: Final = "no two bots played a match to its end: this tournament has no result"

NO_OPTIONS: Final = ("command", "tournament_command", "folder", "without")  # of the parsed command line


@dataclass(slots=True)
class _Run:
    """A tournament that a command line asks to play: where its remote bots connect, where its status page is
    shown, and who prints it in which shape."""

    cup: Cup
    arguments: argparse.Namespace
    listen_at: ListenAddress | None
    status_at: tuple[str, int] | None
    shape: Shape
    observer: Display

    @property
    def exports(self) -> bool:
        return bool(self.arguments.tournament_command == "export")

    @property
    def travels(self) -> bool:
        """Return whether blocks are played elsewhere."""
        return self.exports or self.arguments.workers is not None

    @property
    def again(self) -> str:
        """Return the command that does the same again."""
        return self.command(self.cup.settings.left_out)

    def command(self, without: Sequence[str]) -> str:
        """Return the command that begins the tournament or continues it, with these bots left out."""
        left_out = [f"--without={name}" for name in dict.fromkeys(without)]
        words = options_of(self.arguments, without=NO_OPTIONS)
        return command_for(self.arguments.tournament_command, self.cup.folder, *words, *left_out)

    def command_without(self, names: Sequence[str]) -> str | None:
        """Return the command that begins the tournament without these bots. None if too few were left."""
        settings = self.cup.settings
        most = max(variant.entrant_count for variant in settings.variants)
        if len(settings.entrants) - len(names) < most or settings.hero in names:
            return None
        return self.command((*settings.left_out, *names))


def play(folder: Path, arguments: argparse.Namespace) -> int:
    run = _checked(folder, arguments)
    with opened_folder(run.cup) as opened:
        has_begun = run.cup.has_begun
        _compare_with_beginning(run.cup, opened.store)
        if not arguments.no_preflight and not _try_bots(run):
            complain(f"stopped; {'continue' if has_begun else 'nothing has begun; begin'} with: {run.again}")
            return INTERRUPTED
        finished = _play_matches(run, opened)
        if run.exports:
            return DONE if finished else INTERRUPTED
        if not run.cup.has_begun:
            complain(f"stopped; nothing has begun; begin with: {run.again}")
            return INTERRUPTED
        cup = run.cup.as_looked_at()
        write_derived(cup)
    return _print_end(run, cup, finished=finished)


def _checked(folder: Path, arguments: argparse.Namespace) -> _Run:
    """Check what a command line asks for, before anything is opened. CommandError."""
    if arguments.budget is not None:
        raise usage_error("--budget: goes with --dry-run: 'run' plays the schedule of the file")
    expect_cluster(arguments)
    cup = _cup_to_play(folder, arguments)
    _note_budget(cup.settings)
    exports = arguments.tournament_command == "export"
    if exports or arguments.workers is not None:
        expect_to_travel(cup)
    shape: Shape = "lines" if exports else arguments.progress or default_shape()
    listen_at = _listen_address(cup, arguments)
    status_at = None if arguments.status is None else listen_address("--status", arguments.status)
    run = _Run(cup, arguments, listen_at, status_at, shape, display_of(shape, cup.settings.variants))
    run.observer.shows_ratings = status_at is not None or shape in SHAPES_WITH_RATINGS
    if cup.seed is not None and not all(entrant.bot.built_in for entrant in cup.settings.entrants):
        raise usage_error("--seed: for built-in bots only, because a bot that guesses it knows all cards")
    if arguments.web is not None:
        pages_address("--web", arguments.web)
    total_matches(cup.settings, cup.plan)  # says what cannot be scheduled
    return run


def _compare_with_beginning(cup: Cup, store: Store) -> None:
    """Try the sandbox, and compare the settings with those that the tournament began with. CommandError or
    SettingsError if matches to come would not be like those that were played."""
    hide_memory()
    _prove_sandbox(cup)
    cup.expect_same_seed(store)
    for change in cup.changes():
        complain(f"{cup.folder}: {change}")
    if cup.begun is None and len(cup.results):
        path = cup.folder / RESOLVED
        complain(f"{path}: was missing, and is written again: {FILE} may have changed since the first match")


def _try_bots(run: _Run) -> bool:
    """Let all bots answer their first asks. Return False if somebody stopped that. CommandError."""
    cup, observer = run.cup, run.observer
    raise_limit()
    if cup.sandbox is not UNSET:
        observer.planned([_sandbox_words(cup.sandbox)])
    suspended = Suspensions(cup.settings.conduct, cup.results, cup.field).out
    advice = Advice(run.again, run.command_without, has_begun=cup.has_begun)
    return preflight(cup, suspended, run.shape, observer.planned, advice)


def _play_matches(run: _Run, opened: Opened) -> bool:
    """Play until all has been played, or somebody stops that. Return whether all has been. CommandError."""
    cup, arguments, observer = run.cup, run.arguments, run.observer
    collect_rarely()
    _say_what_is_expected(run)
    needs_all = run.listen_at is not None and not cup.has_begun and not arguments.absent_forfeit
    if needs_all:
        observer.planned([_waiting(cup.settings)])
    exporter = _exporter_of(run) if run.exports else None
    pages: LivePages | None = None
    if arguments.web is not None:
        pages = LivePages(cup.folder, arguments.web, observer.live_pages, observer.pages_ended)
        cup.settings = replace(cup.settings, organizers=(*cup.settings.organizers, pages.login.holder))
    around = Surroundings(
        listen_at=run.listen_at,
        may_connect=room_for_more(raise_limit()),
        needs_all=needs_all,
        status_at=run.status_at,
        beside=None if pages is None else pages.run,
        begin=partial(cup.begin, opened.store),
    )
    conditions = Conditions(versions=cup.versions, sandbox=cup.sandbox, house_bots=house_bots())
    try:
        with cluster_of(arguments.workers, cup, observer.cluster_changed) as cluster:
            finished = trio.run(
                partial(
                    play_tournament,
                    cup.settings,
                    opened,
                    observer,
                    conditions,
                    cup.seed,
                    around,
                    exporter or cluster,
                )
            )
    except CannotListenError as error:
        raise infrastructure_error(str(error)) from None
    except AbsentError as error:
        raise CommandError(_absent(run, error), FAILED) from None
    except (RunError, StoreError) as error:
        message = f"{error}; when that is mended: {run.again}"
        is_machines = isinstance(error, RunError) or error.is_machines
        raise CommandError(message, INFRASTRUCTURE if is_machines else USAGE) from None
    if exporter is not None:
        say_exported(exporter)
    return finished


def _print_end(run: _Run, cup: Cup, *, finished: bool) -> int:
    """Print the ranking and what went wrong. Return the exit code."""
    voids = voids_of(cup)
    if run.shape == "jsonl":
        say_json(type="ended", finished=finished, resume=run.again)
    else:
        print_ranking(cup)
        say(f"report: {shown(str(cup.folder / derived.REPORT), 1000)}")
    for line in (*trouble_lines(cup), *voids):
        complain(line)
    if not finished:
        complain(f"stopped; continue with: {run.again}")
        return INTERRUPTED
    if voids:
        return INFRASTRUCTURE
    if len(cup.results) and not cup.results.has_contest:
        complain(NO_CONTEST)
        return FAILED
    return DONE


def _say_what_is_expected(run: _Run) -> None:
    """Say how many matches there are to play, and about how long they take, if that is known."""
    settings, results = run.cup.settings, run.cup.results
    if run.travels or settings.rounds is None or settings.until_width is not None:
        return
    at_once = FairMatches(settings).at_once
    expected = expectation(run.cup.plan, settings.variants, at_once, results)
    run.observer.planned(expected.lines(settings.rounds, len(results))[:1])


def _exporter_of(run: _Run) -> Exporter:
    maker = OrderMaker(run.cup)
    maker.archives()  # says which files cannot travel
    return Exporter(maker, make_out_folder(run.arguments.out), run.arguments.most or MOST_BLOCKS)


def _waiting(settings: Settings) -> str:
    names = [entrant.name for entrant in settings.entrants if entrant.is_remote]
    wait = counted(settings.remote_wait_s, "second")
    return f"waiting for {counted(len(names), 'remote bot')} before anything begins, for at most {wait}"


def _absent(run: _Run, error: AbsentError) -> str:
    """Say who is absent, and how the tournament can begin all the same."""
    names = [
        entrant.name
        for entrant in run.cup.settings.entrants
        if any(login.name in error.names for login in entrant.logins)
    ]
    them = "it" if len(names) == 1 else "them"
    without = run.command_without(names)
    leave_out = "" if without is None else f"leave {them} out: {without}; or "
    return (
        f"nothing has begun: {error}; start {them} and run again; or {leave_out}let {them} come late, and "
        f"forfeit what {'it misses' if them == 'it' else 'they miss'}: {run.again} --absent-forfeit"
    )


def _listen_address(cup: Cup, arguments: argparse.Namespace) -> ListenAddress | None:
    """Return where remote bots connect to. Only remote bots need it."""
    listen_at = listen_address_of(arguments)
    remote = [entrant.name for entrant in cup.settings.entrants if entrant.is_remote]
    if listen_at is None and remote:
        raise usage_error(
            f"{cup.folder}: {remote[0]} is a remote bot: say where it connects to: --listen HOST:PORT"
        )
    if not remote and cup.settings.left_out:
        return None  # all remote bots may be among those that are left out
    if listen_at is not None and not remote:
        raise usage_error(
            f"--listen: {cup.folder / FILE} has no remote bot, which would be one with remote = true"
        )
    if listen_at is not None and (warning := exposure(listen_at)):
        complain(warning)
    return listen_at


def _cup_to_play(folder: Path, arguments: argparse.Namespace) -> Cup:
    """Return the tournament with what the command line says in place of the file. CommandError."""
    asked = Asked(
        tuple(arguments.without),
        arguments.rounds,
        arguments.until_width,
        arguments.concurrency,
        None if arguments.seed is None else checked_seed(arguments.seed),
    )
    cup = cup_in(folder, asked)
    for name in asked.without:
        if cup.begun is not None and any(bot.name == name for bot in cup.begun.bots):
            raise usage_error(
                f"--without: this tournament was begun with {shown(name)}, and all its matches count: if the "
                "bot cannot play, it forfeits and is suspended, as [conduct] says"
            )
        if name not in cup.settings.left_out:
            raise usage_error(f"--without: {unknown('bot', name, cup.settings.names)}")
    try:
        notice = FairMatches(cup.settings).notice
    except CoresError as error:
        raise cup.source.error(("cores_per_bot",), str(error)) from None
    if notice:
        complain(f"{folder / FILE}: cores_per_bot: {notice}")
    return cup


def _note_budget(settings: Settings) -> None:
    """Say that a searcher does not get the budget of our environment: a tournament is what its file says."""
    for entrant in settings.entrants:
        if (budget := budget_here(entrant.bot)) is not None:
            name, value = budget
            complain(
                f"{name}={value} is set here, and {entrant.name} does not get it: for that, write env = "
                f'{{ {name} = "{value}" }} below its name in {FILE}'
            )


def _prove_sandbox(cup: Cup) -> None:
    """Take the level that holds here, and note what was tried of it. CommandError if what the file asks for
    does not hold. Nothing is written before, so that the file can still be changed.

    A tournament continues at the level that `auto` was when it began, and tries that again.
    """
    settings, results = cup.settings, cup.results
    is_auto = cup.source.file.sandbox in (None, "auto") and not settings.confinement.wrap
    is_for_nobody = is_auto and all(each.bot.process not in STARTED for each in settings.entrants)
    was_proven = is_auto and (results.sandbox is not UNSET or not len(results))
    if is_for_nobody or not (settings.confinement.needs_proof or was_proven):
        return
    try:
        proven = trio.run(resolve_sandbox.resolve, settings.confinement)
    except SandboxError as error:
        key = "sandbox" if settings.confinement.require is None else "require"
        raise infrastructure_error(str(cup.source.error((key,), str(error)))) from None
    cup.settings = replace(settings, confinement=proven.confinement)
    cup.sandbox = replace_struct(proven.record, asked="auto") if is_auto else proven.record


def _sandbox_words(record: SandboxRecord) -> str:
    """Say what holds, and where to read why it is not more."""
    more = "" if record.wrapped or record.level not in UNPROVEN else "; for more see: stellwerk sandbox"
    return f"sandbox {describe(record)}{more}"


def show_schedule(folder: Path, arguments: argparse.Namespace) -> int:
    cup = _cup_to_play(folder, arguments)
    settings, plan = cup.settings, cup.plan
    rounds = 1 if settings.rounds is None else settings.rounds
    is_known = total_matches(settings, plan) is not None
    expected = expectation(plan, settings.variants, FairMatches(settings).at_once, cup.results, trial=True)
    for line in expected.lines(rounds):
        say(line if is_known else f"each round: {line}")
    if not arguments.no_preflight:
        say(preflight_words(settings))
    if arguments.budget is not None:
        return _propose(expected, arguments.budget)
    stages = range(1 if needs_results(plan) else rounds * stages_of_round(plan))
    for number in stages:
        for block in stage(plan, number):
            choice = settings.variants[block.variant].choice
            what = ", ".join([f"{choice.game_id} of {choice.seat_count}", *choice.options])
            say(f"round {block.round}, block {block.number}: {what}: {', '.join(block.entrants)}")
    if needs_results(plan):
        say("the tables after these follow from the results")
    elif settings.rounds is None:
        say(f"and so on, until all intervals are at most {settings.until_width:g} Elo wide")
    return DONE


def _propose(expected: Expectation, budget: Budget) -> int:
    """Show a schedule that fits into the budget. ScheduleError if there is none."""
    proposal = expected.proposal(budget)
    if proposal is None:
        raise infrastructure_error("no trial match could be played: give a number of matches")
    say(f"a schedule for {budget.text}:")
    for line in ("[schedule]", f'kind = "{proposal.kind}"', f"rounds = {proposal.rounds}"):
        say(f"  {line}")
    for line in with_proposal(expected, proposal).lines(proposal.rounds):
        say(line)
    return DONE
