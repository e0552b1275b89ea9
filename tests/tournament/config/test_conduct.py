"""`[conduct]`: its defaults, its errors, and how it is described."""

from __future__ import annotations

from pathlib import Path

import pytest

from stellwerk_tournament.config.conduct import STANDARD, ConductTable, in_words
from stellwerk_tournament.config.settings import SettingsError
from tests.tournament.play.fakes import settings_with

NOTHING = ConductTable(never_started=False, gone=False, absent=False, defaults=0)


def conduct(folder: Path, table: str) -> ConductTable | None:
    return settings_with(folder, ("ann", "bea"), head=table).conduct


def test_without_a_table_there_is_the_standard_and_a_key_changes_only_itself(tmp_path: Path) -> None:
    assert conduct(tmp_path, "") == conduct(tmp_path, "[conduct]") == STANDARD
    assert conduct(tmp_path, "[conduct]\ngone = false\nsuspend_after = 0") == ConductTable(
        gone=False, suspend_after=0
    )


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (
            "[conduct]\nsuspend_afer = 3",
            ':2: conduct.suspend_afer: unknown key; did you mean "suspend_after"?',
        ),
        ("[conduct]\ngone = 1", ":2: conduct.gone: expected true or false, found a whole number"),
        (
            "\n[conduct]\nabsent = true\ndefaults = -1",
            ":4: conduct.defaults: expected a whole number, at least 0",
        ),
        (
            "[conduct]\nsuspend_after = true",
            ":2: conduct.suspend_after: expected a whole number, found true or false",
        ),
        ("conduct = 3", ":1: conduct: expected a table"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_line(tmp_path: Path, table: str, expected: str) -> None:
    with pytest.raises(SettingsError) as refused:
        conduct(tmp_path, table)
    assert expected in str(refused.value)


def test_it_is_described_in_a_sentence() -> None:
    assert in_words(STANDARD) == (
        "a bot forfeits a match in which it never starts, that it leaves, or in which its process or its "
        "connection ends, at whose beginning it is not connected, or in which the server moves for it "
        "10 times, and ranks last in it; after 5 forfeits in a row it is suspended"
    )
    assert in_words(ConductTable(gone=False, absent=False, defaults=0, suspend_after=0)) == (
        "a bot forfeits a match in which it never starts, and ranks last in it; no bot is suspended"
    )
    assert in_words(NOTHING) == in_words(None) == "none: every match counts by the rules, whatever a bot does"
