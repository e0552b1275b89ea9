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
from stellwerk_bots.bot import Answer
from stellwerk_bots.text.__main__ import main
from stellwerk_bots.text.answers import UnreadableError, last_object
from stellwerk_bots.text.bot import TextBot
from stellwerk_bots.text.model import Model, ModelError, Reply, address_model, command_model
from stellwerk_bots.text.position import Memory, Moves, Position
from stellwerk_bots.text.records import main as summarize
from stellwerk_bots.text.records import share_of
from stellwerk_bots.text.transcript import Transcript
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


def played(
    model: Model, game: str = "usa", moves: Moves = "shown", retries: int = 2, **settings: Any
) -> stellwerk.Row:  # Any: of all kinds, as TextBot takes them
    bot = TextBot(model, name="scripted", moves=moves, retries=retries, **settings)
    row = stellwerk.run_match([bot, "beginner"], game, seed="text", names=["text", "other"])[0]
    assert row["refused"] == row["raised"] == 0
    return row


# -- moves -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", RULE_SETS)
def test_a_model_plays_every_game(game: str) -> None:
    model = Scripted(FIRST)
    record = played(model, game)["record"]
    assert 10 < record["asks"] == record["calls"] <= len(model.prompts)  # partners share the model
    assert (record["illegal_rate"], record["failed"], record["by_fallback"], record["problem"]) == (
        0,
        0,
        0,
        "",
    )
    assert (record["model"], record["moves"], record["retries"]) == ("scripted", "shown", 2)


def test_hidden_moves_are_not_listed_and_a_move_is_checked_by_the_rules() -> None:
    model = Scripted(FIRST, DRAW)
    record = played(model, moves="hidden")["record"]
    assert not [prompt for prompt in model.prompts if "\nMOVES" in prompt]
    assert '{"type": "keep_tickets", "tickets": ["<tickets ...>"]}' in model.prompts[0]
    assert '{"type": "claim_route", "route": "<route>", "cards": {"<color>": "<number>"}}' in "".join(
        model.prompts
    )
    assert record["asks"] == record["calls"]


def test_moves_are_listed_after_an_error_if_the_setting_says_so() -> None:
    model = Scripted('{"move": {"type": "draw_card"}}', FIRST, DRAW)
    record = played(model, moves="on_error")["record"]
    first, second = model.prompts[:2]
    assert "\nMOVES" not in first
    assert "\nMOVES" in second
    assert "Your last answer was refused: game.wrong_move at /type: expected keep_tickets" in second
    assert (record["refused"], record["by_fallback"]) == (1, 0)
    assert "\nMOVES" not in model.prompts[2]


@pytest.mark.parametrize(
    ("answer", "kind", "problem"),
    [
        ("I pass.", "unparsable", "there is no {"),
        ('{"index": true}', "unparsable", "there is no {"),
        ('{"index": 999}', "bad_index", "there is no move 999; the last one is "),
        ('{"index": -1}', "bad_index", "there is no move -1"),
        ('{"move": {"type": "fly"}}', "refused", "Invalid value 'fly'"),
        ('{"type": "draw_three"}', "refused", "game.wrong_move"),
        pytest.param("[" * 500 + "{" * 500, "unparsable", "there is no {", id="nested"),
    ],
)
def test_the_record_splits_what_is_no_legal_move_and_the_fallback_moves(
    answer: str, kind: str, problem: str
) -> None:
    row = played(Scripted(answer), retries=1)
    record = row["record"]
    assert record["by_fallback"] == record["asks"] == row["asks"]
    wrong = {name: record[name] for name in ("unparsable", "bad_index", "refused")}
    assert wrong == dict.fromkeys(wrong, 0) | {kind: record["calls"]}
    assert record["calls"] == 2 * record["asks"]
    assert record["illegal_rate"] == 1.0
    assert record["problem"].startswith(problem)


@pytest.mark.parametrize("answer", ["Let me think.\n0", "**0**", "[0]", " 0. ", FIRST])
def test_a_bare_number_is_an_answer_if_one_allows_it(answer: str) -> None:
    model = Scripted(answer)
    assert played(model, "card_game", takes_numbers=True)["record"]["illegal_rate"] == 0
    assert model.prompts[0].endswith("End with one line that is the number of your move.")


@pytest.mark.parametrize("answer", ["I take 2 cards", "0 or 1", "1234567", "-1"])
def test_other_numbers_are_not(answer: str) -> None:
    record = played(Scripted(answer), "card_game", takes_numbers=True, retries=0)["record"]
    assert record["unparsable"] == record["calls"]


