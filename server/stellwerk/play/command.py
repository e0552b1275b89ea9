"""`stellwerk play`: games between bots, which are started as processes of this machine, or built in.

The result goes to standard output, and a line with the progress of the games to standard error, if that is a
terminal. The help text has the exit codes.
"""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from stellwerk.matches.on_engine import HouseGames, cores, jobs_for, play_house_games, with_progress
from stellwerk.matches.plan import PlayPlan, rotated
from stellwerk.matches.report import MatchReport, PlayReport, decisions_of
from stellwerk.play.table import Tally, lines_of_faults, lines_of_match, lines_of_missing
from stellwerk.shared.bot_arguments import bot_of, doctors_command, expect_startable
from stellwerk.shared.choose_game import checked_seed, chosen_game, rules_called, seats_for
from stellwerk.shared.errors import DONE, FAILED, usage_error
from stellwerk.shared.folders import temporary_folder, writable_folder
from stellwerk.shared.parser import argument, whole_number
from stellwerk.shared.sandbox_arguments import add_sandbox_arguments, confinement_of
from stellwerk.shared.terminal import say, say_record
from stellwerk_base.texts import counted, shown
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_processes.bot_spec import BUILT_IN, BotSpec, Process, with_unique_names
from stellwerk_processes.faults import BREAKDOWNS, Fault
from stellwerk_server.operate.settings import Time

if TYPE_CHECKING:
    from stellwerk.matches.by_wire import PlayOptions

DESCRIPTION: Final = f"""\
Play games between bots, and show the scores and what went wrong.

Built-in bots alone play inside this command, tens of thousands of decisions a
second. Other bots, and those that play with them, are processes. Both ways give
the same games.

A SPEC is the name of a built-in bot, which is one of
{", ".join(BUILT_IN)}, or words KEY=VALUE:
name=... cmd="PROGRAM ARGUMENTS" dir=... env.NAME=... transport=tcp or stdio.
Files named in cmd count from here, or from dir.
A bot finds STELLWERK_ADDRESS, STELLWERK_TOKEN, STELLWERK_NAME and
STELLWERK_BOT_SEED in its environment, and works in an empty folder of its own
(or in dir).

There are as many seats as bots. In team games a bot is started once for each
seat of its team.

With --games, the games come in blocks of as many games as there are bots. The
games of a block have the same deal, and in each of them all bots move on by one
seat, or one team. Block number b, counted from 0, is dealt from the seed S/b.
With --no-rotate the seats stay, and game number i is dealt from the seed S/i.

If a bot of the first game cannot start or does not log in, nothing is played.
Later games go on even if a bot fails: the server makes its moves.

exit codes:
  0    every bot finished all its games. Late answers, refused moves and bots
       that hang or leave are reported, and cost the bot only its game
  1    a bot could not start, crashed, or lost its connection
  2    the command line, or a program that it names, cannot be used
  4    the machine failed
  130  interrupted
"""

EXAMPLES: Final = """\
examples:
  stellwerk play usa --bot greedy --bot planner
  stellwerk play europe --bot greedy --bot planner --watch
  stellwerk play usa --games 1000 --bot random --bot planner --jobs 0
  stellwerk play usa --games 10 --bot greedy --bot 'cmd="python3 my_bot.py"'
  stellwerk play usa --games 100 --jobs 0 --process reused --log logs \\
    --bot greedy --bot 'cmd="python3 my_bot.py"'
  stellwerk play usa --bot greedy --bot 'cmd=./my_bot transport=stdio' \\
    --wrap 'bwrap --ro-bind / / --dev /dev --unshare-all --die-with-parent
      --bind {directory} {directory}'
"""

