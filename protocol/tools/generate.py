"""The one runner of the generators: it writes the files that programs write.

`make generate` writes all of them. Run it when the messages, the rules, the moves or the server's texts were
meant to change, and read the difference before you commit it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from stellwerk_protocol import schemas
from tools import (
    action_maps,
    example_sessions,
    fold_vectors,
    game_vectors,
    games,
    greedy_vectors,
    message_types,
    transcripts,
    wire_vectors,
)

TOP: Final = Path(__file__).resolve().parents[2]
PROTOCOL: Final = TOP / "protocol"
CONFORMANCE: Final = PROTOCOL / "conformance"

Files = Iterator[tuple[str, bytes]]  # names, below the generator's folder, and contents


def schema_file() -> Files:
    yield "v1.schema.json", schemas.text(schemas.bundle()).encode()


GENERATORS: Final[dict[str, tuple[Path, Callable[[], Files]]]] = {
    "schema": (PROTOCOL / "schema", schema_file),
    "types": (TOP / "bots" / "python" / "stellwerk_bots", message_types.files),
    "shipped": (PROTOCOL, games.files),
    "actions": (PROTOCOL / "actions", action_maps.files),
    "examples": (PROTOCOL / "examples", example_sessions.files),
    "transcripts": (CONFORMANCE / "transcripts", transcripts.files),
    "wire": (CONFORMANCE / "vectors" / "wire", wire_vectors.files),
    "games": (CONFORMANCE / "vectors", game_vectors.files),
    "folds": (CONFORMANCE / "vectors" / "folds", fold_vectors.files),
    "greedy": (CONFORMANCE / "vectors" / "greedy", greedy_vectors.files),
}


def made(group: str) -> dict[Path, bytes]:
    """Return the files of one generator as it makes them now."""
    folder, files = GENERATORS[group]
    return {folder / name: content for name, content in files()}


def written(paths: Iterable[Path]) -> dict[Path, bytes]:
    """Return the generated files that are on the disk: these, and all JSON in their folders."""
    paths = [*paths]
    files = {path for path in paths if path.exists()}
    files |= {path for place in {path.parent for path in paths} for path in place.glob("*.json*")}
    return {path: path.read_bytes() for path in files}


def write(group: str) -> None:
    """Write the files of one generator, and remove those that it no longer makes."""
    files = made(group)
    for old in written(files).keys() - files.keys():
        old.unlink()
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    for each in sys.argv[1:] or GENERATORS:
        write(each)
