"""What `verify` finds wrong with lines, before it looks at the replays of these."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import replace as replace_struct

from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.report.verify import UntrueError, verify
from stellwerk_tournament.schedule.deal import match_id
from stellwerk_tournament.store.match_line import MatchLine
from tests.tournament.play.fakes import settings_with
from tests.tournament.report.report_tournaments import cup_of
from tests.tournament.store.test_store import BLOCKS, match_of


def own_deals(settings: Settings, seeds: str) -> tuple[MatchLine, ...]:
    """Return the lines of two blocks with a remote bot; the seed of each match repeats one letter."""
    places = [(block, rotation) for block in BLOCKS for rotation in block.rotations]
    process = {entrant.name: entrant.bot.process for entrant in settings.entrants}
    lines = [match_of(settings, block, rotation)[0] for block, rotation in places]
    return tuple(
        replace_struct(
            line,
            bots=tuple(replace_struct(seat, process=process[seat.bot]) for seat in line.bots),
            deal="new_each_match",
            seed=letter.encode().hex() * 32,
            match=match_id(letter.encode() * 32, line.rotation),
        )
        for line, letter in zip(lines, seeds, strict=True)
    )


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [
        ("abcd", "is not there"),  # the first replay: nothing is wrong with the deals
        ("aacd", "matches.jsonl:1: its seed is that of another match"),
        ("abac", "matches.jsonl:1: its seed is that of another match"),
        ("abca", "matches.jsonl:1: its seed is that of another match"),
    ],
)
def test_no_two_matches_with_remote_bots_may_have_one_deal(tmp_path: Path, seeds: str, expected: str) -> None:
    settings = settings_with(tmp_path, ("ann", "bea"))
    ann, bea = settings.entrants
    settings = replace(settings, entrants=(replace(ann, bot=replace(ann.bot, process="remote")), bea))
    with pytest.raises(UntrueError, match=expected):
        verify(cup_of(tmp_path, settings, own_deals(settings, seeds)))
