"""A program: search for numbers by which a bot could learn what another bot does, at a level of the sandbox.

`python search.py LEVEL [ACTION...]` prints JSON. Two bots of `probe.py` run at the level, as two at a table
do. The one reads all numbers in /proc and /sys that it can read, and the results of harmless calls, before
and after the other one acts: not at all, so many times, and twice as often, for the same time. A number that
follows the count each time is a way to pass something on. One that changes anyway follows the time, or
nothing.

First the other bot does everything at once, which leaves few candidates. Then it does one thing after the
other, and only the candidates are read. At last the two pass words on by the numbers of new pipes, which no
level hides. How long a word may be, so that all but one of them arrive, is what these numbers carry.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from operator import ne
from pathlib import Path
from typing import Any, Final

import msgspec
import trio

from stellwerk_processes.bench.invitation import Invitation
from stellwerk_processes.bench.levels import Confinement, Level
from stellwerk_processes.bench.local_bot import LocalBot, start_bot
from stellwerk_processes.bench.resolve_sandbox import hide_memory
from stellwerk_processes.bot_spec import BotSpec

PROBE_FILE: Final = Path(__file__).with_name("probe.py")
PYTHON: Final = os.path.realpath(sys.executable)
COUNT: Final = 96
ROUNDS, MORE_ROUNDS = 3, 5
PATIENCE: Final = 540.0  # seconds for the whole search
MOST_BITS: Final = (2, 1)  # more would take longer
BATCHES: Final = "call: batches of inode numbers 0"
STEP, OWN = 32, 2  # batches for each number of a word, and those that a look takes itself
TOLERANCE: Final = 0.2  # of the half: what follows a count is about half as much for half the count
LEAST: Final = 4
_LONGEST: Final = 1 << 20

KNOWN: Final[Mapping[str, str]] = {
    r"call: (batches of )?inode numbers \d+": "inode numbers of new pipes, sockets and files in memory",
    r"call: (clocks|times|usage) \d+": "time, and what the bot itself has used of it",
    r"/proc/self/(stat|status) .*": "what the kernel notes of the bot itself, of its time above all",
}
"""What no level hides, and why a search at `namespace` or `full` may find it."""

WATCHED: Final[Mapping[str, tuple[str, ...]]] = {
    "count_processes": ("fork",),
    "count_files": ("open files", "open pipes", "open events", "map a file", "watch files"),
    "count_sockets": ("open sockets", "connect"),
    "count_memory": ("use memory", "write files", "print"),
    "count_calls": ("lock", "queue signals", "set up asynchronous calls"),
}
"""The rows of the table of attacks, and the actions that belong to them."""

Deltas = dict[int, list[int]]


class Pair:
    """Two bots: one that looks, one that acts."""

    def __init__(self, looker: LocalBot, actor: LocalBot) -> None:
        self._looker, self._actor = looker, actor
        self.actor: Final = actor.pid

    async def begin(self) -> list[str]:
        """Let the one look for all that it can read. Return what the other one can do."""
        await _answer(self._looker, {"order": "files"})
        actions: list[str] = await _answer(self._actor, {"order": "actions"})
        return actions

    async def deltas(
        self, what: Sequence[str], rounds: int, names: Sequence[str] | None
    ) -> dict[str, Deltas]:
        """Return by how much each number changed, for each count, each time."""
        found: dict[str, Deltas] = {}
        order = [count for turn in range(rounds) for count in _ORDERS[turn % len(_ORDERS)]]
        for count in order:
            before = await self._look(names)
            await _answer(self._actor, {"order": "act", "what": what, "count": count})
            after = await self._look(names)
            await _answer(self._actor, {"order": "release"})
            for name in before.keys() & after.keys():
                if before[name] is not None and after[name] is not None:
                    found.setdefault(name, {}).setdefault(count, []).append(after[name] - before[name])
        return {name: each for name, each in found.items() if sum(map(len, each.values())) == len(order)}

    async def whisper(self, word: int) -> int:
        """Let the one bot use up as many numbers as a word says. Return what the other one takes it for."""
        before = await self._look([BATCHES])
        await _answer(self._actor, {"order": "act", "what": ["use up numbers"], "count": word * STEP})
        after = await self._look([BATCHES])
        batches: int = after[BATCHES] - before[BATCHES] - OWN
        return (batches + STEP // 2) // STEP

    async def _look(self, names: Sequence[str] | None) -> dict[str, Any]:
        values: dict[str, Any] = await _answer(self._looker, {"order": "look", "names": names})
        return values


_ORDERS: Final = ((0, COUNT, 2 * COUNT), (2 * COUNT, 0, COUNT), (COUNT, 2 * COUNT, 0), (2 * COUNT, COUNT, 0))


def follows(deltas: Deltas) -> bool:
    """Return whether a number follows the count: in the same direction, about in proportion, and each time
    but one, for others use the machine, too. Or it is a switch, which only shows whether anything was done.
    """
    none, some, many = (_alike(deltas[count]) for count in (0, COUNT, 2 * COUNT))
    if len({*none}) == 1 and len({*some, *many}) == 1 and abs(some[0] - none[0]) >= LEAST:
        return True
    if not (none[-1] < some[0] and some[-1] < many[0]) and not (none[0] > some[-1] and some[0] > many[-1]):
        return False
    start, half, whole = (sum(each) / len(each) for each in (none, some, many))
    return abs(whole - start) >= LEAST and abs((half - start) / (whole - start) - 0.5) < TOLERANCE


def _alike(values: list[int]) -> list[int]:
    """Return the values in order, without the one that is the farthest from the rest."""
    ordered = sorted(values)
    middle = ordered[len(ordered) // 2]
    return sorted(sorted(ordered, key=lambda value: abs(value - middle))[:-1])


class Found(msgspec.Struct, frozen=True):
    """What follows each action: the names of the numbers, and how they changed. `bits` and `seconds` are how
    long a word arrives by the numbers of new pipes, and what it takes; 0 if that was not tried. `problem` is
    what the machine lacks.
    """

    follows: dict[str, dict[str, str]]
    bits: int = 0
    seconds: float = 0.0
    problem: str = ""


async def search(level: Level, actions: Sequence[str]) -> Found:
    """Search at a level, with these actions; with none, with all, and with words."""
    results: dict[str, dict[str, str]] = {}
    async with pair_of_bots(level) as pair:
        every = await pair.begin()
        is_whole = not actions
        actions = actions or every
        first = await pair.deltas(actions, ROUNDS, None)
        candidates = sorted(name for name, each in first.items() if follows(each))
        for action in actions if candidates else ():
            found = await pair.deltas([action], MORE_ROUNDS, candidates)
            results[action] = {name: _shown(each) for name, each in found.items() if follows(each)}
        bits, seconds = await _bits(pair) if is_whole else (0, 0.0)
        return Found(results, bits, seconds)


async def _bits(pair: Pair) -> tuple[int, float]:
    """Return how many bits arrive at once by the numbers of new pipes, and the seconds for them."""
    for bits in MOST_BITS:
        words = [0, (1 << bits) - 1, 1, 1 << (bits - 1), 0, (1 << bits) // 3]
        before = trio.current_time()
        heard = [await pair.whisper(word) for word in words]
        if sum(map(ne, heard, words)) <= 1:  # others use the machine, too
            return bits, (trio.current_time() - before) / len(words)
    return 0, 0.0


@contextlib.asynccontextmanager
async def pair_of_bots(level: Level) -> AsyncGenerator[Pair]:
    """Start the two bots at this level, and end them."""
    with _program() as program, socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_accept, server)
            looker, actor = [await _start(nursery, level, program, port) for _ in range(2)]
            yield Pair(looker, actor)
            nursery.cancel_scope.cancel()


@contextlib.contextmanager
def _program() -> Generator[Path]:
    """Copy the probe to where every user can read it."""
    folder = Path(tempfile.mkdtemp(prefix="stellwerk-search-"))
    try:
        folder.chmod(0o755)
        program = folder / PROBE_FILE.name
        shutil.copyfile(PROBE_FILE, program)
        program.chmod(0o644)
        yield program
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _accept(server: socket.socket) -> None:
    async with trio.SocketListener(trio.socket.from_stdlib_socket(server.dup())) as listener:
        while True:
            await (await listener.accept()).aclose()


async def _start(nursery: trio.Nursery, level: Level, program: Path, port: int) -> LocalBot:
    command = (PYTHON, "-S", "-B", str(program))
    spec = BotSpec("probe", command, transport="stdio", folder=str(program.parent))
    confinement = Confinement(level=level)
    invitation = Invitation("probe", f"tcp://127.0.0.1:{port}", "", "")
    return await start_bot(nursery, spec, invitation, confinement)


async def _answer(bot: LocalBot, order: object) -> Any:  # JSON has no types
    assert bot.transport is not None
    await bot.transport.send_all(json.dumps(order).encode() + b"\n")
    answer = bytearray()
    while not answer.endswith(b"\n"):
        data = await bot.transport.receive_some(_LONGEST)
        if not data:
            raise RuntimeError(f"the probe ended: {(await bot.ended()).last_lines[-1:]}")
        answer += data
    return json.loads(answer)


def _shown(deltas: Deltas) -> str:
    return ", ".join(
        f"{count}: {'/'.join(f'{each:+d}' for each in deltas[count])}" for count in sorted(deltas)
    )


def unexplained(found: Found) -> dict[str, dict[str, str]]:
    """Return what follows the actions, without what no level hides."""
    return {
        action: left
        for action, names in found.follows.items()
        if (left := {name: how for name, how in names.items() if not _is_known(name)})
    }


def _is_known(name: str) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in KNOWN)


def main() -> None:
    level = msgspec.convert(sys.argv[1], Level)
    hide_memory()

    async def run() -> Found:
        with trio.fail_after(PATIENCE):
            return await search(level, sys.argv[2:])

    found: list[Found] = []
    try:
        found.append(trio.run(run))
    except* OSError as group:
        found.append(Found({}, problem=str(group.exceptions[0])))
    print(msgspec.json.encode(found[0]).decode())


if __name__ == "__main__":
    main()
