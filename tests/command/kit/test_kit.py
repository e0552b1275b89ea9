"""`stellwerk kit doctor`: what it prints and how it exits."""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from stellwerk.kit.command import add_arguments, run
from stellwerk.kit.findings import write_junit
from stellwerk.shared.errors import CommandError
from stellwerk_kit.doctor.all_steps import STEPS
from stellwerk_kit.doctor.doctor import Finding
from tests.kit.doctor import bots
from tests.kit.doctor.examining import FOLDER, SECONDS, SMALL_BOT, command, ends

# The subcommand in a process of its own. `{}` is for what is done when everything has been imported.
PROGRAM = """
import argparse, sys
from stellwerk.shared.errors import CommandError
from stellwerk.kit.command import add_arguments, run
parser = argparse.ArgumentParser()
add_arguments(parser)
arguments = parser.parse_args()
{}
try:
    sys.exit(run(arguments))
except CommandError as error:
    print(error.message)
    sys.exit(error.exit_code)
"""


def kit(*words: str) -> int:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(words))


def refused(*words: str) -> CommandError:
    with pytest.raises(CommandError) as caught:
        kit(*words)
    return caught.value


def test_a_good_bot_passes_with_a_line_for_each_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert kit("doctor", "--game", "usa", "--transport", "stdio", "--", *SMALL_BOT) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "ok    connects"
    assert "ok    match: usa" in lines
    assert "skip  two matches" in lines
    assert lines[-1] == f"{len(lines) - 3} ok, 0 failed, 1 skipped"


def test_a_failure_is_told_with_all_that_helps(capsys: pytest.CaptureFixture[str]) -> None:
    assert kit("doctor", "--", *command(bots.CrashesAtStart)) == 1
    assert capsys.readouterr().out.splitlines() == [
        "FAIL  connects",
        "      law       the server sends the first line",
        "      requires  C1 (MUST): The client sends nothing before `hello`. Then it sends `login` with one "
        "of the versions in it.",
        "      expected  a connection to STELLWERK_ADDRESS (over standard streams: --transport stdio)",
        "      came      it exited with status 3",
        "      the last that it printed:",
        "        \\x1b[31mno such file: weights.bin\\x1b[0m\\x07",
        "0 ok, 1 failed",
    ]


def test_nothing_printed_is_told_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert kit("doctor", "--", "false") == 1
    assert capsys.readouterr().out.splitlines()[-3:-1] == [
        "      came      it exited with status 1",
        "      the bot has printed nothing",
    ]


def test_json_tells_every_finding(capsys: pytest.CaptureFixture[str]) -> None:
    assert kit("doctor", "--json", "--game", "usa", "--", *command(bots.WrongVersion)) == 1
    printed = json.loads(capsys.readouterr().out)
    assert (printed["passed"], printed["transport"], printed["games"]) == (False, "tcp", ["usa"])
    assert [(step["step"], step["verdict"]) for step in printed["steps"]] == [
        ("connects", "ok"),
        ("login", "FAIL"),
    ]
    failure = printed["steps"][1]["failure"]
    assert failure["expected"] == "a login after `hello`, with `protocol` 1"
    assert '"protocol":2' in failure["came"]
    assert failure["printed"] == []
    assert "failure" not in printed["steps"][0]


def test_words_of_the_bot_are_not_the_doctors(capsys: pytest.CaptureFixture[str]) -> None:
    assert kit("doctor", "--", *command(bots.CrashesAtStart), "--json", "--", "-q") == 1
    assert "exited with status 3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("doctor",), "the command that starts the bot is missing"),
        (("doctor", "--", "/nowhere/bot"), "/nowhere/bot: cannot be started: No such file or directory"),
        (("doctor", "--", str(FOLDER)), "Permission denied"),
        (("doctor", "--game", "use", "--", "true"), 'did you mean "usa"?'),
        (
            ("doctor", "--steps", "resumed", "--", "true"),
            'there is no step "resumed"; did you mean "resume"?',
        ),
        (("doctor", "--seed", "", "--", "true"), "cannot be empty"),
        (("doctor", "--seed", "x" * 200, "--", "true"), "with the number of a game"),
    ],
)
def test_wrong_use_is_told_in_one_line(words: tuple[str, ...], expected: str) -> None:
    error = refused(*words)
    assert error.exit_code == 2
    assert expected in error.message
    assert error.message.isprintable()


