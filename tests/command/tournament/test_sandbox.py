"""Tournaments in a sandbox: real bots, one of which looks for the seeds of the others' deals."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Final

import pytest

from stellwerk.__main__ import main
from tests.command.tournament.test_tournament import cup, lines_of, tournament
from tests.tools import needs

THIEF: Final = """
import json, os, sys

for name in ("state.sqlite", "tournament.toml"):
    try:
        with open(os.path.join(os.environ["CUP"], name), "rb") as file:
            print("stole", len(file.read()), "bytes of", name, file=sys.stderr, flush=True)
    except OSError as error:
        print("could not open", name, file=sys.stderr, flush=True)

def send(**message):
    print(json.dumps(message), flush=True)

for line in sys.stdin:
    got = json.loads(line)
    if got["type"] == "hello":
        name, token = os.environ["STELLWERK_NAME"], os.environ["STELLWERK_TOKEN"]
        send(type="login", protocol=1, name=name, token=token)
    if got["type"] == "start":
        send(type="ready", match=got["match"])
    if got["type"] == "ask":
        send(type="act", match=got["match"], ask=got["ask"], index=0)
    if got["type"] in ("end", "error", "bye"):
        break
"""
DEFAULT: Final = "# the sandbox is the default"
SECRETS: Final = "one another's tokens, and the runner's files"


def thieves_cup(folder: Path, head: str = "") -> Path:
    """Write a tournament between a thief over standard input and output, and a bot over TCP. The thief's
    program lies beside what it looks for."""
    folder.mkdir()
    (folder / "thief.py").write_text(THIEF)
    command = json.dumps(shlex.join([sys.executable, "thief.py"]))
    thief = (
        f'name = "thief"\ncmd = {command}\ntransport = "stdio"\nenv = {{ CUP = {json.dumps(str(folder))} }}'
    )
    return cup(folder, [thief, 'built_in = "random"\nprocess = "fresh"'], f"{head}\n[schedule]\nrounds = 1")


def stolen(folder: Path) -> set[str]:
    """Return what the thief says of its attempts, all of which have the same end."""
    log = (folder / "logs" / "thief.log").read_text()
    return {word for word in ("stole", "could not open") if word in log}


def faults(folder: Path) -> list[object]:
    return [fault for line in lines_of(folder) for seat in line["bots"] for fault in seat.get("faults", ())]


@pytest.mark.parametrize(
    "level",
    [
        pytest.param("landlock", marks=needs("Landlock")),
        pytest.param("namespace", marks=needs("bwrap", "namespaces")),
    ],
)
def test_a_bot_in_a_sandbox_plays_and_cannot_read_the_tournament(tmp_path: Path, level: str) -> None:
    folder = thieves_cup(tmp_path / "cup", f'sandbox = "{level}"')
    tournament("run", folder)
    assert stolen(folder) == {"could not open"}
    assert faults(folder) == []
    records = [line["sandbox"] for line in lines_of(folder)]
    assert [(record["level"], record["asked"]) for record in records] == [(level, level)] * 2
    assert all("read_files" in record["refused"] for record in records)
    report = (folder / "report.html").read_text()
    assert f"{level}: bots ran " in report
    assert SECRETS not in report.replace("&#39;", "'").replace("&#x27;", "'")
    assert json.loads((folder / "resolved.json").read_bytes())["sandbox"]["level"] == level


def test_without_a_sandbox_a_bot_can_read_the_tournament_and_the_report_says_so(tmp_path: Path) -> None:
    folder = thieves_cup(tmp_path / "cup")
    tournament("run", folder)
    assert stolen(folder) == {"stole"}
    assert not any("sandbox" in line for line in lines_of(folder))
    report = (folder / "report.html").read_text()
    assert SECRETS in report.replace("&#39;", "'").replace("&#x27;", "'")


def test_a_tournament_without_the_sandbox_that_it_requires_never_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = thieves_cup(tmp_path / "cup", 'sandbox = "auto"\nrequire = "namespace"')
    monkeypatch.setattr("stellwerk_processes.bench.launch.bubblewrap", lambda: None)
    assert main(["tournament", "run", str(folder)]) == 4
    error = capsys.readouterr().err
    assert "tournament.toml:2: require: the sandbox must be at least namespace: " in error
    assert "bubblewrap is not installed" in error
    assert not (folder / "resolved.json").exists()
    assert not (folder / "matches.jsonl").exists() or not lines_of(folder)
    text = (folder / "tournament.toml").read_text()
    without = text.replace('sandbox = "auto"\nrequire = "namespace"', 'sandbox = "limits"')
    (folder / "tournament.toml").write_text(without)
    assert main(["tournament", "run", str(folder), "--progress=lines"]) == 0, "it can still begin otherwise"


@pytest.mark.parametrize("head", [DEFAULT, 'sandbox = "auto"', f'bind = ["notes"]  {DEFAULT}'])
def test_by_default_bots_run_at_the_highest_level_that_holds_and_stay_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], head: str
) -> None:
    """A machine without bubblewrap and Landlock has limits, which are tried too. What a higher level would
    need is no error there, neither when the tournament begins nor when it goes on."""
    folder = thieves_cup(tmp_path / "cup", head)
    (folder / "notes").mkdir()
    with monkeypatch.context() as bare:
        bare.setattr("stellwerk_processes.bench.launch.bubblewrap", lambda: None)
        bare.setattr("stellwerk_processes.bench.launch.landlock_abi", lambda: 0)
        assert main(["tournament", "run", str(folder), "--progress=lines"]) == 0
    [sentence, preflight, *_] = capsys.readouterr().err.splitlines()
    assert sentence.startswith("sandbox limits: bots ran ")
    assert sentence.endswith("; for more see: stellwerk sandbox")
    assert preflight.startswith("preflight: 2 bots answered the first asks of each game, in ")
    assert [(line["sandbox"]["level"], line["sandbox"]["asked"]) for line in lines_of(folder)] == [
        ("limits", "auto")
    ] * 2
    assert json.loads((folder / "resolved.json").read_bytes())["sandbox"]["level"] == "limits"
    assert main(["tournament", "run", str(folder), "--rounds=2", "--progress=lines"]) == 0
    assert [(line["sandbox"]["level"], line["sandbox"]["asked"]) for line in lines_of(folder)] == [
        ("limits", "auto")
    ] * 4, "other levels hold now, but matches stay comparable"
    assert main(["tournament", "report", str(folder)]) == 0
    assert main(["tournament", "verify", str(folder)]) == 0


def test_a_tournament_is_not_continued_at_another_level(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = thieves_cup(tmp_path / "cup")
    tournament("run", folder)
    path = folder / "tournament.toml"
    path.write_text(path.read_text().replace('sandbox = "limits"', 'sandbox = "none"'))
    assert main(["tournament", "run", str(folder), "--rounds=2"]) == 2
    assert 'sandbox.level was "limits", and is "none" now' in capsys.readouterr().err
