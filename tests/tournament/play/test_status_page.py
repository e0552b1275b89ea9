"""The status page of a running tournament, and what bots and organizers can learn of matches that run."""

from __future__ import annotations

import json
import shlex
import socket
import sys
import urllib.request
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
import trio

from stellwerk.__main__ import main
from stellwerk.tournament.output import running_lines
from stellwerk_processes.bench.levels import Confinement
from stellwerk_processes.started_match import BotMatch, MatchResult
from stellwerk_server.lobby.tokens import hashed, new_token
from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.config.versions import Versions
from stellwerk_tournament.play import status_page
from stellwerk_tournament.play.matches_here import Conditions
from stellwerk_tournament.play.progress import Progress, RunningBlock, RunningMatch
from stellwerk_tournament.play.runner import Surroundings, play_tournament
from stellwerk_tournament.store.store import open_store
from tests.command.program import SECONDS
from tests.command.tournament.test_tournament import cup, lines_of, started, tournament
from tests.tournament.play.fakes import FakeMatches, Witness, settings_with
from tests.tournament.play.test_conduct import Conducted
from tests.tournament.play.test_remote import RANDOM, bot, read, remote, running

Page = dict[str, Any]  # Any: that is how JSON is read

# Plays as `greedy`, and writes all that it reads to a file. With its first and its fifth ask it reads the
# status page, and sends `watch` for each match that any of its like has noted down, its own included, and
# for one that does not exist. Before that it waits until so many matches have been noted down. When all spies
# of a match have done so, it waits until there is a file `go`.
SPY = """
import json, os, socket, sys, time, urllib.request
from pathlib import Path
from stellwerk_bots.players import new_player

diary, matches = Path(sys.argv[1]), int(sys.argv[2])
log = open(diary / f"{os.getpid()}.log", "w", 1, encoding="utf-8")
host, _, port = os.environ["STELLWERK_ADDRESS"].removeprefix("tcp://").rpartition(":")
server = socket.create_connection((host, int(port)))
players, spies = {}, {}

def send(**message):
    server.sendall(json.dumps(message).encode() + b"\\n")

def wait_until(happened):
    until = time.monotonic() + 60
    while not happened() and time.monotonic() < until:
        time.sleep(0.01)

def noted():
    return sorted(path.name for path in diary.glob("match-*"))

def read_page():
    try:
        with urllib.request.urlopen((diary / "url").read_text(), timeout=30) as page:
            print("page", page.read().decode().strip(), file=log)
    except OSError as error:
        print("again", error, file=log)
        return False
    return True

def spy():
    wait_until(read_page)
    for id in (*(name.removeprefix("match-") for name in noted()), "nowhere"):
        for viewer in ("public", "all_hands"):
            print("watch", id, viewer, file=log)
            send(type="watch", match=id, viewer=viewer)

for text in server.makefile(encoding="utf-8", newline="\\n"):
    log.write(f"read {text}")
    message = json.loads(text)
    match message["type"]:
        case "hello":
            name, token = os.environ["STELLWERK_NAME"], os.environ["STELLWERK_TOKEN"]
            send(type="login", protocol=1, name=name, token=token, max_matches=4)
        case "start":
            spies[message["match"]] = sum(player["name"] in ("a", "b") for player in message["players"])
            players[message["match"]] = new_player("greedy")(message, "")
            new = diary / f"new-{message['match']}-{os.getpid()}"  # its opponent notes the same match
            new.write_text(json.dumps(message["players"]))
            new.rename(diary / f"match-{message['match']}")
            send(type="ready", match=message["match"])
        case "ask":
            if message["ask"] == 1:
                wait_until(lambda: (diary / "url").exists() and len(noted()) >= matches)
            if message["ask"] in (1, 5):
                spy()
            if message["ask"] == 5:
                (diary / f"done-{message['match']}-{os.getpid()}").touch()
            if len(list(diary.glob(f"done-{message['match']}-*"))) == spies[message["match"]]:
                wait_until(lambda: (diary / "go").exists())
            answer = players[message["match"]].answer(message)
            send(type="act", match=message["match"], ask=message["ask"], **answer)
        case "bye":
            break
"""
START = 'read {"type":"start"'
CLOCKS = "[clocks]\nset_up_ms = 60000\nmove_ms = 100000"


