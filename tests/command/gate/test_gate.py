"""`stellwerk gate`: verdicts on real bots, and what CI gets of them."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import msgspec
import pytest
import yaml

from stellwerk.__main__ import main
from stellwerk.gate.doctor import findings
from stellwerk.gate.github import annotation
from stellwerk.gate.output import annotations_of, json_of, junit_of, lines_of, markdown_of
from stellwerk.gate.report import (
    BaselineScore,
    GateReport,
    Ratio,
    Trial,
    step_in_words,
)
from stellwerk_engine.boards.board_file import board_content, shipped_board
from stellwerk_kit.doctor.all_steps import STEPS
from stellwerk_kit.doctor.doctor import Failure, Finding, examine
from stellwerk_processes.bench.levels import Confinement, Level
from stellwerk_processes.bench.supervise import children
from stellwerk_processes.bot_spec import Transport, parse_bot_spec
from stellwerk_processes.faults import Fault
from stellwerk_tournament.evidence.strength import (
    DealWorths,
    EloEstimate,
    Estimate,
    FoundFault,
    GameStrength,
    Strength,
)
from stellwerk_tournament.ratings.deal_worth import DealWorth
from tests.command.program import COMMAND, REPOSITORY, SECONDS, environment
from tests.tools import needs

SMALL_BOT = REPOSITORY / "tests" / "kit" / "doctor" / "small_bot.py"  # makes the first legal move
ANSWER = 'say(type="act", match=message["match"], ask=message["ask"], index=0)'
SHORT = 12  # trains: a game of some thirty turns

NASTY = (
    "::error title=mine::commands",
    "  ::add-mask::all",
    "##[error]of old",
    "</failure>]]><evil a='b'>&amp;",
    "``` `````` @everybody <script>alert(1)</script>",
    "\x1b[31mred\x00\x07",
    "100%0Abroken %",
)


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the board of the base game with few trains, for short games."""
    path = tmp_path_factory.mktemp("boards") / "board.json"
    path.write_text(json.dumps(board_content(shipped_board("usa")) | {"trains": SHORT}))
    return path


