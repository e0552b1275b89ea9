"""Canonical JSON is one text for one value, and nothing else passes the gate."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from stellwerk_base.texts import shown
from stellwerk_protocol.canonical import (
    LARGEST_INT,
    MAX_DEPTH,
    CanonicalError,
    Chain,
    JsonValue,
    chained,
    decode,
    decode_as,
    difference,
    encode,
    unseal,
)

CHARACTERS = st.characters(exclude_categories=["Cs"])
ASCII_NAMES = st.text(st.characters(max_codepoint=127), max_size=5)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers(-LARGEST_INT, LARGEST_INT) | st.text(CHARACTERS, max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ASCII_NAMES, inner, max_size=4),
    max_leaves=20,
)


class Card(Struct, frozen=True, omit_defaults=True):
    color: str
    count: Annotated[int, Meta(le=60)] = 1


CARD_DECODER = msgspec.json.Decoder(Card)


# -- values ------------------------------------------------------------------------------------------


@given(VALUES)
def test_the_text_of_a_value_is_the_recipe_of_the_specification(value: JsonValue) -> None:
    recipe = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert encode(value) == recipe


@given(VALUES)
def test_a_value_comes_back_from_its_text(value: JsonValue) -> None:
    assert decode(encode(value)) == value
    assert encode(decode(encode(value))) == encode(value)


def test_every_character_is_written_as_rfc_8785_writes_it() -> None:
    text = "".join(map(chr, range(0x20))) + '"\\/\x7f\x80é\u2028\U0001f682'
    escapes = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}
    controls = "".join(escapes.get(code, f"\\u{code:04x}") for code in range(0x20))
    assert encode(text).decode() == f'"{controls}\\"\\\\/\x7f\x80é\u2028\U0001f682"'


@pytest.mark.parametrize(
    "value",
    [1.5, {"a": [1.0]}, float("nan"), b"bytes", {1, 2}, object(), 2**53, -(2**53), "\ud800", {"é": 1}],
)
def test_a_value_without_canonical_json_is_refused(value: JsonValue) -> None:
    with pytest.raises(CanonicalError):
        encode(value)


def nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


def test_brackets_may_be_64_levels_deep() -> None:
    deepest = decode(nested(MAX_DEPTH))
    assert encode(deepest) == nested(MAX_DEPTH)
    with pytest.raises(CanonicalError, match="nested deeper than 64 levels"):
        decode(nested(MAX_DEPTH + 1))
    with pytest.raises(CanonicalError, match="nested deeper than 64 levels"):
        encode([deepest])


def test_brackets_in_strings_are_no_levels() -> None:
    text = b'["' + b"[{" * 100 + b'","\\"[[' + b"[" * 100 + b'"]'
    assert encode(decode(text)) == text


def test_brackets_beside_each_other_are_no_levels() -> None:
    text = b"[" + b"[[]]," * 1000 + b"[[]]]"
    assert encode(decode(text)) == text


# -- the gate ----------------------------------------------------------------------------------------

REFUSED = [
    (b"", "not JSON"),
    (b"{", "not JSON"),
    (b"nul", "not JSON"),
    (b"1 2", "not JSON"),
    (b'"a\nb"', "not JSON"),
    (b"\xef\xbb\xbf1", "BOM"),
    (b'"\xff"', "not UTF-8: byte 2 is 0xff"),
    (b'"\xed\xa0\x80"', "not UTF-8"),
    (b'"\xc0\xaf"', "not UTF-8"),
    (b'"\\ud800"', "half a surrogate pair"),
    (b'"\\udc00\\ud800"', "half a surrogate pair"),
    (b'{"a":1,"a":1}', "duplicate name a"),
    (b'[{"a":{"b":1,"c":2,"b":1}}]', "duplicate name b"),
    (b'{"\xc3\xa9":1}', "not ASCII"),
    (b"NaN", "NaN"),
    (b"[Infinity]", "Infinity"),
    (b"-Infinity", "-Infinity"),
    (b"1.0", "1.0 is not written as an integer"),
    (b"1e3", "1e3 is not written as an integer"),
    (b"1E400", "not written as an integer"),
    (b"9007199254740992", "beyond 9007199254740991"),
    (b"-9007199254740992", "beyond 9007199254740991"),
    (b"1" + b"0" * 5000, "beyond 9007199254740991"),
    (b"-0", "not canonical"),
    (b"01", "not JSON"),
    (b"[1, 2]", "not canonical"),
    (b"[1,2]\n", "not canonical"),
    (b'{"b":1,"a":2}', "not canonical"),
    (b'"\\u0041"', "not canonical"),
    (b'"\\/"', "not canonical"),
    (b'"\\u001F"', "not canonical"),
    (nested(100_000), "nested deeper than 64 levels"),
    (b'{"a":' * 100_000, "nested deeper than 64 levels"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED, ids=lambda part: ascii(part[:24]))
def test_what_is_not_canonical_is_refused_in_one_line(text: bytes, why: str) -> None:
    with pytest.raises(CanonicalError) as caught:
        decode(text)
    message = str(caught.value)
    assert why in message
    assert message.isprintable()
    assert len(message) < 200


@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:01-.eE\\u\ud800naft ', max_size=30).map(str))
def test_any_bytes_are_a_canonical_text_or_a_canonical_error(given_text: bytes | str) -> None:
    text = given_text if isinstance(given_text, bytes) else given_text.encode("utf-8", "surrogatepass")
    refusal = ""
    value: JsonValue = None
    try:
        value = decode(text)
    except CanonicalError as error:
        refusal = str(error)
    assert refusal or encode(value) == text
    assert refusal.isprintable()


# -- typed values ------------------------------------------------------------------------------------


def test_a_struct_is_written_with_sorted_names_and_without_defaults() -> None:
    assert encode(Card("red", 3)) == b'{"color":"red","count":3}'
    assert encode(Card("red")) == b'{"color":"red"}'
    assert decode_as(b'{"color":"red"}', CARD_DECODER) == Card("red")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b'{"color":"red","size":1}', "size: expected nothing, found 1"),
        (b'{"color":"red","count":1}', "count: expected nothing, found 1"),
        (b'{"color":"red","count":2.0}', "2.0 is not written as an integer"),
        (b'{"color":"red","count":"2"}', "Expected `int`, got `str` - at `$.count`"),
        (b'{"color":"blue","color":"red"}', "duplicate name color"),
        (b'{"color":"red","size":"\xff"}', "not UTF-8"),
        (b'{"color":"red","size":' + nested(5000) + b"}", "nested deeper"),
        (b'{"color":"red","count":1' + b"0" * 400 + b"}", "beyond 9007199254740991"),
        (b'{"count":2}', "missing required field `color`"),
        (b'{"color": "red"}', "not canonical"),
        (b'{"color":"red"', "not JSON"),
        (b"[]", "Expected `object`, got `array`"),
    ],
)
def test_a_text_that_a_struct_would_not_write_is_refused(text: bytes, why: str) -> None:
    with pytest.raises(CanonicalError) as caught:
        decode_as(text, CARD_DECODER)
    assert why in str(caught.value)
    assert str(caught.value).isprintable()


# -- differences -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "found", "text"),
    [
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, "a[0].b: expected 1, found 2"),
        ({"a": 1}, {}, "a: expected 1, found nothing"),
        ({}, {"a": "x"}, 'a: expected nothing, found "x"'),
        ([1, 2], [1], "[1]: expected 2, found the end of the list"),
        ([1], [1, [2]], "[1]: expected the end of the list, found [2]"),
        (True, 1, "expected true, found 1"),
        ("ab", ["a", "b"], 'expected "ab", found ["a","b"]'),
        ({"a": 1, "b": 1}, {"a": 2, "b": 2}, "a: expected 1, found 2"),
        ("x", "x" * 100, 'expected "x", found "' + "x" * 59 + "..."),
    ],
)
def test_the_first_difference_is_described(expected: JsonValue, found: JsonValue, text: str) -> None:
    assert str(difference(expected, found)) == text


@given(VALUES, VALUES)
def test_there_is_a_difference_if_and_only_if_the_texts_differ(one: JsonValue, other: JsonValue) -> None:
    assert (difference(one, other) is None) == (encode(one) == encode(other))
    assert difference(one, one) is None


@given(st.text(st.characters(), max_size=100))
def test_what_is_shown_obeys_no_terminal(text: str) -> None:
    assert shown(text).isprintable()


# -- the chain ---------------------------------------------------------------------------------------


def test_a_hash_covers_the_hash_before_it_and_the_body() -> None:
    chain = Chain("label")
    first, second = chain.add(Card("red")), chain.add(Card("blue"))
    hash_1 = hashlib.sha256(b'label\n{"color":"red"}').hexdigest()
    hash_2 = hashlib.sha256(hash_1.encode() + b'\n{"color":"blue"}').hexdigest()

    assert first == b'{"color":"red","hash":"' + hash_1.encode() + b'"}\n'
    assert second == b'{"color":"blue","hash":"' + hash_2.encode() + b'"}\n'
    assert chain.last == hash_2
    assert chained("label", b'{"color":"red"}') == hash_1


def test_a_chain_is_followed_line_by_line_and_goes_on_from_any_hash() -> None:
    written = Chain("label")
    lines = [written.add(Card(color)) for color in ("red", "blue", "green")]
    read = Chain("label")
    assert [read.follow(line) for line in lines[:2]] == [b'{"color":"red"}', b'{"color":"blue"}']
    assert Chain(read.last).follow(lines[2]) == b'{"color":"green"}'


def test_a_line_out_of_its_place_breaks_the_chain_and_is_not_followed() -> None:
    written = Chain("label")
    lines = [written.add(Card(color)) for color in ("red", "blue")]
    read = Chain("label")
    with pytest.raises(CanonicalError, match="hash: expected"):
        read.follow(lines[1])
    assert read.last == "label"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"{}\n",
        b'{"a":1,"hash":"' + b"0" * 63 + b'"}\n',
        b'{"a":1,"hash":"' + b"A" * 64 + b'"}\n',
        b'{"a":1,"hash":"' + b"0" * 64 + b'"}',
        b'{"a":1,"hash":"' + b"0" * 64 + b'"}\r\n',
        b'{"hash":"' + b"0" * 64 + b'","a":1}\n',
        b'{"a":1, "hash":"' + b"0" * 64 + b'"}\n',
        b'[1,"hash":"' + b"0" * 64 + b'"}\n',
    ],
)
def test_a_line_that_does_not_end_with_its_hash_is_refused(line: bytes) -> None:
    with pytest.raises(CanonicalError, match="whose last member is"):
        unseal(line)
