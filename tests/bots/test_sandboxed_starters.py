"""The starters of all languages play at every level of the sandbox, over TCP and over stdio.

What is too narrow for a runtime (a filter of system calls, a limit, a file of the machine that it cannot
read) shows when it starts and plays. The board is small: a match has some twenty turns.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Final

import pytest

from stellwerk.bots.starters import STARTERS, Starter
from stellwerk.matches.by_wire import PlayedGames, PlayOptions, play_games
from stellwerk.matches.plan import rotated
from stellwerk_engine.boards.board_file import board_content, parse_board, shipped_board
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_processes.bench.levels import LEVELS, Confinement, Level
from stellwerk_processes.bot_spec import BotSpec, Transport
from stellwerk_server.operate.settings import Time
from tests.bots.starters import built, paired
from tests.tools import needs, path_of

TRANSPORTS: Final[tuple[Transport, ...]] = ("tcp", "stdio")
TRAINS: Final = 6
MEMORY_MB: Final = 512
HEAP: Final = "-Xmx128m"  # as bots/java/README.md has it: a heap that leaves room for the machine itself

NEEDS: Final[dict[Level, tuple[str, ...]]] = {
    "none": (),
    "limits": (),
    "landlock": ("Landlock",),
    "namespace": ("bwrap", "namespaces"),
    "full": ("bwrap", "namespaces", "control groups"),
}
# The kernel counts the data of each process at the one level, and all that the bot uses at the other.
CONFINED: Final[list[tuple[Level, int | None]]] = [
    *((level, None) for level in NEEDS),
    ("limits", MEMORY_MB),
    ("full", MEMORY_MB),
]
MATCHES: Final[list[tuple[Level, int | None, tuple[Starter, Starter]]]] = [
    (level, memory_mb, pair)
    for number, (level, memory_mb) in enumerate(CONFINED)
    for pair in paired(STARTERS, number)
]


def test_each_two_of_language_confinement_and_transport_occur_in_a_match() -> None:
    rows = [
        ((level, memory_mb), transport, starter.language)
        for level, memory_mb, pair in MATCHES
        for transport, starter in zip(TRANSPORTS, pair, strict=True)
    ]
    columns = [CONFINED, TRANSPORTS, [starter.language for starter in STARTERS]]
    for first, second in combinations(range(len(columns)), 2):
        assert {(row[first], row[second]) for row in rows} == set(product(columns[first], columns[second]))
    assert {level for level, _ in CONFINED} == set(LEVELS)


@pytest.mark.parametrize(
    ("level", "memory_mb", "pair"),
    [
        pytest.param(
            level,
            memory_mb,
            pair,
            id="-".join(
                [level, *(["little memory"] if memory_mb else []), *(each.language for each in pair)]
            ),
            marks=needs(*NEEDS[level]),
        )
        for level, memory_mb, pair in MATCHES
    ],
)
def test_one_plays_over_tcp_against_another_over_stdio(
    level: Level, memory_mb: int | None, pair: tuple[Starter, Starter]
) -> None:
    specs: list[BotSpec] = []
    for transport, starter in zip(TRANSPORTS, pair, strict=True):
        bot = built(starter.language)
        program, *words = bot.command(*starter.bots[-1:])
        heap = [HEAP] if program == "java" and memory_mb else []
        command = (program, *heap, *words)
        specs.append(BotSpec(transport, command, transport=transport, folder=str(bot.folder)))
    expect_no_fault(played(specs, Confinement(level=level, memory_mb=memory_mb)))


@pytest.mark.parametrize(
    "level",
    [
        pytest.param("landlock", marks=needs(*NEEDS["landlock"])),
        pytest.param("namespace", marks=needs(*NEEDS["namespace"])),
    ],
)
def test_a_script_plays_whose_interpreter_is_where_nobody_expects_it(level: Level, tmp_path: Path) -> None:
    """The script is the command. It reads a file beside it."""
    bot = built("shell")
    interpreter = tmp_path / ".tools" / "versions" / "1.0" / "bin" / "odd-bash"
    interpreter.parent.mkdir(parents=True)
    shutil.copy(path_of("bash"), interpreter)
    folder = tmp_path / "bots" / "ann"
    shutil.copytree(bot.folder, folder)
    script = folder / "bot.sh"
    first, rest = script.read_text("utf-8").split("\n", 1)
    assert first == "#!/usr/bin/env bash"
    script.write_text(f"#!/usr/bin/env odd-bash\n{rest}", "utf-8")
    script.chmod(0o755)
    variables = {"PATH": f"{interpreter.parent}{os.pathsep}{os.environ['PATH']}"}
    specs = [
        BotSpec(transport, (str(script), *bot.starter.bots), environment=variables, transport=transport)
        for transport in TRANSPORTS
    ]
    expect_no_fault(played(specs, Confinement(level=level)))


def played(bots: Sequence[BotSpec], confinement: Confinement) -> PlayedGames:
    content = board_content(shipped_board("usa")) | {"trains": TRAINS}
    board = parse_board(json.dumps(content), "board.json")
    game = GameChoice("usa", len(bots), (), board)
    plan = rotated(game, bots, seed="sandboxed starters", game_count=1, rotates=True)
    return play_games(PlayOptions(plan, Time(), confinement, replays=None, logs=None, jobs=1))


def expect_no_fault(games: PlayedGames) -> None:
    assert games.missing == []
    [match] = games.matches
    assert [(seat.bot, seat.faults, seat.defaults) for seat in match.seats] == [
        (seat.bot, (), 0) for seat in match.seats
    ]
