"""What an organizer meets before the first match: bots that cannot play, are left out, or are absent."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import sys
from pathlib import Path

import pytest

from stellwerk.__main__ import main
from stellwerk_processes.started_match import NoResultError
from stellwerk_server.lobby.tokens import new_token
from stellwerk_tournament.play import preflight
from tests.command.program import SECONDS, started, stellwerk
from tests.command.tournament.test_tournament import cup, lines_of, status
from tests.tournament.play.test_remote import bot, remote, running

# A bot in a file of its own. It plays as `random` if its word is "good".
BOT = """
import os, sys
import stellwerk_bots.client as client
from stellwerk_bots.connection import default_address
from stellwerk_bots.players import new_player
WORD = "good"
with open(__file__ + ".log", "a") as log:
    print(os.environ["STELLWERK_NAME"], file=log)
if WORD != "good":
    sys.exit("the word is " + WORD)
client.Client(
    default_address(),
    os.environ["STELLWERK_NAME"],
    new_player("random"),
    token=os.environ["STELLWERK_TOKEN"],
).run()
"""


RANDOM = 'built_in = "random"\nprocess = "fresh"'
GREEDY = 'built_in = "greedy"\nprocess = "fresh"'


def own(folder: Path, name: str, word: str = "good") -> str:
    """Write a bot into a file, and return its table."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text(BOT.replace('"good"\nwith', f'"{word}"\nwith'))
    command = shlex.join([sys.executable, f"{name}.py"])
    return f'name = "{name}"\ncmd = {json.dumps(command)}'


def run(folder: Path, *words: str, command: str = "run", code: int = 0) -> list[str]:
    """Run a command with its preflight. Return what it says on standard error."""
    done = stellwerk("tournament", command, str(folder), "--progress=lines", *words)
    assert done.returncode == code, done.stderr
    return [line.removeprefix("stellwerk: ") for line in done.stderr.splitlines()]


def starts(folder: Path, name: str) -> list[str]:
    """Return the names that processes of a bot had, since this was called before."""
    path = folder / f"{name}.py.log"
    names = path.read_text().split() if path.exists() else []
    path.unlink(missing_ok=True)
    return names


def has_begun(folder: Path) -> bool:
    return (folder / "resolved.json").exists() or bool(lines_of(folder))


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], list[str]]:
    """Play a cup without two bots that cannot play. Return it, and what is said before and then."""
    folder = tmp_path_factory.mktemp("preflight") / "cup"
    bots = [own(folder, "broken", "bad"), 'name = "never"\ncmd = "sh -c \'exit 7\'"']
    cup(folder, [*bots, own(folder, "ann"), own(folder, "bea")], "concurrency = 2")
    before = run(folder, code=1)
    assert not has_begun(folder)
    return folder, before, run(folder, "--without", "broken", "--without", "never")


def test_nothing_begins_if_bots_cannot_play_and_all_of_them_are_named(
    without: tuple[Path, list[str], list[str]],
) -> None:
    folder, before, _ = without
    text = "\n".join(before)
    assert "preflight: broken cannot play usa of 2: ended with exit status 1 before it logged in (" in text
    assert "preflight: never cannot play usa of 2: ended with exit status 7 before it logged in (" in text
    assert "    the word is bad" in before
    assert before[-1] == (
        "nothing has begun: 2 of 4 bots cannot play; mend that and run again, or leave them out: "
        f"stellwerk tournament run {folder} --progress=lines --without=broken --without=never"
    )


def test_bots_that_were_left_out_stay_out_in_all_commands(
    without: tuple[Path, list[str], list[str]],
) -> None:
    folder, _, after = without
    assert after[0] == "preflight: 2 of 2 bots unchanged", "they have answered before"
    assert {name for line in lines_of(folder) for name in line["players"]} == {"ann", "bea"}
    assert json.loads((folder / "resolved.json").read_bytes())["without"] == ["broken", "never"]
    assert [row["bot"] for row in status(folder)["rows"]] in (["ann", "bea"], ["bea", "ann"])
    assert status(folder)["total"] == 2
    assert "broken, never: by the organizer, before the first match" in (folder / "report.html").read_text()
    assert main(["tournament", "verify", str(folder)]) == 0
    (folder / "report.html").unlink()
    assert main(["tournament", "report", str(folder)]) == 0
    assert main(["tournament", "verify", str(folder)]) == 0


def test_resume_leaves_out_whom_run_left_out_and_nobody_else(
    without: tuple[Path, list[str], list[str]],
) -> None:
    folder, *_ = without
    said = run(folder, "--rounds=2", command="run")
    assert said[0] == "preflight: 2 of 2 bots unchanged"
    assert len(lines_of(folder)) == 4
    [said_no] = run(folder, "--without", "ann", "--rounds=3", command="run", code=2)
    assert "--without: this tournament was begun with ann" in said_no
    assert "[conduct]" in said_no
    run(folder, "--without", "never", "--rounds=3", command="run")
    assert len(lines_of(folder)) == 6


