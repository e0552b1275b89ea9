"""The dice keep to `protocol/DICE.md`: its examples and its vectors for any implementation hold here."""

import re
from collections import Counter
from dataclasses import FrozenInstanceError
from hashlib import sha256
from itertools import permutations
from math import sqrt
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct, json

from stellwerk_engine.core.dice import Dice, SeedError, Stream, seed_from_text
from stellwerk_protocol.names import COLORS

PROTOCOL = Path(__file__).resolve().parents[3] / "protocol"
VECTORS = PROTOCOL / "conformance" / "vectors" / "dice"
SECRET = bytes(range(32))

E = TypeVar("E")


class SeedCase(Struct, frozen=True):
    text: str
    seed: str


class RefusedSeed(Struct, frozen=True):
    text: str
    why: str


class WordCase(Struct, frozen=True, rename={"first": "from"}):
    seed: str
    label: str
    first: int
    words: list[int]


class BelowCase(Struct, frozen=True):
    seed: str
    label: str
    n: list[int]
    results: list[int]
    rejected: int


class ShuffleCase(Struct, frozen=True):
    about: str
    seed: str
    label: str
    items: list[int]
    shuffled: list[int]
    rejected: int


class SeedFile(Struct, frozen=True):
    cases: list[SeedCase]
    refused: list[RefusedSeed]


class WordFile(Struct, frozen=True):
    cases: list[WordCase]


class BelowFile(Struct, frozen=True):
    cases: list[BelowCase]


class ShuffleFile(Struct, frozen=True):
    cases: list[ShuffleCase]


class ShuffleExample(Struct, frozen=True):
    """The first example of the specification."""

    text: str
    seed: str
    label: str
    key: str
    block: str
    words: list[int]
    drawn: list[int]
    items: list[int]
    shuffled: list[int]


class RejectionExample(Struct, frozen=True):
    """The second example."""

    text: str
    label: str
    n: int
    words: list[int]
    results: list[int]


class DealExample(Struct, frozen=True):
    """The third example."""

    text: str
    hands: list[list[str]]
    market: list[str]
    tickets: list[list[int]]


SEEDS = json.decode((VECTORS / "seeds.json").read_bytes(), type=SeedFile)
WORDS = json.decode((VECTORS / "words.json").read_bytes(), type=WordFile).cases
BELOW = json.decode((VECTORS / "below.json").read_bytes(), type=BelowFile).cases
SHUFFLES = json.decode((VECTORS / "shuffles.json").read_bytes(), type=ShuffleFile).cases


def words(stream: Stream, count: int) -> list[int]:
    """Return the next words unchanged: every word is below 2**32."""
    return [stream.below(2**32) for _ in range(count)]


def fisher_yates(items: list[int], stream: Stream) -> list[int]:
    """Shuffle as the specification describes it."""
    pile = list(items)
    for i in range(len(pile) - 1, 0, -1):
        j = stream.below(i + 1)
        pile[i], pile[j] = pile[j], pile[i]
    return pile


# -- the vectors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", SEEDS.cases, ids=lambda case: ascii(case.text[:24]))
def test_a_text_stands_for_the_seed_of_the_vectors(case: SeedCase) -> None:
    assert seed_from_text(case.text).hex() == case.seed


@pytest.mark.parametrize("case", SEEDS.refused, ids=lambda case: case.why)
def test_a_text_that_is_no_seed_is_refused(case: RefusedSeed) -> None:
    with pytest.raises(SeedError):
        seed_from_text(case.text)


@pytest.mark.parametrize("case", WORDS, ids=lambda case: f"{case.seed[:4]} {case.label!a} {case.first}")
def test_a_stream_has_the_words_of_the_vectors(case: WordCase) -> None:
    stream = Dice(bytes.fromhex(case.seed)).stream(case.label)
    words(stream, case.first)
    assert words(stream, len(case.words)) == case.words


@pytest.mark.parametrize("case", BELOW, ids=lambda case: f"{case.seed[:4]} {case.label}")
def test_numbers_below_n_are_those_of_the_vectors(case: BelowCase) -> None:
    stream = Dice(bytes.fromhex(case.seed)).stream(case.label)
    assert [stream.below(n) for n in case.n] == case.results
    taken = len(case.n) + case.rejected
    after = words(Dice(bytes.fromhex(case.seed)).stream(case.label), taken + 1)[taken]
    assert words(stream, 1) == [after]


@pytest.mark.parametrize("case", SHUFFLES, ids=lambda case: f"{case.about[:24]} {case.seed[:4]} {case.label}")
def test_a_shuffle_gives_the_order_of_the_vectors(case: ShuffleCase) -> None:
    assert Dice(bytes.fromhex(case.seed)).shuffled(case.label, case.items) == case.shuffled