@pytest.fixture(scope="module")
def crashing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a copy of the small bot that prints something and crashes at its second ask."""
    source = SMALL_BOT.read_text()
    assert source.count(ANSWER) == 1
    crash = (
        "def crash(ask):\n"
        "    if ask > 1:\n"
        f"        sys.stderr.write({chr(10).join(NASTY)!r})\n"
        "        sys.exit(3)\n\n\n"
    )
    changed = source.replace(ANSWER, f'crash(message["ask"]); {ANSWER}').replace(
        "def main()", f"{crash}def main()"
    )
    path = tmp_path_factory.mktemp("bots") / "crashing.py"
    path.write_text(changed)
    return path


def spec(path: Path, name: str = "small", transport: str = "tcp") -> str:
    command = shlex.join([sys.executable, "-I", "-S", str(path)])
    return f"name={name} cmd={shlex.quote(command)} transport={transport}"


SMALL = spec(SMALL_BOT)


def gate(*words: str) -> int:
    return main(["gate", "--game", "usa", "--concurrency", "2", *words])


def bots(candidate: str, *baselines: str) -> list[str]:
    return ["--candidate", candidate, *(word for each in baselines for word in ("--baseline", each))]


def cases(path: Path) -> dict[str, ElementTree.Element]:
    """Return the cases of a JUnit file, by class and name."""
    root = ElementTree.parse(path).getroot()
    all_cases = list(root.iter("testcase"))
    for suite in root:
        assert int(suite.get("tests", "")) == len(suite)
        assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure"))
        assert int(suite.get("errors", "")) == len(suite.findall("testcase/error"))
    return {f"{case.get('classname', '').rpartition('.')[2]}: {case.get('name')}": case for case in all_cases}


# -- verdicts on real bots ---------------------------------------------------------------------------


def test_a_better_bot_passes_at_the_first_look(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, board: Path
) -> None:
    junit, json_file = tmp_path / "gate.xml", tmp_path / "gate.json"
    code = gate(
        *bots("greedy", "random"),
        *("--board", str(board), "--no-doctor", "--elo1", "100", "--seed", "1"),
        *("--junit", str(junit), "--json", str(json_file)),
    )
    out, err = capsys.readouterr()
    assert code == 0
    assert out.endswith("\npassed: the candidate is better than elo0 after 30 blocks\n")
    assert [line.partition(":")[0] for line in err.splitlines()] == ["10 blocks", "20 blocks", "30 blocks"]
    report: dict[str, Any] = json.loads(json_file.read_bytes())
    assert (report["verdict"], report["exit_code"], report["blocks"], report["matches"]) == (
        "passed",
        0,
        30,
        60,
    )
    assert report["strength"]["score"]["mean"] > 0.8
    assert report["faults"] == []
    assert report["doctor"] is None
    assert {name: len(case) for name, case in cases(junit).items()} == {
        "conduct: usa of 2": 0,
        "verdict: strength of greedy": 1,  # its figures
    }


def test_a_bot_against_itself_is_no_better(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, board: Path
) -> None:
    """The small bot leaves nothing to chance: in a block it wins as often as it loses. The doctor, which it
    passes, comes first; what was played is kept where it is asked for."""
    kept = tmp_path / "kept"
    words = ("--board", str(board), "--blocks", "10", "--elo1", "150", "--directory", str(kept))
    assert gate(*bots(SMALL, SMALL), *words) == 1
    out = capsys.readouterr().out
    assert re.search(r"^doctor +\d+ ok, \d+ with a warning, 0 failed$", out, re.MULTILINE)
    assert re.search(r"^score +50\.0 %", out, re.MULTILINE)
    assert out.endswith("\nfailed: the candidate is not as good as elo1 in 10 blocks\n")
    assert len((kept / "matches.jsonl").read_text().splitlines()) == 20
    assert len(list((kept / "replays").glob("*.jsonl"))) == 20
    assert gate(*bots(SMALL, SMALL), *words) == 2  # the folder is not empty any more


def test_a_bot_against_itself_has_not_become_worse(board: Path) -> None:
    words = ("--no-doctor", "--board", str(board), "--blocks", "10", "--elo0", "-150", "--elo1", "0")
    assert gate(*bots("greedy", "greedy"), *words) == 0


def test_random_against_random_is_not_shown_to_be_better(
    capsys: pytest.CaptureFixture[str], board: Path
) -> None:
    """This holds with this seed. With one seed in twenty it would be, by chance."""
    words = ("--no-doctor", "--board", str(board), "--blocks", "10", "--seed", "1")
    assert gate(*bots("random", "random"), *words) in (1, 3)
    assert "\npassed: " not in capsys.readouterr().out


def test_a_crashing_candidate_fails_with_its_cause(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, crashing: Path, board: Path
) -> None:
    junit, markdown = tmp_path / "gate.xml", tmp_path / "gate.md"
    code = gate(
        *bots(spec(crashing, "crashing"), SMALL),
        *("--no-doctor", "--board", str(board), "--junit", str(junit), "--markdown", str(markdown)),
    )
    out = capsys.readouterr().out
    assert code == 1
    assert (
        "failed: the candidate was at fault in 2 of 2 matches, first with crash: ended with exit status 3"
        in out
    )
    assert "| ##[error]of old" in out
    conduct = cases(junit)["conduct: usa of 2"].find("failure")
    assert conduct is not None
    assert conduct.get("type") == "crash"
    assert "</failure>]]><evil a='b'>&amp;" in (conduct.text or "")
    assert "exit status 3" in markdown.read_text()


def test_a_bot_that_fails_the_doctor_is_told_the_step(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, crashing: Path
) -> None:
    junit = tmp_path / "gate.xml"
    assert gate(*bots(spec(crashing, "crashing"), SMALL), "--junit", str(junit)) == 1
    out = capsys.readouterr().out
    failed = [
        case
        for case in cases(junit).values()
        if case.get("classname") == "stellwerk.gate.doctor" and len(case)
    ]
    [case] = failed
    step = case.get("name")
    assert out.startswith(f"the doctor's step '{step}' failed\n")
    assert f"failed: the doctor's step '{step}' failed: expected " in out
    assert "it exited with status 3" in out
    assert "blocks  " not in out


def test_the_doctor_lets_a_bot_see_nothing_of_the_environment_but_what_a_match_does(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "secret")
    spy = tmp_path / "spy.py"
    spy.write_text(
        "import os, resource, sys\n"
        "sys.stderr.write('sees ' + ' '.join(sorted(os.environ)))\n"
        "sys.stderr.write(f' in {os.listdir()}, MINE={os.getenv(\"MINE\")}')\n"
        "sys.stderr.write(f' with {resource.getrlimit(resource.RLIMIT_DATA)[0] >> 20} MB')\n"
        "sys.exit(3)\n"
    )
    assert gate(*bots(f"{spec(spy, 'spy')} env.MINE='a b=c'", SMALL), "--memory", "512") == 1
    [line] = [line for line in capsys.readouterr().out.splitlines() if "sees " in line]
    assert line.endswith(" in [], MINE=a b=c with 512 MB")
    seen = set(line.partition("sees ")[2].partition(" in ")[0].split())
    assert seen >= {
        "HOME",
        "PATH",
        "TMPDIR",
        "MINE",
        "STELLWERK_ADDRESS",
        "STELLWERK_TOKEN",
        "STELLWERK_NAME",
    }
    assert "DEPLOY_TOKEN" not in seen
    assert "GITHUB_ACTIONS" not in seen


READS: Final = """
import os, sys
try:
    found = open({secret!r}).read()