def test_a_final_of_a_cup_without_some_bots_has_the_right_ones(
    without: tuple[Path, list[str], list[str]], tmp_path: Path
) -> None:
    folder, *_ = without
    assert main(["tournament", "init", str(tmp_path / "final"), "--from", str(folder), "--top", "2"]) == 0
    text = (tmp_path / "final" / "tournament.toml").read_text()
    assert set(re.findall(r'^name = "(.*)"$', text, re.MULTILINE)) == {"ann", "bea"}


def test_only_a_bot_that_has_changed_is_tried_again(tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    cup(folder, [own(folder, name) for name in ("ann", "bea", "cid")], "concurrency = 2")
    own(folder, "bea", "bad")
    assert run(folder, code=1)[0].startswith("preflight: bea cannot play")
    assert [len(starts(folder, name)) for name in ("ann", "bea", "cid")] == [2, 2, 2]
    assert run(folder, code=1)[0] == "preflight: 2 of 3 bots unchanged; to be tried: bea"
    assert [len(starts(folder, name)) for name in ("ann", "bea", "cid")] == [0, 2, 0]
    own(folder, "bea")
    said = run(folder)
    assert said[0] == "preflight: 2 of 3 bots unchanged; to be tried: bea"
    assert said[1].startswith("preflight: 1 bot answered the first asks of each game, in ")

    own(folder, "ann", "worse")
    said = run(folder, "--rounds=2", command="run", code=1)
    assert "preflight: 2 of 3 bots unchanged; to be tried: ann" in said
    assert "    the word is worse" in said
    assert "nothing was played: 1 of 3 bots cannot play; mend that and run again, or continue" in said[-1]
    assert said[-1].endswith(f"tournament run {folder} --rounds=2 --progress=lines --no-preflight")
    assert len(lines_of(folder)) == 6
    run(folder, "--rounds=2", "--no-preflight", command="run")
    assert len(lines_of(folder)) == 12


def test_suspended_bots_are_not_tried_on_resume(tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    bots = [own(folder, "gone", "bad"), own(folder, "ann"), own(folder, "bea")]
    cup(folder, bots, "concurrency = 1\n[conduct]\nsuspend_after = 2")
    run(folder, "--no-preflight")
    assert status(folder)["suspended"]
    starts(folder, "gone")
    said = run(folder, "--rounds=2", command="run")
    assert said[0].startswith("preflight: 2 bots answered")
    assert starts(folder, "gone") == []


def test_a_machine_that_fails_is_named_and_no_bot_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = cup(tmp_path / "cup", [RANDOM, GREEDY])

    async def play(*_: object) -> object:
        raise NoResultError("no process can be started")

    monkeypatch.setattr(preflight, "play_match", play)
    assert main(["tournament", "run", str(folder)]) == 4
    said = capsys.readouterr().err
    assert "random could not be tried in usa of 2, which is not its fault: no process can be started" in said
    assert "cannot play" not in said
    assert (
        "nothing has begun: 2 bots could not be tried, because of this machine; when that is mended" in said
    )
    assert not has_begun(folder)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--without", "anne"], '--without: there is no bot "anne"; did you mean "ann"? (ann, bea)'),
        (
            ["--without", "bea"],
            "2 bots play at a table, and there are only 1, without the 1 that is left out",
        ),
    ],
)
def test_whom_nobody_knows_or_can_do_without_is_no_bot_to_leave_out(
    tmp_path: Path, words: list[str], expected: str
) -> None:
    folder = tmp_path / "cup"
    cup(folder, [own(folder, "ann"), own(folder, "bea")])
    assert expected in run(folder, *words, code=2)[-1]