def spies(folder: Path, names: str, matches: int, process: str) -> list[str]:
    """Return the tables of bots that spy once so many matches have begun. The folder has their diary."""
    folder.mkdir()
    (folder / "spy.py").write_text(SPY)
    command = shlex.join([sys.executable, str(folder / "spy.py"), str(folder), str(matches)])
    return [f'name = "{name}"\ncmd = {json.dumps(command)}\nprocess = "{process}"' for name in names]


def noted(diary: Path) -> dict[str, set[str]]:
    """Return the matches that the spies have noted down, with their players."""
    return {
        path.name.removeprefix("match-"): {player["name"] for player in json.loads(path.read_text())}
        for path in diary.glob("match-*")
    }


def page_at(url: str) -> Page:
    with urllib.request.urlopen(url, timeout=SECONDS) as answer:
        found: Page = json.loads(answer.read())
    return found


@pytest.mark.parametrize("process", ["fresh", "reused"])
def test_a_bot_that_polls_the_page_and_sends_watch_learns_nothing_of_its_block(
    tmp_path: Path, process: str
) -> None:
    """The first matches of two deals run, and each of the four processes knows both ids, as if the bots were
    allowed to share a file. Reused ones are clients of one server."""
    diary = tmp_path / "diary"
    bots = spies(diary, "ab", 2, process)
    folder = cup(tmp_path / "cup", bots, f"concurrency = 2\n{CLOCKS}\n[schedule]\nrounds = 2")
    with started("run", folder, "--status", "0") as run:
        (diary / "new").write_text(read(run, "status_page")["url"])
        (diary / "new").rename(diary / "url")
        until = monotonic() + SECONDS
        while len(spied := [*diary.glob("done-*")]) < 4 and monotonic() < until:
            sleep(0.01)
        ids = noted(diary).keys()
        (diary / "go").touch()
        assert read(run, "ended")["finished"]
    assert {line["match"] for line in lines_of(folder) if line["rotation"] == 0} == ids
    assert len(spied) == 4
    for path in spied:
        log = (diary / f"{path.name.rpartition('-')[2]}.log").read_text()
        first = log[: log.find(START, log.index(START) + 1)]  # a process may play again
        _expect_nothing_learned(first, set(ids))


def _expect_nothing_learned(log: str, ids: set[str]) -> None:
    entries = [entry.partition(" ")[::2] for entry in log.splitlines()]
    messages = [json.loads(text) for kind, text in entries if kind == "read"]
    [own] = [message["match"] for message in messages if message["type"] == "start"]
    assert {message["match"] for message in messages if "match" in message} == {own}
    asked = [tuple(text.split()) for kind, text in entries if kind == "watch"]
    answers = [json.dumps(message) for message in messages if message["type"] == "error"]
    assert len(answers) == len(asked) == 2 * 2 * 3, log
    to_nowhere = {answer for (id, _), answer in zip(asked, answers, strict=True) if id == "nowhere"}
    assert ["protocol.no_such_match" in answer for answer in to_nowhere] == [True]
    others = {answer for (id, _), answer in zip(asked, answers, strict=True) if id not in (own, "nowhere")}
    assert others == to_nowhere
    pages = [text for kind, text in entries if kind == "page"]
    assert len(pages) == 2
    for text in pages:
        assert not [id for id in ids if id in text]
        page = json.loads(text)
        assert (page["running"], page["matches"], page["tournament"]["played"]) == (2, [], 0)
        assert page["tournament"]["blocks"] == [
            {"block": number, "round": number, "game": "usa", "players": ["a", "b"]} for number in range(2)
        ]
        assert {row["matches"] for row in page["tournament"]["rows"]} == {0}


