"""The shipped games as data, written from their rule sets: `protocol/games.json`.

Programs in other languages read the list of games from it, and the parts of each, so that no table of rules
is copied.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import msgspec

from stellwerk_engine.games.described import described_fields, parts_of
from stellwerk_engine.games.shipped import RULE_SETS


def files() -> Iterator[tuple[str, bytes]]:
    """Yield the file: a list of games, with the parts that each option puts in place of others."""
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
