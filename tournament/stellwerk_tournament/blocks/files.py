"""The two private files of a block that travels: the order to play it, and its result.

Both are a line of JSON, and a line with its seal. The seal of an order is its SHA-256. That of a result is an
HMAC by a key from the block's secret, so nobody who has not seen the order can make or change a result.

Laws:
- nobody but their owner may read them: an order tells the deal, a result the replays;
- a file exists with all of its content, or not at all;
- an order tells the secret of its own block, and nothing of any other one.
"""

from __future__ import annotations

import hmac
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

from stellwerk_processes.bench.levels import Wanted
from stellwerk_tournament.config.settings import SettingsFile
from stellwerk_tournament.play.courier import PlayedMatch

ORDER_FORMAT: Final = "stellwerk/block/1"
RESULT_FORMAT: Final = "stellwerk/block-result/1"
ORDER_ENDING: Final = ".block"
RESULT_ENDING: Final = ".result"

T = TypeVar("T", bound=Struct)


class BlockFileError(ValueError):
    """A file that cannot be used; one line says why, without the name of the file."""


class BlockOrder(Struct, frozen=True, tag_field="format", tag=ORDER_FORMAT):
    """All that is needed to play a block. `settings` is a `tournament.toml` with one game and the bots of the
    block; paths in it are relative to a folder that has `archives`, each in `bots/HASH`, and the `board`.
    `hashes` are those of all archives, also where a machine has them already. `level` is that
    of the sandbox. `bot_seeds` are those of bots whose processes play many matches, if the tournament has a
    seed. `versions` are those of the bots. `cup` tells tournaments apart."""

    cup: str
    stellwerk: str
    block: int
    round: int
    entrants: tuple[str, ...]
    rotations: tuple[int, ...]
    suspended: tuple[str, ...]
    secret: str
    settings: SettingsFile
    level: Wanted
    rules_version: int
    board_digest: str
    board: bytes | None = None
    bot_seeds: dict[str, str] = {}
    versions: dict[str, str] = {}
    hashes: tuple[str, ...] = ()
    archives: dict[str, bytes] = {}

    def __repr__(self) -> str:
        return f"BlockOrder({self.block}, {self.entrants!r})"

    @property
    def name(self) -> str:
        return f"{self.cup}-{self.block:05}"


class BlockResult(Struct, frozen=True, tag_field="format", tag=RESULT_FORMAT):
    cup: str
    stellwerk: str
    block: int
    matches: tuple[PlayedMatch, ...]
    failures: tuple[tuple[int, str], ...] = ()


def encode_order(order: BlockOrder) -> bytes:
    content = msgspec.json.encode(order)
    return b"%b\n%b\n" % (content, _digest(content))


def decode_order(text: bytes) -> BlockOrder:
    """Read an order. BlockFileError if it is torn or changed, or none at all."""
    content, seal = _parts(text, "an order: expected a file of 'stellwerk tournament export'")
    if not hmac.compare_digest(seal, _digest(content)):
        raise BlockFileError("is torn or has been changed: export it again")
    return _decoded(content, BlockOrder, "an order: expected a file of 'stellwerk tournament export'")


def encode_result(result: BlockResult, secret: bytes) -> bytes:
    content = msgspec.json.encode(result)
    return b"%b\n%b\n" % (content, _seal(content, secret))


def decode_result(text: bytes) -> tuple[BlockResult, bytes, bytes]:
    """Read a result that nobody has checked. Return it with what `expect_sealed` needs. BlockFileError."""
    what = "a result: expected a file of 'stellwerk tournament block'"
    content, seal = _parts(text, what)
    return _decoded(content, BlockResult, what), content, seal


def expect_sealed(content: bytes, seal: bytes, secret: bytes) -> None:
    """Raise a BlockFileError unless a result was sealed by who had the order of this secret."""
    if not hmac.compare_digest(seal, _seal(content, secret)):
        raise BlockFileError("has been changed since its block was played, or was dealt otherwise")


def read(path: Path) -> bytes:
    """Read a file. BlockFileError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise BlockFileError(f"cannot be read: {error.strerror or error}") from None


def _parts(text: bytes, what: str) -> tuple[bytes, bytes]:
    content, newline, rest = text.partition(b"\n")
    if not content.startswith(b'{"format":"stellwerk/'):
        raise BlockFileError(f"is not {what}")
    if not newline or len(rest) != 65 or not rest.endswith(b"\n"):
        raise BlockFileError("is torn: its end is missing, or something follows it")
    return content, rest[:-1]


def _decoded(content: bytes, kind: type[T], what: str) -> T:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BlockFileError(f"is not {what}: {error}") from None


def _digest(content: bytes) -> bytes:
    return sha256(content).hexdigest().encode()


def _seal(content: bytes, secret: bytes) -> bytes:
    key = sha256(b"stellwerk/tournament/result/1\n" + secret).digest()
    return hmac.new(key, content, "sha256").hexdigest().encode()
