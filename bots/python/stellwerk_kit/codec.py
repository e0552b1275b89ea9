"""A client library, driven through the vectors over its standard input and output.

`protocol/conformance/README.md` describes the requests and the responses, one a line. The law: whatever the
driver of the library does, each request is answered, or reported as unanswered at its deadline, and the
report shows the answer beside the expectation.
"""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, cast, get_args

import msgspec
from msgspec import UNSET

from stellwerk_base.texts import shown
from stellwerk_kit.bot_process import BotProcess, described_status
from stellwerk_kit.doctor.doctor import Finding, judge
from stellwerk_kit.failed import DoesNotApplyError, FailedError
from stellwerk_kit.lines import Lines, NoLineError, lines_over, shown_line
from stellwerk_kit.requirements import Side
from stellwerk_kit.vectors import ClientLine, Encoded, JsonObject, ServerLine, Stream, Vectors
from stellwerk_protocol.client_line import LineError, read_line
from stellwerk_protocol.messages import FromClient

Operation = Literal["encode", "decode", "stream", "read"]
OPERATIONS: Final[tuple[Operation, ...]] = get_args(Operation)
NEEDED: Final[tuple[Operation, ...]] = ("encode", "decode")  # that every client must support

LONGEST_ANSWER: Final = 1 << 20  # bytes
START_FACTOR: Final = 4  # the start may take this many times as long as an answer
SHOWN: Final = 300  # characters of an answer
AN_ANSWER: Final = "an answer"  # expected of a driver that cannot be asked any more


@dataclass(frozen=True, slots=True)
class Request:
    """A request. `judge` returns what was expected instead of an answer, or None."""

    operation: Operation
    vector: str
    about: str
    arguments: JsonObject
    judge: Callable[[JsonObject], str | None]

    @property
    def line(self) -> bytes:
        return json.dumps({"op": self.operation, **self.arguments}).encode() + b"\n"


def requests(vectors: Vectors) -> Iterator[Request]:
    yield from map(_ask_to_encode, vectors.encoded)
    yield from map(_ask_to_decode, vectors.server_lines)
    yield from map(_ask_to_split, vectors.streams)
    yield from map(_ask_to_read, vectors.client_lines)


def drive(
    command: Sequence[str], vectors: Vectors, seconds: float, needed: Sequence[Operation] = NEEDED
) -> Iterator[Finding]:
    """Yield the findings one by one. A failure does not stop it, as long as there are answers. Raise
    CannotStartError if the process cannot be started."""
    process = BotProcess(command, os.environ, "stdio")
    try:
        lines = lines_over(*process.pipes, LONGEST_ANSWER)
        patience = seconds * START_FACTOR
        for request in requests(vectors):
            name = f"{request.operation} {request.vector}"
            examine = partial(_examine, lines, process, request, time.monotonic() + patience, needed)
            side: Side = "S" if request.operation == "read" else "C"
            finding = judge(name, request.about, examine, f"codec: {request.vector}", side)
            yield finding
            if finding.failure is not None and finding.failure.expected == AN_ANSWER:
                return
            patience = seconds
    finally:
        process.end()


def _examine(
    lines: Lines, process: BotProcess, request: Request, deadline: float, needed: Sequence[Operation]
) -> None:
    """Make the request. Raise FailedError if the answer is wrong, or if there is none."""
    try:
        lines.send(request.line, deadline)
        line = lines.receive(deadline)
    except NoLineError as error:
        status = process.status_by(time.monotonic() + 1.0) if error.ended else None
        raise _lack_of_answer(process, error.came if status is None else described_status(status)) from None
    try:
        answer: object = json.loads(line)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise _lack_of_answer(process, f"not a JSON object: {shown_line(line)}")
    known = cast("JsonObject", answer)
    if known.get("unsupported") is True:
        if request.operation not in needed:
            raise DoesNotApplyError("not supported")
        raise FailedError(f"{request.operation} to be supported", "that it is not")
    try:
        expected = request.judge(known)
    except (KeyError, TypeError, ValueError):
        forms = "one of the forms of protocol/conformance/README.md"
        expected = f"an answer to {request.operation} in {forms}"
    if expected is not None:
        raise FailedError(expected, _shown_json(known))


