"""Forfeits and suspensions as an organizer meets them: real bots that fail, in tournaments on a real disk."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stellwerk.__main__ import main
from stellwerk_tournament.config.resolved import encode, read_resolved
from tests.command.program import SECONDS, Done, stellwerk
from tests.command.tournament.test_tournament import change, cup, lines_of, started, status, tournament

# A bot that draws tickets whenever it can, so that it ends far below zero; or one that is gone after its
# first answers, or never answers.
SCRIPT = """
import os, sys, time
import stellwerk_bots.client as client
from stellwerk_bots.connection import default_address

class Player:
    def __init__(self, start, seed):
        self.asks = 0

    def answer(self, ask):
        self.asks += 1
        if sys.argv[1] == "quits" and self.asks == 3:
            print("I am ahead", file=sys.stderr, flush=True)
            os._exit(3)
        if sys.argv[1] == "hangs":
            time.sleep(600)
        moves = [move["type"] for move in ask["legal"]]
        most = max(range(len(moves)), key=lambda n: len(ask["legal"][n].get("tickets", ())))
        return {"index": moves.index("draw_tickets") if "draw_tickets" in moves else most}

client.Client(
    default_address(), os.environ["STELLWERK_NAME"], Player, token=os.environ["STELLWERK_TOKEN"]
).run()
"""
NEVER = 'name = "never"\ncmd = "sh -c \'echo no display >&2; exit 3\'"'


def bot(folder: Path, kind: str, name: str = "") -> str:
    script = folder.with_suffix(".py")
    script.write_text(SCRIPT)
    command = shlex.join([sys.executable, str(script), kind])
    return f'name = "{name or kind}"\ncmd = {json.dumps(command)}'


def random_bots(names: str) -> list[str]:
    return [f'built_in = "random"\nname = "{name}"' for name in names]


def run(folder: Path, command: str = "run", code: int = 0) -> Done:
    done = stellwerk("tournament", command, str(folder), "--progress=lines", "--no-preflight")
    assert done.returncode == code, done.stderr
    return done


def forfeits(folder: Path) -> dict[tuple[int, int], dict[str, str]]:
    return {
        (line["block"], line["rotation"]): {each["bot"]: each["reason"] for each in line.get("forfeits", [])}
        for line in lines_of(folder)
    }


def test_crashing_when_ahead_does_not_pay_and_the_result_by_the_rules_stays(tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    cup(folder, [bot(folder, "quits"), bot(folder, "hoards")])
    run(folder, code=1)
    for line in lines_of(folder):
        quits = line["players"].index("quits")
        assert line["points"][quits] == max(line["points"])
        assert line["ranks_by_rules"][quits] == 1
        assert line["ranks"][quits] == 2
        assert line["forfeits"] == [{"team": quits, "bot": "quits", "reason": "gone"}]
        end = json.loads((folder / line["replay"]).read_bytes().splitlines()[-2])
        assert [team["rank"] for team in end["result"]["teams"]] == line["ranks_by_rules"]
    assert "ok, 2 matches" in tournament("verify", folder)
    done = stellwerk("ratings", str(folder / "matches.jsonl"), "--json")
    assert [entrant["name"] for entrant in json.loads(done.stdout)["entrants"]] == ["hoards", "quits"]


def test_a_bot_that_hangs_forfeits_by_its_defaults(tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    clocks = "[clocks]\nmove_ms = 50\nbank_ms = 0\n[schedule]\nkind = 'gauntlet'\nhero = 'hangs'"
    cup(folder, [bot(folder, "hangs"), *random_bots("a")], clocks)
    run(folder, code=1)
    assert list(forfeits(folder).values()) == [{"hangs": "defaults"}] * 2


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """Four bots, one of which never starts and is suspended after three matches."""
    folder = tmp_path_factory.mktemp("conduct") / "cup"
    head = "concurrency = 1\n[schedule]\nrounds = 2\n[conduct]\nsuspend_after = 3"
    cup(folder, [NEVER, *random_bots("abc")], head)
    return folder, run(folder)


def test_a_bot_that_never_starts_is_suspended_and_stands_below_the_ranking(
    played: tuple[Path, Done],
) -> None:
    folder, done = played
    told = [line for line in done.stderr.splitlines() if "never" in line]
    assert (
        "never is suspended after 3 forfeits in a row; its blocks that have not begun are called off" in told
    )
    assert told[-2:] == [
        "stellwerk: never: start_failure in 4 of 4 matches: no display",
        "stellwerk: never: 4 of 4 matches forfeited: never_started 4; "
        "suspended after block 3, with 3 forfeits in a row",
    ]
    table = [line.split() for line in done.stdout.splitlines()]
    assert table[0][-2:] == ["faults", "forfeits"]
    assert [row[0] for row in table[1:5]] == ["1", "2", "3", "out"]
    assert table[4][1] == "never"
    assert tournament("ratings", folder).splitlines()[4].split()[:2] == ["out", "never"]
    lines = lines_of(folder)
    assert sum("never" in line["players"] for line in lines) == 4
    assert len(lines) == 4 + 2 * 3 * 2
    for line in lines:
        if "never" in line["players"]:
            assert line["ranks"][line["players"].index("never")] == 2


def test_status_lists_who_is_suspended_and_the_blocks_that_are_called_off(
    played: tuple[Path, Done],
) -> None:
    folder, _ = played
    told = status(folder)
    assert told["blocks"] == {"complete": 8, "called_off": 4}
    assert told["total"] == told["matches"] == 16
    assert told["suspended"] == [{"bot": "never", "block": 3, "forfeits": 3}]
    assert [row["bot"] for row in told["rows"]][-1] == "never"
    text = tournament("status", folder)
    assert "8 complete, 4 called off" in text
    assert text.splitlines()[4].split()[:2] == ["out", "never"]


def test_a_resumed_tournament_calls_off_what_was_called_off(
    played: tuple[Path, Done], tmp_path: Path
) -> None:
    folder = tmp_path / "cup"
    shutil.copytree(played[0], folder)
    path = folder / "tournament.toml"
    path.write_text(path.read_text().replace("rounds = 2", "rounds = 3"))
    run(folder, "run")
    assert status(folder)["blocks"] == {"complete": 11, "called_off": 7}
    verified = tournament("verify", folder)
    assert "ok, 22 matches" in verified
    assert verified.count("not in matches.jsonl, called off, since never was suspended after block 3\n") == 7


def test_kill_9_in_the_middle_and_resume_bring_the_same_suspensions(
    played: tuple[Path, Done], tmp_path: Path
) -> None:
    folder = tmp_path / "cup"
    folder.mkdir()
    for name in ("tournament.toml", "board.json"):
        shutil.copy(played[0] / name, folder)
    command, kills = "run", 0
    while _is_killed(folder, command, after=3):
        command, kills = "run", kills + 1
    assert kills >= 3
    assert forfeits(folder) == forfeits(played[0])
    ours, theirs = status(folder), status(played[0])
    assert (ours["blocks"], ours["suspended"]) == (theirs["blocks"], theirs["suspended"])
    assert "ok, 16 matches" in tournament("verify", folder)


def _is_killed(folder: Path, command: str, after: int) -> bool:
    """Kill the command after so many lines of progress, if it does not end before."""
    with started(command, folder) as process:
        assert process.stdout is not None
        for number, line in enumerate(process.stdout, 1):
            if json.loads(line)["type"] == "ended":
                process.communicate(timeout=SECONDS)
                return False
            if number == after:
                process.kill()
                break
        assert process.wait(SECONDS) == -signal.SIGKILL
    return True


def test_a_final_takes_no_suspended_bot_among_the_best(
    played: tuple[Path, Done], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Even if the others have lost more often than it has."""
    folder = tmp_path / "cup"
    shutil.copytree(played[0], folder)
    for number, line in enumerate(lines_of(folder)):
        if "never" not in line["players"]:
            change(folder, "matches.jsonl", number, ranks=[1, 1], ranks_by_rules=[1, 1])
    assert main(["tournament", "init", str(tmp_path / "two"), "--from", str(folder), "--top", "3"]) == 0
    final = tomllib.loads((tmp_path / "two" / "tournament.toml").read_text())
    assert {table["name"] for table in final["bots"]} == {"a", "b", "c"}
    assert main(["tournament", "init", str(tmp_path / "four"), "--from", str(folder), "--top", "4"]) == 2
    assert "--top 4: only 3 of the bots of " in capsys.readouterr().err


