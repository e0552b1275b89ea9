"""`run`, `export`, and `run --dry-run`: what plays a tournament, or says how it would be played."""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import trio
from msgspec import UNSET, UnsetType
from msgspec.structs import replace as replace_struct

from stellwerk.shared.addresses import listen_address, pages_address
from stellwerk.shared.bot_arguments import budget_here
from stellwerk.shared.choose_game import checked_seed
from stellwerk.shared.errors import (
    DONE,
    FAILED,
    INFRASTRUCTURE,
    INTERRUPTED,
    CommandError,
    infrastructure_error,
    usage_error,
)
from stellwerk.shared.house_bots import house_bots
from stellwerk.shared.listen_arguments import exposure, listen_address_of, listen_words
from stellwerk.shared.terminal import complain, say
from stellwerk.shared.version import version
from stellwerk.tournament.arguments import Budget, Shape
from stellwerk.tournament.blocks import make_out_folder, say_exported
from stellwerk.tournament.cluster import cluster_of, cluster_words, expect_cluster, has_cluster
from stellwerk.tournament.expectation import Expectation, expectation, with_proposal
from stellwerk.tournament.folder import command_for, opened_folder, source_of, tournament_in, write_derived
from stellwerk.tournament.output import SHAPES_WITH_RATINGS, default_shape, display_of, say_json
from stellwerk.tournament.preflight import Advice, Conditions, preflight, preflight_words
from stellwerk.tournament.results import print_ranking, trouble_lines, voids_of
from stellwerk.tournament.web import LivePages
from stellwerk_base.texts import counted, shown, unknown
from stellwerk_processes.bench import resolve_sandbox
from stellwerk_processes.bench.cores import CoresError
from stellwerk_processes.bench.levels import UNPROVEN, SandboxError, SandboxRecord, describe
from stellwerk_processes.bench.resolve_sandbox import hide_memory
from stellwerk_processes.bot_spec import STARTED
from stellwerk_server.net.listen_address import CannotListenError, ListenAddress
from stellwerk_server.operate.collector import collect_rarely
from stellwerk_server.operate.descriptors import raise_limit, room_for_more
from stellwerk_tournament.blocks.export import MOST as MOST_BLOCKS
from stellwerk_tournament.blocks.export import Exporter
from stellwerk_tournament.blocks.merge import ID
from stellwerk_tournament.blocks.orders import Cup, OrderMaker, expect_to_travel
from stellwerk_tournament.config import resolved as resolved_file
from stellwerk_tournament.config.resolved import (
    Resolved,
    changes,
    expect_same,
    read_resolved,
    resolve,
)
from stellwerk_tournament.config.settings import FILE, Settings, Source, settings_of
from stellwerk_tournament.play.courier import RunError
from stellwerk_tournament.play.fair_matches import FairMatches
from stellwerk_tournament.play.runner import AbsentError, RemoteSetup, play_tournament
from stellwerk_tournament.play.scheduled import total_matches
from stellwerk_tournament.play.status_page import StatusSetup
from stellwerk_tournament.report import derived
from stellwerk_tournament.schedule.deal import seed_check
from stellwerk_tournament.schedule.schedule import needs_results, plan_of, stage, stages_of_round
from stellwerk_tournament.store.begun import level_as_begun, processes_as_begun
from stellwerk_tournament.store.conduct import Suspensions
from stellwerk_tournament.store.results import Results
from stellwerk_tournament.store.store import Opened, Store, StoreError, read_results

NO_CONTEST: Final = "no two bots played a match to its end: this tournament has no result"
DRAWN: Final = "drawn"  # how the state says that there is no --seed


