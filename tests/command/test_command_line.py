"""What holds for every command: help, version, one line for every error, and the exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from stellwerk.__main__ import main
from tests.command.program import COMMAND, REPOSITORY, SECONDS, environment, process, refused, stellwerk
from tests.tools import needs

COMMANDS = ("boards", "demo", "play", "replay")
FULL = Path("/dev/full")

# As pip writes it where the path of the interpreter has a space in it.
SCRIPT = f"""#!/bin/sh
'''exec' "{sys.executable}" "$0" "$@"
' '''
from stellwerk.__main__ import main
raise SystemExit(main())
"""


def test_help_names_every_command_and_shows_examples() -> None:
    done = stellwerk("--help")
    assert (done.returncode, done.stderr) == (0, "")
    for command in COMMANDS:
        assert f"\n    {command} " in done.stdout
    assert "examples:" in done.stdout


@pytest.mark.parametrize("words", [(), *((command,) for command in COMMANDS)], ids=" ".join)
def test_help_fits_into_80_columns(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        assert main([*words, "--help"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_the_version_is_that_of_the_project() -> None:
    done = stellwerk("--version")
    assert (done.returncode, done.stderr) == (0, "")
    version = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert done.stdout in (
        f"stellwerk {version} (plain Python)\n",
        "stellwerk (not installed) (plain Python)\n",
    )


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("compar",), "compare"),
        (("repaly", "verify", "x"), "replay"),
        (("tournament", "staus"), "status"),
        (("tournament", "verfy", "cup"), "verify"),
        (("kit", "docter"), "doctor"),
        (("boards", "shwo", "usa"), "show"),
        (("bots", "nwe"), "new"),
        (("replay", "verfy", "x"), "verify"),
        (("tournament", "run", "cup", "--progress", "tabel"), "table"),
        (("play", "usa", "--bots", "greedy"), "--bot"),
        (("compare", "greedy", "planner", "--keepgoing=1"), "--keep-going"),
        (("kit", "doctor", "--transpor", "stdio", "--", "bot"), "--transport"),
    ],
    ids=" ".join,
)
def test_a_mistyped_word_gets_the_nearest_one_suggested_at_every_level(
    words: tuple[str, ...], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("stellwerk: there is no ")
    assert f'did you mean "{meant}"?' in line


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "a command is missing"),
        (("--bogus",), "--bogus"),
        (("",), 'no command ""'),
        ((b"\xff\n",), r"\udcff"),
        (("play",), "GAME"),
        (("play", "usa", "--bogus"), "--bogus"),
        (("boards",), "COMMAND"),
        (("replay", "lost"), "lost"),
    ],
    ids=str,
)
def test_a_wrong_command_line_is_refused_in_one_line(words: tuple[str | bytes, ...], expected: str) -> None:
    assert expected in refused(*words)


@needs("/dev/full")
@pytest.mark.parametrize(
    "words",
    [("--version",), ("--help",), ("play", "usa", "--bot", "random", "--bot", "random")],
    ids=" ".join,
)
def test_a_full_disk_is_an_error_of_the_machine(words: tuple[str, ...]) -> None:
    with FULL.open("w") as full:
        done = _run_with_stdout(full.fileno(), *words)
    assert done.returncode == 4
    assert done.stderr == "stellwerk: standard output: cannot be written: No space left on device\n"


@pytest.mark.parametrize("words", [("--help",), ("boards", "show", "usa")], ids=" ".join)
def test_a_broken_pipe_is_quiet(words: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = _run_with_stdout(writing, *words)
    os.close(writing)
    assert done.stderr == ""


def test_without_any_output_the_command_still_works() -> None:
    script = 'exec "$@" >&- 2>&-'
    done = subprocess.run(
        ["sh", "-c", script, "sh", *COMMAND, "play", "usa", "--bot", "random", "--bot", "random"],
        env=environment(),
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0


def test_what_the_encoding_of_the_terminal_lacks_is_written_in_another_way() -> None:
    done = process("boards", "show", "usa", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Montr\\xe9al" in done.stdout


def _run_with_stdout(stdout: int, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words],
        env=environment(),
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=SECONDS,
    )


def test_what_it_tells_to_type_is_there_to_be_typed(tmp_path: Path) -> None:
    """This holds also if the command is not on the PATH, as in a virtual environment that is not active."""
    program = tmp_path / "stellwerk"
    program.write_text(SCRIPT)
    program.chmod(0o755)
    outputs: list[str] = []
    for path in (os.defpath, f"{tmp_path}{os.pathsep}{os.defpath}"):
        folder = tmp_path / str(len(outputs))
        done = subprocess.run(
            ["./stellwerk", "tournament", "init", folder],
            cwd=tmp_path,
            env=environment(PATH=path),
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert f"{program} tournament run" in outputs[0]
    assert f"{program} tournament run" not in outputs[1]
    assert "stellwerk tournament run" in outputs[1]


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), BaseExceptionGroup("tasks", [KeyboardInterrupt(), ValueError()])]
)
def test_ctrl_c_ends_in_one_line_also_before_tasks_heed_signals(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(words: Sequence[str]) -> int:
        raise error

    monkeypatch.setattr("stellwerk.command_line.run", interrupted)
    assert main(["token", "ann"]) == 130
    assert capsys.readouterr().err == "stellwerk: interrupted\n"


def test_an_error_of_ours_in_several_tasks_is_reported_with_its_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failed(words: Sequence[str]) -> int:
        raise ExceptionGroup("tasks", [ZeroDivisionError("ours")])

    monkeypatch.setattr("stellwerk.command_line.run", failed)
    assert main(["token", "ann"]) == 4
    assert "ZeroDivisionError: ours" in capsys.readouterr().err


@needs("/dev/full")
@pytest.mark.parametrize(("error", "code"), [("KeyboardInterrupt", 130), ("ZeroDivisionError", 4)])
def test_how_a_command_ends_does_not_depend_on_whether_standard_error_can_be_written(
    error: str, code: int
) -> None:
    program = (
        "import sys, stellwerk.command_line as line, stellwerk.__main__ as program\n"
        f"def run(words): raise {error}\n"
        "line.run = run\n"
        "sys.exit(program.main(['token', 'ann']))\n"
    )
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-c", program], env=environment(), stderr=full, check=False)
    assert done.returncode == code
