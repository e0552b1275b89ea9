"""The files of `protocol/conformance/vectors/{wire,rules,views,folds}` and of `transcripts`.

`make vectors` writes them. Run it when the messages, the rules, or the server's texts in the transcripts were
meant to change.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tools import fold_vectors, game_vectors, transcripts, wire_vectors

FOLDER: Final = Path(__file__).resolve().parents[2] / "protocol" / "conformance"
REMAKE: Final = "python -m tools.conformance_vectors"


def files() -> Iterator[tuple[Path, bytes]]:
    for name, content in (*wire_vectors.files().items(), *game_vectors.files(), *fold_vectors.files()):
        yield FOLDER / "vectors" / name, content
    for name, content in transcripts.files():
        yield FOLDER / "transcripts" / name, content


def write() -> None:
    for folder in ("vectors/wire", "vectors/rules", "vectors/views", "vectors/folds", "transcripts"):
        (FOLDER / folder).mkdir(parents=True, exist_ok=True)
        for old in (FOLDER / folder).glob("*.jsonl"):
            old.unlink()
    for path, content in files():
        path.write_bytes(content)


if __name__ == "__main__":
    write()