def test_the_vectors_hold_the_cases_that_implementations_get_wrong() -> None:
    assert {1, 2, 5, 30, 110} <= {len(case.items) for case in SHUFFLES}
    assert any(case.rejected and len(case.items) == 110 for case in SHUFFLES)
    assert any(case.rejected > len(case.n) // 2 for case in BELOW)
    assert any((case.first + len(case.words) - 1) // 8 == 256**2 for case in WORDS), "a number of three bytes"


# -- the examples of the specification ---------------------------------------------------------------


def example(number: int, kind: type[E]) -> E:
    blocks = re.findall(r"```json\n(.*?)```", (PROTOCOL / "DICE.md").read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 3
    return json.decode(blocks[number], type=kind)


def test_the_example_of_a_shuffle_holds() -> None:
    shown = example(0, ShuffleExample)
    dice = Dice(seed_from_text(shown.text))
    key = sha256(b"stellwerk/dice/1\n" + dice.seed + shown.label.encode()).digest()
    block = sha256(key + bytes(4)).digest()
    stream = dice.stream(shown.label)

    assert dice.seed.hex() == shown.seed
    assert key.hex() == shown.key
    assert block.hex() == shown.block
    assert b"".join(word.to_bytes(4, "big") for word in shown.words) == block
    assert words(dice.stream(shown.label), 8) == shown.words
    assert [stream.below(n) for n in (5, 4, 3, 2)] == shown.drawn
    assert dice.shuffled(shown.label, shown.items) == shown.shuffled


def test_the_example_of_rejected_words_holds() -> None:
    shown = example(1, RejectionExample)
    dice = Dice(seed_from_text(shown.text))
    stream = dice.stream(shown.label)

    assert words(dice.stream(shown.label), len(shown.words)) == shown.words
    assert [stream.below(shown.n) for _ in shown.results] == shown.results
    assert [word for word in shown.words if word < shown.n] == shown.results


def test_the_example_of_a_deal_holds() -> None:
    """USA-02, USA-03: the last item is dealt first; each seat gets all its cards at once."""
    shown = example(2, DealExample)
    dice = Dice(seed_from_text(shown.text))
    sorted_cards = [color for color in range(8) for _ in range(12)] + [8] * 14
    pile = dice.shuffled("train_cards/0", sorted_cards)
    tickets = dice.shuffled("tickets/0", range(30))

    assert [[COLORS[pile.pop()] for _ in hand] for hand in shown.hands] == shown.hands
    assert [COLORS[pile.pop()] for _ in shown.market] == shown.market
    assert [[tickets.pop() for _ in offered] for offered in shown.tickets] == shown.tickets
    assert [len(hand) for hand in shown.hands] == [4, 4]
    assert len(shown.market) == 5
    assert [len(offered) for offered in shown.tickets] == [3, 3]


# -- seeds -------------------------------------------------------------------------------------------

ALLOWED_CHARACTERS = st.characters(exclude_categories=["Cc", "Cs"])


@given(st.text(ALLOWED_CHARACTERS, min_size=1, max_size=200))
def test_every_text_of_1_to_200_characters_is_a_seed(text: str) -> None:
    assert len(seed_from_text(text)) == 32


@given(st.binary(min_size=32, max_size=32))
def test_64_hexadecimal_digits_stand_for_themselves_in_either_case(seed: bytes) -> None:
    assert seed_from_text(seed.hex()) == seed
    assert seed_from_text(seed.hex().upper()) == seed


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "empty"),
        ("s" * 201, "at most 200 characters, this one has 201"),
        ("0" * 201, "at most 200 characters, this one has 201"),
        ("swordfish\n", "character 10"),
        ("\x00swordfish", "character 1 "),
        ("sword\x7ffish", "character 6"),
        ("sword\x9ffish", "character 6"),
        ("sword\ud800fish", "character 6"),
        ("swordfis\udfffh", "character 9"),
        ("00" * 32 + "\n", "character 65"),
    ],
)
def test_a_refused_text_gets_one_line_that_says_why_and_does_not_repeat_it(text: str, part: str) -> None:
    with pytest.raises(SeedError) as caught:
        seed_from_text(text)
    message = str(caught.value)
    assert part in message
    assert len(message.splitlines()) == 1
    assert "sword" not in message
    assert "ssss" not in message


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_a_seed_has_32_bytes(size: int) -> None:
    with pytest.raises(SeedError, match=f"has {size}$"):
        Dice(bytes(size))


# -- dice keep their secret, and stay as they are ----------------------------------------------------


def test_neither_dice_nor_a_stream_show_the_seed() -> None:
    dice = Dice(SECRET)
    for shown in (repr(dice), str(dice), f"{dice}", repr(dice.stream("tickets/0"))):
        assert repr(SECRET) not in shown
        assert SECRET.hex() not in shown
        assert "\\x01" not in shown


def test_dice_cannot_be_changed() -> None:
    dice = Dice(SECRET)
    with pytest.raises(FrozenInstanceError):
        dice.seed = bytes(32)  # type: ignore[misc]  # the point of this test
    assert not hasattr(dice, "__dict__")


