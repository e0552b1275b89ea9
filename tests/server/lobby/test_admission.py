"""Origins and places: who may take how much, without a server."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk_server.lobby.admission import LOOPBACK, Origin, Places, origin_of

ORIGINS = (None, "10.0.0.1", "10.0.0.2", "2001:db8::/64")

# -- origins -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("2001:db8:0:1:ffff::9", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("127.0.0.1", None),
        ("127.9.9.9", None),
        ("::1", None),
        ("::ffff:127.0.0.1", None),
        ("stdio:bot", None),
        ("", None),
    ],
)
def test_an_origin_is_an_ipv4_address_or_the_64_of_an_ipv6_one(address: str, origin: Origin) -> None:
    assert origin_of(address, LOOPBACK) == origin


def test_what_is_trusted_is_for_the_organizer_to_say() -> None:
    assert origin_of("127.0.0.1", ()) == "127.0.0.1"
    assert origin_of("10.1.2.3", (ip_network("10.0.0.0/8"),)) is None
    assert origin_of("::ffff:10.1.2.3", (ip_network("10.0.0.0/8"),)) is None


# -- places ------------------------------------------------------------------------------------------


def test_an_origin_has_its_own_limit_and_a_trusted_one_only_that_of_all() -> None:
    places: Places[int] = Places(most=4, most_each=2)
    places.take(1, "10.0.0.1")
    places.take(2, "10.0.0.1")
    assert not places.are_left_for("10.0.0.1")
    assert places.are_left_for("10.0.0.2")
    places.take(3, None)
    places.take(4, None)
    assert not places.are_left_for("10.0.0.2")
    places.give_back(4)
    assert places.are_left_for(None)
    assert not places.are_left_for("10.0.0.1")


def test_the_oldest_one_of_the_biggest_holder_is_the_first_to_go() -> None:
    places: Places[str] = Places(most=6)
    for thing, origin in (("a1", "a"), ("b1", "b"), ("b2", "b"), ("c1", "c"), ("b3", "b"), ("c2", "c")):
        places.take(thing, origin)
    assert places.first_to_go() == "b1"
    places.give_back("b1")
    places.give_back("b2")
    assert places.first_to_go() == "c1"


def test_a_trusted_origin_goes_only_if_there_is_no_other() -> None:
    places: Places[str] = Places(most=4)
    for thing, origin in (("own1", None), ("own2", None), ("own3", None), ("stranger", "10.0.0.1")):
        places.take(thing, origin)
    assert places.first_to_go() == "stranger"
    places.give_back("stranger")
    assert places.first_to_go() == "own1"


def test_if_nobody_holds_a_place_nobody_goes() -> None:
    places: Places[str] = Places(most=1)
    assert places.first_to_go() is None


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from(ORIGINS), st.booleans()), max_size=40))
def test_places_are_counted_right_whoever_comes_and_goes(
    steps: list[tuple[int, Origin, bool]],
) -> None:
    places: Places[int] = Places(most=5, most_each=2)
    model: dict[int, Origin] = {}
    for thing, origin, comes in steps:
        if comes and thing not in model and places.are_left_for(origin):
            places.take(thing, origin)
            model[thing] = origin
        elif not comes:
            places.give_back(thing)
            model.pop(thing, None)
        assert list(places) == list(model)
        assert len(places) == len(model) <= 5
        for each in ORIGINS:
            held = [held for held, of in model.items() if of == each]
            assert list(places.held_by(each)) == held
            assert places.are_left_for(each) == (len(model) < 5 and (each is None or len(held) < 2))
