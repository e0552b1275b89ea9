"""The doctor passes good bots, and finds each fault at its step: real processes, real sockets and pipes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stellwerk_engine.games import RULE_SETS
from stellwerk_kit.bot_process import CannotStartError, told_status
from stellwerk_kit.doctor import Finding, examine
from stellwerk_kit.patient import Patience
from stellwerk_kit.steps import STEPS
from tests.kit import bots
from tests.kit.bots import Good
from tests.kit.examining import IMPATIENT, PATIENT, SMALL_BOT, command, doctor, ends, findings, step

BASICS = 6  # steps: a fault found in these is looked for from the first step on


def verdicts(found: list[Finding]) -> dict[str, str]:
    return {finding.step: finding.verdict for finding in found}


# -- good bots ---------------------------------------------------------------------------------------


def test_a_bot_that_does_everything_right_passes_every_step_over_tcp() -> None:
    found = list(examine(doctor(command(Good), require_resume=True), tuple(RULE_SETS)))
    assert set(verdicts(found).values()) == {"ok"}
    taken = {finding.step.partition(":")[0] for finding in found}
    assert taken == {step.name for step in STEPS if "tcp" in step.transports}
    assert len(found) == len(taken) + len(RULE_SETS) - 1


def test_a_small_bot_passes_every_step_over_stdio() -> None:
    found = findings(doctor(SMALL_BOT, transport="stdio"), game="card_game")
    assert set(verdicts(found).values()) == {"ok"}
    taken = {finding.step.partition(":")[0] for finding in found}
    assert taken == {step.name for step in STEPS if "stdio" in step.transports}


@pytest.mark.parametrize("bot", [bots.Pings, bots.Chatty, bots.ResumesFromTheStart])
def test_what_the_protocol_allows_is_no_fault(bot: type[Good]) -> None:
    steps = [step(name) for name in ("first ask", "many lines at once", "resume", "end")]
    assert set(verdicts(findings(doctor(command(bot)), steps)).values()) == {"ok"}


@pytest.mark.parametrize(
    ("bot", "name", "warning"),
    [
        (bots.OwnName, "login", "Deep.Train"),
        (bots.GivesUp, "resume", "does not come back"),
        (bots.ComesBackAfresh, "resume", "without `resume`"),
    ],
)
def test_what_could_be_better_is_a_warning(bot: type[Good], name: str, warning: str) -> None:
    [finding] = findings(doctor(command(bot)), [step(name)])
    assert (finding.verdict, finding.failure) == ("warn", None)
    assert finding.warning is not None
    assert warning in finding.warning


def test_a_bot_that_waits_for_the_default_is_only_warned() -> None:
    [finding] = findings(doctor(command(bots.WaitsForTheDefault), IMPATIENT), [step("error")])
    assert finding.verdict == "warn"


@pytest.mark.parametrize("bot", [bots.GivesUp, bots.ComesBackAfresh])
def test_who_asks_for_resuming_gets_a_failure_in_place_of_a_warning(bot: type[Good]) -> None:
    [finding] = findings(doctor(command(bot), require_resume=True), [step("resume")])
    assert finding.verdict == "FAIL"


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
    (bots.ChecksFields, PATIENT, "unknown fields", "a `hello` with an unknown field", "status 1"),
    (bots.KnowsAllFieldsOfAnAsk, PATIENT, "unknown fields", "an act for ask 1", "status 1"),
    (bots.KnowsAllMessages, PATIENT, "unknown messages", "`ready` for the match", "status 1"),
    (bots.OneSegmentOneLine, PATIENT, "lines in pieces", "", "status 1"),
    (bots.TakesFirstLineOnly, IMPATIENT, "many lines at once", "`ready` for the match", "nothing"),
    (bots.ConfusedBySeats, PATIENT, "other seats", "nothing when other seats", '"type":"leave"'),
    (bots.DiesOfErrors, PATIENT, "error", "an act for ask 1", "status 1"),
    (bots.StopsAfterADefault, IMPATIENT, "default", "ask 1 has ended by a default", "nothing"),
    (bots.AnswersStaleAsks, PATIENT, "stale ask", "nothing for an ask that has ended", '"ask":1'),
    (bots.IllegalLater, PATIENT, "match", "that is legal", '"draw_tickets"}}: game.'),
    (bots.KeepsItsFirstKey, PATIENT, "resume", "the last `welcome`", "an older key"),
    (bots.MakesUpAKey, PATIENT, "resume", "the last `welcome`", "never given"),
    (bots.ForeignSession, PATIENT, "resume", "`resume` with the session", "the session another"),
    (bots.SkipsEvents, PATIENT, "resume", "as last event of the match", "an event that it was never sent"),
    (bots.FightsForItsSeat, PATIENT, "takeover", "stays away", "another connection"),
    (bots.NeverExits, IMPATIENT, "end", "exits with status 0", "it still ran 0.2 s later"),
    (bots.ExitsWithOne, PATIENT, "end", "exits with status 0", "it exited with status 1"),
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
    assert {fault[2] for fault in FAULTS} == {step.name for step in STEPS if "tcp" in step.transports}


def test_the_end_of_input_is_awaited_over_stdio() -> None:
    code = "import signal; signal.pause()"
    stubborn = ("sh", "-c", f'"{sys.executable}" "{SMALL_BOT[1]}"; exec "{sys.executable}" -c "{code}"')
    [finding] = findings(doctor(stubborn, IMPATIENT, "stdio"), [step("end of input")])
    assert finding.failure is not None
    assert finding.failure.expected == "that it exits, for its standard input has ended"


def test_a_decision_that_comes_up_seldom_is_asked_for_all_the_same() -> None:
    [finding] = findings(doctor(command(bots.KnowsNoTunnels)), [step("match")], "team_asia")
    assert finding.failure is not None
    assert "pay_tunnel" in finding.failure.expected
    assert "KeyError: 'pay_tunnel'" in finding.failure.printed


def test_nothing_follows_a_failure() -> None:
    found = findings(doctor(command(bots.WrongVersion)))
    assert verdicts(found) == {"connects": "ok", "login": "FAIL"}


def test_what_a_bot_prints_cannot_command_the_terminal() -> None:
    [finding] = findings(doctor(command(bots.CrashesAtStart)), [step("connects")])
    assert finding.failure is not None
    assert finding.failure.printed == ("\\x1b[31mno such file: weights.bin\\x1b[0m\\x07",)


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
def test_a_command_that_is_none_is_told_apart_from_a_machine_that_fails(words: tuple[str, ...]) -> None:
    with pytest.raises(CannotStartError) as caught:
        findings(doctor(words))
    assert caught.value.wrong_command


def test_the_same_bot_is_found_the_same_twice() -> None:
    one, again = (findings(doctor(command(bots.IllegalLater)), [step("match")])[0].failure for _ in range(2))
    assert one is not None
    assert one == again


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (0, "it exited with status 0"),
        (-11, "it was ended by SIGSEGV"),
        (-63, "it was ended by signal 63"),
    ],
)
def test_an_exit_status_is_told_in_words(status: int, told: str) -> None:
    assert told_status(status) == told