except OSError as error:
    found = error.strerror
sys.stderr.write(os.environ["STELLWERK_NAME"] + " reads: " + found)
sys.exit(3)
"""


@pytest.mark.parametrize("transport", ["tcp", "stdio"])
@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("limits", "of the organizer"),
        pytest.param("landlock", "Permission denied", marks=needs("Landlock")),
        pytest.param("namespace", "No such file or directory", marks=needs("bwrap", "namespaces")),
    ],
)
def test_the_doctor_examines_a_bot_in_the_sandbox_of_its_matches(
    level: str, expected: str, transport: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """It could do then what it cannot do in a match, and it knows that it is examined, by its name."""
    secret, thief = tmp_path / "secret", tmp_path / "thief" / "thief.py"
    secret.write_text("of the organizer")
    thief.parent.mkdir()
    thief.write_text(READS.format(secret=str(secret)))
    assert gate(*bots(spec(thief, "thief", transport), SMALL), "--sandbox", level) == 1
    assert f"patient reads: {expected}\n" in capsys.readouterr().out


SOME_STEPS: Final = ("first ask", "resume", "server going down", "takeover", "end of input", "end")


@pytest.mark.parametrize(
    ("level", "transport"),
    [
        ("none", "tcp"),
        ("limits", "stdio"),
        pytest.param("landlock", "tcp", marks=needs("Landlock")),
        pytest.param("namespace", "tcp", marks=needs("bwrap", "namespaces")),
        pytest.param("namespace", "stdio", marks=needs("bwrap", "namespaces")),
    ],
)
def test_the_doctors_steps_are_the_same_in_every_sandbox(
    level: Level, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Among them those in which the server hangs up, or is away for a while."""
    steps = [step for step in STEPS if step.name in SOME_STEPS]
    assert len(steps) == len(SOME_STEPS)
    monkeypatch.setattr("stellwerk.gate.doctor.examine", partial(examine, steps=steps))
    bot = replace(parse_bot_spec("random"), transport=transport)
    taken = list(findings(bot, Confinement(level=level), ("usa",)))
    assert [(finding.step, finding.failure) for finding in taken] == [
        (step.name, None) for step in steps if transport in step.transports
    ]


def test_nothing_of_an_examined_bot_is_left() -> None:
    before = children(os.getpid())
    threads, descriptors = threading.active_count(), len(os.listdir("/proc/self/fd"))
    steps = findings(parse_bot_spec("random"), Confinement(), ("usa",))
    assert next(steps).verdict == "ok"
    steps.close()
    assert threading.active_count() == threads
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert children(os.getpid()) == before