def test_a_cup_in_which_no_bot_can_start_is_no_success(tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    cup(folder, [NEVER.replace("never", f"never{n}") for n in range(3)], "[schedule]\nrounds = 4")
    done = run(folder, code=1)
    assert done.stderr.splitlines()[-1] == (
        "stellwerk: no two bots played a match to its end: this tournament has no result"
    )
    told = status(folder)
    assert len(told["suspended"]) >= 2
    assert told["matches"] == told["total"] < 24
    assert all(line["ranks"] == [1, 1] for line in lines_of(folder))


# -- what was changed afterwards ---------------------------------------------------------------------


Line = dict[str, Any]  # Any: that is how JSON is read


def other_ranks(line: Line) -> Line:
    return {"ranks": line["ranks"][::-1]}


def no_forfeit(line: Line) -> Line:
    return {"forfeits": []}


def another_reason(line: Line) -> Line:
    return {"forfeits": [{**line["forfeits"][0], "reason": "gone"}]}


def no_fault(line: Line) -> Line:
    return {"bots": [{**seat, "faults": []} for seat in line["bots"]]}


def nothing_wrong(line: Line) -> Line:
    return {"bots": [{**seat, "faults": [], "defaults": 0} for seat in line["bots"]]}


def as_older_versions(line: Line) -> Line:
    return {"forfeits": [], "ranks": line["ranks_by_rules"], "ranks_by_rules": []}


def other_ranks_by_rules(line: Line) -> Line:
    return {"ranks_by_rules": line["ranks_by_rules"][::-1]}


def change_a_forfeit(played: Path, folder: Path, fields: Callable[[Line], Line]) -> int:
    """Copy a tournament, and change the first line with a forfeit in it. Return its number."""
    shutil.copytree(played, folder)
    lines = lines_of(folder)
    number = next(number for number, line in enumerate(lines) if "forfeits" in line)
    change(folder, "matches.jsonl", number, **fields(lines[number]))
    return number


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (other_ranks, "ranks: with these forfeits they are"),
        (no_forfeit, "never forfeits (never_started), and it says that nobody forfeits"),
        (another_reason, "never forfeits (never_started), and it says that never forfeits (gone)"),
        (no_fault, "never forfeits (defaults), and it says that never forfeits (never_started)"),
        (nothing_wrong, "nobody forfeits, and it says that never forfeits (never_started)"),
        (as_older_versions, "never forfeits (never_started), and it says that nobody forfeits"),
        (other_ranks_by_rules, "the records of team"),
    ],
)
def test_verify_names_the_first_line_whose_ranks_or_forfeits_were_changed(
    played: tuple[Path, Done],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    fields: Callable[[Line], Line],
    expected: str,
) -> None:
    number = change_a_forfeit(played[0], tmp_path / "cup", fields)
    assert main(["tournament", "verify", str(tmp_path / "cup")]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"stellwerk: matches.jsonl:{number + 1}: ")
    assert expected in said


