"""A bot that asks a language model. The models here are scripted: no key, no network but loopback."""

from __future__ import annotations

import json
import shlex
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest

import stellwerk
from stellwerk_bots.text.__main__ import main
from stellwerk_bots.text.bot import TextBot, last_object
from stellwerk_bots.text.model import Model, ModelError, address_model, command_model
from stellwerk_bots.text.prompt import Moves, prompt_hash
from stellwerk_engine.games.shipped import RULE_SETS
from tests.command.program import stellwerk as program

FIRST: Final = 'I think so.\n{"index": 0}'
DRAW: Final = '{"move": {"type": "draw_card"}}'


class Scripted:
    """A model with these answers to its first prompts, and then always the last of them. An exception among
    them is raised."""

    def __init__(self, *answers: str | Exception) -> None:
        self.prompts: list[str] = []
        self._answers = answers

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        answer = self._answers[min(len(self.prompts), len(self._answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer


def played(model: Model, game: str = "usa", moves: Moves = "shown", retries: int = 2) -> stellwerk.Row:
    bot = TextBot(model, name="scripted", moves=moves, retries=retries)
    row = stellwerk.run_match([bot, "beginner"], game, seed="text", names=["text", "other"])[0]
    assert row["refused"] == row["raised"] == 0
    return row


# -- moves -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", RULE_SETS)
def test_a_model_plays_every_game(game: str) -> None:
    model = Scripted(FIRST)
    record = played(model, game)["record"]
    assert 10 < record["asks"] == record["calls"] <= len(model.prompts)  # partners share the model
    assert (record["illegal"], record["failed"], record["by_fallback"], record["problem"]) == (0, 0, 0, "")
    assert (record["model"], record["moves"], record["retries"]) == ("scripted", "shown", 2)


def test_the_prompt_says_in_words_what_the_ask_says() -> None:
    model = Scripted(FIRST)
    played(model)
    first, later = model.prompts[0], model.prompts[20]
    assert "Game: usa. You are seat 0, turn 0." in first
    assert "Offered tickets: " in first
    assert "You are asked for: keep tickets." in first
    assert "0: keep tickets" in first
    assert "Your hand: " in later
    assert "Routes that nobody has, by id, with color and length:\natlanta-charleston gray 2;" in first
    assert "\n0: draw card\n1: take card " in later


def test_hidden_moves_are_not_listed_and_a_move_is_checked_by_the_rules() -> None:
    model = Scripted(FIRST, DRAW)
    record = played(model, moves="hidden")["record"]
    assert not [prompt for prompt in model.prompts if "Legal moves:" in prompt]
    assert '{"type": "keep_tickets", "tickets": ["<tickets ...>"]}' in model.prompts[0]
    assert '{"type": "claim_route", "route": "<route>", "cards": {"<color>": "<number>"}}' in "".join(
        model.prompts
    )
    assert record["asks"] == record["calls"]


def test_moves_are_listed_after_an_error_if_the_setting_says_so() -> None:
    model = Scripted('{"move": {"type": "draw_card"}}', FIRST, DRAW)
    record = played(model, moves="on_error")["record"]
    first, second = model.prompts[:2]
    assert "Legal moves:" not in first
    assert "Legal moves:" in second
    assert "Your last answer was refused: game.wrong_move at /type: expected keep_tickets" in second
    assert (record["illegal"], record["by_fallback"]) == (1, 0)
    assert "Legal moves:" not in model.prompts[2]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("I pass.", "there is no {"),
        ('{"index": 999}', "there is no move 999"),
        ('{"index": true}', "there is no {"),
        ('{"move": {"type": "fly"}}', "Invalid value 'fly'"),
        ('{"type": "draw_three"}', "game.wrong_move"),
        pytest.param("[" * 500 + "{" * 500, "there is no {", id="nested"),
    ],
)
def test_what_is_no_legal_move_is_counted_and_the_fallback_moves(answer: str, problem: str) -> None:
    row = played(Scripted(answer), retries=1)
    record = row["record"]
    assert record["by_fallback"] == record["asks"] == row["asks"]
    assert record["calls"] == record["illegal"] == 2 * record["asks"]
    assert record["illegal_rate"] == 1.0
    assert record["problem"].startswith(problem)


def test_a_model_that_fails_is_asked_again() -> None:
    record = played(Scripted(ModelError("busy"), FIRST))["record"]
    assert (record["failed"], record["by_fallback"], record["problem"]) == (1, 0, "busy")
    assert record["calls"] == record["asks"] + 1


def test_equal_settings_and_prompts_have_equal_hashes() -> None:
    one, again, other = (played(Scripted(answer))["record"] for answer in (FIRST, FIRST, '{"index": 1}'))
    assert one["prompts_hash"] == again["prompts_hash"] != other["prompts_hash"]
    assert one["prompt_hash"] == other["prompt_hash"] == prompt_hash("shown", 2)
    assert len({prompt_hash("shown", 2), prompt_hash("shown", 3), prompt_hash("hidden", 2)}) == 3


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"index": 1} or rather {"index": 2}.', {"index": 2}),
        (
            '```json\n{"move": {"type": "x", "cards": {"red": 1}}}\n```',
            {"move": {"type": "x", "cards": {"red": 1}}},
        ),
        ('{not json} {"index": 3', None),
        ("", None),
    ],
)
def test_the_last_object_counts(text: str, found: dict[str, Any] | None) -> None:  # Any: JSON
    assert last_object(text) == found


