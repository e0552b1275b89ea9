"""What spectators cost a server: CPU of an answer to `matches` and to `watch`, memory of the list.

    python -m tests.benchmarks.bench_spectators [--running N] [--ended N]

A lobby without sockets, with so many running matches of two house bots that wait for their set-up, and so
many listed ones that are over, whose journals are files. The lines are handled as the server does: read,
answered, taken to be sent. All kinds of lines are measured in turn (`rounds.py`), beside two that any client
may send: a `ping`, and the `join` and `leave` of a practice match, which the server then plays to its end.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import platform
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Final

import msgspec

from stellwerk.shared.house_bots import house_bots
from stellwerk_processes.embedded_server import NoLog
from stellwerk_protocol.messages import FromClient, Join, Leave, ListMatches, MatchList, Ping, Ready, Watch
from stellwerk_server.journal.journal import Journals
from stellwerk_server.lobby.lobby import Lobby
from stellwerk_server.operate.resources import resident_kb
from stellwerk_server.operate.settings import Limits
from tests.benchmarks.rounds import in_turn, print_table, spread
from tests.server.support import Client, World, encode

RUNNING: Final = 6_000
ENDED: Final = 1_000
ROUNDS: Final = 9
SLICE: Final = 0.1  # seconds of CPU
WARM_UP: Final = 50  # matches that load what the first ones load for all
PRACTICE: Final = Join("usa", 2, against=("random",))
LONG: Final = 1_000_000.0  # milliseconds in which a match without its player ends
MANY: Final = 10**6


def served(folder: Path, ended: int) -> World:
    """Return a lobby with the house bots that a server has."""
    journals = Journals(folder)
    limits = Limits(messages_a_second=MANY, burst=MANY, ended_matches=ended, session_kept_ms=0)
    world = World(limits=limits, open_journal=journals.open, house_bots=house_bots())
    world.setup = dataclasses.replace(world.setup, log=NoLog())
    world.lobby = Lobby(world.setup)
    return world


def play_alone(world: World, client: Client) -> str:
    """Begin a match, leave it, and let the server play it to its end."""
    client.lines.clear()
    client.say(PRACTICE)
    match = client.match
    client.say(Ready(match), Leave(match=match))
    world.wait(LONG)
    return match


def memory_of_ended(ended: int, kept: int) -> float:
    """Return by how many kB the process grows with so many matches that are over."""
    with TemporaryDirectory() as folder:
        world = served(Path(folder), kept)
        player = world.player("player")
        before = 0
        for number in range(ended + WARM_UP):
            if number == WARM_UP:
                gc.collect()
                before = resident_kb() or 0
            play_alone(world, player)
        gc.collect()
        return float((resident_kb() or 0) - before)


def in_a_process_of_its_own(ended: int, kept: int) -> float:
    """Measure memory where nothing was freed before, which would be used again."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(memory_of_ended, ended, kept).result()


def cpu_us(world: World, client: Client, lines: Callable[[], list[FromClient]]) -> float:
    """Return the CPU time of handling these lines once, their bytes taken to be sent included."""
    count = 0
    began = process_time()
    while (used := process_time() - began) < SLICE:
        for message in lines():
            world.lobby.receive(client.connection, encode(message), world.now)
        world.lobby.outbox.data_to_send()
        count += 1
    return used / count * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--running", type=int, default=RUNNING)
    parser.add_argument("--ended", type=int, default=ENDED)
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, msgspec {msgspec.__version__}")
    grown = in_a_process_of_its_own(options.ended, options.ended) - in_a_process_of_its_own(options.ended, 0)
    print(f"{options.ended:,} ended matches in the list: {grown / options.ended:.1f} kB each")
    with TemporaryDirectory() as folder, TemporaryDirectory() as another:
        world = served(Path(folder), options.ended)
        player, watching = world.player("player"), world.player("watching")
        over = play_alone(world, player)
        began: list[str] = []
        for number in range(options.running):
            if number % 64 == 0:
                player = world.player(f"player{number}", max_matches=64)
            player.lines.clear()
            player.say(PRACTICE)
            began.append(player.match)
        cursors = [""]
        while True:
            watching.lines.clear()
            watching.say(ListMatches(cursors[-1]) if cursors[-1] else ListMatches())
            reply = msgspec.json.decode(watching.lines[-1], type=MatchList)
            cursors.append(reply.cursor)
            if not reply.more:
                break
        empty = served(Path(another), 0)
        alone = empty.player("alone")
        last = began[-1]
        kinds: dict[str, Callable[[], float]] = {
            "`ping`": lambda: cpu_us(world, watching, lambda: [Ping(1)]),
            "`matches`, nothing new": lambda: cpu_us(world, watching, lambda: [ListMatches(cursors[-1])]),
            "`matches`, 60 of them": lambda: cpu_us(world, watching, lambda: [ListMatches()]),
            "the same from the middle": lambda: cpu_us(
                world, watching, lambda: [ListMatches(cursors[len(cursors) // 2])]
            ),
            "`watch` and `leave` a match that begins": lambda: cpu_us(
                world, watching, lambda: [Watch(last), Leave(match=last)]
            ),
            "`watch` a match that is over": lambda: cpu_us(world, watching, lambda: [Watch(over)]),
            "a practice match that is left": lambda: cpu_alone(empty, alone),
        }
        figures = in_turn(list(kinds), lambda kind: kinds[kind](), ROUNDS)
        print(f"{len(world.lobby.matches.running):,} running matches:")
        rows = [(kind, spread(each).text(1)) for kind, each in zip(kinds, figures, strict=True)]
        print_table(("", "CPU µs"), rows)


def cpu_alone(world: World, client: Client) -> float:
    began = process_time()
    play_alone(world, client)
    return (process_time() - began) * 1e6


if __name__ == "__main__":
    main()
