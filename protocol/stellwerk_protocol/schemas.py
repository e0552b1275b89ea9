"""JSON Schemas (2020-12) of everything on the wire, made from the types.

`python -m stellwerk_protocol.schemas DIR` writes them. They are kept in `protocol/schema/v1`, so that
nobody needs Python to have them, and a test tells when they are stale.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import msgspec

from stellwerk_protocol.decisions import Decision
from stellwerk_protocol.events import Event
from stellwerk_protocol.messages import FromClient, FromServer
from stellwerk_protocol.moves import Move
from stellwerk_protocol.results import Result
from stellwerk_protocol.views import View

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
KINDS: Final[dict[str, Any]] = {  # Any: unions are no classes
    "from_client": FromClient,
    "from_server": FromServer,
    "move": Move,
    "decision": Decision,
    "event": Event,
    "view": View,
    "result": Result,
}


def schemas() -> dict[str, str]:
    """File names and texts."""
    return {f"{name}.schema.json": _text(name, kind) for name, kind in KINDS.items()}


def _text(name: str, kind: Any) -> str:
    schema: dict[str, Any] = msgspec.json.schema(kind)
    head = {"$schema": DIALECT, "$id": f"stellwerk/v1/{name}", "title": f"Stellwerk protocol 1: {name}"}
    return json.dumps(head | schema, indent=1, ensure_ascii=False) + "\n"


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for file_name, text in schemas().items():
        (folder / file_name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
