"""A cup with strangers, from `init` to its final, and what its organizer reads at each step.

Of the twelve bots seven are sound: three of them sit in the server, three are programs, one of which is
reused, and one is the starter in bash. One does not start, one crashes and one hangs in the middle of its
matches, one comes late from elsewhere, and one is a thief.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import tomllib
import urllib.request
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from stellwerk_engine.boards.board_file import board_content, shipped_board
from stellwerk_server.lobby.tokens import hashed, new_token
from tests.command.program import REPOSITORY, SECONDS, Done, started, stellwerk
from tests.command.tournament.test_tournament import cup, lines_of, status
from tests.tools import needs
from tests.tournament.play.test_remote import bot, running

pytestmark = [needs("bwrap", "namespaces", "bash"), pytest.mark.xdist_group("cup of twelve")]

STRANGER: Final = Path(__file__).with_name("stranger.py")
HOUSE: Final = ("greedy", "beginner", "random")
SOUND: Final = (*HOUSE, "ann", "bob", "cid", "dot")
OUT: Final = {"gil", "hal"}
RANKED: Final = {*SOUND, "eve", "far"}
TWELVE: Final = (*SOUND, "eve", "far", "gil", "hal", "tom")
BUDGET: Final = "132"  # every two bots meet once, in both seats
HEAD: Final = """\
title = "Spring cup"
sandbox = "auto"
require = "namespace"
concurrency = 2
remote_wait_s = 600

[schedule]
kind = "round_robin"
rounds = 1

[clocks]
move_ms = 150
bank_ms = 400

[conduct]
defaults = 5"""
TRAINS: Final = 12  # for each player: so a match is long enough for five defaults

Json = dict[str, Any]  # JSON has no types


@dataclass
class Played:
    """A cup that was played, and what was printed at each step."""

    folder: Path
    token: str
    init: str = ""
    dry_run: str = ""
    refused: list[str] = field(default_factory=list[str])
    said: list[str] = field(default_factory=list[str])
    result: str = ""
    pages: dict[str, Json] = field(default_factory=dict[str, Json])


def program(folder: Path, name: str, *words: str) -> str:
    """Give a bot a folder of its own with its program, and return its table."""
    own = folder / "bots" / name
    own.mkdir(parents=True)
    shutil.copy(STRANGER, own)
    command = shlex.join([sys.executable, "-S", f"bots/{name}/{STRANGER.name}", *words])
    return f'name = "{name}"\ncmd = {json.dumps(command)}'


def write_cup(folder: Path, token: str) -> None:
    bots = [f'built_in = "{name}"' for name in HOUSE]
    bots += [program(folder, "ann", "sound"), program(folder, "dot", "sound")]
    bots.append(program(folder, "cid", "sound") + '\nprocess = "reused"')
    bots.append(program(folder, "eve", "steals") + f"\nenv = {{ CUP = {json.dumps(str(folder))} }}")
    bots += [program(folder, "gil", "crashes"), program(folder, "hal", "hangs")]
    shutil.copytree(REPOSITORY / "bots" / "shell", folder / "bots" / "bob")
    (folder / "bots" / "tom").mkdir()
    (folder / "bots" / "tom" / "run.sh").write_text("echo 'no display' >&2\nexit 3\n")
    bots.append('name = "bob"\ncmd = "bash bots/bob/bot.sh random"')
    bots.append('name = "tom"\ncmd = "sh bots/tom/run.sh"')
    bots.append(f'name = "far"\nremote = true\ntoken_sha256 = "{hashed(token)}"')
    (folder / "tournament.toml").unlink()
    cup(folder, bots, HEAD)
    board = board_content(shipped_board("usa")) | {"trains": TRAINS}
    (folder / "board.json").write_text(json.dumps(board))


def tournament(*words: str | Path, code: int = 0) -> Done:
    done = stellwerk("tournament", *map(str, words))
    assert done.returncode == code, done.stderr
    return done


def page(said: list[str]) -> Json:
    [line] = [line for line in said if line.startswith("status page: ")]
    with urllib.request.urlopen(line.removeprefix("status page: "), timeout=SECONDS) as answer:
        content: Json = json.load(answer)
    return content


PLAY = ("--progress=lines", "--listen=127.0.0.1:0", "--status=0")


def play(played: Played, *words: str) -> None:
    """Play the cup. Its remote bot comes when the runner misses it. The status page is read then, and after
    the first suspension."""
    with (
        started("tournament", "run", str(played.folder), *PLAY, *words) as process,
        ExitStack() as remote,
    ):
        assert process.stderr is not None
        for text in process.stderr:
            line = text.rstrip("\n").removeprefix("stellwerk: ")
            played.said.append(line)
            if line == "missing: far":
                played.pages["far"] = page(played.said)
                [address] = [each for each in played.said if each.startswith("listening on ")]
                where = f"tcp://{address.removeprefix('listening on ')}"
                remote.enter_context(running(*bot("random", "far", played.token, where)))
            if " is suspended after " in line and "suspended" not in played.pages:
                played.pages["suspended"] = page(played.said)
        assert process.stdout is not None
        played.result = process.stdout.read()
        assert process.wait(SECONDS) == 0, played.said


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Play a cup as its organizer would: with all bots, and then without the one that cannot play."""
    folder = tmp_path_factory.mktemp("twelve") / "cup"
    played = Played(folder, new_token())
    house = [f"--bot={name}" for name in HOUSE]
    played.init = tournament("init", folder, *house, "--others=9", f"--budget={BUDGET}").stdout
    write_cup(folder, played.token)
    played.dry_run = tournament("run", folder, "--dry-run", "--budget=60").stdout
    done = tournament("run", folder, "--listen=127.0.0.1:0", code=1)
    played.refused = [line.removeprefix("stellwerk: ") for line in done.stderr.splitlines()]
    assert lines_of(folder) == []
    play(played, "--without=tom")
    return played