def test_single_steps_can_be_taken(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("doctor", "--steps", "decision-complete_tickets,login", "--transport", "stdio")
    assert kit(*words, "--", *SMALL_BOT) == 0
    assert capsys.readouterr().out.splitlines() == [
        "ok    decision complete_tickets: card_game",
        "ok    login",
        "2 ok, 0 failed",
    ]


def test_the_steps_are_listed_with_their_laws(capsys: pytest.CaptureFixture[str]) -> None:
    assert kit("doctor", "--list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(STEPS) >= 40
    assert [line.split("  ")[0] for line in lines] == [step.name.replace(" ", "-") for step in STEPS]
    assert all(step.law in line for step, line in zip(STEPS, lines, strict=True))
    assert lines[-2].endswith("(stdio only)")


def test_junit_has_a_case_for_each_step_those_that_were_not_taken_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "doctor.xml"
    words = ("doctor", "--junit", str(file), "--game", "usa")
    assert kit(*words, "--", *command(bots.WrongVersion)) == 1
    [suite] = ElementTree.parse(file).getroot()
    over_tcp = [step for step in STEPS if "tcp" in step.transports]
    names = [name for step in over_tcp for name, _ in step.cases(["usa"])]
    assert [case.get("name") for case in suite] == names
    assert suite.attrib | {"time": ""} == {
        "name": "stellwerk kit doctor",
        "tests": str(len(names)),
        "errors": "0",
        "failures": "1",
        "skipped": str(len(names) - 2),
        "time": "",
    }
    [failure] = suite.findall("testcase[@name='login']/failure")
    assert "with `protocol` 1; came" in failure.attrib["message"]
    assert (failure.text or "").startswith("law: one line, with a version of `hello`")
    assert suite[0].find("*") is None
    assert suite[-1].find("skipped") is not None


def test_junit_tells_warnings_and_what_cannot_be_asked_of_a_bot(tmp_path: Path) -> None:
    file = tmp_path / "doctor.xml"
    findings = [
        Finding("one", "a law", "ok", 0.5),
        Finding("two", "a law", "warn", 0.25, warning="rude \x1b[2J"),
        Finding("three", "a law", "skip", 0.0, skipped="it cannot"),
    ]
    write_junit(str(file), "stellwerk kit doctor", findings, ["one", "two", "three"])
    [suite] = ElementTree.parse(file).getroot()
    assert (suite.get("tests"), suite.get("skipped"), suite.get("time")) == ("3", "1", "0.750")
    assert [case.findtext("system-out") for case in suite] == [None, "rude \\x1b[2J", None]
    assert [skipped.get("message") for skipped in suite.iter("skipped")] == ["it cannot"]


def test_a_junit_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    error = refused("doctor", "--junit", str(tmp_path), "--", *command(bots.CrashesAtStart))
    assert error.exit_code == 2
    assert error.message.endswith("cannot be written: Is a directory")


@pytest.mark.parametrize(
    "words",
    [("doctor", "--timeout", "0", "--", "true"), ("doctor", "--transport", "udp", "--", "true")],
)
def test_wrong_arguments_are_refused(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        kit(*words)
    assert ended.value.code == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("most_files", [3, 4, 8])
def test_a_machine_without_file_descriptors_is_not_the_bots_fault(most_files: int) -> None:
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({most_files}, {most_files}))"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(limit), "doctor", "--", *SMALL_BOT],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert (done.returncode, done.stderr) == (4, "")
    [line] = done.stdout.splitlines()
    assert line.endswith("Too many open files")


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, -signal.SIGINT)])
def test_the_bot_ends_with_the_doctor(sent: signal.Signals, status: int, tmp_path: Path) -> None:
    ids = tmp_path / "ids"
    bot = command(bots.LeavesAChildBehindAndHangs, str(ids))
    doctor = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(""), "doctor", "--timeout", str(int(SECONDS)), "--", *bot],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=_listen_to_ctrl_c,
    )
    deadline = time.monotonic() + SECONDS
    while not (ids.exists() and ids.read_text("utf-8").endswith("\n")):
        assert doctor.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    doctor.send_signal(sent)
    assert doctor.wait(SECONDS) == status
    processes = ids.read_text("utf-8").split()
    assert len(processes) >= 2
    assert all(ends(int(process)) for process in processes)


def _listen_to_ctrl_c() -> None:
    """Listen to Ctrl-C even if these tests run in the background, where shells have it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
