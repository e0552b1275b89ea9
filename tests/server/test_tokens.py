"""The file of names and token hashes."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from stellwerk_server.tokens import TOKEN_BYTES, TokenFileError, Tokens, new_token, read_tokens

ANN, BEN = (sha256(token).hexdigest() for token in (b"ann's", b"ben's"))


def read(folder: Path, text: str | bytes) -> Tokens:
    file = folder / "tokens"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_tokens(file)


def test_a_token_leads_to_its_holder(tmp_path: Path) -> None:
    tokens = read(tmp_path, f"# players\nAnn {ANN}\n\n  ben\t{BEN}   organizer  # runs it\n")
    ann, ben = tokens.holder_of("ann's"), tokens.holder_of("ben's")
    assert ann is not None
    assert ben is not None
    assert (ann.name, ann.is_organizer) == ("Ann", False)
    assert (ben.name, ben.is_organizer) == ("ben", True)
    assert tokens.holder_of("somebody's") is None
    assert tokens.holder_of("") is None


def test_the_tokens_themselves_are_kept_nowhere(tmp_path: Path) -> None:
    tokens = read(tmp_path, f"Ann {ANN}\n")
    tokens.holder_of("ann's")
    assert "ann's" not in repr(vars(tokens))


@pytest.mark.parametrize(
    ("text", "place", "why"),
    [
        ("Ann\n", 1, "expected 'NAME SHA256 [organizer]'"),
        (f"#\nAnn {ANN[:-1]}\n", 2, "expected"),
        (f"Ann {ANN.upper()}\n", 1, "expected"),
        (f"-Ann {ANN}\n", 1, "expected"),
        (f"{'a' * 33} {ANN}\n", 1, "expected"),
        (f"Ann {ANN} owner\n", 1, "expected"),
        (f"Ann {ANN}\nann {BEN}\n", 2, "already"),
        (f"Ann {ANN}\nBen {ANN}\n", 2, "already"),
    ],
)
def test_a_line_that_is_wrong_is_named(text: str, place: int, why: str, tmp_path: Path) -> None:
    with pytest.raises(TokenFileError) as raised:
        read(tmp_path, text)
    assert f"tokens:{place}: " in str(raised.value)
    assert why in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TokenFileError, match="byte 2"):
        read(tmp_path, b"A\xff\n")


def test_a_file_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        read_tokens(tmp_path / "nowhere")


def test_new_tokens_are_too_many_to_try_and_can_be_sent() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert TOKEN_BYTES * 8 >= 128
    assert all(token.isascii() and token.isprintable() and " " not in token for token in tokens)
