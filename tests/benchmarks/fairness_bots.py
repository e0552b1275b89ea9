"""The bots of `bench_fairness.py`, run as a program: `python fairness_bots.py victim|idle|burner`.

All of them play by chance. The victim does the same work for each answer, in a memory that it has to
itself. The burner has a child for each processor of the machine, which uses it all the time, and as much of
its caches as it can get.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

from stellwerk_bots.bot import IndexAnswer
from stellwerk_bots.client import Client
from stellwerk_bots.connection import default_address
from stellwerk_bots.messages import Ask, Start
from stellwerk_bots.random_bot import RandomPlayer

BYTES: Final = 4 * 1024 * 1024  # more than a core's own caches have
LINE: Final = 64  # bytes of a cache line


class Victim(RandomPlayer):
    def __init__(self, start: Start, seed_text: str) -> None:
        super().__init__(start, seed_text)
        self._memory = bytearray(BYTES)

    def answer(self, ask: Ask) -> IndexAnswer:
        sum(self._memory[::LINE])
        return super().answer(ask)


def burn() -> None:
    """Use a processor and its caches until the parent has ended."""
    memory = bytearray(2 * BYTES)
    parent = os.getppid()
    while os.getppid() == parent:
        memory[::LINE] = bytes(len(memory) // LINE)


def main() -> None:
    [kind] = sys.argv[1:]
    if kind == "burn":
        burn()
        return
    if kind == "burner":
        for _ in range(os.cpu_count() or 1):
            subprocess.Popen([sys.executable, __file__, "burn"], stdin=subprocess.DEVNULL)
    token, seed = os.environ["STELLWERK_TOKEN"], os.environ["STELLWERK_BOT_SEED"]
    player = Victim if kind == "victim" else RandomPlayer
    Client(default_address(), os.environ["STELLWERK_NAME"], player, token=token, seed_text=seed).run()


if __name__ == "__main__":
    main()
