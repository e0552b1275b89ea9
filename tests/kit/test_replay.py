"""`stellwerk kit replay`: a bot gets what the recorded seat got, and its own answers change nothing."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stellwerk.__main__ import main
from stellwerk_bots.players import new_player
from stellwerk_engine import engine
from stellwerk_engine.core.dice import Dice
from stellwerk_engine.core.state import Move, Seat, State
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import view
from stellwerk_engine.replays.reader import read_replay
from stellwerk_engine.replays.writer import header_of
from stellwerk_protocol.replays import MoveMade, SetUp
from tests.bots.table import ask_for, move_of, start_for
from tests.engine.recordings import SEED, edited, game_for, mixed, record
from tests.kit.doctor.bots import CrashesAtStart, IndexTooHigh
from tests.kit.doctor.examining import command

GREEDY = (sys.executable, "-m", "stellwerk_bots", "greedy")
VARIANTS = {rules.id: min(rules.seat_counts) for rules in RULE_SETS.values()}

LISTENER = """
import json, os, sys
from pathlib import Path

def say(**message):
    sys.stdout.write(json.dumps(message) + "\\n")
    sys.stdout.flush()

with open(sys.argv[1], "w", encoding="utf-8") as heard:
    for line in sys.stdin:
        heard.write(line)
        got = json.loads(line)
        if got["type"] == "hello":
            say(type="login", protocol=1, name="ear", token=os.environ["STELLWERK_TOKEN"])
        if got["type"] == "start":
            say(type="ready", match=got["match"])
        if got["type"] == "ask":
            say(type="act", match=got["match"], ask=got["ask"], index=0)
        if got["type"] == "bye":
            break
"""


@cache
def greedy_game(game_id: str) -> tuple[bytes, ...]:
    """Return a game in which `greedy` has every seat."""
    game = game_for(game_id, VARIANTS[game_id])
    players = [new_player("greedy")(start_for(game, seat), "") for seat in range(game.seat_count)]

    def choose(state: State, seat: Seat, moves: list[Move]) -> Move:
        return move_of(state, seat, players[seat].answer(ask_for(state, seat, 1)))

    names = ["greedy", *(f"greedy-{seat}" for seat in range(2, game.seat_count + 1))]
    return tuple(record(game, choose, header=header_of(game, names, match="m-1")))


def saved(folder: Path, lines: Sequence[bytes]) -> str:
    file = folder / "game.jsonl"
    file.write_bytes(b"".join(lines))
    return str(file)


def replayed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:  # Any: JSON
    """Return the report of `--json`."""
    assert main(["kit", "replay", "--json", *words]) == code
    return json.loads(capsys.readouterr().out)


def plain(value: object) -> Any:
    """Return a record as it comes over the wire."""
    return json.loads(msgspec.json.encode(value))


def refused(capsys: pytest.CaptureFixture[str], *words: str, code: int = 2) -> str:
    assert main(["kit", "replay", *words]) == code
    output = capsys.readouterr()
    assert output.err.count("\n") == 1
    return output.err


# -- as recorded -------------------------------------------------------------------------------------


@pytest.mark.parametrize("game_id", VARIANTS)
def test_a_bot_finds_itself_again(game_id: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same program played the last seat, so it makes the same moves at every decision."""
    seat = VARIANTS[game_id] - 1
    transport = "stdio" if game_id == "usa" else "tcp"
    file = saved(tmp_path, greedy_game(game_id))
    report = replayed(capsys, file, "--seat", str(seat), "--transport", transport, "--", *GREEDY)
    own = [
        line for line in read_replay(greedy_game(game_id)) if isinstance(line, MoveMade) and line.seat == seat
    ]
    assert (report["game"], report["seat"], report["passed"]) == (game_id, seat, True)
    assert (report["as_recorded"], report["otherwise"]) == (len(own), 0)
    assert [each["recorded"] for each in report["decisions"]] == [plain(line.move) for line in own]
    assert [each["ask"] for each in report["decisions"]] == list(range(1, len(own) + 1))


