"""The starters of all languages play at every level of the sandbox, over TCP and over stdio.

What is too narrow for a runtime (a filter of system calls, a limit, a file of the machine that it cannot
read) shows when it starts and plays. The board is small: a match has some twenty turns.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from stellwerk.bots.starters import BY_LANGUAGE, STARTERS, Starter
from stellwerk.matches.by_wire import PlayedGames, PlayOptions, play_games
from stellwerk.matches.plan import rotated
from stellwerk_engine.boards.board_file import board_content, parse_board, shipped_board
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_processes.bench.levels import Confinement, Level
from stellwerk_processes.bot_spec import BotSpec, Transport
from stellwerk_server.operate.settings import Time
from tests.bots.starters import Built, built
from tests.tools import needs, path_of

TRANSPORTS: Final[tuple[Transport, ...]] = ("tcp", "stdio")
TRAINS: Final = 6
MEMORY_MB: Final = 512
HEAP: Final = "-Xmx128m"  # as bots/java/README.md has it: a heap that leaves room for the machine itself

LIMITS: Final = pytest.param("limits")
LANDLOCK: Final = pytest.param("landlock", marks=needs("Landlock"))
NAMESPACE: Final = pytest.param("namespace", marks=needs("bwrap", "namespaces"))
FULL: Final = pytest.param("full", marks=needs("bwrap", "namespaces", "control groups"))
AT_EACH_LEVEL = pytest.mark.parametrize(
    "level",
    [
        pytest.param("none"),
        LIMITS,
        LANDLOCK,
        NAMESPACE,
        FULL,
    ],
)


def _row(starter: Starter) -> Any:  # pytest has no type for it
    return pytest.param(starter, id=starter.language, marks=pytest.mark.xdist_group(starter.language))


@pytest.fixture(scope="module", params=map(_row, STARTERS))
def bot(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    starter: Starter = request.param
    return built(starter.language, tmp_path_factory)


@AT_EACH_LEVEL
def test_it_plays_against_itself_over_tcp_and_stdio(bot: Built, level: Level) -> None:
    specs = [spec(bot, bot.command(*bot.starter.bots[-1:]), transport) for transport in TRANSPORTS]
    expect_no_fault(played(specs, Confinement(level=level)))


@pytest.mark.parametrize("level", [LIMITS, FULL])
def test_it_plays_with_little_memory(bot: Built, level: Level) -> None:
    """Where the kernel counts the data of each process, and where it counts all that the bot uses."""
    program, *words = bot.command(*bot.starter.bots[-1:])
    command = [program, HEAP, *words] if program == "java" else [program, *words]
    specs = [spec(bot, command, transport) for transport in TRANSPORTS]
    expect_no_fault(played(specs, Confinement(level=level, memory_mb=MEMORY_MB)))


@pytest.mark.parametrize("bot", [_row(BY_LANGUAGE["shell"])], indirect=True)
@pytest.mark.parametrize("level", [LANDLOCK, NAMESPACE])
def test_a_script_plays_whose_interpreter_is_where_nobody_expects_it(
    bot: Built, level: Level, tmp_path: Path
) -> None:
    """The script is the command. It reads a file beside it."""
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


def spec(bot: Built, command: Sequence[str], transport: Transport) -> BotSpec:
    return BotSpec(transport, tuple(command), transport=transport, folder=str(bot.folder))


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
