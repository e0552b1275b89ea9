"""`stellwerk kit doctor`: what it prints and how it exits."""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stellwerk.errors import CommandError
from stellwerk.kit_command import add_arguments, run
from tests.kit import bots
from tests.kit.examining import FOLDER, SECONDS, SMALL_BOT, command, ends

# The subcommand in a process of its own. `{}` is for what is done when everything has been imported.
PROGRAM = """
import argparse, sys
from stellwerk.errors import CommandError
from stellwerk.kit_command import add_arguments, run
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
    assert lines[-1] == f"{len(lines) - 1} ok, 0 with a warning, 0 failed"


def test_a_failure_is_told_with_all_that_helps(capsys: pytest.CaptureFixture[str]) -> None:
    assert kit("doctor", "--", *command(bots.CrashesAtStart)) == 1
    assert capsys.readouterr().out.splitlines() == [
        "FAIL  connects",
        "      law       the server speaks first",
        "      expected  a connection to STELLWERK_ADDRESS",
        "      came      it exited with status 3",
        "      the last that the bot printed:",
        "        \\x1b[31mno such file: weights.bin\\x1b[0m\\x07",
        "0 ok, 0 with a warning, 1 failed",
    ]


def test_nothing_printed_is_told_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert kit("doctor", "-q", "--", "false") == 1
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "      came      it exited with status 1",
        "      the bot has printed nothing",
    ]


def test_quiet_says_nothing_of_what_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("doctor", "--quiet", "--game", "usa", "--transport", "stdio")
    assert kit(*words, "--", *SMALL_BOT) == 0
    assert capsys.readouterr().out == ""


def test_json_tells_every_finding(capsys: pytest.CaptureFixture[str]) -> None:
    assert kit("doctor", "--json", "--game", "usa", "--", *command(bots.WrongVersion)) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["passed"], told["transport"], told["games"]) == (False, "tcp", ["usa"])
    assert [(step["step"], step["verdict"]) for step in told["steps"]] == [
        ("connects", "ok"),
        ("login", "FAIL"),
    ]
    failure = told["steps"][1]["failure"]
    assert failure["expected"] == "a login after `hello`, with `protocol` 1"
    assert '"protocol":2' in failure["came"]
    assert failure["printed"] == []
    assert "failure" not in told["steps"][0]


def test_words_of_the_bot_are_not_the_doctors(capsys: pytest.CaptureFixture[str]) -> None:
    assert kit("doctor", "-q", "--", *command(bots.CrashesAtStart), "--json", "--", "-q") == 1
    assert "exited with status 3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("doctor", "--", "/nowhere/bot"), "/nowhere/bot: cannot be started: No such file or directory"),
        (("doctor", "--", str(FOLDER)), "Permission denied"),
        (("doctor", "--game", "use", "--", "true"), 'did you mean "usa"?'),
        (("doctor", "--seed", "", "--", "true"), "cannot be empty"),
        (("doctor", "--seed", "x" * 200, "--", "true"), "with the number of a game"),
    ],
)
def test_wrong_use_is_told_in_one_line(words: tuple[str, ...], expected: str) -> None:
    error = refused(*words)
    assert error.exit_code == 2
    assert expected in error.message
    assert error.message.isprintable()


@pytest.mark.parametrize(
    "words",
    [("doctor",), ("doctor", "--timeout", "0", "--", "true"), ("doctor", "--transport", "udp", "--", "true")],
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
    """Even if these tests run in the background, where shells have it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