def _lack_of_answer(process: BotProcess, came: str) -> FailedError:
    error = FailedError(AN_ANSWER, came)
    error.printed = process.last_lines()
    return error


# -- what is asked, and what has to come -------------------------------------------------------------


def _ask_to_encode(vector: Encoded) -> Request:
    expected = msgspec.convert(vector.message, FromClient)

    def judge(answer: JsonObject) -> str | None:
        written = base64.b64decode(answer["base64"], validate=True)
        if not written.endswith(b"\n") or b"\n" in written[:-1]:
            return "one line, with its newline at the end"
        try:
            read = read_line(written[:-1])
        except LineError as error:
            return f"a line that a server accepts; it refuses this one: {error}"
        return None if read == expected else f"a line that is read as {_shown_json(vector.message)}"

    return Request("encode", vector.id, vector.about, {"message": vector.message}, judge)


def _ask_to_decode(vector: ServerLine) -> Request:
    def judge(answer: JsonObject) -> str | None:
        if vector.refused:
            return None if "error" in answer else "an error: this is not a message of a server"
        if vector.ignored:
            return None if "message" in answer or "ignored" in answer else "a message, or that it is ignored"
        assert vector.message is not UNSET
        return _find_lack(vector.message, answer["message"])

    return Request("decode", vector.id, vector.about, {"base64": _as_base64(vector.base64)}, judge)


def _ask_to_split(vector: Stream) -> Request:
    expected = [json.loads(line) for line in vector.lines]

    def judge(answer: JsonObject) -> str | None:
        return _find_lack(expected, answer["messages"])

    return Request("stream", vector.id, vector.about, {"pieces": [*map(_as_base64, vector.pieces)]}, judge)


def _ask_to_read(vector: ClientLine) -> Request:
    def judge(answer: JsonObject) -> str | None:
        if vector.error is UNSET:
            assert vector.message is not UNSET
            expected = msgspec.convert(vector.message, FromClient)
            try:
                is_right = msgspec.convert(answer.get("message"), FromClient) == expected
            except msgspec.ValidationError:
                is_right = False
            return None if is_right else f"the message {_shown_json(vector.message)}"
        error = vector.error
        came = msgspec.convert(answer.get("error", {}), JsonObject)
        is_right = came.get("code") == error.code and error.pointer in (UNSET, came.get("pointer", ""))
        pointer = f" at {error.pointer}" if error.pointer else ""
        return None if is_right else f"the error {error.code}{pointer}"

    return Request("read", vector.id, vector.about, {"base64": _as_base64(vector.base64)}, judge)


def _find_lack(expected: Any, came: Any) -> str | None:  # Any: JSON values
    """Return an expected part that is missing. Additional parts are allowed: a library may keep fields that
    it does not know, or fill in the meaning of absent fields."""
    return _first_lack(expected, came, "message")


def _first_lack(expected: Any, came: Any, place: str) -> str | None:  # Any: JSON values
    match expected, came:
        case dict(), dict():
            for name, value in cast("JsonObject", expected).items():
                if name not in came:
                    return f"{place}.{name} to be {_shown_json(value)}"
                if (lack := _first_lack(value, came[name], f"{place}.{name}")) is not None:
                    return lack
            return None
        case [*items], [*others] if len(items) == len(others):
            pairs = enumerate(zip(items, others, strict=True))
            lacks = (_first_lack(one, other, f"{place}[{at}]") for at, (one, other) in pairs)
            return next((lack for lack in lacks if lack is not None), None)
        case _:
            is_same = expected == came and isinstance(expected, bool) == isinstance(came, bool)
            return None if is_same else f"{place} to be {_shown_json(expected)}"


def _as_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _shown_json(value: Any) -> str:  # Any: a JSON value
    return shown(json.dumps(value, ensure_ascii=False), SHOWN)
