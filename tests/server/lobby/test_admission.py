"""Origins and admitted: who may take how much, without a server."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk_server.lobby.admission import LOOPBACK, Admitted, Origin, origin_of

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


# -- admitted ------------------------------------------------------------------------------------------


def test_an_origin_has_its_own_limit_and_a_trusted_one_only_that_of_all() -> None:
    admitted: Admitted[int] = Admitted(most=4, most_each=2)
    admitted.add(1, "10.0.0.1")
    admitted.add(2, "10.0.0.1")
    assert not admitted.has_room_for("10.0.0.1")
    assert admitted.has_room_for("10.0.0.2")
    admitted.add(3, None)
    admitted.add(4, None)
    assert not admitted.has_room_for("10.0.0.2")
    admitted.remove(4)
    assert admitted.has_room_for(None)
    assert not admitted.has_room_for("10.0.0.1")


def test_the_oldest_one_of_the_biggest_holder_is_the_first_to_go() -> None:
    admitted: Admitted[str] = Admitted(most=6)
    for thing, origin in (("a1", "a"), ("b1", "b"), ("b2", "b"), ("c1", "c"), ("b3", "b"), ("c2", "c")):
        admitted.add(thing, origin)
    assert admitted.first_to_go() == "b1"
    admitted.remove("b1")
    admitted.remove("b2")
    assert admitted.first_to_go() == "c1"


def test_a_trusted_origin_goes_only_if_there_is_no_other() -> None:
    admitted: Admitted[str] = Admitted(most=4)
    for thing, origin in (("own1", None), ("own2", None), ("own3", None), ("stranger", "10.0.0.1")):
        admitted.add(thing, origin)
    assert admitted.first_to_go() == "stranger"
    admitted.remove("stranger")
    assert admitted.first_to_go() == "own1"


def test_if_nobody_holds_a_place_nobody_goes() -> None:
    admitted: Admitted[str] = Admitted(most=1)
    assert admitted.first_to_go() is None


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from(ORIGINS), st.booleans()), max_size=40))
def test_admitted_are_counted_right_whoever_comes_and_goes(
    steps: list[tuple[int, Origin, bool]],
) -> None:
    admitted: Admitted[int] = Admitted(most=5, most_each=2)
    model: dict[int, Origin] = {}
    for thing, origin, comes in steps:
        if comes and thing not in model and admitted.has_room_for(origin):
            admitted.add(thing, origin)
            model[thing] = origin
        elif not comes:
            admitted.remove(thing)
            model.pop(thing, None)
        assert list(admitted) == list(model)
        assert len(admitted) == len(model) <= 5
        for each in ORIGINS:
            held = [held for held, of in model.items() if of == each]
            assert list(admitted.of(each)) == held
            assert admitted.has_room_for(each) == (len(model) < 5 and (each is None or len(held) < 2))
