"""`stellwerk tournament merge`: take in what other machines have played."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from stellwerk.shared.errors import DONE, FAILED, usage_error
from stellwerk.shared.terminal import complain, say
from stellwerk.tournament.folder import cup_in, opened_folder, total_of, write_derived
from stellwerk_base.texts import counted, shown
from stellwerk_tournament.blocks.files import RESULT_ENDING
from stellwerk_tournament.blocks.merge import merge

MOST_NAMED: Final = 20  # of the results that were refused or ignored


def merge_into(folder: Path, names: Sequence[str]) -> int:
    """Take in results, say what was refused or ignored, and return the exit code."""
    paths: list[Path] = []
    for path in map(Path, names):
        paths += sorted(path.glob(f"*{RESULT_ENDING}")) if path.is_dir() else [path]
    if not paths:
        raise usage_error(f"{names[0]}: has no file *{RESULT_ENDING}")
    cup = cup_in(folder)
    with opened_folder(cup) as opened:
        merged = merge(opened, cup.settings, paths)
        if merged.blocks:
            opened.store.note_over(len(cup.results) == total_of(cup))
            write_derived(cup)
    for kind, lines in (("ignored", merged.ignored), ("refused", merged.refused)):
        for line in lines[:MOST_NAMED]:
            complain(shown(line, 2000))
        if len(lines) > MOST_NAMED:
            complain(f"and {len(lines) - MOST_NAMED:,} more {kind}")
    for each in merged.suspensions:
        complain(f"{each.bot} is suspended after block {each.block}, with {each.forfeits} forfeits in a row")
    blocks, matches = counted(merged.blocks, "block"), counted(merged.matches, "match", "matches")
    say(f"{blocks} taken in, with {matches}; {len(merged.ignored)} ignored, {len(merged.refused)} refused")
    return FAILED if merged.refused else DONE
