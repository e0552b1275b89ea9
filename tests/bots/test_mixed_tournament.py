"""Bots of all languages against each other, in a sandbox, and a rating of each.

The boards are small: the test checks that programs of eight runtimes, started at once and again and again,
play without a fault, not that they play long games.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any, Final

from stellwerk.bots.starters import STARTERS
from stellwerk_engine.boards.board_file import board_content, shipped_board
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_processes.bench.levels import Level
from tests.bots.starters import WITH_OWN_CLIENT, built
from tests.command.tournament.test_tournament import lines_of, status, tournament
from tests.tools import demand, needs, of_starter

LEVEL: Final[Level] = "namespace"
TRAINS: Final = 8
# A game with a map for each size of a team; tests/bots/test_starters.py has all games.
SEATS: Final = {
    rules.id: 4 if team_size == 1 else 6
    for team_size, rules in {
        rules.team_size: rules for rules in RULE_SETS.values() if shipped_board(rules.board).routes
    }.items()
}


@needs("bwrap", "namespaces", "sandboxes")
def test_one_bot_of_each_language_plays_for_a_rating(tmp_path: Path) -> None:
    """In namespaces, where no bot is late, or lost, or less confined than the lines say."""
    commands = {"python": [sys.executable, "-m", "stellwerk_bots", "greedy"]}
    demand(*(need for starter in WITH_OWN_CLIENT for need in of_starter(starter.language)))
    for starter in WITH_OWN_CLIENT:
        commands[starter.language] = built(starter.language).command(*starter.bots[-1:])
    cup(tmp_path, commands)
    tournament("run", tmp_path, "--progress", "none")

    matches = lines_of(tmp_path)
    assert {match["game"] for match in matches} == set(SEATS)
    faults = [(seat["bot"], seat["faults"]) for match in matches for seat in match["bots"] if seat["faults"]]
    assert faults == []
    assert sum(seat["defaults"] for match in matches for seat in match["bots"]) == 0
    assert [match["sandbox"]["level"] for match in matches] == [LEVEL] * len(matches)

    report = status(tmp_path)
    assert report["failures"] == []
    rated = {row["bot"]: row for row in report["rows"]}
    assert rated.keys() == {starter.language for starter in STARTERS}
    for row in rated.values():
        assert row["matches"] >= min(SEATS.values())
        assert isinstance(row["elo"], float)  # a bot that lost everything has no lower bound


def cup(folder: Path, commands: dict[str, list[str]]) -> None:
    """Play a round in which all bots play equally often, every second one over stdio."""
    words = [f'sandbox = "{LEVEL}"', f'require = "{LEVEL}"']
    words += ["[schedule]", 'kind = "random"', "rounds = 1"]
    for game in SEATS:
        words += ["[[games]]", f'game = "{game}"', f"players = {SEATS[game]}"]
        (folder / f"{game}.json").write_text(json.dumps(small(game)))
        words.append(f'board = "{game}.json"')
    for number, (language, command) in enumerate(commands.items()):
        transport = "stdio" if number % 2 else "tcp"
        words += ["[[bots]]", f'name = "{language}"', f"cmd = {json.dumps(shlex.join(command))}"]
        words.append(f'transport = "{transport}"')
    (folder / "tournament.toml").write_text("\n".join(words))


def small(game: str) -> dict[str, Any]:  # Any: JSON knows no types
    return board_content(shipped_board(RULE_SETS[game].board)) | {"trains": TRAINS}
