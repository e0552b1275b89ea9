"""A tournament's folder is moved and published; none of that costs a match."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from stellwerk.__main__ import main
from stellwerk_tournament.config.resolved import Resolved, read_resolved
from stellwerk_tournament.report.derived import FILES
from tests.command.program import COMMAND, SECONDS, environment
from tests.command.tournament.test_tournament import cup, lines_of, outcome, started, tournament

WITH_PYTHON = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

ARGUMENT = 'name = "argument"\ncmd = "sh bots/ann.sh"'
PROGRAM = 'name = "program"\ncmd = "bots/ann.sh"'
DIRECTORY = 'name = "directory"\ncmd = "./ann.sh"\ndir = "bots"'


def with_bots(folder: Path) -> Path:
    (folder / "bots").mkdir(exist_ok=True)
    script = folder / "bots" / "ann.sh"
    script.write_text("#!/bin/sh\nexec python -m stellwerk_bots random\n")
    script.chmod(0o755)
    return folder


def resume(folder: Path, cwd: Path, *words: str, code: int = 0, **changes: str) -> str:
    """Resume the tournament, and return its standard error."""
    done = subprocess.run(
        [*COMMAND, "tournament", "run", str(folder), "--progress=none", "--no-preflight", *words],
        cwd=cwd,
        env=environment(PATH=WITH_PYTHON, **changes),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == code, done.stderr
    return done.stderr


def resolved(folder: Path) -> Resolved:
    found = read_resolved(folder)
    assert found is not None
    return found


# -- moved -------------------------------------------------------------------------------------------


def test_a_folder_that_was_moved_is_resumed_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a bot whose file is an argument, one whose file is the program, and one with a folder."""
    monkeypatch.setenv("PATH", WITH_PYTHON)
    before = with_bots(cup(tmp_path / "cup", [ARGUMENT, PROGRAM, DIRECTORY], "concurrency = 1"))
    text = (before / "tournament.toml").read_bytes()
    with started("run", before) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["type"] == "match_ended"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    played = lines_of(before)

    (tmp_path / "elsewhere").mkdir()
    after = before.rename(tmp_path / "elsewhere" / "cup")
    assert resume(Path("elsewhere/cup"), tmp_path) == ""
    assert lines_of(after)[: len(played)] == played
    assert len(outcome(after)) == 6
    assert all(seat["faults"] == [] for line in lines_of(after) for seat in line["bots"])
    assert "ok, 6 matches" in tournament("verify", after)
    assert (after / "tournament.toml").read_bytes() == text


def test_a_copy_without_the_bots_verifies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", WITH_PYTHON)
    played = with_bots(cup(tmp_path / "cup", [ARGUMENT, DIRECTORY]))
    tournament("run", played)
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("tournament.toml", "board.json", "matches.jsonl", "report.html", "ratings.json"):
        shutil.copy(played / name, copy)
    shutil.copytree(played / "replays", copy / "replays")
    shutil.rmtree(played)
    assert "ok, 2 matches" in tournament("verify", copy)


# -- published ---------------------------------------------------------------------------------------

TELL_TALE = "telltale"
CRASH = """\
import os, sys
print(os.getcwd(), os.environ["HOME"], sys.path, sys.executable, file=sys.stderr)
raise RuntimeError(f"cannot read {__file__}")
"""


def test_no_file_says_where_on_this_machine_it_was_played_and_by_whom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's own file may. One bot crashes outside the folder, one within, and one cannot be started
    any more, which is the machine's failure; all say where they are."""
    home = tmp_path / TELL_TALE
    elsewhere = home / "sources"
    elsewhere.mkdir(parents=True)
    for name in ("HOME", "PWD", "OLDPWD"):
        monkeypatch.setenv(name, str(home))
    for name in ("USER", "LOGNAME"):
        monkeypatch.setenv(name, TELL_TALE)
    python = shlex.quote(sys.executable)
    (elsewhere / "ann.py").write_text(CRASH)
    bots = [
        f'name = "outside"\ncmd = "{python} {elsewhere / "ann.py"}"',
        f'name = "folder"\ncmd = "{python} ann.py"\ndir = "{elsewhere}"',
        f'name = "inside"\ncmd = "{python} ann.py --log {home}/log"',
        'name = "once"\ncmd = "./once.sh"',
    ]
    folder = cup(home / "cup", bots, "concurrency = 1")
    (folder / "ann.py").write_text(CRASH)
    once = folder / "once.sh"
    once.write_text('#!/bin/sh\necho "$0 in $PWD" >&2\nrm -f "$0"\nexit 1\n')
    once.chmod(0o755)
    assert main(["tournament", "run", str(folder), "--progress=none", "--no-preflight"]) == 4
    tournament("report", folder)

    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "tournament.toml"]
    names = {path.name for path in files}
    assert names >= {"resolved.json", "matches.jsonl", "state.sqlite", "inside.log", *FILES}
    for path in files:
        assert TELL_TALE.encode() not in path.read_bytes(), path
    with sqlite3.connect(folder / "state.sqlite") as database:
        dump = "\n".join(database.iterdump())
    assert "there is no program" in dump
    assert TELL_TALE not in dump
    assert str(tmp_path)[:20] not in dump  # messages shorten long paths
    seats = [seat for line in lines_of(folder) for seat in line["bots"]]
    printed = {seat["bot"]: seat["faults"][0]["last_lines"] for seat in seats}
    assert printed["outside"][-1] == "RuntimeError: cannot read .../ann.py"
    assert printed["folder"][-1] == "RuntimeError: cannot read .../ann.py"
    assert printed["inside"][-1] == "RuntimeError: cannot read ann.py"
    assert printed["inside"][0].startswith("{directory} {directory} ")