MOST_GAMES: Final = 1_000_000
MOST_JOBS: Final = 61  # Windows can wait for 63 things at once
MOST_MS: Final = 24 * 60 * 60 * 1000
NEEDS_PROCESSES: Final = ("move_time", "bank", "set_up_time", "log", "wrap", "memory", "sandbox")
"""Options that say something of processes and clocks."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES
    add = partial(argument, parser)
    milliseconds = whole_number(0, MOST_MS)
    default = Time()
    add("GAME", ", ".join(RULE_SETS))
    add("--bot SPEC ...", "a bot; one for each seat, or team")
    add("--option NAME ...", "play with an option of the game; may be given several times")
    add("--board FILE", "play on another board than the one that comes with the game")
    add("--games M", "how many", whole_number(1, MOST_GAMES), default=1)
    add(
        "--no-rotate",
        "deal each game anew, with each bot in its seat, instead of playing each deal once with each bot in "
        "each seat",
        action="store_false",
        dest="rotate",
    )
    add("--seed S", "any text of up to 200 characters (default: drawn, and printed)")
    add("--move-time MS", f"for each answer (default: {default.move_ms})", whole_number(1, MOST_MS))
    add("--bank MS", f"more, for all answers of a game together (default: {default.bank_ms})", milliseconds)
    add("--set-up-time MS", f"to log in, and again to get ready (default: {default.set_up_ms})", milliseconds)
    add(
        "--jobs N",
        "games at a time, of different deals unless all bots are built in; 0: one for each core "
        "(default: 1, and for many games of built-in bots 0)",
        whole_number(0, MOST_JOBS),
    )
    add(
        "--process",
        "start each bot anew for each game (fresh); let its processes play game after game, but never a "
        "deal twice, with the STELLWERK_BOT_SEED of the first (reused); or start none (house, only for "
        "built-in bots, and their default if all are)",
        choices=("fresh", "reused", "house"),
    )
    add(
        "--log DIR",
        "write what each bot prints there: a file for each process, in place of any of that name",
    )
    add("--replays DIR", "write a replay of each game there, in place of any of that name")
    add(
        "--watch",
        "write the game as a page beside its replay, and open it in a browser if there is a display",
    )
    add_sandbox_arguments(parser)
    add("--json", "everything as one JSON object, instead of a table")


def run(arguments: argparse.Namespace) -> int:
    plan = _plan(arguments)
    play = _play_house if plan.bots[0].process == "house" else _play_processes
    report, tally = play(arguments, plan)
    if arguments.json:
        say_record(report)
    else:
        _print(plan, report, tally)
    if arguments.watch and report.matches:
        _watch([Path(match.replay) for match in report.matches if match.replay is not msgspec.UNSET])
    return FAILED if any(fault.kind in BREAKDOWNS for fault in _faults(report)) else DONE


def _play_house(arguments: argparse.Namespace, plan: PlayPlan) -> tuple[PlayReport, Tally]:
    """Play on the engine. The report has all games only where somebody needs them."""
    jobs: int = _jobs(arguments, jobs_for(plan.game_count))
    keeps_all = arguments.json or arguments.watch or plan.game_count == 1
    tally, decisions, cpu_seconds = _tally(arguments, plan), 0, 0.0
    matches: list[MatchReport] = []
    chunks = play_house_games(HouseGames(plan, _folder_for_replays(arguments)), jobs)
    for chunk in with_progress(chunks, plan.game_count):
        cpu_seconds += chunk.cpu_seconds
        for match in chunk.matches:
            decisions += decisions_of(match)
            tally.add(match)
        matches += chunk.matches if keeps_all else []
    report = _report(plan, jobs, matches, decisions)
    return msgspec.structs.replace(report, cpu_seconds=round(cpu_seconds, 3)), tally


def _play_processes(arguments: argparse.Namespace, plan: PlayPlan) -> tuple[PlayReport, Tally]:
    from stellwerk.matches.by_wire import play_games

    options = _options(arguments, plan)
    outcome = play_games(options)
    tally = _tally(arguments, plan)
    for match in outcome.matches:
        tally.add(match)
    report = _report(plan, options.jobs, outcome.matches, sum(map(decisions_of, outcome.matches)))
    report = msgspec.structs.replace(
        report,
        isolation=options.confinement.isolation,
        sandbox=options.confinement.own_level,
        not_started=outcome.missing,
    )
    return report, tally


def _tally(arguments: argparse.Namespace, plan: PlayPlan) -> Tally:
    return Tally(len(plan.bots) if arguments.rotate else 1)


def _watch(replays: Sequence[Path]) -> None:
    from stellwerk.play.watch import open_in_browser, page_of_games  # without them play starts faster

    page = page_of_games(replays)
    say(f"{'shown in' if open_in_browser(page) else 'open in'} a browser: {shown(str(page), 1000)}")


def _faults(report: PlayReport) -> Iterator[Fault]:
    for bot in report.not_started:
        yield from bot.faults
    for match in report.matches:
        for seat in match.seats:
            yield from seat.faults


# -- what is asked for -------------------------------------------------------------------------------


def _plan(arguments: argparse.Namespace) -> PlayPlan:
    rules = rules_called(arguments.game)
    if arguments.watch and arguments.json:
        raise usage_error("--watch: not with --json, which prints nothing else")
    specs = with_unique_names(
        [bot_of(f"--bot {number}", text) for number, text in enumerate(arguments.bot, 1)]
    )
    seats = seats_for(rules, len(specs), f"--bot is given {counted(len(specs), 'time')}")
    process = _process(arguments, specs)
    seed = secrets.token_hex(16) if arguments.seed is None else checked_seed(arguments.seed)
    checked_seed(f"{seed}/{arguments.games - 1}", "--seed with the number of a game")
    bots = [replace(bot, process=process) for bot in specs]
    game = chosen_game(rules, seats, arguments.option, arguments.board)
    return rotated(game, bots, seed, arguments.games, rotates=arguments.rotate)


def _process(arguments: argparse.Namespace, bots: Sequence[BotSpec]) -> Process:
    """Return how the bots run, or raise a usage error where an option needs processes and there are none."""
    foreign = [number for number, bot in enumerate(bots, 1) if not bot.is_plainly_built_in]
    if arguments.process == "house" and foreign:
        raise usage_error(
            f"--process house: --bot {foreign[0]} is not just the name of a built-in bot: it needs a process"
        )
    process: Process = arguments.process or ("fresh" if foreign else "house")
    given = [name for name in NEEDS_PROCESSES if getattr(arguments, name) is not None]
    if process == "house" and given:
        raise usage_error(
            f"--{given[0].replace('_', '-')}: built-in bots alone have no process and no clock; "
            "--process fresh starts them"
        )
    return process


def _options(arguments: argparse.Namespace, plan: PlayPlan) -> PlayOptions:
    from stellwerk.matches.by_wire import PlayOptions

    confinement = confinement_of(arguments)
    for number, bot in enumerate(plan.bots, 1):
        expect_startable(f"--bot {number}", bot, confinement)
    given = {"move_ms": arguments.move_time, "bank_ms": arguments.bank, "set_up_ms": arguments.set_up_time}
    return PlayOptions(
        plan,
        Time(**{key: value for key, value in given.items() if value is not None}),
        confinement,
        replays=_folder_for_replays(arguments),
        logs=None if arguments.log is None else writable_folder(arguments.log),
        jobs=_jobs(arguments, 1),
    )


def _jobs(arguments: argparse.Namespace, usual: int) -> int:
    return usual if arguments.jobs is None else arguments.jobs or cores()


def _folder_for_replays(arguments: argparse.Namespace) -> Path | None:
    if arguments.replays is not None:
        return writable_folder(arguments.replays)
    return temporary_folder("stellwerk-play-") if arguments.watch else None


# -- output ------------------------------------------------------------------------------------------


def _report(plan: PlayPlan, jobs: int, matches: list[MatchReport], decisions: int) -> PlayReport:
    [choice] = plan.choices
    return PlayReport(
        game=choice.game_id,
        rules_version=choice.rules.rules_version,
        options=choice.options,
        board=choice.board.digest,
        players=choice.seat_count,
        bots=tuple(bot.name for bot in plan.bots),
        seed=plan.seed,
        jobs=jobs,
        process=plan.bots[0].process,
        not_started=[],
        matches=matches,
        decisions=decisions,
    )


def _print(plan: PlayPlan, report: PlayReport, tally: Tally) -> None:
    rules = RULE_SETS[report.game]
    say(f"{rules.id}: {rules.title}")
    say(f"rules         version {rules.rules_version}")
    if report.options:
        say(f"options       {', '.join(report.options)}")
    say(f"board         {plan.choices[0].board.id} {report.board[:16]}...")
    say(f"seed          {shown(report.seed, 200)}")
    if report.sandbox is not msgspec.UNSET:
        say(f"isolation     {report.isolation}")
        say(f"sandbox       {report.sandbox}")
    say("")
    for line in _result(report, tally):
        say(line)
    faults = [*lines_of_missing(report.not_started), *lines_of_faults(report.matches)]
    for line in ["", *faults, *_doctors(plan, report)] if faults else []:
        say(line)
    if report.cpu_seconds is not msgspec.UNSET and report.cpu_seconds:
        rate = report.decisions / report.cpu_seconds
        cost = f"{report.decisions:,} decisions in {report.cpu_seconds:.1f} s of CPU time"
        say(f"\n{cost}, {rate:,.0f} a second")
    for match in report.matches if len(report.matches) == 1 else []:
        if match.replay is not msgspec.UNSET:
            say(f"\nreplay        {shown(match.replay, 1000)}")


def _doctors(plan: PlayPlan, report: PlayReport) -> Iterator[str]:
    """Name for each bot with faults the command that finds out more."""
    faulty = {seat.bot for match in report.matches for seat in match.seats if seat.faults}
    faulty.update(bot.bot for bot in report.not_started)
    for bot in plan.bots:
        if not bot.built_in and bot.name in faulty:
            yield f"more on {shown(bot.name)}: {shown(doctors_command(bot), 1000)}"


def _result(report: PlayReport, tally: Tally) -> Iterator[str]:
    if tally.match_count == 0:
        return iter(["nothing was played: the first game needs all its bots"])
    return lines_of_match(report.matches[0]) if tally.match_count == 1 else tally.lines()