def test_the_bot_hears_what_the_seat_heard_whatever_it_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Events, asks and views; and a default with the recorded move where it answers differently."""
    game = game_for("usa", 3)
    lines = record(game, mixed("heard"), late_seats=(2,))
    program, heard = tmp_path / "ear.py", tmp_path / "heard.jsonl"
    program.write_text(LISTENER)
    bot = [sys.executable, str(program), str(heard)]
    report = replayed(capsys, saved(tmp_path, lines), "--seat", "1", "--transport", "stdio", "--", *bot)
    messages = [json.loads(line) for line in heard.read_text("utf-8").splitlines()]

    recorded = list(read_replay(lines))
    events = [event for line in recorded if isinstance(line, SetUp | MoveMade) for event in line.events]
    assert [message["event"] for message in messages if message["type"] == "event"] == [
        plain(redact(event, game, 1)) for event in events
    ]
    assert [message["number"] for message in messages if message["type"] == "event"] == list(
        range(1, len(events) + 1)
    )

    state = engine.new_game(game, Dice(SEED))
    views, first_listed, moves = list[Any](), list[Any](), list[Any]()
    for line in recorded:
        if isinstance(line, MoveMade):
            if line.seat == 1:
                moves.append(plain(line.move))
                views.append(plain(view(state, 1)))
                first_listed.append(plain(engine.legal(state, 1)[0].wire))
            engine.play(state, line.seat, line.move)
    asks = [message for message in messages if message["type"] == "ask"]
    assert [ask["view"] for ask in asks] == views

    differing = [number for number, move in enumerate(moves) if move != first_listed[number]]
    assert 0 < len(differing) < len(moves)
    defaults = {message["ask"]: message["move"] for message in messages if message["type"] == "default"}
    assert defaults == {number + 1: moves[number] for number in differing}
    stale = [message["ask"] for message in messages if message["type"] == "error"]
    oks = [message["ask"] for message in messages if message["type"] == "ok"]
    assert sorted(stale + oks) == list(range(1, len(moves) + 1))
    assert stale == list(defaults)
    assert [message["type"] for message in messages[-2:]] == ["end", "bye"]
    assert messages[-2]["result"] == json.loads(lines[-1])["result"]

    assert (report["passed"], report["otherwise"]) == (True, len(differing))
    own_moves = {each["ask"]: each["made"] for each in report["decisions"] if "made" in each}
    assert own_moves == {number + 1: first_listed[number] for number in differing}


def test_decisions_are_printed_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = saved(tmp_path, record(game_for("card_game", 2), mixed("people"), late_seats=(0,)))
    assert main(["kit", "replay", file, "--seat", "0", "--", *GREEDY]) == 0
    output = capsys.readouterr().out.splitlines()
    assert any("  same      {" in line for line in output)
    assert any("  recorded  {" in line and line.endswith("(by the fallback)") for line in output)
    assert sum("  instead   {" in line for line in output) == int(output[-1].split()[3])
    assert output[-1].endswith("otherwise")


# -- an answer that is not legal ---------------------------------------------------------------------


def test_an_answer_that_is_not_legal_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = saved(tmp_path, greedy_game("usa"))
    report = replayed(capsys, file, "--seat", "0", "--", *command(IndexTooHigh), code=1)
    assert report["passed"] is False
    assert report["failure"]["expected"] == "an act for ask 1 (usa, keep_tickets) that is legal"
    assert main(["kit", "replay", file, "--seat", "0", "--", *command(CrashesAtStart)]) == 1
    output = capsys.readouterr().out
    assert "FAIL" in output
    assert "no such file: weights.bin" in output


# -- playing on --------------------------------------------------------------------------------------


def test_the_same_bots_play_on_to_the_recorded_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From decision 10 of the bot on, against those that the replay names."""
    lines = greedy_game("usa")
    report = replayed(capsys, saved(tmp_path, lines), "--seat", "1", "--from", "10", "--", *GREEDY)
    assert report["result"] == json.loads(lines[-1])["result"]
    assert (report["as_recorded"], report["otherwise"]) == (9, 0)
    own = [each for each in report["decisions"] if "recorded" not in each]
    assert [each["ask"] for each in own] == list(range(10, 10 + len(own)))
    assert len(own) > 10


def test_another_bot_plays_on_otherwise_against_those_that_are_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Including partners: in Team Asia all three other seats are played."""
    file = saved(tmp_path, greedy_game("team_asia"))
    given = ["--opponent", "random", "--from", "20"]
    assert main(["kit", "replay", file, "--seat", "0", *given, "--", *GREEDY]) == 0
    *decisions, tally, result = capsys.readouterr().out.splitlines()
    assert tally.startswith("19 as recorded, 0 otherwise, ")
    assert f"{len(decisions) - 19} on its own" in tally
    assert result.startswith("result: 1. seat ")


def test_a_bot_in_another_seat_that_fails_is_not_the_bots_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = saved(tmp_path, greedy_game("card_game"))
    opponent = f"cmd={shlex.quote(shlex.join(command(IndexTooHigh)))}"
    words = ["--seat", "0", "--from", "1", "--opponent", opponent]
    assert "the bot in seat 1 failed: expected an act" in refused(capsys, file, *words, "--", *GREEDY, code=4)


# -- what cannot be replayed -------------------------------------------------------------------------


def test_a_wrong_replay_is_reported_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def other_seat(line: Any) -> None:
        line["seat"] = 1 - line["seat"]

    file = saved(tmp_path, edited(greedy_game("card_game"), 9, other_seat))
    assert refused(capsys, file, "--seat", "0", "--", "true", code=1).startswith(f"stellwerk: {file}:9: seat")
    file = saved(tmp_path, greedy_game("card_game")[:-1])
    assert "breaks off" in refused(capsys, file, "--seat", "0", "--", "true", code=1)
    file = saved(tmp_path, record(game_for("card_game", 2), reveal_at_end=True)[:-1])
    assert "has not been revealed" in refused(capsys, file, "--seat", "0", "--", "true", code=1)
    assert "cannot be read" in refused(capsys, str(tmp_path), "--seat", "0", "--", "true", code=1)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--seat", "2"], "--seat: there is no seat 2; the replay has the seats 0 to 1"),
        (["--seat", "0", "--from", "9999"], "--from: seat 0 has only "),
        (["--seat", "0", "--opponent", "random"], "--opponent: only with --from"),
        (["--seat", "0", "--from", "1"], "--opponent: who plays seat 1 (ernie) from then on?"),
        (["--seat", "0", "--from", "1", *["--opponent", "random"] * 2], "expected one, or one for each of 1"),
        (["--seat", "0", "--from", "1", "--opponent", "grredy"], "--opponent: "),
        (["--seat", "0", "--from", "1", "--opponent", "cmd=x dir=/"], "dir and env are not for opponents"),
        (["--seat", "0"], "no-such-program"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], problem: str
) -> None:
    game = game_for("card_game", 2)
    file = saved(tmp_path, record(game, header=header_of(game, ["bert", "ernie"])))
    assert problem in refused(capsys, file, *words, "--", "no-such-program")
