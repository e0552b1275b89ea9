"""The vectors of `protocol/conformance/vectors/wire`: lines, and their meaning to a reader.

The expectation is beside each line. The test of the vectors compares `client_line.read_line` with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from stellwerk_kit.vectors import ClientLine, Encoded, JsonObject, Refusal, ServerLine, Stream
from stellwerk_protocol.canonical import LARGEST_INT
from stellwerk_protocol.client_line import MAX_DEPTH
from stellwerk_protocol.error_codes import LineErrorCode

LINE: Final = 16_384  # a client's line after its login, by the usual limit


def _text(message: JsonObject) -> bytes:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()


def _login(**fields: Any) -> JsonObject:  # Any: fields of many types
    return {"type": "login", "protocol": 1, "name": "bot", **fields}


def _act(**fields: Any) -> JsonObject:  # Any: fields of many types
    return {"type": "act", "match": "m1", "ask": 1, **fields}


def _listed(match: str, state: str, **fields: Any) -> JsonObject:  # Any: fields of many types
    players = [{"seat": seat, "team": seat, "name": f"bot{seat}"} for seat in (0, 1)]
    return {"match": match, "state": state, "game": "usa", "options": [], "players": players, **fields}


def _ping(member: bytes) -> bytes:
    """Return a `ping` with one more member."""
    return b'{"type":"ping",%b}' % member


# -- what a client may send --------------------------------------------------------------------------

MESSAGES: Final[dict[str, tuple[str, JsonObject]]] = {
    "login": ("nothing but what is needed", _login()),
    "login-all": (
        "every field",
        _login(
            name="a.b-c_9",
            language="Räksmörgås++ 1.0",
            token="t" * 43,
            max_matches=64,
            wants={"legal": False, "view": False, "events": False},
            resume={"session": "s-1", "key": "k!~" * 20, "last_events": {"m1": 0, "m_2": 17}},
        ),
    ),
    "login-64-last-events": (
        "64 matches to go on with, in less than 4,096 bytes",
        _login(
            max_matches=64,
            resume={
                "session": "0123456789abcdef01",
                "key": "k" * 24,
                "last_events": {f"{number:018x}": 1_000 + number for number in range(64)},
            },
        ),
    ),
    "login-ended": (
        "64 matches whose end has arrived, if `hello.features` has `resume_ended`",
        _login(
            max_matches=64,
            resume={
                "session": "0123456789abcdef01",
                "key": "k" * 24,
                "last_events": {},
                "ended": [f"{number:018x}" for number in range(64)],
            },
        ),
    ),
    "login-longest-name": ("a name of 32 characters", _login(name="B" * 32)),
    "login-wants-some": ("a want alone", _login(wants={"events": False})),
    "login-quotes": ("quotes and backslashes in a text", _login(language='a "b" \\c\\ /d/')),
    "login-controls": ("control characters in a text", _login(language="a\tb\u0000\u001f\u007fc")),
    "login-line-ends": (
        "line ends inside a text: a newline has to be escaped, U+2028 need not",
        _login(language="one\ntwo\r\nthree\u2028four\u0085"),
    ),
    "login-beyond-the-bmp": (
        "a character beyond U+FFFF, as it is or as a pair of escapes",
        _login(language="🚂 \U0010ffff"),
    ),
    "join": ("into a public room", {"type": "join", "game": "usa", "players": 2}),
    "join-room": (
        "into a room with a name",
        {
            "type": "join",
            "game": "united_kingdom",
            "players": 4,
            "options": ["advanced_technologies"],
            "room": "R-1_x",
        },
    ),
    "join-practice": (
        "a practice match with a seat and a seed",
        {
            "type": "join",
            "game": "usa",
            "players": 3,
            "against": ["random", "greedy"],
            "seat": 2,
            "seed": "042 Zug um Zug: ümläut",
        },
    ),
    "leave-match": ("out of a match", {"type": "leave", "match": "m1"}),
    "leave-room": ("out of a room", {"type": "leave", "room": "r1"}),
    "ready": ("the set-up is over for this seat", {"type": "ready", "match": "m" * 64}),
    "act-index": ("an index", _act(index=0)),
    "act-index-largest": ("the largest index there can be", _act(index=999)),
    "act-ask-largest": ("the largest integer", _act(ask=LARGEST_INT, index=1)),
    "act-note": ("a note", _act(index=1, note="because ✓")),
    "act-draw-card": ("a move without fields", _act(move={"type": "draw_card"})),
    "act-take-card": ("a color", _act(move={"type": "take_card", "card": "locomotive"})),
    "act-draw-three": ("a move without fields", _act(move={"type": "draw_three"})),
    "act-place-card": ("a place", _act(move={"type": "place_card", "place": "holder"})),
    "act-claim-route": (
        "cards from two places",
        _act(
            move={
                "type": "claim_route",
                "route": "hong_kong-canton-1",
                "cards": {"blue": 4, "locomotive": 1},
                "holder_cards": {"blue": 60},
            }
        ),
    ),
    "act-claim-nothing": (
        "without cards: the message is right, and the move is for the game to refuse",
        _act(move={"type": "claim_route", "route": "atlanta-miami"}),
    ),
    "act-pay-tunnel": ("cards", _act(move={"type": "pay_tunnel", "cards": {"red": 1}})),
    "act-abandon-tunnel": ("a move without fields", _act(move={"type": "abandon_tunnel"})),
    "act-stop": ("a move without fields", _act(move={"type": "stop"})),
    "act-draw-tickets": ("a move without fields", _act(move={"type": "draw_tickets"})),
    "act-keep-tickets": (
        "tickets",
        _act(move={"type": "keep_tickets", "tickets": ["boston-miami", "dallas-new_york"]}),
    ),
    "act-keep-none": ("an empty list", _act(move={"type": "keep_tickets", "tickets": []})),
    "act-share-tickets": ("tickets", _act(move={"type": "share_tickets", "tickets": ["a-b"]})),
    "act-lay-cards": ("cards", _act(move={"type": "lay_cards", "cards": {"green": 2, "black": 1}})),
    "act-complete-tickets": ("tickets", _act(move={"type": "complete_tickets", "tickets": ["a-b-2"]})),
    "act-buy-technology": (
        "cards",
        _act(move={"type": "buy_technology", "technology": "booster", "cards": {"locomotive": 2}}),
    ),
    "act-build-station": (
        "cards",
        _act(move={"type": "build_station", "city": "wien", "cards": {"red": 1, "locomotive": 1}}),
    ),
    "act-pass": ("a move without fields", _act(move={"type": "pass"})),
    "act-both": (
        "index and move: the message is right, and the session refuses it",
        _act(index=0, move={"type": "pass"}),
    ),
    "act-neither": ("neither index nor move: the same", _act()),
    "ping": ("without an echo", {"type": "ping"}),
    "ping-zero": ("an echo of 0 is not absent", {"type": "ping", "echo": 0}),
    "ping-largest": ("2^53-1", {"type": "ping", "echo": LARGEST_INT}),
    "watch": ("as the public", {"type": "watch", "match": "m1"}),
    "watch-all-hands": ("as the organizer", {"type": "watch", "match": "m1", "viewer": "all_hands"}),
    "matches": ("all of them, if `hello.features` has `matches`", {"type": "matches"}),
    "matches-after": (
        "what has changed after a cursor",
        {"type": "matches", "after": "5c0a9f2b-12_" + "9" * 52},
    ),
}
NOT_TO_BE_SENT: Final = ("act-both", "act-neither", "login-ended")  # libraries need not write them

# The same messages, written in other ways that JSON allows.
OTHER_WRITINGS: Final[dict[str, tuple[str, bytes, JsonObject]]] = {
    "carriage-return": (
        "a carriage return before the newline",
        b'{"type":"ping","echo":1}\r',
        {"type": "ping", "echo": 1},
    ),
    "blanks": (
        "blanks around every token",
        b' \t{ "type" :\t"ping" , "echo" : 1 } ',
        {"type": "ping", "echo": 1},
    ),
    "type-last": (
        "the type behind the other fields",
        b'{"echo":1,"type":"ping"}',
        {"type": "ping", "echo": 1},
    ),
    "escapes": (
        "letters written as escapes, in names too",
        b'{"typ\\u0065":"p\\u0069ng","echo":1}',
        {"type": "ping", "echo": 1},
    ),
    "surrogate-pair": (
        "a character beyond U+FFFF as a pair of escapes",
        b'{"type":"login","protocol":1,"name":"bot","language":"\\ud83d\\ude82"}',
        _login(language="🚂"),
    ),
    "defaults": (
        "fields with the values that they have when they are absent",
        b'{"type":"login","protocol":1,"name":"bot","max_matches":1,"wants":{"legal":true},"language":""}',
        _login(),
    ),
    "brackets-in-a-text": (
        "a hundred brackets, all of them in a text",
        _text(_act(index=0, note="[" * 50 + "{" * 50)),
        _act(index=0, note="[" * 50 + "{" * 50),
    ),
    "minus-zero": ("-0 is 0", b'{"type":"ping","echo":-0}', {"type": "ping", "echo": 0}),
    "colors-in-any-order": (
        "names of an object in any order",
        _text(_act(move={"type": "lay_cards", "cards": {"red": 1, "purple": 1, "green": 1}})),
        _act(move={"type": "lay_cards", "cards": {"purple": 1, "green": 1, "red": 1}}),
    ),
    "blanks-up-to-the-limit": (
        "16,384 bytes, the usual limit",
        b'{"type":"ping"' + b" " * (LINE - 15) + b"}",
        {"type": "ping"},
    ),
}

Refused = tuple[str, bytes, LineErrorCode, str | None]  # None: the specification fixes no pointer

REFUSED: Final[dict[str, Refused]] = {
    # bytes
    "utf8-lone-byte": ("a byte that begins no character", b"\xff", "wire.not_utf8", ""),
    "utf8-in-a-field": ("broken UTF-8 in a field", _ping(b'"echo":"\xc3("'), "wire.not_utf8", ""),
    "utf8-in-an-unknown-field": (
        "broken UTF-8 where a careless reader skips it",
        _ping(b'"x":"\xc3("'),
        "wire.not_utf8",
        "",
    ),
    "utf8-in-a-name": ("broken UTF-8 in a name", _ping(b'"\xff":1'), "wire.not_utf8", ""),
    "utf8-surrogate": ("a surrogate in UTF-8 (CESU-8)", _ping(b'"x":"\xed\xa0\x80"'), "wire.not_utf8", ""),
    "utf8-overlong": ("a slash in two bytes", _ping(b'"x":"\xc0\xaf"'), "wire.not_utf8", ""),
    "utf8-beyond": ("beyond U+10FFFF", _ping(b'"x":"\xf4\x90\x80\x80"'), "wire.not_utf8", ""),
    "utf8-cut": (
        "a character cut short at the end of the line",
        b'{"type":"ping"}\xe2\x82',
        "wire.not_utf8",
        "",
    ),
    "utf16": ("UTF-16", '{"type":"ping"}'.encode("utf-16"), "wire.not_utf8", ""),
    # not JSON
    "empty": ("an empty line", b"", "wire.not_json", ""),
    "carriage-return-alone": ("an empty line with a carriage return", b"\r", "wire.not_json", ""),
    "blanks": ("blanks alone", b"  \t ", "wire.not_json", ""),
    "bom": ("a byte order mark before the object", b'\xef\xbb\xbf{"type":"ping"}', "wire.not_json", ""),
    "words": ("no JSON at all", b"GET / HTTP/1.1", "wire.not_json", ""),
    "cut": ("an object without its end", b'{"type":"ping"', "wire.not_json", ""),
    "cut-in-a-text": ("a text without its end", b'{"type":"pi', "wire.not_json", ""),
    "two-objects": ("two objects in one line", b'{"type":"ping"}{"type":"ping"}', "wire.not_json", ""),
    "garbage-behind": ("something behind the object", b'{"type":"ping"} x', "wire.not_json", ""),
    "comma-behind": ("a comma behind the last member", b'{"type":"ping",}', "wire.not_json", ""),
    "single-quotes": ("quotes that JSON does not know", b"{'type':'ping'}", "wire.not_json", ""),
    "no-quotes": ("a name without quotes", b'{type:"ping"}', "wire.not_json", ""),
    "comment": ("a comment", b'{"type":"ping"/*x*/}', "wire.not_json", ""),
    "tab-in-a-text": ("a control character that is not escaped", _ping(b'"x":"\t"'), "wire.not_json", ""),
    "nul": ("a byte 0", b'{"type":"ping"}\x00', "wire.not_json", ""),
    "bad-escape": ("an escape that JSON does not know", _ping(b'"x":"\\x41"'), "wire.not_json", ""),
    "form-feed": ("a blank that JSON does not know", b'\x0c{"type":"ping"}', "wire.not_json", ""),
    "no-break-space": ("a blank that JSON does not know", b'\xc2\xa0{"type":"ping"}', "wire.not_json", ""),
    "leading-zero": ("a number with a leading zero", _ping(b'"echo":01'), "wire.not_json", ""),
    "plus": ("a number with a plus", _ping(b'"echo":+1'), "wire.not_json", ""),
    "hexadecimal": ("a hexadecimal number", _ping(b'"echo":0x10'), "wire.not_json", ""),
    "true-in-python": ("a word that JSON does not know", _ping(b'"x":True'), "wire.not_json", ""),
    "surrogate-half": (
        "half of a surrogate pair, as an escape: no text of Unicode",
        b'{"type":"act","match":"m1","ask":1,"index":0,"note":"\\ud800"}',
        "wire.not_json",
        "",
    ),
    "surrogate-halves-swapped": (
        "a surrogate pair the wrong way round",
        b'{"type":"act","match":"m1","ask":1,"index":0,"note":"\\ude82\\ud83d"}',
        "wire.not_json",
        "",
    ),
    # too deep
    "deep-65": (
        f"{MAX_DEPTH + 1} levels of brackets",
        _ping(b'"x":' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH),
        "wire.too_deep",
        "",
    ),
    "deep-5000": ("5,000 levels", _ping(b'"x":' + b"[" * 5000 + b"]" * 5000), "wire.too_deep", ""),
    "deep-without-end": ("16,000 brackets that nobody closes", b"[" * 16_000, "wire.too_deep", ""),
    "deep-objects": ("65 objects in one another", b'{"a":' * 65 + b"1" + b"}" * 65, "wire.too_deep", ""),
    "deep-64": (
        f"{MAX_DEPTH} levels are read; the field is not known",
        _ping(b'"x":' + b"[" * (MAX_DEPTH - 1) + b"]" * (MAX_DEPTH - 1)),
        "protocol.unknown_field",
        "/x",
    ),
    # names
    "name-twice": ("a name twice", _ping(b'"echo":1,"echo":2'), "wire.duplicate_name", ""),
    "name-twice-alike": (
        "a name twice with the same value",
        _ping(b'"echo":1,"echo":1'),
        "wire.duplicate_name",
        "",
    ),
    "type-twice": ("the type twice", b'{"type":"ping","type":"ping"}', "wire.duplicate_name", ""),
    "name-twice-inside": (
        "a name twice in an object inside",
        _text(_act())[:-1] + b',"move":{"type":"lay_cards","cards":{"red":1,"red":2}}}',
        "wire.duplicate_name",
        "",
    ),
    "name-twice-in-an-unknown-field": (
        "a name twice where a careless reader skips it",
        _ping(b'"x":[{"a":1,"a":2}]'),
        "wire.duplicate_name",
        "",
    ),
    "name-twice-by-escapes": (
        "a name twice, once in escapes",
        _ping(b'"echo":1,"ech\\u006f":2'),
        "wire.duplicate_name",
        "",
    ),
    # numbers
    "number-fraction": ("a fraction", _ping(b'"echo":1.5'), "wire.bad_number", ""),
    "number-fraction-of-0": ("an integer written as a fraction", _ping(b'"echo":1.0'), "wire.bad_number", ""),
    "number-exponent": ("an integer with an exponent", _ping(b'"echo":1e3'), "wire.bad_number", ""),
    "number-infinite": ("a number beyond every double", _ping(b'"echo":1e999'), "wire.bad_number", ""),
    "number-nan": (
        "NaN, which JSON does not know and many writers write",
        _ping(b'"echo":NaN'),
        "wire.bad_number",
        "",
    ),
    "number-infinity": ("Infinity, the same", _ping(b'"echo":Infinity'), "wire.bad_number", ""),
    "number-minus-infinity": ("-Infinity, the same", _ping(b'"x":-Infinity'), "wire.bad_number", ""),
    "number-2^53": ("2^53", _ping(b'"echo":9007199254740992'), "wire.bad_number", ""),
    "number-minus-2^53": ("-2^53", _ping(b'"echo":-9007199254740992'), "wire.bad_number", ""),
    "number-2^64": ("2^64", _ping(b'"echo":18446744073709551616'), "wire.bad_number", ""),
    "number-10^400": ("10^400", _ping(b'"echo":1' + b"0" * 400), "wire.bad_number", ""),
    "number-in-an-unknown-field": (
        "10^5000 where a careless reader skips it",
        _ping(b'"x":[1' + b"0" * 5000 + b"]"),
        "wire.bad_number",
        "",
    ),
    "number-negative": (
        "an integer as JSON wants it, below the field's bound",
        _ping(b'"echo":-1'),
        "protocol.wrong_value",
        "/echo",
    ),
    # values that are not objects
    "null": ("null", b"null", "protocol.not_an_object", ""),
    "list": ("a list with a message", b'[{"type":"ping"}]', "protocol.not_an_object", ""),
    "text": ("a text with a message", b'"{\\"type\\":\\"ping\\"}"', "protocol.not_an_object", ""),
    "number": ("a number", b"7", "protocol.not_an_object", ""),
    # types
    "no-type": ("an object without a type", b"{}", "protocol.missing_field", "/type"),
    "type-unknown": ("an unknown type", b'{"type":"pingg"}', "protocol.unknown_type", "/type"),
    "type-of-the-server": (
        "a message that only servers send",
        b'{"type":"pong"}',
        "protocol.unknown_type",
        "/type",
    ),
    "type-in-capitals": ("a type in capitals", b'{"type":"PING"}', "protocol.unknown_type", "/type"),
    "type-number": ("a type that is no text", b'{"type":7}', "protocol.unknown_type", "/type"),
    "type-list": ("a type that is a list", b'{"type":["ping"]}', "protocol.unknown_type", "/type"),
    # fields
    "field-unknown": ("a misspelt field", _ping(b'"ecko":1'), "protocol.unknown_field", "/ecko"),
    "field-unknown-in-wants": (
        "a misspelt field inside",
        _text(_login(wants={"leagl": True})),
        "protocol.unknown_field",
        "/wants/leagl",
    ),
    "field-unknown-in-resume": (
        "an unknown field inside",
        _text(_login(resume={"session": "s", "key": "k", "last_events": {}, "x": 1})),
        "protocol.unknown_field",
        "/resume/x",
    ),
    "field-unknown-in-a-move": (
        "an unknown field in a move",
        _text(_act(move={"type": "pass", "why": "so"})),
        "protocol.unknown_field",
        "/move/why",
    ),
    "field-of-another-type": (
        "a field of another message",
        _ping(b'"match":"m1"'),
        "protocol.unknown_field",
        "/match",
    ),
    "field-missing": (
        "a field is missing",
        _text({"type": "act", "match": "m1"}),
        "protocol.missing_field",
        "/ask",
    ),
    "field-missing-ready": ("a field is missing", b'{"type":"ready"}', "protocol.missing_field", "/match"),
    "field-missing-in-resume": (
        "a field inside is missing",
        _text(_login(resume={"session": "s", "last_events": {}})),
        "protocol.missing_field",
        "/resume/key",
    ),
    "field-missing-in-a-move": (
        "a field of a move is missing",
        _text(_act(move={"type": "take_card"})),
        "protocol.missing_field",
        "/move/card",
    ),
    # values
    "null-field": ("null for an absent field", _ping(b'"echo":null'), "protocol.wrong_value", "/echo"),
    "null-seed": (
        "null for an absent field",
        _text({"type": "join", "game": "usa", "players": 2, "seed": None}),
        "protocol.wrong_value",
        "/seed",
    ),
    "true-for-a-number": ("true for a number", _ping(b'"echo":true'), "protocol.wrong_value", "/echo"),
    "text-for-a-number": ("a text for a number", _ping(b'"echo":"1"'), "protocol.wrong_value", "/echo"),
    "number-for-a-text": (
        "a number for a text",
        b'{"type":"ready","match":1}',
        "protocol.wrong_value",
        "/match",
    ),
    "number-for-a-flag": (
        "a number for true or false",
        _text(_login(wants={"legal": 1})),
        "protocol.wrong_value",
        "/wants/legal",
    ),
    "object-for-a-list": (
        "an object for a list",
        _text({"type": "join", "game": "usa", "players": 2, "options": {}}),
        "protocol.wrong_value",
        "/options",
    ),
    "list-for-an-object": ("a list for an object", _text(_login(wants=[])), "protocol.wrong_value", "/wants"),
    "move-unknown": (
        "an unknown move",
        _text(_act(move={"type": "fly"})),
        "protocol.wrong_value",
        "/move/type",
    ),
    "color-unknown": (
        "an unknown color",
        _text(_act(move={"type": "take_card", "card": "pink"})),
        "protocol.wrong_value",
        "/move/card",
    ),
    "cards-zero": (
        "a color with 0 cards",
        _text(_act(move={"type": "lay_cards", "cards": {"red": 0}})),
        "protocol.wrong_value",
        "/move/cards/red",
    ),
    "cards-61": (
        "more cards than there can be",
        _text(_act(move={"type": "lay_cards", "cards": {"red": 61}})),
        "protocol.wrong_value",
        "/move/cards/red",
    ),
    "ticket-number": (
        "a number among names",
        _text(_act(move={"type": "keep_tickets", "tickets": ["a-b", 1]})),
        "protocol.wrong_value",
        None,
    ),
    "name-empty": ("an empty name", _text(_login(name="")), "protocol.wrong_value", "/name"),
    "name-33": ("a name of 33 characters", _text(_login(name="B" * 33)), "protocol.wrong_value", "/name"),
    "name-blank": ("a name with a blank", _text(_login(name="two words")), "protocol.wrong_value", "/name"),
    "name-newline": (
        "a name with a newline at its end",
        _text(_login(name="bot\n")),
        "protocol.wrong_value",
        "/name",
    ),
    "name-accent": (
        "a name with a letter beyond ASCII",
        _text(_login(name="bööt")),
        "protocol.wrong_value",
        "/name",
    ),
    "name-dot": (
        "a name that begins with a dot",
        _text(_login(name=".bot")),
        "protocol.wrong_value",
        "/name",
    ),
    "matches-0": ("no match at a time", _text(_login(max_matches=0)), "protocol.wrong_value", "/max_matches"),
    "last-events-65": (
        "65 matches to go on with",
        _text(_login(resume={"session": "s", "key": "k", "last_events": {f"m{n}": 0 for n in range(65)}})),
        "protocol.wrong_value",
        "/resume/last_events",
    ),
    "ended-65": (
        "65 matches whose end has arrived",
        _text(
            _login(
                resume={"session": "s", "key": "k", "last_events": {}, "ended": [f"m{n}" for n in range(65)]}
            )
        ),
        "protocol.wrong_value",
        "/resume/ended",
    ),
    "matches-65": (
        "more matches than 64",
        _text(_login(max_matches=65)),
        "protocol.wrong_value",
        "/max_matches",
    ),
    "language-201": (
        "a text of 201 characters",
        _text(_login(language="x" * 201)),
        "protocol.wrong_value",
        "/language",
    ),
    "players-1": (
        "one player",
        _text({"type": "join", "game": "usa", "players": 1}),
        "protocol.wrong_value",
        "/players",
    ),
    "room-blank": (
        "a room with a blank",
        _text({"type": "join", "game": "usa", "players": 2, "room": "a b"}),
        "protocol.wrong_value",
        "/room",
    ),
    "match-65": (
        "an id of 65 characters",
        _text({"type": "ready", "match": "m" * 65}),
        "protocol.wrong_value",
        "/match",
    ),
    "index-negative": ("an index below 0", _text(_act(index=-1)), "protocol.wrong_value", "/index"),
    "note-501": (
        "a note of 501 characters",
        _text(_act(index=0, note="x" * 501)),
        "protocol.wrong_value",
        "/note",
    ),
    "viewer-seat": (
        "a viewer that is no spectator",
        _text({"type": "watch", "match": "m1", "viewer": "seat"}),
        "protocol.wrong_value",
        "/viewer",
    ),
}


def client_lines() -> Iterator[ClientLine]:
    for id, (about, message) in MESSAGES.items():
        yield ClientLine(id=f"message-{id}", about=about, base64=_text(message), message=message)
    for id, (about, line, message) in OTHER_WRITINGS.items():
        yield ClientLine(id=f"writing-{id}", about=about, base64=line, message=message)
    for id, (about, line, code, pointer) in REFUSED.items():
        error = Refusal(code, UNSET if pointer is None else pointer)
        yield ClientLine(id=f"refused-{id}", about=about, base64=line, error=error)


def encoded() -> Iterator[Encoded]:
    for id, (about, message) in MESSAGES.items():
        if id not in NOT_TO_BE_SENT:
            yield Encoded(id=f"encode-{id}", about=about, message=message)


# -- what a server may send --------------------------------------------------------------------------

_LIMITS: Final = {
    "line_before_login": 4096,
    "line": 16384,
    "depth": 64,
    "login_ms": 30000,
    "messages_a_second": 20,
    "burst": 40,
    "unsent_bytes": 1048576,
    "unsent_ms": 5000,
}
_HELLO: Final[JsonObject] = {
    "type": "hello",
    "protocols": [1],
    "server": "stellwerk 0.1.0",
    "limits": _LIMITS,
    "features": ["resume", "rooms"],
}
_VIEW: Final[JsonObject] = {
    "game": "usa",
    "viewer": "seat",
    "turn": 1,
    "progress_turn": 0,
    "passes": 0,
    "market": {"blue": 3, "locomotive": 2},
    "pile": 97,
    "pile_may_hold": {"red": 12},
    "discards": {},
    "ticket_pile": 26,
    "players": [
        {
            "seat": 0,
            "team": 0,
            "points": 0,
            "hand_count": 1,
            "known_cards": {},
            "ticket_count": 1,
            "trains": 45,
            "routes": [],
            "hand": {"red": 1},
            "tickets": ["boston-miami"],
        },
    ],
    "seat": 0,
    "pending": {"type": "take_turn", "seats": [0]},
}
_ASK: Final[JsonObject] = {
    "type": "ask",
    "match": "m1",
    "ask": 5,
    "after_event": 22,
    "decision": {"type": "take_turn", "seats": [0]},
    "move_ms": 1000,
    "bank_ms": 10000,
    "tries": 3,
    "fallback": {"type": "draw_card"},
    "view": _VIEW,
    "legal": [{"type": "draw_card"}, {"type": "claim_route", "route": "a-b", "cards": {"red": 1}}],
    "legal_complete": True,
}
_START: Final[JsonObject] = {
    "type": "start",
    "match": "m1",
    "viewer": "seat",
    "players": [{"seat": 0, "team": 0, "name": "bot"}, {"seat": 1, "team": 1, "name": "random"}],
    "game": "usa",
    "rules_version": 1,
    "options": [],
    "board": {
        "format": "stellwerk-board/1",
        "id": "tiny",
        "title": "Two cities",
        "provenance": "Made up.",
        "cards_each_color": 1,
        "locomotives": 0,
        "cities": [
            {"id": "a", "name": "Montréal", "x": 901.4, "y": 51},
            {"id": "b", "name": "Québec", "x": 950.25, "y": 0},
        ],
        "tickets": [{"id": "a-b", "a": "a", "b": "b", "points": 1, "cards": {"red": 1}}],
    },
    "board_digest": "f" * 64,
    "clocks": {
        "set_up_ms": 30000,
        "move_ms": 1000,
        "bank_ms": 10000,
        "grace_ms": 50,
        "strikes": 3,
        "tries": 3,
        "defaults_in_a_row": 3,
        "defaults": 10,
    },
    "commitment": "0" * 64,
    "seat": 0,
}
_ERROR: Final[JsonObject] = {
    "type": "error",
    "code": "game.route_taken",
    "expected": "a route that this seat may claim now",
    "pointer": "/move/route",
    "match": "m1",
    "ask": 5,
    "tries": 2,
    "nearest": {"type": "draw_card"},
}
_END: Final[JsonObject] = {
    "type": "end",
    "match": "m1",
    "result": {"reason": "trains", "turns": 71, "ranks": [1, 2], "teams": []},
    "transcript": "1" * 64,
    "reveal": "later",
}

SAID: Final[dict[str, tuple[str, JsonObject]]] = {
    "hello": ("the first line", _HELLO),
    "hello-versions": ("versions that the client does not know", _HELLO | {"protocols": [1, 2, 7]}),
    "welcome": (
        "a login was accepted",
        {"type": "welcome", "session": "s1", "resume_key": "k" * 24, "name": "bot", "wants": {}, "games": []},
    ),
    "joined": ("nobody is missing: 0 is not absent", {"type": "joined", "room": "r1", "missing": 0}),
    "left-room": ("a room", {"type": "left", "room": "r1"}),
    "left-match": ("a match", {"type": "left", "match": "m1"}),
    "start": ("a board has decimals", _START),
    "start-technologies": (
        "technologies for sale; one that no route needs",
        _START
        | {
            "game": "united_kingdom",
            "technologies": [
                {"technology": "wales_concession", "supply": 4, "price": 1, "regions": ["wales"]},
                {"technology": "mechanical_stoker", "supply": 4, "price": 1, "lengths": [3]},
                {"technology": "propellers", "supply": 4, "price": 2, "ferries": True},
                {"technology": "booster", "supply": 4, "price": 2},
            ],
        },
    ),
    "start-spectator": (
        "without a seat",
        {name: value for name, value in _START.items() if name != "seat"} | {"viewer": "public"},
    ),
    "event": (
        "private cards",
        {
            "type": "event",
            "match": "m1",
            "number": 2,
            "event": {"type": "cards_dealt", "seat": 0, "count": 4, "cards": {"purple": 1, "red": 3}},
        },
    ),
    "event-redacted": (
        "the same without them",
        {
            "type": "event",
            "match": "m1",
            "number": 3,
            "event": {"type": "cards_dealt", "seat": 1, "count": 4},
        },
    ),
    "ask": ("with all that can be asked for", _ASK),
    "ask-bare": (
        "without view and list",
        {name: _ASK[name] for name in _ASK if name not in ("view", "legal", "legal_complete")},
    ),
    "ok": ("accepted", {"type": "ok", "match": "m1", "ask": 5, "took_ms": 0, "bank_ms": 10000}),
    "error": ("with all fields", _ERROR),
    "error-bare": (
        "with no more than it must have",
        {"type": "error", "code": "wire.not_json", "expected": "JSON"},
    ),
    "error-retry": (
        "when to try again",
        {"type": "error", "code": "server.full", "expected": "to join later", "retry_ms": 5000},
    ),
    "default": (
        "without `by_default`",
        {
            "type": "default",
            "match": "m1",
            "ask": 6,
            "reason": "time",
            "move": {"type": "draw_card"},
            "defaults": 1,
        },
    ),
    "seat": ("another seat", {"type": "seat", "match": "m1", "seat": 1, "state": "lost"}),
    "end": ("without seed and salt", _END),
    "end-now": ("with seed and salt", _END | {"reveal": "now", "seed": "2" * 64, "salt": "3" * 64}),
    "match-list": ("a list without matches", {"type": "match_list", "cursor": "5c0a-0-0", "matches": []}),
    "match-list-matches": (
        "a match that runs, one that has ended, and one that the server failed",
        {
            "type": "match_list",
            "cursor": "5c0a-12-9",
            "matches": [
                _listed("m1", "running", decisions=37),
                _listed("m2", "ended", turns=71, ranks=[1, 2], points=[137, -52]),
                _listed("m3", "failed"),
            ],
            "anew": True,
            "more": True,
        },
    ),
    "pong": ("without an echo", {"type": "pong"}),
    "pong-largest": ("2^53-1", {"type": "pong", "echo": LARGEST_INT}),
    "bye": ("the end", {"type": "bye", "code": "done", "expected": "nothing more"}),
    "bye-retry": (
        "when to come back",
        {"type": "bye", "code": "server.full", "expected": "later", "retry_ms": 5000},
    ),
}

WRITTEN_OTHERWISE: Final[dict[str, tuple[str, bytes, JsonObject]]] = {
    "type-last": (
        "the type behind the other fields",
        b'{"code":"done","expected":"nothing","type":"bye"}',
        {"type": "bye", "code": "done", "expected": "nothing"},
    ),
    "blanks": (
        "blanks around every token",
        b' { "type" : "pong" , "echo" : 7 } ',
        {"type": "pong", "echo": 7},
    ),
    "carriage-return": (
        "a carriage return at the end",
        b'{"type":"pong","echo":7}\r',
        {"type": "pong", "echo": 7},
    ),
    "escapes": (
        "letters written as escapes",
        b'{"type":"b\\u0079e","code":"done","expected":"\\ud83d\\ude82 \\"\\u00e4\\""}',
        {"type": "bye", "code": "done", "expected": '🚂 "ä"'},
    ),
    "line-ends-in-a-text": (
        "U+2028 and U+0085 are no line ends",
        '{"type":"bye","code":"done","expected":"a\u2028b\u0085c"}'.encode(),
        {"type": "bye", "code": "done", "expected": "a\u2028b\u0085c"},
    ),
    "longest": (
        "59,999 bytes",
        b'{"type":"pong","echo":7' + b" " * (59_999 - 24) + b"}",
        {"type": "pong", "echo": 7},
    ),
}

_NEW: Final[JsonObject] = {
    "season": "winter",
    "sky": ["gray", {"type": "ask", "rain": None}],
    "degrees": -3.5,
}

NEWER: Final[dict[str, tuple[str, JsonObject, JsonObject]]] = {
    "hello": (
        "new fields, limits and features",
        _HELLO,
        {"limits": _LIMITS | {"x": 1}, "features": ["resume", "rooms", "x"]},
    ),
    "ask": ("new fields in an ask", _ASK, _NEW),
    "ask-view": ("new fields in a view", _ASK, {"view": _VIEW | _NEW}),
    "start": ("new fields in a start", _START, _NEW),
    "error-code": ("a new code of a known class", _ERROR, {"code": "game.too_late_for_this"}),
    "end": ("new fields in an end", _END, _NEW),
    "event": (
        "an event that nobody knows yet",
        {"type": "event", "match": "m1", "number": 3},
        {"event": {"type": "bridge_built", **_NEW}},
    ),
}

NO_SERVERS: Final[dict[str, tuple[str, bytes]]] = {
    "empty": ("an empty line", b""),
    "words": ("no JSON", b"HTTP/1.1 400 Bad Request"),
    "cut": ("an object without its end", b'{"type":"pong","echo":1'),
    "list": ("a list", b'[{"type":"pong"}]'),
    "null": ("null", b"null"),
    "no-type": ("an object without a type", b'{"echo":1}'),
    "type-number": ("a type that is no text", b'{"type":7}'),
    "not-utf8": ("no UTF-8", b'{"type":"bye","code":"done","expected":"\xff"}'),
    "hello-without-protocols": ("a field is missing that nobody can do without", b'{"type":"hello"}'),
    "ask-without-number": ("the same", b'{"type":"ask","match":"m1","fallback":{"type":"pass"}}'),
}


def server_lines() -> Iterator[ServerLine]:
    for id, (about, message) in SAID.items():
        yield ServerLine(id=f"message-{id}", about=about, base64=_text(message), message=message)
    for id, (about, line, message) in WRITTEN_OTHERWISE.items():
        yield ServerLine(id=f"writing-{id}", about=about, base64=line, message=message)
    for id, (about, message, new) in NEWER.items():
        yield ServerLine(
            id=f"newer-{id}", about=about, base64=_text(message | new), message=_known(message, new)
        )
    unknown = {"type": "weather", "match": "m1", **_NEW}
    yield ServerLine(
        id="newer-message", about="a message that nobody knows yet", base64=_text(unknown), ignored=True
    )
    for id, (about, line) in NO_SERVERS.items():
        yield ServerLine(id=f"refused-{id}", about=about, base64=line, refused=True)


def _known(message: JsonObject, new: JsonObject) -> JsonObject:
    """Return what a client must read from a message even if it does not know the new fields."""
    changed = {name: value for name, value in new.items() if name == "code"}
    return {name: value for name, value in message.items() if name not in ("features",)} | changed


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


def files() -> dict[str, bytes]:
    """Return the names and contents of the files."""
    vectors: dict[str, list[Struct]] = {
        "client_lines": [*client_lines()],
        "server_lines": [*server_lines()],
        "encode": [*encoded()],
        "streams": [*streams()],
    }
    return {
        f"wire/{name}.jsonl": b"".join(msgspec.json.encode(each) + b"\n" for each in of_file)
        for name, of_file in vectors.items()
    }
