"""The doctor passes good bots, and finds each fault at its step: real processes, real sockets and pipes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_kit.bot_process import CannotStartError, described_status
from stellwerk_kit.doctor.all_steps import STEPS
from stellwerk_kit.doctor.doctor import Finding, examine
from stellwerk_kit.doctor.patient import Patience
from stellwerk_kit.doctor.scripted_match import DECISIONS
from tests.kit.doctor import bots
from tests.kit.doctor.bots import Good
from tests.kit.doctor.examining import IMPATIENT, PATIENT, SMALL_BOT, command, doctor, ends, findings, step

BASICS = 7  # steps: a fault in these is looked for from the first step on


def verdicts(results: list[Finding]) -> dict[str, str]:
    return {finding.step: finding.verdict for finding in results}


# -- good bots ---------------------------------------------------------------------------------------


def test_a_bot_that_does_everything_right_passes_every_step_over_tcp() -> None:
    results = list(examine(doctor(command(Good), require_resume=True), tuple(RULE_SETS)))
    assert set(verdicts(results).values()) == {"ok"}
    over_tcp = [step for step in STEPS if "tcp" in step.transports]
    assert [finding.step for finding in results] == [
        name for step in over_tcp for name, _ in step.cases(tuple(RULE_SETS))
    ]


def test_a_small_bot_passes_every_step_over_stdio() -> None:
    results = findings(doctor(SMALL_BOT, transport="stdio"), game="card_game")
    assert [finding.step for finding in results if finding.verdict == "skip"] == ["two matches"]
    assert set(verdicts(results).values()) == {"ok", "skip"}
    taken = {finding.step.partition(":")[0] for finding in results}
    expected = [step for step in STEPS if "stdio" in step.transports and step.cases(["card_game"])]
    assert taken == {step.name for step in expected}


@pytest.mark.parametrize("bot", [bots.Pings, bots.Chatty, bots.ResumesFromTheStart])
def test_what_the_protocol_allows_is_no_fault(bot: type[Good]) -> None:
    steps = [step(name) for name in ("first ask", "many lines at once", "resume", "end")]
    assert set(verdicts(findings(doctor(command(bot)), steps)).values()) == {"ok"}


def test_a_resume_without_a_token_passes_every_step() -> None:
    resuming = [step for step in STEPS if step.name == "resume" or step.after == "resume"]
    results = findings(doctor(command(bots.ResumesByItsKeyAlone), require_resume=True), resuming)
    assert verdicts(results) == dict.fromkeys([step.name for step in resuming], "ok")


def test_a_late_second_try_is_not_a_fault() -> None:
    """A bot need not try again after a new error code."""
    [finding] = findings(doctor(command(bots.TriesAgainTooLate), IMPATIENT), [step("unknown error")])
    assert finding.verdict == "ok"


def test_a_slow_bot_fails_before_the_steps_that_would_take_it_minutes() -> None:
    names = [step.name for step in STEPS]
    assert names.index("in time") == names.index("first ask") + 1
    results = findings(doctor(command(bots.AlwaysLate), IMPATIENT))
    assert (results[-1].step, results[-1].verdict) == ("in time", "FAIL")


def test_a_busy_server_may_be_given_its_second_however_short_the_time_for_an_answer() -> None:
    [finding] = findings(doctor(command(bots.WaitsASecond), IMPATIENT), [step("busy server")])
    assert finding.verdict == "ok"


WARNINGS: list[tuple[type[Good], Patience, str, str]] = [
    (bots.OwnName, PATIENT, "login", "Deep.Train"),
    (bots.WaitsForTheDefault, IMPATIENT, "error", "does not try again"),
    (bots.TriesAgainTooLate, IMPATIENT, "error", "does not try again"),
    (bots.WaitsForTheDefault, IMPATIENT, "busy server", "does not send its act again"),
    (bots.TriesAgainTooLate, IMPATIENT, "busy server", "does not send its act again"),
    (bots.KnowsAllDecisions, PATIENT, "unknown decision", "an index would do"),
    (bots.LeavesAfterOneMatch, PATIENT, "another match", "plays one match only"),
    (bots.SlowToAnswer, IMPATIENT, "in time", "3 of 8 answers took longer than the 500 ms of their asks"),
    (bots.SlowToAnswer, IMPATIENT, "match", "3 of 40 answers took longer than the 500 ms of their asks"),
    (bots.WritesTwice, PATIENT, "match", "lines came in pieces"),
    (bots.GivesUp, PATIENT, "resume", "does not reconnect"),
    (bots.ComesBackAfresh, PATIENT, "resume", "without `resume`"),
    (bots.GivesUpForgotten, PATIENT, "forgotten session", "does not log in again"),
    (bots.LeavesWithTheServer, PATIENT, "server going down", "does not reconnect"),
    (bots.NeverExits, IMPATIENT, "end", "it still ran 0.2 s after"),
    (bots.ExitsWithOne, PATIENT, "end", "it exited with status 1"),
]
OF_RESUMING = ("resume", "forgotten session", "server going down")


@pytest.mark.parametrize(
    ("bot", "patience", "name", "warning"),
    WARNINGS,
    ids=[f"{warning[0].__name__}-{warning[2].replace(' ', '_')}" for warning in WARNINGS],
)
def test_what_could_be_better_is_a_warning(
    bot: type[Good], patience: Patience, name: str, warning: str
) -> None:
    [finding] = findings(doctor(command(bot), patience), [step(name)])
    assert (finding.verdict, finding.failure) == ("warn", None)
    assert finding.warning is not None
    assert warning in finding.warning


@pytest.mark.parametrize(
    ("bot", "name"), [(bot, name) for bot, _, name, _ in WARNINGS if name in OF_RESUMING]
)
def test_with_require_resume_a_bot_that_does_not_resume_fails(bot: type[Good], name: str) -> None:
    [finding] = findings(doctor(command(bot), require_resume=True), [step(name)])
    assert finding.verdict == "FAIL"


def test_after_a_failed_should_the_doctor_goes_on_and_after_a_failed_must_it_stops() -> None:
    steps = [step(name) for name in ("error", "unknown error", "default", "stale ask", "end")]
    results = findings(doctor(command(bots.DiesOfErrors)), steps)
    assert list(verdicts(results).items())[:3] == [
        ("error", "FAIL"),
        ("unknown error", "FAIL"),
        ("default", "ok"),
    ]
    results = findings(doctor(command(bots.NoToken)), [step("login"), step("end")])
    assert verdicts(results) == {"login": "FAIL"}


def test_what_relies_on_a_step_that_went_wrong_is_skipped() -> None:
    results = findings(doctor(command(bots.GivesUp)), [step("resume"), step("lost welcome"), step("end")])
    assert verdicts(results) == {"resume": "warn", "lost welcome": "skip", "end": "ok"}
    assert results[1].skipped == "for lack of the step resume"


def test_a_bot_that_plays_one_match_at_a_time_is_not_asked_for_two() -> None:
    [finding] = findings(doctor(command(bots.OneMatchAtATime)), [step("two matches")])
    assert (finding.verdict, finding.warning, finding.failure) == ("skip", None, None)


# -- faults ------------------------------------------------------------------------------------------

LITTLE = Patience(start=0.5, answer=0.5, leave=0.5, come_back=0.5, quiet=0.1, away=0.1)
FAULTS: list[tuple[type[Good], Patience, str, str, str]] = [
    # bot, patience, step, what was expected, what came
    (bots.CrashesAtStart, PATIENT, "connects", "a connection", "it exited with status 3"),
    (bots.DiesBySignal, PATIENT, "connects", "a connection", "it was ended by SIGKILL"),
    (bots.NeverConnects, LITTLE, "connects", "a connection", "within 0.5 s nothing"),
    (bots.SpeaksFirst, PATIENT, "connects", "nothing before `hello`", '{"type":"ping"}'),
    (bots.Silent, IMPATIENT, "login", "a login after `hello`", "within 1 s nothing"),
    (bots.WrongVersion, PATIENT, "login", "`protocol` 1", '"protocol":2'),
    (bots.NoToken, PATIENT, "login", "the `token` in STELLWERK_TOKEN", '{"type":"login"'),
    (
        bots.MisspeltField,
        PATIENT,
        "login",
        "in a valid line",
        "protocol.unknown_field at /want: expected wants",
    ),
    (bots.Garbage, PATIENT, "login", "in a valid line", "HTTP/1.1 200 OK \\x1b[2J\\xff\\r: wire.not_utf8"),
    (
        bots.HalfLine,
        IMPATIENT,
        "login",
        "a login",
        'only a piece of a line, without its newline: {"type": "login"',
    ),
    (bots.EndlessLine, PATIENT, "login", "a login", "more than 4096 bytes without a newline"),
    (bots.HangsUp, PATIENT, "login", "a login", "the end of the connection; it exited with status 7"),
    (bots.NewestVersion, PATIENT, "version", "`protocol` 1", '"protocol":7'),
    (bots.OneSegmentOneLine, PATIENT, "hello in pieces", "byte by byte", "it exited with status 1"),
    (bots.NeverReady, IMPATIENT, "ready", "`ready` for the match", "nothing"),
    (bots.ReadyForAnother, PATIENT, "ready", "`ready` for the match", "`ready` for the match another"),
    (bots.AnswersUnasked, PATIENT, "ready", "nothing between `ready` and the first ask", '"type":"act"'),
    (bots.WrongAsk, PATIENT, "first ask", "an act for ask 1 (usa, keep_tickets)", '"ask":2'),
    (bots.AnswersTwice, PATIENT, "first ask", "nothing between `ok` and the next ask", '"ask":1'),
    (bots.IndexAndMove, PATIENT, "first ask", "exactly one of `index` and `move`", '"index":0,"move"'),
    (
        bots.IndexTooHigh,
        PATIENT,
        "first ask",
        "that is legal",
        "game.not_available at /index: expected an index below",
    ),
    (
        bots.AlwaysLate,
        IMPATIENT,
        "in time",
        "in time",
        "late answer number 3 of this match; the clock of this ask gave 0.5 s and 0.0 s of the bank",
    ),
    (bots.ReadyInItsRoom, PATIENT, "room", "nothing in a room", '"type":"ready"'),
    (bots.ChecksFields, PATIENT, "unknown fields", "a login", "status 1"),
    (bots.KnowsAllFieldsOfAnAsk, PATIENT, "unknown fields", "an act for ask 1", "status 1"),
    (bots.KnowsAllMessages, PATIENT, "unknown messages", "`ready` for the match", "status 1"),
    (bots.KnowsAllEvents, PATIENT, "unknown events", "an act for ask 1", "status 1"),
    (bots.OneSegmentOneLine, PATIENT, "lines in pieces", "", "status 1"),
    (bots.DropsHalfALine, PATIENT, "a line and a half", "an act for ask 2", "status 1"),
    (bots.ReadsShortLines, PATIENT, "long lines", "an act for ask 1", "status 1"),
    (bots.KnowsNoCarriageReturn, PATIENT, "carriage return", "a login", "status 1"),
    (bots.LooksForText, PATIENT, "any JSON", "a login", "status 1"),
    (bots.ReadsAscii, PATIENT, "any text and number", "a login", "status 1"),
    (bots.KnowsSmallNumbers, PATIENT, "any text and number", "an act for ask 1", "status 1"),
    (bots.CutsIds, PATIENT, "long ids", "of the match -_0123456789", '"act","match":"-_0123456789'),
    (bots.TakesFirstLineOnly, IMPATIENT, "many lines at once", "`ready` for the match", "nothing"),
    (bots.ConfusedBySeats, PATIENT, "other seats", "nothing when other seats", '"type":"leave"'),
    (bots.DiesOfErrors, PATIENT, "error", "an act for ask 1", "status 1"),
    (bots.KnowsAllErrors, PATIENT, "unknown error", "an act for ask 1", "status 1"),
    (bots.LosesHeart, IMPATIENT, "no tries left", "an act for ask 2", "nothing"),
    (bots.DiesOfErrors, PATIENT, "busy server", "an act for ask 1", "status 1"),
    (
        bots.AnswersDefaults,
        PATIENT,
        "by default",
        "nothing from a seat that plays by default",
        '"type":"act"',
    ),
    (bots.ActsInAFailedMatch, PATIENT, "failed match", "nothing for a match that has failed", '"ask":2'),
    (bots.MixesMatches, PATIENT, "two matches", "each of two matches", "two acts for the same match"),
    (bots.KnowsItsFirstMatch, PATIENT, "another match", "an act for ask 1", '"type":"act"'),
    (bots.FloodsWithPings, PATIENT, "match", "no more than 20 lines a second", '{"type":"ping"}'),
    (bots.StopsAfterADefault, IMPATIENT, "default", "ask 1 has ended by a default", "nothing"),
    (bots.AnswersStaleAsks, PATIENT, "stale ask", "nothing for an ask that has ended", '"ask":1'),
    (bots.IllegalLater, PATIENT, "match", "that is legal", '"draw_tickets"}}: game.'),
    (bots.KeepsItsFirstKey, PATIENT, "resume", "the last `welcome`", "an older key"),
    (bots.MakesUpAKey, PATIENT, "resume", "the last `welcome`", "never given"),
    (bots.ForeignSession, PATIENT, "resume", "`resume` with the session", "the session another"),
    (bots.SkipsEvents, PATIENT, "resume", "as last event of the match", "an event that was never sent"),
    (bots.AnswersEachAskOnce, IMPATIENT, "open ask", "an act for ask 2", "nothing"),
    (bots.GluesLines, PATIENT, "half a line", "a login with `resume`", "status 1"),
    (bots.UsesAKeyOnce, PATIENT, "lost welcome", "the last `welcome`", "never given"),
    (bots.SaysMore, PATIENT, "lost end", "nothing after `bye`", '"type":"leave"'),
    (bots.ResumesForEver, PATIENT, "forgotten session", "a login without `resume`", "`resume` once more"),
    (bots.ForeignSession, PATIENT, "server going down", "`resume` with the session", "the session another"),
    (bots.FightsForItsSeat, PATIENT, "takeover", "stays away", "another connection"),
    (bots.SaysMore, PATIENT, "end", "nothing after `end` and `bye`", '"type":"leave"'),
]


@pytest.mark.parametrize(
    ("bot", "patience", "name", "expected", "came"),
    FAULTS,
    ids=[f"{fault[0].__name__}-{fault[2].replace(' ', '_')}" for fault in FAULTS],
)
def test_a_fault_is_found_at_its_step(
    bot: type[Good], patience: Patience, name: str, expected: str, came: str
) -> None:
    number = STEPS.index(step(name))
    steps = STEPS[: number + 1] if number < BASICS else STEPS[number : number + 1]
    *before, last = findings(doctor(command(bot), patience), steps)
    assert "FAIL" not in verdicts(before).values()
    assert last.step.partition(":")[0] == name
    assert last.failure is not None
    assert expected in last.failure.expected
    assert came in last.failure.came


def test_every_step_has_a_fault_that_it_finds() -> None:
    tried = {fault[2] for fault in FAULTS} | {warning[2] for warning in WARNINGS}
    assert tried == {step.name for step in STEPS if "tcp" in step.transports and step.decision is None}


@pytest.mark.parametrize("kind", sorted({kind for kinds in DECISIONS.values() for kind in kinds}))
def test_a_decision_is_asked_for_however_seldom_it_comes_up(kind: str) -> None:
    game = [game for game, kinds in DECISIONS.items() if kind in kinds][-1]
    [finding] = findings(doctor(command(bots.DoesNotKnow, kind)), [step(f"decision {kind}")], game)
    assert finding.failure is not None
    assert f"({game}, {kind})" in finding.failure.expected
    assert f"KeyError: '{kind}'" in finding.failure.printed


def test_the_end_of_input_is_awaited_over_stdio() -> None:
    code = "import signal; signal.pause()"
    stubborn = ("sh", "-c", f'"{sys.executable}" "{SMALL_BOT[1]}"; exec "{sys.executable}" -c "{code}"')
    [finding] = findings(doctor(stubborn, IMPATIENT, "stdio"), [step("end of input")])
    assert finding.verdict == "warn"
    assert finding.warning == "it still ran 0.2 s after the end of its standard input"


def test_nothing_follows_a_failure() -> None:
    results = findings(doctor(command(bots.WrongVersion)))
    assert verdicts(results) == {"connects": "ok", "login": "FAIL"}


def test_what_a_bot_prints_cannot_command_the_terminal() -> None:
    [finding] = findings(doctor(command(bots.CrashesAtStart)), [step("connects")])
    assert finding.failure is not None
    assert finding.failure.printed == ("\\x1b[31mno such file: weights.bin\\x1b[0m\\x07",)


def test_a_print_over_stdio_is_quoted_with_where_prints_belong() -> None:
    code = "print('my hand is 1', flush=True); input()"
    [finding] = findings(doctor((sys.executable, "-c", code), transport="stdio"), [step("login")])
    assert finding.failure is not None
    hint = "(standard output is for messages only: print all else to standard error)"
    assert finding.failure.expected.endswith(f", in a valid line {hint}")
    assert finding.failure.came.startswith("my hand is 1: wire.not_json")


def test_what_a_bot_prints_is_cut_to_its_last_lines() -> None:
    code = "print('first'); print('x' * 10**6); [print(number) for number in range(20)]"
    [finding] = findings(doctor((sys.executable, "-c", code)), [step("connects")])
    assert finding.failure is not None
    assert finding.failure.printed == tuple(map(str, range(10, 20)))


@pytest.mark.parametrize("bot", [bots.LeavesAChildBehind, bots.LeavesAChildBehindAndHangs])
def test_nothing_that_a_bot_has_started_outlives_its_step(bot: type[Good], tmp_path: Path) -> None:
    ids = tmp_path / "ids"
    findings(doctor(command(bot, str(ids)), IMPATIENT), [step("connects"), step("login"), step("end")])
    processes = ids.read_text("utf-8").split()
    assert len(processes) >= 4
    assert all(ends(int(process)) for process in processes)


@pytest.mark.parametrize("words", [("/nowhere/bot",), (str(Path(__file__).parent),), (str(Path(__file__)),)])
def test_a_wrong_command_is_distinguished_from_a_machine_that_fails(words: tuple[str, ...]) -> None:
    with pytest.raises(CannotStartError) as caught:
        findings(doctor(words))
    assert caught.value.wrong_command


def test_the_same_bot_is_found_the_same_twice() -> None:
    one, again = (findings(doctor(command(bots.IllegalLater)), [step("match")])[0].failure for _ in range(2))
    assert one is not None
    assert one == again


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (0, "it exited with status 0"),
        (-11, "it was ended by SIGSEGV"),
        (-63, "it was ended by signal 63"),
    ],
)
def test_an_exit_status_is_described_in_words(status: int, text: str) -> None:
    assert described_status(status) == text
