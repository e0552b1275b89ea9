"""All chance of a game comes from one secret seed, as `protocol/DICE.md` specifies it.

A seed is 32 bytes. Every label (`train_cards/0`, `train_cards/1`, `tickets/0`, ...) has a stream of its own,
which depends on the seed and the label only. Chance that was used before, for anything, makes no difference.
So any program in any language that has SHA-256 can deal a game again (GEN-02).

Whoever knows the seed knows every hidden card. Neither a repr nor an error shows a seed.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from struct import unpack

SEED_SIZE = 32
"""Bytes of a seed: 256 bits are too many to try, and as many as the hash can distinguish."""

_LONGEST_TEXT = 200
_WORD_COUNT = 2**32  # how many different words there are
_HEX_SEED = re.compile(r"[0-9A-Fa-f]{64}")
_REFUSED_CHARACTER = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class SeedError(ValueError):
    """A text that is not a seed; the message says why, in one line and without the seed."""


def seed_from_text(text: str) -> bytes:
    """Return the seed that a text means: 64 hexadecimal digits for themselves, any other text for its hash.

    Raises `SeedError` for a text that is empty, longer than 200 characters, or holds a control character or
    a surrogate.
    """
    if _HEX_SEED.fullmatch(text):
        return bytes.fromhex(text)
    if not text:
        raise SeedError("a seed cannot be empty")
    if len(text) > _LONGEST_TEXT:
        raise SeedError(f"a seed has at most {_LONGEST_TEXT} characters, this one has {len(text)}")
    if refused := _REFUSED_CHARACTER.search(text):
        raise SeedError(f"character {refused.start() + 1} of this seed is a control character or a surrogate")
    return sha256(b"stellwerk/seed/1\n" + text.encode()).digest()


class Stream:
    """The numbers that a seed gives for one label, one after the other."""

    __slots__ = ("_words",)

    def __init__(self, key: bytes) -> None:
        self._words = _words(key)

    def below(self, n: int) -> int:
        """Return the next number from 0 to n - 1, each of them equally likely; n is 1 to 2**32."""
        if not 1 <= n <= _WORD_COUNT:
            raise ValueError(f"a stream gives numbers below n for an n from 1 to 2**32, not {n}")
        fair = _WORD_COUNT // n * n
        word = next(self._words)
        while word >= fair:
            word = next(self._words)
        return word % n


@dataclass(frozen=True, slots=True)
class Dice:
    """The chance of one game. Raises `SeedError` for a seed of another size than 32 bytes."""

    seed: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.seed) != SEED_SIZE:
            raise SeedError(f"a seed has {SEED_SIZE} bytes, this one has {len(self.seed)}")

    def stream(self, label: str) -> Stream:
        """Return the stream of a label, from its beginning."""
        return Stream(self._key(label))

    def shuffled(self, label: str, items: Sequence[int]) -> list[int]:
        """Return the items in the order that the label's stream gives them; the last one is the top of the
        pile."""
        pile = list(items)
        last = len(pile) - 1
        key = self._key(label)
        words = _first_words(key, last)
        if max(words, default=0) < _WORD_COUNT - last:
            # `below` rejects none of these words, for no n up to the size of the pile: take them as they are.
            for i, word in zip(range(last, 0, -1), words, strict=False):
                j = word % (i + 1)
                pile[i], pile[j] = pile[j], pile[i]
        else:
            stream = Stream(key)
            for i in range(last, 0, -1):
                j = stream.below(i + 1)
                pile[i], pile[j] = pile[j], pile[i]
        return pile

    def _key(self, label: str) -> bytes:
        return sha256(b"stellwerk/dice/1\n" + self.seed + label.encode()).digest()


def _words(key: bytes) -> Iterator[int]:
    for block in count():
        yield from unpack(">8I", sha256(key + block.to_bytes(4, "big")).digest())


def _first_words(key: bytes, least: int) -> tuple[int, ...]:
    """Return the words of the first blocks: at least so many, up to seven more."""
    block_count = (least + 7) // 8
    blocks = [sha256(key + block.to_bytes(4, "big")).digest() for block in range(block_count)]
    return unpack(f">{8 * block_count}I", b"".join(blocks))
