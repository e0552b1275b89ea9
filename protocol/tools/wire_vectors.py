"""The vectors of `protocol/conformance/vectors/wire`, made from the cases in `wire_cases.toml`.

The expectation is beside each line. The test of the vectors compares `client_line.read_line` with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec import UNSET, Struct

from stellwerk_kit.vectors import ClientLine, Encoded, JsonObject, Refusal, ServerLine, Stream
from stellwerk_protocol.error_codes import LineErrorCode

NOT_TO_BE_SENT: Final = ("act-both", "act-neither", "login-ended")  # libraries need not write them


class ClientCases(Struct, forbid_unknown_fields=True):
    message: dict[str, tuple[str, str]]
    writing: dict[str, tuple[str, str, str]]
    refused: dict[str, tuple[str, str, LineErrorCode, str]]


class ServerCases(Struct, forbid_unknown_fields=True):
    message: dict[str, tuple[str, str]]
    writing: dict[str, tuple[str, str, str]]
    newer: dict[str, tuple[str, str, str]]
    refused: dict[str, tuple[str, str]]


class Cases(Struct, forbid_unknown_fields=True):
    texts: dict[str, str]
    client: ClientCases
    server: ServerCases


CASES: Final = msgspec.toml.decode(Path(__file__).with_name("wire_cases.toml").read_bytes(), type=Cases)


def _line(text: str) -> bytes:
    """Return the bytes of a line as the cases write it."""
    text = re.sub(r"^ +|\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"<([a-z]+)>", lambda name: _line(CASES.texts[name[1]]).decode(), text)
    text = re.sub(
        r"<(\d+)\*(.+?)>", lambda part: "".join(part[2] % {"n": n} for n in range(int(part[1]))), text
    )
    return re.sub(rb"\\x([0-9a-f]{2})", lambda byte: bytes.fromhex(byte[1].decode()), text.encode())


def _message(text: str) -> JsonObject:
    message: JsonObject = json.loads(_line(text))
    return message


# -- lines -------------------------------------------------------------------------------------------


def client_lines() -> Iterator[ClientLine]:
    for id, (about, text) in CASES.client.message.items():
        yield ClientLine(id=f"message-{id}", about=about, base64=_line(text), message=_message(text))
    for id, (about, text, message) in CASES.client.writing.items():
        yield ClientLine(id=f"writing-{id}", about=about, base64=_line(text), message=_message(message))
    for id, (about, text, code, pointer) in CASES.client.refused.items():
        error = Refusal(code, UNSET if pointer == "any" else pointer)
        yield ClientLine(id=f"refused-{id}", about=about, base64=_line(text), error=error)


def encoded() -> Iterator[Encoded]:
    for id, (about, text) in CASES.client.message.items():
        if id not in NOT_TO_BE_SENT:
            yield Encoded(id=f"encode-{id}", about=about, message=_message(text))


def server_lines() -> Iterator[ServerLine]:
    for id, (about, text) in CASES.server.message.items():
        yield ServerLine(id=f"message-{id}", about=about, base64=_line(text), message=_message(text))
    for id, (about, text, message) in CASES.server.writing.items():
        yield ServerLine(id=f"writing-{id}", about=about, base64=_line(text), message=_message(message))
    for id, (about, base, fields) in CASES.server.newer.items():
        known = _message(CASES.server.message[base][1] if base in CASES.server.message else base)
        new = _message(fields)
        line = _text(_with_more(known, new))
        yield ServerLine(id=f"newer-{id}", about=about, base64=line, message=_understood(known, new))
    unknown = {"type": "weather", "match": "m1", **_message("{<news>}")}
    about = "a message that nobody knows yet"
    yield ServerLine(id="newer-message", about=about, base64=_text(unknown), ignored=True)
    for id, (about, text) in CASES.server.refused.items():
        yield ServerLine(id=f"refused-{id}", about=about, base64=_line(text), refused=True)


def _text(message: JsonObject) -> bytes:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()


def _with_more(known: JsonObject, new: JsonObject) -> JsonObject:
    """Return a message with more fields, also in the objects inside."""
    inside = {name: known[name] | new[name] for name in ("limits", "view") if name in new}
    return known | new | inside


def _understood(known: JsonObject, new: JsonObject) -> JsonObject:
    """Return what a client must read from a message even if it does not know the new fields."""
    changed = {name: value for name, value in new.items() if name == "code"}
    return {name: value for name, value in known.items() if name != "features"} | changed


# -- streams -----------------------------------------------------------------------------------------


def streams() -> Iterator[Stream]:
    pong, bye = b'{"type":"pong","echo":1}', '{"type":"bye","code":"done","expected":"grüße"}'.encode()
    long = b'{"type":"pong","echo":2' + b" " * 59_900 + b"}"
    whole = pong + b"\n" + bye + b"\n"
    yield Stream(id="one", about="one line in one piece", pieces=(pong + b"\n",), lines=(pong,))
    yield Stream(
        id="bytes",
        about="two lines, byte by byte: pieces end inside of characters",
        pieces=tuple(bytes([byte]) for byte in whole),
        lines=(pong, bye),
    )
    yield Stream(id="many", about="many lines in one piece", pieces=(whole * 20,), lines=(pong, bye) * 20)
    yield Stream(
        id="across",
        about="pieces that end in the middle of lines",
        pieces=(whole[:30], whole[30:31], whole[31:] + whole[:10], whole[10:]),
        lines=(pong, bye, pong, bye),
    )
    yield Stream(
        id="newline-alone",
        about="a newline that comes by itself",
        pieces=(pong, b"\n", bye, b"\n"),
        lines=(pong, bye),
    )
    yield Stream(
        id="long",
        about="a line of almost 60,000 bytes in pieces of 1,400, as a network cuts them",
        pieces=tuple((long + b"\n")[begin : begin + 1400] for begin in range(0, len(long) + 1, 1400)),
        lines=(long,),
    )
    separated = '{"type":"bye","code":"done","expected":"a\u2028b\u2029c\u0085d\u000b"}'.replace(
        "\u000b", "\\u000b"
    ).encode()
    yield Stream(
        id="other-line-ends",
        about="U+2028, U+2029 and U+0085 inside a text are no line ends",
        pieces=(separated + b"\n",),
        lines=(separated,),
    )
    yield Stream(
        id="cut",
        about="half a line at the end is what a lost connection leaves: it is no line",
        pieces=(pong + b"\n", bye[:20]),
        lines=(pong,),
    )
    yield Stream(id="nothing", about="a stream that ends at once", pieces=(), lines=())


# -- files -------------------------------------------------------------------------------------------


def files() -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files."""
    vectors: dict[str, list[Struct]] = {
        "client_lines": [*client_lines()],
        "server_lines": [*server_lines()],
        "encode": [*encoded()],
        "streams": [*streams()],
    }
    for name, of_file in vectors.items():
        yield f"{name}.jsonl", b"".join(msgspec.json.encode(each) + b"\n" for each in of_file)