# -- streams -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [-1, 0, 2**32 + 1])
def test_a_number_below_n_needs_an_n_from_1_to_two_to_the_32(n: int) -> None:
    with pytest.raises(ValueError, match=f"not {n}$"):
        Dice(SECRET).stream("tickets/0").below(n)


@given(st.lists(st.integers(1, 2**32), max_size=30))
def test_a_number_below_n_is_below_n(bounds: list[int]) -> None:
    stream = Dice(SECRET).stream("tickets/0")
    assert all(0 <= stream.below(n) < n for n in bounds)


def test_a_stream_does_not_depend_on_the_use_of_others() -> None:
    dice = Dice(SECRET)
    alone = words(dice.stream("tickets/0"), 20)
    tickets, cards = dice.stream("tickets/0"), dice.stream("train_cards/0")
    beside: list[int] = []
    for _ in range(20):
        words(cards, 3)
        dice.shuffled("train_cards/1", range(110))
        beside += words(tickets, 1)
    assert beside == alone


def test_labels_and_seeds_have_streams_of_their_own() -> None:
    labels = [f"{pile}/{number}" for pile in ("train_cards", "tickets") for number in range(20)]
    seeds = [bytes(31) + bytes([last]) for last in range(20)]
    beginnings = {tuple(words(Dice(seed).stream(label), 2)) for seed in seeds for label in labels}
    assert len(beginnings) == len(labels) * len(seeds)


# -- shuffles ----------------------------------------------------------------------------------------


@given(seed=st.binary(min_size=32, max_size=32), items=st.lists(st.integers(0, 8), max_size=120))
@settings(max_examples=200)
def test_a_shuffle_is_the_fisher_yates_of_the_specification(seed: bytes, items: list[int]) -> None:
    before = list(items)
    dice = Dice(seed)
    assert dice.shuffled("train_cards/3", items) == fisher_yates(items, dice.stream("train_cards/3"))
    assert items == before, "the list that was handed in stays as it was"


@given(st.lists(st.integers(0, 8), max_size=120))
def test_a_shuffle_keeps_all_items(items: list[int]) -> None:
    assert Counter(Dice(SECRET).shuffled("train_cards/0", items)) == Counter(items)


def test_the_same_shuffle_gives_the_same_order_again() -> None:
    dice = Dice(SECRET)
    first = dice.shuffled("train_cards/0", range(110))
    assert dice.shuffled("train_cards/0", tuple(range(110))) == first
    assert dice.shuffled("train_cards/1", range(110)) != first


# -- fairness: fixed seeds, so these pass always or never; the bounds lie six sigma from the mean --------


def chi_square(observed: Counter[E], kinds: int) -> float:
    expected = observed.total() / kinds
    seen = sum((count - expected) ** 2 for count in observed.values()) / expected
    return seen + (kinds - len(observed)) * expected


def plausible(observed: Counter[E], kinds: int) -> bool:
    """Return whether the counts are neither too uneven nor too even. Chi-square has the mean kinds - 1 and
    the variance 2 (kinds - 1)."""
    freedom = kinds - 1
    spread = 6 * sqrt(2 * freedom)
    return max(freedom - spread, freedom / 100) < chi_square(observed, kinds) < freedom + spread


@pytest.mark.parametrize("n", [2, 6, 52, 110])
def test_the_numbers_below_n_are_equally_frequent(n: int) -> None:
    stream = Dice(SECRET).stream("fairness")
    assert plausible(Counter(stream.below(n) for _ in range(200 * n)), n)


def test_rejection_leaves_the_thirds_of_an_uneven_range_equally_frequent() -> None:
    """Without rejection the lowest third of the numbers below 3 * 2**30 would be drawn twice as often."""
    stream = Dice(SECRET).stream("fairness")
    assert plausible(Counter(stream.below(3 * 2**30) >> 30 for _ in range(3000)), 3)


def test_every_order_of_five_items_is_equally_frequent() -> None:
    dice = Dice(SECRET)
    orders = Counter(tuple(dice.shuffled(f"train_cards/{number}", range(5))) for number in range(6000))
    assert set(orders) == set(permutations(range(5)))
    assert plausible(orders, 120)


def test_every_card_is_equally_often_at_the_top_and_at_the_bottom_of_a_great_pile() -> None:
    dice = Dice(SECRET)
    piles = [dice.shuffled(f"train_cards/{number}", range(110)) for number in range(5500)]
    assert plausible(Counter(pile[-1] for pile in piles), 110)
    assert plausible(Counter(pile[0] for pile in piles), 110)


def test_the_check_of_fairness_notices_an_unfair_count() -> None:
    fair, loaded, too_even = [50] * 20, [50] * 19 + [120], [50] * 100
    fair[3], fair[4], fair[9], fair[10] = 40, 60, 62, 38
    assert plausible(Counter(dict(enumerate(fair))), 20)
    assert not plausible(Counter(dict(enumerate(loaded))), 20)
    assert not plausible(Counter(dict(enumerate(too_even))), 100)
    assert not plausible(Counter({0: 1000}), 20)
