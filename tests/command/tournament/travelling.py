"""A cup whose blocks travel: the folder, the three commands, and what they come to."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final, cast

from stellwerk_engine.boards.board_file import board_content, shipped_board
from tests.command.program import COMMAND, Done, environment, stellwerk

TRAINS: Final = 8  # a game of some twenty turns
HOUSE: Final = ('built_in = "greedy"', 'built_in = "beginner"', 'built_in = "random"')
MEASURED: Final = frozenset(
    {
        *("seconds", "late_ms", "attempt", "sandbox", "machine"),
        *("used_ms", "slowest_ms", "cpu_ms", "answer_cpu_ms", "slowest_answer_cpu_ms", "waited_ms"),
        *("stolen_ms", "max_rss_kb"),
    }
)
"""The fields of a line that are not the same wherever it is played; tournament/MACHINES.md lists them."""


def cup(folder: Path, bots: Sequence[str] = HOUSE, head: str = "", rounds: int = 2) -> Path:
    folder.mkdir(parents=True)
    (folder / "board.json").write_text(json.dumps(board_content(shipped_board("usa")) | {"trains": TRAINS}))
    tables = "".join(f"\n[[bots]]\n{bot}\n" for bot in bots)
    (folder / "tournament.toml").write_text(
        f'sandbox = "limits"\n{head}\n[schedule]\nrounds = {rounds}\n'
        f'[[games]]\ngame = "usa"\nboard = "board.json"\n{tables}'
    )
    return folder


def did(*words: str | Path, code: int = 0, **changes: str) -> Done:
    """Run `stellwerk tournament`, and expect this exit code."""
    done = stellwerk("tournament", *map(str, words), **changes)
    assert done.returncode == code, done.stderr
    return done


def exported(folder: Path, out: Path, *words: str) -> list[Path]:
    did("export", folder, "-o", out, "--no-preflight", *words)
    return sorted(out.glob("*.block"))


def played_by_many(files: Sequence[Path], out: Path, processes: int = 3) -> list[Path]:
    """Play blocks in several processes at once, each of them every so many blocks."""
    running = [
        subprocess.Popen(
            [*COMMAND, "tournament", "block", *map(str, files[number::processes]), "-o", f"{out}/"],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(min(processes, len(files)))
    ]
    for process in running:
        _, complaints = process.communicate()
        assert process.returncode == 0, complaints
    return sorted(out.glob("*.result"))


def outcome(folder: Path) -> list[str]:
    """Return the lines sorted by block, without what was measured."""
    lines = [json.loads(line) for line in (folder / "matches.jsonl").read_bytes().splitlines()]
    lines.sort(key=lambda line: (line["block"], line["rotation"]))
    return [json.dumps(_unmeasured(line)) for line in lines]


def replays(folder: Path) -> dict[str, bytes]:
    """Return all replays, without the times beside them."""
    return {path.name: path.read_bytes() for path in (folder / "replays").glob("*.jsonl")}


def _unmeasured(value: object) -> object:
    if isinstance(value, dict):
        content = cast(dict[str, object], value)
        return {key: _unmeasured(inner) for key, inner in content.items() if key not in MEASURED}
    if isinstance(value, list):
        return [_unmeasured(inner) for inner in cast(list[object], value)]
    return value