def play(folder: Path, arguments: argparse.Namespace) -> int:
    if getattr(arguments, "budget", None) is not None:
        raise usage_error("--budget: goes with --dry-run: 'run' plays the schedule of the file")
    expect_cluster(arguments)
    before = read_resolved(folder)
    source, settings = _settings(folder, arguments, before)
    _note_budget(settings)
    seed: str | None = None if arguments.seed is None else checked_seed(arguments.seed)
    if seed is not None and not all(entrant.bot.built_in for entrant in settings.entrants):
        raise usage_error("--seed: for built-in bots only, because a bot that guesses it knows all cards")
    exports = arguments.tournament_command == "export"
    if exports or has_cluster(arguments):
        expect_to_travel(source, settings)
    listen_at = _listen_address(folder, arguments, settings)
    status_at = None if arguments.status is None else listen_address("--status", arguments.status)
    if arguments.web is not None:
        pages_address("--web", arguments.web)
    total_matches(settings, plan_of(settings))  # says what cannot be scheduled
    again = (_export_command if exports else _run_command)(folder, arguments, settings.left_out)
    with opened_folder(folder) as opened:
        for notice in opened.notices:
            complain(notice)
        has_begun = len(opened.results) > 0 or opened.store.fact("seed") is not None
        hide_memory()
        settings, sandbox = _with_sandbox(source, settings, before, opened.results)
        beginning = _Beginning.of(folder, source, settings, opened, seed)
        settings = replace(settings, conduct=beginning.resolved.conduct)
        limit = raise_limit()
        shape: Shape = arguments.progress or default_shape()
        observer = display_of(shape, settings.variants)
        if sandbox is not UNSET:
            observer.planned([_sandbox_words(sandbox)])
        advice = Advice(again, partial(_command_without, folder, arguments, settings), has_begun=has_begun)
        conditions = Conditions(folder, settings, beginning.now, sandbox)
        suspended = Suspensions(settings.conduct, opened.results).names
        if not arguments.no_preflight:
            goes_on = preflight(conditions, suspended, shape, observer.planned, advice)
            if not goes_on:
                complain(f"stopped; {'go on' if has_begun else 'nothing has begun; begin'} with: {again}")
                return INTERRUPTED
        collect_rarely()
        is_counted = total_matches(settings, plan_of(settings)) is not None and settings.rounds is not None
        if is_counted and settings.rounds is not None and not (exports or has_cluster(arguments)):
            at_once = FairMatches(settings).at_once
            expected = expectation(plan_of(settings), settings.variants, at_once, opened.results)
            observer.planned(expected.lines(settings.rounds, len(opened.results))[:1])
        needs_all = listen_at is not None and not has_begun and not arguments.absent_forfeit
        if needs_all:
            observer.planned([_waiting(settings)])
        remote_setup = RemoteSetup(
            listen_at,
            room_for_more(limit),
            observer.listening,
            observer.remote_bots_changed,
            needs_all=needs_all,
        )
        cup = Cup(beginning.cup, version(), folder, source, settings, seed)
        exporter: Exporter | None = None
        if exports:
            maker = OrderMaker(cup)
            maker.archives()  # says which files cannot travel
            exporter = Exporter(maker, make_out_folder(arguments.out), arguments.most or MOST_BLOCKS)
        status_setup = StatusSetup(runner=f"stellwerk {version()}")
        if status_at is not None:
            status_setup = replace(
                status_setup, host=status_at[0], port=status_at[1], opened=observer.status_page
            )
        pages = None
        if arguments.web is not None:
            pages = LivePages(folder, arguments.web, observer.live_pages, observer.pages_ended)
            status_setup = pages.status_setup(status_setup)
            settings = replace(settings, organizers=(*settings.organizers, pages.login.holder))
        try:
            with cluster_of(arguments, cup, observer.cluster_changed) as cluster:
                finished = trio.run(
                    partial(
                        play_tournament,
                        settings,
                        opened,
                        observer,
                        seed,
                        remote_setup=remote_setup,
                        status_setup=status_setup,
                        sandbox=sandbox,
                        begin=beginning.write,
                        version=version(),
                        courier=exporter or cluster,
                        house_bots=house_bots(),
                        shows_ratings=status_at is not None or shape in SHAPES_WITH_RATINGS,
                        beside=None if pages is None else pages.run,
                    )
                )
        except CannotListenError as error:
            raise infrastructure_error(str(error)) from None
        except AbsentError as error:
            raise CommandError(_absent(folder, arguments, settings, error), FAILED) from None
        except (RunError, StoreError) as error:
            message = f"{error}; when that is mended: {again}"
            is_machines = isinstance(error, RunError) or error.is_machines
            raise CommandError(message, INFRASTRUCTURE if is_machines else 2) from None
        if exporter is not None:
            say_exported(exporter)
            return DONE if finished else INTERRUPTED
        if not beginning.is_written:
            complain(f"stopped; nothing has begun; begin with: {again}")
            return INTERRUPTED
        tournament = tournament_in(folder)
        write_derived(tournament)
        voids = voids_of(opened.store)
    if shape == "jsonl":
        say_json(type="ended", finished=finished, resume=again)
    else:
        print_ranking(tournament)
        say(f"report: {shown(str(folder / derived.REPORT), 1000)}")
    for line in (*trouble_lines(tournament), *voids):
        complain(line)
    if not finished:
        complain(f"stopped; go on with: {again}")
        return INTERRUPTED
    if voids:
        return INFRASTRUCTURE
    if len(opened.results) and not opened.results.has_contest:
        complain(NO_CONTEST)
        return FAILED
    return DONE


def _waiting(settings: Settings) -> str:
    names = [entrant.name for entrant in settings.entrants if entrant.is_remote]
    wait = counted(settings.remote_wait_s, "second")
    return f"waiting for {counted(len(names), 'remote bot')} before anything begins, for at most {wait}"


