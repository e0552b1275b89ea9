"""`disqualify`, `rule`, `pause`, `unpause` and `announce`: the organizer's decisions, also during a run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from stellwerk.shared.errors import DONE, usage_error
from stellwerk.shared.terminal import say
from stellwerk.tournament.folder import command_for, cup_in, looked_into, write_derived
from stellwerk_base.texts import shown, unknown
from stellwerk_tournament.report.decisions import decision_in_words
from stellwerk_tournament.report.derived import REPORT
from stellwerk_tournament.store.cup import Cup
from stellwerk_tournament.store.field import (
    FILE,
    Announced,
    Decision,
    Disqualified,
    Field,
    Paused,
    Ruled,
    Unpaused,
)
from stellwerk_tournament.store.field_file import Place, decide
from stellwerk_tournament.store.match_line import FILE as LINES


def decide_in(folder: Path, arguments: argparse.Namespace) -> int:
    """Write a decision, print it, and make the report again, if there is one. CommandError."""
    command: str = arguments.tournament_command
    cup = looked_into(folder) if command == "rule" else cup_in(folder)

    def make(field: Field, place: Place) -> Decision:
        common = (place.number, place.at, place.after, place.previous)
        match command:
            case "disqualify":
                _expect_may_be_disqualified(cup, field, arguments.bot)
                return Disqualified(*common, arguments.bot, arguments.reason)
            case "rule":
                blocks = tuple(sorted(set(arguments.block)))
                _expect_rated(cup, field, blocks)
                return Ruled(*common, blocks, arguments.reason)
            case "pause":
                if field.pause is not None:
                    raise usage_error(f"{folder}: is paused already, by decision {field.pause.number}")
                return Paused(*common, arguments.reason)
            case "unpause":
                if field.pause is None:
                    raise usage_error(f"{folder}: is not paused")
                return Unpaused(*common)
            case _:
                return Announced(*common, arguments.text)

    decision = decide(folder, datetime.now(UTC), make)
    words = shown(decision_in_words(decision), 2000)
    say(f"{shown(str(folder / FILE), 1000)}: decision {decision.number}: {words}")
    if (folder / REPORT).exists():
        write_derived(looked_into(folder))
    return DONE


def _expect_may_be_disqualified(cup: Cup, field: Field, bot: str) -> None:
    names = cup.settings.names
    if bot not in names:
        raise usage_error(f"{cup.folder}: {unknown('bot', bot, names)}")
    if bot in field.disqualified:
        number = field.disqualified[bot].number
        raise usage_error(f"{cup.folder}: {bot} is disqualified already, by decision {number}")
    if cup.begun is None:
        begin = command_for("run", cup.folder, "--without", bot)
        raise usage_error(f"{cup.folder}: has not begun; to leave {bot} out, begin with: {begin}")


def _expect_rated(cup: Cup, field: Field, blocks: Sequence[int]) -> None:
    for block in blocks:
        if block in field.unrated:
            number = field.unrated[block].number
            raise usage_error(f"{cup.folder}: block {block} is not rated already, by decision {number}")
        if block not in cup.results:
            raise usage_error(
                f"{cup.folder / LINES}: has no block {block}: only complete blocks have results"
            )
