"""`stellwerk kit codec`: libraries of two languages pass; for a wrong one it shows what was expected."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pytest

from stellwerk.kit.command import add_arguments, run
from stellwerk.shared.errors import CommandError
from stellwerk_kit.codec import NEEDED, OPERATIONS, Operation, drive, requests
from stellwerk_kit.doctor.doctor import Finding
from stellwerk_kit.vectors import wire_vectors
from tests.tools import needs

REPOSITORY = Path(__file__).resolve().parents[2]
PYTHON = (sys.executable, "-m", "stellwerk_bots.codec")
JAVASCRIPT = ("node", str(REPOSITORY / "bots" / "javascript" / "src" / "driver.js"))
SECONDS = 60.0  # for an answer: far more than it takes

# The driver of the Python library, with `{}` applied to its answers.
WRONG = """
import json, sys
from stellwerk_bots import codec
for line in sys.stdin.buffer:
    request = json.loads(line)
    op = request["op"]
    answer = codec._ANSWERS[op](request)
    {}
    print(json.dumps(answer), flush=True)
"""

WAYS: dict[str, tuple[str, str, str]] = {
    "forgets a field": (
        "answer.get('message', {}).pop('echo', None)",
        "decode message-pong-largest",
        "message.echo",
    ),
    "reads numbers as doubles": (
        "answer.get('message', {}).update(number=2.5)",
        "decode message-event",
        "message.number to be 2",
    ),
    "takes true for a number": (
        "answer.get('message', {}).update(missing=False)",
        "decode message-joined",
        "message.missing to be 0",
    ),
    "takes everything": (
        "answer = {'message': {}} if 'error' in answer else answer",
        "decode refused-cut",
        "an error",
    ),
    "trips over what is new": (
        "answer = {'error': '?'} if answer.get('message', {}).get('type') == 'weather' else answer",
        "decode newer-message",
        "a message, or that it is ignored",
    ),
    "forgets the newline": (
        "answer = {'base64': 'eyJ0eXBlIjoicGluZyJ9'} if op == 'encode' else answer",
        "encode encode-ping",
        "one line, with its newline at the end",
    ),
    "writes another message": (
        "answer = {'base64': 'eyJ0eXBlIjoicGluZyJ9Cg=='} if op == 'encode' else answer",
        "encode encode-ping-zero",
        'a line that is read as {"type": "ping", "echo": 0}',
    ),
    "writes what a server refuses": (
        "answer = {'base64': 'e30K'} if op == 'encode' else answer",
        "encode encode-login",
        "protocol.missing_field",
    ),
    "loses a line": (
        "answer.get('messages', []) and answer['messages'].pop()",
        "stream many",
        "message to be",
    ),
    "names another code": (
        "answer.get('error') and op == 'read' and answer['error'].update(code='wire.not_json')",
        "read refused-null",
        "the error protocol.not_an_object",
    ),
    "tells an error as text": (
        "answer = {'error': 'bad'} if op == 'read' else answer",
        "read refused-null",
        "an answer to read in one of the forms",
    ),
    "answers in another form": ("answer = {'text': 'yes'}", "encode encode-login", "in one of the forms"),
}


def driven(*command: str, needed: tuple[Operation, ...] = NEEDED) -> dict[str, Finding]:
    return {finding.step: finding for finding in drive(command, wire_vectors(), SECONDS, needed)}


def test_the_python_library_reads_and_writes_every_vector() -> None:
    results = driven(*PYTHON, needed=OPERATIONS)
    assert {step: finding for step, finding in results.items() if finding.verdict != "ok"} == {}
    assert len(results) == len(list(requests(wire_vectors())))


@needs("node")
def test_the_javascript_library_reads_and_writes_every_vector_of_a_client() -> None:
    results = driven(*JAVASCRIPT, needed=("encode", "decode", "stream"))
    assert {finding.verdict for step, finding in results.items() if not step.startswith("read ")} == {"ok"}
    assert {finding.skipped for step, finding in results.items() if step.startswith("read ")} == {
        "not supported"
    }


@pytest.mark.parametrize("way", WAYS)
def test_a_wrong_library_gets_the_expected_answer_in_the_report(way: str) -> None:
    spoil, step, expected = WAYS[way]
    failure = driven(sys.executable, "-c", WRONG.format(spoil))[step].failure
    assert failure is not None
    assert expected in failure.expected


def test_what_is_needed_has_to_be_supported() -> None:
    silent = "import sys\nfor line in sys.stdin: print('{\"unsupported\": true}', flush=True)"
    results = driven(sys.executable, "-c", silent, needed=("encode", "decode", "stream"))
    verdicts = {(step.split()[0], finding.verdict) for step, finding in results.items()}
    assert verdicts == {("encode", "FAIL"), ("decode", "FAIL"), ("stream", "FAIL"), ("read", "skip")}


@pytest.mark.parametrize(
    ("program", "came"),
    [
        ("", "it exited with status 0"),
        ("import os; os.abort()", "it was ended by SIGABRT"),
        ("print('ready')", "not a JSON object: ready"),
        ("print('[1]')", "not a JSON object: [1]"),
    ],
)
def test_a_driver_that_does_not_answer_ends_the_drive(program: str, came: str) -> None:
    [finding] = drive((sys.executable, "-c", program), wire_vectors(), SECONDS)
    assert finding.failure is not None
    assert finding.failure.came == came


def test_a_driver_that_hangs_is_waited_for_no_longer_than_it_may() -> None:
    hanging = "import sys, time\nprint('thinking', file=sys.stderr, flush=True)\ntime.sleep(600)"
    [finding] = drive((sys.executable, "-c", hanging), wire_vectors(), 0.2)
    assert finding.failure is not None
    assert finding.failure.came == "nothing"


# -- the command -------------------------------------------------------------------------------------


def kit(*words: str) -> int:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(words))


def test_the_command_tells_how_much_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert kit("codec", "--", *PYTHON) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == list(OPERATIONS)
    assert lines[-1] == f"{len(list(requests(wire_vectors())))} ok, 0 failed"


def test_a_failure_shows_the_expectation_and_the_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "codec.xml"
    program = WRONG.format("answer.get('message', {}).pop('echo', None)")
    words = ("codec", "--junit", str(file), "--", sys.executable, "-c", program)
    assert kit(*words) == 1
    assert capsys.readouterr().out.splitlines()[:5] == [
        "FAIL  decode message-pong-largest",
        "      law       2^53-1",
        "      requires  C6 (MUST): The client reads every message of version 1, in every form that JSON "
        "allows.",
        "      expected  message.echo to be 9007199254740991",
        '      came      {"message": {"type": "pong"}}',
    ]
    assert "message.echo" in file.read_text("utf-8")


def test_json_tells_every_vector(capsys: pytest.CaptureFixture[str]) -> None:
    assert kit("codec", "--json", "--", *PYTHON) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["passed"], report["command"]) == (True, list(PYTHON))
    assert {vector["verdict"] for vector in report["vectors"]} == {"ok"}


def test_the_list_has_every_vector(capsys: pytest.CaptureFixture[str]) -> None:
    assert kit("codec", "--list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        [request.operation, request.vector] for request in requests(wire_vectors())
    ]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "the command that starts the driver is missing"),
        (("--", "/nowhere/driver"), "cannot be started"),
    ],
)
def test_wrong_use_is_report_in_one_line(words: tuple[str, ...], expected: str) -> None:
    with pytest.raises(CommandError, match=r".") as refused:
        kit("codec", *words)
    assert refused.value.exit_code == 2
    assert expected in refused.value.message


def test_the_driver_of_the_library_ends_with_its_input() -> None:
    done = subprocess.run(
        PYTHON, input=b'{"op":"fly"}\n', capture_output=True, timeout=SECONDS, check=True, env=None
    )
    assert json.loads(done.stdout) == {"unsupported": True}