def _absent(folder: Path, arguments: argparse.Namespace, settings: Settings, error: AbsentError) -> str:
    """Say who is absent, and how the tournament can begin all the same."""
    names = [
        entrant.name
        for entrant in settings.entrants
        if any(login.name in error.names for login in entrant.logins)
    ]
    them = "it" if len(names) == 1 else "them"
    without = _command_without(folder, arguments, settings, names)
    leave_out = "" if without is None else f"leave {them} out: {without}; or "
    return (
        f"nothing has begun: {error}; start {them} and run again; or {leave_out}let {them} come late, and "
        f"forfeit what {'it misses' if them == 'it' else 'they miss'}: "
        f"{_run_command(folder, arguments, settings.left_out)} --absent-forfeit"
    )


def _command_without(
    folder: Path, arguments: argparse.Namespace, settings: Settings, names: Sequence[str]
) -> str | None:
    """Return the command that begins the tournament without these bots. None if too few were left."""
    most = max(variant.entrant_count for variant in settings.variants)
    if len(settings.entrants) - len(names) < most or settings.hero in names:
        return None
    return _run_command(folder, arguments, (*settings.left_out, *names))


def _listen_address(folder: Path, arguments: argparse.Namespace, settings: Settings) -> ListenAddress | None:
    """Return where remote bots connect to. Only remote bots need it."""
    listen_at = listen_address_of(arguments)
    remote = [entrant.name for entrant in settings.entrants if entrant.is_remote]
    if listen_at is None and remote:
        raise usage_error(
            f"{folder}: {remote[0]} is a remote bot: say where it connects to: --listen HOST:PORT"
        )
    if not remote and settings.left_out:
        return None  # all remote bots may be among those that are left out
    if listen_at is not None and not remote:
        raise usage_error(
            f"--listen: {folder / FILE} has no remote bot, which would be one with remote = true"
        )
    if listen_at is not None and (warning := exposure(listen_at)):
        complain(warning)
    return listen_at


def _settings(
    folder: Path, arguments: argparse.Namespace, before: Resolved | None
) -> tuple[Source, Settings]:
    """Read the settings, with what the command line says in place of the file. `before` is what the
    tournament was begun with, if it has begun."""
    source = source_of(folder)
    settings = settings_of(
        source,
        folder,
        without=_left_out(arguments, before),
        level=level_as_begun(folder, source, before),
        processes=processes_as_begun(folder, source, before),
    )
    for name in arguments.without:
        if name not in settings.left_out:
            raise usage_error(f"--without: {unknown('bot', name, settings.names)}")
    if arguments.rounds is not None or arguments.until_width is not None:
        settings = replace(settings, rounds=arguments.rounds, until_width=arguments.until_width)
    if arguments.concurrency is not None:
        settings = replace(settings, concurrency=arguments.concurrency)
    try:
        notice = FairMatches(settings).notice
    except CoresError as error:
        raise source.error(("cores_per_bot",), str(error)) from None
    if notice:
        complain(f"{folder / FILE}: cores_per_bot: {notice}")
    return source, settings


def _left_out(arguments: argparse.Namespace, before: Resolved | None) -> Collection[str]:
    """Return the bots that are left out. CommandError if it is too late for that."""
    wanted: list[str] = arguments.without
    if before is None:
        return wanted
    for name in wanted:
        if name not in before.without and any(bot.name == name for bot in before.bots):
            raise usage_error(
                f"--without: this tournament was begun with {shown(name)}, and all its matches count: if the "
                "bot cannot play, it forfeits and is suspended, as [conduct] says"
            )
    return before.without


def _note_budget(settings: Settings) -> None:
    """Say that a searcher does not get the budget of our environment: a tournament is what its file says."""
    for entrant in settings.entrants:
        if (budget := budget_here(entrant.bot)) is not None:
            name, value = budget
            complain(
                f"{name}={value} is set here, and {entrant.name} does not get it: for that, write env = "
                f'{{ {name} = "{value}" }} below its name in {FILE}'
            )


def _how_it_began(check: str, seed: str | None) -> str:
    """Say what the seed of a tournament was, and what to do if this command has another one."""
    if check == DRAWN:
        return "without --seed: go on without it"
    return f"with {'--seed' if seed is None else 'another --seed'}: give the one that it began with"