def test_ctrl_c_ends_it_and_leaves_a_report(tmp_path: Path, board: Path) -> None:
    junit = tmp_path / "gate.xml"
    words = ["gate", *bots(SMALL, SMALL), "--game", "usa", "--board", str(board), "--no-doctor"]
    words += ["--elo0", "-1", "--elo1", "1", "--concurrency", "1", "--junit", str(junit)]
    process = subprocess.Popen(
        [*COMMAND, *words], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("10 blocks: ")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
    assert process.returncode == 130
    assert err.startswith("stopping when the running blocks are complete")
    assert out.endswith("\ninterrupted: asked to stop\n")
    error = cases(junit)["verdict: strength of small"].find("error")
    assert error is not None
    assert error.get("type") == "interrupted"


# -- GitHub Actions ----------------------------------------------------------------------------------


def test_github_gets_annotations_and_a_summary_and_obeys_no_bot(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    crashing: Path,
    board: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("what an earlier step said\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    words = ("--no-doctor", "--board", str(board))
    assert gate(*bots(spec(crashing, "crashing"), SMALL), *words) == 1
    out = capsys.readouterr().out
    first, *lines = out.splitlines()
    stop = re.fullmatch(r"::stop-commands::([0-9a-f]{32})", first)
    assert stop is not None
    end = lines.index(f"::{stop[1]}::")
    assert any("::add-mask::all" in line for line in lines[:end])
    verdict, *faults = lines[end + 1 :]
    assert verdict.startswith(
        "::error title=Stellwerk gate%3A failed::the candidate was at fault in 2 of 2 matches"
    )
    assert len(faults) == 2
    for line in faults:
        assert line.startswith(
            "::error title=Stellwerk gate%3A crash::crashing: crash, ended with exit status 3 "
        )
        assert "%0A| ::error title=mine::commands%0A" in line
        assert "| 100%250Abroken %25" in line
    summary_text = summary.read_text()
    assert summary_text.startswith("what an earlier step said\n## Stellwerk gate: failed\n")


def test_elsewhere_nothing_is_annotated(
    capsys: pytest.CaptureFixture[str], crashing: Path, board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    gate(*bots(spec(crashing, "crashing"), SMALL), "--no-doctor", "--board", str(board))
    assert not [line for line in capsys.readouterr().out.splitlines() if line.startswith("::")]


def test_an_annotation_is_one_line_whatever_is_in_it() -> None:
    line = annotation("warning", "a: b, c%\n::", ["one % two", "three\r\n::error::four", "\x1b[0m"])
    assert line == (
        "::warning title=a%3A b%2C c%25\\n%3A%3A::one %25 two%0Athree\\r\\n::error::four%0A\\x1b[0m"
    )


@needs("bash")
def test_the_action_hands_every_input_on_as_it_is_and_tells_the_verdict(tmp_path: Path) -> None:
    """The script of the step, with a program in the place of `stellwerk` that writes down its arguments."""
    action: Any = yaml.safe_load((REPOSITORY / "tournament" / "ci" / "action.yml").read_text())  # Any: YAML
    [step] = [step for step in action["runs"]["steps"] if step.get("id") == "gate"]
    program = tmp_path / "stellwerk" / "bin" / "stellwerk"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {shlex.quote(str(tmp_path))}/words\nexit 3\n')
    program.chmod(0o755)
    inputs = {"candidate": 'cmd="./x $(id)"', "baselines": "greedy\ncmd='./old bot'\n", "games": "usa\n"}
    all_inputs = {name: each.get("default", "") for name, each in action["inputs"].items()} | inputs
    variables = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: all_inputs[m[1]], text)
        for name, text in step["env"].items()
    }
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]],
        env={
            "PATH": os.environ["PATH"],
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_OUTPUT": str(tmp_path / "out"),
            **variables,
        },
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 3
    assert (tmp_path / "out").read_text() == "verdict=undecided\nreports=stellwerk-gate\n"
    words = (tmp_path / "words").read_text().splitlines()
    assert words == [
        *("gate", '--candidate=cmd="./x $(id)"', "--elo0=0", "--elo1=50"),
        *(
            "--junit=stellwerk-gate/gate.xml",
            "--markdown=stellwerk-gate/gate.md",
            "--json=stellwerk-gate/gate.json",
        ),
        *("--baseline=greedy", "--baseline=cmd='./old bot'", "--game=usa"),
    ]
    assert "${{" not in step["run"]


# -- reports of anything -----------------------------------------------------------------------------


STRENGTH: Final = Strength(
    34, Estimate(0.45, 0.4, 0.5), EloEstimate(-35.0, -70.0, 0.0), Estimate(-4.0, -9.0, 1.0)
)
DEALT: Final = "by wins, each match of usa of 2 was worth 1.62 single ones (95 %: 1.38 to 1.92)"
DEALS: Final = DealWorths(DealWorth(1.62, 1.38, 1.92, 34), None)