def innocent(line: Line) -> Line:
    """Leave out all that went wrong, and what followed from it."""
    return nothing_wrong(line) | {"forfeits": [], "ranks": line["ranks_by_rules"]}


def accused(line: Line) -> Line:
    """Say that nobody was ever there."""
    fault = {"kind": "start_failure", "count": 1, "detail": ""}
    everybody = [
        {"team": team, "bot": bot, "reason": "never_started"} for team, bot in enumerate(line["players"])
    ]
    bots = [{**seat, "faults": [fault]} for seat in line["bots"]]
    return {"bots": bots, "forfeits": everybody, "ranks": [1] * len(everybody)}


def excused(line: Line) -> Line:
    """Say that a bot was kept away."""
    return {
        "bots": [{**seat, "faults": [], "suspended": seat["bot"] == "never"} for seat in line["bots"]],
        "forfeits": [{**line["forfeits"][0], "reason": "suspended"}],
    }


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (innocent, "(never): the server moved for it "),
        (accused, " here, and was never there, by its line in matches.jsonl"),
        (excused, "never was kept away as suspended, and by the lines before it was not suspended"),
    ],
)
def test_verify_compares_the_faults_and_defaults_with_the_replays(
    played: tuple[Path, Done],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    fields: Callable[[Line], Line],
    expected: str,
) -> None:
    """Each of these lines agrees with itself, and with the conduct."""
    change_a_forfeit(played[0], tmp_path / "cup", fields)
    assert main(["tournament", "verify", str(tmp_path / "cup")]) == 1
    assert expected in capsys.readouterr().err


def test_verify_takes_the_conduct_that_the_tournament_began_with(
    played: tuple[Path, Done], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "cup"
    shutil.copytree(played[0], folder)
    path = folder / "tournament.toml"
    path.write_text(path.read_text().replace("suspend_after = 3", "never_started = false"))
    assert main(["tournament", "verify", str(folder)]) == 0
    before = read_resolved(folder)
    assert before is not None
    assert before.conduct is not None
    conduct = msgspec.structs.replace(before.conduct, never_started=False)
    (folder / "resolved.json").write_bytes(encode(msgspec.structs.replace(before, conduct=conduct)))
    assert main(["tournament", "verify", str(folder)]) == 1
    assert "nobody forfeits, and it says that never forfeits" in capsys.readouterr().err


def test_conduct_may_not_change_between_run_and_resume(played: tuple[Path, Done], tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    shutil.copytree(played[0], folder)
    path = folder / "tournament.toml"
    path.write_text(path.read_text().replace("suspend_after = 3", "suspend_after = 4"))
    said = run(folder, "run", code=2).stderr
    assert "conduct.suspend_after was 3, and is 4 now" in said
