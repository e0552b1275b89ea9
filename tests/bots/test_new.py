"""`stellwerk bots`: the list of languages, and copies that need nothing else."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stellwerk.__main__ import main
from stellwerk.bots import starters
from stellwerk.bots.starters import BY_LANGUAGE, CALLED_OTHERWISE, STARTERS, Library, Tool, missing
from stellwerk_engine.games.shipped import RULE_SETS
from tests.bots.scripted_server import AUTHORITY, HELLO, RESULT, USA, Peer, serve
from tests.bots.starters import BOTS, BUILD_SECONDS, QUICKLY
from tests.command.program import COMMAND, environment
from tests.tools import demand, needs, of_starter

LEFT_BEHIND = ("target", "build", "node_modules", "__pycache__", "stellwerk-bot", "Cargo.lock")

every_language = pytest.mark.parametrize("language", BY_LANGUAGE)


def new(language: str, folder: Path, *words: str) -> int:
    return main(["bots", "new", language, str(folder), *words])


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the message for a command line that cannot be carried out."""
    assert main(["bots", *words]) == 2
    output = capsys.readouterr()
    assert (output.out, output.err.count("\n")) == ("", 1)
    return output.err


# -- a copy ------------------------------------------------------------------------------------------


@every_language
def test_a_copy_is_the_starter_and_nothing_else(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Build products in its folder are not copied."""
    source = tmp_path / "bots" / language
    assert new(language, source) == 0
    files = {path.relative_to(source) for path in source.rglob("*")}
    for name in LEFT_BEHIND:
        (source / name).mkdir()
        (source / name / "leftover").touch()
    (source / "src").mkdir(exist_ok=True)
    (source / "src" / "main.o").touch()
    monkeypatch.setattr(starters, "_IN_THE_WHEEL", tmp_path / "bots")
    copy = tmp_path / "copy"
    assert new(language, copy) == 0
    assert {path.relative_to(copy) for path in copy.rglob("*")} | {Path("src")} == files | {Path("src")}
    assert Path("README.md") in files


@every_language
def test_no_file_of_a_copy_leads_out_of_its_folder(language: str, tmp_path: Path) -> None:
    assert new(language, tmp_path / "ferris") == 0
    for file in (tmp_path / "ferris").rglob("*"):
        if file.is_file():
            assert "](../" not in file.read_text("utf-8"), file.name
    readme = (tmp_path / "ferris" / "README.md").read_text("utf-8")
    assert "../" not in readme
    assert "name=ferris" in readme
    assert "name=mine" not in readme
    assert f"Stellwerk's starter for {BY_LANGUAGE[language].title}." in readme
    assert "`stellwerk protocol`" in readme
    assert readme.count("```") % 2 == 0


@every_language
def test_every_link_of_a_starter_is_true_in_the_repository(language: str) -> None:
    folder = BOTS / "python" / "starter" if language == "python" else BOTS / language
    for page in (folder / "README.md", BOTS / "README.md"):
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / link).exists(), link


def test_the_folder_names_the_bot_where_it_can(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder, name in (("ernie-2", "ernie-2"), ("my bot", "my-bot"), ("x" * 33, "my-bot")):
        assert new("python", tmp_path / folder, "--json") == 0
        output = json.loads(capsys.readouterr().out)
        assert (output["name"], output["folder"]) == (name, str(tmp_path / folder))


def test_a_folder_with_something_in_it_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    output = refused(capsys, "new", "go", str(tmp_path))
    assert (
        output
        == f"stellwerk: {tmp_path}: is not empty; name a new folder, and nothing of yours is overwritten\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_next_commands_go_where_the_copy_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder that the shell has not found for the user, since it was quoted."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert new("shell", Path("~/ernie"), "--json") == 0
    assert json.loads(capsys.readouterr().out)["next"][0] == shlex.join(["cd", str(tmp_path / "ernie")])
    assert (tmp_path / "ernie" / "bot.sh").exists()


def test_an_empty_folder_is_as_good_as_a_new_one(tmp_path: Path) -> None:
    assert new("shell", tmp_path) == 0
    assert (tmp_path / "bot.sh").exists()


def test_what_is_no_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert "file: cannot be written: " in refused(capsys, "new", "go", str(tmp_path / "file"))
    assert "cannot be written: " in refused(capsys, "new", "go", str(tmp_path / "file" / "below"))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("pyhton", "python"), ("Rust", "rust"), ("golang", "go"), ("C++", "cpp"), ("JS", "javascript")],
)
def test_for_an_unknown_language_the_nearest_is_suggested(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], typed: str, meant: str
) -> None:
    assert f'there is no language "{typed}"; did you mean "{meant}"?' in refused(
        capsys, "new", typed, str(tmp_path)
    )


def test_languages_that_are_called_otherwise_exist() -> None:
    assert set(CALLED_OTHERWISE.values()) <= set(BY_LANGUAGE)
    assert not set(CALLED_OTHERWISE) & set(BY_LANGUAGE)


# -- what to run next --------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["python", "c", "shell"])
def test_the_commands_that_are_printed_work(language: str, tmp_path: Path) -> None:
    """From the copy to a match, and for Python to the doctor; tests/bots/test_starters.py tests the rest of
    all others."""
    demand(*of_starter(language))
    program = tmp_path / "bin" / "stellwerk"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
    program.chmod(0o755)
    variables = environment(**QUICKLY, PATH=f"{program.parent}:{os.environ['PATH']}")

    def shell(script: str) -> str:
        done = subprocess.run(
            ["sh", "-euc", script],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    output = shell(f"stellwerk bots new {language} 'my bots/ernie'")
    assert output.splitlines()[0] == (
        f"my bots/ernie: a bot in {BY_LANGUAGE[language].title}, called ernie; start with README.md"
    )
    *lines, page = output.partition("next:\n")[2].splitlines()
    assert Path(page.removeprefix("the protocol: ")).is_file()
    commands = [line.strip() for line in lines]
    assert commands[0] == "cd 'my bots/ernie'"
    assert commands[-1].startswith("stellwerk kit doctor")
    doctor = commands.pop()
    if language == "python":
        commands.append(doctor.replace("doctor ", "doctor --game usa ", 1))
    played = shell("\n".join(commands))
    assert re.search(r"^ *[12]  ernie ", played, re.MULTILINE)
    assert language != "python" or "0 failed" in played


def test_the_page_of_the_starter_in_python_says_how_to_trust_an_authority(tmp_path: Path) -> None:
    assert new("python", tmp_path / "copy") == 0
    page = (tmp_path / "copy" / "README.md").read_text("utf-8")
    [command] = re.findall(r"## A server's own certificate\n.*?```sh\n(.*?)```", page, re.DOTALL)
    with serve(match_without_asks, tls=True) as address:
        words = command.replace("ca.pem", shlex.quote(str(AUTHORITY))).replace("tls://HOST:7878", address)
        done = subprocess.run(
            ["sh", "-euc", words.replace("python ", f"{shlex.quote(sys.executable)} ")],
            cwd=tmp_path / "copy",
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usa: ")


def match_without_asks(peer: Peer) -> None:
    peer.send(HELLO)
    peer.receive("login")
    peer.send({"type": "welcome", "session": "s1", "resume_key": "k1", "name": "bot"})
    peer.receive("join")
    peer.send(USA)
    peer.receive("ready")
    peer.send({"type": "end", "match": "m1", "result": RESULT})


@pytest.mark.parametrize("game", RULE_SETS)
def test_the_starter_in_python_plays_every_game(
    game: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One over TCP against one over stdio."""
    assert new("python", tmp_path / "copy") == 0
    capsys.readouterr()
    command = shlex.quote(shlex.join([sys.executable, str(tmp_path / "copy" / "bot.py")]))
    specs = [f"name={transport} cmd={command} transport={transport}" for transport in ("tcp", "stdio")]
    assert main(["play", game, "--bot", specs[0], "--bot", specs[1], "--json", "--seed", "new"]) == 0
    [match] = json.loads(capsys.readouterr().out)["matches"]
    assert [(seat["faults"], seat["defaults"]) for seat in match["seats"]] == [([], 0)] * len(match["seats"])


# -- the list ----------------------------------------------------------------------------------------


def listed(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["bots", "list", "--json"]) == 0
    return {each["language"]: each for each in json.loads(capsys.readouterr().out)["languages"]}


def test_the_list_names_every_language_and_what_it_can(capsys: pytest.CaptureFixture[str]) -> None:
    languages = listed(capsys)
    assert list(languages) == list(BY_LANGUAGE)
    assert languages["shell"]["bots"] == ["random"]
    assert languages["shell"]["resumes"] is False
    assert languages["go"]["transports"] == ["tcp", "tls", "stdio"]
    assert languages["python"]["missing"] == []


def test_the_list_is_a_table_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bots", "list"]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows] == list(BY_LANGUAGE)
    assert header.index("needs") == rows[0].index("Python 3.11")


def test_tools_that_are_missing_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    languages = listed(capsys)
    assert languages["go"]["missing"] == ["go 1.24"]
    assert languages["cpp"]["missing"] == ["c++", "make", "nlohmann-json"]
    assert main(["bots", "list"]) == 0
    assert "missing: javac 17, jar, java, make" in capsys.readouterr().out
    assert new("rust", tmp_path / "copy") == 0
    assert "this machine lacks what it needs: cargo 1.86" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("version", "lacking"),
    [
        ("go version go1.24.1 linux/amd64", ()),
        ("go version go1.30 linux/amd64", ()),
        ("go version go2 linux/amd64", ()),
        ("go version go1.19.8 linux/amd64", ("go 1.24 (1.19.8 is there)",)),
        ("no idea", ("go 1.24 (its version is unknown)",)),
    ],
)
def test_a_tool_that_is_too_old_will_not_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, lacking: tuple[str, ...]
) -> None:
    tool = tmp_path / "go"
    tool.write_text(f"#!/bin/sh\necho '{version}'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert missing(BY_LANGUAGE["go"]) == lacking


@needs("cc", "C library")
def test_a_library_that_is_missing_is_named() -> None:
    libraries = (
        Library("no such library", "cc", "c", "no/such.h"),
        Library("the usual one", "cc", "c", "stdio.h"),
    )
    starter = replace(BY_LANGUAGE["c"], tools=(Tool("cc"),), libraries=libraries)
    assert missing(starter) == ("no such library",)


def test_the_table_of_languages_says_the_same() -> None:
    text = (BOTS / "README.md").read_text("utf-8")
    rows = re.findall(
        r"^\| [^|]+ \| \[(\w+)\]\(\S+\) \| .* \| (yes|no) \| (yes|no) \| yes \| (yes|no) \|$", text, re.M
    )
    assert {language: flags for language, *flags in rows} == {
        starter.language: ["yes", word(starter.tls), word(starter.resumes)] for starter in STARTERS
    }


def word(flag: bool) -> str:
    return "yes" if flag else "no"