def report(**changes: Any) -> GateReport:
    """Make a report with everything in it. Any: the fields are of many types."""
    fault = Fault("crash", 1, "ended with SIGSEGV before the match did", NASTY)
    full = GateReport(
        verdict="failed",
        exit_code=1,
        reason="the candidate is not as good as elo1 after 34 blocks",
        candidate="my_bot",
        baselines=(BaselineScore("greedy", 0.4, 0), BaselineScore("old*bot", 0.5, 1)),
        games=(
            GameStrength("usa", 2, (), STRENGTH, DEALS),
            GameStrength("united_kingdom", 3, ("x",), None, DealWorths(None, None)),
        ),
        test=Trial(0, 50, 0.05, 0.05, None, 2000, 2, 0),
        blocks=34,
        matches=82,
        void_blocks=(NASTY[3], "```"),
        strength=STRENGTH,
        ratio=Ratio(-3.1, -2.94, 2.94),
        faulty=30,
        faults=tuple(
            FoundFault(bot, "usa of 2", 1, 0, 1, fault) for bot in ["my_bot"] * 20 + ["old*bot"] * 20
        ),
        doctor=(
            Finding("login", "law", "ok", 0.1),
            Finding("resume", "law", "warn", 0.1, warning=" ".join(NASTY)),
            Finding("end", "law", "FAIL", 0.1, failure=Failure(NASTY[0], NASTY[3], NASTY)),
        ),
        isolation="none",
        sandbox="limits",
        seed=None,
        version="1",
    )
    return msgspec.structs.replace(full, **changes)


def test_junit_holds_whatever_a_bot_prints_as_text(tmp_path: Path) -> None:
    path = tmp_path / "gate.xml"
    path.write_bytes(junit_of(report()))
    by_name = cases(path)
    assert list(by_name) == [
        "doctor: login",
        "doctor: resume",
        "doctor: end",
        "conduct: usa of 2",
        "conduct: united_kingdom of 3 x",
        "verdict: strength of my_bot",
    ]
    assert [case.tag for case in ElementTree.parse(path).getroot().iter() if case.tag == "evil"] == []
    failure = by_name["doctor: end"].find("failure")
    assert failure is not None
    assert f"came: {NASTY[3]}" in (failure.text or "")
    verdict = by_name["verdict: strength of my_bot"].find("failure")
    assert verdict is not None
    assert f"deals: {DEALT}" in (verdict.text or "")
    assert "| \\x1b[31mred\\x00\\x07" in (failure.text or "")
    assert [case.find("failure") is None for case in by_name.values()] == [
        True,
        True,
        False,
        False,
        True,
        False,
    ]


def test_the_figures_of_a_gate_that_passed_are_in_its_junit_too(tmp_path: Path) -> None:
    path = tmp_path / "gate.xml"
    path.write_bytes(junit_of(report(verdict="passed", faulty=0, faults=())))
    [element] = cases(path)["verdict: strength of my_bot"]
    assert element.tag == "system-out"
    assert f"deals: {DEALT}" in (element.text or "")


def test_what_one_deal_in_every_seat_was_worth_is_in_each_form() -> None:
    assert DEALT in "\n".join(lines_of(report()))
    assert DEALT in markdown_of(report()).decode().replace("\\", "")
    deals = json.loads(json_of(report()))["games"][0]["deals"]
    assert deals == {"wins": {"worth": 1.62, "low": 1.38, "high": 1.92, "blocks": 34}, "points": None}


def test_junit_does_not_fail_for_faults_that_are_allowed(tmp_path: Path) -> None:
    path = tmp_path / "gate.xml"
    allowed = msgspec.structs.replace(report().test, faults=30)
    path.write_bytes(junit_of(report(test=allowed)))
    [element] = cases(path)["conduct: usa of 2"]
    assert element.tag == "system-out"


@pytest.mark.parametrize(
    ("verdict", "tag"),
    [
        ("passed", "system-out"),
        ("undecided", "failure"),
        ("infrastructure", "error"),
        ("interrupted", "error"),
    ],
)
def test_junit_tells_a_failure_from_an_error(tmp_path: Path, verdict: str, tag: str) -> None:
    path = tmp_path / "gate.xml"
    path.write_bytes(junit_of(report(verdict=verdict)))
    assert [mark.tag for mark in cases(path)["verdict: strength of my_bot"]] == [tag]


