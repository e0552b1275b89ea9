"""`stellwerk compare`: which of two versions of a bot is better, by how much, and why.

The result goes to standard output, and a line with the progress to standard error, if that is a terminal. The
help text has the exit codes.
"""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Sequence
from math import ceil
from typing import Final

from stellwerk.compare.blocks import Blocks, PlayedDeal, Word
from stellwerk.compare.deals import MATCHES, NEW, OLD, Comparison, plan_of, play_deals
from stellwerk.compare.report import CompareReport, report_of
from stellwerk.compare.table import junit_of, lines_of, progress_in_words
from stellwerk.matches.on_engine import cores
from stellwerk.matches.report import MatchReport
from stellwerk.shared import progress
from stellwerk.shared.bot_arguments import startable_bots
from stellwerk.shared.choose_game import checked_seed, games_of
from stellwerk.shared.errors import DONE, FAILED, INTERRUPTED, UNDECIDED, usage_error, writing
from stellwerk.shared.folders import writable_file, writable_folder
from stellwerk.shared.parser import argument, decimal, whole_number
from stellwerk.shared.sandbox_arguments import confinement_of
from stellwerk.shared.terminal import say, say_record
from stellwerk.shared.trial_arguments import MOST_BLOCKS, SPEC_AND_GAME, add_trial_arguments
from stellwerk.shared.version import version
from stellwerk_base.files import write_whole
from stellwerk_base.texts import shown
from stellwerk_processes.bot_spec import with_unique_names
from stellwerk_processes.faults import BREAKDOWNS
from stellwerk_server.operate.settings import Time
from stellwerk_tournament.evidence.sequential import FEWEST_BLOCKS, interval_at_any_time
from stellwerk_tournament.evidence.strength import strength_of
from stellwerk_tournament.evidence.worth import Measure

DESCRIPTION: Final = f"""\
Compare two versions of a bot on the same deals: is NEW better than OLD, by how
much, and where do its points come from?

Each deal is played twice, and the two versions change seats. Over the deals they
play in every pair of seats. Other bots (--other) fill the remaining seats. The
games take turns. Block number n has deal S/n, and its matches are number 2n and
2n+1.

The score is the share of matches in which NEW is ahead of OLD, a tie counting a
half. From {FEWEST_BLOCKS} deals on, the comparison stops as soon as the 95 % interval of the
score lies above 50 % (better) or below (worse), or differs from 50 % by at most
--margin (alike). The intervals are valid at any time: however often you look, and
whenever you stop, 95 % of comparisons contain the truth. So Ctrl-C is a good way
to stop, too: it shows the result so far.

With --by points, the lead in points decides, against 0. That is another question,
so choose before the matches: a planner that never draws tickets again gets more
points in usa, and wins less often. Where both agree, points often need fewer
matches.

A bot that crashes or loses its connection ends the comparison. The report has what
the bot printed last, and the command that examines it.

{SPEC_AND_GAME}

Each of OLD and NEW is a SPEC. Where all bots of a match are built in, they play
inside of this program, with the same moves. Otherwise bots are started for each
match, and the quick built-in ones run inside the server.

exit codes:
  0    NEW is better
  1    OLD is better; or a bot could not start, crashed, or lost its connection
  2    the command line, or a program that it names, cannot be used
  3    alike, or not decided after the most deals
  4    the machine failed
  130  interrupted
"""

EXAMPLES: Final = """\
examples:
  stellwerk compare greedy planner --game usa --game europe
  stellwerk compare greedy 'cmd="python3 my_bot.py"' --replays games
  stellwerk compare cmd=./old cmd=./new --game usa:3 --other planner --json
"""

