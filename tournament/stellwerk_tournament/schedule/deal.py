"""From one secret of 32 bytes for a block: the ids of its matches, their salts, and the seeds of the bots.

Law: everything follows one way. The values that bots and opponents see (the id, the commitment, a bot's own
seed) say nothing about the deal, as long as the secret was drawn at random. With `--seed` it follows from a
text that people choose, and then can be guessed: that is for built-in bots, and to repeat a tournament.
"""

from __future__ import annotations

from hashlib import sha256

from stellwerk_engine.core.dice import seed_from_text
from stellwerk_protocol.names import Seat


def block_secret(seed: str, block: int) -> bytes:
    """Return the secret of a block of a tournament that has a seed. Raises SeedError for a text that is not a
    seed."""
    return sha256(b"stellwerk/tournament/block/1\n%b\n%d" % (seed_from_text(seed), block)).digest()


def seed_check(seed: str) -> str:
    """Return a check value to store. It shows whether a tournament is resumed with the same seed."""
    return sha256(b"stellwerk/tournament/check/1\n" + seed_from_text(seed)).hexdigest()


def match_id(secret: bytes, rotation: int) -> str:
    return sha256(b"stellwerk/tournament/match/1\n%b\n%d" % (secret, rotation)).hexdigest()[:18]


def salt(secret: bytes, rotation: int) -> bytes:
    return sha256(b"stellwerk/tournament/salt/1\n%b\n%d" % (secret, rotation)).digest()


def bot_seed(secret: bytes, rotation: int, seat: Seat) -> str:
    return sha256(b"stellwerk/tournament/bot/1\n%b\n%d\n%d" % (secret, rotation, seat)).hexdigest()


def standing_seed(seed: str, name: str) -> str:
    """Return the seed of a bot whose processes play many matches. With the id of a match it is one for that
    match, whichever process plays it."""
    return sha256(
        b"stellwerk/tournament/standing/1\n%b\n%b" % (seed_from_text(seed), name.encode())
    ).hexdigest()
