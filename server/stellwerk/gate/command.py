"""`stellwerk gate`: whether a candidate may pass, for CI.

The verdict goes to standard output, the progress of the matches to standard error. Exit codes: 0 passed; 1
failed: the doctor found something, or the candidate was at fault, or it is not good enough; 2 the command
line cannot be used; 3 undecided; 4 the machine failed, or the baselines did; 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import trio

from stellwerk.gate import github as gate_github
from stellwerk.gate.doctor import findings
from stellwerk.gate.output import (
    annotations_of,
    details_of_step,
    json_of,
    junit_of,
    lines_of,
    markdown_of,
    progress_of,
    text_of_details,
)
from stellwerk.gate.report import EXIT_CODES, GateReport, report_of, step_in_words
from stellwerk.shared import progress as play_progress
from stellwerk.shared.bot_arguments import startable_bots
from stellwerk.shared.choose_game import checked_seed, games_of
from stellwerk.shared.errors import usage_error, writing
from stellwerk.shared.folders import empty_folder, writable_file
from stellwerk.shared.house_bots import house_bots
from stellwerk.shared.parser import argument, whole_number
from stellwerk.shared.sandbox_arguments import confinement_of
from stellwerk.shared.terminal import complain, flush_stdout, say
from stellwerk.shared.trial_arguments import MOST_BLOCKS, SPEC_AND_GAME, add_trial_arguments
from stellwerk.shared.version import version
from stellwerk_base.files import write_whole
from stellwerk_kit.bot_process import CannotStartError
from stellwerk_kit.doctor.doctor import Finding
from stellwerk_processes.bot_spec import BotSpec
from stellwerk_server.operate.resources import collect_rarely, raise_limit
from stellwerk_server.operate.settings import Time
from stellwerk_tournament.evidence.sequential import FEWEST_BLOCKS, FEWEST_FIXED, Hypotheses
from stellwerk_tournament.gate.gate import GateError, GateVerdict, Judge, Rules, lineup_of, play_gate
from stellwerk_tournament.play.courier import RunError
from stellwerk_tournament.play.progress import BlockEnded
from stellwerk_tournament.schedule.schedule import ScheduleError
from stellwerk_tournament.store.store import StoreError, open_store

DESCRIPTION: Final = f"""\
Let a candidate play against baselines until a test shows whether it is good enough.

First come the doctor's steps, then matches in blocks: one deal, played in every
rotation of the seats. A block's score is the candidate's mean score in it. The
score in a match is the share of opponents that it was ahead of, and a tie counts
a half. S = 1 / (1 + 10^(-Elo / 400)) is the score expected of a candidate that is
so much better, for any number of players.

A sequential test looks at the scores from {FEWEST_BLOCKS} blocks on. It passes a candidate that
is not better than ELO0 with a probability of at most ALPHA, and fails one that is
as good as ELO1 with at most BETA. With --blocks it looks once: the candidate passes
if the interval of its mean score is above ELO0, and fails if it is below ELO1.

{SPEC_AND_GAME}

At tables of more than two, the candidate sits with as many baselines as there is
room for, some of them twice if they are too few.
"""

EXAMPLES: Final = """\
examples:
  stellwerk gate --candidate 'cmd="python3 my_bot.py"' --baseline greedy --game usa
  stellwerk gate --candidate cmd=./new --baseline cmd=./old --elo0 -30 --elo1 0 \\
    --game usa:3 --game united_kingdom:2:advanced_technologies --junit gate.xml
  stellwerk gate --candidate planner --baseline greedy --game usa --blocks 100

exit codes:
  0 passed, 1 failed, 2 wrong usage, 3 undecided, 4 the machine or the baselines
  failed, 130 interrupted