def forfeits(folder: Path) -> Counter[tuple[str, str]]:
    return Counter(
        (each["bot"], each["reason"]) for line in lines_of(folder) for each in line.get("forfeits", ())
    )


def table(text: str) -> list[list[str]]:
    """Return the words of a ranking's rows."""
    return [line.split() for line in text.splitlines() if re.match(r" *(\d+|out)  \S", line)]


# -- before the first match --------------------------------------------------------------------------


def test_init_proposes_a_schedule_for_bots_that_are_still_to_be_added(played: Played) -> None:
    written, schedule, matches, meetings = played.init.splitlines()
    assert "written; add a [[bots]] table for each of the 9 other bots, then: " in written
    assert schedule == 'kind = "round_robin", rounds = 1'
    assert matches.startswith("132 matches in 66 blocks")
    assert meetings == "each bot plays 11 blocks; every two bots meet"


def test_a_dry_run_counts_the_matches_first_and_proposes_fewer(played: Played) -> None:
    lines = played.dry_run.splitlines()
    assert lines[0].startswith("132 matches in 66 blocks, 2 at a time; about ")
    assert lines[2] == "before the first match 8 bots would answer 3 asks in each seat of 1 game (preflight)"
    assert lines[3:6] == ["a schedule for 60 matches:", "  [schedule]", '  kind = "random"']
    assert lines[6] == "  rounds = 5"


def test_the_preflight_names_the_bot_that_does_not_start_and_how_to_go_on_without_it(played: Played) -> None:
    sandbox, cause, printed, advice = played.refused
    assert re.match(r"sandbox (namespace|full): bots ran ", sandbox)
    assert cause.startswith(
        "preflight: tom cannot play usa of 2: ended with exit status 3 before it logged in ("
    )
    assert printed == "    no display"
    assert advice.startswith(
        "nothing has begun: 1 of 8 bots cannot play; mend that and run again, or leave it out: "
    )
    assert advice.endswith(f"tournament run {played.folder} --listen=127.0.0.1:0 --without=tom")


def test_nothing_begins_before_the_remote_bot_has_come(played: Played) -> None:
    said = played.said
    assert said[1] == "preflight: 7 of 7 bots unchanged"
    assert said[2] == "110 matches in 55 blocks, 2 at a time"
    assert said[3] == "waiting for 1 remote bot before anything begins, for at most 600 seconds"
    assert said[6:8] == ["missing: far", "all remote bots are connected"]
    assert not any(line.startswith(("block ", "match ")) for line in said[:8])
    waiting = played.pages["far"]
    assert (waiting["running"], waiting["tournament"]["missing"]) == (0, ["far"])
    assert (waiting["tournament"]["played"], waiting["tournament"]["total"]) == (0, 110)


