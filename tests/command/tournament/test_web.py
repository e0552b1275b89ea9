"""`tournament run --web`: a real tournament, watched over HTTP from its begin to its end."""

from __future__ import annotations

import json
import signal
import socket
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from stellwerk_server.lobby.tokens import new_token
from stellwerk_tournament.report.derived import RATINGS
from stellwerk_web.show.model import ENDED_LISTED
from tests.command.program import SECONDS, stellwerk
from tests.command.program import started as program_started
from tests.command.tournament.test_tournament import FOUR, TWO, cup, lines_of, started
from tests.tournament.play.test_remote import SCRIPT, read, remote, running
from tests.web.pages import Collected, Pages, collecting
from tests.web.serving import Record

THREE = ('built_in = "random"', 'built_in = "greedy"', 'built_in = "planner"')


def expect_final_figures(folder: Path, ranking: dict[str, Any]) -> None:
    """Expect the figures of `ratings.json`, which the runner has written at its end."""
    written = json.loads((folder / RATINGS).read_text())
    rows = {row["bot"]: row for row in ranking["rows"]}
    assert [row["bot"] for row in ranking["rows"]] == [each["name"] for each in written["entrants"]]
    for each in written["entrants"]:
        row = rows[each["name"]]
        assert (row["elo"], row["low"], row["high"]) == (each["elo"], each["low"], each["high"])
        assert row["matches"] == each["matches"]
    for each in written["not_ratings"]:
        assert rows[each["name"]]["score"] == each["score"]
    assert ranking["over"] == f"{written['blocks']} complete blocks"


