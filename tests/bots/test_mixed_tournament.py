"""Bots of all languages against each other, in every game and in sandboxes, and a rating of each.

The boards are small: the test checks that programs of eight runtimes, started at once and again and again,
play without a fault, not that they play long games.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from stellwerk.bots.starters import STARTERS
from stellwerk_engine.boards.board_file import board_content, shipped_board
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_processes.bench.levels import Level
from tests.bots.starters import WITH_OWN_CLIENT, built
from tests.command.tournament.test_tournament import lines_of, status, tournament
from tests.tools import demand, needs, of_starter

TRAINS: Final = 8
SEATS: Final = {rules.id: 4 if rules.team_size == 1 else 6 for rules in RULE_SETS.values()}


@pytest.mark.xdist_group("mixed tournament")
@pytest.mark.parametrize(
    ("level", "games"),
    [
        ("limits", ("usa",)),
        pytest.param("namespace", tuple(RULE_SETS), marks=needs("bwrap", "namespaces", "sandboxes")),
    ],
    ids=["limits", "namespace"],
)
def test_one_bot_of_each_language_plays_for_a_rating(
    level: Level, games: Sequence[str], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """In namespaces all games, and nobody there is late, or lost, or less confined than the lines say."""
    commands: dict[str, tuple[str, ...]] = {"python": (sys.executable, "-m", "stellwerk_bots", "greedy")}
    demand(*(need for starter in WITH_OWN_CLIENT for need in of_starter(starter.language)))
    for starter in WITH_OWN_CLIENT:
        bot = built(starter.language, tmp_path_factory)
        commands[starter.language] = starter.command(str(bot.folder))
    cup(tmp_path, commands, level, games)
    tournament("run", tmp_path, "--progress", "none")

    matches = lines_of(tmp_path)
    assert {match["game"] for match in matches} == set(games)
    faults = [(seat["bot"], seat["faults"]) for match in matches for seat in match["bots"] if seat["faults"]]
    assert faults == []
    assert sum(seat["defaults"] for match in matches for seat in match["bots"]) == 0
    assert [match["sandbox"]["level"] for match in matches] == [level] * len(matches)

    report = status(tmp_path)
    assert report["failures"] == []
    rated = {row["bot"]: row for row in report["rows"]}
    assert rated.keys() == {starter.language for starter in STARTERS}
    for row in rated.values():
        assert row["matches"] >= min(SEATS.values())
        assert isinstance(row["elo"], float)  # a bot that lost everything has no lower bound
    if len(games) > 1:  # two blocks are too few for an interval
        assert any(row.keys() >= {"low", "high"} for row in rated.values())


def cup(folder: Path, commands: dict[str, tuple[str, ...]], level: Level, games: Sequence[str]) -> None:
    """Play a round in which all bots play equally often, every second one over stdio."""
    words = [f'sandbox = "{level}"', f'require = "{level}"']
    words += ["[schedule]", 'kind = "random"', "rounds = 1"]
    for game in games:
        words += ["[[games]]", f'game = "{game}"', f"players = {SEATS[game]}"]
        if shipped_board(game).routes:
            (folder / f"{game}.json").write_text(json.dumps(small(game)))
            words.append(f'board = "{game}.json"')
    for number, (language, command) in enumerate(commands.items()):
        transport = "stdio" if number % 2 else "tcp"
        words += ["[[bots]]", f'name = "{language}"', f"cmd = {json.dumps(shlex.join(command))}"]
        words.append(f'transport = "{transport}"')
    (folder / "tournament.toml").write_text("\n".join(words))


def small(game: str) -> dict[str, Any]:  # Any: JSON knows no types
    return board_content(shipped_board(RULE_SETS[game].board)) | {"trains": TRAINS}