# -- changed between run and resume ------------------------------------------------------------------


def stopped(folder: Path) -> Path:
    """Stop a tournament after the first of three blocks."""
    with_bots(cup(folder, [ARGUMENT, DIRECTORY], "concurrency = 1\n[schedule]\nrounds = 3"))
    with started("run", folder) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["type"] == "match_ended"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=SECONDS)
    return folder


def test_what_may_not_change_is_refused_and_what_may_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", WITH_PYTHON)
    folder = stopped(tmp_path / "cup")
    path = folder / "tournament.toml"
    text = path.read_text()

    for old, new, expected in (
        ("sh bots/ann.sh", "sh bots/ann.sh --fast", "bots[1].command"),
        ('dir = "bots"', 'dir = "./bots/.."', "there is no program"),
        ('name = "directory"', 'name = "folder"', 'bots[2].name was "directory", and is "folder" now'),
        ("concurrency = 1", "concurrency = 1\nanonymous = true", "anonymous was false, and is true now"),
    ):
        path.write_text(text.replace(old, new))
        errors = resume(folder, tmp_path, code=2)
        assert errors.startswith(f"stellwerk: {path}:")
        assert expected in errors
        is_missing = expected == "there is no program"
        assert is_missing or "undo that, or play another tournament in a folder of its own" in errors

    path.write_text(text.replace("rounds = 3", "rounds = 2"))
    (folder / "bots" / "ann.sh").write_text("#!/bin/sh\nexec python -m stellwerk_bots greedy\n")
    errors = resume(folder, tmp_path)
    for name in ("argument", "directory"):
        versions = f"{name}: was version [0-9a-f]{{12}} at the first match, and is [0-9a-f]{{12}} now"
        assert re.search(versions, errors)
    assert len(outcome(folder)) == 4
    lines = [lines_of(folder)[place] for place in (0, -1)]
    first, last = (dict(zip(line["players"], line["versions"], strict=True)) for line in lines)
    assert all(first[name] != last[name] for name in ("argument", "directory"))
    verified = tournament("verify", folder)
    assert f"argument played as 2 versions: {first['argument']} (2 matches), {last['argument']}" in verified
    assert last["argument"] in (folder / "report.html").read_text()


def test_a_resolved_file_that_is_damaged_is_refused_and_one_that_is_gone_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", WITH_PYTHON)
    folder = stopped(tmp_path / "cup")
    path = folder / "resolved.json"
    written = path.read_bytes()
    path.write_text('{"stellwerk": 3')
    assert f"{path}: is not what Stellwerk wrote there: " in resume(folder, tmp_path, code=2)
    path.unlink()
    assert f"{path}: was missing, and is written again" in resume(folder, tmp_path)
    assert path.read_bytes() == written


def test_a_page_of_another_version_is_no_lie_and_can_be_made_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = cup(tmp_path / "cup", ['built_in = "random"', 'built_in = "greedy"'], "[schedule]\nrounds = 1")
    tournament("run", folder, "--progress=none", "--no-preflight")
    page = folder / "report.html"
    text = page.read_text()
    other_page = re.sub('(?<=<meta name="generator" content=")[^"]*', "Stellwerk 0.0.9", text)
    page.write_text(other_page.replace("<h1>", "<h1> "))
    assert main(["tournament", "verify", str(folder)]) == 2
    errors = capsys.readouterr().err
    assert f"{page}: Stellwerk 0.0.9 made it" in errors
    assert "all 2 matches are true" in errors
    assert f"make it again with: stellwerk tournament report {folder}" in errors
    tournament("report", folder)
    assert "ok, 2 matches" in tournament("verify", folder)