class Completeness:
    """Checks that every match that comes is of a complete block: its lines are on disk then."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._complete: set[str] = set()

    def __call__(self, record: Record) -> None:
        for head in record.data.get("matches", ()):
            if head["match"] not in self._complete:
                self._complete = {line["match"] for line in lines_of(self._folder)}
            assert head["match"] in self._complete
            assert head["state"] == "ended"


def names_in(heads: Sequence[dict[str, Any]]) -> set[str]:
    return {player["name"] for head in heads for player in head["players"]}


def test_a_tournament_is_watched_from_its_begin_to_its_end(tmp_path: Path) -> None:
    folder = cup(tmp_path / "cup", FOUR, 'title = "Four </script>"\nconcurrency = 2\n[schedule]\nrounds = 30')
    with started("run", folder, "--web", "0", "--seed", "s") as process:
        pages = Pages.at(read(process, "live_pages")["url"])
        with collecting(pages, check=Completeness(folder)) as stream:
            stream.wait_until(lambda: bool(stream.heads()))
            [name, *_] = stream.heads()
            match = pages.state(f"/stream/match/{name}")
            while match["end"] is None:
                match = pages.state(f"/stream/match/{name}")
            first = stream.records[0].data
            ended = read(process, "ended")
            stream.end()
        assert process.wait(SECONDS) == 0
    assert ended["finished"]
    assert not pages.is_there()
    assert (first["title"], first["kind"], first["source"]) == ("Four </script>", "tournament", "cup")
    matches = [line["match"] for line in lines_of(folder)]
    # A reader that is late gets the state instead of the changes: the last matches, and the number of all.
    assert {*matches[-ENDED_LISTED:]} <= {*stream.heads()} <= {*matches}
    assert stream.all_of("counts")[-1]["ended"] == len(matches) == 360
    # The pages are there before the runner's first status.
    played = [state["played"] for state in stream.all_of("tournament") if "played" in state]
    assert played == sorted(played)
    assert played[-1] == 360
    assert {state.get("total", 360) for state in stream.all_of("tournament")} == {360}
    rankings = stream.all_of("ranking")
    assert len({json.dumps(ranking) for ranking in rankings}) > 1
    expect_final_figures(folder, rankings[-1])
    [line] = [line for line in lines_of(folder) if line["match"] == name]
    assert [player["name"] for player in match["start"]["players"]] == line["players"]
    assert match["start"]["viewer"] == "public"
    assert match["end"]["result"]["ranks"] == line["ranks"]
    assert match["events"][-1]["type"] == "game_ended"
    assert '"cards":{' not in json.dumps([e for e in match["events"] if e["type"] == "cards_dealt"])


def test_the_pages_are_there_before_the_first_match_begins(tmp_path: Path) -> None:
    """A tournament of built-in bots can be over sooner than a process starts."""
    folder = cup(tmp_path / "cup", TWO, "[schedule]\nrounds = 1")
    with started("run", folder, "--web", "0") as process:
        out, _ = process.communicate(timeout=SECONDS)
    kinds = [json.loads(line)["type"] for line in out.splitlines()]
    assert kinds.index("live_pages") < kinds.index("match_ended")


def kept_in(folder: Path) -> set[str]:
    """Return the matches that were played of blocks that are not complete. A runner that is stopped between
    its last two steps has lines of a complete block here, too."""
    with closing(sqlite3.connect(f"{(folder / 'state.sqlite').as_uri()}?mode=ro", uri=True)) as state:
        rows = state.execute("SELECT line FROM matches").fetchall()
    return {json.loads(line)["match"] for [line] in rows} - {line["match"] for line in lines_of(folder)}


def test_nothing_of_a_block_that_a_killed_runner_left_is_ever_shown_and_resume_shows_all(
    tmp_path: Path,
) -> None:
    bots = [f'{bot}\nprocess = "reused"' for bot in TWO]  # their matches are kept one by one
    folder = cup(tmp_path / "cup", bots, "concurrency = 1\n[schedule]\nrounds = 40")
    with started("run", folder, "--web", "0", "--seed", "s") as process:
        pages = Pages.at(read(process, "live_pages")["url"])
        with collecting(pages, check=Completeness(folder)) as stream:
            stream.wait_until(lambda: bool(stream.heads()))
            while True:
                process.send_signal(signal.SIGSTOP)
                if kept := kept_in(folder):
                    break
                process.send_signal(signal.SIGCONT)
                read(process, "match_ended")
            process.kill()
            stream.end()  # the pages end with the runner, whatever ends it
        assert process.wait(SECONDS) == -signal.SIGKILL
    shown = json.dumps([record.data for record in stream.records])
    assert not any(match in shown for match in kept)
    before = {line["match"] for line in lines_of(folder)}
    assert {*stream.heads()} <= before

    with watched(folder) as pages:
        listed = pages.state("/stream")["matches"]
        assert {head["match"] for head in listed} <= before
        for match in kept:
            assert pages.get(f"/match/{match}")[0] == pages.get(f"/stream/match/{match}")[0] == 404
    with started("run", folder, "--web", "0", "--seed", "s") as process:
        pages = Pages.at(read(process, "live_pages")["url"])
        with collecting(pages, check=Completeness(folder)) as stream:
            assert read(process, "ended")["finished"]
            stream.end()
        assert process.wait(SECONDS) == 0
    assert stream.all_of("counts")[-1] == {"running": 0, "ended": 80, "failed": 0}
    expect_final_figures(folder, stream.all_of("ranking")[-1])
    with watched(folder) as pages:
        for match in (*before, *kept):  # also those that are in no list any more
            assert pages.get(f"/match/{match}")[0] == 200


@contextmanager
def watched(folder: Path) -> Generator[Pages]:
    """Watch a folder, once it has been read."""
    with program_started("watch", str(folder), "--listen", "0") as process:
        assert process.stdout is not None
        pages = Pages.at(process.stdout.readline().removeprefix("live pages at ").strip())
        with collecting(pages) as stream:
            stream.wait_until(lambda: stream.all_of("connected")[-1:] == [True])
        yield pages


def test_an_anonymous_tournament_says_who_played_whom_when_all_has_been_played(tmp_path: Path) -> None:
    folder = cup(tmp_path / "cup", TWO, "anonymous = true\nconcurrency = 1\n[schedule]\nrounds = 200")
    with started("run", folder, "--web", "0") as process:
        pages = Pages.at(read(process, "live_pages")["url"])
        with collecting(pages) as stream:
            stream.wait_until(lambda: bool(stream.heads()) and len(stream.all_of("ranking")) > 1)
            bot_page = pages.data("/data/bot/greedy")
            status, _ = pages.get("/data/pair/greedy/random")
            match = pages.state(f"/stream/match/{next(iter(stream.heads()))}")
            assert read(process, "ended")["finished"]
            stream.end()
    assert (bot_page["against"], bot_page["matches"], status) == ([], [], 404)
    assert "anonymous" in bot_page["hidden"]
    assert names_in([match["head"]]) == {"seat-0", "seat-1"}
    *during, last = stream.all_of("tournament")
    assert during
    assert not any("blocks" in state for state in during)
    anew = next(number for number, record in enumerate(stream.records) if number and record.kind == "state")
    hidden = Collected(stream.records[:anew])
    assert names_in([*hidden.heads().values()]) == {"seat-0", "seat-1"}
    assert not any("block" in head or "round" in head for head in hidden.heads().values())
    assert last["is_over"]
    assert names_in([*Collected(stream.records[anew:]).heads().values()]) == {"greedy", "random"}


def test_matches_with_deals_of_their_own_are_watched_live(tmp_path: Path) -> None:
    """The remote bot takes its time, in the middle of its first match. Its block has two."""
    token = new_token()
    script = tmp_path / "thinks.py"
    script.write_text(SCRIPT)
    bots = [remote("ann", token), 'built_in = "greedy"']
    clocks = "[clocks]\nmove_ms = 15000\nbank_ms = 0\ndefaults_in_a_row = 1"
    folder = cup(tmp_path / "cup", bots, f"concurrency = 1\n{clocks}")
    with started("run", folder, "--listen", "127.0.0.1:0", "--web", "0") as process:
        address = read(process, "listening")["address"]
        pages = Pages.at(read(process, "live_pages")["url"])
        thinker = (str(script), f"tcp://{address}", "ann", token, "thinks")
        with running(*thinker) as ann, collecting(pages) as stream:
            name = read(process, "match_began")["match"]
            stream.wait_until(lambda: name in stream.heads())
            assert stream.heads()[name]["state"] == "running"
            assert names_in([stream.heads()[name]]) == {"ann", "greedy"}
            with collecting(pages, f"/stream/match/{name}") as match:
                match.wait_until(lambda: any(match.all_of("events")) and bool(match.all_of("start")))
                assert match.all_of("start")[0]["viewer"] == "public"
                assert match.all_of("end") == []
                ann.kill()  # the server plays on for it, and the page goes on
                match.wait_until(lambda: bool(match.all_of("end")))
            stream.wait_until(lambda: stream.heads()[name]["state"] == "ended")
            assert all(row["matches"] % 2 == 0 for table in stream.all_of("ranking") for row in table["rows"])
            process.send_signal(signal.SIGINT)
            read(process, "stopping")
            process.send_signal(signal.SIGINT)
            stream.end()


def test_ctrl_c_ends_the_pages_with_the_runner_and_the_command_to_resume_has_them_again(
    tmp_path: Path,
) -> None:
    folder = cup(tmp_path / "cup", THREE, "concurrency = 1\n[schedule]\nrounds = 500")
    with started("run", folder, "--web", "127.0.0.1:0") as process:
        pages = Pages.at(read(process, "live_pages")["url"])
        with collecting(pages, check=Completeness(folder)) as stream:
            stream.wait_until(lambda: bool(stream.heads()))
            process.send_signal(signal.SIGINT)
            ended = read(process, "ended")
            stream.end()
        assert process.wait(SECONDS) == 130
    assert not pages.is_there()
    assert {*stream.heads()} == {line["match"] for line in lines_of(folder)[-len(stream.heads()) :]}
    assert not stream.all_of("tournament")[-1].get("is_over")
    assert ended["resume"].endswith("--web=127.0.0.1:0")
    assert stream.all_of("tournament")[-1]["played"] == len(lines_of(folder))


def test_pages_that_cannot_listen_cost_the_matches_nothing(tmp_path: Path) -> None:
    folder = cup(tmp_path / "cup", THREE, "concurrency = 1\n[schedule]\nrounds = 500")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with started("run", folder, "--web", port) as process:
            assert "exit code 4; matches go on" in read(process, "live_pages_ended")["message"]
            before = len(lines_of(folder))
            read(process, "block_ended")
            process.send_signal(signal.SIGINT)
            _, printed = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert len(lines_of(folder)) >= before
    assert f"127.0.0.1:{port}: cannot listen: " in printed
    assert "Traceback" not in printed


@pytest.mark.xdist_group("clusters")
def test_a_tournament_on_workers_shows_its_progress_and_complete_blocks(tmp_path: Path) -> None:
    folder = cup(tmp_path / "cup", THREE, "[schedule]\nrounds = 10")
    with started("run", folder, "--workers", "2", "--web", "0") as process:
        pages = Pages.at(read(process, "live_pages")["url"])
        with collecting(pages, check=Completeness(folder)) as stream:
            stream.wait_until(
                lambda: any(state.get("blocks_running") for state in stream.all_of("tournament"))
            )
            assert read(process, "ended")["finished"]
            stream.end()
        assert process.wait(SECONDS) == 0
    assert stream.all_of("tournament")[-1]["played"] == 60
    assert stream.all_of("counts")[-1]["ended"] == 60
    expect_final_figures(folder, stream.all_of("ranking")[-1])


@pytest.mark.parametrize(
    ("words", "expected"),
    [(["--web", "x"], "--web: expected"), (["--web", "0,http://x"], "--web: expected a name")],
)
def test_what_cannot_be_meant_is_refused_before_anything_begins(
    tmp_path: Path, words: Sequence[str], expected: str
) -> None:
    folder = cup(tmp_path / "cup", TWO)
    done = stellwerk("tournament", "run", str(folder), *words)
    assert (done.returncode, lines_of(folder)) == (2, [])
    assert expected in done.stderr
