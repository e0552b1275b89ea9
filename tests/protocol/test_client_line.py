"""A client's line becomes a message or a documented error, whatever it contains."""

from __future__ import annotations

import json
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk_protocol.canonical import LARGEST_INT
from stellwerk_protocol.cards import Cards
from stellwerk_protocol.client_line import MAX_DEPTH, LineError, read_any_line, read_line, read_plain_line
from stellwerk_protocol.error_codes import CURES, ERROR_CODES, ErrorCode, LineErrorCode
from stellwerk_protocol.messages import (
    Act,
    FromClient,
    Join,
    Leave,
    ListMatches,
    Login,
    Ping,
    Ready,
    Resume,
    Wants,
    Watch,
)
from stellwerk_protocol.moves import ClaimRoute, KeepTickets

NAME = "1 to 32 of A-Z a-z 0-9 _ . -, the first a letter or digit"

MESSAGES: list[FromClient] = [
    Login(protocol=1, name="first_bot"),
    Login(
        protocol=1,
        name="a.b-c",
        language="Rust",
        token="t" * 43,
        max_matches=3,
        wants=Wants(legal=False),
        resume=Resume("s1", "k" * 43, {"m1": 0, "m2": 17}),
    ),
    Join(game="usa", players=2, against=("greedy",), seed="42"),
    Join(game="united_kingdom", players=4, options=("advanced_technologies",), room="room-1"),
    Leave(match="m1"),
    Ready(match="m1"),
    Act(match="m1", ask=1, index=0),
    Act(match="m1", ask=2, move=ClaimRoute("atlanta-miami", Cards(blue=4, locomotive=1)), note="ha"),
    Act(match="m1", ask=3, move=KeepTickets(("boston-miami", "dallas-new_york"))),
    Ping(echo=7),
    Watch(match="m1", viewer="all_hands"),
    ListMatches(after="life-17-12"),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_message_is_read_as_it_was_written(message: FromClient) -> None:
    line = msgspec.json.encode(message)
    assert read_line(line) == message
    assert read_line(line + b"\r") == message


def test_every_kind_of_message_is_among_them() -> None:
    assert {type(message) for message in MESSAGES} == set(get_args(FromClient))


REFUSED: list[tuple[bytes, LineErrorCode, str, str]] = [
    (b"\xff", "wire.not_utf8", "", "byte 1"),
    (b'{"type":"ping","x":"\xc3("}', "wire.not_utf8", "", "byte 21"),
    (b'{"type":"ping","x":"\xed\xa0\x80"}', "wire.not_utf8", "", "byte 21"),
    (b"", "wire.not_json", "", "one JSON object"),
    (b"hello", "wire.not_json", "", "one JSON object"),
    (b'{"type":"ping"', "wire.not_json", "", "one JSON object"),
    (b'{"type":"ping"} {}', "wire.not_json", "", "one JSON object"),
    (b"[" * 10_000, "wire.too_deep", "", "64 levels"),
    (b'{"type":"ping","x":' + b"[" * 64 + b"]" * 64 + b"}", "wire.too_deep", "", "64 levels"),
    (b'{"type":"ping","type":"ping"}', "wire.duplicate_name", "", "'type'"),
    (b'{"type":"ping","x":{"a":1,"a":2}}', "wire.duplicate_name", "", "'a'"),
    (b'{"type":"ping","ech\\u006f":1,"echo":2}', "wire.duplicate_name", "", "'echo'"),
    (b'{"type":"ping","echo":1e3}', "wire.bad_number", "", "'1e3'"),
    (b'{"type":"ping","echo":1.0}', "wire.bad_number", "", "'1.0'"),
    (b'{"type":"ping","echo":NaN}', "wire.bad_number", "", "'NaN'"),
    (b'{"type":"ping","x":-Infinity}', "wire.bad_number", "", "'-Infinity'"),
    (b'{"type":"ping","echo":9007199254740992}', "wire.bad_number", "", str(LARGEST_INT)),
    (b'{"type":"ping","x":1' + b"0" * 5000 + b"}", "wire.bad_number", "", str(LARGEST_INT)),
    (b"[]", "protocol.not_an_object", "", "an object"),
    (b"null", "protocol.not_an_object", "", "an object"),
    (b"{}", "protocol.missing_field", "/type", "act, join, leave"),
    (b'{"type":"pin"}', "protocol.unknown_type", "/type", "ping"),
    (b'{"type":["ping"]}', "protocol.unknown_type", "/type", "ping"),
    (b'{"type":7}', "protocol.unknown_type", "/type", "one of act"),
    (b'{"type":"ping","ecko":1}', "protocol.unknown_field", "/ecko", "echo"),
    (
        b'{"type":"login","protocol":1,"name":"x","wants":{"leagl":true}}',
        "protocol.unknown_field",
        "/wants/leagl",
        "legal",
    ),
    (b'{"type":"act","match":"m"}', "protocol.missing_field", "/ask", "this field"),
    (b'{"type":"login","protocol":1,"name":"two words"}', "protocol.wrong_value", "/name", NAME),
    (b'{"type":"login","protocol":1,"name":"x\\n"}', "protocol.wrong_value", "/name", NAME),
    (b'{"type":"login","protocol":1,"name":"%b"}' % (b"x" * 33), "protocol.wrong_value", "/name", NAME),
    (b'{"type":"ping","echo":-1}', "protocol.wrong_value", "/echo", ">= 0"),
    (b'{"type":"ping","echo":null}', "protocol.wrong_value", "/echo", "int"),
    (
        b'{"type":"act","match":"m","ask":1,"move":{"type":"claim_route","route":"a-b","cards":{"red":0}}}',
        "protocol.wrong_value",
        "/move/cards/red",
        ">= 1",
    ),
    (
        b'{"type":"act","match":"m","ask":1,"move":{"type":"keep_tickets","tickets":["a",1]}}',
        "protocol.wrong_value",
        "/move/tickets",
        "str",
    ),
    (
        b'{"type":"login","protocol":1,"name":"a","resume":{"session":"s","key":"k","last_events":{"m":"x"}}}',
        "protocol.wrong_value",
        "/resume/last_events",
        "int",
    ),
    (
        b'{"type":"login","protocol":1,"name":"a","resume":{"session":"s","key":"k","last_events":{"m!":1}}}',
        "protocol.wrong_value",
        "/resume/last_events",
        "matching",
    ),
]


@pytest.mark.parametrize(("line", "code", "pointer", "expected"), REFUSED, ids=lambda value: str(value)[:50])
def test_a_line_that_is_not_a_message_is_refused_with_code_place_and_expectation(
    line: bytes, code: ErrorCode, pointer: str, expected: str
) -> None:
    with pytest.raises(LineError) as refused:
        read_line(line)
    assert refused.value.code == code
    assert refused.value.pointer.startswith(pointer)
    assert expected in refused.value.expected


def test_the_pointer_to_a_wrong_value_leads_to_it() -> None:
    for line in [line for line, code, _, _ in REFUSED if code == "protocol.wrong_value"]:
        with pytest.raises(LineError) as refused:
            read_line(line)
        value = json.loads(line)
        for step in refused.value.pointer.split("/")[1:]:
            value = value[int(step) if isinstance(value, list) else step]


def test_every_code_of_a_line_is_among_them() -> None:
    assert {code for _, code, _, _ in REFUSED} == set(get_args(LineErrorCode)) - {"wire.too_long"}


def test_so_many_levels_of_brackets_are_read() -> None:
    line = b'{"type":"ping","x":' + b"[" * (MAX_DEPTH - 1) + b"]" * (MAX_DEPTH - 1) + b"}"
    with pytest.raises(LineError, match=r"protocol\.unknown_field"):
        read_line(line)
    brackets_in_a_text = b'{"type":"ready","match":"' + b"[" * 100 + b'"}'
    with pytest.raises(LineError, match=r"protocol\.wrong_value at /match"):
        read_line(brackets_in_a_text)


def outcome(line: bytes) -> None:
    """Return a message that also passes the gate, or an error that is fit to be sent."""
    refused: LineError | None = None
    try:
        message = read_line(line)
    except LineError as error:
        refused = error
    else:
        assert message == read_any_line(line)
    if refused is not None:
        assert refused.code in ERROR_CODES
        assert len(refused.pointer) <= 200
        assert len(refused.expected) <= 200
        assert (refused.pointer + refused.expected).isprintable()


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_a_documented_error(line: bytes) -> None:
    outcome(line)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)