# -- while it is played ------------------------------------------------------------------------------


def test_who_crashes_and_who_hangs_forfeit_are_suspended_and_their_blocks_called_off(played: Played) -> None:
    counts = forfeits(played.folder)
    kept_away = {(name, "suspended") for name in OUT}  # from the rest of a block that had begun
    assert set(counts) - kept_away == {("gil", "gone"), ("hal", "defaults")}
    for name in OUT:
        news = f"{name} is suspended after 5 forfeits in a row; its blocks that have not begun are called off"
        assert played.said.count(news) == 1
        assert re.search(rf"^block \d+, usa: .*{name} -?\d+\.\d \(2 forfeits\)", "\n".join(played.said), re.M)
    assert all(
        line["ranks"][each["team"]] == 2
        for line in lines_of(played.folder)
        for each in line.get("forfeits", ())
    )
    shown = played.pages["suspended"]["tournament"]
    assert {(each["bot"], each["forfeits"]) for each in shown["suspended"]} <= {(name, 5) for name in OUT}
    assert [row["bot"] for row in shown["rows"] if row.get("out") == "suspended"] == [
        each["bot"] for each in shown["suspended"]
    ]
    assert 0 < shown["called_off_blocks"] <= 19
    blocks = status(played.folder)["blocks"]
    assert blocks["called_off"] == 55 - blocks["complete"] > 8
    assert set(blocks) == {"called_off", "complete"}
    assert status(played.folder)["total"] == len(lines_of(played.folder)) == 2 * blocks["complete"]


def test_the_thief_achieves_nothing_and_each_line_says_what_was_refused(played: Played) -> None:
    own = (played.folder / "logs" / "eve.log").read_text()
    matches = [line for line in lines_of(played.folder) if "eve" in line["players"]]
    assert own.count("\ntried\n") == len(matches) >= 2 * (len(RANKED) - 1)
    assert "achieved" not in own
    for line in lines_of(played.folder):
        assert line["sandbox"]["level"] in ("namespace", "full")
        assert {"read_files", "see_processes", "read_runner_memory", "loopback"} <= {
            *line["sandbox"]["refused"]
        }
        assert {*line["sandbox"].get("allowed", [])} <= {"much_memory"}, "which only control groups refuse"


