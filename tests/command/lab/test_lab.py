"""Matches from Python: the same asks and moves as over the wire, and clear errors."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import stellwerk
from stellwerk_bots.beginner import Beginner, new_beginner
from stellwerk_bots.bot import Answer, IndexAnswer
from stellwerk_bots.client import Client
from stellwerk_bots.messages import Ask, EventMessage, Start
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.replays.reader import lines_of
from stellwerk_engine.replays.verify import verify
from tests.command.program import REPOSITORY, SECONDS, environment
from tests.command.program import stellwerk as program
from tests.command.shared.test_start import WITHOUT_UNIX

BOT: Final = '''\
"""A bot that writes down what it is asked and what happens, and plays here or over TCP."""
import json, os, random

from stellwerk_bots.client import Client
from stellwerk_bots.connection import default_address

class Noting:
    def __init__(self, start, seed_text):
        self.asks = f"{os.environ['ASKS']}/{start['match']}-{start['seat']}"
        self.note([{key: start[key] for key in start if key != "commitment"}, seed_text])  # has a secret salt
        self.seed_text = seed_text

    def note(self, message):
        with open(self.asks, "a") as file:
            print(json.dumps(message), file=file)

    def event(self, message):
        self.note(message)

    def answer(self, ask):
        self.note(ask)
        index = random.Random(f"{self.seed_text}/{ask['ask']}").randrange(len(ask["legal"]))
        note = f"number {index}"
        return {"move": ask["legal"][index], "note": note} if index % 2 else {"index": index, "note": note}

if __name__ == "__main__":
    Client(default_address(), os.environ["STELLWERK_NAME"], Noting, token=os.environ["STELLWERK_TOKEN"],
           seed_text=os.environ["STELLWERK_BOT_SEED"], events=True).run()
'''


class First:
    """A player that plays every match of its bot, and needs no `start`."""

    def __init__(self) -> None:
        self.ask_count = 0

    def answer(self, ask: Ask) -> Answer:
        self.ask_count += 1
        return {"index": 0}


class Answering:
    """A player that always gives the same answer."""

    def __init__(self, answer: Any) -> None:  # Any: what a careless author may return
        self._answer = answer

    def answer(self, ask: Ask) -> Answer:
        ask["legal"].clear()  # its own copy: that changes nothing
        return self._answer  # type: ignore[no-any-return]  # as above


class TrainsGoneError(Exception):
    pass


class Deaf:
    def event(self, message: EventMessage) -> None:
        raise TrainsGoneError("no ears")

    def answer(self, ask: Ask) -> Answer:
        return {"index": 0}


class Breaking:
    def answer(self, ask: Ask) -> Answer:
        raise TrainsGoneError("no steam")


# -- here and over TCP -------------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["usa", "team_asia"])
def test_the_same_class_gets_the_same_asks_and_events_and_makes_the_same_moves_over_tcp(
    game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = tmp_path / "noting.py"
    bot.write_text(BOT)
    for place in ("here", "wire"):
        (tmp_path / place).mkdir()
    spec = f"name=Noting cmd={shlex.quote(shlex.join([sys.executable, str(bot)]))} env.ASKS={tmp_path}/wire"
    words = ["play", game, "--seed", "42", "--games", "2", "--replays", str(tmp_path / "wire-replays")]
    done = program(*words, "--bot", "greedy", "--bot", spec, "--json")
    assert done.returncode == 0, done.stderr
    wire = json.loads(done.stdout)["matches"]

    monkeypatch.setenv("ASKS", str(tmp_path / "here"))
    noting: dict[str, Any] = {"__name__": "noting"}
    exec(compile(BOT, "noting.py", "exec"), noting)
    rows = stellwerk.run_matches(
        ["greedy", noting["Noting"]], game, matches=2, seed="42", replays=tmp_path / "here-replays"
    )

    seats = [seat for match in wire for seat in match["seats"]]
    assert [(row["bot"], row["points"], row["rank"], row["asks"]) for row in rows] == [
        (seat["bot"], seat["points"], seat["rank"], seat["asks"]) for seat in seats
    ]
    names = sorted(file.name for file in (tmp_path / "here").iterdir())
    assert len(names) == 2 * len(seats) // 4
    for name in names:
        noted = (tmp_path / "here" / name).read_bytes()
        assert noted == (tmp_path / "wire" / name).read_bytes()
        assert noted.count(b'"type": "ask"') > 20
        assert noted.count(b'"type": "game_ended"') == 1
    replays = sorted(file.name for file in (tmp_path / "here-replays").iterdir())
    assert len(replays) == 2
    for replay in replays:
        here, over_tcp = (
            list(unsalted(tmp_path / f"{place}-replays" / replay)) for place in ("here", "wire")
        )
        assert here == over_tcp
        assert any('"note": "number' in line for line in here)


def unsalted(replay: Path) -> Iterator[str]:
    """Return the lines of a replay, without the secret salt and what depends on it."""
    for line in replay.read_text().splitlines():
        record = json.loads(line)
        yield json.dumps({key: record[key] for key in record.keys() - {"hash", "commitment", "salt"}})


def test_a_match_is_repeated_byte_for_byte_and_its_replay_is_true(tmp_path: Path) -> None:
    files: list[Path] = []
    for folder in ("once", "again"):
        rows = stellwerk.run_match(["planner", "random"], "europe", seed="x", replays=tmp_path / folder)
        files.append(Path(rows[0]["replay"]))
    assert files[0].read_bytes() == files[1].read_bytes()
    with files[0].open("rb") as file:
        assert verify(lines_of(file)).fault is None


def test_a_player_can_be_given_to_the_client_as_it_is() -> None:
    client = Client("tcp://127.0.0.1:1", "first", First(), None)
    with pytest.raises(TypeError, match="expected a player"):
        Client("tcp://127.0.0.1:1", "first", 3, None)  # type: ignore[arg-type]  # that is the point
    assert client is not None


# -- who plays what ----------------------------------------------------------------------------------


@pytest.mark.parametrize("game", RULE_SETS)
def test_every_game_gives_plain_records_for_each_seat(game: str) -> None:
    rows = stellwerk.run_match(["greedy", new_beginner], game, seed="records")
    assert [row["seat"] for row in rows] == list(range(rows[0]["players"]))
    assert {row["bot"] for row in rows} == {"greedy", "new_beginner"}
    for row in rows:
        assert row["points"] == row["route_points"] + row["ticket_points"] + row["bonus_points"]
        assert row["ticket_points"] == row["completed_points"] - row["failed_points"]
        assert row["bonus_points"] == sum(row["bonuses"].values())
        assert row["asks"] > 0
        assert row["used_ms"] >= row["slowest_ms"] > 0
        assert {type(value) for value in row.values()} <= {str, int, float, dict}
        assert json.loads(json.dumps(row)) == row
    assert len({tuple(row) for row in rows}) == 1  # the same columns everywhere, for a table


def test_deals_are_played_once_in_each_order_of_the_seats() -> None:
    rows = stellwerk.run_matches([Beginner, "greedy", First()], matches=6, seed="rotated")
    assert [(row["number"], row["block"], row["seed"]) for row in rows[::3]] == [
        (number, number // 3, f"rotated/{number // 3}") for number in range(6)
    ]
    for block in (rows[:9], rows[9:]):
        assert {(row["bot"], row["seat"]) for row in block} == {
            (bot, seat) for bot in ("Beginner", "greedy", "First") for seat in range(3)
        }


def test_processes_play_the_same_matches() -> None:
    bots: list[stellwerk.Bot] = ["random", Beginner]
    here = stellwerk.run_matches(bots, matches=4, seed="jobs", names=["one", "two"])
    beside = stellwerk.run_matches(bots, matches=4, seed="jobs", names=["one", "two"], jobs=2)
    assert [timeless(row) for row in here] == [timeless(row) for row in beside]
    assert {row["bot"] for row in here} == {"one", "two"}


def timeless(row: stellwerk.Row) -> dict[str, object]:
    return {key: value for key, value in row.items() if key not in ("used_ms", "slowest_ms")}


def test_a_player_plays_all_matches_of_its_bot() -> None:
    first = First()
    rows = stellwerk.run_matches([first, "random"], "card_game", matches=2, seed="1")
    assert first.ask_count == sum(row["asks"] for row in rows if row["bot"] == "First")


@pytest.mark.parametrize(
    ("bots", "options", "expected"),
    [
        (["gredy", "random"], {}, r'bots\[0\]: there is no bot "gredy"; did you mean "greedy"\?'),
        (["greedy", 3], {}, r"bots\[1\]: expected a player .* not 3, nor the name of a built-in bot"),
        ("greedy", {}, "expected a list of bots"),
        (["greedy"], {}, "usa takes 2 or 3 or 4 or 5 bots; bots has 1 bot"),
        (["greedy", "random"], {"game": "use"}, 'there is no game "use"; did you mean "usa"'),
        (["greedy", "random"], {"options": ["open_stacks"]}, "open_stacks"),
        (["greedy", "random"], {"board": "no/such.json"}, "no/such.json"),
        (["greedy", "random"], {"names": ["one"]}, "names: expected 2"),
        (["greedy", "random"], {"names": ["a", "A"]}, "names: expected different names"),
        (["greedy", "random"], {"names": ["a", "b c"]}, "names: expected 1 to 32 of A-Z a-z 0-9"),
        (["greedy", "random"], {"on_error": "ignore"}, 'on_error: expected "raise" or "play_on"'),
        (["greedy", "random"], {"seed": ""}, "seed"),
        (["greedy", "random"], {"replays": "/dev/null/x"}, "cannot be written"),
    ],
)
def test_what_cannot_be_played_is_refused_with_its_reason(
    bots: Any,  # Any: that it has the wrong type is the point
    options: dict[str, Any],
    expected: str,
) -> None:
    with pytest.raises((ValueError, TypeError), match=expected):
        stellwerk.run_match(bots, **options)


def test_what_no_process_can_be_given_is_refused() -> None:
    def local(start: Start, seed_text: str) -> First:
        return First()

    with pytest.raises(ValueError, match=r"bots\[1\]: cannot be sent to another process .* jobs=1"):
        stellwerk.run_matches(["random", local], matches=2, jobs=2)
    with pytest.raises(ValueError, match="at least one of each"):
        stellwerk.run_matches(["random", "random"], matches=0)


# -- what a player does wrong ------------------------------------------------------------------------


def test_an_exception_of_a_player_comes_out_with_its_own_traceback() -> None:
    with pytest.raises(TrainsGoneError, match="no steam") as raised:
        stellwerk.run_match([Breaking(), "random"], seed="1")
    places = [entry.name for entry in raised.traceback]
    assert places[-1] == "answer"
    assert len(places) < 8  # what is between the author's code and the author's call


def test_an_exception_about_an_event_is_one_of_the_player() -> None:
    with pytest.raises(TrainsGoneError, match="no ears"):
        stellwerk.run_match([Deaf(), "random"], seed="1")
    row = stellwerk.run_match([Deaf(), "random"], seed="1", on_error="play_on")[0]
    assert row["raised"] > 1
    assert row["problem"] == "TrainsGoneError: no ears"


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"index": 999}, "game.not_available at /index: expected an index below 4"),
        ({"move": {"type": "draw_card"}}, "game.wrong_move at /move/type: expected keep_tickets"),
        ({"move": {"type": "fly"}}, "expected an answer that fits the protocol: Invalid value 'fly'"),
        ({"index": 0, "move": {"type": "draw_card"}}, "expected exactly one of index and move"),
        ({"index": 0, "why": "x"}, "Object contains unknown field `why`"),
        ({}, "expected exactly one of index and move"),
        (None, 'expected {"index": N}'),
        ({"index": object()}, "expected an answer that fits the protocol"),
    ],
)
def test_an_illegal_answer_says_who_what_and_why(answer: object, problem: str) -> None:
    with pytest.raises(stellwerk.IllegalAnswerError) as raised:
        stellwerk.run_match(["random", Answering(answer)], seed="1", names=["other", "mine"])
    assert str(raised.value).startswith("mine in seat 1, ask 1 in turn 0: ")
    assert problem in str(raised.value)
    assert raised.value.ask["legal"]
    assert raised.value.answer is answer


class Slow:
    """A player that never answers its third ask by itself."""

    def answer(self, ask: Ask) -> Answer:
        if ask["ask"] == 3:
            threading.Event().wait()
        return {"index": 0}


def test_a_late_answer_is_interrupted_where_the_player_is() -> None:
    with pytest.raises(stellwerk.LateAnswerError) as raised:
        stellwerk.run_match(["random", Slow()], seed="1", names=["other", "mine"], move_s=1)
    assert str(raised.value) == "mine in seat 1, ask 3: the answer took more than 1 s"
    places = [entry.name for entry in raised.traceback]
    assert places.index("answer") < places.index("wait")
    assert isinstance(raised.value, TimeoutError)


def test_a_late_answer_is_replaced_by_the_fallback_and_counted() -> None:
    slow, _ = stellwerk.run_match([Slow(), "random"], seed="1", move_s=0.5, on_error="play_on")
    assert slow["late"] > 0
    assert (slow["raised"], slow["refused"]) == (0, 0)
    assert slow["problem"].endswith(": the answer took more than 0.5 s")


def test_an_answer_outside_of_the_main_thread_is_late_when_it_comes() -> None:
    """Nothing can interrupt it there."""
    hint = threading.Event()

    class Late:
        def answer(self, ask: Ask) -> Answer:
            hint.wait(2 * ask["move_ms"] / 1000)  # the limit is what the ask offers
            assert ask["bank_ms"] == 0
            return {"index": 0}

    def play() -> None:
        with pytest.raises(stellwerk.LateAnswerError, match=r"ask 1: the answer took more than 0\.02 s"):
            stellwerk.run_match([Late(), "random"], seed="1", move_s=0.02)
        hint.set()

    thread = threading.Thread(target=play)
    thread.start()
    thread.join()
    assert hint.is_set()


@pytest.mark.parametrize("move_s", [0, -1, 1e9, float("nan")])
def test_a_limit_that_cannot_be_is_refused(move_s: float) -> None:
    with pytest.raises(ValueError, match="move_s: expected seconds above 0, up to 86400, found "):
        stellwerk.run_match(["random", "random"], move_s=move_s)


def test_matches_can_go_on_in_spite_of_errors_and_their_records_count_them() -> None:
    refused, raised = (
        stellwerk.run_match([bot, "beginner"], seed="1", on_error="play_on")[0]
        for bot in (Answering({"index": 999}), Breaking())
    )
    assert (refused["refused"], refused["raised"]) == (refused["asks"], 0)
    assert "expected an index below" in refused["problem"]
    assert (raised["refused"], raised["raised"]) == (0, raised["asks"])
    assert raised["problem"] == "TrainsGoneError: no steam"
    first = stellwerk.run_match([First(), "beginner"], seed="1")[0]
    assert refused["points"] == first["points"]  # instead of a refused answer comes the first listed move


# -- what it costs and needs -------------------------------------------------------------------------


def test_importing_stellwerk_imports_nothing_else() -> None:
    code = "import sys, stellwerk; print(*(name for name in sys.modules if name.startswith('stellwerk')))"
    done = python("-c", code)
    assert done.stdout.split() == ["stellwerk"]
    assert set(stellwerk.__all__) <= set(dir(stellwerk))
    with pytest.raises(AttributeError, match="no attribute 'run_mach'"):
        stellwerk.run_mach  # noqa: B018  that is the point


def test_a_match_needs_no_unix(tmp_path: Path) -> None:
    (tmp_path / "laboratory.py").write_text(
        "import stellwerk\nprint(stellwerk.run_match(['greedy', 'random'], seed='1')[0]['bot'])\n"
    )
    done = python(WITHOUT_UNIX, "laboratory", folder=tmp_path)
    assert (done.stdout, done.stderr) == ("greedy\n", "")


def python(*words: str, folder: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    roots = f"{environment()['PYTHONPATH']}:{REPOSITORY}/bots/python:{folder}"
    return subprocess.run(
        [sys.executable, *words],
        env=environment(PYTHONPATH=roots),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


# -- tournaments -------------------------------------------------------------------------------------


def test_a_tournament_is_a_row_for_each_seat_of_each_match(tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    program("tournament", "init", str(folder), "--game", "usa", "--bot", "greedy", "--bot", "random")
    program("tournament", "run", str(folder), "--rounds", "2")
    rows = stellwerk.tournament_rows(folder)
    lines = [json.loads(line) for line in (folder / "matches.jsonl").read_text().splitlines()]
    assert [row["points"] for row in rows] == [seat["points"] for line in lines for seat in line["bots"]]
    for row in rows:
        parts = row["route_points"] + row["ticket_points"] + row["bonus_points"]
        assert row["points"] == parts
        assert Path(row["replay"]).is_file()
    scores = [row["score"] for row in rows if row["bot"] == "greedy"]
    assert len(scores) == 4
    assert len({type(value) for row in rows for value in row.values()} - {str, int, float, bool, dict}) == 0


def test_a_folder_without_a_tournament_and_a_damaged_one_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        stellwerk.tournament_rows(tmp_path)
    (tmp_path / "matches.jsonl").write_text("{}\n")
    with pytest.raises(ValueError, match=r"matches\.jsonl: line 1: no record of a match"):
        stellwerk.tournament_rows(tmp_path)


# -- positions ---------------------------------------------------------------------------------------


def test_a_recorded_match_is_a_list_of_positions(tmp_path: Path) -> None:
    """One after the deal, and one after each move; a seat's are those that its player was asked about."""
    asked: list[Ask] = []
    started: list[Start] = []

    class Watched(Beginner):
        def __init__(self, start: Start, seed_text: str) -> None:
            super().__init__(start, seed_text)
            started.append(start)

        def answer(self, ask: Ask) -> IndexAnswer:
            asked.append(ask)
            return super().answer(ask)

    [row, _] = stellwerk.run_match([Watched, "random"], seed="a", replays=tmp_path)
    positions = stellwerk.positions(row["replay"], 0)
    lines = Path(row["replay"]).read_text().splitlines()
    moves = sum(json.loads(line)["type"] == "move" for line in lines)
    assert len(positions) == 1 + moves
    drawn = {position.svg for position in positions[:12]}
    for ask in asked[:4]:
        assert stellwerk.Position.of_ask(started[0], ask).svg in drawn


def test_what_is_no_replay_has_no_positions(tmp_path: Path) -> None:
    path = tmp_path / "torn.jsonl"
    path.write_text("{}\n")
    with pytest.raises(ValueError, match=r"torn\.jsonl:1: "):
        stellwerk.positions(path)
    with pytest.raises(FileNotFoundError):
        stellwerk.positions(tmp_path / "absent.jsonl")