MOST_JOBS: Final = 64
_CODES: Final[dict[Word, int]] = {
    "better": DONE,
    "worse": FAILED,
    "alike": UNDECIDED,
    "undecided": UNDECIDED,
    "broken": FAILED,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES
    argument(parser, "OLD", "the version that is known")
    argument(parser, "NEW", "the version that is tried")
    argument(
        parser, "--other SPEC ...", "a bot for the other seats; may be given several times (default: greedy)"
    )
    most = whole_number(1, MOST_BLOCKS)
    argument(parser, "--most N", "after so many deals it is undecided", most, default=1000)
    measures: tuple[Measure, ...] = ("wins", "points")
    argument(parser, "--by", "what decides; choose it before the matches", choices=measures, default="wins")
    margin = "differences of at most so many percent of the matches, or points, count as alike; 0: never"
    argument(parser, "--margin N", margin, decimal(0, 50), default=2.0)
    keep_going = "play on when a bot crashes: the server makes its moves, and they count"
    argument(parser, "--keep-going", keep_going)
    argument(parser, "--seed S", "any text of up to 200 characters (default: drawn, and printed)")
    jobs = "matches at a time, of different deals; 0: one for each core"
    argument(parser, "--jobs N", jobs, whole_number(0, MOST_JOBS), default=0)
    argument(parser, "--replays DIR", "write a replay of each match there, in place of any of that name")
    add_trial_arguments(parser, default_game="usa")
    argument(parser, "--junit FILE", "the verdict as JUnit XML, which passes if NEW is better")
    argument(parser, "--json", "everything as one JSON object, instead of tables")


def run(arguments: argparse.Namespace) -> int:
    comparison = _comparison(arguments)
    junit = None if arguments.junit is None else writable_file(arguments.junit)
    plan, by = comparison.plan, arguments.by
    margin = arguments.margin / 100 if by == "wins" else arguments.margin
    blocks = Blocks(plan.bots[OLD].name, plan.bots[NEW].name, by, margin, plan.choices)
    is_interrupted = False
    try:
        verdict = _compare(comparison, blocks)
    except KeyboardInterrupt:
        verdict, is_interrupted = blocks.verdict(), True
    is_broken = any(each.fault.kind in BREAKDOWNS for each in blocks.evidence.faults)
    code = INTERRUPTED if is_interrupted else FAILED if is_broken else _CODES[verdict]
    report = report_of(comparison, blocks, verdict, code, version())
    if arguments.json:
        say_record(report)
    else:
        _print(report)
    if junit is not None:
        with writing(junit):
            write_whole(junit, junit_of(report))
    return code


# -- what is asked for -------------------------------------------------------------------------------


def _comparison(arguments: argparse.Namespace) -> Comparison:
    games = games_of("--game", arguments.game or ["usa"], arguments.board)
    named = [("OLD", arguments.old), ("NEW", arguments.new)]
    if any(len(game.make().seats_of_team) > 2 for game in games):
        named += [(f"--other {text}", text) for text in arguments.other or ["greedy"]]
    elif arguments.other:
        raise usage_error("--other: the two versions fill all seats of these games")
    confinement = confinement_of(arguments)
    bots = with_unique_names(startable_bots(named, confinement))
    seed = secrets.token_hex(8) if arguments.seed is None else checked_seed(arguments.seed)
    most = ceil(arguments.most / len(games)) * len(games)
    checked_seed(f"{seed}/{most}", "--seed with the number of a deal")
    return Comparison(
        plan_of(games, bots, seed, most),
        time=Time(move_ms=arguments.move_time),
        confinement=confinement,
        replays=None if arguments.replays is None else writable_folder(arguments.replays),
        jobs=arguments.jobs or cores(),
        keeps_going=arguments.keep_going,
    )


# -- the matches -------------------------------------------------------------------------------------


def _compare(comparison: Comparison, blocks: Blocks) -> Word:
    """Play until there is a verdict, or a bot breaks."""
    verdict: Word = "undecided"

    def has_enough(number: int, matches: Sequence[MatchReport]) -> bool:
        nonlocal verdict
        blocks.add(PlayedDeal(number, matches))
        if progress.is_shown():
            most = comparison.plan.game_count // MATCHES
            strength = strength_of(blocks.evidence.overall, interval_at_any_time)
            progress.draw(progress_in_words(most, blocks.new, strength))
        if blocks.is_round:
            verdict = blocks.verdict()
        return verdict != "undecided"

    try:
        broken = play_deals(comparison, has_enough)
    finally:
        if progress.is_shown():
            progress.clear()
    if broken is not None:
        blocks.break_off(broken)
        return blocks.verdict()
    return verdict


# -- output ------------------------------------------------------------------------------------------


def _print(report: CompareReport) -> None:
    say(f"old           {shown(report.old)}")
    say(f"new           {shown(report.new)}")
    if report.others:
        say(f"others        {shown(', '.join(report.others), 200)}")
    say(f"games         {', '.join(game.title for game in report.games)}")
    say(f"seed          {shown(report.seed, 200)}")
    say(f"played        {'in this program' if report.in_process else 'by processes of the bots'}")
    say("")
    for line in lines_of(report):
        say(line)