def test_without_that_a_bare_number_is_unparsable() -> None:
    record = played(Scripted("0"), "card_game", retries=0)["record"]
    assert record["unparsable"] == record["calls"]


def test_a_model_that_fails_is_asked_again() -> None:
    record = played(Scripted(ModelError("busy"), FIRST))["record"]
    assert (record["failed"], record["by_fallback"], record["problem"]) == (1, 0, "busy")
    assert record["calls"] == record["asks"] + 1


def say_nothing(position: Position, memory: Memory) -> str:
    return ""


def test_equal_settings_and_prompts_have_equal_hashes() -> None:
    one, again, other = (
        played(Scripted(answer), "card_game")["record"] for answer in (FIRST, FIRST, '{"index": 1}')
    )
    assert one["prompts_hash"] == again["prompts_hash"] != other["prompts_hash"]
    assert one["prompt_hash"] == other["prompt_hash"]
    settings: list[Any] = [  # Any: of all kinds, as TextBot takes them
        {},
        {"retries": 3},
        {"moves": "hidden"},
        {"takes_numbers": True},
        {"write": say_nothing},
        {"game": "usa"},
    ]
    rows = [played(Scripted(FIRST), **({"game": "card_game"} | changed)) for changed in settings]
    hashes = {row["record"]["prompt_hash"] for row in rows}
    assert len(hashes) == len(settings)


# -- an author's own words -----------------------------------------------------------------------------


def test_own_functions_write_and_read_and_remember_within_their_match() -> None:
    memories: list[Memory] = []

    def write(position: Position, memory: Memory) -> str:
        if memory not in memories:
            memories.append(memory)
        memory["asks"] = memory.get("asks", 0) + 1
        return f"{memory.get('plan', 'no plan')}: {len(position.legal)} moves"

    def read(text: str, position: Position, memory: Memory) -> Answer:
        memory["plan"] = text
        return {"index": len(position.legal) - 1}

    model = Scripted("first", "second")
    row = played(model, "card_game", write=write, read=read)
    assert [prompt.partition(":")[0] for prompt in model.prompts[:3]] == ["no plan", "first", "second"]
    assert memories == [{"asks": row["asks"], "plan": "second"}]
    assert row["record"]["illegal_rate"] == 0


def test_what_own_functions_cannot_read_goes_back_to_the_model() -> None:
    def read(text: str, position: Position, memory: Memory) -> Answer:
        if not position.refused:
            raise UnreadableError("say it in Latin")
        return {"index": 0}

    model = Scripted("yes")
    record = played(model, "card_game", read=read)["record"]
    assert record["unparsable"] == record["asks"]
    assert record["by_fallback"] == 0
    assert model.prompts[1].endswith("Your last answer was refused: say it in Latin")


# -- transcripts ---------------------------------------------------------------------------------------