# -- models ------------------------------------------------------------------------------------------


def test_a_command_gets_the_prompt_and_prints_the_answer() -> None:
    assert command_model(["cat"], 10)("Grüße") == "Grüße"


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (["sh", "-c", "echo no card >&2; exit 3"], "sh: exit status 3: no card"),
        (["no-such-model"], "no-such-model: No such file"),
        (["sleep", "60"], "sleep: no answer in 0.05 s"),
    ],
)
def test_a_command_that_fails_says_why(command: Sequence[str], problem: str) -> None:
    with pytest.raises(ModelError, match=problem):
        command_model(command, 0.05 if command[0] == "sleep" else 10)("prompt")


@contextmanager
def address(status: int, body: str, requests: list[dict[str, Any]]) -> Generator[str]:  # Any: JSON
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            requests.append({"path": self.path, "key": self.headers["Authorization"], **json.loads(content)})
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


def test_an_address_is_asked_as_openai_s_are() -> None:
    requests: list[dict[str, Any]] = []  # Any: JSON
    body = json.dumps({"choices": [{"message": {"content": FIRST}}]})
    with address(200, body, requests) as url:
        assert address_model(url, "small", "secret", 10)("the prompt") == FIRST
    [request] = requests
    assert (request["path"], request["key"], request["model"]) == (
        "/v1/chat/completions",
        "Bearer secret",
        "small",
    )
    assert request["messages"] == [{"role": "user", "content": "the prompt"}]


@pytest.mark.parametrize(
    ("status", "body", "problem"),
    [
        (429, "", "status 429"),
        (200, "no", "has no choices"),
        (200, '{"choices": []}', "has no choices"),
        (200, '{"choices": [{"message": {"content": null}}]}', "has no text"),
    ],
)
def test_an_address_that_fails_says_why_and_never_the_key(status: int, body: str, problem: str) -> None:
    with address(status, body, []) as url, pytest.raises(ModelError, match=problem) as raised:
        address_model(url, "small", "secret", 10)("prompt")
    assert "secret" not in str(raised.value)
    with pytest.raises(ModelError, match="refused"):
        address_model(url, "small", "secret", 10)("prompt")


# -- as a bot on a server ----------------------------------------------------------------------------


def test_it_plays_over_tcp_and_writes_its_record(tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    model = 'sh -c \'cat >/dev/null; echo "{\\"index\\": 0}"\''
    words = [sys.executable, "-m", "stellwerk_bots.text", "--command", model, "--record", str(record)]
    spec = f"name=text cmd={shlex.quote(shlex.join(words))}"
    done = program("play", "card_game", "--bot", spec, "--bot", "beginner", "--seed", "1", "--json")
    assert done.returncode == 0, done.stderr
    [match] = json.loads(done.stdout)["matches"]
    assert [seat["faults"] for seat in match["seats"]] == [[], []]
    [line] = lines(record)
    assert (line["match"], line["seat"]) == (match["match"], 0)
    assert line["asks"] == line["calls"] == match["seats"][0]["asks"]
    assert (line["illegal"], line["failed"]) == (0, 0)


def lines(record: Path) -> Iterator[dict[str, Any]]:  # Any: JSON
    yield from map(json.loads, record.read_text().splitlines())


def test_it_needs_one_model(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["--command", "cat", "--model-address", "http://127.0.0.1/v1"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
        assert "expected exactly one of --command and --model-address" in capsys.readouterr().err
