"""The bot on the page of the specification plays a practice match of every game against a server."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from subprocess import CompletedProcess

import pytest
import trio

from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_server.lobby.rooms import GameShelf
from stellwerk_server.lobby.setup import LobbySetup
from stellwerk_server.net.server import open_server
from stellwerk_server.operate.settings import DEFAULT_PORT, Limits, Time
from tools.specification import SPECIFICATION, section

FIRST = "random"  # the house bot that the program asks for; here it takes the first move


class NoLog:
    def info(self, event: str, **data: object) -> None: ...

    def warning(self, event: str, **data: object) -> None: ...

    def error(self, event: str, **data: object) -> None:
        raise AssertionError(f"{event}: {data}")


def first_move(start: bytes, seed: str) -> Callable[[bytes], bytes]:
    def answer(line: bytes) -> bytes:
        ask = json.loads(line)
        return json.dumps({"type": "act", "match": ask["match"], "ask": ask["ask"], "index": 0}).encode()

    return answer


def setup() -> LobbySetup:
    return LobbySetup(
        server="stellwerk",
        limits=Limits(),
        time=Time(move_ms=60_000),  # a slow machine must not fail the program
        games=GameShelf(),
        log=NoLog(),
        entropy=os.urandom,  # noqa: TID251  a test of any chance
        house_bots={FIRST: first_move},
    )


async def play(program: str, game: str) -> CompletedProcess[bytes]:
    async with open_server(setup()) as server:
        _, port = await server.listen("127.0.0.1", 0)
        here = program.replace(str(DEFAULT_PORT), str(port))
        command = [sys.executable, "-c", here, game]
        done: CompletedProcess[bytes] = await trio.run_process(
            command, capture_stdout=True, capture_stderr=True, check=False
        )
        return done


@pytest.mark.parametrize("game", sorted(RULE_SETS))
def test_the_first_bot_plays_a_match_of_every_game(game: str) -> None:
    (program,) = section(SPECIFICATION, "A bot in fifteen lines").blocks("python")
    done = trio.run(partial(play, program, game))
    assert done.stderr == b""
    assert done.returncode == 0
    assert done.stdout.startswith(b"ranks: [")