def test_a_transcript_has_each_call_with_prompt_answer_time_and_tokens(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    script = Scripted("I pass.", '{"index": 999}', '{"move": {"type": "fly"}}', ModelError("busy"), FIRST)

    def model(prompt: str) -> Reply:
        return Reply(script(prompt), prompt_tokens=1000, answer_tokens=7)

    record = played(model, "card_game", retries=4, transcript=Transcript(file))["record"]
    calls = list(lines(file))
    outcomes = ["unparsable", "bad_index", "refused", "failed", "played", "played"]
    assert [call["outcome"] for call in calls[:6]] == outcomes
    assert [call["attempt"] for call in calls[:6]] == [1, 2, 3, 4, 5, 1]
    assert [call["answer"] for call in calls[:6]] == [
        "I pass.",
        '{"index": 999}',
        '{"move": {"type": "fly"}}',
        "",
        FIRST,
        FIRST,
    ]
    assert [call["problem"] for call in calls[3:5]] == ["busy", ""]
    assert [call["prompt"] for call in calls] == script.prompts
    assert len(calls) == record["calls"]
    assert calls[0]["prompt_tokens"] == 1000
    assert calls[3]["prompt_tokens"] is None
    assert record["prompt_tokens"] == 1000 * (len(calls) - 1)
    assert record["answer_tokens"] == 7 * (len(calls) - 1)
    assert all(call["ms"] >= 0 for call in calls)
    assert (calls[-1]["model"], calls[-1]["seat"]) == ("scripted", 0)


def test_each_call_is_on_disk_when_the_next_one_begins(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    seen: list[int] = []

    def model(prompt: str) -> str:
        seen.append(len(list(lines(file))))
        return FIRST

    played(model, "card_game", transcript=Transcript(file))
    assert seen == list(range(len(seen)))


def test_a_transcript_stops_at_its_size_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    bots = [TextBot(Scripted(FIRST), transcript=Transcript(file, 0.05)) for _ in range(2)]  # as two processes
    stellwerk.run_match(bots, "card_game", seed="text", names=["one", "two"])
    size = file.stat().st_size
    assert 40_000 < size <= 50_000
    calls = list(lines(file))
    assert calls[-1] == {"full": True}
    assert all("prompt" in call for call in calls[:-2])


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
    usage = {"prompt_tokens": 40, "completion_tokens": 3, "total_tokens": 43}
    body = json.dumps({"choices": [{"message": {"content": FIRST}}], "usage": usage})
    with address(200, body, requests) as url:
        assert address_model(url, "small", "secret", 10)("the prompt") == Reply(FIRST, 40, 3)
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
    words += ["--transcript", str(tmp_path / "calls.jsonl")]
    spec = f"name=text cmd={shlex.quote(shlex.join(words))}"
    done = program("play", "card_game", "--bot", spec, "--bot", "beginner", "--seed", "1", "--json")
    assert done.returncode == 0, done.stderr
    [match] = json.loads(done.stdout)["matches"]
    assert [seat["faults"] for seat in match["seats"]] == [[], []]
    [line] = lines(record)
    assert (line["match"], line["seat"]) == (match["match"], 0)
    assert line["asks"] == line["calls"] == match["seats"][0]["asks"]
    assert (line["illegal_rate"], line["failed"]) == (0, 0)
    calls = list(lines(tmp_path / "calls.jsonl"))
    assert len(calls) == line["calls"]
    assert "\nSINCE YOUR TURN BEFORE\nSeat " in calls[-1]["prompt"]


def lines(record: Path) -> Iterator[dict[str, Any]]:  # Any: JSON
    yield from map(json.loads, record.read_text().splitlines())


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "expected exactly one of --command, --model-address and a function `model` in --code"),
        (["--command", "cat", "--model-address", "http://127.0.0.1/v1"], "expected exactly one of"),
        (["--command", "cat", "--code", "model.py"], "expected exactly one of"),
        (["--code", "none.py"], "--code: no such file: none.py"),
        (["--code", "empty.py"], "--code: empty.py defines none of the functions model, write, read"),
        (["--command", "cat", "--transcript", "none/calls.jsonl"], "--transcript: none/calls.jsonl: No such"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(
    words: list[str],
    problem: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.py").write_text("x = 1\n")
    Path("model.py").write_text("def model(prompt): return ''\n")
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert problem in capsys.readouterr().err


# -- summaries -----------------------------------------------------------------------------------------


def record_of(model: str, calls: int, **wrong: int) -> str:
    counts = dict.fromkeys(("unparsable", "bad_index", "refused", "failed", "by_fallback"), 0) | wrong
    return json.dumps(
        {"model": model, "asks": calls, "calls": calls, "model_ms": 2.0 * calls}
        | {"prompt_tokens": 10 * calls, "answer_tokens": 0}
        | counts
    )


def test_a_summary_has_shares_with_intervals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text(
        "\n".join([*[record_of("a", 100, refused=10)] * 4, record_of("b", 50, by_fallback=50)]) + "\n"
    )
    assert summarize([str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[:6] == [
        "a: 4 matches, 400 calls, 2.0 ms a call, 4,000 prompt tokens",
        "  unparsable     0.0 % [0.0, 1.0] of the calls",
        "  bad index      0.0 % [0.0, 1.0] of the calls",
        "  refused       10.0 % [7.4, 13.3] of the calls",
        "  failed         0.0 % [0.0, 1.0] of the calls",
        "  by fallback    0.0 % [0.0, 1.0] of the asks",
    ]


def test_answers_of_one_match_are_no_independent_sample() -> None:
    even, uneven = (
        share_of([{"calls": 100, "refused": count} for count in counts], "refused", "calls")
        for counts in ((10, 10, 10, 10), (0, 0, 0, 40))
    )
    assert even[1] == uneven[1] == 0.1
    assert uneven[2] - uneven[0] > 3 * (even[2] - even[0])


def test_a_file_of_something_else_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text('{"model": "a"}\n')
    assert summarize([str(file)]) == 2
    assert f"records: {file}: expected lines of --record" in capsys.readouterr().err