@given(st.sampled_from(MESSAGES), st.data())
def test_a_message_with_anything_in_it_changed_is_a_message_or_a_documented_error(
    message: FromClient, data: st.DataObject
) -> None:
    value: dict[str, Any] = json.loads(msgspec.json.encode(message))
    name = data.draw(st.sampled_from([*value]) | st.text(max_size=300))
    value[name] = data.draw(json_values)
    outcome(json.dumps(value).encode())


@given(st.sampled_from(MESSAGES), st.data())
def test_a_message_with_bytes_cut_or_changed_is_a_message_or_a_documented_error(
    message: FromClient, data: st.DataObject
) -> None:
    line = bytearray(msgspec.json.encode(message))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(line) - 1))
        line[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
        line = line or bytearray(b" ")
    outcome(bytes(line))


def reordered(text: bytes, data: st.DataObject) -> Any:
    """Yield the value of a JSON text with the members of every object in any order."""
    return json.loads(text, object_pairs_hook=lambda members: dict(data.draw(st.permutations(members))))


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")], ids=["tight", "with blanks"])
@given(st.sampled_from(MESSAGES), st.data())
def test_what_encoders_write_is_plain_in_any_order(
    separators: tuple[str, str], message: FromClient, data: st.DataObject
) -> None:
    value = reordered(msgspec.json.encode(message), data)
    assert read_plain_line(json.dumps(value, separators=separators).encode()) == message


NOT_PLAIN = [
    b'{"type":"ping","echo":1,"echo":1}',
    b'{"echo":1,"type":"ping","type":"ping"}',
    b'{"type":"act","match":"m1","ask":1,"note":"\\u0022\\u0022","ask":1}',  # written with as many quotes
    b'{"type":"ping","echo":1e2}',
    b'{"echo":10.0,"type":"ping"}',
    b'{"echo":9007199254740992,"type":"ping"}',
    b'{"type":"act","match":"m1","ask":1,"note":"\xc3("}',
    b'{"type":"act","match":"m1","ask":1,"note":"\xed\xa0\x80"}',
    b'{"type":"act","match":"m1","ask":1,"note":"\n"}',
    b'{"x":' + b"[" * 5000 + b"]" * 5000 + b',"type":"ping"}',
    b'{"x":' + b"[" * 5000,
]


@pytest.mark.parametrize("line", NOT_PLAIN, ids=lambda line: ascii(line[:40]))
def test_a_line_with_anything_that_the_gate_looks_for_is_not_plain(line: bytes) -> None:
    assert read_plain_line(line) is None


spoilers = st.sampled_from(
    [b'"', b"\\", b"\\u0022", b" ", b"\t", b"e1", b"0", b"-", b".0", b"{", b"}", b",", b'"ask":1,', b"\xc3"]
)


@given(st.sampled_from(MESSAGES), st.data())
def test_a_plain_line_with_the_gates_own_bytes_in_it_is_read_alike_both_ways(
    message: FromClient, data: st.DataObject
) -> None:
    line = json.dumps(reordered(msgspec.json.encode(message), data)).encode()
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(line)))
        dropped = data.draw(st.integers(0, 2))
        line = line[:place] + data.draw(spoilers) + line[place + dropped :]
    outcome(line)


@given(st.sampled_from(MESSAGES), st.data())
def test_a_repeated_member_is_refused_at_every_place(message: FromClient, data: st.DataObject) -> None:
    value: dict[str, Any] = json.loads(msgspec.json.encode(message))
    members = [f"{json.dumps(name)}:{json.dumps(inner)}" for name, inner in value.items()]
    members.insert(data.draw(st.integers(0, len(members))), data.draw(st.sampled_from(members)))
    with pytest.raises(LineError, match=r"wire\.duplicate_name"):
        read_line(f"{{{','.join(members)}}}".encode())


def test_every_code_says_what_it_means_and_what_to_do() -> None:
    assert set(CURES) == set(ERROR_CODES)
    assert len(set(ERROR_CODES)) == len(ERROR_CODES)
    assert all(meaning and cure for meaning, cure in CURES.values())
