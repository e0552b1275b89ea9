"""The shipped games as data, written from their rule sets: `protocol/games.json`.

Programs in other languages read the list of games from it, and the parts of each, so that no table of rules
is copied. The verifier and the pages import the same list as a module, because not all browsers import JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

import msgspec

from stellwerk_engine.games.described import described_fields, parts_of
from stellwerk_engine.games.shipped import RULE_SETS

MODULE_BEGINS: Final = "// The list of ../../games.json as a module. `make generate` writes both.\n"


def files() -> Iterator[tuple[str, bytes]]:
    """Yield the list of games, with the parts that each option puts in place of others, and the module."""
    games = [
        {
            "id": rules.id,
            "title": rules.title,
            "rules_version": rules.rules_version,
            "board": rules.board,
            "seat_counts": rules.seat_counts,
            "parts": parts_of(rules),
            "options": [
                {"id": option.id, "text": option.text, "parts": described_fields(option.changes)}
                for option in rules.options
            ],
        }
        for rules in RULE_SETS.values()
    ]
    yield "games.json", (json.dumps(msgspec.to_builtins(games), indent=1) + "\n").encode()
    lines = ",\n".join(msgspec.json.encode(game).decode() for game in games)
    yield "verifiers/javascript/games.json.mjs", f"{MODULE_BEGINS}export default [\n{lines}\n];\n".encode()
