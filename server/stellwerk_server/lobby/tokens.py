"""The file of names and token hashes, for servers that only let in whom they know.

A line is `NAME SHA256 [organizer]`: the hash in 64 hexadecimal digits; `#` begins a comment. The tokens
themselves are kept nowhere.
"""

from __future__ import annotations

import hmac
import re
import secrets
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from stellwerk_protocol.names import PLAYER_NAME

TOKEN_BYTES: Final = 17
"""More than 128 random bits: too many to try."""

_LINE: Final = re.compile(rf"(?P<name>{PLAYER_NAME})" r"\s+(?P<hash>[0-9a-f]{64})(?P<role>\s+organizer)?")


def hashed(secret: str) -> str:
    """Return what the server keeps of a token or of a resume key."""
    return sha256(secret.encode()).hexdigest()


def is_same_hash(given: str, known: str | None) -> bool:
    """Compare two hashes in a time that does not show where they differ. Nothing else may compare them."""
    return known is not None and hmac.compare_digest(given, known)


class TokenFileError(ValueError):
    """The file cannot be used; one line says where and why."""


@dataclass(frozen=True, slots=True)
class TokenHolder:
    """The holder of a token. With `takes_any_name` a client has this name, whatever name it logs in with."""

    name: str
    hash: str
    is_organizer: bool
    takes_any_name: bool = False


class Tokens:
    def __init__(self, holders: tuple[TokenHolder, ...]) -> None:
        self.holders = holders

    def and_also(self, holder: TokenHolder) -> Tokens:
        """Return these tokens and another one."""
        return Tokens((*self.holders, holder))

    def holder_of(self, token: str) -> TokenHolder | None:
        return self.holder_with(hashed(token))

    def vouch_for(self, name: str, hash: str, *, is_organizer: bool) -> bool:
        """Test whether a session that logged in with the token of this hash could still do so."""
        holder = self.holder_with(hash)
        if holder is None or (is_organizer and not holder.is_organizer):
            return False
        return holder.takes_any_name or holder.name.lower() == name.lower()

    def holder_with(self, hash: str | None) -> TokenHolder | None:
        """Return the holder of this hash. Compares every hash, each in constant time."""
        found = [holder for holder in self.holders if is_same_hash(holder.hash, hash)]
        return found[0] if found else None


def new_token() -> str:
    """Draw a token that no program would take for an option."""
    while (token := secrets.token_urlsafe(TOKEN_BYTES)).startswith("-"):
        pass
    return token


def read_tokens(path: Path) -> Tokens:
    """Read a file of tokens. Raises TokenFileError, or OSError if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise TokenFileError(f"{path}: not UTF-8: byte {error.start + 1}") from None
    holders: dict[str, TokenHolder] = {}
    hashes: set[str] = set()
    for number, raw in enumerate(text.splitlines(), 1):
        content = raw.partition("#")[0].strip()
        if not content:
            continue
        found = _LINE.fullmatch(content)
        if found is None:
            raise TokenFileError(
                f"{path}:{number}: expected 'NAME SHA256 [organizer]', the hash in 64 hexadecimal digits"
            )
        name = found["name"]
        if name.lower() in holders or found["hash"] in hashes:
            raise TokenFileError(f"{path}:{number}: {name} or its hash is in the file already")
        hashes.add(found["hash"])
        holders[name.lower()] = TokenHolder(name, found["hash"], found["role"] is not None)
    return Tokens(tuple(holders.values()))