def test_a_bot_that_is_left_out_needs_no_program_and_no_token(tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    bots = ['name = "gone"\ncmd = "./no-such-program"', 'name = "far"\nremote = true']
    cup(folder, [*bots, own(folder, "ann"), own(folder, "bea")])
    run(folder, "--without=gone", "--without=far")
    assert len(lines_of(folder)) == 2


def test_a_dry_run_says_that_bots_would_be_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = cup(tmp_path / "cup", [RANDOM, GREEDY])
    sentence = "before the first match 2 bots would answer 3 asks in each seat of 1 game (preflight)"
    assert main(["tournament", "run", str(folder), "--dry-run"]) == 0
    assert sentence in capsys.readouterr().out
    assert main(["tournament", "run", str(folder), "--dry-run", "--no-preflight"]) == 0
    assert sentence not in capsys.readouterr().out


def test_ctrl_c_in_the_preflight_leaves_a_tournament_that_has_not_begun(tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    waits = f"import pathlib, time; pathlib.Path({str(folder / 'here')!r}).touch(); time.sleep(20)"
    command = shlex.join([sys.executable, "-c", waits])
    cup(folder, [f'name = "waits"\ncmd = {json.dumps(command)}', 'built_in = "random"'])
    with started("tournament", "run", str(folder)) as process:
        while not (folder / "here").exists():
            assert process.poll() is None
            os.sched_yield()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    begin = f"stopped; nothing has begun; begin with: stellwerk tournament run {folder}"
    assert said.splitlines()[-1] == f"stellwerk: {begin}"
    assert not has_begun(folder)


def test_programs_get_the_preflight_as_json(tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    cup(folder, [own(folder, "ann"), own(folder, "bea", "bad")])
    done = stellwerk("tournament", "run", str(folder), "--progress=jsonl")
    assert done.returncode == 1
    [event] = map(json.loads, done.stdout.splitlines())
    assert event["type"] == "preflight"
    assert event["passed"] == ["ann"]
    [unfit] = event["unfit"]
    assert (unfit["bot"], unfit["game"], unfit["last_lines"]) == ("bea", "usa of 2", ["the word is bad"])


# -- remote bots -------------------------------------------------------------------------------------


def remote_cup(folder: Path, wait_s: int, *tokens: str) -> Path:
    bots = [remote(f"far{number}", token) for number, token in enumerate(tokens)]
    here = ['built_in = "random"\nname = "here"', 'built_in = "random"\nname = "there"']
    return cup(folder, [*bots, *here], f"remote_wait_s = {wait_s}\nconcurrency = 2")


def test_remote_bots_that_do_not_come_are_named_and_nothing_begins(tmp_path: Path) -> None:
    folder = remote_cup(tmp_path / "cup", 0, new_token(), new_token())
    said = run(folder, "--listen=127.0.0.1:0", code=1)[-1]
    command = f"stellwerk tournament run {folder} --progress=lines --listen=127.0.0.1:0"
    assert said == (
        "nothing has begun: far0, far1 did not connect within 0 s; start them and run again; or leave them "
        f"out: {command} --without=far0 --without=far1; or let them come late, and forfeit what they miss: "
        f"{command} --absent-forfeit"
    )
    assert not has_begun(folder)
    run(folder, "--listen=127.0.0.1:0", "--absent-forfeit")
    reasons = {
        forfeit["bot"]: forfeit["reason"] for line in lines_of(folder) for forfeit in line.get("forfeits", ())
    }
    assert reasons == {"far0": "absent", "far1": "absent"}


def test_without_its_absent_remote_bots_a_tournament_is_an_ordinary_one(tmp_path: Path) -> None:
    folder = remote_cup(tmp_path / "cup", 0, new_token())
    run(folder, "--without=far0", "--listen=127.0.0.1:0")
    assert {name for line in lines_of(folder) for name in line["players"]} == {"here", "there"}


def test_a_tournament_begins_as_soon_as_the_last_remote_bot_has_come(tmp_path: Path) -> None:
    token = new_token()
    folder = remote_cup(tmp_path / "cup", 600, token)
    with started("tournament", "run", str(folder), "--progress=jsonl", "--listen=127.0.0.1:0") as process:
        assert process.stdout is not None
        news = (json.loads(line) for line in process.stdout)
        first = next(news)
        while first["type"] != "listening":  # what was tried before
            first = next(news)
        address = first["address"]
        assert next(news)["missing"] == ["far0"]
        assert not has_begun(folder)
        with running(*bot("random", "far0", token, f"tcp://{address}")):
            assert next(news) == {"type": "remote_bots", "missing": []}
            kinds = [event["type"] for event in news]
        assert process.wait(SECONDS) == 0
    assert kinds[-1] == "ended"
    assert len(lines_of(folder)) == 6
    assert not any("forfeits" in line for line in lines_of(folder))


def test_ctrl_c_while_remote_bots_are_waited_for_leaves_nothing_begun(tmp_path: Path) -> None:
    folder = remote_cup(tmp_path / "cup", 600, new_token())
    words = ["--progress=jsonl", "--listen=127.0.0.1:0", "--no-preflight"]
    with started("tournament", "run", str(folder), *words) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["type"] == "listening"
        assert json.loads(process.stdout.readline())["missing"] == ["far0"]
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert "stopped; nothing has begun; begin with: stellwerk tournament run" in said.splitlines()[-1]
    assert not has_begun(folder)