def test_markdown_shows_what_bots_say_in_fences_that_they_do_not_close() -> None:
    inside: str | None = None
    outside: list[str] = []
    for line in markdown_of(report()).decode().splitlines():
        fence = re.match("`{3,}", line)
        if inside is None and fence is not None:
            inside = fence[0]
        elif inside is not None and line.strip() == inside and not line.startswith("    "):
            inside = None
        elif inside is None:
            outside.append(line)
    assert inside is None
    text = "\n".join(outside)
    for sign in ("everybody", "script", "evil", "add-mask", "\x1b"):
        assert sign not in text
    assert r"**my\_bot**" in text
    assert r"| ahead of old\*bot | 50.0 % |" in text


def test_no_more_is_annotated_than_is_shown() -> None:
    lines = list(annotations_of(report()))
    assert lines[0].startswith("::error title=Stellwerk gate%3A failed::")
    assert sum(line.startswith("::error ") for line in lines) == 10
    assert sum(line.startswith("::warning ") for line in lines) == 10
    assert all(line.isprintable() for line in lines)


def test_a_failed_step_is_called_failed_everywhere() -> None:
    """The message is not the law that the step checks: that would read as if the bot kept to it."""
    step = Finding("end", "the bot leaves at once", "FAIL", 0.1, failure=Failure("an end", "silence", ()))
    assert step.failure is not None
    failed = report(doctor=(step,), reason=step_in_words(step, step.failure), faults=(), faulty=0)
    called = "the doctor's step 'end' failed: expected an end; came: silence"
    assert list(lines_of(failed))[-1] == f"failed: {called}"
    verdict, of_step = annotations_of(failed)
    assert called in verdict
    assert of_step.startswith(
        "::error title=Stellwerk gate%3A the doctor's step 'end' failed::expected: an end"
    )
    details = "step 'end' failed:\n\n```text\n    expected: an end\n    came: silence\n"
    assert details in markdown_of(failed).decode()
    assert f'message="{called}"' in junit_of(failed).decode()


@pytest.mark.parametrize("verdict", ["passed", "failed", "undecided", "interrupted"])
def test_evidence_is_shown_with_what_it_means(verdict: str) -> None:
    words = "-3.10 (passes at 2.94, fails at -2.94)"
    gate_report = report(verdict=verdict)
    assert f"evidence          {words}" in lines_of(gate_report)
    assert r"| evidence | \-3.10 \(passes at 2.94, fails at \-2.94\) |" in markdown_of(gate_report).decode()
    assert verdict == "passed" or f"evidence: {words}" in junit_of(gate_report).decode()


def test_what_is_said_is_printable() -> None:
    assert all(line.isprintable() for line in lines_of(report()))


def test_the_json_has_the_report_as_it_is() -> None:
    assert msgspec.json.decode(json_of(report()), type=GateReport) == report()


# -- command lines -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--candidate", "gredy"), 'did you mean "greedy"?'),
        (("--candidate", "cmd=./nowhere"), 'there is no program "./nowhere"'),
        (("--baseline", "cmd=./nowhere"), 'there is no program "./nowhere"'),
        (("--game", "use"), 'did you mean "usa"?'),
        (("--game", "usa:x"), "the number of players: expected a whole number"),
        (("--game", "usa:9"), "usa"),
        (("--game", "card_game:2:opn_stacks"), "open_stacks"),
        (("--game", "usa:2"), "this game is given twice"),
        (("--game", "card_game", "--board", "x.json"), "goes with a single --game"),
        (("--elo0", "50"), "elo0 < elo1"),
        (("--alpha", "1"), "alpha and beta between 0 and 0.5"),
        (("--max-blocks", "29"), "the first look is after 30"),
        (("--blocks", "9"), "expected a whole number from 10"),
        (("--seed", "x" * 201), "--seed"),
        (("--wrap", "'"), "--wrap"),
        (("--junit", "nowhere/gate.xml"), "nowhere/gate.xml: cannot be written"),
        (("--json", "."), "is a folder"),
        (("--directory", os.devnull), "cannot be written"),
    ],
    ids=str,
)
def test_a_command_line_that_cannot_be_used_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    assert main(["gate", "--candidate", "greedy", "--baseline", "random", "--game", "usa", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    [line] = err.splitlines()
    assert message in line