def test_without_a_sandbox_the_same_thief_gets_in(tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    eve = program(folder, "eve", "steals") + f"\nenv = {{ CUP = {json.dumps(str(folder))} }}"
    cup(folder, [eve, program(folder, "ann", "sound")], 'sandbox = "none"')
    stellwerk("tournament", "run", str(folder), "--no-preflight")
    own = (folder / "logs" / "eve.log").read_text()
    for success in ("file tournament.toml", "file state.sqlite", "tokens of others", "login as ann"):
        assert f"achieved {success}\n" in own


# -- afterwards --------------------------------------------------------------------------------------


def test_who_is_out_stands_below_the_ranking_everywhere(played: Played) -> None:
    for text in (
        played.result,
        tournament("status", played.folder).stdout,
        tournament("ratings", played.folder).stdout,
    ):
        rows = table(text)
        assert [row[0] for row in rows] == [*map(str, range(1, 10)), "out", "out"]
        assert {row[1] for row in rows[:9]} == RANKED
        assert {row[1] for row in rows[9:]} == OUT
    report = (played.folder / "report.html").read_text()
    assert "Ranked: 9 bots" in report
    assert "Suspended: 2 bots" in report
    last = (played.folder / "crosstable.csv").read_text().splitlines()[-2:]
    assert {line.split(",")[0] for line in last} == OUT
    for name in OUT:
        assert f"<b>out</b> {name}</span>" in report
        assert f"<b>out: {name}</b>" in report


def test_the_organizer_reads_at_the_end_what_went_wrong_and_what_followed(played: Played) -> None:
    assert played.result.splitlines()[-1] == f"report: {played.folder / 'report.html'}"
    told = [line for line in tournament("status", played.folder).stdout.splitlines() if line[:3] in OUT]
    assert played.said[-4:] == told
    crash, hang, gone, defaults = told
    assert re.fullmatch(r"gil: crash in \d of \d matches: IndexError: no card is left in my hand", crash)
    assert re.fullmatch(r"hal: hang in \d of \d matches: no answer in time 3 times, .*", hang)
    for name, reason, line in (("gil", "gone", gone), ("hal", "defaults", defaults)):
        assert re.fullmatch(
            rf"{name}: (\d) of \1 matches forfeited: {reason} \d(, suspended \d)?; "
            r"suspended after block \d+, with 5 forfeits in a row",
            line,
        ), line


def test_the_ratings_are_shown_with_and_without_forfeits(played: Played) -> None:
    ratings = json.loads(tournament("ratings", played.folder, "--json").stdout)
    assert {each["name"] for each in ratings["entrants"]} == RANKED | OUT
    assert {each["name"] for each in ratings["entrants"][-2:]} == OUT == {*ratings["suspended"]}
    clean = [line for line in lines_of(played.folder) if not line.get("forfeits")]
    assert {each["name"] for each in ratings["without_forfeits"]["entrants"]} == RANKED
    assert ratings["without_forfeits"]["matches"] == len(clean) == 9 * 8


def test_the_report_says_who_was_left_out_who_is_suspended_and_what_the_sandbox_refused(
    played: Played,
) -> None:
    report = (played.folder / "report.html").read_text()
    assert "tom: by the organizer, before the first match" in report
    assert "one another&#x27;s tokens" not in report.replace("&#39;", "&#x27;")
    assert re.search(r"(namespace|full): bots ran ", report)
    assert re.search(r"\d+ blocks of suspended or disqualified bots \(gil, hal\): \d+, ", report)
    assert "void because of a machine fault" not in report


def test_verify_is_content_and_finds_a_forfeit_that_was_removed(played: Played, tmp_path: Path) -> None:
    verified = tournament("verify", played.folder).stdout.splitlines()
    assert re.match(rf".*: ok, {len(lines_of(played.folder))} matches, ", verified[0])
    assert all(
        re.search(
            r" is not in matches.jsonl, called off, since (gil|hal) was suspended after block \d+$", line
        )
        for line in verified[2:12]
    )
    assert re.match(r"blind draws: z .* is the highest of 1[0-2] bots; ", verified[1])
    tampered = tmp_path / "tampered"
    shutil.copytree(played.folder, tampered)
    lines = lines_of(tampered)
    number, line = next(each for each in enumerate(lines, 1) if len(each[1].get("forfeits", ())) == 1)
    [forfeit] = line.pop("forfeits")
    line["ranks"] = line["ranks_by_rules"]
    (tampered / "matches.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    assert tournament("verify", tampered, code=1).stderr == (
        f"stellwerk: matches.jsonl:{number}: forfeits: by its faults and the conduct in resolved.json "
        f"{forfeit['bot']} forfeits ({forfeit['reason']}), and it says that nobody forfeits\n"
    )


def test_the_best_four_play_a_final_to_its_end(played: Played, tmp_path: Path) -> None:
    best = [row[1] for row in table(played.result)[:4]]
    folder = tmp_path / "final"
    done = tournament("init", folder, "--from", played.folder, "--top=4", "--budget=12")
    assert [row[1] for row in table(done.stdout)] == best
    assert "matches have been played" not in done.stderr, "what was called off is not missing"
    assert 'kind = "round_robin", rounds = 1\n12 matches in 6 blocks, 2 at a time; about ' in done.stdout
    file = tomllib.loads((folder / "tournament.toml").read_text())
    assert {each.get("name") or each["built_in"] for each in file["bots"]} == {*best}
    final = Played(folder, played.token)
    if "far" in best:
        play(final)
    else:
        final.result = tournament("run", folder).stdout
    assert {row[1] for row in table(final.result)} == {*best}
    assert len(lines_of(folder)) == 12
    assert re.search(r": ok, 12 matches, ", tournament("verify", folder).stdout)