def _with_sandbox(
    source: Source, settings: Settings, before: Resolved | None, results: Results
) -> tuple[Settings, SandboxRecord | UnsetType]:
    """Return the settings with the level that holds here, and what was tried of it. CommandError if what the
    file asks for does not hold. Nothing is written before, so that the file can still be changed.

    A tournament goes on at the level that `auto` was when it began, and tries that again.
    """
    confinement = settings.confinement
    is_auto = source.file.sandbox in (None, "auto") and not confinement.wrap
    if before is not None and is_auto:
        confinement = replace(confinement, level=before.sandbox.level)
        settings = replace(settings, confinement=confinement)
    is_for_nobody = is_auto and all(each.bot.process not in STARTED for each in settings.entrants)
    was_proven = is_auto and (results.sandbox is not UNSET or not len(results))
    if is_for_nobody or not (confinement.needs_proof or was_proven):
        return settings, UNSET
    try:
        proven = trio.run(resolve_sandbox.resolve, confinement)
    except SandboxError as error:
        key = "sandbox" if confinement.require is None else "require"
        raise infrastructure_error(str(source.error((key,), str(error)))) from None
    record = replace_struct(proven.record, asked="auto") if is_auto else proven.record
    return replace(settings, confinement=proven.confinement), record


def _sandbox_words(record: SandboxRecord) -> str:
    """Say what holds, and where to read why it is not more."""
    more = "" if record.wrapped or record.level not in UNPROVEN else "; for more see: stellwerk sandbox"
    return f"sandbox {describe(record)}{more}"


@dataclass(slots=True)
class _Beginning:
    """The settings that a tournament is played with: `resolved` counts, `now` is what the file says today,
    and `cup` distinguishes its blocks from those of others. It is stored before the first match, and compared
    from then on."""

    folder: Path
    source: Source
    store: Store
    seed: str
    resolved: Resolved
    now: Resolved
    is_stored: bool
    cup: str
    is_written: bool = False

    @classmethod
    def of(
        cls, folder: Path, source: Source, settings: Settings, opened: Opened, seed: str | None
    ) -> _Beginning:
        """Compare with what is stored. CommandError or SettingsError if matches to come would not be like
        those that were played."""
        check = DRAWN if seed is None else seed_check(seed)
        before = opened.store.fact("seed")
        if before is not None and before != check:
            raise usage_error(f"{folder}: this tournament began {_how_it_began(before, seed)}")
        resolved, now, is_stored = _resolve(folder, settings, has_lines=len(opened.results) > 0)
        cup = opened.store.fact(ID) or secrets.token_hex(4)
        return cls(folder, source, opened.store, check, resolved, now, is_stored, cup)

    def write(self) -> None:
        """Store what is not stored yet. StoreError."""
        if self.store.fact("seed") is None:
            self.store.note("seed", self.seed)
        if self.store.fact(ID) is None:
            self.store.note(ID, self.cup)
        if not self.is_stored:
            self.store.write(resolved_file.FILE, resolved_file.encode(self.resolved))
        self.store.note_over(False)
        self.is_written = True


def _resolve(folder: Path, settings: Settings, *, has_lines: bool) -> tuple[Resolved, Resolved, bool]:
    """Return what counts, what the settings say today, and whether what counts is stored in its file."""
    now = resolve(settings, folder, version())
    path = folder / resolved_file.FILE
    before = read_resolved(folder)
    if before is not None:
        expect_same(before, now, folder)
        for change in changes(before, now):
            complain(f"{folder}: {change}")
    elif has_lines:
        complain(f"{path}: was missing, and is written again: {FILE} may have changed since the first match")
    return before or now, now, before is not None


def _run_command(folder: Path, arguments: argparse.Namespace, without: Sequence[str]) -> str:
    """Return the command that begins the tournament or continues it, with these bots left out."""
    words = [word for name in dict.fromkeys(without) for word in ("--without", name)]
    if getattr(arguments, "absent_forfeit", False):
        words.append("--absent-forfeit")
    return command_for("run", folder, *_words(arguments), *words)


def _export_command(folder: Path, arguments: argparse.Namespace, without: Sequence[str]) -> str:
    words = ["--out", arguments.out, *(word for name in without for word in ("--without", name))]
    words += [] if arguments.most is None else [f"--most={arguments.most}"]
    return command_for("export", folder, *_words(arguments), *words)


def _words(arguments: argparse.Namespace) -> list[str]:
    words = ["--no-preflight"] if arguments.no_preflight else []
    for name in ("rounds", "until_width", "concurrency", "seed", "progress"):
        value = getattr(arguments, name)
        if value is not None:
            text = f"{value:g}" if isinstance(value, float) else str(value)
            words.append(f"--{name.replace('_', '-')}={text}")
    return [*words, *cluster_words(arguments), *listen_words(arguments)]


def show_schedule(folder: Path, arguments: argparse.Namespace) -> int:
    _, settings = _settings(folder, arguments, read_resolved(folder))
    plan = plan_of(settings)
    rounds = 1 if settings.rounds is None else settings.rounds
    is_known = total_matches(settings, plan) is not None
    expected = expectation(
        plan, settings.variants, FairMatches(settings).at_once, read_results(folder), trial=True
    )
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
