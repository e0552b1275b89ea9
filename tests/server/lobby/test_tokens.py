"""The file of names and token hashes."""

from __future__ import annotations

import ast
from hashlib import sha256
from pathlib import Path

import pytest

import stellwerk_server
from stellwerk_server.lobby.tokens import TOKEN_BYTES, TokenFileError, Tokens, new_token, read_tokens

SERVER = Path(stellwerk_server.__file__).parent
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


# -- constant time -----------------------------------------------------------------------------------

HASHES = {"hash", "key_hash", "key_hashes", "seat_token_hash", "token_hash", "token_hashes"}
LOOK_UPS = {"count", "get", "index", "pop", "setdefault"}


def compared_hashes(source: str) -> list[str]:
    """Find where hashes of tokens and keys are compared without `is_same_hash`: as operands, or in a
    look-up."""
    tree = ast.parse(source)
    secret = HASHES | {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _is_hash(node.value, HASHES)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    comparisons: list[str] = []
    for node in ast.walk(tree):
        operands: list[ast.expr] = []
        if isinstance(node, ast.Compare) and not all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            operands = [node.left, *node.comparators]
        elif isinstance(node, ast.Subscript):
            operands = [node.slice]
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOOK_UPS
        ):
            operands = [node.func.value, *node.args]
        elif isinstance(node, ast.DictComp):
            operands = [node.key]
        elif isinstance(node, ast.Set | ast.SetComp):
            operands = node.elts if isinstance(node, ast.Set) else [node.elt]
        comparisons += [ast.unparse(node) for operand in operands if _is_hash(operand, secret)]
    return comparisons


def _is_hash(node: ast.expr, names: set[str]) -> bool:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in names
        case ast.Call(func=ast.Name(id="hashed")):
            return True
        case _:
            return False


def test_hashes_of_secrets_are_compared_in_constant_time_everywhere() -> None:
    """Only `is_same_hash` compares them, and only it calls `hmac`."""
    sources = {module: module.read_text("utf-8") for module in SERVER.rglob("*.py")}
    assert [(module, found) for module, text in sources.items() if (found := compared_hashes(text))] == []
    assert [module.stem for module, text in sources.items() if "compare_digest" in text] == ["tokens"]


@pytest.mark.parametrize(
    "source",
    [
        "session.token_hash == holder.hash",
        "hashed(token) != known",
        "given = hashed(token)\nif given in hashes: pass",
        "given in self.token_hashes",
        "self.token_hashes.index(x)",
        "by_hash[session.token_hash]",
        "by_hash.get(hashed(token))",
        "{holder.hash: holder for holder in holders}",
        "{holder.hash for holder in holders}",
    ],
)
def test_a_comparison_that_is_not_would_be_noticed(source: str) -> None:
    assert compared_hashes(source)


def test_whether_a_token_is_there_is_not_asked_by_comparing_it() -> None:
    assert compared_hashes("session.token_hash is None") == []
