"""`stellwerk watch FOLDER`: what is in a folder, found out by looking, and shown when it may be."""

from __future__ import annotations

import json
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from stellwerk.lab.matches import run_matches
from stellwerk_protocol.canonical import unseal
from stellwerk_tournament.store.match_line import FILE as LINES
from stellwerk_tournament.store.match_line import line_of
from tests.command.program import refused, started, stellwerk
from tests.tournament.report.report_tournaments import line, settings_for
from tests.web.pages import Collected, Pages, collecting

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def replays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of replays: two matches of one deal, revealed when both were over."""
    folder = tmp_path_factory.mktemp("played")
    run_matches(["random", "greedy"], game="usa", matches=2, seed="s", replays=folder)
    return folder


@contextmanager
def watching(folder: Path) -> Generator[tuple[Pages, Collected]]:
    with started("watch", str(folder), "--listen", "0") as process:
        assert process.stdout is not None
        pages = Pages.at(process.stdout.readline().removeprefix("live pages at ").strip())
        with collecting(pages) as stream:
            yield pages, stream


def kinds(stream: Collected) -> set[str]:
    return {record.data["kind"] for record in stream.records if record.kind == "state"}


def ids(folder: Path) -> set[str]:
    found: set[str] = set()
    for replay in folder.glob("*.jsonl"):
        header = json.loads(replay.read_bytes().splitlines()[0])
        found.add(header.get("match", replay.stem))
    return found


def test_replays_are_listed_ranked_and_shown_with_their_whole_pages(replays: Path) -> None:
    with watching(replays) as (pages, stream):
        stream.wait_until(lambda: stream.heads().keys() == ids(replays))
        stream.wait_until(
            lambda: bool(stream.all_of("ranking")) and bool(stream.all_of("ranking")[-1]["rows"])
        )
        for name, head in stream.heads().items():
            assert head["page"]
            match = pages.state(f"/stream/match/{name}")
            while match["end"] is None:
                match = pages.state(f"/stream/match/{name}")
            assert [player["name"] for player in head["players"]] == [
                player["name"] for player in match["start"]["players"]
            ]
            assert match["end"]["result"]["ranks"] == head["ranks"]
            status, page = pages.get(f"/replay/{name}")
            assert status == 200
            assert b'"replay":' in page
        assert pages.get("/replay/nobody")[0] == 404
        assert pages.data("/data/bot/greedy")["row"]["matches"] == 2
        assert pages.data("/data/pair/greedy/random")["row"]["matches"] == 2
    assert kinds(stream) == {"folder"}


def test_a_replay_without_its_seed_or_its_end_is_on_no_page_until_it_has_it(
    replays: Path, tmp_path: Path
) -> None:
    replay, other = sorted(replays.glob("*.jsonl"))
    lines = replay.read_bytes().splitlines(keepends=True)
    [reveal] = [number for number, text in enumerate(lines) if b'"type":"reveal"' in text]
    assert reveal == len(lines) - 1, "a deal that was played twice is revealed at the end"
    (tmp_path / "secret.jsonl").write_bytes(b"".join(lines[:-1]))
    (tmp_path / "torn.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    (tmp_path / "noise.jsonl").write_bytes(bytes(range(256)))
    (tmp_path / "empty.jsonl").touch()
    shutil.copy(other, tmp_path)
    [shown] = ids(other.parent) - {json.loads(lines[0])["match"]}
    secret = json.loads(unseal(lines[0])[0])["match"]
    with watching(tmp_path) as (pages, stream):
        stream.wait_until(lambda: bool(stream.heads()))
        stream.wait_until(lambda: bool(stream.all_of("ranking")))
        assert stream.heads().keys() == {shown}
        for path in (f"/match/{secret}", f"/stream/match/{secret}", f"/replay/{secret}", "/replay/secret"):
            assert pages.get(path)[0] == 404
        with open(tmp_path / "secret.jsonl", "ab") as file:
            file.write(lines[-1])
        stream.wait_until(lambda: secret in stream.heads())


def test_a_folder_that_goes_away_and_comes_back_is_shown_again(replays: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(replays, folder / "replays")
    (folder / "running").mkdir()
    with watching(folder) as (_, stream):
        stream.wait_until(lambda: len(stream.heads()) == 2)
        folder.rename(tmp_path / "away")
        stream.wait_until(lambda: stream.records[-1].data.get("connected") is False)
        gone = len(stream.records)
        (tmp_path / "away").rename(folder)
        stream.wait_until(lambda: len(Collected(stream.records[gone:]).heads()) == 2)
    assert kinds(stream) == {"folder"}


# -- a tournament ------------------------------------------------------------------------------------


def lines_of_block(number: int, points: int = 90) -> bytes:
    teams = (("ann", "bea"), ("bea", "ann"))
    return b"".join(line_of(line(number, rotation, teams[rotation], [points, 1])) for rotation in (0, 1))


def blocks(stream: Collected, since: int = 0) -> set[Any]:
    return {head.get("block") for head in Collected(stream.records[since:]).heads().values()}


def test_a_tournament_is_followed_through_torn_lines_and_a_new_beginning(tmp_path: Path) -> None:
    settings_for(tmp_path, ["ann", "bea"], title=HOSTILE)
    (tmp_path / LINES).write_bytes(lines_of_block(0) + lines_of_block(1)[:-30])
    with watching(tmp_path) as (pages, stream):
        stream.wait_until(lambda: bool(stream.all_of("ranking")) and bool(stream.heads()))
        assert blocks(stream) == {"0"}
        with open(tmp_path / LINES, "ab") as file:
            file.write(lines_of_block(1)[-30:])
        stream.wait_until(lambda: blocks(stream) == {"0", "1"})
        (tmp_path / LINES).write_bytes(lines_of_block(7, points=50))
        stream.wait_until(lambda: [r for r in stream.records[1:] if r.kind == "state"] != [])
        anew = next(n for n, record in enumerate(stream.records) if n and record.kind == "state")
        stream.wait_until(lambda: blocks(stream, anew) == {"7"})
        for path in ("/", "/wall", "/bot/ann", "/match/00007-0"):
            assert HOSTILE.encode() not in pages.get(path)[1]
        assert stream.records[0].data["title"] == HOSTILE
    assert kinds(stream) == {"tournament"}


def problems(stream: Collected) -> list[str]:
    return [state.get("problem", "") for state in stream.all_of("tournament")]


def test_a_damaged_tournament_says_so_and_goes_on_when_it_is_mended(tmp_path: Path) -> None:
    settings_for(tmp_path, ["ann", "bea"])
    (tmp_path / LINES).write_bytes(lines_of_block(0) + b"{}\n")
    with watching(tmp_path) as (_, stream):
        stream.wait_until(lambda: any("no record" in problem for problem in problems(stream)))
        assert not any(str(tmp_path) in problem for problem in problems(stream))
        (tmp_path / LINES).write_bytes(lines_of_block(0) + lines_of_block(1))
        stream.wait_until(lambda: blocks(stream) == {"0", "1"})
        stream.wait_until(lambda: problems(stream)[-1] == "")


def test_a_tournament_that_has_not_begun_waits_with_all_its_bots(tmp_path: Path) -> None:
    settings_for(tmp_path, ["ann", "bea"])
    with watching(tmp_path) as (pages, stream):
        stream.wait_until(
            lambda: bool(stream.all_of("ranking")) and bool(stream.all_of("ranking")[-1]["rows"])
        )
        assert {row["bot"] for row in stream.all_of("ranking")[-1]["rows"]} == {"ann", "bea"}
        assert pages.data("/data/bot/ann")["row"]["matches"] == 0
        assert stream.all_of("tournament")[-1]["total"] == 2


# -- what cannot be watched --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("file.txt", "file.txt: is a file: name its folder"),
        ("nowhere", "expected HOST:PORT of a server, or a folder"),
        ("photos", "nothing to show: neither a tournament"),
    ],
)
def test_what_cannot_be_watched_is_refused_in_one_line(tmp_path: Path, name: str, expected: str) -> None:
    (tmp_path / "file.txt").touch()
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "tree.png").touch()
    assert expected in refused("watch", str(tmp_path / name), "--listen", "0")


def test_the_help_names_folders() -> None:
    assert "stellwerk watch cup" in stellwerk("watch", "--help").stdout
