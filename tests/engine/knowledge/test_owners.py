"""Every kind of event and of decision belongs to one part of a game, or to every game."""

from __future__ import annotations

from typing import get_args

import pytest

from stellwerk_engine.core.state import Part, RuleSet
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.fold import blank_view, fold
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import PUBLIC
from stellwerk_protocol import decisions
from stellwerk_protocol import events as ev
from stellwerk_protocol.names import COLORS
from tests.support import table

OF_EVERY_GAME: frozenset[type[object]] = frozenset(
    {*get_args(ev.EventOfEveryGame), *get_args(decisions.DecisionOfEveryGame)}
)


def kinds_of(rules: RuleSet) -> list[type[object]]:
    return [kind for part in rules.parts for kind in (*part.events, *part.decisions)]


def test_every_kind_belongs_to_a_part_or_to_every_game() -> None:
    kinds: set[type[object]] = {*get_args(ev.Event), *get_args(decisions.Decision)}
    owned = {kind for rules in RULE_SETS.values() for kind in kinds_of(rules)}
    assert owned | OF_EVERY_GAME == kinds
    assert not owned & OF_EVERY_GAME


def test_no_kind_has_two_owners_in_a_game() -> None:
    for rules in RULE_SETS.values():
        assert len(set(kinds_of(rules))) == len(kinds_of(rules))


def test_an_event_that_nobody_decided_about_is_shown_to_nobody() -> None:
    """In a game without rail yards nobody knows what to do with theirs."""
    game = table("usa", 2)
    event = ev.Raided(0, COLORS[0], blank_view(game, PUBLIC).market)
    with pytest.raises(NotImplementedError, match="Raided in usa"):
        redact(event, game, PUBLIC)
    with pytest.raises(NotImplementedError, match="Raided in usa"):
        fold(game, blank_view(game, PUBLIC), event)


def test_a_part_that_decides_nothing_shows_nothing() -> None:
    game = table("usa", 2)
    part = Part()
    with pytest.raises(NotImplementedError, match="nobody decided who may know of Stopped"):
        part.redact(game, ev.Stopped(0), PUBLIC)
    with pytest.raises(NotImplementedError, match="nobody decided who may know of TakeTurn"):
        part.redact_decision(decisions.TakeTurn((0,)), PUBLIC)