def test_a_match_with_a_deal_of_its_own_can_be_watched_at_once_and_others_not_by_an_organizer(
    tmp_path: Path,
) -> None:
    ann, organizer = new_token(), new_token()
    diary = tmp_path / "diary"
    bots = [remote("ann", ann), *spies(diary, "ab", 2, "reused")]
    head = f'concurrency = 2\ntokens = "tokens.txt"\n{CLOCKS}\n[schedule]\nrounds = 1'
    folder = cup(tmp_path / "cup", bots, head)
    (folder / "tokens.txt").write_text(f"org {hashed(organizer)} organizer\n")
    with started("run", folder, "--listen", "127.0.0.1:0", "--status", "0") as run:
        url = read(run, "status_page")["url"]
        address = read(run, "listening")["address"]
        with running(*bot("random", "ann", ann, f"tcp://{address}")):
            began = read(run, "match_began")
            (diary / "new").write_text(url)
            (diary / "new").rename(diary / "url")
            assert "ann" in began["players"]
            with watching(address, organizer) as watch:
                own_deal = watch(began["match"])
                assert (own_deal["type"], own_deal["viewer"]) == ("start", "public")
                page = page_at(url)
                while len(noted(diary)) < 2:
                    page = page_at(url)
                [hidden, *_] = [id for id, players in noted(diary).items() if players == {"a", "b"}]
                for viewer in ("public", "all_hands"):
                    assert watch(hidden, viewer) == watch("nowhere", viewer)
            [shown] = page["matches"]
            assert {key: shown[key] for key in ("match", "block", "round", "game")} == {
                key: began[key] for key in ("match", "block", "round", "game")
            }
            assert {*shown["players"]} == {*began["players"]}
            assert shown["turn"] >= 0
            (diary / "go").touch()
            ended = read(run, "match_ended")
            while ended.get("match") != began["match"]:
                ended = read(run, "match_ended")
            assert (ended["block"], ended["rotation"]) == (began["block"], began["rotation"])
            blocks = [read(run, "block_ended") for _ in range(2)]
            assert read(run, "ended")["finished"]
    ids = [id for block in blocks for id in block["matches"]]
    assert {line["match"] for line in lines_of(folder)} > {*ids}


