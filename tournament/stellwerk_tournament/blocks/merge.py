"""Results of blocks taken into the tournament's folder.

Laws:
- a block counts once: one that is in `matches.jsonl` already is left as it is, whoever brings it again;
- a result is taken in whole, after all of it has been checked, or not at all;
- a kill in the middle loses nothing: what was kept of a block stays, and merging the same results again goes
  on from there (`store.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from stellwerk_tournament.blocks.check import checked
from stellwerk_tournament.blocks.files import BlockFileError, decode_result, expect_sealed, read
from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.play.courier import DueBlock
from stellwerk_tournament.play.keep import take_in
from stellwerk_tournament.store.conduct import Suspension, Suspensions
from stellwerk_tournament.store.cup import ID
from stellwerk_tournament.store.match_line import MatchLine
from stellwerk_tournament.store.store import KnownBlock, Opened

_STATUS: Final = {
    "queued": "has not been exported by this tournament",
    "void": "is void",
    "called_off": "was called off, because one of its bots is suspended or disqualified",
}


@dataclass(slots=True)
class Merged:
    """The outcome of a merge: how many blocks and matches were taken in, who is suspended since, and why each
    of the other results was refused or ignored."""

    blocks: int = 0
    matches: int = 0
    suspensions: list[Suspension] = field(default_factory=list[Suspension])
    ignored: list[str] = field(default_factory=list[str])
    refused: list[str] = field(default_factory=list[str])


def merge(
    opened: Opened,
    settings: Settings,
    paths: Iterable[Path],
    taken: Callable[[Path, list[MatchLine]], object] = lambda _path, _lines: None,
) -> Merged:
    """Take in the results in these files, one after the other. StoreError if the folder cannot be written."""
    store = opened.store
    cup = store.fact(ID)
    known = {each.block.number: each for each in store.standings()}
    conduct = Suspensions(settings.conduct, opened.results)
    merged = Merged()
    for path in paths:
        try:
            result, content, seal = decode_result(read(path))
            if result.cup != cup:
                raise BlockFileError("is of another tournament")
            if result.block in opened.results:
                merged.ignored.append(f"{path}: block {result.block} is in matches.jsonl already: ignored")
                continue
            due = _due(known.get(result.block), result.block, tuple(conduct.names))
            expect_sealed(content, seal, due.seed)
            played = checked(result, settings, due)
        except BlockFileError as error:
            merged.refused.append(f"{path}: {error}")
            continue
        take_in(store, due.block, played)
        lines = store.complete(due.block, due.seed, conduct.judge)
        merged.suspensions += conduct.after(due.block.number)
        merged.blocks += 1
        merged.matches += len(lines)
        taken(path, lines)
    return merged


def _due(standing: KnownBlock | None, number: int, suspended: tuple[str, ...]) -> DueBlock:
    """Return what is due of a block. BlockFileError if nothing is."""
    if standing is None:
        raise BlockFileError(f"block {number} {_STATUS['queued']}")
    if standing.status != "running" or standing.seed is None:
        raise BlockFileError(f"block {number} {_STATUS[standing.status]}")
    missing = tuple(each for each in standing.block.rotations if each not in standing.kept)
    return DueBlock(standing.block, standing.seed, missing, suspended)