"""

LINE_EVERY: Final = 10  # blocks, where every line stays
STOPPING: Final = "stopping when the running blocks are complete; once more, and at once"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES
    argument(parser, "--candidate SPEC", "the bot that is judged", required=True)
    baseline = "a bot that it is compared with; may be given several times"
    argument(parser, "--baseline SPEC ...", baseline, required=True)
    add_trial_arguments(parser)
    concurrency = "matches at once; a negative number leaves so many cores alone"
    argument(parser, "--concurrency N", concurrency, whole_number(-1000, 1000), default=-1)
    argument(parser, "--seed S", "deal from this text; bots may guess it (default: drawn, and secret)")
    argument(parser, "--elo0 ELO", "not good enough", float, default=0.0)
    argument(parser, "--elo1 ELO", "good enough", float, default=50.0)
    alpha = "the largest probability to pass a bot that is not good enough"
    argument(parser, "--alpha P", alpha, float, default=0.05)
    beta = "the largest probability to fail a bot that is good enough"
    argument(parser, "--beta P", beta, float, default=0.05)
    most = whole_number(1, MOST_BLOCKS)
    argument(parser, "--max-blocks N", "after so many it is undecided", most, default=2000)
    blocks = "look once, after so many, in place of the sequential test"
    argument(parser, "--blocks N", blocks, whole_number(FEWEST_FIXED, MOST_BLOCKS))
    faults = "matches in which the candidate may have a fault"
    argument(parser, "--faults N", faults, whole_number(0, MOST_BLOCKS), default=0)
    argument(parser, "--no-doctor", "leave out the doctor's steps")
    argument(parser, "--directory DIR", "a new folder for matches.jsonl, replays and the bots' logs")
    argument(parser, "--junit FILE", "the verdict as JUnit XML")
    argument(parser, "--markdown FILE", "the verdict as Markdown")
    argument(parser, "--json FILE", "everything as one JSON object")


@dataclass(frozen=True, slots=True)
class _Gate:
    """The settings that the arguments ask for. `directory` is where to keep the matches, if they are kept."""

    candidate: BotSpec
    judge: Judge
    seed: str | None
    directory: Path | None
    examines: bool


def run(arguments: argparse.Namespace) -> int:
    gate = _gate(arguments)
    files = _files(arguments)
    with gate_github.commands_stopped():
        report = _judged(gate)
        for line in lines_of(report):
            say(line)
        flush_stdout()
    for annotation in annotations_of(report) if gate_github.is_there() else ():
        say(annotation)
    for path, content in files.items():
        with writing(path):
            write_whole(path, content(report))
    _append_summary(report)
    return EXIT_CODES[report.verdict]


# -- what is asked for -------------------------------------------------------------------------------


def _gate(arguments: argparse.Namespace) -> _Gate:
    confinement = confinement_of(arguments)
    named = [("--candidate", arguments.candidate)]
    named += [(f"--baseline {number}", text) for number, text in enumerate(arguments.baseline, 1)]
    candidate, *baselines = startable_bots(named, confinement)
    rules = Rules(_hypotheses(arguments), arguments.blocks, arguments.max_blocks, arguments.faults)
    try:
        lineup = lineup_of(
            candidate=candidate,
            baselines=baselines,
            games=games_of("--game", arguments.game, arguments.board),
            rules=rules,
            time=Time(move_ms=arguments.move_time),
            confinement=confinement,
            concurrency=arguments.concurrency,
        )
    except (GateError, ScheduleError) as error:
        raise usage_error(str(error)) from None
    seed = None if arguments.seed is None else checked_seed(arguments.seed)
    judge = Judge(lineup, rules)
    directory = None if arguments.directory is None else empty_folder(arguments.directory).absolute()
    return _Gate(candidate, judge, seed, directory, not arguments.no_doctor)


def _hypotheses(arguments: argparse.Namespace) -> Hypotheses:
    try:
        return Hypotheses(arguments.elo0, arguments.elo1, arguments.alpha, arguments.beta)
    except ValueError as error:
        raise usage_error(f"the test: {error}") from None


def _files(arguments: argparse.Namespace) -> Mapping[Path, Callable[[GateReport], bytes]]:
    """Return what to write where. CommandError, before the first match, if that is impossible."""
    files: dict[Path, Callable[[GateReport], bytes]] = {}
    for name, content in (
        (arguments.junit, junit_of),
        (arguments.markdown, markdown_of),
        (arguments.json, json_of),
    ):
        if name is not None:
            files[writable_file(name)] = content
    return files


# -- the verdict -------------------------------------------------------------------------------------


def _judged(gate: _Gate) -> GateReport:
    examined: list[Finding] | None = [] if gate.examines else None
    verdict = None if examined is None else _examined(gate, examined)
    if verdict is None:
        verdict = _played(gate)
    return report_of(gate.judge, verdict, examined, gate.seed, version())


def _examined(gate: _Gate, examined: list[Finding]) -> GateVerdict | None:
    """Return a verdict if the doctor finds a failure, otherwise None."""
    settings = gate.judge.lineup.settings
    games = tuple(dict.fromkeys(variant.choice.game_id for variant in settings.variants))
    try:
        with (
            _sigterm_as_ctrl_c(),
            contextlib.closing(findings(gate.candidate, settings.confinement, games)) as steps,
        ):
            for finding in steps:
                examined.append(finding)
                details = details_of_step(finding)
                for line in () if details is None else text_of_details(details):
                    say(line)
                flush_stdout()
                if finding.failure is not None:
                    return GateVerdict("failed", step_in_words(finding, finding.failure))
    except CannotStartError as error:
        return GateVerdict("infrastructure", f"the doctor: {error}")
    except OSError as error:  # no more file descriptors, no more ports
        return GateVerdict("infrastructure", f"the doctor cannot go on: {error.strerror or error}")
    return None


@contextmanager
def _sigterm_as_ctrl_c() -> Generator[None]:
    """Treat SIGTERM as Ctrl-C, so that the bot under examination is ended."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _played(gate: _Gate) -> GateVerdict:
    raise_limit()
    collect_rarely()
    with contextlib.ExitStack() as stack:
        if gate.directory is not None:
            folder = gate.directory
        else:
            kept_for_now = tempfile.TemporaryDirectory(prefix="stellwerk-gate-", ignore_cleanup_errors=True)
            folder = Path(stack.enter_context(kept_for_now))
        watcher = _Watcher(folder, keeps_replays=gate.directory is not None)
        stack.callback(watcher.close)
        try:
            opened = stack.enter_context(open_store(folder))
            return trio.run(
                partial(play_gate, gate.judge, opened, watcher, gate.seed, house_bots=house_bots())
            )
        except (RunError, StoreError) as error:
            return GateVerdict("infrastructure", str(error))