@contextmanager
def watching(address: str, token: str) -> Generator[Callable[..., Page]]:
    """Log in. The value sends `watch`, and returns the first answer."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=SECONDS) as sock:
        lines = sock.makefile(encoding="utf-8", newline="\n")

        def send(**message: object) -> None:
            sock.sendall(json.dumps(message).encode() + b"\n")

        def watch(match: str, viewer: str = "public") -> Page:
            send(type="watch", match=match, viewer=viewer)
            while (message := json.loads(lines.readline()))["type"] not in ("start", "error"):
                pass
            answer: Page = message
            return answer

        send(type="login", protocol=1, name="org", token=token)
        assert [json.loads(lines.readline())["type"] for _ in range(2)] == ["hello", "welcome"]
        yield watch


# -- the page ----------------------------------------------------------------------------------------


def pages_of(settings: Settings, folder: Path, matches: FakeMatches) -> list[Page]:
    """Play a tournament, and return what its page shows while each match runs."""
    witness = Witness()
    pages: list[Page] = []

    async def play(bot_match: BotMatch, confinement: Confinement) -> MatchResult:
        pages.append(await trio.to_thread.run_sync(page_at, witness.pages[0]))
        return await matches(bot_match, confinement)

    around = Surroundings(status_at=("127.0.0.1", 0))
    with open_store(folder) as opened:
        conditions = Conditions(play, Versions("test"))
        trio.run(play_tournament, settings, opened, witness, conditions, "s", around)
    return pages


def test_the_page_shows_what_has_been_played_and_which_blocks_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status_page, "FRESH_SECONDS", 0.0)
    head = 'title = "Cup"\nconcurrency = 1\n[schedule]\nrounds = 2'
    settings = settings_with(tmp_path, "ab", head=head)
    pages = pages_of(settings, tmp_path, FakeMatches(seconds=0))
    assert [page["tournament"]["played"] for page in pages] == [0, 1, 2, 3]
    assert [page["tournament"]["blocks"][0]["block"] for page in pages] == [0, 0, 1, 1]
    last = pages[-1]
    assert (last["server"], last["running"], last["matches"]) == ("stellwerk test", 1, [])
    shown = last["tournament"]
    assert (shown["title"], shown["total"], shown["void_blocks"], shown["missing"]) == ("Cup", 4, 0, [])
    assert shown["matches_per_minute"] > 0
    assert shown["seconds_left"] >= 0
    assert [(row["bot"], row["matches"], row["score"]) for row in shown["rows"]] == [("b", 2, 1), ("a", 2, 0)]


def test_the_page_does_not_show_opponents_that_bots_must_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status_page, "FRESH_SECONDS", 0.0)
    settings = settings_with(
        tmp_path, "abcd", head="anonymous = true\nconcurrency = 2\n[schedule]\nrounds = 1"
    )
    for page in pages_of(settings, tmp_path, FakeMatches(seconds=0)):
        assert page["tournament"]["blocks"] == []
        assert page["tournament"]["blocks_running"] >= 1


def test_the_page_shows_who_is_suspended_and_what_was_called_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status_page, "FRESH_SECONDS", 0.0)
    head = "concurrency = 1\n[schedule]\nrounds = 1\n[conduct]\nsuspend_after = 2"
    settings = settings_with(tmp_path, ("ann", "bea", "cat", "dot"), head=head)
    pages = pages_of(settings, tmp_path, Conducted(seconds=0))
    first, last = pages[0]["tournament"], pages[-1]["tournament"]
    assert (first["suspended"], first["called_off_blocks"]) == ([], 0)
    assert [(each["bot"], each["forfeits"]) for each in last["suspended"]] == [("cat", 2)]
    assert last["called_off_blocks"] == 2
    assert [row["bot"] for row in last["rows"] if row.get("out") == "suspended"] == ["cat"]
    assert last["rows"][-1]["bot"] == "cat"


def test_who_asks_again_and_again_gets_the_same_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_page, "FRESH_SECONDS", 1000.0)
    pages = pages_of(
        settings_with(tmp_path, "ab", head="concurrency = 1\n[schedule]\nrounds = 1"),
        tmp_path,
        FakeMatches(seconds=0),
    )
    assert len(pages) == 2
    assert pages[0] == pages[1]


def test_a_page_that_cannot_be_shown_stops_the_tournament_before_its_first_match(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = cup(tmp_path / "cup", [RANDOM, 'built_in = "greedy"'])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["tournament", "run", str(folder), "--status", str(port)]) == 4
    assert f"127.0.0.1:{port}: cannot listen: " in capfd.readouterr().err
    assert lines_of(folder) == []
    assert main(["tournament", "run", str(folder), "--status", "here"]) == 2
    assert "--status: expected [HOST:]PORT" in capfd.readouterr().err


def test_the_command_that_resumes_shows_the_page_again(tmp_path: Path) -> None:
    folder = cup(tmp_path / "cup", [RANDOM, 'built_in = "greedy"'], "[schedule]\nrounds = 1")
    text = tournament("run", folder, "--progress", "jsonl", "--status", "127.0.0.1:0")
    first, *_, last = map(json.loads, text.splitlines())
    assert first["type"] == "status_page"
    assert last["resume"].endswith("--progress=jsonl --status=127.0.0.1:0")


def test_a_table_names_what_runs_as_far_as_there_is_room() -> None:
    matches = tuple(RunningMatch(f"m{number}", number, 0, 1, "usa", ("ann", "bea")) for number in range(3))
    blocks = (RunningBlock(9, 0, "europe", ("bea", "cleo")),)
    progress = Progress(0, 4, (), matches=matches, blocks=blocks)
    assert running_lines(progress, 9) == [
        "match m0, block 0, usa: ann, bea",
        "match m1, block 1, usa: ann, bea",
        "match m2, block 2, usa: ann, bea",
        "block 9, europe: bea, cleo",
    ]
    assert len(running_lines(progress, 2)) == 2
    assert running_lines(progress, -1) == []
