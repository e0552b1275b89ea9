"""Play many games of every variant by chance, record each, and verify every replay in other processes.

What the tests try on small states and few games must hold for thousands: no game ends in an error, and each
one can be played again from its replay, line for line. `--games` and `--only` make it shorter.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from stellwerk_engine.games.shipped import RULE_SETS

FILES_AT_ONCE = 50  # of the replays that one process verifies
ERRORS_SHOWN = 10


@dataclass(frozen=True)
class Variant:
    game_id: str
    seat_count: int
    options: tuple[str, ...]

    @property
    def name(self) -> str:
        return "-".join([self.game_id, str(self.seat_count), *self.options])


@dataclass(frozen=True)
class Outcome:
    variant: Variant
    games: int
    decisions: int
    verified: int
    errors: list[str]
    seconds: float


def variants() -> Iterator[Variant]:
    for rules in RULE_SETS.values():
        for options in ((), *((option.id,) for option in rules.options)):
            for seat_count in rules.seat_counts:
                yield Variant(rules.id, seat_count, options)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--games", metavar="M", type=int, default=1000, help="of each variant (default: 1000)"
    )
    parser.add_argument("--only", metavar="TEXT", default="", help="variants whose name holds this: usa-2")
    parser.add_argument("--bot", metavar="NAME", default="random", help="a built-in bot, in all seats")
    parser.add_argument("--seed", metavar="S", default="soak", help="another one, other games")
    arguments = parser.parse_args()
    chosen = [variant for variant in variants() if arguments.only in variant.name]
    if not chosen:
        parser.error(f"no variant is called so: {', '.join(variant.name for variant in variants())}")
    width = max(len(variant.name) for variant in chosen)
    print(f"{'':<{width}}    games  decisions  verified  errors  seconds")
    error_count = 0
    for variant in chosen:
        outcome = soak(variant, arguments.games, arguments.bot, arguments.seed)
        error_count += len(outcome.errors)
        print(
            f"{variant.name:<{width}}  {outcome.games:>7,}  {outcome.decisions:>9,}  {outcome.verified:>8,}"
            f"  {len(outcome.errors):>6}  {outcome.seconds:>7.1f}",
            flush=True,
        )
        for error in outcome.errors[:ERRORS_SHOWN]:
            print(f"  {error}", flush=True)
    return 1 if error_count else 0


def soak(variant: Variant, games: int, bot: str, seed: str) -> Outcome:
    """Play, then verify. Whatever is missing at the end is an error too."""
    started = perf_counter()
    with TemporaryDirectory(prefix="stellwerk-soak-") as folder:
        errors: list[str] = []
        report = _play(variant, games, bot, seed, folder, errors)
        replays = sorted(str(path) for path in Path(folder).iterdir())
        verified = _verify(replays, errors)
    played = len(report["matches"])
    if not played == len(replays) == verified == games:
        errors.append(f"of {games} games {played} were played, {len(replays)} recorded, {verified} verified")
    return Outcome(variant, played, report["decisions"], verified, errors, perf_counter() - started)


def _play(
    variant: Variant, games: int, bot: str, seed: str, folder: str, errors: list[str]
) -> dict[str, Any]:
    options = [word for option in variant.options for word in ("--option", option)]
    bots = [f"--bot={bot}"] * (variant.seat_count // RULE_SETS[variant.game_id].team_size)
    how = [f"--games={games}", f"--seed={seed}", f"--replays={folder}", "--json"]
    done = _stellwerk("play", variant.game_id, *options, *bots, *how)
    errors += done.stderr.splitlines()
    return json.loads(done.stdout) if done.returncode == 0 else {"matches": [], "decisions": 0}


def _verify(replays: list[str], errors: list[str]) -> int:
    """Verify the replays, and return how many are good."""
    lots = [replays[start : start + FILES_AT_ONCE] for start in range(0, len(replays), FILES_AT_ONCE)]
    verified = 0
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for done in threads.map(_verify_lot, lots):
            verified += sum(": ok, " in line for line in done.stdout.splitlines())
            errors += done.stderr.splitlines()
    return verified


def _verify_lot(replays: list[str]) -> subprocess.CompletedProcess[str]:
    return _stellwerk("replay", "verify", *replays)


def _stellwerk(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "stellwerk", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main())