class _Watcher:
    """Progress on standard error: on a terminal one line that changes, elsewhere a line now and then."""

    def __init__(self, folder: Path, *, keeps_replays: bool) -> None:
        self._folder = folder
        self._keeps_replays = keeps_replays
        self._is_drawn = play_progress.is_shown()
        self._told = 0

    def block_ended(self, judge: Judge, ended: BlockEnded) -> None:
        if not self._keeps_replays:
            for line in ended.lines:
                (self._folder / line.replay).unlink(missing_ok=True)
        count = judge.evidence.block_count
        if self._is_drawn:
            play_progress.draw(progress_of(judge))
        elif count // LINE_EVERY > self._told:
            self._told = count // LINE_EVERY
            _tell(progress_of(judge))

    def told_to_stop(self) -> None:
        self.close()
        _tell(STOPPING)

    def close(self) -> None:
        if self._is_drawn:
            play_progress.clear()


def _tell(line: str) -> None:
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr, flush=True)


# -- files -------------------------------------------------------------------------------------------


def _append_summary(report: GateReport) -> None:
    """Add what GitHub Actions shows on the page of the run. If that fails, the verdict does not change."""
    name = os.environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        return
    try:
        with open(name, "ab") as file:
            file.write(markdown_of(report))
    except OSError as error:
        complain(f"GITHUB_STEP_SUMMARY: cannot be written: {error.strerror or error}")
