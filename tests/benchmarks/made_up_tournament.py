"""Tournament folders of any length that every command accepts, made within seconds.

Some rounds are really played, by house bots. All later blocks are copies of theirs with numbers of their own:
the tables of a round robin for two are the same in every round, and nothing forbids that a deal comes again.
So each line has a replay that is true, though many lines share one.
"""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from stellwerk_tournament.config.settings import parse, settings_of
from stellwerk_tournament.report.derived import FILES
from stellwerk_tournament.schedule.schedule import Block, blocks_of_round, plan_of, stage
from stellwerk_tournament.store.match_line import FILE, MatchLine, line_of
from stellwerk_tournament.store.store import open_store, read_matches

FEWEST_PLAYED: Final = 45  # blocks: their results are to differ
PLAYERS: Final = 2
LINES_AT_ONCE: Final = 10_000
PLAY_PATIENCE: Final = 120.0  # seconds


class MakingError(Exception):
    """The folder could not be made; one line says why."""


def settings_text(bots: int, rounds: int) -> str:
    names = "".join(f'[[bots]]\nbuilt_in = "random"\nname = "bot-{number}"\n' for number in range(bots))
    return (
        f'[schedule]\nkind = "round_robin"\nrounds = {rounds}\n'
        f'[[games]]\ngame = "usa"\nplayers = {PLAYERS}\n{names}'
    )


def played_tournament(folder: Path, bots: int) -> Path:
    """Play so many rounds that there is something to copy. MakingError if that fails."""
    folder.mkdir()
    rounds = math.ceil(FEWEST_PLAYED / math.comb(bots, PLAYERS))
    (folder / "tournament.toml").write_text(settings_text(bots, rounds))
    command = [sys.executable, "-m", "stellwerk", "tournament", "run", str(folder), "--progress=none"]
    done = subprocess.run(
        [*command, "--no-preflight"], capture_output=True, check=False, timeout=PLAY_PATIENCE
    )
    if done.returncode:
        raise MakingError(f"no tournament to copy: {done.stderr.decode(errors='replace').strip()}")
    return folder


def made_up_tournament(played: Path, folder: Path, line_count: int) -> Path:
    """Copy a played tournament, and make it at least so long. Return where it is."""
    shutil.copytree(played, folder, ignore=shutil.ignore_patterns(*FILES))  # those are of fewer lines
    pool = [*read_matches(folder)]
    settings = settings_of(parse(folder), folder, to_play=False)
    plan = plan_of(settings)
    pool_blocks, a_round = len(pool) // PLAYERS, blocks_of_round(plan)
    block_count = max(pool_blocks, math.ceil(line_count / PLAYERS))
    rounds = math.ceil(block_count / a_round)
    (folder / "tournament.toml").write_text(settings_text(len(plan.entrants), rounds))
    with open_store(folder) as opened, (folder / FILE).open("ab") as file:
        blocks = (block for number in range(rounds) for block in stage(plan, number))
        more = islice(blocks, pool_blocks, block_count)
        while some := [*islice(more, LINES_AT_ONCE // PLAYERS)]:
            opened.store.enqueue(some, "complete")
            for block in some:
                at = PLAYERS * (block.number % pool_blocks)
                file.write(_copies(block, pool[at : at + PLAYERS]))
    return folder


def _copies(block: Block, matches: Sequence[MatchLine]) -> bytes:
    return b"".join(
        line_of(msgspec.structs.replace(match, block=block.number, round=block.round)) for match in matches
    )
